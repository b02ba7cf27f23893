// A text table. Columns are as wide as their widest cell. On a narrow screen a last column of text is wrapped;
// otherwise columns move to a second panel below, with the first columns repeated.
#include "results/results.h"
#include "results/terminal.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define GAP 2
#define BELOW_INDENT 4
#define NARROWEST_FOLD 24

typedef struct Column {
    const char *title;
    bool right_aligned;
    int width;
} Column;

struct Table {
    Arena *arena;
    LIST_OF(Column) columns;
    LIST_OF(const char *) cells; // row by row
    struct {
        struct Below {
            int row;
            const char *text;
        } * items;
        int count, room;
    } below;
    int key_count; // leading columns that every panel repeats
};

Table *table_create(Arena *arena) {
    Table *table = ARENA_NEW(arena, Table);
    table->arena = arena;
    return table;
}

void table_column(Table *table, const char *title, bool right_aligned) {
    CHECK(table->cells.count == 0);
    Column column = {title, right_aligned, 0};
    LIST_PUSH(table->arena, &table->columns, column);
}

void table_keys(Table *table, int count) { table->key_count = count; }

void table_cell(Table *table, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = arena_vprintf(table->arena, format, arguments);
    va_end(arguments);
    LIST_PUSH(table->arena, &table->cells, text);
}

void table_below(Table *table, const char *text) {
    int row = (table->cells.count - 1) / table->columns.count;
    LIST_PUSH(table->arena, &table->below, ((struct Below){row, text}));
}

void table_end_row(Table *table) { CHECK(table->columns.count > 0 && table->cells.count % table->columns.count == 0); }

static int row_count(const Table *table) {
    return table->columns.count ? table->cells.count / table->columns.count : 0;
}

static const char *cell_at(const Table *table, int row, int column) {
    return table->cells.items[row * table->columns.count + column];
}

// ---- Plain: tabs between cells, for cut and awk.

static void print_plain(const Table *table, FILE *out, const Style *style) {
    int columns = table->columns.count;
    for (int i = 0; i < columns; i++)
        fprintf(out, "%s%c", text_clean(table->arena, table->columns.items[i].title, style->unicode),
                i + 1 < columns ? '\t' : '\n');
    for (int row = 0; row < row_count(table); row++)
        for (int i = 0; i < columns; i++)
            fprintf(out, "%s%c", text_clean(table->arena, cell_at(table, row, i), style->unicode),
                    i + 1 < columns ? '\t' : '\n');
}

// ---- The displayed table.

// A copy whose titles and cells are safe to print, with the columns measured.
static Table cleaned(const Table *table, bool unicode) {
    Arena *arena = table->arena;
    Table clean = {.arena = arena, .key_count = table->key_count};
    for (int i = 0; i < table->columns.count; i++) {
        Column column = table->columns.items[i];
        column.title = text_clean(arena, column.title, unicode);
        column.width = text_width(column.title);
        LIST_PUSH(arena, &clean.columns, column);
    }
    for (int i = 0; i < table->cells.count; i++) {
        const char *cell = text_clean(arena, table->cells.items[i], unicode);
        Column *column = &clean.columns.items[i % table->columns.count];
        int width = text_width(cell);
        if (width > column->width) column->width = width;
        LIST_PUSH(arena, &clean.cells, cell);
    }
    return clean;
}

static int width_of(const Table *table, int first, int last) {
    int width = 0;
    for (int i = first; i < last; i++) width += table->columns.items[i].width + GAP;
    return width;
}

static void print_spaces(FILE *out, int count) {
    static const char spaces[] = "                                ";
    const int most = (int)sizeof spaces - 1;
    for (; count > 0; count -= most) fwrite(spaces, 1, (size_t)(count < most ? count : most), out);
}

// The columns that a panel shows: the keys, then from `first` to before `last`.
typedef struct Panel {
    int keys, first, last;
    int fold; // width of the last column when it is folded, else 0
} Panel;

// A cell and the gap before it. Nothing is printed after the last letter of a line, so spaces wait in *owed.
static void print_cell(FILE *out, const Column *column, const char *cell, bool is_first, int *owed) {
    if (!is_first) *owed += GAP;
    if (!*cell) {
        *owed += column->width;
        return;
    }
    int spare = column->width - text_width(cell), before = column->right_aligned ? spare : 0;
    print_spaces(out, *owed + before);
    fputs(cell, out);
    *owed = spare - before;
}

static void print_folded(const Table *table, FILE *out, const Panel *panel, const char *text, int owed) {
    int indent = width_of(table, 0, panel->keys) + width_of(table, panel->first, panel->last - 1);
    owed += GAP;
    do {
        print_spaces(out, owed);
        const char *next;
        int bytes = text_line(text, panel->fold, &next);
        fprintf(out, "%.*s\n", bytes, text);
        text = next;
        owed = indent;
    } while (*text);
}

// row -1 is the titles.
static void print_line(const Table *table, FILE *out, const Panel *panel, int row) {
    int owed = 0;
    for (int at = 0; at < panel->keys + panel->last - panel->first; at++) {
        int i = at < panel->keys ? at : panel->first + at - panel->keys;
        const char *cell = row < 0 ? table->columns.items[i].title : cell_at(table, row, i);
        if (panel->fold && i == panel->last - 1 && row >= 0 && *cell) {
            print_folded(table, out, panel, cell, owed);
            return;
        }
        print_cell(out, &table->columns.items[i], cell, at == 0, &owed);
    }
    fputc('\n', out);
}

// Prints the texts below the row, from *next on.
static void print_below(const Table *table, FILE *out, const Style *style, int width, int row, int *next) {
    for (; *next < table->below.count && table->below.items[*next].row == row; ++*next) {
        const char *text = text_clean(table->arena, table->below.items[*next].text, style->unicode);
        while (*text) {
            const char *after;
            int bytes = text_line(text, width - BELOW_INDENT, &after);
            fprintf(out, "%*s%.*s\n", BELOW_INDENT, "", bytes, text);
            text = after;
        }
    }
}

// As many columns from `first` on as fit; at least one.
static Panel next_panel(const Table *table, int first, int width) {
    int columns = table->columns.count;
    Panel panel = {.keys = first == 0 ? 0 : table->key_count, .first = first};
    int used = width_of(table, 0, panel.keys) - GAP;
    for (panel.last = first; panel.last < columns; panel.last++) {
        const Column *column = &table->columns.items[panel.last];
        int room = width - used - GAP;
        bool can_fold = panel.last == columns - 1 && !column->right_aligned && panel.last > first;
        if (column->width > room && can_fold && room >= NARROWEST_FOLD) panel.fold = room;
        bool is_needed = panel.last == first || panel.last < table->key_count;
        if (column->width > room && !panel.fold && !is_needed) break;
        used += GAP + column->width;
    }
    return panel;
}

void table_print(const Table *table, FILE *out, const Style *style) {
    if (table->columns.count == 0) return;
    if (style->plain) {
        print_plain(table, out, style);
        return;
    }
    Table clean = cleaned(table, style->unicode);
    int width = style->width > 0 ? style->width : 100;
    for (Panel panel = {0}; panel.last < clean.columns.count;) {
        if (panel.last > 0) fputc('\n', out);
        panel = next_panel(&clean, panel.last, width);
        terminal_bold(out, style);
        print_line(&clean, out, &panel, -1);
        terminal_reset(out, style);
        int below = 0;
        for (int row = 0; row < row_count(&clean); row++) {
            print_line(&clean, out, &panel, row);
            if (panel.last == clean.columns.count) print_below(table, out, style, width, row, &below);
        }
    }
}
