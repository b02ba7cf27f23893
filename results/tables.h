// A record's own tables and charts.
#ifndef LOCKSTEP_RESULTS_TABLES_H
#define LOCKSTEP_RESULTS_TABLES_H

#include "results/results.h"
#include "sim/json.h"

void tables_write_json(JsonWriter *json, const Record *record); // members of the object being written
void table_write_csv(FILE *out, const RecordTable *table);

#endif
