// Inception-v3 (Szegedy et al. 2015) without its auxiliary head, Inception-v4 (2016), and Xception (Chollet 2016):
// parallel branches, and convolutions of one row or one column.
#include <stdio.h>
#include <string.h>

#include "models/workload/model/model_internal.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

// ---- Modules: branches that begin at the same place and are put side by side. A word is a convolution by channels,
// height and width of its kernel, "64@1x7" or "64" for 1x1; with "/2" it halves the image and with "!" it keeps its
// stride, both without padding, 3x3. "pool" is followed by others, "pool/2" halves. "256&" are two convolutions of one
// row and one column on the same input.

static void conv_wide(ImageBuilder *builder, int channels, int high, int wide) {
    image_conv(builder, "conv", channels, high, 1)->conv.kernel_wide = wide;
}

static void shrink_by_pool(ImageBuilder *builder) {
    int out = (builder->size - 3) / 2 + 1;
    image_elements(builder, "pool", 3, 2)->out_size = out;
    builder->size = out;
}

static void forked(ImageBuilder *builder, int channels) {
    int from = builder->channels;
    conv_wide(builder, channels, 1, 3);
    builder->channels = from;
    conv_wide(builder, channels, 3, 1);
    builder->channels = 2 * channels;
}

static void step(ImageBuilder *builder, const char *word) {
    int channels = 0, high = 1, wide = 1;
    sscanf(word, "%d@%dx%d", &channels, &high, &wide);
    char mark = word[strcspn(word, "/!& ,")];
    if (channels == 0 && mark == '/')
        shrink_by_pool(builder);
    else if (channels == 0)
        image_elements(builder, "pool", 3, 1);
    else if (mark == '&')
        forked(builder, channels);
    else if (mark == '/' || mark == '!')
        image_conv_valid(builder, "conv", channels, 3, mark == '/' ? 2 : 1);
    else
        conv_wide(builder, channels, high, wide);
}

// Branches are separated by commas.
static void module(ImageBuilder *builder, const char *branches) {
    image_next_block(builder);
    Feature in = feature_now(builder);
    int channels = 0;
    for (const char *at = branches; *at; at += strspn(at, ", ")) {
        step(builder, at);
        at += strcspn(at, " ,");
        if (*at == ' ') continue;
        channels += builder->channels;
        if (*at) look_back(builder, in);
    }
    image_concatenated(builder, channels);
}

// So many of each, one after the other.
typedef struct Modules {
    int times;
    const char *branches;
} Modules;

static const Modules modules_v3[] = {
    {1, "64, 48 64@5x5, 64 96@3x3 96@3x3, pool 32"},
    {2, "64, 48 64@5x5, 64 96@3x3 96@3x3, pool 64"},
    {1, "384/2, 64 96@3x3 96/2, pool/2"},
    {1, "192, 128 128@1x7 192@7x1, 128 128@7x1 128@1x7 128@7x1 192@1x7, pool 192"},
    {2, "192, 160 160@1x7 192@7x1, 160 160@7x1 160@1x7 160@7x1 192@1x7, pool 192"},
    {1, "192, 192 192@1x7 192@7x1, 192 192@7x1 192@1x7 192@7x1 192@1x7, pool 192"},
    {1, "192 320/2, 192 192@1x7 192@7x1 192/2, pool/2"},
    {2, "320, 384 384&, 448 384@3x3 384&, pool 192"},
};

static void lay_modules(ImageBuilder *builder, const Modules *modules, int count) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < modules[i].times; k++) module(builder, modules[i].branches);
}

void build_inception_v3(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    image_conv_valid(builder, "conv1", 32, 3, 2);
    image_conv_valid(builder, "conv2", 32, 3, 1);
    image_conv(builder, "conv3", 64, 3, 1);
    shrink_by_pool(builder);
    image_conv_valid(builder, "conv4", 80, 1, 1);
    image_conv_valid(builder, "conv5", 192, 3, 1);
    shrink_by_pool(builder);
    lay_modules(builder, modules_v3, COUNT_OF(modules_v3));
    image_classifier(builder, classes);
}

static const Modules modules_v4[] = {
    {1, "pool/2, 96/2"},
    {1, "64 96!, 64 64@1x7 64@7x1 96!"},
    {1, "192/2, pool/2"},
    {4, "96, 64 96@3x3, 64 96@3x3 96@3x3, pool 96"},
    {1, "384/2, 192 224@3x3 256/2, pool/2"},
    {7, "384, 192 224@1x7 256@7x1, 192 192@7x1 224@1x7 224@7x1 256@1x7, pool 128"},
    {1, "192 192/2, 256 256@1x7 320@7x1 320/2, pool/2"},
    {3, "256, 384 256&, 384 448@3x1 512@1x3 256&, pool 256"},
};

void build_inception_v4(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    image_conv_valid(builder, "conv1", 32, 3, 2);
    image_conv_valid(builder, "conv2", 32, 3, 1);
    image_conv(builder, "conv3", 64, 3, 1);
    lay_modules(builder, modules_v4, COUNT_OF(modules_v4));
    image_classifier(builder, classes);
}

// ---- Xception: depthwise convolutions without a norm, each followed by one over channels with a norm.

static void add_separable(ImageBuilder *builder, int channels) {
    NetLayer *apart = image_conv_depthwise(builder, "depthwise", 3, 1);
    apart->batch_norm = apart->relu = false;
    image_conv(builder, "pointwise", channels, 1, 1);
}

static void separable_block(ImageBuilder *builder, const int *channels, int count, int stride) {
    Feature in = feature_now(builder);
    image_next_block(builder);
    if (stride > 1) image_conv(builder, "downsample", channels[count - 1], 1, stride)->relu = false;
    look_back(builder, in);
    for (int i = 0; i < count; i++) add_separable(builder, channels[i]);
    if (stride > 1) image_elements(builder, "pool", 3, stride);
    builder->layers.items[builder->layers.count - 1].residual_add = true;
}

void build_xception(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    static const int shrinking[][2] = {{128, 128}, {256, 256}, {728, 728}}, middle[] = {728, 728, 728},
                     last[] = {728, 1024};
    image_conv_valid(builder, "conv1", 32, 3, 2);
    image_conv_valid(builder, "conv2", 64, 3, 1);
    for (int i = 0; i < COUNT_OF(shrinking); i++) separable_block(builder, shrinking[i], 2, 2);
    for (int i = 0; i < 8; i++) separable_block(builder, middle, 3, 1);
    separable_block(builder, last, 2, 2);
    image_next_block(builder);
    add_separable(builder, 1536);
    add_separable(builder, 2048);
    image_classifier(builder, classes);
}
