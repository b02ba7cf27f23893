// A transformer spelt out where a name would stand: "transformer:layers=48,hidden=6656,heads=52,ffn=17920".
#include <stdlib.h>
#include <string.h>

#include "models/workload/model/model_internal.h"

static const char prefix[] = "transformer:";

typedef struct Size {
    const char *name;
    int *number; // or
    bool *flag;
} Size;

bool model_is_spelt(const char *name) { return strncmp(name, prefix, sizeof prefix - 1) == 0; }

static bool read_size(const Size *size, const char *value) {
    char *end;
    long number = strtol(value, &end, 10);
    bool yes = strcmp(value, "true") == 0;
    if (size->flag) *size->flag = yes;
    if (size->flag) return yes || strcmp(value, "false") == 0;
    *size->number = (int)number;
    return end != value && !*end && number >= 0 && number <= 1000000000;
}

const Model *spelt_model(Arena *arena, const char *name, Where where, Problems *problems) {
    TransformerShape shape = {.name = "transformer", .vocab = 50304, .max_positions = 2048, .causal = true};
    const Size sizes[] = {
        {"layers", &shape.layers, NULL},
        {"hidden", &shape.hidden, NULL},
        {"heads", &shape.heads, NULL},
        {"kv_heads", &shape.kv_heads, NULL},
        {"head_dim", &shape.head_dim, NULL},
        {"ffn", &shape.ffn, NULL},
        {"vocab", &shape.vocab, NULL},
        {"max_positions", &shape.max_positions, NULL},
        {"gated_mlp", NULL, &shape.gated_mlp},
        {"untied_embedding", NULL, &shape.untied_embedding},
        {"rms_norm", NULL, &shape.rms_norm},
        {"causal", NULL, &shape.causal},
        {"experts", &shape.experts.count, NULL},
        {"experts_per_token", &shape.experts.per_token, NULL},
        {"expert_ffn", &shape.experts.ffn, NULL},
        {"shared_expert_ffn", &shape.experts.shared_ffn, NULL},
        {"dense_layers", &shape.experts.first_dense, NULL},
        {"expert_every", &shape.experts.every, NULL},
    };
    enum { SIZES = sizeof sizes / sizeof *sizes };
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
        if (!equals || !read_size(&sizes[i], equals + 1)) {
            problem_add(problems, where, "\"%s\" is no size of a transformer", pair);
            problem_hint(problems, "%s", sizes[i].flag ? "true or false" : "a whole number: layers=32");
            return NULL;
        }
        at += length + (at[length] == ',');
    }
    return model_transformer(arena, &shape, where, problems);
}
