// What scripts of the shell come to: loops, arguments, files and text that they make, as far as is known unrun.
#include "models/workload/job/job.h"
#include "scenarios/import/import.h"
#include "sim/system/file.h"
#include "tests/import_read.h"
#include "tests/test.h"

#define RUN(OPTIONS) "torchrun --nproc_per_node 8 pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1 " OPTIONS "\n"
#define DEEPSPEED "deepspeed --hostfile h run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 1 --fp16\n"

TEST(loops_and_arguments_of_a_script_go_as_far_as_is_known) {
    Arena *arena = arena_open();
    const char *text =
        "#!/bin/bash\nTP=1; MB=1\nadd() { while getopts 't:b:' o; do case $o in t) TP=$OPTARG;; b) MB=$OPTARG;; esac; "
        "done; }\nadd -t 2 -b 4\n"
        "set -- --pp 2 --unused x\nwhile [[ $# -gt 0 ]]; do case \"$1\" in --pp) PP=$2; shift 2;; *) shift;; esac; "
        "done\n"
        "GBS=1; for ((i = 0; i < 6; i++)); do ((GBS *= 2)); done\n"
        "declare -A L=([small]=12 [large]=24); WHICH=large\n"
        "for s in 1 2 4; do [ $s == 4 ] && break; CP=$s; done\n"
        "while true; do break; done\n"
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers ${L[$WHICH]} --hidden-size $((2 ** 10)) "
        "--num-attention-heads 16 --seq-length 1024 --bf16 --tensor-model-parallel-size $TP --micro-batch-size $MB "
        "--pipeline-model-parallel-size $PP --global-batch-size $GBS --context-parallel-size $CP\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "tp"), "2");
    EXPECT_TEXT(word(import, "pp"), "2");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT_TEXT(word(import, "global-batch"), "64");
    EXPECT_TEXT(word(import, "cp"), "2");
    EXPECT_CONTAINS(word(import, "model"), "layers=24,hidden=1024");
    arena_close(arena);
}

// Scripts of few lines, and what one option of the question is then.
static const struct {
    const char *script, *option, *value;
} few[] = {
    // What cannot be counted is not known.
    {"X=9223372036854775807; ((++X))\n" RUN("--tensor-model-parallel-size $X"), "tp", "(not said)"},
    {"Y=$((-9223372036854775807 - 1)); X=$((-Y))\n" RUN("--tensor-model-parallel-size $X"), "tp", "(not said)"},
    {"X=1; Y=$((X++ + ++X))\n" RUN("--tensor-model-parallel-size $Y"), "tp", "4"},
    {"N=`seq 9223372036854775806 9223372036854775807 | wc -l`\n" RUN("--tensor-model-parallel-size $N"), "tp", "2"},
    {"N=$(seq 5000 | wc -l)\n" RUN("--context-parallel-size $N"), "cp", "(not said)"},
    {RUN("--tensor-model-parallel-size 2") "ssh - x\nfor ((i=0", "tp", "2"},
    // What computes prints its sum, what reads a file its member.
    {"N=$(echo '16/4' | bc)\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"N=$(awk 'BEGIN {print 2 * 2}')\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"N=$(python3 -c 'import math; print(math.ceil(7 / 2))')\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"N=$(python3 -c 'print(open(\"x\").read())')\n" RUN("--tensor-model-parallel-size $N"), "tp", "(not said)"},
    {"echo '{\"a\": {\"tp\": 2}}' > c.json; N=$(jq -r .a.tp c.json)\n" RUN("--tensor-model-parallel-size $N"), "tp",
     "2"},
    {"printf 'a:\\n  tp: 4\\n' > c.yaml; N=$(yq '.a.tp' c.yaml)\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"N=$(echo a,b | tr ',' ' ' | wc -w)\n" RUN("--tensor-model-parallel-size $N"), "tp", "2"},
    {"N=$(cat nowhere 2>/dev/null || echo 2)\n" RUN("--tensor-model-parallel-size $N"), "tp", "2"},
    // How many GPUs a list names.
    {"V=0,1,2,5; IFS=, read -ra G <<< \"$V\"; N=${#G[@]}\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"V=0,1,2,5; N=$(echo $V | awk -F, '{print NF}')\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"V=0,1,2,5; N=$(($(echo $V | tr -cd , | wc -c) + 1))\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"V=0,1,2,5; N=$(echo $V | grep -o '[0-9]*' | wc -l)\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"V=0,1,2,5; C=${V//[^,]/}; N=$((${#C} + 1))\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"V=0,1,2,5; D=${V/[0-9]/}; N=$((${#D} - 2))\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"printf 'a\\n\\nb\\nc\\n' > h; mapfile -t H < h; N=${#H[@]}\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"case 7b in [0-9]b) N=4;; *) N=2;; esac\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    // Braces stand for several words, loops read files.
    {"H=(gpu{01..04} login{a,b}); N=${#H[@]}\n" RUN("--tensor-model-parallel-size $((N - 4))"), "tp", "2"},
    {"H=($(nowhere)); N=${#H[@]}\n" RUN("--tensor-model-parallel-size $N"), "tp", "(not said)"},
    {"printf 'TP=2\\n# x\\nPP=4\\n' > c; while IFS='=' read -r k v; do [[ $k == \\#* ]] && continue; export \"$k=$v\"; "
     "done < c\n" RUN("--tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP"),
     "pp", "4"},
    {"N=0; while read a b; do N=$((N + b)); done <<E\nx 1\ny 3\nE\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    // Scripts that are not beside, wrappers between, names that stand for others.
    {"./distributed_train.sh 4 /data --model resnet50 -b 32 --amp\n", "gpus", "4"},
    {"srun -N 2 --ntasks-per-node 8 --gpus-per-node 8 wrap2rank ./train.py --model gpt2 --batch-size 2\n", "gpus",
     "16"},
    {"jsrun -n4 -a6 -c42 -g6 -r1 python train.py --model gpt2 --batch-size 2\n", "gpus", "24"},
    {"torchrun --nproc_per_node 8 train.py --model deepseek-ai/DeepSeek-R1-Distill-Qwen-7B --batch-size 2\n", "model",
     "qwen2.5-7b"},
    {"mkdir -p c/par; printf 'defaults:\\n  - par: small\\n  - _self_\\nmodel: gpt2\\n' > c/t.yaml; echo 'tp: 2' > "
     "c/par/small.yaml; echo 'tp: 4' > c/par/wide.yaml\ntorchrun --nproc_per_node 8 train.py --config-path c "
     "--config-name t par=wide batch_size=2\n",
     "tp", "4"},
    // Files that grow line by line.
    {"echo 'a slots=8' > h; echo 'b slots=8' >> h 2>&1\n" DEEPSPEED, "gpus", "16"},
    {"echo a slots=8 | tee h; echo b slots=8 | tee -a h\n" DEEPSPEED, "gpus", "16"},
    {"echo -n a > h; echo ' slots=4' >> h\n" DEEPSPEED, "gpus", "4"},
    {"N=$(echo -e '4\\n' | head -1)\n" RUN("--tensor-model-parallel-size $N"), "tp", "(not said)"},
    {"N=$(echo 4 | head -n1)\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    {"N=$(echo 42 | head -c 1)\n" RUN("--tensor-model-parallel-size $N"), "tp", "(not said)"},
    {"read -r N <<< 4\n" RUN("--tensor-model-parallel-size $N"), "tp", "4"},
    // What several commands print is not what the last one does.
    {"{ echo a slots=8; echo b slots=8; } | tee h\n" DEEPSPEED, "gpus", "8"},
    {"f() { echo a slots=8; echo b slots=4; }\nf | tee h\n" DEEPSPEED, "gpus", "12"},
    // A job that is submitted has its own machines.
    {"cat > a.sh <<'E'\n#SBATCH -N 4 --gpus-per-node=8 --ntasks-per-node=8\nsrun python pretrain_gpt.py " MEGATRON_SIZES
     " --micro-batch-size 1\nE\nsbatch a.sh\necho 'srun python eval.py' > e\nsbatch -N1 e\n",
     "gpus", "32"},
    {"echo 'srun python pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1' > job\n"
     "sbatch --gpus-per-node=8 --ntasks-per-node=8 --nodes=4 job\n",
     "gpus", "32"},
    {"true\n#SBATCH -N 4\n" RUN(""), "gpus", "8"},
    // What does not run sets nothing; the folder of the script is no other text in which its name stands.
    {"TP=2\nif false; then [[ $((TP = 4)) == 4 ]]; case x in $((TP = 8))) ;; esac; fi\n" RUN(
         "--tensor-model-parallel-size $TP"),
     "tp", "2"},
    {"D=$(dirname $0); TP=$(echo 2 > $D/f; cat f)\n" RUN("--tensor-model-parallel-size $TP"), "tp", "(not said)"},
    {"TP=$(echo 2 > f)\n" RUN("--tensor-model-parallel-size $TP"), "tp", "(not said)"},
    // A file by the end of its path, however long that is.
    {"echo '{\"zero_optimization\": {\"stage\": 3}}' > ds.json\ntorchrun --nproc_per_node 8 run_clm.py "
     "--model_name_or_path gpt2 --per_device_train_batch_size 1 --fp16 --deepspeed /a/b/c/d/e/f/g/h/ds.json\n",
     "zero", "3"},
    // What stands in a file of options, a line each.
    {"printf x > /dev/null; cat > a <<'E'\n# sizes\n--tensor-model-parallel-size 2\n--bf16\nE\n" RUN(
         "$(grep -v '^#' a | tr '\\n' ' ')"),
     "tp", "2"},
    // A script that srun starts, and ranks that its tasks are.
    {"cat > t.sh <<'E'\nif [[ -n \"${SLURM_LOCALID-}\" ]]; then C=(bind -- python -u); else C=(torchrun --standalone); "
     "fi\n"
     "\"${C[@]}\" pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1\nE\ncat > j <<'E'\n#SBATCH -N 2\n"
     "srun --ntasks=16 --ntasks-per-node=8 bind ./t.sh\nE\nsbatch -N 2 j\n",
     "gpus", "16"},
    {"mpiexec -n 8 ./bind.sh python pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1\n", "gpus", "8"},
    // A line for each machine that the scheduler gave.
    {"cat > j <<'E'\n#BSUB -n 16\n#BSUB -R \"span[ptile=4]\"\n#BSUB -gpu \"num=4\"\n"
     "for h in $(sort -u $LSB_DJOB_HOSTFILE); do echo \"$h slots=4\" >> h; done\n" DEEPSPEED "E\nsbatch j\n",
     "gpus", "16"},
    // DeepSpeed's file is one whatever its ending.
    {"echo '{\"zero_optimization\": {\"stage\": 2}}' > c/ds.conf\naccelerate launch --num_processes 8 --use_deepspeed "
     "--deepspeed_config_file c/ds.conf run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 1 --fp16\n",
     "zero", "2"},
    {"python train_net.py --num-machines 2 --num-gpus 8 --config-file c/mask_rcnn_R_50_FPN_3x.yaml --dist-url "
     "tcp://a:1 "
     "SOLVER.IMS_PER_BATCH 64 OUTPUT_DIR o\n",
     "global-batch", "64"},
    {"torchrun --nproc_per_node 8 -m openrlhf.cli.train_sft --pretrain gpt2 --train_batch_size 64 "
     "--micro_train_batch_size "
     "2 --adam_offload\n",
     "offload-optimizer", "host"},
    {"torchrun --nproc_per_node 8 -m scripts.base_train -- --depth=20\n", "global-batch", "256"},
    {"torchrun --nproc_per_node 8 train.py --n_layers 12 --n_heads 12 --hidden_width 768 --context_length 1024 "
     "--train_batch_size 4 --sharding_strategy full\n",
     "zero", "3"},
    // Settings within a value; a name that is no launcher; variables that set -a exports.
    {"torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 1 --fp16 "
     "--fsdp 'full_shard auto_wrap' --fsdp_config '{\"activation_checkpointing\": true}'\n",
     "recompute", "full"},
    {"docker run --gpus 4 --name axolotl --mount type=bind,src=a,target=/w/axolotl img torchrun --nproc_per_node 4 "
     "run_clm.py --model_name_or_path gpt2 "
     "--per_device_train_batch_size 2\n",
     "gpus", "4"},
    {"set -a; HOROVOD_CYCLE_TIME=3; set +a\nhorovodrun -np 8 python train_hvd.py --model resnet50 --batch-size 8\n",
     "horovod-cycle", "3 ms"},
    // What is recomputed of parts that the model has not.
    {RUN("--recompute-granularity selective --recompute-modules mla_up_proj layernorm"), "recompute-modules",
     "layernorm"},
    // Experts' layers as a pattern.
    {RUN("--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 512 --moe-layer-freq '([0]*3+[1]*21)'"), "model",
     "transformer:layers=24,hidden=1024,heads=16,max_positions=1024,experts=8,experts_per_token=2,expert_ffn=512,"
     "dense_layers=3"},
    // What functions print within $(…), in a shell of their own.
    {"f() { X=9; local t=$1; echo working >&2; printf -- '--tensor-model-parallel-size %s\\n' $t | cat; echo x >log; "
     "}\n"
     "X=4; " RUN("$(f 2) --pipeline-model-parallel-size $X"),
     "tp", "2"},
    {"f() { X=9; echo --tensor-model-parallel-size 2; }\nX=4; " RUN("$(f) --pipeline-model-parallel-size $X"), "pp",
     "4"},
    {"f() { if [ $1 -gt 1 ]; then echo $1; else hostname; fi; }\n" RUN("--tensor-model-parallel-size $(f 2)"), "tp",
     "2"},
    {"f() { if [ $1 -gt 1 ]; then echo $1; else hostname; fi; }\n" RUN("--tensor-model-parallel-size $(f 1)"), "tp",
     "(not said)"},
    {"f() { echo $(f); }\n" RUN("--tensor-model-parallel-size 2 $(f)"), "tp", "2"},
    // Lists by their numbers, and quoted anew for the shell of another machine.
    {"H=(a b c)\nfor i in \"${!H[@]}\"; do X=$i; done\n" RUN("--tensor-model-parallel-size $X"), "tp", "2"},
    {"A=(--tensor-model-parallel-size 2 --x 'a b')\nssh b \"cd w && torchrun --nproc_per_node 8 "
     "pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1 ${A[*]@Q} --pipeline-model-parallel-size 4\"\n",
     "pp", "4"},
    // The script's own folder by other names, and files that are there.
    {"echo TP=2 > e.sh; H=${SLURM_SUBMIT_DIR:-$PWD}; . \"$H/e.sh\"\n" RUN("--tensor-model-parallel-size $TP"), "tp",
     "2"},
    {"echo TP=2 > e.sh; [ -f e.sh ] && . e.sh; [ -f no.sh ] && TP=8\n" RUN("--tensor-model-parallel-size $TP"), "tp",
     "2"},
    // What launchers and containers set of the environment; a shell that reads its script.
    {"cat > t.sh <<'E'\npython pretrain_gpt.py " MEGATRON_SIZES
     " --micro-batch-size 1 --tensor-model-parallel-size $TP\nE\nmpirun -np 8 -x TP=2 bash t.sh\n",
     "tp", "2"},
    {"docker run --gpus 8 -e TP=4 img bash -s <<'E'\n" RUN("--tensor-model-parallel-size $TP") "E\n", "tp", "4"},
    // Files of jobs that others start.
    {"N=4\nf() { cat <<E\nresources:\n  accelerators: H100:8\nnum_nodes: $N\nrun: |\n  " RUN(
         "--tensor-model-parallel-size 2") "E\n}\nf > j.yaml; sky launch -c x j.yaml\n",
     "tp", "2"},
    {"f() { cat <<E\napiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n      - "
     "command: "
     "[torchrun, --nproc_per_node, '4', run_clm.py, --model_name_or_path, gpt2, --fp16]\n        resources: {limits: "
     "{nvidia.com/gpu: 4}}\nE\n}\nkubectl delete job x; f | kubectl apply -f -\n",
     "gpus", "4"},
    // A text's own arguments; all of a list as one word; variables that envsubst is told to leave.
    {"mpirun -np 8 bash -c 'exec \"$@\" --bf16' _ python pretrain_gpt.py " MEGATRON_SIZES
     " --micro-batch-size 1 --tensor-model-parallel-size 2\n",
     "tp", "2"},
    {"A=(--tensor-model-parallel-size 2 --micro-batch-size 1)\nbash -c 'torchrun --nproc_per_node 8 "
     "pretrain_gpt.py " MEGATRON_SIZES " '\"${A[*]} --context-parallel-size 2\"\n",
     "cp", "2"},
    {"export X=2 Y=4; echo 'A=$X; A2=$Y' | envsubst '$X' > e.sh; Y=8; . e.sh\n" RUN(
         "--tensor-model-parallel-size $A --pipeline-model-parallel-size $A2"),
     "pp", "8"},
    // The part of a job that has GPUs; a flag of srun that is no name.
    {"cat > j <<'E'\n#SBATCH -N 1 --ntasks=1\n#SBATCH hetjob\n#SBATCH -N 2 --ntasks-per-node=8 --gpus-per-node=8\n"
     "srun --label python pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size 1\nE\nsbatch j\n",
     "gpus", "16"},
    // Lines and fields of files; a task of an array; lists that a process hands over.
    {"printf '1 2\\n4 8\\n' > t; read -r A B < <(sed -n 2p t)\n" RUN("--tensor-model-parallel-size $A"), "tp", "4"},
    {"printf '1 2\\n4 8\\n' > t; read -r A B <<< \"$(awk 'NR==2' t)\"\n" RUN("--tensor-model-parallel-size $B"), "tp",
     "8"},
    {"printf '1,2\\n4,8\\n' > t; IFS=, read -r A B < <(tail -n 1 t)\n" RUN("--tensor-model-parallel-size $A"), "tp",
     "4"},
    {"printf '1,2\\n4,8\\n' > t; A=$(tail -n +2 t | cut -d, -f1)\n" RUN("--tensor-model-parallel-size $A"), "tp", "4"},
    {"printf '1:2\\n4:8\\n' > t; A=$(awk -F: 'NR==1 {print $2}' t)\n" RUN("--tensor-model-parallel-size $A"), "tp",
     "2"},
    {"A=$(awk '{s += $1} END {print s}' t)\n" RUN("--tensor-model-parallel-size $A"), "tp", "(not said)"},
    {"#SBATCH --array=2-6%2\nprintf '1\\n4\\n' > t; A=$(sed -n \"${SLURM_ARRAY_TASK_ID}p\" t)\n" RUN(
         "--tensor-model-parallel-size $A"),
     "tp", "4"},
    // Schedulers that are no Slurm.
    {"#PBS -l select=2:ncpus=64:ngpus=8:gpu_model=a100\nmpiexec -n 16 --ppn 8 python pretrain_gpt.py " MEGATRON_SIZES
     " --bf16 --micro-batch-size 1\n",
     "gpus", "16"},
    {"torchx run -s slurm -cfg partition=a,constraint=h100 dist.ddp -j 2x8 --env A=1 -m pretrain_gpt -- " MEGATRON_SIZES
     " --bf16 --micro-batch-size 1\n",
     "gpus", "16"},
    // Options that are shifted away one by one.
    {"set -- --tp 2 --pp 2 --\nwhile true; do case $1 in --tp) TP=$2; shift 2;; --pp) PP=$2; shift 2;; --) break;; "
     "esac; done\n" RUN("--tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP"),
     "pp", "2"},
};

TEST(scripts_of_few_lines_come_to_what_they_say) {
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        const char *text = arena_printf(arena, "#!/bin/bash\n%s", few[i].script);
        const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
        const char *said = word(import, few[i].option);
        EXPECT_TEXT(arena_printf(arena, "%s%s", few[i].script, said),
                    arena_printf(arena, "%s%s", few[i].script, few[i].value));
    }
    arena_close(arena);
}

TEST(a_loop_whose_end_is_not_known_is_gone_through_once) {
    Arena *arena = arena_open();
    const char *text = "#!/bin/bash\nN=1\nwhile read -r host; do N=$((N * 2)); done < hosts\n"
                       "until nc -z head 29500; do N=$((N * 2)); done\n"
                       "torchrun --nproc_per_node 8 pretrain_gpt.py " MEGATRON_SIZES " --micro-batch-size $N "
                       "--global-batch-size 64\n";
    const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    EXPECT(lists(&import->missing, "not known"));
    arena_close(arena);
}

TEST(what_is_more_than_is_followed_is_said) {
    Arena *arena = arena_open();
    static const char *const scripts[] = {
        "for i in {1..70}; do python train.py; done\n",
        "for ((i = 0; i < 1000; i++)); do N=$i; done\n",
        "while true; do case $1 in a) shift;; *) N=2;; esac; done\n",
        "for i in {1..70}; do echo x > f$i; done\n",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const char *text = arena_printf(arena, "#!/bin/bash\n%s%s", RUN(""), scripts[i]);
        const Import *import = read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100"});
        EXPECT_CONTAINS(arena_printf(arena, "%s%s", scripts[i],
                                     lists(&import->missing, "not read")    ? "said"
                                     : lists(&import->missing, "not known") ? "said"
                                                                            : ""),
                        "said");
    }
    arena_close(arena);
}
