// What a job needs to be possible is drawn first: a model, degrees of parallelism that divide it, as many GPUs, a
// batch. Then fields of the table, by themselves: a new field is drawn without a line here.
#include "tests/draw_study.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/market.h"
#include "models/workload/cluster/fabric_kinds.h"
#include "models/workload/job/training.h"
#include "models/workload/model/model.h"
#include "scenarios/fields/fields.h"
#include "sim/base/check.h"
#include "sim/base/random.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define ROOM_LEFT 6 // settings that rules and lists may still need

typedef struct Draw { // one study under way
    DrawnStudy study;
    const uint8_t *bytes; // NULL: the stream draws
    size_t left;
    RandomStream stream;
    Arena *arena;
    const Model *model;
    int tp, pp, vpp, cp, ep, dp, nodes;
} Draw;

// ---- Draws. The plainest is 0.

static int below(Draw *draw, int bound) {
    if (!draw->bytes) return (int)random_below(&draw->stream, (uint64_t)bound);
    unsigned value = 0;
    for (int width = bound > 256 ? 2 : 1; width > 0 && draw->left > 0; width--, draw->left--)
        value = value << 8 | *draw->bytes++;
    return (int)(value % (unsigned)bound);
}

static bool one_in(Draw *draw, int bound) { return below(draw, bound) == bound - 1; }

#define PICK(draw, list) (list)[below((draw), COUNT_OF(list))]

static const Catalogue *catalogue_of_draws(void) {
    static const Catalogue *catalogue;
    static Arena *kept; // for the whole program
    if (!kept) kept = arena_open();
    if (!catalogue) catalogue = catalogue_builtin(kept);
    return catalogue;
}

// ---- The list.

static int setting_index(const DrawnStudy *study, const char *path) {
    for (int i = 0; i < study->count; i++)
        if (strcmp(study->settings[i].path, path) == 0) return i;
    return -1;
}

const char *drawn_value(const DrawnStudy *study, const char *path) {
    int at = setting_index(study, path);
    return at < 0 ? NULL : study->settings[at].value;
}

void drawn_set(DrawnStudy *study, const char *path, const char *value) {
    int at = setting_index(study, path);
    if (!value) {
        if (at < 0) return;
        study->count--;
        memmove(&study->settings[at], &study->settings[at + 1], sizeof *study->settings * (size_t)(study->count - at));
        return;
    }
    if (at < 0) {
        CHECK(study->count < DRAWN_SETTINGS);
        at = study->count++;
    }
    study->settings[at].path = path;
    CHECK(strlen(value) < sizeof study->settings[at].value);
    memmove(study->settings[at].value, value, strlen(value) + 1);
}

static void set_number(Draw *draw, const char *path, double value) {
    char text[64];
    snprintf(text, sizeof text, "%.15g", value);
    drawn_set(&draw->study, path, text);
}

static void set_text(Draw *draw, const char *path, const char *value) {
    char text[64];
    snprintf(text, sizeof text, "\"%.60s\"", value);
    drawn_set(&draw->study, path, text);
}

static bool is_set(const Draw *draw, const char *path) { return drawn_value(&draw->study, path) != NULL; }

static bool is_text(const Draw *draw, const char *path, const char *value) {
    const char *set = drawn_value(&draw->study, path);
    size_t length = strlen(value);
    return set && strlen(set) == length + 2 && memcmp(set + 1, value, length) == 0;
}

// ---- The model.

static const char *const small_models[] = {
    "gpt2-124m",
    "bert-base",
    "resnet-18",
    "t5-small",
    "mlp-mnist",
    "smollm2-135m",
    "gnmt-v2",
    "ssd300-resnet-34",
    "unet",
    "vit-tiny-patch16",
    "tacotron-2",
    "quartznet-15x5",
    "waveglow-256",
    "olmoe-1b-7b",
    "clip-vit-base-patch32",
    "densenet-121",
    "swin-tiny",
    "deepseek-v2-lite",
    "qwen1.5-moe-a2.7b",
    "stable-diffusion-1.5",
};

static void draw_library_model(Draw *draw, const char *name) {
    set_text(draw, "training.model", name);
    draw->model = find_model(draw->arena, name, (Where){0}, problems_create(draw->arena));
}

static void draw_transformer(Draw *draw) {
    static const int heads[] = {4, 8, 12, 16, 6}, widths[] = {16, 64, 128, 32, 80}, layers[] = {4, 2, 8, 12, 1, 6, 7};
    TransformerShape shape = {.layers = PICK(draw, layers), .heads = PICK(draw, heads), .causal = true};
    shape.hidden = shape.heads * PICK(draw, widths);
    shape.kv_heads = one_in(draw, 4) ? shape.heads / 2 : shape.heads;
    set_number(draw, "transformer.layers", shape.layers);
    set_number(draw, "transformer.hidden", shape.hidden);
    set_number(draw, "transformer.heads", shape.heads);
    if (shape.kv_heads != shape.heads) set_number(draw, "transformer.kv_heads", shape.kv_heads);
    draw->model = model_transformer(draw->arena, &shape, (Where){0}, problems_create(draw->arena));
}

static void draw_other_model(Draw *draw) {
    static const int depths[] = {50, 18, 34, 101, 152};
    static const char *const widths[] = {"{ 784, 512, 10 }", "{ 64, 64 }", "{ 4096, 4096, 4096, 4096, 16 }"};
    switch (below(draw, 3)) {
    case 0:
        set_number(draw, "resnet.depth", PICK(draw, depths));
        draw->model = find_model(draw->arena, "resnet-18", (Where){0}, problems_create(draw->arena));
        return;
    case 1:
        drawn_set(&draw->study, "mlp.widths", PICK(draw, widths));
        break;
    default:
        set_number(draw, "lstm.layers", 1 + below(draw, 4));
        set_number(draw, "lstm.hidden", 64 << below(draw, 5));
        break;
    }
    draw->model = find_model(draw->arena, "mlp-mnist", (Where){0}, problems_create(draw->arena));
}

static void draw_model(Draw *draw) {
    int kind = below(draw, 10), count;
    const char *const *names = model_names(&count);
    if (kind < 5) {
        draw_library_model(draw, PICK(draw, small_models));
    } else if (kind < 6) {
        draw_library_model(draw, names[below(draw, count)]);
    } else if (kind < 9) {
        draw_transformer(draw);
    } else {
        draw_other_model(draw);
    }
    CHECK(draw->model);
}

static bool is_transformer(const Draw *draw) { return counts_tokens(draw->model); }

// ---- Degrees of parallelism, GPUs, the batch.

// A power of two that divides `whole`, up to `most`.
static int draw_divisor(Draw *draw, int whole, int most) {
    int divisor = 1;
    for (int wanted = below(draw, 4); wanted > 0 && whole % (2 * divisor) == 0 && 2 * divisor <= most; wanted--)
        divisor *= 2;
    return divisor;
}

static void draw_degrees(Draw *draw) {
    static const int replicas[] = {1, 2, 4, 8, 1, 2, 4, 16, 3, 6};
    draw->tp = draw->pp = draw->vpp = draw->cp = draw->ep = 1;
    int heads = draw->model->kv_heads ? draw->model->kv_heads : 8;
    if (is_transformer(draw) && one_in(draw, 3)) draw->tp = draw_divisor(draw, heads, 8);
    if (one_in(draw, 3)) draw->pp = draw_divisor(draw, 64, draw->model->layers ? draw->model->layers : 2);
    if (draw->pp > 1 && is_transformer(draw) && one_in(draw, 3))
        draw->vpp = draw_divisor(draw, draw->model->layers, draw->model->layers / draw->pp);
    if (is_transformer(draw) && !draw->model->patch && !draw->model->encoder_layers && one_in(draw, 6))
        draw->cp = draw_divisor(draw, heads / draw->tp, 4);
    draw->dp = PICK(draw, replicas);
    if (draw->model->experts.count && one_in(draw, 2))
        draw->ep = draw_divisor(draw, draw->model->experts.count, draw->dp * draw->cp);
    while (draw->dp * draw->cp % draw->ep) draw->ep /= 2;
    if (draw->tp > 1) set_number(draw, "training.parallel.tp", draw->tp);
    if (draw->pp > 1) set_number(draw, "training.parallel.pp", draw->pp);
    if (draw->vpp > 1) set_number(draw, "training.parallel.vpp", draw->vpp);
    if (draw->cp > 1) set_number(draw, "training.parallel.cp", draw->cp);
    if (draw->ep > 1) set_number(draw, "training.parallel.ep", draw->ep);
    if (one_in(draw, 4)) set_number(draw, "training.parallel.dp", draw->dp);
}

static void draw_schedule(Draw *draw) {
    static const char *const plain[] = {"1f1b", "gpipe", "zb-h1", "dualpipe"};
    if (draw->vpp == 1 && draw->pp > 1 && one_in(draw, 2))
        set_text(draw, "training.schedule", PICK(draw, plain));
    else if (draw->vpp > 1)
        set_text(draw, "training.schedule", draw->vpp == 2 && one_in(draw, 3) ? "zb-v" : "interleaved");
}

static void draw_batch(Draw *draw) {
    static const int micros[] = {1, 2, 4, 8, 32, 3};
    int micro = PICK(draw, micros), rounds = 1 + below(draw, 4), count = draw->pp > 1 ? draw->pp * rounds : rounds;
    if (one_in(draw, 2)) set_number(draw, "training.batch.global", micro * count * draw->dp);
    set_number(draw, "training.batch.micro", micro);
    if (!is_set(draw, "training.batch.global") && count > 1) set_number(draw, "training.batch.accumulation", count);
    if (is_transformer(draw) && !draw->model->patch) {
        int least = draw->model->max_positions < 128 ? draw->model->max_positions : 128;
        set_number(draw, "training.seq_len", least * (1 << below(draw, 3)));
    }
}

static const char *const usual_nodes[] = {"dgx-a100",   "dgx-h100",    "dgx-b200",
                                          "dgx-1-v100", "r750-a100x2", "lambda-scalar-a100"};

static void draw_machines(Draw *draw) {
    const Catalogue *catalogue = catalogue_of_draws();
    int gpus = draw->tp * draw->pp * draw->cp * draw->dp;
    const char *node =
        one_in(draw, 3) ? catalogue->nodes[below(draw, catalogue->node_count)].name : PICK(draw, usual_nodes);
    if (one_in(draw, 12) && gpus > 1) { // two groups
        set_text(draw, "cluster.nodes.1.node", node);
        set_number(draw, "cluster.nodes.1.gpus", gpus / 2);
        set_text(draw, "cluster.nodes.2.node", PICK(draw, usual_nodes));
        set_number(draw, "cluster.nodes.2.gpus", gpus - gpus / 2);
        draw->nodes = 0;
        return;
    }
    const NodeType *type = find_node(draw->arena, catalogue, node, (Where){0}, problems_create(draw->arena));
    CHECK(type);
    set_text(draw, "cluster.node", node);
    set_number(draw, "cluster.gpus", gpus);
    draw->nodes = (gpus + type->gpu_count - 1) / type->gpu_count;
}

// ---- The fabric.

static const char *draw_link(Draw *draw) {
    static const char *const usual[] = {"ib-ndr400", "ib-hdr200", "roce-100", "eth-10g", "eth-100g"};
    const Catalogue *catalogue = catalogue_of_draws();
    return one_in(draw, 3) ? catalogue->links[below(draw, catalogue->link_count)].name : PICK(draw, usual);
}

static void draw_graph(Draw *draw) {
    set_text(draw, "fabric.links.1.from", "a");
    set_text(draw, "fabric.links.1.to", "b");
    set_text(draw, "fabric.links.1.bandwidth", one_in(draw, 2) ? "10 Gb/s" : "400 Gb/s");
    if (one_in(draw, 2)) set_text(draw, "fabric.links.1.latency", "5 us");
    set_text(draw, "fabric.nodes.1.switch", "a");
    set_number(draw, "fabric.nodes.1.count", (draw->nodes + 1) / 2);
    set_text(draw, "fabric.nodes.2.switch", "b");
    set_number(draw, "fabric.nodes.2.count", draw->nodes / 2 + (draw->nodes == 1));
}

static void draw_dims(Draw *draw) {
    char text[64];
    int side = 1;
    while (draw->nodes % (2 * side) == 0 && side < 4) side *= 2;
    snprintf(text, sizeof text, "{ %d, %d }", side, draw->nodes > side ? draw->nodes / side : 1);
    drawn_set(&draw->study, "fabric.dims", text);
}

static void draw_own_field(Draw *draw, ObjectId object, int field);

// Fields that the kind must have, and some that it may.
static void draw_shape(Draw *draw, FabricWord word) {
    for (int i = 0; i < fabric_field_count; i++) {
        bool required = fabric_fields[i].required >> word & 1, taken = fabric_fields[i].words >> word & 1;
        if (required || (taken && one_in(draw, 4)))
            draw_own_field(draw, OBJECT_FABRIC, field_index(OBJECT_FABRIC, fabric_fields[i].name));
    }
    if (word == WORD_TORUS) draw_dims(draw);
    if (word == WORD_GRAPH) draw_graph(draw);
}

static void draw_fabric(Draw *draw) {
    int kind = below(draw, 8);
    if (draw->nodes == 0 || kind < 3) {
        if (draw->nodes != 1 || one_in(draw, 4)) set_text(draw, "cluster.fabric", draw_link(draw));
    } else if (kind == 3) {
        set_text(draw, "rail_fat_tree.link", draw_link(draw));
    } else if (kind == 4) {
        set_text(draw, "fat_tree.link", draw_link(draw));
    } else {
        FabricWord word = (FabricWord)below(draw, FABRIC_WORD_COUNT);
        set_text(draw, "fabric.kind", fabric_words[word]);
        set_text(draw, "fabric.link", draw_link(draw));
        draw_shape(draw, word);
    }
}

// ---- Fields of the table.

// "training.batch.micro", kept for the whole program.
static const char *path_of(ObjectId object, int field) {
    static const char *paths[OBJECT_COUNT][FIELDS_MOST];
    static Arena *kept;
    if (!kept) kept = arena_open();
    const ObjectType *type = object_type(object);
    if (!paths[object][field]) paths[object][field] = arena_printf(kept, "%s.%s", type->name, type->fields[field].name);
    return paths[object][field];
}

// The number that a literal opens with, in SI units: "{ 8, 16 }", "\"25 MiB\"", "512".
static double literal_number(const char *literal, QuantityKind kind) {
    char text[64];
    const char *why;
    double value = 1;
    while (*literal && !isdigit((unsigned char)*literal)) literal++;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(literal, "\"},"), literal);
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--) text[end - 1] = '\0';
    return quantity_parse(text, kind, &value, &why) ? value : 1;
}

// Examples that are of larger jobs or other machines than those drawn here.
static const struct {
    const char *path;
    double value;
} smaller[] = {{"training.tokens", 1e8},     {"training.samples", 1e5},
               {"training.epochs", 3},       {"fabric.nodes_per_pod", 32},
               {"transformer.head_dim", 64}, {"study.vary.gpus", 8},
               {"study.vary.tp", 1},         {"study.vary.pp", 1},
               {"study.vary.dp", 1},         {"study.vary.global_batch", 96},
               {"study.vary.micro_batch", 1}};

static double usual_value(const char *path, const Field *field) {
    for (int i = 0; i < COUNT_OF(smaller); i++)
        if (strcmp(smaller[i].path, path) == 0) return smaller[i].value;
    return literal_number(field->example, field->quantity);
}

// Near what is usual; an end of its range now and then.
static double draw_quantity(Draw *draw, const char *path, const Field *field) {
    static const double factors[] = {1, 2, 0.5, 4, 0.25, 1.5, 10, 0.1};
    double value = usual_value(path, field) * PICK(draw, factors);
    if (strstr(path, "power_cap")) value = 200 + 50 * below(draw, 20);
    if (field->least == 0 && field->most == 0) return value;
    if (one_in(draw, 200)) value = one_in(draw, 2) ? field->most : field->least;
    if (field->quantity == QUANTITY_COUNT) value = floor(value);
    return fmin(fmax(value, field->least == ABOVE_ZERO ? 1e-9 : field->least), field->most);
}

#define NAME_OF(items, count) ((items)[below(draw, (count))].name)

static const char *draw_part(Draw *draw, FieldPart part) {
    const Catalogue *catalogue = catalogue_of_draws();
    switch (part) {
    case FIELD_GPU:
        return NAME_OF(catalogue->gpus, catalogue->gpu_count);
    case FIELD_NODE:
        return NAME_OF(catalogue->nodes, catalogue->node_count);
    case FIELD_LINK:
        return draw_link(draw);
    case FIELD_STORAGE:
    case FIELD_PART_COUNT:
        break;
    }
    return NAME_OF(catalogue->storages, catalogue->storage_count);
}

// Texts that must be names of something.
static const char *draw_name(Draw *draw, const char *path, const Field *field) {
    const Catalogue *catalogue = catalogue_of_draws();
    if (strcmp(path, "cluster.grid") == 0) return NAME_OF(catalogue->grids, catalogue->grid_count);
    if (strcmp(path, "cluster.own.site") == 0) return NAME_OF(catalogue->sites, catalogue->site_count);
    if (strcmp(path, "cluster.faults.rates") == 0) return NAME_OF(catalogue->faults, catalogue->faults_count);
    if (strcmp(path, "cluster.price.book") == 0) return NAME_OF(catalogue->offers, catalogue->offer_count);
    if (strcmp(path, "cluster.price.provider") == 0)
        return catalogue->offers[below(draw, catalogue->offer_count)].provider;
    if (strstr(path, ".currency")) return NAME_OF(catalogue->currencies, catalogue->currency_count);
    return arena_printf(draw->arena, "%.*s", (int)strcspn(field->example + 1 + 2 * (*field->example == '{'), "\""),
                        field->example + 1 + 2 * (*field->example == '{'));
}

// A plain number where it has one reading, else with the SI unit.
static const char *with_unit(Draw *draw, const Field *field, double value) {
    const char *number = arena_printf(draw->arena, "%.12g", value);
    char why[QUANTITY_WHY];
    if (!quantity_unit_missing(field->name, number, field->quantity, NULL, why, sizeof why)) return number;
    const char *unit = field->quantity == QUANTITY_TIME ? "s" : field->quantity == QUANTITY_BYTES ? "B" : "B/s";
    return arena_printf(draw->arena, "\"%s %s\"", number, unit);
}

// One value as a literal.
static const char *draw_literal(Draw *draw, const char *path, const Field *field) {
    switch (field->kind) {
    case FIELD_QUANTITY:
        if (field->word && one_in(draw, 2)) return arena_printf(draw->arena, "\"%s\"", field->word);
        return with_unit(draw, field, draw_quantity(draw, path, field));
    case FIELD_SEED:
        return arena_printf(draw->arena, "%d", below(draw, 1000));
    case FIELD_FLAG:
        return one_in(draw, 3) ? "false" : "true";
    case FIELD_CHOICE:
        return arena_printf(draw->arena, "\"%s\"", field->names[below(draw, field->name_count)]);
    case FIELD_PART:
        return arena_printf(draw->arena, "\"%s\"", draw_part(draw, field->part));
    case FIELD_TEXT:
        return arena_printf(draw->arena, "\"%s\"", draw_name(draw, path, field));
    case FIELD_BOUND:
        return field->example;
    case FIELD_TABLE:
    case FIELD_VALUE:
    case FIELD_FUNCTION:
    case FIELD_SCALAR:
        break; // tables and values are drawn by name
    }
    return NULL;
}

static void draw_own_field(Draw *draw, ObjectId object, int index) {
    const Field *field = &object_type(object)->fields[index];
    const char *path = path_of(object, index), *value = draw_literal(draw, path, field);
    if (!value || draw->study.count + ROOM_LEFT > DRAWN_SETTINGS) return;
    if (field->list && !one_in(draw, 4)) {
        const char *other = draw_literal(draw, path, field);
        const char *both = arena_printf(draw->arena, "{ %s, %s }", value, other);
        if (strlen(both) < sizeof draw->study.settings->value) value = both;
    }
    if (strlen(value) < sizeof draw->study.settings->value) drawn_set(&draw->study, path, value);
}

typedef struct Chance {
    ObjectId object;
    int object_in, field_in; // one in so many studies has it; then one in so many of its fields
} Chance;

static const Chance chances[] = {
    {OBJECT_TRAINING, 1, 14},     {OBJECT_CLUSTER, 2, 12}, {OBJECT_OVERLAP, 5, 2},     {OBJECT_PARALLEL, 6, 12},
    {OBJECT_ROUTING, 6, 3},       {OBJECT_HOROVOD, 12, 2}, {OBJECT_OFFLOAD, 10, 2},    {OBJECT_DATA, 6, 2},
    {OBJECT_FAULTS, 16, 3},       {OBJECT_PRICE, 6, 4},    {OBJECT_CHECKPOINT, 16, 2}, {OBJECT_OWN, 8, 5},
    {OBJECT_STUDY, 2, 8},         {OBJECT_VARY, 5, 12},    {OBJECT_EXPECT, 10, 8},     {OBJECT_TRANSFORMER, 1, 8},
    {OBJECT_RESNET, 1, 3},        {OBJECT_MLP, 1, 3},      {OBJECT_LSTM, 1, 3},        {OBJECT_FAT_TREE, 1, 3},
    {OBJECT_RAIL_FAT_TREE, 1, 3},
};

static bool has_any(const DrawnStudy *study, const char *object) {
    size_t length = strlen(object);
    for (int i = 0; i < study->count; i++)
        if (strncmp(study->settings[i].path, object, length) == 0 && study->settings[i].path[length] == '.')
            return true;
    return false;
}

// Objects that are the whole of something: without the fields it was drawn with there is none of it.
static bool is_absent(const Draw *draw, ObjectId object) {
    static const ObjectId whole[] = {OBJECT_TRANSFORMER, OBJECT_RESNET,   OBJECT_MLP,
                                     OBJECT_LSTM,        OBJECT_FAT_TREE, OBJECT_RAIL_FAT_TREE};
    for (int i = 0; i < COUNT_OF(whole); i++)
        if (whole[i] == object) return !has_any(&draw->study, object_type(object)->name);
    return false;
}

static bool is_drawn_elsewhere(const char *path) {
    static const char *const paths[] = {"transformer.kv_heads", "cluster.node", "cluster.gpus", "cluster.fabric",
                                        "training.model"};
    for (int i = 0; i < COUNT_OF(paths); i++)
        if (strcmp(paths[i], path) == 0) return true;
    return false;
}

static void draw_fields(Draw *draw) {
    for (int c = 0; c < COUNT_OF(chances); c++) {
        const ObjectType *type = object_type(chances[c].object);
        if (is_absent(draw, chances[c].object) || (chances[c].object_in > 1 && !one_in(draw, chances[c].object_in)))
            continue;
        for (int i = 0; i < type->field_count; i++) {
            const char *path = path_of(chances[c].object, i);
            if (is_set(draw, path) || is_drawn_elsewhere(path)) continue;
            if (type->fields[i].required || one_in(draw, chances[c].field_in))
                draw_own_field(draw, chances[c].object, i);
        }
    }
    if (one_in(draw, 12)) {
        set_text(draw, "study.published.1.source", "Table 1");
        drawn_set(&draw->study, "study.published.1.step_time", "\"300 ms\"");
    }
    if (!one_in(draw, 4) && !is_set(draw, "study.assume_fits")) drawn_set(&draw->study, "study.assume_fits", "true");
}

// ---- Rules: what goes only with something else. Nearly always kept, so that most studies are possible.

static void drop(Draw *draw, const char *path) { drawn_set(&draw->study, path, NULL); }

static void drop_all(Draw *draw, const char *object) {
    size_t length = strlen(object);
    for (int i = draw->study.count; i-- > 0;) {
        const char *path = draw->study.settings[i].path;
        if (strncmp(path, object, length) == 0 && path[length] == '.') drop(draw, path);
    }
}

// A field that goes only with another one, or only where the other is so.
typedef struct Rule {
    const char *path, *needs, *is; // is NULL: set at all
} Rule;

static const Rule rules[] = {
    {"training.offload.parameters", "training.zero", "3"},
    {"training.offload.activations", "training.recompute", "\"full\""},
    {"training.nf4_weights", "training.lora_rank", NULL},
    {"training.gptq_weights", "training.lora_rank", NULL},
    {"training.lora_everywhere", "training.lora_rank", NULL},
    {"training.lora_embeddings", "training.lora_rank", NULL},
    {"training.recompute_modules", "training.recompute", "\"selective\""},
    {"training.recompute_keeps", "training.recompute", "\"operations\""},
    {"training.recompute_layers", "training.recompute", NULL},
    {"training.recompute_every", "training.recompute", NULL},
    {"training.overlap.param_gather", "training.zero", "1"},
    {"training.parallel.shard", "training.zero", NULL},
    {"training.zero_quantized_weights", "training.zero", "3"},
    {"training.checkpoint.storage_units", "training.checkpoint.storage", NULL},
    {"cluster.storage_units", "cluster.storage", NULL},
    {"training.horovod.cycle", "training.strategy", "\"horovod\""},
    {"training.horovod.fusion", "training.strategy", "\"horovod\""},
    {"training.transport", "training.fidelity", "\"packet\""},
    {"training.packet_loss", "training.fidelity", "\"packet\""},
    {"study.vary.vpp", "training.schedule", "\"interleaved\""},
    {"study.vary.oversubscription", "fat_tree.link", NULL},
};

static const char *const only_transformers[] = {
    "training.parallel.sequence_parallel",
    "training.parallel.cp_exchange",
    "training.lora_rank",
    "training.overlap.tp",
    "training.parallel.head_counts",
    "training.seq_len",
    "training.recompute",
    "training.loss_chunks",
    "training.parallel.embedding_counts",
    "training.fused_norms",
    "training.composed_gelu",
    "training.whole_head",
    "training.classifies",
    "training.pack_length",
    "training.fused_loss",
    "training.gathers_logits",
    "training.tp_waits",
    "training.scatter_gather",
    "training.tokens",
    "study.vary.tp",
    "study.vary.seq_len",
};

static const char *const only_experts[] = {"training.expert_skew", "training.capacity_factor",
                                           "training.fused_dispatch"};

// Ways to spread a job that know data parallelism only, or nothing.
static void keep_strategy(Draw *draw) {
    static const char *const free[] = {"auto", "ddp"};
    bool spread = draw->tp * draw->pp * draw->cp * draw->ep > 1, sharded = is_set(draw, "training.zero");
    if (!is_set(draw, "training.strategy")) return;
    for (int i = 0; i < COUNT_OF(free); i++)
        if (is_text(draw, "training.strategy", free[i])) return;
    if (spread || sharded || is_text(draw, "training.strategy", "layers") ||
        (is_text(draw, "training.strategy", "single") && draw->dp > 1))
        drop(draw, "training.strategy");
}

// A price is stated, or one of the book that is for these machines.
static void keep_price(Draw *draw) {
    const Catalogue *catalogue = catalogue_of_draws();
    if (!has_any(&draw->study, "cluster.price")) return;
    drop_all(draw, "cluster.price");
    bool of_book = one_in(draw, 2);
    for (int i = 0; i < catalogue->offer_count && of_book; i++)
        for (int n = 0; n < catalogue->offers[i].node_count; n++)
            if (is_text(draw, "cluster.node", catalogue->offers[i].nodes[n]) && !is_set(draw, "cluster.gpu")) {
                set_text(draw, "cluster.price.book", catalogue->offers[i].name);
                return;
            }
    set_number(draw, "cluster.price.gpu_hour", 1 + below(draw, 8));
    if (one_in(draw, 3)) draw_own_field(draw, OBJECT_PRICE, field_index(OBJECT_PRICE, "currency"));
}

// What a provider rents out goes on the provider's network.
static void keep_link(Draw *draw) {
    static const char *const paths[] = {"cluster.fabric", "rail_fat_tree.link", "fat_tree.link", "fabric.link"};
    const Catalogue *catalogue = catalogue_of_draws();
    for (int n = 0; n < catalogue->node_count; n++)
        for (int l = 0; l < catalogue->link_count; l++) {
            const NodeType *node = &catalogue->nodes[n];
            if (!is_text(draw, "cluster.node", node->name)) continue;
            if (node_takes_link(catalogue, node, &catalogue->links[l])) continue;
            for (int i = 0; i < COUNT_OF(paths); i++)
                if (is_text(draw, paths[i], catalogue->links[l].name)) set_text(draw, paths[i], node->fabrics[0]);
        }
}

// Experts are said whole or not at all, and a token takes no more than there are.
static void keep_experts(Draw *draw) {
    static const char *const fields[] = {"experts_per_token", "expert_ffn", "shared_expert_ffn", "dense_layers",
                                         "expert_every"};
    const char *count = drawn_value(&draw->study, "transformer.experts");
    const char *taken = drawn_value(&draw->study, "transformer.experts_per_token");
    char path[64];
    for (int i = 0; i < COUNT_OF(fields) && !count; i++) {
        snprintf(path, sizeof path, "transformer.%s", fields[i]);
        drop(draw, path);
    }
    if (count && (!taken || atof(taken) > atof(count))) set_number(draw, "transformer.experts_per_token", 1);
}

// Latent attention too, and then a head is as wide as its parts.
static void keep_latent(Draw *draw) {
    static const char *const parts[] = {"q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"};
    static const char *const others[] = {"kv_heads", "head_dim"};
    bool latent = is_set(draw, "transformer.kv_lora_rank");
    char path[64];
    for (int i = 0; i < (latent ? COUNT_OF(others) : COUNT_OF(parts)); i++) {
        snprintf(path, sizeof path, "transformer.%s", latent ? others[i] : parts[i]);
        drop(draw, path);
    }
}

static void keep_rules(Draw *draw) {
    static const char *const routings[] = {"training.routing.zipf", "training.routing.dirichlet",
                                           "training.routing.histogram"};
    bool experts = draw->model->experts.count > 0;
    if (is_set(draw, "training.nf4_weights")) drop(draw, "training.gptq_weights");
    if (is_set(draw, "training.zero") || draw->pp > 1 || is_set(draw, "training.batch.grad_accumulation") ||
        is_set(draw, "training.offload.optimizer"))
        drop(draw, "training.optimizer_in_backward");
    for (int i = 0; i < COUNT_OF(only_transformers) && !is_transformer(draw); i++) drop(draw, only_transformers[i]);
    for (int i = 0; i < COUNT_OF(only_experts) && !experts; i++) drop(draw, only_experts[i]);
    if (!experts || is_set(draw, "training.expert_skew")) drop_all(draw, "training.routing");
    drop(draw, "training.routing.histogram"); // as many numbers as there are experts
    if (is_set(draw, routings[0])) drop(draw, routings[1]);
    if (!is_set(draw, routings[0]) && !is_set(draw, routings[1])) drop_all(draw, "training.routing");
    if (!experts) drop(draw, "training.recompute_modules");
    drop(draw, "training.parallel.layers"); // as many numbers as there are chunks
    keep_strategy(draw);
    for (int i = 0; i < COUNT_OF(rules); i++) {
        const char *needed = drawn_value(&draw->study, rules[i].needs);
        if (!needed || (rules[i].is && strcmp(needed, rules[i].is) != 0)) drop(draw, rules[i].path);
    }
    if (is_set(draw, "training.samples")) drop(draw, "training.tokens");
    if (!is_set(draw, "training.samples")) drop(draw, "training.epochs");
    if (is_set(draw, "training.zero")) drop(draw, "training.parallel.zero"); // the same
    if (has_any(&draw->study, "cluster.nodes")) drop(draw, "cluster.gpu"), drop(draw, "cluster.pcie");
    if (has_any(&draw->study, "cluster.own")) {
        drop_all(draw, "cluster.price");
        if (!is_set(draw, "cluster.own.node_price")) set_number(draw, "cluster.own.node_price", 1e5);
    }
    keep_price(draw);
    keep_link(draw);
    keep_experts(draw);
    keep_latent(draw);
    if (is_set(draw, "cluster.link_speed")) drawn_set(&draw->study, "cluster.link_speed", "{ 0.5 }"); // of one node
}

// ---- Writing.

static void write_fields(const DrawnStudy *study, const char *prefix, int indent, FILE *out) {
    size_t length = strlen(prefix);
    for (int i = 0; i < study->count; i++) {
        const char *path = study->settings[i].path, *name = path + length;
        if (strncmp(path, prefix, length) != 0) continue;
        int name_length = (int)strcspn(name, ".");
        bool opened = false; // an earlier setting is of the same table
        for (int j = 0; j < i && name[name_length]; j++)
            opened = opened || strncmp(study->settings[j].path, path, length + (size_t)name_length + 1) == 0;
        if (opened) continue;
        fprintf(out, isdigit((unsigned char)*name) ? "%*s[%.*s] = " : "%*s%.*s = ", indent, "", name_length, name);
        if (name[name_length]) {
            char inner[128];
            snprintf(inner, sizeof inner, "%.*s", (int)length + name_length + 1, path);
            fprintf(out, "{\n");
            write_fields(study, inner, indent + 2, out);
            fprintf(out, "%*s},\n", indent, "");
        } else {
            fprintf(out, "%s,\n", study->settings[i].value);
        }
    }
}

// "  fabric = sim.fat_tree { … },"
static void write_made(const DrawnStudy *study, const char *field, const char *call, const char *object, FILE *out) {
    fprintf(out, "  %s = sim.%s {\n", field, call);
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%s.", object);
    write_fields(study, prefix, 4, out);
    fprintf(out, "  },\n");
}

void drawn_write(const DrawnStudy *study, FILE *out) {
    static const char *const fabrics[] = {"fabric", "single_switch", "fat_tree", "rail_fat_tree"};
    static const char *const models[][2] = {
        {"transformer", "model.transformer"}, {"resnet", "model.resnet"}, {"mlp", "model.mlp"}, {"lstm", "model.lstm"}};
    fprintf(out, "-- drawn from seed %llu\nlocal sim = require \"lockstep\"\nlocal cluster = sim.cluster {\n",
            (unsigned long long)study->seed);
    write_fields(study, "cluster.", 2, out);
    for (int i = 0; i < COUNT_OF(fabrics) && !drawn_value(study, "cluster.fabric"); i++)
        if (has_any(study, fabrics[i])) {
            write_made(study, "fabric", fabrics[i], fabrics[i], out);
            break;
        }
    fprintf(out, "}\nlocal job = sim.training {\n");
    write_fields(study, "training.", 2, out);
    for (int i = 0; i < COUNT_OF(models) && !drawn_value(study, "training.model"); i++)
        if (has_any(study, models[i][0])) {
            write_made(study, "model", models[i][1], models[i][0], out);
            break;
        }
    fprintf(out, "}\n");
    if (has_any(study, "expect")) {
        fprintf(out, "job:expect {\n");
        write_fields(study, "expect.", 2, out);
        fprintf(out, "}\n");
    }
    fprintf(out, "return sim.study {\n  on = cluster, run = job,\n");
    write_fields(study, "study.", 2, out);
    fprintf(out, "}\n");
}

// ---- The whole.

static DrawnStudy draw_all(Draw *draw) {
    draw->arena = arena_open();
    draw_model(draw);
    draw_degrees(draw);
    draw_schedule(draw);
    draw_batch(draw);
    draw_machines(draw);
    draw_fabric(draw);
    draw_fields(draw);
    if (!one_in(draw, 20)) keep_rules(draw);
    int most = is_text(draw, "training.fidelity", "packet") ? 16 : 64; // of GPUs: more is right, but long
    if (draw->tp * draw->pp * draw->cp * draw->dp > most) drop(draw, "training.fidelity");
    if (!is_text(draw, "training.fidelity", "packet")) {
        drop(draw, "training.transport");
        drop(draw, "training.packet_loss");
    }
    arena_close(draw->arena);
    return draw->study;
}

DrawnStudy draw_study(uint64_t seed) {
    Draw draw = {.study.seed = seed, .stream = random_stream(seed, "study", 0)};
    return draw_all(&draw);
}

DrawnStudy draw_study_from(const uint8_t *bytes, size_t count) {
    static const uint8_t none[1];
    Draw draw = {.bytes = count ? bytes : none, .left = count};
    return draw_all(&draw);
}
