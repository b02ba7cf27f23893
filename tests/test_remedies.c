// What to do where memory does not suffice: one remedy, however one asks, in the words in which one asked; and a point
// that is not sure to fit is marked, and never the best.
#include <stdio.h>
#include <string.h>

#include "tests/script.h"
#include "tests/test.h"

static char printed[32768];

// Printed without line breaks.
static int run(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "$LOCKSTEP %s", arguments);
    int status = test_shell(command, printed, sizeof printed), length = 0;
    for (int i = 0; printed[i]; i++) {
        char letter = printed[i] == '\n' ? ' ' : printed[i];
        if (letter != ' ' || length == 0 || printed[length - 1] != ' ') printed[length++] = letter;
    }
    printed[length] = '\0';
    return status;
}

#define JOB "--model llama-2-70b --node dgx-h100 --gpus 16 --tp 8 --zero 0 --micro-batch 4"

TEST(a_job_that_does_not_fit_has_one_remedy_whatever_is_asked) {
    char remedy[256];
    EXPECT_INT(run("run " JOB), 3);
    const char *at = strstr(printed, "Fits with --");
    EXPECT(at);
    if (!at) return;
    snprintf(remedy, sizeof remedy, "%.*s)", (int)strcspn(at + 10, ")"), at + 10);
    static const char *const others[] = {"explain " JOB, "memory " JOB, "plan --tokens 1B --pp 1 " JOB,
                                         "run " JOB " --vary seq_len=4096,8192"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        EXPECT_INT(run(others[i]), 3);
        EXPECT_CONTAINS(printed, remedy);
    }
}

TEST(the_remedy_is_one_that_runs_and_surely_fits) {
    EXPECT_INT(run("run --model llama-2-13b --node dgx-h100 --gpus 8 --micro-batch 16"), 3);
    char again[512], options[256];
    const char *at = strstr(printed, "Fits with ");
    EXPECT(at);
    if (!at) return;
    snprintf(options, sizeof options, "%.*s", (int)strcspn(at + 10, "("), at + 10);
    const char *micro = strstr(options, "--micro-batch") ? "" : "--micro-batch 16";
    snprintf(again, sizeof again, "run --model llama-2-13b --node dgx-h100 --gpus 8 %s %s", micro, options);
    EXPECT_INT(run(again), 0);
    EXPECT(!strstr(printed, "runs out") && !strstr(printed, "Fits with"));
}

#define SCRIPT                                                                                                         \
    "local sim = require 'lockstep'\n"                                                                                 \
    "return sim.study { on = sim.cluster { node = 'dgx-h100', gpus = 8 }, run = sim.training { model = "               \
    "'llama-2-13b', "                                                                                                  \
    "batch = { micro = 16 } } }"

TEST(a_script_of_any_name_is_answered_in_fields_and_options_in_options) {
    static const char *const names[] = {"job.lua", "job.txt", "job"};
    for (int i = 0; i < 3; i++) {
        char command[1024];
        snprintf(command, sizeof command,
                 "d=$(mktemp -d) && printf '%%s' \"%s\" >$d/%s && $LOCKSTEP run $d/%s; rm -r $d", SCRIPT, names[i],
                 names[i]);
        test_shell(command, printed, sizeof printed);
        EXPECT_CONTAINS(printed, " = ");
        EXPECT(strstr(printed, "Fits with") && !strstr(strstr(printed, "Fits with"), "  --"));
    }
}

TEST(a_point_that_is_not_sure_to_fit_is_marked_and_never_the_best) {
    EXPECT_INT(run("run --model llama-2-13b --node dgx-h100 --gpus 8 --tp 4 --zero 1 --vary micro_batch=1,2,4,8,16"),
               0);
    EXPECT_CONTAINS(printed, " GiB ? ");
    EXPECT_CONTAINS(printed, "? does not surely fit: memory runs out with a chance above 5 %.");
    EXPECT_CONTAINS(printed, "the most, at micro_batch = 2.");
    EXPECT_INT(run("run --model gpt2-124m --node dgx-h100 --gpus 8 --vary micro_batch=1,2"), 0);
    EXPECT(!strstr(printed, "surely fit"));
}
