// Lives of jobs: what fails more is not done sooner, under the same failures.
#include "models/workload/life/life.h"
#include "sim/base/random.h"
#include "tests/laws_internal.h"

#define DAY 86400.0
#define RUNS 40

// The study lends its number of nodes; everything else is drawn.
static LifeSpec life_of(const DrawnStudy *study, uint64_t seed) {
    RandomStream random = random_stream(seed, "life of a law", 0);
    int nodes = drawn_count(study, "cluster.gpus", 8);
    LifeSpec spec = {.nodes = nodes < 1 ? 1 : nodes > 64 ? 64 : nodes, .shape = 1, .bad_factor = 1};
    spec.spares = (int)random_below(&random, 4);
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        if (random_below(&random, 2))
            spec.faults[i] = (LifeFault){1 / ((40 + 400 * random_uniform(&random)) * DAY), 0,
                                         fault_components[i].needs_repair, false};
    spec.crash_detection_s = 60 * random_uniform(&random);
    spec.restart_s = 600 * random_uniform(&random);
    spec.repair_s = 12 * 3600 * random_uniform(&random);
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_SYNC,
                                       .every_s = 600 + 7200 * random_uniform(&random),
                                       .stall_s = 60 * random_uniform(&random),
                                       .reload_s = 100 * random_uniform(&random)};
    spec.horizon_s = 30 * DAY;
    return spec;
}

static double goodput_of(const LifeSpec *spec, uint64_t seed) {
    LifeRun run = life_run(spec, seed);
    return (double)run.spent[LIFE_TRAINING] / (double)run.wall;
}

// Failures of one kind come at the same times in both, but which node they hit and how long its repair takes are drawn
// in the order of all failures, so single lives differ either way: means are compared, to five standard errors of the
// mean difference.
#define ERRORS 5

static Verdict never_better(const LifeSpec *better, const LifeSpec *worse, uint64_t seed, const char *what,
                            Finding *finding) {
    double sum = 0, squares = 0;
    for (int i = 0; i < RUNS; i++) {
        double gain =
            goodput_of(worse, seed + (uint64_t)i) * (1 + law_forgery) - goodput_of(better, seed + (uint64_t)i);
        sum += gain;
        squares += gain * gain;
    }
    double mean = sum / RUNS, error = sqrt(fmax(0, squares / RUNS - mean * mean) / RUNS);
    finding->excess = mean - (law_forgery > 0 ? 0 : ERRORS) * error;
    if (finding->excess <= 1e-6) return LAW_HOLDS;
    snprintf(finding->why, sizeof finding->why, "%s: goodput rises by %.3g +- %.2g", what, mean, error);
    return LAW_BROKEN;
}

Verdict law_life(const DrawnStudy *study, uint64_t seed, Finding *finding) {
    LifeSpec spec = life_of(study, seed), other = spec;
    if (seed % 2) {
        other.spares = spec.spares + 1 + (int)(seed / 2 % 3);
        return never_better(&other, &spec, seed, "fewer spares", finding);
    }
    int component = (int)(seed / 2 % FAULT_COMPONENT_COUNT);
    other.faults[component].node_rate = 2 * spec.faults[component].node_rate + 1 / (100 * DAY);
    other.faults[component].needs_repair = fault_components[component].needs_repair;
    return never_better(&spec, &other, seed, "more failures", finding);
}
