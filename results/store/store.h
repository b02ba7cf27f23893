// The store of a sweep: one SQLite file that holds every point once, and is consistent at any moment. SQLite is used
// in this folder only.
//
// Points have no order of insertion, so that the same points give the same dump in whatever order they were stored.
#pragma once

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
