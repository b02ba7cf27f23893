#include "scenarios/explain/diff_last.h"

#include <string.h>

#include "results/last.h"
#include "scenarios/study/study_options.h"
#include "sim/list.h"

typedef struct Line {
    char **items;
    int count, room;
} Line;

typedef struct Repeat {
    Arena *arena;
    const OptionSpec *own, *study; // rows of diff, and of a study said in options
    int own_count, study_count;
    Problems *problems;
    Line line;
} Repeat;

static void add_word(Repeat *repeat, const char *word) {
    LIST_PUSH(repeat->arena, &repeat->line, arena_copy_text(repeat->arena, word));
}

static const OptionSpec *row_of(const OptionSpec *rows, int count, const char *word) {
    const char *attached;
    return option_row_of(rows, count, word, &attached);
}

static bool takes_next(const OptionSpec *row, const char *word) {
    return option_takes_value(row) && !strchr(word, '=');
}

static bool is_script(const LastQuestion *question) { return question->count > 0 && question->words[0][0] != '-'; }

// ---- A job said in options: --a="…". What is neither a study's nor diff's is of how the answer looked.

static const char *joined(Repeat *repeat, const char *text, const char *word) {
    if (strchr(word, ' ')) {
        problem_add(repeat->problems, (Where){0}, "--last: the last run says \"%s\", and diff splits options at spaces",
                    word);
        problem_hint(repeat->problems, "compare answers: lockstep run … -o a.json, lockstep diff a.json b.json");
    }
    return *text ? arena_printf(repeat->arena, "%s %s", text, word) : word;
}

static void add_job(Repeat *repeat, const char *side, const char *const *words, int count, bool tells_own) {
    const char *text = "";
    for (int i = 0; i < count; i++) {
        const OptionSpec *study = row_of(repeat->study, repeat->study_count, words[i]),
                         *own = row_of(repeat->own, repeat->own_count, words[i]), *row = study ? study : own;
        if (!row) continue;
        int end = i + (takes_next(row, words[i]) && i + 1 < count);
        for (int k = i; k <= end; k++) {
            if (study)
                text = joined(repeat, text, words[k]);
            else if (tells_own)
                add_word(repeat, words[k]);
        }
        i = end;
    }
    add_word(repeat, arena_printf(repeat->arena, "--%s=%s", side, text));
}

// ---- A script, with what was put in place of its values.

static void add_script(Repeat *repeat, const char *side, const LastQuestion *question) {
    for (int i = 1; i < question->count; i++) {
        const char *word = question->words[i], *value = NULL;
        if (strncmp(word, "--set=", 6) == 0) value = word + 6;
        if (strcmp(word, "--set") == 0 && i + 1 < question->count) value = question->words[++i];
        if (value) {
            add_word(repeat, arena_printf(repeat->arena, "--set-%s=%s", side, value));
            continue;
        }
        const OptionSpec *own = row_of(repeat->own, repeat->own_count, word);
        if (own && !takes_next(own, word)) continue; // of how the answer looked
        problem_add(repeat->problems, (Where){0}, "--last: diff does not know what the last run says of %s: %s",
                    question->words[0], word);
        problem_hint(repeat->problems, "compare answers: lockstep run … -o a.json, lockstep diff a.json b.json");
        return;
    }
}

// ---- Both.

static const char **split(Arena *arena, const char *text, int *count) {
    const char **words = ARENA_ARRAY(arena, const char *, strlen(text) + 1);
    char *rest = arena_copy_text(arena, text), *next = NULL;
    *count = 0;
    for (char *word = strtok_r(rest, " ", &next); word; word = strtok_r(NULL, " ", &next)) words[(*count)++] = word;
    return words;
}

// What was said with --last stays, but for that and for what is said of B again.
static void add_said(Repeat *repeat, int argc, char *const *argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--last") == 0) continue;
        if (strcmp(argv[i], "--b") == 0 || strncmp(argv[i], "--b=", 4) == 0) {
            i += argv[i][3] == '\0';
            continue;
        }
        add_word(repeat, argv[i]);
    }
}

static void tell(const Repeat *repeat) {
    fprintf(stderr, "! Asked: lockstep");
    last_print_words(repeat->arena, (const char *const *)repeat->line.items, repeat->line.count);
}

static const char *file_of_question(Arena *arena, const LastQuestion *question) {
    int count;
    return last_words(arena, question, NULL, 0, &count)[0]; // as it is called from here
}

static void add_questions(Repeat *repeat, const LastQuestion *a, const LastQuestion *b, const char *changed) {
    Arena *arena = repeat->arena;
    int count, more = 0;
    const char **again = split(arena, changed, &more);
    if (is_script(b) && more > 0) {
        problem_add(repeat->problems, (Where){0}, "--b has options of a job, and the last run was of a script");
        problem_hint(repeat->problems, "lockstep diff --last --set-b PATH=VALUE");
        return;
    }
    if (is_script(a)) add_script(repeat, "a", a);
    if (is_script(b)) add_script(repeat, "b", b);
    const char *file = is_script(a) ? file_of_question(arena, a) : NULL,
               *other = is_script(b) ? file_of_question(arena, b) : NULL;
    if (file) add_word(repeat, file);
    if (other && (!file || strcmp(file, other) != 0 || a != b)) add_word(repeat, other);
    if (!file) {
        const char *const *words = last_words(arena, a, NULL, 0, &count);
        add_job(repeat, "a", words, count, a != b);
    }
    if (!other) {
        const char *const *words = last_words(arena, b, again, more, &count);
        add_job(repeat, "b", words, count, true);
    }
}

bool diff_repeat_last(Arena *arena, const OptionSpec *own, int own_count, const Options *options, int *argc,
                      char ***argv, Problems *problems) {
    int before = problems_added(problems), sets;
    const char *const run[] = {"run", NULL}, *changed = option_text(options, "b", "");
    Repeat repeat = {.arena = arena, .own = own, .own_count = own_count, .problems = problems};
    static const OptionSpec seed[] = {{"seed", OPTION_SEED, "N", .help = ""}, {"unfolded", OPTION_FLAG, .help = ""}};
    repeat.study = options_with_study(arena, seed, 2, &repeat.study_count);
    option_texts(options, "set-b", &sets);
    if (option_given(options, "a") || option_positional_count(options) > 0) {
        problem_add(problems, (Where){0}, "--last is what A and B are, and one of them is said too");
        problem_hint(problems, "leave --last out, or say what is other in B: lockstep diff --last --b=\"--tp 4\"");
        return false;
    }
    const Typed typed = {(const char *const *)(*argv + 1), *argc - 1};
    const LastQuestion *b = last_question(arena, run, &typed, problems), *a = b;
    if (b && !*changed && sets == 0) a = last_question_before(arena, "run", &typed, problems);
    if (!a || !b) return false;
    if (sets > 0 && !is_script(b)) {
        problem_add(problems, (Where){0}, "--set-b is for scripts, and the last run was a job in options");
        problem_hint(problems, "lockstep diff --last --b=\"--tp 4\"");
        return false;
    }
    add_word(&repeat, (*argv)[0]);
    add_questions(&repeat, a, b, changed);
    add_said(&repeat, *argc, *argv); // behind: what is said last holds
    if (problems_added(problems) > before) return false;
    if (!option_flag(options, "quiet")) tell(&repeat);
    *argc = repeat.line.count;
    *argv = repeat.line.items;
    return true;
}
