// Charts as gnuplot commands. Data are numbers in data blocks; text is single-quoted, where gnuplot evaluates
// nothing, and "noenhanced" keeps '_' and '^' as they are.
#include <math.h>
#include <string.h>

#include "results/chart/chart.h"
#include "results/view.h"
#include "sim/base/text.h"

#define INK "'#222222'"
#define GRID "'#e2e2e2'"

// An apostrophe becomes the typographic one: gnuplot 5.4 does not take a doubled one at the start of a string.
static const char *quoted_tick(Arena *arena, const char *text, bool is_tick) {
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

static const char *quoted(Arena *arena, const char *text) { return quoted_tick(arena, text, false); }

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

static void write_plot_frame(Arena *arena, FILE *script, const char *title, const Canvas *canvas) {
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

static Canvas bar_canvas(const BarChart *chart) {
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

// If rows are lower than letters, only every N-th has text.
static int row_step(const BarChart *chart, const Canvas *canvas) {
    return 1 + (int)(chart->row_count * 16.0 / (canvas->height - PIXELS_ABOVE - PIXELS_BELOW));
}

static void write_bar_axes(Arena *arena, FILE *script, const BarChart *chart, const Canvas *canvas, Field field,
                           double x_end) {
    fprintf(script, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", field.left / canvas->width,
            field.right / canvas->width);
    fprintf(script, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
            1 - (double)PIXELS_ABOVE / canvas->height, (double)PIXELS_BELOW / canvas->height);
    fprintf(script, "set xrange [%.9g:%.9g]\nset yrange [%g:-0.5]\n", chart->x_min, x_end, chart->row_count - 0.5);
    fprintf(script, "set border 1\nset grid x noy back\nset ytics scale 0\n");
    fprintf(script, "set xlabel %s textcolor rgb " INK "\n", quoted(arena, chart->x_title));
    if (*chart->y_title)
        fprintf(script, "set label 3 %s at screen %.5f, graph 0.5 center rotate textcolor rgb " INK "\n",
                quoted(arena, shortened(arena, chart->y_title, LONGEST_ROW_NAME)), 18.0 / canvas->width);
    fprintf(script, "set ytics (");
    int step = row_step(chart, canvas);
    for (int i = 0; i < chart->row_count; i += step)
        fprintf(script, "%s%s %d", i ? ", " : "",
                quoted_tick(arena, shortened(arena, chart->rows[i], LONGEST_ROW_NAME), true), i);
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

static void write_bar_script(Arena *arena, FILE *script, const BarChart *chart, const Canvas *canvas) {
    Field field = field_of(arena, chart, canvas);
    double x_end = axis_end(chart, canvas, field);
    write_plot_frame(arena, script, chart->title, canvas);
    write_bar_axes(arena, script, chart, canvas, field, x_end);
    write_limit(arena, script, chart);
    write_bar_data(script, chart);
    write_labels(arena, script, chart, canvas, (field.right - field.left) / (x_end - chart->x_min));
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

// ---- Lines and points over two axes.

#define MOST_TICKS 14

uint32_t series_color(int index) {
    static const uint32_t colors[] = {0x2f5c9e, 0xd5482a, 0x009e73, 0xcc79a7, 0xe69f00, 0x5f96d6, 0x7357a8, 0x8c6d46};
    return colors[index % (int)(sizeof colors / sizeof *colors)];
}

uint32_t curve_color(const RecordChart *chart, int index) {
    return chart->curves[index].color ? chart->curves[index].color : series_color(index);
}

static double or_else(const double *values, int at, double otherwise) {
    return values && isfinite(values[at]) ? values[at] : otherwise;
}

typedef struct Span {
    double least, most; // above 0
} Span;

static Span span_of(const RecordChart *chart, bool of_y) {
    Span span = {INFINITY, 0};
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; k < chart->curves[i].count; k++) {
            double value = of_y ? chart->curves[i].y[k] : chart->curves[i].x[k];
            if (value > 0) span.least = fmin(span.least, value);
            span.most = fmax(span.most, value);
        }
    return isfinite(span.least) ? span : (Span){1, 1};
}

// On logarithmic axes zeros are drawn at the least of the other values.
static void write_line_data(FILE *script, const RecordChart *chart, const char *block) {
    double least = span_of(chart, false).least;
    for (int i = 0; i < chart->curve_count; i++) {
        const RecordCurve *curve = &chart->curves[i];
        fprintf(script, "$%s%d << END_OF_CURVE\n", block, i);
        for (int k = 0; k < curve->count; k++) {
            double y = curve->y[k];
            fprintf(script, "%.9g %.9g %.9g %.9g\n", chart->log_x ? fmax(curve->x[k], least) : curve->x[k], y,
                    or_else(curve->y_low, k, y), or_else(curve->y_high, k, y));
        }
        fprintf(script, "END_OF_CURVE\n");
    }
}

static double next_x(const RecordChart *chart, double before) {
    double next = NAN;
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; k < chart->curves[i].count; k++)
            if (chart->curves[i].x[k] > before && !(chart->curves[i].x[k] >= next)) next = chart->curves[i].x[k];
    return next;
}

// A tick at each point, or at every second, third, …; ticks that would touch are left out.
static void write_ticks_at_points(Arena *arena, FILE *script, const RecordChart *chart, bool have_text) {
    Span span = span_of(chart, false);
    int count = 0, index = 0;
    for (double x = 0; isfinite(x = next_x(chart, x));) count++;
    int step = (count + MOST_TICKS - 1) / MOST_TICKS;
    double closest = pow(span.most / span.least, 0.045), last_shown = 0;
    fprintf(script, "set xtics (");
    for (double x = 0; isfinite(x = next_x(chart, x)); index++) {
        if (index % step || (last_shown > 0 && x / last_shown < closest)) continue;
        fprintf(script, "%s'%s' %.9g", last_shown > 0 ? ", " : "", have_text ? text_count(arena, x, false) : "", x);
        last_shown = x;
    }
    fprintf(script, ")\n");
    double room = fmax(1.06, pow(span.most / span.least, 0.05));
    fprintf(script, "set xrange [%.9g:%.9g]\n", span.least / room, span.most * room);
}

static bool has_labels(const RecordChart *chart) {
    for (int i = 0; i < chart->curve_count; i++)
        if (chart->curves[i].labels) return true;
    return false;
}

// Beside the curves, as wide as the longest name; over points with labels, which need the width themselves.
static void write_key(FILE *script, const RecordChart *chart, const Canvas *canvas) {
    static const char look[] = "Left reverse samplen 2 spacing 1.2 textcolor rgb " INK;
    int longest_name = 0;
    for (int i = 0; i < chart->curve_count; i++)
        if (text_width(chart->curves[i].name) > longest_name) longest_name = text_width(chart->curves[i].name);
    double right = fmax(0.5, fmin(0.84, 0.93 - 1.06 * canvas->letter * longest_name / canvas->width));
    if (has_labels(chart) || longest_name == 0) right = 0.95;
    fprintf(script, "set lmargin at screen 0.095\nset rmargin at screen %.4g\n", right);
    if (has_labels(chart))
        fprintf(script, "set key at screen 0.095, screen 0.89 left top horizontal %s\n", look);
    else if (longest_name > 0)
        fprintf(script, "set key at screen %.4g, screen 0.87 left top vertical %s\n", right + 0.015, look);
}

// Of points alone an axis has room around; a logarithmic one of less than two decades has ticks at 1, 2 and 5.
static void write_axes(Arena *arena, FILE *script, const RecordChart *chart) {
    bool labelled = has_labels(chart);
    for (int of_y = 0; of_y < 2; of_y++) {
        const char *name = of_y ? "y" : "x";
        bool is_log = of_y ? chart->log_y : chart->log_x;
        Span span = span_of(chart, of_y);
        fprintf(script, "set %slabel %s textcolor rgb " INK "\n", name,
                quoted(arena, of_y ? chart->y_title : chart->x_title));
        if (is_log)
            fprintf(script, "set logscale %s\n", name);
        else
            fprintf(script, "unset logscale %s\n", name);
        bool counts = is_log || (of_y && labelled && span.least >= 1);
        fprintf(script, "set format %s '%s'\nset %stics autofreq\n", name, counts ? "%.0s%c" : "%g", name);
        if (is_log && (labelled || (of_y && chart->ticks_at_points)) && span.most / span.least < 30)
            fprintf(script, "set for [decade=-3:15] %stics add (1*10.0**decade, 2*10.0**decade, 5*10.0**decade)\n",
                    name);
        if (is_log && (labelled || (of_y && chart->ticks_at_points)))
            fprintf(script, "set %srange [%.9g:%.9g]\n", name, span.least / 1.4, span.most * 1.5);
        else if (labelled)
            fprintf(script, "set %srange [0:%.9g]\n", name, span.most * 1.15);
        else if (of_y)
            fprintf(script, "set yrange [%s:%s]\n", is_log ? "*" : arena_printf(arena, "%.9g", chart->y_min),
                    isfinite(chart->y_max) ? arena_printf(arena, "%.9g", chart->y_max) : "*");
    }
}

static void write_point_labels(Arena *arena, FILE *script, const RecordChart *chart) {
    for (int i = 0, number = 10; i < chart->curve_count; i++)
        for (int k = 0; chart->curves[i].labels && !chart->curves[i].is_faint && k < chart->curves[i].count; k++)
            fprintf(script,
                    "set label %d %s at first %.9g, first %.9g offset character 0.8, 0.7 front textcolor rgb " INK "\n",
                    number++, quoted(arena, chart->curves[i].labels[k]), chart->curves[i].x[k], chart->curves[i].y[k]);
}

// The figures themselves, while they have room.
static void write_figures(FILE *script, const RecordCurve *curve) {
    for (int k = 0; k < curve->count && curve->count <= MOST_TICKS; k++)
        fprintf(script,
                "set label %d '%.0f' at first %.9g, first %.9g center offset 0, character -1.1 front textcolor rgb " INK
                "\n",
                10 + k, curve->y[k], curve->x[k], curve->y[k]);
}

static const char *look_of(const RecordCurve *curve) {
    static const char *const looks[] = {[CURVE_LINE] = "lines lw 2",
                                        [CURVE_POINTS] = "points pt 7 ps 1.2",
                                        [CURVE_LINE_POINTS] = "linespoints lw 2 pt 7 ps 0.8",
                                        [CURVE_GUIDE] = "lines lw 1.5 dt 2",
                                        [CURVE_STEPS] = "steps lw 1"};
    return curve->is_faint && curve->style == CURVE_POINTS ? "points pt 7 ps 0.8" : looks[curve->style];
}

static void write_plot(Arena *arena, FILE *script, const RecordChart *chart, const char *block) {
    const char *separator = "plot ";
    for (int i = 0; i < chart->curve_count; i++) {
        if (!chart->curves[i].y_low || chart->curves[i].labels) continue;
        fprintf(script,
                "%s$%s%d using 1:3:4 with filledcurves fc rgb '#%06x' fs transparent solid 0.2 noborder notitle",
                separator, block, i, (unsigned)curve_color(chart, i));
        separator = ", ";
    }
    for (int i = 0; i < chart->curve_count; i++, separator = ", ") {
        const RecordCurve *curve = &chart->curves[i];
        const char *title = *curve->name ? arena_printf(arena, "title %s", quoted(arena, curve->name)) : "notitle";
        fprintf(script, "%s$%s%d using 1:2 with %s lc rgb '#%06x' %s", separator, block, i, look_of(curve),
                (unsigned)curve_color(chart, i), title);
    }
    fprintf(script, "\n");
}

static Canvas line_canvas(const RecordChart *chart) { return (Canvas){1000, chart->below ? 680 : 520, 8}; }

static void write_line_script(Arena *arena, FILE *script, const RecordChart *chart) {
    Canvas canvas = line_canvas(chart);
    const RecordChart *below = chart->below;
    write_line_data(script, chart, "Curve");
    if (below) write_line_data(script, below, "Below");
    write_plot_frame(arena, script, chart->title, &canvas);
    write_key(script, chart, &canvas);
    write_axes(arena, script, chart);
    write_point_labels(arena, script, chart);
    if (below) fprintf(script, "set multiplot\nunset xlabel\n");
    fprintf(script, "set tmargin at screen %s\nset bmargin at screen %s\n", has_labels(chart) ? "0.83" : "0.87",
            below ? "0.42" : "0.14");
    if (chart->ticks_at_points) write_ticks_at_points(arena, script, chart, !below);
    write_plot(arena, script, chart, "Curve");
    if (!below) return;
    fprintf(script, "set tmargin at screen 0.365\nset bmargin at screen 0.105\nunset label 1\nunset key\n");
    write_axes(arena, script, below);
    write_ticks_at_points(arena, script, chart, true);
    if (below->curve_count == 1) write_figures(script, &below->curves[0]);
    write_plot(arena, script, below, "Below");
    fprintf(script, "unset multiplot\n");
}

// ---- Shares in a grid, the greater the darker.

static Canvas heat_canvas(const HeatChart *chart) { return (Canvas){1000, 190 + 40 * chart->row_count, 8}; }

static void write_tics(Arena *arena, FILE *script, char axis, const char *const *names, int count, int stride) {
    fprintf(script, "set %ctics (", axis);
    for (int i = 0; i < count; i += stride)
        fprintf(script, "%s%s %d", i ? ", " : "", quoted_tick(arena, names[i], true), i);
    fprintf(script, ") textcolor rgb " INK "\n");
}

static void write_heat_script(Arena *arena, FILE *script, const HeatChart *chart) {
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
            chart->column_count - 0.5, chart->row_count - 0.5, quoted_tick(arena, chart->column_title, false),
            100 * heat_most(chart));
}

// ---- All of them.

Canvas canvas_of(const Chart *chart) {
    return chart->kind == CHART_BARS    ? bar_canvas(&chart->bars)
           : chart->kind == CHART_LINES ? line_canvas(&chart->lines)
                                        : heat_canvas(&chart->heat);
}

void write_plot_script(Arena *arena, FILE *script, const Chart *chart) {
    Canvas canvas = canvas_of(chart);
    if (chart->kind == CHART_BARS) write_bar_script(arena, script, &chart->bars, &canvas);
    if (chart->kind == CHART_LINES) write_line_script(arena, script, &chart->lines);
    if (chart->kind == CHART_HEAT) write_heat_script(arena, script, &chart->heat);
}

const char *chart_title(const Chart *chart) {
    return chart->kind == CHART_BARS    ? chart->bars.title
           : chart->kind == CHART_LINES ? chart->lines.title
                                        : chart->heat.title;
}
