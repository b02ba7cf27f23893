// What a command printed as JSON, as a tree: its tables for other programs are made as those of all answers.
#include <string.h>

#include "results/answer/as.h"
#include "sim/base/check.h"

static bool is_envelope(const char *key) {
    static const char *const keys[] = {"format", "format_version", "kind", "program", "command"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

static AnswerValue value_of(const Json *value) {
    if (value->kind == JSON_NUMBER) return answer_of(AS_NUMBER, value->number);
    if (value->kind == JSON_BOOL) return answer_of(AS_BOOL, value->boolean);
    return answer_of_text(value->kind == JSON_TEXT ? value->text : NULL);
}

static void add(Answer *answer, const Json *value) {
    if (value->kind == JSON_OBJECT)
        answer_open(answer, value->key, NULL);
    else if (value->kind == JSON_LIST)
        answer_open_list(answer, value->key, NULL);
    else
        answer_fact(answer, value->key, NULL, value_of(value));
    if (value->kind != JSON_OBJECT && value->kind != JSON_LIST) return;
    for (int i = 0; i < value->count; i++) add(answer, &value->items[i]);
    answer_close(answer);
}

static bool is_table(const Json *value) {
    return value->kind == JSON_LIST && value->count > 0 && value->items[0].kind == JSON_OBJECT;
}

// The list called "rows", else the first list of objects; NULL: all of it is one row.
static const char *main_list(const Json *json) {
    const Json *rows = json_get(json, "rows");
    if (rows && is_table(rows)) return rows->key;
    for (int i = 0; i < json->count; i++)
        if (is_table(&json->items[i])) return json->items[i].key;
    return NULL;
}

const Answer *answer_of_json(Arena *arena, const Json *json) {
    CHECK(json->kind == JSON_OBJECT);
    Answer *answer = answer_create(arena, NULL);
    for (int i = 0; i < json->count; i++)
        if (!is_envelope(json->items[i].key)) add(answer, &json->items[i]);
    const char *list = main_list(json);
    if (list)
        answer_main_called(answer, list);
    else
        answer_one_row(answer);
    return answer;
}
