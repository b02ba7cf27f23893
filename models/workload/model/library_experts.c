// The library's mixtures of experts, from their published configurations.
#include "models/workload/model/model_internal.h"

typedef struct ExpertRow {
    const char *name, *family, *source;
    int layers, hidden, heads, kv_heads, head_dim, ffn, vocab, positions;
    bool query_biases, query_norms;
    ExpertShape experts;
    LatentShape latent;
    int extra_heads;
} ExpertRow;

#define DEEPSEEK_LATENT                                                                                                \
    { .query_rank = 1536, .key_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128 }
// clang-format off
static const ExpertRow rows[] = {
    {"mixtral-8x7b", "mixtral", "Jiang et al. 2024 (Mixtral of Experts), table 1", 32, 4096, 32, 8, 128, 14336, 32000, 32768,
     .experts = {.count = 8, .per_token = 2, .ffn = 14336, .every = 1}},
    {"mixtral-8x22b", "mixtral", "mistralai/Mixtral-8x22B-v0.1, config.json", 56, 6144, 48, 8, 128, 16384, 32000, 65536,
     .experts = {.count = 8, .per_token = 2, .ffn = 16384, .every = 1}},
    {"deepseek-v2", "deepseek", "DeepSeek-AI 2024 (DeepSeek-V2), section 3.1.2", 60, 5120, 128, 128, 192, 12288, 102400, 4096,
     .experts = {.count = 160, .per_token = 6, .ffn = 1536, .shared_ffn = 3072, .first_dense = 1, .every = 1}, .latent = DEEPSEEK_LATENT},
    {"deepseek-v3", "deepseek", "DeepSeek-AI 2024 (DeepSeek-V3), section 4.2", 61, 7168, 128, 128, 192, 18432, 129280, 4096,
     .experts = {.count = 256, .per_token = 8, .ffn = 2048, .shared_ffn = 2048, .first_dense = 3, .every = 1}, .latent = DEEPSEEK_LATENT,
     .extra_heads = 1},
    {"qwen3-30b-a3b", "qwen", "Qwen Team 2025 (Qwen3), table 2; config.json", 48, 2048, 32, 4, 128, 6144, 151936, 32768,
     .query_norms = true, .experts = {.count = 128, .per_token = 8, .ffn = 768, .every = 1}},
    {"qwen3-235b-a22b", "qwen", "Qwen Team 2025 (Qwen3), table 2; config.json", 94, 4096, 64, 4, 128, 12288, 151936, 32768,
     .query_norms = true, .experts = {.count = 128, .per_token = 8, .ffn = 1536, .every = 1}},
    {"llama-4-scout", "llama", "Meta 2025 (Llama 4 Scout), config.json; text only", 48, 5120, 40, 8, 128, 16384, 202048, 262144,
     .experts = {.count = 16, .per_token = 1, .ffn = 8192, .shared_ffn = 8192, .every = 1}},
    {"llama-4-maverick", "llama", "Meta 2025 (Llama 4 Maverick), config.json; text only", 48, 5120, 40, 8, 128, 16384, 202048, 262144,
     .experts = {.count = 128, .per_token = 1, .ffn = 8192, .shared_ffn = 8192, .every = 2}},
    {"gpt-oss-20b", "gpt-oss", "OpenAI 2025 (gpt-oss model card), table 1; attention over the whole sequence", 24, 2880, 64, 8, 64, 2880, 201088, 131072,
     .query_biases = true, .experts = {.count = 32, .per_token = 4, .ffn = 2880, .every = 1}},
    {"gpt-oss-120b", "gpt-oss", "OpenAI 2025 (gpt-oss model card), table 1; attention over the whole sequence", 36, 2880, 64, 8, 64, 2880, 201088, 131072,
     .query_biases = true, .experts = {.count = 128, .per_token = 4, .ffn = 2880, .every = 1}},
};
// clang-format on
const int expert_model_count = sizeof rows / sizeof *rows;

const char *expert_model_name(int index) { return rows[index].name; }

const Model *expert_model(Arena *arena, int index) {
    const ExpertRow *row = &rows[index];
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = row->name,
        .family = row->family,
        .source = row->source,
        .kind = MODEL_TRANSFORMER,
        .block_count = row->layers + 2,
        .layers = row->layers,
        .hidden = row->hidden,
        .heads = row->heads,
        .kv_heads = row->kv_heads,
        .head_dim = row->head_dim,
        .ffn = row->ffn,
        .vocab = row->vocab,
        .max_positions = row->positions,
        .gated_mlp = true,
        .causal = true,
        .rms_norm = true,
        .query_biases = row->query_biases,
        .query_norms = row->query_norms,
        .experts = row->experts,
        .latent = row->latent,
        .extra_heads = row->extra_heads,
        .head_share = 1,
    };
    return model;
}
