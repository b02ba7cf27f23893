// What-if analysis: a move changes one thing; the result is simulated, compared with the present, judged, ranked and
// printed. Common to steps, lives, queues, collectives and plans.
#pragma once

#include "models/hardware/quicker.h"
#include "models/workload/job/job.h"
#include "models/workload/life/life.h"
#include "sim/data/answer.h"

typedef enum MoveKind {
    MOVE_RESOURCE, // of the machine: "network twice as fast"
    MOVE_SETTING,  // of the job, the cluster or its rules: "tp = 4"
    MOVE_FAULT,    // a fault is repaired: "no straggler"
    MOVE_KIND_COUNT
} MoveKind;
extern const char *const move_kind_names[MOVE_KIND_COUNT];

typedef enum ClusterFault { NO_FAULT, SLOW_LINKS, OVERSUBSCRIPTION, POWER_CAP } ClusterFault;

typedef struct Move {
    MoveKind kind;
    const char *name;   // "network", "tp", "straggler"
    const char *value;  // "x 2", "4", "none", "--spares 4"
    const char *title;  // "network (NICs and fabric) twice as fast", "tp = 4"
    const char *note;   // NULL: the same training; else a side effect: "numbers are rounded otherwise"
    const char *reason; // why it may help; NULL: unspecified
    const char *option; // the option that makes the change; NULL: there is none
    const char *given;  // an unsimulated condition: "jobs can run on half their GPUs"; or NULL
    const char *but;    // why it is not advised, whatever it gains; or NULL
    // Of a job (whatif_moves.c).
    const char *needs;  // effective only together with a move of this field: "pp"; NULL: alone too
    JobObject object;   // a field of the job that takes another value
    const Field *field; // NULL: a repaired, or a smaller cluster
    Value set;
    ClusterFault fault;
    const Resource *resource;
    int gpus;        // of a smaller cluster; 0: as many as now
    unsigned groups; // of nodes, a bit each, that these are of; 0: of the only one
    bool further;    // than the move before it in the list: for where that one runs and lacks memory still
} Move;

const Move *move_of_resource(Arena *arena, const Resource *resource); // twice as quick

typedef LIST_OF(Move) MoveList;

// Improvement of the measure over the present; below 0: worse.
typedef struct Gain {
    double mean, half; // half of the 90 % interval of that mean; NAN: unknown
    double low, high;  // 5th and 95th percentiles, of one step or one run
    double chance;     // that it is above 0; NAN: unknown
} Gain;

typedef enum Verdict {
    VERDICT_HELPS,
    VERDICT_IF,     // surely, where what the move is given is so
    VERDICT_BUT,    // surely, and is not advised
    VERDICT_HARMS,  // the measure, surely; another gets worse
    VERDICT_FREES,  // less is paid, and the measure hardly moves
    VERDICT_MAYBE,  // likely, but within its 90 % range
    VERDICT_SAME,   // nothing differs
    VERDICT_CHANCE, // the difference is within its 90 % range
    VERDICT_LITTLE, // surely, but below what matters
    VERDICT_DEARER, // it is paid for longer than it gives back
    VERDICT_WORSE,  // surely
    VERDICT_COUNT
} Verdict;

typedef struct WhatIf {
    const Move *move;
    const char *title; // of the move, or of several
    bool ran;
    const char *why_not; // it did not
    double then;         // the measure with it: seconds of a step, goodput, a mean wait
    Gain gain;
    Verdict verdict;
    double cost; // NAN: unknown price
    union {      // further results
        struct StepThen *step;
        const struct LifeThen *life;
        const struct Waited *wait;
        const struct Priced *price; // of a collective
        const struct PlanThen *plan;
    };
} WhatIf;

typedef struct WhatIfs {
    WhatIf *items; // once ranked: those that ran by gain, most first; then those that did not
    int count, room;
    int ran;
} WhatIfs;

void whatif_rank(WhatIfs *list); // equal ones by kind, then in the order in which they were tried
Verdict whatif_verdict(const Move *move, const Gain *gain, double matters);
// What helps most: of the machine, or of all else. NULL: nothing does.
const WhatIf *whatif_first(const WhatIfs *list, bool machines);

// ---- In words.

// Further helpful changes: "Or --checkpoint async 98.4 %; … (each alone)". `then` formats the measure.
typedef const char *WhatIfSays(Arena *arena, double then);
void whatif_add_others(Answer *answer, Arena *arena, const WhatIfs *list, bool machines, WhatIfSays *then);
// Of machines, in seconds of `whole`: "twice the NVLink saves 3 ms (5 %), …", at most `most`; and those whose gain is
// below WHATIF_MATTERS.
#define WHATIF_MATTERS 0.005 // of the whole: smaller gains are reported as no help
const char *whatif_saves(Arena *arena, const WhatIfs *list, double whole, int most);
const char *whatif_below(Arena *arena, const WhatIfs *list, double whole);
// Changes that do not help, by verdict; verdicts with a NULL text are left out.
void whatif_add_useless(Answer *answer, Arena *arena, const WhatIfs *list, const char *const says[VERDICT_COUNT]);
// The first columns of a table of what-ifs; displayed is the option, or the title.
#define WHATIF_COLUMNS                                                                                                 \
    {"name", NULL, AS_TEXT, 0}, {"title", NULL, AS_TEXT, 0}, {"change", "change", AS_TEXT, 0},                         \
        {"option", NULL, AS_TEXT, 0}, {                                                                                \
        "verdict", "verdict", AS_TEXT, 0                                                                               \
    }
void whatif_add_cells(Answer *answer, const WhatIf *whatif);

// ---- A long job: how its machines fail and are repaired, and its checkpoints' storage.

typedef struct LifeNow {
    LifeSpec spec;
    const StorageType *held; // of checkpoints, all units together; NULL: unspecified size
    double bytes;            // of one
    const NodeType *node;
    const Gpu *gpu;
} LifeNow;

typedef struct LifeMove {
    Move says;
    bool (*make)(LifeNow *life); // false: there is nothing of that to change
} LifeMove;

extern const LifeMove life_machines[];
extern const int life_machine_count;

typedef struct LifeThen {
    double days; // of the whole run; NAN without a length
    LifeStudy study;
    int spares;
    Gain hours, gpu_hours; // training or end sooner; the same of all GPUs, less what more is paid for
} LifeThen;

// Of checkpoints written so, as often as now.
CheckpointPlan life_checkpoint(const LifeNow *now, CheckpointMode mode);
extern const char *const life_mode_titles[CHECKPOINT_MODE_COUNT];
