#include "scenarios/questions/collective_packets.h"

#include <math.h>

#include "sim/base/digest.h"

#define ALIKE 0.03 // is no difference

bool collective_as_packets(Arena *arena, const CollectiveAsked *asked, const PacketsSaid *said, const FlowPlan *plan,
                           CollectiveSides *sides) {
    FlowPacketResult *packets = &sides->packets;
    if (!packets_of_collective(arena, said, plan, (Where){0}, &sides->network, packets, asked->problems)) return false;
    packets->sent.hottest = arena_copy_text(asked->arena, packets->sent.hottest);
    sides->packet = packets->flow.seconds;
    return true;
}

void collective_refuse_packets(const CollectiveAsked *asked, const Options *options) {
    Arena *scratch = arena_open();
    int count;
    const OptionSpec *rows = packets_rule_options(scratch, &count);
    for (int i = 0; i < count && asked->fidelity < AS_PACKETS; i++) {
        if (!option_given(options, rows[i].name)) continue;
        problem_add(asked->problems, (Where){0}, "--%s belongs to packets", rows[i].name);
        problem_hint(asked->problems, "add --fidelity packet");
    }
    arena_close(scratch);
}

// ---- The answer.
static void add_packets(Answer *answer, const CollectiveSides *sides, int count) {
    static const AnswerColumn columns[] = {
        {"size", "size", AS_BYTES, 0},
        {"messages", "messages", AS_COUNT, 4},
        {"packets", NULL, AS_COUNT, 0},
        {"packet_hops", NULL, AS_WHOLE, 0},
        {"fct_mean_s", "a message", AS_SECONDS, 0},
        {"fct_p99_s", "1 in 100", AS_SECONDS, 0},
        {"queue_most_bytes", "longest queue", AS_BYTES, 0},
        {"queue_mean_bytes", "mean", AS_BYTES, 5},
        {"paused_s", "paused", AS_SECONDS, 2},
        {"marked", "marked", AS_COUNT, 1},
        {"dropped", "dropped", AS_COUNT, 0},
        {"trimmed", NULL, AS_COUNT, 0},
        {"resent", "sent again", AS_COUNT, 0},
        {"timeouts", NULL, AS_COUNT, 0},
        {"hottest", "hottest cable", AS_TEXT, 3},
        {"hottest_share", "busy", AS_PERCENT, 3},
    };
    answer_table(answer, "packets", "Between nodes, packet by packet", COLUMNS(columns));
    for (int i = 0; i < count; i++) {
        const PacketsCarried *p = &sides[i].packets.sent;
        ANSWER_ROW(answer, sides[i].bytes, (double)p->messages, (double)p->packets, (double)p->hops, p->mean_seconds,
                   p->p99_seconds, p->queue_most, p->queue_mean, p->paused_seconds, (double)p->marks, (double)p->drops,
                   (double)p->trims, (double)p->resent, (double)p->timeouts, p->hottest, p->hottest_share);
    }
}

static bool differ(double a, double b) { return isfinite(a) && isfinite(b) && fabs(b / a - 1) > ALIKE; }

// Which to trust. Flow knows no queue; fluid's constants are fitted to logs of whole collectives. What packets take
// longer is laid to pauses where a host's mean share of them is half of it.
static const char *verdict(const CollectiveSides *s) {
    const PacketsCarried *p = &s->packets.sent;
    if (differ(s->flow, s->packet) && s->packet < s->flow) return "packet: rates are uneven";
    if (differ(s->flow, s->packet) && p->drops + p->timeouts > 0) return "packet: packets are lost and sent again";
    bool paused = p->paused_seconds / s->network.host_count >= (s->packet - s->flow) / 2;
    if (differ(s->flow, s->packet) && paused) return "packet: ports are paused";
    if (differ(s->flow, s->packet) && p->marks > 0) return "packet: marks slow senders";
    if (differ(s->flow, s->packet)) return "packet: ways and rates are uneven";
    if (!isfinite(s->fluid)) return "flow: queues cost nothing";
    return s->other_algorithm            ? "fluid: another algorithm"
           : differ(s->fluid, s->packet) ? "fluid: fitted to logs"
                                         : "fluid: all are alike";
}

static void add_sides(Answer *answer, const CollectiveSides *sides, int count) {
    static const AnswerColumn columns[] = {
        {"size", "size", AS_BYTES, 0},         {"fluid_s", "fluid", AS_SECONDS, 0},
        {"flow_s", "flow", AS_SECONDS, 0},     {"packet_s", "packet", AS_SECONDS, 0},
        {"flow_to_fluid", NULL, AS_NUMBER, 0}, {"packet_to_flow", "packet/flow", AS_NUMBER, 0},
        {"messages", NULL, AS_COUNT, 0},       {"packet_hops", "packet-hops", AS_MANY, 1},
        {"trust", "trust", AS_TEXT, 0},
    };
    answer_table(answer, "fidelities", "The same at each fidelity", COLUMNS(columns));
    for (int i = 0; i < count; i++) {
        const CollectiveSides *s = &sides[i];
        ANSWER_ROW(answer, s->bytes, s->fluid, s->flow, s->packet, s->flow / s->fluid, s->packet / s->flow,
                   (double)s->messages, (double)s->packets.sent.hops, verdict(s));
    }
}

void collective_packets_answer(Answer *answer, const CollectiveSides *sides, int count, bool all) {
    const PacketNetwork *network = &sides[0].network;
    uint64_t digest = sides[0].packets.digest;
    if (all) add_sides(answer, sides, count);
    if (network->host_count == 0) {
        answer_say(answer, NULL, "All of it stays in one node or NVLink domain, where there are no packets.");
        return;
    }
    add_packets(answer, sides, count);
    answer_text(answer, "transport", NULL, packet_transports[network->transport.id].name);
    answer_text(answer, "routing", NULL, packets_routing_name(network));
    answer_say(answer, NULL, "%s, %s; --transport, --routing, --buffer and others change it.",
               packet_transports[network->transport.id].name, packets_routing_name(network));
    if (network->switch_count > 1) packets_rules_caution(answer, network);
    for (int i = 1; i < count; i++) digest = digest_u64(digest, sides[i].packets.digest);
    answer_seed(answer, network->seed);
    answer_digest(answer, digest);
}
