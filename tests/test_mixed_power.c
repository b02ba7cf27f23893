// Power of clusters of several types of machine: each GPU draws what its own type does.
#include "models/workload/money/money.h"
#include "tests/script.h"
#include "tests/test.h"

// First node first, or the other way round; 0 GPUs: without it.
static ClusterPower power_of(const char *first, int first_gpus, const char *second, int second_gpus) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    NodeGroup groups[] = {{.type = catalogue_node(test_catalogue(), first), .gpus = first_gpus},
                          {.type = second ? catalogue_node(test_catalogue(), second) : NULL, .gpus = second_gpus}};
    ClusterSpec spec = {.groups = groups,
                        .group_count = second ? 2 : 1,
                        .link = catalogue_link(test_catalogue(), "ib-hdr200"),
                        .fabric = FABRIC_FAT_TREE,
                        .rail_optimised = true,
                        .oversubscription = 1,
                        .price_per_gpu_hour = 2};
    const Cluster *cluster = cluster_create(arena, test_catalogue(), &spec, problems);
    problems_print(problems, stdout);
    ClusterPower power = cluster ? cluster_power(cluster, &activity_usual) : (ClusterPower){0};
    EXPECT(cluster != NULL);
    arena_close(arena);
    return power;
}

TEST(machines_of_a_mixture_draw_what_they_draw_apart) {
    ClusterPower small = power_of("dgx-a100", 8, NULL, 0), large = power_of("dgx-h100", 16, NULL, 0);
    ClusterPower mixed = power_of("dgx-a100", 8, "dgx-h100", 16), turned = power_of("dgx-h100", 16, "dgx-a100", 8);
    EXPECT(large.node_watts > 2.2 * small.node_watts);
    EXPECT_NEAR(mixed.node_watts, small.node_watts + large.node_watts, 1e-12);
    EXPECT_NEAR(turned.node_watts, mixed.node_watts, 1e-12);
    EXPECT_NEAR(turned.node_peak_watts, large.node_peak_watts, 1e-12);
    EXPECT_NEAR(mixed.node_peak_watts, large.node_peak_watts, 1e-12);
    EXPECT_NEAR(mixed.peak_watts - mixed.network_watts,
                small.peak_watts - small.network_watts + large.peak_watts - large.network_watts, 1e-12);
}

// All of a step's causes, and nothing that lies behind them.
TEST(a_step_is_split_among_activities_by_its_causes) {
    double spent[CAUSE_COUNT + 1];
    for (int c = 0; c < CAUSE_COUNT; c++) spent[c] = c == CAUSE_GEMM ? 3 : 0.25;
    spent[CAUSE_COUNT] = 1e9;
    ActivityMix mix = activity_of_step(spent);
    double sum = 0;
    for (int a = 0; a < ACTIVITY_COUNT; a++) sum += mix.share[a];
    EXPECT_NEAR(sum, 1, 1e-12);
    for (int c = 0; c < CAUSE_COUNT; c++) spent[c] = 0;
    mix = activity_of_step(spent);
    for (int a = 0; a < ACTIVITY_COUNT; a++) EXPECT_NEAR(mix.share[a], activity_idle.share[a], 0);
}
