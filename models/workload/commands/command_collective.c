// lockstep collective: nccl-tests' table for a cluster of the catalogue, and what decides each row.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/commands/collective_asked.h"
#include "models/workload/commands/command_internal.h"
#include "sim/csv.h"
#include "sim/envelope.h"
#include "sim/watch.h"

#define ELEMENT_BYTES 4 // nccl-tests' float

static const char *const fidelity_names[] = {"fluid", "flow"};

static const OptionSpec own_rows[] = {
    {"begin", OPTION_TEXT, "SIZE", .of = OF_QUESTION, .help = "first size; 8", .letter = 'b'},
    {"end", OPTION_TEXT, "SIZE", .of = OF_QUESTION, .help = "last size; 8G", .letter = 'e'},
    {"factor", OPTION_QUANTITY, "N", .of = OF_QUESTION, .help = "each size times the one before; 2", .letter = 'f',
     .quantity = QUANTITY_NUMBER},
    {"fidelity", OPTION_CHOICE, .of = OF_QUESTION, .help = "fluid: all of it at once; flow: message by message; fluid",
     .choices = fidelity_names, .choice_count = COUNT_OF(fidelity_names)},
    {"steps", OPTION_TEXT, "FILE.lua", .of = OF_QUESTION,
     .help = "an algorithm of your own: what each rank sends and receives, by step"},
    {"verbose", OPTION_FLAG, .of = OF_QUESTION, .help = "also the times between which it lies nine times in ten",
     .letter = 'v'},
    {"csv", OPTION_FLAG, .of = OF_FORM, .help = "print CSV instead of a table"},
    WALL_OPTION,
};

static const char usage[] =
    "lockstep collective OP --node NAME [--nodes N --fabric NAME] [--sizes 8:8G:2] [--algo NAME]";
static const char about[] =
    "Prints nccl-tests' columns for a simulated cluster, with algorithm, protocol, channels, and the\n"
    "link that limits (\"latency\" where none does). Sizes are whole arrays as nccl-tests counts them.\n"
    "Exit codes: 0 done, 2 usage, 4 bad input or beyond a limit, 130 interrupted.";

// ---- What comes out.
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
    request->steps = asked->source->read(asked->steps, scratch, request->rank_count, per_node, request->bytes);
    return request->steps != NULL;
}

static bool is_allowed(const CollectiveAsked *asked, Arena *scratch, const FlowPlan *plan) {
    FlowEstimate estimate = flow_estimate(plan);
    const char *what = arena_printf(scratch, "%s of %d GPUs message by message", collective_op_name(asked->request.op),
                                    asked->request.rank_count);
    return watch_allows_operations(estimate.ops, estimate.bytes, what, "use fidelity fluid, or fewer GPUs", (Where){0},
                                   asked->problems);
}

static void compute_row(const CollectiveAsked *asked, CollectiveRequest *request, CollectiveRow *row) {
    if (!asked->by_messages) {
        row->plan = collective_plan(asked->arena, asked->cluster->network, request);
        row->limited_by = collective_limit(asked, &row->plan);
        return;
    }
    Arena *scratch = arena_open();
    if (!read_steps(asked, scratch, request)) {
        arena_close(scratch);
        return;
    }
    const FlowPlan *plan = collective_messages(scratch, asked, request, NULL);
    FlowSystem flows = {.stopped = true};
    FlowResult result = {.stopped = true};
    if (is_allowed(asked, scratch, plan)) flows = flow_system(scratch, plan);
    if (!flows.stopped) result = flow_run(scratch, plan, &flows, true);
    if (result.stopped) {
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
    row->limited_by = result.limited_by ? arena_copy_text(asked->arena, result.limited_by) : "latency";
    arena_close(scratch);
}

static double size_count(const CollectiveAsked *asked) {
    double count = floor(log(asked->last / asked->first * (1 + 1e-9)) / log(asked->factor)) + 1;
    return asked->request.op == COLLECTIVE_BARRIER ? 1 : fmin(count, COLLECTIVE_SIZES);
}

static int compute_rows(CollectiveAsked *asked, CollectiveRow *rows) {
    int count = 0;
    CollectiveRequest request = asked->request;
    WatchPiece piece;
    watch_begin(&piece, "the sizes", size_count(asked), WATCH_NO_LIMIT);
    for (double bytes = asked->first; bytes <= asked->last * (1 + 1e-9) && count < COLLECTIVE_SIZES;
         bytes *= asked->factor) {
        request.bytes = floor(bytes + 0.5);
        CollectiveRow *row = &rows[count++];
        request.pair_bytes = collective_pairs(asked, request.bytes);
        compute_row(asked, &request, row);
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

static void print_table(const CollectiveAsked *asked, const CollectiveRow *rows, int count) {
    const CollectiveRequest *request = &asked->request;
    const char *redop = reduces(request->op) ? "sum" : "none";
    bool rooted = request->op == COLLECTIVE_BROADCAST || request->op == COLLECTIVE_REDUCE ||
                  request->op == COLLECTIVE_GATHER || request->op == COLLECTIVE_SCATTER;
    printf("# %s over %s on %d GPUs of %d node%s, simulated%s\n", collective_op_name(request->op),
           backend_name(request->backend), asked->cluster->gpu_count, asked->cluster->node_count,
           asked->cluster->node_count == 1 ? "" : "s", asked->by_messages ? " message by message" : "");
    printf("# %10s %12s %8s %6s %5s %10s%s %8s %8s  %-18s %-7s %3s  %s\n", "size", "count", "type", "redop", "root",
           "time", asked->verbose ? "    time p5   time p95" : "", "algbw", "busbw", "algorithm", "proto", "ch",
           "limited by");
    printf("# %10s %12s %8s %6s %5s %10s%s %8s %8s\n", "(B)", "(elements)", "", "", "", "(us)",
           asked->verbose ? "       (us)       (us)" : "", "(GB/s)", "(GB/s)");
    for (int i = 0; i < count; i++) {
        const CollectiveRow *row = &rows[i];
        char range[32] = "";
        if (asked->verbose) snprintf(range, sizeof range, " %10.2f %10.2f", 1e6 * row->low, 1e6 * row->high);
        printf("%12.0f %12.0f %8s %6s %5d %10.2f%s %8.2f %8.2f  %-18s %-7s %3d  %s\n", row->bytes,
               count_of(request->op, request->rank_count, row->bytes), "float", redop, rooted ? 0 : -1,
               1e6 * row->seconds, range, row->algorithm_rate / 1e9, row->bus_rate / 1e9, row->plan.algorithm,
               row->plan.protocol == PROTOCOL_COUNT ? "-" : protocol_names[row->plan.protocol], row->plan.channels,
               row->limited_by);
    }
}

static void print_csv(const CollectiveRow *rows, int count) {
    csv_titles(stdout, "size,time_us,algbw_gb_per_s,busbw_gb_per_s,algorithm,protocol,channels,limited_by");
    CsvWriter csv = csv_writer(stdout);
    for (int i = 0; i < count; i++) {
        csv_figures(&csv, "%.0f,%.6g,%.6g,%.6g", rows[i].bytes, 1e6 * rows[i].seconds, rows[i].algorithm_rate / 1e9,
                    rows[i].bus_rate / 1e9);
        csv_text(&csv, rows[i].plan.algorithm);
        csv_text(&csv, protocol_names[rows[i].plan.protocol]);
        csv_figures(&csv, "%d", rows[i].plan.channels);
        csv_text(&csv, rows[i].limited_by);
        csv_end_row(&csv);
    }
}

static void print_json(const CollectiveAsked *asked, const CollectiveRow *rows, int count) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "collective");
    write_text(&json, "op", collective_op_name(asked->request.op));
    write_text(&json, "backend", backend_name(asked->request.backend));
    write_integer(&json, "gpus", asked->cluster->gpu_count);
    write_integer(&json, "nodes", asked->cluster->node_count);
    json_key(&json, "results");
    json_begin_list(&json);
    for (int i = 0; i < count; i++) {
        json_begin_object(&json);
        write_number(&json, "size", rows[i].bytes);
        write_number(&json, "time_us", 1e6 * rows[i].seconds);
        write_number(&json, "time_us_p5", 1e6 * rows[i].low);
        write_number(&json, "time_us_p95", 1e6 * rows[i].high);
        write_number(&json, "algbw_gb_per_s", rows[i].algorithm_rate / 1e9);
        write_number(&json, "busbw_gb_per_s", rows[i].bus_rate / 1e9);
        write_text(&json, "algorithm", rows[i].plan.algorithm);
        write_text(&json, "protocol", protocol_names[rows[i].plan.protocol]);
        write_integer(&json, "channels", rows[i].plan.channels);
        write_text(&json, "limited_by", rows[i].limited_by);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static int print_rows(CollectiveAsked *asked, const Options *options) {
    asked->verbose = option_flag(options, "verbose");
    CollectiveRow *rows = ARENA_ARRAY(asked->arena, CollectiveRow, COLLECTIVE_SIZES);
    int count = compute_rows(asked, rows);
    bool part = count > 0 && watch_stopped() == WATCH_SIGNAL;
    if (problem_count(asked->problems) && !part) return command_fails(asked->problems, watch_status(EXIT_BAD_INPUT));
    if (option_flag(options, "json"))
        print_json(asked, rows, count);
    else if (option_flag(options, "csv"))
        print_csv(rows, count);
    else
        print_table(asked, rows, count);
    return part ? command_fails(asked->problems, watch_status(EXIT_DONE)) : EXIT_DONE;
}

const OptionSpec *collective_option_rows(Arena *arena, int *count);
const OptionSpec *collective_option_rows(Arena *arena, int *count) {
    return options_join(arena, collective_rows, collective_row_count, own_rows, COUNT_OF(own_rows), count);
}

int collective_with_steps(int argc, char **argv, const StepSource *source) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int row_count;
    const OptionSpec *rows = collective_option_rows(arena, &row_count);
    Options *options = options_parse(arena, rows, row_count, argc, argv, problems);
    CollectiveAsked asked = {.arena = arena, .problems = problems, .source = source};
    int end = EXIT_DONE;
    if (option_help(options)) {
        options_print_help(rows, row_count, usage, about, stdout);
    } else {
        collective_ask(&asked, options);
        if (problem_count(problems)) {
            end = command_fails(problems, EXIT_USAGE);
        } else {
            collective_build(&asked, options);
            watch_open_from(options, option_quantity(options, "time-limit", WATCH_USUAL_SECONDS));
            end = problem_count(problems) ? command_fails(problems, EXIT_BAD_INPUT) : print_rows(&asked, options);
            watch_close();
            if (asked.steps) source->close(asked.steps);
        }
    }
    arena_close(arena);
    return end;
}
