// A training job from the user's values, whatever their source: a script, options, --vary, a row of measurements.
// Defaults of unset fields are chosen here and nowhere else: by the software, the model's kind, and the GPUs.
#pragma once

#include "models/workload/job/field.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/training.h"
#include "sim/base/options.h"
#include "sim/data/record.h"

// ---- Every field of a training job, once: its name in scripts, its option, its range or choices, its default, its
// member in TrainingSpec. Scripts, options, --vary, --help, the editor's types and rows of measurements all read these
// tables. A plain field is one row of them, one member of TrainingSpec, its physics and its test.

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

// ---- A training job from command-line options. The rows are made from the table of fields: a field's `flag`.

// clang-format off
#define PROFILE_OPTION {"profile", OPTION_TEXT, "FILE.json", .of = OF_QUESTION, .help = "parts measured or written by yourself, in place of the catalogue's"}
// clang-format on

// A command's own rows followed by those of the model (--model with --as, --image-size, --classes) and of the job.
const OptionSpec *options_with_job(Arena *arena, const OptionSpec *own, int own_count, int *count);
const OptionSpec *options_with_model(Arena *arena, const OptionSpec *own, int own_count, int *count);

// A field as an option, by its `flag`; the value of one that is given, or its fallback. False after a problem.
OptionSpec field_option(Arena *arena, const Field *field);
bool field_from_option(const FieldReader *reader, const Options *options, const Field *field, const char *called,
                       Value *value);

// A model of the library, or of a Hugging Face config.json by its path, read as that model_type; `as` NULL: its own.
const Model *model_named(Arena *arena, const char *name, const char *as, Problems *problems);

bool names_a_config(const char *name); // a path that ends in .json
// NULL after problems (also when --model is missing).
const Model *model_from_options(Arena *arena, const Options *options, Problems *problems);

// The job's values from the options, which must contain the rows of options_with_job.
JobSaid job_from_options(Arena *arena, const Options *options, const Catalogue *catalogue, const Model *model,
                         Problems *problems);

// ---- What a setting needs of the job to have an effect: a pipeline's schedule needs stages. The table of fields has
// it of each (Field.needs): advice tries only what has an effect, and what is said in vain is pointed out.

// As bits: 1u << NEED_PIPELINE.
typedef enum JobNeed {
    NEED_GPUS, // more than one
    NEED_TRANSFORMER,
    NEED_ENCODER,
    NEED_EXPERTS,
    NEED_CONVOLUTIONS,
    NEED_TENSOR_PARALLEL,
    NEED_PIPELINE,
    NEED_CONTEXT_PARALLEL,
    NEED_EXPERT_PARALLEL,
    NEED_REPLICAS,
    NEED_ACCUMULATION,
    NEED_OVERLAP, // of gradients with backward
    NEED_DIRECT_COPIES,
    NEED_OWN_REDUCTION,
    NEED_ZERO,
    NEED_ZERO_1,
    NEED_ZERO_3,
    NEED_EAGER,
    NEED_ADAM,
    NEED_FP8,
    NEED_RECOMPUTATION,
    NEED_ONE_PROCESS,
    NEED_HOROVOD,
    NEED_JITTER,
    NEED_DRAWN_ROUTING,
    NEED_DATA,
    NEED_DECODING,
    NEED_COUNT
} JobNeed;

// What overrules even the usual: who asks for it is told so.
#define NEEDS_OF_USUAL (1u << NEED_DIRECT_COPIES | 1u << NEED_OWN_REDUCTION)

// Strategies of TensorFlow whose gradients are reduced once backward is over.
static inline bool strategy_reduces_late(Strategy strategy) {
    return strategy == STRATEGY_MIRRORED || strategy == STRATEGY_MULTI_WORKER;
}
// Gradients travel while backward runs, where that is possible.
bool job_hides_gradients(const TrainingSpec *training, const Resolved *resolved);

unsigned job_has(const TrainingSpec *training, const Resolved *resolved); // bits
// Of the settings that were made and need something.
const Effect *job_effects(Arena *arena, const TrainingSpec *training, const Resolved *resolved, int *count);

// ---- Names of strategies in other software: each maps to one of lockstep's strategies with a ZeRO stage and
// offloading.

typedef struct StrategyWord {
    const char *word, *from; // "deepspeed_stage_2", "Lightning"
    Strategy strategy;
    int zero;
    OffloadPlace optimizer, parameters;
} StrategyWord;

#define FOREIGN_STRATEGIES 27
#define STRATEGY_WORDS (STRATEGY_COUNT + FOREIGN_STRATEGIES)
extern const StrategyWord foreign_strategies[FOREIGN_STRATEGIES];
// lockstep's own by their number, then the others.
extern const char *const strategy_words[STRATEGY_WORDS];
