// The library of models by name, and counts common to all kinds of model.
#include "models/workload/model/model.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/model/model_internal.h"
#include "models/workload/model/operators.h"
#include "sim/base/check.h"
#include "sim/system/file.h"

#define NAMES_ROOM 512
#define NAME_ROOM 200

typedef struct Alias {
    const char *alias, *name; // both may end in '-': what begins so, of any size
} Alias;

// clang-format off
static const Alias aliases[] = {
    {"gpt2", "gpt2-124m"}, {"gpt2-small", "gpt2-124m"}, {"gpt2-medium", "gpt2-355m"}, {"gpt2-large", "gpt2-774m"},
    {"gpt2-xl", "gpt2-1.5b"}, {"gpt3", "gpt3-175b"}, {"gpt3-small", "gpt3-125m"}, {"gpt3-medium", "gpt3-350m"},
    {"gpt3-large", "gpt3-760m"}, {"gpt3-xl", "gpt3-1.3b"}, {"megatron-529.6b", "megatron-530b"},
    {"megatron-1008b", "megatron-1t"}, {"mt-nlg-530b", "megatron-530b"}, {"bert-base-uncased", "bert-base"},
    {"bert-large-uncased", "bert-large"}, {"llama-7b", "llama-2-7b"}, {"llama-13b", "llama-2-13b"},
    {"llama-70b", "llama-2-70b"}, {"llama-30b", "llama-33b"}, {"llama-405b", "llama-3.1-405b"}, {"llama-3.3-70b", "llama-3.1-70b"},
    {"vicuna-7b", "llama-2-7b"}, {"vicuna-13b", "llama-2-13b"}, {"alpaca-7b", "llama-2-7b"},
    {"qwen2-", "qwen2.5-"}, {"qwen-", "qwen1.5-"}, {"qwen2.5-coder-", "qwen2.5-"}, {"qwen2.5-math-", "qwen2.5-"},
    {"qwen3-coder-", "qwen3-"}, {"qwq-", "qwen2.5-"}, {"yi-1.5-", "yi-"}, {"deepseek-llm-", "deepseek-"},
    {"deepseek-r1-distill-qwen-", "qwen2.5-"}, {"deepseek-r1-distill-llama-8b", "llama-3.1-8b"},
    {"deepseek-r1-distill-llama-70b", "llama-3.1-70b"}, {"llama-3.1-nemotron-70b", "llama-3.1-70b"},
    {"olmo-2-1124-", "olmo-2-"}, {"olmo-2-0325-", "olmo-2-"}, {"olmo-2-0425-", "olmo-2-"}, {"flan-t5-", "t5-v1.1-"},
    {"t0-3b", "t5-v1.1-xl"}, {"mt0-", "mt5-"}, {"bloomz-", "bloom-"}, {"zephyr-", "mistral-"}, {"openchat-3.5", "mistral-7b"},
    {"dolly-v2-3b", "pythia-2.8b"}, {"dolly-v2-7b", "pythia-6.9b"}, {"dolly-v2-12b", "pythia-12b"}, {"gemma-1.1-", "gemma-"},
    {"phi-1", "phi-1.5"}, {"phi-3.5-mini", "phi-3-mini"}, {"smollm-", "smollm2-"}, {"internlm2.5-", "internlm2-"},
    {"chatglm2-6b", "chatglm3-6b"}, {"granite-3.0-", "granite-3-"}, {"granite-3.1-", "granite-3-"},
    {"granite-3.2-", "granite-3-"}, {"granite-3.3-", "granite-3-"}, {"granite-7b", "llama-2-7b"},
    {"codestral-22b", "mistral-small-22b"}, {"mistral-small-instruct-2409", "mistral-small-22b"},
    {"mistral-large", "mistral-large-123b"}, {"starcoder", "starcoder-15b"}, {"starcoderbase", "starcoder-15b"},
    {"santacoder", "starcoderbase-1b"}, {"dbrx-base", "dbrx"}, {"dbrx-instruct", "dbrx"},
    {"camembert-base", "roberta-base"}, {"electra-base", "bert-base"}, {"electra-large", "bert-large"},
    {"bge-small-en", "minilm-l12"}, {"bge-base-en", "bert-base"}, {"bge-large-en", "bert-large"}, {"bge-m3", "xlm-roberta-large"},
    {"e5-base", "bert-base"}, {"e5-large", "bert-large"}, {"multilingual-e5-base", "xlm-roberta-base"},
    {"multilingual-e5-large", "xlm-roberta-large"}, {"nllb-200-distilled-600m", "nllb-200-600m"},
    {"pegasus-xsum", "pegasus-large"},
    {"gptj-6b", "gpt-j-6b"}, {"distilbert-base-uncased", "distilbert-base"}, {"mistral-small", "mistral-small-24b"}, {"mistral-nemo", "mistral-nemo-12b"},
    {"tinyllama", "tinyllama-1.1b"}, {"bloom", "bloom-176b"}, {"gpt-neox", "gpt-neox-20b"}, {"deepseek-r1", "deepseek-v3"},
    {"regnet-y-1.6gf", "regnety-016"}, {"regnet-y-3.2gf", "regnety-032"}, {"regnet-y-4gf", "regnety-040"},
    {"regnet-y-8gf", "regnety-080"}, {"regnet-y-16gf", "regnety-160"}, {"regnet-y-32gf", "regnety-320"},
    {"regnet-x-3.2gf", "regnetx-032"}, {"regnet-x-16gf", "regnetx-160"},
    {"stable-diffusion-v1-5", "stable-diffusion-1.5"}, {"stable-diffusion-v1-4", "stable-diffusion-1.5"},
    {"stable-diffusion-2-1", "stable-diffusion-2"},
    {"resnet-50-v1.5", "resnet-50"}, {"mnist-mlp", "mlp-mnist"}, {"mobilenetv2-100", "mobilenet-v2"},
    {"seresnext-101-32x4d", "se-resnext-101-32x4d"}, {"seresnext-50-32x4d", "se-resnext-50-32x4d"},
    {"seresnet-50", "se-resnet-50"}, {"vit-b-16", "vit-base-patch16"}, {"vit-b-32", "vit-base-patch32"},
    {"vit-s-16", "vit-small-patch16"}, {"vit-l-16", "vit-large-patch16"}, {"vit-l-32", "vit-large-patch32"},
    {"vit-h-14", "vit-huge-patch14"}, {"deit-", "vit-"}, {"deit3-", "vit-"},
    {"deit-base-distilled-patch16", "vit-base-patch16"}, {"swin-t", "swin-tiny"}, {"swin-s", "swin-small"},
    {"swin-b", "swin-base"}, {"swin-v2-t", "swin-v2-tiny"}, {"swin-v2-s", "swin-v2-small"}, {"swin-v2-b", "swin-v2-base"},
    {"swin-tiny-patch4-window7", "swin-tiny"}, {"swin-small-patch4-window7", "swin-small"},
    {"swin-base-patch4-window7", "swin-base"}, {"swin-large-patch4-window7", "swin-large"},
    {"unet-medical", "unet"}, {"retinanet (resnext50_32x4d)", "retinanet-resnext-50-32x4d"},
    {"mask r-cnn r50-fpn", "mask-rcnn-resnet-50"}, {"faster r-cnn r50-fpn", "faster-rcnn-resnet-50"},
    {"mask r-cnn r101-fpn", "mask-rcnn-resnet-101"}, {"mask r-cnn x101-fpn", "mask-rcnn-resnext-101-32x8d"},
    {"mask r-cnn r50-c4", "mask-rcnn-resnet-50-c4"}, {"mask r-cnn r101-c4", "mask-rcnn-resnet-101-c4"},
    {"mask r-cnn r50-dc5", "mask-rcnn-resnet-50-dc5"}, {"mask r-cnn r101-dc5", "mask-rcnn-resnet-101-dc5"},
    {"mask r-cnn r50-fpn (lvis)", "mask-rcnn-resnet-50-lvis"}, {"mask r-cnn r101-fpn (lvis)", "mask-rcnn-resnet-101-lvis"},
    {"mask r-cnn x101-fpn (lvis)", "mask-rcnn-resnext-101-32x8d-lvis"}, {"mask r-cnn gn", "mask-rcnn-resnet-50-norms"},
    {"mask r-cnn syncbn", "mask-rcnn-resnet-50-norms"}, {"mask r-cnn deformable conv", "mask-rcnn-resnet-50-deformable"},
    {"cascade mask r-cnn cascade r-cnn", "cascade-mask-rcnn-resnet-50"},
    {"cascade mask r-cnn r50-fpn", "cascade-mask-rcnn-resnet-50"},
    {"faster r-cnn r101-fpn", "faster-rcnn-resnet-101"}, {"faster r-cnn x101-fpn", "faster-rcnn-resnext-101-32x8d"},
    {"faster r-cnn r50-c4", "faster-rcnn-resnet-50-c4"}, {"faster r-cnn r101-c4", "faster-rcnn-resnet-101-c4"},
    {"faster r-cnn r50-dc5", "faster-rcnn-resnet-50-dc5"}, {"faster r-cnn r101-dc5", "faster-rcnn-resnet-101-dc5"},
    {"rpn", "rpn-resnet-50"}, {"rpn r50-fpn", "rpn-resnet-50"}, {"rpn r50-c4", "rpn-resnet-50-c4"},
    {"fast r-cnn", "fast-rcnn-resnet-50"}, {"fast r-cnn r50-fpn", "fast-rcnn-resnet-50"},
    {"keypoint r-cnn r50-fpn", "keypoint-rcnn-resnet-50"}, {"keypoint r-cnn r101-fpn", "keypoint-rcnn-resnet-101"},
    {"keypoint r-cnn x101-fpn", "keypoint-rcnn-resnext-101-32x8d"},
    {"keypointrcnn-resnet50-fpn", "keypoint-rcnn-resnet-50"},
    {"panoptic fpn r50-fpn", "panoptic-fpn-resnet-50"}, {"panoptic fpn r101-fpn", "panoptic-fpn-resnet-101"},
    {"rpn r101-fpn", "rpn-resnet-101"}, {"rpn x101-32x4d-fpn", "rpn-resnext-101-32x4d"},
    {"rpn x101-64x4d-fpn", "rpn-resnext-101-64x4d"}, {"rpn x101-fpn", "rpn-resnext-101-32x8d"},
    {"fast r-cnn r101-fpn", "fast-rcnn-resnet-101"}, {"fast r-cnn x101-32x4d-fpn", "fast-rcnn-resnext-101-32x4d"},
    {"fast r-cnn x101-64x4d-fpn", "fast-rcnn-resnext-101-64x4d"}, {"fast r-cnn x101-fpn", "fast-rcnn-resnext-101-32x8d"},
    {"fast r-cnn r50-c4", "fast-rcnn-resnet-50-c4"}, {"faster r-cnn x101-32x4d-fpn", "faster-rcnn-resnext-101-32x4d"},
    {"faster r-cnn x101-64x4d-fpn", "faster-rcnn-resnext-101-64x4d"}, {"mask r-cnn x101-32x4d-fpn", "mask-rcnn-resnext-101-32x4d"},
    {"mask r-cnn x101-64x4d-fpn", "mask-rcnn-resnext-101-64x4d"}, {"keypoint r-cnn x101-64x4d-fpn", "keypoint-rcnn-resnext-101-64x4d"},
    {"cascade r-cnn r50-fpn", "cascade-rcnn-resnet-50"}, {"cascade r-cnn r101-fpn", "cascade-rcnn-resnet-101"},
    {"cascade r-cnn x101-32x4d-fpn", "cascade-rcnn-resnext-101-32x4d"}, {"cascade r-cnn x101-64x4d-fpn", "cascade-rcnn-resnext-101-64x4d"},
    {"cascade mask r-cnn r101-fpn", "cascade-mask-rcnn-resnet-101"}, {"cascade mask r-cnn x101-32x4d-fpn", "cascade-mask-rcnn-resnext-101-32x4d"},
    {"cascade mask r-cnn x101-64x4d-fpn", "cascade-mask-rcnn-resnext-101-64x4d"}, {"vit-gigantic-patch14", "vit-g-patch14"},
    {"pspnet r50-d8", "pspnet-resnet-50"}, {"pspnet r101-d8", "pspnet-resnet-101"}, {"pspnet", "pspnet-resnet-50"},
    {"deeplabv3 r50-d8", "deeplabv3-resnet-50"}, {"deeplabv3 r101-d8", "deeplabv3-resnet-101"},
    {"deeplabv3", "deeplabv3-resnet-50"}, {"swinv2-tiny-window8", "swin-v2-tiny"},
    {"swinv2-small-window8", "swin-v2-small"}, {"swinv2-base-window8", "swin-v2-base"},
    {"detr r50", "detr-resnet-50"}, {"efficientnetv2-s", "efficientnet-v2-s"},
    {"maskrcnn-resnet50-fpn", "mask-rcnn-resnet-50"}, {"fasterrcnn-resnet50-fpn", "faster-rcnn-resnet-50"},
    {"retinanet-resnet50-fpn", "retinanet-resnet-50"}, {"stablediffusion-v2", "stable-diffusion-2"},
    {"nnu-net 2d patch 320x256", "nnunet-2d-320x256"}, {"nnu-net 2d patch 512x512", "nnunet-2d-512x512"},
    {"nnu-net 2d patch 320x320", "nnunet-2d-320x320"}, {"nnu-net 3d-fullres patch 80x192x160", "nnunet-3d-80x192x160"},
    {"nnu-net 3d-fullres patch 128x128x128", "nnunet-3d-128x128x128"},
    {"nnu-net 3d-fullres patch 20x320x256", "nnunet-3d-20x320x256"},
    {"vnet", "v-net"}, {"unet3d", "unet-3d"}, {"jasper", "jasper-10x5"}, {"quartznet", "quartznet-15x5"},
    {"gnmt", "gnmt-v2"}, {"tacotron", "tacotron-2"},
};
// clang-format on
#define ALIAS_COUNT ((int)(sizeof aliases / sizeof *aliases))

const char *const *model_names(int *count) {
    static const char *names[NAMES_ROOM];
    int n = 0;
    CHECK(transformer_count + encoder_decoder_count + image_model_count + vision_transformer_count < NAMES_ROOM);
    for (int i = 0; i < transformer_count; i++) names[n++] = transformer_name(i);
    for (int i = 0; i < encoder_decoder_count; i++) names[n++] = encoder_decoder_name(i);
    for (int i = 0; i < image_model_count; i++) names[n++] = image_model_name(i);
    for (int i = 0; i < vision_transformer_count; i++) names[n++] = vision_transformer_name(i);
    names[n++] = "mlp-mnist";
    *count = n;
    return names;
}

static const char *next_letter(const char *text) {
    while (*text == '-' || *text == '_' || *text == ' ') text++;
    return text;
}

// Case, '-', '_' and spaces do not count, as everywhere in the catalogue.
static bool same_name(const char *a, const char *b) {
    for (a = next_letter(a), b = next_letter(b); *a && *b; a = next_letter(a + 1), b = next_letter(b + 1))
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
    return *a == *b;
}

// What stands in a name behind "qwen2-"; NULL: it begins otherwise.
static const char *behind(const char *beginning, const char *name) {
    if (beginning[strlen(beginning) - 1] != '-') return NULL;
    for (name = next_letter(name); *(beginning = next_letter(beginning)); beginning++, name = next_letter(name))
        if (tolower((unsigned char)*beginning) != tolower((unsigned char)*name++)) return NULL;
    return *name ? name : NULL;
}

static const char *listed_name(const char *name) {
    int count = 0;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++)
        if (same_name(names[i], name)) return names[i];
    return NULL;
}

static const char *full_name(const char *name) {
    const char *full = listed_name(name);
    for (int i = 0; i < ALIAS_COUNT && !full; i++)
        if (same_name(aliases[i].alias, name)) full = listed_name(aliases[i].name);
    for (int i = 0; i < ALIAS_COUNT && !full; i++) {
        char whole[NAME_ROOM];
        const char *rest = behind(aliases[i].alias, name);
        if (rest && snprintf(whole, sizeof whole, "%s%s", aliases[i].name, rest) < NAME_ROOM) full = listed_name(whole);
    }
    return full;
}

static bool hint_models(const char *name, const char *const *names, int count, Problems *problems) {
    const char *candidates[NAMES_ROOM + ALIAS_COUNT];
    int n = 0;
    for (int i = 0; i < count; i++) candidates[n++] = names[i];
    for (int i = 0; i < ALIAS_COUNT; i++) candidates[n++] = aliases[i].alias;
    return problem_hint_near(problems, name, candidates, n);
}

// by name or alias; NULL: none
static const Model *library_model(Arena *arena, const char *name) {
    const char *full = full_name(name);
    if (!full) return NULL;
    if (image_model_index(full) >= 0) return image_model(arena, image_model_index(full), 0, 0);
    if (vision_transformer_index(full) >= 0) return vision_transformer(arena, vision_transformer_index(full), 0, 0);
    for (int i = 0; i < transformer_count; i++)
        if (strcmp(full, transformer_name(i)) == 0) return transformer_named(arena, i);
    for (int i = 0; i < encoder_decoder_count; i++)
        if (strcmp(full, encoder_decoder_name(i)) == 0) return encoder_decoder(arena, i);

    static const int mnist_widths[] = {784, 512, 512, 10};
    return model_mlp(arena, "mlp-mnist", mnist_widths, 4, (Where){0}, problems_create(arena));
}

static const Model *unknown_model(Arena *arena, const char *name, Where where, Problems *problems) {
    int count = 0;
    const char *const *names = model_names(&count);
    const Model *like = model_published(arena, name);
    if (*name)
        problem_add(problems, where, "no model is called \"%s\"", name);
    else
        problem_add(problems, where, "the name of a model is empty");
    if (like)
        problem_hint(problems, "did you mean \"%s\"?", like->name);
    else if (!hint_models(name, names, count, problems))
        problem_hint(problems, "lockstep model list shows all %d", count);
    return NULL;
}

// With its owner a name is a hub's, and says enough.
const Model *find_model(Arena *arena, const char *name, Where where, Problems *problems) {
    if (model_is_spelt(name)) return spelt_model(arena, name, where, problems);
    const Model *model = library_model(arena, name);
    if (!model && strchr(name, '/')) model = model_published(arena, name);
    return model ? model : unknown_model(arena, name, where, problems);
}

const Model *model_mlp(Arena *arena, const char *name, const int *widths, int width_count, Where where,
                       Problems *problems) {
    int problems_before = problems_added(problems);
    if (width_count < 2) {
        problem_add(problems, where, "an MLP needs at least two widths, not %d", width_count);
        problem_hint(problems, "inputs first, outputs last, for example 784, 512, 10");
    }
    for (int i = 0; i < width_count; i++) {
        if (widths[i] >= 1 && widths[i] <= 100000000) continue;
        problem_add(problems, where, "width %d of the MLP cannot be %d", i + 1, widths[i]);
        problem_hint(problems, "1 to 100 million");
    }
    if (problems_added(problems) > problems_before) return NULL;

    int *copy = ARENA_ARRAY(arena, int, width_count);
    for (int i = 0; i < width_count; i++) copy[i] = widths[i];
    ImageBuilder builder = image_builder(arena, 1);
    for (int i = 0; i + 1 < width_count; i++) {
        builder.block = i;
        image_linear(&builder, "linear", widths[i], widths[i + 1])->relu = i + 2 < width_count;
    }
    Model *model = ARENA_NEW(arena, Model);
    *model = (Model){
        .name = name ? arena_copy_text(arena, name) : "mlp",
        .family = "mlp",
        .source = "as given",
        .kind = MODEL_MLP,
        .block_count = width_count - 1,
        .widths = copy,
        .width_count = width_count,
        .net_layers = builder.layers.items,
        .net_layer_count = builder.layers.count,
    };
    return model;
}

// ---- Counts.

static LayerWeights block_weights(const Model *model, int block) {
    OperatorList operators;
    Portion portion = portion_of_sample(model, block, 1);
    block_operators(model, block, &portion, &operators);
    return operator_weights(&operators);
}

double block_parameters(const Model *model, int block) {
    LayerWeights weights = block_weights(model, block);
    return weights.split + weights.routed + weights.whole;
}

double model_parameters(const Model *model) {
    double parameters = 0, last = 0;
    for (int block = 0; block < model->block_count; block++) {
        if (block == 0 || !layers_alike(model, block - 1, block)) last = block_parameters(model, block);
        parameters += last;
    }
    return parameters;
}

// Heads that predict further tokens are left out, as in published active counts.
double model_active_parameters(const Model *model) {
    double all = model_parameters(model), share = 0;
    if (model->experts.count == 0) return all;
    LayerWeights extra = extra_head_weights(model);
    share = 1 - (double)model->experts.per_token / model->experts.count;
    all -= extra.split + extra.routed + extra.whole;
    for (int block = 1; block <= model->layers; block++) all -= block_weights(model, block).routed * share;
    return all;
}

double block_forward_flops(const Model *model, int block, double seq_len) {
    OperatorList operators;
    Portion portion = portion_of_sample(model, block, seq_len);
    block_operators(model, block, &portion, &operators);
    return operator_flops(&operators);
}

// 24 h^2 + 4 s h per token and layer, 2 V h for the logits when the FFN is four times as wide and every head has its
// own keys (Narayanan et al. 2021, appendix): attention counts the whole square whether masked or not.
double model_forward_flops_per_sample(const Model *model, int seq_len) {
    double flops = 0, last = 0;
    for (int block = 0; block < model->block_count; block++) {
        if (block == 0 || !layers_alike(model, block - 1, block)) last = block_forward_flops(model, block, seq_len);
        flops += last;
    }
    return flops;
}

double model_flops_per_sample(const Model *model, int seq_len) {
    return 3 * model_forward_flops_per_sample(model, seq_len);
}

// ---- How long the sequences were that a published model was trained on for most of its tokens. A model's longest
// sequence is another thing: it was stretched to that in a last stage of some per cent of the tokens, or when it was
// used.

typedef struct TrainedLength {
    const char *name; // of the library (fnmatch)
    int tokens;
    const char *source;
} TrainedLength;

#define NOT_PUBLISHED "not published: as others of its time"

// clang-format off
static const TrainedLength lengths[] = {
    {"llama-3.1-*", 8192, "arXiv 2407.21783: 8K, six stages to 128K at the end"},
    {"llama-3.2-*", 8192, "model card"},
    {"llama-4-*", 8192, NOT_PUBLISHED ", then up to 256K (Meta, April 2025)"},
    {"mistral-7b", 8192, "arXiv 2310.06825"},
    {"mistral-nemo-12b", 8192, NOT_PUBLISHED},
    {"mistral-large-123b", 8192, NOT_PUBLISHED},
    {"mistral-small-24b", 8192, NOT_PUBLISHED},
    {"qwen1.5-moe-a2.7b", 4096, "Qwen blog, February 2024"},
    {"qwen2.5-*", 4096, "arXiv 2412.15115: 4,096, then 32,768"},
    {"qwen3-*", 4096, "arXiv 2505.09388: 30T tokens at 4,096, then 32,768"},
    {"gemma-3-*", 32768, "arXiv 2503.19786"},
    {"codellama-*", 4096, "arXiv 2308.12950: 4,096, then 16,384"},
    {"phi-4", 4096, "arXiv 2412.08905: 4,096, then 16,384"},
    {"phi-3.5-moe", 4096, "arXiv 2404.14219, as Phi-3"},
    {"smollm2-*", 2048, "arXiv 2502.02737: 2,048, then 8,192"},
    {"smollm3-3b", 4096, "Hugging Face blog, July 2025: 4K, then 32K and 64K"},
    {"deepseek-v2", 4096, "arXiv 2405.04434"},
    {"kimi-k2", 4096, "arXiv 2507.20534: 15.5T tokens at 4,096, then 32K"},
    {"glm-4.5", 4096, "arXiv 2508.06471: 4K, then 32K and 128K"},
    {"gpt-oss-*", 4096, "OpenAI, config.json: initial_context_length"},
};
// clang-format on

int usual_tokens(const Model *model, const char **source) {
    *source = "the model's longest";
    bool published = model->source && strcmp(model->source, "as given") != 0;
    for (size_t i = 0; published && i < sizeof lengths / sizeof *lengths; i++) {
        if (fnmatch(lengths[i].name, model->name, 0) != 0 || lengths[i].tokens >= model->max_positions) continue;
        *source = lengths[i].source;
        return lengths[i].tokens;
    }
    return model->max_positions;
}

// ---- Names that models are published under, on a hub or in a library's configurations: what of them is in the library
// here.

// As the library would write it: "llama3_1_8b" and "llama31_8b" are llama3.1-8b.
static const Model *spelt_like(Arena *arena, const char *name) {
    const Model *model = library_model(arena, name);
    for (const char *at = name; *at && !model; at++) {
        const char *next = at + (at[1] == '_' || at[1] == '-' ? 2 : 1);
        if (!isdigit((unsigned char)at[0]) || !isdigit((unsigned char)*next)) continue;
        model = library_model(arena, arena_printf(arena, "%.*s.%s", (int)(at + 1 - name), name, next));
    }
    return model;
}

double billions_said(const char *name) {
    for (const char *at = name; *at; at++) {
        if (!isdigit((unsigned char)*at) || (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '.'))) continue;
        char *end;
        double number = strtod(at, &end);
        if ((*end == 'b' || *end == 'B') && !isalnum((unsigned char)end[1])) return number;
        at = end - 1;
    }
    return 0;
}

// "gpt-neox-3.6b" is not the library's gpt-neox of 20 billions. Names of experts' models say those that a token meets.
static bool is_as_large(const Model *model, const char *said) {
    double billions = billions_said(said);
    return billions <= 0 || model->experts.count > 0 || fabs(log(model_parameters(model) / (1e9 * billions))) < log(2);
}

// "meta-llama/Meta-Llama-3-8B-Instruct": without its owner, and without what stands before or behind the name.
const Model *model_published(Arena *arena, const char *said) {
    static const char *const endings[] = {".nemo", ".gguf", ".safetensors", ".pt", ".pth", ".bin", ".git"};
    const char *slash = strrchr(said, '/');
    const char *begin = slash && slash[1] ? slash + 1 : said;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (file_ends_in(begin, endings[i]))
            begin = arena_printf(arena, "%.*s", (int)(strlen(begin) - strlen(endings[i])), begin);
    for (int front = 0; front < 3 && *begin; front++) {
        char *name = arena_printf(arena, "%.100s", begin);
        while (*name) {
            const Model *model = spelt_like(arena, name);
            if (model && (billions_said(name) > 0 || is_as_large(model, said))) return model;
            char *cut = strrchr(name, '-');
            char *underline = strrchr(name, '_');
            if (!cut || (underline && underline > cut)) cut = underline;
            if (!cut) break;
            *cut = '\0';
            if (!strpbrk(name, "0123456789-")) break;
        }
        begin += strcspn(begin, "-_");
        begin += *begin != '\0';
    }
    return NULL;
}

// ---- Kind-dependent properties of models, a row for each kind. No other file depends on the kind, except those that
// build and price operators.

static const struct {
    const char *name, *samples;
    const char *first, *layer, *last; // blocks; no first: all are layers
    bool tokens, convolves, parts, bare_ends;
    MakeOperators *operators;
} kinds[] = {
    [MODEL_TRANSFORMER] = {"transformer", "sequences", "embedding", "layer", "head", .tokens = true, .parts = true,
                           .bare_ends = true, .operators = transformer_operators},
    [MODEL_CNN] = {"cnn", "images", "stem", "block", "classifier", .convolves = true, .operators = image_operators},
    [MODEL_MLP] = {"mlp", "samples", NULL, "linear", NULL, .operators = image_operators},
    [MODEL_OPERATORS] = {"operators", "sequences", NULL, NULL, NULL, .operators = written_operators},
};

const char *model_kind_name(const Model *model) { return kinds[model->kind].name; }

const char *sample_name(const Model *model) {
    if (model->written && !model->written->tokens) return "samples";
    return model->dimensions == 1 ? "samples" : kinds[model->kind].samples; // sounds, sentences
}

bool counts_tokens(const Model *model) { return model->written ? model->written->tokens : kinds[model->kind].tokens; }

bool convolves(const Model *model) { return kinds[model->kind].convolves; }

bool takes_images(const Model *model) { return convolves(model) || model->patch > 0; }

bool names_parts(const Model *model) { return kinds[model->kind].parts; }

// ---- Blocks.

int first_layer(const Model *model) {
    return (model->written ? model->written->ends : kinds[model->kind].first != NULL) ? 1 : 0;
}

int layers_to_spread(const Model *model) { return model->block_count - 2 * first_layer(model); }

bool ends_stand_alone(const Model *model) { return kinds[model->kind].bare_ends; }

bool splits_products(const Model *model) { return model->written ? model->written->splits : model->heads > 0; }

// The block as it is called, with its number where there are several of it.
static const char *written_block_name(Arena *arena, const Model *model, int block) {
    const WrittenBlock *here = written_block(model, block);
    int number = 1;
    if (here->times == 1) return here->name;
    while (number <= block && written_block(model, block - number) == here) number++;
    return arena_printf(arena, "%s %d", here->name, number);
}

const char *block_name(Arena *arena, const Model *model, int block) {
    CHECK(block >= 0 && block < model->block_count);
    int first = first_layer(model);
    if (model->written) return written_block_name(arena, model, block);
    if (first && block == 0) return kinds[model->kind].first;
    if (first && block == model->block_count - 1) return kinds[model->kind].last;
    return arena_printf(arena, "%s %d", kinds[model->kind].layer, block - first + 1);
}

void block_operators(const Model *model, int block, const Portion *portion, OperatorList *operators) {
    CHECK(block >= 0 && block < model->block_count);
    operators->count = 0;
    kinds[model->kind].operators(model, block, portion, operators);
}

// ---- Samples.

#define FLOAT_BYTES 4.0
#define TOKEN_BYTES 8.0 // ids are of 64 bits

double sample_bytes(const Model *model, double seq_len) {
    if (takes_images(model)) return sample_values(model) * FLOAT_BYTES;
    if (counts_tokens(model)) return seq_len * TOKEN_BYTES;
    return (model->written ? written_in(model->written->blocks[0].operators) : model->widths[0]) * FLOAT_BYTES;
}

static double written_answer(const Model *model) {
    const WrittenBlock *last = &model->written->blocks[model->written->count - 1];
    return written_out(&last->operators[last->count - 1]);
}

double answer_bytes(const Model *model, double seq_len, double element) {
    if (takes_images(model)) return model->classes * FLOAT_BYTES;
    if (model->written) return seq_len * written_answer(model) * element;
    if (counts_tokens(model)) return seq_len * model->vocab * element;
    return model->widths[model->width_count - 1] * FLOAT_BYTES;
}
