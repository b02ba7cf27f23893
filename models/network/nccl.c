// NCCL: latency and bytes of each algorithm and protocol. The tuner only chooses; taking the fastest by these very
// times does as well (tried on 182 logs).
#include <math.h>
#include <string.h>

#include "models/network/candidates.h"
#include "models/network/message.h"
#include "models/network/transports.h"

#define TREE_CHUNK_BYTES 128e3
#define CHAIN_CHUNK_BYTES 524288.0 // a step of Simple
#define PAT_SHARE 0.75             // of the NICs (NCCL graph/tuning.cc)
#define PAIR_CHANNELS 32           // of all messages within a node
#define PAIR_STEP_BYTES 524288.0
#define PAIR_PART_BYTES (32 * PAIR_STEP_BYTES)    // from 2.22 on
#define PAIR_OLD_PART_BYTES (4 * PAIR_STEP_BYTES) // before
#define NVLS_HEADS_MOST 32
#define NVLS_LEAST_RANKS 5 // NCCL prefers rings below (2.27 on H200)

static const char *const protocol_names[PROTOCOL_COUNT] = {"LL", "LL128", "Simple"};

static double constant(const Group *group, int id) {
    return group->constants ? group->constants->values[id] : constant_rows[id].value * constant_rows[id].scale;
}

// ---- What changes with the GPU's generation, and the NCCL version usual with it.
static int generation(const Group *group) {
    return group->year < 2019 ? 0 : group->year < 2022 ? 1 : group->year < 2024 ? 2 : 3;
}
static int age(const Group *group) { return group->year < 2022 ? 0 : 1; }
static int switch_generation(const Group *group) { return group->year < 2024 ? 0 : 1; }

int nccl_version_of(const Group *group, int asked) {
    static const int usual[] = {21200, 21600, 22100, 22600}; // Volta, Ampere, Hopper, Blackwell
    return asked ? asked : usual[generation(group)];
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
    if (protocol == PROTOCOL_SIMPLE) return 1;
    if (protocol == PROTOCOL_LL128) return constant(group, LL128_SHARE);
    return constant(group, LL_SHARE + (group->medium == MEDIUM_NVLINK ? age(group) : 0));
}

static double between_share(const Group *group, Protocol protocol) {
    if (protocol == PROTOCOL_SIMPLE) return 1;
    return constant(group, protocol == PROTOCOL_LL128 ? NETWORK_LL128_SHARE : NETWORK_LL_SHARE);
}

// LL over Slingshot is slower than NCCL believes when it chooses.
static void count_slow_ll(const Group *group, Protocol protocol, Candidate *candidate) {
    if (protocol != PROTOCOL_LL || group->network->fabric.transport != NET_SLINGSHOT) return;
    if (candidate->believed_between == 0) candidate->believed_between = candidate->between;
    candidate->between /= constant(group, SLINGSHOT_LL);
}

static int channel_limit(const Group *group) {
    if (group->block_count > 1) {
        int channels = 2 * group->nics;
        return channels < 2 ? 2 : channels > 16 ? 16 : channels;
    }
    if (group->medium != MEDIUM_NVLINK) return 2;
    return group->year < 2019 ? 12 : 24;
}

// Small messages use few channels: each gets NCCL's threads x threshold at least.
static int channels_used(const Group *group, Protocol protocol, bool ring, double bytes) {
    static const double channel_bytes[PROTOCOL_COUNT] = {4096, 5120, 32768};
    double threshold = channel_bytes[protocol] * (ring && protocol == PROTOCOL_LL ? group->rank_count : 1);
    double channels = bytes / threshold;
    int limit = channel_limit(group);
    return channels < 1 ? 1 : channels > limit ? limit : (int)channels;
}

// ---- Latency.
static double hop_inside(const Group *group, Protocol protocol, int channels) {
    double seconds = constant(group, HOP_TIME + (int)(group->medium * PROTOCOL_COUNT + protocol)) +
                     constant(group, RAMP_TIME + (int)protocol) * log2(channels);
    return seconds * constant(group, PLATFORM_INSIDE_HOP);
}

// Of any step between nodes, against InfiniBand.
static double network_factor(const Group *group) {
    return latency_factor(group->network_seconds) *
           constant(group, TRANSPORT_HOP + (int)group->network->fabric.transport) *
           (group->rdma ? 1 : constant(group, BOUNCED_HOP)) * constant(group, PLATFORM_BETWEEN_HOP);
}

// A message of LL has as many flags as data. Longer ones than the transport sends at once agree with the receiver
// first.
static double rendezvous_seconds(const Group *group, Protocol protocol, double message) {
    double eager = transport_row(group->network->fabric.transport)->eager_bytes;
    bool agrees = eager > 0 && message * (protocol == PROTOCOL_LL ? 2 : 1) > eager;
    return agrees ? constant(group, RENDEZVOUS_TIME) : 0;
}

// `message` is what one channel sends at a time, of payload.
static double hop_between(const Group *group, Protocol protocol, int channels, double message) {
    double seconds = constant(group, NETWORK_HOP_TIME + (int)protocol) + rendezvous_seconds(group, protocol, message);
    return seconds * network_factor(group) +
           constant(group, NETWORK_RAMP_TIME + (int)protocol) * log2(channels) * constant(group, PLATFORM_BETWEEN_HOP);
}

// Filling the pipeline of chunks: hidden for small messages, the same for all large ones.
static double fill_seconds(const Group *group, double bytes) {
    double seconds = 0;
    if (group->most > 1) seconds += constant(group, FILL_INSIDE + age(group));
    if (group->block_count > 1) seconds += constant(group, FILL_BETWEEN + age(group)) * network_factor(group);
    return constant(group, PLATFORM_FILL) * seconds * bytes / (bytes + constant(group, FILL_BYTES));
}

// Of any collective.
static double floor_seconds(const Group *group) {
    return constant(group, PLATFORM_FLOOR) * constant(group, FLOOR_TIME + generation(group)) *
           (group->superchip ? constant(group, SUPERCHIP_FLOOR) : 1);
}

// ---- Limits that are not a link's.
// `inside` and `between` are what the busiest GPU sends per byte of the pattern, to GPUs of its node and beyond.
static double bridge_limit(const Group *group, double directions) {
    double raw = group->pcie_bytes_per_second;
    double one_way = constant(group, BRIDGE_SHARE) * raw, both = constant(group, BRIDGE_DUPLEX_SHARE) * raw;
    return directions < 2 ? one_way : fmin(one_way, both / 2);
}

static void limit_software(const Group *group, double directions, double inside, double between, Candidate *candidate) {
    double raw = group->pcie_bytes_per_second, network = 0;
    if (group->medium == MEDIUM_PCIE) candidate->inside_limit = constant(group, PCIE_PEER_SHARE) * raw / inside;
    if (group->medium == MEDIUM_HOST)
        candidate->inside_limit = constant(group, STAGED_SHARE + age(group)) * raw / directions / inside;
    if (!group->rdma)
        network = fmin(constant(group, BOUNCED_SHARE) * raw / directions, constant(group, BOUNCED_RATE));
    else if (group->host_bridge)
        network = bridge_limit(group, directions);
    candidate->between_limit = network / between;
    if (group->network->fabric.transport != NET_TCP) return;
    double sockets = constant(group, SOCKET_RATE) / (between * group->least);
    if (network == 0 || sockets < candidate->between_limit) candidate->between_limit = sockets;
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

// About how fast ranks of a block pass payload on, and how fast blocks do over the NICs they use.
static double rate_inside(const Group *group) {
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[0]));
    if (layout->shape->gpu_fabric == GPU_FABRIC_SWITCH) return NVLINK_SHARE * layout->shape->nvlink_bytes_per_second;
    if (group->medium == MEDIUM_NVLINK && group->most > 1)
        return NVLINK_SHARE * layout->shape->pair_bytes_per_second * (group->most - 1);
    return constant(group, PCIE_PEER_SHARE) * group->pcie_bytes_per_second;
}

static double rate_between(const Group *group) {
    const FabricShape *fabric = &group->network->fabric;
    double nics = group->nics * fabric->nic_bytes_per_second * fabric->efficiency;
    return group->most == 1 ? nics : fmin(nics, rate_inside(group));
}

// A chunk of every channel passes all ranks before the last byte of a broadcast is done. Within a node, from Ampere on,
// that hides: ranks up the chain are at nccl-tests' next broadcast by then.
static double chain_fill_seconds(const Group *group, int channels, double bytes) {
    if (group->block_count == 1 && generation(group) > 0) return 0;
    double chunk = fmin(bytes / (8 * channels), CHAIN_CHUNK_BYTES);
    int between = group->block_count - 1, inside = group->rank_count - group->block_count;
    double steps = (inside ? inside / rate_inside(group) : 0) + (between ? between / rate_between(group) : 0);
    return constant(group, PLATFORM_FILL) * constant(group, CHAIN_FILL) * steps * chunk * channels;
}

static Candidate ring_candidate(const Group *group, CollectiveOp op, Protocol protocol, double bytes) {
    bool rooted = op == COLLECTIVE_BROADCAST || op == COLLECTIVE_REDUCE;
    int channels = channels_used(group, protocol, true, bytes);
    RingShape shape = ring_shape(group, op);
    int inside = shape.steps - shape.network_steps;
    double message = bytes * shape.bytes / shape.steps / channels;
    double hops = inside * hop_inside(group, protocol, channels) +
                  shape.network_steps * hop_between(group, protocol, channels, message);
    if (rooted) // nccl-tests' broadcasts follow each other without waiting, so few of the hops show
        hops = constant(group, BROADCAST_HOP) * bytes / (bytes + constant(group, BROADCAST_BYTES)) *
                   (inside * hop_inside(group, protocol, 1) +
                    shape.network_steps * hop_between(group, protocol, 1, message)) +
               chain_fill_seconds(group, channels, bytes);
    Candidate candidate = {.algorithm = "ring", .protocol = protocol_names[protocol], .channels = channels};
    candidate.latency = floor_seconds(group) + fill_seconds(group, bytes) + hops;
    candidate.inside = shape.bytes / inside_share(group, protocol);
    candidate.between = shape.bytes / between_share(group, protocol);
    count_slow_ll(group, protocol, &candidate);
    limit_ring(group, rooted && group->rank_count == 2 ? 1 : 2, &candidate);
    return candidate;
}

// Bytes each node sends up and down the double binary tree: every node is a leaf in one tree and inner in the other,
// so with 2 nodes S, with more 2S. All get the load of the busiest, so that all stay alike.
static double tree_network_bytes(int blocks) { return blocks < 2 ? 0 : fmin(2, blocks / 2.0); }

// A chunk of every channel climbs and descends all levels before the last byte is done, at the pace of the slowest.
static double tree_fill_seconds(const Group *group, int channels, int levels, double bytes) {
    double chunk = fmin(bytes / (8 * channels), TREE_CHUNK_BYTES);
    double rate = group->block_count == 1 ? rate_inside(group) : rate_between(group);
    return constant(group, TREE_FILL) * levels * chunk * channels / rate;
}

// At two nodes a tree sends half of a ring, which NCCL knows only where its search finds the tree more bandwidth within
// the node than on the NICs: with NVSwitch, one NIC, or since Hopper. Elsewhere it takes rings for what is large.
static bool tree_is_underrated(const Group *group) {
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[0]));
    return group->block_count == 2 && group->most > 1 && group->nics > 1 && group->year < 2022 &&
           group->medium == MEDIUM_NVLINK && layout->shape->gpu_fabric != GPU_FABRIC_SWITCH;
}

static Candidate tree_candidate(const Group *group, Protocol protocol, double bytes) {
    int channels = channels_used(group, protocol, false, bytes);
    int chain = 2 * (group->most - 1), climbs = 2 * log2_up(group->block_count);
    Candidate candidate = {.algorithm = "tree", .protocol = protocol_names[protocol], .channels = channels};
    candidate.latency = floor_seconds(group) + fill_seconds(group, bytes) +
                        constant(group, TREE_HOP) * chain * hop_inside(group, protocol, channels) +
                        climbs * hop_between(group, protocol, channels, bytes / channels) +
                        tree_fill_seconds(group, channels, chain + climbs, bytes);
    candidate.inside = 2 / (constant(group, TREE_SHARE) * inside_share(group, protocol));
    candidate.between = tree_network_bytes(group->block_count) / between_share(group, protocol);
    if (tree_is_underrated(group)) candidate.believed_between = 2 / between_share(group, protocol);
    count_slow_ll(group, protocol, &candidate);
    limit_ring(group, 2, &candidate);
    return candidate;
}

// The pipeline is full when every GPU of the domain that reduces (32 at most) has a chunk in each channel; of eight
// GPUs that is what the constants say.
static double nvls_approach_seconds(const Group *group, double bytes) {
    double heads = fmin(group->least, NVLS_HEADS_MOST) / 8;
    return constant(group, PLATFORM_FILL) * heads * constant(group, NVLS_SLOW_TIME) * bytes /
           (bytes + heads * constant(group, NVLS_SLOW_BYTES));
}

// In-switch reduction: each GPU sends and receives S (1 + 1/g) in one domain; between domains a tree of nodes.
static Candidate nvls_candidate(const Group *group, double bytes) {
    int channels = channels_used(group, PROTOCOL_SIMPLE, false, bytes), g = group->least, m = group->block_count;
    double share = constant(group, (m > 1 ? NVLS_TREE_SHARE : NVLS_SHARE) + switch_generation(group));
    if (channels > 16) channels = 16;
    Candidate candidate = {.algorithm = m > 1 ? "nvls_tree" : "nvls", .protocol = "Simple", .channels = channels};
    candidate.latency = floor_seconds(group) + nvls_approach_seconds(group, bytes);
    if (m > 1)
        candidate.latency += constant(group, NVLS_TREE_TIME) +
                             2 * log2_up(m) * hop_between(group, PROTOCOL_SIMPLE, channels, bytes / channels);
    else
        candidate.latency += constant(group, NVLS_TIME) + constant(group, NVLS_RAMP_TIME) * log2(channels);
    // A ring load of 1 is (g-1)/g per GPU when there are other domains.
    candidate.inside = (m > 1 ? (double)g / (g - 1) : 1 + 1.0 / g) * NVLINK_SHARE / share;
    candidate.between = tree_network_bytes(m);
    limit_ring(group, 2, &candidate);
    return candidate;
}

// NVLS came with 2.17 for one domain and with 2.18 for several.
static bool has_nvls(const Group *group) {
    bool enough = group->block_count > 1 ? group->least > 1 : group->rank_count >= NVLS_LEAST_RANKS;
    int since = group->block_count > 1 ? 21800 : 21700;
    return group->in_switch_reduction && group->year >= 2022 && enough && group->nccl_version >= since;
}

// Switches that reduce (SHARP): each node sends the payload up once and gets it back once, whatever their number.
static Candidate collnet_candidate(const Group *group, double bytes) {
    Candidate candidate = tree_candidate(group, PROTOCOL_SIMPLE, bytes);
    int channels = candidate.channels, chain = 2 * (group->most - 1);
    candidate.algorithm = "collnet";
    candidate.latency = floor_seconds(group) + fill_seconds(group, bytes) +
                        chain * hop_inside(group, PROTOCOL_SIMPLE, channels) +
                        2 * hop_between(group, PROTOCOL_SIMPLE, channels, bytes / channels) +
                        tree_fill_seconds(group, channels, chain + 2, bytes);
    candidate.between = 1;
    candidate.believed_between = 0;
    return candidate;
}

// PAT (2.23): one GPU per node, the ring's bytes in as many steps as the number doubles.
static bool has_pat(const Group *group, CollectiveOp op) {
    return (op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_REDUCE_SCATTER) && group->most == 1 &&
           group->nccl_version >= 22300;
}

static Candidate pat_candidate(const Group *group, CollectiveOp op, double bytes) {
    Candidate candidate = ring_candidate(group, op, PROTOCOL_SIMPLE, bytes);
    candidate.algorithm = "pat";
    candidate.latency = floor_seconds(group) + fill_seconds(group, bytes) +
                        log2_up(group->block_count) *
                            hop_between(group, PROTOCOL_SIMPLE, candidate.channels, bytes / candidate.channels);
    candidate.between /= PAT_SHARE;
    return candidate;
}

// ---- Messages.
// Within one node a message is cut in parts, one per channel, and a channel is an SM that copies. Up to 2.21 parts have
// 2 MiB, and channels are many; from 2.22 on the ranks share 32 channels between their peers, and a message takes more
// than its own only when each has 16 MiB to carry (enqueue.cc).
static bool in_parts(const Group *group) { return group->block_count == 1 && group->medium == MEDIUM_NVLINK; }
static bool channels_are_shared(const Group *group) { return in_parts(group) && group->nccl_version >= 22200; }

static int pair_channels(const Group *group, double message) {
    int channels = PAIR_CHANNELS;
    while (channels > 1 && channels * group->rank_count > PAIR_CHANNELS) channels /= 2;
    while (channels < PAIR_CHANNELS && message / channels > PAIR_PART_BYTES) channels *= 2;
    return channels;
}

static double pair_channel_rate(const Group *group) {
    return constant(group, PLATFORM_INSIDE_RATE) * constant(group, PAIR_CHANNEL_RATE + generation(group));
}

static double pair_fill_seconds(const Group *group, double bytes) {
    double part = channels_are_shared(group) ? fmin(bytes / pair_channels(group, bytes), PAIR_STEP_BYTES)
                                             : fmin(bytes, PAIR_OLD_PART_BYTES);
    double seconds = in_parts(group)
                         ? part / pair_channel_rate(group)
                         : constant(group, PAIR_FILL + age(group)) * fmin(1, bytes / constant(group, PAIR_FILL_BYTES));
    return constant(group, PLATFORM_FILL) * seconds;
}

// Grouped sends and receives: send_recv, all_to_all, gather, scatter. In a shift every rank sends and receives, and the
// slowest pair counts.
static Candidate direct_candidate(const Group *group, CollectiveOp op, bool shift, double bytes) {
    bool pair = op == COLLECTIVE_SEND_RECV, exchange = op == COLLECTIVE_ALL_TO_ALL;
    int peers = pair ? 1 : group->rank_count - 1;
    int remote = group->block_count < 2 ? 0 : pair ? 1 : group->rank_count - group->least;
    double n = group->rank_count, message = pair ? bytes : bytes / n;
    Candidate candidate = {
        .algorithm = "direct", .protocol = "Simple", .channels = group->block_count > 1 ? 2 : channel_limit(group)};
    candidate.latency =
        constant(group, PAIR_FLOOR) * floor_seconds(group) + constant(group, PAIR_MESSAGE_TIME) * peers +
        constant(group, PAIR_NETWORK_TIME) * network_factor(group) * remote + pair_fill_seconds(group, message);
    candidate.inside = 1;
    candidate.between = exchange ? 1 / constant(group, EXCHANGE_SHARE) : 1;
    Group all = *group; // GPUs take part, those far from a NIC too, which rings leave to their neighbours
    all.rdma = group->rdma && !group->far_nics;
    if (pair)
        limit_software(&all, shift ? 2 : 1, 1, 1, &candidate);
    else
        limit_software(&all, 2, (group->most - 1) / n, (n - group->least) / n, &candidate);
    if (channels_are_shared(group)) {
        candidate.channels = pair_channels(group, message);
        candidate.inside_limit = candidate.channels * pair_channel_rate(group) * (pair ? 1 : n);
    }
    double connection = constant(group, PLATFORM_PAIR) * constant(group, PAIR_RATE) * (pair ? 1 : n);
    if (candidate.between_limit == 0 || connection < candidate.between_limit) candidate.between_limit = connection;
    return candidate;
}

// One process launches the kernels of its GPUs one after the other, or its threads do and wait for each other. That
// hides behind what runs before it.
static void count_launches(const Group *group, const CollectiveRequest *request, Candidate *candidate) {
    bool direct = request->op == COLLECTIVE_SEND_RECV || request->op == COLLECTIVE_ALL_TO_ALL;
    double launch = constant(group, PLATFORM_LAUNCH);
    if (request->gpus_per_process > 1)
        candidate->launch = request->gpus_per_process * constant(group, PROCESS_LAUNCH_TIME) * launch *
                            (direct ? constant(group, PAIR_FLOOR) : 1);
    if (request->threads_per_process > 1)
        candidate->latency += (request->threads_per_process - 1) * constant(group, THREAD_LAUNCH_TIME) * launch;
}

// Ranks that take turns on one GPU wait for each other, and each waits for all the others' slices.
static void count_time_slices(const Group *group, int ranks_per_gpu, Candidate *candidate) {
    candidate->latency += ranks_per_gpu * constant(group, TIME_SLICE);
}

// A platform's links may carry more or less than others of their kind.
static void count_rates(const Group *group, double bytes, Candidate *candidate) {
    double length = bytes > constant(group, PLATFORM_LONG_BYTES) ? constant(group, PLATFORM_LONG_RATE) : 1;
    double between = constant(group, PLATFORM_BETWEEN_RATE) *
                     constant(group, TRANSPORT_RATE + (int)group->network->fabric.transport);
    between *= length;
    candidate->inside /= constant(group, PLATFORM_INSIDE_RATE) * length;
    candidate->between /= between;
    candidate->believed_between /= between;
}

static bool is_direct(CollectiveOp op) {
    return op == COLLECTIVE_SEND_RECV || op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_GATHER ||
           op == COLLECTIVE_SCATTER;
}

static int algorithm_candidates(const Group *group, CollectiveOp op, const CollectiveRequest *request,
                                Candidate *candidates) {
    double bytes = request->bytes;
    bool reduces = op == COLLECTIVE_ALL_REDUCE;
    int count = 0;
    for (Protocol protocol = PROTOCOL_LL; protocol < PROTOCOL_COUNT; protocol++) {
        if (!protocol_allowed(group, protocol)) continue;
        candidates[count++] = ring_candidate(group, op, protocol, bytes);
        if (reduces) candidates[count++] = tree_candidate(group, protocol, bytes);
    }
    if (reduces && has_nvls(group)) candidates[count++] = nvls_candidate(group, bytes);
    if (has_pat(group, op)) candidates[count++] = pat_candidate(group, op, bytes);
    bool asked = request->algorithm && strcmp(request->algorithm, "collnet") == 0;
    if (reduces && asked && group->block_count > 1) candidates[count++] = collnet_candidate(group, bytes);
    return count;
}

int nccl_candidates(const Group *any_version, const CollectiveRequest *request, Candidate *candidates) {
    Group group = *any_version;
    CollectiveOp op = request->op == COLLECTIVE_BARRIER ? COLLECTIVE_ALL_REDUCE : request->op;
    group.nccl_version = nccl_version_of(&group, request->nccl_version);
    int count = 1;
    if (is_direct(op))
        candidates[0] = direct_candidate(&group, op, request->shift, request->bytes);
    else
        count = algorithm_candidates(&group, op, request, candidates);
    for (int i = 0; i < count; i++) {
        count_rates(&group, request->bytes, &candidates[i]);
        if (request->ranks_per_gpu > 1) count_time_slices(&group, request->ranks_per_gpu, &candidates[i]);
        count_launches(&group, request, &candidates[i]);
    }
    return count;
}

// ---- One message at a time, for collectives that are simulated as the messages they are made of (message.h).
NcclMessage nccl_message(const Group *group, const MessageStyle *style, bool remote) {
    NcclMessage message = {.share = 1};
    double rate = constant(group, PLATFORM_INSIDE_RATE);
    if (remote)
        rate = constant(group, PLATFORM_BETWEEN_RATE) *
               constant(group, TRANSPORT_RATE + (int)group->network->fabric.transport);
    if (style->direct) {
        message.seconds = constant(group, PAIR_MESSAGE_TIME);
        if (remote) message.seconds += constant(group, PAIR_NETWORK_TIME) * network_factor(group);
        if (remote) message.rate_limit = constant(group, PLATFORM_PAIR) * constant(group, PAIR_RATE);
        if (remote && style->exchange) message.share = constant(group, EXCHANGE_SHARE);
        if (!remote && channels_are_shared(group))
            message.rate_limit = pair_channels(group, style->message_bytes) * pair_channel_rate(group);
    } else {
        message.seconds = remote ? hop_between(group, style->protocol, style->channels, style->message_bytes)
                                 : hop_inside(group, style->protocol, style->channels);
        message.share = remote ? between_share(group, style->protocol) : inside_share(group, style->protocol);
        if (remote && style->protocol == PROTOCOL_LL && group->network->fabric.transport == NET_SLINGSHOT)
            message.share *= constant(group, SLINGSHOT_LL);
    }
    message.share *= rate;
    return message;
}

double nccl_start_seconds(const Group *group, const MessageStyle *style, double bytes, double message_bytes) {
    if (style->direct)
        return constant(group, PAIR_FLOOR) * floor_seconds(group) + pair_fill_seconds(group, message_bytes);
    return floor_seconds(group) + fill_seconds(group, bytes);
}

int nccl_channels(const Group *group, Protocol protocol, double bytes) {
    return channels_used(group, protocol, true, bytes);
}

SoftwareLimits nccl_software_limits(const Group *group, const MessageStyle *style) {
    SoftwareLimits limits = {0};
    double raw = group->pcie_bytes_per_second;
    if (group->medium == MEDIUM_PCIE) limits.inside_out = constant(group, PCIE_PEER_SHARE) * raw;
    if (group->medium == MEDIUM_HOST) limits.inside_both = constant(group, STAGED_SHARE + age(group)) * raw;
    if (!group->rdma || (style->direct && group->far_nics)) {
        limits.between_out = constant(group, BOUNCED_RATE);
        limits.between_both = constant(group, BOUNCED_SHARE) * raw;
    } else if (group->host_bridge) {
        limits.between_out = constant(group, BRIDGE_SHARE) * raw;
        limits.between_both = constant(group, BRIDGE_DUPLEX_SHARE) * raw;
    }
    if (group->network->fabric.transport == NET_TCP) limits.node_out = constant(group, SOCKET_RATE);
    return limits;
}
