#include "tests/schema.h"

#include <math.h>
#include <string.h>

#include "sim/base/list.h"

static const char *const type_names[] = {[JSON_NULL] = "null",   [JSON_BOOL] = "boolean", [JSON_NUMBER] = "number",
                                         [JSON_TEXT] = "string", [JSON_LIST] = "array",   [JSON_OBJECT] = "object"};
enum { TYPES = sizeof type_names / sizeof *type_names };

typedef struct Check {
    const Json *root;
    char *why;
    size_t room;
} Check;

static bool holds(const Check *check, const Json *schema, const Json *value, const char *path);

static bool wrong(const Check *check, const char *path, const char *what, const char *name) {
    snprintf(check->why, check->room, "%s: %s%s", path[0] ? path : "the answer", what, name);
    return false;
}

static bool is_text(const Json *value, const char *text) {
    return value && value->kind == JSON_TEXT && strcmp(value->text, text) == 0;
}

// ---- Words of a schema.

static bool has_type(const Json *type, const Json *value) {
    bool whole = value->kind == JSON_NUMBER && value->number == floor(value->number);
    for (int i = 0; type->kind == JSON_LIST && i < type->count; i++)
        if (has_type(&type->items[i], value)) return true;
    return is_text(type, type_names[value->kind]) || (whole && is_text(type, "integer"));
}

static bool equal(const Json *a, const Json *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == JSON_TEXT) return strcmp(a->text, b->text) == 0;
    if (a->kind == JSON_NUMBER) return !(a->number < b->number) && !(a->number > b->number);
    return a->kind == JSON_BOOL ? a->boolean == b->boolean : a->kind == JSON_NULL;
}

static bool is_among(const Json *list, const Json *value) {
    for (int i = 0; i < list->count; i++)
        if (equal(&list->items[i], value)) return true;
    return false;
}

static bool members_hold(const Check *check, const Json *schema, const Json *value, const char *path) {
    const Json *properties = json_get(schema, "properties"), *others = json_get(schema, "additionalProperties");
    const Json *required = json_get(schema, "required");
    for (int i = 0; required && i < required->count; i++)
        if (!json_get(value, required->items[i].text))
            return wrong(check, path, "lacks the key ", required->items[i].text);
    for (int i = 0; i < value->count; i++) {
        const Json *member = &value->items[i];
        const Json *said = properties ? json_get(properties, member->key) : NULL;
        char below[512];
        snprintf(below, sizeof below, "%.380s.%.120s", path, member->key);
        if (!said) said = others;
        if (!said) return wrong(check, path, "nothing is said of the key ", member->key);
        if (!holds(check, said, member, below)) return false;
    }
    return true;
}

static bool elements_hold(const Check *check, const Json *items, const Json *value, const char *path) {
    for (int i = 0; i < value->count; i++) {
        char below[512];
        snprintf(below, sizeof below, "%.480s[%d]", path, i);
        if (!holds(check, items, &value->items[i], below)) return false;
    }
    return true;
}

static bool any_holds(const Check *check, const Json *choices, const Json *value, const char *path) {
    for (int i = 0; i < choices->count; i++)
        if (holds(check, &choices->items[i], value, path)) return true;
    return false;
}

static const Json *pointed_at(const Check *check, const Json *reference) {
    const Json *definitions = json_get(check->root, "$defs");
    return definitions && strncmp(reference->text, "#/$defs/", 8) == 0 ? json_get(definitions, reference->text + 8)
                                                                       : NULL;
}

static bool is_known_word(const char *word) {
    static const char *const words[] = {
        "type",        "const", "enum",    "properties", "required", "items", "$ref", "anyOf", "additionalProperties",
        "description", "title", "$schema", "$id",        "$defs"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

static bool said_elsewhere(const Json *schema) {
    return json_get(schema, "$ref") || json_get(schema, "const") || json_get(schema, "enum") ||
           json_get(schema, "anyOf");
}

static bool holds(const Check *check, const Json *schema, const Json *value, const char *path) {
    const Json *word;
    for (int i = 0; i < schema->count; i++)
        if (!is_known_word(schema->items[i].key))
            return wrong(check, path, "the schema has a word that the test does not read: ", schema->items[i].key);
    if ((word = json_get(schema, "$ref")) != NULL) {
        const Json *there = pointed_at(check, word);
        return there ? holds(check, there, value, path) : wrong(check, path, "points at nothing: ", word->text);
    }
    if ((word = json_get(schema, "type")) != NULL && !has_type(word, value))
        return wrong(check, path, "is not of the schema's type but ", type_names[value->kind]);
    if ((word = json_get(schema, "const")) != NULL && !equal(word, value))
        return wrong(check, path, "is not the constant ", word->kind == JSON_TEXT ? word->text : "of the schema");
    if ((word = json_get(schema, "enum")) != NULL && !is_among(word, value))
        return wrong(check, path, "is none of the schema's values", "");
    if ((word = json_get(schema, "anyOf")) != NULL && !any_holds(check, word, value, path)) return false;
    bool members = json_get(schema, "properties") || json_get(schema, "additionalProperties");
    if (value->kind == JSON_OBJECT && members && !members_hold(check, schema, value, path)) return false;
    if (value->kind == JSON_OBJECT && value->count > 0 && !members && !said_elsewhere(schema))
        return wrong(check, path, "nothing is said of its keys", "");
    word = json_get(schema, "items");
    if (value->kind == JSON_LIST && value->count > 0 && !word && !said_elsewhere(schema))
        return wrong(check, path, "nothing is said of its elements", "");
    return value->kind != JSON_LIST || !word || elements_hold(check, word, value, path);
}

bool schema_holds(const Json *root, const Json *schema, const Json *value, char *why, size_t room) {
    Check check = {root, why, room};
    why[0] = '\0';
    return holds(&check, schema, value, "");
}

// ---- Writing.

static void copy_member(JsonWriter *json, const Json *old, const char *word) {
    const Json *kept = old ? json_get(old, word) : NULL;
    if (!kept) return;
    json_key(json, word);
    json_write_tree(json, kept);
}

static void write_type(JsonWriter *json, const Json *old, const SchemaSamples *samples) {
    bool has[TYPES] = {false};
    const Json *type = old ? json_get(old, "type") : NULL;
    int count = 0;
    for (int t = 0; t < TYPES; t++) {
        for (int i = 0; i < samples->count; i++) has[t] = has[t] || samples->items[i]->kind == (JsonKind)t;
        has[t] = has[t] || is_text(type, type_names[t]);
        for (int i = 0; type && type->kind == JSON_LIST && i < type->count; i++)
            has[t] = has[t] || is_text(&type->items[i], type_names[t]);
        count += has[t];
    }
    if (count == 0) return;
    json_key(json, "type");
    if (count > 1) json_begin_list(json);
    for (int t = TYPES - 1; t >= 0; t--)
        if (has[t]) json_write_text(json, type_names[t]);
    if (count > 1) json_end_list(json);
}

static bool is_in_all(const SchemaSamples *samples, const char *key) {
    for (int i = 0; i < samples->count; i++)
        if (samples->items[i]->kind == JSON_OBJECT && !json_get(samples->items[i], key)) return false;
    return true;
}

#define ENOUGH 3 // values that have a key, to promise it of an object that is known

// What stood there stays, where all values still have it; and what all have.
static void write_required(Arena *arena, JsonWriter *json, const Json *old, const Names *keys,
                           const SchemaSamples *samples) {
    const Json *required = old ? json_get(old, "required") : NULL;
    Names kept = {0};
    for (int i = 0; (!old || samples->count >= ENOUGH) && i < keys->count; i++)
        if (is_in_all(samples, keys->items[i])) names_add(arena, &kept, keys->items[i]);
    for (int i = 0; required && i < required->count; i++)
        if (is_in_all(samples, required->items[i].text)) names_add(arena, &kept, required->items[i].text);
    if (kept.count == 0) return;
    json_key(json, "required");
    json_begin_list(json);
    for (int i = 0; i < kept.count; i++) json_write_text(json, kept.items[i]);
    json_end_list(json);
}

static void write_members(Arena *arena, JsonWriter *json, const Json *old, const SchemaSamples *samples) {
    const Json *properties = old ? json_get(old, "properties") : NULL;
    Names keys = {0};
    for (int i = 0; properties && i < properties->count; i++) names_add(arena, &keys, properties->items[i].key);
    for (int i = 0; i < samples->count; i++)
        for (int k = 0; samples->items[i]->kind == JSON_OBJECT && k < samples->items[i]->count; k++)
            names_add(arena, &keys, samples->items[i]->items[k].key);
    if (keys.count == 0) return;
    json_key(json, "properties");
    json_begin_object(json);
    for (int k = 0; k < keys.count; k++) {
        SchemaSamples values = {0};
        for (int i = 0; i < samples->count; i++) {
            const Json *value =
                samples->items[i]->kind == JSON_OBJECT ? json_get(samples->items[i], keys.items[k]) : NULL;
            if (value) LIST_PUSH(arena, &values, value);
        }
        json_key(json, keys.items[k]);
        schema_write(arena, json, properties ? json_get(properties, keys.items[k]) : NULL, &values);
    }
    json_end_object(json);
    write_required(arena, json, old, &keys, samples);
}

// Every value within the lists or objects, whatever its key.
static void write_within(Arena *arena, JsonWriter *json, const char *word, JsonKind kind, const Json *old,
                         const SchemaSamples *samples) {
    SchemaSamples values = {0};
    const Json *kept = old ? json_get(old, word) : NULL;
    for (int i = 0; i < samples->count; i++)
        for (int k = 0; samples->items[i]->kind == kind && k < samples->items[i]->count; k++)
            LIST_PUSH(arena, &values, (const Json *)&samples->items[i]->items[k]);
    if (!kept && values.count == 0) return;
    json_key(json, word);
    schema_write(arena, json, kept, &values);
}

void schema_write(Arena *arena, JsonWriter *json, const Json *old, const SchemaSamples *samples) {
    static const char *const kept[] = {"description", "$ref", "const", "enum", "anyOf"};
    json_begin_object(json);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) copy_member(json, old, kept[i]);
    if (!old || !said_elsewhere(old) || json_get(old, "enum")) {
        write_type(json, old, samples);
        if (old && json_get(old, "additionalProperties"))
            write_within(arena, json, "additionalProperties", JSON_OBJECT, old, samples);
        else
            write_members(arena, json, old, samples);
        write_within(arena, json, "items", JSON_LIST, old, samples);
    }
    json_end_object(json);
}
