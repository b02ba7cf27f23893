// Names of strategies in other software: each maps to one of lockstep's strategies with a ZeRO stage and offloading.
#pragma once

#include "models/workload/job/training.h"

typedef struct StrategyWord {
    const char *word, *from; // "deepspeed_stage_2", "Lightning"
    Strategy strategy;
    int zero;
    OffloadPlace optimizer, parameters;
} StrategyWord;

#define FOREIGN_STRATEGIES 27
#define STRATEGY_WORDS (STRATEGY_COUNT + FOREIGN_STRATEGIES)
extern const StrategyWord foreign_strategies[FOREIGN_STRATEGIES];
// lockstep's own by their number, then the others.
extern const char *const strategy_words[STRATEGY_WORDS];
