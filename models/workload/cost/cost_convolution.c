// Cost of convolutions: as implicit GEMMs, and depthwise ones.
#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_layers.h"
#include "models/workload/model/model_internal.h"

#define CHANNEL_PAD 64.0        // channels are padded to the smallest tile: of matrix units and cuDNN 5
#define CHANNEL_PAD_VECTOR 32.0 // of vector units since
#define WINOGRAD_GAIN 2.25      // 3x3 with stride 1 on vector units: 36 products become 16
// Channels last, PyTorch of 2022 with cuDNN 8.3: no matrix-unit kernel supports more channels in a group, and the
// fallback reaches little of the vector units' rate.
#define WIDE_GROUP 32
#define SLOTS_PER_CLOCK 128.0 // lanes that a multiprocessor issues to
#define TILE 128.0
#define SPLIT_K_LIMIT 8
#define SPLIT_K_LEAST 256.0 // elements of K left to each part

static bool since_ampere(const Gpu *gpu) { return gpu->year >= 2020; }
bool on_tensor_cores(const Work *work) { return work->precision != FP32 && work->precision != FP64; }

static double padded(double size, double unit) { return unit * ceil(size / unit); }

// Time lost because tiles come in whole waves; cuDNN splits K when there are too few. Half of the last wave's loss is
// hidden by tiles that end early (the same weight as in the GEMM model).
static double wave_loss(const Gpu *gpu, double groups, double m, double n, double k) {
    double tiles = groups * ceil(m / TILE) * ceil(n / (n <= 64 ? 64 : TILE));
    double least = 0;
    for (int split = 1; split <= SPLIT_K_LIMIT && (split == 1 || k / split >= SPLIT_K_LEAST); split++) {
        double waves = tiles * split / gpu->sm_count;
        double loss = (fmax(1, waves) + fmax(1, ceil(waves))) / 2 / waves;
        if (split == 1 || loss < least) least = loss;
    }
    return least;
}

// Convolutions whose rate does not follow from the type's products: their share of the peak itself, by architecture
// and bytes of an element. H100 and H200 agree, and B200 and GB200; Kepler and Pascal ran cuDNN 5 and 6, whose ramp
// is long and whose algorithms save products.
typedef struct ConvRate {
    int element_bytes; // 0: follows from the products
    CostConstantId of_peak;
} ConvRate;
static const ConvRate conv_rates[ARCHITECTURE_COUNT] = {[KEPLER] = {4, CONV_PEAK_KEPLER},
                                                        [PASCAL] = {4, CONV_PEAK_PASCAL},
                                                        [HOPPER] = {2, CONV_PEAK_HOPPER},
                                                        [BLACKWELL] = {2, CONV_PEAK_BLACKWELL}};

static double conv_share(const Work *work) {
    const ConvRate *rate = &conv_rates[work->gpu->generation];
    if (rate->element_bytes == work->element_bytes)
        return cost_constant(rate->of_peak) / work->gpu->gemm_efficiency[work->precision];
    if (!on_tensor_cores(work)) return cost_constant(CONV_SHARE_VECTOR);
    return since_ampere(work->gpu) ? cost_constant(CONV_SHARE_SINCE_AMPERE) : cost_constant(CONV_SHARE_BEFORE_AMPERE);
}

// Detectors see images of any size, for which eager software takes cuDNN's guess of a kernel instead of timing several
// (torch.backends.cudnn.benchmark stays off).
static double kernel_choice_share(const Work *work) {
    if (work->training->framework != FRAMEWORK_EAGER) return 1;
    for (int i = 0; i < work->model->net_layer_count; i++)
        if (work->model->net_layers[i].kernels_per_image > 0) return cost_constant(CONV_SHARE_GUESSED);
    return 1;
}

typedef struct ConvGemm {
    double m, n, k; // of one group
    bool ramp;      // K is short enough for the ramp to count
    bool pad_m;
    bool winograd; // can be done so
} ConvGemm;

static bool wide_groups_last(const Work *work, const NetLayer *layer) {
    return layer->conv.groups > 1 && layer->in_channels / layer->conv.groups > WIDE_GROUP &&
           precision_bytes(work->precision) <= 2 && channels_last(work) && work->training->framework == FRAMEWORK_EAGER;
}

static double conv_compute_on_units(const Work *work, const NetLayer *layer, ConvGemm gemm) {
    if (wide_groups_last(work, layer)) {
        double flops = 2 * layer->conv.groups * gemm.m * gemm.n * gemm.k;
        return roofline_seconds(work->gpu, FP32, flops / cost_constant(WIDE_GROUP_SHARE), 0);
    }
    double k = on_tensor_cores(work) ? padded(gemm.k, 16 / work->element_bytes) : gemm.k; // rows of 16 bytes
    double pad = on_tensor_cores(work) || before_volta(work->gpu) ? CHANNEL_PAD : CHANNEL_PAD_VECTOR;
    double m = gemm.pad_m ? padded(gemm.m, pad) : gemm.m, n = padded(gemm.n, pad);
    double flops =
        2 * layer->conv.groups * m * n * k * wave_loss(work->gpu, layer->conv.groups, gemm.m, gemm.n, gemm.k);
    if (gemm.ramp)
        flops *= 1 + (before_volta(work->gpu) ? cost_constant(K_RAMP_CUDNN_5) : cost_constant(K_RAMP)) / gemm.k;
    if (gemm.winograd && !on_tensor_cores(work)) flops /= WINOGRAD_GAIN;
    double share =
        conv_share(work) * kernel_choice_share(work) * (layer->conv.dilated ? cost_constant(CONV_SHARE_DILATED) : 1);
    return roofline_seconds(work->gpu, work->precision, flops / share, 0);
}

// TF32 is allowed, not ordered: where matrix units are hardly faster (GeForce), cuDNN may take the vector units.
static double conv_compute_seconds(const Work *work, const NetLayer *layer, ConvGemm gemm) {
    double seconds = conv_compute_on_units(work, layer, gemm);
    if (work->precision != TF32) return seconds;
    Work by_vectors = *work;
    by_vectors.precision = FP32;
    return fmin(seconds, conv_compute_on_units(&by_vectors, layer, gemm));
}

static double conv_seconds(const Work *work, const NetLayer *layer, const Operator *one, ConvGemm gemm) {
    double in = one->fed, out = one->written;
    double bytes = work->element_bytes * (in + out + layer_parameters(layer));
    bool layout_changes = precision_bytes(work->precision) <= 2 && !channels_last(work);
    if (layout_changes) bytes += cost_constant(LAYOUT_PASSES) * work->element_bytes * (in + out);
    double compute = conv_compute_seconds(work, layer, gemm);
    double memory = image_kernel_seconds(work->gpu, memory_seconds(work->gpu, bytes), bytes);
    double q = cost_constant(CONV_SHARPNESS);
    return pow(pow(compute, q) + pow(memory, q), 1 / q);
}

static void conv_gemms(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double in_pixels = work->samples * places_in(layer), out_pixels = work->samples * places_out(layer);
    double in_channels = (double)layer->in_channels / layer->conv.groups;
    double out_channels = (double)layer->out_channels / layer->conv.groups;
    double taps = taps_forward(layer), met = taps_backward(layer);
    // Images of three colours are padded to eight channels for tensor cores (four in 32 bits).
    double fed_channels = on_tensor_cores(work) ? padded(in_channels, 16 / work->element_bytes) : in_channels;
    bool square = layer->conv.kernel == 3 && (layer->conv.kernel_wide == 0 || layer->conv.kernel_wide == 3);
    bool flat = layer->dimensions == 0 || layer->dimensions == 2;
    bool winograd = flat && square && layer->conv.stride == 1 && layer->conv.groups == 1;

    pass_now(forward)->seconds[CAUSE_GEMM] += conv_seconds(
        work, layer, one,
        (ConvGemm){.m = out_pixels, .n = out_channels, .k = fed_channels * taps, .ramp = true, .winograd = winograd});
    if (!is_first_layer(work, layer) && layer->learning != LEARNS_NEVER)
        pass_now(backward)->seconds[CAUSE_GEMM] += conv_seconds(
            work, layer, one,
            (ConvGemm){.m = in_pixels, .n = in_channels, .k = out_channels * met, .ramp = true, .winograd = winograd});
    if (layer->learning != LEARNS) return;
    pass_now(weights_of(work, backward))->seconds[CAUSE_GEMM] += conv_seconds(
        work, layer, one, (ConvGemm){.m = out_channels, .n = in_channels * taps, .k = out_pixels, .pad_m = true});
}

// Along time PyTorch's own kernels do them, whatever their length, for cuDNN has none: each multiply-add of a thread
// takes issue slots with its loads, bounds and indices.
static double apart_along_time_seconds(const Work *work, const NetLayer *layer) {
    double slots = cost_constant(APART_ALONG_TIME_SLOTS) * work->samples * layer_macs(layer);
    return slots / (SLOTS_PER_CLOCK * work->gpu->sm_count * work->gpu->tensor_hz * work->gpu->sustained);
}

// Channels apart: no product that matrix units could do, so bytes or vector units.
static void apart_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double in = one->fed, out = one->written;
    double flops = 2 * work->samples * layer_macs(layer) / cost_constant(APART_FLOPS);
    double bytes = work->element_bytes * (in + out) / cost_constant(APART_BYTES);
    double cold = cold_memory_seconds(work->gpu, bytes);
    double seconds =
        roofline_seconds(work->gpu, FP32, flops, bytes * image_kernel_seconds(work->gpu, cold, bytes) / cold);
    if (layer->dimensions == 1) seconds = fmax(seconds, apart_along_time_seconds(work, layer));
    pass_now(forward)->seconds[CAUSE_GEMM] += seconds;
    pass_now(backward)->seconds[CAUSE_GEMM] += (is_first_layer(work, layer) ? 1 : 2) * seconds;
}

static bool channels_apart(const NetLayer *layer) {
    return layer->conv.groups > 1 && layer->conv.groups == layer->in_channels &&
           layer->conv.groups == layer->out_channels;
}

void convolution_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    if (channels_apart(layer))
        apart_cost(work, layer, one, forward, backward);
    else
        conv_gemms(work, layer, one, forward, backward);
    elements_cost(work, layer, one, forward, backward);
}
