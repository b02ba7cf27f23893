// Lines over an axis: scaling with its ideal and its range, a record's curves, and points of money against time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report_page.h"
#include "results/view.h"
#include "sim/file.h"
#include "sim/list.h"
#include "sim/text.h"

static double left_margin(const Paper *paper) { return paper->narrow ? 44 : 62; }

static void open_path(const Paper *paper, const char *style, int color, int series) {
    fprintf(paper->out, "<path class=\"%s%s%d\" data-s=\"%d\" d=\"", style, strcmp(style, "band") == 0 ? " f" : " s",
            color, series);
}

static void close_path(const Paper *paper) { fputs("\"/>", paper->out); }

static void path_to(const Paper *paper, bool is_first, double x, double y) {
    fprintf(paper->out, "%c%.1f %.1f", is_first ? 'M' : 'L', x, y);
}

static void draw_dot(const Paper *paper, double x, double y, double radius, int color, int series, const char *title) {
    fprintf(paper->out, "<circle class=\"dot f%d\" data-s=\"%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"><title>", color,
            series, x, y, radius);
    html_text(paper->out, paper->arena, title);
    fputs("</title></circle>", paper->out);
}

// ---- Scaling.

static void widen(double *low, double *high, double value) {
    if (!(value > 0) || !isfinite(value)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static Frame scaling_frame(const Paper *paper, const ScalingChart *chart) {
    Frame frame = {
        .left = left_margin(paper), .top = 30, .height = paper->narrow ? 200 : 260, .log_x = true, .log_y = true};
    frame.width = paper->width - frame.left - 12;
    frame.x_from = frame.y_from = INFINITY;
    for (int i = 0; i < chart->series_count; i++)
        for (int k = 0; k < chart->series[i].count; k++) {
            const ScalingPoint *point = &chart->series[i].points[k];
            widen(&frame.x_from, &frame.x_to, point->x);
            widen(&frame.y_from, &frame.y_to, point->rate);
            widen(&frame.y_from, &frame.y_to, point->rate_low);
            widen(&frame.y_from, &frame.y_to, point->rate_high);
            widen(&frame.y_from, &frame.y_to, point->x * chart->ideal_per_x);
        }
    frame.x_from /= 1.06;
    frame.x_to *= 1.06;
    frame.y_from /= 1.15;
    frame.y_to *= 1.15;
    return frame;
}

// Ticks are the simulated points, those left out that would touch the one before.
static void draw_point_ticks(const Paper *paper, const Frame *frame, const ScalingChart *chart) {
    double bottom = frame->top + frame->height, last = -INFINITY;
    for (double x = 0, next;; x = next) {
        next = INFINITY;
        for (int i = 0; i < chart->series_count; i++)
            for (int k = 0; k < chart->series[i].count; k++)
                if (chart->series[i].points[k].x > x) next = fmin(next, chart->series[i].points[k].x);
        if (!isfinite(next)) break;
        double at = frame_x(frame, next);
        const char *text = text_count(paper->arena, next, true);
        double half = paper_text_width(text) / 2;
        if (at - half < last + 8) continue;
        last = at + half;
        paper_line(paper, at, bottom, at, bottom + 5, "rule");
        paper_text(paper, fmin(at, paper->width - half), bottom + 20, ANCHOR_MIDDLE, "tick", text);
    }
    paper_line(paper, frame->left, bottom, frame->left + frame->width, bottom, "rule");
    paper_text(paper, frame->left + frame->width, bottom + 40, ANCHOR_END, "axis", chart->x_title);
}

static void draw_band(const Paper *paper, const Frame *frame, const ScalingSeries *series, int color, int index) {
    for (int k = 0; k < series->count; k++)
        if (!isfinite(series->points[k].rate_low)) return;
    open_path(paper, "band", color, index);
    for (int k = 0; k < series->count; k++)
        path_to(paper, k == 0, frame_x(frame, series->points[k].x), frame_y(frame, series->points[k].rate_high));
    for (int k = series->count - 1; k >= 0; k--)
        path_to(paper, false, frame_x(frame, series->points[k].x), frame_y(frame, series->points[k].rate_low));
    close_path(paper);
}

static const char *point_title(Arena *arena, const ScalingChart *chart, const ScalingSeries *series,
                               const ScalingPoint *point) {
    const char *text = arena_printf(arena, "%s%s%s %s: %s %s", series->name, *series->name ? ", " : "",
                                    text_count(arena, point->x, true), chart->x_title,
                                    text_count(arena, point->rate, true), chart->y_title);
    return isfinite(point->efficiency)
               ? arena_printf(arena, "%s, %s %s", text, text_figures(arena, point->efficiency, 3),
                              chart->efficiency_title)
               : text;
}

static void draw_rates(const Paper *paper, const Frame *frame, const ScalingChart *chart) {
    for (int i = 0; i < chart->series_count; i++) {
        const ScalingSeries *series = &chart->series[i];
        int color = palette_place(paper->palette, series_color(i));
        if (series->count > 1) draw_band(paper, frame, series, color, i);
        open_path(paper, "line", color, i);
        for (int k = 0; k < series->count; k++)
            path_to(paper, k == 0, frame_x(frame, series->points[k].x), frame_y(frame, series->points[k].rate));
        close_path(paper);
        for (int k = 0; k < series->count; k++)
            draw_dot(paper, frame_x(frame, series->points[k].x), frame_y(frame, series->points[k].rate), 4, color, i,
                     point_title(paper->arena, chart, series, &series->points[k]));
    }
}

static void draw_efficiencies(const Paper *paper, const Frame *frame, const ScalingChart *chart) {
    for (int i = 0; i < chart->series_count; i++) {
        const ScalingSeries *series = &chart->series[i];
        int color = palette_place(paper->palette, series_color(i));
        bool is_first = true;
        open_path(paper, "line", color, i);
        for (int k = 0; k < series->count; k++) {
            if (!isfinite(series->points[k].efficiency)) continue;
            path_to(paper, is_first, frame_x(frame, series->points[k].x), frame_y(frame, series->points[k].efficiency));
            is_first = false;
        }
        close_path(paper);
        for (int k = 0; k < series->count; k++)
            if (isfinite(series->points[k].efficiency))
                draw_dot(paper, frame_x(frame, series->points[k].x), frame_y(frame, series->points[k].efficiency), 3.5,
                         color, i, point_title(paper->arena, chart, series, &series->points[k]));
    }
}

static double most_efficient(const ScalingChart *chart) {
    double most = 0;
    for (int i = 0; i < chart->series_count; i++)
        for (int k = 0; k < chart->series[i].count; k++)
            if (isfinite(chart->series[i].points[k].efficiency))
                most = fmax(most, chart->series[i].points[k].efficiency);
    return most;
}

void draw_scaling(Paper *paper, const ScalingChart *chart, const char *label) {
    Frame rates = scaling_frame(paper, chart), below = rates;
    below.top = rates.top + rates.height + 60;
    below.height = 120;
    below.log_y = false;
    below.y_from = 0;
    below.y_to = fmax(1, 1.08 * most_efficient(chart));
    const Frame *last = chart->has_efficiency ? &below : &rates;
    paper->height = last->top + last->height + 46;
    paper_open(paper, label);
    frame_draw_y(paper, &rates, chart->y_title);
    if (isfinite(chart->ideal_per_x)) {
        paper_line(paper, frame_x(&rates, rates.x_from * 1.06),
                   frame_y(&rates, rates.x_from * 1.06 * chart->ideal_per_x), frame_x(&rates, rates.x_to / 1.06),
                   frame_y(&rates, rates.x_to / 1.06 * chart->ideal_per_x), "limit");
        paper_text(paper, rates.left + rates.width, frame_y(&rates, rates.x_to / 1.06 * chart->ideal_per_x) - 8,
                   ANCHOR_END, "axis", "perfect scaling");
    }
    draw_rates(paper, &rates, chart);
    if (chart->has_efficiency) {
        paper_line(paper, rates.left, rates.top + rates.height, rates.left + rates.width, rates.top + rates.height,
                   "rule");
        frame_draw_y(paper, &below, chart->efficiency_title);
        draw_efficiencies(paper, &below, chart);
    }
    draw_point_ticks(paper, last, chart);
    paper_close(paper);
}

const ReportTable *table_of_scaling(Arena *arena, const ScalingChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    bool is_named = chart->series_count > 1;
    if (is_named) report_column(arena, table, "series", false);
    report_column(arena, table, chart->x_title, true);
    report_column(arena, table, chart->y_title, true);
    if (chart->has_range) report_column(arena, table, arena_printf(arena, "%s, p5", chart->y_title), true);
    if (chart->has_range) report_column(arena, table, arena_printf(arena, "%s, p95", chart->y_title), true);
    if (chart->has_efficiency) report_column(arena, table, chart->efficiency_title, true);
    for (int i = 0; i < chart->series_count; i++)
        for (int k = 0; k < chart->series[i].count; k++) {
            const ScalingPoint *point = &chart->series[i].points[k];
            if (is_named) report_cell(arena, table, chart->series[i].name);
            report_number(arena, table, text_count(arena, point->x, true), point->x);
            report_number(arena, table, text_count(arena, point->rate, true), point->rate);
            if (chart->has_range)
                report_number(arena, table, text_count(arena, point->rate_low, true), point->rate_low);
            if (chart->has_range)
                report_number(arena, table, text_count(arena, point->rate_high, true), point->rate_high);
            if (chart->has_efficiency)
                report_number(arena, table, text_figures(arena, point->efficiency, 3), point->efficiency);
        }
    return table;
}

// ---- Curves.

static Frame curve_frame(const Paper *paper, const RecordChart *chart) {
    Frame frame = {.left = left_margin(paper),
                   .top = 30,
                   .height = paper->narrow ? 190 : 240,
                   .log_x = chart->log_x,
                   .log_y = chart->log_y};
    frame.width = paper->width - frame.left - 12;
    double low = INFINITY, high = -INFINITY, y_low = INFINITY, y_high = 0;
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; k < chart->curves[i].count; k++) {
            double x = chart->curves[i].x[k];
            if (chart->log_x && !(x > 0)) continue;
            low = fmin(low, x);
            high = fmax(high, x);
            if (isfinite(chart->curves[i].y[k])) y_high = fmax(y_high, chart->curves[i].y[k]);
            if (chart->curves[i].y[k] > 0) y_low = fmin(y_low, chart->curves[i].y[k]);
        }
    if (!(high > low)) low = isfinite(low) ? low : 1, high = low + fmax(1, fabs(low));
    frame.x_from = low;
    frame.x_to = high;
    frame.y_to = isfinite(chart->y_max) ? chart->y_max : y_high > 0 ? 1.05 * y_high : 1;
    if (chart->log_y) frame.y_from = isfinite(y_low) ? fmin(y_low, frame.y_to / 10) / 1.3 : frame.y_to / 10;
    if (chart->log_y && !isfinite(chart->y_max)) frame.y_to *= 1.3;
    return frame;
}

static void draw_points(const Paper *paper, const Frame *frame, const RecordCurve *curve, int series) {
    int color = palette_place(paper->palette, series_color(series));
    for (int k = 0; k < curve->count; k++) {
        draw_dot(paper, frame_x(frame, fmax(curve->x[k], frame->x_from)),
                 frame_y(frame, fmax(curve->y[k], frame->y_from)), 5, color, series,
                 arena_printf(paper->arena, "%s: %s, %s", curve->name, text_figures(paper->arena, curve->x[k], 3),
                              text_figures(paper->arena, curve->y[k], 3)));
    }
}

void draw_curves(Paper *paper, const RecordChart *chart, const char *label) {
    Frame frame = curve_frame(paper, chart);
    paper->height = frame.top + frame.height + 46;
    paper_open(paper, label);
    frame_draw_y(paper, &frame, chart->y_title);
    for (int i = 0; i < chart->curve_count; i++) {
        const RecordCurve *curve = &chart->curves[i];
        if (curve->is_points) {
            draw_points(paper, &frame, curve, i);
            continue;
        }
        open_path(paper, "line", palette_place(paper->palette, series_color(i)), i);
        for (int k = 0; k < curve->count; k++) {
            double x = chart->log_x ? fmax(curve->x[k], frame.x_from) : curve->x[k];
            path_to(paper, k == 0, frame_x(&frame, x), frame_y(&frame, fmin(curve->y[k], frame.y_to)));
        }
        close_path(paper);
    }
    frame_draw_x(paper, &frame, chart->x_title);
    paper_close(paper);
}

const ReportTable *table_of_curves(Arena *arena, const RecordChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    report_column(arena, table, "curve", false);
    report_column(arena, table, chart->x_title, true);
    report_column(arena, table, chart->y_title, true);
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; k < chart->curves[i].count; k++) {
            report_cell(arena, table, chart->curves[i].name);
            report_number(arena, table, text_figures(arena, chart->curves[i].x[k], 4), chart->curves[i].x[k]);
            report_number(arena, table, text_figures(arena, chart->curves[i].y[k], 4), chart->curves[i].y[k]);
        }
    return table;
}

// ---- Money against time.

enum { SERIES_CHOSEN, SERIES_FRONT, SERIES_OTHERS };
static const uint32_t pareto_colors[] = {0xd5482a, 0x2f5c9e, 0x8b949e};

static int series_of(const ParetoPoint *point) {
    return point->is_chosen ? SERIES_CHOSEN : point->on_front ? SERIES_FRONT : SERIES_OTHERS;
}

static bool has_range(double low, double high) { return low > 0 && high > low && isfinite(high); }

#define FROM_ZERO 0.4 // an axis begins at 0 when the least is less than this of the most

static void fit_axis(double *from, double *to, bool *is_log) {
    *is_log = *to > 12 * *from;
    double least = *from, span = *to - *from;
    *to *= *is_log ? 1.2 : 1;
    *to += *is_log ? 0 : fmax(0.15 * span, 0.02 * *to);
    *from = *is_log ? least / 1.2 : least < FROM_ZERO * *to ? 0 : fmax(0, least - fmax(0.35 * span, 0.05 * least));
}

static Frame pareto_frame(const Paper *paper, const ParetoChart *chart) {
    Frame frame = {.left = left_margin(paper), .top = 34, .height = paper->narrow ? 260 : 340};
    frame.width = paper->width - frame.left - 14;
    frame.x_from = frame.y_from = INFINITY;
    for (int i = 0; i < chart->point_count; i++) {
        const ParetoPoint *point = &chart->points[i];
        widen(&frame.x_from, &frame.x_to, point->x);
        widen(&frame.y_from, &frame.y_to, point->y);
        if (series_of(point) == SERIES_OTHERS) continue;
        if (has_range(point->x_low, point->x_high))
            widen(&frame.x_from, &frame.x_to, point->x_low), widen(&frame.x_from, &frame.x_to, point->x_high);
        if (has_range(point->y_low, point->y_high))
            widen(&frame.y_from, &frame.y_to, point->y_low), widen(&frame.y_from, &frame.y_to, point->y_high);
    }
    widen(&frame.x_from, &frame.x_to, chart->x_limit);
    widen(&frame.y_from, &frame.y_to, chart->y_limit);
    fit_axis(&frame.x_from, &frame.x_to, &frame.log_x);
    fit_axis(&frame.y_from, &frame.y_to, &frame.log_y);
    return frame;
}

// ---- Labels stand where nothing else does: not on each other, not on lines, not on points.

typedef struct Box {
    double left, top, right, bottom;
} Box;

typedef struct Boxes {
    Box *items;
    int count, room;
} Boxes;

static bool is_free(const Boxes *taken, const Box *box) {
    for (int i = 0; i < taken->count; i++) {
        const Box *other = &taken->items[i];
        if (box->left < other->right && box->right > other->left && box->top < other->bottom &&
            box->bottom > other->top)
            return false;
    }
    return true;
}

static void take(const Paper *paper, Boxes *taken, double left, double top, double right, double bottom) {
    LIST_PUSH(paper->arena, taken, ((Box){left, top, right, bottom}));
}

static Box text_box(double x, double y, Anchor anchor, const char *text) {
    double width = paper_text_width(text), left = anchor == ANCHOR_START ? x
                                                  : anchor == ANCHOR_END ? x - width
                                                                         : x - width / 2;
    return (Box){left, y - 12, left + width, y + 4};
}

static bool is_within(const Frame *frame, const Box *box) {
    return box->left >= frame->left && box->right <= frame->left + frame->width && box->top >= frame->top &&
           box->bottom <= frame->top + frame->height;
}

static void put_text(const Paper *paper, Boxes *taken, double x, double y, Anchor anchor, const char *style,
                     const char *text) {
    Box box = text_box(x, y, anchor, text);
    paper_text(paper, x, y, anchor, style, text);
    LIST_PUSH(paper->arena, taken, box);
}

#define NEAR_LABEL 20.0 // from a label that is farther a line leads to its point

typedef struct Spot {
    double x, y; // of the text; y NAN: there is no room
    Anchor anchor;
    double from_x, from_y; // of the line that leads there
    bool is_far;
} Spot;

// As near to its point as there is room.
static Spot find_spot(const Paper *paper, const Frame *frame, Boxes *taken, const ParetoPoint *point,
                      const char *text) {
    static const double distances[] = {11, 20, 34, 52};
    static const struct {
        double x, y;
        Anchor anchor;
    } ways[] = {{1, 0, ANCHOR_START},     {0.7, -0.7, ANCHOR_START}, {0.7, 0.7, ANCHOR_START}, {-1, 0, ANCHOR_END},
                {-0.7, -0.7, ANCHOR_END}, {-0.7, 0.7, ANCHOR_END},   {0, -1, ANCHOR_MIDDLE},   {0, 1, ANCHOR_MIDDLE}};
    double x = frame_x(frame, point->x), y = frame_y(frame, point->y);
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            Spot spot = {x + ways[w].x * distances[d], y + ways[w].y * distances[d] + 4.5, ways[w].anchor, x, y,
                         distances[d] > NEAR_LABEL};
            Box box = text_box(spot.x, spot.y, spot.anchor, text);
            if (!is_within(frame, &box) || !is_free(taken, &box)) continue;
            LIST_PUSH(paper->arena, taken, box);
            return spot;
        }
    return (Spot){.y = NAN};
}

static bool find_spots(const Paper *paper, const Frame *frame, Boxes *taken, const ParetoPoint *const *points,
                       const char *const *texts, int count, Spot *spots) {
    bool all = true;
    for (int i = 0; i < count; i++) {
        spots[i] = find_spot(paper, frame, taken, points[i], texts[i]);
        all = all && isfinite(spots[i].y);
    }
    return all;
}

static int by_x(const void *a, const void *b) {
    const ParetoPoint *one = *(const ParetoPoint *const *)a, *other = *(const ParetoPoint *const *)b;
    if (one->x != other->x) return one->x < other->x ? -1 : 1;
    return (one->y > other->y) - (one->y < other->y);
}

#define KEY_ROW 19.0

// Names of what stands behind letters, under the axis.
static double draw_key(const Paper *paper, const Frame *frame, const char *const *letters,
                       const ParetoPoint *const *points, int count) {
    int columns = paper->narrow ? 1 : 2;
    double top = frame->top + frame->height + 64, width = paper->width / columns;
    for (int i = 0; i < count; i++) {
        int row = i / columns, column = i % columns;
        double x = column * width, y = top + row * KEY_ROW;
        paper_text(paper, x, y, ANCHOR_START, "row", letters[i]);
        paper_text_in(paper, x + 26, y, width - 34, ANCHOR_START, "row", points[i]->label);
    }
    int rows = (count + columns - 1) / columns;
    return rows * KEY_ROW + 8;
}

// The names of the plans that one would choose among beside their points; where there is no room for all of them,
// letters, and the names in a key below. Returns the height of the key.
static double draw_point_labels(const Paper *paper, const Frame *frame, const ParetoChart *chart, Boxes *taken) {
    const ParetoPoint **points = ARENA_ARRAY(paper->arena, const ParetoPoint *, chart->point_count);
    const char **texts = ARENA_ARRAY(paper->arena, const char *, chart->point_count);
    Spot *spots = ARENA_ARRAY(paper->arena, Spot, chart->point_count);
    int count = 0, before = taken->count;
    for (int i = 0; i < chart->point_count; i++)
        if (series_of(&chart->points[i]) != SERIES_OTHERS) points[count++] = &chart->points[i];
    if (count == 0) return 0;
    qsort(points, (size_t)count, sizeof *points, by_x);
    for (int i = 0; i < count; i++) texts[i] = points[i]->label;
    bool named = find_spots(paper, frame, taken, points, texts, count, spots);
    if (!named) {
        taken->count = before;
        for (int i = 0; i < count; i++)
            texts[i] = i < 26 ? arena_printf(paper->arena, "%c", 'A' + i) : arena_printf(paper->arena, "%d", i + 1);
        find_spots(paper, frame, taken, points, texts, count, spots);
    }
    for (int i = 0; i < count; i++) {
        const Spot *spot = &spots[i];
        if (!isfinite(spot->y)) continue;
        if (spot->is_far) paper_line(paper, spot->from_x, spot->from_y, spot->x, spot->y - 4.5, "lead");
        paper_text(paper, spot->x, spot->y, spot->anchor, "row", texts[i]);
    }
    return named ? 0 : draw_key(paper, frame, texts, points, count);
}

static void draw_limits(const Paper *paper, const Frame *frame, const ParetoChart *chart, Boxes *taken) {
    double right = frame->left + frame->width, bottom = frame->top + frame->height;
    if (isfinite(chart->x_limit)) {
        double x = frame_x(frame, chart->x_limit);
        paper_line(paper, x, frame->top, x, bottom, "limit");
        take(paper, taken, x - 2, frame->top, x + 2, bottom);
    }
    if (isfinite(chart->y_limit)) {
        double y = frame_y(frame, chart->y_limit);
        paper_line(paper, frame->left, y, right, y, "limit");
        take(paper, taken, frame->left, y - 2, right, y + 2);
    }
}

// Above its line where the axis' title leaves room, else beside it.
static void draw_x_limit_title(const Paper *paper, const Frame *frame, const ParetoChart *chart, Boxes *taken) {
    if (!isfinite(chart->x_limit)) return;
    double x = frame_x(frame, chart->x_limit), half = paper_text_width(chart->x_limit_title) / 2;
    double above = fmin(x, paper->width - half);
    const struct {
        double x, y;
        Anchor anchor;
    } places[] = {{above, frame->top - 8, ANCHOR_MIDDLE},
                  {x - 5, frame->top + frame->height - 8, ANCHOR_END},
                  {x + 5, frame->top + frame->height - 8, ANCHOR_START},
                  {x - 5, frame->top + 14, ANCHOR_END},
                  {x + 5, frame->top + 14, ANCHOR_START}};
    for (int i = 0; i < 5; i++) {
        Box box = text_box(places[i].x, places[i].y, places[i].anchor, chart->x_limit_title);
        if (!is_free(taken, &box) || (i > 0 && !is_within(frame, &box))) continue;
        put_text(paper, taken, places[i].x, places[i].y, places[i].anchor, "axis", chart->x_limit_title);
        return;
    }
}

#define DASHES 30.0

// Along its line, above or below.
static void draw_y_limit_title(const Paper *paper, const Frame *frame, const ParetoChart *chart, Boxes *taken) {
    if (!isfinite(chart->y_limit)) return;
    double y = frame_y(frame, chart->y_limit), room = frame->width - paper_text_width(chart->y_limit_title) - 12;
    for (int below = 0; below < 2; below++)
        for (int part = 0; part <= 8; part++) {
            double x = frame->left + 6 + room * part / 8, at = below ? y + 17 : y - 6;
            Box box = text_box(x, at, ANCHOR_START, chart->y_limit_title);
            if (!is_free(taken, &box) || !is_within(frame, &box)) continue;
            put_text(paper, taken, x, at, ANCHOR_START, "axis", chart->y_limit_title);
            return;
        }
    for (int part = 0; part <= 8; part++) { // else behind a piece of such a line, at the top
        double x = frame->left + 6 + (room - DASHES) * part / 8, at = frame->top + 14;
        Box box = text_box(x + DASHES, at, ANCHOR_START, chart->y_limit_title);
        box.left -= DASHES;
        if (!is_free(taken, &box)) continue;
        paper_line(paper, x, at - 4.5, x + DASHES - 6, at - 4.5, "limit");
        put_text(paper, taken, x + DASHES, at, ANCHOR_START, "axis", chart->y_limit_title);
        return;
    }
}

// From the 5 % to the 95 % of what is expected, of the plans that one would choose among.
static void draw_ranges(const Paper *paper, const Frame *frame, const ParetoPoint *point, Boxes *taken) {
    int series = series_of(point), color = palette_place(paper->palette, pareto_colors[series]);
    double x = frame_x(frame, point->x), y = frame_y(frame, point->y);
    if (has_range(point->x_low, point->x_high)) {
        double from = frame_x(frame, point->x_low), to = frame_x(frame, point->x_high);
        open_path(paper, "line range", color, series);
        fprintf(paper->out, "M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6", from, y, to, from, y - 3, to, y - 3);
        close_path(paper);
        take(paper, taken, from, y - 2, to, y + 2);
    }
    if (has_range(point->y_low, point->y_high)) {
        double from = frame_y(frame, point->y_low), to = frame_y(frame, point->y_high);
        open_path(paper, "line range", color, series);
        fprintf(paper->out, "M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6", x, from, to, x - 3, from, x - 3, to);
        close_path(paper);
        take(paper, taken, x - 2, to, x + 2, from);
    }
}

// Steps, not straight lines: between two plans of the front there is none.
static void draw_front(const Paper *paper, const Frame *frame, const ParetoChart *chart, Boxes *taken) {
    double x = 0, y = NAN;
    bool is_first = true;
    open_path(paper, "line thin", palette_place(paper->palette, pareto_colors[SERIES_FRONT]), SERIES_FRONT);
    for (;;) {
        const ParetoPoint *next = NULL;
        for (int i = 0; i < chart->point_count; i++) {
            const ParetoPoint *point = &chart->points[i];
            if (point->on_front && point->x > x && (!next || point->x < next->x)) next = point;
        }
        if (!next) break;
        if (!is_first) {
            double from = frame_x(frame, x), to = frame_x(frame, next->x), before = frame_y(frame, y);
            path_to(paper, false, to, before);
            LIST_PUSH(paper->arena, taken, ((Box){from, before - 1, to, before + 1}));
            LIST_PUSH(paper->arena, taken, ((Box){to - 1, before, to + 1, frame_y(frame, next->y)}));
        }
        path_to(paper, is_first, frame_x(frame, next->x), frame_y(frame, next->y));
        is_first = false;
        x = next->x;
        y = next->y;
    }
    if (is_first) path_to(paper, true, frame->left, frame->top);
    close_path(paper);
}

static void draw_pareto_point(const Paper *paper, const Frame *frame, const ParetoChart *chart,
                              const ParetoPoint *point, Boxes *taken) {
    int series = series_of(point);
    double x = frame_x(frame, point->x), y = frame_y(frame, point->y), radius = series == SERIES_OTHERS ? 3.5 : 5;
    const char *title =
        arena_printf(paper->arena, "%s: %s %s, %s %s", point->label, text_figures(paper->arena, point->x, 4),
                     chart->x_title, text_count(paper->arena, point->y, true), chart->y_title);
    if (has_range(point->x_low, point->x_high) && has_range(point->y_low, point->y_high))
        title =
            arena_printf(paper->arena, "%s; nine times in ten %s to %s, and %s to %s", title,
                         text_figures(paper->arena, point->x_low, 3), text_figures(paper->arena, point->x_high, 3),
                         text_count(paper->arena, point->y_low, true), text_count(paper->arena, point->y_high, true));
    draw_dot(paper, x, y, radius, palette_place(paper->palette, pareto_colors[series]), series, title);
    take(paper, taken, x - radius, y - radius, x + radius, y + radius);
}

static double draw_within_pareto(const Paper *paper, const Frame *frame, const ParetoChart *chart) {
    Boxes taken = {0};
    frame_draw_y(paper, frame, chart->y_title);
    frame_draw_x(paper, frame, chart->x_title);
    LIST_PUSH(paper->arena, &taken, text_box(0, frame->top - 12, ANCHOR_START, chart->y_title));
    draw_limits(paper, frame, chart, &taken);
    for (int i = 0; i < chart->point_count; i++)
        if (series_of(&chart->points[i]) != SERIES_OTHERS) draw_ranges(paper, frame, &chart->points[i], &taken);
    draw_front(paper, frame, chart, &taken);
    for (int series = SERIES_OTHERS; series >= SERIES_CHOSEN; series--)
        for (int i = 0; i < chart->point_count; i++)
            if (series_of(&chart->points[i]) == series)
                draw_pareto_point(paper, frame, chart, &chart->points[i], &taken);
    draw_x_limit_title(paper, frame, chart, &taken);
    draw_y_limit_title(paper, frame, chart, &taken);
    return draw_point_labels(paper, frame, chart, &taken);
}

// How high it is shows when its labels have found their places.
void draw_pareto(Paper *paper, const ParetoChart *chart, const char *label) {
    Frame frame = pareto_frame(paper, chart);
    TextStream drawn = text_stream_open();
    Paper within = *paper;
    within.out = drawn.stream;
    double key = draw_within_pareto(&within, &frame, chart);
    paper->height = frame.top + frame.height + 46 + key;
    paper_open(paper, label);
    fputs(text_stream_close(paper->arena, &drawn), paper->out);
    paper_close(paper);
}

const ReportTable *table_of_pareto(Arena *arena, const ParetoChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    report_column(arena, table, "plan", false);
    report_column(arena, table, chart->x_title, true);
    report_column(arena, table, chart->y_title, true);
    report_column(arena, table, "", false);
    for (int i = 0; i < chart->point_count; i++) {
        const ParetoPoint *point = &chart->points[i];
        if (point->is_chosen) table->marked = i;
        report_cell(arena, table, point->label);
        report_number(arena, table, text_figures(arena, point->x, 4), point->x);
        report_number(arena, table, text_count(arena, point->y, true), point->y);
        report_cell(arena, table, point->is_chosen ? "chosen" : point->on_front ? "front" : "");
    }
    return table;
}
