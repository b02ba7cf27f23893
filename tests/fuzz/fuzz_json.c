// Any bytes read as JSON: refused with a reason, or read, written, read again and found the same. Then as a model's
// config.json: refused with a reason, or a model that can be counted.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_json.c, then run it on tests/fuzz/corpus_json
#include <stdint.h>
#include <string.h>

#include "models/workload/model/model.h"
#include "sim/base/check.h"
#include "sim/data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define DEEPEST_WRITTEN 31

static int depth_of(const Json *json) {
    int deepest = 0;
    for (int i = 0; i < json->count; i++) {
        int depth = depth_of(&json->items[i]);
        if (depth > deepest) deepest = depth;
    }
    return deepest + (json->kind == JSON_LIST || json->kind == JSON_OBJECT);
}

static void write_json(JsonWriter *writer, const Json *json) {
    if (json->key) json_key(writer, json->key);
    switch (json->kind) {
    case JSON_NULL:
        json_write_text(writer, NULL);
        return;
    case JSON_BOOL:
        json_write_bool(writer, json->boolean);
        return;
    case JSON_NUMBER:
        json_write_number(writer, json->number);
        return;
    case JSON_TEXT:
        json_write_text(writer, json->text);
        return;
    case JSON_LIST:
        json_begin_list(writer);
        break;
    case JSON_OBJECT:
        json_begin_object(writer);
        break;
    }
    for (int i = 0; i < json->count; i++) write_json(writer, &json->items[i]);
    if (json->kind == JSON_LIST)
        json_end_list(writer);
    else
        json_end_object(writer);
}

static void check_same(const Json *a, const Json *b) {
    CHECK(a->kind == b->kind && a->count == b->count);
    CHECK(a->number == b->number && a->boolean == b->boolean);
    CHECK(!a->key == !b->key && (!a->key || strcmp(a->key, b->key) == 0));
    CHECK(!a->text == !b->text && (!a->text || strcmp(a->text, b->text) == 0));
    for (int i = 0; i < a->count; i++) check_same(&a->items[i], &b->items[i]);
}

static void check_round_trip(Arena *arena, const Json *json, int indent) {
    char *text = NULL;
    size_t bytes = 0;
    JsonWriter writer = json_writer(open_memstream(&text, &bytes), indent);
    write_json(&writer, json);
    fclose(writer.out);
    const Json *again = json_read_text(arena, "again", text, bytes, problems_create(arena));
    CHECK(again);
    check_same(json, again);
    free(text);
}

static void check_lines(const Json *json, int line_count) {
    CHECK(json->where.line >= 1 && json->where.line <= line_count);
    for (int i = 0; i < json->count; i++) {
        CHECK(json->items[i].where.line >= (i ? json->items[i - 1].where.line : json->where.line));
        check_lines(&json->items[i], line_count);
    }
}

static void check_model(Arena *arena, const Json *json) {
    Problems *problems = problems_create(arena);
    const Model *model = hf_model_from_json(arena, json, NULL, problems);
    CHECK(!model == (problem_count(problems) > 0));
    if (!model) return;
    CHECK(model_parameters(model) > 0 && model_active_parameters(model) > 0);
    CHECK(model_active_parameters(model) <= model_parameters(model));
    CHECK(model_forward_flops_per_sample(model, 16) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Json *json = json_read_text(arena, "fuzz", (const char *)data, bytes, problems);
    CHECK(!json == (problem_count(problems) > 0));
    if (json) {
        int line_count = 1;
        for (size_t i = 0; i < bytes; i++) line_count += data[i] == '\n';
        check_lines(json, line_count);
        check_model(arena, json);
        if (depth_of(json) <= DEEPEST_WRITTEN) {
            check_round_trip(arena, json, 0);
            check_round_trip(arena, json, 2);
        }
    }
    arena_close(arena);
    return 0;
}
