// Reads a step of a Kineto trace (sim/data/kineto.h), or of an export of Nsight Systems, which may be
// gigabytes: memory holds three numbers for each kernel.
//
// Every instant of a marked step is counted once, by the GPU's activity: computing before copying before
// communicating, so that communication is the exposed part. Time without kernels is a part of its own. Kernels do not
// show whether they recompute, nor for which parallelism they communicate.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "scenarios/explain/diff.h"
#include "sim/base/list.h"
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
    struct {
        Edge *items;
        int count, room;
    } edges;
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
        problem_hint(problems, nsys ? "profile with nsys profile --trace=cuda,nvtx"
                                    : "profile with ProfilerActivity.CUDA and export_chrome_trace");
        return false;
    }
    if (trace->steps == 0 || !(trace->end > trace->begin)) {
        problem_add(problems, (Where){path, 0}, "no step is marked in this trace");
        problem_hint(problems,
                     nsys ? "put each into a range of NVTX: torch.cuda.nvtx.range_push(\"step\") and range_pop()"
                          : "call step() of torch.profiler.profile at the end of each: it writes " STEP_MARK "N");
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
