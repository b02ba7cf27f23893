// The built-in catalogue: tables that write_catalogue.c generates from the JSON files.
#include "models/hardware/parts.h"

const Catalogue *catalogue_builtin(Arena *arena) {
    facts_lie_in(&catalogue_facts);
    Catalogue *catalogue = ARENA_NEW(arena, Catalogue);
    *catalogue = catalogue_tables;
    catalogue->indexes = part_indexes_create(arena);
    return catalogue;
}

const Catalogue *catalogue_with_profile(Arena *arena, const char *path, Problems *problems) {
    const Catalogue *builtin = catalogue_builtin(arena);
    return path ? catalogue_with_file(arena, builtin, path, problems) : builtin;
}
