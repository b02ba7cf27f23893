// Cost of element-wise layers, alone or after others: norms, activations, sums, pools and copies, by their passes
// over a layer's output.
#include <math.h>
#include <string.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_layers.h"

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

bool channels_last(const Work *work) {
    ImageLayout layout = work->training->image_layout;
    if (layout != IMAGE_LAYOUT_USUAL) return layout == IMAGE_LAYOUT_NHWC;
    return image_traits_of(work)->channels_last;
}

bool before_volta(const Gpu *gpu) { return gpu->year < 2017; }

// The strided loads of these kernels limit a multiprocessor's memory requests per clock. Before Volta the catalogue's
// efficiencies, fitted to the same steps with later cuDNN's passes, are too low.
double image_kernel_seconds(const Gpu *gpu, double memory_seconds, double bytes) {
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
void elements_cost(const Work *work, const NetLayer *layer, const Operator *one, Pass *forward, Pass *backward) {
    bool convolved = one->kind == OPERATOR_CONVOLUTION;
    for (int direction = FORWARD; direction < direction_count(layer); direction++) {
        Pass *pass = direction == FORWARD ? forward : backward;
        add_passes(work, layer, one, pass, direction);
        image_kernels(pass, (convolved ? convolution_kernels(work, layer, direction) : 1) +
                                extra_kernels(work, layer, direction));
    }
}
