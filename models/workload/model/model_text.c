// A transformer given as text in place of a name: "transformer:layers=48,hidden=6656,heads=52,ffn=17920".
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/model/model_internal.h"

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
