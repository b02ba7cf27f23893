// lockstep validate kernels: compares measured kernels with the cost functions that every prediction uses.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/fit.h"
#include "results/answer/frame.h"
#include "sim/base/statistics.h"
#include "sim/data/csv.h"
#include "sim/system/file.h"

#define SHIPPED SHIPPED_MEASUREMENTS "/gemm.csv"

static const OptionSpec specs[] = {
    {"profile", OPTION_TEXT, "FILE.json", .help = "predict with this profile (default: the catalogue)"},
    {"held-out", OPTION_FLAG, .help = "fit to each half of the shapes and score on the other half"},
    {"seed", OPTION_SEED, "N", .help = "with --held-out: which halves (default 1)"},
    {"rows", OPTION_TEXT, "OUT.csv",
     .help =
         "every row: file,line,gpu,operation,shape,status,reason,measured_us,predicted_us,error_pct,campaign,length"},
};

static const char usage[] = "lockstep validate kernels [TABLE.csv|MEASURED.json…] [--profile FILE.json] [--held-out] "
                            "[--rows OUT.csv]";
static const char about[] =
    "Compares measured kernels (tables, or what lockstep-bench wrote) with what the cost functions say of them.\n"
    "Without files: " SHIPPED ". The catalogue was fitted to that table, so only --held-out\n"
    "says how shapes never seen are predicted. Tables of GEMMs, attention, experts, casts and exchanges of tokens are\n"
    "known by their columns (calibrate/measurements/kernels/README.md) and told by length.";

// ---- What was measured. Kernels of one GPU, operation and length are a group.

// Of |predicted / measured - 1|, NAN where unknown; bias: median of the signed error.
typedef struct Score {
    int votes; // campaigns, each scored by itself; the score is their mean
    double mean, median, p90, most, bias;
} Score;

typedef struct Group {
    const char *gpu, *operation, *length; // gpu NULL: all of them
    int rows, predicted;
    Score score;
} Group;

typedef LIST_OF(Group) GroupList;

typedef struct Board {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    bool held_out;
    uint64_t seed;
    KernelRows kernels; // none when errors are held out: those come from fits, by group
    GroupList groups, over_gpus;
} Board;

static const char *gemm_operation(Arena *arena, Precision precision) {
    return arena_printf(arena, "gemm %s", precision_name(precision));
}

static const char *gemm_shape(Arena *arena, const Gemm *gemm) {
    const char *batch = gemm->batch > 1 ? arena_printf(arena, "%lld x ", (long long)gemm->batch) : "";
    return arena_printf(arena, "%s%lld x %lld x %lld", batch, (long long)gemm->m, (long long)gemm->n,
                        (long long)gemm->k);
}

static void read_gemm_table(Board *board, const char *path) {
    const GemmRows *rows = gemm_rows_read(board->arena, board->catalogue, path, board->problems);
    for (int i = 0; rows && i < rows->count; i++) {
        const GemmRow *row = &rows->items[i];
        Measured measured = {.kind = MEASURED_GEMM, .gemm = row->point.gemm, .seconds = row->point.seconds};
        KernelRow kernel = {.file = path,
                            .gpu = row->gpu ? row->gpu->name : row->gpu_name,
                            .operation = gemm_operation(board->arena, row->point.gemm.precision),
                            .shape = gemm_shape(board->arena, &row->point.gemm),
                            .campaign = "",
                            .length = "",
                            .why_not = row->why_not,
                            .line = row->line,
                            .measured_s = row->point.seconds,
                            .predicted_s = row->gpu ? measured_prediction(row->gpu, &measured) : NAN};
        LIST_PUSH(board->arena, &board->kernels, kernel);
    }
}

// The kind whose columns the header has; NULL: a table of GEMMs as fits take it, or none.
static const KernelTable *table_kind(Board *board, const char *path, const Csv **csv) {
    Problems *unsaid = problems_create(board->arena);
    *csv = csv_read_file(board->arena, path, unsaid);
    return *csv ? kernel_table_of(*csv) : NULL;
}

static void read_table(Board *board, const char *path) {
    const Csv *csv;
    const KernelTable *kind = table_kind(board, path, &csv);
    if (kind)
        kernel_table_read(board->arena, board->catalogue, kind, csv, &board->kernels, board->problems);
    else
        read_gemm_table(board, path);
}

static void read_bench(Board *board, const char *path) {
    const MeasuredFile *file = measured_read(board->arena, board->catalogue, path, NULL, board->problems);
    for (int i = 0; file && i < file->count; i++) {
        const Measured *row = &file->rows[i];
        bool is_power = row->kind == MEASURED_POWER, is_channel = row->kind == MEASURED_CHANNEL;
        KernelRow kernel = {.file = path,
                            .gpu = file->gpu->name,
                            .operation = row->operation,
                            .shape = measured_name(board->arena, row),
                            .campaign = "",
                            .length = "",
                            .why_not = is_power     ? "watts, no time"
                                       : is_channel ? "no model takes channels among virtual ranks"
                                                    : NULL,
                            .line = row->line,
                            .measured_s = row->seconds,
                            .predicted_s = measured_prediction(file->gpu, row)};
        LIST_PUSH(board->arena, &board->kernels, kernel);
    }
}

// ---- Scores: a vote for each GPU and campaign.

static bool is_of(const KernelRow *kernel, const Group *group) {
    return (!group->gpu || strcmp(kernel->gpu, group->gpu) == 0) && strcmp(kernel->operation, group->operation) == 0 &&
           strcmp(kernel->length, group->length) == 0;
}

static Score score_errors(Arena *arena, const double *errors, int count) {
    double *sizes = ARENA_ARRAY(arena, double, count);
    for (int i = 0; i < count; i++) sizes[i] = fabs(errors[i]);
    Summary summary = summarise(arena, sizes, count);
    return (Score){1, summary.mean, summary.p50, summary.p90, summary.max, quantile(arena, errors, count, 0.5)};
}

static void add_vote(Score *score, Score vote) {
    double old = score->votes / (score->votes + 1.0), new = 1 - old;
    score->mean = old * score->mean + new *vote.mean;
    score->median = old * score->median + new *vote.median;
    score->p90 = old * score->p90 + new *vote.p90;
    score->most = fmax(score->most, vote.most);
    score->bias = old * score->bias + new *vote.bias;
    score->votes++;
}

// Takes the rows of the first GPU and campaign whose turn has not come; 0: all have.
static int next_vote(const Board *board, const Group *group, bool *taken, double *errors) {
    const KernelRow *first = NULL;
    int count = 0;
    for (int i = 0; i < board->kernels.count; i++) {
        const KernelRow *kernel = &board->kernels.items[i];
        if (taken[i] || kernel->why_not || !is_of(kernel, group)) continue;
        if (!first) first = kernel;
        if (strcmp(kernel->campaign, first->campaign) != 0 || strcmp(kernel->gpu, first->gpu) != 0) continue;
        taken[i] = true;
        errors[count++] = kernel->predicted_s / kernel->measured_s - 1;
    }
    return count;
}

static void score_group(Board *board, Group *group) {
    double *errors = ARENA_ARRAY(board->arena, double, board->kernels.count);
    bool *taken = ARENA_ARRAY(board->arena, bool, board->kernels.count);
    for (int i = 0; i < board->kernels.count; i++) group->rows += is_of(&board->kernels.items[i], group);
    for (int count; (count = next_vote(board, group, taken, errors)) > 0; group->predicted += count)
        add_vote(&group->score, score_errors(board->arena, errors, count));
}

static void note_group(Board *board, GroupList *groups, const KernelRow *kernel, const char *gpu) {
    for (int g = 0; g < groups->count; g++) {
        const Group *other = &groups->items[g];
        bool same_gpu = other->gpu == gpu || (gpu && other->gpu && strcmp(other->gpu, gpu) == 0);
        if (same_gpu && is_of(kernel, other)) return;
    }
    Group group = {.gpu = gpu, .operation = kernel->operation, .length = kernel->length};
    LIST_PUSH(board->arena, groups, group);
}

static void score_kernels(Board *board) {
    for (int i = 0; i < board->kernels.count; i++) {
        const KernelRow *kernel = &board->kernels.items[i];
        note_group(board, &board->groups, kernel, kernel->gpu);
        if (*kernel->length) note_group(board, &board->over_gpus, kernel, NULL);
    }
    for (int g = 0; g < board->groups.count; g++) score_group(board, &board->groups.items[g]);
    for (int g = 0; g < board->over_gpus.count; g++) score_group(board, &board->over_gpus.items[g]);
}

// Adds a fit's own hold-out scores of a group.
static void add_held_out(Board *board, const char *gpu, const char *operation, int rows, double median, double p90,
                         double bias) {
    Group group = {.gpu = gpu, .operation = operation, .length = "", .rows = rows, .predicted = rows};
    group.score = (Score){1, NAN, median, p90, NAN, bias};
    LIST_PUSH(board->arena, &board->groups, group);
}

static void refuse_to_fit(Board *board, const char *path) {
    problem_add(board->problems, (Where){path, 0}, "--held-out fits GEMMs with the columns of %s, not this table",
                SHIPPED);
    problem_hint(board->problems, "leave --held-out out: the table is compared with the catalogue");
}

static void hold_out_table(Board *board, const char *path) {
    const Csv *csv;
    if (table_kind(board, path, &csv)) {
        refuse_to_fit(board, path);
        return;
    }
    const GemmData *data = gemm_data_read(board->arena, board->catalogue, path, board->problems);
    if (!data) return;
    GemmFit fit = gemm_fit(board->arena, data, board->seed);
    for (int i = 0; i < fit.group_count; i++) {
        const GroupFit *from = &fit.groups[i];
        add_held_out(board, from->gpu->name, gemm_operation(board->arena, from->precision), from->count,
                     from->median_error, from->p90_error, from->bias);
    }
}

static void hold_out_bench(Board *board, const char *path) {
    const MeasuredFile *file = measured_read(board->arena, board->catalogue, path, NULL, board->problems);
    if (!file) return;
    DeviceFit fit = device_fit(board->arena, board->catalogue, file->gpu, file->rows, file->count, board->seed, true);
    for (int i = 0; i < fit.held_out_count; i++) {
        const OperationError *from = &fit.held_out[i];
        add_held_out(board, file->gpu->name, from->operation, from->count, from->median, from->p90, from->bias);
    }
}

// ---- The answer.

typedef struct Reason {
    const char *text;
    int rows;
} Reason;

typedef LIST_OF(Reason) ReasonList;

static void count_reason(Arena *arena, ReasonList *reasons, const char *text) {
    for (int i = 0; i < reasons->count; i++) {
        if (strcmp(reasons->items[i].text, text) != 0) continue;
        reasons->items[i].rows++;
        return;
    }
    LIST_PUSH(arena, reasons, ((Reason){text, 1}));
}

// Kernels left out, by reason, in the order of the files.
static void add_left_out(Answer *answer, const Board *board) {
    static const AnswerColumn columns[] = {{"rows", "left out", AS_WHOLE, 0}, {"reason", "why", AS_TEXT, 0}};
    ReasonList reasons = {0};
    for (int i = 0; i < board->kernels.count; i++)
        if (board->kernels.items[i].why_not) count_reason(board->arena, &reasons, board->kernels.items[i].why_not);
    answer_table(answer, "left_out", NULL, COLUMNS(columns));
    for (int i = 0; i < reasons.count; i++) ANSWER_ROW(answer, reasons.items[i].rows, reasons.items[i].text);
    answer_first_rows(answer, 2);
}

static AnswerValue percent(double share) { return isnan(share) ? answer_of_nothing() : answer_of_percent(share); }

static AnswerValue length_of(const Group *group) {
    return *group->length ? answer_of_text(group->length) : answer_of_nothing();
}

static void add_groups(Answer *answer, const char *key, const GroupList *groups) {
    static const AnswerColumn columns[] = {{"gpu", NULL, AS_TEXT, 0},
                                           {NULL, "GPU", AS_TEXT, 0},
                                           {"operation", "operation", AS_TEXT, 0},
                                           {"length", "length", AS_TEXT, 0},
                                           {"rows", "rows", AS_WHOLE, 4},
                                           {"predicted", "predicted", AS_WHOLE, 3},
                                           {"votes", NULL, AS_WHOLE, 0},
                                           {"mean_error_pct", "mean %", AS_NUMBER, 2},
                                           {"median_error_pct", "median", AS_NUMBER, 0},
                                           {"p90_error_pct", "p90", AS_NUMBER, 0},
                                           {"max_error_pct", "max", AS_NUMBER, 5},
                                           {"bias_pct", "bias", AS_NUMBER, 1}};
    answer_table(answer, key, NULL, COLUMNS(columns));
    for (int g = 0; g < groups->count; g++) {
        const Group *group = &groups->items[g];
        const Score score = group->predicted ? group->score : (Score){0, NAN, NAN, NAN, NAN, NAN};
        ANSWER_ROW(answer, group->gpu ? answer_of_text(group->gpu) : answer_of_nothing(),
                   group->gpu ? group->gpu : "all", group->operation, length_of(group), group->rows, group->predicted,
                   *group->length && group->predicted ? answer_of(AS_WHOLE, score.votes) : percent(NAN),
                   percent(score.mean), percent(score.median), percent(score.p90), percent(score.most),
                   percent(score.bias));
        if (!group->predicted) answer_row_detail(answer, FOR_PROGRAMS);
    }
}

static void fill(Answer *answer, const Board *board, bool shipped) {
    bool by_length = board->over_gpus.count > 0;
    answer_bool(answer, "held_out", NULL, board->held_out);
    if (by_length) add_groups(answer, "over_gpus", &board->over_gpus);
    if (by_length) answer_first_rows(answer, 5);
    add_groups(answer, "groups", &board->groups);
    answer_first_rows(answer, by_length ? 3 : 9);
    answer_main_called(answer, "groups");
    add_left_out(answer, board);
    if (by_length)
        answer_say(answer, NULL, "One vote for each GPU and campaign: a line is the mean of their medians, and so on.");
    answer_say(answer, NULL, "Errors: |predicted / measured - 1|%s",
               board->held_out ? ", each half of the shapes predicted from a fit to the other."
               : shipped ? "; the catalogue was fitted to these rows: --held-out predicts shapes not seen. The FP32 "
                           "rows (NeuSight's) hold some 50 us of the program that measured them, which is no GPU's and "
                           "which only --held-out takes into account."
                         : ".");
}

static bool write_rows(const Board *board, const char *path) {
    OutputFile file;
    if (!file_create(board->arena, path, &file, board->problems)) return false;
    csv_titles(file.stream,
               "file,line,gpu,operation,shape,status,reason,measured_us,predicted_us,error_pct,campaign,length");
    CsvWriter csv = csv_writer(file.stream);
    for (int i = 0; i < board->kernels.count; i++) {
        const KernelRow *kernel = &board->kernels.items[i];
        bool predicted = !kernel->why_not;
        csv_text(&csv, kernel->file);
        csv_figures(&csv, "%d", kernel->line);
        csv_text(&csv, kernel->gpu);
        csv_text(&csv, kernel->operation);
        csv_text(&csv, kernel->shape);
        csv_text(&csv, predicted ? "ok" : "skipped");
        csv_text(&csv, kernel->why_not);
        csv_figures(&csv, "%.6g", 1e6 * kernel->measured_s);
        csv_number(&csv, "%.6g", predicted ? 1e6 * kernel->predicted_s : NAN);
        csv_number(&csv, "%.4g", predicted ? 100 * (kernel->predicted_s / kernel->measured_s - 1) : NAN);
        csv_text(&csv, kernel->campaign);
        csv_text(&csv, kernel->length);
        csv_end_row(&csv);
    }
    return file_commit(&file, board->problems);
}

// ---- The question.

static void read_all(Board *board, const Options *options) {
    int count = option_positional_count(options);
    for (int i = 0; i < (count ? count : 1); i++) {
        const char *path = count ? option_positional(options, i) : shipped_file(board->arena, SHIPPED);
        bool is_bench = measured_is_json(path);
        if (board->held_out)
            (is_bench ? hold_out_bench : hold_out_table)(board, path);
        else
            (is_bench ? read_bench : read_table)(board, path);
    }
    if (!board->held_out) score_kernels(board);
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    Board board = {.arena = asking->arena, .problems = asking->problems, .held_out = option_flag(options, "held-out")};
    const char *rows = option_text(options, "rows", NULL), *profile = option_text(options, "profile", NULL);
    board.seed = option_seed(options, "seed", 1);
    if (board.held_out && rows) {
        problem_add(board.problems, (Where){0}, "--rows is of single predictions, and --held-out scores by group");
        problem_hint(board.problems, "leave one of them out");
        return EXIT_USAGE;
    }
    board.catalogue = catalogue_with_profile(board.arena, profile, board.problems);
    if (board.catalogue) read_all(&board, options);
    if (problem_count(board.problems)) return EXIT_BAD_INPUT;
    fill(asking->answer, &board, option_positional_count(options) == 0 && !profile);
    return !rows || write_rows(&board, rows) ? EXIT_DONE : EXIT_FAILED;
}

const Question validate_kernels_question = {.name = "validate-kernels",
                                            .usage = usage,
                                            .about = about,
                                            .own = specs,
                                            .own_count = sizeof specs / sizeof *specs,
                                            .positional = INT_MAX,
                                            .ask = ask};
