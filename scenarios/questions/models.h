// Output of one model by `lockstep model`.
#pragma once

#include "models/workload/model/model.h"
#include "sim/data/question.h"

// What each block runs in forward of one sample of so many tokens (model_operators.c).
void add_operators(const Asking *asking, const Model *model, double seq_len);
