// Cost of an image network's block, layer by layer, by the kind of its operator.
#include <math.h>
#include <string.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/model/model_internal.h"
#include "sim/base/check.h"

// Seconds, kernels and collectives of a layer, whose operator this is, added to both passes.
typedef void LayerCost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward);

// The gradient of a network's input is not needed.
static inline bool is_first_layer(const Work *work, const NetLayer *layer) { return layer == work->model->net_layers; }
static inline int direction_count(const NetLayer *layer) { return layer->learning == LEARNS_NEVER ? 1 : 2; }

// ---- Element-wise layers, alone or after others: norms, activations, sums, pools and copies, by their passes
// over a layer's output.

#define MAX_POOL_FORWARD 1.25 // passes over its input
#define MAX_POOL_BACKWARD 2.25
#define LAYER_NORM_FORWARD 2.0
#define LAYER_NORM_BACKWARD 4.0
#define BIAS_FORWARD 2.0 // an addition of its own
#define BIAS_BACKWARD 1.0
#define COPY_PASSES 2.0
#define SQUEEZE_FORWARD 3.0 // the mean; each channel scaled
#define SQUEEZE_BACKWARD 6.0
#define SQUEEZE_KERNELS 8

// How a framework runs what surrounds a convolution. Passes, forward and backward, read or write a whole tensor once:
// cuDNN's batch norm reads its input twice, ReLU and sums are kernels of their own unless they are fused to it.
typedef struct ImageTraits {
    bool channels_last; // as convolutions on matrix units want it; else they change the layout there and back
    double traffic;     // bytes moved, as a multiple of the passes' bytes
    double batch_norm[2], fixed_norm[2], relu[2], residual_add[2];
    int kernels[2];                         // of a convolution with its batch norm and ReLU
    int layout_kernels[2], cast_kernels[2]; // more with channels first on matrix units, and under autocast
} ImageTraits;
// Eager PyTorch's kernels were counted (profiles of PyTorch 2.11 on H100, ResNet-50 in three precisions and layouts:
// 13, 19.5 and 18 a convolution): 4 of products, batch norm, its counter, ReLU; layouts changed for inputs, weights and
// outputs; weights, gradients and what lies between cast.
#define ISSUED .kernels = {4, 5}, .layout_kernels = {2, 3}, .cast_kernels = {2, 3}
// clang-format off
#define SEPARATE .batch_norm = {3, 5}, .relu = {2, 3}, .residual_add = {3, 2}, .fixed_norm = {4, 2}
#define TOGETHER .batch_norm = {2.2, 3.3}, .relu = {0, 0.1}, .residual_add = {1, 1.1}, .kernels = {2, 3}, .fixed_norm = {0, 0}
static const ImageTraits image_traits[FRAMEWORK_COUNT] = {
    [FRAMEWORK_EAGER] = {false, 1.08, SEPARATE, ISSUED},
    [FRAMEWORK_MEGATRON] = {false, 1, SEPARATE, .kernels = {3, 4}},
    [FRAMEWORK_TUNED] = {true, 0.83, TOGETHER},
    [FRAMEWORK_GRAPH] = {true, 1.6, TOGETHER},
    [FRAMEWORK_FUSED] = {false, 1.08, SEPARATE, ISSUED},
    [FRAMEWORK_COMPOSED] = {true, 1.0, SEPARATE, .kernels = {3, 4}},
    [FRAMEWORK_OPERATORS] = {false, 1, SEPARATE, .kernels = {3, 4}},
    [FRAMEWORK_TENSORFLOW] = {true, 1.6, TOGETHER},
};
// clang-format on

static const ImageTraits *image_traits_of(const Work *work) { return &image_traits[work->training->framework]; }

static bool on_tensor_cores(const Work *work) { return work->precision != FP32 && work->precision != FP64; }
static bool channels_last(const Work *work) {
    ImageLayout layout = work->training->image_layout;
    if (layout != IMAGE_LAYOUT_USUAL) return layout == IMAGE_LAYOUT_NHWC;
    return image_traits_of(work)->channels_last;
}

static bool before_volta(const Gpu *gpu) { return gpu->year < 2017; }

// The strided loads of these kernels limit a multiprocessor's memory requests per clock. Before Volta the catalogue's
// efficiencies, fitted to the same steps with later cuDNN's passes, are too low.
static double image_kernel_seconds(const Gpu *gpu, double memory_seconds, double bytes) {
    if (before_volta(gpu)) return memory_seconds / cost_constant(MEMORY_SHARE_CUDNN_5);
    double asked = cost_constant(BYTES_PER_CLOCK_AND_SM) * gpu->sm_count * gpu->tensor_hz;
    return hypot(memory_seconds, bytes / asked);
}

static double image_seconds(const Work *work, double passes, double elements) {
    double moved = passes * image_traits_of(work)->traffic, tensor = work->element_bytes * elements;
    return image_kernel_seconds(work->gpu, passes_seconds(work->gpu, moved, tensor), moved * tensor);
}

static void image_bytes(const Work *work, Pass *pass, double passes, double elements) {
    pass_now(pass)->seconds[CAUSE_MEMORY] += image_seconds(work, passes, elements);
}

// Channels last in 16 bits the data stays on the chip between its statistics and its norm (cuDNN's persistent kernels).
static double batch_norm_passes(const Work *work, int direction) {
    static const double persistent[] = {2, 3};
    const double *separate = image_traits_of(work)->batch_norm;
    bool stays = channels_last(work) && precision_bytes(work->precision) <= 2;
    return stays ? persistent[direction] : separate[direction];
}

static double layer_norm_passes(const Work *work, int direction) {
    double wide = work->training->mixed_precision ? work->traits->hidden_bytes / work->element_bytes : 1;
    return wide * (direction == FORWARD ? LAYER_NORM_FORWARD : LAYER_NORM_BACKWARD);
}

// Norms with channels first are a block of threads for each channel (cuDNN's bn_fw_tr_1C11_kernel_NCHW, PyTorch's
// batch_norm_collect_statistics_kernel), which leaves most of a GPU idle where channels are few and images large. BF16
// goes to PyTorch's own (aten/src/ATen/native/Normalization.cpp).
static double channel_rate(const Work *work) {
    bool eager = work->training->framework == FRAMEWORK_EAGER || work->training->framework == FRAMEWORK_FUSED;
    double bytes = eager && work->precision == BF16 ? cost_constant(NORM_BYTES_OWN) : cost_constant(NORM_BYTES_CUDNN);
    return bytes * work->gpu->tensor_hz;
}

static double norm_seconds(const Work *work, const NetLayer *layer, double elements, int direction) {
    double passes = layer->batch_norm ? batch_norm_passes(work, direction) : layer_norm_passes(work, direction);
    double seconds = image_seconds(work, passes, elements);
    bool amd = work->gpu->vendor && strcmp(work->gpu->vendor, "AMD") == 0;
    if (channels_last(work) || amd) return seconds;
    double channels = layer->out_channels * (layer->instance_norm ? work->samples : 1);
    return hypot(seconds, passes * elements * work->element_bytes / (channels * channel_rate(work)));
}

static void image_kernels(Pass *pass, double kernels) {
    pass_kernels(pass, kernels);
    pass_now(pass)->seconds[CAUSE_LAUNCH] += kernels * cost_constant(DRAIN_SECONDS);
}

// Norms, activations, sums and copies of a layer's output.
static double element_passes(const Work *work, const NetLayer *layer, int direction) {
    const ImageTraits *traits = image_traits_of(work);
    bool forward = direction == FORWARD;
    double passes = 0;
    if (layer->fixed_norm) passes += traits->fixed_norm[direction];
    if (layer->layer_norm && !layer->instance_norm) passes += layer_norm_passes(work, direction);
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

static void add_passes(const Work *work, const NetLayer *layer, const Operator *one, Pass *pass, int direction) {
    double pooled = layer->max_pool_after ? one->written : layer->pool_kernel ? one->fed : 0;
    double passes = element_passes(work, layer, direction);
    if (passes > 0) image_bytes(work, pass, passes, one->written);
    if (layer->batch_norm || layer->instance_norm)
        pass_now(pass)->seconds[CAUSE_MEMORY] += norm_seconds(work, layer, one->written, direction);
    if (pooled > 0) image_bytes(work, pass, direction == FORWARD ? MAX_POOL_FORWARD : MAX_POOL_BACKWARD, pooled);
}

static double convolution_kernels(const Work *work, const NetLayer *layer, int direction) {
    const ImageTraits *traits = image_traits_of(work);
    double kernels = traits->kernels[direction] - (layer->relu ? 0 : 1) - (layer->batch_norm ? 0 : 1);
    if (on_tensor_cores(work) && !channels_last(work)) kernels += traits->layout_kernels[direction];
    if (work->training->mixed_precision && precision_bytes(work->precision) == 2)
        kernels += traits->cast_kernels[direction];
    return fmax(1, kernels);
}

// Software may fuse what follows a convolution to it, in fewer kernels.
static void elements_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    bool convolved = one->kind == OPERATOR_CONVOLUTION;
    for (int direction = FORWARD; direction < direction_count(layer); direction++) {
        Pass *pass = direction == FORWARD ? forward : backward;
        add_passes(work, layer, one, pass, direction);
        image_kernels(pass, (convolved ? convolution_kernels(work, layer, direction) : 1) +
                                extra_kernels(work, layer, direction));
    }
}

// ---- Convolutions: as implicit GEMMs, and depthwise ones.

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

static void convolution_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward,
                             Pass *backward) {
    if (channels_apart(layer))
        apart_cost(work, layer, one, forward, backward);
    else
        conv_gemms(work, layer, one, forward, backward);
    elements_cost(work, layer, one, forward, backward);
}

// ---- Attention between the positions of an image: queries, keys and values of a window attend to each other
// only; `keys` are attended to by all positions.

#define WINDOW_PASSES 6.0 // cutting into windows, shifting, and putting together again

static void plain_attention(const Work *work, const NetLayer *layer, Pass *const passes[2], double groups,
                            double queries) {
    double keys = attention_keys(layer), width = (double)layer->out_channels / layer->attention.heads;
    double scores = groups * queries * keys, elements = groups * queries * width;
    double moved = 2 * 4 + (layer->attention.keys ? 0 : WINDOW_PASSES);
    for (int direction = FORWARD; direction < direction_count(layer); direction++) {
        Pass *pass = passes[direction];
        for (int i = 0; i < (direction == BACKWARD ? 2 : 1); i++) {
            pass_gemm(work, pass, CAUSE_ATTENTION, work->precision, groups, queries, keys, width);
            pass_gemm(work, pass, CAUSE_ATTENTION, work->precision, groups, queries, width, keys);
        }
        double bytes = work->traits->scores[direction] * scores + moved * elements;
        pass_bytes(work, pass, CAUSE_ATTENTION, bytes / scores, work->element_bytes * scores);
        pass_kernels(pass, direction == FORWARD ? 14 : 22);
    }
}

static void flash_attention(const Work *work, const NetLayer *layer, const Operator *one, Pass *const passes[2]) {
    double queries = places_out(layer), keys = attention_keys(layer), heads = layer->attention.heads;
    double bytes = work->element_bytes * work->samples * layer->out_channels * 2 * (queries + keys);
    for (int direction = FORWARD; direction < direction_count(layer); direction++) {
        flash_kernel(work, passes[direction], one->flops, bytes, layer->out_channels / heads, direction);
        pass_kernels(passes[direction], direction == FORWARD ? 8 : 16);
    }
}

static void place_attention_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward,
                                 Pass *backward) {
    Pass *const passes[2] = {forward, backward};
    if (layer->attention.keys && work->training->attention != ATTENTION_PLAIN) {
        flash_attention(work, layer, one, passes);
    } else if (layer->attention.keys) {
        plain_attention(work, layer, passes, work->samples * layer->attention.heads, places_out(layer));
    } else {
        double along = ceil((double)layer->out_size / layer->attention.window);
        plain_attention(work, layer, passes, work->samples * along * along * layer->attention.heads,
                        attention_keys(layer));
    }
    elements_cost(work, layer, one, forward, backward);
}

// ---- Recurrent layer (LSTM) as cuDNN runs it: inputs are multiplied for all steps at once; then each step
// multiplies the previous step's output, followed by a gate kernel. Backward the same in reverse, and weight
// gradients are products over all steps again. Custom loops run kernel by kernel.

#define GATES 4.0
// Passes over one step's hidden state. Forward: both products' gates, bias, old and new cell, output, gates kept;
// backward: gates kept, old and new cell, gradients of output and cell, gradients of the gates.
#define STEP_FORWARD 15.0
#define STEP_BACKWARD 14.0
#define STEP_KERNELS 2

// The same product `times` times, one after the other.
static void sequential_gemms(const Work *work, Pass *pass, double times, double m, double n, double k) {
    Pass one = {.count = 0};
    pass_gemm(work, &one, CAUSE_GEMM, work->precision, 1, m, n, k);
    pass_now(pass)->seconds[CAUSE_GEMM] += times * pass_now(&one)->seconds[CAUSE_GEMM];
}

static void sequential_gates(const Work *work, Pass *pass, double times, double elements, double passes) {
    double seconds = memory_seconds(work->gpu, passes * elements * work->element_bytes);
    pass_now(pass)->seconds[CAUSE_MEMORY] += times * seconds;
}

static void recurrent_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward,
                           Pass *backward) {
    double rows = work->samples, in = layer->in_channels, hidden = layer->out_channels, steps = layer->out_size;
    double gates = GATES * hidden;
    Pass *weights = weights_of(work, backward);

    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 1, rows * steps, gates, in);
    sequential_gemms(work, forward, steps, rows, gates, hidden);
    sequential_gates(work, forward, steps, rows * hidden, STEP_FORWARD);
    pass_kernels(forward, 1 + STEP_KERNELS * steps);

    sequential_gemms(work, backward, steps, rows, hidden, gates);
    sequential_gates(work, backward, steps, rows * hidden, STEP_BACKWARD);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 1, rows * steps, in, gates);
    pass_kernels(backward, 1 + STEP_KERNELS * steps);
    pass_gemm(work, weights, CAUSE_GEMM, work->precision, 1, gates, in, rows * steps);
    pass_gemm(work, weights, CAUSE_GEMM, work->precision, 1, gates, hidden, rows * steps);
    pass_kernels(weights, 3);
    elements_cost(work, layer, one, forward, backward);
}

// ---- A loop in Python over the places along time.

// What the host takes for a kernel of such a loop beyond issuing it as usual: the modules and views around operations
// that do next to nothing, forward; a node of the graph for each of them, backward.
#define ADDED_UP 3.0 // passes: a step's gradients of weights are added to those of the steps after it

static void sequential_bytes(const Work *work, Pass *pass, double times, double bytes) {
    double seconds = memory_seconds(work->gpu, bytes * work->traits->traffic);
    pass_now(pass)->seconds[CAUSE_MEMORY] += times * seconds;
}

static void sequential_kernels(Pass *pass, double kernels) {
    pass_kernels(pass, kernels);
    pass->host_seconds += kernels * cost_constant(LOOP_HOST_SECONDS);
}

static double rows_of_place(const Work *work, const NetLayer *layer) {
    return work->samples * (layer->regions > 0 ? layer->regions : 1);
}

static void sequential_product(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward,
                               Pass *backward) {
    double in = one->k, out = one->n, bias = layer->bias, steps = layer->out_size, rows = rows_of_place(work, layer);
    sequential_gemms(work, forward, steps, rows, out, in);
    sequential_kernels(forward, steps);
    sequential_gemms(work, backward, steps, rows, in, out);
    sequential_gemms(work, backward, steps, out, in, rows);
    sequential_bytes(work, backward, steps, work->element_bytes * (ADDED_UP * in * out + bias * rows * out));
    sequential_kernels(backward, steps * (3 + 2 * bias));
}

static void sequential_elements(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward,
                                Pass *backward) {
    (void)one;
    double steps = layer->out_size, elements = rows_of_place(work, layer) * layer->out_channels;
    for (int direction = FORWARD; direction <= BACKWARD; direction++) {
        Pass *pass = direction == FORWARD ? forward : backward;
        sequential_bytes(work, pass, steps, layer->passes[direction] * elements * work->element_bytes);
        sequential_kernels(pass, steps * (1 + layer->kernels[direction]));
    }
}

// ---- Contrastive loss (CLIP): a GPU's images against the texts of all GPUs and the reverse; gathered
// embeddings return their gradients.

#define LOSS_FORWARD 6.0 // passes over the similarities in 32 bits: scale, maximum, exponentials, sum
#define LOSS_BACKWARD 4.0
#define CONTRAST_KERNELS 16

double contrast_pairs(const Work *work) {
    const TrainingSpec *training = work->training;
    double steps = training->grad_accumulation > 1 ? training->grad_accumulation : 1;
    double replicas = training->layout.dp > 1 ? training->layout.dp : 1;
    return training->global_batch > 0 ? training->global_batch / steps : work->samples * replicas;
}

static void contrast_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double own = work->samples, all = contrast_pairs(work), width = layer->out_channels;
    double gathered = 2 * work->element_bytes * all * width, similarities = 2 * 4 * own * all;
    if (all > own) pass_among_replicas(forward, COLLECTIVE_ALL_GATHER, gathered);
    pass_gemm(work, forward, CAUSE_GEMM, work->precision, 2, own, all, width);
    pass_bytes(work, forward, CAUSE_MEMORY, LOSS_FORWARD, similarities);
    pass_kernels(forward, CONTRAST_KERNELS);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 2, own, width, all);
    pass_gemm(work, backward, CAUSE_GEMM, work->precision, 2, all, width, own);
    pass_bytes(work, backward, CAUSE_MEMORY, LOSS_BACKWARD, similarities);
    pass_kernels(backward, CONTRAST_KERNELS);
    if (all > own) pass_among_replicas(backward, COLLECTIVE_REDUCE_SCATTER, gathered);
    elements_cost(work, layer, one, forward, backward);
}

// ---- The kinds, and a block of them.

static void linear_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    double b = one->batch, m = one->m, n = one->n, k = one->k, bytes = work->element_bytes * one->written;
    bool first = is_first_layer(work, layer);
    pass_gemm(work, forward, CAUSE_GEMM, work->precision, b, m, n, k);
    if (!first) pass_gemm(work, backward, CAUSE_GEMM, work->precision, b, m, k, n);
    pass_gemm(work, weights_of(work, backward), CAUSE_GEMM, work->precision, b, n, k, m);
    pass_bytes(work, forward, CAUSE_MEMORY, 3, bytes); // bias, activation or loss
    pass_bytes(work, backward, CAUSE_MEMORY, 4, bytes);
    pass_kernels(forward, 2);
    pass_kernels(backward, first ? 3 : 4);
}

static const struct {
    LayerCost *at_once, *in_turn; // all places together, or one after the other
} layer_costs[OPERATOR_KIND_COUNT] = {
    [OPERATOR_GEMM] = {linear_cost, sequential_product},
    [OPERATOR_CONVOLUTION] = {convolution_cost, NULL},
    [OPERATOR_ATTENTION] = {place_attention_cost, NULL},
    [OPERATOR_RECURRENT] = {recurrent_cost, NULL},
    [OPERATOR_NORM] = {elements_cost, sequential_elements},
    [OPERATOR_ELEMENTWISE] = {elements_cost, sequential_elements},
    [OPERATOR_LOOKUP] = {elements_cost, sequential_elements},
    [OPERATOR_LOSS] = {elements_cost, sequential_elements},
    [OPERATOR_CONTRAST] = {contrast_cost, NULL},
};

static void weight_casts(const Work *work, double parameters, Pass *forward, Pass *backward) {
    if (!work->training->mixed_precision) return;
    pass_by(forward, "weights and gradients");
    pass_by(weights_of(work, backward), "weights and gradients");
    for (int direction = FORWARD; direction <= BACKWARD; direction++)
        pass_now(direction == FORWARD ? forward : weights_of(work, backward))->seconds[CAUSE_MEMORY] +=
            memory_seconds(work->gpu, weight_traffic(work->training, direction) * parameters);
}

static void layers_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    for (int i = 0; i < model->net_layer_count; i++) {
        const NetLayer *layer = &model->net_layers[i];
        if (layer->block != block) continue;
        Operator one = layer_operator(layer, work->samples);
        LayerCost *cost = layer->sequential ? layer_costs[one.kind].in_turn : layer_costs[one.kind].at_once;
        CHECK(cost != NULL);
        pass_by(forward, one.name);
        pass_by(backward, one.name);
        pass_by(weights_of(work, backward), one.name);
        cost(work, layer, &one, forward, backward);
    }
}

// Forward once more, before the block goes backward.
static void block_again(const Work *work, int block, Pass *backward) {
    Work once = *work;
    Pass aside = {0};
    once.weight_pass = NULL;
    pass_recompute(backward, true);
    layers_cost(&once, block, backward, &aside);
    pass_recompute(backward, false);
}

void net_cost(const Work *work, int block, Pass *forward, Pass *backward) {
    const Model *model = work->model;
    if (work->training->recompute == RECOMPUTE_FULL) block_again(work, block, backward);
    layers_cost(work, block, forward, backward);
    weight_casts(work, block_parameters(model, block), forward, backward);
}
