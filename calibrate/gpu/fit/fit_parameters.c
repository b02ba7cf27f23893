// The table of parameters that measurements can determine.
#include "calibrate/gpu/fit/fit_parameters.h"

#include <math.h>

#include "sim/base/check.h"

#define G(member_) offsetof(Constants, gpu.member_)
#define C(member_) offsetof(Constants, channel.member_)
#define PER_CHANNEL(protocol_)                                                                                         \
    .group = GROUP_CHANNEL, .kind = MEASURED_CHANNEL, .also = MEASURED_CHANNEL, .protocol = protocol_
#define INSIDE .in_catalogue = true, .protocol = -1

// clang-format off
const ParameterRow parameter_rows[] = {
    {"gemm_efficiency", CURVE_SHARE, GROUP_COMPUTE, G(gemm_efficiency), 4, .per_precision = true, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "", .scale = 1},
    {"memory_efficiency", CURVE_SHARE, GROUP_COMPUTE, G(memory_efficiency), 1, INSIDE, .kind = MEASURED_BYTES, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"launch_time", CURVE_POSITIVE, GROUP_COMPUTE, G(launch_seconds), 1, INSIDE, .kind = MEASURED_LAUNCH, .also = MEASURED_GEMM, .unit = "us", .scale = 1e-6},
    {"graph_launch_share", CURVE_SHARE, GROUP_COMPUTE, G(graph_launch_share), 1, INSIDE, .kind = MEASURED_GRAPH, .also = MEASURED_GRAPH, .unit = "of launch", .scale = 1},
    {"gemm_ramp", CURVE_POSITIVE, GROUP_COMPUTE, G(gemm_ramp), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "of K", .scale = 1},
    {"wave_weight", CURVE_SHARE, GROUP_COMPUTE, G(wave_weight), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "", .scale = 1},
    {"roofline_sharpness", CURVE_ABOVE_ONE, GROUP_COMPUTE, G(roofline_sharpness), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_ATTENTION, .unit = "", .scale = 1},
    {"long_gemm_rate", CURVE_SHARE, GROUP_COMPUTE, G(long_gemm_rate), 4, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"untransposed_gemm_gain", CURVE_POSITIVE, GROUP_COMPUTE, G(untransposed_gemm_gain), 2, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"odd_gemm_rate", CURVE_SHARE, GROUP_COMPUTE, G(odd_gemm_rate), 2, INSIDE, .kind = MEASURED_GEMM, .also = MEASURED_GEMM, .unit = "", .scale = 1},
    {"l2_speed_up", CURVE_ABOVE_ONE, GROUP_COMPUTE, G(l2_speed_up), 8, INSIDE, .kind = MEASURED_BYTES, .also = MEASURED_BYTES, .unit = "of memory", .scale = 1},
    {"l2_share", CURVE_SHARE, GROUP_COMPUTE, G(l2_share), 8, INSIDE, .kind = MEASURED_BYTES, .also = MEASURED_BYTES, .unit = "", .scale = 1},
    {"issue_time", CURVE_POSITIVE, GROUP_HOST, G(issue_seconds), 1, INSIDE, .kind = MEASURED_ISSUE, .also = MEASURED_ISSUE, .unit = "us", .scale = 1e-6},
    {"host_copy_time", CURVE_POSITIVE, GROUP_COPY, G(copy_seconds), 3, INSIDE, .kind = MEASURED_COPY, .also = MEASURED_COPY, .unit = "us", .scale = 1e-6},
    {"host_link_efficiency", CURVE_SHARE, GROUP_COPY, G(host_link_efficiency), 3, INSIDE, .kind = MEASURED_COPY, .also = MEASURED_COPY, .unit = "", .scale = 1},
    {"interference", CURVE_SHARE, GROUP_BESIDE, G(interference), 1, INSIDE, .kind = MEASURED_BESIDE, .also = MEASURED_BESIDE, .unit = "", .scale = 1},
    {"training_clock", CURVE_POSITIVE, GROUP_CLOCK, G(training_clock), 1, INSIDE, .kind = MEASURED_SUSTAINED, .also = MEASURED_SUSTAINED, .unit = "", .scale = 1},
    {"matrix_power", CURVE_SHARE, GROUP_POWER, G(matrix_power), 3, INSIDE, .kind = MEASURED_POWER, .also = MEASURED_POWER, .unit = "of TDP", .scale = 1},
    {"memory_power", CURVE_SHARE, GROUP_POWER, G(memory_power), 3, INSIDE, .kind = MEASURED_POWER, .also = MEASURED_POWER, .unit = "of TDP", .scale = 1},
    {"collective_floor", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.floor), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"collective_hop", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.hop), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"collective_fill", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.fill), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"collective_rate", CURVE_POSITIVE, GROUP_COLLECTIVE, G(collectives.rate), 8, INSIDE, .kind = MEASURED_COLLECTIVE, .also = MEASURED_COLLECTIVE, .unit = "of usual", .scale = 1},
    {"channel_start", CURVE_POSITIVE, .offset = C(start_seconds), .fewest = 4, PER_CHANNEL(-1), .unit = "us", .scale = 1e-6},
    {"step_ll", CURVE_POSITIVE, .offset = C(step_seconds[CHANNEL_LL]), .fewest = 4, PER_CHANNEL(CHANNEL_LL), .unit = "us", .scale = 1e-6},
    {"step_simple", CURVE_POSITIVE, .offset = C(step_seconds[CHANNEL_SIMPLE]), .fewest = 4, PER_CHANNEL(CHANNEL_SIMPLE), .unit = "us", .scale = 1e-6},
    {"reduce_rate_ll", CURVE_POSITIVE, .offset = C(reduce_rate[CHANNEL_LL]), .fewest = 3, PER_CHANNEL(CHANNEL_LL), .algorithm = CHANNEL_RING, .unit = "GB/s", .scale = 1e9},
    {"reduce_rate_simple", CURVE_POSITIVE, .offset = C(reduce_rate[CHANNEL_SIMPLE]), .fewest = 3, PER_CHANNEL(CHANNEL_SIMPLE), .algorithm = CHANNEL_RING, .unit = "GB/s", .scale = 1e9},
    {"copy_rate_ll", CURVE_POSITIVE, .offset = C(copy_rate[CHANNEL_LL]), .fewest = 3, PER_CHANNEL(CHANNEL_LL), .unit = "GB/s", .scale = 1e9},
    {"copy_rate_simple", CURVE_POSITIVE, .offset = C(copy_rate[CHANNEL_SIMPLE]), .fewest = 3, PER_CHANNEL(CHANNEL_SIMPLE), .unit = "GB/s", .scale = 1e9},
};
// clang-format on
const int parameter_row_count = sizeof parameter_rows / sizeof *parameter_rows;

FitGroup group_of_kind(MeasuredKind kind) {
    static const FitGroup groups[MEASURED_KINDS] = {
        [MEASURED_GEMM] = GROUP_COMPUTE, [MEASURED_BYTES] = GROUP_COMPUTE,         [MEASURED_LAUNCH] = GROUP_COMPUTE,
        [MEASURED_ISSUE] = GROUP_HOST,   [MEASURED_GRAPH] = GROUP_COMPUTE,         [MEASURED_ATTENTION] = GROUP_COMPUTE,
        [MEASURED_COPY] = GROUP_COPY,    [MEASURED_BESIDE] = GROUP_BESIDE,         [MEASURED_SUSTAINED] = GROUP_CLOCK,
        [MEASURED_POWER] = GROUP_POWER,  [MEASURED_COLLECTIVE] = GROUP_COLLECTIVE, [MEASURED_CHANNEL] = GROUP_CHANNEL};
    return groups[kind];
}

double *free_place(Constants *constants, const Free *free) {
    void *place = (char *)constants + free->row->offset;
    double *first = place;
    return free->row->per_precision ? first + free->precision : first;
}

static double share_of(double x) { return 1 / (1 + exp(-x)); }

static double logit(double share) {
    double inside = fmin(fmax(share, 1e-3), 1 - 1e-3);
    return log(inside / (1 - inside));
}

double value_of(const Free *free, double x) {
    return free->row->curve == CURVE_SHARE ? share_of(x) : free->row->curve == CURVE_ABOVE_ONE ? 1 + exp(x) : exp(x);
}

double line_of(const Free *free, double value) {
    if (free->row->curve == CURVE_SHARE) return logit(value);
    return log(free->row->curve == CURVE_ABOVE_ONE ? fmax(value - 1, 1e-2) : fmax(value, 1e-9));
}

// A GEMM informs only the efficiency of its own type, a ring of LL nothing of Simple.
bool free_informed(const Free *free, const Measured *row) {
    const ParameterRow *of = free->row;
    if (row->watched || (row->kind != of->kind && row->kind != of->also)) return false;
    if (of->per_precision) return row->gemm.precision == free->precision;
    const Gemm *gemm = &row->gemm;
    if (of->offset == offsetof(Constants, gpu.untransposed_gemm_gain))
        return gemm->precision == FP32 && gemm->is_untransposed;
    if (of->offset == offsetof(Constants, gpu.odd_gemm_rate))
        return gemm->precision == FP32 && (gemm->n % 2 || gemm->k % 2);
    if (row->kind == MEASURED_POWER) return row->of_memory == (of->offset == offsetof(Constants, gpu.memory_power));
    if (of->group != GROUP_CHANNEL || of->protocol < 0) return true;
    if (row->algorithm == CHANNEL_START || row->is_ll != (of->protocol == CHANNEL_LL)) return false;
    return of->algorithm == CHANNEL_START || row->algorithm == of->algorithm;
}

const char *free_key(Arena *arena, const Free *free) {
    if (!free->row->per_precision) return free->row->key;
    return arena_printf(arena, "%s_%s", free->row->key, precision_name(free->precision));
}

// Its matrix units draw the power limit, whatever their constant (models/hardware/power.c).
static bool is_throttled(const Gpu *gpu) { return gpu->training_clock < 1 || gpu->sustained < 1; }

int list_frees(const Gpu *gpu, Free *frees) {
    int count = 0;
    for (int r = 0; r < parameter_row_count; r++) {
        const ParameterRow *row = &parameter_rows[r];
        for (int p = 0; p < (row->per_precision ? PRECISION_COUNT : 1); p++) {
            if (row->per_precision && !gpu_supports(gpu, (Precision)p)) continue;
            if (row->offset == offsetof(Constants, gpu.matrix_power) && is_throttled(gpu)) continue;
            CHECK(count < MOST_DEVICE_PARAMETERS);
            frees[count++] = (Free){row, (Precision)p};
        }
    }
    return count;
}
