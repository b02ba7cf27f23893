// One simulated configuration: the figures people ask for first, then where time and memory go.
#include <math.h>

#include "results/screen.h"
#include "results/terminal.h"
#include "results/view.h"
#include "sim/quantity.h"
#include "sim/text.h"

#define LONGEST_BAR 40
#define WORTH_SAYING 0.05 // chance to run out of memory
#define SURE 0.95
#define SMALLEST_SHARE 0.0005 // of the whole, to be worth a line

// ---- Figures. A line whose text is "" is left out.

// "A · B" of the parts that are known.
static const char *add_part(const Screen *screen, const char *line, double value, const char *part) {
    return isfinite(value) ? screen_join(screen, line, part) : line;
}

static const char *if_it_fits(const Screen *screen, const RecordPoint *point) {
    if (!(point->memory_capacity_bytes > 0 && point->chance_to_run_out > WORTH_SAYING)) return "";
    return arena_printf(screen->arena, ", if it fits (%s chance that it does not)",
                        text_percent(screen->arena, point->chance_to_run_out));
}

static const char *step_time_text(const Screen *screen, const RecordPoint *point) {
    const char *step = text_time(screen->arena, point->step_p50_s);
    if (!(point->step_p95_s > point->step_p5_s)) return step;
    return arena_printf(screen->arena, "%s (90 %% range %s to %s)%s", step, text_time(screen->arena, point->step_p5_s),
                        text_time(screen->arena, point->step_p95_s), if_it_fits(screen, point));
}

static const char *throughput_text(const Screen *screen, const RecordPoint *point) {
    double rate = point_rate(screen->record, point);
    if (!isfinite(rate)) return "";
    const char *text =
        arena_printf(screen->arena, "%s %s", screen_count(screen, rate), rate_unit(screen->arena, screen->record));
    if (point->gpu_count > 1)
        text = screen_join(screen, text,
                           arena_printf(screen->arena, "%s per GPU", screen_count(screen, rate / point->gpu_count)));
    if (point->tokens_per_s > 0 && point->samples_per_s > 0)
        text = screen_join(screen, text,
                           arena_printf(screen->arena, "%s %s/s", screen_count(screen, point->samples_per_s),
                                        screen->record->sample_name ? screen->record->sample_name : "samples"));
    return text;
}

static const char *efficiency_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    const char *text = "";
    text = add_part(screen, text, point->efficiency_vs_one_gpu,
                    arena_printf(arena, "%s of one GPU's throughput times the GPUs",
                                 text_percent(arena, point->efficiency_vs_one_gpu)));
    if (point->baseline_gpus > 1)
        text = screen_join(screen, text,
                           arena_printf(arena, "%s of the throughput per GPU on %s GPUs, %s",
                                        text_percent(arena, point->samples_per_s * point->baseline_gpus /
                                                                point->gpu_count / point->baseline_samples_per_s),
                                        screen_count(screen, point->baseline_gpus), baseline_batch_say(point)));
    return add_part(screen, text, point->efficiency_vs_ideal,
                    arena_printf(arena, "%s of the step is compute", text_percent(arena, point->efficiency_vs_ideal)));
}

static const char *utilisation_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    char rate[64];
    double flops_per_s = point->flops_per_step / point->step_p50_s / (point->gpu_count > 0 ? point->gpu_count : 1);
    const char *text = "";
    text = add_part(screen, text, point->mfu, arena_printf(arena, "%s of dense peak", text_percent(arena, point->mfu)));
    text = add_part(screen, text, point->hfu, arena_printf(arena, "HFU %s", text_percent(arena, point->hfu)));
    if (point->counts_done) text = screen_join(screen, text, "without what masks and Winograd's convolutions save");
    if (!isfinite(point->mfu) || !isfinite(flops_per_s) || flops_per_s <= 0) return text;
    quantity_format(flops_per_s, QUANTITY_FLOPS_RATE, rate, sizeof rate);
    return screen_join(screen, text, arena_printf(arena, "%s per GPU", rate));
}

static const char *gpus_text(const Screen *screen, const RecordPoint *point) {
    if (point->nodes || point->node_count <= 0) return machine_text(screen->arena, point);
    return arena_printf(screen->arena, "%s in %s node%s", screen_count(screen, point->gpu_count),
                        screen_count(screen, point->node_count), point->node_count == 1 ? "" : "s");
}

static const char *layout_text(const Screen *screen, const RecordPoint *point) {
    const struct {
        const char *name;
        double value, hidden_up_to;
    } parts[] = {
        {"TP", point->tp, 1},
        {"PP", point->pp, 1},
        {"VPP", point->vpp, 1},
        {"CP", point->cp, 1},
        {"EP", point->ep, 1},
        {"DP", point->dp, 0},
        {"ZeRO", point->zero, 0},
        {"micro-batch", point->micro_batch, 0},
        {"global batch", point->global_batch, 0},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value > parts[i].hidden_up_to)
            text =
                screen_join(screen, text,
                            arena_printf(screen->arena, "%s %s", parts[i].name, screen_count(screen, parts[i].value)));
    return text;
}

static const char *memory_text(const Screen *screen, const RecordPoint *point) {
    if (!(point->memory_peak_bytes > 0)) return "";
    const char *text = text_bytes_of(screen->arena, point->memory_peak_bytes, point->memory_capacity_bytes);
    if (!(point->memory_capacity_bytes > 0)) return arena_printf(screen->arena, "%s per GPU", text);
    bool over = point->ran && point->chance_to_run_out >= WORTH_SAYING;
    const char *risk =
        arena_printf(screen->arena, ", may not fit: %.0f %% chance to run out", 100 * point->chance_to_run_out);
    if (over && point->chance_to_run_out >= SURE) risk = ", more than it has; simulated all the same";
    return arena_printf(screen->arena, "%s per GPU (%s)%s", text,
                        text_percent(screen->arena, point->memory_peak_bytes / point->memory_capacity_bytes),
                        over ? risk : "");
}

static const char *cost_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    const struct {
        double amount;
        const char *per;
    } parts[] = {{point->cost_per_hour, "an hour"},
                 {point->cost_per_month, "a month"},
                 {if_ran(point, point->cost_per_run), "the run"}};
    const char *text = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        text =
            add_part(screen, text, parts[i].amount,
                     arena_printf(arena, "%s %s", text_money(arena, parts[i].amount, point->currency), parts[i].per));
    return text;
}

// What the whole run costs at the cheapest provider and at the dearest.
static const char *price_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    if (!point->price_of_gpu_hour) return "";
    const char *text = arena_printf(arena, "%s %s a GPU-hour", point->price_of_gpu_hour, point->currency);
    double hours = 24 * point->days, run = if_ran(point, point->cost_per_run);
    if (!isfinite(run) || !isfinite(hours)) return text;
    double least = run - (point->cost_per_hour - point->cost_per_hour_least) * hours;
    double most = run + (point->cost_per_hour_most - point->cost_per_hour) * hours;
    return screen_join(screen, text,
                       arena_printf(arena, "the run %s to %s", text_money(arena, least, point->currency),
                                    text_money(arena, most, point->currency)));
}

static const char *break_even_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    if (!(point->rent_per_hour > 0)) return "";
    const char *rent =
        arena_printf(arena, "renting is %s an hour", text_money(arena, point->rent_per_hour, point->currency));
    const char *months =
        isfinite(point->payback_months)
            ? arena_printf(arena, "owning has paid for itself after %.1f months", point->payback_months)
            : "owning never pays for itself";
    const char *use =
        point->break_even_utilisation <= 1
            ? arena_printf(arena, "cheaper from %s use on", text_percent(arena, point->break_even_utilisation))
            : "cheaper at no use";
    return screen_join(screen, screen_join(screen, rent, months), use);
}

static const char *run_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    const char *text = isfinite(point->days) ? text_days(arena, point->days) : "";
    return add_part(screen, text, point->steps, arena_printf(arena, "%s steps", screen_count(screen, point->steps)));
}

static const char *goodput_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    if (!(point->goodput > 0)) return "";
    const char *text = arena_printf(arena, "%s of the time is training", text_percent(arena, point->goodput));
    if (!isfinite(point->days_p5)) return text;
    return screen_join(screen, text,
                       arena_printf(arena, "%s to %s in 90 %% of runs", text_days(arena, point->days_p5),
                                    text_days(arena, point->days_p95)));
}

static const char *energy_text(const Screen *screen, const RecordPoint *point) {
    Arena *arena = screen->arena;
    const char *text =
        isfinite(point->energy_kwh) && point->energy_kwh > 0 ? text_energy(arena, point->energy_kwh) : "";
    if (!isfinite(point->power_watts) || point->power_watts <= 0) return text;
    text = screen_join(screen, text,
                       arena_printf(arena, "%s on average at the wall", text_power(arena, point->power_watts)));
    if (point->peak_watts > 0)
        text = screen_join(screen, text, arena_printf(arena, "%s at most", text_power(arena, point->peak_watts)));
    if (point->carbon_kg > 0)
        text = screen_join(screen, text, arena_printf(arena, "%s CO2e", text_mass(arena, point->carbon_kg)));
    return text;
}

static void print_figures(const Screen *screen, const RecordPoint *point) {
    if (point->ran) {
        screen_line(screen, "Step time", step_time_text(screen, point));
        screen_line(screen, "Throughput", throughput_text(screen, point));
        screen_line(screen, "Efficiency", efficiency_text(screen, point));
        screen_line(screen, "MFU", utilisation_text(screen, point));
    } else {
        screen_line(screen, "Does not run", point->why_not ? point->why_not : "no reason was recorded");
        screen_line(screen, "What would", point->smallest_change ? point->smallest_change : "");
    }
    screen_line(screen, "Memory", memory_text(screen, point));
    if (point->ran) screen_line(screen, "Run", run_text(screen, point));
    if (point->ran) screen_line(screen, "Goodput", goodput_text(screen, point));
    screen_line(screen, "Cost", cost_text(screen, point));
    screen_line(screen, "Price", price_text(screen, point));
    screen_line(screen, "Break-even", break_even_text(screen, point));
    if (point->ran) screen_line(screen, "Energy", energy_text(screen, point));
    screen_line(screen, "GPUs", gpus_text(screen, point));
    screen_line(screen, "Layout", layout_text(screen, point));
    screen_settings(screen, point);
}

// ---- Shares of a whole, each with a bar.

typedef struct ShareList {
    const char *unit_title; // of the second column in plain tables
    double whole;
    const NamedValue *values;
    int count;
    Look (*look)(const char *name, int index);
    const char *(*amount)(Arena *arena, double value);
} ShareList;

static const char *share_title(const Screen *screen, const NamedValue *value) {
    return text_clean(screen->arena, value->title ? value->title : value->name, screen->style->unicode);
}

static void print_plain_shares(const Screen *screen, const ShareList *list) {
    Table *table = table_create(screen->arena);
    table_column(table, "name", false);
    table_column(table, "share", true);
    table_column(table, list->unit_title, true);
    for (int i = 0; i < list->count; i++) {
        table_cell(table, "%s", list->values[i].name);
        table_cell(table, "%s", text_percent(screen->arena, list->values[i].value / list->whole));
        table_cell(table, "%s", list->amount(screen->arena, list->values[i].value));
        table_end_row(table);
    }
    table_print(table, screen->out, screen->style);
}

static bool is_worth_a_line(const ShareList *list, int index) {
    double value = list->values[index].value;
    return isfinite(value) && value >= SMALLEST_SHARE * list->whole;
}

// Widest title, and the largest value, whose bar is the longest.
static void measure(const Screen *screen, const ShareList *list, int *title_width, double *largest) {
    for (int i = 0; i < list->count; i++) {
        if (!is_worth_a_line(list, i)) continue;
        int width = text_width(share_title(screen, &list->values[i]));
        if (width > *title_width) *title_width = width;
        if (list->values[i].value > *largest) *largest = list->values[i].value;
    }
}

static void print_shares(const Screen *screen, const ShareList *list) {
    if (screen->style->plain) {
        print_plain_shares(screen, list);
        return;
    }
    int title_width = 0;
    double largest = 0;
    measure(screen, list, &title_width, &largest);
    int room = terminal_width_of(screen->style) - title_width - 24;
    if (room > LONGEST_BAR) room = LONGEST_BAR;
    for (int i = 0; i < list->count; i++) {
        if (!is_worth_a_line(list, i)) continue;
        const NamedValue *value = &list->values[i];
        const char *title = share_title(screen, value);
        fprintf(screen->out, "%s%*s  %7s  %9s  ", title, title_width - text_width(title), "",
                text_percent(screen->arena, value->value / list->whole), list->amount(screen->arena, value->value));
        terminal_bar(screen->out, screen->style, value->value / largest * room, list->look(value->name, i).color);
        fputc('\n', screen->out);
    }
}

static void print_breakdown(const Screen *screen, const RecordPoint *point) {
    double whole = sum_of_values(point->exposed, point->exposed_count);
    if (!point->ran || !(whole > 0)) return;
    screen_heading(screen, "Where the step goes (exposed time, mean over ranks)");
    ShareList list = {"time", whole, point->exposed, point->exposed_count, look_of_cause, text_time};
    print_shares(screen, &list);
}

static void print_memory(const Screen *screen, const RecordPoint *point) {
    double whole = sum_of_values(point->memory, point->memory_count);
    if (!(whole > 0)) return;
    bool has_capacity = point->memory_capacity_bytes > 0;
    screen_heading(screen,
                   has_capacity ? "Memory of the fullest GPU (share of its capacity)" : "Memory of the fullest GPU");
    ShareList list = {"bytes",        has_capacity ? point->memory_capacity_bytes : whole,
                      point->memory,  point->memory_count,
                      look_of_memory, text_bytes};
    print_shares(screen, &list);
}

// What decides before all figures: that fewer GPUs do as well.
static void print_more_gpus(const Screen *screen, const RecordPoint *point) {
    const char *says = more_gpus_say(screen->arena, screen->record, point);
    if (!says) return;
    screen_note(screen->out, screen->arena, screen->style, says);
    fputc('\n', screen->out);
}

void screen_one_point(const Screen *screen, const RecordPoint *point) {
    print_more_gpus(screen, point);
    print_figures(screen, point);
    print_breakdown(screen, point);
    print_memory(screen, point);
    screen_money(screen, point);
}
