// Conflicts between the fields of a training job, whatever their source.
#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "models/workload/job/training.h"
#include "sim/base/check.h"

#define MOST_JITTER_BY_CLASS 0.5

// Frozen weights can be stored in fewer bits; trained ones cannot.
static void check_adapters(const TrainingSpec *training, Problems *problems) {
    bool in_4_bits = training->nf4_weights || training->gptq_weights;
    bool said = training->lora_everywhere || training->lora_embeddings;
    if (training->lora_rank == 0 && (in_4_bits || said)) {
        problem_add(problems, training->where, "%s for adapters on frozen weights, but all weights are trained",
                    in_4_bits                   ? "4-bit weights are"
                    : training->lora_everywhere ? "lora_everywhere is"
                                                : "lora_embeddings is");
        problem_hint(problems, "set lora_rank (--lora-rank), for example to 16");
    } else if (training->nf4_weights && training->gptq_weights) {
        problem_add(problems, training->where, "weights lie in 4 bits of one kind: nf4_weights or gptq_weights");
        problem_hint(problems, "leave one of them out");
    } else if (in_4_bits && precision_bytes(training->precision) != 2) {
        problem_add(problems, training->where, "4-bit weights are dequantised to 16 bits, not to %s",
                    precision_name(training->precision));
        problem_hint(problems, "use bf16 or fp16");
    } else if (in_4_bits && training->model->experts.count > 0) {
        problem_add(problems, training->where, "4-bit weights of experts are not known: their products are grouped");
        problem_hint(problems, "take a dense model, or leave the 4 bits out");
    }
}

static void check_quantised_gathers(const TrainingSpec *training, Problems *problems) {
    if (!training->zero_quantized_weights) return;
    const char *why = !shards_weights(&training->layout) ? "weights are gathered by ZeRO 3 alone"
                      : training->lora_rank > 0          ? "frozen weights are not quantised by it"
                      : !training->mixed_precision       ? "it quantises the 16-bit copy of 32-bit weights"
                                                         : NULL;
    if (!why) return;
    problem_add(problems, training->where, "zero_quantized_weights: %s", why);
    job_hint(problems, training->scripted,
             "use zero = 3 with mixed precision and all weights trained, or leave it out");
}

static void check_encoder_decoder(const TrainingSpec *training, Problems *problems) {
    const char *what = training->layout.cp > 1                        ? "context parallelism"
                       : schedule_splits_backward(training->schedule) ? "a schedule that splits backward"
                       : training->lora_rank > 0                      ? "LoRA"
                       : training->recompute == RECOMPUTE_OPERATIONS  ? "recomputation by operation"
                                                                      : NULL;
    if (!what) return;
    problem_add(problems, training->where, "%s cannot be combined with %s, which has an encoder and a decoder", what,
                training->model->name);
    problem_hint(problems, "leave it out");
}

// What reads positions or images has lengths of its own.
static void check_length(const TrainingSpec *training, Problems *problems) {
    const Model *model = training->model;
    if (model->learned_positions && training->seq_len > model->max_positions) {
        problem_add(problems, training->where, "%s has positions for %d tokens, not %.0f", model->name,
                    model->max_positions, training->seq_len);
        problem_hint(problems, "seq at most %d", model->max_positions);
    }
    if (model->patch && training->seq_len != model->max_positions) {
        problem_add(problems, training->where, "%s cuts images of %d pixels into %d tokens, not %.0f", model->name,
                    model->image_size, model->max_positions, training->seq_len);
        problem_hint(problems, "leave seq out; the image's size decides");
    }
}

// What only transformers have.
static void check_other_parts(const TrainingSpec *training, Problems *problems) {
    if (training->lora_rank > 0 || training->nf4_weights || training->gptq_weights) {
        problem_add(problems, training->where, "LoRA's adapters are for transformers; %s is none",
                    training->model->name);
        problem_hint(problems, "leave lora_rank and the 4 bits out");
    }
    bool whole = training->recompute == RECOMPUTE_FULL && !recomputes_some_layers(training);
    bool net = convolves(training->model), stages = training->layout.pp > 1;
    if (training->recompute == RECOMPUTE_NONE || (net && whole && !stages)) return;
    problem_add(problems, training->where, "recomputation%s is for transformers; %s is none",
                !net     ? ""
                : stages ? " in stages of a pipeline"
                         : " of parts",
                training->model->name);
    job_hint(problems, training->scripted, net && !stages ? "use recompute = \"full\"" : "use a smaller micro-batch");
}

static void check_loss_chunks(const TrainingSpec *training, Problems *problems) {
    if (training->loss_chunks == 0 || (names_parts(training->model) && training->model->vocab > 0)) return;
    problem_add(problems, training->where, "loss_chunks divides logits of words, and %s has none",
                training->model->name);
    problem_hint(problems, "leave loss_chunks out");
}

// With sharded, reduced or accumulated gradients the update must wait.
static void check_optimizer_in_backward(const TrainingSpec *training, Problems *problems) {
    if (!training->optimizer_in_backward) return;
    const char *why = training->grad_accumulation > 1              ? "gradients are accumulated"
                      : shards_optimizer(&training->layout)        ? "ZeRO shards what it updates"
                      : training->layout.pp > 1                    ? "a pipeline adds up gradients"
                      : training->offload_optimizer != OFFLOAD_GPU ? "the optimizer is offloaded"
                                                                   : NULL;
    if (!why) return;
    problem_add(problems, training->where, "the optimizer cannot run in backward where %s", why);
    problem_hint(problems, "leave optimizer_in_backward out");
}

// Of all that a layer keeps the copies would not hide.
static void check_offloaded_activations(const TrainingSpec *training, Problems *problems) {
    bool inputs_alone = training->recompute == RECOMPUTE_FULL && !recomputes_some_layers(training);
    if (training->offload_activations == OFFLOAD_GPU || inputs_alone) return;
    problem_add(problems, training->where,
                "activations are moved to the host where layers keep nothing but their input");
    job_hint(problems, training->scripted, "use recompute = \"full\", or leave offload.activations out");
}

const char *why_not_by_class(const TrainingSpec *training) {
    bool offloads = training->offload_optimizer != OFFLOAD_GPU || training->offload_parameters != OFFLOAD_GPU;
    return training->by_messages        ? "collectives are simulated message by message"
           : training->straggler > 1    ? "one rank is slower than those of its class"
           : training->sample_bytes > 0 ? "loaders share what they read from"
           : offloads                   ? "hosts share what is offloaded to them"
                                        : NULL;
}

static void check_jitter_by_class(const TrainingSpec *training, Problems *problems) {
    if (training->jitter_by != JITTER_BY_CLASS || training->jitter == 0) return;
    const char *why = why_not_by_class(training);
    if (training->strategy == STRATEGY_DATA_PARALLEL) why = "DataParallel's first GPU does more than the others";
    if (training->jitter > MOST_JITTER_BY_CLASS) why = "sums of times that vary so much are far from lognormal";
    if (!why) return;
    problem_add(problems, training->where, "jitter cannot be drawn by class where %s", why);
    job_hint(problems, training->scripted, "use jitter_by = \"gpu\"");
}

void job_check(const TrainingSpec *training, Problems *problems) {
    check_jitter_by_class(training, problems);
    check_offloaded_activations(training, problems);
    check_loss_chunks(training, problems);
    check_optimizer_in_backward(training, problems);
    check_quantised_gathers(training, problems);
    if (!names_parts(training->model)) {
        check_other_parts(training, problems);
        return;
    }
    check_adapters(training, problems);
    check_length(training, problems);
    if (training->model->encoder_layers) check_encoder_decoder(training, problems);
    recompute_check(training, problems);
}

// ---- What settings need of the job to have an effect.

static const char *const lacks[NEED_COUNT] = {
    [NEED_GPUS] = "there is one GPU",
    [NEED_TRANSFORMER] = "the model is no transformer",
    [NEED_ENCODER] = "the model is no encoder",
    [NEED_EXPERTS] = "the model has no experts",
    [NEED_CONVOLUTIONS] = "the model has no convolutions",
    [NEED_TENSOR_PARALLEL] = "tp is 1",
    [NEED_PIPELINE] = "pp is 1",
    [NEED_CONTEXT_PARALLEL] = "cp is 1",
    [NEED_EXPERT_PARALLEL] = "ep is 1",
    [NEED_REPLICAS] = "there is one replica",
    [NEED_ACCUMULATION] = "a step has one micro-batch",
    [NEED_OVERLAP] = "gradients are reduced after backward",
    [NEED_DIRECT_COPIES] = "its GPUs copy through host memory, and backward waits meanwhile",
    [NEED_OWN_REDUCTION] = "the strategy reduces gradients after backward",
    [NEED_ZERO] = "zero is 0",
    [NEED_ZERO_1] = "zero is not 1",
    [NEED_ZERO_3] = "zero is not 3",
    [NEED_EAGER] = "the framework is not eager",
    [NEED_ADAM] = "the optimizer is not adam",
    [NEED_FP8] = "the precision is not fp8",
    [NEED_RECOMPUTATION] = "nothing is recomputed",
    [NEED_ONE_PROCESS] = "each GPU has a process of its own",
    [NEED_HOROVOD] = "the strategy is not horovod",
    [NEED_JITTER] = "jitter is 0",
    [NEED_DRAWN_ROUTING] = "routing is not drawn",
    [NEED_DATA] = "how large a sample is was not said, so nothing is read",
    [NEED_DECODING] = "how fast a worker decodes was not said",
};

bool job_hides_gradients(const TrainingSpec *training, const Resolved *r) {
    return training->overlap_grad_reduce && !r->staged && !strategy_reduces_late(training->strategy);
}

unsigned job_has(const TrainingSpec *training, const Resolved *r) {
    const Model *model = training->model;
    int zero = training->layout.zero;
    const bool has[NEED_COUNT] = {
        [NEED_GPUS] = r->tp * r->pp * r->data_ranks > 1,
        [NEED_TRANSFORMER] = names_parts(model),
        [NEED_ENCODER] = names_parts(model) && !model->causal,
        [NEED_EXPERTS] = model->experts.count > 0,
        [NEED_CONVOLUTIONS] = convolves(model),
        [NEED_TENSOR_PARALLEL] = r->tp > 1,
        [NEED_PIPELINE] = r->pp > 1,
        [NEED_CONTEXT_PARALLEL] = r->cp > 1,
        [NEED_EXPERT_PARALLEL] = r->ep > 1,
        [NEED_REPLICAS] = r->data_ranks > 1,
        [NEED_ACCUMULATION] = r->micro_batches > 1,
        [NEED_OVERLAP] = job_hides_gradients(training, r),
        [NEED_DIRECT_COPIES] = !r->staged || r->data_ranks == 1,
        [NEED_OWN_REDUCTION] = !strategy_reduces_late(training->strategy),
        [NEED_ZERO] = zero > 0,
        [NEED_ZERO_1] = zero == 1,
        [NEED_ZERO_3] = zero == 3,
        [NEED_EAGER] = training->framework == FRAMEWORK_EAGER,
        [NEED_ADAM] = training->optimizer == OPTIMIZER_ADAM,
        [NEED_FP8] = training->precision == FP8,
        [NEED_RECOMPUTATION] = training->recompute != RECOMPUTE_NONE,
        [NEED_ONE_PROCESS] = r->strategy == STRATEGY_DATA_PARALLEL,
        [NEED_HOROVOD] = r->strategy == STRATEGY_HOROVOD,
        [NEED_JITTER] = training->jitter > 0,
        [NEED_DRAWN_ROUTING] = training->routing.kind == ROUTING_DIRICHLET,
        [NEED_DATA] = training->sample_bytes > 0,
        [NEED_DECODING] = training->samples_per_second_per_worker > 0,
    };
    unsigned all = 0;
    for (int i = 0; i < NEED_COUNT; i++) all |= (unsigned)has[i] << i;
    return all;
}

const Effect *job_effects(Arena *arena, const TrainingSpec *training, const Resolved *resolved, int *count) {
    Effect *effects = ARENA_ARRAY(arena, Effect, training->needy_count);
    unsigned has = job_has(training, resolved);
    for (int i = 0; i < training->needy_count; i++) {
        unsigned lacking = training->needy[i].needs & ~has;
        effects[i] = (Effect){training->needy[i].name, lacking ? lacks[__builtin_ctz(lacking)] : NULL};
    }
    *count = training->needy_count;
    return effects;
}
