// Resolves a layout: which ranks form which groups, how many micro-batches, which blocks on which stage.
#include <math.h>

#include "models/hardware/kernel.h"
#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "models/workload/model/operators.h"
#include "sim/base/check.h"

static bool divides(double whole, double part) { return part > 0 && fmod(whole, part) == 0; }

// What other frameworks call data parallelism: DDP with buckets of another kind.
static bool is_data_parallel_only(Strategy strategy) {
    return strategy == STRATEGY_HOROVOD || strategy == STRATEGY_MIRRORED || strategy == STRATEGY_MULTI_WORKER;
}

// What no number of GPUs can mend is said before what one can. Degrees that are possible: "1, 2, 4, 8, 16 or 32".
static bool heads_divide(Arena *arena, const TrainingSpec *training, int tp, Problems *problems) {
    const Model *model = training->model;
    const char *possible = "1", *last = NULL;
    if (!splits_products(model) && tp > 1) {
        problem_add(problems, training->where, "tensor parallelism splits %s, and %s has none",
                    model->written ? "products by columns or rows" : "attention heads", model->name);
        return problem_hint(problems, "use data or pipeline parallelism");
    }
    if (model->heads % tp == 0 && model->kv_heads % tp == 0) return true;
    for (int degree = 2; degree <= model->kv_heads; degree++) {
        if (model->heads % degree || model->kv_heads % degree) continue;
        if (last) possible = arena_printf(arena, "%s, %s", possible, last);
        last = arena_printf(arena, "%d", degree);
    }
    problem_add(problems, training->where, "%d attention heads (%d key-value) do not divide by tp %d", model->heads,
                model->kv_heads, tp);
    return problem_hint(problems, last ? "tp can be %s or %s" : "tp can be %s alone", possible, last);
}

static bool resolve_groups(Arena *arena, const TrainingSpec *training, int gpus, Resolved *r, Problems *problems) {
    r->strategy = training->strategy;
    r->tp = training->layout.tp > 0 ? training->layout.tp : 1;
    r->cp = training->layout.cp > 0 ? training->layout.cp : 1;
    r->pp = training->layout.pp > 0 ? training->layout.pp : 1;
    r->vpp = training->layout.vpp > 0 ? training->layout.vpp : 1;
    r->dp = training->layout.dp;
    if (r->strategy == STRATEGY_DATA_PARALLEL && gpus == 1) r->strategy = STRATEGY_SINGLE;
    if (r->strategy == STRATEGY_AUTO) r->strategy = gpus == 1 ? STRATEGY_SINGLE : STRATEGY_DDP;
    if (r->strategy == STRATEGY_SINGLE && gpus != 1) {
        problem_add(problems, training->where, "strategy \"single\" uses one GPU, but the cluster has %d", gpus);
        job_hint(problems, training->scripted, "use 1 GPU, or strategy = \"ddp\"");
        return false;
    }
    if (r->strategy == STRATEGY_LAYERS && training->layout.pp <= 0) r->pp = r->dp > 0 ? gpus / r->dp : gpus;
    if (r->pp < 1) r->pp = 1;                                 // more replicas than GPUs: reported below
    long long per_replica = (long long)r->tp * r->cp * r->pp; // up to 10^15
    if (r->strategy == STRATEGY_DATA_PARALLEL && per_replica > 1) {
        problem_add(problems, training->where, "DataParallel knows no tensor or pipeline parallelism");
        job_hint(problems, training->scripted, "use strategy = \"ddp\" with tp and pp");
        return false;
    }
    if (is_data_parallel_only(r->strategy) && (per_replica > 1 || shards_optimizer(&training->layout))) {
        problem_add(problems, training->where, "strategy \"%s\" knows data parallelism only",
                    strategy_name(r->strategy));
        job_hint(problems, training->scripted, "use strategy = \"ddp\" with tp, pp, cp and zero");
        return false;
    }
    if (is_data_parallel_only(r->strategy)) r->strategy = gpus == 1 ? STRATEGY_SINGLE : STRATEGY_DDP;
    if (!heads_divide(arena, training, r->tp, problems)) return false;
    if (gpus % per_replica) {
        const char *times_cp = r->cp > 1 ? arena_printf(arena, " x cp %d", r->cp) : "";
        problem_add(problems, training->where, "%d GPUs do not divide by tp %d%s x pp %d = %lld", gpus, r->tp, times_cp,
                    r->pp, per_replica);
        long long fewer = gpus / per_replica * per_replica, more = fewer + per_replica;
        if (fewer > 0)
            problem_hint(problems, "use %lld or %lld GPUs, or another tp or pp", fewer, more);
        else
            problem_hint(problems, "use %lld GPUs, or another tp or pp", more);
        return false;
    }
    if (r->dp <= 0) r->dp = (int)(gpus / per_replica);
    if (r->dp * per_replica != gpus) {
        problem_add(problems, training->where, "tp %d x pp %d x dp %d is %lld, but the cluster has %d GPUs", r->tp,
                    r->pp, r->dp, per_replica * r->dp, gpus);
        return problem_hint(problems, "leave dp out (or \"fill\") and it becomes %lld", gpus / per_replica);
    }
    r->data_ranks = r->dp * r->cp;
    Schedule schedule = r->strategy == STRATEGY_LAYERS ? SCHEDULE_GPIPE : training->schedule;
    r->pipeline = pipeline_of(schedule, r->pp, r->vpp, 0);
    r->reduce_ranks = r->data_ranks * pipeline_copies(&r->pipeline);
    return true;
}

static bool resolve_sharding(const TrainingSpec *training, Resolved *r, Problems *problems) {
    int shard = training->layout.shard;
    r->shard = !shards_optimizer(&training->layout) ? 1 : shard > 0 ? shard : r->reduce_ranks;
    if (r->strategy == STRATEGY_DATA_PARALLEL || r->strategy == STRATEGY_LAYERS) r->shard = 1;
    if (r->shard > 1 && r->shard < r->reduce_ranks && pipeline_copies(&r->pipeline) > 1) {
        problem_add(problems, training->where, "schedule \"%s\" shards over all ranks that hold a chunk, not over %d",
                    schedule_name(r->pipeline.schedule), r->shard);
        return problem_hint(problems, "leave shard out");
    }
    if (r->reduce_ranks % r->shard) {
        problem_add(problems, training->where, "shard groups of %d do not divide the %d data-parallel ranks", r->shard,
                    r->reduce_ranks);
        return problem_hint(problems, "leave shard out and it becomes %d", r->reduce_ranks);
    }
    return true;
}

static void check_routing(const TrainingSpec *training, int experts, Problems *problems) {
    const Routing *routing = &training->routing;
    double sum = 0;
    for (int e = 0; e < routing->token_count; e++) sum += routing->tokens[e];
    if (routing->kind == ROUTING_ZIPF) return;
    if (experts == 0) {
        problem_add(problems, training->where, "routing spreads tokens over experts, but the model has none");
        problem_hint(problems, "leave routing out");
    } else if (training->expert_skew > 0) {
        problem_add(problems, training->where, "expert_skew and routing both say how tokens spread over experts");
        problem_hint(problems, "keep one of them");
    } else if (routing->kind == ROUTING_HISTOGRAM && routing->token_count != experts) {
        problem_add(problems, training->where, "the histogram of routing has %d entries, and the model has %d experts",
                    routing->token_count, experts);
        problem_hint(problems, "one entry for each expert of a layer");
    } else if (routing->kind == ROUTING_HISTOGRAM && !(sum > 0)) {
        problem_add(problems, training->where, "the histogram of routing has no tokens");
        problem_hint(problems, "at least one entry must be above 0");
    }
}

// Experts that tensor-parallel ranks do not share take each rank's own slice of the tokens (Megatron-Core asks for
// sequence parallelism there, too).
static void check_expert_slices(const TrainingSpec *training, const Resolved *r, Problems *problems) {
    if (training->layout.etp <= 0 || r->etp == r->tp) return;
    if (training->model->experts.count == 0 || training->model->written) {
        problem_add(problems, training->where, "etp %d says how experts are split, but %s", r->etp,
                    training->model->written ? "those of a model written by operators are split by tp"
                                             : "the model has none");
        problem_hint(problems, "leave etp out");
    } else if (r->etp != 1) {
        problem_add(problems, training->where, "etp %d is neither tp %d nor 1", r->etp, r->tp);
        problem_hint(problems, "experts are split by all tensor-parallel ranks or by none");
    } else if (!training->layout.sequence_parallel) {
        problem_add(problems, training->where,
                    "etp 1 gives each tensor-parallel rank its own slice of the tokens, and they are not sliced");
        job_hint(problems, training->scripted, "sequence_parallel = true");
    }
}

static bool resolve_experts(const TrainingSpec *training, Resolved *r, Problems *problems) {
    const Model *model = training->model;
    int experts = model->experts.count, before = problems_added(problems);
    r->ep = training->layout.ep > 0 ? training->layout.ep : 1;
    r->etp = ranks_of_an_expert(&training->layout);
    int folded = r->tp / r->etp; // ranks of a tensor-parallel group that hold experts of their own
    r->expert_ranks = r->reduce_ranks * (folded > 0 ? folded : 1) / r->ep;
    if (experts > 0 && model->experts.ffn % r->etp) {
        problem_add(problems, training->where, "experts %d wide do not divide by %s %d", model->experts.ffn,
                    training->layout.etp > 0 ? "etp" : "tp", r->etp);
        problem_hint(problems, training->layout.etp > 0 ? "etp splits each expert" : "tp splits each expert");
    }
    check_expert_slices(training, r, problems);
    check_routing(training, experts, problems);
    if (r->ep == 1) return problems_added(problems) == before;
    if (experts == 0 || r->strategy == STRATEGY_DATA_PARALLEL || r->strategy == STRATEGY_LAYERS) {
        problem_add(problems, training->where, "ep %d spreads experts, but %s", r->ep,
                    experts == 0 ? "the model has none" : "only strategy \"ddp\" can");
        problem_hint(problems, "leave ep out");
    } else if (experts % r->ep) {
        problem_add(problems, training->where, "%d experts do not divide by ep %d", experts, r->ep);
        problem_hint(problems, "ep must divide %d", experts);
    } else if (r->data_ranks * folded % r->ep) {
        problem_add(problems, training->where, "ep %d does not divide the %d %s ranks", r->ep, r->data_ranks * folded,
                    folded > 1 ? "data- and tensor-parallel" : "data-parallel");
        job_hint(problems, training->scripted,
                 folded == 1 && r->tp > 1
                     ? "experts are spread over dp x cp, with etp = 1 over tp x dp x cp; use an ep that "
                       "divides it"
                     : "experts are spread over dp x cp; use an ep that divides it");
    } else if (r->shard > 1 && r->shard < r->reduce_ranks) {
        problem_add(problems, training->where, "ep %d goes with zero over all ranks only", r->ep);
        job_hint(problems, training->scripted, "leave shard out, or ep = 1");
    }
    return problems_added(problems) == before;
}

// Ulysses gives each rank all tokens of some heads.
static bool resolve_heads(const TrainingSpec *training, const Resolved *r, Problems *problems) {
    const Model *model = training->model;
    int heads = model->heads / r->tp, kv_heads = model->kv_heads / r->tp;
    if (heads % r->cp || kv_heads % r->cp) {
        problem_add(problems, training->where,
                    "cp %d by \"ulysses\" does not divide the %d heads and %d key heads of a GPU", r->cp, heads,
                    kv_heads);
        job_hint(problems, training->scripted, "use a cp that divides both, or cp_exchange = \"ring\"");
        return false;
    }
    if (divides(training->seq_len, r->cp)) return true;
    problem_add(problems, training->where, "a sequence of %g tokens does not divide by cp %d", training->seq_len,
                r->cp);
    return problem_hint(problems, "use a multiple of %d tokens", r->cp);
}

static bool resolve_context(const TrainingSpec *training, const Resolved *r, Problems *problems) {
    if (r->cp == 1) return true;
    if (training->model->heads == 0 || r->strategy == STRATEGY_LAYERS) {
        problem_add(problems, training->where,
                    "context parallelism splits the sequence of a transformer trained with "
                    "strategy \"ddp\"");
        return problem_hint(problems, "leave cp out");
    }
    if (training->layout.context == CONTEXT_ULYSSES) return resolve_heads(training, r, problems);
    if (!divides(training->seq_len, 2.0 * r->cp)) {
        problem_add(problems, training->where, "a sequence of %g tokens does not divide into 2 x cp %d pieces",
                    training->seq_len, r->cp);
        return problem_hint(problems, "each rank takes one piece from the front and one from the back");
    }
    return true;
}

static bool resolve_offload(const TrainingSpec *training, const Resolved *r, Problems *problems) {
    bool weights = training->offload_parameters != OFFLOAD_GPU, any = training->offload_optimizer != OFFLOAD_GPU;
    int before = problems_added(problems);
    if (!weights && !any) return true;
    if (r->strategy == STRATEGY_DATA_PARALLEL || r->strategy == STRATEGY_LAYERS) {
        problem_add(problems, training->where, "strategy \"%s\" knows no offloading", strategy_name(r->strategy));
        job_hint(problems, training->scripted, "use strategy = \"ddp\" with zero = 1, 2 or 3");
    } else if (weights && !shards_weights(&training->layout)) {
        problem_add(problems, training->where,
                    "weights are offloaded block by block with zero 3, and this job has zero %d",
                    training->layout.zero);
        job_hint(problems, training->scripted, "use zero = 3, or offload the optimizer alone");
    } else if (weights && !any) {
        problem_add(problems, training->where,
                    "weights that lie outside the GPU are updated there, and the optimizer is on "
                    "the GPU");
        problem_hint(problems, training->scripted ? "offload = { optimizer = \"host\", parameters = \"host\" }"
                                                  : "--offload-optimizer host --offload-parameters host");
    } else if (weights && r->ep > 1) {
        problem_add(problems, training->where, "ep %d does not go with offloaded weights", r->ep);
        problem_hint(problems, "offload the optimizer alone");
    } else if (training->overlap_param_gather) {
        problem_add(problems, training->where,
                    "weights that the host updates cannot be gathered during the next forward");
        problem_hint(problems, "leave param_gather out of overlap");
    }
    return problems_added(problems) == before;
}

static bool resolve_batch(const TrainingSpec *training, Resolved *r, Problems *problems) {
    double global = training->global_batch, micro = training->micro_batch, accumulation = training->grad_accumulation;
    bool one_piece = r->strategy == STRATEGY_LAYERS;
    if (global <= 0 && micro <= 0) {
        problem_add(problems, training->where, "the batch is not stated");
        return problem_hint(problems, training->scripted
                                          ? "say batch = { micro = 8 } or batch = { global = 256, micro = 8 }"
                                          : "say --micro-batch 8, or --global-batch 256 --micro-batch 8");
    }
    if (global > 0 && !divides(global, r->dp)) {
        problem_add(problems, training->where, "a global batch of %g does not divide by %d data-parallel replicas",
                    global, r->dp);
        if (micro >= 1 && micro == floor(micro) && micro * r->dp <= 1e9)
            problem_hint(problems, "use a multiple of %.0f: %.0f samples x %d replicas", micro * r->dp, micro, r->dp);
        else
            problem_hint(problems, "use a multiple of %d", r->dp);
        return false;
    }
    if (global > 0 && micro <= 0) {
        double per_replica = global / r->dp;
        micro = accumulation > 0 ? per_replica / accumulation : r->pp > 1 && !one_piece ? 1 : per_replica;
    }
    if (global <= 0) global = micro * r->dp * (accumulation > 0 ? accumulation : 1);
    if (!divides(global / r->dp, micro) || micro < 1) {
        problem_add(problems, training->where,
                    "a batch of %g per replica (global %g over dp %d) does not divide into micro-batches of %g",
                    global / r->dp, global, r->dp, micro);
        return problem_hint(problems, "micro must divide %g", global / r->dp);
    }
    double count = global / r->dp / micro;
    if (accumulation > 0 && count != accumulation) {
        problem_add(problems, training->where,
                    "global batch %g over dp %d with micro-batches of %g is %g accumulation steps, not %g", global,
                    r->dp, micro, count, accumulation);
        return problem_hint(problems, "leave one of the three out");
    }
    if (count > 100000) {
        problem_add(problems, training->where, "%g micro-batches per replica are more than a step can sensibly have",
                    count);
        return problem_hint(problems, "a larger micro-batch or more replicas");
    }
    r->micro_batch = micro;
    r->micro_batches = (int)count;
    r->global_batch = global;
    if (one_piece && r->micro_batches > 1) {
        problem_add(problems, training->where,
                    "layer-wise model parallel passes the whole batch at once; %d micro-batches are a pipeline",
                    r->micro_batches);
        job_hint(problems, training->scripted, "use pp = %d with schedule = \"gpipe\"", r->pp);
        return false;
    }
    return true;
}

static bool resolve_schedule(const TrainingSpec *training, Resolved *r, Problems *problems) {
    if (r->vpp > 1 && r->pp == 1) {
        problem_add(problems, training->where, "vpp %d interleaves pipeline stages, but pp is 1", r->vpp);
        return problem_hint(problems, "leave vpp out or use pp of 2 or more");
    }
    r->pipeline = pipeline_of(r->pipeline.schedule, r->pp, r->vpp, r->micro_batches);
    r->schedule = r->pipeline.schedule;
    r->vpp = r->pipeline.vpp;
    if (r->schedule == SCHEDULE_INTERLEAVED && r->micro_batches % r->pp) {
        problem_add(problems, training->where,
                    "the interleaved schedule needs micro-batches (%d) in multiples of pp (%d)", r->micro_batches,
                    r->pp);
        return problem_hint(problems, "change the global batch to a multiple of %g", r->micro_batch * r->dp * r->pp);
    }
    return pipeline_possible(&r->pipeline, training, problems);
}

// A user-defined model is split by its operators.
static bool resolve_operators(const TrainingSpec *training, const Resolved *r, Problems *problems) {
    const WrittenOperator *undivided = written_undivided(training->model, r->tp);
    if (undivided) {
        problem_add(problems, training->where, "%s of %s does not divide by tp %d", written_name(undivided),
                    training->model->name, r->tp);
        problem_hint(problems, "tp must divide columns, rows and heads that are split");
    } else if (training->layout.sequence_parallel && r->tp > 1) {
        problem_add(problems, training->where, "sequence parallelism slices the layers of a transformer; %s is none",
                    training->model->name);
        problem_hint(problems, "leave sequence_parallel out");
    } else {
        return true;
    }
    return false;
}

bool resolve_layout(Arena *arena, const TrainingSpec *training, int gpu_count, Resolved *resolved, Problems *problems) {
    *resolved = (Resolved){0};
    if (!resolve_groups(arena, training, gpu_count, resolved, problems)) return false;
    const Model *model = training->model;
    if (model->written && !resolve_operators(training, resolved, problems)) return false;
    if (!resolve_sharding(training, resolved, problems) || !resolve_context(training, resolved, problems)) return false;
    if (!resolve_experts(training, resolved, problems)) return false;
    if (!resolve_offload(training, resolved, problems)) return false;
    if (!resolve_batch(training, resolved, problems) || !resolve_schedule(training, resolved, problems)) return false;
    int *first = ARENA_ARRAY(arena, int, resolved->pipeline.chunks + 1);
    if (!blocks_to_chunks(training, resolved->pipeline.chunks, first, problems)) return false;
    resolved->first_block = first;
    return true;
}

Precision nearest_precision(const Gpu *gpu, Precision wanted) {
    static const Precision by_width[] = {FP4, FP8, BF16, FP16, FP32};
    bool is_wider = false;
    for (size_t i = 0; i < sizeof by_width / sizeof *by_width; i++) {
        if (is_wider && gpu_supports(gpu, by_width[i])) return by_width[i];
        is_wider = is_wider || by_width[i] == wanted || wanted == INT8; // which is as wide as FP8
    }
    return FP32;
}

static bool precision_possible(const TrainingSpec *training, GpuTypes gpus, Problems *problems) {
    int before = problems_added(problems);
    for (int i = 0; i < gpus.count; i++) {
        const Gpu *gpu = gpus.items[i];
        if (gpu_supports(gpu, training->precision)) continue;
        problem_add(problems, training->where, "%s has no %s units", gpu->name, precision_name(training->precision));
        job_hint(problems, training->scripted, "use precision = \"%s\", the nearest that the GPU has",
                 precision_name(nearest_precision(gpu, training->precision)));
    }
    return problems_added(problems) == before;
}

// FlashAttention-3 is of Hopper's instructions, the fourth of those of Blackwell's servers.
static bool attention_possible(const TrainingSpec *training, GpuTypes gpus, Problems *problems) {
    Attention kind = training->attention;
    if (kind != ATTENTION_FLASH_3 && kind != ATTENTION_FLASH_4) return true;
    Architecture needs = kind == ATTENTION_FLASH_3 ? HOPPER : BLACKWELL;
    for (int i = 0; i < gpus.count; i++) {
        const Gpu *gpu = gpus.items[i];
        if (gpu->generation == needs && gpu_is_of_servers(gpu)) continue;
        problem_add(problems, training->where, "%s has no %s: its kernels are for %s", gpu->name, attention_name(kind),
                    needs == HOPPER ? "Hopper" : "Blackwell's servers");
        job_hint(problems, training->scripted, "use attention = \"flash\", the best that the GPU has");
        return false;
    }
    return true;
}

// MXFP8's scales are of Blackwell's tensor cores: Transformer Engine refuses it on what came before. A GPU whose
// generation is not known is not doubted.
static bool recipe_possible(const TrainingSpec *training, GpuTypes gpus, Problems *problems) {
    if (training->precision != FP8 || training->fp8_recipe != FP8_MX) return true;
    for (int i = 0; i < gpus.count; i++) {
        const Gpu *gpu = gpus.items[i];
        if (gpu->generation == ARCHITECTURE_OTHER || gpu->generation >= BLACKWELL) continue;
        problem_add(problems, training->where, "%s has no %s: its scales are of Blackwell's tensor cores", gpu->name,
                    fp8_recipe_names[FP8_MX]);
        job_hint(problems, training->scripted, "use fp8_recipe = \"blockwise\" or fp8_recipe = \"delayed\"");
        return false;
    }
    return true;
}

bool job_possible(Arena *arena, const TrainingSpec *training, int gpu_count, GpuTypes gpus, Resolved *resolved,
                  Problems *problems) {
    int before = problems_added(problems);
    job_check(training, problems);
    bool sound = resolve_layout(arena, training, gpu_count, resolved, problems);
    return precision_possible(training, gpus, problems) && attention_possible(training, gpus, problems) &&
           recipe_possible(training, gpus, problems) && sound && problems_added(problems) == before;
}

// ---- Assignment of blocks to stages, and derived batch sizes.

// ---- Blocks on stages.

// A head that predicts a further token counts for three layers: its own, and two times logits, which go with the last
// chunk. So DeepSeek-V3's 61 layers on 16 stages are 15 times 4 and 1, as Megatron-Bridge lays them out.
static int layers_of_heads(const Model *model, int chunks) {
    int heads = 3 * model->extra_heads;
    return (layers_to_spread(model) + heads) / chunks > heads ? heads : 0;
}

bool blocks_to_stages(const Model *model, int chunks, int *first, Where where, Problems *problems) {
    int layers = layers_to_spread(model), before_layers = first_layer(model);
    CHECK(chunks >= 1);
    if (layers < chunks) {
        problem_add(problems, where, "%s has %d layers, too few for %d pipeline chunks", model->name, layers, chunks);
        return problem_hint(problems, "pp x vpp must be at most %d", layers);
    }
    first[0] = 0;
    layers += layers_of_heads(model, chunks);
    for (int chunk = 1; chunk <= chunks; chunk++) { // earlier chunks take the remainder: the last has the head
        int before = chunk * (layers / chunks) + (chunk < layers % chunks ? chunk : layers % chunks);
        first[chunk] = before_layers + before;
    }
    first[chunks] = model->block_count;
    return true;
}

int layers_counted(const TrainingSpec *training) {
    const Layout *layout = &training->layout;
    return layers_to_spread(training->model) + (layout->embedding_counts ? 1 : 0) + (layout->head_counts ? 1 : 0);
}

static bool even_blocks(const TrainingSpec *training, int chunks, int *first, Problems *problems) {
    const Layout *layout = &training->layout;
    const Model *model = training->model;
    if ((!layout->embedding_counts && !layout->head_counts) || first_layer(model) == 0)
        return blocks_to_stages(model, chunks, first, training->where, problems);
    int start = layout->embedding_counts ? 0 : 1;
    int all = layers_counted(training);
    int least = ends_stand_alone(model) ? all : layers_to_spread(model); // an end may be embedding or head alone
    if (least < chunks) return blocks_to_stages(model, chunks, first, training->where, problems);
    first[0] = 0;
    for (int chunk = 1; chunk < chunks; chunk++)
        first[chunk] = start + chunk * (all / chunks) + (chunk < all % chunks ? chunk : all % chunks);
    first[chunks] = model->block_count;
    return true;
}

// Only an end that has embedding or head may do without layers.
static bool check_stage_layers(const TrainingSpec *training, int chunks, Problems *problems) {
    const Layout *layout = &training->layout;
    int before = problems_added(problems), sum = 0, layers = layers_to_spread(training->model);
    bool ends_alone = ends_stand_alone(training->model);
    if (layout->embedding_counts || layout->head_counts) {
        problem_add(problems, training->where,
                    "layers says what each stage has, and embedding or head cannot count too");
        return problem_hint(problems, "leave one of them out");
    }
    if (layout->stage_layers_count != chunks) {
        problem_add(problems, training->where, "layers has %d counts, and the pipeline has %d chunks",
                    layout->stage_layers_count, chunks);
        return problem_hint(problems, "one count for each chunk (pp x vpp), in the model's order");
    }
    for (int c = 0; c < chunks; c++) {
        bool end = c == 0 || c == chunks - 1;
        sum += layout->stage_layers[c];
        if (layout->stage_layers[c] >= (ends_alone && end && chunks > 1 ? 0 : 1)) continue;
        problem_add(problems, training->where, "chunk %d of the pipeline has no layers", c + 1);
        problem_hint(problems, "only the first, with the embedding, and the last, with the head, may have 0");
    }
    if (sum != layers) {
        problem_add(problems, training->where, "the stages have %d layers, and %s has %d", sum, training->model->name,
                    layers);
        problem_hint(problems, "the counts must add up to %d", layers);
    }
    return problems_added(problems) == before;
}

bool blocks_to_chunks(const TrainingSpec *training, int chunks, int *first, Problems *problems) {
    const Layout *layout = &training->layout;
    if (!layout->stage_layers) return even_blocks(training, chunks, first, problems);
    if (!check_stage_layers(training, chunks, problems)) return false;
    first[0] = 0;
    int next = first_layer(training->model);
    for (int c = 0; c < chunks; c++) {
        next += layout->stage_layers[c];
        first[c + 1] = c == chunks - 1 ? training->model->block_count : next;
    }
    return true;
}

// ---- Batches.

static int at_least_one(int value) { return value > 1 ? value : 1; }

int replicas_of_job(const TrainingSpec *training, int gpus) {
    const Layout *layout = &training->layout;
    if (layout->dp > 0) return layout->dp;
    if (training->strategy == STRATEGY_SINGLE || training->strategy == STRATEGY_LAYERS) return 1;
    int64_t each = (int64_t)at_least_one(layout->tp) * at_least_one(layout->pp); // below 2^62: no product wraps
    return at_least_one((int)(gpus / each / at_least_one(layout->cp)));
}

double micro_batch_of_job(const TrainingSpec *training, int dp) {
    if (training->micro_batch > 0) return training->micro_batch;
    if (training->global_batch <= 0) return 1;
    double per_replica = training->global_batch / dp;
    if (training->grad_accumulation > 0) return per_replica / training->grad_accumulation;
    bool pipelined = training->layout.pp > 1 && training->strategy != STRATEGY_LAYERS;
    return pipelined ? 1 : per_replica;
}

double micro_batches_of_job(const TrainingSpec *training, int dp) {
    if (training->grad_accumulation > 0) return training->grad_accumulation;
    if (training->global_batch <= 0) return 1;
    return training->global_batch / (dp * micro_batch_of_job(training, dp));
}
