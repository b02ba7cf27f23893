// Terminal text of an answer: sentences and facts with labels, wrapped to the screen's width; tables; charts.
#include <stdlib.h>
#include <string.h>

#include "results/answer/answer.h"
#include "results/chart/chart.h"
#include "results/terminal.h"
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define USUAL_WIDTH 80
#define LABEL_GAP 2
#define NARROWEST_LABEL 8
#define SIDE_GAP 3 // between a fact and the text next to it

// The displayed nodes in order.
typedef struct Shown {
    const AnswerNode **items;
    int count, room;
    bool hides; // something that -v shows
} Shown;

typedef struct Page {
    Arena *arena;
    AnswerDetail most;
    FILE *out;
    const Answer *answer;
    const Style *style;
    int width;
    bool verbose;
    bool begun, after_gap; // something was printed; the last line was empty, or there is none
} Page;

// ---- What is shown.

// A section is in the list if it has a heading and displayed nodes.
static void collect(Arena *arena, Shown *shown, const AnswerNode *section, bool verbose) {
    for (const AnswerNode *node = section->first; node; node = node->next) {
        if (node->kind == NODE_SECTION || node->kind == NODE_LIST) {
            int before = shown->count;
            bool heads = node->title && (node->detail == FOR_ALL || (verbose && node->detail == FOR_VERBOSE));
            if (heads) LIST_PUSH(arena, shown, node);
            collect(arena, shown, node, verbose);
            if (heads && shown->count == before + 1) shown->count = before;
        } else if (answer_has_words(node)) {
            bool is_seen = node->detail == FOR_ALL || (verbose && node->detail == FOR_VERBOSE);
            if (node->kind == NODE_NEXT && (answer_is_quiet() || (is_seen && !verbose && answer_names_next())))
                continue;
            if (node->kind == NODE_TABLE && node->table->details.count > 0) {
                shown->hides = shown->hides || (is_seen && !verbose);
                is_seen = is_seen &&
                          answer_row_count(answer_rows_for(arena, node->table, verbose ? FOR_VERBOSE : FOR_ALL)) > 0;
            }
            if (is_seen)
                LIST_PUSH(arena, shown, node);
            else if (node->detail == FOR_VERBOSE)
                shown->hides = true;
        }
    }
}

// ---- Lines.

static void gap(Page *page) {
    if (page->begun && !page->after_gap) fputc('\n', page->out);
    page->after_gap = true;
}

static const char *clean(const Page *page, const char *text) {
    return text_clean(page->arena, text, page->style->unicode);
}

static void spaces(Page *page, int count) {
    if (count > 0) fprintf(page->out, "%*s", count, "");
}

// Folded; the first line begins where `used` columns are taken, all others are `indent` in.
static void folded(Page *page, const char *text, int used, int indent) {
    text = clean(page, text);
    do {
        const char *next;
        int bytes = text_line(text, page->width - used, &next);
        fprintf(page->out, "%.*s\n", bytes, text);
        text = next;
        used = indent;
        if (*text) spaces(page, indent);
    } while (*text);
    page->begun = true;
    page->after_gap = false;
}

static void heading(Page *page, const char *text) {
    gap(page);
    terminal_bold(page->out, page->style);
    folded(page, text, 0, 2);
    terminal_reset(page->out, page->style);
    page->after_gap = true; // a table follows at once
}

// ---- Facts and labelled sentences: one column of labels for all that follow each other.

static bool is_labelled(const AnswerNode *node) {
    return node->kind == NODE_FACT || (node->kind == NODE_SENTENCE && node->title);
}

static const char *value_text(const Page *page, const AnswerNode *node) {
    return answer_value_text(page->arena, page->answer, node->value);
}

static const char *side_text(const Page *page, const AnswerNode *node) {
    return answer_beside(page->arena, page->answer, node);
}

typedef struct Columns {
    int label, value;
    bool right; // all values are numbers
} Columns;

static int wider(int width, const char *text) {
    int own = text_width(text);
    return own > width ? own : width;
}

static Columns measure(const Page *page, const Shown *shown, int from, int to) {
    Columns columns = {.label = NARROWEST_LABEL, .right = true};
    for (int i = from; i < to; i++) {
        const AnswerNode *node = shown->items[i];
        columns.label = wider(columns.label, clean(page, node->title));
        if (node->kind != NODE_FACT) continue;
        if (*side_text(page, node) || answer_unit_is_number(node->value.unit))
            columns.value = wider(columns.value, clean(page, value_text(page, node)));
        columns.right = columns.right && answer_unit_is_number(node->value.unit);
    }
    if (columns.value > page->width / 2) columns.value = 0;
    return columns;
}

static void labelled_line(Page *page, const AnswerNode *node, const Columns *columns) {
    const char *label = clean(page, node->title);
    int indent = columns->label + LABEL_GAP;
    fputs(label, page->out);
    spaces(page, indent - text_width(label));
    if (node->kind == NODE_SENTENCE) {
        folded(page, node->value.text, indent, indent);
        return;
    }
    const char *value = clean(page, value_text(page, node)), *side = side_text(page, node);
    int spare = columns->value - text_width(value);
    if (columns->right) spaces(page, spare);
    if (!*side) {
        folded(page, value, indent + (columns->right && spare > 0 ? spare : 0), indent);
        return;
    }
    fputs(value, page->out);
    int used = indent + text_width(value) + (spare > 0 ? spare : 0) + SIDE_GAP;
    spaces(page, SIDE_GAP + (columns->right || spare < 0 ? 0 : spare));
    folded(page, side, used, used < page->width / 2 ? used : indent);
}

// ---- Tables.

static int shown_rows(const AnswerTable *table, bool verbose) {
    int rows = answer_row_count(table);
    return verbose || table->first_rows == 0 || rows <= table->first_rows ? rows : table->first_rows;
}

// [row x columns] of those rows that are shown.
static const char **cell_texts(const Page *page, const AnswerTable *table) {
    int cells = shown_rows(table, page->verbose) * table->column_count;
    const char **texts = ARENA_ARRAY(page->arena, const char *, cells);
    for (int i = 0; i < cells; i++)
        if (table->columns[i % table->column_count].title)
            texts[i] = answer_value_text(page->arena, page->answer, table->cells.items[i]);
    return texts;
}

static int column_width(const Page *page, const AnswerTable *table, const char *const *texts, int column) {
    int width = text_width(clean(page, table->columns[column].title));
    for (int r = 0; r < shown_rows(table, page->verbose); r++)
        width = wider(width, clean(page, texts[r * table->column_count + column]));
    return width;
}

static int width_of(const AnswerTable *table, const int *widths, const bool *shown) {
    int width = table->marked >= 0 ? 1 : -2;
    for (int c = 0; c < table->column_count; c++)
        if (shown[c]) width += widths[c] + 2;
    return width;
}

// Drops the columns of highest `drop` rank until the table fits; returns their names, for a line below.
static const char *drop_columns(const Page *page, const AnswerTable *table, const char *const *texts, bool *shown) {
    const char *names = "";
    int *widths = ARENA_ARRAY(page->arena, int, table->column_count);
    for (int c = 0; c < table->column_count; c++)
        if (shown[c]) widths[c] = column_width(page, table, texts, c);
    while (width_of(table, widths, shown) > page->width) {
        int drop = -1;
        for (int c = 0; c < table->column_count; c++)
            if (shown[c] && table->columns[c].drop > 0 &&
                (drop < 0 || table->columns[c].drop >= table->columns[drop].drop))
                drop = c;
        if (drop < 0) break;
        shown[drop] = false;
        names = arena_printf(page->arena, "%s%s%s", table->columns[drop].title, *names ? ", " : "", names);
    }
    return names;
}

// Whether a column has any non-empty cell.
static bool is_filled(const AnswerTable *table, int column) {
    for (int r = 0; r < answer_row_count(table); r++) {
        const AnswerValue *value = &table->cells.items[r * table->column_count + column];
        bool is_empty = value->text ? !*value->text : value->unit == AS_TEXT;
        if (value->unit != AS_NOTHING && !is_empty) return true;
    }
    return false;
}

// Number of leading columns that identify each row and leave a third of the width: columns moved to a second panel
// for lack of space repeat them.
static int keys_of(const Page *page, const AnswerTable *table, const char *const *texts, const bool *shown) {
    int rows = shown_rows(table, page->verbose), columns = table->column_count, keys = 0, width = 0;
    bool alike = true;
    for (int c = 0; c < columns && alike; c++) {
        if (!shown[c]) continue;
        width += column_width(page, table, texts, c) + 2;
        if (answer_unit_is_number(table->columns[c].unit) || width > page->width * 2 / 3) break;
        keys++;
        alike = false;
        for (int r = 1; r < rows && !alike; r++) {
            alike = true;
            for (int k = 0; k <= c && alike; k++)
                alike = !shown[k] || strcmp(texts[(r - 1) * columns + k], texts[r * columns + k]) == 0;
        }
    }
    return keys > 0 ? keys : 1;
}

static void print_table(Page *page, const AnswerNode *node) {
    const AnswerTable *from = answer_rows_for(page->arena, node->table, page->most);
    if (node->title)
        heading(page, node->title);
    else
        gap(page);
    bool *shown = ARENA_ARRAY(page->arena, bool, from->column_count + 1);
    for (int c = 0; c < from->column_count; c++)
        shown[c] = from->columns[c].title && from->columns[c].drop != BELOW_ROW && is_filled(from, c);
    const char **texts = cell_texts(page, from);
    const char *dropped = page->verbose ? "" : drop_columns(page, from, texts, shown);
    Table *table = table_create(page->arena);
    if (from->marked >= 0) table_column(table, "", false);
    for (int c = 0; c < from->column_count; c++)
        if (shown[c]) table_column(table, from->columns[c].title, answer_unit_is_number(from->columns[c].unit));
    int rows = shown_rows(from, page->verbose), more = answer_row_count(from) - rows;
    for (int r = 0; r < rows; r++) {
        if (from->marked >= 0) table_cell(table, "%s", r == from->marked ? "✔" : "");
        for (int c = 0; c < from->column_count; c++)
            if (shown[c]) table_cell(table, "%s", texts[r * from->column_count + c]);
        for (int c = 0; c < from->column_count; c++) {
            const char *text = texts[r * from->column_count + c];
            if (from->columns[c].title && from->columns[c].drop == BELOW_ROW && *text) table_below(table, text);
        }
        table_end_row(table);
    }
    table_keys(table, (from->marked >= 0) + keys_of(page, from, texts, shown));
    Style style = *page->style;
    style.width = page->width;
    table_print(table, page->out, &style);
    page->begun = true;
    page->after_gap = false;
    if (more > 0) folded(page, arena_printf(page->arena, "and %d more: -v", more), 0, 2);
    if (*dropped) folded(page, arena_printf(page->arena, "Not at this width: %s", dropped), 0, 2);
    if (node->note) folded(page, node->note, 0, 0);
    gap(page);
}

// ---- All of it.

static void print_next(Page *page, const AnswerNode *node) {
    fputs("Next      ", page->out);
    const char *what = node->note ? node->note : "";
    folded(page, arena_printf(page->arena, "%s%s%s", node->value.text, *what ? "   " : "", what), 10, 10);
}

// Clean but for its tabs.
static void print_verbatim(Page *page, const AnswerNode *node) {
    for (const char *text = node->value.text; *text;) {
        int bytes = (int)strcspn(text, "\t\n");
        fputs(clean(page, arena_printf(page->arena, "%.*s", bytes, text)), page->out);
        text += bytes;
        if (*text) fputc(*text++, page->out);
    }
    page->begun = true;
    page->after_gap = false;
}

static void print_chart(Page *page, const AnswerNode *node) {
    gap(page);
    chart_to_terminal(page->arena, node->chart, page->out, page->style);
    page->begun = true;
    page->after_gap = false;
}

static void print_node(Page *page, const AnswerNode *node) {
    switch (node->kind) {
    case NODE_SECTION:
    case NODE_LIST:
        heading(page, node->title);
        break;
    case NODE_TABLE:
        print_table(page, node);
        break;
    case NODE_CHART:
        print_chart(page, node);
        break;
    case NODE_VERBATIM:
        print_verbatim(page, node);
        break;
    case NODE_NEXT:
        print_next(page, node);
        break;
    case NODE_CAUTION:
        fputs("! ", page->out);
        folded(page, node->value.text, 2, 2);
        break;
    case NODE_SENTENCE:
    case NODE_FACT:
        folded(page, node->value.text, 0, 2);
        break;
    }
}

static void print_all(Page *page, const Shown *shown) {
    page->after_gap = true;
    for (int i = 0; i < shown->count;) {
        int end = i;
        while (end < shown->count && is_labelled(shown->items[end])) end++;
        if (end == i) {
            print_node(page, shown->items[i++]);
            if (i < shown->count && is_labelled(shown->items[i]) && shown->items[i - 1]->kind == NODE_SENTENCE)
                gap(page);
            continue;
        }
        Columns columns = measure(page, shown, i, end);
        for (; i < end; i++) labelled_line(page, shown->items[i], &columns);
    }
    if (shown->hides) folded(page, "-v shows all", 0, 0);
}

// ---- A screen.

#define SCREEN_LINES 24

static int lines_beside; // of what stands above or below the answer

void answer_shares_screen(int columns) { lines_beside += (columns + USUAL_WIDTH - 1) / USUAL_WIDTH; }

static int lines_of(Page page, const Shown *shown) {
    char *text = NULL;
    size_t bytes = 0;
    int lines = lines_beside;
    page.out = open_memstream(&text, &bytes);
    CHECK(page.out);
    print_all(&page, shown);
    fclose(page.out);
    for (size_t i = 0; i < bytes; i++) lines += text[i] == '\n';
    free(text);
    return lines;
}

// What is spare goes, the last first, until the rest has room.
static void leave_out_spare(const Page *page, Shown *shown) {
    for (int last = shown->count - 1; last >= 0; last--) {
        if (!shown->items[last]->spare) continue;
        if (lines_of(*page, shown) <= SCREEN_LINES) return;
        for (int i = last; i + 1 < shown->count; i++) shown->items[i] = shown->items[i + 1];
        shown->count--;
        shown->hides = true;
    }
}

void answer_as_text(Arena *arena, FILE *out, const Answer *answer, const Style *style, bool verbose) {
    Page page = {.arena = arena, .out = out, .answer = answer, .style = style, .verbose = verbose};
    page.width = style->width > 0 ? style->width : USUAL_WIDTH;
    page.most = verbose ? FOR_VERBOSE : FOR_ALL;
    Shown shown = {0};
    collect(arena, &shown, answer_root(answer), verbose);
    if (!verbose) leave_out_spare(&page, &shown);
    print_all(&page, &shown);
}

void answer_give(Arena *arena, FILE *out, const Answer *answer, AnswerForm form, const Style *style, bool verbose) {
    CHECK(answer_is_closed(answer));
    if (form == ANSWER_JSON)
        answer_as_json(out, answer);
    else if (form == ANSWER_CSV)
        answer_as_csv(arena, out, answer);
    else if (form == ANSWER_PLAIN || style->plain)
        answer_as_plain(arena, out, answer);
    else
        answer_as_text(arena, out, answer, style, verbose);
    lines_beside = 0; // of the next answer others
}
