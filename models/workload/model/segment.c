// Networks that give a class to every pixel of a photograph, on a ResNet whose last two stages are dilated instead of
// strided (an eighth of the image): DeepLab v3 (Chen et al. 2017) as torchvision has it, PSPNet (Zhao et al. 2016) as
// mmsegmentation has it. Both learn from a second, smaller head on the third stage too.
#include "models/workload/model/image_layers.h"

#define STAGES 4
#define WIDTH 256
#define ASPP_BRANCHES 3 // of 3x3, dilated by 12, 24 and 36
#define PYRAMID_WIDTH 512
#define ENLARGED_PASSES 1.25 // brought to the image's size by interpolation
#define LOSS_FORWARD 4.0     // over the logits of all pixels
#define LOSS_BACKWARD 10.0

enum { RESNET_50 = 2, RESNET_101 = 3 };

typedef struct Segmenter {
    int resnet;
    bool pyramid; // PSPNet's means over 1, 4, 9 and 36 parts; else DeepLab's
} Segmenter;
static const Segmenter segmenters[] = {{RESNET_50, false}, {RESNET_101, false}, {RESNET_50, true}, {RESNET_101, true}};

static void classify_pixels(ImageBuilder *builder, int classes, int size) {
    image_conv_plain(builder, "classes", classes, 1, 1);
    builder->size = size;
    image_passes(builder, "enlarged", classes, ENLARGED_PASSES, ENLARGED_PASSES, 1, 1);
    image_passes(builder, "loss", classes, LOSS_FORWARD, LOSS_BACKWARD, 6, 8);
}

static void look_around(ImageBuilder *builder, Feature last) {
    image_conv(builder, "aspp", WIDTH, 1, 1);
    for (int i = 0; i < ASPP_BRANCHES; i++) {
        look_back(builder, last);
        image_conv(builder, "aspp", WIDTH, 3, 1);
    }
    look_back(builder, (Feature){last.channels, 1}); // the image's mean
    image_conv(builder, "aspp", WIDTH, 1, 1);
    builder->size = last.size;
    image_concatenated(builder, (ASPP_BRANCHES + 2) * WIDTH);
    image_conv(builder, "project", WIDTH, 1, 1);
    image_conv(builder, "conv", WIDTH, 3, 1);
}

static void pool_pyramid(ImageBuilder *builder, Feature last) {
    static const int parts[] = {1, 2, 3, 6};
    for (int i = 0; i < 4; i++) {
        look_back(builder, (Feature){last.channels, parts[i]});
        image_conv(builder, "part", PYRAMID_WIDTH, 1, 1);
        builder->size = last.size;
        image_passes(builder, "enlarged", PYRAMID_WIDTH, ENLARGED_PASSES, ENLARGED_PASSES, 1, 1);
    }
    image_concatenated(builder, last.channels + 4 * PYRAMID_WIDTH);
    image_conv(builder, "bottleneck", PYRAMID_WIDTH, 3, 1);
}

void build_segmenter(ImageBuilder *builder, int variant, int classes) {
    const Segmenter *net = &segmenters[variant];
    int size = builder->size;
    Feature third = {0};
    resnet_stem(builder, net->resnet);
    for (int stage = 0; stage < STAGES; stage++) {
        resnet_stage(builder, net->resnet, stage, stage == 1 ? 2 : 1);
        if (stage == STAGES - 2) third = feature_now(builder);
    }
    Feature last = feature_now(builder);
    image_next_block(builder);
    (net->pyramid ? pool_pyramid : look_around)(builder, last);
    classify_pixels(builder, classes, size);
    image_next_block(builder);
    look_back(builder, third);
    image_conv(builder, "auxiliary", WIDTH, 3, 1);
    classify_pixels(builder, classes, size);
}
