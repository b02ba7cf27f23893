// lockstep calibrate fit on logs of nccl-tests: a machine's collective times relative to the default, as a profile.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "sim/data/question.h"

// Facts about the machine that the logs lack, or NULL and 0.
typedef struct LogMachine {
    const char *node, *gpu, *fabric;
    int nodes;
} LogMachine;

// Whether the file is nccl-tests' output, text or JSON.
bool is_nccl_log(const char *path);

// Fits to all logs at once, answers with the factors and their errors, and writes them as parts of a profile where
// --output is given: those inside a node with the GPU, those between nodes with the link. The exit status.
int fit_logs(Asking *asking, const Catalogue *catalogue, const char *const *paths, int count,
             const LogMachine *machine);
