#include "scenarios/trace/trace_plots.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "results/answer/as.h"
#include "results/answer/record_answer.h"
#include "results/chart/chart.h"
#include "results/progress.h"
#include "results/terminal.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/file.h"

#define GIB (1024.0 * 1024.0 * 1024.0)
#define WIDEST 120 // of curves in the terminal
#define NARROWEST 10

static const struct {
    const char *name, *title;
    SpanQuantity quantity;
    const char *axis, *column; // label of the axis, and suffix of column names
    double unit;               // of the axis
    double most;               // on it; NAN: as far as curves go
    const char *why_none;
} plots[TRACE_PLOTS] = {
    [PLOT_UTILISATION] = {"utilisation", "what its GPU has resident", SPAN_USAGE, "% of time", "share", 0.01, 100,
                          "no GPU was recorded"},
    [PLOT_LINKS] = {"links", "traffic", SPAN_SIDE_TRAFFIC, "GB/s", "bytes_per_second", 1e9, NAN,
                    "nothing goes over NVLink, PCIe or NICs of these ranks"},
    [PLOT_MEMORY] = {"memory", "memory in use", SPAN_MEMORY, "GiB", "bytes", GIB, NAN,
                     "a rank program does not say what it keeps"},
    [PLOT_POWER] = {"power", "power of its GPU", SPAN_POWER, "W", "w", 1, NAN, "the power of these GPUs is not known"},
    [PLOT_LOADER] = {"loader", "samples in its loader's queue", SPAN_LOADER, "samples", "samples", 1, NAN,
                     "none of these ranks has a loader, whose samples are read or decoded: --sample-bytes 110kB "
                     "--data-storage NAME, or --samples-per-worker N, gives the ranks of the first stage one"},
};

bool trace_plots_named(Arena *arena, const char *text, bool wanted[TRACE_PLOTS], Problems *usage) {
    const char *names[TRACE_PLOTS];
    for (int p = 0; p < TRACE_PLOTS; p++) {
        names[p] = plots[p].name;
        wanted[p] = !*text && p == PLOT_UTILISATION;
    }
    for (; *text; text += strcspn(text, ",") + (text[strcspn(text, ",")] == ',')) {
        const char *name = arena_printf(arena, "%.*s", (int)strcspn(text, ","), text);
        int plot = 0;
        while (plot < TRACE_PLOTS && strcmp(name, names[plot]) != 0) plot++;
        if (plot == TRACE_PLOTS) {
            problem_add(usage, (Where){0}, "trace has no plot called \"%.40s\"", name);
            problem_hint_names(usage, name, names, TRACE_PLOTS);
            return false;
        }
        wanted[plot] = true;
    }
    return true;
}

// ---- What there is of a rank.

typedef struct CurveList {
    const SpanCounter **items;
    int count, room;
} CurveList;

static void add_curves(Arena *arena, const SpanCounter *from, int count, SpanQuantity quantity, int process,
                       CurveList *list) {
    for (int c = 0; c < count; c++)
        if (from[c].quantity == quantity && from[c].process == process) LIST_PUSH(arena, list, &from[c]);
}

// Of all classes; a process' curves of memory have the same moments.
static const SpanCounter *total_of(Arena *arena, const CurveList *classes) {
    SpanCounter *total = ARENA_NEW(arena, SpanCounter);
    double *values = ARENA_ARRAY(arena, double, classes->items[0]->count);
    for (int c = 0; c < classes->count; c++)
        for (int i = 0; i < classes->items[c]->count; i++) values[i] += classes->items[c]->values[i];
    *total = *classes->items[0];
    total->name = "in all";
    total->values = values;
    return total;
}

static CurveList curves_of(Arena *arena, const SpanSet *set, TracePlot plot, int process) {
    CurveList list = {0};
    add_curves(arena, set->curves, set->curve_count, plots[plot].quantity, process, &list);
    add_curves(arena, set->counters, set->counter_count, plots[plot].quantity, process, &list);
    if (plot == PLOT_MEMORY && list.count) {
        const SpanCounter *total = total_of(arena, &list);
        LIST_PUSH(arena, &list, total);
    }
    return list;
}

static const char *name_of(const SpanCounter *curve) {
    const char *class = strstr(curve->name, ": "); // "memory: weights"
    return class ? class + 2 : curve->name;
}

static int drawn_ranks(const SpanSet *set) { return set->process_count < PLOT_RANKS ? set->process_count : PLOT_RANKS; }

// ---- Bins of equal width.

static SimTime until(const SpanSet *set, const SpanCounter *curve, int i) {
    return i + 1 < curve->count ? curve->times[i + 1] : set->end;
}

static int bin_at(const SpanSet *set, SimTime at, int bins) {
    int bin = (int)((double)at / (double)set->end * bins);
    return bin < bins ? bin : bins - 1;
}

static double bin_start(const SpanSet *set, int bin, int bins) { return (double)set->end * bin / bins; } // ticks

// Mean over each bin: the sum over the step is preserved.
static void sample_means(const SpanSet *set, const SpanCounter *curve, int bins, double *values) {
    for (int i = 0; i < curve->count; i++) {
        double start = (double)curve->times[i], end = (double)until(set, curve, i);
        for (int b = bin_at(set, curve->times[i], bins); b < bins && bin_start(set, b, bins) < end; b++) {
            double from = fmax(start, bin_start(set, b, bins)), to = fmin(end, bin_start(set, b + 1, bins));
            if (to > from) values[b] += curve->values[i] * (to - from) * bins / (double)set->end;
        }
    }
}

// The moment of each bin when most is in use in all; NAN before the first that is known.
static void sample_fullest(const SpanSet *set, const SpanCounter *curve, const SpanCounter *total, int bins,
                           double *values) {
    Arena *scratch = arena_open();
    double *most = ARENA_ARRAY(scratch, double, bins);
    for (int b = 0; b < bins; b++) values[b] = most[b] = NAN;
    for (int i = 0; i < curve->count; i++) {
        SimTime end = until(set, curve, i);
        int last = bin_at(set, end > curve->times[i] ? end - 1 : end, bins);
        for (int b = bin_at(set, curve->times[i], bins); b <= last; b++) {
            if (total->values[i] <= most[b]) continue; // NAN: not yet
            most[b] = total->values[i];
            values[b] = curve->values[i];
        }
    }
    arena_close(scratch);
}

static const double *sampled(Arena *arena, const SpanSet *set, TracePlot plot, const CurveList *list, int number,
                             int bins) {
    double *values = ARENA_ARRAY(arena, double, bins);
    if (plot == PLOT_MEMORY)
        sample_fullest(set, list->items[number], list->items[list->count - 1], bins, values);
    else
        sample_means(set, list->items[number], bins, values);
    return values;
}

// ---- As a table.

typedef struct NameList {
    const char **items;
    int count, room;
} NameList;

static int number_of(const NameList *names, const char *name) {
    int i = 0;
    while (i < names->count && strcmp(names->items[i], name) != 0) i++;
    return i;
}

// "NICs sent" as "nics_sent_bytes_per_second".
static const char *column_name(Arena *arena, const char *name, const char *ending) {
    char *column = arena_printf(arena, "%s_%s", name, ending);
    for (char *at = column; *at; at++) *at = (char)(isalnum((unsigned char)*at) ? tolower((unsigned char)*at) : '_');
    return column;
}

enum { LEADING_COLUMNS = 3 }; // rank, start, end

static const RecordColumn *columns_of(Arena *arena, TracePlot plot, const NameList *names) {
    RecordColumn *columns = ARENA_ARRAY(arena, RecordColumn, LEADING_COLUMNS + names->count);
    columns[0] = (RecordColumn){"rank", "rank", RECORD_COUNT};
    columns[1] = (RecordColumn){"start_s", "start", RECORD_SECONDS};
    columns[2] = (RecordColumn){"end_s", "end", RECORD_SECONDS};
    for (int n = 0; n < names->count; n++)
        columns[LEADING_COLUMNS + n] =
            (RecordColumn){column_name(arena, names->items[n], plots[plot].column), names->items[n], RECORD_NUMBER};
    return columns;
}

const RecordTable *trace_plot_table(Arena *arena, const SpanSet *set, TracePlot plot, int bins) {
    NameList names = {0};
    CurveList *lists = ARENA_ARRAY(arena, CurveList, drawn_ranks(set));
    for (int p = 0; p < drawn_ranks(set); p++) {
        lists[p] = curves_of(arena, set, plot, p);
        for (int c = 0; c < lists[p].count; c++) {
            const char *name = name_of(lists[p].items[c]);
            if (number_of(&names, name) == names.count) LIST_PUSH(arena, &names, name);
        }
    }
    if (names.count == 0 || set->end <= 0) return NULL;
    int columns = LEADING_COLUMNS + names.count, rows = drawn_ranks(set) * bins;
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, (int64_t)rows * columns);
    for (int i = 0; i < rows * columns; i++) cells[i].number = NAN; // a rank may lack what others have
    for (int p = 0; p < drawn_ranks(set); p++) {
        RecordCell *first = &cells[(int64_t)p * bins * columns];
        for (int b = 0; b < bins; b++) {
            first[b * columns].number = set->processes[p].id;
            first[b * columns + 1].number = step_seconds(set->end) * b / bins;
            first[b * columns + 2].number = step_seconds(set->end) * (b + 1) / bins;
        }
        for (int c = 0; c < lists[p].count; c++) {
            const double *values = sampled(arena, set, plot, &lists[p], c, bins);
            int column = LEADING_COLUMNS + number_of(&names, name_of(lists[p].items[c]));
            for (int b = 0; b < bins; b++) first[b * columns + column].number = values[b];
        }
    }
    RecordTable *table = ARENA_NEW(arena, RecordTable);
    *table =
        (RecordTable){plots[plot].name, plots[plot].title, columns_of(arena, plot, &names), columns, cells, rows, NULL};
    return table;
}

// ---- As charts.

typedef struct TimeUnit {
    const char *title;
    double seconds;
} TimeUnit;

static TimeUnit time_unit(const SpanSet *set) {
    double seconds = step_seconds(set->end);
    return seconds >= 1      ? (TimeUnit){"time in the step (s)", 1}
           : seconds >= 1e-3 ? (TimeUnit){"time in the step (ms)", 1e-3}
                             : (TimeUnit){"time in the step (us)", 1e-6};
}

// Steps: each bin from its start to its end at one height.
static RecordCurve steps(Arena *arena, const SpanSet *set, const char *name, const double *values, int bins,
                         double unit) {
    double *x = ARENA_ARRAY(arena, double, 2 * bins), *y = ARENA_ARRAY(arena, double, 2 * bins);
    double end = step_seconds(set->end) / time_unit(set).seconds;
    for (int b = 0; b < bins; b++) {
        x[2 * b] = end * b / bins;
        x[2 * b + 1] = end * (b + 1) / bins;
        y[2 * b] = y[2 * b + 1] = values[b] / unit;
    }
    return (RecordCurve){.name = name, .x = x, .y = y, .count = 2 * bins};
}

// As many columns as the terminal gives a curve, so that each is a bin.
static int columns_for(const CurveList *list, const Style *style) {
    int names = 0, width = terminal_width_of(style) < WIDEST ? terminal_width_of(style) : WIDEST;
    for (int c = 0; c < list->count; c++)
        if (text_width(name_of(list->items[c])) > names) names = text_width(name_of(list->items[c]));
    return width - names - 1 < NARROWEST ? NARROWEST : width - names - 1;
}

static Chart chart_of(Arena *arena, const SpanSet *set, TracePlot plot, int process, const CurveList *list,
                      const char *title, int bins) {
    RecordCurve *curves = ARENA_ARRAY(arena, RecordCurve, list->count);
    for (int c = 0; c < list->count; c++)
        curves[c] = steps(arena, set, name_of(list->items[c]), sampled(arena, set, plot, list, c, bins), bins,
                          plots[plot].unit);
    return (Chart){.kind = CHART_LINES,
                   .lines = {.name = plots[plot].name,
                             .title = arena_printf(arena, "%s: %s", set->processes[process].name, title),
                             .x_title = time_unit(set).title,
                             .y_title = plots[plot].axis,
                             .curves = curves,
                             .curve_count = list->count,
                             .y_max = plots[plot].most}};
}

typedef struct Drawing {
    Arena *arena;
    const SpanSet *set;
    const char *folder, *format; // NULL: the screen
    const Style *style;
    Answer *answer;
    Problems *problems;
} Drawing;

static bool draw_chart(const Drawing *drawing, TracePlot plot, int process, const CurveList *list, const char *title,
                       const char *part) {
    Arena *arena = drawing->arena;
    int bins = drawing->folder ? PLOT_BINS : columns_for(list, drawing->style);
    Chart *chart = ARENA_NEW(arena, Chart);
    *chart = chart_of(arena, drawing->set, plot, process, list, title, bins);
    if (drawing->folder) {
        const char *path = arena_printf(arena, "%s/trace-%s%s-rank%d.%s", drawing->folder, plots[plot].name, part,
                                        drawing->set->processes[process].id, drawing->format);
        return chart_to_file(arena, chart, path, drawing->problems);
    }
    answer_chart(drawing->answer, plots[plot].name, chart);
    return true;
}

// NVLink carries many times what NICs do: a chart for each, with a scale of its own.
static bool draw_links(const Drawing *drawing, int process, const CurveList *list) {
    static const struct {
        const char *begins, *title, *part;
    } media[] = {{"NVLink ", "traffic on NVLink of its GPU", "-nvlink"},
                 {"PCIe ", "traffic on PCIe of its GPU", "-pcie"},
                 {"NICs ", "traffic on all NICs of its node", "-nics"}};
    for (size_t m = 0; m < sizeof media / sizeof *media; m++) {
        CurveList of_medium = {0};
        for (int c = 0; c < list->count; c++)
            if (strncmp(list->items[c]->name, media[m].begins, strlen(media[m].begins)) == 0)
                LIST_PUSH(drawing->arena, &of_medium, list->items[c]);
        if (of_medium.count && !draw_chart(drawing, PLOT_LINKS, process, &of_medium, media[m].title, media[m].part))
            return false;
    }
    return true;
}

static bool write_table(const Drawing *drawing, const RecordTable *table) {
    OutputFile file;
    const char *path = arena_printf(drawing->arena, "%s/trace-%s.csv", drawing->folder, table->name);
    if (!file_create(drawing->arena, path, &file, drawing->problems)) return false;
    Answer *answer = answer_create(drawing->arena, NULL);
    record_tables(answer, drawing->arena, table, 1);
    answer_as_csv(drawing->arena, file.stream, answer);
    if (!file_commit(&file, drawing->problems)) return false;
    progress_written(path);
    return true;
}

static bool draw_plot(const Drawing *drawing, TracePlot plot) {
    const RecordTable *table = trace_plot_table(drawing->arena, drawing->set, plot, PLOT_BINS);
    if (!table) {
        fprintf(stderr, "warning: there is nothing to plot for %s: %s\n", plots[plot].name,
                drawing->set->end > 0 ? plots[plot].why_none : "the step takes no time");
        return true;
    }
    if (drawing->folder && !write_table(drawing, table)) return false;
    for (int p = 0; p < drawn_ranks(drawing->set); p++) {
        CurveList list = curves_of(drawing->arena, drawing->set, plot, p);
        if (list.count == 0) continue;
        bool drawn = plot == PLOT_LINKS ? draw_links(drawing, p, &list)
                                        : draw_chart(drawing, plot, p, &list, plots[plot].title, "");
        if (!drawn) return false;
    }
    return true;
}

bool trace_plots_draw(Arena *arena, const SpanSet *set, const bool wanted[TRACE_PLOTS], const char *folder,
                      const char *format, const Style *style, Answer *answer, Problems *problems) {
    Drawing drawing = {arena, set, folder, format, style, answer, problems};
    int hidden = set->process_count - drawn_ranks(set);
    for (int plot = 0; plot < TRACE_PLOTS; plot++)
        if (wanted[plot] && !draw_plot(&drawing, (TracePlot)plot)) return false;
    if (hidden)
        fprintf(stderr, "note: plots are of the first %d ranks, not of %d more; --ranks chooses others\n", PLOT_RANKS,
                hidden);
    return true;
}
