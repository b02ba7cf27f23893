#include "sim/data/answer.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/text.h"
#include "sim/base/version.h"
#include "sim/system/watch.h"

struct Answer {
    Arena *arena;
    const char *kind, *format, *currency, *title;
    bool one_row;
    AnswerNode root, *open;    // the section in which nodes are added
    AnswerNode *noted, *table; // the last ones
    const AnswerNode *csv;     // the first table with a key
};

Answer *answer_create(Arena *arena, const char *kind) {
    Answer *answer = ARENA_NEW(arena, Answer);
    answer->arena = arena;
    answer->kind = kind;
    answer->root.kind = NODE_SECTION;
    answer->open = &answer->root;
    return answer;
}

void answer_rename(Answer *answer, const char *kind) { answer->kind = kind; }
void answer_title(Answer *answer, const char *title) {
    answer->title = title;
    answer_text(answer, "title", NULL, title);
}

void answer_format(Answer *answer, const char *format) { answer->format = format; }
void answer_currency(Answer *answer, const char *code) { answer->currency = code; }
void answer_one_row(Answer *answer) { answer->one_row = true; }

AnswerValue answer_of(AnswerUnit unit, double number) { return (AnswerValue){unit, number, NULL}; }
AnswerValue answer_of_text(const char *text) { return (AnswerValue){AS_TEXT, NAN, text}; }
AnswerValue answer_shown(AnswerUnit unit, double number, const char *text) { return (AnswerValue){unit, number, text}; }
AnswerValue answer_of_whole(double count) { return answer_of(AS_WHOLE, count); }
AnswerValue answer_of_number(double number) { return answer_of(AS_NUMBER, number); }
AnswerValue answer_of_percent(double share) { return answer_of(AS_NUMBER, 100 * share); }
AnswerValue answer_of_nothing(void) { return (AnswerValue){AS_NOTHING, 0, NULL}; }

// ---- Parts.

static AnswerNode *add(Answer *answer, AnswerNodeKind kind, const char *key, const char *title) {
    AnswerNode *node = ARENA_NEW(answer->arena, AnswerNode), *parent = answer->open;
    *node = (AnswerNode){.kind = kind, .key = key, .title = title, .parent = parent};
    node->detail = node->inside = parent->inside;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    return node;
}

void answer_open(Answer *answer, const char *key, const char *heading) {
    AnswerNode *around = answer->open;
    answer->open = add(answer, NODE_SECTION, key, heading);
    if (around->kind == NODE_LIST && !answer->csv) answer->csv = around;
}

void answer_open_on_pages(Answer *answer, const char *heading, AnswerDetail inside) {
    answer_detail(answer, FOR_PAGES);
    answer_open(answer, NULL, heading);
    answer_detail(answer, inside);
}

void answer_open_list(Answer *answer, const char *key, const char *heading) {
    answer->open = add(answer, NODE_LIST, key, heading);
}

void answer_close(Answer *answer) {
    CHECK(answer->open->parent);
    answer->open = answer->open->parent;
}

bool answer_is_closed(const Answer *answer) { return !answer->open->parent; }

void answer_detail(Answer *answer, AnswerDetail detail) { answer->open->inside = detail; }

// ---- Facts.

void answer_fact(Answer *answer, const char *key, const char *title, AnswerValue value) {
    answer->noted = add(answer, NODE_FACT, key, title);
    answer->noted->value = value;
}

void answer_note(Answer *answer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    answer->noted->note = arena_vprintf(answer->arena, format, arguments);
    va_end(arguments);
}

void answer_text(Answer *answer, const char *key, const char *title, const char *text) {
    answer_fact(answer, key, title, answer_of_text(text));
}

void answer_bool(Answer *answer, const char *key, const char *title, bool value) {
    answer_fact(answer, key, title, answer_of(AS_BOOL, value));
}

void answer_number(Answer *answer, const char *key, const char *title, AnswerUnit unit, double number) {
    answer_fact(answer, key, title, answer_of(unit, number));
}

AnswerRange answer_range_of(const Summary *summary) {
    return (AnswerRange){summary->mean, summary->p5, summary->p50, summary->p95};
}

void answer_range(Answer *answer, const char *key, const char *title, AnswerUnit unit, AnswerRange range) {
    answer_fact(answer, key, title, answer_of(unit, isnan(range.mean) ? range.p50 : range.mean));
    answer->noted->has_range = true;
    answer->noted->range = range;
}

void answer_median(Answer *answer, const char *key, const char *title, AnswerUnit unit, AnswerRange range) {
    answer_range(answer, key, title, unit, range);
    answer->noted->value.number = range.p50;
}

// ---- Tables.

void answer_table(Answer *answer, const char *key, const char *heading, const AnswerColumn *columns, int count) {
    AnswerNode *node = answer->table = answer->noted = add(answer, NODE_TABLE, key, heading);
    node->table = ARENA_NEW(answer->arena, AnswerTable);
    *node->table = (AnswerTable){.columns = columns, .column_count = count, .marked = -1};
    if (!answer->csv && key) answer->csv = node;
}

void answer_cell(Answer *answer, AnswerValue value) {
    AnswerTable *table = answer->table->table;
    if (value.unit == AS_ITS_COLUMN) value.unit = table->columns[table->cells.count % table->column_count].unit;
    LIST_PUSH(answer->arena, &table->cells, value);
}

AnswerValue answer_itself(AnswerValue value) { return value; }

AnswerValue answer_in_column(double number) { return answer_of(AS_ITS_COLUMN, number); }

void answer_cells(Answer *answer, const AnswerValue *cells, int count) {
    for (int i = 0; i < count; i++) answer_cell(answer, cells[i]);
}

void answer_row(Answer *answer, const AnswerValue *cells, int count) {
    CHECK(count == answer->table->table->column_count);
    answer_cells(answer, cells, count);
}

int answer_row_count(const AnswerTable *table) {
    CHECK(table->cells.count % table->column_count == 0);
    return table->cells.count / table->column_count;
}

void answer_row_detail(Answer *answer, AnswerDetail detail) {
    AnswerTable *table = answer->table->table;
    AnswerRowDetail of = {answer_row_count(table) - 1, detail};
    LIST_PUSH(answer->arena, &table->details, of);
}

const AnswerTable *answer_rows_for(Arena *arena, const AnswerTable *table, AnswerDetail most) {
    if (table->details.count == 0) return table;
    AnswerTable *rows = ARENA_NEW(arena, AnswerTable);
    *rows = (AnswerTable){
        .columns = table->columns, .column_count = table->column_count, .marked = -1, .first_rows = table->first_rows};
    for (int row = 0, next = 0, kept = 0; row < answer_row_count(table); row++) {
        AnswerDetail detail = FOR_ALL;
        if (next < table->details.count && table->details.items[next].row == row)
            detail = table->details.items[next++].detail;
        if (detail > most) continue;
        if (row == table->marked) rows->marked = kept;
        for (int c = 0; c < table->column_count; c++)
            LIST_PUSH(arena, &rows->cells, table->cells.items[row * table->column_count + c]);
        kept++;
    }
    return rows;
}

static const AnswerNode *table_called(const AnswerNode *section, const char *key) {
    for (const AnswerNode *node = section->first; node; node = node->next) {
        const AnswerNode *found = node->kind == NODE_SECTION ? table_called(node, key) : NULL;
        if ((node->kind == NODE_TABLE || node->kind == NODE_LIST) && node->key && strcmp(node->key, key) == 0)
            found = node;
        if (found) return found;
    }
    return NULL;
}

void answer_main_called(Answer *answer, const char *key) { answer->csv = table_called(&answer->root, key); }

void answer_main_last(Answer *answer) { answer->csv = answer->table; }

void answer_mark(Answer *answer) { answer->table->table->marked = answer_row_count(answer->table->table) - 1; }

void answer_first_rows(Answer *answer, int count) { answer->table->table->first_rows = count; }

// ---- Words.

static void add_words(Answer *answer, AnswerNodeKind kind, const char *label, const char *text) {
    add(answer, kind, NULL, label)->value = answer_of_text(text);
}

void answer_say(Answer *answer, const char *label, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_words(answer, NODE_SENTENCE, label, arena_vprintf(answer->arena, format, arguments));
    va_end(arguments);
}

void answer_verbatim(Answer *answer, const char *lines) { add_words(answer, NODE_VERBATIM, NULL, lines); }

void answer_caution(Answer *answer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_words(answer, NODE_CAUTION, NULL, arena_vprintf(answer->arena, format, arguments));
    va_end(arguments);
}

void answer_next(Answer *answer, const char *command, const char *what_for) {
    add_words(answer, NODE_NEXT, NULL, command);
    answer->open->last->note = what_for;
}

void answer_recommend(Answer *answer, const Recommendation *recommendation) {
    answer_open(answer, "recommendation", NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_text(answer, "choice", "Recommended", recommendation->choice);
    answer_text(answer, "chance", "  how surely", recommendation->chance);
    answer_text(answer, "weakest_assumption", "  weakest assumption", recommendation->weakest);
    answer_text(answer, "measure_first", "  measure first", recommendation->measure);
    answer_close(answer);
}

void answer_chart(Answer *answer, const char *name, const struct Chart *chart) {
    AnswerNode *node = add(answer, NODE_CHART, NULL, name);
    node->chart = chart;
}

void answer_spare(Answer *answer) { answer->open->last->spare = true; }

void answer_says(Answer *answer, const char *text) { answer->open->last->note = text; }

void answer_seed(Answer *answer, uint64_t seed) {
    if (seed <= UINT64_C(1) << 53)
        answer_number(answer, "seed", NULL, AS_WHOLE, (double)seed);
    else
        answer_text(answer, "seed", NULL, arena_printf(answer->arena, "%llu", (unsigned long long)seed));
}

void answer_digest(Answer *answer, uint64_t digest) {
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_text(answer, "digest", "digest", arena_printf(answer->arena, "%016llx", (unsigned long long)digest));
    answer_close(answer);
}

// ---- For the output formats.

const AnswerNode *answer_root(const Answer *answer) { return &answer->root; }
const char *answer_format_name(const Answer *answer) { return answer->format; }
const char *answer_kind(const Answer *answer) { return answer->kind; }
const char *answer_heading(const Answer *answer) { return answer->title; }
const AnswerNode *answer_main(const Answer *answer) { return answer->one_row ? NULL : answer->csv; }

bool answer_unit_is_number(AnswerUnit unit) { return unit != AS_TEXT && unit != AS_BOOL && unit != AS_NOTHING; }

const char *answer_value_text(Arena *arena, const Answer *answer, AnswerValue value) {
    double number = value.number;
    if (value.unit == AS_NOTHING) return "";
    if (value.text) return value.text;
    if (value.unit == AS_BOOL) return number > 0 ? "yes" : "no";
    if (!isfinite(number)) return TEXT_UNKNOWN;
    switch (value.unit) {
    case AS_COUNT:
        return text_count(arena, number, true);
    case AS_MANY:
        return quantity_text(arena, number, QUANTITY_COUNT);
    case AS_WHOLE:
        return arena_printf(arena, "%.0f", number);
    case AS_SHARE:
        return text_percent(arena, number);
    case AS_PERCENT:
        return arena_printf(arena, "%.0f %%", 100 * number);
    case AS_SECONDS:
        return number == 0 ? "0 s" : quantity_text(arena, number, QUANTITY_TIME);
    case AS_DAYS:
        return text_days(arena, number);
    case AS_BYTES:
        return quantity_text(arena, number, QUANTITY_BYTES);
    case AS_BANDWIDTH:
        return quantity_text(arena, number, QUANTITY_BANDWIDTH);
    case AS_FLOPS:
        return quantity_text(arena, number, QUANTITY_FLOPS);
    case AS_FLOPS_RATE:
        return quantity_text(arena, number, QUANTITY_FLOPS_RATE);
    case AS_MONEY:
        return text_money(arena, number, answer->currency);
    case AS_WATTS:
        return text_power(arena, number);
    case AS_KWH:
        return text_energy(arena, number);
    case AS_KILOGRAMS:
        return text_mass(arena, number);
    case AS_NUMBER:
    case AS_NOTHING:
    case AS_TEXT:
    case AS_BOOL:
    case ANSWER_UNIT_COUNT:
    case AS_ITS_COLUMN:
        break;
    }
    return text_figures(arena, number, 3);
}

// "80.1 to 92.3 %": a common unit is printed once.
const char *answer_range_text(Arena *arena, const Answer *answer, AnswerUnit unit, double low, double high) {
    bool whole = unit == AS_NUMBER && low == floor(low) && high == floor(high); // "1 to 14"
    if (whole) unit = AS_COUNT;
    const char *from = answer_value_text(arena, answer, answer_of(unit, low));
    const char *to = answer_value_text(arena, answer, answer_of(unit, high));
    const char *from_unit = strchr(from, ' '), *to_unit = strchr(to, ' ');
    if (from_unit && to_unit && strcmp(from_unit, to_unit) == 0)
        from = arena_printf(arena, "%.*s", (int)(from_unit - from), from);
    return arena_printf(arena, "%s to %s", from, to);
}

const char *answer_beside(Arena *arena, const Answer *answer, const AnswerNode *fact) {
    const char *range = "", *note = fact->note ? fact->note : "";
    if (fact->has_range && fact->range.p5 < fact->range.p95)
        range = arena_printf(arena, "90 %%: %s",
                             answer_range_text(arena, answer, fact->value.unit, fact->range.p5, fact->range.p95));
    return arena_printf(arena, "%s%s%s", range, *range && *note ? "; " : "", note);
}

bool answer_has_words(const AnswerNode *node) {
    switch (node->kind) {
    case NODE_FACT:
        return node->title && node->value.unit != AS_NOTHING && !(node->value.unit == AS_TEXT && !node->value.text);
    case NODE_TABLE:
        for (int c = 0; c < node->table->column_count; c++)
            if (node->table->columns[c].title) return answer_row_count(node->table) > 0;
        return false;
    case NODE_SECTION:
    case NODE_LIST:
        return false;
    case NODE_SENTENCE:
    case NODE_VERBATIM:
    case NODE_CAUTION:
    case NODE_NEXT:
    case NODE_CHART:
        break;
    }
    return true;
}

static struct {
    char **arguments; // after the program's name
    int count;
} line;

static void (*tells)(JsonWriter *json);

void envelope_tells(void (*write)(JsonWriter *json)) { tells = write; }

void envelope_command_line(int argc, char **argv) {
    line.arguments = argv + 1;
    line.count = argc > 1 ? argc - 1 : 0;
}

void envelope_write_format(JsonWriter *json, const char *format, const char *kind) {
    json_text_member(json, "format", format);
    bool is_answer = strcmp(format, ANSWER_FORMAT) == 0;
    json_integer_member(json, "format_version", is_answer ? ANSWER_FORMAT_VERSION : 1);
    json_text_member(json, "kind", kind ? kind : line.count > 0 ? line.arguments[0] : "run");
    json_key(json, "program");
    json_begin_object(json);
    json_text_member(json, "name", "lockstep");
    json_text_member(json, "version", program_version());
    json_end_object(json);
    json_key(json, "command");
    json_begin_list(json);
    if (line.count > 0) json_write_text(json, "lockstep");
    for (int i = 0; i < line.count; i++) json_write_text(json, line.arguments[i]);
    json_end_list(json);
    if (watch_stopped() == WATCH_SIGNAL) json_bool_member(json, "partial", true);
    if (is_answer && tells) tells(json);
}

void envelope_write(JsonWriter *json, const char *kind) { envelope_write_format(json, ANSWER_FORMAT, kind); }
