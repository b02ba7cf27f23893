// Models from the config.json of the Hugging Face hub.
#pragma once

#include "models/workload/model/model.h"
#include "sim/data/json.h"

// A key that is absent or null has the value of that model_type's class. as: read it as this model_type, or NULL for
// the file's own. NULL after problems, which name the key.
const Model *hf_model_read_file(Arena *arena, const char *path, const char *as, Problems *problems);
// Of a path that a scenario names, at `where`.
const Model *hf_model_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems);
const Model *hf_model_from_json(Arena *arena, const Json *json, const char *as, Problems *problems);
