// Which model a job has: by its name in the library, by a config.json beside, or by sizes that its options spell out.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/system/file.h"

const Model *model_called(Reading *r, const char *name) {
    return find_model(r->arena, name, (Where){0}, problems_create(r->arena));
}

static const char *published_name(Reading *r, const char *said) {
    const Model *model = model_published(r->arena, said);
    return model ? model->name : NULL;
}

static const char *config_beside(Reading *r, const char *name, Where where) {
    size_t bytes;
    const char *shown;
    const char *path = strstr(name, ".json") ? name : arena_printf(r->arena, "%s/config.json", name);
    return reading_near_in(r, path, 1, where, &bytes, &shown) ? shown : NULL;
}

static const char *const shape[] = {"layers", "hidden", "heads"}; // without which no transformer is spelt

static const char *half_spelt(const Reading *r) { // one of the shape that is said, or NULL
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (heard(r, shape[i])) return shape[i];
    return NULL;
}

static const char *missing_of_shape(const Reading *r) {
    const char *list = "";
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (!heard(r, shape[i])) list = arena_printf(r->arena, "%s%s%s", list, *list ? ", " : "", shape[i]);
    return *list ? arena_printf(r->arena, "%s %s", list, strchr(list, ',') ? "are" : "is") : list;
}

// Of the tokenizer that is named: Llama 2's, or that of a model of the library; NULL: it is neither.
static const char *vocab_of_tokenizer(Reading *r) {
    const char *type = said_value(&r->said, "tokenizer_type"),
               *named = said_value(&r->said, "tokenizer_model|tokenizer_name_or_path|tokenizer_name|data.tokenizer");
    const char *file = named ? strrchr(named, '/') : NULL; // ".../Llama-2-7b-hf/tokenizer.model"
    if (file && strncmp(file, "/tokenizer", 10) == 0)
        named = arena_printf(r->arena, "%.*s", (int)(file - named), named);
    const char *library = named && is_known(named) ? published_name(r, named) : NULL;
    if (type && strcasecmp(type, "Llama2Tokenizer") == 0) return "32000";
    return library ? number_text(r, model_called(r, library)->vocab) : NULL;
}

static const char *spell_model(Reading *r) {
    if (*missing_of_shape(r)) return NULL;
    double expansion = heard_number(r, "expansion", 0);
    if (expansion > 0 && !heard(r, "ffn"))
        hear_number(r, "ffn", expansion * heard_number(r, "hidden", 0), heard(r, "expansion")->where);
    if (!heard(r, "max_positions") && heard(r, "seq"))
        hear(r, "max_positions", heard_text(r, "seq"), heard(r, "seq")->where);
    const char *vocab = heard(r, "vocab") ? NULL : vocab_of_tokenizer(r);
    if (vocab) hear(r, "vocab", vocab, r->machines.where);
    const char *text = "transformer:";
    const char *size;
    for (int i = 0; (size = model_size_name(i)); i++) {
        const char *value = heard_text(r, size);
        if (value && !strpbrk(value, ",=:"))
            text = arena_printf(r->arena, "%s%s%s=%.30s", text, text[strlen(text) - 1] == ':' ? "" : ",", size, value);
    }
    if (!heard(r, "vocab")) ask_for(r, "vocabulary size", "a tokenizer is named, not its size; taken as 50,304");
    return text;
}

// "llama3_1/8B_lora": llama3.1-8B, and LoRA.
static void settle_tune_model(Reading *r) {
    const Heard *config = heard(r, "tune_config");
    const char *slash = config ? strchr(config->value, '/') : NULL;
    const Heard *component = heard(r, "tune_component"); // torchtune.models.llama3_1.lora_llama3_1_8b
    if (component && !heard(r, "model")) {
        const char *dot = strrchr(component->value, '.'), *own = dot ? dot + 1 : component->value;
        if (strstr(own, "lora_") && !heard(r, "lora-rank")) hear(r, "lora-rank", "8", component->where);
        if (strncmp(own, "qlora_", 6) == 0) hear(r, "nf4-weights", "true", component->where);
        const char *lora = strstr(own, "lora_");
        hear(r, "model", lora ? lora + 5 : own, component->where);
    }
    if (!slash || heard(r, "model")) return;
    char *name = arena_printf(r->arena, "%.*s-%.*s", (int)(slash - config->value), config->value,
                              (int)strcspn(slash + 1, "_"), slash + 1);
    for (char *at = name; *at; at++)
        if (*at == '_') *at = '.';
    hear(r, "model", name, config->where);
    if (strstr(slash, "lora") && !heard(r, "lora-rank")) hear(r, "lora-rank", "8", config->where);
}

// nanochat's model by its depth: 64 wide a layer, a head for each 128.
static void settle_depth(Reading *r) {
    const Heard *depth = heard(r, "chat_depth");
    if (!depth || heard(r, "layers")) return;
    double hidden = heard_number(r, "chat_depth", 0) * heard_number(r, "chat_aspect", 64),
           head = fmax(1, heard_number(r, "chat_head", 128));
    hidden = ceil(hidden / head) * head;
    hear(r, "layers", depth->value, depth->where);
    hear_number(r, "hidden", hidden, depth->where);
    hear_number(r, "heads", hidden / head, depth->where);
    if (!heard(r, "vocab")) hear(r, "vocab", "65536", depth->where);
}

// Latent attention: a key's parts are said, and its width follows. Software that has an option for it (Megatron) takes
// no heed of its sizes without.
static void settle_latent(Reading *r) {
    static const char *const sizes[] = {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
                                        "v_head_dim"};
    static const char *const plain[] = {"kv_heads", "head_dim", "qk_norm"};
    const ImportSoftware *software = import_software_called(r->import->software);
    const Heard *latent = heard(r, "latent");
    if (!latent && import_takes(software, "latent")) {
        for (int i = 0; i < 5; i++)
            if (heard(r, sizes[i])) set_aside(r, sizes[i], "attention is not latent");
    } else if (latent && !heard(r, "kv_lora_rank")) {
        hear(r, "kv_lora_rank", "512", latent->where);
        ask_for(r, "rank of latent keys", "taken as 512 (kv_lora_rank)");
    }
    for (int i = 0; heard(r, "kv_lora_rank") && i < 3; i++)
        if (heard(r, plain[i])) set_aside(r, plain[i], "attention is latent: it follows");
    if (heard_number(r, "mtp_layers", 0) > 1) {
        set_open(r, "mtp_layers", "more than one layer that predicts further on");
        hear(r, "mtp_layers", "1", r->machines.where);
    }
}

// OLMo-core's and Llama's: two thirds of four times the width, times what is said, up to a multiple.
static void settle_multiple(Reading *r) {
    const Heard *multiple = heard(r, "core_multiple");
    double hidden = heard_number(r, "hidden", 0), of = heard_number(r, "core_multiple", 0);
    if (!multiple || hidden <= 0 || of <= 0 || heard(r, "ffn")) return;
    double ffn = floor(floor(8 * hidden / 3) * heard_number(r, "core_multiplier", 1));
    hear_number(r, "ffn", ceil(ffn / of) * of, multiple->where);
    hear(r, "gated_mlp", "true", multiple->where);
    hear(r, "rms_norm", "true", multiple->where);
    hear(r, "untied_embedding", "true", multiple->where);
}

// "([0]*3+[1]*58)", Python for which layers have experts: so many without in the beginning. "2": every other has.
static void settle_expert_layers(Reading *r) {
    const Heard *pattern = heard(r, "expert_pattern");
    if (!pattern) return;
    double lead = 0, each = 0;
    const char *at = pattern->value + strspn(pattern->value, "( ");
    if (!strchr(at, '[')) {
        hear(r, "expert_every", pattern->value, pattern->where);
        return;
    }
    bool known = strncmp(at, "[0]", 3) == 0 || strncmp(at, "[1]", 3) == 0;
    if (at[1] == '0' && known) {
        lead = at[3] == '*' ? strtod(at + 4, NULL) : 1;
        at += strcspn(at, "+") + (at[strcspn(at, "+")] == '+');
        known = strncmp(at + strspn(at, " "), "[1]", 3) == 0;
    }
    each = strchr(at, '+') ? 0 : 1; // and nothing behind
    if (known && each > 0) {
        hear_number(r, "dense_layers", lead, pattern->where);
    } else {
        const char *name = "--moe-layer-freq";
        list_line(r, &r->import->open, name, pattern->value, "a pattern of layers that is not understood",
                  pattern->where);
    }
}

// "configs/COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_3x.yaml", "faster-rcnn_r101_fpn_1x_coco.py": a detector and
// what is under it, as the library writes it: mask-rcnn-resnet-50. Words that say how it is trained are none of that.
static const char *detector_of(Reading *r, const char *path) {
    static const struct {
        const char *word, *ours;
    } words[] = {{"R", "resnet"},
                 {"X", "resnext"},
                 {"r50", "resnet-50"},
                 {"r101", "resnet-101"},
                 {"r18", "resnet-18"},
                 {"x101-32x4d", "resnext-101-32x4d"},
                 {"x101-64x4d", "resnext-101-64x4d"},
                 {"x101-32x8d", "resnext-101-32x8d"},
                 {"FPN", ""},
                 {"fpn", ""},
                 {"1x", ""},
                 {"2x", ""},
                 {"3x", ""},
                 {"20e", ""},
                 {"gn", ""},
                 {"syncbn", ""},
                 {"caffe", ""},
                 {"coco", ""},
                 {"amp", ""},
                 {"fp16", ""},
                 {"mstrain", ""}};
    const char *slash = strrchr(path, '/'), *name = "";
    for (const char *at = slash ? slash + 1 : path; *at && *at != '.';) {
        size_t length = strcspn(at, "_.");
        const char *word = arena_printf(r->arena, "%.*s", (int)length, at);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strcmp(word, words[i].word) == 0) word = words[i].ours;
        if (*word) name = arena_printf(r->arena, "%s%s%.40s", name, *name ? "-" : "", word);
        at += length + (at[length] == '_');
    }
    char *lower = arena_copy_text(r->arena, name);
    for (char *at = lower; *at; at++) *at = (char)tolower((unsigned char)*at);
    return lower;
}

// What a configuration of detectron2 makes of its parts, whatever it is called; NULL: it does not say the backbone.
static const char *detector_of_parts(Reading *r) {
    const char *depth = heard_text(r, "det_depth"), *kind = heard_text(r, "det_kind"),
               *backbone = heard_text(r, "det_backbone");
    if (!depth) return NULL;
    const char *name = kind && strcmp(kind, "RetinaNet") == 0         ? "retinanet"
                       : kind && strcmp(kind, "PanopticFPN") == 0     ? "panoptic-fpn"
                       : kind && strcmp(kind, "ProposalNetwork") == 0 ? "rpn"
                       : heard(r, "det_mask")                         ? "mask-rcnn"
                       : heard(r, "det_keypoint")                     ? "keypoint-rcnn"
                                                                      : "faster-rcnn";
    bool plain = backbone && !strstr(backbone, "fpn"); // one level, C4
    return arena_printf(r->arena, "%s-resnet-%.10s%s", name, depth, plain ? "-c4" : "");
}

static void settle_detectron(Reading *r) {
    const Heard *config = heard(r, "detectron_config"), *base = heard(r, "mm_base"), *own = heard(r, "mm_config");
    const Heard *said = config ? config : base ? base : own;
    if (!said || heard(r, "model")) return;
    const char *name = detector_of(r, said->value), *parts = detector_of_parts(r);
    hear(r, "model", parts && !published_name(r, name) ? parts : name, said->where);
}

// What of a shape follows from the software: BERT looks both ways, T5's layers are those of its halves, and OLMo counts
// SwiGLU's two halves as one width.
void settle_shape(Reading *r) {
    const Heard *halves = heard(r, "encoder_layers"), *wide = heard(r, "olmo_ffn"), *ratio = heard(r, "olmo_ratio");
    const char *grouped = said_value(&r->said, "group_query_attention");
    if (grouped && !says_yes(grouped)) unhear(r, "kv_heads"); // as a log has them all
    if (heard_number(r, "experts", 0) == 1) unhear(r, "experts"), unhear(r, "experts_per_token");
    const Heard *experts = heard(r, "experts");
    settle_depth(r);
    settle_detectron(r);
    settle_expert_layers(r);
    settle_multiple(r);
    settle_latent(r);
    if (experts && !heard(r, "experts_per_token") && heard(r, "layers")) // as Megatron's --moe-router-topk, --topk
        hear(r, "experts_per_token", strcmp(r->import->software, "Megatron-DeepSpeed") == 0 ? "1" : "2",
             experts->where);
    const Heard *swiglu = heard(r, "gated_mlp");
    bool megatron =
        strncmp(r->import->software, "Megatron-LM", 11) == 0 || strcmp(r->import->software, "Megatron-DeepSpeed") == 0;
    if (megatron && swiglu && says_yes(swiglu->value) && !heard(r, "ffn") &&
        heard_number(r, "hidden", 0) > 0) // its own rule
        hear_number(r, "ffn", 64 * floor(8 * heard_number(r, "hidden", 0) / 3 / 64), swiglu->where);
    if (r->program && strstr(r->program, "pretrain_bert")) hear(r, "causal", "false", r->machines.where);
    if (halves && !heard(r, "layers"))
        hear_number(r, "layers", heard_number(r, "encoder_layers", 0) + heard_number(r, "decoder_layers", 0),
                    halves->where);
    if (!wide && !ratio) return;
    const char *activation = said_value(&r->said, "activation_type");
    bool gated = !activation || strcmp(activation, "swiglu") == 0;
    double ffn = heard_number(r, "olmo_ffn", heard_number(r, "olmo_ratio", 4) * heard_number(r, "hidden", 0));
    hear_number(r, "ffn", gated ? ffn / 2 : ffn, wide ? wide->where : ratio->where);
    hear(r, "gated_mlp", gated ? "true" : "false", wide ? wide->where : ratio->where);
}

// torchtitan's families and flavours are the library's names but for these.
static const char *titan_name(Reading *r, const char *family, const char *flavor) {
    static const struct {
        const char *family, *flavor, *name;
    } others[] = {{"llama4", "17bx16e", "llama-4-scout"},
                  {"llama4", "17bx128e", "llama-4-maverick"},
                  {"deepseek_v3", "16B", "deepseek-v2-lite"},
                  {"deepseek_v3", "236B", "deepseek-v2"},
                  {"deepseek_v3", "671B", "deepseek-v3"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcasecmp(family, others[i].family) == 0 &&
            strncasecmp(flavor, others[i].flavor, strlen(others[i].flavor)) == 0)
            return others[i].name;
    return arena_printf(r->arena, "%.40s-%.40s", family, flavor);
}

// "-c 13b" of ColossalAI's examples: LLaMA of that size.
static void settle_bare_size(Reading *r) {
    const Heard *model = heard(r, "model");
    size_t digits = model && model->value ? strspn(model->value, "0123456789") : 0;
    if (digits && strcasecmp(model->value + digits, "b") == 0 && strcmp(r->import->software, "ColossalAI") == 0)
        hear(r, "model", arena_printf(r->arena, "llama-%.10s", model->value), model->where);
}

// "examples/recipes/llama/pretrain_llama3_8b.py": a program that is called by what it trains; or NULL.
static const char *model_of_program(Reading *r) {
    const char *name = r->program ? strrchr(r->program, ' ') : NULL;
    if (!name || !file_ends_in(name, ".py")) return NULL;
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name + 1;
    return published_name(r, arena_printf(r->arena, "%.*s", (int)(strlen(name) - 3), name));
}

// Of the library's decoders of Llama's kind, without experts, the one whose parameters are nearest, within a third; or
// NULL.
static const char *model_as_large(Reading *r, const char *name) {
    enum { USUAL_WORDS = 160000 };    // more weigh too much in small ones
    static const double ALIKE = 0.01; // of sizes so near the first counts, which is the more usual
    double wanted = 1e9 * billions_said(name), best = log(4.0 / 3);
    const char *nearest = NULL;
    int count;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count && wanted > 0; i++) {
        const Model *model = model_called(r, names[i]);
        bool fits = model && counts_tokens(model) && model->causal && model->experts.count == 0;
        if (!fits || !model->gated_mlp || !model->rms_norm || model->vocab > USUAL_WORDS) continue;
        double away = fabs(log(model_parameters(model) / wanted));
        if (away < best - ALIKE) best = away, nearest = model->name;
    }
    return nearest;
}

// Whether the sizes that are said are those of the model.
static bool has_sizes(Reading *r, const Model *model) {
    return model && heard_number(r, "layers", 0) == model->layers && heard_number(r, "hidden", 0) == model->hidden &&
           heard_number(r, "heads", 0) == model->heads &&
           heard_number(r, "kv_heads", model->kv_heads) == model->kv_heads &&
           heard_number(r, "ffn", model->ffn) == model->ffn && heard_number(r, "vocab", model->vocab) == model->vocab &&
           heard_number(r, "experts", model->experts.count) == model->experts.count;
}

// What a model is that the library has none of, by its name; or NULL.
static const char *kind_not_simulated(const char *name) {
    static const char *const kinds[][2] = {{"whisper", "of speech to text"},
                                           {"wav2vec", "of speech"},
                                           {"hubert", "of speech"},
                                           {"conformer", "of speech"},
                                           {"stable-diffusion", "of diffusion"},
                                           {"sdxl", "of diffusion"},
                                           {"flux", "of diffusion"},
                                           {"pixart", "of diffusion"},
                                           {"kandinsky", "of diffusion"},
                                           {"clip", "of images and texts"},
                                           {"llava", "of images and texts"},
                                           {"-vl", "of images and texts"},
                                           {"mamba", "of state spaces"},
                                           {"rwkv", "of state spaces"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcasestr(name, kinds[i][0])) return kinds[i][1];
    return NULL;
}

void settle_model(Reading *r) {
    const char *recipe = heard_text(r, "recipe");
    if (recipe) { // "llama3_70b(num_nodes=4)"
        recipe = arena_printf(r->arena, "%.*s", (int)strcspn(recipe, "("), recipe);
        ask_for(r, "recipe", "what it sets by itself, and nobody says here, is not known");
    }
    const char *family = heard_text(r, "titan_model"), *flavor = heard_text(r, "titan_flavor"); // llama3 and 70B
    if (family && flavor) hear(r, "model", titan_name(r, family, flavor), heard(r, "titan_flavor")->where);
    if (r->asked->model) return;
    if (heard(r, "nemo_file") && !heard(r, "model"))
        hear(r, "model", heard_text(r, "nemo_file"), heard(r, "nemo_file")->where);
    settle_tune_model(r);
    settle_bare_size(r);
    const Heard *name = heard(r, "model");
    if (name && !name->value) name = NULL; // a variable that the shell is yet to be told
    const char *spelt = spell_model(r), *same = spelt && name ? published_name(r, name->value) : NULL;
    if (same && has_sizes(r, model_called(r, same))) {
        hear(r, "model", same, name->where);
        return;
    }
    if (spelt) {
        hear(r, "model", spelt, heard(r, "layers")->where);
        return;
    }
    if (name) {
        const char *config = config_beside(r, name->value, name->where), *known = published_name(r, name->value);
        if (config || known) {
            hear(r, "model", config ? config : known, name->where);
            return;
        }
    }
    if (recipe && published_name(r, recipe)) {
        hear(r, "model", published_name(r, recipe), heard(r, "recipe")->where);
        return;
    }
    const char *of_program = name || half_spelt(r) ? NULL : model_of_program(r);
    if (of_program) {
        hear(r, "model", of_program, r->machines.where);
        ask_for(r, "model", "by the name of the program; what it sets by itself is not known");
        return;
    }
    const char *called = name ? name->value : "";
    unhear(r, "model");
    const char *half = half_spelt(r);
    if (half && !name) {
        problem_add(r->problems, heard(r, half)->where, "the model's shape is half said: %s missing",
                    missing_of_shape(r));
        problem_hint(r->problems, "is an option misspelt? Or say --model NAME (lockstep model list)");
        problem_is_usage(r->problems);
        return;
    }
    const char *large = name ? model_as_large(r, called) : NULL;
    if (large) {
        hear(r, "model", large, name->where);
        list_line(r, &r->import->open, "model", called, "none of the library; taken as one of its size", name->where);
        ask_for(r, "model",
                arena_printf(r->arena, "\"%.60s\" is taken as %s by its size; --model says otherwise", called, large));
        return;
    }
    const char *kind = name ? kind_not_simulated(called) : NULL;
    if (kind) {
        problem_add(r->problems, name->where, "\"%.80s\" is a model %s: such are not simulated", called, kind);
        problem_hint(r->problems, "--model NAME takes another in its place (lockstep model list), as rough as that is");
        problem_is_usage(r->problems);
        return;
    }
    problem_add(r->problems, name ? name->where : (Where){0},
                name ? "which model is \"%s\"? It is none of the library, and no config.json lies beside"
                     : "which model? Nothing here says it%.0s",
                called);
    problem_hint(r->problems, "say --model NAME (lockstep model list) or --model its/config.json");
    problem_is_usage(r->problems);
}
