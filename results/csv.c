// One row a point for spreadsheets and scripts: SI units in the titles, empty cells for what is unknown.
#include <math.h>
#include <string.h>

#include "results/columns.h"
#include "results/results.h"
#include "results/tables.h"
#include "results/view.h"
#include "sim/csv.h"
#include "sim/list.h"
#include "sim/text.h"

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
    for (int i = 0; i < POINT_COLUMNS; i++)
        if (strcmp(point_columns[i], name) == 0) return true;
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

static void write_titles(Arena *arena, CsvWriter *csv, const Layout *layout) {
    for (int i = 0; i < layout->parameters.count; i++) csv_text(csv, layout->parameters.items[i]);
    for (int i = 0; i < POINT_COLUMNS; i++) csv_text(csv, point_columns[i]);
    for (int i = 0; i < layout->causes.count; i++)
        csv_text(csv, arena_printf(arena, "exposed_%s_s", layout->causes.items[i]));
    for (int i = 0; i < layout->classes.count; i++)
        csv_text(csv, arena_printf(arena, "memory_%s_bytes", layout->classes.items[i]));
    csv_text(csv, "currency");
    csv_text(csv, "why_not");
    csv_text(csv, "smallest_change");
    csv_text(csv, "digest");
    csv_end_row(csv);
}

static void write_point(Arena *arena, CsvWriter *csv, const Layout *layout, const RecordPoint *point) {
    for (int i = 0; i < layout->parameters.count; i++) {
        const RecordParameter *parameter = point_parameter(point, layout->parameters.items[i]);
        csv_text(csv, parameter ? parameter->text : "");
    }
    for (int i = 0; i < POINT_COLUMNS; i++) csv_figures(csv, "%s", text_exact(arena, point_number(point, i)));
    for (int i = 0; i < layout->causes.count; i++)
        csv_figures(csv, "%s",
                    text_exact(arena, if_ran(point, named_value(point->exposed, point->exposed_count,
                                                                layout->causes.items[i]))));
    for (int i = 0; i < layout->classes.count; i++)
        csv_figures(csv, "%s",
                    text_exact(arena, named_value(point->memory, point->memory_count, layout->classes.items[i])));
    csv_text(csv, point->currency);
    csv_text(csv, point->ran ? "" : point->why_not);
    csv_text(csv, point->ran ? "" : point->smallest_change);
    csv_figures(csv, "%016llx", (unsigned long long)point->digest);
    csv_end_row(csv);
}

void results_write_csv(FILE *out, const Record *record) {
    if (record->point_count == 0 && record->table_count > 0) {
        table_write_csv(out, &record->tables[0]);
        return;
    }
    Arena *arena = arena_open();
    CsvWriter csv = csv_writer(out);
    Layout layout = find_names(arena, record);
    write_titles(arena, &csv, &layout);
    for (int i = 0; i < record->point_count; i++) write_point(arena, &csv, &layout, &record->points[i]);
    arena_close(arena);
}
