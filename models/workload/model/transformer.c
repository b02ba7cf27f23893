// The library's transformers: published shapes of words, of experts, of images, and of an encoder and a decoder.
#include <string.h>

#include "models/workload/model/model_internal.h"
#include "sim/base/check.h"

// Of a family, or of one model.
typedef enum Trait {
    GATED = 1,
    TIED = 2,     // the head is the embedding
    ABSOLUTE = 4, // a table of positions
    BIASES = 8,
    ENCODER = 16,
    PLAIN_NORM = 32, // a norm has a scale and no bias
    QUERY_BIASES = 64,
    QUERY_NORMS = 128,
} Trait;

typedef enum HeadKind { HEAD_AS_FAMILY, HEAD_IS_EMBEDDING, HEAD_APART } HeadKind;

// kv_heads 0: as many as heads; ffn 0: 4 x hidden; head_dim 0: hidden / heads.
typedef struct PublishedShape {
    const char *name, *family;
    int layers, hidden, heads, kv_heads, ffn, vocab, max_positions;
    const char *source;
    int head_dim;
    HeadKind head;
    unsigned traits; // beyond the family's
    ExpertShape experts;
    LatentShape latent;
    int extra_heads;
} PublishedShape;

// Not Llama's.
static const struct {
    const char *name;
    unsigned traits;
} families[] = {
    {"gpt", TIED | ABSOLUTE | BIASES},
    {"starcoder", TIED | ABSOLUTE | BIASES},
    {"starcoder2", TIED | BIASES},
    {"bert", TIED | ABSOLUTE | BIASES | ENCODER},
    {"bloom", TIED | BIASES},
    {"neox", BIASES},
    {"mpt", TIED | PLAIN_NORM}, // its norms have no biases either
    {"falcon", 0},
    {"nemotron", 0},
    {"qwen2.5", GATED | PLAIN_NORM | QUERY_BIASES},
    {"qwen3", GATED | PLAIN_NORM | QUERY_NORMS},
};

#define DEEPSEEK_LATENT                                                                                                \
    { .query_rank = 1536, .key_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128 }
#define GPT2_SOURCE "Radford et al. 2019, table 2"
#define GPT3_SOURCE "Brown et al. 2020, table 2.1"
#define GPT3_XL_SOURCE GPT3_SOURCE "; the table's 24 heads of 128 are not 2048 wide: 16 heads here"
#define GPT3_13B_SOURCE GPT3_SOURCE "; the table's d_model 5140 is not 40 heads of 128: 5120 here"
#define SC21_SOURCE "Narayanan et al. 2021 (SC21), table 1"
#define KORTHIKANTI_SOURCE "Korthikanti et al. 2022, table 3"
#define BERT_SOURCE "Devlin et al. 2018"
#define LLAMA2_SOURCE "Touvron et al. 2023 (Llama 2)"
#define LLAMA3_SOURCE "Grattafiori et al. 2024 (Llama 3)"
#define LLAMA1_SOURCE "Touvron et al. 2023 (LLaMA), table 2"
#define QWEN25_SOURCE "Qwen Team 2024 (Qwen2.5); config.json"
#define QWEN3_SOURCE "Qwen Team 2025 (Qwen3), table 1; config.json"
#define LLAMA32_SOURCE "Meta 2024 (Llama 3.2), config.json"
#define GEMMA_SOURCE "Gemma Team 2024, table 1; config.json"
#define SMOLLM_SOURCE "Allal et al. 2025 (SmolLM2); config.json"
#define OPT_SOURCE "Zhang et al. 2022 (OPT), table 1"
#define BLOOM_SOURCE "BigScience Workshop 2022 (BLOOM), table 3; config.json"
#define PYTHIA_SOURCE "Biderman et al. 2023 (Pythia), table 1; config.json"
#define FALCON_SOURCE "Almazrouei et al. 2023 (Falcon), config.json; its parallel attention and MLP one after the other"
#define LLAMA31_SOURCE "Grattafiori et al. 2024 (Llama 3), config.json of 3.1"
#define CODELLAMA_SOURCE "Roziere et al. 2023 (Code Llama); config.json"
#define GEMMA2_SOURCE "Gemma Team 2024 (Gemma 2), table 1; every other layer sees 4,096 tokens, here all do"
#define GEMMA3_SOURCE                                                                                                  \
    "Gemma Team 2025 (Gemma 3), config.json; text alone, five layers of six see 1,024 tokens, here all do"
#define QWEN15_SOURCE "Qwen Team 2024 (Qwen1.5), config.json"
#define PHI2_SOURCE "Microsoft 2023 (Phi-1.5, Phi-2), config.json; its parallel attention and MLP one after the other"
#define INTERNLM2_SOURCE "Cai et al. 2024 (InternLM2), config.json"
#define BAICHUAN2_SOURCE "Yang et al. 2023 (Baichuan 2), table 2"
#define GLM_SOURCE "GLM Team 2024 (ChatGLM), config.json"
#define DEEPSEEK_CODER_SOURCE "Guo et al. 2024 (DeepSeek-Coder), table 2; config.json"
#define OLMO2_SOURCE "OLMo Team 2024 (OLMo 2), config.json"
#define GPT_NEO_SOURCE "EleutherAI 2021 (GPT-Neo), config.json; half of its layers see 256 tokens, here all do"
#define STARCODER2_SOURCE "Lozhkov et al. 2024 (StarCoder 2), table 6; config.json"
#define ROBERTA_SOURCE "Liu et al. 2019 (RoBERTa), config.json"
#define DEBERTA_SOURCE "He et al. 2021 (DeBERTa), config.json; its attention to relative positions left out"
#define CODEGEN_SOURCE "Nijkamp et al. 2022 (CodeGen), config.json; its parallel attention and MLP one after the other"
#define STABLELM2_SOURCE "Bellagente et al. 2024 (Stable LM 2), config.json"
#define FALCON3_SOURCE "Falcon-LLM Team 2024 (Falcon 3), config.json"
#define GRANITE_SOURCE "Granite Team 2024 (Granite 3), config.json"
#define STARCODER_SOURCE "Li et al. 2023 (StarCoder); config.json"

// clang-format off
static const PublishedShape shapes[] = {
    {"gpt2-124m", "gpt", 12, 768, 12, 0, 0, 50257, 1024, .source = GPT2_SOURCE},
    {"gpt2-355m", "gpt", 24, 1024, 16, 0, 0, 50257, 1024, .source = GPT2_SOURCE},
    {"gpt2-774m", "gpt", 36, 1280, 20, 0, 0, 50257, 1024, .source = GPT2_SOURCE},
    {"gpt2-1.5b", "gpt", 48, 1600, 25, 0, 0, 50257, 1024, .source = GPT2_SOURCE},
    {"distilgpt2", "gpt", 6, 768, 12, 0, 0, 50257, 1024, .source = "Sanh et al. 2019; config.json"},
    {"gpt3-125m", "gpt", 12, 768, 12, 0, 0, 50257, 2048, .source = GPT3_SOURCE},
    {"gpt3-350m", "gpt", 24, 1024, 16, 0, 0, 50257, 2048, .source = GPT3_SOURCE},
    {"gpt3-760m", "gpt", 24, 1536, 16, 0, 0, 50257, 2048, .source = GPT3_SOURCE},
    {"gpt3-1.3b", "gpt", 24, 2048, 16, 0, 0, 50257, 2048, .source = GPT3_XL_SOURCE},
    {"gpt3-2.7b", "gpt", 32, 2560, 32, 0, 0, 50257, 2048, .source = GPT3_SOURCE},
    {"gpt3-6.7b", "gpt", 32, 4096, 32, 0, 0, 50257, 2048, .source = GPT3_SOURCE},
    {"gpt3-13b", "gpt", 40, 5120, 40, 0, 0, 50257, 2048, .source = GPT3_13B_SOURCE},
    {"gpt3-175b", "gpt", 96, 12288, 96, 0, 0, 50257, 2048, .source = GPT3_SOURCE},
    {"megatron-1.7b", "gpt", 24, 2304, 24, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-3.6b", "gpt", 30, 3072, 32, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-7.5b", "gpt", 36, 4096, 32, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-18.4b", "gpt", 40, 6144, 48, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-22b", "gpt", 48, 6144, 64, 0, 0, 51200, 2048, .source = KORTHIKANTI_SOURCE},
    {"megatron-39.1b", "gpt", 48, 8192, 64, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-76.1b", "gpt", 60, 10240, 80, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-145.6b", "gpt", 80, 12288, 96, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-175b", "gpt", 96, 12288, 96, 0, 0, 51200, 2048, .source = KORTHIKANTI_SOURCE},
    {"megatron-310.1b", "gpt", 96, 16384, 128, 0, 0, 51200, 2048, .source = SC21_SOURCE},
    {"megatron-530b", "gpt", 105, 20480, 128, 0, 0, 51200, 2048, .source = KORTHIKANTI_SOURCE},
    {"megatron-1t", "gpt", 128, 25600, 160, 0, 0, 51200, 2048, .source = KORTHIKANTI_SOURCE},
    {"bert-base", "bert", 12, 768, 12, 0, 0, 30522, 512, .source = BERT_SOURCE},
    {"bert-large", "bert", 24, 1024, 16, 0, 0, 30522, 512, .source = BERT_SOURCE},
    {"distilbert-base", "bert", 6, 768, 12, 0, 0, 30522, 512, .source = "Sanh et al. 2019 (DistilBERT); config.json"},
    {"roberta-base", "bert", 12, 768, 12, 0, 0, 50265, 514, .source = ROBERTA_SOURCE},
    {"roberta-large", "bert", 24, 1024, 16, 0, 0, 50265, 514, .source = ROBERTA_SOURCE},
    {"xlm-roberta-base", "bert", 12, 768, 12, 0, 0, 250002, 514, .source = "Conneau et al. 2020 (XLM-R), config.json"},
    {"xlm-roberta-large", "bert", 24, 1024, 16, 0, 0, 250002, 514, .source = "Conneau et al. 2020 (XLM-R), config.json"},
    {"distilroberta-base", "bert", 6, 768, 12, 0, 0, 50265, 514, .source = "Sanh et al. 2019; config.json"},
    {"bert-base-multilingual", "bert", 12, 768, 12, 0, 0, 119547, 512, .source = BERT_SOURCE},
    {"deberta-base", "bert", 12, 768, 12, 0, 0, 50265, 512, .source = DEBERTA_SOURCE},
    {"deberta-large", "bert", 24, 1024, 16, 0, 0, 50265, 512, .source = DEBERTA_SOURCE},
    {"deberta-v2-xlarge", "bert", 24, 1536, 24, 0, 0, 128100, 512, .source = DEBERTA_SOURCE},
    {"deberta-v2-xxlarge", "bert", 48, 1536, 24, 0, 0, 128100, 512, .source = DEBERTA_SOURCE},
    {"deberta-v3-xsmall", "bert", 12, 384, 6, 0, 0, 128100, 512, .source = DEBERTA_SOURCE},
    {"deberta-v3-small", "bert", 6, 768, 12, 0, 0, 128100, 512, .source = DEBERTA_SOURCE},
    {"deberta-v3-base", "bert", 12, 768, 12, 0, 0, 128100, 512, .source = DEBERTA_SOURCE},
    {"deberta-v3-large", "bert", 24, 1024, 16, 0, 0, 128100, 512, .source = DEBERTA_SOURCE},
    {"mpnet-base", "bert", 12, 768, 12, 0, 0, 30527, 514, .source = "Song et al. 2020 (MPNet), config.json"},
    {"minilm-l6", "bert", 6, 384, 12, 0, 0, 30522, 512, .source = "Wang et al. 2020 (MiniLM), config.json"},
    {"minilm-l12", "bert", 12, 384, 12, 0, 0, 30522, 512, .source = "Wang et al. 2020 (MiniLM), config.json"},
    {"llama-2-7b", "llama", 32, 4096, 32, 0, 11008, 32000, 4096, .source = LLAMA2_SOURCE},
    {"llama-2-13b", "llama", 40, 5120, 40, 0, 13824, 32000, 4096, .source = LLAMA2_SOURCE},
    {"llama-2-70b", "llama", 80, 8192, 64, 8, 28672, 32000, 4096, .source = LLAMA2_SOURCE},
    {"llama-3-8b", "llama", 32, 4096, 32, 8, 14336, 128256, 8192, .source = LLAMA3_SOURCE},
    {"llama-3-70b", "llama", 80, 8192, 64, 8, 28672, 128256, 8192, .source = LLAMA3_SOURCE},
    {"llama-3.1-8b", "llama", 32, 4096, 32, 8, 14336, 128256, 131072, .source = LLAMA31_SOURCE},
    {"llama-3.1-70b", "llama", 80, 8192, 64, 8, 28672, 128256, 131072, .source = LLAMA31_SOURCE},
    {"llama-3.1-405b", "llama", 126, 16384, 128, 8, 53248, 128256, 131072, .source = LLAMA3_SOURCE},
    {"llama-33b", "llama", 60, 6656, 52, 0, 17920, 32000, 2048, .source = LLAMA1_SOURCE},
    {"llama-65b", "llama", 80, 8192, 64, 0, 22016, 32000, 2048, .source = LLAMA1_SOURCE},
    {"mistral-7b", "llama", 32, 4096, 32, 8, 14336, 32000, 32768, .source = "Jiang et al. 2023 (Mistral 7B), table 1; attention over the whole sequence"},
    {"mistral-large-123b", "llama", 88, 12288, 96, 8, 28672, 32768, 131072, .source = "mistralai/Mistral-Large-Instruct-2407, config.json"},
    {"qwen2.5-7b", "qwen2.5", 28, 3584, 28, 4, 18944, 152064, 32768, .source = QWEN25_SOURCE},
    {"qwen2.5-32b", "qwen2.5", 64, 5120, 40, 8, 27648, 152064, 32768, .source = QWEN25_SOURCE},
    {"qwen2.5-72b", "qwen2.5", 80, 8192, 64, 8, 29568, 152064, 32768, .source = QWEN25_SOURCE},
    {"qwen3-8b", "qwen3", 36, 4096, 32, 8, 12288, 151936, 32768, .source = QWEN3_SOURCE, .head_dim = 128},
    {"qwen3-14b", "qwen3", 40, 5120, 40, 8, 17408, 151936, 32768, .source = QWEN3_SOURCE, .head_dim = 128},
    {"qwen3-32b", "qwen3", 64, 5120, 64, 8, 25600, 151936, 32768, .source = QWEN3_SOURCE, .head_dim = 128},
    {"llama-3.2-1b", "llama", 16, 2048, 32, 8, 8192, 128256, 131072, .source = LLAMA32_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"llama-3.2-3b", "llama", 28, 3072, 24, 8, 8192, 128256, 131072, .source = LLAMA32_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"codellama-7b", "llama", 32, 4096, 32, 0, 11008, 32016, 16384, .source = CODELLAMA_SOURCE},
    {"codellama-13b", "llama", 40, 5120, 40, 0, 13824, 32016, 16384, .source = CODELLAMA_SOURCE},
    {"codellama-34b", "llama", 48, 8192, 64, 8, 22016, 32000, 16384, .source = CODELLAMA_SOURCE},
    {"tinyllama-1.1b", "llama", 22, 2048, 32, 4, 5632, 32000, 2048, .source = "Zhang et al. 2024 (TinyLlama), table 1"},
    {"yi-6b", "llama", 32, 4096, 32, 4, 11008, 64000, 4096, .source = "01.AI 2024 (Yi), table 2; config.json"},
    {"yi-34b", "llama", 60, 7168, 56, 8, 20480, 64000, 4096, .source = "01.AI 2024 (Yi), table 2; config.json"},
    {"deepseek-7b", "llama", 30, 4096, 32, 0, 11008, 102400, 4096, .source = "DeepSeek-AI 2024 (DeepSeek LLM), table 2"},
    {"deepseek-coder-6.7b", "llama", 32, 4096, 32, 0, 11008, 32256, 16384, .source = DEEPSEEK_CODER_SOURCE},
    {"deepseek-coder-33b", "llama", 62, 7168, 56, 8, 19200, 32256, 16384, .source = DEEPSEEK_CODER_SOURCE},
    {"deepseek-67b", "llama", 95, 8192, 64, 8, 22016, 102400, 4096, .source = "DeepSeek-AI 2024 (DeepSeek LLM), table 2"},
    {"mistral-nemo-12b", "llama", 40, 5120, 32, 8, 14336, 131072, 131072, .source = "mistralai/Mistral-Nemo-Base-2407, config.json", .head_dim = 128},
    {"mistral-small-24b", "llama", 40, 5120, 32, 8, 32768, 131072, 32768, .source = "mistralai/Mistral-Small-24B-Base-2501, config.json", .head_dim = 128},
    {"mistral-small-22b", "llama", 56, 6144, 48, 8, 16384, 32768, 32768, .source = "mistralai/Mistral-Small-Instruct-2409, config.json", .head_dim = 128},
    {"ministral-8b", "llama", 36, 4096, 32, 8, 12288, 131072, 32768, .source = "mistralai/Ministral-8B-Instruct-2410, config.json; attention over the whole sequence"},
    {"open-llama-3b", "llama", 26, 3200, 32, 0, 8640, 32000, 2048, .source = "Geng and Liu 2023 (OpenLLaMA), config.json"},
    {"solar-10.7b", "llama", 48, 4096, 32, 8, 14336, 32000, 4096, .source = "Kim et al. 2023 (SOLAR), config.json"},
    {"yi-9b", "llama", 48, 4096, 32, 4, 11008, 64000, 4096, .source = "01.AI 2024 (Yi-9B, Yi-1.5-9B), config.json"},
    {"falcon-3-1b", "llama", 18, 2048, 8, 4, 8192, 131072, 8192, .source = FALCON3_SOURCE, .head_dim = 256},
    {"falcon-3-3b", "llama", 22, 3072, 12, 4, 9216, 131072, 32768, .source = FALCON3_SOURCE, .head_dim = 256},
    {"falcon-3-7b", "llama", 28, 3072, 12, 4, 23040, 131072, 32768, .source = FALCON3_SOURCE, .head_dim = 256},
    {"falcon-3-10b", "llama", 40, 3072, 12, 4, 23040, 131072, 32768, .source = FALCON3_SOURCE, .head_dim = 256},
    {"granite-3-2b", "llama", 40, 2048, 32, 8, 8192, 49155, 131072, .source = GRANITE_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"granite-3-8b", "llama", 40, 4096, 32, 8, 12800, 49155, 131072, .source = GRANITE_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"stablelm-3b", "llama", 32, 2560, 32, 0, 6912, 50304, 4096, .source = "Tow et al. 2023 (StableLM-3B-4E1T), config.json"},
    {"stablelm-2-1.6b", "qwen2.5", 24, 2048, 32, 0, 5632, 100352, 4096, .source = STABLELM2_SOURCE},
    {"stablelm-2-12b", "llama", 40, 5120, 32, 8, 13824, 100352, 4096, .source = STABLELM2_SOURCE},
    {"phi-4-mini", "llama", 32, 3072, 24, 8, 8192, 200064, 131072, .source = "Microsoft 2025 (Phi-4-Mini), config.json", .head = HEAD_IS_EMBEDDING},
    {"phi-1.5", "neox", 24, 2048, 32, 0, 0, 51200, 2048, .source = PHI2_SOURCE},
    {"phi-2", "neox", 32, 2560, 32, 0, 0, 51200, 2048, .source = PHI2_SOURCE},
    {"phi-3-mini", "llama", 32, 3072, 32, 0, 8192, 32064, 4096, .source = "Abdin et al. 2024 (Phi-3); config.json"},
    {"phi-3-medium", "llama", 40, 5120, 40, 10, 17920, 32064, 4096, .source = "Abdin et al. 2024 (Phi-3); config.json"},
    {"phi-4", "llama", 40, 5120, 40, 10, 17920, 100352, 16384, .source = "Abdin et al. 2024 (Phi-4); config.json"},
    {"gemma-2b", "llama", 18, 2048, 8, 1, 16384, 256000, 8192, .source = GEMMA_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-7b", "llama", 28, 3072, 16, 0, 24576, 256000, 8192, .source = GEMMA_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-2-2b", "llama", 26, 2304, 8, 4, 9216, 256000, 8192, .source = GEMMA2_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-2-9b", "llama", 42, 3584, 16, 8, 14336, 256000, 8192, .source = GEMMA2_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-2-27b", "llama", 46, 4608, 32, 16, 36864, 256000, 8192, .source = GEMMA2_SOURCE, .head_dim = 128, .head = HEAD_IS_EMBEDDING},
    {"gemma-3-270m", "llama", 18, 640, 4, 1, 2048, 262144, 32768, .source = GEMMA3_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-3-1b", "llama", 26, 1152, 4, 1, 6912, 262144, 32768, .source = GEMMA3_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-3-4b", "llama", 34, 2560, 8, 4, 10240, 262208, 131072, .source = GEMMA3_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-3-12b", "llama", 48, 3840, 16, 8, 15360, 262208, 131072, .source = GEMMA3_SOURCE, .head_dim = 256, .head = HEAD_IS_EMBEDDING},
    {"gemma-3-27b", "llama", 62, 5376, 32, 16, 21504, 262208, 131072, .source = GEMMA3_SOURCE, .head_dim = 128, .head = HEAD_IS_EMBEDDING},
    {"internlm2-7b", "llama", 32, 4096, 32, 8, 14336, 92544, 32768, .source = INTERNLM2_SOURCE},
    {"internlm2-20b", "llama", 48, 6144, 48, 8, 16384, 92544, 32768, .source = INTERNLM2_SOURCE},
    {"baichuan2-7b", "llama", 32, 4096, 32, 0, 11008, 125696, 4096, .source = BAICHUAN2_SOURCE},
    {"baichuan2-13b", "llama", 40, 5120, 40, 0, 13696, 125696, 4096, .source = BAICHUAN2_SOURCE},
    {"chatglm3-6b", "qwen2.5", 28, 4096, 32, 2, 13696, 65024, 8192, .source = GLM_SOURCE},
    {"glm-4-9b", "qwen2.5", 40, 4096, 32, 2, 13696, 151552, 8192, .source = GLM_SOURCE},
    {"olmo-1b", "llama", 16, 2048, 16, 0, 8192, 50304, 2048, .source = "Groeneveld et al. 2024 (OLMo), table 1", .head = HEAD_IS_EMBEDDING},
    {"olmo-2-1b", "llama", 16, 2048, 16, 0, 8192, 100352, 4096, .source = OLMO2_SOURCE},
    {"olmo-7b", "llama", 32, 4096, 32, 0, 11008, 50304, 2048, .source = "Groeneveld et al. 2024 (OLMo), table 1"},
    {"olmo-2-7b", "llama", 32, 4096, 32, 0, 11008, 100352, 4096, .source = OLMO2_SOURCE},
    {"olmo-2-13b", "llama", 40, 5120, 40, 0, 13824, 100352, 4096, .source = OLMO2_SOURCE},
    {"olmo-2-32b", "llama", 64, 5120, 40, 8, 27648, 100352, 4096, .source = OLMO2_SOURCE},
    {"qwen1.5-7b", "qwen2.5", 32, 4096, 32, 0, 11008, 151936, 32768, .source = QWEN15_SOURCE},
    {"qwen1.5-14b", "qwen2.5", 40, 5120, 40, 0, 13696, 152064, 32768, .source = QWEN15_SOURCE},
    {"qwen1.5-72b", "qwen2.5", 80, 8192, 64, 0, 24576, 152064, 32768, .source = QWEN15_SOURCE},
    {"smollm2-135m", "llama", 30, 576, 9, 3, 1536, 49152, 8192, .source = SMOLLM_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"smollm2-360m", "llama", 32, 960, 15, 5, 2560, 49152, 8192, .source = SMOLLM_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"smollm2-1.7b", "llama", 24, 2048, 32, 0, 8192, 49152, 8192, .source = SMOLLM_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"smollm3-3b", "llama", 36, 2048, 16, 4, 11008, 128256, 65536, .source = "HuggingFaceTB/SmolLM3-3B, config.json", .head = HEAD_IS_EMBEDDING},
    {"qwen2.5-0.5b", "qwen2.5", 24, 896, 14, 2, 4864, 151936, 32768, .source = QWEN25_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"qwen2.5-1.5b", "qwen2.5", 28, 1536, 12, 2, 8960, 151936, 32768, .source = QWEN25_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"qwen2.5-3b", "qwen2.5", 36, 2048, 16, 2, 11008, 151936, 32768, .source = QWEN25_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"qwen2.5-14b", "qwen2.5", 48, 5120, 40, 8, 13824, 152064, 32768, .source = QWEN25_SOURCE},
    {"qwen3-0.6b", "qwen3", 28, 1024, 16, 8, 3072, 151936, 32768, .source = QWEN3_SOURCE, .head_dim = 128, .head = HEAD_IS_EMBEDDING},
    {"qwen3-1.7b", "qwen3", 28, 2048, 16, 8, 6144, 151936, 32768, .source = QWEN3_SOURCE, .head_dim = 128, .head = HEAD_IS_EMBEDDING},
    {"qwen3-4b", "qwen3", 36, 2560, 32, 8, 9728, 151936, 32768, .source = QWEN3_SOURCE, .head_dim = 128, .head = HEAD_IS_EMBEDDING},
    {"opt-125m", "gpt", 12, 768, 12, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"opt-350m", "gpt", 24, 1024, 16, 0, 0, 50272, 2048, .source = "Zhang et al. 2022 (OPT), table 1; its embedding of 512 is 1024 here"},
    {"opt-1.3b", "gpt", 24, 2048, 32, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"opt-2.7b", "gpt", 32, 2560, 32, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"opt-6.7b", "gpt", 32, 4096, 32, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"opt-13b", "gpt", 40, 5120, 40, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"opt-30b", "gpt", 48, 7168, 56, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"opt-66b", "gpt", 64, 9216, 72, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"opt-175b", "gpt", 96, 12288, 96, 0, 0, 50272, 2048, .source = OPT_SOURCE},
    {"gpt-neo-125m", "gpt", 12, 768, 12, 0, 0, 50257, 2048, .source = GPT_NEO_SOURCE},
    {"gpt-neo-1.3b", "gpt", 24, 2048, 16, 0, 0, 50257, 2048, .source = GPT_NEO_SOURCE},
    {"gpt-neo-2.7b", "gpt", 32, 2560, 20, 0, 0, 50257, 2048, .source = GPT_NEO_SOURCE},
    {"starcoderbase-1b", "starcoder", 24, 2048, 16, 1, 0, 49152, 8192, .source = STARCODER_SOURCE},
    {"starcoderbase-3b", "starcoder", 36, 2816, 22, 1, 0, 49152, 8192, .source = STARCODER_SOURCE},
    {"starcoderbase-7b", "starcoder", 42, 4096, 32, 1, 0, 49152, 8192, .source = STARCODER_SOURCE},
    {"starcoder-15b", "starcoder", 40, 6144, 48, 1, 0, 49152, 8192, .source = STARCODER_SOURCE},
    {"starcoder2-3b", "starcoder2", 30, 3072, 24, 2, 12288, 49152, 16384, .source = STARCODER2_SOURCE},
    {"starcoder2-7b", "starcoder2", 32, 4608, 36, 4, 18432, 49152, 16384, .source = STARCODER2_SOURCE},
    {"starcoder2-15b", "starcoder2", 40, 6144, 48, 4, 24576, 49152, 16384, .source = STARCODER2_SOURCE, .head = HEAD_APART},
    {"bloom-560m", "bloom", 24, 1024, 16, 0, 0, 250880, 2048, .source = BLOOM_SOURCE},
    {"bloom-1b1", "bloom", 24, 1536, 16, 0, 0, 250880, 2048, .source = BLOOM_SOURCE},
    {"bloom-1b7", "bloom", 24, 2048, 16, 0, 0, 250880, 2048, .source = BLOOM_SOURCE},
    {"bloom-3b", "bloom", 30, 2560, 32, 0, 0, 250880, 2048, .source = BLOOM_SOURCE},
    {"bloom-7b1", "bloom", 30, 4096, 32, 0, 0, 250880, 2048, .source = BLOOM_SOURCE},
    {"bloom-176b", "bloom", 70, 14336, 112, 0, 0, 250880, 2048, .source = BLOOM_SOURCE},
    {"pythia-14m", "neox", 6, 128, 4, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-31m", "neox", 6, 256, 8, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-70m", "neox", 6, 512, 8, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-160m", "neox", 12, 768, 12, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-410m", "neox", 24, 1024, 16, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-1b", "neox", 16, 2048, 8, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-1.4b", "neox", 24, 2048, 16, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-2.8b", "neox", 32, 2560, 32, 0, 0, 50304, 2048, .source = PYTHIA_SOURCE},
    {"pythia-6.9b", "neox", 32, 4096, 32, 0, 0, 50432, 2048, .source = PYTHIA_SOURCE},
    {"pythia-12b", "neox", 36, 5120, 40, 0, 0, 50688, 2048, .source = PYTHIA_SOURCE},
    {"gpt-neox-20b", "neox", 44, 6144, 64, 0, 0, 50432, 2048, .source = "Black et al. 2022 (GPT-NeoX-20B), section 2.1; config.json"},
    {"gpt-j-6b", "neox", 28, 4096, 16, 0, 0, 50400, 2048, .source = "Wang and Komatsuzaki 2021 (GPT-J), config.json; its parallel attention and MLP one after the other"},
    {"codegen-350m", "neox", 20, 1024, 16, 0, 0, 51200, 2048, .source = CODEGEN_SOURCE},
    {"codegen-2b", "neox", 32, 2560, 32, 0, 0, 51200, 2048, .source = CODEGEN_SOURCE},
    {"codegen-6b", "neox", 33, 4096, 16, 0, 0, 51200, 2048, .source = CODEGEN_SOURCE},
    {"codegen-16b", "neox", 34, 6144, 24, 0, 0, 51200, 2048, .source = CODEGEN_SOURCE},
    {"falcon-7b", "falcon", 32, 4544, 71, 1, 0, 65024, 2048, .source = FALCON_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"falcon-40b", "falcon", 60, 8192, 128, 8, 0, 65024, 2048, .source = FALCON_SOURCE, .head = HEAD_IS_EMBEDDING},
    {"falcon-180b", "falcon", 80, 14848, 232, 8, 0, 65024, 2048, .source = FALCON_SOURCE},
    {"nemotron-4-15b", "nemotron", 32, 6144, 48, 8, 24576, 256000, 4096, .source = "Parmar et al. 2024 (Nemotron-4 15B), table 1"},
    {"nemotron-4-340b", "nemotron", 96, 18432, 96, 8, 73728, 256000, 4096, .source = "NVIDIA 2024 (Nemotron-4 340B), table 1"},
    {"mpt-7b", "mpt", 32, 4096, 32, 0, 0, 50432, 2048, .source = "MosaicML 2023 (MPT-7B), config.json"},
    {"mpt-30b", "mpt", 48, 7168, 64, 0, 0, 50432, 8192, .source = "MosaicML 2023 (MPT-30B), config.json"},
    // Mixtures of experts, from their published configurations.
    {"mixtral-8x7b", "mixtral", 32, 4096, 32, 8, 14336, 32000, 32768, .source = "Jiang et al. 2024 (Mixtral of Experts), table 1",
     .experts = {.count = 8, .per_token = 2, .ffn = 14336, .every = 1}},
    {"mixtral-8x22b", "mixtral", 56, 6144, 48, 8, 16384, 32000, 65536, .source = "mistralai/Mixtral-8x22B-v0.1, config.json",
     .experts = {.count = 8, .per_token = 2, .ffn = 16384, .every = 1}},
    {"deepseek-v2", "deepseek", 60, 5120, 128, 128, 12288, 102400, 4096, .source = "DeepSeek-AI 2024 (DeepSeek-V2), section 3.1.2", .head_dim = 192,
     .experts = {.count = 160, .per_token = 6, .ffn = 1536, .shared_ffn = 3072, .first_dense = 1, .every = 1}, .latent = DEEPSEEK_LATENT},
    {"deepseek-v3", "deepseek", 61, 7168, 128, 128, 18432, 129280, 4096, .source = "DeepSeek-AI 2024 (DeepSeek-V3), section 4.2", .head_dim = 192,
     .experts = {.count = 256, .per_token = 8, .ffn = 2048, .shared_ffn = 2048, .first_dense = 3, .every = 1}, .latent = DEEPSEEK_LATENT,
     .extra_heads = 1},
    {"deepseek-moe-16b", "deepseek", 28, 2048, 16, 16, 10944, 102400, 4096, .source = "Dai et al. 2024 (DeepSeekMoE), config.json",
     .experts = {.count = 64, .per_token = 6, .ffn = 1408, .shared_ffn = 2816, .first_dense = 1, .every = 1}},
    {"deepseek-v2-lite", "deepseek", 27, 2048, 16, 16, 10944, 102400, 4096, .source = "DeepSeek-AI 2024 (DeepSeek-V2), appendix B", .head_dim = 192,
     .experts = {.count = 64, .per_token = 6, .ffn = 1408, .shared_ffn = 2816, .first_dense = 1, .every = 1},
     .latent = {.key_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128}},
    {"kimi-k2", "deepseek", 61, 7168, 64, 64, 18432, 163840, 131072, .source = "Moonshot AI 2025 (Kimi K2), table 2; config.json", .head_dim = 192,
     .experts = {.count = 384, .per_token = 8, .ffn = 2048, .shared_ffn = 2048, .first_dense = 1, .every = 1}, .latent = DEEPSEEK_LATENT},
    {"qwen1.5-moe-a2.7b", "qwen", 24, 2048, 16, 16, 5632, 151936, 8192, .source = "Qwen/Qwen1.5-MoE-A2.7B, config.json",
     .traits = QUERY_BIASES, .experts = {.count = 60, .per_token = 4, .ffn = 1408, .shared_ffn = 5632, .every = 1, .shared_gate = true}},
    {"phi-3.5-moe", "phi", 32, 4096, 32, 8, 6400, 32064, 131072, .source = "Abdin et al. 2024 (Phi-3.5-MoE), config.json; biases left out",
     .experts = {.count = 16, .per_token = 2, .ffn = 6400, .every = 1}},
    {"olmoe-1b-7b", "olmo", 16, 2048, 16, 16, 1024, 50304, 4096, .source = "Muennighoff et al. 2024 (OLMoE), table 10",
     .traits = QUERY_NORMS, .experts = {.count = 64, .per_token = 8, .ffn = 1024, .every = 1}},
    {"dbrx", "dbrx", 40, 6144, 48, 8, 10752, 100352, 32768, .source = "Databricks 2024 (DBRX), config.json",
     .experts = {.count = 16, .per_token = 4, .ffn = 10752, .every = 1}},
    {"grok-1", "grok", 64, 6144, 48, 8, 32768, 131072, 8192, .source = "xAI 2024 (Grok-1), model.py",
     .experts = {.count = 8, .per_token = 2, .ffn = 32768, .every = 1}},
    {"glm-4.5", "glm", 92, 5120, 96, 8, 12288, 151552, 131072, .source = "Zhipu AI 2025 (GLM-4.5), table 1; config.json", .head_dim = 128,
     .traits = QUERY_BIASES | QUERY_NORMS, .experts = {.count = 160, .per_token = 8, .ffn = 1536, .shared_ffn = 1536, .first_dense = 3, .every = 1}},
    {"glm-4.5-air", "glm", 46, 4096, 96, 8, 10944, 151552, 131072, .source = "Zhipu AI 2025 (GLM-4.5), table 1; config.json", .head_dim = 128,
     .traits = QUERY_BIASES, .experts = {.count = 128, .per_token = 8, .ffn = 1408, .shared_ffn = 1408, .first_dense = 1, .every = 1}},
    {"moonlight-16b-a3b", "deepseek", 27, 2048, 16, 16, 11264, 163840, 8192, .source = "Liu et al. 2025 (Moonlight), config.json", .head_dim = 192,
     .experts = {.count = 64, .per_token = 6, .ffn = 1408, .shared_ffn = 2816, .first_dense = 1, .every = 1},
     .latent = {.key_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128}},
    {"qwen2-57b-a14b", "qwen", 28, 3584, 28, 4, 18944, 151936, 131072, .source = "Qwen Team 2024 (Qwen2), config.json",
     .traits = QUERY_BIASES, .experts = {.count = 64, .per_token = 8, .ffn = 2560, .shared_ffn = 20480, .every = 1, .shared_gate = true}},
    {"qwen3-30b-a3b", "qwen", 48, 2048, 32, 4, 6144, 151936, 32768, .source = "Qwen Team 2025 (Qwen3), table 2; config.json", .head_dim = 128,
     .traits = QUERY_NORMS, .experts = {.count = 128, .per_token = 8, .ffn = 768, .every = 1}},
    {"qwen3-235b-a22b", "qwen", 94, 4096, 64, 4, 12288, 151936, 32768, .source = "Qwen Team 2025 (Qwen3), table 2; config.json", .head_dim = 128,
     .traits = QUERY_NORMS, .experts = {.count = 128, .per_token = 8, .ffn = 1536, .every = 1}},
    {"llama-4-scout", "llama", 48, 5120, 40, 8, 16384, 202048, 262144, .source = "Meta 2025 (Llama 4 Scout), config.json; text only",
     .experts = {.count = 16, .per_token = 1, .ffn = 8192, .shared_ffn = 8192, .every = 1}},
    {"llama-4-maverick", "llama", 48, 5120, 40, 8, 16384, 202048, 262144, .source = "Meta 2025 (Llama 4 Maverick), config.json; text only",
     .experts = {.count = 128, .per_token = 1, .ffn = 8192, .shared_ffn = 8192, .every = 2}},
    {"gpt-oss-20b", "gpt-oss", 24, 2880, 64, 8, 2880, 201088, 131072, .source = "OpenAI 2025 (gpt-oss model card), table 1; attention over the whole sequence", .head_dim = 64,
     .traits = QUERY_BIASES, .experts = {.count = 32, .per_token = 4, .ffn = 2880, .every = 1, .biases = true}},
    {"gpt-oss-120b", "gpt-oss", 36, 2880, 64, 8, 2880, 201088, 131072, .source = "OpenAI 2025 (gpt-oss model card), table 1; attention over the whole sequence", .head_dim = 64,
     .traits = QUERY_BIASES, .experts = {.count = 128, .per_token = 4, .ffn = 2880, .every = 1, .biases = true}},
};

// clang-format on
const int transformer_count = sizeof shapes / sizeof *shapes;

const char *transformer_name(int index) {
    CHECK(index >= 0 && index < transformer_count);
    return shapes[index].name;
}

static Model *model_of(Arena *arena, const PublishedShape *shape, unsigned traits) {
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = shape->name,
        .family = shape->family,
        .source = shape->source,
        .kind = MODEL_TRANSFORMER,
        .block_count = shape->layers + 2,
        .layers = shape->layers,
        .hidden = shape->hidden,
        .heads = shape->heads,
        .kv_heads = shape->kv_heads ? shape->kv_heads : shape->heads,
        .head_dim = shape->head_dim ? shape->head_dim : shape->hidden / shape->heads,
        .ffn = shape->ffn ? shape->ffn : 4 * shape->hidden,
        .vocab = shape->vocab,
        .max_positions = shape->max_positions,
        .gated_mlp = traits & GATED,
        .tied_embedding = shape->head == HEAD_AS_FAMILY ? (traits & TIED) != 0 : shape->head == HEAD_IS_EMBEDDING,
        .learned_positions = traits & ABSOLUTE,
        .biases = traits & BIASES,
        .query_biases = traits & QUERY_BIASES,
        .query_norms = traits & QUERY_NORMS,
        .causal = !(traits & ENCODER),
        .rms_norm = traits & PLAIN_NORM,
        .experts = shape->experts,
        .latent = shape->latent,
        .extra_heads = shape->extra_heads,
        .head_share = traits & ENCODER ? MASKED_SHARE : 1,
    };
    return model;
}

const Model *transformer_named(Arena *arena, int index) {
    const PublishedShape *shape = &shapes[index];
    unsigned traits = GATED | PLAIN_NORM;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, shape->family) == 0) traits = families[i].traits;
    return model_of(arena, shape, traits | shape->traits);
}

// ---- Models with an encoder and a decoder: T5 (Raffel et al. 2019), as pretrained: spans of 512 tokens are taken out
// and the decoder writes them, 114 tokens. Norms without means, no biases, positions by relative distance; version 1.1
// has gates and a head of its own. BART (Lewis et al. 2019) and its relatives are as GPT, and write as much as they
// read.

typedef enum PairKind { T5, T5_GATED, BART } PairKind;

typedef struct PairShape {
    const char *name;
    int layers, hidden, heads, head_dim, ffn, vocab; // layers of the encoder; the decoder has as many
    PairKind kind;
} PairShape;

#define T5_WORDS 32128
static const PairShape pair_shapes[] = {
    {"t5-small", 6, 512, 8, 64, 2048, T5_WORDS, T5},
    {"t5-base", 12, 768, 12, 64, 3072, T5_WORDS, T5},
    {"t5-large", 24, 1024, 16, 64, 4096, T5_WORDS, T5},
    {"t5-3b", 24, 1024, 32, 128, 16384, T5_WORDS, T5},
    {"t5-11b", 24, 1024, 128, 128, 65536, T5_WORDS, T5},
    {"t5-v1.1-small", 8, 512, 6, 64, 1024, T5_WORDS, T5_GATED},
    {"t5-v1.1-base", 12, 768, 12, 64, 2048, T5_WORDS, T5_GATED},
    {"t5-v1.1-large", 24, 1024, 16, 64, 2816, T5_WORDS, T5_GATED},
    {"t5-v1.1-xl", 24, 2048, 32, 64, 5120, T5_WORDS, T5_GATED},
    {"t5-v1.1-xxl", 24, 4096, 64, 64, 10240, T5_WORDS, T5_GATED},
    {"mt5-small", 8, 512, 6, 64, 1024, 250112, T5_GATED},
    {"mt5-base", 12, 768, 12, 64, 2048, 250112, T5_GATED},
    {"mt5-large", 24, 1024, 16, 64, 2816, 250112, T5_GATED},
    {"mt5-xl", 24, 2048, 32, 64, 5120, 250112, T5_GATED},
    {"mt5-xxl", 24, 4096, 64, 64, 10240, 250112, T5_GATED},
    {"bart-base", 6, 768, 12, 64, 3072, 50265, BART},
    {"bart-large", 12, 1024, 16, 64, 4096, 50265, BART},
    {"mbart-large", 12, 1024, 16, 64, 4096, 250054, BART},
    {"nllb-200-600m", 12, 1024, 16, 64, 4096, 256206, BART},
    {"m2m100-418m", 12, 1024, 16, 64, 4096, 128112, BART},
    {"pegasus-large", 16, 1024, 16, 64, 4096, 96103, BART},
};
const int encoder_decoder_count = (int)(sizeof pair_shapes / sizeof *pair_shapes);
#define T5_SOURCE_TOKENS 512
#define T5_TARGET_TOKENS 114
#define BART_TOKENS 1024

const char *encoder_decoder_name(int index) {
    CHECK(index >= 0 && index < encoder_decoder_count);
    return pair_shapes[index].name;
}

const Model *encoder_decoder(Arena *arena, int index) {
    CHECK(index >= 0 && index < encoder_decoder_count);
    static const unsigned traits[] = {
        [T5] = TIED | PLAIN_NORM, [T5_GATED] = GATED | PLAIN_NORM, [BART] = TIED | ABSOLUTE | BIASES};
    const PairShape *pair = &pair_shapes[index];
    bool bart = pair->kind == BART;
    PublishedShape shape = {
        .name = pair->name,
        .family = bart ? "bart" : "t5",
        .source = bart ? "Lewis et al. 2019; config.json" : "Raffel et al. 2019, section 3.1 and appendix",
        .layers = 2 * pair->layers,
        .hidden = pair->hidden,
        .heads = pair->heads,
        .head_dim = pair->head_dim,
        .ffn = pair->ffn,
        .vocab = pair->vocab,
        .max_positions = bart ? BART_TOKENS : T5_SOURCE_TOKENS,
    };
    Model *model = model_of(arena, &shape, traits[pair->kind]);
    model->causal = false;
    model->encoder_layers = pair->layers;
    model->target_share = bart ? 1 : (double)T5_TARGET_TOKENS / T5_SOURCE_TOKENS;
    return model;
}

// ---- Vision transformers (ViT; Dosovitskiy et al. 2020): patches of an image are the tokens of an encoder, with one
// more for the class. DeiT (Touvron et al. 2020) without its teacher is the same network.

typedef struct VisionShape {
    const char *name;
    int layers, hidden, heads, ffn, patch;
} VisionShape;

static const VisionShape vision_shapes[] = {
    {"vit-tiny-patch16", 12, 192, 3, 768, 16},     {"vit-small-patch16", 12, 384, 6, 1536, 16},
    {"vit-small-patch32", 12, 384, 6, 1536, 32},   {"vit-base-patch16", 12, 768, 12, 3072, 16},
    {"vit-base-patch32", 12, 768, 12, 3072, 32},   {"vit-large-patch16", 24, 1024, 16, 4096, 16},
    {"vit-large-patch32", 24, 1024, 16, 4096, 32}, {"vit-huge-patch14", 32, 1280, 16, 5120, 14},
    {"vit-giant-patch14", 40, 1408, 16, 6144, 14}, // the same, ViT-g/14
    {"vit-g-patch14", 48, 1664, 16, 8192, 14},     // Zhai et al. 2021, table 2 (ViT-G/14)
};
const int vision_transformer_count = (int)(sizeof vision_shapes / sizeof *vision_shapes);
#define USUAL_IMAGE 224
#define USUAL_CLASSES 1000

const char *vision_transformer_name(int index) {
    CHECK(index >= 0 && index < vision_transformer_count);
    return vision_shapes[index].name;
}

int vision_transformer_index(const char *name) {
    for (int i = 0; i < vision_transformer_count; i++)
        if (strcmp(vision_shapes[i].name, name) == 0) return i;
    return -1;
}

const Model *vision_transformer(Arena *arena, int index, int image_size, int classes) {
    CHECK(index >= 0 && index < vision_transformer_count);
    const VisionShape *shape = &vision_shapes[index];
    if (!image_size) image_size = USUAL_IMAGE;
    if (!classes) classes = USUAL_CLASSES;
    int side = image_size / shape->patch, tokens = side * side + 1;
    PublishedShape published = {.name = shape->name,
                                .family = "vit",
                                .source = "Dosovitskiy et al. 2020",
                                .layers = shape->layers,
                                .hidden = shape->hidden,
                                .heads = shape->heads,
                                .ffn = shape->ffn,
                                .vocab = classes,
                                .max_positions = tokens};
    Model *model = model_of(arena, &published, ABSOLUTE | BIASES | ENCODER);
    model->head_share = 1.0 / tokens;
    model->patch = shape->patch;
    model->image_size = image_size;
    model->classes = classes;
    return model;
}
