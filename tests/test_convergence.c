// The critical batch: first against points made by its law, then what it says of MLPerf's benchmarks.
#include <math.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "models/workload/convergence/critical_batch.h"
#include "scenarios/plan/plan_question.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/test.h"

TEST(two_points_of_the_law_give_its_two_numbers_back) {
    for (double critical = 100; critical < 1e6; critical *= 7) {
        ConvergencePoint points[] = {{critical / 3, 5 * (1 + 1 / 3.0)}, {2 * critical, 15}};
        CriticalBatch fitted = critical_batch_fit(points, 2, &(CriticalBatchPrior){0, INFINITY});
        EXPECT_NEAR(fitted.batch, critical, 0.01);
        EXPECT_NEAR(fitted.amount, 5, 0.01);
        EXPECT_NEAR(critical_batch_amount(&fitted, critical), 10, 0.01);
        EXPECT(fitted.p5 < critical && critical < fitted.p95);
    }
}

// One point says nothing of the curve: the answer is the prior's, with its range.
TEST(of_one_point_the_critical_batch_is_that_of_the_prior) {
    ConvergencePoint point = {64, 3};
    CriticalBatchPrior prior = {log(640), 0.5};
    CriticalBatch fitted = critical_batch_fit(&point, 1, &prior);
    EXPECT_NEAR(fitted.batch, 640, 0.01);
    EXPECT_NEAR(fitted.p5, 640 * exp(-1.645 * 0.5), 0.02);
    EXPECT_NEAR(fitted.p95, 640 * exp(1.645 * 0.5), 0.02);
    EXPECT_NEAR(critical_batch_amount(&fitted, 64), 3, 1e-9);
}

TEST(more_points_narrow_the_range) {
    ConvergencePoint points[6];
    for (int i = 0; i < 6; i++) points[i] = (ConvergencePoint){100 << i, 7 * (1 + (100 << i) / 900.0)};
    CriticalBatchPrior prior = {log(500), 1.2};
    double width = INFINITY;
    for (int count = 1; count <= 6; count++) {
        CriticalBatch fitted = critical_batch_fit(points, count, &prior);
        double next = log(fitted.p95 / fitted.p5);
        EXPECT(next <= width);
        width = next;
    }
    EXPECT(width < 0.4);
}

// At its own batch of 16.8 M tokens Llama 3 405B (15 T tokens) was no further than its critical batch.
TEST(the_critical_batch_of_language_models_grows_as_the_root_of_tokens) {
    CriticalBatchPrior few = critical_batch_of_tokens(1e10), many = critical_batch_of_tokens(1e12);
    EXPECT_NEAR((many.log_mean - few.log_mean) / log(100), 0.466, 1e-9);
    CriticalBatchPrior llama = critical_batch_of_tokens(15e12);
    EXPECT(exp(llama.log_mean) > 16.8e6 && exp(llama.log_mean) < 200e6);
    EXPECT(few.log_sigma >= 0.5 && few.log_sigma < 1.5);
}

static double mean_error(const Json *json, const char *known) {
    const Json *errors = json_get(json, known), *mean = errors ? json_get(errors, "mean_pct") : NULL;
    return mean ? mean->number : NAN;
}

TEST(mlperf_benchmarks_left_out_are_predicted_within_15_percent_up_to_eight_times_a_known_batch) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Ended *ended = run_asked(&validate_convergence_question, "convergence --json");
    EXPECT_INT(ended->code, 0);
    const Json *json = json_read_text(arena, "answer", ended->out, strlen(ended->out), problems);
    EXPECT(json != NULL);
    EXPECT(mean_error(json, "smallest") < 15);
    EXPECT(mean_error(json, "smaller") < 15);
    EXPECT(mean_error(json, "ends") < 10);
    EXPECT(mean_error(json, "smallest_far") > 50); // and beyond it one batch does not tell
    arena_close(arena);
}

TEST(a_plan_says_when_its_batch_is_beyond_the_critical_batch) {
#define ASKED                                                                                                          \
    "plan --model gpt2-355m --tokens 30B --node dgx-a100 --gpus 8 --tp 1 --pp 1 --micro-batch 8 --price 2 -j 1 "       \
    "--global-batch "
    EXPECT_CONTAINS(run_command(command_plan, ASKED "8192")->out, "beyond the critical batch of about 3.15 M");
    EXPECT(strstr(run_command(command_plan, ASKED "512")->out, "critical batch") == NULL);
    EXPECT(strstr(run_command(command_plan, ASKED "8192 --critical-batch 100000 --reference-batch 512")->out,
                  "beyond the critical batch") == NULL);
#undef ASKED
}
