// DenseNet (Huang et al. 2016): earlier outputs are kept beside later ones, and each layer norms all that came before.
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
