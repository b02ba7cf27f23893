// How each software counts its batches and layouts, where that is its own: rows `rule` of software/software.options.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"

static void settle_torchtitan(Reading *r, Where where) {
    double replicate = heard_number(r, "replicate", 1), shard = heard_number(r, "shard_degree", -1),
           pp = heard_number(r, "pp", 1);
    double dp = fmax(1, floor(world_of(r) / layout_of(r))), cp = heard_number(r, "cp", 1);
    double shared = shard > 0 ? shard : dp / fmax(1, replicate);
    double said = fmax(1, replicate) * shard * layout_of(r);
    if (shard > 0 && world_of(r) > 0 && said != world_of(r)) {
        problem_add(r->problems, heard(r, "shard_degree")->where,
                    "%g replicas x %g shards x %g (tp x pp x cp) are %g GPUs, and %g are started: torchtitan refuses",
                    fmax(1, replicate), shard, layout_of(r), said, world_of(r));
        problem_hint(r->problems, "data_parallel_shard_degree = -1 takes what is left");
    }
    bool sharded = shared * cp > 1;
    hear(r, "zero",
         !sharded                                                                ? "0"
         : heard(r, "reshard") && strcmp(heard_text(r, "reshard"), "never") == 0 ? "2"
                                                                                 : "3",
         where);
    if (sharded && replicate > 1) hear_number(r, "zero-shard", shared * cp, where);
    if (heard_number(r, "tp", 1) > 1 &&
        heard_number(r, "ep", 1) > 1) { // experts whole unless said, tokens always split
        if (!heard(r, "etp")) hear(r, "etp", "1", where);
        hear(r, "sequence-parallel", "true", where);
    }
    double local = heard_number(r, "local_batch", 1), global = heard_number(r, "titan_global", -1);
    double micro = pp > 1 ? heard_number(r, "pipeline_micro", 1) : local;
    hear_number(r, "micro-batch", micro, where);
    hear_number(r, "global-batch", global > 0 ? global : local * dp * heard_number(r, "grad-accumulation", 1), where);
    unhear(r, "grad-accumulation");
    const char *schedule = heard_text(r, "schedule_word"), *converters = heard_text(r, "converters");
    if (pp > 1 && schedule && strcasecmp(schedule, "Interleaved1F1B") == 0 && !heard(r, "layers_per_virtual_stage"))
        hear(r, "vpp", "2", where);
    if (pp > 1 && schedule && strcasecmp(schedule, "GPipe") == 0) hear(r, "schedule", "gpipe", where);
    if (converters && (strstr(converters, "float8") || strstr(converters, ".mx"))) {
        hear(r, "precision", "fp8", where);
        hear(r, "fp8-recipe", strstr(converters, "float8") ? "tensorwise" : "mxfp8", where);
    }
    const char *every = heard_text(r, "selective_ac"), *recompute = heard_text(r, "recompute");
    if (recompute && strcmp(recompute, "operations") == 0 && every && isdigit((unsigned char)*every)) {
        hear(r, "recompute", "full", where);
        if (atof(every) > 1) hear(r, "recompute-every", every, where);
    }
}

static double axis(const Reading *r, const char *key) {
    double value = heard_number(r, key, 1);
    return value < 0 ? 0 : value;
}

static void settle_maxtext(Reading *r, Where where) {
    if (heard(r, "quantization")) hear(r, "precision", heard_text(r, "quantization"), heard(r, "quantization")->where);
    static const char *const inner[] = {"ici_data",     "ici_fsdp",    "ici_tensor",
                                        "ici_pipeline", "ici_context", "ici_expert"};
    static const char *const outer[] = {"dcn_data", "dcn_fsdp", "dcn_pipeline", "dcn_tensor"};
    const Heard *shared = heard(r, "shared_experts"); // each as wide as the others
    if (shared)
        hear_number(r, "shared_expert_ffn", heard_number(r, "shared_experts", 0) * heard_number(r, "expert_ffn", 0),
                    shared->where);
    double slice = r->machines.per_node > 0 ? r->machines.per_node : world_of(r), slices = fmax(1, world_of(r) / slice);
    if (!heard(r, "ici_fsdp")) hear(r, "ici_fsdp", "-1", where);
    if (!heard(r, "dcn_data")) hear(r, "dcn_data", "-1", where);
    double product = 1, across = 1;
    for (int i = 0; i < 6; i++) product *= axis(r, inner[i]) > 0 ? axis(r, inner[i]) : 1;
    for (int i = 0; i < 4; i++) across *= axis(r, outer[i]) > 0 ? axis(r, outer[i]) : 1;
    for (int i = 0; i < 6; i++)
        if (axis(r, inner[i]) == 0) hear_number(r, inner[i], fmax(1, floor(slice / product)), where);
    for (int i = 0; i < 4; i++)
        if (axis(r, outer[i]) == 0) hear_number(r, outer[i], fmax(1, floor(slices / across)), where);
    double tp = axis(r, "ici_tensor") * axis(r, "dcn_tensor"), pp = axis(r, "ici_pipeline") * axis(r, "dcn_pipeline"),
           cp = axis(r, "ici_context");
    double shard = axis(r, "ici_fsdp") * axis(r, "dcn_fsdp"), dp = shard * axis(r, "ici_data") * axis(r, "dcn_data");
    hear_number(r, "tp", tp, where);
    hear_number(r, "pp", pp, where);
    hear_number(r, "cp", cp, where);
    if (axis(r, "ici_expert") > 1) hear_number(r, "ep", axis(r, "ici_expert"), where);
    hear(r, "zero", shard > 1 ? "3" : "0", where);
    if (shard > 1 && dp > shard) hear_number(r, "zero-shard", shard, where);
    hear_number(r, "micro-batch", heard_number(r, "per_device", 1) * tp * cp, where);
}

static void settle_lightning(Reading *r, Where where) {
    if (heard(r, "checkpointed")) hear(r, "recompute", "full", heard(r, "checkpointed")->where);
    const char *said = heard_text(r, "lightning_strategy"), *dot = said ? strrchr(said, '.') : NULL;
    if (!said) return;
    if (dot) said = dot + 1;
    bool fsdp = strncasecmp(said, "fsdp", 4) == 0, deepspeed = strncasecmp(said, "deepspeed", 9) == 0;
    if (fsdp && !heard(r, "zero")) hear(r, "zero", "3", where);
    if (strncasecmp(said, "ddp", 3) == 0) hear(r, "zero", "0", where);
    if (deepspeed && !heard(r, "zero"))
        hear(r, "zero", strstr(said, "stage_3") ? "3" : strstr(said, "stage_1") ? "1" : "2", where);
    if (strstr(said, "offload")) {
        const char *to = strstr(said, "nvme") ? "nvme" : "host";
        hear(r, "offload-optimizer", to, where);
        if (fsdp || strstr(said, "stage_3")) hear(r, "offload-parameters", to, where);
    }
}

static void settle_olmo_core(Reading *r, Where where) {
    const char *kind = heard_text(r, "core_parallel");
    double shard = heard_number(r, "shard_degree", 0), replicas = heard_number(r, "replicate", 0);
    if (!kind) return;
    hear(r, "zero", strcmp(kind, "ddp") == 0 ? "0" : "3", where);
    if (strcmp(kind, "hsdp") != 0) return;
    if (shard <= 0) shard = replicas > 0 ? world_of(r) / layout_of(r) / replicas : r->machines.per_node;
    hear_number(r, "zero-shard", shard, where);
}

static void settle_nanochat(Reading *r, Where where) {
    if (!heard(r, "seq")) hear(r, "seq", "2048", where);
    if (!heard(r, "micro-batch")) hear(r, "micro-batch", "32", where);
    if (!heard(r, "global_tokens")) hear(r, "global_tokens", "524288", where);
}

// LoRA unless said otherwise; DeepSpeed's configurations by name.
static void settle_swift(Reading *r, Where where) {
    const char *type = heard_text(r, "swift_type"), *named = heard_text(r, "deepspeed_word");
    if (type && strcmp(type, "full") == 0)
        unhear(r, "lora-rank");
    else if (!heard(r, "lora-rank"))
        hear(r, "lora-rank", "8", where);
    if (named) hear(r, "zero", arena_printf(r->arena, "%.1s", named), where);
    if (named && named[0] && named[1]) hear(r, "offload_both", "host", where), settle_offload(r);
}

static void settle_olmo(Reading *r, Where where) {
    if (heard(r, "ddp")) hear(r, "zero", "0", where);
}

// pytorch/examples' imagenet: batch and loaders are those of a machine.
static void settle_imagenet(Reading *r, Where where) {
    double per_node = r->machines.per_node;
    const Heard *batch = heard(r, "node_batch"), *workers = heard(r, "node_workers");
    if (batch && per_node > 0)
        hear_number(r, "micro-batch", floor(heard_number(r, "node_batch", 0) / per_node), batch->where);
    if (workers && per_node > 0)
        hear_number(r, "loader-workers", ceil(heard_number(r, "node_workers", 0) / per_node), workers->where);
    hear(r, "zero", "0", where);
}

static void settle_colossal(Reading *r, Where where) {
    double batch = heard_number(r, "rank_batch", 1), micro = heard_number(r, "rank_micro", 1),
           more = heard_number(r, "rank_accumulation", 1);
    bool pipeline = heard_number(r, "pp", 1) > 1;
    if (!pipeline) micro = batch;
    hear_number(r, "micro-batch", micro, where);
    hear_number(r, "grad-accumulation", fmax(1, batch / micro) * more, where);
    const char *plugin = heard_text(r, "colossal_plugin");
    if (plugin && strstr(plugin, "gemini") && !heard(r, "zero")) hear(r, "zero", "3", where);
    if (plugin && strstr(plugin, "zero2")) hear(r, "zero", "2", where);
}

// A device's batch is divided into passes.
static void settle_nvidia_bert(Reading *r, Where where) {
    double steps = fmax(1, heard_number(r, "rank_accumulation", 1)), batch = heard_number(r, "rank_batch", 0);
    if (batch <= 0) return;
    hear_number(r, "micro-batch", fmax(1, floor(batch / steps)), where);
    hear_number(r, "grad-accumulation", steps, where);
}

// Tuning on several GPUs recomputes its blocks.
static void settle_litgpt(Reading *r, Where where) {
    if (r->program && strstr(r->program, "finetune") && world_of(r) > 1) hear(r, "recompute", "full", where);
}

static void settle_torchtune(Reading *r, Where where) {
    if (r->program && strstr(r->program, "single_device")) hear(r, "zero", "0", where);
}

// Its micro-batches are those of all ranks together.
static void settle_nanogpt(Reading *r, Where where) {
    double all = heard_number(r, "all_accumulation", 0);
    if (all > 0) hear_number(r, "grad-accumulation", fmax(1, floor(all / fmax(1, world_of(r)))), where);
}

static void settle_automodel(Reading *r, Where where) {
    const char *kind = heard_text(r, "automodel");
    double replicate = heard_number(r, "replicate", 1);
    if (!kind) return;
    hear(r, "zero", strcasestr(kind, "fsdp") ? "3" : "0", where);
    if (replicate > 1)
        hear_number(r, "zero-shard", world_of(r) / layout_of(r) * heard_number(r, "cp", 1) / replicate, where);
}

static const struct {
    const char *name;
    ImportRule *rule;
} rules[] = {
    {"torchtitan", settle_torchtitan},
    {"maxtext", settle_maxtext},
    {"lightning", settle_lightning},
    {"olmo_core", settle_olmo_core},
    {"nanochat", settle_nanochat},
    {"swift", settle_swift},
    {"olmo", settle_olmo},
    {"imagenet", settle_imagenet},
    {"colossal", settle_colossal},
    {"nvidia_bert", settle_nvidia_bert},
    {"litgpt", settle_litgpt},
    {"torchtune", settle_torchtune},
    {"nanogpt", settle_nanogpt},
    {"automodel", settle_automodel},
};

ImportRule *settle_rule(const char *name) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, name) == 0) return rules[i].rule;
    return NULL;
}
