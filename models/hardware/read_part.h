// Reads one part of a JSON file into a catalogue under construction.
#pragma once

#include "models/hardware/parts.h"

// While a catalogue is put together. Lists have room for all that the file could add.
typedef struct Builder {
    Arena *arena;
    Problems *problems;
    char *parts[PART_KIND_COUNT];
    int count[PART_KIND_COUNT];
    PartIndex *index[PART_KIND_COUNT];
    PartIndexes *indexes; // the same
    const Json *sources;  // of the file being read; may be NULL
} Builder;

Catalogue builder_catalogue(const Builder *builder); // its present state
// `defaults` (or NULL) holds fields that the part itself lacks.
void read_part(Builder *builder, PartKind kind, const Json *object, const Json *defaults);
