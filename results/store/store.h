// The store of a sweep: one SQLite file that holds every point once, and is consistent at any moment. SQLite is used
// in this folder only.
//
// Points have no order of insertion, so that the same points give the same dump in whatever order they were stored.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "results/view.h"
#include "sim/base/problem.h"
#include "sim/data/record.h"

typedef struct StoreStudy { // what points of one sweep have in common
    const char *id, *engine, *title, *scenario, *sample_name;
    const char *parameters; // JSON list: the names that vary, the slowest first
} StoreStudy;

typedef enum RowText {
    ROW_KEY,        // hash of engine, study, seed and parameters
    ROW_STUDY,      // StoreStudy.id
    ROW_PARAMETERS, // JSON object
    ROW_STATUS,     // "ok", "impossible" (did not fit, cannot be laid out), "failed" (its process ended)
    ROW_REASON,
    ROW_CHANGE,  // the smallest that would make it possible
    ROW_EXPOSED, // JSON objects
    ROW_MEMORY,
    ROW_CURRENCY,
    ROW_DIGEST,
    ROW_TEXTS
} RowText;

typedef struct StoreRow { // one point
    int64_t seed;
    double numbers[POINT_COLUMNS]; // NAN: unknown
    const char *texts[ROW_TEXTS];  // or NULL
} StoreRow;

// From a point; the key, study, seed and parameters are the caller's. keep: the numbers wanted; none named: all.
StoreRow store_row(Arena *arena, const RecordPoint *point, const char *const *keep, int keep_count);

// A row as bytes, for the way between processes. False when the bytes are none.
char *store_row_pack(Arena *arena, const StoreRow *row, size_t *bytes);
bool store_row_unpack(Arena *arena, const char *packed, size_t bytes, StoreRow *row);

typedef struct Store Store;
typedef enum StoreMode {
    STORE_READ,
    STORE_WRITE // makes the file when there is none
} StoreMode;
typedef enum StoreRefusal {
    STORE_REFUSED_BY_SYSTEM, // locked, no right to it, disk full, out of memory
    STORE_NOT_SOUND          // no store, of another format, damaged: bad input
} StoreRefusal;

// NULL after a problem, with the kind of it in *refusal. Every row is checked against its checksum, and all together
// against the store's seal: a file changed by other programs is refused. Only one process
// at a time may write.
Store *store_open(Arena *arena, const char *path, StoreMode mode, Problems *problems, StoreRefusal *refusal);
extern int store_patience_ms; // how long to wait for a file locked by others
// Uncommitted rows are not lost: they are in a file next to the store, which the next writer reads.
void store_close(Store *store);

// What follows gives false after a problem: the disk is full, the file is no longer there.
bool store_put_study(Store *store, const StoreStudy *study);
bool store_put(Store *store, const StoreRow *row); // of a key that is not yet in it
bool store_commit(Store *store);
// Commits so often that it takes at most a tenth of the time.
bool store_commit_when_due(Store *store);
bool store_forget_failed(Store *store, const char *study);
double store_seconds(const Store *store); // spent in here so far

typedef enum StoredAs { STORED_NOT, STORED_OK, STORED_IMPOSSIBLE, STORED_FAILED, STORED_UNREADABLE } StoredAs;
StoredAs store_has(Store *store, const char *key); // unreadable: after a problem

// Counts of points by result, and the exit code, for a sweep and for showing its store:
//   0  every point has an answer, and some point ran (or there is none)
//   1  some point failed: its process ended without an answer
//   3  every point has an answer, and none ran: nothing is possible
typedef struct StoreCounts {
    int64_t ok, impossible, failed;
} StoreCounts;
void store_count(StoreCounts *counts, StoredAs as);
bool store_counts(Store *store, StoreCounts *counts); // of all that it holds; false after a problem
int store_exit_code(const StoreCounts *counts);

// One record per study, in the order of ids; points by their parameters' values, the first slowest. NULL after
// problems.
const Record *const *store_records(Store *store, int *count);

typedef struct StoreMerge {
    long long added, equal, replaced; // replaced: failed in one file, not in another
    StoreRefusal refusal;             // after a problem
} StoreMerge;
// Takes over what `from` has. False after problems: points with one key and different contents are conflicts.
bool store_merge(Store *store, const char *from, StoreMerge *merge);

// ---- Rows of the store: declarations private to the store, in addition to results/store/store.h.
bool store_row_is_sound(Arena *arena, const StoreRow *row); // its texts exist and parse
RecordPoint store_row_point(Arena *arena, const StoreRow *row, Problems *problems);

// Beside the store, rows that are not yet committed: written at once, so that a killed process loses none, and cheaply,
// so that commits to disk can wait. For the store only.

typedef struct Spool {
    const char *path;
    int file; // -1: none
} Spool;

bool spool_exists(Arena *arena, const char *store);
bool spool_open(Arena *arena, const char *store, Spool *spool); // false: errno has the reason
bool spool_add(Spool *spool, const StoreRow *row);
// The rows left by an earlier process, without those half written, or corrupted by a loss of power. Adds a problem if
// the file cannot be read.
const StoreRow *spool_rows(Arena *arena, const Spool *spool, int *count, Problems *problems);
bool spool_empty(Spool *spool);  // after a commit
void spool_remove(Spool *spool); // and the file with it

// ---- Shared by the parts of the store: SQLite's handle and query helpers. For results/store*.c only.

#define STORE_APPLICATION_ID 0x4c4b5350 // "LKSP"
#define STORE_FORMAT 2

// Over all studies and points: one row more or less changes it. The order of rows does not.
typedef struct Seal {
    int64_t studies, points;
    uint64_t checksums; // those of all rows, as exclusive or
} Seal;

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
    double waiting_since_s; // for others' locks
    bool said_waiting;
    Seal seal; // including uncommitted rows
    StoreRefusal refusal;
};

extern const char *const store_text_columns[ROW_TEXTS];

// Adds a problem with SQLite's message; returns false.
bool store_fail(Store *store, const char *doing);
bool store_execute(Store *store, const char *sql, const char *doing);
sqlite3_stmt *store_prepare(Store *store, const char *sql); // NULL after a problem
bool store_finish(Store *store, sqlite3_stmt *statement);   // one step of a statement that gives no rows
bool store_bind_whole(Store *store, sqlite3_stmt *statement, int place, int64_t value);
int64_t store_pragma(Store *store, const char *sql); // the first number; -1: none
StoreRow store_row_at(Arena *arena, sqlite3_stmt *statement);
const char *store_text_at(Arena *arena, sqlite3_stmt *statement, int column);

// ---- What is in the file (results/store/store_check.c).

bool store_create_tables(Store *store);
bool store_is_ours(Store *store); // format and tables; false after a problem
bool store_check(Store *store);   // every page and every row; false after a problem, of damage for one

uint64_t store_row_checksum(const StoreRow *row);
uint64_t store_study_checksum(const StoreStudy *study);
bool store_seal_anew(Store *store); // from the rows
bool store_write_seal(Store *store);
