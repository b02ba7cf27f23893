// Charts as gnuplot commands. Data are numbers in data blocks; text is single-quoted, where gnuplot runs and
// substitutes nothing, and "noenhanced" keeps '_' and '^' as they are.
#include <math.h>
#include <string.h>

#include "results/chart.h"
#include "results/view.h"
#include "sim/text.h"

#define INK "'#222222'"
#define GRID "'#e2e2e2'"

// An apostrophe becomes the typographic one: gnuplot 5.4 does not take a doubled one at the start of a string.
const char *quoted_for_gnuplot(Arena *arena, const char *text, bool is_tick) {
    static const char apostrophe[] = "’";
    text = text_clean(arena, text, true);
    char *quoted = arena_alloc(arena, sizeof apostrophe * strlen(text) + 3), *end = quoted;
    *end++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            end = stpcpy(end, apostrophe);
            continue;
        }
        if (is_tick && *text == '%') *end++ = '%'; // a tick's text is a format
        *end++ = *text;
    }
    *end++ = '\'';
    *end = '\0';
    return quoted;
}

static const char *quoted(Arena *arena, const char *text) { return quoted_for_gnuplot(arena, text, false); }

// So many columns at most, the rest cut.
static const char *shortened(Arena *arena, const char *text, int columns) {
    text = text_clean(arena, text, true);
    if (text_width(text) <= columns) return text;
    char *cut = arena_copy_text(arena, text);
    size_t length = strlen(cut);
    while (length > 0 && text_width(cut) > columns - 1) {
        do length--;
        while (length > 0 && ((unsigned char)cut[length] & 0xc0) == 0x80);
        cut[length] = '\0';
    }
    return arena_printf(arena, "%s…", cut);
}

void write_plot_frame(Arena *arena, FILE *script, const char *title, const Canvas *canvas) {
    int columns = (int)((canvas->width - 40) / (1.3 * canvas->letter));
    fprintf(script, "set encoding utf8\n"
                    "set border 3 lc rgb '#888888' lw 1\n"
                    "set tics nomirror out scale 0.5 textcolor rgb " INK "\n"
                    "set grid lt 1 lc rgb " GRID " lw 1\n"
                    "unset key\n");
    fprintf(
        script,
        "set label 1 %s at screen 0, screen 1 left offset character 2, character -1.4 font TitleFont textcolor rgb " INK
        "\n",
        quoted(arena, shortened(arena, title, columns)));
}

// ---- Bars in rows.

#define ROW_PIXELS 34
#define DENSE_ROW_PIXELS 40
#define LONGEST_ROW_NAME 34
#define MOST_LABELS 3000
#define PIXELS_ABOVE 66 // title
#define PIXELS_BELOW 62 // axis

static int longest(Arena *arena, const char *const *texts, int count) {
    int width = 0;
    for (int i = 0; i < count; i++) {
        int text = text_width(text_clean(arena, texts[i], true));
        if (text > width) width = text;
    }
    return width < LONGEST_ROW_NAME ? width : LONGEST_ROW_NAME;
}

Canvas bar_canvas(const BarChart *chart) {
    int rows = chart->row_count * (chart->is_dense ? DENSE_ROW_PIXELS : ROW_PIXELS);
    int legend = chart->legend_count * 21, body = rows > legend ? rows : legend;
    if (body < 90) body = 90;
    if (body > 2400) body = 2400;
    return (Canvas){1000, 140 + body, 8};
}

// Where the bars lie, in pixels from the left edge.
typedef struct Field {
    double left, right;
} Field;

static Field field_of(Arena *arena, const BarChart *chart, const Canvas *canvas) {
    int legend = 0;
    for (int i = 0; i < chart->legend_count; i++) {
        int width = text_width(text_clean(arena, chart->legend[i].name, true));
        if (width > legend) legend = width;
    }
    if (legend > LONGEST_ROW_NAME) legend = LONGEST_ROW_NAME;
    double left = 30 + canvas->letter * longest(arena, chart->rows, chart->row_count) + (*chart->y_title ? 26 : 0);
    double right = canvas->width - 30 - (chart->legend_count ? 44 + canvas->letter * legend : 0);
    return (Field){left, right};
}

static double row_end(const BarChart *chart, int row) {
    double end = 0;
    for (int i = 0; i < chart->bar_count; i++)
        if (chart->bars[i].row == row && chart->bars[i].to > end) end = chart->bars[i].to;
    return end;
}

// Far enough for each row's bars with the text behind them.
static double axis_end(const BarChart *chart, const Canvas *canvas, Field field) {
    double end = isfinite(chart->line) ? fmax(chart->x_max, 1.02 * chart->line) : chart->x_max;
    for (int row = 0; chart->ends && row < chart->row_count; row++) {
        double share = canvas->letter * (text_width(chart->ends[row]) + 2) / (field.right - field.left);
        end = fmax(end, row_end(chart, row) / (1 - fmin(share, 0.5)));
    }
    return end;
}

// Where rows are lower than letters, only every so many carry text.
static int row_step(const BarChart *chart, const Canvas *canvas) {
    return 1 + (int)(chart->row_count * 16.0 / (canvas->height - PIXELS_ABOVE - PIXELS_BELOW));
}

static void write_bar_axes(Arena *arena, FILE *script, const BarChart *chart, const Canvas *canvas, Field field,
                           double x_end) {
    fprintf(script, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", field.left / canvas->width,
            field.right / canvas->width);
    fprintf(script, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
            1 - (double)PIXELS_ABOVE / canvas->height, (double)PIXELS_BELOW / canvas->height);
    fprintf(script, "set xrange [0:%.9g]\nset yrange [%g:-0.5]\n", x_end, chart->row_count - 0.5);
    fprintf(script, "set border 1\nset grid x noy back\nset ytics scale 0\n");
    fprintf(script, "set xlabel %s textcolor rgb " INK "\n", quoted(arena, chart->x_title));
    if (*chart->y_title)
        fprintf(script, "set label 3 %s at screen %.5f, graph 0.5 center rotate textcolor rgb " INK "\n",
                quoted(arena, shortened(arena, chart->y_title, LONGEST_ROW_NAME)), 18.0 / canvas->width);
    fprintf(script, "set ytics (");
    int step = row_step(chart, canvas);
    for (int i = 0; i < chart->row_count; i += step)
        fprintf(script, "%s%s %d", i ? ", " : "",
                quoted_for_gnuplot(arena, shortened(arena, chart->rows[i], LONGEST_ROW_NAME), true), i);
    fprintf(script, ")\n");
}

static void write_limit(Arena *arena, FILE *script, const BarChart *chart) {
    if (!isfinite(chart->line)) return;
    fprintf(script,
            "set arrow 1 from first %.9g, graph 0 to first %.9g, graph 1 nohead front lc rgb '#b00020' lw 2 dt 2\n",
            chart->line, chart->line);
    fprintf(
        script,
        "set label 2 %s at first %.9g, graph 1 right offset character -0.3, character 0.6 textcolor rgb '#b00020'\n",
        quoted(arena, chart->line_title), chart->line);
}

static void write_bar_data(FILE *script, const BarChart *chart) {
    double half = chart->is_dense ? 0.42 : 0.36;
    fprintf(script, "$Bars << END_OF_BARS\n");
    for (int i = 0; i < chart->bar_count; i++) {
        const ChartBar *bar = &chart->bars[i];
        double low = bar->high > bar->low ? bar->low : 0, high = bar->high > bar->low ? bar->high : 1;
        fprintf(script, "%.9g %d %.9g %.9g %.9g %.9g %u\n", (bar->from + bar->to) / 2, bar->row, bar->from, bar->to,
                bar->row + half - 2 * half * high, bar->row + half - 2 * half * low,
                (unsigned)chart->legend[bar->legend].color);
    }
    fprintf(script, "END_OF_BARS\n");
}

static void write_labels(Arena *arena, FILE *script, const BarChart *chart, const Canvas *canvas, double pixels_per_x) {
    int number = 10, step = row_step(chart, canvas);
    for (int i = 0; i < chart->bar_count && number < MOST_LABELS; i++) {
        const ChartBar *bar = &chart->bars[i];
        if (!bar->label || !*bar->label || step > 1) continue;
        if (canvas->letter * text_width(bar->label) + 4 > (bar->to - bar->from) * pixels_per_x) continue;
        const char *color = color_is_dark(chart->legend[bar->legend].color) ? "'#ffffff'" : INK;
        fprintf(script, "set label %d %s at first %.9g, first %d center front textcolor rgb %s\n", number++,
                quoted(arena, bar->label), (bar->from + bar->to) / 2, bar->row, color);
    }
}

static void write_ends(Arena *arena, FILE *script, const BarChart *chart, const Canvas *canvas) {
    if (!chart->ends) return;
    for (int row = 0; row < chart->row_count; row += row_step(chart, canvas))
        fprintf(script,
                "set label %d %s at first %.9g, first %d left offset character 0.6, 0 front textcolor rgb " INK "\n",
                MOST_LABELS + 100 + row, quoted(arena, chart->ends[row]), row_end(chart, row), row);
}

void write_bar_script(Arena *arena, FILE *script, const BarChart *chart, const Canvas *canvas) {
    Field field = field_of(arena, chart, canvas);
    double x_end = axis_end(chart, canvas, field);
    write_plot_frame(arena, script, chart->title, canvas);
    write_bar_axes(arena, script, chart, canvas, field, x_end);
    write_limit(arena, script, chart);
    write_bar_data(script, chart);
    write_labels(arena, script, chart, canvas, (field.right - field.left) / x_end);
    write_ends(arena, script, chart, canvas);
    if (chart->legend_count)
        fprintf(
            script,
            "set key at screen %.5f, graph 1 left top vertical Left reverse samplen 1 spacing 1.2 textcolor rgb " INK
            "\n",
            (field.right + 14) / canvas->width);
    fprintf(script, "set style fill solid 1 border lc rgb '#ffffff'\nplot $Bars using 1:2:3:4:5:6:7 with boxxyerror lc "
                    "rgb variable notitle");
    for (int i = 0; i < chart->legend_count; i++)
        fprintf(script, ", keyentry with boxes fs solid 1 noborder fc rgb '#%06x' title %s",
                (unsigned)chart->legend[i].color,
                quoted(arena, shortened(arena, chart->legend[i].name, LONGEST_ROW_NAME)));
    fprintf(script, "\n");
}
