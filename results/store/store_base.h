// Shared by the parts of the store: SQLite's handle and query helpers. For results/store*.c only.
#pragma once

#include <sqlite3.h>

#include "results/store/store_row.h"

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
// Values for a statement's "?", counted from 1. False after a problem, and where there is no statement.
bool store_bind_text(Store *store, sqlite3_stmt *statement, int place, const char *text); // the text outlives the step
bool store_bind_whole(Store *store, sqlite3_stmt *statement, int place, int64_t value);
int64_t store_pragma(Store *store, const char *sql); // the first number; -1: none
bool store_begin(Store *store);
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
