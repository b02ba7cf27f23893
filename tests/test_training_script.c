// The script that trains models on a GPU (calibrate/gpu/bench/train_steps.py): its tables, what it writes whatever its
// cases do, and that lockstep simulates the very steps it runs. Where there is no python3 there is nothing to test.
#include <unistd.h>

#include "calibrate/training/training.h"
#include "sim/data/csv.h"
#include "tests/test.h"

TEST(the_training_script_knows_its_models_without_pytorch) {
    char output[8192];
    if (test_shell("command -v python3", output, sizeof output) != 0) return;
    EXPECT_INT(test_shell("python3 -B calibrate/gpu/bench/train_steps.py --self-test", output, sizeof output), 0);
    EXPECT_CONTAINS(output, "12 models, 44 cases, 70 columns");
    EXPECT_INT(
        test_shell("python3 -B calibrate/gpu/bench/train_steps.py --list --models resnet-50", output, sizeof output),
        0);
    EXPECT_CONTAINS(output, "6 cases");
    EXPECT_INT(test_shell("python3 -B calibrate/gpu/bench/train_steps.py --models gpt9", output, sizeof output), 2);
    EXPECT_CONTAINS(output, "no model is called \"gpt9\"");
    if (test_shell("python3 -c 'import torch'", output, sizeof output) == 0) return;
    EXPECT_INT(test_shell("python3 -B calibrate/gpu/bench/train_zoo.py --list", output, sizeof output), 0);
    EXPECT(strstr(output, " 82  ") != NULL);
    EXPECT_INT(test_shell("python3 -B calibrate/gpu/bench/train_steps.py", output, sizeof output), 1);
    EXPECT_CONTAINS(output, "error: this needs PyTorch");
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) count++;
    return count;
}

// What it wrote is read and simulated, row by row: none lacks what a prediction needs.
static void expect_own_rows_predicted(const char *folder) {
    static char output[32768];
    char command[256];
    snprintf(command, sizeof command, "$LOCKSTEP validate training %s/own.csv --rows %s/rows.csv --verbose", folder,
             folder);
    EXPECT_INT(test_shell(command, output, sizeof output), 0);
    snprintf(command, sizeof command, "cat %s/rows.csv", folder);
    EXPECT_INT(test_shell(command, output, sizeof output), 0);
    EXPECT_INT(count_of(output, "own-steps,ok,iter_time_s,"), 36);
    EXPECT_INT(count_of(output, "own-steps"), 44);
    EXPECT_INT(count_of(output, "neither a step time nor a throughput is published"), 8);
}

// Parameters are those that PyTorch counts; FLOPs of forward were counted in the script's own models, product by
// product, on tensors without data.
typedef struct Counted {
    const char *model;
    double gflop;
} Counted;
static const Counted counted[] = {
    {"gpt2-124m", 291.648}, {"gpt2-355m", 826.951}, {"gpt2-774m", 1774.57},        {"gpt2-1.5b", 3506.70},
    {"llama-1b", 4992.90},  {"bert-base", 121.244}, {"llama-8b-4layers", 6000.07}, {"bert-large", 368.086},
    {"vit-b-16", 35.1277},  {"vit-l-16", 123.109},  {"resnet-50", 8.17837},        {"resnet-152", 23.0273},
};

static double flops_counted(const char *model) {
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (strcmp(counted[i].model, model) == 0) return 1e9 * counted[i].gflop;
    return 0;
}

static void expect_job(const MeasuredRun *run, const char *precision, bool compiled) {
    const TrainingSpec *job = &run->training;
    bool cnn = convolves(job->model), wide = strstr(precision, "32") != NULL;
    EXPECT_INT(job->framework, compiled ? FRAMEWORK_GRAPH : FRAMEWORK_EAGER);
    EXPECT_INT(job->mixed_precision, strstr(precision, "amp") != NULL);
    EXPECT_INT(job->optimizer, cnn ? OPTIMIZER_SGD : OPTIMIZER_ADAM);
    EXPECT(job->recompute_stops_early && !run->recompute_open);
    EXPECT(run->memory_count == MEMORY_ALLOCATED || run->measured_step_s == 0); // a case that failed
    if (cnn)
        EXPECT_INT(job->image_layout, IMAGE_LAYOUT_NHWC);
    else
        EXPECT_INT(job->attention, wide ? ATTENTION_PLAIN : ATTENTION_FLASH_2);
}

// The job that a row becomes is the program that ran.
static void expect_own_rows_understood(const char *folder) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const char *path = arena_printf(arena, "%s/own.csv", folder);
    MeasuredRuns runs = {0};
    EXPECT(measured_runs_read(arena, catalogue_builtin(arena), path, &runs, problems));
    const Csv *csv = csv_read_file(arena, path, problems);
    int parameters = csv_column(csv, "n_params", problems), models = csv_column(csv, "model", problems);
    int precision = csv_column(csv, "precision", problems), compiled = csv_column(csv, "compiled", problems);
    EXPECT_INT(problem_count(problems), 0);
    for (int i = 0; i < runs.count; i++) {
        const MeasuredRun *run = &runs.items[i];
        EXPECT(run->skipped == NULL);
        if (run->skipped) continue;
        const TrainingSpec *job = &run->training;
        EXPECT_NEAR(model_parameters(job->model), csv_positive(csv, i, parameters, problems), 0);
        double flops = model_forward_flops_per_sample(job->model, (int)job->seq_len);
        EXPECT_NEAR(flops, flops_counted(csv_cell(csv, i, models)), 5e-5);
        expect_job(run, csv_cell(csv, i, precision), csv_cell(csv, i, compiled)[0] == '1');
    }
    arena_close(arena);
}

// Every way through it, with PyTorch made up: the rows' header, cases that run out of memory, diverge or hang, and a
// budget that nothing fits. What the script finds wrong it prints.
TEST(the_training_script_writes_what_it_has_whatever_its_cases_do) {
    char output[8192], folder[] = "/tmp/lockstep-steps-XXXXXX", command[256];
    if (test_shell("command -v python3", output, sizeof output) != 0) return;
    EXPECT(mkdtemp(folder));
    snprintf(command, sizeof command,
             "python3 -B tests/data/fake_training.py %s calibrate/measurements/training/training_dlperf.csv 2>&1",
             folder);
    int code = test_shell(command, output, sizeof output);
    if (code != 0) test_fail(__FILE__, __LINE__, "%s", output);
    expect_own_rows_predicted(folder);
    expect_own_rows_understood(folder);
    snprintf(command, sizeof command, "rm -r %s", folder);
    EXPECT_INT(test_shell(command, output, sizeof output), 0);
}
