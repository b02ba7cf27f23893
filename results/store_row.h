// What the store needs of its rows beside results/store.h.
#ifndef LOCKSTEP_RESULTS_STORE_ROW_H
#define LOCKSTEP_RESULTS_STORE_ROW_H

#include "results/store.h"

const char *parameter_text(Arena *arena, double number);    // shortest that reads back equal; whole numbers without 'e'
bool store_row_is_sound(Arena *arena, const StoreRow *row); // its texts are there and read as what they are
RecordPoint store_row_point(Arena *arena, const StoreRow *row, Problems *problems);

#endif
