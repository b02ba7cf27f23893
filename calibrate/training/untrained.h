// The catalogue as if no training run of a type of GPU had been published: datasheet and kernel numbers stay, those
// derived from training runs are taken from similar GPUs.
#pragma once

#include "models/workload/cluster/cluster.h"

// A copy in which such numbers of these GPUs are each the mean of those of other GPUs of its generation, else of the
// next generations, else of all.
const Catalogue *catalogue_untrained(Arena *arena, const Catalogue *catalogue, const Gpu *const *gpus, int count);
