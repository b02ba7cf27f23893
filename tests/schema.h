// A small reader of JSON Schema (draft 2020-12), enough for results/schema.json: type, const, enum, properties,
// required, items, additionalProperties, anyOf and $ref to #/$defs. What it does not know it refuses.
#pragma once

#include <stdbool.h>

#include "sim/data/json.h"

// Whether the value is as the schema (a node of `root`) says, and has no key that the schema leaves unsaid. `why` says
// where it is not.
bool schema_holds(const Json *root, const Json *schema, const Json *value, char *why, size_t room);

// The schema of values of which these are some: the old one (or NULL), with what the values have and it does not say.
typedef struct SchemaSamples {
    const Json **items;
    int count, room;
} SchemaSamples;
void schema_write(Arena *arena, JsonWriter *json, const Json *old, const SchemaSamples *samples);
