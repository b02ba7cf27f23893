#include "models/workload/job/needs.h"

#include "sim/base/check.h"

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
