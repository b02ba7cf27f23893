// What a step's explanation says first: whether fewer GPUs do as well, what to change, and what each figure means.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/commands/command_run.h"
#include "scenarios/explain/command_explain.h"
#include "tests/command.h"
#include "tests/test.h"

#define SLOW_NETWORK "--model resnet-152 --node rtx3060-workstation --fabric eth-1g --micro-batch 64 --framework eager"

// The number behind "key": in an answer's JSON; NAN: it is not there.
static double member(const char *json, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : NAN;
}

static double run_member(const char *options, const char *key) {
    char line[512];
    snprintf(line, sizeof line, "run --json %s", options);
    const Ended *ended = run_command(command_run, line);
    EXPECT_INT(ended->code, 0);
    return member(ended->out, key);
}

// ---- Fewer GPUs.

TEST(what_more_gpus_are_measured_against_is_a_run_on_the_fewer) {
    EXPECT_SAME(run_member("--gpus 4 " SLOW_NETWORK, "baseline_gpus"), 1);
    EXPECT_SAME(run_member("--gpus 4 " SLOW_NETWORK, "baseline_samples_per_s"),
                run_member("--gpus 1 " SLOW_NETWORK, "samples_per_s"));
#define LLAMA "--model llama-2-7b --node dgx-h100 --tp 2 --zero 1 --micro-batch 1 "
    EXPECT_SAME(run_member(LLAMA "--gpus 8 --global-batch 32", "baseline_gpus"), 2);
    EXPECT_SAME(run_member(LLAMA "--gpus 8 --global-batch 32", "baseline_samples_per_s"),
                run_member(LLAMA "--gpus 2 --global-batch 8", "samples_per_s"));
}

TEST(what_does_not_fit_on_one_gpu_is_measured_against_the_fewest_that_hold_it) {
#define SHARDED "--model llama-2-7b --node dgx-h100 --zero 3 --micro-batch 1 --recompute full "
    double gpus = run_member(SHARDED "--gpus 8", "baseline_gpus");
    char line[512];
    EXPECT(gpus == 2 || gpus == 4);
    snprintf(line, sizeof line, "run " SHARDED "--gpus %.0f", gpus);
    EXPECT_INT(run_command(command_run, line)->code, 0);
    snprintf(line, sizeof line, "run " SHARDED "--gpus %.0f", gpus / 2);
    EXPECT_INT(run_command(command_run, line)->code, 3);
}

TEST(machines_slower_than_one_are_said_first_with_the_network_and_what_one_does) {
    const Ended *ended = run_command(command_run, "run --gpus 4 " SLOW_NETWORK);
    EXPECT_CONTAINS(ended->out, "resnet-152 on 4 × RTX3060-12GB in 4 nodes over eth-1g");
    const char *says = strstr(ended->out, "! 4 GPUs are slower than 1"), *figures = strstr(ended->out, "Step time");
    EXPECT(says && figures && says < figures);
    EXPECT_CONTAINS(ended->out, "over eth-1g (1 Gb/s Ethernet");
    ended = run_command(command_explain, "explain --brief --gpus 4 " SLOW_NETWORK);
    says = strstr(ended->out, "4 GPUs are slower than 1"), figures = strstr(ended->out, "A step of");
    EXPECT(says && figures && says < figures);
    ended = run_command(command_run, "run --gpus 8 --model resnet-50 --node dgx-a100-80gb --micro-batch 64");
    EXPECT(!strstr(ended->out, "slower than") && !strstr(ended->out, "hardly faster"));
}

TEST(fewer_gpus_as_a_change_are_a_run_on_so_many_with_the_same_global_batch) {
    const Ended *ended =
        run_command(command_explain, "explain --csv --table settings --gpus 4 --global-batch 256 " SLOW_NETWORK);
    const char *row = strstr(ended->out, "gpus = 1,");
    EXPECT(row != NULL);
    double step = row ? strtod(row + strlen("gpus = 1,"), NULL) : NAN;
    EXPECT_SAME(step, run_member("--gpus 1 --global-batch 256 " SLOW_NETWORK, "p50"));
}

// ---- Money.

TEST(without_a_price_explain_and_pages_take_the_list_price_and_say_so) {
#define GPT2 "--model gpt2-124m --node dgx-h100 --gpus 16 --fabric ib-ndr400 --micro-batch 4"
    const Ended *ended = run_command(command_run, "run --json --terms on_demand " GPT2);
    double hour = member(ended->out, "per_hour"), step = member(ended->out, "p50");
    ended = run_command(command_explain, "explain --csv --table settings " GPT2);
    const char *row = strstr(ended->out, "gpus = 8,");
    EXPECT(hour > 0 && row);
    double fields[6] = {NAN};
    for (int i = 0; row && i < 6; i++) {
        row = strchr(row, ',') + 1;
        fields[i] = strtod(row, NULL);
    }
    EXPECT_NEAR(fields[5], hour / 2 * fields[0] / 3600, 1e-12); // half the GPUs cost half
    ended = run_command(command_explain, "explain --brief --plain " GPT2);
    char says[64];
    snprintf(says, sizeof says, "A step costs $%.2f", hour * step / 3600);
    if (hour * step / 3600 >= 0.01) EXPECT_CONTAINS(ended->out, says);
    EXPECT_CONTAINS(ended->out, "which is assumed: the price book's median of list prices on demand");
    ended = run_command(command_explain, "explain --brief --plain --price 2 " GPT2);
    EXPECT(!strstr(ended->out, "which is assumed") && strstr(ended->out, "A step costs $"));
    ended = run_command(command_explain, "explain --brief --plain --gpus 4 " SLOW_NETWORK);
    EXPECT_CONTAINS(ended->out, "Money is not counted: the price book has no price on demand for RTX3060-12GB");
}
