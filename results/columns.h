// The numbers of a point that are columns, in files and in the store of a sweep.
#pragma once

#include <stdbool.h>

#include "sim/data/record.h"

enum { POINT_COLUMNS = 33 };
extern const char *const point_columns[POINT_COLUMNS]; // SI units in the names

double point_number(const RecordPoint *point, int column); // NAN when unknown
bool point_takes_number(int column, double number);        // whole numbers have their limits
void point_set_number(RecordPoint *point, int column, double number);
