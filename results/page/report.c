// A report under construction.
#include "results/page/report.h"

#include <math.h>

#include "results/page/report_page.h"
#include "sim/base/check.h"
#include "sim/base/list.h"

ReportTable *report_table_create(Arena *arena, const char *caption) {
    ReportTable *table = ARENA_NEW(arena, ReportTable);
    *table = (ReportTable){.caption = caption, .marked = -1};
    return table;
}

void report_column(Arena *arena, ReportTable *table, const char *title, bool is_number) {
    ReportColumn column = {title, is_number};
    LIST_PUSH(arena, &table->columns, column);
}

void report_cell(Arena *arena, ReportTable *table, const char *text) { report_number(arena, table, text, NAN); }

void report_number(Arena *arena, ReportTable *table, const char *text, double exact) {
    ReportCell cell = {text ? text : "", exact};
    LIST_PUSH(arena, &table->cells, cell);
}

int report_row_count(const ReportTable *table) {
    CHECK(table->columns.count > 0 && table->cells.count % table->columns.count == 0);
    return table->cells.count / table->columns.count;
}

Report *report_create(Arena *arena, const char *title, const char *command, const char *date) {
    Report *report = ARENA_NEW(arena, Report);
    *report = (Report){.arena = arena, .title = title, .command = command, .date = date, .lead = ""};
    return report;
}

static void add(Report *report, Block block) { LIST_PUSH(report->arena, &report->blocks, block); }

void report_lead(Report *report, const char *text) { report->lead = text; }

void report_section(Report *report, const char *heading) {
    add(report, (Block){.kind = BLOCK_SECTION, .text = heading});
}

void report_text(Report *report, const char *text) {
    if (text && *text) add(report, (Block){.kind = BLOCK_TEXT, .text = text});
}

void report_caution(Report *report, const char *text) { add(report, (Block){.kind = BLOCK_CAUTION, .text = text}); }

void report_code(Report *report, const char *text) { add(report, (Block){.kind = BLOCK_CODE, .text = text}); }

void report_fact(Report *report, const char *label, const char *value, const char *range) {
    add(report, (Block){.kind = BLOCK_FACT, .text = label, .value = value, .range = range ? range : ""});
}

void report_add_table(Report *report, const ReportTable *table, bool is_open) {
    add(report, (Block){.kind = BLOCK_TABLE, .text = table->caption, .table = table, .is_open = is_open});
}

void report_chart(Report *report, const Chart *chart, const char *says) {
    Chart *shown = ARENA_NEW(report->arena, Chart);
    const char *left_out = "";
    *shown = *chart;
    if (chart->kind == CHART_BARS) shown->bars = *thinned_bars(report->arena, &chart->bars, &left_out);
    const ReportTable *table = chart->kind == CHART_BARS    ? table_of_bars(report->arena, &shown->bars)
                               : chart->kind == CHART_LINES ? table_of_lines(report->arena, &chart->lines)
                                                            : table_of_heat(report->arena, &chart->heat);
    says = arena_printf(report->arena, "%s%s", says, left_out);
    add(report, (Block){.kind = BLOCK_CHART, .text = says, .table = table, .chart = shown});
}
