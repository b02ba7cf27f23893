// Neighbours on a shared cluster: the slowdown of a job is that of its simulated step.
#include "models/workload/job/job.h"
#include "models/workload/queue/queue.h"
#include "models/workload/step/simulate.h"
#include "tests/script.h"
#include "tests/test.h"

#define SECOND TICKS_PER_SECOND_LIFE

typedef struct Machines {
    NodeGroup group;
    ClusterSpec cluster;
    TrainingSpec training;
} Machines;

static void set_machines(Arena *arena, Machines *m, double oversubscription) {
    const Catalogue *catalogue = test_catalogue();
    m->group = (NodeGroup){.type = catalogue_node(catalogue, "dgx-a100"), .gpus = 8};
    m->cluster = (ClusterSpec){.groups = &m->group,
                               .group_count = 1,
                               .link = catalogue_link(catalogue, "ib-hdr200"),
                               .fabric = FABRIC_FAT_TREE,
                               .nodes_per_leaf = 4,
                               .oversubscription = oversubscription,
                               .price_per_gpu_hour = -1};
    const Model *model = find_model(arena, "gpt2-1.5b", (Where){0}, problems_create(arena));
    m->training = job_usual(model, (GpuTypes){&(const Gpu *){node_gpu(catalogue, m->group.type, 0)}, 1});
    m->training.micro_batch = 1;
}

// The step of 4 nodes, two on each of two leaves of this oversubscription; 0: all on one.
static double step_of(Arena *arena, const Machines *m, double oversubscription) {
    Problems *problems = problems_create(arena);
    NodeGroup group = m->group;
    ClusterSpec cluster = m->cluster;
    group.gpus = 32;
    cluster.groups = &group;
    cluster.nodes_per_leaf = oversubscription > 0 ? 2 : 4;
    cluster.oversubscription = oversubscription > 0 ? oversubscription : 1;
    SimulationOptions options = {.assume_fits = true};
    const Cluster *built = cluster_create(arena, test_catalogue(), &cluster, problems);
    SimulatedStep step = simulate_step(arena, built, &m->training, &options, problems);
    EXPECT(step.ran);
    return step.step_p50_s;
}

// Unless the user says how many nodes share a leaf switch, 32 do; where there are no leaves all share one.
TEST(a_tree_has_as_many_nodes_to_a_leaf_as_it_says_or_32) {
    Arena *arena = arena_open();
    Machines m;
    set_machines(arena, &m, 2);
    EXPECT_INT(queue_network_nodes_per_leaf(queue_network_create(arena, test_catalogue(), &m.cluster, &m.training)), 4);
    m.cluster.nodes_per_leaf = 0;
    const QueueNetwork *usual = queue_network_create(arena, test_catalogue(), &m.cluster, &m.training);
    EXPECT_INT(queue_network_nodes_per_leaf(usual), 32);
    EXPECT_NEAR(queue_network_uplink(usual), 16, 1e-12); // two nodes share what one could use
    m.cluster.fabric = FABRIC_RAIL_ONLY;
    EXPECT_INT(queue_network_nodes_per_leaf(queue_network_create(arena, test_catalogue(), &m.cluster, &m.training)), 0);
    arena_close(arena);
}

TEST(a_spread_job_is_as_slow_as_its_simulated_step) {
    Arena *arena = arena_open();
    Machines m;
    set_machines(arena, &m, 4);
    QueueNetwork *network = queue_network_create(arena, test_catalogue(), &m.cluster, &m.training);
    Spread packed = {32, 4, 1}, spread = {32, 4, 2};
    EXPECT_NEAR(queue_network_uplink(network), 1, 1e-12); // 4 nodes' NICs over 4
    EXPECT(queue_network_slowdown(network, packed, 1) == 1 && queue_network_demand(network, packed) == 0);
    // Two nodes of a leaf with the uplinks of one: oversubscribed twofold; with a quarter of one: eightfold.
    double alone = step_of(arena, &m, 0);
    EXPECT_NEAR(queue_network_slowdown(network, spread, 1), step_of(arena, &m, 2) / alone, 1e-9);
    EXPECT_NEAR(queue_network_slowdown(network, spread, 0.25), step_of(arena, &m, 8) / alone, 1e-9);
    EXPECT_NEAR(queue_network_slowdown(network, spread, INFINITY), fmax(1, step_of(arena, &m, 1) / alone), 1e-9);
    // Between two steps of the ladder, on a line.
    double between = 0.5 * (step_of(arena, &m, 4) + step_of(arena, &m, 6)) / alone;
    EXPECT_NEAR(queue_network_slowdown(network, spread, 0.4), between, 1e-9);
    EXPECT(queue_network_slowdown(network, spread, 0.25) > 1.1); // the case says something
    EXPECT(queue_network_demand(network, spread) > 0.01 && queue_network_demand(network, spread) < 2);
    int simulated = queue_network_simulated(network);
    queue_network_slowdown(network, spread, 0.4);
    EXPECT_INT(queue_network_simulated(network), simulated); // kept
    arena_close(arena);
}

// Two leaves of 4 nodes. Jobs of 4 nodes that are forced over both leaves, alone or together.
static QueueRun run_jobs(Arena *arena, QueueNetwork *network, QueuePlacement placement, int jobs) {
    QueueJob *list = ARENA_ARRAY(arena, QueueJob, jobs);
    for (int i = 0; i < jobs; i++)
        list[i] = (QueueJob){.arrival = i, .work = 100 * SECOND, .estimate = 100 * SECOND, .gpus = 32, .row = i};
    QueueSpec spec = {.nodes = 8, .gpus_per_node = 8, .nodes_per_leaf = 4, .policy = &queue_policies[0]};
    spec.placement = placement, spec.network = network;
    return queue_run(arena, &spec, queue_jobs_sorted(arena, list, jobs, 1, NULL));
}

TEST(neighbours_slow_each_other_down_and_packed_jobs_do_not_meet) {
    Arena *arena = arena_open();
    Machines m;
    set_machines(arena, &m, 8);
    QueueNetwork *network = queue_network_create(arena, test_catalogue(), &m.cluster, &m.training);
    Spread spread = {32, 4, 2};
    QueueRun packed = run_jobs(arena, network, QUEUE_PACK_LEAVES, 2);
    QueueRun alone = run_jobs(arena, network, QUEUE_SPREAD, 1), both = run_jobs(arena, network, QUEUE_SPREAD, 2);
    EXPECT_INT(packed.outcomes[0].end, 100 * SECOND);
    EXPECT(packed.crossing_share == 0 && both.crossing_share == 1);
    double uplink = queue_network_uplink(network), demand = queue_network_demand(network, spread);
    double one = queue_network_slowdown(network, spread, uplink);
    double two = queue_network_slowdown(network, spread, fmax(uplink - demand, uplink / 2));
    EXPECT_NEAR((double)alone.outcomes[0].end, 100e9 * one, 1e-6);
    EXPECT_NEAR((double)both.outcomes[0].end, 100e9 * two, 1e-6);
    EXPECT(two > one && one > 1);
    EXPECT(both.mean_slowdown > 1 && packed.mean_slowdown == 1);
    arena_close(arena);
}

TEST(a_layout_that_does_not_divide_a_size_is_named_and_not_slowed_down) {
    Arena *arena = arena_open();
    Machines m;
    set_machines(arena, &m, 8);
    m.training.layout.tp = 8;
    QueueNetwork *network = queue_network_create(arena, test_catalogue(), &m.cluster, &m.training);
    EXPECT_SAME(queue_network_slowdown(network, (Spread){12, 3, 2}, 0.1), 1);
    EXPECT_SAME(queue_network_demand(network, (Spread){12, 3, 2}), 0);
    EXPECT_TEXT(queue_network_refused(network), "12");
    arena_close(arena);
}
