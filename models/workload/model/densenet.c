// Networks that keep earlier outputs beside later ones: DenseNet (Huang et al. 2016), whose layers norm all that came
// before, and U-Net (Ronneberger et al. 2015), whose way up gets what the way down had.
#include "models/workload/model/image_layers.h"

#define BLOCKS 4

typedef struct Dense {
    int growth, first, layers[BLOCKS];
} Dense;
static const Dense denses[] = {{32, 64, {6, 12, 24, 16}},
                               {48, 96, {6, 12, 36, 24}},
                               {32, 64, {6, 12, 32, 32}},
                               {32, 64, {6, 12, 48, 32}}}; // 121, 161, 169, 201

static void norm_and_relu(ImageBuilder *builder) {
    ConvLayer *norm = image_elements(builder, "norm", 0, 1);
    norm->batch_norm = norm->relu = true;
}

static void dense_layer(ImageBuilder *builder, int growth) {
    int before = builder->channels;
    norm_and_relu(builder);
    image_conv(builder, "conv1", 4 * growth, 1, 1);
    ConvLayer *added = image_conv(builder, "conv2", growth, 3, 1);
    added->batch_norm = added->relu = false;
    image_concatenated(builder, before + growth);
}

static void transition(ImageBuilder *builder) {
    image_next_block(builder);
    norm_and_relu(builder);
    ConvLayer *halving = image_conv(builder, "conv", builder->channels / 2, 1, 1);
    halving->batch_norm = halving->relu = false;
    int out = builder->size / 2;
    image_elements(builder, "pool", 2, 2)->out_size = out;
    builder->size = out;
}

void build_densenet(ImageBuilder *builder, int variant, int classes) {
    const Dense *net = &denses[variant];
    ConvLayer *stem = image_conv(builder, "conv", net->first, 7, 2);
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

// ---- U-Net: convolutions without padding; the image shrinks by four pixels at each level and its own edge is cut off
// what is copied across.

#define LEVELS 5

static void two_convolutions(ImageBuilder *builder, int channels) {
    for (int i = 0; i < 2; i++) {
        ConvLayer *conv = image_conv_valid(builder, "conv", channels, 3, 1);
        conv->batch_norm = false;
        conv->bias = true;
    }
}

static void double_size(ImageBuilder *builder, int channels) {
    int out = 2 * builder->size;
    ConvLayer *up = image_conv(builder, "up", channels, 2, 1);
    up->kind = LAYER_TRANSPOSED;
    up->batch_norm = up->relu = false;
    up->bias = true;
    up->out_size = builder->size = out;
}

void build_unet(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    builder->channels = 1;
    for (int level = 0; level < LEVELS; level++) {
        if (level > 0) {
            image_next_block(builder);
            image_elements(builder, "pool", 2, 2);
        }
        two_convolutions(builder, 64 << level);
    }
    for (int level = LEVELS - 2; level >= 0; level--) {
        image_next_block(builder);
        double_size(builder, 64 << level);
        image_concatenated(builder, 128 << level);
        two_convolutions(builder, 64 << level);
    }
    image_next_block(builder);
    ConvLayer *last = image_conv(builder, "classes", classes, 1, 1);
    last->batch_norm = last->relu = false;
    last->bias = true;
}
