// Rows of the store: declarations private to the store, in addition to results/store/store.h.
#pragma once

#include <sqlite3.h>

#include "results/store/store.h"

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
#define STORE_FORMAT 3

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
