// The catalogue: JSON files of parts. The program has its own built in; users may add more in the same format.
#include <string.h>

#include "models/hardware/read_part.h"
#include "sim/base/check.h"
#include "sim/base/embed.h"

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
