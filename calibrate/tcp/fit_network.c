#include "calibrate/tcp/fit_network.h"

#include <math.h>
#include <string.h>

#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/data/csv.h"

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

typedef struct Rows {
    NetworkRow *items;
    int count, room;
} Rows;

typedef struct Cables {
    Cable *items;
    int count, room;
} Cables;

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
