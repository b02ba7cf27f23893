// The answer of a trace: tables of the recorded spans, and plots of a step over time.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/record_answer.h"
#include "results/terminal.h"
#include "scenarios/trace/trace.h"
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

typedef LIST_OF(const SpanCounter *) CurveList;

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

typedef LIST_OF(const char *) NameList;

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

// ---- The answer of a trace: tables of the recorded spans.

#define ROWS_SHOWN 12 // of a rank
#define FIRST_ROWS 14 // of all
#define MOST_LINES 32 // ranks; all with -v
#define WIDEST_LANES 200
#define LEAST_WIDE 20

static AnswerValue seconds(Arena *arena, double value) {
    return answer_shown(AS_SECONDS, value, text_time(arena, value));
}

static AnswerValue share(double value) { return answer_of(AS_SHARE, value); }

// ---- What took longest.

static int by_total(const void *a, const void *b) {
    const SpanSum *one = a, *other = b;
    if (one->process != other->process) return one->process < other->process ? -1 : 1;
    if (one->main != other->main) return one->main ? -1 : 1;
    if (one->total != other->total) return one->total < other->total ? 1 : -1;
    return (one->name > other->name) - (one->name < other->name);
}

// The first rows of every rank on the first screen.
static void add_operations(Answer *answer, Arena *arena, const SpanSet *set) {
    static const AnswerColumn columns[] = {
        {"rank", "rank", AS_WHOLE, 0},          {"stream", "stream", AS_TEXT, 3},
        {"operation", "operation", AS_TEXT, 0}, {"cause", "cause", AS_TEXT, 2},
        {"count", "count", AS_COUNT, 0},        {"total_s", "total", AS_SECONDS, 0},
        {"mean_s", "mean", AS_SECONDS, 1},      {"longest_s", "longest", AS_SECONDS, 1},
        {"share", "of the step", AS_SHARE, 0},
    };
    SpanSum *sums = ARENA_ARRAY(arena, SpanSum, set->sum_count);
    for (int i = 0; i < set->sum_count; i++) sums[i] = set->sums[i];
    qsort(sums, (size_t)set->sum_count, sizeof *sums, by_total);
    answer_table(answer, "operations", "What takes longest, by rank", COLUMNS(columns));
    for (int i = 0, of_rank = 0; i < set->sum_count; i++) {
        const SpanSum *sum = &sums[i];
        double total = step_seconds(sum->total);
        of_rank = i > 0 && sum->process == sums[i - 1].process ? of_rank + 1 : 0;
        ANSWER_ROW(answer, set->processes[sum->process].id, sum->main ? "main" : "beside", set->names[sum->name],
                   set->categories[sum->category], (double)sum->count, seconds(arena, total),
                   seconds(arena, total / (double)sum->count), seconds(arena, step_seconds(sum->longest)),
                   share(total / step_seconds(set->end)));
        if (of_rank >= ROWS_SHOWN) answer_row_detail(answer, FOR_VERBOSE);
    }
    answer_first_rows(answer, FIRST_ROWS);
}

// ---- GPU activity as defined by Holistic Trace Analysis (facebookresearch/HolisticTraceAnalysis,
// hta/analyzers/breakdown_analysis.py and communication_analysis.py): communication overlapped by computation is
// computation, exposed communication is "non compute", the rest idle.

static void add_breakdown(Answer *answer, Arena *arena, const SpanSet *set) {
    static const AnswerColumn columns[] = {
        {"rank", "rank", AS_WHOLE, 0},
        {"compute_s", "compute", AS_SECONDS, 0},
        {"compute_share", "of the step", AS_SHARE, 0},
        {"exposed_communication_s", "exposed communication", AS_SECONDS, 0},
        {"exposed_communication_share", "of the step", AS_SHARE, 0},
        {"exposed_memory_s", "exposed copies", AS_SECONDS, 0},
        {"idle_host_s", "idle, host", AS_SECONDS, 0},
        {"idle_other_s", "idle, other", AS_SECONDS, 0},
        {"idle_share", "of the step", AS_SHARE, 0},
        {"communication_s", "communication", AS_SECONDS, 0},
        {"overlap_share", "overlapped", AS_SHARE, 0},
    };
    answer_table(answer, "breakdown", "What GPUs had resident (Holistic Trace Analysis)", COLUMNS(columns));
    for (int p = 0; p < set->process_count; p++) {
        const SpanBreakdown *b = &set->breakdowns[p];
        double end = step_seconds(set->end), compute = step_seconds(b->compute), host = step_seconds(b->idle_host),
               other = step_seconds(b->idle_other), exposed = step_seconds(b->exposed_communication),
               communication = step_seconds(b->communication);
        ANSWER_ROW(answer, set->processes[p].id, seconds(arena, compute), share(compute / end), seconds(arena, exposed),
                   share(exposed / end), seconds(arena, step_seconds(b->exposed_memory)), seconds(arena, host),
                   seconds(arena, other), share((host + other) / end), seconds(arena, communication),
                   share(communication > 0 ? step_seconds(b->overlap) / communication : NAN));
    }
}

// ---- The step as lines of letters, one for each rank: a column is a stretch of time, its letter what most of it went
// to.

// Main activity in a column's time span; partial bins count by their overlap with it. -1: nothing recorded.
static int kind_in(const SpanSet *set, const SpanLane *lane, SimTime start, SimTime end) {
    int best = -1;
    double most = 0;
    for (int k = 0; k < set->kind_count; k++) {
        double spent = 0;
        for (int64_t b = start / lane->width; b < lane->bin_count && b * lane->width < end; b++) {
            SimTime from = b * lane->width > start ? b * lane->width : start;
            SimTime to = (b + 1) * lane->width < end ? (b + 1) * lane->width : end;
            spent += (double)lane->spent[b * set->kind_count + k] * (double)(to - from) / (double)lane->width;
        }
        if (spent <= most) continue;
        most = spent;
        best = k;
    }
    return best;
}

static const char *lane_text(Arena *arena, const SpanSet *set, const SpanLane *lane, int columns) {
    char *text = arena_alloc(arena, (size_t)columns + 1);
    for (int c = 0; c < columns; c++) {
        int kind = kind_in(set, lane, (SimTime)((double)set->end * c / columns),
                           (SimTime)((double)set->end * (c + 1) / columns));
        text[c] = ' ';
        if (kind >= 0) text[c] = set->kinds[kind].letter;
    }
    text[columns] = '\0';
    return text;
}

static void add_lanes(Answer *answer, Arena *arena, const SpanSet *set, int from, int to, int name_width, int columns) {
    size_t longest = (size_t)(name_width + columns) + 32, at = 0; // of a line
    char *text = arena_alloc(arena, (size_t)(to > from ? to - from : 0) * longest + 1);
    for (int p = from; p < to; p++) {
        const char *name = arena_printf(arena, "rank %d", set->processes[p].id);
        at += (size_t)snprintf(text + at, longest, "%-*s  %s|\n", name_width, name,
                               lane_text(arena, set, &set->lanes[p], columns));
    }
    if (from < to) answer_verbatim(answer, text);
}

// "F  forward, 31 %": of the time of all ranks.
static void add_legend(Answer *answer, Arena *arena, const SpanSet *set) {
    double all = (double)set->end * set->process_count, *spent = ARENA_ARRAY(arena, double, set->kind_count);
    const char *text = "";
    for (int p = 0; p < set->process_count; p++)
        for (int b = 0; b < set->lanes[p].bin_count; b++)
            for (int k = 0; k < set->kind_count; k++) spent[k] += (double)set->lanes[p].spent[b * set->kind_count + k];
    for (int k = 0; k < set->kind_count; k++)
        if (spent[k] > 0)
            text = arena_printf(arena, "%s  %c  %s, %.1f %%\n", text, set->kinds[k].letter, set->kinds[k].name,
                                100 * spent[k] / all);
    answer_verbatim(answer, text);
}

static void add_lines(Answer *answer, Arena *arena, const SpanSet *set, int width) {
    int first = set->process_count < MOST_LINES ? set->process_count : MOST_LINES, name_width = 0;
    for (int p = 0; p < set->process_count; p++) {
        int length = snprintf(NULL, 0, "rank %d", set->processes[p].id);
        if (length > name_width) name_width = length;
    }
    int columns = (width < WIDEST_LANES ? width : WIDEST_LANES) - name_width - 3;
    if (columns < LEAST_WIDE) columns = LEAST_WIDE;
    answer_say(answer, NULL, "What each rank is at; a column is %s",
               text_time(arena, step_seconds(set->end) / columns));
    add_lanes(answer, arena, set, 0, first, name_width, columns);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_lanes(answer, arena, set, first, set->process_count, name_width, columns);
    answer_close(answer);
    add_legend(answer, arena, set);
}

// ---- The answer.

static void add_facts(Answer *answer, const SpanSet *set, const char *why_not) {
    answer_title(answer, set->title);
    answer_bool(answer, "ran", NULL, !why_not);
    if (why_not) answer_text(answer, "why_not", NULL, why_not);
    answer_number(answer, "step_s", NULL, AS_SECONDS, why_not ? NAN : step_seconds(set->end));
    answer_number(answer, "operation_count", NULL, AS_WHOLE, (double)set->seen);
}

void trace_answer(Answer *answer, Arena *arena, const SpanSet *set, const TraceAnswer *wanted) {
    answer_say(answer, NULL, "%s: a step of %s%s", set->title, text_time(arena, step_seconds(set->end)),
               set->beside_end ? set->beside_end : "");
    add_facts(answer, set, NULL);
    if (wanted->width > 0) add_lines(answer, arena, set, wanted->width);
    answer_open(answer, NULL, NULL);
    if (!wanted->top) answer_detail(answer, FOR_PROGRAMS);
    add_operations(answer, arena, set);
    answer_close(answer);
    answer_open(answer, NULL, NULL);
    if (!wanted->breakdown) answer_detail(answer, FOR_PROGRAMS);
    if (wanted->breakdown || wanted->all) add_breakdown(answer, arena, set);
    answer_close(answer);
    answer_main_called(answer, wanted->top || !wanted->breakdown ? "operations" : "breakdown");
}

void trace_answer_refusal(Answer *answer, Arena *arena, const char *title, const char *why_not) {
    const SpanSet none = {.title = title};
    add_facts(answer, &none, why_not);
    add_operations(answer, arena, &none);
    add_breakdown(answer, arena, &none);
}
