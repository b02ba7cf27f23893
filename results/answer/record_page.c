// A record as an HTML page: its answer, then charts, published figures and assumptions.
#include <math.h>
#include <string.h>

#include "results/answer/as.h"
#include "results/answer/record_answer.h"
#include "results/page/report_page.h"
#include "results/view.h"
#include "sim/base/text.h"

#define MOST_STACKS 24 // of one chart of breakdowns; the table has all

typedef struct Drawing {
    Answer *answer;
    Arena *arena;
    const Record *record;
    Problems *none; // what a record has not is no mistake here
} Drawing;

static void draw(const Drawing *drawing, const char *heading, const char *name, const Chart *chart, const char *says) {
    answer_open_on_pages(drawing->answer, heading, FOR_PAGES);
    answer_chart(drawing->answer, name, chart);
    answer_says(drawing->answer, says);
    answer_close(drawing->answer);
}

static const RecordPoint *last_that_ran(const Record *record) {
    for (int i = record->point_count - 1; i >= 0; i--)
        if (record->points[i].ran) return &record->points[i];
    return NULL;
}

static const char *of_point(const Drawing *drawing, const RecordPoint *point) {
    const char *label = point_label(drawing->arena, drawing->record, point, NULL);
    return *label ? arena_printf(drawing->arena, " at %s = %s",
                                 point_label_title(drawing->arena, drawing->record, NULL), label)
                  : "";
}

static void draw_breakdown(const Drawing *drawing) {
    Chart *chart = ARENA_NEW(drawing->arena, Chart);
    if (drawing->record->point_count > MOST_STACKS ||
        !breakdown_chart(drawing->arena, drawing->record, chart, drawing->none))
        return;
    const RecordPoint *point = last_that_ran(drawing->record);
    draw(drawing, "Why: where the time goes", "breakdown", chart,
         arena_printf(drawing->arena,
                      "Most of a step%s: %s. The mean over all GPUs, what each waits for counted in: it shows "
                      "how well they are used. What to shorten, the critical path shows.",
                      of_point(drawing, point),
                      record_largest(drawing->arena, point->exposed, point->exposed_count, 4)));
}

static void draw_timeline(const Drawing *drawing) {
    Chart *chart = ARENA_NEW(drawing->arena, Chart);
    if (!gantt_chart(drawing->arena, drawing->record, chart, drawing->none)) return;
    draw(drawing, "A step in time", "timeline", chart, chart->bars.reading);
}

static void draw_memory_parts(const Drawing *drawing) {
    Chart *chart = ARENA_NEW(drawing->arena, Chart);
    if (drawing->record->point_count > MOST_STACKS ||
        !memory_chart(drawing->arena, drawing->record, chart, drawing->none))
        return;
    const RecordPoint *point = &drawing->record->points[drawing->record->point_count - 1];
    const char *at =
        point->memory_peak_at ? arena_printf(drawing->arena, " The peak is at: %s.", point->memory_peak_at) : "";
    draw(drawing, "Memory", "memory", chart,
         arena_printf(drawing->arena, "Largest%s: %s.%s", of_point(drawing, point),
                      record_largest(drawing->arena, point->memory, point->memory_count, 4), at));
}

static void draw_scaling(const Drawing *drawing) {
    Chart *chart = ARENA_NEW(drawing->arena, Chart);
    if (drawing->record->point_count < 2 || !scaling_chart(drawing->arena, drawing->record, chart, drawing->none))
        return;
    const RecordCurve *curve = &chart->lines.curves[0];
    int last = curve->count - 1;
    bool has_range = isfinite(curve->y_low[0]);
    draw(drawing, "Scaling", "scaling", chart,
         arena_printf(drawing->arena, "From %s to %s %s%s%s, throughput grows by a factor of %s%s.",
                      text_count(drawing->arena, curve->x[0], true), text_count(drawing->arena, curve->x[last], true),
                      chart->lines.x_title, *curve->name ? ", " : "", curve->name,
                      text_figures(drawing->arena, curve->y[last] / curve->y[0], 3),
                      has_range ? "; the band is the 90 % range" : ""));
}

static void draw_pareto(const Drawing *drawing) {
    Chart *chart = ARENA_NEW(drawing->arena, Chart);
    if (!pareto_chart(drawing->arena, drawing->record, chart, drawing->none)) return;
    draw(drawing, "Cost against time", "pareto", chart,
         "Down and to the left is better. Of the points on the line none is both "
         "cheaper and quicker than another.");
}

static void draw_own(const Drawing *drawing) {
    for (int i = 0; i < drawing->record->chart_count; i++) {
        Chart *chart = ARENA_NEW(drawing->arena, Chart);
        *chart = (Chart){.kind = CHART_LINES, .lines = drawing->record->charts[i]};
        draw(drawing, NULL, NULL, chart, "");
    }
}

static void draw_all(const Drawing *drawing) {
    if (drawing->record->point_count == 0) return;
    draw_scaling(drawing);
    draw_pareto(drawing);
    draw_breakdown(drawing);
    draw_timeline(drawing);
    draw_memory_parts(drawing);
}

// Seconds in the largest fitting unit (years, days, hours or minutes), for rates of failure and durations.
static Assumption in_fitting_unit(Assumption assumption) {
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{365.25 * 86400, "years"}, {86400, "days"}, {3600, "h"}, {60, "min"}};
    for (size_t i = 0; i < sizeof units / sizeof *units && !assumption.text && same_name(assumption.unit, "s"); i++) {
        if (assumption.value < units[i].seconds) continue;
        assumption.value /= units[i].seconds;
        assumption.unit = units[i].name;
    }
    return assumption;
}

// A page has room for tables that the screen leaves to other programs.
static const Record *as_on_pages(Arena *arena, const Record *from) {
    Record *record = ARENA_NEW(arena, Record);
    Assumption *assumptions = ARENA_ARRAY(arena, Assumption, from->assumption_count + 1);
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, from->table_count + 1);
    *record = *from;
    for (int i = 0; i < from->assumption_count; i++) assumptions[i] = in_fitting_unit(from->assumptions[i]);
    for (int i = 0; i < from->table_count; i++) {
        tables[i] = from->tables[i];
        if (!tables[i].title || !*tables[i].title) tables[i].title = tables[i].name;
    }
    record->assumptions = assumptions;
    record->tables = tables;
    return record;
}

void record_on_page(Arena *arena, Report *report, const RecordPage *page) {
    const Record *record = as_on_pages(arena, page->record);
    RecordTelling telling = record_telling(arena, answer_create(arena, NULL), record, page->today);
    Drawing drawing = {telling.answer, arena, record, problems_create(arena)};
    bool is_all = !record->title || !*record->title || strcmp(record->title, report->title) == 0;
    if (!*report->lead) report_lead(report, record_lead(&telling));
    report_section(report, is_all ? "The answer" : record->title);
    if (page->first) {
        answer_text(telling.answer, NULL, page->first, page->first_value);
        answer_note(telling.answer, "%s", page->first_note);
    }
    draw_own(&drawing);
    record_found(&telling);
    answer_on_page(arena, report, telling.answer);
    if (page->explained) {
        report_section(report, "What to change first, and why");
        answer_on_page(arena, report, page->explained);
    }
    drawing.answer = telling.answer = answer_create(arena, NULL);
    draw_all(&drawing);
    record_rests_on(&telling);
    answer_on_page(arena, report, telling.answer);
}
