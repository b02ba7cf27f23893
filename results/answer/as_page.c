// An answer as an HTML page: its first sentence leads, sections are headings, facts are large, tables below.
#include <math.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/answer/record_answer.h"
#include "results/page/report_page.h"
#include "results/view.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define MANY_ROWS 60 // of an unfolded table

static const char *value_text(Arena *arena, const Answer *answer, AnswerValue value) {
    return answer_value_text(arena, answer, value);
}

static bool is_on_page(const AnswerNode *node) { return node->detail != FOR_PROGRAMS && answer_has_words(node); }

// Without a heading a table is called after its first column.
static const char *caption_of(const AnswerTable *table, const char *title) {
    for (int c = 0; c < table->column_count && !title; c++) title = table->columns[c].title;
    return title;
}

// Empty columns are left out.
static void add_table(Arena *arena, Report *report, const Answer *answer, const AnswerNode *node) {
    const AnswerTable *from = answer_rows_for(arena, node->table, FOR_PAGES);
    int rows = answer_row_count(from);
    ReportTable *table = report_table_create(arena, caption_of(from, node->title));
    bool *shown = ARENA_ARRAY(arena, bool, from->column_count + 1);
    for (int c = 0; c < from->column_count; c++) {
        for (int r = 0; r < rows && from->columns[c].title && !shown[c]; r++)
            shown[c] = *value_text(arena, answer, from->cells.items[r * from->column_count + c]) != '\0';
        if (shown[c]) report_column(arena, table, from->columns[c].title, answer_unit_is_number(from->columns[c].unit));
    }
    for (int i = 0; i < rows * from->column_count; i++) {
        AnswerValue value = from->cells.items[i];
        if (!shown[i % from->column_count]) continue;
        const char *text = value_text(arena, answer, value);
        if (answer_unit_is_number(value.unit) && isfinite(value.number))
            report_number(arena, table, text, value.number);
        else
            report_cell(arena, table, text);
    }
    table->marked = from->marked;
    report_add_table(report, table, rows <= MANY_ROWS);
    if (node->note) report_text(report, node->note);
}

static void add_node(Arena *arena, Report *report, const Answer *answer, const AnswerNode *node) {
    switch (node->kind) {
    case NODE_FACT:
        report_fact(report, node->title, value_text(arena, answer, node->value), answer_beside(arena, answer, node));
        break;
    case NODE_TABLE:
        add_table(arena, report, answer, node);
        break;
    case NODE_SENTENCE:
        report_text(report,
                    node->title ? arena_printf(arena, "%s: %s", node->title, node->value.text) : node->value.text);
        break;
    case NODE_CAUTION:
        report_caution(report, node->value.text);
        break;
    case NODE_VERBATIM:
    case NODE_NEXT:
        report_code(report, node->value.text);
        break;
    case NODE_CHART:
        report_chart(report, node->chart, node->note ? node->note : "");
        break;
    case NODE_SECTION:
    case NODE_LIST:
        break;
    }
}

// Displayed nodes, including headings with displayed nodes below.
typedef LIST_OF(const AnswerNode *) Seen;

static void collect(Arena *arena, Seen *seen, const AnswerNode *section) {
    for (const AnswerNode *node = section->first; node; node = node->next) {
        if (node->kind != NODE_SECTION && node->kind != NODE_LIST) {
            if (is_on_page(node)) LIST_PUSH(arena, seen, node);
            continue;
        }
        int before = seen->count;
        bool heads = node->title && node->detail != FOR_PROGRAMS;
        if (heads) LIST_PUSH(arena, seen, node);
        collect(arena, seen, node);
        if (heads && seen->count == before + 1) seen->count = before;
    }
}

static bool is_heading(const AnswerNode *node) { return node->kind == NODE_SECTION || node->kind == NODE_LIST; }

// Under each heading the facts come first, together.
static void add_run(Arena *arena, Report *report, const Answer *answer, const Seen *seen, int from, int to) {
    for (int i = from; i < to; i++)
        if (seen->items[i]->kind == NODE_FACT) add_node(arena, report, answer, seen->items[i]);
    for (int i = from; i < to; i++)
        if (seen->items[i]->kind != NODE_FACT) add_node(arena, report, answer, seen->items[i]);
}

static void add_from(Arena *arena, Report *report, const Answer *answer, const Seen *seen, int at) {
    while (at < seen->count) {
        if (is_heading(seen->items[at])) report_section(report, seen->items[at++]->title);
        int end = at;
        while (end < seen->count && !is_heading(seen->items[end])) end++;
        add_run(arena, report, answer, seen, at, end);
        at = end;
    }
}

void answer_as_page(Arena *arena, Report *report, const Answer *answer) {
    Seen seen = {0};
    collect(arena, &seen, answer_root(answer));
    int at = 0;
    if (seen.count > 0 && seen.items[0]->kind == NODE_SENTENCE && !seen.items[0]->title)
        report_lead(report, seen.items[at++]->value.text);
    if (at < seen.count && !is_heading(seen.items[at])) report_section(report, "The answer");
    add_from(arena, report, answer, &seen, at);
}

// On a page that has another answer, under its last heading.
static void answer_on_page(Arena *arena, Report *report, const Answer *answer) {
    Seen seen = {0};
    collect(arena, &seen, answer_root(answer));
    add_from(arena, report, answer, &seen, 0);
}

// ---- A record as an HTML page: its answer, then charts, published figures and assumptions.

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
