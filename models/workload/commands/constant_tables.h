// All tables of constants that the program has.
#ifndef LOCKSTEP_WORKLOAD_CONSTANT_TABLES_H
#define LOCKSTEP_WORKLOAD_CONSTANT_TABLES_H

#include "sim/constant.h"

typedef struct ConstantTable {
    const char *name, *title;
    int count;
    Constant (*row)(int index);
} ConstantTable;

enum { CONSTANT_TABLE_COUNT = 5 };
extern const ConstantTable constant_tables[CONSTANT_TABLE_COUNT];

#endif
