// Two answers beside each other: parts sum to the difference, and settings' parts do.
#include "scenarios/explain/diff.h"

#include "scenarios/explain/command_diff.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

#include <stdlib.h>

static const StudySpec *study_in(const Loaded *loaded) { return loaded->scenario->items[0].study; }

static Loaded job(const char *parallel, const char *more) {
    char text[1024];
    snprintf(text, sizeof text,
             "local sim = require \"lockstep\"\n"
             "local cluster = sim.cluster { node = \"dgx-a100-80gb\", gpus = 16, fabric = \"ib-hdr200\" }\n"
             "return sim.study { on = cluster, run = sim.training { model = \"gpt2-355m\", seq_len = 1024,\n"
             "  parallel = { %s }, %s } }\n",
             parallel, more);
    return load_script(text, NULL);
}

static Diff diff_of(Arena *arena, const Loaded *a, const Loaded *b, DiffSide sides[2], Problems *problems) {
    EXPECT(diff_side_of_study(arena, study_in(a), "A", &sides[0], problems));
    EXPECT(diff_side_of_study(arena, study_in(b), "B", &sides[1], problems));
    return diff_sides(arena, &sides[0], &sides[1], problems);
}

static void expect_sums(const Diff *diff) {
    double apart = diff->b->step_s - diff->a->step_s, time = 0, settings = 0;
    for (int i = 0; i < diff->time_count; i++) time += diff->time[i].b - diff->time[i].a;
    for (int i = 0; i < diff->setting_count; i++) settings += diff->settings[i].seconds;
    EXPECT_NEAR(time, apart, 2e-9 * diff->a->step_s);
    if (diff->order != DIFF_NOT_ATTRIBUTED) EXPECT_NEAR(settings, apart, 1e-9 * diff->a->step_s);
}

static double part_of(const Diff *diff, const char *setting) {
    for (int i = 0; i < diff->setting_count; i++)
        if (strcmp(diff->settings[i].name, setting) == 0) return diff->settings[i].seconds;
    return NAN;
}

TEST(parts_of_a_difference_sum_to_it_by_cause_and_by_setting) {
    Loaded a = job("tp = 2", "batch = { global = 64, micro = 4 }");
    Loaded b =
        job("tp = 4", "batch = { global = 64, micro = 8 }, recompute = \"full\", overlap = { grad_reduce = false }");
    DiffSide sides[2];
    Problems *problems = problems_create(a.arena);
    Diff diff = diff_of(a.arena, &a, &b, sides, problems);
    EXPECT_INT(diff.order, DIFF_ALL_ORDERS);
    EXPECT_INT(diff.setting_count, 4);
    EXPECT_INT(diff.simulated, 16);
    expect_sums(&diff);
    EXPECT(part_of(&diff, "recompute") > 0);
    EXPECT(part_of(&diff, "overlap.grad_reduce") > 0);
    unload(&b);
    unload(&a);
}

// Shapley's mean of two orders, from four steps simulated one by one.
TEST(the_parts_of_two_settings_are_the_means_of_both_orders) {
    const char *const parallel[] = {"tp = 2", "tp = 4"}, *const rest[] = {"batch = { global = 64, micro = 4 }",
                                                                          "batch = { global = 64, micro = 8 }"};
    Loaded jobs[4];
    double step[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = job(parallel[i & 1], rest[i >> 1]);
        DiffSide side;
        EXPECT(diff_side_of_study(jobs[i].arena, study_in(&jobs[i]), "a job", &side, jobs[i].problems));
        step[i] = side.step_s;
    }
    DiffSide sides[2];
    Diff diff = diff_of(jobs[0].arena, &jobs[0], &jobs[3], sides, jobs[0].problems);
    EXPECT_NEAR(part_of(&diff, "parallel.tp"), (step[1] - step[0] + step[3] - step[2]) / 2, 1e-12);
    EXPECT_NEAR(part_of(&diff, "batch.micro"), (step[2] - step[0] + step[3] - step[1]) / 2, 1e-12);
    for (int i = 3; i >= 0; i--) unload(&jobs[i]);
}

// vpp without pp does not run: the order that begins with it is left out.
TEST(an_order_that_cannot_be_gone_does_not_count) {
    Loaded a = job("pp = 1", "batch = { global = 64, micro = 4 }");
    Loaded b = job("pp = 2, vpp = 2", "batch = { global = 64, micro = 4 }");
    DiffSide sides[2];
    Problems *problems = problems_create(a.arena);
    Diff diff = diff_of(a.arena, &a, &b, sides, problems);
    EXPECT_INT(diff.order, DIFF_POSSIBLE_ORDERS);
    expect_sums(&diff);
    unload(&b);
    unload(&a);
}

TEST(what_is_the_same_differs_in_nothing) {
    Loaded a = job("tp = 2", "batch = { global = 64, micro = 4 }"),
           b = job("tp = 2", "batch = { global = 64, micro = 4 }");
    DiffSide sides[2];
    Diff diff = diff_of(a.arena, &a, &b, sides, a.problems);
    EXPECT_INT(diff.setting_count, 0);
    for (int i = 0; i < diff.time_count; i++) EXPECT_SAME(diff.time[i].a, diff.time[i].b);
    unload(&b);
    unload(&a);
}

TEST(machines_that_differ_are_settings_too) {
    const Ended *ended = run_command(command_diff, "diff --json --a= --b=");
    EXPECT_INT(ended->code, 4); // nothing is said of a job
    Loaded a = load_returning("sim.study { on = sim.cluster { node = \"dgx-a100-80gb\", gpus = 8 }, "
                              "run = sim.training { model = \"gpt2-124m\", batch = { global = 64, micro = 4 } } }",
                              NULL);
    Loaded b = load_returning("sim.study { on = sim.cluster { node = \"dgx-h100\", gpus = 4 }, "
                              "run = sim.training { model = \"gpt2-124m\", batch = { global = 64, micro = 4 } } }",
                              NULL);
    DiffSide sides[2];
    Diff diff = diff_of(a.arena, &a, &b, sides, a.problems);
    expect_sums(&diff);
    EXPECT(part_of(&diff, "node") != 0);
    EXPECT(part_of(&diff, "gpus") > 0);
    unload(&b);
    unload(&a);
}

static void write_text(const char *folder, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    fputs(text, file);
    fclose(file);
}

static const Ended *diff_in(const char *folder, const char *a, const char *b, const char *more) {
    char line[512];
    snprintf(line, sizeof line, "diff %s/%s %s/%s%s", folder, a, folder, b, more);
    return run_command(command_diff, line);
}

TEST(records_and_measured_rows_are_compared_without_simulating) {
    char name[] = "/tmp/lockstep-diff-XXXXXX", path[128];
    const char *folder = mkdtemp(name);
    EXPECT(folder != NULL);
    write_text(folder, "a.json",
               "{\"step_time_s\": {\"p50\": 2.0}, \"exposed_s\": {\"gemm\": 1.5, \"dp\": 0.5}, \"gpus\": 8, "
               "\"layout\": {\"tp\": 1}}");
    write_text(folder, "b.csv", "step_p50_s,exposed_gemm_s,note\n9,9,x\n1.7,1.5,y\n");
    const Ended *ended = diff_in(folder, "a.json", "b.csv", " --row-b 2 --csv");
    EXPECT_INT(ended->code, 0);
    EXPECT(strstr(ended->out, "Data parallel,0.5,0,-0.5,-0.25\n"));
    EXPECT(strstr(ended->out, "Of no cause that was told,0,0.19999999999999996,"));
    EXPECT(strstr(ended->out, "Step,2,1.7,"));
    ended = diff_in(folder, "a.json", "b.csv", " --row-b 3");
    EXPECT_INT(ended->code, 4);
    EXPECT(strstr(ended->err, "there is no row 3 among its 2"));
    EXPECT_INT(diff_in(folder, "none.json", "a.json", "")->code, 4);
    EXPECT_INT(run_command(command_diff, "diff a.json")->code, 2);
    EXPECT_INT(run_command(command_diff, "diff a.txt b.txt")->code, 2);
    static const char *const files[] = {"a.json", "b.csv", ""};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
}
