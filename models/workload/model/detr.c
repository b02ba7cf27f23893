// DETR (Carion et al. 2020): a ResNet's last stage as the tokens of an encoder, and a decoder whose hundred queries
// look at them; each query gives a class and a box. The matching of queries with true boxes is counted as launches.
#include "models/workload/model/image_layers.h"

#define WIDTH 256
#define HEADS 8
#define FFN 2048
#define LAYERS 6 // of the encoder, and of the decoder
#define QUERY_SIDE 10
#define RESNET_50 2
#define LONG_SIDE (1088.0 / 800) // as other detectors' images of COCO
#define NO_OBJECT 1
#define BOX_NUMBERS 4
#define MATCHING_KERNELS 60 // of each image and each decoder layer's loss together

// What follows works on the image's places, or on the queries.
typedef struct Tokens {
    Feature feature;
    double regions;
} Tokens;

static void work_on(ImageBuilder *builder, const Tokens *tokens) {
    look_back(builder, tokens->feature);
    builder->regions = tokens->regions;
}

static int count_of(const Tokens *tokens) {
    double side = tokens->feature.size;
    return (int)(side * side * (tokens->regions > 0 ? tokens->regions : 1) + 0.5);
}

static void attend(ImageBuilder *builder, int keys) {
    builder->channels = WIDTH;
    image_attention(builder, (PlaceAttention){.keys = keys, .heads = HEADS});
    image_conv_plain(builder, "projection", WIDTH, 1, 1)->residual_add = true;
    image_layer_norm(builder);
}

static void attend_to_self(ImageBuilder *builder, const Tokens *tokens) {
    image_conv_plain(builder, "qkv", 3 * WIDTH, 1, 1);
    attend(builder, count_of(tokens));
}

static void attend_to_image(ImageBuilder *builder, const Tokens *queries, const Tokens *image) {
    work_on(builder, image);
    image_conv_plain(builder, "keys_values", 2 * WIDTH, 1, 1);
    work_on(builder, queries);
    image_conv_plain(builder, "query", WIDTH, 1, 1);
    attend(builder, count_of(image));
}

static void feed_forward(ImageBuilder *builder) {
    image_conv_plain(builder, "widen", FFN, 1, 1)->relu = true;
    image_conv_plain(builder, "narrow", WIDTH, 1, 1)->residual_add = true;
    image_layer_norm(builder);
}

static void add_backbone(ImageBuilder *builder) {
    builder->regions = LONG_SIDE;
    builder->fixed_norms = true;
    builder->learning = LEARNS_NEVER;
    resnet_stem(builder, RESNET_50);
    for (int stage = 0; stage < 4; stage++) {
        resnet_stage(builder, RESNET_50, stage, stage > 0 ? 2 : 1);
        builder->learning = LEARNS;
    }
    builder->fixed_norms = false;
}

static void add_outputs(ImageBuilder *builder, int classes) {
    image_next_block(builder);
    image_product(builder, "classes", WIDTH, classes + NO_OBJECT, true);
    for (int i = 0; i < 2; i++) image_product(builder, "box", WIDTH, WIDTH, true)->relu = true;
    image_product(builder, "boxes", WIDTH, BOX_NUMBERS, true)->kernels_per_image = LAYERS * MATCHING_KERNELS;
}

void build_detr(ImageBuilder *builder, int variant, int classes) {
    (void)variant;
    add_backbone(builder);
    image_next_block(builder);
    image_conv_plain(builder, "narrow", WIDTH, 1, 1);
    Tokens image = {feature_now(builder), LONG_SIDE}, queries = {{WIDTH, QUERY_SIDE}, 0};
    for (int i = 0; i < LAYERS; i++) {
        image_next_block(builder);
        attend_to_self(builder, &image);
        feed_forward(builder);
    }
    work_on(builder, &queries);
    image_passes(builder, "queries", WIDTH, 1, 1, 1, 1)->table = (double)WIDTH * QUERY_SIDE * QUERY_SIDE;
    for (int i = 0; i < LAYERS; i++) {
        image_next_block(builder);
        attend_to_self(builder, &queries);
        attend_to_image(builder, &queries, &image);
        feed_forward(builder);
    }
    image_layer_norm(builder);
    add_outputs(builder, classes);
}
