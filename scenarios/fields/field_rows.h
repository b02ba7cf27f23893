// Short forms for rows of fields, and the rows that have a file of their own. For the files of fields only.
#ifndef LOCKSTEP_SCENARIOS_FIELD_ROWS_H
#define LOCKSTEP_SCENARIOS_FIELD_ROWS_H

#include "scenarios/fields/fields.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

#define COUNT(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_COUNT, .least = (least_), .most = (most_)
#define NUMBER(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_NUMBER, .least = (least_), .most = (most_)
#define BYTES(least_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_BYTES, .least = (least_), .most = 1e18
#define BANDWIDTH .kind = FIELD_QUANTITY, .quantity = QUANTITY_BANDWIDTH, .least = 1, .most = 1e15
#define SECONDS(least_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = (least_), .most = 1e7
#define WATTS .kind = FIELD_QUANTITY, .quantity = QUANTITY_POWER, .least = ABOVE_ZERO, .most = 1e5
#define FLOP_AMOUNT .kind = FIELD_QUANTITY, .quantity = QUANTITY_FLOPS, .least = ABOVE_ZERO, .most = 1e24
#define CHOICE(names_, count_) .kind = FIELD_CHOICE, .names = (names_), .name_count = (count_)
#define PART(part_) .kind = FIELD_PART, .part = (part_)
#define VALUE(handle_) .kind = FIELD_VALUE, .handle = (handle_)
#define TABLE(inner_) .kind = FIELD_TABLE, .inner = (inner_)
#define BOUND(quantity_) .kind = FIELD_BOUND, .quantity = (quantity_)

#define MOST_GPUS 1e6
#define MOST_SIZE 1e9 // of a dimension of a model

// fields.c
extern const char *const precisions[10], *const backends[3], *const fidelities[2];
// fields_training.c
extern const Field training_fields[44];
extern const Field batch_fields[3];
extern const Field data_fields[4];
extern const Field expect_fields[16];
// fields_fabric.c
extern const Field single_switch_fields[1];
extern const Field fat_tree_fields[3];
extern const Field fabric_table_fields[21];
extern const Field fabric_cable_fields[4];
extern const Field fabric_nodes_fields[2];
extern const Field node_fields[4];
// fields_money.c
extern const Field price_fields[8];
extern const Field own_fields[15];
extern const Field cost_fields[2];
// fields_parallel.c
extern const Field parallel_fields[13];
extern const Field overlap_fields[3];
extern const Field offload_fields[2];
extern const Field horovod_fields[2];
extern const Field routing_fields[4];
// fields_life.c
extern const Field faults_fields[5];
extern const Field checkpoint_fields[3];
// fields_queue.c
extern const Field queue_fields[17], queue_demand_fields[10], queue_job_fields[6], queue_goal_fields[6];
#define QUEUE_OBJECTS                                                                                                  \
    [OBJECT_QUEUE] =                                                                                                   \
        {"queue", "sim.queue", "queue", "jobs that share a cluster", queue_fields, COUNT_OF(queue_fields), true},      \
    [OBJECT_QUEUE_DEMAND] = {"queue.demand",                                                                           \
                             NULL,                                                                                     \
                             "demand",                                                                                 \
                             "jobs to be drawn",                                                                       \
                             queue_demand_fields,                                                                      \
                             COUNT_OF(queue_demand_fields),                                                            \
                             true},                                                                                    \
    [OBJECT_QUEUE_JOB] = {"queue.jobs", NULL, "jobs", "a job of a list", queue_job_fields, COUNT_OF(queue_job_fields), \
                          false},                                                                                      \
    [OBJECT_QUEUE_GOAL] = {"queue.goal",                                                                               \
                           NULL,                                                                                       \
                           "goal",                                                                                     \
                           "how long jobs may wait: how many GPUs does it take?",                                      \
                           queue_goal_fields,                                                                          \
                           COUNT_OF(queue_goal_fields),                                                                \
                           true}

#endif
