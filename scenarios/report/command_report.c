// lockstep report: what run, plan, goodput, queue or lesson answers, as one HTML file that opens anywhere and needs
// nothing else.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/as.h"
#include "results/answer/last.h"
#include "results/page/report.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/explain/command_explain.h"
#include "scenarios/explain/explain.h"
#include "scenarios/packets/packets_study.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/lesson.h"
#include "scenarios/queue/command_queue.h"
#include "scenarios/report/report_queue.h"
#include "scenarios/report/report_run.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"

enum { DONE = 0, BAD_USAGE = 2, BAD_INPUT = 4 };

int command_report(int argc, char **argv);

static const char usage[] =
    "usage: lockstep report run FILE.lua|--model NAME … -o page.html\n"
    "       lockstep report plan --model NAME --node A,B … -o page.html\n"
    "       lockstep report goodput --gpus N --days DAYS … -o page.html\n"
    "       lockstep report queue --gpus N --load X … -o page.html\n"
    "       lockstep report lesson sheet [--track N] [--answers] -o page.html\n"
    "       lockstep report ANSWER.json -o page.html      of what one of these wrote with --json\n\n"
    "Asks what that command would with the same options, and writes the answer as one HTML file: what it takes and "
    "with\n"
    "what certainty, why, cost against time, scaling, a step in time, memory, weeks of a job, waits of a queue, what "
    "it\n"
    "rests on, and\n"
    "the command that makes the page again. It opens without a network, reads with scripts off, and each chart has "
    "its\n"
    "numbers behind it. The same input gives the same bytes; --date DAY puts a date on it.\n\n"
    "  lockstep report run scenarios/examples/scaling_efficiency.lua -o scaling.html\n"
    "  lockstep report plan --model llama-2-70b --tokens 2T --global-batch 1024 --node dgx-h100 \\\n"
    "                       --gpus 512,1024 --by 60d --budget 2M -o plan.html\n"
    "  lockstep report run --help     the options of lockstep run\n"
    "  lockstep report plan --help    the options of lockstep plan, and so for the others\n\n"
    "Exit codes: those of the command that it asks.\n";

typedef struct Writing {
    const char *command; // as a shell reads it
    const char *output;  // NULL: standard output
    const char *date;
} Writing;

// As a shell reads it.
static const char *command_text(Arena *arena, int argc, char **argv) {
    const char *text = "lockstep";
    for (int i = 0; i < argc; i++) text = arena_printf(arena, "%s %s", text, option_word_quoted(arena, argv[i]));
    return text;
}

// ---- Writing.

static bool write_page(const Asking *asking, Report *report, const Writing *writing) {
    const char *path = writing->output;
    OutputFile file;
    report_section(report, "This page again");
    report_text(report, "With the same version of lockstep this line writes the same bytes:");
    report_code(report, writing->command);
    if (!file_create(asking->arena, path ? path : "-", &file, asking->problems)) return false;
    report_write(file.stream, report);
    if (!file_commit(&file, asking->problems)) return false;
    if (path) printf("%s is written: it opens in any browser, and needs nothing else\n", path);
    return true;
}

// Dates and old prices are counted from it.
static Date day_of(const char *date, Problems *problems) { return date ? date_or_today(date, problems) : (Date){0}; }

static bool show_run(void *context, const Asking *asking) {
    const RunAnswer *answer = asking->found;
    const Writing *writing = context;
    const Record *first = answer->record_count > 0 ? answer->records[0] : NULL;
    const char *title = first && first->title && *first->title ? first->title : "lockstep run";
    Report *report = report_create(asking->arena, title, writing->command, answer->date);
    Date today = day_of(answer->date, asking->problems);
    for (int i = 0; i < answer->record_count; i++)
        report_add_run(report, asking->arena, answer->studies[i], answer->records[i], today);
    for (int i = 0; i < answer->packets_count; i++) {
        Answer *packets = answer_create(asking->arena, "packets");
        packets_study_answer(asking->arena, packets, answer->packets[i].study, &answer->packets[i].result);
        answer_as_page(asking->arena, report, packets);
    }
    return write_page(asking, report, writing);
}

static bool show_answer(void *context, const Asking *asking) {
    const Writing *writing = context;
    const Answer *answer = asking->answer;
    const char *title = answer_heading(answer) ? answer_heading(answer) : answer_kind(answer);
    Report *report = report_create(asking->arena, title, writing->command, writing->date);
    answer_as_page(asking->arena, report, answer);
    return write_page(asking, report, writing);
}

static bool show_queue(void *context, const Asking *asking) {
    const Writing *writing = context;
    const QueueAnswer *answer = asking->found;
    Report *report = report_create(asking->arena, answer->record->title, writing->command, writing->date);
    report_add_queue(report, asking->arena, answer, day_of(writing->date, asking->problems));
    return write_page(asking, report, writing);
}

// ---- Reading.

// "NAME VALUE" or "NAME=VALUE": the value, and how many words it took; NULL when the word is another.
static const char *value_of(const char *name, char **words, int left, int *taken) {
    size_t length = strlen(name);
    *taken = 0;
    if (strncmp(words[0], name, length) != 0) return NULL;
    if (words[0][length] == '=') *taken = 1;
    if (words[0][length] == '\0' && left > 1) *taken = 2;
    return *taken == 1 ? words[0] + length + 1 : *taken == 2 ? words[1] : NULL;
}

// Where the page goes, and its date; what the command that is asked does not know is taken away.
static int read_words(int argc, char **argv, bool takes_date, Writing *writing, char **rest) {
    int count = 0;
    for (int i = 0, taken; i < argc; i++) {
        const char *path = value_of("--output", argv + i, argc - i, &taken);
        if (!path) path = value_of("-o", argv + i, argc - i, &taken);
        if (path) {
            writing->output = path;
            i += taken - 1;
            continue;
        }
        const char *date = value_of("--date", argv + i, argc - i, &taken);
        if (date) writing->date = date;
        if (date && takes_date)
            i += taken - 1;
        else
            rest[count++] = argv[i];
    }
    return count;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

// What would make another answer than a page.
static const char *other_form(int argc, char **argv) {
    static const char *const forms[] = {"--json", "--csv", "--plain"};
    for (int i = 1; i < argc; i++)
        for (int k = 0; k < 3; k++)
            if (strcmp(argv[i], forms[k]) == 0) return forms[k];
    return NULL;
}

static int refuse(const char *what, const char *hint) {
    fprintf(stderr, "error: %s\n  hint: %s\n", what, hint);
    return BAD_USAGE;
}

// ---- Whose answers there are pages of.

static int ask_run(int argc, char **argv, void *writing) {
    return frame_show(&run_page_question, argc, argv, show_run, writing);
}
static int ask_plan(int argc, char **argv, void *writing) {
    return frame_show(&plan_question, argc, argv, show_answer, writing);
}
static int ask_goodput(int argc, char **argv, void *writing) {
    return frame_show(&explain_goodput_question, argc, argv, show_answer, writing);
}
static int ask_lesson(int argc, char **argv, void *writing) {
    return frame_show(&lesson_question, argc, argv, show_answer, writing);
}
static int ask_queue(int argc, char **argv, void *writing) {
    return frame_show(&queue_question, argc, argv, show_queue, writing);
}

typedef struct Reported {
    const char *command;
    int (*ask)(int argc, char **argv, void *writing);
    bool has_date;    // --date is an option of its own, which it is to see
    bool is_of_a_day; // dates and old prices are counted from it: today, where none is said
} Reported;

static const Reported reported[] = {
    {"run", ask_run, true, false},      {"plan", ask_plan, true, true},       {"goodput", ask_goodput, false, false},
    {"queue", ask_queue, false, false}, {"lesson", ask_lesson, false, false},
};
enum { REPORTED = sizeof reported / sizeof *reported };

static const Reported *reported_called(const char *name) {
    for (int i = 0; i < REPORTED; i++)
        if (strcmp(reported[i].command, name) == 0) return &reported[i];
    return NULL;
}

static int refuse_other(Arena *arena, bool says_what) {
    const char *names = "";
    for (int i = 0; i < REPORTED; i++)
        names = arena_printf(arena, "%s%s%s", names,
                             i == 0             ? ""
                             : i + 1 < REPORTED ? ", "
                                                : " or ",
                             reported[i].command);
    return refuse(says_what ? arena_printf(arena, "a report is of %s", names) : "of what?",
                  "lockstep report run FILE.lua -o page.html, or lockstep report plan --model NAME … -o page.html");
}

static int report(Arena *arena, int argc, char **argv) {
    const Reported *what = argc > 1 ? reported_called(argv[1]) : NULL;
    if (!what) {
        if (!asks_for_help(argc, argv)) return refuse_other(arena, argc > 1);
        fputs(usage, stdout);
        return DONE;
    }
    const char *form = other_form(argc, argv);
    if (form)
        return refuse(arena_printf(arena, "a report is a page: %s is not for it", form),
                      arena_printf(arena, "lockstep %s %s gives the numbers", argv[1], form));
    Writing writing = {.command = command_text(arena, argc, argv)};
    char **words = ARENA_ARRAY(arena, char *, argc + 3);
    int count = read_words(argc - 1, argv + 1, !what->has_date, &writing, words);
    if (what->is_of_a_day && !writing.date && !asks_for_help(argc, argv)) {
        Date today = date_or_today(NULL, problems_create(arena));
        writing.date = arena_printf(arena, "%04d-%02d-%02d", today.year, today.month, today.day);
        writing.command = arena_printf(arena, "%s --date %s", writing.command, writing.date);
        words[count++] = arena_copy_text(arena, "--date");
        words[count++] = arena_copy_text(arena, writing.date);
    }
    Problems *mistakes = problems_create(arena);
    if (writing.date && !what->has_date) date_or_today(writing.date, mistakes);
    if (problem_count(mistakes)) return problems_print(mistakes, stderr), BAD_USAGE;
    if (!writing.output && isatty(STDOUT_FILENO) && !asks_for_help(argc, argv))
        return refuse("where to? A page is for a browser, not for a terminal", "add -o page.html");
    if (writing.output) wall_keep_output(WALL_REPLACE, writing.output);
    return what->ask(count, words, &writing);
}

// Of `lockstep report plan.json -o page.html`: what the file answers, asked again. False after a problem.
static bool words_of_answer(Arena *arena, int *argc, char ***argv, Problems *problems) {
    const Json *answer;
    const Typed typed = {(const char *const *)(*argv + 2), *argc - 2};
    const LastQuestion *question = last_question_of_answer(arena, (*argv)[1], "command", &typed, &answer, problems);
    if (!question) return false;
    if (!reported_called(question->command)) {
        problem_add(problems, (Where){(*argv)[1], 0}, "this is an answer of lockstep %.40s, of which there is no page",
                    question->command);
        problem_hint(problems, "a report is of run, plan, goodput, queue or lesson");
        return false;
    }
    int count;
    const char *const *words = last_words(arena, question, typed.words, typed.count, &count);
    char **line = ARENA_ARRAY(arena, char *, count + 3);
    line[0] = (*argv)[0];
    line[1] = arena_copy_text(arena, question->command);
    for (int i = 0; i < count; i++) line[i + 2] = arena_copy_text(arena, words[i]);
    *argv = line;
    *argc = count + 2;
    last_tell(arena, (const char *const *)line, *argc, question);
    return true;
}

int command_report(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int status = BAD_INPUT;
    if (argc < 2 || !last_names_answer(argv[1]) || words_of_answer(arena, &argc, &argv, problems))
        status = report(arena, argc, argv);
    else
        problems_print(problems, stderr);
    arena_close(arena);
    return status;
}
