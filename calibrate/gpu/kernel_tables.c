// The kinds of tables, a row each: by which columns it is known, what a line of it is called, what the cost functions
// say of it. Columns: calibrate/measurements/kernels/README.md.
#include "calibrate/gpu/kernel_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/fit/fit_exchanges.h"
#include "calibrate/gpu/fit/fit_experts.h"
#include "calibrate/gpu/fit/fit_generations.h"
#include "calibrate/gpu/fit/measured.h"
#include "calibrate/gpu/predict_kernels.h"
#include "models/hardware/flash.h"
#include "models/hardware/grouped.h"
#include "models/hardware/hardware_constants.h"
#include "models/workload/cost/cost.h"
#include "sim/base/list.h"

#define COLUMNS_MOST 13

// A line as its kind reads it: by the names of columns, which the header was found to have.
typedef struct Line {
    Arena *arena;
    const Catalogue *catalogue;
    const Csv *csv;
    int row;
    Problems *problems;
} Line;

struct KernelTable {
    const char *name, *columns[COLUMNS_MOST];
    const char *(*operation)(const Line *line);
    const char *(*shape)(const Line *line);
    const char *(*predict)(const Line *line, const Gpu *gpu, double *seconds); // why not, or NULL
};

// ---- Cells.

static int column_of(const Csv *csv, const char *word) {
    for (int i = 0; i < csv->column_count; i++)
        if (strcmp(csv->columns[i], word) == 0) return i;
    return -1;
}

static const char *text_in(const Line *line, const char *column) {
    int at = column_of(line->csv, column);
    return at < 0 ? "" : csv_cell(line->csv, line->row, at);
}

static bool says(const Line *line, const char *column, const char *word) {
    return strcmp(text_in(line, column), word) == 0;
}

static double number_in(const Line *line, const char *column) {
    return csv_positive(line->csv, line->row, column_of(line->csv, column), line->problems);
}

#define LARGEST_SIZE 1e9
static int size_in(const Line *line, const char *column) {
    double value = number_in(line, column);
    if (value >= 1 && value <= LARGEST_SIZE) return (int)value;
    if (value > 0) problem_add(line->problems, csv_where(line->csv, line->row), "%s = %g is no size", column, value);
    return 1;
}

// The header's columns with what the line has in them: "m 128, n 4096, k 512".
static const char *told(const Line *line, const char *const *columns, int count) {
    const char *all = "";
    for (int i = 0; i < count; i++)
        all = arena_printf(line->arena, "%s%s%s %s", all, i ? " " : "", columns[i], text_in(line, columns[i]));
    return all;
}

// ---- Types of numbers, as they are spelt with the block that shares a scale.

typedef struct NumberType {
    const char *word;
    Precision precision;
    Fp8Recipe recipe;
    Cast cast;                  // of the input; no bytes: there is none
    HardwareConstantId scaling; // NO_SCALING: the kernel that casts finds the scales
} NumberType;
#define NO_SCALING HARDWARE_CONSTANT_COUNT

// vLLM's cast by rows takes a block for each and more time for it than the table of casts alone has.
static const NumberType number_types[] = {
    {"bf16", BF16, FP8_DELAYED, {0, 0, 0, 0}, NO_SCALING},
    {"fp8_tensor", FP8, FP8_TENSORWISE, {5, 0, 7e-6, 2}, SCALING_8_SECONDS},
    {"fp8_token", FP8, FP8_ROWWISE, {4, 6.5e-9, 1e-6, 0}, NO_SCALING},
    {"fp8_block", FP8, FP8_BLOCKWISE, {3 + 4.0 / 128, 0, 0, 0}, SCALING_8_SECONDS},
    {"nvfp4", FP4, FP8_DELAYED, {2.5 + 1.0 / 16, 0, 0, 0}, SCALING_4_SECONDS},
    {"int8", INT8, FP8_DELAYED, {0, 0, 0, 0}, NO_SCALING},
};

static const NumberType *type_of(const Line *line) {
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; i++)
        if (says(line, "dtype", number_types[i].word)) return &number_types[i];
    return NULL;
}

static const char *no_type(const Line *line) {
    return arena_printf(line->arena, "no products are in \"%s\"", text_in(line, "dtype"));
}

static const char *no_units(const Gpu *gpu, Arena *arena, Precision precision) {
    return arena_printf(arena, "%s has no %s units", gpu->name, precision_name(precision));
}

// ---- One product, with the cast of its input where that is in 8 bits or less.

static const char *gemm_operation(const Line *line) {
    return arena_printf(line->arena, "gemm %s", text_in(line, "dtype"));
}

static const char *gemm_shape(const Line *line) {
    return arena_printf(line->arena, "%s x %s x %s", text_in(line, "m"), text_in(line, "n"), text_in(line, "k"));
}

// TensorRT-LLM's SmoothQuant: CUTLASS's kernels do not split K, and for the fewest rows there is one that multiplies a
// vector; the input comes in 8 bits, the output goes in 16. TensorRT's own profiler timed them, launch and all, in
// steps of 1.024 us (A100, one campaign).
#define VECTOR_ROWS 4
#define VECTOR_START_SECONDS 7e-6
#define SMOOTH_QUANT_START_SECONDS 11e-6

static const char *predict_smooth_quant(const Gpu *gpu, Gemm *gemm, double *seconds) {
    bool is_vector = gemm->m <= VECTOR_ROWS;
    gemm->whole_k = !is_vector;
    gemm->output_bytes = 2;
    *seconds = (is_vector ? VECTOR_START_SECONDS : SMOOTH_QUANT_START_SECONDS) + gemm_seconds(gpu, gemm);
    return NULL;
}

static const char *predict_gemm(const Line *line, const Gpu *gpu, double *seconds) {
    const NumberType *type = type_of(line);
    Gemm gemm = {.batch = 1, .m = size_in(line, "m"), .n = size_in(line, "n"), .k = size_in(line, "k")};
    if (!type) return no_type(line);
    if (!gpu_supports(gpu, type->precision)) return no_units(gpu, line->arena, type->precision);
    gemm.precision = type->precision;
    gemm_in_a_loop(&gemm, text_in(line, "framework"), text_in(line, "weights"));
    if (type->precision == FP8) gemm.rate = fp8_recipe_rate(gpu, type->recipe);
    if (type->precision == INT8) return predict_smooth_quant(gpu, &gemm, seconds);
    *seconds = launches_in_a_graph(gpu, 1) + gemm_seconds(gpu, &gemm);
    if (type->cast.bytes > 0)
        *seconds += cast_seconds(gpu, &type->cast, (double)gemm.m, (double)gemm.m * (double)gemm.k);
    bool in_the_cast = says(line, "framework", "sglang"); // its cast lays the scales out as DeepGEMM wants them
    if (type->scaling != NO_SCALING && !in_the_cast) *seconds += hardware_constant(type->scaling);
    return NULL;
}

// ---- Attention.

static const char *attention_operation(const Line *line) {
    return arena_printf(line->arena, "%s %s", text_in(line, "family"), text_in(line, "dtype"));
}

static const char *attention_shape(const Line *line) {
    static const char *const columns[] = {"batch", "seq", "heads", "kv_heads", "qk_dim", "v_dim", "window"};
    return told(line, columns, sizeof columns / sizeof *columns);
}

static const char *predict_attention(const Line *line, const Gpu *gpu, double *seconds) {
    FlashShape shape = {.batch = number_in(line, "batch"),
                        .length = number_in(line, "seq"),
                        .heads = size_in(line, "heads"),
                        .kv_heads = size_in(line, "kv_heads"),
                        .key_dim = size_in(line, "qk_dim"),
                        .value_dim = size_in(line, "v_dim"),
                        .causal = says(line, "causal", "yes"),
                        .window = says(line, "window", "0") ? 0 : number_in(line, "window")};
    const char *dtype = text_in(line, "dtype");
    const FlashKernel *kernel = flash_kernel_of(gpu, text_in(line, "family"), dtype, text_in(line, "kernel"));
    if (!precision_from_name(dtype, &shape.precision)) return no_type(line);
    if (!gpu_supports(gpu, shape.precision)) return no_units(gpu, line->arena, shape.precision);
    if (!kernel) return "nothing is known of such a kernel";
    *seconds = flash_seconds(gpu, &shape, kernel);
    return NULL;
}

// ---- Experts.

static const char *experts_operation(const Line *line) {
    return arena_printf(line->arena, "experts %s", text_in(line, "dtype"));
}

static const char *experts_shape(const Line *line) {
    static const char *const columns[] = {"tokens", "hidden", "inter", "gated",  "experts",
                                          "topk",   "tp",     "ep",    "routing"};
    return told(line, columns, sizeof columns / sizeof *columns);
}

static const char *predict_experts(const Line *line, const Gpu *gpu, double *seconds) {
    GroupedShape shape = {.tokens = number_in(line, "tokens"),
                          .hidden = size_in(line, "hidden"),
                          .inter = size_in(line, "inter"),
                          .experts = size_in(line, "experts"),
                          .per_token = size_in(line, "topk"),
                          .tp = size_in(line, "tp"),
                          .ep = size_in(line, "ep"),
                          .gated = says(line, "gated", "yes"),
                          .power = routing_power(text_in(line, "routing"))};
    const GroupedKernel *kernel = grouped_kernel_of(gpu, text_in(line, "dtype"), text_in(line, "kernel"));
    if (!experts_precision(text_in(line, "dtype"), &shape.precision)) return no_type(line);
    if (!gpu_supports(gpu, shape.precision)) return no_units(gpu, line->arena, shape.precision);
    if (shape.power < 0) return "what the fullest rank gets of this routing is not told";
    if (shape.ep > shape.experts) return "there are more ranks than experts";
    if (!kernel) return "nothing is known of such a kernel";
    GroupedLoad load = grouped_load(&shape);
    *seconds = grouped_seconds(gpu, &shape, &load, kernel);
    return NULL;
}

// ---- Other kernels.

static const char *op_operation(const Line *line) {
    const char *kernel = text_in(line, "kernel");
    bool cast = strstr(text_in(line, "op"), "cast") != NULL;
    return cast ? arena_printf(line->arena, "%s %s", text_in(line, "op"), kernel) : text_in(line, "op");
}

static const char *op_shape(const Line *line) { return text_in(line, "shape"); }

static const char *predict_op(const Line *line, const Gpu *gpu, double *seconds) {
    double m, k;
    if (!says(line, "op", "cast_fp8_static") && !says(line, "op", "cast_fp8_dynamic"))
        return "state-space layers are not modelled";
    if (sscanf(text_in(line, "shape"), "m=%lf k=%lf", &m, &k) != 2 || !(m > 0 && k > 0)) {
        problem_add(line->problems, csv_where(line->csv, line->row), "shape = \"%s\" has no m=… k=…", op_shape(line));
        return "";
    }
    bool finds = says(line, "op", "cast_fp8_dynamic") && says(line, "kernel", "per_tensor");
    const Cast *cast = says(line, "op", "cast_fp8_static") ? &cast_by_given_scale
                       : finds                             ? &cast_by_tensor
                                                           : &cast_by_row;
    *seconds = cast_seconds(gpu, cast, m, m * k);
    return NULL;
}

// ---- Tokens exchanged among experts.

static const char *exchange_operation(const Line *line) {
    return arena_printf(line->arena, "%s %s", text_in(line, "mode"), text_in(line, "phase"));
}

static const char *exchange_shape(const Line *line) {
    static const char *const columns[] = {"nodes",   "ranks", "tokens_per_rank", "hidden",
                                          "experts", "topk",  "payload",         "sms"};
    return told(line, columns, sizeof columns / sizeof *columns);
}

static const char *predict_exchange(const Line *line, const Gpu *gpu, double *seconds) {
    ExchangePoint point;
    const char *why_not = exchange_point_read(line->catalogue, line->csv, line->row, &point, line->problems);
    if (why_not) return why_not;
    const ExchangeKernel *kernel = exchange_kernel_of(gpu, point.mode, point.phase, point.shape.nodes > 1);
    if (!kernel) return "nothing is known of such a kernel";
    *seconds = exchange_seconds(gpu, &point.shape, kernel);
    return NULL;
}

// ---- The kinds.

static const KernelTable tables[] = {
    {"GEMMs", {"gpu", "dtype", "m", "n", "k", "latency_us"}, gemm_operation, gemm_shape, predict_gemm},
    {"attention",
     {"gpu", "family", "seq", "kv_heads", "qk_dim", "causal", "window", "latency_us"},
     attention_operation,
     attention_shape,
     predict_attention},
    {"experts",
     {"gpu", "dtype", "tokens", "inter", "topk", "ep", "routing", "latency_us"},
     experts_operation,
     experts_shape,
     predict_experts},
    {"other kernels", {"gpu", "op", "kernel", "shape", "latency_us"}, op_operation, op_shape, predict_op},
    {"exchanges of tokens",
     {"gpu", "library", "mode", "phase", "payload", "nodes", "ranks", "tokens_per_rank", "hidden", "experts", "topk",
      "latency_us", "sms"},
     exchange_operation,
     exchange_shape,
     predict_exchange},
};
enum { TABLES = sizeof tables / sizeof *tables };

static bool has_columns(const Csv *csv, const KernelTable *table) {
    for (int i = 0; i < COLUMNS_MOST && table->columns[i]; i++)
        if (column_of(csv, table->columns[i]) < 0) return false;
    return true;
}

const KernelTable *kernel_table_of(const Csv *csv) {
    for (int i = 0; i < TABLES; i++)
        if (has_columns(csv, &tables[i])) return &tables[i];
    return NULL;
}

// Short kernels are latency, long ones meet the power limit.
static const char *length_of(double seconds) {
    if (seconds < 1e-4) return "below 0.1 ms";
    return seconds < 1e-3 ? "0.1 to 1 ms" : "from 1 ms";
}

static const char *campaign_of(const Line *line) {
    const char *weights = text_in(line, "weights");
    return arena_printf(line->arena, "%s%s%s", text_in(line, "framework"), *weights ? " weights " : "", weights);
}

static KernelRow read_line(const Line *line, const KernelTable *table) {
    const Gpu *gpu = catalogue_gpu(line->catalogue, text_in(line, "gpu"));
    KernelRow row = {.file = line->csv->file,
                     .gpu = gpu ? gpu->name : text_in(line, "gpu"),
                     .operation = table->operation(line),
                     .shape = table->shape(line),
                     .campaign = campaign_of(line),
                     .line = line->csv->lines[line->row],
                     .measured_s = number_in(line, "latency_us") / 1e6,
                     .predicted_s = NAN};
    row.length = length_of(row.measured_s);
    row.why_not = gpu ? table->predict(line, gpu, &row.predicted_s) : "its GPU is not in the catalogue";
    return row;
}

void kernel_table_read(Arena *arena, const Catalogue *catalogue, const KernelTable *table, const Csv *csv,
                       KernelRows *rows, Problems *problems) {
    for (int i = 0; i < csv->row_count; i++) {
        Line line = {arena, catalogue, csv, i, problems};
        KernelRow row = read_line(&line, table);
        LIST_PUSH(arena, rows, row);
    }
}
