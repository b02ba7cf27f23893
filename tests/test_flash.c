// Kernels of flash attention, by formula, by law, and against what was measured.
#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/kernel.h"
#include "models/hardware/library_kernels.h"
#include "sim/base/random.h"
#include "tests/test.h"

#define MEASUREMENTS "calibrate/measurements/kernels/attention.csv"

// Long work of many heads takes its products at the kernel's share of the GPU's rate, and the mask leaves half of them.
TEST(long_attention_takes_its_products_at_the_share_of_the_rate) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "A100");
    gpu.gemm_heating = 0;
    FlashKernel kernel = {.share = 0.8, .softmax = 0.01, .tile_clocks = 10, .start_seconds = 1e-6, .sharpness = 4};
    FlashShape shape = {
        .precision = BF16, .batch = 4, .length = 32768, .heads = 64, .kv_heads = 8, .key_dim = 128, .value_dim = 128};
    double flops = 2.0 * 4 * 64 * 32768.0 * 32768 * (128 + 128);
    double whole = flops / (0.8 * gpu.gemm_efficiency[BF16] * gpu.peak_flops[BF16]);
    EXPECT_NEAR(flash_seconds(&gpu, &shape, &kernel), whole, 0.02);
    shape.causal = true;
    EXPECT_NEAR(flash_seconds(&gpu, &shape, &kernel), whole / 2, 0.02);
    shape.window = 1024;
    EXPECT_NEAR(flash_seconds(&gpu, &shape, &kernel), whole / 32 * (1 + 128.0 / 1024), 0.05);
    arena_close(arena);
}

TEST(more_attention_is_never_quicker_nor_a_quicker_gpu_slower) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    RandomStream stream = random_stream(1, "test attention shapes", 0);
    for (int i = 0; i < 3000; i++) {
        const FlashKernel *kernel = &flash_kernels[random_below(&stream, (uint64_t)flash_kernel_count)];
        Gpu gpu = *catalogue_gpu(catalogue, random_below(&stream, 2) ? "H100" : "B200");
        double kv = 1 + (double)random_below(&stream, 8);
        FlashShape shape = {.precision = BF16,
                            .batch = 1 + (double)random_below(&stream, 16),
                            .length = 16 + (double)random_below(&stream, 8000),
                            .heads = kv * (1 + (double)random_below(&stream, 8)),
                            .kv_heads = kv,
                            .key_dim = 64 * (1 + (double)random_below(&stream, 4)),
                            .causal = random_below(&stream, 2) == 1};
        shape.value_dim = shape.key_dim;
        double seconds = flash_seconds(&gpu, &shape, kernel) * (1 - 1e-12);
        FlashShape longer = shape, more = shape, wider = shape, seen = shape;
        longer.length += 1 + (double)random_below(&stream, 500), more.batch++, wider.value_dim += 16, seen.window = 512;
        EXPECT(flash_seconds(&gpu, &longer, kernel) >= seconds);
        EXPECT(flash_seconds(&gpu, &more, kernel) >= seconds);
        EXPECT(flash_seconds(&gpu, &wider, kernel) >= seconds);
        if (shape.length > 512) EXPECT(flash_seconds(&gpu, &seen, kernel) * (1 - 1e-12) <= seconds * (1 + 1e-9));
        Gpu ultra = gpu;
        ultra.exponentials = 32;
        EXPECT(flash_seconds(&ultra, &shape, kernel) < seconds);
        gpu.peak_flops[BF16] *= 2, gpu.memory_bytes_per_second *= 2;
        EXPECT(flash_seconds(&gpu, &shape, kernel) <= seconds * (1 + 1e-9));
    }
    arena_close(arena);
}

// TensorRT-LLM's kernels in 8 bits on graphics parts take three times as long for a FLOP of heads of 256 as of
// 128, on servers no longer.
TEST(heads_wider_than_a_library_is_made_for_are_slower) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    static const char *const gpus[] = {"L40S", "H100"};
    for (int i = 0; i < 2; i++) {
        const Gpu *gpu = catalogue_gpu(catalogue, gpus[i]);
        const FlashKernel *kernel = flash_kernel_of(gpu, "gqa", "fp8", "trtllm_fmha");
        FlashShape shape = {.precision = FP8,
                            .batch = 8,
                            .length = 8192,
                            .heads = 32,
                            .kv_heads = 4,
                            .key_dim = 128,
                            .value_dim = 128,
                            .causal = true};
        FlashShape wide = shape;
        wide.key_dim = wide.value_dim = 256;
        double ratio = flash_seconds(gpu, &wide, kernel) / flash_seconds(gpu, &shape, kernel) / 2;
        EXPECT(i == 0 ? ratio > 2 && ratio < 4 : ratio > 0.6 && ratio < 1.1);
    }
    arena_close(arena);
}

// The table of kernels is what the fit says of the measurements that are shipped.
LONG_TEST(2, the_table_of_flash_kernels_holds_what_the_fit_gives) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const KernelFit *fit = kernel_fit(arena, &attention_form, catalogue_builtin(arena), MEASUREMENTS, problems);
    problems_print(problems, stdout);
    EXPECT(fit && fit->count == flash_kernel_count);
    double errors = 0;
    for (int i = 0; fit && i < fit->count; i++) {
        const FlashKernel *told = fit->items[i].kernel;
        const FlashKernel *row = flash_kernel_of(fit->items[i].items->gpu, told->family, told->dtype, told->kernel);
        EXPECT(row && row->generation == told->generation && row->of_servers == told->of_servers);
        EXPECT_NEAR(row->share, told->share, 0.02);
        EXPECT_NEAR(row->start_seconds, told->start_seconds, 0.02);
        EXPECT_NEAR(row->sharpness, told->sharpness, 0.02);
        EXPECT_NEAR(row->wide_share, told->wide_share, 0.02);
        errors += fit->items[i].median_error / fit->count;
    }
    EXPECT(errors < 0.13);
    arena_close(arena);
}
