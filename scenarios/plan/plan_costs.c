#include "scenarios/plan/plan_costs.h"

#include <math.h>
#include <string.h>

#include "models/hardware/power.h"
#include "models/workload/job/layout.h"

// All that the cost of a block depends on, but for what every candidate of a search shares.
typedef struct BlockKey {
    int tp, cp, ep;
    bool pipeline, sharded_gradients, sequence_parallel, split_backward;
    Recompute recompute;
    double micro_batch;
} BlockKey;

typedef struct BlockEntry {
    BlockKey key;
    BlockSums sums;
} BlockEntry;

typedef struct PriceKey {
    Backend backend;
    CollectiveOp op;
    RankRow ranks;
    double bytes;
    bool quickest; // of all groups like it, not of these ranks
} PriceKey;

typedef struct Price {
    PriceKey key;
    double seconds;
    bool known;
} Price;

struct PlanCosts {
    Arena *arena;
    const Cluster *cluster;
    const Model *model;
    GpuTypes in_turn; // of the cluster
    struct {
        const Gpu **items;
        int count, room;
    } gpus; // the kinds there are
    struct {
        BlockEntry *items;
        int count, room;
    } entries;
    Price *prices; // open addressing, room a power of two
    int price_count, price_room;
    int *ranks; // [GPUs] scratch
};

PlanCosts *plan_costs_create(Arena *arena, const Cluster *cluster, const Model *model) {
    PlanCosts *costs = ARENA_NEW(arena, PlanCosts);
    *costs = (PlanCosts){.arena = arena, .cluster = cluster, .model = model, .price_room = 1024};
    costs->prices = ARENA_ARRAY(arena, Price, costs->price_room);
    costs->ranks = ARENA_ARRAY(arena, int, cluster->gpu_count);
    costs->in_turn = cluster_gpus_in_turn(arena, cluster);
    for (int r = 0; r < cluster->gpu_count; r++) {
        bool seen = false;
        for (int i = 0; i < costs->gpus.count; i++) seen = seen || costs->gpus.items[i] == cluster->gpu_of[r];
        if (!seen) LIST_PUSH(arena, &costs->gpus, cluster->gpu_of[r]);
    }
    for (int i = 0; i < costs->gpus.count; i++)
        costs->gpus.items[i] = slowest_gpu(arena, costs->gpus.items[i], cluster->gpu_count);
    return costs;
}

const Cluster *plan_costs_cluster(const PlanCosts *costs) { return costs->cluster; }

GpuTypes plan_costs_gpus(const PlanCosts *costs) { return costs->in_turn; }

// ---- Collectives.

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const PriceKey *key) {
    uint64_t bytes;
    memcpy(&bytes, &key->bytes, sizeof bytes);
    uint64_t what = ((uint64_t)key->op * 8 + (uint64_t)key->backend) * 2 + key->quickest;
    uint64_t hash = mix(mix(what, bytes), (uint64_t)key->ranks.first);
    return mix(hash, (uint64_t)key->ranks.count << 32 | (uint32_t)key->ranks.stride);
}

static bool same_price(const PriceKey *a, const PriceKey *b) {
    return a->backend == b->backend && a->op == b->op && a->quickest == b->quickest && a->bytes == b->bytes &&
           a->ranks.first == b->ranks.first && a->ranks.count == b->ranks.count && a->ranks.stride == b->ranks.stride;
}

static Price *place_of(Price *prices, int room, const PriceKey *key) {
    uint64_t at = hash_of(key);
    while (prices[at & (uint64_t)(room - 1)].known && !same_price(&prices[at & (uint64_t)(room - 1)].key, key)) at++;
    return &prices[at & (uint64_t)(room - 1)];
}

static void grow(PlanCosts *costs) {
    int room = 2 * costs->price_room;
    Price *prices = ARENA_ARRAY(costs->arena, Price, room);
    for (int i = 0; i < costs->price_room; i++)
        if (costs->prices[i].known) *place_of(prices, room, &costs->prices[i].key) = costs->prices[i];
    costs->prices = prices;
    costs->price_room = room;
}

static double price(PlanCosts *costs, const PriceKey *key) {
    Arena *scratch = arena_open();
    for (int i = 0; i < key->ranks.count; i++) costs->ranks[i] = key->ranks.first + i * key->ranks.stride;
    CollectiveRequest request = {.op = key->op,
                                 .backend = key->backend,
                                 .ranks = costs->ranks,
                                 .rank_count = key->ranks.count,
                                 .bytes = key->bytes};
    double seconds = collective_plan(scratch, costs->cluster->network, &request).alone_seconds;
    arena_close(scratch);
    return seconds;
}

static double known_seconds(const PlanCosts *costs, const PriceKey *key) {
    const Price *found = place_of(costs->prices, costs->price_room, key);
    return found->known ? found->seconds : -1;
}

static double keep(PlanCosts *costs, const PriceKey *key, double seconds) {
    *place_of(costs->prices, costs->price_room, key) = (Price){*key, seconds, true};
    if (++costs->price_count > costs->price_room / 2) grow(costs);
    return seconds;
}

double plan_alone_seconds(PlanCosts *costs, Backend backend, CollectiveOp op, RankRow ranks, double bytes) {
    if (ranks.count < 2 || bytes <= 0) return 0;
    PriceKey key = {backend, op, ranks, bytes, false};
    double known = known_seconds(costs, &key);
    return known >= 0 ? known : keep(costs, &key, price(costs, &key));
}

// A group's position within a node decides which links it crosses; nodes are equal, and the first is on the first
// switch. So the first groups include one of the fastest.
double plan_quickest_seconds(PlanCosts *costs, Backend backend, CollectiveOp op, RankRow ranks, double bytes) {
    if (ranks.count < 2 || bytes <= 0) return 0;
    PriceKey key = {backend, op, ranks, bytes, true};
    double known = known_seconds(costs, &key);
    if (known >= 0) return known;
    int last = ranks.first + (ranks.count - 1) * ranks.stride, node = costs->cluster->node_of[0]->gpu_count;
    double quickest = INFINITY;
    for (int shift = 0; shift < node && last + shift < costs->cluster->gpu_count; shift++) {
        RankRow shifted = {ranks.first + shift, ranks.count, ranks.stride};
        quickest = fmin(quickest, plan_alone_seconds(costs, backend, op, shifted, bytes));
    }
    return keep(costs, &key, quickest);
}

// ---- Blocks.

static RankRow group_of(const TrainingSpec *training, Cause cause) {
    const Layout *layout = &training->layout;
    int cp = layout->cp > 1 ? layout->cp : 1;
    if (cause == CAUSE_CP) return (RankRow){0, cp, layout->tp};
    if (cause == CAUSE_EP) return (RankRow){0, layout->ep, layout->tp};
    return (RankRow){0, layout->tp, 1};
}

// The main stream waits for each collective; if overlapped, it computes until it must wait.
static double main_seconds(PlanCosts *costs, const TrainingSpec *training, const CostList *list,
                           double busy[CAUSE_COUNT]) {
    double now = 0, overlapped_end = 0;
    for (int i = 0; i < list->count; i++) {
        const CostItem *item = &list->items[i];
        if (item->join) {
            now = fmax(now, overlapped_end);
            continue;
        }
        now += item->seconds;
        busy[item->cause] += item->seconds;
        if (item->bytes <= 0) continue;
        double seconds = plan_quickest_seconds(costs, training->backend, item->collective,
                                               group_of(training, item->cause), item->bytes);
        if (item->overlapped)
            overlapped_end = now + seconds;
        else
            now += seconds;
    }
    return now;
}

typedef struct BlockTimes {
    double forward, backward, parameters, experts, output_bytes;
    double busy[CAUSE_COUNT];
} BlockTimes;

static BlockTimes block_times(PlanCosts *costs, const TrainingSpec *training, int block) {
    BlockTimes best = {.forward = INFINITY, .backward = INFINITY};
    for (int g = 0; g < costs->gpus.count; g++) {
        BlockCost cost = block_cost(costs->model, block, training, training->micro_batch, costs->gpus.items[g]);
        double busy[CAUSE_COUNT] = {0};
        best.forward = fmin(best.forward, main_seconds(costs, training, &cost.forward, busy));
        double backward = 0;
        if (schedule_splits_backward(training->schedule))
            backward = main_seconds(costs, training, &cost.backward_input, busy) +
                       main_seconds(costs, training, &cost.backward_weight, busy);
        else
            backward = main_seconds(costs, training, &cost.backward, busy);
        best.backward = fmin(best.backward, backward);
        for (int c = 0; c < CAUSE_COUNT; c++) best.busy[c] = g == 0 ? busy[c] : fmin(best.busy[c], busy[c]);
        best.parameters = cost.parameters;
        best.experts = cost.expert_parameters;
        best.output_bytes = cost.output_bytes;
    }
    return best;
}

static double *sums_of(Arena *arena, int blocks) { return ARENA_ARRAY(arena, double, blocks + 1); }

static BlockSums sum_blocks(PlanCosts *costs, const TrainingSpec *training) {
    int count = costs->model->block_count;
    BlockSums sums = {.forward = sums_of(costs->arena, count),
                      .backward = sums_of(costs->arena, count),
                      .parameters = sums_of(costs->arena, count),
                      .experts = sums_of(costs->arena, count),
                      .output_bytes = sums_of(costs->arena, count)};
    for (int c = 0; c < CAUSE_COUNT; c++) sums.busy[c] = sums_of(costs->arena, count);
    BlockTimes times = {0};
    for (int b = 0; b < count; b++) {
        if (b == 0 || !same_block(training, b - 1, b)) times = block_times(costs, training, b);
        sums.forward[b + 1] = sums.forward[b] + times.forward;
        sums.backward[b + 1] = sums.backward[b] + times.backward;
        for (int c = 0; c < CAUSE_COUNT; c++) sums.busy[c][b + 1] = sums.busy[c][b] + times.busy[c];
        sums.parameters[b + 1] = sums.parameters[b] + times.parameters;
        sums.experts[b + 1] = sums.experts[b] + times.experts;
        sums.output_bytes[b] = times.output_bytes;
    }
    return sums;
}

static bool same_key(const BlockKey *a, const BlockKey *b) {
    return a->tp == b->tp && a->cp == b->cp && a->ep == b->ep && a->pipeline == b->pipeline &&
           a->sharded_gradients == b->sharded_gradients && a->sequence_parallel == b->sequence_parallel &&
           a->split_backward == b->split_backward && a->recompute == b->recompute && a->micro_batch == b->micro_batch;
}

const BlockSums *plan_block_sums(PlanCosts *costs, const TrainingSpec *training) {
    const Layout *layout = &training->layout;
    BlockKey key = {.tp = layout->tp,
                    .cp = layout->cp,
                    .ep = layout->ep,
                    .pipeline = layout->pp > 1,
                    .sharded_gradients = shards_gradients(layout),
                    .sequence_parallel = layout->sequence_parallel,
                    .split_backward = schedule_splits_backward(training->schedule),
                    .recompute = training->recompute,
                    .micro_batch = training->micro_batch};
    for (int i = costs->entries.count - 1; i >= 0; i--)
        if (same_key(&costs->entries.items[i].key, &key)) return &costs->entries.items[i].sums;
    BlockEntry entry = {key, sum_blocks(costs, training)};
    LIST_PUSH(costs->arena, &costs->entries, entry);
    return &costs->entries.items[costs->entries.count - 1].sums;
}
