// Collectives packet by packet: a lone message against its closed form, all algorithms against flow fidelity where
// nothing queues, what congestion must cost at least, and laws of bytes.
#include <string.h>

#include "models/network/messages/flows.h"
#include "models/network/messages/packet_carrier.h"
#include "scenarios/questions/collective_asked.h"
#include "sim/base/random.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/networks.h"
#include "tests/test.h"

#define PAYLOAD 4096
#define HEADER 62
#define CONTROL 84
#define ALIKE 0.025 // of flow fidelity, where nothing queues

typedef struct Sent {
    FlowPacketResult packets;
    FlowResult flow;
    double flow_bytes, hops; // hops: as they are estimated
} Sent;

// A window of a bandwidth-delay product, every packet its own way, nothing lost.
static void keep_a_window(PacketNetwork *network, const PacketFacts *facts, PacketTransportId transport) {
    network->transport = packet_transports[transport].usual;
    network->transport.window_packets = ceil(facts->bare_seconds * facts->bytes_per_second / (PAYLOAD + HEADER));
    network->switches = (PacketSwitch){.routing = PACKET_ADAPTIVE, .alpha = 1};
    network->seed = 1;
}

static Sent send_packets(Arena *arena, const Network *network, const CollectiveRequest *request,
                         PacketTransportId transport, double buffer) {
    const char *why = "", *remedy;
    const FlowPlan *plan = flow_plan(arena, network, request, &why, &remedy);
    if (!plan) test_fail(__FILE__, __LINE__, "%s", why);
    if (!plan) return (Sent){0};
    FlowSystem flows = flow_system(arena, plan);
    Sent sent = {.flow = flow_run(arena, plan, &flows, true), .flow_bytes = flows.bytes};
    FlowPackets *packets = flow_packets(arena, plan, &(PacketSizes){PAYLOAD, HEADER, CONTROL}, &why, &remedy);
    if (!packets) test_fail(__FILE__, __LINE__, "%s", why);
    if (!packets) return sent;
    PacketFacts facts = flow_packets_facts(packets);
    sent.hops = facts.hops;
    keep_a_window(flow_packets_network(packets), &facts, transport);
    flow_packets_network(packets)->switches.buffer_bytes = buffer;
    sent.packets = flow_packets_run(packets);
    if (sent.packets.wrong) test_fail(__FILE__, __LINE__, "%s", sent.packets.wrong);
    return sent;
}

static CollectiveRequest request_of(Arena *arena, const Network *network, CollectiveOp op, const char *algorithm,
                                    double bytes) {
    int *ranks = ARENA_ARRAY(arena, int, network_rank_count(network));
    for (int r = 0; r < network_rank_count(network); r++) ranks[r] = r;
    return (CollectiveRequest){.op = op,
                               .backend = BACKEND_NCCL,
                               .ranks = ranks,
                               .rank_count = network_rank_count(network),
                               .bytes = bytes,
                               .algorithm = algorithm,
                               .shift = op == COLLECTIVE_SEND_RECV};
}

// ---- Formulas.
#define PROCESS_RATE 10e9             // of an MPI process, below the NIC's
#define MESSAGE_TIME (1e-6 + 1.75e-6) // MPI's own, InfiniBand's with one switch

// The cable is as fast as full packets and their acknowledgements need it for the rate; what is the latency's own
// passes before the first packet, less what the last one takes to be stored at the switch.
TEST(a_message_without_others_takes_its_closed_form) {
    for (int packets = 1; packets <= 4096; packets *= 8) {
        Arena *arena = arena_open();
        const Network *network = network_of(arena, dgx_a100(), 2, infiniband(200));
        const int ranks[] = {0, 8};
        CollectiveRequest request = {.op = COLLECTIVE_BROADCAST,
                                     .backend = BACKEND_MPI,
                                     .on_host = true,
                                     .ranks = ranks,
                                     .rank_count = 2,
                                     .algorithm = "binomial"};
        request.bytes = (double)packets * PAYLOAD;
        Sent sent = send_packets(arena, network, &request, PACKET_WINDOW, 0);
        double wire = PROCESS_RATE * (PAYLOAD + HEADER + CONTROL) / PAYLOAD;
        EXPECT_NEAR(sent.packets.flow.seconds, MESSAGE_TIME + packets * (PAYLOAD + HEADER) / wire, 1e-6);
        EXPECT_NEAR(sent.flow.seconds, MESSAGE_TIME + request.bytes / PROCESS_RATE, 1e-6);
        EXPECT_INT(sent.packets.sent.messages, 1);
        EXPECT_INT(sent.packets.sent.packets, packets);
        arena_close(arena);
    }
}

static const struct {
    CollectiveOp op;
    const char *algorithm;
} algorithms[] = {{COLLECTIVE_ALL_REDUCE, "ring"},         {COLLECTIVE_ALL_REDUCE, "tree"},
                  {COLLECTIVE_ALL_REDUCE, "hierarchical"}, {COLLECTIVE_ALL_REDUCE, "halving_doubling"},
                  {COLLECTIVE_ALL_REDUCE, "binomial"},     {COLLECTIVE_ALL_REDUCE, "recursive_doubling"},
                  {COLLECTIVE_ALL_GATHER, "ring"},         {COLLECTIVE_ALL_GATHER, "bruck"},
                  {COLLECTIVE_REDUCE_SCATTER, "ring"},     {COLLECTIVE_BROADCAST, "ring"},
                  {COLLECTIVE_BROADCAST, "binomial"},      {COLLECTIVE_REDUCE, "ring"},
                  {COLLECTIVE_REDUCE, "binomial"},         {COLLECTIVE_ALL_TO_ALL, "linear"},
                  {COLLECTIVE_ALL_TO_ALL, "pairwise"},     {COLLECTIVE_ALL_TO_ALL, "bruck"},
                  {COLLECTIVE_GATHER, "linear"},           {COLLECTIVE_GATHER, "binomial"},
                  {COLLECTIVE_SCATTER, "linear"},          {COLLECTIVE_SCATTER, "binomial"},
                  {COLLECTIVE_BARRIER, "dissemination"},   {COLLECTIVE_SEND_RECV, "direct"}};

static void expect_alike(const Sent *sent, const char *what, double bytes) {
    double ratio = sent->packets.flow.seconds / sent->flow.seconds;
    if (fabs(ratio - 1) > ALIKE)
        test_fail(__FILE__, __LINE__, "%s of %.0f bytes: %.6g s, flow %.6g s", what, bytes, sent->packets.flow.seconds,
                  sent->flow.seconds);
    double lost = sent->packets.sent.bytes - sent->packets.sent.bytes_there; // but for rounding of the sums
    if (fabs(lost) > 1e-9 * sent->packets.sent.bytes || sent->packets.sent.bytes > sent->flow_bytes * (1 + 1e-9))
        test_fail(__FILE__, __LINE__, "%s: %.0f bytes leave nodes, %.0f arrive, of %.0f", what,
                  sent->packets.sent.bytes, sent->packets.sent.bytes_there, sent->flow_bytes);
    EXPECT_TEXT(sent->packets.flow.algorithm, sent->flow.algorithm);
}

TEST(every_algorithm_takes_what_it_does_at_flow_fidelity_where_nothing_queues) {
    const double sizes[] = {8192, 1e6, 3e7};
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            Arena *arena = arena_open();
            const Network *network = network_of(arena, dgx_h100(), 4, infiniband(400));
            CollectiveRequest request = request_of(arena, network, algorithms[a].op, algorithms[a].algorithm, sizes[s]);
            Sent sent = send_packets(arena, network, &request, PACKET_WINDOW, 0);
            expect_alike(&sent, algorithms[a].algorithm, sizes[s]);
            arena_close(arena);
        }
}

TEST(hops_are_about_as_many_as_they_are_estimated) {
    static const int which[] = {0, 14}; // many messages on each way; as many ways as messages
    for (int i = 0; i < 2; i++) {
        Arena *arena = arena_open();
        const Network *network = network_of(arena, dgx_h100(), 4, fat_tree(400, 2, 1, true));
        CollectiveRequest request =
            request_of(arena, network, algorithms[which[i]].op, algorithms[which[i]].algorithm, 8e6);
        Sent sent = send_packets(arena, network, &request, PACKET_WINDOW, 0);
        EXPECT(sent.hops > 0.5 * (double)sent.packets.sent.hops && sent.hops < 2 * (double)sent.packets.sent.hops);
        arena_close(arena);
    }
}

static int draw_below(RandomStream *random, int count) { return (int)(random_uniform(random) * count); }

// Four operations on machines, fabrics and sizes as they are drawn.
TEST(packets_agree_with_flows_on_drawn_clusters_without_congestion) {
    static const int usual[] = {0, 1, 3, 14};
    for (int draw = 0; draw < 24; draw++) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(2929, "flow packets", draw);
        bool a100 = draw_below(&random, 2), tree = draw_below(&random, 2);
        int which = usual[draw_below(&random, 4)], nodes = 2 + draw_below(&random, 7);
        double bytes = floor(exp(random_uniform(&random) * log(64e6 / 1e3)) * 1e3);
        FabricShape fabric =
            tree ? fat_tree(a100 ? 200 : 400, 2, 1, draw_below(&random, 2)) : infiniband(a100 ? 200 : 400);
        if (which > 1) fabric = infiniband(a100 ? 200 : 400); // all at once meet on a tree's cables
        const Network *network = network_of(arena, a100 ? dgx_a100() : dgx_h100(), nodes, fabric);
        CollectiveRequest request =
            request_of(arena, network, algorithms[which].op, algorithms[which].algorithm, bytes);
        Sent sent = send_packets(arena, network, &request, PACKET_WINDOW, 0);
        char what[96];
        snprintf(what, sizeof what, "draw %d: %s, %d nodes, %s", draw, algorithms[which].algorithm, nodes,
                 tree && which <= 1 ? "tree" : "switch");
        expect_alike(&sent, what, bytes);
        arena_close(arena);
    }
}

TEST(what_stays_in_a_node_is_as_at_flow_fidelity_to_the_tick) {
    const NodeShape shapes[] = {dgx_h100(), dgx_1(), quad_gh200(), pcie_server()};
    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++)
        for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
            Arena *arena = arena_open();
            const Network *network = network_of(arena, shapes[n], 1, infiniband(200));
            CollectiveRequest request = request_of(arena, network, algorithms[a].op, algorithms[a].algorithm, 5e6);
            Sent sent = send_packets(arena, network, &request, PACKET_DCQCN, 0);
            EXPECT_NEAR(sent.packets.flow.seconds, sent.flow.seconds, 0);
            EXPECT_INT(sent.packets.sent.messages, 0);
            arena_close(arena);
        }
}

// To NCCL nodes of one NVLink domain are one; to MPI on hosts they are apart.
TEST(what_cannot_be_packets_is_refused_where_messages_leave_a_node) {
    for (int mpi = 0; mpi < 2; mpi++) {
        Arena *arena = arena_open();
        FabricShape torus = infiniband(400);
        torus.kind = FABRIC_TORUS;
        torus.dim_count = 1;
        torus.dims[0] = 2;
        const Network *network = network_of(arena, nvl72_tray(), 2, torus);
        CollectiveRequest request = request_of(arena, network, COLLECTIVE_ALL_REDUCE, NULL, 1e6);
        if (mpi) request.backend = BACKEND_MPI;
        request.on_host = mpi;
        const char *why, *remedy;
        const FlowPlan *plan = flow_plan(arena, network, &request, &why, &remedy);
        EXPECT(plan != NULL);
        if (!plan) continue;
        EXPECT((flow_packets(arena, plan, &(PacketSizes){PAYLOAD, HEADER, CONTROL}, &why, &remedy) == NULL) == mpi);
        if (mpi) EXPECT_CONTAINS(why, "a torus routes by dimension");
        arena_close(arena);
    }
}

// Half of what 32 GPUs send crosses from a leaf of four nodes to the other.
TEST(an_exchange_over_a_narrow_tree_takes_what_its_links_need_at_least) {
    static const double longer[][2] = {{1, 1}, {1.04, 1.04}, {1.64, 1.59}, {3.02, 3.00}}; // than the first; flow's
    const double bytes = 8e6;
    double packets = 0, flow = 0;
    for (int i = 0, narrow = 1; i < 4; i++, narrow *= 2) {
        Arena *arena = arena_open();
        FabricShape fabric = fat_tree(400, 4, narrow, false);
        const Network *network = network_of(arena, dgx_h100(), 8, fabric);
        CollectiveRequest request = request_of(arena, network, COLLECTIVE_ALL_TO_ALL, "linear", bytes);
        Sent sent = send_packets(arena, network, &request, PACKET_WINDOW, 0);
        double nic = fabric.nic_bytes_per_second * fabric.efficiency;
        double payload = (double)(PAYLOAD + HEADER + CONTROL) / (PAYLOAD + HEADER); // acknowledgements go the other way
        EXPECT(sent.packets.flow.seconds >= 32 * bytes / 2 / (32 * nic / narrow * payload));
        if (!i) packets = sent.packets.flow.seconds;
        if (!i) flow = sent.flow.seconds;
        EXPECT_NEAR(sent.packets.flow.seconds / packets, longer[i][0], 0.01);
        EXPECT_NEAR(sent.flow.seconds / flow, longer[i][1], 0.01);
        arena_close(arena);
    }
}

TEST(a_gather_fills_the_queue_before_its_root_and_loses_nothing_for_good) {
    for (int transport = 0; transport < PACKET_TRANSPORTS; transport++) {
        FlowPacketResult results[2];
        Arena *arena = arena_open();
        const Network *network = network_of(arena, dgx_h100(), 4, infiniband(400));
        CollectiveRequest request = request_of(arena, network, COLLECTIVE_GATHER, "linear", 32e6);
        for (int again = 0; again < 2; again++)
            results[again] = send_packets(arena, network, &request, (PacketTransportId)transport, 2e5).packets;
        EXPECT_NEAR(results[0].sent.bytes_there, 24e6, 1e-9);
        EXPECT(results[0].sent.queue_most > 3 * PAYLOAD && results[0].sent.queue_most <= 2e5);
        EXPECT(results[0].sent.drops + results[0].sent.trims == 0 || results[0].sent.resent > 0);
        EXPECT(results[0].sent.mean_seconds <= results[0].sent.p99_seconds * (1 + 1e-9));
        EXPECT_CONTAINS(results[0].sent.hottest, "switch to node0.nic0");
        EXPECT(results[0].digest == results[1].digest);
        EXPECT_NEAR(results[0].flow.seconds, results[1].flow.seconds, 0);
        arena_close(arena);
    }
}

// ---- Users' own steps: each rank to its counterpart on the next node, forth and back in one step.
TEST(written_steps_take_what_they_do_at_flow_fidelity) {
    enum { RANKS = 32 };
    Arena *arena = arena_open();
    const Network *network = network_of(arena, dgx_h100(), 4, infiniband(400));
    StepMessage messages[RANKS][2][2];
    RankStep steps[RANKS][2];
    RankSteps ranks[RANKS];
    for (int r = 0; r < RANKS; r++) {
        for (int s = 0; s < 2; s++) {
            messages[r][s][0] = (StepMessage){(r + 8) % RANKS, 1e6 * (s + 1)};
            messages[r][s][1] = (StepMessage){(r + RANKS - 8) % RANKS, 1e6 * (s + 1)};
            steps[r][s] = (RankStep){&messages[r][s][0], &messages[r][s][1], 1, 1};
        }
        ranks[r] = (RankSteps){steps[r], 2};
    }
    WrittenSteps written = {"written", ranks};
    CollectiveRequest request = request_of(arena, network, COLLECTIVE_ALL_REDUCE, NULL, 1e6);
    request.steps = &written;
    Sent sent = send_packets(arena, network, &request, PACKET_WINDOW, 0);
    expect_alike(&sent, "written steps", 1e6);
    EXPECT_INT(sent.packets.sent.messages, 2 * RANKS);
    EXPECT_NEAR(sent.packets.sent.bytes, 3e6 * RANKS, 0);
    arena_close(arena);
}

// ---- The engine, step by step.
TEST(messages_of_a_connection_follow_each_other_on_the_wire) {
    Arena *arena = arena_open();
    const PacketCable cables[] = {{0, 2, 1e9, 1e-6, 0, 0, 0}, {1, 2, 1e9, 1e-6, 0, 0, 0}};
    PacketNetwork network = {.host_count = 2,
                             .switch_count = 1,
                             .cables = cables,
                             .cable_count = 2,
                             .transport = packet_transports[PACKET_WINDOW].usual,
                             .payload_bytes = 940,
                             .header_bytes = 60,
                             .control_bytes = 64};
    const PacketConnection connection = {0, 1, 5, 2, 0};
    const char *wrong = NULL;
    PacketSim *sim = packet_open(arena, &network, &connection, 1, &wrong);
    EXPECT(sim && !wrong);
    packet_send(sim, 0, 2 * 940 + 440, step_ticks(1e-6)); // 2,500 bytes on the wire
    packet_send(sim, 0, 940 + 40, step_ticks(1e-6));      // 1,100 behind them
    SimTime ends[2] = {0};
    for (int seen = 0; seen < 2;) {
        int count;
        const PacketArrival *arrivals = packet_advance(sim, &count);
        for (int i = 0; i < count; i++, seen++) ends[arrivals[i].message] = arrivals[i].time;
    }
    EXPECT_INT(ends[0], step_ticks(1e-6 + 2.5e-6 + 1e-6 + 2e-6)); // a full packet is stored, the short one behind it
    EXPECT_INT(ends[1], step_ticks(1e-6 + 3.6e-6 + 1e-6 + 2e-6));
    EXPECT_INT(packet_close(sim).delivered, 5);
    arena_close(arena);
}

TEST(ways_are_those_of_the_least_length) {
    for (int length = 1; length <= 3; length++) { // of the direct cable: a third switch is two away
        Arena *arena = arena_open();
        const PacketCable cables[] = {{0, 2, 1e9, 1e-6, 0, 0, 0},
                                      {1, 3, 1e9, 1e-6, 0, 0, 0},
                                      {2, 3, 1e9, 1e-6, 0, 0, length},
                                      {2, 4, 1e9, 1e-6, 0, 0, 0},
                                      {4, 3, 1e9, 1e-6, 0, 0, 0}};
        PacketNetwork network = {.host_count = 2,
                                 .switch_count = 3,
                                 .cables = cables,
                                 .cable_count = 5,
                                 .transport = packet_transports[PACKET_WINDOW].usual,
                                 .payload_bytes = 940,
                                 .header_bytes = 60,
                                 .control_bytes = 64,
                                 .switches.routing = PACKET_SPRAY};
        const PacketFlow flow = {0, 1, 940 * 64, 0, 0};
        const char *wrong;
        PacketResult result = packet_run(arena, &network, &flow, 1, SIM_TIME_NEVER, &wrong);
        EXPECT(!wrong);
        EXPECT(length > 2 ? result.ports[4].packets == 0 : result.ports[4].packets > 0);
        EXPECT(length < 2 ? result.ports[6].packets == 0 : result.ports[6].packets > 0);
        arena_close(arena);
    }
}

// ---- The command.
static const Ended *collective(const char *line) { return run_command(command_collective, line); }

#define CLUSTER "--node dgx-h100 --nodes 4 --fabric ib-ndr400"

TEST(collective_sets_fluid_flow_and_packets_side_by_side) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Ended *ended =
        collective("collective all_to_all --algo pairwise " CLUSTER " --sizes 1M:4M:4 --fidelity all --json");
    EXPECT_INT(ended->code, 0);
    const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
    const Json *sides = json ? json_get(json, "fidelities") : NULL, *rows = json ? json_get(json, "packets") : NULL;
    EXPECT(sides && sides->count == 2 && rows && rows->count == 2);
    for (int i = 0; sides && rows && i < 2; i++) {
        double flow = json_number(&sides->items[i], "flow_s", problems),
               packet = json_number(&sides->items[i], "packet_s", problems);
        EXPECT_NEAR(packet / flow, 1, ALIKE);
        EXPECT_NEAR(json_number(&sides->items[i], "packet_to_flow", problems), packet / flow, 1e-9);
        EXPECT_TEXT(json_text(&sides->items[i], "trust", problems), "flow: queues cost nothing");
        EXPECT(json_number(&rows->items[i], "fct_p99_s", problems) > 0);
        EXPECT_NEAR(json_number(&rows->items[i], "dropped", problems), 0, 0);
    }
    arena_close(arena);
}

TEST(collective_says_what_it_cannot_send_as_packets) {
    const Ended *ended = collective("collective all_reduce " CLUSTER ":torus:dims=2x2 --sizes 1M --fidelity packet");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "a torus routes by dimension");
    EXPECT_CONTAINS(ended->err, "use fidelity flow or fluid");
    ended = collective("collective all_reduce " CLUSTER ":fat_tree:nodes_per_leaf=2:planes=2 --sizes 1M "
                       "--fidelity packet");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "several planes");
    ended = collective("collective all_reduce " CLUSTER " --sizes 1M --transport dctcp");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "--transport belongs to packets");
    EXPECT_CONTAINS(ended->err, "add --fidelity packet");
    ended = collective("collective all_reduce " CLUSTER " --sizes 1M --fidelity packet --target 9us --transport dctcp");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "dctcp has no target");
}

TEST(a_fabric_has_the_transport_that_it_is_used_to) {
    static const char *const cases[][3] = {{"ib-ndr400", "window", "adaptive"},
                                           {"roce-400", "dcqcn", "ecmp"},
                                           {"eth-100g", "dctcp", "ecmp"},
                                           {"efa-200", "swift", "spray"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[160], told[64];
        snprintf(line, sizeof line,
                 "collective all_reduce --node dgx-h100 --nodes 2 --fabric %s --sizes 64K "
                 "--fidelity packet --json",
                 cases[i][0]);
        snprintf(told, sizeof told, "\"transport\": \"%s\"", cases[i][1]);
        const Ended *ended = collective(line);
        EXPECT_INT(ended->code, 0);
        EXPECT_CONTAINS(ended->out, told);
        snprintf(told, sizeof told, "\"routing\": \"%s\"", cases[i][2]);
        EXPECT_CONTAINS(ended->out, told);
    }
}

// A switch of more ports than a chip has is several, each with its buffer: senders are paused where they were before,
// and not by any two packets. What the user says of the buffer stays.
TEST(a_switch_of_many_ports_pauses_as_late_as_one_of_128) {
    double pauses[2];
    for (int i = 0; i < 2; i++) {
        PacketNetwork network = {0};
        PacketAsked asked = packets_unasked;
        PacketFacts facts = {.bytes_per_second = 50e9, .latency_seconds = 600e-9, .bare_seconds = 3e-6};
        facts.ports = i ? 512 : 128;
        packet_rules_begin(&asked, &network);
        packet_rules_end(&asked, &facts, &network);
        pauses[i] = network.switches.pause_bytes;
        asked.buffer = 32e6;
        packet_rules_begin(&asked, &network);
        packet_rules_end(&asked, &facts, &network);
        EXPECT_NEAR(network.switches.buffer_bytes, 32e6, 0);
    }
    EXPECT_NEAR(pauses[0], 32e6 / 128 - 2 * 50e9 * 600e-9 - 3 * 4158, 1e-9);
    EXPECT_NEAR(pauses[1], pauses[0], 1e-9);
}
