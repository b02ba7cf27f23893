// A catalogue in which one resource of every part has another rate, as if a profile had changed it, for what-if
// analysis. The numbers changed are those that `lockstep hw show` names.
#pragma once

#include "models/hardware/hardware.h"
#include "models/hardware/parts.h"

#define RESOURCE_FIELDS 10

typedef struct ResourceField {
    PartKind part;
    const char *key; // in the catalogue's files
} ResourceField;

// A faster resource has its rates multiplied, or its times divided, by a factor.
typedef struct Resource {
    const char *name;  // "matrix": in JSON
    const char *title; // "matrix rate"
    bool is_time;
    ResourceField fields[RESOURCE_FIELDS]; // ends with a NULL key
} Resource;

extern const Resource resources[];
extern const int resource_count;

// Whether the factor can be had of this part: lanes are whole.
bool part_can_be_quicker(PartKind kind, const void *part, const Resource *resource, double factor);
// All parts of a catalogue; a part keeps its index.
const Catalogue *catalogue_quicker(Arena *arena, const Catalogue *catalogue, const Resource *resource, double factor);
// The part of `changed` that replaces a part of `base`; a part in neither (a node read from a machine, a MIG slice)
// is changed by itself. NULL stays NULL.
const void *part_in_place(Arena *arena, PartKind kind, const Catalogue *base, const Catalogue *changed,
                          const void *part, const Resource *resource, double factor);
