// sim.model, sim.training with job:expect, and sim.study: variations, published figures, plots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/training.h"
#include "models/workload/model/operators.h"
#include "scenarios/lua/lua_script.h"
#include "sim/base/list.h"

// ---- Models.

static int push_model(lua_State *L, const Model *model, Where where) {
    handle_push(L, HANDLE_MODEL, model, where);
    return 1;
}

static int model_get(lua_State *L) {
    const Script *script = script_of(L);
    Where where = lua_host_where(L, 1);
    if (lua_type(L, 1) != LUA_TSTRING)
        return lua_host_fail(L, "for example: sim.model.get \"gpt3-175b\"",
                             "sim.model.get takes the name of a model, not a %s", luaL_typename(L, 1));
    lua_host_check_memory(L);
    return push_model(L, find_model(script->arena, lua_tostring(L, 1), where, script->problems), where);
}

// A config.json in the scenario's folder.
static int model_hf(lua_State *L) {
    const Script *script = script_of(L);
    Where where = lua_host_where(L, 1);
    if (lua_type(L, 1) != LUA_TSTRING)
        return lua_host_fail(L, "for example: sim.model.hf \"config.json\"",
                             "sim.model.hf takes the name of a file, not a %s", luaL_typename(L, 1));
    lua_host_check_memory(L);
    const char *path = arena_copy_text(script->arena, lua_tostring(L, 1));
    return push_model(L, hf_model_read_gated(script->arena, script->host->gate, path, where, script->problems), where);
}

static int model_make_transformer(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_TRANSFORMER);
    if (!object.sound) return push_model(L, NULL, object.where);
    TransformerShape shape = {
        .name = object_text(&object, "name"),
        .layers = object_int(&object, "layers", 0),
        .hidden = object_int(&object, "hidden", 0),
        .heads = object_int(&object, "heads", 0),
        .kv_heads = object_int(&object, "kv_heads", 0),
        .head_dim = object_int(&object, "head_dim", 0),
        .ffn = object_int(&object, "ffn", 0),
        .vocab = object_int(&object, "vocab", 0),
        .max_positions = object_int(&object, "max_positions", 0),
        .gated_mlp = object_flag(&object, "gated_mlp", false),
        .untied_embedding = object_flag(&object, "untied_embedding", false),
        .causal = object_flag(&object, "causal", true),
        .rms_norm = object_flag(&object, "rms_norm", false),
        .experts = {.count = object_int(&object, "experts", 0),
                    .per_token = object_int(&object, "experts_per_token", 0),
                    .ffn = object_int(&object, "expert_ffn", 0),
                    .shared_ffn = object_int(&object, "shared_expert_ffn", 0),
                    .first_dense = object_int(&object, "dense_layers", 0),
                    .every = object_int(&object, "expert_every", 0)},
        .query_norms = object_flag(&object, "qk_norm", false),
        .latent = {.query_rank = object_int(&object, "q_lora_rank", 0),
                   .key_rank = object_int(&object, "kv_lora_rank", 0),
                   .plain_dim = object_int(&object, "qk_nope_head_dim", 0),
                   .rotary_dim = object_int(&object, "qk_rope_head_dim", 0),
                   .value_dim = object_int(&object, "v_head_dim", 0)},
        .extra_heads = object_int(&object, "mtp_layers", 0),
    };
    return push_model(L, model_transformer(script->arena, &shape, object.where, script->problems), object.where);
}

static int model_make_resnet(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_RESNET);
    if (!object.sound) return push_model(L, NULL, object.where);
    int depth = object_int(&object, "depth", 50), image_size = object_int(&object, "image_size", 224);
    int classes = object_int(&object, "classes", 1000);
    return push_model(L, model_resnet(script->arena, depth, image_size, classes, object.where, script->problems),
                      object.where);
}

static int model_make_mlp(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_MLP);
    if (!object.sound) return push_model(L, NULL, object.where);
    const Value *list = object_value(&object, "widths");
    int *widths = ARENA_ARRAY(script->arena, int, list->count);
    for (int i = 0; i < list->count; i++) widths[i] = (int)list->items[i].number;
    const char *name = object_text(&object, "name");
    return push_model(L, model_mlp(script->arena, name, widths, list->count, object.where, script->problems),
                      object.where);
}

static int model_make_lstm(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_LSTM);
    if (!object.sound) return push_model(L, NULL, object.where);
    LstmShape shape = {
        .layers = object_int(&object, "layers", 1),
        .hidden = object_int(&object, "hidden", 1),
        .vocab = object_int(&object, "vocab", 32000),
        .words = object_int(&object, "words", 50),
    };
    return push_model(L, model_lstm(script->arena, object_text(&object, "name"), shape), object.where);
}

static WrittenOperator written_operator(const Script *script, const Object *object, Where where) {
    const Value *passes = object_value(object, "passes");
    const char *name = object_text(object, "name");
    WrittenOperator one = {
        .where = where,
        .kind = (WrittenKind)object_value(object, "op")->choice,
        .name = name ? arena_copy_text(script->arena, name) : NULL,
        .n = object_int(object, "n", 0),
        .k = object_int(object, "k", 0),
        .rows = object_int(object, "rows", 0),
        .width = object_int(object, "width", 0),
        .heads = object_int(object, "heads", 0),
        .kv_heads = object_int(object, "kv_heads", 0),
        .head_dim = object_int(object, "head_dim", 0),
        .causal = object_flag(object, "causal", false),
        .bias = object_flag(object, "bias", false),
        .gated = object_flag(object, "gated", false),
        .split = (TensorSplit)object_value(object, "tp")->choice,
        .kept = object_number(object, "kept", -1),
    };
    if (passes->given && passes->count > 2) {
        problem_add(script->problems, passes->where, "passes are forward and backward, and these are %d",
                    passes->count);
        problem_hint(script->problems, "for example passes = { 3, 5 }");
    }
    for (int i = 0; i < 2 && passes->given; i++)
        one.passes[i] = passes->items[i < passes->count ? i : passes->count - 1].number;
    return one;
}

static WrittenBlock written_block_of(const Script *script, const Object *object, Where where, int number) {
    const Value *list = object_value(object, "operators");
    const char *name = object_text(object, "name");
    WrittenBlock block = {.where = where,
                          .name = name ? arena_copy_text(script->arena, name)
                                       : arena_printf(script->arena, "block %d", number),
                          .times = object_int(object, "times", 1),
                          .operators = ARENA_ARRAY(script->arena, WrittenOperator, list->count),
                          .count = list->count};
    for (int i = 0; i < list->count; i++)
        block.operators[i] = written_operator(script, list->items[i].table, list->items[i].where);
    return block;
}

static int model_make_operators(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_OPERATORS);
    if (!object.sound) return push_model(L, NULL, object.where);
    const Value *blocks = object_value(&object, "blocks");
    WrittenModel *written = ARENA_NEW(script->arena, WrittenModel);
    *written = (WrittenModel){
        .name = arena_copy_text(script->arena, object_text(&object, "name")),
        .tokens = object_value(&object, "samples")->choice == 0,
        .max_positions = object_int(&object, "max_positions", 0),
        .experts = object_int(&object, "experts", 0),
        .per_token = object_int(&object, "per_token", 0),
        .blocks = ARENA_ARRAY(script->arena, WrittenBlock, blocks->count),
        .count = blocks->count,
    };
    for (int i = 0; i < blocks->count; i++)
        written->blocks[i] = written_block_of(script, blocks->items[i].table, blocks->items[i].where, i + 1);
    return push_model(L, model_written(script->arena, written, object.where, script->problems), object.where);
}

const luaL_Reg model_functions[] = {{"get", model_get},
                                    {"hf", model_hf},
                                    {"gpt", model_make_transformer},
                                    {"transformer", model_make_transformer},
                                    {"resnet", model_make_resnet},
                                    {"mlp", model_make_mlp},
                                    {"lstm", model_make_lstm},
                                    {"operators", model_make_operators},
                                    {NULL, NULL}};

// ---- Training.

// The tables within the table, as objects of their own.
static void say_table(JobSaid *said, const Object *object) {
    const ObjectType *type = object_type(object->id);
    said->values[object->id] = object->values;
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].kind == FIELD_TABLE && object->values[i].table) say_table(said, object->values[i].table);
}

static int sim_training(lua_State *L) {
    const Script *script = script_of(L);
    Object object = read_call(L, 1, OBJECT_TRAINING);
    Job *job = NULL;
    if (object.sound) {
        job = ARENA_NEW(script->arena, Job);
        job->expect = ARENA_NEW(script->arena, ExpectationList);
        job->said = (JobSaid){.where = object.where, .scripted = true, .model = handle_value(&object, "model")};
        say_table(&job->said, &object);
        job_make(script->arena, &job->said, (GpuTypes){NULL, 0}, script->problems); // errors independent of the GPU
    }
    handle_push(L, HANDLE_TRAINING, job, object.where);
    return 1;
}

// ---- job:expect.

int job_expect(lua_State *L) {
    Script *script = script_of(L);
    const Handle *handle = handle_at(L, 1);
    if (!handle || handle->kind != HANDLE_TRAINING)
        return lua_host_fail(L, "write job:expect { … }, with a colon", "expect belongs to a sim.training");
    Object object = read_call(L, 2, OBJECT_EXPECT);
    const Job *job = handle->value;
    const ObjectType *type = object_type(OBJECT_EXPECT);
    for (int i = 0; i < type->field_count && job && object.sound; i++) {
        const Value *value = &object.values[i];
        Expectation expectation = {type->fields[i].name, value->where, value->flag, value->number};
        if (value->given) LIST_PUSH(script->arena, job->expect, expectation);
    }
    lua_settop(L, 1);
    return 1;
}

const luaL_Reg training_functions[] = {{"training", sim_training}, {NULL, NULL}};

// ---- Studies.

// ---- vary: the product of all, outermost first, as the script has them.

typedef struct Varied {
    Variation variation;
    const char *place; // in the source, or NULL
    int index;
} Varied;

static int order_varied(const void *a, const void *b) {
    const Varied *x = a, *y = b;
    if (x->place && y->place && x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->index - y->index;
}

static Variation variation_of(Arena *arena, const Field *field, const Value *value) {
    bool is_flag = field->kind == FIELD_FLAG;
    bool is_name = is_flag || field->kind == FIELD_PART || field->kind == FIELD_CHOICE;
    const char **texts = ARENA_ARRAY(arena, const char *, value->count);
    double *numbers = ARENA_ARRAY(arena, double, value->count);
    for (int i = 0; i < value->count; i++) {
        texts[i] = !is_flag ? value->items[i].text : value->items[i].flag ? "true" : "false";
        numbers[i] = is_name ? NAN : value->items[i].number;
    }
    return (Variation){field->name, value->where, texts, numbers, value->count};
}

static void set_vary(Arena *arena, StudySpec *study, const Object *vary) {
    const ObjectType *type = object_type(OBJECT_VARY);
    Varied varied[FIELDS_MOST] = {0};
    int count = 0;
    for (int i = 0; i < type->field_count; i++) {
        const Field *field = &type->fields[i];
        if (!vary->values[i].given) continue;
        varied[count] =
            (Varied){variation_of(arena, field, &vary->values[i]), place_of_key(vary->place, field->name).at, count};
        count++;
    }
    qsort(varied, (size_t)count, sizeof *varied, order_varied);
    Variation *list = ARENA_ARRAY(arena, Variation, count);
    for (int i = 0; i < count; i++) list[i] = varied[i].variation;
    study->vary = list;
    study->vary_count = count;
}

// ---- published.

typedef struct Metric {
    const char *field, *name, *unit;
} Metric;

static const Metric metrics[] = {
    {"step_time", "step time", "s"},
    {"total_time", "total time", "s"},
    {"days", "total time", "days"},
    {"samples_per_s", "throughput", "samples/s"},
    {"tokens_per_s", "throughput", "tokens/s"},
    {"efficiency", "efficiency", ""},
    {"mfu", "MFU", ""},
    {"hfu", "HFU", ""},
    {"memory", "memory", "B"},
    {"cost_per_hour", "cost per hour", ""},
    {"cost_per_month", "cost per month", ""},
    {"cost_per_run", "cost of the run", ""},
    {"energy", "energy", "kWh"},
};

typedef LIST_OF(PublishedFigure) FigureList;

static void set_match(Arena *arena, PublishedFigure *figure, const Object *entry) {
    const ObjectType *variables = object_type(OBJECT_VARY);
    const char **names = ARENA_ARRAY(arena, const char *, variables->field_count);
    const char **texts = ARENA_ARRAY(arena, const char *, variables->field_count);
    for (int i = 0; i < variables->field_count; i++) {
        const char *name = variables->fields[i].name;
        if (!object_has(entry, name)) continue;
        names[figure->match_count] = name;
        texts[figure->match_count++] = object_value(entry, name)->text;
    }
    figure->match_names = names;
    figure->match_texts = texts;
}

static bool add_figures(Script *script, FigureList *figures, const Object *entry) {
    int before = figures->count;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const Metric *metric = &metrics[i];
        if (!object_has(entry, metric->field)) continue;
        PublishedFigure figure = {.where = entry->where,
                                  .unit = metric->unit,
                                  .source = object_text(entry, "source"),
                                  .metric = metric->field};
        figure.name = object_has(entry, "name") ? object_text(entry, "name") : metric->name;
        figure.value = object_number(entry, metric->field, NAN);
        set_match(script->arena, &figure, entry);
        LIST_PUSH(script->arena, figures, figure);
    }
    if (figures->count > before) return true;
    problem_add(script->problems, entry->where, "this published figure has no figure in it");
    return problem_hint(script->problems,
                        "add step_time, total_time, samples_per_s, efficiency, or another of its fields");
}

static bool set_published(Script *script, StudySpec *study, const Value *published) {
    FigureList figures = {0};
    bool sound = true;
    for (int i = 0; i < published->count; i++)
        sound = add_figures(script, &figures, published->items[i].table) && sound;
    study->published = figures.items;
    study->published_count = figures.count;
    return sound;
}

// ---- The study.

// Settings of recomputation need at least one value that uses them.
static bool check_varied_recompute(Script *script, const StudySpec *study, const Variation *variation) {
    bool selective = false, some = false, operations = false;
    for (int i = 0; i < variation->count; i++) {
        if (!variation->texts[i]) return true; // refused elsewhere
        selective = selective || strcmp(variation->texts[i], recompute_name(RECOMPUTE_SELECTIVE)) == 0;
        operations = operations || strcmp(variation->texts[i], recompute_name(RECOMPUTE_OPERATIONS)) == 0;
        some = some || strcmp(variation->texts[i], recompute_name(RECOMPUTE_NONE)) != 0;
    }
    const TrainingSpec *training = &study->training;
    bool parts = training->recompute_modules && !selective, kept = training->recompute_keeps && !operations;
    if (!parts && !kept && (!recomputes_some_layers(training) || some)) return true;
    const char *said = parts                            ? "recompute_modules"
                       : kept                           ? "recompute_keeps"
                       : training->recompute_layers > 0 ? "recompute_layers"
                                                        : "recompute_every";
    problem_add(script->problems, variation->where, "the job says %s, which none of these values of recompute uses",
                said);
    return problem_hint(script->problems, "add \"%s\", or leave %s out",
                        parts  ? "selective"
                        : kept ? "operations"
                               : "full",
                        said);
}

static bool check_vary(Script *script, const StudySpec *study) {
    for (int i = 0; i < study->vary_count; i++) {
        const Variation *variation = &study->vary[i];
        if (strcmp(variation->name, "recompute") == 0 && !check_varied_recompute(script, study, variation))
            return false;
        bool needs_one_type = strcmp(variation->name, "gpus") == 0 || strcmp(variation->name, "node") == 0 ||
                              strcmp(variation->name, "gpu") == 0;
        if (!needs_one_type || study->cluster->group_count == 1) continue;
        problem_add(script->problems, variation->where, "%s cannot be varied on a cluster of several types of nodes",
                    variation->name);
        return problem_hint(script->problems, "write one study for each cluster and return them in a list");
    }
    return true;
}

static StudySpec *study_of(lua_State *L, const Object *object) {
    Script *script = script_of(L);
    const Job *job = handle_value(object, "run");
    StudySpec *study = ARENA_NEW(script->arena, StudySpec);
    *study = (StudySpec){
        .where = object->where,
        .title = object_text(object, "title"),
        .scenario = script->request->file,
        .catalogue = script->catalogue,
        .cluster = handle_value(object, "on"),
        .said = &job->said,
        .seeds = object_int(object, "seeds", 1),
        .seed = script->request->seed,
        .unfolded = script->request->unfolded,
        .want_timeline = script->request->want_timeline || object_flag(object, "timeline", false),
        .assume_fits = object_flag(object, "assume_fits", false),
        .noise = object_number(object, "noise", 0),
        .expect = job->expect->items,
        .expect_count = job->expect->count,
    };
    study->plots = read_texts(L, object, "plot", &study->plot_count);
    study->keep = read_texts(L, object, "keep", &study->keep_count);
    study->notes = read_texts(L, object, "notes", &study->note_count);
    for (int i = 0; i < study->plot_count; i++) study->want_timeline |= strcmp(study->plots[i], "gantt") == 0;
    study->training = job_make(script->arena, study->said,
                               cluster_gpu_types(script->arena, script->catalogue, study->cluster), script->problems);
    const Object *vary = object_table(object, "vary");
    if (vary) set_vary(script->arena, study, vary);
    bool sound = check_vary(script, study);
    return set_published(script, study, object_value(object, "published")) && sound ? study : NULL;
}

void push_study(lua_State *L, const char *word) {
    Reader reader = script_reader(L);
    Object object;
    read_object(&reader, 1, OBJECT_STUDY, word, lua_host_where(L, 1), NULL, &object);
    handle_push(L, HANDLE_STUDY, object.sound ? study_of(L, &object) : NULL, object.where);
}

static int sim_study(lua_State *L) {
    push_study(L, object_type(OBJECT_STUDY)->word);
    return 1;
}

const luaL_Reg study_functions[] = {{"study", sim_study}, {NULL, NULL}};
