// TOML by a small reader of our own as a flat list, and what refers to other settings (sim/data has YAML and JSON).
#pragma once

#include "scenarios/import/said.h"
#include "sim/data/json.h"

// False after a problem: a line that is no TOML.
bool toml_read(Arena *arena, SaidList *list, const char *name, const char *text, size_t bytes, SaidBy by,
               Problems *problems);
// "${a.b}" and "${.sibling}" as OmegaConf reads them, in place; what leads nowhere or in a circle is not known.
void said_resolve(Arena *arena, SaidList *list);
