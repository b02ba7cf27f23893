// Several simulated configurations: a sentence, a table of them, and where the time of each goes.
#include <math.h>
#include <string.h>

#include "results/screen.h"
#include "results/view.h"
#include "sim/text.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define SMALLEST_SHARE 0.005 // of a step in some point, to be worth a column

// ---- What varies stands first in every table.

static bool all_numbers(const Record *record, const char *name) {
    for (int i = 0; i < record->point_count; i++) {
        const RecordParameter *parameter = point_parameter(&record->points[i], name);
        if (parameter && !isfinite(parameter->number)) return false;
    }
    return true;
}

static bool is_varied(const Screen *screen, const char *name) {
    for (int i = 0; i < screen->varied_count; i++)
        if (same_name(screen->varied[i], name)) return true;
    return false;
}

void screen_key_columns(const Screen *screen, Table *table) {
    for (int i = 0; i < screen->varied_count; i++)
        table_column(table, is_gpu_axis(screen->varied[i]) ? "GPUs" : screen->varied[i],
                     all_numbers(screen->record, screen->varied[i]));
    if (screen->varied_count == 0) table_column(table, "point", true);
    table_keys(table, screen->varied_count ? screen->varied_count : 1);
}

void screen_key_cells(const Screen *screen, Table *table, int index) {
    for (int i = 0; i < screen->varied_count; i++) {
        const RecordParameter *parameter = point_parameter(&screen->record->points[index], screen->varied[i]);
        table_cell(table, "%s", parameter && parameter->text ? parameter->text : "");
    }
    if (screen->varied_count == 0) table_cell(table, "%d", index + 1);
}

// ---- The columns. One whose cells are all unknown is left out.

typedef const char *CellText(const Screen *screen, const RecordPoint *point);

static const char *known_count(const Screen *screen, double count) {
    return isfinite(count) && count > 0 ? screen_count(screen, count) : TEXT_UNKNOWN;
}

static const char *gpus_cell(const Screen *screen, const RecordPoint *point) {
    return is_varied(screen, "gpus") ? TEXT_UNKNOWN : known_count(screen, point->gpu_count);
}

static const char *nodes_cell(const Screen *screen, const RecordPoint *point) {
    return is_varied(screen, "nodes") ? TEXT_UNKNOWN : known_count(screen, point->node_count);
}

// All in the unit that suits the shortest, so that the eye can compare.
static const char *step_cell(const Screen *screen, const RecordPoint *point) {
    double shortest = INFINITY;
    for (int i = 0; i < screen->record->point_count; i++) {
        double step = if_ran(&screen->record->points[i], screen->record->points[i].step_p50_s);
        if (step > 0 && step < shortest) shortest = step;
    }
    double step = if_ran(point, point->step_p50_s);
    if (!isfinite(step) || !isfinite(shortest)) return TEXT_UNKNOWN;
    TextUnit unit = text_time_unit(shortest);
    return arena_printf(screen->arena, "%s %s", text_figures(screen->arena, step / unit.scale, 4), unit.name);
}

static const char *range_cell(const Screen *screen, const RecordPoint *point) {
    double below = if_ran(point, 1 - point->step_p5_s / point->step_p50_s);
    double above = if_ran(point, point->step_p95_s / point->step_p50_s - 1);
    if (!(above + below > 0)) return TEXT_UNKNOWN;
    int decimals = above < 0.1;
    return arena_printf(screen->arena, "-%.*f … +%.*f %%", decimals, 100 * below, decimals, 100 * above);
}

static const char *rate_cell(const Screen *screen, const RecordPoint *point) {
    return known_count(screen, point_rate(screen->record, point));
}

static const char *percent_cell(const Screen *screen, const RecordPoint *point, double share) {
    share = if_ran(point, share);
    return share > 0 ? text_percent(screen->arena, share) : TEXT_UNKNOWN;
}

static const char *one_gpu_cell(const Screen *screen, const RecordPoint *point) {
    return percent_cell(screen, point, point->efficiency_vs_one_gpu);
}

static const char *ideal_cell(const Screen *screen, const RecordPoint *point) {
    return percent_cell(screen, point, point->efficiency_vs_ideal);
}

static const char *mfu_cell(const Screen *screen, const RecordPoint *point) {
    return percent_cell(screen, point, point->mfu);
}

static bool is_overhead(const RecordPoint *point, int index, double least) {
    return !look_of_cause(point->exposed[index].name, index).is_work && point->exposed[index].value > least;
}

static const char *share_text(const Screen *screen, const NamedValue *part, double whole) {
    return arena_printf(screen->arena, "%s %.0f %%", brief_cause(part->name), 100 * part->value / whole);
}

// The two largest causes that are not work, largest first.
static const char *overhead_cell(const Screen *screen, const RecordPoint *point) {
    double whole = sum_of_values(point->exposed, point->exposed_count), least = SMALLEST_SHARE * whole;
    int first = -1, second = -1;
    if (!point->ran || !(whole > 0)) return TEXT_UNKNOWN;
    for (int i = 0; i < point->exposed_count; i++) {
        if (!is_overhead(point, i, least)) continue;
        if (first < 0 || point->exposed[i].value > point->exposed[first].value) {
            second = first;
            first = i;
        } else if (second < 0 || point->exposed[i].value > point->exposed[second].value) {
            second = i;
        }
    }
    if (first < 0) return TEXT_UNKNOWN;
    const char *text = share_text(screen, &point->exposed[first], whole);
    return second < 0 ? text
                      : arena_printf(screen->arena, "%s, %s", text, share_text(screen, &point->exposed[second], whole));
}

static const char *memory_cell(const Screen *screen, const RecordPoint *point) {
    if (!(point->memory_peak_bytes > 0)) return TEXT_UNKNOWN;
    return text_bytes_of(screen->arena, point->memory_peak_bytes, point->memory_capacity_bytes);
}

static const char *money_cell(const Screen *screen, const RecordPoint *point, double amount) {
    return amount > 0 ? text_money(screen->arena, amount, point->currency) : TEXT_UNKNOWN;
}

static const char *hour_cell(const Screen *screen, const RecordPoint *point) {
    return money_cell(screen, point, point->cost_per_hour);
}

static const char *month_cell(const Screen *screen, const RecordPoint *point) {
    return money_cell(screen, point, point->cost_per_month);
}

static const char *run_cost_cell(const Screen *screen, const RecordPoint *point) {
    return money_cell(screen, point, if_ran(point, point->cost_per_run));
}

static const char *days_cell(const Screen *screen, const RecordPoint *point) {
    double days = if_ran(point, point->days);
    return days > 0 ? text_days(screen->arena, days) : TEXT_UNKNOWN;
}

// Where it is what the study is about.
static const char *energy_cell(const Screen *screen, const RecordPoint *point) {
    double energy = if_ran(point, point->energy_kwh);
    return is_varied(screen, "power_cap") && energy > 0 ? text_energy(screen->arena, energy) : TEXT_UNKNOWN;
}

static const char *why_not_cell(const Screen *screen, const RecordPoint *point) {
    return screen->style->plain && !point->ran && point->why_not ? point->why_not : TEXT_UNKNOWN;
}

static const char *change_cell(const Screen *screen, const RecordPoint *point) {
    return screen->style->plain && !point->ran && point->smallest_change ? point->smallest_change : TEXT_UNKNOWN;
}

// A part of the layout: worth a column where it differs from 1 and is not a varied parameter already.
#define LAYOUT_CELL(cell_, field_, name_)                                                                              \
    static const char *cell_(const Screen *screen, const RecordPoint *point) {                                         \
        bool is_used = false;                                                                                          \
        for (int i = 0; i < screen->record->point_count; i++)                                                          \
            is_used = is_used || screen->record->points[i].field_ > 1;                                                 \
        return is_used && !is_varied(screen, name_) ? known_count(screen, point->field_) : TEXT_UNKNOWN;               \
    }

LAYOUT_CELL(tp_cell, tp, "tp")
LAYOUT_CELL(pp_cell, pp, "pp")
LAYOUT_CELL(vpp_cell, vpp, "vpp")
LAYOUT_CELL(cp_cell, cp, "cp")
LAYOUT_CELL(ep_cell, ep, "ep")

static const struct {
    const char *title; // NULL: the unit of the throughput
    bool right_aligned;
    CellText *cell;
} columns[] = {
    {"GPUs", true, gpus_cell},
    {"nodes", true, nodes_cell},
    {"TP", true, tp_cell},
    {"PP", true, pp_cell},
    {"VP", true, vpp_cell},
    {"CP", true, cp_cell},
    {"EP", true, ep_cell},
    {"step time", true, step_cell},
    {"90 % range", true, range_cell},
    {NULL, true, rate_cell},
    {"vs 1 GPU", true, one_gpu_cell},
    {"vs ideal", true, ideal_cell},
    {"MFU", true, mfu_cell},
    {"overheads", false, overhead_cell},
    {"mem/GPU", true, memory_cell},
    {"cost/h", true, hour_cell},
    {"cost/month", true, month_cell},
    {"cost/run", true, run_cost_cell},
    {"run takes", true, days_cell},
    {"energy", true, energy_cell},
    {"why not", false, why_not_cell},
    {"smallest change", false, change_cell},
};

static bool is_known_somewhere(const Screen *screen, CellText *cell) {
    for (int i = 0; i < screen->record->point_count; i++)
        if (strcmp(cell(screen, &screen->record->points[i]), TEXT_UNKNOWN) != 0) return true;
    return false;
}

static void print_points(const Screen *screen) {
    const Record *record = screen->record;
    Table *table = table_create(screen->arena);
    bool is_shown[COUNT_OF(columns)];
    screen_key_columns(screen, table);
    for (int k = 0; k < COUNT_OF(columns); k++) {
        is_shown[k] = is_known_somewhere(screen, columns[k].cell);
        const char *title = columns[k].title ? columns[k].title : rate_unit(screen->arena, record);
        if (is_shown[k]) table_column(table, title, columns[k].right_aligned);
    }
    for (int i = 0; i < record->point_count; i++) {
        screen_key_cells(screen, table, i);
        for (int k = 0; k < COUNT_OF(columns); k++)
            if (is_shown[k]) table_cell(table, "%s", columns[k].cell(screen, &record->points[i]));
        table_end_row(table);
    }
    table_print(table, screen->out, screen->style);
}

// ---- Around the table.

static const char *name_of_point(const Screen *screen, const RecordPoint *point) {
    const char *others = point_label(screen->arena, screen->record, point, "gpus");
    const char *gpus = is_varied(screen, "gpus")
                           ? arena_printf(screen->arena, "%d GPU%s", point->gpu_count, point->gpu_count == 1 ? "" : "s")
                           : "";
    const char *name = screen_join(screen, gpus, others);
    return *name ? name : arena_printf(screen->arena, "point %d", (int)(point - screen->record->points) + 1);
}

void screen_settings(const Screen *screen, const RecordPoint *point) {
    const char *text = "";
    for (int i = 0; i < point->parameter_count; i++)
        if (!is_varied(screen, point->parameters[i].name) && !is_gpu_axis(point->parameters[i].name))
            text = screen_join(screen, text,
                               arena_printf(screen->arena, "%s %s", point->parameters[i].name,
                                            point->parameters[i].text ? point->parameters[i].text : ""));
    screen_line(screen, "Settings", text);
}

// What more GPUs give, where GPUs are all that varies.
static void print_scaling(const Screen *screen) {
    const Record *record = screen->record;
    const RecordPoint *least = NULL, *most = NULL;
    if (!is_varied(screen, "gpus") || *point_label_title(screen->arena, record, "gpus")) return;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        if (!isfinite(point_rate(record, point)) || point->gpu_count <= 0) continue;
        if (!least || point->gpu_count < least->gpu_count) least = point;
        if (!most || point->gpu_count > most->gpu_count) most = point;
    }
    if (!least || least->gpu_count == most->gpu_count) return;
    double growth = point_rate(record, most) / point_rate(record, least);
    double linear = (double)most->gpu_count / least->gpu_count;
    screen_line(screen, "Scaling",
                arena_printf(screen->arena, "from %s to %s, %s times the throughput: %s of linear",
                             name_of_point(screen, least), name_of_point(screen, most),
                             text_figures(screen->arena, growth, 3), text_percent(screen->arena, growth / linear)));
}

static const char *price_and_time(const Screen *screen, const RecordPoint *point) {
    return arena_printf(screen->arena, "%s: %s, %s", name_of_point(screen, point),
                        text_money(screen->arena, point->cost_per_run, point->currency),
                        text_days(screen->arena, point->days));
}

static void print_best(const Screen *screen) {
    const Record *record = screen->record;
    const RecordPoint *cheapest = NULL, *fastest = NULL;
    int known = 0;
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        if (!(if_ran(point, point->cost_per_run) > 0) || !(point->days > 0)) continue;
        known++;
        if (!cheapest || point->cost_per_run < cheapest->cost_per_run) cheapest = point;
        if (!fastest || point->days < fastest->days) fastest = point;
    }
    if (known < 2) return;
    screen_line(screen, "Cheapest", price_and_time(screen, cheapest));
    screen_line(screen, "Fastest", cheapest == fastest ? "the cheapest" : price_and_time(screen, fastest));
}

static void print_failures(const Screen *screen) {
    if (screen->style->plain) return; // they have columns there
    bool is_first = true;
    for (int i = 0; i < screen->record->point_count; i++) {
        const RecordPoint *point = &screen->record->points[i];
        if (point->ran) continue;
        if (is_first) fputc('\n', screen->out);
        is_first = false;
        const char *why = point->why_not ? point->why_not : "no reason was recorded";
        const char *change =
            point->smallest_change ? arena_printf(screen->arena, "; what would: %s", point->smallest_change) : "";
        screen_line(screen, "Does not run",
                    arena_printf(screen->arena, "%s: %s%s", name_of_point(screen, point), why, change));
    }
}

void screen_points(const Screen *screen) {
    screen_settings(screen, &screen->record->points[0]);
    print_scaling(screen);
    print_best(screen);
    fputc('\n', screen->out);
    print_points(screen);
    print_failures(screen);
    screen_breakdowns(screen);
    if (screen->verbose) screen_memories(screen);
}
