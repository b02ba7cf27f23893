// YAML parser (on libyaml, used nowhere else): the same tree as JSON's, with line numbers.
#pragma once

#include "sim/data/json.h"

#define NOT_KNOWN '\001' // in a text: a part that is only known at run time

// Returns a list of documents. Anchors and merge keys are resolved, an alias is the same tree again; one that
// contains itself, or grows without bound, is a problem. NULL after problems.
const Json *yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems);
// JSON, also the lax kind with comments and Python's True.
const Json *json_or_yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems);
