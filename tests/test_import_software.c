// The options of training software as data: every row is well formed, names what there is, and does what it says.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/workload/job/job.h"
#include "models/workload/model/model.h"
#include "scenarios/import/reading.h"
#include "sim/system/file.h"
#include "tests/import_read.h"
#include "tests/test.h"

// ---- How rows are written.

static const char row_start[] = "table t\n";

static const char *first_of(Arena *arena, const char *text) {
    Problems *problems = problems_create(arena);
    const ImportFile files[] = {{"environment", "table environment\nidle a: A\ntable machines\nidle a: A\n"},
                                {"x.options", text}};
    import_tables_of(arena, files, 2, problems);
    return problem_count(problems)
               ? arena_printf(arena, "%d: %s", problem_at(problems, 0)->where.line, problem_at(problems, 0)->text)
               : "";
}

TEST(a_row_of_options_is_a_line_and_those_indented_below_it) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const ImportFile file = {
        "x.options",
        "# of version 2\nvalues bits: 16:fp16\n    8:fp8\n\ntable environment\n"
        "taken tp: a\n\n    b-c  d.*\n# nothing\n    e\n"
        "open it waits, at times: f = false:\ntaken precision: g = @bits\n"
        "table machines\nidle m: m\nsoftware S one\nmarks a | b+c | @d e\ntables environment\nunsaid x:1 y:2"};
    const ImportTables *all = import_tables_of(arena, &file, 1, problems);
    EXPECT_INT(problem_count(problems), 0);
    EXPECT_INT(all->software_count, 1);
    const ImportSoftware *software = &all->software[0];
    const ImportOption *rows = software->tables[0];
    EXPECT(!software->tables[1] && !software->stack && !software->rule);
    EXPECT_TEXT(software->title, "S one");
    EXPECT_TEXT(software->unsaid, "x:1,y:2");
    EXPECT_TEXT(software->marks, "a | b+c | @d e");
    EXPECT_TEXT(rows[0].spelling, "a|b-c|d.*|e");
    EXPECT(rows[0].effect == TAKEN && !rows[0].how && rows[1].effect == OPEN && !rows[3].spelling);
    EXPECT_TEXT(rows[1].to, "it waits, at times");
    EXPECT_TEXT(rows[1].how, "false:");
    EXPECT_TEXT(rows[2].how, "16:fp16,8:fp8");
    arena_close(arena);
}

TEST(a_row_of_options_that_is_none_is_told_with_its_line) {
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"table t\ntakes tp: a\n", "2: no row begins so: \"takes tp: a\""},
        {"table t\n\ntaken tp a\n", "3: a row without names: \"tp a\""},
        {"taken tp: a\ntable\n", "2: a row that says nothing, or of nothing: \"table\""},
        {"table t\ntable t\n", "2: a table is called so already: \"t\""},
        {"table t\ntaken tp: a = b\n", "2: a value without a colon: \"b\""},
        {"table t\ntaken tp: a = @b\n", "2: no values are called so, above this: \"@b\""},
        {"stack pytorch\n", "1: a row that says nothing, or of nothing: \"stack pytorch\""},
        {"software s\ntables u\n", "1: no table is called so: \"u\""},
        {"software s\ntables environment\nrule u\n", "3: settle_rules.c has no such rule: \"u\""},
        {"software s\n", "1: a software without tables: \"s\""},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) EXPECT_TEXT(first_of(arena, rows[i].text), rows[i].said);
    EXPECT_TEXT(first_of(arena, row_start), "");
    arena_close(arena);
}

// ---- What they name.

static const Field *field_with(const char *flag, const char **called) {
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++)
            if (job_objects[o].fields[i].flag && strcmp(job_objects[o].fields[i].flag, flag) == 0) {
                *called = job_objects[o].name;
                return &job_objects[o].fields[i];
            }
    return NULL;
}

static bool is_size_of_model(const char *word) {
    const char *size;
    for (int i = 0; (size = model_size_name(i)); i++)
        if (strcmp(size, word) == 0) return true;
    return false;
}

// A word between options and ours is one that settle*.c hears by its name.
static bool is_heard(Arena *arena, const char *word) {
    static const char *const files[] = {"settle.c", "settle_rules.c", "settle_model.c"};
    bool is = false;
    for (size_t i = 0; i < sizeof files / sizeof *files && !is; i++) {
        size_t bytes;
        const char *path = arena_printf(arena, "scenarios/import/%s", files[i]);
        const char *text = file_read(arena, path, 1 << 20, &bytes, problems_create(arena));
        is = text && strstr(text, arena_printf(arena, "\"%s\"", word));
    }
    return is;
}

static bool takes(Arena *arena, const Field *field, const char *called, const char *value) {
    FieldReader reader = {.arena = arena, .problems = problems_create(arena), .catalogue = catalogue_builtin(arena)};
    Value read = {.given = true, .written = true};
    Where where = {"x", 1};
    return field->list ? field_list_from_text(&reader, field, called, value, where, &read)
                       : field_from_text(&reader, field, called, value, where, &read);
}

// Values of ours in `how` that the field does not take.
static const char *untaken(Arena *arena, const ImportOption *row, const Field *field, const char *called) {
    const char *bad = "";
    for (const char *at = row->how; at && *at;) {
        size_t length = strcspn(at, ",");
        const char *colon = memrchr(at, ':', length);
        const char *value = arena_printf(arena, "%.*s", (int)(at + length - colon - 1), colon + 1);
        bool any = strcmp(value, "*") == 0 || !*value;
        if (!any && !takes(arena, field, called, value)) bad = arena_printf(arena, "%s %s", bad, value);
        at += length + (at[length] == ',');
    }
    return bad;
}

static const char *faults_of(Arena *arena, const ImportOption *row) {
    static const char *const machines[] = {"model", "node", "gpus", "nodes"};
    const char *called = "", *faults = "";
    const Field *field = field_with(row->to, &called);
    if (row->effect != TAKEN) return "";
    bool known = field || is_size_of_model(row->to) || is_heard(arena, row->to);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) known = known || strcmp(machines[i], row->to) == 0;
    if (!known) faults = arena_printf(arena, "%s: nothing is called so\n", row->to);
    const char *bad = field ? untaken(arena, row, field, called) : "";
    return *bad ? arena_printf(arena, "%s%s does not take%s\n", faults, row->to, bad) : faults;
}

TEST(options_are_taken_as_what_there_is_with_values_that_it_has) {
    Arena *arena = arena_open();
    const ImportTables *all = import_tables();
    const char *faults = "";
    for (int s = 0; s <= all->software_count; s++)
        for (int t = 0; s == all->software_count ? t == 0 : all->software[s].tables[t] != NULL; t++) {
            const ImportOption *row = s == all->software_count ? all->environment : all->software[s].tables[t];
            for (; row->spelling; row++) {
                const char *own = faults_of(arena, row);
                if (*own && !strstr(faults, own)) faults = arena_printf(arena, "%s%s", faults, own);
            }
        }
    EXPECT_TEXT(faults, "");
    arena_close(arena);
}

// ---- No option twice.

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

// As the lookup has it: dashes are underlines, letters small.
static const char *plain(Arena *arena, const char *name, size_t length) {
    char *copy = arena_printf(arena, "%.*s", (int)length, name);
    for (char *at = copy; *at; at++) *at = *at == '-' ? '_' : (char)tolower((unsigned char)*at);
    return copy;
}

static const char *twice_in(Arena *arena, const ImportOption *table) {
    enum { MOST = 4000 };
    const char **names = ARENA_ARRAY(arena, const char *, MOST), *twice = "";
    int count = 0;
    for (const ImportOption *row = table; row->spelling; row++)
        for (const char *at = row->spelling; *at && count < MOST;) {
            size_t length = strcspn(at, "|");
            names[count++] = plain(arena, at, length);
            at += length + (at[length] == '|');
        }
    EXPECT(count < MOST);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0) twice = arena_printf(arena, "%s %s", twice, names[i]);
    return twice;
}

TEST(a_table_of_options_names_none_twice) {
    Arena *arena = arena_open();
    const ImportTables *all = import_tables();
    for (int s = 0; s < all->software_count; s++)
        for (int t = 0; all->software[s].tables[t]; t++) EXPECT_TEXT(twice_in(arena, all->software[s].tables[t]), "");
    EXPECT_TEXT(twice_in(arena, all->environment), "");
    EXPECT_TEXT(twice_in(arena, all->machines), "");
    arena_close(arena);
}

// ---- What is said to be taken is.

static const struct {
    const char *software, *command;
} starts[] = {
    {"OpenRLHF", "torchrun --nnodes 2 --nproc_per_node 8 -m openrlhf.cli.train_sft --pretrain meta-llama/Llama-2-7b"},
    {"verl", "torchrun --nnodes 2 --nproc_per_node 8 -m verl.trainer.fsdp_sft_trainer --model.partial_pretrain "
             "meta-llama/Llama-2-7b --data.max_length 2048"},
    {"fairseq", "fairseq-train --arch transformer_lm_gpt3_xl "
                "--tokens-per-sample 2048"},
    {"SpeechBrain", "torchrun --nnodes 2 --nproc_per_node 8 train.py --grad_accumulation_factor=1 --model "
                    "gpt2-1.5b"},
    {"BERT of DeepLearningExamples", "torchrun --nnodes 2 --nproc_per_node 8 run_pretraining.py --bert_model "
                                     "bert-large-uncased --allreduce_post_accumulation"},
    {"OLMo-core", "torchrun --nnodes 2 --nproc_per_node 8 train.py --train_module.rank_microbatch_size=8192 "
                  "--model.preset=llama2-7b --dataset.sequence_length=4096"},
    {"nanochat", "torchrun --nnodes 2 --nproc_per_node 8 -m scripts.base_train --depth=20"},
    {"open_clip", "torchrun --nnodes 2 --nproc_per_node 8 -m open_clip_train.main --model ViT-L-14"},
    {"detectron2", "python train_net.py --num-machines 2 --num-gpus 8 --config-file mask_rcnn_R_50_FPN_1x.yaml"},
    {"MMDetection", "torchrun --nnodes 2 --nproc_per_node 8 tools/train.py --config faster-rcnn_r50_fpn_1x_coco.py "
                    "--cfg-options train_cfg.max_epochs=24"},
    {"ms-swift", "NNODES=2 NPROC_PER_NODE=8 swift sft --model meta-llama/Llama-2-7b"},
    {"nanotron", "torchrun --nnodes 2 --nproc_per_node 8 run_train.py --tokens.batch_accumulation_per_replica 2 "
                 "--model_config.num_hidden_layers 32 --model_config.hidden_size 4096 "
                 "--model_config.num_attention_heads 32"},
    {"LitGPT", "litgpt pretrain --model_name Llama-2-7b-hf --devices 8 --num_nodes 2"},
    {"Megatron-DeepSpeed", "torchrun --nnodes 2 --nproc_per_node 8 train.py --deepspeed_config x --num-layers 48 "
                           "--hidden-size 6144 --num-attention-heads 48 --pipeline-model-parallel-size 2"},
    {"GPT-NeoX", "torchrun --nnodes 2 --nproc_per_node 8 train.py --num-layers 48 --hidden-size 6144 "
                 "--num-attention-heads 48 --pipe-parallel-size 2"},
    {"NeMo 2", "nemo llm pretrain --factory llama3_8b trainer.num_nodes=2 trainer.devices=8 --num-layers 48 "
               "--hidden-size 6144 --num-attention-heads 48 --pipeline-model-parallel-size 2"},
    {"NeMo", "torchrun --nnodes 2 --nproc_per_node 8 megatron_gpt.py --num-layers 48 --hidden-size 6144 "
             "--num-attention-heads 48 --pipeline-model-parallel-size 2"},
    {"Megatron-Bridge", "torchrun --nnodes 2 --nproc_per_node 8 run_recipe.py --num-layers 48 --hidden-size 6144 "
                        "--num-attention-heads 48 --pipeline-model-parallel-size 2"},
    {"Megatron-LM", "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 48 --hidden-size 6144 "
                    "--num-attention-heads 48 --pipeline-model-parallel-size 2"},
    {"torchtitan", "torchrun --nnodes 2 --nproc_per_node 8 -m torchtitan.train --model.name llama3 --model.flavor 8B "
                   "--pipeline_parallel_degree 2"},
    {"MaxText", "torchrun --nnodes 2 --nproc_per_node 8 MaxText.py --model_name llama2-7b"},
    {"Levanter", "torchrun --nnodes 2 --nproc_per_node 8 -m levanter.main.train_lm --model_name_or_path gpt2-1.5b"},
    {"OLMo",
     "torchrun --nnodes 2 --nproc_per_node 8 train.py --model.mlp_ratio=8 --model.n_layers=32 --model.n_heads=32 "
     "--model.d_model=4096"},
    {"llm-foundry", "composer -n 8 --world_size 16 train.py --global_train_batch_size 64 "
                    "--pretrained_model_name_or_path meta-llama/Llama-2-7b"},
    {"NeMo AutoModel", "torchrun --nnodes 2 --nproc_per_node 8 automodel.py --pretrained_model_name_or_path "
                       "meta-llama/Llama-2-7b"},
    {"Lightning", "torchrun --nnodes 2 --nproc_per_node 8 main.py --trainer.accelerator gpu --model_name llama-2-7b"},
    {"ColossalAI", "colossalai run --nproc_per_node 8 --host a,b train.py --config llama-2-7b"},
    {"LLaMA-Factory", "torchrun --nnodes 2 --nproc_per_node 8 train.py --finetuning_type full --model_name_or_path "
                      "meta-llama/Llama-2-7b"},
    {"axolotl", "torchrun --nnodes 2 --nproc_per_node 8 train.py --base_model meta-llama/Llama-2-7b"},
    {"torchtune", "tune run --nnodes 2 --nproc_per_node 8 full_finetune_distributed --config llama2/7B_full"},
    {"nanoGPT",
     "torchrun --nnodes 2 --nproc_per_node 8 train.py --n_layer 12 --n_head 12 --n_embd 768 --block_size 1024 "
     "--init_from scratch"},
    {"Horovod", "torchrun --nnodes 2 --nproc_per_node 8 train_hvd.py --model gpt2-1.5b"},
    {"DeepSpeed", "torchrun --nnodes 2 --nproc_per_node 8 train.py --deepspeed_initialize true --model gpt2-1.5b"},
    {"Diffusers", "torchrun --nnodes 2 --nproc_per_node 8 train_text_to_image.py --pretrained_model_name_or_path "
                  "meta-llama/Llama-2-7b"},
    {"Hugging Face Trainer", "torchrun --nnodes 2 --nproc_per_node 8 run_clm.py --model_name_or_path "
                             "meta-llama/Llama-2-7b"},
    {"PyTorch's imagenet example", "srun python main.py -a resnet50 --multiprocessing-distributed --world-size 1"},
    {"a script of its own", "torchrun --nnodes 2 --nproc_per_node 8 train.py --model gpt2-1.5b"},
};

static const char *words_of(Arena *arena, const Import *import) {
    const char *text = "";
    for (int i = 0; i < import->words.count; i++)
        text = arena_printf(arena, "%s --%s=%s", text, import->words.items[i].option, import->words.items[i].value);
    return text;
}

// NULL: refused.
static const Import *with(Arena *arena, const char *command, const char *name, const char *value) {
    const char *text = arena_printf(arena, "#!/bin/bash\n%s %s%s %s\n", command, *name ? "--" : "", name, value);
    return read_or_null(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"}, problems_create(arena));
}

// Whether the option is said to be taken with that value, and the question another one with it.
static bool changes(const ImportSoftware *software, const char *command, const char *name, const char *value) {
    Arena *arena = arena_open();
    const Import *bare = with(arena, command, "", ""), *import = with(arena, command, name, value);
    bool changed = bare && import && strcmp(import->software, software->title) == 0 &&
                   lists(&import->taken, arena_printf(arena, "--%s", name)) &&
                   strcmp(words_of(arena, bare), words_of(arena, import)) != 0;
    arena_close(arena);
    return changed;
}

static bool any_value_changes(Arena *arena, const ImportSoftware *software, const char *command,
                              const ImportOption *row, const char *name) {
    static const char *const tried[] = {"64",
                                        "4",
                                        "3",
                                        "1",
                                        "full_shard",
                                        "NO_SHARD",
                                        "gemini",
                                        "float8",
                                        "GPipe",
                                        "moe_act",
                                        "meta-llama/Llama-2-13b",
                                        "fsdp",
                                        "resnet101"};
    for (size_t i = 0; !row->how && i < sizeof tried / sizeof *tried; i++)
        if (changes(software, command, name, tried[i])) return true;
    for (const char *at = row->how; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        const char *colon = memrchr(at, ':', strcspn(at, ","));
        const char *value = arena_printf(arena, "%.*s", (int)(colon - at), at);
        if (strcmp(value, "yes") == 0) value = "true";
        if (strcmp(value, "*") == 0) value = "64"; // any other
        if (strcmp(value, "no") == 0) value = "false";
        if (changes(software, command, name, value)) return true;
    }
    return false;
}

// Alone it changes nothing: sizes of a shape that is not whole, LoRA's and ZeRO 3's, what only a batch or a pipeline's
// or another option's value makes of it; or what holds where nothing is said.
static bool needs_another(const ImportSoftware *software, const ImportOption *row) {
    static const char words[] =
        " layers hidden heads kv_heads ffn head_dim vocab experts experts_per_token gated_mlp"
        " untied_embedding steps recipe partition offload-parameters lora-everywhere ray_workers"
        " selective_ac expansion replicate rank_micro rank_accumulation recompute_method all_accumulation "
        "encoder_layers"
        " decoder_layers fsdp_strategy samples core_multiplier core_multiple shard_degree expert_pattern"
        " replicas instance latent q_lora_rank kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim"
        " mtp_layers qk_norm first_stage last_stage expert_ffn dense_layers shared_experts optimizer_instances "
        "max_positions det_mask det_keypoint det_depth det_kind det_backbone ";
    char name[40];
    snprintf(name, sizeof name, " %s ", row->to);
    if (strstr(words, name)) return true;
    if (strcmp(row->to, "nemo_file") == 0 || strcmp(row->spelling, "made_model") == 0)
        return true;                       // its shape is spelt here
    if (strcmp(row->to, "precision") == 0) // a flag for what is so without it
        return row->how && strncmp(row->how, "yes:", 4) == 0 &&
               memmem(software->unsaid, strlen(software->unsaid), row->how + 4, strcspn(row->how + 4, ","));
    return strstr(software->unsaid, row->to) != NULL;
}

TEST(what_is_said_to_be_taken_changes_the_question) {
    Arena *arena = arena_open();
    const char *vain = "";
    const ImportTables *all = import_tables();
    EXPECT_INT(all->software_count, (int)(sizeof starts / sizeof *starts));
    for (int s = 0; s < all->software_count; s++) {
        const ImportSoftware *software = &all->software[s];
        const Import *bare = with(arena, starts[s].command, "", "");
        EXPECT_TEXT(bare ? bare->software : "(refused)", software->title);
        EXPECT_TEXT(starts[s].software, software->title);
        for (int t = 0; software->tables[t]; t++)
            for (const ImportOption *row = software->tables[t]; row->spelling; row++) {
                const char *name = arena_printf(arena, "%.*s", (int)strcspn(row->spelling, "|"), row->spelling);
                if (row->effect != TAKEN || import_option(software, name) != row || needs_another(software, row))
                    continue;
                if (!any_value_changes(arena, software, starts[s].command, row, name))
                    vain = arena_printf(arena, "%s%s: %s\n", vain, software->title, name);
            }
    }
    EXPECT_TEXT(vain, "");
    arena_close(arena);
}

// ---- What it has not.

// Options of its kin, and sections before its own: Megatron-LM refuses to start.
TEST(an_option_that_the_software_has_not_is_not_understood) {
    static const char *const foreign[] = {"--trainer.precision bf16", "--model.bf16 true",
                                          "--trainer.num_nodes 4",    "--zero-stage 2",

                                          "--overlap-grad-sync",      "--optim.lr 0.1"};
    Arena *arena = arena_open();
    ImportAsked asked = {.node = "dgx-h100"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const char *script = arena_printf(arena,
                                          "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --vocab-size 50304 "
                                          "--micro-batch-size 1 " MEGATRON_SIZES " %s\n",
                                          foreign[i]);
        const Import *import = read_as(arena, "a.sh", script, &asked);
        EXPECT_TEXT(import->software, "Megatron-LM");
        const char *name = arena_printf(arena, "%.*s", (int)strcspn(foreign[i], " "), foreign[i]);
        EXPECT(lists(&import->open, name));
    }
    arena_close(arena);
}
