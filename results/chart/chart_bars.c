// Bar charts of a record: breakdown of the step, memory, timeline.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "results/chart/chart.h"
#include "results/view.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

// A chart while it is put together.
typedef struct Builder {
    Arena *arena;
    LIST_OF(ChartBar) bars;
    LIST_OF(ChartLegend) legend;
    LIST_OF(const char *) rows, ends;
    double x_max;
} Builder;

static int legend_place(Builder *builder, const char *name, uint32_t color) {
    for (int i = 0; i < builder->legend.count; i++)
        if (strcmp(builder->legend.items[i].name, name) == 0) return i;
    ChartLegend entry = {name, color};
    LIST_PUSH(builder->arena, &builder->legend, entry);
    return builder->legend.count - 1;
}

static void add_row(Builder *builder, const char *name, const char *end) {
    LIST_PUSH(builder->arena, &builder->rows, name);
    LIST_PUSH(builder->arena, &builder->ends, end);
}

// In the newest row.
static void add_bar(Builder *builder, double from, double to, int legend, const char *label) {
    ChartBar bar = {.row = builder->rows.count - 1, .from = from, .to = to, .legend = legend, .label = label};
    LIST_PUSH(builder->arena, &builder->bars, bar);
    if (to > builder->x_max) builder->x_max = to;
}

static Chart built(const Builder *builder) {
    BarChart bars = {
        .y_title = "",
        .rows = builder->rows.items,
        .ends = builder->ends.items,
        .row_count = builder->rows.count,
        .bars = builder->bars.items,
        .bar_count = builder->bars.count,
        .legend = builder->legend.items,
        .legend_count = builder->legend.count,
        .x_max = builder->x_max,
        .line = NAN,
    };
    return (Chart){.kind = CHART_BARS, .bars = bars};
}

const char *chart_titled(Arena *arena, const Record *record, const char *what) {
    return record->title && *record->title ? arena_printf(arena, "%s: %s", record->title, what) : what;
}

// ---- Parts of a whole: the same for time and for memory.

typedef struct Whole {
    const char *row;
    const NamedValue *parts;
    int part_count;
} Whole;

typedef LIST_OF(Whole) WholeList;

typedef struct PartStyle {
    Look (*look)(const char *name, int index);
    const char *(*amount)(Arena *arena, double value);
    TextUnit unit;
} PartStyle;

static const char *part_title(const NamedValue *part) { return part->title ? part->title : part->name; }

// One whole falls apart over rows, each beginning where the last ended.
static void add_waterfall(Builder *builder, const Whole *whole, const PartStyle *style) {
    double sum = sum_of_values(whole->parts, whole->part_count), at = 0;
    for (int i = 0; i < whole->part_count; i++) {
        const NamedValue *part = &whole->parts[i];
        if (!(part->value > 0) || part->value < 0.0005 * sum) continue;
        add_row(builder, part_title(part),
                arena_printf(builder->arena, "%s  %s", style->amount(builder->arena, part->value),
                             text_percent(builder->arena, part->value / sum)));
        int legend = legend_place(builder, part->name, style->look(part->name, i).color);
        add_bar(builder, at / style->unit.scale, (at + part->value) / style->unit.scale, legend, NULL);
        at += part->value;
    }
}

static void add_stack(Builder *builder, const Whole *whole, const PartStyle *style) {
    double sum = sum_of_values(whole->parts, whole->part_count), at = 0;
    add_row(builder, whole->row, style->amount(builder->arena, sum));
    for (int i = 0; i < whole->part_count; i++) {
        const NamedValue *part = &whole->parts[i];
        if (!(part->value > 0)) continue;
        int legend = legend_place(builder, part_title(part), style->look(part->name, i).color);
        add_bar(builder, at / style->unit.scale, (at + part->value) / style->unit.scale, legend,
                arena_printf(builder->arena, "%.0f %%", 100 * part->value / sum));
        at += part->value;
    }
}

void stack_chart(Arena *arena, const StackRow *rows, int row_count, Chart *chart) {
    Builder builder = {.arena = arena};
    for (int row = 0; row < row_count; row++) {
        double at = 0;
        add_row(&builder, rows[row].name, rows[row].end);
        for (int i = 0; i < rows[row].part_count; i++) {
            const NamedValue *part = &rows[row].parts[i];
            if (!(part->value > 0)) continue;
            int legend = legend_place(&builder, part_title(part), series_color(builder.legend.count));
            add_bar(&builder, at, at + part->value, legend, NULL);
            at += part->value;
        }
    }
    *chart = built(&builder);
}

void swing_chart(Arena *arena, const SwingRow *rows, int row_count, double base, const char *base_title, Chart *chart) {
    Builder builder = {.arena = arena};
    double low = base, high = base;
    legend_place(&builder, "at one end", series_color(0));
    legend_place(&builder, "at the other", series_color(1));
    for (int i = 0; i < row_count; i++) {
        const SwingRow *row = &rows[i];
        const double ends[] = {row->low, row->high};
        const char *const texts[] = {row->low_text, row->high_text};
        add_row(&builder, row->name,
                isfinite(row->low) && isfinite(row->high)
                    ? arena_printf(arena, "%s – %s", row->low_text, row->high_text)
                : isfinite(row->low) ? row->low_text
                                     : row->high_text);
        for (int end = 0; end < 2; end++) {
            if (!isfinite(ends[end])) continue;
            add_bar(&builder, fmin(base, ends[end]), fmax(base, ends[end]), end, NULL);
            builder.bars.items[builder.bars.count - 1].says = texts[end];
            low = fmin(low, ends[end]);
            high = fmax(high, ends[end]);
        }
    }
    double margin = high > low ? 0.04 * (high - low) : fmax(1e-9, 0.05 * fabs(high));
    *chart = built(&builder);
    chart->bars.x_min = low - margin;
    chart->bars.x_max = high + margin;
    chart->bars.is_two_sided = true;
    chart->bars.line = base;
    chart->bars.line_title = base_title;
}

static double largest_part(const WholeList *wholes, const char *name) {
    double largest = 0;
    for (int i = 0; i < wholes->count; i++)
        for (int k = 0; k < wholes->items[i].part_count; k++)
            if (strcmp(wholes->items[i].parts[k].name, name) == 0)
                largest = fmax(largest, wholes->items[i].parts[k].value);
    return largest;
}

static double largest_whole(const WholeList *wholes) {
    double largest = 0;
    for (int i = 0; i < wholes->count; i++)
        largest = fmax(largest, sum_of_values(wholes->items[i].parts, wholes->items[i].part_count));
    return largest;
}

// Every part that is in some whole, in the order of the lists and not of the first stack that has it.
static void add_legend(Builder *builder, const WholeList *wholes, const PartStyle *style) {
    for (int i = 0; i < wholes->count; i++)
        for (int k = 0; k < wholes->items[i].part_count; k++) {
            const NamedValue *part = &wholes->items[i].parts[k];
            if (largest_part(wholes, part->name) > 0)
                legend_place(builder, part_title(part), style->look(part->name, k).color);
        }
}

static Chart chart_of_wholes(Arena *arena, const Record *record, const WholeList *wholes, const PartStyle *style) {
    Builder builder = {.arena = arena};
    bool is_single = wholes->count == 1;
    if (!is_single) add_legend(&builder, wholes, style);
    for (int i = 0; i < wholes->count; i++) {
        if (is_single)
            add_waterfall(&builder, &wholes->items[i], style);
        else
            add_stack(&builder, &wholes->items[i], style);
    }
    Chart chart = built(&builder);
    if (is_single) chart.bars.legend_count = 0; // the rows are labelled
    if (!is_single) chart.bars.y_title = point_label_title(arena, record, NULL);
    return chart;
}

static void add_whole(Arena *arena, WholeList *wholes, const Record *record, int index, const NamedValue *parts,
                      int part_count) {
    if (!(sum_of_values(parts, part_count) > 0)) return;
    const char *label = point_label(arena, record, &record->points[index], NULL);
    Whole whole = {*label ? label : arena_printf(arena, "%d", index + 1), parts, part_count};
    LIST_PUSH(arena, wholes, whole);
}

bool breakdown_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems) {
    WholeList wholes = {0};
    for (int i = 0; i < record->point_count; i++)
        if (record->points[i].ran)
            add_whole(arena, &wholes, record, i, record->points[i].exposed, record->points[i].exposed_count);
    if (wholes.count == 0)
        return problem_add(problems, (Where){record->scenario, 0}, "there is no step to break down: no point ran");
    PartStyle style = {look_of_cause, text_time, text_time_unit(largest_whole(&wholes))};
    *chart = chart_of_wholes(arena, record, &wholes, &style);
    chart->bars.title = chart_titled(arena, record, "where the step goes");
    chart->bars.x_title = arena_printf(arena, "exposed time in a step, mean over ranks (%s)", style.unit.name);
    return true;
}

// The capacity is drawn when it is the same for all.
static double common_capacity(const Record *record) {
    double capacity = record->points[0].memory_capacity_bytes;
    for (int i = 1; i < record->point_count; i++)
        if (record->points[i].memory_capacity_bytes != capacity) return NAN;
    return capacity > 0 ? capacity : NAN;
}

bool memory_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems) {
    WholeList wholes = {0};
    for (int i = 0; i < record->point_count; i++)
        add_whole(arena, &wholes, record, i, record->points[i].memory, record->points[i].memory_count);
    if (wholes.count == 0)
        return problem_add(problems, (Where){record->scenario, 0},
                           "there is no memory to draw: no point has an estimate");
    double capacity = common_capacity(record);
    PartStyle style = {look_of_memory, text_bytes,
                       text_byte_unit(fmax(largest_whole(&wholes), isfinite(capacity) ? capacity : 0))};
    *chart = chart_of_wholes(arena, record, &wholes, &style);
    chart->bars.title = chart_titled(arena, record, "memory of the fullest GPU");
    chart->bars.x_title = arena_printf(arena, "memory per GPU (%s)", style.unit.name);
    chart->bars.line = capacity / style.unit.scale;
    if (isfinite(capacity)) {
        chart->bars.line_title = arena_printf(arena, "capacity %s", text_bytes(arena, capacity));
        chart->bars.x_max = fmax(chart->bars.x_max, chart->bars.line);
    }
    return true;
}

// ---- Timeline.

static const RecordPoint *point_with_timeline(const Record *record) {
    for (int i = 0; i < record->point_count; i++)
        if (record->points[i].ran && record->points[i].timeline && record->points[i].timeline->bar_count > 0)
            return &record->points[i];
    return NULL;
}

// "F3" is micro-batch 3: the number is enough, the colour shows the kind.
static const char *bar_label(const char *name) {
    if (!name) return NULL;
    bool is_numbered = isalpha((unsigned char)name[0]) && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
    return is_numbered ? name + 1 : name;
}

static double timeline_end(const Timeline *timeline) {
    double end = 0;
    for (int i = 0; i < timeline->bar_count; i++)
        if (isfinite(timeline->bars[i].end_s)) end = fmax(end, timeline->bars[i].end_s);
    return end;
}

double bar_share(const ChartBar *bar) {
    if (bar->high <= bar->low) return 1;
    return (bar->high - bar->low) / (bar->full > 0 ? bar->full : 1);
}

static const char *in_words(const char *cause) {
    static const struct {
        const char *cause, *words;
    } known[] = {{"tp", "tensor parallel"}, {"cp", "context parallel"}, {"ep", "expert parallel"},
                 {"pp", "pipeline"},        {"dp", "data parallel"},    {"weight-gradient", "backward of weights"},
                 {"recompute", "recompute"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].cause, cause) == 0) return known[i].words;
    return cause;
}

static void place_in_row(ChartBar *chart_bar, const TimelineBar *bar) {
    double share = bar->share > 0 && bar->share < 1 ? bar->share : 1;
    int lanes = bar->lanes > 0 ? bar->lanes : 1;
    if (lanes == 1 && share == 1) return;
    chart_bar->full = 1.0 / lanes;
    chart_bar->low = 1 - (bar->lane + 1) * chart_bar->full + bar->below * chart_bar->full;
    chart_bar->high = chart_bar->low + share * chart_bar->full;
}

static void add_timeline(Builder *builder, const Timeline *timeline, double scale) {
    for (int i = 0; i < timeline->row_count; i++)
        add_row(builder, timeline->row_names[i] ? timeline->row_names[i] : "", "");
    for (int i = 0; i < timeline->bar_count; i++) {
        const TimelineBar *bar = &timeline->bars[i];
        if (!(bar->end_s > bar->start_s) || bar->row < 0 || bar->row >= timeline->row_count) continue;
        const char *cause = bar->cause ? bar->cause : "other";
        int legend = legend_place(builder, in_words(cause), look_of_cause(cause, builder->legend.count).color);
        ChartBar chart_bar = {.row = bar->row,
                              .from = bar->start_s / scale,
                              .to = bar->end_s / scale,
                              .legend = legend,
                              .label = bar_label(bar->name),
                              .is_part = bar->is_part};
        place_in_row(&chart_bar, bar);
        LIST_PUSH(builder->arena, &builder->bars, chart_bar);
        builder->x_max = fmax(builder->x_max, chart_bar.to);
    }
}

static const char *reading_of(const Timeline *timeline) {
    if (!timeline->has_transfer_rows)
        return "Each row is a rank, or one of many that do the same; where a row is empty it waits.";
    return "One GPU of each stage, or of all that do the same: the passes of its micro-batches, and under them its "
           "transfers, a lane for each purpose, those hidden behind computing too. Where a row is empty it waits. A "
           "bar lower than its lane is at that for so much of its time; a pass spans the transfers within it, too.";
}

bool gantt_chart(Arena *arena, const Record *record, Chart *chart, Problems *problems) {
    const RecordPoint *point = point_with_timeline(record);
    if (!point) {
        problem_add(problems, (Where){record->scenario, 0}, "there is no timeline to draw");
        return problem_hint(problems, "a timeline is kept when the study asks for the plot: plot = { \"gantt\" }");
    }
    TextUnit unit = text_time_unit(timeline_end(point->timeline));
    Builder builder = {.arena = arena};
    add_timeline(&builder, point->timeline, unit.scale);
    *chart = built(&builder);
    chart->bars.ends = NULL;
    chart->bars.is_dense = true;
    chart->bars.x_title = arena_printf(arena, "time in the step (%s)", unit.name);
    chart->bars.x_unit = unit.name;
    chart->bars.reading = reading_of(point->timeline);
    const char *label = point_label(arena, record, point, NULL), *what = "timeline";
    if (*label) what = arena_printf(arena, "timeline of %s = %s", point_label_title(arena, record, NULL), label);
    if (isfinite(point->timeline->idle_share))
        what = arena_printf(arena, "%s, idle %s", what, text_percent(arena, point->timeline->idle_share));
    chart->bars.title = chart_titled(arena, record, what);
    return true;
}
