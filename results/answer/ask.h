// A question in JSON in place of a command line: `lockstep ask FILE` (- is standard input), for programs and agents.
//
//     {"ask": "run", "model": "gpt3-175b", "node": "dgx-a100", "gpus": [512, 1024], "tp": 8, "pp": 16,
//      "micro_batch": 1, "global_batch": 1536}
//
// "ask" names the command ("explain queue" with its first word), "words" (a list) positional arguments, "set" (an
// object) values of a scenario. Every other key is an option of that command, with _ or - between its words; a list
// is what --vary takes, or values of a repeatable option. The file is untrusted: as in every question read from a
// file (results/answer/question.h), options reserved to the user are refused, and files are read from its folder.
#pragma once

#include "sim/base/options.h"
#include "sim/data/json.h"

// Replaces the command line by the question's, with --json unless another format is typed; argv[1] is "ask".
// Unchanged if help is requested; false after a problem. Other command lines are left alone.
bool ask_in_json(Arena *arena, int *argc, char ***argv, Problems *problems);

// JSON Schema (draft 2020-12) of questions, from the tables of options.
void ask_write_schema(Arena *arena, JsonWriter *json);
// "ask" of `lockstep schema`.
#define ASK_SCHEMA "ask"

int command_ask(int argc, char **argv); // help, and a missing file
