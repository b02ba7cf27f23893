// What profiles of eager PyTorch on an H100 say of its steps: kernels that are issued, optimizers, attention in 32 bits
// and by FlashAttention 2, products of odd rows, the checkpoint's host time. Each is turned on alone.
#include <math.h>

#include "models/hardware/hardware_constants.h"
#include "models/hardware/kernel.h"
#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_constants.h"
#include "models/workload/job/software.h"
#include "tests/jobs.h"
#include "tests/test.h"

static TrainingSpec eager(const Model *model, Precision precision) {
    return (TrainingSpec){.model = model,
                          .layout = {.tp = 1, .pp = 1, .vpp = 1},
                          .seq_len = 2048,
                          .precision = precision,
                          .mixed_precision = precision == BF16,
                          .framework = FRAMEWORK_EAGER,
                          .attention = ATTENTION_FLASH_2,
                          .optimizer = OPTIMIZER_ADAM};
}

static double cause_seconds(const CostList *list, Cause cause) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].cause == cause ? list->items[i].seconds : 0;
    return seconds;
}

// Of a layer, both ways.
static double layer_seconds(const TrainingSpec *training, double samples, const Gpu *gpu, Cause cause) {
    BlockCost cost = block_cost(training->model, 1, training, samples, gpu);
    return cause_seconds(&cost.forward, cause) + cause_seconds(&cost.backward, cause);
}

static double all_seconds(const TrainingSpec *training, double samples, const Gpu *gpu) {
    double seconds = 0;
    for (int block = 0; block < training->model->block_count; block++) {
        BlockCost cost = block_cost(training->model, block, training, samples, gpu);
        seconds += list_seconds(&cost.forward) + list_seconds(&cost.backward);
    }
    return seconds;
}

// That a step issues, without its optimizer's.
static double all_kernels(const TrainingSpec *training, double samples, const Gpu *gpu) {
    double kernels = 0;
    for (int block = 0; block < training->model->block_count; block++) {
        BlockCost cost = block_cost(training->model, block, training, samples, gpu);
        kernels += cost.kernels_forward + cost.kernels_backward;
    }
    return kernels;
}

// An SM's loads set the rate: 2 m n k FLOP at so many a clock, SM and element.
TEST(products_of_odd_rows_run_at_the_rate_of_their_loads) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    Gemm gemm = {.precision = BF16, .batch = 1, .m = 8192, .n = 50257, .k = 768};
    double whole = gemm_seconds(gpu, &gemm), rate = hardware_constant(LOADED_FLOPS) * gpu->sm_count * gpu->tensor_hz;
    gemm.loads = 1;
    double single = gemm_seconds(gpu, &gemm);
    EXPECT_NEAR(single, 2.0 * 8192 * 50257 * 768 / rate, 0.15); // and the output, tiles and heat
    EXPECT(single > 3 * whole);
    gemm.loads = 2;
    double pairs = gemm_seconds(gpu, &gemm);
    EXPECT(pairs < 0.6 * single && pairs > whole);
    gemm.precision = FP32; // vector units load what they like
    gemm.loads = 0;
    double vectors = gemm_seconds(gpu, &gemm);
    gemm.loads = 1;
    EXPECT_NEAR(gemm_seconds(gpu, &gemm), vectors, 0);
    arena_close(bench.arena);
}

// GPT-2's 50257 words, BERT's 30522 (pairs) and 50304 (whole): eager software alone multiplies them as they are.
TEST(a_vocabulary_of_odd_length_slows_the_head_of_eager_software) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    Model model = *bench_model(&bench, "gpt2-124m");
    TrainingSpec training = eager(&model, BF16);
    training.seq_len = 1024;
    double seconds[3];
    static const int words[] = {50304, 50306, 50307};
    for (int i = 0; i < 3; i++) {
        model.vocab = words[i];
        BlockCost head = block_cost(&model, model.block_count - 1, &training, 8, gpu);
        seconds[i] = cause_seconds(&head.forward, CAUSE_GEMM) + cause_seconds(&head.backward, CAUSE_GEMM);
    }
    EXPECT(seconds[1] > 1.5 * seconds[0] && seconds[2] > 1.7 * seconds[1]);
    training.framework = FRAMEWORK_GRAPH; // a compiler pads
    model.vocab = words[0];
    BlockCost even = block_cost(&model, model.block_count - 1, &training, 8, gpu);
    model.vocab = words[2];
    BlockCost odd = block_cost(&model, model.block_count - 1, &training, 8, gpu);
    EXPECT_NEAR(cause_seconds(&odd.forward, CAUSE_GEMM), cause_seconds(&even.forward, CAUSE_GEMM), 0.01);
    arena_close(bench.arena);
}

// 96 bytes of a weight against 40, all in 32 bits.
TEST(an_optimizer_that_goes_operation_by_operation_moves_more) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    TrainingSpec training = eager(bench_model(&bench, "llama-3-8b"), FP32);
    double each = optimizer_seconds(&training, 8e9, gpu);
    training.fused_optimizer = true;
    double fused = optimizer_seconds(&training, 8e9, gpu);
    EXPECT_NEAR(each - fused, memory_seconds(gpu, 56.0 * 8e9), 0.01);
    training.framework = FRAMEWORK_MEGATRON; // has its own
    double megatron = optimizer_seconds(&training, 8e9, gpu);
    training.fused_optimizer = false;
    EXPECT_NEAR(optimizer_seconds(&training, 8e9, gpu), megatron, 0);
    arena_close(bench.arena);
}

// 2.5 times the FLOPs backward, on vector units, whatever TF32 would reach.
TEST(attention_in_32_bits_is_memory_efficient_on_vector_units) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    TrainingSpec training = eager(bench_model(&bench, "llama-3-8b"), FP32);
    BlockCost wide = block_cost(training.model, 1, &training, 1, gpu);
    double forward = cause_seconds(&wide.forward, CAUSE_ATTENTION);
    EXPECT_NEAR(cause_seconds(&wide.backward, CAUSE_ATTENTION), 2.5 * forward, 0.05);
    training.precision = TF32;
    EXPECT_NEAR(layer_seconds(&training, 1, gpu, CAUSE_ATTENTION), 3.5 * forward, 0.05);
    training.attention = ATTENTION_PLAIN; // writes its scores
    training.precision = FP32;
    EXPECT(layer_seconds(&training, 1, gpu, CAUSE_ATTENTION) > 3.5 * forward);
    arena_close(bench.arena);
}

// Heads half as wide have twice the exponentials for the same products; before Hopper they are behind these.
TEST(narrow_heads_cost_flash_attention_2_more_since_hopper) {
    Bench bench = bench_open();
    Model model = *bench_model(&bench, "llama-3-8b");
    model.kv_heads = model.heads;
    TrainingSpec training = eager(&model, BF16);
    static const char *const gpus[] = {"A100", "H100"};
    double growth[2];
    for (int i = 0; i < 2; i++) {
        const Gpu *gpu = bench_gpu(&bench, gpus[i]);
        model.heads = model.kv_heads = 32, model.head_dim = 128;
        double wide = layer_seconds(&training, 4, gpu, CAUSE_ATTENTION);
        model.heads = model.kv_heads = 64, model.head_dim = 64;
        growth[i] = layer_seconds(&training, 4, gpu, CAUSE_ATTENTION) / wide;
    }
    EXPECT_NEAR(growth[0], 1, 0.02);
    EXPECT(growth[1] > 1.1 && growth[1] < 1.3);
    arena_close(bench.arena);
}

// Where the host is what is waited for, a step takes as long as all kernels take to be issued.
TEST(small_eager_steps_take_what_the_host_takes) {
    Bench bench = bench_open();
    Gpu gpu = *bench_gpu(&bench, "H100");
    static const struct {
        const char *model;
        double samples;
    } jobs[] = {{"resnet-50", 1}, {"densenet-121", 1}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        TrainingSpec training = eager(bench_model(&bench, jobs[i].model), BF16);
        double seconds = all_seconds(&training, jobs[i].samples, &gpu);
        EXPECT_NEAR(seconds, 14e-6 * all_kernels(&training, jobs[i].samples, &gpu), 0.1);
        gpu.issue_seconds *= 2;
        EXPECT_NEAR(all_seconds(&training, jobs[i].samples, &gpu), 2 * seconds, 0.1);
        gpu.issue_seconds /= 2;
    }
    arena_close(bench.arena);
}

// ResNet-50's 53 convolutions, as PyTorch's profiler counts them: 791 kernels in TF32 with 9 of the optimizer, 1,034
// and 960 in BF16, channels first and last, copies and clearing among them.
TEST(kernels_of_a_resnet_are_as_many_as_the_profiler_counts) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    static const struct {
        Precision precision;
        ImageLayout layout;
        double kernels;
    } counted[] = {{TF32, IMAGE_LAYOUT_NCHW, 782}, {BF16, IMAGE_LAYOUT_NCHW, 1025}, {BF16, IMAGE_LAYOUT_NHWC, 951}};
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        TrainingSpec training = eager(bench_model(&bench, "resnet-50"), counted[i].precision);
        training.image_layout = counted[i].layout;
        EXPECT_NEAR(all_kernels(&training, 64, gpu), counted[i].kernels, 0.2);
    }
    arena_close(bench.arena);
}

// Of Transformers' models, 4 of optimizers and copies left out: SmolLM2 117 a layer, Llama 3.2 1B 124; of our GPT-2 67.
TEST(kernels_of_a_decoders_layer_are_as_many_as_the_profiler_counts) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    static const struct {
        const char *model;
        double kernels;
    } counted[] = {{"smollm2-135m", 117}, {"llama-3.2-1b", 124}, {"gpt2-124m", 67}};
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        TrainingSpec training = eager(bench_model(&bench, counted[i].model), BF16);
        BlockCost layer = block_cost(training.model, 1, &training, 1, gpu);
        EXPECT_NEAR(layer.kernels_forward + layer.kernels_backward, counted[i].kernels, 0.08);
    }
    arena_close(bench.arena);
}

TEST(a_checkpoint_takes_the_host_more_than_what_it_issues_again) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    TrainingSpec training = eager(bench_model(&bench, "gpt2-124m"), BF16);
    training.seq_len = 128;
    BlockCost once = block_cost(training.model, 1, &training, 1, gpu);
    training.recompute = RECOMPUTE_FULL;
    BlockCost again = block_cost(training.model, 1, &training, 1, gpu);
    double more = list_seconds(&again.backward) - list_seconds(&once.backward);
    EXPECT_NEAR(more, list_seconds(&once.forward) + cost_constant(CHECKPOINT_SECONDS), 0.1);
    arena_close(bench.arena);
}

// What has been done until a collective is done no later on a quicker GPU, wherever its kernels wait for the host.
TEST(no_collective_begins_later_on_a_quicker_gpu) {
    Bench bench = bench_open();
    TrainingSpec training = eager(bench_model(&bench, "gpt3-2.7b"), FP16);
    training.layout = (Layout){.tp = 4, .pp = 1, .vpp = 1, .cp = 2, .sequence_parallel = true};
    training.framework = FRAMEWORK_MEGATRON;
    for (double samples = 1; samples <= 8; samples *= 2) {
        Gpu gpu = *bench_gpu(&bench, "RTX4090"), twice = gpu;
        for (int p = 0; p < PRECISION_COUNT; p++) twice.peak_flops[p] *= 2;
        BlockCost slow = block_cost(training.model, 1, &training, samples, &gpu),
                  quick = block_cost(training.model, 1, &training, samples, &twice);
        double until[2] = {0, 0};
        EXPECT_INT(slow.backward.count, quick.backward.count);
        for (int i = 0; i < slow.backward.count && i < quick.backward.count; i++) {
            until[0] += slow.backward.items[i].seconds;
            until[1] += quick.backward.items[i].seconds;
            if (slow.backward.items[i].bytes > 0) EXPECT(until[1] <= until[0] * (1 + 1e-9));
        }
    }
    arena_close(bench.arena);
}

TEST(pytorch_is_what_its_version_says) {
    Arena *arena = arena_open();
    static const struct {
        const char *text;
        Attention attention;
        bool times_products, fuses, loops;
    } rows[] = {
        {"PyTorch (Hugging Face Transformers) PyTorch 2.11.0+cu130, transformers 5.17.0", ATTENTION_FLASH, true, false,
         false},
        {"PyTorch (Hugging Face Transformers) PyTorch 2.4.0, transformers 4.44", ATTENTION_FLASH_2, false, false, true},
        {"PyTorch (HF Trainer) PyTorch 2.9", ATTENTION_FLASH, true, true, true},
        {"PyTorch 2.11, flash-attn 2", ATTENTION_FLASH_1, false, false, false},
        {"PyTorch 2.5, fused AdamW", ATTENTION_FLASH_2, false, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SoftwareQuery query = {.text = rows[i].text, .gpu_year = 2022};
        const Software *software = software_of(arena, &query);
        EXPECT_INT(software->attention, rows[i].attention);
        EXPECT(software_does(software, TUNES_PRODUCTS) == rows[i].times_products);
        EXPECT(software_does(software, FUSES_OPTIMIZER) == rows[i].fuses);
        EXPECT(software_does(software, LOOPS_EXPERTS) == rows[i].loops);
    }
    arena_close(arena);
}
