// A cluster as an electric load: against formulas of a square wave, and its mean against the energy of the step.
#include <math.h>

#include "models/workload/money/money.h"
#include "models/workload/step/simulate.h"
#include "scenarios/trace/trace.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/explain_jobs.h"
#include "tests/script.h"
#include "tests/test.h"

#define HIGH 300.0
#define LOW 100.0

// HIGH for a quarter of a step of 2 s, LOW for the rest.
static const StepLoad *square(void) {
    static const double from[] = {0, 0.5}, watts[] = {HIGH, LOW}, area[] = {0, 0.5 * HIGH};
    static StepLoad load = {.seconds = 2, .count = 2, .from_s = from};
    for (int f = 0; f < LOAD_FLOORS; f++) load.watts[f] = watts, load.area[f] = area;
    return &load;
}

TEST(a_square_wave_swings_ramps_and_sounds_as_formulas_say) {
    LoadSwing swing = load_swing(square(), 0, 0.02, 0.1);
    EXPECT_NEAR(swing.mean, 150, 1e-12);
    EXPECT_NEAR(swing.least, LOW, 1e-9);
    EXPECT_NEAR(swing.most, HIGH, 1e-9);
    EXPECT_NEAR(swing.ramp, (HIGH - LOW) / 0.1, 1e-6);
    // A window of the step sees nothing; one of twice the high part sees half of it.
    EXPECT_NEAR(load_swing(square(), 0, 2, 0.1).most, 150, 1e-9);
    EXPECT_NEAR(load_swing(square(), 0, 1, 0.1).most, (HIGH + LOW) / 2, 1e-9);
    EXPECT_NEAR(load_swing(square(), 0, 1, 0.1).ramp, (HIGH - LOW) / 1, 1e-6);
    EXPECT_NEAR(load_swing(square(), 0, 5, 0.1).mean, 150, 1e-12);

    double means[4096];
    load_means(square(), 0, 4096, means);
    for (int k = 1; k <= 8; k++) // of height h and share d: 2 h / (pi k) |sin(pi k d)|
        EXPECT_NEAR(1 + load_tone(means, 4096, k), 1 + 2 * (HIGH - LOW) / (M_PI * k) * fabs(sin(M_PI * k / 4)), 1e-4);
    LoadStore store = load_store(means, 4096, 2);
    EXPECT_NEAR(store.watts, HIGH - 150, 1e-9);
    EXPECT_NEAR(store.joules, (HIGH - 150) * 0.5, 1e-6);

    Arena *arena = arena_open();
    const StepLoad *longer = step_load_stretched(arena, square(), 3);
    EXPECT_NEAR(load_swing(longer, 0, 3, 0.1).most, (HIGH + LOW) / 2, 1e-9);
    EXPECT_NEAR(longer->seconds, 6, 1e-12);
    arena_close(arena);
}

// What GPUs draw in the mean is what the step's energy counts with; folded or not the load is the same function.
TEST(the_mean_of_a_load_is_the_power_of_the_step) {
    int ran = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Arena *arena = arena_open();
        Job job;
        draw_job(&job, arena, test_catalogue(), seed);
        Problems *problems = job.problems;
        TrainingSpec *training = &job.study.training;
        training->own_code = false; // whose loss is put on a step afterwards
        const Cluster *cluster = cluster_create(arena, test_catalogue(), &job.cluster, problems);
        if (!cluster) test_fail(__FILE__, __LINE__, "seed %d has no cluster", (int)seed);
        SimulationOptions options = {.runs = 1, .seed = 1, .assume_fits = true, .load = true};
        SimulatedStep folded = simulate_step(arena, cluster, training, &options, problems);
        options.unfolded = true;
        SimulatedStep whole = folded.load ? simulate_step(arena, cluster, training, &options, problems) : folded;
        if (folded.load && whole.load) {
            ran++;
            ActivityMix mix = activity_of_step(folded.spent);
            double watts = 0;
            for (int rank = 0; rank < cluster->gpu_count; rank++) watts += gpu_mix_watts(cluster->gpu_of[rank], &mix);
            LoadSwing swing = load_swing(folded.load, 0, 0.02, 0.1), all = load_swing(whole.load, 0, 0.02, 0.1);
            EXPECT_NEAR(swing.mean / watts, 1, 1e-9);
            EXPECT_NEAR(all.mean / swing.mean, 1, 1e-9);
            EXPECT_NEAR(all.most / swing.most, 1, 1e-9);
            EXPECT_NEAR(all.ramp, swing.ramp, 1e-6 * all.most);
            for (int f = 1; f < LOAD_FLOORS; f++)
                EXPECT(load_swing(folded.load, f, 0.02, 0.1).mean >= swing.mean - 1e-9);
        }
        arena_close(arena);
    }
    EXPECT(ran > 20);
}

TEST(trace_says_the_load_of_a_job_and_of_nothing_else) {
    static const char job[] =
        "trace --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --load";
    EXPECT_CONTAINS(run_command(command_trace, job)->out, "The site draws");
    EXPECT_CONTAINS(run_command(command_trace, job)->out, "GPUs never below 70 % of their limit");
    static char said[1 << 14], line[2048];
    EXPECT_INT(test_shell("$LOCKSTEP trace --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 "
                          "--jitter 0.05 --seed 3 --load --csv",
                          said, sizeof said),
               0);
    const char *script =
        "local sim = require 'lockstep' return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8 "
        "}, run = sim.training { model = 'gpt2-124m', batch = { micro = 1, global = 8 }, jitter = 0.05 } }";
    snprintf(line, sizeof line,
             "echo \"%s\" > /tmp/lockstep-load.lua && $LOCKSTEP trace /tmp/lockstep-load.lua --seed 3 --load --csv "
             "&& rm /tmp/lockstep-load.lua",
             script);
    static char scripted[1 << 14];
    EXPECT_INT(test_shell(line, scripted, sizeof scripted), 0);
    EXPECT_TEXT(scripted, said);
    EXPECT_INT(test_shell("$LOCKSTEP trace scenarios/lessons/ring_all_reduce.lua --load 2>&1", said, sizeof said), 2);
    EXPECT_CONTAINS(said, "--load is of a job's steps");
}
