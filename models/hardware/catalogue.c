// The catalogue: JSON files of parts. The program has its own built in; users may add more in the same format.
#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/check.h"
#include "sim/base/embed.h"

// ---- Strict parser of one part: each number with its kind and source; every error with its position and a remedy.
//   "memory_bandwidth": ["2039 GB/s", "datasheet", "S1"]   value, kind, source; optionally relative sigma
//   "sms": 108                                             kind and source from the part's "from": [kind, source]
// A source is keys of the file's "sources" joined by '+', or a text of its own.

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

// As it is now.
static Catalogue builder_catalogue(const Builder *builder) {
    return (Catalogue){.gpus = (const Gpu *)builder->parts[PART_GPU],
                       .gpu_count = builder->count[PART_GPU],
                       .nodes = (const NodeType *)builder->parts[PART_NODE],
                       .node_count = builder->count[PART_NODE],
                       .links = (const FabricLink *)builder->parts[PART_FABRIC],
                       .link_count = builder->count[PART_FABRIC],
                       .storages = (const StorageType *)builder->parts[PART_STORAGE],
                       .storage_count = builder->count[PART_STORAGE],
                       .faults = (const FaultRates *)builder->parts[PART_FAULTS],
                       .faults_count = builder->count[PART_FAULTS],
                       .offers = (const Offer *)builder->parts[PART_PRICE],
                       .offer_count = builder->count[PART_PRICE],
                       .currencies = (const Currency *)builder->parts[PART_CURRENCY],
                       .currency_count = builder->count[PART_CURRENCY],
                       .grids = (const Grid *)builder->parts[PART_GRID],
                       .grid_count = builder->count[PART_GRID],
                       .sites = (const Site *)builder->parts[PART_SITE],
                       .site_count = builder->count[PART_SITE],
                       .indexes = builder->indexes};
}

#define LONGEST_EXPANDED ((size_t)4096)

// One part while it is read, and the default source of its numbers.
typedef struct Reading {
    Builder *builder;
    PartKind kind;
    const char *name;
    char *part;
    bool has_from;
    FactKind from_kind;
    const char *from_source;
    Fact *facts;
    int fact_count;
} Reading;

// ---- Kinds and sources.

static const char *source_of_key(const Builder *builder, const char *key) {
    const Json *text = builder->sources ? json_get(builder->sources, key) : NULL;
    return text && text->kind == JSON_TEXT ? text->text : NULL;
}

// Length of the texts that the keys of "S1+S3" refer to; 0 if one of them is no key.
static size_t expanded_bytes(const Builder *builder, const char *text) {
    size_t bytes = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, "+");
        const char *source = source_of_key(builder, arena_printf(builder->arena, "%.*s", (int)length, at));
        if (!source) return 0;
        bytes += strlen(source) + 2;
        at += length;
        if (*at == '\0' || bytes > LONGEST_EXPANDED) return bytes;
    }
}

// "S1+S3" as the texts of both when both are keys and these are not too long, else the text itself.
static const char *expand_source(const Builder *builder, const char *text) {
    if (!strchr(text, '+')) {
        const char *source = source_of_key(builder, text);
        return source ? source : text;
    }
    size_t bytes = expanded_bytes(builder, text);
    if (bytes == 0 || bytes > LONGEST_EXPANDED) return text;
    char *expanded = arena_alloc(builder->arena, bytes), *end = expanded;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, "+");
        const char *source = source_of_key(builder, arena_printf(builder->arena, "%.*s", (int)length, at));
        end += sprintf(end, "%s%s", end > expanded ? "; " : "", source);
        at += length;
        if (*at == '\0') return expanded;
    }
}

static bool read_kind(const Builder *builder, const Json *value, FactKind *kind) {
    const char *names[FACT_KIND_COUNT];
    for (int i = 0; i < FACT_KIND_COUNT; i++) {
        names[i] = fact_kind_name((FactKind)i);
        if (value->kind != JSON_TEXT || strcmp(value->text, names[i]) != 0) continue;
        *kind = (FactKind)i;
        return true;
    }
    const char *given = value->kind == JSON_TEXT ? value->text : "";
    problem_add(builder->problems, value->where, "\"%s\" is no way of knowing a number", given);
    problem_hint_names(builder->problems, given, names, FACT_KIND_COUNT);
    return false;
}

static bool read_source(const Builder *builder, const Json *value, const char **source) {
    if (value->kind == JSON_TEXT && value->text[0]) {
        *source = expand_source(builder, value->text);
        return true;
    }
    return problem_add(builder->problems, value->where, "a source is a text that says where the number comes from");
}

static void read_from(Reading *reading, const Json *object) {
    const Json *from = json_get(object, "from");
    if (!from) return;
    if (from->kind != JSON_LIST || from->count != 2) {
        problem_add(reading->builder->problems, from->where,
                    "\"from\" is a list of two: how numbers are known, and the source");
        problem_hint(reading->builder->problems, "such as [\"datasheet\", \"vendor's data sheet of May 2026\"]");
        return;
    }
    reading->has_from = read_kind(reading->builder, &from->items[0], &reading->from_kind) &&
                        read_source(reading->builder, &from->items[1], &reading->from_source);
}

// ---- Facts.

static const Json *refuse(const Reading *reading, const PartField *field, const Json *at, const char *why) {
    problem_add(reading->builder->problems, at->where, "%s of %s \"%s\": %s", field->key,
                part_tables[reading->kind].said, reading->name, why);
    return NULL;
}

// How such a value is written, for hints.
static const char *example(const PartField *field) {
    static const char *const examples[QUANTITY_KIND_COUNT] = {
        [QUANTITY_NUMBER] = "0.75",      [QUANTITY_COUNT] = "108",
        [QUANTITY_BYTES] = "\"80 GiB\"", [QUANTITY_BANDWIDTH] = "\"2039 GB/s\"",
        [QUANTITY_TIME] = "\"4 us\"",    [QUANTITY_FLOPS_RATE] = "\"312 TFLOP/s\"",
        [QUANTITY_POWER] = "\"400 W\"",  [QUANTITY_FREQUENCY] = "\"1410 MHz\""};
    return examples[field->quantity];
}

static bool has_unit(QuantityKind quantity) { return quantity != QUANTITY_NUMBER && quantity != QUANTITY_COUNT; }

static bool parse_value(const Reading *reading, const PartField *field, const Json *value, double *number) {
    Problems *problems = reading->builder->problems;
    const char *why = NULL;
    bool is_bare = value->kind == JSON_NUMBER ||
                   (value->kind == JSON_TEXT && value->text[strspn(value->text, "0123456789.+-eE ")] == '\0');
    if (value->kind != JSON_NUMBER && value->kind != JSON_TEXT) {
        refuse(reading, field, value, "a value is a number or a text");
    } else if (has_unit(field->quantity) && is_bare) {
        refuse(reading, field, value, "the unit is missing");
    } else if (value->kind == JSON_NUMBER) {
        *number = value->number;
        if (field->type != PART_FIELD_INT || *number == floor(*number)) return true;
        refuse(reading, field, value, "this is a whole number of things");
    } else if (quantity_parse(value->text, field->quantity, number, &why)) {
        return true;
    } else {
        refuse(reading, field, value, why);
    }
    return problem_hint(problems, "write it as %s", example(field));
}

static bool in_limits(const Reading *reading, const PartField *field, const Json *value, double number) {
    if (number >= field->least && number <= field->most) return true;
    char least[40], most[40];
    refuse(reading, field, value,
           number < 0    ? "this cannot be negative"
           : number == 0 ? "this cannot be zero"
                         : "this cannot be meant");
    return problem_hint(reading->builder->problems, "between %s and %s; leave out what is not known",
                        quantity_format(field->least, field->quantity, least, sizeof least),
                        quantity_format(field->most, field->quantity, most, sizeof most));
}

static const char *written(Arena *arena, const Json *value) {
    return value->kind == JSON_TEXT ? value->text : arena_printf(arena, "%.10g", value->number);
}

static void forget_fact(Reading *reading, const char *name) {
    for (int i = 0; i < reading->fact_count; i++) {
        if (strcmp(reading->facts[i].name, name) != 0) continue;
        memmove(&reading->facts[i], &reading->facts[i + 1], (size_t)(reading->fact_count - i - 1) * sizeof(Fact));
        reading->fact_count--;
        return;
    }
}

static void store_fact(Reading *reading, const PartField *field, const Json *value, Fact fact) {
    fact.name = field->key;
    fact.text = written(reading->builder->arena, value);
    fact.unit = field->unit;
    fact.where = value->where;
    forget_fact(reading, field->key);
    reading->facts[reading->fact_count++] = fact;
    char *place = reading->part + field->offset;
    if (field->type == PART_FIELD_INT) {
        int whole = (int)fact.value; // the field's limits fit
        memcpy(place, &whole, sizeof whole);
    } else {
        memcpy(place, &fact.value, sizeof fact.value);
    }
}

static void read_fact(Reading *reading, const PartField *field, const Json *member) {
    Problems *problems = reading->builder->problems;
    Fact fact = {.kind = reading->from_kind, .source = reading->from_source};
    const Json *value = member;
    if (member->kind == JSON_LIST) {
        if (member->count != 3 && member->count != 4) {
            refuse(reading, field, member, "expected value, kind, source and perhaps the relative uncertainty");
            problem_hint(problems, "such as [%s, \"datasheet\", \"where it is from\"]", example(field));
            return;
        }
        value = &member->items[0];
        if (!read_kind(reading->builder, &member->items[1], &fact.kind)) return;
        if (!read_source(reading->builder, &member->items[2], &fact.source)) return;
        if (member->count == 4) {
            const Json *sigma = &member->items[3];
            if (sigma->kind != JSON_NUMBER || !(sigma->number >= 0 && sigma->number <= 10)) {
                refuse(reading, field, sigma, "the uncertainty is a share of the value, such as 0.05");
                return;
            }
            fact.sigma = sigma->number;
        }
    } else if (!reading->has_from) {
        refuse(reading, field, member, "nothing says how this is known and where from");
        problem_hint(problems,
                     "write [%s, \"datasheet\", \"source\"], or give the part \"from\": [\"datasheet\", \"source\"]",
                     example(field));
        return;
    }
    if (parse_value(reading, field, value, &fact.value) && in_limits(reading, field, value, fact.value))
        store_fact(reading, field, value, fact);
}

// ---- Other fields.

static const char *const *read_texts(Builder *builder, const Json *value, int *count) {
    if (value->kind == JSON_TEXT) {
        const char **one = ARENA_ARRAY(builder->arena, const char *, 1);
        one[0] = value->text;
        *count = 1;
        return one;
    }
    bool all_texts = value->kind == JSON_LIST;
    for (int i = 0; i < value->count && all_texts; i++)
        all_texts = value->items[i].kind == JSON_TEXT && value->items[i].text[0];
    if (!all_texts) {
        problem_add(builder->problems, value->where, "\"%s\" is a name or a list of names", value->key);
        *count = 0;
        return NULL;
    }
    const char **texts = ARENA_ARRAY(builder->arena, const char *, value->count);
    for (int i = 0; i < value->count; i++) texts[i] = value->items[i].text;
    *count = value->count;
    return texts;
}

static void read_choice(Reading *reading, const PartField *field, const Json *member) {
    for (int i = 0; i < field->choice_count; i++) {
        if (member->kind != JSON_TEXT || strcmp(member->text, field->choices[i]) != 0) continue;
        *(int *)(reading->part + field->offset) = i;
        return;
    }
    refuse(reading, field, member, "expected one of a few names");
    problem_hint_names(reading->builder->problems, member->kind == JSON_TEXT ? member->text : "", field->choices,
                       field->choice_count);
}

static void forget_field(Reading *reading, const PartField *field) {
    size_t bytes = field->type == PART_FIELD_NUMBER                                    ? sizeof(double)
                   : field->type == PART_FIELD_TEXT || field->type == PART_FIELD_NAMES ? sizeof(char *)
                                                                                       : sizeof(int);
    memset(reading->part + field->offset, 0, bytes);
    if (field->type == PART_FIELD_NAMES) memset(reading->part + field->count_offset, 0, sizeof(int));
    forget_fact(reading, field->key);
}

static void read_field(Reading *reading, const PartField *field, const Json *member) {
    char *place = reading->part + field->offset;
    if (member->kind == JSON_NULL && !field->required) {
        forget_field(reading, field);
    } else if (field->type == PART_FIELD_TEXT) {
        if (member->kind == JSON_TEXT)
            *(const char **)place = member->text;
        else
            refuse(reading, field, member, "expected a text");
    } else if (field->type == PART_FIELD_NAMES) {
        *(const char *const **)place =
            read_texts(reading->builder, member, (int *)(reading->part + field->count_offset));
    } else if (field->type == PART_FIELD_BOOL) {
        if (member->kind == JSON_BOOL)
            *(bool *)place = member->boolean;
        else
            refuse(reading, field, member, "expected true or false");
    } else if (field->type == PART_FIELD_YEAR) {
        if (member->kind == JSON_NUMBER && member->number == floor(member->number) &&
            in_limits(reading, field, member, member->number))
            *(int *)place = (int)member->number;
        else if (member->kind != JSON_NUMBER || member->number != floor(member->number))
            refuse(reading, field, member, "expected a year such as 2024");
    } else if (field->type == PART_FIELD_CHOICE) {
        read_choice(reading, field, member);
    } else {
        read_fact(reading, field, member);
    }
}

// ---- Parts.

static void check_keys(const Builder *builder, PartKind kind, const Json *object) {
    const PartTable *table = &part_tables[kind];
    const char *keys[80] = {"name", "aliases", "like", "from"};
    int count = 4;
    CHECK(table->field_count + count <= 80);
    for (int i = 0; i < table->field_count; i++) keys[count++] = table->fields[i].key;
    json_known_keys(object, keys, count, builder->problems);
}

static void read_fields(Reading *reading, const Json *object) {
    const PartTable *table = &part_tables[reading->kind];
    for (int i = 0; i < table->field_count; i++) {
        const Json *member = json_get(object, table->fields[i].key);
        if (member) read_field(reading, &table->fields[i], member);
    }
}

static void check_required(const Reading *reading, const Json *object, const Json *defaults) {
    const PartTable *table = &part_tables[reading->kind];
    for (int i = 0; i < table->field_count; i++) {
        const char *key = table->fields[i].key;
        if (!table->fields[i].required || json_get(object, key) || (defaults && json_get(defaults, key))) continue;
        problem_add(reading->builder->problems, object->where, "%s \"%s\" lacks \"%s\"", table->said, reading->name,
                    key);
        problem_hint(reading->builder->problems, "state it, or start from a known part with \"like\": \"NAME\"");
    }
}

// A part with "like" starts as a copy; the file's fields then override it. Returns false if there is no such part.
static bool start_like(Reading *reading, const Json *like) {
    Builder *builder = reading->builder;
    const PartTable *table = &part_tables[reading->kind];
    if (like->kind != JSON_TEXT)
        return problem_add(builder->problems, like->where, "\"like\" is the name of a known %s", table->said);
    Catalogue catalogue = builder_catalogue(builder);
    const void *model = part_find(&catalogue, reading->kind, like->text);
    if (!model) {
        problem_add(builder->problems, like->where, "no %s above or built in is called \"%s\"", table->said,
                    like->text);
        hint_parts(builder->arena, &catalogue, reading->kind, like->text, builder->problems);
        return false;
    }
    memcpy(reading->part, model, table->bytes);
    const Fact *facts = part_facts(reading->kind, model, &reading->fact_count);
    if (reading->fact_count) memcpy(reading->facts, facts, (size_t)reading->fact_count * sizeof(Fact));
    // Replacing a part of the same name keeps its aliases; a new part has its own.
    if (!same_part_name(reading->name, part_name(model))) {
        *(const char *const **)(reading->part + table->aliases) = NULL;
        *(int *)(reading->part + table->alias_count) = 0;
    }
    return true;
}

static void finish_part(Reading *reading, const Json *object) {
    Catalogue catalogue = builder_catalogue(reading->builder);
    Problems *problems = reading->builder->problems;
    if (reading->kind == PART_GPU) gpu_finish((Gpu *)reading->part, object->where, problems);
    if (reading->kind == PART_FAULTS) faults_finish((const FaultRates *)reading->part, object->where, problems);
    if (reading->kind == PART_PRICE)
        offer_finish(reading->builder->arena, &catalogue, (Offer *)reading->part, object->where, problems);
    if (reading->kind == PART_CURRENCY)
        date_finish(((const Currency *)reading->part)->date, reading->kind, reading->name, object->where, problems);
    if (reading->kind == PART_GRID)
        date_finish(((const Grid *)reading->part)->date, reading->kind, reading->name, object->where, problems);
    if (reading->kind == PART_SITE)
        date_finish(((const Site *)reading->part)->date, reading->kind, reading->name, object->where, problems);
    if (reading->kind == PART_NODE)
        node_finish(reading->builder->arena, &catalogue, (NodeType *)reading->part, object->where, problems);
}

static void add_part(Builder *builder, PartKind kind, const char *part) {
    size_t bytes = part_tables[kind].bytes;
    int place = part_index_place(builder->index[kind], part_name(part));
    if (place < 0) place = builder->count[kind]++;
    memcpy(builder->parts[kind] + (size_t)place * bytes, part, bytes);
    part_index_note(builder->index[kind], part, place);
}

// `defaults` (or NULL) holds fields that the part itself lacks.
static void read_part(Builder *builder, PartKind kind, const Json *object, const Json *defaults) {
    const PartTable *table = &part_tables[kind];
    if (object->kind != JSON_OBJECT) {
        problem_add(builder->problems, object->where, "expected a %s: { \"name\": … }", table->said);
        return;
    }
    Reading reading = {.builder = builder,
                       .kind = kind,
                       .part = arena_alloc(builder->arena, table->bytes),
                       .facts = ARENA_ARRAY(builder->arena, Fact, table->field_count)};
    int problems_before = problems_added(builder->problems);
    reading.name = json_text(object, "name", builder->problems);
    if (problems_added(builder->problems) > problems_before) return;
    if (!reading.name[0] || strchr(reading.name, ':')) {
        problem_add(builder->problems, object->where, "\"%s\" is no name for a %s", reading.name, table->said);
        problem_hint(builder->problems, "names are not empty and have no ':' (it marks a MIG slice)");
        return;
    }
    check_keys(builder, kind, object);
    const Json *like = json_get(object, "like");
    if (like && !start_like(&reading, like)) return;
    *(const char **)reading.part = reading.name;
    if (!like && defaults) read_fields(&reading, defaults);
    read_from(&reading, object);
    const Json *aliases = json_get(object, "aliases");
    if (aliases)
        *(const char *const **)(reading.part + table->aliases) =
            read_texts(builder, aliases, (int *)(reading.part + table->alias_count));
    if (!like) check_required(&reading, object, defaults);
    read_fields(&reading, object);
    *(const Fact **)(reading.part + table->facts) = reading.facts;
    *(int *)(reading.part + table->fact_count) = reading.fact_count;
    if (problems_added(builder->problems) == problems_before) finish_part(&reading, object);
    add_part(builder, kind, reading.part);
}

// The files from which write_catalogue.c makes the program's tables, and tests know these to be right.
EMBED(lockstep_gpus_json, "models/hardware/catalogue/gpus.json");
EMBED(lockstep_nodes_json, "models/hardware/catalogue/nodes.json");
EMBED(lockstep_links_json, "models/hardware/catalogue/links.json");
EMBED(lockstep_storages_json, "models/hardware/catalogue/storages.json");
EMBED(lockstep_faults_json, "models/hardware/catalogue/faults.json");
EMBED(lockstep_prices_json, "models/hardware/catalogue/prices.json");
EMBED(lockstep_sites_json, "models/hardware/catalogue/sites.json");

static const struct {
    const char *path, *text, *end;
} builtin_files[] = {
    {"models/hardware/catalogue/gpus.json", lockstep_gpus_json, lockstep_gpus_json_end},
    {"models/hardware/catalogue/nodes.json", lockstep_nodes_json, lockstep_nodes_json_end},
    {"models/hardware/catalogue/links.json", lockstep_links_json, lockstep_links_json_end},
    {"models/hardware/catalogue/storages.json", lockstep_storages_json, lockstep_storages_json_end},
    {"models/hardware/catalogue/faults.json", lockstep_faults_json, lockstep_faults_json_end},
    {"models/hardware/catalogue/prices.json", lockstep_prices_json, lockstep_prices_json_end},
    {"models/hardware/catalogue/sites.json", lockstep_sites_json, lockstep_sites_json_end},
};

#define FORMAT_NAME "lockstep-hardware"
#define FORMAT_VERSION 1

static void check_format(const Builder *builder, const Json *file) {
    const char *format = json_text(file, "format", builder->problems);
    double version = json_number(file, "format_version", builder->problems);
    if (strcmp(format, FORMAT_NAME) != 0) {
        problem_add(builder->problems, file->where, "this is not a file of hardware parts");
        problem_hint(builder->problems, "it starts with \"format\": \"%s\", \"format_version\": %d", FORMAT_NAME,
                     FORMAT_VERSION);
    } else if (version != FORMAT_VERSION) {
        problem_add(builder->problems, file->where, "format_version is %g; this program reads %d", version,
                    FORMAT_VERSION);
    }
}

static void check_twice_in_file(const Builder *builder, PartKind kind, const Json *list) {
    NameIndex *names = name_index_create(builder->arena, part_name_order);
    for (int i = 0; i < list->count; i++) {
        const Json *name = json_get(&list->items[i], "name");
        if (!name || name->kind != JSON_TEXT || name_index_add(names, name->text, i) < 0) continue;
        problem_add(builder->problems, name->where, "two %s are called \"%s\"", part_tables[kind].section, name->text);
    }
}

static void read_file(Builder *builder, const Json *file) {
    static const char *const keys[] = {"format",  "format_version", "sources", "gpu_defaults", "gpus",       "nodes",
                                       "fabrics", "storages",       "faults",  "prices",       "currencies", "grids",
                                       "sites",   "kind",           "program", "command",      "parts"};
    enum { PRINTED = 4, KEYS = sizeof keys / sizeof *keys }; // the last ones: printed by `lockstep hw show --json`
    if (file->kind != JSON_OBJECT) {
        problem_add(builder->problems, file->where, "expected an object with parts: { \"gpus\": [ … ] }");
        return;
    }
    check_format(builder, file);
    bool printed = json_get(file, "program") != NULL; // its "parts" are the same in SI units
    json_known_keys(file, keys, printed ? KEYS : KEYS - PRINTED, builder->problems);
    builder->sources = json_get(file, "sources");
    const Json *defaults = json_get(file, "gpu_defaults");
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        const Json *list = json_get(file, part_tables[kind].section);
        if (!list) continue;
        if (list->kind != JSON_LIST) {
            problem_add(builder->problems, list->where, "\"%s\" is a list of parts", part_tables[kind].section);
            continue;
        }
        check_twice_in_file(builder, (PartKind)kind, list);
        for (int i = 0; i < list->count; i++)
            read_part(builder, (PartKind)kind, &list->items[i], kind == PART_GPU ? defaults : NULL);
    }
}

// Room for the parts of a catalogue and all that a file could add to it.
static Builder begin(Arena *arena, const Catalogue *base, const Json *file, Problems *problems) {
    Builder builder = {.arena = arena, .problems = problems, .indexes = part_indexes_create(arena)};
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        const Json *list = file->kind == JSON_OBJECT ? json_get(file, part_tables[kind].section) : NULL;
        const void *parts = base ? catalogue_parts(base, (PartKind)kind, &builder.count[kind]) : NULL;
        size_t bytes = part_tables[kind].bytes;
        int added = list && list->kind == JSON_LIST ? list->count : 0;
        builder.parts[kind] = arena_array(arena, (size_t)builder.count[kind] + (size_t)added, bytes);
        if (builder.count[kind]) memcpy(builder.parts[kind], parts, (size_t)builder.count[kind] * bytes);
        builder.index[kind] = part_index_of(arena, (PartKind)kind, parts, builder.count[kind]);
        builder.indexes->of[kind] = builder.index[kind];
    }
    return builder;
}

static const Catalogue *with_json(Arena *arena, const Catalogue *base, const Json *file, Problems *problems) {
    Builder builder = begin(arena, base, file, problems);
    read_file(&builder, file);
    if (problem_count(problems) > 0) return NULL;
    Catalogue *catalogue = ARENA_NEW(arena, Catalogue);
    *catalogue = builder_catalogue(&builder);
    return catalogue;
}

const Catalogue *catalogue_from_files(Arena *arena) {
    Problems *problems = problems_create(arena);
    const Catalogue *catalogue = NULL;
    for (size_t i = 0; i < sizeof builtin_files / sizeof *builtin_files; i++) {
        size_t bytes = (size_t)(builtin_files[i].end - builtin_files[i].text);
        const Json *file = json_read_text(arena, builtin_files[i].path, builtin_files[i].text, bytes, problems);
        catalogue = file ? with_json(arena, catalogue, file, problems) : NULL;
        if (!catalogue) problems_print(problems, stderr);
        CHECK(catalogue);
    }
    return catalogue;
}

const Catalogue *catalogue_with_file(Arena *arena, const Catalogue *base, const char *path, Problems *problems) {
    Problems *own = problems_create(arena); // problems that were there before are not this file's
    const Json *file = json_read_file(arena, path, own);
    const Catalogue *catalogue = file ? with_json(arena, base, file, own) : NULL;
    for (int i = 0; i < problem_count(own); i++) {
        const Problem *problem = problem_at(own, i);
        problem_add(problems, problem->where, "%s", problem->text);
        if (problem->hint) problem_hint(problems, "%s", problem->hint);
    }
    return catalogue;
}
