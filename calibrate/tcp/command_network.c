#include <math.h>
#include <string.h>

#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/tcp/netbench.h"
#include "results/answer/frame.h"

#define MOST_HOSTS 64
#define MOST_BYTES 4e9
#define HUBER 0.2 // log residuals beyond count linearly: a busy moment of the machine is no physics
#define USUAL_MESSAGE_SECONDS 1e-5
#define USUAL_BYTE_SECONDS 5e-10
#define USUAL_PACKET_SECONDS 1e-6
#define USUAL_WAKE_SECONDS 5e-6
#define USUAL_TIMER_SECONDS 1e-5
#define USUAL_PACED_SECONDS 1e-5
#define EFFICIENCY_START 4 // of a logistic: 98 %
#define EFFICIENCY_SPREAD 1000
#define LEAST_EFFICIENCY -3 // 5 %

// ---- Reading.

typedef LIST_OF(NetworkRow) Rows;

typedef LIST_OF(Cable) Cables;

static int find_cable(Arena *arena, Cables *cables, Cable cable) {
    for (int i = 0; i < cables->count; i++) {
        const Cable *known = &cables->items[i];
        if (known->bytes_per_second == cable.bytes_per_second && known->burst_bytes == cable.burst_bytes &&
            known->mtu == cable.mtu)
            return i;
    }
    LIST_PUSH(arena, cables, cable);
    return cables->count - 1;
}

enum { OP, HOSTS, CORES, RATE, MTU, BURST, BYTES, SECONDS, WRONG, ADDING, BUSY, COLUMN_COUNT };
static const char *const column_words[COLUMN_COUNT] = {
    "op", "hosts", "cores", "rate_mbit", "mtu", "burst", "bytes", "p10", "wrong", "add_bytes_per_second", "busy_cores"};

static void check_range(const Csv *csv, int row, const char *word, double value, double least, double most,
                        Problems *problems) {
    if (value >= least && value <= most && value == floor(value)) return;
    problem_add(problems, csv_where(csv, row), "%s is %g, expected a whole number from %g to %g", word, value, least,
                most);
}

static bool read_row(Arena *arena, const Csv *csv, int row, const int *columns, Cables *cables, NetworkFit *fit,
                     NetworkRow *out, Problems *problems) {
    int before = problems_added(problems);
    double numbers[COLUMN_COUNT] = {0};
    bool shaped = strcmp(csv_cell(csv, row, columns[RATE]), "none") != 0;
    for (int i = HOSTS; i < COLUMN_COUNT; i++) {
        bool may_be_zero = i == WRONG || (!shaped && (i == RATE || i == BURST));
        if (!may_be_zero) numbers[i] = csv_positive(csv, row, columns[i], problems);
    }
    if (strcmp(csv_cell(csv, row, columns[WRONG]), "0") != 0) fit->wrong++;
    if (!bench_op_from_name(csv_cell(csv, row, columns[OP]), &out->op))
        problem_add(problems, csv_where(csv, row), "no collective is called \"%s\"", csv_cell(csv, row, columns[OP]));
    if (problems_added(problems) > before) return false;
    check_range(csv, row, "hosts", numbers[HOSTS], 2, MOST_HOSTS, problems);
    check_range(csv, row, "cores", numbers[CORES], 1, 1024, problems);
    check_range(csv, row, "mtu", numbers[MTU], 576, 65535, problems);
    check_range(csv, row, "bytes", numbers[BYTES] / 4, numbers[HOSTS], MOST_BYTES, problems);
    if (problems_added(problems) > before) return false;
    out->host_count = (int)numbers[HOSTS];
    out->core_count = (int)numbers[CORES];
    out->mtu = (int)numbers[MTU];
    out->bytes = (int64_t)numbers[BYTES];
    out->seconds = numbers[SECONDS];
    out->busy_cores = numbers[BUSY];
    if (out->core_count > fit->core_count) fit->core_count = out->core_count;
    out->cable = -1;
    fit->cost.adding_bytes_per_second = fmax(fit->cost.adding_bytes_per_second, numbers[ADDING]);
    if (shaped) {
        Cable cable = {numbers[RATE] * 1e6 / 8, 1, numbers[BURST], out->mtu};
        out->cable = find_cable(arena, cables, cable);
    }
    return true;
}

static NetworkFit *read_rows(Arena *arena, const char *path, Problems *problems) {
    const Csv *csv = csv_read_file(arena, path, problems);
    int columns[COLUMN_COUNT];
    if (!csv) return NULL;
    int before = problems_added(problems);
    for (int i = 0; i < COLUMN_COUNT; i++) columns[i] = csv_column(csv, column_words[i], problems);
    if (problems_added(problems) > before) return NULL;
    NetworkFit *fit = ARENA_NEW(arena, NetworkFit);
    double *busy = ARENA_ARRAY(arena, double, csv->row_count + 1);
    Rows rows = {0};
    Cables cables = {0};
    for (int i = 0; i < csv->row_count; i++) {
        NetworkRow row = {0};
        if (!read_row(arena, csv, i, columns, &cables, fit, &row, problems)) continue;
        busy[rows.count] = row.busy_cores;
        LIST_PUSH(arena, &rows, row);
    }
    if (rows.count > 0) fit->busy_cores = quantile(arena, busy, rows.count, 0.5);
    fit->rows = rows.items;
    fit->row_count = rows.count;
    fit->cables = cables.items;
    fit->cable_count = cables.count;
    return problems_added(problems) > before ? NULL : fit;
}

// ---- Fitting.

// Two hosts on one core take turns, so an operation over an unlimited cable takes the time of its CPU work.
static bool shows_work(const NetworkRow *row) {
    return (row->op == BENCH_PING_PONG || row->op == BENCH_RING) && row->host_count == 2 && row->core_count == 1 &&
           row->cable < 0;
}

// And over one with a rate, at the least as long as the work of packets that come one by one.
static bool shows_pace(const NetworkRow *row) {
    return (row->op == BENCH_PING_PONG || row->op == BENCH_RING) && row->host_count == 2 && row->core_count == 1 &&
           row->cable >= 0;
}

static bool shows_cable(const NetworkRow *row) {
    return (row->op == BENCH_PING_PONG && row->host_count == 2 && row->cable >= 0) || shows_pace(row);
}

enum { MESSAGE, EXCHANGE, BYTE, PACKET, WORK_PARAMETERS };

// Parameters live on the whole line; a step of the search may go far.
static double positive(double x) { return exp(fmax(-40, fmin(x, 0))); }

static double log_error(double predicted, double measured) { return soften_residual(log(predicted / measured), HUBER); }

// A ring of two is two exchanges of halves, each a message both ways, and in the first each adds what came.
static double work_seconds(const double *x, const NetworkRow *row, double adding_bytes_per_second) {
    bool ring = row->op == BENCH_RING;
    double messages = ring ? 4 : 1, bytes = (double)row->bytes / (ring ? 2 : 1);
    double packets = packets_of((int64_t)bytes, row->mtu) - 1;
    return messages *
               (positive(x[ring ? EXCHANGE : MESSAGE]) + positive(x[BYTE]) * bytes + positive(x[PACKET]) * packets) +
           (ring ? (double)row->bytes / adding_bytes_per_second : 0);
}

static void work_residuals(const double *x, void *data, double *out) {
    const NetworkFit *fit = data;
    for (int i = 0; i < fit->row_count; i++) {
        const NetworkRow *row = &fit->rows[i];
        if (shows_work(row)) *out++ = log_error(work_seconds(x, row, fit->cost.adding_bytes_per_second), row->seconds);
    }
}

static void fit_work(Arena *arena, NetworkFit *fit, int row_count) {
    double x[WORK_PARAMETERS] = {log(USUAL_MESSAGE_SECONDS), log(USUAL_MESSAGE_SECONDS), log(USUAL_BYTE_SECONDS),
                                 log(USUAL_PACKET_SECONDS)};
    least_squares_solve(
        arena,
        &(LeastSquares){
            .parameter_count = WORK_PARAMETERS, .residual_count = row_count, .residuals = work_residuals, .data = fit},
        x, NULL);
    fit->cost.message_seconds = positive(x[MESSAGE]);
    fit->cost.exchange_seconds = positive(x[EXCHANGE]);
    fit->cost.byte_seconds = positive(x[BYTE]);
    fit->cost.packet_seconds = positive(x[PACKET]);
}

// What is fitted to cables with a rate: wake, timer and pace of all, then the efficiency of each cable.
enum { WAKE, TIMER, PACE, FIRST_CABLE };

static void take_cables(const double *x, NetworkFit *fit) {
    fit->cost.wake_seconds = positive(x[WAKE]);
    fit->cost.timer_seconds = positive(x[TIMER]);
    fit->cost.paced_seconds = positive(x[PACE]);
    for (int i = 0; i < fit->cable_count; i++)
        fit->cables[i].efficiency = 1 / (1 + exp(-fmax(x[FIRST_CABLE + i], LEAST_EFFICIENCY)));
}

static double predict(const NetworkFit *fit, const NetworkRow *row) {
    HostCost cost = fit->cost;
    cost.core_count = row->core_count;
    return predict_network(&cost, &fit->cables[row->cable], row->op, row->host_count, row->bytes);
}

static void cable_residuals(const double *x, void *data, double *out) {
    NetworkFit *fit = data;
    take_cables(x, fit);
    for (int i = 0; i < fit->row_count; i++)
        if (shows_cable(&fit->rows[i])) *out++ = log_error(predict(fit, &fit->rows[i]), fit->rows[i].seconds);
    for (int i = 0; i < fit->cable_count; i++) // of a cable that work alone holds up nothing else is known
        *out++ = (x[FIRST_CABLE + i] - EFFICIENCY_START) / EFFICIENCY_SPREAD;
}

static void fit_cables(Arena *arena, NetworkFit *fit, int row_count) {
    double *x = ARENA_ARRAY(arena, double, fit->cable_count + FIRST_CABLE);
    x[WAKE] = log(USUAL_WAKE_SECONDS);
    x[TIMER] = log(USUAL_TIMER_SECONDS);
    x[PACE] = log(USUAL_PACED_SECONDS);
    for (int i = 0; i < fit->cable_count; i++) x[FIRST_CABLE + i] = EFFICIENCY_START;
    least_squares_solve(arena,
                        &(LeastSquares){.parameter_count = fit->cable_count + FIRST_CABLE,
                                        .residual_count = row_count + fit->cable_count,
                                        .residuals = cable_residuals,
                                        .data = fit,
                                        .difference_step = 1e-4,
                                        .most_iterations = 30},
                        x, NULL);
    take_cables(x, fit);
}

NetworkFit *network_fit(Arena *arena, const char *path, Problems *problems) {
    NetworkFit *fit = read_rows(arena, path, problems);
    if (!fit) return NULL;
    int work_rows = 0, cable_rows = 0;
    for (int i = 0; i < fit->row_count; i++) {
        work_rows += shows_work(&fit->rows[i]);
        cable_rows += shows_cable(&fit->rows[i]);
        fit->rows[i].fitted = shows_work(&fit->rows[i]) || shows_cable(&fit->rows[i]);
    }
    if (work_rows < WORK_PARAMETERS)
        problem_add(problems, (Where){path, 0},
                    "fewer than %d ping-pongs and rings of two on one core over cables without a rate",
                    WORK_PARAMETERS);
    if (cable_rows < fit->cable_count + FIRST_CABLE)
        problem_add(problems, (Where){path, 0}, "fewer ping-pongs between two hosts than there are cables to fit");
    if (work_rows < WORK_PARAMETERS || cable_rows < fit->cable_count + FIRST_CABLE) return NULL;
    fit_work(arena, fit, work_rows);
    fit_cables(arena, fit, cable_rows);
    for (int i = 0; i < fit->row_count; i++)
        if (fit->rows[i].cable >= 0) fit->rows[i].predicted_seconds = predict(fit, &fit->rows[i]);
    return fit;
}

// ---- lockstep calibrate network FILE.csv: compares collectives measured on emulated hosts with their simulation.

#define LARGE_BYTES (1 << 20)
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

const Question calibrate_network_question = {
    .name = "calibrate-network",
    .usage = "lockstep calibrate network FILE.csv",
    .about = "Fits the costs of hosts and cables to ping-pongs between two hosts, simulates all measured "
             "collectives, and compares.",
    .positional = 1,
    .ask = ask};
