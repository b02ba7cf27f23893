// Convolutional blocks as implicit GEMMs with the memory-bound kernels around them, and plain linear layers.
#include <string.h>

#include "models/workload/cost_internal.h"
#include "models/workload/model_internal.h"

// Between two fits over 695 published steps, shared by every CNN: how much of what a GEMM reaches a convolution
// reaches, by GPU generation (tensor cores before and since Ampere; vector units reach all of it), and what its strided
// access leaves of the streaming bandwidth: the faster the memory, the less; Ada's L2 of 48 to 96 MiB makes up for it.
typedef struct MemoryShare {
    const char *architecture;
    double share;
} MemoryShare;
static const MemoryShare memory_shares[] = {{"Ampere", 0.86}, {"Hopper", 0.78}, {"Blackwell", 0.78}};
#define CONV_SHARE_BEFORE_AMPERE 0.88
#define CONV_SHARE_SINCE_AMPERE 0.95
#define CONV_SHARE_VECTOR 1.0
#define CONV_SHARE_CUDNN_5 1.45 // of GPUs before Volta, measured with cuDNN 5 and 6, whose ramp is long
#define K_RAMP 114.0            // elements of K that a tile loses to prologue and epilogue
#define K_RAMP_CUDNN_5 800.0
#define CHANNEL_PAD 64.0  // channels are padded to the smallest tile
#define WINOGRAD_GAIN 2.2 // 3x3 with stride 1 on vector units (theory: 2.25)
#define LAYOUT_PASSES 1.5 // NCHW to NHWC and back, on tensor cores
#define CONV_SHARPNESS 3.0
#define MAX_POOL_FORWARD 1.25 // passes over its input
#define MAX_POOL_BACKWARD 2.25
#define TILE 128.0
#define SPLIT_K_LIMIT 8
#define SPLIT_K_LEAST 256.0 // elements of K left to each part

static bool since_ampere(const Gpu *gpu) { return gpu->year >= 2020; }
static bool before_volta(const Gpu *gpu) { return gpu->year < 2017; }
static bool on_tensor_cores(const Work *work) { return work->precision != FP32 && work->precision != FP64; }

static double conv_share(const Work *work) {
    if (before_volta(work->gpu)) return CONV_SHARE_CUDNN_5;
    if (!on_tensor_cores(work)) return CONV_SHARE_VECTOR;
    return since_ampere(work->gpu) ? CONV_SHARE_SINCE_AMPERE : CONV_SHARE_BEFORE_AMPERE;
}

static double memory_share(const Gpu *gpu) {
    for (size_t i = 0; i < sizeof memory_shares / sizeof *memory_shares; i++)
        if (strcmp(gpu->architecture, memory_shares[i].architecture) == 0) return memory_shares[i].share;
    return 1;
}

static double padded(double size, double unit) { return unit * ceil(size / unit); }

// Time lost because tiles come in whole waves; cuDNN splits K when there are too few. Half of the last wave's loss is
// hidden by tiles that end early (the same weight as in the GEMM model).
static double wave_loss(const Gpu *gpu, double m, double n, double k) {
    double tiles = ceil(m / TILE) * ceil(n / (n <= 64 ? 64 : TILE));
    double least = 0;
    for (int split = 1; split <= SPLIT_K_LIMIT && (split == 1 || k / split >= SPLIT_K_LEAST); split++) {
        double waves = tiles * split / gpu->sm_count;
        double loss = (fmax(1, waves) + fmax(1, ceil(waves))) / 2 / waves;
        if (split == 1 || loss < least) least = loss;
    }
    return least;
}

typedef struct ConvGemm {
    double m, n, k;
    bool ramp; // K is short enough for the ramp to count
    bool pad_m;
    bool winograd;
} ConvGemm;

static double conv_seconds(const Work *work, const ConvLayer *layer, ConvGemm gemm) {
    double k = on_tensor_cores(work) ? padded(gemm.k, 16 / work->element_bytes) : gemm.k; // rows of 16 bytes
    double m = gemm.pad_m ? padded(gemm.m, CHANNEL_PAD) : gemm.m;
    double flops = 2 * m * padded(gemm.n, CHANNEL_PAD) * k * wave_loss(work->gpu, gemm.m, gemm.n, gemm.k);
    if (gemm.ramp) flops *= 1 + (before_volta(work->gpu) ? K_RAMP_CUDNN_5 : K_RAMP) / gemm.k;
    if (gemm.winograd) flops /= WINOGRAD_GAIN;
    double compute = roofline_seconds(work->gpu, work->precision, flops / conv_share(work), 0);

    double in = work->samples * layer->in_channels * layer->in_size * layer->in_size;
    double out = work->samples * layer->out_channels * layer->out_size * layer->out_size;
    double bytes = work->element_bytes * (in + out + conv_parameters(layer));
    bool layout_changes = precision_bytes(work->precision) <= 2 && !work->traits->channels_last;
    if (layout_changes) bytes += LAYOUT_PASSES * work->element_bytes * (in + out);
    double memory = memory_seconds(work->gpu, bytes / memory_share(work->gpu));
    return pow(pow(compute, CONV_SHARPNESS) + pow(memory, CONV_SHARPNESS), 1 / CONV_SHARPNESS);
}

static void cnn_bytes(const Work *work, Pass *pass, double passes, double elements) {
    pass_bytes(work, pass, CAUSE_MEMORY, passes * work->element_bytes * elements / memory_share(work->gpu));
}

static void conv_gemms(const Work *work, const ConvLayer *layer, bool first, Pass *forward, Pass *backward) {
    double in_pixels = work->samples * layer->in_size * layer->in_size;
    double out_pixels = work->samples * layer->out_size * layer->out_size;
    double in_channels = layer->in_channels, out_channels = layer->out_channels;
    double taps = (double)layer->kernel * layer->kernel;
    // Images of three colours are padded to eight channels for tensor cores (four in 32 bits).
    double fed_channels = on_tensor_cores(work) ? padded(in_channels, 16 / work->element_bytes) : in_channels;
    bool winograd = !on_tensor_cores(work) && layer->kernel == 3 && layer->stride == 1;

    pass_now(forward)->seconds[CAUSE_GEMM] += conv_seconds(
        work, layer,
        (ConvGemm){.m = out_pixels, .n = out_channels, .k = fed_channels * taps, .ramp = true, .winograd = winograd});
    if (!first) { // with a stride only one in stride^2 taps meets an output
        double met_taps = taps / ((double)layer->stride * layer->stride);
        pass_now(backward)->seconds[CAUSE_GEMM] += conv_seconds(
            work, layer,
            (ConvGemm){
                .m = in_pixels, .n = in_channels, .k = out_channels * met_taps, .ramp = true, .winograd = winograd});
    }
    pass_now(weights_of(work, backward))->seconds[CAUSE_GEMM] += conv_seconds(
        work, layer, (ConvGemm){.m = out_channels, .n = in_channels * taps, .k = out_pixels, .pad_m = true});
}

static void conv_cost(const Work *work, const ConvLayer *layer, bool first, Pass *forward, Pass *backward) {
    const FrameworkTraits *traits = work->traits;
    double out = work->samples * layer->out_channels * layer->out_size * layer->out_size;

    conv_gemms(work, layer, first, forward, backward);
    for (int direction = FORWARD; direction <= BACKWARD; direction++) {
        Pass *pass = direction == FORWARD ? forward : backward;
        double kernels = traits->conv_kernels[direction] - (layer->relu ? 0 : 1);
        if (layer->batch_norm) cnn_bytes(work, pass, traits->batch_norm[direction], out);
        if (layer->relu) cnn_bytes(work, pass, traits->relu[direction], out);
        if (layer->residual_add) cnn_bytes(work, pass, traits->residual_add[direction], out);
        if (layer->max_pool_after)
            cnn_bytes(work, pass, direction == FORWARD ? MAX_POOL_FORWARD : MAX_POOL_BACKWARD, out);
        pass_kernels(pass, fmax(1, kernels) + layer->residual_add + layer->max_pool_after);
    }
}

static void linear_cost(const Work *work, double out, double in, bool first, Pass *forward, Pass *backward) {
    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, work->samples, out, in);
    if (!first) pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, work->samples, in, out);
    pass_gemm(work, weights_of(work, backward), CAUSE_GEMM, work->precision, 1, out, in, work->samples);
    pass_bytes(work, forward, CAUSE_MEMORY, 3 * work->element_bytes * work->samples * out); // bias, activation or loss
    pass_bytes(work, backward, CAUSE_MEMORY, 4 * work->element_bytes * work->samples * out);
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
    for (int i = 0; i < model->conv_count; i++) {
        const ConvLayer *layer = &model->conv[i];
        if (layer->block != block) continue;
        if (layer->linear)
            linear_cost(work, layer->out_channels, layer->in_channels, false, forward, backward);
        else
            conv_cost(work, layer, i == 0, forward, backward);
    }
    weight_casts(work, block_parameters(model, block), forward, backward);
}

void mlp_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    linear_cost(work, model->widths[block + 1], model->widths[block], block == 0, forward, backward);
    weight_casts(work, block_parameters(model, block), forward, backward);
}
