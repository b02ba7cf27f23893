// Hides the catalogue numbers that were derived from training runs, by their source text.
#include "calibrate/training/untrained.h"

#include <stdlib.h>
#include <string.h>

#define TRAINING_SOURCE "training runs"
#define EFFICIENCY "gemm_efficiency_"
#define TRAINED "training_efficiency_"

static bool is_from_training(const Fact *fact) { return fact->source && strstr(fact->source, TRAINING_SOURCE); }

// The GPU's member of a fact; NULL: not one derived from training runs.
static double *place_of(Gpu *gpu, const char *name) {
    Precision precision;
    if (strcmp(name, "training_clock") == 0) return &gpu->training_clock;
    if (strncmp(name, EFFICIENCY, strlen(EFFICIENCY)) == 0 &&
        precision_from_name(name + strlen(EFFICIENCY), &precision))
        return &gpu->gemm_efficiency[precision];
    if (strncmp(name, TRAINED, strlen(TRAINED)) == 0 && precision_from_name(name + strlen(TRAINED), &precision))
        return &gpu->training_efficiency[precision];
    return NULL;
}

static bool is_one_of(const Gpu *gpu, const Gpu *const *gpus, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(gpu->name, gpus[i]->name) == 0) return true;
    return false;
}

// Mean over GPUs at most `furthest` generations away, of measured or fitted numbers; 0: none.
static double mean_of_others(const Catalogue *catalogue, const Gpu *gpu, const char *name, const Gpu *const *without,
                             int count, int furthest) {
    double sum = 0;
    int others = 0;
    for (int i = 0; i < catalogue->gpu_count; i++) {
        Gpu other = catalogue->gpus[i];
        const Fact *fact = fact_find(other.facts, other.fact_count, name);
        bool near = abs((int)other.generation - (int)gpu->generation) <= furthest;
        if (!fact || !near || is_one_of(&other, without, count)) continue;
        if (fact->kind != FACT_MEASURED && fact->kind != FACT_FITTED) continue;
        sum += *place_of(&other, name);
        others++;
    }
    return others ? sum / others : 0;
}

static void forget(const Catalogue *catalogue, Gpu *gpu, const Gpu *const *without, int count) {
    static const int furthest[] = {0, 1, 100};
    const Fact *facts = facts_of(gpu->facts, gpu->fact_count);
    for (int f = 0; f < gpu->fact_count; f++) {
        const char *name = facts[f].name;
        double *place = is_from_training(&facts[f]) ? place_of(gpu, name) : NULL, mean = 0;
        for (size_t i = 0; place && mean == 0 && i < sizeof furthest / sizeof *furthest; i++)
            mean = mean_of_others(catalogue, gpu, name, without, count, furthest[i]);
        if (mean > 0) *place = mean;
    }
}

const Catalogue *catalogue_untrained(Arena *arena, const Catalogue *catalogue, const Gpu *const *gpus, int count) {
    Catalogue *untrained = ARENA_NEW(arena, Catalogue);
    Gpu *all = ARENA_ARRAY(arena, Gpu, catalogue->gpu_count);
    *untrained = *catalogue;
    memcpy(all, catalogue->gpus, (size_t)catalogue->gpu_count * sizeof *all);
    for (int i = 0; i < catalogue->gpu_count; i++)
        if (is_one_of(&all[i], gpus, count)) forget(catalogue, &all[i], gpus, count);
    untrained->gpus = all;
    return untrained;
}
