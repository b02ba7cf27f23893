// Launch files with what lies round them: configurations of their project, variables, programs that they start.
#include <stdlib.h>
#include <unistd.h>

#include "tests/import_read.h"
#include "tests/test.h"

// Through the program: in a repository, in a folder where it is started, and in neither.
TEST(a_script_finds_configurations_beside_its_folder_in_its_project) {
    static const char script[] =
        "PROGRAM=$(realpath $LOCKSTEP); mkdir -p %s/p/scripts %s/p/configs && cd %s/p && printf '%%s\\n' '#!/bin/bash' "
        "'deepspeed --num_gpus 8 train.py --model_name_or_path %s "
        "--per_device_train_batch_size 2 --deepspeed %s' > scripts/run.sh && "
        "mkdir -p nets/mine && cp $OLDPWD/tests/data/hf/gpt2.json nets/mine/config.json && "
        "echo '{\"zero_optimization\": {\"stage\": 3}}' > configs/ds.json && %s && "
        "$PROGRAM run %s --node dgx-h100 --seq 512 --json";
    static const struct {
        const char *named, *before, *file;
        bool found;
    } ways[] = {{"../configs/ds.json", "mkdir .git", "scripts/run.sh", true},
                {"configs/ds.json", "mkdir .git", "scripts/run.sh", true},
                {"/home/me/p/configs/ds.json", "mkdir .git && cd /", "$OLDPWD/scripts/run.sh", true},
                {"../configs/ds.json", "true", "scripts/run.sh", true},
                {"../configs/ds.json", "cd scripts", "run.sh", false},
                {"../configs/ds.json", "cd /", "$OLDPWD/scripts/run.sh", false}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        Arena *arena = arena_open();
        char folder[] = "/tmp/lockstep-project-XXXXXX", output[60000];
        const char *at = mkdtemp(folder);
        const char *line = arena_printf(arena, script, at, at, at, ways[i].found ? "../nets/mine" : "gpt2",
                                        ways[i].named, ways[i].before, ways[i].file);
        test_shell(line, output, sizeof output);
        EXPECT_CONTAINS(output, "\"kind\": \"run\"");
        EXPECT_INT(strstr(output, "\"zero\": 3") != NULL, ways[i].found);
        EXPECT_INT(test_shell(arena_printf(arena, "rm -rf %s", at), output, sizeof output), 0);
        arena_close(arena);
    }
}

TEST(variables_that_are_off_are_of_no_effect_and_usual_ones_taken_and_others_told) {
    static const char script[] = "#!/bin/bash\nexport NCCL_SOCKET_IFNAME=eth0 NCCL_IB_DISABLE=%s NCCL_NVLS_ENABLE=2 "
                                 "NCCL_ALGO=Ring CUDA_LAUNCH_BLOCKING=0\n"
                                 "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 "
                                 "--per_device_train_batch_size 4 --optim paged_adamw_8bit\n";
    Arena *arena = arena_open();
    const ImportAsked asked = {.node = "dgx-h100"};
    const Import *import = read_as(arena, "x.sh", arena_printf(arena, script, "0"), &asked);
    EXPECT(lists(&import->idle, "NCCL_IB_DISABLE") && lists(&import->idle, "NCCL_SOCKET_IFNAME"));
    EXPECT(lists(&import->taken, "NCCL_NVLS_ENABLE") && lists(&import->idle, "CUDA_LAUNCH_BLOCKING"));
    EXPECT(lists(&import->open, "NCCL_ALGO"));
    EXPECT_TEXT(word(import, "optimizer"), "adam-8bit");
    import = read_as(arena, "x.sh", arena_printf(arena, script, "1"), &asked);
    EXPECT(lists(&import->open, "NCCL_IB_DISABLE") && lists(&import->open, "NCCL_SOCKET_IFNAME"));
    arena_close(arena);
}

// A program that the script writes, and starts.
static const Import *loop_of(Arena *arena, const char *lines, const char *options) {
    const char *text = arena_printf(arena,
                                    "#!/bin/bash\ncat > train.py <<'EOF'\nimport torch\n%sEOF\n"
                                    "torchrun --nproc_per_node 8 train.py --batch-size 4 --seq_len 512 %s\n",
                                    lines, options);
    return read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
}

TEST(what_a_program_calls_is_so_unless_a_condition_stands_before_it) {
    static const char model[] = "model = LlamaForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf', "
                                "attn_implementation='eager', torch_dtype=torch.bfloat16)\n";
    static const char sharded[] = "    model.gradient_checkpointing_enable()\n"
                                  "    model = FSDP(model, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP)\n"
                                  "    model = torch.compile(model)\n";
    Arena *arena = arena_open();
    const Import *import = loop_of(arena, arena_printf(arena, "%sif __name__ == '__main__':\n%s", model, sharded), "");
    EXPECT_CONTAINS(word(import, "model"), "llama-2-7b");
    EXPECT_TEXT(word(import, "attention"), "plain");
    EXPECT_TEXT(word(import, "precision"), "bf16");
    EXPECT_TEXT(word(import, "recompute"), "full");
    EXPECT_TEXT(word(import, "zero"), "2");
    EXPECT(lists(&import->open, "torch_compile"));
    import = loop_of(arena,
                     arena_printf(arena, "%sif args.shard:\n%selse:\n    fully_shard(model)\nx = 1\n", model, sharded),
                     "--fp16");
    EXPECT_TEXT(word(import, "zero"), "(not said)");
    EXPECT_TEXT(word(import, "recompute"), "(not said)");
    EXPECT_TEXT(word(import, "precision"), "fp16");
    EXPECT(!lists(&import->open, "torch_compile"));
    import = loop_of(
        arena,
        arena_printf(arena, "%sif args.x:\n    y = 2\n\nfully_shard(model, reshard_after_forward=False)\n", model), "");
    EXPECT_TEXT(word(import, "zero"), "2");
    arena_close(arena);
}

TEST(deepspeeds_micro_batch_follows_from_the_whole_and_a_precision_from_its_plugin) {
    Arena *arena = arena_open();
    const Import *import = read_as(
        arena, "x.sh",
        "#!/bin/bash\ncat > ds.json <<'EOF'\n"
        "{\"train_batch_size\": 64, \"gradient_accumulation_steps\": 4, \"zero_optimization\": {\"stage\": 1}}\nEOF\n"
        "deepspeed --num_gpus 4 train.py --model_name_or_path gpt2 --deepspeed_config ds.json\n",
        &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    import = read_as(arena, "r.py",
                     "recipe = llm.llama3_8b.pretrain_recipe(num_nodes=2, num_gpus_per_node=8)\n"
                     "recipe.trainer.plugins = bf16_with_fp8_mixed()\n",
                     &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "precision"), "fp8");
    EXPECT_TEXT(word(import, "fp8-recipe"), "delayed");
    arena_close(arena);
}

TEST(a_trainers_own_switch_that_is_off_does_not_undo_what_fsdp_recomputes) {
    static const char form[] =
        "#!/bin/bash\ncat > f.yaml <<'EOF'\ndistributed_type: FSDP\nnum_processes: 8\nfsdp_config:\n"
        "  fsdp_version: 2\n  fsdp_activation_checkpointing: %s\nEOF\n"
        "accelerate launch --config_file f.yaml train.py --model_name_or_path gpt2 "
        "--per_device_train_batch_size 2 --gradient_checkpointing False\n";
    Arena *arena = arena_open();
    for (int on = 0; on < 2; on++) {
        const char *text = arena_printf(arena, form, on ? "true" : "false");
        const char *again = word(read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"}), "recompute");
        EXPECT_INT(again && strcmp(again, "full") == 0, on);
    }
    arena_close(arena);
}

TEST(a_setting_that_a_function_is_told_later_is_known_and_one_that_nobody_knows_is_listed) {
    static const char text[] = "def loop(config):\n"
                               "    args = TrainingArguments(per_device_train_batch_size=config[\"bs\"], bf16=True,\n"
                               "                             gradient_accumulation_steps=accumulation())\n"
                               "trainer = TorchTrainer(loop, train_loop_config={\"bs\": 4},\n"
                               "    scaling_config=ScalingConfig(num_workers=16, use_gpu=True))\n"
                               "model = AutoModelForCausalLM.from_pretrained('gpt2')\n";
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "train.py", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT(lists(&import->open, "gradient_accumulation_steps"));
    EXPECT(!lists(&import->open, "per_device_train_batch_size"));
    arena_close(arena);
}

TEST(what_schedulers_are_told_is_of_machines_or_matters_or_neither) {
    Arena *arena = arena_open();
    const Import *import = read_as(
        arena, "x.sbatch",
        "#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=8 --gpu-freq=1200 --time=1:00:00\n"
        "#SBATCH --switches=1\n"
        "srun torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 4\n",
        &(ImportAsked){.node = "dgx-h100"});
    EXPECT(lists(&import->taken, "--nodes") && lists(&import->idle, "--time"));
    EXPECT(lists(&import->open, "--gpu-freq") && lists(&import->open, "--switches"));
    arena_close(arena);
}

// Short names of a recipe's parts, and a recipe that is put upon others.
TEST(parts_of_a_recipe_go_by_short_names) {
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "a.py",
                                   "from nemo.collections import llm\n"
                                   "def recipe():\n"
                                   "    r = llm.llama3_8b.pretrain_recipe(num_nodes=2, num_gpus_per_node=8)\n"
                                   "    s = r.trainer.strategy\n"
                                   "    d = s.ddp  # its part\n"
                                   "    s.tensor_model_parallel_size = 4\n"
                                   "    d.overlap_grad_reduce = True\n"
                                   "    return r\n",
                                   &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "tp"), "4");
    EXPECT_TEXT(word(import, "overlap-grad-reduce"), "true");
    arena_close(arena);
}

TEST(a_detectors_configuration_is_put_upon_its_bases) {
    Arena *arena = arena_open();
    const Import *import =
        read_as(arena, "a.sh",
                "#!/bin/bash\nmkdir c\ncat > c/common.py <<'E'\ntrain_dataloader = dict(batch_size=1, "
                "dataset=dict(type='CocoDataset'))\nE\ncat > c/own.py <<'E'\n_base_ = ['./common.py', "
                "'../_base_/models/mask-rcnn_r50_fpn.py', '../_base_/datasets/coco.py']\n"
                "norm = dict(type='SyncBN')\nmodel = dict(backbone=dict(norm_cfg=norm, frozen_stages=1))\n"
                "train_dataloader = dict(batch_size=4)\noptim_wrapper = dict(accumulative_counts=2)\nE\n"
                "torchrun --nproc_per_node 8 tools/train.py c/own.py --launcher pytorch --amp\n",
                &(ImportAsked){.node = "dgx-a100"});
    EXPECT_TEXT(import->software, "MMDetection");
    EXPECT_TEXT(word(import, "model"), "mask-rcnn-resnet-50");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT_TEXT(word(import, "grad-accumulation"), "2");
    EXPECT(lists(&import->open, "model.backbone.norm_cfg.type"));
    EXPECT(lists(&import->idle, "train_dataloader.dataset.type"));
    arena_close(arena);
}

static const char *line_of(const ImportLines *lines, const char *name) {
    for (int i = 0; i < lines->count; i++)
        if (strcmp(lines->items[i].name, name) == 0) return lines->items[i].value;
    return "(not there)";
}

TEST(a_makefiles_conditions_choose_its_lines) {
    static const char text[] = "BOX ?= big\nifeq ($(BOX),big)\nTP := 2\nelse\nTP := 4\nendif\n"
                               "ifneq \"$(BOX)\" \"big\"\nPP := 2\nelse ifdef TP\nPP := 4\nelse\nPP := 8\nendif\n"
                               "ifndef BOX\n  ifeq (a,a)\nPP := 1\n  endif\nendif\n"
                               "all:\n\ttorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 "
                               "--num-attention-heads 16 --seq-length 1024 --bf16 --micro-batch-size 1 "
                               "--tensor-model-parallel-size $(TP) --pipeline-model-parallel-size $(PP)\n";
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "Makefile", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "tp"), "2");
    EXPECT_TEXT(word(import, "pp"), "4");
    arena_close(arena);
}

// A launcher whose options are dictionaries, given to a function of its own; and one that becomes another program.
TEST(a_launcher_in_python_says_its_options_in_dictionaries) {
    static const char text[] =
        "cat > l.py <<'E'\nimport os\nON = object()\nN = int(os.environ['SLURM_NNODES'])\n"
        "A = {'--num-layers': 24, '--hidden-size': 1024, '--num-attention-heads': 16, '--bf16': ON}\n"
        "B = {'--seq-length': 1024, '--tensor-model-parallel-size': 2 * 2, '--lr': None}\n"
        "def flags(*tables):\n    out = []\n    for table in tables:\n        for name, value in table.items():\n"
        "            if value is not None:\n                out += [name] if value is ON else [name, str(value)]\n"
        "    return out\n"
        "def main():\n    cmd = ['torchrun', f'--nnodes={N}', '--nproc-per-node=8', 'pretrain_gpt.py']\n"
        "    cmd += flags(A, B)\n    os.execvp(cmd[0], cmd)\nE\nsrun python3 l.py\n";
    Arena *arena = arena_open();
    const char *script =
        arena_printf(arena, "#!/bin/bash\n#SBATCH --nodes=2 --gpus-per-node=8 --ntasks-per-node=1\n%s", text);
    const Import *import = read_as(arena, "x.sbatch", script, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "tp"), "4");
    EXPECT_TEXT(word(import, "precision"), "bf16");
    EXPECT_CONTAINS(word(import, "model"), "layers=24,hidden=1024");
    arena_close(arena);
}

// What functions are passed, classes of models, settings in a dictionary that a call takes whole.
TEST(parameters_of_functions_are_what_they_are_passed) {
    static const char text[] =
        "def trainer(nodes: int = 4, gpus: int = 8):\n"
        "    return run.Config(nl.Trainer, devices=gpus, num_nodes=nodes, plugins=bf16_mixed(),\n"
        "        callbacks=[run.Config(MegatronCommOverlapCallback, tp_comm_overlap=True)])\n"
        "def strategy():\n    return run.Config(nl.MegatronStrategy, tensor_model_parallel_size=2,\n"
        "        ddp=run.Config(DistributedDataParallelConfig, overlap_grad_reduce=True))\n"
        "m = run.Config(llm.LlamaModel, config=run.Config(llm.Llama3Config8B, seq_length=4096))\n"
        "def main():\n    many = 2\n    t = trainer(many, gpus=8)\n    e = executor(many)\n";
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "p.py", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "model"), "llama-3-8b");
    EXPECT_TEXT(word(import, "overlap-grad-reduce"), "true");
    EXPECT_TEXT(word(import, "tp-comm-overlap"), "true");
    const char *whole = "import submitit\nextra = {'slurm_constraint': 'h100'}\nx = submitit.AutoExecutor(folder='l')\n"
                        "x.update_parameters(nodes=2, tasks_per_node=8, gpus_per_node=8, **extra)\n"
                        "t = TrainingArguments(per_device_train_batch_size=4, bf16=True)\n"
                        "model = AutoModelForCausalLM.from_pretrained('gpt2')\n";
    import = read_as(arena, "s.py", whole, &(ImportAsked){0});
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "node"), "dgx-h100");
    arena_close(arena);
}

TEST(a_makefile_is_what_make_would_do) {
    static const char text[] =
        "# all\nTP ?= 2\nPP := 4\nTWO = $(TP)\nNAME := run\nVARS := $$PP\n"
        "export PP\n.PHONY: help submit\n.DEFAULT_GOAL := submit\n"
        "help:\n\t@echo make submit\n"
        "$(NAME).sh: Makefile\n\techo '--pipeline-model-parallel-size $$PP' | \\\n"
        "\t  envsubst '$(VARS)' > $@\n"
        "submit: $(NAME).sh\n\t-mkdir -p logs\n\t@torchrun --nproc_per_node 8 pretrain_gpt.py "
        "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --bf16 "
        "--micro-batch-size 1 --tensor-model-parallel-size $(TWO) --lr $(shell date) $$(cat $<)\n";
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "Makefile", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "tp"), "2");
    EXPECT_TEXT(word(import, "pp"), "4");
    import =
        read_as(arena, "Makefile",
                "HOSTS := a b c\nN := $(words $(HOSTS))\ngo:\n\tfor h in $(HOSTS); do ssh $$h \"cd $(CURDIR) && "
                "NNODES=$(N) NPROC_PER_NODE=8 llamafactory-cli train --finetuning_type full --model_name_or_path gpt2 "
                "--run_name $(lastword $(HOSTS))-$(firstword $(HOSTS))$(word 2,x y)\"; done\n",
                &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "24");
    EXPECT_TEXT(line_of(&import->idle, "--run_name"), "c-ay");
    Problems *problems = problems_create(arena);
    EXPECT(!import_text(arena, "a.mk", "A = $(A)\nall: all $(A)\n\techo $(A)\n", 37, &(ImportAsked){0}, problems));
    EXPECT(problem_count(problems) > 0);
    arena_close(arena);
}

// Variables, defaults of recipes, what the environment may say; the first recipe that trains, in its own language.
TEST(a_justfile_is_what_just_would_do) {
    static const char text[] =
        "set shell := [\"bash\", \"-c\"]\nexport NCCL_DEBUG := \"INFO\"\n"
        "node_count := env_var_or_default(\"NODES\", \"2\")\nper-node := env('GPN', \"8\")\n"
        "kind := if os() == \"linux\" { \"a\" } else { \"b\" }\nsize := `echo 1.5b`\n\n"
        "default:\n    @just --list\n\n# with parameters\n"
        "train bs=\"4\" acc='2' *extra: (prep \"x\")\n    #!/usr/bin/env bash\n"
        "    torchrun --nnodes {{node_count}} --nproc_per_node {{per-node}} run_clm.py \\\n"
        "      --model_name_or_path {{ \"gpt2-\" + size }} --per_device_train_batch_size {{bs}} \\\n"
        "      --gradient_accumulation_steps {{acc}} {{extra}}\n"
        "prep what:\n    #!/usr/bin/env python3\n    print(\"torchrun {{what}}\")\n";
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "justfile", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "model"), "gpt2-1.5b");
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT_TEXT(word(import, "grad-accumulation"), "2");
    EXPECT(lists(&import->idle, "NCCL_DEBUG"));
    arena_close(arena);
}

// Of its options a program knows which of its branches it takes; short names and constants are its own words.
TEST(branches_of_a_program_follow_its_options) {
    static const char lines[] = "import argparse\nDEPTH = 24\nKINDS = {'grad': ShardingStrategy.SHARD_GRAD_OP}\n"
                                "def get():\n    p = argparse.ArgumentParser()\n"
                                "    g = p.add_argument_group('x')\n"
                                "    g.add_argument('--kind', choices=['ddp', 'grad'], default='ddp')\n"
                                "    g.add_argument('--keep', action='store_true')\n"
                                "    g.add_argument('-w', '--width', type=int, default=768)\n"
                                "    g.add_argument('--heads', type=int, default=16)\n    return p.parse_args()\n"
                                "a = get()\nif a.kind == 'ddp':\n    model = DDP(model)\nelse:\n"
                                "    model = FSDP(model, sharding_strategy=KINDS[a.kind])\n"
                                "if not a.keep:\n    apply_activation_checkpointing(model)\n";
    Arena *arena = arena_open();
    const Import *import = loop_of(arena, lines, "--kind grad -w 2048");
    EXPECT_TEXT(word(import, "zero"), "2");
    EXPECT_TEXT(word(import, "recompute"), "full");
    EXPECT_CONTAINS(word(import, "model"), "layers=24,hidden=2048,heads=16");
    import = loop_of(arena, lines, "--keep");
    EXPECT_TEXT(word(import, "zero"), "(not said)");
    EXPECT_TEXT(word(import, "recompute"), "(not said)");
    EXPECT_CONTAINS(word(import, "model"), "layers=24,hidden=768");
    arena_close(arena);
}

TEST(stages_of_a_program_and_machines_of_its_executor_are_its_job) {
    Arena *arena = arena_open();
    const Import *import = loop_of(arena,
                                   "import deepspeed\nHEADS, DEPTH, WIDTH = 16, 24, 1536\n"
                                   "p.add_argument('-p', '--stages', type=int, default=2)\nargs = p.parse_args()\n"
                                   "net = PipelineModule(layers=layers(), num_stages=args.stages, "
                                   "partition_method='parameters', activation_checkpoint_interval=1)\n"
                                   "engine, _, _, _ = deepspeed.initialize(args=args, model=net)\n",
                                   "-p 4");
    EXPECT_TEXT(import->software, "DeepSpeed");
    EXPECT_TEXT(word(import, "pp"), "4");
    EXPECT_TEXT(word(import, "recompute"), "full");
    EXPECT_CONTAINS(word(import, "model"), "layers=24,hidden=1536,heads=16");
    EXPECT(lists(&import->open, "pipe_partition_method"));
    import =
        read_as(arena, "submit.py",
                "ap.add_argument('--batch', type=int, default=4)\nargs = ap.parse_args()\n"
                "cmd = ['python', 'train.py', '--model', 'gpt2', '--batch-size', str(args.batch)]\n"
                "executor = submitit.AutoExecutor(folder='jobs')\n"
                "executor.update_parameters(nodes=2, gpus_per_node=8, tasks_per_node=8, slurm_partition='learn')\n",
                &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT(lists(&import->idle, "slurm_partition"));
    arena_close(arena);
}

TEST(a_detector_is_what_its_parts_say_and_replicas_are_counted) {
    Arena *arena = arena_open();
    const Import *import =
        read_as(arena, "a.sh",
                "#!/bin/bash\nmkdir c\necho 'MODEL: {MASK_ON: False, RESNETS: {DEPTH: 50}}' > c/base.yaml\n"
                "printf '_BASE_: base.yaml\nMODEL:\n  MASK_ON: True\n  RESNETS: {DEPTH: 101}\n' > c/parts.yaml\n"
                "python train_net.py --num-gpus 8 --config-file c/parts.yaml --resume SOLVER.IMS_PER_BATCH 16\n",
                &(ImportAsked){.node = "dgx-a100"});
    EXPECT_TEXT(word(import, "model"), "mask-rcnn-resnet-101");
    EXPECT_TEXT(word(import, "global-batch"), "16");
    Problems *problems = problems_create(arena);
    static const char nanotron[] = "#!/bin/bash\ntorchrun --nproc_per_node 8 run_train.py --parallelism.dp 4 "
                                   "--parallelism.tp 4 --tokens.batch_accumulation_per_replica 2\n";
    EXPECT(!import_text(arena, "b.sh", nanotron, sizeof nanotron - 1, &(ImportAsked){.node = "dgx-h100"}, problems));
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "4 replicas x 4 (tp x pp x cp) are 16 GPUs, and 8 are started");
    arena_close(arena);
}

// A file of variables beside Docker Compose's fills in what it names; what is a secret of it no answer repeats.
TEST(secrets_of_a_script_are_not_repeated) {
    Arena *arena = arena_open();
    const Import *import =
        read_as(arena, "a.sh",
                "#!/bin/bash\nexport WANDB_API_KEY=abc HF_TOKEN=hf_1\n"
                "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --hub_token hf_2 --pad_token x "
                "--tokenizer_name gpt2 --per_device_train_batch_size 1\n",
                &(ImportAsked){.node = "dgx-h100"});
    const ImportLines *lists_of[] = {&import->taken, &import->idle, &import->open};
    for (int l = 0; l < 3; l++)
        for (int i = 0; i < lists_of[l]->count; i++) {
            const char *value = lists_of[l]->items[i].value;
            EXPECT(!value || (!strstr(value, "abc") && !strstr(value, "hf_")));
        }
    EXPECT(lists(&import->idle, "--hub_token"));
    arena_close(arena);
}

// What a program starts by a text or a list, what its functions return, and cells of a notebook.
TEST(commands_that_a_program_starts_are_read) {
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "cells.py",
                                   "os.environ['NPROC_PER_NODE'] = '4'\nbs, more = 2, 8\n"
                                   "get_ipython().system('nvidia-smi')\n"
                                   "get_ipython().system('swift sft --model gpt2 --train_type full "
                                   "--per_device_train_batch_size {bs} --gradient_accumulation_steps {more}')\n",
                                   &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "4");
    EXPECT_TEXT(word(import, "grad-accumulation"), "8");
    import = read_as(arena, "start.py",
                     "def more(batch=4):\n    return ['--model_name_or_path=gpt2', "
                     "f'--per_device_train_batch_size={batch}']\n"
                     "def main():\n    cmd = ['torchrun', '--nproc_per_node=2', str(Path('/x/run_clm.py'))] + more()\n"
                     "    subprocess.run(cmd, check=True)\n",
                     &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "2");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    import = read_as(
        arena, "a.sh",
        "#!/bin/bash\ncat > /tmp/one.$LSB_JOBID.sh <<EOF\ntune run --nproc_per_node 8 full_finetune_distributed "
        "--config llama2/7B_full fsdp_cpu_offload=True\nEOF\nbash /tmp/one.$LSB_JOBID.sh\n",
        &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "8");
    EXPECT_TEXT(word(import, "offload-parameters"), "host");
    arena_close(arena);
}

// A configuration that a function writes, with what is not known in it; NeMo-Run's Config; one resource set a GPU.
TEST(what_is_not_known_of_a_configuration_hides_nothing_else) {
    Arena *arena = arena_open();
    const Import *import =
        read_as(arena, "a.sh",
                "#!/bin/bash\nw=/data/$USER/x\nf() {\ncat <<EOF > \"$w/c.yml\"\nbase_model: "
                "mistralai/Mistral-Nemo-Base-2407\nmicro_batch_size: 2\ndatasets:\n  - path: $w/t\noutput_dir: "
                "$w/o\nsequence_len: $(uptime)\nEOF\n}\nf\ntorchrun --nproc_per_node 4 -m axolotl.cli.train $w/c.yml\n",
                &(ImportAsked){.node = "dgx-a100"});
    EXPECT_TEXT(word(import, "model"), "mistral-nemo-12b");
    EXPECT_TEXT(word(import, "micro-batch"), "2");
    EXPECT(lists(&import->open, "sequence_len"));
    import = read_as(arena, "b.py",
                     "r = llm.llama3_8b.pretrain_recipe(num_nodes=1, num_gpus_per_node=8)\n"
                     "r.data = run.Config(llm.PreTrainingDataModule, seq_length=4096, micro_batch_size=2, "
                     "global_batch_size=64)\n",
                     &(ImportAsked){.node = "dgx-a100"});
    EXPECT_TEXT(word(import, "micro-batch"), "2");
    EXPECT_TEXT(word(import, "global-batch"), "64");
    import = read_as(arena, "c.sh",
                     "#!/bin/bash\njsrun -n 16 -r 4 -a 1 -g 1 python train.py --model gpt2 --batch-size 2 --fp16\n",
                     &(ImportAsked){.node = "dgx-a100"});
    EXPECT_TEXT(word(import, "gpus"), "16");
    arena_close(arena);
}
