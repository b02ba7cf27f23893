// Networks that give a class to every pixel: U-Net (Ronneberger et al. 2015), a small one for factory images, and two
// for volumes: nnU-Net's (Isensee et al. 2018) and V-Net (Milletari et al. 2016).
#include "models/workload/model/image_layers.h"

static void each_pixel(ImageBuilder *builder, int classes) {
    image_next_block(builder);
    image_conv_plain(builder, "classes", classes, 1, 1);
}

// ---- U-Net: convolutions without padding; the image shrinks by four pixels at each level and its own edge is cut off
// what is copied across.

#define LEVELS 5

static NetLayer *biased(NetLayer *layer) {
    layer->batch_norm = false;
    layer->bias = true;
    return layer;
}

static void two_convolutions(ImageBuilder *builder, int channels) {
    for (int i = 0; i < 2; i++) biased(image_conv_valid(builder, "conv", channels, 3, 1));
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
        image_conv_up(builder, "up", 64 << level, 2, 2);
        image_concatenated(builder, 128 << level);
        two_convolutions(builder, 64 << level);
    }
    each_pixel(builder, classes);
}

// ---- For factory images (NVIDIA's DeepLearningExamples): with padding, a level in and out, three between and the
// bottom; what goes up keeps its channels. The wide one has the 36,950,273 parameters that its source counts, the small
// one (TinyUNet) is the same with other channels.

#define MIDDLE_LEVELS 3
typedef struct Industrial {
    int outer, middle[MIDDLE_LEVELS], bottom;
} Industrial;
static const Industrial industrials[] = {{32, {32, 64, 128}, 256}, {64, {128, 256, 512}, 1024}};

static void two_padded(ImageBuilder *builder, int channels) {
    for (int i = 0; i < 2; i++) biased(image_conv(builder, "conv", channels, 3, 1));
}

static void level_down(ImageBuilder *builder, int channels) {
    two_padded(builder, channels);
    image_next_block(builder);
    image_elements(builder, "pool", 2, 2);
}

static void level_up(ImageBuilder *builder, int channels_below, int channels) {
    image_conv_up(builder, "up", channels_below, 2, 2);
    image_next_block(builder);
    image_concatenated(builder, channels_below + channels);
    two_padded(builder, channels);
}

void build_unet_industrial(ImageBuilder *builder, int variant, int classes) {
    const Industrial *net = &industrials[variant];
    builder->channels = 1;
    level_down(builder, net->outer);
    for (int i = 0; i < MIDDLE_LEVELS; i++) level_down(builder, net->middle[i]);
    two_padded(builder, net->bottom);
    int below = net->bottom;
    for (int i = MIDDLE_LEVELS - 1; i >= 0; i--) {
        level_up(builder, below, net->middle[i]);
        below = net->middle[i];
    }
    level_up(builder, below, net->outer);
    each_pixel(builder, classes);
}

// ---- nnU-Net's volumes: strides in place of pooling, and norms of each volume by itself.

static const int volume_channels[] = {32, 64, 128, 256, 320, 320};
#define VOLUME_LEVELS ((int)(sizeof volume_channels / sizeof *volume_channels))

static void normed_by_volume(NetLayer *layer) {
    layer->batch_norm = false;
    layer->layer_norm = true;
}

void build_unet_3d(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    builder->channels = 4; // modalities of one scan
    for (int level = 0; level < VOLUME_LEVELS; level++) {
        if (level > 0) image_next_block(builder);
        normed_by_volume(image_conv(builder, "conv", volume_channels[level], 3, level > 0 ? 2 : 1));
        normed_by_volume(image_conv(builder, "conv", volume_channels[level], 3, 1));
    }
    for (int level = VOLUME_LEVELS - 2; level >= 0; level--) {
        image_next_block(builder);
        image_conv_up(builder, "up", volume_channels[level], 2, 2)->bias = false;
        image_concatenated(builder, 2 * volume_channels[level]);
        for (int i = 0; i < 2; i++) normed_by_volume(image_conv(builder, "conv", volume_channels[level], 3, 1));
    }
    each_pixel(builder, classes);
}

// ---- V-Net: 5x5x5 convolutions with residual sums; halved and doubled by 2x2x2.

static const int convolutions_down[] = {1, 2, 3, 3, 3}, convolutions_up[] = {1, 2, 3, 3};
#define VNET_LEVELS 5
#define VNET_FIRST 16

static void residual_volume(ImageBuilder *builder, int channels, int convolutions) {
    for (int i = 0; i < convolutions; i++) biased(image_conv(builder, "conv", channels, 5, 1));
    builder->layers.items[builder->layers.count - 1].residual_add = true;
}

void build_vnet(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    builder->channels = 1;
    builder->regions = 0.5; // half as deep as wide
    for (int level = 0; level < VNET_LEVELS; level++) {
        if (level > 0) {
            image_next_block(builder);
            biased(image_conv_valid(builder, "down", VNET_FIRST << level, 2, 2));
        }
        residual_volume(builder, VNET_FIRST << level, convolutions_down[level]);
    }
    for (int level = VNET_LEVELS - 2; level >= 0; level--) {
        image_next_block(builder);
        image_conv_up(builder, "up", VNET_FIRST << level, 2, 2)->relu = true;
        image_concatenated(builder, VNET_FIRST << (level + 1));
        residual_volume(builder, VNET_FIRST << (level + 1), convolutions_up[level]);
    }
    each_pixel(builder, classes);
}
