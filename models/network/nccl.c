// NCCL: latency and bytes of each algorithm and protocol. The tuner only chooses; taking the fastest by these very
// times does as well (tried on 182 logs).
#include <math.h>

#include "models/network/candidates.h"

static const char *const protocol_names[PROTOCOL_COUNT] = {"LL", "LL128", "Simple"};

static const GenerationConstants *generation_of(int year) {
    const GenerationConstants *found = &nccl_constants.generations[0];
    for (int i = 0; i < 4; i++)
        if (nccl_constants.generations[i].from_year <= year) found = &nccl_constants.generations[i];
    return found;
}

// ---- Protocols.
// LL128 needs NVLink (or one GPU per node) and NICs that reach GPU memory in order; Slingshot's plug-in does not
// promise that. The first EFA's plug-in leaves Simple only.
static bool protocol_allowed(const Group *group, Protocol protocol) {
    Transport transport = group->network->fabric.transport;
    bool first_efa = group->block_count > 1 && transport == NET_EFA && group->year < 2022;
    if (protocol == PROTOCOL_SIMPLE) return true;
    if (protocol == PROTOCOL_LL || first_efa) return !first_efa;
    if (group->year < 2017 || (group->most > 1 && group->medium != MEDIUM_NVLINK)) return false;
    if (group->block_count == 1) return true;
    bool ordered = transport == NET_INFINIBAND || transport == NET_ROCE || transport == NET_EFA;
    return ordered && group->rdma && !group->host_bridge;
}

static double inside_share(const Group *group, Protocol protocol) {
    if (protocol == PROTOCOL_LL && group->medium == MEDIUM_NVLINK) return generation_of(group->year)->ll_share;
    return nccl_constants.nvlink_share[protocol];
}

static int channel_limit(const Group *group) {
    if (group->block_count > 1) {
        int channels = 2 * group->nics;
        return channels < 2 ? 2 : channels > 16 ? 16 : channels;
    }
    if (group->medium != MEDIUM_NVLINK) return 2;
    return group->year < 2019 ? 12 : 24;
}

// Small messages use few channels.
static int channels_used(const Group *group, Protocol protocol, bool ring, double bytes) {
    double threshold =
        nccl_constants.channel_bytes[protocol] * (ring && protocol == PROTOCOL_LL ? group->rank_count : 1);
    double channels = bytes / threshold;
    int limit = channel_limit(group);
    return channels < 1 ? 1 : channels > limit ? limit : (int)channels;
}

// ---- Latency.
static double hop_inside(const Group *group, Protocol protocol, int channels) {
    double seconds = nccl_constants.hop_seconds[group->medium][protocol];
    if (group->medium == MEDIUM_NVLINK) seconds *= generation_of(group->year)->hop_factor;
    return seconds + nccl_constants.ramp_seconds[protocol] * log2(channels);
}

static double hop_between(const Group *group, Protocol protocol, int channels) {
    return nccl_constants.network_hop_seconds[protocol] * transport_factor(group->network_seconds) +
           nccl_constants.network_ramp_seconds[protocol] * log2(channels);
}

// Filling the pipeline of chunks: hidden for small messages, the same for all large ones.
static double fill_seconds(const Group *group, double bytes) {
    const GenerationConstants *generation = generation_of(group->year);
    double seconds = 0;
    if (group->most > 1) seconds += generation->fill_inside_seconds;
    if (group->block_count > 1) seconds += generation->fill_between_seconds * transport_factor(group->network_seconds);
    return seconds * bytes / (bytes + nccl_constants.fill_bytes);
}

// ---- Limits that are not a link's.
// `inside` and `between` are what the busiest GPU sends per byte of the pattern, to GPUs of its node and beyond.
static void limit_software(const Group *group, double directions, double inside, double between, Candidate *candidate) {
    double raw = group->pcie_bytes_per_second, network = 0;
    if (group->medium == MEDIUM_PCIE) candidate->inside_limit = PCIE_PEER_SHARE * raw / inside;
    if (group->medium == MEDIUM_HOST) candidate->inside_limit = STAGED_DUPLEX_SHARE * raw / directions / inside;
    if (!group->rdma)
        network = NO_RDMA_SHARE * raw;
    else if (group->host_bridge)
        network = BRIDGE_DUPLEX_SHARE * raw / directions;
    candidate->between_limit = network / between;
}

// A ring passes a node by each of its GPUs in turn.
static void limit_ring(const Group *group, double directions, Candidate *candidate) {
    double inside = group->block_count == 1 ? 1 : (group->most - 1.0) / group->most;
    limit_software(group, directions, inside, 1.0 / group->least, candidate);
}

// ---- Algorithms.
typedef struct RingShape {
    double bytes; // on each link of the ring per byte of payload
    int steps, network_steps;
} RingShape;

static RingShape ring_shape(const Group *group, CollectiveOp op) {
    int n = group->rank_count, m = group->block_count;
    int network_steps = m > 1 ? m - 1 : 0;
    // Each of n ranks sends 2(n-1) pieces of bytes/n (Patarasuk and Yuan, 2009).
    if (op == COLLECTIVE_ALL_REDUCE) return (RingShape){2 * (n - 1.0) / n, 2 * (n - 1), 2 * network_steps};
    if (op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_REDUCE_SCATTER)
        return (RingShape){(n - 1.0) / n, n - 1, network_steps};
    return (RingShape){1, n - 1, network_steps};
}

static Candidate ring_candidate(const Group *group, CollectiveOp op, Protocol protocol, double bytes) {
    bool rooted = op == COLLECTIVE_BROADCAST || op == COLLECTIVE_REDUCE;
    int channels = channels_used(group, protocol, true, bytes);
    RingShape shape = ring_shape(group, op);
    int inside = shape.steps - shape.network_steps;
    double hops =
        inside * hop_inside(group, protocol, channels) + shape.network_steps * hop_between(group, protocol, channels);
    if (rooted) // nccl-tests' broadcasts follow each other without waiting, so few of the hops show
        hops = nccl_constants.broadcast_hop_factor * bytes / (bytes + nccl_constants.broadcast_bytes) *
               (inside * hop_inside(group, protocol, 1) + shape.network_steps * hop_between(group, protocol, 1));
    Candidate candidate = {.algorithm = "ring", .protocol = protocol_names[protocol], .channels = channels};
    candidate.latency = generation_of(group->year)->floor_seconds + fill_seconds(group, bytes) + hops;
    candidate.inside = shape.bytes / inside_share(group, protocol);
    candidate.between = shape.bytes / nccl_constants.network_share[protocol];
    limit_ring(group, rooted && group->rank_count == 2 ? 1 : 2, &candidate);
    return candidate;
}

// Bytes each node sends up and down the double binary tree: every node is a leaf in one tree and inner in the other,
// so with 2 nodes S, with more 2S. All get the load of the busiest, so that all stay alike.
static double tree_network_bytes(int blocks) { return blocks < 2 ? 0 : fmin(2, blocks / 2.0); }

// A chunk of every channel climbs and descends all levels before the last byte is done.
static double tree_fill_seconds(int channels, int levels, double bytes, double rate) {
    double chunk = fmin(bytes / (8 * channels), nccl_constants.tree_chunk_bytes);
    return nccl_constants.tree_fill * levels * chunk * channels / rate;
}

// About how fast a block passes payload on: the NICs it uses, or NVLink when that is all.
static double pipeline_rate(const Group *group) {
    const FabricShape *fabric = &group->network->fabric;
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[0]));
    double inside = layout->shape->gpu_fabric == GPU_FABRIC_SWITCH
                        ? NVLINK_SHARE * layout->shape->nvlink_bytes_per_second
                        : PCIE_PEER_SHARE * group->pcie_bytes_per_second;
    if (group->medium == MEDIUM_NVLINK && layout->shape->gpu_fabric != GPU_FABRIC_SWITCH && group->most > 1)
        inside = NVLINK_SHARE * layout->shape->pair_bytes_per_second * (group->most - 1);
    double between = group->nics * fabric->nic_bytes_per_second * fabric->efficiency;
    if (group->block_count == 1) return inside;
    return group->most == 1 || between < inside ? between : inside;
}

static Candidate tree_candidate(const Group *group, Protocol protocol, double bytes) {
    int channels = channels_used(group, protocol, false, bytes);
    int chain = 2 * (group->most - 1), climbs = 2 * log2_up(group->block_count);
    Candidate candidate = {.algorithm = "tree", .protocol = protocol_names[protocol], .channels = channels};
    candidate.latency = generation_of(group->year)->floor_seconds + fill_seconds(group, bytes) +
                        nccl_constants.tree_hop_factor * chain * hop_inside(group, protocol, channels) +
                        climbs * hop_between(group, protocol, channels) +
                        tree_fill_seconds(channels, chain + climbs, bytes, pipeline_rate(group));
    candidate.inside = 2 / (nccl_constants.tree_share * inside_share(group, protocol));
    candidate.between = tree_network_bytes(group->block_count) / nccl_constants.network_share[protocol];
    limit_ring(group, 2, &candidate);
    return candidate;
}

static double nvls_approach_seconds(double bytes) {
    return nccl_constants.nvls_slow_seconds * bytes / (bytes + nccl_constants.nvls_slow_bytes);
}

// In-switch reduction: each GPU sends and receives S (1 + 1/g) in one domain; between domains a tree of nodes.
static Candidate nvls_candidate(const Group *group, double bytes) {
    const GenerationConstants *generation = generation_of(group->year);
    int channels = channels_used(group, PROTOCOL_SIMPLE, false, bytes), g = group->least, m = group->block_count;
    double tree = m > 1 ? generation->nvls_tree_share : generation->nvls_share;
    if (channels > 16) channels = 16;
    Candidate candidate = {.algorithm = m > 1 ? "nvls_tree" : "nvls", .protocol = "Simple", .channels = channels};
    candidate.latency = generation->floor_seconds + nvls_approach_seconds(bytes);
    if (m > 1)
        candidate.latency +=
            nccl_constants.nvls_tree_seconds + 2 * log2_up(m) * hop_between(group, PROTOCOL_SIMPLE, channels);
    else
        candidate.latency += nccl_constants.nvls_seconds + nccl_constants.nvls_ramp_seconds * log2(channels);
    // A ring load of 1 is (g-1)/g per GPU when there are other domains.
    candidate.inside = (m > 1 ? (double)g / (g - 1) : 1 + 1.0 / g) * NVLINK_SHARE / tree;
    candidate.between = tree_network_bytes(m);
    limit_ring(group, 2, &candidate);
    return candidate;
}

// ---- Messages.
static double pair_fill_seconds(const Group *group, double bytes) {
    return generation_of(group->year)->pair_fill_seconds * fmin(1, bytes / nccl_constants.pair_fill_bytes);
}

// Grouped sends and receives: send_recv, all_to_all, gather, scatter.
static Candidate direct_candidate(const Group *group, CollectiveOp op, double bytes) {
    bool pair = op == COLLECTIVE_SEND_RECV, exchange = op == COLLECTIVE_ALL_TO_ALL;
    int peers = group->rank_count - 1, remote = group->block_count > 1 ? group->rank_count - group->least : 0;
    double message = pair ? bytes : bytes / group->rank_count;
    Candidate candidate = {
        .algorithm = "direct", .protocol = "Simple", .channels = group->block_count > 1 ? 2 : channel_limit(group)};
    candidate.latency = nccl_constants.pair_floor_factor * generation_of(group->year)->floor_seconds +
                        nccl_constants.pair_message_seconds * peers +
                        nccl_constants.pair_network_seconds * transport_factor(group->network_seconds) * remote +
                        pair_fill_seconds(group, message);
    candidate.inside = 1;
    candidate.between = exchange ? 1 / nccl_constants.exchange_share : 1;
    double n = group->rank_count;
    if (pair)
        limit_software(group, 1, 1, 1, &candidate);
    else
        limit_software(group, 2, (group->most - 1) / n, (n - group->least) / n, &candidate);
    double connection = nccl_constants.pair_bytes_per_second * (pair ? 1 : group->rank_count);
    if (candidate.between_limit == 0 || connection < candidate.between_limit) candidate.between_limit = connection;
    return candidate;
}

int nccl_candidates(const Group *group, CollectiveOp op, double bytes, Candidate *candidates) {
    int count = 0;
    if (op == COLLECTIVE_SEND_RECV || op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_GATHER ||
        op == COLLECTIVE_SCATTER) {
        candidates[count++] = direct_candidate(group, op, bytes);
        return count;
    }
    if (op == COLLECTIVE_BARRIER) op = COLLECTIVE_ALL_REDUCE;
    for (Protocol protocol = PROTOCOL_LL; protocol < PROTOCOL_COUNT; protocol++) {
        if (!protocol_allowed(group, protocol)) continue;
        candidates[count++] = ring_candidate(group, op, protocol, bytes);
        if (op == COLLECTIVE_ALL_REDUCE) candidates[count++] = tree_candidate(group, protocol, bytes);
    }
    bool enough = group->block_count > 1 ? group->least > 1 : group->rank_count >= nccl_constants.nvls_least_ranks;
    if (op == COLLECTIVE_ALL_REDUCE && group->in_switch_reduction && enough &&
        generation_of(group->year)->nvls_share > 0)
        candidates[count++] = nvls_candidate(group, bytes);
    return count;
}
