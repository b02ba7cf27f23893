// Output of one model by `lockstep model`.
#pragma once

#include "models/workload/model/model.h"
#include "sim/data/question.h"

// Each block's forward operators for one sample of seq_len tokens (model_operators.c).
void add_operators(const Asking *asking, const Model *model, double seq_len);
