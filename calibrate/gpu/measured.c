// Reading measurements: a line at a time, each a JSON object of its own.
#include "calibrate/gpu/measured.h"

#include <math.h>
#include <string.h>

#include "sim/file.h"
#include "sim/json.h"
#include "sim/list.h"

#define LARGEST_FILE_BYTES ((size_t)64 << 20)

typedef struct MeasuredList {
    Measured *items;
    int count, room;
} MeasuredList;

bool measured_is_json(const char *path) {
    FILE *file = fopen(path, "r");
    int first = file ? fgetc(file) : EOF;
    if (file) fclose(file);
    return first == '{';
}

static double number_or(const Json *object, const char *key, double fallback) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_NUMBER ? value->number : fallback;
}

static const char *text_or(const Json *object, const char *key, const char *fallback) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_TEXT ? value->text : fallback;
}

static bool read_gemm(const Json *json, Gemm *gemm) {
    double batch = number_or(json, "batch", 1), m = number_or(json, "m", 0);
    double n = number_or(json, "n", 0), k = number_or(json, "k", 0);
    double most = fmax(fmax(batch, m), fmax(n, k));
    if (!precision_from_name(text_or(json, "type", ""), &gemm->precision) || !(most <= 1e12)) return false;
    if (!(batch >= 1 && m >= 1 && n >= 1 && k >= 1)) return false;
    gemm->batch = (int64_t)batch, gemm->m = (int64_t)m, gemm->n = (int64_t)n, gemm->k = (int64_t)k;
    return true;
}

// What a row measures, or false where no cost function of a profile says anything of it. Strided copies move whole
// sectors for a part of them, which no kernel of training does.
static bool classify(const Json *json, Measured *row) {
    const char *section = text_or(json, "section", ""), *operation = text_or(json, "operation", "");
    const char *variant = text_or(json, "variant", "");
    if (strcmp(section, "gemm") == 0) {
        row->kind = MEASURED_GEMM;
        return read_gemm(json, &row->gemm);
    }
    if ((strcmp(section, "memory") == 0 && strcmp(operation, "strided") != 0) || strcmp(section, "kernels") == 0) {
        row->kind = MEASURED_BYTES;
        row->bytes = number_or(json, "moved_bytes", 0);
        return row->bytes > 0;
    }
    row->kind = MEASURED_LAUNCH;
    return strcmp(section, "launch") == 0 && strcmp(variant, "stream") == 0;
}

static void read_case(Arena *arena, const Json *json, int line, MeasuredFile *file, MeasuredList *rows,
                      Problems *problems) {
    const char *status = text_or(json, "status", "");
    Measured row = {.line = line, .seconds = number_or(json, "seconds", 0)};
    if (strcmp(status, "measured") != 0) {
        if (strcmp(status, "failed") == 0)
            file->failed++;
        else
            file->skipped++;
        return;
    }
    if (!(row.seconds > 0)) {
        problem_add(problems, (Where){file->path, line}, "a measured case has no seconds above zero");
        return;
    }
    if (!classify(json, &row)) {
        file->other++;
        return;
    }
    row.operation = arena_printf(arena, "%s %s", text_or(json, "operation", ""), text_or(json, "type", ""));
    LIST_PUSH(arena, rows, row);
}

static void read_header(const Json *json, MeasuredFile *file) {
    file->gpu_name = text_or(json, "gpu", "");
    file->date = text_or(json, "date", "");
    file->driver = text_or(json, "driver", "");
}

static void read_lines(Arena *arena, char *text, MeasuredFile *file, MeasuredList *rows, Problems *problems) {
    int line = 0;
    for (char *next, *at = text; at && *at; at = next) {
        char *end = strchr(at, '\n');
        next = end ? end + 1 : NULL;
        if (end) *end = '\0';
        line++;
        if (!at[strspn(at, " \t\r")]) continue;
        const char *name = arena_printf(arena, "%s, line %d", file->path, line);
        const Json *json = json_read_text(arena, name, at, strlen(at), problems);
        if (!json) return; // what follows would be as broken
        const char *record = text_or(json, "record", "");
        if (strcmp(record, "header") == 0) read_header(json, file);
        if (strcmp(record, "case") == 0) read_case(arena, json, line, file, rows, problems);
    }
}

// Rows of types that the GPU has no units for would have no cost: they come from a wrong name of the GPU.
static void check_rows(MeasuredFile *file, Problems *problems) {
    for (int i = 0; i < file->count; i++) {
        const Measured *row = &file->rows[i];
        if (row->kind != MEASURED_GEMM || gpu_supports(file->gpu, row->gemm.precision)) continue;
        problem_add(problems, (Where){file->path, row->line}, "%s has no %s units", file->gpu->name,
                    precision_name(row->gemm.precision));
        problem_hint(problems, "--gpu NAME says which GPU was measured");
    }
}

const MeasuredFile *measured_read(Arena *arena, const Catalogue *catalogue, const char *path, const char *gpu_name,
                                  Problems *problems) {
    int before = problem_count(problems);
    size_t bytes;
    MeasuredFile *file = ARENA_NEW(arena, MeasuredFile);
    MeasuredList rows = {0};
    *file = (MeasuredFile){.path = path, .gpu_name = "", .date = "", .driver = ""};
    char *text = file_read(arena, path, LARGEST_FILE_BYTES, &bytes, problems);
    if (!text) return NULL;
    read_lines(arena, text, file, &rows, problems);
    file->rows = rows.items, file->count = rows.count;
    if (problem_count(problems) > before) return NULL;
    file->gpu = catalogue_gpu(catalogue, gpu_name ? gpu_name : file->gpu_name);
    if (!file->gpu) {
        problem_add(problems, (Where){path, 0}, "no GPU is called \"%s\"", gpu_name ? gpu_name : file->gpu_name);
        problem_hint(problems, "--gpu NAME says which GPU was measured; lockstep hw list gpu knows their names");
        return NULL;
    }
    check_rows(file, problems);
    return problem_count(problems) > before ? NULL : file;
}

double measured_prediction(const Gpu *gpu, const Measured *row) {
    double work = row->kind == MEASURED_GEMM    ? gemm_seconds(gpu, &row->gemm)
                  : row->kind == MEASURED_BYTES ? memory_seconds(gpu, row->bytes)
                                                : 0;
    return gpu->launch_seconds + work;
}

const char *measured_name(Arena *arena, const Measured *row) {
    const Gemm *gemm = &row->gemm;
    if (row->kind == MEASURED_BYTES) return arena_printf(arena, "%s %.4g bytes", row->operation, row->bytes);
    if (row->kind == MEASURED_LAUNCH) return row->operation;
    const char *batch = gemm->batch > 1 ? arena_printf(arena, "%lld x ", (long long)gemm->batch) : "";
    return arena_printf(arena, "%s %s%lld x %lld x %lld", row->operation, batch, (long long)gemm->m, (long long)gemm->n,
                        (long long)gemm->k);
}
