// Command lines read from files. A JSON answer and the --last file contain a command line; the file is untrusted, so
// only words that define the simulation are taken: options whose row is of the question (sim/base/options.h), and
// words without an option (a scenario, its own options). Output options are skipped, and options reserved to the user
// (sandbox, limits, folders to read, stores) are refused, unless given on the present command line. All commands that
// read such words do so through this file.
#pragma once

#include "sim/base/list.h"
#include "sim/base/options.h"
#include "sim/data/json.h"

// The option rows of each command whose words may come from a file; NULL: not such a command. `first`: the first word
// after the command ("queue" of explain), or NULL. Set in main.c.
typedef const OptionSpec *QuestionRows(Arena *arena, const char *command, const char *first, int *count);
extern QuestionRows *question_rows;

typedef struct QuestionFile {
    const char *path;    // the answer; NULL: the --last file
    const char *command; // the command of its words
    const char *const *words;
    int count;
    const char *const *typed; // options on the command line now take the place of those in the file
    int typed_count;
} QuestionFile;

// The words of the question, each value behind its option or, where it begins with a dash, within that word. Every
// option that is refused becomes a problem; they are none of the words.
Names question_words(Arena *arena, const QuestionFile *file, Problems *problems);

// From here on files are read only if they are regular and in the folder of that answer, in the current one, below
// those, or below one named with --allow-read in the typed words; and files that the typed words name. Adds a problem
// for a folder of --allow-read that is none.
void question_reads_near(Arena *arena, const QuestionFile *file, Problems *problems);
// The typed words for the command: without --allow-read if it has no such option.
Names question_typed(Arena *arena, const QuestionFile *file);

// ---- A question in JSON in place of a command line: `lockstep ask FILE` (- is standard input), for programs and
// agents.  {"ask": "run", "model": "gpt3-175b", "node": "dgx-a100", "gpus": [512, 1024], "tp": 8, "pp": 16,
// "micro_batch": 1, "global_batch": 1536}  "ask" names the command ("explain queue" with its first word), "words" (a
// list) positional arguments, "set" (an object) values of a scenario. Every other key is an option of that command,
// with _ or - between its words; a list is what --vary takes, or values of a repeatable option. The file is untrusted:
// as in every question read from a file (results/answer/question.h), options reserved to the user are refused, and
// files are read from its folder.

// Replaces the command line by the question's, with --json unless another format is typed; argv[1] is "ask".
// Unchanged if help is requested; false after a problem. Other command lines are left alone.
bool ask_in_json(Arena *arena, int *argc, char ***argv, Problems *problems);

int command_ask(int argc, char **argv); // help, and a missing file

// ---- lockstep schema, by which scenarios and other programs read answers.
int command_schema(int argc, char **argv);
