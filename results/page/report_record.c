// A record as sections of a report: the answer first, then why, then what it rests on.
#include <math.h>
#include <string.h>

#include "results/page/report_page.h"
#include "results/view.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"

#define WORTH_SAYING 0.05 // chance to run out of memory
#define MOST_STACKS 24    // of one chart of breakdowns; the table has all

typedef struct Telling {
    Report *report;
    Arena *arena;
    const Record *record;
    Problems *none; // what a record has not is no mistake here
} Telling;

static const char *range_text(const Telling *telling, const char *low, const char *high) {
    return arena_printf(telling->arena, "90 %% range %s to %s", low, high);
}

// ---- The answer of one point.

static void tell_time(const Telling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    bool has_range = point->step_p95_s > point->step_p5_s;
    report_fact(telling->report, "Time of a step", text_time(arena, point->step_p50_s),
                has_range ? range_text(telling, text_time(arena, point->step_p5_s), text_time(arena, point->step_p95_s))
                          : "");
    double rate = point_rate(telling->record, point);
    if (isfinite(rate))
        report_fact(telling->report, "Throughput",
                    arena_printf(arena, "%s %s", text_rate(arena, rate), rate_unit(arena, telling->record)),
                    point->gpu_count > 1 ? arena_printf(arena, "%s per GPU", text_rate(arena, rate / point->gpu_count))
                                         : "");
    if (isfinite(point->mfu)) report_fact(telling->report, "MFU", text_percent(arena, point->mfu), "of dense peak");
    if (isfinite(point->efficiency_vs_one_gpu))
        report_fact(telling->report, "Scaling efficiency", text_percent(arena, point->efficiency_vs_one_gpu),
                    "of one GPU's throughput times the GPUs");
    else if (point->baseline_gpus > 1)
        report_fact(telling->report, "Scaling efficiency",
                    text_percent(arena, point->samples_per_s * point->baseline_gpus / point->gpu_count /
                                            point->baseline_samples_per_s),
                    arena_printf(arena, "of the throughput per GPU on %s, the fewest that hold the job, %s",
                                 text_count(arena, point->baseline_gpus, true), baseline_batch_say(point)));
}

static void tell_memory(const Telling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    if (!(point->memory_peak_bytes > 0)) return;
    const char *note = "an estimate";
    if (point->memory_capacity_bytes > 0)
        note = arena_printf(arena, "%s of the GPU's; an estimate: it runs out with a chance of %s",
                            text_percent(arena, point->memory_peak_bytes / point->memory_capacity_bytes),
                            text_percent(arena, point->chance_to_run_out));
    report_fact(telling->report, "Memory per GPU",
                text_bytes_of(arena, point->memory_peak_bytes, point->memory_capacity_bytes), note);
}

// "$768.00 to $2,381 an hour between providers; "
static const char *hourly_range(Arena *arena, const RecordPoint *point) {
    if (!point->price_of_gpu_hour) return "";
    return arena_printf(arena, "%s to %s an hour between providers; ",
                        text_money(arena, point->cost_per_hour_least, point->currency),
                        text_money(arena, point->cost_per_hour_most, point->currency));
}

// "$41.46 a step, $13.18 a million tokens"
static const char *unit_costs(const Telling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    double rate = point_rate(telling->record, point);
    if (!isfinite(point->cost_per_step) || !isfinite(rate)) return "";
    const char *unit = rate_unit(arena, telling->record);
    int length = (int)strcspn(unit, "/");
    return arena_printf(arena, "%s%s a step, %s a million %.*s", hourly_range(arena, point),
                        text_money(arena, point->cost_per_step, point->currency),
                        text_money(arena, 1e6 * point->cost_per_hour / 3600 / rate, point->currency), length, unit);
}

static void tell_run(const Telling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    Report *report = telling->report;
    if (isfinite(point->days))
        report_fact(report, "The run", text_days(arena, point->days),
                    isfinite(point->days_p5)
                        ? range_text(telling, text_days(arena, point->days_p5), text_days(arena, point->days_p95))
                    : point->steps > 0 ? arena_printf(arena, "%s steps", text_count(arena, point->steps, true))
                                       : "");
    if (point->goodput > 0)
        report_fact(report, "Goodput", text_percent(arena, point->goodput), "of the time is training");
    const char *hour = isfinite(point->cost_per_hour)
                           ? arena_printf(arena, "%s an hour", text_money(arena, point->cost_per_hour, point->currency))
                           : "";
    if (isfinite(point->cost_per_run))
        report_fact(report, "Cost of the run", text_money(arena, point->cost_per_run, point->currency), hour);
    else if (*hour)
        report_fact(report, "Cost", hour, unit_costs(telling, point));
    if (point->energy_kwh > 0)
        report_fact(report, "Energy", text_energy(arena, point->energy_kwh),
                    point->carbon_kg > 0 ? arena_printf(arena, "%s CO2e", text_mass(arena, point->carbon_kg)) : "");
    else if (point->power_watts > 0)
        report_fact(report, "Power", text_power(arena, point->power_watts), "on average at the wall");
    if (point->gpu_count > 0)
        report_fact(report, "GPUs", text_count(arena, point->gpu_count, true),
                    point->nodes ? arena_printf(arena, "in %s%s%s", point->nodes, point->fabric ? " over " : "",
                                                point->fabric ? point->fabric : "")
                                 : "");
}

static const char *layout_text(Arena *arena, const RecordPoint *point) {
    const struct {
        const char *name;
        int degree;
    } degrees[] = {{"TP", point->tp}, {"PP", point->pp}, {"VPP", point->vpp}, {"CP", point->cp}, {"EP", point->ep}};
    const char *text = arena_printf(arena, "DP %d", point->dp);
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (degrees[i].degree > 1) text = arena_printf(arena, "%s · %s %d", text, degrees[i].name, degrees[i].degree);
    if (point->zero > 0) text = arena_printf(arena, "%s · ZeRO %d", text, point->zero);
    return arena_printf(arena, "%s · micro-batch %g · global batch %g", text, point->micro_batch, point->global_batch);
}

static void tell_point(const Telling *telling, const RecordPoint *point) {
    if (!point->ran) {
        report_caution(telling->report, arena_printf(telling->arena, "It does not run: %s.%s%s",
                                                     point->why_not ? point->why_not : "no reason was recorded",
                                                     point->smallest_change ? " What would: " : "",
                                                     point->smallest_change ? point->smallest_change : ""));
    } else {
        tell_time(telling, point);
    }
    tell_memory(telling, point);
    tell_run(telling, point);
    if (point->tp > 0)
        report_text(telling->report, arena_printf(telling->arena, "Layout: %s.", layout_text(telling->arena, point)));
}

// ---- The answer of many: a row each. Columns that no point knows are left out.

typedef struct Figure {
    const char *title;
    size_t offset; // of a double in RecordPoint
    const char *(*text)(Arena *arena, double value);
    bool only_ran;
} Figure;

static const char *figures4(Arena *arena, double value) { return text_figures(arena, value, 4); }
static const char *days3(Arena *arena, double value) { return text_figures(arena, value, 3); }
static const char *grouped(Arena *arena, double value) { return text_count(arena, value, true); }
static const char *percent_figures(Arena *arena, double value) { return text_percent(arena, value); }

static const Figure figures[] = {
    {"step time (s)", offsetof(RecordPoint, step_p50_s), figures4, true},
    {"p5 (s)", offsetof(RecordPoint, step_p5_s), figures4, true},
    {"p95 (s)", offsetof(RecordPoint, step_p95_s), figures4, true},
    {"samples/s", offsetof(RecordPoint, samples_per_s), grouped, true},
    {"tokens/s", offsetof(RecordPoint, tokens_per_s), grouped, true},
    {"scaling efficiency", offsetof(RecordPoint, efficiency_vs_one_gpu), percent_figures, true},
    {"MFU", offsetof(RecordPoint, mfu), percent_figures, true},
    {"memory per GPU", offsetof(RecordPoint, memory_peak_bytes), text_bytes, false},
    {"days", offsetof(RecordPoint, days), days3, true},
    {"goodput", offsetof(RecordPoint, goodput), percent_figures, true},
    {"cost an hour", offsetof(RecordPoint, cost_per_hour), grouped, false},
    {"cost of the run", offsetof(RecordPoint, cost_per_run), grouped, true},
    {"energy (kWh)", offsetof(RecordPoint, energy_kwh), grouped, true},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static double figure_of(const RecordPoint *point, const Figure *figure) {
    double value;
    memcpy(&value, (const char *)point + figure->offset, sizeof value);
    if (figure->only_ran) value = if_ran(point, value);
    return value > 0 ? value : NAN;
}

static bool is_known(const Record *record, const Figure *figure) {
    for (int i = 0; i < record->point_count; i++)
        if (isfinite(figure_of(&record->points[i], figure))) return true;
    return false;
}

static const char *with_currency(const Telling *telling, const Figure *figure) {
    const char *currency = telling->record->points[0].currency;
    bool is_money =
        figure->offset == offsetof(RecordPoint, cost_per_hour) || figure->offset == offsetof(RecordPoint, cost_per_run);
    return is_money ? arena_printf(telling->arena, "%s (%s)", figure->title, currency ? currency : "USD")
                    : figure->title;
}

static void tell_points(const Telling *telling) {
    Arena *arena = telling->arena;
    const Record *record = telling->record;
    ReportTable *table = report_table_create(arena, "Every point");
    const char *title = point_label_title(arena, record, NULL);
    bool shown[FIGURES], all_ran = true;
    report_column(arena, table, *title ? title : "point", false);
    for (int f = 0; f < FIGURES; f++) {
        shown[f] = is_known(record, &figures[f]);
        if (shown[f]) report_column(arena, table, with_currency(telling, &figures[f]), true);
    }
    for (int i = 0; i < record->point_count; i++) all_ran = all_ran && record->points[i].ran;
    if (!all_ran) report_column(arena, table, "does not run", false);
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        const char *label = point_label(arena, record, point, NULL);
        report_cell(arena, table, *label ? label : arena_printf(arena, "%d", i + 1));
        for (int f = 0; f < FIGURES; f++) {
            double value = figure_of(point, &figures[f]);
            if (shown[f])
                report_number(arena, table, isfinite(value) ? figures[f].text(arena, value) : TEXT_UNKNOWN, value);
        }
        if (!all_ran) report_cell(arena, table, point->ran ? "" : point->why_not);
    }
    report_add_table(telling->report, table, true);
}

// ---- Why.

// "GEMM 52 %, attention 18 %, DP 9 %": what takes most of a step, in words.
static const char *largest_parts(Arena *arena, const NamedValue *values, int count, int most) {
    double sum = sum_of_values(values, count), below = INFINITY;
    const char *text = "";
    for (int n = 0; n < most && sum > 0; n++) {
        const NamedValue *next = NULL;
        for (int i = 0; i < count; i++)
            if (values[i].value < below && (!next || values[i].value > next->value)) next = &values[i];
        if (!next || next->value < 0.01 * sum) break;
        text = arena_printf(arena, "%s%s%s %.0f %%", text, n ? ", " : "", next->title ? next->title : next->name,
                            100 * next->value / sum);
        below = next->value;
    }
    return text;
}

static const RecordPoint *last_that_ran(const Record *record) {
    for (int i = record->point_count - 1; i >= 0; i--)
        if (record->points[i].ran) return &record->points[i];
    return NULL;
}

static const char *of_point(const Telling *telling, const RecordPoint *point) {
    const char *label = point_label(telling->arena, telling->record, point, NULL);
    return *label ? arena_printf(telling->arena, " at %s = %s",
                                 point_label_title(telling->arena, telling->record, NULL), label)
                  : "";
}

static void tell_breakdown(const Telling *telling) {
    Chart *chart = ARENA_NEW(telling->arena, Chart);
    if (telling->record->point_count > MOST_STACKS ||
        !breakdown_chart(telling->arena, telling->record, chart, telling->none))
        return;
    const RecordPoint *point = last_that_ran(telling->record);
    report_section(telling->report, "Why: where the time goes");
    report_chart(telling->report, chart,
                 arena_printf(telling->arena,
                              "Most of a step%s: %s. The mean over all GPUs, what each waits for counted in: it shows "
                              "how well they are used. What to shorten, the critical path shows.",
                              of_point(telling, point),
                              largest_parts(telling->arena, point->exposed, point->exposed_count, 4)));
}

static void tell_memory_parts(const Telling *telling) {
    Chart *chart = ARENA_NEW(telling->arena, Chart);
    if (telling->record->point_count > MOST_STACKS ||
        !memory_chart(telling->arena, telling->record, chart, telling->none))
        return;
    const RecordPoint *point = &telling->record->points[telling->record->point_count - 1];
    report_section(telling->report, "Memory");
    const char *at =
        point->memory_peak_at ? arena_printf(telling->arena, " The peak is at: %s.", point->memory_peak_at) : "";
    report_chart(telling->report, chart,
                 arena_printf(telling->arena, "Largest%s: %s.%s", of_point(telling, point),
                              largest_parts(telling->arena, point->memory, point->memory_count, 4), at));
}

static void tell_scaling(const Telling *telling) {
    Chart *chart = ARENA_NEW(telling->arena, Chart);
    if (telling->record->point_count < 2 || !scaling_chart(telling->arena, telling->record, chart, telling->none))
        return;
    const RecordCurve *curve = &chart->lines.curves[0];
    int last = curve->count - 1;
    bool has_range = isfinite(curve->y_low[0]);
    report_section(telling->report, "Scaling");
    report_chart(telling->report, chart,
                 arena_printf(telling->arena, "From %s to %s %s%s%s, throughput grows by a factor of %s%s.",
                              text_count(telling->arena, curve->x[0], true),
                              text_count(telling->arena, curve->x[last], true), chart->lines.x_title,
                              *curve->name ? ", " : "", curve->name,
                              text_figures(telling->arena, curve->y[last] / curve->y[0], 3),
                              has_range ? "; the band is the 90 % range" : ""));
}

static void tell_pareto(const Telling *telling) {
    Chart *chart = ARENA_NEW(telling->arena, Chart);
    if (!pareto_chart(telling->arena, telling->record, chart, telling->none)) return;
    report_section(telling->report, "Cost against time");
    report_chart(telling->report, chart,
                 "Down and to the left is better. Of the points on the line none is both "
                 "cheaper and quicker than another.");
}

static void tell_timeline(const Telling *telling) {
    Chart *chart = ARENA_NEW(telling->arena, Chart);
    if (!gantt_chart(telling->arena, telling->record, chart, telling->none)) return;
    report_section(telling->report, "A step in time");
    const char *left_out;
    chart->bars = *thinned_bars(telling->arena, &chart->bars, &left_out);
    report_chart(telling->report, chart, arena_printf(telling->arena, "%s%s", chart->bars.reading, left_out));
}

static void tell_money(const Telling *telling) {
    const Record *record = telling->record;
    if (record->point_count != 1 || record->points[0].cost_line_count == 0) return;
    const RecordPoint *point = &record->points[0];
    Arena *arena = telling->arena;
    ReportTable *table = report_table_create(arena, "What an hour costs");
    report_column(arena, table, "part", false);
    report_column(arena, table, arena_printf(arena, "%s an hour", point->currency ? point->currency : "USD"), true);
    for (int i = 0; i < point->cost_line_count; i++) {
        const NamedValue *line = &point->cost_lines[i];
        report_cell(arena, table, line->title ? line->title : line->name);
        report_number(arena, table, text_count(arena, line->value, true), line->value);
    }
    report_section(telling->report, "Cost");
    report_add_table(telling->report, table, true);
}

// ---- A record's own tables and curves.

static const char *cell_text(Arena *arena, RecordUnit unit, const RecordCell *cell) {
    switch (unit) {
    case RECORD_TEXT:
        return cell->text;
    case RECORD_COUNT:
        return text_count(arena, cell->number, true);
    case RECORD_SECONDS:
        return text_days(arena, cell->number / 86400);
    case RECORD_SHARE:
        return text_percent(arena, cell->number);
    case RECORD_NUMBER:
        break;
    }
    return text_figures(arena, cell->number, 4);
}

#define MANY_ROWS 20 // of a table that stands whole on the page
#define FIRST_ROWS 10

// Columns without a title are for other programs.
static const ReportTable *page_table(Arena *arena, const RecordTable *from, const char *caption, int rows) {
    ReportTable *table = report_table_create(arena, caption);
    for (int c = 0; c < from->column_count; c++)
        if (from->columns[c].title)
            report_column(arena, table, from->columns[c].title, from->columns[c].unit != RECORD_TEXT);
    for (int i = 0; i < rows * from->column_count; i++) {
        const RecordColumn *column = &from->columns[i % from->column_count];
        if (!column->title) continue;
        report_number(arena, table, cell_text(arena, column->unit, &from->cells[i]),
                      column->unit == RECORD_TEXT ? NAN : from->cells[i].number);
    }
    return table;
}

static void tell_table(const Telling *telling, const RecordTable *from) {
    Arena *arena = telling->arena;
    const char *caption = from->title && *from->title ? from->title : from->name;
    bool is_long = from->row_count > MANY_ROWS, has_columns = false;
    for (int c = 0; c < from->column_count; c++) has_columns = has_columns || from->columns[c].title;
    if (!has_columns) return;
    if (is_long && from->title)
        report_add_table(telling->report,
                         page_table(arena, from,
                                    arena_printf(arena, "%s: the first %d of %d", caption, FIRST_ROWS, from->row_count),
                                    FIRST_ROWS),
                         true);
    report_add_table(telling->report, page_table(arena, from, caption, from->row_count), from->title && !is_long);
    report_text(telling->report, from->note);
}

static void tell_own(const Telling *telling) {
    const Record *record = telling->record;
    for (int i = 0; i < record->chart_count; i++) {
        Chart *chart = ARENA_NEW(telling->arena, Chart);
        *chart = (Chart){.kind = CHART_LINES, .lines = record->charts[i]};
        report_chart(telling->report, chart, "");
    }
    for (int i = 0; i < record->table_count; i++) tell_table(telling, &record->tables[i]);
}

// ---- What stands beside it.

static const char *figure_text(Arena *arena, double value, const char *unit) {
    if (!isfinite(value)) return TEXT_UNKNOWN;
    return arena_printf(arena, "%s%s%s", text_figures(arena, value, 4), unit && *unit ? " " : "", unit ? unit : "");
}

static void tell_published(const Telling *telling) {
    const Record *record = telling->record;
    Arena *arena = telling->arena;
    if (record->published_count == 0) return;
    ReportTable *table = report_table_create(arena, "Published against simulated");
    report_column(arena, table, "figure", false);
    report_column(arena, table, "published", true);
    report_column(arena, table, "simulated", true);
    report_column(arena, table, "error (%)", true);
    report_column(arena, table, "source", false);
    for (int i = 0; i < record->published_count; i++) {
        const Published *figure = &record->published[i];
        double error = 100 * (figure->simulated / figure->published - 1);
        report_cell(arena, table, figure->name);
        report_number(arena, table, figure_text(arena, figure->published, figure->unit), figure->published);
        report_number(arena, table, figure_text(arena, figure->simulated, figure->unit), figure->simulated);
        report_number(arena, table, isfinite(error) ? arena_printf(arena, "%+.1f", error) : TEXT_UNKNOWN, error);
        report_cell(arena, table, figure->source);
    }
    report_section(telling->report, "Held against what others measured");
    report_add_table(telling->report, table, true);
}

static bool is_said(const Record *record, int point, int price) {
    const char *name = record->points[point].prices[price].name;
    for (int i = 0; i <= point; i++)
        for (int k = 0; k < (i < point ? record->points[i].price_count : price); k++)
            if (strcmp(record->points[i].prices[k].name, name) == 0) return true;
    return false;
}

static void tell_old_prices(const Telling *telling, Date today) {
    const Record *record = telling->record;
    for (int i = 0; i < record->point_count && today.year > 0; i++)
        for (int k = 0; k < record->points[i].price_count; k++) {
            const DatedPrice *price = &record->points[i].prices[k];
            Date date;
            if (is_said(record, i, k) || !date_parse(price->date, &date) || !date_is_a_year_before(date, today))
                continue;
            report_caution(telling->report, arena_printf(telling->arena, "The price of %s is of %s: prices move.",
                                                         price->title, price->date));
        }
}

static void tell_cautions(const Telling *telling, Date today) {
    for (int i = 0; i < telling->record->note_count; i++) report_caution(telling->report, telling->record->notes[i]);
    tell_old_prices(telling, today);
}

void report_add_why(Report *report, const Record *record) {
    Telling telling = {report, report->arena, record, problems_create(report->arena)};
    tell_breakdown(&telling);
    tell_timeline(&telling);
    tell_memory_parts(&telling);
    tell_money(&telling);
}

// The least certain first.
// Seconds as years, days, hours or minutes: as people say how seldom something fails, or how long it takes.
static Assumption in_fitting_unit(const Assumption *assumption) {
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{365.25 * 86400, "years"}, {86400, "days"}, {3600, "h"}, {60, "min"}};
    Assumption fitting = *assumption;
    if (fitting.text || !same_name(fitting.unit, "s")) return fitting;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (fitting.value < units[i].seconds) continue;
        fitting.value /= units[i].seconds;
        fitting.unit = units[i].name;
        break;
    }
    return fitting;
}

// "1.6 us" says its unit.
static bool says_its_unit(const Assumption *assumption) {
    const char *text = assumption->text;
    size_t number = text ? strspn(text, "+-.0123456789e") : 0;
    return number > 0 && text[number] == ' ';
}

static void assumption_row(Arena *arena, ReportTable *table, const Assumption *assumption) {
    Assumption shown = in_fitting_unit(assumption);
    bool whole = says_its_unit(&shown);
    report_cell(arena, table, shown.name);
    report_number(arena, table, shown.text ? shown.text : text_figures(arena, shown.value, 4),
                  whole ? NAN : shown.value);
    report_cell(arena, table, whole ? "" : shown.unit);
    report_cell(arena, table, shown.kind);
    report_cell(arena, table, shown.source);
}

void report_add_assumptions(Report *report, const Record *record) {
    static const char *const kinds[] = {"assumed", "fitted", "datasheet", "measured", "stated"};
    Arena *arena = report->arena;
    if (record->assumption_count == 0) return;
    ReportTable *table = report_table_create(arena, "Assumptions, the least certain first");
    static const char *const titles[] = {"name", "value", "unit", "how it is known", "source"};
    for (int i = 0; i < 5; i++) report_column(arena, table, titles[i], i == 1);
    for (int kind = 0; kind <= 4; kind++)
        for (int i = 0; i < record->assumption_count; i++) {
            const Assumption *assumption = &record->assumptions[i];
            int rank = 0;
            while (rank < 4 && !same_name(assumption->kind, kinds[rank])) rank++;
            if (rank != kind) continue;
            assumption_row(arena, table, assumption);
        }
    report_section(report, "What it rests on");
    report_add_table(report, table, true);
}

// ---- In one sentence.

// Where it is not sure to run at all, that comes first.
static const char *lead_of_memory(Arena *arena, const RecordPoint *point) {
    if (!(point->memory_capacity_bytes > 0 && point->chance_to_run_out > WORTH_SAYING)) return "A";
    return arena_printf(arena, "It is not sure to fit: memory runs out with a chance of %s. If it fits, a",
                        text_percent(arena, point->chance_to_run_out));
}

static const char *lead_of_point(const Telling *telling, const RecordPoint *point) {
    Arena *arena = telling->arena;
    if (!point->ran) return "It does not run.";
    const char *gpus = point->gpu_count > 1
                           ? arena_printf(arena, " on %s GPUs%s%s", text_count(arena, point->gpu_count, true),
                                          point->fabric ? " over " : "", point->fabric ? point->fabric : "")
                       : point->gpu_count == 1 ? " on one GPU"
                                               : "";
    const char *text = arena_printf(arena, "%s step takes %s%s", lead_of_memory(arena, point),
                                    text_time(arena, point->step_p50_s), gpus);
    if (point->step_p95_s > point->step_p5_s)
        text = arena_printf(arena, "%s, with 90 %% certainty between %s and %s", text,
                            text_time(arena, point->step_p5_s), text_time(arena, point->step_p95_s));
    if (isfinite(point->days)) text = arena_printf(arena, "%s; the run takes %s", text, text_days(arena, point->days));
    if (isfinite(point->days) && isfinite(point->cost_per_run))
        text = arena_printf(arena, "%s and costs %s", text, text_money(arena, point->cost_per_run, point->currency));
    return arena_printf(arena, "%s.", text);
}

static const char *lead_of_points(const Telling *telling) {
    Arena *arena = telling->arena;
    const RecordPoint *best = NULL;
    int ran = 0;
    for (int i = 0; i < telling->record->point_count; i++) {
        const RecordPoint *point = &telling->record->points[i];
        double rate = point_rate(telling->record, point);
        ran += point->ran;
        if (isfinite(rate) && (!best || rate > point_rate(telling->record, best))) best = point;
    }
    const char *text = arena_printf(arena, "%d points, of which %d run", telling->record->point_count, ran);
    if (!best) return arena_printf(arena, "%s.", text);
    return arena_printf(arena, "%s. The highest throughput is %s %s%s.", text,
                        text_count(arena, point_rate(telling->record, best), true), rate_unit(arena, telling->record),
                        of_point(telling, best));
}

static void tell_lead(const Telling *telling) {
    const Record *record = telling->record;
    if (*telling->report->lead || record->point_count == 0) return;
    report_lead(telling->report,
                record->point_count == 1 ? lead_of_point(telling, &record->points[0]) : lead_of_points(telling));
}

// What decides before all figures: that fewer GPUs do as well.
static void tell_more_gpus(const Telling *telling, const RecordPoint *point) {
    const char *says = more_gpus_say(telling->arena, telling->record, point);
    if (says) report_caution(telling->report, says);
}

void report_add_answer(Report *report, const Record *record, Date today) {
    Telling telling = {report, report->arena, record, problems_create(report->arena)};
    bool is_all = !record->title || !*record->title || (report->title && strcmp(record->title, report->title) == 0);
    tell_lead(&telling);
    report_section(report, is_all ? "The answer" : record->title);
    if (record->point_count == 1) tell_more_gpus(&telling, &record->points[0]);
    if (report->first.text) report_fact(report, report->first.text, report->first.value, report->first.range);
    report->first = (Block){.text = NULL};
    if (record->point_count == 1)
        tell_point(&telling, &record->points[0]);
    else if (record->point_count > 1)
        tell_points(&telling);
    tell_own(&telling);
    tell_cautions(&telling, today);
}

void report_add_rest(Report *report, const Record *record) {
    Telling telling = {report, report->arena, record, problems_create(report->arena)};
    if (record->point_count > 0) {
        tell_scaling(&telling);
        tell_pareto(&telling);
        report_add_why(report, record);
    }
    tell_published(&telling);
    report_add_assumptions(report, record);
}

void report_add_record(Report *report, const Record *record, Date today) {
    report_add_answer(report, record, today);
    report_add_rest(report, record);
}

void report_add_tables(Report *report, const RecordTable *tables, int count) {
    Telling telling = {.report = report, .arena = report->arena};
    for (int i = 0; i < count; i++)
        if (tables[i].title && tables[i].row_count > 0) tell_table(&telling, &tables[i]);
}
