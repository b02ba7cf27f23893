// A shared cluster as a page: who waits how long under which policy, and how well it is used over time.
#include "scenarios/report/report_queue.h"

#include <string.h>

#include "results/answer/as.h"
#include "results/answer/record_answer.h"
#include "scenarios/explain/command_explain.h"
#include "sim/base/text.h"
#include "sim/data/recommendation.h"

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

static void tell_waits(Report *report, Arena *arena, const Figures *figures) {
    StackRow *rows = ARENA_ARRAY(arena, StackRow, figures->table->row_count);
    for (int i = 0; i < figures->table->row_count; i++) {
        NamedValue *part = ARENA_NEW(arena, NamedValue);
        double mean = cell_at(figures, i, figures->mean)->number;
        *part = (NamedValue){"wait", "mean wait", mean / 3600};
        rows[i] = (StackRow){cell_at(figures, i, figures->policy)->text, wait_text(arena, mean), part, 1};
    }
    Chart *chart = ARENA_NEW(arena, Chart);
    stack_chart(arena, rows, figures->table->row_count, chart);
    if (chart->bars.bar_count == 0) return; // nobody waits
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

// A queue that grows costs more than its jobs: of a very long answer fewer jobs are explained, and the page says so.
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

// Without it the page has the answer alone: nobody waits, several sizes, or beyond the watch's limits.
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

// How many GPUs, how surely, and what that stands on.
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

void report_add_queue(Report *report, Arena *arena, const QueueAnswer *answer, Date today) {
    const Record *record = answer->record;
    Figures figures;
    bool has_waits = find_figures(record, &figures);
    bool leads =
        add_size(report, arena, answer) || (has_waits && add_queue_advice(report, arena, answer->study, &figures));
    if (has_waits && !leads) report_lead(report, lead_of_waits(arena, &figures));
    if (has_waits && figures.table->row_count > 1) {
        report_section(report, "Who waits how long");
        if (leads) report_text(report, lead_of_waits(arena, &figures));
        tell_waits(report, arena, &figures);
    }
    record_on_page(arena, report, &(RecordPage){.record = record, .today = today});
}
