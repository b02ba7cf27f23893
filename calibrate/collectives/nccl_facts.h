// Facts about the machine in a log: nccl-tests' list of ranks, and NCCL's own lines with NCCL_DEBUG=INFO.
#pragma once

#include <stdbool.h>

#include "sim/base/name_index.h"

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
// In the facts' arena; returns how many.
int nccl_facts_list(const NcclFacts *facts, const NcclFact **list);
