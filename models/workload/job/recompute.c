// Activation recomputation: which parts of a layer, and which layers.
#include "models/workload/job/job.h"
#include "models/workload/job/training.h"

#include <string.h>

#include "models/workload/model/model.h"
#include "sim/base/check.h"

const char *const recompute_module_names[RECOMPUTE_MODULE_COUNT] = {
    "core_attn", "layernorm", "mla_up_proj", "mlp", "moe", "moe_act", "shared_experts",
};

const char *const kept_output_names[KEPT_OUTPUT_COUNT] = {"qkv", "core_attn", "proj", "mlp_up", "mlp_down"};

bool names_kept_outputs(const TrainingSpec *training) {
    return training->recompute == RECOMPUTE_OPERATIONS && training->recompute_keeps;
}

bool keeps_output(const TrainingSpec *training, KeptOutput output) {
    CHECK(output < KEPT_OUTPUT_COUNT);
    return training->recompute_keeps >> output & 1;
}

static bool named(const TrainingSpec *training, RecomputeModule module) {
    return training->recompute_modules >> module & 1;
}

bool recomputes(const TrainingSpec *training, RecomputeModule module) {
    CHECK(module < RECOMPUTE_MODULE_COUNT);
    if (training->recompute != RECOMPUTE_SELECTIVE) return false;
    return training->recompute_modules ? named(training, module) : module == MODULE_CORE_ATTN;
}

bool recomputes_some_layers(const TrainingSpec *training) {
    return training->recompute_layers > 0 || training->recompute_every > 0;
}

bool recomputes_layer(const TrainingSpec *training, int layer) {
    if (training->recompute_layers > 0 && layer >= training->recompute_layers) return false;
    return training->recompute_every == 0 || (layer + 1) % training->recompute_every == 0;
}

const TrainingSpec *training_of_layer(const TrainingSpec *training, int layer, TrainingSpec *room) {
    if (training->recompute == RECOMPUTE_NONE || recomputes_layer(training, layer)) return training;
    *room = *training;
    room->recompute = RECOMPUTE_NONE;
    return room;
}

// Chunks have about as many layers each; a model of a few layers more or less is not worth the pipeline's rounding.
static double share_of_layers(const TrainingSpec *training) {
    if (training->recompute_every > 0) return 1.0 / training->recompute_every;
    if (training->recompute_layers == 0) return 1;
    double chunks = training->layout.pp > 1 ? (double)training->layout.pp : 1;
    if (training->layout.vpp > 1) chunks *= training->layout.vpp;
    double share = training->recompute_layers * chunks / training->model->layers;
    return share < 1 ? share : 1;
}

double recomputed_flops_per_sample(const TrainingSpec *training) {
    if (training->recompute != RECOMPUTE_FULL) return 0;
    return share_of_layers(training) * model_forward_flops_per_sample(training->model, (int)training->seq_len);
}

static const char *list_of(Arena *arena, unsigned bits, const char *const *names, int count) {
    const char *list = "";
    for (int i = 0; i < count; i++)
        if (bits >> i & 1) list = arena_printf(arena, "%s%s%s", list, *list ? " " : "", names[i]);
    return list;
}

const char *recompute_text(Arena *arena, const TrainingSpec *training) {
    const char *text = recompute_name(training->recompute);
    if (training->recompute == RECOMPUTE_SELECTIVE && training->recompute_modules)
        text =
            arena_printf(arena, "%s (%s)", text,
                         list_of(arena, training->recompute_modules, recompute_module_names, RECOMPUTE_MODULE_COUNT));
    if (names_kept_outputs(training))
        text = arena_printf(arena, "%s (all but %s)", text,
                            list_of(arena, training->recompute_keeps, kept_output_names, KEPT_OUTPUT_COUNT));
    if (training->recompute != RECOMPUTE_NONE && training->recompute_layers > 0)
        text = arena_printf(arena, "%s (first %d layers of each chunk)", text, training->recompute_layers);
    if (training->recompute != RECOMPUTE_NONE && training->recompute_every > 0)
        text = arena_printf(arena, "%s (1 layer of %d)", text, training->recompute_every);
    return text;
}

static void lacks(const TrainingSpec *training, RecomputeModule module, const char *what, Problems *problems) {
    problem_add(problems, training->where, "recompute_modules names %s, and %s has no %s",
                recompute_module_names[module], training->model->name, what);
    problem_hint(problems, "leave it out");
}

static void check_modules(const TrainingSpec *training, Problems *problems) {
    const Model *model = training->model;
    bool latent = model->latent.key_rank > 0, experts = model->experts.count > 0;
    bool dense = !experts || model->experts.every > 1 || model->experts.first_dense > 0;
    if (training->recompute != RECOMPUTE_SELECTIVE) {
        problem_add(problems, training->where, "recompute_modules says what \"selective\" recomputes, not \"%s\"",
                    recompute_name(training->recompute));
        job_hint(problems, training->scripted, "recompute = \"selective\"");
    }
    if (named(training, MODULE_MLA_UP_PROJ) && !latent)
        lacks(training, MODULE_MLA_UP_PROJ, "latent attention", problems);
    if (named(training, MODULE_MLP) && !dense) lacks(training, MODULE_MLP, "dense layers", problems);
    if (named(training, MODULE_MOE) && !experts) lacks(training, MODULE_MOE, "experts", problems);
    if (named(training, MODULE_MOE_ACT) && !experts) lacks(training, MODULE_MOE_ACT, "experts", problems);
    if (named(training, MODULE_SHARED_EXPERTS) && model->experts.shared_ffn == 0)
        lacks(training, MODULE_SHARED_EXPERTS, "shared experts", problems);
    bool parts = named(training, MODULE_MOE_ACT) || named(training, MODULE_SHARED_EXPERTS);
    if (named(training, MODULE_MOE) && parts) {
        problem_add(problems, training->where, "recompute_modules names moe, which is all of the experts, and a part");
        problem_hint(problems, "name moe, or moe_act and shared_experts");
    }
    if (model->encoder_layers) {
        problem_add(problems, training->where, "recompute_modules is for decoders or encoders; %s is both",
                    model->name);
        problem_hint(problems, "leave recompute_modules out: \"selective\" recomputes the attention cores");
    }
}

static void check_layers(const TrainingSpec *training, Problems *problems) {
    if (training->recompute == RECOMPUTE_NONE) {
        problem_add(problems, training->where, "%s says how many layers are recomputed, and recompute none",
                    training->recompute_layers > 0 ? "recompute_layers" : "recompute_every");
        job_hint(problems, training->scripted, "recompute = \"full\"");
    } else if (training->recompute_layers > 0 && training->recompute_every > 0) {
        problem_add(problems, training->where, "recompute_layers and recompute_every both say which layers");
        problem_hint(problems, "keep one of them");
    }
}

void recompute_check(const TrainingSpec *training, Problems *problems) {
    if (training->recompute_modules) check_modules(training, problems);
    if (training->recompute_keeps && training->recompute != RECOMPUTE_OPERATIONS) {
        problem_add(problems, training->where, "recompute_keeps says what \"operations\" keeps, not \"%s\"",
                    recompute_name(training->recompute));
        job_hint(problems, training->scripted, "recompute = \"operations\"");
    }
    if (recomputes_some_layers(training)) check_layers(training, problems);
}
