#include "results/answer/question.h"

#include <stdio.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/last.h"
#include "sim/base/list.h"
#include "sim/system/file.h"
#include "sim/system/gate.h"

#define MOST_BYTES (1 << 16) // of a command line that a file holds

QuestionRows *question_rows;

typedef struct Taking {
    Arena *arena;
    const QuestionFile *file;
    const OptionSpec *rows;
    int row_count;
    LIST_OF(OptionSpec) others; // of other commands, which are not of the question
    Names kept, left_out;
    Problems *problems;
} Taking;

// ---- Which option a word is.

static const OptionSpec *rows_of(Arena *arena, const char *command, const char *first, int *count) {
    const OptionSpec *own = question_rows ? question_rows(arena, command, first, count) : NULL;
    int shared_count;
    const OptionSpec *shared = answer_option_rows(arena, &shared_count);
    return options_join(arena, own, own ? *count : 0, shared, shared_count, count);
}

// The words may go to another command (explain takes those of run), so options reserved to the user of all are known.
static void list_others(Taking *taking) {
    static const char *const askers[] = {"run", "plan", "sweep", "goodput", "queue", "collective", "explain", "trace"};
    for (size_t i = 0; i < sizeof askers / sizeof *askers; i++) {
        int count;
        const OptionSpec *rows = rows_of(taking->arena, askers[i], NULL, &count);
        for (int r = 0; r < count; r++)
            if (rows[r].of != OF_QUESTION) LIST_PUSH(taking->arena, &taking->others, rows[r]);
    }
}

// NULL: a script's own, or none.
static const OptionSpec *row_of(const Taking *taking, const char *word, const char **attached) {
    const OptionSpec *row = option_row_of(taking->rows, taking->row_count, word, attached);
    return row ? row : option_row_of(taking->others.items, taking->others.count, word, attached);
}

static bool is_typed(const Taking *taking, const OptionSpec *row) {
    const QuestionFile *file = taking->file;
    const char *attached;
    if (strcmp(row->name, "set") == 0 || strcmp(row->name, "vary") == 0) return false; // the old ones stay
    for (int i = 0; i < file->typed_count && strcmp(file->typed[i], "--") != 0; i++) {
        const OptionSpec *typed = row_of(taking, file->typed[i], &attached);
        if (typed && strcmp(typed->name, row->name) == 0) return true;
    }
    return false;
}

// ---- What becomes of it.

static void refuse(Taking *taking, const char *what) {
    const char *path = taking->file->path;
    problem_add(taking->problems, (Where){path, 0}, "the question %s has %.200s, which only you can give",
                path ? "there" : "that --last keeps", what);
    problem_hint(taking->problems, "type it yourself if you mean it, behind %s", path ? path : "--last");
}

static void keep(Taking *taking, const OptionSpec *row, const char *word, const char *attached, const char *value) {
    const char *name = word[1] == '-' ? word : arena_printf(taking->arena, "--%s", row->name);
    if (attached && name != word) name = arena_printf(taking->arena, "%s=%s", name, attached);
    bool is_glued = value && value[0] == '-'; // behind its option it would look like one
    if (is_glued) name = arena_printf(taking->arena, "%s=%s", name, value);
    LIST_PUSH(taking->arena, &taking->kept, name);
    if (value && !is_glued) LIST_PUSH(taking->arena, &taking->kept, value);
}

static bool is_question_of_run(Taking *taking, const char *text);

// The answer's own file aside, which every answer in a file has.
static bool names_file(const OptionSpec *row) { return row->kind == OPTION_TEXT && strcmp(row->name, "output") != 0; }

static void take(Taking *taking, const OptionSpec *row, const char *word, const char *attached, const char *value) {
    const char *said = attached ? attached : value;
    if (is_typed(taking, row)) return;
    if (row->of == OF_FORM && names_file(row)) LIST_PUSH(taking->arena, &taking->left_out, word);
    if (row->of == OF_FORM) return;
    bool is_asked = row->of == OF_QUESTION || (row->of == OF_RUN && is_question_of_run(taking, said ? said : ""));
    if (is_asked)
        keep(taking, row, word, attached, value);
    else if (row->of == OF_WHO_ASKS)
        refuse(taking, value ? arena_printf(taking->arena, "%s %s", word, value) : word);
}

static void say_left_out(const Taking *taking) {
    if (taking->left_out.count == 0) return;
    fprintf(stderr, "! Left out, as only you can say where it goes:");
    last_print_words(taking->arena, taking->left_out.items, taking->left_out.count);
}

// A word and the value behind it; the first word after them.
static int take_from(Taking *taking, int at) {
    const QuestionFile *file = taking->file;
    const char *word = file->words[at], *attached, *value = NULL;
    const OptionSpec *row = row_of(taking, word, &attached);
    if (strcmp(word, "--") == 0 || (!row && option_begins(word) && word[1] != '-')) {
        refuse(taking, arena_printf(taking->arena, "\"%s\"", word));
        return at + 1;
    }
    if (!row) {
        LIST_PUSH(taking->arena, &taking->kept, word);
        return at + 1;
    }
    if (option_takes_value(row) && !attached && at + 1 < file->count && strncmp(file->words[at + 1], "--", 2) != 0)
        value = file->words[at + 1];
    take(taking, row, word, attached, value);
    return at + 1 + (value != NULL);
}

static bool is_short_enough(const QuestionFile *file, Problems *problems) {
    size_t bytes = 0;
    for (int i = 0; i < file->count; i++) bytes += strlen(file->words[i]) + 1;
    if (bytes <= MOST_BYTES) return true;
    problem_add(problems, (Where){file->path, 0}, "the question there is longer than %d KiB", MOST_BYTES >> 10);
    return problem_hint(problems, "a command line is shorter: ask it anew");
}

Names question_words(Arena *arena, const QuestionFile *file, Problems *problems) {
    Taking taking = {.arena = arena, .file = file, .problems = problems};
    if (!is_short_enough(file, problems)) return taking.kept;
    taking.rows = rows_of(arena, file->command, file->count > 0 ? file->words[0] : NULL, &taking.row_count);
    list_others(&taking);
    for (int i = 0; i < file->count;) i = take_from(&taking, i);
    say_left_out(&taking);
    return taking.kept;
}

// Names between spaces.
static bool is_question_of_run(Taking *taking, const char *text) {
    Names words = {0};
    char *rest = arena_copy_text(taking->arena, text), *next = NULL;
    for (char *word = strtok_r(rest, " \t\n", &next); word; word = strtok_r(NULL, " \t\n", &next))
        LIST_PUSH(taking->arena, &words, (const char *)word);
    QuestionFile run = {.path = taking->file->path, .command = "run", .words = words.items, .count = words.count};
    int before = problems_added(taking->problems);
    int kept = question_words(taking->arena, &run, taking->problems).count;
    if (problems_added(taking->problems) == before && kept != words.count)
        refuse(taking, arena_printf(taking->arena, "\"%s\"", text));
    return problems_added(taking->problems) == before;
}

// ---- What it may read.

static const char *allowed_folder(const char *const *words, int count, int *at) {
    static const char name[] = "--allow-read";
    size_t length = sizeof name - 1;
    if (strncmp(words[*at], name, length) != 0) return NULL;
    if (words[*at][length] == '=') return words[*at] + length + 1;
    return words[*at][length] == '\0' && *at + 1 < count ? words[++*at] : NULL;
}

void question_reads_near(Arena *arena, const QuestionFile *file, Problems *problems) {
    Names folders = {0};
    LIST_PUSH(arena, &folders, file_folder(arena, file->path));
    for (int i = 0; i < file->typed_count; i++) {
        const char *folder = allowed_folder(file->typed, file->typed_count, &i);
        if (folder) LIST_PUSH(arena, &folders, folder);
    }
    file_read_through(gate_of_question(arena, folders.items, folders.count, problems), file->typed, file->typed_count);
}

Names question_typed(Arena *arena, const QuestionFile *file) {
    int row_count;
    const char *attached, *first = file->count > 0 ? file->words[0] : NULL;
    const OptionSpec *rows = rows_of(arena, file->command, first, &row_count);
    bool has_it = option_row_of(rows, row_count, "--allow-read", &attached) != NULL;
    Names words = {0};
    for (int i = 0; i < file->typed_count; i++)
        if (has_it || !allowed_folder(file->typed, file->typed_count, &i)) LIST_PUSH(arena, &words, file->typed[i]);
    return words;
}
