// A step of a Kineto trace (torch.profiler's Chrome JSON), which may be gigabytes: read as a stream, of which memory
// holds three numbers for each kernel.
//
// Every instant of a marked step is counted once, for what the GPU does then: computing before copying before
// communicating, so that communication is what nothing hides. What no kernel fills is a stretch of its own. Kernels do
// not tell whether they compute something again, nor for which parallelism they communicate.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "scenarios/explain/diff.h"
#include "sim/json_stream.h"
#include "sim/list.h"

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

#define LONGEST_WORD 128
#define STEP_MARK "ProfilerStep#"
#define MOST_STEPS 100000
#define MOST_EDGES 400000000 // 6.4 GB of them

typedef struct TraceRead {
    Arena *arena;
    struct {
        Edge *items;
        int count, room;
    } edges;
    double begin, end; // of the marked steps
    int steps;
    double device; // of the kernels so far; -1 none
    bool several_devices, too_many;
    int maps, lists;
    bool in_events;
    char key[32], argument[32], name[LONGEST_WORD], category[32];
    double start, duration, on_device;
} TraceRead;

static bool has(const char *text, const char *word) { return strstr(text, word) != NULL; }

static Doing doing_of(const TraceRead *trace) {
    if (strcmp(trace->category, "kernel") != 0) return DOING_COPY;
    bool exchanges = has(trace->name, "nccl") || has(trace->name, "rccl") || has(trace->name, "nvshmem");
    return exchanges ? DOING_COMMUNICATE : DOING_COMPUTE;
}

// A step is marked on the host and again on the GPU: the host's marks follow each other without gaps.
static void add_mark(TraceRead *trace) {
    if (trace->steps == 0 || trace->start < trace->begin) trace->begin = trace->start;
    if (trace->steps == 0 || trace->start + trace->duration > trace->end) trace->end = trace->start + trace->duration;
    trace->steps++;
}

static void add_kernel(TraceRead *trace) {
    if (trace->device < 0) trace->device = trace->on_device;
    trace->several_devices = trace->several_devices || trace->device != trace->on_device;
    Doing doing = doing_of(trace);
    trace->too_many = trace->edges.count >= MOST_EDGES;
    if (trace->too_many) return;
    LIST_PUSH(trace->arena, &trace->edges, ((Edge){trace->start, (int8_t)doing, 1}));
    LIST_PUSH(trace->arena, &trace->edges, ((Edge){trace->start + trace->duration, (int8_t)doing, -1}));
}

static void end_event(TraceRead *trace) {
    if (!(trace->duration >= 0) || !isfinite(trace->start)) return;
    const char *category = trace->category;
    bool on_gpu =
        strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 || strcmp(category, "gpu_memset") == 0;
    if (on_gpu) add_kernel(trace);
    if (strcmp(category, "user_annotation") == 0 && strncmp(trace->name, STEP_MARK, strlen(STEP_MARK)) == 0 &&
        trace->steps < MOST_STEPS)
        add_mark(trace);
}

// ---- What the parser calls. An event is an object in the list "traceEvents" of the root.

static bool in_event(const TraceRead *trace) { return trace->in_events && trace->lists == 1 && trace->maps == 2; }

static bool in_arguments(const TraceRead *trace) {
    return trace->in_events && trace->lists == 1 && trace->maps == 3 && strcmp(trace->key, "args") == 0;
}

static int on_map_start(void *context) {
    TraceRead *trace = context;
    trace->maps++;
    if (in_event(trace)) {
        trace->name[0] = trace->category[0] = trace->argument[0] = '\0';
        trace->start = NAN, trace->duration = -1, trace->on_device = 0;
    }
    return 1;
}

static int on_map_end(void *context) {
    TraceRead *trace = context;
    if (in_event(trace)) end_event(trace);
    trace->maps--;
    return 1;
}

static int on_list_start(void *context) {
    TraceRead *trace = context;
    trace->lists++;
    if (trace->lists == 1) trace->in_events = trace->maps == 1 && strcmp(trace->key, "traceEvents") == 0;
    return 1;
}

static int on_list_end(void *context) {
    TraceRead *trace = context;
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
    TraceRead *trace = context;
    if (in_arguments(trace))
        keep(trace->argument, sizeof trace->argument, text, length);
    else
        keep(trace->key, sizeof trace->key, text, length);
    return 1;
}

static int on_text(void *context, const unsigned char *text, size_t length) {
    TraceRead *trace = context;
    if (!in_event(trace)) return 1;
    if (strcmp(trace->key, "name") == 0) keep(trace->name, sizeof trace->name, text, length);
    if (strcmp(trace->key, "cat") == 0) keep(trace->category, sizeof trace->category, text, length);
    return 1;
}

static int on_number(void *context, const char *text, size_t length) {
    TraceRead *trace = context;
    char digits[64];
    if (!in_event(trace) && !in_arguments(trace)) return 1;
    keep(digits, sizeof digits, (const unsigned char *)text, length);
    double value = strtod(digits, NULL);
    if (in_arguments(trace)) {
        if (strcmp(trace->argument, "device") == 0) trace->on_device = value;
        return 1;
    }
    if (strcmp(trace->key, "ts") == 0) trace->start = value;
    if (strcmp(trace->key, "dur") == 0) trace->duration = value;
    return 1;
}

static const JsonStream stream = {.on_number = on_number,
                                  .on_text = on_text,
                                  .on_map_start = on_map_start,
                                  .on_key = on_key,
                                  .on_map_end = on_map_end,
                                  .on_list_start = on_list_start,
                                  .on_list_end = on_list_end};

// ---- From kernels to stretches.

static int by_time(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->doing != y->doing) return x->doing - y->doing;
    return x->change - y->change;
}

// Seconds of the marked steps by what is done; the last for nothing.
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

static bool check(const TraceRead *trace, const char *path, Problems *problems) {
    if (trace->edges.count == 0) {
        problem_add(problems, (Where){path, 0}, "no kernel is in this trace");
        problem_hint(problems, "profile with ProfilerActivity.CUDA and export_chrome_trace");
        return false;
    }
    if (trace->steps == 0 || !(trace->end > trace->begin)) {
        problem_add(problems, (Where){path, 0}, "no step is marked in this trace");
        problem_hint(problems, "call step() of torch.profiler.profile at the end of each: it writes " STEP_MARK "N");
        return false;
    }
    if (trace->too_many) {
        problem_add(problems, (Where){path, 0}, "more than %d kernels are in this trace", MOST_EDGES / 2);
        problem_hint(problems, "profile fewer steps");
        return false;
    }
    if (trace->several_devices) {
        problem_add(problems, (Where){path, 0}, "kernels of several GPUs are in this trace");
        problem_hint(problems, "give the trace of one rank");
        return false;
    }
    return true;
}

bool diff_side_of_trace(Arena *arena, const char *path, DiffSide *side, Problems *problems) {
    FILE *file = fopen(path, "r");
    if (!file) {
        problem_add(problems, (Where){path, 0}, "%s", strerror(errno));
        return false;
    }
    TraceRead *trace = ARENA_NEW(arena, TraceRead);
    *trace = (TraceRead){.arena = arena, .device = -1};
    bool ok = json_stream_read(file, path, &stream, trace, problems);
    fclose(file);
    if (!ok || !check(trace, path, problems)) return false;
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
    diff_close_side(arena, side);
    return true;
}

// An answer of ours begins with what it is; a trace names its list of events near its beginning.
bool diff_file_is_trace(const char *path) {
    static const char mark[] = "\"traceEvents\"";
    char text[65536];
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return strstr(text, mark) != NULL;
}
