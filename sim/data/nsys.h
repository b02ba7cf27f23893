// Reader of SQLite exports of Nsight Systems (nsys export --type sqlite), as events of a Kineto trace: kernels,
// copies, and ranges that mark a step. An export of several GPUs is read for its first GPU, with the ranges of the
// process that used that GPU.
#pragma once

#include "sim/data/kineto.h"

// Each range that marks a step is an annotation of this name, whatever NVTX called it.
#define NSYS_STEP "ProfilerStep#"

bool nsys_is_export(const char *path); // by its first bytes and its tables

// False after a problem at `path`.
bool nsys_read(const char *path, const KinetoReader *reader, void *context, Problems *problems);

// Whether a range's name marks a step: "step 12", "train_step", "Iteration#3", "ProfilerStep#7".
bool nsys_marks_step(const char *name);
