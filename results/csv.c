// One row a point for spreadsheets and scripts: SI units in the titles, empty cells for what is unknown.
#include <math.h>
#include <string.h>

#include "results/results.h"
#include "results/text.h"
#include "results/view.h"
#include "sim/list.h"

typedef struct Csv {
    FILE *out;
    Arena *arena;
    bool is_row_started;
} Csv;

// Quoted where RFC 4180 asks for it.
static void write_text(Csv *csv, const char *text) {
    if (csv->is_row_started) fputc(',', csv->out);
    csv->is_row_started = true;
    if (!text) return;
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, csv->out);
        return;
    }
    fputc('"', csv->out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', csv->out);
        fputc(*text, csv->out);
    }
    fputc('"', csv->out);
}

static void write_number(Csv *csv, double number) { write_text(csv, text_exact(csv->arena, number)); }

static void end_row(Csv *csv) {
    fputc('\n', csv->out);
    csv->is_row_started = false;
}

// ---- Columns that every file has.

typedef struct CsvColumn {
    const char *name;
    double (*value)(const RecordPoint *point);
} CsvColumn;

#define FIELD(name_, expression_)                                                                                      \
    static double name_(const RecordPoint *point) { return (expression_); }

FIELD(gpus, point->gpu_count)
FIELD(nodes, point->node_count)
FIELD(step_p5, if_ran(point, point->step_p5_s))
FIELD(step_p50, if_ran(point, point->step_p50_s))
FIELD(step_p95, if_ran(point, point->step_p95_s))
FIELD(samples_per_s, if_ran(point, point->samples_per_s) > 0 ? point->samples_per_s : NAN)
FIELD(tokens_per_s, if_ran(point, point->tokens_per_s) > 0 ? point->tokens_per_s : NAN)
FIELD(scaling_efficiency, if_ran(point, point->efficiency_vs_one_gpu))
FIELD(efficiency_vs_ideal, if_ran(point, point->efficiency_vs_ideal))
FIELD(mfu, if_ran(point, point->mfu))
FIELD(hfu, if_ran(point, point->hfu))
FIELD(flops_per_step, if_ran(point, point->flops_per_step))
FIELD(memory_peak, point->memory_peak_bytes)
FIELD(memory_capacity, point->memory_capacity_bytes)
FIELD(cost_per_hour, point->cost_per_hour)
FIELD(cost_per_month, point->cost_per_month)
FIELD(cost_per_run, if_ran(point, point->cost_per_run))
FIELD(cost_per_step, if_ran(point, point->cost_per_step))
FIELD(days, if_ran(point, point->days))
FIELD(steps, point->steps)
FIELD(energy, if_ran(point, point->energy_kwh))
FIELD(power, if_ran(point, point->power_watts))
FIELD(tp, point->tp)
FIELD(pp, point->pp)
FIELD(vpp, point->vpp)
FIELD(dp, point->dp)
FIELD(cp, point->cp)
FIELD(ep, point->ep)
FIELD(zero, point->zero)
FIELD(micro_batch, point->micro_batch)
FIELD(global_batch, point->global_batch)

static const CsvColumn columns[] = {
    {"gpus", gpus},
    {"nodes", nodes},
    {"step_p5_s", step_p5},
    {"step_p50_s", step_p50},
    {"step_p95_s", step_p95},
    {"samples_per_s", samples_per_s},
    {"tokens_per_s", tokens_per_s},
    {"scaling_efficiency", scaling_efficiency},
    {"efficiency_vs_ideal", efficiency_vs_ideal},
    {"mfu", mfu},
    {"hfu", hfu},
    {"flops_per_step", flops_per_step},
    {"memory_peak_bytes", memory_peak},
    {"memory_capacity_bytes", memory_capacity},
    {"cost_per_hour", cost_per_hour},
    {"cost_per_month", cost_per_month},
    {"cost_per_run", cost_per_run},
    {"cost_per_step", cost_per_step},
    {"days", days},
    {"steps", steps},
    {"energy_kwh", energy},
    {"power_watts", power},
    {"tp", tp},
    {"pp", pp},
    {"vpp", vpp},
    {"dp", dp},
    {"cp", cp},
    {"ep", ep},
    {"zero", zero},
    {"micro_batch", micro_batch},
    {"global_batch", global_batch},
};
#define COLUMN_COUNT ((int)(sizeof columns / sizeof *columns))

// ---- Columns that depend on the record: names met in any point, in the order first met.

typedef struct Names {
    const char **items;
    int count, room;
} Names;

static void add_name(Arena *arena, Names *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) return;
    LIST_PUSH(arena, names, name);
}

static bool is_fixed_column(const char *name) {
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(columns[i].name, name) == 0) return true;
    return false;
}

static double named_value(const NamedValue *values, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0) return values[i].value;
    return NAN;
}

typedef struct Layout {
    Names parameters, causes, classes;
} Layout;

static Layout find_names(Arena *arena, const Record *record) {
    Layout layout = {0};
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        for (int k = 0; k < point->parameter_count; k++)
            if (!is_fixed_column(point->parameters[k].name))
                add_name(arena, &layout.parameters, point->parameters[k].name);
        for (int k = 0; k < point->exposed_count; k++) add_name(arena, &layout.causes, point->exposed[k].name);
        for (int k = 0; k < point->memory_count; k++) add_name(arena, &layout.classes, point->memory[k].name);
    }
    return layout;
}

static void write_titles(Csv *csv, const Layout *layout) {
    for (int i = 0; i < layout->parameters.count; i++) write_text(csv, layout->parameters.items[i]);
    for (int i = 0; i < COLUMN_COUNT; i++) write_text(csv, columns[i].name);
    for (int i = 0; i < layout->causes.count; i++)
        write_text(csv, arena_printf(csv->arena, "exposed_%s_s", layout->causes.items[i]));
    for (int i = 0; i < layout->classes.count; i++)
        write_text(csv, arena_printf(csv->arena, "memory_%s_bytes", layout->classes.items[i]));
    write_text(csv, "currency");
    write_text(csv, "why_not");
    write_text(csv, "smallest_change");
    write_text(csv, "digest");
    end_row(csv);
}

static void write_point(Csv *csv, const Layout *layout, const RecordPoint *point) {
    for (int i = 0; i < layout->parameters.count; i++) {
        const RecordParameter *parameter = point_parameter(point, layout->parameters.items[i]);
        write_text(csv, parameter ? parameter->text : "");
    }
    for (int i = 0; i < COLUMN_COUNT; i++) write_number(csv, columns[i].value(point));
    for (int i = 0; i < layout->causes.count; i++)
        write_number(csv, if_ran(point, named_value(point->exposed, point->exposed_count, layout->causes.items[i])));
    for (int i = 0; i < layout->classes.count; i++)
        write_number(csv, named_value(point->memory, point->memory_count, layout->classes.items[i]));
    write_text(csv, point->currency);
    write_text(csv, point->ran ? "" : point->why_not);
    write_text(csv, point->ran ? "" : point->smallest_change);
    write_text(csv, arena_printf(csv->arena, "%016llx", (unsigned long long)point->digest));
    end_row(csv);
}

void results_write_csv(FILE *out, const Record *record) {
    Csv csv = {.out = out, .arena = arena_open()};
    Layout layout = find_names(csv.arena, record);
    write_titles(&csv, &layout);
    for (int i = 0; i < record->point_count; i++) write_point(&csv, &layout, &record->points[i]);
    arena_close(csv.arena);
}
