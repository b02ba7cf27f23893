// A cluster and its price from options, shared by `lockstep cost` and `lockstep power`.
#pragma once

#include "models/workload/money/money.h"
#include "sim/base/options.h"
#include "sim/base/quantity.h"

extern const OptionSpec cluster_options[];
extern const int cluster_option_count;
extern const OptionSpec money_options[];
extern const int money_option_count;

// NULL after problems. Options must hold the first table; the second is read where `paid`.
const Cluster *cluster_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, bool paid,
                                    Problems *problems);
// --date, on which prices of more than a year before are pointed out; today without it.
Date day_from_options(const Options *options, Problems *problems);
// --mix "matrix=0.6,memory-bound=0.15,communication=0.2,waiting=0.05"; when left out that of a usual training step.
ActivityMix mix_from_options(const Options *options, Problems *problems);
