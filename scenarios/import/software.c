#include "scenarios/import/software.h"

#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/base/check.h"
#include "sim/base/embed.h"

// In the order in which they are read: named values stand above the rows that name them.
// clang-format off
#define FILES(ROW) \
    ROW(any) ROW(software) ROW(megatron) ROW(nemo) ROW(deepspeed) ROW(huggingface) ROW(tuning) ROW(lightning) \
    ROW(torchtitan) ROW(mosaic) ROW(olmo) ROW(maxtext) ROW(nano) ROW(others) ROW(vision) ROW(own)
// clang-format on
#define EMBED_FILE(name_) EMBED(software_##name_, "scenarios/import/software/" #name_ ".options");
FILES(EMBED_FILE)
#define FILE_ROW(name_) {#name_ ".options", software_##name_},
static const ImportFile files[] = {FILES(FILE_ROW)};

const ImportTables *import_tables(void) {
    static const ImportTables *tables; // of the program, not of an import: for as long as it runs
    if (!tables) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        tables = import_tables_of(arena, files, sizeof files / sizeof *files, problems);
        problems_print(problems, stderr);
        CHECK(problem_count(problems) == 0);
    }
    return tables;
}

const ImportSoftware *import_software_called(const char *title) {
    const ImportTables *all = import_tables();
    for (int s = 0; s < all->software_count; s++)
        if (strcmp(all->software[s].title, title) == 0) return &all->software[s];
    return NULL;
}

const ImportOption *import_option(const ImportSoftware *software, const char *name) {
    const ImportOption *best = NULL;
    size_t most = 0;
    for (int t = 0; software->tables[t]; t++)
        for (const ImportOption *row = software->tables[t]; row->spelling; row++) {
            size_t length = spelling_length(row->spelling, name);
            if (length > most) most = length, best = row;
        }
    return best;
}

bool import_takes(const ImportSoftware *software, const char *to) {
    for (int t = 0; software->tables[t]; t++)
        for (const ImportOption *row = software->tables[t]; row->spelling; row++)
            if (row->effect == TAKEN && strcmp(row->to, to) == 0) return true;
    return false;
}

const char *import_colon(const char *value, size_t length) {
    const char *colon = value + length;
    while (colon > value && *colon != ':') colon--;
    return colon;
}

// ---- The other way.

static const char *first_spelling(Arena *arena, const char *spelling) {
    return arena_printf(arena, "%.*s", (int)strcspn(spelling, "|"), spelling);
}

// What `how` makes the value of; NULL: nothing.
static const char *said_for(Arena *arena, const char *how, const char *value) {
    if (!how || (strlen(how) > 4 && strcmp(how + strlen(how) - 4, ",*:*") == 0)) return value;
    for (const char *at = how; *at;) {
        size_t length = strcspn(at, ",");
        const char *colon = import_colon(at, length);
        if (strlen(value) == length - (size_t)(colon - at) - 1 && strncmp(colon + 1, value, strlen(value)) == 0) {
            const char *said = arena_printf(arena, "%.*s", (int)(colon - at), at);
            return strcmp(said, "yes") == 0 ? "true" : strcmp(said, "no") == 0 ? "false" : said;
        }
        at += length + (at[length] == ',');
    }
    return NULL;
}

const char *import_say_as(Arena *arena, const ImportSoftware *software, const char *name, const char *value) {
    const ImportOption *row = import_option(software, name);
    return row && row->effect == TAKEN ? said_for(arena, row->how, value) : NULL;
}

ImportSpelling import_spell(Arena *arena, const ImportOption *table, const char *to, const char *value,
                            const char *avoid) {
    for (const ImportOption *row = table; row->spelling; row++) {
        if (row->effect != TAKEN || strcmp(row->to, to) != 0) continue;
        const char *name = first_spelling(arena, row->spelling), *said = said_for(arena, row->how, value);
        if (said && !strstr(avoid, name)) return (ImportSpelling){name, said};
    }
    return (ImportSpelling){NULL, NULL};
}
