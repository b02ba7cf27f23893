#include "sim/data/envelope.h"

#include <string.h>

#include "sim/base/version.h"
#include "sim/system/watch.h"

static struct {
    char **arguments; // after the program's name
    int count;
} line;

static void (*tells)(JsonWriter *json);

void envelope_tells(void (*write)(JsonWriter *json)) { tells = write; }

void envelope_command_line(int argc, char **argv) {
    line.arguments = argv + 1;
    line.count = argc > 1 ? argc - 1 : 0;
}

void envelope_write_format(JsonWriter *json, const char *format, const char *kind) {
    json_text_member(json, "format", format);
    bool is_answer = strcmp(format, ANSWER_FORMAT) == 0;
    json_integer_member(json, "format_version", is_answer ? ANSWER_FORMAT_VERSION : 1);
    json_text_member(json, "kind", kind ? kind : line.count > 0 ? line.arguments[0] : "run");
    json_key(json, "program");
    json_begin_object(json);
    json_text_member(json, "name", "lockstep");
    json_text_member(json, "version", program_version());
    json_end_object(json);
    json_key(json, "command");
    json_begin_list(json);
    if (line.count > 0) json_write_text(json, "lockstep");
    for (int i = 0; i < line.count; i++) json_write_text(json, line.arguments[i]);
    json_end_list(json);
    if (watch_stopped() == WATCH_SIGNAL) json_bool_member(json, "partial", true);
    if (is_answer && tells) tells(json);
}

void envelope_write(JsonWriter *json, const char *kind) { envelope_write_format(json, ANSWER_FORMAT, kind); }
