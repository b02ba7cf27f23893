// Curves of a queue: the share of jobs that waited no longer, and what is in use over time, from the run itself.
#include <math.h>

#include "models/workload/queue/queue.h"
#include "scenarios/queue/queue_study.h"
#include "tests/test.h"

typedef struct Watched {
    Arena *arena;
    QueueSpec spec;
    const QueueJobs *jobs;
    QueueRun run;
    PolicyAnswer answer;
} Watched;

static Watched watch(uint64_t seed, int jobs, double per_second) {
    Watched w = {.arena = arena_open()};
    QueueDemand demand = {.sizes = {.items = {{1, 0.5}, {4, 0.5}}, .count = 2},
                          .durations = {.kind = DURATION_EXPONENTIAL, .mean_s = 3600},
                          .jobs = jobs,
                          .per_second = per_second,
                          .burstiness = 1,
                          .users = 3,
                          .seed = seed};
    w.spec =
        (QueueSpec){.nodes = 4, .gpus_per_node = 4, .policy = &queue_policies[0], .warm_up = 0.1, .keep_history = true};
    w.jobs = queue_draw(w.arena, &demand);
    w.run = queue_run(w.arena, &w.spec, w.jobs);
    w.answer = (PolicyAnswer){.policy = w.spec.policy};
    add_curves(w.arena, &w.answer, &w.spec, w.jobs, &w.run);
    return w;
}

static double wait_s(const Watched *w, int job) {
    return 1e-9 * (double)(w->run.outcomes[job].start - w->jobs->items[job].arrival);
}

TEST(the_curve_of_waits_is_the_share_of_jobs_that_waited_no_longer) {
    int equal = 0;
    FOR_SEEDS (seed, 1, 12) {
        Watched w = watch(seed, seed % 2 ? 120 : 900, seed % 3 ? 0.0008 : 0.0016);
        const RecordCurve *curve = &w.answer.waits;
        double count = w.jobs->count - w.run.first;
        EXPECT(curve->count >= 1 && curve->count <= 200);
        for (int i = 0; i < curve->count; i++) {
            int no_longer = 0;
            for (int j = w.run.first; j < w.jobs->count; j++) no_longer += wait_s(&w, j) <= curve->x[i];
            if (i > 0) EXPECT(curve->x[i] > curve->x[i - 1]);
            EXPECT(curve->y[i] <= no_longer / count + 1e-12);
            EXPECT(curve->y[i] >= no_longer / count - (count > 200 ? 1.0 / 200 + 1 / count : 1e-12));
        }
        EXPECT_NEAR(curve->y[curve->count - 1], 1, 0);
        equal += curve->x[0] == 0 && curve->y[0] > 0.1;
        arena_close(w.arena);
    }
    EXPECT(equal > 3); // many that did not wait at all
}

// Three jobs of the whole cluster come at once, time and again: waits of none, one hour and two, a third of each.
TEST(of_equal_waits_the_curve_has_the_last) {
    Arena *arena = arena_open();
    enum { JOBS = 60 };
    const SimTime hour = 3600 * (SimTime)TICKS_PER_SECOND_LIFE;
    QueueJob items[JOBS];
    for (int i = 0; i < JOBS; i++)
        items[i] = (QueueJob){.arrival = i / 3 * 4 * hour, .work = hour, .estimate = hour, .gpus = 16, .row = i};
    QueueJobs jobs = {.items = items, .count = JOBS, .user_count = 1};
    QueueSpec spec = {.nodes = 4, .gpus_per_node = 4, .policy = &queue_policies[0], .keep_history = true};
    QueueRun run = queue_run(arena, &spec, &jobs);
    PolicyAnswer answer = {.policy = spec.policy};
    add_curves(arena, &answer, &spec, &jobs, &run);
    EXPECT_INT(answer.waits.count, 3);
    for (int i = 0; i < 3 && i < answer.waits.count; i++) {
        EXPECT_NEAR(answer.waits.x[i], 3600 * i, 1e-9);
        EXPECT_NEAR(answer.waits.y[i], (i + 1) / 3.0, 1e-12);
    }
    arena_close(arena);
}

// Each bin holds its part of the time, up to the last look at the queue: all of them together the GPU hours of all
// jobs, and all their waiting.
TEST(curves_over_time_hold_all_gpu_hours_and_all_waiting) {
    FOR_SEEDS (seed, 1, 6) {
        Watched w = watch(seed, 300, 0.0012);
        const RecordCurve *busy = &w.answer.busy, *queue = &w.answer.queue;
        double bin_h = 2 * busy->x[0], used = 0, waited = 0, gpu_hours = 0, job_hours = 0;
        for (int i = 0; i < busy->count; i++) {
            EXPECT(busy->y[i] >= 0 && busy->y[i] <= 1 + 1e-9);
            if (i > 0) EXPECT_NEAR(busy->x[i] - busy->x[i - 1], bin_h, 1e-9);
            used += busy->y[i] * 16 * bin_h;
            waited += queue->y[i] * bin_h;
        }
        SimTime last = w.run.history[w.run.history_count - 1].time;
        for (int j = 0; j < w.jobs->count; j++) {
            const QueueOutcome *outcome = &w.run.outcomes[j];
            double held = (double)((outcome->end < last ? outcome->end : last) - outcome->start);
            gpu_hours += held / 3.6e12 * w.jobs->items[j].gpus;
            job_hours += wait_s(&w, j) / 3600;
        }
        EXPECT_NEAR(used, gpu_hours, 1e-6);
        EXPECT_NEAR(waited, job_hours, 1e-6);
        arena_close(w.arena);
    }
}
