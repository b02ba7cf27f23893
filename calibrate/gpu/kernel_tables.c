#include "calibrate/gpu/command_calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/hardware_constants.h"
#include "models/workload/cost/cost.h"

// ---- Times of launches and casts, as kernels replayed in a CUDA graph.

#define SIXTEEN_BITS 2.0

double launches_in_a_graph(const Gpu *gpu, int kernels) {
    return kernels * gpu->graph_launch_share * gpu->launch_seconds;
}

// Elementary kernels end sooner in a graph than products do: 1.4 to 2 us on Hopper and on graphics cards, 1.8 to 2.6 on
// Blackwell's servers. The five of a scale that has to be found take 8.3 to 8.9 us there, 10.4 here.
#define SMALL_KERNEL_SECONDS 1.7e-6
#define SMALL_KERNEL_SECONDS_BLACKWELL 2.1e-6

static double small_kernel_seconds(const Gpu *gpu) {
    bool longer = gpu->generation == BLACKWELL && gpu_is_of_servers(gpu);
    return longer ? SMALL_KERNEL_SECONDS_BLACKWELL : SMALL_KERNEL_SECONDS;
}

// Fitted to the casts of calibrate/measurements/kernels/ops.csv. One scale of a tensor is found by operators of a
// framework: absolute values, their maximum, the scale and its inverse, and then the cast.
#define BY_TENSOR_KERNELS 5
const Cast cast_by_given_scale = {SIXTEEN_BITS + 1, 0.4e-9, 0, 0, 1},
           cast_by_row = {SIXTEEN_BITS + 2, 1.3e-9, 0.6e-6, 0, 1},
           cast_by_tensor = {2 * SIXTEEN_BITS + 1, 0, 0, 2, BY_TENSOR_KERNELS};

// A loop over the same input finds it in the L2 or, where it is larger, has just evicted it. Servers' parts have an L2
// in two halves, which keep copies of each other's lines; graphics parts' is one.
static double looped_share(const Gpu *gpu, double elements) {
    double kept = (gpu_is_of_servers(gpu) ? 0.5 : 1) * gpu->l2_bytes;
    return 1 / (1 + pow((SIXTEEN_BITS + 1) * elements / kept, 8));
}

double cast_seconds(const Gpu *gpu, const Cast *cast, double rows, double elements) {
    double cached = looped_share(gpu, elements), each = cast->bytes + (gpu_is_of_servers(gpu) ? cast->server_bytes : 0),
           bytes = each * elements;
    return cast->kernels * small_kernel_seconds(gpu) + cast->first_seconds + cast->row_seconds * rows +
           cold_memory_seconds(gpu, bytes) * (1 - cached * (1 - 1 / gpu->l2_speed_up));
}

// ---- The formats of kernel tables, a row each: identifying columns, the name of a line, the prediction by the cost
// functions. Columns: calibrate/measurements/kernels/README.md.

#define COLUMNS_MOST 13

// The name of a line, and its predicted time if it is no kernel of a form.
struct KernelTable {
    const char *columns[COLUMNS_MOST];
    const KernelForm *form; // NULL: the two functions below
    const char *(*operation)(const KernelLine *line);
    const char *(*shape)(const KernelLine *line);
    const char *(*predict)(const KernelLine *line, const Gpu *gpu, double *seconds); // why not, or NULL
};

// ---- Types of numbers, as they are spelt with the block that shares a scale.

typedef struct NumberType {
    const char *word;
    Precision precision;
    Fp8Recipe recipe;
    Cast cast;                  // of the input; no bytes: there is none
    HardwareConstantId scaling; // NO_SCALING: the kernel that casts finds the scales
    bool whole_k;               // as below
} NumberType;
#define NO_SCALING HARDWARE_CONSTANT_COUNT

// Kernels for finer scales than one of a tensor do not split K: DeepGEMM's, vLLM's and TensorRT-LLM's of CUTLASS,
// FlashInfer's. cuBLAS does. vLLM's cast by rows takes a block for each and more time for it than the table of casts
// alone has.
static const NumberType number_types[] = {
    {"bf16", BF16, FP8_DELAYED, {0, 0, 0, 0, 0}, NO_SCALING, false},
    {"fp8_tensor", FP8, FP8_TENSORWISE, {5, 0, 0, 2, BY_TENSOR_KERNELS}, SCALING_8_SECONDS, false},
    {"fp8_token", FP8, FP8_ROWWISE, {4, 6.5e-9, 1e-6, 0, 1}, NO_SCALING, true},
    {"fp8_block", FP8, FP8_BLOCKWISE, {3 + 4.0 / 128, 0, 0, 0, 1}, SCALING_8_SECONDS, true},
    {"nvfp4", FP4, FP8_DELAYED, {2.5 + 1.0 / 16, 0, 0, 0, 1}, SCALING_4_SECONDS, true},
    {"int8", INT8, FP8_DELAYED, {0, 0, 0, 0, 0}, NO_SCALING, false},
};

static const NumberType *type_of(const KernelLine *line) {
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; i++)
        if (line_says(line, "dtype", number_types[i].word)) return &number_types[i];
    return NULL;
}

// ---- One product, with the cast of its input where that is in 8 bits or less.

static const char *gemm_operation(const KernelLine *line) {
    return arena_printf(line->arena, "gemm %s", line_text(line, "dtype"));
}

static const char *gemm_shape(const KernelLine *line) {
    return arena_printf(line->arena, "%s x %s x %s", line_text(line, "m"), line_text(line, "n"), line_text(line, "k"));
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

static const char *predict_gemm(const KernelLine *line, const Gpu *gpu, double *seconds) {
    const NumberType *type = type_of(line);
    Gemm gemm = {.batch = 1, .m = line_size(line, "m"), .n = line_size(line, "n"), .k = line_size(line, "k")};
    if (!type) return line_no_type(line);
    if (!gpu_supports(gpu, type->precision)) return line_no_units(line, gpu, type->precision);
    gemm.precision = type->precision;
    gemm_in_a_loop(&gemm, line_text(line, "framework"), line_text(line, "weights"));
    if (type->precision == FP8) gemm.rate = fp8_recipe_rate(gpu, type->recipe);
    gemm.whole_k = type->whole_k;
    if (type->precision == INT8) return predict_smooth_quant(gpu, &gemm, seconds);
    *seconds = launches_in_a_graph(gpu, 1) + gemm_seconds(gpu, &gemm);
    if (type->cast.bytes > 0)
        *seconds += cast_seconds(gpu, &type->cast, (double)gemm.m, (double)gemm.m * (double)gemm.k);
    bool in_the_cast = line_says(line, "framework", "sglang"); // its cast lays the scales out as DeepGEMM wants them
    if (type->scaling != NO_SCALING && !in_the_cast) *seconds += hardware_constant(type->scaling);
    return NULL;
}

// ---- Kernels of a form.

static const char *attention_operation(const KernelLine *line) {
    return arena_printf(line->arena, "%s %s", line_text(line, "family"), line_text(line, "dtype"));
}

static const char *experts_operation(const KernelLine *line) {
    return arena_printf(line->arena, "experts %s", line_text(line, "dtype"));
}

static const char *exchange_operation(const KernelLine *line) {
    return arena_printf(line->arena, "%s %s", line_text(line, "mode"), line_text(line, "phase"));
}

static const char *predict_by_form(const KernelForm *form, const KernelLine *line, double *seconds) {
    KernelPoint point;
    void *named = arena_alloc(line->arena, form->kernel_bytes);
    const char *why_not = kernel_line_read(form, line, &point, named);
    if (why_not) return why_not;
    const void *kernel = form->known(point.gpu, named);
    if (!kernel) return "nothing is known of such a kernel";
    *seconds = form->seconds(&point, kernel);
    return NULL;
}

// ---- Other kernels.

static const char *op_operation(const KernelLine *line) {
    const char *kernel = line_text(line, "kernel");
    bool cast = strstr(line_text(line, "op"), "cast") != NULL;
    return cast ? arena_printf(line->arena, "%s %s", line_text(line, "op"), kernel) : line_text(line, "op");
}

static const char *op_shape(const KernelLine *line) { return line_text(line, "shape"); }

static const char *predict_op(const KernelLine *line, const Gpu *gpu, double *seconds) {
    double m, k;
    if (!line_says(line, "op", "cast_fp8_static") && !line_says(line, "op", "cast_fp8_dynamic"))
        return "state-space layers are not modelled";
    if (sscanf(line_text(line, "shape"), "m=%lf k=%lf", &m, &k) != 2 || !(m > 0 && k > 0)) {
        problem_add(line->problems, csv_where(line->csv, line->row), "shape = \"%s\" has no m=… k=…", op_shape(line));
        return "";
    }
    bool finds = line_says(line, "op", "cast_fp8_dynamic") && line_says(line, "kernel", "per_tensor");
    const Cast *cast = line_says(line, "op", "cast_fp8_static") ? &cast_by_given_scale
                       : finds                                  ? &cast_by_tensor
                                                                : &cast_by_row;
    *seconds = cast_seconds(gpu, cast, m, m * k);
    return NULL;
}

// ---- The kinds.

static const KernelTable tables[] = {
    {{"gpu", "dtype", "m", "n", "k", "latency_us"}, NULL, gemm_operation, gemm_shape, predict_gemm},
    {{"gpu", "op", "kernel", "shape", "latency_us"}, NULL, op_operation, op_shape, predict_op},
    {.form = &attention_form, .operation = attention_operation},
    {.form = &experts_form, .operation = experts_operation},
    {.form = &exchange_form, .operation = exchange_operation},
};
enum { TABLES = sizeof tables / sizeof *tables };

static bool has_columns(const Csv *csv, const KernelTable *table) {
    if (table->form) return kernel_columns_are_in(csv, table->form->columns, table->form->column_count);
    int count = 0;
    while (count < COLUMNS_MOST && table->columns[count]) count++;
    return kernel_columns_are_in(csv, table->columns, count);
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

static const char *campaign_of(const KernelLine *line) {
    const char *weights = line_text(line, "weights");
    return arena_printf(line->arena, "%s%s%s", line_text(line, "framework"), *weights ? " weights " : "", weights);
}

static KernelRow read_line(const KernelLine *line, const KernelTable *table) {
    const Gpu *gpu = catalogue_gpu(line->catalogue, line_text(line, "gpu"));
    const KernelForm *form = table->form;
    KernelRow row = {.file = line->csv->file,
                     .gpu = gpu ? gpu->name : line_text(line, "gpu"),
                     .operation = table->operation(line),
                     .shape =
                         form ? line_tells(line, form->shape_columns, form->shape_column_count) : table->shape(line),
                     .campaign = campaign_of(line),
                     .line = line->csv->lines[line->row],
                     .measured_s = line_number(line, "latency_us") / 1e6,
                     .predicted_s = NAN};
    row.length = length_of(row.measured_s);
    if (form)
        row.why_not = predict_by_form(form, line, &row.predicted_s);
    else
        row.why_not = gpu ? table->predict(line, gpu, &row.predicted_s) : "its GPU is not in the catalogue";
    return row;
}

void kernel_table_read(Arena *arena, const Catalogue *catalogue, const KernelTable *table, const Csv *csv,
                       KernelRows *rows, Problems *problems) {
    for (int i = 0; i < csv->row_count; i++) {
        KernelLine line = {arena, catalogue, csv, i, problems};
        KernelRow row = read_line(&line, table);
        LIST_PUSH(arena, rows, row);
    }
}
