// Scaling as gnuplot commands: throughput over GPUs on logarithmic axes with the ideal line, efficiency below.
#include <math.h>

#include "results/chart.h"
#include "sim/text.h"

#define INK "'#222222'"
#define MOST_TICKS 14

uint32_t series_color(int index) {
    static const uint32_t colors[] = {0x2f5c9e, 0xd5482a, 0x009e73, 0xcc79a7, 0xe69f00, 0x5f96d6, 0x7357a8, 0x8c6d46};
    return colors[index % (int)(sizeof colors / sizeof *colors)];
}

Canvas scaling_canvas(void) { return (Canvas){1000, 680, 8}; }

static void write_series_data(FILE *script, const ScalingChart *chart) {
    for (int i = 0; i < chart->series_count; i++) {
        fprintf(script, "$Series%d << END_OF_SERIES\n", i);
        for (int k = 0; k < chart->series[i].count; k++) {
            const ScalingPoint *point = &chart->series[i].points[k];
            double low = isfinite(point->rate_low) ? point->rate_low : point->rate;
            double high = isfinite(point->rate_high) ? point->rate_high : point->rate;
            fprintf(script, "%.9g %.9g %.9g %.9g ", point->x, point->rate, low, high);
            if (isfinite(point->efficiency))
                fprintf(script, "%.9g %.9g %.9g\n", point->efficiency, point->efficiency * low / point->rate,
                        point->efficiency * high / point->rate);
            else
                fprintf(script, "? ? ?\n"); // missing values
        }
        fprintf(script, "END_OF_SERIES\n");
    }
}

// The smallest above `before`; NAN when there is none.
static double next_x(const ScalingChart *chart, double before) {
    double next = NAN;
    for (int i = 0; i < chart->series_count; i++)
        for (int k = 0; k < chart->series[i].count; k++) {
            double x = chart->series[i].points[k].x;
            if (x > before && !(x >= next)) next = x;
        }
    return next;
}

static int x_count(const ScalingChart *chart, double *least, double *most) {
    int count = 0;
    *least = *most = next_x(chart, 0);
    for (double x = *least; isfinite(x); x = next_x(chart, x)) {
        *most = x;
        count++;
    }
    return count;
}

// A tick at each simulated point, or at every second, third, …; ticks that would touch are left out.
static void write_x_ticks(Arena *arena, FILE *script, const ScalingChart *chart, bool have_text) {
    double least, most, last_shown = 0;
    int count = x_count(chart, &least, &most), step = (count + MOST_TICKS - 1) / MOST_TICKS, index = 0;
    double closest = pow(most / least, 0.045);
    fprintf(script, "set xtics (");
    for (double x = least; isfinite(x); x = next_x(chart, x), index++) {
        if (index % step || (last_shown > 0 && x / last_shown < closest)) continue;
        const char *text = have_text ? text_count(arena, x, false) : "";
        fprintf(script, "%s'%s' %.9g", last_shown > 0 ? ", " : "", text, x);
        last_shown = x;
    }
    fprintf(script, ")\n");
}

static void rate_range(const ScalingChart *chart, double *low, double *high) {
    *low = INFINITY;
    *high = 0;
    for (int i = 0; i < chart->series_count; i++)
        for (int k = 0; k < chart->series[i].count; k++) {
            const ScalingPoint *point = &chart->series[i].points[k];
            *low = fmin(*low, point->rate);
            *high = fmax(*high, point->rate);
        }
}

// Room at both ends; a decade at least of one of them keeps logarithmic ticks readable.
static void write_ranges(FILE *script, const ScalingChart *chart) {
    double least, most, low, high;
    x_count(chart, &least, &most);
    rate_range(chart, &low, &high);
    if (isfinite(chart->ideal_per_x)) high = fmax(high, chart->ideal_per_x * most);
    double room = fmax(1.06, pow(most / least, 0.05));
    fprintf(script, "set xrange [%.9g:%.9g]\n", least / room, most * room);
    fprintf(script, "set yrange [%.9g:%.9g]\n", low / 1.5, high * 1.6);
}

static double lowest_efficiency(const ScalingChart *chart, double *highest) {
    double lowest = 100;
    *highest = 0;
    for (int i = 0; i < chart->series_count; i++)
        for (int k = 0; k < chart->series[i].count; k++) {
            double efficiency = chart->series[i].points[k].efficiency;
            if (!isfinite(efficiency)) continue;
            lowest = fmin(lowest, efficiency);
            *highest = fmax(*highest, efficiency);
        }
    return lowest;
}

static void write_rate_axis(Arena *arena, FILE *script, const ScalingChart *chart) {
    double low, high;
    rate_range(chart, &low, &high);
    fprintf(script, "set logscale xy\nset mytics 10\nset ylabel %s textcolor rgb " INK "\n",
            quoted_for_gnuplot(arena, chart->y_title, false));
    fprintf(script, "set format y '%%.0s%%c'\n");
    if (high / low < 30) // less than two decades: ticks at 1, 2 and 5
        fprintf(script, "set for [decade=-3:15] ytics add (1*10.0**decade, 2*10.0**decade, 5*10.0**decade)\n");
}

// From the 5th to the 95th percentile.
static void write_band(FILE *script, int series, const char *columns, const char *separator) {
    fprintf(script, "%s$Series%d using %s with filledcurves fc rgb '#%06x' fs transparent solid 0.2 noborder notitle",
            separator, series, columns, (unsigned)series_color(series));
}

static void write_lines(Arena *arena, FILE *script, const ScalingChart *chart) {
    const char *separator = "plot ";
    for (int i = 0; i < chart->series_count && chart->has_range; i++, separator = ", ")
        write_band(script, i, "1:3:4", separator);
    if (isfinite(chart->ideal_per_x)) {
        fprintf(script, "%s%.9g * x with lines lc rgb '#888888' lw 1.5 dt 2 title 'ideal'", separator,
                chart->ideal_per_x);
        separator = ", ";
    }
    for (int i = 0; i < chart->series_count; i++, separator = ", ")
        fprintf(script, "%s$Series%d using 1:2 with linespoints lc rgb '#%06x' lw 2 pt 7 ps 0.8 title %s", separator, i,
                (unsigned)series_color(i),
                quoted_for_gnuplot(arena, *chart->series[i].name ? chart->series[i].name : "simulated", false));
    fprintf(script, "\n");
}

// The figures themselves, while they have room.
static void write_efficiency_labels(FILE *script, const ScalingSeries *series) {
    for (int i = 0; i < series->count && series->count <= MOST_TICKS; i++)
        if (isfinite(series->points[i].efficiency))
            fprintf(
                script,
                "set label %d '%.0f' at first %.9g, first %.9g center offset 0, character -1.1 front textcolor rgb " INK
                "\n",
                10 + i, series->points[i].efficiency, series->points[i].x, series->points[i].efficiency);
}

static void write_efficiency_panel(Arena *arena, FILE *script, const ScalingChart *chart) {
    double highest, lowest = lowest_efficiency(chart, &highest);
    double from = lowest >= 85 ? 80 : 0, to = highest > 100 ? highest * 1.05 : highest > 60 ? 105 : highest * 1.25;
    fprintf(script, "set tmargin at screen 0.365\nset bmargin at screen 0.105\nunset label 1\nunset key\n");
    fprintf(script, "unset logscale y\nset format y '%%g'\nset yrange [%g:%g]\nset ytics autofreq\nunset mytics\n",
            from, to);
    fprintf(script, "set ylabel %s textcolor rgb " INK "\nset xlabel %s textcolor rgb " INK "\n",
            quoted_for_gnuplot(arena, chart->efficiency_title, false),
            quoted_for_gnuplot(arena, chart->x_title, false));
    write_x_ticks(arena, script, chart, true);
    if (chart->series_count == 1) write_efficiency_labels(script, &chart->series[0]);
    const char *separator = "plot ";
    for (int i = 0; i < chart->series_count && chart->has_range; i++, separator = ", ")
        write_band(script, i, "1:6:7", separator);
    for (int i = 0; i < chart->series_count; i++, separator = ", ")
        fprintf(script, "%s$Series%d using 1:5 with linespoints lc rgb '#%06x' lw 2 pt 7 ps 0.8 notitle", separator, i,
                (unsigned)series_color(i));
    fprintf(script, "\n");
}

void write_scaling_script(Arena *arena, FILE *script, const ScalingChart *chart) {
    write_series_data(script, chart);
    Canvas canvas = scaling_canvas();
    write_plot_frame(arena, script, chart->title, &canvas);
    fprintf(script,
            "set datafile missing '?'\nset key left top Left reverse samplen 2 spacing 1.2 textcolor rgb " INK "\n"
            "set lmargin at screen 0.095\nset rmargin at screen 0.965\n");
    fprintf(script, "set multiplot\n");
    fprintf(script, "set tmargin at screen 0.905\nset bmargin at screen %s\n",
            chart->has_efficiency ? "0.42" : "0.105");
    write_rate_axis(arena, script, chart);
    write_ranges(script, chart);
    write_x_ticks(arena, script, chart, !chart->has_efficiency);
    if (!chart->has_efficiency)
        fprintf(script, "set xlabel %s textcolor rgb " INK "\n", quoted_for_gnuplot(arena, chart->x_title, false));
    write_lines(arena, script, chart);
    if (chart->has_efficiency) write_efficiency_panel(arena, script, chart);
    fprintf(script, "unset multiplot\n");
}

void write_scaling_script_for_terminal(Arena *arena, FILE *script, const ScalingChart *chart) {
    write_series_data(script, chart);
    fprintf(script, "set encoding utf8\nset datafile missing '?'\nset tics nomirror\nset border 3\nset key left top "
                    "Left reverse\n");
    fprintf(script, "set title %s\nset xlabel %s\n", quoted_for_gnuplot(arena, chart->title, false),
            quoted_for_gnuplot(arena, chart->x_title, false));
    write_rate_axis(arena, script, chart);
    write_ranges(script, chart);
    write_x_ticks(arena, script, chart, true);
    const char *separator = "plot ";
    if (isfinite(chart->ideal_per_x)) {
        fprintf(script, "plot %.9g * x with lines lc rgb '#808080' title 'ideal'", chart->ideal_per_x);
        separator = ", ";
    }
    for (int i = 0; i < chart->series_count; i++, separator = ", ")
        fprintf(script, "%s$Series%d using 1:2 with linespoints lc rgb '#%06x' title %s", separator, i,
                (unsigned)series_color(i),
                quoted_for_gnuplot(arena, *chart->series[i].name ? chart->series[i].name : "simulated", false));
    fprintf(script, "\n");
}
