// sim.study: variations, published figures, and plots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/training.h"
#include "scenarios/lua/lua_script.h"

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

typedef struct FigureList {
    PublishedFigure *items;
    int count, room;
} FigureList;

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
    problem_hint(script->problems, "add step_time, total_time, samples_per_s, efficiency, or another of its fields");
    return false;
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
    problem_hint(script->problems, "add \"%s\", or leave %s out",
                 parts  ? "selective"
                 : kept ? "operations"
                        : "full",
                 said);
    return false;
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
        problem_hint(script->problems, "write one study for each cluster and return them in a list");
        return false;
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
