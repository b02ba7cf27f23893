// Transformers: the published shapes, and parameters and FLOPs of each block.
#include <string.h>

#include "models/workload/model/model_internal.h"
#include "sim/base/check.h"

typedef struct PublishedShape {
    const char *name, *family, *source;
    int layers, hidden, heads, kv_heads, ffn, vocab, max_positions;
} PublishedShape;

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
#define QWEN3_HEAD_DIM 128 // whatever the width

// One row a model. kv_heads 0: as many as heads; ffn 0: 4 x hidden.
// clang-format off
static const PublishedShape shapes[] = {
    {"gpt2-124m", "gpt", GPT2_SOURCE, 12, 768, 12, 0, 0, 50257, 1024},
    {"gpt2-355m", "gpt", GPT2_SOURCE, 24, 1024, 16, 0, 0, 50257, 1024},
    {"gpt2-774m", "gpt", GPT2_SOURCE, 36, 1280, 20, 0, 0, 50257, 1024},
    {"gpt2-1.5b", "gpt", GPT2_SOURCE, 48, 1600, 25, 0, 0, 50257, 1024},
    {"distilgpt2", "gpt", "Sanh et al. 2019; config.json", 6, 768, 12, 0, 0, 50257, 1024},
    {"gpt3-125m", "gpt", GPT3_SOURCE, 12, 768, 12, 0, 0, 50257, 2048},
    {"gpt3-350m", "gpt", GPT3_SOURCE, 24, 1024, 16, 0, 0, 50257, 2048},
    {"gpt3-760m", "gpt", GPT3_SOURCE, 24, 1536, 16, 0, 0, 50257, 2048},
    {"gpt3-1.3b", "gpt", GPT3_XL_SOURCE, 24, 2048, 16, 0, 0, 50257, 2048},
    {"gpt3-2.7b", "gpt", GPT3_SOURCE, 32, 2560, 32, 0, 0, 50257, 2048},
    {"gpt3-6.7b", "gpt", GPT3_SOURCE, 32, 4096, 32, 0, 0, 50257, 2048},
    {"gpt3-13b", "gpt", GPT3_13B_SOURCE, 40, 5120, 40, 0, 0, 50257, 2048},
    {"gpt3-175b", "gpt", GPT3_SOURCE, 96, 12288, 96, 0, 0, 50257, 2048},
    {"megatron-1.7b", "gpt", SC21_SOURCE, 24, 2304, 24, 0, 0, 51200, 2048},
    {"megatron-3.6b", "gpt", SC21_SOURCE, 30, 3072, 32, 0, 0, 51200, 2048},
    {"megatron-7.5b", "gpt", SC21_SOURCE, 36, 4096, 32, 0, 0, 51200, 2048},
    {"megatron-18.4b", "gpt", SC21_SOURCE, 40, 6144, 48, 0, 0, 51200, 2048},
    {"megatron-22b", "gpt", KORTHIKANTI_SOURCE, 48, 6144, 64, 0, 0, 51200, 2048},
    {"megatron-39.1b", "gpt", SC21_SOURCE, 48, 8192, 64, 0, 0, 51200, 2048},
    {"megatron-76.1b", "gpt", SC21_SOURCE, 60, 10240, 80, 0, 0, 51200, 2048},
    {"megatron-145.6b", "gpt", SC21_SOURCE, 80, 12288, 96, 0, 0, 51200, 2048},
    {"megatron-175b", "gpt", KORTHIKANTI_SOURCE, 96, 12288, 96, 0, 0, 51200, 2048},
    {"megatron-310.1b", "gpt", SC21_SOURCE, 96, 16384, 128, 0, 0, 51200, 2048},
    {"megatron-530b", "gpt", KORTHIKANTI_SOURCE, 105, 20480, 128, 0, 0, 51200, 2048},
    {"megatron-1t", "gpt", KORTHIKANTI_SOURCE, 128, 25600, 160, 0, 0, 51200, 2048},
    {"bert-base", "bert", BERT_SOURCE, 12, 768, 12, 0, 0, 30522, 512},
    {"bert-large", "bert", BERT_SOURCE, 24, 1024, 16, 0, 0, 30522, 512},
    {"distilbert-base", "bert", "Sanh et al. 2019 (DistilBERT); config.json", 6, 768, 12, 0, 0, 30522, 512},
    {"roberta-base", "bert", ROBERTA_SOURCE, 12, 768, 12, 0, 0, 50265, 514},
    {"roberta-large", "bert", ROBERTA_SOURCE, 24, 1024, 16, 0, 0, 50265, 514},
    {"xlm-roberta-base", "bert", "Conneau et al. 2020 (XLM-R), config.json", 12, 768, 12, 0, 0, 250002, 514},
    {"xlm-roberta-large", "bert", "Conneau et al. 2020 (XLM-R), config.json", 24, 1024, 16, 0, 0, 250002, 514},
    {"distilroberta-base", "bert", "Sanh et al. 2019; config.json", 6, 768, 12, 0, 0, 50265, 514},
    {"bert-base-multilingual", "bert", BERT_SOURCE, 12, 768, 12, 0, 0, 119547, 512},
    {"deberta-base", "bert", DEBERTA_SOURCE, 12, 768, 12, 0, 0, 50265, 512},
    {"deberta-large", "bert", DEBERTA_SOURCE, 24, 1024, 16, 0, 0, 50265, 512},
    {"deberta-v2-xlarge", "bert", DEBERTA_SOURCE, 24, 1536, 24, 0, 0, 128100, 512},
    {"deberta-v2-xxlarge", "bert", DEBERTA_SOURCE, 48, 1536, 24, 0, 0, 128100, 512},
    {"deberta-v3-xsmall", "bert", DEBERTA_SOURCE, 12, 384, 6, 0, 0, 128100, 512},
    {"deberta-v3-small", "bert", DEBERTA_SOURCE, 6, 768, 12, 0, 0, 128100, 512},
    {"deberta-v3-base", "bert", DEBERTA_SOURCE, 12, 768, 12, 0, 0, 128100, 512},
    {"deberta-v3-large", "bert", DEBERTA_SOURCE, 24, 1024, 16, 0, 0, 128100, 512},
    {"mpnet-base", "bert", "Song et al. 2020 (MPNet), config.json", 12, 768, 12, 0, 0, 30527, 514},
    {"minilm-l6", "bert", "Wang et al. 2020 (MiniLM), config.json", 6, 384, 12, 0, 0, 30522, 512},
    {"minilm-l12", "bert", "Wang et al. 2020 (MiniLM), config.json", 12, 384, 12, 0, 0, 30522, 512},
    {"llama-2-7b", "llama", LLAMA2_SOURCE, 32, 4096, 32, 0, 11008, 32000, 4096},
    {"llama-2-13b", "llama", LLAMA2_SOURCE, 40, 5120, 40, 0, 13824, 32000, 4096},
    {"llama-2-70b", "llama", LLAMA2_SOURCE, 80, 8192, 64, 8, 28672, 32000, 4096},
    {"llama-3-8b", "llama", LLAMA3_SOURCE, 32, 4096, 32, 8, 14336, 128256, 8192},
    {"llama-3-70b", "llama", LLAMA3_SOURCE, 80, 8192, 64, 8, 28672, 128256, 8192},
    {"llama-3.1-8b", "llama", LLAMA31_SOURCE, 32, 4096, 32, 8, 14336, 128256, 131072},
    {"llama-3.1-70b", "llama", LLAMA31_SOURCE, 80, 8192, 64, 8, 28672, 128256, 131072},
    {"llama-3.1-405b", "llama", LLAMA3_SOURCE, 126, 16384, 128, 8, 53248, 128256, 131072},
    {"llama-33b", "llama", LLAMA1_SOURCE, 60, 6656, 52, 0, 17920, 32000, 2048},
    {"llama-65b", "llama", LLAMA1_SOURCE, 80, 8192, 64, 0, 22016, 32000, 2048},
    {"mistral-7b", "llama", "Jiang et al. 2023 (Mistral 7B), table 1; attention over the whole sequence", 32, 4096, 32, 8, 14336, 32000, 32768},
    {"mistral-large-123b", "llama", "mistralai/Mistral-Large-Instruct-2407, config.json", 88, 12288, 96, 8, 28672, 32768, 131072},
    {"qwen2.5-7b", "qwen2.5", QWEN25_SOURCE, 28, 3584, 28, 4, 18944, 152064, 32768},
    {"qwen2.5-32b", "qwen2.5", QWEN25_SOURCE, 64, 5120, 40, 8, 27648, 152064, 32768},
    {"qwen2.5-72b", "qwen2.5", QWEN25_SOURCE, 80, 8192, 64, 8, 29568, 152064, 32768},
    {"qwen3-8b", "qwen3", QWEN3_SOURCE, 36, 4096, 32, 8, 12288, 151936, 32768},
    {"qwen3-14b", "qwen3", QWEN3_SOURCE, 40, 5120, 40, 8, 17408, 151936, 32768},
    {"qwen3-32b", "qwen3", QWEN3_SOURCE, 64, 5120, 64, 8, 25600, 151936, 32768},
    {"llama-3.2-1b", "llama", LLAMA32_SOURCE, 16, 2048, 32, 8, 8192, 128256, 131072},
    {"llama-3.2-3b", "llama", LLAMA32_SOURCE, 28, 3072, 24, 8, 8192, 128256, 131072},
    {"codellama-7b", "llama", CODELLAMA_SOURCE, 32, 4096, 32, 0, 11008, 32016, 16384},
    {"codellama-13b", "llama", CODELLAMA_SOURCE, 40, 5120, 40, 0, 13824, 32016, 16384},
    {"codellama-34b", "llama", CODELLAMA_SOURCE, 48, 8192, 64, 8, 22016, 32000, 16384},
    {"tinyllama-1.1b", "llama", "Zhang et al. 2024 (TinyLlama), table 1", 22, 2048, 32, 4, 5632, 32000, 2048},
    {"yi-6b", "llama", "01.AI 2024 (Yi), table 2; config.json", 32, 4096, 32, 4, 11008, 64000, 4096},
    {"yi-34b", "llama", "01.AI 2024 (Yi), table 2; config.json", 60, 7168, 56, 8, 20480, 64000, 4096},
    {"deepseek-7b", "llama", "DeepSeek-AI 2024 (DeepSeek LLM), table 2", 30, 4096, 32, 0, 11008, 102400, 4096},
    {"deepseek-coder-6.7b", "llama", DEEPSEEK_CODER_SOURCE, 32, 4096, 32, 0, 11008, 32256, 16384},
    {"deepseek-coder-33b", "llama", DEEPSEEK_CODER_SOURCE, 62, 7168, 56, 8, 19200, 32256, 16384},
    {"deepseek-67b", "llama", "DeepSeek-AI 2024 (DeepSeek LLM), table 2", 95, 8192, 64, 8, 22016, 102400, 4096},
    {"mistral-nemo-12b", "llama", "mistralai/Mistral-Nemo-Base-2407, config.json", 40, 5120, 32, 8, 14336, 131072, 131072},
    {"mistral-small-24b", "llama", "mistralai/Mistral-Small-24B-Base-2501, config.json", 40, 5120, 32, 8, 32768, 131072, 32768},
    {"mistral-small-22b", "llama", "mistralai/Mistral-Small-Instruct-2409, config.json", 56, 6144, 48, 8, 16384, 32768, 32768},
    {"ministral-8b", "llama", "mistralai/Ministral-8B-Instruct-2410, config.json; attention over the whole sequence", 36, 4096, 32, 8, 12288, 131072, 32768},
    {"open-llama-3b", "llama", "Geng and Liu 2023 (OpenLLaMA), config.json", 26, 3200, 32, 0, 8640, 32000, 2048},
    {"solar-10.7b", "llama", "Kim et al. 2023 (SOLAR), config.json", 48, 4096, 32, 8, 14336, 32000, 4096},
    {"yi-9b", "llama", "01.AI 2024 (Yi-9B, Yi-1.5-9B), config.json", 48, 4096, 32, 4, 11008, 64000, 4096},
    {"falcon-3-1b", "llama", FALCON3_SOURCE, 18, 2048, 8, 4, 8192, 131072, 8192},
    {"falcon-3-3b", "llama", FALCON3_SOURCE, 22, 3072, 12, 4, 9216, 131072, 32768},
    {"falcon-3-7b", "llama", FALCON3_SOURCE, 28, 3072, 12, 4, 23040, 131072, 32768},
    {"falcon-3-10b", "llama", FALCON3_SOURCE, 40, 3072, 12, 4, 23040, 131072, 32768},
    {"granite-3-2b", "llama", GRANITE_SOURCE, 40, 2048, 32, 8, 8192, 49155, 131072},
    {"granite-3-8b", "llama", GRANITE_SOURCE, 40, 4096, 32, 8, 12800, 49155, 131072},
    {"stablelm-3b", "llama", "Tow et al. 2023 (StableLM-3B-4E1T), config.json", 32, 2560, 32, 0, 6912, 50304, 4096},
    {"stablelm-2-1.6b", "qwen2.5", STABLELM2_SOURCE, 24, 2048, 32, 0, 5632, 100352, 4096},
    {"stablelm-2-12b", "llama", STABLELM2_SOURCE, 40, 5120, 32, 8, 13824, 100352, 4096},
    {"phi-4-mini", "llama", "Microsoft 2025 (Phi-4-Mini), config.json", 32, 3072, 24, 8, 8192, 200064, 131072},
    {"phi-1.5", "neox", PHI2_SOURCE, 24, 2048, 32, 0, 0, 51200, 2048},
    {"phi-2", "neox", PHI2_SOURCE, 32, 2560, 32, 0, 0, 51200, 2048},
    {"phi-3-mini", "llama", "Abdin et al. 2024 (Phi-3); config.json", 32, 3072, 32, 0, 8192, 32064, 4096},
    {"phi-3-medium", "llama", "Abdin et al. 2024 (Phi-3); config.json", 40, 5120, 40, 10, 17920, 32064, 4096},
    {"phi-4", "llama", "Abdin et al. 2024 (Phi-4); config.json", 40, 5120, 40, 10, 17920, 100352, 16384},
    {"gemma-2b", "llama", GEMMA_SOURCE, 18, 2048, 8, 1, 16384, 256000, 8192},
    {"gemma-7b", "llama", GEMMA_SOURCE, 28, 3072, 16, 0, 24576, 256000, 8192},
    {"gemma-2-2b", "llama", GEMMA2_SOURCE, 26, 2304, 8, 4, 9216, 256000, 8192},
    {"gemma-2-9b", "llama", GEMMA2_SOURCE, 42, 3584, 16, 8, 14336, 256000, 8192},
    {"gemma-2-27b", "llama", GEMMA2_SOURCE, 46, 4608, 32, 16, 36864, 256000, 8192},
    {"gemma-3-270m", "llama", GEMMA3_SOURCE, 18, 640, 4, 1, 2048, 262144, 32768},
    {"gemma-3-1b", "llama", GEMMA3_SOURCE, 26, 1152, 4, 1, 6912, 262144, 32768},
    {"gemma-3-4b", "llama", GEMMA3_SOURCE, 34, 2560, 8, 4, 10240, 262208, 131072},
    {"gemma-3-12b", "llama", GEMMA3_SOURCE, 48, 3840, 16, 8, 15360, 262208, 131072},
    {"gemma-3-27b", "llama", GEMMA3_SOURCE, 62, 5376, 32, 16, 21504, 262208, 131072},
    {"internlm2-7b", "llama", INTERNLM2_SOURCE, 32, 4096, 32, 8, 14336, 92544, 32768},
    {"internlm2-20b", "llama", INTERNLM2_SOURCE, 48, 6144, 48, 8, 16384, 92544, 32768},
    {"baichuan2-7b", "llama", BAICHUAN2_SOURCE, 32, 4096, 32, 0, 11008, 125696, 4096},
    {"baichuan2-13b", "llama", BAICHUAN2_SOURCE, 40, 5120, 40, 0, 13696, 125696, 4096},
    {"chatglm3-6b", "qwen2.5", GLM_SOURCE, 28, 4096, 32, 2, 13696, 65024, 8192},
    {"glm-4-9b", "qwen2.5", GLM_SOURCE, 40, 4096, 32, 2, 13696, 151552, 8192},
    {"olmo-1b", "llama", "Groeneveld et al. 2024 (OLMo), table 1", 16, 2048, 16, 0, 8192, 50304, 2048},
    {"olmo-2-1b", "llama", OLMO2_SOURCE, 16, 2048, 16, 0, 8192, 100352, 4096},
    {"olmo-7b", "llama", "Groeneveld et al. 2024 (OLMo), table 1", 32, 4096, 32, 0, 11008, 50304, 2048},
    {"olmo-2-7b", "llama", OLMO2_SOURCE, 32, 4096, 32, 0, 11008, 100352, 4096},
    {"olmo-2-13b", "llama", OLMO2_SOURCE, 40, 5120, 40, 0, 13824, 100352, 4096},
    {"olmo-2-32b", "llama", OLMO2_SOURCE, 64, 5120, 40, 8, 27648, 100352, 4096},
    {"qwen1.5-7b", "qwen2.5", QWEN15_SOURCE, 32, 4096, 32, 0, 11008, 151936, 32768},
    {"qwen1.5-14b", "qwen2.5", QWEN15_SOURCE, 40, 5120, 40, 0, 13696, 152064, 32768},
    {"qwen1.5-72b", "qwen2.5", QWEN15_SOURCE, 80, 8192, 64, 0, 24576, 152064, 32768},
    {"smollm2-135m", "llama", SMOLLM_SOURCE, 30, 576, 9, 3, 1536, 49152, 8192},
    {"smollm2-360m", "llama", SMOLLM_SOURCE, 32, 960, 15, 5, 2560, 49152, 8192},
    {"smollm2-1.7b", "llama", SMOLLM_SOURCE, 24, 2048, 32, 0, 8192, 49152, 8192},
    {"smollm3-3b", "llama", "HuggingFaceTB/SmolLM3-3B, config.json", 36, 2048, 16, 4, 11008, 128256, 65536},
    {"qwen2.5-0.5b", "qwen2.5", QWEN25_SOURCE, 24, 896, 14, 2, 4864, 151936, 32768},
    {"qwen2.5-1.5b", "qwen2.5", QWEN25_SOURCE, 28, 1536, 12, 2, 8960, 151936, 32768},
    {"qwen2.5-3b", "qwen2.5", QWEN25_SOURCE, 36, 2048, 16, 2, 11008, 151936, 32768},
    {"qwen2.5-14b", "qwen2.5", QWEN25_SOURCE, 48, 5120, 40, 8, 13824, 152064, 32768},
    {"qwen3-0.6b", "qwen3", QWEN3_SOURCE, 28, 1024, 16, 8, 3072, 151936, 32768},
    {"qwen3-1.7b", "qwen3", QWEN3_SOURCE, 28, 2048, 16, 8, 6144, 151936, 32768},
    {"qwen3-4b", "qwen3", QWEN3_SOURCE, 36, 2560, 32, 8, 9728, 151936, 32768},
    {"opt-125m", "gpt", OPT_SOURCE, 12, 768, 12, 0, 0, 50272, 2048},
    {"opt-350m", "gpt", "Zhang et al. 2022 (OPT), table 1; its embedding of 512 is 1024 here", 24, 1024, 16, 0, 0, 50272, 2048},
    {"opt-1.3b", "gpt", OPT_SOURCE, 24, 2048, 32, 0, 0, 50272, 2048},
    {"opt-2.7b", "gpt", OPT_SOURCE, 32, 2560, 32, 0, 0, 50272, 2048},
    {"opt-6.7b", "gpt", OPT_SOURCE, 32, 4096, 32, 0, 0, 50272, 2048},
    {"opt-13b", "gpt", OPT_SOURCE, 40, 5120, 40, 0, 0, 50272, 2048},
    {"opt-30b", "gpt", OPT_SOURCE, 48, 7168, 56, 0, 0, 50272, 2048},
    {"opt-66b", "gpt", OPT_SOURCE, 64, 9216, 72, 0, 0, 50272, 2048},
    {"opt-175b", "gpt", OPT_SOURCE, 96, 12288, 96, 0, 0, 50272, 2048},
    {"gpt-neo-125m", "gpt", GPT_NEO_SOURCE, 12, 768, 12, 0, 0, 50257, 2048},
    {"gpt-neo-1.3b", "gpt", GPT_NEO_SOURCE, 24, 2048, 16, 0, 0, 50257, 2048},
    {"gpt-neo-2.7b", "gpt", GPT_NEO_SOURCE, 32, 2560, 20, 0, 0, 50257, 2048},
    {"starcoderbase-1b", "starcoder", STARCODER_SOURCE, 24, 2048, 16, 1, 0, 49152, 8192},
    {"starcoderbase-3b", "starcoder", STARCODER_SOURCE, 36, 2816, 22, 1, 0, 49152, 8192},
    {"starcoderbase-7b", "starcoder", STARCODER_SOURCE, 42, 4096, 32, 1, 0, 49152, 8192},
    {"starcoder-15b", "starcoder", STARCODER_SOURCE, 40, 6144, 48, 1, 0, 49152, 8192},
    {"starcoder2-3b", "starcoder2", STARCODER2_SOURCE, 30, 3072, 24, 2, 12288, 49152, 16384},
    {"starcoder2-7b", "starcoder2", STARCODER2_SOURCE, 32, 4608, 36, 4, 18432, 49152, 16384},
    {"starcoder2-15b", "starcoder2", STARCODER2_SOURCE, 40, 6144, 48, 4, 24576, 49152, 16384},
    {"bloom-560m", "bloom", BLOOM_SOURCE, 24, 1024, 16, 0, 0, 250880, 2048},
    {"bloom-1b1", "bloom", BLOOM_SOURCE, 24, 1536, 16, 0, 0, 250880, 2048},
    {"bloom-1b7", "bloom", BLOOM_SOURCE, 24, 2048, 16, 0, 0, 250880, 2048},
    {"bloom-3b", "bloom", BLOOM_SOURCE, 30, 2560, 32, 0, 0, 250880, 2048},
    {"bloom-7b1", "bloom", BLOOM_SOURCE, 30, 4096, 32, 0, 0, 250880, 2048},
    {"bloom-176b", "bloom", BLOOM_SOURCE, 70, 14336, 112, 0, 0, 250880, 2048},
    {"pythia-14m", "neox", PYTHIA_SOURCE, 6, 128, 4, 0, 0, 50304, 2048},
    {"pythia-31m", "neox", PYTHIA_SOURCE, 6, 256, 8, 0, 0, 50304, 2048},
    {"pythia-70m", "neox", PYTHIA_SOURCE, 6, 512, 8, 0, 0, 50304, 2048},
    {"pythia-160m", "neox", PYTHIA_SOURCE, 12, 768, 12, 0, 0, 50304, 2048},
    {"pythia-410m", "neox", PYTHIA_SOURCE, 24, 1024, 16, 0, 0, 50304, 2048},
    {"pythia-1b", "neox", PYTHIA_SOURCE, 16, 2048, 8, 0, 0, 50304, 2048},
    {"pythia-1.4b", "neox", PYTHIA_SOURCE, 24, 2048, 16, 0, 0, 50304, 2048},
    {"pythia-2.8b", "neox", PYTHIA_SOURCE, 32, 2560, 32, 0, 0, 50304, 2048},
    {"pythia-6.9b", "neox", PYTHIA_SOURCE, 32, 4096, 32, 0, 0, 50432, 2048},
    {"pythia-12b", "neox", PYTHIA_SOURCE, 36, 5120, 40, 0, 0, 50688, 2048},
    {"gpt-neox-20b", "neox", "Black et al. 2022 (GPT-NeoX-20B), section 2.1; config.json", 44, 6144, 64, 0, 0, 50432, 2048},
    {"gpt-j-6b", "neox", "Wang and Komatsuzaki 2021 (GPT-J), config.json; its parallel attention and MLP one after the other", 28, 4096, 16, 0, 0, 50400, 2048},
    {"codegen-350m", "neox", CODEGEN_SOURCE, 20, 1024, 16, 0, 0, 51200, 2048},
    {"codegen-2b", "neox", CODEGEN_SOURCE, 32, 2560, 32, 0, 0, 51200, 2048},
    {"codegen-6b", "neox", CODEGEN_SOURCE, 33, 4096, 16, 0, 0, 51200, 2048},
    {"codegen-16b", "neox", CODEGEN_SOURCE, 34, 6144, 24, 0, 0, 51200, 2048},
    {"falcon-7b", "falcon", FALCON_SOURCE, 32, 4544, 71, 1, 0, 65024, 2048},
    {"falcon-40b", "falcon", FALCON_SOURCE, 60, 8192, 128, 8, 0, 65024, 2048},
    {"falcon-180b", "falcon", FALCON_SOURCE, 80, 14848, 232, 8, 0, 65024, 2048},
    {"nemotron-4-15b", "nemotron", "Parmar et al. 2024 (Nemotron-4 15B), table 1", 32, 6144, 48, 8, 24576, 256000, 4096},
    {"nemotron-4-340b", "nemotron", "NVIDIA 2024 (Nemotron-4 340B), table 1", 96, 18432, 96, 8, 73728, 256000, 4096},
    {"mpt-7b", "mpt", "MosaicML 2023 (MPT-7B), config.json", 32, 4096, 32, 0, 0, 50432, 2048},
    {"mpt-30b", "mpt", "MosaicML 2023 (MPT-30B), config.json", 48, 7168, 64, 0, 0, 50432, 8192},
};

// Heads of another width than hidden / heads; a head that is the embedding where the family's usually is not.
static const struct {
    const char *name;
    int head_dim;
    bool tied;
} apart[] = {
    {"llama-3.2-1b", 0, true},
    {"llama-3.2-3b", 0, true},
    {"mistral-nemo-12b", 128, false},
    {"mistral-small-24b", 128, false},
    {"gemma-2b", 256, true},
    {"gemma-7b", 256, true},
    {"gemma-2-2b", 256, true},
    {"gemma-2-9b", 256, true},
    {"gemma-2-27b", 128, true},
    {"gemma-3-1b", 256, true},
    {"gemma-3-4b", 256, true},
    {"gemma-3-12b", 256, true},
    {"gemma-3-27b", 128, true},
    {"mistral-small-22b", 128, false},
    {"falcon-3-1b", 256, false},
    {"falcon-3-3b", 256, false},
    {"falcon-3-7b", 256, false},
    {"falcon-3-10b", 256, false},
    {"granite-3-2b", 0, true},
    {"granite-3-8b", 0, true},
    {"phi-4-mini", 0, true},
    {"gemma-3-270m", 256, true},
    {"olmo-1b", 0, true},
    {"smollm2-360m", 0, true},
    {"starcoder2-15b", 0, false},
    {"smollm2-135m", 0, true},
    {"smollm2-1.7b", 0, true},
    {"smollm3-3b", 0, true},
    {"qwen2.5-0.5b", 0, true},
    {"qwen2.5-1.5b", 0, true},
    {"qwen2.5-3b", 0, true},
    {"qwen3-0.6b", 0, true},
    {"qwen3-1.7b", 0, true},
    {"qwen3-4b", 0, true},
    {"falcon-7b", 0, true},
    {"falcon-40b", 0, true},
};
// clang-format on
const int transformer_count = sizeof shapes / sizeof *shapes;

const char *transformer_name(int index) {
    CHECK(index >= 0 && index < transformer_count);
    return shapes[index].name;
}

// Encoders of BERT's kind predict the masked positions only: 20 of 128, 80 of 512 (Devlin et al. 2018, appendix).
#define MASKED_SHARE 0.15625

static bool is_family(const PublishedShape *shape, const char *family) { return strcmp(shape->family, family) == 0; }

const Model *transformer_named(Arena *arena, int index) {
    const PublishedShape *shape = &shapes[index];
    bool mpt = is_family(shape, "mpt"), bert = is_family(shape, "bert"), qwen2 = is_family(shape, "qwen2.5");
    bool bloom = is_family(shape, "bloom"), neox = is_family(shape, "neox");
    bool starcoder2 = is_family(shape, "starcoder2");
    bool gpt = is_family(shape, "gpt") || is_family(shape, "starcoder") || starcoder2 || bert;
    bool qwen3 = is_family(shape, "qwen3"), llama = is_family(shape, "llama") || qwen2 || qwen3;
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
        .head_dim = qwen3 ? QWEN3_HEAD_DIM : shape->hidden / shape->heads,
        .ffn = shape->ffn ? shape->ffn : 4 * shape->hidden,
        .vocab = shape->vocab,
        .max_positions = shape->max_positions,
        .gated_mlp = llama,
        .tied_embedding = gpt || mpt || bloom,
        .learned_positions = gpt && !starcoder2,
        .biases = gpt || bloom || neox,
        .query_biases = qwen2,
        .query_norms = qwen3,
        .causal = !bert,
        .rms_norm = llama || mpt, // MPT's norms have no biases either
        .head_share = bert ? MASKED_SHARE : 1,
    };
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        if (strcmp(apart[i].name, shape->name) != 0) continue;
        if (apart[i].head_dim) model->head_dim = apart[i].head_dim;
        model->tied_embedding = apart[i].tied;
    }
    return model;
}

// ---- A user's own.

static void require_positive(int value, const char *what, const char *example, Where where, Problems *problems) {
    if (value > 0) return;
    problem_add(problems, where, "the model's %s must be at least 1, not %d", what, value);
    problem_hint(problems, "for example %s = %s", what, example);
}

static void require_not_negative(int value, const char *what, Where where, Problems *problems) {
    if (value >= 0) return;
    problem_add(problems, where, "the model's %s cannot be %d", what, value);
    problem_hint(problems, "leave it out for the usual value");
}

static void require_below(int value, int limit, const char *what, Where where, Problems *problems) {
    if (value < limit) return;
    problem_add(problems, where, "the model's %s is %d; at most %d can be worked with", what, value, limit);
}

static void check_shape(const TransformerShape *shape, Where where, Problems *problems) {
    require_positive(shape->layers, "layers", "24", where, problems);
    require_positive(shape->hidden, "hidden", "1024", where, problems);
    require_positive(shape->heads, "heads", "16", where, problems);
    require_not_negative(shape->kv_heads, "kv_heads", where, problems);
    require_not_negative(shape->head_dim, "head_dim", where, problems);
    require_not_negative(shape->ffn, "ffn", where, problems);
    require_not_negative(shape->vocab, "vocab", where, problems);
    require_not_negative(shape->max_positions, "max_positions", where, problems);
    require_below(shape->layers, 100000, "layers", where, problems);
    require_below(shape->hidden, 10000000, "hidden", where, problems);
    require_below(shape->heads, 1000000, "heads", where, problems);
    require_below(shape->head_dim, 1000000, "head_dim", where, problems);

    bool usable = shape->hidden > 0 && shape->heads > 0;
    if (usable && shape->head_dim == 0 && shape->latent.key_rank == 0 && shape->hidden % shape->heads != 0) {
        problem_add(problems, where, "hidden %d does not divide by %d heads", shape->hidden, shape->heads);
        problem_hint(problems, "choose other heads, or say head_dim");
    }
    if (usable && shape->kv_heads > 0 && shape->heads % shape->kv_heads != 0) {
        problem_add(problems, where, "%d heads do not divide by %d kv_heads", shape->heads, shape->kv_heads);
        problem_hint(problems, "each key and value head serves the same number of query heads");
    }
}

static void check_experts(const TransformerShape *shape, Where where, Problems *problems) {
    const ExpertShape *experts = &shape->experts;
    if (experts->count == 0 && (experts->per_token || experts->ffn || experts->shared_ffn || experts->first_dense)) {
        problem_add(problems, where, "a model without experts says what its experts are like");
        problem_hint(problems, "say how many a layer has: experts = 8");
    } else if (experts->count > 0 && (experts->per_token < 1 || experts->per_token > experts->count)) {
        problem_add(problems, where, "a token takes %d experts, but a layer has %d", experts->per_token,
                    experts->count);
        problem_hint(problems, "say experts_per_token, from 1 to %d", experts->count);
    } else if (experts->count > 0 && experts->first_dense >= shape->layers) {
        problem_add(problems, where, "the first %d layers are dense, and there are %d", experts->first_dense,
                    shape->layers);
        problem_hint(problems, "leave dense_layers out, or experts");
    }
}

// Defaults of latent attention are DeepSeek-V3's (DeepSeek-AI 2024, section 4.2).
static LatentShape usual_latent(LatentShape latent) {
    if (latent.key_rank == 0) return latent;
    if (latent.plain_dim == 0) latent.plain_dim = 128;
    if (latent.rotary_dim == 0) latent.rotary_dim = 64;
    if (latent.value_dim == 0) latent.value_dim = 128;
    return latent;
}

static void check_latent(const TransformerShape *shape, Where where, Problems *problems) {
    LatentShape latent = usual_latent(shape->latent);
    const int *sizes[] = {&latent.query_rank, &latent.key_rank, &latent.plain_dim, &latent.rotary_dim,
                          &latent.value_dim};
    static const char *const names[] = {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
                                        "v_head_dim"};
    bool said = false;
    for (int i = 0; i < 5; i++) {
        require_not_negative(*sizes[i], names[i], where, problems);
        require_below(*sizes[i], 1000000, names[i], where, problems);
        said = said || *sizes[i] > 0;
    }
    int width = latent.plain_dim + latent.rotary_dim;
    if (shape->extra_heads < 0 || shape->extra_heads > 1) {
        problem_add(problems, where, "%d layers predict tokens further on", shape->extra_heads);
        problem_hint(problems, "at most 1 is known: mtp_layers = 1");
    }
    if (said && latent.key_rank == 0) {
        problem_add(problems, where, "sizes of latent attention are said, and not the rank of its keys");
        problem_hint(problems, "say kv_lora_rank = 512, or leave them out");
    } else if (said && ((shape->kv_heads && shape->kv_heads != shape->heads) ||
                        (shape->head_dim && shape->head_dim != width))) {
        problem_add(problems, where, "latent attention has a key of %d for each of the %d heads", width, shape->heads);
        problem_hint(problems, "leave kv_heads and head_dim out");
    }
}

static ExpertShape usual_experts(const TransformerShape *shape) {
    ExpertShape experts = shape->experts;
    if (experts.count == 0) return (ExpertShape){0};
    if (experts.ffn == 0) experts.ffn = shape->ffn ? shape->ffn : 4 * shape->hidden;
    if (experts.every == 0) experts.every = 1;
    return experts;
}

const Model *model_transformer(Arena *arena, const TransformerShape *shape, Where where, Problems *problems) {
    int problems_before = problems_added(problems);
    check_shape(shape, where, problems);
    check_experts(shape, where, problems);
    check_latent(shape, where, problems);
    if (problems_added(problems) > problems_before) return NULL;

    LatentShape latent = usual_latent(shape->latent);
    int width = latent.key_rank ? latent.plain_dim + latent.rotary_dim : shape->head_dim;
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = shape->name ? arena_copy_text(arena, shape->name) : "transformer",
        .family = shape->rms_norm ? "llama"
                  : shape->causal ? "gpt"
                                  : "bert",
        .source = "as given",
        .kind = MODEL_TRANSFORMER,
        .block_count = shape->layers + 2,
        .layers = shape->layers,
        .hidden = shape->hidden,
        .heads = shape->heads,
        .kv_heads = shape->kv_heads ? shape->kv_heads : shape->heads,
        .head_dim = width ? width : shape->hidden / shape->heads,
        .ffn = shape->ffn ? shape->ffn : 4 * shape->hidden,
        .vocab = shape->vocab ? shape->vocab : 51200, // GPT-2's 50257 as Megatron pads it
        .max_positions = shape->max_positions ? shape->max_positions : 2048,
        .gated_mlp = shape->gated_mlp,
        .tied_embedding = !shape->untied_embedding,
        .learned_positions = !shape->rms_norm,
        .biases = !shape->rms_norm,
        .causal = shape->causal,
        .rms_norm = shape->rms_norm,
        .query_norms = shape->query_norms,
        .experts = usual_experts(shape),
        .latent = latent,
        .extra_heads = shape->extra_heads,
        .head_share = shape->causal ? 1 : MASKED_SHARE,
    };
    return model;
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
    const PairShape *shape = &pair_shapes[index];
    bool bart = shape->kind == BART;
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = shape->name,
        .family = bart ? "bart" : "t5",
        .source = bart ? "Lewis et al. 2019; config.json" : "Raffel et al. 2019, section 3.1 and appendix",
        .kind = MODEL_TRANSFORMER,
        .block_count = 2 * shape->layers + 2,
        .layers = 2 * shape->layers,
        .hidden = shape->hidden,
        .heads = shape->heads,
        .kv_heads = shape->heads,
        .head_dim = shape->head_dim,
        .ffn = shape->ffn,
        .vocab = shape->vocab,
        .max_positions = bart ? BART_TOKENS : T5_SOURCE_TOKENS,
        .gated_mlp = shape->kind == T5_GATED,
        .tied_embedding = shape->kind != T5_GATED,
        .learned_positions = bart,
        .biases = bart,
        .rms_norm = !bart,
        .head_share = 1,
        .encoder_layers = shape->layers,
        .target_share = bart ? 1 : (double)T5_TARGET_TOKENS / T5_SOURCE_TOKENS,
    };
    return model;
}
