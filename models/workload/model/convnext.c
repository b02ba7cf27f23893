// Convolutional networks in the manner of transformers, and a transformer in the manner of convolutional networks:
// ConvNeXt (Liu et al. 2022) and Swin (Liu et al. 2021, 2022). Norms over channels, GELU, four stages.
#include "models/workload/model/image_layers.h"

#define STAGES 4

typedef struct Staged {
    int blocks[STAGES], channels;
} Staged;
static const Staged convnexts[] = {{{3, 3, 9, 3}, 96}, {{3, 3, 27, 3}, 96}, {{3, 3, 27, 3}, 128}, {{3, 3, 27, 3}, 192}};
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

// ---- Swin v2 (Liu et al. 2022): windows of 8 by 8, attention by angles, norms behind what they were before, and in
// place of the table of positions a small network from offsets to each head's biases.

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
