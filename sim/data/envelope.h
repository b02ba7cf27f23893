// The first members of every JSON answer, which identify its kind, the program and the command line: {"format":
// "lockstep-answer", "format_version": 2, "kind": "memory", "program": {…}, "command": […], …}. "partial": true
// follows if a signal ended the work and the answer covers what was done until then.
// `lockstep schema` prints the JSON Schema of each kind.
#pragma once

#include "sim/data/json.h"

#define ANSWER_FORMAT "lockstep-answer"
enum { ANSWER_FORMAT_VERSION = 2 };

// Sets the process's command line, argv[0] the program; called by main.c. Not copied.
void envelope_command_line(int argc, char **argv);

// Further members of every answer, about the input file; NULL: none.
void envelope_tells(void (*write)(JsonWriter *json));

// The first members of an object that has just begun. `kind` NULL: the command's own name.
void envelope_write(JsonWriter *json, const char *kind);
// The same for an object whose format has a name of its own ("lockstep-hardware").
void envelope_write_format(JsonWriter *json, const char *format, const char *kind);
