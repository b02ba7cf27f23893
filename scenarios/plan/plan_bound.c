#include "scenarios/plan/plan_bound.h"

#include <math.h>
#include <string.h>

#include "models/hardware/power.h"
#include "models/workload/job/layout.h"
#include "models/workload/lower/stage.h"
#include "models/workload/step/simulate.h"
#include "sim/base/list.h"

// ---- Costs of blocks and times of collectives, each once.

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
    GpuTypes in_turn;          // of the cluster
    LIST_OF(const Gpu *) gpus; // the kinds there are
    LIST_OF(BlockEntry) entries;
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

static const Cluster *plan_costs_cluster(const PlanCosts *costs) { return costs->cluster; }

// its GPUs, as cluster_gpus_in_turn has them
static GpuTypes plan_costs_gpus(const PlanCosts *costs) { return costs->in_turn; }

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

// With the network to itself; 0 for one rank.
static double plan_alone_seconds(PlanCosts *costs, Backend backend, CollectiveOp op, RankRow ranks, double bytes) {
    if (ranks.count < 2 || bytes <= 0) return 0;
    PriceKey key = {backend, op, ranks, bytes, false};
    double known = known_seconds(costs, &key);
    return known >= 0 ? known : keep(costs, &key, price(costs, &key));
}

// A group's position within a node decides which links it crosses; nodes are equal, and the first is on the first
// switch. So the first groups include one of the fastest.
static double plan_quickest_seconds(PlanCosts *costs, Backend backend, CollectiveOp op, RankRow ranks, double bytes) {
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

static const BlockSums *plan_block_sums(PlanCosts *costs, const TrainingSpec *training) {
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

// ---- The bound.

// What one stage needs of each other and of the network.
typedef struct BoundPipeline {
    PlanCosts *costs;
    const TrainingSpec *training;
    const BlockSums *sums;
    const int *first; // blocks of chunk c: first[c] … first[c + 1] - 1
    int pp, vpp, data_ranks;
    double micro_batches;
    bool waits_for_sends; // the schedules without interleaving do
} BoundPipeline;

static double chunk_sum(const BoundPipeline *p, const double *sums, int chunk) {
    return sums[p->first[chunk + 1]] - sums[p->first[chunk]];
}

static double stage_sum(const BoundPipeline *p, const double *sums, int stage) {
    double sum = 0;
    for (int chunk = stage; chunk < p->pp * p->vpp; chunk += p->pp) sum += chunk_sum(p, sums, chunk);
    return sum;
}

// From a stage's first chunk to the next stage's, or the gradient back to it.
static double pass_seconds(const BoundPipeline *p, int chunk) {
    double bytes = p->sums->output_bytes[p->first[chunk + 1] - 1];
    RankRow pair = {0, 2, p->training->layout.tp * p->data_ranks};
    return plan_quickest_seconds(p->costs, p->training->backend, COLLECTIVE_SEND_RECV, pair, bytes);
}

// Of a stage's main stream in a step.
static double work_seconds(const BoundPipeline *p, int stage) {
    double once = stage_sum(p, p->sums->forward, stage) + stage_sum(p, p->sums->backward, stage);
    if (p->waits_for_sends && stage < p->pp - 1) once += pass_seconds(p, stage);
    if (p->waits_for_sends && stage > 0) once += pass_seconds(p, stage - 1);
    return p->micro_batches * once;
}

// ---- Gradients and sharded weights.

typedef struct Exchange {
    int shard;          // ranks that share one copy of ZeRO-sharded state
    double scattered;   // seconds to reduce all gradients of the stage
    double last_bucket; // of it the bucket that is ready when backward is through
    double gathered;    // to gather all weights once
    double gathered_block;
} Exchange;

// Of a stage, of those that share one copy, or of the first of each.
static double exchange_seconds(const BoundPipeline *p, int stage, int shard, DataGroup group, CollectiveOp op,
                               double bytes) {
    int tp = p->training->layout.tp, first = tp * p->data_ranks * stage;
    RankRow ranks =
        group == DATA_SHARD ? (RankRow){first, shard, tp} : (RankRow){first, p->data_ranks / shard, tp * shard};
    return plan_alone_seconds(p->costs, p->training->backend, op, ranks, bytes);
}

// Spread experts go to fewer ranks, and are left out.
static double reduce_seconds(const BoundPipeline *p, int stage, int shard, double parameters) {
    Reduction reductions[REDUCTIONS_MOST];
    DataRanks ranks = {.reduce = p->data_ranks, .shard = shard, .experts = 1};
    int count = reductions_of(p->training, ranks, parameters, 0, reductions);
    double seconds = 0;
    for (int i = 0; i < count; i++)
        seconds += exchange_seconds(p, stage, shard, reductions[i].group, reductions[i].op, reductions[i].bytes);
    return seconds;
}

static double gather_seconds(const BoundPipeline *p, int stage, int shard, double parameters, double bytes_each) {
    return exchange_seconds(p, stage, shard, DATA_SHARD, COLLECTIVE_ALL_GATHER,
                            exchanged_bytes(parameters, bytes_each));
}

static double block_of(const double *sums, int block) { return sums[block + 1] - sums[block]; }

// Whole blocks are added to a bucket until it is full, from the last block of each chunk to its first; the rest is
// sent at the chunk's end.
static void add_buckets(const BoundPipeline *p, int stage, Exchange *exchange) {
    for (int chunk = stage + (p->vpp - 1) * p->pp; chunk >= stage; chunk -= p->pp) {
        double bucket = 0, experts = 0, sent = 0;
        for (int b = p->first[chunk + 1] - 1; b >= p->first[chunk]; b--) {
            bucket += block_of(p->sums->parameters, b);
            experts += block_of(p->sums->experts, b);
            if (!bucket_is_full(p->training, bucket, experts) && b > p->first[chunk]) continue;
            sent = reduce_seconds(p, stage, exchange->shard, bucket);
            exchange->scattered += sent;
            bucket = experts = 0;
        }
        exchange->last_bucket = sent;
    }
}

static void add_blocks(const BoundPipeline *p, int stage, Exchange *exchange) {
    for (int chunk = stage; chunk < p->pp * p->vpp; chunk += p->pp)
        for (int b = p->first[chunk]; b < p->first[chunk + 1]; b++) {
            double parameters = block_of(p->sums->parameters, b);
            exchange->scattered += exchange_seconds(p, stage, exchange->shard, DATA_SHARD, COLLECTIVE_REDUCE_SCATTER,
                                                    exchanged_bytes(parameters, gradient_bytes(p->training)));
            exchange->gathered_block +=
                gather_seconds(p, stage, exchange->shard, parameters, gathered_weight_bytes(p->training, b));
        }
}

static Exchange exchange_of(const BoundPipeline *p, int stage) {
    const TrainingSpec *training = p->training;
    int zero = training->layout.zero;
    Exchange exchange = {.shard = zero == 0 ? 1 : training->layout.shard > 0 ? training->layout.shard : p->data_ranks};
    if (p->data_ranks == 1) return exchange;
    double parameters = stage_sum(p, p->sums->parameters, stage);
    if (zero >= 2 && exchange.shard > 1) {
        add_blocks(p, stage, &exchange);
    } else if (training->overlap_grad_reduce) {
        add_buckets(p, stage, &exchange);
    } else {
        exchange.scattered = exchange.last_bucket = reduce_seconds(p, stage, exchange.shard, parameters);
    }
    double updated = weight_bytes(training) * trained_share(training);
    if (exchange.shard > 1) exchange.gathered = gather_seconds(p, stage, exchange.shard, parameters, updated);
    return exchange;
}

// The last backwards of a stage, which can overlap its gradients' transfers.
static double last_backward_seconds(const BoundPipeline *p, int stage) {
    if (p->vpp == 1) return stage_sum(p, p->sums->backward, stage) + (stage > 0 ? pass_seconds(p, stage - 1) : 0);
    double longest = 0; // of a chunk, forward and backward
    for (int chunk = stage; chunk < p->pp * p->vpp; chunk += p->pp)
        longest = fmax(longest, chunk_sum(p, p->sums->forward, chunk) + chunk_sum(p, p->sums->backward, chunk));
    return ((p->vpp - 1) * p->pp + 1) * longest;
}

// From the end of a stage's main work to the end of its step, and what its gradients' stream alone would take.
static double tail_seconds(const BoundPipeline *p, int stage, double work, double *stream) {
    const TrainingSpec *training = p->training;
    Exchange exchange = exchange_of(p, stage);
    double parameters = stage_sum(p, p->sums->parameters, stage) / exchange.shard * trained_share(training);
    GpuTypes types = plan_costs_gpus(p->costs);
    double update = INFINITY;
    for (int i = 0; i < types.count; i++) // of a mixture the quickest
        update = fmin(update, optimizer_seconds(training, parameters, types.items[i]));
    *stream = 0;
    if (shards_gradients(&training->layout) && exchange.shard > 1) {
        double gathers = shards_weights(&training->layout) ? 2 : 1;
        *stream = p->micro_batches * (exchange.scattered + gathers * exchange.gathered_block) + update;
        return update;
    }
    double exposed = exchange.scattered;
    if (training->overlap_grad_reduce)
        exposed = fmax(exchange.last_bucket, exchange.scattered - fmin(work, last_backward_seconds(p, stage)));
    return exposed + update + (training->overlap_param_gather ? 0 : exchange.gathered);
}

// ---- The step.

// What a stage sends to the next goes one after the other, whatever it computes meanwhile.
static double sends_seconds(const BoundPipeline *p) {
    double slowest = 0;
    for (int stage = 0; stage < p->pp - 1; stage++) {
        double once = 0;
        for (int chunk = stage; chunk < p->pp * p->vpp; chunk += p->pp) once += pass_seconds(p, chunk);
        slowest = fmax(slowest, chunk_sum(p, p->sums->forward, stage) + p->micro_batches * once);
    }
    return slowest;
}

// Stage q works through all its micro-batches. Before its first, those of the stages before it must have gone forward
// through their first chunks; after its last, they must go back through them.
static double pipelined_seconds(const BoundPipeline *p) {
    double fill = 0, drain = 0, step = sends_seconds(p), pass = 0, tail_of_first = 0;
    for (int stage = 0; stage < p->pp; stage++) {
        double work = work_seconds(p, stage), tail = 0, stream = 0;
        if (stage == 0 || stage == p->pp - 1) tail = tail_seconds(p, stage, work, &stream);
        if (stage == 0) tail_of_first = tail;
        double sent = p->waits_for_sends ? pass : 0; // the last gradient back: counted as work
        step = fmax(step, fmax(stream, fill + work + fmax(tail, drain - sent + tail_of_first)));
        pass = stage < p->pp - 1 ? pass_seconds(p, stage) : 0;
        fill += chunk_sum(p, p->sums->forward, stage) + pass;
        drain += chunk_sum(p, p->sums->backward, stage) + pass;
    }
    return step;
}

#define ROUNDING (1 - 1e-6) // plans keep their weights in whole steps of 2^-24, and times end on ticks

// Mean over ranks.
static double busy_seconds(const BoundPipeline *p, int cause) {
    return p->micro_batches * p->sums->busy[cause][p->training->model->block_count] / p->pp;
}

// Whatever the order and the overlap, the stages together do all the computing.
static double shared_seconds(const BoundPipeline *p) {
    double busy = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) busy += busy_seconds(p, c);
    return busy;
}

// What a rank does while it does not compute. It has nothing to do only at the step's ends, which count as the traffic
// that joins ranks where there is any, and while it waits for its host.
static Cause cause_of_rest(const BoundPipeline *p) {
    const TrainingSpec *training = p->training;
    bool host = host_seconds_per_step(training, plan_costs_cluster(p->costs)->gpu_of[0]) > 0 ||
                training->sample_bytes > 0 || training->samples_per_second_per_worker > 0;
    return host || p->pp * p->data_ranks == 1 ? CAUSE_OTHER : CAUSE_PP;
}

static void split_by_cause(const BoundPipeline *p, PlanBound *bound) {
    double loss = step_loss(p->training); // of untuned code: the least of all causes
    bound->step_s *= loss;
    for (int c = 0; c < CAUSE_COUNT; c++) bound->busy_s += bound->spent[c] = busy_seconds(p, c) * ROUNDING * loss;
    if (bound->step_s < bound->busy_s) bound->step_s = bound->busy_s;
    bound->spent[cause_of_rest(p)] += bound->step_s - bound->busy_s;
}

// The order of the passes, and what follows the last of them, are those that pipelined_seconds knows.
static bool is_usual(const TrainingSpec *training) {
    bool order = training->schedule == SCHEDULE_GPIPE || training->schedule == SCHEDULE_1F1B ||
                 training->schedule == SCHEDULE_INTERLEAVED;
    bool in_place = training->offload_optimizer == OFFLOAD_GPU && training->offload_parameters == OFFLOAD_GPU;
    bool ddp = training->strategy == STRATEGY_AUTO || training->strategy == STRATEGY_DDP ||
               training->strategy == STRATEGY_SINGLE;
    return order && in_place && ddp && training->lora_rank == 0 && !training->syncs_always;
}

PlanBound plan_bound(PlanCosts *costs, const TrainingSpec *training) {
    const Layout *layout = &training->layout;
    BoundPipeline p = {.costs = costs,
                       .training = training,
                       .pp = layout->pp,
                       .vpp = layout->vpp,
                       .data_ranks = layout->dp * (layout->cp > 1 ? layout->cp : 1),
                       .micro_batches = training->global_batch / (layout->dp * training->micro_batch),
                       .waits_for_sends = layout->vpp == 1};
    PlanBound bound = {.step_s = INFINITY};
    Arena *scratch = arena_open();
    int *first = ARENA_ARRAY(scratch, int, p.pp *p.vpp + 1);
    if (blocks_to_chunks(training, p.pp * p.vpp, first, problems_create(scratch))) {
        p.first = first;
        p.sums = plan_block_sums(costs, training);
        bound.step_s = (is_usual(training) ? pipelined_seconds(&p) : shared_seconds(&p)) * ROUNDING;
        split_by_cause(&p, &bound);
    }
    arena_close(scratch);
    return bound;
}
