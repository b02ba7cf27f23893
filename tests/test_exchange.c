// Tokens exchanged among experts, by formula, by law and against what was measured.
#include <math.h>

#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/hardware_constants.h"
#include "models/hardware/library_kernels.h"
#include "sim/base/random.h"
#include "tests/script.h"
#include "tests/test.h"

#define MEASUREMENTS "calibrate/measurements/kernels/exchange.csv"

// Each choice of k of n experts, one by one.
static double groups_met_by_counting(int groups, int experts, int k) {
    double choices = 0, met = 0;
    for (int set = 0; set < 1 << experts; set++) {
        if (__builtin_popcount((unsigned)set) != k) continue;
        choices++;
        for (int g = 0; g < groups; g++) {
            int members = ((1 << experts / groups) - 1) << g * experts / groups;
            met += (set & members) != 0;
        }
    }
    return met / choices;
}

TEST(a_token_meets_as_many_groups_as_all_choices_do_in_the_mean) {
    for (int groups = 1; groups <= 12; groups++)
        for (int k = 1; k <= 12 && 12 % groups == 0; k++)
            EXPECT_NEAR(exchange_groups_met(groups, 12, k), groups_met_by_counting(groups, 12, k), 1e-12);
    EXPECT_NEAR(exchange_groups_met(1, 8, 2), 1, 1e-12);
}

static ExchangeShape many_tokens(double ranks, double nodes) {
    return (ExchangeShape){.tokens = 1 << 24,
                           .hidden = 7168,
                           .experts = 256,
                           .per_token = 8,
                           .ranks = ranks,
                           .nodes = nodes,
                           .element_bytes = 2,
                           .sms = 24,
                           .nic_bytes_per_second = 50e9};
}

// With SMs enough a token takes what the copies for other nodes take on the network, one to each: 4 nodes meet 3.61 of
// 8 even choices of 256, 3/4 of which are others.
TEST(a_token_crosses_the_network_once_to_each_node) {
    const Gpu *gpu = catalogue_gpu(test_catalogue(), "H100-SXM5-80GB");
    const ExchangeKernel *kernel = exchange_kernel_of(gpu, "normal", "combine", true);
    ExchangeShape shape = many_tokens(32, 4);
    shape.sms = 100;
    double copies = exchange_groups_met(4, 256, 8) * 3 / 4, rate = hardware_constant(EXCHANGE_NIC_SHARE) * 50e9;
    EXPECT_NEAR(copies, 3.61 * 3 / 4, 1e-2);
    EXPECT_NEAR(exchange_seconds(gpu, &shape, kernel), shape.tokens * copies * 7168 * 2 / rate, 0.01);
}

// With few SMs it takes what they take, whatever carries the bytes.
TEST(few_sms_take_time_in_proportion) {
    const Gpu *gpu = catalogue_gpu(test_catalogue(), "B200-SXM-180GB");
    const ExchangeKernel *kernel = exchange_kernel_of(gpu, "normal", "dispatch", false);
    ExchangeShape four = many_tokens(8, 1), two = four;
    four.sms = 4, two.sms = 2;
    double ratio = exchange_seconds(gpu, &two, kernel) / exchange_seconds(gpu, &four, kernel);
    EXPECT_NEAR(ratio, 2, 1e-3);
    two.sms = 0, four.sms = 20; // as many as DeepEP takes when nobody says
    EXPECT_NEAR(exchange_seconds(gpu, &two, kernel), exchange_seconds(gpu, &four, kernel), 1e-12);
}

// A message for each expert is more than a copy for each rank, and low latency needs an SM for each expert.
TEST(low_latency_pays_for_each_expert_and_starts_sooner) {
    const Gpu *gpu = catalogue_gpu(test_catalogue(), "H100-SXM5-80GB");
    const ExchangeKernel *low = exchange_kernel_of(gpu, "ll", "combine", false);
    const ExchangeKernel *normal = exchange_kernel_of(gpu, "normal", "combine", false);
    ExchangeShape shape = many_tokens(8, 1);
    EXPECT(exchange_seconds(gpu, &shape, low) > exchange_seconds(gpu, &shape, normal));
    shape.tokens = 1;
    EXPECT(exchange_seconds(gpu, &shape, low) < 0.5 * exchange_seconds(gpu, &shape, normal));
    ExchangeShape few = many_tokens(8, 1), some = few;
    low = exchange_kernel_of(gpu, "ll", "dispatch", false);
    few.experts = 8, few.per_token = some.per_token = 1, some.experts = 16; // 8 SMs, 16
    EXPECT_NEAR(exchange_seconds(gpu, &few, low) / exchange_seconds(gpu, &some, low), 2, 0.01);
}

TEST(more_to_exchange_is_never_quicker_nor_more_to_do_it_with_slower) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    RandomStream stream = random_stream(1, "test exchange", 0);
    for (int i = 0; i < 5000; i++) {
        const ExchangeKernel *kernel = &exchange_kernels[random_below(&stream, (uint64_t)exchange_kernel_count)];
        Gpu gpu = *catalogue_gpu(catalogue, random_below(&stream, 2) ? "H100" : "B200");
        double nodes = kernel->over_network ? 2 << random_below(&stream, 3) : 1;
        ExchangeShape shape = {.tokens = 1 + (double)random_below(&stream, 100000),
                               .hidden = 1024 * (1 + (double)random_below(&stream, 7)),
                               .experts = 64 << random_below(&stream, 3),
                               .per_token = 1 + (double)random_below(&stream, 8),
                               .ranks = 8 * nodes,
                               .nodes = nodes,
                               .element_bytes = random_below(&stream, 2) ? 2 : 1 + 4.0 / 128,
                               .sms = 2 + (double)random_below(&stream, 30),
                               .nic_bytes_per_second = 50e9};
        ExchangeShape more = shape, wider = shape, further = shape, quicker = shape;
        more.tokens *= 2, wider.hidden += 128, further.per_token++, quicker.sms += 2;
        quicker.nic_bytes_per_second *= 2;
        double seconds = exchange_seconds(&gpu, &shape, kernel);
        EXPECT(isfinite(seconds) && seconds > kernel->start_seconds);
        EXPECT(exchange_seconds(&gpu, &more, kernel) >= seconds);
        EXPECT(exchange_seconds(&gpu, &wider, kernel) >= seconds);
        EXPECT(exchange_seconds(&gpu, &further, kernel) >= seconds);
        EXPECT(exchange_seconds(&gpu, &quicker, kernel) <= seconds * (1 + 1e-12));
        gpu.nvlink_bytes_per_second *= 2;
        EXPECT(exchange_seconds(&gpu, &shape, kernel) <= seconds * (1 + 1e-12));
    }
    arena_close(arena);
}

// The table of kernels is what the fit says of the measurements that are shipped.
LONG_TEST(2, the_table_of_exchanges_holds_what_the_fit_gives) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const KernelFit *fit = kernel_fit(arena, &exchange_form, catalogue_builtin(arena), MEASUREMENTS, problems);
    problems_print(problems, stdout);
    EXPECT(fit && fit->count == exchange_kernel_count);
    double errors = 0;
    for (int i = 0; fit && i < fit->count; i++) {
        const ExchangeKernel *told = fit->items[i].kernel;
        const ExchangeKernel *row =
            exchange_kernel_of(fit->items[i].items->gpu, told->mode, told->phase, told->over_network);
        EXPECT(row && row->generation == told->generation && row->of_servers == told->of_servers);
        EXPECT_NEAR(row->start_seconds, told->start_seconds, 0.03);
        EXPECT_NEAR(row->nvlink_share, told->nvlink_share, 0.03);
        for (int p = 0; p < fit->items[i].count; p += 7) {
            const ExchangeShape *shape = fit->items[i].items[p].shape;
            const Gpu *gpu = fit->items[i].items[p].gpu;
            EXPECT_NEAR(exchange_seconds(gpu, shape, row), exchange_seconds(gpu, shape, told), 0.02);
        }
        errors += fit->items[i].median_error / fit->count;
    }
    EXPECT(errors < 0.06);
    arena_close(arena);
}
