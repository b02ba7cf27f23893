// A training job from the user's values, whatever their source: a script, options, --vary, a row of measurements.
// Defaults of unset fields are chosen here and nowhere else: by the software, the model's kind, and the GPUs.
#pragma once

#include "models/workload/job/job_fields.h"
#include "models/workload/job/training.h"

typedef struct JobSaid {
    Where where;
    bool scripted; // in Lua
    const Model *model;
    const Value *values[JOB_OBJECT_COUNT]; // [fields of the object]; NULL: none was given
    const struct Software *software;       // known already; NULL: found by its name, if given
} JobSaid;

// What is left open suits all types of GPU that it is made for; none: any. Adds problems for what cannot go together
// whatever the layout. What the spec points at lives in the arena.
TrainingSpec job_make(Arena *arena, const JobSaid *said, GpuTypes gpus, Problems *problems);
// The defaults for a model.
TrainingSpec job_usual(const Model *model, GpuTypes gpus);

// Layout-dependent defaults, decided again for the spec's present layout.
typedef struct LayoutSaid {
    bool sequence_parallel, accumulation_bytes;
} LayoutSaid;
LayoutSaid job_layout_said(const JobSaid *said);
void job_settle_layout(TrainingSpec *spec, LayoutSaid said);

// The given value of a field, or NULL.
const Value *job_value(const JobSaid *said, JobObject object, const char *field);
bool job_says(const JobSaid *said, JobObject object, const char *field);
// A copy in which one field has another value.
JobSaid job_said_with(Arena *arena, const JobSaid *said, JobObject object, const Field *field, const Value *value);

// For measured rows: sets values one by one. Texts and lists are not copied.
void job_say_number(Arena *arena, JobSaid *said, JobObject object, const char *field, double number);
void job_say_flag(Arena *arena, JobSaid *said, JobObject object, const char *field, bool flag);
void job_say_name(Arena *arena, JobSaid *said, JobObject object, const char *field, const char *name);
// Sets the field's names whose bits are set, as a list.
void job_say_names(Arena *arena, JobSaid *said, JobObject object, const char *field, unsigned bits);

// Adds a problem with its remedy for what cannot go together whatever the layout: adapters, recomputation, lengths
// (job_check.c). What depends on the layout is job_possible's (layout.h).
void job_check(const TrainingSpec *training, Problems *problems);

// Why ranks of a stage behave differently, with collectives that are one transfer each; NULL: they do not.
// DataParallel shows in the resolved layout only.
const char *why_not_by_class(const TrainingSpec *training);
