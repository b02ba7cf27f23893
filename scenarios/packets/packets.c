// A pattern of flows or a collective sent as packets: what is asked for, its run, and the answer of it.
#include "scenarios/packets/packets.h"

#include <math.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "results/answer/record_answer.h"
#include "scenarios/fields/fields.h"
#include "sim/base/statistics.h"
#include "sim/system/watch.h"

// ---- What is said of transports and switches.

static const char *const rule_fields[] = {"transport",  "payload",   "routing",     "queues",      "buffer",
                                          "loss",       "window",    "timeout",     "target",      "mark_from",
                                          "mark_to",    "mark_most", "pause",       "credits",     "queue",
                                          "hop_target", "fs_range",  "fs_min_cwnd", "fs_max_cwnd", "seed"};

static const Value *packets_value(const PacketsSaid *said, const char *field) {
    return &said->values[field_index(OBJECT_PACKETS, field)];
}

// of a field that is left out: the whole
static Where packets_where(const PacketsSaid *said, const char *field) {
    const Value *value = packets_value(said, field);
    return value->written ? value->where : said->where;
}

static double number_or(const PacketsSaid *said, const char *field, double unsaid) {
    const Value *value = packets_value(said, field);
    return value->given ? value->number : unsaid;
}

// What is asked for of transports and switches. `by_fabric`: transport and routing that are left out are as the fabric
// is used to.
static PacketAsked packets_asked(const PacketsSaid *said, bool by_fabric) {
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

// Of what does not fit to the transport, or to itself.
static void packets_rules_check(const PacketsSaid *said, const PacketNetwork *network, Problems *problems) {
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

#define FLOWS_MOST 1000000
#define PACKETS_MOST 6e7 // of a flow
#define BYTES_A_FLOW 410 // of memory, of one that nothing is sent on

// ---- What is asked.

typedef struct Asked {
    Arena *arena;
    const PacketsSaid *said;
    PacketsStudy *study;
    Problems *problems;
} Asked;

static const Value *value_of(const Asked *asked, const char *field) { return packets_value(asked->said, field); }
static double number_of(const Asked *asked, const char *field) { return value_of(asked, field)->number; }

static Where where_of(const Asked *asked, const char *field) { return packets_where(asked->said, field); }

static void refuse_beyond(const Asked *asked, Where where, double bytes) {
    if (ceil(bytes / asked->study->network.payload_bytes) <= PACKETS_MOST) return;
    problem_add(asked->problems, where, "a flow of more than 60,000,000 packets");
    problem_hint(asked->problems, "make it smaller, or the payload larger");
}

static void ask_numbers(const Asked *asked) {
    PacketsStudy *study = asked->study;
    study->hosts = study->leaf_hosts = (int)number_of(asked, "hosts");
    if (value_of(asked, "hosts_per_leaf")->given) {
        study->leaf_hosts = (int)number_of(asked, "hosts_per_leaf");
        if (study->hosts % study->leaf_hosts || study->hosts == study->leaf_hosts) {
            problem_add(asked->problems, where_of(asked, "hosts_per_leaf"),
                        "%d hosts do not fill two or more leaves of %d", study->hosts, study->leaf_hosts);
            problem_hint(asked->problems, "make the hosts a multiple of those of a leaf");
        }
    }
    PacketAsked rules = packets_asked(asked->said, false);
    packet_rules_begin(&rules, &study->network);
    refuse_beyond(asked, where_of(asked, "size"), number_of(asked, "size"));
}

static void set_switches(const Asked *asked) {
    const PacketsStudy *study = asked->study;
    double packet = study->network.payload_bytes + study->network.header_bytes, rate = number_of(asked, "rate");
    double latency = number_of(asked, "latency");
    int leaves = study->hosts / study->leaf_hosts, ports = study->hosts, hops = leaves > 1 ? 4 : 2;
    if (leaves > 1) ports = leaves > 2 * study->leaf_hosts ? leaves : 2 * study->leaf_hosts; // of a spine or a leaf
    PacketFacts facts = {.bytes_per_second = rate,
                         .latency_seconds = latency,
                         .bare_seconds = 2 * hops * latency + hops * packet / rate,
                         .cables = hops,
                         .ports = ports};
    PacketAsked rules = packets_asked(asked->said, false);
    packet_rules_end(&rules, &facts, &asked->study->network);
    packets_rules_check(asked->said, &asked->study->network, asked->problems);
}

static void lay_cables(const Asked *asked) {
    PacketNetwork *network = &asked->study->network;
    int hosts = asked->study->hosts, wide = asked->study->leaf_hosts, leaves = hosts / wide, count = 0;
    PacketCable *cables = ARENA_ARRAY(asked->arena, PacketCable, 2 * hosts);
    PacketCable cable = {0, 0, number_of(asked, "rate"), number_of(asked, "latency"), 0, 0, 0};
    for (int h = 0; h < hosts; h++) {
        cables[count] = cable;
        cables[count].a = h;
        cables[count++].b = hosts + h / wide;
    }
    for (int l = 0; l < leaves && leaves > 1; l++)
        for (int u = 0; u < wide; u++) {
            cables[count] = cable;
            cables[count].a = hosts + l;
            cables[count++].b = hosts + leaves + u;
        }
    network->host_count = hosts;
    network->switch_count = leaves > 1 ? leaves + wide : 1;
    network->cables = cables;
    network->cable_count = count;
}

// ---- Its flows.

static int flows_of_pattern(const PacketsStudy *study) {
    int n = study->hosts;
    const int counts[PACKETS_PATTERNS + 1] = {
        [PACKETS_INCAST] = n - 1, [PACKETS_PERMUTATION] = n, [PACKETS_ALL_TO_ALL] = n * (n - 1)};
    return counts[study->pattern];
}

static void lay_pattern(const PacketsStudy *study, int count, int64_t bytes) {
    int n = study->hosts, step = study->leaf_hosts < n ? study->leaf_hosts : 1; // to the same place on the next leaf
    for (int f = 0; f < count; f++) {
        PacketFlow *flow = &study->flows[f];
        *flow = (PacketFlow){f, n - 1, bytes, 0, 0};
        if (study->pattern == PACKETS_PERMUTATION) flow->to = (f + step) % n;
        if (study->pattern == PACKETS_ALL_TO_ALL) flow->from = f % n, flow->to = (f % n + 1 + f / n) % n;
    }
}

static PacketFlow flow_said(const Asked *asked, const PacketsFlowSaid *said, double usual_bytes) {
    const Value *from = &said->values[field_index(OBJECT_PACKETS_FLOW, "from")],
                *to = &said->values[field_index(OBJECT_PACKETS_FLOW, "to")],
                *bytes = &said->values[field_index(OBJECT_PACKETS_FLOW, "bytes")],
                *start = &said->values[field_index(OBJECT_PACKETS_FLOW, "start")];
    const Value *beyond = from->number >= asked->study->hosts ? from : to->number >= asked->study->hosts ? to : NULL;
    if (beyond) {
        problem_add(asked->problems, beyond->where, "there is no host %.0f: they are 0 to %d", beyond->number,
                    asked->study->hosts - 1);
        problem_hint(asked->problems, "raise hosts, or name another");
    } else if (from->number == to->number) {
        problem_add(asked->problems, said->where, "a flow from host %.0f to itself", from->number);
        problem_hint(asked->problems, "flows go from one host to another");
    }
    double size = floor(bytes->given ? bytes->number : usual_bytes);
    refuse_beyond(asked, bytes->given ? bytes->where : said->where, size);
    int32_t lane = (int32_t)said->values[field_index(OBJECT_PACKETS_FLOW, "lane")].number;
    return (PacketFlow){(int32_t)from->number, (int32_t)to->number, (int64_t)size, step_ticks(start->number), lane};
}

static void lay_flows(const Asked *asked) {
    PacketsStudy *study = asked->study;
    double size = floor(number_of(asked, "size"));
    if (study->pattern == PACKETS_ALL_TO_ALL && flows_of_pattern(study) > FLOWS_MOST) {
        problem_add(asked->problems, where_of(asked, "hosts"), "all_to_all of %d hosts has more than %d flows",
                    study->hosts, FLOWS_MOST);
        problem_hint(asked->problems, "ask for at most 1000 hosts");
        return;
    }
    int count = flows_of_pattern(study);
    study->flows = ARENA_ARRAY(asked->arena, PacketFlow, count + asked->said->flow_count);
    lay_pattern(study, count, (int64_t)size);
    for (int i = 0; i < asked->said->flow_count; i++)
        study->flows[count + i] = flow_said(asked, &asked->said->flows[i], size);
    study->flow_count = count + asked->said->flow_count;
}

// ---- A collective in place of flows.
static void refuse_beside(const Asked *asked) {
    static const char *const fields[] = {"pattern", "hosts", "hosts_per_leaf", "rate", "latency", "each_flow"};
    for (int i = 0; i < COUNT_OF(fields); i++) {
        if (!value_of(asked, fields[i])->written) continue;
        problem_add(asked->problems, where_of(asked, fields[i]),
                    "%s belongs to flows, and a collective has its cluster", fields[i]);
        problem_hint(asked->problems, "leave it out");
    }
    if (asked->said->flow_count == 0) return;
    problem_add(asked->problems, asked->said->where, "sim.packets takes a collective or flows");
    problem_hint(asked->problems, "leave one of them out");
}

static bool ask_collective(const Asked *asked) {
    PacketsStudy *study = asked->study;
    CollectiveRequest *request = &study->request;
    const Cluster *cluster = study->cluster = asked->said->cluster;
    const char *name = value_of(asked, "collective")->text, *why, *remedy;
    int before = problems_added(asked->problems), *ranks;
    refuse_beside(asked);
    if (!collective_op_from_name(name, &request->op)) {
        problem_add(asked->problems, where_of(asked, "collective"), "no collective is called \"%.40s\"", name);
        problem_hint(asked->problems, "for example all_reduce, all_gather, all_to_all");
    }
    if (!cluster) {
        problem_add(asked->problems, asked->said->where, "a collective needs a cluster");
        problem_hint(asked->problems, "say on = sim.cluster { … }");
    }
    if (problems_added(asked->problems) > before) return false;
    ranks = ARENA_ARRAY(asked->arena, int, cluster->gpu_count);
    for (int i = 0; i < cluster->gpu_count; i++) ranks[i] = i;
    *request = (CollectiveRequest){.op = request->op,
                                   .ranks = ranks,
                                   .rank_count = cluster->gpu_count,
                                   .bytes = floor(number_of(asked, "size")),
                                   .algorithm = value_of(asked, "algorithm")->text,
                                   .shift = request->op == COLLECTIVE_SEND_RECV};
    Arena *scratch = arena_open();
    bool possible = flow_plan(scratch, cluster->network, request, &why, &remedy);
    if (!possible) problem_add(asked->problems, where_of(asked, "collective"), "%s", why);
    if (!possible) problem_hint(asked->problems, "%s", remedy);
    arena_close(scratch);
    return possible;
}

static bool run_collective(Arena *arena, const PacketsStudy *study, PacketsOutcome *outcome, Problems *problems) {
    const char *why, *remedy;
    const FlowPlan *plan = flow_plan(arena, study->cluster->network, &study->request, &why, &remedy);
    FlowEstimate estimate = flow_estimate(plan);
    if (!watch_allows_operations(estimate.ops, estimate.bytes, "the messages of the collective",
                                 "ask for smaller sizes or fewer GPUs", study->where, problems))
        return false;
    if (!packets_of_collective(arena, study->said, plan, study->where, &outcome->network, &outcome->collective,
                               problems))
        return false;
    outcome->collective.sent.hottest = arena_copy_text(study->arena, outcome->collective.sent.hottest);
    return true;
}

static void answer_collective(Answer *answer, const PacketsStudy *study, const PacketsOutcome *outcome) {
    const FlowPacketResult *collective = &outcome->collective;
    const PacketNetwork *network = &outcome->network;
    answer_text(answer, "pattern", NULL, collective_op_name(study->request.op));
    answer_text(answer, "algorithm", NULL, collective->flow.algorithm);
    answer_text(answer, "transport", NULL, packet_transports[network->transport.id].name);
    answer_text(answer, "routing", NULL, packets_routing_name(network));
    answer_number(answer, "gpus", NULL, AS_WHOLE, study->cluster->gpu_count);
    answer_number(answer, "end_s", "It takes", AS_SECONDS, collective->flow.seconds);
    packets_carried_members(answer, &collective->sent);
    if (network->switch_count > 1) packets_rules_caution(answer, network);
    answer_seed(answer, network->seed);
    answer_digest(answer, collective->digest);
}

const PacketsStudy *packets_study_create(Arena *arena, const PacketsSaid *said, Problems *problems) {
    PacketsStudy *study = ARENA_NEW(arena, PacketsStudy);
    Asked asked = {arena, said, study, problems};
    const Value *pattern = value_of(&asked, "pattern"), *each = value_of(&asked, "each_flow");
    int before = problems_added(problems);
    *study = (PacketsStudy){.where = said->where,
                            .title = value_of(&asked, "title")->text,
                            .pattern = pattern->given ? pattern->choice : PACKETS_PATTERNS,
                            .each_flow = each->given ? each->flag : said->flow_count > 0};
    if (value_of(&asked, "collective")->given) {
        study->said = said;
        study->arena = arena;
        return ask_collective(&asked) ? study : NULL;
    }
    if (!pattern->given && said->flow_count == 0) {
        problem_add(problems, said->where, "sim.packets needs a pattern, flows or a collective");
        problem_hint(problems, "for example: pattern = \"incast\"");
    }
    ask_numbers(&asked);
    set_switches(&asked);
    if (problems_added(problems) > before) return NULL;
    lay_cables(&asked);
    lay_flows(&asked);
    return problems_added(problems) > before ? NULL : study;
}

// ---- Running.

static double packets_of(const PacketsStudy *study, const PacketFlow *flow) {
    return ceil((double)flow->bytes / study->network.payload_bytes);
}

static bool is_allowed(const PacketsStudy *study, Problems *problems) {
    double packets = 0;
    for (int f = 0; f < study->flow_count; f++) packets += packets_of(study, &study->flows[f]);
    double hops = packets * 2 * (study->leaf_hosts < study->hosts ? 4 : 2);
    double switches = study->network.switch_count;
    double memory = PACKET_WAY_MEMORY * switches * switches + (double)BYTES_A_FLOW * study->flow_count;
    return watch_allows(PACKET_EVENTS_A_HOP * hops, memory, "the packets of the pattern",
                        "ask for smaller flows or fewer hosts", study->where, problems);
}

bool packets_study_run(Arena *arena, const PacketsStudy *study, PacketsOutcome *outcome, Problems *problems) {
    const char *wrong = NULL;
    WatchPiece piece;
    PacketResult *result = &outcome->packets;
    if (study->cluster) return run_collective(arena, study, outcome, problems);
    if (!is_allowed(study, problems)) return false;
    watch_begin(&piece, "events of packets", 0, WATCH_EVENT);
    *result = packet_run(arena, &study->network, study->flows, study->flow_count, SIM_TIME_NEVER, &wrong);
    watch_end(&piece);
    if (wrong) problem_add(problems, study->where, "%s", wrong);
    if (!wrong && result->stopped) watch_tells(study->where, problems);
    return !wrong && !result->stopped;
}

// ---- The answer.

static double ideal_seconds(Arena *arena, const PacketsStudy *study) { // the fullest cable of a host
    double *bytes = ARENA_ARRAY(arena, double, 2 * study->hosts), most = 0;
    for (int f = 0; f < study->flow_count; f++) {
        const PacketFlow *flow = &study->flows[f];
        double wire = (double)flow->bytes + packets_of(study, flow) * study->network.header_bytes;
        bytes[2 * flow->from] += wire;
        bytes[2 * flow->to + 1] += wire;
    }
    for (int end = 0; end < 2 * study->hosts; end++) most = fmax(most, bytes[end]);
    return most / study->network.cables[0].bytes_per_second;
}

static double flow_seconds(const PacketsStudy *study, const PacketResult *result, int flow) {
    return step_seconds(result->flows[flow].end - study->flows[flow].start);
}

static void add_flows(Answer *answer, const PacketsStudy *study, const PacketResult *result) {
    static const AnswerColumn columns[] = {
        {"from", "from", AS_WHOLE, 0},         {"to", "to", AS_WHOLE, 0},         {"bytes", "payload", AS_BYTES, 0},
        {"start_s", "start", AS_SECONDS, 0},   {"fct_s", "takes", AS_SECONDS, 0}, {"resent", "sent again", AS_COUNT, 0},
        {"timeouts", "timeouts", AS_COUNT, 0},
    };
    answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, "completions", "Flow by flow", COLUMNS(columns));
    for (int f = 0; f < study->flow_count; f++) {
        const PacketFlow *flow = &study->flows[f];
        ANSWER_ROW(answer, flow->from, flow->to, (double)flow->bytes, step_seconds(flow->start),
                   flow_seconds(study, result, f), (double)result->flows[f].resent, (double)result->flows[f].timeouts);
    }
    answer_detail(answer, FOR_ALL);
}

PacketsFigures packets_figures(Arena *arena, const PacketsStudy *study, const PacketResult *result) {
    PacketsFigures figures = {.end = step_seconds(result->end)};
    double *seconds = ARENA_ARRAY(arena, double, study->flow_count), bytes = 0, sum = 0, squares = 0;
    for (int f = 0; f < study->flow_count; f++) {
        seconds[f] = flow_seconds(study, result, f);
        double rate = (double)study->flows[f].bytes / seconds[f];
        bytes += (double)study->flows[f].bytes;
        figures.sent.mean_seconds += seconds[f] / study->flow_count;
        sum += rate;
        squares += rate * rate;
    }
    figures.ideal = ideal_seconds(arena, study);
    figures.sent.p99_seconds = quantile(arena, seconds, study->flow_count, 0.99);
    figures.fairness = sum * sum / squares / study->flow_count;
    figures.goodput = bytes / figures.end;
    packets_count(&figures.sent, result, study->network.cable_count, study->flow_count, figures.end);
    return figures;
}

static void answer_flows(Arena *arena, Answer *answer, const PacketsStudy *study, const PacketResult *result) {
    const PacketNetwork *network = &study->network;
    PacketsFigures found = packets_figures(arena, study, result);
    answer_text(answer, "pattern", NULL,
                study->pattern < PACKETS_PATTERNS ? packets_patterns[study->pattern] : "flows");
    answer_text(answer, "transport", NULL, packet_transports[network->transport.id].name);
    answer_text(answer, "routing", NULL, packets_routing_name(network));
    answer_number(answer, "hosts", NULL, AS_WHOLE, study->hosts);
    answer_number(answer, "flows", "Flows", AS_COUNT, study->flow_count);
    answer_number(answer, "end_s", "All have arrived after", AS_SECONDS, found.end);
    answer_number(answer, "ideal_s", "The fullest host cable alone takes", AS_SECONDS, found.ideal);
    answer_number(answer, "fct_mean_s", "A flow takes", AS_SECONDS, found.sent.mean_seconds);
    answer_number(answer, "fct_p99_s", "The slowest in a hundred", AS_SECONDS, found.sent.p99_seconds);
    answer_number(answer, "fairness", "Fairness of rates (Jain)", AS_NUMBER, found.fairness);
    answer_number(answer, "goodput_bytes_per_s", "Payload, all flows", AS_BANDWIDTH, found.goodput);
    packets_counted_members(answer, &found.sent);
    answer_number(answer, "packet_hops", NULL, AS_WHOLE, (double)result->hops);
    if (study->each_flow) add_flows(answer, study, result);
    if (study->leaf_hosts < study->hosts) packets_rules_caution(answer, network);
    answer_seed(answer, network->seed);
    answer_digest(answer, result->digest);
}

void packets_study_answer(Arena *arena, Answer *answer, const PacketsStudy *study, const PacketsOutcome *outcome) {
    answer_rename(answer, "packets");
    if (study->title) answer_title(answer, study->title);
    if (study->title) answer_say(answer, NULL, "%s", study->title);
    if (!study->each_flow) answer_one_row(answer);
    if (study->cluster)
        answer_collective(answer, study, outcome);
    else
        answer_flows(arena, answer, study, &outcome->packets);
}
