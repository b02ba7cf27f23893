// What may be turned of a job and mended of its cluster, one thing each: moves, which a job can make one by one or
// several together.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_MOVES_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_MOVES_H

#include "models/workload/job/job_fields.h"
#include "scenarios/explain/explain.h"

typedef enum ClusterFault { NO_FAULT, SLOW_LINKS, OVERSUBSCRIPTION, POWER_CAP } ClusterFault;

typedef struct Move {
    ChangeKind kind;
    const char *name, *value, *title, *note; // as Change has them
    const char *needs;                       // says something only beside a move of this field: "pp"; NULL: alone too
    JobObject object;                        // a field of the job that takes another value
    const Field *field;                      // NULL: it is the cluster that is mended, or made smaller
    Value set;
    ClusterFault fault;
    int gpus;        // of a smaller cluster; 0: as many as now
    unsigned groups; // of nodes, a bit each, that these are of; 0: of the only one
    bool further;    // than the move before it in the list: for where that one runs and lacks memory still
} Move;

typedef struct MoveList {
    Move *items;
    int count, room;
} MoveList;

// A study with something changed.
typedef struct Variant {
    const Catalogue *catalogue;
    ClusterSpec cluster;
    JobSaid said;
} Variant;

Variant variant_of(const StudySpec *study);
// Of a variant that cannot be, why_not says the reason.
RecordPoint simulate_variant(Arena *arena, const StudySpec *study, const Variant *variant, Problems *problems);
// What came of a point, for the global batch of now.
void weigh_change(const Explanation *now, const RecordPoint *point, Change *change);

// Settings in the order of the table, then fewer GPUs, then faults.
MoveList list_moves(Arena *arena, const Explanation *now);
// Where degrees change replicas follow; the global batch stays, and so many micro-batches as it takes.
void make_move(Arena *arena, const Explanation *now, const Move *move, Variant *variant);

// Not two values of one field, nor one that says nothing without a third.
bool moves_go_together(const Move *one, const Move *other);
// All of them made, in their order.
RecordPoint simulate_moves(Arena *arena, const Explanation *now, const Move *const *moves, int count,
                           Problems *problems);

#endif
