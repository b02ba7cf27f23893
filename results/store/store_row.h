// Rows of the store: declarations private to the store, in addition to results/store/store.h.
#pragma once

#include "results/store/store.h"

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
