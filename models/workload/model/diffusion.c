// Diffusion models, and models of images with text.
#include "models/workload/model/image_layers.h"

// ---- Stable Diffusion's U-Net (Rombach et al. 2022): residual blocks with the time step's embedding, and
// transformers with self-attention and cross-attention to a text of 77 tokens. It works on latents of an eighth of
// the image's side. The text encoder and the autoencoder are frozen and not counted.

#define LATENT_CHANNELS 4
#define EIGHTH 8
#define FIRST 320
#define LEVELS 4
#define BLOCKS 2
#define EMBEDDING 1280
#define HEAD_SIZE 64
#define TEXT_TOKENS 77
#define MOST_SKIPS 16

typedef struct Version {
    int text_width, heads; // heads 0: of HEAD_SIZE
} Version;
static const Version versions[] = {{768, 8}, {1024, 0}}; // 1.5, 2
static const int widths[LEVELS] = {1, 2, 4, 4};

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
    for (int level = 0; level < LEVELS; level++) {
        for (int i = 0; i < BLOCKS; i++) {
            image_next_block(net->builder);
            residual_block(net, FIRST * widths[level]);
            if (level + 1 < LEVELS) transformer(net);
            net->skips[net->skip_count++] = net->builder->channels;
        }
        if (level + 1 == LEVELS) return;
        image_conv_plain(net->builder, "down", net->builder->channels, 3, 2);
        net->skips[net->skip_count++] = net->builder->channels;
    }
}

static void way_up(Net *net) {
    ImageBuilder *builder = net->builder;
    for (int level = LEVELS - 1; level >= 0; level--) {
        for (int i = 0; i <= BLOCKS; i++) {
            image_next_block(builder);
            image_concatenated(builder, builder->channels + net->skips[--net->skip_count]);
            residual_block(net, FIRST * widths[level]);
            if (level + 1 < LEVELS) transformer(net);
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
    residual_block(&net, FIRST * widths[LEVELS - 1]);
    transformer(&net);
    residual_block(&net, FIRST * widths[LEVELS - 1]);
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
