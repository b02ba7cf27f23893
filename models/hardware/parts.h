// The kinds of parts as tables: names of their fields in the catalogue's files, units, limits, and members in the
// structs of hardware.h. The loader and `lockstep hw` both read these tables.
#pragma once

#include "models/hardware/market.h"
#include "sim/base/list.h"
#include "sim/base/quantity.h"
#include "sim/data/json.h"

typedef enum FieldType {
    PART_FIELD_TEXT,
    PART_FIELD_NAMES, // one text or a list of them; the count lies at `count_offset`
    PART_FIELD_BOOL,
    PART_FIELD_YEAR,   // a bare whole number
    PART_FIELD_CHOICE, // an enum, by its name
    PART_FIELD_INT,    // the rest are facts: a value with its kind and source
    PART_FIELD_NUMBER
} FieldType;

typedef struct PartField {
    const char *key;
    FieldType type;
    size_t offset;
    bool required;
    QuantityKind quantity;      // INT: QUANTITY_COUNT
    const char *unit;           // of the value in SI, as Fact.unit
    double least, most;         // in SI; values outside are input errors
    const char *const *choices; // CHOICE
    int choice_count;
    size_t count_offset; // NAMES
} PartField;

typedef enum PartKind {
    PART_GPU,
    PART_NODE,
    PART_FABRIC,
    PART_STORAGE,
    PART_FAULTS,
    PART_CURRENCY, // before the prices in it
    PART_PRICE,
    PART_GRID,
    PART_SITE,
    PART_KIND_COUNT
} PartKind;

typedef struct PartTable {
    const char *word;                               // "gpu": as `lockstep hw list` spells it
    const char *section;                            // "gpus": its list in a file
    const char *said;                               // "GPU": in sentences
    size_t bytes;                                   // of the struct
    size_t aliases, alias_count, facts, fact_count; // where the struct keeps them; the name comes first in each
    const PartField *fields;
    int field_count;
} PartTable;

extern const PartTable part_tables[PART_KIND_COUNT];

// The parts of one kind of a catalogue.
const void *catalogue_parts(const Catalogue *catalogue, PartKind kind, int *count);
const char *part_name(const void *part);
const char *const *part_aliases(PartKind kind, const void *part, int *count);
const Fact *part_facts(PartKind kind, const void *part, int *count);
const void *part_at(PartKind kind, const void *parts, int index);
// By name or alias, GPUs also by their chip, form and memory; NULL: not found.
const void *part_find(const Catalogue *catalogue, PartKind kind, const char *name);
// Adds the hint "did you mean …?" from names and aliases, or where the list is.
void hint_parts(Arena *arena, const Catalogue *catalogue, PartKind kind, const char *given, Problems *problems);
bool same_part_name(const char *a, const char *b);
int part_name_order(const char *a, const char *b); // 0 for names that are the same

// Finds the places of parts of one kind, of any number of parts. A part is noted when it comes to its place: behind the
// last, or in place of another of that name.
typedef struct PartIndex PartIndex;
typedef struct PartIndexes {
    Arena *arena;
    const PartIndex *of[PART_KIND_COUNT]; // NULL: not built yet
} PartIndexes;
PartIndexes *part_indexes_create(Arena *arena); // each is built on first use
PartIndex *part_index_create(Arena *arena, PartKind kind);
void part_index_note(PartIndex *index, const void *part, int place);
PartIndex *part_index_of(Arena *arena, PartKind kind, const void *parts, int count);
int part_index_place(const PartIndex *index, const char *name);                   // by its name alone; -1: none
int part_index_find(const PartIndex *index, const void *parts, const char *name); // -1: none is called so
// NULL after adding "no GPU is called …".
const void *find_part(Arena *arena, const Catalogue *catalogue, PartKind kind, const char *name, Where where,
                      Problems *problems);

// What write_catalogue.c makes of the files: a catalogue without indexes, and what its facts are to be. Texts of facts
// are places in one text: addresses, five a fact, would be put in place at every start.
typedef struct TabledFact {
    double value, sigma;
    int32_t name, text, unit, source, file, line, kind;
} TabledFact;
typedef struct FactTable {
    const TabledFact *tabled;
    const char *texts;
    Fact *facts; // to which the parts point; a part's are unpacked on first use
} FactTable;
extern const Catalogue catalogue_tables;
extern const FactTable catalogue_facts;
void facts_lie_in(const FactTable *table);
// The same, read from the files.
const Catalogue *catalogue_from_files(Arena *arena);

// What spans several fields of a part that was read whole: filled in or refused. `where` is the part's place.
void gpu_derive_l2(Gpu *gpu); // how much faster it is than memory, unless that was stated
void gpu_finish(Gpu *gpu, Where where, Problems *problems);
void faults_finish(const FaultRates *rates, Where where, Problems *problems);
void offer_finish(Arena *arena, const Catalogue *catalogue, Offer *offer, Where where, Problems *problems);
// "2026-04" or so; a NULL is no date.
void date_finish(const char *date, PartKind kind, const char *name, Where where, Problems *problems);
// "2x rtx-3060 + 1x rtx-4090": nodes given as counts of GPUs. Cards share a workstation, modules are on the smallest
// board known for them. NULL after a problem: an unknown GPU, modules mixed with others, no such board.
bool node_is_in_words(const char *text);
const NodeType *node_in_words(Arena *arena, const Catalogue *catalogue, const char *text, Where where,
                              Problems *problems);
void node_finish(Arena *arena, const Catalogue *catalogue, NodeType *node, Where where, Problems *problems);
