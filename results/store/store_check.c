// Integrity check of the store. Its tables are compared with their schema, SQLite checks its pages, and each row has
// a checksum of ours; the seal counts all rows. Checksums detect accidents, not attacks: a process that may write the
// file can also compute them.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/store/store_base.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

// ---- Rows of the store: from a point, to a point, and as bytes between processes.

static bool is_kept(const char *name, const char *const *keep, int keep_count) {
    for (int i = 0; i < keep_count; i++)
        if (strcmp(keep[i], name) == 0) return true;
    return keep_count == 0;
}

static const char *values_json(Arena *arena, const NamedValue *values, int count) {
    if (count == 0) return NULL;
    TextStream text = text_stream_open();
    JsonWriter json = json_writer(text.stream, 0);
    json_begin_object(&json);
    for (int i = 0; i < count; i++) {
        json_key(&json, values[i].name);
        json_write_number(&json, values[i].value);
    }
    json_end_object(&json);
    return text_stream_close(arena, &text);
}

StoreRow store_row(Arena *arena, const RecordPoint *point, const char *const *keep, int keep_count) {
    StoreRow row = {0};
    for (int c = 0; c < POINT_COLUMNS; c++)
        row.numbers[c] = is_kept(point_columns[c], keep, keep_count) ? point_number(point, c) : NAN;
    row.texts[ROW_STATUS] = point->ran ? "ok" : "impossible";
    row.texts[ROW_REASON] = point->ran ? NULL : point->why_not;
    row.texts[ROW_CHANGE] = point->ran ? NULL : point->smallest_change;
    row.texts[ROW_CURRENCY] = point->currency;
    row.texts[ROW_DIGEST] = arena_printf(arena, "%016llx", (unsigned long long)point->digest);
    if (keep_count > 0) return row;
    row.texts[ROW_EXPOSED] = values_json(arena, point->exposed, point->ran ? point->exposed_count : 0);
    row.texts[ROW_MEMORY] = values_json(arena, point->memory, point->memory_count);
    return row;
}

// ---- Bytes: the seed, the numbers, then each text with its terminator, after a byte that is 0 if there is none.

char *store_row_pack(Arena *arena, const StoreRow *row, size_t *bytes) {
    *bytes = sizeof row->seed + sizeof row->numbers;
    for (int t = 0; t < ROW_TEXTS; t++) *bytes += 2 + (row->texts[t] ? strlen(row->texts[t]) : 0);
    char *packed = arena_alloc(arena, *bytes), *at = packed;
    memcpy(at, &row->seed, sizeof row->seed);
    memcpy(at + sizeof row->seed, row->numbers, sizeof row->numbers);
    at += sizeof row->seed + sizeof row->numbers;
    for (int t = 0; t < ROW_TEXTS; t++) {
        const char *text = row->texts[t] ? row->texts[t] : "";
        *at++ = row->texts[t] ? 1 : 0;
        memcpy(at, text, strlen(text) + 1);
        at += strlen(text) + 1;
    }
    return packed;
}

bool store_row_unpack(Arena *arena, const char *packed, size_t bytes, StoreRow *row) {
    const char *at = packed, *end = packed + bytes;
    *row = (StoreRow){0};
    if (bytes < sizeof row->seed + sizeof row->numbers) return false;
    memcpy(&row->seed, at, sizeof row->seed);
    memcpy(row->numbers, at + sizeof row->seed, sizeof row->numbers);
    at += sizeof row->seed + sizeof row->numbers;
    for (int t = 0; t < ROW_TEXTS; t++) {
        if (end - at < 2 || !memchr(at + 1, '\0', (size_t)(end - at - 1))) return false;
        if (*at) row->texts[t] = arena_copy_text(arena, at + 1);
        at += 2 + strlen(at + 1);
    }
    return at == end;
}

// ---- Validity: what a row must satisfy before it is read as a point.

static bool is_object(Arena *arena, const char *text) {
    const Json *json = json_read_text(arena, "", text, strlen(text), problems_create(arena));
    return json && json->kind == JSON_OBJECT;
}

// Its texts exist and parse.
static bool store_row_is_sound(Arena *arena, const StoreRow *row) {
    static const char *const statuses[] = {"ok", "impossible", "failed"};
    const char *status = row->texts[ROW_STATUS];
    bool known = false;
    for (size_t s = 0; status && s < sizeof statuses / sizeof *statuses; s++)
        known = known || strcmp(status, statuses[s]) == 0;
    for (int c = 0; c < POINT_COLUMNS; c++) known = known && point_takes_number(c, row->numbers[c]);
    return known && row->texts[ROW_KEY] && row->texts[ROW_STUDY] && row->texts[ROW_PARAMETERS] &&
           is_object(arena, row->texts[ROW_PARAMETERS]) &&
           (!row->texts[ROW_EXPOSED] || is_object(arena, row->texts[ROW_EXPOSED])) &&
           (!row->texts[ROW_MEMORY] || is_object(arena, row->texts[ROW_MEMORY]));
}

// ---- Back to a point.

static const NamedValue *values_from(Arena *arena, const char *text, int *count, Problems *problems) {
    *count = 0;
    const Json *json = text ? json_read_text(arena, "the store", text, strlen(text), problems) : NULL;
    if (!json) return NULL;
    NamedValue *values = ARENA_ARRAY(arena, NamedValue, json->count);
    for (int i = 0; i < json->count; i++) {
        double value = json->items[i].kind == JSON_NUMBER ? json->items[i].number : NAN;
        values[i] = (NamedValue){json->items[i].key, json->items[i].key, value};
    }
    *count = json->count;
    return values;
}

static void set_parameters(Arena *arena, RecordPoint *point, const char *text, Problems *problems) {
    const Json *json = json_read_text(arena, "the store", text, strlen(text), problems);
    if (!json) return;
    RecordParameter *list = ARENA_ARRAY(arena, RecordParameter, json->count);
    for (int i = 0; i < json->count; i++) {
        const Json *item = &json->items[i];
        bool is_number = item->kind == JSON_NUMBER;
        const char *written = is_number ? quantity_exact(arena, item->number) : item->text ? item->text : "?";
        list[i] = (RecordParameter){item->key, written, is_number ? item->number : NAN};
    }
    point->parameters = list;
    point->parameter_count = json->count;
}

RecordPoint store_row_point(Arena *arena, const StoreRow *row, Problems *problems) {
    RecordPoint point = {.ran = strcmp(row->texts[ROW_STATUS], "ok") == 0,
                         .why_not = row->texts[ROW_REASON],
                         .smallest_change = row->texts[ROW_CHANGE],
                         .currency = row->texts[ROW_CURRENCY]};
    for (int c = 0; c < POINT_COLUMNS; c++) point_set_number(&point, c, row->numbers[c]);
    set_parameters(arena, &point, row->texts[ROW_PARAMETERS], problems);
    point.exposed = values_from(arena, row->texts[ROW_EXPOSED], &point.exposed_count, problems);
    point.memory = values_from(arena, row->texts[ROW_MEMORY], &point.memory_count, problems);
    if (row->texts[ROW_DIGEST]) point.digest = strtoull(row->texts[ROW_DIGEST], NULL, 16);
    return point;
}

// ---- The spool: a length, a digest, and a packed row each.

#define LARGEST_SPOOL ((size_t)1 << 30)

typedef struct Head {
    uint64_t bytes, digest;
} Head;

static const char *path_of(Arena *arena, const char *store) { return arena_printf(arena, "%s-spool", store); }

bool spool_exists(Arena *arena, const char *store) { return access(path_of(arena, store), F_OK) == 0; }

bool spool_open(Arena *arena, const char *store, Spool *spool) {
    spool->path = path_of(arena, store);
    spool->file = open(spool->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return spool->file >= 0;
}

bool spool_add(Spool *spool, const StoreRow *row) {
    Arena *scratch = arena_open();
    size_t bytes;
    const char *packed = store_row_pack(scratch, row, &bytes);
    Head head = {bytes, digest_bytes(DIGEST_START, packed, bytes)};
    char *whole = arena_alloc(scratch, sizeof head + bytes);
    memcpy(whole, &head, sizeof head);
    memcpy(whole + sizeof head, packed, bytes);
    ssize_t written = write(spool->file, whole, sizeof head + bytes);
    if (written >= 0 && written != (ssize_t)(sizeof head + bytes)) errno = ENOSPC;
    arena_close(scratch);
    return written == (ssize_t)(sizeof head + bytes);
}

const StoreRow *spool_rows(Arena *arena, const Spool *spool, int *count, Problems *problems) {
    LIST_OF(StoreRow) rows = {0};
    size_t size = 0;
    const char *at = file_read(arena, spool->path, LARGEST_SPOOL, &size, problems), *end = at + size;
    Head head;
    while (at && (size_t)(end - at) > sizeof head) {
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        if (head.bytes > (size_t)(end - at) || digest_bytes(DIGEST_START, at, head.bytes) != head.digest) break;
        StoreRow row;
        if (!store_row_unpack(arena, at, head.bytes, &row) || !store_row_is_sound(arena, &row)) break;
        LIST_PUSH(arena, &rows, row);
        at += head.bytes;
    }
    *count = rows.count;
    return rows.items;
}

bool spool_empty(Spool *spool) { return ftruncate(spool->file, 0) == 0; }

void spool_remove(Spool *spool) {
    if (spool->file < 0) return;
    unlink(spool->path);
    close(spool->file);
    spool->file = -1;
}

#define LOST_NAMED 5
#define NAME_WIDTH 80
#define ROWS_AT_ONCE 1000
#define LONGEST_KEY 64 // longer than ours are

// ---- Tables.

typedef struct TableSql {
    const char *name, *sql;
} TableSql;

enum { TABLES = 3 };

// In the order of their names.
static void table_sql(Arena *arena, TableSql tables[TABLES]) {
    const char *columns = "";
    for (int t = 0; t < ROW_TEXTS; t++)
        columns =
            arena_printf(arena, "%s%s TEXT%s, ", columns, store_text_columns[t], t == ROW_KEY ? " PRIMARY KEY" : "");
    columns = arena_printf(arena, "%sseed INTEGER", columns);
    for (int c = 0; c < POINT_COLUMNS; c++) columns = arena_printf(arena, "%s, %s REAL", columns, point_columns[c]);
    const char *point = arena_printf(arena, "CREATE TABLE point(%s, checksum INTEGER) STRICT, WITHOUT ROWID", columns);
    tables[0] = (TableSql){"point", point};
    tables[1] = (TableSql){"seal", "CREATE TABLE seal(studies INTEGER, points INTEGER, checksums INTEGER) STRICT"};
    tables[2] = (TableSql){"study", "CREATE TABLE study(id TEXT PRIMARY KEY, engine TEXT, title TEXT, scenario TEXT, "
                                    "sample_name TEXT, parameters TEXT, checksum INTEGER) STRICT, WITHOUT ROWID"};
}

bool store_create_tables(Store *store) {
    TableSql tables[TABLES];
    table_sql(store->arena, tables);
    return store_execute(store,
                         arena_printf(store->arena,
                                      "BEGIN IMMEDIATE; %s; %s; %s; INSERT INTO seal VALUES(0, 0, 0); "
                                      "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                                      tables[0].sql, tables[1].sql, tables[2].sql, STORE_APPLICATION_ID, STORE_FORMAT),
                         "the store cannot be made");
}

static bool unsound(Store *store, const char *text, const char *hint) {
    store->refusal = STORE_NOT_SOUND;
    problem_add(store->problems, (Where){store->path, 0}, "%s", text);
    return problem_hint(store->problems, "%s", hint);
}

static bool tables_are_ours(Store *store) {
    TableSql tables[TABLES];
    int found = 0, step = SQLITE_DONE;
    table_sql(store->arena, tables);
    bool equal = true;
    sqlite3_stmt *select = store_prepare(store, "SELECT name, sql FROM sqlite_schema ORDER BY name");
    if (!select) return false;
    while ((step = sqlite3_step(select)) == SQLITE_ROW && equal) {
        const char *name = store_text_at(store->arena, select, 0), *sql = store_text_at(store->arena, select, 1);
        equal = found < TABLES && name && sql && strcmp(name, tables[found].name) == 0 &&
                strcmp(sql, tables[found].sql) == 0;
        found++;
    }
    bool read = step == SQLITE_DONE || step == SQLITE_ROW || store_fail(store, "cannot be read");
    sqlite3_finalize(select);
    if (!read || (equal && found == TABLES)) return read;
    return unsound(
        store, "the tables of this store are not as lockstep made them: it is damaged, or another program changed them",
        "take a copy that is whole, or move it away and sweep anew");
}

bool store_is_ours(Store *store) {
    int before = problems_added(store->problems);
    int64_t application = store_pragma(store, "PRAGMA application_id");
    if (problems_added(store->problems) > before) return false;
    if (application != STORE_APPLICATION_ID)
        return unsound(store, "this is no store of a sweep", "lockstep sweep writes them");
    int64_t format = store_pragma(store, "PRAGMA user_version");
    if (problems_added(store->problems) > before) return false;
    if (format != STORE_FORMAT) {
        const char *text =
            arena_printf(store->arena, "this store has format %lld, not %d", (long long)format, STORE_FORMAT);
        return unsound(store, text,
                       "it was written by another version of lockstep, or its beginning is damaged: move it away and "
                       "sweep anew");
    }
    return tables_are_ours(store);
}

// ---- Checksums: FNV-1a over every field in order, in bytes that no machine or version of SQLite changes.

static uint64_t digest_text(uint64_t digest, const char *text) {
    digest = digest_bytes(digest, text ? "\1" : "\0", 1);
    return text ? digest_bytes(digest, text, strlen(text) + 1) : digest;
}

// One representation of unknown values and one zero, as in the column.
static uint64_t digest_number(uint64_t digest, double number) {
    uint64_t bits = 0;
    number += 0.0;
    if (!isnan(number)) memcpy(&bits, &number, sizeof bits);
    return digest_u64(digest_bytes(digest, isnan(number) ? "\0" : "\1", 1), bits);
}

uint64_t store_row_checksum(const StoreRow *row) {
    uint64_t digest = digest_u64(DIGEST_START, (uint64_t)row->seed);
    for (int t = 0; t < ROW_TEXTS; t++) digest = digest_text(digest, row->texts[t]);
    for (int c = 0; c < POINT_COLUMNS; c++) digest = digest_number(digest, row->numbers[c]);
    return digest;
}

uint64_t store_study_checksum(const StoreStudy *study) {
    const char *texts[] = {study->id,       study->engine,      study->title,
                           study->scenario, study->sample_name, study->parameters};
    uint64_t digest = DIGEST_START;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) digest = digest_text(digest, texts[t]);
    return digest;
}

// ---- Rows.

static bool is_json(Arena *arena, const char *text, JsonKind kind) {
    const Json *json = text ? json_read_text(arena, "", text, strlen(text), problems_create(arena)) : NULL;
    return json && json->kind == kind;
}

static StoreStudy study_at(Arena *arena, sqlite3_stmt *select) {
    return (StoreStudy){.id = store_text_at(arena, select, 0),
                        .engine = store_text_at(arena, select, 1),
                        .title = store_text_at(arena, select, 2),
                        .scenario = store_text_at(arena, select, 3),
                        .sample_name = store_text_at(arena, select, 4),
                        .parameters = store_text_at(arena, select, 5)};
}

static bool study_is_sound(Arena *arena, const StoreStudy *study, sqlite3_stmt *select) {
    return (uint64_t)sqlite3_column_int64(select, 6) == store_study_checksum(study) && study->id && study->title &&
           study->scenario && study->sample_name && is_json(arena, study->parameters, JSON_LIST);
}

static bool row_is_sound(Arena *arena, const StoreRow *row, sqlite3_stmt *select) {
    const int checksum = ROW_TEXTS + 1 + POINT_COLUMNS;
    return (uint64_t)sqlite3_column_int64(select, checksum) == store_row_checksum(row) &&
           store_row_is_sound(arena, row);
}

static const char *name_of_lost(Arena *arena, const StoreRow *row) {
    const char *parameters = row->texts[ROW_PARAMETERS];
    return parameters && *parameters ? arena_printf(arena, "%.*s", NAME_WIDTH, text_clean(arena, parameters, false))
                                     : "one without a name";
}

// ---- Checking.

typedef enum Pass {
    PASS_WHOLE,
    PASS_BROKEN, // SQLite could not read on
    PASS_FAILED  // after a problem that is not the file's
} Pass;

typedef struct Found {
    Seal seal; // of valid rows
    int64_t unsound_points, unsound_studies;
    const char *which;
    char last_study[LONGEST_KEY], last_key[LONGEST_KEY];
    bool in_order; // SQLite's own check lets two leaves of a tree change places
} Found;

static Pass pass_ends(Store *store, int step) {
    if (step == SQLITE_DONE) return PASS_WHOLE;
    if (step == SQLITE_CORRUPT || step == SQLITE_NOTADB || step == SQLITE_ERROR) return PASS_BROKEN;
    store_fail(store, "cannot be read");
    return PASS_FAILED;
}

static void check_order(Found *found, char last[LONGEST_KEY], const char *key) {
    if (!key) key = "";
    found->in_order = found->in_order && strcmp(last, key) < 0;
    snprintf(last, LONGEST_KEY, "%s", key);
}

static Pass pass_over_studies(Store *store, Found *found) {
    int step = SQLITE_DONE;
    sqlite3_stmt *select = store_prepare(store, "SELECT * FROM study");
    if (!select) return PASS_FAILED;
    while ((step = sqlite3_step(select)) == SQLITE_ROW) {
        Arena *scratch = arena_open();
        StoreStudy study = study_at(scratch, select);
        bool sound = study_is_sound(scratch, &study, select);
        check_order(found, found->last_study, study.id);
        found->unsound_studies += !sound;
        found->seal.studies += sound;
        if (sound) found->seal.checksums ^= store_study_checksum(&study);
        arena_close(scratch);
    }
    Pass pass = pass_ends(store, step);
    sqlite3_finalize(select);
    return pass;
}

static void look_at_row(Arena *arena, Found *found, const StoreRow *row, bool sound) {
    check_order(found, found->last_key, row->texts[ROW_KEY]);
    found->seal.points += sound;
    if (sound) found->seal.checksums ^= store_row_checksum(row);
    if (sound) return;
    if (found->unsound_points < LOST_NAMED)
        found->which = arena_printf(arena, "%s%s%s", found->which, *found->which ? ", " : "", name_of_lost(arena, row));
    if (found->unsound_points == LOST_NAMED) found->which = arena_printf(arena, "%s, …", found->which);
    found->unsound_points++;
}

static Pass pass_over_rows(Store *store, Found *found) {
    int step = SQLITE_DONE, rows = 0;
    sqlite3_stmt *select = store_prepare(store, "SELECT * FROM point");
    if (!select) return PASS_FAILED;
    Arena *scratch = arena_open();
    while ((step = sqlite3_step(select)) == SQLITE_ROW) {
        StoreRow row = store_row_at(scratch, select);
        look_at_row(store->arena, found, &row, row_is_sound(scratch, &row, select));
        if (++rows % ROWS_AT_ONCE != 0) continue;
        arena_close(scratch);
        scratch = arena_open();
    }
    arena_close(scratch);
    Pass pass = pass_ends(store, step);
    sqlite3_finalize(select);
    return pass;
}

static Pass check_pages(Store *store) {
    sqlite3_stmt *check = store_prepare(store, "PRAGMA quick_check(1)");
    if (!check) return PASS_FAILED;
    int step = sqlite3_step(check);
    const char *said = step == SQLITE_ROW ? store_text_at(store->arena, check, 0) : NULL;
    Pass pass = said ? (strcmp(said, "ok") == 0 ? PASS_WHOLE : PASS_BROKEN) : pass_ends(store, step);
    sqlite3_finalize(check);
    return pass;
}

static Pass read_seal(Store *store, Seal *seal) {
    sqlite3_stmt *select = store_prepare(store, "SELECT studies, points, checksums FROM seal");
    if (!select) return PASS_FAILED;
    int step = sqlite3_step(select);
    if (step == SQLITE_ROW)
        *seal = (Seal){sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 1),
                       (uint64_t)sqlite3_column_int64(select, 2)};
    Pass pass = step == SQLITE_ROW ? PASS_WHOLE : step == SQLITE_DONE ? PASS_BROKEN : pass_ends(store, step);
    sqlite3_finalize(select);
    return pass;
}

static bool same_seal(const Seal *a, const Seal *b) {
    return a->studies == b->studies && a->points == b->points && a->checksums == b->checksums;
}

static Pass worse(Pass a, Pass b) { return a > b ? a : b; }

// Every study and point once.
static Pass look_at_all(Store *store, Found *found) {
    *found = (Found){.which = "", .in_order = true};
    Pass pass = pass_over_studies(store, found);
    if (pass != PASS_FAILED) pass = worse(pass, pass_over_rows(store, found));
    return found->in_order && found->unsound_points + found->unsound_studies == 0 ? pass : worse(pass, PASS_BROKEN);
}

static bool refuse_damaged(Store *store, const Found *found) {
    const char *which = *found->which ? arena_printf(store->arena, "; not to be trusted: %s", found->which) : "";
    return unsound(store, arena_printf(store->arena, "this store is damaged%s", which),
                   "take a copy that is whole, or move it away and give the sweep's command again: it simulates anew");
}

// Checks one snapshot of the file, whatever is written meanwhile.
bool store_check(Store *store) {
    if (!store_execute(store, "BEGIN", "cannot be read")) return false;
    Found found = {.which = ""};
    Pass pass = worse(check_pages(store), read_seal(store, &store->seal));
    if (pass != PASS_FAILED) pass = worse(pass, look_at_all(store, &found));
    sqlite3_exec(store->base, "ROLLBACK", NULL, NULL, NULL); // nothing was written
    if (pass == PASS_WHOLE && !same_seal(&store->seal, &found.seal)) pass = PASS_BROKEN;
    if (pass == PASS_BROKEN) refuse_damaged(store, &found);
    return pass == PASS_WHOLE;
}

// ---- The seal.

bool store_seal_anew(Store *store) {
    Found found;
    Pass pass = look_at_all(store, &found);
    if (pass == PASS_BROKEN) refuse_damaged(store, &found);
    store->seal = found.seal;
    return pass == PASS_WHOLE;
}

bool store_write_seal(Store *store) {
    sqlite3_stmt *update = store_prepare(store, "UPDATE seal SET studies = ?, points = ?, checksums = ?");
    bool done = store_bind_whole(store, update, 1, store->seal.studies) &&
                store_bind_whole(store, update, 2, store->seal.points) &&
                store_bind_whole(store, update, 3, (int64_t)store->seal.checksums) && store_finish(store, update);
    sqlite3_finalize(update);
    return done;
}
