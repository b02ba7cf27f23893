// Import of Kineto traces (sim/data/kineto.h), which may be gigabytes: memory holds a row for each kind of kernel,
// and 24 bytes for each matrix product whose shape was recorded (record_shapes=True).
//
// A product is an operator of PyTorch and its kernels, which have the same "External id". Operators may follow
// their kernels in the file, so it is read twice: for the shapes, then for the times.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/import_kineto.h"
#include "sim/base/list.h"
#include "sim/data/json.h"
#include "sim/data/nsys.h"
#include "sim/system/file.h"

static KernelSum *sum_of(Trace *trace) {
    char both[KINETO_NAME + 40];
    snprintf(both, sizeof both, "%s\t%s", trace->event->category, trace->event->name);
    int before = name_index_find(trace->sum_names, both);
    if (before >= 0) return &trace->sums.items[before];
    KernelSum fresh = {.name = arena_copy_text(trace->arena, trace->event->name),
                       .category = arena_copy_text(trace->arena, trace->event->category),
                       .least = INFINITY};
    name_index_add(trace->sum_names, arena_copy_text(trace->arena, both), trace->sums.count);
    LIST_PUSH(trace->arena, &trace->sums, fresh);
    return &trace->sums.items[trace->sums.count - 1];
}

// ---- What the reader calls.

static void on_event(void *context) { ((Trace *)context)->said = (EventArguments){.id = 0}; }

static void on_event_end(void *context, const KinetoEvent *event) {
    Trace *trace = context;
    trace->event = event;
    if (trace->for_shapes) {
        trace_keep_shape(trace);
        return;
    }
    if (!kineto_is_on_gpu(event) || !(event->duration_us >= 0)) return;
    KernelSum *sum = sum_of(trace);
    sum->count++;
    sum->microseconds += event->duration_us;
    sum->least = fmin(sum->least, event->duration_us);
    sum->most = fmax(sum->most, event->duration_us);
    trace_add_to_product(trace);
    trace_add_exchange(trace);
}

static void on_list_end(void *context, const char *key, int depth) {
    Trace *trace = context;
    if (depth == 1 && strcmp(key, "Input Dims") == 0) trace->said.input++;
}

static void on_words(void *context, const char *key, int depth, const unsigned char *text, size_t length) {
    EventArguments *said = &((Trace *)context)->said;
    const struct {
        const char *key;
        char *place;
        size_t room;
    } places[] = {{"Collective name", said->collective, sizeof said->collective},
                  {"dtype", said->collective_type, sizeof said->collective_type},
                  {"Process Group Ranks", said->ranks, sizeof said->ranks}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (depth == 0 && strcmp(key, places[i].key) == 0) kineto_keep(places[i].place, places[i].room, text, length);
    // of an operator's factors; the bias precedes them and has their type
    if (depth == 1 && !said->type[0] && strcmp(key, "Input type") == 0)
        kineto_keep(said->type, sizeof said->type, text, length);
}

static void on_device_name(void *context, const unsigned char *text, size_t length) {
    Trace *trace = context;
    if (!trace->gpu[0]) kineto_keep(trace->gpu, sizeof trace->gpu, text, length);
}

static void on_number(void *context, const char *key, int depth, double value) {
    EventArguments *said = &((Trace *)context)->said;
    if (strcmp(key, "External id") == 0 && value > 0 && value < 9e15) said->id = (int64_t)value;
    if (strcmp(key, "In msg nelems") == 0) said->in_count = value;
    if (strcmp(key, "Out msg nelems") == 0) said->out_count = value;
    if (strcmp(key, "Group size") == 0) said->group = value;
    bool dimension = depth == 2 && strcmp(key, "Input Dims") == 0 && said->input < MOST_INPUTS;
    if (!dimension) return;
    int *count = &said->dim_count[said->input];
    if (*count < MOST_DIMS) said->dims[said->input][*count] = value;
    (*count)++;
}

static const KinetoReader reader = {.begin_event = on_event,
                                    .argument_number = on_number,
                                    .argument_text = on_words,
                                    .argument_list_end = on_list_end,
                                    .end_event = on_event_end,
                                    .device_name = on_device_name};

// ---- The rows, most time first.

static int by_time(const void *a, const void *b) {
    const KernelSum *x = a, *y = b;
    if (x->microseconds != y->microseconds) return x->microseconds < y->microseconds ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void write_sums(Import *import, KernelSums *sums) {
    qsort(sums->items, (size_t)sums->count, sizeof *sums->items, by_time);
    for (int i = 0; i < sums->count; i++) {
        const KernelSum *sum = &sums->items[i];
        JsonWriter json = json_writer(import->out, 0);
        json_begin_object(&json);
        static const char *const fixed[][2] = {{"record", "case"}, {"section", "trace"}, {"status", "measured"}};
        for (int f = 0; f < 3; f++) json_key(&json, fixed[f][0]), json_write_text(&json, fixed[f][1]);
        json_key(&json, "operation"), json_write_text(&json, sum->category);
        json_key(&json, "variant"), json_write_text(&json, sum->name);
        json_key(&json, "count"), json_write_number(&json, sum->count);
        json_key(&json, "seconds"), json_write_number(&json, sum->microseconds / sum->count / 1e6);
        json_key(&json, "least_seconds"), json_write_number(&json, sum->least / 1e6);
        json_key(&json, "most_seconds"), json_write_number(&json, sum->most / 1e6);
        json_key(&json, "total_seconds"), json_write_number(&json, sum->microseconds / 1e6);
        json_end_object(&json);
        fputc('\n', import->out);
        import->rows++;
    }
}

bool import_kineto(Import *import) {
    bool nsys = nsys_is_export(import->path);
    FILE *file = nsys ? NULL : file_open_stream(import->path, import->problems);
    if (!nsys && !file) return false;
    Trace *trace = ARENA_NEW(import->arena, Trace);
    *trace = (Trace){.arena = import->arena,
                     .sum_names = name_index_create(import->arena, strcmp),
                     .product_names = name_index_create(import->arena, strcmp),
                     .exchange_names = name_index_create(import->arena, strcmp)};
    trace->for_shapes =
        file && fseek(file, 0, SEEK_SET) == 0; // a pipe is read once, without shapes, which nsys has not
    bool ok = !trace->for_shapes ||
              (kineto_read(file, import->path, &reader, trace, import->problems) && fseek(file, 0, SEEK_SET) == 0);
    trace->for_shapes = false;
    ok = ok && (nsys ? nsys_read(import->path, &reader, trace, import->problems)
                     : kineto_read(file, import->path, &reader, trace, import->problems));
    if (file) fclose(file);
    if (!ok) return false;
    if (trace->sums.count == 0) {
        problem_add(import->problems, (Where){import->path, 0}, "no kernel is in this trace");
        problem_hint(import->problems, nsys ? "profile with nsys profile --trace=cuda,nvtx"
                                            : "profile with ProfilerActivity.CUDA and export_chrome_trace");
        return false;
    }
    if (!import->gpu && trace->gpu[0]) import->gpu = trace->gpu;
    import_header(import, nsys ? "Nsight Systems export" : "Kineto trace");
    write_sums(import, &trace->sums);
    trace_write_products(import, trace);
    trace_write_exchanges(import, trace);
    return true;
}
