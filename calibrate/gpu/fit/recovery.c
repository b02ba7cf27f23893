// Synthetic measurements: the shapes of the benchmark's own plan, times from the cost functions with constants drawn
// around the catalogue's, and noise on their logarithms.
#include "calibrate/gpu/fit/fit.h"

#include <math.h>
#include <string.h>

#include "calibrate/gpu/bench/bench.h"
#include "sim/base/random.h"

typedef struct Draft {
    Measured *rows;
    int count;
} Draft;

// As many GPUs as the largest node of them has, so that there are collectives.
static int most_gpus(const Catalogue *catalogue, const Gpu *gpu) {
    int most = 1;
    for (int i = 0; i < catalogue->node_count; i++)
        if (node_gpu(catalogue, &catalogue->nodes[i], 0) == gpu && catalogue->nodes[i].gpu_count > most)
            most = catalogue->nodes[i].gpu_count;
    return most < 8 ? most : 8;
}

static void add_row(const Gpu *gpu, Measured row, Draft *draft) {
    bool has_type = row.kind == MEASURED_GEMM || row.kind == MEASURED_ATTENTION || row.kind == MEASURED_BESIDE ||
                    row.kind == MEASURED_SUSTAINED;
    if (has_type && !gpu_supports(gpu, row.gemm.precision)) return;
    if (row.kind == MEASURED_SUSTAINED && gpu->training_clock == 1) return; // a share of 1 has no interval around it
    row.line = draft->count + 1;
    measured_suppose_alone(gpu, &row);
    draft->rows[draft->count++] = row;
    if (!measured_is_large(gpu, &row)) return;
    Measured power = measured_power(&row, 0);
    power.line = draft->count + 1;
    draft->rows[draft->count++] = power;
}

static Draft draft_of(Arena *arena, const Catalogue *catalogue, const Gpu *gpu) {
    BenchSettings settings = {.budget_seconds = 540};
    BenchMachine machine = bench_supposed_machine();
    machine.gpu_count = most_gpus(catalogue, gpu);
    BenchPlan plan = bench_plan_open(&settings, &machine);
    Draft draft = {ARENA_ARRAY(arena, Measured, 2 * plan.count), 0};
    for (int i = 0; i < plan.count; i++) {
        Measured row;
        if (measured_from_case(arena, catalogue, gpu, &plan.cases[i], &row)) add_row(gpu, row, &draft);
    }
    bench_plan_close(&plan);
    return draft;
}

static double between(RandomStream *stream, double low, double high) {
    return low + (high - low) * random_uniform(stream);
}

static Constants draw_truth(const Gpu *gpu, RandomStream *stream) {
    Constants truth = {*gpu, block_channel_usual()};
    Gpu *of = &truth.gpu;
    for (int p = 0; p < PRECISION_COUNT; p++)
        if (gpu_supports(gpu, (Precision)p)) of->gemm_efficiency[p] = between(stream, 0.5, 0.9);
    of->memory_efficiency = between(stream, 0.7, 0.95);
    of->launch_seconds = between(stream, 1.5e-6, 6e-6);
    of->graph_launch_share = between(stream, 0.4, 0.8);
    of->gemm_ramp = between(stream, 5, 100);
    of->wave_weight = between(stream, 0.3, 0.8);
    of->roofline_sharpness = between(stream, 1.7, 3.5);
    of->long_gemm_rate = between(stream, 0.5, 0.9);
    of->untransposed_gemm_gain = between(stream, 1.02, 1.1); // up to the peak, which 0.9 of it leaves
    of->odd_gemm_rate = between(stream, 0.7, 0.95);
    if (gpu->training_clock < 1) of->training_clock = between(stream, 0.7, 0.95);
    of->l2_speed_up = between(stream, 1.5, 4);
    of->l2_share = between(stream, 0.3, 0.8);
    of->issue_seconds = between(stream, 1.5e-6, 5e-6);
    of->copy_seconds = between(stream, 3e-6, 12e-6);
    of->host_link_efficiency = between(stream, 0.5, 0.9);
    of->interference = between(stream, 0.15, 0.5);
    of->matrix_power = between(stream, 0.6, 0.95);
    of->memory_power = between(stream, 0.6, 0.95);
    of->collectives = (CollectiveFactors){.floor = between(stream, 0.7, 1.5),
                                          .hop = between(stream, 0.7, 1.5),
                                          .fill = between(stream, 0.7, 1.5),
                                          .rate = between(stream, 0.7, 1.2)};
    BlockChannel *channel = &truth.channel;
    channel->start_seconds *= between(stream, 0.5, 2);
    for (int p = 0; p < CHANNEL_PROTOCOLS; p++) {
        channel->step_seconds[p] *= between(stream, 0.5, 2);
        channel->reduce_rate[p] *= between(stream, 0.5, 2);
        channel->copy_rate[p] *= between(stream, 0.5, 2);
    }
    return truth;
}

static double truth_of(Arena *arena, const Constants *truth, const char *key) {
    Constants constants = *truth;
    Free frees[MOST_DEVICE_PARAMETERS];
    int count = list_frees(&truth->gpu, frees);
    for (int f = 0; f < count; f++)
        if (strcmp(free_key(arena, &frees[f]), key) == 0) return *free_place(&constants, &frees[f]);
    return NAN;
}

static RecoveryRow *row_of(Recovery *recovery, const char *key) {
    for (int p = 0; p < recovery->count; p++)
        if (strcmp(recovery->parameters[p].key, key) == 0) return &recovery->parameters[p];
    RecoveryRow *row = &recovery->parameters[recovery->count++];
    snprintf(row->key, sizeof row->key, "%s", key);
    return row;
}

static void score(Arena *arena, const Constants *truth, const DeviceFit *fit, Recovery *recovery) {
    for (int p = 0; p < fit->count; p++) {
        const DeviceParameter *parameter = &fit->parameters[p];
        RecoveryRow *row = row_of(recovery, parameter->key);
        double exact = truth_of(arena, truth, parameter->key);
        if (!parameter->identified) continue;
        row->identified++;
        row->held += parameter->low <= exact && exact <= parameter->high;
        row->error += parameter->value / exact - 1;
    }
}

Recovery recovery_run(const Catalogue *catalogue, const Gpu *gpu, int trials, double noise, uint64_t seed) {
    Recovery recovery = {.count = 0};
    Arena *kept = arena_open();
    Draft draft = draft_of(kept, catalogue, gpu);
    recovery.rows = draft.count;
    for (int trial = 0; trial < trials; trial++) {
        Arena *arena = arena_open();
        RandomStream stream = random_stream(seed, "recovery trial", (uint64_t)trial);
        Constants truth = draw_truth(gpu, &stream);
        for (int i = 0; i < draft.count; i++) {
            Measured *row = &draft.rows[i];
            row->noise = noise;
            row->seconds = constants_prediction(&truth, row) * exp(noise * random_normal(&stream));
        }
        DeviceFit fit = device_fit(arena, NULL, gpu, draft.rows, draft.count, seed, true);
        score(arena, &truth, &fit, &recovery);
        arena_close(arena);
    }
    arena_close(kept);
    return recovery;
}
