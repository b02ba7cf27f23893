// Short forms for rows of fields, and rows that have a file of their own. Private to the files of fields.
#pragma once

#include "models/workload/job/field_rows.h"
#include "scenarios/fields/fields.h"

#define BANDWIDTH .kind = FIELD_QUANTITY, .quantity = QUANTITY_BANDWIDTH, .least = 1, .most = 1e15
#define WATTS .kind = FIELD_QUANTITY, .quantity = QUANTITY_POWER, .least = ABOVE_ZERO, .most = 1e5
#define FLOP_AMOUNT .kind = FIELD_QUANTITY, .quantity = QUANTITY_FLOPS, .least = ABOVE_ZERO, .most = 1e24
#define BOUND(quantity_) .kind = FIELD_BOUND, .quantity = (quantity_)

// Rows of an object in another file than the table of objects end with LAST_FIELD.
#define LAST_FIELD                                                                                                     \
    { .name = NULL }
#define ENDED(rows) rows, 0

// fields_expect.c
extern const Field expect_fields[];
// fields_fabric.c
extern const Field single_switch_fields[];
extern const Field fat_tree_fields[];
extern const Field fabric_table_fields[];
extern const Field fabric_cable_fields[];
extern const Field fabric_nodes_fields[];
extern const Field node_fields[];
// fields_operators.c
extern const Field operators_fields[], operators_block_fields[], operator_fields[];
// fields_money.c
extern const Field price_fields[];
extern const Field own_fields[];
extern const Field cost_fields[];
// fields_life.c
extern const Field faults_fields[];
// fields_queue.c
extern const Field queue_fields[], queue_demand_fields[], queue_job_fields[], queue_goal_fields[];
#define QUEUE_OBJECTS                                                                                                  \
    [OBJECT_QUEUE] = {"queue", "sim.queue", "queue", "jobs that share a cluster", ENDED(queue_fields), true},          \
    [OBJECT_QUEUE_DEMAND] = {"queue.demand", NULL, "demand", "jobs to be drawn", ENDED(queue_demand_fields), true},    \
    [OBJECT_QUEUE_JOB] = {"queue.jobs", NULL, "jobs", "a job of a list", ENDED(queue_job_fields), false},              \
    [OBJECT_QUEUE_GOAL] = {                                                                                            \
        "queue.goal", NULL, "goal", "how long jobs may wait: how many GPUs does it take?", ENDED(queue_goal_fields),   \
        true}

// fields_packets.c
extern const Field packets_fields[], packets_flow_fields[];
#define PACKETS_OBJECTS                                                                                                \
    [OBJECT_PACKETS] = {"packets", "sim.packets", "packets", "flows as packets", ENDED(packets_fields), true},         \
    [OBJECT_PACKETS_FLOW] = {"packets.flows", NULL, "flows", "a flow of a list", ENDED(packets_flow_fields), false}
