// Convolutional blocks as implicit GEMMs with the memory-bound kernels around them, and plain linear layers.
#include <string.h>

#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"

// Fitted on 470 published CNN steps of twelve families, shared by every network: how much of what a GEMM reaches a
// convolution reaches, by GPU generation (matrix units before and since Ampere; vector units), and what surrounds it.
#define CONV_SHARE_BEFORE_AMPERE 0.89
#define CONV_SHARE_SINCE_AMPERE 0.98
#define CONV_SHARE_VECTOR 1.12
#define CONV_SHARE_DILATED 0.58 // of the others' (WaveGlow's, on twelve types of GPU)
#define K_RAMP 114.0            // elements of K that a tile loses to prologue and epilogue
#define K_RAMP_CUDNN_5 900.0
#define CHANNEL_PAD 64.0        // channels are padded to the smallest tile: of matrix units and cuDNN 5
#define CHANNEL_PAD_VECTOR 32.0 // of vector units since
#define WINOGRAD_GAIN 2.25      // 3x3 with stride 1 on vector units: 36 products become 16
#define LAYOUT_PASSES 2.05      // NCHW to NHWC and back, on matrix units
#define CONV_SHARPNESS 3.0
// What a multiprocessor can ask of memory in a clock by the strided loads of these kernels; beside it the bandwidth.
// H100 and A100 have 13 and 11 bytes to give to each, V100 6, GDDR cards less than 6.
#define BYTES_PER_CLOCK_AND_SM 13.0
// Before Volta: the catalogue's efficiencies, judged from the same steps with cuDNN's later passes, are short by this.
#define MEMORY_SHARE_CUDNN_5 1.3
// Channels last, PyTorch of 2022 with cuDNN 8.3: no matrix-unit kernel has more than 32 channels in a group, and what
// it falls back to reaches this of the vector units (two networks of one family).
#define WIDE_GROUP 32
#define WIDE_GROUP_SHARE 0.1
#define MAX_POOL_FORWARD 1.25 // passes over its input
#define MAX_POOL_BACKWARD 2.25
// Beyond an empty kernel: until the first bytes are there, and the last tile is out.
#define DRAIN_SECONDS 1.2e-6
#define APART_BYTES 1.2  // channels apart: against passes over all that goes in and out (caches help)
#define APART_FLOPS 0.25 // and products on vector units, against their peak
// Along time PyTorch's own kernels do them, whatever their length, for cuDNN has none: issue slots that a multiply-add
// of one thread takes with its loads, bounds and indices, of 128 in a clock. Volta and Ampere agree within 7 %.
#define APART_ALONG_TIME_SLOTS 38.0
#define SLOTS_PER_CLOCK 128.0
#define LAYER_NORM_FORWARD 2.0
#define LAYER_NORM_BACKWARD 4.0
#define BIAS_FORWARD 2.0 // an addition of its own
#define BIAS_BACKWARD 1.0
#define COPY_PASSES 2.0
#define SQUEEZE_FORWARD 3.0 // the mean; each channel scaled
#define SQUEEZE_BACKWARD 6.0
#define SQUEEZE_KERNELS 8
#define TILE 128.0
#define SPLIT_K_LIMIT 8
#define SPLIT_K_LEAST 256.0 // elements of K left to each part

// How a framework runs what surrounds a convolution. Passes, forward and backward, read or write a whole tensor once:
// cuDNN's batch norm reads its input twice, ReLU and sums are kernels of their own unless they are fused to it.
typedef struct ImageTraits {
    bool channels_last; // as convolutions on matrix units want it; else they change the layout there and back
    double traffic;     // bytes moved, as a multiple of what the passes say
    double batch_norm[2], fixed_norm[2], relu[2], residual_add[2];
    int kernels[2]; // of a convolution with its batch norm and ReLU
} ImageTraits;
// clang-format off
#define SEPARATE .batch_norm = {3, 5}, .relu = {2, 3}, .residual_add = {3, 2}, .kernels = {3, 4}, .fixed_norm = {4, 2}
#define TOGETHER .batch_norm = {2.2, 3.3}, .relu = {0, 0.1}, .residual_add = {1, 1.1}, .kernels = {2, 3}, .fixed_norm = {0, 0}
static const ImageTraits image_traits[FRAMEWORK_COUNT] = {
    [FRAMEWORK_EAGER] = {false, 1.08, SEPARATE},
    [FRAMEWORK_MEGATRON] = {false, 1, SEPARATE},
    [FRAMEWORK_TUNED] = {true, 0.83, TOGETHER},
    [FRAMEWORK_GRAPH] = {true, 1.6, TOGETHER},
    [FRAMEWORK_FUSED] = {false, 1.08, SEPARATE},
    [FRAMEWORK_COMPOSED] = {true, 1.0, SEPARATE},
    [FRAMEWORK_OPERATORS] = {false, 1, SEPARATE},
    [FRAMEWORK_TENSORFLOW] = {true, 1.6, TOGETHER},
};
// clang-format on

static const ImageTraits *image_traits_of(const Work *work) { return &image_traits[work->training->framework]; }

static bool channels_last(const Work *work) {
    ImageLayout layout = work->training->image_layout;
    if (layout != IMAGE_LAYOUT_USUAL) return layout == IMAGE_LAYOUT_NHWC;
    return image_traits_of(work)->channels_last;
}

static bool since_ampere(const Gpu *gpu) { return gpu->year >= 2020; }
static bool before_volta(const Gpu *gpu) { return gpu->year < 2017; }
static bool on_tensor_cores(const Work *work) { return work->precision != FP32 && work->precision != FP64; }

static double memory_share(const Gpu *gpu) {
    if (before_volta(gpu)) return MEMORY_SHARE_CUDNN_5;
    double given = gpu->memory_efficiency * gpu->memory_bytes_per_second / (gpu->sm_count * gpu->tensor_hz);
    return 1 / hypot(1, given / BYTES_PER_CLOCK_AND_SM);
}

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

// Where what a type's products reach says little of its convolutions: their share of the peak itself, by architecture
// and bytes of an element. H100 and H200 agree, and B200 and GB200; Kepler and Pascal ran cuDNN 5 and 6, whose ramp is
// long and whose algorithms spare products.
typedef struct ConvRate {
    const char *architecture;
    int element_bytes;
    double of_peak;
} ConvRate;
static const ConvRate conv_rates[] = {
    {"Kepler", 4, 0.80}, {"Pascal", 4, 1.24}, {"Hopper", 2, 0.78}, {"Blackwell", 2, 0.60}};

static double conv_share(const Work *work) {
    for (size_t i = 0; i < sizeof conv_rates / sizeof *conv_rates; i++)
        if (work->gpu->architecture && strcmp(work->gpu->architecture, conv_rates[i].architecture) == 0 &&
            work->element_bytes == conv_rates[i].element_bytes)
            return conv_rates[i].of_peak / work->gpu->gemm_efficiency[work->precision];
    if (!on_tensor_cores(work)) return CONV_SHARE_VECTOR;
    return since_ampere(work->gpu) ? CONV_SHARE_SINCE_AMPERE : CONV_SHARE_BEFORE_AMPERE;
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
        return roofline_seconds(work->gpu, FP32, flops / WIDE_GROUP_SHARE, 0);
    }
    double k = on_tensor_cores(work) ? padded(gemm.k, 16 / work->element_bytes) : gemm.k; // rows of 16 bytes
    double pad = on_tensor_cores(work) || before_volta(work->gpu) ? CHANNEL_PAD : CHANNEL_PAD_VECTOR;
    double m = gemm.pad_m ? padded(gemm.m, pad) : gemm.m, n = padded(gemm.n, pad);
    double flops =
        2 * layer->conv.groups * m * n * k * wave_loss(work->gpu, layer->conv.groups, gemm.m, gemm.n, gemm.k);
    if (gemm.ramp) flops *= 1 + (before_volta(work->gpu) ? K_RAMP_CUDNN_5 : K_RAMP) / gemm.k;
    if (gemm.winograd && !on_tensor_cores(work)) flops /= WINOGRAD_GAIN;
    double share = conv_share(work) * (layer->conv.dilated ? CONV_SHARE_DILATED : 1);
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

static double elements_in(const Work *work, const NetLayer *layer) {
    return work->samples * layer->in_channels * places_in(layer);
}

static double elements_out(const Work *work, const NetLayer *layer) {
    return work->samples * layer->out_channels * places_out(layer);
}

static double conv_seconds(const Work *work, const NetLayer *layer, ConvGemm gemm) {
    double in = elements_in(work, layer), out = elements_out(work, layer);
    double bytes = work->element_bytes * (in + out + layer_parameters(layer));
    bool layout_changes = precision_bytes(work->precision) <= 2 && !channels_last(work);
    if (layout_changes) bytes += LAYOUT_PASSES * work->element_bytes * (in + out);
    double compute = conv_compute_seconds(work, layer, gemm);
    double memory = memory_seconds(work->gpu, bytes) / memory_share(work->gpu);
    return pow(pow(compute, CONV_SHARPNESS) + pow(memory, CONV_SHARPNESS), 1 / CONV_SHARPNESS);
}

static void cnn_bytes(const Work *work, Pass *pass, double passes, double elements) {
    double bytes = passes * work->element_bytes * elements * image_traits_of(work)->traffic;
    pass_now(pass)->seconds[CAUSE_MEMORY] += memory_seconds(work->gpu, bytes) / memory_share(work->gpu);
}

static void conv_gemms(const Work *work, const NetLayer *layer, bool first, Pass *forward, Pass *backward) {
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
        work, layer,
        (ConvGemm){.m = out_pixels, .n = out_channels, .k = fed_channels * taps, .ramp = true, .winograd = winograd});
    if (!first && layer->learning != LEARNS_NEVER)
        pass_now(backward)->seconds[CAUSE_GEMM] += conv_seconds(
            work, layer,
            (ConvGemm){.m = in_pixels, .n = in_channels, .k = out_channels * met, .ramp = true, .winograd = winograd});
    if (layer->learning != LEARNS) return;
    pass_now(weights_of(work, backward))->seconds[CAUSE_GEMM] += conv_seconds(
        work, layer, (ConvGemm){.m = out_channels, .n = in_channels * taps, .k = out_pixels, .pad_m = true});
}

static double apart_along_time_seconds(const Work *work, const NetLayer *layer) {
    double slots = APART_ALONG_TIME_SLOTS * work->samples * layer_macs(layer);
    return slots / (SLOTS_PER_CLOCK * work->gpu->sm_count * work->gpu->tensor_hz * work->gpu->sustained);
}

// Channels apart: no product that matrix units could do, so bytes or vector units.
static void apart_cost(const Work *work, const NetLayer *layer, bool first, Pass *forward, Pass *backward) {
    double in = elements_in(work, layer), out = elements_out(work, layer);
    double flops = 2 * work->samples * layer_macs(layer) / APART_FLOPS;
    double bytes = work->element_bytes * (in + out) / (APART_BYTES * memory_share(work->gpu));
    double seconds = roofline_seconds(work->gpu, FP32, flops, bytes);
    if (layer->dimensions == 1) seconds = fmax(seconds, apart_along_time_seconds(work, layer));
    pass_now(forward)->seconds[CAUSE_GEMM] += seconds;
    pass_now(backward)->seconds[CAUSE_GEMM] += (first ? 1 : 2) * seconds;
}

static bool channels_apart(const NetLayer *layer) {
    return layer->conv.groups > 1 && layer->conv.groups == layer->in_channels &&
           layer->conv.groups == layer->out_channels;
}

// Channels last in 16 bits the data stays on the chip between its statistics and its norm (cuDNN's persistent kernels).
static double batch_norm_passes(const Work *work, int direction) {
    static const double persistent[] = {2, 3};
    const double *separate = image_traits_of(work)->batch_norm;
    bool stays = channels_last(work) && precision_bytes(work->precision) <= 2;
    return stays ? persistent[direction] : separate[direction];
}

static void image_kernels(Pass *pass, double kernels) {
    pass_kernels(pass, kernels);
    pass_now(pass)->seconds[CAUSE_LAUNCH] += kernels * DRAIN_SECONDS;
}

// Norms, activations, sums and copies of what a layer gives.
static double element_passes(const Work *work, const NetLayer *layer, int direction) {
    const ImageTraits *traits = image_traits_of(work);
    bool forward = direction == FORWARD;
    double wide = work->training->mixed_precision ? work->traits->hidden_bytes / work->element_bytes : 1;
    double passes = 0;
    if (layer->batch_norm) passes += batch_norm_passes(work, direction);
    if (layer->fixed_norm) passes += traits->fixed_norm[direction];
    if (layer->layer_norm) passes += wide * (forward ? LAYER_NORM_FORWARD : LAYER_NORM_BACKWARD);
    if (layer->relu) passes += traits->relu[direction];
    if (layer->residual_add) passes += traits->residual_add[direction];
    if (layer->bias && !layer->batch_norm) passes += forward ? BIAS_FORWARD : BIAS_BACKWARD;
    if (layer->scaled) passes += forward ? 2 : 4;
    if (layer->copied) passes += COPY_PASSES;
    if (layer->squeeze) passes += forward ? SQUEEZE_FORWARD : SQUEEZE_BACKWARD;
    passes += layer->passes[direction];
    return passes;
}

static double extra_kernels(const Work *work, const NetLayer *layer, int direction) {
    int fixed = layer->residual_add + layer->max_pool_after + layer->scaled + (layer->squeeze ? SQUEEZE_KERNELS : 0);
    bool together = work->training->framework == FRAMEWORK_TUNED; // what others do image by image
    return fixed + layer->kernels[direction] + (together ? 1 : work->samples) * layer->kernels_per_image;
}

static void layer_elements(const Work *work, const NetLayer *layer, Pass *forward, Pass *backward) {
    double out = elements_out(work, layer), in = elements_in(work, layer);
    double pooled = layer->max_pool_after ? out : layer->pool_kernel ? in : 0;
    bool product = multiplies(layer);
    for (int direction = FORWARD; direction <= (layer->learning == LEARNS_NEVER ? FORWARD : BACKWARD); direction++) {
        Pass *pass = direction == FORWARD ? forward : backward;
        double kernels = image_traits_of(work)->kernels[direction] - (layer->relu ? 0 : 1);
        double passes = element_passes(work, layer, direction);
        if (passes > 0) cnn_bytes(work, pass, passes, out);
        if (pooled > 0) cnn_bytes(work, pass, direction == FORWARD ? MAX_POOL_FORWARD : MAX_POOL_BACKWARD, pooled);
        image_kernels(pass, (product ? fmax(1, kernels) : 1) + extra_kernels(work, layer, direction));
    }
}

static void conv_cost(const Work *work, const NetLayer *layer, bool first, Pass *forward, Pass *backward) {
    if (layer->kind == LAYER_ATTENTION)
        place_attention(work, layer, forward, backward);
    else if (channels_apart(layer))
        apart_cost(work, layer, first, forward, backward);
    else if (layer->kind == LAYER_CONTRAST)
        contrast_cost(work, layer, forward, backward);
    else if (layer->kind == LAYER_RECURRENT)
        recurrent_cost(work, layer, forward, backward);
    else if (multiplies(layer))
        conv_gemms(work, layer, first, forward, backward);
    layer_elements(work, layer, forward, backward);
}

static void linear_cost(const Work *work, double rows, double out, double in, bool first, Pass *forward,
                        Pass *backward) {
    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, rows, out, in);
    if (!first) pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, rows, in, out);
    pass_gemm(work, weights_of(work, backward), CAUSE_GEMM, work->precision, 1, out, in, rows);
    pass_bytes(work, forward, CAUSE_MEMORY, 3 * work->element_bytes * rows * out); // bias, activation or loss
    pass_bytes(work, backward, CAUSE_MEMORY, 4 * work->element_bytes * rows * out);
    pass_kernels(forward, 2);
    pass_kernels(backward, first ? 3 : 4);
}

static void weight_casts(const Work *work, double parameters, Pass *forward, Pass *backward) {
    if (!work->training->mixed_precision) return;
    for (int direction = FORWARD; direction <= BACKWARD; direction++)
        pass_now(direction == FORWARD ? forward : weights_of(work, backward))->seconds[CAUSE_MEMORY] +=
            memory_seconds(work->gpu, weight_traffic(work->training, direction) * parameters);
}

void cnn_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    for (int i = 0; i < model->net_layer_count; i++) {
        const NetLayer *layer = &model->net_layers[i];
        if (layer->block != block) continue;
        if (layer->sequential)
            sequential_cost(work, layer, forward, backward);
        else if (layer->kind == LAYER_LINEAR)
            linear_cost(work, work->samples * places_out(layer), layer->out_channels, layer->in_channels, false,
                        forward, backward);
        else
            conv_cost(work, layer, i == 0, forward, backward);
    }
    weight_casts(work, block_parameters(model, block), forward, backward);
}

void mlp_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    linear_cost(work, work->samples, model->widths[block + 1], model->widths[block], block == 0, forward, backward);
    weight_casts(work, block_parameters(model, block), forward, backward);
}
