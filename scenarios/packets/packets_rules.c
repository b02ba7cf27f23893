#include "scenarios/packets/packets_rules.h"

#include <string.h>

#include "models/workload/job/job.h"
#include "scenarios/fields/fields.h"

static const char *const rule_fields[] = {"transport",  "payload",   "routing",     "queues",      "buffer",
                                          "loss",       "window",    "timeout",     "target",      "mark_from",
                                          "mark_to",    "mark_most", "pause",       "credits",     "queue",
                                          "hop_target", "fs_range",  "fs_min_cwnd", "fs_max_cwnd", "seed"};

const Value *packets_value(const PacketsSaid *said, const char *field) {
    return &said->values[field_index(OBJECT_PACKETS, field)];
}

Where packets_where(const PacketsSaid *said, const char *field) {
    const Value *value = packets_value(said, field);
    return value->written ? value->where : said->where;
}

static double number_or(const PacketsSaid *said, const char *field, double unsaid) {
    const Value *value = packets_value(said, field);
    return value->given ? value->number : unsaid;
}

PacketAsked packets_asked(const PacketsSaid *said, bool by_fabric) {
    const Value *seed = packets_value(said, "seed"), *transport = packets_value(said, "transport"),
                *routing = packets_value(said, "routing");
    PacketAsked asked = packets_unasked;
    asked.transport = transport->written || !by_fabric ? transport->choice : -1;
    asked.routing = routing->written || !by_fabric ? routing->choice : -1;
    asked.at_inputs = packets_value(said, "queues")->choice == 1;
    asked.loss = packets_value(said, "loss")->number;
    asked.seed = seed->given ? seed->seed : said->seed;
    asked.payload = packets_value(said, "payload")->number;
    asked.buffer = packets_value(said, "buffer")->written ? packets_value(said, "buffer")->number : -1;
    asked.window = number_or(said, "window", -1);
    asked.timeout = number_or(said, "timeout", -1);
    asked.target = number_or(said, "target", -1);
    asked.hop_target = number_or(said, "hop_target", -1);
    asked.fs_range = number_or(said, "fs_range", -1);
    asked.fs_min_cwnd = number_or(said, "fs_min_cwnd", -1);
    asked.fs_max_cwnd = number_or(said, "fs_max_cwnd", -1);
    asked.mark_from = number_or(said, "mark_from", -1);
    asked.mark_to = number_or(said, "mark_to", -1);
    asked.mark_most = number_or(said, "mark_most", -1);
    asked.pause = number_or(said, "pause", -1);
    asked.credits = number_or(said, "credits", -1);
    asked.queue = number_or(said, "queue", -1);
    return asked;
}

static void refuse_unused(const PacketsSaid *said, const char *field, const PacketNetwork *network, bool is_used,
                          Problems *problems) {
    if (is_used || !packets_value(said, field)->given) return;
    problem_add(problems, packets_where(said, field), "%s has no %s", packet_transports[network->transport.id].name,
                field);
    problem_hint(problems, "leave it out, or choose another transport");
}

void packets_rules_check(const PacketsSaid *said, const PacketNetwork *network, Problems *problems) {
    const PacketTransport *usual = &packet_transports[network->transport.id].usual;
    const PacketSwitch *rules = &network->switches;
    refuse_unused(said, "window", network, usual->window_packets > 0, problems);
    refuse_unused(said, "target", network, usual->target_seconds > 0, problems);
    static const char *const scaling[] = {"hop_target", "fs_range", "fs_min_cwnd", "fs_max_cwnd"};
    for (int i = 0; i < COUNT_OF(scaling); i++)
        refuse_unused(said, scaling[i], network, usual->range_seconds > 0, problems);
    double packet = network->payload_bytes + network->header_bytes;
    if (rules->credit_bytes > 0 && rules->credit_bytes < packet) {
        problem_add(problems, packets_where(said, "credits"), "credits for %.0f bytes let no packet of %.0f go",
                    rules->credit_bytes, packet);
        problem_hint(problems, "make them more, or the payload smaller");
    }
    if (rules->mark_to_bytes >= rules->mark_from_bytes) return;
    problem_add(problems, packets_where(said, "mark_to"), "marks end at %.0f bytes, before they begin at %.0f",
                rules->mark_to_bytes, rules->mark_from_bytes);
    problem_hint(problems, "make mark_to at least mark_from");
}

void packets_rules_caution(Answer *answer, const PacketNetwork *network) {
    const PacketTransportRow *row = &packet_transports[network->transport.id];
    if (!row->in_order || network->switches.routing == PACKET_ECMP) return;
    answer_caution(answer,
                   "%s goes back where packets overtake each other, which they do by several ways: it is "
                   "used with ecmp",
                   row->name);
}

const char *packets_routing_name(const PacketNetwork *network) {
    return field_find(OBJECT_PACKETS, "routing")->names[network->switches.routing];
}

// ---- As options.
OptionSpec packets_option(Arena *arena, const Field *field) {
    OptionSpec row = field_option(arena, field);
    const char *usual = field->fallback;
    if (usual) usual += *usual == '"';
    if (usual) row.help = arena_printf(arena, "%s; %.*s", field->help, (int)strcspn(usual, "\""), usual);
    return row;
}

const OptionSpec *packets_rule_options(Arena *arena, int *count) {
    OptionSpec *rows = ARENA_ARRAY(arena, OptionSpec, COUNT_OF(rule_fields));
    for (int i = 0; i < COUNT_OF(rule_fields); i++)
        rows[i] = packets_option(arena, field_find(OBJECT_PACKETS, rule_fields[i]));
    *count = COUNT_OF(rule_fields);
    return rows;
}

PacketsSaid packets_rules_said(Arena *arena, const Options *options, Problems *problems) {
    FieldReader reader = {.arena = arena, .problems = problems};
    Value *values = ARENA_ARRAY(arena, Value, object_type(OBJECT_PACKETS)->field_count);
    for (int i = 0; i < COUNT_OF(rule_fields); i++) {
        const Field *field = field_find(OBJECT_PACKETS, rule_fields[i]);
        field_from_option(&reader, options, field, "packets", &values[field_index(OBJECT_PACKETS, field->name)]);
    }
    return (PacketsSaid){.values = values, .seed = 1};
}
