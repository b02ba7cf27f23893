#include "scenarios/explain/explain_answer.h"

#include <stdio.h>
#include <string.h>

#include "results/last.h"
#include "scenarios/explain/explain_cells.h"
#include "sim/json.h"
#include "sim/list.h"

typedef struct Line {
    const char **items;
    int count, room;
} Line;

typedef struct Asked {
    Arena *arena;
    const OptionSpec *rows;
    int row_count;
    const LastQuestion *question;
    const Json *answer;
    Line line, left_out;
} Asked;

// ---- Words of a job in options: those that explain knows.

// Its value stands with it, or behind it.
static int words_of_option(const LastQuestion *question, int at, const OptionSpec *row) {
    bool glued = strchr(question->words[at], '=') != NULL, is_last = at + 1 == question->count;
    if (glued || is_last || (row && !option_takes_value(row))) return 1;
    return option_begins(question->words[at + 1]) ? 1 : 2;
}

static void add_known_words(Asked *asked, const char *const *replaced, int replaced_count) {
    const LastQuestion *question = asked->question;
    for (int i = 0; i < question->count;) {
        const char *attached;
        const OptionSpec *row = option_row_of(asked->rows, asked->row_count, question->words[i], &attached);
        int words = option_begins(question->words[i]) ? words_of_option(question, i, row) : 1;
        bool stays = row && !is_among(replaced, replaced_count, row->name);
        for (int w = 0; w < words && stays; w++) LIST_PUSH(asked->arena, &asked->line, question->words[i + w]);
        if (!row) LIST_PUSH(asked->arena, &asked->left_out, question->words[i]);
        i += words;
    }
}

// How the answer was to look.
static const char *const of_output[] = {"plot", "plot-dir", "plot-format", "table", "verbose", "brief"};
enum { OF_OUTPUT = sizeof of_output / sizeof *of_output };

// ---- The plan that was chosen.

typedef struct Chosen {
    const char *key, *option;
    double usual; // a number that is not said
} Chosen;

static const Chosen chosen_cluster[] = {
    {"gpus", "gpus", 0}, {"node", "node", 0}, {"fabric", "fabric", 0}, {"oversubscription", "oversubscription", 1}};
static const Chosen chosen_layout[] = {{"tp", "tp", 1},
                                       {"pp", "pp", 1},
                                       {"vpp", "vpp", 1},
                                       {"cp", "cp", 1},
                                       {"ep", "ep", 1},
                                       {"zero", "zero", -1},
                                       {"micro_batch", "micro-batch", 0},
                                       {"global_batch", "global-batch", 0},
                                       {"recompute", "recompute", 0},
                                       {"schedule", "schedule", 0},
                                       {"sequence_parallel", "sequence-parallel", 0}};
enum {
    OF_CLUSTER = sizeof chosen_cluster / sizeof *chosen_cluster,
    OF_LAYOUT = sizeof chosen_layout / sizeof *chosen_layout
};

static void add_chosen(Asked *asked, const Json *object, const Chosen *row) {
    const Json *value = json_get(object, row->key);
    const char *option = arena_printf(asked->arena, "--%s", row->option), *text = NULL;
    if (!value) return;
    if (value->kind == JSON_TEXT && *value->text) text = value->text;
    if (value->kind == JSON_NUMBER && value->number != row->usual)
        text = arena_printf(asked->arena, "%.15g", value->number);
    bool is_on = value->kind == JSON_BOOL && value->boolean;
    bool is_glued = text && text[0] == '-'; // behind its option it would look like one
    if (is_glued) option = arena_printf(asked->arena, "%s=%s", option, text);
    if (text || is_on) LIST_PUSH(asked->arena, &asked->line, option);
    if (text && !is_glued) LIST_PUSH(asked->arena, &asked->line, text);
}

static bool add_plan(Asked *asked, const char *path, Problems *problems) {
    const char *replaced[1 + OF_OUTPUT + OF_CLUSTER + OF_LAYOUT] = {"dp"};
    int count = 1;
    const Json *layout = json_get(asked->answer, "layout"), *gpus = json_get(asked->answer, "gpus");
    if (!layout || layout->kind != JSON_OBJECT || !gpus || gpus->kind != JSON_NUMBER) {
        problem_add(problems, (Where){path, 0}, "the plan in this file chose nothing: there is no job to explain");
        problem_hint(problems, "lockstep plan says why; with more time or money there may be one");
        return false;
    }
    for (int i = 0; i < OF_OUTPUT; i++) replaced[count++] = of_output[i];
    for (int i = 0; i < OF_CLUSTER; i++) replaced[count++] = chosen_cluster[i].option;
    for (int i = 0; i < OF_LAYOUT; i++) replaced[count++] = chosen_layout[i].option;
    add_known_words(asked, replaced, count);
    for (int i = 0; i < OF_CLUSTER; i++) add_chosen(asked, asked->answer, &chosen_cluster[i]);
    for (int i = 0; i < OF_LAYOUT; i++) add_chosen(asked, layout, &chosen_layout[i]);
    return true;
}

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
    if (is_among(named, 3, question->command))
        add_all(asked, true);
    else if (strcmp(question->command, "plan") == 0)
        return add_plan(asked, path, problems);
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
    asked.question = last_question_of_answer(arena, path, &typed, &asked.answer, problems);
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
