// Routed experts of one rank, by law and against what was measured.
#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/kernel.h"
#include "models/hardware/library_kernels.h"
#include "sim/base/random.h"
#include "tests/test.h"

#define MEASUREMENTS "calibrate/measurements/kernels/experts.csv"

TEST(a_rank_gets_its_share_of_tokens_and_more_by_a_power_law) {
    GroupedShape shape = {.tokens = 4096, .experts = 64, .per_token = 8, .ep = 8};
    GroupedLoad even = grouped_load(&shape);
    EXPECT_NEAR(even.experts, 8, 1e-12);
    EXPECT_NEAR(even.routed, 4096, 1e-12);
    EXPECT_NEAR(even.active, 8, 1e-12);
    shape.power = 1.2;
    GroupedLoad fullest = grouped_load(&shape);
    EXPECT(fullest.routed > 1.5 * even.routed && fullest.routed < 8 * even.routed && fullest.active <= 8);
    shape.ep = 1; // all of them, by whatever law, but for what no expert takes twice
    EXPECT_NEAR(grouped_load(&shape).routed, 8 * 4096, 0.15);
    shape.power = 0, shape.tokens = 1;
    EXPECT_NEAR(grouped_load(&shape).active, 8, 1e-12);
}

TEST(more_tokens_are_never_quicker_nor_a_quicker_gpu_slower_at_experts) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    RandomStream stream = random_stream(1, "test experts", 0);
    for (int i = 0; i < 3000; i++) {
        const GroupedKernel *kernel = &grouped_kernels[random_below(&stream, (uint64_t)grouped_kernel_count)];
        Gpu gpu = *catalogue_gpu(catalogue, random_below(&stream, 2) ? "H100" : "B200");
        GroupedShape shape = {.precision = BF16,
                              .tokens = 1 + (double)random_below(&stream, 20000),
                              .hidden = 1024 * (1 + (double)random_below(&stream, 7)),
                              .inter = 512 * (1 + (double)random_below(&stream, 8)),
                              .experts = 64,
                              .per_token = 1 + (double)random_below(&stream, 8),
                              .tp = 1,
                              .ep = 1 << random_below(&stream, 5),
                              .gated = true};
        GroupedLoad load = grouped_load(&shape);
        double seconds = grouped_seconds(&gpu, &shape, &load, kernel) * (1 - 1e-12);
        GroupedShape more = shape;
        more.tokens *= 2;
        GroupedLoad loaded = grouped_load(&more);
        EXPECT(grouped_seconds(&gpu, &more, &loaded, kernel) >= seconds);
        gpu.peak_flops[BF16] *= 2, gpu.memory_bytes_per_second *= 2;
        EXPECT(grouped_seconds(&gpu, &shape, &load, kernel) <= seconds * (1 + 1e-9));
    }
    arena_close(arena);
}

// The same work for the rank's experts, as one of 8 ranks and alone: Triton's kernels pass over the choices of the
// others as well.
TEST(triton_passes_over_the_choices_of_other_ranks_too) {
    Arena *arena = arena_open();
    const Gpu *gpu = catalogue_gpu(catalogue_builtin(arena), "H100");
    GroupedShape alone = {.precision = BF16,
                          .tokens = 1024,
                          .hidden = 4096,
                          .inter = 2048,
                          .experts = 8,
                          .per_token = 2,
                          .tp = 1,
                          .ep = 1,
                          .gated = true};
    GroupedShape shared = alone;
    shared.tokens *= 8, shared.experts *= 8, shared.ep = 8;
    GroupedLoad one = grouped_load(&alone), of_eight = grouped_load(&shared);
    EXPECT_NEAR(of_eight.routed, one.routed, 1e-12);
    static const char *const kernels[] = {"triton_tritonexperts", "trtllm_cutlass"};
    for (int i = 0; i < 2; i++) {
        const GroupedKernel *kernel = grouped_kernel_of(gpu, "bf16", kernels[i]);
        double choices = i == 0 ? 7 * 1024 * 2 : 0; // a row in and out of each product, in 16 bits
        double more = kernel->passes * cold_memory_seconds(gpu, 2 * choices * (2 * 4096 + 3 * 2048)) +
                      kernel->token_seconds * 7 * 1024;
        EXPECT_NEAR(grouped_seconds(gpu, &shared, &of_eight, kernel) - grouped_seconds(gpu, &alone, &one, kernel), more,
                    1e-9);
    }
    arena_close(arena);
}

// FlashInfer's kernels on B200 ran at 541 TFLOP/s over weights of 176 MB and at 1,066 over a quarter of them.
TEST(weights_that_the_l2_cannot_hold_are_read_again) {
    Arena *arena = arena_open();
    const Gpu *gpu = catalogue_gpu(catalogue_builtin(arena), "B200");
    const GroupedKernel *kernel = grouped_kernel_of(gpu, "bf16", "flashinfer_trtllm");
    GroupedShape large = {.precision = BF16,
                          .tokens = 16384,
                          .hidden = 4096,
                          .inter = 14336,
                          .experts = 8,
                          .per_token = 2,
                          .tp = 1,
                          .ep = 1,
                          .gated = true};
    GroupedShape small = large;
    small.inter /= 4;
    GroupedLoad load = grouped_load(&large);
    double ratio = grouped_seconds(gpu, &large, &load, kernel) / grouped_seconds(gpu, &small, &load, kernel);
    EXPECT(ratio > 5 && ratio < 9); // 21.3 ms and, at the other rate, 2.7
    arena_close(arena);
}

LONG_TEST(2, the_table_of_expert_kernels_holds_what_the_fit_gives) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const KernelFit *fit = kernel_fit(arena, &experts_form, catalogue_builtin(arena), MEASUREMENTS, problems);
    problems_print(problems, stdout);
    EXPECT(fit && fit->count == grouped_kernel_count);
    for (int i = 0; fit && i < fit->count; i++) {
        const GroupedKernel *told = fit->items[i].kernel;
        const GroupedKernel *row = grouped_kernel_of(fit->items[i].items->gpu, told->dtype, told->kernel);
        EXPECT(row && row->generation == told->generation && row->of_servers == told->of_servers);
        EXPECT_NEAR(row->share, told->share, 0.03);
        EXPECT_NEAR(row->memory_share, told->memory_share, 0.03);
        EXPECT_NEAR(row->start_seconds, told->start_seconds, 0.03);
    }
    arena_close(arena);
}
