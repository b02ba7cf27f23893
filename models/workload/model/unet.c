// Segmentation networks.
#include "models/workload/model/model_internal.h"

// ---- Networks that give a class to every pixel: U-Net (Ronneberger et al. 2015), a small one for factory images, and
// two for volumes: nnU-Net's (Isensee et al. 2018) and V-Net (Milletari et al. 2016).

static void each_pixel(ImageBuilder *builder, int classes) {
    image_next_block(builder);
    image_conv_plain(builder, "classes", classes, 1, 1);
}

// ---- U-Net: convolutions without padding; the image shrinks by four pixels at each level and copies across are
// cropped to its size.

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
// bottom; upsampling keeps the channels. The wide one has the 36,950,273 parameters counted by its source, the small
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
    layer->layer_norm = layer->instance_norm = true;
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

// ---- nnU-Net as it plans itself for a data set (Isensee et al. 2021, plans 2.1): a dimension is halved as long as
// four places are left, where a voxel is much longer than wide not on the first levels; two convolutions a level,
// channels doubled up to a limit. Losses of the coarser levels (deep supervision) are left out.

#define PLAN_LEVELS 8
#define PLAN_FIRST 32
#define LEAST_PLACES 4

typedef struct Plan {
    int depth, height, width; // depth 0: images
    int levels, flat_levels;  // flat: kernels and strides are one place deep
    int modalities, most_channels;
} Plan;
// Heart, liver and prostate of the Medical Segmentation Decathlon.
static const Plan plans[] = {
    {0, 320, 256, 7, 0, 1, 512},  {0, 512, 512, 8, 0, 1, 512},   {0, 320, 320, 7, 0, 2, 512},
    {80, 192, 160, 6, 0, 1, 320}, {128, 128, 128, 6, 0, 1, 320}, {20, 320, 256, 7, 2, 2, 320},
};

// Places of each level as a multiple of the square or cube that its width has.
static void plan_regions(const Plan *plan, double *regions) {
    double depth = plan->depth, height = plan->height, width = plan->width;
    for (int level = 0; level < plan->levels; level++) {
        if (level > 0) height /= 2, width /= 2;
        if (level > plan->flat_levels && depth / 2 >= LEAST_PLACES) depth /= 2;
        regions[level] = plan->depth ? depth * height / (width * width) : height / width;
    }
}

static void plan_convolutions(ImageBuilder *builder, const Plan *plan, int level, int channels, int stride) {
    for (int i = 0; i < 2; i++) {
        NetLayer *layer = image_conv(builder, "conv", channels, 3, i == 0 ? stride : 1);
        normed_by_volume(layer);
        layer->bias = true;
        if (level < plan->flat_levels) layer->conv.kernel_wide = 3; // nine taps
    }
}

void build_nnunet(ImageBuilder *builder, int variant, int classes) {
    const Plan *plan = &plans[variant];
    double regions[PLAN_LEVELS];
    int channels[PLAN_LEVELS];
    plan_regions(plan, regions);
    builder->channels = plan->modalities;
    for (int level = 0; level < plan->levels; level++) {
        int doubled = PLAN_FIRST << level;
        channels[level] = doubled < plan->most_channels ? doubled : plan->most_channels;
        if (level > 0) image_next_block(builder);
        builder->regions = regions[level];
        plan_convolutions(builder, plan, level, channels[level], level > 0 ? 2 : 1);
    }
    for (int level = plan->levels - 2; level >= 0; level--) {
        image_next_block(builder);
        builder->regions = regions[level];
        image_conv_up(builder, "up", channels[level], 2, 2)->bias = false;
        image_concatenated(builder, 2 * channels[level]);
        plan_convolutions(builder, plan, level, channels[level], 1);
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

// ---- Networks that give a class to every pixel of a photograph, on a ResNet whose last two stages are dilated instead
// of strided (an eighth of the image): DeepLab v3 (Chen et al. 2017) as torchvision has it, PSPNet (Zhao et al. 2016)
// as mmsegmentation has it. Both learn from a second, smaller head on the third stage too.

#define STAGES 4
#define WIDTH 256
#define ASPP_BRANCHES 3 // of 3x3, dilated by 12, 24 and 36
#define PYRAMID_WIDTH 512
#define ENLARGED_PASSES 1.25 // brought to the image's size by interpolation
#define LOSS_FORWARD 4.0     // over the logits of all pixels
#define LOSS_BACKWARD 10.0

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

// ---- Diffusion models, and models of images with text.

// ---- Stable Diffusion's U-Net (Rombach et al. 2022): residual blocks with the time step's embedding, and
// transformers with self-attention and cross-attention to a text of 77 tokens. It works on latents of an eighth of
// the image's side. The text encoder and the autoencoder are frozen and not counted.

#define LATENT_CHANNELS 4
#define EIGHTH 8
#define FIRST 320
#define LATENT_LEVELS 4
#define BLOCKS 2
#define EMBEDDING 1280
#define HEAD_SIZE 64
#define TEXT_TOKENS 77
#define MOST_SKIPS 16

typedef struct Version {
    int text_width, heads; // heads 0: of HEAD_SIZE
} Version;
static const Version versions[] = {{768, 8}, {1024, 0}}; // 1.5, 2
static const int widths[LATENT_LEVELS] = {1, 2, 4, 4};

typedef struct Net {
    ImageBuilder *builder;
    const Version *version;
    int skips[MOST_SKIPS], skip_count; // channels of the skip connections
} Net;

// A linear layer over other inputs than the image: `rows` of `in` channels.
static void linear_rows(ImageBuilder *builder, const char *name, int rows, int in, int out, bool bias) {
    Feature image = feature_now(builder);
    builder->regions = rows;
    look_back(builder, (Feature){in, 1});
    image_conv_plain(builder, name, out, 1, 1)->bias = bias;
    builder->regions = 0;
    look_back(builder, image);
}

static void residual_block(Net *net, int out) {
    ImageBuilder *builder = net->builder;
    int in = builder->channels;
    image_layer_norm(builder)->relu = true;
    image_conv_plain(builder, "conv1", out, 3, 1);
    linear_rows(builder, "time", 1, EMBEDDING, out, true);
    image_layer_norm(builder)->relu = true;
    image_conv_plain(builder, "conv2", out, 3, 1)->residual_add = true;
    if (in == out) return;
    builder->channels = in;
    image_conv_plain(builder, "shortcut", out, 1, 1);
}

static void attend(Net *net, int channels, int keys) {
    ImageBuilder *builder = net->builder;
    int heads = net->version->heads ? net->version->heads : channels / HEAD_SIZE;
    image_attention(builder, (PlaceAttention){.keys = keys, .heads = heads});
    image_conv_plain(builder, "out", channels, 1, 1)->residual_add = true;
}

static void plain_product(ImageBuilder *builder, const char *name, int channels, int out) {
    builder->channels = channels;
    image_conv_plain(builder, name, out, 1, 1)->bias = false;
    builder->channels = channels;
}

static void transformer(Net *net) {
    ImageBuilder *builder = net->builder;
    int channels = builder->channels, text = net->version->text_width;
    image_layer_norm(builder);
    image_conv_plain(builder, "proj_in", channels, 1, 1);
    image_layer_norm(builder);
    plain_product(builder, "qkv", channels, 3 * channels);
    attend(net, channels, builder->size * builder->size);
    image_layer_norm(builder);
    plain_product(builder, "query", channels, channels);
    linear_rows(builder, "text_key", TEXT_TOKENS, text, 2 * channels, false);
    attend(net, channels, TEXT_TOKENS);
    image_layer_norm(builder);
    NetLayer *gated = image_conv_plain(builder, "widen", 8 * channels, 1, 1);
    gated->passes[0] = 3; // GELU of one half times the other
    gated->passes[1] = 4;
    gated->kernels[0] = gated->kernels[1] = 3;
    builder->channels = 4 * channels;
    image_conv_plain(builder, "narrow", channels, 1, 1)->residual_add = true;
    image_conv_plain(builder, "proj_out", channels, 1, 1)->residual_add = true;
}

static void way_down(Net *net) {
    for (int level = 0; level < LATENT_LEVELS; level++) {
        for (int i = 0; i < BLOCKS; i++) {
            image_next_block(net->builder);
            residual_block(net, FIRST * widths[level]);
            if (level + 1 < LATENT_LEVELS) transformer(net);
            net->skips[net->skip_count++] = net->builder->channels;
        }
        if (level + 1 == LATENT_LEVELS) return;
        image_conv_plain(net->builder, "down", net->builder->channels, 3, 2);
        net->skips[net->skip_count++] = net->builder->channels;
    }
}

static void way_up(Net *net) {
    ImageBuilder *builder = net->builder;
    for (int level = LATENT_LEVELS - 1; level >= 0; level--) {
        for (int i = 0; i <= BLOCKS; i++) {
            image_next_block(builder);
            image_concatenated(builder, builder->channels + net->skips[--net->skip_count]);
            residual_block(net, FIRST * widths[level]);
            if (level + 1 < LATENT_LEVELS) transformer(net);
        }
        if (level == 0) return;
        builder->size *= 2;
        image_conv_plain(builder, "up", builder->channels, 3, 1);
    }
}

void build_diffusion(ImageBuilder *builder, int variant, int classes) {
    builder->smooth = true;
    (void)classes;
    Net net = {.builder = builder, .version = &versions[variant]};
    builder->size /= EIGHTH;
    builder->channels = LATENT_CHANNELS;
    linear_rows(builder, "time1", 1, FIRST, EMBEDDING, true);
    linear_rows(builder, "time2", 1, EMBEDDING, EMBEDDING, true);
    image_conv_plain(builder, "conv", FIRST, 3, 1);
    net.skips[net.skip_count++] = FIRST;
    way_down(&net);
    image_next_block(builder);
    residual_block(&net, FIRST * widths[LATENT_LEVELS - 1]);
    transformer(&net);
    residual_block(&net, FIRST * widths[LATENT_LEVELS - 1]);
    way_up(&net);
    image_next_block(builder);
    image_layer_norm(builder)->relu = true;
    image_conv_plain(builder, "out", LATENT_CHANNELS, 3, 1);
}

// ---- CLIP (Radford et al. 2021): a vision transformer for images and a transformer for their captions, whose
// embeddings are held against those of all other pairs in the batch. Both are lists of layers over tokens in a row.

typedef struct Clip {
    int patch, width, layers, heads; // of the image's tower
    int text_width, text_heads, embedding;
} Clip;
static const Clip clips[] = {
    {32, 768, 12, 12, 512, 8, 512}, {16, 768, 12, 12, 512, 8, 512}, {14, 1024, 24, 16, 768, 12, 768}};

#define TEXT_LAYERS 12
#define TEXT_TOKENS 77
#define TEXT_VOCABULARY 49408

static void layer_of_tower(ImageBuilder *builder, int width, int heads, int tokens) {
    image_next_block(builder);
    image_layer_norm(builder);
    image_conv_plain(builder, "qkv", 3 * width, 1, 1);
    builder->channels = width;
    image_attention(builder, (PlaceAttention){.keys = tokens, .heads = heads});
    image_conv_plain(builder, "projection", width, 1, 1)->residual_add = true;
    image_layer_norm(builder);
    image_conv_plain(builder, "widen", 4 * width, 1, 1)->relu = true;
    image_conv_plain(builder, "narrow", width, 1, 1)->residual_add = true;
}

// The last norm, and one token's way into the space that both towers share.
static void embed(ImageBuilder *builder, int embedding) {
    image_next_block(builder);
    builder->regions = 1;
    image_layer_norm(builder);
    image_conv_plain(builder, "embed", embedding, 1, 1)->bias = false;
}

static void image_tower(ImageBuilder *builder, const Clip *clip) {
    NetLayer *patches = image_conv_valid(builder, "patches", clip->width, clip->patch, clip->patch);
    patches->batch_norm = patches->relu = false;
    int side = builder->size, tokens = side * side + 1;
    builder->size = 1;
    builder->regions = tokens;
    image_layer_norm(builder)->table = (double)clip->width * (tokens + 1); // positions, and the class's token
    for (int i = 0; i < clip->layers; i++) layer_of_tower(builder, clip->width, clip->heads, tokens);
    embed(builder, clip->embedding);
}

static void text_tower(ImageBuilder *builder, const Clip *clip) {
    image_next_block(builder);
    builder->channels = clip->text_width;
    builder->regions = TEXT_TOKENS;
    NetLayer *words = image_elements(builder, "words", 0, 1);
    words->table = (double)clip->text_width * (TEXT_VOCABULARY + TEXT_TOKENS);
    words->copied = true;
    for (int i = 0; i < TEXT_LAYERS; i++) layer_of_tower(builder, clip->text_width, clip->text_heads, TEXT_TOKENS);
    embed(builder, clip->embedding);
}

void build_clip(ImageBuilder *builder, int variant, int classes) {
    builder->smooth = true;
    (void)classes;
    const Clip *clip = &clips[variant];
    image_tower(builder, clip);
    text_tower(builder, clip);
    image_contrast(builder, "pairs");
}
