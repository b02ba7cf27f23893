// What is taken, and said, where launch files do not say all: machines by a GPU's name, models by their size.
#include "scenarios/import/import.h"
#include "tests/import_read.h"
#include "tests/test.h"

static const ImportAsked nothing;

TEST(a_model_that_is_not_known_is_one_of_its_size) {
    static const char text[] = "#!/bin/bash\ntorchrun --nproc_per_node 8 run_clm.py --model_name_or_path %s "
                               "--per_device_train_batch_size 4\n";
    Arena *arena = arena_open();
    const ImportAsked asked = {.node = "dgx-h100"};
    const Import *import = read_as(arena, "x.sh", arena_printf(arena, text, "acme/otter-v2.1-8b-it"), &asked);
    EXPECT_TEXT(word(import, "model"), "llama-3-8b");
    EXPECT_TEXT(word(import, "unread-options"), "1");
    EXPECT(lists(&import->open, "model") && lists(&import->missing, "model"));
    import = read_as(arena, "x.sh", arena_printf(arena, text, "acme/gpt-neox-3.6b"), &asked); // not of 20 billions
    EXPECT_TEXT(word(import, "model"), "open-llama-3b");
    EXPECT_CONTAINS(import_problem(arena, "x.sh", arena_printf(arena, text, "acme/otter-v2"), &asked),
                    "which model is");
    EXPECT_CONTAINS(import_problem(arena, "x.sh", arena_printf(arena, text, "acme/otter-9000b"), &asked),
                    "which model");
    arena_close(arena);
}

TEST(a_program_that_python_alone_starts_has_a_gpu) {
    static const char text[] =
        "base, tok = FastLanguageModel.from_pretrained(model_name='gpt2', max_seq_length=512)\n"
        "model = FastLanguageModel.get_peft_model(base, r=16, use_gradient_checkpointing='unsloth')\n"
        "t = SFTTrainer(model, args=SFTConfig(per_device_train_batch_size=2, bf16=True))\n";
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "t.py", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "1");
    EXPECT(lists(&import->missing, "GPUs"));
    EXPECT_TEXT(word(import, "lora-rank"), "16");
    EXPECT_TEXT(word(import, "recompute"), "full");
    arena_close(arena);
}

// Configurations of DeepSpeed that projects hand out are known by their names; GPT-NeoX's 16 bits by their type.
TEST(a_configuration_that_is_not_beside_is_taken_by_its_name) {
    static const char text[] = "#!/bin/bash\ndeepspeed --num_gpus 8 run_clm.py --model_name_or_path gpt2 "
                               "--per_device_train_batch_size 4 --deepspeed %s\n";
    Arena *arena = arena_open();
    const ImportAsked asked = {.node = "dgx-h100"};
    const Import *import =
        read_as(arena, "x.sh", arena_printf(arena, text, "examples/deepspeed/ds_z3_offload_config.json"), &asked);
    EXPECT_TEXT(word(import, "zero"), "3");
    EXPECT_TEXT(word(import, "offload-parameters"), "host");
    EXPECT(lists(&import->missing, "--deepspeed"));
    import = read_as(arena, "x.sh", arena_printf(arena, text, "deepspeed_configs/zero1.json"), &asked);
    EXPECT_TEXT(word(import, "zero"), "1");
    import = read_as(arena, "x.sh", arena_printf(arena, text, "ds_config.json"), &asked);
    EXPECT_TEXT(word(import, "zero"), "(not said)");
    EXPECT(lists(&import->open, "--deepspeed"));
    static const char neox[] = "num_layers: 12\nhidden_size: 768\nnum_attention_heads: 12\nseq_length: 2048\n"
                               "pipe_parallel_size: 1\nmodel_parallel_size: 1\n"
                               "fp16: {type: bfloat16, enabled: true}\n";
    import = read_as(arena, "x.yml", neox, &(ImportAsked){.node = "dgx-h100", .gpus = "8"});
    EXPECT_TEXT(word(import, "precision"), "bf16");
    arena_close(arena);
}

// Of those that CUDA_VISIBLE_DEVICES names every one counts where nothing else says how many.
TEST(gpus_that_are_visible_are_the_machines_where_nothing_else_is) {
    static const char *const starts[] = {"torchrun --nproc_per_node gpu", "torchrun --nproc-per-node=auto",
                                         "accelerate launch --mixed_precision bf16", "deepspeed", "python"};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const char *text = arena_printf(arena,
                                        "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0,2,5\n%s run_clm.py "
                                        "--model_name_or_path gpt2 --per_device_train_batch_size 4\n",
                                        starts[i]);
        EXPECT_TEXT(word(read_as(arena, "x.sh", text, &nothing), "gpus"), "3");
    }
    arena_close(arena);
}

// What schedulers call a GPU, a node that has it, and what is taken where nobody says it.
TEST(gpus_go_by_their_makers_generations_and_constraints) {
    static const struct {
        const char *directive, *node;
    } rows[] = {{"--gres=gpu:TeslaV100_SXM2_32GB:8", "dgx-1-v100"},
                {"--gpus-per-node=8 --constraint=volta32gb", "dgx-1-v100"},
                {"--gpus-per-node=8 --constraint='[ib&hopper]'", "dgx-h100"},
                {"--gpus-per-node=4 --constraint=a100 --partition=booster", "hgx-a100-4"},
                {"--gpus-per-node=8 --partition=booster", "dgx-h100"},
                {"--gres=gpu:a6000:8", "8x A6000"},
                {"--gres=gpu:2080ti:4", "4x RTX2080Ti"},
                {"--gpus-per-node=8", "dgx-h100"}};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text =
            arena_printf(arena,
                         "#!/bin/bash\n#SBATCH --nodes=2 %s\nsrun torchrun --nproc_per_node $SLURM_GPUS_ON_NODE "
                         "run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 4\n",
                         rows[i].directive);
        const Import *import = read_as(arena, "x.sbatch", text, &nothing);
        EXPECT_TEXT(arena_printf(arena, "%s: %s", rows[i].directive, word(import, "node")),
                    arena_printf(arena, "%s: %s", rows[i].directive, rows[i].node));
        EXPECT(lists(&import->missing, "node type"));
    }
    const char *unknown = "#!/bin/bash\n#SBATCH --gres=gpu:gtx9000:8\ntorchrun --nproc_per_node 8 run_clm.py "
                          "--model_name_or_path gpt2 --per_device_train_batch_size 4\n";
    EXPECT_CONTAINS(import_problem(arena, "x.sbatch", unknown, &nothing), "Of \"gtx9000\" none is known");
    arena_close(arena);
}
TEST(machines_that_only_a_comment_names_are_taken_and_said) {
    static const struct {
        const char *comment, *node;
    } cases[] = {{"# DGX A100, 8 x A100-SXM4-80GB each", "dgx-a100-80gb"},
                 {"# p4d.24xlarge, one placement group", "aws-p4d.24xlarge"},
                 {"x=1 # the boxes have 8xV100s", "dgx-1-v100"},
                 {"#  GPU 0: NVIDIA GeForce RTX 3090\n#  GPU 1: NVIDIA GeForce RTX 3090", "8x RTX3090"},
                 {"# tuned for A100, runs on V100 too", "dgx-h100"}, // it could be either
                 {"# see table A2 and RTX", "dgx-h100"},
                 {"#!/bin/A100", "dgx-h100"},
                 {"echo A100#V100", "dgx-h100"}};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = arena_printf(arena,
                                        "#!/bin/bash\n%s\ntorchrun --nproc_per_node 8 train.py "
                                        "--model_name_or_path meta-llama/Llama-2-7b-hf --bf16 "
                                        "--per_device_train_batch_size 1 --output_dir x\n",
                                        cases[i].comment);
        const Import *import = read_as(arena, "run.sh", text, &nothing);
        EXPECT_TEXT(word(import, "node"), cases[i].node);
        EXPECT(lists(&import->missing, "node type"));
        const Import *asked = read_as(arena, "run.sh", text, &(ImportAsked){.node = "dgx-h200"});
        EXPECT(!lists(&asked->missing, "node type"));
    }
    arena_close(arena);
}
