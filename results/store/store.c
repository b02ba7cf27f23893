#include "results/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "results/store/store_base.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/data/json.h"
#include "sim/system/file.h"
#include "sim/system/watch.h"

// ---- The store: a SQLite file with a rollback journal. (Write-ahead logs do not work on the network file systems of
// clusters.) Tables are WITHOUT ROWID: rows are in the order of their keys, not of insertion.

#define SAY_AFTER_MS 500
#define SHARE_OF_TIME 0.1 // for commits

int store_patience_ms = 60000;

const char *const store_text_columns[ROW_TEXTS] = {"key",    "study",   "parameters", "status",   "reason",
                                                   "change", "exposed", "memory",     "currency", "digest"};

// ---- Others that have it locked.

// Who holds a lock on the file: the kernel's list, since opening the file once more would drop SQLite's own locks.
static const char *locked_by(Store *store) {
    struct stat about;
    char line[256];
    long process, found = 0;
    unsigned major_number, minor_number;
    unsigned long inode;
    FILE *locks = stat(store->path, &about) == 0 ? fopen("/proc/locks", "re") : NULL;
    if (!locks) return "another process";
    while (fgets(line, sizeof line, locks))
        if (sscanf(line, "%*d: %*s %*s %*s %ld %x:%x:%lu", &process, &major_number, &minor_number, &inode) == 4 &&
            inode == about.st_ino && makedev(major_number, minor_number) == about.st_dev && process != getpid())
            found = process;
    fclose(locks);
    return found > 0 ? arena_printf(store->arena, "process %ld", found) : "another process";
}

static int wait_for_others(void *user, int times_before) {
    Store *store = user;
    if (times_before == 0) {
        store->waiting_since_s = watch_clock_seconds();
        store->said_waiting = false;
    }
    double waited_ms = 1000 * (watch_clock_seconds() - store->waiting_since_s);
    if (waited_ms >= store_patience_ms) return 0;
    if (waited_ms >= SAY_AFTER_MS && !store->said_waiting) {
        fprintf(stderr, "%s is locked by %s; waiting for up to %d s\n", store->path, locked_by(store),
                store_patience_ms / 1000);
        store->said_waiting = true;
    }
    usleep(times_before < 10 ? 2000 : 50000);
    return 1;
}

// ---- Asking SQLite.

bool store_fail(Store *store, const char *doing) {
    int code = sqlite3_errcode(store->base);
    bool is_unsound = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR || code == SQLITE_FORMAT;
    store->refusal = is_unsound ? STORE_NOT_SOUND : STORE_REFUSED_BY_SYSTEM;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        problem_add(store->problems, (Where){store->path, 0}, "%s: %s still has it locked after %g s", doing,
                    locked_by(store), store_patience_ms / 1000.0);
        return problem_hint(store->problems, "try again when that has ended");
    }
    problem_add(store->problems, (Where){store->path, 0}, "%s: %s", doing, sqlite3_errmsg(store->base));
    if (code == SQLITE_NOTADB)
        problem_hint(store->problems, "it is no store of a sweep, or its beginning is damaged: take a copy that is "
                                      "whole, or move it away and sweep anew");
    else if (is_unsound)
        problem_hint(store->problems, "take a copy that is whole, or move it away and sweep anew");
    else if (code == SQLITE_FULL)
        problem_hint(store->problems, "free some room; the same command goes on from here");
    return false;
}

bool store_execute(Store *store, const char *sql, const char *doing) {
    return sqlite3_exec(store->base, sql, NULL, NULL, NULL) == SQLITE_OK || store_fail(store, doing);
}

sqlite3_stmt *store_prepare(Store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->base, sql, -1, &statement, NULL) != SQLITE_OK) store_fail(store, "cannot be read");
    return statement;
}

static bool is_bound(Store *store, int code) { return code == SQLITE_OK || store_fail(store, "takes no value"); }

// Values for a statement's "?", counted from 1. False after a problem, and where there is no statement.
// the text outlives the step
static bool store_bind_text(Store *store, sqlite3_stmt *statement, int place, const char *text) {
    return statement && is_bound(store, sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC));
}

bool store_bind_whole(Store *store, sqlite3_stmt *statement, int place, int64_t value) {
    return statement && is_bound(store, sqlite3_bind_int64(statement, place, value));
}

// NaN: unknown
static bool store_bind_number(Store *store, sqlite3_stmt *statement, int place, double value) {
    return statement && is_bound(store, sqlite3_bind_double(statement, place, value));
}

int64_t store_pragma(Store *store, const char *sql) {
    sqlite3_stmt *statement = store_prepare(store, sql);
    if (!statement) return -1;
    int step = sqlite3_step(statement);
    int64_t value = step == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    if (step != SQLITE_ROW && step != SQLITE_DONE) store_fail(store, "cannot be read");
    sqlite3_finalize(statement);
    return value;
}

bool store_finish(Store *store, sqlite3_stmt *statement) {
    bool done = sqlite3_step(statement) == SQLITE_DONE || store_fail(store, "cannot be written");
    sqlite3_reset(statement);
    return done;
}

// ---- One writer.

static bool refuse_lock(Store *store, const char *path) {
    store->refusal = STORE_REFUSED_BY_SYSTEM;
    problem_add(store->problems, (Where){path, 0}, "%s", strerror(errno));
    if (errno == ENOENT) problem_hint(store->problems, "its folder does not exist; make it first");
    return false;
}

static void refuse_second_writer(Store *store) {
    char number[24] = "";
    ssize_t got = pread(store->lock, number, sizeof number - 1, 0);
    long process = got > 0 ? strtol(number, NULL, 10) : 0;
    store->refusal = STORE_REFUSED_BY_SYSTEM;
    problem_add(store->problems, (Where){store->path, 0}, "another process writes to this store%s",
                process > 0 ? arena_printf(store->arena, ": process %ld", process) : "");
    problem_hint(store->problems, "wait for it, or name another file with -o");
}

typedef enum Lock { LOCK_HELD, LOCK_REFUSED, LOCK_REMOVED } Lock;

static Lock try_lock(Store *store, const char *path) {
    struct stat held, named;
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            refuse_second_writer(store);
        else
            refuse_lock(store, path);
        return LOCK_REFUSED;
    }
    bool is_named = stat(path, &named) == 0;
    if ((!is_named && errno != ENOENT) || fstat(store->lock, &held) != 0) {
        refuse_lock(store, path);
        return LOCK_REFUSED;
    }
    return is_named && held.st_ino == named.st_ino ? LOCK_HELD : LOCK_REMOVED;
}

// Locks a separate file; the system releases the lock when the process ends, however it ends.
static bool lock_for_writing(Store *store) {
    const char *path = arena_printf(store->arena, "%s-lock", store->path);
    Lock lock = LOCK_REMOVED;
    while (lock == LOCK_REMOVED) { // a lock file removed by its previous owner meanwhile
        store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (store->lock < 0) return refuse_lock(store, path);
        lock = try_lock(store, path);
        if (lock == LOCK_HELD) break;
        close(store->lock);
        store->lock = -1;
    }
    if (lock == LOCK_HELD && ftruncate(store->lock, 0) == 0)
        dprintf(store->lock, "%ld\n", (long)getpid()); // for a blocked writer's message
    return lock == LOCK_HELD;
}

static void unlock(Store *store) {
    if (store->lock < 0) return;
    unlink(arena_printf(store->arena, "%s-lock", store->path));
    close(store->lock);
}

// ---- Opening.

static bool connect_base(Store *store, int flags) {
    if (!file_is_regular_or_none(store->path, store->problems)) {
        store->refusal = STORE_NOT_SOUND;
        return false;
    }
    bool ok =
        sqlite3_open_v2(store->path, &store->base, flags, NULL) == SQLITE_OK || store_fail(store, "cannot be opened");
    if (!ok && access(store->path, F_OK) != 0) store->refusal = STORE_NOT_SOUND; // there is none to read
    ok = ok && sqlite3_busy_handler(store->base, wait_for_others, store) == SQLITE_OK;
    // The file's own schema is not trusted to run anything.
    ok = ok && sqlite3_db_config(store->base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK;
    ok = ok && sqlite3_db_config(store->base, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) == SQLITE_OK;
    return ok && store_execute(store, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL", "cannot be opened");
}

static const char *put_sql(Arena *arena) {
    const char *names = "seed, checksum", *marks = "?, ?";
    for (int t = 0; t < ROW_TEXTS; t++) names = arena_printf(arena, "%s, %s", names, store_text_columns[t]);
    for (int c = 0; c < POINT_COLUMNS; c++) names = arena_printf(arena, "%s, %s", names, point_columns[c]);
    for (int i = 0; i < ROW_TEXTS + POINT_COLUMNS; i++) marks = arena_printf(arena, "%s, ?", marks);
    return arena_printf(arena, "INSERT INTO point(%s) VALUES(%s)", names, marks);
}

static bool get_ready(Store *store) {
    store->has = store_prepare(store, "SELECT status FROM point WHERE key = ?");
    if (store->has) store->put = store_prepare(store, put_sql(store->arena));
    return store->put != NULL;
}

// SQLite rolls a transaction back by itself if the disk fails (sqlite.org/lang_transaction.html): later rows would be
// stored outside it, and the seal without its rows.
static bool gave_up(const Store *store) { return sqlite3_get_autocommit(store->base) != 0; }

static bool store_begin(Store *store) {
    if (store->open_transaction) return !gave_up(store);
    store->open_transaction = store_execute(store, "BEGIN IMMEDIATE", "cannot be written");
    return store->open_transaction;
}

static bool insert(Store *store, const StoreRow *row) {
    if (!store_begin(store)) return false;
    uint64_t checksum = store_row_checksum(row);
    bool bound =
        store_bind_whole(store, store->put, 1, row->seed) && store_bind_whole(store, store->put, 2, (int64_t)checksum);
    for (int t = 0; bound && t < ROW_TEXTS; t++) bound = store_bind_text(store, store->put, 3 + t, row->texts[t]);
    for (int c = 0; bound && c < POINT_COLUMNS; c++)
        bound = store_bind_number(store, store->put, 3 + ROW_TEXTS + c, row->numbers[c]);
    if (!bound || !store_finish(store, store->put)) return false;
    store->seal.points++;
    store->seal.checksums ^= checksum;
    return true;
}

static bool fail_spool(Store *store) {
    store->refusal = STORE_REFUSED_BY_SYSTEM;
    return problem_add(store->problems, (Where){store->spool.path, 0}, "cannot be written: %s", strerror(errno));
}

// What a killed process had received but not committed.
static bool recover(Store *store) {
    int count = 0, before = problems_added(store->problems);
    if (!spool_open(store->arena, store->path, &store->spool)) return fail_spool(store);
    const StoreRow *rows = spool_rows(store->arena, &store->spool, &count, store->problems);
    if (problems_added(store->problems) > before) {
        store->refusal = STORE_REFUSED_BY_SYSTEM;
        store->open_transaction = true; // so that it stays
        return false;
    }
    for (int i = 0; i < count; i++) {
        StoredAs stored = store_has(store, rows[i].texts[ROW_KEY]);
        if (stored == STORED_UNREADABLE || (stored == STORED_NOT && !insert(store, &rows[i]))) return false;
    }
    return store_commit(store) && (spool_empty(&store->spool) || fail_spool(store));
}

// The tables are there, ours, and whole.
static bool take_content(Store *store, StoreMode mode) {
    int64_t objects = store_pragma(store, "SELECT count(*) FROM sqlite_schema");
    if (objects < 0) return false;
    bool is_new = objects == 0 && mode != STORE_READ;
    return (is_new ? store_create_tables(store) : store_is_ours(store) && store_check(store)) && get_ready(store);
}

Store *store_open(Arena *arena, const char *path, StoreMode mode, Problems *problems, StoreRefusal *refusal) {
    Store *store = ARENA_NEW(arena, Store);
    *store = (Store){.arena = arena, .problems = problems, .path = path, .lock = -1, .spool = {.file = -1}};
    // Reading, too, may have to roll back what a killed sweep left half written.
    int flags = SQLITE_OPEN_READWRITE | (mode == STORE_READ ? 0 : SQLITE_OPEN_CREATE);
    bool ok = mode == STORE_READ || lock_for_writing(store);
    ok = ok && connect_base(store, flags) && take_content(store, mode) && (mode == STORE_READ || recover(store));
    if (ok) return store;
    *refusal = store->refusal;
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
    uint64_t checksum = store_study_checksum(study);
    if (!store_begin(store)) return false;
    sqlite3_stmt *put = store_prepare(store, "INSERT OR IGNORE INTO study VALUES(?, ?, ?, ?, ?, ?, ?)");
    bool done = store_bind_whole(store, put, 7, (int64_t)checksum);
    for (int i = 0; done && i < 6; i++) done = store_bind_text(store, put, i + 1, texts[i]);
    done = done && store_finish(store, put);
    sqlite3_finalize(put);
    if (!done) return false;
    if (sqlite3_changes64(store->base) > 0) {
        store->seal.studies++;
        store->seal.checksums ^= checksum;
    }
    return store_commit(store);
}

bool store_put(Store *store, const StoreRow *row) {
    double started = watch_clock_seconds();
    bool done = (spool_add(&store->spool, row) || fail_spool(store)) && insert(store, row);
    store->spent_s += watch_clock_seconds() - started;
    return done;
}

bool store_commit(Store *store) {
    if (!store->open_transaction) return true;
    if (gave_up(store)) return false; // already reported
    double started = watch_clock_seconds();
    bool done = store_write_seal(store) && store_execute(store, "COMMIT", "cannot be written") &&
                (store->spool.file < 0 || spool_empty(&store->spool) || fail_spool(store));
    store->open_transaction = !done;
    store->commit_ended_s = watch_clock_seconds();
    store->last_commit_s = store->commit_ended_s - started;
    store->spent_s += store->last_commit_s;
    return done;
}

bool store_commit_when_due(Store *store) {
    bool due = watch_clock_seconds() - store->commit_ended_s > store->last_commit_s / SHARE_OF_TIME;
    return due ? store_commit(store) : true;
}

bool store_forget_failed(Store *store, const char *study) {
    if (!store_begin(store)) return false;
    sqlite3_stmt *forget = store_prepare(store, "DELETE FROM point WHERE study = ? AND status = 'failed'");
    bool done = store_bind_text(store, forget, 1, study) && store_finish(store, forget);
    sqlite3_finalize(forget);
    return done && store_seal_anew(store) && store_commit(store);
}

double store_seconds(const Store *store) { return store->spent_s; }

// ---- Reading.

static StoredAs status_of(const char *status) {
    if (strcmp(status, "ok") == 0) return STORED_OK;
    return strcmp(status, "failed") == 0 ? STORED_FAILED : STORED_IMPOSSIBLE;
}

StoredAs store_has(Store *store, const char *key) {
    if (!store_bind_text(store, store->has, 1, key)) return STORED_UNREADABLE;
    int step = sqlite3_step(store->has);
    const char *status = step == SQLITE_ROW ? (const char *)sqlite3_column_text(store->has, 0) : NULL;
    StoredAs as = status ? status_of(status) : step == SQLITE_DONE ? STORED_NOT : STORED_UNREADABLE;
    if (as == STORED_UNREADABLE) store_fail(store, "cannot be read");
    sqlite3_reset(store->has);
    return as;
}

void store_count(StoreCounts *counts, StoredAs as) {
    counts->ok += as == STORED_OK;
    counts->impossible += as == STORED_IMPOSSIBLE;
    counts->failed += as == STORED_FAILED;
}

bool store_counts(Store *store, StoreCounts *counts) {
    int64_t all = store_pragma(store, "SELECT count(*) FROM point");
    counts->ok = store_pragma(store, "SELECT count(*) FROM point WHERE status = 'ok'");
    counts->failed = store_pragma(store, "SELECT count(*) FROM point WHERE status = 'failed'");
    counts->impossible = all - counts->ok - counts->failed;
    return all >= 0 && counts->ok >= 0 && counts->failed >= 0;
}

int store_exit_code(const StoreCounts *counts) {
    if (counts->failed > 0) return 1;
    return counts->ok == 0 && counts->impossible > 0 ? 3 : 0;
}

// NULL only for SQL NULL.
const char *store_text_at(Arena *arena, sqlite3_stmt *statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return NULL;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (!text) out_of_memory((size_t)sqlite3_column_bytes(statement, column));
    return arena_copy_text(arena, text);
}

// "… ORDER BY json_extract(parameters, '$."gpus"'), …, key": numbers before texts.
static const char *order_sql(Store *store, const char *parameters) {
    const char *sql = "";
    const Json *names = json_read_text(store->arena, store->path, parameters, strlen(parameters), store->problems);
    for (int i = 0; names && names->kind == JSON_LIST && i < names->count; i++) {
        if (names->items[i].kind != JSON_TEXT) continue;
        char *path = sqlite3_mprintf("$.\"%w\"", names->items[i].text), *quoted = sqlite3_mprintf("%Q", path);
        if (!path || !quoted) out_of_memory(strlen(names->items[i].text));
        sql = arena_printf(store->arena, "%sjson_extract(parameters, %s), ", sql, quoted);
        sqlite3_free(path);
        sqlite3_free(quoted);
    }
    return arena_printf(store->arena, "%skey", sql);
}

StoreRow store_row_at(Arena *arena, sqlite3_stmt *statement) {
    StoreRow row = {0};
    for (int t = 0; t < ROW_TEXTS; t++) row.texts[t] = store_text_at(arena, statement, t);
    row.seed = sqlite3_column_int64(statement, ROW_TEXTS);
    for (int c = 0; c < POINT_COLUMNS; c++) {
        int column = ROW_TEXTS + 1 + c;
        bool known = sqlite3_column_type(statement, column) != SQLITE_NULL;
        row.numbers[c] = known ? sqlite3_column_double(statement, column) : NAN;
    }
    return row;
}

static void read_points(Store *store, Record *record, const char *study, const char *parameters) {
    LIST_OF(RecordPoint) points = {0};
    sqlite3_stmt *select =
        store_prepare(store, arena_printf(store->arena, "SELECT * FROM point WHERE study = ? ORDER BY %s",
                                          order_sql(store, parameters)));
    record->digest = DIGEST_START;
    int step = SQLITE_DONE;
    bool bound = store_bind_text(store, select, 1, study);
    while (bound && (step = sqlite3_step(select)) == SQLITE_ROW) {
        StoreRow row = store_row_at(store->arena, select);
        RecordPoint point = store_row_point(store->arena, &row, store->problems);
        LIST_PUSH(store->arena, &points, point);
        record->digest = digest_u64(record->digest, point.digest);
        record->seed = (uint64_t)row.seed;
    }
    if (bound && step != SQLITE_DONE) store_fail(store, "cannot be read");
    sqlite3_finalize(select);
    record->points = points.items;
    record->point_count = points.count;
}

const Record *const *store_records(Store *store, int *count) {
    LIST_OF(const Record *) records = {0};
    int before = problems_added(store->problems), step = SQLITE_DONE;
    sqlite3_stmt *select =
        store_prepare(store, "SELECT id, title, scenario, sample_name, parameters FROM study ORDER BY id");
    while (select && (step = sqlite3_step(select)) == SQLITE_ROW) {
        Record *record = ARENA_NEW(store->arena, Record);
        record->title = store_text_at(store->arena, select, 1);
        record->scenario = store_text_at(store->arena, select, 2);
        record->sample_name = store_text_at(store->arena, select, 3);
        const char *parameters = store_text_at(store->arena, select, 4);
        read_points(store, record, store_text_at(store->arena, select, 0), parameters);
        LIST_PUSH(store->arena, &records, record);
    }
    if (select && step != SQLITE_DONE) store_fail(store, "cannot be read");
    sqlite3_finalize(select);
    *count = records.count;
    return problems_added(store->problems) == before ? records.items : NULL;
}

// ---- Merges several stores into one.

static const char *row_values(Arena *arena, const char *table) {
    const char *values = arena_printf(arena, "(%s.seed", table);
    for (int t = 0; t < ROW_TEXTS; t++) values = arena_printf(arena, "%s, %s.%s", values, table, store_text_columns[t]);
    for (int c = 0; c < POINT_COLUMNS; c++) values = arena_printf(arena, "%s, %s.%s", values, table, point_columns[c]);
    return arena_printf(arena, "%s)", values);
}

#define BOTH "main.point AS ours JOIN source.point AS theirs USING(key) WHERE "

static void report_conflicts(Store *store, const char *from, const char *differ) {
    sqlite3_stmt *select = store_prepare(store, arena_printf(store->arena,
                                                             "SELECT ours.parameters, ours.status, theirs.status, "
                                                             "ours.digest, theirs.digest FROM " BOTH "%s ORDER BY key",
                                                             differ));
    int step = SQLITE_DONE;
    while (select && (step = sqlite3_step(select)) == SQLITE_ROW) {
        problem_add(store->problems, (Where){from, 0}, "the point %s is %s with digest %s here, %s with %s before",
                    sqlite3_column_text(select, 0), sqlite3_column_text(select, 2), sqlite3_column_text(select, 4),
                    sqlite3_column_text(select, 1), sqlite3_column_text(select, 3));
        problem_hint(store->problems, "equal engines give equal results: one of the files was changed or is damaged");
    }
    if (select && step != SQLITE_DONE) store_fail(store, "cannot be read");
    sqlite3_finalize(select);
}

static bool take_points(Store *store, const char *from, StoreMerge *merge) {
    Arena *arena = store->arena;
    // A failed process is overridden by one with a result.
    const char *differ = arena_printf(arena, "ours.status <> 'failed' AND theirs.status <> 'failed' AND %s IS NOT %s",
                                      row_values(arena, "ours"), row_values(arena, "theirs"));
    int64_t conflicts = store_pragma(store, arena_printf(arena, "SELECT count(*) FROM " BOTH "%s", differ));
    if (conflicts != 0) {
        if (conflicts > 0) report_conflicts(store, from, differ); // fewer than none: it could not be read
        return false;
    }
    int64_t common = store_pragma(store, "SELECT count(*) FROM " BOTH "true");
    if (common < 0) return false;
    bool ok = store_begin(store) && store_execute(store,
                                                  "DELETE FROM main.point WHERE status = 'failed' AND "
                                                  "key IN (SELECT key FROM source.point WHERE status <> 'failed')",
                                                  "cannot be written");
    int64_t replaced = sqlite3_changes64(store->base);
    ok = ok && store_execute(store, "INSERT OR IGNORE INTO main.study SELECT * FROM source.study", "cannot be written");
    ok = ok && store_execute(store, "INSERT OR IGNORE INTO main.point SELECT * FROM source.point", "cannot be written");
    merge->added += sqlite3_changes64(store->base) - replaced;
    merge->replaced += replaced;
    merge->equal += common - replaced;
    return ok && store_seal_anew(store) && store_commit(store);
}

bool store_merge(Store *store, const char *from, StoreMerge *merge) {
    // Is it one? What its writer left uncommitted is of it, too.
    StoreMode mode = spool_exists(store->arena, from) ? STORE_WRITE : STORE_READ;
    store->refusal = STORE_NOT_SOUND; // conflicts, for one
    Store *source = store_open(store->arena, from, mode, store->problems, &merge->refusal);
    if (!source) return false;
    store_close(source);
    sqlite3_stmt *attach = store_prepare(store, "ATTACH DATABASE ? AS source");
    bool ok = store_bind_text(store, attach, 1, from) && store_finish(store, attach);
    sqlite3_finalize(attach);
    ok = ok && take_points(store, from, merge) && store_execute(store, "DETACH DATABASE source", "cannot be read");
    if (!ok) merge->refusal = store->refusal;
    return ok;
}
