// Steps and learning rates by batch: the law, a curve, and what cannot be read.
#include "scenarios/plan/plan.h"

#include <unistd.h>

#include "tests/test.h"

TEST(twice_the_critical_batch_needs_half_as_many_more_steps_than_the_least) {
    BatchLaw law = {.critical_batch = 1000, .least_steps = 20000};
    EXPECT_NEAR(batch_law_steps(&law, 2000), 30000, 1e-12);
    EXPECT_NEAR(batch_law_steps(&law, 1000), 40000, 1e-12);
    EXPECT_NEAR(batch_law_steps(&law, 10), 20000 * 101.0, 1e-12);
}

// Samples are S_min (B + B_crit): the last halving of the batch saves almost none, the last doubling costs twice.
TEST(samples_grow_with_the_batch_as_the_law_has_it) {
    BatchLaw law = batch_law_from_run(4096, 256, 256.0 * 450000);
    EXPECT_NEAR(batch_law_steps(&law, 256), 450000, 1e-12); // the run it was made from
    for (double batch = 1; batch <= 65536; batch *= 2)
        EXPECT_NEAR(batch_law_steps(&law, batch) * batch, 450000.0 * 256 * (batch + 4096) / (256 + 4096), batch * 1e-6);
}

static BatchLaw curve_of(Arena *arena, const char *text, Problems *problems) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/lockstep-curve-%d.csv", (int)getpid());
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    BatchLaw law = batch_law_read(arena, path, problems);
    remove(path);
    return law;
}

TEST(a_curve_goes_through_its_points_and_as_a_power_between_them) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    BatchLaw law = curve_of(arena, "batch,steps\n256,450000\n1024,112500\n16384,14063\n", problems);
    EXPECT_INT(problem_count(problems), 0);
    EXPECT_NEAR(batch_law_steps(&law, 256), 450000, 1e-12);
    EXPECT_NEAR(batch_law_steps(&law, 512), 225000, 1e-9); // inversely between the first two
    EXPECT_NEAR(batch_law_steps(&law, 16384), 14063, 1e-12);
    EXPECT(isnan(batch_law_steps(&law, 128)) && isnan(batch_law_steps(&law, 32768)));
    arena_close(arena);
}

TEST(curves_that_say_nothing_are_refused) {
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"batch,steps\n", "no row"},
        {"batch,step\n256,1\n", "steps"},
        {"batch,steps\n256,100\n128,200\n", "comes after"},
        {"batch,steps\n0,100\n", "batch"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        curve_of(arena, cases[i].text, problems);
        EXPECT_INT(problem_count(problems), 1);
        if (problem_count(problems)) EXPECT_CONTAINS(problem_at(problems, 0)->text, cases[i].part);
        arena_close(arena);
    }
}

TEST(learning_rates_follow_the_linear_and_the_square_root_rule) {
    BatchLaw law = {.reference_batch = 256, .learning_rate = 0.1};
    EXPECT_NEAR(learning_rate_at(&law, RATE_LINEAR, 8192), 3.2, 1e-12); // Goyal et al. 2017
    EXPECT_NEAR(learning_rate_at(&law, RATE_SQUARE_ROOT, 1024), 0.2, 1e-12);
}
