// What an answer in JSON is of, asked again by explain and report.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "tests/child.h"
#include "tests/test.h"

static char said[1 << 16], other[1 << 16];

// The shell's lines, in a folder of their own.
static int asks(char *output, const char *lines) {
    char folder[] = "/tmp/lockstep-answer-XXXXXX", command[4096];
    CHECK(mkdtemp(folder));
    snprintf(command, sizeof command, "cd %s && { %s\n}; code=$?; rm -r %s; exit $code", folder, lines, folder);
    char program[4096];
    CHECK(realpath(getenv("LOCKSTEP"), program));
    setenv("LOCKSTEP_HERE", program, 1);
    return test_shell(command, output, sizeof said);
}

static double number_after(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

TEST(explain_of_a_plans_answer_is_of_the_job_that_it_chose) {
    EXPECT_INT(asks(said,
                    "$LOCKSTEP_HERE plan --model llama-2-7b --node dgx-h100,dgx-a100 --fabric ib-ndr400 --gpus 8,16 "
                    "--tokens 1B --by 10d --json -o plan.json -q && grep -A 3 -m 1 step_time_s plan.json && "
                    "$LOCKSTEP_HERE explain plan.json --why-only --json | grep step_s"),
               0);
    EXPECT(strstr(said, "Left out") == NULL);
    double planned = number_after(said, "\"p50\": "), explained = number_after(said, "\"step_s\": ");
    EXPECT(planned > 0);
    EXPECT_NEAR(explained, planned, 1e-9 * planned);
}

TEST(explain_of_a_runs_answer_is_explain_of_that_run) {
    EXPECT_INT(asks(said,
                    "$LOCKSTEP_HERE run --model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4 --global-batch 64 "
                    "--plot=breakdown --json -o run.json -q && $LOCKSTEP_HERE explain run.json --csv -q "
                    "--table critical_path -o a.csv && cat a.csv"),
               0);
    EXPECT_INT(asks(other, "$LOCKSTEP_HERE explain --model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4 "
                           "--global-batch 64 --csv -q --table critical_path -o a.csv && cat a.csv"),
               0);
    EXPECT_TEXT(said, other);
    // What is said now takes the place of what the file says.
    EXPECT_INT(asks(said,
                    "$LOCKSTEP_HERE run --model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4 --json -o run.json "
                    "-q && $LOCKSTEP_HERE explain run.json --micro-batch 8 -v"),
               0);
    EXPECT_CONTAINS(said, "! Asked again, of run.json: lockstep explain --model gpt2-355m --node dgx-h100 --gpus 8 "
                          "--micro-batch 8 -v");
}

TEST(explain_of_a_queues_answer_and_of_its_own_ask_that_again) {
    EXPECT_INT(asks(said, "$LOCKSTEP_HERE queue --gpus 16 --load 0.5 --jobs 500 --json -o q.json -q && "
                          "$LOCKSTEP_HERE explain q.json --json -o e.json -q && $LOCKSTEP_HERE explain e.json"),
               0);
    EXPECT_CONTAINS(said, "of q.json: lockstep explain queue --gpus 16 --load 0.5 --jobs 500");
    EXPECT_CONTAINS(said, "Mean wait");
}

TEST(what_explain_cannot_take_from_a_file_is_refused_with_the_way_out) {
    EXPECT_INT(asks(said, "echo '{\"a\": 1}' > x.json; $LOCKSTEP_HERE explain x.json"), 4);
    EXPECT_CONTAINS(said, "x.json: error: this is no answer of lockstep");
    EXPECT_CONTAINS(said, "hint: lockstep run … --json -o x.json writes one");
    EXPECT_INT(asks(said, "echo '{\"a\": ' > x.json; $LOCKSTEP_HERE report x.json"), 4);
    EXPECT_CONTAINS(said, "x.json:");
    EXPECT_INT(asks(said, "$LOCKSTEP_HERE explain none.json"), 4);
    EXPECT_CONTAINS(said, "No such file");
    EXPECT_INT(asks(said, "$LOCKSTEP_HERE params --model gpt2-124m --json > p.json; $LOCKSTEP_HERE explain p.json"), 4);
    EXPECT_CONTAINS(said, "lockstep params, which explain does not know");
    EXPECT_INT(
        asks(said, "$LOCKSTEP_HERE params --model gpt2-124m --json > p.json; $LOCKSTEP_HERE report p.json -o x.html"),
        4);
    EXPECT_CONTAINS(said, "of which there is no page");
    EXPECT_INT(asks(said, "echo '{\"format\": \"lockstep-answer\", \"command\": [\"lockstep\", \"explain\", "
                          "\"x.json\"]}' > x.json; $LOCKSTEP_HERE explain x.json"),
               4);
    EXPECT_CONTAINS(said, "an answer of an answer");
}

TEST(report_of_an_answer_is_the_page_of_that_question) {
    EXPECT_INT(asks(said,
                    "$LOCKSTEP_HERE run --model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4 --global-batch 64 "
                    "--json -o run.json -q && $LOCKSTEP_HERE report run.json -o a.html -q && $LOCKSTEP_HERE report run "
                    "--model gpt2-355m --node dgx-h100 --gpus 8 --micro-batch 4 --global-batch 64 -o b.html -q && "
                    "sed 's/[ab].html//' a.html > a && sed 's/[ab].html//' b.html > b && cmp a b && echo same"),
               0);
    EXPECT_CONTAINS(said, "same");
}
