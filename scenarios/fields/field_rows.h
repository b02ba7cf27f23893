// Short forms for rows of fields, and the rows that have a file of their own. For the files of fields only.
#ifndef LOCKSTEP_SCENARIOS_FIELD_ROWS_H
#define LOCKSTEP_SCENARIOS_FIELD_ROWS_H

#include "models/workload/job/field_rows.h"
#include "scenarios/fields/fields.h"

#define BANDWIDTH .kind = FIELD_QUANTITY, .quantity = QUANTITY_BANDWIDTH, .least = 1, .most = 1e15
#define WATTS .kind = FIELD_QUANTITY, .quantity = QUANTITY_POWER, .least = ABOVE_ZERO, .most = 1e5
#define FLOP_AMOUNT .kind = FIELD_QUANTITY, .quantity = QUANTITY_FLOPS, .least = ABOVE_ZERO, .most = 1e24
#define BOUND(quantity_) .kind = FIELD_BOUND, .quantity = (quantity_)

// fields_training.c
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
// fields_life.c
extern const Field faults_fields[5];
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
