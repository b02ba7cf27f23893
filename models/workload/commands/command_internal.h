// What the calculators share: reading options the same way, and how they end.
#ifndef LOCKSTEP_WORKLOAD_COMMAND_INTERNAL_H
#define LOCKSTEP_WORKLOAD_COMMAND_INTERNAL_H

#include "models/workload/job/job_options.h"
#include "sim/json.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NO = 3, EXIT_BAD_INPUT = 4 };

// After printing the problems to stderr.
int command_fails(const Problems *problems, int exit_code);
// Flushes standard output: 1 with a sentence when it could not be written.

// A member of the object being written.
void write_integer(JsonWriter *json, const char *key, int64_t value);
void write_number(JsonWriter *json, const char *key, double value);
void write_text(JsonWriter *json, const char *key, const char *text);
void write_bool(JsonWriter *json, const char *key, bool value);

#endif
