// What every command answers to the lines of the walk (tests/answer_walk.h), kept: a line each, with its exit status
// and digests of what is printed on the screen, of the complaints beside it, and of the JSON. A commit that moves an
// answer writes tests/golden anew (make golden); which words moved, the line itself tells, asked of the program before
// and after.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "tests/answer_walk.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/golden.h"
#include "tests/program.h"
#include "tests/test.h"

// "explain queue" is a command of its own; other words of explain are those of a job.
static bool is_of(const char *line, const char *commands) {
    static const char *const explained[] = {"explain collective ", "explain goodput ", "explain queue "};
    char command[32];
    size_t length = strcspn(line, " ");
    for (size_t i = 0; i < sizeof explained / sizeof *explained; i++)
        if (strncmp(line, explained[i], strlen(explained[i])) == 0) length = strlen(explained[i]) - 1;
    snprintf(command, sizeof command, ",%.*s,", (int)length, line);
    return strstr(commands, command) != NULL;
}

static char complaints[WALK_SAID];

// Each answer alike, whatever the folder is called.
static uint64_t digest_said(const char *folder, char *said) {
    for (char *at = said; (at = strstr(at, folder)) != NULL; at += strlen(folder)) memset(at, 'x', strlen(folder));
    return digest_bytes(DIGEST_START, said, strlen(said));
}

static void remove_merged(const char *folder) {
    char path[256];
    snprintf(path, sizeof path, "%s/all.db", folder);
    unlink(path);
}

// On the day of --date, so that prices are as old as they were.
static void keep_answer(const char *folder, const char *walked, FILE *out) {
    char line[1024], as_json[1040];
    bool is_dated = is_of(walked, ",run,plan,cost,power,") && !strstr(walked, "--date");
    snprintf(line, sizeof line, "%s%s", walked, is_dated ? " --date 2026-11-21" : "");
    snprintf(as_json, sizeof as_json, "%s --json", line);
    remove_merged(folder);
    int status = program_answers(line, folder, &(ProgramSaid){walk_said, complaints, WALK_SAID});
    unsigned long long screen = digest_said(folder, walk_said), beside = digest_said(folder, complaints);
    remove_merged(folder);
    program_answers(as_json, folder, &(ProgramSaid){walk_said, complaints, WALK_SAID});
    drop_envelopes(walk_said);
    fprintf(out, "%d %08llx %08llx %08llx %s\n", status, screen >> 32, beside >> 32,
            (unsigned long long)digest_said(folder, walk_said) >> 32, line);
}

// `commands`: with a comma before and behind each. Not under sanitizers: make digests compares builds.
static void walk_is_kept(const char *file, const char *commands) {
    if (HAS_ADDRESS_SANITIZER) return;
    char name[] = "/tmp/lockstep-golden-XXXXXX";
    const char *folder = walk_open_whole(name);
    GoldenText *text = golden_open();
    for (int i = 0; i < answer_walk_count && golden_goes_on(file, text); i++)
        if (is_of(answer_walk[i].line, commands) && !strstr(answer_walk[i].line, "--verbose") && // which tells seconds
            !strstr(answer_walk[i].line, "--export"))                                            // never over a file
            keep_answer(folder, answer_walk[i].line, text->out);
    golden_compare(file, text);
    walk_close(folder);
}

LONG_TEST(3, run_trace_diff_sweep_and_memory_answer_as_they_did) {
    walk_is_kept("walk_run.txt", ",run,trace,diff,sweep,merge,memory,flops,params,");
}
LONG_TEST(6, plan_answers_as_it_did) { walk_is_kept("walk_plan.txt", ",plan,"); }
LONG_TEST(3, explain_answers_as_it_did) { walk_is_kept("walk_explain.txt", ",explain,explain collective,"); }
LONG_TEST(4, explain_of_shared_clusters_answers_as_it_did) {
    walk_is_kept("walk_explain_queue.txt", ",explain queue,");
}
LONG_TEST(2, explain_of_long_runs_answers_as_it_did) { walk_is_kept("walk_explain_goodput.txt", ",explain goodput,"); }
LONG_TEST(3, goodput_answers_as_it_did) { walk_is_kept("walk_life.txt", ",goodput,"); }
LONG_TEST(3, shared_clusters_answer_as_they_did) { walk_is_kept("walk_queue.txt", ",queue,"); }
LONG_TEST(1, cost_and_power_answer_as_they_did) { walk_is_kept("walk_money.txt", ",cost,power,"); }
LONG_TEST(2, the_catalogue_and_networks_answer_as_they_did) {
    walk_is_kept("walk_parts.txt", ",hw,constants,model,job,topo,collective,packets,");
}

// ---- Options together, as no line of the walk has them: each with a chance of a fifth, or an eighth where
// some are always said.

typedef struct Question {
    const char *begin; // what is always said
    int lines;
    const char *options[40]; // "A|B|C": always one of them
} Question;

#define LIFE_OPTIONS                                                                                                   \
    "--rates rsc-1-lemons", "--node-mtbf 20d", "--rack-nodes 4 --rack-mtbf 30d", "--spares 2",                         \
        "--shape 0.7 --age 10d", "--strikes 2 --bad-share 0.1", "--fleet-spread 0.5", "--repair 1h", "--restart 5min", \
        "--detect 1min", "--hang-timeout 10min", "--spot-mtbf 100h --spot-batch 2", "--spot-mtbf 50h --spot-wait 1h",  \
        "--elastic 4:8", "--checkpoint async --model llama-2-7b", "--checkpoint memory --storage-every 2h",            \
        "--checkpoint-every 1h", "--checkpoint-stall 1s", "--storage nfs-25gbe --checkpoint-size 1TB",                 \
        "--storage superpod-storage --checkpoint-size 2TB --storage-units 2"
#define QUEUE_OPTIONS                                                                                                  \
    "--users 4", "--urgent-share 0.1", "--estimate-error 2", "--burstiness 4", "--warm-up 0.1", "--policy easy",       \
        "--policy multifactor --weights age:1,size:1", "--policy conservative", "--policy fair-share --half-life 1d",  \
        "--policy shortest", "--placement spread", "--placement pack-nodes", "--elastic 0.5",                          \
        "--elastic 0.25 --scaling 0.8", "--rates llama3-h100 --repair 1d", "--node-mtbf 30d",                          \
        "--checkpoint-every 1h --checkpoint-cost 1min", "--restart 5min", "--sizes 1:0.5,8:0.5",                       \
        "--durations exponential:1h", "--durations lognormal:10min:1h", "--oversubscription 4 --nodes-per-leaf 4",     \
        "--model gpt2-124m"
static const Question questions[] = {
    {"goodput --node dgx-h100 --gpus 64 --runs 10 --days 4d", 25, {LIFE_OPTIONS}},
    {"goodput --node dgx-h100 --gpus 64 --runs 10 --work 4d --by 5d", 25, {LIFE_OPTIONS, "--best", "--best --price 2"}},
    {"explain goodput --node dgx-h100 --gpus 64 --runs 10 --work 3d", 12, {LIFE_OPTIONS, "--price 2"}},
    {"queue --gpus 64 --load 0.8 --jobs 150 --seeds 2", 30, {QUEUE_OPTIONS}},
    {"explain queue --gpus 64 --load 0.9 --jobs 100 --seeds 2", 12, {QUEUE_OPTIONS}},
    {"queue --find-gpus --jobs-per-hour 5 --jobs 100 --seeds 2 --wait-p90 1h", 8, {QUEUE_OPTIONS}},
    {"plan --model gpt2-355m --tokens 20B --seq 1024 --node dgx-a100 --gpus 8 --global-batch 64 --date 2026-11-21 -j 1",
     24,
     {"--by 20d",
      "--budget 20000",
      "--confidence 90%",
      "--fit 90%",
      "--start 2026-12-01 --start-spread 10d --by 30d",
      "--miss-cost 5000",
      "--offload",
      "--split-backward",
      "--price 2",
      "--objective time",
      "--objective carbon",
      "--faults llama3-h100",
      "--node-mtbf 30d",
      "--terms spot,on_demand --spot-mtbf 20h",
      "--node-mtbf 20d --spares 1",
      "--checkpoint-every 1h",
      "--checkpoint async",
      "--storage superpod-storage --storage-units 2",
      "--grid france",
      "--all",
      "--discount 0.1",
      "--tax 19%",
      "--currency EUR",
      "--support 5%"}},
    {"plan --model gpt2-355m --tokens 20B --seq 1024 --node dgx-a100 --gpus 8 --global-batch 64 --date 2026-11-21 -j 1 "
     "--own",
     12,
     {"--by 20d", "--budget 20000", "--confidence 90%", "--site office", "--years 3", "--utilisation 0.5",
      "--electricity 0.2", "--node-price 100000", "--objective carbon", "--faults llama3-h100",
      "--without staff,energy", "--grid france", "--tax 19%", "--currency EUR"}},
    {"cost --node aws-p5.48xlarge --nodes 4 --date 2026-11-21",
     12,
     {"--run 10d", "--terms spot", "--terms reserved_3y", "--tax 19%", "--discount 10%", "--support 3%",
      "--storage 100TB", "--egress 10TB", "--currency EUR", "--power-cap 500W", "--grid france", "--mix matrix=1",
      "--pue 1.3", "--without staff"}},
    {"cost --node dgx-h100 --nodes 4 --fabric ib-ndr400 --own --date 2026-11-21",
     15,
     {"--run 10d",        "--tax 19%",          "--currency EUR",        "--site office",       "--years 3",
      "--interest 0.1",   "--residual 0.1",     "--utilisation 0.5",     "--node-price 300000", "--switch-price 17000",
      "--nic-price 1000", "--cable-price 500",  "--storage-price 10000", "--electricity 0.1",   "--colocation 150",
      "--staff 100000",   "--maintenance 0.05", "--power-cap 500W",      "--grid france",       "--mix matrix=1",
      "--pue 1.3",        "--without staff"}},
    {"power --node dgx-h100 --nodes 4 --fabric ib-ndr400",
     15,
     {"--site office", "--site enterprise", "--site hyperscale", "--facility 100kW", "--facility 20kW",
      "--power-cap 500W", "--grid france", "--pue 1.2", "--mix matrix=1", "--mix waiting=0.5,matrix=0.5",
      "--oversubscription 2"}},
    {"run scenarios/lessons/operators_twin.lua",
     16,
     {"--experts", "--tp 4", "--tp 1", "--pp 2", "--ep 4", "--zero 3", "--zero 0", "--fused-norms",
      "--set training.framework=eager", "--set training.framework=fused --set training.attention=plain",
      "--set training.framework=graph --set training.fused_loss=true", "--set training.framework=tensorflow",
      "--set training.framework=operators --set training.precision=fp16",
      "--set training.precision=fp8 --set training.batch.micro=2", "--set training.precision=fp32"}},
    {"memory --model llama-2-7b --gpu H100 --gpus 64",
     30,
     {"--micro-batch 4",
      "--seq 8192",
      "--tp 4",
      "--pp 4",
      "--cp 2",
      "--zero 1",
      "--zero 2",
      "--zero 3",
      "--precision fp8",
      "--precision fp32",
      "--recompute full",
      "--recompute selective",
      "--recompute operations",
      "--attention plain",
      "--framework eager",
      "--framework fused",
      "--optimizer sgd",
      "--lora-rank 16",
      "--lora-rank 8 --nf4-weights",
      "--half-weights",
      "--fused-loss",
      "--loss-chunks 8",
      "--schedule gpipe",
      "--vpp 2",
      "--global-batch 256",
      "--fp32-grad-reduce",
      "--over-time",
      "--expert-skew 0.5",
      "--sequence-parallel=false"}},
    // What is at its least, 1 or below: there most bounds lie.
    {"goodput --node dgx-h100 --gpus 16 --runs 3 --days 1d",
     14,
     {"--node-mtbf 1d|--node-mtbf 5h --spares 1|--spot-mtbf 5h --spot-batch 1 --spot-notice 1s|--rates llama3-h100|"
      "--spot-mtbf 20h --spot-batch 2 --spot-wait 1s --node-mtbf 3d|--rack-nodes 1 --rack-mtbf 10h",
      "--strikes 1 --bad-share 0.5", "--fleet-spread 1", "--shape 1 --age 1d", "--repair 1s", "--restart 1s",
      "--detect 0.5s", "--hang-timeout 1s", "--elastic 1:2|--price 0.5|--seed 0", "--price 1",
      "--checkpoint async --checkpoint-every 1min --model gpt2-124m|--checkpoint-every 1h|--checkpoint-stall 0.5s|"
      "--checkpoint memory --storage-every 1h --checkpoint-size 1GB --storage nfs-1gbe"}},
    {"goodput --node dgx-h100 --gpus 32 --runs 20 --work 2d --checkpoint-size 1TB --storage superpod-storage --best",
     10,
     {"--by 2.5d|--by 50h --confidence 0.5|--by 3d --price 1|--confidence 0.95 --by 60h|--price 0.5",
      "--node-mtbf 10d|--rates rsc-1-lemons|--spot-mtbf 30h", "--spares 1", "--elastic 2:4", "--storage-units 1",
      "--checkpoint-stall 1min"}},
    {"queue --gpus 8 --jobs 40 --seeds 1",
     24,
     {"--load 0.9|--load 1.5|--jobs-per-hour 1|--load 0.5 --burstiness 1", "--users 1", "--users 2 --quota *:4",
      "--urgent-share 1", "--urgent-share 0.5", "--estimate-error 1", "--warm-up 0|--warm-up 0.9|--verbose",
      "--policy all|--policy easy,conservative --depth 1|--policy fair-share --half-life 1h|"
      "--policy multifactor --weights age:1,share:1,size:1|--policy shortest",
      "--placement scatter|--placement pack-leaves|--placement spread", "--elastic 1", "--elastic 0.5 --scaling 1",
      "--node-mtbf 1d --repair 1min --checkpoint-every 1min --checkpoint-cost 1s", "--restart 1s",
      "--sizes 1:1|--sizes 1:0.5,4:0.5|--sizes 8:1|--mix gavel", "--durations fixed:1h", "--seed 0"}},
    {"queue",
     16,
     {"--trace tests/data/traces/helios.csv --gpus 64|--trace tests/data/traces/acme.csv --gpus 512|"
      "--trace tests/data/traces/own.csv --gpus 16|--trace tests/data/traces/philly.csv --gpus 64|"
      "--trace tests/data/traces/sacct.csv --gpus 64|--find-gpus --trace tests/data/traces/helios.csv --wait-p90 1h",
      "--policy easy|--policy conservative,fifo|--policy multifactor --weights age:1,size:1,priority:1|--policy "
      "fair-share",
      "--seeds 2", "--node dgx-a100", "--mig --node dgx-a100", "--quota *:8", "--elastic 0.5", "--node-mtbf 10d"}},
    {"explain queue --gpus 16",
     10,
     {"--load 0.9 --jobs 60|--trace $DIR/parts.csv|--trace $DIR/parts.csv --mig --node dgx-a100|"
      "--load 1.5 --jobs 60|--trace tests/data/traces/own.csv|--load 0.7 --jobs 200 --seeds 3",
      "--policy easy", "--sizes 16:0.2,1:0.8", "--sizes 12:0.5,4:0.5", "--users 3", "--quota *:8", "--elastic 0.5",
      "--node dgx-a100", "--estimate-error 3 --policy easy", "--node-mtbf 5d", "--urgent-share 0.2",
      "--burstiness 10"}},
    {"explain goodput --node dgx-h100 --gpus 16 --runs 5",
     10,
     {"--days 1d|--work 1d|--work 1d --price 0.5",
      "--node-mtbf 1d|--spot-mtbf 5h|--spot-mtbf 10h --spot-batch 2|"
      "--rates rsc-1-lemons|--rates llama3-h100|--rack-nodes 1 --rack-mtbf 5d",
      "--spares 1", "--strikes 1 --bad-share 0.5", "--elastic 1:2",
      "--checkpoint async --model gpt2-124m|--checkpoint memory --model llama-2-7b --storage-every 1h|"
      "--storage nfs-1gbe --checkpoint-size 1TB|--checkpoint-stall 10min",
      "--detect 1h", "--hang-timeout 1h", "--repair 30d", "--restart 1h", "--fleet-spread 1", "--shape 0.5 --age 1d"}},
    {"explain goodput --node dgx-h100 --rates llama3-h100 --runs 3",
     5,
     {"--gpus 4096 --days 10|--gpus 2048 --work 15d --price 2 --spares 8|--gpus 2048 --days 20",
      "--checkpoint async --model llama-2-7b", "--repair 3d", "--rack-nodes 4 --rack-mtbf 1000d", "--spares 1"}},
    {"goodput --node dgx-h100 --rates llama3-h100 --runs 3",
     6,
     {"--gpus 4096 --days 10|--gpus 2048 --work 15d --price 2 --spares 8|--gpus 2048 --days 20",
      "--checkpoint async --model llama-2-7b", "--repair 3d", "--rack-nodes 4 --rack-mtbf 1000d", "--spares 1",
      "--strikes 2 --bad-share 0.1", "--spot-mtbf 30d --spot-batch 4", "--elastic 8:16"}},
    {"explain --model gpt2-124m --node dgx-a100 --seq 512",
     14,
     {"--gpus 1 --micro-batch 1|--gpus 2 --micro-batch 2|--gpus 4 --global-batch 32|--gpus 8 --micro-batch 1", "--tp 2",
      "--pp 2", "--zero 1|--zero 2|--zero 3|--optimizer sgd|--backend gloo", "--recompute full",
      "--recompute selective", "--precision fp32|--precision fp16|--precision bf16", "--attention plain",
      "--framework eager|--framework fused|--framework megatron", "--price 2 --tokens 1B", "--price 0.5", "--pairs 2",
      "--why-only|--pairs 0|--verbose|--table settings --csv", "--jitter 0.05 --straggler 1.2",
      "--offload-optimizer host", "--overlap-grad-reduce", "--sample-bytes 1MB --data-storage nfs-1gbe", "--unfolded",
      "--tokens 10B"}},
    {"explain --micro-batch 1 --gpus 16 --fabric ib-hdr200 --node dgx-a100",
     8,
     {"--model resnet-18|--model mlp-mnist|--model olmoe-1b-7b --seq 512 --ep 8 --zero 1|--model bert-base --seq 128|"
      "--model gpt2-124m --tp 4 --seq 512|--model gpt2-124m --pp 2 --global-batch 16 --seq 512",
      "--zero 3", "--oversubscription 4", "--why-only", "--pairs 1", "--price 2", "--recompute full",
      "--precision fp32"}},
    {"explain --node dgx-a100 --gpus 8 --seq 1024",
     10,
     {"--model llama-2-7b --micro-batch 1|--model llama-2-7b --micro-batch 4 --zero 1|"
      "--model llama-2-13b --micro-batch 1 --zero 1|--model gpt2-1.5b --micro-batch 16|"
      "--model llama-2-13b --micro-batch 2 --zero 3|--model llama-2-7b --lora-rank 8 --micro-batch 16",
      "--pairs 1|--pairs 0|--verbose", "--tp 2", "--price 2", "--recompute full"}},
    {"explain collective --gpus 16 --fabric ib-hdr200 --node dgx-a100",
     8,
     {"--op all_reduce|--op all_gather|--op broadcast|--op all_to_all|--op all_to_all --uneven 0.5|--op reduce_scatter",
      "--sizes 1K|--sizes 64M|--sizes 1G",
      "--algo ring|--algo tree|--proto LL|--proto Simple|--backend gloo|--proto LL128", "--oversubscription 4",
      "--version 2.18"}},
    {"plan --date 2026-11-21 -j 1",
     26,
     {"--model gpt2-124m --seq 1024|--model bert-base --seq 128",
      "--node dgx-a100|--node dgx-a100,dgx-h100|--node dgx-h100",
      "--gpus 8|--gpus 4|--gpus 8:16 --fabric ib-hdr200 --oversubscription 1,2|--gpus 16 --fabric ib-hdr200|--gpus 8",
      "--global-batch 64 --tokens 1B|--global-batch 64 --tokens 1B|--global-batches 64,128 --least-steps 1000 "
      "--critical-batch 100|"
      "--global-batches 32,128 --steps-curve $DIR/curve.csv",
      "--price 1|--price 0.5|--own|--own-or-rent --price 2|--years 1 --own|--utilisation 1 --own|--objective "
      "time|--tax 1%",
      "--by 1d", "--by 3h", "--budget 50", "--budget 1000", "--confidence 50%", "--objective energy",
      "--precision fp16", "--zero 1", "--zero 3", "--all", "--terms spot,on_demand --spot-mtbf 30h"}},
    {"plan --model gpt2-124m --tokens 1B --seq 1024 --node dgx-a100 --gpus 8:16 --fabric ib-hdr200 --global-batch 64 "
     "--date 2026-11-21 -j 1 --price 1",
     16,
     {"--by 6h|--by 2026-12-01|--start 2026-11-25 --start-spread 1d --by 2026-11-28|--miss-cost 100 --by 5h|--budget "
      "40|"
      "--budget 100 --confidence 80%|--confidence 99% --by 5h|--by 20d",
      "--faults llama3-h100|--node-mtbf 2d|--node-mtbf 5d --spares 1|--checkpoint-every 1h --node-mtbf 10d",
      "--checkpoint async", "--checkpoint memory", "--storage nfs-1gbe", "--storage superpod-storage --storage-units 1",
      "--grid world", "--objective carbon --grid france", "--tax 1%", "--discount 50%", "--support 1%", "--fit 50%",
      "--fit 99%", "--all", "--anchor $DIR/anchor.csv"}},
    {"cost --node dgx-h100 --nodes 1 --own --date 2026-11-21",
     14,
     {"--run 1h|--run 365d|--years 1",
      "--interest 0",
      "--interest 1%",
      "--residual 0",
      "--residual 1",
      "--utilisation 1",
      "--node-price 1",
      "--switch-price 1",
      "--nic-price 1",
      "--cable-price 1",
      "--electricity 1",
      "--colocation 1",
      "--staff 1",
      "--maintenance 0",
      "--maintenance 1",
      "--site office|--site enterprise",
      "--storage-price 1 --storage 1PB",
      "--pue 1",
      "--power-cap 400W",
      "--tax 1%",
      "--currency INR"}},
    {"cost --date 2026-11-21",
     24,
     {"--node aws-p5.48xlarge|--node aws-p4d.24xlarge|--node azure-nd96isr-h100-v5|--node dgx-h100 --price 0.5|--node "
      "crusoe-h100-ib.8x",
      "--gpus 8|--gpus 1|--nodes 1|--nodes 3", "--run 1h|--run 100d|--run 1min",
      "--terms spot|--terms monthly|--terms block|--terms reserved_1y|--terms on_demand", "--tax 1%", "--discount 1%",
      "--support 1%", "--storage 1GB", "--storage 0.5TB", "--egress 1GB", "--egress 200TB", "--currency EUR",
      "--among aws,crusoe", "--provider aws", "--region us-east-1", "--offers", "--grid world"}},
    {"goodput --node dgx-h100 --gpus 2048 --runs 3 --work 2d --checkpoint-size 1TB --storage superpod-storage --best",
     3,
     {"--node-mtbf 15d --repair 1d|--node-mtbf 30d --repair 2d|--node-mtbf 60d --repair 3d", "--price 2"}},
    {"queue --load 0.5 --jobs 10 --seeds 1",
     4,
     {"--gpus 8,16,24,32,40,48,56,64 --policy|--gpus 8,16 --policy", "all|fifo,easy"}},
    {"power --node dgx-a100",
     12,
     {"--gpus 1|--nodes 1|--nodes 40 --fabric ib-hdr200|--nodes 9 --fabric ib-hdr200 --oversubscription 2",
      "--site office|--site enterprise|--site hyperscale", "--facility 7kW", "--facility 1MW",
      "--power-cap 100W|--power-cap 399W|--pue 1|--pue 2", "--grid world",
      "--mix matrix=1|--mix waiting=1|--mix waiting=0.5,matrix=0.5"}},
    {"diff $DIR/job.lua",
     14,
     {"--set-a=training.zero=1|--set-a=training.zero=3|--set-a=training.seq_len=512|--set-a=training.batch.micro=2",
      "--set-b=training.precision=fp32|--set-b=training.precision=fp16|--set-b=training.optimizer=sgd|"
      "--set-b=training.parallel.tp=2|--set-b=training.parallel.pp=2|--set-b=cluster.gpus=4|--set-b=cluster.node=dgx-"
      "h100",
      "--set-b=training.attention=plain",
      "--set-b=training.recompute=full",
      "--set-b=training.framework=eager",
      "--set-a=training.bucket=1MiB",
      "--set-b=training.bucket=25MiB",
      "--set-b=training.tokens=1e9",
      "--set-a=training.tokens=1e9",
      "--set-b=training.jitter=0.02",
      "--set-b=training.straggler=1.1",
      "--set-b=training.overlap.grad_reduce=false",
      "--set-a=training.overlap.grad_reduce=true",
      "--set-b=training.data.sample_bytes=1MB",
      "--set-b=training.software=nemo",
      "--set-b=cluster.power_cap=300W",
      "--set-b=cluster.storage=nfs-1gbe",
      "--set-a=cluster.storage=superpod-storage",
      "--set-a=cluster.price.gpu_hour=1",
      "--set-b=cluster.price.gpu_hour=2",
      "--set-b=training.model=gpt2-355m",
      "--set-b=training.checkpoint.every=1h",
      "--set-b=cluster.faults.rates=llama3-h100",
      "--brief"}},
};

// The options of either side of a difference.
static const Question sides = {
    "--micro-batch 1",
    16,
    {"--model gpt2-124m --seq 512|--model gpt2-124m --seq 512|--model gpt2-355m --seq 512|--model bert-base --seq 128",
     "--node dgx-a100 --gpus 8|--node dgx-h100 --gpus 8|--node dgx-a100 --gpus 4|"
     "--node dgx-a100 --gpus 16 --fabric ib-hdr200|--node dgx-a100 --gpus 16 --fabric ib-ndr400 --oversubscription 2|"
     "--node dgx-a100 --gpus 16 --fabric ib-ndr400",
     "--tp 2|--pp 2 --global-batch 32|--zero 1|--zero 3|--bucket 1MiB|--fidelity flow",
     "--price 2|--price 1 --samples 1M|--price 3 --currency EUR --samples 2M|--precision fp16", "--precision fp32",
     "--recompute full", "--attention plain", "--framework eager", "--optimizer sgd", "--jitter 0.02"}};

// One of "A|B|C".
static const char *one_of(RandomStream *stream, const char *options, char *into, size_t bytes) {
    uint64_t count = 1;
    for (const char *at = options; *at; at++) count += *at == '|';
    for (uint64_t skip = count > 1 ? random_below(stream, count) : 0; skip > 0; skip--)
        options = strchr(options, '|') + 1;
    snprintf(into, bytes, "%.*s", (int)strcspn(options, "|"), options);
    return into;
}

// No option twice.
static void draw_line(const Question *question, int number, char *line, size_t bytes) {
    RandomStream stream = random_stream(1, question->begin, (uint64_t)number);
    size_t used = (size_t)snprintf(line, bytes, "%s", question->begin);
    uint64_t one_in = strchr(question->options[0], '|') ? 8 : 5;
    for (int i = 0; i < 40 && question->options[i]; i++) {
        char option[200], name[64];
        bool always = strchr(question->options[i], '|');
        if (!always && random_below(&stream, one_in) > 0) continue;
        one_of(&stream, question->options[i], option, sizeof option);
        snprintf(name, sizeof name, "%.*s ", (int)strcspn(option, " "), option);
        if (strstr(line, name)) continue;
        used += (size_t)snprintf(line + used, bytes - used, " %s ", option);
    }
}

static void keep_question(const char *folder, const char *line, bool as_json, FILE *out) {
    char whole[1040];
    snprintf(whole, sizeof whole, "%s%s", line, as_json ? " --json" : "");
    int status = program_answers(whole, folder, &(ProgramSaid){.screen = walk_said, .bytes = WALK_SAID});
    drop_envelopes(walk_said);
    fprintf(out, "%d %016llx %s\n", status, (unsigned long long)digest_said(folder, walk_said), line);
}

// Files that questions name.
static void write_files(const char *folder) {
    walk_shell(folder, "%s",
               "printf 'batch,steps\\n16,20000\\n32,11000\\n64,6000\\n128,4000\\n' >$DIR/curve.csv; "
               "head -n 2 calibrate/measurements/training/training_fsdp_mosaic.csv >$DIR/anchor.csv; "
               "(echo user,submit_s,gpus,duration_s; for i in 1 2 3 4 5 6 7 8 9; do echo a,$i,0.3,$i; "
               "echo b,$i,0.5,9; echo b,$i,2,5; echo c,$i,8,3; done) >$DIR/parts.csv; "
               "echo \"local sim = require 'lockstep'\n"
               "local job = sim.training { model = 'gpt2-124m', seq_len = 1024, batch = { micro = 1, global = 16 } }\n"
               "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8 }, run = job }\" >$DIR/job.lua");
}

// On the screen and in JSON in turn.
static void keep_questions(const char *folder, const char *file, const char *commands, const GoldenText *text) {
    char line[1024];
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
        for (int i = 0; i < questions[q].lines && is_of(questions[q].begin, commands); i++) {
            if (!golden_goes_on(file, text)) return;
            draw_line(&questions[q], i, line, sizeof line);
            keep_question(folder, line, i % 2, text->out);
        }
}

static void keep_difference(const char *folder, int number, FILE *out) {
    char a[400], b[400], line[1024];
    draw_line(&sides, 2 * number, a, sizeof a);
    draw_line(&sides, 2 * number + 1, b, sizeof b);
    snprintf(line, sizeof line, "diff --a=\"%s\" --b=\"%s\"", a, b);
    keep_question(folder, line, number % 2, out);
}

static void questions_are_kept(const char *file, const char *commands) {
    if (HAS_ADDRESS_SANITIZER) return;
    char folder[] = "/tmp/lockstep-golden-XXXXXX";
    EXPECT(mkdtemp(folder) != NULL);
    write_files(folder);
    GoldenText *text = golden_open();
    keep_questions(folder, file, commands, text);
    for (int i = 0; i < sides.lines && is_of("diff", commands); i++) keep_difference(folder, i, text->out);
    golden_compare(file, text);
    walk_close(folder);
}

LONG_TEST(2, drawn_differences_are_told_as_they_were) { questions_are_kept("questions_diff.txt", ",diff,"); }
LONG_TEST(3, drawn_questions_of_lives_are_answered_as_they_were) {
    questions_are_kept("questions_life.txt", ",goodput,explain goodput,");
}
LONG_TEST(2, drawn_questions_of_queues_are_answered_as_they_were) {
    questions_are_kept("questions_queue.txt", ",queue,explain queue,");
}
LONG_TEST(5, drawn_questions_of_plans_are_answered_as_they_were) { questions_are_kept("questions_plan.txt", ",plan,"); }
LONG_TEST(2, drawn_questions_of_explain_are_answered_as_they_were) {
    questions_are_kept("questions_explain.txt", ",explain,explain collective,");
}
LONG_TEST(1, drawn_questions_of_costs_and_power_are_answered_as_they_were) {
    questions_are_kept("questions_cost.txt", ",cost,power,");
}
LONG_TEST(2, drawn_questions_of_runs_and_memory_are_answered_as_they_were) {
    questions_are_kept("questions_run.txt", ",memory,run,");
}

// ---- Drawn jobs, operator by operator and cause by cause.

LONG_TEST(4, drawn_jobs_are_explained_as_they_were) {
    if (HAS_ADDRESS_SANITIZER) return;
    char folder[] = "/tmp/lockstep-golden-XXXXXX", path[64];
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/job.lua", folder);
    GoldenText *text = golden_open();
    char *jobs = golden_read(GOLDEN "jobs.txt");
    int number = 0;
    for (char *at = strstr(jobs, "-- job "), *next; at && number < 100; at = next) {
        if (!golden_goes_on("jobs_explained.txt", text)) break;
        next = strstr(at + 1, "-- job ");
        if (next) next[-1] = '\0';
        FILE *file = fopen(path, "w");
        EXPECT(file && fputs(at, file) >= 0 && fclose(file) == 0);
        fprintf(text->out, "job %d ", ++number);
        keep_answer(folder, "explain $DIR/job.lua --why-only", text->out);
    }
    golden_compare("jobs_explained.txt", text);
    free(jobs);
    walk_close(folder);
}
