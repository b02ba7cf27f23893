// Power: draw by activity, nodes against measured ones, limits and what they cost, racks and breakers.
#include "models/hardware/power.h"

#include "models/hardware/kernel.h"
#include "models/workload/money/money.h"
#include "tests/test.h"

static const Gpu *gpu_called(Arena *arena, const char *name) { return catalogue_gpu(catalogue_builtin(arena), name); }

TEST(a_gpu_draws_between_idle_and_its_tdp_whatever_it_does) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->gpu_count; i++)
        for (int a = 0; a < ACTIVITY_COUNT; a++) {
            double watts = gpu_activity_watts(&catalogue->gpus[i], (Activity)a);
            EXPECT(watts > 0 && watts <= catalogue->gpus[i].power_watts);
            EXPECT(watts >= gpu_activity_watts(&catalogue->gpus[i], ACTIVITY_OFF));
        }
    const Gpu *h200 = catalogue_gpu(catalogue, "H200"), *a100 = catalogue_gpu(catalogue, "A100-SXM4-80GB");
    EXPECT_NEAR(gpu_activity_watts(h200, ACTIVITY_MEMORY), 597, 0.01); // gpu-benches, memory-bound stream
    EXPECT_NEAR(gpu_activity_watts(h200, ACTIVITY_OFF), 80, 0.05);     // attested idle
    EXPECT_NEAR(gpu_mix_watts(a100, &activity_usual), 350, 0.06);      // sustained training
    EXPECT_NEAR(gpu_mix_watts(h200, &activity_idle), h200->idle_watts, 1e-12);
    arena_close(arena);
}

// A DGX H100 in training drew 8.4 kW of its 10.2 at most; heavy loads 76 % of the rating; typical 60 to 85 %.
TEST(a_node_in_training_draws_what_measured_ones_do) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const NodeType *node = catalogue_node(catalogue, "dgx-h100");
    const Gpu *gpu = node_gpu(catalogue, node, 0);
    double watts = 8 * gpu_mix_watts(gpu, &activity_usual) + host_mix_watts(node, gpu, &activity_usual);
    EXPECT_NEAR(watts, 0.76 * 10200, 0.05);
    ActivityMix busiest = {{[ACTIVITY_MATRIX] = 1}};
    double most = 8 * gpu_mix_watts(gpu, &busiest) + host_mix_watts(node, gpu, &busiest);
    EXPECT(most > 8000 && most < node_peak_watts(node, gpu));
    EXPECT_NEAR(node_peak_watts(node, gpu), 10200, 1e-12);
    arena_close(arena);
}

// ---- Limits.

TEST(a_limit_at_the_tdp_changes_nothing) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const Gpu *gpu = &catalogue->gpus[i];
        EXPECT(gpu_with_cap(arena, gpu, gpu->power_watts) == gpu);
        EXPECT_SAME(gpu_clock_share(gpu, gpu->power_watts), 1);
    }
    arena_close(arena);
}

TEST(a_limit_never_speeds_up_and_never_draws_more) {
    Arena *arena = arena_open();
    const Gpu *gpu = gpu_called(arena, "H100");
    Gemm gemm = {.precision = BF16, .batch = 1, .m = 8192, .n = 8192, .k = 8192};
    double before = gemm_seconds(gpu, &gemm), stream = memory_seconds(gpu, 1e9), clock = 1;
    for (double limit = 700; limit >= 175; limit -= 7) {
        const Gpu *capped = gpu_with_cap(arena, gpu, limit);
        double seconds = gemm_seconds(capped, &gemm), share = gpu_clock_share(gpu, limit);
        EXPECT(seconds >= before * (1 - 1e-12) && share <= clock);
        EXPECT_SAME(memory_seconds(capped, 1e9), stream); // memory-bound kernels keep their speed
        for (int a = 0; a < ACTIVITY_COUNT; a++) EXPECT(gpu_activity_watts(capped, (Activity)a) <= limit);
        before = seconds, clock = share;
    }
    EXPECT(before > 1.5 * gemm_seconds(gpu, &gemm));
    arena_close(arena);
}

// The draw at the clock found is the limit: the law solved by hand, f V^2 with V as f.
TEST(the_clock_under_a_limit_solves_the_law) {
    Arena *arena = arena_open();
    const Gpu *gpu = gpu_called(arena, "H100");
    double x = gpu_clock_share(gpu, 500);
    EXPECT_NEAR(gpu->idle_watts + (700 - gpu->idle_watts) * x * x * x, 500, 1e-9);
    EXPECT_NEAR(gpu_clock_share(gpu, 180), (180 - 77) / 623.0 / 0.36, 1e-9); // below the floor of the voltage
    arena_close(arena);
}

// Nothing in the law is fitted; parts of one die with two limits were measured by others.
TEST(three_pairs_of_parts_agree_with_the_law_within_six_percent) {
    Arena *arena = arena_open();
    const Gpu *h100 = gpu_called(arena, "H100"), *a100 = gpu_called(arena, "A100-SXM4-80GB");
    const Gpu *slow = gpu_called(arena, "H100-SXM-96GB-HBM2e-500W"), *pcie = gpu_called(arena, "H100-PCIE-80GB");
    EXPECT_NEAR(gpu_clock_share(h100, 500), slow->training_clock / h100->training_clock, 0.06);
    EXPECT_NEAR(gpu_clock_share(a100, 300), 252.9 / 271.2, 0.06); // best products, PCIe and SXM
    // By SM: an SXM's 132 SMs with so much above idle as leaves the 114 of a PCIe card its 350 W.
    double limit = h100->idle_watts + (350 - pcie->idle_watts) * 132 / 114;
    double measured = pcie->training_clock * pcie->tensor_hz / (h100->training_clock * h100->tensor_hz);
    EXPECT_NEAR(gpu_clock_share(h100, limit), measured, 0.06);
    arena_close(arena);
}

// Draw above idle goes by the SMs at work: a part with fewer of them has as much left for each as the whole die has at
// `limit`. Rates of the same die: clock in training times SMs' clock.
TEST(clocks_of_cards_follow_from_their_sxm_parts) {
    static const struct {
        const char *card, *sxm;
    } pairs[] = {{"A100-PCIE-40GB", "A100-SXM4-40GB"},
                 {"A100-PCIE-80GB", "A100-SXM4-80GB"},
                 {"A30", "A100-SXM4-40GB"},
                 {"H100-PCIE-80GB", "H100"}};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const Gpu *card = gpu_called(arena, pairs[i].card), *sxm = gpu_called(arena, pairs[i].sxm);
        bool whole = card->sm_count == sxm->sm_count; // then its idle draw is that die's
        double idle = whole ? sxm->idle_watts : card->idle_watts;
        double limit = sxm->idle_watts + (card->power_watts - idle) * sxm->sm_count / card->sm_count;
        double clock = gpu_clock_share(sxm, limit) * sxm->training_clock * sxm->tensor_hz / card->tensor_hz;
        EXPECT_NEAR(card->training_clock, clock, 0.01);
    }
    arena_close(arena);
}

TEST(work_per_joule_rises_under_a_limit) {
    Arena *arena = arena_open();
    const Gpu *gpu = gpu_called(arena, "H100");
    double before = 1 / 700.0;
    for (double limit = 690; limit >= 350; limit -= 10) {
        double per_joule = gpu_clock_share(gpu, limit) / limit;
        EXPECT(per_joule > before);
        before = per_joule;
    }
    arena_close(arena);
}

// ---- Clusters.

static const Cluster *cluster_of(Arena *arena, const char *node, int gpus, const char *link, const char *site,
                                 double cap, Problems *problems) {
    const Catalogue *catalogue = catalogue_builtin(arena);
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.type = catalogue_node(catalogue, node), .gpus = gpus};
    *spec = (ClusterSpec){.groups = group,
                          .group_count = 1,
                          .link = link ? catalogue_link(catalogue, link) : NULL,
                          .price_per_gpu_hour = -1,
                          .site = find_site(arena, catalogue, site, (Where){0}, problems),
                          .power_cap_watts = cap};
    return cluster_create(arena, catalogue, spec, problems);
}

TEST(four_dgx_h100_fill_a_rack_and_its_breakers) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Cluster *cluster = cluster_of(arena, "dgx-h100", 128, "ib-ndr400", "colocation", 0, problems);
    ClusterPower power = cluster_power(cluster, &activity_usual);
    EXPECT_INT(power.nodes_per_rack, 4);
    EXPECT_INT(power.racks, 4);
    // 40.8 kW on breakers of 0.8 x 1.732 x 415 V x 60 A = 34.5 kW: two for each of two feeds and four racks.
    EXPECT_NEAR(power.breaker_watts, 34503, 1e-3);
    EXPECT_INT(power.breakers, 16);
    EXPECT_NEAR(power.peak_watts, 16 * 10200 + power.network_watts, 1e-12);
    // With 500 W a GPU, 34.4 kW a rack, one will do.
    cluster = cluster_of(arena, "dgx-h100", 128, "ib-ndr400", "colocation", 500, problems);
    power = cluster_power(cluster, &activity_usual);
    EXPECT_INT(power.breakers, 8);
    arena_close(arena);
}

// A limit at which six workstations draw what one breaker bears, but for a part in 10^12.
TEST(machines_that_load_a_breaker_to_the_full_need_no_other) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    double watts[2], caps[2] = {150, 160};
    ClusterPower power = {0};
    for (int i = 0; i < 2; i++) {
        const Cluster *cluster = cluster_of(arena, "rtx3060-workstation", 6, "eth-1g", "office", caps[i], problems);
        power = cluster_power(cluster, &activity_usual);
        watts[i] = power.node_peak_watts;
    }
    double slope = (watts[1] - watts[0]) / (caps[1] - caps[0]), full = power.breaker_watts / 6 * (1 - 1e-12);
    double cap = caps[0] + (full - watts[0]) / slope;
    power =
        cluster_power(cluster_of(arena, "rtx3060-workstation", 6, "eth-1g", "office", cap, problems), &activity_usual);
    EXPECT_INT(problem_count(problems), 0);
    EXPECT_NEAR(6 * power.node_peak_watts, power.breaker_watts, 1e-11);
    EXPECT_INT(power.nodes_per_rack, 6);
    EXPECT_INT(power.breakers, 1);
    arena_close(arena);
}

TEST(a_node_that_is_too_much_for_a_wall_socket_is_pointed_out) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Cluster *big = cluster_of(arena, "dgx-h100", 8, NULL, "office", 0, problems);
    EXPECT(cluster_power(big, &activity_usual).node_exceeds_breaker);
    const Cluster *small = cluster_of(arena, "rtx3060-workstation", 3, "eth-1g", "office", 0, problems);
    ClusterPower power = cluster_power(small, &activity_usual);
    EXPECT(!power.node_exceeds_breaker);
    EXPECT_INT(power.breakers, 1); // 3 x 500 W on one of 2.9 kW
    EXPECT_INT(power.racks, 0);
    arena_close(arena);
}

TEST(power_of_partly_used_and_mixed_clusters_adds_up) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Cluster *whole = cluster_of(arena, "dgx-h100", 8, NULL, "colocation", 0, problems);
    const Cluster *part = cluster_of(arena, "dgx-h100", 5, NULL, "colocation", 0, problems);
    ClusterPower all = cluster_power(whole, &activity_usual), some = cluster_power(part, &activity_usual);
    const Gpu *gpu = whole->gpu_of[0];
    double saved = 3 * (gpu_mix_watts(gpu, &activity_usual) - gpu->idle_watts);
    EXPECT_NEAR(all.node_watts - some.node_watts, saved, 1e-9); // three GPUs of the node idle
    EXPECT_NEAR(all.peak_watts, some.peak_watts, 1e-12);
    EXPECT(power_at_wall(&all) > idle_power_at_wall(&all) && peak_power_at_wall(&all) > power_at_wall(&all));
    arena_close(arena);
}

TEST(carbon_goes_with_the_grid_and_pue_with_the_wall) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    Problems *problems = problems_create(arena);
    const Cluster *cluster = cluster_of(arena, "dgx-h100", 16, "ib-ndr400", "colocation", 0, problems);
    ClusterSpec spec = *cluster->spec;
    double kg[3], watts[3];
    static const char *const grids[] = {"france", "world", "world"};
    static const double pues[] = {1.1, 1.1, 1.5};
    for (int i = 0; i < 3; i++) {
        spec.grid = find_grid(arena, catalogue, grids[i], (Where){0}, problems);
        spec.power_usage_effectiveness = pues[i];
        const Cluster *built = cluster_create(arena, catalogue, &spec, problems);
        ClusterBill bill = cluster_bill(arena, built, &activity_usual);
        kg[i] = bill.carbon_kg_per_hour, watts[i] = bill.wall_watts;
        EXPECT_NEAR(kg[i], watts[i] / 1e6 * spec.grid->carbon_grams_per_kwh, 1e-12);
    }
    EXPECT_NEAR(kg[1] / kg[0], 472.94 / 44.18, 1e-9);
    EXPECT_NEAR(watts[2] / watts[1], 1.5 / 1.1, 1e-12);
    arena_close(arena);
}

TEST(limits_that_no_driver_takes_are_refused) {
    static const double limits[] = {701, 174, 1, 5000};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        EXPECT(!cluster_of(arena, "dgx-h100", 8, NULL, "colocation", limits[i], problems));
        EXPECT_CONTAINS(problem_at(problems, 0)->text, "is none that H100-SXM5-80GB takes");
        EXPECT_CONTAINS(problem_at(problems, 0)->hint, "from 175 W to its 700 W");
        arena_close(arena);
    }
}
