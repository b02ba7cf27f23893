// Reads measured GEMMs of a CSV file into groups of one GPU and precision.
#include <string.h>

#include "calibrate/gpu/fit/fit_gemm.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

#define LONGEST_TOLD 4096 // of unknown names
#define FEWEST_POINTS 8

static const char best_shape[] = "the best of a search is no sample of shapes";
static const char unknown_gpu[] = "its GPU is not in the catalogue";

typedef struct Groups {
    GemmGroup *items;
    int count, room;
} Groups;

typedef struct Columns {
    int gpu, dtype, op, batch, m, n, k, latency;
} Columns;

static Columns find_columns(const Csv *csv, Problems *problems) {
    return (Columns){.gpu = csv_column(csv, "gpu", problems),
                     .dtype = csv_column(csv, "dtype", problems),
                     .op = csv_column(csv, "op", problems),
                     .batch = csv_column(csv, "batch", problems),
                     .m = csv_column(csv, "M", problems),
                     .n = csv_column(csv, "N", problems),
                     .k = csv_column(csv, "K", problems),
                     .latency = csv_column(csv, "latency_ms", problems)};
}

// NeuSight's tables call the depth N and the output's width K, in linear layers and batches: kernels that split their
// depth (sgemm_..._sliced1x4) occur where N is long and never where K is, tile quantisation follows K, and only so do
// the times of one kernel lie on one line. Every other source follows BLAS.
bool gemm_row_has_depth_as_n(const Csv *csv, int row) {
    int source = csv_find(csv, "source");
    return source >= 0 && strncmp(csv_cell(csv, row, source), "NeuSight", strlen("NeuSight")) == 0;
}

// "fp32_simt" is FP32 without tensor cores, which is FP32 here.
static bool read_precision(const Csv *csv, int row, int column, Precision *precision, Problems *problems) {
    const char *text = csv_cell(csv, row, column);
    if (strcmp(text, "fp32_simt") == 0) text = "fp32";
    if (precision_from_name(text, precision)) return true;
    problem_add(problems, csv_where(csv, row), "\"%s\" is no data type", text);
    problem_hint(problems, "known: fp64, fp32 (or fp32_simt), tf32, fp16, bf16, fp8, fp4, int8");
    return false;
}

static GemmGroup *group_of(Arena *arena, Groups *groups, const Gpu *gpu, Precision precision) {
    for (int i = 0; i < groups->count; i++)
        if (groups->items[i].gpu == gpu && groups->items[i].precision == precision) return &groups->items[i];
    GemmGroup group = {.gpu = gpu, .precision = precision};
    LIST_PUSH(arena, groups, group);
    return &groups->items[groups->count - 1];
}

static bool read_shape(const Csv *csv, int row, Columns at, GemmPoint *point, Problems *problems) {
    Gemm *gemm = &point->gemm;
    bool is_swapped = gemm_row_has_depth_as_n(csv, row);
    double batch = csv_positive(csv, row, at.batch, problems), m = csv_positive(csv, row, at.m, problems);
    double n = csv_positive(csv, row, is_swapped ? at.k : at.n, problems);
    double k = csv_positive(csv, row, is_swapped ? at.n : at.k, problems);
    point->seconds = csv_positive(csv, row, at.latency, problems) / 1e3;
    if (batch > 1e9 || m > 1e12 || n > 1e12 || k > 1e12) {
        problem_add(problems, csv_where(csv, row), "this GEMM is larger than any that could be meant");
        return false;
    }
    gemm->batch = (int64_t)batch, gemm->m = (int64_t)m, gemm->n = (int64_t)n, gemm->k = (int64_t)k;
    return true;
}

static GemmRow read_row(const Catalogue *catalogue, const Csv *csv, int row, Columns at, Problems *problems) {
    GemmRow out = {.gpu_name = csv_cell(csv, row, at.gpu), .line = csv->lines[row]};
    out.point.gemm.is_untransposed = strcmp(csv_cell(csv, row, at.op), "bmm") == 0; // torch.bmm
    Precision *precision = &out.point.gemm.precision;
    const Gpu *gpu = catalogue_gpu(catalogue, out.gpu_name);
    if (!read_precision(csv, row, at.dtype, precision, problems) || !read_shape(csv, row, at, &out.point, problems))
        return out;
    if (strcmp(csv_cell(csv, row, at.op), "gemm_best_shape") == 0) {
        out.why_not = best_shape;
    } else if (!gpu) {
        out.why_not = unknown_gpu;
    } else if (!gpu_supports(gpu, *precision)) {
        problem_add(problems, csv_where(csv, row), "%s has no %s units", gpu->name, precision_name(*precision));
    } else {
        out.gpu = gpu;
    }
    return out;
}

const GemmRows *gemm_rows_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems) {
    int problems_before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return NULL;
    Columns at = find_columns(csv, problems);
    if (problems_added(problems) > problems_before) return NULL;
    GemmRows *rows = ARENA_NEW(arena, GemmRows);
    for (int i = 0; i < csv->row_count; i++) {
        GemmRow row = read_row(catalogue, csv, i, at, problems);
        LIST_PUSH(arena, rows, row);
    }
    return problems_added(problems) > problems_before ? NULL : rows;
}

// ---- Groups.

static void note_unknown(Arena *arena, GemmData *data, const char *name) {
    data->unknown_gpus++;
    const char *names = data->unknown_names;
    if (names && strlen(names) > LONGEST_TOLD) return;
    if (!names || !strstr(names, name)) data->unknown_names = names ? arena_printf(arena, "%s, %s", names, name) : name;
}

static void add_to_group(Arena *arena, Groups *groups, const GemmRow *row) {
    GemmGroup *group = group_of(arena, groups, row->gpu, row->point.gemm.precision);
    LIST_PUSH(arena, group, row->point);
}

static void keep_large_groups(GemmData *data, Groups *groups) {
    for (int i = 0; i < groups->count; i++) {
        if (groups->items[i].count < FEWEST_POINTS) {
            data->too_few += groups->items[i].count;
            continue;
        }
        data->used += groups->items[i].count;
        groups->items[data->group_count++] = groups->items[i];
    }
    data->groups = groups->items;
}

const GemmData *gemm_data_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems) {
    const GemmRows *rows = gemm_rows_read(arena, catalogue, path, problems);
    if (!rows) return NULL;
    GemmData *data = ARENA_NEW(arena, GemmData);
    Groups groups = {0};
    for (int i = 0; i < rows->count; i++) {
        const GemmRow *row = &rows->items[i];
        if (row->gpu)
            add_to_group(arena, &groups, row);
        else if (row->why_not == unknown_gpu)
            note_unknown(arena, data, row->gpu_name);
        else
            data->best_shapes++;
    }
    keep_large_groups(data, &groups);
    if (data->group_count > 0) return data;
    problem_add(problems, (Where){path, 0}, "no GPU and data type has %d rows or more, so there is nothing to fit",
                FEWEST_POINTS);
    if (data->unknown_names) problem_hint(problems, "not in the catalogue: %s", data->unknown_names);
    return NULL;
}
