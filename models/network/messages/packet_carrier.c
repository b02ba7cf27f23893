#include "models/network/messages/packet_carrier.h"

#include "models/network/messages/packet_fabric.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/statistics.h"
#include "sim/system/watch.h"

#define WINDOW_LEAST 50e-9
#define NOBODY (-1)
#define NICS_MOST 64 // of a message, on one side

typedef struct NicUse {
    PacketHost host;
    double weight; // bytes on it per byte of payload
} NicUse;

typedef struct Stripe { // of a channel's messages: what goes from one NIC to another
    int32_t connection;
    double weight; // bytes on the wire per byte of payload
    double share;  // of the payload
} Stripe;

typedef struct Way { // of a channel that is carried
    Stripe *stripes;
    int stripe_count, stripes_left; // of the transfer under way, where it is not piped
    int32_t from_node, to_node;     // whose NICs it uses
    SimTime on_the_wire, before;    // at rest; from when it begins to its first packet
    int64_t *counts;                // [plan] messages
} Way;

typedef struct Connection { // of the packet engine
    int32_t from_host, to_host, from_actor, to_actor;
    int64_t lane, packets;
    double bytes; // of packets, with what protocols add
    double rate_limit;
    int32_t message_count, sent, there_in_order;
    int32_t *channels;     // [message]
    double *message_bytes; // [message] of payload
    SimTime *begun;        // [message]
    bool *there;           // [message]
    int32_t next;          // with the same hash
} Connection;

struct PacketCarrier {
    Arena *arena;
    const Network *network;
    const System *system;
    PacketSizes sizes;
    PacketNetwork packets;
    PacketFabric fabric;
    PacketHost *hosts;
    int host_count;
    int32_t *host_numbers; // [node * rails + nic] + 1
    Way **ways;            // [channel] or NULL
    int32_t *sender, *receiver;
    LIST_OF(Connection) connections;
    int32_t *table; // connection + 1 by hash
    int table_room;
    int64_t message_count; // stripes of messages count as one each
    SimTime window;
    Carrier door;
    PacketSim *sim;
    bool asks; // when the next window begins
    SimTime next_window;
    LIST_OF(CarriedEnd) ends;
    double *seconds; // [message that has arrived]
    int64_t arrived;
    double bytes_there;
};

PacketNetwork *packet_carrier_network(PacketCarrier *c) { return &c->packets; }

// ---- Which channels leave a node.
// [link] 1 + node * rails + nic of a NIC's way out, below 0 of its way in; 0: none.
static int32_t *nics_of_links(const PacketCarrier *c, Arena *scratch) {
    const Network *network = c->network;
    int32_t *nics = ARENA_ARRAY(scratch, int32_t, c->system->link_count + 1);
    for (int n = 0; n < network->node_count; n++) {
        const Node *node = &network->nodes[n];
        const Layout *layout = layout_of(network, node);
        for (int i = 0; i < layout->shape->nic_count; i++) {
            nics[node->first_link + layout->nic_out[i]] = 1 + n * network->rails + i;
            nics[node->first_link + layout->nic_in[i]] = -(1 + n * network->rails + i);
        }
    }
    return nics;
}

static int nics_used(const PacketCarrier *c, const Plan *plan, const int32_t *nics, int sign, NicUse *uses) {
    int count = 0, rails = c->network->rails;
    for (int u = 0; u < plan->use_count && count < NICS_MOST; u++) {
        int32_t nic = sign * nics[plan->uses[u].link] - 1;
        if (nic >= 0) uses[count++] = (NicUse){{.node = nic / rails, .nic = nic % rails}, plan->uses[u].weight};
    }
    return count;
}

static int32_t host_of(PacketCarrier *c, const PacketHost *host) {
    int32_t *number = &c->host_numbers[host->node * c->network->rails + host->nic];
    if (!*number) {
        c->hosts[c->host_count] = *host;
        *number = ++c->host_count;
    }
    return *number - 1;
}

// Members of channels of two: [channel * 2].
static int32_t *pairs_of(const PacketCarrier *c, Arena *scratch) {
    const System *system = c->system;
    int32_t *pairs = ARENA_ARRAY(scratch, int32_t, 2 * system->channel_count + 1);
    for (int i = 0; i < 2 * system->channel_count; i++) pairs[i] = NOBODY;
    for (int a = 0; a < system->actor_count; a++)
        for (int s = 0; s < system->programs[system->actors[a].program].slot_count; s++) {
            int32_t channel = system->actors[a].channels[s], *pair = &pairs[2 * channel];
            if (channel < 0 || system->channels[channel].member_count != 2) continue;
            if (pair[0] == NOBODY || pair[0] == a)
                pair[0] = a;
            else
                pair[1] = a;
        }
    return pairs;
}

// ---- Connections.
static int32_t connection_of(PacketCarrier *c, const Connection *asked) {
    uint64_t hash = digest_u64(digest_u64(DIGEST_START, (uint64_t)asked->from_actor << 32 ^ (uint64_t)asked->to_actor),
                               (uint64_t)asked->from_host << 32 ^ (uint64_t)asked->to_host);
    hash = digest_u64(hash, (uint64_t)asked->lane);
    int32_t *head = &c->table[hash & (uint64_t)(c->table_room - 1)];
    for (int32_t i = *head; i; i = c->connections.items[i - 1].next) {
        const Connection *known = &c->connections.items[i - 1];
        if (known->from_actor == asked->from_actor && known->to_actor == asked->to_actor &&
            known->from_host == asked->from_host && known->to_host == asked->to_host && known->lane == asked->lane)
            return i - 1;
    }
    Connection made = *asked;
    made.next = *head;
    LIST_PUSH(c->arena, &c->connections, made);
    return (*head = c->connections.count) - 1;
}

static void add_stripe(PacketCarrier *c, Way *way, int32_t channel, const NicUse *out, const NicUse *in, double weight,
                       double share) {
    const Channel *its = &c->system->channels[channel];
    Connection asked = {.from_host = host_of(c, &out->host),
                        .to_host = host_of(c, &in->host),
                        .from_actor = c->sender[channel],
                        .to_actor = c->receiver[channel],
                        .lane = its->lane,
                        .rate_limit = its->plans[0].rate_limit * weight};
    way->stripes[way->stripe_count++] = (Stripe){connection_of(c, &asked), weight, share};
}

// NICs of both sides in order, each with its share of the bytes.
static void split(PacketCarrier *c, Way *way, int32_t channel, NicUse *outs, int out_count, NicUse *ins, int in_count) {
    double out_sum = 0, in_sum = 0;
    for (int i = 0; i < out_count; i++) out_sum += outs[i].weight;
    for (int i = 0; i < in_count; i++) in_sum += ins[i].weight;
    for (int i = 0; i < in_count; i++) ins[i].weight *= out_sum / in_sum;
    way->stripes = ARENA_ARRAY(c->arena, Stripe, out_count + in_count);
    for (int o = 0, i = 0; o < out_count && i < in_count;) {
        double weight = fmin(outs[o].weight, ins[i].weight);
        if (weight > 1e-9 * out_sum) add_stripe(c, way, channel, &outs[o], &ins[i], weight, weight / out_sum);
        outs[o].weight -= weight;
        ins[i].weight -= weight;
        if (outs[o].weight <= 1e-9 * out_sum) o++;
        if (i < in_count && ins[i].weight <= 1e-9 * out_sum) i++;
    }
}

static void lay_way(PacketCarrier *c, int32_t channel, const int32_t *pair, const int32_t *nics) {
    NicUse outs[NICS_MOST], ins[NICS_MOST];
    const Channel *its = &c->system->channels[channel];
    if (its->member_count != 2 || its->plan_count == 0 || pair[1] == NOBODY) return;
    int out_count = nics_used(c, &its->plans[0], nics, 1, outs), in_count = nics_used(c, &its->plans[0], nics, -1, ins);
    if (!out_count || !in_count || outs[0].host.node == ins[0].host.node) return;
    bool first = c->network->node_of[pair[0]] == outs[0].host.node;
    c->sender[channel] = pair[!first];
    c->receiver[channel] = pair[first];
    Way *way = c->ways[channel] = ARENA_NEW(c->arena, Way);
    *way = (Way){.from_node = outs[0].host.node, .to_node = ins[0].host.node};
    way->counts = ARENA_ARRAY(c->arena, int64_t, its->plan_count);
    split(c, way, channel, outs, out_count, ins, in_count);
}

static int64_t stripe_bytes(const Plan *plan, const Stripe *stripe) {
    double bytes = ceil(plan->bytes * stripe->weight);
    return bytes > 1 ? (int64_t)bytes : 1;
}

static void count_message(PacketCarrier *c, int32_t channel, int32_t plan) {
    Way *way = c->ways[channel];
    way->counts[plan]++;
    for (int p = 0; p < way->stripe_count; p++) {
        Connection *connection = &c->connections.items[way->stripes[p].connection];
        int64_t bytes = stripe_bytes(&c->system->channels[channel].plans[plan], &way->stripes[p]);
        connection->bytes += (double)bytes;
        connection->packets += packet_count(&c->packets, bytes);
        connection->message_count++;
        c->message_count++;
    }
}

static void count_messages(PacketCarrier *c) {
    for (int a = 0; a < c->system->actor_count; a++) {
        const Actor *actor = &c->system->actors[a];
        const Program *program = &c->system->programs[actor->program];
        for (int s = 0; s < program->stream_count; s++) {
            OpWalk walk = {.program = program, .stream = &program->streams[s]};
            for (Op op; walk_ops(&walk, &op);) {
                int32_t channel = op.kind == OP_TRANSFER ? actor->channels[op.slot] : NOBODY;
                if (channel >= 0 && c->sender[channel] == a) count_message(c, channel, op.id);
            }
        }
    }
}

static void lay_ways(PacketCarrier *c) {
    Arena *scratch = arena_open();
    const int32_t *nics = nics_of_links(c, scratch), *pairs = pairs_of(c, scratch);
    for (int i = 0; i < c->system->channel_count; i++) {
        c->sender[i] = NOBODY;
        lay_way(c, i, &pairs[2 * i], nics);
    }
    arena_close(scratch);
    count_messages(c);
}

// ---- How fast NICs are: what is narrower between them and GPUs makes them so.
// A link of software is of the node that all who use it have in common, or of either end where only one pair does.
static void narrow(int32_t *may, int32_t a, int32_t b) {
    if (may[0] == NOBODY) may[0] = a, may[1] = b;
    if (may[0] != a && may[0] != b) may[0] = may[1];
    if (may[1] != a && may[1] != b) may[1] = may[0];
}

static int32_t *owners(const PacketCarrier *c, Arena *scratch) { // [link * 2] its nodes; of the fabric's: NOBODY
    const Network *network = c->network;
    int links = c->system->link_count;
    int32_t *owner = ARENA_ARRAY(scratch, int32_t, 2 * links + 1);
    for (int l = 0; l < 2 * links; l++) owner[l] = NOBODY;
    for (int i = 0; i < c->system->channel_count; i++)
        for (int u = 0; c->ways[i] && u < c->system->channels[i].plans[0].use_count; u++)
            narrow(&owner[2 * c->system->channels[i].plans[0].uses[u].link], c->ways[i]->from_node,
                   c->ways[i]->to_node);
    for (int l = 0; l < 2 * network->link_count; l++) owner[l] = NOBODY;
    for (int n = 0; n < network->node_count; n++) {
        const Node *node = &network->nodes[n];
        for (int l = 0; l < layout_of(network, node)->link_count; l++)
            owner[2 * (node->first_link + l)] = owner[2 * (node->first_link + l) + 1] = n;
    }
    return owner;
}

// What the slowest of a node's links takes for all that is sent over it.
static void slow_hosts(const PacketCarrier *c, int32_t channel, const double *load, const int32_t *owner,
                       double *most) {
    const Way *way = c->ways[channel];
    const Plan *plan = &c->system->channels[channel].plans[0];
    for (int p = 0; p < way->stripe_count; p++) {
        const Connection *connection = &c->connections.items[way->stripes[p].connection];
        int32_t ends[] = {connection->from_host, connection->to_host};
        for (int u = 0; u < 2 * plan->use_count; u++) {
            int32_t link = plan->uses[u / 2].link, host = ends[u & 1];
            if (owner[2 * link] == c->hosts[host].node || owner[2 * link + 1] == c->hosts[host].node)
                most[host] = fmax(most[host], load[link] / c->system->links[link].bytes_per_second);
        }
    }
}

static void add_load(const PacketCarrier *c, int32_t channel, double *load) {
    const Channel *its = &c->system->channels[channel];
    for (int p = 0; p < its->plan_count; p++)
        for (int u = 0; u < its->plans[p].use_count; u++)
            load[its->plans[p].uses[u].link] +=
                (double)c->ways[channel]->counts[p] * its->plans[p].bytes * its->plans[p].uses[u].weight;
}

static void set_rates(PacketCarrier *c) {
    const Network *network = c->network;
    Arena *scratch = arena_open();
    double *load = ARENA_ARRAY(scratch, double, c->system->link_count),
           *out = ARENA_ARRAY(scratch, double, c->host_count), *in = ARENA_ARRAY(scratch, double, c->host_count),
           *most = ARENA_ARRAY(scratch, double, c->host_count);
    const int32_t *owner = owners(c, scratch);
    for (int i = 0; i < c->system->channel_count; i++)
        if (c->ways[i]) add_load(c, i, load);
    for (int i = 0; i < c->connections.count; i++) {
        out[c->connections.items[i].from_host] += c->connections.items[i].bytes;
        in[c->connections.items[i].to_host] += c->connections.items[i].bytes;
    }
    for (int i = 0; i < c->system->channel_count; i++)
        if (c->ways[i]) slow_hosts(c, i, load, owner, most);
    for (int h = 0; h < c->host_count; h++) {
        const Node *node = &network->nodes[c->hosts[h].node];
        double nic = network_link_rate(network, node->first_link + layout_of(network, node)->nic_out[c->hosts[h].nic]);
        c->hosts[h].bytes_per_second = most[h] > 0 ? fmin(nic, fmax(out[h], in[h]) / most[h]) : nic;
    }
    arena_close(scratch);
}

// ---- Time before the first packet.
static SimTime at_rest(const PacketCarrier *c, int32_t channel) {
    const Stripe *stripe = &c->ways[channel]->stripes[0];
    const Connection *connection = &c->connections.items[stripe->connection];
    int cables;
    double seconds =
        packet_fabric_seconds(c->network, &c->hosts[connection->from_host], &c->hosts[connection->to_host], &cables);
    double bytes = (double)stripe_bytes(&c->system->channels[channel].plans[0], stripe);
    double last = fmin(bytes, c->sizes.payload) + c->sizes.header;
    return step_ticks(seconds + (cables - 1) * last / c->fabric.cables.items[connection->from_host].bytes_per_second);
}

// Where a message has no latency of its own, it passes as work, from which as much was taken (flow_on_the_wire).
static void set_times(PacketCarrier *c) {
    SimTime usual = step_ticks(packet_fabric_window(c->network)), window = usual, least = step_ticks(WINDOW_LEAST);
    for (int i = 0; i < c->system->channel_count; i++) {
        Way *way = c->ways[i];
        if (!way) continue;
        SimTime latency = c->system->channels[i].plans[0].latency;
        way->on_the_wire = at_rest(c, i);
        way->before = latency > 0 ? latency - way->on_the_wire : usual;
        if (way->before < window) window = way->before;
    }
    c->window = window > least ? window : least;
    c->packets.window_seconds = step_seconds(c->window);
    for (int i = 0; i < c->system->channel_count; i++)
        if (c->ways[i] && c->ways[i]->before < c->window) c->ways[i]->before = c->window;
}

// ---- Laying it.
PacketCarrier *packet_carrier(Arena *arena, const Network *network, const System *system, const PacketSizes *sizes,
                              const char **why, const char **remedy) {
    PacketCarrier *c = ARENA_NEW(arena, PacketCarrier);
    *c = (PacketCarrier){.arena = arena, .network = network, .system = system, .sizes = *sizes};
    c->packets = (PacketNetwork){
        .payload_bytes = sizes->payload, .header_bytes = sizes->header, .control_bytes = sizes->control};
    c->hosts = ARENA_ARRAY(arena, PacketHost, network->node_count * network->rails + 1);
    c->host_numbers = ARENA_ARRAY(arena, int32_t, network->node_count * network->rails + 1);
    c->ways = ARENA_ARRAY(arena, Way *, system->channel_count + 1);
    c->sender = ARENA_ARRAY(arena, int32_t, system->channel_count + 1);
    c->receiver = ARENA_ARRAY(arena, int32_t, system->channel_count + 1);
    for (c->table_room = 1024; c->table_room < system->channel_count;) c->table_room *= 2;
    c->table = ARENA_ARRAY(arena, int32_t, c->table_room);
    *why = NULL;
    lay_ways(c);
    if (!c->connections.count) return c;
    *why = packet_fabric_refused(network, remedy);
    if (*why) return NULL;
    set_rates(c);
    c->fabric = packet_fabric(arena, network, c->hosts, c->host_count, packet_stretch(sizes));
    c->packets.host_count = c->host_count;
    c->packets.switch_count = c->fabric.switch_count;
    c->packets.cables = c->fabric.cables.items;
    c->packets.cable_count = c->fabric.cables.count;
    set_times(c);
    return c;
}

PacketFacts packet_carrier_facts(const PacketCarrier *c) {
    PacketFacts facts = {.ports = c->fabric.most_ports, .warm = true};
    const FabricShape *shape = &c->network->fabric;
    double packet = c->sizes.payload + c->sizes.header, longest = 0;
    int most = 0;
    facts.lossless = shape->transport == NET_INFINIBAND || shape->transport == NET_SLINGSHOT;
    facts.tcp = shape->transport == NET_TCP || shape->transport == NET_TCPX;
    facts.sprays = shape->transport == NET_EFA;
    facts.spreads = shape->flows_per_nic <= 0;
    for (int h = 0; h < c->host_count; h++)
        facts.bytes_per_second = fmax(facts.bytes_per_second, c->packets.cables[h].bytes_per_second);
    for (int i = 0; i < c->packets.cable_count; i++)
        facts.latency_seconds = fmax(facts.latency_seconds, c->packets.cables[i].latency_seconds);
    for (int i = 0; i < c->connections.count; i++) {
        const Connection *connection = &c->connections.items[i];
        int cables;
        double seconds = packet_fabric_seconds(c->network, &c->hosts[connection->from_host],
                                               &c->hosts[connection->to_host], &cables);
        longest = fmax(longest, seconds);
        most = cables > most ? cables : most;
        facts.packets += (double)connection->packets;
        facts.hops += 2.0 * cables * (double)connection->packets;
    }
    double crossed = 2 * packet + c->sizes.control; // what comes back waits for what is on each cable
    facts.cables = most;
    if (c->connections.count) facts.bare_seconds = 2 * longest + most * crossed / facts.bytes_per_second;
    return facts;
}

const Carrier *packet_carrier_ready(Arena *arena, const Network *network, const System *system,
                                    const PacketAsked *asked, const char *what, const char *remedy, Where where,
                                    Problems *problems) {
    PacketAsked usual = *asked;
    PacketNetwork sizes = {0};
    const char *why, *else_do;
    packet_rules_begin(asked, &sizes);
    PacketCarrier *c =
        packet_carrier(arena, network, system,
                       &(PacketSizes){sizes.payload_bytes, sizes.header_bytes, sizes.control_bytes}, &why, &else_do);
    if (!c) {
        problem_add(problems, where, "fidelity packet: %s", why);
        problem_hint(problems, "%s", else_do);
        return NULL;
    }
    PacketFacts facts = packet_carrier_facts(c);
    packet_rules_usual(&usual, &facts);
    packet_rules_begin(&usual, &c->packets);
    if (c->host_count) packet_rules_end(&usual, &facts, &c->packets);
    if (!packet_rules_allow(&facts, &c->packets, what, remedy, where, problems)) return NULL;
    const Carrier *door = packet_carrier_open(c, &why);
    if (why) problem_add(problems, where, "fidelity packet: %s", why);
    return why ? NULL : door;
}

// ---- At work.
static void send_stripe(PacketCarrier *c, int32_t channel, const Stripe *stripe, const Plan *plan, SimTime now) {
    Connection *connection = &c->connections.items[stripe->connection];
    SimTime first = now + c->ways[channel]->before,
            behind = connection->sent ? connection->begun[connection->sent - 1] : 0;
    if (first < behind) first = behind;
    connection->channels[connection->sent] = channel;
    connection->message_bytes[connection->sent] = plan->bytes * stripe->share;
    connection->begun[connection->sent++] = first;
    packet_send(c->sim, stripe->connection, stripe_bytes(plan, stripe), first);
}

static void carrier_send(void *owner, int32_t channel, int32_t number, SimTime now) {
    PacketCarrier *c = owner;
    Way *way = c->ways[channel];
    const Plan *plan = &c->system->channels[channel].plans[number];
    way->stripes_left = way->stripe_count;
    for (int p = 0; p < way->stripe_count; p++) send_stripe(c, channel, &way->stripes[p], plan, now);
    c->asks = true;
}

static SimTime carrier_next(void *owner) {
    PacketCarrier *c = owner;
    if (c->asks) c->next_window = packet_next(c->sim);
    c->asks = false;
    return c->next_window;
}

static void tell_end(PacketCarrier *c, int32_t channel, SimTime time) {
    LIST_PUSH(c->arena, &c->ends, ((CarriedEnd){time, channel}));
}

static bool is_piped(const PacketCarrier *c, int32_t channel) { return c->system->channels[channel].piped; }

// Messages of a piped channel are taken in the order in which they were sent.
static void arrive(PacketCarrier *c, const PacketArrival *arrival) {
    Connection *connection = &c->connections.items[arrival->connection];
    int32_t channel = connection->channels[arrival->message];
    c->seconds[c->arrived++] = step_seconds(arrival->time - connection->begun[arrival->message]);
    c->bytes_there += connection->message_bytes[arrival->message];
    connection->there[arrival->message] = true;
    if (!is_piped(c, channel) && --c->ways[channel]->stripes_left == 0) tell_end(c, channel, arrival->time);
    while (connection->there_in_order < connection->sent && connection->there[connection->there_in_order]) {
        channel = connection->channels[connection->there_in_order++];
        if (is_piped(c, channel)) tell_end(c, channel, arrival->time);
    }
}

static bool carrier_advance(void *owner, const CarriedEnd **ends, int *count) {
    PacketCarrier *c = owner;
    int arrivals;
    const PacketArrival *arrived = packet_advance(c->sim, &arrivals);
    c->ends.count = 0;
    for (int i = 0; i < arrivals; i++) arrive(c, &arrived[i]);
    c->asks = true;
    *ends = c->ends.items;
    *count = c->ends.count;
    return watch_goes_on(0);
}

const Carrier *packet_carrier_open(PacketCarrier *c, const char **wrong) {
    PacketConnection *connections = ARENA_ARRAY(c->arena, PacketConnection, c->connections.count);
    double share = (double)(c->sizes.payload + c->sizes.header) / c->sizes.payload;
    *wrong = NULL;
    c->next_window = SIM_TIME_NEVER;
    c->door = (Carrier){
        c, c->sender, carrier_send, carrier_next, carrier_advance, PACKET_EVENTS_A_HOP * packet_carrier_facts(c).hops};
    if (!c->connections.count) return &c->door;
    for (int i = 0; i < c->connections.count; i++) {
        Connection *connection = &c->connections.items[i];
        connections[i] = (PacketConnection){connection->from_host, connection->to_host, connection->packets,
                                            connection->message_count, connection->rate_limit * share};
        connection->channels = ARENA_ARRAY(c->arena, int32_t, connection->message_count);
        connection->message_bytes = ARENA_ARRAY(c->arena, double, connection->message_count);
        connection->begun = ARENA_ARRAY(c->arena, SimTime, connection->message_count);
        connection->there = ARENA_ARRAY(c->arena, bool, connection->message_count);
    }
    c->sim = packet_open(c->arena, &c->packets, connections, c->connections.count, wrong);
    c->seconds = ARENA_ARRAY(c->arena, double, c->message_count);
    c->asks = true;
    return *wrong ? NULL : &c->door;
}

// ---- What came of it.
void packets_count(PacketsCarried *carried, const PacketResult *packets, int cables, int flows, double seconds) {
    for (int p = 0; p < 2 * cables; p++) {
        const PacketPort *port = &packets->ports[p];
        carried->queue_most = fmax(carried->queue_most, (double)port->most_waiting);
        carried->queue_mean = fmax(carried->queue_mean, port->waited / seconds);
        carried->paused_seconds += step_seconds(port->paused);
        carried->marks += port->marks;
        carried->trims += port->trims;
    }
    for (int f = 0; f < flows; f++) {
        carried->resent += packets->flows[f].resent;
        carried->timeouts += packets->flows[f].timeouts;
    }
    carried->packets = packets->sent;
    carried->hops = packets->hops;
    carried->drops = packets->dropped;
    carried->lost = packets->lost;
    carried->digest = packets->digest;
}

static void find_hottest(PacketCarrier *c, const PacketResult *packets, double seconds, PacketsCarried *carried) {
    double busiest = 0;
    int hottest = NOBODY;
    for (int port = 0; port < 2 * c->packets.cable_count; port++) {
        const PacketPort *counted = &packets->ports[port];
        double busy = (double)counted->bytes / c->packets.cables[port / 2].bytes_per_second;
        if (busy > busiest) busiest = busy, hottest = port;
    }
    if (hottest != NOBODY) carried->hottest = packet_fabric_port_name(c->arena, &c->fabric, hottest);
    carried->hottest_share = busiest / seconds;
}

static void sum_messages(PacketCarrier *c, PacketsCarried *carried) {
    for (int i = 0; i < c->connections.count; i++) {
        const Connection *connection = &c->connections.items[i];
        for (int m = 0; m < connection->sent; m++) carried->bytes += connection->message_bytes[m];
    }
    for (int64_t m = 0; m < c->arrived; m++) carried->mean_seconds += c->seconds[m] / (double)c->arrived;
    carried->p99_seconds = quantile(c->arena, c->seconds, (int)c->arrived, 0.99);
    carried->messages = c->arrived;
    carried->bytes_there = c->bytes_there;
}

PacketsCarried packet_carrier_close(PacketCarrier *c, double seconds) {
    PacketsCarried carried = {.hottest = "none", .digest = DIGEST_START};
    if (!c->sim) return carried;
    PacketResult packets = packet_close(c->sim);
    find_hottest(c, &packets, seconds, &carried);
    packets_count(&carried, &packets, c->packets.cable_count, c->connections.count, seconds);
    sum_messages(c, &carried);
    return carried;
}

const PacketsCarried *packets_carried(Arena *arena, const Carrier *door, double seconds) {
    PacketsCarried *carried = ARENA_NEW(arena, PacketsCarried);
    *carried = packet_carrier_close(door->owner, seconds);
    carried->hottest = arena_copy_text(arena, carried->hottest);
    return carried;
}
