// The lines by command. Where a command has a new option, tests/test_schema.c asks for a line with it.
#include "tests/answer_walk.h"

#include <stdlib.h>

#include "tests/test.h"

#define GEMMS "calibrate/measurements/gemm.csv"
#define RUNS "calibrate/measurements/training/training_fsdp_mosaic.csv"
#define LOG                                                                                                            \
    "calibrate/measurements/nccl/abci2_a100_004gpu_all_reduce_intra.txt --clusters "                                   \
    "calibrate/measurements/nccl/clusters.csv"
#define GPT2 "--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024"
#define TOO_LARGE "--model llama-2-70b --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 4096"
#define PLAN "--model gpt2-124m --tokens 1B --seq 1024 --node dgx-a100"
#define LIFE "--node dgx-h100 --gpus 64 --runs 20"

const AnswerCase answer_cases[] = {
    {"run scenarios/lessons/ddp_by_hand.lua", "run"},
    {"run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", "run"},
    {"plan --model gpt2-124m --tokens 1B --seq 1024 --node dgx-a100 --gpus 8 --global-batch 64 --price 2 -j 1", "plan"},
    {"explain --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", "explain"},
    {"explain collective all_reduce --node dgx-a100 --sizes 1M", "explain-collective"},
    {"explain goodput --gpus 64 --days 5 --runs 20", "explain-goodput"},
    {"explain queue --gpus 64 --load 0.9 --jobs 400 --seeds 2", "explain-queue"},
    {"check --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024 --log "
     "$DIR/steps.csv",
     "check"},
    {"export --model llama-2-7b --node dgx-h100 --gpus 8 --tp 2 --micro-batch 1 --global-batch 8 --export "
     "sbatch,megatron "
     "--into $(rm -rf $DIR/out; echo $DIR/out)",
     "export"},
    {"trace --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", "trace"},
    {"step run --model gpt2-124m --node dgx-a100 --gpus 4 --pp 4 --micro-batch 1 --global-batch 4", "step"},
    {"step collective all_reduce --node dgx-a100 --gpus 4 --algo ring", "step"},
    {"diff scenarios/examples/megatron_22b_175b.lua --study-b 2", "diff"},
    {"sweep --show $DIR/store.db", "sweep"},
    {"merge $DIR/all.db $DIR/store.db", "merge"},
    {"memory --model gpt2-124m --gpu A100 --micro-batch 1", "memory"},
    {"flops --model gpt2-124m --tokens 1B", "flops"},
    {"params --model gpt2-124m", "params"},
    {"hw list fabric", "hw-list"},
    {"hw list offers", "hw-list"},
    {"hw show A100", "hw-show"},
    {"hw check models/hardware/catalogue/links.json", "hw-check"},
    {"hw fields gpu", "hw-fields"},
    {"constants", "constants"},
    {"doctor", "doctor"},
    {"model list", "model-list"},
    {"model show gpt2-124m", "model-show"},
    {"model show gpt2-124m --operators", "model-show"},
    {"job fields", "job-fields"},
    {"job software", "job-software"},
    {"job software nemo", "job-software-words"},
    {"job strategies", "job-strategies"},
    {"topo --node dgx-a100", "topo"},
    {"collective all_reduce --node dgx-a100 --sizes 1M:4M:2", "collective"},
    {"packets incast --hosts 8 --size 100kB", "packets"},
    {"goodput --node dgx-h100 --gpus 64 --days 3d --runs 20", "goodput"},
    {"goodput --node dgx-h100 --gpus 64 --work 3d --runs 20 --checkpoint-size 1TB --storage superpod-storage --best",
     "goodput-best"},
    {"cost --node aws-p5.48xlarge --run 1d", "cost"},
    {"cost --a=\"--node dgx-a100\" --b=\"--node dgx-h100\" --both=\"--gpus 8 --price 2 --model gpt2-124m --tokens 1B "
     "--micro-batch 1 --seq 1024\"",
     "cost-comparison"},
    {"power --node dgx-h100", "power"},
    {"queue --gpus 64 --load 0.5 --jobs 200 --policy fifo,easy", "queue"},
    {"calibrate recovery --trials 1", "calibrate-recovery"},
    {"calibrate network calibrate/measurements/netbox.csv", "calibrate-network"},
    {"calibrate show $DIR/gemms.json", "calibrate-show"},
    {"calibrate fit $DIR/gemms.json -o $DIR/profile.json", "calibrate-fit-device"},
    {"validate training calibrate/measurements/training/training_fsdp_mosaic.csv", "validate-training"},
    {"validate training calibrate/measurements/training/batch-3/training_fs4_hfdocs.csv", "validate-training"},
    {"validate collectives calibrate/measurements/nccl/abci2_a100_004gpu_all_reduce_intra.txt "
     "--clusters calibrate/measurements/nccl/clusters.csv",
     "validate-collectives"},
    {"validate kernels $DIR/gemms.json", "validate-kernels"},
    {"validate kernels calibrate/measurements/kernels/gemm.csv", "validate-kernels"},
    {"validate reliability $DIR/stops.csv --runs 2", "validate-reliability"},
    {"report run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", NULL},
    {"validate queue $DIR/months --repetitions 2", "validate-queue"},
    {"validate convergence", "validate-convergence"},
    {"lesson list", "lesson-list"},
    {"lesson start 2.2 --in $DIR", "lesson"},
    {"lesson guess $DIR/lesson/half_speed.lua 5", "lesson-guess"},
    {"lesson check $DIR/lesson/solved.lua", "lesson-check"},
    {"lesson hint 2.1", "lesson-hint"},
    {"lesson grade $DIR/ana.code", "lesson-grade"},
    {"lesson sheet --track 2", "lesson-sheet"},
    {"lesson words", "lesson-words"},
    {"completion bash", NULL},
};
const int answer_case_count = sizeof answer_cases / sizeof *answer_cases;

const char *const answer_exempt[] = {
    "ask",                    // answers as the command that it asks
    "completion",             // prints a script for a shell
    "report",                 // writes a page; the command that it asks gives its numbers in every form
    "schema",                 // prints a JSON Schema, which is JSON already
    "calibrate run",          // hands over to lockstep-bench, whose answer is a file of JSON lines
    "calibrate import",       // writes a file of JSON lines, which calibrate fit reads
    "validate first-contact", // prints a section of a page, to be kept as it is
};
const int answer_exempt_count = sizeof answer_exempt / sizeof *answer_exempt;

// clang-format off
const WalkLine answer_walk[] = {
    // ---- run
    {0, "doctor"},
    {0, "ask $DIR/question.json"},
    {0, "run " GPT2},
    {0, "run " GPT2 " --tokens 1B --price 2 --date 2026-11-21 --currency EUR --verbose"},
    {0, "run --model gpt2-124m --node aws-p4d.24xlarge --gpus 8 --micro-batch 1 --seq 1024 --tokens 1B --provider aws --terms spot"},
    {0, "run --model resnet-50 --node dgx-a100 --gpus 8 --micro-batch 32 --samples 1.28M --epochs 90"},
    {0, "export --model qwen2.5-7b --node dgx-h100 --gpus 8 --tp 4 --micro-batch 1 --global-batch 8 --export k8s,megatron "
        "--into $(rm -rf $DIR/out; echo $DIR/out) --unfolded --seed 2"},
    {2, "export " GPT2},
    {0, "export scenarios/examples/launch/megatron.sbatch --node dgx-h100 --tp 2 --export change --into $(rm -rf $DIR/out; echo $DIR/out)"},
    {4, "export --model resnet50 --node dgx-h100 --gpus 8 --micro-batch 1 --export megatron"},
    {0, "plan --model llama-2-7b --tokens 1B --node dgx-h100 --gpus 8 --global-batch 64 --price 2 -j 1 --software megatron "
        "--export sbatch --into $(rm -rf $DIR/out; echo $DIR/out)"},
    {0, "check " GPT2 " --log $DIR/steps.csv -v --seed 3"},
    {3, "check " GPT2 " --log $DIR/trainer.log --unfolded"},
    {3, "check $DIR/met.lua --log $DIR/trainer.log --log $DIR/steps.csv --study 1 --set cluster.gpus=8"},
    {2, "check " GPT2},
    {4, "check " GPT2 " --log README.md"},
    {0, "run " GPT2 " --unfolded --seed 18446744073709551615 --jitter 0.05 --trace-events /dev/null"},
    {0, "run " GPT2 " --anchor $DIR/anchor.csv --plot=breakdown --plot-dir $DIR --plot-format svg"},
    {0, "run " GPT2 " --measured 8=20ms"},
    {0, "run --model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 16 --seq 1024 --vary micro_batch=2,1"},
    {0, "run scenarios/lessons/ddp_by_hand.lua"},
    {0, "run scenarios/examples/scaling_efficiency.lua --set training.fused_norms=false --allow-read ."},
    {0, "run scenarios/examples/weeks_with_failures.lua"},
    {0, "run scenarios/examples/launch/megatron.sbatch --node dgx-h100"},
    {0, "memory scenarios/examples/launch/megatron.sbatch --gpu H100 --from shell"},
    {0, "trace scenarios/examples/launch/megatron.sbatch --node dgx-h100"},
    {0, "goodput scenarios/examples/launch/megatron.sbatch --node dgx-h100 --days 10"},
    {0, "explain scenarios/examples/launch/megatron.sbatch --node dgx-h100"},
    {0, "step run scenarios/examples/launch/megatron.sbatch --node dgx-h100 --frames 1..3"},
    {0, "run --model gpt2-124m --node 2xrtx-3060+1xrtx-4090 --gpus 3 --micro-batch 4"},
    {0, "plan scenarios/examples/launch/megatron.sbatch --node dgx-h100 --tokens 1B --date 2026-11-21 -j 1"},
    {0, "run $DIR/report.lua"},
    {0, "run $DIR/met.lua --memory-limit 100MiB --step-limit 1e6 --cpu-limit 10s --wall auto"},
    {3, "run $DIR/unmet.lua"},
    {3, "run $DIR/two.lua"},
    {3, "run " TOO_LARGE},
    {2, "run --print-api"},
    {2, "run " GPT2 " --nonsense"},
    {2, "run"},
    {2, "run " GPT2 " --seed 0.5"},
    {4, "run nothing.lua"},
    {4, "run $DIR/broken.lua"},
    {4, "run " GPT2 " --event-limit 10"},
    {4, "run " GPT2 " --simulation-memory 1kB"},
    {4, "run --model nonsense --node dgx-a100 --gpus 8"},
    {1, "run " GPT2 " -o /dev/full"},

    // ---- plan
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --price 2 -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --price 2 -j 1 --all --offload --split-backward"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --exhaustive --objective time -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --own --site colocation --node-price 200000 --years 3 --utilisation 0.7 --electricity 0.1 --by 3d -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --own-or-rent --price 2 -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batches 64,128 --learning-rate 1e-4 --reference-batch 64 --critical-batch 100 --price 2 -j 1"},
    {0, "plan " PLAN " --gpus 8:16 --fabric ib-hdr200 --oversubscription 1,2 --start 2026-12-01 --start-spread 10d --miss-cost 100 --by 30d --date 2026-11-21 --price 2 -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --faults llama3-h100 --spares 1 --checkpoint async --checkpoint-every 1h --storage superpod-storage --storage-units 2 --by 1d --price 2 -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --node-mtbf 30d --grid world --fit 90% --confidence 90% --budget 1M --price 2 -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --anchor $DIR/anchor.csv --price 2 -j 1"},
    {0, "plan " PLAN " --gpus 8 --global-batch 64 --price 2 -j 1 --measured 8,tp=1,pp=1,micro_batch=8,global_batch=64=30ms"},
    {0, "plan " PLAN ",dgx-h100 --fabric ib-hdr200,ib-ndr400 --gpus 8:16 --global-batch 64 --price 2 -j 1 --measured 8,tp=1,pp=1,micro_batch=8,global_batch=64,node=dgx-h100,fabric=ib-ndr400=30ms"},
    {4, "plan " PLAN ",dgx-h100 --fabric ib-hdr200,ib-ndr400 --gpus 8:16 --global-batch 64 --price 2 -j 1 --measured 8,tp=1,pp=1,micro_batch=8,global_batch=64=30ms"},
    {0, "plan --model gpt2-124m --tokens 1B --seq 1024 --node rtx3060-workstation --gpus 1 --global-batch 64 --price 2 -j 1 --measured 1,tp=1,pp=1,micro_batch=8,global_batch=64=3s"},
    {0, "plan --model gpt2-124m --tokens 1B --seq 1024 --node aws-p5.48xlarge,dgx-h100 --fabric ib-ndr400 --gpus 16 --global-batch 64 --price 2 -j 1"},
    {4, "plan --model gpt2-124m --tokens 1B --seq 1024 --node aws-p5.48xlarge --fabric ib-ndr400 --gpus 16 --global-batch 64 --price 2 -j 1"},
    {0, "plan --model llama-2-7b --tokens 10B --seq 4096 --node dgx-a100,dgx-h100 --gpus 8:16 --fabric ib-hdr200 --by 30d --budget 10000 -j 1"},
    {0, "plan --model gpt2-355m --tokens 20B --seq 1024 --node crusoe-h100-ib.8x --gpus 8 --global-batch 64 --by 30d --provider crusoe --terms spot,on_demand,reserved_1y --faults llama3-h100 --spot-mtbf 10h --storage superpod-storage -j 1"},
    {3, "plan " PLAN " --gpus 8 --global-batch 64 --price 2 -j 1 --by 1s"},
    {3, "plan " PLAN " --gpus 8 --global-batch 64 --price 2 -j 1 --by 1h --budget 1"},
    {3, "plan --model llama-2-70b --tokens 10B --seq 4096 --node dgx-a100 --gpus 8 --price 2 -j 1 --by 30d"},
    {2, "plan " PLAN " --gpus 8 --nonsense"},
    {4, "plan --model gpt2-124m --node dgx-a100 --gpus 8 --seq 1024"},
    {4, "plan " PLAN " --gpus 8 --steps-curve nothing.csv --least-steps 1000"},

    // ---- explain
    {0, "explain " GPT2},
    {0, "explain " GPT2 " --why-only"},
    {0, "explain " GPT2 " --pairs 3 --price 2 --verbose"},
    {0, "explain " GPT2 " --tp 2"},
    {0, "explain " GPT2 " --unfolded --seed 2"},
    {0, "explain " GPT2 " --anchor $DIR/anchor.csv --plot --plot-dir $DIR --plot-format svg"},
    {0, "explain " GPT2 " --why-only --plot=roofline,links --plot-dir $DIR --plot-format svg"},
    {0, "explain --model gpt2-124m --node dgx-a100 --gpus 1 --micro-batch 1 --global-batch 8 --seq 1024"},
    {0, "explain --model resnet-50 --node dgx-a100 --gpus 8 --micro-batch 32"},
    {0, "explain --model mixtral-8x7b --node dgx-h100 --gpus 64 --fabric ib-ndr400 --ep 8 --zero 3 --micro-batch 1 --seq 4096"},
    {0, "explain " GPT2 " --measured 8=20ms"},
    {0, "explain scenarios/lessons/ddp_by_hand.lua"},
    {0, "explain scenarios/lessons/ddp_by_hand.lua --why-only"},
    {0, "explain $DIR/two.lua --study 1 --set training.precision=fp32 --allow-read ."},
    {0, "explain $DIR/a.json"},
    {0, "explain $DIR/queue.json"},
    {0, "explain $DIR/goodput.json"},
    {0, "explain $DIR/collective.json"},
    {0, "explain $DIR/plan.json"},
    {3, "explain $DIR/no.json"},
    {3, "explain " TOO_LARGE},
    {3, "explain " TOO_LARGE " --why-only"},
    {3, "explain $DIR/two.lua --study 2"},
    {2, "explain " GPT2 " --nonsense"},
    {2, "explain " GPT2 " --table settings"},
    {2, "explain"},
    {4, "explain nothing.json"},
    {4, "explain " GPT2 " --event-limit 10"},
    {0, "explain collective all_reduce --node dgx-a100 --sizes 1M"},
    {0, "explain collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 1M --algo ring --proto LL --version 2.18"},
    {0, "explain collective all_to_all --node dgx-a100 --sizes 1M --uneven 0.5"},
    {0, "explain collective all_to_all --node dgx-a100 --sizes 1M --matrix $DIR/matrix.csv"},
    {0, "explain collective all_reduce --backend gloo --gpus 4 --node dgx-a100 --sizes 1M"},
    {0, "explain collective --op all_reduce --backend gloo --cpu --gpus 4 --node dgx-a100 --sizes 1M"},
    {0, "explain collective all_reduce --backend mpi --gpus 8 --gpus-per-process 1 --node dgx-a100 --sizes 1M --version 2.18"},
    {2, "explain collective all_reduce --node dgx-a100 --sizes 1M:64M:8"},
    {4, "explain collective all_reduce --node dgx-a100 --gpus 1 --sizes 1M"},
    {0, "explain goodput --gpus 64 --work 3d --by 4d --runs 20"},
    {0, "explain goodput --gpus 64 --work 3d --by 2026-11-25 --date 2026-11-21 --checkpoint-stall 30s --fleet-spread 0 --runs 20"},
    {0, "explain goodput --gpus 64 --days 5 --runs 20"},
    {0, "explain goodput --gpus 64 --days 5 --runs 1"},
    {0, "explain goodput " LIFE " --work 3d --checkpoint-size 1TB --storage superpod-storage --price 2"},
    {0, "explain goodput " LIFE " --days 3d --spot-mtbf 10h --model llama-2-7b"},
    {0, "explain goodput --node dgx-h100 --gpus 8 --days 1d --runs 4 --node-mtbf 100000d"},
    {0, "explain goodput " LIFE " --days 3d --rates llama3-h100 --rack-nodes 4 --rack-mtbf 30d --spares 2 --shape 0.7 --age 10d --strikes 2 --bad-share 0.1 --fleet-spread 0.5 --repair 1h --restart 5min --detect 1min --hang-timeout 10min"},
    {0, "explain goodput " LIFE " --work 3d --model llama-2-7b --storage superpod-storage --checkpoint async --checkpoint-every 1h --checkpoint-stall 1s --storage-every 2h --storage-units 2"},
    {0, "explain goodput " LIFE " --days 3d --spot-mtbf 10h --spot-notice 30s --spot-wait 1h --spot-batch 2 --elastic 4:8"},
    {2, "explain goodput"},
    {0, "explain queue --gpus 64 --load 0.9 --jobs 400 --seeds 2"},
    {0, "explain queue --gpus 64 --load 0.9 --jobs 400 --seeds 1"},
    {0, "explain queue --gpus 64 --load 0.9 --jobs 1 --seeds 1"},
    {0, "explain queue --gpus 64 --load 0.01 --jobs 20"},
    {0, "explain queue --gpus 64 --load 0.9 --jobs 400 --seeds 2 --node-mtbf 60d"},
    {0, "explain queue --trace tests/data/traces/helios.csv --gpus 64"},
    {0, "explain queue --gpus 64 --load 0.9 --jobs 200 --users 4 --urgent-share 0.1 --estimate-error 2 --burstiness 4 --warm-up 0.1 --policy easy --depth 4 --mix gavel"},
    {0, "explain queue --gpus 64 --load 0.9 --jobs 100 --node dgx-a100 --fabric ib-hdr200 --oversubscription 4 --nodes-per-leaf 4 --placement spread --model gpt2-124m"},
    {0, "explain queue --gpus 64 --jobs-per-hour 5 --jobs 200 --elastic 0.5 --scaling 0.8 --rates llama3-h100 --repair 1d --checkpoint-every 1h --checkpoint-cost 1min --restart 5min"},
    {0, "explain queue --gpus 64 --load 0.9 --jobs 200 --sizes 1:0.5,8:0.5 --durations exponential:1h --policy multifactor --half-life 1d --weights age:1 --quota *:32"},
    {4, "explain queue --trace tests/data/traces/own.csv --gpus 64 --mig"},
    {2, "explain queue"},

    // ---- trace
    {0, "trace " GPT2},
    {0, "trace " GPT2 " --load --verbose"},
    {2, "trace " GPT2 " --load --top"},
    {3, "trace --load --model llama-2-70b --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8"},
    {0, "trace " GPT2 " --top --timeline --breakdown --ranks all --verbose"},
    {0, "trace " GPT2 " -o $DIR/step.json --size-limit 10MB"},
    {0, "trace " GPT2 " --plot=memory --plot-dir $DIR --plot-format svg"},
    {0, "trace scenarios/lessons/ddp_by_hand.lua --study 1 --unfolded --seed 2"},
    {3, "trace " TOO_LARGE},
    {3, "trace " TOO_LARGE " -o $DIR/refused.json"},
    {0, "trace $DIR/met.lua --set training.zero=1"},
    {4, "trace nothing.lua"},

    // ---- step
    {0, "step run " GPT2 " --zero 1"},
    {0, "step run " GPT2 " --pp 2 --ranks 0,4 --unfolded --seed 2 --frames 3..6"},
    {0, "step run scenarios/lessons/gpipe_by_hand.lua --at 10ms --study 1 --svg $DIR/step.svg"},
    {0, "step run $DIR/met.lua --set training.zero=1 --allow-read ."},
    {3, "step run " TOO_LARGE},
    {3, "step run $DIR/stands.lua"},
    {4, "step run nothing.lua"},
    {2, "step run"},
    {2, "step run scenarios/lessons/gpipe_by_hand.lua --frames 900"},
    {4, "step run " GPT2 " --event-limit 10"},
    {0, "step collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 1M --algo tree --frames 7"},
    {0, "step collective all_to_all --node dgx-a100 --sizes 1M --uneven 3"},
    {0, "step collective all_to_all --node dgx-a100 --sizes 1M --matrix $DIR/matrix.csv"},
    {0, "step collective broadcast --node dgx-a100 --gpus 4 --root 2 --backend gloo --cpu --svg $DIR/collective.svg"},
    {0, "step collective --op all_gather --node dgx-a100 --gpus 4 --proto LL --version 2.18 --gpus-per-process 1"},
    {4, "step collective all_reduce --node dgx-a100 --nodes 16 --fabric ib-hdr200"},
    {2, "step collective all_reduce --gpus 4"},
    {4, "step collective broadcast --node dgx-a100 --gpus 4 --root 4"},

    // ---- diff
    {0, "diff scenarios/examples/megatron_22b_175b.lua --study-a 1 --study-b 2"},
    {0, "diff scenarios/examples/megatron_22b_175b.lua scenarios/lessons/ddp_by_hand.lua"},
    {0, "diff $DIR/a.json $DIR/b.json --brief"},
    {0, "diff $DIR/a.json $DIR/a.json"},
    {0, "diff $DIR/plan.json $DIR/a.json --row-a 1"},
    {0, "diff $DIR/anchor.csv $DIR/other.csv"},
    {0, "diff $DIR/met.lua --set-b training.precision=fp32 --set-a training.zero=1 --seed 3 --allow-read ."},
    {0, "diff $DIR/store.db --row-a 1 --row-b 2"},
    {4, "diff $DIR/a.json $DIR/no.json"},
    {4, "diff $DIR/a.json $DIR/queue.json"},
    {2, "diff $DIR/a.json"},
    {0, "diff --a=\"--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --seq 1024\" --b=\"--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --seq 1024 --tp 2\""},

    // ---- sweep, merge
    {0, "sweep --show $DIR/store.db --verbose"},
    {0, "sweep --show $DIR/some.db"},
    {3, "sweep --show $DIR/none.db"},
    {4, "sweep --show $DIR/gone.db"},
    {0, "sweep " GPT2 " --vary tp=1,2 -o $DIR/new.db"},
    {0, "sweep " GPT2 " --vary tp=1,2 -o $DIR/new.db --emit-sbatch 2"},
    {4, "sweep $DIR/two.lua --set training.zero=1 --vary tp=1,2 --list $DIR/list.csv --shard 1/2 --retry-failed --unfolded -o $DIR/new.db"},
    {0, "merge $DIR/all.db $DIR/store.db $DIR/some.db"},
    {4, "merge $DIR/all.db $DIR/gone.db"},
    {2, "merge"},

    // ---- memory, flops, params
    {0, "memory --model gpt2-124m --gpu A100 --micro-batch 1"},
    {0, "memory --model gpt2-124m --gpu A100 --micro-batch 1 --over-time"},
    {0, "memory --model resnet-50 --gpu A100 --micro-batch 32 --image-size 128 --classes 10"},
    {0, "memory --model t5-3b --gpu H100 --micro-batch 1"},
    {0, "memory --model mixtral-8x7b --gpu H100 --gpus 64 --ep 8 --tp 8 --zero 1 --micro-batch 1"},
    {3, "memory --model llama-2-70b --gpu A100 --micro-batch 1"},
    {3, "memory --model llama-2-70b --gpu A100 --micro-batch 1 --over-time"},
    {0, "memory --model gpt2-124m --node dgx-a100 --micro-batch 1"},
    {0, "memory scenarios/examples/launch/megatron.sbatch"},
    {2, "memory --model gpt2-124m --micro-batch 1"},
    {4, "memory --model nonsense --gpu A100 --micro-batch 1"},
    {0, "flops --model gpt2-124m --tokens 1B"},
    {0, "flops --model gpt2-124m --samples 1M"},
    {0, "flops --model gpt2-124m"},
    {0, "flops --model resnet-50"},
    {0, "flops --model mixtral-8x7b"},
    {0, "flops --model t5-3b"},
    {2, "flops"},
    {4, "flops --model nonsense"},
    {0, "params --model gpt2-124m"},
    {0, "params --model resnet-50"},
    {0, "params --model mixtral-8x7b"},
    {0, "params --model t5-3b"},
    {2, "params"},

    // ---- the catalogue
    {0, "hw list"},
    {0, "hw list gpu"},
    {0, "hw list node"},
    {0, "hw list fabric"},
    {0, "hw list storage"},
    {0, "hw list faults"},
    {0, "hw list price"},
    {0, "hw list offers"},
    {0, "hw list currency"},
    {0, "hw list grid"},
    {0, "hw list site"},
    {2, "hw list nonsense"},
    {0, "hw show A100"},
    {0, "hw show H100"},
    {0, "hw show dgx-a100"},
    {0, "hw show azure-nd96isr-h100-v5"},
    {0, "hw show ib-ndr400"},
    {0, "hw show nfs-1gbe"},
    {0, "hw show llama3-h100"},
    {0, "hw show world"},
    {0, "hw show USD"},
    {0, "hw show colocation"},
    {4, "hw show nonsense"},
    {0, "hw check models/hardware/catalogue/links.json"},
    {4, "hw check $DIR/a.json"},
    {0, "hw fields gpu"},
    {0, "hw fields node"},
    {0, "hw fields storage"},
    {2, "hw fields nonsense"},
    {0, "constants"},
    {2, "constants nonsense"},
    {0, "model list"},
    {0, "model list --operators"},
    {0, "model show gpt2-124m"},
    {0, "model show gpt2-124m --operators --seq 512"},
    {0, "model show mixtral-8x7b"},
    {0, "model show mixtral-8x7b --operators"},
    {0, "model show resnet-50"},
    {0, "model show resnet-50 --operators"},
    {0, "model show t5-3b"},
    {0, "model show t5-3b --operators"},
    {4, "model show nonsense"},
    {0, "job fields"},
    {0, "job software"},
    {0, "job software nemo"},
    {4, "job software nonsense-9"},
    {0, "job strategies"},

    // ---- networks
    {0, "topo --node dgx-a100"},
    {0, "topo --node dgx-1"},
    {0, "topo --node dgx-a100 --gpus 16 --fabric ib-hdr200"},
    {2, "topo --node dgx-a100 --dot"},
    {4, "topo --node nonsense"},
    {0, "packets incast --hosts 8 --size 100kB --verbose"},
    {0, "packets permutation --hosts 32 --hosts-per-leaf 4 --size 200kB --transport ndp --routing spray"},
    {0, "packets permutation --hosts 32 --hosts-per-leaf 4 --size 200kB --transport dctcp --routing adaptive --seed 2"},
    {0, "packets permutation --hosts 32 --hosts-per-leaf 4 --size 200kB --transport swift"},
    {0, "packets all_to_all --hosts 8 --size 50kB --rate 10Gb/s --latency 5us --payload 1438B --buffer 200kB --transport reno --loss 0.001"},
    {0, "packets incast --hosts 16 --size 100kB --transport window --buffer 300kB"},
    {0, "packets incast --hosts 16 --size 100kB --transport cubic --buffer 300kB"},
    {0, "packets permutation --hosts 32 --hosts-per-leaf 4 --size 200kB --transport hpcc"},
    {0, "packets permutation --hosts 32 --hosts-per-leaf 4 --size 200kB --transport timely"},
    {0, "packets permutation --hosts 16 --size 200kB --queues inputs"},
    {0, "collective all_reduce --node dgx-h100 --gpus 16 --fabric roce-400 --fidelity packet --sizes 1M --queues inputs --loss 1e-5"},
    {0, "packets incast --hosts 8 --size 100kB --each-flow"},
    {0, "packets incast --hosts 16 --size 100kB --transport eqds --routing spray"},
    {0, "packets incast --hosts 16 --size 100kB --transport nscc"},
    {0, "packets permutation --hosts 32 --hosts-per-leaf 4 --size 200kB --transport rccc --routing spray"},
    {0, "packets incast --hosts 8 --size 100kB --transport window --credits 20kB"},
    {0, "packets incast --size 100kB --vary hosts=5,9 --vary transport=dctcp,hpcc"},
    {0, "run scenarios/examples/packets/victim.lua"},
    {0, "run scenarios/examples/packets/all_to_all.lua"},
    {0, "packets incast --hosts 8 --size 100kB --mark-from 50kB --mark-to 80kB --mark-most 0.5 --pause 60kB"},
    {0, "packets incast --hosts 8 --size 100kB --transport swift --target 20us --window 4 --queue 100kB "
        "--timeout 1ms --hop-target 1us --fs-range 60us --fs-min-cwnd 0.2 --fs-max-cwnd 50"},
    {2, "packets"},
    {2, "packets outcast"},
    {2, "packets incast --vary hosts"},
    {2, "packets incast --vary title=a,b"},
    {0, "packets incast --size 100kB --vary hosts=5:9:4"},
    {2, "packets incast --vary hosts=9:33:0"},
    {4, "packets all_to_all --hosts 4096"},
    {4, "packets incast --event-limit 10"},
    {0, "collective all_reduce --node dgx-a100 --sizes 1M:4M:2"},
    {0, "collective all_reduce --node dgx-a100 --begin 1M --end 4M --factor 2 --verbose"},
    {0, "collective all_reduce --node dgx-a100 --nodes 2 --fabric roce-200 --sizes 64K --fidelity all --transport swift "
        "--hop-target 1us --fs-range 60us --fs-min-cwnd 0.2 --fs-max-cwnd 50 "
        "--payload 1024B --routing spray --buffer 16MB --window 20 --timeout 1ms --target 20us --mark-from 100kB "
        "--mark-to 200kB --mark-most 0.1 --pause 1MB --credits 1MB --queue 1MB --seed 3"},
    {0, "collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 1M --algo ring --proto LL"},
    {0, "collective all_to_all --node dgx-a100 --sizes 1M --matrix $DIR/matrix.csv"},
    {0, "collective all_to_all --node dgx-a100 --sizes 1M --uneven 0.5"},
    {0, "collective all_reduce --node dgx-a100 --sizes 1M --fidelity flow --version 2.18"},
    {0, "collective all_to_all --node dgx-a100 --sizes 1M --uneven 2 --fidelity flow --tolerance 0.1%"},
    {0, "collective all_reduce --backend gloo --cpu --gpus 4 --node dgx-a100 --sizes 1M"},
    {0, "collective all_reduce --backend mpi --gpus 8 --gpus-per-process 1 --node dgx-a100 --sizes 1M"},
    {0, "collective --op send_recv --node dgx-a100 --sizes 1M --steps $DIR/steps.lua"},
    {2, "collective nonsense --node dgx-a100"},
    {4, "collective all_reduce --node dgx-a100 --gpus 1 --sizes 1M"},

    // ---- long runs
    {0, "goodput --node dgx-h100 --gpus 64 --days 3d --runs 20"},
    {0, "goodput --gpus 64 --days 5 --runs 1"},
    {0, "goodput " LIFE " --days 3d --rack-nodes 4 --rack-mtbf 30d --spares 2 --shape 0.7 --age 10d --strikes 2 --bad-share 0.1 --fleet-spread 0.5 --repair 1h --restart 5min --detect 1min --hang-timeout 10min --seed 2"},
    {0, "goodput " LIFE " --work 3d --model llama-2-7b --storage superpod-storage --checkpoint async --checkpoint-every 1h --checkpoint-stall 1s --storage-every 2h --storage-units 2 --by 4d"},
    {0, "goodput " LIFE " --days 3d --spot-mtbf 10h --spot-notice 30s --spot-wait 1h --spot-batch 2 --elastic 4:8"},
    {0, "goodput " LIFE " --days 3d --node-mtbf 30d --rates llama3-h100 --plot --plot-dir $DIR"},
    {0, "goodput " LIFE " --work 3d --checkpoint-size 1TB --storage superpod-storage --best"},
    {0, "goodput " LIFE " --work 3d --checkpoint-size 1TB --storage superpod-storage --best --by 4d --confidence 0.9 --price 2"},
    {0, "goodput " LIFE " --work 3d --checkpoint-size 1TB --storage superpod-storage --best --by 3d"},
    {0, "goodput " LIFE " --work 3d --by 2026-11-25 --date 2026-11-21"},
    {0, "goodput " LIFE " --days 3d --checkpoint-size 1TB --storage superpod-storage --best"},
    {3, "goodput --gpus 64 --work 300d --runs 1 --node-mtbf 1h"},
    {2, "goodput --gpus 64 --nonsense"},
    {4, "goodput --gpus 64 --days 3d --rates nonsense"},

    // ---- money and power
    {0, "cost --node aws-p5.48xlarge --run 1d"},
    {0, "cost --node aws-p5.48xlarge"},
    {0, "cost --node aws-p5.48xlarge --nodes 4 --terms spot --tax 19% --discount 10% --support 3% --storage 1TB --egress 1TB --run 1d --currency EUR"},
    {0, "cost --node aws-p5.48xlarge --among aws --provider aws --date 2026-11-21"},
    {0, "cost --node dgx-h100 --nodes 4 --fabric ib-ndr400 --own --run 30d"},
    {0, "cost --node dgx-h100 --gpus 32 --fabric ib-ndr400 --oversubscription 2 --own --years 3 --interest 0.1 --residual 0.1 --utilisation 0.7 --node-price 300000 --switch-price 17000 --nic-price 1000 --cable-price 500 --storage-price 10000 --electricity 0.1 --colocation 150 --staff 100000 --maintenance 0.05 --power-cap 500W --site colocation --grid world --mix matrix=1 --price 2 --without staff"},
    {0, "cost --node dgx-h100 --own --pue 1.2"},
    {0, "cost --node aws-p5.48xlarge --offers --terms on_demand"},
    {0, "cost --node aws-p5.48xlarge --book aws-p5"},
    {0, "cost --a=\"--node dgx-a100\" --b=\"--node dgx-h100\" --both=\"--gpus 8 --price 2 --model gpt2-124m --tokens 1B --micro-batch 1 --seq 1024\""},
    {0, "cost --a=\"--node dgx-a100\" --b=\"--node dgx-a100\" --both=\"--gpus 8 --price 2 --model gpt2-124m --micro-batch 1 --seq 1024 --epochs 1 --samples 1M\""},
    {4, "cost --node dgx-h100 --provider nobody"},
    {2, "cost --nonsense"},
    {0, "power --node dgx-h100"},
    {0, "power --node r750-a100x2 --nodes 6 --fabric eth-10g --site office"},
    {0, "power --node dgx-h100 --nodes 4 --fabric ib-ndr400 --oversubscription 2 --power-cap 500W"},
    {0, "power --node dgx-h100 --gpus 32 --fabric ib-ndr400 --facility 100kW --grid world --pue 1.1 --site colocation --mix matrix=1 --date 2026-11-21"},
    {3, "power --node dgx-h100 --nodes 4 --fabric ib-ndr400 --facility 10kW"},
    {4, "power --node nonsense"},
    {2, "power"},

    // ---- shared clusters
    {0, "queue --gpus 64 --load 0.5 --jobs 200 --policy fifo,easy --mix gavel"},
    {0, "queue --gpus 64 --load 0.5 --jobs 200 --seeds 1"},
    {0, "queue --gpus 64 --load 0.5 --jobs 200 --seeds 1 --node-mtbf 30d --verbose"},
    {0, "queue --gpus 64 --load 0.5 --jobs 1"},
    {0, "queue --gpus 64 --load 1.5 --jobs 200 --users 4 --urgent-share 0.1 --estimate-error 2 --burstiness 4 --warm-up 0.1"},
    {0, "queue --gpus 64 --load 0.8 --jobs 200 --model gpt2-124m"},
    {0, "queue --gpus 64 --load 0.8 --jobs 100 --node dgx-a100 --fabric ib-hdr200 --oversubscription 4 --nodes-per-leaf 4 --placement spread --model gpt2-124m"},
    {0, "queue --gpus 64 --load 0.5 --jobs 200 --elastic 0.5 --scaling 0.8 --rates llama3-h100 --repair 1d --checkpoint-every 1h --checkpoint-cost 1min --restart 5min --policy easy --depth 4"},
    {0, "queue --gpus 64 --load 0.5 --jobs 200 --sizes 1:0.5,8:0.5 --durations exponential:1h --policy fair-share,multifactor --half-life 1d --weights age:1 --quota *:32"},
    {0, "queue --gpus 64 --load 0.5 --within 50% --policy fifo"},
    {0, "queue --gpus 64 --jobs-per-hour 5 --jobs 20 --outcomes $DIR/outcomes.csv --plot --plot-dir $DIR"},
    {0, "queue --trace tests/data/traces/helios.csv --gpus 64"},
    {4, "queue --trace tests/data/traces/own.csv --gpus 64 --mig"},
    {0, "queue --find-gpus --jobs-per-hour 10 --jobs 200 --wait-mean 1h"},
    {0, "queue --find-gpus --jobs-per-hour 10 --jobs 200 --wait-p95 1h --chance 0.8 --seeds 3"},
    {0, "queue --find-gpus --jobs-per-hour 10 --jobs 200 --wait-p50 1h --seeds 1"},
    {0, "queue --find-gpus --jobs-per-hour 10 --jobs 200 --wait-p90 1h --seeds 2"},
    {0, "queue --find-gpus --trace tests/data/traces/helios.csv --wait-p99 1h --seeds 2"},
    {3, "queue --find-gpus --jobs-per-hour 10 --jobs 200 --wait-mean 1s --most-gpus 8 --seeds 2"},
    {0, "queue --mixes"},
    {2, "queue --find-gpus --gpus 8"},
    {4, "queue --gpus 8 --load 0.5 --jobs 20 --sizes 16:1"},
    {4, "queue --gpus 64 --trace nothing.csv"},

    // ---- the course
    {0, "lesson list"},
    {0, "lesson list --track 2"},
    {0, "lesson start 2.1 --seed 7 --in $DIR/lesson"},
    {0, "lesson guess $DIR/lesson/half_speed.lua 5"},
    {0, "lesson check $DIR/lesson/solved.lua --code $DIR/lesson/bob.code --wall auto"},
    {3, "lesson check $DIR/lesson/half_speed.lua"},
    {0, "lesson hint 2.1 3 --seed 2"},
    {0, "lesson words rank"},
    {4, "lesson words nonsense"},
    {0, "lesson grade $DIR/ana.code"},
    {3, "lesson grade $DIR/altered.code"},
    {0, "lesson sheet --track 2 --answers"},
    {2, "lesson"},
    {2, "lesson nonsense"},
    {2, "lesson check"},
    {4, "lesson start nonsense"},
    {4, "lesson hint 2.1 4"},
    {4, "lesson list --track 99"},
    {4, "lesson check $DIR/met.lua"},
    {4, "lesson check $DIR/lesson/fresh.lua"},

    // ---- measurements
    {0, "calibrate recovery --trials 1 --noise 0.01 --gpu A100"},
    {0, "calibrate network calibrate/measurements/netbox.csv"},
    {0, "calibrate show $DIR/gemms.json"},
    {0, "calibrate fit $DIR/gemms.json -o $DIR/profile.json"},
    {0, "calibrate fit --gemm $DIR/gemms.csv"},
    {0, "calibrate fit calibrate/measurements/kernels/attention.csv"},
    {0, "calibrate fit calibrate/measurements/kernels/experts.csv"},
    {0, "calibrate fit calibrate/measurements/kernels/exchange.csv"},
    {0, "calibrate show $DIR/gemms.json --rows 5"},
    {0, "calibrate fit calibrate/measurements/nccl/abci2_a100_004gpu_all_reduce_intra.txt --node dgx-a100 --nodes 1 --fabric ib-hdr200"},
    {2, "calibrate nonsense"},
    {2, "calibrate run"},
    {2, "calibrate import"},
    {4, "calibrate show nothing.json"},
    {4, "calibrate fit nothing.json"},
    {0, "validate training " RUNS},
    {0, "validate training " RUNS " --anchored"},
    {0, "validate training " RUNS " --anchor $DIR/anchor.csv --rows $DIR/rows.csv --verbose"},
    {0, "validate training " RUNS " --cross"},
    {0, "validate training " RUNS " --rules"},
    {4, "validate training " RUNS " --family nonsense"},
    {0, "validate training " RUNS " --nested"},
    {4, "validate training nothing.csv"},
    {0, "validate collectives " LOG},
    {0, "validate collectives " LOG " --cross family"},
    {0, "validate collectives " LOG " --family A100"},
    {0, "validate collectives " LOG " --fit-on ops --rows $DIR/rows.csv --verbose"},
    {0, "validate collectives " LOG " --refit"},
    {0, "validate collectives " LOG " --rules"},
    {0, "validate collectives " LOG " --nested"},
    {0, "validate collectives " LOG " --op broadcast"},
    {0, "validate kernels $DIR/gemms.json"},
    {0, "validate kernels calibrate/measurements/kernels/attention.csv"},
    {0, "validate kernels $DIR/gemms.json --held-out --seed 2"},
    {0, "validate kernels calibrate/measurements/gemm.csv --rows $DIR/rows.csv"},
    {4, "validate kernels nothing.json"},
    {0, "validate reliability $DIR/stops.csv --runs 2"},
    {0, "validate reliability --runs 2"},
    {0, "validate queue $DIR/months --repetitions 2"},
    {0, "validate convergence"},
    {2, "validate nonsense"},
    {2, "validate"},

    {2, "schema"},
    {2, "completion bash"},
    {2, "report run " GPT2 " -o $DIR/page.html"},
    {2, "nonsense"},

};
// clang-format on
const int answer_walk_count = sizeof answer_walk / sizeof *answer_walk;

// ---- The folder.

char walk_said[WALK_SAID];

int walk_shell(const char *folder, const char *format, const char *line) {
    char command[1024], whole[1200];
    snprintf(command, sizeof command, format, line);
    snprintf(whole, sizeof whole, "DIR=%s; ! [ -e $DIR/all.db ] || rm $DIR/all.db; %s", folder, command);
    return test_shell(whole, walk_said, sizeof walk_said);
}

// clang-format off
static const struct {
    const char *name, *text;
} scripts[] = {
    {"met.lua", "local sim = require 'lockstep'\n"
                "local job = sim.training { model = 'gpt2-124m', seq_len = 1024, batch = { micro = 1, global = 8 } }\n"
                "job:expect { mfu = '> 0.01' }\n"
                "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, run = job }\n"},
    {"unmet.lua", "local sim = require 'lockstep'\n"
                  "local job = sim.training { model = 'gpt2-124m', seq_len = 1024, batch = { micro = 1, global = 8 } }\n"
                  "job:expect { mfu = '> 0.99' }\n"
                  "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, run = job }\n"},
    {"report.lua", "local sim = require 'lockstep'\n"
                   "return sim.report { title = 'x', rows = {\n"
                   "  { name = 'a', unit = 's', published = 2, simulated = 1, source = 'b' } } }\n"},
    {"stands.lua", "local sim = require 'lockstep'\n"
                   "return sim.program { on = sim.cluster { node = 'dgx-a100', gpus = 2 }, rank = function(r)\n"
                   "  r:compute { flops = 1e12, bytes = 1e6 }\n"
                   "  r:send { to = 1 - r.id, bytes = '1 MiB' }\n"
                   "  r:recv { from = 1 - r.id }\n"
                   "end }\n"},
    {"two.lua", "local sim = require 'lockstep'\n"
                "local node = sim.cluster { node = 'dgx-a100', gpus = 8 }\n"
                "local small = sim.training { model = 'gpt2-124m', seq_len = 1024, batch = { micro = 1, global = 8 } }\n"
                "local large = sim.training { model = 'llama-2-70b', batch = { micro = 1 } }\n"
                "return { sim.study { on = node, run = small, vary = { micro_batch = { 1, 2 } } },\n"
                "         sim.study { on = node, run = large, vary = { gpus = { 1, 8 } } } }\n"},
    {"steps.lua", "return function(rank, ranks, bytes)\n"
                  "  if rank == 0 then return { { send = { to = ranks - 1, bytes = bytes } } } end\n"
                  "  if rank == ranks - 1 then return { { recv = { from = 0, bytes = bytes } } } end\n"
                  "  return {}\n"
                  "end\n"},
    {"broken.lua", "return 1 +\n"},
};
// clang-format on

static const char *const inputs[] = {
    "printf '{\"ask\": \"flops\", \"model\": \"gpt2-124m\"}' >$DIR/question.json",
    "$LOCKSTEP sweep --model gpt2-124m --node dgx-a100 --gpus 8 --seq 1024 --micro-batch 1 --vary global-batch=8,16 "
    "-o $DIR/store.db -q -j 1",
    // The beginnings of files that take seconds in whole.
    "mkdir $DIR/months; cd calibrate/measurements; head -n 3 reliability.csv >$DIR/stops.csv; "
    "for file in queue/*.csv; do head -n 1000 $file >$DIR/months/${file#queue/}; done",
    "printf 'gpus,step_time\\n8,36 ms\\n' >$DIR/steps.csv; for i in 1 2 3 4 5; do echo \"iteration $i/ 5 | elapsed "
    "time per "
    "iteration (ms): 500 |\"; echo 'memory (MB) | max allocated: 4000.5'; done >$DIR/trainer.log",
    "$LOCKSTEP calibrate import --from gemm-csv " GEMMS " --gpu \"Tesla T4\" -o $DIR/gemms.json",
    "mkdir $DIR/lesson; $LOCKSTEP lesson start 2.2 --seed 7 --in $DIR/lesson; cp $DIR/lesson/half_speed.lua "
    "$DIR/lesson/fresh.lua; $LOCKSTEP lesson guess $DIR/lesson/half_speed.lua 5; sed 's/ kib = [0-9]*/ kib = 65536/' "
    "$DIR/lesson/half_speed.lua >$DIR/lesson/solved.lua; $LOCKSTEP lesson check $DIR/lesson/solved.lua --code "
    "$DIR/ana.code; sed 's/guess=5/guess=6/' $DIR/ana.code >$DIR/altered.code",
};

// Answers to be read again, answers that say no, and what else the walk names.
static const char *const walk_inputs[] = {
    "$LOCKSTEP sweep --model llama-2-7b --node dgx-a100 --gpus 8 --seq 4096 --zero 1 --vary micro_batch=1,64 -q -j 1 "
    "-o $DIR/some.db",
    "$LOCKSTEP sweep --model llama-2-70b --node dgx-a100 --gpus 8 --seq 4096 --vary micro_batch=1,2 -q -j 1 "
    "-o $DIR/none.db; [ $? = 3 ]",
    "head -n 60 " GEMMS " >$DIR/gemms.csv",
    "head -n 2 " RUNS " >$DIR/anchor.csv; (head -n 1 " RUNS "; tail -n 1 " RUNS ") >$DIR/other.csv",
    "for i in 1 2 3 4 5 6 7 8; do echo 0,1000,2000,1000,3000,1000,1000,500; done >$DIR/matrix.csv",
    "$LOCKSTEP run " GPT2 " --json -o $DIR/a.json; $LOCKSTEP run " GPT2 " --tp 2 --json -o $DIR/b.json; "
    "$LOCKSTEP run " TOO_LARGE " --json >$DIR/no.json; [ $? = 3 ]",
    "$LOCKSTEP queue --gpus 64 --load 0.5 --jobs 200 --json -o $DIR/queue.json; "
    "$LOCKSTEP goodput --gpus 64 --days 5 --runs 20 --json -o $DIR/goodput.json; "
    "$LOCKSTEP collective all_reduce --node dgx-a100 --sizes 1M --json -o $DIR/collective.json",
    "$LOCKSTEP plan " PLAN " --gpus 8 --global-batch 64 --price 2 -j 1 --json -o $DIR/plan.json",
};

static void write_scripts(const char *folder) {
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, scripts[i].name);
        FILE *file = fopen(path, "w");
        EXPECT(file != NULL);
        if (!file) return;
        fputs(scripts[i].text, file);
        fclose(file);
    }
}

static void make(const char *folder, const char *const *lines, int count) {
    for (int i = 0; i < count; i++)
        if (walk_shell(folder, "%s", lines[i]) != 0) test_fail(__FILE__, __LINE__, "%s: %s", lines[i], walk_said);
}

char *walk_open(char name[]) {
    char *folder = mkdtemp(name);
    EXPECT(folder != NULL);
    make(name, inputs, sizeof inputs / sizeof *inputs);
    return name;
}

char *walk_open_whole(char name[]) {
    walk_open(name);
    write_scripts(name);
    make(name, walk_inputs, sizeof walk_inputs / sizeof *walk_inputs);
    return name;
}

void walk_close(const char *folder) { walk_shell(folder, "%s", "rm -r $DIR"); }
