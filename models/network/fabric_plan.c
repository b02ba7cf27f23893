// A collective's plan with the fabric's own links and long lines in it: what the plan already sends out of nodes by
// their NICs is led on over the fabric.
#include <math.h>
#include <string.h>

#include "models/network/fabric_loads.h"
#include "models/network/transports.h"
#include "sim/check.h"
#include "sim/clock.h"

static const Node *node_of_link(const Network *network, int32_t link) {
    int low = 0, high = network->node_count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (network->nodes[middle].first_link <= link)
            low = middle;
        else
            high = middle;
    }
    return &network->nodes[low];
}

static bool leaves_a_node(const Network *network, int32_t link) {
    const Node *node = node_of_link(network, link);
    const Layout *layout = layout_of(network, node);
    for (int nic = 0; nic < layout->shape->nic_count; nic++)
        if (node->first_link + layout->nic_out[nic] == link) return true;
    return false;
}

static double bytes_out(const Network *network, const Plan *plan) {
    double sum = 0;
    for (int i = 0; i < plan->use_count; i++)
        if (plan->uses[i].link < network->first_fabric_link && leaves_a_node(network, plan->uses[i].link))
            sum += plan->uses[i].weight;
    return sum;
}

// ---- Links.
// The slowest link now decides, and how many flows the plan counts as goes by its share there (as in collectives.c).
static void take_slowest(const Network *network, CollectivePlan *result, int first) {
    Plan *plan = &result->plan;
    double latency = step_seconds(plan->latency), slowest = (result->alone_seconds - latency) / plan->bytes;
    for (int i = first; i < plan->use_count; i++) {
        const LinkUse *use = &plan->uses[i];
        double seconds = use->weight / network->links[use->link].bytes_per_second;
        if (seconds <= slowest) continue;
        slowest = seconds;
        result->limiting_link = use->link;
        plan->fairness = fmax(1, nearbyint(256 / use->weight)) / 256;
    }
    result->alone_seconds = latency + slowest * plan->bytes;
}

static void add_links(Arena *arena, const Network *network, const FabricLoads *fabric, CollectivePlan *result) {
    Plan *plan = &result->plan;
    int first = plan->use_count;
    double scale = fabric->leaving > 0 ? bytes_out(network, plan) / fabric->leaving : 0;
    if (network->leaf_count || scale <= 0 || fabric->loads.count == 0) return; // loads.c knows trees of two tiers
    LinkUse *uses = ARENA_ARRAY(arena, LinkUse, first + fabric->loads.count);
    memcpy(uses, plan->uses, sizeof *uses * (size_t)first);
    for (int i = 0; i < fabric->loads.count; i++) {
        double weight = weight_round(scale * fabric->loads.items[i].between);
        if (weight > 0) uses[plan->use_count++] = (LinkUse){fabric->loads.items[i].link, weight};
    }
    plan->uses = uses;
    take_slowest(network, result, first);
}

// ---- Long lines. A ring that goes round twice crosses each of its lines twice.
static void add_lines(const Network *network, const FabricLoads *fabric, const CollectiveRequest *request, int nics,
                      CollectivePlan *result) {
    bool round_trip = request->op == COLLECTIVE_ALL_REDUCE || request->op == COLLECTIVE_BARRIER;
    double one_way = fabric->line_seconds;
    if (one_way <= 0) return;
    double latency = (round_trip ? 2 : 1) * one_way;
    double rate = transport_rate(network->fabric.transport, 2 * one_way, nics);
    latency += transport_start_seconds(network->fabric.transport, 2 * one_way, result->plan.bytes, nics);
    double transfer = result->alone_seconds - step_seconds(result->plan.latency);
    result->plan.latency += step_ticks(latency);
    if (rate > 0 && (result->plan.rate_limit <= 0 || rate < result->plan.rate_limit)) {
        result->plan.rate_limit = rate;
        if (result->plan.bytes / rate > transfer) {
            transfer = result->plan.bytes / rate;
            result->limiting_link = -1;
        }
    }
    result->alone_seconds = step_seconds(result->plan.latency) + transfer;
}

CollectivePlan network_plan(Arena *arena, const Network *network, const CollectiveRequest *request) {
    CollectivePlan result = collective_plan(arena, network, request);
    bool nothing = network->node_count == 1 || network->fabric.kind == FABRIC_SINGLE_SWITCH || request->rank_count < 2;
    if (nothing) return result;
    Arena *scratch = arena_open();
    Group group = group_create(scratch, network, request->ranks, request->rank_count);
    if (group.block_count > 1) {
        FabricLoads fabric = fabric_loads(scratch, &group, request);
        if (result.plan.bytes > 0) add_links(arena, network, &fabric, &result);
        add_lines(network, &fabric, request, group.nics, &result);
    }
    arena_close(scratch);
    return result;
}
