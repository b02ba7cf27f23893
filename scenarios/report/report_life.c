// A job's weeks as a page: how much of them is training, what takes the rest, week by week, and what would give it
// back. A shared cluster as a page: who waits how long under which policy, and how well it is used over time.
#include "scenarios/report/report_life.h"

#include <string.h>

#include "scenarios/explain/explain_queue.h"
#include "scenarios/questions/goodput.h"
#include "sim/quantity.h"
#include "sim/recommendation.h"
#include "sim/text.h"

#define DAY_S 86400.0
#define SHOWN 0.0005 // of all time: less is 0.0 %

static const char *span(Arena *arena, double seconds) {
    return quantity_format(seconds, QUANTITY_TIME, arena_alloc(arena, 64), 64);
}

// ---- The answer.

const char *goodput_report_title(Arena *arena, const GoodputExplained *answer) {
    const char *model = answer->asked->model;
    return arena_printf(arena, "Goodput: %s%s%s", model ? model : "", model ? ", " : "", answer->record->title);
}

static const char *range_text(Arena *arena, const char *from, const char *to) {
    return arena_printf(arena, "90 %% of the runs %s to %s", from, to);
}

static void tell_advice(Report *report, const GoodputExplained *answer) {
    Arena *arena = answer->arena;
    const GoodputAdvice *advice = &answer->advice;
    const char *now = text_percent(arena, answer->study->goodput.mean);
    if (!advice->title) {
        report_fact(report, "Change first", "nothing", "no setting that was tried gives time back beyond chance");
        return;
    }
    report_fact(report, "Change first", arena_printf(arena, "%s → %s", now, advice->becomes),
                arena_printf(arena, "goodput with %s", advice->option));
    report_fact(report, answer->asked->spec.work_s > 0 ? "Saved" : "Given back", advice->given_back, advice->worth);
}

// How often one may be written is a matter of how long storage takes over it.
static void tell_checkpoint(Report *report, const GoodputExplained *answer) {
    Arena *arena = answer->arena;
    const GoodputAsked *asked = answer->asked;
    if (!asked->held || asked->bytes <= 0) return;
    CheckpointPlan beside =
        checkpoint_plan(CHECKPOINT_ASYNC, asked->bytes, asked->spec.nodes, asked->node, asked->gpu, asked->held);
    report_fact(report, "Size of a checkpoint", text_bytes(arena, asked->bytes),
                arena_printf(arena, "%s%s%d x %s takes it in %s, while training goes on",
                             asked->model ? asked->model : "", asked->model ? "; " : "", asked->storage_units,
                             asked->storage->name, span(arena, beside.write_s)));
}

static void tell_facts(Report *report, const GoodputExplained *answer) {
    Arena *arena = answer->arena;
    const LifeStudy *study = answer->study;
    const GoodputAsked *asked = answer->asked;
    const CheckpointPlan *plan = &asked->spec.checkpoint;
    tell_advice(report, answer);
    report_fact(
        report, "Goodput now", text_percent(arena, study->goodput.mean),
        arena_printf(
            arena, "mean of %s; half of them above %s, %s",
            study->runs == 1 ? "one run" : arena_printf(arena, "%s runs", text_count(arena, study->runs, true)),
            text_percent(arena, study->goodput.p50),
            range_text(arena, text_percent(arena, study->goodput.p5), text_percent(arena, study->goodput.p95))));
    if (asked->spec.work_s > 0)
        report_fact(report, "Done after", text_days(arena, study->days.mean),
                    range_text(arena, text_days(arena, study->days.p5), text_days(arena, study->days.p95)));
    report_fact(report, "Failures that stop it", text_figures(arena, study->stops.mean, 3),
                study->mttf_s > 0 ? arena_printf(arena, "in a run, one in %s", span(arena, study->mttf_s)) : "");
    report_fact(report, "Cluster", arena_printf(arena, "%s GPUs", text_count(arena, asked->gpus, true)),
                arena_printf(arena, "%d %s, %d spare node%s", asked->spec.nodes, asked->node->name, asked->spec.spares,
                             asked->spec.spares == 1 ? "" : "s"));
    report_fact(report, "Checkpoints", checkpoint_mode_names[plan->mode],
                arena_printf(arena, "every %s, training stands still %s", span(arena, plan->every_s),
                             span(arena, plan->stall_s)));
    tell_checkpoint(report, answer);
}

static void tell_doubts(Report *report, const GoodputExplained *answer) {
    const GoodputAsked *asked = answer->asked;
    Arena *arena = answer->arena;
    if (asked->bytes <= 0)
        report_caution(report, "How long a checkpoint takes is assumed: --model and --storage say how large it is and "
                               "where it goes.");
    if (asked->spec.fleet_spread > 0)
        report_caution(report, arena_printf(arena,
                                            "The failure rates are those of another fleet (%s), which the ranges "
                                            "hold; --node-mtbf says your own.",
                                            asked->rates->title));
    if (answer->study->unfinished > 0)
        report_caution(report, arena_printf(arena, "%s of %s runs had not finished after %s and count as that long.",
                                            text_count(arena, answer->study->unfinished, true),
                                            text_count(arena, answer->study->runs, true),
                                            text_days(arena, answer->study->days.max)));
}

// ---- What the time goes to, in the mean and week by week.

// The largest first.
static int next_share(const double *share, unsigned taken) {
    int next = -1;
    for (int i = LIFE_CHECKPOINT; i < LIFE_TIME_COUNT; i++)
        if (!(taken >> i & 1) && share[i] > 0 && (next < 0 || share[i] > share[next])) next = i;
    return next;
}

static StackRow share_row(Arena *arena, const char *title, double share) {
    NamedValue *part = ARENA_NEW(arena, NamedValue);
    *part = (NamedValue){"lost", "lost", 100 * share};
    return (StackRow){title, text_percent(arena, share), part, 1};
}

static void tell_shares(Report *report, const GoodputExplained *answer) {
    Arena *arena = answer->arena;
    const double *share = answer->study->share;
    StackRow *rows = ARENA_ARRAY(arena, StackRow, LIFE_TIME_COUNT + 1);
    int count = 0;
    double rest = 0;
    unsigned taken = 0;
    for (int i; (i = next_share(share, taken)) >= 0; taken |= 1U << i)
        if (share[i] >= SHOWN)
            rows[count++] = share_row(arena, life_time_titles[i], share[i]);
        else
            rest += share[i];
    if (rest >= SHOWN) rows[count++] = share_row(arena, "all else", rest);
    if (count == 0) return;
    BarChart *chart = ARENA_NEW(arena, BarChart);
    stack_chart(arena, rows, count, chart);
    chart->legend_count = 0; // the rows say it
    chart->title = "Time that is not training, of the hours of all runs";
    chart->x_title = "% of all time";
    report_bars(report, chart, "What is left to one hundred is training.");
}

// By how long a row of the calendar is.
static const char *calendar_heading(const LifeCalendar *calendar) {
    double width = seconds_from_ticks(calendar->width, TICKS_PER_SECOND_LIFE);
    if (width == 3600) return "Hour by hour";
    if (width == DAY_S) return "Day by day";
    if (width == 7 * DAY_S) return "Week by week";
    return width < DAY_S ? "The days of a run" : "The weeks of a run";
}

static void tell_calendar(Report *report, const GoodputExplained *answer) {
    Arena *arena = answer->arena;
    if (answer->study->runs == 0) return;
    LifeCalendar calendar = life_calendar(arena, &answer->asked->spec, answer->study, answer->asked->seed);
    BarChart *chart = ARENA_NEW(arena, BarChart);
    calendar_chart(arena, &calendar, chart);
    report_section(report, calendar_heading(&calendar));
    report_text(report,
                arena_printf(arena,
                             "One of the %s runs, number %d: half of them have more training, half less. It has %s, "
                             "where the mean of all is %s.",
                             text_count(arena, answer->study->runs, true), calendar.life + 1,
                             text_percent(arena, answer->study->run_goodput[calendar.life]),
                             text_percent(arena, answer->study->goodput.mean)));
    report_bars(
        report, chart,
        "Behind each row: its share of training, and how often failures stopped it. Stops that are planned and slow "
        "nodes that are taken out are not counted there, but starting again after them is drawn. Training "
        "that a failure took is shown where it was done.");
}

static void tell_rates(Report *report, const GoodputExplained *answer) {
    const FaultRates *rates = answer->asked->rates;
    Assumption *assumptions = ARENA_ARRAY(answer->arena, Assumption, rates->fact_count + 1);
    for (int i = 0; i < rates->fact_count; i++) {
        const Fact *fact = &rates->facts[i];
        assumptions[i] = (Assumption){.name = fact->name,
                                      .unit = fact->unit,
                                      .source = fact->source,
                                      .kind = fact_kind_name(fact->kind),
                                      .value = fact->value};
    }
    Record record = {.assumptions = assumptions, .assumption_count = rates->fact_count};
    report_add_assumptions(report, &record);
}

static const RecordTable *table_called(const Record *record, const char *name) {
    for (int i = 0; i < record->table_count; i++)
        if (strcmp(record->tables[i].name, name) == 0) return &record->tables[i];
    return NULL;
}

static void tell_tables(Report *report, const Record *record, const char *first, const char *second) {
    const char *const names[] = {first, second};
    for (int i = 0; i < 2; i++) {
        const RecordTable *table = table_called(record, names[i]);
        if (table) report_add_tables(report, table, 1);
    }
}

void report_add_goodput(Report *report, const GoodputExplained *answer) {
    const Record *record = answer->record;
    if (record->note_count > 0) report_lead(report, record->notes[0]);
    report_section(report, "The answer");
    tell_facts(report, answer);
    tell_doubts(report, answer);
    report_section(report, "What else would help, and what would not");
    for (int i = answer->changes_from; i < record->note_count; i++) report_text(report, record->notes[i]);
    tell_tables(report, record, "settings", "machines");
    report_section(report, "What takes the time that is not training");
    for (int i = 1; i < answer->changes_from; i++) report_text(report, record->notes[i]);
    tell_shares(report, answer);
    tell_tables(report, record, "lost", "stops");
    tell_calendar(report, answer);
    tell_rates(report, answer);
}

// ---- A shared cluster.

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
    BarChart *chart = ARENA_NEW(arena, BarChart);
    stack_chart(arena, rows, figures->table->row_count, chart);
    if (chart->bar_count == 0) return; // nobody waits
    chart->legend_count = 0;
    chart->title = "Mean wait by policy";
    chart->x_title = "hours";
    report_bars(report, chart, "The shorter the better; the table below has the range, and waits by size of job.");
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

static void tell_queue_advice(Report *report, Arena *arena, const QueueExplained *told, const char *shorter) {
    const QueueAdvice *advice = &told->advice;
    const Record *record = told->record;
    report_lead(report, record->notes[0]);
    report_section(report, "What to change first");
    if (advice->title)
        report_fact(report, "Change first", arena_printf(arena, "%s → %s", told->wait, advice->becomes),
                    arena_printf(arena, "mean wait with %s: %s", *advice->option ? advice->option : advice->title,
                                 advice->less));
    else
        report_fact(report, "Change first", "no rule", "of the scheduler: none that was tried surely helps alone");
    if (advice->chance) report_fact(report, "Chance", advice->chance, "that the mean wait is shorter then");
    if (advice->where)
        report_fact(report, arena_printf(arena, "If %s", advice->where),
                    arena_printf(arena, "%s → %s", told->wait, advice->where_becomes),
                    arena_printf(arena, "mean wait with %s", advice->where_less));
    if (advice->larger)
        report_fact(report, "Or more GPUs", arena_printf(arena, "%s → %s", told->wait, advice->larger_becomes),
                    arena_printf(arena, "mean wait with %s: %s", advice->larger, advice->larger_less));
    report_fact(report, "Mean wait now", told->wait, arena_printf(arena, "under %s", told->policy));
    if (shorter) report_caution(report, shorter);
    for (int i = told->changes_from; i < record->note_count; i++) report_text(report, record->notes[i]);
    tell_tables(report, record, "settings", "machines");
    report_section(report, "Why jobs wait");
    for (int i = 1; i < told->changes_from; i++) report_text(report, record->notes[i]);
    tell_tables(report, record, "waits", "waits_by_size");
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
    QueueExplained told = explain_queue_study(arena, explained, policy);
    if (!told.record || told.record->table_count == 0) return false;
    const char *shorter =
        explained == study
            ? NULL
            : arena_printf(
                  arena,
                  "Two samples stand on this page. What to change and why jobs wait is of %s jobs a run; \"Who "
                  "waits how long\" and what follows is of %s, and where waiting grows with the length of a run "
                  "its waits are longer.",
                  text_count(arena, explained->demand.jobs, true), text_count(arena, study->demand.jobs, true));
    tell_queue_advice(report, arena, &told, shorter);
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
        arena_printf(arena,
                     "The tables below have each size that was simulated. The fewest GPUs meet the goal in the "
                     "mean of the runs; with those of \"mean, 95 %% sure\" the 90 %% range of that mean meets it, "
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
    report_add_record(report, record, today);
}
