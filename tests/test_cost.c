// Block costs: laws that must hold whatever the constants, and the orders of collectives.
#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_constants.h"
#include "tests/jobs.h"
#include "tests/test.h"

static const Where nowhere = {NULL, 0};

static TrainingSpec megatron(const Model *m) {
    return (TrainingSpec){
        .model = m,
        .layout = {.tp = 1, .pp = 1, .vpp = 1},
        .seq_len = 1024,
        .precision = FP16,
        .mixed_precision = true,
        .framework = FRAMEWORK_MEGATRON,
        .optimizer = OPTIMIZER_ADAM,
    };
}

static double seconds_of(const CostList *list, Cause cause) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].cause == cause) seconds += list->items[i].seconds;
    return seconds;
}

static double block_seconds(const BlockCost *cost) {
    return list_seconds(&cost->forward) + list_seconds(&cost->backward);
}

// "all_gather reduce_scatter …"
static const char *collectives_of(Arena *arena, const CostList *list, bool overlapped_only) {
    const char *text = "";
    for (int i = 0; i < list->count; i++)
        if (list->items[i].bytes > 0 && (list->items[i].overlapped || !overlapped_only))
            text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", collective_op_name(list->items[i].collective));
    return text;
}

static const char *collectives(Arena *arena, const CostList *list) { return collectives_of(arena, list, false); }
static const char *overlapped_products(Arena *arena, const CostList *list) { return collectives_of(arena, list, true); }

static double step_seconds_of(const Model *m, const TrainingSpec *training, double micro_batch, const Gpu *g) {
    double seconds = 0;
    for (int block = 0; block < m->block_count; block++) {
        BlockCost cost = block_cost(m, block, training, micro_batch, g);
        seconds += block_seconds(&cost);
    }
    return seconds;
}

TEST(tensor_parallel_shards_multiply_what_the_whole_multiplies) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "megatron-22b");
    for (int block = 0; block < m->block_count; block += 24) {
        TrainingSpec training = megatron(m);
        double whole = block_matmul_flops(m, block, &training, 2);
        for (training.layout.tp = 2; training.layout.tp <= 64; training.layout.tp *= 2)
            EXPECT_NEAR(training.layout.tp * block_matmul_flops(m, block, &training, 2), whole, 1e-12);
    }
    arena_close(bench.arena);
}

TEST(blocks_multiply_what_the_model_multiplies) {
    Bench bench = bench_open();
    static const char *const names[] = {"gpt2-355m", "bert-large", "llama-3-8b", "resnet-50", "mlp-mnist"};
    for (int i = 0; i < 5; i++) {
        const Model *m = bench_model(&bench, names[i]);
        TrainingSpec training = megatron(m);
        double flops = 0;
        for (int block = 0; block < m->block_count; block++) flops += block_matmul_flops(m, block, &training, 4);
        EXPECT_NEAR(flops, 4 * model_forward_flops_per_sample(m, 1024), 1e-12);
    }
    arena_close(bench.arena);
}

TEST(tensor_parallel_parameters_are_shards_and_copies) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt3-175b");
    TrainingSpec training = megatron(m);
    double h = m->hidden;
    EXPECT_NEAR(block_cost(m, 1, &training, 1, bench_gpu(&bench, "A100")).parameters, block_parameters(m, 1), 1e-12);
    training.layout.tp = 8;
    // 12 h^2 and 7 h of biases are split; 2 h of biases and 4 h of norms are not.
    EXPECT_NEAR(block_cost(m, 1, &training, 1, bench_gpu(&bench, "A100")).parameters, (12 * h * h + 7 * h) / 8 + 6 * h,
                1e-12);
    // The last stage of a pipeline holds the tied table too.
    double head = block_cost(m, m->block_count - 1, &training, 1, bench_gpu(&bench, "A100")).parameters;
    training.layout.pp = 2;
    EXPECT_NEAR(block_cost(m, m->block_count - 1, &training, 1, bench_gpu(&bench, "A100")).parameters,
                head + m->vocab * h / 8, 1e-12);
    arena_close(bench.arena);
}

TEST(collectives_are_megatrons_in_number_kind_and_size) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt3-6.7b");
    const Gpu *g = bench_gpu(&bench, "A100");
    TrainingSpec training = megatron(m);
    EXPECT_TEXT(collectives(bench.arena, &(CostList){.count = 0}), "");
    BlockCost alone = block_cost(m, 1, &training, 2, g);
    EXPECT_TEXT(collectives(bench.arena, &alone.forward), "");

    training.layout.tp = 4;
    BlockCost cost = block_cost(m, 1, &training, 2, g);
    EXPECT_TEXT(collectives(bench.arena, &cost.forward), "all_reduce all_reduce");
    EXPECT_TEXT(collectives(bench.arena, &cost.backward), "all_reduce all_reduce");
    for (int i = 0; i < cost.forward.count; i++)
        if (cost.forward.items[i].bytes > 0) EXPECT_NEAR(cost.forward.items[i].bytes, 2.0 * 1024 * 2 * 4096, 0);

    training.recompute = RECOMPUTE_FULL;
    cost = block_cost(m, 1, &training, 2, g);
    EXPECT_TEXT(collectives(bench.arena, &cost.backward), "all_reduce all_reduce all_reduce all_reduce");

    training.recompute = RECOMPUTE_NONE;
    training.layout.sequence_parallel = true;
    cost = block_cost(m, 1, &training, 2, g);
    EXPECT_TEXT(collectives(bench.arena, &cost.forward), "all_gather reduce_scatter all_gather reduce_scatter");
    // Backward gathers the inputs of the products that begin a region again, beside their gradients.
    EXPECT_TEXT(collectives(bench.arena, &cost.backward),
                "all_gather all_gather reduce_scatter all_gather all_gather reduce_scatter");
    EXPECT_TEXT(overlapped_products(bench.arena, &cost.forward), "");
    EXPECT_TEXT(overlapped_products(bench.arena, &cost.backward),
                "all_gather reduce_scatter all_gather reduce_scatter");
    arena_close(bench.arena);
}

static double bytes_of(const CostList *list, CollectiveOp op) {
    double bytes = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].bytes > 0 && list->items[i].collective == op) bytes += list->items[i].bytes;
    return bytes;
}

TEST(slices_that_products_want_in_8_bits_are_gathered_in_8_bits) {
    Bench bench = bench_open();
    const Gpu *g = bench_gpu(&bench, "H100");
    const Model *m = bench_model(&bench, "megatron-22b");
    TrainingSpec wide = megatron(m);
    wide.layout.tp = 8;
    wide.layout.sequence_parallel = true;
    TrainingSpec narrow = wide;
    narrow.precision = FP8;
    int blocks[] = {0, 1, m->block_count - 1};
    for (int i = 0; i < 3; i++) {
        int block = blocks[i];
        BlockCost in_16 = block_cost(m, block, &wide, 1, g), in_8 = block_cost(m, block, &narrow, 1, g);
        double share = block == 1 ? 0.5 : 1; // the ends' products stay in 16 bits
        EXPECT_NEAR(bytes_of(&in_8.forward, COLLECTIVE_ALL_GATHER),
                    share * bytes_of(&in_16.forward, COLLECTIVE_ALL_GATHER), 1e-12);
        EXPECT_NEAR(bytes_of(&in_8.backward, COLLECTIVE_ALL_GATHER),
                    share * bytes_of(&in_16.backward, COLLECTIVE_ALL_GATHER), 1e-12);
        EXPECT_NEAR(bytes_of(&in_8.forward, COLLECTIVE_REDUCE_SCATTER),
                    bytes_of(&in_16.forward, COLLECTIVE_REDUCE_SCATTER), 1e-12);
    }
    arena_close(bench.arena);
}

TEST(full_recomputation_adds_one_forward_and_selective_less) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt3-6.7b");
    const Gpu *g = bench_gpu(&bench, "A100");
    TrainingSpec training = megatron(m);
    BlockCost none = block_cost(m, 1, &training, 4, g);
    training.recompute = RECOMPUTE_SELECTIVE;
    BlockCost selective = block_cost(m, 1, &training, 4, g);
    training.recompute = RECOMPUTE_FULL;
    BlockCost full = block_cost(m, 1, &training, 4, g);

    EXPECT_NEAR(block_seconds(&full) - block_seconds(&none), list_seconds(&none.forward), 0.02);
    EXPECT_NEAR(seconds_of(&full.backward, CAUSE_RECOMPUTE), list_seconds(&none.forward), 0.02);
    EXPECT_NEAR(seconds_of(&selective.backward, CAUSE_RECOMPUTE), seconds_of(&none.forward, CAUSE_ATTENTION), 0.05);
    EXPECT(full.activation_bytes < selective.activation_bytes && selective.activation_bytes < none.activation_bytes);
    arena_close(bench.arena);
}

TEST(backward_takes_about_twice_forward) {
    Bench bench = bench_open();
    static const char *const names[] = {"gpt3-6.7b", "llama-3-8b", "bert-large", "resnet-50"};
    for (int i = 0; i < 4; i++) {
        const Model *m = bench_model(&bench, names[i]);
        TrainingSpec training = megatron(m);
        training.seq_len = 512;
        int middle = m->block_count / 2;
        BlockCost cost = block_cost(m, middle, &training, 32, bench_gpu(&bench, "A100"));
        double ratio = list_seconds(&cost.backward) / list_seconds(&cost.forward);
        if (ratio < 1.5 || ratio > 2.6)
            test_fail(__FILE__, __LINE__, "%s: backward is %.2f of forward", names[i], ratio);
    }
    arena_close(bench.arena);
}

// Larger batches never pay more per sample, but for what the L2 no longer holds (a tenth where it is six times the
// memory).
TEST(without_an_optimizer_nothing_is_updated_or_kept) {
    Bench bench = bench_open();
    TrainingSpec training = megatron(bench_model(&bench, "gpt2-124m"));
    const Gpu *g = bench_gpu(&bench, "A100");
    double with = optimizer_seconds(&training, 1e8, g), state = memory_of_job(&training, 1, g, NULL).peak;
    training.optimizer = OPTIMIZER_NONE;
    EXPECT(with > 0 && optimizer_seconds(&training, 1e8, g) == 0);
    EXPECT(memory_of_job(&training, 1, g, NULL).peak < state);
    arena_close(bench.arena);
}

TEST(twice_the_micro_batch_takes_longer_but_not_twice_as_long) {
    Bench bench = bench_open();
    static const char *const names[] = {"gpt2-124m", "gpt3-2.7b", "bert-base", "resnet-50", "resnet-18", "mlp-mnist"};
    static const char *const gpus[] = {"V100", "A100", "H100", "RTX4090"};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 4; j++) {
            const Model *m = bench_model(&bench, names[i]);
            TrainingSpec training = megatron(m);
            training.seq_len = 512;
            for (double batch = 1; batch <= 64; batch *= 2) {
                double once = step_seconds_of(m, &training, batch, bench_gpu(&bench, gpus[j]));
                double twice = step_seconds_of(m, &training, 2 * batch, bench_gpu(&bench, gpus[j]));
                if (!(twice >= 0.999 * once && twice <= 2.2 * once))
                    test_fail(__FILE__, __LINE__, "%s on %s: batch %g takes %g s, twice that %g s", names[i], gpus[j],
                              batch, once, twice);
            }
        }
    }
    arena_close(bench.arena);
}

static double norm_seconds_of(Bench *bench, const char *model, Precision precision, ImageLayout layout) {
    TrainingSpec training = megatron(bench_model(bench, model));
    training.framework = FRAMEWORK_EAGER;
    training.precision = precision;
    training.image_layout = layout;
    double seconds = 0;
    for (int block = 0; block < training.model->block_count; block++) {
        BlockCost cost = block_cost(training.model, block, &training, 64, bench_gpu(bench, "H100"));
        seconds += seconds_of(&cost.forward, CAUSE_MEMORY) + seconds_of(&cost.backward, CAUSE_MEMORY);
    }
    return seconds;
}

// MobileNet's widest images have 16 to 96 channels, ResNet's 64 and 256.
TEST(norms_of_few_channels_leave_most_of_a_gpu_idle_with_channels_first) {
    Bench bench = bench_open();
    static const char *const names[] = {"mobilenet-v2", "resnet-50"};
    double loss[2];
    for (int i = 0; i < 2; i++) {
        double last = norm_seconds_of(&bench, names[i], BF16, IMAGE_LAYOUT_NHWC);
        double first = norm_seconds_of(&bench, names[i], BF16, IMAGE_LAYOUT_NCHW);
        loss[i] = first / last;
        EXPECT(norm_seconds_of(&bench, names[i], FP16, IMAGE_LAYOUT_NCHW) < first); // cuDNN's
        EXPECT(norm_seconds_of(&bench, names[i], FP16, IMAGE_LAYOUT_NHWC) == last);
    }
    EXPECT(loss[0] > 3 && loss[0] > 1.3 * loss[1]);
    arena_close(bench.arena);
}

TEST(small_eager_kernels_wait_for_the_cpu) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt2-124m");
    const Gpu *g = bench_gpu(&bench, "H100");
    TrainingSpec training = megatron(m);
    training.seq_len = 64;
    training.framework = FRAMEWORK_EAGER;
    BlockCost eager = block_cost(m, 1, &training, 1, g);
    EXPECT(block_seconds(&eager) >=
           7e-6 * (eager.kernels_forward + eager.kernels_backward)); // issue rate of eager PyTorch
    EXPECT(seconds_of(&eager.forward, CAUSE_LAUNCH) > 0.8 * list_seconds(&eager.forward));
    training.framework = FRAMEWORK_TUNED;
    BlockCost tuned = block_cost(m, 1, &training, 1, g);
    EXPECT(block_seconds(&tuned) < 0.7 * block_seconds(&eager));
    arena_close(bench.arena);
}

// Eight operators forward and what they have backward, 19 and 30 passes over the width in place of 3 and 5: the time of
// so many more bytes.
TEST(gelu_from_elementary_operators_costs_its_passes) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt2-774m");
    const Gpu *g = bench_gpu(&bench, "V100");
    TrainingSpec training = {.model = m, .layout = {.tp = 1}, .seq_len = 1024, .precision = FP32};
    BlockCost fused = block_cost(m, 1, &training, 4, g);
    training.composed_gelu = true;
    BlockCost composed = block_cost(m, 1, &training, 4, g);
    double pass = 4.0 * 1024 * 5120 * 4 * 1.25 / (g->memory_efficiency * g->memory_bytes_per_second);
    double forward = seconds_of(&composed.forward, CAUSE_MEMORY) - seconds_of(&fused.forward, CAUSE_MEMORY);
    double backward = seconds_of(&composed.backward, CAUSE_MEMORY) - seconds_of(&fused.backward, CAUSE_MEMORY);
    EXPECT_NEAR(forward, 16 * pass, 1e-2);
    EXPECT_NEAR(backward, 25 * pass, 1e-2);
    EXPECT_INT(composed.kernels_forward - fused.kernels_forward, 7);
    arena_close(bench.arena);
}

// Autocast raises to the third power in 32 bits, and what follows stays so: as many bytes as without autocast, where
// products alone are in 16. A model cast as a whole has half of them.
TEST(autocast_has_gelu_from_elementary_operators_in_32_bits) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt2-774m");
    const Gpu *g = bench_gpu(&bench, "V100");
    double pass = 2.0 * 4 * 1024 * 5120 * 1.25 / (g->memory_efficiency * g->memory_bytes_per_second);
    TrainingSpec training = {.model = m,
                             .layout = {.tp = 1},
                             .seq_len = 1024,
                             .precision = FP16,
                             .attention = ATTENTION_FLASH_1,
                             .mixed_precision = true};
    for (int half = 0; half < 2; half++) {
        training.half_weights = half == 1;
        training.composed_gelu = false;
        BlockCost fused = block_cost(m, 1, &training, 4, g);
        training.composed_gelu = true;
        BlockCost composed = block_cost(m, 1, &training, 4, g);
        double forward = seconds_of(&composed.forward, CAUSE_MEMORY) - seconds_of(&fused.forward, CAUSE_MEMORY);
        EXPECT_NEAR(forward, ((half ? 19 : 38) - 3) * pass, 2e-2);
    }
    arena_close(bench.arena);
}

// Of GPT-2 in Hugging Face's way scores pass two operators more, four passes; flash attention has no scores.
TEST(scores_that_operators_select_cost_four_passes_more) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt2-774m");
    const Gpu *g = bench_gpu(&bench, "V100");
    double pass = 4.0 * 4 * 20 * 1024 * 1024 * 1.25 / (g->memory_efficiency * g->memory_bytes_per_second);
    TrainingSpec training = {.model = m, .layout = {.tp = 1}, .seq_len = 1024, .precision = FP32};
    BlockCost fused = block_cost(m, 1, &training, 4, g);
    training.composed_gelu = true;
    BlockCost selected = block_cost(m, 1, &training, 4, g);
    EXPECT_NEAR(seconds_of(&selected.forward, CAUSE_ATTENTION) - seconds_of(&fused.forward, CAUSE_ATTENTION), 4 * pass,
                1e-2);
    training.attention = ATTENTION_FLASH_1;
    selected = block_cost(m, 1, &training, 4, g);
    training.composed_gelu = false;
    fused = block_cost(m, 1, &training, 4, g);
    EXPECT_NEAR(seconds_of(&selected.forward, CAUSE_ATTENTION), seconds_of(&fused.forward, CAUSE_ATTENTION), 1e-9);
    arena_close(bench.arena);
}

// Whatever their size: twenty operators for each tensor, of which a layer has two norms and four products. Sharded ones
// are unwrapped and wrapped again around each, as PyTorch has it since the middle of 2024.
TEST(an_optimizer_of_ones_own_takes_as_long_as_its_host_issues_it) {
    Bench bench = bench_open();
    const Gpu *g = bench_gpu(&bench, "H100");
    TrainingSpec training = {.layout = {.tp = 1},
                             .seq_len = 1024,
                             .precision = BF16,
                             .optimizer = OPTIMIZER_OWN,
                             .cpu_seconds_per_kernel = 10e-6};
    for (int split = 0; split < 3; split++) { // not at all, by FSDP, for tensor parallelism
        training.layout.zero = split == 1 ? 3 : 0;
        training.layout.tp = split == 2 ? 2 : 1;
        training.model = bench_model(&bench, "gpt2-124m");
        double of_12_layers = optimizer_seconds(&training, 1e6, g);
        training.model = bench_model(&bench, "gpt2-355m");
        double of_24_layers = optimizer_seconds(&training, 1e6, g);
        double each = 10e-6 + (split > 0 ? cost_constant(DTENSOR_SECONDS) : 0);
        EXPECT_NEAR(of_24_layers - of_12_layers, 12 * 6 * 20 * each, 1e-6);
        EXPECT(optimizer_seconds(&training, 1e12, g) > of_24_layers); // or as its kernels take
    }
    arena_close(bench.arena);
}

// Kernels of a few tokens in eager PyTorch: tensors split in two take the host three times longer.
TEST(tensors_that_pytorch_splits_are_unwrapped_around_each_operator) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt2-355m");
    const Gpu *g = bench_gpu(&bench, "H100");
    TrainingSpec training = {
        .model = m, .layout = {.tp = 1}, .seq_len = 16, .precision = BF16, .cpu_seconds_per_kernel = 10e-6};
    BlockCost whole = block_cost(m, 1, &training, 1, g);
    training.layout.tp = 2;
    BlockCost split = block_cost(m, 1, &training, 1, g);
    EXPECT_NEAR(list_seconds(&whole.forward), 10e-6 * whole.kernels_forward, 0.05);
    EXPECT_NEAR(list_seconds(&split.forward), (10e-6 + cost_constant(DTENSOR_SECONDS)) * split.kernels_forward, 0.05);
    training.framework = FRAMEWORK_MEGATRON;
    split = block_cost(m, 1, &training, 1, g);
    training.layout.tp = 1;
    whole = block_cost(m, 1, &training, 1, g);
    EXPECT(list_seconds(&split.forward) < 2 * list_seconds(&whole.forward));
    arena_close(bench.arena);
}

static double scores_seconds(const Model *m, const TrainingSpec *training, const Gpu *g) {
    BlockCost cost = block_cost(m, 1, training, 4, g);
    return seconds_of(&cost.forward, CAUSE_ATTENTION);
}

#define SESSION_MS 5

// Whatever the batch: the host's part of a step is the same for 2 and for 32 images, and eager software has none.
TEST(sessions_and_eager_loops_return_to_their_host_between_steps) {
    for (int batch = 2; batch <= 32; batch *= 4) {
        Case c;
        case_open(&c, 1, "resnet-50");
        c.training.micro_batch = c.training.global_batch = batch;
        c.training.framework = FRAMEWORK_TENSORFLOW;
        EXPECT_NEAR(simulate(&c, false).spent[CAUSE_HOST], SESSION_MS * 1e-3, 1e-9);
        c.training.framework = FRAMEWORK_EAGER;
        EXPECT_NEAR(simulate(&c, false).spent[CAUSE_HOST], cost_constant(EAGER_STEP_SECONDS), 1e-9);
        c.training.framework = FRAMEWORK_TUNED;
        EXPECT_NEAR(simulate(&c, false).spent[CAUSE_HOST], 0, 0);
        arena_close(c.arena);
    }
}

TEST(megatrons_scores_in_32_bits_are_not_fused) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt2-774m");
    const Gpu *g = bench_gpu(&bench, "A100");
    TrainingSpec training = megatron(m), half = training;
    training.precision = FP32, training.mixed_precision = false;
    double attention = scores_seconds(m, &training, g);
    training.framework = FRAMEWORK_EAGER;
    double eager = scores_seconds(m, &training, g);
    half.framework = FRAMEWORK_EAGER;
    double half_eager = scores_seconds(m, &half, g);
    half.framework = FRAMEWORK_MEGATRON;
    double half_fused = scores_seconds(m, &half, g);
    EXPECT(eager / attention < 1.26 && eager / attention > 1); // traffic of eager software is 1.25 times as much
    EXPECT(half_eager / half_fused > 1.4);
    arena_close(bench.arena);
}

// What the CPU does for a layer, collectives counted in, is what a narrow shard's step waits for; before
// Transformer Engine there is less of it, and graphs need none.
TEST(narrow_shards_wait_for_the_cpu_and_graphs_do_not) {
    Bench bench = bench_open();
    const Gpu *g = bench_gpu(&bench, "B200"), *old = bench_gpu(&bench, "A100");
    const Model *m = bench_model(&bench, "llama-3-8b");
    TrainingSpec training = megatron(m);
    training.precision = BF16;
    training.layout.tp = 8;
    training.layout.sequence_parallel = true;
    BlockCost cost = block_cost(m, 1, &training, 1, g), before = block_cost(m, 1, &training, 1, old);
    EXPECT(block_seconds(&cost) > 2e-3);
    EXPECT(seconds_of(&cost.forward, CAUSE_LAUNCH) > 0.8e-3);
    EXPECT(seconds_of(&before.forward, CAUSE_LAUNCH) < 0.5e-3);
    training.cuda_graphs = true;
    BlockCost graphs = block_cost(m, 1, &training, 1, g);
    EXPECT(block_seconds(&graphs) < block_seconds(&cost) / 2);
    EXPECT_NEAR(host_seconds_per_step(&training, g), 20e-3, 1e-12);
    EXPECT_NEAR(host_seconds_per_step(&training, old), 0, 1e-12);
    arena_close(bench.arena);
}

TEST(heads_that_are_no_multiple_of_eight_lose_the_tensor_cores) {
    Bench bench = bench_open();
    TransformerShape shape = {.layers = 2, .hidden = 4096, .heads = 32, .causal = true};
    TransformerShape odd = {.layers = 2, .hidden = 4100, .heads = 41, .causal = true}; // 100 wide
    const Model *aligned = model_transformer(bench.arena, &shape, nowhere, bench.problems);
    const Model *misaligned = model_transformer(bench.arena, &odd, nowhere, bench.problems);
    TrainingSpec a = megatron(aligned), b = megatron(misaligned);
    BlockCost fast = block_cost(aligned, 1, &a, 4, bench_gpu(&bench, "A100")),
              slow = block_cost(misaligned, 1, &b, 4, bench_gpu(&bench, "A100"));
    EXPECT(seconds_of(&slow.forward, CAUSE_ATTENTION) > 1.8 * seconds_of(&fast.forward, CAUSE_ATTENTION));
    arena_close(bench.arena);
}

TEST(flash_attention_neither_reads_nor_keeps_the_scores) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "gpt3-2.7b");
    TrainingSpec training = megatron(m);
    training.seq_len = 2048;
    BlockCost plain = block_cost(m, 1, &training, 2, bench_gpu(&bench, "A100"));
    training.attention = ATTENTION_FLASH;
    BlockCost flash = block_cost(m, 1, &training, 2, bench_gpu(&bench, "A100"));
    EXPECT(block_seconds(&flash) < block_seconds(&plain));
    EXPECT_NEAR(plain.activation_bytes - flash.activation_bytes, 5.0 * 32 * 2048 * 2048 * 2, 1e-12);
    arena_close(bench.arena);
}

TEST(a_query_pays_for_a_tile_of_keys_more_than_it_meets) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "llama-3-8b");
    static const struct {
        const char *gpu;
        double more;
    } cases[] = {{"H100", 128}, {"B200", 512}};
    for (int i = 0; i < 2; i++) {
        const Gpu *g = bench_gpu(&bench, cases[i].gpu);
        TrainingSpec training = megatron(m);
        training.precision = BF16;
        training.attention = ATTENTION_FLASH;
        training.seq_len = 4096;
        BlockCost brief = block_cost(m, 1, &training, 16, g);
        training.seq_len = 65536;
        BlockCost lengthy = block_cost(m, 1, &training, 1, g); // as many tokens, sixteen times the keys
        double expected = 16 * (1 + cases[i].more / 32768) / (1 + cases[i].more / 2048);
        EXPECT_NEAR(seconds_of(&lengthy.forward, CAUSE_ATTENTION) / seconds_of(&brief.forward, CAUSE_ATTENTION),
                    expected, 0.01);
    }
    arena_close(bench.arena);
}

TEST(products_through_plain_cublas_are_slower_on_hopper_alone) {
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "llama-3-8b");
    static const char *const gpus[] = {"H100", "A100", "B200"};
    for (int i = 0; i < 3; i++) {
        TrainingSpec training = megatron(m);
        training.precision = BF16;
        BlockCost engine = block_cost(m, 1, &training, 4, bench_gpu(&bench, gpus[i]));
        training.framework = FRAMEWORK_FUSED;
        BlockCost plain = block_cost(m, 1, &training, 4, bench_gpu(&bench, gpus[i]));
        EXPECT_NEAR(seconds_of(&plain.forward, CAUSE_GEMM) / seconds_of(&engine.forward, CAUSE_GEMM),
                    i == 0 ? 1 / 0.88 : 1, 1e-9);
        training.tuned_products = true; // XLA's autotuner finds the better kernels
        BlockCost tuned = block_cost(m, 1, &training, 4, bench_gpu(&bench, gpus[i]));
        EXPECT_NEAR(seconds_of(&tuned.forward, CAUSE_GEMM), seconds_of(&engine.forward, CAUSE_GEMM), 1e-9);
    }
    arena_close(bench.arena);
}

// Classifiers' images are all of one size: theirs are timed.
TEST(detectors_convolve_by_guessed_kernels_in_eager_software) {
    Bench bench = bench_open();
    static const char *const models[] = {"mask-rcnn-resnet-50", "resnet-50"};
    for (int i = 0; i < 2; i++) {
        TrainingSpec training = megatron(bench_model(&bench, models[i]));
        training.framework = FRAMEWORK_FUSED; // convolves as eager software does
        BlockCost timed = block_cost(training.model, 0, &training, 2, bench_gpu(&bench, "V100"));
        training.framework = FRAMEWORK_EAGER;
        BlockCost guessed = block_cost(training.model, 0, &training, 2, bench_gpu(&bench, "V100"));
        double ratio = seconds_of(&guessed.forward, CAUSE_GEMM) / seconds_of(&timed.forward, CAUSE_GEMM);
        EXPECT(ratio <= 1 / cost_constant(CONV_SHARE_GUESSED) + 1e-9);
        EXPECT(i == 0 ? ratio > 1.02 : fabs(ratio - 1) < 1e-9);
    }
    arena_close(bench.arena);
}

// Every model, GPU, precision, layout, recomputation: finite, positive, and within the room of a list. Frameworks take
// turns, so that each meets each of the others' values, though not each combination.
LONG_TEST(2, all_small_cases_cost_something_finite) {
    Bench bench = bench_open();
    static const char *const gpus[] = {"K80", "P100", "V100", "A100", "H100", "B200", "MI250"};
    static const Precision precisions[] = {FP32, TF32, FP16, BF16, FP8};
    int model_count = 0, cases = 0;
    const char *const *names = model_names(&model_count);
    for (int i = 0; i < model_count; i++) {
        const Model *m = bench_model(&bench, names[i]);
        for (int variant = 0; variant < 7 * 5; variant++) {
            const Gpu *g = bench_gpu(&bench, gpus[variant % 7]);
            TrainingSpec training = megatron(m);
            training.precision = precisions[variant / 7];
            if (!g || !gpu_supports(g, training.precision)) continue;
            for (int bits = 0; bits < 24; bits++) {
                bool splits = counts_tokens(m) && m->heads % 4 == 0 && bits & 1;
                training.layout.tp = splits ? 4 : 1;
                training.layout.sequence_parallel = bits & 2;
                training.attention = bits & 4 ? ATTENTION_FLASH : ATTENTION_PLAIN;
                training.recompute = (Recompute)(bits / 8);
                training.framework = (Framework)((bits + variant + i) % FRAMEWORK_COUNT);
                for (int block = 0; block<m->block_count; block += m->block_count> 2 ? (m->block_count - 1) / 2 : 1) {
                    BlockCost cost = block_cost(m, block, &training, 1, g);
                    double seconds = block_seconds(&cost);
                    cases++;
                    if (!(seconds > 0 && seconds < 1e4 && cost.activation_bytes >= 0 && cost.working_bytes >= 0 &&
                          cost.parameters > 0))
                        test_fail(__FILE__, __LINE__, "%s block %d on %s: %g s", names[i], block, g->name, seconds);
                }
            }
        }
    }
    EXPECT_INT(problem_count(bench.problems), 0);
    EXPECT(cases > 100000);
    arena_close(bench.arena);
}

// ---- Against measurements. Tolerances are what the model is good for, not what these rows would allow.

// Compute from the cost, all-reduces at the 235 GB/s bus bandwidth that eight A100 on NVSwitch reach.
static double step_of_one_node(const Bench *bench, const char *name, const TrainingSpec *training, double micro_batch) {
    const Model *m = bench_model(bench, name);
    const Gpu *g = bench_gpu(bench, "A100");
    double seconds = 0, parameters = 0, n = training->layout.tp;
    for (int block = 0; block < m->block_count; block++) {
        BlockCost cost = block_cost(m, block, training, micro_batch, g);
        const CostList *lists[] = {&cost.forward, &cost.backward};
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < lists[i]->count; j++) {
                const CostItem *item = &lists[i]->items[j];
                double passes = item->collective == COLLECTIVE_ALL_REDUCE ? 2 : 1;
                seconds += item->seconds + (item->bytes > 0 ? passes * (n - 1) / n * item->bytes / 235e9 + 25e-6 : 0);
            }
        }
        parameters += cost.parameters;
    }
    return seconds + optimizer_seconds(training, parameters, g);
}

TEST(gpt_22b_on_eight_a100_takes_what_korthikanti_measured) {
    Bench bench = bench_open();
    TrainingSpec training = megatron(bench_model(&bench, "megatron-22b"));
    training.seq_len = 2048;
    training.layout.tp = 8;
    training.recompute = RECOMPUTE_FULL;
    EXPECT_NEAR(step_of_one_node(&bench, "megatron-22b", &training, 4), 1.42, 0.12);
    training.recompute = RECOMPUTE_SELECTIVE;
    training.layout.sequence_parallel = true;
    EXPECT_NEAR(step_of_one_node(&bench, "megatron-22b", &training, 4), 1.10, 0.12);
    arena_close(bench.arena);
}

TEST(resnet_50_runs_at_published_speeds) {
    static const struct {
        const char *gpu;
        Precision precision;
        Framework framework;
        double batch, images_per_second;
    } measured[] = {
        {"V100-SXM2-16GB", FP32, FRAMEWORK_TUNED, 128, 395},  {"V100-SXM2-16GB", FP16, FRAMEWORK_TUNED, 256, 1430},
        {"V100-SXM2-16GB", FP16, FRAMEWORK_GRAPH, 224, 1199}, {"V100-SXM2-16GB", FP16, FRAMEWORK_EAGER, 256, 803},
        {"A100-SXM4-80GB", FP16, FRAMEWORK_TUNED, 408, 3500}, {"H100-SXM5-80GB", FP16, FRAMEWORK_TUNED, 408, 7000},
        {"A100-PCIE-40GB", FP16, FRAMEWORK_EAGER, 720, 1396},
    };
    Bench bench = bench_open();
    const Model *m = bench_model(&bench, "resnet-50");
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const Gpu *g = bench_gpu(&bench, measured[i].gpu);
        TrainingSpec training = megatron(m);
        training.precision = measured[i].precision;
        training.mixed_precision = measured[i].precision == FP16;
        training.framework = measured[i].framework;
        training.optimizer = OPTIMIZER_SGD;
        double seconds =
            step_seconds_of(m, &training, measured[i].batch, g) + optimizer_seconds(&training, model_parameters(m), g);
        EXPECT_NEAR(measured[i].batch / seconds, measured[i].images_per_second, 0.2);
    }
    arena_close(bench.arena);
}
