// Plans a collective: lays its pattern over the links, prices the back end's candidates, keeps the fastest.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "models/network/collectives/candidates.h"
#include "models/network/loads.h"
#include "models/network/messages/message.h"
#include "models/network/network_constants.h"
#include "models/network/topology.h"
#include "sim/base/check.h"

// ---- Latency of long lines between switches (between sites, or drawn by a user) for each candidate of a collective.

// A ring that goes round twice crosses each of its lines twice. Over the longest of them a transport with a window
// sends no more than that per round trip.
static void count_lines(const Group *group, const Loads *loads, const CollectiveRequest *request,
                        Candidate *candidate) {
    bool twice = request->op == COLLECTIVE_ALL_REDUCE || request->op == COLLECTIVE_BARRIER;
    Transport transport = group->network->fabric.transport;
    double round_trip = 2 * loads->longest_line_seconds;
    if (loads->line_seconds <= 0) return;
    candidate->latency += (twice ? 2 : 1) * loads->line_seconds;
    candidate->latency += transport_start_seconds(transport, round_trip, request->bytes, group->nics);
    double rate = transport_rate(transport, round_trip, group->nics);
    if (rate > 0) candidate->between_limit = candidate->between_limit > 0 ? fmin(candidate->between_limit, rate) : rate;
}

static const char *const op_names[COLLECTIVE_OP_COUNT] = {"send_recv",  "broadcast", "all_reduce", "reduce",
                                                          "all_gather", "gather",    "scatter",    "reduce_scatter",
                                                          "all_to_all", "barrier"};

bool collective_is_direct(CollectiveOp op) {
    return op == COLLECTIVE_SEND_RECV || op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_GATHER ||
           op == COLLECTIVE_SCATTER;
}

const char *collective_op_name(CollectiveOp op) { return op_names[op]; }

bool collective_op_from_name(const char *name, CollectiveOp *op) {
    for (int i = 0; i < COLLECTIVE_OP_COUNT; i++) {
        if (strcmp(name, op_names[i]) != 0) continue;
        *op = (CollectiveOp)i;
        return true;
    }
    return false;
}

static Loads node_loads(Arena *scratch, const Group *group, const CollectiveRequest *request) {
    switch (request->op) {
    case COLLECTIVE_SEND_RECV:
        if (request->shift) return shift_loads(scratch, group);
        return pair_loads(scratch, group->network, request->ranks[0], request->ranks[1]);
    case COLLECTIVE_ALL_TO_ALL:
        if (request->pair_bytes) return uneven_loads(scratch, group, request->pair_bytes, request->bytes);
        return all_to_all_loads(scratch, group);
    case COLLECTIVE_GATHER:
        return rooted_loads(scratch, group, request->ranks[request->root], false);
    case COLLECTIVE_SCATTER:
        return rooted_loads(scratch, group, request->ranks[request->root], true);
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_OP_COUNT:
        break;
    }
    if (request->backend == BACKEND_NCCL) return ring_loads(scratch, group);
    bool mpi = request->backend == BACKEND_MPI;
    return host_ring_loads(scratch, group, request->on_host, mpi, host_constants(request->backend).local_copies);
}

static Loads request_loads(Arena *scratch, const Group *group, const CollectiveRequest *request) {
    Loads loads = node_loads(scratch, group, request);
    if (!request->pair_bytes) add_fabric_loads(&loads, group, request); // uneven ones have the fabric in them
    return loads;
}

#define MOST_KINDS 64

// One of each kind, the first: links that carry the same at the same rate take the same time.
static Loads kinds_of_loads(Arena *arena, const Network *network, const Loads *loads) {
    Loads kinds = {
        .arena = arena, .line_seconds = loads->line_seconds, .longest_line_seconds = loads->longest_line_seconds};
    for (int i = 0; i < loads->count; i++) {
        const Load *load = &loads->items[i];
        double rate = network_link_rate(network, load->link);
        int k = kinds.count - 1, end = k - MOST_KINDS; // two of a kind do no harm
        while (k >= 0 && k > end &&
               (kinds.items[k].inside != load->inside || kinds.items[k].between != load->between ||
                network_link_rate(network, kinds.items[k].link) != rate))
            k--;
        if (k < 0 || k == end) LIST_PUSH(arena, &kinds, *load);
    }
    return kinds;
}

// Seconds per byte of payload when nothing else moves, and the link that decides (-1: software does).
static double seconds_per_byte(const Network *network, const Loads *loads, const Candidate *candidate,
                               int32_t *limiting) {
    double slowest = 0;
    *limiting = -1;
    for (int i = 0; i < loads->count; i++) {
        const Load *load = &loads->items[i];
        double seconds = (candidate->inside * load->inside + candidate->between * load->between) /
                         network_link_rate(network, load->link);
        if (seconds <= slowest) continue;
        slowest = seconds;
        *limiting = load->link;
    }
    return slowest;
}

static double software_limit(const Candidate *candidate, const Group *group) {
    double inside = 0, between = 0; // seconds per byte
    if (group->most > 1 && candidate->inside_limit > 0) inside = candidate->inside / candidate->inside_limit;
    if (group->block_count > 1 && candidate->between_limit > 0) between = candidate->between / candidate->between_limit;
    return 1 / (candidate->limits_add ? inside + between : fmax(inside, between));
}

static double candidate_seconds(const Group *group, const Loads *loads, const Candidate *candidate, double bytes) {
    int32_t limiting;
    double wire = seconds_per_byte(group->network, loads, candidate, &limiting);
    double moving = bytes * fmax(wire, 1 / software_limit(candidate, group));
    double seconds = candidate->latency + hypot(candidate->hidden, moving);
    if (candidate->launch > 0 || candidate->posting > 0)
        return pow(pow(seconds, 4) + pow(candidate->launch, 4) + pow(candidate->posting, 4), 0.25);
    return seconds;
}

// By what the back end goes when it chooses.
static double believed_seconds(const Group *group, const Loads *loads, const Candidate *candidate, double bytes) {
    Candidate believed = *candidate;
    if (candidate->believed > 0) return candidate->believed;
    if (believed.believed_between > 0) believed.between = believed.believed_between;
    return candidate_seconds(group, loads, &believed, bytes);
}

static bool is_asked(const char *name, const char *asked) { return !asked || strcmp(name, asked) == 0; }
static bool is_protocol(const Candidate *candidate, const Protocol *asked) {
    return !asked || candidate->protocol == *asked;
}

// An algorithm or protocol that the back end does not have here is not insisted on.
static const Candidate *choose(const Group *group, const Loads *loads, const CollectiveRequest *request,
                               const Candidate *candidates, int count) {
    const Candidate *best = NULL;
    double best_seconds = INFINITY;
    const char *algorithm = NULL;
    const Protocol *protocol = NULL;
    for (int i = 0; i < count; i++)
        if (is_asked(candidates[i].algorithm, request->algorithm)) algorithm = request->algorithm;
    for (int i = 0; i < count; i++)
        if (is_asked(candidates[i].algorithm, algorithm) && is_protocol(&candidates[i], request->protocol))
            protocol = request->protocol;
    for (int i = 0; i < count; i++) {
        if (!is_asked(candidates[i].algorithm, algorithm) || !is_protocol(&candidates[i], protocol)) continue;
        double seconds = believed_seconds(group, loads, &candidates[i], request->bytes);
        if (best && seconds >= best_seconds) continue;
        best = &candidates[i];
        best_seconds = seconds;
    }
    CHECK(best);
    return best;
}

#define MOST_FLOWS 1e7 // on any link: links are only so much narrower than others if a user made them so

// Shares of a link are even per flow, and a plan that is spread over many NICs has a flow on each: it counts as many as
// make its share of its narrowest link that of one flow. Coarsely rounded, so that sums with weights stay exact.
static double fairness_of(double weight, double widest) {
    double flows = weight > 0 ? nearbyint(256 / weight) / 256 : 1;
    if (flows * widest > MOST_FLOWS) flows = MOST_FLOWS / widest;
    return flows > 1.0 / 256 ? flows : 1.0 / 256;
}

// All but the uses.
static CollectivePlan plan_without_uses(const Group *group, const Loads *kinds, const Candidate *candidate,
                                        double bytes) {
    CollectivePlan result = {
        .algorithm = candidate->algorithm, .protocol = candidate->protocol, .channels = candidate->channels};
    Plan *plan = &result.plan;
    double limit = software_limit(candidate, group), narrowest = 0, widest = 0;
    double wire = seconds_per_byte(group->network, kinds, candidate, &result.limiting_link);
    for (int i = 0; i < kinds->count; i++) {
        const Load *load = &kinds->items[i];
        double weight = load_weight(load->inside, load->between, candidate->inside, candidate->between);
        if (load->link == result.limiting_link) narrowest = weight;
        widest = fmax(widest, weight);
    }
    plan->bytes = bytes;
    result.alone_seconds = candidate_seconds(group, kinds, candidate, bytes);
    result.moving_seconds = bytes * fmax(wire, 1 / limit);
    plan->latency = step_ticks(result.alone_seconds - result.moving_seconds);
    plan->rate_limit = isfinite(limit) ? limit : 0;
    plan->fairness = fairness_of(narrowest, widest);
    if (result.moving_seconds < candidate->latency * 0.01) result.limiting_link = -1;
    return result;
}

static CollectivePlan plan_of(Arena *arena, const Group *group, const Loads *loads, const Loads *kinds,
                              const Candidate *candidate, double bytes) {
    CollectivePlan result = plan_without_uses(group, kinds, candidate, bytes);
    LinkUse *uses = ARENA_ARRAY(arena, LinkUse, loads->count);
    for (int i = 0; i < loads->count; i++) {
        const Load *load = &loads->items[i];
        double weight = load_weight(load->inside, load->between, candidate->inside, candidate->between);
        if (weight > 0) uses[result.plan.use_count++] = (LinkUse){load->link, weight};
    }
    result.plan.uses = uses;
    return result;
}

static int request_candidates(const Group *group, const Loads *loads, const CollectiveRequest *request,
                              Candidate *candidates) {
    int count = request->backend == BACKEND_NCCL
                    ? nccl_candidates(group, request, candidates)
                    : host_candidates(group, request->backend, request->op, request->bytes, candidates);
    for (int i = 0; i < count; i++) count_lines(group, loads, request, &candidates[i]);
    return count;
}

static CollectivePlan nothing_to_do(void) {
    return (CollectivePlan){
        .plan = {.fairness = 1}, .algorithm = "none", .protocol = PROTOCOL_COUNT, .limiting_link = -1};
}

// Everything that goes around a ring goes around the same ring.
CollectiveOp collective_family(CollectiveOp op) {
    bool ring = op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_REDUCE_SCATTER;
    return ring ? COLLECTIVE_ALL_REDUCE : op;
}

// Whether one laying of loads does for both.
static bool same_pattern(const CollectiveRequest *a, const CollectiveRequest *b) {
    CollectiveOp family = collective_family(a->op);
    bool shared = family == COLLECTIVE_ALL_REDUCE || (family == COLLECTIVE_SEND_RECV && a->shift == b->shift);
    return shared && family == collective_family(b->op);
}

void collective_plans(Arena *arena, const Network *network, const CollectiveRequest *requests, int count,
                      CollectivePlan *plans) {
    Candidate candidates[CANDIDATE_LIMIT];
    Arena *scratch = arena_open();
    Group group = {0};
    Loads loads = {0}, kinds = {0};
    const NcclConstants *own = NULL; // the machine's
    for (int i = 0; i < count; i++) {
        CollectiveRequest asked = requests[i];
        plans[i] = nothing_to_do();
        if (asked.rank_count < 2) continue;
        if (asked.op == COLLECTIVE_BARRIER) asked.bytes = 4; // an all-reduce of one number
        if (!group.network) group = group_create(scratch, network, asked.ranks, asked.rank_count);
        if (i == 0) own = group.constants;
        group.constants = asked.constants ? asked.constants : own;
        if (i == 0 || !same_pattern(&requests[i - 1], &asked)) {
            loads = request_loads(scratch, &group, &asked);
            kinds = kinds_of_loads(scratch, network, &loads);
        }
        int found = request_candidates(&group, &kinds, &asked, candidates);
        const Candidate *best = choose(&group, &kinds, &asked, candidates, found);
        plans[i] = plan_of(arena, &group, &loads, &kinds, best, asked.bytes);
        if (asked.op != COLLECTIVE_BARRIER) continue;
        plans[i].plan = (Plan){.latency = step_ticks(plans[i].alone_seconds), .fairness = 1};
        plans[i].limiting_link = -1;
    }
    arena_close(scratch);
}

CollectivePlan collective_plan(Arena *arena, const Network *network, const CollectiveRequest *request) {
    CollectivePlan plan;
    collective_plans(arena, network, request, 1, &plan);
    return plan;
}

// ---- The same price again and again.
struct CollectivePrice {
    CollectiveRequest request;
    Group group;
    Loads loads, kinds;
};

CollectivePrice *collective_price_create(Arena *arena, const Network *network, const CollectiveRequest *request) {
    CollectivePrice *price = ARENA_NEW(arena, CollectivePrice);
    price->request = *request;
    if (request->op == COLLECTIVE_BARRIER) price->request.bytes = 4;
    if (request->rank_count < 2 && request->repeats < 2) return price;
    price->group = group_create(arena, network, request->ranks, request->rank_count);
    if (request->repeats > 1) {
        group_repeat(&price->group, request->repeats, request->stride);
        price->loads = node_loads(arena, &price->group, request);
    } else {
        price->loads = request_loads(arena, &price->group, request);
    }
    price->kinds = kinds_of_loads(arena, network, &price->loads);
    return price;
}

const LinkLoad *collective_price_loads(const CollectivePrice *price, int *count) {
    *count = price->loads.count;
    return price->loads.items;
}

static uint64_t mix_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_number(uint64_t hash, double number) {
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return mix_word(hash, word);
}

// Hash of everything that candidates and their prices depend on.
uint64_t collective_price_likeness(const CollectivePrice *price) {
    const Group *group = &price->group;
    const Network *network = group->network;
    uint64_t hash = mix_word((uint64_t)price->request.op * BACKEND_COUNT + price->request.backend,
                             (uint64_t)group->rank_count << 32 | (uint32_t)group->block_count);
    bool flags[] = {group->rdma,           group->host_bridge, group->far_nics,
                    group->across_sockets, group->superchip,   group->in_switch_reduction};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) hash = mix_word(hash, flags[i]);
    int numbers[] = {group->least, group->most, (int)group->medium, group->nics, group->year, group->nccl_version};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) hash = mix_word(hash, (uint64_t)numbers[i]);
    const NodeShape *shape = layout_of(network, node_of_rank(network, group->ranks[0]))->shape;
    double sizes[] = {group->pcie_bytes_per_second,      group->network_seconds,         price->loads.line_seconds,
                      price->loads.longest_line_seconds, shape->nvlink_bytes_per_second, shape->pair_bytes_per_second,
                      (double)shape->gpu_fabric,         shape->collective_factors[0],   shape->collective_factors[1],
                      shape->collective_factors[2],      shape->collective_factors[3]};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) hash = mix_number(hash, sizes[i]);
    for (int i = NODE_FACTORS; i < MEASURED_FACTORS; i++) hash = mix_number(hash, shape->collective_factors[i]);
    for (int i = 0; i < price->kinds.count; i++) {
        const Load *kind = &price->kinds.items[i];
        hash = mix_number(mix_number(hash, kind->inside), kind->between);
        hash = mix_number(hash, network_link_rate(network, kind->link));
    }
    return hash;
}

int collective_price_senders(const CollectivePrice *price) {
    if (price->group.block_count < 2) return 0;
    return price->request.op == COLLECTIVE_ALL_TO_ALL ? INT_MAX : price->group.most;
}

Plan collective_price_plan(const CollectivePrice *price, CollectiveOp op, double bytes, double *inside,
                           double *between) {
    Candidate candidates[CANDIDATE_LIMIT];
    CollectiveRequest request = price->request;
    CHECK(collective_family(op) == collective_family(request.op));
    request.op = op;
    request.bytes = bytes;
    int count = request_candidates(&price->group, &price->kinds, &request, candidates);
    const Candidate *best = choose(&price->group, &price->kinds, &request, candidates, count);
    *inside = best->inside;
    *between = best->between;
    return plan_without_uses(&price->group, &price->kinds, best, bytes).plan;
}

double collective_price_seconds(const CollectivePrice *price, double bytes, const NcclConstants *constants) {
    Candidate candidates[CANDIDATE_LIMIT];
    CollectiveRequest request = price->request;
    Group group = price->group;
    if (request.rank_count < 2) return 0;
    if (request.op != COLLECTIVE_BARRIER) request.bytes = bytes;
    if (constants) group.constants = constants;
    int count = request_candidates(&group, &price->kinds, &request, candidates);
    const Candidate *best = choose(&group, &price->kinds, &request, candidates, count);
    return candidate_seconds(&group, &price->kinds, best, request.bytes);
}

// ---- Uncertainty of a collective's time: the model's error on machines that it was not fitted on, and properties of
// the machine that are unspecified. Standard deviations of logarithms, which add as squares.

typedef struct Unsaid {
    const char *start;        // of the assumption's text
    NetworkConstantId spread; // of large collectives; that of small ones is the next constant
} Unsaid;

static const Unsaid unsaid[] = {
    {"launch", UNSAID_LAUNCH},
    {"nccl_version", UNSAID_NCCL_VERSION},
    {"gdr", UNSAID_GDR},
    {"nic_gbps", UNSAID_NIC_RATE},
    {"nics_per_node", UNSAID_NICS},
    {"transport", UNSAID_TRANSPORT},
    {"gpus_per_pcie_switch", UNSAID_SWITCH_GPUS},
    {"cpu_sockets", UNSAID_SOCKETS},
    {"GPU", UNSAID_GPU},
};

static double square_of(NetworkConstantId id) { return network_constant(id) * network_constant(id); }

static double square_of_network(const Group *group, bool large) {
    switch (group->network->fabric.transport) {
    case NET_INFINIBAND:
        return 0;
    case NET_SLINGSHOT:
        return square_of(SLINGSHOT_SPREAD);
    case NET_TCP:
        return square_of(SOCKET_SPREAD);
    case NET_ROCE:
    case NET_EFA:
    case NET_TCPX:
        break;
    }
    return square_of(large ? ETHERNET_SPREAD : ETHERNET_SPREAD_SMALL);
}

// What machines of that kind leave open, by how they were predicted when they were left out.
static double square_of_kind(const Group *group, bool large) {
    bool inside = group->most > 1, between = group->block_count > 1;
    double sum = between ? square_of_network(group, large) : 0;
    if (large && inside && group->medium == MEDIUM_HOST) sum += square_of(HOST_MEMORY);
    if (large && inside && group->medium == MEDIUM_PCIE) sum += square_of(PEER_SPREAD);
    bool bounced = between && !group->rdma && group->network->fabric.transport != NET_TCP;
    return large && bounced ? sum + square_of(BOUNCED_SPREAD) : sum;
}

double collective_spread(const Network *network, const CollectiveRequest *request, const char *const *assumed,
                         int assumed_count) {
    bool large = request->bytes >= network_constant(LARGE_BYTES),
         lengthy = request->bytes >= network_constant(LONG_BYTES);
    double sum = square_of(lengthy ? MODEL_LONG : large ? MODEL_LARGE : MODEL_SMALL);
    if (request->rank_count < 2) return 0;
    Arena *scratch = arena_open();
    Group group = group_create(scratch, network, request->ranks, request->rank_count);
    sum += square_of_kind(&group, large);
    arena_close(scratch);
    for (int i = 0; i < assumed_count; i++)
        for (size_t r = 0; r < sizeof unsaid / sizeof *unsaid; r++) {
            double spread = network_constant(unsaid[r].spread + (large ? 0 : 1));
            if (strncmp(assumed[i], unsaid[r].start, strlen(unsaid[r].start)) == 0) sum += spread * spread;
        }
    return sqrt(sum);
}
