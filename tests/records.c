// Records made by hand. The figures are round, so that tests can say what is printed.
#include "tests/records.h"

#include <math.h>

#define GIB 0x1p30

static const char *const notes[] = {"Kernel efficiency is a catalogue value, not measured on your machines."};

static const Assumption assumptions[] = {
    {"gemm efficiency", "", "NVIDIA A100 whitepaper", "fitted", "0.745", 0.745},
    {"NVLink", "GB/s", "NVIDIA A100 datasheet", "datasheet", "300", 300},
    {"attention kernel", "", "default since 2023", "assumed", "flash", NAN},
};

static const Published published[] = {{"throughput", "images/s", 20000, 19000, "MLPerf 1.0"}};

static NamedValue *step_parts(Arena *arena, double step, double dp_share, int *count) {
    const NamedValue parts[] = {
        {"gemm", "Matrix multiplication", step * (0.8 - dp_share)},
        {"memory-bound", "Memory-bound kernels", step * 0.15},
        {"dp", "Gradient exchange", step * dp_share},
        {"data", "Data loading", step * 0.05},
        {"tp", "Tensor parallelism", 0},
    };
    *count = 5;
    NamedValue *copy = ARENA_ARRAY(arena, NamedValue, *count);
    for (int i = 0; i < *count; i++) copy[i] = parts[i];
    return copy;
}

static NamedValue *memory_parts(Arena *arena, int *count) {
    const NamedValue parts[] = {
        {"weights", "Weights", 4 * GIB},      {"gradients", "Gradients", 4 * GIB},
        {"optimizer", "Optimizer", 16 * GIB}, {"activations", "Activations", 18 * GIB},
        {"buffers", "Buffers", 2 * GIB},      {"reserve", "Reserve", 2 * GIB},
    };
    *count = 6;
    NamedValue *copy = ARENA_ARRAY(arena, NamedValue, *count);
    for (int i = 0; i < *count; i++) copy[i] = parts[i];
    return copy;
}

static RecordPoint point_of(Arena *arena, int gpus, double step, double dp_share) {
    RecordParameter *parameters = ARENA_ARRAY(arena, RecordParameter, 2);
    parameters[0] = (RecordParameter){"gpus", arena_printf(arena, "%d", gpus), gpus};
    parameters[1] = (RecordParameter){"precision", "bf16", NAN};
    double rate = gpus * 256 / step, days = 90 * 1281167 / rate / 86400, hour = gpus * 2.5;
    RecordPoint point = {
        .parameters = parameters,
        .parameter_count = 2,
        .ran = true,
        .gpu_count = gpus,
        .node_count = (gpus + 7) / 8,
        .step_p5_s = step * 0.98,
        .step_p50_s = step,
        .step_p95_s = step * 1.03,
        .samples_per_s = rate,
        .efficiency_vs_one_gpu = 0.1 / step,
        .efficiency_vs_ideal = 0.95 - dp_share,
        .mfu = 0.03 / step,
        .hfu = 0.04 / step,
        .flops_per_step = gpus * 9.36e12,
        .memory_peak_bytes = 46 * GIB,
        .memory_capacity_bytes = 80 * GIB,
        .cost_per_hour = hour,
        .cost_per_month = hour * 730,
        .cost_per_run = hour * 24 * days,
        .cost_per_step = hour * step / 3600,
        .currency = "USD",
        .days = days,
        .steps = 450410,
        .energy_kwh = gpus * 0.6 * 24 * days,
        .power_watts = gpus * 600,
        .tp = 1,
        .pp = 1,
        .vpp = 1,
        .dp = gpus,
        .cp = 1,
        .ep = 1,
        .micro_batch = 256,
        .global_batch = 256.0 * gpus,
        .digest = 0x0123456789abcdef,
        .event_count = 1000,
        .simulate_seconds = 0.001,
    };
    point.exposed = step_parts(arena, step, dp_share, &point.exposed_count);
    point.memory = memory_parts(arena, &point.memory_count);
    return point;
}

static Record *record_with(Arena *arena, RecordPoint *points, int count) {
    Record *record = ARENA_NEW(arena, Record);
    *record = (Record){
        .title = "ResNet-50 on DGX A100",
        .scenario = "resnet.lua",
        .sample_name = "images",
        .points = points,
        .point_count = count,
        .assumptions = assumptions,
        .assumption_count = 3,
        .published = published,
        .published_count = 1,
        .notes = notes,
        .note_count = 1,
        .seed = 1,
        .digest = 0xfedcba9876543210,
    };
    return record;
}

Record *record_of_one(Arena *arena) {
    RecordPoint *point = ARENA_NEW(arena, RecordPoint);
    *point = point_of(arena, 8, 0.125, 0.1);
    return record_with(arena, point, 1);
}

Record *record_of_scaling(Arena *arena) {
    RecordPoint *points = ARENA_ARRAY(arena, RecordPoint, 5);
    points[0] = point_of(arena, 1, 0.1, 0);
    points[1] = point_of(arena, 8, 0.105, 0.04);
    points[2] = point_of(arena, 64, 0.125, 0.1);
    points[3] = point_of(arena, 512, 0.16, 0.25);
    points[4] = point_of(arena, 1024, 0.2, 0.3);
    points[4].ran = false;
    points[4].why_not = "needs 93.1 GiB of 80.0 GiB";
    points[4].smallest_change = "recompute = \"full\" (61 GiB)";
    points[4].memory_peak_bytes = 93.1 * GIB;
    Record *record = record_with(arena, points, 5);
    record->x_name = "gpus";
    return record;
}

// ---- 1F1B over 4 stages: forward 1, backward 2 time units (Narayanan et al., 2019).

#define STAGES 4
#define BATCHES 8

static TimelineBar *add_bar(Arena *arena, TimelineBar *bar, int stage, double start, double end, char kind, int batch) {
    *bar = (TimelineBar){.row = stage,
                         .start_s = start * 1e-3,
                         .end_s = end * 1e-3,
                         .cause = kind == 'F' ? "forward" : "backward",
                         .name = arena_printf(arena, "%c%d", kind, batch)};
    return bar + 1;
}

static Timeline *one_f_one_b(Arena *arena) {
    static const char *const names[STAGES] = {"stage 0", "stage 1", "stage 2", "stage 3"};
    double forward[STAGES][BATCHES] = {{0}}, backward[STAGES][BATCHES] = {{0}}, free_at[STAGES] = {0};
    int forwards[STAGES] = {0}, backwards[STAGES] = {0};
    TimelineBar *bars = ARENA_ARRAY(arena, TimelineBar, 2 * STAGES * BATCHES), *next = bars;
    while (backwards[0] < BATCHES)
        for (int s = 0; s < STAGES; s++) {
            int f = forwards[s], b = backwards[s];
            bool can_forward = f < BATCHES && f - b < STAGES - s && (s == 0 || forwards[s - 1] > f);
            bool can_backward = b < f && (s == STAGES - 1 || backwards[s + 1] > b);
            if (can_backward) {
                double start = fmax(free_at[s], s == STAGES - 1 ? forward[s][b] : backward[s + 1][b]);
                backward[s][b] = free_at[s] = start + 2;
                next = add_bar(arena, next, s, start, start + 2, 'B', b);
                backwards[s]++;
            } else if (can_forward) {
                double start = fmax(free_at[s], s == 0 ? 0 : forward[s - 1][f]);
                forward[s][f] = free_at[s] = start + 1;
                next = add_bar(arena, next, s, start, start + 1, 'F', f);
                forwards[s]++;
            }
        }
    Timeline *timeline = ARENA_NEW(arena, Timeline);
    *timeline = (Timeline){.row_names = names,
                           .row_count = STAGES,
                           .bars = bars,
                           .bar_count = (int)(next - bars),
                           .idle_share = (STAGES - 1.0) / (BATCHES + STAGES - 1)};
    return timeline;
}

Record *record_of_pipeline(Arena *arena) {
    Record *record = record_of_one(arena);
    RecordPoint *point = ARENA_NEW(arena, RecordPoint);
    *point = record->points[0];
    point->timeline = one_f_one_b(arena);
    point->pp = STAGES;
    record->points = point;
    record->title = "1F1B lesson";
    return record;
}
