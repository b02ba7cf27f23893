// lockstep calibrate fit on logs of nccl-tests: what a machine's collectives take against the usual, as a profile.
#ifndef LOCKSTEP_CALIBRATE_FIT_LOGS_H
#define LOCKSTEP_CALIBRATE_FIT_LOGS_H

#include "models/workload/cluster/cluster.h"

// What the logs do not say of the machine, or NULL and 0.
typedef struct LogMachine {
    const char *node, *gpu, *fabric;
    int nodes;
} LogMachine;

// Whether the file is nccl-tests' output, text or JSON.
bool is_nccl_log(const char *path);

// Fits to all logs at once, prints the factors with their errors, and writes them as parts of a profile (output: NULL
// for none): those inside a node with the GPU, those between nodes with the link. The exit code.
int fit_logs(Arena *arena, const Catalogue *catalogue, const char *const *paths, int count, const LogMachine *machine,
             const char *output, Problems *problems);

#endif
