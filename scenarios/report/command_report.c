// lockstep report: the answer of run, plan, goodput, queue or lesson as one self-contained HTML file.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "results/answer/answer.h"
#include "results/answer/last.h"
#include "results/answer/record_answer.h"
#include "results/page/report.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/explain/explain.h"
#include "scenarios/packets/packets.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/lesson.h"
#include "scenarios/queue/command_queue.h"
#include "sim/base/text.h"
#include "sim/data/record.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"

// ---- A run: its answer, then the explanation of its time and helpful changes, each simulated.

static const Explanation *explanation_of(Arena *arena, const StudySpec *study, const Record *record) {
    if (!study || study->vary_count > 0 || record->point_count != 1) return NULL;
    ExplainRequest request = {.study = study, .pairs = WHATIF_PAIRS};
    const Explanation *explanation = explain_study(arena, &request, problems_create(arena));
    return explanation && explanation->job.step.chain ? explanation : NULL;
}

// Of a study of one point what to change first and what decides it, in words and tables; then the rest. `study` NULL:
// the record is of something else.
static void add_run(Report *report, Arena *arena, const StudySpec *study, const Record *record, Date today) {
    const Explanation *explanation = explanation_of(arena, study, record);
    RecordPage page = {.record = record, .today = today};
    Lead lead;
    if (explanation) {
        Answer *answer = answer_create(arena, "explain");
        explain_step_answer(answer, arena, explanation, EXPLAIN_IN_REPORT);
        page.explained = answer;
        if (step_lead(arena, &explanation->job, &lead)) {
            page.first = lead.label;
            page.first_value = lead.value;
            page.first_note = lead.note;
        }
    }
    record_on_page(arena, report, &page);
}

// ---- A shared cluster: waits under each policy, and utilisation over time.

#define DAY_S 86400.0

typedef struct Figures { // columns of the table of policies
    const RecordTable *table;
    int policy, mean, p95, in_use;
} Figures;

static int column_called(const RecordTable *table, const char *name) {
    for (int c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].name, name) == 0) return c;
    return -1;
}

static bool find_figures(const Record *record, Figures *figures) {
    for (int i = 0; i < record->table_count; i++) {
        const RecordTable *table = &record->tables[i];
        if (strcmp(table->name, "policies") != 0 || table->row_count == 0) continue;
        *figures = (Figures){table, column_called(table, "policy"), column_called(table, "wait_mean_s"),
                             column_called(table, "wait_p95_s"), column_called(table, "utilisation")};
        return figures->policy >= 0 && figures->mean >= 0 && figures->p95 >= 0 && figures->in_use >= 0;
    }
    return false;
}

static const RecordCell *cell_at(const Figures *figures, int row, int column) {
    return &figures->table->cells[row * figures->table->column_count + column];
}

static const char *wait_text(Arena *arena, double seconds) { return text_days(arena, seconds / DAY_S); }

// The policy under which jobs wait least, and the one under which they wait most.
static const char *lead_of_waits(Arena *arena, const Figures *figures) {
    int least = 0, most = 0;
    for (int i = 1; i < figures->table->row_count; i++) {
        double wait = cell_at(figures, i, figures->mean)->number;
        if (wait < cell_at(figures, least, figures->mean)->number) least = i;
        if (wait > cell_at(figures, most, figures->mean)->number) most = i;
    }
    const char *text = arena_printf(arena,
                                    "Under %s jobs wait %s in the mean, one in twenty longer than %s; %s of the GPUs "
                                    "are in use",
                                    cell_at(figures, least, figures->policy)->text,
                                    wait_text(arena, cell_at(figures, least, figures->mean)->number),
                                    wait_text(arena, cell_at(figures, least, figures->p95)->number),
                                    text_percent(arena, cell_at(figures, least, figures->in_use)->number));
    if (least == most) return arena_printf(arena, "%s.", text);
    return arena_printf(arena, "%s. That is the shortest wait of %d policies; the longest is that of %s, %s.", text,
                        figures->table->row_count, cell_at(figures, most, figures->policy)->text,
                        wait_text(arena, cell_at(figures, most, figures->mean)->number));
}

static void report_waits(Report *report, Arena *arena, const Figures *figures) {
    StackRow *rows = ARENA_ARRAY(arena, StackRow, figures->table->row_count);
    for (int i = 0; i < figures->table->row_count; i++) {
        NamedValue *part = ARENA_NEW(arena, NamedValue);
        double mean = cell_at(figures, i, figures->mean)->number;
        *part = (NamedValue){"wait", "mean wait", mean / 3600};
        rows[i] = (StackRow){cell_at(figures, i, figures->policy)->text, wait_text(arena, mean), part, 1};
    }
    Chart *chart = ARENA_NEW(arena, Chart);
    stack_chart(arena, rows, figures->table->row_count, chart);
    if (chart->bars.bar_count == 0) return; // no job waits
    chart->bars.legend_count = 0;
    chart->bars.title = "Mean wait by policy";
    chart->bars.x_title = "hours";
    report_chart(report, chart, "The shorter the better; the table below has the range, and waits by size of job.");
}

#define EXPLAINED "easy" // of several policies, where it is one of them

static int policy_to_explain(const QueueStudy *study) {
    for (int i = 0; i < study->policy_count; i++)
        if (strcmp(study->policies[i]->name, EXPLAINED) == 0) return i;
    return 0;
}

static bool is_of_one_size(const QueueStudy *study) {
    for (int i = 0; i < study->policy_count; i++)
        if (study->nodes[i] > 0 && study->nodes[i] != study->spec.nodes) return false;
    return !study->find;
}

// A growing queue costs more to simulate than its jobs: a very long study is explained with fewer jobs, with a note.
#define EXPLAINED_JOBS 200000        // of all draws
#define EXPLAINED_JOBS_WAITING 50000 // where most of them wait

static bool most_wait(const Figures *figures, int policy) {
    int waited = column_called(figures->table, "waited_share");
    return waited >= 0 && policy < figures->table->row_count && cell_at(figures, policy, waited)->number > 0.5;
}

static const QueueStudy *short_enough(Arena *arena, const QueueStudy *study, bool waiting) {
    int most = waiting ? EXPLAINED_JOBS_WAITING : EXPLAINED_JOBS;
    bool is_drawn = !study->trace && !study->list;
    if (!is_drawn || (double)study->demand.jobs * study->seeds <= most) return study;
    QueueStudy *shorter = ARENA_NEW(arena, QueueStudy);
    *shorter = *study;
    shorter->demand.jobs = most / study->seeds;
    return shorter->demand.jobs > 0 ? shorter : study;
}

// False, with the answer alone on the page: no job waits, several sizes, or beyond the watch's limits.
static bool add_queue_advice(Report *report, Arena *arena, const QueueStudy *study, const Figures *figures) {
    if (!is_of_one_size(study)) return false;
    int policy = policy_to_explain(study);
    const QueueStudy *explained = short_enough(arena, study, most_wait(figures, policy));
    const Answer *told = explain_queue_study(arena, explained, policy);
    if (!told) return false;
    const char *shorter =
        explained == study
            ? NULL
            : arena_printf(
                  arena,
                  "Two samples stand on this page. What to change and why jobs wait is of %s jobs a run; \"Who "
                  "waits how long\" and what follows is of %s, and where waiting grows with the length of a run "
                  "its waits are longer.",
                  text_count(arena, explained->demand.jobs, true), text_count(arena, study->demand.jobs, true));
    answer_as_page(arena, report, told);
    if (shorter) report_caution(report, shorter);
    return true;
}

// Number of GPUs, certainty, and assumptions.
static bool add_size(Report *report, Arena *arena, const QueueAnswer *answer) {
    const Record *record = answer->record;
    const Recommendation *advice = record->recommendation;
    if (!advice || !advice->chance) return false;
    report_lead(report, advice->choice ? arena_printf(arena, "Take %s: %s.", advice->choice, advice->chance)
                                       : arena_printf(arena, "No size is recommended: %s.", advice->chance));
    if (!advice->choice) return true;
    report_section(report, "How many GPUs");
    report_fact(report, "Take", advice->choice, advice->chance);
    if (advice->weakest) report_fact(report, "Weakest assumption", "", advice->weakest);
    if (advice->measure) report_fact(report, "Measure first", "", advice->measure);
    report_text(
        report,
        arena_printf(
            arena,
            "The tables below have each size that was simulated. Those \"enough in the mean\" meet the goal "
            "in the mean of the runs; with those of \"mean, 95 %% sure\" the 90 %% range of that mean meets it, "
            "too; with those recommended %.0f %% of single runs do.",
            100 * answer->study->goal.chance));
    return true;
}

static void add_queue(Report *report, Arena *arena, const QueueAnswer *answer, Date today) {
    const Record *record = answer->record;
    Figures figures;
    bool has_waits = find_figures(record, &figures);
    bool leads =
        add_size(report, arena, answer) || (has_waits && add_queue_advice(report, arena, answer->study, &figures));
    if (has_waits && !leads) report_lead(report, lead_of_waits(arena, &figures));
    if (has_waits && figures.table->row_count > 1) {
        report_section(report, "Who waits how long");
        if (leads) report_text(report, lead_of_waits(arena, &figures));
        report_waits(report, arena, &figures);
    }
    record_on_page(arena, report, &(RecordPage){.record = record, .today = today});
}

// ---- The command.

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
        add_run(report, asking->arena, answer->studies[i], answer->records[i], today);
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
    add_queue(report, asking->arena, answer, day_of(writing->date, asking->problems));
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

// Reads the page's path and date; removes options that the reported command does not have.
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
    bool is_of_a_day; // dates and old prices are counted from it: default today
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

// For `lockstep report plan.json -o page.html`: repeats the file's question. False after a problem.
static bool words_of_answer(Arena *arena, int *argc, char ***argv, Problems *problems) {
    const Json *answer;
    const Typed typed = {(const char *const *)(*argv + 2), *argc - 2};
    const LastQuestion *question = last_question_of_answer(arena, (*argv)[1], "command", &typed, &answer, problems);
    if (!question) return false;
    if (!reported_called(question->command)) {
        problem_add(problems, (Where){(*argv)[1], 0}, "this is an answer of lockstep %.40s, of which there is no page",
                    question->command);
        return problem_hint(problems, "a report is of run, plan, goodput, queue or lesson");
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
