// A sweep: the points of a study as numbered, independent pieces, each with a key. The study is a script's, or from
// options.
#pragma once

#include "results/store/store.h"
#include "results/terminal.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study.h"
#include "sim/system/wall.h"
#include "sim/system/workers.h"

typedef enum SweepKind {
    SWEEP_STUDY,  // a name that studies vary
    SWEEP_OPTION, // an option of the command or of the script: the study is made anew with it
    SWEEP_SET,    // a path of --set: the script is run anew with it
    SWEEP_SEED
} SweepKind;

typedef struct SweepParameter {
    Variation values;
    SweepKind kind;
    int axis; // parameters of one axis go hand in hand: the columns of a list
} SweepParameter;

typedef struct SweepRequest {
    const Catalogue *catalogue;
    ScenarioRequest scenario; // file NULL: the study is from options
    const OptionSpec *specs;  // of the whole command line
    int spec_count;
    const char *const *varied; // "gpus=8:64:8", from --vary
    int varied_count;
    const char *list;         // a CSV file of points, or NULL
    const char *profile_text; // "": none
    WallMode wall_mode;
    WallRules wall; // round a worker
} SweepRequest;

typedef struct Sweep {
    const SweepRequest *request;
    const StudySpec *study; // one of the two
    const ProgramSpec *program;
    SweepParameter *parameters; // the slowest first
    int parameter_count;
    int by_name[MOST_VARIED]; // the order of keys: independent of --vary's
    bool is_remade;           // some parameter makes the study anew at each point
    int axis_size[MOST_VARIED];
    int axis_count;
    int64_t point_count;
    StoreStudy stored;
    Baseline baseline;
} Sweep;

// NULL after problems.
Sweep *sweep_create(Arena *arena, const SweepRequest *request, Problems *problems, Problems *usage);
const char *sweep_key(const Sweep *sweep, Arena *arena, int64_t point);
// Simulates one point. What goes wrong with it is in the row.
StoreRow sweep_point(Sweep *sweep, Arena *arena, int64_t point);
// Which of the settings have an effect, at some of its points (record_without_effect).
RecordPoint *sweep_effects(const Sweep *sweep, Arena *arena, int *count);
// The row of a point whose process ended.
StoreRow sweep_failed_point(const Sweep *sweep, Arena *arena, int64_t point, const char *reason);

// ---- Running a sweep: hands out the points that the store lacks, and stores the answers.

// What a worker does: context is a Sweep, the answer a packed row.
char *sweep_work(void *context, Arena *arena, int64_t point, size_t *bytes);

typedef struct SweepRun {
    int shard, shard_count;           // points whose number leaves `shard` when divided
    int64_t total, before;            // points of this shard, and those of them already in the store
    int64_t done, impossible, failed; // the last two of this run
    StoreCounts counts;               // of all that are done
    int stopped_by;                   // signal, or 0
    double seconds;
} SweepRun;

// False after a problem: with the store, or with no worker left.
bool sweep_run(Sweep *sweep, Store *store, const Hands *hands, SweepRun *run, Problems *problems);

// ---- A sweep split into shards for a Slurm array.

// "3/64": *shard 2 of *count 64; "auto": from SLURM_ARRAY_TASK_ID, _MIN and _COUNT. False after a problem.
bool shard_read(const char *text, int *shard, int *count, Problems *problems);
// The store of a shard: "sweep.3-of-64.db" for "sweep.db".
const char *shard_path(Arena *arena, const char *store, int shard, int count);

// ---- lockstep sweep: many points, many processes, one store.

int command_sweep(int argc, char **argv);

// Runs the sweep with its store. For programs that bring their own hands; gives the exit code.
typedef bool SweepRunner(void *context, Sweep *sweep, Store *store, SweepRun *run, int jobs, Problems *problems);
int command_sweep_with(int argc, char **argv, SweepRunner *runner, void *context);
// The sweep of a command line, without its store. NULL with the exit code in *status.
Sweep *sweep_of_command_line(Arena *arena, int argc, char **argv, int *status);
