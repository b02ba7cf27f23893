// What is wrong is told once, where it stands, and the remedy works as it is typed.
#include <stdio.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "models/workload/model/model.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/plan/plan_question.h"
#include "tests/command.h"
#include "tests/test.h"

#define JOB "--model llama-2-7b --node dgx-h100 --gpus 64 --global-batch 512 --micro-batch 1 "
#define ROWS "build/hints.csv"

static int times(const char *text, const char *word) {
    int count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) count++;
    return count;
}

// One error, and that has these words.
static const Ended *expect_error(int (*command)(int argc, char **argv), const char *line, const char *words) {
    const Ended *ended = run_command(command, line);
    EXPECT_CONTAINS(ended->err, words);
    EXPECT_INT(times(ended->err, "error: "), 1);
    return ended;
}

static void expect_refused(const char *line, const char *words) { expect_error(command_run, line, words); }

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

TEST(a_misspelt_option_is_one_mistake_whatever_stands_behind_it) {
    expect_refused("run --modl llama-2-13b", "did you mean \"--model\"?");
    expect_refused("run " JOB "--micro_batchs 8", "no option is called \"--micro_batchs\"");
    expect_error(command_plan, "plan " JOB "--tokns 300G --seq 4096", "did you mean \"--tokens\"?");
}

TEST(a_hint_is_said_as_the_value_was) {
    expect_refused("run " JOB "--zero 4", "hint: for example --zero 1\n");
    expect_refused("run --model llama-2-7b --node dgx-h100 --gpus 64 --micro-batch -1",
                   "for example --micro-batch 4\n");
    expect_refused("run " JOB "--seq 0", "hint: for example --seq 1024\n");
    expect_refused("run " JOB "--vary zero=9", "hint: for example --vary zero=1\n");
    expect_refused("run " JOB "--measured 64,zero=9=9s", "hint: for example zero=1\n");
    expect_refused("run " JOB "--recompute none --recompute-num-layers 2", "hint: --recompute full\n");
    write_file("build/hints-said.csv", "gpus,step_time\n-64,9s\n");
    expect_refused("run " JOB "--anchor "
                   "build/hints-said.csv",
                   "build/hints-said.csv"
                   ":2: error: gpus = -64 is not a whole number above 0\n  hint: for example 64\n");
    remove("build/hints-said.csv");
}

TEST(what_cannot_be_negative_is_shown_in_its_own_unit) {
    expect_refused("run " JOB "--measured 64=-9s", "hint: for example 0.412s");
    expect_error(command_plan, "plan " JOB "--tokens 1B --by -60d", "write something like \"30d\"");
    expect_refused("run --model llama-2-7b --node dgx-h100 --gpus -64", "write something like \"512\"");
    write_file("build/hints-sign.csv", "gpus,step_time\n8,-9s\n");
    expect_refused("run " JOB "--anchor "
                   "build/hints-sign.csv",
                   "write something like \"0.412 s\"");
    remove("build/hints-sign.csv");
}

TEST(money_is_shown_without_its_sign_and_commas) {
    expect_error(command_plan, "plan " JOB "--tokens 1B --budget 400,000", "hint: write --budget 400000\n");
    expect_error(command_plan, "plan " JOB "--tokens 1B --budget $400k", "hint: write --budget 400k\n");
    expect_error(command_plan, "plan " JOB "--tokens 1B --budget 4,00", "hint: for example --budget ");
}

TEST(what_no_number_of_gpus_can_mend_comes_first) {
    expect_refused("run " JOB "--tp 3", "32 attention heads (32 key-value) do not divide by tp 3\n"
                                        "  hint: tp can be 1, 2, 4, 8, 16 or 32\n");
}

TEST(a_length_that_cannot_be_read_was_said) {
    expect_error(command_plan, "plan --model llama-2-7b --node dgx-h100 --gpus 64 --tokens 300GB",
                 "hint: for example --tokens ");
}

static void expect_rows_refused(const char *rows, const char *words) {
    write_file(ROWS, rows);
    expect_refused("run " JOB "--anchor " ROWS, words);
    remove(ROWS);
}

TEST(rows_that_are_no_measured_steps_are_told_what_these_look_like) {
    static const char remedy[] = "hint: the first line is gpus,step_time, the next one like 8,0.412s";
    expect_rows_refused("gpus,time\n8,412ms\n", remedy);
    expect_rows_refused("8,412ms\n16,400ms\n", remedy); // no names at all
    expect_rows_refused("step,step_time\n8,412ms\n", remedy);
    expect_rows_refused("gpus,step_time\n", remedy);
    expect_rows_refused("gpus,tp\n8,1\n", "no column is called \"step_time\"");
    expect_rows_refused("gpus,step_time\n8,0.412\n", "0.412 has no unit");
}

TEST(spreadsheets_write_rows_of_measured_steps) {
    static const char *const written[] = {"GPUs,Step Time\n64,9s\n", "gpus;step_time\n64;9s\n"};
    for (int i = 0; i < 2; i++) {
        write_file("build/hints-sheet.csv", written[i]);
        const Ended *ended = run_command(command_run, "run " JOB "--anchor "
                                                      "build/hints-sheet.csv");
        EXPECT_CONTAINS(ended->err, "measured 9 s");
    }
    remove("build/hints-sheet.csv");
}

TEST(a_file_that_says_no_job_is_called_what_it_is) {
    write_file("build/hints-file.log", " iteration 10/ 100 | elapsed time per iteration (ms): 1234.5 |\n");
    expect_refused("run build/hints-file.log", "what Megatron-LM printed while it trained");
    expect_refused("run build/hints-file.log", "lockstep check SCRIPT --log build/hints-file.log");
    write_file("build/hints-file.log", "hello\n");
    expect_refused("run build/hints-file.log", "what is read: a scenario (FILE.lua)");
    write_file("build/hints-file.log", "local sim = require \"lockstep\"\nreturn 1\n");
    expect_refused("run build/hints-file.log", "build/hints-file.log:"); // a scenario by another name
    remove("build/hints-file.log");
}

// ---- What is taken, and looks like another thing than was meant.

static const char *asked(const char *line) {
    static char said[20000];
    char command[600];
    snprintf(command, sizeof command, "LOCKSTEP_LAST=never $LOCKSTEP %s 2>&1 </dev/null", line);
    test_shell(command, said, sizeof said);
    return said;
}

TEST(prices_ten_times_off_and_more_spares_than_nodes_are_pointed_out) {
    static const char owned[] = "cost --node dgx-h100 --nodes 4 --fabric ib-ndr400 --own ";
    char line[200];
    snprintf(line, sizeof line, "%s --electricity 12 --node-price 300", owned);
    EXPECT_CONTAINS(asked(line), "USD a kWh is stated, and 0.1 USD");
    EXPECT_CONTAINS(asked(line), "dgx-h100 for 300 USD is stated");
    snprintf(line, sizeof line, "%s --electricity 0.2 --node-price 300k", owned);
    EXPECT(!strstr(asked(line), "is stated"));
    EXPECT_CONTAINS(asked("goodput --gpus 64 --days 3 --spares 1000"), "1000 nodes stand by for 8 that work");
    EXPECT(!strstr(asked("goodput --gpus 64 --days 3 --spares 2"), "stand by for"));
}

TEST(rates_of_failures_have_one_name_everywhere) {
    EXPECT_CONTAINS(asked("goodput --gpus 64 --days 3 --faults lama3-h100"), "did you mean \"llama3-h100\"?");
    EXPECT_CONTAINS(asked("queue --gpus 64 --load 0.5 --faults lama3-h100"), "did you mean \"llama3-h100\"?");
    EXPECT_CONTAINS(asked("plan " JOB "--tokens 1B --rates lama3-h100"), "did you mean \"llama3-h100\"?");
}

TEST(a_log_of_another_batch_says_both) {
    write_file("build/hints-batch.log",
               " iteration 10/ 100 | elapsed time per iteration (ms): 9000 | global batch size:   256 |\n"
               " iteration 20/ 100 | elapsed time per iteration (ms): 9000 | global batch size:   256 |\n");
    EXPECT_CONTAINS(asked("check " JOB "--log build/hints-batch.log"), "the job says global_batch 512, the log 256");
    EXPECT_CONTAINS(asked("run " JOB "--anchor build/hints-batch.log"), "global batch 256 (not the job's 512)");
    remove("build/hints-batch.log");
}

TEST(less_sharding_is_not_explained_as_more) {
    const char *said =
        asked("explain --model llama-2-7b --node dgx-h100 --gpus 64 --fabric eth-100g --tp 2 --pp 4 --vpp 2 "
              "--zero 1 --micro-batch 1 --global-batch 64 -v");
    EXPECT_CONTAINS(said, "gathers less of");
    EXPECT(!strstr(said, "travel in shards"));
}

TEST(a_sweep_of_sizes_is_titled_by_none_of_them) {
    asked("sweep --model gpt2-124m --node dgx-a100 --micro-batch 4 --vary gpus=8,16 -q -j 1 -o build/hints.db");
    const char *said = asked("sweep --show build/hints.db");
    EXPECT_CONTAINS(said, "gpt2-124m on ");
    EXPECT(!strstr(said, "on 8 "));
    remove("build/hints.db");
}

TEST(words_of_other_programs_are_told_in_ours) {
    static const char *const cases[][2] = {{"--per-device-train-batch-size 2", "here it is --micro-batch: "},
                                           {"--gradient-checkpointing", "here it is --recompute"},
                                           {"--load-in-4bit", "here it is --nf4-weights"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[256], said[4096];
        snprintf(command, sizeof command, "$LOCKSTEP run --model llama-2-7b --node dgx-h100 --gpus 8 %s", cases[i][0]);
        EXPECT_INT(test_shell(command, said, sizeof said), 2);
        EXPECT_CONTAINS(said, cases[i][1]);
    }
}
