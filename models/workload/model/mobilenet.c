// Inverted residuals: channels are widened, filtered apart, and narrowed again. MobileNetV2 (Sandler et al. 2018) and
// EfficientNet (Tan and Le 2019), which squeezes and excites too and is scaled in width and depth; EfficientNetV2
// (2021) widens and filters at once in its first stages.
#include <math.h>

#include "models/workload/model/image_layers.h"

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
