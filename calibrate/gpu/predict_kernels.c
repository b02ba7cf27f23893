// What is sent comes out of a job's costs: a model of one layer with the measured shape is priced as any other.
#include "calibrate/gpu/predict_kernels.h"

#include "models/hardware/kernel.h"

#define LAYER_BLOCK 1 // between embedding and head
#define SIXTEEN_BITS 2.0

double launches_in_a_graph(const Gpu *gpu, int kernels) {
    return kernels * gpu->graph_launch_share * gpu->launch_seconds;
}

static Model one_layer(int heads, int kv_heads, int head_dim, int hidden) {
    return (Model){.name = "one layer",
                   .family = "",
                   .source = "",
                   .kind = MODEL_TRANSFORMER,
                   .block_count = 3,
                   .layers = 1,
                   .hidden = hidden,
                   .heads = heads,
                   .kv_heads = kv_heads,
                   .head_dim = head_dim,
                   .ffn = hidden,
                   .vocab = 1,
                   .max_positions = 1,
                   .causal = true,
                   .gated_mlp = true,
                   .rms_norm = true,
                   .head_share = 1};
}

static TrainingSpec forward_of(const Model *model, double seq_len, Precision precision) {
    return (TrainingSpec){.model = model,
                          .layout = {.tp = 1, .pp = 1, .vpp = 1, .dp = 1, .cp = 1, .ep = 1},
                          .schedule = SCHEDULE_1F1B,
                          .seq_len = seq_len,
                          .precision = precision,
                          .mixed_precision = true,
                          .attention = ATTENTION_FLASH,
                          .framework = FRAMEWORK_MEGATRON,
                          .cuda_graphs = true,
                          .routing = {.kind = ROUTING_ZIPF, .seed = 1}};
}

// ---- What experts exchange.

static Model experts_layer(const ExpertsShape *shape) {
    Model model = one_layer(1, 1, shape->hidden, shape->hidden);
    model.gated_mlp = shape->gated;
    model.experts = (ExpertShape){.count = shape->count, .per_token = shape->per_token, .ffn = shape->ffn, .every = 1};
    return model;
}

static TrainingSpec experts_forward(const ExpertsShape *shape, const Model *model, double tokens_of_rank) {
    TrainingSpec training = forward_of(model, tokens_of_rank, shape->precision);
    training.fp8_recipe = shape->recipe;
    training.layout.tp = shape->tp;
    training.layout.ep = shape->ep;
    return training;
}

double exchange_bytes(const Gpu *gpu, const ExpertsShape *shape, double tokens_of_rank) {
    Model model = experts_layer(shape);
    TrainingSpec training = experts_forward(shape, &model, tokens_of_rank);
    training.fused_dispatch = true;
    BlockCost cost = block_cost(&model, LAYER_BLOCK, &training, 1, gpu);
    for (int i = 0; i < cost.forward.count; i++)
        if (cost.forward.items[i].collective == COLLECTIVE_ALL_TO_ALL && cost.forward.items[i].bytes > 0)
            return cost.forward.items[i].bytes;
    return 0;
}

// ---- Casts.

// Elementary kernels end sooner in a graph than products do: 1.4 us on Hopper and RTX PRO 6000, 1.6 on L40S, 1.8 to 2.1
// on Blackwell's servers, where the floor of products is 2.6, 1.9 and 2.
#define SMALL_KERNEL_SECONDS 1.8e-6

// Fitted to the casts of calibrate/measurements/kernels/ops.csv. One scale of a tensor is found by operators of a
// framework: absolute values, their maximum, the scale, and then the cast.
const Cast cast_by_given_scale = {SIXTEEN_BITS + 1, 0, 0}, cast_by_row = {SIXTEEN_BITS + 2, 2e-9, 0.8e-6},
           cast_by_tensor = {3 * SIXTEEN_BITS + 1, 0, 7e-6};

double cast_seconds(const Gpu *gpu, const Cast *cast, double rows, double elements) {
    return SMALL_KERNEL_SECONDS + cast->first_seconds + memory_seconds(gpu, cast->bytes * elements) +
           cast->row_seconds * rows;
}
