// Route of one message over the links of both nodes and the fabric, spread as the fabric spreads traffic.
#include "models/network/messages/message.h"

#include <math.h>
#include <string.h>

#include "models/network/topology.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"

typedef struct Uses {
    LinkUse *items;
    int count;
    double scale;
} Uses;

static void add_use(Uses *uses, int32_t link, double weight) {
    for (int i = 0; i < uses->count; i++)
        if (uses->items[i].link == link) {
            uses->items[i].weight += weight;
            return;
        }
    CHECK(uses->count < MESSAGE_USES_LIMIT);
    uses->items[uses->count++] = (LinkUse){link, weight};
}

static void add_node_path(Uses *uses, const Node *node, const Path *path) {
    for (int i = 0; i < path->count; i++) add_use(uses, node->first_link + path->links[i], uses->scale);
}

static void add_crossing(void *context, int32_t link, double share) {
    Uses *uses = context;
    add_use(uses, link, share * uses->scale);
}

// ---- Links of software.
enum { INSIDE_OUT, INSIDE_BOTH, BETWEEN_OUT, BETWEEN_BOTH, PROCESS_IN, PROCESS_OUT };

LinkBook *link_book_create(Arena *arena, const Network *network, const Link *links, int count) {
    LinkBook *book = ARENA_NEW(arena, LinkBook);
    *book = (LinkBook){.arena = arena, .network = network, .room = count + 64};
    book->software = ARENA_ARRAY(arena, int32_t, SOFTWARE_LINKS * network->rank_count + network->node_count);
    book->items = ARENA_ARRAY(arena, Link, book->room);
    for (int l = 0; l < count; l++) book->items[book->count++] = links[l];
    return book;
}

const Link *link_book_links(const LinkBook *book, int *count) {
    *count = book->count;
    return book->items;
}

static void add_software(LinkBook *book, Uses *uses, int place, double bytes_per_second, double weight,
                         const char *name) {
    if (bytes_per_second <= 0) return;
    int32_t *link = &book->software[place];
    if (!*link) {
        LIST_PUSH(book->arena, book, ((Link){name, bytes_per_second}));
        *link = book->count;
    }
    add_use(uses, *link - 1, weight);
}

static void add_limits(LinkBook *book, Uses *uses, const SoftwareLimits *limits, int from, int to, bool remote) {
    static const char name[] = "software";
    int ranks = book->network->rank_count;
    add_software(book, uses, from * SOFTWARE_LINKS + (remote ? BETWEEN_OUT : INSIDE_OUT),
                 remote ? limits->between_out : limits->inside_out, 1, name);
    // Staged and bounced bytes of a GPU take the same way to the root complex.
    bool one_way = limits->inside_both > 0 && limits->between_both > 0;
    int both = remote && !one_way ? BETWEEN_BOTH : INSIDE_BOTH;
    double rate = remote && !one_way ? limits->between_both : limits->inside_both;
    double weight = remote && one_way ? limits->inside_both / limits->between_both : 1;
    add_software(book, uses, from * SOFTWARE_LINKS + both, rate, weight, name);
    add_software(book, uses, to * SOFTWARE_LINKS + both, rate, weight, name);
    add_software(book, uses, from * SOFTWARE_LINKS + PROCESS_OUT, limits->process_out, 1, name);
    add_software(book, uses, to * SOFTWARE_LINKS + PROCESS_IN, limits->process_in, 1, name);
    if (remote)
        add_software(book, uses, ranks * SOFTWARE_LINKS + book->network->node_of[from], limits->node_out, 1, name);
}

// ---- Ways.
static Medium pair_medium(const Network *network, int from, int to) {
    const Node *node = node_of_rank(network, from);
    const Layout *layout = layout_of(network, node);
    if (node != node_of_rank(network, to)) return MEDIUM_NVLINK; // of one NVLink domain
    const Path *path =
        &layout->gpu_to_gpu[gpu_of_rank(network, from) * layout->shape->gpu_count + gpu_of_rank(network, to)];
    return path->nvlink ? MEDIUM_NVLINK : path->staged ? MEDIUM_HOST : MEDIUM_PCIE;
}

// Returns the seconds of long lines on the way; *seconds: from NIC to NIC without them.
static double add_network_way(Uses *uses, const Network *network, int from, int to, NicPair nics, double *seconds) {
    int out = fabric_leaf(network, network->node_of[from], nics.out),
        in = fabric_leaf(network, network->node_of[to], nics.in);
    fabric_cross(network, out, in, 1, &(Crossing){add_crossing, uses, true});
    *seconds = network->fabric.latency_seconds + fabric_switch_seconds(network, out, in);
    return fabric_line_seconds(network, out, in);
}

static double add_remote_way(Uses *uses, const Network *network, int from_rank, int to_rank, int way, bool relayed,
                             double *seconds) {
    const Node *from = node_of_rank(network, from_rank), *to = node_of_rank(network, to_rank);
    const Layout *sender = layout_of(network, from), *receiver = layout_of(network, to);
    int from_gpu = gpu_of_rank(network, from_rank), to_gpu = gpu_of_rank(network, to_rank);
    NicPair nics = fabric_nics(network, from_rank, to_rank, way, relayed);
    int relay =
        relayed || network->fabric.kind == FABRIC_RAIL_ONLY ? layout_relay_gpu(sender, from_gpu, nics.out) : from_gpu;
    add_node_path(uses, from, &sender->gpu_to_gpu[from_gpu * sender->shape->gpu_count + relay]);
    add_node_path(uses, from, &sender->gpu_to_nic[relay * sender->shape->nic_count + nics.out]);
    double line = add_network_way(uses, network, from_rank, to_rank, nics, seconds);
    add_node_path(uses, to, &receiver->nic_to_gpu[to_gpu * receiver->shape->nic_count + nics.in]);
    return line;
}

static void add_inside_way(Uses *uses, const Network *network, int from_rank, int to_rank) {
    const Node *from = node_of_rank(network, from_rank), *to = node_of_rank(network, to_rank);
    const Layout *sender = layout_of(network, from), *receiver = layout_of(network, to);
    int from_gpu = gpu_of_rank(network, from_rank), to_gpu = gpu_of_rank(network, to_rank);
    if (from == to) {
        add_node_path(uses, from, &sender->gpu_to_gpu[from_gpu * sender->shape->gpu_count + to_gpu]);
        return;
    }
    add_use(uses, from->first_link + sender->nvlink_out[from_gpu], uses->scale);
    add_use(uses, to->first_link + receiver->nvlink_in[to_gpu], uses->scale);
}

static bool is_relayed(const Group *group, const MessageStyle *style) {
    return style->exchange && group->network->fabric.rail_optimised && group->medium == MEDIUM_NVLINK && group->rdma;
}

bool message_is_remote(const Group *group, const MessageStyle *style, int from, int to) {
    const Network *network = group->network;
    const Node *node = node_of_rank(network, from), *other = node_of_rank(network, to);
    return style->backend == BACKEND_NCCL ? node->domain != other->domain : node != other;
}

NicPair message_nics(const Group *group, const MessageStyle *style, int from, int to, int way) {
    if (style->backend == BACKEND_GLOO) return (NicPair){0, 0};
    bool nccl = style->backend == BACKEND_NCCL;
    return fabric_nics(group->network, from, to, nccl ? way : 0, nccl && is_relayed(group, style));
}

// ---- NCCL.
static void add_line(const Network *network, double line, int nics, Plan *plan, double *latency) {
    double rate = transport_rate(network->fabric.transport, 2 * line, nics);
    if (line <= 0) return;
    *latency += line;
    if (rate > 0 && (plan->rate_limit <= 0 || rate < plan->rate_limit)) plan->rate_limit = rate;
}

static double nccl_way(LinkBook *book, const Group *group, const MessageStyle *style, int from, int to, int way,
                       Uses *uses, Plan *plan) {
    const Network *network = group->network;
    bool remote = message_is_remote(group, style, from, to), relayed = is_relayed(group, style);
    Group pair = *group;
    double line = 0;
    if (!remote) pair.medium = pair_medium(network, from, to);
    uses->scale = 1 / nccl_message(&pair, style, remote).share;
    if (remote)
        line = add_remote_way(uses, network, from, to, way, relayed, &pair.network_seconds);
    else
        add_inside_way(uses, network, from, to);
    NcclMessage message = nccl_message(&pair, style, remote);
    double latency = message.seconds;
    plan->rate_limit = message.rate_limit;
    SoftwareLimits limits = nccl_software_limits(&pair, style);
    add_limits(book, uses, &limits, from, to, remote);
    add_line(network, line, 1, plan, &latency);
    return latency;
}

// ---- Gloo and MPI on host memory: within a node `local_copies` through the sender's memory; beyond it one NIC.
static double host_way(LinkBook *book, const Group *group, const MessageStyle *style, int from, int to, Uses *uses,
                       Plan *plan) {
    const Network *network = group->network;
    const HostConstants values = host_constants(style->backend), *constants = &values;
    const Node *node = node_of_rank(network, from), *other = node_of_rank(network, to);
    const Layout *layout = layout_of(network, node);
    SoftwareLimits limits = {.process_in = constants->process_bytes_per_second,
                             .process_out = constants->process_bytes_per_second};
    bool remote = message_is_remote(group, style, from, to);
    double latency = remote ? constants->software_seconds : constants->local_seconds, seconds = 0;
    add_limits(book, uses, &limits, from, to, remote);
    if (!remote) {
        const Path *to_host = &layout->gpu_to_host[gpu_of_rank(network, from)];
        add_use(uses, node->first_link + to_host->links[to_host->count - 1], constants->local_copies);
        return latency;
    }
    if (layout->shape->nic_count == 0) return latency + network->fabric.latency_seconds;
    NicPair nics = message_nics(group, style, from, to, 0);
    add_use(uses, node->first_link + layout->nic_out[nics.out], 1);
    double line = add_network_way(uses, network, from, to, nics, &seconds);
    add_use(uses, other->first_link + layout_of(network, other)->nic_in[nics.in], 1);
    latency += seconds;
    add_line(network, line, 1, plan, &latency);
    return latency;
}

Plan message_plan(Arena *arena, LinkBook *book, const Group *group, const MessageStyle *style, int from_rank,
                  int to_rank, int way, double bytes) {
    LinkUse found[MESSAGE_USES_LIMIT];
    Uses uses = {found, 0, 1};
    Plan plan = {.bytes = bytes, .fairness = 1};
    double latency = style->backend == BACKEND_NCCL
                         ? nccl_way(book, group, style, from_rank, to_rank, way, &uses, &plan)
                         : host_way(book, group, style, from_rank, to_rank, &uses, &plan);
    LinkUse *kept = ARENA_ARRAY(arena, LinkUse, uses.count);
    for (int i = 0; i < uses.count; i++) {
        double weight = weight_round(found[i].weight);
        if (weight > 0) kept[plan.use_count++] = (LinkUse){found[i].link, weight};
    }
    plan.uses = kept;
    plan.latency = step_ticks(latency);
    return plan;
}

// ---- All messages at once.
Loads uneven_loads(Arena *arena, const Group *group, const double *pair_bytes, double bytes) {
    const Network *network = group->network;
    Loads loads = {.arena = arena};
    LinkUse *found = ARENA_ARRAY(arena, LinkUse, MESSAGE_USES_LIMIT);
    double *inside = ARENA_ARRAY(arena, double, network->link_count),
           *between = ARENA_ARRAY(arena, double, network->link_count), seconds;
    int n = group->rank_count;
    bool relayed = network->fabric.rail_optimised && group->medium == MEDIUM_NVLINK && group->rdma;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int from = group->ranks[i], to = group->ranks[j];
            double share = bytes > 0 ? pair_bytes[i * n + j] / bytes : 0;
            bool remote = node_of_rank(network, from)->domain != node_of_rank(network, to)->domain;
            Uses uses = {found, 0, 1};
            if (i == j || share <= 0) continue;
            int ways = remote ? nics_of_rank(network, from) : 1;
            for (int way = 0; way < ways; way++) {
                uses.scale = 1.0 / ways;
                if (remote)
                    add_remote_way(&uses, network, from, to, way, relayed, &seconds);
                else
                    add_inside_way(&uses, network, from, to);
            }
            for (int u = 0; u < uses.count; u++) (remote ? between : inside)[found[u].link] += share * found[u].weight;
        }
    for (int l = 0; l < network->link_count; l++)
        if (inside[l] > 0 || between[l] > 0) LIST_PUSH(arena, &loads, ((Load){l, inside[l], between[l]}));
    return loads;
}

// ---- Assigns messages to channels: one for all messages of one collective and tag from one rank to another.

typedef struct Connection { // has the number of its channel, counted from the first
    int32_t collective, from, to, tag;
    int32_t next;       // with the same hash
    int sent, received; // messages
} Connection;

struct MessageBook {
    Arena *arena;
    LinkBook *links;
    LIST_OF(Connection) connections;
    LIST_OF(Channel) channels;
    int32_t *table; // connection + 1 by hash
    int table_room;
};

MessageBook *message_book_create(Arena *arena, LinkBook *links, int places) {
    MessageBook *book = ARENA_NEW(arena, MessageBook);
    *book = (MessageBook){.arena = arena, .links = links, .table_room = 1024};
    while (book->table_room < 32 * places) book->table_room *= 2;
    book->table = ARENA_ARRAY(arena, int32_t, book->table_room);
    return book;
}

void message_book_expect(MessageBook *book, int places) {
    int connections = book->connections.count;
    if (connections > INT32_MAX / places) return;
    connections = connections * places / 2; // both ends see each
    LIST_ROOM(book->arena, &book->connections, connections);
    LIST_ROOM(book->arena, &book->channels, connections);
}

const Channel *message_book_channels(const MessageBook *book, int *count) {
    for (int c = 0; c < book->connections.count; c++)
        CHECK(book->connections.items[c].sent == book->connections.items[c].received);
    *count = book->channels.count;
    return book->channels.items;
}

int32_t message_channel(MessageBook *book, int collective, int from, int to, int tag) {
    uint64_t hash = digest_u64(digest_u64(digest_u64(DIGEST_START, (uint64_t)from), (uint64_t)to), (uint64_t)tag);
    if (collective) hash = digest_u64(hash, (uint64_t)collective);
    int32_t *head = &book->table[hash & (uint64_t)(book->table_room - 1)];
    for (int32_t i = *head; i; i = book->connections.items[i - 1].next) {
        const Connection *known = &book->connections.items[i - 1];
        if (known->from == from && known->to == to && known->tag == tag && known->collective == collective)
            return i - 1;
    }
    LIST_PUSH(book->arena, &book->connections,
              ((Connection){.collective = collective, .from = from, .to = to, .tag = tag, .next = *head}));
    LIST_PUSH(book->arena, &book->channels, ((Channel){.member_count = 2, .lane = message_lane(collective, tag)}));
    *head = book->connections.count;
    return book->connections.count - 1;
}

void message_ends(const MessageBook *book, int32_t channel, int *from, int *to, int *tag) {
    const Connection *known = &book->connections.items[channel];
    *from = known->from, *to = known->to, *tag = known->tag;
}

// The plans of a channel differ in bytes alone, and are few.
static int32_t plan_of(MessageBook *book, const FlowPlan *flow, int32_t channel, int way, double bytes) {
    Channel *known = &book->channels.items[channel];
    const Connection *connection = &book->connections.items[channel];
    for (int p = 0; p < known->plan_count; p++)
        if (known->plans[p].bytes == bytes) return p;
    Plan *plans = ARENA_ARRAY(book->arena, Plan, known->plan_count + 1);
    if (known->plan_count) memcpy(plans, known->plans, (size_t)known->plan_count * sizeof *plans);
    plans[known->plan_count] =
        flow_message(book->arena, flow, book->links, connection->from, connection->to, way, bytes);
    known->plans = plans;
    known->piped = flow_is_piped(flow);
    if (flow->request.steps) known->lane = message_lane(connection->collective, 0);
    return known->plan_count++;
}

int32_t message_plan_number(MessageBook *book, const FlowPlan *flow, int32_t channel, const FlowOp *op, int times) {
    Connection *connection = &book->connections.items[channel];
    *(op->kind == FLOW_SEND ? &connection->sent : &connection->received) += times;
    return plan_of(book, flow, channel, op->way, op->bytes);
}

const Plan *message_book_plan(const MessageBook *book, int32_t channel, int32_t plan) {
    return &book->channels.items[channel].plans[plan];
}
