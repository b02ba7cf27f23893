// Output of an answer, the same for every command: its destination (-o, -q), format and colour. A command with such
// an option of its own handles it itself. Standard output is redirected to the file.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "results/page/report.h"
#include "results/results.h"
#include "sim/base/options.h"
#include "sim/data/answer.h"
#include "sim/data/json.h"

typedef enum AnswerForm { ANSWER_SCREEN, ANSWER_PLAIN, ANSWER_CSV, ANSWER_JSON } AnswerForm;

// Before a command: argv[1] is its name. From here on its options are joined by those of all commands. Again before
// another that is only asked for its help.
void answer_begin(int argc, char **argv);
// Called once, at the end: all output is in its place, whole or not at all. Returns the exit status; 1 with an error
// message if the answer could not be written.
int answer_end(int status);

// Text below an answer on the screen, about the input file; NULL: none.
void answer_tells(void (*print)(FILE *out));

// All of those options, --last and --no-last among them.
const OptionSpec *answer_option_rows(Arena *arena, int *count);

// What has been asked for; until the command line is read the screen, not quiet.
AnswerForm answer_form(void);
bool answer_is_quiet(void);
// A line of so many columns stands above or below the answer: what is spare makes room for it.
void answer_shares_screen(int columns);
bool answer_is_kept(void);    // for --last
bool answer_names_next(void); // a line below it, of the table next_commands: it has none of its own
bool answer_is_led(void);     // the command line was valid, and the output was opened
void answer_withhold(void);   // work was stopped before there was one

// The line at the end of an answer on a terminal that names the next useful command, where that is the same for all
// answers of a command; in place of one that the answer has itself (answer_next).
// What is worth asking after a question: the first row of its command that fits.
typedef struct NextCommand {
    const char *after;  // "goodput"
    const char *unless; // omitted if the question has this option; NULL: never
    const char *line;   // "lockstep goodput --last --checkpoint-every best"
    const char *why;
} NextCommand;
extern const NextCommand next_commands[];
extern const int next_command_count;

// ---- Output formats of an answer: each file as_*.c walks the tree of sim/data/answer.h once.

// The terminal's text: the default detail, without spare nodes if it has more than 24 lines; or with `verbose` every
// node with a title. Wrapped to the style's width.
void answer_as_text(Arena *arena, FILE *out, const Answer *answer, const Style *style, bool verbose);
void answer_as_json(FILE *out, const Answer *answer);
// One row for each row of the answer's main table, or one row of all facts. Columns "memory_bytes.peak" are nested
// members; lists of plain values are one cell, separated by semicolons.
void answer_as_csv(Arena *arena, FILE *out, const Answer *answer);
// A line "key<TAB>value" for every fact, then every table, tab-separated.
void answer_as_plain(Arena *arena, FILE *out, const Answer *answer);
// As an HTML page: all nodes except those for JSON and CSV only.
void answer_as_page(Arena *arena, Report *report, const Answer *answer);
// In any of these formats; in plain style the screen's is tab-separated text.
void answer_give(Arena *arena, FILE *out, const Answer *answer, AnswerForm form, const Style *style, bool verbose);
