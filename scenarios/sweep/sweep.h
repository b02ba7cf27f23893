// A sweep: the points of a study as numbered, independent pieces, each with a key. The study is a script's, or from
// options.
#pragma once

#include "results/store/store.h"
#include "scenarios/lua/scenario.h"
#include "scenarios/study/study_point.h"
#include "sim/data/vary.h"
#include "sim/system/wall.h"

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
// The row of a point whose process ended.
StoreRow sweep_failed_point(const Sweep *sweep, Arena *arena, int64_t point, const char *reason);
