// Drawings of lines and points over two axes: with ranges, guides, limits and a panel below, labels where they fit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/page/report_page.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/file.h"

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

static bool has_range(const double *low, const double *high, int at) {
    return low && high && low[at] > 0 && high[at] > low[at] && isfinite(high[at]);
}

static bool has_labels(const RecordChart *chart) {
    for (int i = 0; i < chart->curve_count; i++)
        if (chart->curves[i].labels) return true;
    return false;
}

// ---- How far the axes go.

static void widen(double *low, double *high, double value) {
    if (!(value > 0) || !isfinite(value)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

#define FROM_ZERO 0.4 // an axis begins at 0 when the least is less than this of the most

// Limits may lie far from all points.
static void fit_axis(double *from, double *to, bool *is_log) {
    *is_log = *is_log || *to > 12 * *from;
    double least = *from, span = *to - *from;
    *to *= *is_log ? 1.2 : 1;
    *to += *is_log ? 0 : fmax(0.15 * span, 0.02 * *to);
    *from = *is_log ? least / 1.2 : least < FROM_ZERO * *to ? 0 : fmax(0, least - fmax(0.35 * span, 0.05 * least));
}

// Logarithmic axes need values above 0.
static void widen_by(Frame *frame, const RecordCurve *curve, int at) {
    if (frame->log_x && !(curve->x[at] > 0)) return;
    frame->x_from = fmin(frame->x_from, curve->x[at]);
    frame->x_to = fmax(frame->x_to, curve->x[at]);
    widen(&frame->y_from, &frame->y_to, curve->y[at]);
    if (has_range(curve->y_low, curve->y_high, at)) {
        widen(&frame->y_from, &frame->y_to, curve->y_low[at]);
        widen(&frame->y_from, &frame->y_to, curve->y_high[at]);
    }
    if (has_range(curve->x_low, curve->x_high, at)) {
        widen(&frame->x_from, &frame->x_to, curve->x_low[at]);
        widen(&frame->x_from, &frame->x_to, curve->x_high[at]);
    }
}

static void fit_lines(Frame *frame, const RecordChart *chart) {
    if (chart->ticks_at_points) frame->x_from /= 1.06, frame->x_to *= 1.06;
    if (!(frame->x_to > frame->x_from)) {
        frame->x_from = isfinite(frame->x_from) ? frame->x_from : 1;
        frame->x_to = frame->x_from + fmax(1, fabs(frame->x_from));
    }
    double most = isfinite(chart->y_max) ? chart->y_max : frame->y_to > 0 ? 1.05 * frame->y_to : 1;
    if (chart->log_y) {
        frame->y_from = isfinite(frame->y_from) ? fmin(frame->y_from, most / 10) / 1.3 : most / 10;
        if (!isfinite(chart->y_max)) most *= 1.2;
    } else {
        frame->y_from = chart->y_min;
    }
    frame->y_to = most;
}

static Frame frame_of(const Paper *paper, const RecordChart *chart) {
    bool labels = has_labels(chart);
    Frame frame = {.left = left_margin(paper),
                   .top = labels ? 34 : 30,
                   .height = (paper->narrow ? 200 : 260) + (labels ? paper->narrow ? 60 : 80 : 0),
                   .x_from = INFINITY,
                   .x_to = -INFINITY,
                   .y_from = INFINITY,
                   .log_x = chart->log_x,
                   .log_y = chart->log_y};
    frame.width = paper->width - frame.left - (labels ? 14 : 12);
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; k < chart->curves[i].count; k++) widen_by(&frame, &chart->curves[i], k);
    widen(&frame.x_from, &frame.x_to, chart->x_limit);
    widen(&frame.y_from, &frame.y_to, chart->y_limit);
    if (labels) {
        fit_axis(&frame.x_from, &frame.x_to, &frame.log_x);
        fit_axis(&frame.y_from, &frame.y_to, &frame.log_y);
    } else {
        fit_lines(&frame, chart);
    }
    return frame;
}

// Ticks are the points themselves, those left out that would touch the one before.
static void draw_point_ticks(const Paper *paper, const Frame *frame, const RecordChart *chart) {
    double bottom = frame->top + frame->height, last = -INFINITY;
    for (double x = 0, next;; x = next) {
        next = INFINITY;
        for (int i = 0; i < chart->curve_count; i++)
            for (int k = 0; k < chart->curves[i].count; k++)
                if (chart->curves[i].x[k] > x) next = fmin(next, chart->curves[i].x[k]);
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

// ---- Placement of labels: not over other labels, lines or points.

typedef struct Box {
    double left, top, right, bottom;
} Box;

typedef LIST_OF(Box) Boxes;

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

typedef struct NamedPoint {
    double x, y;
    const char *label;
} NamedPoint;

// As near to its point as there is room.
static Spot find_spot(const Paper *paper, const Frame *frame, Boxes *taken, const NamedPoint *point, const char *text) {
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

static bool find_spots(const Paper *paper, const Frame *frame, Boxes *taken, const NamedPoint *points,
                       const char *const *texts, int count, Spot *spots) {
    bool all = true;
    for (int i = 0; i < count; i++) {
        spots[i] = find_spot(paper, frame, taken, &points[i], texts[i]);
        all = all && isfinite(spots[i].y);
    }
    return all;
}

static int by_x(const void *a, const void *b) {
    const NamedPoint *one = a, *other = b;
    if (one->x != other->x) return one->x < other->x ? -1 : 1;
    return (one->y > other->y) - (one->y < other->y);
}

#define KEY_ROW 19.0

// The names for the letters, under the axis.
static double draw_key(const Paper *paper, const Frame *frame, const char *const *letters, const NamedPoint *points,
                       int count) {
    int columns = paper->narrow ? 1 : 2;
    double top = frame->top + frame->height + 64, width = paper->width / columns;
    for (int i = 0; i < count; i++) {
        int row = i / columns, column = i % columns;
        double x = column * width, y = top + row * KEY_ROW;
        paper_text(paper, x, y, ANCHOR_START, "row", letters[i]);
        paper_text_in(paper, x + 26, y, width - 34, ANCHOR_START, "row", points[i].label);
    }
    int rows = (count + columns - 1) / columns;
    return rows * KEY_ROW + 8;
}

// Labels the plans' points with their names, or where these do not fit with letters and a key below. Returns the
// height of the key.
static double draw_point_labels(const Paper *paper, const Frame *frame, const RecordChart *chart, Boxes *taken) {
    int count = 0, before = taken->count, room = 1;
    for (int i = 0; i < chart->curve_count; i++) room += chart->curves[i].count;
    NamedPoint *points = ARENA_ARRAY(paper->arena, NamedPoint, room);
    const char **texts = ARENA_ARRAY(paper->arena, const char *, room);
    Spot *spots = ARENA_ARRAY(paper->arena, Spot, room);
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; chart->curves[i].labels && !chart->curves[i].is_faint && k < chart->curves[i].count; k++)
            points[count++] = (NamedPoint){chart->curves[i].x[k], chart->curves[i].y[k], chart->curves[i].labels[k]};
    if (count == 0) return 0;
    qsort(points, (size_t)count, sizeof *points, by_x);
    for (int i = 0; i < count; i++) texts[i] = points[i].label;
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

static void draw_limits(const Paper *paper, const Frame *frame, const RecordChart *chart, Boxes *taken) {
    double right = frame->left + frame->width, bottom = frame->top + frame->height;
    if (chart->x_limit > 0) {
        double x = frame_x(frame, chart->x_limit);
        paper_line(paper, x, frame->top, x, bottom, "limit");
        take(paper, taken, x - 2, frame->top, x + 2, bottom);
    }
    if (chart->y_limit > 0) {
        double y = frame_y(frame, chart->y_limit);
        paper_line(paper, frame->left, y, right, y, "limit");
        take(paper, taken, frame->left, y - 2, right, y + 2);
    }
}

// Above its line if the axis' title leaves space, else next to it.
static void draw_x_limit_title(const Paper *paper, const Frame *frame, const RecordChart *chart, Boxes *taken) {
    if (!(chart->x_limit > 0)) return;
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
static void draw_y_limit_title(const Paper *paper, const Frame *frame, const RecordChart *chart, Boxes *taken) {
    if (!(chart->y_limit > 0)) return;
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

// ---- Curves.

static double x_on(const Frame *frame, double x) { return frame_x(frame, frame->log_x ? fmax(x, frame->x_from) : x); }

static double y_on(const Frame *frame, double y) {
    return frame_y(frame, fmin(frame->log_y ? fmax(y, frame->y_from) : y, frame->y_to));
}

// Where its range is known at every point.
static void draw_band(const Paper *paper, const Frame *frame, const RecordCurve *curve, int color, int series) {
    if (curve->count < 2 || curve->labels) return;
    for (int k = 0; k < curve->count; k++)
        if (!has_range(curve->y_low, curve->y_high, k)) return;
    open_path(paper, "band", color, series);
    for (int k = 0; k < curve->count; k++)
        path_to(paper, k == 0, x_on(frame, curve->x[k]), y_on(frame, curve->y_high[k]));
    for (int k = curve->count - 1; k >= 0; k--)
        path_to(paper, false, x_on(frame, curve->x[k]), y_on(frame, curve->y_low[k]));
    close_path(paper);
}

static void draw_line(const Paper *paper, const Frame *frame, const RecordCurve *curve, int color, int series) {
    open_path(paper, "line", color, series);
    for (int k = 0; k < curve->count; k++) path_to(paper, k == 0, x_on(frame, curve->x[k]), y_on(frame, curve->y[k]));
    close_path(paper);
}

static void draw_guide(const Paper *paper, const Frame *frame, const RecordCurve *curve) {
    double x = 0, y = 0, x_before, y_before;
    for (int k = 0; k < curve->count; k++) {
        x_before = x, y_before = y;
        x = x_on(frame, curve->x[k]), y = y_on(frame, curve->y[k]);
        if (k > 0) paper_line(paper, x_before, y_before, x, y, "limit");
    }
    paper_text(paper, frame->left + frame->width, y - 8, ANCHOR_END, "axis", curve->name);
}

// Between two plans of the front there is none: no straight lines.
static void draw_steps(const Paper *paper, const Frame *frame, const RecordCurve *curve, int color, int series,
                       Boxes *taken) {
    open_path(paper, "line thin", color, series);
    for (int k = 0; k < curve->count; k++) {
        double x = x_on(frame, curve->x[k]), y = y_on(frame, curve->y[k]);
        if (k > 0) {
            double from = x_on(frame, curve->x[k - 1]), before = y_on(frame, curve->y[k - 1]);
            path_to(paper, false, x, before);
            LIST_PUSH(paper->arena, taken, ((Box){from, before - 1, x, before + 1}));
            LIST_PUSH(paper->arena, taken, ((Box){x - 1, before, x + 1, y}));
        }
        path_to(paper, k == 0, x, y);
    }
    close_path(paper);
}

// Thin bars from the 5th to the 95th percentile.
static void draw_ranges(const Paper *paper, const Frame *frame, const RecordCurve *curve, int at, int color, int series,
                        Boxes *taken) {
    double x = x_on(frame, curve->x[at]), y = y_on(frame, curve->y[at]);
    if (has_range(curve->x_low, curve->x_high, at)) {
        double from = x_on(frame, curve->x_low[at]), to = x_on(frame, curve->x_high[at]);
        open_path(paper, "line range", color, series);
        fprintf(paper->out, "M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6", from, y, to, from, y - 3, to, y - 3);
        close_path(paper);
        take(paper, taken, from, y - 2, to, y + 2);
    }
    if (has_range(curve->y_low, curve->y_high, at)) {
        double from = y_on(frame, curve->y_low[at]), to = y_on(frame, curve->y_high[at]);
        open_path(paper, "line range", color, series);
        fprintf(paper->out, "M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6", x, from, to, x - 3, from, x - 3, to);
        close_path(paper);
        take(paper, taken, x - 2, to, x + 2, from);
    }
}

static const char *figure(Arena *arena, double value) {
    return fabs(value) >= 1000 ? text_count(arena, value, true) : text_figures(arena, value, 4);
}

static const char *point_title(Arena *arena, const RecordChart *chart, const RecordCurve *curve, int at) {
    const char *name = curve->labels ? curve->labels[at] : curve->name;
    const char *text = arena_printf(arena, "%s%s%s %s, %s %s", name, *name ? ": " : "", figure(arena, curve->x[at]),
                                    chart->x_title, figure(arena, curve->y[at]), chart->y_title);
    if (!has_range(curve->x_low, curve->x_high, at) || !has_range(curve->y_low, curve->y_high, at)) return text;
    return arena_printf(arena, "%s; nine times in ten %s to %s, and %s to %s", text, figure(arena, curve->x_low[at]),
                        figure(arena, curve->x_high[at]), figure(arena, curve->y_low[at]),
                        figure(arena, curve->y_high[at]));
}

static void draw_points(const Paper *paper, const Frame *frame, const RecordChart *chart, int series, int color,
                        Boxes *taken) {
    const RecordCurve *curve = &chart->curves[series];
    double radius = curve->is_faint ? 3.5 : curve->style == CURVE_POINTS ? 5 : 4;
    for (int k = 0; k < curve->count; k++) {
        double x = x_on(frame, curve->x[k]), y = y_on(frame, curve->y[k]);
        draw_dot(paper, x, y, radius, color, series, point_title(paper->arena, chart, curve, k));
        take(paper, taken, x - radius, y - radius, x + radius, y + radius);
    }
}

// The first lies over the others.
static void draw_curves(const Paper *paper, const Frame *frame, const RecordChart *chart, Boxes *taken) {
    int *colors = ARENA_ARRAY(paper->arena, int, chart->curve_count + 1);
    for (int i = 0; i < chart->curve_count; i++) colors[i] = palette_place(paper->palette, curve_color(chart, i));
    for (int i = 0; i < chart->curve_count; i++) draw_band(paper, frame, &chart->curves[i], colors[i], i);
    for (int i = 0; i < chart->curve_count; i++)
        for (int k = 0; chart->curves[i].labels && k < chart->curves[i].count; k++)
            draw_ranges(paper, frame, &chart->curves[i], k, colors[i], i, taken);
    for (int i = chart->curve_count - 1; i >= 0; i--) {
        const RecordCurve *curve = &chart->curves[i];
        if (curve->style == CURVE_LINE || curve->style == CURVE_LINE_POINTS)
            draw_line(paper, frame, curve, colors[i], i);
        if (curve->style == CURVE_GUIDE) draw_guide(paper, frame, curve);
        if (curve->style == CURVE_STEPS) draw_steps(paper, frame, curve, colors[i], i, taken);
        if (curve->style == CURVE_POINTS || curve->style == CURVE_LINE_POINTS)
            draw_points(paper, frame, chart, i, colors[i], taken);
    }
}

static void draw_panel_below(const Paper *paper, const Frame *above, const Frame *frame, const RecordChart *below) {
    Boxes taken = {0};
    paper_line(paper, above->left, above->top + above->height, above->left + above->width, above->top + above->height,
               "rule");
    frame_draw_y(paper, frame, below->y_title);
    draw_curves(paper, frame, below, &taken);
}

// Returns the height of a key under the axis.
static double draw_panels(const Paper *paper, const Frame *frame, const Frame *below, const RecordChart *chart) {
    Boxes taken = {0};
    frame_draw_y(paper, frame, chart->y_title);
    LIST_PUSH(paper->arena, &taken, text_box(0, frame->top - 12, ANCHOR_START, chart->y_title));
    draw_limits(paper, frame, chart, &taken);
    draw_curves(paper, frame, chart, &taken);
    if (chart->below) draw_panel_below(paper, frame, below, chart->below);
    if (chart->ticks_at_points)
        draw_point_ticks(paper, chart->below ? below : frame, chart);
    else
        frame_draw_x(paper, frame, chart->x_title);
    draw_x_limit_title(paper, frame, chart, &taken);
    draw_y_limit_title(paper, frame, chart, &taken);
    return draw_point_labels(paper, frame, chart, &taken);
}

// How high it is shows when its labels have found their places.
void draw_lines(Paper *paper, const RecordChart *chart, const char *label) {
    Frame frame = frame_of(paper, chart), below = frame;
    if (chart->below) {
        Frame own = frame_of(paper, chart->below);
        below.top = frame.top + frame.height + 60;
        below.height = 120;
        below.log_y = false;
        below.y_from = own.y_from;
        below.y_to = own.y_to;
    }
    TextStream drawn = text_stream_open();
    Paper within = *paper;
    within.out = drawn.stream;
    double key = draw_panels(&within, &frame, &below, chart);
    paper->height = below.top + below.height + 46 + key;
    paper_open(paper, label);
    fputs(text_stream_close(paper->arena, &drawn), paper->out);
    paper_close(paper);
}

// ---- The table behind: a row a point.

static double value_below(const RecordChart *chart, int series, double x) {
    const RecordCurve *curve = &chart->below->curves[series];
    for (int k = 0; k < curve->count; k++)
        if (curve->x[k] == x) return curve->y[k];
    return NAN;
}

const ReportTable *table_of_lines(Arena *arena, const RecordChart *chart) {
    ReportTable *table = report_table_create(arena, chart->title);
    bool labels = has_labels(chart), names = false, ranges = false;
    for (int i = 0; i < chart->curve_count; i++) {
        const RecordCurve *curve = &chart->curves[i];
        names = names || (*curve->name && curve->style != CURVE_GUIDE);
        for (int k = 0; k < curve->count && !labels; k++) ranges = ranges || has_range(curve->y_low, curve->y_high, k);
    }
    if (labels) report_column(arena, table, "plan", false);
    if (names) report_column(arena, table, labels ? "" : "curve", false);
    report_column(arena, table, chart->x_title, true);
    report_column(arena, table, chart->y_title, true);
    if (ranges) report_column(arena, table, arena_printf(arena, "%s, p5", chart->y_title), true);
    if (ranges) report_column(arena, table, arena_printf(arena, "%s, p95", chart->y_title), true);
    if (chart->below) report_column(arena, table, chart->below->y_title, true);
    for (int i = 0; i < chart->curve_count; i++) {
        const RecordCurve *curve = &chart->curves[i];
        if (curve->style == CURVE_GUIDE || curve->style == CURVE_STEPS) continue;
        for (int k = 0; k < curve->count; k++) {
            if (curve->is_marked) table->marked = report_row_count(table);
            if (labels) report_cell(arena, table, curve->labels ? curve->labels[k] : "");
            if (names) report_cell(arena, table, curve->name);
            report_number(arena, table, figure(arena, curve->x[k]), curve->x[k]);
            report_number(arena, table, figure(arena, curve->y[k]), curve->y[k]);
            const double ends[] = {curve->y_low ? curve->y_low[k] : NAN, curve->y_high ? curve->y_high[k] : NAN};
            for (int end = 0; ranges && end < 2; end++)
                report_number(arena, table, isfinite(ends[end]) ? figure(arena, ends[end]) : "", ends[end]);
            double below = chart->below ? value_below(chart, i, curve->x[k]) : NAN;
            if (chart->below) report_number(arena, table, isfinite(below) ? text_figures(arena, below, 3) : "", below);
        }
    }
    return table;
}
