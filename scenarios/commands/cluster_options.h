// A cluster and what is paid for it, said in options: what `lockstep cost` and `lockstep power` share.
#ifndef LOCKSTEP_SCENARIOS_CLUSTER_OPTIONS_H
#define LOCKSTEP_SCENARIOS_CLUSTER_OPTIONS_H

#include "models/workload/money/money.h"
#include "sim/options.h"

extern const OptionSpec cluster_options[];
extern const int cluster_option_count;
extern const OptionSpec money_options[];
extern const int money_option_count;

// NULL after problems. Options must hold the first table; the second is read where `paid`.
const Cluster *cluster_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, bool paid,
                                    Problems *problems);
// --mix "matrix=0.6,memory-bound=0.15,communication=0.2,waiting=0.05"; when left out that of a usual training step.
ActivityMix mix_from_options(const Options *options, Problems *problems);

#endif
