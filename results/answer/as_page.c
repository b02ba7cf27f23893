// An answer as an HTML page: its first sentence leads, sections are headings, facts are large, tables below.
#include <math.h>

#include "results/answer/as.h"
#include "sim/base/list.h"

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
typedef struct Seen {
    const AnswerNode **items;
    int count, room;
} Seen;

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

void answer_on_page(Arena *arena, Report *report, const Answer *answer) {
    Seen seen = {0};
    collect(arena, &seen, answer_root(answer));
    add_from(arena, report, answer, &seen, 0);
}
