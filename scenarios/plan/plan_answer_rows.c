// The plans of an answer: each cluster with its best layout, displayed as tables and a chart of cost against time, in
// JSON figure by figure; and the details of the best plan.
#include <math.h>
#include <string.h>

#include "models/workload/job/schedule.h"
#include "results/chart/chart.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_words.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define FIRST_PLANS 5 // on the first screen
#define GIB 1073741824.0
#define CLUSTER_COLUMNS 6 // of each table

// ---- One plan, figure by figure.

static void add_layout(Answer *answer, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    const struct {
        const char *key;
        double value;
    } members[] = {{"tp", point->tp},
                   {"pp", point->pp},
                   {"vpp", point->vpp},
                   {"cp", point->cp},
                   {"ep", point->ep},
                   {"dp", point->dp},
                   {"zero", point->zero},
                   {"micro_batch", point->micro_batch},
                   {"global_batch", point->global_batch}};
    answer_open(answer, "layout", NULL);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        answer_number(answer, members[i].key, NULL, AS_NUMBER, members[i].value);
    answer_text(answer, "recompute", NULL, recompute_name(row->training.recompute));
    answer_text(answer, "schedule", NULL, schedule_name(row->training.schedule));
    answer_bool(answer, "sequence_parallel", NULL, row->training.layout.sequence_parallel);
    answer_close(answer);
}

static void add_step(Answer *answer, const RecordPoint *point) {
    answer_range(answer, "step_time_s", "Time of a step", AS_SECONDS,
                 (AnswerRange){NAN, point->step_p5_s, point->step_p50_s, point->step_p95_s});
    if (point->tokens_per_s > 0)
        answer_number(answer, "tokens_per_s", "Tokens a second", AS_COUNT, point->tokens_per_s);
    answer_number(answer, "samples_per_s", point->tokens_per_s > 0 ? NULL : "Samples a second", AS_COUNT,
                  point->samples_per_s);
    answer_number(answer, "mfu", "MFU", AS_SHARE, point->mfu);
    answer_note(answer, "model FLOPs, of the GPUs' dense peak");
    answer_number(answer, "hfu", NULL, AS_SHARE, point->hfu);
    answer_number(answer, "scaling_efficiency", NULL, AS_SHARE, point->efficiency_vs_ideal);
    answer_number(answer, "steps", "Steps", AS_COUNT, point->steps);
}

// As drawn, but for when the machines are there, which is no part of the run.
static PlanRange90 range_of_days(const PlanStudy *plan, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    if (row->chance.known && !(plan->request->start_spread_s > 0)) return row->chance.days;
    if (isfinite(point->days_p5)) return (PlanRange90){.p5 = point->days_p5, .p95 = point->days_p95};
    return (PlanRange90){.p5 = point->days * point->step_p5_s / point->step_p50_s,
                         .p95 = point->days * point->step_p95_s / point->step_p50_s};
}

static void add_days(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    Arena *arena = plan->arena;
    const RecordPoint *point = &row->point;
    const PlanRange90 *days = &row->chance.days;
    bool waits = plan->request->start_s > 0 || plan->request->start_spread_s > 0;
    answer_fact(answer, "days", "The run takes",
                answer_shown(AS_NUMBER, point->days, plan_length_text(arena, point->days)));
    if (row->chance.known)
        answer_note(answer, "as planned; %snine times in ten %s to %s%s", waits ? "done, " : "",
                    plan_length_text(arena, days->p5), plan_length_text(arena, days->p95), waits ? " from today" : "");
    if (!(point->goodput > 0)) return;
    answer_number(answer, "goodput", "Goodput", AS_SHARE, point->goodput);
    answer_note(answer, "of the time is training; %s and checkpoints are counted in days and cost",
                plan->request->faults ? "failures" : "nodes taken back");
    answer_number(answer, "days_p5", NULL, AS_DAYS, point->days_p5);
    answer_number(answer, "days_p95", NULL, AS_DAYS, point->days_p95);
}

static void add_cost(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    static const AnswerColumn columns[] = {{"name", NULL, AS_TEXT, 0}, {"date", NULL, AS_TEXT, 0}};
    const RecordPoint *point = &row->point;
    const PlanRange90 *cost = &row->chance.cost;
    bool priced = plan_is_priced(row);
    answer_open(answer, "cost", NULL);
    answer_fact(answer, "amount", priced ? "and costs" : NULL, plan_money_value(plan, point->cost_per_run));
    if (row->chance.known)
        answer_note(answer, "as planned; nine times in ten %s to %s", plan_money(plan, cost->p5),
                    plan_money(plan, cost->p95));
    answer_text(answer, "currency", NULL, point->currency);
    answer_table(answer, "prices", NULL, columns, 2);
    for (int i = 0; i < point->price_count; i++) ANSWER_ROW(answer, point->prices[i].name, point->prices[i].date);
    answer_close(answer);
}

static void add_named(Answer *answer, const char *key, const char *heading, AnswerUnit unit, const NamedValue *values,
                      int count) {
    answer_open(answer, key, heading);
    for (int i = 0; i < count; i++)
        answer_number(answer, values[i].name, values[i].value > 0 ? values[i].title : NULL, unit, values[i].value);
    answer_close(answer);
}

static void add_memory(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    answer_open(answer, "memory_bytes", NULL);
    answer_fact(answer, "peak", "Memory per GPU",
                answer_shown(AS_BYTES, point->memory_peak_bytes,
                             text_bytes_of(plan->arena, point->memory_peak_bytes, point->memory_capacity_bytes)));
    answer_number(answer, "capacity", NULL, AS_BYTES, point->memory_capacity_bytes);
    answer_detail(answer, FOR_PROGRAMS);
    add_named(answer, "by_class", NULL, AS_BYTES, point->memory, point->memory_count);
    answer_close(answer);
    answer_fact(
        answer, "chance_to_fit", "Fits in memory",
        answer_shown(AS_SHARE, 1 - point->chance_to_run_out, plan_percent(plan->arena, 1 - point->chance_to_run_out)));
}

static void add_chance(Answer *answer, const PlanStudy *plan, const char *key, const char *title, double share,
                       bool is_asked, const char *limit) {
    double asked = is_asked ? plan->request->confidence : 0;
    answer_fact(answer, key, title, answer_shown(AS_SHARE, share, plan_percent_beside(plan->arena, share, asked)));
    answer_note(answer, "%s%s%s", limit, *limit && asked > 0 ? "; " : "",
                asked > 0 ? arena_printf(plan->arena, "asked for: %s", plan_percent(plan->arena, asked)) : "");
}

static void add_chances(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    const PlanRequest *request = plan->request;
    const PlanChance *chance = &row->chance;
    bool date = request->deadline_s > 0, budget = request->budget > 0;
    if (!chance->known) return;
    answer_open(answer, "chance", NULL);
    if (date)
        add_chance(answer, plan, "by_date", "Chance to keep the date", chance->by_date, !budget,
                   plan_human(plan->arena, request->deadline_s, QUANTITY_TIME));
    if (budget)
        add_chance(answer, plan, "in_budget", "Chance to keep the budget", chance->in_budget, !date,
                   plan_money(plan, request->budget));
    add_chance(answer, plan, "both", date && budget ? "Chance to keep both" : NULL, chance->both, true, "");
    answer_close(answer);
    answer_range(answer, "days_range", NULL, AS_DAYS,
                 (AnswerRange){NAN, chance->days.p5, chance->days.p50, chance->days.p95});
    answer_range(answer, "cost_range", NULL, AS_MONEY,
                 (AnswerRange){NAN, chance->cost.p5, chance->cost.p50, chance->cost.p95});
}

static void add_rates(Answer *answer, const PlanStudy *plan, const RecordPoint *point) {
    const BatchLaw *law = &plan->request->law;
    if (!(law->learning_rate > 0)) return;
    double linear = learning_rate_at(law, RATE_LINEAR, point->global_batch),
           root = learning_rate_at(law, RATE_SQUARE_ROOT, point->global_batch);
    answer_open(answer, "learning_rate", NULL);
    answer_number(answer, "linear", "Learning rate", AS_NUMBER, linear);
    answer_note(answer, "at %g by the linear rule, %.3g by the square-root rule (%.3g at %g)", point->global_batch,
                root, law->learning_rate, law->reference_batch);
    answer_number(answer, "square_root", NULL, AS_NUMBER, root);
    answer_close(answer);
}

static void add_run_line(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    int count;
    const char *const *words = plan_run_words(plan, row, &count);
    answer_open_list(answer, "run_command", NULL);
    answer_text(answer, NULL, NULL, "lockstep");
    for (int i = 0; i < count; i++) answer_text(answer, NULL, NULL, words[i]);
    answer_close(answer);
}

static void add_paid(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    answer_text(answer, "provider", NULL, plan_provider_of(plan->request, row));
    answer_text(answer, "terms", NULL, plan_terms_name(plan->request, row));
    if (row->spares_cost > 0) answer_number(answer, "spares_cost", NULL, AS_MONEY, row->spares_cost);
    if (row->storage_cost > 0) answer_number(answer, "storage_cost", NULL, AS_MONEY, row->storage_cost);
    if (!(row->point.term_days > 0)) return;
    answer_number(answer, "term_days", NULL, AS_NUMBER, row->point.term_days);
    answer_number(answer, "unused_cost", NULL, AS_MONEY, row->point.unused_cost);
}

static void add_row(Answer *answer, const PlanStudy *plan, const PlanRow *row) {
    Arena *arena = plan->arena;
    const RecordPoint *point = &row->point;
    answer_fact(answer, "gpus", "Cluster", answer_shown(AS_WHOLE, row->gpus, text_count(arena, row->gpus, true)));
    answer_note(answer, "GPUs of %s%s%s", row->node->name, row->fabric ? ", " : "",
                row->fabric ? row->fabric->name : "");
    answer_text(answer, "node", NULL, row->node->name);
    answer_text(answer, "fabric", NULL, row->fabric ? row->fabric->name : NULL);
    answer_bool(answer, "ran", NULL, point->ran);
    answer_number(answer, "oversubscription", NULL, AS_NUMBER, row->oversubscription);
    answer_bool(answer, "owned", NULL, row->owned);
    if (row->point.capital > 0) answer_number(answer, "capital", NULL, AS_MONEY, row->point.capital);
    add_paid(answer, plan, row);
    const char *misses = plan_verdict(arena, plan->request, row);
    if (*misses) answer_text(answer, "misses", NULL, misses);
    if (!point->ran) return;
    answer_bool(answer, "pareto", NULL, row->on_front);
    if (isfinite(point->break_even_utilisation))
        answer_number(answer, "break_even_utilisation", NULL, AS_SHARE, point->break_even_utilisation);
    add_days(answer, plan, row);
    add_cost(answer, plan, row);
    add_chances(answer, plan, row);
    add_layout(answer, row);
    add_step(answer, point);
    add_memory(answer, plan, row);
    answer_number(answer, "energy_kwh", "Energy", AS_KWH, point->energy_kwh);
    if (point->carbon_kg > 0) answer_note(answer, "%s CO2e", text_mass(arena, point->carbon_kg));
    answer_number(answer, "carbon_kg", NULL, AS_KILOGRAMS, point->carbon_kg);
    add_named(answer, "exposed_s", "Where a step's time goes, the mean over all GPUs", AS_SECONDS, point->exposed,
              point->exposed_count);
    add_rates(answer, plan, point);
    add_run_line(answer, plan, row);
}

void plan_answer_chosen(Answer *answer, const PlanStudy *plan) {
    if (plan->chosen) add_row(answer, plan, &plan->result->rows[0]);
}

// ---- Displayed tables: degrees that no plan uses have no column.

static const struct Degree {
    const char *title;
    size_t offset; // of RecordPoint
} degrees[] = {
    {"TP", offsetof(RecordPoint, tp)}, {"PP", offsetof(RecordPoint, pp)}, {"VP", offsetof(RecordPoint, vpp)},
    {"CP", offsetof(RecordPoint, cp)}, {"EP", offsetof(RecordPoint, ep)}, {"DP", offsetof(RecordPoint, dp)},
};
enum { DEGREES = sizeof degrees / sizeof *degrees };

static int degree_of(const RecordPoint *point, int d) {
    return *(const int *)(const void *)((const char *)point + degrees[d].offset);
}

typedef struct Uses { // what any plan has
    bool degree[DEGREES], uneven, split, hosted, zero, cost;
} Uses;

static Uses uses_of(const PlanResult *result) {
    Uses uses = {.cost = false};
    for (int i = 0; i < result->row_count; i++) {
        const PlanRow *row = &result->rows[i];
        uses.uneven = uses.uneven || row->oversubscription > 1;
        if (!row->point.ran) continue;
        uses.hosted = uses.hosted || row->training.offload_optimizer != OFFLOAD_GPU;
        uses.split = uses.split || schedule_splits_backward(row->training.schedule);
        uses.zero = uses.zero || row->point.zero > 0;
        uses.cost = uses.cost || plan_is_priced(row);
        for (int d = 0; d < DEGREES; d++) uses.degree[d] = uses.degree[d] || degree_of(&row->point, d) > 1;
    }
    return uses;
}

static AnswerValue plain(Arena *arena, double value) {
    return answer_shown(AS_NUMBER, value, arena_printf(arena, "%g", value));
}

static AnswerValue if_used(bool used, AnswerValue value) { return used ? value : answer_of_nothing(); }

typedef struct Columns {
    AnswerColumn *items;
    int count, room;
} Columns;

static void column(Arena *arena, Columns *columns, const char *title, AnswerUnit unit, int drop) {
    LIST_PUSH(arena, columns, ((AnswerColumn){NULL, title, unit, drop}));
}

// A column in which rows differ is never left out.
static int drop_unless(bool tells, int drop) { return tells ? 0 : drop; }

static void cluster_differences(const PlanResult *result, bool *nodes, bool *fabrics) {
    *nodes = *fabrics = false;
    for (int i = 0; i < result->row_count; i++)
        for (int k = 0; k < i; k++) {
            const PlanRow *a = &result->rows[i], *b = &result->rows[k];
            *nodes = *nodes || a->node != b->node;
            *fabrics =
                *fabrics || (a->node == b->node && a->fabric && b->fabric && !plan_same_fabric(a->fabric, b->fabric));
        }
}

static void cluster_columns(const PlanStudy *plan, Columns *columns) {
    Arena *arena = plan->arena;
    bool nodes, fabrics;
    cluster_differences(plan->result, &nodes, &fabrics);
    column(arena, columns, "GPUs", AS_COUNT, 0);
    column(arena, columns, "node", AS_TEXT, drop_unless(nodes, 9));
    column(arena, columns, "fabric", AS_TEXT, drop_unless(fabrics, 8));
    column(arena, columns, "down:up", AS_NUMBER, 0);
    column(arena, columns, "paid", AS_TEXT, 0);
    column(arena, columns, "GBS", AS_NUMBER, 0);
}

static void cluster_cells(Answer *answer, const PlanStudy *plan, const Uses *uses, const PlanRow *row) {
    ANSWER_CELLS(answer, answer_of(AS_WHOLE, row->gpus), row->node->name,
                 row->fabric ? answer_of_text(row->fabric->name) : answer_of_nothing(),
                 if_used(uses->uneven, answer_of(AS_NUMBER, row->oversubscription)),
                 plan_paid_text(plan->arena, plan->request, row),
                 if_used(plan->request->batch_count > 1, plain(plan->arena, row->training.global_batch)));
}

static const Columns *plan_columns(const PlanStudy *plan) {
    Columns *columns = ARENA_NEW(plan->arena, Columns);
    Arena *arena = plan->arena;
    cluster_columns(plan, columns);
    for (int d = 0; d < DEGREES; d++) column(arena, columns, degrees[d].title, AS_WHOLE, d == DEGREES - 1 ? 4 : 3);
    column(arena, columns, "ZeRO", AS_WHOLE, 5);
    column(arena, columns, "MBS", AS_NUMBER, 5);
    column(arena, columns, "MFU", AS_PERCENT, 2);
    column(arena, columns, "GiB/GPU", AS_NUMBER, 7);
    column(arena, columns, plan_unit(plan).name, AS_NUMBER, 0);
    column(arena, columns, "cost", AS_MONEY, 0);
    column(arena, columns, "chance", AS_SHARE, 1);
    column(arena, columns, "why not", AS_TEXT, BELOW_ROW);
    return columns;
}

static void plan_cells(Answer *answer, const PlanStudy *plan, const Uses *uses, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    bool wishes = plan_has_wishes(plan->request) && row->chance.known;
    for (int d = 0; d < DEGREES; d++)
        answer_cell(answer, if_used(uses->degree[d], answer_of(AS_WHOLE, degree_of(point, d))));
    ANSWER_CELLS(answer, if_used(uses->zero, answer_of(AS_WHOLE, point->zero)), plain(plan->arena, point->micro_batch),
                 answer_of(AS_PERCENT, point->mfu),
                 answer_shown(AS_NUMBER, point->memory_peak_bytes / GIB,
                              arena_printf(plan->arena, "%.0f/%.0f", point->memory_peak_bytes / GIB,
                                           point->memory_capacity_bytes / GIB)),
                 plan_days_value(plan, point->days), if_used(uses->cost, plan_money_value(plan, point->cost_per_run)),
                 if_used(wishes, plan_chance_value(plan, row->chance.both)), answer_of_nothing());
}

static void add_plans(Answer *answer, const PlanStudy *plan, const Uses *uses) {
    const Columns *columns = plan_columns(plan);
    answer_table(answer, NULL, NULL, columns->items, columns->count);
    for (int i = 0; i < plan->result->row_count; i++) {
        const PlanRow *row = &plan->result->rows[i];
        cluster_cells(answer, plan, uses, row);
        if (row->point.ran) {
            plan_cells(answer, plan, uses, row);
        } else {
            for (int c = CLUSTER_COLUMNS; c < columns->count - 1; c++) answer_cell(answer, answer_of_nothing());
            answer_cell(answer, answer_of_text(row->point.why_not));
        }
        if (i == plan->result->chosen) answer_mark(answer);
    }
    if (!plan->all_rows) answer_first_rows(answer, FIRST_PLANS);
}

// ---- The same plans, further.

static const char *place_of(const PlanStudy *plan, int index) {
    const PlanRow *row = &plan->result->rows[index];
    const char *place = index == plan->result->knee ? "knee" : row->on_front ? "front" : "";
    const char *verdict = plan_verdict(plan->arena, plan->request, row);
    return arena_printf(plan->arena, "%s%s%s", place, *place && *verdict ? ", " : "", verdict);
}

static const Columns *more_columns(const PlanStudy *plan) {
    Columns *columns = ARENA_NEW(plan->arena, Columns);
    Arena *arena = plan->arena;
    cluster_columns(plan, columns);
    column(arena, columns, "batch", AS_NUMBER, 0);
    column(arena, columns, "schedule", AS_TEXT, 0);
    column(arena, columns, "state", AS_TEXT, 0);
    column(arena, columns, "again", AS_TEXT, 0);
    column(arena, columns, counts_tokens(plan->request->training.model) ? "tok/s/GPU" : "samples/s", AS_COUNT, 0);
    column(arena, columns, "90 % range", AS_TEXT, 0);
    column(arena, columns, "MWh", AS_NUMBER, 0);
    column(arena, columns, "by date", AS_SHARE, 0);
    column(arena, columns, "in budget", AS_SHARE, 0);
    column(arena, columns, "note", AS_TEXT, BELOW_ROW);
    return columns;
}

static void more_cells(Answer *answer, const PlanStudy *plan, const Uses *uses, const PlanRow *row) {
    Arena *arena = plan->arena;
    const RecordPoint *point = &row->point;
    const PlanRequest *request = plan->request;
    bool again = row->training.recompute != RECOMPUTE_NONE, tokens = counts_tokens(request->training.model);
    PlanRange90 range = range_of_days(plan, row);
    double per_day = plan_unit(plan).per_day;
    ANSWER_CELLS(answer, if_used(request->batch_count <= 1, plain(arena, point->global_batch)),
                 if_used(uses->split && point->pp > 1, answer_of_text(schedule_name(row->training.schedule))),
                 if_used(uses->hosted, answer_of_text(offload_names[row->training.offload_optimizer])),
                 if_used(again, answer_of_text(recompute_name(row->training.recompute))),
                 answer_of(AS_COUNT, tokens ? point->tokens_per_s / row->gpus : point->samples_per_s),
                 arena_printf(arena, "%s … %s %s", plan_about(arena, range.p5 * per_day),
                              plan_about(arena, range.p95 * per_day), plan_unit(plan).name));
    answer_cell(answer,
                answer_shown(AS_NUMBER, point->energy_kwh / 1000, plan_number(arena, point->energy_kwh / 1000)));
    answer_cell(answer, if_used(request->deadline_s > 0,
                                answer_shown(AS_SHARE, row->chance.by_date, plan_percent(arena, row->chance.by_date))));
    answer_cell(answer,
                if_used(request->budget > 0 && plan_is_priced(row),
                        answer_shown(AS_SHARE, row->chance.in_budget, plan_percent(arena, row->chance.in_budget))));
}

static void add_more(Answer *answer, const PlanStudy *plan, const Uses *uses) {
    const Columns *columns = more_columns(plan);
    answer_table(answer, NULL, "The same plans, further", columns->items, columns->count);
    for (int i = 0; i < plan->result->row_count; i++) {
        const PlanRow *row = &plan->result->rows[i];
        if (!row->point.ran) continue;
        cluster_cells(answer, plan, uses, row);
        more_cells(answer, plan, uses, row);
        answer_cell(answer, answer_of_text(place_of(plan, i)));
    }
    answer_note(answer, "Front: no plan is better in one of cost, days and energy and as good in the others; knee: of "
                        "these the nearest to the best of each. Layout: tensor (TP), pipeline (PP, VP chunks), context "
                        "(CP), expert (EP) and data parallel (DP) degrees, samples of a micro-batch (MBS) and of the "
                        "global batch (GBS); again: what backward computes again.");
}

// ---- Cost against time.

static void add_front(Answer *answer, const PlanStudy *plan) {
    Arena *arena = plan->arena;
    const PlanRequest *request = plan->request;
    PlanUnit unit = plan_unit(plan);
    ParetoPoint *points = ARENA_ARRAY(arena, ParetoPoint, plan->result->row_count + 1);
    int count = 0;
    for (int i = 0; i < plan->result->row_count; i++) {
        const PlanRow *row = &plan->result->rows[i];
        bool known = row->chance.known;
        if (!plan_is_priced(row) || !(row->point.days > 0) || !(row->point.cost_per_run > 0)) continue;
        points[count++] = (ParetoPoint){.x = row->point.days * unit.per_day,
                                        .y = row->point.cost_per_run,
                                        .x_low = known ? row->chance.days.p5 * unit.per_day : NAN,
                                        .x_high = known ? row->chance.days.p95 * unit.per_day : NAN,
                                        .y_low = known ? row->chance.cost.p5 : NAN,
                                        .y_high = known ? row->chance.cost.p95 : NAN,
                                        .label = plan_cluster_text(plan, row),
                                        .is_chosen = i == plan->result->chosen};
    }
    if (count < 2) return;
    pareto_front(points, count);
    Chart *chart = ARENA_NEW(arena, Chart);
    pareto_lines(arena, points, count, chart);
    RecordChart *lines = &chart->lines;
    const char *currency = plan->result->rows[0].point.currency;
    lines->title = arena_printf(arena, "Cost of the run against its %s", unit.name);
    lines->x_title = arena_printf(arena, "%s of the run", unit.name);
    lines->y_title = arena_printf(arena, "cost of the run (%s)", currency ? currency : "USD");
    if (request->deadline_s > 0) {
        lines->x_limit = request->deadline_s / 86400 * unit.per_day;
        lines->x_limit_title = arena_printf(arena, "date: %s", plan_human(arena, request->deadline_s, QUANTITY_TIME));
    }
    if (request->budget > 0) {
        lines->y_limit = request->budget;
        lines->y_limit_title = arena_printf(arena, "budget: %s", plan_money(plan, request->budget));
    }
    answer_open_on_pages(answer, "Cost against time", FOR_PAGES);
    answer_chart(answer, "pareto", chart);
    answer_says(answer, "Length and cost as planned; down and to the left is better. Of the plans on the line, which "
                        "have letters, none is both dearer and slower than another; grey dots are the others: pointing "
                        "at one names it, and so does the table below. Thin bars reach from the 5 % to the 95 % of "
                        "length and cost.");
    answer_close(answer);
}

// ---- All plans.

void plan_answer_list(Answer *answer, const PlanStudy *plan) {
    answer_open_list(answer, "plans", NULL);
    for (int i = 0; i < plan->result->row_count; i++) {
        answer_open(answer, NULL, NULL);
        answer_bool(answer, "chosen", NULL, i == plan->result->chosen);
        add_row(answer, plan, &plan->result->rows[i]);
        answer_close(answer);
    }
    answer_close(answer);
    answer_main_called(answer, "plans");
}

void plan_answer_table(Answer *answer, const PlanStudy *plan) {
    Uses uses = uses_of(plan->result);
    add_plans(answer, plan, &uses);
}

void plan_answer_more(Answer *answer, const PlanStudy *plan) {
    Uses uses = uses_of(plan->result);
    answer_open_on_pages(answer, "The plans", FOR_VERBOSE);
    add_more(answer, plan, &uses);
    answer_close(answer);
    add_front(answer, plan);
}
