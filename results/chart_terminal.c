// Charts with letters and blocks. With colour a bar is a coloured stretch; without, it is filled with the first free
// letter of its name.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "results/chart.h"
#include "results/terminal.h"
#include "results/view.h"
#include "sim/text.h"

#define LONGEST_NAME 28
#define MOST_ROWS 64
#define WIDEST 160

typedef struct Field { // where bars are drawn
    int name_width, width;
    double columns_per_x;
} Field;

static const char *clean(Arena *arena, const char *text, const Style *style) {
    return text_clean(arena, text ? text : "", style->unicode);
}

static int longest(Arena *arena, const char *const *texts, int count, const Style *style) {
    int width = 0;
    for (int i = 0; texts && i < count; i++) {
        int text = text_width(clean(arena, texts[i], style));
        if (text > width) width = text;
    }
    return width;
}

static Field field_of(Arena *arena, const BarChart *chart, const Style *style) {
    int names = longest(arena, chart->rows, chart->row_count, style),
        ends = longest(arena, chart->ends, chart->row_count, style);
    int width = terminal_width_of(style);
    if (width > WIDEST) width = WIDEST;
    Field field = {.name_width = names < LONGEST_NAME ? names : LONGEST_NAME};
    field.width = width - field.name_width - 2 - (ends ? ends + 2 : 0);
    if (field.width < 10) field.width = 10;
    field.columns_per_x = chart->x_max > 0 ? field.width / chart->x_max : 0;
    return field;
}

// The first letter of each name that no earlier entry took.
static char *choose_letters(Arena *arena, const BarChart *chart, int entry_count) {
    static const char spare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    char *letters = arena_alloc(arena, (size_t)entry_count + 1);
    for (int i = 0; i < entry_count; i++) {
        for (const char *name = chart->legend[i].name; *name && !letters[i]; name++) {
            char letter = (char)toupper((unsigned char)*name);
            if (isupper((unsigned char)letter) && !memchr(letters, letter, (size_t)i)) letters[i] = letter;
        }
        for (const char *free = spare; *free && !letters[i]; free++)
            if (!memchr(letters, *free, (size_t)i)) letters[i] = *free;
        if (!letters[i]) letters[i] = '+';
    }
    return letters;
}

// ---- A row is painted into cells, then printed.

typedef struct Cell {
    int legend;  // -1: nothing
    char letter; // of a label, or 0
} Cell;

static void paint_label(Cell *cells, int from, int to, const char *label) {
    int length = label ? (int)strlen(label) : 0;
    if (length == 0 || length + 2 > to - from) return;
    for (int i = 0; i < length; i++)
        if ((unsigned char)label[i] >= 0x80) return;
    for (int i = 0; i < length; i++) cells[from + (to - from - length) / 2 + i].letter = label[i];
}

static int column_of(const Field *field, double x) {
    double column = round(x * field->columns_per_x);
    return column < 0 ? 0 : column > field->width ? field->width : (int)column;
}

static void paint_row(Cell *cells, const BarChart *chart, const Field *field, int row) {
    for (int i = 0; i < field->width; i++) cells[i] = (Cell){-1, 0};
    for (int i = 0; i < chart->bar_count; i++) {
        const ChartBar *bar = &chart->bars[i];
        if (bar->row != row || bar->is_part) continue;
        int from = column_of(field, bar->from), to = column_of(field, bar->to);
        for (int k = from; k < to; k++) cells[k] = (Cell){bar->legend, 0};
        paint_label(cells, from, to, bar->label);
    }
}

typedef struct Pen {
    FILE *out;
    const Style *style;
    const BarChart *chart;
    const char *letters; // of the legend; NULL when rows need none
    int limit;           // column of the limit, or -1
} Pen;

static void change_color(const Pen *pen, int legend) {
    terminal_reset(pen->out, pen->style);
    if (legend < 0) return;
    uint32_t color = pen->chart->legend[legend].color;
    terminal_colors(pen->out, pen->style, color_is_dark(color) ? 0xffffff : 0x000000, color);
}

static void print_cell(const Pen *pen, const Cell *cell, int column) {
    if (cell->legend < 0) {
        fputc(column == pen->limit ? '|' : ' ', pen->out);
    } else if (pen->style->color) {
        fputc(cell->letter ? cell->letter : ' ', pen->out);
    } else if (cell->letter || pen->letters) {
        fputc(cell->letter ? cell->letter : pen->letters[cell->legend], pen->out);
    } else {
        fputs(pen->style->unicode ? "█" : "#", pen->out);
    }
}

static int last_painted(const Cell *cells, const Field *field, int limit) {
    int last = limit;
    for (int i = 0; i < field->width; i++)
        if (cells[i].legend >= 0 && i > last) last = i;
    return last;
}

static void print_name(Arena *arena, FILE *out, const char *name, int width, const Style *style) {
    const char *text = clean(arena, name, style);
    while (text_width(text) > width) text = arena_printf(arena, "%.*s", (int)strlen(text) - 1, text);
    text = text_clean(arena, text, style->unicode); // a letter may have been cut in two
    fprintf(out, "%s%*s  ", text, width - text_width(text) > 0 ? width - text_width(text) : 0, "");
}

static void print_row(Arena *arena, const Pen *pen, const Field *field, Cell *cells, int row) {
    const BarChart *chart = pen->chart;
    print_name(arena, pen->out, chart->rows[row], field->name_width, pen->style);
    paint_row(cells, chart, field, row);
    int last = last_painted(cells, field, pen->limit);
    for (int i = 0; i <= last; i++) {
        if (i == 0 || cells[i].legend != cells[i - 1].legend) change_color(pen, cells[i].legend);
        print_cell(pen, &cells[i], i);
    }
    terminal_reset(pen->out, pen->style);
    if (chart->ends && *chart->ends[row])
        fprintf(pen->out, "%*s%s", last < 0 ? 0 : 2, "", clean(arena, chart->ends[row], pen->style));
    fputc('\n', pen->out);
}

// ---- Below the rows.

static void print_folded(FILE *out, const char *text, int width) {
    while (*text) {
        const char *next;
        int bytes = text_line(text, width, &next);
        fprintf(out, "%.*s\n", bytes, text);
        text = next;
    }
}

static void print_axis(Arena *arena, const Pen *pen, const Field *field) {
    const char *most = text_figures(arena, pen->chart->x_max, 4),
               *title = clean(arena, pen->chart->x_title, pen->style);
    int spare = field->width - 1 - text_width(most) - text_width(title), before = spare / 2;
    if (spare < 4) {
        print_folded(pen->out, arena_printf(arena, "0 to %s: %s", most, title), terminal_width_of(pen->style));
        return;
    }
    fprintf(pen->out, "%*s0%*s%s%*s%s\n", field->name_width + 2, "", before, "", title, spare - before, "", most);
}

static void print_legend(Arena *arena, const Pen *pen) {
    int used = 0, width = terminal_width_of(pen->style);
    for (int i = 0; i < pen->chart->legend_count; i++) {
        const char *name = clean(arena, pen->chart->legend[i].name, pen->style);
        int needed = text_width(name) + 5;
        if (used > 0 && used + needed > width) {
            fputc('\n', pen->out);
            used = 0;
        }
        if (used > 0) fputs("   ", pen->out);
        used += needed;
        terminal_colors(pen->out, pen->style, 0, pen->chart->legend[i].color);
        fputc(pen->style->color ? ' ' : pen->letters[i], pen->out);
        terminal_reset(pen->out, pen->style);
        fprintf(pen->out, " %s", name);
    }
    if (used > 0) fputc('\n', pen->out);
    if (isfinite(pen->chart->line)) fprintf(pen->out, "| %s\n", clean(arena, pen->chart->line_title, pen->style));
}

static int legend_entries(const BarChart *chart) {
    int count = chart->legend_count;
    for (int i = 0; i < chart->bar_count; i++)
        if (chart->bars[i].legend >= count) count = chart->bars[i].legend + 1;
    return count;
}

static void print_title(Arena *arena, FILE *out, const char *title, const Style *style) {
    terminal_bold(out, style);
    print_folded(out, clean(arena, title, style), terminal_width_of(style));
    terminal_reset(out, style);
}

void print_bar_chart(Arena *arena, FILE *out, const BarChart *chart, const Style *style) {
    Field field = field_of(arena, chart, style);
    Cell *cells = ARENA_ARRAY(arena, Cell, field.width);
    Pen pen = {out, style, chart, NULL, -1};
    if (chart->legend_count) pen.letters = choose_letters(arena, chart, legend_entries(chart));
    if (isfinite(chart->line)) pen.limit = column_of(&field, chart->line) - 1;

    print_title(arena, out, chart->title, style);
    int shown = chart->row_count < MOST_ROWS ? chart->row_count : MOST_ROWS;
    for (int row = 0; row < shown; row++) print_row(arena, &pen, &field, cells, row);
    if (shown < chart->row_count) fprintf(out, "and %d rows more\n", chart->row_count - shown);
    print_axis(arena, &pen, &field);
    print_legend(arena, &pen);
}

// ---- Scaling, where gnuplot is missing: a bar a point.

static double highest_rate(const ScalingChart *chart) {
    double highest = 0;
    for (int i = 0; i < chart->series_count; i++)
        for (int k = 0; k < chart->series[i].count; k++) highest = fmax(highest, chart->series[i].points[k].rate);
    return highest;
}

void print_scaling_chart(Arena *arena, FILE *out, const ScalingChart *chart, const Style *style) {
    double highest = highest_rate(chart);
    int room = terminal_width_of(style) - 40;
    if (room > 60) room = 60;
    if (room < 10) room = 10;
    print_title(arena, out, chart->title, style);
    for (int i = 0; i < chart->series_count; i++) {
        const ScalingSeries *series = &chart->series[i];
        if (*series->name) fprintf(out, "%s\n", clean(arena, series->name, style));
        fprintf(out, "%8s  %12s  %s\n", clean(arena, chart->x_title, style), clean(arena, chart->y_title, style),
                chart->has_efficiency ? chart->efficiency_title : "");
        for (int k = 0; k < series->count; k++) {
            const ScalingPoint *point = &series->points[k];
            fprintf(out, "%8s  %12s  ", text_count(arena, point->x, false),
                    text_count(arena, point->rate, !style->plain));
            if (isfinite(point->efficiency)) fprintf(out, "%5.1f %%  ", point->efficiency);
            terminal_bar(out, style, point->rate / highest * room, series_color(i));
            fputc('\n', out);
        }
    }
}
