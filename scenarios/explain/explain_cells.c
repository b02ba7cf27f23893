#include "scenarios/explain/explain_cells.h"

#include <math.h>
#include <string.h>

#include "results/terminal.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

void text_cell(Arena *arena, Cells *cells, const char *text) {
    LIST_PUSH(arena, cells, ((RecordCell){.text = text, .number = NAN}));
}

void number_cell(Arena *arena, Cells *cells, double number) {
    LIST_PUSH(arena, cells, ((RecordCell){.number = number}));
}

RecordTable table_of(const char *name, const char *title, const RecordColumn *columns, int column_count,
                     const Cells *cells) {
    return (RecordTable){.name = name,
                         .title = title,
                         .columns = columns,
                         .column_count = column_count,
                         .cells = cells->items,
                         .row_count = cells->count / column_count};
}

void say(Arena *arena, Words *words, const char *sentence) { LIST_PUSH(arena, words, sentence); }

const char *listed(Arena *arena, const char *list, const char *next) {
    return *list ? arena_printf(arena, "%s, %s", list, next) : next;
}

bool is_among(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

OptionSpec *rows_without(Arena *arena, const OptionSpec *rows, int row_count, const char *const *names, int count,
                         int *left) {
    OptionSpec *kept = ARENA_ARRAY(arena, OptionSpec, row_count);
    *left = 0;
    for (int i = 0; i < row_count; i++)
        if (!is_among(names, count, rows[i].name)) kept[(*left)++] = rows[i];
    return kept;
}

static void print_sentence(FILE *out, Arena *arena, const char *sentence, const Style *style) {
    const char *text = text_clean(arena, sentence, style->unicode);
    if (style->plain) {
        fprintf(out, "%s\n", text);
        return;
    }
    while (*text) {
        const char *next;
        int bytes = text_line(text, terminal_width_of(style), &next);
        fprintf(out, "%.*s\n", bytes, text);
        text = next;
    }
}

void print_title(FILE *out, const Record *record, const Style *style) {
    Arena *arena = arena_open();
    fprintf(out, "%s%s  (%s)\n\n", style->plain ? "# " : "", text_clean(arena, record->title, style->unicode),
            text_clean(arena, record->scenario, style->unicode));
    for (int i = 0; i < record->note_count; i++) print_sentence(out, arena, record->notes[i], style);
    arena_close(arena);
}
