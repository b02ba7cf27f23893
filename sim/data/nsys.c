// Tables of schema 3 (nsys 2021 to 2024). Exports have tables and columns only for data that was recorded; missing
// ones are skipped. The file is untrusted: it is opened immutable, its schema may call no function with side effects,
// and only plain tables are read, in one pass each.
#include "sim/data/kineto.h"

#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/system/file.h"

#define MOST_TEXT (1 << 20)
#define MOST_PATH 4096

typedef struct Export {
    sqlite3 *base;
    const char *path;
    const KinetoReader *reader;
    void *context;
    Problems *problems;
    int64_t device, process; // whose kernels count; process -1: unspecified
} Export;

bool nsys_marks_step(const char *name) {
    static const char *const words[] = {
        "step",           "iteration",         "iter",       "profilerstep", "trainstep", "trainiter", "trainingstep",
        "trainiteration", "trainingiteration", "globalstep", "batch",        "trainbatch"};
    char letters[24];
    size_t length = 0;
    for (; *name; name++) {
        if (!isalpha((unsigned char)*name)) continue;
        if (length == sizeof letters - 1) return false;
        letters[length++] = (char)tolower((unsigned char)*name);
    }
    letters[length] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(letters, words[i]) == 0) return true;
    return false;
}

// ---- Opening.

// Percent-encodes all but letters and digits.
static bool uri_of(const char *path, char *uri, size_t room) {
    size_t at = (size_t)snprintf(uri, room, "file:");
    for (; *path; path++) {
        if (at + 20 > room) return false;
        bool plain = isalnum((unsigned char)*path) || strchr("/._-", *path);
        at += (size_t)snprintf(uri + at, room - at, plain ? "%c" : "%%%02X", (unsigned char)*path);
    }
    return snprintf(uri + at, room - at, "?immutable=1") > 0;
}

static void marks_step(sqlite3_context *call, int count, sqlite3_value **values) {
    const unsigned char *text = count == 1 ? sqlite3_value_text(values[0]) : NULL;
    sqlite3_result_int(call, text && nsys_marks_step((const char *)text));
}

static sqlite3 *open_base(const char *path) {
    char uri[3 * MOST_PATH];
    sqlite3 *base = NULL;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    if (!uri_of(path, uri, sizeof uri) || sqlite3_open_v2(uri, &base, flags, NULL) != SQLITE_OK) {
        sqlite3_close(base);
        return NULL;
    }
    sqlite3_db_config(base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(base, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(base, SQLITE_LIMIT_LENGTH, MOST_TEXT);
    sqlite3_exec(base, "PRAGMA temp_store = memory", NULL, NULL, NULL);
    sqlite3_create_function(base, "marks_step", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, marks_step, NULL, NULL);
    return base;
}

// NULL where the base has no such thing.
static sqlite3_stmt *prepare(const Export *export, const char *sql) {
    sqlite3_stmt *statement = NULL;
    return sqlite3_prepare_v2(export->base, sql, -1, &statement, NULL) == SQLITE_OK ? statement : NULL;
}

static bool asks_true(sqlite3 *base, const char *sql, const char *table, const char *column) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(base, sql, -1, &statement, NULL) != SQLITE_OK) return false;
    sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    if (column) sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
    bool yes = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return yes;
}

// A table, and no view or virtual one.
static bool has_table(sqlite3 *base, const char *table) {
    return asks_true(base, "SELECT 1 FROM sqlite_master WHERE name = ? AND type = 'table' AND sql LIKE 'CREATE TABLE%'",
                     table, NULL);
}

// Of its own, and not computed from others.
static bool has_column(sqlite3 *base, const char *table, const char *column) {
    return asks_true(base, "SELECT 1 FROM pragma_table_xinfo(?) WHERE name = ? AND hidden = 0", table, column);
}

bool nsys_is_export(const char *path) {
    char head[16] = "";
    FILE *file = file_peek(path);
    if (!file) return false;
    bool is_base = fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
    fclose(file);
    sqlite3 *base = is_base ? open_base(path) : NULL;
    bool is = base && has_table(base, "StringIds") &&
              (has_table(base, "CUPTI_ACTIVITY_KIND_KERNEL") || has_table(base, "NVTX_EVENTS") ||
               has_table(base, "META_DATA_EXPORT"));
    sqlite3_close(base);
    return is;
}

// ---- Rows.

static void emit_event(const Export *export, const char *category, const char *name, int64_t start, int64_t end) {
    const KinetoReader *reader = export->reader;
    KinetoEvent event = {.start_us = (double)start / 1e3, .duration_us = ((double)end - (double)start) / 1e3};
    snprintf(event.category, sizeof event.category, "%s", category);
    kineto_keep(event.name, sizeof event.name, (const unsigned char *)name, strlen(name));
    if (reader->begin_event) reader->begin_event(export->context);
    if (reader->argument_number) reader->argument_number(export->context, "device", 0, (double)export->device);
    if (reader->end_event) reader->end_event(export->context, &event);
}

static bool fail(const Export *export) {
    problem_add(export->problems, (Where){export->path, 0}, "SQLite cannot read it: %s", sqlite3_errmsg(export->base));
    return problem_hint(export->problems, "export it anew: nsys export --type sqlite FILE.nsys-rep");
}

// Reports rows of start, end and, from the third column, the name. `apart`: a row that begins before the previous one
// has ended is nested in that one, and skipped.
static bool emit_rows(const Export *export, const char *sql, const char *category, const char *(*name)(sqlite3_stmt *),
                      bool apart) {
    sqlite3_stmt *statement = prepare(export, sql);
    int status = SQLITE_ERROR;
    int64_t over = INT64_MIN;
    if (!statement) return fail(export);
    sqlite3_bind_int64(statement, 1, export->device);
    sqlite3_bind_int64(statement, 2, export->process);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t start = sqlite3_column_int64(statement, 0), end = sqlite3_column_int64(statement, 1);
        bool timed =
            sqlite3_column_type(statement, 0) == SQLITE_INTEGER && sqlite3_column_type(statement, 1) == SQLITE_INTEGER;
        if (!timed || (apart && start < over)) continue;
        emit_event(export, category, name(statement), start, end);
        over = end;
    }
    bool done = status == SQLITE_DONE || fail(export);
    sqlite3_finalize(statement);
    return done;
}

static const char *text_name(sqlite3_stmt *row) {
    const unsigned char *text = sqlite3_column_text(row, 2);
    return text ? (const char *)text : "a kernel without a name";
}

static const char *copy_name(sqlite3_stmt *row) {
    static const char *const names[] = {"Memcpy", "Memcpy HtoD", "Memcpy DtoH"};
    int64_t kind = sqlite3_column_int64(row, 2);
    return kind == 8 ? "Memcpy DtoD" : kind == 10 ? "Memcpy PtoP" : names[kind == 1 || kind == 2 ? kind : 0];
}

static const char *step_name(sqlite3_stmt *row) {
    (void)row;
    return NSYS_STEP;
}

static const char *set_name(sqlite3_stmt *row) {
    (void)row;
    return "Memset (Device)";
}

// ---- The whole.

// The first GPU that a kernel ran on, and the process that it ran for.
static void choose_gpu(Export *export) {
    bool processes = has_column(export->base, "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid");
    sqlite3_stmt *statement =
        prepare(export, processes ? "SELECT min(deviceId), coalesce(globalPid, -1) FROM CUPTI_ACTIVITY_KIND_KERNEL"
                                  : "SELECT min(deviceId), -1 FROM CUPTI_ACTIVITY_KIND_KERNEL");
    if (statement && sqlite3_step(statement) == SQLITE_ROW) {
        export->device = sqlite3_column_int64(statement, 0);
        export->process = sqlite3_column_int64(statement, 1);
    }
    sqlite3_finalize(statement);
}

static void emit_gpu(const Export *export) {
    const char *sql = "SELECT name FROM TARGET_INFO_GPU LIMIT 1";
    bool there = export->reader->device_name && has_table(export->base, "TARGET_INFO_GPU") &&
                 has_column(export->base, "TARGET_INFO_GPU", "name");
    sqlite3_stmt *statement = there ? prepare(export, sql) : NULL;
    if (statement && sqlite3_step(statement) == SQLITE_ROW) {
        const unsigned char *name = sqlite3_column_text(statement, 0);
        if (name) export->reader->device_name(export->context, name, strlen((const char *)name));
    }
    sqlite3_finalize(statement);
}

// Names are rows of StringIds by id: a primary-key look-up, whatever indices the file has.
static bool emit_kernels(const Export *export) {
    const char *table = "CUPTI_ACTIVITY_KIND_KERNEL";
    bool by_process = export->process != -1 && has_column(export->base, table, "globalPid");
    bool named = has_column(export->base, table, "demangledName");
    if (!has_table(export->base, table)) return true;
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT k.start, k.\"end\", s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.rowid = "
             "k.%s WHERE k.deviceId = ?1 AND (?2 = -1 OR %s)",
             named ? "demangledName" : "shortName", by_process ? "k.globalPid = ?2" : "1");
    return emit_rows(export, sql, "kernel", text_name, false);
}

// By default CUDA graphs are recorded as a whole: the file has no kernels of them.
static bool refuse_graphs(const Export *export) {
    const char *table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    sqlite3_stmt *statement = has_table(export->base, table)
                                  ? prepare(export, "SELECT 1 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE LIMIT 1")
                                  : NULL;
    bool any = statement && sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    if (!any) return false;
    problem_add(export->problems, (Where){export->path, 0}, "CUDA graphs are in it as wholes, without their kernels");
    problem_hint(export->problems, "profile with nsys profile --cuda-graph-trace=node");
    return true;
}

static bool emit_copies(const Export *export) {
    return (!has_table(export->base, "CUPTI_ACTIVITY_KIND_MEMCPY") ||
            emit_rows(export, "SELECT start, \"end\", copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE deviceId = ?1",
                      "gpu_memcpy", copy_name, false)) &&
           (!has_table(export->base, "CUPTI_ACTIVITY_KIND_MEMSET") ||
            emit_rows(export, "SELECT start, \"end\", 0 FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE deviceId = ?1",
                      "gpu_memset", set_name, false));
}

// Ranges that are pushed and popped (59), or begun and ended (60); marks have no end.
static bool emit_steps(const Export *export) {
    const char *table = "NVTX_EVENTS";
    if (!has_table(export->base, table)) return true;
    bool ids = has_column(export->base, table, "textId"), threads = has_column(export->base, table, "globalTid");
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT e.start, e.\"end\", 0 FROM NVTX_EVENTS e %s WHERE e.eventType IN (59, 60) AND marks_step(%s) AND "
             "(?2 = -1 OR %s) ORDER BY 1, 2 DESC",
             ids ? "LEFT JOIN StringIds s ON s.rowid = e.textId" : "", ids ? "coalesce(e.text, s.value)" : "e.text",
             threads ? "e.globalTid / 16777216 = ?2 / 16777216" : "1");
    return emit_rows(export, sql, "user_annotation", step_name, true);
}

bool nsys_read(const char *path, const KinetoReader *reader, void *context, Problems *problems) {
    int before = problems_added(problems);
    if (!file_may_read(path) || !file_is_regular_or_none(path, problems)) {
        if (problems_added(problems) == before) problem_add(problems, (Where){path, 0}, "cannot be read here");
        return false;
    }
    Export export = {.base = open_base(path),
                     .path = path,
                     .reader = reader,
                     .context = context,
                     .problems = problems,
                     .process = -1};
    if (!export.base) {
        problem_add(problems, (Where){path, 0}, "SQLite cannot open it");
        return problem_hint(problems, "name what nsys export --type sqlite wrote");
    }
    if (has_table(export.base, "CUPTI_ACTIVITY_KIND_KERNEL")) choose_gpu(&export);
    emit_gpu(&export);
    bool read = !refuse_graphs(&export) && emit_steps(&export) && emit_kernels(&export) && emit_copies(&export);
    sqlite3_close(export.base);
    return read;
}
