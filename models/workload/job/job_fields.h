// Every field of a training job, once: its name in scripts, its option, its range or choices, its default, its member
// in TrainingSpec. Scripts, options, --vary, --help, the editor's types and rows of measurements all read these
// tables. A plain field is one row of them, one member of TrainingSpec, its physics and its test.
#pragma once

#include "models/workload/job/field.h"

typedef enum JobObject { // tables within tables: training.batch.micro
    JOB_NOTHING,
    JOB_TRAINING,
    JOB_BATCH,
    JOB_PARALLEL,
    JOB_OVERLAP,
    JOB_ROUTING,
    JOB_HOROVOD,
    JOB_OFFLOAD,
    JOB_DATA,
    JOB_CHECKPOINT,
    JOB_OBJECT_COUNT
} JobObject;

typedef struct JobObjectType {
    const char *name; // in messages and paths: "training.batch"
    const char *word; // in a script: "batch"
    const char *help;
    const Field *fields;
    int field_count;
} JobObjectType;
extern const JobObjectType job_objects[JOB_OBJECT_COUNT];

int job_field_index(JobObject object, const char *name); // a name that is no field is our mistake
// The field that studies and sweeps vary by this name. NULL: none.
const Field *job_field_varied(const char *name, JobObject *object);

// Settings as a script has them, `use zero = 1, or schedule = "1f1b"`, and as options where the job is not of a script:
// "use --zero 1, or --schedule 1f1b"; a switch that is true is its name alone.
const char *job_words(Arena *arena, bool scripted, const char *text);
void job_hint(Problems *problems, bool scripted, const char *format, ...) __attribute__((format(printf, 3, 4)));

extern const char *const precision_choices[10], *const backend_choices[3], *const fidelity_choices[3];
