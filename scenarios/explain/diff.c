#include "scenarios/explain/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "sim/list.h"

#define REST "rest" // of a step that no cause is said of

static const char *title_of_cause(const char *name) {
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (strcmp(cause_names[c], name) == 0) return cause_titles[c];
    return name;
}

static double finite_or_nan(double value) { return isfinite(value) ? value : NAN; }

// ---- Sides.

// What is left of the step is a part of its own, so that parts sum to the step.
static void close_side(Arena *arena, DiffSide *side) {
    double sum = 0;
    for (int i = 0; i < side->cause_count; i++) sum += side->causes[i].value;
    double rest = side->step_s - sum;
    if (side->cause_count > 0 && fabs(rest) <= 1e-9 * side->step_s) return;
    NamedValue *causes = ARENA_ARRAY(arena, NamedValue, side->cause_count + 1);
    for (int i = 0; i < side->cause_count; i++) causes[i] = side->causes[i];
    causes[side->cause_count++] = (NamedValue){REST, "Of no cause that was told", rest};
    side->causes = causes;
}

bool diff_side_of_study(Arena *arena, const StudySpec *study, const char *name, DiffSide *side, Problems *problems) {
    int before = problems_added(problems);
    *side = (DiffSide){.name = name, .study = study};
    const Cluster *cluster = cluster_create(arena, study->catalogue, study->cluster, problems);
    if (!cluster) return false;
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *training = study->training;
    RecordPoint point = simulate_training(arena, cluster, training, study, problems);
    if (problems_added(problems) > before) return false;
    if (!point.ran) {
        problem_add(problems, study->where, "%s does not run: %s", name, point.why_not);
        problem_hint(problems, point.smallest_change ? "it would with %s" : "%s",
                     point.smallest_change ? point.smallest_change : "lockstep run says more of it");
        return false;
    }
    side->step_s = point.step_p50_s;
    side->samples = point.global_batch;
    side->memory_bytes = point.memory_peak_bytes;
    side->cost_per_step = finite_or_nan(point.cost_per_step);
    side->power_watts = finite_or_nan(point.power_watts);
    side->currency = point.currency;
    side->causes = ARENA_ARRAY(arena, NamedValue, point.exposed_count);
    for (int i = 0; i < point.exposed_count; i++) side->causes[i] = point.exposed[i];
    side->cause_count = point.exposed_count;
    side->memory = ARENA_ARRAY(arena, NamedValue, point.memory_count);
    for (int i = 0; i < point.memory_count; i++) side->memory[i] = point.memory[i];
    side->memory_count = point.memory_count;
    close_side(arena, side);
    return true;
}

static const Json *inner(const Json *object, const char *key) {
    const Json *value = object && object->kind == JSON_OBJECT ? json_get(object, key) : NULL;
    return value && value->kind != JSON_NULL ? value : NULL;
}

static double number_of(const Json *object, const char *key) {
    const Json *value = inner(object, key);
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

static NamedValue *values_of(Arena *arena, const Json *object, int *count) {
    *count = object && object->kind == JSON_OBJECT ? object->count : 0;
    NamedValue *list = ARENA_ARRAY(arena, NamedValue, *count);
    for (int i = 0; i < *count; i++)
        list[i] = (NamedValue){object->items[i].key, object->items[i].key,
                               object->items[i].kind == JSON_NUMBER ? object->items[i].number : 0};
    return list;
}

typedef struct TextList {
    DiffText *items;
    int count, room;
} TextList;

static void list_settings(Arena *arena, const Json *object, TextList *list) {
    for (int i = 0; object && object->kind == JSON_OBJECT && i < object->count; i++) {
        const Json *value = &object->items[i];
        const char *text = value->kind == JSON_NUMBER ? arena_printf(arena, "%.6g", value->number)
                           : value->kind == JSON_TEXT ? value->text
                                                      : NULL;
        if (text) LIST_PUSH(arena, list, ((DiffText){value->key, text}));
    }
}

// What an answer says it assumed are settings of it too.
static void list_assumptions(Arena *arena, const Json *assumptions, TextList *list) {
    for (int i = 0; assumptions && assumptions->kind == JSON_LIST && i < assumptions->count; i++) {
        const Json *name = inner(&assumptions->items[i], "name"), *value = inner(&assumptions->items[i], "value");
        if (!name || name->kind != JSON_TEXT || !value) continue;
        const char *text = value->kind == JSON_NUMBER ? arena_printf(arena, "%.6g", value->number) : value->text;
        if (text) LIST_PUSH(arena, list, ((DiffText){name->text, text}));
    }
}

bool diff_side_of_json(Arena *arena, const char *path, DiffSide *side, Problems *problems) {
    const Json *root = json_read_file(arena, path, problems);
    if (!root) return false;
    const Json *step = inner(root, "step_time_s");
    *side = (DiffSide){.name = path, .step_s = number_of(step, "p50")};
    if (!(side->step_s > 0)) {
        const Json *points = inner(root, "points");
        problem_add(problems, (Where){path, 0}, "this is no answer of one point with a step time");
        problem_hint(problems,
                     points && points->count > 1 ? "it has %d points: run the one in question with --json"
                                                 : "lockstep run … --json writes one (%d points here)",
                     points ? points->count : 0);
        return false;
    }
    const Json *memory = inner(root, "memory_bytes"), *cost = inner(root, "cost"), *layout = inner(root, "layout");
    const Json *currency = inner(cost, "currency");
    side->memory_bytes = number_of(memory, "peak");
    side->cost_per_step = number_of(cost, "per_step");
    side->power_watts = number_of(root, "power_watts");
    side->currency = currency && currency->kind == JSON_TEXT ? currency->text : "";
    side->samples = number_of(layout, "global_batch");
    side->causes = values_of(arena, inner(root, "exposed_s"), &side->cause_count);
    for (int i = 0; i < side->cause_count; i++) side->causes[i].title = title_of_cause(side->causes[i].name);
    side->memory = values_of(arena, inner(memory, "by_class"), &side->memory_count);
    TextList settings = {0};
    LIST_PUSH(arena, &settings, ((DiffText){"gpus", arena_printf(arena, "%.6g", number_of(root, "gpus"))}));
    LIST_PUSH(arena, &settings, ((DiffText){"nodes", arena_printf(arena, "%.6g", number_of(root, "nodes"))}));
    list_settings(arena, layout, &settings);
    list_settings(arena, inner(root, "parameters"), &settings);
    list_assumptions(arena, inner(root, "assumptions"), &settings);
    side->settings = settings.items;
    side->setting_count = settings.count;
    close_side(arena, side);
    return true;
}

// A column's number: an empty cell is unknown, like a column that is not there.
static double cell_number(const Csv *csv, int row, const char *column, Problems *problems) {
    for (int c = 0; c < csv->column_count; c++) {
        if (strcmp(csv->columns[c], column) != 0) continue;
        const char *cell = csv_cell(csv, row, c);
        char *end;
        if (!*cell) return NAN;
        double number = strtod(cell, &end);
        if (!*end && isfinite(number)) return number;
        problem_add(problems, csv_where(csv, row), "%s is \"%s\", which is no number", column, cell);
        problem_hint(problems, "write seconds, bytes and watts as bare numbers, or leave the cell empty");
    }
    return NAN;
}

bool diff_side_of_csv(Arena *arena, const char *path, int row, DiffSide *side, Problems *problems) {
    int before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return false;
    if (row < 1 || row > csv->row_count) {
        problem_add(problems, (Where){path, 0}, "there is no row %d among its %d", row, csv->row_count);
        problem_hint(problems, "rows are counted from 1, without the header");
        return false;
    }
    *side = (DiffSide){.name = arena_printf(arena, "%s, row %d", path, row), .currency = ""};
    side->step_s = cell_number(csv, row - 1, "step_p50_s", problems);
    side->samples = cell_number(csv, row - 1, "global_batch", problems);
    side->memory_bytes = cell_number(csv, row - 1, "memory_peak_bytes", problems);
    side->cost_per_step = cell_number(csv, row - 1, "cost_per_step", problems);
    side->power_watts = cell_number(csv, row - 1, "power_watts", problems);
    side->causes = ARENA_ARRAY(arena, NamedValue, CAUSE_COUNT);
    for (int c = 0; c < CAUSE_COUNT; c++) {
        double value = cell_number(csv, row - 1, arena_printf(arena, "exposed_%s_s", cause_names[c]), problems);
        if (isfinite(value)) side->causes[side->cause_count++] = (NamedValue){cause_names[c], cause_titles[c], value};
    }
    side->memory = ARENA_ARRAY(arena, NamedValue, MEMORY_CLASS_COUNT);
    for (int m = 0; m < MEMORY_CLASS_COUNT; m++) {
        double value =
            cell_number(csv, row - 1, arena_printf(arena, "memory_%s_bytes", memory_class_names[m]), problems);
        if (isfinite(value))
            side->memory[side->memory_count++] = (NamedValue){memory_class_names[m], memory_class_names[m], value};
    }
    if (!(side->step_s > 0) && problems_added(problems) == before) {
        problem_add(problems, csv_where(csv, row - 1), "the row has no step time");
        problem_hint(problems, "a column step_p50_s in seconds, as lockstep run --csv writes it");
    }
    if (problems_added(problems) > before) return false;
    close_side(arena, side);
    return true;
}

// ---- Parts.

static double value_named(const NamedValue *list, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return list[i].value;
    return NAN;
}

typedef struct PartList {
    DiffPart *items;
    int count, room;
} PartList;

// A side that says nothing of a part that the other has: 0, for parts of it sum to its whole.
static PartList parts_of(Arena *arena, const NamedValue *a, int a_count, const NamedValue *b, int b_count) {
    PartList list = {0};
    for (int i = 0; i < a_count; i++)
        LIST_PUSH(arena, &list, ((DiffPart){a[i].name, a[i].title, a[i].value, value_named(b, b_count, a[i].name)}));
    for (int i = 0; i < b_count; i++)
        if (isnan(value_named(a, a_count, b[i].name)))
            LIST_PUSH(arena, &list, ((DiffPart){b[i].name, b[i].title, 0, b[i].value}));
    for (int i = 0; i < list.count; i++)
        if (isnan(list.items[i].b)) list.items[i].b = 0;
    return list;
}

// Settings of two answers that cannot be simulated again: those that differ.
static void compare_settings(Arena *arena, Diff *diff) {
    const DiffSide *a = diff->a, *b = diff->b;
    DiffSetting *settings = ARENA_ARRAY(arena, DiffSetting, a->setting_count + b->setting_count);
    for (int i = 0; i < a->setting_count; i++)
        for (int k = 0; k < b->setting_count; k++)
            if (strcmp(a->settings[i].name, b->settings[k].name) == 0 &&
                strcmp(a->settings[i].text, b->settings[k].text) != 0)
                settings[diff->setting_count++] =
                    (DiffSetting){a->settings[i].name, a->settings[i].text, b->settings[k].text, NAN};
    diff->settings = settings;
}

Diff diff_sides(Arena *arena, const DiffSide *a, const DiffSide *b, Problems *problems) {
    Diff diff = {.a = a, .b = b};
    PartList time = parts_of(arena, a->causes, a->cause_count, b->causes, b->cause_count);
    PartList memory = parts_of(arena, a->memory, a->memory_count, b->memory, b->memory_count);
    diff.time = time.items;
    diff.time_count = time.count;
    diff.memory = memory.items;
    diff.memory_count = memory.count;
    if (a->study && b->study)
        attribute_settings(arena, &diff, problems);
    else
        compare_settings(arena, &diff);
    return diff;
}
