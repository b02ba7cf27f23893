// Transformers that users describe: by their sizes in a script, or as text in place of a name:
// "transformer:layers=48,hidden=6656,heads=52,ffn=17920".
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/model/model_internal.h"

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

// ---- As text.

static const char prefix[] = "transformer:";

#define PLACE(member) offsetof(TransformerShape, member)
static const struct Size {
    const char *name;
    size_t place;
    bool is_flag; // else a whole number
} sizes[] = {
    {"layers", PLACE(layers), false},
    {"hidden", PLACE(hidden), false},
    {"heads", PLACE(heads), false},
    {"kv_heads", PLACE(kv_heads), false},
    {"head_dim", PLACE(head_dim), false},
    {"ffn", PLACE(ffn), false},
    {"vocab", PLACE(vocab), false},
    {"max_positions", PLACE(max_positions), false},
    {"gated_mlp", PLACE(gated_mlp), true},
    {"untied_embedding", PLACE(untied_embedding), true},
    {"rms_norm", PLACE(rms_norm), true},
    {"causal", PLACE(causal), true},
    {"experts", PLACE(experts.count), false},
    {"experts_per_token", PLACE(experts.per_token), false},
    {"expert_ffn", PLACE(experts.ffn), false},
    {"shared_expert_ffn", PLACE(experts.shared_ffn), false},
    {"dense_layers", PLACE(experts.first_dense), false},
    {"expert_every", PLACE(experts.every), false},
    {"q_lora_rank", PLACE(latent.query_rank), false},
    {"kv_lora_rank", PLACE(latent.key_rank), false},
    {"qk_nope_head_dim", PLACE(latent.plain_dim), false},
    {"qk_rope_head_dim", PLACE(latent.rotary_dim), false},
    {"v_head_dim", PLACE(latent.value_dim), false},
    {"mtp_layers", PLACE(extra_heads), false},
    {"qk_norm", PLACE(query_norms), true},
};
enum { SIZES = sizeof sizes / sizeof *sizes };

const char *model_size_name(int index) { return index < SIZES ? sizes[index].name : NULL; }

const char *model_size_text(Arena *arena, const Model *model, int index) {
    TransformerShape shape = {.layers = model->layers,
                              .hidden = model->hidden,
                              .heads = model->heads,
                              .kv_heads = model->kv_heads,
                              .head_dim = model->head_dim,
                              .ffn = model->ffn,
                              .vocab = model->vocab,
                              .max_positions = model->max_positions,
                              .gated_mlp = model->gated_mlp,
                              .untied_embedding = !model->tied_embedding,
                              .causal = model->causal,
                              .rms_norm = model->rms_norm,
                              .query_norms = model->query_norms,
                              .experts = model->experts,
                              .latent = model->latent,
                              .extra_heads = model->extra_heads};
    const char *place = (const char *)&shape + sizes[index].place;
    if (model->kind != MODEL_TRANSFORMER) return NULL;
    if (sizes[index].is_flag) return *(const bool *)place ? "true" : "false";
    int number = *(const int *)(const void *)place;
    return number > 0 ? arena_printf(arena, "%d", number) : NULL;
}

bool model_is_spelt(const char *name) { return strncmp(name, prefix, sizeof prefix - 1) == 0; }

static bool read_size(TransformerShape *shape, const struct Size *size, const char *value) {
    char *end, *place = (char *)shape + size->place;
    long number = strtol(value, &end, 10);
    bool yes = strcmp(value, "true") == 0;
    if (size->is_flag) {
        *(bool *)place = yes;
        return yes || strcmp(value, "false") == 0;
    }
    *(int *)(void *)place = (int)number;
    return end != value && !*end && number >= 0 && number <= 1000000000;
}

const Model *spelt_model(Arena *arena, const char *name, Where where, Problems *problems) {
    TransformerShape shape = {.name = "transformer", .vocab = 50304, .max_positions = 2048, .causal = true};
    const char *names[SIZES];
    for (int i = 0; i < SIZES; i++) names[i] = sizes[i].name;
    for (const char *at = name + sizeof prefix - 1; *at;) {
        size_t length = strcspn(at, ",");
        const char *pair = arena_printf(arena, "%.*s", (int)length, at), *equals = strchr(pair, '=');
        const char *key = arena_printf(arena, "%.*s", (int)(equals ? equals - pair : (long)length), pair);
        int i = 0;
        while (i < SIZES && strcmp(sizes[i].name, key) != 0) i++;
        if (i == SIZES) {
            problem_add(problems, where, "a transformer has no size \"%s\"", key);
            problem_hint_names(problems, key, names, SIZES);
            return NULL;
        }
        if (!equals || !read_size(&shape, &sizes[i], equals + 1)) {
            problem_add(problems, where, "\"%s\" is no size of a transformer", pair);
            problem_hint(problems, "%s", sizes[i].is_flag ? "true or false" : "a whole number: layers=32");
            return NULL;
        }
        at += length + (at[length] == ',');
    }
    return model_transformer(arena, &shape, where, problems);
}
