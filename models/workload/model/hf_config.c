// One row per model_type: the names of its keys and its class's defaults (huggingface/transformers,
// src/transformers/models/*/configuration_*.py).
#include "models/workload/model/model.h"

#include <math.h>
#include <string.h>

#include "sim/system/file.h"

typedef struct Keys {
    const char *layers, *hidden, *heads, *kv_heads, *head_dim, *ffn, *vocab, *positions;
} Keys;

static const Keys usual = {"num_hidden_layers", "hidden_size",       "num_attention_heads", "num_key_value_heads",
                           "head_dim",          "intermediate_size", "vocab_size",          "max_position_embeddings"};
static const Keys gpt2_keys = {"n_layer", "n_embd", "n_head", NULL, NULL, "n_inner", "vocab_size", "n_positions"};
static const Keys mpt_keys = {"n_layers", "d_model", "n_heads", NULL, NULL, NULL, "vocab_size", "max_seq_len"};

typedef enum Trait {
    GATED = 1,
    TIED = 2,
    ABSOLUTE = 4, // a table of positions
    BIASES = 8,
    ENCODER = 16,
    PLAIN_NORM = 32, // a norm has a scale and no bias
    QUERY_BIASES = 64,
    QUERY_NORMS = 128,
    LATENT = 256,
    ALL_EXPERTS = 512, // the usual width of the MLP is that of an expert; no layer is dense
} Trait;

typedef struct HfType {
    const char *type;
    const Keys *keys;
    unsigned traits;
    int layers, hidden, heads, kv_heads, head_dim, ffn, vocab, positions; // 0: follows from the others
    const char *experts_key; // how many experts a layer has; NULL: no experts
    int experts, per_token, expert_ffn;
} HfType;

#define LLAMA (GATED | PLAIN_NORM)
// clang-format off
static const HfType types[] = {
    {"llama", &usual, LLAMA, 32, 4096, 32, 0, 0, 11008, 32000, 2048, NULL, 0, 0, 0},
    {"mistral", &usual, LLAMA, 32, 4096, 32, 8, 0, 14336, 32000, 131072, NULL, 0, 0, 0},
    {"mixtral", &usual, LLAMA | ALL_EXPERTS, 32, 4096, 32, 8, 0, 14336, 32000, 131072, "num_local_experts", 8, 2, 0},
    {"qwen2", &usual, LLAMA | QUERY_BIASES, 32, 4096, 32, 32, 0, 22016, 151936, 32768, NULL, 0, 0, 0},
    {"qwen3", &usual, LLAMA | QUERY_NORMS, 32, 4096, 32, 32, 128, 22016, 151936, 32768, NULL, 0, 0, 0},
    {"qwen2_moe", &usual, LLAMA | QUERY_BIASES, 24, 2048, 16, 16, 0, 5632, 151936, 32768, "num_experts", 60, 4, 1408},
    {"qwen3_moe", &usual, LLAMA | QUERY_NORMS, 24, 2048, 32, 4, 0, 6144, 151936, 32768, "num_experts", 128, 8, 768},
    {"deepseek_v2", &usual, LLAMA | LATENT, 32, 4096, 32, 0, 0, 11008, 32000, 2048, "n_routed_experts", 64, 6, 1407},
    {"deepseek_v3", &usual, LLAMA | LATENT, 61, 7168, 128, 0, 0, 18432, 129280, 4096, "n_routed_experts", 256, 8, 2048},
    {"kimi_k2", &usual, LLAMA | LATENT, 61, 7168, 64, 0, 0, 18432, 163840, 131072, "n_routed_experts", 384, 8, 2048},
    {"gpt_oss", &usual, LLAMA | QUERY_BIASES | ALL_EXPERTS, 36, 2880, 64, 8, 64, 2880, 201088, 131072, "num_local_experts", 128, 4, 0},
    {"gpt2", &gpt2_keys, TIED | ABSOLUTE | BIASES, 12, 768, 12, 0, 0, 0, 50257, 1024, NULL, 0, 0, 0},
    {"gpt_neox", &usual, BIASES, 44, 6144, 64, 0, 0, 24576, 50432, 2048, NULL, 0, 0, 0},
    {"mpt", &mpt_keys, TIED | PLAIN_NORM, 24, 2048, 16, 0, 0, 0, 50368, 2048, NULL, 0, 0, 0},
    {"bert", &usual, TIED | ABSOLUTE | BIASES | ENCODER, 12, 768, 12, 0, 0, 3072, 30522, 512, NULL, 0, 0, 0},
};
// clang-format on
#define TYPE_COUNT ((int)(sizeof types / sizeof *types))
#define LARGEST_SIZE 100000000
#define MOST_EXPERTS 65536

// Types that are well known and not read, with the reason.
static const struct {
    const char *type, *why;
} refused[] = {
    {"t5", "it has an encoder and a decoder, and models here have one of them"},
    {"vit", "it takes images; sim.model.transformer with causal = false is the nearest"},
    {"clip", "it has two encoders; give the larger one as sim.model.transformer"},
    {"gemma", "its heads, norms and embedding scale differ from Llama's"},
    {"mamba", "it has no attention"},
};

// ---- Keys.

typedef struct Reader {
    Arena *arena;
    const Json *json;
    Problems *problems;
} Reader;

static const Json *given(const Reader *reader, const char *key) { // NULL when absent or null
    const Json *value = key ? json_get(reader->json, key) : NULL;
    return value && value->kind != JSON_NULL ? value : NULL;
}

static int whole(const Reader *reader, const char *key, int fallback, int least) {
    const Json *value = given(reader, key);
    if (!value) return fallback;
    bool fits = value->kind == JSON_NUMBER && value->number == floor(value->number) && value->number >= least &&
                value->number <= LARGEST_SIZE;
    if (fits) return (int)value->number;
    problem_add(reader->problems, value->where, "\"%s\" is no whole number from %d to %d", key, least, LARGEST_SIZE);
    problem_hint(reader->problems, "leave it out, or null, for the class's own value %d", fallback);
    return fallback;
}

static bool flag(const Reader *reader, const char *key, bool fallback) {
    const Json *value = given(reader, key);
    if (!value) return fallback;
    if (value->kind == JSON_BOOL) return value->boolean;
    problem_add(reader->problems, value->where, "\"%s\" is neither true nor false", key);
    return fallback;
}

static const HfType *type_named(const char *name) {
    for (int i = 0; i < TYPE_COUNT; i++)
        if (strcmp(types[i].type, name) == 0) return &types[i];
    return NULL;
}

static void unknown_type(const Reader *reader, const char *name, Where where) {
    const char *names[TYPE_COUNT];
    for (int i = 0; i < TYPE_COUNT; i++) names[i] = types[i].type;
    problem_add(reader->problems, where, "model_type \"%.60s\" is not one that can be read", name);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].type, name) == 0) {
            problem_hint(reader->problems, "%s", refused[i].why);
            return;
        }
    problem_hint_names(reader->problems, name, names, TYPE_COUNT);
}

static const HfType *type_of(const Reader *reader, const char *as) {
    const Json *value = given(reader, "model_type");
    Where where = value ? value->where : reader->json->where;
    if (as) {
        if (!type_named(as)) unknown_type(reader, as, (Where){0});
        return type_named(as);
    }
    if (!value || value->kind != JSON_TEXT) {
        problem_add(reader->problems, where, "a config.json says its \"model_type\", and this does not");
        problem_hint(reader->problems, "add \"model_type\": \"llama\", or say --as llama");
        return NULL;
    }
    const HfType *type = type_named(value->text);
    if (!type) unknown_type(reader, value->text, where);
    return type;
}

// ---- Parts of a model.

static LatentShape latent_of(const Reader *reader) {
    const Json *query_rank = json_get(reader->json, "q_lora_rank");
    bool none = query_rank && query_rank->kind == JSON_NULL; // null: queries without a latent
    return (LatentShape){
        .query_rank = none ? 0 : whole(reader, "q_lora_rank", 1536, 1),
        .key_rank = whole(reader, "kv_lora_rank", 512, 1),
        .plain_dim = whole(reader, "qk_nope_head_dim", 128, 1),
        .rotary_dim = whole(reader, "qk_rope_head_dim", 64, 1),
        .value_dim = whole(reader, "v_head_dim", 128, 1),
    };
}

static TransformerShape shape_of(const Reader *reader, const HfType *type) {
    const Keys *keys = type->keys;
    TransformerShape shape = {
        .layers = whole(reader, keys->layers, type->layers, 1),
        .hidden = whole(reader, keys->hidden, type->hidden, 1),
        .heads = whole(reader, keys->heads, type->heads, 1),
        .kv_heads = whole(reader, keys->kv_heads, type->kv_heads, 1),
        .head_dim = whole(reader, keys->head_dim, type->head_dim, 1),
        .ffn = whole(reader, keys->ffn, type->ffn, 1),
        .vocab = whole(reader, keys->vocab, type->vocab, 1),
        .max_positions = whole(reader, keys->positions, type->positions, 1),
        .gated_mlp = type->traits & GATED,
        .untied_embedding = !flag(reader, "tie_word_embeddings", type->traits & TIED),
        .causal = !(type->traits & ENCODER),
        .rms_norm = type->traits & PLAIN_NORM,
        .query_norms = type->traits & QUERY_NORMS,
    };
    if (type->keys == &mpt_keys) {
        double wide = (double)whole(reader, "expansion_ratio", 4, 1) * shape.hidden;
        shape.ffn = wide < LARGEST_SIZE ? (int)wide : LARGEST_SIZE;
    }
    if (type->traits & LATENT) { // its keys and values come out of the latent: one of each per head
        shape.kv_heads = shape.head_dim = 0;
        shape.latent = latent_of(reader);
    }
    return shape;
}

static ExpertShape experts_of(const Reader *reader, const HfType *type, const TransformerShape *shape) {
    int ffn = type->traits & ALL_EXPERTS ? shape->ffn : whole(reader, "moe_intermediate_size", type->expert_ffn, 1);
    ExpertShape experts = {
        .count = whole(reader, type->experts_key, type->experts, 1),
        .per_token = whole(reader, "num_experts_per_tok", type->per_token, 1),
        .ffn = ffn,
        .every = whole(reader, type->traits & LATENT ? "moe_layer_freq" : "decoder_sparse_step", 1, 1),
        .biases = strcmp(type->type, "gpt_oss") == 0,
    };
    if (type->traits & LATENT) {
        double shared = (double)whole(reader, "n_shared_experts", 1, 0) * ffn;
        experts.shared_ffn = shared < LARGEST_SIZE ? (int)shared : LARGEST_SIZE;
        experts.first_dense = whole(reader, "first_k_dense_replace", strcmp(type->type, "deepseek_v3") == 0 ? 3 : 0, 0);
    }
    if (strcmp(type->type, "qwen2_moe") == 0) {
        experts.shared_ffn = whole(reader, "shared_expert_intermediate_size", 5632, 0);
        experts.shared_gate = experts.shared_ffn > 0;
    }
    const Json *dense = given(reader, "mlp_only_layers");
    if (dense && dense->count > 0) {
        problem_add(reader->problems, dense->where, "\"mlp_only_layers\" names single dense layers");
        problem_hint(reader->problems, "dense layers are known as the first ones, or as those between every n-th");
    }
    if (experts.count > MOST_EXPERTS) {
        problem_add(reader->problems, reader->json->where, "a layer of %d experts is more than can be worked with",
                    experts.count);
        problem_hint(reader->problems, "at most %d", MOST_EXPERTS);
    }
    if (experts.per_token > experts.count) {
        problem_add(reader->problems, reader->json->where, "a token takes %d experts, but a layer has %d",
                    experts.per_token, experts.count);
        problem_hint(reader->problems, "look at \"num_experts_per_tok\" and \"%s\"", type->experts_key);
    }
    return experts;
}

// ---- A model.

static const char *name_of(const Reader *reader, const HfType *type) {
    const Json *name = given(reader, "_name_or_path");
    bool is_named = name && name->kind == JSON_TEXT && name->text[0];
    return is_named && json_texts_are_names(name, reader->problems) ? name->text : type->type;
}

static const Model *build(const Reader *reader, const HfType *type, bool nested) {
    int before = problems_added(reader->problems);
    TransformerShape shape = shape_of(reader, type);
    shape.name = name_of(reader, type);
    const Model *plain = model_transformer(reader->arena, &shape, reader->json->where, reader->problems);
    ExpertShape experts = type->experts_key ? experts_of(reader, type, &shape) : (ExpertShape){0};
    int extra_heads = type->traits & LATENT ? whole(reader, "num_nextn_predict_layers", 0, 0) : 0;
    bool biases = flag(reader, "attention_bias", type->traits & QUERY_BIASES);
    if (extra_heads > 1) {
        problem_add(reader->problems, reader->json->where, "\"num_nextn_predict_layers\" is %d", extra_heads);
        problem_hint(reader->problems, "at most 1 is known");
    }
    if (!plain || problems_added(reader->problems) > before) return NULL;

    Model *model = ARENA_NEW(reader->arena, Model);
    *model = *plain;
    model->family = type->type;
    model->source = arena_printf(reader->arena, "%s%s", reader->json->where.file,
                                 nested ? ", text_config: the language model alone" : "");
    model->learned_positions = type->traits & ABSOLUTE;
    model->biases = type->traits & BIASES;
    model->query_biases = biases && !model->biases;
    model->experts = experts;
    model->extra_heads = extra_heads;
    return model;
}

const Model *hf_model_from_json(Arena *arena, const Json *json, const char *as, Problems *problems) {
    Reader reader = {arena, json, problems};
    if (json->kind != JSON_OBJECT) {
        problem_add(problems, json->where, "a config.json is an object, { … }");
        return NULL;
    }
    const Json *text = given(&reader, "text_config"); // of a model that takes images too
    bool nested = text && text->kind == JSON_OBJECT;
    if (nested) reader.json = text;
    const HfType *type = type_of(&reader, as);
    return type ? build(&reader, type, nested) : NULL;
}

const Model *hf_model_read_file(Arena *arena, const char *path, const char *as, Problems *problems) {
    const Json *json = json_read_loose(arena, NULL, path, (Where){0}, problems);
    return json ? hf_model_from_json(arena, json, as, problems) : NULL;
}

const Model *hf_model_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where,
                                 Problems *problems) {
    const Json *json = json_read_loose(arena, gate, path, where, problems);
    return json ? hf_model_from_json(arena, json, NULL, problems) : NULL;
}
