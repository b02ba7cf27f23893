// Vision transformers (ViT; Dosovitskiy et al. 2020): patches of an image are the tokens of an encoder, with one more
// for the class. DeiT (Touvron et al. 2020) without its teacher is the same network.
#include <string.h>

#include "models/workload/model/model_internal.h"
#include "sim/base/check.h"

typedef struct VisionShape {
    const char *name;
    int layers, hidden, heads, ffn, patch;
} VisionShape;

static const VisionShape shapes[] = {
    {"vit-tiny-patch16", 12, 192, 3, 768, 16},     {"vit-small-patch16", 12, 384, 6, 1536, 16},
    {"vit-small-patch32", 12, 384, 6, 1536, 32},   {"vit-base-patch16", 12, 768, 12, 3072, 16},
    {"vit-base-patch32", 12, 768, 12, 3072, 32},   {"vit-large-patch16", 24, 1024, 16, 4096, 16},
    {"vit-large-patch32", 24, 1024, 16, 4096, 32}, {"vit-huge-patch14", 32, 1280, 16, 5120, 14},
    {"vit-giant-patch14", 40, 1408, 16, 6144, 14}, // the same, ViT-g/14
    {"vit-g-patch14", 48, 1664, 16, 8192, 14},     // Zhai et al. 2021, table 2 (ViT-G/14)
};
const int vision_transformer_count = (int)(sizeof shapes / sizeof *shapes);
#define USUAL_IMAGE 224
#define USUAL_CLASSES 1000

const char *vision_transformer_name(int index) {
    CHECK(index >= 0 && index < vision_transformer_count);
    return shapes[index].name;
}

int vision_transformer_index(const char *name) {
    for (int i = 0; i < vision_transformer_count; i++)
        if (strcmp(shapes[i].name, name) == 0) return i;
    return -1;
}

const Model *vision_transformer(Arena *arena, int index, int image_size, int classes) {
    CHECK(index >= 0 && index < vision_transformer_count);
    const VisionShape *shape = &shapes[index];
    if (!image_size) image_size = USUAL_IMAGE;
    if (!classes) classes = USUAL_CLASSES;
    int side = image_size / shape->patch, tokens = side * side + 1;
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = shape->name,
        .family = "vit",
        .source = "Dosovitskiy et al. 2020",
        .kind = MODEL_TRANSFORMER,
        .block_count = shape->layers + 2,
        .layers = shape->layers,
        .hidden = shape->hidden,
        .heads = shape->heads,
        .kv_heads = shape->heads,
        .head_dim = shape->hidden / shape->heads,
        .ffn = shape->ffn,
        .vocab = classes,
        .max_positions = tokens,
        .learned_positions = true,
        .biases = true,
        .head_share = 1.0 / tokens,
        .patch = shape->patch,
        .image_size = image_size,
        .classes = classes,
    };
    return model;
}
