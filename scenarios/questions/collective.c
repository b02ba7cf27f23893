// lockstep collective: nccl-tests' table for a cluster of the catalogue, the limit of each row, and the same packet by
// packet.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "results/answer/frame.h"
#include "scenarios/questions/collective_asked.h"
#include "sim/base/digest.h"
#include "sim/system/watch.h"

// ---- Packet by packet.

#define ALIKE 0.03 // is no difference

// False after a problem. The answer's texts are in the arena of `asked`.
static bool collective_as_packets(Arena *arena, const CollectiveAsked *asked, const PacketsSaid *said,
                                  const FlowPlan *plan, CollectiveSides *sides) {
    FlowPacketResult *packets = &sides->packets;
    if (!packets_of_collective(arena, said, plan, (Where){0}, &sides->network, packets, asked->problems)) return false;
    packets->sent.hottest = arena_copy_text(asked->arena, packets->sent.hottest);
    sides->packet = packets->flow.seconds;
    return true;
}

// Options of packets without packets are a problem.
static void collective_refuse_packets(const CollectiveAsked *asked, const Options *options) {
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

static void collective_packets_answer(Answer *answer, const CollectiveSides *sides, int count, bool all) {
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

// ---- The question.

#define ELEMENT_BYTES 4 // nccl-tests' float
#define MOST_TOLERANCE 0.01

static const char *const fidelity_names[] = {"fluid", "flow", "packet", "all"};

static const OptionSpec own_rows[] = {
    {"begin", OPTION_TEXT, "SIZE", .of = OF_QUESTION, .help = "first size; 8", .letter = 'b'},
    {"end", OPTION_TEXT, "SIZE", .of = OF_QUESTION, .help = "last size; 8G", .letter = 'e'},
    {"factor", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "each size times the one before; 2", .letter = 'f',
     .quantity = QUANTITY_NUMBER},
    {"fidelity", OPTION_CHOICE, .of = OF_QUESTION,
     .help = "fluid: all of it at once; flow: message by message; packet: packet by packet between nodes; all: these "
             "side by side; fluid",
     .choices = fidelity_names, .choice_count = COUNT_OF(fidelity_names)},
    {"steps", OPTION_TEXT, "FILE.lua", .of = OF_QUESTION,
     .help = "an algorithm of your own: what each rank sends and receives, by step"},
    {"tolerance", OPTION_QUANTITY, "SHARE", .of = OF_QUESTION,
     .help = "message by message, of 4096 messages or more: a link may be so much too full or too empty before it is "
             "shared out anew, at most 1 %; 0",
     .quantity = QUANTITY_NUMBER},
    WALL_OPTION,
};

static const char usage[] =
    "lockstep collective OP --node NAME [--nodes N --fabric NAME] [--sizes 8:8G:2] [--algo NAME]";
static const char about[] =
    "Prints nccl-tests' columns for a simulated cluster, with algorithm, protocol, channels, and the\n"
    "link that limits (\"latency\" where none does, \"host sockets\" where TCP's processor does). Sizes are whole "
    "arrays as nccl-tests counts them.\n"
    "Exit codes: 0 done, 2 usage, 4 bad input or beyond a limit, 130 interrupted.";

// ---- What comes out.

typedef struct CollectiveRow {
    double bytes, seconds, low, high, algorithm_rate, bus_rate; // nine times in ten it takes low to high seconds
    CollectivePlan plan;
    const char *limited_by;
    double tolerance;
    CollectiveSides sides; // where there are packets
} CollectiveRow;

// nccl-tests' factor from algorithm to bus bandwidth (its doc/PERFORMANCE.md).
static double bus_factor(CollectiveOp op, int ranks) {
    switch (op) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (ranks - 1.0) / ranks;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER:
        return (ranks - 1.0) / ranks;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_OP_COUNT:
        break;
    }
    return 1;
}

static bool reduces(CollectiveOp op) {
    return op == COLLECTIVE_ALL_REDUCE || op == COLLECTIVE_REDUCE || op == COLLECTIVE_REDUCE_SCATTER;
}

// nccl-tests counts elements of one rank's part where the parts are spread.
static double count_of(CollectiveOp op, int ranks, double bytes) {
    bool parts = op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_REDUCE_SCATTER || op == COLLECTIVE_ALL_TO_ALL ||
                 op == COLLECTIVE_GATHER || op == COLLECTIVE_SCATTER;
    return floor(bytes / ELEMENT_BYTES / (parts ? ranks : 1));
}

// False after a problem.
static bool read_steps(const CollectiveAsked *asked, Arena *scratch, CollectiveRequest *request) {
    const NodeType *node = asked->cluster->node_of[0];
    int per_node = node->gpu_count < request->rank_count ? node->gpu_count : request->rank_count;
    if (!asked->steps) return true;
    request->steps = lua_steps_read(asked->steps, scratch, request->rank_count, per_node, request->bytes);
    return request->steps != NULL;
}

static bool is_allowed(const CollectiveAsked *asked, Arena *scratch, double operations, double bytes) {
    const char *what = arena_printf(scratch, "%s of %d GPUs message by message", collective_op_name(asked->request.op),
                                    asked->request.rank_count);
    return watch_allows_operations(operations, bytes, what, "use fidelity fluid, or fewer GPUs", (Where){0},
                                   asked->problems);
}

static void add_fluid(const CollectiveAsked *asked, const CollectiveRequest *request, const char *algorithm,
                      CollectiveSides *sides) {
    CollectivePlan plan = collective_plan(asked->arena, asked->cluster->network, request);
    if (asked->steps || !collective_is_as_asked(request, &plan)) return;
    sides->fluid = plan.alone_seconds;
    sides->other_algorithm = !collective_is_direct(request->op) && strcmp(plan.algorithm, algorithm) != 0;
}

// False when it is stopped or not allowed.
static bool compute_flows(const CollectiveAsked *asked, Arena *scratch, const FlowPlan *plan, FlowResult *result) {
    FlowSystem flows = flow_system(scratch, plan);
    if (flows.stopped) return false;
    flow_fold(scratch, &flows);
    double operations = system_op_count(&flows.folded), bytes = run_bytes(&flows.folded);
    if (watch_is_over() || !is_allowed(asked, scratch, operations, bytes)) return false;
    *result = flow_run(scratch, plan, &flows, true);
    return !result->stopped;
}

static bool compute_messages(const CollectiveAsked *asked, Arena *scratch, const CollectiveRequest *request,
                             const PacketsSaid *packets, CollectiveRow *row, FlowResult *result) {
    const FlowPlan *plan = collective_messages(scratch, asked, request, NULL);
    FlowEstimate estimate = flow_estimate(plan);
    row->sides = (CollectiveSides){.bytes = request->bytes, .fluid = NAN, .flow = NAN};
    if (!is_allowed(asked, scratch, estimate.ops, estimate.bytes)) return false;
    if (asked->fidelity != AS_PACKETS && !compute_flows(asked, scratch, plan, result)) return false;
    if (asked->fidelity < AS_PACKETS) return true;
    if (asked->fidelity == AS_ALL) {
        add_fluid(asked, request, result->algorithm, &row->sides);
        row->sides.flow = result->seconds;
        row->sides.messages = result->message_count;
    }
    if (!collective_as_packets(scratch, asked, packets, plan, &row->sides)) return false;
    *result = row->sides.packets.flow;
    return true;
}

static void compute_row(const CollectiveAsked *asked, CollectiveRequest *request, const PacketsSaid *packets,
                        CollectiveRow *row) {
    if (!asked->by_messages) {
        row->plan = collective_plan(asked->arena, asked->cluster->network, request);
        row->limited_by = collective_limit(asked, &row->plan);
        return;
    }
    Arena *scratch = arena_open();
    FlowResult result;
    if (!read_steps(asked, scratch, request)) {
        arena_close(scratch);
        return;
    }
    if (!compute_messages(asked, scratch, request, packets, row, &result)) {
        watch_tells((Where){0}, asked->problems);
        arena_close(scratch);
        return;
    }
    row->plan = (CollectivePlan){.alone_seconds = result.seconds,
                                 .algorithm = asked->steps ? "written" : result.algorithm,
                                 .protocol = result.protocol,
                                 .channels = result.channels};
    if (isinf(result.seconds)) {
        problem_add(asked->problems, (Where){0},
                    "%.0f bytes take longer than 106 days of simulated time, the most its clock holds", request->bytes);
        problem_hint(asked->problems, "ask for smaller sizes, or for a faster fabric");
    }
    row->tolerance = result.tolerance;
    row->limited_by = result.limited_by ? arena_copy_text(asked->arena, result.limited_by) : "latency";
    arena_close(scratch);
}

static double size_count(const CollectiveAsked *asked) {
    double count = floor(log(asked->last / asked->first * (1 + 1e-9)) / log(asked->factor)) + 1;
    return asked->request.op == COLLECTIVE_BARRIER ? 1 : fmin(count, COLLECTIVE_SIZES);
}

static int compute_rows(CollectiveAsked *asked, const PacketsSaid *packets, CollectiveRow *rows) {
    int count = 0;
    CollectiveRequest request = asked->request;
    WatchPiece piece;
    watch_begin(&piece, "the sizes", size_count(asked), WATCH_NO_LIMIT);
    for (double bytes = asked->first; bytes <= asked->last * (1 + 1e-9) && count < COLLECTIVE_SIZES;
         bytes *= asked->factor) {
        request.bytes = floor(bytes + 0.5);
        CollectiveRow *row = &rows[count++];
        request.pair_bytes = collective_pairs(asked, request.bytes);
        compute_row(asked, &request, packets, row);
        collective_refuse_another(asked, &row->plan);
        if (problem_count(asked->problems) || !watch_goes_on(1)) break;
        row->bytes = request.bytes;
        row->seconds = row->plan.alone_seconds;
        double spread = collective_spread(asked->cluster->network, &request, asked->assumed, asked->assumed_count);
        row->low = row->seconds * exp(-RANGE_90 * spread);
        row->high = row->seconds * exp(RANGE_90 * spread);
        row->algorithm_rate = row->bytes / row->seconds;
        row->bus_rate = row->algorithm_rate * bus_factor(request.op, request.rank_count);
        if (request.op == COLLECTIVE_BARRIER) break;
    }
    watch_end(&piece);
    if (!watch_stopped()) return count;
    count--; // the one that was under way
    if (count == 0 || !watch_tells_part((Where){0}, asked->problems)) watch_tells((Where){0}, asked->problems);
    return count;
}

// ---- The answer.

static const char *how(const CollectiveAsked *asked) {
    if (!asked->by_messages) return "";
    return asked->fidelity < AS_PACKETS ? " message by message" : " packet by packet";
}

// As nccl-tests prints it.
static const char *table_of(const CollectiveAsked *asked, const CollectiveRow *rows, int count, bool with_range) {
    const CollectiveRequest *request = &asked->request;
    const char *redop = reduces(request->op) ? "sum" : "none";
    bool rooted = request->op == COLLECTIVE_BROADCAST || request->op == COLLECTIVE_REDUCE ||
                  request->op == COLLECTIVE_GATHER || request->op == COLLECTIVE_SCATTER;
    const char *text =
        arena_printf(asked->arena,
                     "# %s over %s on %d GPUs of %d node%s, simulated%s\n"
                     "# %10s %12s %8s %6s %5s %10s%s %8s %8s  %-18s %-7s %3s  %s\n"
                     "# %10s %12s %8s %6s %5s %10s%s %8s %8s\n",
                     collective_op_name(request->op), backend_name(request->backend), asked->cluster->gpu_count,
                     asked->cluster->node_count, asked->cluster->node_count == 1 ? "" : "s", how(asked), "size",
                     "count", "type", "redop", "root", "time", with_range ? "    time p5   time p95" : "", "algbw",
                     "busbw", "algorithm", "proto", "ch", "limited by", "(B)", "(elements)", "", "", "", "(us)",
                     with_range ? "       (us)       (us)" : "", "(GB/s)", "(GB/s)");
    for (int i = 0; i < count; i++) {
        const CollectiveRow *row = &rows[i];
        char range[32] = "";
        if (with_range) snprintf(range, sizeof range, " %10.2f %10.2f", 1e6 * row->low, 1e6 * row->high);
        text = arena_printf(asked->arena, "%s%12.0f %12.0f %8s %6s %5d %10.2f%s %8.2f %8.2f  %-18s %-7s %3d  %s\n",
                            text, row->bytes, count_of(request->op, request->rank_count, row->bytes), "float", redop,
                            rooted ? 0 : -1, 1e6 * row->seconds, range, row->algorithm_rate / 1e9, row->bus_rate / 1e9,
                            row->plan.algorithm,
                            row->plan.protocol == PROTOCOL_COUNT ? "-" : protocol_names[row->plan.protocol],
                            row->plan.channels, row->limited_by);
    }
    return with_range ? text : arena_printf(asked->arena, "%s# -v: between which times each lies\n", text);
}

static void add_rows(Answer *answer, const CollectiveRow *rows, int count) {
    static const AnswerColumn columns[] = {
        {"size", NULL, AS_WHOLE, 0},
        {"time_us", NULL, AS_NUMBER, 0},
        {"algbw_gb_per_s", NULL, AS_NUMBER, 0},
        {"busbw_gb_per_s", NULL, AS_NUMBER, 0},
        {"algorithm", NULL, AS_TEXT, 0},
        {"protocol", NULL, AS_TEXT, 0},
        {"channels", NULL, AS_WHOLE, 0},
        {"limited_by", NULL, AS_TEXT, 0},
        {"time_us_p5", NULL, AS_NUMBER, 0},
        {"time_us_p95", NULL, AS_NUMBER, 0},
    };
    answer_table(answer, "results", NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < count; i++) {
        const double figures[] = {rows[i].bytes, 1e6 * rows[i].seconds, rows[i].algorithm_rate / 1e9,
                                  rows[i].bus_rate / 1e9};
        for (int c = 0; c < COUNT_OF(figures); c++) answer_cell(answer, answer_of(columns[c].unit, figures[c]));
        ANSWER_CELLS(answer, rows[i].plan.algorithm, protocol_names[rows[i].plan.protocol],
                     answer_of(AS_WHOLE, rows[i].plan.channels), rows[i].limited_by,
                     answer_of(AS_NUMBER, 1e6 * rows[i].low), answer_of(AS_NUMBER, 1e6 * rows[i].high));
    }
}

static void collective_answer(Answer *answer, const CollectiveAsked *asked, const CollectiveRow *rows, int count,
                              bool verbose) {
    answer_text(answer, "op", NULL, collective_op_name(asked->request.op));
    answer_text(answer, "backend", NULL, backend_name(asked->request.backend));
    answer_number(answer, "gpus", NULL, AS_WHOLE, asked->cluster->gpu_count);
    answer_number(answer, "nodes", NULL, AS_WHOLE, asked->cluster->node_count);
    answer_verbatim(answer, table_of(asked, rows, count, verbose));
    add_rows(answer, rows, count);
    if (asked->fidelity >= AS_PACKETS && count > 0) {
        CollectiveSides *sides = ARENA_ARRAY(asked->arena, CollectiveSides, count);
        for (int i = 0; i < count; i++) sides[i] = rows[i].sides;
        collective_packets_answer(answer, sides, count, asked->fidelity == AS_ALL);
    }
    double tolerance = 0;
    for (int i = 0; i < count; i++) tolerance = fmax(tolerance, rows[i].tolerance);
    if (tolerance > 0)
        answer_caution(answer,
                       "Links are shared to within %g %% of their rates (--tolerance): times are about as exact",
                       100 * tolerance);
}

static void ask_tolerance(CollectiveAsked *asked, const Options *options) {
    double tolerance = asked->request.tolerance = option_quantity(options, "tolerance", 0);
    if (!option_given(options, "tolerance")) return;
    if (!(tolerance >= 0 && tolerance <= MOST_TOLERANCE))
        problem_add(asked->problems, (Where){0}, "--tolerance is a share of a link's rate, from 0 to 1 %%");
    if (!asked->by_messages) {
        problem_add(asked->problems, (Where){0},
                    "--tolerance belongs to messages, of which a whole collective has none");
        problem_hint(asked->problems, "add --fidelity flow");
    }
}

static int ask(Asking *asking) {
    CollectiveAsked asked = {.arena = asking->arena, .problems = asking->problems};
    collective_ask(&asked, asking->options);
    ask_tolerance(&asked, asking->options);
    collective_refuse_packets(&asked, asking->options);
    PacketsSaid packets = packets_rules_said(asking->arena, asking->options, asking->problems);
    if (problem_count(asking->problems)) return EXIT_USAGE;
    collective_build(&asked, asking->options);
    CollectiveRow *rows = ARENA_ARRAY(asking->arena, CollectiveRow, COLLECTIVE_SIZES);
    int count = problem_count(asking->problems) ? 0 : compute_rows(&asked, &packets, rows);
    if (asked.steps) lua_steps_close(asked.steps);
    asking->part = count > 0 && watch_stopped() == WATCH_SIGNAL;
    if (problem_count(asking->problems) && !asking->part) return watch_status(EXIT_BAD_INPUT);
    collective_answer(asking->answer, &asked, rows, count, option_flag(asking->options, "verbose"));
    return asking->part ? watch_status(EXIT_DONE) : EXIT_DONE;
}

static const OptionSpec *rows(Arena *arena, int *count) {
    int packet_count, own_count;
    const OptionSpec *packets = packets_rule_options(arena, &packet_count);
    const OptionSpec *own = options_join(arena, own_rows, COUNT_OF(own_rows), packets, packet_count, &own_count);
    return options_join(arena, collective_rows, collective_row_count, own, own_count, count);
}

static const Question collective = {
    .name = "collective", .usage = usage, .about = about, .rows = rows, .positional = 1, .ask = ask};

const OptionSpec *collective_option_rows(Arena *arena, int *count);
const OptionSpec *collective_option_rows(Arena *arena, int *count) { return frame_rows(arena, &collective, count); }

int command_collective(int argc, char **argv) { return frame_run(&collective, argc, argv); }
