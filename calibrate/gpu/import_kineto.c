// Kineto traces (torch.profiler's Chrome JSON), which may be gigabytes: read as a stream, so that memory holds a row
// for each kind of kernel and nothing else.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "calibrate/gpu/import.h"
#include "sim/json.h"
#include "sim/list.h"

#define EVENT_DEPTH 1 // objects inside the root: an event is one, in the list "traceEvents"
#define LONGEST_NAME 256

typedef struct KernelSum {
    char *name;
    const char *category;
    double count, microseconds, least, most;
} KernelSum;

typedef struct KernelSums {
    KernelSum *items;
    int count, room;
} KernelSums;

typedef struct Trace {
    Arena *arena;
    KernelSums sums;
    int maps, lists; // open ones
    bool in_events;
    char key[32], name[LONGEST_NAME], category[32];
    double duration;
    int next[4096]; // buckets of names: one more than the first sum's place
    int *chain;     // next of the same bucket, likewise
    int chain_room;
} Trace;

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
    if (!is_on_gpu(trace->category) || !(trace->duration >= 0)) return;
    KernelSum *sum = sum_of(trace);
    sum->count++;
    sum->microseconds += trace->duration;
    sum->least = fmin(sum->least, trace->duration);
    sum->most = fmax(sum->most, trace->duration);
}

// ---- What the parser calls.

static bool in_event(const Trace *trace) {
    return trace->in_events && trace->lists == 1 && trace->maps == 1 + EVENT_DEPTH;
}

static int on_map_start(void *context) {
    Trace *trace = context;
    trace->maps++;
    if (in_event(trace)) trace->name[0] = trace->category[0] = '\0', trace->duration = -1;
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
    if (trace->lists == 1) trace->in_events = trace->maps == 1 && strcmp(trace->key, "traceEvents") == 0;
    return 1;
}

static int on_list_end(void *context) {
    Trace *trace = context;
    trace->lists--;
    if (trace->lists == 0) trace->in_events = false;
    return 1;
}

static void keep(char *place, size_t room, const unsigned char *text, size_t length) {
    size_t kept = length < room - 1 ? length : room - 1;
    memcpy(place, text, kept);
    place[kept] = '\0';
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    Trace *trace = context;
    keep(trace->key, sizeof trace->key, text, length);
    return 1;
}

static int on_text(void *context, const unsigned char *text, size_t length) {
    Trace *trace = context;
    if (!in_event(trace)) return 1;
    if (strcmp(trace->key, "name") == 0) keep(trace->name, sizeof trace->name, text, length);
    if (strcmp(trace->key, "cat") == 0) keep(trace->category, sizeof trace->category, text, length);
    return 1;
}

static int on_number(void *context, const char *text, size_t length) {
    Trace *trace = context;
    char digits[64];
    if (!in_event(trace) || strcmp(trace->key, "dur") != 0) return 1;
    keep(digits, sizeof digits, (const unsigned char *)text, length);
    trace->duration = strtod(digits, NULL);
    return 1;
}

static const yajl_callbacks callbacks = {.yajl_number = on_number,
                                         .yajl_string = on_text,
                                         .yajl_start_map = on_map_start,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_map_end,
                                         .yajl_start_array = on_list_start,
                                         .yajl_end_array = on_list_end};

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

static bool parse(Import *import, FILE *file, Trace *trace) {
    unsigned char chunk[65536];
    yajl_handle parser = yajl_alloc(&callbacks, NULL, trace);
    if (!parser) out_of_memory(sizeof chunk);
    yajl_status status = yajl_status_ok;
    size_t length;
    while (status == yajl_status_ok && (length = fread(chunk, 1, sizeof chunk, file)) > 0)
        status = yajl_parse(parser, chunk, length);
    if (status == yajl_status_ok) status = yajl_complete_parse(parser);
    yajl_free(parser);
    if (status == yajl_status_ok) return true;
    problem_add(import->problems, (Where){import->path, 0}, "this is no whole JSON document");
    return false;
}

bool import_kineto(Import *import) {
    FILE *file = fopen(import->path, "r");
    if (!file) {
        problem_add(import->problems, (Where){import->path, 0}, "%s", strerror(errno));
        return false;
    }
    Trace *trace = ARENA_NEW(import->arena, Trace);
    *trace = (Trace){.arena = import->arena};
    bool ok = parse(import, file, trace);
    fclose(file);
    if (!ok) return false;
    if (trace->sums.count == 0) {
        problem_add(import->problems, (Where){import->path, 0}, "no kernel is in this trace");
        problem_hint(import->problems, "profile with ProfilerActivity.CUDA and export_chrome_trace");
        return false;
    }
    import_header(import, "Kineto trace");
    write_sums(import, &trace->sums);
    return true;
}
