// An answer as JSON: sections are objects, tables lists of them.
#include <string.h>

#include "results/answer/answer.h"
#include "sim/data/answer.h"

static void write_value(JsonWriter *json, AnswerValue value) {
    if (value.unit == AS_TEXT)
        json_write_text(json, value.text);
    else if (value.unit == AS_BOOL)
        json_write_bool(json, value.number > 0);
    else
        json_write_number(json, value.number);
}

static void write_range(JsonWriter *json, AnswerRange range) {
    const struct {
        const char *key;
        double value;
    } members[] = {{"mean", range.mean}, {"p5", range.p5}, {"p50", range.p50}, {"p95", range.p95}};
    json_begin_object(json);
    for (int i = 0; i < 4; i++)
        if (members[i].value == members[i].value) json_number_member(json, members[i].key, members[i].value);
    json_end_object(json);
}

// ---- Rows. Columns that follow each other with the same word before a dot are members of one object.

static size_t shared_with(const char *key, const char *open, size_t length) {
    return open && strncmp(key, open, length) == 0 ? length : 0;
}

static void write_row(JsonWriter *json, const AnswerTable *table, int row) {
    const char *open = NULL; // the key whose object is open
    size_t length = 0;       // of the word before its dot
    json_begin_object(json);
    for (int c = 0; c < table->column_count; c++) {
        AnswerValue value = table->cells.items[row * table->column_count + c];
        const char *key = table->columns[c].key, *dot = key ? strchr(key, '.') : NULL;
        if (!key || value.unit == AS_NOTHING) continue;
        bool goes_on = dot && shared_with(key, open, (size_t)(dot - key) + 1) && length == (size_t)(dot - key);
        if (open && !goes_on) json_end_object(json), open = NULL;
        if (dot && !open) {
            char word[64] = "";
            length = (size_t)(dot - key);
            memcpy(word, key, length < sizeof word ? length : sizeof word - 1);
            json_key(json, word);
            json_begin_object(json);
            open = key;
        }
        json_key(json, dot ? dot + 1 : key);
        write_value(json, value);
    }
    if (open) json_end_object(json);
    json_end_object(json);
}

static void write_table(JsonWriter *json, const AnswerTable *table) {
    json_begin_list(json);
    for (int row = 0; row < answer_row_count(table); row++) write_row(json, table, row);
    json_end_list(json);
}

// ---- The tree.

static void write_members(JsonWriter *json, const AnswerNode *section);

static void write_list(JsonWriter *json, const AnswerNode *list) {
    json_begin_list(json);
    for (const AnswerNode *node = list->first; node; node = node->next) {
        if (node->kind == NODE_FACT) write_value(json, node->value);
        if (node->kind == NODE_LIST) write_list(json, node);
        if (node->kind != NODE_SECTION) continue;
        json_begin_object(json);
        write_members(json, node);
        json_end_object(json);
    }
    json_end_list(json);
}

static void write_member(JsonWriter *json, const AnswerNode *node) {
    if (node->kind == NODE_SECTION && !node->key) {
        write_members(json, node);
        return;
    }
    if (!node->key) return;
    json_key(json, node->key);
    if (node->kind == NODE_SECTION) {
        json_begin_object(json);
        write_members(json, node);
        json_end_object(json);
    } else if (node->kind == NODE_LIST) {
        write_list(json, node);
    } else if (node->kind == NODE_TABLE) {
        write_table(json, node->table);
    } else if (node->has_range) {
        write_range(json, node->range);
    } else {
        write_value(json, node->value);
    }
}

static void write_members(JsonWriter *json, const AnswerNode *section) {
    for (const AnswerNode *node = section->first; node; node = node->next) write_member(json, node);
}

void answer_as_json(FILE *out, const Answer *answer) {
    JsonWriter json = json_writer(out, 2);
    json_begin_object(&json);
    const char *format = answer_format_name(answer);
    envelope_write_format(&json, format ? format : ANSWER_FORMAT, answer_kind(answer));
    write_members(&json, answer_root(answer));
    json_end_object(&json);
    fputc('\n', out);
}
