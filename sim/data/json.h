// JSON: strict parsing with line numbers (cJSON parses; this adds what cJSON lacks: positions, no duplicate keys, no
// trailing text, no "01", no infinities, a depth limit), and a streaming writer. cJSON is used nowhere else.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/arena.h"
#include "sim/system/gate.h"

typedef enum JsonKind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct Json Json;
struct Json {
    JsonKind kind;
    Where where; // file and line of this value
    bool boolean;
    double number;
    const char *text;
    const char *key;   // when it is a member of an object
    const Json *items; // members or elements, `count` of them
    int count;
    const Json *const *by_key; // an object's members in the order of their keys
};

// Reads a file, or a text under a name for messages. NULL after adding problems. Texts may be displayed, so they must
// be one line: control characters in them are problems.
const Json *json_read_file(Arena *arena, const char *path, Problems *problems);
// Of a path that a scenario names, at `where`; gate NULL: as above.
const Json *json_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems);
// The same for files in which other programs store texts with line breaks: texts that are used must be checked with
// json_texts_are_names. So for json_read_text.
const Json *json_read_loose(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems);
bool json_texts_are_names(const Json *json, Problems *problems); // and keys, in all that it holds
const Json *json_read_text(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems);

const Json *json_get(const Json *object, const char *key); // NULL when absent; case matters
// Typed access with a problem (position, key, expected type) if absent or of the wrong kind.
double json_number(const Json *object, const char *key, Problems *problems);
const char *json_text(const Json *object, const char *key, Problems *problems); // "" after a problem
// A problem with did-you-mean for each member whose key is not among the names.
void json_known_keys(const Json *object, const char *const *names, int name_count, Problems *problems);

// ---- Writing: straight to a stream, commas and escapes looked after, no tree in memory.
typedef struct JsonWriter {
    FILE *out;
    int depth;
    bool first[32]; // nothing written yet at this depth
    bool after_key;
    int indent; // spaces per level; 0 writes one line
} JsonWriter;

JsonWriter json_writer(FILE *out, int indent);
void json_begin_object(JsonWriter *writer);
void json_end_object(JsonWriter *writer);
void json_begin_list(JsonWriter *writer);
void json_end_list(JsonWriter *writer);
void json_key(JsonWriter *writer, const char *key);
void json_write_text(JsonWriter *writer, const char *text); // NULL writes null; bad UTF-8 is replaced by U+FFFD
void json_write_number(JsonWriter *writer,
                       double number); // shortest text that reads back equal; NaN and infinity write null
void json_write_integer(JsonWriter *writer, int64_t number);
void json_write_bool(JsonWriter *writer, bool value);
void json_write_tree(JsonWriter *writer, const Json *value); // a value read before

// A key with its value.
static inline void json_text_member(JsonWriter *writer, const char *key, const char *text) {
    json_key(writer, key);
    json_write_text(writer, text);
}

static inline void json_number_member(JsonWriter *writer, const char *key, double number) {
    json_key(writer, key);
    json_write_number(writer, number);
}

static inline void json_integer_member(JsonWriter *writer, const char *key, int64_t number) {
    json_key(writer, key);
    json_write_integer(writer, number);
}

static inline void json_bool_member(JsonWriter *writer, const char *key, bool value) {
    json_key(writer, key);
    json_write_bool(writer, value);
}

// ---- YAML (on libyaml, used nowhere else): the same tree as JSON's, with line numbers.
#define NOT_KNOWN '\001' // in a text: a part that is only known at run time

// Returns a list of documents. Anchors and merge keys are resolved, an alias is the same tree again; one that
// contains itself, or grows without bound, is a problem. NULL after problems.
const Json *yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems);
// JSON, also the lax kind with comments and Python's True.
const Json *json_or_yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems);
