// Names of causes of time and classes of memory, in tables and files.
#include "models/workload/cost/cost.h"

const char *const cause_names[CAUSE_COUNT] = {
    "gemm", "attention", "memory-bound", "launch", "recompute", "optimizer", "tp",    "cp",
    "ep",   "pp",        "dp",           "copy",   "data",      "host",      "other",
};
const char *const cause_titles[CAUSE_COUNT] = {
    "Matrix multiplication",
    "Attention",
    "Memory-bound kernels",
    "Kernel launches",
    "Recomputation",
    "Optimizer",
    "Tensor parallel",
    "Context parallel",
    "Expert parallel",
    "Pipeline",
    "Data parallel",
    "Copies",
    "Data loading",
    "Host",
    "Other",
};
// Kernels of a few microseconds leave the GPU waiting for the next, so launches draw like communication.
Activity activity_of_cause(Cause cause) {
    static const Activity activities[CAUSE_COUNT] = {
        [CAUSE_GEMM] = ACTIVITY_MATRIX,      [CAUSE_ATTENTION] = ACTIVITY_MATRIX,
        [CAUSE_RECOMPUTE] = ACTIVITY_MATRIX, [CAUSE_MEMORY] = ACTIVITY_MEMORY,
        [CAUSE_OPTIMIZER] = ACTIVITY_MEMORY, [CAUSE_LAUNCH] = ACTIVITY_COMMUNICATION,
        [CAUSE_TP] = ACTIVITY_COMMUNICATION, [CAUSE_CP] = ACTIVITY_COMMUNICATION,
        [CAUSE_EP] = ACTIVITY_COMMUNICATION, [CAUSE_PP] = ACTIVITY_COMMUNICATION,
        [CAUSE_DP] = ACTIVITY_COMMUNICATION, [CAUSE_COPY] = ACTIVITY_COMMUNICATION,
        [CAUSE_DATA] = ACTIVITY_WAITING,     [CAUSE_HOST] = ACTIVITY_WAITING,
        [CAUSE_OTHER] = ACTIVITY_WAITING,
    };
    return activities[cause];
}

const char *const memory_class_names[MEMORY_CLASS_COUNT] = {
    "weights", "gradients", "optimizer", "activations", "working", "buffers", "reserve",
};
