// A record's own tables: on the screen, in JSON, as CSV.
#include "results/tables.h"

#include <math.h>

#include "results/screen.h"
#include "sim/csv.h"
#include "sim/text.h"

static const RecordCell *cell_at(const RecordTable *table, int row, int column) {
    return &table->cells[(size_t)row * (size_t)table->column_count + (size_t)column];
}

// ---- For people.

static const char *shown(const Screen *screen, const RecordColumn *column, const RecordCell *cell) {
    double number = cell->number;
    if (column->unit == RECORD_TEXT) return cell->text ? cell->text : "";
    if (!isfinite(number)) return TEXT_UNKNOWN;
    switch (column->unit) {
    case RECORD_COUNT:
        return screen_count(screen, number);
    case RECORD_SHARE:
        return text_percent(screen->arena, number);
    case RECORD_SECONDS:
        if (number != 0 && fabs(number) < 1) return text_time(screen->arena, number);
        if (fabs(number) < 60) return arena_printf(screen->arena, "%.3g s", number);
        if (fabs(number) < 3600) return arena_printf(screen->arena, "%.3g min", number / 60);
        return fabs(number) < 86400 ? arena_printf(screen->arena, "%.3g h", number / 3600)
                                    : arena_printf(screen->arena, "%.3g d", number / 86400);
    case RECORD_TEXT:
    case RECORD_NUMBER:
        break;
    }
    return text_figures(screen->arena, number, 3);
}

void screen_table(const Screen *screen, const RecordTable *from) {
    Table *table = table_create(screen->arena);
    if (!from->title) return;
    if (*from->title) screen_heading(screen, from->title);
    for (int c = 0; c < from->column_count; c++)
        if (from->columns[c].title) table_column(table, from->columns[c].title, from->columns[c].unit != RECORD_TEXT);
    for (int r = 0; r < from->row_count; r++) {
        for (int c = 0; c < from->column_count; c++)
            if (from->columns[c].title) table_cell(table, "%s", shown(screen, &from->columns[c], cell_at(from, r, c)));
        table_end_row(table);
    }
    table_keys(table, 1);
    table_print(table, screen->out, screen->style);
    if (from->note && !screen->style->plain) screen_text(screen, from->note);
}

// ---- JSON: a list of objects under the table's name.

void tables_write_json(JsonWriter *json, const Record *record) {
    for (int t = 0; t < record->table_count; t++) {
        const RecordTable *table = &record->tables[t];
        json_key(json, table->name);
        json_begin_list(json);
        for (int r = 0; r < table->row_count; r++) {
            json_begin_object(json);
            for (int c = 0; c < table->column_count; c++) {
                json_key(json, table->columns[c].name);
                if (table->columns[c].unit == RECORD_TEXT)
                    json_write_text(json, cell_at(table, r, c)->text);
                else
                    json_write_number(json, cell_at(table, r, c)->number);
            }
            json_end_object(json);
        }
        json_end_list(json);
    }
}

// ---- CSV.

void table_write_csv(FILE *out, const RecordTable *table) {
    Arena *arena = arena_open();
    CsvWriter csv = csv_writer(out);
    for (int c = 0; c < table->column_count; c++) csv_text(&csv, table->columns[c].name);
    csv_end_row(&csv);
    for (int r = 0; r < table->row_count; r++) {
        for (int c = 0; c < table->column_count; c++) {
            const RecordCell *cell = cell_at(table, r, c);
            if (table->columns[c].unit == RECORD_TEXT)
                csv_text(&csv, cell->text);
            else
                csv_figures(&csv, "%s", text_exact(arena, cell->number));
        }
        csv_end_row(&csv);
    }
    arena_close(arena);
}
