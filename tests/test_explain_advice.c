// Whatever is advised is quicker: alone, in pairs, and with a third, of jobs with room in memory and of jobs without.
#include <math.h>
#include <string.h>

#include "scenarios/explain/explain.h"
#include "tests/explain_jobs.h"
#include "tests/script.h"
#include "tests/test.h"

static const Explanation *explain(Job *job) {
    ExplainRequest request = {.study = &job->study, .pairs = 400};
    const Explanation *now = explain_study(job->arena, &request, job->problems);
    return now && now->job.step.chain && !now->job.must_fit ? now : NULL;
}

static double alone(const Explanation *now, const Move *move) {
    for (int i = 0; i < now->job.tried.count; i++) {
        const WhatIf *change = &now->job.tried.items[i];
        if (change->move == move && change->ran && fits_no_worse(&now->job, change)) return change->gain.mean;
    }
    return 0;
}

// More than each of its parts that could be advised alone, and more than nothing.
static void expect_quicker(const Explanation *now) {
    if (now->job.first) EXPECT(now->job.first->gain.mean > 0 && now->job.first->then < now->job.point.step_p50_s);
    for (int i = 0; i < now->job.together.count; i++) {
        const Combination *one = &now->job.together.items[i];
        if (!(one->whole.gain.mean > 0 && one->whole.then < now->job.point.step_p50_s))
            test_fail(__FILE__, __LINE__, "%s together save %g s of %g s", one->whole.title, one->whole.gain.mean,
                      now->job.point.step_p50_s);
        EXPECT(one->whole.ran && fits_no_worse(&now->job, &one->whole));
        for (int part = 0; part < one->count; part++) EXPECT(one->whole.gain.mean > alone(now, one->parts[part]));
    }
    const Combination *some = step_leading(&now->job);
    if (some) EXPECT(some->whole.gain.mean > (now->job.first ? now->job.first->gain.mean : 0));
    for (int i = 0; some && i < now->job.together.count; i++)
        EXPECT(some->whole.gain.mean >= now->job.together.items[i].whole.gain.mean);
}

TEST(no_combination_that_slows_a_step_is_advised) {
    int jobs = 0, together = 0;
    FOR_SEEDS (seed, 101, 108) {
        Arena *arena = arena_open();
        Job job;
        draw_job(&job, arena, test_catalogue(), seed);
        const Explanation *now = explain(&job);
        if (now) expect_quicker(now);
        jobs += now != NULL;
        together += now ? now->job.together.count : 0;
        arena_close(arena);
    }
    EXPECT(jobs >= 4 && together > 20);
}

// Jobs that nearly fill memory: much of what saves time does not fit alone, and what makes room for it costs time.
TEST(no_combination_that_slows_a_step_is_advised_where_memory_is_short) {
    static const struct {
        const char *model, *recompute;
        int tp, zero, micro;
    } cases[] = {{"gpt2-355m", "none", 2, 0, 32},
                 {"gpt3-2.7b", "none", 2, 0, 1},
                 {"gpt3-2.7b", "selective", 4, 1, 8},
                 {"gpt3-2.7b", "full", 2, 0, 8},
                 {"llama-2-7b", "full", 2, 1, 2}};
    int together = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        Job job;
        job_on(&job, arena, test_catalogue(), "aws-p4d.24xlarge", "efa-100", 16, cases[i].model);
        job_say_number(arena, &job.said, JOB_PARALLEL, "tp", cases[i].tp);
        job_say_flag(arena, &job.said, JOB_PARALLEL, "sequence_parallel", false); // which would make room
        job_say_number(arena, &job.said, JOB_BATCH, "micro", cases[i].micro);
        job_say_number(arena, &job.said, JOB_BATCH, "global", 512);
        job_say_number(arena, &job.said, JOB_TRAINING, "zero", cases[i].zero);
        job_say_name(arena, &job.said, JOB_TRAINING, "recompute", cases[i].recompute);
        job_made(&job);
        const Explanation *now = explain(&job);
        EXPECT(now && now->job.point.memory_peak_bytes > 0.6 * now->job.point.memory_capacity_bytes);
        if (now) expect_quicker(now);
        together += now ? now->job.together.count : 0;
        arena_close(arena);
    }
    EXPECT(together > 50);
}

// Three kinds of cards, each in a machine of its own, over 1 Gb/s: one of them alone is many times as quick as all.
TEST(slow_partners_are_left_out_first_and_no_change_saves_all_of_a_step) {
    Loaded loaded =
        load_returning("sim.study { on = sim.cluster { fabric = sim.single_switch { link = \"eth-1g\" }, "
                       "nodes = { { node = \"rtx4090-workstation\", gpus = 1 }, "
                       "{ node = \"rtx4090-workstation\", gpu = \"RTX3090\", gpus = 1 }, "
                       "{ node = \"rtx4090-workstation\", gpu = \"T4\", gpus = 1 }, "
                       "{ node = \"rtx4090-workstation\", gpus = 1 } } }, "
                       "run = sim.training { model = \"gpt2-124m\", seq_len = 1024, software = \"pytorch\", "
                       "batch = { micro = 4, global = 32 } } }",
                       NULL);
    EXPECT(loaded.scenario && loaded.scenario->item_count == 1);
    ExplainRequest request = {.study = loaded.scenario->items[0].study, .pairs = 20};
    const Explanation *now = explain_study(loaded.arena, &request, loaded.problems);
    EXPECT(now && now->job.first);
    EXPECT_TEXT(now->job.first->title, "only 1 x RTX4090");
    EXPECT(now->job.first->then < 0.1 * now->job.point.step_p50_s);
    bool without = false;
    for (int i = 0; i < now->job.tried.count; i++) {
        const WhatIf *change = &now->job.tried.items[i];
        if (change->ran)
            EXPECT(change->gain.high < now->job.point.step_p50_s && change->gain.mean <= now->job.first->gain.mean);
        without = without || strcmp(change->title, "without 1 x T4") == 0;
    }
    EXPECT(without);
    unload(&loaded);
}
