// Laws of predicted collectives, drawn over GPUs, links, transports and sizes: time does not fall as sizes grow, and
// nothing passes faster than its wires.
#include "models/network/network_constants.h"
#include "sim/base/random.h"
#include "tests/networks.h"
#include "tests/test.h"

#define RUNS 400

typedef struct Drawn {
    NodeShape node;
    FabricShape fabric;
    int nodes, gpus;
    CollectiveOp op;
} Drawn;

static Drawn draw(RandomStream *stream) {
    NodeShape (*const shapes[])(void) = {dgx_h100, dgx_a100, dgx_1, quad_gh200, pcie_server, workstation};
    static const Transport transports[] = {NET_INFINIBAND, NET_ROCE, NET_EFA, NET_SLINGSHOT, NET_TCP, NET_TCPX};
    static const CollectiveOp ops[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER, COLLECTIVE_REDUCE_SCATTER,
                                       COLLECTIVE_BROADCAST,  COLLECTIVE_REDUCE,     COLLECTIVE_ALL_TO_ALL,
                                       COLLECTIVE_SEND_RECV};
    static const double gigabits[] = {1, 10, 25, 100, 200, 400, 800};
    Drawn drawn = {.node = shapes[random_below(stream, 6)](), .nodes = 1 << random_below(stream, 6)};
    drawn.fabric = infiniband(gigabits[random_below(stream, 7)]);
    drawn.fabric.transport = transports[random_below(stream, 6)];
    drawn.fabric.efficiency = 0.5 + 0.01 * random_below(stream, 50);
    drawn.fabric.latency_seconds = 1e-6 * (1 + random_below(stream, 30));
    if (drawn.node.gpu_fabric == GPU_FABRIC_NONE) drawn.node.peer_to_peer = random_below(stream, 2);
    drawn.node.gpudirect_rdma = drawn.fabric.transport != NET_TCP && random_below(stream, 3);
    drawn.node.architecture_year = 2016 + 2 * (int)random_below(stream, 5);
    drawn.gpus = 1 + (int)random_below(stream, (uint64_t)drawn.node.gpu_count);
    if (drawn.nodes == 1 && drawn.gpus == 1) drawn.gpus = 2;
    drawn.op = ops[random_below(stream, 7)];
    return drawn;
}

static CollectivePlan plan_drawn(Arena *arena, const Network *network, const Drawn *drawn, double bytes) {
    CollectiveRequest request = {.op = drawn->op,
                                 .ranks = first_ranks(arena, network, drawn->nodes, drawn->gpus),
                                 .rank_count = drawn->nodes * drawn->gpus,
                                 .bytes = bytes,
                                 .shift = drawn->op == COLLECTIVE_SEND_RECV};
    return collective_plan(arena, network, &request);
}

static const char *words(Arena *arena, const Drawn *drawn) {
    return arena_printf(arena, "%s year %d p2p %d rdma %d, %d x %d, transport %d %g Gb/s, %s", drawn->node.name,
                        drawn->node.architecture_year, drawn->node.peer_to_peer, drawn->node.gpudirect_rdma,
                        drawn->nodes, drawn->gpus, (int)drawn->fabric.transport,
                        drawn->fabric.nic_bytes_per_second * 8e-9, collective_op_name(drawn->op));
}

// By a few per cent it may: another protocol or algorithm is taken a little late.
TEST(a_collective_takes_no_less_time_for_more_bytes) {
    for (int run = 0; run < RUNS; run++) {
        Arena *arena = arena_open();
        RandomStream stream = random_stream((uint64_t)run, "collective laws", 0);
        Drawn drawn = draw(&stream);
        Network *network = network_of(arena, drawn.node, drawn.nodes, drawn.fabric);
        double before = 0;
        for (double bytes = 8; bytes < 16e9; bytes *= 2) {
            CollectivePlan plan = plan_drawn(arena, network, &drawn, bytes);
            if (plan.alone_seconds < 0.97 * before)
                test_fail(__FILE__, __LINE__, "run %d, %s: %g B take %g us, half of it %g us (%s %s)", run,
                          words(arena, &drawn), bytes, 1e6 * plan.alone_seconds, 1e6 * before, plan.algorithm,
                          protocol_names[plan.protocol]);
            before = plan.alone_seconds;
        }
        arena_close(arena);
    }
}

// Each node of several must at least send what the others lack, over its NICs.
TEST(a_collective_is_no_faster_than_its_wires) {
    for (int run = 0; run < RUNS; run++) {
        Arena *arena = arena_open();
        RandomStream stream = random_stream((uint64_t)run, "collective wires", 0);
        Drawn drawn = draw(&stream);
        Network *network = network_of(arena, drawn.node, drawn.nodes, drawn.fabric);
        double bytes = 16e9, m = drawn.nodes, n = m * drawn.gpus, least = 0;
        double wire = drawn.node.nic_count * drawn.fabric.nic_bytes_per_second;
        if (drawn.op == COLLECTIVE_ALL_TO_ALL) least = bytes * drawn.gpus * (m - 1) / m;
        if (drawn.op == COLLECTIVE_SEND_RECV || drawn.op == COLLECTIVE_BROADCAST || drawn.op == COLLECTIVE_REDUCE)
            least = bytes;
        if (drawn.op == COLLECTIVE_ALL_GATHER || drawn.op == COLLECTIVE_REDUCE_SCATTER) least = bytes * (m - 1) / m;
        if (drawn.op == COLLECTIVE_ALL_REDUCE) least = 2 * bytes * (m - 1) / m;
        double seconds = plan_drawn(arena, network, &drawn, bytes).alone_seconds;
        if (drawn.nodes > 1 && n > 1 && seconds < least / wire)
            test_fail(__FILE__, __LINE__, "run %d, %s: %g s, the wires take %g s", run, words(arena, &drawn), seconds,
                      least / wire);
        arena_close(arena);
    }
}
