// The last question of each simulating command, kept between runs of the program: one file per user,
// $XDG_STATE_HOME/lockstep/last.json (else ~/.local/state/lockstep/last.json), for `--last`. It holds command lines
// and no answers: the same question has the same answer, to the digest.
//
// A question is kept if its command line was valid and standard error is a terminal, so that scripts leave no
// trace; LOCKSTEP_LAST=always or never, or --no-last, override this. Failure to keep it is no error.
#pragma once

#include <stdbool.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"

typedef struct LastQuestion {
    const char *command;      // "plan"
    const char *const *words; // what followed; read, without where the answer went and in which form
    int count;
    const char *folder; // current folder at that time
    const char *time;   // UTC: "2026-11-23T13:48:00Z"
} LastQuestion;

// Whether questions of this command are kept, and --last means something to it.
bool last_keeps(const char *command);
bool last_follows(const char *command);

const char *last_folder(Arena *arena); // of the file, or NULL: there is no home

// argv[0] is the command. Whether it was kept.
bool last_keep(int argc, char **argv);

// The present command line, after --last or an answer's name: it overrides a file's words, and may have options that
// files may not (results/answer/question.h).
typedef struct Typed {
    const char *const *words;
    int count;
} Typed;

// The question's words relative to the current folder, followed by those of `again`.
const char *const *last_words(Arena *arena, const LastQuestion *question, const char *const *again, int again_count,
                              int *count);

// The question of a JSON answer file, from the command line stored in it: "command", or "run_command" for the job a
// plan chose. `time` is the file's name; its files are searched in the current folder and that of the answer only.
// NULL after a problem: not an answer, no command line, or an option that only the user may give.
typedef struct Json Json;
const LastQuestion *last_question_of_answer(Arena *arena, const char *path, const char *key, const Typed *typed,
                                            const Json **answer, Problems *problems);
bool last_names_answer(const char *word); // "plan.json"
// Prints a repeated question on standard error: its own words, then those given now.
void last_tell(Arena *arena, const char *const *words, int count, const LastQuestion *question);
// Prints words on standard error, each after a space, quoted for a shell; control characters as '?'.
void last_print_words(Arena *arena, const char *const *words, int count);

// `lockstep plan --last --by 30d` is the last plan with another date; `lockstep report --last -o page.html` is a report
// of the last run or plan, `lockstep explain --last` asks why, of the last run, queue, goodput or collective. An option
// repeated option overrides the old one. argv[1] is the command; false after a problem. The question is printed on
// standard error unless -q is given.
bool last_repeat(Arena *arena, int *argc, char ***argv, Problems *problems);
