// What an hour costs, part by part, and which prices are old.
#include <math.h>
#include <string.h>

#include "results/screen.h"
#include "results/view.h"
#include "sim/list.h"
#include "sim/name_index.h"
#include "sim/text.h"

#define MOST_TOLD 40 // of old prices

void screen_money(const Screen *screen, const RecordPoint *point) {
    if (point->cost_line_count < 2) return;
    screen_heading(screen, "What an hour costs");
    Table *table = table_create(screen->arena);
    table_column(table, "part", false);
    table_column(table, "an hour", true);
    table_column(table, "share", true);
    for (int i = 0; i < point->cost_line_count; i++) {
        const NamedValue *line = &point->cost_lines[i];
        table_cell(table, "%s", line->title);
        table_cell(table, "%s", text_money(screen->arena, line->value, point->currency));
        table_cell(table, "%s", text_percent(screen->arena, line->value / point->cost_per_hour));
        table_end_row(table);
    }
    table_print(table, screen->out, screen->style);
}

static const char *day_text(Arena *arena, Date day) {
    if (day.month == 0) return arena_printf(arena, "%d", day.year);
    if (day.day == 0) return arena_printf(arena, "%d-%02d", day.year, day.month);
    return arena_printf(arena, "%d-%02d-%02d", day.year, day.month, day.day);
}

static const char *old_prices(Arena *arena, const DatedPrice *prices, int count, Date today) {
    const char *list = NULL;
    int old = 0;
    for (int i = 0; i < count && today.year > 0; i++) {
        Date date;
        if (!prices[i].date || !date_parse(prices[i].date, &date) || !date_is_a_year_before(date, today)) continue;
        if (old++ >= MOST_TOLD) continue;
        list = arena_printf(arena, "%s%s%s (%s)", list ? list : "", list ? ", " : "", prices[i].name, prices[i].date);
    }
    return old > MOST_TOLD ? arena_printf(arena, "%s, and %d more", list, old - MOST_TOLD) : list;
}

const char *results_old_prices(Arena *arena, const DatedPrice *prices, int count, Date today) {
    const char *list = old_prices(arena, prices, count, today);
    return list ? arena_printf(arena, "Prices that may be more than a year older than %s: %s", day_text(arena, today),
                               list)
                : NULL;
}

void results_print_old_prices(FILE *out, const DatedPrice *prices, int count, const Style *style) {
    Arena *arena = arena_open();
    const char *text = results_old_prices(arena, prices, count, style->today);
    if (text) screen_note(out, arena, style, text);
    arena_close(arena);
}

typedef struct PriceList {
    DatedPrice *items;
    int count, room;
} PriceList;

void screen_old_prices(const Screen *screen) {
    PriceList all = {0};
    NameIndex *names = name_index_create(screen->arena, strcmp);
    for (int i = 0; i < screen->record->point_count; i++)
        for (int k = 0; k < screen->record->points[i].price_count; k++) {
            const DatedPrice *price = &screen->record->points[i].prices[k];
            if (name_index_add(names, price->name, all.count) < 0) LIST_PUSH(screen->arena, &all, *price);
        }
    results_print_old_prices(screen->out, all.items, all.count, screen->style);
}
