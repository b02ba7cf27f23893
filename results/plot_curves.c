// Curves over one axis: as gnuplot commands, and as lines of blocks for a terminal.
#include <math.h>

#include "results/chart.h"
#include "results/tables.h"
#include "results/terminal.h"
#include "sim/text.h"

#define INK "'#222222'"

Canvas curve_canvas(void) { return (Canvas){1000, 520, 8}; }

// Room on logarithmic axes for what is 0.
static double least_x(const RecordChart *chart) {
    double least = INFINITY;
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; k < chart->curves[i].count; k++)
            if (chart->curves[i].x[k] > 0) least = fmin(least, chart->curves[i].x[k]);
    return isfinite(least) ? least : 1;
}

static void write_curve_data(FILE *script, const RecordChart *chart) {
    double least = least_x(chart);
    for (int i = 0; i < chart->curve_count; i++) {
        const RecordCurve *curve = &chart->curves[i];
        fprintf(script, "$Curve%d << END_OF_CURVE\n", i);
        for (int k = 0; k < curve->count; k++)
            fprintf(script, "%.9g %.9g\n", chart->log_x ? fmax(curve->x[k], least) : curve->x[k], curve->y[k]);
        fprintf(script, "END_OF_CURVE\n");
    }
}

// Where the axes end, as a share of the canvas: names of curves have room to their right.
static double right_end(const RecordChart *chart, const Canvas *canvas) {
    int longest = 0;
    for (int i = 0; i < chart->curve_count; i++)
        if (text_width(chart->curves[i].name) > longest) longest = text_width(chart->curves[i].name);
    return fmax(0.5, fmin(0.84, 0.93 - 1.06 * canvas->letter * longest / canvas->width));
}

void write_curve_script(Arena *arena, FILE *script, const RecordChart *chart) {
    Canvas canvas = curve_canvas();
    write_curve_data(script, chart);
    write_plot_frame(arena, script, chart->title, &canvas);
    double right = right_end(chart, &canvas);
    fprintf(script,
            "set lmargin at screen 0.095\nset rmargin at screen %.4g\nset tmargin at screen 0.87\nset bmargin at "
            "screen 0.14\n"
            "set key at screen %.4g, screen 0.87 left top vertical Left reverse samplen 2 spacing 1.2 textcolor "
            "rgb " INK "\n",
            right, right + 0.015);
    fprintf(script, "set xlabel %s textcolor rgb " INK "\nset ylabel %s textcolor rgb " INK "\n",
            quoted_for_gnuplot(arena, chart->x_title, false), quoted_for_gnuplot(arena, chart->y_title, false));
    if (chart->log_x) fprintf(script, "set logscale x\nset format x '%%.0s%%c'\n");
    if (chart->log_y) fprintf(script, "set logscale y\nset format y '%%.0s%%c'\n");
    fprintf(script, "set yrange [%s:%s]\n", chart->log_y ? "*" : "0",
            isfinite(chart->y_max) ? arena_printf(arena, "%.9g", chart->y_max) : "*");
    const char *separator = "plot ";
    for (int i = 0; i < chart->curve_count; i++, separator = ", ")
        fprintf(script, "%s$Curve%d using 1:2 with %s lc rgb '#%06x' title %s", separator, i,
                chart->curves[i].is_points ? "points pt 7 ps 1.2" : "lines lw 2", (unsigned)series_color(i),
                quoted_for_gnuplot(arena, chart->curves[i].name, false));
    fprintf(script, "\n");
}

// ---- The terminal.

static double value_at(const RecordCurve *curve, double x) {
    int low = 0, high = curve->count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (curve->x[middle] <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return curve->count > 0 ? curve->y[low] : 0;
}

static void print_curve(FILE *out, const RecordCurve *curve, const Style *style, double from, double to, bool log_x,
                        double y_max, int width) {
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    for (int i = 0; i < width; i++) {
        double share = width > 1 ? (double)i / (width - 1) : 0;
        double x = log_x ? from * pow(to / from, share) : from + (to - from) * share;
        int level = y_max > 0 ? (int)lround(8 * fmin(1, fmax(0, value_at(curve, x) / y_max))) : 0;
        if (style->unicode)
            fputs(blocks[level], out);
        else
            fputc(level == 0 ? '.' : '0' + level, out);
    }
}

void chart_to_terminal(Arena *arena, const RecordChart *chart, FILE *out, const Style *style) {
    double from = INFINITY, to = 0, y_max = 0;
    int name_width = 0, width = terminal_width_of(style) < 120 ? terminal_width_of(style) : 120;
    for (int i = 0; i < chart->curve_count; i++) {
        const RecordCurve *curve = &chart->curves[i];
        int name = text_width(text_clean(arena, curve->name, style->unicode));
        if (name > name_width) name_width = name;
        for (int k = 0; k < curve->count; k++) {
            if (curve->x[k] > 0 || !chart->log_x) from = fmin(from, curve->x[k]);
            to = fmax(to, curve->x[k]);
            y_max = fmax(y_max, curve->y[k]);
        }
    }
    if (isfinite(chart->y_max)) y_max = chart->y_max;
    if (!isfinite(from) || to <= from) from = 0.5 * to + !(to > 0);
    fprintf(out, "%s\n", text_clean(arena, chart->title, style->unicode));
    for (int i = 0; i < chart->curve_count; i++) {
        const char *name = text_clean(arena, chart->curves[i].name, style->unicode);
        fprintf(out, "%s%*s ", name, name_width - text_width(name), "");
        terminal_color(out, style, series_color(i));
        print_curve(out, &chart->curves[i], style, from, to, chart->log_x, y_max,
                    width - name_width - 1 < 10 ? 10 : width - name_width - 1);
        terminal_reset(out, style);
        fputc('\n', out);
    }
    fprintf(out, "%s from %s to %s%s; %s up to %s\n", text_clean(arena, chart->x_title, style->unicode),
            text_figures(arena, from, 3), text_figures(arena, to, 3), chart->log_x ? ", logarithmic" : "",
            text_clean(arena, chart->y_title, style->unicode), text_figures(arena, y_max, 3));
}
