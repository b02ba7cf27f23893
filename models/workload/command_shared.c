// Ends and JSON members that the calculators share.
#include <errno.h>
#include <string.h>

#include "models/workload/command_internal.h"

int command_fails(const Problems *problems, int exit_code) {
    problems_print(problems, stderr);
    return exit_code;
}

int command_ends(int exit_code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return exit_code;
    fprintf(stderr, "error: standard output could not be written: %s\n", strerror(errno));
    return 1;
}

void write_integer(JsonWriter *json, const char *key, int64_t value) {
    json_key(json, key);
    json_write_integer(json, value);
}

void write_number(JsonWriter *json, const char *key, double value) {
    json_key(json, key);
    json_write_number(json, value);
}

void write_text(JsonWriter *json, const char *key, const char *text) {
    json_key(json, key);
    json_write_text(json, text);
}

void write_bool(JsonWriter *json, const char *key, bool value) {
    json_key(json, key);
    json_write_bool(json, value);
}
