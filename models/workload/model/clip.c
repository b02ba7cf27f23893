// CLIP (Radford et al. 2021): a vision transformer for images and a transformer for their captions, whose embeddings
// are held against those of all other pairs in the batch. Both are lists of layers over tokens in a row.
#include "models/workload/model/image_layers.h"

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
