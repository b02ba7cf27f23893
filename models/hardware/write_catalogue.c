// Writes the catalogue as C tables, when lockstep is built: its files need not be read at each start. A part is words
// of a pointer's size, as the machine that this runs on has them, of which parts.h says which are pointers; what these
// point to is written before it.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/check.h"

static void write_text(const char *text) {
    if (!text) {
        printf("NULL");
        return;
    }
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at >= ' ' && *at < 127 && !strchr("\\\"?", *at))
            putchar(*at);
        else
            printf("\\%03o", *at);
    putchar('"');
}

static void write_texts(const char *name, PartKind kind, int part, size_t at, const char *const *texts, int count) {
    if (!texts) return;
    printf("static const char *const %s_%d_%d_%zu[] = {", name, kind, part, at);
    for (int i = 0; i < count; i++) {
        write_text(texts[i]);
        printf(", ");
    }
    printf("NULL};\n");
}

static void write_facts(PartKind kind, int part, const Fact *facts, int count) {
    if (count == 0) return;
    printf("static const Fact facts_%d_%d[] = {\n", kind, part);
    for (int i = 0; i < count; i++) {
        const Fact *fact = &facts[i];
        const char *texts[] = {fact->name, fact->text, fact->unit, fact->source, fact->where.file};
        static const char *const before[] = {
            "    {.name = ", ", .text = ", ", .unit = ", ", .source = ", ", .where = {"};
        for (int t = 0; t < 5; t++) {
            printf("%s", before[t]);
            write_text(texts[t]);
        }
        printf(", %d}, .value = %a, .kind = %d, .sigma = %a},\n", fact->where.line, fact->value, fact->kind,
               fact->sigma);
    }
    printf("};\n");
}

static bool is_field(const PartTable *table, size_t at, FieldType type) {
    for (int f = 0; f < table->field_count; f++)
        if (table->fields[f].offset == at && table->fields[f].type == type) return true;
    return false;
}

static void write_word(PartKind kind, const char *part, int number, size_t at) {
    const PartTable *table = &part_tables[kind];
    uintptr_t bits;
    const void *pointer;
    memcpy(&bits, part + at, sizeof bits);
    memcpy(&pointer, part + at, sizeof pointer);
    if (at == 0 || is_field(table, at, PART_FIELD_TEXT)) {
        printf("{.pointer = ");
        write_text(pointer);
        printf("}, ");
    } else if (pointer && (at == table->aliases || is_field(table, at, PART_FIELD_NAMES))) {
        printf("{.pointer = names_%d_%d_%zu}, ", kind, number, at);
    } else if (pointer && at == table->facts) {
        printf("{.pointer = facts_%d_%d}, ", kind, number);
    } else {
        printf("{0x%llx}, ", (unsigned long long)bits);
    }
}

static void write_part(PartKind kind, const char *part, int number) {
    const PartTable *table = &part_tables[kind];
    for (int f = 0; f < table->field_count; f++) {
        const PartField *field = &table->fields[f];
        if (field->type != PART_FIELD_NAMES) continue;
        const char *const *texts = *(const char *const *const *)(const void *)(part + field->offset);
        write_texts("names", kind, number, field->offset, texts,
                    *(const int *)(const void *)(part + field->count_offset));
    }
    int count;
    const char *const *aliases = part_aliases(kind, part, &count);
    write_texts("names", kind, number, table->aliases, aliases, count);
    const Fact *facts = part_facts(kind, part, &count);
    write_facts(kind, number, facts, count);
}

static void write_parts(const Catalogue *catalogue, PartKind kind) {
    int count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
    size_t bytes = part_tables[kind].bytes;
    CHECK(bytes % sizeof(uintptr_t) == 0);
    for (int i = 0; i < count; i++) write_part(kind, part_at(kind, parts, i), i);
    printf("static const _Alignas(uint64_t) Word parts_%d[] = {\n", kind);
    for (int i = 0; i < count; i++) {
        for (size_t at = 0; at < bytes; at += sizeof(uintptr_t)) write_word(kind, part_at(kind, parts, i), i, at);
        printf("\n");
    }
    printf("};\n");
}

int main(void) {
    static const struct {
        PartKind kind;
        const char *list, *count;
    } members[PART_KIND_COUNT] = {
        {PART_GPU, "gpus", "gpu_count"},         {PART_NODE, "nodes", "node_count"},
        {PART_FABRIC, "links", "link_count"},    {PART_STORAGE, "storages", "storage_count"},
        {PART_FAULTS, "faults", "faults_count"}, {PART_CURRENCY, "currencies", "currency_count"},
        {PART_PRICE, "offers", "offer_count"},   {PART_GRID, "grids", "grid_count"},
        {PART_SITE, "sites", "site_count"}};
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_from_files(arena);
    printf("// Made of models/hardware/catalogue by models/hardware/write_catalogue.c.\n"
           "#include \"models/hardware/parts.h\"\n\n"
           "typedef union Word {\n    uintptr_t bits;\n    const void *pointer;\n} Word;\n\n");
    for (int m = 0; m < PART_KIND_COUNT; m++) write_parts(catalogue, members[m].kind);
    printf("const Catalogue catalogue_tables = {\n");
    for (int m = 0; m < PART_KIND_COUNT; m++) {
        int count;
        catalogue_parts(catalogue, members[m].kind, &count);
        printf("    .%s = (const void *)parts_%d, .%s = %d,\n", members[m].list, members[m].kind, members[m].count,
               count);
    }
    printf("};\n");
    arena_close(arena);
    return 0;
}
