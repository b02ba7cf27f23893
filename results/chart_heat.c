// Shares by row and column: as gnuplot commands, and as a table of figures and shades for a terminal.
#include <math.h>

#include "results/chart.h"
#include "results/terminal.h"
#include "sim/text.h"

#define INK "'#222222'"

Canvas heat_canvas(const HeatChart *chart) { return (Canvas){1000, 190 + 40 * chart->row_count, 8}; }

static double most_of(const HeatChart *chart) {
    double most = 0;
    for (int i = 0; i < chart->row_count * chart->column_count; i++)
        if (isfinite(chart->values[i])) most = fmax(most, chart->values[i]);
    return most > 0 ? most : 1;
}

static void write_tics(Arena *arena, FILE *script, char axis, const char *const *names, int count, int stride) {
    fprintf(script, "set %ctics (", axis);
    for (int i = 0; i < count; i += stride)
        fprintf(script, "%s%s %d", i ? ", " : "", quoted_for_gnuplot(arena, names[i], true), i);
    fprintf(script, ") textcolor rgb " INK "\n");
}

void write_heat_script(Arena *arena, FILE *script, const HeatChart *chart) {
    Canvas canvas = heat_canvas(chart);
    fprintf(script, "$Heat << END_OF_HEAT\n");
    for (int row = 0; row < chart->row_count; row++)
        for (int column = 0; column < chart->column_count; column++) {
            double value = chart->values[row * chart->column_count + column];
            if (isfinite(value)) fprintf(script, "%d %d %.6g\n", column, row, 100 * value);
        }
    fprintf(script, "END_OF_HEAT\n");
    write_plot_frame(arena, script, chart->title, &canvas);
    fprintf(script, "set lmargin at screen 0.2\nset rmargin at screen 0.88\nset tmargin at screen 0.86\nset bmargin at "
                    "screen 0.2\nunset key\nset grid noxtics noytics\n");
    write_tics(arena, script, 'x', chart->columns, chart->column_count, 1 + chart->column_count / 24);
    write_tics(arena, script, 'y', chart->rows, chart->row_count, 1);
    fprintf(script,
            "set xrange [-0.5:%g]\nset yrange [%g:-0.5]\nset xlabel %s textcolor rgb " INK
            "\nset palette defined (0 '#f2f5fa', 1 '#2f5c9e')\nset cbrange [0:%.6g]\nset format cb '%%g %%%%'\n"
            "set style fill solid noborder\n"
            "plot $Heat using 1:2:(0.48):(0.46):3 with boxxyerror fillcolor palette\n",
            chart->column_count - 0.5, chart->row_count - 0.5, quoted_for_gnuplot(arena, chart->column_title, false),
            100 * most_of(chart));
}

// A row a kind: its columns as shades of ten, then the most of them.
void print_heat_chart(Arena *arena, FILE *out, const HeatChart *chart, const Style *style) {
    static const char *const shades[] = {"·", "░", "▒", "▓", "█"};
    int names = 0, count = (int)(sizeof shades / sizeof *shades);
    for (int row = 0; row < chart->row_count; row++) {
        int name = text_width(text_clean(arena, chart->rows[row], style->unicode));
        names = name > names ? name : names;
    }
    fprintf(out, "%s\n", text_clean(arena, chart->title, style->unicode));
    for (int row = 0; row < chart->row_count; row++) {
        const char *name = text_clean(arena, chart->rows[row], style->unicode);
        double most = 0;
        fprintf(out, "%s%*s  ", name, names - text_width(name), "");
        for (int column = 0; column < chart->column_count; column++) {
            double value = chart->values[row * chart->column_count + column];
            int level = isfinite(value) ? (int)fmin(count - 1, floor(value / most_of(chart) * count)) : -1;
            if (isfinite(value)) most = fmax(most, value);
            if (level < 0)
                fputc(' ', out);
            else if (style->unicode)
                fputs(shades[level], out);
            else
                fputc('0' + level, out);
        }
        fprintf(out, "  up to %s\n", text_percent(arena, most));
    }
    fprintf(out, "%*s  %s %s to %s; the darkest is %s\n", names, "", chart->column_title, chart->columns[0],
            chart->columns[chart->column_count - 1], text_percent(arena, most_of(chart)));
}
