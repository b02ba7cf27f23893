// lockstep hw list | show | check: what the program knows of hardware, and where it knows it from.
#include <stdio.h>
#include <string.h>

#include "models/hardware/command_hw.h"
#include "models/hardware/kernel.h"
#include "models/hardware/parts.h"
#include "sim/envelope.h"
#include "sim/json.h"
#include "sim/options.h"

#define EXIT_USAGE 2
#define EXIT_INPUT 4

static const OptionSpec specs[] = {
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of a table"},
    {.name = "profile",
     .kind = OPTION_TEXT,
     .metavar = "FILE.json",
     .help = "add the parts of this file, or put them in place of the built-in ones"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

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
    const Options *options;
    const Catalogue *catalogue;
} Hw;

// ---- list: one line per part, with the few numbers by which people choose.

static const char *amount(char out[40], double value, QuantityKind kind) {
    return value > 0 ? quantity_format(value, kind, out, 40) : "-";
}

static void list_gpu(const void *part) {
    const Gpu *gpu = part;
    char memory[40], bandwidth[40], peak[40], link[40], power[40];
    Precision precision = gpu->peak_flops[BF16] > 0 ? BF16 : gpu->peak_flops[FP16] > 0 ? FP16 : FP32;
    printf("%-26s %4d  %-10s %4d  %-9s %-10s %-13s %-5s %-10s %s\n", gpu->name, gpu->year, gpu->architecture,
           gpu->sm_count, amount(memory, gpu->memory_bytes, QUANTITY_BYTES),
           amount(bandwidth, gpu->memory_bytes_per_second, QUANTITY_BANDWIDTH),
           amount(peak, gpu_peak(gpu, precision), QUANTITY_FLOPS_RATE), precision_name(precision),
           amount(link, gpu->nvlink_bytes_per_second, QUANTITY_BANDWIDTH),
           amount(power, gpu->power_watts, QUANTITY_POWER));
}

static void list_node(const void *part) {
    static const char *const link_names[] = {"PCIe", "bridges", "mesh", "cube mesh", "switch"};
    const NodeType *node = part;
    char nic[40], price[40] = "-";
    if (node->price_usd > 0) snprintf(price, sizeof price, "%.0f USD", node->price_usd);
    printf("%-26s %2d x %-18s %-10s %2d x %-10s %s\n", node->name, node->gpu_count, node->gpu_names[0],
           link_names[node->gpu_links], node->nic_count, amount(nic, node->nic_bytes_per_second, QUANTITY_BANDWIDTH),
           price);
}

static void list_fabric(const void *part) {
    static const char *const transport_names[] = {"InfiniBand", "RoCE", "EFA", "Slingshot", "TCP", "GPUDirect"};
    const FabricLink *link = part;
    char rate[40], latency[40];
    printf("%-26s %-10s %-10s %3.0f %%       %-8s %s\n", link->name, transport_names[link->transport],
           amount(rate, link->line_bytes_per_second, QUANTITY_BANDWIDTH), 100 * link->efficiency,
           amount(latency, link->latency_seconds, QUANTITY_TIME), link->title);
}

static void list_storage(const void *part) {
    const StorageType *storage = part;
    char read[40], write[40], latency[40];
    printf("%-26s %-9s %-10s %-10s %-8s %s\n", storage->name, storage->shared ? "shared" : "per node",
           amount(read, storage->read_bytes_per_second, QUANTITY_BANDWIDTH),
           amount(write, storage->write_bytes_per_second, QUANTITY_BANDWIDTH),
           amount(latency, storage->latency_seconds, QUANTITY_TIME), storage->title);
}

static void list_faults(const void *part) {
    const FaultRates *rates = part;
    double per_day = 1000 * 86400 * fault_node_rate(rates, rates->gpus_per_node, rates->gpus_per_node);
    printf("%-26s %-23.2f %s\n", rates->name, per_day, rates->title);
}

static void list_price(const void *part) {
    const Offer *offer = part;
    const char *machine = offer->gpu ? offer->gpu : offer->nodes[0];
    printf("%-22s %-10s %-12s %8.3f %-4s %-8s %s\n", offer->name, offer->provider, terms_names[offer->terms],
           offer_gpu_hour(offer), offer->currency, offer->date, machine);
}

static void list_currency(const void *part) {
    const Currency *currency = part;
    printf("%-10s %12.6g   %-11s %s\n", currency->name, currency->per_usd, currency->date, currency->title);
}

static void list_grid(const void *part) {
    const Grid *grid = part;
    printf("%-18s %8.0f   %-5s %s\n", grid->name, grid->carbon_grams_per_kwh, grid->date, grid->title);
}

static void list_site(const void *part) {
    const Site *site = part;
    char power[40];
    printf("%-14s %5.2f %10.3f %14.0f %14.0f  %-8s %s\n", site->name, site->power_usage_effectiveness,
           site->electricity_usd_per_kwh, site->colocation_usd_per_kw_month, site->building_usd_per_kw,
           amount(power, site->rack_watts, QUANTITY_POWER), site->title);
}

static const struct {
    const char *header;
    void (*print)(const void *part);
} lists[PART_KIND_COUNT] = {
    [PART_GPU] =
        {"GPU                        year  arch        SMs  memory    bandwidth  dense peak    type  NVLink     power",
         list_gpu},
    [PART_NODE] = {"node                       GPUs                    links      NICs            to buy", list_node},
    [PART_FABRIC] = {"fabric                     transport  line rate  attainable  latency  what", list_fabric},
    [PART_STORAGE] = {"storage                    where     read       write      latency  what", list_storage},
    [PART_FAULTS] = {"faults                     stops/1,000 node-days   what", list_faults},
    [PART_PRICE] = {"price                  provider   terms        per GPU-hour   date     of", list_price},
    [PART_CURRENCY] = {"currency    for one USD   date        what", list_currency},
    [PART_GRID] = {"grid               g CO2e/kWh year  where", list_grid},
    [PART_SITE] = {"site             PUE  USD/kWh   USD/kW-month   building USD/kW  rack     what", list_site},
};

static void list_kind(const Hw *hw, PartKind kind) {
    int count;
    const void *parts = catalogue_parts(hw->catalogue, kind, &count);
    printf("%s\n", lists[kind].header);
    for (int i = 0; i < count; i++) lists[kind].print(part_at(kind, parts, i));
}

// ---- show: every fact of a part.

// The text as written, with the unit where the text has none.
static const char *fact_text(const Hw *hw, const Fact *fact) {
    bool is_bare = fact->text[strspn(fact->text, "0123456789.+-eE")] == '\0';
    const char *text = is_bare && fact->unit[0] ? arena_printf(hw->arena, "%s %s", fact->text, fact->unit) : fact->text;
    return fact->sigma > 0 ? arena_printf(hw->arena, "%s ± %.1f %%", text, 100 * fact->sigma) : text;
}

// printf pads bytes; "±" is two of them and one column wide.
static int padded(const char *text, int width) { return width + (strstr(text, "±") != NULL); }

static const char *join(const Hw *hw, const char *const *texts, int count) {
    const char *joined = "";
    for (int i = 0; i < count; i++) joined = arena_printf(hw->arena, "%s%s%s", joined, i ? ", " : "", texts[i]);
    return joined;
}

// Fields without a source of their own: what the part is, rather than how much.
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

// Sources as numbered notes below the table: most facts of a part share a few.
static int note_number(const char **notes, int *count, const char *source) {
    for (int i = 0; i < *count; i++)
        if (strcmp(notes[i], source) == 0) return i + 1;
    notes[(*count)++] = source;
    return *count;
}

// What a prediction rests on: rates of this GPU, or of its relatives.
static void show_measured_types(const Hw *hw, const Fact *facts, int count) {
    const char *types[PRECISION_COUNT];
    int type_count = 0;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        const char *type = precision_name((Precision)p);
        const Fact *fact = fact_find(facts, count, arena_printf(hw->arena, "gemm_efficiency_%s", type));
        bool is_own = fact && (fact->kind == FACT_FITTED || fact->kind == FACT_MEASURED);
        if (is_own) types[type_count++] = type;
    }
    if (type_count > 0)
        printf("  matrix rates of this GPU's own are those of %s; others are from where their notes say\n",
               join(hw, types, type_count));
    else
        printf("  no matrix rate was measured on this GPU: all are from where their notes say\n");
}

static void show_text(const Hw *hw, PartKind kind, const void *part) {
    int alias_count, fact_count, note_count = 0;
    const char *const *aliases = part_aliases(kind, part, &alias_count);
    const Fact *facts = part_facts(kind, part, &fact_count);
    const char **notes = ARENA_ARRAY(hw->arena, const char *, fact_count);
    printf("%s %s\n", part_tables[kind].said, part_name(part));
    if (alias_count) printf("  %-26s %s\n", "also called", join(hw, aliases, alias_count));
    for (int i = 0; i < part_tables[kind].field_count; i++) {
        const PartField *field = &part_tables[kind].fields[i];
        const char *plain = plain_text(hw, field, part);
        const Fact *fact = plain ? NULL : fact_find(facts, fact_count, field->key);
        if (plain && plain[0]) printf("  %-26s %s\n", field->key, plain);
        if (!fact) continue;
        const char *text = fact_text(hw, fact);
        printf("  %-26s %-*s %-9s  [%d]\n", fact->name, padded(text, 22), text, fact_kind_name(fact->kind),
               note_number(notes, &note_count, fact->source));
    }
    for (int i = 0; i < note_count; i++) printf("  [%d] %s\n", i + 1, notes[i]);
    if (kind == PART_GPU) show_measured_types(hw, facts, fact_count);
}

static void show_facts_json(JsonWriter *json, const Fact *facts, int count) {
    json_key(json, "facts");
    json_begin_list(json);
    for (int i = 0; i < count; i++) {
        json_begin_object(json);
        json_key(json, "name");
        json_write_text(json, facts[i].name);
        json_key(json, "value");
        json_write_number(json, facts[i].value);
        json_key(json, "unit");
        json_write_text(json, facts[i].unit);
        json_key(json, "text");
        json_write_text(json, facts[i].text);
        json_key(json, "kind");
        json_write_text(json, fact_kind_name(facts[i].kind));
        json_key(json, "source");
        json_write_text(json, facts[i].source);
        if (facts[i].sigma > 0) {
            json_key(json, "relative_sigma");
            json_write_number(json, facts[i].sigma);
        }
        json_end_object(json);
    }
    json_end_list(json);
}

static void show_json(const Hw *hw, JsonWriter *json, PartKind kind, const void *part) {
    int alias_count, fact_count;
    const char *const *aliases = part_aliases(kind, part, &alias_count);
    const Fact *facts = part_facts(kind, part, &fact_count);
    json_begin_object(json);
    json_key(json, "part");
    json_write_text(json, part_tables[kind].word);
    json_key(json, "name");
    json_write_text(json, part_name(part));
    json_key(json, "aliases");
    json_begin_list(json);
    for (int i = 0; i < alias_count; i++) json_write_text(json, aliases[i]);
    json_end_list(json);
    for (int i = 0; i < part_tables[kind].field_count; i++) {
        const char *plain = plain_text(hw, &part_tables[kind].fields[i], part);
        if (!plain) continue;
        json_key(json, part_tables[kind].fields[i].key);
        json_write_text(json, plain);
    }
    show_facts_json(json, facts, fact_count);
    json_end_object(json);
}

// ---- As a file of parts, which `hw check` and --profile read.

static void file_fact(JsonWriter *json, const Fact *fact) {
    bool is_bare = fact->text[strspn(fact->text, "0123456789.+-eE")] == '\0';
    json_key(json, fact->name);
    json_begin_list(json);
    if (is_bare)
        json_write_number(json, fact->value);
    else
        json_write_text(json, fact->text);
    json_write_text(json, fact_kind_name(fact->kind));
    json_write_text(json, fact->source);
    if (fact->sigma > 0) json_write_number(json, fact->sigma);
    json_end_list(json);
}

static void file_names(JsonWriter *json, const char *key, const char *const *names, int count) {
    if (count == 0) return;
    json_key(json, key);
    json_begin_list(json);
    for (int i = 0; i < count; i++) json_write_text(json, names[i]);
    json_end_list(json);
}

static void file_field(JsonWriter *json, const PartField *field, const char *part, const Fact *fact) {
    const char *place = part + field->offset;
    const char *text;
    switch (field->type) {
    case PART_FIELD_TEXT:
        text = *(const char *const *)place;
        if (text && text[0]) json_text_member(json, field->key, text);
        break;
    case PART_FIELD_NAMES:
        file_names(json, field->key, *(const char *const *const *)place, *(const int *)(part + field->count_offset));
        break;
    case PART_FIELD_BOOL:
        json_bool_member(json, field->key, *(const bool *)place);
        break;
    case PART_FIELD_YEAR:
        json_integer_member(json, field->key, *(const int *)place);
        break;
    case PART_FIELD_CHOICE:
        json_text_member(json, field->key, field->choices[*(const int *)place]);
        break;
    case PART_FIELD_INT:
    case PART_FIELD_NUMBER:
        if (fact) file_fact(json, fact);
        break;
    }
}

static void file_part(JsonWriter *json, PartKind kind, const void *part) {
    int alias_count, fact_count;
    const char *const *aliases = part_aliases(kind, part, &alias_count);
    const Fact *facts = part_facts(kind, part, &fact_count);
    json_begin_object(json);
    json_text_member(json, "name", part_name(part));
    file_names(json, "aliases", aliases, alias_count);
    for (int i = 0; i < part_tables[kind].field_count; i++) {
        const PartField *field = &part_tables[kind].fields[i];
        file_field(json, field, part, fact_find(facts, fact_count, field->key));
    }
    json_end_object(json);
}

// ---- Several parts.

typedef struct Shown {
    struct {
        const void *const *items;
        int count;
    } of[PART_KIND_COUNT];
} Shown;

static void print_json(const Hw *hw, const char *answer, const Shown *shown) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write_format(&json, "lockstep-hardware", answer);
    json_key(&json, "parts");
    json_begin_list(&json);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++)
        for (int i = 0; i < shown->of[kind].count; i++) show_json(hw, &json, (PartKind)kind, shown->of[kind].items[i]);
    json_end_list(&json);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        // A slice of a GPU is no part of its own: it comes with the GPU.
        if (shown->of[kind].count == 0 || strchr(part_name(shown->of[kind].items[0]), ':')) continue;
        json_key(&json, part_tables[kind].section);
        json_begin_list(&json);
        for (int i = 0; i < shown->of[kind].count; i++) file_part(&json, (PartKind)kind, shown->of[kind].items[i]);
        json_end_list(&json);
    }
    json_end_object(&json);
    printf("\n");
}

// Everything that goes by the name: a GPU and the cloud instance named after it may both.
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
    const char *near = nearest_name(name, nearest, near_count);
    if (near)
        problem_hint(hw->problems, "did you mean \"%s\"?", near);
    else
        problem_hint(hw->problems, "see: lockstep hw list");
}

static int show(const Hw *hw, const char *name) {
    Found found = find_everywhere(hw, name);
    if (found.count == 0) {
        if (problem_count(hw->problems) == 0) refuse_name(hw, name);
        return EXIT_INPUT;
    }
    Shown shown = {0};
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        if (!found.parts[kind]) continue;
        shown.of[kind].items = &found.parts[kind];
        shown.of[kind].count = 1;
        if (!option_flag(hw->options, "json")) show_text(hw, (PartKind)kind, found.parts[kind]);
    }
    if (option_flag(hw->options, "json")) print_json(hw, "hw-show", &shown);
    return 0;
}

static void list_json(const Hw *hw, int first, int last) {
    Shown shown = {0};
    for (int kind = first; kind <= last; kind++) {
        int count;
        const void *parts = catalogue_parts(hw->catalogue, (PartKind)kind, &count);
        const void **items = ARENA_ARRAY(hw->arena, const void *, count + 1);
        for (int i = 0; i < count; i++) items[i] = part_at((PartKind)kind, parts, i);
        shown.of[kind].items = items;
        shown.of[kind].count = count;
    }
    print_json(hw, "hw-list", &shown);
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
    if (option_flag(hw->options, "json")) {
        list_json(hw, first, last);
        return 0;
    }
    for (int kind = first; kind <= last; kind++) {
        if (kind > first) printf("\n");
        list_kind(hw, (PartKind)kind);
    }
    return 0;
}

static void check_json(const Catalogue *catalogue, const char *path) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "hw-check");
    json_text_member(&json, "file", path);
    json_bool_member(&json, "sound", true);
    json_key(&json, "parts");
    json_begin_object(&json);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        int count;
        catalogue_parts(catalogue, (PartKind)kind, &count);
        json_integer_member(&json, part_tables[kind].section, count);
    }
    json_end_object(&json);
    json_end_object(&json);
    printf("\n");
}

static int check(const Hw *hw, const char *path) {
    const Catalogue *catalogue = catalogue_with_file(hw->arena, hw->catalogue, path, hw->problems);
    if (!catalogue) return EXIT_INPUT;
    if (option_flag(hw->options, "json")) {
        check_json(catalogue, path);
        return 0;
    }
    printf("%s: sound; with it the catalogue has %d GPUs, %d nodes, %d fabrics, %d storages\n", path,
           catalogue->gpu_count, catalogue->node_count, catalogue->link_count, catalogue->storage_count);
    return 0;
}

// ---- fields: what a file of parts may say of each kind.

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

static void print_fields(const Hw *hw, PartKind kind) {
    const PartTable *table = &part_tables[kind];
    printf("\"%s\": %s\n", table->section, table->said);
    for (int i = 0; i < table->field_count; i++) {
        const PartField *field = &table->fields[i];
        printf("  %-26s %-9s %-7s %s%s%s\n", field->key, field->required ? "required" : "",
               is_fact(field) ? "fact" : "", field_values(hw, field),
               is_fact(field) && field->unit[0] ? "; in SI: " : "", is_fact(field) ? field->unit : "");
    }
}

static void fields_json(const Hw *hw, int first, int last) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "hw-fields");
    json_key(&json, "fields");
    json_begin_list(&json);
    for (int kind = first; kind <= last; kind++)
        for (int i = 0; i < part_tables[kind].field_count; i++) {
            const PartField *field = &part_tables[kind].fields[i];
            json_begin_object(&json);
            json_text_member(&json, "section", part_tables[kind].section);
            json_text_member(&json, "field", field->key);
            json_bool_member(&json, "required", field->required);
            json_bool_member(&json, "fact", is_fact(field));
            json_text_member(&json, "may_be", field_values(hw, field));
            json_text_member(&json, "unit", is_fact(field) ? field->unit : NULL);
            json_end_object(&json);
        }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static int fields(const Hw *hw, const char *word) {
    int first, last;
    if (!kinds_called(hw, word, &first, &last)) return EXIT_USAGE;
    if (option_flag(hw->options, "json")) {
        fields_json(hw, first, last);
        return 0;
    }
    for (int kind = first; kind <= last; kind++) {
        if (kind > first) printf("\n");
        print_fields(hw, (PartKind)kind);
    }
    return 0;
}

// ---- The command.

static int usage_problem(const Hw *hw, const char *text) {
    problem_add(hw->problems, (Where){0}, "%s", text);
    problem_hint(hw->problems, "usage: %s", usage);
    return EXIT_USAGE;
}

static int run(Hw *hw, int argc, char **argv) {
    hw->options = options_parse(hw->arena, specs, SPEC_COUNT, argc, argv, hw->problems);
    if (option_help(hw->options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        return 0;
    }
    if (problem_count(hw->problems) > 0) return EXIT_USAGE;
    int count = option_positional_count(hw->options);
    const char *what = count > 0 ? option_positional(hw->options, 0) : "list";
    const char *name = count > 1 ? option_positional(hw->options, 1) : NULL;
    bool is_list = strcmp(what, "list") == 0, is_show = strcmp(what, "show") == 0,
         is_check = strcmp(what, "check") == 0, is_fields = strcmp(what, "fields") == 0;
    if (!is_list && !is_show && !is_check && !is_fields) {
        static const char *const verbs[] = {"list", "show", "check", "fields"};
        problem_add(hw->problems, (Where){0}, "hw has no command \"%s\"", what);
        problem_hint_names(hw->problems, what, verbs, 4);
        return EXIT_USAGE;
    }
    if (count > 2) return usage_problem(hw, "too many names");
    if (!is_list && !is_fields && (!name || !*name))
        return usage_problem(hw, is_show ? "hw show needs a name" : "hw check needs a file");

    if (is_fields) return fields(hw, name);
    hw->catalogue = catalogue_builtin(hw->arena);
    const char *profile = option_text(hw->options, "profile", NULL);
    if (profile) hw->catalogue = catalogue_with_file(hw->arena, hw->catalogue, profile, hw->problems);
    if (!hw->catalogue) return EXIT_INPUT;
    return is_list ? list(hw, name) : is_show ? show(hw, name) : check(hw, name);
}

int command_hw(int argc, char **argv) {
    Hw hw = {.arena = arena_open()};
    hw.problems = problems_create(hw.arena);
    int code = run(&hw, argc, argv);
    problems_print(hw.problems, stderr);
    arena_close(hw.arena);
    return code;
}
