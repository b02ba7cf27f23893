// Every fabric: routes, hops, bisection, all-to-all against the link that must decide it, mistakes.
#include "models/network/topology.h"
#include "tests/fabric_cases.h"
#include "tests/networks.h"
#include "tests/test.h"

static Network *network_case(Arena *arena, const FabricCase *c) {
    Problems *problems = problems_create(arena);
    const FabricShape *shape = fabric_case_shape(arena, c->text, problems);
    if (!shape) test_fail(__FILE__, __LINE__, "%s is not understood", c->text);
    if (!shape) problems_print(problems, stdout);
    return shape ? network_of(arena, dgx_a100(), c->nodes, *shape) : NULL;
}

static int *all_ranks(Arena *arena, const Network *network) {
    return first_ranks(arena, network, network_rank_count(network) / 8, 8);
}

// ---- Routes.
static void expect_route(const Network *network, const char *fabric, int from, int to) {
    int32_t links[NETWORK_ROUTE_LIMIT], back[NETWORK_ROUTE_LIMIT];
    double latency, back_latency;
    int count = network_route(network, from, to, links, &latency), link_count;
    network_links(network, &link_count);
    bool sound = (count > 0) == (from != to) && count == network_route(network, to, from, back, &back_latency);
    sound = sound && fabs(latency - back_latency) < 1e-12;
    for (int i = 0; i < count; i++) {
        sound = sound && links[i] >= 0 && links[i] < link_count && network_link_rate(network, links[i]) > 0;
        for (int j = 0; j < i; j++) sound = sound && links[j] != links[i]; // no loops
    }
    if (!sound) test_fail(__FILE__, __LINE__, "%s: route from %d to %d is wrong", fabric, from, to);
}

TEST(every_pair_has_a_route_without_loops_that_is_as_long_back) {
    for (int i = 0; i < fabric_case_count; i++) {
        Arena *arena = arena_open();
        const Network *network = network_case(arena, &fabric_cases[i]);
        for (int a = 0; a < network_rank_count(network); a++)
            for (int b = 0; b < network_rank_count(network); b++) expect_route(network, fabric_cases[i].text, a, b);
        arena_close(arena);
    }
}

// A route's fabric links follow each other: each begins at the switch where the last one ended.
TEST(fabric_links_of_a_route_lead_from_switch_to_switch) {
    for (int i = 0; i < fabric_case_count; i++) {
        Arena *arena = arena_open();
        const Network *network = network_case(arena, &fabric_cases[i]);
        for (int to = 8; to < network_rank_count(network); to++) {
            int32_t links[NETWORK_ROUTE_LIMIT];
            double latency;
            const char *at = NULL;
            int count = network_route(network, 0, to, links, &latency);
            for (int l = 0; l < count; l++) {
                if (links[l] < network->first_fabric_link) continue;
                int place = links[l] - network->first_fabric_link;
                const FabricEnds *ends = &network->fabric_ends[place / 2];
                if (at) EXPECT_TEXT(place % 2 ? ends->to : ends->from, at);
                at = place % 2 ? ends->from : ends->to;
            }
        }
        arena_close(arena);
    }
}

TEST(the_farthest_nodes_are_as_many_switches_apart_as_the_book_says) {
    for (int i = 0; i < fabric_case_count; i++) {
        Arena *arena = arena_open();
        const Network *network = network_case(arena, &fabric_cases[i]);
        double most = 0;
        for (int n = 0; n < network->node_count; n++)
            for (int m = 0; m < network->node_count; m++)
                most =
                    fmax(most, fabric_switch_seconds(network, fabric_leaf(network, n, 0), fabric_leaf(network, m, 0)));
        int switches = (int)lround(most / network->fabric.switch_latency_seconds);
        if (switches != fabric_cases[i].most_switches)
            test_fail(__FILE__, __LINE__, "%s: %d switches, not %d", fabric_cases[i].text, switches,
                      fabric_cases[i].most_switches);
        arena_close(arena);
    }
}

// ---- Capacity.
typedef struct Sums {
    const Network *network;
    double *bytes;
} Sums;

static void add_bytes(void *context, int32_t link, double share) {
    Sums *sums = context;
    sums->bytes[link] += share;
}

// All nodes of the first half send evenly to all of the second, by NICs with the same number.
TEST(bisection_bandwidth_is_that_of_the_formula) {
    for (int i = 0; i < fabric_case_count; i++) {
        Arena *arena = arena_open();
        const Network *network = network_case(arena, &fabric_cases[i]);
        int half = network->node_count / 2;
        Sums sums = {network, ARENA_ARRAY(arena, double, network->link_count)};
        for (int a = 0; a < half; a++)
            for (int b = half; b < 2 * half; b++)
                for (int nic = 0; nic < 8; nic++)
                    fabric_cross(network, fabric_leaf(network, a, nic), fabric_leaf(network, b, nic),
                                 1.0 / half / half / 8, &(Crossing){add_bytes, &sums, true});
        double slowest = 1 / (half * NODE_RATE);
        for (int l = network->first_fabric_link; l < network->link_count; l++)
            slowest = fmax(slowest, sums.bytes[l] / network_link_rate(network, l));
        if (fabs(1 / slowest / fabric_cases[i].bisection - 1) > 1e-9)
            test_fail(__FILE__, __LINE__, "%s: bisection of %g B/s, not %g", fabric_cases[i].text, 1 / slowest,
                      fabric_cases[i].bisection);
        arena_close(arena);
    }
}

// The fabric's narrowest link under a full all-to-all, from the plan.
static double slowest_fabric_link(const Network *network, const Plan *plan) {
    double slowest = 0;
    for (int i = 0; i < plan->use_count; i++)
        if (plan->uses[i].link >= network->first_fabric_link)
            slowest = fmax(slowest, plan->uses[i].weight / network_link_rate(network, plan->uses[i].link));
    return slowest;
}

static double exchange_scale(const Network *network, const Plan *plan) {
    double out = 0;
    for (int i = 0; i < plan->use_count; i++)
        if (strstr(network_link(network->arena, network, plan->uses[i].link).name, "nic0.out"))
            out += plan->uses[i].weight;
    int nodes = network->node_count;
    return out / (nodes - 1.0); // a NIC sends (N - 1) / N of its GPU's byte: 1 when the plan has one byte per byte
}

TEST(a_full_exchange_takes_what_its_narrowest_links_take) {
    for (int i = 0; i < fabric_case_count; i++) {
        Arena *arena = arena_open();
        const Network *network = network_case(arena, &fabric_cases[i]);
        int count = network_rank_count(network);
        CollectiveRequest request = {
            .op = COLLECTIVE_ALL_TO_ALL, .ranks = all_ranks(arena, network), .rank_count = count, .bytes = 1e9};
        CollectivePlan plan = collective_plan(arena, network, &request);
        double slowest = slowest_fabric_link(network, &plan.plan) / exchange_scale(network, &plan.plan);
        double expected = fabric_cases[i].exchange_seconds;
        if (expected > 0 ? fabs(slowest / expected - 1) > 1e-6 : slowest > 1 / NIC)
            test_fail(__FILE__, __LINE__, "%s: %g s per byte, not %g", fabric_cases[i].text, slowest, expected);
        if (expected > 0) EXPECT(plan.limiting_link >= network->first_fabric_link);
        arena_close(arena);
    }
}

// What NICs send is what arrives, and each ring step crosses the fabric once in all.
TEST(what_leaves_nodes_crosses_the_fabric_for_every_collective) {
    static const CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL,
                                       COLLECTIVE_BROADCAST, COLLECTIVE_GATHER};
    for (int i = 0; i < fabric_case_count; i++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (int backend = 0; backend < BACKEND_COUNT; backend++) {
                Arena *arena = arena_open();
                const Network *network = network_case(arena, &fabric_cases[i]);
                CollectiveRequest request = {.op = ops[o],
                                             .backend = (Backend)backend,
                                             .ranks = all_ranks(arena, network),
                                             .rank_count = network_rank_count(network),
                                             .bytes = 1e8};
                CollectivePlan whole = collective_plan(arena, network, &request);
                const Network *flat =
                    network_case(arena, &(FabricCase){"single_switch", fabric_cases[i].nodes, 0, 0, 0});
                EXPECT(whole.alone_seconds >= collective_plan(arena, flat, &request).alone_seconds - 1e-12);
                double up = 0, down = 0;
                for (int u = 0; u < whole.plan.use_count; u++) {
                    const char *name = network_link(network->arena, network, whole.plan.uses[u].link).name;
                    if (strstr(name, "leaf") && strstr(name, ".up")) up += whole.plan.uses[u].weight;
                    if (strstr(name, "leaf") && strstr(name, ".down")) down += whole.plan.uses[u].weight;
                }
                EXPECT_NEAR(up, down, 1e-5 * (up + 1));
                arena_close(arena);
            }
}

TEST(a_shift_crosses_each_leaf_once_out_and_once_in) {
    Arena *arena = arena_open();
    FabricCase c = {"leaf_spine:nodes_per_leaf=2:oversubscription=8", 8, 0, 0, 0};
    const Network *network = network_case(arena, &c);
    CollectiveRequest request = {
        .op = COLLECTIVE_SEND_RECV, .ranks = all_ranks(arena, network), .rank_count = 64, .bytes = 1e8, .shift = true};
    CollectivePlan plan = collective_plan(arena, network, &request);
    double sent = 0; // by the one NIC that leaves each node
    int leaf_links = 0;
    for (int u = 0; u < plan.plan.use_count; u++)
        if (strcmp(network_link(network->arena, network, plan.plan.uses[u].link).name, "node0.nic7.out") == 0)
            sent = plan.plan.uses[u].weight;
    for (int u = 0; u < plan.plan.use_count; u++) {
        if (plan.plan.uses[u].link < network->first_fabric_link) continue;
        EXPECT_NEAR(plan.plan.uses[u].weight, sent, 1e-12);
        leaf_links++;
    }
    EXPECT(sent > 0);
    EXPECT_NEAR(leaf_links, 2 * 4, 0); // up and down of four leaves
    arena_close(arena);
}

// Whatever the fabric's narrowest link, nothing that can be asked for is faster than what is chosen freely.
TEST(the_choice_of_algorithm_knows_the_fabric) {
    static const char *const algorithms[] = {"ring", "tree", "nvls_tree"};
    FabricCase narrow = {"leaf_spine:nodes_per_leaf=2:oversubscription=64", 8, 0, 0, 0};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Network *network =
        network_of(arena, dgx_h100(), narrow.nodes, *fabric_case_shape(arena, narrow.text, problems));
    for (double bytes = 1e3; bytes < 1e11; bytes *= 4) {
        CollectiveRequest request = {
            .op = COLLECTIVE_ALL_REDUCE, .ranks = all_ranks(arena, network), .rank_count = 64, .bytes = bytes};
        double chosen = collective_plan(arena, network, &request).alone_seconds;
        for (int a = 0; a < 3; a++) {
            request.algorithm = algorithms[a];
            EXPECT(chosen <= collective_plan(arena, network, &request).alone_seconds * (1 + 1e-9));
        }
    }
    arena_close(arena);
}

// ---- Twins.
static double exchange_on(const char *text, int nodes) {
    Arena *arena = arena_open();
    FabricCase c = {text, nodes, 0, 0, 0};
    const Network *network = network_case(arena, &c);
    CollectiveRequest request = {.op = COLLECTIVE_ALL_TO_ALL,
                                 .ranks = all_ranks(arena, network),
                                 .rank_count = network_rank_count(network),
                                 .bytes = 1e9};
    double seconds = collective_plan(arena, network, &request).alone_seconds;
    arena_close(arena);
    return seconds;
}

TEST(a_graph_drawn_like_another_fabric_takes_the_same_time) {
    EXPECT_NEAR(exchange_on("tests/data/fabrics/ring_of_four.json", 4), exchange_on("torus:dims=4", 4), 1e-9);
    EXPECT_NEAR(exchange_on("tests/data/fabrics/leaf_spine.json", 8),
                exchange_on("leaf_spine:nodes_per_leaf=4:oversubscription=4", 8), 1e-7);
    EXPECT_NEAR(exchange_on("fat_tree:nodes_per_leaf=2:nodes_per_pod=8:oversubscription=3", 8),
                exchange_on("leaf_spine:nodes_per_leaf=2:oversubscription=3", 8), 1e-7);
}

TEST(a_long_line_is_crossed_twice_by_a_ring_that_turns_twice) {
    Arena *arena = arena_open();
    FabricCase far = {"sites:nodes_per_site=4:site_bandwidth=400 Gb/s:site_latency=5 ms", 8, 0, 0, 0};
    FabricCase near = {"sites:nodes_per_site=4:site_bandwidth=400 Gb/s:site_latency=0 ms", 8, 0, 0, 0};
    const Network *networks[] = {network_case(arena, &far), network_case(arena, &near)};
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        CollectiveRequest request = {
            .op = COLLECTIVE_ALL_REDUCE, .ranks = all_ranks(arena, networks[i]), .rank_count = 64, .bytes = 1e6};
        seconds[i] = collective_plan(arena, networks[i], &request).alone_seconds;
    }
    EXPECT_NEAR(seconds[0] - seconds[1], 2 * 2 * 5e-3, 1e-9); // two lines, two turns
    arena_close(arena);
}

TEST(hashed_flows_collide_as_balls_in_bins) {
    EXPECT_NEAR(fabric_hash_share(4, 1), 1, 1e-12);
    // Two flows over two links meet half of the time: fullest 1.5 on average, mean 1. Poisson numbers come near that.
    EXPECT(fabs(fabric_hash_share(2, 2) - 1 / 1.5) < 0.08);
    // 16 flows a NIC over as many links as NICs (64): 60 % of the links is what is reported for plain Ethernet.
    EXPECT(fabric_hash_share(16 * 64, 64) > 0.55 && fabric_hash_share(16 * 64, 64) < 0.68);
    for (int flows = 1; flows < 256; flows *= 2)
        EXPECT(fabric_hash_share(64 * flows, 64) < fabric_hash_share(64 * 2 * flows, 64));
    EXPECT(exchange_on("leaf_spine:nodes_per_leaf=2:oversubscription=3:hashed_flows=4", 8) >
           exchange_on("leaf_spine:nodes_per_leaf=2:oversubscription=3", 8));
}

TEST(tcp_over_a_long_line_is_held_back_by_its_window) {
    EXPECT_NEAR(transport_rate(NET_TCP, 10e-3, 1), 2 * 4194304 / 10e-3, 1e-9);
    EXPECT_NEAR(transport_rate(NET_TCP, 1e-6, 1), 2 * 3e9, 1e-9); // the connections' own limit
    EXPECT_NEAR(transport_rate(NET_INFINIBAND, 10e-3, 1), 0, 1e-12);
    // Of 100000 B on each of two connections 14480 and 28960 go first, and the third window of 57920 holds the rest.
    EXPECT_NEAR(transport_start_seconds(NET_TCP, 1, 200000, 1), 2, 1e-12);
    EXPECT_NEAR(transport_start_seconds(NET_TCP, 1, 1000, 1), 0, 1e-12);
    EXPECT_NEAR(transport_payload_share(transport_row(NET_TCP), 1500), 1448.0 / 1538, 1e-9);
    EXPECT_NEAR(transport_payload_share(transport_row(NET_TCP), 9000), 8948.0 / 9038, 1e-9);
    EXPECT(transport_payload_share(transport_row(NET_ROCE), 4096) > 0.97);
}

// ---- NVLink domains of several nodes.
TEST(trays_of_one_nvlink_domain_leave_the_fabric_alone) {
    Arena *arena = arena_open();
    const FabricShape *shape = fabric_case_shape(
        arena, "dragonfly_plus:groups=2:switches_per_group=3:nodes_per_switch=6", problems_create(arena));
    const Network *network = network_of(arena, nvl72_tray(), 36, *shape);
    static const CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_TO_ALL};
    for (int o = 0; o < 2; o++)
        for (int trays = 18; trays <= 36; trays += 18) {
            int ranks[144];
            for (int r = 0; r < 4 * trays; r++) ranks[r] = r;
            CollectiveRequest request = {.op = ops[o], .ranks = ranks, .rank_count = 4 * trays, .bytes = 1e8};
            CollectivePlan plan = collective_plan(arena, network, &request);
            EXPECT((slowest_fabric_link(network, &plan.plan) > 0) == (trays == 36));
        }
    arena_close(arena);
}

// ---- Mistakes.
static const char *complaint(Arena *arena, const char *text, int nodes) {
    Problems *problems = problems_create(arena);
    const FabricShape *shape = fabric_case_shape(arena, text, problems);
    if (shape) {
        NodeShape node = dgx_a100();
        NetworkSpec spec = {&node, ARENA_ARRAY(arena, int, nodes), nodes, *shape, NULL};
        if (network_create(arena, &spec, (Where){0}, problems)) return "nothing";
    }
    return problem_count(problems) ? problem_at(problems, 0)->text : "silence";
}

TEST(fabrics_that_cannot_be_are_refused) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(complaint(arena, "dragnfly", 4), "no kind of fabric \"dragnfly\"");
    EXPECT_CONTAINS(complaint(arena, "torus:dims=3", 4), "room for 3 nodes, not for 4");
    EXPECT_CONTAINS(complaint(arena, "torus:dims=3x4", 8), "leave 4 of the torus's 12 places empty");
    EXPECT_CONTAINS(complaint(arena, "torus", 4), "needs dims");
    EXPECT_CONTAINS(complaint(arena, "torus:dims=2x2x2x2", 4), "1 to 3 dimensions");
    EXPECT_CONTAINS(complaint(arena, "torus:dims=0x4", 4), "1 to 128 nodes long");
    EXPECT_CONTAINS(complaint(arena, "torus:groups=4:dims=4", 4), "has no field \"groups\"");
    EXPECT_CONTAINS(complaint(arena, "dragonfly:groups=2", 4), "needs switches_per_group");
    EXPECT_CONTAINS(complaint(arena, "dragonfly:groups=2:switches_per_group=1:nodes_per_switch=1", 4),
                    "room for 2 nodes");
    EXPECT_CONTAINS(complaint(arena, "fat_tree:nodes_per_leaf=3:nodes_per_pod=4", 8), "no whole number of leafs");
    EXPECT_CONTAINS(complaint(arena, "fat_tree:nodes_per_leaf=2.5", 8), "2.5");
    EXPECT_CONTAINS(complaint(arena, "fat_tree:oversubscription=0", 8), "oversubscription is 0");
    EXPECT_CONTAINS(complaint(arena, "fat_tree:nodes_per_leaf", 8), "is no name=value");
    EXPECT_CONTAINS(complaint(arena, "sites:nodes_per_site=4:site_latency=1 ms", 8), "needs site_bandwidth");
    EXPECT_CONTAINS(complaint(arena, "tests/data/fabrics/two_islands.json", 2), "cannot reach");
    EXPECT_CONTAINS(complaint(arena, "tests/data/fabrics/two_rooms.json", 9), "places for 8 nodes");
    EXPECT_CONTAINS(complaint(arena, "no/such/file.json", 2), "cannot be read");
    arena_close(arena);
}
