// Is the file what we wrote? Its tables are compared with the text that made them, its pages are SQLite's to check, and
// its rows are ours: each has a checksum, and the seal counts them all. A checksum finds chance, not malice: whoever
// may write the file may also compute it.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/store_base.h"
#include "results/store_row.h"
#include "sim/digest.h"
#include "sim/json.h"
#include "sim/temporaries.h"
#include "sim/text.h"

#define LOST_NAMED 5
#define NAME_WIDTH 80
#define ROWS_AT_ONCE 1000
#define LONGEST_KEY 64 // longer than ours are

// ---- Tables.

static const char study_columns[] =
    "id TEXT PRIMARY KEY, engine TEXT, title TEXT, scenario TEXT, sample_name TEXT, parameters TEXT";

typedef struct TableSql {
    const char *name, *sql;
} TableSql;

enum { TABLES = 3 };

// In the order of their names. Without checksums there was no seal.
static int table_sql(Arena *arena, int64_t format, TableSql tables[TABLES]) {
    const char *checksum = format == STORE_FORMAT ? ", checksum INTEGER" : "", *columns = "";
    for (int t = 0; t < ROW_TEXTS; t++)
        columns =
            arena_printf(arena, "%s%s TEXT%s, ", columns, store_text_columns[t], t == ROW_KEY ? " PRIMARY KEY" : "");
    columns = arena_printf(arena, "%sseed INTEGER", columns);
    for (int c = 0; c < POINT_COLUMNS; c++) columns = arena_printf(arena, "%s, %s REAL", columns, point_columns[c]);
    int count = 0;
    tables[count++] =
        (TableSql){"point", arena_printf(arena, "CREATE TABLE point(%s%s) STRICT, WITHOUT ROWID", columns, checksum)};
    if (format == STORE_FORMAT)
        tables[count++] =
            (TableSql){"seal", "CREATE TABLE seal(studies INTEGER, points INTEGER, checksums INTEGER) STRICT"};
    tables[count++] = (TableSql){
        "study", arena_printf(arena, "CREATE TABLE study(%s%s) STRICT, WITHOUT ROWID", study_columns, checksum)};
    return count;
}

bool store_create_tables(Store *store) {
    TableSql tables[TABLES];
    int count = table_sql(store->arena, STORE_FORMAT, tables);
    const char *sql = "BEGIN IMMEDIATE; ";
    for (int t = 0; t < count; t++) sql = arena_printf(store->arena, "%s%s; ", sql, tables[t].sql);
    store->format = STORE_FORMAT;
    return store_execute(store,
                         arena_printf(store->arena,
                                      "%sINSERT INTO seal VALUES(0, 0, 0); PRAGMA application_id = %d; "
                                      "PRAGMA user_version = %d; COMMIT",
                                      sql, STORE_APPLICATION_ID, STORE_FORMAT),
                         "the store cannot be made");
}

static bool unsound(Store *store, const char *text, const char *hint) {
    store->refusal = STORE_NOT_SOUND;
    problem_add(store->problems, (Where){store->path, 0}, "%s", text);
    problem_hint(store->problems, "%s", hint);
    return false;
}

static bool tables_are_ours(Store *store) {
    TableSql tables[TABLES];
    int count = table_sql(store->arena, store->format, tables), found = 0, step = SQLITE_DONE;
    bool equal = true;
    sqlite3_stmt *select = store_prepare(store, "SELECT name, sql FROM sqlite_schema ORDER BY name");
    if (!select) return false;
    while ((step = sqlite3_step(select)) == SQLITE_ROW && equal) {
        const char *name = store_text_at(store->arena, select, 0), *sql = store_text_at(store->arena, select, 1);
        equal = found < count && name && sql && strcmp(name, tables[found].name) == 0 &&
                strcmp(sql, tables[found].sql) == 0;
        found++;
    }
    bool read = step == SQLITE_DONE || step == SQLITE_ROW || store_fail(store, "cannot be read");
    sqlite3_finalize(select);
    if (!read || (equal && found == count)) return read;
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
    store->format = store_pragma(store, "PRAGMA user_version");
    if (problems_added(store->problems) > before) return false;
    if (store->format != STORE_FORMAT && store->format != STORE_FORMAT_WITHOUT_CHECKSUMS) {
        const char *text =
            arena_printf(store->arena, "this store has format %lld, not %d", (long long)store->format, STORE_FORMAT);
        return unsound(store, text, "it was written by another version of lockstep, or its beginning is damaged");
    }
    if (store->format == STORE_FORMAT_WITHOUT_CHECKSUMS)
        store->note = arena_printf(store->arena,
                                   "%s was written before points had checksums: if one of them is damaged, it does "
                                   "not show",
                                   store->path);
    return tables_are_ours(store);
}

// ---- Checksums: FNV-1a over every field in order, in bytes that no machine or version of SQLite changes.

static uint64_t digest_text(uint64_t digest, const char *text) {
    digest = digest_bytes(digest, text ? "\1" : "\0", 1);
    return text ? digest_bytes(digest, text, strlen(text) + 1) : digest;
}

// One way to write what is unknown, and one zero: the column keeps no other.
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

static bool study_is_sound(const Store *store, Arena *arena, const StoreStudy *study, sqlite3_stmt *select) {
    if (store->format == STORE_FORMAT && (uint64_t)sqlite3_column_int64(select, 6) != store_study_checksum(study))
        return false;
    return study->id && study->title && study->scenario && study->sample_name &&
           is_json(arena, study->parameters, JSON_LIST);
}

static bool row_is_sound(const Store *store, Arena *arena, const StoreRow *row, sqlite3_stmt *select) {
    const int checksum = ROW_TEXTS + 1 + POINT_COLUMNS;
    if (store->format == STORE_FORMAT && (uint64_t)sqlite3_column_int64(select, checksum) != store_row_checksum(row))
        return false;
    return store_row_is_sound(arena, row);
}

static const char *name_of_lost(Arena *arena, const StoreRow *row) {
    const char *parameters = row->texts[ROW_PARAMETERS];
    return parameters && *parameters ? arena_printf(arena, "%.*s", NAME_WIDTH, text_clean(arena, parameters, false))
                                     : "one without a name";
}

// ---- Passes over a table.

typedef enum Pass {
    PASS_WHOLE,
    PASS_BROKEN, // SQLite could not read on
    PASS_FAILED  // after a problem that is not the file's
} Pass;

// What is done with each row, sound or not. False: after a problem.
typedef bool OnStudy(void *user, const StoreStudy *study, bool sound);
typedef bool OnRow(void *user, const StoreRow *row, bool sound);

static Pass pass_ends(Store *store, int step, bool going) {
    if (!going) return PASS_FAILED;
    if (step == SQLITE_DONE) return PASS_WHOLE;
    if (step == SQLITE_CORRUPT || step == SQLITE_NOTADB || step == SQLITE_ERROR) return PASS_BROKEN;
    store_fail(store, "cannot be read");
    return PASS_FAILED;
}

static Pass pass_over_studies(Store *store, OnStudy *on_study, void *user) {
    int step = SQLITE_DONE;
    bool going = true;
    sqlite3_stmt *select = store_prepare(store, "SELECT * FROM study");
    if (!select) return PASS_FAILED;
    while (going && (step = sqlite3_step(select)) == SQLITE_ROW) {
        Arena *scratch = arena_open();
        StoreStudy study = study_at(scratch, select);
        going = on_study(user, &study, study_is_sound(store, scratch, &study, select));
        arena_close(scratch);
    }
    Pass pass = pass_ends(store, step, going);
    sqlite3_finalize(select);
    return pass;
}

static Pass pass_over_rows(Store *store, const char *order, OnRow *on_row, void *user) {
    int step = SQLITE_DONE, rows = 0;
    bool going = true;
    sqlite3_stmt *select = store_prepare(store, arena_printf(store->arena, "SELECT * FROM point%s", order));
    if (!select) return PASS_FAILED;
    Arena *scratch = arena_open();
    while (going && (step = sqlite3_step(select)) == SQLITE_ROW) {
        StoreRow row = store_row_at(scratch, select);
        going = on_row(user, &row, row_is_sound(store, scratch, &row, select));
        if (++rows % ROWS_AT_ONCE != 0) continue;
        arena_close(scratch);
        scratch = arena_open();
    }
    arena_close(scratch);
    Pass pass = pass_ends(store, step, going);
    sqlite3_finalize(select);
    return pass;
}

// ---- Checking.

typedef struct Check {
    Store *store;
    Seal found;
    int64_t unsound_points, unsound_studies;
    const char *which;
    char last_study[LONGEST_KEY], last_key[LONGEST_KEY];
    bool in_order; // SQLite's own check lets two leaves of a tree change places
} Check;

static void check_order(Check *check, char last[LONGEST_KEY], const char *key) {
    if (!key) key = "";
    check->in_order = check->in_order && strcmp(last, key) < 0;
    snprintf(last, LONGEST_KEY, "%s", key);
}

static bool check_study(void *user, const StoreStudy *study, bool sound) {
    Check *check = user;
    check_order(check, check->last_study, study->id);
    check->unsound_studies += !sound;
    check->found.studies += sound;
    if (sound) check->found.checksums ^= store_study_checksum(study);
    return true;
}

static bool check_row(void *user, const StoreRow *row, bool sound) {
    Check *check = user;
    Arena *arena = check->store->arena;
    check_order(check, check->last_key, row->texts[ROW_KEY]);
    check->found.points += sound;
    if (sound) check->found.checksums ^= store_row_checksum(row);
    if (sound) return true;
    if (check->unsound_points < LOST_NAMED)
        check->which = arena_printf(arena, "%s%s%s", check->which, *check->which ? ", " : "", name_of_lost(arena, row));
    if (check->unsound_points == LOST_NAMED) check->which = arena_printf(arena, "%s, …", check->which);
    check->unsound_points++;
    return true;
}

static Pass check_pages(Store *store) {
    sqlite3_stmt *check = store_prepare(store, "PRAGMA quick_check(1)");
    if (!check) return PASS_FAILED;
    int step = sqlite3_step(check);
    const char *said = step == SQLITE_ROW ? store_text_at(store->arena, check, 0) : NULL;
    Pass pass = said ? (strcmp(said, "ok") == 0 ? PASS_WHOLE : PASS_BROKEN) : pass_ends(store, step, true);
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
    Pass pass = step == SQLITE_ROW ? PASS_WHOLE : step == SQLITE_DONE ? PASS_BROKEN : pass_ends(store, step, true);
    sqlite3_finalize(select);
    return pass;
}

static bool same_seal(const Seal *a, const Seal *b) {
    return a->studies == b->studies && a->points == b->points && a->checksums == b->checksums;
}

static bool check_all(Store *store, StoreDamage **damage) {
    bool sealed = store->format == STORE_FORMAT;
    Check check = {.store = store, .which = "", .in_order = true};
    Pass pages = store->is_cut ? PASS_BROKEN : check_pages(store),
         seal = sealed ? read_seal(store, &store->seal) : PASS_WHOLE;
    Pass studies = pages == PASS_FAILED ? PASS_FAILED : pass_over_studies(store, check_study, &check);
    Pass points = studies == PASS_FAILED ? PASS_FAILED : pass_over_rows(store, "", check_row, &check);
    if (pages == PASS_FAILED || seal == PASS_FAILED || studies == PASS_FAILED || points == PASS_FAILED) return false;
    bool whole = pages == PASS_WHOLE && seal == PASS_WHOLE && studies == PASS_WHOLE && points == PASS_WHOLE;
    if (whole && check.in_order && check.unsound_points + check.unsound_studies == 0 &&
        (!sealed || same_seal(&store->seal, &check.found)))
        return true;
    *damage = ARENA_NEW(store->arena, StoreDamage);
    **damage = (StoreDamage){.sealed = sealed && seal == PASS_WHOLE ? store->seal : (Seal){-1, -1, 0},
                             .unsound_points = check.unsound_points,
                             .which = check.which};
    return true;
}

// At one moment of the file, whoever writes meanwhile.
bool store_check(Store *store, StoreDamage **damage) {
    *damage = NULL;
    if (!store_execute(store, "BEGIN", "cannot be read")) return false;
    bool checked = check_all(store, damage);
    sqlite3_exec(store->base, "ROLLBACK", NULL, NULL, NULL); // nothing was written
    return checked;
}

void store_refuse_damaged(Store *store, const StoreDamage *damage) {
    const char *which = *damage->which ? arena_printf(store->arena, "; not to be trusted: %s", damage->which) : "";
    unsound(store, arena_printf(store->arena, "this store is damaged%s", which),
            "the sweep that wrote it goes on from what is whole; or take a copy that is whole");
}

// ---- Mending.

static bool mend_study(void *user, const StoreStudy *study, bool sound) {
    return !sound || store_insert_study(user, study);
}

// Passes from both ends may meet a row twice.
static bool mend_row(void *user, const StoreRow *row, bool sound) {
    StoredAs stored = sound ? store_has(user, row->texts[ROW_KEY]) : STORED_FAILED;
    return stored != STORED_UNREADABLE && (stored != STORED_NOT || store_insert(user, row));
}

static bool copy_what_is_whole(Store *from, Store *to) {
    if (pass_over_studies(from, mend_study, to) == PASS_FAILED) return false;
    Pass forward = pass_over_rows(from, "", mend_row, to);
    if (forward == PASS_BROKEN) forward = pass_over_rows(from, " ORDER BY key DESC", mend_row, to);
    return forward != PASS_FAILED && store_commit(to);
}

static const char *const beside[] = {"", "-journal", "-wal", "-shm"};
enum { BESIDE = sizeof beside / sizeof *beside };

static const char *free_name(Arena *arena, const char *path) {
    const char *name = arena_printf(arena, "%s.damaged", path);
    for (int i = 2; access(name, F_OK) == 0; i++) name = arena_printf(arena, "%s.damaged-%d", path, i);
    return name;
}

static bool close_base(Store *store) {
    sqlite3_finalize(store->has);
    sqlite3_finalize(store->put);
    sqlite3_close(store->base);
    store->has = store->put = NULL;
    store->base = NULL;
    return true;
}

// The store's name always names a file that is whole or the damaged one; where the system knows links, at any moment.
static bool take_place(Store *store, const char *fresh, const char *kept) {
    bool done = (link(store->path, kept) == 0 || rename(store->path, kept) == 0) && rename(fresh, store->path) == 0;
    if (done) return true;
    store->refusal = STORE_REFUSED_BY_SYSTEM;
    problem_add(store->problems, (Where){store->path, 0}, "cannot be mended: %s", strerror(errno));
    return false;
}

static const char *note_of(Store *store, const StoreDamage *damage, const Seal *saved, const char *kept) {
    Arena *arena = store->arena;
    int64_t lost = damage->sealed.points - saved->points;
    const char *which = *damage->which ? arena_printf(arena, " (%s)", damage->which) : "", *what;
    if (lost > 0)
        what = arena_printf(arena, "%lld of %lld points are lost%s and simulated again", (long long)lost,
                            (long long)damage->sealed.points, which);
    else if (lost == 0 && damage->sealed.studies == saved->studies)
        what = "no point is lost";
    else
        what = arena_printf(arena, "what is lost of it%s is simulated again", which);
    const char *others = saved->studies > 1 ? "; other sweeps that it holds are to be run again, too" : "";
    return arena_printf(arena, "%s was damaged: %s%s; the damaged file is kept as %s", store->path, what, others, kept);
}

bool store_mend(Store *store, const StoreDamage *damage) {
    Arena *arena = store->arena;
    Store fresh = {.arena = arena,
                   .problems = store->problems,
                   .path = arena_printf(arena, "%s.mending", store->path),
                   .lock = -1,
                   .spool = {.file = -1}};
    for (int b = 0; b < BESIDE; b++) {
        unlink(arena_printf(arena, "%s%s", fresh.path, beside[b]));
        temporary_add(arena_printf(arena, "%s%s", fresh.path, beside[b]));
    }
    bool ok = store_connect(&fresh, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) && store_create_tables(&fresh) &&
              store_get_ready(&fresh) && copy_what_is_whole(store, &fresh);
    store->refusal = fresh.refusal;
    const char *kept = free_name(arena, store->path);
    ok = close_base(&fresh) && ok && close_base(store) && take_place(store, fresh.path, kept);
    if (!ok) unlink(fresh.path);
    for (int b = 0; b < BESIDE; b++) temporary_drop(arena_printf(arena, "%s%s", fresh.path, beside[b]));
    store->seal = fresh.seal;
    store->is_cut = false;
    store->note = ok ? note_of(store, damage, &fresh.seal, kept) : NULL;
    return ok && store_connect(store, SQLITE_OPEN_READWRITE);
}

// ---- The seal.

static bool seal_study(void *user, const StoreStudy *study, bool sound) {
    Store *store = user;
    (void)sound;
    store->seal.studies++;
    store->seal.checksums ^= store_study_checksum(study);
    return true;
}

static bool seal_row(void *user, const StoreRow *row, bool sound) {
    Store *store = user;
    (void)sound;
    store->seal.points++;
    store->seal.checksums ^= store_row_checksum(row);
    return true;
}

static bool passed(Store *store, Pass pass) {
    if (pass == PASS_BROKEN) store_fail(store, "cannot be read");
    return pass == PASS_WHOLE;
}

bool store_seal_anew(Store *store) {
    store->seal = (Seal){0};
    return passed(store, pass_over_studies(store, seal_study, store)) &&
           passed(store, pass_over_rows(store, "", seal_row, store));
}

bool store_write_seal(Store *store) {
    sqlite3_stmt *update = store_prepare(store, "UPDATE seal SET studies = ?, points = ?, checksums = ?");
    bool done = store_bind_whole(store, update, 1, store->seal.studies) &&
                store_bind_whole(store, update, 2, store->seal.points) &&
                store_bind_whole(store, update, 3, (int64_t)store->seal.checksums) && store_finish(store, update);
    sqlite3_finalize(update);
    return done;
}
