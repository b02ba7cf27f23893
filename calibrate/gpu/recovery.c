// Made-up measurements: the shapes of the measuring program's own plan, times from the cost functions with
// constants drawn around the catalogue's, and noise on their logarithms.
#include "calibrate/gpu/recovery.h"

#include <math.h>
#include <string.h>

#include "calibrate/gpu/bench.h"
#include "sim/random.h"

typedef struct Draft {
    Measured *rows;
    int count;
} Draft;

static Draft draft_of(Arena *arena, const Gpu *gpu) {
    BenchSettings settings = {.budget_seconds = 540, .only = "gemm,memory,kernels,launch"};
    BenchMachine machine = bench_supposed_machine();
    BenchPlan plan = bench_plan_open(&settings, &machine);
    Draft draft = {ARENA_ARRAY(arena, Measured, plan.count), 0};
    for (int i = 0; i < plan.count; i++) {
        const BenchCase *of = &plan.cases[i];
        Measured row = {.line = i + 1, .operation = of->section == BENCH_GEMM ? of->type : of->operation};
        row.gemm = (Gemm){.batch = of->batch, .m = of->m, .n = of->n, .k = of->k};
        row.bytes = of->moved_bytes;
        if (of->section == BENCH_GEMM) {
            row.kind = MEASURED_GEMM;
            if (!precision_from_name(of->type, &row.gemm.precision) || !gpu_supports(gpu, row.gemm.precision)) continue;
        } else if (of->section == BENCH_LAUNCH) {
            row.kind = MEASURED_LAUNCH;
            if (strcmp(of->variant, "stream") != 0) continue;
        } else {
            row.kind = MEASURED_BYTES;
            if (strcmp(of->operation, "strided") == 0) continue;
        }
        draft.rows[draft.count++] = row;
    }
    bench_plan_close(&plan);
    return draft;
}

static double between(RandomStream *stream, double low, double high) {
    return low + (high - low) * random_uniform(stream);
}

static Gpu draw_truth(const Gpu *gpu, RandomStream *stream) {
    Gpu truth = *gpu;
    for (int p = 0; p < PRECISION_COUNT; p++)
        if (gpu_supports(gpu, (Precision)p)) truth.gemm_efficiency[p] = between(stream, 0.5, 0.9);
    truth.memory_efficiency = between(stream, 0.7, 0.95);
    truth.launch_seconds = between(stream, 1.5e-6, 6e-6);
    truth.gemm_ramp = between(stream, 50, 200);
    truth.wave_weight = between(stream, 0.3, 0.8);
    truth.roofline_sharpness = between(stream, 1.7, 3.5);
    return truth;
}

static double truth_of(const Gpu *truth, const DeviceParameter *parameter) {
    static const struct {
        const char *key;
        size_t offset;
    } places[] = {{"memory_efficiency", offsetof(Gpu, memory_efficiency)},
                  {"launch_time", offsetof(Gpu, launch_seconds)},
                  {"gemm_ramp", offsetof(Gpu, gemm_ramp)},
                  {"wave_weight", offsetof(Gpu, wave_weight)},
                  {"roofline_sharpness", offsetof(Gpu, roofline_sharpness)}};
    double value = truth->gemm_efficiency[parameter->precision];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].key, parameter->key) == 0)
            memcpy(&value, (const char *)truth + places[i].offset, sizeof value);
    return value;
}

static void score(const Gpu *truth, const DeviceFit *fit, Recovery *recovery) {
    recovery->count = fit->count;
    for (int p = 0; p < fit->count; p++) {
        const DeviceParameter *parameter = &fit->parameters[p];
        RecoveryRow *row = &recovery->parameters[p];
        double exact = truth_of(truth, parameter);
        snprintf(row->key, sizeof row->key, "%s", parameter->key);
        if (!parameter->identified) continue;
        row->identified++;
        row->held += parameter->low <= exact && exact <= parameter->high;
        row->error += parameter->value / exact - 1;
    }
}

Recovery recovery_run(const Gpu *gpu, int trials, double noise, uint64_t seed) {
    Recovery recovery = {.count = 0};
    for (int trial = 0; trial < trials; trial++) {
        Arena *arena = arena_open();
        RandomStream stream = random_stream(seed, "recovery trial", (uint64_t)trial);
        Gpu truth = draw_truth(gpu, &stream);
        Draft draft = draft_of(arena, gpu);
        for (int i = 0; i < draft.count; i++)
            draft.rows[i].seconds = measured_prediction(&truth, &draft.rows[i]) * exp(noise * random_normal(&stream));
        DeviceFit fit = device_fit(arena, gpu, draft.rows, draft.count, seed, true);
        recovery.rows = draft.count;
        score(&truth, &fit, &recovery);
        arena_close(arena);
    }
    return recovery;
}
