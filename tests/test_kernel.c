// Laws of kernel time: nothing beats the peak or the bandwidth, more work is not faster, and tiles show in waves.
#include "models/hardware/hardware_constants.h"
#include "models/hardware/kernel.h"
#include "sim/base/random.h"
#include "tests/test.h"

static double seconds(const Gpu *gpu, Precision precision, int64_t batch, int64_t m, int64_t n, int64_t k) {
    Gemm gemm = {.precision = precision, .batch = batch, .m = m, .n = n, .k = k};
    return gemm_seconds(gpu, &gemm);
}

TEST(gemm_flops_and_bytes_follow_their_formulas) {
    Gemm gemm = {.precision = BF16, .batch = 3, .m = 100, .n = 200, .k = 300};
    EXPECT_NEAR(gemm_flops(&gemm), 2.0 * 3 * 100 * 200 * 300, 1e-15);
    EXPECT_NEAR(gemm_bytes(&gemm), 2.0 * 3 * (100 * 300 + 300 * 200 + 100 * 200), 1e-15);
    gemm.precision = FP32;
    EXPECT_NEAR(gemm_bytes(&gemm), 4.0 * 3 * (100 * 300 + 300 * 200 + 100 * 200), 1e-15);
    gemm.precision = FP8; // out comes BF16
    EXPECT_NEAR(gemm_bytes(&gemm), 3 * (100.0 * 300 + 300 * 200 + 2 * 100 * 200), 1e-15);
    gemm.precision = INT8; // and here INT32
    EXPECT_NEAR(gemm_bytes(&gemm), 3 * (100.0 * 300 + 300 * 200 + 4 * 100 * 200), 1e-15);
}

// A few tiles on 108 SMs: split, a long K takes a fraction. What is written in 16 bits is half of 32.
TEST(a_library_that_does_not_split_k_waits_for_all_of_it) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "A100-SXM4-80GB");
    Gemm split = {.precision = INT8, .batch = 1, .m = 128, .n = 256, .k = 65536}, whole = split;
    whole.whole_k = true;
    EXPECT(gemm_seconds(&gpu, &whole) > 3 * gemm_seconds(&gpu, &split));
    split.k = whole.k = 128;
    EXPECT_NEAR(gemm_seconds(&gpu, &whole), gemm_seconds(&gpu, &split), 1e-12);
    Gemm narrow = split;
    narrow.output_bytes = 2;
    EXPECT_NEAR(gemm_bytes(&split) - gemm_bytes(&narrow), 2.0 * 128 * 256, 1e-12);
    arena_close(arena);
}

// Nothing is left of tiles when one wave has them all, and nothing of reading when memory is fast: what a wider output
// adds beyond its arithmetic is the time to write it.
TEST(the_output_is_written_after_the_arithmetic) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "H100");
    gpu.gemm_ramp = gpu.wave_weight = gpu.gemm_heating = 0;
    Gemm gemm = {.precision = BF16, .batch = 1, .m = 65536, .n = 65536, .k = 64};
    double rate = gpu.gemm_efficiency[BF16] * gpu.sustained * gpu.peak_flops[BF16];
    double writing = 2.0 * 65536 * 65536 / (gpu.memory_efficiency * gpu.memory_bytes_per_second);
    EXPECT_NEAR(gemm_seconds(&gpu, &gemm), gemm_flops(&gemm) / rate + writing, 0.01);
    arena_close(arena);
}

// An SM of vector units holds several tiles: some write while others compute.
TEST(vector_units_write_beside_the_arithmetic) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "V100");
    gpu.gemm_ramp = gpu.wave_weight = 0, gpu.roofline_sharpness = 20;
    Gemm gemm = {.precision = FP32, .batch = 1, .m = 65536, .n = 65536, .k = 64};
    double arithmetic = gemm_flops(&gemm) / (gpu.gemm_efficiency[FP32] * gpu.peak_flops[FP32]);
    gpu.memory_bytes_per_second = gemm_bytes(&gemm) / (gpu.memory_efficiency * 1.5 * arithmetic);
    EXPECT_NEAR(gemm_seconds(&gpu, &gemm), 1.5 * arithmetic, 0.01);
    arena_close(arena);
}

// Of a product far longer than its L2 keeps, a P100 has the rate left that its constant says, and half of that cost at
// one element of K for every 160 bytes of L2. Long rows and columns of the output cost nothing.
TEST(long_products_cost_where_the_l2_is_small) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "P100");
    gpu.long_gemm_rate = 0.5, gpu.gemm_ramp = 0;
    double near = seconds(&gpu, FP32, 1, 4096, 4096, 1024), far = seconds(&gpu, FP32, 1, 4096, 4096, 1024 * 512);
    EXPECT_NEAR(far / near / 512, 2, 0.05);
    EXPECT_NEAR(seconds(&gpu, FP32, 1, 4096, 4096 * 128, 1024) / near / 128, 1, 0.05);
    Gpu twice = gpu; // twice the L2 keeps twice the length
    twice.l2_bytes *= 2;
    int64_t half = (int64_t)(gpu.l2_bytes / 160);
    EXPECT_NEAR(seconds(&gpu, FP32, 1, 4096, 4096, half) / near * 1024 / (double)half, 1.5, 0.05);
    EXPECT_NEAR(seconds(&twice, FP32, 1, 4096, 4096, 2 * half) / near * 512 / (double)half, 1.5, 0.05);
    gpu.long_gemm_rate = 1;
    EXPECT_NEAR(seconds(&gpu, FP32, 1, 4096, 4096, 1024 * 512) / near / 512, 1, 0.05);
    arena_close(arena);
}

// Batches have one tile: 128 x 128 on Ampere, of which 64 rows or columns use half; 64 x 128 on Pascal; 64 x 64 on
// Volta.
TEST(batches_of_small_products_waste_what_their_tile_has_too_much) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    static const struct {
        const char *gpu;
        double few_rows, few_columns; // 64 of them over 128
    } cases[] = {{"A100", 1, 1}, {"L4", 1, 1},       {"P100", 0.5, 1},
                 {"T4", 0.5, 1}, {"V100", 0.5, 0.5}, {"H100", 0.5, 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Gpu gpu = *catalogue_gpu(catalogue, cases[i].gpu);
        gpu.memory_bytes_per_second = 1e18;
        double whole = seconds(&gpu, FP32, 512, 128, 3072, 3072), turned = seconds(&gpu, FP32, 512, 3072, 128, 3072);
        EXPECT_NEAR(seconds(&gpu, FP32, 512, 64, 3072, 3072) / whole, cases[i].few_rows, 0.01);
        EXPECT_NEAR(seconds(&gpu, FP32, 512, 3072, 64, 3072) / turned, cases[i].few_columns, 0.01);
        // One alone has smaller tiles.
        EXPECT(seconds(&gpu, FP32, 1, 64, 512 * 3072, 3072) < 0.6 * seconds(&gpu, FP32, 1, 128, 512 * 3072, 3072));
    }
    arena_close(arena);
}

// Eight clocks for each element of K of every tile, beside its products at so many a clock: a tile of 128 x 32 does a
// quarter of the products of one of 128 x 128 for them.
TEST(small_tiles_pay_for_their_loop_where_lanes_are_many) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    static const char *const names[] = {"V100", "H100"};
    static const double lanes[] = {64, 138};
    for (int i = 0; i < 2; i++) {
        Gpu gpu = *catalogue_gpu(catalogue, names[i]);
        gpu.gemm_ramp = gpu.wave_weight = 0, gpu.memory_bytes_per_second = 1e18;
        double large = seconds(&gpu, FP32, 1, 1 << 20, 128, 4096), narrow = seconds(&gpu, FP32, 1, 1 << 20, 32, 4096);
        double loop = 8 * lanes[i];
        EXPECT_NEAR(4 * narrow / large, (1 + loop / (128 * 32)) / (1 + loop / (128 * 128)), 0.01);
    }
    arena_close(arena);
}

// A third of the SMs full and a long K: Volta's vector units share it out, Ampere's and Hopper's do not. Where one tile
// is all there is, all do.
TEST(k_is_split_on_vector_units_before_ampere) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    static const struct {
        const char *gpu;
        bool splits;
    } cases[] = {{"P100", true}, {"V100", true}, {"T4", true}, {"A100", false}, {"L4", false}, {"H100", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Gpu gpu = *catalogue_gpu(catalogue, cases[i].gpu);
        gpu.gemm_ramp = 0, gpu.sustained = 1, gpu.wave_weight = 1, gpu.long_gemm_rate = 1;
        gpu.memory_bytes_per_second = 1e18;
        double one = seconds(&gpu, FP32, 1, 32, 32, 64), long_one = seconds(&gpu, FP32, 1, 32, 32, 64 * 256);
        EXPECT_NEAR(long_one / one / 256, 1.0 / 8, 0.05);
        int64_t tall = gpu.sm_count * 32; // as many tiles of 32 x 128 as SMs, too few of larger ones
        double fluid = seconds(&gpu, FP32, 1, tall, 128, 64) * 256, whole = seconds(&gpu, FP32, 1, tall, 128, 64 * 256);
        if (!cases[i].splits) EXPECT_NEAR(whole / fluid, 1, 0.05);
        if (cases[i].splits) EXPECT(whole / fluid < 0.97);
    }
    arena_close(arena);
}

// With whole waves only, one tile more than SMs takes twice as long at full clock. Where power leaves less than half of
// that, tiles are done as their number says, and a few take no longer than at full clock.
TEST(waves_do_not_show_where_power_limits_vector_units) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "L4");
    gpu.memory_bytes_per_second = 1e18, gpu.wave_weight = 1;
    int64_t sms = gpu.sm_count;
    static const double sustained[] = {1, 0.42};
    for (int i = 0; i < 2; i++) {
        gpu.sustained = sustained[i];
        double full = seconds(&gpu, FP32, sms, 128, 128, 256), more = seconds(&gpu, FP32, sms + 1, 128, 128, 256);
        EXPECT_NEAR(more / full, i ? (double)(sms + 1) / (double)sms : 2, 0.01);
        EXPECT_NEAR(seconds(&gpu, FP32, 2, 128, 128, 256) / full, i ? 0.42 : 1, 0.01);
    }
    arena_close(arena);
}

TEST(vector_units_pay_for_how_operands_lie_and_matrix_units_do_not) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "V100");
    gpu.untransposed_gemm_gain = 1.25, gpu.odd_gemm_rate = 0.8, gpu.gemm_efficiency[FP32] = 0.75;
    static const Precision precisions[] = {FP32, FP16};
    for (int i = 0; i < 2; i++) {
        Gemm even = {.precision = precisions[i], .batch = 1, .m = 8192, .n = 8192, .k = 8192}, as_stored = even,
             odd_n = even, odd_k = even;
        as_stored.is_untransposed = true, odd_n.n--, odd_k.k--;
        double usual = gemm_seconds(&gpu, &even);
        EXPECT_NEAR(usual / gemm_seconds(&gpu, &as_stored), i ? 1 : 1.25, 0.02);
        EXPECT_NEAR(usual / gemm_seconds(&gpu, &odd_n), i ? 1 : 0.8, 0.02);
        EXPECT_NEAR(usual / gemm_seconds(&gpu, &odd_k), i ? 1 : 0.8, 0.02);
    }
    Gemm even = {.precision = FP32, .batch = 1, .m = 8192, .n = 8192, .k = 8192},
         as_stored = even; // whatever the gain, no more than the peak
    as_stored.is_untransposed = true;
    gpu.gemm_efficiency[FP32] = 0.9;
    EXPECT_NEAR(gemm_seconds(&gpu, &even) / gemm_seconds(&gpu, &as_stored), 1 / 0.9, 0.02);
    arena_close(arena);
}

// rocBLAS's fallback: one column more than 2^32 bytes of weights hold costs what the constant says, on AMD alone.
TEST(weights_beyond_four_gib_cost_on_amd_alone) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    static const char *const names[] = {"MI210", "H100"};
    for (int i = 0; i < 2; i++) {
        Gpu gpu = *catalogue_gpu(catalogue, names[i]);
        gpu.long_gemm_rate = 0.5;
        double near = seconds(&gpu, BF16, 1, 4096, 1 << 16, 1 << 15),
               far = seconds(&gpu, BF16, 1, 4096, (1 << 16) + 1, 1 << 15);
        EXPECT_NEAR(far / near, i ? 1 : 2, 0.03);
    }
    arena_close(arena);
}

TEST(no_gemm_beats_the_peak_or_the_bandwidth) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    RandomStream stream = random_stream(1, "test gemm shapes", 0);
    for (int i = 0; i < 20000; i++) {
        const Gpu *gpu = &catalogue->gpus[random_below(&stream, (uint64_t)catalogue->gpu_count)];
        Gemm gemm = {.precision = (Precision)random_below(&stream, PRECISION_COUNT),
                     .batch = 1 + (int64_t)random_below(&stream, 8),
                     .m = (int64_t)exp(random_uniform(&stream) * 10),
                     .n = (int64_t)exp(random_uniform(&stream) * 10),
                     .k = (int64_t)exp(random_uniform(&stream) * 10),
                     .is_untransposed = random_below(&stream, 2) == 1};
        if (!gpu_supports(gpu, gemm.precision)) continue;
        double time = gemm_seconds(gpu, &gemm);
        bool is_lawful = isfinite(time) && time >= gemm_flops(&gemm) / gpu_peak(gpu, gemm.precision) &&
                         time >= gemm_bytes(&gemm) / gpu->memory_bytes_per_second;
        if (!is_lawful)
            test_fail(__FILE__, __LINE__, "%s %s %lld x %lld x %lld x %lld takes %g s", gpu->name,
                      precision_name(gemm.precision), (long long)gemm.batch, (long long)gemm.m, (long long)gemm.n,
                      (long long)gemm.k, time);
    }
    arena_close(arena);
}

// Twice the depth may be faster where it is the first that can be split among more SMs, as few rows leave most idle.
TEST(more_rows_columns_or_batches_are_never_faster) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    double least = hardware_constant(SPLIT_K_LEAST);
    RandomStream stream = random_stream(2, "test gemm shapes", 0);
    for (int i = 0; i < 20000; i++) {
        const Gpu *gpu = &catalogue->gpus[random_below(&stream, (uint64_t)catalogue->gpu_count)];
        int64_t b = 1 + (int64_t)random_below(&stream, 8), m = 1 + (int64_t)random_below(&stream, 9000);
        int64_t n = 1 + (int64_t)random_below(&stream, 9000), k = 1 + (int64_t)random_below(&stream, 9000);
        double time = seconds(gpu, FP32, b, m, n, k) * (1 - 1e-12);
        EXPECT(seconds(gpu, FP32, 2 * b, m, n, k) >= time);
        EXPECT(seconds(gpu, FP32, b, m + 1, n, k) >= time);
        EXPECT(seconds(gpu, FP32, b, m, n + 2, k) >= time); // an odd row more may be slower than two
        bool splits_first = (double)k >= least && (double)k < 2 * least;
        if (k % 2 == 0 && !splits_first) // nor is twice an odd one odd
            EXPECT(seconds(gpu, FP32, b, m, n, 2 * k) >= time);
    }
    arena_close(arena);
}

// With whole waves only, 108 tiles of 256 x 128 fill an A100 and one more starts a wave; smaller tiles soften it to an
// eighth. K is too short to split and memory made fast, so that tiles are all there is.
TEST(one_tile_too_many_costs_a_wave) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "A100");
    gpu.memory_bytes_per_second = 1e18;
    gpu.wave_weight = 1;
    double full = seconds(&gpu, FP16, 108, 256, 128, 256), more = seconds(&gpu, FP16, 109, 256, 128, 256);
    EXPECT(more / full > 1.12);
    gpu.wave_weight = 0; // fluid waves: time grows with the work
    full = seconds(&gpu, FP16, 108, 256, 128, 256), more = seconds(&gpu, FP16, 109, 256, 128, 256);
    EXPECT_NEAR(more / full, 109.0 / 108, 1e-3);
    arena_close(arena);
}

// Long products are slower than short ones by no more than the GPU's heating, operands of few values less so, and those
// that the L2 still holds are quicker where memory limits them.
TEST(long_products_heat_and_warm_operands_are_quicker) {
    Arena *arena = arena_open();
    Gpu gpu = *catalogue_gpu(catalogue_builtin(arena), "B200");
    Gemm gemm = {.precision = BF16, .batch = 1, .m = 65536, .n = 16384, .k = 16384};
    double random = gemm_seconds(&gpu, &gemm);
    gemm.quiet = 1;
    double quiet = gemm_seconds(&gpu, &gemm);
    gpu.gemm_heating *= 2, gemm.quiet = 0;
    double hotter = gemm_seconds(&gpu, &gemm);
    EXPECT(random > quiet && random < quiet * (1 + gpu.gemm_heating / 2));
    EXPECT_NEAR(hotter - random, random - quiet, 1e-6);

    gpu.gemm_l2_gain = 2;
    Gemm thin = {.precision = BF16, .batch = 1, .m = 1, .n = 4096, .k = 2048};
    double cold = gemm_seconds(&gpu, &thin);
    thin.loop_bytes = 100 * gpu.l2_bytes;
    EXPECT_NEAR(gemm_seconds(&gpu, &thin), cold, 0.01);
    thin.loop_bytes = gpu.l2_bytes / 100;
    double warm = gemm_seconds(&gpu, &thin);
    EXPECT(warm < 0.95 * cold && warm > 0.4 * cold);
    arena_close(arena);
}

// At the edge, time is FLOP / (e_c x peak) and bytes / (e_b x bandwidth).
TEST(large_gemms_reach_the_fitted_efficiency_and_thin_ones_the_bandwidth) {
    Arena *arena = arena_open();
    Gpu cool = *catalogue_gpu(catalogue_builtin(arena), "H100"), *gpu = &cool;
    cool.gemm_heating = 0;
    Gemm large = {.precision = BF16, .batch = 1, .m = 65536, .n = 65536, .k = 65536};
    Gemm thin = {.precision = BF16, .batch = 1, .m = 1, .n = 57344, .k = 8192};
    double compute = gemm_flops(&large) / (gpu->gemm_efficiency[BF16] * gpu->sustained * gpu->peak_flops[BF16]);
    EXPECT_NEAR(gemm_seconds(gpu, &large), compute, 0.01);
    EXPECT_NEAR(gemm_seconds(gpu, &thin), gemm_bytes(&thin) / (gpu->memory_efficiency * gpu->memory_bytes_per_second),
                0.04); // the smooth corner
    EXPECT_NEAR(roofline_seconds(gpu, BF16, gemm_flops(&large), gemm_bytes(&large)), compute, 0.001);
    arena_close(arena);
}

TEST(the_tile_model_and_the_roofline_agree_on_gemms_of_training) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    static const char *const names[] = {"A100", "H100", "V100", "A40", "B200"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Gpu cool = *catalogue_gpu(catalogue, names[i]), *gpu = &cool;
        cool.gemm_heating = 0;
        for (int64_t m = 4096; m <= 32768; m *= 2) {
            Gemm gemm = {.precision = FP16, .batch = 1, .m = m, .n = 12288, .k = 4096};
            EXPECT_NEAR(gemm_seconds(gpu, &gemm), roofline_seconds(gpu, FP16, gemm_flops(&gemm), gemm_bytes(&gemm)),
                        0.15);
        }
    }
    arena_close(arena);
}

TEST(known_gemms_take_about_as_long_as_measured) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const Gpu *h100 = catalogue_gpu(catalogue, "H100"); // Vidur, N = 57344, K = 8192
    EXPECT_NEAR(h100->launch_seconds + seconds(h100, FP16, 1, 1, 57344, 8192), 0.31e-3, 0.08);
    // So long a kernel runs at a lower clock than most of those that were fitted: 679 TFLOP/s, against 740 at M = 512.
    EXPECT_NEAR(h100->launch_seconds + seconds(h100, FP16, 1, 4096, 57344, 8192), 5.67e-3, 0.12);
    EXPECT_NEAR(h100->launch_seconds + seconds(h100, FP16, 1, 512, 57344, 8192), 0.65e-3, 0.15);
    arena_close(arena);
}

TEST(memory_kernels_run_at_the_attained_bandwidth_and_faster_in_the_cache) {
    Arena *arena = arena_open();
    const Gpu *gpu = catalogue_gpu(catalogue_builtin(arena), "A100");
    double rate = gpu->memory_efficiency * gpu->memory_bytes_per_second;
    EXPECT_NEAR(memory_seconds(gpu, 10e9), 10e9 / rate, 0.002);
    EXPECT_NEAR(memory_seconds(gpu, 1e6), 1e6 / rate / gpu->l2_speed_up, 1e-4);
    EXPECT_NEAR(cold_memory_seconds(gpu, 1e6), 1e6 / rate, 1e-12);
    EXPECT_SAME(memory_seconds(gpu, 0), 0);
    double before = 0;
    for (double bytes = 1e3; bytes < 1e10; bytes *= 1.1) {
        EXPECT(memory_seconds(gpu, bytes) > before);
        before = memory_seconds(gpu, bytes);
    }
    arena_close(arena);
}

// What a kernel writes is in the cache for the next where one kernel's data fit it, however many kernels follow.
TEST(kernels_in_a_row_are_as_fast_as_the_data_of_one_of_them_let_them_be) {
    Arena *arena = arena_open();
    const Gpu *gpu = catalogue_gpu(catalogue_builtin(arena), "L40S");
    EXPECT_NEAR(kernels_memory_seconds(gpu, 1e9, 1e6), 1000 * memory_seconds(gpu, 1e6), 1e-9);
    EXPECT_NEAR(kernels_memory_seconds(gpu, 1e9, 1e9), memory_seconds(gpu, 1e9), 1e-12);
    EXPECT(kernels_memory_seconds(gpu, 1e9, 1e6) < memory_seconds(gpu, 1e9) / 5);
    EXPECT_SAME(kernels_memory_seconds(gpu, 0, 1e6), 0);
    arena_close(arena);
}

// Casts of 16 to 8 bits, 64 MB in the L2 and 2.9 GB beyond it (AIConfigurator's measured kernels).
TEST(the_l2_is_as_much_faster_than_the_memory_as_measured) {
    static const struct {
        const char *gpu;
        double l2, memory; // TB/s
    } measured[] = {{"L40S", 6.0, 0.67}, {"H100", 5.0, 3.03}, {"H200", 5.2, 4.35}, {"B200", 7.0, 6.8}};
    Arena *arena = arena_open();
    for (int i = 0; i < 4; i++) {
        const Gpu *gpu = catalogue_gpu(catalogue_builtin(arena), measured[i].gpu);
        EXPECT_NEAR(gpu->l2_speed_up, measured[i].l2 / measured[i].memory, 0.15);
    }
    arena_close(arena);
}

TEST(precisions_that_a_gpu_lacks_are_not_supported) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const Gpu *v100 = catalogue_gpu(catalogue, "V100"), *a100 = catalogue_gpu(catalogue, "A100"),
              *p100 = catalogue_gpu(catalogue, "P100");
    EXPECT(!gpu_supports(v100, BF16) && !gpu_supports(v100, TF32) && gpu_supports(v100, FP16));
    EXPECT(gpu_supports(a100, BF16) && !gpu_supports(a100, FP8));
    EXPECT_NEAR(gpu_peak(a100, BF16), 312e12, 1e-12);
    EXPECT_NEAR(gpu_peak(a100, FP32), 19.5e12, 1e-12);
    EXPECT_NEAR(gpu_peak(p100, FP16), 21.2e12, 1e-12); // vector units
    arena_close(arena);
}

TEST(an_empty_gemm_takes_no_time) {
    Arena *arena = arena_open();
    const Gpu *gpu = catalogue_gpu(catalogue_builtin(arena), "H100");
    EXPECT_SAME(seconds(gpu, BF16, 1, 0, 10, 10), 0);
    EXPECT_SAME(seconds(gpu, BF16, 0, 10, 10, 10), 0);
    arena_close(arena);
}
