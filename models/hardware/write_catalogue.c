// Build tool that writes the catalogue as C tables, so that its files need not be parsed at each start. A part is a
// sequence of pointer-sized words in this machine's layout; parts.h tells pointers from numbers, and the targets of
// pointers are written before the part. Its facts are a separate table (TabledFact).
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/check.h"
#include "sim/base/list.h"

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

// ---- Facts: of all parts in one table, their texts each once in one text.

typedef struct Texts {
    Arena *arena;
    NameIndex *index;
    int bytes;
} Texts;

static int place_of(Texts *texts, const char *text) {
    int place = name_index_add(texts->index, text, texts->bytes);
    if (place >= 0) return place;
    printf("    ");
    write_text(text);
    printf(" \"\\000\"\n");
    place = texts->bytes;
    texts->bytes += (int)strlen(text) + 1;
    return place;
}

typedef LIST_OF(TabledFact) TabledFacts;

static void table_facts(Texts *texts, TabledFacts *tabled, const Fact *facts, int count) {
    for (int i = 0; i < count; i++) {
        const Fact *fact = &facts[i];
        LIST_PUSH(texts->arena, tabled,
                  ((TabledFact){.value = fact->value,
                                .sigma = fact->sigma,
                                .name = place_of(texts, fact->name),
                                .text = place_of(texts, fact->text),
                                .unit = place_of(texts, fact->unit),
                                .source = place_of(texts, fact->source),
                                .file = place_of(texts, fact->where.file),
                                .line = fact->where.line,
                                .kind = (int32_t)fact->kind}));
    }
}

static void write_facts(Arena *arena, const Catalogue *catalogue) {
    Texts texts = {arena, name_index_create(arena, strcmp), 0};
    TabledFacts tabled = {0};
    printf("static const char texts[] =\n");
    for (PartKind kind = 0; kind < PART_KIND_COUNT; kind++) {
        int parts, count;
        const void *list = catalogue_parts(catalogue, kind, &parts);
        for (int i = 0; i < parts; i++) {
            const Fact *facts = part_facts(kind, part_at(kind, list, i), &count);
            table_facts(&texts, &tabled, facts, count);
        }
    }
    printf("    ;\nstatic const TabledFact tabled[] = {\n");
    for (int i = 0; i < tabled.count; i++) {
        const TabledFact *fact = &tabled.items[i];
        printf("    {%a, %a, %d, %d, %d, %d, %d, %d, %d},\n", fact->value, fact->sigma, fact->name, fact->text,
               fact->unit, fact->source, fact->file, fact->line, fact->kind);
    }
    printf("};\nstatic Fact facts[%d];\nconst FactTable catalogue_facts = {tabled, texts, facts};\n", tabled.count);
}

// ---- Parts.

static bool is_field(const PartTable *table, size_t at, FieldType type) {
    for (int f = 0; f < table->field_count; f++)
        if (table->fields[f].offset == at && table->fields[f].type == type) return true;
    return false;
}

static void write_word(PartKind kind, const char *part, int number, size_t at, int first_fact) {
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
        printf("{.pointer = &facts[%d]}, ", first_fact);
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
}

// Returns how many facts were written before those of the next kind.
static int write_parts(const Catalogue *catalogue, PartKind kind, int facts_before) {
    int count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
    size_t bytes = part_tables[kind].bytes;
    CHECK(bytes % sizeof(uintptr_t) == 0);
    for (int i = 0; i < count; i++) write_part(kind, part_at(kind, parts, i), i);
    printf("static const _Alignas(uint64_t) Word parts_%d[] = {\n", kind);
    for (int i = 0; i < count; i++) {
        const char *part = part_at(kind, parts, i);
        int facts;
        part_facts(kind, part, &facts);
        for (size_t at = 0; at < bytes; at += sizeof(uintptr_t)) write_word(kind, part, i, at, facts_before);
        facts_before += facts;
        printf("\n");
    }
    printf("};\n");
    return facts_before;
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
    write_facts(arena, catalogue);
    int facts = 0;
    for (PartKind kind = 0; kind < PART_KIND_COUNT; kind++) facts = write_parts(catalogue, kind, facts);
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
