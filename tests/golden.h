// Texts in tests/golden, with which what the program answers now is compared; LOCKSTEP_GOLDEN=write keeps it instead.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define GOLDEN "tests/golden/"

typedef struct GoldenText { // grows while it is written
    FILE *out;
    char *bytes;
    size_t length;
} GoldenText;

GoldenText *golden_open(void);
// Whether more is worth to be written: with tests/run --until-failure no more once a line has moved.
bool golden_goes_on(const char *name, const GoldenText *text);
void golden_compare(const char *name, GoldenText *text); // and closes it
char *golden_read(const char *path);                     // all of it, "" where there is none; to be freed
