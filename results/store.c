// The store: a SQLite file with a rollback journal. (Write-ahead logs do not work on the network file systems of
// clusters.) Tables have no row numbers: they lie in the order of their keys, whatever came first.
#include "results/store.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "results/store_row.h"
#include "results/store_spool.h"
#include "sim/check.h"
#include "sim/digest.h"
#include "sim/json.h"
#include "sim/list.h"

#define APPLICATION_ID 0x4c4b5350 // "LKSP"
#define SCHEMA_VERSION 1
#define WAIT_FOR_READERS_MS 60000
#define SHARE_OF_TIME 0.1 // for commits

static const char *const text_columns[ROW_TEXTS] = {"key",    "study",   "parameters", "status",   "reason",
                                                    "change", "exposed", "memory",     "currency", "digest"};

struct Store {
    Arena *arena;
    Problems *problems;
    const char *path;
    sqlite3 *base;
    sqlite3_stmt *has, *put;
    int lock;    // of the only writer; -1: none
    Spool spool; // of the writer
    bool open_transaction;
    double last_commit_s, commit_ended_s, spent_s;
};

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool fail(Store *store, const char *doing) {
    problem_add(store->problems, (Where){store->path, 0}, "%s: %s", doing, sqlite3_errmsg(store->base));
    if (sqlite3_errcode(store->base) == SQLITE_NOTADB) problem_hint(store->problems, "it is no store of a sweep");
    return false;
}

static bool execute(Store *store, const char *sql, const char *doing) {
    return sqlite3_exec(store->base, sql, NULL, NULL, NULL) == SQLITE_OK || fail(store, doing);
}

static sqlite3_stmt *prepare(Store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->base, sql, -1, &statement, NULL) != SQLITE_OK) fail(store, "cannot be read");
    return statement;
}

static int64_t pragma(Store *store, const char *sql) {
    sqlite3_stmt *statement = prepare(store, sql);
    int64_t value = statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

// ---- One writer.

// A file beside the store is locked; the system gives it up with the process, however that ends.
static bool lock_for_writing(Store *store) {
    const char *path = arena_printf(store->arena, "%s-lock", store->path);
    for (;;) {
        struct stat held, named;
        store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (store->lock < 0) {
            problem_add(store->problems, (Where){path, 0}, "%s", strerror(errno));
            return false;
        }
        if (flock(store->lock, LOCK_EX | LOCK_NB) != 0) {
            problem_add(store->problems, (Where){store->path, 0}, "another process writes to this store");
            problem_hint(store->problems, "wait for it, or name another file with -o");
            close(store->lock);
            store->lock = -1;
            return false;
        }
        // The one before may have removed the name in between.
        if (fstat(store->lock, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino) return true;
        close(store->lock);
    }
}

static void unlock(Store *store) {
    if (store->lock < 0) return;
    unlink(arena_printf(store->arena, "%s-lock", store->path));
    close(store->lock);
}

// ---- Opening.

static const char *create_sql(Arena *arena) {
    const char *sql = "CREATE TABLE study(id TEXT PRIMARY KEY, engine TEXT, title TEXT, scenario TEXT, "
                      "sample_name TEXT, parameters TEXT) STRICT, WITHOUT ROWID;"
                      "CREATE TABLE point(";
    for (int t = 0; t < ROW_TEXTS; t++)
        sql = arena_printf(arena, "%s%s TEXT%s, ", sql, text_columns[t], t == ROW_KEY ? " PRIMARY KEY" : "");
    sql = arena_printf(arena, "%sseed INTEGER", sql);
    for (int c = 0; c < POINT_COLUMNS; c++) sql = arena_printf(arena, "%s, %s REAL", sql, point_columns[c]);
    return arena_printf(arena,
                        "BEGIN IMMEDIATE; %s) STRICT, WITHOUT ROWID; PRAGMA application_id = %d; "
                        "PRAGMA user_version = %d; COMMIT",
                        sql, APPLICATION_ID, SCHEMA_VERSION);
}

static bool check_schema(Store *store, StoreMode mode) {
    int64_t objects = pragma(store, "SELECT count(*) FROM sqlite_schema");
    if (objects < 0) return false;
    if (objects == 0 && mode == STORE_WRITE)
        return execute(store, create_sql(store->arena), "the store cannot be made");
    if (pragma(store, "PRAGMA application_id") != APPLICATION_ID) {
        problem_add(store->problems, (Where){store->path, 0}, "this is no store of a sweep");
        problem_hint(store->problems, "lockstep sweep writes them");
        return false;
    }
    int64_t version = pragma(store, "PRAGMA user_version");
    if (version == SCHEMA_VERSION) return true;
    problem_add(store->problems, (Where){store->path, 0}, "this store has format %lld, not %d", (long long)version,
                SCHEMA_VERSION);
    problem_hint(store->problems, "it was written by another version of lockstep");
    return false;
}

static const char *put_sql(Arena *arena) {
    const char *names = "seed", *marks = "?";
    for (int t = 0; t < ROW_TEXTS; t++) names = arena_printf(arena, "%s, %s", names, text_columns[t]);
    for (int c = 0; c < POINT_COLUMNS; c++) names = arena_printf(arena, "%s, %s", names, point_columns[c]);
    for (int i = 0; i < ROW_TEXTS + POINT_COLUMNS; i++) marks = arena_printf(arena, "%s, ?", marks);
    return arena_printf(arena, "INSERT INTO point(%s) VALUES(%s)", names, marks);
}

static bool begin(Store *store) {
    if (!store->open_transaction) store->open_transaction = execute(store, "BEGIN IMMEDIATE", "cannot be written");
    return store->open_transaction;
}

static bool finish(Store *store, sqlite3_stmt *statement) {
    bool done = sqlite3_step(statement) == SQLITE_DONE || fail(store, "cannot be written");
    sqlite3_reset(statement);
    return done;
}

static bool insert(Store *store, const StoreRow *row) {
    if (!begin(store)) return false;
    int column = 1;
    sqlite3_bind_int64(store->put, column++, row->seed);
    for (int t = 0; t < ROW_TEXTS; t++) sqlite3_bind_text(store->put, column++, row->texts[t], -1, SQLITE_STATIC);
    for (int c = 0; c < POINT_COLUMNS; c++) sqlite3_bind_double(store->put, column++, row->numbers[c]);
    return finish(store, store->put);
}

static bool fail_spool(Store *store) {
    problem_add(store->problems, (Where){store->path, 0}, "cannot be written: %s", strerror(errno));
    return false;
}

// What a killed process had received but not committed.
static bool recover(Store *store) {
    int count = 0;
    if (!spool_open(store->arena, store->path, &store->spool)) return fail_spool(store);
    const StoreRow *rows = spool_rows(store->arena, &store->spool, &count);
    for (int i = 0; i < count; i++)
        if (!store_has(store, rows[i].texts[ROW_KEY]) && !insert(store, &rows[i])) return false;
    return store_commit(store) && (spool_empty(&store->spool) || fail_spool(store));
}

Store *store_open(Arena *arena, const char *path, StoreMode mode, Problems *problems) {
    Store *store = ARENA_NEW(arena, Store);
    *store = (Store){.arena = arena, .problems = problems, .path = path, .lock = -1, .spool = {.file = -1}};
    if (mode == STORE_WRITE && !lock_for_writing(store)) return NULL;
    // Reading, too, may have to roll back what a killed sweep left half written.
    int flags = SQLITE_OPEN_READWRITE | (mode == STORE_WRITE ? SQLITE_OPEN_CREATE : 0);
    bool ok = sqlite3_open_v2(path, &store->base, flags, NULL) == SQLITE_OK || fail(store, "cannot be opened");
    ok = ok && sqlite3_busy_timeout(store->base, WAIT_FOR_READERS_MS) == SQLITE_OK;
    ok = ok && execute(store, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL", "cannot be opened");
    ok = ok && check_schema(store, mode);
    store->has = ok ? prepare(store, "SELECT 1 FROM point WHERE key = ?") : NULL;
    store->put = ok ? prepare(store, put_sql(arena)) : NULL;
    if (store->has && store->put && (mode == STORE_READ || recover(store))) return store;
    store_close(store);
    return NULL;
}

void store_close(Store *store) {
    sqlite3_finalize(store->has);
    sqlite3_finalize(store->put);
    if (store->open_transaction)
        sqlite3_exec(store->base, "ROLLBACK", NULL, NULL, NULL); // the spool still has them
    else
        spool_remove(&store->spool);
    if (store->spool.file >= 0) close(store->spool.file);
    sqlite3_close(store->base);
    unlock(store);
}

// ---- Writing.

bool store_put_study(Store *store, const StoreStudy *study) {
    const char *texts[] = {study->id,       study->engine,      study->title,
                           study->scenario, study->sample_name, study->parameters};
    if (!begin(store)) return false;
    sqlite3_stmt *put = prepare(store, "INSERT OR IGNORE INTO study VALUES(?, ?, ?, ?, ?, ?)");
    for (int i = 0; put && i < 6; i++) sqlite3_bind_text(put, i + 1, texts[i], -1, SQLITE_STATIC);
    bool done = put && finish(store, put);
    sqlite3_finalize(put);
    return done && store_commit(store);
}

bool store_put(Store *store, const StoreRow *row) {
    double started = now_s();
    bool done = (spool_add(&store->spool, row) || fail_spool(store)) && insert(store, row);
    store->spent_s += now_s() - started;
    return done;
}

bool store_commit(Store *store) {
    if (!store->open_transaction) return true;
    double started = now_s();
    bool done = execute(store, "COMMIT", "cannot be written") && (spool_empty(&store->spool) || fail_spool(store));
    store->open_transaction = !done;
    store->commit_ended_s = now_s();
    store->last_commit_s = store->commit_ended_s - started;
    store->spent_s += store->last_commit_s;
    return done;
}

bool store_commit_when_due(Store *store) {
    bool due = now_s() - store->commit_ended_s > store->last_commit_s / SHARE_OF_TIME;
    return due ? store_commit(store) : true;
}

bool store_forget_failed(Store *store, const char *study) {
    if (!begin(store)) return false;
    sqlite3_stmt *forget = prepare(store, "DELETE FROM point WHERE study = ? AND status = 'failed'");
    if (forget) sqlite3_bind_text(forget, 1, study, -1, SQLITE_STATIC);
    bool done = forget && finish(store, forget);
    sqlite3_finalize(forget);
    return done && store_commit(store);
}

double store_seconds(const Store *store) { return store->spent_s; }

// ---- Reading.

bool store_has(Store *store, const char *key) {
    sqlite3_bind_text(store->has, 1, key, -1, SQLITE_STATIC);
    bool found = sqlite3_step(store->has) == SQLITE_ROW;
    sqlite3_reset(store->has);
    return found;
}

static const char *text_at(Arena *arena, sqlite3_stmt *statement, int column) {
    return arena_copy_text(arena, (const char *)sqlite3_column_text(statement, column));
}

// "… ORDER BY json_extract(parameters, '$."gpus"'), …, key": numbers before texts.
static const char *order_sql(Store *store, const char *parameters) {
    const char *sql = "";
    const Json *names = json_read_text(store->arena, store->path, parameters, strlen(parameters), store->problems);
    for (int i = 0; names && i < names->count; i++)
        sql = arena_printf(store->arena, "%sjson_extract(parameters, '$.\"%s\"'), ", sql, names->items[i].text);
    return arena_printf(store->arena, "%skey", sql);
}

static StoreRow row_at(Arena *arena, sqlite3_stmt *statement) {
    StoreRow row = {0};
    for (int t = 0; t < ROW_TEXTS; t++) row.texts[t] = text_at(arena, statement, t);
    row.seed = sqlite3_column_int64(statement, ROW_TEXTS);
    for (int c = 0; c < POINT_COLUMNS; c++) {
        int column = ROW_TEXTS + 1 + c;
        bool known = sqlite3_column_type(statement, column) != SQLITE_NULL;
        row.numbers[c] = known ? sqlite3_column_double(statement, column) : NAN;
    }
    return row;
}

static void read_points(Store *store, Record *record, const char *study, const char *parameters) {
    struct {
        RecordPoint *items;
        int count, room;
    } points = {0};
    sqlite3_stmt *select = prepare(store, arena_printf(store->arena, "SELECT * FROM point WHERE study = ? ORDER BY %s",
                                                       order_sql(store, parameters)));
    if (select) sqlite3_bind_text(select, 1, study, -1, SQLITE_STATIC);
    record->digest = DIGEST_START;
    int step = SQLITE_DONE;
    while (select && (step = sqlite3_step(select)) == SQLITE_ROW) {
        StoreRow row = row_at(store->arena, select);
        RecordPoint point = store_row_point(store->arena, &row, store->problems);
        LIST_PUSH(store->arena, &points, point);
        record->digest = digest_u64(record->digest, point.digest);
        record->seed = (uint64_t)row.seed;
    }
    if (select && step != SQLITE_DONE) fail(store, "cannot be read");
    sqlite3_finalize(select);
    record->points = points.items;
    record->point_count = points.count;
}

const Record *const *store_records(Store *store, int *count) {
    struct {
        const Record **items;
        int count, room;
    } records = {0};
    int before = problems_added(store->problems);
    sqlite3_stmt *select = prepare(store, "SELECT id, title, scenario, sample_name, parameters FROM study ORDER BY id");
    while (select && sqlite3_step(select) == SQLITE_ROW) {
        Record *record = ARENA_NEW(store->arena, Record);
        record->title = text_at(store->arena, select, 1);
        record->scenario = text_at(store->arena, select, 2);
        record->sample_name = text_at(store->arena, select, 3);
        const char *parameters = text_at(store->arena, select, 4);
        read_points(store, record, text_at(store->arena, select, 0), parameters);
        LIST_PUSH(store->arena, &records, record);
    }
    sqlite3_finalize(select);
    *count = records.count;
    return problems_added(store->problems) == before ? records.items : NULL;
}

// ---- Merging.

static const char *row_values(Arena *arena, const char *table) {
    const char *values = arena_printf(arena, "(%s.seed", table);
    for (int t = 0; t < ROW_TEXTS; t++) values = arena_printf(arena, "%s, %s.%s", values, table, text_columns[t]);
    for (int c = 0; c < POINT_COLUMNS; c++) values = arena_printf(arena, "%s, %s.%s", values, table, point_columns[c]);
    return arena_printf(arena, "%s)", values);
}

#define BOTH "main.point AS ours JOIN source.point AS theirs USING(key) WHERE "

static void report_conflicts(Store *store, const char *from, const char *differ) {
    sqlite3_stmt *select = prepare(store, arena_printf(store->arena,
                                                       "SELECT ours.parameters, ours.status, theirs.status, "
                                                       "ours.digest, theirs.digest FROM " BOTH "%s ORDER BY key",
                                                       differ));
    while (select && sqlite3_step(select) == SQLITE_ROW) {
        problem_add(store->problems, (Where){from, 0}, "the point %s is %s with digest %s here, %s with %s before",
                    sqlite3_column_text(select, 0), sqlite3_column_text(select, 2), sqlite3_column_text(select, 4),
                    sqlite3_column_text(select, 1), sqlite3_column_text(select, 3));
        problem_hint(store->problems, "equal engines give equal results: one of the files was changed or is damaged");
    }
    sqlite3_finalize(select);
}

static bool take_points(Store *store, const char *from, StoreMerge *merge) {
    Arena *arena = store->arena;
    // A process that was ended says less than one that came to a result.
    const char *differ = arena_printf(arena, "ours.status <> 'failed' AND theirs.status <> 'failed' AND %s IS NOT %s",
                                      row_values(arena, "ours"), row_values(arena, "theirs"));
    int64_t conflicts = pragma(store, arena_printf(arena, "SELECT count(*) FROM " BOTH "%s", differ));
    if (conflicts != 0) {
        report_conflicts(store, from, differ);
        return false;
    }
    int64_t common = pragma(store, "SELECT count(*) FROM " BOTH "true");
    bool ok = begin(store) && execute(store,
                                      "DELETE FROM main.point WHERE status = 'failed' AND "
                                      "key IN (SELECT key FROM source.point WHERE status <> 'failed')",
                                      "cannot be written");
    int64_t replaced = sqlite3_changes64(store->base);
    ok = ok && execute(store, "INSERT OR IGNORE INTO main.study SELECT * FROM source.study", "cannot be written");
    ok = ok && execute(store, "INSERT OR IGNORE INTO main.point SELECT * FROM source.point", "cannot be written");
    merge->added += sqlite3_changes64(store->base) - replaced;
    merge->replaced += replaced;
    merge->equal += common - replaced;
    return ok && store_commit(store);
}

bool store_merge(Store *store, const char *from, StoreMerge *merge) {
    // Is it one? What its writer left uncommitted is of it, too.
    StoreMode mode = spool_exists(store->arena, from) ? STORE_WRITE : STORE_READ;
    Store *source = store_open(store->arena, from, mode, store->problems);
    if (!source) return false;
    store_close(source);
    sqlite3_stmt *attach = prepare(store, "ATTACH DATABASE ? AS source");
    if (attach) sqlite3_bind_text(attach, 1, from, -1, SQLITE_STATIC);
    bool ok = attach && finish(store, attach);
    sqlite3_finalize(attach);
    ok = ok && take_points(store, from, merge);
    return execute(store, "DETACH DATABASE source", "cannot be read") && ok;
}
