// A measured step of the very job, in words or in two columns, corrects it and what is like it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/explain/explain.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/study/study_anchors.h"
#include "tests/command.h"
#include "tests/test.h"

#define JOB_ON "--model gpt2-124m --node dgx-a100 --micro-batch 4 --fp16 --software megatron "
#define JOB JOB_ON "--gpus 8 "
#define PLAN                                                                                                           \
    "plan --model gpt2-124m --tokens 1B --node dgx-a100 --gpus 8 --global-batch 32 --micro-batch 4 --fp16 --tp 1 "     \
    "--pp 1 --zero 0 --recompute none --software megatron --json "

static double number_after(const Ended *ended, const char *words) {
    const char *at = strstr(ended->out, words);
    EXPECT(at != NULL);
    return at ? atof(at + strlen(words)) : 0;
}

static double step_on(int gpus, const char *more) {
    char line[512];
    snprintf(line, sizeof line, "run " JOB_ON "--gpus %d --json %s", gpus, more);
    const Ended *ended = run_command(command_run, line);
    EXPECT_INT(ended->code, 0);
    return number_after(ended, "\"p50\": ");
}

static double step_with(const char *more) { return step_on(8, more); }

static void write_rows(const char *path, const char *rows) {
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    if (!file) return;
    fputs(rows, file);
    fclose(file);
}

TEST(a_measured_step_of_the_job_is_what_the_job_then_takes) {
    double alone = step_with("");
    char words[64];
    for (double times = 0.8; times < 2; times += 0.4) {
        snprintf(words, sizeof words, "--measured 8=%.9gs", times * alone);
        double anchored = step_with(words);
        EXPECT(fabs(anchored / (times * alone) - 1) < 0.01);
    }
}

TEST(a_pilot_on_other_gpus_of_the_job_corrects_it_partly) {
    char words[96];
    double four = step_on(4, ""), eight = step_with("");
    snprintf(words, sizeof words, "--measured 4=%.9gs", 1.2 * four);
    double corrected = step_with(words);
    EXPECT(corrected > 1.1 * eight && corrected < 1.21 * eight);
    snprintf(words, sizeof words, "--measured 4,micro-batch=4,dp=4=%.9gs",
             1.2 * four); // what is said twice changes nothing
    EXPECT(step_with(words) == corrected);
}

TEST(two_columns_are_the_words_of_the_command_line) {
    anchors_reader = anchors_read;
    double in_words = step_with("--measured 8=0.08s --measured 4=75ms");
    write_rows("build/measured.csv", "gpus,step_time\n8,0.08 s\n4,75 ms\n");
    EXPECT(step_with("--anchor build/measured.csv") == in_words);
    write_rows("build/measured.csv", "gpus,step_time_ms\n8,80\n4,75\n");
    EXPECT(step_with("--anchor build/measured.csv") == in_words);
    write_rows("build/measured.csv", "step_time_s,gpus,micro_batch\n0.08,8,\n0.075,4,4\n");
    EXPECT(step_with("--anchor build/measured.csv") == in_words);
    write_rows("build/measured.csv", "gpus,step_time\n8,0.08\n");
    const Ended *ended = run_command(command_run, "run " JOB "--anchor build/measured.csv");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "build/measured.csv:2: error: step_time = 0.08: 0.08 has no unit");
    write_rows("build/measured.csv", "gpus,step_time\n8,\n");
    EXPECT_INT(run_command(command_run, "run " JOB "--anchor build/measured.csv")->code, 4);
    remove("build/measured.csv");
}

TEST(measured_steps_that_cannot_be_understood_are_asked_about) {
    static const struct {
        const char *words, *answer;
    } cases[] = {
        {"8", "this names no run and its time"},
        {"=3s", "this names no run and its time"},
        {"8=55", "55 has no unit"},
        {"8=-1s", "the step time"},
        {"8=0s", "is not the time of a step"},
        {"8,tpp=3=55ms", "tpp cannot be varied"},
        {"8,tp=2,tp=4=55ms", "tp is varied twice"},
        {"0=55ms", "is not a whole number above 0"},
        {"8=1h", "further apart than 5 times"},
        {"8,tp=3=55ms", "error"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "run " JOB "--measured %s", cases[i].words);
        const Ended *ended = run_command(command_run, line);
        EXPECT_INT(ended->code, 4);
        EXPECT_CONTAINS(ended->err, cases[i].answer);
        EXPECT_CONTAINS(ended->err, "hint");
    }
    const Ended *ended = run_command(command_run, "run scenarios/lessons/ddp_by_hand.lua --measured 8=1s");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "not one training job");
    ended = run_command(command_explain, "explain scenarios/lessons/ddp_by_hand.lua --measured 8=1s");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "rank program");
}

static const char varied[] = "local sim = require \"lockstep\"\n"
                             "return sim.study {\n"
                             "  on = sim.cluster { node = sim.hw \"dgx-a100\", gpus = 8 },\n"
                             "  run = sim.training { model = sim.model.get \"gpt2-124m\", precision = \"fp16\" },\n"
                             "  vary = { gpus = { 4, 8 }, micro_batch = { 2, 4 } } }\n";

TEST(what_a_study_varies_is_asked_of_a_measured_step_of_it) {
    write_rows("build/varied.lua", varied);
    const Ended *ended = run_command(command_run, "run build/varied.lua --measured 8=50ms");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "the micro_batch of the run that was measured is not said, and this varies it");
    ended = run_command(command_run, "run build/varied.lua --measured 8,micro_batch=4=50ms");
    EXPECT_INT(ended->code, 0);
    remove("build/varied.lua");
}

TEST(a_plan_asks_for_the_layout_of_a_measured_step_and_is_corrected_by_it) {
    EXPECT_INT(run_command(command_plan, PLAN "--measured 8=50ms")->code, 0); // all that matters is said
    const Ended *ended =
        run_command(command_plan, "plan --model gpt2-124m --tokens 1B --node dgx-a100 --gpus 8 --measured 8=50ms");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "the tp and global_batch of the run that was measured are not said");
    EXPECT_CONTAINS(ended->err, "--measured 8,tp=2,global_batch=256=50ms"); // as it may be typed
    ended = run_command(command_plan, PLAN);
    EXPECT_INT(ended->code, 0);
    double alone = number_after(ended, "\"days\":"), step = alone * 86400 / 30518;
    char line[512];
    snprintf(line, sizeof line, PLAN "--measured 8,tp=1,global_batch=32=%.9gs", 1.25 * step);
    ended = run_command(command_plan, line);
    EXPECT_INT(ended->code, 0);
    double corrected = number_after(ended, "\"days\":");
    EXPECT(corrected > 1.23 * alone && corrected < 1.26 * alone);
    EXPECT_CONTAINS(ended->err, "8 GPUs, DP 8, micro-batch 4, global batch 32: simulated");
}

TEST(advice_stands_on_the_step_that_was_measured) {
    const Ended *ended = run_command(command_explain, "explain " JOB "--json --measured 8=80ms");
    EXPECT_INT(ended->code, 0);
    double step = number_after(ended, "\"step_s\": ");
    EXPECT(fabs(step / 0.08 - 1) < 0.01);
}

static double bf16_leaves(const char *line) { // of a step, in its precision's place
    const Ended *ended = run_command(command_explain, line);
    EXPECT_INT(ended->code, 0);
    double step = number_after(ended, "\"step_s\": ");
    const char *change = strstr(ended->out, "\"change\": \"--precision bf16\""), *becomes = "\"step_s\": ";
    change = change ? strstr(change, becomes) : NULL;
    EXPECT(change != NULL);
    return change ? atof(change + strlen(becomes)) / step : 0;
}

TEST(what_anchors_do_not_speak_of_gains_as_much_of_a_step_as_without_them) {
    double alone = bf16_leaves("explain " JOB "--json"),
           measured = bf16_leaves("explain " JOB "--json --measured 8=80ms");
    EXPECT(fabs(measured / alone - 1) < 1e-6);
}

TEST(no_more_measured_steps_are_taken_than_anchors_may_be) {
    const char *path = "/tmp/lockstep-many-measured.csv";
    char rows[8192] = "gpus,step_time\n";
    for (int row = 0; row <= 500; row++) strcat(rows, "8,1s\n");
    write_rows(path, rows);
    const Ended *ended = run_command(command_run, "run " JOB "--anchor /tmp/lockstep-many-measured.csv");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "lockstep-many-measured.csv: error: 501 runs to anchor on, and 500 are the most");
    remove(path);
}
