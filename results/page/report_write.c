// Writes a report as one HTML file. It loads nothing, and its content security policy forbids all requests and all
// code except its own style and script, which are identified by their hashes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/page/report.h"
#include "results/page/report_page.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/embed.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/base/version.h"
#include "sim/system/file.h"

// ---- A report under construction.

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

EMBED(report_css, "results/page/page.css");
EMBED(report_js, "results/page/page.js");

#define OPEN_ROWS 40 // longer tables are folded

#define PRINTED_ROWS 12 // of closed tables
#define SHORT_ROWS 12   // that fit on one page
#define MANY_COLUMNS 3  // from this number on a table may be wider than a phone
// Seen on narrow screens; the script shows it where a table is wider than its box, and nowhere else.
#define SCROLL_HINT "<p class=\"more\">The table goes on to the right: scroll it sideways.</p>\n"

typedef struct Page {
    FILE *out;
    Arena *arena;
    const Report *report;
    Palette palette;
    int charts, tables;
    bool in_section;
    BlockKind list; // whose items are being written, or BLOCK_SECTION
} Page;

static void put(const Page *page, const char *text) { html_text(page->out, page->arena, text); }

// ---- Tables.

static void write_cell(const Page *page, const ReportColumn *column, const ReportCell *cell, bool is_first) {
    const char *tag = is_first ? "th scope=\"row\"" : "td";
    fprintf(page->out, "<%s%s", tag, column->is_number ? " class=\"n\"" : "");
    if (isfinite(cell->exact)) fprintf(page->out, " data-v=\"%s\"", text_exact(page->arena, cell->exact));
    fputs(">", page->out);
    put(page, cell->text);
    fputs(is_first ? "</th>" : "</td>", page->out);
}

static void write_table(Page *page, const ReportTable *table) {
    int columns = table->columns.count, rows = report_row_count(table), number = page->tables++;
    fprintf(page->out,
            "%s<div class=\"scroll%s\" role=\"region\" tabindex=\"0\" aria-labelledby=\"t%d\"><table>"
            "<caption><span id=\"t%d\">",
            columns >= MANY_COLUMNS ? SCROLL_HINT : "", rows <= SHORT_ROWS ? " short" : "", number, number);
    put(page, table->caption);
    fputs("</span></caption><thead><tr>", page->out);
    for (int i = 0; i < columns; i++) {
        const ReportColumn *column = &table->columns.items[i];
        if (!*column->title) {
            fputs("<td></td>", page->out); // a heading without words would be read out as one
            continue;
        }
        fprintf(page->out, "<th scope=\"col\"%s>", column->is_number ? " class=\"n\"" : "");
        put(page, column->title);
        fputs("</th>", page->out);
    }
    fputs("</tr></thead>\n<tbody>\n", page->out);
    for (int row = 0; row < rows; row++) {
        fprintf(page->out, row == table->marked ? "<tr class=\"mark\">" : "<tr>");
        for (int i = 0; i < columns; i++)
            write_cell(page, &table->columns.items[i], &table->cells.items[row * columns + i], i == 0);
        fputs("</tr>\n", page->out);
    }
    fputs("</tbody></table></div>\n", page->out);
}

// In print short tables are open; for long ones a note refers to the file.
static const char *is_long(const ReportTable *table) {
    return report_row_count(table) > PRINTED_ROWS ? " class=\"long\"" : "";
}

static void write_table_behind(Page *page, const ReportTable *table) {
    if (report_row_count(table) == 0) return;
    fprintf(page->out, "<details%s><summary>The numbers</summary>\n", is_long(table));
    write_table(page, table);
    fputs("</details>\n", page->out);
}

static void write_table_block(Page *page, const Block *block) {
    int rows = report_row_count(block->table);
    if (block->is_open && rows <= OPEN_ROWS) {
        write_table(page, block->table);
        return;
    }
    fprintf(page->out, "<details%s><summary>", is_long(block->table));
    put(page, block->table->caption);
    fprintf(page->out, " (%d rows)</summary>\n", rows);
    write_table(page, block->table);
    fputs("</details>\n", page->out);
}

// ---- Charts.

static void legend_entry(Page *page, int series, uint32_t color, const char *name) {
    fprintf(page->out,
            "<li data-s=\"%d\"><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"f%d\" "
            "x=\"1\" y=\"1\" width=\"10\" height=\"10\" rx=\"2\"/></svg>",
            series, palette_place(&page->palette, color));
    put(page, name);
    fputs("</li>", page->out);
}

static void write_legend(Page *page, const Chart *chart) {
    fputs("<ul class=\"legend\">", page->out);
    for (int i = 0; chart->kind == CHART_BARS && i < chart->bars.legend_count; i++)
        legend_entry(page, i, chart->bars.legend[i].color, chart->bars.legend[i].name);
    for (int i = 0; chart->kind == CHART_LINES && i < chart->lines.curve_count; i++)
        if (*chart->lines.curves[i].name && chart->lines.curves[i].style != CURVE_GUIDE)
            legend_entry(page, i, curve_color(&chart->lines, i), chart->lines.curves[i].name);
    fputs("</ul>\n", page->out);
}

static void draw(Page *page, const Block *block, bool narrow) {
    const Chart *chart = block->chart;
    Paper paper = {.out = page->out,
                   .arena = page->arena,
                   .palette = &page->palette,
                   .width = narrow ? PAPER_NARROW : PAPER_WIDE,
                   .narrow = narrow,
                   .number = page->charts};
    const char *title = chart_title(chart);
    const char *label = block->text && *block->text ? arena_printf(page->arena, "%s. %s", title, block->text) : title;
    if (chart->kind == CHART_BARS) draw_bars(&paper, &chart->bars, label);
    if (chart->kind == CHART_LINES) draw_lines(&paper, &chart->lines, label);
    if (chart->kind == CHART_HEAT) draw_heat(&paper, &chart->heat, label);
}

static void write_chart(Page *page, const Block *block) {
    bool zooms = block->chart->kind == CHART_BARS && block->chart->bars.is_dense;
    fprintf(page->out, "<figure%s><figcaption>", zooms ? " class=\"zooms\"" : "");
    put(page, chart_title(block->chart));
    fputs("</figcaption>\n", page->out);
    if (block->text && *block->text) {
        fputs("<p class=\"says\">", page->out);
        put(page, block->text);
        fputs("</p>\n", page->out);
    }
    write_legend(page, block->chart);
    draw(page, block, false);
    draw(page, block, true);
    page->charts++;
    fputs("</figure>\n", page->out);
    write_table_behind(page, block->table);
}

// ---- Blocks.

static void begin_section(Page *page, int number, const char *heading) {
    if (page->in_section) fputs("</section>\n", page->out);
    fprintf(page->out, "<section aria-labelledby=\"s%d\"><h2 id=\"s%d\">", number, number);
    put(page, heading);
    fputs("</h2>\n", page->out);
    page->in_section = true;
}

static void write_element(const Page *page, const char *before, const char *text, const char *after) {
    fputs(before, page->out);
    put(page, text);
    fputs(after, page->out);
}

#define LONG_VALUE 18 // letters: longer values get a tile of twice the width

static void write_fact(const Page *page, const Block *block) {
    fputs(strlen(block->value) > LONG_VALUE ? "<div class=\"long\">" : "<div>", page->out);
    write_element(page, "<dt>", block->text, "</dt>");
    write_element(page, "<dd>", block->value, "");
    if (*block->range) write_element(page, "<span>", block->range, "</span>");
    fputs("</dd></div>\n", page->out);
}

// Facts and cautions that follow each other are one list.
static void change_list(Page *page, BlockKind kind) {
    BlockKind next = kind == BLOCK_FACT || kind == BLOCK_CAUTION ? kind : BLOCK_SECTION;
    if (page->list == next) return;
    if (page->list == BLOCK_FACT) fputs("</dl>\n", page->out);
    if (page->list == BLOCK_CAUTION) fputs("</ul>\n", page->out);
    if (next == BLOCK_FACT) fputs("<dl class=\"facts\">\n", page->out);
    if (next == BLOCK_CAUTION) fputs("<ul class=\"caution\">\n", page->out);
    page->list = next;
}

static void write_block(Page *page, const Block *block, int *sections) {
    change_list(page, block->kind);
    switch (block->kind) {
    case BLOCK_SECTION:
        begin_section(page, (*sections)++, block->text);
        break;
    case BLOCK_TEXT:
        write_element(page, "<p>", block->text, "</p>\n");
        break;
    case BLOCK_CAUTION:
        write_element(page, "<li>", block->text, "</li>\n");
        break;
    case BLOCK_CODE:
        write_element(page, "<pre tabindex=\"0\"><code>", block->text, "</code></pre>\n");
        break;
    case BLOCK_FACT:
        write_fact(page, block);
        break;
    case BLOCK_TABLE:
        write_table_block(page, block);
        break;
    case BLOCK_CHART:
        write_chart(page, block);
        break;
    }
}

static void write_contents(const Page *page) {
    fputs("<nav aria-label=\"Contents\"><ul>", page->out);
    int number = 0;
    for (int i = 0; i < page->report->blocks.count; i++) {
        const Block *block = &page->report->blocks.items[i];
        if (block->kind != BLOCK_SECTION) continue;
        fprintf(page->out, "<li><a href=\"#s%d\">", number++);
        write_element(page, "", block->text, "</a></li>");
    }
    fputs("</ul></nav>\n", page->out);
}

static void write_body(Page *page) {
    const Report *report = page->report;
    fputs("<body>\n<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n<header>\n", page->out);
    write_element(page, "<h1>", report->title, "</h1>\n");
    if (*report->lead) write_element(page, "<p class=\"lead\">", report->lead, "</p>\n");
    fputs("</header>\n", page->out);
    write_contents(page);
    fputs("<main id=\"answer\">\n", page->out);
    int sections = 0;
    for (int i = 0; i < report->blocks.count; i++) write_block(page, &report->blocks.items[i], &sections);
    change_list(page, BLOCK_SECTION);
    if (page->in_section) fputs("</section>\n", page->out);
    fputs("</main>\n<footer>\n", page->out);
    fprintf(page->out, "<p>Simulated by lockstep %s", engine_version());
    if (report->date) write_element(page, ", written on ", report->date, "");
    fputs(". This page is whole: it asks for nothing from the network.</p>\n</footer>\n", page->out);
    fputs("<p id=\"said\" class=\"off-screen\" role=\"status\"></p>\n", page->out); // what a button did
}

// ---- The page.

static const char *hash_of(Arena *arena, const char *text) {
    char hash[SHA256_BASE64_ROOM];
    sha256_base64(text, strlen(text), hash);
    return arena_copy_text(arena, hash);
}

static const char *style_text(Page *page) {
    TextStream style = text_stream_open();
    fputs(report_css, style.stream);
    palette_write(style.stream, &page->palette);
    return text_stream_close(page->arena, &style);
}

static void write_head(Page *page, FILE *out, const char *style) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
            "script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
            hash_of(page->arena, style), hash_of(page->arena, report_js));
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" "
          "content=\"no-referrer\">\n<title>",
          out);
    html_text(out, page->arena, page->report->title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n", style);
}

// The body comes first, for the style holds the colours that it uses.
void report_write(FILE *out, const Report *report) {
    Arena *arena = arena_open();
    TextStream body = text_stream_open();
    Page page = {.out = body.stream, .arena = arena, .report = report, .palette = {.arena = arena}};
    write_body(&page);
    const char *text = text_stream_close(arena, &body);
    write_head(&page, out, style_text(&page));
    fputs(text, out);
    fputs("<script>", out);
    fputs(report_js, out);
    fputs("</script>\n</body>\n</html>\n", out);
    arena_close(arena);
}
