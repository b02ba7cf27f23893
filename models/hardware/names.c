// Names of generations, precisions and parts, and the search for a part by its common names.
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/hardware/parts.h"
#include "sim/base/check.h"
#include "sim/base/list.h"

// ---- The table of GPU generations.

static const struct {
    const char *name;
    int year;
} rows[ARCHITECTURE_COUNT] = {
    [ARCHITECTURE_OTHER] = {"", 0},    [KEPLER] = {"Kepler", 2012}, [MAXWELL] = {"Maxwell", 2014},
    [PASCAL] = {"Pascal", 2016},       [VOLTA] = {"Volta", 2017},   [TURING] = {"Turing", 2018},
    [AMPERE] = {"Ampere", 2020},       [ADA] = {"Ada", 2022},       [HOPPER] = {"Hopper", 2022},
    [BLACKWELL] = {"Blackwell", 2024},
};

Architecture architecture_called(const char *name) {
    for (int i = 1; name && i < ARCHITECTURE_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0) return (Architecture)i;
    return ARCHITECTURE_OTHER;
}

int architecture_year(Architecture architecture) { return rows[architecture].year; }

// ---- Names of precisions and parts, and the search for a part by its common names.

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

double operand_bytes(Precision precision, bool micro_scaled) {
    return precision == FP4 ? 0.5 + 1.0 / (micro_scaled ? 32 : 16) : precision_bytes(precision);
}

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

static const FactTable *table; // of the program's catalogue

void facts_lie_in(const FactTable *one) { table = one; }

const Fact *facts_of(const Fact *facts, int fact_count) {
    if (fact_count == 0 || facts->name) return facts;
    size_t first = (size_t)(facts - table->facts);
    for (size_t i = first; i < first + (size_t)fact_count; i++) {
        const TabledFact *tabled = &table->tabled[i];
        table->facts[i] = (Fact){.name = table->texts + tabled->name,
                                 .text = table->texts + tabled->text,
                                 .value = tabled->value,
                                 .unit = table->texts + tabled->unit,
                                 .source = table->texts + tabled->source,
                                 .kind = (FactKind)tabled->kind,
                                 .sigma = tabled->sigma,
                                 .where = {table->texts + tabled->file, tabled->line}};
    }
    return facts;
}

const Fact *fact_find(const Fact *facts, int fact_count, const char *name) {
    facts = facts_of(facts, fact_count);
    for (int i = 0; i < fact_count; i++)
        if (strcmp(facts[i].name, name) == 0) return &facts[i];
    return NULL;
}

// ---- Parts.

// Tools print "NVIDIA H100 80GB HBM3" and "Tesla T4": vendor and brand do not distinguish parts.
static size_t vendor_length(const char *name) {
    static const char *const words[] = {"nvidia", "amd", "tesla", "quadro", "geforce", "instinct"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (tolower((unsigned char)*name) != words[i][0]) continue;
        size_t length = strlen(words[i]);
        if (strncasecmp(name, words[i], length) == 0 && name[length] && strchr(" _-", name[length])) return length + 1;
    }
    return 0;
}

static const char *skip_vendor(const char *name) {
    for (size_t length; (length = vendor_length(name)) > 0;) name += length;
    return name;
}

static int next_letter(const char **name) {
    while (**name == '-' || **name == '_' || **name == ' ') (*name)++;
    return **name ? tolower((unsigned char)*(*name)++) : 0;
}

int part_name_order(const char *a, const char *b) {
    a = skip_vendor(a), b = skip_vendor(b);
    for (;;) {
        int x = next_letter(&a), y = next_letter(&b);
        if (x != y || x == 0) return x - y;
    }
}

bool same_part_name(const char *a, const char *b) { return part_name_order(a, b) == 0; }

// ---- GPUs by chip, form and memory, in any order and spelling: "V100 32GB PCIe", "RTX3090 24G", "A100-SXM-40G".

typedef struct GpuWords {
    char chip[64]; // the rest without form and memory, lower case without blanks
    const char *form;
    double gigabytes; // 0: unspecified
} GpuWords;

static bool is_blank(char letter) { return letter == ' ' || letter == '-' || letter == '_'; }

// "80GB", "24G": a word of its own, or the number before a word "GB".
static size_t memory_length(const char *at, double *gigabytes) {
    char *end;
    if (!isdigit((unsigned char)*at)) return 0;
    double number = strtod(at, &end);
    if (*end == ' ') end++;
    static const char *const units[] = {"gib", "gb", "g"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i]);
        if (strncasecmp(end, units[i], length) != 0 || (end[length] && !is_blank(end[length]))) continue;
        *gigabytes = number;
        return (size_t)(end - at) + length;
    }
    return 0;
}

static size_t form_length(const char *at, const char **form) {
    static const char *const forms[] = {"sxm", "pcie", "nvl"}, *const memories[] = {"hbm", "gddr"};
    size_t length = strcspn(at, " -_");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strncasecmp(at, forms[i], strlen(forms[i])) != 0) continue;
        *form = forms[i];
        return length;
    }
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (strncasecmp(at, memories[i], strlen(memories[i])) == 0) return length;
    return 0;
}

static GpuWords gpu_words(const char *name) {
    GpuWords words = {.form = ""};
    size_t used = 0;
    bool starts = true; // a word
    for (const char *at = skip_vendor(name); *at && used + 1 < sizeof words.chip;) {
        size_t skipped = starts ? memory_length(at, &words.gigabytes) : 0;
        if (starts && !skipped && used > 0) skipped = form_length(at, &words.form);
        if (skipped || is_blank(*at)) {
            at += skipped ? skipped : 1;
            starts = true;
            continue;
        }
        words.chip[used++] = (char)tolower((unsigned char)*at++);
        starts = false;
    }
    return words;
}

// Memory is sold in units of 10^9 or 2^30 bytes, and some of it is kept back.
#define MEMORY_TOLERANCE 0.12

static bool answers(const Gpu *gpu, const char *called, const GpuWords *asked) {
    GpuWords words = gpu_words(called);
    double gigabytes = gpu->memory_bytes / 1e9;
    if (strcmp(words.chip, asked->chip) != 0) return false;
    if (asked->gigabytes > 0 && fabs(asked->gigabytes / gigabytes - 1) > MEMORY_TOLERANCE) return false;
    return !*asked->form || strcmp(words.form, asked->form) == 0 || strcasestr(gpu->form, asked->form);
}

static bool has_such_name(const Gpu *gpu, const GpuWords *asked) {
    int alias_count;
    const char *const *aliases = part_aliases(PART_GPU, gpu, &alias_count);
    bool found = answers(gpu, gpu->name, asked);
    for (int j = 0; j < alias_count && !found; j++) found = answers(gpu, aliases[j], asked);
    return found;
}

// ---- All kinds. Parts are found by their places, which stay as they are where a part is put in place of another.

typedef struct Called {
    int place, version; // of the part that is called so
    int before;         // index of the previous part of that name, -1 none
    int last;           // the last place of all of these
} Called;

struct PartIndex {
    Arena *arena;
    PartKind kind;
    NameIndex *names;           // to places
    NameIndex *aliases, *chips; // to the newest in `called`; chips as GpuWords have them
    LIST_OF(Called) called;
    LIST_OF(int) versions; // how often another part was put in the place of one
};

PartIndex *part_index_create(Arena *arena, PartKind kind) {
    PartIndex *index = ARENA_NEW(arena, PartIndex);
    *index = (PartIndex){.arena = arena,
                         .kind = kind,
                         .names = name_index_create(arena, part_name_order),
                         .aliases = name_index_create(arena, part_name_order),
                         .chips = name_index_create(arena, strcmp)};
    return index;
}

static void note_called(PartIndex *index, NameIndex *names, const char *name, int place) {
    int before = name_index_find(names, name);
    int last = before < 0 ? -1 : index->called.items[before].last;
    Called called = {place, index->versions.items[place], before, place > last ? place : last};
    name_index_set(names, name, index->called.count);
    LIST_PUSH(index->arena, &index->called, called);
}

static void note_chip(PartIndex *index, const char *name, int place) {
    note_called(index, index->chips, arena_copy_text(index->arena, gpu_words(name).chip), place);
}

void part_index_note(PartIndex *index, const void *part, int place) {
    int alias_count;
    const char *const *aliases = part_aliases(index->kind, part, &alias_count);
    CHECK(place <= index->versions.count);
    if (place == index->versions.count)
        LIST_PUSH(index->arena, &index->versions, 0);
    else
        index->versions.items[place]++;
    name_index_set(index->names, part_name(part), place);
    for (int j = 0; j < alias_count; j++) note_called(index, index->aliases, aliases[j], place);
    if (index->kind != PART_GPU) return;
    note_chip(index, part_name(part), place);
    for (int j = 0; j < alias_count; j++) note_chip(index, aliases[j], place);
}

PartIndex *part_index_of(Arena *arena, PartKind kind, const void *parts, int count) {
    PartIndex *index = part_index_create(arena, kind);
    for (int i = 0; i < count; i++) part_index_note(index, part_at(kind, parts, i), i);
    return index;
}

PartIndexes *part_indexes_create(Arena *arena) {
    PartIndexes *indexes = ARENA_NEW(arena, PartIndexes);
    indexes->arena = arena;
    return indexes;
}

int part_index_place(const PartIndex *index, const char *name) { return name_index_find(index->names, name); }

static bool is_called_still(const PartIndex *index, const Called *called) {
    return index->versions.items[called->place] == called->version;
}

// The last of the catalogue's parts that have such an alias, -1: none.
static int place_by_alias(const PartIndex *index, const char *name) {
    int found = -1;
    for (int at = name_index_find(index->aliases, name); at >= 0; at = index->called.items[at].before) {
        const Called *called = &index->called.items[at];
        if (found >= called->last) break;
        if (is_called_still(index, called) && called->place > found) found = called->place;
    }
    return found;
}

// Only names with a form or a memory size after the chip; without a form modules come before cards. Returns the first
// match in the catalogue.
static int place_by_words(const PartIndex *index, const Gpu *gpus, const char *name) {
    GpuWords asked = gpu_words(name);
    int module = INT_MAX, card = INT_MAX;
    if (!asked.chip[0] || (!*asked.form && asked.gigabytes == 0)) return -1;
    for (int at = name_index_find(index->chips, asked.chip); at >= 0; at = index->called.items[at].before) {
        const Called *called = &index->called.items[at];
        const Gpu *gpu = &gpus[called->place];
        int *place = strcasestr(gpu->form, "sxm") ? &module : &card;
        if (called->place < *place && is_called_still(index, called) && has_such_name(gpu, &asked))
            *place = called->place;
    }
    return module < INT_MAX ? module : card < INT_MAX ? card : -1;
}

// Names take precedence over aliases, and later parts over earlier ones.
int part_index_find(const PartIndex *index, const void *parts, const char *name) {
    int place = name_index_find(index->names, name);
    if (place < 0) place = place_by_alias(index, name);
    return place < 0 && index->kind == PART_GPU ? place_by_words(index, parts, name) : place;
}

const void *part_find(const Catalogue *catalogue, PartKind kind, const char *name) {
    int count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
    PartIndexes *indexes = catalogue->indexes;
    if (!indexes->of[kind]) indexes->of[kind] = part_index_of(indexes->arena, kind, parts, count);
    int place = part_index_find(indexes->of[kind], parts, name);
    CHECK(place < count);
    return place < 0 ? NULL : part_at(kind, parts, place);
}

const Gpu *catalogue_gpu(const Catalogue *catalogue, const char *name) { return part_find(catalogue, PART_GPU, name); }
const NodeType *catalogue_node(const Catalogue *catalogue, const char *name) {
    return part_find(catalogue, PART_NODE, name);
}
const FabricLink *catalogue_link(const Catalogue *catalogue, const char *name) {
    return part_find(catalogue, PART_FABRIC, name);
}
const StorageType *catalogue_storage(const Catalogue *catalogue, const char *name) {
    return part_find(catalogue, PART_STORAGE, name);
}
const FaultRates *catalogue_faults(const Catalogue *catalogue, const char *name) {
    return part_find(catalogue, PART_FAULTS, name);
}

void hint_parts(Arena *arena, const Catalogue *catalogue, PartKind kind, const char *given, Problems *problems) {
    int room = 0, all = 0, count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
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
    if (!problem_hint_near(problems, given, names, all))
        problem_hint(problems, "see: lockstep hw list %s", part_tables[kind].word);
}

const void *find_part(Arena *arena, const Catalogue *catalogue, PartKind kind, const char *name, Where where,
                      Problems *problems) {
    const void *part = part_find(catalogue, kind, name);
    if (part) return part;
    if (*name)
        problem_add(problems, where, "no %s is called \"%s\"", part_tables[kind].said, name);
    else
        problem_add(problems, where, "the name of a %s is empty", part_tables[kind].said);
    hint_parts(arena, catalogue, kind, name, problems);
    return NULL;
}

const Gpu *find_gpu(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    const char *colon = strchr(name, ':');
    if (!colon || catalogue_gpu(catalogue, name)) return find_part(arena, catalogue, PART_GPU, name, where, problems);
    const char *whole_name = arena_printf(arena, "%.*s", (int)(colon - name), name);
    const Gpu *whole = find_part(arena, catalogue, PART_GPU, whole_name, where, problems);
    return whole ? gpu_mig_slice(arena, whole, colon + 1, where, problems) : NULL;
}

#define NODES_LISTED 8

// "dgx-h100, hgx-h100-8, …": types of node with GPUs that such a word begins or names. NULL: none.
static const char *nodes_with(Arena *arena, const Catalogue *catalogue, const char *word) {
    const char *list = NULL;
    int count = 0;
    for (int i = 0; i < catalogue->node_count; i++) {
        const NodeType *node = &catalogue->nodes[i];
        const Gpu *gpu = node_gpu(catalogue, node, 0);
        size_t length = strlen(word);
        bool begins = strncasecmp(gpu->name, word, length) == 0 && !isalnum((unsigned char)gpu->name[length]);
        if (!begins && part_find(catalogue, PART_GPU, word) != gpu) continue;
        if (count++ < NODES_LISTED) list = list ? arena_printf(arena, "%s, %s", list, node->name) : node->name;
    }
    return count > NODES_LISTED ? arena_printf(arena, "%s, … (lockstep hw list node)", list) : list;
}

const NodeType *find_node(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    const NodeType *node = part_find(catalogue, PART_NODE, name);
    if (!node && node_is_in_words(name)) return node_in_words(arena, catalogue, name, where, problems);
    const char *list = node || !*name ? NULL : nodes_with(arena, catalogue, name);
    if (node || !list) return find_part(arena, catalogue, PART_NODE, name, where, problems);
    problem_add(problems, where, "\"%s\" is a GPU, and a node is the machine that holds it", name);
    problem_hint(problems, "nodes with such GPUs: %s", list);
    return NULL;
}

const NodeType *node_with_gpus(const Catalogue *catalogue, const Gpu *gpu, int count) {
    const NodeType *larger = NULL;
    for (int i = 0; i < catalogue->node_count; i++) {
        const NodeType *node = &catalogue->nodes[i];
        if (node->gpu_count < count || node_gpu(catalogue, node, 0) != gpu) continue;
        if (node->gpu_count == count) return node;
        if (!larger) larger = node;
    }
    return larger;
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
