// Tables of a JSON answer: its objects are rows, its keys are columns.
#include <string.h>

#include "results/answer.h"
#include "results/tables.h"
#include "sim/csv.h"
#include "sim/list.h"
#include "sim/text.h"

// What is the main table where it is not the first list of objects. "": the whole answer is one row. "a/b": a row for
// each element of b in each element of a, of which `keep` stands first.
static const struct {
    const char *kind, *list;
    const char *keep[2];
} main_lists[] = {
    {"calibrate-network", "rows", {0}},
};
enum { MAIN_LISTS = sizeof main_lists / sizeof *main_lists };

typedef struct Cell {
    const char *column;
    const char *text;
} Cell;

typedef struct Row {
    Cell *items;
    int count, room;
} Row;

typedef struct Rows {
    Row *items;
    int count, room;
} Rows;

typedef struct Names {
    const char **items;
    int count, room;
} Names;

// ---- Values.

static const char *plain_value(Arena *arena, const Json *value) {
    switch (value->kind) {
    case JSON_TEXT:
        return value->text;
    case JSON_NUMBER:
        return text_exact(arena, value->number);
    case JSON_BOOL:
        return value->boolean ? "true" : "false";
    case JSON_NULL:
    case JSON_LIST:
    case JSON_OBJECT:
        break;
    }
    return "";
}

static bool holds_only_values(const Json *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].kind == JSON_LIST || list->items[i].kind == JSON_OBJECT) return false;
    return true;
}

static bool is_table(const Json *value) {
    if (value->kind != JSON_LIST || value->count == 0) return false;
    for (int i = 0; i < value->count; i++)
        if (value->items[i].kind != JSON_OBJECT) return false;
    return true;
}

static const char *joined(Arena *arena, const Json *list) {
    const char *text = "";
    for (int i = 0; i < list->count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ";" : "", plain_value(arena, &list->items[i]));
    return text;
}

static bool is_envelope(const char *key) {
    static const char *const keys[] = {"format", "format_version", "kind", "program", "command"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

// The members of an object as cells; lists with objects in them are tables of their own.
static void add_cells(Arena *arena, Row *row, const Json *object, const char *before, bool outermost) {
    for (int i = 0; i < object->count; i++) {
        const Json *member = &object->items[i];
        if (outermost && is_envelope(member->key)) continue;
        const char *column = arena_printf(arena, "%s%s", before, member->key);
        if (member->kind == JSON_OBJECT)
            add_cells(arena, row, member, arena_printf(arena, "%s.", column), false);
        else if (member->kind != JSON_LIST)
            LIST_PUSH(arena, row, ((Cell){column, plain_value(arena, member)}));
        else if (holds_only_values(member))
            LIST_PUSH(arena, row, ((Cell){column, joined(arena, member)}));
    }
}

// ---- Rows.

static void add_row(Arena *arena, Rows *rows, const Json *object, const char *before, bool outermost) {
    Row row = {0};
    add_cells(arena, &row, object, before, outermost);
    LIST_PUSH(arena, rows, row);
}

static void add_list(Arena *arena, Rows *rows, const Json *list) {
    for (int i = 0; i < list->count; i++) add_row(arena, rows, &list->items[i], "", false);
}

static void add_nested(Arena *arena, Rows *rows, const Json *outer, const char *outer_name, const char *inner_name,
                       const char *const keep[2]) {
    for (int i = 0; i < outer->count; i++) {
        const Json *inner = json_get(&outer->items[i], inner_name);
        for (int k = 0; inner && is_table(inner) && k < inner->count; k++) {
            Row row = {0};
            for (int n = 0; n < 2 && keep[n]; n++) {
                const Json *kept = json_get(&outer->items[i], keep[n]);
                const char *column = arena_printf(arena, "%s.%s", outer_name, keep[n]);
                if (kept) LIST_PUSH(arena, &row, ((Cell){column, plain_value(arena, kept)}));
            }
            add_cells(arena, &row, &inner->items[k], "", false);
            LIST_PUSH(arena, rows, row);
        }
    }
}

static const Json *first_table(const Json *answer) {
    for (int i = 0; i < answer->count; i++)
        if (is_table(&answer->items[i]) && !is_envelope(answer->items[i].key)) return &answer->items[i];
    return NULL;
}

// True: a row of main_lists said which.
static bool add_named(Arena *arena, Rows *rows, const Json *answer) {
    const Json *kind = json_get(answer, "kind");
    for (int i = 0; kind && kind->kind == JSON_TEXT && i < MAIN_LISTS; i++) {
        if (strcmp(main_lists[i].kind, kind->text) != 0) continue;
        const char *slash = strchr(main_lists[i].list, '/');
        int length = slash ? (int)(slash - main_lists[i].list) : (int)strlen(main_lists[i].list);
        const char *name = arena_printf(arena, "%.*s", length, main_lists[i].list);
        const Json *list = *name ? json_get(answer, name) : NULL;
        if (!list || !is_table(list))
            add_row(arena, rows, answer, "", true);
        else if (slash)
            add_nested(arena, rows, list, name, slash + 1, main_lists[i].keep);
        else
            add_list(arena, rows, list);
        return true;
    }
    return false;
}

static void add_main(Arena *arena, Rows *rows, const Json *answer) {
    if (answer->kind == JSON_LIST) {
        for (int i = 0; i < answer->count; i++) add_main(arena, rows, &answer->items[i]);
        return;
    }
    if (answer->kind != JSON_OBJECT || add_named(arena, rows, answer)) return;
    const Json *list = first_table(answer);
    if (list)
        add_list(arena, rows, list);
    else
        add_row(arena, rows, answer, "", true);
}

// ---- Columns: in the order first met.

static int find_name(const Names *names, const char *name, int guess) {
    if (guess < names->count && strcmp(names->items[guess], name) == 0) return guess;
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) return i;
    return -1;
}

static Names columns_of(Arena *arena, const Rows *rows) {
    Names names = {0};
    for (int r = 0; r < rows->count; r++)
        for (int c = 0; c < rows->items[r].count; c++) {
            const char *name = rows->items[r].items[c].column;
            if (find_name(&names, name, c) < 0) LIST_PUSH(arena, &names, name);
        }
    return names;
}

typedef void WriteRow(FILE *out, const char *const *cells, int count);

static void write_table(Arena *arena, FILE *out, const Rows *rows, WriteRow *write) {
    Names names = columns_of(arena, rows);
    const char **cells = ARENA_ARRAY(arena, const char *, names.count + 1);
    write(out, names.items, names.count);
    for (int r = 0; r < rows->count; r++) {
        const Row *row = &rows->items[r];
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

void answer_write_csv(Arena *arena, FILE *out, const Json *answer) {
    Rows rows = {0};
    add_main(arena, &rows, answer);
    if (rows.count) write_table(arena, out, &rows, write_csv_row);
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

// Every list of objects below, with the path of keys that leads there.
static void write_plain_tables(Arena *arena, FILE *out, const Json *object, const char *path) {
    for (int i = 0; i < object->count; i++) {
        const Json *member = &object->items[i];
        const char *name = member->key ? arena_printf(arena, "%s%s", path, member->key)
                                       : arena_printf(arena, "%s%d", path, i + 1); // an element
        if (is_table(member)) {
            Rows rows = {0};
            add_list(arena, &rows, member);
            fprintf(out, "\n%s\n", name);
            write_table(arena, out, &rows, write_plain_row);
        }
        bool nested = member->kind == JSON_OBJECT || (member->kind == JSON_LIST && !holds_only_values(member));
        if (nested) write_plain_tables(arena, out, member, arena_printf(arena, "%s.", name));
    }
}

static void write_plain_values(Arena *arena, FILE *out, const Json *object) {
    Row row = {0};
    add_cells(arena, &row, object, "", true);
    for (int i = 0; i < row.count; i++) {
        fprintf(out, "%s\t", row.items[i].column);
        write_plain_cell(out, row.items[i].text);
        fputc('\n', out);
    }
}

void answer_write_plain(Arena *arena, FILE *out, const Json *answer) {
    for (int i = 0; answer->kind == JSON_LIST && i < answer->count; i++) {
        if (i) fputc('\n', out);
        if (answer->items[i].kind == JSON_OBJECT) answer_write_plain(arena, out, &answer->items[i]);
    }
    if (answer->kind != JSON_OBJECT) return;
    write_plain_values(arena, out, answer);
    write_plain_tables(arena, out, answer, "");
}
