// A record's own tables and charts.
#ifndef LOCKSTEP_RESULTS_TABLES_H
#define LOCKSTEP_RESULTS_TABLES_H

#include "results/results.h"
#include "sim/json.h"

void tables_write_json(JsonWriter *json, const Record *record); // members of the object being written
void table_write_csv(FILE *out, const RecordTable *table);

// To a file by the ending of its name, .png or .svg, through gnuplot. False after a problem.
bool chart_to_file(Arena *arena, const RecordChart *chart, const char *path, Problems *problems);
// A line of blocks for each curve.
void chart_to_terminal(Arena *arena, const RecordChart *chart, FILE *out, const Style *style);

#endif
