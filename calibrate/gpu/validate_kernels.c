// lockstep validate kernels: measured kernels against the cost functions that every prediction is made of.
#include <math.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "calibrate/gpu/fit_device.h"
#include "calibrate/gpu/fit_gemm.h"
#include "calibrate/shipped.h"
#include "sim/csv.h"
#include "sim/envelope.h"
#include "sim/file.h"
#include "sim/json.h"
#include "sim/list.h"
#include "sim/options.h"
#include "sim/statistics.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, BAD_INPUT = 4 };

#define SHIPPED SHIPPED_MEASUREMENTS "/gemm.csv"

static const OptionSpec specs[] = {
    {"profile", OPTION_TEXT, "FILE.json", .help = "predict with this profile (default: the catalogue)"},
    {"held-out", OPTION_FLAG, .help = "fit to each half of the shapes and score on the other half"},
    {"seed", OPTION_COUNT, "N", .help = "with --held-out: which halves (default 1)"},
    {"rows", OPTION_TEXT, "OUT.csv",
     .help = "every row: file,line,gpu,operation,shape,status,reason,measured_us,predicted_us,error_pct"},
    {"json", OPTION_FLAG, .help = "print JSON instead of a table"},
};
enum { SPEC_COUNT = sizeof specs / sizeof *specs };

static const char usage[] =
    "lockstep validate kernels [GEMM.csv|MEASURED.json…] [--profile FILE.json] [--held-out] [--rows OUT.csv] [--json]";
static const char about[] =
    "Compares measured kernels (tables of GEMMs, or what lockstep-bench wrote) with what the cost functions say of\n"
    "them. Without files: " SHIPPED ". The catalogue was fitted to that table, so only --held-out says how shapes\n"
    "never seen are predicted.";

// ---- What was measured. Kernels of one GPU and operation are a group.

typedef struct Kernel {
    const char *file, *gpu, *operation, *shape, *why_not; // why_not: NULL when it is predicted
    int line;
    double measured_s, predicted_s;
} Kernel;

typedef struct Group {
    const char *gpu, *operation;
    int rows, predicted;
    double mean, median, p90, most, bias; // of |predicted / measured - 1|; bias: median of the signed
} Group;

typedef struct Board {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    bool held_out;
    uint64_t seed;
    Kernel *kernels; // none when errors are held out: those come from fits, by group
    int kernel_count, kernel_room;
    Group *groups;
    int group_count, group_room;
} Board;

typedef struct KernelList {
    Kernel *items;
    int count, room;
} KernelList;

static void add_kernel(Board *board, Kernel kernel) {
    KernelList list = {board->kernels, board->kernel_count, board->kernel_room};
    LIST_PUSH(board->arena, &list, kernel);
    board->kernels = list.items, board->kernel_count = list.count, board->kernel_room = list.room;
}

static Group *add_group(Board *board, const char *gpu, const char *operation) {
    struct {
        Group *items;
        int count, room;
    } list = {board->groups, board->group_count, board->group_room};
    Group group = {.gpu = gpu, .operation = operation};
    LIST_PUSH(board->arena, &list, group);
    board->groups = list.items, board->group_count = list.count, board->group_room = list.room;
    return &board->groups[board->group_count - 1];
}

static const char *gemm_operation(Arena *arena, Precision precision) {
    return arena_printf(arena, "gemm %s", precision_name(precision));
}

static const char *gemm_shape(Arena *arena, const Gemm *gemm) {
    const char *batch = gemm->batch > 1 ? arena_printf(arena, "%lld x ", (long long)gemm->batch) : "";
    return arena_printf(arena, "%s%lld x %lld x %lld", batch, (long long)gemm->m, (long long)gemm->n,
                        (long long)gemm->k);
}

static void read_table(Board *board, const char *path) {
    const GemmRows *rows = gemm_rows_read(board->arena, board->catalogue, path, board->problems);
    for (int i = 0; rows && i < rows->count; i++) {
        const GemmRow *row = &rows->items[i];
        Measured measured = {.kind = MEASURED_GEMM, .gemm = row->point.gemm, .seconds = row->point.seconds};
        add_kernel(board, (Kernel){.file = path,
                                   .gpu = row->gpu ? row->gpu->name : row->gpu_name,
                                   .operation = gemm_operation(board->arena, row->point.gemm.precision),
                                   .shape = gemm_shape(board->arena, &row->point.gemm),
                                   .why_not = row->why_not,
                                   .line = row->line,
                                   .measured_s = row->point.seconds,
                                   .predicted_s = row->gpu ? measured_prediction(row->gpu, &measured) : NAN});
    }
}

static void read_bench(Board *board, const char *path) {
    const MeasuredFile *file = measured_read(board->arena, board->catalogue, path, NULL, board->problems);
    for (int i = 0; file && i < file->count; i++) {
        const Measured *row = &file->rows[i];
        bool is_power = row->kind == MEASURED_POWER, is_channel = row->kind == MEASURED_CHANNEL;
        add_kernel(board, (Kernel){.file = path,
                                   .gpu = file->gpu->name,
                                   .operation = row->operation,
                                   .shape = measured_name(board->arena, row),
                                   .why_not = is_power     ? "watts, no time"
                                              : is_channel ? "no model takes channels among virtual ranks"
                                                           : NULL,
                                   .line = row->line,
                                   .measured_s = row->seconds,
                                   .predicted_s = measured_prediction(file->gpu, row)});
    }
}

// ---- Scores.

static bool is_of(const Kernel *kernel, const Group *group) {
    return strcmp(kernel->gpu, group->gpu) == 0 && strcmp(kernel->operation, group->operation) == 0;
}

static void score(Board *board, Group *group) {
    double *sizes = ARENA_ARRAY(board->arena, double, board->kernel_count);
    double *errors = ARENA_ARRAY(board->arena, double, board->kernel_count);
    for (int i = 0; i < board->kernel_count; i++) {
        const Kernel *kernel = &board->kernels[i];
        if (!is_of(kernel, group)) continue;
        group->rows++;
        if (kernel->why_not) continue;
        errors[group->predicted] = kernel->predicted_s / kernel->measured_s - 1;
        sizes[group->predicted] = fabs(errors[group->predicted]);
        group->predicted++;
    }
    if (group->predicted == 0) return;
    Summary summary = summarise(board->arena, sizes, group->predicted);
    group->mean = summary.mean, group->median = summary.p50, group->p90 = summary.p90, group->most = summary.max;
    group->bias = quantile(board->arena, errors, group->predicted, 0.5);
}

static void score_kernels(Board *board) {
    for (int i = 0; i < board->kernel_count; i++) {
        bool seen = false;
        for (int g = 0; g < board->group_count && !seen; g++) seen = is_of(&board->kernels[i], &board->groups[g]);
        if (!seen) add_group(board, board->kernels[i].gpu, board->kernels[i].operation);
    }
    for (int g = 0; g < board->group_count; g++) score(board, &board->groups[g]);
}

// A fit tells no more of a group than this.
static void add_held_out(Board *board, const char *gpu, const char *operation, int rows, double median, double p90,
                         double bias) {
    Group *group = add_group(board, gpu, operation);
    group->rows = group->predicted = rows;
    group->mean = group->most = NAN;
    group->median = median, group->p90 = p90, group->bias = bias;
}

static void hold_out_table(Board *board, const char *path) {
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

// ---- Telling.

static void print_percent(double value) {
    if (isnan(value))
        printf("%10s", "-");
    else
        printf(" %7.1f %%", 100 * value);
}

// Kernels left out, by reason, in the order of the files.
static void print_left_out(const Board *board) {
    for (int i = 0; i < board->kernel_count; i++) {
        const char *why = board->kernels[i].why_not;
        int count = 0;
        bool told = !why;
        for (int k = 0; k < i && !told; k++)
            told = board->kernels[k].why_not && strcmp(board->kernels[k].why_not, why) == 0;
        for (int k = i; k < board->kernel_count && !told; k++)
            count += board->kernels[k].why_not && strcmp(board->kernels[k].why_not, why) == 0;
        if (!told) printf("left out %d: %s\n", count, why);
    }
}

static void print_board(const Board *board, bool shipped) {
    printf("%-20s %-22s %6s %9s %9s %9s %9s %9s %9s\n", "GPU", "operation", "rows", "predicted", "mean", "median",
           "p90", "max", "bias");
    for (int g = 0; g < board->group_count; g++) {
        const Group *group = &board->groups[g];
        if (group->predicted == 0) continue;
        printf("%-20s %-22s %6d %9d", group->gpu, group->operation, group->rows, group->predicted);
        print_percent(group->mean), print_percent(group->median), print_percent(group->p90), print_percent(group->most);
        printf(" %+7.1f %%\n", 100 * group->bias);
    }
    print_left_out(board);
    if (board->held_out)
        printf("errors: |predicted / measured - 1|, each half of the shapes predicted from a fit to the other\n");
    else
        printf("errors: |predicted / measured - 1|%s\n",
               shipped
                   ? "; the catalogue was fitted to these rows: --held-out predicts shapes not seen.\n"
                     "The FP32 rows (NeuSight's) hold some 50 us of the program that measured them, which is no GPU's "
                     "and which\nonly --held-out takes into account"
                   : "");
}

static void number_member(JsonWriter *json, const char *key, double value) {
    if (!isnan(value)) json_number_member(json, key, value);
}

static void print_json(const Board *board) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "validate-kernels");
    json_bool_member(&json, "held_out", board->held_out);
    json_key(&json, "groups");
    json_begin_list(&json);
    for (int g = 0; g < board->group_count; g++) {
        const Group *group = &board->groups[g];
        json_begin_object(&json);
        json_text_member(&json, "gpu", group->gpu);
        json_text_member(&json, "operation", group->operation);
        json_integer_member(&json, "rows", group->rows);
        json_integer_member(&json, "predicted", group->predicted);
        if (group->predicted > 0) {
            number_member(&json, "mean_error_pct", 100 * group->mean);
            number_member(&json, "median_error_pct", 100 * group->median);
            number_member(&json, "p90_error_pct", 100 * group->p90);
            number_member(&json, "max_error_pct", 100 * group->most);
            number_member(&json, "bias_pct", 100 * group->bias);
        }
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static bool write_rows(const Board *board, const char *path) {
    OutputFile file;
    if (!file_create(board->arena, path, &file, board->problems)) return false;
    csv_titles(file.stream, "file,line,gpu,operation,shape,status,reason,measured_us,predicted_us,error_pct");
    CsvWriter csv = csv_writer(file.stream);
    for (int i = 0; i < board->kernel_count; i++) {
        const Kernel *kernel = &board->kernels[i];
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
        csv_end_row(&csv);
    }
    return file_commit(&file, board->problems);
}

// ---- The command.

static int validate(Board *board, const Options *options) {
    const char *shipped[] = {shipped_file(board->arena, SHIPPED)}, *rows = option_text(options, "rows", NULL);
    int count = option_positional_count(options);
    board->catalogue = catalogue_with_profile(board->arena, option_text(options, "profile", NULL), board->problems);
    if (!board->catalogue) return BAD_INPUT;
    for (int i = 0; i < (count ? count : 1); i++) {
        const char *path = count ? option_positional(options, i) : shipped[i];
        bool is_bench = measured_is_json(path);
        if (board->held_out)
            (is_bench ? hold_out_bench : hold_out_table)(board, path);
        else
            (is_bench ? read_bench : read_table)(board, path);
    }
    if (problem_count(board->problems)) return BAD_INPUT;
    if (!board->held_out) score_kernels(board);
    if (option_flag(options, "json"))
        print_json(board);
    else
        print_board(board, count == 0 && !option_given(options, "profile"));
    return !rows || write_rows(board, rows) ? DONE : FAILED;
}

int validate_kernels(int argc, char **argv) {
    Arena *arena = arena_open();
    Board board = {.arena = arena, .problems = problems_create(arena)};
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, board.problems);
    int code = BAD_USAGE;
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        arena_close(arena);
        return DONE;
    }
    board.held_out = option_flag(options, "held-out");
    board.seed = (uint64_t)option_count(options, "seed", 1);
    if (board.held_out && option_given(options, "rows")) {
        problem_add(board.problems, (Where){0}, "--rows is of single predictions, and --held-out scores by group");
        problem_hint(board.problems, "leave one of them out");
    }
    if (problem_count(board.problems) == 0) code = validate(&board, options);
    problems_print(board.problems, stderr);
    arena_close(arena);
    return code;
}
