#include "scenarios/packets/packets_rules.h"

#include <math.h>
#include <string.h>

#include "models/workload/job/job_options.h"
#include "scenarios/fields/fields.h"

#define HEADER_BYTES 62   // Ethernet, IP, UDP, RoCE, gap and preamble, about
#define CONTROL_BYTES 84  // the smallest frame, with gap and preamble
#define LINE_SECONDS 8e-6 // of the line may wait before a mark, assumed: about the bare round trip of two tiers
#define MARKS_MOST 0.2    // DCQCN's Pmax, as HPCC's public configuration has it (Li et al. 2019)
#define TRIMMED_QUEUE 8   // packets (Handley et al. 2017)

static const char *const rule_fields[] = {"transport", "payload", "routing",   "buffer", "window", "timeout", "target",
                                          "mark_from", "mark_to", "mark_most", "pause",  "queue",  "seed"};

const Value *packets_value(const PacketsSaid *said, const char *field) {
    return &said->values[field_index(OBJECT_PACKETS, field)];
}

Where packets_where(const PacketsSaid *said, const char *field) {
    const Value *value = packets_value(said, field);
    return value->written ? value->where : said->where;
}

static double number_of(const PacketsSaid *said, const char *field) { return packets_value(said, field)->number; }

void packets_rules_begin(const PacketsSaid *said, PacketNetwork *network) {
    const Value *seed = packets_value(said, "seed");
    network->payload_bytes = (int)number_of(said, "payload");
    network->header_bytes = HEADER_BYTES;
    network->control_bytes = CONTROL_BYTES;
    network->seed = seed->given ? seed->seed : said->seed;
    network->switches.buffer_bytes = number_of(said, "buffer");
    network->switches.routing = (PacketRouting)packets_value(said, "routing")->choice;
    network->transport = packet_transports[packets_value(said, "transport")->choice].usual;
}

// Where it is said, in place of what is usual.
static double said_or(const PacketsSaid *said, const char *field, double usual) {
    return packets_value(said, field)->given ? number_of(said, field) : usual;
}

static void refuse_unused(const PacketsSaid *said, const char *field, const PacketNetwork *network, bool is_used,
                          Problems *problems) {
    if (is_used || !packets_value(said, field)->given) return;
    problem_add(problems, packets_where(said, field), "%s has no %s", packet_transports[network->transport.id].name,
                field);
    problem_hint(problems, "leave it out, or choose another transport");
}

static void set_marks(const PacketsSaid *said, PacketNetwork *network, double rate, double packet, Problems *problems) {
    static const char *const fields[] = {"mark_from", "mark_to", "mark_most"};
    PacketSwitch *rules = &network->switches;
    PacketTransportId id = network->transport.id;
    bool pauses = packet_transports[id].pauses, is_said = false;
    for (int i = 0; i < COUNT_OF(fields); i++) is_said = is_said || packets_value(said, fields[i])->given;
    if (id != PACKET_DCTCP && id != PACKET_DCQCN && !is_said) return;
    rules->mark_from_bytes = said_or(said, "mark_from", fmax(rate * LINE_SECONDS, 2 * packet));
    rules->mark_to_bytes = said_or(said, "mark_to", rules->mark_from_bytes * (pauses ? 4 : 1));
    rules->mark_most = said_or(said, "mark_most", pauses ? MARKS_MOST : 1);
    if (rules->mark_to_bytes >= rules->mark_from_bytes) return;
    problem_add(problems, packets_where(said, "mark_to"), "marks end at %.0f bytes, before they begin at %.0f",
                rules->mark_to_bytes, rules->mark_from_bytes);
    problem_hint(problems, "make mark_to at least mark_from");
}

static double usual_target(const PacketTransport *transport, double bare) {
    if (transport->id == PACKET_HPCC) return bare;
    return transport->id == PACKET_TIMELY ? fmax(transport->target_seconds, 2 * bare) : 2 * bare;
}

void packets_rules_end(const PacketsSaid *said, const PacketFacts *facts, PacketNetwork *network, Problems *problems) {
    const PacketTransportRow *row = &packet_transports[network->transport.id];
    PacketTransport *transport = &network->transport;
    PacketSwitch *rules = &network->switches;
    double packet = network->payload_bytes + network->header_bytes, rate = facts->bytes_per_second;
    rules->alpha = 1;
    set_marks(said, network, rate, packet, problems);
    // What comes after the pause was sent needs room: the rest is divided among all ports.
    rules->trim = transport->id == PACKET_NDP;
    if (row->pauses || (facts->lossless && !rules->trim))
        rules->pause_bytes =
            fmax(rules->buffer_bytes / facts->ports - 2 * rate * facts->latency_seconds - 3 * packet, 2 * packet);
    rules->pause_bytes = said_or(said, "pause", rules->pause_bytes);
    rules->queue_bytes = said_or(said, "queue", rules->trim ? TRIMMED_QUEUE * packet : 0);
    double product = ceil(facts->bare_seconds * rate / packet);
    if (transport->id == PACKET_WINDOW || transport->id == PACKET_NDP) transport->window_packets = product;
    if (facts->warm && transport->window_packets > 0)
        transport->window_packets = fmax(transport->window_packets, product);
    refuse_unused(said, "window", network, transport->window_packets > 0, problems);
    refuse_unused(said, "target", network, transport->target_seconds > 0, problems);
    transport->window_packets = said_or(said, "window", transport->window_packets);
    transport->timeout_least = said_or(said, "timeout", transport->timeout_least);
    transport->target_seconds = said_or(said, "target", usual_target(transport, facts->bare_seconds));
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
