#include "scenarios/packets/packets_collective.h"

#include <string.h>

#include "scenarios/fields/fields.h"
#include "sim/system/watch.h"

// Where nothing is said: InfiniBand and Slingshot lose nothing and keep a window; sockets have DCTCP (assumed: Linux'
// default, CUBIC, fills any buffer it is given); EFA has Swift and sprays (assumed: its SRD sprays, takes packets in
// any order, needs no pauses and goes by delay; Shalev et al. 2020); others have DCQCN.
static PacketsSaid with_usual(Arena *arena, const PacketsSaid *said, const PacketFacts *facts) {
    Value *values = ARENA_ARRAY(arena, Value, object_type(OBJECT_PACKETS)->field_count);
    memcpy(values, said->values, (size_t)object_type(OBJECT_PACKETS)->field_count * sizeof *values);
    Value *transport = &values[field_index(OBJECT_PACKETS, "transport")],
          *routing = &values[field_index(OBJECT_PACKETS, "routing")];
    if (!transport->written && facts->lossless) transport->choice = PACKET_WINDOW;
    if (!transport->written && facts->tcp) transport->choice = PACKET_DCTCP;
    if (!transport->written && facts->sprays) transport->choice = PACKET_SWIFT;
    bool in_order = packet_transports[transport->choice].in_order;
    bool spreads = facts->spreads && (facts->lossless || transport->choice == PACKET_NDP);
    if (!routing->written && facts->sprays && !in_order) routing->choice = PACKET_SPRAY;
    if (!routing->written && spreads && !in_order) routing->choice = PACKET_ADAPTIVE;
    return (PacketsSaid){.values = values, .seed = said->seed, .where = said->where};
}

bool packets_of_collective(Arena *arena, const PacketsSaid *said, const FlowPlan *plan, Where where,
                           PacketNetwork *network, FlowPacketResult *result, Problems *problems) {
    const char *why = NULL, *remedy = NULL;
    packets_rules_begin(said, network);
    PacketSizes sizes = {network->payload_bytes, network->header_bytes, network->control_bytes};
    FlowPackets *packets = flow_packets(arena, plan, &sizes, &why, &remedy);
    if (!packets && why) {
        problem_add(problems, where, "fidelity packet: %s", why);
        problem_hint(problems, "%s", remedy);
        return false;
    }
    if (!packets) return watch_tells(where, problems), false;
    PacketFacts facts = flow_packets_facts(packets);
    PacketNetwork *laid = flow_packets_network(packets);
    PacketsSaid usual = with_usual(arena, said, &facts);
    int before = problems_added(problems);
    packets_rules_begin(&usual, laid);
    if (laid->host_count > 0) packets_rules_end(&usual, &facts, laid, problems);
    double memory = PACKET_MEMORY * facts.packets + PACKET_WAY_MEMORY * (double)laid->switch_count * laid->switch_count;
    if (problems_added(problems) > before ||
        !watch_allows(PACKET_EVENTS_A_HOP * facts.hops, memory, "the packets of the collective",
                      "use fidelity flow, smaller sizes, or fewer GPUs", where, problems))
        return false;
    WatchPiece piece;
    watch_begin(&piece, "events of packets", 0, WATCH_EVENT);
    *result = flow_packets_run(packets);
    watch_end(&piece);
    *network = *laid;
    if (result->wrong) problem_add(problems, where, "fidelity packet: %s", result->wrong);
    if (result->flow.stopped) watch_tells(where, problems);
    return !result->wrong && !result->flow.stopped;
}
