#include "scenarios/explain/explain_answer.h"

#include <stdio.h>
#include <string.h>

#include "results/answer/last.h"
#include "sim/base/list.h"
#include "sim/data/json.h"

typedef struct Asked {
    Arena *arena;
    const OptionSpec *rows;
    int row_count;
    const LastQuestion *question;
    OptionWords line, left_out;
} Asked;

// ---- Words of a job in options: those that explain knows.

static void add_known_words(Asked *asked, const char *const *replaced, int replaced_count) {
    const LastQuestion *question = asked->question;
    OptionWords words = {0};
    for (int i = 0; i < question->count; i++) option_words_add(asked->arena, &words, question->words[i]);
    option_words_keep(asked->arena, asked->rows, asked->row_count, &words, replaced, replaced_count, &asked->line,
                      &asked->left_out);
}

// How the answer was to look.
static const char *const of_output[] = {"plot", "plot-dir", "plot-format", "table", "verbose", "brief"};
enum { OF_OUTPUT = sizeof of_output / sizeof *of_output };

// ---- All kinds of answers.

// Words of its own stay as they are: of a script, or of commands that explain asks by their names.
static void add_all(Asked *asked, bool named) {
    if (named) LIST_PUSH(asked->arena, &asked->line, asked->question->command);
    for (int i = 0; i < asked->question->count; i++) LIST_PUSH(asked->arena, &asked->line, asked->question->words[i]);
}

static bool add_words(Asked *asked, const char *path, Problems *problems) {
    static const char *const named[] = {"queue", "goodput", "collective"};
    const LastQuestion *question = asked->question;
    bool is_script = question->count > 0 && question->words[0][0] != '-';
    if (name_is_among(named, 3, question->command))
        add_all(asked, true);
    else if (strcmp(question->command, "explain") == 0 || (strcmp(question->command, "run") == 0 && is_script))
        add_all(asked, false);
    else if (strcmp(question->command, "run") == 0)
        add_known_words(asked, of_output, OF_OUTPUT);
    else {
        problem_add(problems, (Where){path, 0}, "this is an answer of lockstep %.40s, which explain does not know",
                    question->command);
        problem_hint(problems, "explain takes answers of run, plan, queue, goodput and collective");
        return false;
    }
    return true;
}

static void say_left_out(const Asked *asked) {
    if (asked->left_out.count == 0) return;
    fprintf(stderr, "! Left out, as explain has no use for it:");
    last_print_words(asked->arena, asked->left_out.items, asked->left_out.count);
}

static bool take_answer(Arena *arena, const OptionSpec *rows, int row_count, int *argc, char ***argv,
                        Problems *problems) {
    Asked asked = {.arena = arena, .rows = rows, .row_count = row_count};
    const char *path = (*argv)[1];
    const Typed typed = {(const char *const *)(*argv + 2), *argc - 2};
    const Json *answer;
    asked.question = last_question_of_answer(arena, path, "command", &typed, &answer, problems);
    if (asked.question && strcmp(asked.question->command, "plan") == 0) // of the job that it chose
        asked.question = last_question_of_answer(arena, path, "run_command", &typed, &answer, problems);
    if (!asked.question || !add_words(&asked, path, problems)) return false;
    LastQuestion job = *asked.question;
    job.words = asked.line.items;
    job.count = asked.line.count;
    int count;
    const char *const *words = last_words(arena, &job, typed.words, typed.count, &count);
    char **line = ARENA_ARRAY(arena, char *, count + 2);
    line[0] = (*argv)[0];
    for (int i = 0; i < count; i++) line[i + 1] = arena_copy_text(arena, words[i]);
    last_tell(arena, (const char *const *)line, count + 1, &job);
    say_left_out(&asked);
    *argv = line;
    *argc = count + 1;
    return true;
}

#define LONGEST_WAY 8 // explain's answers of explain's answers

bool explain_words_of_answer(Arena *arena, const OptionSpec *rows, int row_count, int *argc, char ***argv,
                             Problems *problems) {
    const char *path = (*argv)[1];
    for (int i = 0; i < LONGEST_WAY; i++) {
        if (!take_answer(arena, rows, row_count, argc, argv, problems)) return false;
        if (*argc < 2 || !last_names_answer((*argv)[1])) return true;
    }
    problem_add(problems, (Where){path, 0},
                "this is an answer of an answer of an answer: of what is not found in %d files", LONGEST_WAY);
    problem_hint(problems, "name the file that run, plan or queue wrote");
    return false;
}
