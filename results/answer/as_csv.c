// An answer as lines for other programs: CSV of its main table, or all of it as tab-separated text.
#include <math.h>
#include <string.h>

#include "results/answer/answer.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/data/csv.h"

typedef struct Cell {
    const char *column, *text;
} Cell;

typedef LIST_OF(Cell) Cells;

typedef LIST_OF(Cells) Rows;

static const char *exact(Arena *arena, AnswerValue value) {
    if (value.unit == AS_TEXT) return value.text ? value.text : "";
    if (value.unit == AS_BOOL) return value.number > 0 ? "true" : "false";
    return value.unit == AS_NOTHING ? "" : text_exact(arena, value.number);
}

static void add_cell(Arena *arena, Cells *cells, const char *column, const char *text) {
    LIST_PUSH(arena, cells, ((Cell){column, text}));
}

// ---- Facts, with the keys of their sections.

static void add_fact(Arena *arena, Cells *cells, const AnswerNode *node, const char *before) {
    const char *column = arena_printf(arena, "%s%s", before, node->key);
    if (!node->has_range) {
        add_cell(arena, cells, column, exact(arena, node->value));
        return;
    }
    const struct {
        const char *key;
        double value;
    } members[] = {
        {"mean", node->range.mean}, {"p5", node->range.p5}, {"p50", node->range.p50}, {"p95", node->range.p95}};
    for (int i = 0; i < 4; i++)
        if (!isnan(members[i].value))
            add_cell(arena, cells, arena_printf(arena, "%s.%s", column, members[i].key),
                     text_exact(arena, members[i].value));
}

static bool holds_only_values(const AnswerNode *list) {
    for (const AnswerNode *node = list->first; node; node = node->next)
        if (node->kind == NODE_SECTION || node->kind == NODE_LIST) return false;
    return true;
}

static const char *joined(Arena *arena, const AnswerNode *list) {
    const char *text = "";
    for (const AnswerNode *node = list->first; node; node = node->next)
        if (node->kind == NODE_FACT)
            text = arena_printf(arena, "%s%s%s", text, *text ? ";" : "", exact(arena, node->value));
    return text;
}

static void add_facts(Arena *arena, Cells *cells, const AnswerNode *section, const char *before) {
    for (const AnswerNode *node = section->first; node; node = node->next) {
        if (node->kind == NODE_SECTION)
            add_facts(arena, cells, node, node->key ? arena_printf(arena, "%s%s.", before, node->key) : before);
        else if (node->kind == NODE_FACT && node->key)
            add_fact(arena, cells, node, before);
        else if (node->kind == NODE_LIST && node->key && holds_only_values(node))
            add_cell(arena, cells, arena_printf(arena, "%s%s", before, node->key), joined(arena, node));
    }
}

// ---- Tables.

static void add_table(Arena *arena, Rows *rows, const AnswerTable *table, const Cells *kept) {
    for (int r = 0; r < answer_row_count(table); r++) {
        Cells row = {0};
        for (int i = 0; i < kept->count; i++) add_cell(arena, &row, kept->items[i].column, kept->items[i].text);
        for (int c = 0; c < table->column_count; c++)
            if (table->columns[c].key)
                add_cell(arena, &row, table->columns[c].key,
                         exact(arena, table->cells.items[r * table->column_count + c]));
        LIST_PUSH(arena, rows, row);
    }
}

static void add_own_facts(Arena *arena, Cells *cells, const AnswerNode *section, const char *before) {
    for (const AnswerNode *node = section->first; node; node = node->next)
        if (node->kind == NODE_FACT && node->key) add_fact(arena, cells, node, before);
}

// A list's sections are rows. If they contain a table, its rows are, each preceded by the section's own facts.
static void add_list(Arena *arena, Rows *rows, const AnswerNode *list) {
    for (const AnswerNode *node = list->first; node; node = node->next) {
        if (node->kind != NODE_SECTION) continue;
        const AnswerNode *table = node->first;
        while (table && table->kind != NODE_TABLE) table = table->next;
        Cells row = {0};
        if (table) {
            add_own_facts(arena, &row, node, arena_printf(arena, "%s.", list->key));
            add_table(arena, rows, table->table, &row);
        } else {
            add_facts(arena, &row, node, "");
            LIST_PUSH(arena, rows, row);
        }
    }
}

static Rows rows_of(Arena *arena, const AnswerNode *node) {
    Rows rows = {0};
    if (node->kind == NODE_TABLE)
        add_table(arena, &rows, node->table, &(Cells){0});
    else
        add_list(arena, &rows, node);
    return rows;
}

// ---- Columns: in the order first met; rows of a table have all of them in one order.

static int find_name(const Names *names, const char *name, int guess) {
    if (guess < names->count && strcmp(names->items[guess], name) == 0) return guess;
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) return i;
    return -1;
}

static Names columns_of(Arena *arena, const Rows *rows) {
    Names names = {0};
    for (int r = 0; r < rows->count; r++)
        for (int c = 0; c < rows->items[r].count; c++)
            if (find_name(&names, rows->items[r].items[c].column, c) < 0)
                LIST_PUSH(arena, &names, rows->items[r].items[c].column);
    return names;
}

typedef void WriteRow(FILE *out, const char *const *cells, int count);

static void write_rows(Arena *arena, FILE *out, const Rows *rows, WriteRow *write) {
    Names names = columns_of(arena, rows);
    const char **cells = ARENA_ARRAY(arena, const char *, names.count + 1);
    write(out, names.items, names.count);
    for (int r = 0; r < rows->count; r++) {
        const Cells *row = &rows->items[r];
        for (int c = 0; c < names.count; c++) cells[c] = "";
        for (int c = 0; c < row->count; c++) cells[find_name(&names, row->items[c].column, c)] = row->items[c].text;
        write(out, cells, names.count);
    }
}

static void write_csv_row(FILE *out, const char *const *cells, int count) {
    CsvWriter csv = csv_writer(out);
    for (int c = 0; c < count; c++) csv_text(&csv, cells[c]);
    csv_end_row(&csv);
}

void answer_as_csv(Arena *arena, FILE *out, const Answer *answer) {
    const AnswerNode *table = answer_main(answer);
    Rows rows = {0};
    if (table) rows = rows_of(arena, table);
    if (rows.count == 0) {
        Cells row = {0};
        add_facts(arena, &row, answer_root(answer), "");
        LIST_PUSH(arena, &rows, row);
    }
    write_rows(arena, out, &rows, write_csv_row);
}

// ---- Text with tabs.

static void write_plain_cell(FILE *out, const char *text) {
    for (; *text; text++) fputc(strchr("\t\r\n", *text) ? ' ' : *text, out);
}

static void write_plain_row(FILE *out, const char *const *cells, int count) {
    for (int c = 0; c < count; c++) {
        if (c) fputc('\t', out);
        write_plain_cell(out, cells[c]);
    }
    fputc('\n', out);
}

static void write_plain_tables(Arena *arena, FILE *out, const AnswerNode *section, const char *path) {
    for (const AnswerNode *node = section->first; node; node = node->next) {
        const char *name = node->key ? arena_printf(arena, "%s%s", path, node->key) : NULL;
        if (node->kind == NODE_SECTION)
            write_plain_tables(arena, out, node, name ? arena_printf(arena, "%s.", name) : path);
        if (!name || (node->kind != NODE_TABLE && (node->kind != NODE_LIST || holds_only_values(node)))) continue;
        Rows rows = rows_of(arena, node);
        if (rows.count == 0) continue;
        fprintf(out, "\n%s\n", name);
        write_rows(arena, out, &rows, write_plain_row);
    }
}

void answer_as_plain(Arena *arena, FILE *out, const Answer *answer) {
    Cells facts = {0};
    add_facts(arena, &facts, answer_root(answer), "");
    for (int i = 0; i < facts.count; i++)
        write_plain_row(out, (const char *const[]){facts.items[i].column, facts.items[i].text}, 2);
    write_plain_tables(arena, out, answer_root(answer), "");
}
