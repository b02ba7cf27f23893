// What an hour costs, part by part, and which prices are old.
#include <math.h>
#include <string.h>

#include "results/screen.h"
#include "results/text.h"
#include "results/view.h"

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

static void print_day(FILE *out, Date day) {
    fprintf(out, "%d", day.year);
    if (day.month > 0) fprintf(out, "-%02d", day.month);
    if (day.day > 0) fprintf(out, "-%02d", day.day);
}

void results_print_old_prices(FILE *out, const DatedPrice *prices, int count, const Style *style) {
    for (int i = 0; i < count && style->today.year > 0; i++) {
        Date date;
        if (!prices[i].date || !date_parse(prices[i].date, &date)) continue;
        if (!date_is_a_year_before(date, style->today)) continue;
        fprintf(out, "! old price: %s is of %s, which may be more than a year before ", prices[i].name, prices[i].date);
        print_day(out, style->today);
        fputc('\n', out);
    }
}

static bool was_there(const Screen *screen, int point, const DatedPrice *price) {
    for (int i = 0; i < point; i++)
        for (int k = 0; k < screen->record->points[i].price_count; k++)
            if (strcmp(screen->record->points[i].prices[k].name, price->name) == 0) return true;
    return false;
}

void screen_old_prices(const Screen *screen) {
    for (int i = 0; i < screen->record->point_count; i++)
        for (int k = 0; k < screen->record->points[i].price_count; k++) {
            const DatedPrice *price = &screen->record->points[i].prices[k];
            if (!was_there(screen, i, price)) results_print_old_prices(screen->out, price, 1, screen->style);
        }
}
