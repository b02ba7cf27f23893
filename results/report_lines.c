// Lines over an axis: scaling with its ideal and its range, a record's curves, and points of money against time.
#include <math.h>
#include <string.h>

#include "results/report_page.h"
#include "results/text.h"
#include "results/view.h"
#include "sim/list.h"

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

static Frame pareto_frame(const Paper *paper, const ParetoChart *chart) {
    Frame frame = {.left = left_margin(paper), .top = 34, .height = paper->narrow ? 240 : 320};
    frame.width = paper->width - frame.left - 14;
    frame.x_from = frame.y_from = INFINITY;
    for (int i = 0; i < chart->point_count; i++) {
        widen(&frame.x_from, &frame.x_to, chart->points[i].x);
        widen(&frame.y_from, &frame.y_to, chart->points[i].y);
    }
    widen(&frame.x_from, &frame.x_to, chart->x_limit);
    widen(&frame.y_from, &frame.y_to, chart->y_limit);
    frame.log_x = frame.x_to > 12 * frame.x_from;
    frame.log_y = frame.y_to > 12 * frame.y_from;
    frame.x_from = frame.log_x ? frame.x_from / 1.15 : 0;
    frame.y_from = frame.log_y ? frame.y_from / 1.15 : 0;
    frame.x_to *= frame.log_x ? 1.2 : 1.08;
    frame.y_to *= frame.log_y ? 1.2 : 1.08;
    return frame;
}

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

// Beside its point where nothing else stands, else nowhere: the table has them all.
static void draw_point_label(const Paper *paper, const Frame *frame, Boxes *taken, const ParetoPoint *point) {
    double x = frame_x(frame, point->x), y = frame_y(frame, point->y), width = paper_text_width(point->label);
    static const double ups[] = {-14, 16, 0, 31, -29};
    for (int try = 0; try < 10; try++) {
        bool to_left = try % 2 == 1;
        double up = ups[try / 2];
        Box box = {to_left ? x - 9 - width : x + 9, y - 7 + up, to_left ? x - 9 : x + 9 + width, y + 7 + up};
        if (box.left < frame->left || box.right > paper->width || !is_free(taken, &box)) continue;
        paper_text(paper, to_left ? x - 9 : x + 9, y + 4.5 + up, to_left ? ANCHOR_END : ANCHOR_START, "row",
                   point->label);
        LIST_PUSH(paper->arena, taken, box);
        return;
    }
}

static Box text_box(double x, double y, Anchor anchor, const char *text) {
    double width = paper_text_width(text), left = anchor == ANCHOR_START ? x
                                                  : anchor == ANCHOR_END ? x - width
                                                                         : x - width / 2;
    return (Box){left, y - 12, left + width, y + 3};
}

static void draw_limits(const Paper *paper, const Frame *frame, const ParetoChart *chart, Boxes *taken) {
    if (isfinite(chart->x_limit)) {
        double x = frame_x(frame, chart->x_limit), room = paper_text_width(chart->x_limit_title) / 2;
        paper_line(paper, x, frame->top, x, frame->top + frame->height, "limit");
        paper_text(paper, fmin(x, paper->width - room), frame->top - 8, ANCHOR_MIDDLE, "axis", chart->x_limit_title);
        LIST_PUSH(paper->arena, taken, ((Box){x - 2, frame->top, x + 2, frame->top + frame->height}));
    }
    if (isfinite(chart->y_limit)) {
        double y = frame_y(frame, chart->y_limit);
        paper_line(paper, frame->left, y, frame->left + frame->width, y, "limit");
        LIST_PUSH(paper->arena, taken, ((Box){frame->left, y - 2, frame->left + frame->width, y + 2}));
    }
}

// Where it hides no point: at either end of its line, above or below.
static void draw_y_limit_title(const Paper *paper, const Frame *frame, const ParetoChart *chart, Boxes *taken) {
    if (!isfinite(chart->y_limit)) return;
    double y = frame_y(frame, chart->y_limit);
    for (int try = 0; try < 4; try++) {
        Anchor anchor = try % 2 ? ANCHOR_END : ANCHOR_START;
        double x = try % 2 ? frame->left + frame->width : frame->left + 6, at = try < 2 ? y - 6 : y + 17;
        Box box = text_box(x, at, anchor, chart->y_limit_title);
        if (try < 3 && !is_free(taken, &box)) continue;
        paper_text(paper, x, at, anchor, "axis", chart->y_limit_title);
        LIST_PUSH(paper->arena, taken, box);
        return;
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

void draw_pareto(Paper *paper, const ParetoChart *chart, const char *label) {
    Frame frame = pareto_frame(paper, chart);
    Boxes taken = {0};
    paper->height = frame.top + frame.height + 46;
    paper_open(paper, label);
    frame_draw_y(paper, &frame, chart->y_title);
    frame_draw_x(paper, &frame, chart->x_title);
    LIST_PUSH(paper->arena, &taken, text_box(0, frame.top - 12, ANCHOR_START, chart->y_title));
    draw_limits(paper, &frame, chart, &taken);
    draw_front(paper, &frame, chart, &taken);
    for (int series = SERIES_OTHERS; series >= SERIES_CHOSEN; series--)
        for (int i = 0; i < chart->point_count; i++) {
            const ParetoPoint *point = &chart->points[i];
            if (series_of(point) != series) continue;
            double x = frame_x(&frame, point->x), y = frame_y(&frame, point->y),
                   radius = series == SERIES_OTHERS ? 3.5 : 5;
            const char *title =
                arena_printf(paper->arena, "%s: %s %s, %s %s", point->label, text_figures(paper->arena, point->x, 4),
                             chart->x_title, text_count(paper->arena, point->y, true), chart->y_title);
            draw_dot(paper, x, y, radius, palette_place(paper->palette, pareto_colors[series]), series, title);
            Box box = {x - radius, y - radius, x + radius, y + radius};
            LIST_PUSH(paper->arena, &taken, box);
        }
    draw_y_limit_title(paper, &frame, chart, &taken);
    for (int series = SERIES_CHOSEN; series <= SERIES_FRONT; series++)
        for (int i = 0; i < chart->point_count; i++)
            if (series_of(&chart->points[i]) == series) draw_point_label(paper, &frame, &taken, &chart->points[i]);
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
