// The list of all tables of constants.
#pragma once

#include "sim/base/quantity.h"

typedef struct ConstantTable {
    const char *name, *title;
    int count;
    Constant (*row)(int index);
} ConstantTable;

enum { CONSTANT_TABLE_COUNT = 5 };
extern const ConstantTable constant_tables[CONSTANT_TABLE_COUNT];

int command_constants(int argc, char **argv); // argv[0] is "constants"
