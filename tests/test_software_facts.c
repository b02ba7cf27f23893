// What facts of software change in a block's cost: frozen weights, 16-bit models, fused losses, waiting for traffic,
// fused dispatch of tokens. Each against a formula or a law.
#include <math.h>

#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_constants.h"
#include "models/workload/step/simulate.h"
#include "tests/test.h"

typedef struct Bench {
    Arena *arena;
    const Catalogue *catalogue;
    Problems *problems;
    const Gpu *gpu;
    TrainingSpec training;
} Bench;

static Bench bench_open(const char *model) {
    Bench bench = {.arena = arena_open()};
    bench.catalogue = catalogue_builtin(bench.arena);
    bench.problems = problems_create(bench.arena);
    bench.gpu = find_gpu(bench.arena, bench.catalogue, "A100", (Where){0}, bench.problems);
    bench.training = (TrainingSpec){.model = find_model(bench.arena, model, (Where){0}, bench.problems),
                                    .layout = {.tp = 1, .pp = 1, .vpp = 1},
                                    .seq_len = 1024,
                                    .precision = BF16,
                                    .mixed_precision = true,
                                    .framework = FRAMEWORK_MEGATRON,
                                    .attention = ATTENTION_FLASH,
                                    .optimizer = OPTIMIZER_ADAM,
                                    .bucket_bytes = 25 << 20,
                                    .overlap_grad_reduce = true};
    return bench;
}

static BlockCost cost_of(const Bench *bench, int block) {
    return block_cost(bench->training.model, block, &bench->training, 2, bench->gpu);
}

static double seconds_of(const CostList *list, Cause cause) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].cause == cause) seconds += list->items[i].seconds;
    return seconds;
}

static double list_memory(const CostList *list) { return seconds_of(list, CAUSE_MEMORY); }

static double bytes_of(const CostList *list, Cause cause, bool overlapped_only) {
    double bytes = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].cause == cause && (list->items[i].overlapped || !overlapped_only))
            bytes += list->items[i].bytes;
    return bytes;
}

static int head_of(const Bench *bench) { return bench->training.model->block_count - 1; }

// ---- Llama's norms.

// Forward, operator by operator: two norms and two sums 84 bytes of an element of the hidden state, queries and keys 20
// of an element of theirs; fused, 15 passes over the hidden state in 32 bits, of GPT's norms, sums and dropout.
TEST(norms_and_rotary_embedding_of_elementary_operators_move_more_than_fused_ones) {
    Bench bench = bench_open("llama-2-7b");
    bench.training.framework = FRAMEWORK_EAGER;
    double elements = 2 * bench.training.seq_len * bench.training.model->hidden;
    BlockCost apart = cost_of(&bench, 1);
    bench.training.fused_norms = true;
    BlockCost fused = cost_of(&bench, 1);
    double bytes = 1.25 * elements * (84 + 2 * 20 - 15 * 4);
    EXPECT_NEAR(list_memory(&apart.forward) - list_memory(&fused.forward), cold_memory_seconds(bench.gpu, bytes),
                0.1); // the L2 keeps some
    EXPECT(list_memory(&apart.backward) > list_memory(&fused.backward));
    EXPECT(apart.kernels_forward > fused.kernels_forward);
    bench.training.framework = FRAMEWORK_MEGATRON; // its are fused in any case
    BlockCost said = cost_of(&bench, 1);
    bench.training.fused_norms = false;
    BlockCost unsaid = cost_of(&bench, 1);
    EXPECT_NEAR(list_memory(&unsaid.forward), list_memory(&said.forward), 0);
    arena_close(bench.arena);
}

// ---- Generations of flash attention.

static double attention_on(Bench *bench, const char *gpu, Attention attention) {
    bench->gpu = find_gpu(bench->arena, bench->catalogue, gpu, (Where){0}, bench->problems);
    bench->training.attention = attention;
    BlockCost cost = cost_of(bench, 1);
    return seconds_of(&cost.forward, CAUSE_ATTENTION);
}

TEST(each_generation_of_flash_attention_is_faster_on_its_own_gpu_alone) {
    Bench bench = bench_open("llama-2-7b");
    bench.training.seq_len = 16384;
    EXPECT(attention_on(&bench, "H100", ATTENTION_FLASH_3) < attention_on(&bench, "H100", ATTENTION_FLASH_2));
    EXPECT(attention_on(&bench, "B200", ATTENTION_FLASH_4) < attention_on(&bench, "B200", ATTENTION_FLASH_3));
    static const char *const gpus[] = {"A100", "B200"};
    for (int i = 0; i < 2; i++)
        EXPECT_NEAR(attention_on(&bench, gpus[i], ATTENTION_FLASH_3), attention_on(&bench, gpus[i], ATTENTION_FLASH),
                    0);
    EXPECT_NEAR(attention_on(&bench, "H100", ATTENTION_FLASH_4), attention_on(&bench, "H100", ATTENTION_FLASH), 0);
    arena_close(bench.arena);
}

// ---- 8 bits.

static double layer_weights(const Model *model) {
    return 4.0 * model->hidden * model->hidden + 3.0 * model->hidden * model->ffn;
}

// Of Llama's layer: queries, keys and values cast one input, gate and up another.
TEST(recipes_of_8_bits_move_the_bytes_of_their_casts) {
    static const double activation[] = {4, 6, 8, 6 + 8.0 / 128, 6 + 2.0 / 32}, weight[] = {0, 5, 7, 3, 3 + 1.0 / 32};
    Bench bench = bench_open("llama-2-7b");
    const Model *model = bench.training.model;
    bench.gpu = find_gpu(bench.arena, bench.catalogue, "H100", (Where){0}, bench.problems);
    bench.training.framework = FRAMEWORK_GRAPH; // torchao's casts
    bench.training.seq_len = 8192;              // the L2 keeps little of so much
    double inputs = 2 * bench.training.seq_len * (3.0 * model->hidden + model->ffn), none = 0, gemm = 0;
    for (int recipe = -1; recipe < FP8_RECIPE_COUNT; recipe++) {
        bench.training.precision = recipe < 0 ? BF16 : FP8;
        bench.training.fp8_recipe = recipe < 0 ? FP8_DELAYED : (Fp8Recipe)recipe;
        BlockCost cost = cost_of(&bench, 1);
        if (recipe < 0) none = list_memory(&cost.forward);
        if (recipe < 0) continue;
        double bytes = activation[recipe] * inputs + weight[recipe] * layer_weights(model);
        EXPECT_NEAR(list_memory(&cost.forward) - none, memory_seconds(bench.gpu, bytes), 0.04);
        double products = seconds_of(&cost.forward, CAUSE_GEMM);
        if (recipe == FP8_DELAYED) gemm = products;
        double rate = recipe == FP8_ROWWISE     ? cost_constant(FP8_ROWWISE_SHARE)
                      : recipe >= FP8_BLOCKWISE ? cost_constant(FP8_BLOCK_SHARE)
                                                : 1;
        EXPECT_NEAR(products, gemm / rate, 0.03); // outputs are written no slower
    }
    arena_close(bench.arena);
}

// A scale for each block slows the arithmetic, most where threads of one warp feed matrix units and scale their sums;
// weights are read as fast as ever.
TEST(blocks_with_scales_slow_the_arithmetic_of_graphics_cards_most) {
    Bench bench = bench_open("gpt3-125m");
    static const char *const names[] = {"H100", "L40S"};
    static const CostConstantId shares[] = {FP8_BLOCK_SHARE, FP8_BLOCK_SHARE_OF_CARDS};
    for (int i = 0; i < 2; i++) {
        Gpu gpu = *find_gpu(bench.arena, bench.catalogue, names[i], (Where){0}, bench.problems);
        gpu.gemm_heating = gpu.gemm_ramp = 0;
        Gemm large = {.precision = FP8, .batch = 1, .m = 16384, .n = 8192, .k = 32768}, thin = large;
        thin.m = 8;
        double plain = gemm_seconds(&gpu, &large), read = gemm_seconds(&gpu, &thin);
        large.rate = thin.rate = fp8_recipe_rate(&gpu, FP8_BLOCKWISE);
        EXPECT_NEAR(large.rate, cost_constant(shares[i]), 1e-12);
        EXPECT_NEAR(fp8_recipe_rate(&gpu, FP8_ROWWISE), i == 0 ? cost_constant(FP8_ROWWISE_SHARE) : 1, 1e-12);
        EXPECT_NEAR(gemm_seconds(&gpu, &large), plain / large.rate, 0.03);
        EXPECT_NEAR(gemm_seconds(&gpu, &thin), read, 0.03);
    }
    arena_close(bench.arena);
}

// Small products lose more by their casts than they gain (the crossover is at some thousands of tokens and columns).
TEST(small_products_in_8_bits_are_slower_than_in_16) {
    Bench bench = bench_open("gpt3-125m");
    bench.gpu = find_gpu(bench.arena, bench.catalogue, "H100", (Where){0}, bench.problems);
    bench.training.framework = FRAMEWORK_GRAPH;
    double seconds[2];
    for (int in_8 = 0; in_8 < 2; in_8++) {
        bench.training.precision = in_8 ? FP8 : BF16;
        bench.training.fp8_recipe = FP8_ROWWISE;
        BlockCost cost = cost_of(&bench, 1);
        seconds[in_8] = seconds_of(&cost.forward, CAUSE_GEMM) + list_memory(&cost.forward);
    }
    EXPECT(seconds[1] > seconds[0]);
    arena_close(bench.arena);
}

// ---- The host.

static double list_seconds(const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].seconds;
    return seconds;
}

// A few tokens leave the GPU next to nothing to do: a layer takes as long as the host issues its kernels.
TEST(a_layer_of_few_tokens_takes_what_its_host_does) {
    Bench bench = bench_open("llama-2-7b");
    bench.training.framework = FRAMEWORK_EAGER;
    bench.training.half_weights = true;
    bench.training.seq_len = 8;
    for (double each = 50e-6; each < 1e-3; each *= 2) {
        bench.training.cpu_seconds_per_kernel = each;
        BlockCost cost = cost_of(&bench, 1);
        double host = each * cost.kernels_forward, slowness = bench.gpu->issue_seconds / 2.2e-6;
        EXPECT_NEAR(list_seconds(&cost.forward), slowness * host, 0.02);
    }
    bench.training.cuda_graphs = true; // the host is not asked
    BlockCost replayed = cost_of(&bench, 1);
    EXPECT(list_seconds(&replayed.forward) < 1e-3);
    arena_close(bench.arena);
}

static double host_of_sharding(Bench *bench, bool backward) {
    bench->training.layout.zero = 3;
    BlockCost sharded = cost_of(bench, 1);
    bench->training.layout.zero = 0;
    BlockCost whole = cost_of(bench, 1);
    if (backward) return list_seconds(&sharded.backward) - list_seconds(&whole.backward);
    return list_seconds(&sharded.forward) - list_seconds(&whole.forward);
}

// Of FSDP's units, a layer is one and each adapter two more; hooks stand before and after each of thirteen modules, and
// of three of each adapter.
TEST(sharded_weights_cost_the_host_their_units_or_hooks) {
    Bench bench = bench_open("llama-2-7b");
    bench.training.framework = FRAMEWORK_EAGER;
    bench.training.half_weights = true;
    bench.training.seq_len = 8;
    bench.training.cpu_seconds_per_kernel = 50e-6;
    for (int adapted = 0; adapted < 2; adapted++) {
        bench.training.lora_rank = adapted ? 16 : 0;
        bench.training.lora_everywhere = adapted;
        for (int hooked = 0; hooked < 2; hooked++) {
            bench.training.module_hooks = hooked;
            double hooks = 2 * (13 + 3 * 7 * adapted) * cost_constant(HOOK_SECONDS);
            double units = (1 + 2 * 7 * adapted) * cost_constant(FSDP_UNIT_SECONDS);
            EXPECT_NEAR(host_of_sharding(&bench, false), hooked ? hooks : units, 0.05);
            if (adapted) EXPECT_NEAR(host_of_sharding(&bench, true), hooked ? hooks : units, 0.05);
        }
    }
    arena_close(bench.arena);
}

// Each of 128 experts is asked for: a step of few tokens grows by their kernels and by the answers waited for.
TEST(a_loop_over_experts_costs_the_host_each_of_them) {
    Bench bench = bench_open("qwen3-30b-a3b");
    bench.training.framework = FRAMEWORK_EAGER;
    bench.training.half_weights = true;
    bench.training.seq_len = 8;
    bench.training.cpu_seconds_per_kernel = 50e-6;
    BlockCost grouped = cost_of(&bench, 1);
    bench.training.expert_loop = true;
    BlockCost looped = cost_of(&bench, 1);
    EXPECT_INT(looped.kernels_forward - grouped.kernels_forward, 9 * 128);
    EXPECT_INT(looped.kernels_backward - grouped.kernels_backward, 14 * 128);
    double more = list_seconds(&looped.forward) - list_seconds(&grouped.forward), issued = 9 * 128 * 50e-6;
    EXPECT(more > 0.95 * issued && more < issued + 128 * cost_constant(ANSWER_SECONDS) + 1e-6);
    arena_close(bench.arena);
}

// ---- LoRA.

TEST(frozen_weights_have_no_gradients_of_their_own) {
    Bench bench = bench_open("gpt3-6.7b");
    BlockCost all = cost_of(&bench, 1);
    bench.training.lora_rank = 16;
    BlockCost frozen = cost_of(&bench, 1);
    double forward = seconds_of(&all.forward, CAUSE_GEMM);
    EXPECT_NEAR(seconds_of(&frozen.forward, CAUSE_GEMM), forward, 1e-12);
    // Of backward's two products of each weight one is left, as long as forward's but for its shape.
    EXPECT_NEAR(seconds_of(&frozen.backward, CAUSE_GEMM), forward, 0.03);
    EXPECT_NEAR(seconds_of(&all.backward, CAUSE_GEMM), 2 * forward, 0.03);
    EXPECT(seconds_of(&frozen.forward, CAUSE_MEMORY) > seconds_of(&all.forward, CAUSE_MEMORY)); // adapters
    arena_close(bench.arena);
}

// Rank r: r (h + 3 h) beside the query, key and value product, r (h + h) beside the output product, in each layer.
TEST(adapters_are_the_trained_share_of_parameters_traffic_and_memory) {
    Bench bench = bench_open("gpt3-6.7b");
    const Model *model = bench.training.model;
    double whole = gradient_bytes(&bench.training);
    Memory all = memory_estimate(model, &bench.training, 0, head_of(&bench), 1, 1, 1, bench.gpu);
    EXPECT_NEAR(trained_share(&bench.training), 1, 0);
    for (int rank = 8; rank <= 64; rank *= 2) {
        bench.training.lora_rank = rank;
        double share = 6.0 * rank * model->hidden * model->layers / model_parameters(model);
        EXPECT_NEAR(trained_share(&bench.training), share, 1e-12);
        EXPECT_NEAR(gradient_bytes(&bench.training), whole * share, 1e-12);
        Memory frozen = memory_estimate(model, &bench.training, 0, head_of(&bench), 1, 1, 1, bench.gpu);
        EXPECT_NEAR(frozen.bytes[MEMORY_WEIGHTS], all.bytes[MEMORY_WEIGHTS], 0);
        EXPECT_NEAR(frozen.bytes[MEMORY_GRADIENTS], share * all.bytes[MEMORY_GRADIENTS], 1e-12);
        EXPECT_NEAR(frozen.bytes[MEMORY_OPTIMIZER], share * all.bytes[MEMORY_OPTIMIZER], 1e-12);
    }
    arena_close(bench.arena);
}

// Beside every product: r (h + h) for queries, keys, values and output, r (h + 4 h) twice in the MLP. Passes go over
// what goes in and out: 3 h, 3 h; h, h; h, 4 h; 4 h, h of each token, where one adapter of each attention product has
// h.
TEST(adapters_beside_every_product_are_more_parameters_and_more_passes) {
    Bench bench = bench_open("gpt3-6.7b");
    const Model *model = bench.training.model;
    bench.training.lora_rank = 16;
    double without = seconds_of(&(CostList[]){cost_of(&bench, 1).forward}[0], CAUSE_MEMORY);
    double share = trained_share(&bench.training);
    bench.training.lora_everywhere = true;
    EXPECT_NEAR(trained_share(&bench.training) / share, 18.0 / 6, 1e-12);
    double with = seconds_of(&(CostList[]){cost_of(&bench, 1).forward}[0], CAUSE_MEMORY);
    double passes = 7.0 / 2 * ((3 + 3 + 1 + 1 + 1 + 4 + 4 + 1) - (1 + 1 + 1 + 1));
    double bytes = passes * 2 * 2 * bench.training.seq_len * model->hidden;   // two samples, two bytes
    EXPECT_NEAR(with - without, cold_memory_seconds(bench.gpu, bytes), 0.06); // the L2 keeps a little
    arena_close(bench.arena);
}

// Each of a layer's products reads 4.13 bits a weight and writes 16, once forward and once backward.
TEST(four_bit_weights_are_dequantised_for_each_product) {
    Bench bench = bench_open("llama-2-7b");
    const Model *model = bench.training.model;
    bench.training.lora_rank = 16;
    BlockCost plain = cost_of(&bench, 1), head = cost_of(&bench, head_of(&bench));
    bench.training.nf4_weights = true;
    BlockCost spread = cost_of(&bench, 1);
    double stored = 0.5 + 1.0 / 64 + 4.0 / (64 * 256), seconds = 0;
    const double widths[] = {3.0 * model->hidden, model->hidden, 2.0 * model->ffn, model->ffn}; // beside the hidden one
    for (int i = 0; i < 4; i++) seconds += memory_seconds(bench.gpu, (stored + 2) * widths[i] * model->hidden);
    EXPECT_NEAR(list_memory(&spread.forward) - list_memory(&plain.forward), seconds, 1e-6);
    EXPECT_NEAR(list_memory(&spread.backward) - list_memory(&plain.backward), seconds, 1e-6);
    EXPECT_NEAR(seconds_of(&spread.forward, CAUSE_GEMM), seconds_of(&plain.forward, CAUSE_GEMM), 0);
    BlockCost whole = cost_of(&bench, head_of(&bench)); // the head is not quantised
    EXPECT_NEAR(list_memory(&whole.forward), list_memory(&head.forward), 0);
    arena_close(bench.arena);
}

// Passes of elementary operators over each weight, forward alone: backward has what they gave.
TEST(gptq_weights_are_unpacked_by_elementary_operators_forward) {
    Bench bench = bench_open("llama-2-7b");
    const Model *model = bench.training.model;
    bench.training.lora_rank = 16;
    BlockCost plain = cost_of(&bench, 1);
    bench.training.gptq_weights = true;
    BlockCost packed = cost_of(&bench, 1);
    double weights = 4.0 * model->hidden * model->hidden + 3.0 * model->hidden * model->ffn;
    double seconds = memory_seconds(bench.gpu, cost_constant(GPTQ_UNPACK_BYTES) * weights);
    EXPECT_NEAR(list_memory(&packed.forward) - list_memory(&plain.forward), seconds, 0.01);
    EXPECT_NEAR(list_memory(&packed.backward), list_memory(&plain.backward), 0);
    EXPECT_INT(packed.kernels_forward - plain.kernels_forward, 4 * 8);
    EXPECT_NEAR(stored_weight_bytes(&bench.training, 1), 0.5 + 20.0 / 1024, 1e-3);
    EXPECT_NEAR(stored_weight_bytes(&bench.training, 0), 2, 0);
    arena_close(bench.arena);
}

TEST(four_bit_weights_take_a_quarter_of_the_memory_of_layers_and_of_their_traffic) {
    Bench bench = bench_open("llama-2-7b");
    const Model *model = bench.training.model;
    bench.training.lora_rank = 16;
    Memory wide = memory_estimate(model, &bench.training, 1, 4, 1, 1, 1, bench.gpu);
    bench.training.nf4_weights = true;
    Memory narrow = memory_estimate(model, &bench.training, 1, 4, 1, 1, 1, bench.gpu);
    double share = stored_weight_bytes(&bench.training, 1) / 2;
    EXPECT_NEAR(share, 0.2579, 1e-3);
    EXPECT_NEAR(narrow.bytes[MEMORY_WEIGHTS], share * wide.bytes[MEMORY_WEIGHTS], 1e-12);
    EXPECT_NEAR(stored_weight_bytes(&bench.training, 0), 2, 0);
    EXPECT_NEAR(stored_weight_bytes(&bench.training, head_of(&bench)), 2, 0);
    bench.training.layout.zero = 3; // eight ranks share the layers, and gather two at a time
    Memory sharded = memory_estimate(model, &bench.training, 1, 4, 1, 1, 8, bench.gpu);
    double layer = block_parameters(model, 1), gathered = 2 * layer * 2 * share;
    double gradients = layer * gradient_bytes(&bench.training);
    EXPECT_NEAR(sharded.bytes[MEMORY_WEIGHTS], narrow.bytes[MEMORY_WEIGHTS] / 8, 1e-12);
    EXPECT_NEAR(sharded.bytes[MEMORY_BUFFERS], gathered + gradients + (1 << 28), 1e-12);
    arena_close(bench.arena);
}

// Per token of Llama 2 7B, adapters beside every product: the norms' inputs, queries, keys, values and their sum, the
// MLP's gate, up and product, less the inputs that only gradients of weights need (2 h + ffn), and of what goes into
// each of the seven products a copy and a byte of its dropout's mask.
TEST(adapters_keep_their_inputs_and_frozen_products_none) {
    Bench bench = bench_open("llama-2-7b");
    const Model *model = bench.training.model;
    bench.training.lora_rank = 16;
    bench.training.lora_everywhere = true;
    Memory memory = memory_estimate(model, &bench.training, 1, 1, 1, 1, 1, bench.gpu);
    double h = model->hidden, ffn = model->ffn;
    double kept = 2 * (4 * h + 4 * h + 3 * ffn) - 2 * (2 * h + ffn) + 3 * (6 * h + ffn);
    EXPECT_NEAR(memory.bytes[MEMORY_ACTIVATIONS], bench.training.seq_len * kept, 1e-12);
    arena_close(bench.arena);
}

TEST(frozen_weights_cost_no_flops_of_their_gradients) {
    Bench bench = bench_open("llama-2-7b");
    int seq_len = (int)bench.training.seq_len;
    double all = training_flops_per_sample(&bench.training);
    EXPECT_NEAR(all, model_flops_per_sample(bench.training.model, seq_len), 0);
    bench.training.lora_rank = 8;
    EXPECT_NEAR(training_flops_per_sample(&bench.training), all * 2 / 3, 1e-12);
    arena_close(bench.arena);
}

// ---- Precision of the model, and its loss.

TEST(a_model_cast_to_16_bits_reduces_16_bit_gradients_and_casts_nothing) {
    Bench bench = bench_open("gpt3-1.3b");
    bench.training.framework = FRAMEWORK_EAGER;
    double autocast = seconds_of(&(CostList[]){cost_of(&bench, 1).forward}[0], CAUSE_MEMORY);
    EXPECT_NEAR(gradient_bytes(&bench.training), 4, 0);
    bench.training.half_weights = true;
    BlockCost half = cost_of(&bench, 1);
    EXPECT_NEAR(gradient_bytes(&bench.training), 2, 0);
    EXPECT(seconds_of(&half.forward, CAUSE_MEMORY) < 0.8 * autocast);
    arena_close(bench.arena);
}

// Megatron's loss moves 38 and 14 bytes per logit, a fused one 8 and 10.
// Gradients of the loss before and after its softmax, 4 bytes of each logit, 2 where one kernel writes them over logits
// of 16 bits; the head is what needs most at once.
TEST(an_eager_loss_holds_one_more_gradient_of_every_logit) {
    Bench bench = bench_open("gpt3-1.3b");
    const Model *model = bench.training.model;
    double working[2];
    bench.training.framework = FRAMEWORK_EAGER;
    for (int fused = 0; fused < 2; fused++) {
        bench.training.fused_loss = fused;
        Memory memory = memory_estimate(model, &bench.training, 0, head_of(&bench), 2, 1, 1, bench.gpu);
        working[fused] = memory.bytes[MEMORY_WORKING];
    }
    double logits = 2 * bench.training.seq_len * model->vocab;
    EXPECT_NEAR(working[0], 8 * logits, 1e-12);
    EXPECT_NEAR(working[1], 2 * logits, 1e-12);
    arena_close(bench.arena);
}

TEST(a_fused_loss_saves_its_bytes_of_every_logit) {
    Bench bench = bench_open("gpt3-1.3b");
    double logits = 2.0 * 1024 * bench.training.model->vocab;
    BlockCost apart = cost_of(&bench, head_of(&bench));
    bench.training.fused_loss = true;
    BlockCost fused = cost_of(&bench, head_of(&bench));
    double forward = memory_seconds(bench.gpu, 38 * logits) - memory_seconds(bench.gpu, 8 * logits);
    double backward = memory_seconds(bench.gpu, 14 * logits) - memory_seconds(bench.gpu, 10 * logits);
    EXPECT_NEAR(seconds_of(&apart.forward, CAUSE_MEMORY) - seconds_of(&fused.forward, CAUSE_MEMORY), forward, 0.01);
    EXPECT_NEAR(seconds_of(&apart.backward, CAUSE_MEMORY) - seconds_of(&fused.backward, CAUSE_MEMORY), backward, 0.01);
    arena_close(bench.arena);
}

// ---- Packed samples.

// One sequence of sixteen samples does what sixteen sequences do.
TEST(samples_in_a_pack_see_only_themselves) {
    Bench bench = bench_open("gpt3-1.3b");
    bench.training.attention = ATTENTION_FLASH_2;
    bench.training.seq_len = 256;
    BlockCost apart = block_cost(bench.training.model, 1, &bench.training, 16, bench.gpu);
    double flops = training_flops_per_sample(&bench.training);
    bench.training.seq_len = 4096;
    BlockCost whole = block_cost(bench.training.model, 1, &bench.training, 1, bench.gpu);
    bench.training.pack_length = 256;
    BlockCost packed = block_cost(bench.training.model, 1, &bench.training, 1, bench.gpu);
    EXPECT_NEAR(seconds_of(&packed.forward, CAUSE_ATTENTION), seconds_of(&apart.forward, CAUSE_ATTENTION), 1e-9);
    EXPECT_NEAR(seconds_of(&packed.backward, CAUSE_ATTENTION), seconds_of(&apart.backward, CAUSE_ATTENTION), 1e-9);
    EXPECT(seconds_of(&whole.forward, CAUSE_ATTENTION) > 3 * seconds_of(&packed.forward, CAUSE_ATTENTION));
    EXPECT_NEAR(training_flops_per_sample(&bench.training), 16 * flops, 1e-9);
    bench.training.attention = ATTENTION_PLAIN; // masks what it has made
    EXPECT_SAME(attended_share(&bench.training), 1);
    arena_close(bench.arena);
}

// ---- Tensor-parallel traffic.

// Slices: two gathers and two sums a pass; backward gathers inputs again unless everything waits as before 2022.
TEST(traffic_beside_products_is_all_there_whatever_waits_for_it) {
    Bench bench = bench_open("gpt3-6.7b");
    double tensor = 2.0 * 1024 * 4096 * 2;
    bench.training.layout.tp = 4;
    for (int slices = 0; slices < 2; slices++) {
        bench.training.layout.sequence_parallel = slices;
        bench.training.tp_waits = true;
        BlockCost waits = cost_of(&bench, 1);
        EXPECT_NEAR(bytes_of(&waits.backward, CAUSE_TP, true), 0, 0);
        EXPECT_NEAR(bytes_of(&waits.backward, CAUSE_TP, false), (slices ? 4 : 2) * tensor, 0);
        bench.training.tp_waits = false;
        BlockCost overlapped = cost_of(&bench, 1);
        EXPECT_NEAR(bytes_of(&overlapped.backward, CAUSE_TP, true), (slices ? 4 : 2) * tensor, 0);
        EXPECT_NEAR(bytes_of(&overlapped.backward, CAUSE_TP, false), (slices ? 6 : 2) * tensor, 0);
        EXPECT_NEAR(bytes_of(&overlapped.forward, CAUSE_TP, true), 0, 0);
        bench.training.tp_overlap = true; // of sums the last of four pieces is waited for
        BlockCost pieces = cost_of(&bench, 1);
        EXPECT_NEAR(bytes_of(&pieces.forward, CAUSE_TP, true), slices ? (2 + 2 * 0.75) * tensor : 0, 0);
        EXPECT_NEAR(bytes_of(&pieces.forward, CAUSE_TP, false), (slices ? 4 : 2) * tensor, 0);
        bench.training.tp_overlap = false;
    }
    arena_close(bench.arena);
}

// ---- Experts.

// k even choices over n ranks meet n (1 - (1 - 1/n)^k) different ones.
TEST(fused_dispatch_sends_a_token_once_to_each_rank) {
    Bench bench = bench_open("qwen3-30b-a3b");
    for (int ep = 2; ep <= 64; ep *= 2) {
        bench.training.layout.ep = ep;
        bench.training.fused_dispatch = false;
        BlockCost apart = cost_of(&bench, 1);
        bench.training.fused_dispatch = true;
        BlockCost fused = cost_of(&bench, 1);
        double copies = ep * (1 - pow(1 - 1.0 / ep, 8)) / 8;
        EXPECT_NEAR(bytes_of(&fused.forward, CAUSE_EP, false), copies * bytes_of(&apart.forward, CAUSE_EP, false),
                    1e-12);
        EXPECT(fused.kernels_forward < apart.kernels_forward);
        EXPECT(seconds_of(&fused.forward, CAUSE_MEMORY) < seconds_of(&apart.forward, CAUSE_MEMORY));
    }
    arena_close(bench.arena);
}

TEST(each_expert_of_a_rank_launches_its_products) {
    Bench bench = bench_open("qwen3-30b-a3b");
    bench.training.layout.ep = 8;
    BlockCost sixteen = cost_of(&bench, 1);
    bench.training.layout.ep = 32;
    BlockCost four = cost_of(&bench, 1);
    EXPECT_INT(sixteen.kernels_forward - four.kernels_forward, 2 * (16 - 4));
    EXPECT_INT(sixteen.kernels_backward - four.kernels_backward, 4 * (16 - 4));
    arena_close(bench.arena);
}

// Bytes of each of a token's 4 experts as cost_experts.c counts them, in place of a fused gate's 6 and 10; 2 and 5
// launches for each expert.
TEST(biases_of_experts_are_added_one_by_one_unless_dispatch_is_fused) {
    Bench bench = bench_open("gpt-oss-20b");
    Model plain = *bench.training.model;
    plain.experts.biases = false;
    BlockCost with = cost_of(&bench, 1);
    bench.training.fused_dispatch = true;
    double fused = seconds_of(&(CostList[]){cost_of(&bench, 1).forward}[0], CAUSE_MEMORY);
    bench.training.model = &plain;
    EXPECT_NEAR(seconds_of(&(CostList[]){cost_of(&bench, 1).forward}[0], CAUSE_MEMORY), fused, 0);
    bench.training.fused_dispatch = false;
    BlockCost without = cost_of(&bench, 1);
    double rows = 2 * bench.training.seq_len * plain.experts.per_token;
    double forward = rows * ((34 - 6) * plain.experts.ffn + 28 * plain.hidden);
    double backward = rows * ((72 - 10) * plain.experts.ffn + 40 * plain.hidden);
    EXPECT_NEAR(seconds_of(&with.forward, CAUSE_MEMORY) - seconds_of(&without.forward, CAUSE_MEMORY),
                cold_memory_seconds(bench.gpu, forward), 0.08); // the L2 keeps a little
    EXPECT_NEAR(seconds_of(&with.backward, CAUSE_MEMORY) - seconds_of(&without.backward, CAUSE_MEMORY),
                cold_memory_seconds(bench.gpu, backward), 0.08);
    EXPECT_INT(with.kernels_forward - without.kernels_forward, 2 * plain.experts.count);
    EXPECT_INT(with.kernels_backward - without.kernels_backward, 5 * plain.experts.count);
    arena_close(bench.arena);
}

// Parts of the tokens in turn: their share of the logits, and the gradient of what went into the head.
TEST(a_loss_in_parts_holds_the_logits_of_one) {
    Bench bench = bench_open("llama-3-8b");
    const Model *model = bench.training.model;
    bench.training.framework = FRAMEWORK_EAGER;
    bench.training.seq_len = 8192;
    double logits = 2.0 * 8192 * model->vocab, hidden = 2 * 2.0 * 8192 * model->hidden;
    double whole = memory_estimate(model, &bench.training, head_of(&bench), head_of(&bench), 2, 1, 1, bench.gpu).peak;
    bench.training.loss_chunks = 8;
    Memory parts = memory_estimate(model, &bench.training, head_of(&bench), head_of(&bench), 2, 1, 1, bench.gpu);
    EXPECT_NEAR(parts.bytes[MEMORY_WORKING], 12 * logits / 8 + hidden, 1e-12);
    EXPECT_NEAR(whole - parts.peak, 12 * logits - 12 * logits / 8 - hidden, 1e-9);
    arena_close(bench.arena);
}

TEST(gathered_logits_are_those_of_the_whole_vocabulary) {
    Bench bench = bench_open("llama-3-8b");
    const Model *model = bench.training.model;
    bench.training.framework = FRAMEWORK_EAGER;
    bench.training.layout.tp = 4;
    Memory split = memory_estimate(model, &bench.training, head_of(&bench), head_of(&bench), 2, 1, 1, bench.gpu);
    double gathered = 0;
    for (int on = 0; on < 2; on++) {
        bench.training.gathers_logits = on;
        BlockCost cost = cost_of(&bench, head_of(&bench));
        for (int i = 0; i < cost.forward.count; i++)
            if (cost.forward.items[i].collective == COLLECTIVE_ALL_GATHER) gathered += on * cost.forward.items[i].bytes;
    }
    Memory whole = memory_estimate(model, &bench.training, head_of(&bench), head_of(&bench), 2, 1, 1, bench.gpu);
    EXPECT_NEAR(whole.bytes[MEMORY_WORKING], 4 * split.bytes[MEMORY_WORKING], 1e-12);
    EXPECT(gathered > 0);
    arena_close(bench.arena);
}

// Two tables, each beside its original, with gradient, copy in 32 bits and Adam's two moments; one product more.
TEST(tables_trained_beside_adapters_are_copies) {
    Bench bench = bench_open("llama-2-7b");
    const Model *model = bench.training.model;
    bench.training.framework = FRAMEWORK_MEGATRON;
    bench.training.lora_rank = 16;
    double held[2], seconds[2], tables = 2.0 * model->vocab * model->hidden;
    for (int on = 0; on < 2; on++) {
        bench.training.lora_embeddings = on;
        Memory memory = memory_estimate(model, &bench.training, 0, head_of(&bench), 1, 1, 1, bench.gpu);
        held[on] = memory.bytes[MEMORY_WEIGHTS] + memory.bytes[MEMORY_GRADIENTS] + memory.bytes[MEMORY_OPTIMIZER];
        BlockCost cost = cost_of(&bench, head_of(&bench));
        seconds[on] = seconds_of(&cost.backward, CAUSE_GEMM);
    }
    EXPECT_NEAR(held[1] - held[0], tables * (2 + 4 + 12) + 2 * model->hidden, 1e-6);
    EXPECT_NEAR(seconds[1], 2 * seconds[0], 0.2);
    arena_close(bench.arena);
}
