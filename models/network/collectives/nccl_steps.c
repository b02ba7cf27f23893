// Cost of NCCL's steps, which its algorithms share with single messages.
#include <math.h>

#include "models/network/collectives/candidates.h"
#include "models/network/messages/message.h"
#include "models/network/network_constants.h"
#include "models/network/topology.h"

// ---- Cost of one NCCL step: permitted protocols, number of channels, hop latency, and the software's maximum rate if
// below the links'.

#define VERSION_OF_SHORT_FILL 20900
#define PCIE_4_BYTES 20e9  // a slot of 16 lanes carries more raw from PCIe 4 on
#define CONNECTION_SLOTS 8 // NCCL_STEPS

double nccl_constant(const Group *group, int id) {
    return group->constants ? group->constants->values[id] : constant_rows[id].value * constant_rows[id].scale;
}

bool nccl_rule(const Group *group, RuleId rule) { return !group->constants || !group->constants->without[rule]; }

// ---- What changes with the GPU's generation, and the NCCL version usual with it.
int nccl_generation(const Group *group) {
    return group->year < 2019 ? 0 : group->year < 2022 ? 1 : group->year < 2024 ? 2 : 3;
}
static int nccl_age(const Group *group) { return group->year < 2022 ? 0 : 1; }

int nccl_version_of(const Group *group, int asked) {
    static const int usual[] = {21200, 21600, 22100, 22800}; // Volta, Ampere, Hopper, Blackwell
    return asked ? asked : usual[nccl_generation(group)];
}

// ---- Protocols.
// LL128 needs NVLink (or one GPU per node) and NICs that reach GPU memory in order; Slingshot's plug-in does not
// promise that. The first EFA's plug-in leaves Simple only. Within a node of Blackwells logs show LL128 from 2.28 on,
// and none with Grace.
bool nccl_protocol_allowed(const Group *group, Protocol protocol) {
    Transport transport = group->network->fabric.transport;
    bool first_efa =
        nccl_rule(group, RULE_FIRST_EFA) && group->block_count > 1 && transport == NET_EFA && group->year < 2022;
    if (protocol == PROTOCOL_SIMPLE) return true;
    if (protocol == PROTOCOL_LL || first_efa) return !first_efa;
    if (group->year < 2017 || (group->most > 1 && group->medium != MEDIUM_NVLINK)) return false;
    if (group->block_count == 1)
        return nccl_generation(group) < 3 || (group->nccl_version >= 22800 && !group->superchip);
    bool ordered = transport == NET_INFINIBAND || transport == NET_ROCE || transport == NET_EFA;
    return ordered && group->rdma && !group->host_bridge;
}

// About how fast one GPU passes payload on to the others of its block over NVLink.
double nccl_nvlink_rate(const Group *group) {
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[0]));
    double raw = layout->shape->gpu_fabric == GPU_FABRIC_SWITCH
                     ? layout->shape->nvlink_bytes_per_second
                     : layout->shape->pair_bytes_per_second * (group->most - 1);
    return network_constant(NVLINK_SHARE) * raw;
}

double nccl_inside_share(const Group *group, Protocol protocol) {
    if (protocol == PROTOCOL_SIMPLE) return 1;
    if (protocol == PROTOCOL_LL128) return nccl_constant(group, LL128_SHARE);
    double share = nccl_constant(group, LL_SHARE);
    if (group->medium != MEDIUM_NVLINK || group->most < 2 || !nccl_rule(group, RULE_LL_RATE)) return share;
    return fmin(share, nccl_constant(group, LL_RATE + nccl_generation(group)) / nccl_nvlink_rate(group));
}

double nccl_between_share(const Group *group, Protocol protocol) {
    if (protocol == PROTOCOL_SIMPLE) return 1;
    return nccl_constant(group, protocol == PROTOCOL_LL128 ? NETWORK_LL128_SHARE : NETWORK_LL_SHARE);
}

// Where a node has two below it, its NICs take turns between them and the one above, and are not always busy.
double nccl_tree_network_share(const Group *group) {
    return group->block_count > 2 ? nccl_constant(group, TREE_NETWORK_SHARE) : 1;
}

// A rank's kernel first sends and at last receives, and in between does both at once. Over host memory the sender
// writes to it and the receiver reads from it, each for as long as the bytes take: a step more than the ring has. Over
// NVLink the last step only copies what has come to where it belongs, which takes a part of a step; over a bridge's few
// links it does not show.
double nccl_staged_phases(const Group *group, CollectiveOp op) {
    double n = group->rank_count;
    bool rooted = op == COLLECTIVE_BROADCAST || op == COLLECTIVE_REDUCE;
    bool twice = op == COLLECTIVE_ALL_REDUCE || op == COLLECTIVE_BARRIER;
    if (rooted || group->rank_count < 2) return 1;
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[0]));
    bool bridge = layout->shape->gpu_fabric == GPU_FABRIC_PAIRS;
    if (group->medium == MEDIUM_NVLINK && group->most > 1 && !bridge && nccl_rule(group, RULE_RING_LAST_STEP))
        return 1 + nccl_constant(group, RING_LAST_STEP) / (twice ? 2 * n - 2 : n - 1);
    if (group->medium != MEDIUM_HOST || !nccl_rule(group, RULE_STAGED_PHASES)) return 1;
    return twice ? (2 * n - 1) / (2 * n - 2) : n / (n - 1);
}

static int nccl_channel_limit(const Group *group) {
    if (group->block_count > 1) {
        int channels = 2 * group->nics;
        return channels < 2 ? 2 : channels > 16 ? 16 : channels;
    }
    if (group->medium != MEDIUM_NVLINK) return 2;
    return group->year < 2019 ? 12 : 24;
}

// Small messages use few channels: each gets NCCL's threads x threshold at least.
int nccl_channels_used(const Group *group, Protocol protocol, bool ring, double bytes) {
    static const double channel_bytes[PROTOCOL_COUNT] = {4096, 5120, 32768};
    double threshold = channel_bytes[protocol] * (ring && protocol == PROTOCOL_LL ? group->rank_count : 1);
    double channels = bytes / threshold;
    int limit = nccl_channel_limit(group);
    return channels < 1 ? 1 : channels > limit ? limit : (int)channels;
}

// Channels that lengthen a ring's step. Those of several nodes are all under way with Simple, and share the NICs, whose
// time is counted by bytes.
int nccl_lengthening_channels(const Group *group, Protocol protocol, int channels) {
    return protocol == PROTOCOL_SIMPLE && group->block_count > 1 ? 1 : channels;
}

// ---- Latency.
// Of a step of LL over NVLink, against Hopper.
static double hop_factor(const Group *group, Protocol protocol) {
    bool known = group->medium == MEDIUM_NVLINK && protocol == PROTOCOL_LL && nccl_rule(group, RULE_HOP_GENERATION);
    return known ? nccl_constant(group, HOP_GENERATION + nccl_generation(group)) : 1;
}

double nccl_hop_inside(const Group *group, Protocol protocol, int channels) {
    double seconds = nccl_constant(group, HOP_TIME + (int)(group->medium * PROTOCOL_COUNT + protocol)) +
                     nccl_constant(group, RAMP_TIME + (int)protocol) * log2(channels);
    return hop_factor(group, protocol) * seconds * nccl_constant(group, PLATFORM_INSIDE_HOP);
}

// A step passes on its chunk in slices, so that a hop hides behind the bytes of the slice that goes on before it.
// Between nodes that has not shown.
bool nccl_hops_hide(const Group *group) {
    return group->block_count == 1 && group->medium == MEDIUM_NVLINK && nccl_rule(group, RULE_HOPS_HIDE);
}

// Of any step between nodes, against InfiniBand.
static double nccl_network_factor(const Group *group) {
    return latency_factor(group->network_seconds) *
           nccl_constant(group, TRANSPORT_HOP + (int)group->network->fabric.transport) *
           (group->rdma ? 1 : nccl_constant(group, BOUNCED_HOP)) * nccl_constant(group, PLATFORM_BETWEEN_HOP);
}

// A message of LL has as many flags as data. Longer ones than the transport sends at once agree with the receiver
// first.
static double rendezvous_seconds(const Group *group, Protocol protocol, double message) {
    double eager = transport_row(group->network->fabric.transport)->eager_bytes;
    bool agrees = nccl_rule(group, RULE_RENDEZVOUS) && eager > 0 && message * (protocol == PROTOCOL_LL ? 2 : 1) > eager;
    return agrees ? nccl_constant(group, RENDEZVOUS_TIME) : 0;
}

// `message` is what one channel sends at a time, of payload.
double nccl_hop_between(const Group *group, Protocol protocol, int channels, double message) {
    double seconds =
        nccl_constant(group, NETWORK_HOP_TIME + (int)protocol) + rendezvous_seconds(group, protocol, message);
    double moving = nccl_constant(group, NETWORK_RAMP_TIME + (int)protocol) * log2(channels);
    return seconds * nccl_network_factor(group) + moving * nccl_constant(group, PLATFORM_BETWEEN_HOP);
}

// A connection takes eight messages at once; each further one waits for a proxy that has the last ones matched and
// their slots given back. NCCL's tuner counts 1 to 2 us for that, which hide behind the hops; over Slingshot they do
// not.
double nccl_posting_seconds(const Group *group, Protocol protocol, int steps, double message) {
    if (group->network->fabric.transport != NET_SLINGSHOT || group->block_count < 2 || steps <= CONNECTION_SLOTS ||
        !nccl_rule(group, RULE_SLINGSHOT_POSTS))
        return 0;
    double each = nccl_constant(group, SLINGSHOT_POST_TIME) * nccl_constant(group, PLATFORM_BETWEEN_HOP) +
                  rendezvous_seconds(group, protocol, message) * nccl_network_factor(group);
    return (steps - CONNECTION_SLOTS) * each;
}

// Filling the pipeline of chunks: hidden for small messages, the same for all large ones. It goes with the version of
// NCCL, not with the GPU; since it became short, LL and LL128 show none within a node.
double nccl_fill_seconds(const Group *group, Protocol protocol, double bytes) {
    bool old = group->nccl_version < VERSION_OF_SHORT_FILL, alone = group->block_count == 1;
    int age = nccl_rule(group, RULE_FILL_BY_AGE) && old ? 0 : 1;
    double seconds = 0;
    if (protocol != PROTOCOL_SIMPLE && alone && !old && nccl_rule(group, RULE_FILL_SIMPLE)) return 0;
    if (group->most > 1) seconds += nccl_constant(group, FILL_INSIDE + age);
    if (!alone) seconds += nccl_constant(group, FILL_BETWEEN + age) * nccl_network_factor(group);
    return nccl_constant(group, PLATFORM_FILL) * seconds * bytes / (bytes + nccl_constant(group, FILL_BYTES));
}

// Of any collective.
double nccl_floor_seconds(const Group *group) {
    return nccl_constant(group, PLATFORM_FLOOR) * nccl_constant(group, FLOOR_TIME + nccl_generation(group));
}

// Of the NICs' rate in the catalogue, and never above what packets leave for payload.
double nccl_transport_share(const Group *group) {
    const FabricShape *fabric = &group->network->fabric;
    const TransportRow *row = transport_row(fabric->transport);
    double share = nccl_constant(group, TRANSPORT_RATE + (int)fabric->transport);
    return fmin(share, fmax(1, transport_payload_share(row, row->mtu) / fabric->efficiency));
}

// What a collective that waits for other nodes adds to that.
double nccl_floor_between_seconds(const Group *group) {
    if (group->block_count < 2 || !nccl_rule(group, RULE_FLOOR_BETWEEN)) return 0;
    return nccl_constant(group, PLATFORM_FLOOR) * nccl_constant(group, FLOOR_BETWEEN);
}

// ---- Limits that are not a link's.
// Connections are one core's work each, and more interfaces have more of them; but all bytes pass the host's memory
// three or four times.
static double nccl_socket_rate(const Group *group) {
    return nccl_constant(group, SOCKET_RATE) *
           (group->nics > 1 && nccl_rule(group, RULE_SOCKETS_BY_ROOT) ? sqrt(group->nics) : 1);
}

// Platforms since 2022 have patched drivers for desktop cards, and switches that forward at full rate.
double nccl_peer_share(const Group *group) {
    return nccl_constant(group, PCIE_PEER_SHARE + (nccl_rule(group, RULE_PEER_BY_AGE) ? nccl_age(group) : 0));
}

// Older slots leave the host's memory more time for each byte: they reach about two thirds of raw, newer ones half.
static double nccl_staged_share(const Group *group) {
    bool old = group->pcie_bytes_per_second < PCIE_4_BYTES && nccl_rule(group, RULE_STAGED_BY_SLOT);
    return nccl_constant(group, STAGED_SHARE + (old ? 0 : 1));
}

// `inside` and `between` are what the busiest GPU sends per byte of the pattern, to GPUs of its node and beyond.
static double bridge_limit(const Group *group, double directions) {
    double raw = group->pcie_bytes_per_second;
    double one_way = nccl_constant(group, BRIDGE_SHARE) * raw, both = nccl_constant(group, BRIDGE_DUPLEX_SHARE) * raw;
    return directions < 2 ? one_way : fmin(one_way, both / 2);
}

void nccl_limit_software(const Group *group, double directions, double inside, double between, Candidate *candidate) {
    double raw = group->pcie_bytes_per_second, network = 0;
    if (group->medium == MEDIUM_PCIE) candidate->inside_limit = nccl_peer_share(group) * raw / inside;
    if (group->medium == MEDIUM_HOST) candidate->inside_limit = nccl_staged_share(group) * raw / inside;
    if (!group->rdma)
        network = nccl_constant(group, BOUNCED_SHARE) * raw / directions;
    else if (group->across_sockets && nccl_rule(group, RULE_ACROSS_SOCKETS))
        network = nccl_constant(group, FAR_RATE);
    else if (group->host_bridge && nccl_rule(group, RULE_HOST_BRIDGE))
        network = bridge_limit(group, directions);
    else if (group->medium != MEDIUM_NVLINK && group->nics >= group->most)
        network = raw; // through the slot that its neighbours in the node are reached by
    candidate->between_limit = network / between;
    candidate->limits_add = group->medium != MEDIUM_NVLINK && network > 0;
    if (group->network->fabric.transport != NET_TCP) return;
    double sockets = nccl_socket_rate(group) / (between * group->least);
    if (network > 0 && sockets >= candidate->between_limit) return;
    candidate->between_limit = sockets;
    candidate->limits_add = false;
}

int nccl_channels(const Group *group, Protocol protocol, double bytes) {
    return nccl_channels_used(group, protocol, true, bytes);
}

// ---- NCCL's sends and receives: grouped ones as a whole, and single messages of collectives simulated message by
// message (message.h).

#define PAIR_CHANNELS 32 // of all messages within a node
#define PAIR_LL_BYTES 16384.0
#define PAIR_STEP_BYTES 524288.0
#define PAIR_PART_BYTES (32 * PAIR_STEP_BYTES)    // from 2.22 on
#define PAIR_OLD_PART_BYTES (4 * PAIR_STEP_BYTES) // before

// ---- Messages.
// Within one node a message is cut in parts, one per channel, and a channel is an SM that copies. Up to 2.21 parts have
// 2 MiB, and channels are many; from 2.22 on the ranks share 32 channels between their peers, and a message takes more
// than its own only when each has 16 MiB to carry (enqueue.cc).
static bool in_parts(const Group *group) { return group->block_count == 1 && group->medium == MEDIUM_NVLINK; }
static bool channels_are_shared(const Group *group) {
    return in_parts(group) && group->nccl_version >= 22200 && nccl_rule(group, RULE_PAIR_PARTS);
}

static int pair_channels(const Group *group, double message) {
    int channels = PAIR_CHANNELS;
    while (channels > 1 && channels * group->rank_count > PAIR_CHANNELS) channels /= 2;
    while (channels < PAIR_CHANNELS && message / channels > PAIR_PART_BYTES) channels *= 2;
    return channels;
}

static double pair_channel_rate(const Group *group) {
    return nccl_constant(group, PLATFORM_INSIDE_RATE) *
           nccl_constant(group, PAIR_CHANNEL_RATE + nccl_generation(group));
}

// A message of up to 16 KiB uses LL, a longer one Simple (enqueue.cc).
static double pair_hop_seconds(const Group *group, double message) {
    if (!in_parts(group) || !nccl_rule(group, RULE_PAIR_PROTOCOL)) return 0;
    int channels = pair_channels(group, message);
    return nccl_hop_inside(group, message <= PAIR_LL_BYTES ? PROTOCOL_LL : PROTOCOL_SIMPLE, channels);
}

static double pair_fill_seconds(const Group *group, double bytes) {
    double part = channels_are_shared(group) ? fmin(bytes / pair_channels(group, bytes), PAIR_STEP_BYTES)
                                             : fmin(bytes, PAIR_OLD_PART_BYTES);
    double seconds = in_parts(group) ? part / pair_channel_rate(group)
                                     : nccl_constant(group, PAIR_FILL + nccl_age(group)) *
                                           fmin(1, bytes / nccl_constant(group, PAIR_FILL_BYTES));
    return nccl_constant(group, PLATFORM_FILL) * seconds;
}

// Grouped sends and receives: send_recv, all_to_all, gather, scatter. In a shift every rank sends and receives, and the
// slowest pair counts.
Candidate nccl_direct_candidate(const Group *group, CollectiveOp op, bool shift, double bytes) {
    bool pair = op == COLLECTIVE_SEND_RECV, exchange = op == COLLECTIVE_ALL_TO_ALL;
    int peers = pair ? 1 : group->rank_count - 1;
    int remote = group->block_count < 2 ? 0 : pair ? 1 : group->rank_count - group->least;
    int further = remote ? peers - remote : peers - 1; // messages within the node, the first of all is in the floor
    double n = group->rank_count, message = pair ? bytes : bytes / n;
    Candidate candidate = {.algorithm = "direct",
                           .protocol = PROTOCOL_SIMPLE,
                           .channels = group->block_count > 1 ? 2 : nccl_channel_limit(group)};
    candidate.latency = nccl_constant(group, PAIR_FLOOR) * nccl_floor_seconds(group) +
                        nccl_floor_between_seconds(group) + pair_hop_seconds(group, message) +
                        nccl_constant(group, PAIR_MESSAGE_TIME) * further +
                        nccl_constant(group, PAIR_NETWORK_TIME) * nccl_network_factor(group) * remote +
                        pair_fill_seconds(group, message);
    candidate.inside = candidate.between = exchange ? 1 / nccl_constant(group, EXCHANGE_SHARE) : 1;
    double inside = pair ? 1 : (group->most - 1) / n, between = pair ? 1 : (n - group->least) / n;
    Group all = *group; // GPUs take part, those far from a NIC too, which rings leave to their neighbours
    bool far = group->far_nics && nccl_rule(group, RULE_FAR_NICS);
    all.rdma = group->rdma && !far;
    nccl_limit_software(&all, pair && !shift ? 1 : 2, inside, between, &candidate);
    if (far) candidate.between_limit = fmin(candidate.between_limit, nccl_constant(group, FAR_RATE) / between);
    if (channels_are_shared(group)) {
        candidate.channels = pair_channels(group, message);
        // Channels are busy with that many concurrent messages, one of which is a rank's own to itself.
        double messages = exchange ? fmin(n, (double)PAIR_CHANNELS / candidate.channels) : pair ? 1 : n;
        candidate.inside_limit = candidate.channels * pair_channel_rate(group) * messages;
    }
    double connection = nccl_constant(group, PLATFORM_PAIR) * nccl_constant(group, PAIR_RATE) * (pair ? 1 : n);
    if (nccl_rule(group, RULE_PAIR_RATE) && (candidate.between_limit == 0 || connection < candidate.between_limit))
        candidate.between_limit = connection;
    return candidate;
}

// ---- One message at a time, for collectives that are simulated as the messages they are made of (message.h).
NcclMessage nccl_message(const Group *group, const MessageStyle *style, bool remote) {
    NcclMessage message = {.share = 1};
    double rate = nccl_constant(group, PLATFORM_INSIDE_RATE);
    if (remote) rate = nccl_constant(group, PLATFORM_BETWEEN_RATE) * nccl_transport_share(group);
    if (style->direct) {
        message.seconds = nccl_constant(group, PAIR_MESSAGE_TIME);
        if (remote) message.seconds = nccl_constant(group, PAIR_NETWORK_TIME) * nccl_network_factor(group);
        if (remote) message.rate_limit = nccl_constant(group, PLATFORM_PAIR) * nccl_constant(group, PAIR_RATE);
        if (style->exchange) message.share = nccl_constant(group, EXCHANGE_SHARE);
        if (!remote && channels_are_shared(group))
            message.rate_limit = pair_channels(group, style->message_bytes) * pair_channel_rate(group);
    } else {
        message.seconds =
            remote ? nccl_hop_between(group, style->protocol, style->lengthening_channels, style->message_bytes)
                   : nccl_hop_inside(group, style->protocol, style->lengthening_channels);
        message.share = remote ? nccl_between_share(group, style->protocol) : nccl_inside_share(group, style->protocol);
        if (!remote && style->phases > 0) message.share /= style->phases;
        if (!remote && style->ring && nccl_hops_hide(group)) {
            double moving = style->message_bytes * style->channels / (message.share * rate * nccl_nvlink_rate(group));
            message.seconds = hypot(message.seconds, moving) - moving;
        }
        if (remote && style->tree) message.share *= nccl_tree_network_share(group);
    }
    message.share *= rate;
    return message;
}

double nccl_start_seconds(const Group *group, const MessageStyle *style, double bytes, double message_bytes) {
    double floor = nccl_floor_seconds(group), between = nccl_floor_between_seconds(group);
    if (style->direct)
        return nccl_constant(group, PAIR_FLOOR) * floor + between + pair_hop_seconds(group, message_bytes) +
               pair_fill_seconds(group, message_bytes);
    return floor + between + nccl_fill_seconds(group, style->protocol, bytes);
}

SoftwareLimits nccl_software_limits(const Group *group, const MessageStyle *style) {
    SoftwareLimits limits = {0};
    double raw = group->pcie_bytes_per_second;
    if (group->medium == MEDIUM_PCIE) limits.inside_out = nccl_peer_share(group) * raw;
    if (group->medium == MEDIUM_HOST) {
        limits.inside_out = nccl_staged_share(group) * raw / (style->phases > 0 ? style->phases : 1);
        limits.inside_both = 2 * limits.inside_out;
    }
    if (!group->rdma || (style->direct && group->far_nics)) {
        limits.between_both = nccl_constant(group, BOUNCED_SHARE) * raw;
        if (style->direct && group->far_nics) limits.between_out = nccl_constant(group, FAR_RATE);
    } else if (group->across_sockets) {
        limits.between_out = nccl_constant(group, FAR_RATE);
    } else if (group->host_bridge) {
        limits.between_out = nccl_constant(group, BRIDGE_SHARE) * raw;
        limits.between_both = nccl_constant(group, BRIDGE_DUPLEX_SHARE) * raw;
    }
    if (group->network->fabric.transport == NET_TCP) limits.node_out = nccl_socket_rate(group);
    return limits;
}
