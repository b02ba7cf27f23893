// The answer of a trace as text: tables of what was recorded.
#include "scenarios/trace/trace_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/screen.h"
#include "results/tables.h"
#include "sim/envelope.h"
#include "sim/text.h"

#define ROWS_SHOWN 12 // of a rank

// ---- What took longest.

static const RecordColumn top_columns[] = {
    {"rank", "rank", RECORD_COUNT},          {"stream", "stream", RECORD_TEXT},
    {"operation", "operation", RECORD_TEXT}, {"cause", "cause", RECORD_TEXT},
    {"count", "count", RECORD_COUNT},        {"total_s", "total", RECORD_SECONDS},
    {"mean_s", "mean", RECORD_SECONDS},      {"longest_s", "longest", RECORD_SECONDS},
    {"share", "of the step", RECORD_SHARE},
};
enum { TOP_COLUMNS = sizeof top_columns / sizeof *top_columns };

static int by_total(const void *a, const void *b) {
    const SpanSum *one = a, *other = b;
    if (one->process != other->process) return one->process < other->process ? -1 : 1;
    if (one->main != other->main) return one->main ? -1 : 1;
    if (one->total != other->total) return one->total < other->total ? 1 : -1;
    return (one->name > other->name) - (one->name < other->name);
}

static RecordCell number(double value) { return (RecordCell){.number = value}; }
static RecordCell text(const char *value) { return (RecordCell){.text = value}; }

static RecordTable operations_table(Arena *arena, const SpanSet *set) {
    SpanSum *sums = ARENA_ARRAY(arena, SpanSum, set->sum_count);
    for (int i = 0; i < set->sum_count; i++) sums[i] = set->sums[i];
    qsort(sums, (size_t)set->sum_count, sizeof *sums, by_total);
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, set->sum_count * TOP_COLUMNS);
    for (int i = 0; i < set->sum_count; i++) {
        const SpanSum *sum = &sums[i];
        double total = step_seconds(sum->total);
        const RecordCell row[TOP_COLUMNS] = {number(set->processes[sum->process].id),
                                             text(sum->main ? "main" : "beside"),
                                             text(set->names[sum->name]),
                                             text(set->categories[sum->category]),
                                             number((double)sum->count),
                                             number(total),
                                             number(total / (double)sum->count),
                                             number(step_seconds(sum->longest)),
                                             number(total / step_seconds(set->end))};
        memcpy(&cells[i * TOP_COLUMNS], row, sizeof row);
    }
    return (RecordTable){"operations", "What takes longest, by rank", top_columns, TOP_COLUMNS, cells, set->sum_count,
                         NULL};
}

// ---- What is resident, in the terms of Holistic Trace Analysis (facebookresearch/HolisticTraceAnalysis,
// hta/analyzers/breakdown_analysis.py and communication_analysis.py): communication beside computation is computation,
// what is exposed of it is "non compute", the rest idle.

static const RecordColumn breakdown_columns[] = {
    {"rank", "rank", RECORD_COUNT},
    {"compute_s", "compute", RECORD_SECONDS},
    {"compute_share", "of the step", RECORD_SHARE},
    {"exposed_communication_s", "exposed communication", RECORD_SECONDS},
    {"exposed_communication_share", "of the step", RECORD_SHARE},
    {"exposed_memory_s", "exposed copies", RECORD_SECONDS},
    {"idle_host_s", "idle, host", RECORD_SECONDS},
    {"idle_other_s", "idle, other", RECORD_SECONDS},
    {"idle_share", "of the step", RECORD_SHARE},
    {"communication_s", "communication", RECORD_SECONDS},
    {"overlap_share", "overlapped", RECORD_SHARE},
};
enum { BREAKDOWN_COLUMNS = sizeof breakdown_columns / sizeof *breakdown_columns };

static RecordTable breakdown_table(Arena *arena, const SpanSet *set) {
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, set->process_count * BREAKDOWN_COLUMNS);
    for (int p = 0; p < set->process_count; p++) {
        const SpanBreakdown *b = &set->breakdowns[p];
        double end = step_seconds(set->end), communication = step_seconds(b->communication);
        const RecordCell row[BREAKDOWN_COLUMNS] = {
            number(set->processes[p].id),
            number(step_seconds(b->compute)),
            number(step_seconds(b->compute) / end),
            number(step_seconds(b->exposed_communication)),
            number(step_seconds(b->exposed_communication) / end),
            number(step_seconds(b->exposed_memory)),
            number(step_seconds(b->idle_host)),
            number(step_seconds(b->idle_other)),
            number((step_seconds(b->idle_host) + step_seconds(b->idle_other)) / end),
            number(communication),
            number(communication > 0 ? step_seconds(b->overlap) / communication : NAN),
        };
        memcpy(&cells[p * BREAKDOWN_COLUMNS], row, sizeof row);
    }
    return (RecordTable){"breakdown",
                         "What GPUs had resident (Holistic Trace Analysis)",
                         breakdown_columns,
                         BREAKDOWN_COLUMNS,
                         cells,
                         set->process_count,
                         NULL};
}

// ---- The answer.

// why_not NULL: it runs.
static void write_json(FILE *out, const Record *record, const SpanSet *set, const char *why_not) {
    JsonWriter json = json_writer(out, 2);
    json_begin_object(&json);
    envelope_write(&json, NULL);
    json_text_member(&json, "title", record->title);
    json_bool_member(&json, "ran", !why_not);
    if (why_not) json_text_member(&json, "why_not", why_not);
    json_number_member(&json, "step_s", why_not ? NAN : step_seconds(set->end));
    json_integer_member(&json, "operation_count", set->seen);
    tables_write_json(&json, record);
    json_end_object(&json);
    fputc('\n', out);
}

// The first rows of every rank, and how many more there are.
static RecordTable first_rows(Arena *arena, const RecordTable *table, int *hidden) {
    RecordTable shown = *table;
    RecordCell *cells = ARENA_ARRAY(arena, RecordCell, table->row_count * table->column_count);
    shown.row_count = 0;
    for (int i = 0, of_rank = 0; i < table->row_count; i++) {
        const RecordCell *row = &table->cells[i * table->column_count];
        of_rank = i > 0 && row[0].number == row[-table->column_count].number ? of_rank + 1 : 0;
        if (of_rank >= ROWS_SHOWN) continue;
        memcpy(&cells[shown.row_count++ * table->column_count], row, (size_t)table->column_count * sizeof *row);
    }
    shown.cells = cells;
    *hidden = table->row_count - shown.row_count;
    return shown;
}

static void print_screen(FILE *out, const Record *record, const SpanSet *set, const TraceAnswer *answer) {
    const Style *style = &answer->style;
    Screen screen = {out, arena_open(), record, style, true, NULL, 0};
    fprintf(out, "%s%s: a step of %s\n", style->plain ? "# " : "", text_clean(screen.arena, set->title, style->unicode),
            text_time(screen.arena, step_seconds(set->end)));
    if (answer->lines) trace_print_lines(screen.arena, out, set, answer);
    for (int i = 0; i < record->table_count; i++) {
        int hidden = 0;
        RecordTable table = record->tables[i];
        if (!answer->verbose && !style->plain) table = first_rows(screen.arena, &table, &hidden);
        screen_table(&screen, &table);
        if (hidden) fprintf(out, "and %d row%s more: -v\n", hidden, hidden == 1 ? "" : "s");
    }
    arena_close(screen.arena);
}

void trace_print(Arena *arena, FILE *out, const SpanSet *set, const TraceAnswer *answer) {
    RecordTable tables[2];
    Record record = {.title = set->title, .tables = tables};
    bool all = answer->form == ANSWER_JSON;
    if (answer->top || all) tables[record.table_count++] = operations_table(arena, set);
    if (answer->breakdown || all) tables[record.table_count++] = breakdown_table(arena, set);
    if (answer->form == ANSWER_JSON)
        write_json(out, &record, set, NULL);
    else if (answer->form == ANSWER_CSV)
        table_write_csv(out, &tables[0]);
    else
        print_screen(out, &record, set, answer);
}

void trace_print_refusal(Arena *arena, FILE *out, const char *title, const char *why_not) {
    const SpanSet none = {.title = title};
    const RecordTable tables[] = {operations_table(arena, &none), breakdown_table(arena, &none)};
    const Record record = {.title = title, .tables = tables, .table_count = 2};
    write_json(out, &record, &none, why_not);
}
