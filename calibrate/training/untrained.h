// What would be known of a type of GPU if no training run of it had been published: datasheet and kernels stay, what
// such runs told is as of the GPUs next to it.
#pragma once

#include "models/workload/cluster/cluster.h"

// The same catalogue but for the numbers of these GPUs that training runs told: each is the mean of those of other GPUs
// of its generation, else of the next generations, else of all.
const Catalogue *catalogue_untrained(Arena *arena, const Catalogue *catalogue, const Gpu *const *gpus, int count);
