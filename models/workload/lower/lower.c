// Lowers a job on a cluster to a System: one actor per GPU, shared programs, channels with a plan for every
// collective their members will call.
#include "models/workload/lower/lower.h"

#include <math.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "models/hardware/library_kernels.h"
#include "models/hardware/power.h"
#include "models/workload/job/job.h"
#include "models/workload/lower/lower_internal.h"

// ---- Data that a rank reads each step.

static double samples_per_rank_and_step(const Lowering *l) {
    return l->r.micro_batch * l->r.micro_batches / (l->r.tp * l->r.cp);
}

static double decode_seconds(const Lowering *l, int node) {
    const TrainingSpec *training = l->training;
    if (training->samples_per_second_per_worker <= 0) return 0;
    const NodeType *type = l->cluster->node_of[node];
    double workers = training->loader_workers > 0 ? training->loader_workers : 1;
    int sharing = type->gpu_count < l->cluster->gpu_count ? type->gpu_count : l->cluster->gpu_count;
    double cores = type->cpu_cores > 0 ? (double)type->cpu_cores / sharing : workers; // GPUs without work need none
    if (workers > cores && cores >= 1) workers = cores;
    return samples_per_rank_and_step(l) / (workers * training->samples_per_second_per_worker);
}

// ---- What a stage is made from.

static const Gpu *slowest_type(const Lowering *l) {
    const Gpu *slowest = l->cluster->gpu_of[0];
    for (int r = 1; r < l->cluster->gpu_count; r++) {
        const Gpu *gpu = l->cluster->gpu_of[r];
        if (gpu == l->cluster->gpu_of[r - 1]) continue;
        if (gpu_peak(gpu, l->training->precision) < gpu_peak(slowest, l->training->precision)) slowest = gpu;
    }
    return slowest;
}

static const Gpu *among_all(Lowering *l, const Gpu *type) {
    if (l->type != type) l->among_all = slowest_gpu(l->arena, type, l->cluster->gpu_count);
    l->type = type;
    return l->among_all;
}

StageRequest stage_request(Lowering *l, int rank, int stage) {
    StageRequest request = {.training = l->training,
                            .resolved = l->as_programmed,
                            .gpu = among_all(l, l->cluster->gpu_of[rank]),
                            .stage = stage,
                            .costs = &l->costs,
                            .shapes = l->shapes,
                            .output_bytes = l->output_bytes,
                            .traffic_seconds = l->traffic_seconds,
                            .tp_traffic_seconds = l->tp_traffic_seconds,
                            // Decoders' long steps show nothing of uneven hosts.
                            .pace = l->training->model->causal ? 1 : slowest_pace(l->r.data_ranks),
                            .label_per_kind = l->label_per_kind};
    if (l->slowest != l->cluster->gpu_of[rank])
        request.slower = slowest_gpu(l->arena, l->slowest, l->cluster->gpu_count);
    if (stage == 0 && l->training->sample_bytes > 0) {
        request.storage_bytes = ceil(samples_per_rank_and_step(l) * l->training->sample_bytes);
        request.host_to_gpu_bytes =
            ceil(samples_per_rank_and_step(l) * sample_bytes(l->training->model, l->training->seq_len));
    }
    int node = network_node_of(l->cluster->network, rank);
    request.host_bytes_per_second = l->cluster->node_of[node]->host_memory_bytes_per_second / ranks_of_node(l, node);
    if (stage == 0) request.decode_seconds = decode_seconds(l, network_node_of(l->cluster->network, rank));
    return request;
}

// ---- How long data-parallel traffic takes, when alone.

// Of the ranks that hold what stage p does: those of the stage, then those of its twin.
static int holder_rank(const Resolved *r, int t, int d, int p) {
    return d < r->data_ranks ? layout_rank(r, t, d, p)
                             : layout_rank(r, t, d - r->data_ranks, pipeline_twin_stage(&r->pipeline, p));
}

#define PROBE_BYTES 268435456.0       // a large block of weights
#define ENDLESS_BYTES 1099511627776.0 // of which the back end takes what moves most bytes per second

static CollectivePlan plan_alone(const Lowering *l, CollectiveOp op, const int *ranks, int count, double bytes,
                                 const CollectivePlan *as) {
    CollectiveRequest request = {.op = op,
                                 .backend = l->training->backend,
                                 .ranks = ranks,
                                 .rank_count = count,
                                 .bytes = bytes,
                                 .algorithm = as ? as->algorithm : NULL,
                                 .protocol = as ? &as->protocol : NULL};
    return collective_plan(l->arena, l->cluster->network, &request);
}

static double alone_seconds(const Lowering *l, CollectiveOp op, const int *ranks, int count, double bytes) {
    return plan_alone(l, op, ranks, count, bytes, NULL).alone_seconds;
}

// Of large buckets, whose messages overlap: the slope of the candidate chosen for the largest size. At one size
// another may be chosen that ends sooner with more time for each further byte.
static double slope_seconds(const Lowering *l, CollectiveOp op, const int *ranks, int count) {
    CollectivePlan endless = plan_alone(l, op, ranks, count, ENDLESS_BYTES, NULL);
    return plan_alone(l, op, ranks, count, 2 * PROBE_BYTES, &endless).alone_seconds -
           plan_alone(l, op, ranks, count, PROBE_BYTES, &endless).alone_seconds;
}

static double traffic_seconds_per_byte(const Lowering *l) {
    int count = l->r.shard > 1 ? l->r.shard : l->r.reduce_ranks;
    if (count < 2 || l->training->backend != BACKEND_NCCL) return 0;
    int *ranks = ARENA_ARRAY(l->arena, int, count);
    for (int d = 0; d < count; d++) ranks[d] = holder_rank(&l->r, 0, d, 0);
    CollectiveOp op = l->r.shard > 1 ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE;
    double seconds = shards_gradients(&l->training->layout) ? alone_seconds(l, op, ranks, count, PROBE_BYTES)
                                                            : slope_seconds(l, op, ranks, count);
    double passes = l->r.shard > 1 ? 1 : 2; // an all-reduce moves each byte twice
    return seconds / PROBE_BYTES / passes;
}

static double tp_traffic_seconds_per_byte(const Lowering *l) {
    if (l->r.tp < 2 || l->training->backend != BACKEND_NCCL) return 0;
    int *ranks = ARENA_ARRAY(l->arena, int, l->r.tp);
    for (int t = 0; t < l->r.tp; t++) ranks[t] = layout_rank(&l->r, t, 0, 0);
    bool slices = l->training->layout.sequence_parallel;
    return alone_seconds(l, slices ? COLLECTIVE_ALL_GATHER : COLLECTIVE_ALL_REDUCE, ranks, l->r.tp, PROBE_BYTES) /
           PROBE_BYTES;
}

// ---- Programs: one per stage and type of GPU.

static int program_for(Lowering *l, int rank, int stage) {
    const Gpu *gpu = l->cluster->gpu_of[rank];
    bool first_of_data_parallel = l->r.strategy == STRATEGY_DATA_PARALLEL && rank == 0;
    int kind = l->r.strategy == STRATEGY_DATA_PARALLEL ? (first_of_data_parallel ? -1 : -2) : stage;
    StageRequest request = stage_request(l, rank, stage);
    for (int i = 0; i < l->program_count; i++)
        if (l->program_gpu[i] == gpu && l->program_stage[i] == kind) return i;
    int number = l->program_count++;
    l->program_gpu[number] = gpu;
    l->program_stage[number] = kind;
    l->programs[number] = kind < 0 ? data_parallel_program(l->arena, &request, first_of_data_parallel)
                                   : stage_program(l->arena, &request);
    return number;
}

static int distinct_gpus(const Cluster *cluster) {
    int count = 0;
    for (int r = 0; r < cluster->gpu_count; r++) {
        bool seen = false;
        for (int k = r - 1; k >= 0 && !seen; k--) {
            seen = cluster->gpu_of[k] == cluster->gpu_of[r];
            if (k < r - 1 && cluster->gpu_of[k] == cluster->gpu_of[k + 1]) continue;
        }
        count += !seen;
    }
    return count;
}

// Ranks that follow each other mostly run the same.
static void make_programs(Lowering *l) {
    int most = (l->r.pp + 2) * distinct_gpus(l->cluster), stage_ranks = l->r.tp * l->r.data_ranks;
    l->programs = ARENA_ARRAY(l->arena, Program, most);
    l->program_gpu = ARENA_ARRAY(l->arena, const Gpu *, most);
    l->program_stage = ARENA_ARRAY(l->arena, int, most);
    l->program_of = ARENA_ARRAY(l->arena, int, l->cluster->gpu_count);
    bool one_by_one = l->r.strategy == STRATEGY_DATA_PARALLEL;
    for (int rank = 0, stage = 0, within = 0; rank < l->cluster->gpu_count; rank++) {
        bool same = within > 0 && l->cluster->gpu_of[rank] == l->cluster->gpu_of[rank - 1];
        l->program_of[rank] = same && !one_by_one ? l->program_of[rank - 1] : program_for(l, rank, stage);
        if (++within == stage_ranks) within = 0, stage++;
    }
}

void make_actors(Lowering *l) {
    int32_t *channels = ARENA_ARRAY(l->arena, int32_t, (size_t)l->rank_count * SLOT_COUNT);
    l->actor_channels = channels;
    l->actors = ARENA_ARRAY(l->arena, Actor, l->rank_count);
    for (int i = 0; i < l->rank_count * SLOT_COUNT; i++) channels[i] = -1;
    for (int rank = 0; rank < l->rank_count; rank++)
        l->actors[rank] = (Actor){.program = l->program_of[l->part ? rank_of_part(l->part, rank) : rank],
                                  .channels = &channels[rank * SLOT_COUNT],
                                  .slowness = 1,
                                  .jitter = l->draft ? 0 : l->training->jitter, // a draft is of classes
                                  .multiplicity = l->part ? l->part->repeats : 1};
    if (l->training->straggler > 1) l->actors[l->rank_count - 1].slowness = l->training->straggler;
}

// ---- Channels.

void keep_group(Lowering *l, const ShapeList *shapes, const int *ranks, int rank_count, int repeats) {
    int *kept = ARENA_ARRAY(l->arena, int, rank_count);
    memcpy(kept, ranks, (size_t)rank_count * sizeof *kept);
    while (l->groups.count < l->channels.count) LIST_PUSH(l->arena, &l->groups, (ChannelGroup){0});
    LIST_PUSH(l->arena, &l->groups, ((ChannelGroup){kept, rank_count, repeats, shapes}));
}

// For a fused dispatcher that sends tokens to their experts in 16 bits, as DeepEP does; the mean of there and back.
// Not with all-to-alls of heads (Ulysses): these go byte by byte, and requests of the two are not distinguishable.
const TokenExchange *tokens_sent(Arena *arena, const Lowering *l, CollectiveOp op) {
    const TrainingSpec *training = l->training;
    bool by_heads = l->r.cp > 1 && training->layout.context == CONTEXT_ULYSSES;
    if (!training->fused_dispatch || op != COLLECTIVE_ALL_TO_ALL || by_heads) return NULL;
    TokenExchange *tokens = ARENA_NEW(arena, TokenExchange);
    *tokens =
        (TokenExchange){.choices = training->model->experts.per_token, .row_bytes = 2.0 * training->model->hidden};
    static const char *const phases[] = {"dispatch", "combine"};
    for (int i = 0; i < 2; i++) {
        double token, copy;
        const ExchangeKernel *kernel = exchange_kernel_of(l->cluster->gpu_of[0], "normal", phases[i], true);
        exchange_worker_seconds(kernel, tokens->row_bytes, &token, &copy);
        tokens->token_seconds += token / 2, tokens->copy_seconds += copy / 2;
    }
    return tokens;
}

static int add_channel(Lowering *l, const ShapeList *shapes, const int *ranks, int rank_count, int repeats) {
    if (l->draft) return draft_channel(l, shapes, ranks, rank_count, repeats);
    Plan *plans = ARENA_ARRAY(l->arena, Plan, shapes->count);
    Arena *scratch = arena_open();
    CollectiveRequest *requests = ARENA_ARRAY(scratch, CollectiveRequest, shapes->count);
    CollectivePlan *found = ARENA_ARRAY(scratch, CollectivePlan, shapes->count);
    for (int i = 0; i < shapes->count; i++)
        requests[i] = (CollectiveRequest){.op = shapes->items[i].op,
                                          .backend = l->training->backend,
                                          .ranks = ranks,
                                          .rank_count = rank_count,
                                          .tokens = tokens_sent(scratch, l, shapes->items[i].op),
                                          .bytes = shapes->items[i].bytes};
    collective_plans(l->arena, l->cluster->network, requests, shapes->count, found);
    for (int i = 0; i < shapes->count; i++) plans[i] = found[i].plan;
    arena_close(scratch);
    Channel channel = {.plans = plans, .plan_count = shapes->count, .member_count = rank_count};
    if (l->training->by_messages) keep_group(l, shapes, ranks, rank_count, 1);
    LIST_PUSH(l->arena, &l->channels, channel);
    return l->channels.count - 1;
}

static void group_channel(Lowering *l, int slot, const ShapeList *shapes, const int *ranks, int count) {
    int repeats = l->part ? repeats_of_slot(l->whole, l->part, slot) : 1;
    if (count * repeats < 2 || shapes->count == 0) return;
    int channel = add_channel(l, shapes, ranks, count, repeats);
    for (int i = 0; i < count; i++) join_channel(l, ranks[i], slot, channel);
}

static void pass_channel(Lowering *l, int from, int to, int out_slot, int in_slot, const ShapeList *shapes) {
    if (shapes->count == 0) return;
    int ranks[2] = {from, to};
    int channel = add_channel(l, shapes, ranks, 2, 1);
    join_channel(l, from, out_slot, channel);
    join_channel(l, to, in_slot, channel);
}

// Ranks that hold the same, the first `count` of them, in groups of `size`, whose members are `stride` apart.
static void data_groups(Lowering *l, int slot, int *ranks, int t, int p, int count, int size, int stride) {
    for (int d = 0; d < count; d++) {
        if (d / stride % size != 0) continue; // not the first of its group
        for (int i = 0; i < size; i++) ranks[i] = holder_rank(&l->r, t, d + i * stride, p);
        group_channel(l, slot, &l->shapes[p].slot[slot], ranks, size);
    }
}

// The same of all ranks of a stage, tensor-parallel ones next to each other: where experts lie.
static void expert_groups(Lowering *l, int slot, int *ranks, int p, int data_ranks, int size, int stride) {
    for (int s = 0; s < l->r.tp * data_ranks; s++) {
        if (s / stride % size != 0) continue;
        for (int i = 0; i < size; i++) {
            int at = s + i * stride;
            ranks[i] = holder_rank(&l->r, at % l->r.tp, at / l->r.tp, p);
        }
        group_channel(l, slot, &l->shapes[p].slot[slot], ranks, size);
    }
}

void make_group_channels(Lowering *l) {
    const Resolved *r = &l->r;
    int *ranks = ARENA_ARRAY(l->arena, int, (size_t)r->tp * r->reduce_ranks);
    for (int p = 0; p < r->pp; p++) {
        for (int d = 0; d < r->data_ranks; d++) {
            for (int t = 0; t < r->tp; t++) ranks[t] = layout_rank(r, t, d, p);
            group_channel(l, SLOT_TP, &l->shapes[p].slot[SLOT_TP], ranks, r->tp);
        }
        for (int t = 0; t < r->tp; t++) {
            data_groups(l, SLOT_CP, ranks, t, p, r->data_ranks, r->cp, 1);
            data_groups(l, SLOT_REPLICAS, ranks, t, p, r->data_ranks, r->data_ranks, 1);
            if (pipeline_twin_stage(&r->pipeline, p) < p) continue; // with its twin's
            data_groups(l, SLOT_SHARD, ranks, t, p, r->reduce_ranks, r->shard, 1);
            data_groups(l, SLOT_DP, ranks, t, p, r->reduce_ranks, r->reduce_ranks / r->shard, r->shard);
        }
        expert_groups(l, SLOT_EP, ranks, p, r->data_ranks, r->ep, r->etp);
        if (pipeline_twin_stage(&r->pipeline, p) >= p)
            expert_groups(l, SLOT_EXPERT_DP, ranks, p, r->reduce_ranks, r->expert_ranks, r->ep * r->etp);
    }
}

void make_pass_channels(Lowering *l) {
    const Resolved *r = &l->r;
    for (int p = 0; p < r->pp; p++)
        for (int d = 0; d < r->data_ranks; d++)
            for (int t = 0; t < r->tp; t++) {
                int here = layout_rank(r, t, d, p), next = layout_rank(r, t, d, (p + 1) % r->pp),
                    previous = layout_rank(r, t, d, (p + r->pp - 1) % r->pp);
                pass_channel(l, here, next, SLOT_FORWARD_OUT, SLOT_FORWARD_IN, &l->shapes[p].slot[SLOT_FORWARD_OUT]);
                pass_channel(l, here, previous, SLOT_BACKWARD_OUT, SLOT_BACKWARD_IN,
                             &l->shapes[p].slot[SLOT_BACKWARD_OUT]);
                pass_channel(l, here, previous, SLOT_RETURN_OUT, SLOT_RETURN_IN, &l->shapes[p].slot[SLOT_RETURN_OUT]);
                pass_channel(l, here, next, SLOT_RETURN_BACKWARD_OUT, SLOT_RETURN_BACKWARD_IN,
                             &l->shapes[p].slot[SLOT_RETURN_BACKWARD_OUT]);
                int ends[2] = {layout_rank(r, t, d, 0), layout_rank(r, t, d, r->pp - 1)};
                if (p == 0 && ends_lie_apart(&r->pipeline))
                    group_channel(l, SLOT_EMBEDDING, &l->shapes[0].slot[SLOT_EMBEDDING], ends, 2);
            }
}

// ---- Names of passes for timelines: F3 is a forward of micro-batch 3, B3 a backward, W3 that of weights alone.

typedef char PassName[12]; // the letter, a count from 1 and the end

static void write_pass_name(char *name, char letter, int number) {
    PassName digits;
    int count = 0;
    for (; number > 0; number /= 10) digits[count++] = (char)('0' + number % 10);
    *name++ = letter;
    while (count > 0) *name++ = digits[--count];
}

static const Label *make_labels(Lowering *l, int *count) {
    static const char letters[] = {'F', 'B', 'W'};
    int per_kind = l->label_per_kind, kinds = schedule_splits_backward(l->r.schedule) ? 3 : 2;
    Label *labels = ARENA_ARRAY(l->arena, Label, 1 + kinds * per_kind);
    PassName *names = ARENA_ARRAY(l->arena, PassName, kinds * per_kind);
    labels[0].name = "";
    for (int i = 0; i < kinds * per_kind; i++) {
        labels[1 + i].name = names[i];
        write_pass_name(names[i], letters[i / per_kind], i % per_kind % l->r.micro_batches + 1);
    }
    *count = 1 + kinds * per_kind;
    return labels;
}

// ---- Checks that need the cluster.

static bool check_backend(const Lowering *l, Problems *problems) {
    const TrainingSpec *training = l->training;
    int before = problems_added(problems);
    const char *why = NULL;
    bool data_parallel = l->r.strategy == STRATEGY_DATA_PARALLEL;
    CollectiveOp needed[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_SEND_RECV, COLLECTIVE_REDUCE_SCATTER,
                             COLLECTIVE_ALL_TO_ALL};
    bool by_heads = l->r.cp > 1 && training->layout.context == CONTEXT_ULYSSES;
    bool used[] = {l->r.reduce_ranks > 1 || l->r.tp > 1, l->r.pp > 1, l->r.shard > 1, l->r.ep > 1 || by_heads};
    for (int i = 0; i < 4 && !data_parallel; i++)
        if (used[i] && !backend_supports(training->backend, needed[i], true, true, &why)) {
            problem_add(problems, training->where, "this job needs %s between GPUs, but %s",
                        collective_op_name(needed[i]), why);
            job_hint(problems, training->scripted, "backend = \"nccl\" supports it");
        }
    if (training->strategy == STRATEGY_MIRRORED && l->cluster->node_count > 1) {
        problem_add(problems, training->where,
                    "MirroredStrategy is one process on one node, and the cluster has %d nodes",
                    l->cluster->node_count);
        job_hint(problems, training->scripted, "use strategy = \"multi-worker-mirrored\"");
    }
    if (data_parallel && l->cluster->node_count > 1) {
        problem_add(problems, training->where, "DataParallel is one process on one node, and the cluster has %d nodes",
                    l->cluster->node_count);
        job_hint(problems, training->scripted, "use strategy = \"ddp\"");
    }
    return problems_added(problems) == before;
}

// The rank that is nearest to its card's limit, or furthest over it; each type of card is looked at as if it held any
// stage.
static Memory fullest_memory(const Lowering *l, int *fullest) {
    Memory most = {0};
    const Gpu *last = NULL;
    for (int rank = 0; rank < l->cluster->gpu_count; rank++) {
        const Gpu *gpu = l->cluster->gpu_of[rank];
        if (gpu == last) continue;
        last = gpu;
        int stage;
        Memory memory = memory_of_job(l->training, l->cluster->gpu_count, gpu, &stage);
        if (most.capacity > 0 && memory.peak - memory.capacity <= most.peak - most.capacity) continue;
        most = memory;
        *fullest = stage;
    }
    return most;
}

// HOROVOD_CYCLE_TIME and HOROVOD_FUSION_THRESHOLD since 2020. TensorFlow packs all gradients into one.
#define HOROVOD_CYCLE_SECONDS 1e-3
#define HOROVOD_FUSION_BYTES 134217728.0

// GPUs that read each other neither over NVLink nor over PCIe, as GeForce cards: NCCL copies through host memory. On 2
// to 10 RTX 2080 Ti, 3090 and 4090 a step is longer than one card's by the whole exchange, from 64 to 512 images,
// under TensorFlow and under PyTorch (published runs; why kernels beside it stand still is not known).
static bool copies_through_host(const Cluster *cluster) {
    for (int i = 0; i < cluster->node_count && cluster->gpu_count > cluster->node_count; i++) {
        const NodeType *node = cluster->node_of[i];
        if (node->gpu_count > 1 && node->gpu_links == GPU_LINK_NONE && !node->peer_to_peer) return true;
    }
    return false;
}

static void set_buckets(TrainingSpec *training, const Resolved *resolved) {
    if (training->strategy == STRATEGY_HOROVOD) {
        double cycle = training->horovod_cycle_seconds, fusion = training->horovod_fusion_bytes;
        training->reduce_cycle_seconds = cycle > 0 ? cycle : HOROVOD_CYCLE_SECONDS;
        training->bucket_bytes = fusion > 0 ? fusion : HOROVOD_FUSION_BYTES;
    }
    training->overlap_grad_reduce = job_hides_gradients(training, resolved);
}

// Bytes that each chunk passes on. The last blocks of most chunks are equal.
static double *bytes_between_chunks(Arena *arena, const Lowering *l) {
    double *bytes = ARENA_ARRAY(arena, double, l->r.pipeline.chunks);
    for (int c = 0; c < l->r.pipeline.chunks && l->r.pp > 1; c++) {
        int last = l->r.first_block[c + 1] - 1, before = l->r.first_block[c] - 1;
        const Gpu *gpu = l->cluster->gpu_of[0];
        bytes[c] = c > 0 && same_block(l->training, last, before)
                       ? bytes[c - 1]
                       : block_cost(l->training->model, last, l->training, l->r.micro_batch, gpu).output_bytes;
    }
    return bytes;
}

static const Resolved *resolved_for_programs(const Lowering *l) {
    if (!l->may_shorten || !lowering_is_plain(l) || l->training->jitter > 0) return &l->r;
    Resolved *shorter = ARENA_NEW(l->arena, Resolved);
    *shorter = l->r;
    shorter->pipeline = pipeline_shortened(&l->r.pipeline);
    return shorter;
}

// The resolved layout, links, and programs with the shapes of their messages. False after problems.
bool start_lowering(Lowering *l, Problems *problems) {
    const Cluster *cluster = l->cluster;
    const TrainingSpec *training = l->training;
    Arena *arena = l->arena;
    l->storage = cluster->storage;
    l->rank_count = cluster->gpu_count;
    GpuTypes gpus = cluster_gpus_in_turn(arena, cluster);
    if (!job_possible(arena, training, cluster->gpu_count, gpus, &l->r, problems) || !check_backend(l, problems))
        return false;
    TrainingSpec *resolved_training = ARENA_NEW(arena, TrainingSpec); // with the resolved layout
    *resolved_training = *training;
    resolved_training->layout.tp = l->r.tp;
    resolved_training->layout.cp = l->r.cp;
    resolved_training->layout.ep = l->r.ep;
    resolved_training->layout.shard = l->r.shard;
    resolved_training->layout.pp = l->r.pp;
    resolved_training->layout.vpp = l->r.vpp;
    resolved_training->layout.dp = l->r.dp;
    resolved_training->micro_batch = l->r.micro_batch;
    resolved_training->global_batch = l->r.global_batch;
    resolved_training->grad_accumulation = l->r.micro_batches;
    resolved_training->schedule = l->r.schedule;
    l->r.staged = copies_through_host(cluster);
    set_buckets(resolved_training, &l->r);
    l->training = resolved_training;
    l->slowest = slowest_type(l);
    l->shapes = ARENA_ARRAY(arena, StageShapes, l->r.pp);
    l->label_per_kind = l->r.micro_batches * l->r.pipeline.parts;
    l->output_bytes = bytes_between_chunks(arena, l);
    l->traffic_seconds = traffic_seconds_per_byte(l);
    l->tp_traffic_seconds = tp_traffic_seconds_per_byte(l);
    l->as_programmed = resolved_for_programs(l);
    make_programs(l);
    return true;
}

System *start_system(Lowering *l) {
    System *system = ARENA_NEW(l->arena, System);
    int label_count;
    const Label *labels = make_labels(l, &label_count);
    *system = (System){.programs = l->programs,
                       .program_count = l->program_count,
                       .causes = cause_names,
                       .cause_count = CAUSE_COUNT,
                       .labels = labels,
                       .label_count = label_count};
    return system;
}

const System *whole_system(Lowering *l) {
    make_links(l);
    make_actors(l);
    make_group_channels(l);
    make_pass_channels(l);
    make_data_channels(l);
    make_offload_channels(l);
    System *system = start_system(l);
    system->actors = l->actors;
    system->actor_count = l->cluster->gpu_count;
    system->channels = l->channels.items;
    system->channel_count = l->channels.count;
    system->links = l->links;
    system->link_count = l->link_count;
    return system;
}

const Lowered *finish_lowering(Lowering *l, const System *system, Problems *problems) {
    Lowered *lowered = ARENA_NEW(l->arena, Lowered);
    *lowered = (Lowered){.system = system,
                         .resolved = l->r,
                         .training = l->training,
                         .traffic_seconds = l->traffic_seconds,
                         .first_forward_label = 1,
                         .first_backward_label = 1 + l->label_per_kind,
                         .label_per_kind = l->label_per_kind};
    lowered->memory = fullest_memory(l, &lowered->fullest_stage);
    int before = problems_added(problems);
    check_hosts(l, &lowered->memory, problems);
    return problems_added(problems) == before ? lowered : NULL;
}

const Lowered *lower_training(Arena *arena, const Cluster *cluster, const TrainingSpec *training, Problems *problems) {
    Lowering l = {.arena = arena, .cluster = cluster, .training = training};
    if (!start_lowering(&l, problems)) return NULL;
    const System *system = whole_system(&l);
    if (training->by_messages) system = lower_to_messages(&l, system, problems);
    return system ? finish_lowering(&l, system, problems) : NULL;
}

Cause step_rest_cause(const Lowered *lowered) {
    if (!lowered) return CAUSE_OTHER;
    const Resolved *r = &lowered->resolved;
    return r->pp > 1 ? CAUSE_PP : r->data_ranks > 1 ? CAUSE_DP : CAUSE_OTHER;
}
