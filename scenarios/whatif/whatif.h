// What if: a move is one thing changed, all else as it was; what comes of it is simulated, weighed against what there
// is now, judged, ranked and said. Of steps, lives, queues, collectives and plans alike.
#ifndef LOCKSTEP_SCENARIOS_WHATIF_H
#define LOCKSTEP_SCENARIOS_WHATIF_H

#include "models/hardware/quicker.h"
#include "models/workload/job/job_fields.h"
#include "sim/base/arena.h"

typedef enum MoveKind {
    MOVE_RESOURCE, // of the machine: "network twice as fast"
    MOVE_SETTING,  // of the job, the cluster or its rules: "tp = 4"
    MOVE_FAULT,    // something broken is mended: "no straggler"
    MOVE_KIND_COUNT
} MoveKind;
extern const char *const move_kind_names[MOVE_KIND_COUNT];

typedef enum ClusterFault { NO_FAULT, SLOW_LINKS, OVERSUBSCRIPTION, POWER_CAP } ClusterFault;

typedef struct Move {
    MoveKind kind;
    const char *name;   // "network", "tp", "straggler"
    const char *value;  // "x 2", "4", "none"
    const char *title;  // "network (NICs and fabric) twice as fast", "tp = 4"
    const char *note;   // NULL: the same training; else what else it changes: "numbers are rounded otherwise"
    const char *reason; // why it may help; NULL: nobody says
    // Of a job (whatif_moves.c).
    const char *needs;  // says something only beside a move of this field: "pp"; NULL: alone too
    JobObject object;   // a field of the job that takes another value
    const Field *field; // NULL: it is the cluster that is mended, or made smaller
    Value set;
    ClusterFault fault;
    const Resource *resource;
    int gpus;        // of a smaller cluster; 0: as many as now
    unsigned groups; // of nodes, a bit each, that these are of; 0: of the only one
    bool further;    // than the move before it in the list: for where that one runs and lacks memory still
} Move;

typedef struct MoveList {
    Move *items;
    int count, room;
} MoveList;

// By how much the measure is better than now; below 0: worse.
typedef struct Gain {
    double mean, low, high; // 90 % range
} Gain;

typedef struct WhatIf {
    const Move *move;
    const char *title; // of the move, or of several
    bool ran;
    const char *why_not; // it did not
    double then;         // the measure with it: seconds of a step
    Gain gain;
    double cost;           // NAN: nobody knows a price
    struct StepThen *step; // what else is known of a step
} WhatIf;

typedef struct WhatIfs {
    WhatIf *items; // once ranked: those that ran by gain, most first; then those that did not
    int count, room;
    int ran;
} WhatIfs;

void whatif_rank(WhatIfs *list); // equal ones by kind, then in the order in which they were tried

#endif
