// Every path that --set takes, at the ends of what it may be and beyond: made from the table of fields, so that a new
// field is tried by itself.
#pragma once

#include "scenarios/fields/fields.h"

#define BOUNDARY_VALUES 64
#define BOUNDARY_TEXT 8192

typedef struct BoundaryValues {
    char texts[BOUNDARY_VALUES][64];
    int count;
} BoundaryValues;

// What to try for a field.
void boundary_values(const Field *field, BoundaryValues *values);
