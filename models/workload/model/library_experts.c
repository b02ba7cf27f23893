// The library's mixture-of-experts models, from their published configurations.
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
    {"deepseek-moe-16b", "deepseek", "Dai et al. 2024 (DeepSeekMoE), config.json", 28, 2048, 16, 16, 128, 10944, 102400, 4096,
     .experts = {.count = 64, .per_token = 6, .ffn = 1408, .shared_ffn = 2816, .first_dense = 1, .every = 1}},
    {"deepseek-v2-lite", "deepseek", "DeepSeek-AI 2024 (DeepSeek-V2), appendix B", 27, 2048, 16, 16, 192, 10944, 102400, 4096,
     .experts = {.count = 64, .per_token = 6, .ffn = 1408, .shared_ffn = 2816, .first_dense = 1, .every = 1},
     .latent = {.key_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128}},
    {"kimi-k2", "deepseek", "Moonshot AI 2025 (Kimi K2), table 2; config.json", 61, 7168, 64, 64, 192, 18432, 163840, 131072,
     .experts = {.count = 384, .per_token = 8, .ffn = 2048, .shared_ffn = 2048, .first_dense = 1, .every = 1}, .latent = DEEPSEEK_LATENT},
    {"qwen1.5-moe-a2.7b", "qwen", "Qwen/Qwen1.5-MoE-A2.7B, config.json", 24, 2048, 16, 16, 128, 5632, 151936, 8192,
     .query_biases = true, .experts = {.count = 60, .per_token = 4, .ffn = 1408, .shared_ffn = 5632, .every = 1, .shared_gate = true}},
    {"phi-3.5-moe", "phi", "Abdin et al. 2024 (Phi-3.5-MoE), config.json; biases left out", 32, 4096, 32, 8, 128, 6400, 32064, 131072,
     .experts = {.count = 16, .per_token = 2, .ffn = 6400, .every = 1}},
    {"olmoe-1b-7b", "olmo", "Muennighoff et al. 2024 (OLMoE), table 10", 16, 2048, 16, 16, 128, 1024, 50304, 4096,
     .query_norms = true, .experts = {.count = 64, .per_token = 8, .ffn = 1024, .every = 1}},
    {"dbrx", "dbrx", "Databricks 2024 (DBRX), config.json", 40, 6144, 48, 8, 128, 10752, 100352, 32768,
     .experts = {.count = 16, .per_token = 4, .ffn = 10752, .every = 1}},
    {"grok-1", "grok", "xAI 2024 (Grok-1), model.py", 64, 6144, 48, 8, 128, 32768, 131072, 8192,
     .experts = {.count = 8, .per_token = 2, .ffn = 32768, .every = 1}},
    {"glm-4.5", "glm", "Zhipu AI 2025 (GLM-4.5), table 1; config.json", 92, 5120, 96, 8, 128, 12288, 151552, 131072,
     .query_biases = true, .query_norms = true, .experts = {.count = 160, .per_token = 8, .ffn = 1536, .shared_ffn = 1536, .first_dense = 3, .every = 1}},
    {"glm-4.5-air", "glm", "Zhipu AI 2025 (GLM-4.5), table 1; config.json", 46, 4096, 96, 8, 128, 10944, 151552, 131072,
     .query_biases = true, .experts = {.count = 128, .per_token = 8, .ffn = 1408, .shared_ffn = 1408, .first_dense = 1, .every = 1}},
    {"moonlight-16b-a3b", "deepseek", "Liu et al. 2025 (Moonlight), config.json", 27, 2048, 16, 16, 192, 11264, 163840, 8192,
     .experts = {.count = 64, .per_token = 6, .ffn = 1408, .shared_ffn = 2816, .first_dense = 1, .every = 1},
     .latent = {.key_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128}},
    {"qwen2-57b-a14b", "qwen", "Qwen Team 2024 (Qwen2), config.json", 28, 3584, 28, 4, 128, 18944, 151936, 131072,
     .query_biases = true, .experts = {.count = 64, .per_token = 8, .ffn = 2560, .shared_ffn = 20480, .every = 1, .shared_gate = true}},
    {"qwen3-30b-a3b", "qwen", "Qwen Team 2025 (Qwen3), table 2; config.json", 48, 2048, 32, 4, 128, 6144, 151936, 32768,
     .query_norms = true, .experts = {.count = 128, .per_token = 8, .ffn = 768, .every = 1}},
    {"qwen3-235b-a22b", "qwen", "Qwen Team 2025 (Qwen3), table 2; config.json", 94, 4096, 64, 4, 128, 12288, 151936, 32768,
     .query_norms = true, .experts = {.count = 128, .per_token = 8, .ffn = 1536, .every = 1}},
    {"llama-4-scout", "llama", "Meta 2025 (Llama 4 Scout), config.json; text only", 48, 5120, 40, 8, 128, 16384, 202048, 262144,
     .experts = {.count = 16, .per_token = 1, .ffn = 8192, .shared_ffn = 8192, .every = 1}},
    {"llama-4-maverick", "llama", "Meta 2025 (Llama 4 Maverick), config.json; text only", 48, 5120, 40, 8, 128, 16384, 202048, 262144,
     .experts = {.count = 128, .per_token = 1, .ffn = 8192, .shared_ffn = 8192, .every = 2}},
    {"gpt-oss-20b", "gpt-oss", "OpenAI 2025 (gpt-oss model card), table 1; attention over the whole sequence", 24, 2880, 64, 8, 64, 2880, 201088, 131072,
     .query_biases = true, .experts = {.count = 32, .per_token = 4, .ffn = 2880, .every = 1, .biases = true}},
    {"gpt-oss-120b", "gpt-oss", "OpenAI 2025 (gpt-oss model card), table 1; attention over the whole sequence", 36, 2880, 64, 8, 64, 2880, 201088, 131072,
     .query_biases = true, .experts = {.count = 128, .per_token = 4, .ffn = 2880, .every = 1, .biases = true}},
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
