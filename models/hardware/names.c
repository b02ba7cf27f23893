// Names of precisions and parts, and finding a part by what people call it.
#include <ctype.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/check.h"

typedef struct PrecisionRow {
    const char *name;
    int bytes; // of one stored element
} PrecisionRow;

static const PrecisionRow precisions[PRECISION_COUNT] = {
    [FP64] = {"fp64", 8}, [FP32] = {"fp32", 4}, [TF32] = {"tf32", 4}, [FP16] = {"fp16", 2},
    [BF16] = {"bf16", 2}, [FP8] = {"fp8", 1},   [FP4] = {"fp4", 1},   [INT8] = {"int8", 1},
};

static const struct {
    const char *alias;
    Precision precision;
} precision_aliases[] = {
    {"float64", FP64}, {"double", FP64}, {"float32", FP32}, {"float", FP32},    {"single", FP32}, {"float16", FP16},
    {"half", FP16},    {"amp", FP16},    {"mixed", FP16},   {"bfloat16", BF16}, {"float8", FP8},  {"float4", FP4},
};

const char *precision_name(Precision precision) { return precisions[precision].name; }

int precision_bytes(Precision precision) { return precisions[precision].bytes; }

bool precision_from_name(const char *name, Precision *precision) {
    for (int i = 0; i < PRECISION_COUNT; i++) {
        if (strcasecmp(name, precisions[i].name) != 0) continue;
        *precision = (Precision)i;
        return true;
    }
    for (size_t i = 0; i < sizeof precision_aliases / sizeof *precision_aliases; i++) {
        if (strcasecmp(name, precision_aliases[i].alias) != 0) continue;
        *precision = precision_aliases[i].precision;
        return true;
    }
    return false;
}

static const char *const fact_kind_names[FACT_KIND_COUNT] = {
    [FACT_MEASURED] = "measured", [FACT_FITTED] = "fitted", [FACT_DATASHEET] = "datasheet", [FACT_ASSUMED] = "assumed"};

const char *fact_kind_name(FactKind kind) { return fact_kind_names[kind]; }

const Fact *fact_find(const Fact *facts, int fact_count, const char *name) {
    for (int i = 0; i < fact_count; i++)
        if (strcmp(facts[i].name, name) == 0) return &facts[i];
    return NULL;
}

// ---- Parts.

// Tools print "NVIDIA H100 80GB HBM3" and "Tesla T4": the words in front do not tell parts apart.
static const char *skip_vendor(const char *name) {
    static const char *const words[] = {"nvidia", "amd", "tesla", "quadro", "geforce", "instinct"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (tolower((unsigned char)*name) != words[i][0]) continue; // most: each name of the catalogue meets all others
        size_t length = strlen(words[i]);
        if (strncasecmp(name, words[i], length) != 0 || !strchr(" _-", name[length]) || !name[length]) continue;
        return skip_vendor(name + length + 1);
    }
    return name;
}

static int next_letter(const char **name) {
    while (**name == '-' || **name == '_' || **name == ' ') (*name)++;
    return **name ? tolower((unsigned char)*(*name)++) : 0;
}

bool same_part_name(const char *a, const char *b) {
    a = skip_vendor(a), b = skip_vendor(b);
    for (;;) {
        int x = next_letter(&a), y = next_letter(&b);
        if (x != y) return false;
        if (x == 0) return true;
    }
}

// Names win over aliases, and what was added later over what was there.
const void *part_find(PartKind kind, const void *parts, int count, const char *name) {
    for (int i = count - 1; i >= 0; i--)
        if (same_part_name(name, part_name(part_at(kind, parts, i)))) return part_at(kind, parts, i);
    for (int i = count - 1; i >= 0; i--) {
        int alias_count;
        const char *const *aliases = part_aliases(kind, part_at(kind, parts, i), &alias_count);
        for (int j = 0; j < alias_count; j++)
            if (same_part_name(name, aliases[j])) return part_at(kind, parts, i);
    }
    return NULL;
}

static const void *catalogue_part(const Catalogue *catalogue, PartKind kind, const char *name) {
    int count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
    return part_find(kind, parts, count, name);
}

const Gpu *catalogue_gpu(const Catalogue *catalogue, const char *name) {
    return catalogue_part(catalogue, PART_GPU, name);
}
const NodeType *catalogue_node(const Catalogue *catalogue, const char *name) {
    return catalogue_part(catalogue, PART_NODE, name);
}
const FabricLink *catalogue_link(const Catalogue *catalogue, const char *name) {
    return catalogue_part(catalogue, PART_FABRIC, name);
}
const StorageType *catalogue_storage(const Catalogue *catalogue, const char *name) {
    return catalogue_part(catalogue, PART_STORAGE, name);
}
const FaultRates *catalogue_faults(const Catalogue *catalogue, const char *name) {
    return catalogue_part(catalogue, PART_FAULTS, name);
}

void hint_parts(Arena *arena, PartKind kind, const void *parts, int count, const char *given, Problems *problems) {
    int room = 0, all = 0;
    if (!problem_takes_hints(problems)) return;
    for (int i = 0; i < count; i++) {
        int alias_count;
        part_aliases(kind, part_at(kind, parts, i), &alias_count);
        room += 1 + alias_count;
    }
    const char **names = ARENA_ARRAY(arena, const char *, room);
    for (int i = 0; i < count; i++) names[all++] = part_name(part_at(kind, parts, i));
    for (int i = 0; i < count; i++) {
        int alias_count;
        const char *const *aliases = part_aliases(kind, part_at(kind, parts, i), &alias_count);
        for (int j = 0; j < alias_count; j++) names[all++] = aliases[j];
    }
    const char *near = nearest_name(given, names, all);
    if (near)
        problem_hint(problems, "did you mean \"%s\"?", near);
    else
        problem_hint(problems, "see: lockstep hw list %s", part_tables[kind].word);
}

const void *find_part(Arena *arena, const Catalogue *catalogue, PartKind kind, const char *name, Where where,
                      Problems *problems) {
    int count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
    const void *part = part_find(kind, parts, count, name);
    if (part) return part;
    problem_add(problems, where, "no %s is called \"%s\"", part_tables[kind].said, name);
    hint_parts(arena, kind, parts, count, name, problems);
    return NULL;
}

const Gpu *find_gpu(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    const char *colon = strchr(name, ':');
    if (!colon || catalogue_gpu(catalogue, name)) return find_part(arena, catalogue, PART_GPU, name, where, problems);
    const char *whole_name = arena_printf(arena, "%.*s", (int)(colon - name), name);
    const Gpu *whole = find_part(arena, catalogue, PART_GPU, whole_name, where, problems);
    return whole ? gpu_mig_slice(arena, whole, colon + 1, where, problems) : NULL;
}

const NodeType *find_node(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    return find_part(arena, catalogue, PART_NODE, name, where, problems);
}

const FabricLink *find_link(Arena *arena, const Catalogue *catalogue, const char *name, Where where,
                            Problems *problems) {
    return find_part(arena, catalogue, PART_FABRIC, name, where, problems);
}

const StorageType *find_storage(Arena *arena, const Catalogue *catalogue, const char *name, Where where,
                                Problems *problems) {
    return find_part(arena, catalogue, PART_STORAGE, name, where, problems);
}

const FaultRates *find_faults(Arena *arena, const Catalogue *catalogue, const char *name, Where where,
                              Problems *problems) {
    return find_part(arena, catalogue, PART_FAULTS, name, where, problems);
}

const Gpu *node_gpu(const Catalogue *catalogue, const NodeType *node, int index) {
    CHECK(index >= 0 && index < node->gpu_count);
    const Gpu *gpu = catalogue_gpu(catalogue, node->gpu_names[node->gpu_name_count == 1 ? 0 : index]);
    CHECK(gpu);
    return gpu;
}
