// Integrity check of the store. Its tables are compared with their schema, SQLite checks its pages, and each row has
// a checksum of ours; the seal counts all rows. Checksums detect accidents, not attacks: a process that may write the
// file can also compute them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/store/store_base.h"
#include "sim/base/digest.h"
#include "sim/base/text.h"
#include "sim/data/json.h"

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
