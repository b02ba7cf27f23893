// Ends and JSON members that the calculators share.
#include "models/workload/commands/command_internal.h"

int command_fails(const Problems *problems, int exit_code) {
    problems_print(problems, stderr);
    return problems_status(problems, exit_code);
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
