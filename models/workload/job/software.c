// The rules: properties of each library by version and date, never per model or per measured row. Three were chosen
// by a family's residuals, not by reading its source: DeepSpeed's 24 bytes per parameter, FlashAttention-2 in NeMo
// before 24.04, and recomputation that stops early in Composer.
#include "models/workload/job/software.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"

#define KEPT (-1)          // keeps the value of earlier rules
#define EVERYTHING (~0ull) // a library of its own: replaces all earlier rules
#define LONGEST_WORD 64
#define HOROVOD_CYCLE 5e-3  // HOROVOD_CYCLE_TIME's default until 2020
#define LOSS_CHUNKS 8       // torchtune's
#define HOST_DECODING 120.0 // JPEGs of ImageNet per second and core: hosts of 2017 to 2020 gave 6,900 to 7,700 in all
#define LATEST 2026.5       // of the rules
#define TORCH_VERSION_WITHIN 32 // letters after its name
#define YEARS_AFTER_GPU 3       // the middle of the years in which most is published of a type of GPU

// clang-format off
static const SoftwareRule rules[] = {
    // word, also, unless, since, until, framework, attention, adds, drops, bucket, accumulation, because
    {"", 0, 0, 0, 0, FRAMEWORK_EAGER, ATTENTION_PLAIN, OVERLAPS_GRADIENTS, 0, 0, 0,
     "an unknown framework: as eager PyTorch"},
    {"pytorch|torchtitan|torchtune|fsdp|yafsdp|lightning|litgpt|deepspeed|detectron|timm|kempner", 0, 0, 0, 0, FRAMEWORK_EAGER, KEPT, KEEPS_ACTIVATIONS, 0, 0, 0,
     "PyTorch runs eagerly; DDP overlaps fp32 gradients; nothing is recomputed unless asked for"},
    {"hf |hugging|transformers|accelerate|peft|axolotl|llama factory|unsloth", 0, 0, 0, 0, FRAMEWORK_EAGER, KEPT, KEEPS_ACTIVATIONS | COMPOSES_MODULES | WHOLE_HEAD | LOOPS_EXPERTS, 0, 0, 0,
     "Hugging Face models run eagerly, GPT-2's GELU operator by operator, and give logits at every position"},
    {"hf |hugging|transformers", "deepspeed|peft", 0, 0, 0, KEPT, KEPT, HOOKS_MODULES | CASTS_MODEL | ADAPTS_EVERYWHERE, 0, 0, 0,
     "Hugging Face models under DeepSpeed or PEFT: in 16 bits, adapters beside every product, hooks in Python around every module with ZeRO 3"},
    {"deeplearningexamples", "pytorch", 0, 0, 0, KEPT, KEPT, CASTS_MODEL, 0, 0, 0,
     "NVIDIA's examples for PyTorch: apex's O2, a model cast to 16 bits"},
    {"torchtitan", 0, 0, 0, 0, KEPT, KEPT, REDUCES_IN_FP32, 0, 0, 0,
     "torchtitan reduces gradients in 32 bits (mixed_precision_reduce, its default)"},
    {"torchtune", 0, 0, 0, 0, KEPT, KEPT, CHUNKS_LOSS | COMPOSES_MODULES, 0, 0, 0,
     "torchtune: the loss in 8 parts (modules/loss/cross_entropy.py, default since 0.4)"},
    {"kempnerforge", 0, 0, 0, 0, KEPT, KEPT, REDUCES_IN_FP32 | WHOLE_16_BITS | GATHERS_LOGITS, KEEPS_ACTIVATIONS, 0, 0,
     "KempnerForge: FSDP2 with weights and Adam's state in bf16, logits gathered by tensor-parallel ranks"},
    {"readme of deeplearningexamples", 0, 0, 0, 0, KEPT, KEPT, CHANNELS_LAST, 0, 0, 0,
     "NVIDIA's examples of 2018 to 2022: channels last in 16 bits"},
    {"torchtitan|torchtune|fsdp|yafsdp|lightning|litgpt|kempner", 0, 0, 2023.8, 0, KEPT, KEPT, STOPS_RECOMPUTING, 0, 0, 0,
     "checkpoints of PyTorch 2.1 without re-entry, which these use, stop once all that backward needs is there"},
    {"train steps", 0, 0, 0, 0, KEPT, ATTENTION_PLAIN, STOPS_RECOMPUTING | WHOLE_HEAD | FUSES_OPTIMIZER, KEEPS_ACTIVATIONS, 0, 0,
     "calibrate/gpu/bench/train_steps.py: eager PyTorch, logits at every position, checkpoints that stop early, fused AdamW"},
    {"liger|swiglu", 0, 0, 0, 0, KEPT, KEPT, FUSES_NORMS | FUSES_GATES, 0, 0, 0,
     "Liger's kernels, or others like them: RMSNorm, rotary embedding and SwiGLU are one each"},
    {"fsdp", 0, "fsdp2|torchtitan|kempner|yafsdp|deepspeed", 0, 0, KEPT, KEPT, HOLDS_INPUTS, 0, 0, 0,
     "FSDP of PyTorch before its second form: hooks on the inputs of layers whose weights are frozen"},
    {"torchtitan|torchtune|litgpt|kempner|ngc|readme of deeplearningexamples|apex|deepspeed|fused adamw|fused adam|adamw fused", 0, 0, 0, 0, KEPT, KEPT, FUSES_OPTIMIZER, 0, 0, 0,
     "fused optimizers: PyTorch's where the recipe asks for it, apex's in NVIDIA's examples and DeepSpeed"},
    {"", 0, 0, 2025.1, 0, KEPT, KEPT, TUNES_PRODUCTS, 0, 0, 0,
     "cuBLAS since CUDA 12.8, of PyTorch 2.7 and 2025, takes Hopper's own kernels for plain products"},
    {"hf |hugging|transformers", 0, 0, 2025.9, 0, KEPT, KEPT, 0, LOOPS_EXPERTS, 0, 0,
     "transformers 5, of the end of 2025: experts by grouped products"},
    {"trainer", "hf |hugging|transformers", 0, 2025.6, 0, KEPT, KEPT, FUSES_OPTIMIZER, 0, 0, 0,
     "the Trainer of transformers since 4.56, of August 2025: fused AdamW"},
    {"qlora", 0, 0, 0, 0, KEPT, KEPT, ADAPTS_EVERYWHERE | CASTS_MODEL | COMPOSES_MODULES, KEEPS_ACTIVATIONS, 0, 0,
     "QLoRA: a model in 16 bits, adapters beside every product (Dettmers et al. 2023)"},
    {"compiled|torch.compile", 0, "compiled from", 0, 0, FRAMEWORK_GRAPH, KEPT, FUSES_LOSS, 0, 0, 0,
     "torch.compile: the loss is a part of the graph, its logits and their gradients stay in 16 bits"},
    {"torchtitan|fsdp", 0, 0, 0, 0, KEPT, KEPT, 0, FUSES_LOSS, 0, 0,
     "what FSDP wraps is compiled block by block: the loss runs operator by operator"},
    {"torchtitan", "compiled|torch.compile", 0, 2025.2, 0, KEPT, KEPT, FUSES_LOSS, 0, 0, 0,
     "torchtitan compiles its loss, too (since spring 2025)"},
    {"oneflow|libai", 0, 0, 0, 0, FRAMEWORK_OPERATORS, ATTENTION_PLAIN, OVERLAPS_GRADIENTS | TUNES_IMAGES | WAITS_FOR_TENSOR, EVERYTHING, 0, 0,
     "OneFlow runs a graph of operators; batch norm, sums and ReLU are fused, NHWC"},
    {"libai|oneflow-gpt", 0, 0, 0, 0, FRAMEWORK_TUNED, KEPT, 0, 0, 0, 0,
     "OneFlow since 2021 compiles the graph: scale, mask, softmax and dropout are one kernel"},
    {"mxnet", 0, 0, 0, 0, FRAMEWORK_OPERATORS, ATTENTION_PLAIN, OVERLAPS_GRADIENTS | HOST_DECODES, EVERYTHING, 0, 0,
     "MXNet as released: a graph of operators, NCHW, images decoded by the host"},
    {"mxnet", "ngc|readme of deeplearningexamples", 0, 0, 0, FRAMEWORK_TUNED, KEPT, NEGOTIATES, HOST_DECODES, 0, 0,
     "NVIDIA's MXNet: fused batch norm, NHWC, 16-bit gradients through Horovod"},
    {"parameter server", 0, 0, 0, 0, KEPT, KEPT, PARAMETER_SERVERS, HOST_DECODES, 0, 0,
     "MXNet before Horovod: dist_device_sync, while backward runs"},
    {"tensorflow", 0, 0, 0, 0, FRAMEWORK_TENSORFLOW, ATTENTION_PLAIN, OVERLAPS_GRADIENTS | KEEPS_ACTIVATIONS | HOST_DECODES, EVERYTHING, 0, 0,
     "TensorFlow runs a graph; NCCL overlaps gradients; images decoded by the host"},
    {"paddle", 0, 0, 0, 0, FRAMEWORK_GRAPH, ATTENTION_PLAIN, OVERLAPS_GRADIENTS | KEEPS_ACTIVATIONS, EVERYTHING, 0, 0,
     "PaddlePaddle runs a graph"},
    {"tensorflow 1|paddle", 0, "xla|readme of", 0, 2021, FRAMEWORK_COMPOSED, KEPT, HOST_DECODES | NEGOTIATES, 0, 0, 0,
     "graphs before 2021 without XLA: norms and GELU from elementary kernels in 32 bits; images decoded by the host"},
    {"jax|pax|maxtext", 0, 0, 0, 0, FRAMEWORK_GRAPH, ATTENTION_PLAIN, OVERLAPS_GRADIENTS | TUNES_PRODUCTS, EVERYTHING, 0, 0,
     "JAX compiles through XLA, which finds kernels of products by timing them: plain attention"},
    {"megatron|nemo", 0, 0, 0, 0, FRAMEWORK_MEGATRON, ATTENTION_PLAIN, INTERLEAVES | WAITS_FOR_TENSOR | SCATTERS_STAGES, EVERYTHING, 0, 0,
     "Megatron-LM of 2020 to 2022: plain attention, 16-bit gradients after backward"},
    {"megatron|nemo", 0, "deepspeed", 2022.3, 0, KEPT, KEPT, SLICES_SEQUENCE, SCATTERS_STAGES | WAITS_FOR_TENSOR, 0, 0,
     "Megatron-LM since May 2022 (Korthikanti et al.): tensor-parallel traffic in slices, of backward beside products"},
    {"megatron-deepspeed", 0, 0, 0, 0, KEPT, ATTENTION_PLAIN, WAITS_FOR_TENSOR | ADDS_IN_32_BITS, INTERLEAVES, 0, 24,
     "Megatron-DeepSpeed: plain attention; its ZeRO copies gradients into buckets every micro-batch"},
    {"deepspeed", 0, "lightning", 0, 0, KEPT, KEPT, CASTS_MODEL, 0, 0, 0,
     "DeepSpeed's engine casts the model to 16 bits"},
    {"deepspeed", 0, 0, 0, 0, KEPT, KEPT, SHARDS_OPTIMIZER, 0, 0, 0,
     "DeepSpeed is taken for ZeRO: its first stage unless another is said"},
    {"megatron-core|megatron-bridge|nemo", 0, 0, 0, 0, FRAMEWORK_MEGATRON, KEPT, OVERLAPS_GRADIENTS | OVERLAPS_PARAMETERS | REDUCES_IN_FP32 | SLICES_SEQUENCE | INTERLEAVES, EVERYTHING, 40e6, 0,
     "Megatron-Core: overlapped fp32 gradient reduction, sequence parallel"},
    {"megatron-bridge|nemo", 0, 0, 0, 0, KEPT, KEPT, OVERLAPS_TENSOR | FUSES_LOSS | KEEPS_ACTIVATIONS | SHARDS_OPTIMIZER, REDUCES_IN_FP32, 0, 0,
     "NeMo since 2023: flash attention, overlapped 16-bit gradient reduction and tensor-parallel traffic"},
    {"megatron-bridge", 0, 0, 2026.4, 0, KEPT, KEPT, FUSES_DISPATCH | USES_CUDA_GRAPHS, 0, 0, 0,
     "Megatron-Bridge since June 2026: experts exchanged by fused kernels"},
    {"nemo of mlperf", 0, 0, 2026, 0, KEPT, KEPT, USES_CUDA_GRAPHS | FUSES_DISPATCH, 0, 0, 0,
     "MLPerf's NeMo of 2026: whole iterations as CUDA graphs (configurations full_cg), experts by HybridEP"},
    {"", 0, "megatron-deepspeed|deeplearningexamples|tensorflow|mxnet|paddle|jax|pax", 2023, 0, KEPT, ATTENTION_FLASH_2, 0, 0, 0, 0,
     "FlashAttention-2, of 2023, in PyTorch and Megatron unless something else is asked for"},
    {"hf |hugging|transformers|trainer", 0, "flash", 0, 2024, KEPT, ATTENTION_PLAIN, 0, 0, 0, 0,
     "transformers before 4.36, of the end of 2023: plain attention"},
    {"megatron|nemo|jax|pax|maxtext", 0, "deepspeed", 2024.25, 0, KEPT, ATTENTION_FLASH, 0, 0, 0, 0, "cuDNN 9's attention and FlashAttention-3, of 2024"},
    {"pytorch|hf |hugging|transformers|timm|torchvision|lightning|fsdp", 0, "flash|xformers|megatron|nemo", 2025.4, 0, KEPT, ATTENTION_FLASH, 0, 0, 0, 0,
     "PyTorch since 2.8 puts cuDNN's attention first on Hopper and Blackwell's servers (check_prefer_cudnn_attention)"},
    {"composer", 0, 0, 0, 0, FRAMEWORK_FUSED, ATTENTION_FLASH_1, OVERLAPS_GRADIENTS | STOPS_RECOMPUTING, EVERYTHING, 0, 0,
     "Composer with MPT: eager with fused norms, the Triton flash attention of 2022 and 2023"},
    {"flash-attn", 0, "hf |hugging|transformers", 0, 0, FRAMEWORK_MEGATRON, ATTENTION_FLASH_1, OVERLAPS_GRADIENTS | FUSES_LOSS, EVERYTHING, 0, 0,
     "fused layers and flash attention"},
    {"internevo", 0, 0, 0, 0, FRAMEWORK_EAGER, ATTENTION_FLASH, OVERLAPS_GRADIENTS | CASTS_MODEL | FUSES_NORMS, EVERYTHING, 5e8, 0,
     "InternEvo: flash attention, RMSNorm of apex, rotary embedding of flash-attn, eager SwiGLU, overlapped 16-bit ZeRO-1"},
    {"llm.c", 0, 0, 0, 0, FRAMEWORK_TUNED, ATTENTION_FLASH, OVERLAPS_GRADIENTS, EVERYTHING, 0, 0,
     "llm.c: fused CUDA kernels, cuDNN flash attention, 16-bit gradients"},
    {"mlperf", 0, "nemo of mlperf", 0, 0, FRAMEWORK_TUNED, ATTENTION_FLASH, OVERLAPS_GRADIENTS | SLICES_SEQUENCE | INTERLEAVES, EVERYTHING, 0, 0,
     "MLPerf submissions are tuned: fused kernels, NHWC, CUDA graphs, 16-bit gradients"},
};
// clang-format on
#define RULES ((int)(sizeof rules / sizeof *rules))
_Static_assert(RULES <= SOFTWARE_RULES_MOST, "a bit for each rule");

#define ZERO(a) (1u << (a))
#define ANY_ZERO (ZERO(0) | ZERO(1) | ZERO(2) | ZERO(3))
#define ORDER(a) (1u << SCHEDULE_##a)
#define INTERLEAVED (ORDER(1F1B) | ORDER(INTERLEAVED))
#define SPLITS_ALL (SPLITS_PRODUCTS | SPLITS_LAYERS | SPLITS_STAGES | SPLITS_SEQUENCES | SPLITS_EXPERTS)
#define HUGGING_FACE "hf |hugging|transformers|accelerate|peft|axolotl|llama factory|qlora"

// The first match, from each software's documentation of 2025. Software not listed can have any layout.
// clang-format off
static const SoftwareReach reaches[] = {
    {"megatron-deepspeed", 0, 0, 0, SPLITS_PRODUCTS | SPLITS_LAYERS | SPLITS_EXPERTS, ANY_ZERO,
     ORDER(1F1B), "tensor parallel, a pipeline that does not interleave, experts, ZeRO"},
    {"megatron|nemo", 0, 0, 2023.8, SPLITS_ALL | SPLITS_EVENLY, ZERO(0) | ZERO(1),
     INTERLEAVED, "tensor parallel, an interleaved pipeline, context, experts, a distributed optimizer (ZeRO 1)"},
    {"megatron|nemo", 0, 0, 0, (SPLITS_ALL & ~SPLITS_SEQUENCES) | SPLITS_EVENLY, ZERO(0) | ZERO(1),
     INTERLEAVED, "tensor parallel, an interleaved pipeline, experts, a distributed optimizer (ZeRO 1)"},
    {"torchtitan|kempner", 0, 0, 0, SPLITS_ALL, ZERO(0) | ZERO(2) | ZERO(3),
     INTERLEAVED | ORDER(GPIPE) | ORDER(ZB_V), "tensor parallel, an interleaved pipeline, context, experts, FSDP (ZeRO 3 or 2)"},
    {"torchtune", 0, 0, 0, SPLITS_PRODUCTS, ZERO(2) | ZERO(3), 0, "tensor parallel, FSDP (ZeRO 3 or 2)"},
    {"unsloth", 0, 0, 0, 0, ZERO(0), 0, "replicas (DDP)"},
    {HUGGING_FACE "|lightning|litgpt|composer", "fsdp|yafsdp|fsdp2", "deepspeed", 0, 0, ZERO(2) | ZERO(3), 0, "FSDP (ZeRO 3 or 2)"},
    {HUGGING_FACE "|lightning", 0, 0, 0, 0, ANY_ZERO, 0, "replicas (DDP), DeepSpeed's ZeRO or FSDP"},
    {"litgpt|composer", 0, 0, 0, 0, ZERO(0) | ZERO(2) | ZERO(3), 0, "replicas (DDP) or FSDP (ZeRO 3 or 2)"},
    {"deepspeed", 0, 0, 0, SPLITS_LAYERS | SPLITS_EXPERTS, ANY_ZERO, ORDER(1F1B), "a pipeline that does not interleave, experts, ZeRO"},
    {"fsdp|yafsdp", 0, 0, 0, 0, ZERO(2) | ZERO(3), 0, "FSDP (ZeRO 3 or 2)"},
    {"timm|detectron|tensorflow|mxnet|parameter server", 0, "mlperf", 0, 0, ZERO(0), 0, "replicas"},
    {"llm.c", 0, 0, 0, 0, ZERO(0) | ZERO(1), 0, "replicas, ZeRO 1"},
    {"internevo", 0, 0, 0, SPLITS_PRODUCTS | SPLITS_LAYERS | SPLITS_STAGES, ZERO(0) | ZERO(1),
     INTERLEAVED | ORDER(ZB_H1) | ORDER(ZB_V), "tensor parallel, an interleaved pipeline, ZeRO 1"},
    {"oneflow|libai", 0, 0, 0, SPLITS_PRODUCTS | SPLITS_LAYERS, ZERO(0) | ZERO(1) | ZERO(2),
     ORDER(1F1B), "tensor parallel, a pipeline that does not interleave, ZeRO 1 or 2"},
};
// clang-format on

// How a run was made or published rather than what made it: known even when the framework is not.
static const char *const properties[] = {"", "compiled|torch.compile", "qlora", "mlperf",
                                         "readme of deeplearningexamples"};

// Software that is a whole training program, or its makers' benchmark: they wrote and tuned the loop. Around a
// library (PyTorch, Hugging Face, DeepSpeed, TensorFlow, JAX) the loop is custom, and "own" states that.
#define TUNED_CODE                                                                                                     \
    "megatron|nemo|maxtext|pax|t5x|composer|llm.c|internevo|torchtitan|torchtune|yafsdp|libai|oneflow gpt|"            \
    "flash attn training|timm benchmark|tf cnn benchmarks|deeplearningexamples|mlperf|train steps"
#define TUNED_PROPERTIES "deeplearningexamples|mlperf" // known even when the framework is not
#define OWN_CODE "own"

// What most use where the framework is not known; the first that fits.
typedef struct Usual {
    bool splits; // layers, or has experts
    double until;
    const char *word;
    uint64_t adds;
} Usual;
static const Usual usual[] = {
    {true, 2023, "megatron", 0},
    {true, 0, "megatron-core", SHARDS_OPTIMIZER | KEEPS_ACTIVATIONS},
    {false, 0, "pytorch", FUSES_NORMS},
};

// Megatron-Core's defaults that other software does not share: DDP, FSDP, DeepSpeed, Composer and NeMo reduce gradients
// in the precision that backward leaves them in.
#define OWN_OF_MEGATRON_CORE (OVERLAPS_PARAMETERS | REDUCES_IN_FP32)

// ---- Words.

// Whatever the case; "-" and "_" are blanks.
static char folded(char letter) { return letter == '-' || letter == '_' ? ' ' : (char)tolower((unsigned char)letter); }

// How much of the text the word, which ends at "|", begins; 0: it does not.
static int begins(const char *text, const char *word) {
    int length = 0;
    for (; *word && *word != '|'; word++, text++, length++) {
        bool is_last = word[1] == '|' || word[1] == '\0';
        if (*word == ' ' && !*text && is_last && length > 0) return length; // "hf " is said at the end too
        if (folded(*text) != folded(*word)) return 0;
    }
    return length;
}

static const char *next_word(const char *words) {
    const char *end = strchr(words, '|');
    return end ? end + 1 : NULL;
}

// Words that others are made of: Hugging Face, kempnerforge, paxml, paddlepaddle.
static bool is_beginning(const char *word) {
    static const char *const beginnings[] = {"hugging", "kempner", "pax", "paddle"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if ((size_t)begins(beginnings[i], word) == strlen(beginnings[i])) return true;
    return false;
}

// Whether the word occurs by itself or before a version ("nemo24.07"), not within another ("nemoo").
static bool stands_in(const char *text, const char *word) {
    for (const char *at = text; *at; at++) {
        int length = begins(at, word);
        bool starts = at == text || !isalnum((unsigned char)at[-1]);
        if (!length || !starts) continue;
        if (is_beginning(word) || !isalnum((unsigned char)word[length - 1]) || !isalpha((unsigned char)at[length]))
            return true;
    }
    return false;
}

// The first of the words that the text has, or NULL.
static const char *found(const char *text, const char *words) {
    if (!*words) return words;
    for (const char *word = words; word; word = next_word(word))
        if (stands_in(text, word)) return word;
    return NULL;
}

static const char *alone(Arena *arena, const char *word) {
    int length = (int)strcspn(word, "|");
    while (length > 0 && word[length - 1] == ' ') length--;
    return arena_printf(arena, "%.*s", length, word);
}

// ---- Dates.

static bool apart(const char *text, const char *at, const char *end) {
    bool begins_there = at == text || (!isdigit((unsigned char)at[-1]) && at[-1] != '.');
    return begins_there && !isdigit((unsigned char)*end);
}

static int digits(const char *at, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)at[i])) return -1;
        value = 10 * value + at[i] - '0';
    }
    return value;
}

static double month_after(const char *at, char mark) {
    int month = at[0] == mark ? digits(at + 1, 2) : -1;
    return month >= 1 && month <= 12 ? (month - 1) / 12.0 : 0;
}

// PyTorch 1.0 is of the end of 2018, 2.0 of March 2023, with 3.4 and 3.6 minor versions a year since.
static double torch_year(const char *text) {
    const char *end = text; // of a possible version of the last name
    for (const char *at = text; *at; at++) {
        if (begins(at, "torch")) end = at + TORCH_VERSION_WITHIN;
        if (begins(at, "nccl")) end = at;
        bool version = at < end && (*at == '1' || *at == '2') && at[1] == '.' && isdigit((unsigned char)at[2]);
        if (!version || isalnum((unsigned char)at[-1]) || at[-1] == '.') continue;
        int minor = atoi(at + 2);
        return *at == '1' ? 2018.9 + minor / 3.4 : 2023.2 + minor / 3.6;
    }
    return 0;
}

double software_year(const char *text) {
    for (const char *at = text; *at; at++) {
        int year = digits(at, 4), container = digits(at, 2);
        bool word_begins = at == text || !isalnum((unsigned char)at[-1]); // not inside a commit's name
        if (year >= 2015 && year < 2040 && word_begins && apart(text, at, at + 4))
            return year + month_after(at + 4, '-');
        bool dotted = container >= 17 && container < 40 && at[2] == '.' && digits(at + 3, 2) >= 1 &&
                      digits(at + 3, 2) <= 12 && apart(text, at, at + 5);
        if (dotted) return 2000 + container + month_after(at + 2, '.');
    }
    return torch_year(text);
}

// ---- Rules.

static bool is_property(const SoftwareRule *rule) {
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        if (strcmp(rule->word, properties[i]) == 0) return true;
    return false;
}

static bool fits(const SoftwareRule *rule, const char *text, double year) {
    return found(text, rule->word) && (!rule->also || found(text, rule->also)) &&
           !(rule->unless && found(text, rule->unless)) && year >= rule->since &&
           !(rule->until > 0 && year >= rule->until);
}

static const SoftwareReach *reach_of(const char *text, double year) {
    for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++) {
        const SoftwareReach *row = &reaches[i];
        bool all = found(text, row->word) && (!row->also || found(text, row->also));
        if (all && !(row->unless && found(text, row->unless)) && year >= row->since) return row;
    }
    return NULL;
}

bool software_starts(const Software *software, const char *field, int value) {
    static const struct {
        const char *field;
        SoftwareSplit split;
    } splits[] = {{"tp", SPLITS_PRODUCTS},
                  {"pp", SPLITS_LAYERS},
                  {"vpp", SPLITS_STAGES},
                  {"cp", SPLITS_SEQUENCES},
                  {"ep", SPLITS_EXPERTS}};
    const SoftwareReach *reach = software ? software->reach : NULL;
    if (!reach) return true;
    if (strcmp(field, "zero") == 0) return reach->zero >> value & 1;
    if (strcmp(field, "schedule") == 0) return reach->schedules >> value & 1;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        if (strcmp(field, splits[i].field) == 0) return value <= 1 || (reach->splits & splits[i].split) != 0;
    return true;
}

bool software_divides(const Software *software, int layers, int pp, int vpp) {
    bool even = software && software->reach && (software->reach->splits & SPLITS_EVENLY);
    return !even || pp <= 1 || layers % (pp * (vpp > 1 ? vpp : 1)) == 0;
}

static void apply(Software *software, const SoftwareRule *rule) {
    if (rule->framework != KEPT) software->framework = (Framework)rule->framework;
    if (rule->attention != KEPT) software->attention = (Attention)rule->attention;
    if (rule->drops == EVERYTHING) software->bucket_parameters = software->sharded_accumulation_bytes = 0;
    software->traits = (software->traits & ~rule->drops) | rule->adds;
    if (rule->bucket_parameters > 0) software->bucket_parameters = rule->bucket_parameters;
    if (rule->sharded_accumulation_bytes > 0) software->sharded_accumulation_bytes = rule->sharded_accumulation_bytes;
}

static const Usual *usual_for(const SoftwareQuery *query, double year) {
    bool splits = query->splits_layers || (query->model && query->model->experts.count > 0);
    const Usual *row = usual;
    while ((row->splits && !splits) || (row->until > 0 && year >= row->until)) row++; // the last fits all
    return row;
}

static bool withheld(const SoftwareQuery *query, int rule) {
    return (query->withheld >> rule & 1) != 0 || (query->name_withheld && !is_property(&rules[rule]));
}

static bool names_some(const SoftwareQuery *query, double year) {
    for (int i = 0; i < RULES; i++)
        if (!is_property(&rules[i]) && !withheld(query, i) && fits(&rules[i], query->text, year)) return true;
    return false;
}

const Software *software_of(Arena *arena, const SoftwareQuery *query) {
    Software *software = ARENA_NEW(arena, Software);
    double told = software_year(query->text), usually = fmin(query->gpu_year + YEARS_AFTER_GPU, LATEST);
    double year = told > 0 ? told : usually;
    SoftwareQuery asked = *query;
    bool named = names_some(query, year);
    const Usual *known = usual_for(query, year);
    if (!named) {
        asked.text = arena_printf(arena, "%s | %s", known->word, asked.text);
        asked.name_withheld = false;
    }
    *software = (Software){.word = "", .year = year};
    for (int i = 0; i < RULES; i++) {
        const SoftwareRule *rule = &rules[i];
        const char *text = named || is_property(rule) ? asked.text : known->word;
        if (withheld(&asked, i) || !fits(rule, text, year)) continue;
        apply(software, rule);
        software->rules |= (SoftwareRules)1 << i;
        if (rule->adds || rule->drops || rule->framework != KEPT) software->because = rule->because;
        if (named && !is_property(rule)) software->word = alone(arena, found(text, rule->word));
    }
    if (!named) software->traits = (software->traits & ~OWN_OF_MEGATRON_CORE) | known->adds;
    software->reach = named ? reach_of(query->text, year) : NULL;
    software->tuned = found(query->text, named ? TUNED_CODE : TUNED_PROPERTIES) && !found(query->text, OWN_CODE);
    software->images_per_core = software_does(software, HOST_DECODES) ? HOST_DECODING : 0;
    software->reduce_cycle_seconds = software_does(software, NEGOTIATES) ? HOROVOD_CYCLE : 0;
    return software;
}

int software_rule_count(void) { return RULES; }

const SoftwareRule *software_rule(int index) { return index >= 0 && index < RULES ? &rules[index] : NULL; }

const Software *find_software(Arena *arena, const SoftwareQuery *query, Where where, Problems *problems) {
    SoftwareQuery today = *query;
    today.gpu_year = (int)LATEST; // before it is bounded by that
    const Software *known = software_of(arena, &today);
    bool only_date = software_year(query->text) > 0 && !strpbrk(query->text, "abcdefghijklmnopqrstuvwxyz"
                                                                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (known->word[0] || only_date || found(query->text, OWN_CODE)) return known;
    const char *names[RULES * 16];
    int count = 0;
    for (int i = 0; i < RULES; i++)
        for (const char *word = rules[i].word; word && *word; word = next_word(word)) {
            if (is_property(&rules[i]) && found(query->text, word)) return known;
            CHECK(count < (int)(sizeof names / sizeof *names));
            if (rules[i].also || rules[i].until > 0) continue; // no effect alone, or not today
            names[count++] = alone(arena, word);
        }
    problem_add(problems, where, "no software is known by the words \"%.60s\"", query->text);
    if (!problem_hint_near(problems, query->text, names, count))
        problem_hint(problems, "see: lockstep job software; or leave it out and say framework, attention, overlap, …");
    return NULL;
}

void software_apply(const Software *software, TrainingSpec *training) {
    const Model *model = training->model;
    bool tuned = convolves(model) && software_does(software, TUNES_IMAGES);
    training->framework = tuned ? FRAMEWORK_TUNED : software->framework;
    training->attention = software->attention;
    training->overlap_grad_reduce = software_does(software, OVERLAPS_GRADIENTS);
    training->fp32_grad_reduce = software_does(software, REDUCES_IN_FP32);
    training->half_weights = software_does(software, CASTS_MODEL);
    training->overlap_param_gather = software_does(software, OVERLAPS_PARAMETERS);
    training->tp_overlap = software_does(software, OVERLAPS_TENSOR);
    training->scatter_gather = software_does(software, SCATTERS_STAGES);
    training->layout.zero = software_does(software, SHARDS_OPTIMIZER);
    training->lora_everywhere = software_does(software, ADAPTS_EVERYWHERE);
    training->fused_dispatch = software_does(software, FUSES_DISPATCH);
    training->cuda_graphs = software_does(software, USES_CUDA_GRAPHS);
    training->fused_loss = software_does(software, FUSES_LOSS);
    training->tp_waits = software_does(software, WAITS_FOR_TENSOR);
    training->recompute_stops_early = software_does(software, STOPS_RECOMPUTING);
    training->accumulation_bytes = software->sharded_accumulation_bytes;
    training->composed_gelu = software_does(software, COMPOSES_MODULES) && found(model->name, "gpt");
    training->whole_head = software_does(software, WHOLE_HEAD);
    if (names_parts(model) && model->vocab > 0 && software_does(software, CHUNKS_LOSS))
        training->loss_chunks = LOSS_CHUNKS;
    training->fused_optimizer = software_does(software, FUSES_OPTIMIZER);
    training->module_hooks = software_does(software, HOOKS_MODULES);
    training->gathers_logits = software_does(software, GATHERS_LOGITS);
    training->expert_loop = software_does(software, LOOPS_EXPERTS) && training->model->experts.count > 0;
    training->tuned_products = software_does(software, TUNES_PRODUCTS);
    training->fused_norms = software_does(software, FUSES_NORMS);
    training->reduce_cycle_seconds = software->reduce_cycle_seconds;
    if (software_does(software, PARAMETER_SERVERS)) training->backend = BACKEND_MPI;
    if (software->bucket_parameters > 0)
        training->bucket_bytes = software->bucket_parameters * (software_does(software, REDUCES_IN_FP32) ? 4 : 2);
}
