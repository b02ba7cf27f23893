// Image classifiers.
#include <math.h>
#include <string.h>

#include "models/workload/model/model_internal.h"

// ---- Plain convolutional networks, one layer after the other, with fully connected layers at the end: AlexNet
// (Krizhevsky 2014, one tower; and as MXNet has it, with the widths of 2012) and VGG (Simonyan and Zisserman 2014),
// also with batch norm.

#define MOST_CONVOLUTIONS 16
#define CONNECTED_WIDTH 4096

typedef struct Step {
    int channels, kernel, stride, pad;
    bool pool; // with stride 2 after it
} Step;

typedef struct Net {
    int pool_kernel;
    bool batch_norm;
    Step steps[MOST_CONVOLUTIONS];
} Net;

// clang-format off
#define C3(channels) {channels, 3, 1, 1, false}
#define C3P(channels) {channels, 3, 1, 1, true}
#define VGG_11 C3P(64), C3P(128), C3(256), C3P(256), C3(512), C3P(512), C3(512), C3P(512)
#define VGG_13 C3(64), C3P(64), C3(128), C3P(128), C3(256), C3P(256), C3(512), C3P(512), C3(512), C3P(512)
#define VGG_16 C3(64), C3P(64), C3(128), C3P(128), C3(256), C3(256), C3P(256), C3(512), C3(512), C3P(512), C3(512), \
               C3(512), C3P(512)
#define VGG_19 C3(64), C3P(64), C3(128), C3P(128), C3(256), C3(256), C3(256), C3P(256), C3(512), C3(512), C3(512), \
               C3P(512), C3(512), C3(512), C3(512), C3P(512)
// In the order of the rows of image_models.c.
static const Net nets[] = {
    {3, false, {{64, 11, 4, 2, true}, {192, 5, 1, 2, true}, C3(384), C3(256), C3P(256)}},
    {3, false, {{96, 11, 4, 0, true}, {256, 5, 1, 2, true}, C3(384), C3(384), C3P(256)}},
    {2, false, {VGG_11}}, {2, false, {VGG_13}}, {2, false, {VGG_16}}, {2, false, {VGG_19}},
    {2, true, {VGG_11}}, {2, true, {VGG_13}}, {2, true, {VGG_16}}, {2, true, {VGG_19}},
};
// clang-format on

static int shrunk(int size, int kernel, int stride, int pad) { return (size + 2 * pad - kernel) / stride + 1; }

void build_convnet(ImageBuilder *builder, int variant, int classes) {
    const Net *net = &nets[variant];
    for (int i = 0; i < MOST_CONVOLUTIONS && net->steps[i].channels; i++) {
        const Step *step = &net->steps[i];
        int out = shrunk(builder->size, step->kernel, step->stride, step->pad);
        NetLayer *layer = image_conv(builder, "conv", step->channels, step->kernel, step->stride);
        layer->out_size = out;
        layer->batch_norm = net->batch_norm;
        layer->bias = true;
        layer->max_pool_after = step->pool;
        builder->size = step->pool ? shrunk(out, net->pool_kernel, 2, 0) : out;
        image_next_block(builder);
    }
    image_linear(builder, "fc1", builder->channels * builder->size * builder->size, CONNECTED_WIDTH);
    image_next_block(builder);
    image_linear(builder, "fc2", CONNECTED_WIDTH, CONNECTED_WIDTH);
    image_next_block(builder);
    image_linear(builder, "fc3", CONNECTED_WIDTH, classes);
}

// ---- Residual networks. ResNets (He et al. 2015) in the commonly measured v1.5 form, with the stride in the 3x3
// convolution; wide ones, with groups (ResNeXt, Xie et al. 2016), with squeeze and excitation (SE, Hu et al. 2017),
// with a deep stem and pooled shortcuts (D, He et al. 2018). RegNets (Radosavovic et al. 2020) have the same blocks.

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

// ---- RegNet: no bottleneck; Y has squeeze and excitation to a quarter of the input channels.

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

// ---- DenseNet (Huang et al. 2016): earlier outputs are concatenated with later ones, and each layer normalises all
// earlier outputs.

#define BLOCKS 4

typedef struct Dense {
    int growth, first, layers[BLOCKS];
} Dense;
static const Dense denses[] = {{32, 64, {6, 12, 24, 16}},
                               {48, 96, {6, 12, 36, 24}},
                               {32, 64, {6, 12, 32, 32}},
                               {32, 64, {6, 12, 48, 32}}}; // 121, 161, 169, 201

static void norm_and_relu(ImageBuilder *builder) {
    NetLayer *norm = image_elements(builder, "norm", 0, 1);
    norm->batch_norm = norm->relu = true;
}

static void dense_layer(ImageBuilder *builder, int growth) {
    int before = builder->channels;
    norm_and_relu(builder);
    image_conv(builder, "conv1", 4 * growth, 1, 1);
    image_conv_plain(builder, "conv2", growth, 3, 1)->bias = false;
    image_concatenated(builder, before + growth);
}

static void transition(ImageBuilder *builder) {
    image_next_block(builder);
    norm_and_relu(builder);
    image_conv_plain(builder, "conv", builder->channels / 2, 1, 1)->bias = false;
    int out = builder->size / 2;
    image_elements(builder, "pool", 2, 2)->out_size = out;
    builder->size = out;
}

void build_densenet(ImageBuilder *builder, int variant, int classes) {
    const Dense *net = &denses[variant];
    NetLayer *stem = image_conv(builder, "conv", net->first, 7, 2);
    stem->max_pool_after = true;
    builder->size = image_halved(stem->out_size, 2);
    for (int b = 0; b < BLOCKS; b++) {
        image_next_block(builder);
        for (int i = 0; i < net->layers[b]; i++) dense_layer(builder, net->growth);
        if (b + 1 < BLOCKS) transition(builder);
    }
    norm_and_relu(builder);
    image_classifier(builder, classes);
}

// ---- Inverted residuals: channels are widened, filtered apart, and narrowed again. MobileNetV2 (Sandler et al. 2018)
// and EfficientNet (Tan and Le 2019), which squeezes and excites too and is scaled in width and depth; EfficientNetV2
// (2021) widens and filters at once in its first stages.

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

typedef struct Stage {
    int widen, channels, blocks, stride, kernel;
} Stage;

static void inverted_residual(ImageBuilder *builder, const Stage *stage, int channels, int stride, bool squeeze) {
    int in_channels = builder->channels, wide = in_channels * stage->widen;
    image_next_block(builder);
    if (stage->widen > 1) image_conv(builder, "widen", wide, 1, 1);
    NetLayer *apart = image_conv_depthwise(builder, "depthwise", stage->kernel, stride);
    if (squeeze) apart->squeeze = in_channels / 4;
    NetLayer *narrow = image_conv(builder, "narrow", channels, 1, 1);
    narrow->relu = false;
    narrow->residual_add = stride == 1 && in_channels == channels;
}

void build_mobilenet(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    static const Stage stages[] = {{1, 16, 1, 1, 3}, {6, 24, 2, 2, 3},  {6, 32, 3, 2, 3}, {6, 64, 4, 2, 3},
                                   {6, 96, 3, 1, 3}, {6, 160, 3, 2, 3}, {6, 320, 1, 1, 3}};
    image_conv(builder, "conv", 32, 3, 2);
    for (int s = 0; s < COUNT_OF(stages); s++)
        for (int i = 0; i < stages[s].blocks; i++)
            inverted_residual(builder, &stages[s], stages[s].channels, i == 0 ? stages[s].stride : 1, false);
    image_next_block(builder);
    image_conv(builder, "head", 1280, 1, 1);
    image_classifier(builder, classes);
}

typedef struct Scale {
    double width, depth;
} Scale;
static const Scale scales[] = {{1, 1},     {1, 1.1},   {1.1, 1.2}, {1.2, 1.4},
                               {1.4, 1.8}, {1.6, 2.2}, {1.8, 2.6}, {2, 3.1}}; // B0 to B7

// To a multiple of eight, and not below nine tenths.
static int scaled_width(int channels, double width) {
    double wanted = channels * width;
    int rounded = (int)(wanted + 4) / 8 * 8;
    return rounded < 0.9 * wanted ? rounded + 8 : rounded;
}

void build_efficientnet(ImageBuilder *builder, int variant, int classes) {
    builder->smooth = true;
    static const Stage stages[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
                                   {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};
    const Scale *scale = &scales[variant];
    image_conv(builder, "conv", scaled_width(32, scale->width), 3, 2);
    for (int s = 0; s < COUNT_OF(stages); s++) {
        int channels = scaled_width(stages[s].channels, scale->width);
        int blocks = (int)ceil(stages[s].blocks * scale->depth - 1e-9);
        for (int i = 0; i < blocks; i++)
            inverted_residual(builder, &stages[s], channels, i == 0 ? stages[s].stride : 1, true);
    }
    image_next_block(builder);
    image_conv(builder, "head", scaled_width(1280, scale->width), 1, 1);
    image_classifier(builder, classes);
}

// Widened and filtered by one convolution; where nothing is widened that is all.
static void fused_residual(ImageBuilder *builder, const Stage *stage, int stride) {
    int in_channels = builder->channels;
    image_next_block(builder);
    bool narrows = stage->widen > 1;
    NetLayer *last = image_conv(builder, "fused", narrows ? in_channels * stage->widen : stage->channels, 3, stride);
    if (narrows) {
        last = image_conv(builder, "narrow", stage->channels, 1, 1);
        last->relu = false;
    }
    last->residual_add = stride == 1 && in_channels == stage->channels;
}

#define FUSED_STAGES 3
void build_efficientnet_v2(ImageBuilder *builder, int variant, int classes) {
    builder->smooth = true;
    (void)variant; // S
    static const Stage stages[] = {{1, 24, 2, 1, 3},  {4, 48, 4, 2, 3},  {4, 64, 4, 2, 3},
                                   {4, 128, 6, 2, 3}, {6, 160, 9, 1, 3}, {6, 256, 15, 2, 3}};
    image_conv(builder, "conv", 24, 3, 2);
    for (int s = 0; s < COUNT_OF(stages); s++)
        for (int i = 0; i < stages[s].blocks; i++) {
            int stride = i == 0 ? stages[s].stride : 1;
            if (s < FUSED_STAGES)
                fused_residual(builder, &stages[s], stride);
            else
                inverted_residual(builder, &stages[s], stages[s].channels, stride, true);
        }
    image_next_block(builder);
    image_conv(builder, "head", 1280, 1, 1);
    image_classifier(builder, classes);
}

// ---- Convolutional networks in the manner of transformers, and a transformer in the manner of convolutional networks:
// ConvNeXt (Liu et al. 2022) and Swin (Liu et al. 2021, 2022). Norms over channels, GELU, four stages.

typedef struct Staged {
    int blocks[STAGES], channels;
} Staged;
static const Staged convnexts[] = {
    {{3, 3, 9, 3}, 96}, {{3, 3, 27, 3}, 96}, {{3, 3, 27, 3}, 128}, {{3, 3, 27, 3}, 192}, {{3, 3, 27, 3}, 256}};
static const Staged swins[] = {{{2, 2, 6, 2}, 96}, {{2, 2, 18, 2}, 96}, {{2, 2, 18, 2}, 128}, {{2, 2, 18, 2}, 192}};

static NetLayer *plain(NetLayer *layer) {
    layer->batch_norm = layer->relu = false;
    layer->bias = true;
    return layer;
}

static void patches(ImageBuilder *builder, int channels, int size) {
    plain(image_conv_valid(builder, "patches", channels, size, size))->layer_norm = true;
}

static void convnext_block(ImageBuilder *builder, int channels) {
    image_next_block(builder);
    plain(image_conv_depthwise(builder, "depthwise", 7, 1))->layer_norm = true;
    image_conv_plain(builder, "widen", 4 * channels, 1, 1)->relu = true;
    NetLayer *narrow = image_conv_plain(builder, "narrow", channels, 1, 1);
    narrow->scaled = true;
    narrow->residual_add = true;
}

void build_convnext(ImageBuilder *builder, int variant, int classes) {
    builder->smooth = true;
    const Staged *net = &convnexts[variant];
    patches(builder, net->channels, 4);
    for (int stage = 0; stage < STAGES; stage++) {
        if (stage > 0) {
            image_next_block(builder);
            image_layer_norm(builder);
            plain(image_conv_valid(builder, "downsample", net->channels << stage, 2, 2));
        }
        for (int i = 0; i < net->blocks[stage]; i++) convnext_block(builder, net->channels << stage);
    }
    image_layer_norm(builder);
    image_classifier(builder, classes);
}

// ---- Swin: attention within windows of 7 by 7, every second time shifted by half a window.

#define WINDOW 7
#define HEAD_SIZE 32

static void swin_block(ImageBuilder *builder, int channels) {
    image_next_block(builder);
    image_layer_norm(builder);
    image_conv_plain(builder, "qkv", 3 * channels, 1, 1);
    builder->channels = channels;
    image_attention(builder, (PlaceAttention){.window = WINDOW, .heads = channels / HEAD_SIZE});
    image_conv_plain(builder, "projection", channels, 1, 1)->residual_add = true;
    image_layer_norm(builder);
    image_conv_plain(builder, "widen", 4 * channels, 1, 1)->relu = true;
    image_conv_plain(builder, "narrow", channels, 1, 1)->residual_add = true;
}

// Four neighbours become one of four times the channels, normed and halved.
static void merge_patches(ImageBuilder *builder) {
    int channels = builder->channels;
    image_next_block(builder);
    builder->size /= 2;
    image_concatenated(builder, 4 * channels);
    image_layer_norm(builder);
    image_conv_plain(builder, "merge", 2 * channels, 1, 1)->bias = false;
}

void build_swin(ImageBuilder *builder, int variant, int classes) {
    builder->smooth = true;
    const Staged *net = &swins[variant];
    patches(builder, net->channels, 4);
    for (int stage = 0; stage < STAGES; stage++) {
        if (stage > 0) merge_patches(builder);
        for (int i = 0; i < net->blocks[stage]; i++) swin_block(builder, net->channels << stage);
    }
    image_layer_norm(builder);
    image_classifier(builder, classes);
}

// ---- Swin v2 (Liu et al. 2022): windows of 8 by 8, cosine attention, norms after the sublayers, and in place of the
// table of positions a small network from offsets to each head's biases.

#define WINDOW_2 8
#define POSITION_WIDTH 512

static double position_network(int heads) { return 2.0 * POSITION_WIDTH + POSITION_WIDTH * (heads + 1.0) + heads; }

static void swin_v2_block(ImageBuilder *builder, int channels) {
    int heads = channels / HEAD_SIZE;
    image_next_block(builder);
    image_conv_plain(builder, "qkv", 3 * channels, 1, 1)->table = position_network(heads);
    builder->channels = channels;
    image_attention(builder, (PlaceAttention){.keys = WINDOW_2 * WINDOW_2, .heads = heads});
    image_conv_plain(builder, "projection", channels, 1, 1);
    image_layer_norm(builder)->residual_add = true;
    image_conv_plain(builder, "widen", 4 * channels, 1, 1)->relu = true;
    image_conv_plain(builder, "narrow", channels, 1, 1);
    image_layer_norm(builder)->residual_add = true;
}

static void merge_patches_v2(ImageBuilder *builder) {
    int channels = builder->channels;
    image_next_block(builder);
    builder->size /= 2;
    image_concatenated(builder, 4 * channels);
    image_conv_plain(builder, "merge", 2 * channels, 1, 1)->bias = false;
    image_layer_norm(builder);
}

void build_swin_v2(ImageBuilder *builder, int variant, int classes) {
    builder->smooth = true;
    const Staged *net = &swins[variant];
    patches(builder, net->channels, 4);
    for (int stage = 0; stage < STAGES; stage++) {
        if (stage > 0) merge_patches_v2(builder);
        for (int i = 0; i < net->blocks[stage]; i++) swin_v2_block(builder, net->channels << stage);
    }
    image_layer_norm(builder);
    image_classifier(builder, classes);
}
