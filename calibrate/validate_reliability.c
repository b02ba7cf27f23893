// lockstep validate reliability: published rates of job interruptions against lives simulated from failure rates,
// each with the fleet whose rates were counted: a rate cannot be scored on the figure it was taken from.
#include <math.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "models/hardware/hardware.h"
#include "models/workload/life/life.h"
#include "results/answer/frame.h"
#include "sim/data/csv.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"

#define SHIPPED SHIPPED_MEASUREMENTS "/reliability.csv"
#define RUNS 50
#define BEST_RUNS 20

static const OptionSpec specs[] = {
    {"runs", OPTION_COUNT, "N", .help = "lives for each figure; default 50"},
};

static const char *const column_words[] = {"figure", "what",          "unit",    "published", "bound",    "gpus",
                                           "days",   "checkpoint_tb", "storage", "rates",     "relation", "source"};
enum { FIGURE, WHAT, UNIT, PUBLISHED, BOUND, GPUS, DAYS, CHECKPOINT, STORAGE, RATES, RELATION, SOURCE, COLUMN_COUNT };

typedef struct Row {
    const char *cells[COLUMN_COUNT];
    double published, simulated;
    bool is_bound; // the published figure is a lower bound
} Row;

typedef struct Board {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    int runs;
    Row *rows;
    int count;
} Board;

// A job that goes on at once after each failure, so that its time is all time to failure.
static void stop_for_nothing(LifeSpec *spec) {
    spec->crash_detection_s = spec->hang_detection_s = spec->silent_detection_s = 0;
    spec->restart_s = spec->repair_s = spec->rack_repair_s = 0;
    spec->slow_rate = spec->flap_rate = spec->planned_rate = 0;
}

// Reads and writes its state through the storage named, as often as is best.
static void set_checkpoints(const Board *board, LifeSpec *spec, const NodeType *node, const Row *row, double terabytes,
                            Where where) {
    const StorageType *storage =
        find_storage(board->arena, board->catalogue, row->cells[STORAGE], where, board->problems);
    if (!storage) return;
    const Gpu *gpu = node_gpu(board->catalogue, node, 0);
    storage = storage_of_units(board->arena, storage, 0, spec->nodes * node->gpu_count);
    spec->checkpoint = checkpoint_plan(CHECKPOINT_SYNC, terabytes * 1e12, spec->nodes, node, gpu, storage);
    spec->checkpoint.every_s = life_best_interval(spec, BEST_RUNS, 1);
}

static void simulate(const Board *board, const Csv *csv, int at, const int *columns, Row *row) {
    Where where = csv_where(csv, at);
    const FaultRates *rates = find_faults(board->arena, board->catalogue, row->cells[RATES], where, board->problems);
    const NodeType *node = catalogue_node(board->catalogue, "dgx-h100");
    double gpus = csv_positive(csv, at, columns[GPUS], board->problems);
    double days = csv_positive(csv, at, columns[DAYS], board->problems);
    row->published = csv_positive(csv, at, columns[PUBLISHED], board->problems);
    bool has_checkpoints = row->cells[CHECKPOINT][0] != '\0';
    double terabytes = has_checkpoints ? csv_positive(csv, at, columns[CHECKPOINT], board->problems) : 0;
    if (problem_count(board->problems)) return;
    LifeSpec spec = life_spec(board->arena, rates, node, (int)(gpus / node->gpu_count));
    spec.fleet_spread = 0;
    spec.horizon_s = days * 86400;
    spec.spares = life_usual_spares(spec.nodes);
    bool is_hours = strcmp(row->cells[UNIT], "h") == 0;
    if (has_checkpoints) set_checkpoints(board, &spec, node, row, terabytes, where);
    if (!has_checkpoints) stop_for_nothing(&spec);
    if (problem_count(board->problems)) return;
    LifeStudy study = life_study(board->arena, &spec, board->runs, 1);
    row->simulated = is_hours ? study.mttf_s / 3600 : has_checkpoints ? study.ettr.mean : study.stops.mean;
}

static void read_rows(Board *board, const char *path) {
    const Csv *csv = csv_read_file(board->arena, path, board->problems);
    if (!csv) return;
    int columns[COLUMN_COUNT];
    for (int i = 0; i < COLUMN_COUNT; i++) columns[i] = csv_column(csv, column_words[i], board->problems);
    if (problem_count(board->problems)) return;
    board->rows = ARENA_ARRAY(board->arena, Row, csv->row_count);
    WatchPiece piece; // after an interrupt the rows are those before it
    watch_begin(&piece, "the figures", csv->row_count, WATCH_NO_LIMIT);
    for (int r = 0; r < csv->row_count; r++) {
        Row *row = &board->rows[r];
        for (int i = 0; i < COLUMN_COUNT; i++) row->cells[i] = csv_cell(csv, r, columns[i]);
        row->is_bound = strcmp(row->cells[BOUND], "least") == 0;
        simulate(board, csv, r, columns, row);
        if (!watch_goes_on(1)) break;
        board->count++;
    }
    watch_end(&piece);
}

static double error_of(const Row *row) {
    double error = row->simulated / row->published - 1;
    return row->is_bound && error > 0 ? 0 : error;
}

static void fill(Answer *answer, const Board *board) {
    static const AnswerColumn columns[] = {{"figure", NULL, AS_TEXT, 0},
                                           {NULL, "figure", AS_TEXT, 0},
                                           {"unit", NULL, AS_TEXT, 0},
                                           {"published", "published", AS_NUMBER, 0},
                                           {"simulated", "simulated", AS_NUMBER, 0},
                                           {"error_pct", "error", AS_NUMBER, 0},
                                           {"bound", NULL, AS_TEXT, 0},
                                           {"rates", "rates", AS_TEXT, 2},
                                           {"relation", "relation", AS_TEXT, 1},
                                           {"source", NULL, AS_TEXT, 0}};
    Arena *arena = board->arena;
    answer_table(answer, "rows", "How often jobs stop, and what becomes of them", COLUMNS(columns));
    for (int i = 0; i < board->count; i++) {
        const Row *row = &board->rows[i];
        double error = 100 * error_of(row);
        bool again = i > 0 && strcmp(row->cells[WHAT], board->rows[i - 1].cells[WHAT]) == 0;
        const char *what = again ? arena_printf(arena, "  at rates of %s", row->cells[RATES]) : row->cells[WHAT];
        ANSWER_ROW(answer, row->cells[FIGURE], what, row->cells[UNIT],
                   answer_shown(AS_NUMBER, row->published,
                                arena_printf(arena, "%s%.3g", row->is_bound ? "> " : "", row->published)),
                   answer_shown(AS_NUMBER, row->simulated, arena_printf(arena, "%.3g", row->simulated)),
                   answer_shown(AS_NUMBER, error, arena_printf(arena, "%+.1f %%", error)), row->cells[BOUND],
                   row->cells[RATES], row->cells[RELATION], row->cells[SOURCE]);
    }
    answer_note(answer,
                "Same figure: the rates were counted on it, so that it says nothing but that the sums are right. Same "
                "fleet or paper: the rates come from another of its figures. Other fleet: a prediction; fleets differ "
                "by more than any model could know.");
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    Board board = {.arena = asking->arena, .problems = asking->problems};
    board.runs = option_count_within(options, "runs", RUNS, 1, 100000, board.problems);
    if (problem_count(board.problems)) return EXIT_USAGE;
    board.catalogue = catalogue_builtin(board.arena);
    bool named = option_positional_count(options) > 0;
    read_rows(&board, named ? option_positional(options, 0) : shipped_file(board.arena, SHIPPED));
    if (problem_count(board.problems)) return EXIT_BAD_INPUT;
    fill(asking->answer, &board);
    return EXIT_DONE;
}

const Question validate_reliability_question = {
    .name = "validate-reliability",
    .usage = "lockstep validate reliability [FILE.csv] [--runs N]",
    .about = "Published figures of how often jobs stop, against lives simulated from failure rates.\n"
             "Without a file: " SHIPPED ".",
    .own = specs,
    .own_count = sizeof specs / sizeof *specs,
    .positional = 1,
    .ask = ask};
