// lockstep validate convergence: the data that MLPerf's benchmarks need to reach their target by global batch,
// against the law of the critical batch. The prior of a critical batch comes from the other benchmarks: of its own
// curve a prediction sees only the points that it is given.
#include <math.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "models/workload/convergence/critical_batch.h"
#include "results/answer/frame.h"
#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/data/csv.h"
#include "sim/system/file.h"

#define SHIPPED SHIPPED_MEASUREMENTS "/convergence/rcp.csv"
#define NEAR 8.0 // times the smallest batch
#define MOST_ROWS 2000
#define WITHIN 0.15 // what the share of good predictions is counted by

static const char *const column_words[] = {"benchmark", "unit", "global_batch", "amount", "suspect"};
enum { BENCHMARK, UNIT, BATCH, AMOUNT, SUSPECT, COLUMN_COUNT };

// What is known of a benchmark when a point of it is predicted.
typedef enum Known {
    KNOWN_SMALLEST,     // the smallest batch; predicted up to NEAR times it
    KNOWN_SMALLEST_FAR, // the same; predicted beyond
    KNOWN_SMALLER,      // all smaller batches; the next is predicted
    KNOWN_ENDS,         // the smallest and the largest; those between are predicted
    KNOWN_COUNT
} Known;
static const char *const known_names[KNOWN_COUNT] = {"smallest", "smallest_far", "smaller", "ends"};
static const char *const known_titles[KNOWN_COUNT] = {
    "the smallest batch, up to 8 times it", "the smallest batch, beyond 8 times it",
    "all smaller batches, the next one", "the smallest and the largest, all between"};

typedef LIST_OF(double) Errors; // relative, above 0

typedef struct Benchmark {
    const char *name, *unit;
    ConvergencePoint *items; // batches rising
    int count, room;
    CriticalBatch own; // of all its points, nothing known before
    Errors errors[KNOWN_COUNT];
} Benchmark;

typedef struct Board {
    Arena *arena;
    Problems *problems;
    Benchmark *items;
    int count, room;
    NameIndex *names;
    Errors all[KNOWN_COUNT];
} Board;

// ---- Reading.

static Benchmark *benchmark_of(Board *board, const char *name, const char *unit) {
    int before = name_index_add(board->names, arena_printf(board->arena, "%s\t%s", name, unit), board->count);
    if (before >= 0) return &board->items[before];
    LIST_PUSH(board->arena, board, ((Benchmark){.name = name, .unit = unit}));
    return &board->items[board->count - 1];
}

static void add_point(Board *board, Benchmark *benchmark, ConvergencePoint point, Where where) {
    int last = benchmark->count - 1;
    if (last >= 0 && !(point.batch > benchmark->items[last].batch)) {
        problem_add(board->problems, where, "batch %g of %s comes after batch %g", point.batch, benchmark->name,
                    benchmark->items[last].batch);
        problem_hint(board->problems, "batches of a benchmark rise from row to row; give one a word under suspect");
        return;
    }
    LIST_PUSH(board->arena, benchmark, point);
}

static void read_rows(Board *board, const char *path) {
    const Csv *csv = csv_read_file(board->arena, path, board->problems);
    if (!csv) return;
    board->names = name_index_create(board->arena, strcmp);
    if (csv->row_count > MOST_ROWS) {
        problem_add(board->problems, (Where){path, 0}, "has %d rows, and %d are the most", csv->row_count, MOST_ROWS);
        problem_hint(board->problems, "each is predicted from all others: give fewer at once");
        return;
    }
    int columns[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++) columns[i] = csv_column(csv, column_words[i], board->problems);
    if (problem_count(board->problems)) return;
    for (int r = 0; r < csv->row_count; r++) {
        if (csv_cell(csv, r, columns[SUSPECT])[0]) continue;
        Benchmark *benchmark =
            benchmark_of(board, csv_cell(csv, r, columns[BENCHMARK]), csv_cell(csv, r, columns[UNIT]));
        ConvergencePoint point = {csv_positive(csv, r, columns[BATCH], board->problems),
                                  csv_positive(csv, r, columns[AMOUNT], board->problems)};
        if (!problem_count(board->problems)) add_point(board, benchmark, point, csv_where(csv, r));
    }
    if (board->count >= 3 || problem_count(board->problems)) return;
    problem_add(board->problems, (Where){path, 0},
                "fewer than three benchmarks: nothing is known of one by the others");
    problem_hint(board->problems, "columns benchmark, unit, global_batch, amount, suspect");
}

// ---- Predicting.

static void fit_all(Board *board) {
    const CriticalBatchPrior nothing = {0, INFINITY};
    for (int i = 0; i < board->count; i++)
        board->items[i].own = critical_batch_fit(board->items[i].items, board->items[i].count, &nothing);
}

// Critical batches of the other benchmarks, in units of their smallest batches, which someone found worthwhile.
static CriticalBatchPrior prior_without(const Board *board, int left_out) {
    double *logs = ARENA_ARRAY(board->arena, double, board->count);
    int count = 0;
    for (int i = 0; i < board->count; i++) {
        const Benchmark *other = &board->items[i];
        if (i != left_out && other->count >= 3) logs[count++] = log(other->own.batch / other->items[0].batch);
    }
    Summary summary = summarise(board->arena, logs, count);
    return (CriticalBatchPrior){summary.p50 + log(board->items[left_out].items[0].batch), fmax(0.3, summary.sd)};
}

static void score(Board *board, Benchmark *benchmark, Known known, const ConvergencePoint *points, int count, int at,
                  const CriticalBatchPrior *prior) {
    CriticalBatch critical = critical_batch_fit(points, count, prior);
    const ConvergencePoint *point = &benchmark->items[at];
    double error = fabs(critical_batch_amount(&critical, point->batch) / point->amount - 1);
    LIST_PUSH(board->arena, &benchmark->errors[known], error);
    LIST_PUSH(board->arena, &board->all[known], error);
}

static void predict(Board *board, int index) {
    Benchmark *benchmark = &board->items[index];
    CriticalBatchPrior prior = prior_without(board, index);
    int last = benchmark->count - 1;
    ConvergencePoint ends[] = {benchmark->items[0], benchmark->items[last]};
    for (int i = 1; i <= last; i++) {
        bool near = benchmark->items[i].batch <= NEAR * ends[0].batch;
        score(board, benchmark, near ? KNOWN_SMALLEST : KNOWN_SMALLEST_FAR, ends, 1, i, &prior);
        score(board, benchmark, KNOWN_SMALLER, benchmark->items, i, i, &prior);
        if (i < last) score(board, benchmark, KNOWN_ENDS, ends, 2, i, &prior);
    }
}

// ---- The answer.

static double share_within(const Errors *errors) {
    int within = 0;
    for (int i = 0; i < errors->count; i++) within += errors->items[i] <= WITHIN;
    return errors->count ? (double)within / errors->count : 0;
}

static AnswerValue percent(const Board *board, double share) {
    return answer_shown(AS_NUMBER, 100 * share,
                        isfinite(share) ? arena_printf(board->arena, "%.1f %%", 100 * share) : NULL);
}

static AnswerValue figures3(const Board *board, double value) {
    return answer_shown(AS_NUMBER, value, arena_printf(board->arena, "%.3g", value));
}

static void errors_member(Answer *answer, const Board *board, const char *key, const Errors *errors) {
    if (errors->count == 0) return;
    Summary summary = summarise(board->arena, errors->items, errors->count);
    answer_open(answer, key, NULL);
    answer_number(answer, "points", NULL, AS_WHOLE, summary.count);
    answer_number(answer, "median_pct", NULL, AS_NUMBER, 100 * summary.p50);
    answer_number(answer, "mean_pct", NULL, AS_NUMBER, 100 * summary.mean);
    answer_number(answer, "p90_pct", NULL, AS_NUMBER, 100 * summary.p90);
    answer_number(answer, "within_15_pct", NULL, AS_NUMBER, 100 * share_within(errors));
    answer_close(answer);
}

static void add_objects(Answer *answer, const Board *board) {
    answer_open_list(answer, "benchmarks", NULL);
    answer_detail(answer, FOR_PROGRAMS);
    for (int i = 0; i < board->count; i++) {
        const Benchmark *benchmark = &board->items[i];
        answer_open(answer, NULL, NULL);
        answer_text(answer, "name", NULL, benchmark->name);
        answer_text(answer, "unit", NULL, benchmark->unit);
        answer_number(answer, "points", NULL, AS_WHOLE, benchmark->count);
        answer_number(answer, "critical_batch", NULL, AS_NUMBER, benchmark->own.batch);
        answer_number(answer, "critical_batch_p5", NULL, AS_NUMBER, benchmark->own.p5);
        answer_number(answer, "critical_batch_p95", NULL, AS_NUMBER, benchmark->own.p95);
        answer_number(answer, "amount", NULL, AS_NUMBER, benchmark->own.amount);
        for (int k = 0; k < KNOWN_COUNT; k++) errors_member(answer, board, known_names[k], &benchmark->errors[k]);
        answer_close(answer);
    }
    answer_close(answer);
    for (int k = 0; k < KNOWN_COUNT; k++) errors_member(answer, board, known_names[k], &board->all[k]);
}

static AnswerValue mean_of(const Board *board, const Errors *errors) {
    return percent(board, errors->count ? summarise(board->arena, errors->items, errors->count).mean : NAN);
}

static void fill(Answer *answer, const Board *board) {
    static const AnswerColumn columns[] = {
        {NULL, "benchmark", AS_TEXT, 0},   {NULL, "points", AS_COUNT, 2},   {NULL, "B_c", AS_NUMBER, 0},
        {NULL, "B_c/B_min", AS_NUMBER, 1}, {NULL, "to 8x", AS_NUMBER, 0},   {NULL, "beyond", AS_NUMBER, 0},
        {NULL, "next", AS_NUMBER, 0},      {NULL, "between", AS_NUMBER, 0}, {NULL, "unit", AS_TEXT, 3}};
    static const AnswerColumn known[] = {{NULL, "known, and predicted", AS_TEXT, 0},
                                         {NULL, "points", AS_COUNT, 0},
                                         {NULL, "median", AS_NUMBER, 0},
                                         {NULL, "mean", AS_NUMBER, 0},
                                         {NULL, "90 %", AS_NUMBER, 0},
                                         {NULL, "in 15 %", AS_NUMBER, 1}};
    add_objects(answer, board);
    answer_table(answer, NULL, "All benchmarks", COLUMNS(known));
    for (int k = 0; k < KNOWN_COUNT; k++) {
        Summary summary = summarise(board->arena, board->all[k].items, board->all[k].count);
        ANSWER_ROW(answer, known_titles[k], summary.count, percent(board, summary.p50), percent(board, summary.mean),
                   percent(board, summary.p90), percent(board, share_within(&board->all[k])));
    }
    answer_table(answer, NULL,
                 "Mean error of the data needed to reach the target, each benchmark left out of what is known before",
                 COLUMNS(columns));
    for (int i = 0; i < board->count; i++) {
        const Benchmark *benchmark = &board->items[i];
        const Errors *errors = benchmark->errors;
        ANSWER_ROW(answer, benchmark->name, benchmark->count, figures3(board, benchmark->own.batch),
                   figures3(board, benchmark->own.batch / benchmark->items[0].batch), mean_of(board, &errors[0]),
                   mean_of(board, &errors[1]), mean_of(board, &errors[2]), mean_of(board, &errors[3]), benchmark->unit);
    }
    answer_first_rows(answer, 6);
    answer_note(
        answer,
        "E(B) = E0 (1 + B / B_c) (McCandlish et al. 2018). Of a benchmark of which no point is known nothing can "
        "be said: E0 is its own. Beyond 8 times a batch that is known the law needs a second point.");
}

static int ask(Asking *asking) {
    Board board = {.arena = asking->arena, .problems = asking->problems};
    const Options *options = asking->options;
    bool named = option_positional_count(options) > 0;
    read_rows(&board, named ? option_positional(options, 0) : shipped_file(board.arena, SHIPPED));
    if (problem_count(board.problems)) return EXIT_BAD_INPUT;
    fit_all(&board);
    for (int i = 0; i < board.count; i++) predict(&board, i);
    fill(asking->answer, &board);
    return EXIT_DONE;
}

const Question validate_convergence_question = {
    .name = "validate-convergence",
    .usage = "lockstep validate convergence [FILE.csv]",
    .about = "How much data MLPerf's benchmarks need to reach their target by global batch, against the\n"
             "law of the critical batch.\n"
             "Without a file: " SHIPPED ".",
    .positional = 1,
    .ask = ask};
