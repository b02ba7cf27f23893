// What Nsight Systems exports as SQLite (nsys export --type sqlite), told in the events of a Kineto trace: kernels,
// copies, and ranges that mark a step. Of an export of several GPUs the first one counts, with the ranges of the
// process that used it.
#pragma once

#include "sim/data/kineto.h"

// Each range that marks a step is an annotation of this name, whatever NVTX called it.
#define NSYS_STEP "ProfilerStep#"

bool nsys_is_export(const char *path); // by its first bytes and its tables

// False after a problem at `path`.
bool nsys_read(const char *path, const KinetoReader *reader, void *context, Problems *problems);

// Whether a range's name marks a step: "step 12", "train_step", "Iteration#3", "ProfilerStep#7".
bool nsys_marks_step(const char *name);
