// lockstep calibrate network FILE.csv: collectives measured in a box against their simulation, as tables and a verdict.
#include <math.h>
#include <stdio.h>

#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/tcp/fit_network.h"
#include "sim/base/options.h"
#include "sim/base/statistics.h"
#include "sim/data/envelope.h"

#define EXIT_USAGE 2
#define EXIT_INPUT 4
#define LARGE_BYTES (1 << 20)
#define MOST_HOSTS 64
#define BUSY_SHARE 0.15 // of the cores: more of other work, and times say little of the network

static const OptionSpec specs[] = {
    {.name = "rows", .kind = OPTION_FLAG, .help = "print every row, predicted against measured"},
    {.name = "json", .kind = OPTION_FLAG, .help = "the fitted costs and every row as JSON"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

// The aims: |predicted / measured - 1|.
static const struct {
    const char *name;
    double aim;
} classes[] = {{"below 1 MiB", 0.25}, {"1 MiB and more", 0.10}};
enum { CLASS_COUNT = sizeof classes / sizeof *classes };

static double error_of(const NetworkRow *row) { return row->predicted_seconds / row->seconds - 1; }

// Some of the rows: -1 for any operation, hosts or cable. What was fitted does not count.
typedef struct Choice {
    int op, host_count, cable, size_class;
} Choice;

static bool is_chosen(const NetworkRow *row, Choice choice) {
    return row->cable >= 0 && !row->fitted && (choice.op < 0 || (int)row->op == choice.op) &&
           (choice.host_count < 0 || row->host_count == choice.host_count) &&
           (choice.cable < 0 || row->cable == choice.cable) && (row->bytes >= LARGE_BYTES) == (choice.size_class == 1);
}

typedef struct Score {
    int count, within;
    double median, p90, worst, bias;
} Score;

static Score score(Arena *arena, const NetworkFit *fit, Choice choice) {
    double *sizes = ARENA_ARRAY(arena, double, fit->row_count), *signs = ARENA_ARRAY(arena, double, fit->row_count);
    Score score = {0};
    for (int i = 0; i < fit->row_count; i++) {
        if (!is_chosen(&fit->rows[i], choice)) continue;
        signs[score.count] = error_of(&fit->rows[i]);
        sizes[score.count] = fabs(signs[score.count]);
        score.within += sizes[score.count++] <= classes[choice.size_class].aim;
    }
    if (score.count == 0) return score;
    score.median = quantile(arena, sizes, score.count, 0.5);
    score.p90 = quantile(arena, sizes, score.count, 0.9);
    score.worst = quantile(arena, sizes, score.count, 1);
    score.bias = quantile(arena, signs, score.count, 0.5);
    return score;
}

static void print_score(Arena *arena, const NetworkFit *fit, const char *name, Choice choice) {
    for (choice.size_class = 0; choice.size_class < CLASS_COUNT; choice.size_class++) {
        Score s = score(arena, fit, choice);
        if (s.count == 0) continue;
        printf("%-22s %-15s %5d %7.1f %% %7.1f %% %7.1f %% %+7.1f %%   %3d of %d within %.0f %%\n", name,
               classes[choice.size_class].name, s.count, 100 * s.median, 100 * s.p90, 100 * s.worst, 100 * s.bias,
               s.within, s.count, 100 * classes[choice.size_class].aim);
    }
}

static const char *cable_name(Arena *arena, const NetworkFit *fit, int cable) {
    return arena_printf(arena, "%.0f Mb/s", fit->cables[cable].bytes_per_second * 8e-6);
}

static void print_parameters(Arena *arena, const NetworkFit *fit) {
    printf("fitted to what two hosts alone do:\n");
    printf("  work of a core: %.1f us per message (%.1f us where both send), %.2f us per packet and %.2f us more where "
           "packets go one by one, %.2f ns per byte\n",
           1e6 * fit->cost.message_seconds, 1e6 * fit->cost.exchange_seconds, 1e6 * fit->cost.packet_seconds,
           1e6 * fit->cost.paced_seconds, 1e9 * fit->cost.byte_seconds);
    printf("  wait: %.1f us per message, %.1f us more for a timer; one core adds %.1f GB/s (measured)\n",
           1e6 * fit->cost.wake_seconds, 1e6 * fit->cost.timer_seconds, 1e-9 * fit->cost.adding_bytes_per_second);
    for (int i = 0; i < fit->cable_count; i++)
        printf("  cable of %s: %.1f %% of the rate; bucket of %.0f B, packets of %d B\n", cable_name(arena, fit, i),
               100 * fit->cables[i].efficiency, fit->cables[i].burst_bytes, fit->cables[i].mtu);
}

static void print_rows(Arena *arena, const NetworkFit *fit) {
    printf("\n%-20s %5s %10s %10s %14s %14s %9s\n", "operation", "hosts", "cable", "bytes", "measured us",
           "predicted us", "error");
    for (int i = 0; i < fit->row_count; i++) {
        const NetworkRow *row = &fit->rows[i];
        if (row->cable < 0) continue;
        printf("%-20s %5d %10s %10lld %14.1f %14.1f %+7.1f %%\n", bench_op_name(row->op), row->host_count,
               cable_name(arena, fit, row->cable), (long long)row->bytes, 1e6 * row->seconds,
               1e6 * row->predicted_seconds, 100 * error_of(row));
    }
}

static void print_tables(Arena *arena, const NetworkFit *fit) {
    const Choice any = {-1, -1, -1, 0};
    printf("\n%-22s %-15s %5s %9s %9s %9s %9s\n", "error of the time", "buffer", "rows", "median", "p90", "worst",
           "bias");
    for (int op = 0; op < BENCH_OP_COUNT; op++) {
        Choice choice = any;
        choice.op = op;
        print_score(arena, fit, bench_op_name((BenchOp)op), choice);
    }
    for (int cable = 0; cable < fit->cable_count; cable++) {
        Choice choice = any;
        choice.cable = cable;
        print_score(arena, fit, cable_name(arena, fit, cable), choice);
    }
    for (int hosts = 2; hosts <= MOST_HOSTS; hosts++) {
        Choice choice = any;
        choice.host_count = hosts;
        print_score(arena, fit, arena_printf(arena, "%d hosts", hosts), choice);
    }
    print_score(arena, fit, "all", any);
}

// By the median at each number of hosts, and how many rows are within the aim.
static void print_verdict(Arena *arena, const NetworkFit *fit) {
    int met = 0, cells = 0, within = 0, rows = 0;
    for (int hosts = 2; hosts <= MOST_HOSTS; hosts++)
        for (int size = 0; size < CLASS_COUNT; size++) {
            Score s = score(arena, fit, (Choice){-1, hosts, -1, size});
            cells += s.count > 0;
            met += s.count > 0 && s.median <= classes[size].aim;
            within += s.within;
            rows += s.count;
        }
    if (fit->busy_cores > BUSY_SHARE * fit->core_count) {
        printf("\nnot judged: other work kept %.1f of %d cores busy between the measurements; take them again on a "
               "machine that is idle\n",
               fit->busy_cores, fit->core_count);
        printf("as it is, ");
    } else {
        printf("\nverdict: ");
    }
    printf("the median error is within the aim (25 %% below 1 MiB, 10 %% from there) in %d of %d classes of "
           "hosts and size; %d of %d rows are\n",
           met, cells, within, rows);
    if (fit->wrong > 0) printf("wrong sums in %.0f rows\n", fit->wrong);
}

// ---- JSON.

static void write_costs(JsonWriter *json, const HostCost *cost) {
    json_key(json, "host");
    json_begin_object(json);
    json_number_member(json, "message_s", cost->message_seconds);
    json_number_member(json, "exchange_s", cost->exchange_seconds);
    json_number_member(json, "packet_s", cost->packet_seconds);
    json_number_member(json, "paced_packet_s", cost->paced_seconds);
    json_number_member(json, "byte_s", cost->byte_seconds);
    json_number_member(json, "wake_s", cost->wake_seconds);
    json_number_member(json, "timer_s", cost->timer_seconds);
    json_number_member(json, "adding_bytes_per_s", cost->adding_bytes_per_second);
    json_end_object(json);
}

static void write_cables(JsonWriter *json, const NetworkFit *fit) {
    json_key(json, "cables");
    json_begin_list(json);
    for (int i = 0; i < fit->cable_count; i++) {
        json_begin_object(json);
        json_number_member(json, "bytes_per_s", fit->cables[i].bytes_per_second);
        json_number_member(json, "efficiency", fit->cables[i].efficiency);
        json_number_member(json, "burst_bytes", fit->cables[i].burst_bytes);
        json_integer_member(json, "mtu_bytes", fit->cables[i].mtu);
        json_end_object(json);
    }
    json_end_list(json);
}

static void write_row(JsonWriter *json, const NetworkFit *fit, const NetworkRow *row) {
    json_begin_object(json);
    json_text_member(json, "operation", bench_op_name(row->op));
    json_integer_member(json, "hosts", row->host_count);
    json_number_member(json, "cable_bytes_per_s", fit->cables[row->cable].bytes_per_second);
    json_integer_member(json, "bytes", row->bytes);
    json_bool_member(json, "fitted", row->fitted);
    json_number_member(json, "measured_s", row->seconds);
    json_number_member(json, "predicted_s", row->predicted_seconds);
    json_number_member(json, "error_pct", 100 * error_of(row));
    json_end_object(json);
}

static void print_json(const NetworkFit *fit) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "calibrate-network");
    write_costs(&json, &fit->cost);
    write_cables(&json, fit);
    json_number_member(&json, "busy_cores", fit->busy_cores);
    json_integer_member(&json, "cores", fit->core_count);
    json_number_member(&json, "wrong_sums", fit->wrong);
    json_key(&json, "rows");
    json_begin_list(&json);
    for (int i = 0; i < fit->row_count; i++)
        if (fit->rows[i].cable >= 0) write_row(&json, fit, &fit->rows[i]);
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static void print_text(Arena *arena, const NetworkFit *fit, bool rows) {
    print_parameters(arena, fit);
    if (rows) print_rows(arena, fit);
    print_tables(arena, fit);
    print_verdict(arena, fit);
}

static int run(Arena *arena, int argc, char **argv, Problems *problems) {
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, "lockstep calibrate network FILE.csv [--rows]",
                           "Fits the costs of hosts and cables to ping-pongs between two hosts, simulates all measured "
                           "collectives, and compares.",
                           stdout);
        return 0;
    }
    options_refuse_positional(options, 1, problems);
    if (problem_count(problems) == 0 && option_positional_count(options) < 1) {
        problem_add(problems, (Where){0}, "no measurements to compare with");
        problem_hint(problems, "make netbox takes some; calibrate/measurements/netbox.csv holds some");
    }
    if (problem_count(problems) > 0) return EXIT_USAGE;
    const NetworkFit *fit = network_fit(arena, option_positional(options, 0), problems);
    if (!fit) return EXIT_INPUT;
    if (option_flag(options, "json"))
        print_json(fit);
    else
        print_text(arena, fit, option_flag(options, "rows"));
    return fit->wrong > 0 ? 1 : 0;
}

int command_calibrate_network(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int code = run(arena, argc, argv, problems);
    problems_print(problems, stderr);
    arena_close(arena);
    return code;
}
