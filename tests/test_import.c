// Launch files as questions: what they say is what is asked, whichever software and launcher say it, and nothing is
// run.
#include <unistd.h>

#include "models/workload/job/job.h"
#include "scenarios/import/import.h"
#include "sim/system/file.h"
#include "tests/import_read.h"
#include "tests/test.h"

static const ImportAsked nothing;

const Import *read_or_null(Arena *arena, const char *name, const char *text, const ImportAsked *asked,
                           Problems *problems) {
    return import_text(arena, name, text, strlen(text), asked, problems);
}

const Import *read_as(Arena *arena, const char *name, const char *text, const ImportAsked *asked) {
    Problems *problems = problems_create(arena);
    const Import *import = read_or_null(arena, name, text, asked, problems);
    EXPECT_TEXT(problem_count(problems) ? problem_at(problems, 0)->text : "", "");
    return import ? import : ARENA_NEW(arena, Import);
}

const char *word(const Import *import, const char *option) {
    for (int i = 0; i < import->words.count; i++)
        if (strcmp(import->words.items[i].option, option) == 0) return import->words.items[i].value;
    return "(not said)";
}

bool lists(const ImportLines *lines, const char *name) {
    for (int i = 0; i < lines->count; i++)
        if (strcmp(lines->items[i].name, name) == 0) return true;
    return false;
}

const char *import_problem(Arena *arena, const char *name, const char *text, const ImportAsked *asked) {
    Problems *problems = problems_create(arena);
    EXPECT(!read_or_null(arena, name, text, asked, problems));
    return problem_count(problems) ? problem_at(problems, 0)->text : "(none)";
}

static const char megatron[] =
    "#!/bin/bash\n"
    "#SBATCH --nodes=4 --ntasks-per-node=8\n"
    "#SBATCH --gpus-per-node=h100:8   # of a kind\n"
    "PP=${PP:-4}; GBS=$(( 16 * 8 ))\n"
    "ARGS=(\n"
    "  --num-layers 48 --hidden-size 6144   # no comment is an option\n"
    "  --num-attention-heads 48 --ffn-hidden-size \"$((4 * 6144))\"\n"
    "  --num-layers-per-virtual-pipeline-stage 3 --lr 1e-4 --tp-comm-overlap\n"
    ")\n"
    "if [[ $FP8 == 1 ]]; then ARGS+=(--fp8-format hybrid); else ARGS+=(--bf16); fi\n"
    "srun --label python -u pretrain_gpt.py \"${ARGS[@]}\" \\\n"
    "  --tensor-model-parallel-size 4 --pipeline-model-parallel-size $PP \\\n"
    "  --micro-batch-size 1 --global-batch-size $GBS --seq-length 4096 --use-distributed-optimizer\n";

TEST(a_scripts_variables_arrays_and_branches_are_its_job) {
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "train.sbatch", megatron, &nothing);
    EXPECT_TEXT(import->software, "Megatron-LM");
    EXPECT_TEXT(word(import, "gpus"), "32");
    EXPECT_TEXT(word(import, "node"), "dgx-h100");
    EXPECT_TEXT(word(import, "tp"), "4");
    EXPECT_TEXT(word(import, "pp"), "4");
    EXPECT_TEXT(word(import, "vpp"), "4");
    EXPECT_TEXT(word(import, "global-batch"), "128");
    EXPECT_TEXT(word(import, "precision"), "bf16");
    EXPECT_TEXT(word(import, "zero"), "1");
    EXPECT_CONTAINS(word(import, "model"), "ffn=24576");
    EXPECT(lists(&import->idle, "--lr"));
    EXPECT(lists(&import->taken, "--tp-comm-overlap"));
    arena_close(arena);
}

TEST(what_a_command_would_print_is_not_known_and_said) {
    Arena *arena = arena_open();
    const char *text =
        "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 \\\n"
        "  --num-attention-heads 16 --tensor-model-parallel-size $(touch lockstep-was-here; echo 8) \\\n"
        "  --micro-batch-size 1 --global-batch-size 64 --seq-length 1024 --bf16\n";
    const Import *import = read_as(arena, "train.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "tp"), "(not said)");
    EXPECT(lists(&import->open, "--tensor-model-parallel-size"));
    EXPECT(access("lockstep-was-here", F_OK) != 0);
    arena_close(arena);
}

TEST(a_file_that_the_script_writes_is_read) {
    Arena *arena = arena_open();
    const char *text =
        "#!/bin/bash\nMB=2\ncat > ds.json <<EOT\n"
        "{\"train_batch_size\": 512, \"train_micro_batch_size_per_gpu\": $MB,\n"
        " \"gradient_accumulation_steps\": 4, \"zero_optimization\": {\"stage\": 2}}\nEOT\n"
        "torchrun --nnodes 2 --nproc_per_node=8 run_clm.py --model_name_or_path meta-llama/Llama-2-7b-hf "
        "--per_device_train_batch_size $MB --gradient_accumulation_steps 4 --bf16 --deepspeed ds.json\n";
    EXPECT_CONTAINS(import_problem(arena, "run.sh", text, &(ImportAsked){.node = "dgx-h100"}), "2 x 4 x 16");
    arena_close(arena);
}

TEST(torchtitan_counts_replicas_as_it_does) {
    Arena *arena = arena_open();
    const char *text =
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = [\"quantize.linear.float8\"]\n"
        "[training]\nlocal_batch_size = 2\nseq_len = 8_192\n[parallelism]\n"
        "data_parallel_replicate_degree = 2\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 2\n"
        "[optimizer]\nlr = 3e-4\n";
    const Import *import = read_as(arena, "job.toml", text, &(ImportAsked){.node = "dgx-h100", .gpus = "64"});
    EXPECT_TEXT(word(import, "model"), "llama-3-8b");
    EXPECT_TEXT(word(import, "zero-shard"), "16");
    EXPECT_TEXT(word(import, "global-batch"), "64");
    EXPECT_TEXT(word(import, "seq"), "8192");
    EXPECT_TEXT(word(import, "fp8-recipe"), "tensorwise");
    EXPECT(lists(&import->idle, "optimizer.lr"));
    arena_close(arena);
}

TEST(a_manifest_says_machines_and_command) {
    Arena *arena = arena_open();
    const char *text =
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Master: &m\n"
        "      replicas: 1\n      template:\n        spec:\n          nodeSelector: {nvidia.com/gpu.product: "
        "NVIDIA-H200}\n"
        "          containers:\n            - name: pytorch\n"
        "              command: [torchrun, run_clm.py, --model_name_or_path, Qwen/Qwen2.5-7B, --fsdp, full_shard]\n"
        "              args: [--per_device_train_batch_size, '2', --gradient_accumulation_steps, '4', --bf16]\n"
        "              resources: {limits: {nvidia.com/gpu: 8}}\n    Worker:\n      <<: *m\n      replicas: 3\n";
    const Import *import = read_as(arena, "job.yaml", text, &nothing);
    EXPECT_TEXT(word(import, "gpus"), "32");
    EXPECT_TEXT(word(import, "node"), "dgx-h200");
    EXPECT_TEXT(word(import, "model"), "qwen2.5-7b");
    EXPECT_TEXT(word(import, "zero"), "3");
    EXPECT_TEXT(word(import, "grad-accumulation"), "4");
    arena_close(arena);
}

TEST(a_command_that_is_a_list_in_python_is_read) {
    Arena *arena = arena_open();
    const char *text =
        "#!/usr/bin/env python3\nTP, MB = 2, 4\n"
        "cmd = [\"torchrun\", \"--nproc_per_node\", str(4 * TP), \"pretrain_gpt.py\"]\n"
        "cmd += [\"--num-layers\", \"24\", \"--hidden-size\", \"2048\", f\"--tensor-model-parallel-size={TP}\"]\n"
        "cmd += \"--num-attention-heads 16 --seq-length 2048 --global-batch-size 64 --fp16\".split()\n"
        "cmd.extend([\"--micro-batch-size\", str(MB)])\n";
    const Import *import = read_as(arena, "launch.py", text, &(ImportAsked){.node = "dgx-a100-80gb"});
    EXPECT_TEXT(word(import, "gpus"), "8");
    EXPECT_TEXT(word(import, "tp"), "2");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT_TEXT(word(import, "precision"), "fp16");
    arena_close(arena);
}

TEST(aliases_of_aliases_and_endless_scripts_end_in_a_sentence) {
    Arena *arena = arena_open();
    const char *text = "x0: &x0 {a: b}\n";
    for (int i = 1; i < 20; i++)
        text = arena_printf(arena, "%sx%d: &x%d [*x%d, *x%d, *x%d, *x%d]\n", text, i, i, i - 1, i - 1, i - 1, i - 1);
    EXPECT_CONTAINS(import_problem(arena, "bomb.yaml", text, &nothing), "more than");
    EXPECT_CONTAINS(import_problem(arena, "loop.yaml", "a: &a {b: *a}\n", &nothing), "within itself");
    const char *endless = "#!/bin/bash\nf() { N=$((N + 1)); f; }; f\nwhile true; do P=$P$P$N; done\nP=${P//$P/$P$P}\n"
                          "source ./other.sh; torchrun train.py $P\n";
    EXPECT_CONTAINS(import_problem(arena, "endless.sh", endless, &(ImportAsked){.node = "dgx-h100"}), "which model?");
    arena_close(arena);
}

TEST(a_value_that_cannot_be_says_its_line) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char *text =
        "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 \\\n"
        "  --num-attention-heads 16 --micro-batch-size 1 \\\n  --tensor-model-parallel-size -2\n";
    EXPECT(!read_or_null(arena, "train.sh", text, &(ImportAsked){.node = "dgx-h100"}, problems));
    EXPECT_INT(problem_at(problems, 0)->where.line, 4);
    EXPECT_TEXT(problem_at(problems, 0)->where.file, "train.sh");
    arena_close(arena);
}

TEST(what_is_not_understood_widens_the_range_and_moves_nothing_else) {
    Arena *arena = arena_open();
    static const char *const more[] = {"", "--fuse-every-product 4", "--fuse-every-product 4 --wave-order 2"};
    double low[3], middle[3], high[3];
    for (int i = 0; i < 3; i++) {
        char out[1 << 16];
        const char *line = arena_printf(
            arena,
            "d=$(mktemp -d); printf '#!/bin/bash\\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 "
            "--hidden-size 1024 --num-attention-heads 16 --micro-batch-size 1 --global-batch-size 64 --seq-length 1024 "
            "--bf16 %s\\n' >$d/x.sh; $LOCKSTEP run $d/x.sh --node dgx-h100 --json; rm -r $d",
            more[i]);
        EXPECT_INT(test_shell(line, out, sizeof out), 0);
        Problems *problems = problems_create(arena);
        const Json *step = json_get(json_read_text(arena, "out", out, strlen(out), problems), "step_time_s");
        EXPECT(step != NULL);
        if (!step) break;
        low[i] = json_number(step, "p5", problems);
        middle[i] = json_number(step, "p50", problems);
        high[i] = json_number(step, "p95", problems);
        EXPECT_NEAR(middle[i], middle[0], 0);
        EXPECT(i == 0 || (low[i] < low[i - 1] && high[i] > high[i - 1]));
    }
    arena_close(arena);
}

TEST(what_megatron_prints_of_its_arguments_is_a_job) {
    Arena *arena = arena_open();
    const char *text = "using world size: 16\n------------------------ arguments ------------------------\n"
                       "  apply_rope_fusion ............................... True\n"
                       "  hidden_size ..................................... 4096\n"
                       "  micro_batch_size ................................ 1\n"
                       "  num_attention_heads ............................. 32\n"
                       "  num_layers ...................................... 32\n"
                       "  pipeline_model_parallel_size .................... 2\n"
                       "  recompute_granularity ........................... None\n"
                       "  sequence_parallel ............................... False\n"
                       "  swiglu .......................................... True\n"
                       "  tensor_model_parallel_size ...................... 2\n"
                       "  world_size ...................................... 16\n"
                       "-------------------- end of arguments ---------------------\n"
                       "  tensor_model_parallel_size ...................... 8\n";
    const Import *import = read_as(arena, "trainer.log", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(import->kind, "log");
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "tp"), "2");
    EXPECT_TEXT(word(import, "recompute"), "(not said)");
    EXPECT_CONTAINS(word(import, "model"), "gated_mlp=true");
    EXPECT_INT(import->open.count, 1); // apply_rope_fusion: of what is not understood that which is on
    arena_close(arena);
}

TEST(a_log_is_known_by_what_is_printed_and_read_behind_whatever_stands_before_its_lines) {
    static const char lines[] = "Config param base_emb_dim: 4096\nConfig param decoder_block: DecoderBlockType.LLAMA2\n"
                                "Config param dtype: bfloat16\nConfig param model_name: llama3-8b\n"
                                "Config param per_device_batch_size: 4.0\nConfig param max_target_length: 8192\n"
                                "Config param ici_fsdp_parallelism: 8\nNum_devices: 16, shape (2, 8)\n";
    static const char *const labels[] = {"",
                                         " 3: ",
                                         "[default0]:",
                                         "[1,0]<stdout>:",
                                         "2025-05-01T12:00:00.12Z ",
                                         "trainer-1  | ",
                                         "I0212 12:00:00.0001 12 pyconfig.py:30] "};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        char text[2000] = "";
        for (const char *at = lines; *at; at += strcspn(at, "\n") + 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s\n", labels[i], (int)strcspn(at, "\n"),
                     at);
        const Import *import = read_as(arena, "run.e4711", text, &(ImportAsked){.node = "dgx-h100"});
        EXPECT_TEXT(import->kind, "log");
        EXPECT_TEXT(import->software, "MaxText");
        EXPECT_TEXT(word(import, "gpus"), "16");
        EXPECT_TEXT(word(import, "model"), "llama-3-8b");
        EXPECT_TEXT(word(import, "seq"), "8192");
    }
    arena_close(arena);
}

TEST(recipes_and_lone_scripts_count_as_they_do) {
    Arena *arena = arena_open();
    const Import *tune =
        read_as(arena, "a.sh",
                "#!/bin/bash\ntune run --nnodes 1 --nproc_per_node 8 full_finetune_distributed --config "
                "llama2/7B_full batch_size=2 tokenizer.max_seq_len=2048 compile=False\n",
                &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(tune, "model"), "llama-2-7b");
    EXPECT_TEXT(word(tune, "gpus"), "8");
    EXPECT_TEXT(word(tune, "zero"), "3");
    EXPECT_TEXT(word(tune, "micro-batch"), "2");
    const Import *nano = read_as(arena, "b.sh",
                                 "#!/bin/bash\ntorchrun --standalone --nproc_per_node=8 train.py config/train_gpt2.py "
                                 "--batch_size=12 --block_size=1024 --n_layer=12 --n_head=12 --n_embd=768 "
                                 "--gradient_accumulation_steps=40 --dtype=bfloat16\n",
                                 &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(nano, "grad-accumulation"), "5");
    EXPECT_TEXT(word(nano, "precision"), "bf16");
    arena_close(arena);
}

TEST(a_template_that_the_script_fills_is_its_configuration) {
    Arena *arena = arena_open();
    const char *text =
        "#!/bin/bash\nSTAGE=3\ncat > t.json <<'E'\n"
        "{\"zero_optimization\": {\"stage\": ${STAGE}}, \"train_micro_batch_size_per_gpu\": MICRO}\nE\n"
        "envsubst < t.json | sed \"s/MICRO/$(expr 1 \\* 2)/\" | tee ds.json\n"
        "torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 2 "
        "--deepspeed ds.json --fp16\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "zero"), "3");
    EXPECT_TEXT(word(import, "micro-batch"), "2");
    arena_close(arena);
}

TEST(a_job_that_is_submitted_by_another_script_is_read) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\nn=4\nsrun -N1 -n1 hostname\nsbatch -N$n <<EOF\n#!/bin/bash\n#SBATCH --nodes=1\n"
                       "#SBATCH --gpus-per-node=h100:8 --ntasks-per-node=8\n"
                       "srun python pretrain_gpt.py " MEGATRON_SIZES
                       " --micro-batch-size 1 --global-batch-size \\$((SLURM_NNODES * 16))\nEOF\n";
    const Import *import = read_as(arena, "x.sh", text, &nothing);
    EXPECT_TEXT(word(import, "gpus"), "32");
    EXPECT_TEXT(word(import, "global-batch"), "64");
    arena_close(arena);
}

TEST(a_task_is_a_gpu_only_where_tasks_are_more_than_machines) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\n#SBATCH -N 4 -n 4 --gpus-per-task=8\nsrun python3 -m MaxText.train base.yml "
                       "model_name=mixtral-8x7b ici_expert_parallelism=8 per_device_batch_size=3 quantization=fp8 "
                       "dtype=bfloat16 max_target_length=4096\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "32");
    EXPECT_TEXT(word(import, "precision"), "fp8");
    const Import *pbs =
        read_as(arena, "y.sh",
                "#!/bin/bash\n#PBS -l select=10:ncpus=64:ngpus=4\nN=`wc -l < $PBS_NODEFILE`\n"
                "mpiexec -n $((N * 4)) --ppn 4 python pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1\n",
                &(ImportAsked){.node = "hgx-a100-4"});
    EXPECT_TEXT(word(pbs, "gpus"), "40");
    arena_close(arena);
}

TEST(hosts_that_are_chosen_have_their_own_slots) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\ncat > hosts <<E\na slots=8\nb slots=4\nc slots=4\nE\n"
                       "deepspeed --hostfile hosts %s run_clm.py --model_name_or_path gpt2 "
                       "--per_device_train_batch_size 1 --fp16\n";
    const ImportAsked asked = {.node = "dgx-h100"};
    EXPECT_TEXT(word(read_as(arena, "x.sh", arena_printf(arena, text, "--include b@c"), &asked), "gpus"), "8");
    EXPECT_TEXT(word(read_as(arena, "x.sh", arena_printf(arena, text, "--include a:0,1@c"), &asked), "gpus"), "6");
    EXPECT_TEXT(word(read_as(arena, "x.sh", arena_printf(arena, text, "--exclude a"), &asked), "gpus"), "8");
    arena_close(arena);
}

TEST(calls_of_a_program_in_python_say_its_job) {
    Arena *arena = arena_open();
    const char *trainer =
        "MODEL = \"EleutherAI/pythia-6.9b\"\nBATCH = 4\n"
        "def run(nodes: int = 4):\n    data = torch.utils.data.DataLoader(Packed(block_size=2048), batch_size=BATCH)\n"
        "    model = AutoModelForCausalLM.from_pretrained(MODEL)\n"
        "    trainer = L.Trainer(devices=8, num_nodes=nodes, precision=\"bf16-true\", accumulate_grad_batches=2,\n"
        "                        strategy=FSDPStrategy(sharding_strategy=\"HYBRID_SHARD\"))\n";
    const Import *import = read_as(arena, "train.py", trainer, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(import->software, "Lightning");
    EXPECT_TEXT(word(import, "gpus"), "32");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT_TEXT(word(import, "zero-shard"), "8");
    EXPECT_TEXT(word(import, "seq"), "2048");
    const char *recipe = "def configure(nodes=2, per=8):\n"
                         "    recipe = llm.llama3_8b.pretrain_recipe(num_nodes=nodes, num_gpus_per_node=per)\n"
                         "    recipe.trainer.strategy.tensor_model_parallel_size = 2\n"
                         "    recipe.data.global_batch_size = 8 * 64\n    recipe.data.micro_batch_size = 2\n";
    import = read_as(arena, "r.py", recipe, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(import->software, "NeMo 2");
    EXPECT_TEXT(word(import, "model"), "llama-3-8b");
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "tp"), "2");
    EXPECT_TEXT(word(import, "global-batch"), "512");
    const char *estimator =
        "hp = {\"model_name_or_path\": \"gpt2\", \"per_device_train_batch_size\": 4, \"learning_rate\": 2e-5, "
        "\"bf16\": True}\n"
        "HuggingFace(instance_type=\"ml.p4d.24xlarge\", instance_count=2, hyperparameters=hp).fit()\n";
    import = read_as(arena, "s.py", estimator, &nothing);
    EXPECT_TEXT(word(import, "node"), "aws-p4d.24xlarge");
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT(lists(&import->idle, "learning_rate"));
    arena_close(arena);
}

TEST(a_call_ends_with_its_line) {
    Arena *arena = arena_open();
    const char *text = "model = build(c).model\ntrainer = L.Trainer(devices=8, num_nodes=2, precision=\"bf16-true\")\n"
                       "net[\n  0] (x)\nAutoModelForCausalLM.from_pretrained(\"gpt2\")\n"
                       "data = DataLoader(d, batch_size=4)\n";
    const Import *import = read_as(arena, "train.py", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    arena_close(arena);
}

TEST(what_a_program_computes_of_its_options_is_its_job) {
    Arena *arena = arena_open();
    const char *text = "cat > m/t.py <<'E'\ndepth = 12\nmax_seq_len = "
                       "2048\nexec(open('configurator.py').read())\nmodel_dim = depth * 64\n"
                       "num_layers = depth\nnum_heads = max(1, (model_dim + 127) // 128)\ntotal_batch_size = 524288\n"
                       "device_batch_size = 16\nE\ntorchrun --nproc_per_node 8 -m m.t -- --depth=20\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(import->software, "nanochat");
    EXPECT_CONTAINS(word(import, "model"), "layers=20,hidden=1280,heads=10");
    EXPECT_TEXT(word(import, "global-batch"), "256");
    const char *core = "c = TransformerConfig.llama_like(vocab_size=100352, d_model=4096, n_layers=32, n_heads=32, "
                       "hidden_size_multiple_of=256)\n"
                       "t = TransformerTrainModuleConfig(rank_microbatch_size=2 * 4096, max_sequence_length=4096,\n"
                       "    dp_config=TransformerDataParallelConfig(name=DataParallelType.hsdp, shard_degree=8))\n"
                       "d = NumpyDataLoaderConfig(global_batch_size=512 * 4096)\n";
    import = read_as(arena, "o.py", core, &(ImportAsked){.node = "dgx-h100", .gpus = "32"});
    EXPECT_TEXT(import->software, "OLMo-core");
    EXPECT_CONTAINS(word(import, "model"), "ffn=11008");
    EXPECT_TEXT(word(import, "micro-batch"), "2");
    EXPECT_TEXT(word(import, "global-batch"), "512");
    EXPECT_TEXT(word(import, "zero-shard"), "8");
    arena_close(arena);
}

// One file of each service and tool: how many GPUs it comes to, and of which batch.
TEST(files_of_other_services_say_machines_and_command) {
    static const struct {
        const char *text, *gpus, *micro;
    } tasks[] = {
        {"type: task\nnodes: 2\nenv:\n  - M=gpt2\nresources:\n  gpu: nvidia:H100:80GB:8\ncommands:\n"
         "  - torchrun --nnodes $DSTACK_NODES_NUM --nproc_per_node $DSTACK_GPUS_PER_NODE run_clm.py --fp16\n"
         "    --model_name_or_path $M --per_device_train_batch_size 4\n",
         "16", "4"},
        {"type: command\ncommand: python run_clm.py --model_name_or_path ${{inputs.m}} --fp16\n"
         "  --per_device_train_batch_size 4\ninputs: {m: gpt2}\ndistribution: {type: pytorch, "
         "process_count_per_instance: 8}\n"
         "resources: {instance_count: 2}\n",
         "16", "4"},
        {"name: x\nentrypoint: python3 -m determined.launch.torch_distributed run_clm.py\nresources: {slots_per_trial: "
         "16}\n"
         "searcher: {name: single}\nhyperparameters: {model_name_or_path: gpt2, per_device_train_batch_size: 4}\n",
         "16", "4"},
        {"workerPoolSpecs:\n  - replicaCount: 2\n    machineSpec: {machineType: a3-highgpu-8g}\n    containerSpec:\n"
         "      command: [torchrun, run_clm.py]\n      args: [--model_name_or_path, gpt2, "
         "--per_device_train_batch_size, '4']\n",
         "16", "4"},
        {"compute: {gpus: 16, gpu_type: h100_80gb}\ncommand: composer train.py "
         "/mnt/config/parameters.yaml\nparameters:\n"
         "  model: {name: hf, pretrained_model_name_or_path: gpt2}\n  max_seq_len: 1024\n  global_train_batch_size: "
         "64\n"
         "  device_train_microbatch_size: 4\n",
         "16", "4"},
        {"version: v2\nbudget: x\ntasks:\n  - replicas: 2\n    resources: {gpuCount: 8}\n    command: [torchrun, "
         "'--nnodes=2']\n"
         "    arguments: [--nproc_per_node=8, run_clm.py, --model_name_or_path, gpt2, --per_device_train_batch_size, "
         "'4']\n",
         "16", "4"},
        {"services:\n  t:\n    command: torchrun --nproc_per_node 2 run_clm.py --model_name_or_path gpt2\n"
         "      --per_device_train_batch_size 4\n    deploy: {resources: {reservations: {devices: [{count: 2}]}}}\n",
         "2", "4"},
        {"ResourceConfig: {InstanceType: ml.p5.48xlarge, InstanceCount: 2}\n"
         "AlgorithmSpecification: {ContainerEntrypoint: [torchrun, run_clm.py]}\n"
         "HyperParameters: {model_name_or_path: gpt2, per_device_train_batch_size: '4'}\n",
         "16", "4"},
        {"apiVersion: v1\nkind: ConfigMap\ndata:\n  r.sh: torchrun run_clm.py --model_name_or_path gpt2\n"
         "    --per_device_train_batch_size 4\n---\napiVersion: batch/v1\nkind: Job\nspec:\n  parallelism: 2\n  "
         "template:\n"
         "    spec:\n      containers:\n        - command: [bash, /scripts/r.sh]\n"
         "          resources: {limits: {nvidia.com/gpu: 8}}\n",
         "16", "4"},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const Import *import = read_as(arena, "job.yaml", tasks[i].text, &(ImportAsked){.node = "dgx-h100"});
        EXPECT_TEXT(import->kind, "manifest");
        EXPECT_TEXT(arena_printf(arena, "%s%s", tasks[i].text, word(import, "gpus")),
                    arena_printf(arena, "%s%s", tasks[i].text, tasks[i].gpus));
        EXPECT_TEXT(word(import, "micro-batch"), tasks[i].micro);
    }
    arena_close(arena);
}

TEST(fields_and_sizes_of_a_program_and_the_gpus_it_asks_for_are_its_job) {
    Arena *arena = arena_open();
    const char *fields =
        "cat > t.py <<'E'\n@dataclass\nclass Settings:\n    device_batch_size: int = 8 * 2\n"
        "    sequence_length: int = 1024\n\nmodel = GPT(GPTConfig(vocab_size=50304, n_layer=12, n_head=6, "
        "n_embd=768))\nE\ntorchrun --nproc_per_node 8 t.py\n";
    const Import *import = read_as(arena, "x.sh", fields, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_CONTAINS(word(import, "model"), "layers=12,hidden=768,heads=6");
    EXPECT_TEXT(word(import, "micro-batch"), "16");
    EXPECT_TEXT(word(import, "seq"), "1024");
    const char *modal =
        "N = 4\n@app.function(gpu=f\"A100-80GB:{N}\", timeout=60)\ndef train():\n"
        "    cmd = [\"torchrun\", \"--nproc_per_node\", str(N), \"run_clm.py\", \"--model_name_or_path\", "
        "\"gpt2\", \"--per_device_train_batch_size\", \"2\"]\n    subprocess.run(cmd)\n";
    import = read_as(arena, "m.py", modal, &nothing);
    EXPECT_TEXT(word(import, "gpus"), "4");
    EXPECT_CONTAINS(word(import, "node"), "a100");
    arena_close(arena);
}

TEST(layers_that_no_stages_divide_are_refused) {
    Arena *arena = arena_open();
    static const char sizes[] =
        "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 30 --hidden-size 1024 "
        "--num-attention-heads 16 --seq-length 1024 --micro-batch-size 1 "
        "--pipeline-model-parallel-size 4 --bf16";
    EXPECT_CONTAINS(
        import_problem(arena, "x.sh", arena_printf(arena, "%s\n", sizes), &(ImportAsked){.node = "dgx-h100"}),
        "30 layers do not divide by 4 stages");
    const char *said = arena_printf(arena, "%s --decoder-first-pipeline-num-layers 6\n", sizes);
    EXPECT_TEXT(word(read_as(arena, "x.sh", said, &(ImportAsked){.node = "dgx-h100"}), "pp"), "4");
    arena_close(arena);
}

TEST(numbers_that_do_not_agree_are_refused) {
    static const struct {
        const char *head, *start, *options, *says;
    } rows[] = {
        {"#SBATCH --nodes=2 --gpus-per-node=8", "torchrun --nnodes 4 --nproc_per_node 8", "",
         "4, and there are 2 machines"},
        {"#SBATCH --nodes=2 --gpus-per-node=4", "torchrun --nnodes 2 --nproc_per_node 8", "",
         "8, and there are 4 GPUs"},
        {"export CUDA_VISIBLE_DEVICES=0,1", "torchrun --nproc_per_node 4", "", "2 GPUs by CUDA_VISIBLE_DEVICES"},
        {"", "accelerate launch --num_machines 3 --num_processes 8", "", "do not divide by 3 machines"},
        {"", "torchrun --nproc_per_node 4", "--fp16 --bf16", "are both on"},
        {"echo '{\"gradient_accumulation_steps\": 8}' > d.json", "deepspeed --num_gpus 4",
         "--deepspeed d.json --gradient_accumulation_steps 4", "is 8 here, and 4 in the command"},
        {"echo '{\"fp16\": {\"enabled\": true}}' > d.json", "deepspeed --num_gpus 4", "--deepspeed d.json --bf16",
         "are both on"},
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = arena_printf(arena,
                                        "#!/bin/bash\n%s\n%s run_clm.py --model_name_or_path gpt2 "
                                        "--per_device_train_batch_size 4 %s\n",
                                        rows[i].head, rows[i].start, rows[i].options);
        EXPECT_CONTAINS(import_problem(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"}), rows[i].says);
    }
    static const char parts[] = "torchrun --nproc_per_node 8 pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1 "
                                "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4\n";
    EXPECT_CONTAINS(import_problem(arena, "x.sh", parts, &(ImportAsked){.node = "dgx-h100"}), "parts of 4");
    arena_close(arena);
}

TEST(more_gpus_than_torchtitan_starts_are_refused) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\ntorchrun --nnodes 4 --nproc_per_node 8 -m torchtitan.train --model.name llama3 "
                       "--model.flavor 8B --parallelism.data_parallel_shard_degree 8 "
                       "--parallelism.data_parallel_replicate_degree 2 --parallelism.tensor_parallel_degree 4\n";
    EXPECT_CONTAINS(import_problem(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"}), "are 64 GPUs, and 32 are");
    arena_close(arena);
}

TEST(groups_of_pods_are_the_machines_of_a_job) {
    Arena *arena = arena_open();
    const char *group =
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec:\n  leaderWorkerTemplate:\n    size: 4\n"
        "    workerTemplate: {spec: {containers: [{env: [{name: TP, value: '2'}], command: [bash, -c], args: "
        "['torchrun "
        "--nnodes $LWS_GROUP_SIZE --nproc-per-node 8 pretrain_gpt.py " MEGATRON_SIZES
        " --tensor-model-parallel-size $(TP) --micro-batch-size 1'], resources: {limits: {nvidia.com/gpu: 8}}}]}}\n";
    const Import *import = read_as(arena, "lws.yaml", group, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "32");
    EXPECT_TEXT(word(import, "tp"), "2");
    const char *volcano =
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nspec:\n  plugins: {pytorch: []}\n  tasks:\n"
        "  - {replicas: 1, template: {spec: {containers: &c [{command: [sh, -c, 'NNODES=$WORLD_SIZE NPROC_PER_NODE=8 "
        "llamafactory-cli train --model_name_or_path gpt2 --finetuning_type full --per_device_train_batch_size 1'], "
        "resources: {limits: {nvidia.com/gpu: 8}}}]}}}\n  - {replicas: 3, template: {spec: {containers: *c}}}\n";
    EXPECT_TEXT(word(read_as(arena, "vc.yaml", volcano, &(ImportAsked){.node = "dgx-h100"}), "gpus"), "32");
    arena_close(arena);
}

TEST(a_variable_may_stand_for_another_and_a_pod_say_its_gpu_by_affinity) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\nsizes() { local -n out=$1; out=(--num-layers 24 --hidden-size 1024); }\nsizes M\n"
                       "torchrun --nproc_per_node 8 pretrain_gpt.py \"${M[@]}\" --num-attention-heads 16 "
                       "--micro-batch-size 1 --seq-length 1024\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_CONTAINS(word(import, "model"), "layers=24,hidden=1024");
    EXPECT_TEXT(word(import, "precision"), "fp32"); // Megatron's own, where nobody says
    const char *pod =
        "apiVersion: v1\nkind: Pod\nspec:\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: "
        "[NVIDIA-H200]}]}]}}}\n"
        "  containers: [{command: [torchrun, main.py, --model=resnet50, --batch-size=64], resources: {limits: "
        "{nvidia.com/gpu: 8}}}]\n";
    EXPECT_TEXT(word(read_as(arena, "pod.yaml", pod, &nothing), "node"), "dgx-h200");
    arena_close(arena);
}

TEST(gpus_that_are_typed_are_so_many_machines) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\ndeepspeed run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 1 "
                       "--fp16\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100", .gpus = "64"});
    const char *nodes = "(not said)";
    for (int i = 0; i < import->job.count; i++)
        if (strcmp(import->job.items[i].name, "nodes") == 0) nodes = import->job.items[i].value;
    EXPECT_TEXT(nodes, "8");
    EXPECT_TEXT(word(import, "gpus"), "64");
    arena_close(arena);
}

// ---- Tables.

TEST(a_shape_that_is_half_said_names_what_is_missing) {
    Arena *arena = arena_open();
    static const char text[] = "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 \\\n"
                               "  --hiden-size 1024 --micro-batch-size 1 --global-batch-size 8 --seq-length 1024\n";
    const char *said = import_problem(arena, "half.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_CONTAINS(said, "the model's shape is half said: hidden, heads are missing");
    arena_close(arena);
}

TEST(the_page_has_a_row_for_each_kind_of_file) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    size_t bytes = 0;
    const char *page = file_read(arena, "docs/import.md", 1 << 20, &bytes, problems);
    int rows = 0;
    for (const char *at = page; at && (at = strstr(at, "\n| `")); at++) rows++;
    EXPECT_INT(rows, 1 + IMPORT_KINDS); // its head says --from
    for (int i = 0; page && i < IMPORT_KINDS; i++)
        EXPECT_CONTAINS(page, arena_printf(arena, "\n| `%s` |", import_kinds[i]));
    const ImportTables *all = import_tables();
    for (int i = 0; page && i + 1 < all->software_count; i++) // the last is whatever is left
        EXPECT_CONTAINS(page, all->software[i].title);
    arena_close(arena);
}

TEST(a_file_is_known_by_its_name_or_its_beginning) {
    static const struct {
        const char *path, *text;
        int kind;
    } files[] = {{"train.log", "------ arguments ------\n", IMPORT_LOG},
                 {"train.sbatch", "", IMPORT_SHELL},
                 {"launch.py", "", IMPORT_SHELL},
                 {"start", "#!/bin/bash\n", IMPORT_SHELL},
                 {"start", "echo\n#SBATCH -N 2\n", IMPORT_SHELL},
                 {"apply.sh", "#!/bin/sh\napiVersion: v1\nkind: Job\n", IMPORT_SHELL},
                 {"job.yaml", "apiVersion: v1\nkind: Job\n", IMPORT_MANIFEST},
                 {"job.json", "{\"apiVersion\": \"v1\", \"kind\": \"Job\"}", IMPORT_MANIFEST},
                 {"sky.yaml", "resources:\n  accelerators: H100:8\nrun: |\n", IMPORT_MANIFEST},
                 {"titan.toml", "", IMPORT_TOML},
                 {"axolotl.yml", "", IMPORT_CONFIG},
                 {"ds.json", "{\"train_batch_size\": 8}", IMPORT_CONFIG},
                 {"config.json", "{\"num_hidden_layers\": 8}", IMPORT_KINDS},
                 {"notes.txt", "torchrun train.py", IMPORT_KINDS}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        EXPECT_INT(import_kind_of(files[i].path, files[i].text), files[i].kind);
}

TEST(an_option_of_unknown_effect_is_not_taken_for_one_of_logs) {
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "x.sh",
                                   "#!/bin/bash\ntorchrun --nproc_per_node 8 train.py --model resnet50 --save-every 5 "
                                   "--data-parallel-size 2 --accum-every-steps 4 --adapter-width 8\n",
                                   &(ImportAsked){.node = "dgx-h100"});
    EXPECT(lists(&import->idle, "--save-every"));
    EXPECT(lists(&import->open, "--data-parallel-size"));
    EXPECT(lists(&import->open, "--accum-every-steps"));
    EXPECT(lists(&import->open, "--adapter-width"));
    arena_close(arena);
}

static const char deepseek[] =
    "srun python pretrain_gpt.py --pipeline-model-parallel-size 16 --expert-model-parallel-size 8 \\\n"
    "  --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 --kv-channels 128 \\\n"
    "  --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 \\\n"
    "  --num-experts 256 --moe-layer-freq '([0]*3+[1]*58)' --moe-ffn-hidden-size 2048 --moe-router-topk 8 \\\n"
    "  --moe-shared-expert-intermediate-size 2048 --swiglu --normalization RMSNorm --qk-layernorm --vocab-size 129280 "
    "\\\n"
    "  --untie-embeddings-and-output-weights --seq-length 4096 --micro-batch-size 1 --global-batch-size 2048 --bf16 "
    "\\\n"
    "  --decoder-first-pipeline-num-layers 3 --decoder-last-pipeline-num-layers 2";

static const Import *deepseek_with(Arena *arena, const char *more) {
    return read_as(arena, "x.sbatch",
                   arena_printf(arena, "#!/bin/bash\n#SBATCH --nodes=16 --gpus-per-node=8\n%s %s\n", deepseek, more),
                   &(ImportAsked){.node = "dgx-h100"});
}

static double parameters_of(Arena *arena, const Import *import) {
    Problems *problems = problems_create(arena);
    const Model *model = model_named(arena, word(import, "model"), NULL, problems);
    return model ? model_parameters(model) : 0;
}

// DeepSeek-AI 2024: 671 B, of which the router's biases (58 layers of 256) are no parameters here.
TEST(latent_attention_in_megatrons_words_is_deepseek_v3s) {
    Arena *arena = arena_open();
    const Import *import = deepseek_with(arena, "--multi-latent-attention");
    EXPECT(parameters_of(arena, import) == 671026419200 - 58 * 256);
    EXPECT(lists(&import->taken, "--kv-lora-rank") && lists(&import->idle, "--kv-channels"));
    EXPECT_TEXT(word(import, "stage-layers"), "3,4,4,4,4,4,4,4,4,4,4,4,4,4,4,2");
    import = deepseek_with(arena, "--multi-latent-attention --mtp-num-layers 1");
    EXPECT_NEAR(parameters_of(arena, import) / 1e9, 671 + 11.6, 0.1);
    import = deepseek_with(arena, ""); // whose sizes Megatron takes no heed of
    EXPECT(lists(&import->idle, "--kv-lora-rank") && lists(&import->taken, "--kv-channels"));
    EXPECT(!strstr(word(import, "model"), "lora"));
    arena_close(arena);
}

// A model that nobody has sizes of is taken as one of the library's, by the size in its name.

TEST(references_within_tags_and_a_name_beside_its_sizes_are_followed) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\ncat > h.yaml <<'E'\nbatch_size: 16\nd_model: 512\nlayers: 6\n"
                       "num_layers: !ref <layers>\nnhead: 8\ngrad_accumulation_factor: 2\nprecision: fp32\n"
                       "opts:\n  batch_size: !ref <batch_size>\nE\n"
                       "torchrun --nproc_per_node 4 train.py h.yaml --batch_size=8 --precision=fp16\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(import->software, "SpeechBrain");
    EXPECT_CONTAINS(word(import, "model"), "layers=6,hidden=512,heads=8");
    EXPECT_TEXT(word(import, "micro-batch"), "8");
    EXPECT_TEXT(word(import, "precision"), "fp16");
    const char *bert = "#!/bin/bash\ntorchrun --nproc_per_node 8 run_pretraining.py --bert_model=bert-large-uncased "
                       "--allreduce_post_accumulation --train_batch_size=4096 --gradient_accumulation_steps=256 "
                       "--max_seq_length=512 --fp16 --num_hidden_layers %d --hidden_size 1024 --num_attention_heads "
                       "16\n";
    import = read_as(arena, "x.sh", arena_printf(arena, bert, 24), &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "model"), "bert-large");
    EXPECT_TEXT(word(import, "micro-batch"), "16");
    import = read_as(arena, "x.sh", arena_printf(arena, bert, 12), &(ImportAsked){.node = "dgx-h100"});
    EXPECT_CONTAINS(word(import, "model"), "layers=12");
    arena_close(arena);
}

TEST(training_by_preferences_is_not_taken_for_supervised_training) {
    static char said[1 << 13];
    static const char asked[] =
        "DIR=$(mktemp -d); for way in sft dpo grpo; do "
        "echo \"trl $way --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 1 --bf16\" "
        ">$DIR/$way.sh; $LOCKSTEP run $DIR/$way.sh --node dgx-h100 --gpus 1 | sed -n '/^Read/,$p' | tr '\\n' ' '; "
        "echo; "
        "done; rm -r $DIR";
    EXPECT_INT(test_shell(asked, said, sizeof said), 0);
    const char *dpo = strstr(said, "dpo.sh ("), *grpo = strstr(said, "grpo.sh (");
    EXPECT(dpo && grpo);
    EXPECT(dpo && strstr(dpo, "range wider for training_arguments"));
    EXPECT(grpo && strstr(grpo, "range wider for training_arguments"));
    EXPECT(dpo && strstr(said, "range wider") > dpo);
}
