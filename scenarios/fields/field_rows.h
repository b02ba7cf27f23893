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

extern const Field expect_fields[], single_switch_fields[], fat_tree_fields[], fabric_table_fields[],
    fabric_cable_fields[], fabric_nodes_fields[], node_fields[], operators_fields[], operators_block_fields[],
    operator_fields[], price_fields[], own_fields[], cost_fields[], faults_fields[], queue_fields[],
    queue_demand_fields[], queue_job_fields[], queue_goal_fields[], packets_fields[], packets_flow_fields[];
