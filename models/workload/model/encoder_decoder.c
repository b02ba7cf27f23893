// Models with an encoder and a decoder: T5 (Raffel et al. 2019), as pretrained: spans of 512 tokens are taken out and
// the decoder writes them, 114 tokens. Norms without means, no biases, no gates, positions by relative distance.
#include "models/workload/model/model_internal.h"
#include "sim/check.h"

typedef struct PairShape {
    const char *name;
    int layers, hidden, heads, head_dim, ffn; // layers of the encoder; the decoder has as many
} PairShape;

static const PairShape shapes[] = {
    {"t5-small", 6, 512, 8, 64, 2048},   {"t5-base", 12, 768, 12, 64, 3072},    {"t5-large", 24, 1024, 16, 64, 4096},
    {"t5-3b", 24, 1024, 32, 128, 16384}, {"t5-11b", 24, 1024, 128, 128, 65536},
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
        .tied_embedding = true,
        .rms_norm = true,
        .head_share = 1,
        .encoder_layers = shape->layers,
        .target_share = (double)TARGET_TOKENS / SOURCE_TOKENS,
    };
    return model;
}
