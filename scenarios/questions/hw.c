#include <string.h>

#include "models/hardware/kernel.h"
#include "models/hardware/parts.h"
#include "results/answer/frame.h"
#include "sim/base/text.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define MOST_ROWS 12 // of facts and their sources on the first screen

static const OptionSpec specs[] = {
    {.name = "profile",
     .kind = OPTION_TEXT,
     .metavar = "FILE.json",
     .help = "add the parts of this file, or put them in place of the built-in ones"},
};

static const char usage[] =
    "lockstep hw list [gpu|node|fabric|storage|faults|price|currency|grid|site]  |  hw show NAME  |  "
    "hw check FILE.json  |  hw fields [KIND]";
static const char about[] =
    "The catalogue of GPUs, nodes, networks, storage, fault rates and prices. Every number says how it is known "
    "(measured, fitted, datasheet, assumed)\n"
    "and from where. \"check\" reads a file of your own parts and says what is wrong with it; \"fields\" lists what "
    "such a file may "
    "say\n(docs/parts.md). What \"show\" and \"list\" print with --json is such a file.";

// What the sub-commands share.
typedef struct Hw {
    Arena *arena;
    Problems *problems;
    Answer *answer;
    const Catalogue *catalogue;
    bool for_programs; // JSON, CSV or plain text; the terminal shows lists alone
} Hw;

static AnswerValue words(const char *text) { return answer_of_text(text); }
static AnswerValue some(AnswerUnit unit, double value) { return answer_shown(unit, value, value > 0 ? NULL : "-"); }

// ---- One line per part, with the main numbers for choosing.

static void fill_gpu(const Hw *hw, const void *part) {
    const Gpu *gpu = part;
    Precision precision = gpu->peak_flops[BF16] > 0 ? BF16 : gpu->peak_flops[FP16] > 0 ? FP16 : FP32;
    ANSWER_ROW(hw->answer, words(gpu->name), answer_of(AS_WHOLE, gpu->year), words(gpu->architecture),
               answer_of(AS_COUNT, gpu->sm_count), some(AS_BYTES, gpu->memory_bytes),
               some(AS_BANDWIDTH, gpu->memory_bytes_per_second), some(AS_FLOPS_RATE, gpu_peak(gpu, precision)),
               words(precision_name(precision)), some(AS_BANDWIDTH, gpu->nvlink_bytes_per_second),
               some(AS_WATTS, gpu->power_watts));
}

static void fill_node(const Hw *hw, const void *part) {
    static const char *const link_names[] = {"PCIe", "bridges", "mesh", "cube mesh", "switch"};
    const NodeType *node = part;
    ANSWER_ROW(hw->answer, words(node->name),
               words(arena_printf(hw->arena, "%d x %s", node->gpu_count, node->gpu_names[0])),
               words(link_names[node->gpu_links]), answer_of(AS_COUNT, node->nic_count),
               some(AS_BANDWIDTH, node->nic_bytes_per_second), some(AS_MONEY, node->price_usd));
}

static void fill_fabric(const Hw *hw, const void *part) {
    static const char *const transport_names[] = {"InfiniBand", "RoCE", "EFA", "Slingshot", "TCP", "GPUDirect"};
    const FabricLink *link = part;
    ANSWER_ROW(hw->answer, words(link->name), words(transport_names[link->transport]),
               some(AS_BANDWIDTH, link->line_bytes_per_second), answer_of(AS_PERCENT, link->efficiency),
               some(AS_SECONDS, link->latency_seconds), words(link->title));
}

static void fill_storage(const Hw *hw, const void *part) {
    const StorageType *storage = part;
    ANSWER_ROW(hw->answer, words(storage->name), words(storage->shared ? "shared" : "per node"),
               some(AS_BANDWIDTH, storage->read_bytes_per_second), some(AS_BANDWIDTH, storage->write_bytes_per_second),
               some(AS_SECONDS, storage->latency_seconds), words(storage->title));
}

static void fill_faults(const Hw *hw, const void *part) {
    const FaultRates *rates = part;
    ANSWER_ROW(hw->answer, words(rates->name),
               answer_of(AS_NUMBER, 1000 * 86400 * fault_node_rate(rates, rates->gpus_per_node, rates->gpus_per_node)),
               words(rates->title));
}

static void fill_price(const Hw *hw, const void *part) {
    const Offer *offer = part;
    ANSWER_ROW(hw->answer, words(offer->name), words(offer->provider), words(terms_names[offer->terms]),
               answer_of(AS_NUMBER, offer_gpu_hour(offer)), words(offer->currency), words(offer->date),
               words(offer->gpu ? offer->gpu : offer->nodes[0]));
}

static void fill_currency(const Hw *hw, const void *part) {
    const Currency *currency = part;
    ANSWER_ROW(hw->answer, words(currency->name),
               answer_shown(AS_NUMBER, currency->per_usd, text_figures(hw->arena, currency->per_usd, 6)),
               words(currency->date), words(currency->title));
}

static void fill_grid(const Hw *hw, const void *part) {
    const Grid *grid = part;
    ANSWER_ROW(hw->answer, words(grid->name), answer_of(AS_COUNT, grid->carbon_grams_per_kwh), words(grid->date),
               words(grid->title));
}

static void fill_site(const Hw *hw, const void *part) {
    const Site *site = part;
    ANSWER_ROW(hw->answer, words(site->name), answer_of(AS_NUMBER, site->power_usage_effectiveness),
               some(AS_NUMBER, site->electricity_usd_per_kwh), some(AS_COUNT, site->colocation_usd_per_kw_month),
               some(AS_COUNT, site->building_usd_per_kw), some(AS_WATTS, site->rack_watts), words(site->title));
}

enum { MOST_COLUMNS = 10 };
// clang-format off
static const struct {
    AnswerColumn columns[MOST_COLUMNS];
    void (*fill)(const Hw *hw, const void *part);
} lists[PART_KIND_COUNT] = {
    [PART_GPU] = {{{NULL, "GPU", AS_TEXT, 0}, {NULL, "year", AS_WHOLE, 3}, {NULL, "arch", AS_TEXT, 4},
        {NULL, "SMs", AS_COUNT, 5}, {NULL, "memory", AS_BYTES, 0}, {NULL, "bandwidth", AS_BANDWIDTH, 0},
        {NULL, "dense peak", AS_FLOPS_RATE, 0}, {NULL, "type", AS_TEXT, 0}, {NULL, "NVLink", AS_BANDWIDTH, 1},
        {NULL, "power", AS_WATTS, 2}}, fill_gpu},
    [PART_NODE] = {{{NULL, "node", AS_TEXT, 0}, {NULL, "GPUs", AS_TEXT, 0}, {NULL, "links", AS_TEXT, 1},
        {NULL, "NICs", AS_COUNT, 0}, {NULL, "of", AS_BANDWIDTH, 0}, {NULL, "to buy", AS_MONEY, 2}}, fill_node},
    [PART_FABRIC] = {{{NULL, "fabric", AS_TEXT, 0}, {NULL, "transport", AS_TEXT, 2},
        {NULL, "line rate", AS_BANDWIDTH, 0}, {NULL, "attainable", AS_PERCENT, 1}, {NULL, "latency", AS_SECONDS, 0},
        {NULL, "what", AS_TEXT, 0}}, fill_fabric},
    [PART_STORAGE] = {{{NULL, "storage", AS_TEXT, 0}, {NULL, "where", AS_TEXT, 1}, {NULL, "read", AS_BANDWIDTH, 0},
        {NULL, "write", AS_BANDWIDTH, 0}, {NULL, "latency", AS_SECONDS, 2},
        {NULL, "what", AS_TEXT, 0}}, fill_storage},
    [PART_FAULTS] = {{{NULL, "faults", AS_TEXT, 0}, {NULL, "stops/1,000 node-days", AS_NUMBER, 0},
        {NULL, "what", AS_TEXT, 0}}, fill_faults},
    [PART_PRICE] = {{{NULL, "price", AS_TEXT, 0}, {NULL, "provider", AS_TEXT, 2}, {NULL, "terms", AS_TEXT, 0},
        {NULL, "per GPU-hour", AS_NUMBER, 0}, {NULL, "", AS_TEXT, 0}, {NULL, "date", AS_TEXT, 1},
        {NULL, "of", AS_TEXT, 0}}, fill_price},
    [PART_CURRENCY] = {{{NULL, "currency", AS_TEXT, 0}, {NULL, "for one USD", AS_NUMBER, 0},
        {NULL, "date", AS_TEXT, 0}, {NULL, "what", AS_TEXT, 0}}, fill_currency},
    [PART_GRID] = {{{NULL, "grid", AS_TEXT, 0}, {NULL, "g CO2e/kWh", AS_COUNT, 0}, {NULL, "year", AS_TEXT, 0},
        {NULL, "where", AS_TEXT, 0}}, fill_grid},
    [PART_SITE] = {{{NULL, "site", AS_TEXT, 0}, {NULL, "PUE", AS_NUMBER, 0}, {NULL, "USD/kWh", AS_NUMBER, 0},
        {NULL, "USD/kW-month", AS_COUNT, 0}, {NULL, "building USD/kW", AS_COUNT, 0}, {NULL, "rack", AS_WATTS, 0},
        {NULL, "what", AS_TEXT, BELOW_ROW}}, fill_site},
};
// clang-format on

typedef struct Shown {
    const void *const *items;
    int count;
} Shown;

static void add_list(const Hw *hw, PartKind kind, const Shown *shown) {
    int columns = 0;
    while (columns < MOST_COLUMNS && lists[kind].columns[columns].title) columns++;
    answer_table(hw->answer, NULL, NULL, lists[kind].columns, columns);
    for (int i = 0; i < shown->count; i++) lists[kind].fill(hw, shown->items[i]);
}

// ---- Every fact of a part.

// The text as written, with the unit where the text has none.
static const char *fact_text(const Hw *hw, const Fact *fact) {
    bool is_bare = fact->text[strspn(fact->text, "0123456789.+-eE")] == '\0';
    const char *text = is_bare && fact->unit[0] ? arena_printf(hw->arena, "%s %s", fact->text, fact->unit) : fact->text;
    return fact->sigma > 0 ? arena_printf(hw->arena, "%s ± %.1f %%", text, 100 * fact->sigma) : text;
}

static const char *join(const Hw *hw, const char *const *texts, int count) {
    const char *joined = "";
    for (int i = 0; i < count; i++) joined = arena_printf(hw->arena, "%s%s%s", joined, i ? ", " : "", texts[i]);
    return joined;
}

// Fields without a source of their own: descriptive ones, not quantities.
static const char *plain_text(const Hw *hw, const PartField *field, const char *part) {
    const char *place = part + field->offset;
    switch (field->type) {
    case PART_FIELD_TEXT:
        return *(const char *const *)place;
    case PART_FIELD_NAMES:
        return join(hw, *(const char *const *const *)place, *(const int *)(part + field->count_offset));
    case PART_FIELD_BOOL:
        return *(const bool *)place ? "yes" : "no";
    case PART_FIELD_YEAR:
        return arena_printf(hw->arena, "%d", *(const int *)place);
    case PART_FIELD_CHOICE:
        return field->choices[*(const int *)place];
    case PART_FIELD_INT:
    case PART_FIELD_NUMBER:
        break;
    }
    return NULL;
}

// Sources as numbers of the notes below the table: most facts of a part share a few.
typedef struct Notes {
    const char **items;
    int count;
} Notes;

static int note_number(Notes *notes, const char *source) {
    for (int i = 0; i < notes->count; i++)
        if (strcmp(notes->items[i], source) == 0) return i + 1;
    notes->items[notes->count++] = source;
    return notes->count;
}

static int count_sources(const Hw *hw, const Fact *facts, int count) {
    Notes notes = {ARENA_ARRAY(hw->arena, const char *, count + 1), 0};
    for (int i = 0; i < count; i++) note_number(&notes, facts[i].source);
    return notes.count;
}

// What a prediction rests on: rates of this GPU, or of its relatives.
static void add_measured_types(const Hw *hw, const Fact *facts, int count) {
    const char *types[PRECISION_COUNT];
    int type_count = 0;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        const char *type = precision_name((Precision)p);
        const Fact *fact = fact_find(facts, count, arena_printf(hw->arena, "gemm_efficiency_%s", type));
        bool is_own = fact && (fact->kind == FACT_FITTED || fact->kind == FACT_MEASURED);
        if (is_own) types[type_count++] = type;
    }
    if (type_count > 0)
        answer_say(hw->answer, NULL,
                   "Matrix rates of this GPU's own are those of %s; others are from where their notes say.",
                   join(hw, types, type_count));
    else
        answer_say(hw->answer, NULL, "No matrix rate was measured on this GPU: all are from where their notes say.");
}

// "60 numbers: 2 measured, 58 fitted."
static void add_lead(const Hw *hw, PartKind kind, const void *part, const Fact *facts, int count) {
    int aliases;
    const char *known = "";
    const char *const *names = part_aliases(kind, part, &aliases);
    for (int k = 0; k < FACT_KIND_COUNT; k++) {
        int of = 0;
        for (int i = 0; i < count; i++) of += facts[i].kind == (FactKind)k;
        if (of)
            known = arena_printf(hw->arena, "%s%s %d %s", known, *known ? "," : "", of, fact_kind_name((FactKind)k));
    }
    answer_say(hw->answer, NULL, "%d number%s:%s.", count, count == 1 ? "" : "s", known);
    if (aliases) answer_say(hw->answer, "Also called", "%s", join(hw, names, aliases));
}

static void add_fact(const Hw *hw, const Fact *fact, Notes *notes) {
    ANSWER_ROW(hw->answer, words(fact->name), answer_shown(AS_NUMBER, fact->value, fact_text(hw, fact)),
               words(fact->unit), words(fact->text), words(fact_kind_name(fact->kind)),
               words(arena_printf(hw->arena, "[%d]", note_number(notes, fact->source))), words(fact->source),
               answer_of(fact->sigma > 0 ? AS_NUMBER : AS_NOTHING, fact->sigma));
}

// In the order of the table of fields. What the part is, rather than how much, has no source of its own.
static void add_part(const Hw *hw, PartKind kind, const void *part, AnswerDetail detail) {
    static const AnswerColumn columns[] = {{"name", "number", AS_TEXT, 0}, {"value", "", AS_TEXT, 0},
                                           {"unit", NULL, AS_TEXT, 0},     {"text", NULL, AS_TEXT, 0},
                                           {"kind", "known", AS_TEXT, 0},  {NULL, "from", AS_TEXT, 0},
                                           {"source", NULL, AS_TEXT, 0},   {"relative_sigma", NULL, AS_NUMBER, 0}};
    Answer *answer = hw->answer;
    const PartTable *table = &part_tables[kind];
    int alias_count, fact_count;
    const char *const *aliases = part_aliases(kind, part, &alias_count);
    const Fact *facts = part_facts(kind, part, &fact_count);
    Notes notes = {ARENA_ARRAY(hw->arena, const char *, fact_count + 1), 0};
    answer_open(answer, NULL, arena_printf(hw->arena, "%s %s", table->said, part_name(part)));
    answer_text(answer, "part", NULL, table->word);
    answer_text(answer, "name", NULL, part_name(part));
    bool is_long = fact_count + count_sources(hw, facts, fact_count) > MOST_ROWS;
    if (detail == FOR_ALL) add_lead(hw, kind, part, facts, fact_count);
    if (detail == FOR_ALL && is_long) add_list(hw, kind, &(Shown){&part, 1});
    if (detail == FOR_ALL && kind == PART_GPU) add_measured_types(hw, facts, fact_count);
    answer_detail(answer, detail == FOR_ALL && is_long ? FOR_VERBOSE : detail);
    answer_open(answer, NULL, NULL);
    answer_open_list(answer, "aliases", NULL);
    for (int i = 0; i < alias_count; i++) answer_text(answer, NULL, NULL, aliases[i]);
    answer_close(answer);
    for (int i = 0; i < table->field_count; i++) {
        const char *plain = plain_text(hw, &table->fields[i], part);
        if (plain) answer_text(answer, table->fields[i].key, *plain ? table->fields[i].key : NULL, plain);
    }
    answer_close(answer);
    answer_table(answer, "facts", NULL, columns, COUNT_OF(columns));
    for (int i = 0; i < table->field_count; i++) {
        const Fact *fact = fact_find(facts, fact_count, table->fields[i].key);
        if (fact) add_fact(hw, fact, &notes);
    }
    for (int i = 0; i < notes.count; i++)
        answer_say(answer, arena_printf(hw->arena, "[%d]", i + 1), "%s", notes.items[i]);
    answer_close(answer);
}

// ---- As a file of parts, which `hw check` and --profile read.

static void file_fact(Answer *answer, const Fact *fact) {
    bool is_bare = fact->text[strspn(fact->text, "0123456789.+-eE")] == '\0';
    answer_open_list(answer, fact->name, NULL);
    answer_fact(answer, NULL, NULL, is_bare ? answer_of(AS_NUMBER, fact->value) : answer_of_text(fact->text));
    answer_text(answer, NULL, NULL, fact_kind_name(fact->kind));
    answer_text(answer, NULL, NULL, fact->source);
    if (fact->sigma > 0) answer_number(answer, NULL, NULL, AS_NUMBER, fact->sigma);
    answer_close(answer);
}

static void file_names(Answer *answer, const char *key, const char *const *names, int count) {
    if (count == 0) return;
    answer_open_list(answer, key, NULL);
    for (int i = 0; i < count; i++) answer_text(answer, NULL, NULL, names[i]);
    answer_close(answer);
}

static void file_field(Answer *answer, const PartField *field, const char *part, const Fact *fact) {
    const char *place = part + field->offset;
    const char *text;
    switch (field->type) {
    case PART_FIELD_TEXT:
        text = *(const char *const *)place;
        if (text && text[0]) answer_text(answer, field->key, NULL, text);
        break;
    case PART_FIELD_NAMES:
        file_names(answer, field->key, *(const char *const *const *)place, *(const int *)(part + field->count_offset));
        break;
    case PART_FIELD_BOOL:
        answer_bool(answer, field->key, NULL, *(const bool *)place);
        break;
    case PART_FIELD_YEAR:
        answer_number(answer, field->key, NULL, AS_WHOLE, *(const int *)place);
        break;
    case PART_FIELD_CHOICE:
        answer_text(answer, field->key, NULL, field->choices[*(const int *)place]);
        break;
    case PART_FIELD_INT:
    case PART_FIELD_NUMBER:
        if (fact) file_fact(answer, fact);
        break;
    }
}

static void file_part(Answer *answer, PartKind kind, const void *part) {
    int alias_count, fact_count;
    const char *const *aliases = part_aliases(kind, part, &alias_count);
    const Fact *facts = part_facts(kind, part, &fact_count);
    answer_open(answer, NULL, NULL);
    answer_text(answer, "name", NULL, part_name(part));
    file_names(answer, "aliases", aliases, alias_count);
    for (int i = 0; i < part_tables[kind].field_count; i++) {
        const PartField *field = &part_tables[kind].fields[i];
        file_field(answer, field, part, fact_find(facts, fact_count, field->key));
    }
    answer_close(answer);
}

static void add_files(const Hw *hw, const Shown shown[PART_KIND_COUNT]) {
    answer_open(hw->answer, NULL, NULL);
    answer_detail(hw->answer, FOR_PROGRAMS);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        // A slice of a GPU is no part of its own: it comes with the GPU.
        if (shown[kind].count == 0 || strchr(part_name(shown[kind].items[0]), ':')) continue;
        answer_open_list(hw->answer, part_tables[kind].section, NULL);
        for (int i = 0; i < shown[kind].count; i++) file_part(hw->answer, (PartKind)kind, shown[kind].items[i]);
        answer_close(hw->answer);
    }
    answer_close(hw->answer);
}

static void add_parts(const Hw *hw, const char *kind_of_answer, AnswerDetail detail,
                      const Shown shown[PART_KIND_COUNT]) {
    answer_rename(hw->answer, kind_of_answer);
    answer_format(hw->answer, "lockstep-hardware");
    if (detail == FOR_PROGRAMS && !hw->for_programs) return; // thousands of facts
    answer_open_list(hw->answer, "parts", NULL);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++)
        for (int i = 0; i < shown[kind].count; i++) add_part(hw, (PartKind)kind, shown[kind].items[i], detail);
    answer_close(hw->answer);
    if (hw->for_programs) add_files(hw, shown);
}

// ---- show, list, check

// Everything of that name: a GPU and the cloud instance named after it may share it.
typedef struct Found {
    const void *parts[PART_KIND_COUNT];
    int count;
} Found;

static Found find_everywhere(const Hw *hw, const char *name) {
    Found found = {0};
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        found.parts[kind] = part_find(hw->catalogue, (PartKind)kind, name);
        if (kind == PART_GPU && !found.parts[kind] && strchr(name, ':'))
            found.parts[kind] = find_gpu(hw->arena, hw->catalogue, name, (Where){0}, hw->problems);
        found.count += found.parts[kind] != NULL;
    }
    return found;
}

static void refuse_name(const Hw *hw, const char *name) {
    const char *nearest[PART_KIND_COUNT];
    int near_count = 0;
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        int count, all = 0;
        const void *parts = catalogue_parts(hw->catalogue, (PartKind)kind, &count);
        const char **names = ARENA_ARRAY(hw->arena, const char *, 16 * count + 1);
        for (int i = 0; i < count; i++) {
            int alias_count;
            const char *const *aliases = part_aliases((PartKind)kind, part_at((PartKind)kind, parts, i), &alias_count);
            names[all++] = part_name(part_at((PartKind)kind, parts, i));
            for (int j = 0; j < alias_count && j < 15; j++) names[all++] = aliases[j];
        }
        const char *near = nearest_name(name, names, all);
        if (near) nearest[near_count++] = near;
    }
    problem_add(hw->problems, (Where){0}, "no GPU, node, fabric, storage, set of fault rates or price is called \"%s\"",
                name);
    if (!problem_hint_near(hw->problems, name, nearest, near_count))
        problem_hint(hw->problems, "see: lockstep hw list");
}

static int show(const Hw *hw, const char *name) {
    Found found = find_everywhere(hw, name);
    if (found.count == 0) {
        if (problem_count(hw->problems) == 0) refuse_name(hw, name);
        return EXIT_BAD_INPUT;
    }
    Shown shown[PART_KIND_COUNT] = {{0}};
    for (int kind = 0; kind < PART_KIND_COUNT; kind++)
        if (found.parts[kind]) shown[kind] = (Shown){&found.parts[kind], 1};
    add_parts(hw, "hw-show", FOR_ALL, shown);
    return EXIT_DONE;
}

// The kinds that a word of the user's names, all without one. False after a problem.
static bool kinds_called(const Hw *hw, const char *word, int *first, int *last) {
    const char *words[PART_KIND_COUNT];
    *first = 0;
    *last = PART_KIND_COUNT - 1;
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        words[kind] = part_tables[kind].word;
        if (word && (strcmp(word, words[kind]) == 0 || strcmp(word, part_tables[kind].section) == 0))
            *first = *last = kind;
    }
    if (word && (strcmp(word, "offer") == 0 || strcmp(word, "offers") == 0)) *first = *last = PART_PRICE;
    if (!word || *first == *last) return true;
    problem_add(hw->problems, (Where){0}, "there is no list of \"%s\"", word);
    problem_hint_names(hw->problems, word, words, PART_KIND_COUNT);
    return false;
}

static int list(const Hw *hw, const char *word) {
    int first, last;
    if (!kinds_called(hw, word, &first, &last)) return EXIT_USAGE;
    Shown shown[PART_KIND_COUNT] = {{0}};
    for (int kind = first; kind <= last; kind++) {
        int count;
        const void *parts = catalogue_parts(hw->catalogue, (PartKind)kind, &count);
        const void **items = ARENA_ARRAY(hw->arena, const void *, count + 1);
        for (int i = 0; i < count; i++) items[i] = part_at((PartKind)kind, parts, i);
        shown[kind] = (Shown){items, count};
        add_list(hw, (PartKind)kind, &shown[kind]);
    }
    add_parts(hw, "hw-list", FOR_PROGRAMS, shown);
    return EXIT_DONE;
}

static int check(const Hw *hw, const char *path) {
    const Catalogue *catalogue = catalogue_with_file(hw->arena, hw->catalogue, path, hw->problems);
    if (!catalogue) return EXIT_BAD_INPUT;
    answer_rename(hw->answer, "hw-check");
    answer_say(hw->answer, NULL, "%s: sound; with it the catalogue has", path);
    answer_text(hw->answer, "file", NULL, path);
    answer_bool(hw->answer, "sound", NULL, true);
    answer_open(hw->answer, "parts", NULL);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        int count;
        catalogue_parts(catalogue, (PartKind)kind, &count);
        answer_number(hw->answer, part_tables[kind].section, part_tables[kind].section, AS_COUNT, count);
    }
    answer_close(hw->answer);
    return EXIT_DONE;
}

// ---- fields: the fields of each kind in a file of parts.

static const char *field_values(const Hw *hw, const PartField *field) {
    char least[40], most[40];
    switch (field->type) {
    case PART_FIELD_TEXT:
        return "a text";
    case PART_FIELD_NAMES:
        return "a name, or a list of names";
    case PART_FIELD_BOOL:
        return "true or false";
    case PART_FIELD_CHOICE:
        return join(hw, field->choices, field->choice_count);
    case PART_FIELD_YEAR:
        return arena_printf(hw->arena, "a year, %.0f to %.0f", field->least, field->most);
    case PART_FIELD_INT:
    case PART_FIELD_NUMBER:
        break;
    }
    return arena_printf(hw->arena, "%s to %s", quantity_format(field->least, field->quantity, least, sizeof least),
                        quantity_format(field->most, field->quantity, most, sizeof most));
}

static bool is_fact(const PartField *field) {
    return field->type == PART_FIELD_INT || field->type == PART_FIELD_NUMBER;
}

static int fields(const Hw *hw, const char *word) {
    static const AnswerColumn columns[] = {{"section", NULL, AS_TEXT, 0}, {"field", "field", AS_TEXT, 0},
                                           {"required", "", AS_BOOL, 0},  {"fact", "", AS_BOOL, 0},
                                           {"may_be", NULL, AS_TEXT, 0},  {"unit", NULL, AS_TEXT, 0},
                                           {NULL, "may be", AS_TEXT, 0}};
    int first, last;
    if (!kinds_called(hw, word, &first, &last)) return EXIT_USAGE;
    answer_rename(hw->answer, "hw-fields");
    answer_table(hw->answer, "fields", NULL, columns, COUNT_OF(columns));
    for (int kind = first; kind <= last; kind++)
        for (int i = 0; i < part_tables[kind].field_count; i++) {
            const PartField *field = &part_tables[kind].fields[i];
            bool fact = is_fact(field);
            const char *values = field_values(hw, field);
            ANSWER_ROW(
                hw->answer, words(part_tables[kind].section), words(field->key),
                answer_shown(AS_BOOL, field->required, field->required ? "required" : ""),
                answer_shown(AS_BOOL, fact, fact ? "fact" : ""), words(values), words(fact ? field->unit : NULL),
                words(fact && field->unit[0] ? arena_printf(hw->arena, "%s; in SI: %s", values, field->unit) : values));
        }
    return EXIT_DONE;
}

// ---- The question.

static int ask(Asking *asking) {
    static const char *const verbs[] = {"list", "show", "check", "fields"};
    enum { LIST, SHOW, CHECK, FIELDS, VERBS };
    Hw hw = {asking->arena, asking->problems, asking->answer, NULL, frame_form(asking) != ANSWER_SCREEN};
    int count = option_positional_count(asking->options), verb = LIST;
    const char *what = count > 0 ? option_positional(asking->options, 0) : "list";
    const char *name = count > 1 ? option_positional(asking->options, 1) : NULL;
    while (verb < VERBS && strcmp(what, verbs[verb]) != 0) verb++;
    if (verb == VERBS) {
        problem_add(hw.problems, (Where){0}, "hw has no command \"%s\"", what);
        problem_hint_names(hw.problems, what, verbs, VERBS);
        return EXIT_USAGE;
    }
    if ((verb == SHOW || verb == CHECK) && (!name || !*name)) {
        problem_add(hw.problems, (Where){0}, verb == SHOW ? "hw show needs a name" : "hw check needs a file");
        problem_hint(hw.problems, "usage: %s", usage);
        return EXIT_USAGE;
    }
    if (verb == FIELDS) return fields(&hw, name);
    hw.catalogue = catalogue_with_profile(hw.arena, option_text(asking->options, "profile", NULL), hw.problems);
    if (!hw.catalogue) return EXIT_BAD_INPUT;
    return verb == LIST ? list(&hw, name) : verb == SHOW ? show(&hw, name) : check(&hw, name);
}

static const Question question_hw = {.name = "hw",
                                     .usage = usage,
                                     .about = about,
                                     .own = specs,
                                     .own_count = COUNT_OF(specs),
                                     .positional = 2,
                                     .ask = ask};

int command_hw(int argc, char **argv);
int command_hw(int argc, char **argv) { return frame_run(&question_hw, argc, argv); }
