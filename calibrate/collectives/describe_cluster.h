// The cluster of a measured log, from the columns of clusters.csv: catalogue GPUs in a node and on a network of the
// described kind. Missing properties get a stated default, recorded as an assumption.
#pragma once

#include "calibrate/collectives/nccl_log.h"
#include "models/workload/cluster/cluster.h"
#include "sim/data/csv.h"

typedef struct DescribedCluster {
    const char *family; // "Hopper nvswitch, infiniband": clusters with the same kind of hardware
    const char *op;     // as in the row
    const Cluster *cluster;
    int *ranks, rank_count;
    const char *algorithm;    // that the environment asked for, in the network's words; NULL free
    const Protocol *protocol; // likewise
    int gpus_per_process;     // that one process drove; 0 unknown
    int threads_per_process;  // that one process used, one for each GPU; 0: none
    const char *do_not_fit;   // why nothing can be learned from the log; "" it can
    int nccl_version;         // 22105 is 2.21.5; 0 not stated
    int ranks_per_gpu;        // usually 1; more take turns
    const char **assumptions;
    int assumption_count;
} DescribedCluster;

// A table of one row: that row (none: -1; clusters may be NULL), completed with the log's facts.
const Csv *clusters_row_with(Arena *arena, const Csv *clusters, int row, const NcclLog *log);
// NULL after problems (a column is missing, a cell unreadable, the parts do not fit).
const DescribedCluster *describe_cluster(Arena *arena, const Catalogue *catalogue, const Csv *clusters, int row,
                                         Problems *problems);
