// Text formats, each as a tree with places: YAML by libyaml, JSON as everywhere, TOML by a small reader of our own.
#pragma once

#include "scenarios/import/said.h"

// A list of documents. Anchors and merge keys are followed, an alias is the same tree again; one that stands within
// itself, or grows beyond all measure, is a problem. NULL after problems.
const Json *yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems);
// JSON, or what calls itself so and has comments and Python's True in it.
const Json *json_or_yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems);
// False after a problem: a line that is no TOML.
bool toml_read(Arena *arena, SaidList *list, const char *name, const char *text, size_t bytes, SaidBy by,
               Problems *problems);
// "${a.b}" and "${.sibling}" as OmegaConf reads them, in place; what leads nowhere or in a circle is not known.
void said_resolve(Arena *arena, SaidList *list);
