// Random times by class: what the slowest of many take, drawn at once, beside every GPU's own draws.
#include <math.h>

#include "scenarios/commands/command_run.h"
#include "sim/base/statistics.h"
#include "sim/fold.h"
#include "sim/run.h"
#include "tests/command.h"
#include "tests/jobs.h"
#include "tests/test.h"

#define SIGMA 0.1

// One actor that works `works` times and meets those like it, again and again; or whose copies meet.
static double mean_end(double ranks, bool crosses, int works, int copies, double *sd) {
    enum { MEETINGS = 20, SEEDS = 200 };
    Arena *arena = arena_open();
    Op ops[MEETINGS * 8];
    int count = 0;
    for (int m = 0; m < MEETINGS; m++) {
        for (int w = 0; w < works; w++) ops[count++] = (Op){.kind = OP_WORK, .time = 1000000};
        ops[count++] = (Op){.kind = OP_TRANSFER};
    }
    Plan plan = {.latency = 1};
    Channel channel = {.plans = &plan, .plan_count = 1, .member_count = 1};
    Stream stream = {"main", ops, count};
    Program program = {.streams = &stream, .stream_count = 1, .slot_count = 1};
    int32_t slot = 0;
    Actor actor = {.channels = &slot, .slowness = 1, .multiplicity = ranks};
    const char *const causes[] = {"all"};
    System system = {.programs = &program,
                     .program_count = 1,
                     .actors = &actor,
                     .actor_count = 1,
                     .channels = &channel,
                     .channel_count = 1,
                     .causes = causes,
                     .cause_count = 1};
    System sampled = sample_system(arena, &system, &(Crowd){ranks, crosses}, copies, SIGMA);
    double ends[SEEDS];
    for (int s = 0; s < SEEDS; s++) {
        RunResult result = run_system(arena, &sampled, &(RunOptions){.seed = (uint64_t)s + 1});
        EXPECT_INT(result.deadlocked_count, 0);
        ends[s] = (double)result.end / 1e6 / MEETINGS;
    }
    Summary summary = summarise(arena, ends, SEEDS);
    *sd = summary.sd / sqrt(SEEDS);
    arena_close(arena);
    return summary.mean;
}

// The mean of the largest of so many normal variables, in sigmas (Tippett, 1925).
TEST(the_slowest_of_a_class_takes_what_order_statistics_say) {
    static const struct { double ranks, largest; } known[] = {{1, 0}, {2, 0.5642}, {8, 1.4236}, {100, 2.5076}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int works = 1; works <= 4; works += 3) {
            double sd, sigma = SIGMA / sqrt(works), mean = mean_end(known[i].ranks, false, works, 1, &sd) / works;
            // Of a lognormal of mean 1, to the second order in sigma: the mean square of the largest of 100 is 6.5.
            double square = known[i].ranks == 1 ? 1 : known[i].ranks == 100 ? 6.471 : known[i].ranks == 8 ? 2.3996 : 1;
            EXPECT_NEAR(mean, 1 + sigma * known[i].largest + sigma * sigma / 2 * (square - 1), 4 * sd / works + 3e-4);
        }
}

TEST(copies_that_meet_wait_for_the_slowest_that_was_not_sampled) {
    double sd, all = mean_end(64, true, 4, 64, &sd), few = mean_end(64, true, 4, 8, &sd);
    EXPECT_NEAR(all, 4 + 2 * SIGMA * 2.35 + SIGMA * SIGMA / 2 * 4.66, 0.01);
    EXPECT_NEAR(few, all, 0.03); // of 0.5: as if they were normal
    EXPECT_NEAR(mean_end(8, true, 4, 8, &sd), 4 + 2 * SIGMA * 1.4236 + SIGMA * SIGMA / 2 * 1.4, 0.01);
    EXPECT_NEAR(mean_end(1e6, true, 4, 8, &sd), 4 + 2 * SIGMA * 4.86, 0.04);
}

// ---- Whole steps.

typedef struct StepCase {
    const char *model;
    int gpus;
    Layout layout;
    double micro_batches;
} StepCase;

static Summary steps_of(const StepCase *which, JitterBy by, int seeds) {
    enum { MOST = 64 };
    double steps[MOST];
    Case c;
    case_open(&c, which->gpus, which->model);
    c.training.layout = which->layout;
    c.training.micro_batch = 1;
    int replicas = which->gpus / (which->layout.tp * which->layout.pp * (which->layout.cp ? which->layout.cp : 1));
    c.training.global_batch = which->micro_batches * replicas;
    c.training.jitter = 0.05;
    c.training.jitter_by = by;
    for (int s = 0; s < seeds; s++) {
        SimulationOptions options = {.seed = (uint64_t)s + 1};
        SimulatedStep step = simulate_step(c.arena, c.cluster, &c.training, &options, c.problems);
        EXPECT(step.ran);
        steps[s] = step.step_p50_s;
    }
    Summary summary = summarise(c.arena, steps, seeds);
    arena_close(c.arena);
    return summary;
}

// Both draw, so they agree as far as so many draws can show, and within 0.3 % beyond that.
TEST(a_step_by_class_takes_what_one_of_every_gpu_takes) {
    static const StepCase cases[] = {
        {"gpt2-355m", 16, {.tp = 1, .pp = 1, .vpp = 1}, 2},
        {"gpt2-355m", 32, {.tp = 1, .pp = 1, .vpp = 1, .zero = 3}, 1},
        {"gpt2-355m", 32, {.tp = 8, .pp = 1, .vpp = 1, .sequence_parallel = true}, 4},
        {"gpt2-355m", 32, {.tp = 2, .pp = 4, .vpp = 1, .sequence_parallel = true}, 8},
        {"gpt2-355m", 32, {.tp = 2, .cp = 2, .pp = 2, .vpp = 1, .sequence_parallel = true}, 4},
        {"gpt2-355m", 24, {.tp = 2, .pp = 3, .vpp = 2, .sequence_parallel = true}, 6},
    };
    enum { SEEDS = 16 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Summary every = steps_of(&cases[i], JITTER_BY_GPU, SEEDS), class = steps_of(&cases[i], JITTER_BY_CLASS, SEEDS);
        double error = sqrt((every.sd * every.sd + class.sd * class.sd) / SEEDS);
        EXPECT(error < 0.01 * every.mean);
        if (fabs(class.mean - every.mean) > 3 * error + 0.003 * every.mean)
            test_fail(__FILE__, __LINE__, "case %zu: %.6g s by class, %.6g s by GPU, +- %.2g", i, class.mean,
                      every.mean, error);
        EXPECT(class.sd<3 * every.sd &&class.sd> every.sd / 3);
    }
}

TEST(jitter_by_class_repeats_with_its_seed_and_costs_nothing_without_jitter) {
    Case c;
    case_open(&c, 32, "gpt2-355m");
    c.training.layout = (Layout){.tp = 2, .pp = 4, .vpp = 1};
    c.training.global_batch = 32;
    uint64_t digests[2][2];
    for (int by = 0; by < 2; by++)
        for (int draws = 0; draws < 2; draws++) {
            c.training.jitter_by = (JitterBy)by;
            c.training.jitter = draws * 0.05;
            digests[by][draws] = simulate(&c, false).digest;
            EXPECT(digests[by][draws] == simulate(&c, false).digest);
        }
    EXPECT(digests[0][0] == digests[1][0]);
    EXPECT(digests[0][1] != digests[1][1] && digests[1][0] != digests[1][1]);
    arena_close(c.arena);
}

TEST(what_is_not_alike_is_not_drawn_by_class) {
    const Ended *ended = run_wide(command_run, "run --model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 "
                                               "--jitter 0.05 --jitter-by class --straggler 1.2");
    EXPECT(ended->code != 0);
    EXPECT_CONTAINS(ended->err, "jitter cannot be drawn by class where one rank is slower");
    EXPECT_CONTAINS(ended->err, "--jitter-by gpu");
}
