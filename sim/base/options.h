// Command-line options from one table: parsing, --help, and error messages that suggest the nearest option. Names are
// whole words with two dashes ("--name value" or "--name=value"); a row may add a longer alias and a letter.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/list.h"
#include "sim/base/problem.h"
#include "sim/base/quantity.h"

typedef enum OptionKind {
    OPTION_FLAG,   // takes no value
    OPTION_SWITCH, // --name or --name=true, --name=false: a text, to be asked for as option_written
    OPTION_TEXT,
    OPTION_TEXTS,    // may be given again and again; every value is kept
    OPTION_COUNT,    // a whole number, 0 or more: "8", "2T"
    OPTION_SEED,     // of random draws: "7" (sim/base/quantity.h)
    OPTION_QUANTITY, // a number with a unit, of the row's QuantityKind
    OPTION_CHOICE    // one of the row's names
} OptionKind;

// Category of an option. A question from a file (a JSON answer, the last question) is run again from its words, which
// are untrusted: results/answer/question.h.
typedef enum OptionOf {
    OF_WHO_ASKS, // only on the typed command line: sandbox, limits, readable folders; refused from a file
    OF_QUESTION, // what is simulated, and which parts of it are shown
    OF_FORM,     // destination and format of the answer; skipped if from a file
    OF_RUN       // part of the question; its value is words of lockstep run, which are checked as such
} OptionOf;

// A row: {"micro-batch", OPTION_COUNT, "N", .help = "samples per forward", .alias = "micro-batch-size"}
typedef struct OptionSpec {
    const char *name; // "micro-batch"
    OptionKind kind;
    const char *metavar; // "N", "NAME"; a choice may leave it out. NULL for a flag
    const char *help;    // one line
    OptionOf of;
    const char *alias;          // "micro-batch-size", or NULL
    const char *others;         // what other programs call it, for hints: "batch-size|per-device-train-batch-size"
    char letter;                // 'o' for -o, or 0
    bool may_be_empty;          // TEXT: "" is a value too
    QuantityKind quantity;      // QUANTITY only
    const char *usual;          // QUANTITY: such a value in the unit that is usual here ("30d"), or NULL
    bool in_1024;               // COUNT, a length: "4k" is 4 x 1,024
    bool is_limit;              // COUNT and QUANTITY: 0, which would allow nothing, is refused
    const char *const *choices; // index = value of a CHOICE; of a TEXT the completions of shells
    int choice_count;
} OptionSpec;

typedef struct Options Options;

// Reads argv[1] … argv[argc - 1]. Every unknown option, missing or unreadable value, and repetition becomes a problem;
// what could be read is in the answer all the same. "--" ends the options. --help and -h need no row.
Options *options_parse(Arena *arena, const OptionSpec *specs, int spec_count, int argc, char **argv,
                       Problems *problems);

// Options of every command in addition to its own, unless it has one of that name (results/answer/answer.h; set in
// main.c). `read` runs after each parsed command line; it may add problems. NULL, 0, NULL: none.
typedef void OptionsRead(Options *options, Problems *problems);
void options_share(const OptionSpec *rows, int count, OptionsRead *read);

// The other commands that have an option of that name: "queue", "cost, power and 3 more"; NULL: none has. Set in
// main.c; *row (or NULL) is the option of the first of them.
typedef const char *OptionOwners(Arena *arena, const char *name, const OptionSpec **row);
void options_look_elsewhere(OptionOwners *owners);
bool option_known(const Options *options, const char *name);  // a row has that name
bool option_shared(const Options *options, const char *name); // and it is not the command's own

bool option_help(const Options *options); // --help was given: print it and exit 0
bool option_given(const Options *options, const char *name);
// The value, or the fallback when the option was not given (or not readable). A name that has no row of that kind is
// our mistake.
bool option_flag(const Options *options, const char *name);
const char *option_text(const Options *options, const char *name, const char *fallback);
const char *const *option_texts(const Options *options, const char *name, int *count);
int64_t option_count(const Options *options, const char *name, int64_t fallback);
uint64_t option_seed(const Options *options, const char *name, uint64_t fallback);
double option_quantity(const Options *options, const char *name, double fallback);
// The same if given and within `least` and `most`; otherwise a problem with both limits in the row's unit.
double option_within(const Options *options, const char *name, double fallback, double least, double most,
                     Problems *problems);
int option_count_within(const Options *options, const char *name, int fallback, int least, int most,
                        Problems *problems);
// What was given for a name of any kind but TEXTS, written the same way however it was spelled; NULL when it was not.
const char *option_written(Arena *arena, const Options *options, const char *name);
int option_choice(const Options *options, const char *name, int fallback);

// The row that a word of a command line begins ("--name", "--name=value", "-o", "-oFILE"), as options_parse finds it;
// *attached is the value in the word itself, or NULL. NULL: the word is no option of these.
const OptionSpec *option_row_of(const OptionSpec *rows, int count, const char *word, const char **attached);
bool option_begins(const char *word); // "--name" and "-o", not "-", "-3" and "file.lua"
// Whether the word behind it is its value, unless that begins with two dashes.
bool option_takes_value(const OptionSpec *row);

// Words of a command line.
typedef LIST_OF(const char *) OptionWords;
void option_words_add(Arena *arena, OptionWords *line, const char *word);
// Of `words` those options that have a row, each with its value, unless they are named in `without`. The words of other
// options begin `left_out`, or NULL. What is no option is left.
void option_words_keep(Arena *arena, const OptionSpec *rows, int row_count, const OptionWords *words,
                       const char *const *without, int without_count, OptionWords *line, OptionWords *left_out);

// As a shell reads it.
const char *option_word_quoted(Arena *arena, const char *word);

int option_positional_count(const Options *options); // arguments that belong to no option
const char *option_positional(const Options *options, int index);
// A problem for each positional argument from `allowed` on ("file.lua" where none is expected).
void options_refuse_positional(const Options *options, int allowed, Problems *problems);

// A problem of usage unless the option is given: "how many GPUs? --gpus is missing". `question` may be NULL; `hint`
// contains the remedy. Returns false then.
bool option_require(const Options *options, const char *question, const char *name, const char *hint,
                    Problems *problems);
// A usage problem if both of two equivalent or exclusive options are given; `hint`: which one to keep.
void options_refuse_both(const Options *options, const char *first, const char *second, const char *hint,
                         Problems *problems);

// The rows without those named.
OptionSpec *options_without(Arena *arena, const OptionSpec *rows, int row_count, const char *const *names, int count,
                            int *left);
// Concatenates two tables: a command's own options and those that many commands share.
const OptionSpec *options_join(Arena *arena, const OptionSpec *first, int first_count, const OptionSpec *second,
                               int second_count, int *count);

// Prints "usage: …", the command's description, then one line per row.
void options_print_help(const OptionSpec *specs, int spec_count, const char *usage, const char *about, FILE *out);

// From here on help prints completions of `start` for a shell, one per line: the values of this option (of a choice,
// without its dashes), or with NULL the names of all options. NULL, NULL: normal help again.
void options_offer(const char *option, const char *start);
bool options_offering(void);
