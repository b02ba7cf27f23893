// Points of a sweep: the meaning of each parameter, the key of a point, and its simulation.
#include "scenarios/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/program/program.h"
#include "scenarios/study/study_options.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/quantity.h"
#include "sim/base/version.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

#define MOST_POINTS 100000000

typedef LIST_OF(const char *) Texts;

static bool is_scenario(const Sweep *sweep) { return sweep->request->scenario.file != NULL; }

// ---- The study at some values of options and paths.

typedef struct Made {
    const StudySpec *study;
    const ProgramSpec *program;
    const Scenario *scenario; // NULL: from options
} Made;

static const char *option_spelling(Arena *arena, const char *name) {
    char *copy = arena_copy_text(arena, name);
    for (char *c = copy; *c; c++)
        if (*c == '_') *c = '-';
    return copy;
}

static bool take_item(const Scenario *scenario, Made *made, const char *file, Problems *problems) {
    made->scenario = scenario;
    const ScenarioItem *item = &scenario->items[0];
    if (scenario->item_count == 1 && (item->study || item->program)) {
        made->study = item->study;
        made->program = item->program;
        return true;
    }
    problem_add(problems, (Where){file, 0}, "a sweep takes one study or program; the scenario returns %s",
                scenario->item_count > 1 ? "several"
                : item->queue            ? "a queue"
                : item->packets          ? "packets"
                                         : "a report");
    return problem_hint(problems, "choose with an option: return ({ a = one, b = another })[opt.which]");
}

// arguments: "--name=value" behind the command line's own; sets: "path=value" behind those of --set.
static bool make(Arena *arena, const SweepRequest *request, uint64_t seed, const Texts *arguments, const Texts *sets,
                 Made *made, Problems *problems, Problems *usage) {
    ScenarioRequest asked = request->scenario;
    asked.seed = seed;
    char **argv = ARENA_ARRAY(arena, char *, asked.argc + arguments->count + 1);
    const char **paths = ARENA_ARRAY(arena, const char *, asked.set_count + sets->count);
    for (int i = 0; i < asked.argc; i++) argv[i] = asked.argv[i];
    for (int i = 0; i < arguments->count; i++) argv[asked.argc++] = arena_copy_text(arena, arguments->items[i]);
    for (int i = 0; i < asked.set_count; i++) paths[i] = asked.sets[i];
    for (int i = 0; i < sets->count; i++) paths[asked.set_count++] = sets->items[i];
    asked.argv = argv;
    asked.sets = paths;
    if (asked.file) {
        const Scenario *scenario = scenario_load(arena, request->catalogue, &asked, problems, usage);
        return scenario && take_item(scenario, made, asked.file, problems);
    }
    const Options *options = options_parse(arena, request->specs, request->spec_count, asked.argc, argv, usage);
    if (problem_count(usage)) return false;
    made->study = study_from_options(arena, options, request->catalogue, "lockstep sweep", problems);
    return made->study != NULL;
}

// The arguments and sets of a point; values[p] is the value of parameter p.
static void overrides(const Sweep *sweep, Arena *arena, const int *values, Texts *arguments, Texts *sets) {
    for (int p = 0; p < sweep->parameter_count; p++) {
        const SweepParameter *parameter = &sweep->parameters[p];
        const char *text = parameter->values.texts[values[p]], *name = parameter->values.name;
        if (parameter->kind == SWEEP_OPTION)
            LIST_PUSH(arena, arguments, arena_printf(arena, "--%s=%s", option_spelling(arena, name), text));
        if (parameter->kind == SWEEP_SET) LIST_PUSH(arena, sets, arena_printf(arena, "%s=%s", name, text));
        // A study of options needs some number of GPUs to begin with.
        if (!is_scenario(sweep) && parameter->kind == SWEEP_STUDY && strcmp(name, "gpus") == 0)
            LIST_PUSH(arena, arguments, arena_printf(arena, "--gpus=%s", text));
    }
}

static bool varies_seed(const Sweep *sweep) {
    for (int p = 0; p < sweep->parameter_count; p++)
        if (sweep->parameters[p].kind == SWEEP_SEED) return true;
    return false;
}

static uint64_t seed_of(const Sweep *sweep, const int *values) {
    uint64_t seed = sweep->request->scenario.seed;
    for (int p = 0; p < sweep->parameter_count; p++)
        if (sweep->parameters[p].kind == SWEEP_SEED)
            CHECK(digits_read(sweep->parameters[p].values.texts[values[p]], &seed));
    return seed;
}

// ---- What a name means.

static const OptionSpec *find_option(const OptionSpec *specs, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(specs[i].name, name) == 0) return &specs[i];
    return NULL;
}

// Options that may vary: the script's own, or those of the job.
static const OptionSpec *variable_options(const Sweep *sweep, Arena *arena, const Made *base, int *count) {
    if (!is_scenario(sweep)) return study_option_rows(arena, count);
    *count = base->scenario->option_count;
    return base->scenario->options;
}

static bool varies_already(const Made *base, const char *name) {
    for (int v = 0; base->study && v < base->study->vary_count; v++)
        if (strcmp(base->study->vary[v].name, name) == 0) return true;
    return false;
}

static void unknown_name(Arena *arena, const Variation *values, const OptionSpec *specs, int count,
                         Problems *problems) {
    Texts known = {0};
    int study_count;
    const char *const *study_names = study_vary_names(&study_count);
    for (int i = 0; i < study_count; i++) LIST_PUSH(arena, &known, study_names[i]);
    for (int i = 0; i < count; i++) LIST_PUSH(arena, &known, specs[i].name);
    problem_add(problems, values->where, "%s cannot be varied", values->name);
    if (!problem_hint_near(problems, values->name, known.items, known.count))
        problem_hint(problems, "for example gpus, tp, micro_batch; every option of lockstep run --help can be varied");
}

static void find_kind(const Sweep *sweep, Arena *arena, const Made *base, SweepParameter *parameter,
                      Problems *problems) {
    int option_count, study_count;
    const OptionSpec *specs = variable_options(sweep, arena, base, &option_count);
    const char *const *study_names = study_vary_names(&study_count);
    const char *name = parameter->values.name;
    bool in_study = name_is_among(study_names, study_count, name);
    // In options, all but the number of GPUs means what the option means: it may decide what others default to.
    bool study_first = is_scenario(sweep) ? varies_already(base, name) : strcmp(name, "gpus") == 0;
    if (strcmp(name, VARIED_SEED) == 0)
        parameter->kind = SWEEP_SEED;
    else if (strchr(name, '.') && is_scenario(sweep))
        parameter->kind = SWEEP_SET;
    else if (study_first && in_study)
        parameter->kind = SWEEP_STUDY;
    else if (find_option(specs, option_count, option_spelling(arena, name)))
        parameter->kind = SWEEP_OPTION;
    else if (in_study && (!is_scenario(sweep) || base->study))
        parameter->kind = SWEEP_STUDY;
    else
        unknown_name(arena, &parameter->values, specs, option_count, problems);
}

// ---- Parameters.

typedef LIST_OF(SweepParameter) ParameterList;

static void add_axis(Sweep *sweep, int size, Problems *problems, Where where) {
    if (sweep->axis_count == MOST_VARIED || sweep->point_count > MOST_POINTS / size) {
        problem_add(problems, where, "the sweep has more than a hundred million points");
        problem_hint(problems, "vary fewer things at once");
        return;
    }
    sweep->axis_size[sweep->axis_count++] = size;
    sweep->point_count *= size;
}

static void add_parameter(Sweep *sweep, Arena *arena, ParameterList *list, const Variation *values,
                          Problems *problems) {
    SweepParameter parameter = {.values = *values, .axis = sweep->axis_count};
    for (int p = 0; p < list->count; p++)
        if (strcmp(list->items[p].values.name, values->name) == 0) {
            problem_add(problems, values->where, "%s is varied twice", values->name);
            problem_hint(problems, "name all its values at once");
        }
    if (list->count == MOST_VARIED) problem_add(problems, values->where, "more than %d things vary", MOST_VARIED);
    if (list->count < MOST_VARIED) LIST_PUSH(arena, list, parameter);
}

static bool is_among(const Variation *variations, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(variations[i].name, name) == 0) return true;
    return false;
}

// The script's own variations that are not overridden come first, then --vary in its order, then the list.
static void collect(Sweep *sweep, Arena *arena, const Made *base, const Variation *varied, int varied_count,
                    const Variation *columns, int column_count, Problems *problems) {
    ParameterList list = {0};
    for (int v = 0; base->study && v < base->study->vary_count; v++) {
        const Variation *own = &base->study->vary[v];
        if (is_among(varied, varied_count, own->name) || is_among(columns, column_count, own->name)) continue;
        add_parameter(sweep, arena, &list, own, problems);
        add_axis(sweep, own->count, problems, own->where);
    }
    for (int v = 0; v < varied_count; v++) {
        add_parameter(sweep, arena, &list, &varied[v], problems);
        add_axis(sweep, varied[v].count, problems, varied[v].where);
    }
    for (int c = 0; c < column_count; c++) add_parameter(sweep, arena, &list, &columns[c], problems);
    if (column_count > 0) add_axis(sweep, columns[0].count, problems, columns[0].where);
    sweep->parameters = list.items;
    sweep->parameter_count = list.count;
    for (int p = 0; p < list.count; p++) {
        find_kind(sweep, arena, base, &list.items[p], problems);
        sweep->is_remade |= list.items[p].kind == SWEEP_OPTION || list.items[p].kind == SWEEP_SET;
        int place = p;
        for (; place > 0 && strcmp(list.items[sweep->by_name[place - 1]].values.name, list.items[p].values.name) > 0;
             place--)
            sweep->by_name[place] = sweep->by_name[place - 1];
        sweep->by_name[place] = p;
    }
}

static void check_not_fixed(const Sweep *sweep, Arena *arena, const Made *base, Problems *problems) {
    int count, joined_count;
    const OptionSpec *specs = variable_options(sweep, arena, base, &count), *joined = sweep->request->specs;
    joined_count = sweep->request->spec_count;
    if (is_scenario(sweep)) joined = options_join(arena, joined, joined_count, specs, count, &joined_count);
    const Options *given = options_parse(arena, joined, joined_count, sweep->request->scenario.argc,
                                         sweep->request->scenario.argv, problems_create(arena));
    for (int p = 0; p < sweep->parameter_count; p++) {
        const Variation *values = &sweep->parameters[p].values;
        const char *spelling = option_spelling(arena, values->name);
        if (!find_option(joined, joined_count, spelling) || !option_given(given, spelling)) continue;
        problem_add(problems, values->where, "--%s says one value, and it is varied", spelling);
        problem_hint(problems, "leave out the one or the other");
    }
}

// ---- The sweep in the store.

#define LARGEST_NAMED ((size_t)16 << 20) // as readers of these have it

// Digest of the files that an option names: a config.json, "node.xml", "ib-ndr400:topology.conf".
static uint64_t files_digest(Arena *arena, const char *text, uint64_t digest) {
    while (*text) {
        size_t length = strcspn(text, ":"), bytes = 0;
        const char *path = arena_printf(arena, "%.*s", (int)length, text);
        bool may_be = strpbrk(path, "./") && file_is_regular_or_none(path, problems_create(arena));
        const char *file = may_be ? file_read(arena, path, LARGEST_NAMED, &bytes, problems_create(arena)) : NULL;
        if (file) digest = digest_bytes(digest, file, bytes);
        text += length + (text[length] == ':');
    }
    return digest;
}

// Whatever decides results and is not a parameter: the script with all it reads, or the job's options as given, with
// the files that they name.
static uint64_t definition_digest(const Sweep *sweep, Arena *arena, const Made *base) {
    static const char *const naming[] = {"model", "node", "fabric"};
    const SweepRequest *request = sweep->request;
    uint64_t digest = base->scenario ? base->scenario->digest : DIGEST_START;
    int count;
    const OptionSpec *specs = variable_options(sweep, arena, base, &count);
    const OptionSpec *joined = request->specs;
    int joined_count = request->spec_count;
    if (is_scenario(sweep)) joined = options_join(arena, joined, joined_count, specs, count, &joined_count);
    const Options *given = options_parse(arena, joined, joined_count, request->scenario.argc, request->scenario.argv,
                                         problems_create(arena));
    for (int i = 0; i < count; i++) {
        bool is_file = strcmp(specs[i].name, "profile") == 0 || strcmp(specs[i].name, "price-book") == 0; // read below
        if (is_file || !option_given(given, specs[i].name)) continue;
        const char *text = option_written(arena, given, specs[i].name);
        digest = digest_bytes(digest, specs[i].name, strlen(specs[i].name) + 1);
        digest = digest_bytes(digest, text, strlen(text) + 1);
        if (name_is_among(naming, 3, specs[i].name)) digest = files_digest(arena, text, digest);
    }
    for (int i = 0; i < request->scenario.set_count; i++)
        digest = digest_bytes(digest, request->scenario.sets[i], strlen(request->scenario.sets[i]) + 1);
    return digest_bytes(digest, request->profile_text, strlen(request->profile_text) + 1);
}

static const char *names_json(const Sweep *sweep, Arena *arena) {
    const char *json = "[";
    for (int p = 0; p < sweep->parameter_count; p++)
        json = arena_printf(arena, "%s%s\"%s\"", json, p ? "," : "", sweep->parameters[p].values.name);
    return arena_printf(arena, "%s]", json);
}

static void describe(Sweep *sweep, Arena *arena, const Made *base) {
    uint64_t digest = definition_digest(sweep, arena, base);
    const char *names = names_json(sweep, arena), *engine = engine_version();
    digest = digest_bytes(digest, engine, strlen(engine) + 1);
    for (int p = 0; p < sweep->parameter_count; p++) {
        const char *name = sweep->parameters[sweep->by_name[p]].values.name;
        digest = digest_bytes(digest, name, strlen(name) + 1);
    }
    StudySpec varied = base->study ? *base->study : (StudySpec){0};
    varied.vary_count += sweep->parameter_count; // of which its title says nothing
    const char *program_title = base->program && base->program->title ? base->program->title : "Rank program";
    sweep->stored = (StoreStudy){.id = arena_printf(arena, "%016llx", (unsigned long long)digest),
                                 .engine = engine,
                                 .title = base->study ? study_title(arena, &varied) : program_title,
                                 .scenario = base->study ? base->study->scenario : base->program->scenario,
                                 .sample_name = base->study ? sample_name(base->study->training.model) : "samples",
                                 .parameters = names};
}

// ---- Creation.

static void check_study_values(const Sweep *sweep, Arena *arena, Problems *problems) {
    if (!sweep->study) return;
    StudySpec spec = *sweep->study;
    Variation *vary = ARENA_ARRAY(arena, Variation, sweep->parameter_count);
    spec.vary = vary;
    spec.vary_count = 0;
    for (int p = 0; p < sweep->parameter_count; p++)
        if (sweep->parameters[p].kind == SWEEP_STUDY) vary[spec.vary_count++] = sweep->parameters[p].values;
    study_check(&spec, problems);
}

Sweep *sweep_create(Arena *arena, const SweepRequest *request, Problems *problems, Problems *usage) {
    Sweep *sweep = ARENA_NEW(arena, Sweep);
    *sweep = (Sweep){.request = request, .point_count = 1};
    Variation *varied = ARENA_ARRAY(arena, Variation, request->varied_count);
    int before = problems_added(problems), column_count = 0;
    for (int i = 0; i < request->varied_count; i++) vary_read(arena, request->varied[i], &varied[i], problems);
    const Variation *columns = request->list ? vary_list(arena, request->list, &column_count, problems) : NULL;
    if (problems_added(problems) > before) return NULL;

    Texts none = {0}, arguments = {0}, sets = {0};
    Made base = {0};
    if (is_scenario(sweep) && !make(arena, request, request->scenario.seed, &none, &none, &base, problems, usage))
        return NULL;
    collect(sweep, arena, &base, varied, request->varied_count, columns, column_count, problems);
    check_not_fixed(sweep, arena, &base, problems);
    if (problems_added(problems) > before) return NULL;

    // The first point represents all: its errors are the user's, not the point's.
    int first[MOST_VARIED] = {0};
    overrides(sweep, arena, first, &arguments, &sets);
    if (!make(arena, request, seed_of(sweep, first), &arguments, &sets, &base, problems, usage)) return NULL;
    sweep->is_remade = sweep->is_remade || (varies_seed(sweep) && base.scenario && base.scenario->used_seed);
    sweep->study = base.study;
    sweep->program = base.program;
    check_study_values(sweep, arena, problems);
    if (problems_added(problems) > before) return NULL;
    describe(sweep, arena, &base);
    return sweep;
}

// ---- One point.

static void values_of(const Sweep *sweep, int64_t point, int *values) {
    int at[MOST_VARIED] = {0};
    for (int a = sweep->axis_count - 1; a >= 0; a--) {
        at[a] = (int)(point % sweep->axis_size[a]);
        point /= sweep->axis_size[a];
    }
    for (int p = 0; p < sweep->parameter_count; p++) values[p] = at[sweep->parameters[p].axis];
}

static uint64_t point_digest(const Sweep *sweep, const int *values, uint64_t digest) {
    digest = digest_bytes(digest, sweep->stored.id, strlen(sweep->stored.id) + 1);
    digest = digest_u64(digest, seed_of(sweep, values));
    for (int p = 0; p < sweep->parameter_count; p++) {
        int named = sweep->by_name[p];
        const char *text = sweep->parameters[named].values.texts[values[named]];
        digest = digest_bytes(digest, text, strlen(text) + 1);
    }
    return digest;
}

static const char *key_of(const Sweep *sweep, Arena *arena, const int *values) {
    uint64_t first = point_digest(sweep, values, DIGEST_START), second = point_digest(sweep, values, ~first);
    return arena_printf(arena, "%016llx%016llx", (unsigned long long)first, (unsigned long long)second);
}

const char *sweep_key(const Sweep *sweep, Arena *arena, int64_t point) {
    int values[MOST_VARIED];
    values_of(sweep, point, values);
    return key_of(sweep, arena, values);
}

// So large a whole number keeps all its digits as a text only (see seed_member).
static bool is_beyond_doubles(const char *text) {
    uint64_t whole;
    return digits_read(text, &whole) && whole > UINT64_C(1) << 53;
}

static const char *parameters_json(const Sweep *sweep, Arena *arena, const int *values) {
    TextStream text = text_stream_open();
    JsonWriter json = json_writer(text.stream, 0);
    json_begin_object(&json);
    for (int p = 0; p < sweep->parameter_count; p++) {
        const Variation *list = &sweep->parameters[sweep->by_name[p]].values;
        int value = values[sweep->by_name[p]];
        json_key(&json, list->name);
        if (isfinite(list->numbers[value]) && !is_beyond_doubles(list->texts[value]))
            json_write_number(&json, list->numbers[value]);
        else
            json_write_text(&json, list->texts[value]);
    }
    json_end_object(&json);
    return text_stream_close(arena, &text);
}

static void name_row(const Sweep *sweep, Arena *arena, const int *values, StoreRow *row) {
    row->texts[ROW_KEY] = key_of(sweep, arena, values);
    row->texts[ROW_STUDY] = sweep->stored.id;
    row->texts[ROW_PARAMETERS] = parameters_json(sweep, arena, values);
    row->seed = (int64_t)seed_of(sweep, values);
}

static RecordPoint program_point(Arena *arena, const ProgramSpec *program, const StudySpec *how, Problems *problems) {
    const System *system = program_system(arena, program, problems);
    if (!system) return (RecordPoint){.why_not = problem_at(problems, 0)->text};
    return simulate_program(arena, program, system, how, problems);
}

// With what studies vary; *at: the values of one point.
static StudySpec varied_study(const Sweep *sweep, Arena *arena, const StudySpec *made, const int *values, int *at) {
    StudySpec study = *study_with_list_price(arena, made); // as run has it
    Variation *vary = ARENA_ARRAY(arena, Variation, sweep->parameter_count);
    study.vary = vary;
    study.vary_count = 0;
    study.seed = seed_of(sweep, values);
    for (int p = 0; p < sweep->parameter_count; p++) {
        if (sweep->parameters[p].kind != SWEEP_STUDY) continue;
        at[study.vary_count] = values[p];
        vary[study.vary_count++] = sweep->parameters[p].values;
    }
    return study;
}

static RecordPoint study_point_at(Sweep *sweep, Arena *arena, const StudySpec *made, const int *values,
                                  Problems *problems) {
    int at[MOST_VARIED];
    StudySpec study = varied_study(sweep, arena, made, values, at);
    if (sweep->is_remade) sweep->baseline.known = false; // is that of another study
    return study_point(arena, &study, at, &sweep->baseline, problems);
}

// What is simulated at a point. False after problems.
static bool made_at(const Sweep *sweep, Arena *arena, const int *values, Made *made, Problems *problems,
                    Problems *usage) {
    Texts arguments = {0}, sets = {0};
    *made = (Made){.study = sweep->study, .program = sweep->program};
    overrides(sweep, arena, values, &arguments, &sets);
    uint64_t seed = seed_of(sweep, values);
    return !sweep->is_remade || make(arena, sweep->request, seed, &arguments, &sets, made, problems, usage);
}

static RecordPoint simulate(Sweep *sweep, Arena *arena, const int *values) {
    Made made;
    Problems *problems = problems_create(arena), *usage = problems_create(arena);
    uint64_t seed = seed_of(sweep, values);
    if (!made_at(sweep, arena, values, &made, problems, usage)) {
        const Problems *why = problem_count(problems) ? problems : usage;
        return (RecordPoint){.why_not = problem_count(why) ? problem_at(why, 0)->text : "it cannot be made"};
    }
    StudySpec how = {.seed = seed, .unfolded = sweep->request->scenario.unfolded};
    if (made.program) return program_point(arena, made.program, &how, problems);
    return study_point_at(sweep, arena, made.study, values, problems);
}

// Points over which settings without effect are looked for, spread over all of them.
#define MOST_LOOKED_AT 64

RecordPoint *sweep_effects(const Sweep *sweep, Arena *arena, int *count) {
    bool runs_again = sweep->is_remade && sweep->request->scenario.file; // the script is run once here
    *count = !sweep->study || runs_again           ? 0
             : sweep->point_count < MOST_LOOKED_AT ? (int)sweep->point_count
                                                   : MOST_LOOKED_AT;
    RecordPoint *points = ARENA_ARRAY(arena, RecordPoint, *count);
    for (int i = 0; i < *count; i++) {
        int values[MOST_VARIED], at[MOST_VARIED];
        values_of(sweep, i * (sweep->point_count - 1) / (*count > 1 ? *count - 1 : 1), values);
        Made made;
        if (!made_at(sweep, arena, values, &made, problems_create(arena), problems_create(arena))) continue;
        StudySpec study = varied_study(sweep, arena, made.study, values, at);
        study_effects(arena, &study, at, &points[i]);
    }
    return points;
}

StoreRow sweep_point(Sweep *sweep, Arena *arena, int64_t point) {
    int values[MOST_VARIED];
    values_of(sweep, point, values);
    RecordPoint simulated = simulate(sweep, arena, values);
    const StudySpec *study = sweep->study;
    StoreRow row = store_row(arena, &simulated, study ? study->keep : NULL, study ? study->keep_count : 0);
    if (simulated.beyond_limits) row.texts[ROW_STATUS] = "failed"; // until it is tried with others
    name_row(sweep, arena, values, &row);
    return row;
}

StoreRow sweep_failed_point(const Sweep *sweep, Arena *arena, int64_t point, const char *reason) {
    int values[MOST_VARIED];
    values_of(sweep, point, values);
    StoreRow row = {0};
    for (int c = 0; c < POINT_COLUMNS; c++) row.numbers[c] = NAN;
    row.texts[ROW_STATUS] = "failed";
    row.texts[ROW_REASON] = reason;
    name_row(sweep, arena, values, &row);
    return row;
}
