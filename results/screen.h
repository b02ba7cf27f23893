// The parts of the screen that results_print puts together.
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

void screen_heading(const Screen *screen, const char *text);                         // after an empty line
void screen_text(const Screen *screen, const char *text);                            // folded
void screen_line(const Screen *screen, const char *label, const char *text);         // folded behind its label
const char *screen_join(const Screen *screen, const char *before, const char *next); // " · " between; either may be ""
const char *screen_count(const Screen *screen, double count);                        // grouped for people only

void screen_note(FILE *out, Arena *arena, const Style *style, const char *text); // "! …", folded

void screen_settings(const Screen *screen, const RecordPoint *point); // parameters that do not vary

void screen_one_point(const Screen *screen, const RecordPoint *point);
void screen_points(const Screen *screen);
void screen_money(const Screen *screen, const RecordPoint *point); // what an hour costs, part by part
void screen_old_prices(const Screen *screen);                      // of all points
void screen_breakdowns(const Screen *screen);                      // a row a point, a column a cause
void screen_memories(const Screen *screen);                        // a row a point, a column a class
void screen_table(const Screen *screen, const RecordTable *table);

// The columns that tell points apart, first in each table of points; "GPUs" when that is what varies.
void screen_key_columns(const Screen *screen, Table *table);
void screen_key_cells(const Screen *screen, Table *table, int index);

#endif
