// Random halves and blocks of measured GEMMs, from named streams of the seed.
#include "calibrate/gpu/fit/fit_split.h"

#include <stdlib.h>

#include "sim/base/digest.h"
#include "sim/base/random.h"

typedef struct Place {
    const Gemm *gemm;
    int point;
} Place;

static int compare(double a, double b) { return (a > b) - (a < b); }

static int compare_shapes(const Gemm *a, const Gemm *b) {
    int order = (a->batch > 1) - (b->batch > 1);
    if (!order) order = compare(gemm_flops(a), gemm_flops(b));
    if (!order) order = compare((double)a->m, (double)b->m);
    if (!order) order = compare((double)a->n, (double)b->n);
    return order ? order : compare((double)a->k, (double)b->k);
}

static int compare_places(const void *a, const void *b) {
    const Place *left = a, *right = b;
    int order = compare_shapes(left->gemm, right->gemm);
    return order ? order : left->point - right->point;
}

static Place *places_in_order(Arena *arena, const GemmGroup *group) {
    Place *places = ARENA_ARRAY(arena, Place, group->count);
    for (int i = 0; i < group->count; i++) places[i] = (Place){&group->items[i].gemm, i};
    qsort(places, (size_t)group->count, sizeof *places, compare_places);
    return places;
}

static int block_of(uint64_t seed, const Gemm *gemm) {
    uint64_t weights = digest_u64(digest_u64(DIGEST_START, (uint64_t)gemm->n), (uint64_t)gemm->k);
    RandomStream stream = random_stream(seed, "gemm jackknife blocks", weights);
    return (int)random_below(&stream, SPLIT_BLOCKS);
}

static int first_of_pair(uint64_t seed, int pair) {
    RandomStream stream = random_stream(seed, "gemm shapes held out", (uint64_t)pair);
    return random_uniform(&stream) < 0.5;
}

static void split_group(Arena *arena, const GemmGroup *group, uint64_t seed, int *half, int *block) {
    const Place *places = places_in_order(arena, group);
    int shape = -1;
    for (int i = 0; i < group->count; i++) {
        if (i == 0 || compare_shapes(places[i - 1].gemm, places[i].gemm) != 0) shape++;
        half[places[i].point] = first_of_pair(seed, shape / 2) ^ (shape & 1);
        block[places[i].point] = block_of(seed, places[i].gemm);
    }
}

Split split_points(Arena *arena, const GemmGroup *const *groups, int group_count, uint64_t seed) {
    Split split = {ARENA_ARRAY(arena, int *, group_count), ARENA_ARRAY(arena, int *, group_count)};
    for (int g = 0; g < group_count; g++) {
        split.half[g] = ARENA_ARRAY(arena, int, groups[g]->count);
        split.block[g] = ARENA_ARRAY(arena, int, groups[g]->count);
        split_group(arena, groups[g], seed, split.half[g], split.block[g]);
    }
    return split;
}
