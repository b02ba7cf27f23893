#include "models/network/messages/flow_packets.h"

#include <math.h>

#include "models/network/messages/flow_plan.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"

struct FlowPackets {
    Arena *arena;
    const FlowPlan *plan;
    FlowSystem flows;
    PacketCarrier *carrier;
};

FlowPackets *flow_packets(Arena *arena, const FlowPlan *plan, const PacketSizes *sizes, const char **why,
                          const char **remedy) {
    FlowPackets *p = ARENA_NEW(arena, FlowPackets);
    *why = NULL;
    *p = (FlowPackets){.arena = arena, .plan = flow_plan_as_packets(arena, plan, sizes)};
    p->flows = flow_system_of_each(arena, p->plan);
    if (p->flows.stopped) return NULL;
    p->carrier = packet_carrier(arena, plan->network, &p->flows.system, sizes, why, remedy);
    return p->carrier ? p : NULL;
}

PacketNetwork *flow_packets_network(FlowPackets *p) { return packet_carrier_network(p->carrier); }
PacketFacts flow_packets_facts(const FlowPackets *p) { return packet_carrier_facts(p->carrier); }

static const char *limit(FlowPackets *p, const RunResult *run, const FlowPacketResult *result) {
    const System *system = &p->flows.system;
    double busiest = fmax(0.01, result->sent.hottest_share) * result->flow.seconds; // less is nothing
    double *busy = ARENA_ARRAY(p->arena, double, system->link_count);
    for (int l = 0; l < system->link_count; l++) busy[l] = run->link_bytes[l] / system->links[l].bytes_per_second;
    const char *link = flow_busiest(system->links, busy, system->link_count, busiest);
    return link ? link : result->sent.hottest_share > 0.01 ? result->sent.hottest : NULL;
}

FlowPacketResult flow_packets_run(FlowPackets *p) {
    FlowPacketResult result = {.sent = {.hottest = "none"}, .digest = DIGEST_START};
    RunOptions options = {.carrier = packet_carrier_open(p->carrier, &result.wrong)};
    if (result.wrong) return result;
    RunResult run = run_system(p->arena, &p->flows.system, &options);
    result.flow = (FlowResult){.algorithm = p->plan->algorithm->name,
                               .protocol = p->plan->protocol,
                               .channels = p->plan->style.channels,
                               .actor_count = p->plan->group.rank_count,
                               .stopped = run.stopped};
    if (run.stopped) return result;
    CHECK(run.beyond_clock || run.deadlocked_count == 0);
    result.flow.seconds = run.beyond_clock ? INFINITY : step_seconds(run.end);
    result.sent = packet_carrier_close(p->carrier, result.flow.seconds);
    result.digest = digest_u64(result.sent.digest, run.beyond_clock ? (uint64_t)SIM_TIME_NEVER : (uint64_t)run.end);
    result.flow.limited_by = limit(p, &run, &result);
    return result;
}
