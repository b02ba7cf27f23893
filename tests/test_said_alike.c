// One question has one answer at every door, and what an answer tells people to type works as it stands.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/money/money.h"
#include "scenarios/plan/plan.h"
#include "tests/jobs.h"
#include "tests/test.h"

static char printed[1 << 16];

// Of the program; its exit code. `printed` has both streams.
static int ask(const char *arguments) {
    char command[2048];
    snprintf(command, sizeof command, "$LOCKSTEP %s 2>&1", arguments);
    return test_shell(command, printed, sizeof printed);
}

static void expect_said(const char *arguments, int status, const char *words) {
    EXPECT_INT(ask(arguments), status);
    EXPECT_CONTAINS(printed, words);
}

// ---- Options.

TEST(an_option_of_another_command_is_told_where_it_is) {
    expect_said("queue --gpus 64 --budget 5", 2,
                "no option is called \"--budget\" here\n  hint: lockstep plan has it: ");
    expect_said("goodput --gpus 64 --days 3 --find-gpus", 2, "hint: lockstep queue has it: ");
    expect_said("memory --model gpt2-124m --gpu A100 --fabric ib-ndr400", 2,
                "have it, and here it has no meaning: leave it out");
    expect_said("run --modle gpt2-124m", 2, "did you mean \"--model\"?");
}

TEST(an_example_of_a_value_is_typed_as_it_stands_and_makes_sense) {
    expect_said("cost --node dgx-h100 --own --years 3y", 2,
                "\"3y\" is not a number such as \"4\"\n"
                "  hint: for example --years 4\n");
    expect_said("queue --gpus 64 --wait-p95 3", 2, "hint: for example --wait-p95 3h\n");
    expect_said("goodput --gpus 64 --days 3 --checkpoint-every 5", 4, "hint: for example --checkpoint-every 30min");
    expect_said("plan --budget x", 2, "hint: for example --budget 2M\n");
    expect_said("power --node dgx-h100 --facility 1.2", 2, "hint: for example --facility 1.2kW\n");
}

TEST(several_numbers_where_one_is_asked_are_not_run_together) {
    expect_said("run --model gpt2-124m --node dgx-h100 --micro-batch 1 --gpus 64,128", 2,
                "one number here: --gpus 64; several are points of lockstep sweep --vary gpus=64,128");
    expect_said("run --model gpt2-124m --node dgx-h100 --micro-batch 1 --gpus 1,024", 2, "hint: write --gpus 1024");
}

TEST(work_to_do_may_be_asked_for_by_a_day) {
    static const char job[] = "goodput --gpus 64 --work 5 --runs 20 --model gpt2-1.5b ";
    char line[512];
    snprintf(line, sizeof line, "%s--by 2026-12-25 --date 2026-12-01", job);
    expect_said(line, 0, "By 2026-12-25 (25 days)");
    snprintf(line, sizeof line, "%s--by 2026-11-30 --date 2026-12-01", job);
    expect_said(line, 4, "2026-11-30 is over: today is 2026-12-01");
    snprintf(line, sizeof line, "%s--by 25", job);
    expect_said(line, 4, "hint: for example --by 33d, or --by 2027-02-01");
}

TEST(nodes_that_fit_into_a_room_fit_when_typed_as_told) {
    EXPECT_INT(ask("power --node dgx-h100 --nodes 125 --power-cap 500W --facility 1.2MW"), 3);
    EXPECT_CONTAINS(printed, "lockstep power --node dgx-h100 --power-cap 500W --facility 1.2MW");
    EXPECT_INT(ask("power --node dgx-h100 --power-cap 500W --facility 1.2MW --nodes 99"), 0);
}

TEST(a_sweep_says_which_settings_have_no_effect_at_any_of_its_points) {
    char folder[] = "/tmp/lockstep-alike-XXXXXX", line[512];
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(line, sizeof line,
             "sweep --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --prefetch 2 "
             "--vary zero=0,1 -o %s/a.db",
             folder);
    EXPECT_INT(ask(line), 0);
    EXPECT_CONTAINS(printed, "! --prefetch has no effect here");
    snprintf(line, sizeof line,
             "sweep --model gpt2-124m --node dgx-h100 --gpus 8 --micro-batch 1 --prefetch 2 "
             "--vary zero=0,3 -o %s/b.db; rm -r %s",
             folder, folder);
    EXPECT_INT(ask(line), 0);
    EXPECT(!strstr(printed, "has no effect"));
}

// ---- The micro-batch that nobody states.

TEST(a_global_batch_alone_is_cut_into_what_fits_and_alike_everywhere) {
    static const char job[] = "--model llama-2-7b --gpus 64 --node dgx-h100 --global-batch 512 --zero 2";
    char line[512];
    static const char *const commands[] = {"run", "memory", "run --micro-batch 2", "explain",
                                           "explain --micro-batch 2"};
    double step = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(line, sizeof line, "%s %s --json", commands[i], job);
        EXPECT_INT(ask(line), 0);
        const char *micro = strstr(printed, "\"micro_batch\": "), *p50 = strstr(printed, "\"p50\": ");
        if (i < 3) EXPECT(micro && strtod(micro + 15, NULL) == 2);
        if (i == 0 && p50) step = strtod(p50 + 7, NULL);
        const char *step_s = strstr(printed, i > 2 ? "\"step_s\": " : "\"p50\": ");
        if (i != 1) EXPECT(step_s && strtod(strchr(step_s, ':') + 1, NULL) == step);
    }
    snprintf(line, sizeof line, "run %s", job);
    expect_said(line, 0, "micro-batch all of a replica's batch that fits");
}

TEST(a_micro_batch_left_open_is_the_largest_that_divides_and_fits) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const Gpu *gpu = catalogue_gpu(catalogue, "A100");
    TrainingSpec job =
        job_usual(find_model(arena, "gpt2-355m", (Where){0}, problems_create(arena)), (GpuTypes){&gpu, 1});
    job.layout = (Layout){.tp = 1, .pp = 1, .vpp = 1};
    for (double share = 1; share <= 512; share *= 2) {
        job.global_batch = 8 * share;
        double micro = micro_batch_assumed(&job, 8, gpu), most = 0;
        for (double m = 1; m <= share; m *= 2) {
            TrainingSpec so = job;
            so.micro_batch = m;
            Memory memory = memory_of_job(&so, 8, gpu, NULL);
            if (memory.peak <= memory.capacity) most = m;
        }
        EXPECT_SAME(micro, most > 0 ? most : 1);
    }
    job.global_batch = 8 * 512;
    EXPECT(micro_batch_assumed(&job, 8, gpu) < 512);
    job.micro_batch = 4;
    EXPECT_SAME(micro_batch_assumed(&job, 8, gpu), 0); // stated
    job.micro_batch = 0;
    job.grad_accumulation = 2;
    EXPECT_SAME(micro_batch_assumed(&job, 8, gpu), 0);
    arena_close(arena);
}

// ---- Remedies and changes.

TEST(a_remedy_for_memory_is_never_empty) {
    static const char job[] = "run --model llama-3.1-8b --node rtx4090-workstation --gpus 1 --seq 2048 --micro-batch 1 "
                              "--global-batch 16 --lora-rank 16 --recompute full --software transformers";
    char line[512];
    snprintf(line, sizeof line, "%s --half-weights", job);
    EXPECT_INT(ask(line), 0);
    EXPECT_CONTAINS(printed, "Fits with   --nf4-weights (");
    expect_said(job, 3, "Fits with  --nf4-weights (");
    snprintf(line, sizeof line, "%s --nf4-weights", job);
    EXPECT_INT(ask(line), 0);
    EXPECT(!strstr(printed, "Fits with"));
}

TEST(what_costs_least_of_a_step_is_the_first_remedy) {
    expect_said("run --model llama-2-7b --gpus 64 --node dgx-h100 --global-batch 512", 3, "Fits with  --zero 1 (");
}

// Without --global-batch the samples of a step follow the replicas: who types the change must say them.
TEST(a_change_is_said_as_it_is_typed_with_the_batch_that_it_keeps) {
    static const char job[] = "--model gpt2-1.5b --gpus 16 --micro-batch 4 --zero 1 --node dgx-a100 --fabric eth-10g";
    char line[1024];
    snprintf(line, sizeof line, "explain %s -v", job);
    EXPECT_INT(ask(line), 0);
    EXPECT_CONTAINS(printed, "--pp 2 --global-batch 64");
    EXPECT(!strstr(printed, "zero = ") && !strstr(printed, "pp = "));
}

TEST(the_precision_of_a_hint_is_the_nearest_that_the_gpu_has) {
    expect_said("run --model gpt2-124m --micro-batch 1 --node dgx-h100 --gpus 8 --precision fp4", 4,
                "use --precision fp8");
    expect_said("run --model gpt2-124m --micro-batch 1 --node dgx-a100 --gpus 8 --precision fp8", 4,
                "use --precision bf16");
}

// ---- Money and days.

TEST(a_machine_of_a_provider_is_rented_whole) {
    static const char *const asked[] = {"cost --node aws-p5.48xlarge --gpus 12",
                                        "cost --node aws-p5.48xlarge --nodes 2"};
    char first[64] = "";
    for (int i = 0; i < 2; i++) {
        EXPECT_INT(ask(asked[i]), 0);
        char hour[64];
        snprintf(hour, sizeof hour, "%.*s", (int)strcspn(printed, ","), printed);
        if (i == 0) snprintf(first, sizeof first, "%s", hour);
        EXPECT_TEXT(hour, first);
    }
}

// Half of what a few lives wait is in no median: chosen is by the mean, as in goodput --best.
TEST(the_mean_life_has_the_cost_of_its_days) {
    RecordPoint point = {.ran = true, .days = 10, .days_mean = 12, .cost_per_run = 100, .energy_kwh = 5};
    RecordPoint mean = plan_mean_life(&point);
    EXPECT_NEAR(mean.days, 12, 1e-12);
    EXPECT_NEAR(mean.cost_per_run, 120, 1e-9);
    EXPECT_NEAR(mean.energy_kwh, 6, 1e-9);
    point.term_days = 365;
    EXPECT_NEAR(plan_mean_life(&point).cost_per_run, 100, 1e-9); // in the same term
    point.days_mean = 0;
    EXPECT_NEAR(plan_mean_life(&point).days, 10, 0); // nothing fails
}

// Nine times in ten: a run that hardly fails takes no less than its fastest steps, and may take its slowest.
TEST(days_with_failures_reach_as_far_to_the_slow_side_as_steps_do) {
    EXPECT_INT(ask("run scenarios/examples/weeks_with_failures.lua --json"), 0);
    const char *range = strstr(printed, "\"days_range\""), *step = strstr(printed, "\"step_time_s\"");
    EXPECT(range && step);
    if (!range || !step) return;
    double fast = strtod(strstr(step, "\"p5\": ") + 6, NULL), usual = strtod(strstr(step, "\"p50\": ") + 7, NULL),
           slow = strtod(strstr(step, "\"p95\": ") + 7, NULL);
    double days = strtod(strstr(printed, "\"days\": ") + 8, NULL);
    EXPECT_NEAR(strtod(strstr(range, "\"p5\": ") + 6, NULL) / (days * fast / usual), 1, 0.06);
    EXPECT_NEAR(strtod(strstr(range, "\"p95\": ") + 7, NULL) / (days * slow / usual), 1, 0.06);
}
