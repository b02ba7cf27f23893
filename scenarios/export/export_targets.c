// The target software of exports, its units, and its start scripts. Versions: those of the rows in
// scenarios/import/software.c.
#include <math.h>
#include <string.h>

#include "scenarios/export/export.h"
#include "scenarios/import/import.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/base/version.h"

// ---- How each counts.

static void count_torchtitan(Export *e) {
    const Resolved *r = &e->resolved;
    const char *name = e->training->model->name, *dash = strrchr(name, '-');
    bool sharded = e->training->layout.zero >= 2;
    int shard = sharded ? (r->shard > r->cp ? r->shard / r->cp : 1) : 1;
    if (dash) { // llama-3-8b: llama3 and 8B
        char *family = arena_printf(e->arena, "%.*s", (int)(dash - name), name), *to = family;
        char *flavor = arena_copy_text(e->arena, dash + 1);
        for (const char *from = family; *from; from++)
            if (*from != '-') *to++ = *from;
        *to = '\0';
        for (char *at = flavor; *at; at++)
            if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
        export_count(e, "titan_model", family);
        export_count(e, "titan_flavor", flavor);
    }
    export_count_number(e, "local_batch", r->pp > 1 ? r->micro_batch * r->micro_batches : r->micro_batch);
    export_count_number(e, "titan_global", r->global_batch);
    export_count_number(e, "shard_degree", shard);
    int replicas = r->dp / shard;
    export_count_number(e, "replicate", replicas);
    if (sharded) export_count(e, "reshard", e->training->layout.zero == 3 ? "always" : "never");
    if (r->pp > 1) {
        bool waits = r->schedule == SCHEDULE_GPIPE, interleaves = r->schedule == SCHEDULE_INTERLEAVED;
        export_count(e, "schedule_word", waits ? "GPipe" : interleaves ? "Interleaved1F1B" : "1F1B");
        export_count_number(e, "pipeline_micro", r->micro_batch);
        export_count_number(e, "layers_per_virtual_stage",
                            ceil((double)e->training->model->layers / r->pp / (interleaves ? r->vpp : 1)));
    }
}

static void count_accelerate(Export *e) {
    static const char *const words[] = {"NO_SHARD", "NO_SHARD", "SHARD_GRAD_OP", "FULL_SHARD"};
    bool hybrid = export_word(e, "zero-shard") != NULL;
    int zero = e->training->layout.zero;
    export_count(e, "sharding", hybrid ? (zero == 2 ? "HYBRID_SHARD_ZERO2" : "HYBRID_SHARD") : words[zero]);
    if (e->training->offload_optimizer != OFFLOAD_GPU) export_count(e, "offload_both", "host");
}

// Megatron-Bridge has one word for a precision with its scaling; its recipe has its own degrees and sequence length,
// so these are written even if they are 1.
static void count_bridge(Export *e) {
    static const char *const words[][2] = {{"delayed", "bf16_with_fp8_delayed_scaling_mixed"},
                                           {"tensorwise", "bf16_with_fp8_current_scaling_mixed"},
                                           {"blockwise", "bf16_with_fp8_subchannel_scaling_mixed"},
                                           {"mxfp8", "bf16_with_mxfp8_mixed"}};
    const char *recipe = export_word(e, "fp8-recipe");
    const Resolved *r = &e->resolved;
    if (r->tp == 1) export_count(e, "tp", "1");
    if (r->pp == 1) export_count(e, "pp", "1");
    if (r->cp == 1) export_count(e, "cp", "1");
    int zero = e->training->layout.zero;
    if (export_word(e, "fp8")) {
        const char *word = words[0][1];
        for (int i = 0; recipe && i < 4; i++)
            if (strcmp(words[i][0], recipe) == 0) word = words[i][1];
        export_count(e, "scaled_precision", word);
    } else {
        export_count(e, "precision", export_word(e, "precision"));
    }
    if (zero >= 2) {
        export_count(e, "megatron_fsdp", "true");
        export_count_number(e, "fsdp_strategy", zero);
    } else {
        export_count_number(e, "zero", zero);
    }
    if (e->training->recompute != RECOMPUTE_FULL || e->training->recompute_layers) return;
    export_count(e, "recompute_method", "uniform");
    export_count(e, "recompute-num-layers", "1");
}

// ---- Software.

#define ONE_QUEUE "CUDA_DEVICE_MAX_CONNECTIONS=1" // Megatron asks for it
#define HF_ARGUMENTS                                                                                                   \
    "--dataset_name wikitext --dataset_config_name wikitext-103-raw-v1 --do_train --output_dir out "                   \
    "--save_steps %S% --logging_steps 10 --max_steps 1000"

const ExportTarget export_targets[] = {
    {.name = "megatron",
     .title = "Megatron-LM core 0.20",
     .software = "Megatron-LM",
     .stack = "megatron-lm",
     .program = "pretrain_gpt.py",
     .setting = ONE_QUEUE,
     .dashes = true,
     .parts = {{EXPORT_ARGUMENTS, 0, NULL, "recompute_activations",
                "--use-mcore-models --transformer-impl transformer_engine --tokenizer-type NullTokenizer --mock-data "
                "--lr 1.0e-4 --min-lr 1.0e-5 --clip-grad 1.0 --save checkpoints --load checkpoints --save-interval %S% "
                "--log-interval 10 "
                "--log-throughput"}}},
    {.name = "bridge",
     .title = "Megatron-Bridge 0.7, run_recipe.py",
     .software = "Megatron-Bridge",
     .stack = "megatron bridge",
     .program = "scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config --dataset mock",
     .setting = ONE_QUEUE,
     .parts = {{EXPORT_OVERRIDES, 0, NULL, "dataset.sequence_length",
                "train.train_iters=1000 checkpoint.save=checkpoints checkpoint.load=checkpoints "
                "checkpoint.save_interval=%S% "
                "logger.log_interval=10"}},
     .anew = " model zero precision fp8 fp8-recipe ",
     .count = count_bridge},
    {.name = "nemo",
     .title = "NeMo 1.23",
     .software = "NeMo",
     .stack = "nemo",
     .program = "megatron_gpt_pretraining.py --config-path . --config-name nemo",
     .setting = ONE_QUEUE,
     .parts = {{EXPORT_YAML, 0, "nemo.yaml", "",
                "model.mcore_gpt=true model.megatron_amp_O2=true trainer.accelerator=gpu trainer.max_steps=1000 "
                "exp_manager.create_checkpoint_callback=true exp_manager.resume_if_exists=true "
                "exp_manager.resume_ignore_no_checkpoint=true "
                "exp_manager.checkpoint_callback_params.every_n_train_steps=%S%"}}},
    {.name = "torchtitan",
     .title = "torchtitan 0.2.2",
     .software = "torchtitan",
     .stack = "torchtitan",
     .by_flavor = true,
     .program = "-m torchtitan.train --job.config_file torchtitan.toml",
     .parts = {{EXPORT_TOML, 0, "torchtitan.toml", "",
                "training.steps=1000 optimizer.lr=0.0003 checkpoint.enable_checkpoint=true checkpoint.interval=%S% "
                "metrics.log_freq=10"}},
     .anew = " model zero zero-shard micro-batch global-batch grad-accumulation vpp layers hidden ",
     .count = count_torchtitan},
    {.name = "deepspeed",
     .title = "DeepSpeed 0.19, run_clm.py",
     .software = "Hugging Face Trainer",
     .stack = "transformers",
     .program = "run_clm.py",
     .parts = {{EXPORT_ARGUMENTS, 0, NULL, "tp_size sequence_parallel_degree fsdp offload_params optim",
                HF_ARGUMENTS " --deepspeed ds_config.json"},
               {EXPORT_JSON, 2, "ds_config.json",
                "bf16.enabled fp16.enabled bfloat16 overlap_comm autotp_size sequence_parallel",
                "train_micro_batch_size_per_gpu=auto gradient_accumulation_steps=auto bf16.enabled=auto"}}},
    {.name = "accelerate",
     .title = "accelerate 1.15, run_clm.py",
     .software = "Hugging Face Trainer",
     .stack = "transformers",
     .program = "run_clm.py",
     .accelerates = true,
     .parts = {{EXPORT_ARGUMENTS, 0, NULL, "tp_size sequence_parallel_degree offload_params optim", HF_ARGUMENTS},
               {EXPORT_YAML, 1, "accelerate.yaml", "zero_stage offload_optimizer_device offload_param_device",
                "compute_environment=LOCAL_MACHINE distributed_type=FSDP machine_rank=0 rdzv_backend=c10d "
                "fsdp_config.fsdp_version=1 fsdp_config.fsdp_auto_wrap_policy=TRANSFORMER_BASED_WRAP"}},
     .anew = " zero zero-shard ",
     .count = count_accelerate},
};
const int export_target_count = sizeof export_targets / sizeof *export_targets;

// ---- Options of one part.

typedef struct Entry {
    const char *name, *value;
} Entry;

typedef LIST_OF(Entry) Entries;

static bool takes_folder(const ExportTarget *target) {
    return !target->dashes && target->parts[0].form == EXPORT_ARGUMENTS;
}

bool export_asks_for_model(const Export *e) { return e->own_model && takes_folder(e->target); }

static const ImportOption *table_of(const ExportTarget *target, const ExportPart *part) {
    return import_software_called(target->software)->tables[part->table];
}

static bool has_part(const ExportPart *part) { return part->fixed != NULL; }

static bool add_word(const Export *e, const ExportPart *part, const ExportWord *word, Entries *entries) {
    if (strcmp(word->key, "scaled_precision") == 0) {
        LIST_PUSH(e->arena, entries, ((Entry){"mixed_precision", word->value}));
        return true;
    }
    ImportSpelling spelling = import_spell(e->arena, table_of(e->target, part), word->key, word->value, part->avoid);
    if (!spelling.name) return false;
    Entry entry = {spelling.name, spelling.value};
    LIST_PUSH(e->arena, entries, entry);
    return true;
}

static bool is_said(const Export *e, const ExportWord *word) {
    bool no_zero = e->target->dashes && strcmp(word->key, "zero") == 0 && strcmp(word->value, "0") == 0;
    bool anew = e->target->anew && strstr(e->target->anew, arena_printf(e->arena, " %s ", word->key));
    return !no_zero && !anew && !export_is_usual(word);
}

static const char *steps_between(const Export *e) {
    return arena_printf(e->arena, "%.0f", fmax(1, round(e->checkpoint_s / e->point.step_p50_s)));
}

static void add_fixed(const Export *e, const ExportPart *part, Entries *entries) {
    for (const char *at = part->fixed; *at;) {
        size_t length = strcspn(at, " ");
        char *pair = arena_printf(e->arena, "%.*s", (int)length, at), *equals = strchr(pair, '=');
        at += length + (at[length] == ' ');
        const char *value = "true";
        if (equals) *equals = '\0', value = equals + 1;
        if (part->form == EXPORT_ARGUMENTS && strncmp(at, "--", 2) != 0 && *at) {
            length = strcspn(at, " ");
            value = arena_printf(e->arena, "%.*s", (int)length, at);
            at += length + (at[length] == ' ');
        } else if (part->form == EXPORT_ARGUMENTS) {
            value = NULL;
        }
        if (value && strcmp(value, "%S%") == 0) value = steps_between(e);
        Entry entry = {part->form == EXPORT_ARGUMENTS ? pair + 2 : pair, value};
        LIST_PUSH(e->arena, entries, entry);
    }
}

static Entries entries_of(const Export *e, int number) {
    const ExportPart *part = &e->target->parts[number];
    Entries entries = {0}, aside = {0};
    for (int i = 0; i < e->words.count; i++) {
        const ExportWord *word = &e->words.items[i];
        if (!is_said(e, word)) continue;
        bool before = number > 0 && add_word(e, &e->target->parts[0], word, &aside);
        if (!before || strcmp(word->key, "precision") == 0) add_word(e, part, word, &entries);
    }
    for (int i = 0; i < e->counted.count; i++) add_word(e, part, &e->counted.items[i], &entries);
    if (part->form == EXPORT_OVERRIDES) {
        const Model *model = e->training->model;
        Entry shape[] = {{"model.add_bias_linear", model->biases ? "true" : "false"},
                         {"model.position_embedding_type", model->learned_positions ? "learned_absolute" : "rope"},
                         {"dataset.sequence_length", arena_printf(e->arena, "%.0f", e->training->seq_len)}};
        for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) LIST_PUSH(e->arena, &entries, shape[i]);
    }
    if (part->form == EXPORT_ARGUMENTS && e->target->dashes) {
        const Model *model = e->training->model;
        Entry flags[] = {{"group_query_attention", NULL},     {"use_megatron_fsdp", NULL},
                         {"recompute_method", "uniform"},     {"recompute_num_layers", "1"},
                         {"position_embedding_type", "rope"}, {"disable_bias_linear", NULL}};
        bool wanted[] = {model->kv_heads < model->heads,
                         e->training->layout.zero >= 2,
                         e->training->recompute == RECOMPUTE_FULL && !e->training->recompute_layers,
                         e->training->recompute == RECOMPUTE_FULL && !e->training->recompute_layers,
                         !model->learned_positions,
                         !model->biases};
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            if (wanted[i]) LIST_PUSH(e->arena, &entries, flags[i]);
    }
    add_fixed(e, part, &entries);
    return entries;
}

// ---- Forms.

static bool is_bare(const char *value) {
    return strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ||
           (*value && !value[strspn(value, "0123456789.")]);
}

static const char *quoted(const Export *e, ExportForm form, const char *value) {
    bool plain = is_bare(value) || form == EXPORT_YAML;
    return plain ? value : arena_printf(e->arena, "\"%s\"", value);
}

static const char *dashed(const Export *e, const char *name) {
    char *copy = arena_copy_text(e->arena, name);
    for (char *at = copy; e->target->dashes && *at; at++)
        if (*at == '_') *at = '-';
    return copy;
}

static const char *by_blanks(const Export *e, const char *list) {
    char *copy = arena_copy_text(e->arena, list);
    for (char *at = copy; *at; at++)
        if (*at == ',') *at = ' ';
    return copy;
}

static const char *arguments_text(const Export *e, const Entries *entries) {
    const char *text = "";
    for (int i = 0; i < entries->count; i++) {
        const Entry *entry = &entries->items[i];
        const char *value = entry->value;
        if (e->target->parts[0].form == EXPORT_OVERRIDES) {
            bool bare = !value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
            text = arena_printf(e->arena, bare ? "%s    %s=%s\n" : "%s    '%s=[%s]'\n", text, entry->name, value);
            continue;
        }
        if (value && strcmp(entry->name, "recompute_modules") == 0) value = by_blanks(e, value);
        bool flag = value && strcmp(value, "true") == 0;
        if (value && strcmp(value, "false") == 0 && e->target->dashes) continue;
        if (flag) value = e->target->dashes ? NULL : "True";
        if (value && strcmp(value, e->training->model->name) == 0 && !e->target->dashes) value = "\"$MODEL\"";
        text = arena_printf(e->arena, "%s    --%s%s%s\n", text, dashed(e, entry->name), value ? " " : "",
                            value ? value : "");
    }
    return text;
}

// Entries below a prefix ("zero_optimization."), in the order in which each is met first.
static const char *level_text(const Export *e, ExportForm form, const Entries *entries, const char *prefix, int depth) {
    size_t before = strlen(prefix);
    const char *text = "", *between = "";
    const char *indent = arena_printf(e->arena, "%*s", 2 * depth, "");
    for (int i = 0; i < entries->count; i++) {
        const Entry *entry = &entries->items[i];
        if (strncmp(entry->name, prefix, before) != 0) continue;
        const char *rest = entry->name + before, *dot = strchr(rest, '.');
        const char *key = arena_printf(e->arena, "%.*s", (int)(dot ? dot - rest : (long)strlen(rest)), rest);
        bool met = false;
        for (int k = 0; k < i; k++)
            met = met || (strncmp(entries->items[k].name, entry->name, before + strlen(key)) == 0 &&
                          strchr(".", entries->items[k].name[before + strlen(key)]));
        if (met) continue;
        const char *below =
            dot ? level_text(e, form, entries, arena_printf(e->arena, "%s%s.", prefix, key), depth + 1) : NULL;
        if (form == EXPORT_JSON)
            text = below ? arena_printf(e->arena, "%s%s%s\"%s\": {\n%s\n%s}", text, between, indent, key, below, indent)
                         : arena_printf(e->arena, "%s%s%s\"%s\": %s", text, between, indent, key,
                                        quoted(e, form, entry->value));
        else if (form == EXPORT_TOML)
            text = below ? arena_printf(e->arena, "%s[%s%s]\n%s\n", text, prefix, key, below)
                         : arena_printf(e->arena, "%s%s = %s\n", text, key, quoted(e, form, entry->value));
        else
            text = below ? arena_printf(e->arena, "%s%s%s:\n%s", text, indent, key, below)
                         : arena_printf(e->arena, "%s%s%s: %s\n", text, indent, key, quoted(e, form, entry->value));
        between = ",\n";
    }
    return text;
}

static const char *config_text(const Export *e, int number) {
    const ExportPart *part = &e->target->parts[number];
    Entries entries = entries_of(e, number);
    const char *inner = level_text(e, part->form, &entries, "", part->form == EXPORT_JSON);
    return part->form == EXPORT_JSON ? arena_printf(e->arena, "{\n%s\n}\n", inner) : inner;
}

// ---- Scripts.

static const char *header(const Export *e) {
    const RecordPoint *point = &e->point;
    char low[32], middle[32], high[32];
    double tokens = point->tokens_per_s * point->step_p50_s;
    quantity_format(point->step_p5_s, QUANTITY_TIME, low, sizeof low);
    quantity_format(point->step_p50_s, QUANTITY_TIME, middle, sizeof middle);
    quantity_format(point->step_p95_s, QUANTITY_TIME, high, sizeof high);
    return arena_printf(e->arena,
                        "# %s on %d GPUs, for %s; written by lockstep %s.\n"
                        "# Expected: a step takes %s, nine times in ten %s to %s; %s tokens/s, %s to %s.\n"
                        "# Memory: %.1f of %.1f GiB. Assumed: NCCL chooses algorithms and protocols itself.\n"
                        "# A checkpoint every %s steps, as failures and storage have it. Data, learning rate and paths "
                        "are yours to say.\n"
                        "# lockstep --node %s%s%s\n",
                        e->training->model->name, e->gpus, e->target->title, program_version(), middle, low, high,
                        text_count(e->arena, tokens / point->step_p50_s, true),
                        text_count(e->arena, tokens / point->step_p95_s, true),
                        text_count(e->arena, tokens / point->step_p5_s, true), point->memory_peak_bytes / 1073741824,
                        point->memory_capacity_bytes / 1073741824, steps_between(e), e->node,
                        e->fabric ? " --fabric " : "", e->fabric ? e->fabric : "");
}

typedef struct Rendezvous {
    const char *torchrun, *accelerate, *before; // before: commands before it on each node
} Rendezvous;

// The part of every script between its head and its end.
static const char *body(const Export *e, const Rendezvous *meet) {
    Arena *arena = e->arena;
    const ExportTarget *target = e->target;
    const char *text = "set -euo pipefail\n", *arguments = "";
    if (target->setting) text = arena_printf(arena, "%sexport %s\n", text, target->setting);
    if (export_asks_for_model(e))
        text = arena_printf(arena, "%sMODEL=${MODEL:?a folder with the config.json of the model}\n", text);
    else if (takes_folder(target))
        text = arena_printf(arena, "%sMODEL=${MODEL:-%s} # its name there, or a folder with its config.json\n", text,
                            e->training->model->name);
    for (int p = 0; p < 2; p++) {
        if (!has_part(&target->parts[p])) continue;
        if (target->parts[p].file) {
            text = arena_printf(arena, "%s\ncat >%s <<'EOF'\n%sEOF\n", text, target->parts[p].file, config_text(e, p));
        } else {
            Entries entries = entries_of(e, p);
            text = arena_printf(arena, "%s\nargs=(\n%s)\n", text, arguments_text(e, &entries));
            arguments = " \"${args[@]}\"";
        }
    }
    if (target->accelerates)
        return arena_printf(arena, "%s\n%saccelerate launch --config_file accelerate.yaml %s \\\n    %s%s\n", text,
                            meet->before, e->nodes > 1 ? meet->accelerate : "", target->program, arguments);
    const char *how = e->nodes > 1 ? arena_printf(arena, "--nnodes %d %s", e->nodes, meet->torchrun) : "--standalone";
    return arena_printf(arena, "%s\n%storchrun --nproc-per-node %d %s \\\n    %s%s\n", text, meet->before, e->per_node,
                        how, target->program, arguments);
}

static const char *write_torchrun(const Export *e) {
    static const Rendezvous meet = {
        "--node-rank \"${NODE_RANK:-0}\" --master-addr \"${MASTER_ADDR:-localhost}\" --master-port "
        "\"${MASTER_PORT:-29500}\"",
        "--machine_rank \"${NODE_RANK:-0}\" --main_process_ip \"${MASTER_ADDR:-localhost}\" --main_process_port "
        "\"${MASTER_PORT:-29500}\"",
        ""};
    return arena_printf(e->arena, "#!/bin/bash\n%s%s%s", header(e),
                        e->nodes > 1 ? "# On every node, with NODE_RANK and MASTER_ADDR set.\n" : "", body(e, &meet));
}

static const char *write_sbatch(const Export *e) {
    static const Rendezvous meet = {"--rdzv-backend c10d --rdzv-endpoint \"$head:29500\" --rdzv-id \"$SLURM_JOB_ID\"",
                                    "--main_process_ip \"$head\" --main_process_port 29500", "srun "};
    return arena_printf(e->arena,
                        "#!/bin/bash\n#SBATCH --job-name=%s\n#SBATCH --nodes=%d\n#SBATCH --ntasks-per-node=1\n"
                        "#SBATCH --gpus-per-node=%d\n#SBATCH --exclusive\n%s%s%s",
                        e->target->name, e->nodes, e->per_node, header(e),
                        e->nodes > 1 ? "head=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n" : "",
                        body(e, &meet));
}

static const char *indented(const Export *e, const char *text, int by) {
    const char *whole = "";
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        whole = arena_printf(e->arena, "%s%*s%.*s\n", whole, length ? by : 0, "", (int)length, at);
        at += length + (at[length] == '\n');
    }
    return whole;
}

static const char *replicas(const Export *e, const char *kind, int count, const char *script) {
    return arena_printf(e->arena,
                        "    %s:\n      replicas: %d\n      restartPolicy: OnFailure\n      template:\n        spec:\n"
                        "          containers:\n            - name: pytorch\n              image: %s-image\n"
                        "              command: [bash, -c]\n              args:\n                - |\n%s"
                        "              resources:\n                limits:\n                  nvidia.com/gpu: %d\n",
                        kind, count, e->target->name, indented(e, script, 18), e->per_node);
}

static const char *write_k8s(const Export *e) {
    static const Rendezvous meet = {
        "--node-rank \"$RANK\" --master-addr \"$MASTER_ADDR\" --master-port \"$MASTER_PORT\"",
        "--machine_rank \"$RANK\" --main_process_ip \"$MASTER_ADDR\" --main_process_port \"$MASTER_PORT\"", ""};
    const char *script = body(e, &meet);
    return arena_printf(
        e->arena,
        "%s# The image is yours to name: with %s in it.\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\n"
        "metadata:\n  name: %s\nspec:\n  pytorchReplicaSpecs:\n%s%s",
        header(e), e->target->title, e->target->name, replicas(e, "Master", 1, script),
        e->nodes > 1 ? replicas(e, "Worker", e->nodes - 1, script) : "");
}

// As its catalogue names GPUs: "H100", "A100-80GB".
static const char *sky_gpu(const Export *e) {
    const char *bytes = strrchr(e->gpu, '-');
    int family = (int)strcspn(e->gpu, "-");
    bool larger = (strncmp(e->gpu, "A100-", 5) == 0 && strcmp(bytes, "-80GB") == 0) ||
                  (strncmp(e->gpu, "V100-", 5) == 0 && strcmp(bytes, "-32GB") == 0);
    return arena_printf(e->arena, "%.*s%s", family, e->gpu, larger ? bytes : "");
}

static const char *write_skypilot(const Export *e) {
    static const Rendezvous meet = {"--node-rank \"$SKYPILOT_NODE_RANK\" --master-addr \"$head\" --master-port 29500",
                                    "--machine_rank \"$SKYPILOT_NODE_RANK\" --main_process_ip \"$head\" "
                                    "--main_process_port 29500",
                                    ""};
    const char *head = e->nodes > 1 ? "head=$(echo \"$SKYPILOT_NODE_IPS\" | head -n 1)\n" : "";
    return arena_printf(e->arena,
                        "%s# sky launch FILE\nname: %s\nnum_nodes: %d\nresources:\n  accelerators: %s:%d\nrun: |\n%s",
                        header(e), e->target->name, e->nodes, sky_gpu(e), e->per_node,
                        indented(e, arena_printf(e->arena, "%s%s", head, body(e, &meet)), 2));
}

const ExportLauncher export_launchers[] = {
    {"torchrun", ".sh", write_torchrun},
    {"sbatch", ".sbatch", write_sbatch},
    {"k8s", "-k8s.yaml", write_k8s},
    {"skypilot", "-sky.yaml", write_skypilot},
};
const int export_launcher_count = sizeof export_launchers / sizeof *export_launchers;
