// Command lines read from files. A JSON answer and the --last file contain a command line; the file is untrusted, so
// only words that define the simulation are taken: options whose row is of the question (sim/base/options.h), and
// words without an option (a scenario, its own options). Output options are skipped, and options reserved to the user
// (sandbox, limits, folders to read, stores) are refused, unless given on the present command line. All commands that
// read such words do so through this file.
#pragma once

#include "sim/base/options.h"

// The option rows of each command whose words may come from a file; NULL: not such a command. `first`: the first word
// after the command ("queue" of explain), or NULL. Set in main.c.
typedef const OptionSpec *QuestionRows(Arena *arena, const char *command, const char *first, int *count);
extern QuestionRows *question_rows;

typedef struct Words {
    const char **items;
    int count, room;
} Words;

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
Words question_words(Arena *arena, const QuestionFile *file, Problems *problems);

// From here on files are read only if they are regular and in the folder of that answer, in the current one, below
// those, or below one named with --allow-read in the typed words; and files that the typed words name. Adds a problem
// for a folder of --allow-read that is none.
void question_reads_near(Arena *arena, const QuestionFile *file, Problems *problems);
// The typed words for the command: without --allow-read if it has no such option.
Words question_typed(Arena *arena, const QuestionFile *file);
