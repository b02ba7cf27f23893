// NCCL: latency and bytes of each algorithm and protocol. NCCL's tuner only chooses; choosing the fastest by these
// times is as accurate (tested on 182 logs).
#include <math.h>
#include <string.h>

#include "models/network/collectives/candidates.h"
#include "models/network/messages/message.h"
#include "models/network/network_constants.h"

#define TREE_CHUNK_BYTES 128e3
#define CHAIN_CHUNK_BYTES 524288.0 // a step of Simple
#define RING_CHUNK_BYTES (4 * CHAIN_CHUNK_BYTES)
#define PAT_SHARE 0.75 // of the NICs (NCCL graph/tuning.cc)
#define NVLS_HEADS_MOST 32
#define NVLS_LEAST_RANKS 5 // NCCL prefers rings below (2.27 on H200)

const char *const protocol_names[PROTOCOL_COUNT + 1] = {"LL", "LL128", "Simple", ""};

// Where a GPU's way to its neighbours is its way to the NIC too, the limits add up to those of a GPU that does both in
// turn; else the busiest only passes on.
static void limit_ring(const Group *group, double directions, Candidate *candidate) {
    double inside = group->block_count == 1 ? 1 : (group->most - 1.0) / group->most;
    nccl_limit_software(group, directions, inside, 1.0 / group->least, candidate);
    if (!candidate->limits_add) candidate->inside_limit *= inside / ring_share_inside(group, group->most);
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
    if (layout->shape->gpu_fabric == GPU_FABRIC_SWITCH)
        return network_constant(NVLINK_SHARE) * layout->shape->nvlink_bytes_per_second;
    if (group->medium == MEDIUM_NVLINK && group->most > 1)
        return network_constant(NVLINK_SHARE) * layout->shape->pair_bytes_per_second * (group->most - 1);
    return nccl_peer_share(group) * group->pcie_bytes_per_second;
}

static double rate_between(const Group *group) {
    const FabricShape *fabric = &group->network->fabric;
    double nics = group->nics * fabric->nic_bytes_per_second * fabric->efficiency;
    return group->most == 1 ? nics : fmin(nics, rate_inside(group));
}

// A chunk of every channel passes all ranks before the last byte of a broadcast is done. Within a node that hides:
// ranks up the chain are at nccl-tests' next broadcast by then.
static double chain_fill_seconds(const Group *group, int channels, double bytes) {
    if (group->block_count == 1) return 0;
    double chunk = fmin(bytes / (8 * channels), CHAIN_CHUNK_BYTES);
    int between = group->block_count - 1, inside = group->rank_count - group->block_count;
    double steps = (inside ? inside / rate_inside(group) : 0) + (between ? between / rate_between(group) : 0);
    return nccl_constant(group, PLATFORM_FILL) * nccl_constant(group, CHAIN_FILL) * steps * chunk * channels;
}

// Of a ring of two only the way from the root is used: of the host's links, which both ways share, that is half.
static void send_one_way(const Group *group, Candidate *candidate) {
    if (group->medium != MEDIUM_HOST || group->block_count > 1) return;
    candidate->inside /= 2;
    candidate->inside_limit /= 2; // the GPU's own way is as busy as ever
}

// ---- What NCCL's tuner believes a ring or NVLS takes within one NVLink domain (graph/tuning.cc, 2.18 on): where that
// is wrong, it chooses wrongly. A link counts 20 GB/s of 25.
#define BELIEVED_LINKS 0.8

static bool tuner_is_known(const Group *group) {
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[0]));
    return nccl_rule(group, RULE_TUNER) && group->block_count == 1 && group->medium == MEDIUM_NVLINK &&
           layout->shape->gpu_fabric == GPU_FABRIC_SWITCH;
}

// Among the rings and NVLS of one node it chooses by that. Of racks only where it goes over to NVLS is known.
static bool tuner_chooses(const Group *group) {
    const int *node_of = group->network->node_of;
    return tuner_is_known(group) && group->block_count == 1 &&
           node_of[group->ranks[0]] == node_of[group->ranks[group->rank_count - 1]];
}

static double believed_ring_seconds(const Group *group, const RingShape *shape, Protocol protocol, double bytes) {
    // By protocol: baseLatencies and hwLatencies of a ring over NVLink, and its share of the links.
    static const double start[] = {6.6e-6, 14e-6, 8.4e-6}, hop[] = {0.6e-6, 1.9e-6, 3.4e-6}, share[] = {0.5, 0.92, 1};
    static const double ll_most[] = {39e9, 87.7e9, 141e9, 282e9}; // by generation
    double links = BELIEVED_LINKS * nccl_nvlink_rate(group) / network_constant(NVLINK_SHARE);
    double rate = share[protocol] * links;
    if (protocol == PROTOCOL_LL) rate = fmin(rate, ll_most[nccl_generation(group)]);
    return start[protocol] + shape->steps * hop[protocol] + bytes * shape->steps / group->rank_count / rate;
}

static double believed_nvls_seconds(const Group *group, double bytes) {
    static const double efficiency[] = {0.85, 0.85, 0.85, 0.74}; // by generation; 15 of 16 channels count
    double links = BELIEVED_LINKS * nccl_nvlink_rate(group) / network_constant(NVLINK_SHARE), n = group->rank_count;
    return 25e-6 + bytes / (links * efficiency[nccl_generation(group)] * 15 / 16 * n / (n - 1));
}

static Candidate ring_candidate(const Group *group, CollectiveOp op, Protocol protocol, double bytes) {
    bool rooted = op == COLLECTIVE_BROADCAST || op == COLLECTIVE_REDUCE;
    int channels = nccl_channels_used(group, protocol, true, bytes);
    RingShape shape = ring_shape(group, op);
    int inside = shape.steps - shape.network_steps;
    double message = bytes * shape.bytes / shape.steps / channels;
    int lengthening = nccl_lengthening_channels(group, protocol, channels);
    double between = shape.network_steps * nccl_hop_between(group, protocol, lengthening, message);
    double hops = inside * nccl_hop_inside(group, protocol, lengthening) + between + nccl_floor_between_seconds(group);
    if (rooted) // nccl-tests' broadcasts follow each other without waiting, so few of the hops show
        hops = nccl_constant(group, BROADCAST_HOP) * bytes / (bytes + nccl_constant(group, BROADCAST_BYTES)) *
                   (inside * nccl_hop_inside(group, protocol, 1) +
                    shape.network_steps * nccl_hop_between(group, protocol, 1, message)) +
               chain_fill_seconds(group, channels, bytes);
    Candidate candidate = {.algorithm = "ring", .protocol = protocol, .channels = channels};
    bool hide = !rooted && nccl_hops_hide(group);
    candidate.latency = nccl_floor_seconds(group) + nccl_fill_seconds(group, protocol, bytes) + (hide ? 0 : hops);
    candidate.hidden = hide ? hops : 0;
    if (!rooted) {
        candidate.posting = nccl_posting_seconds(group, protocol, shape.steps, message);
    }
    candidate.inside = shape.bytes * nccl_staged_phases(group, op) / nccl_inside_share(group, protocol);
    candidate.between = shape.bytes / nccl_between_share(group, protocol);
    limit_ring(group, rooted && group->rank_count == 2 ? 1 : 2, &candidate);
    if (rooted && group->rank_count == 2) send_one_way(group, &candidate);
    if (!rooted && tuner_chooses(group)) candidate.believed = believed_ring_seconds(group, &shape, protocol, bytes);
    return candidate;
}

// Bytes each node sends up and down the double binary tree: every node is a leaf in one tree and inner in the other,
// so with 2 nodes S, with more 2S. All nodes get the load of the busiest, which keeps them equal.
static double tree_network_bytes(int blocks) { return blocks < 2 ? 0 : fmin(2, blocks / 2.0); }

// A chunk of every channel climbs and descends all levels before the last byte is done, at the pace of the slowest.
static double tree_fill_seconds(const Group *group, int channels, int levels, double bytes) {
    double chunk = fmin(bytes / (8 * channels), TREE_CHUNK_BYTES);
    double rate = group->block_count == 1 ? rate_inside(group) : rate_between(group);
    return nccl_constant(group, TREE_FILL) * levels * chunk * channels / rate;
}

// At two nodes a tree sends half of a ring, which NCCL counts only if its search finds the tree more bandwidth within
// the node than on the NICs: with NVSwitch, one NIC, or since Hopper. Otherwise large sizes take rings.
static bool tree_is_underrated(const Group *group) {
    const Layout *layout = layout_of(group->network, node_of_rank(group->network, group->ranks[0]));
    return nccl_rule(group, RULE_TREE_UNDERRATED) && group->block_count == 2 && group->most > 1 && group->nics > 1 &&
           group->year < 2022 && group->medium == MEDIUM_NVLINK && layout->shape->gpu_fabric != GPU_FABRIC_SWITCH;
}

static Candidate tree_candidate(const Group *group, Protocol protocol, double bytes) {
    int channels = nccl_channels_used(group, protocol, false, bytes);
    int chain = 2 * (group->most - 1), climbs = 2 * log2_up(group->block_count);
    Candidate candidate = {.algorithm = "tree", .protocol = protocol, .channels = channels};
    candidate.latency = nccl_floor_seconds(group) + nccl_floor_between_seconds(group) +
                        nccl_fill_seconds(group, protocol, bytes) +
                        nccl_constant(group, TREE_HOP) * chain * nccl_hop_inside(group, protocol, channels) +
                        climbs * nccl_hop_between(group, protocol, channels, bytes / channels) +
                        tree_fill_seconds(group, channels, chain + climbs, bytes);
    candidate.inside = 2 / (nccl_constant(group, TREE_SHARE) * nccl_inside_share(group, protocol));
    candidate.between =
        tree_network_bytes(group->block_count) / (nccl_between_share(group, protocol) * nccl_tree_network_share(group));
    if (tree_is_underrated(group)) candidate.believed_between = 2 / nccl_between_share(group, protocol);
    limit_ring(group, 2, &candidate);
    candidate.between_limit /= nccl_tree_network_share(group); // what software moves it keeps busy with all the same
    return candidate;
}

static int switch_generation(const Group *group) { return group->year < 2024 ? 0 : 1; }

// The pipeline is full when every GPU of the domain that reduces (32 at most) has a chunk in each channel; the
// constants are for eight GPUs.
static double nvls_approach_seconds(const Group *group, double bytes) {
    double heads = fmin(group->least, NVLS_HEADS_MOST) / 8;
    return nccl_constant(group, PLATFORM_FILL) * heads * nccl_constant(group, NVLS_SLOW_TIME) * bytes /
           (bytes + heads * nccl_constant(group, NVLS_SLOW_BYTES));
}

// In-switch reduction: each GPU sends and receives S (1 + 1/g) in one domain; between domains a tree of nodes.
static Candidate nvls_candidate(const Group *group, double bytes) {
    int channels = nccl_channels_used(group, PROTOCOL_SIMPLE, false, bytes), g = group->least, m = group->block_count;
    double share = nccl_constant(group, (m > 1 ? NVLS_TREE_SHARE : NVLS_SHARE) + switch_generation(group));
    if (channels > 16) channels = 16;
    Candidate candidate = {
        .algorithm = m > 1 ? "nvls_tree" : "nvls", .protocol = PROTOCOL_SIMPLE, .channels = channels};
    candidate.latency =
        nccl_floor_seconds(group) + nccl_floor_between_seconds(group) + nvls_approach_seconds(group, bytes);
    if (m > 1)
        candidate.latency += nccl_constant(group, NVLS_TREE_TIME) +
                             2 * log2_up(m) * nccl_hop_between(group, PROTOCOL_SIMPLE, channels, bytes / channels);
    else
        candidate.latency += nccl_constant(group, NVLS_TIME) + nccl_constant(group, NVLS_RAMP_TIME) * log2(channels);
    // A ring load of 1 is (g-1)/g per GPU when there are other domains.
    candidate.inside = (m > 1 ? (double)g / (g - 1) : 1 + 1.0 / g) * network_constant(NVLINK_SHARE) / share;
    candidate.between = tree_network_bytes(m);
    limit_ring(group, 2, &candidate);
    if (tuner_chooses(group)) candidate.believed = believed_nvls_seconds(group, bytes);
    return candidate;
}

// NVLS came with 2.17 for one domain and with 2.18 for several.
static bool has_nvls(const Group *group) {
    bool enough = group->block_count > 1 ? group->least > 1 : group->rank_count >= NVLS_LEAST_RANKS;
    int since = group->block_count > 1 ? 21800 : 21700;
    return group->in_switch_reduction && group->year >= 2022 && enough && group->nccl_version >= since;
}

// Where a rack's GPUs take NVLS whatever it costs.
static bool takes_nvls(const Group *group, const CollectiveRequest *request) {
    bool free = !request->algorithm && (!request->protocol || *request->protocol == PROTOCOL_SIMPLE);
    if (!free || !has_nvls(group) || !tuner_is_known(group) || tuner_chooses(group)) return false;
    RingShape shape = ring_shape(group, COLLECTIVE_ALL_REDUCE);
    double nvls = believed_nvls_seconds(group, request->bytes);
    for (Protocol protocol = PROTOCOL_LL; protocol < PROTOCOL_COUNT; protocol++)
        if (nccl_protocol_allowed(group, protocol) &&
            believed_ring_seconds(group, &shape, protocol, request->bytes) < nvls)
            return false;
    return true;
}

// Switches that reduce (SHARP): each node sends the payload up once and gets it back once, whatever their number.
static Candidate collnet_candidate(const Group *group, double bytes) {
    Candidate candidate = tree_candidate(group, PROTOCOL_SIMPLE, bytes);
    int channels = candidate.channels, chain = 2 * (group->most - 1);
    candidate.algorithm = "collnet";
    candidate.latency = nccl_floor_seconds(group) + nccl_floor_between_seconds(group) +
                        nccl_fill_seconds(group, PROTOCOL_SIMPLE, bytes) +
                        chain * nccl_hop_inside(group, PROTOCOL_SIMPLE, channels) +
                        2 * nccl_hop_between(group, PROTOCOL_SIMPLE, channels, bytes / channels) +
                        tree_fill_seconds(group, channels, chain + 2, bytes);
    candidate.between = 1;
    candidate.between_limit *= nccl_tree_network_share(group); // restores the limit: no node has two children
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
    candidate.hidden = 0;
    candidate.latency = nccl_floor_seconds(group) + nccl_floor_between_seconds(group) +
                        nccl_fill_seconds(group, PROTOCOL_SIMPLE, bytes) +
                        log2_up(group->block_count) *
                            nccl_hop_between(group, PROTOCOL_SIMPLE, candidate.channels, bytes / candidate.channels);
    candidate.between /= PAT_SHARE;
    return candidate;
}

// One process launches the kernels of its GPUs one after the other, or its threads do and wait for each other. That
// hides behind what runs before it.
static void count_launches(const Group *group, const CollectiveRequest *request, Candidate *candidate) {
    bool direct = request->op == COLLECTIVE_SEND_RECV || request->op == COLLECTIVE_ALL_TO_ALL;
    double launch = nccl_constant(group, PLATFORM_LAUNCH);
    if (request->gpus_per_process > 1)
        candidate->launch = request->gpus_per_process * nccl_constant(group, PROCESS_LAUNCH_TIME) * launch *
                            (direct ? nccl_constant(group, PAIR_FLOOR) : 1);
    double threads = fmax(0, request->threads_per_process - 1) * nccl_constant(group, THREAD_LAUNCH_TIME) * launch;
    candidate->launch = fmax(candidate->launch, threads);
}

// Ranks that take turns on one GPU wait for each other, and each waits for all the others' slices.
static void count_time_slices(const Group *group, int ranks_per_gpu, Candidate *candidate) {
    candidate->latency += ranks_per_gpu * nccl_constant(group, TIME_SLICE);
}

// A platform's links may carry more or less than others of their kind.
static void count_rates(const Group *group, double bytes, Candidate *candidate) {
    double length = bytes > nccl_constant(group, PLATFORM_LONG_BYTES) ? nccl_constant(group, PLATFORM_LONG_RATE) : 1;
    double between = nccl_constant(group, PLATFORM_BETWEEN_RATE) * nccl_transport_share(group);
    between *= length;
    candidate->inside /= nccl_constant(group, PLATFORM_INSIDE_RATE) * length;
    candidate->between /= between;
    candidate->believed_between /= between;
}

// So many even choices are in `of` different groups in the mean.
static double groups_of(double of, double choices) { return of * (1 - pow(1 - 1 / of, choices)); }

// A token goes once to each block that has ranks for it, and there on to them, no faster than the kernel's workers are.
static void send_once_to_blocks(const Group *group, const TokenExchange *tokens, Candidate *candidate) {
    if (group->block_count == 1) return;
    double ranks = groups_of(group->rank_count, tokens->choices),
           blocks = groups_of(group->block_count, tokens->choices);
    double seconds_per_byte = (tokens->token_seconds + blocks * tokens->copy_seconds) / (ranks * tokens->row_bytes);
    candidate->between *= blocks / ranks;
    double limit = candidate->between / seconds_per_byte;
    if (!(candidate->between_limit > 0 && candidate->between_limit < limit)) candidate->between_limit = limit;
}

static int algorithm_candidates(const Group *group, CollectiveOp op, const CollectiveRequest *request,
                                Candidate *candidates) {
    double bytes = request->bytes;
    bool reduces = op == COLLECTIVE_ALL_REDUCE;
    int count = 0;
    if (reduces && takes_nvls(group, request)) {
        candidates[0] = nvls_candidate(group, bytes);
        return 1;
    }
    bool trees = reduces && (request->algorithm || !tuner_chooses(group)); // in one node a ring takes as few steps
    for (Protocol protocol = PROTOCOL_LL; protocol < PROTOCOL_COUNT; protocol++) {
        if (!nccl_protocol_allowed(group, protocol)) continue;
        candidates[count++] = ring_candidate(group, op, protocol, bytes);
        if (trees) candidates[count++] = tree_candidate(group, protocol, bytes);
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
    if (collective_is_direct(op))
        candidates[0] = nccl_direct_candidate(&group, op, request->shift, request->bytes);
    else
        count = algorithm_candidates(&group, op, request, candidates);
    for (int i = 0; i < count; i++) {
        count_rates(&group, request->bytes, &candidates[i]);
        if (request->tokens) send_once_to_blocks(&group, request->tokens, &candidates[i]);
        if (request->ranks_per_gpu > 1) count_time_slices(&group, request->ranks_per_gpu, &candidates[i]);
        count_launches(&group, request, &candidates[i]);
    }
    return count;
}
