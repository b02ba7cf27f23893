// Kineto traces (torch.profiler's Chrome JSON), which may be gigabytes: read as a stream, so that memory holds a row
// for each kind of kernel, and 24 bytes for each matrix product whose shape was recorded (record_shapes=True).
//
// A product is an operator of PyTorch and its kernels, which bear the same "External id". Operators may stand behind
// their kernels, so the file is read twice: for the shapes, then for the times.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/gpu/import_kineto.h"
#include "sim/json.h"
#include "sim/json_stream.h"
#include "sim/list.h"

#define EVENT_DEPTH 1 // objects inside the root: an event is one, in the list "traceEvents"

static unsigned bucket_of(const char *name, const char *category) {
    unsigned hash = 2166136261u;
    for (const char *at = name; *at; at++) hash = (hash ^ (unsigned char)*at) * 16777619u;
    for (const char *at = category; *at; at++) hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash % 4096;
}

static void link_sum(Trace *trace, unsigned bucket) {
    int count = trace->sums.count;
    if (count > trace->chain_room) {
        int room = trace->chain_room ? 2 * trace->chain_room : 256;
        int *chain = ARENA_ARRAY(trace->arena, int, room);
        if (trace->chain) memcpy(chain, trace->chain, (size_t)trace->chain_room * sizeof *chain);
        trace->chain = chain, trace->chain_room = room;
    }
    trace->chain[count - 1] = trace->next[bucket];
    trace->next[bucket] = count;
}

static KernelSum *sum_of(Trace *trace) {
    unsigned bucket = bucket_of(trace->name, trace->category);
    for (int at = trace->next[bucket]; at > 0; at = trace->chain[at - 1]) {
        KernelSum *sum = &trace->sums.items[at - 1];
        if (strcmp(sum->name, trace->name) == 0 && strcmp(sum->category, trace->category) == 0) return sum;
    }
    KernelSum fresh = {.name = arena_copy_text(trace->arena, trace->name),
                       .category = arena_copy_text(trace->arena, trace->category),
                       .least = INFINITY};
    LIST_PUSH(trace->arena, &trace->sums, fresh);
    link_sum(trace, bucket);
    return &trace->sums.items[trace->sums.count - 1];
}

static bool is_on_gpu(const char *category) {
    return strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
           strcmp(category, "gpu_memset") == 0;
}

static void end_event(Trace *trace) {
    if (trace->for_shapes) {
        trace_keep_shape(trace);
        return;
    }
    if (!is_on_gpu(trace->category) || !(trace->duration >= 0)) return;
    KernelSum *sum = sum_of(trace);
    sum->count++;
    sum->microseconds += trace->duration;
    sum->least = fmin(sum->least, trace->duration);
    sum->most = fmax(sum->most, trace->duration);
    trace_add_to_product(trace);
    trace_add_exchange(trace);
}

// ---- What the parser calls.

static bool in_event(const Trace *trace) {
    return trace->in_events && trace->lists == 1 && trace->maps == 1 + EVENT_DEPTH;
}

// Lists may be open: those of the inputs' dimensions and types.
static bool in_arguments(const Trace *trace) {
    return trace->in_events && trace->maps == 2 + EVENT_DEPTH && strcmp(trace->key, "args") == 0;
}

static int on_map_start(void *context) {
    Trace *trace = context;
    trace->maps++;
    if (in_event(trace)) {
        trace->name[0] = trace->category[0] = trace->argument[0] = '\0', trace->duration = -1;
        trace->said = (EventArguments){.id = 0};
    }
    return 1;
}

static int on_map_end(void *context) {
    Trace *trace = context;
    if (in_event(trace)) end_event(trace);
    trace->maps--;
    return 1;
}

static int on_list_start(void *context) {
    Trace *trace = context;
    trace->lists++;
    if (trace->lists == 1) {
        trace->in_events = trace->maps == 1 && strcmp(trace->key, "traceEvents") == 0;
        trace->in_devices = trace->maps == 1 && strcmp(trace->key, "deviceProperties") == 0;
    }
    return 1;
}

static int on_list_end(void *context) {
    Trace *trace = context;
    if (in_arguments(trace) && trace->lists == 3 && strcmp(trace->argument, "Input Dims") == 0) trace->said.input++;
    trace->lists--;
    if (trace->lists == 0) trace->in_events = trace->in_devices = false;
    return 1;
}

static void keep(char *place, size_t room, const unsigned char *text, size_t length) {
    size_t kept = length < room - 1 ? length : room - 1;
    memcpy(place, text, kept);
    place[kept] = '\0';
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    Trace *trace = context;
    if (in_arguments(trace))
        keep(trace->argument, sizeof trace->argument, text, length);
    else
        keep(trace->key, sizeof trace->key, text, length);
    return 1;
}

static void take_words(Trace *trace, const unsigned char *text, size_t length) {
    EventArguments *said = &trace->said;
    const struct {
        const char *key;
        char *place;
        size_t room;
    } places[] = {{"Collective name", said->collective, sizeof said->collective},
                  {"dtype", said->collective_type, sizeof said->collective_type},
                  {"Process Group Ranks", said->ranks, sizeof said->ranks}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (trace->lists == 1 && strcmp(trace->argument, places[i].key) == 0)
            keep(places[i].place, places[i].room, text, length);
    // of an operator's factors; the bias stands before them and is of their type
    if (trace->lists == 2 && !said->type[0] && strcmp(trace->argument, "Input type") == 0)
        keep(said->type, sizeof said->type, text, length);
}

static int on_text(void *context, const unsigned char *text, size_t length) {
    Trace *trace = context;
    if (in_arguments(trace)) take_words(trace, text, length);
    if (trace->in_devices && trace->lists == 1 && trace->maps == 2 && !trace->gpu[0] && strcmp(trace->key, "name") == 0)
        keep(trace->gpu, sizeof trace->gpu, text, length);
    if (!in_event(trace)) return 1;
    if (strcmp(trace->key, "name") == 0) keep(trace->name, sizeof trace->name, text, length);
    if (strcmp(trace->key, "cat") == 0) keep(trace->category, sizeof trace->category, text, length);
    return 1;
}

static void take_number(Trace *trace, double value) {
    EventArguments *said = &trace->said;
    const char *key = trace->argument;
    if (strcmp(key, "External id") == 0 && value > 0 && value < 9e15) said->id = (int64_t)value;
    if (strcmp(key, "In msg nelems") == 0) said->in_count = value;
    if (strcmp(key, "Out msg nelems") == 0) said->out_count = value;
    if (strcmp(key, "Group size") == 0) said->group = value;
    bool dimension = trace->lists == 3 && strcmp(key, "Input Dims") == 0 && said->input < MOST_INPUTS;
    if (!dimension) return;
    int *count = &said->dim_count[said->input];
    if (*count < MOST_DIMS) said->dims[said->input][*count] = value;
    (*count)++;
}

static int on_number(void *context, const char *text, size_t length) {
    Trace *trace = context;
    char digits[64];
    bool duration = in_event(trace) && strcmp(trace->key, "dur") == 0;
    if (!duration && !in_arguments(trace)) return 1;
    keep(digits, sizeof digits, (const unsigned char *)text, length);
    if (duration)
        trace->duration = strtod(digits, NULL);
    else
        take_number(trace, strtod(digits, NULL));
    return 1;
}

static const JsonStream stream = {.on_number = on_number,
                                  .on_text = on_text,
                                  .on_map_start = on_map_start,
                                  .on_key = on_key,
                                  .on_map_end = on_map_end,
                                  .on_list_start = on_list_start,
                                  .on_list_end = on_list_end};

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
    FILE *file = fopen(import->path, "r");
    if (!file) {
        problem_add(import->problems, (Where){import->path, 0}, "%s", strerror(errno));
        return false;
    }
    Trace *trace = ARENA_NEW(import->arena, Trace);
    *trace = (Trace){.arena = import->arena};
    trace->for_shapes = fseek(file, 0, SEEK_SET) == 0; // a pipe is read once, without shapes
    bool ok = !trace->for_shapes ||
              (json_stream_read(file, import->path, &stream, trace, import->problems) && fseek(file, 0, SEEK_SET) == 0);
    trace->for_shapes = trace->in_events = trace->in_devices = false;
    trace->maps = trace->lists = 0;
    ok = ok && json_stream_read(file, import->path, &stream, trace, import->problems);
    fclose(file);
    if (!ok) return false;
    if (trace->sums.count == 0) {
        problem_add(import->problems, (Where){import->path, 0}, "no kernel is in this trace");
        problem_hint(import->problems, "profile with ProfilerActivity.CUDA and export_chrome_trace");
        return false;
    }
    if (!import->gpu && trace->gpu[0]) import->gpu = trace->gpu;
    import_header(import, "Kineto trace");
    write_sums(import, &trace->sums);
    trace_write_products(import, trace);
    trace_write_exchanges(import, trace);
    return true;
}
