#include "scenarios/packets/packets_collective.h"

#include "sim/system/watch.h"

bool packets_of_collective(Arena *arena, const PacketsSaid *said, const FlowPlan *plan, Where where,
                           PacketNetwork *network, FlowPacketResult *result, Problems *problems) {
    const char *why = NULL, *remedy = NULL;
    PacketAsked asked = packets_asked(said, true);
    packet_rules_begin(&asked, network);
    PacketSizes sizes = {network->payload_bytes, network->header_bytes, network->control_bytes};
    FlowPackets *packets = flow_packets(arena, plan, &sizes, &why, &remedy);
    if (!packets && why) {
        problem_add(problems, where, "fidelity packet: %s", why);
        return problem_hint(problems, "%s", remedy);
    }
    if (!packets) return watch_tells(where, problems), false;
    PacketFacts facts = flow_packets_facts(packets);
    PacketNetwork *laid = flow_packets_network(packets);
    int before = problems_added(problems);
    packet_rules_usual(&asked, &facts);
    packet_rules_begin(&asked, laid);
    if (laid->host_count > 0) packet_rules_end(&asked, &facts, laid);
    if (laid->host_count > 0) packets_rules_check(said, laid, problems);
    if (problems_added(problems) > before ||
        !packet_rules_allow(&facts, laid, "the packets of the collective",
                            "use fidelity flow, smaller sizes, or fewer GPUs", where, problems))
        return false;
    *result = flow_packets_run(packets);
    *network = *laid;
    if (result->wrong) problem_add(problems, where, "fidelity packet: %s", result->wrong);
    if (result->flow.stopped) watch_tells(where, problems);
    return !result->wrong && !result->flow.stopped;
}
