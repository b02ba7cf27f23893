// Collectives message by message: formulas on one switch, laws of bytes, folding, and agreement with whole collectives
// where the two must agree.
#include <string.h>

#include "models/network/messages/algorithm.h"
#include "models/network/messages/flows.h"
#include "models/network/network_constants.h"
#include "models/network/topology.h"
#include "sim/base/random.h"
#include "sim/clock.h"
#include "tests/fabric_cases.h"
#include "tests/networks.h"
#include "tests/test.h"

#define GB 1e9

typedef struct Flown {
    FlowResult result;
    double bytes;
} Flown;

static Flown fly(Arena *arena, const Network *network, const CollectiveRequest *request, bool fold) {
    const char *why = "", *remedy;
    const FlowPlan *plan = flow_plan(arena, network, request, &why, &remedy);
    if (!plan) test_fail(__FILE__, __LINE__, "%s", why);
    if (!plan) return (Flown){0};
    FlowSystem flows = flow_system(arena, plan);
    const char *wrong = system_check(arena, &flows.system);
    if (wrong) test_fail(__FILE__, __LINE__, "%s", wrong);
    return (Flown){flow_run(arena, plan, &flows, fold), flows.bytes};
}

// ---- Formulas: MPI between nodes of one process each, on one switch.
#define PROCESS_RATE 10e9             // of a process, below the NIC's
#define MESSAGE_TIME (1e-6 + 1.75e-6) // MPI's own, InfiniBand's with one switch

static int *ranks_of_nodes(Arena *arena, int count) {
    int *ranks = ARENA_ARRAY(arena, int, count);
    for (int i = 0; i < count; i++) ranks[i] = 8 * i;
    return ranks;
}

static Flown on_one_switch(Arena *arena, CollectiveOp op, const char *algorithm, int n, double bytes) {
    const Network *network = network_of(arena, dgx_a100(), n, infiniband(200));
    CollectiveRequest request = {.op = op,
                                 .backend = BACKEND_MPI,
                                 .on_host = true,
                                 .ranks = ranks_of_nodes(arena, n),
                                 .rank_count = n,
                                 .bytes = bytes,
                                 .algorithm = algorithm,
                                 .shift = op == COLLECTIVE_SEND_RECV};
    return fly(arena, network, &request, false);
}

// Time is messages * MESSAGE_TIME + share * bytes / PROCESS_RATE; all ranks together send `sent` times the bytes.
typedef struct Formula {
    CollectiveOp op;
    const char *algorithm;
    double (*messages)(double n);
    double (*share)(double n);
    double (*sent)(double n);
    bool any_number; // of ranks, not powers of two alone
} Formula;

static double one(double n) { return n > 0; }
static double none(double n) { return n < 0; }
static double steps(double n) { return ceil(log2(n)); }
static double two_steps(double n) { return 2 * steps(n); }
static double others(double n) { return n - 1; }
static double two_others(double n) { return 2 * (n - 1); }
static double all(double n) { return n; }
static double part(double n) { return (n - 1) / n; }
static double two_parts(double n) { return 2 * part(n); }
static double all_steps(double n) { return n * steps(n); }
static double half_steps(double n) { return steps(n) / 2; }
static double all_half_steps(double n) { return n * half_steps(n); }
static double chain(double n) { return (n - 1 + 7) / 8; } // eight chunks: n-1 for the first, one more for each other

static const Formula formulas[] = {
    {COLLECTIVE_ALL_REDUCE, "ring", two_others, two_parts, two_others, true},
    {COLLECTIVE_ALL_REDUCE, "hierarchical", two_others, two_parts, two_others, true},
    {COLLECTIVE_ALL_REDUCE, "recursive_doubling", steps, steps, all_steps, false},
    {COLLECTIVE_ALL_REDUCE, "halving_doubling", two_steps, two_parts, two_others, false},
    {COLLECTIVE_ALL_REDUCE, "rabenseifner", two_steps, two_parts, two_others, false},
    {COLLECTIVE_ALL_REDUCE, "binomial", two_steps, two_steps, two_others, false},
    {COLLECTIVE_ALL_GATHER, "ring", others, part, others, true},
    {COLLECTIVE_ALL_GATHER, "bruck", steps, part, others, true},
    {COLLECTIVE_REDUCE_SCATTER, "ring", others, part, others, true},
    {COLLECTIVE_BROADCAST, "ring", others, chain, others, true},
    {COLLECTIVE_BROADCAST, "binomial", steps, steps, others, false},
    {COLLECTIVE_REDUCE, "ring", others, chain, others, true},
    {COLLECTIVE_REDUCE, "binomial", steps, steps, others, false},
    {COLLECTIVE_ALL_TO_ALL, "linear", one, part, others, true},
    {COLLECTIVE_ALL_TO_ALL, "pairwise", others, part, others, true},
    {COLLECTIVE_ALL_TO_ALL, "bruck", steps, half_steps, all_half_steps, false},
    {COLLECTIVE_GATHER, "linear", one, part, part, true},
    {COLLECTIVE_GATHER, "binomial", steps, part, half_steps, false},
    {COLLECTIVE_SCATTER, "linear", one, part, part, true},
    {COLLECTIVE_SCATTER, "binomial", steps, part, half_steps, false},
    {COLLECTIVE_BARRIER, "dissemination", steps, none, none, true},
    {COLLECTIVE_SEND_RECV, "direct", one, one, all, true},
};
#define FORMULA_COUNT (int)(sizeof formulas / sizeof *formulas)

TEST(every_algorithm_takes_its_formula_on_one_switch) {
    for (int i = 0; i < FORMULA_COUNT; i++)
        for (int n = 2; n <= 16; n++) {
            const Formula *f = &formulas[i];
            const double bytes = 4e6;
            if (!f->any_number && (n & (n - 1))) continue;
            Arena *arena = arena_open();
            Flown flown = on_one_switch(arena, f->op, f->algorithm, n, bytes);
            double expected = f->messages(n) * MESSAGE_TIME + f->share(n) * bytes / PROCESS_RATE;
            if (fabs(flown.result.seconds - expected) > 1e-6 * expected)
                test_fail(__FILE__, __LINE__, "%s by %s among %d: %.9g s, not %.9g", collective_op_name(f->op),
                          f->algorithm, n, flown.result.seconds, expected);
            if (fabs(flown.bytes - f->sent(n) * bytes) > 1)
                test_fail(__FILE__, __LINE__, "%s by %s among %d: %.9g bytes, not %.9g", collective_op_name(f->op),
                          f->algorithm, n, flown.bytes, f->sent(n) * bytes);
            arena_close(arena);
        }
}

// Up and down log2(n) levels; large arrays cross each NIC about twice in both trees together.
TEST(double_binary_trees_take_two_messages_per_level_and_twice_the_bytes) {
    for (int n = 2; n <= 16; n *= 2) {
        Arena *arena = arena_open();
        EXPECT_NEAR(on_one_switch(arena, COLLECTIVE_ALL_REDUCE, "tree", n, 4).result.seconds,
                    two_steps(n) * MESSAGE_TIME, 1e-3);
        Flown large = on_one_switch(arena, COLLECTIVE_ALL_REDUCE, "tree", n, 4 * GB);
        EXPECT_NEAR(large.bytes, 2 * (n - 1) * 4 * GB, 1e-9);
        EXPECT_NEAR(large.result.seconds, (n == 2 ? 1 : 2) * 4 * GB / PROCESS_RATE, 0.05);
        arena_close(arena);
    }
}

// ---- Agreement with whole collectives.
static const Network *network_case(Arena *arena, const FabricCase *c) {
    Problems *problems = problems_create(arena);
    const FabricShape *shape = fabric_case_shape(arena, c->text, problems);
    if (!shape) problems_print(problems, stdout);
    return shape ? network_of(arena, dgx_a100(), c->nodes, *shape) : NULL;
}

static void expect_agreement(const FabricCase *c, CollectiveOp op, const char *algorithm, int per_node,
                             double tolerance) {
    Arena *arena = arena_open();
    const Network *network = network_case(arena, c);
    CollectiveRequest request = {.op = op,
                                 .ranks = first_ranks(arena, network, c->nodes, per_node),
                                 .rank_count = c->nodes * per_node,
                                 .bytes = 32 * GB,
                                 .algorithm = algorithm};
    double fluid = collective_plan(arena, network, &request).alone_seconds;
    double flow = fly(arena, network, &request, true).result.seconds;
    if (!(fabs(flow - fluid) <= tolerance * fluid))
        test_fail(__FILE__, __LINE__, "%s, %d GPUs a node: %s takes %.6g s as flows, %.6g s as a whole", c->text,
                  per_node, collective_op_name(op), flow, fluid);
    arena_close(arena);
}

TEST(large_rings_take_the_same_time_as_flows_and_as_a_whole_on_every_fabric) {
    for (int i = 0; i < fabric_case_count; i++)
        for (int per_node = 1; per_node <= 4; per_node *= 2) {
            expect_agreement(&fabric_cases[i], COLLECTIVE_ALL_REDUCE, "ring", per_node, 0.02);
            if (per_node != 2) continue;
            expect_agreement(&fabric_cases[i], COLLECTIVE_ALL_GATHER, "ring", per_node, 0.02);
            expect_agreement(&fabric_cases[i], COLLECTIVE_REDUCE_SCATTER, "ring", per_node, 0.02);
        }
}

// Fabrics drawn by lot: tiers, oversubscription, rails, planes, groups, tori, speeds.
TEST(large_rings_agree_on_fabrics_drawn_by_lot) {
    FOR_SEEDS (seed, 1, 60) {
        RandomStream stream = random_stream(seed, "fabrics", 0);
        Arena *arena = arena_open();
        static const int leaf_sizes[] = {1, 2, 4};
        int leaf = leaf_sizes[random_below(&stream, 3)], nodes = 4 * (1 + (int)random_below(&stream, 4));
        int per_node = 1 << random_below(&stream, 3);
        double over = 1 + (double)random_below(&stream, 4);
        const char *forms[] = {
            arena_printf(arena, "leaf_spine:nodes_per_leaf=%d:oversubscription=%g", leaf, over),
            arena_printf(arena, "rail_fat_tree:nodes_per_leaf=4:oversubscription=%g", over),
            arena_printf(arena, "fat_tree:nodes_per_leaf=2:nodes_per_pod=4:oversubscription=%g:pod_oversubscription=2",
                         over),
            arena_printf(arena, "dragonfly:groups=%d:switches_per_group=2:nodes_per_switch=2", nodes / 4 + 1),
            arena_printf(arena, "torus:dims=%dx%d", nodes / 2, 2),
            arena_printf(arena, "lan:nodes_per_leaf=%d:uplink=%g Gb/s", leaf, 200 * over),
        };
        FabricCase c = {.text = forms[random_below(&stream, 6)], .nodes = nodes};
        expect_agreement(&c, COLLECTIVE_ALL_REDUCE, "ring", per_node, 0.02);
        arena_close(arena);
    }
}

// Neighbours in a node write to each other's host memory, and beyond it bounce there.
TEST(large_rings_without_peer_access_take_the_same_time_as_flows_and_as_a_whole) {
    for (int nodes = 1; nodes <= 4; nodes++) {
        Arena *arena = arena_open();
        const Network *network = network_of(arena, workstation(), nodes, infiniband(6400));
        CollectiveRequest request = {.op = COLLECTIVE_ALL_GATHER,
                                     .ranks = first_ranks(arena, network, nodes, 2),
                                     .rank_count = nodes * 2,
                                     .bytes = 32 * GB,
                                     .algorithm = "ring"};
        double fluid = collective_plan(arena, network, &request).alone_seconds;
        EXPECT_NEAR(fly(arena, network, &request, true).result.seconds, fluid, 0.02);
        arena_close(arena);
    }
}

// Small ones differ by what a ring crosses of nodes more or less; one node has nothing to differ by.
TEST(in_one_node_rings_of_every_size_agree) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_h100(), 1, infiniband(400));
    for (double bytes = 8; bytes < 1e10; bytes *= 16) {
        CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                     .ranks = first_ranks(arena, network, 1, 8),
                                     .rank_count = 8,
                                     .bytes = bytes,
                                     .algorithm = "ring"};
        EXPECT_NEAR(fly(arena, network, &request, true).result.seconds,
                    collective_plan(arena, network, &request).alone_seconds, 1e-4);
    }
    arena_close(arena);
}

// GPUs linked without a switch: every set of those of a hybrid cube mesh. Some have rings over all NVLinks, some one
// cycle, some only the order of their numbers.
TEST(rings_of_every_part_of_a_cube_mesh_agree) {
    for (unsigned set = 3; set < 256; set++) {
        Arena *arena = arena_open();
        const Network *network = network_of(arena, dgx_1(), 1, infiniband(100));
        int ranks[8], count = 0;
        for (int gpu = 0; gpu < 8; gpu++)
            if (set & 1u << gpu) ranks[count++] = gpu;
        CollectiveRequest request = {.op = set % 3 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_ALL_GATHER,
                                     .ranks = ranks,
                                     .rank_count = count,
                                     .bytes = 8 * GB,
                                     .algorithm = "ring"};
        double fluid = count > 1 ? collective_plan(arena, network, &request).alone_seconds : 0;
        double flow = count > 1 ? fly(arena, network, &request, true).result.seconds : 0;
        if (!(fabs(flow - fluid) <= 0.01 * fluid))
            test_fail(__FILE__, __LINE__, "GPUs %02x: %.6g s as flows, %.6g s as a whole", set, flow, fluid);
        arena_close(arena);
    }
}

TEST(exchanges_trees_and_chains_agree_when_large) {
    static const struct {
        CollectiveOp op;
        const char *algorithm;
    } cases[] = {{COLLECTIVE_ALL_TO_ALL, NULL}, {COLLECTIVE_ALL_REDUCE, "tree"}, {COLLECTIVE_BROADCAST, "ring"},
                 {COLLECTIVE_REDUCE, "ring"},   {COLLECTIVE_GATHER, NULL},       {COLLECTIVE_SCATTER, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        const Network *network = network_of(arena, dgx_a100(), 4, infiniband(200));
        CollectiveRequest request = {.op = cases[i].op,
                                     .algorithm = cases[i].algorithm,
                                     .bytes = 8 * GB,
                                     .ranks = first_ranks(arena, network, 4, 8),
                                     .rank_count = 32};
        EXPECT_NEAR(fly(arena, network, &request, true).result.seconds,
                    collective_plan(arena, network, &request).alone_seconds,
                    0.05); // chains are cut into 256 chunks at most
        arena_close(arena);
    }
}

// ---- Laws.
static double carried(const Network *network, const FlowSystem *flows, const char *ending) {
    double sum = 0;
    int count;
    const Link *links = network_links(network, &count);
    for (int l = 0; l < count; l++) {
        const char *name = links[l].name;
        size_t length = strlen(name), tail = strlen(ending);
        if (length > tail && strstr(name, ".nic") && strcmp(name + length - tail, ending) == 0)
            sum += flows->link_busy[l] * links[l].bytes_per_second;
    }
    return sum;
}

TEST(what_leaves_nodes_enters_nodes_and_a_folded_run_takes_the_time_of_the_whole) {
    const char *names[16];
    for (int op = 0; op < COLLECTIVE_OP_COUNT; op++) {
        int count = algorithm_names((CollectiveOp)op, names, 16);
        for (int i = 0; i < count; i++)
            for (int nodes = 1; nodes <= 3; nodes++) {
                Arena *arena = arena_open();
                const Network *network = network_of(arena, dgx_a100(), nodes, fat_tree(200, 2, 2, true));
                CollectiveRequest request = {.op = (CollectiveOp)op,
                                             .algorithm = names[i],
                                             .bytes = 1e6,
                                             .root = 1,
                                             .ranks = first_ranks(arena, network, nodes, 4),
                                             .rank_count = nodes * 4,
                                             .shift = op == COLLECTIVE_SEND_RECV,
                                             .protocol = &(Protocol){PROTOCOL_SIMPLE}};
                const char *why, *remedy;
                const FlowPlan *plan = flow_plan(arena, network, &request, &why, &remedy);
                FlowSystem flows = flow_system(arena, plan);
                EXPECT_NEAR(carried(network, &flows, ".out"), carried(network, &flows, ".in"), 1e-9);
                EXPECT(nodes == 1 || op == COLLECTIVE_BARRIER || carried(network, &flows, ".out") > 0);
                FlowResult whole = flow_run(arena, plan, &flows, false), folded = flow_run(arena, plan, &flows, true);
                if (whole.seconds != folded.seconds)
                    test_fail(__FILE__, __LINE__, "%s by %s on %d nodes: %.12g s whole, %.12g s folded",
                              collective_op_name((CollectiveOp)op), names[i], nodes, whole.seconds, folded.seconds);
                EXPECT(folded.actor_count <= whole.actor_count);
                arena_close(arena);
            }
    }
}

TEST(a_ring_folds_to_one_rank_on_one_switch) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_a100(), 16, infiniband(200));
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                 .algorithm = "ring",
                                 .bytes = GB,
                                 .ranks = first_ranks(arena, network, 16, 8),
                                 .rank_count = 128};
    EXPECT_INT(fly(arena, network, &request, true).result.actor_count, 1);
    arena_close(arena);
}

// ---- all_to_all of uneven sizes.
static CollectiveRequest uneven_request(Arena *arena, const Network *network, int n, uint64_t seed) {
    RandomStream stream = random_stream(seed, "uneven", 0);
    double *pairs = ARENA_ARRAY(arena, double, n *n), sum = 0;
    for (int i = 0; i < n * n; i++) {
        pairs[i] = 1e6 * (double)(1 + random_below(&stream, 1000));
        sum += pairs[i];
    }
    return (CollectiveRequest){.op = COLLECTIVE_ALL_TO_ALL,
                               .ranks = first_ranks(arena, network, n / 8, 8),
                               .rank_count = n,
                               .bytes = sum / n,
                               .pair_bytes = pairs};
}

TEST(an_uneven_all_to_all_takes_the_time_of_its_fullest_link_both_ways_of_simulating) {
    FOR_SEEDS (seed, 1, 10) {
        Arena *arena = arena_open();
        const Network *network = network_of(arena, dgx_a100(), 4, fat_tree(200, 2, 2, false));
        CollectiveRequest request = uneven_request(arena, network, 32, seed);
        double fullest = 0;
        for (int i = 0; i < 32; i++) { // a leaf of 2 nodes sends all to the others over half its NICs' rate
            double out = 0, in = 0;
            for (int j = 0; j < 32; j++) {
                if (i / 8 != j / 8) out += request.pair_bytes[i * 32 + j];
                if (i / 8 != j / 8) in += request.pair_bytes[j * 32 + i];
            }
            fullest = fmax(fullest, fmax(in, out) / NIC);
        }
        for (int up = 0; up < 2; up++) {
            double out = 0, in = 0;
            for (int i = 16 * up; i < 16 * up + 16; i++)
                for (int j = 16 * (1 - up); j < 16 * (1 - up) + 16; j++) {
                    out += request.pair_bytes[i * 32 + j];
                    in += request.pair_bytes[j * 32 + i];
                }
            fullest = fmax(fullest, fmax(in, out) / (8 * NIC));
        }
        double share = constant_rows[EXCHANGE_SHARE].value;
        EXPECT_NEAR(collective_plan(arena, network, &request).alone_seconds, fullest / share, 0.02);
        EXPECT_NEAR(fly(arena, network, &request, false).result.seconds, fullest / share, 0.05);
        arena_close(arena);
    }
}

TEST(an_uneven_all_to_all_of_equal_sizes_is_an_even_one) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_a100(), 4, fat_tree(200, 2, 2, false));
    CollectiveRequest request = uneven_request(arena, network, 32, 1);
    double *pairs = ARENA_ARRAY(arena, double, 32 * 32);
    for (int i = 0; i < 32 * 32; i++) pairs[i] = request.bytes / 32;
    request.pair_bytes = pairs;
    CollectiveRequest even = request;
    even.pair_bytes = NULL;
    EXPECT_NEAR(collective_plan(arena, network, &request).alone_seconds,
                collective_plan(arena, network, &even).alone_seconds, 1e-6);
    EXPECT_NEAR(fly(arena, network, &request, true).result.seconds, fly(arena, network, &even, true).result.seconds,
                1e-9);
    arena_close(arena);
}

// ---- Mistakes.
TEST(what_has_no_flows_says_so) {
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_a100(), 1, infiniband(200));
    const char *why = "", *remedy = "";
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                 .algorithm = "nvls",
                                 .bytes = GB,
                                 .ranks = first_ranks(arena, network, 1, 8),
                                 .rank_count = 8};
    EXPECT(flow_plan(arena, network, &request, &why, &remedy) == NULL);
    EXPECT_CONTAINS(why, "all_reduce by \"nvls\" is not known message by message");
    EXPECT_CONTAINS(remedy, "ring, tree, hierarchical");
    request.algorithm = NULL;
    request.backend = BACKEND_GLOO;
    EXPECT(flow_plan(arena, network, &request, &why, &remedy) == NULL);
    EXPECT_CONTAINS(why, "only for arrays in CPU memory");
    request.backend = BACKEND_NCCL;
    request.rank_count = 70000;
    EXPECT(flow_plan(arena, network, &request, &why, &remedy) == NULL);
    EXPECT_CONTAINS(why, "all_reduce of 70000 ranks is too much message by message; 65536 are the most");
    arena_close(arena);
}

// ---- Places that do alike.

static void expect_same_plans(const System *one, const System *other, int32_t a, int32_t b) {
    const Channel *x = &one->channels[a], *y = &other->channels[b];
    EXPECT_INT(x->plan_count, y->plan_count);
    for (int p = 0; p < x->plan_count && p < y->plan_count; p++) {
        const Plan *s = &x->plans[p], *t = &y->plans[p];
        EXPECT(s->bytes == t->bytes && s->latency == t->latency && s->rate_limit == t->rate_limit);
        EXPECT_INT(s->use_count, t->use_count);
        for (int u = 0; u < s->use_count && u < t->use_count; u++)
            EXPECT(strcmp(one->links[s->uses[u].link].name, other->links[t->uses[u].link].name) == 0 &&
                   s->uses[u].weight == t->uses[u].weight);
    }
}

static void expect_same_actor(const System *one, const System *other, int actor) {
    const Program *a = &one->programs[one->actors[actor].program], *b = &other->programs[other->actors[actor].program];
    EXPECT_INT(a->stream_count, b->stream_count);
    EXPECT_INT(a->slot_count, b->slot_count);
    for (int s = 0; s < a->stream_count && s < b->stream_count; s++) {
        EXPECT(a->streams[s].count == b->streams[s].count);
        int64_t differ = 0;
        for (int64_t i = 0; i < a->streams[s].count && i < b->streams[s].count; i++) {
            const Op *x = &a->streams[s].ops[i], *y = &b->streams[s].ops[i];
            differ += x->kind != y->kind || x->slot != y->slot || x->id != y->id || x->time != y->time;
        }
        EXPECT(differ == 0);
    }
    for (int s = 0; s < a->slot_count && s < b->slot_count; s++)
        expect_same_plans(one, other, one->actors[actor].channels[s], other->actors[actor].channels[s]);
}

// Whole nodes, parts of nodes, one rank a node, and any that chance takes.
static int some_ranks(RandomStream *random, const Network *network, int *ranks) {
    int count = 0, step = 1 + (int)random_below(random, 3);
    bool any = random_below(random, 2) == 0;
    for (int r = 0; r < network->rank_count; r += any ? 1 + (int)random_below(random, 4) : step) ranks[count++] = r;
    return count;
}

// Of how many places the script was another's.
static int compare_with_each(const CollectiveRequest *asked, uint64_t seed, int number) {
    Arena *arena = arena_open();
    RandomStream random = random_stream(seed, "places alike", number);
    const Network *network = network_of(arena, dgx_a100(), 1 + (int)random_below(&random, 6), infiniband(200));
    int ranks[64], shared = 0;
    CollectiveRequest request = *asked;
    request.ranks = ranks;
    request.rank_count = some_ranks(&random, network, ranks);
    request.bytes = 1e4 * (double)(1 + random_below(&random, 1000));
    const char *why = "", *remedy;
    const FlowPlan *plan = request.rank_count > 1 ? flow_plan(arena, network, &request, &why, &remedy) : NULL;
    if (plan) {
        FlowSystem quick = flow_system(arena, plan), each = flow_system_of_each(arena, plan);
        shared = quick.system.actor_count - quick.system.program_count;
        EXPECT(quick.message_count == each.message_count);
        EXPECT_NEAR(quick.bytes, each.bytes, 1e-12);
        for (int a = 0; a < quick.system.actor_count; a++) expect_same_actor(&quick.system, &each.system, a);
        FlowResult one = flow_run(arena, plan, &quick, false), other = flow_run(arena, plan, &each, false);
        EXPECT_NEAR(one.seconds, other.seconds, 0);
        EXPECT_TEXT(one.limited_by ? one.limited_by : "", other.limited_by ? other.limited_by : "");
    }
    arena_close(arena);
    return shared;
}

// Every algorithm that says so, as NCCL would do it and as MPI over host memory.
TEST(one_script_for_places_that_do_alike_is_the_script_of_each) {
    int alike = 0;
    for (int op = 0; op < COLLECTIVE_OP_COUNT; op++) {
        const char *names[16];
        int count = algorithm_names((CollectiveOp)op, names, 16);
        for (int i = 0; i < count; i++) {
            int shared = 0;
            if (!algorithm_find((CollectiveOp)op, names[i])->alike) continue;
            for (int host = 0; host < 2; host++) {
                CollectiveRequest request = {.op = (CollectiveOp)op,
                                             .backend = host ? BACKEND_MPI : BACKEND_NCCL,
                                             .on_host = host,
                                             .algorithm = names[i]};
                FOR_SEEDS (seed, 1, 12) shared += compare_with_each(&request, seed, 2 * alike + host);
            }
            if (shared == 0)
                test_fail(__FILE__, __LINE__, "%s by %s: no place had another's script",
                          collective_op_name((CollectiveOp)op), names[i]);
            alike++;
        }
    }
    EXPECT(alike > 0);
}
