// Activation recomputation: which parts of a layer, and which layers.
#pragma once

#include "models/workload/job/training.h"
#include "sim/base/arena.h"
#include "sim/base/problem.h"

// Parts of a layer by Megatron-Core's names (--recompute-modules): the attention core; both norms; the up-projections
// of latent attention's queries, keys and values; the dense feed-forward part; all of the experts with router and
// exchanges; only the activation between their products; the shared experts.
typedef enum RecomputeModule {
    MODULE_CORE_ATTN,
    MODULE_LAYERNORM,
    MODULE_MLA_UP_PROJ,
    MODULE_MLP,
    MODULE_MOE,
    MODULE_MOE_ACT,
    MODULE_SHARED_EXPERTS,
    RECOMPUTE_MODULE_COUNT
} RecomputeModule;
extern const char *const recompute_module_names[RECOMPUTE_MODULE_COUNT];

// Outputs of operators, by the names of operators.h, that may be kept where all else of a layer is computed again: the
// products of queries, keys and values; the attention core; its output product; the products into the MLP, and out of
// it, whose output the next layer keeps. JAX's policies by name (MaxText, decoders.py): save_qkv_proj is qkv,
// save_dot_except_mlp qkv and proj, save_dot_except_mlpwi mlp_down too, minimal all products, minimal_flash core_attn
// too.
typedef enum KeptOutput {
    KEEPS_QKV,
    KEEPS_CORE_ATTN,
    KEEPS_PROJ,
    KEEPS_MLP_UP,
    KEEPS_MLP_DOWN,
    KEPT_OUTPUT_COUNT
} KeptOutput;
extern const char *const kept_output_names[KEPT_OUTPUT_COUNT];

// Whether the job names what RECOMPUTE_OPERATIONS keeps, and whether this is of it.
bool names_kept_outputs(const TrainingSpec *training);
bool keeps_output(const TrainingSpec *training, KeptOutput output);

// Whether this part is computed again by itself: under RECOMPUTE_SELECTIVE, when named or, with none named, the
// attention core.
bool recomputes(const TrainingSpec *training, RecomputeModule module);

// Whether some layers of a chunk are not recomputed, and whether this one, from 0, is recomputed.
bool recomputes_some_layers(const TrainingSpec *training);
bool recomputes_layer(const TrainingSpec *training, int layer);

// The job as the layer-th layer of a pipeline chunk (from 0) sees it: beyond recompute_layers, and between those that
// recompute_every counts, nothing is recomputed. Returns `training` itself where that changes nothing, else a copy in
// `room`.
const TrainingSpec *training_of_layer(const TrainingSpec *training, int layer, TrainingSpec *room);

// Floating-point operations of a sample's forward that backward repeats, in matrix products; of whole layers only.
double recomputed_flops_per_sample(const TrainingSpec *training);

// "none", "full (the first 4 layers of each chunk)", "selective (core_attn moe_act)".
const char *recompute_text(Arena *arena, const TrainingSpec *training);

// Parts that this model does not have, or that the choice of `recompute` makes no use of.
void recompute_check(const TrainingSpec *training, Problems *problems);
