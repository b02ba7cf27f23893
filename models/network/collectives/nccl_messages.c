// NCCL's sends and receives: grouped ones as a whole, and single messages of collectives simulated message by message
// (message.h).
#include <math.h>

#include "models/network/collectives/nccl_steps.h"
#include "models/network/messages/message.h"

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
