// The two sides of a difference: a simulated study, answers in JSON, rows of CSV, points of a sweep's store, or a trace
// of kernels of which each instant has one cause.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "results/store/store.h"
#include "results/view.h"
#include "scenarios/explain/diff.h"
#include "sim/base/list.h"
#include "sim/base/version.h"
#include "sim/data/kineto.h"
#include "sim/system/file.h"

#define BIT(cause) (UINT32_C(1) << (cause))

// The first that runs counts.
typedef enum Doing { DOING_COMPUTE, DOING_COPY, DOING_COMMUNICATE, DOING_KINDS } Doing;

static const DiffCause doings[DOING_KINDS + 1] = {
    {"kernels", "Kernels that compute", 0,
     BIT(CAUSE_GEMM) | BIT(CAUSE_ATTENTION) | BIT(CAUSE_MEMORY) | BIT(CAUSE_RECOMPUTE) | BIT(CAUSE_OPTIMIZER)},
    {"copies", "Copies alone", 0, BIT(CAUSE_COPY)},
    {"communication", "Communication alone", 0,
     BIT(CAUSE_TP) | BIT(CAUSE_CP) | BIT(CAUSE_EP) | BIT(CAUSE_PP) | BIT(CAUSE_DP)},
    {"idle", "No kernel runs", 0, BIT(CAUSE_LAUNCH) | BIT(CAUSE_DATA) | BIT(CAUSE_HOST) | BIT(CAUSE_OTHER)},
};

typedef struct Edge { // of a kernel: it begins, or ends
    double at;        // microseconds
    int8_t doing, change;
} Edge;

#define STEP_MARK NSYS_STEP // as torch.profiler writes it
#define MOST_STEPS 100000
#define MOST_EDGES 400000000 // 6.4 GB of them

typedef struct TraceRead {
    Arena *arena;
    LIST_OF(Edge) edges;
    double begin, end; // of the marked steps
    int steps;
    double device; // of the kernels so far; -1 none
    bool several_devices, too_many;
    double on_device; // of the event that is read
} TraceRead;

static bool has(const char *text, const char *word) { return strstr(text, word) != NULL; }

static Doing doing_of(const KinetoEvent *event) {
    if (strcmp(event->category, "kernel") != 0) return DOING_COPY;
    bool exchanges = has(event->name, "nccl") || has(event->name, "rccl") || has(event->name, "nvshmem");
    return exchanges ? DOING_COMMUNICATE : DOING_COMPUTE;
}

// A step is marked on the host and again on the GPU: the host's marks follow each other without gaps.
static void add_mark(TraceRead *trace, const KinetoEvent *event) {
    double end = event->start_us + event->duration_us;
    if (trace->steps == 0 || event->start_us < trace->begin) trace->begin = event->start_us;
    if (trace->steps == 0 || end > trace->end) trace->end = end;
    trace->steps++;
}

static void add_kernel(TraceRead *trace, const KinetoEvent *event) {
    if (trace->device < 0) trace->device = trace->on_device;
    trace->several_devices = trace->several_devices || trace->device != trace->on_device;
    int8_t doing = (int8_t)doing_of(event);
    trace->too_many = trace->edges.count >= MOST_EDGES;
    if (trace->too_many) return;
    LIST_PUSH(trace->arena, &trace->edges, ((Edge){event->start_us, doing, 1}));
    LIST_PUSH(trace->arena, &trace->edges, ((Edge){event->start_us + event->duration_us, doing, -1}));
}

static void on_event_end(void *context, const KinetoEvent *event) {
    TraceRead *trace = context;
    if (!(event->duration_us >= 0) || !isfinite(event->start_us)) return;
    if (kineto_is_on_gpu(event)) add_kernel(trace, event);
    if (strcmp(event->category, "user_annotation") == 0 && strncmp(event->name, STEP_MARK, strlen(STEP_MARK)) == 0 &&
        trace->steps < MOST_STEPS)
        add_mark(trace, event);
}

static void on_event(void *context) { ((TraceRead *)context)->on_device = 0; }

static void on_argument(void *context, const char *key, int depth, double value) {
    if (depth == 0 && strcmp(key, "device") == 0) ((TraceRead *)context)->on_device = value;
}

static const KinetoReader reader = {.begin_event = on_event, .argument_number = on_argument, .end_event = on_event_end};

// ---- From kernels to stretches.

static int by_time(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->doing != y->doing) return x->doing - y->doing;
    return x->change - y->change;
}

// Seconds of the marked steps by activity; the last for none.
static void sweep_over(TraceRead *trace, double seconds[DOING_KINDS + 1]) {
    int running[DOING_KINDS] = {0};
    double last = trace->begin;
    qsort(trace->edges.items, (size_t)trace->edges.count, sizeof *trace->edges.items, by_time);
    for (int i = 0; i <= trace->edges.count; i++) {
        double at = i < trace->edges.count ? trace->edges.items[i].at : trace->end;
        double now = fmin(fmax(at, trace->begin), trace->end);
        int doing = 0;
        while (doing < DOING_KINDS && running[doing] <= 0) doing++;
        seconds[doing] += (now - last) * 1e-6;
        last = now;
        if (i < trace->edges.count) running[trace->edges.items[i].doing] += trace->edges.items[i].change;
    }
}

static bool check(const TraceRead *trace, const char *path, bool nsys, Problems *problems) {
    if (trace->edges.count == 0) {
        problem_add(problems, (Where){path, 0}, "no kernel is in this trace");
        return problem_hint(problems, nsys ? "profile with nsys profile --trace=cuda,nvtx"
                                           : "profile with ProfilerActivity.CUDA and export_chrome_trace");
    }
    if (trace->steps == 0 || !(trace->end > trace->begin)) {
        problem_add(problems, (Where){path, 0}, "no step is marked in this trace");
        return problem_hint(
            problems, nsys ? "put each into a range of NVTX: torch.cuda.nvtx.range_push(\"step\") and range_pop()"
                           : "call step() of torch.profiler.profile at the end of each: it writes " STEP_MARK "N");
    }
    if (trace->too_many) {
        problem_add(problems, (Where){path, 0}, "more than %d kernels are in this trace", MOST_EDGES / 2);
        return problem_hint(problems, "profile fewer steps");
    }
    if (trace->several_devices) {
        problem_add(problems, (Where){path, 0}, "kernels of several GPUs are in this trace");
        return problem_hint(problems, "give the trace of one rank");
    }
    return true;
}

bool diff_side_of_trace(Arena *arena, const char *path, DiffSide *side, Problems *problems) {
    bool nsys = nsys_is_export(path) || file_ends_in(path, ".sqlite");
    FILE *file = nsys ? NULL : file_open_stream(path, problems);
    if (!nsys && !file) return false;
    TraceRead *trace = ARENA_NEW(arena, TraceRead);
    *trace = (TraceRead){.arena = arena, .device = -1};
    bool ok = nsys ? nsys_read(path, &reader, trace, problems) : kineto_read(file, path, &reader, trace, problems);
    if (file) fclose(file);
    if (!ok || !check(trace, path, nsys, problems)) return false;
    double seconds[DOING_KINDS + 1] = {0};
    sweep_over(trace, seconds);
    *side =
        diff_side_named(arena_printf(arena, "%s, mean of %d step%s", path, trace->steps, trace->steps == 1 ? "" : "s"));
    side->step_s = (trace->end - trace->begin) * 1e-6 / trace->steps;
    side->causes = ARENA_ARRAY(arena, DiffCause, DOING_KINDS + 1);
    for (int d = 0; d <= DOING_KINDS; d++) {
        side->causes[d] = doings[d];
        side->causes[d].seconds = seconds[d] / trace->steps;
    }
    side->cause_count = DOING_KINDS + 1;
    if (!diff_check_side(side, (Where){path, 0}, problems)) return false;
    diff_close_side(arena, side);
    return true;
}

// ---- Sides.

#define JOULES_PER_KWH 3.6e6

typedef LIST_OF(DiffText) TextList;

static double finite_or_nan(double value) { return isfinite(value) ? value : NAN; }

static DiffCause cause_named(const char *name, double seconds) {
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (strcmp(cause_names[c], name) == 0) return (DiffCause){name, cause_titles[c], seconds, UINT32_C(1) << c};
    return (DiffCause){name, name, seconds, 0};
}

static const char *number_text(Arena *arena, double number) { return arena_printf(arena, "%.6g", number); }

static void set_settings(DiffSide *side, const TextList *list) {
    side->settings = list->items;
    side->setting_count = list->count;
}

// ---- A point of a record.

// The columns of a point that are choices of its layout.
static const char *const layout_columns[] = {"gpus", "nodes", "tp",   "pp",          "vpp",         "dp",
                                             "cp",   "ep",    "zero", "micro_batch", "global_batch"};
enum { LAYOUT_COLUMNS = sizeof layout_columns / sizeof *layout_columns };

static void list_layout(Arena *arena, const RecordPoint *point, TextList *list) {
    for (int i = 0; i < LAYOUT_COLUMNS; i++)
        for (int c = 0; c < POINT_COLUMNS; c++)
            if (strcmp(point_columns[c], layout_columns[i]) == 0)
                LIST_PUSH(arena, list, ((DiffText){layout_columns[i], number_text(arena, point_number(point, c))}));
}

static void take_point(Arena *arena, const RecordPoint *point, DiffSide *side) {
    side->step_s = point->step_p50_s;
    side->samples = point->global_batch;
    side->memory_bytes = point->memory_count > 0 ? point->memory_peak_bytes : NAN; // unknown for programs
    side->cost_per_step = finite_or_nan(point->cost_per_step);
    side->power_watts = finite_or_nan(point->power_watts);
    side->joules_per_step = side->power_watts * side->step_s;
    side->days = finite_or_nan(point->days);
    side->cost_per_run = finite_or_nan(point->cost_per_run);
    side->energy_kwh = finite_or_nan(point->energy_kwh);
    side->carbon_kg = finite_or_nan(point->carbon_kg);
    side->currency = point->currency ? point->currency : "";
    side->causes = ARENA_ARRAY(arena, DiffCause, point->exposed_count);
    for (int i = 0; i < point->exposed_count; i++) {
        side->causes[i] = cause_named(point->exposed[i].name, point->exposed[i].value);
        if (!side->causes[i].covers) side->causes[i].title = point->exposed[i].title;
    }
    side->cause_count = point->exposed_count;
    side->memory = ARENA_ARRAY(arena, NamedValue, point->memory_count);
    for (int i = 0; i < point->memory_count; i++) side->memory[i] = point->memory[i];
    side->memory_count = point->memory_count;
    TextList settings = {0};
    for (int i = 0; i < point->parameter_count; i++)
        LIST_PUSH(arena, &settings, ((DiffText){point->parameters[i].name, point->parameters[i].text}));
    list_layout(arena, point, &settings);
    set_settings(side, &settings);
    diff_close_side(arena, side);
}

static void refuse_point(const RecordPoint *point, const char *name, Where where, Problems *problems) {
    problem_add(problems, where, "%s does not run: %s", name, point->why_not);
    problem_hint(problems, point->smallest_change ? "it would with %s" : "%s",
                 point->smallest_change ? point->smallest_change : "lockstep run says more of it");
}

bool diff_side_of_point(Arena *arena, const RecordPoint *point, const char *name, Where where, DiffSide *side,
                        Problems *problems) {
    *side = diff_side_named(name);
    side->version = program_version();
    if (point->ran)
        take_point(arena, point, side);
    else
        refuse_point(point, name, where, problems);
    return point->ran;
}

// Adds the assumptions that its record would list.
static void take_assumptions(Arena *arena, const StudySpec *study, DiffSide *side) {
    int count;
    const Assumption *assumptions = study_assumptions(arena, study, &count);
    DiffText *settings = ARENA_ARRAY(arena, DiffText, side->setting_count + count);
    for (int i = 0; i < side->setting_count; i++) settings[i] = side->settings[i];
    for (int i = 0; i < count; i++) {
        double value = assumptions[i].value;
        const char *text = isfinite(value) ? number_text(arena, value) : assumptions[i].text;
        if (text) settings[side->setting_count++] = (DiffText){assumptions[i].name, text};
    }
    side->settings = settings;
}

static void take_published(const StudySpec *study, DiffSide *side) {
    for (int i = 0; i < study->published_count; i++) {
        const PublishedFigure *figure = &study->published[i];
        if (figure->match_count > 0 || strcmp(figure->metric, "step_time") != 0) continue;
        side->published_step_s = figure->value;
        side->published_source = figure->source;
    }
}

bool diff_side_of_study(Arena *arena, const StudySpec *study, const char *name, DiffSide *side, Problems *problems) {
    int before = problems_added(problems);
    const Cluster *cluster = cluster_create(arena, study->catalogue, study->cluster, problems);
    if (!cluster) return false;
    TrainingSpec *training = ARENA_NEW(arena, TrainingSpec);
    *training = study->training;
    RecordPoint point = simulate_training(arena, cluster, training, study, problems);
    if (problems_added(problems) > before) return false;
    if (!diff_side_of_point(arena, &point, name, study->where, side, problems)) return false;
    side->study = study;
    take_assumptions(arena, study, side);
    take_published(study, side);
    return true;
}

// Of several points none was named, or one that is not there.
static void refuse_row(const char *path, int row, int count, const char *counted, Problems *problems) {
    if (row)
        problem_add(problems, (Where){path, 0}, "there is no point %d among its %d", row, count);
    else
        problem_add(problems, (Where){path, 0}, "which of its %d points?", count);
    problem_hint(problems, "--row-a N and --row-b N count them from 1%s", counted);
}

bool diff_side_of_store(Arena *arena, const char *path, int row, DiffSide *side, Problems *problems) {
    StoreRefusal refusal;
    int record_count, points = 0;
    Store *store = store_open(arena, path, STORE_READ, problems, &refusal);
    if (!store) return false;
    const Record *const *records = store_records(store, &record_count);
    store_close(store);
    if (!records) return false;
    const RecordPoint *found = NULL;
    for (int r = 0; r < record_count; r++)
        for (int p = 0; p < records[r]->point_count; p++)
            if (++points == (row ? row : 1)) found = &records[r]->points[p];
    if (!found || (row == 0 && points > 1)) {
        refuse_row(path, row, points, ", as lockstep sweep --show lists them", problems);
        return false;
    }
    *side = diff_side_named(points > 1 ? arena_printf(arena, "%s, point %d", path, row) : path);
    side->is_answer = true;
    if (!found->ran) {
        refuse_point(found, side->name, (Where){path, 0}, problems);
        return false;
    }
    take_point(arena, found, side);
    if (side->step_s > 0) return diff_check_side(side, (Where){path, 0}, problems);
    problem_add(problems, (Where){path, 0}, "the sweep kept no step times");
    return problem_hint(problems, "keep = { \"step_p50_s\", … }, or no keep at all: then all is kept");
}

// ---- Answers in JSON.

static const Json *inner(const Json *object, const char *key) {
    const Json *value = object && object->kind == JSON_OBJECT ? json_get(object, key) : NULL;
    return value && value->kind != JSON_NULL ? value : NULL;
}

static double number_of(const Json *object, const char *key) {
    const Json *value = inner(object, key);
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

static const char *text_of(const Json *object, const char *key) {
    const Json *value = inner(object, key);
    return value && value->kind == JSON_TEXT ? value->text : NULL;
}

static const char *setting_text(Arena *arena, const Json *value) {
    switch (value->kind) {
    case JSON_NUMBER:
        return number_text(arena, value->number);
    case JSON_TEXT:
        return value->text;
    case JSON_BOOL:
        return value->boolean ? "true" : "false";
    case JSON_NULL:
    case JSON_LIST:
    case JSON_OBJECT:
        break;
    }
    return NULL;
}

static void list_settings(Arena *arena, const Json *object, TextList *list) {
    for (int i = 0; object && object->kind == JSON_OBJECT && i < object->count; i++) {
        const char *text = setting_text(arena, &object->items[i]);
        if (text) LIST_PUSH(arena, list, ((DiffText){object->items[i].key, text}));
    }
}

// An answer's assumptions are settings of it too.
static void list_assumptions(Arena *arena, const Json *assumptions, TextList *list) {
    for (int i = 0; assumptions && assumptions->kind == JSON_LIST && i < assumptions->count; i++) {
        const Json *value = inner(&assumptions->items[i], "value");
        const char *name = text_of(&assumptions->items[i], "name"), *text = value ? setting_text(arena, value) : NULL;
        if (name && text) LIST_PUSH(arena, list, ((DiffText){name, text}));
    }
}

static void list_member(Arena *arena, const Json *object, const char *key, TextList *list) {
    const Json *value = inner(object, key);
    const char *text = value ? setting_text(arena, value) : NULL;
    if (text) LIST_PUSH(arena, list, ((DiffText){key, text}));
}

// The answers to one question each: of the scripts' studies, of a study's points, of a plan's alternatives.
typedef struct JsonPoints {
    const Json **items;
    const Json **roots; // the answer that contains each
    int count, room;
    int root_room;
} JsonPoints;

static void add_point(Arena *arena, const Json *root, const Json *point, JsonPoints *points) {
    LIST_OF(const Json *) roots = {points->roots, points->count, points->root_room};
    LIST_PUSH(arena, &roots, root);
    points->roots = roots.items;
    points->root_room = roots.room;
    LIST_PUSH(arena, points, point);
}

static void list_points(Arena *arena, const Json *value, JsonPoints *points) {
    if (value->kind == JSON_LIST) {
        for (int i = 0; i < value->count; i++) list_points(arena, &value->items[i], points);
        return;
    }
    const Json *list = inner(value, "plans");
    if (!list) list = inner(value, "points");
    for (int i = 0; list && list->kind == JSON_LIST && i < list->count; i++)
        add_point(arena, value, &list->items[i], points);
    if (!list && value->kind == JSON_OBJECT) add_point(arena, value, value, points);
}

// One of its points; of a plan the one that was chosen, which its answer has at the top. NULL after a problem.
static const Json *choose_point(Arena *arena, const Json *root, const char *path, int row, const Json **of,
                                Problems *problems) {
    JsonPoints points = {0};
    list_points(arena, root, &points);
    bool chosen = row == 0 && root->kind == JSON_OBJECT && inner(root, "step_time_s");
    *of = root;
    if (chosen) return root;
    if (row > points.count || (row == 0 && points.count != 1)) {
        refuse_row(path, row, points.count, "", problems);
        return NULL;
    }
    int at = row ? row - 1 : 0;
    *of = points.roots[at];
    return points.items[at];
}

// Cost of the run: per step by its number of steps, if the answer has no cost per step.
static void take_money(const Json *point, DiffSide *side) {
    const Json *cost = inner(point, "cost");
    double steps = number_of(point, "steps"), power = number_of(point, "power_watts");
    side->cost_per_run = number_of(cost, "per_run");
    if (isnan(side->cost_per_run)) side->cost_per_run = number_of(cost, "amount");
    if (!(steps > 0)) steps = NAN;
    side->cost_per_step = number_of(cost, "per_step");
    if (isnan(side->cost_per_step)) side->cost_per_step = side->cost_per_run / steps;
    side->days = number_of(point, "days");
    side->energy_kwh = number_of(point, "energy_kwh");
    side->carbon_kg = number_of(point, "carbon_kg");
    side->joules_per_step = isfinite(power) ? power * side->step_s : side->energy_kwh * JOULES_PER_KWH / steps;
    side->power_watts = isfinite(power) ? power : side->joules_per_step / side->step_s;
    const char *currency = text_of(cost, "currency");
    if (currency) side->currency = currency;
}

static void take_parts(Arena *arena, const Json *point, DiffSide *side) {
    const Json *exposed = inner(point, "exposed_s"), *memory = inner(point, "memory_bytes"),
               *classes = inner(memory, "by_class");
    side->memory_bytes = number_of(memory, "peak");
    int causes = exposed && exposed->kind == JSON_OBJECT ? exposed->count : 0,
        kinds = classes && classes->kind == JSON_OBJECT ? classes->count : 0;
    side->causes = ARENA_ARRAY(arena, DiffCause, causes);
    side->memory = ARENA_ARRAY(arena, NamedValue, kinds);
    for (int i = 0; i < causes; i++)
        if (exposed->items[i].kind == JSON_NUMBER)
            side->causes[side->cause_count++] = cause_named(exposed->items[i].key, exposed->items[i].number);
    for (int i = 0; i < kinds; i++)
        if (classes->items[i].kind == JSON_NUMBER)
            side->memory[side->memory_count++] =
                (NamedValue){classes->items[i].key, classes->items[i].key, classes->items[i].number};
}

static bool lists_one(const TextList *list, const char *name) {
    bool is = false;
    for (int i = 0; i < list->count; i++) is = is || strcmp(list->items[i].name, name) == 0;
    return is;
}

// What was said in options: names of parts, which the figures of an answer do not repeat.
static void list_options(Arena *arena, const Json *words, TextList *list) {
    for (int i = 2; words && words->kind == JSON_LIST && i + 1 < words->count; i++) {
        const char *option = words->items[i].text, *value = words->items[i + 1].text;
        bool said = option && value && strncmp(option, "--", 2) == 0 && *value != '-';
        if (!said || strchr(value, '/') || strcmp(option, "--output") == 0) continue; // of files their figures differ
        char *name = arena_copy_text(arena, option + 2);
        for (char *at = name; *at; at++)
            if (*at == '-') *at = '_';
        if (!lists_one(list, name)) LIST_PUSH(arena, list, ((DiffText){name, value}));
    }
}

static const char *command_of(Arena *arena, const Json *root) {
    const Json *words = inner(root, "command");
    const char *line = NULL;
    for (int i = 0; words && words->kind == JSON_LIST && i < words->count; i++)
        if (words->items[i].kind == JSON_TEXT)
            line = line ? arena_printf(arena, "%s %s", line, words->items[i].text) : words->items[i].text;
    return line;
}

bool diff_side_of_json(Arena *arena, const char *path, int row, DiffSide *side, Problems *problems) {
    const Json *file = json_read_file(arena, path, problems), *root;
    if (!file) return false;
    const Json *point = choose_point(arena, file, path, row, &root, problems);
    if (!point) return false;
    *side = diff_side_named(row ? arena_printf(arena, "%s, point %d", path, row) : path);
    side->step_s = number_of(inner(point, "step_time_s"), "p50");
    if (!(side->step_s > 0)) {
        const char *why = text_of(point, "why_not");
        problem_add(problems, (Where){path, 0}, "%s", why ? why : "this is no answer with a step time");
        return problem_hint(problems, "lockstep run … --json and lockstep plan … -o FILE.json write them");
    }
    const Json *layout = inner(point, "layout");
    side->is_answer = true;
    side->samples = number_of(layout, "global_batch");
    take_money(point, side);
    take_parts(arena, point, side);
    if (!diff_check_side(side, (Where){path, 0}, problems)) return false;
    TextList settings = {0};
    static const char *const members[] = {"gpus", "nodes", "node", "fabric", "oversubscription", "owned"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) list_member(arena, point, members[i], &settings);
    list_settings(arena, layout, &settings);
    list_settings(arena, inner(point, "parameters"), &settings);
    list_options(arena, inner(root, "command"), &settings);
    list_assumptions(arena, inner(root, "assumptions"), &settings);
    set_settings(side, &settings);
    side->version = text_of(inner(root, "program"), "version");
    side->command = command_of(arena, root);
    diff_close_side(arena, side);
    return true;
}

// ---- Rows of CSV.

typedef struct CsvRow {
    const Csv *csv;
    int row;
    Problems *problems;
} CsvRow;

// "" where there is no such column.
static const char *cell_text(const CsvRow *row, const char *column) {
    for (int c = 0; c < row->csv->column_count; c++)
        if (strcmp(row->csv->columns[c], column) == 0) return csv_cell(row->csv, row->row, c);
    return "";
}

// An empty cell is unknown, like a column that is not there.
static double cell_number(const CsvRow *row, const char *column) {
    const char *cell = cell_text(row, column);
    char *end;
    if (!*cell) return NAN;
    double number = strtod(cell, &end);
    if (!*end && isfinite(number)) return number;
    problem_add(row->problems, csv_where(row->csv, row->row), "%s is \"%s\", which is no number", column, cell);
    problem_hint(row->problems, "write seconds, bytes and watts as bare numbers, or leave the cell empty");
    return NAN;
}

// The first of two columns that has a number.
static double either_number(const CsvRow *row, const char *ours, const char *published) {
    double number = cell_number(row, ours);
    return isnan(number) ? cell_number(row, published) : number;
}

// Published as a time, or as a rate of samples or tokens, of all GPUs or of one.
static double measured_step(const CsvRow *row, double samples) {
    double seconds = either_number(row, "step_p50_s", "iter_time_s");
    double gpus = either_number(row, "gpus", "n_gpus"), tokens = samples * cell_number(row, "seq_len");
    if (isnan(seconds)) seconds = samples / cell_number(row, "samples_per_s");
    if (isnan(seconds)) seconds = samples / (gpus * cell_number(row, "samples_per_s_gpu"));
    if (isnan(seconds)) seconds = tokens / cell_number(row, "tokens_per_s");
    if (isnan(seconds)) seconds = tokens / (gpus * cell_number(row, "tokens_per_s_gpu"));
    return seconds;
}

static void list_cells(Arena *arena, const CsvRow *row, TextList *list) {
    static const struct {
        const char *name, *published; // as answers call it, and as tables of published runs do
    } columns[] = {
        // words of a publication are its own: they are compared with another row's alone
        {"gpus", "n_gpus"},
        {"nodes", "n_nodes"},
        {"tp", "tp"},
        {"pp", "pp"},
        {"vpp", "vp"},
        {"dp", "dp"},
        {"cp", "cp"},
        {"ep", "ep"},
        {"zero", "zero_stage"},
        {"row's model", "model"},
        {"micro_batch", "micro_batch"},
        {"global_batch", "global_batch"},
        {"row's gpu", "gpu"},
        {"row's precision", "precision"},
        {"row's recompute", "recompute"},
        {"row's software", "software"},
        {"row's compiled", "compiled"},
        {"row's overlap", "overlap"},
        {"row's seq_parallel", "seq_parallel"},
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *text = cell_text(row, columns[i].name);
        if (!*text) text = cell_text(row, columns[i].published);
        if (!*text) continue;
        char *end;
        double number = strtod(text, &end);
        if (!*end && isfinite(number)) text = number_text(arena, number);
        LIST_PUSH(arena, list, ((DiffText){columns[i].name, text}));
    }
}

static void take_cells(Arena *arena, const CsvRow *row, DiffSide *side) {
    side->samples = cell_number(row, "global_batch");
    side->step_s = measured_step(row, side->samples);
    side->memory_bytes = either_number(row, "memory_peak_bytes", "peak_mem_bytes");
    side->cost_per_step = cell_number(row, "cost_per_step");
    side->power_watts = cell_number(row, "power_watts");
    side->joules_per_step = side->power_watts * side->step_s;
    side->days = cell_number(row, "days");
    side->cost_per_run = cell_number(row, "cost_per_run");
    side->energy_kwh = cell_number(row, "energy_kwh");
    side->carbon_kg = cell_number(row, "carbon_kg");
    side->causes = ARENA_ARRAY(arena, DiffCause, CAUSE_COUNT);
    for (int c = 0; c < CAUSE_COUNT; c++) {
        double value = cell_number(row, arena_printf(arena, "exposed_%s_s", cause_names[c]));
        if (isfinite(value)) side->causes[side->cause_count++] = cause_named(cause_names[c], value);
    }
    side->memory = ARENA_ARRAY(arena, NamedValue, MEMORY_CLASS_COUNT);
    for (int m = 0; m < MEMORY_CLASS_COUNT; m++) {
        double value = cell_number(row, arena_printf(arena, "memory_%s_bytes", memory_class_names[m]));
        if (isfinite(value))
            side->memory[side->memory_count++] = (NamedValue){memory_class_names[m], memory_class_names[m], value};
    }
    TextList settings = {0};
    list_cells(arena, row, &settings);
    set_settings(side, &settings);
}

// By number, or by the first column. -1 after a problem.
static int find_row(const Csv *csv, const char *path, const char *text, Problems *problems) {
    char *end;
    long number = strtol(text, &end, 10);
    if (*text && !*end && number >= 1 && number <= csv->row_count) return (int)number - 1;
    int found = -1, times = 0;
    for (int r = 0; r < csv->row_count && *end; r++)
        if (strcmp(csv_cell(csv, r, 0), text) == 0) found = r, times++;
    if (times == 1) return found;
    if (times)
        problem_add(problems, (Where){path, 0}, "%s is the name of %d rows", text, times);
    else
        problem_add(problems, (Where){path, 0}, "there is no row %s among its %d", text, csv->row_count);
    problem_hint(problems,
                 "rows are counted from 1, without the header, or named by what stands in the first column, %s",
                 csv->columns[0]);
    return -1;
}

bool diff_side_of_csv(Arena *arena, const char *path, const char *row, DiffSide *side, Problems *problems) {
    int before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return false;
    CsvRow at = {csv, find_row(csv, path, row, problems), problems};
    if (at.row < 0) return false;
    *side = diff_side_named(arena_printf(arena, "%s, row %s", path, row));
    take_cells(arena, &at, side);
    bool has_step = side->step_s > 0 && isfinite(side->step_s);
    if (!has_step && problems_added(problems) == before) {
        problem_add(problems, csv_where(csv, at.row), "the row has no step time");
        problem_hint(problems, "a column step_p50_s or iter_time_s in seconds, or samples_per_s beside global_batch");
    }
    if (problems_added(problems) > before) return false;
    if (!diff_check_side(side, csv_where(csv, at.row), problems)) return false;
    diff_close_side(arena, side);
    return true;
}
