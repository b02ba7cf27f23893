// lockstep calibrate network FILE.csv: compares collectives measured on emulated hosts with their simulation.
#include <math.h>

#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/tcp/fit_network.h"
#include "results/answer/frame.h"
#include "sim/base/statistics.h"

#define LARGE_BYTES (1 << 20)
#define MOST_HOSTS 64
#define BUSY_SHARE 0.15 // of the cores: with more other work, times are not the network's

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

static const char *cable_name(Arena *arena, const NetworkFit *fit, int cable) {
    return arena_printf(arena, "%.0f Mb/s", fit->cables[cable].bytes_per_second * 8e-6);
}

// ---- The answer.

static void add_time(Answer *answer, const char *key, const char *title, double seconds) {
    answer_number(answer, key, title, AS_SECONDS, seconds);
}

static void add_costs(Answer *answer, const HostCost *cost) {
    answer_open(answer, "host", "Fitted to what two hosts alone do");
    answer_detail(answer, FOR_VERBOSE);
    add_time(answer, "message_s", "A core's work per message", cost->message_seconds);
    add_time(answer, "exchange_s", "  where both send", cost->exchange_seconds);
    add_time(answer, "packet_s", "  per packet", cost->packet_seconds);
    add_time(answer, "paced_packet_s", "  more, one by one", cost->paced_seconds);
    add_time(answer, "byte_s", "  per byte", cost->byte_seconds);
    add_time(answer, "wake_s", "Wait per message", cost->wake_seconds);
    add_time(answer, "timer_s", "  more for a timer", cost->timer_seconds);
    answer_number(answer, "adding_bytes_per_s", "A core adds (measured)", AS_BANDWIDTH, cost->adding_bytes_per_second);
    answer_close(answer);
}

static void add_cables(Answer *answer, Arena *arena, const NetworkFit *fit) {
    static const AnswerColumn columns[] = {{NULL, "cable", AS_TEXT, 0},
                                           {"bytes_per_s", NULL, AS_BANDWIDTH, 0},
                                           {"efficiency", "of the rate", AS_SHARE, 0},
                                           {"burst_bytes", "bucket", AS_BYTES, 0},
                                           {"mtu_bytes", "packets", AS_BYTES, 0}};
    answer_table(answer, "cables", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->cable_count; i++)
        ANSWER_ROW(answer, cable_name(arena, fit, i), fit->cables[i].bytes_per_second, fit->cables[i].efficiency,
                   fit->cables[i].burst_bytes, fit->cables[i].mtu);
}

static void add_rows(Answer *answer, Arena *arena, const NetworkFit *fit) {
    static const AnswerColumn columns[] = {{"operation", "operation", AS_TEXT, 0},
                                           {"hosts", "hosts", AS_WHOLE, 0},
                                           {NULL, "cable", AS_TEXT, 0},
                                           {"cable_bytes_per_s", NULL, AS_BANDWIDTH, 0},
                                           {"bytes", "bytes", AS_WHOLE, 0},
                                           {"fitted", NULL, AS_BOOL, 0},
                                           {"measured_s", "measured", AS_SECONDS, 0},
                                           {"predicted_s", "predicted", AS_SECONDS, 0},
                                           {"error_pct", "error %", AS_NUMBER, 0}};
    answer_table(answer, "rows", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->row_count; i++) {
        const NetworkRow *row = &fit->rows[i];
        if (row->cable < 0) continue;
        ANSWER_ROW(answer, bench_op_name(row->op), row->host_count, cable_name(arena, fit, row->cable),
                   fit->cables[row->cable].bytes_per_second, (double)row->bytes, row->fitted, row->seconds,
                   row->predicted_seconds, 100 * error_of(row));
    }
    answer_main_called(answer, "rows");
}

static void add_score(Answer *answer, Arena *arena, const NetworkFit *fit, const char *name, Choice choice,
                      AnswerDetail detail) {
    for (choice.size_class = 0; choice.size_class < CLASS_COUNT; choice.size_class++) {
        Score s = score(arena, fit, choice);
        if (s.count == 0) continue;
        ANSWER_ROW(answer, name, classes[choice.size_class].name, answer_of(AS_WHOLE, s.count),
                   answer_of(AS_NUMBER, 100 * s.median), answer_of(AS_NUMBER, 100 * s.p90),
                   answer_of(AS_NUMBER, 100 * s.worst), answer_of(AS_NUMBER, 100 * s.bias),
                   answer_of(AS_WHOLE, s.within), answer_of(AS_NUMBER, 100 * classes[choice.size_class].aim));
        answer_row_detail(answer, detail);
    }
}

static void add_scores(Answer *answer, Arena *arena, const NetworkFit *fit) {
    static const AnswerColumn columns[] = {
        {"of", "error of the time", AS_TEXT, 0}, {"buffer", "buffer", AS_TEXT, 0},
        {"rows", "rows", AS_WHOLE, 0},           {"median_error_pct", "median %", AS_NUMBER, 0},
        {"p90_error_pct", "p90", AS_NUMBER, 0},  {"max_error_pct", "worst", AS_NUMBER, 1},
        {"bias_pct", "bias", AS_NUMBER, 2},      {"within", "within", AS_WHOLE, 0},
        {"aim_pct", "aim of %", AS_NUMBER, 0}};
    const Choice any = {-1, -1, -1, 0};
    answer_table(answer, "errors", NULL, COLUMNS(columns));
    add_score(answer, arena, fit, "all", any, FOR_ALL);
    for (int hosts = 2; hosts <= MOST_HOSTS; hosts++) {
        Choice choice = any;
        choice.host_count = hosts;
        add_score(answer, arena, fit, arena_printf(arena, "%d hosts", hosts), choice, FOR_ALL);
    }
    for (int cable = 0; cable < fit->cable_count; cable++) {
        Choice choice = any;
        choice.cable = cable;
        add_score(answer, arena, fit, cable_name(arena, fit, cable), choice, FOR_VERBOSE);
    }
    for (int op = 0; op < BENCH_OP_COUNT; op++) {
        Choice choice = any;
        choice.op = op;
        add_score(answer, arena, fit, bench_op_name((BenchOp)op), choice, FOR_VERBOSE);
    }
}

// By the median at each number of hosts, and how many rows are within the aim.
static void add_verdict(Answer *answer, Arena *arena, const NetworkFit *fit) {
    int met = 0, cells = 0, within = 0, rows = 0;
    for (int hosts = 2; hosts <= MOST_HOSTS; hosts++)
        for (int size = 0; size < CLASS_COUNT; size++) {
            Score s = score(arena, fit, (Choice){-1, hosts, -1, size});
            cells += s.count > 0;
            met += s.count > 0 && s.median <= classes[size].aim;
            within += s.within;
            rows += s.count;
        }
    bool busy = fit->busy_cores > BUSY_SHARE * fit->core_count;
    if (busy)
        answer_caution(answer,
                       "not judged: other work kept %.1f of %d cores busy between the measurements; take them again on "
                       "a machine that is idle",
                       fit->busy_cores, fit->core_count);
    answer_say(
        answer, NULL,
        "%sthe median error is within the aim (25 %% below 1 MiB, 10 %% from there) in %d of %d classes of hosts "
        "and size; %d of %d rows are.",
        busy ? "As it is, " : "Verdict: ", met, cells, within, rows);
    if (fit->wrong > 0) answer_caution(answer, "wrong sums in %.0f rows", fit->wrong);
}

static int ask(Asking *asking) {
    Answer *answer = asking->answer;
    if (option_positional_count(asking->options) < 1) {
        problem_add(asking->problems, (Where){0}, "no measurements to compare with");
        problem_hint(asking->problems, "make netbox takes some; calibrate/measurements/netbox.csv holds some");
        return EXIT_USAGE;
    }
    const NetworkFit *fit = network_fit(asking->arena, option_positional(asking->options, 0), asking->problems);
    if (!fit) return EXIT_BAD_INPUT;
    add_verdict(answer, asking->arena, fit);
    add_scores(answer, asking->arena, fit);
    add_costs(answer, &fit->cost);
    answer_number(answer, "busy_cores", NULL, AS_NUMBER, fit->busy_cores);
    answer_number(answer, "cores", NULL, AS_WHOLE, fit->core_count);
    answer_number(answer, "wrong_sums", NULL, AS_WHOLE, fit->wrong);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_cables(answer, asking->arena, fit);
    add_rows(answer, asking->arena, fit);
    answer_close(answer);
    asking->part = fit->wrong > 0; // shown all the same
    return fit->wrong > 0 ? EXIT_FAILED : EXIT_DONE;
}

int calibrate_network(int argc, char **argv) {
    static const Question question = {
        .name = "calibrate-network",
        .usage = "lockstep calibrate network FILE.csv",
        .about = "Fits the costs of hosts and cables to ping-pongs between two hosts, simulates all measured "
                 "collectives, and compares.",
        .positional = 1,
        .ask = ask};
    return frame_run(&question, argc, argv);
}
