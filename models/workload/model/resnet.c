// Residual networks. ResNets (He et al. 2015) in the v1.5 form that everybody measures: the stride sits in the 3x3
// convolution; wide ones, with groups (ResNeXt, Xie et al. 2016), with squeeze and excitation (SE, Hu et al. 2017),
// with a deep stem and pooled shortcuts (D, He et al. 2018). RegNets (Radosavovic et al. 2020) have the same blocks.
#include <string.h>

#include "models/workload/model/image_layers.h"
#include "models/workload/model/model_internal.h"

#define STAGES 4

typedef struct Residual {
    int depth;
    bool bottleneck;
    int blocks[STAGES];
    int groups, group_width; // of the first stage's 3x3 convolution
    bool squeeze, deep_stem;
    bool early_stride; // as first published: in the first 1x1 convolution
} Residual;

// In the order of the rows of image_models.c.
static const Residual residuals[] = {
    {18, false, {2, 2, 2, 2}, 1, 64, false, false, false},   {34, false, {3, 4, 6, 3}, 1, 64, false, false, false},
    {50, true, {3, 4, 6, 3}, 1, 64, false, false, false},    {101, true, {3, 4, 23, 3}, 1, 64, false, false, false},
    {152, true, {3, 8, 36, 3}, 1, 64, false, false, false},  {50, true, {3, 4, 6, 3}, 1, 64, false, true, false},
    {50, true, {3, 4, 6, 3}, 1, 128, false, false, false},   {101, true, {3, 4, 23, 3}, 1, 128, false, false, false},
    {50, true, {3, 4, 6, 3}, 32, 4, false, false, false},    {101, true, {3, 4, 23, 3}, 32, 4, false, false, false},
    {101, true, {3, 4, 23, 3}, 32, 8, false, false, false},  {50, true, {3, 4, 6, 3}, 1, 64, true, false, false},
    {50, true, {3, 4, 6, 3}, 32, 4, true, false, false},     {101, true, {3, 4, 23, 3}, 32, 4, true, false, false},
    {50, true, {3, 4, 6, 3}, 1, 64, false, false, true},     {101, true, {3, 4, 23, 3}, 1, 64, false, false, true},
    {152, true, {3, 8, 36, 3}, 1, 64, false, false, true},   {101, true, {3, 4, 23, 3}, 64, 4, false, false, false},
    {200, true, {3, 24, 36, 3}, 1, 64, false, false, false},
};

static void add_stem(ImageBuilder *builder, bool deep) {
    if (deep) {
        image_conv(builder, "conv1", 32, 3, 2);
        image_conv(builder, "conv2", 32, 3, 1);
    }
    NetLayer *stem = deep ? image_conv(builder, "conv3", 64, 3, 1) : image_conv(builder, "conv", 64, 7, 2);
    stem->max_pool_after = true;
    builder->size = image_halved(stem->out_size, 2);
}

static void add_shortcut(ImageBuilder *builder, int out_channels, int stride, bool pooled) {
    if (pooled && stride > 1) {
        image_elements(builder, "pool", 2, stride);
        stride = 1;
    }
    image_conv(builder, "downsample", out_channels, 1, stride)->relu = false;
}

// Offsets of nine places by a convolution of their own; then all places are gathered side by side for the product, and
// again for the gradient of its weights, and their gradients are added up atomically. Counted in passes over what the
// product gives.
#define DEFORM_FORWARD 27.0
#define DEFORM_BACKWARD 63.0
#define DEFORM_KERNELS 3
static void add_offsets(ImageBuilder *builder, Feature in, int stride) {
    image_conv_plain(builder, "offset", 18, 3, stride);
    image_passes(builder, "deform", in.channels, DEFORM_FORWARD, DEFORM_BACKWARD, 1, DEFORM_KERNELS);
    look_back(builder, in);
}

static void add_residual_block(ImageBuilder *builder, const Residual *net, int stage, int stride) {
    Feature in = feature_now(builder);
    int width = (net->groups * net->group_width) << stage;
    int out_channels = net->bottleneck ? 256 << stage : width;
    image_next_block(builder);
    if (stride != 1 || in.channels != out_channels) add_shortcut(builder, out_channels, stride, net->deep_stem);
    look_back(builder, in);

    NetLayer *last;
    if (net->bottleneck) {
        image_conv(builder, "conv1", width, 1, net->early_stride ? stride : 1);
        if (builder->deformable && stage > 0) add_offsets(builder, feature_now(builder), stride);
        image_conv(builder, "conv2", width, 3, net->early_stride ? 1 : stride)->conv.groups = net->groups;
        last = image_conv(builder, "conv3", out_channels, 1, 1);
    } else {
        image_conv(builder, "conv1", width, 3, stride);
        last = image_conv(builder, "conv2", width, 3, 1);
    }
    if (net->squeeze) last->squeeze = out_channels / 16;
    last->residual_add = true;
}

void resnet_stem(ImageBuilder *builder, int variant) { add_stem(builder, residuals[variant].deep_stem); }

void resnet_stage(ImageBuilder *builder, int variant, int stage, int stride) {
    const Residual *net = &residuals[variant];
    for (int i = 0; i < net->blocks[stage]; i++) add_residual_block(builder, net, stage, i == 0 ? stride : 1);
}

void build_resnet(ImageBuilder *builder, int variant, int classes) {
    resnet_stem(builder, variant);
    for (int stage = 0; stage < STAGES; stage++) resnet_stage(builder, variant, stage, stage > 0 ? 2 : 1);
    image_classifier(builder, classes);
}

// ---- RegNet: no bottleneck; Y has squeeze and excitation to a quarter of what comes in.

typedef struct RegNet {
    int widths[STAGES], blocks[STAGES], group_width;
    bool squeeze;
} RegNet;

static const RegNet regnets[] = {
    {{48, 120, 336, 888}, {2, 6, 17, 2}, 24, true},     {{72, 216, 576, 1512}, {2, 5, 13, 1}, 24, true},
    {{128, 192, 512, 1088}, {2, 6, 12, 2}, 64, true},   {{168, 448, 896, 2016}, {2, 4, 10, 1}, 56, true},
    {{224, 448, 1232, 3024}, {2, 4, 11, 1}, 112, true}, {{232, 696, 1392, 3712}, {2, 5, 12, 1}, 232, true},
    {{96, 192, 432, 1008}, {2, 6, 15, 2}, 48, false},   {{256, 512, 896, 2048}, {2, 6, 13, 1}, 128, false},
};

static void add_regnet_block(ImageBuilder *builder, const RegNet *net, int width, int stride) {
    Feature in = feature_now(builder);
    image_next_block(builder);
    if (stride != 1 || in.channels != width) image_conv(builder, "downsample", width, 1, stride)->relu = false;
    look_back(builder, in);
    image_conv(builder, "conv1", width, 1, 1);
    NetLayer *grouped = image_conv(builder, "conv2", width, 3, stride);
    grouped->conv.groups = width / net->group_width;
    if (net->squeeze) grouped->squeeze = (in.channels + 2) / 4;
    image_conv(builder, "conv3", width, 1, 1)->residual_add = true;
}

void build_regnet(ImageBuilder *builder, int variant, int classes) {
    const RegNet *net = &regnets[variant];
    image_conv(builder, "conv", 32, 3, 2);
    for (int stage = 0; stage < STAGES; stage++)
        for (int i = 0; i < net->blocks[stage]; i++) add_regnet_block(builder, net, net->widths[stage], i == 0 ? 2 : 1);
    image_classifier(builder, classes);
}

// ---- By depth, as scenarios ask for them.

const Model *model_resnet(Arena *arena, int depth, int image_size, int classes, Where where, Problems *problems) {
    int problems_before = problems_added(problems);
    int index = image_model_index(arena_printf(arena, "resnet-%d", depth));
    if (index < 0) {
        problem_add(problems, where, "there is no ResNet with %d layers", depth);
        problem_hint(problems, "known: 18, 34, 50, 101, 152");
    }
    if (image_size < 8 || image_size > 8192) {
        problem_add(problems, where, "an image of %d x %d pixels cannot be worked with", image_size, image_size);
        problem_hint(problems, "8 to 8192; ImageNet is trained at 224");
    }
    if (classes < 1 || classes > 10000000) {
        problem_add(problems, where, "a classifier cannot have %d classes", classes);
        problem_hint(problems, "ImageNet has 1000");
    }
    if (problems_added(problems) > problems_before) return NULL;
    return image_model(arena, index, image_size, classes);
}
