// What every command answers to the lines of the walk (tests/answer_walk.h), kept: a line each, with its exit status
// and digests of what is printed on the screen, of the complaints beside it, and of the JSON. A commit that moves an
// answer writes tests/golden anew (make golden); which words moved, the line itself tells, asked of the program before
// and after.
#include <stdlib.h>
#include <string.h>

#include "sim/digest.h"
#include "sim/random.h"
#include "tests/answer_walk.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/golden.h"
#include "tests/test.h"

static bool is_of(const char *line, const char *commands) {
    char command[32];
    snprintf(command, sizeof command, " %.*s ", (int)strcspn(line, " "), line);
    return strstr(commands, command) != NULL;
}

// Each answer alike, whatever the folder is called.
static uint64_t digest_said(const char *folder) {
    for (char *at = walk_said; (at = strstr(at, folder)) != NULL; at += strlen(folder)) memset(at, 'x', strlen(folder));
    return digest_bytes(DIGEST_START, walk_said, strlen(walk_said));
}

// On the day of --date, so that prices are as old as they were.
static void keep_answer(const char *folder, const char *walked, FILE *out) {
    char line[1024];
    bool is_dated = is_of(walked, " run plan cost power ") && !strstr(walked, "--date");
    snprintf(line, sizeof line, "%s%s", walked, is_dated ? " --date 2026-11-21" : "");
    int status = walk_shell(folder, "$LOCKSTEP %s 2>$DIR/complaints", line);
    unsigned long long screen = digest_said(folder);
    walk_shell(folder, "cat $DIR/complaints%s", "");
    unsigned long long complaints = digest_said(folder);
    walk_shell(folder, "$LOCKSTEP %s --json 2>/dev/null", line);
    drop_envelopes(walk_said);
    fprintf(out, "%d %08llx %08llx %08llx %s\n", status, screen >> 32, complaints >> 32,
            (unsigned long long)digest_said(folder) >> 32, line);
}

// `commands`: with a space before and behind each. Not under sanitizers: make digests compares builds.
static void walk_is_kept(const char *file, const char *commands) {
    if (HAS_ADDRESS_SANITIZER) return;
    char name[] = "/tmp/lockstep-golden-XXXXXX";
    const char *folder = walk_open_whole(name);
    GoldenText *text = golden_open();
    for (int i = 0; i < answer_walk_count; i++)
        if (is_of(answer_walk[i].line, commands) && !strstr(answer_walk[i].line, "--verbose")) // which tells seconds
            keep_answer(folder, answer_walk[i].line, text->out);
    golden_compare(file, text);
    walk_close(folder);
}

LONG_TEST(3, run_trace_diff_sweep_and_memory_answer_as_they_did) {
    walk_is_kept("walk_run.txt", " run trace diff sweep merge memory flops params ");
}
LONG_TEST(8, plan_answers_as_it_did) { walk_is_kept("walk_plan.txt", " plan "); }
LONG_TEST(8, explain_answers_as_it_did) { walk_is_kept("walk_explain.txt", " explain "); }
LONG_TEST(4, goodput_cost_power_and_queue_answer_as_they_did) {
    walk_is_kept("walk_life.txt", " goodput cost power queue ");
}
LONG_TEST(2, the_catalogue_and_networks_answer_as_they_did) {
    walk_is_kept("walk_parts.txt", " hw constants model job topo collective ");
}

// ---- Options together, as no line of the walk has them: each with a chance of a fifth.

typedef struct Question {
    const char *begin; // what is always said
    int lines;
    const char *options[32];
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
};

// No option twice.
static void draw_line(const Question *question, int number, char *line, size_t bytes) {
    RandomStream stream = random_stream(1, question->begin, (uint64_t)number);
    size_t used = (size_t)snprintf(line, bytes, "%s", question->begin);
    for (int i = 0; i < 32 && question->options[i]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s ", (int)strcspn(question->options[i], " "), question->options[i]);
        if (random_below(&stream, 5) > 0 || strstr(line, name)) continue;
        used += (size_t)snprintf(line + used, bytes - used, " %s ", question->options[i]);
    }
}

// On the screen and in JSON in turn.
static void questions_are_kept(const char *file, const char *commands) {
    if (HAS_ADDRESS_SANITIZER) return;
    char folder[] = "/tmp/lockstep-golden-XXXXXX", line[1024];
    EXPECT(mkdtemp(folder) != NULL);
    GoldenText *text = golden_open();
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
        for (int i = 0; i < questions[q].lines && is_of(questions[q].begin, commands); i++) {
            draw_line(&questions[q], i, line, sizeof line);
            int status = walk_shell(folder, i % 2 ? "$LOCKSTEP %s --json 2>&1" : "$LOCKSTEP %s 2>&1", line);
            drop_envelopes(walk_said);
            fprintf(text->out, "%d %016llx %s\n", status, (unsigned long long)digest_said(folder), line);
        }
    golden_compare(file, text);
    walk_close(folder);
}

LONG_TEST(5, drawn_questions_of_lives_and_queues_are_answered_as_they_were) {
    questions_are_kept("questions_life.txt", " goodput queue ");
}
LONG_TEST(5, drawn_questions_of_plans_are_answered_as_they_were) { questions_are_kept("questions_plan.txt", " plan "); }
LONG_TEST(5, drawn_questions_of_explain_are_answered_as_they_were) {
    questions_are_kept("questions_explain.txt", " explain ");
}
LONG_TEST(2, drawn_questions_of_costs_power_and_memory_are_answered_as_they_were) {
    questions_are_kept("questions_cost.txt", " cost power memory run ");
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
        next = strstr(at + 1, "-- job ");
        if (next) next[-1] = '\0';
        FILE *file = fopen(path, "w");
        EXPECT(file && fputs(at, file) >= 0 && fclose(file) == 0);
        fprintf(text->out, "job %d ", ++number);
        keep_answer(folder, "explain $DIR/job.lua --why-only", text->out);
    }
    EXPECT_INT(number, 100);
    golden_compare("jobs_explained.txt", text);
    free(jobs);
    walk_close(folder);
}
