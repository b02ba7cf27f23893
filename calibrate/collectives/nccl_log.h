// nccl-tests' output: its text, in which header words identify the columns, and its JSON; and the facts about the
// machine in either, from its list of ranks and from NCCL's own lines with NCCL_DEBUG=INFO.
#pragma once

#include <stdbool.h>

#include "models/network/network.h"
#include "sim/base/list.h"

// In the words and columns of clusters.csv.
typedef struct NcclFact {
    const char *column, *value;
} NcclFact;

typedef struct NameCount { // names, each once
    NameIndex *index;
    int count;
} NameCount;

typedef struct NcclFacts {
    Arena *arena;
    NameCount hosts, processes;
    int ranks, nics;
    double nic_gigabits;
    const char *gpu, *transport; // NULL: unspecified
    const char *environment;     // "NCCL_ALGO=Ring NCCL_PROTO=Simple"
    bool direct_memory, bounced; // messages from GPU memory to a NIC and back, or not
    bool peer_to_peer, staged;   // within a node
    bool in_switch_reduction;
} NcclFacts;

void nccl_facts_read(NcclFacts *facts, const char *line);

// ---- The log.

typedef struct NcclRow {
    int line;
    double bytes;   // nccl-tests' size
    double seconds; // out of place, or in place where that is all there is
} NcclRow;

typedef struct NcclLog {
    const char *path, *name; // the name is the file's, without folder and ending
    const char *op;          // as in the log, "" if missing
    NcclRow *rows;
    int row_count, zero_rows; // rows of size 0 are counted and left out
    int gpus_per_process;     // nccl-tests' -g if logged; 0 unknown
    int threads_per_process;  // nccl-tests' -t; 0 unknown
    int iterations;           // timed together; 0 unknown
    int nccl_version;         // as 22005; 0 unknown
    const NcclFact *facts;    // for missing cells of clusters.csv
    int fact_count;
} NcclLog;

// NULL after adding problems, each with file and line.
const NcclLog *nccl_log_read(Arena *arena, const char *path, Problems *problems);
const NcclLog *nccl_log_read_text(Arena *arena, const char *path, const char *text, size_t bytes, Problems *problems);

// What nccl-tests calls an operation: "alltoall", "sendrecv_perf", "all_reduce"; false for others.
bool nccl_op_from_name(const char *name, CollectiveOp *op);
const char *nccl_op_name(CollectiveOp op);
// The number after " -g " in a command line or note; 0 when there is none.
int gpus_per_process_in(const char *text);
