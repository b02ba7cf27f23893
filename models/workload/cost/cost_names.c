// Causes of time and classes of memory, as tables and files spell them.
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
const char *const memory_class_names[MEMORY_CLASS_COUNT] = {
    "weights", "gradients", "optimizer", "activations", "working", "buffers", "reserve",
};
