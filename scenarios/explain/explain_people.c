// The tables of an explanation as people read them: rows that say nothing become a sentence, hundreds of operators
// become their kinds and the largest of them. CSV and JSON have all of it (explain_tables.c).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explain/explain.h"
#include "scenarios/explain/explain_cells.h"
#include "sim/list.h"
#include "sim/text.h"

#define NOTHING 1e-3 // of the step: what changes less is named in a sentence
#define LARGEST 20   // operators that are listed
#define MOST_KINDS 8

static int column_of(const RecordTable *table, const char *name) {
    int c = 0;
    while (strcmp(table->columns[c].name, name) != 0) c++;
    return c;
}

static const RecordCell *cell_of(const RecordTable *table, int row, const char *column) {
    return &table->cells[row * table->column_count + column_of(table, column)];
}

static RecordTable rows_where(Arena *arena, const RecordTable *from, const bool *keep) {
    RecordTable table = *from;
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, from->row_count * from->column_count);
    size_t row_bytes = (size_t)from->column_count * sizeof *cells;
    table.row_count = 0;
    for (int i = 0; i < from->row_count; i++)
        if (keep[i])
            memcpy(&cells[table.row_count++ * from->column_count], &from->cells[i * from->column_count], row_bytes);
    table.cells = cells;
    return table;
}

static const char *with_sentence(Arena *arena, const char *note, const char *sentence) {
    if (!*sentence) return note;
    return note ? arena_printf(arena, "%s %s", note, sentence) : sentence;
}

// ---- Changes.

static bool does_nothing(const Explanation *now, double gain_s) {
    return fabs(gain_s) < NOTHING * now->point.step_p50_s;
}

static RecordTable changes_for_people(Arena *arena, const Explanation *now, const RecordTable *from) {
    bool *keep = ARENA_ARRAY(arena, bool, from->row_count);
    const char *list = "";
    int count = 0;
    for (int i = 0; i < from->row_count; i++) {
        keep[i] = !does_nothing(now, cell_of(from, i, "gain_s")->number);
        if (keep[i]) continue;
        list = listed(arena, list, cell_of(from, i, "change")->text);
        count++;
    }
    RecordTable table = rows_where(arena, from, keep);
    if (count == 0) return table;
    table.note = with_sentence(
        arena, from->note,
        arena_printf(arena, "%d more change%s the step by less than 0.1 %%: %s.", count, count == 1 ? "s" : "", list));
    return table;
}

// "*" behind what changes the result of training too; below it stands what. "?" behind what does not surely fit.
static RecordTable settings_for_people(Arena *arena, const Explanation *now, const RecordTable *from) {
    RecordTable table = changes_for_people(arena, now, from);
    int count = table.row_count * table.column_count, change = column_of(&table, "change");
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, count);
    const char *told = "";
    int unsure = 0;
    if (count) memcpy(cells, table.cells, (size_t)count * sizeof *cells);
    for (int i = 0; i < table.row_count; i++) {
        const char *note = cell_of(&table, i, "note")->text;
        RecordCell *cell = &cells[i * table.column_count + change];
        if (!explain_fits(cell_of(&table, i, "chance_to_run_out")->number)) {
            cell->text = arena_printf(arena, "%s ?", cell->text);
            unsure++;
        }
        if (!*note) continue;
        cell->text = arena_printf(arena, "%s *", cell->text);
        if (!strstr(told, note)) told = listed(arena, told, note);
    }
    table.cells = cells;
    if (unsure)
        table.note = with_sentence(arena, table.note,
                                   "A ? marks what does not surely fit: memory runs out with a chance above 5 %.");
    if (*told)
        table.note =
            with_sentence(arena, table.note, arena_printf(arena, "A * marks what is not the same training: %s.", told));
    return table;
}

// ---- Operators by kind.

typedef struct Kind {
    const char *name;
    double rows, forward_s, backward_s, times, flops, bytes, seconds;
} Kind;

typedef struct Kinds {
    Kind items[MOST_KINDS + 1];
    int count;
} Kinds;

// What people call a kind of operator.
static const char *kind_title(const char *kind) {
    static const char *const titles[][2] = {{"gemm", "matrix product"},
                                            {"norm", "normalization"},
                                            {"elementwise", "element-wise"},
                                            {"lookup", "embedding"},
                                            {"contrast", "loss"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], kind) == 0) return titles[i][1];
    return kind;
}

const char *explain_operator_kind(const Explanation *now, const char *name) {
    for (int i = 0; i < now->roofline_count; i++)
        if (strcmp(now->roofline[i].name, name) == 0) return kind_title(now->roofline[i].kind);
    return "other";
}

static Kind *kind_called(Kinds *kinds, const char *name) {
    for (int i = 0; i < kinds->count; i++)
        if (strcmp(kinds->items[i].name, name) == 0) return &kinds->items[i];
    if (kinds->count == MOST_KINDS) return &kinds->items[MOST_KINDS - 1];
    kinds->items[kinds->count] = (Kind){.name = kinds->count == MOST_KINDS - 1 ? "other" : name};
    return &kinds->items[kinds->count++];
}

static int by_seconds(const void *a, const void *b) {
    const Kind *one = a, *other = b;
    if (one->seconds != other->seconds) return one->seconds < other->seconds ? 1 : -1;
    return strcmp(one->name, other->name);
}

static void sort_kinds(Kinds *kinds) { qsort(kinds->items, (size_t)kinds->count, sizeof *kinds->items, by_seconds); }

static const RecordColumn kind_columns[] = {
    {"kind", "kind of operator", RECORD_TEXT},  {"forward_s", "forward", RECORD_SECONDS},
    {"backward_s", "backward", RECORD_SECONDS}, {"seconds", "time", RECORD_SECONDS},
    {"share", "of the step", RECORD_SHARE},
};

static RecordTable kinds_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    Kinds kinds = {.count = 0};
    for (int i = 0; i < now->operator_count; i++) {
        const StepOperator *one = &now->operators[i];
        Kind *kind = kind_called(&kinds, explain_operator_kind(now, one->name));
        double seconds = step_seconds(one->time);
        *(one->way == WAY_FORWARD ? &kind->forward_s : &kind->backward_s) += seconds;
        kind->seconds += seconds;
    }
    sort_kinds(&kinds);
    for (int i = 0; i < kinds.count; i++) {
        const Kind *kind = &kinds.items[i];
        text_cell(arena, &cells, kind->name);
        number_cell(arena, &cells, kind->forward_s);
        number_cell(arena, &cells, kind->backward_s);
        number_cell(arena, &cells, kind->seconds);
        number_cell(arena, &cells, kind->seconds / step_seconds(now->step.chain->end));
    }
    RecordTable table =
        table_of("kinds", "Compute on the critical path by kind of operator", COLUMNS(kind_columns), &cells);
    table.note = "Passes alone; backward has what is recomputed in it.";
    return table;
}

static RecordTable operators_for_people(Arena *arena, const RecordTable *from) {
    bool *keep = ARENA_ARRAY(arena, bool, from->row_count);
    double left = 0;
    for (int i = 0; i < from->row_count; i++) {
        keep[i] = i < LARGEST; // largest first
        if (!keep[i]) left += cell_of(from, i, "share")->number;
    }
    RecordTable table = rows_where(arena, from, keep);
    int more = from->row_count - table.row_count;
    if (more == 0) return table;
    table.title = arena_printf(arena, "Largest operators of the passes on the critical path");
    table.note =
        with_sentence(arena, from->note,
                      arena_printf(arena, "%d more take %s of the step together.", more, text_percent(arena, left)));
    return table;
}

// ---- The roofline.

static const RecordColumn roof_columns[] = {
    {"kind", "kind of operator", RECORD_TEXT},  {"operators", "operators", RECORD_COUNT},
    {"gigaflop", "GFLOP", RECORD_NUMBER},       {"gigabytes", "GB", RECORD_NUMBER},
    {"flop_per_byte", "FLOP/B", RECORD_NUMBER}, {"seconds", "time", RECORD_SECONDS},
    {"share", "share", RECORD_SHARE},
};

static RecordTable roof_kinds_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    Kinds kinds = {.count = 0};
    double all = 0;
    for (int i = 0; i < now->roofline_count; i++) {
        const RooflineRow *row = &now->roofline[i];
        Kind *kind = kind_called(&kinds, kind_title(row->kind));
        kind->rows += row->times;
        kind->flops += row->times * row->flops;
        kind->bytes += row->times * row->bytes;
        kind->seconds += row->seconds;
        all += row->seconds;
    }
    sort_kinds(&kinds);
    for (int i = 0; i < kinds.count; i++) {
        const Kind *kind = &kinds.items[i];
        text_cell(arena, &cells, kind->name);
        number_cell(arena, &cells, kind->rows);
        number_cell(arena, &cells, kind->flops / 1e9);
        number_cell(arena, &cells, kind->bytes / 1e9);
        number_cell(arena, &cells, kind->bytes > 0 ? kind->flops / kind->bytes : NAN);
        number_cell(arena, &cells, kind->seconds);
        number_cell(arena, &cells, all > 0 ? kind->seconds / all : 0);
    }
    return table_of("roofline_kinds", "Roofline by kind: forward of one micro-batch through all layers of a GPU",
                    COLUMNS(roof_columns), &cells);
}

typedef struct Timed {
    double seconds;
    int row;
} Timed;

static int by_time(const void *a, const void *b) {
    const Timed *one = a, *other = b;
    if (one->seconds != other->seconds) return one->seconds < other->seconds ? 1 : -1;
    return (one->row > other->row) - (one->row < other->row);
}

// Those that take most first; few stay in the order of the model.
static RecordTable roofline_for_people(Arena *arena, const RecordTable *from) {
    int count = from->row_count;
    if (count <= LARGEST) return *from;
    size_t width = (size_t)from->column_count;
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, LARGEST * from->column_count);
    Timed *timed = ARENA_ARRAY(arena, Timed, count);
    double left = 0;
    for (int i = 0; i < count; i++) timed[i] = (Timed){cell_of(from, i, "seconds")->number, i};
    qsort(timed, (size_t)count, sizeof *timed, by_time);
    for (int i = 0; i < LARGEST; i++)
        memcpy(&cells[(size_t)i * width], &from->cells[(size_t)timed[i].row * width], width * sizeof *cells);
    for (int i = LARGEST; i < count; i++) left += cell_of(from, timed[i].row, "share")->number;
    RecordTable table = *from;
    table.cells = cells;
    table.row_count = LARGEST;
    table.title = arena_printf(arena, "Roofline: the %d operators that take most", LARGEST);
    table.note = with_sentence(
        arena, from->note,
        arena_printf(arena, "%d more take %s of that time together.", count - LARGEST, text_percent(arena, left)));
    return table;
}

// ---- Columns that say nothing of this job.

static bool is_empty(const RecordTable *table, int column) {
    for (int i = 0; i < table->row_count; i++) {
        const RecordCell *cell = &table->cells[i * table->column_count + column];
        if (table->columns[column].unit == RECORD_TEXT ? *cell->text : isfinite(cell->number) && cell->number != 0)
            return false;
    }
    return true;
}

// Without those of traffic that a job does not have. Zero may be an answer elsewhere.
static RecordTable without_empty_columns(Arena *arena, const RecordTable *from) {
    static const char *const tables[] = {"ranks", "critical_path", "operations", "operators", "together"};
    RecordTable table = *from;
    if (!is_among(tables, (int)(sizeof tables / sizeof *tables), from->name) || from->row_count == 0) return table;
    RecordColumn *columns = ARENA_ARRAY(arena, RecordColumn, from->column_count);
    for (int c = 0; c < from->column_count; c++) {
        columns[c] = from->columns[c];
        if (c > 0 && strcmp(columns[c].name, "chance_to_run_out") != 0 && is_empty(from, c)) columns[c].title = NULL;
    }
    table.columns = columns;
    return table;
}

const RecordTable *explain_tables_for_people(Arena *arena, const Explanation *now, int *count) {
    int full_count;
    const RecordTable *full = explain_tables(arena, now, &full_count);
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, full_count + 2);
    bool many = now->roofline_count > LARGEST;
    *count = 0;
    for (int i = 0; i < full_count; i++) {
        const RecordTable *from = &full[i];
        if (strcmp(from->name, "operators") == 0 && now->operator_count) tables[(*count)++] = kinds_table(arena, now);
        if (strcmp(from->name, "roofline") == 0 && many) tables[(*count)++] = roof_kinds_table(arena, now);
        RecordTable table = strcmp(from->name, "settings") == 0    ? settings_for_people(arena, now, from)
                            : strcmp(from->name, "resources") == 0 ? changes_for_people(arena, now, from)
                            : strcmp(from->name, "operators") == 0 ? operators_for_people(arena, from)
                            : strcmp(from->name, "roofline") == 0  ? roofline_for_people(arena, from)
                                                                   : *from;
        tables[(*count)++] = without_empty_columns(arena, &table);
    }
    return tables;
}
