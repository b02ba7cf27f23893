// What backward computes again: which parts of a layer, and which layers.
#ifndef LOCKSTEP_WORKLOAD_RECOMPUTE_H
#define LOCKSTEP_WORKLOAD_RECOMPUTE_H

#include "models/workload/job/training.h"
#include "sim/arena.h"
#include "sim/problem.h"

// Parts of a layer by Megatron-Core's names (--recompute-modules): the attention core; both norms; what unfolds latent
// attention's queries, keys and values; the dense feed-forward part; all of the experts with router and exchanges; only
// the activation between their products; the shared experts.
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

// Whether this part is computed again by itself: under RECOMPUTE_SELECTIVE, when named or, with none named, the
// attention core.
bool recomputes(const TrainingSpec *training, RecomputeModule module);

// The job as the layer-th layer of a pipeline chunk (from 0) sees it: beyond recompute_layers nothing is recomputed.
// Returns `training` itself where that changes nothing, else a copy in `room`.
const TrainingSpec *training_of_layer(const TrainingSpec *training, int layer, TrainingSpec *room);

// Floating-point operations of a sample's forward that backward repeats, in matrix products; of whole layers only.
double recomputed_flops_per_sample(const TrainingSpec *training);

// "none", "full (the first 4 layers of each chunk)", "selective (core_attn moe_act)".
const char *recompute_text(Arena *arena, const TrainingSpec *training);

// Reads "core_attn,moe_act" into bits; a problem for a name that is none.
unsigned recompute_modules_read(const char *text, Where where, Problems *problems);
// Parts that this model does not have, or that the choice of `recompute` makes no use of.
void recompute_check(const TrainingSpec *training, Problems *problems);

#endif
