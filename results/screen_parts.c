// Tables of the parts of each point: the step's time by cause, the memory by class.
#include <math.h>
#include <string.h>

#include "results/screen.h"
#include "results/view.h"
#include "sim/list.h"
#include "sim/text.h"

#define SMALLEST_SHARE 0.005 // of the whole in some point, to be worth a column

typedef struct Parts {
    const NamedValue *values;
    int count;
    double whole;
} Parts;

typedef Parts PartsOf(const RecordPoint *point);

static Parts time_parts(const RecordPoint *point) {
    return (Parts){point->exposed, point->ran ? point->exposed_count : 0,
                   sum_of_values(point->exposed, point->exposed_count)};
}

static Parts memory_parts(const RecordPoint *point) {
    return (Parts){point->memory, point->memory_count, sum_of_values(point->memory, point->memory_count)};
}

static double part_called(const Parts *parts, const char *name) {
    for (int i = 0; i < parts->count; i++)
        if (strcmp(parts->values[i].name, name) == 0) return parts->values[i].value;
    return NAN;
}

typedef struct Names {
    const char **items;
    int count, room;
} Names;

static bool is_listed(const Names *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) return true;
    return false;
}

// Names whose part is large enough in some point, in the order first met.
static Names names_worth_a_column(const Screen *screen, PartsOf *parts_of) {
    Names names = {0};
    for (int i = 0; i < screen->record->point_count; i++) {
        Parts parts = parts_of(&screen->record->points[i]);
        for (int k = 0; k < parts.count; k++) {
            bool is_large = parts.whole > 0 && parts.values[k].value >= SMALLEST_SHARE * parts.whole;
            if (is_large && !is_listed(&names, parts.values[k].name))
                LIST_PUSH(screen->arena, &names, parts.values[k].name);
        }
    }
    return names;
}

typedef const char *PartText(Arena *arena, double value, double whole);

static const char *share_of_whole(Arena *arena, double value, double whole) {
    return text_percent(arena, value / whole);
}

static const char *bytes_alone(Arena *arena, double value, double whole) {
    (void)whole;
    return text_bytes(arena, value);
}

static void print_parts(const Screen *screen, const char *heading, PartsOf *parts_of, PartText *text, bool are_causes) {
    Names names = names_worth_a_column(screen, parts_of);
    if (names.count == 0) return;
    screen_heading(screen, heading);
    Table *table = table_create(screen->arena);
    screen_key_columns(screen, table);
    for (int k = 0; k < names.count; k++)
        table_column(table, are_causes ? brief_cause(names.items[k]) : names.items[k], true);
    for (int i = 0; i < screen->record->point_count; i++) {
        Parts parts = parts_of(&screen->record->points[i]);
        if (parts.count == 0) continue;
        screen_key_cells(screen, table, i);
        for (int k = 0; k < names.count; k++)
            table_cell(table, "%s", text(screen->arena, part_called(&parts, names.items[k]), parts.whole));
        table_end_row(table);
    }
    table_print(table, screen->out, screen->style);
}

void screen_breakdowns(const Screen *screen) {
    print_parts(screen, "Where the step goes (exposed time, share of the step)", time_parts, share_of_whole, true);
}

void screen_memories(const Screen *screen) {
    print_parts(screen, "Memory of the fullest GPU", memory_parts, bytes_alone, false);
}
