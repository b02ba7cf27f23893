// What commands share that print tables themselves: trace, and old prices of plans.
#ifndef LOCKSTEP_RESULTS_SCREEN_H
#define LOCKSTEP_RESULTS_SCREEN_H

#include "results/results.h"

typedef struct Screen {
    FILE *out;
    Arena *arena;
    const Record *record;
    const Style *style;
    bool verbose;
    const char **varied; // names of the parameters that differ between points
    int varied_count;
} Screen;

void screen_heading(const Screen *screen, const char *text);  // after an empty line
void screen_text(const Screen *screen, const char *text);     // folded
const char *screen_count(const Screen *screen, double count); // grouped for people only

void screen_note(FILE *out, Arena *arena, const Style *style, const char *text); // "! …", folded

void screen_table(const Screen *screen, const RecordTable *table);

#endif
