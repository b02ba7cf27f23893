// Runs a request as messages: algorithm, protocol, pieces, and the run of the system that flow_system.c builds.
#include "models/network/messages/message.h"
#include "models/network/messages/packet_fabric.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/fold.h"

#define CHUNK_BYTES 524288.0 // a step of Simple
#define CHUNKS_LEAST 8       // NCCL cuts small arrays finer
#define RANKS_MOST 65536
#define EXCHANGE_RANKS_MOST 1024 // for all-to-all exchanges
#define CHUNKS_MOST 256          // more have no visible effect
#define TOLERANT_MESSAGES 4096   // fewer are shared exactly all the same

// ---- What can be asked for.
static const char *known_algorithms(Arena *arena, CollectiveOp op) {
    const char *names[16], *list = "";
    int count = algorithm_names(op, names, 16);
    for (int i = 0; i < count; i++) list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", names[i]);
    return list;
}

static bool choose_algorithm(Arena *arena, const CollectivePlan *fluid, FlowPlan *plan, const char **why,
                             const char **remedy) {
    CollectiveOp op = plan->request.op;
    const char *asked = plan->request.algorithm;
    if (plan->request.steps) {
        Algorithm *written = ARENA_NEW(arena, Algorithm);
        *written = (Algorithm){.name = plan->request.steps->name, .op = op, .pieces = one_piece};
        plan->algorithm = written;
        return true;
    }
    plan->algorithm = algorithm_find(op, asked ? asked : fluid->algorithm);
    if (!plan->algorithm && !asked) plan->algorithm = algorithm_find(op, NULL);
    if (plan->algorithm) return true;
    *why = arena_printf(arena, "%s by \"%s\" is not known message by message", collective_op_name(op), asked);
    *remedy = arena_printf(arena, "with fidelity flow: %s; or use fidelity fluid", known_algorithms(arena, op));
    return false;
}

static bool supported(Arena *arena, const CollectiveRequest *request, const char **why, const char **remedy) {
    int most = request->op == COLLECTIVE_ALL_TO_ALL ? EXCHANGE_RANKS_MOST : RANKS_MOST;
    if (request->rank_count > most) {
        *why = arena_printf(arena, "%s of %d ranks is too much message by message; %d are the most",
                            collective_op_name(request->op), request->rank_count, most);
        *remedy = "use fidelity fluid";
        return false;
    }
    if (request->backend != BACKEND_NCCL && !request->on_host) {
        *why = "gloo and mpi are simulated message by message only for arrays in CPU memory";
        *remedy = "say so where the command can (--cpu, or tensors = \"cpu\"), or use fidelity fluid";
        return false;
    }
    if (request->op == COLLECTIVE_SEND_RECV && !request->shift) {
        *why = "a lone send has no steps";
        *remedy = "use fidelity fluid";
        return false;
    }
    return true;
}

// ---- Protocol: by the time of whole collectives.
static CollectivePlan fluid_plan(Arena *arena, const Network *network, const CollectiveRequest *request) {
    CollectiveRequest ring = *request;
    if (algorithm_find(request->op, request->algorithm) && request->backend == BACKEND_NCCL) ring.algorithm = "ring";
    return collective_plan(arena, network, &ring);
}

static Protocol or_simple(Protocol protocol) { return protocol == PROTOCOL_COUNT ? PROTOCOL_SIMPLE : protocol; }

// ---- Pieces.
static int place_of_root(const Group *group, const CollectiveRequest *request) {
    int place = 0;
    while (group->ranks[place] != request->ranks[request->root]) place++;
    return place;
}

// GPUs of one node that are linked without a switch have rings along their NVLinks.
static void lay_rings(Arena *arena, FlowPlan *plan) {
    const Group *group = &plan->group;
    const Node *node = node_of_rank(plan->network, group->ranks[0]);
    GpuFabric fabric = layout_of(plan->network, node)->shape->gpu_fabric;
    int gpus[MESH_GPUS_MOST], n = group->rank_count;
    bool meshed = fabric == GPU_FABRIC_MESH || fabric == GPU_FABRIC_CUBE_MESH || fabric == GPU_FABRIC_PAIRS;
    if (plan->request.backend != BACKEND_NCCL || group->block_count > 1 || n > MESH_GPUS_MOST || !meshed) return;
    for (int i = 0; i < n; i++) {
        if (node_of_rank(plan->network, group->ranks[i]) != node) return;
        gpus[i] = gpu_of_rank(plan->network, group->ranks[i]);
    }
    MeshRings rings = mesh_rings(layout_of(plan->network, node), gpus, n);
    int8_t *orders = ARENA_ARRAY(arena, int8_t, rings.count * n);
    for (int r = 0; r < rings.count; r++) memcpy(orders + r * n, rings.order[r], (size_t)n);
    plan->party.order_count = rings.count;
    plan->party.orders = orders;
}

static void share_places(Arena *arena, FlowPlan *plan) {
    const Group *group = &plan->group;
    int *starts = ARENA_ARRAY(arena, int, group->block_count + 1), ways = nics_of_rank(plan->network, group->ranks[0]);
    for (int b = 0; b < group->block_count; b++) starts[b] = group->blocks[b].first;
    starts[group->block_count] = group->rank_count;
    for (int i = 1; i < group->rank_count; i++) {
        int nics = nics_of_rank(plan->network, group->ranks[i]);
        if (nics < ways) ways = nics;
    }
    plan->party = (Party){.arena = arena,
                          .op = plan->request.op,
                          .rank_count = group->rank_count,
                          .root = place_of_root(group, &plan->request),
                          .starts = starts,
                          .block_count = group->block_count,
                          .smallest_block = group->least,
                          .ways = ways > 0 ? ways : 1,
                          .chunks = 1};
    lay_rings(arena, plan);
}

static void cut(Arena *arena, FlowPlan *plan) {
    double bytes = plan->request.bytes;
    int parts = plan->algorithm->pieces(&plan->party); // at one chunk each
    double chunks = plan->algorithm->piped ? ceil(bytes / parts / CHUNK_BYTES) : 1;
    if (plan->algorithm->piped && chunks < CHUNKS_LEAST) chunks = CHUNKS_LEAST;
    plan->party.chunks = chunks > CHUNKS_MOST ? CHUNKS_MOST : (int)chunks;
    plan->piece_count = plan->algorithm->pieces(&plan->party);
    int32_t *numbers = ARENA_ARRAY(arena, int32_t, plan->piece_count);
    for (int i = 0; i < plan->piece_count; i++) numbers[i] = i;
    plan->party.numbers = numbers;
    switch (plan->request.op) {
    case COLLECTIVE_BARRIER:
        plan->piece_bytes = 0;
        break;
    case COLLECTIVE_SEND_RECV:
        plan->piece_bytes = bytes;
        break;
    case COLLECTIVE_ALL_TO_ALL:
        plan->piece_bytes = bytes / plan->group.rank_count;
        break;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_OP_COUNT:
        plan->piece_bytes = bytes / plan->piece_count;
    }
}

const FlowPlan *flow_plan(Arena *arena, const Network *network, const CollectiveRequest *request, const char **why,
                          const char **remedy) {
    FlowPlan *plan = ARENA_NEW(arena, FlowPlan);
    *plan = (FlowPlan){.network = network, .request = *request, .window = 1};
    if (!supported(arena, request, why, remedy)) return NULL;
    CollectivePlan fluid = fluid_plan(arena, network, request);
    if (!choose_algorithm(arena, &fluid, plan, why, remedy)) return NULL;
    plan->group = group_create(arena, network, request->ranks, request->rank_count);
    if (request->constants) plan->group.constants = request->constants;
    plan->group.nccl_version = nccl_version_of(&plan->group, request->nccl_version);
    share_places(arena, plan);
    cut(arena, plan);
    if (plan->algorithm->piped) plan->window = FLOW_WINDOW;
    plan->protocol = fluid.protocol;
    plan->style = (MessageStyle){.backend = request->backend, .protocol = or_simple(fluid.protocol)};
    plan->style.direct = request->backend == BACKEND_NCCL && collective_is_direct(request->op);
    plan->style.exchange = request->op == COLLECTIVE_ALL_TO_ALL;
    plan->apart = plan->algorithm->piped || (plan->algorithm->at_once && plan->style.direct);
    if (request->backend != BACKEND_NCCL) return plan;
    double bytes = request->op == COLLECTIVE_BARRIER ? 4 : request->bytes;
    plan->style.channels = nccl_channels(&plan->group, plan->style.protocol, bytes);
    bool ring = plan->algorithm->pieces == ring_pieces; // whose rings send a piece each at a time
    plan->style.message_bytes =
        ring ? bytes / plan->group.rank_count / plan->style.channels : bytes / plan->style.channels;
    plan->style.lengthening_channels =
        ring ? nccl_lengthening_channels(&plan->group, plan->style.protocol, plan->style.channels)
             : plan->style.channels;
    plan->style.ring = ring;
    if (ring) plan->style.phases = nccl_staged_phases(&plan->group, request->op);
    plan->style.tree = plan->algorithm->pieces == tree_pieces;
    if (plan->style.direct) plan->style.message_bytes = plan->piece_bytes;
    plan->start_seconds = nccl_start_seconds(&plan->group, &plan->style, bytes, plan->piece_bytes);
    return plan;
}

const FlowPlan *flow_plan_as_packets(Arena *arena, const FlowPlan *plan, const PacketSizes *sizes) {
    FlowPlan *as_packets = ARENA_NEW(arena, FlowPlan);
    PacketSizes *kept = ARENA_NEW(arena, PacketSizes);
    *kept = *sizes;
    *as_packets = *plan;
    as_packets->packets = kept;
    return as_packets;
}

int flow_place(const FlowPlan *plan, int rank) {
    for (int place = 0; place < plan->group.rank_count; place++)
        if (plan->group.ranks[place] == rank) return place;
    return -1;
}

bool flow_is_piped(const FlowPlan *plan) { return plan->window > 1; }

int flow_rank(const FlowPlan *plan, int place) { return plan->group.ranks[place]; }

Plan flow_message(Arena *arena, const FlowPlan *plan, LinkBook *book, int from, int to, int way, double bytes) {
    Plan message = message_plan(arena, book, &plan->group, &plan->style, plan->group.ranks[from], plan->group.ranks[to],
                                way, bytes);
    if (plan->apart) message.latency = 0;
    return message;
}

SimTime flow_latency(const FlowPlan *plan, LinkBook *book, int from, int to, int way) {
    const Group *group = &plan->group;
    Arena *scratch = arena_open();
    Plan message = message_plan(scratch, book, group, &plan->style, group->ranks[from], group->ranks[to], way, 0);
    arena_close(scratch);
    return message.latency;
}

SimTime flow_on_the_wire(const FlowPlan *plan, int from_place, int to_place, int way) {
    int from = plan->group.ranks[from_place], to = plan->group.ranks[to_place], cables;
    const Network *network = plan->network;
    const PacketSizes *sizes = plan->packets;
    if (!sizes || !message_is_remote(&plan->group, &plan->style, from, to)) return 0;
    NicPair nics = message_nics(&plan->group, &plan->style, from, to, way);
    PacketHost sender = {.node = network->node_of[from], .nic = nics.out},
               receiver = {.node = network->node_of[to], .nic = nics.in};
    const Node *node = &network->nodes[sender.node];
    if (layout_of(network, node)->shape->nic_count == 0) return 0;
    sender.bytes_per_second =
        network_link_rate(network, node->first_link + layout_of(network, node)->nic_out[nics.out]);
    double seconds = packet_fabric_seconds(network, &sender, &receiver, &cables);
    double piece = plan->piece_bytes > 0 && plan->piece_bytes < sizes->payload ? plan->piece_bytes : sizes->payload;
    double rate = packet_fabric_host_rate(network, &sender, packet_stretch(sizes));
    return step_ticks(seconds + (cables - 1) * (piece + sizes->header) / rate + packet_fabric_window(network));
}

SimTime flow_latency_behind(const FlowPlan *plan, LinkBook *book, int from, int to, int way) {
    return plan->window > 1 ? flow_latency(plan, book, from, to, way) : 0;
}

Party flow_party(Arena *arena, const FlowPlan *plan, int place) {
    Party party = plan->party;
    party.arena = arena;
    party.rank = place;
    if (!plan->request.steps) plan->algorithm->build(&party);
    return party;
}

Party flow_outline(Arena *arena, const FlowPlan *plan, int place) {
    Party party = plan->party;
    party.arena = arena;
    party.rank = place;
    party.outline = true;
    plan->algorithm->build(&party);
    return party;
}

int flow_pieces(const FlowPlan *plan, double *bytes) {
    *bytes = plan->piece_bytes;
    return plan->piece_count;
}

const char *flow_algorithm(const FlowPlan *plan) { return plan->algorithm->name; }

Plan flow_lone_message(Arena *arena, const Network *network, LinkBook *book, Backend backend, int from_rank,
                       int to_rank, double bytes) {
    const int ranks[] = {from_rank, to_rank};
    Group group = group_create(arena, network, ranks, 2);
    MessageStyle style = {.backend = backend,
                          .protocol = PROTOCOL_SIMPLE,
                          .channels = 1,
                          .lengthening_channels = 1,
                          .message_bytes = bytes,
                          .direct = true};
    group.nccl_version = nccl_version_of(&group, 0);
    return message_plan(arena, book, &group, &style, from_rank, to_rank, 0, bytes);
}

void flow_fold(Arena *arena, FlowSystem *flows) {
    if (!flows->folded.actor_count) flows->folded = fold_system(arena, &flows->system).system;
}

const char *flow_busiest(const Link *links, const double *busy, int count, double least) {
    const char *name = NULL;
    for (int l = 0; l < count; l++)
        if (busy[l] > least) least = busy[l], name = links[l].name;
    return name;
}

FlowResult flow_run(Arena *arena, const FlowPlan *plan, FlowSystem *flows, bool fold) {
    if (fold) flow_fold(arena, flows);
    System system = fold ? flows->folded : flows->system;
    double tolerance = flows->message_count >= TOLERANT_MESSAGES ? plan->request.tolerance : 0;
    RunResult run = run_system(arena, &system, &(RunOptions){.tolerance = tolerance});
    if (run.stopped) return (FlowResult){.stopped = true};
    CHECK(run.beyond_clock || run.deadlocked_count == 0);
    FlowResult result = {.seconds = run.beyond_clock ? INFINITY : step_seconds(run.end),
                         .algorithm = plan->algorithm->name,
                         .protocol = plan->protocol,
                         .channels = plan->style.channels,
                         .actor_count = system.actor_count,
                         .message_count = flows->message_count,
                         .event_count = run.event_count,
                         .tolerance = tolerance};
    result.limited_by = flow_busiest(flows->system.links, flows->link_busy, flows->system.link_count,
                                     0.01 * result.seconds); // less is nothing
    return result;
}
