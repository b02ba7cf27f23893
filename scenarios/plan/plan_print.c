// A plan on the screen: what was searched, the plans by rank, what speaks for the chosen one and what would change it.
#include <math.h>
#include <string.h>

#include "models/workload/convergence/critical_batch.h"
#include "models/workload/job/schedule.h"
#include "models/workload/job/software.h"
#include "models/workload/life/life.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan_pay.h"
#include "scenarios/plan/plan_screen.h"
#include "sim/list.h"
#include "sim/quantity.h"
#include "sim/text.h"

#define ROWS_SHOWN 12
#define GIB 1073741824.0

// Half of the 90 % range, in days: as drawn, but for when the machines are there, which is no part of the run.
typedef struct DaysRange {
    double low, high; // 90 %
} DaysRange;

static DaysRange days_range(const Screen *screen, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    if (row->chance.known && !(screen->request->start_spread_s > 0))
        return (DaysRange){row->chance.days.p5, row->chance.days.p95};
    if (isfinite(point->days_p5)) return (DaysRange){point->days_p5, point->days_p95};
    return (DaysRange){point->days * point->step_p5_s / point->step_p50_s,
                       point->days * point->step_p95_s / point->step_p50_s};
}

// ---- The table. Degrees that no plan uses have no column.

typedef struct Degree {
    const char *title;
    size_t offset; // of RecordPoint
} Degree;

static const Degree degrees[] = {
    {"TP", offsetof(RecordPoint, tp)}, {"PP", offsetof(RecordPoint, pp)}, {"VP", offsetof(RecordPoint, vpp)},
    {"CP", offsetof(RecordPoint, cp)}, {"EP", offsetof(RecordPoint, ep)}, {"DP", offsetof(RecordPoint, dp)},
};
enum { DEGREES = sizeof degrees / sizeof *degrees };

static int degree_of(const RecordPoint *point, int d) {
    return *(const int *)(const void *)((const char *)point + degrees[d].offset);
}

static const char *again_text(const PlanRow *row) {
    return row->training.recompute == RECOMPUTE_NONE ? "" : recompute_name(row->training.recompute);
}

typedef struct Columns {
    bool degree[DEGREES], fabric, uneven, split, hosted, paid, zero, again, cost, tokens, by_date, in_budget;
} Columns;

static Columns columns_of(const Screen *screen) {
    Columns columns = {.tokens = counts_tokens(screen->request->training.model),
                       .paid = plan_pays_in_ways(screen->request)};
    columns.by_date = screen->request->deadline_s > 0;
    columns.in_budget = screen->request->budget > 0;
    for (int i = 0; i < screen->rows; i++) {
        const PlanRow *row = &screen->result->rows[i];
        columns.fabric = columns.fabric || row->link;
        columns.uneven = columns.uneven || row->oversubscription > 1;
        columns.hosted = columns.hosted || row->training.offload_optimizer != OFFLOAD_GPU;
        columns.split = columns.split || (row->point.ran && schedule_splits_backward(row->training.schedule));
        if (!row->point.ran) continue;
        for (int d = 0; d < DEGREES; d++) columns.degree[d] = columns.degree[d] || degree_of(&row->point, d) > 1;
        columns.zero = columns.zero || row->point.zero > 0;
        columns.again = columns.again || *again_text(row);
        columns.cost = columns.cost || !isnan(row->point.cost_per_run);
    }
    return columns;
}

static void head(Table *table, const Columns *columns) {
    table_column(table, "", false);
    table_column(table, "GPUs", true);
    table_column(table, "node", false);
    if (columns->fabric) table_column(table, "fabric", false);
    if (columns->uneven) table_column(table, "down:up", true);
    if (columns->paid) table_column(table, "paid", false);
    for (int d = 0; d < DEGREES; d++)
        if (columns->degree[d]) table_column(table, degrees[d].title, true);
    if (columns->split) table_column(table, "schedule", false);
    if (columns->zero) table_column(table, "ZeRO", true);
    if (columns->hosted) table_column(table, "state", false);
    table_column(table, "MBS", true);
    table_column(table, "GBS", true);
    if (columns->again) table_column(table, "again", false);
    table_column(table, "MFU", true);
    table_column(table, columns->tokens ? "tok/s/GPU" : "samples/s", true);
    table_column(table, "GiB/GPU", true);
    table_column(table, "days", true);
    if (columns->cost) table_column(table, "cost", true);
    table_column(table, "MWh", true);
    if (columns->by_date) table_column(table, "by date", true);
    if (columns->in_budget) table_column(table, "in budget", true);
    table_column(table, "", false);
    table_keys(table, 3 + columns->fabric + columns->uneven + columns->paid);
}

static void ran_cells(Table *table, const Screen *screen, const Columns *columns, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    for (int d = 0; d < DEGREES; d++)
        if (columns->degree[d]) table_cell(table, "%d", degree_of(point, d));
    if (columns->split) table_cell(table, "%s", point->pp > 1 ? schedule_name(row->training.schedule) : "");
    if (columns->zero) table_cell(table, "%d", point->zero);
    if (columns->hosted) table_cell(table, "%s", offload_names[row->training.offload_optimizer]);
    table_cell(table, "%g", point->micro_batch);
    table_cell(table, "%g", point->global_batch);
    if (columns->again) table_cell(table, "%s", again_text(row));
    table_cell(table, "%.1f %%", 100 * point->mfu);
    table_cell(table, "%.0f", columns->tokens ? point->tokens_per_s / row->gpus : point->samples_per_s);
    table_cell(table, "%.0f/%.0f", point->memory_peak_bytes / GIB, point->memory_capacity_bytes / GIB);
    DaysRange range = days_range(screen, row);
    table_cell(table, "%s (%s … %s)", plan_number(screen->arena, point->days), plan_about(screen->arena, range.low),
               plan_about(screen->arena, range.high));
    if (columns->cost) table_cell(table, "%s", plan_money(screen, point, point->cost_per_run));
    table_cell(table, "%s", plan_number(screen->arena, point->energy_kwh / 1000));
    if (columns->by_date) table_cell(table, "%s", plan_percent(screen->arena, row->chance.by_date));
    if (columns->in_budget)
        table_cell(table, "%s", isnan(point->cost_per_run) ? "" : plan_percent(screen->arena, row->chance.in_budget));
}

static int ran_columns(const Columns *columns) {
    int count = 7 + columns->by_date + columns->in_budget + columns->hosted + columns->split + columns->zero +
                columns->again + columns->cost;
    for (int d = 0; d < DEGREES; d++) count += columns->degree[d];
    return count;
}

static void print_rows(const Screen *screen) {
    Table *table = table_create(screen->arena);
    Columns columns = columns_of(screen);
    head(table, &columns);
    for (int i = 0; i < screen->rows; i++) {
        const PlanRow *row = &screen->result->rows[i];
        table_cell(table, "%s", i == screen->result->chosen ? (screen->style->unicode ? "✔" : "*") : "");
        table_cell(table, "%d", row->gpus);
        table_cell(table, "%s", row->node->name);
        if (columns.fabric) table_cell(table, "%s", row->link ? row->link->name : "");
        if (columns.uneven) table_cell(table, "%g", row->oversubscription);
        if (columns.paid) table_cell(table, "%s", plan_paid_text(screen->arena, screen->request, row));
        if (row->point.ran) {
            ran_cells(table, screen, &columns, row);
        } else {
            for (int c = 0; c < ran_columns(&columns); c++) table_cell(table, "%s", "");
        }
        const char *place = i == screen->result->knee ? "knee" : row->on_front ? "front" : "";
        const char *verdict = plan_verdict(screen->arena, screen->request, row);
        table_cell(table, "%s%s%s", place, *place && *verdict ? ", " : "", verdict);
        table_end_row(table);
    }
    table_print(table, stdout, screen->style);
    if (screen->result->row_count > screen->rows)
        printf("and %d more (--all shows them)\n", screen->result->row_count - screen->rows);
}

// ---- What speaks for the chosen plan.

static void print_where_time_goes(const RecordPoint *point) {
    printf("Where time goes ");
    bool first = true;
    for (int i = 0; i < point->exposed_count; i++) {
        double share = point->exposed[i].value / point->step_p50_s;
        if (share < 0.01) continue;
        printf("%s%.0f %% %s", first ? " " : " · ", 100 * share, point->exposed[i].title);
        first = false;
    }
    printf("\n");
}

static bool others_differ(const PlanRequest *request) {
    return request->batch_count > 1 || batch_law_given(&request->law);
}

static void print_batch(const Screen *screen, const RecordPoint *point) {
    const BatchLaw *law = &screen->request->law;
    if (others_differ(screen->request))
        printf("Batch   %g samples take %.0f steps, %s samples in all\n", point->global_batch, point->steps,
               plan_human(screen->arena, point->steps * point->global_batch, QUANTITY_COUNT));
    if (law->learning_rate > 0)
        printf("Learning rate at %g: %.3g by the linear rule, %.3g by the square-root rule (%.3g at %g)\n",
               point->global_batch, learning_rate_at(law, RATE_LINEAR, point->global_batch),
               learning_rate_at(law, RATE_SQUARE_ROOT, point->global_batch), law->learning_rate, law->reference_batch);
}

static void print_chosen(const Screen *screen) {
    static const char *const words[PLAN_OBJECTIVE_COUNT] = {"cheapest", "quickest", "least energy", "least carbon"};
    const PlanRequest *request = screen->request;
    const PlanRow *row = &screen->result->rows[screen->result->chosen];
    const RecordPoint *point = &row->point;
    const char *word = words[request->objective];
    if (request->objective == PLAN_COST && isnan(point->cost_per_run)) word = words[PLAN_TIME];
    printf("Chosen  %s", word);
    if (request->deadline_s > 0 || request->budget > 0)
        printf(" that keeps %s with %s or more", plan_wishes_name(request),
               plan_percent(screen->arena, request->confidence));
    int fast = plan_twice_as_fast(screen->result);
    if (fast >= 0) {
        const RecordPoint *other = &screen->result->rows[fast].point;
        double more = other->cost_per_run - point->cost_per_run;
        printf(". Halving the time %s %s", more >= 0 ? "costs" : "saves", plan_money(screen, point, fabs(more)));
        if (more >= 0) printf(" more");
        printf(" (%s)", plan_cluster_text(screen, &screen->result->rows[fast]));
    }
    printf("\n");
    plan_print_paid(screen, row);
    plan_print_storage(screen, row);
    plan_print_chances(screen, row);
    plan_print_reaches(screen);
    print_batch(screen, point);
    print_where_time_goes(point);
    if (point->goodput > 0)
        printf("Goodput %.1f %% of the time is training; %s and checkpoints are counted in days and cost.\n",
               100 * point->goodput, screen->request->faults ? "failures" : "nodes taken back");
}

// ---- Owned against rented, of the cluster chosen.

static bool same_cluster(const PlanRow *a, const PlanRow *b) {
    return a->node == b->node && a->link == b->link && a->gpus == b->gpus &&
           a->oversubscription == b->oversubscription && a->point.global_batch == b->point.global_batch;
}

static void print_break_even(const Screen *screen) {
    const PlanRow *chosen = &screen->result->rows[screen->result->chosen];
    if (!screen->request->own_or_rent) return;
    for (int i = 0; i < screen->result->row_count; i++) {
        const PlanRow *row = &screen->result->rows[i];
        const RecordPoint *point = &row->point;
        if (!row->owned || !point->ran || !same_cluster(row, chosen) || isnan(point->break_even_utilisation)) continue;
        printf("Owning  %d GPUs of %s beats renting at %s per GPU-hour ", row->gpus, row->node->name,
               plan_money(screen, point, row->rent_per_gpu_hour));
        if (point->break_even_utilisation <= 1)
            printf("from %.0f %% of all hours in use", 100 * point->break_even_utilisation);
        else
            printf("at no utilisation");
        printf(" (%.0f %% assumed)", 100 * screen->request->own->utilisation);
        if (isfinite(point->payback_months)) printf(", paid back in %.0f months", point->payback_months);
        printf("\n");
    }
}

// ---- What would change it.

static void print_what_if(const Screen *screen) {
    const PlanWhatIfs *list = screen->answer->what_if;
    if (list->count == 0 && isnan(list->price_margin)) return;
    printf("What would change the choice\n");
    Table *table = table_create(screen->arena);
    table_column(table, "", false);
    table_column(table, "chosen then", false);
    table_column(table, "days", true);
    table_column(table, "cost", true);
    for (int i = 0; i < list->count; i++) {
        const PlanWhatIf *item = &list->items[i];
        const PlanRow *row = item->chosen >= 0 ? &screen->result->rows[item->chosen] : NULL;
        table_cell(table, "  %s", item->what);
        table_cell(table, "%s",
                   !row                                     ? "none keeps date and budget"
                   : item->chosen == screen->result->chosen ? "the same"
                                                            : plan_cluster_text(screen, row));
        table_cell(table, "%s", plan_number(screen->arena, item->point.days));
        table_cell(table, "%s", plan_money(screen, &item->point, item->point.cost_per_run));
        table_end_row(table);
    }
    table_print(table, stdout, screen->style);
    if (list->price_rival >= 0)
        printf("  its GPU-hour dearer by %.0f %%, others' as they are: then %s\n", 100 * list->price_margin,
               plan_cluster_text(screen, &screen->result->rows[list->price_rival]));
}

// ---- Caveats.

typedef struct PriceList {
    DatedPrice *items;
    int count, room;
} PriceList;

// Of the plans shown, each once.
static void print_old_prices(const Screen *screen) {
    PriceList all = {0};
    for (int i = 0; i < screen->rows; i++) {
        const RecordPoint *point = &screen->result->rows[i].point;
        for (int k = 0; k < point->price_count; k++) {
            bool seen = false;
            for (int n = 0; n < all.count; n++) seen = seen || strcmp(all.items[n].name, point->prices[k].name) == 0;
            if (!seen) LIST_PUSH(screen->arena, &all, point->prices[k]);
        }
    }
    results_print_old_prices(stdout, all.items, all.count, screen->style);
}

// What the user did not say and the answer hangs on.
static void print_assumed(const Screen *screen) {
    const PlanRequest *request = screen->request;
    if (request->batch_assumed)
        printf("! The global batch is assumed, from GPT-3's models of this size: --global-batch N states your own.\n");
    const Model *model = request->training.model;
    const char *source;
    if (counts_tokens(model) && !request->seq_given && usual_tokens(model, &source) < model->max_positions)
        printf("! Sequences of %.0f tokens are assumed (%s); %s goes to %d. --seq says yours.\n",
               request->training.seq_len, source, model->name, model->max_positions);
    for (int i = 0; i < screen->rows; i++) {
        const PlanRow *row = &screen->result->rows[i];
        for (int n = 0; n < request->node_count && row->link && request->link_assumed; n++)
            if (request->nodes[n] == row->node && request->link_assumed[n] && request->node_link[n] == row->link)
                printf("! %s between nodes of %s is assumed, as fast as their network cards. --fabric says yours.\n",
                       row->link->name, row->node->name);
        if (row->link) break; // one is enough
    }
    bool rents = !request->own || request->own_or_rent;
    for (int i = 0; i < request->node_count && rents; i++) plan_print_medians(screen, request->nodes[i]);
    plan_print_unsold(screen);
}

// Where published laws say that the batch is beyond what pays, and the user has no law of his own.
static void print_critical_batch(const Screen *screen) {
    const PlanRequest *request = screen->request;
    const TrainingSpec *training = &request->training;
    if (!(training->tokens > 0) || !counts_tokens(training->model) || batch_law_given(&request->law)) return;
    const PlanResult *result = screen->result;
    double batch = result->rows[result->chosen >= 0 ? result->chosen : 0].point.global_batch * training->seq_len;
    CriticalBatchPrior prior = critical_batch_of_tokens(training->tokens);
    double critical = exp(prior.log_mean), times = exp(1.645 * prior.log_sigma);
    if (!(batch > critical)) return;
    printf("! A batch of %s tokens is beyond the critical batch of about %s (%s to %s, published laws at %s tokens):\n"
           "  to the same loss it takes about %.0f %% more tokens than small batches, and more GPUs hardly pay.\n",
           plan_human(screen->arena, batch, QUANTITY_COUNT), plan_human(screen->arena, critical, QUANTITY_COUNT),
           plan_human(screen->arena, critical / times, QUANTITY_COUNT),
           plan_human(screen->arena, critical * times, QUANTITY_COUNT),
           plan_human(screen->arena, training->tokens, QUANTITY_COUNT),
           100 * (critical_batch_growth(critical, batch) - 1));
}

static void print_caveats(const Screen *screen) {
    const RecordPoint *point = &screen->result->rows[0].point;
    if (!point->ran) return;
    if (screen->request->objective == PLAN_COST && isnan(point->cost_per_run))
        printf("! No price is known, so the quickest comes first. --price says what a GPU costs for an hour.\n");
    print_assumed(screen);
    print_critical_batch(screen);
    print_old_prices(screen);
    if (1 - point->chance_to_run_out < PLAN_FIT)
        printf("! %.0f of %.0f GiB: fits in memory with %s only.\n", point->memory_peak_bytes / GIB,
               point->memory_capacity_bytes / GIB, plan_percent(screen->arena, 1 - point->chance_to_run_out));
    DaysRange range = days_range(screen, &screen->result->rows[0]);
    double faster = 100 * (range.low / point->days - 1), slower = 100 * (range.high / point->days - 1);
    if (screen->answer->profile)
        printf("! Constants are those of %s, and the catalogue's where it has none: %+.0f … %+.0f %% on days.\n",
               screen->answer->profile, faster, slower);
    else
        printf("! Kernel and fabric constants are the catalogue's, not measured on your machines: %+.0f … %+.0f %% on "
               "days.\n"
               "  Calibrate on one of them: lockstep calibrate run -o mine.json\n",
               faster, slower);
    const char *lacks = plan_storage(screen->arena, screen->request, &screen->result->rows[0]).lacks;
    if (lacks) printf("! %s\n", lacks);
    if (!screen->request->faults && !(point->goodput > 0))
        printf("! Failures and checkpoints are not counted: --faults " FAULTS_USUAL " counts them.\n");
}

// ---- All of it.

static void print_no_plan(const Screen *screen) {
    const PlanRequest *request = screen->request;
    const PlanRow *first = &screen->result->rows[0];
    if (screen->result->row_count == 0 || !first->point.ran) {
        printf("No plan runs.\n");
        return;
    }
    printf("No plan keeps %s with %s: the best does with %s. The nearest misses come first.\n",
           plan_wishes_name(request), plan_percent(screen->arena, request->confidence),
           plan_percent_beside(screen->arena, first->chance.both, request->confidence));
    plan_print_paid(screen, first);
    plan_print_storage(screen, first);
    plan_print_chances(screen, first);
    plan_print_reaches(screen);
}

// What is taken of it, and with which layouts of it the search was made.
static void print_software(const TrainingSpec *training) {
    const Software *software = training->software;
    if (training->software_assumed)
        printf("Software not said: any layout, at the speed of today's usual software. --software says yours\n");
    else if (software && software->word[0])
        printf("Software %s: %s\n", software->word, software->reach ? software->reach->layouts : "any layout");
}

static void print_deadline(const PlanRequest *request) {
    Date from = request->deadline_from;
    if (!request->deadline_day) return;
    printf("By      the end of %s: %.0f days from %04d-%02d-%02d\n", request->deadline_day, request->deadline_s / 86400,
           from.year, from.month > 0 ? from.month : 1, from.day > 0 ? from.day : 1);
}

static void print_heading(const Screen *screen) {
    const TrainingSpec *training = &screen->request->training;
    const PlanCount *count = &screen->result->count;
    printf("Model   %s   %s parameters", training->model->name,
           plan_human(screen->arena, model_parameters(training->model), QUANTITY_COUNT));
    if (counts_tokens(training->model)) printf("   sequences of %g", training->seq_len);
    if (!batch_law_given(&screen->request->law)) {
        double samples = training->tokens > 0 ? training->tokens / training->seq_len
                                              : training->samples * (training->epochs > 0 ? training->epochs : 1);
        printf("   %.3g FLOP in all", training_flops_per_sample(training) * samples);
    }
    printf("\n");
    print_deadline(screen->request);
    print_software(training);
    printf("Search  %d layouts on %d clusters, %d do not fit in memory with %s, %d simulated%s\n\n", count->candidates,
           screen->result->cluster_count, count->too_large,
           plan_percent(screen->arena, plan_fit_asked(screen->request)), count->simulated,
           screen->request->exhaustive ? " (every one that fits)"
                                       : "; a lower bound of their time shows the others cannot be better");
    if (count->refused)
        printf("        %d of them take longer than 106 days of simulated time, the most its clock holds\n\n",
               count->refused);
}

static void print_run_line(const Screen *screen) {
    const PlanResult *result = screen->result;
    const PlanRow *row = &result->rows[result->chosen >= 0 ? result->chosen : 0];
    if (result->row_count == 0 || !row->point.ran) return;
    int count;
    const char *const *words = plan_run_words(screen->arena, screen->answer, row, &count);
    printf("Its step              lockstep");
    for (int i = 0; i < count; i++) printf(" %s", option_word_quoted(screen->arena, words[i]));
    printf("\n");
}

void plan_print(Arena *arena, const PlanAnswer *answer, const Style *style) {
    Screen screen = {arena, answer, answer->request, answer->result, style, answer->result->row_count, false};
    if (!answer->all_rows && screen.rows > ROWS_SHOWN) screen.rows = ROWS_SHOWN;
    print_heading(&screen);
    print_rows(&screen);
    if (answer->result->chosen >= 0) {
        print_chosen(&screen);
        print_break_even(&screen);
        print_what_if(&screen);
    } else {
        print_no_plan(&screen);
    }
    plan_print_shifts(&screen);
    plan_print_settings(&screen);
    plan_print_unknowns(&screen);
    print_caveats(&screen);
    if (answer->result->searched < answer->result->cluster_count)
        printf("! Stopped early: %d of %d clusters were searched. The others may hold a better plan.\n",
               answer->result->searched, answer->result->cluster_count);
    Recommendation recommendation;
    if (plan_recommend(&screen, &recommendation)) recommendation_print(&recommendation, stdout);
    print_run_line(&screen);
}
