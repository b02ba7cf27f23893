// Models with an encoder and a decoder: T5 (Raffel et al. 2019), as pretrained: spans of 512 tokens are taken out and
// the decoder writes them, 114 tokens. Norms without means, no biases, positions by relative distance; version 1.1 has
// gates and a head of its own.
#include "models/workload/model/model_internal.h"
#include "sim/check.h"

typedef struct PairShape {
    const char *name;
    int layers, hidden, heads, head_dim, ffn; // layers of the encoder; the decoder has as many
    bool gated; // and not tied (T5 v1.1; google-research/text-to-text-transfer-transformer)
} PairShape;

static const PairShape shapes[] = {
    {"t5-small", 6, 512, 8, 64, 2048, false},      {"t5-base", 12, 768, 12, 64, 3072, false},
    {"t5-large", 24, 1024, 16, 64, 4096, false},   {"t5-3b", 24, 1024, 32, 128, 16384, false},
    {"t5-11b", 24, 1024, 128, 128, 65536, false},  {"t5-v1.1-small", 8, 512, 6, 64, 1024, true},
    {"t5-v1.1-base", 12, 768, 12, 64, 2048, true}, {"t5-v1.1-large", 24, 1024, 16, 64, 2816, true},
    {"t5-v1.1-xl", 24, 2048, 32, 64, 5120, true},  {"t5-v1.1-xxl", 24, 4096, 64, 64, 10240, true},
};
const int encoder_decoder_count = (int)(sizeof shapes / sizeof *shapes);
#define VOCABULARY 32128
#define SOURCE_TOKENS 512
#define TARGET_TOKENS 114

const char *encoder_decoder_name(int index) {
    CHECK(index >= 0 && index < encoder_decoder_count);
    return shapes[index].name;
}

const Model *encoder_decoder(Arena *arena, int index) {
    CHECK(index >= 0 && index < encoder_decoder_count);
    const PairShape *shape = &shapes[index];
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = shape->name,
        .family = "t5",
        .source = "Raffel et al. 2019, section 3.1 and appendix",
        .kind = MODEL_TRANSFORMER,
        .block_count = 2 * shape->layers + 2,
        .layers = 2 * shape->layers,
        .hidden = shape->hidden,
        .heads = shape->heads,
        .kv_heads = shape->heads,
        .head_dim = shape->head_dim,
        .ffn = shape->ffn,
        .vocab = VOCABULARY,
        .max_positions = SOURCE_TOKENS,
        .gated_mlp = shape->gated,
        .tied_embedding = !shape->gated,
        .rms_norm = true,
        .head_share = 1,
        .encoder_layers = shape->layers,
        .target_share = (double)TARGET_TOKENS / SOURCE_TOKENS,
    };
    return model;
}
