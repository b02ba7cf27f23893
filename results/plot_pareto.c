// Money against time as gnuplot commands, and as letters in a terminal.
#include <math.h>
#include <string.h>

#include "results/chart.h"
#include "results/terminal.h"
#include "results/view.h"
#include "sim/text.h"

#define INK "'#222222'"
#define WIDE_RANGE 12.0 // from here on axes are logarithmic

static void range_of(const ParetoChart *chart, bool of_y, double *least, double *most) {
    *least = INFINITY;
    *most = 0;
    for (int i = 0; i < chart->point_count; i++) {
        double value = of_y ? chart->points[i].y : chart->points[i].x;
        *least = fmin(*least, value);
        *most = fmax(*most, value);
    }
}

static void write_axis(FILE *script, const ParetoChart *chart, bool of_y) {
    double least, most;
    const char *name = of_y ? "y" : "x";
    range_of(chart, of_y, &least, &most);
    if (most > WIDE_RANGE * least)
        fprintf(script, "set logscale %s\nset %srange [%.9g:%.9g]\n", name, name, least / 1.3, most * 1.5);
    else
        fprintf(script, "set %srange [0:%.9g]\n", name, most * 1.15);
    fprintf(script, of_y && least >= 1 ? "set format y '%%.0s%%c'\n" : "set format %s '%%g'\n", name);
}

static bool is_shown(const ParetoPoint *point, int series) { return point->on_front == (series == 0); }

static int write_points(Arena *arena, FILE *script, const ParetoChart *chart, int series) {
    int count = 0;
    for (int i = 0; i < chart->point_count; i++) count += is_shown(&chart->points[i], series);
    if (count == 0) return 0;
    fprintf(script, "$Points%d << END_OF_POINTS\n", series);
    for (int i = 0; i < chart->point_count; i++)
        if (is_shown(&chart->points[i], series)) fprintf(script, "%.9g %.9g\n", chart->points[i].x, chart->points[i].y);
    fprintf(script, "END_OF_POINTS\n");
    for (int i = 0; i < chart->point_count && series == 0; i++)
        if (is_shown(&chart->points[i], series))
            fprintf(script,
                    "set label %d %s at first %.9g, first %.9g offset character 0.8, 0.7 front textcolor rgb " INK "\n",
                    10 + i, quoted_for_gnuplot(arena, chart->points[i].label, false), chart->points[i].x,
                    chart->points[i].y);
    return count;
}

void write_pareto_script(Arena *arena, FILE *script, const ParetoChart *chart) {
    Canvas canvas = curve_canvas();
    write_plot_frame(arena, script, chart->title, &canvas);
    int front = write_points(arena, script, chart, 0), others = write_points(arena, script, chart, 1);
    fprintf(
        script,
        "set lmargin at screen 0.095\nset rmargin at screen 0.95\nset tmargin at screen 0.83\nset bmargin at screen "
        "0.14\nset key at screen 0.095, screen 0.89 left top horizontal Left reverse samplen 1 textcolor rgb " INK
        "\n");
    fprintf(script, "set xlabel %s textcolor rgb " INK "\nset ylabel %s textcolor rgb " INK "\n",
            quoted_for_gnuplot(arena, chart->x_title, false), quoted_for_gnuplot(arena, chart->y_title, false));
    write_axis(script, chart, false);
    write_axis(script, chart, true);
    fprintf(script, "plot ");
    if (front)
        fprintf(script, "$Points0 using 1:2 with points pt 7 ps 1.2 lc rgb '#%06x' title 'none is better in both'",
                (unsigned)series_color(0));
    if (others)
        fprintf(script, "%s$Points1 using 1:2 with points pt 7 ps 0.8 lc rgb '#8b949e' title 'others'",
                front ? ", " : "");
    fprintf(script, "\n");
}

// ---- The terminal: a row a point, by rising time, a bar for its money; those of the front are marked.

static int next_by_time(const ParetoChart *chart, const bool *done) {
    int next = -1;
    for (int i = 0; i < chart->point_count; i++)
        if (!done[i] && (next < 0 || chart->points[i].x < chart->points[next].x)) next = i;
    return next;
}

void print_pareto_chart(Arena *arena, FILE *out, const ParetoChart *chart, const Style *style) {
    double least, most;
    range_of(chart, true, &least, &most);
    bool *done = ARENA_ARRAY(arena, bool, chart->point_count);
    int names = 0, width = terminal_width_of(style);
    for (int i = 0; i < chart->point_count; i++) {
        int name = text_width(text_clean(arena, chart->points[i].label, style->unicode));
        names = name > names ? name : names;
    }
    if (names > width / 3) names = width / 3;
    int room = width - names - 28;
    terminal_bold(out, style);
    for (const char *title = text_clean(arena, chart->title, style->unicode), *next; *title; title = next)
        fprintf(out, "%.*s\n", text_line(title, width, &next), title);
    terminal_reset(out, style);
    for (int i; (i = next_by_time(chart, done)) >= 0; done[i] = true) {
        const ParetoPoint *point = &chart->points[i];
        const char *name = text_clean(arena, point->label, style->unicode);
        const char *rest;
        int bytes = text_width(name) > names ? text_line(name, names, &rest) : (int)strlen(name);
        if (text_width(name) > names && bytes > names) bytes = names;
        fprintf(out, "%c %.*s%*s %9s %9s  ", point->on_front ? '*' : ' ', bytes, name,
                names > text_width(name) ? names - text_width(name) : 0, "", text_figures(arena, point->x, 4),
                text_count(arena, point->y, !style->plain));
        if (room >= 5)
            terminal_bar(out, style, point->y / most * (room < 60 ? room : 60), series_color(!point->on_front));
        fputc('\n', out);
    }
    const char *axes = text_clean(
        arena, arena_printf(arena, "%s; %s; * none is better in both", chart->x_title, chart->y_title), style->unicode);
    for (const char *next; *axes; axes = next) fprintf(out, "%.*s\n", text_line(axes, width, &next), axes);
}
