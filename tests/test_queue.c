// A shared cluster: against its slow twin job by job, then laws that hold whatever comes.
#include "models/workload/queue/queue.h"

#include "models/workload/queue/queue_jobs.h"
#include "sim/random.h"
#include "tests/queue_twin.h"
#include "tests/test.h"

#define SECOND TICKS_PER_SECOND_LIFE

// ---- The twin. Coarse times make things happen at once.

static int below(RandomStream *random, int bound) { return (int)random_below(random, (uint64_t)bound); }

static QueueSpec small_spec(RandomStream *random) {
    QueueSpec spec = {.nodes = 1 + below(random, 7), .gpus_per_node = 1 + below(random, 4)};
    spec.nodes_per_leaf = below(random, 4);
    spec.policy = &queue_policies[below(random, queue_policy_count)];
    spec.placement = (QueuePlacement)below(random, QUEUE_PLACEMENT_COUNT);
    spec.depth = below(random, 5);
    spec.restart_s = below(random, 3) * 5;
    if (below(random, 2)) spec.checkpoint_every_s = 30, spec.checkpoint_s = below(random, 3) * 4;
    return spec;
}

static const QueueJobs *small_jobs(Arena *arena, RandomStream *random, QueueSpec *spec) {
    int count = 1 + below(random, 40), most = spec->nodes * spec->gpus_per_node, crowd = 1 + below(random, 40);
    QueueJob *jobs = ARENA_ARRAY(arena, QueueJob, count);
    SimTime grain = below(random, 3) ? 10 * SECOND : 1;
    spec->half_life_s = 17.3 * (double)grain / SECOND;
    for (int i = 0; i < count; i++) {
        SimTime work = (1 + below(random, 20)) * grain;
        SimTime estimate = below(random, 2) ? work : (1 + below(random, 30)) * grain;
        int gpus = 1 + below(random, below(random, 2) ? most : (most + 3) / 4);
        jobs[i] = (QueueJob){below(random, crowd) * grain, work, estimate, gpus, below(random, 4), below(random, 3), i};
    }
    return queue_jobs_sorted(arena, jobs, count, 4, NULL);
}

TEST(the_queue_agrees_with_its_slow_twin_job_by_job) {
    int stops = 0, waited = 0;
    FOR_SEEDS (seed, 1, 3000) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "small cluster", 0);
        QueueSpec spec = small_spec(&random);
        const QueueJobs *jobs = small_jobs(arena, &random, &spec);
        QueueRun run = queue_run(arena, &spec, jobs);
        const QueueOutcome *twin = queue_twin(arena, &spec, jobs);
        for (int i = 0; i < jobs->count; i++) {
            const QueueOutcome *a = &run.outcomes[i], *b = &twin[i];
            stops += b->stops;
            waited += b->start > jobs->items[i].arrival;
            if (a->start == b->start && a->end == b->end && a->stops == b->stops) continue;
            test_fail(__FILE__, __LINE__, "seed %d, %s, %s: job %d runs %lld to %lld, the twin's %lld to %lld",
                      (int)seed, spec.policy->name, queue_placement_names[spec.placement], i, (long long)a->start,
                      (long long)a->end, (long long)b->start, (long long)b->end);
            break;
        }
        arena_close(arena);
    }
    EXPECT(stops > 100 && waited > 10000); // there was something to agree on
}

// ---- Laws.

static QueueSpec spec_of(const char *policy, int nodes, int per_node) {
    QueueSpec spec = {.nodes = nodes, .gpus_per_node = per_node};
    for (int i = 0; i < queue_policy_count; i++)
        if (strcmp(queue_policies[i].name, policy) == 0) spec.policy = &queue_policies[i];
    return spec;
}

static const QueueJobs *drawn(Arena *arena, uint64_t seed, int jobs, int most_gpus, double gap_s) {
    RandomStream random = random_stream(seed, "law", 0);
    QueueJob *list = ARENA_ARRAY(arena, QueueJob, jobs);
    double clock = 0;
    for (int i = 0; i < jobs; i++) {
        clock += random_exponential(&random, gap_s);
        SimTime work = (SimTime)(random_exponential(&random, 100) * 1e9) + 1;
        list[i] =
            (QueueJob){(SimTime)(clock * 1e9), work, work, 1 + below(&random, most_gpus), below(&random, 5), 0, i};
    }
    return queue_jobs_sorted(arena, list, jobs, 5, NULL);
}

TEST(more_gpus_never_make_a_one_gpu_job_wait_longer_under_fifo) {
    FOR_SEEDS (seed, 1, 20) {
        Arena *arena = arena_open();
        const QueueJobs *jobs = drawn(arena, seed, 400, 1, 12);
        const QueueOutcome *before = NULL;
        for (int nodes = 6; nodes <= 14; nodes += 2) {
            QueueSpec spec = spec_of("fifo", nodes, 1);
            const QueueOutcome *now = queue_run(arena, &spec, jobs).outcomes;
            for (int i = 0; before && i < jobs->count; i++)
                if (now[i].start > before[i].start)
                    test_fail(__FILE__, __LINE__, "seed %d: job %d starts later on %d", (int)seed, i, nodes);
            before = now;
        }
        arena_close(arena);
    }
}

TEST(no_gpu_is_idle_while_a_job_that_fits_waits) {
    const char *const names[] = {"first-fit", "shortest", "fifo", "easy", "fair-share"};
    for (int p = 0; p < 5; p++) {
        Arena *arena = arena_open();
        const QueueJobs *jobs = drawn(arena, 7, 600, 1, 11);
        QueueSpec spec = spec_of(names[p], 3, 3);
        spec.keep_history = true;
        QueueRun run = queue_run(arena, &spec, jobs);
        for (int i = 0; i < run.history_count; i++)
            if (run.history[i].waiting_jobs > 0) EXPECT_INT(run.history[i].busy_gpus, 9);
        EXPECT(run.waiting_mean > 0.5 && run.stranded == 0);
        arena_close(arena);
    }
}

// What is free only counts: scatter. When everybody before it has started, job j is the first in the queue; its start
// is promised by those that run then.
static SimTime promised(const QueueJobs *jobs, const QueueOutcome *outcomes, int gpus, int j) {
    SimTime first = jobs->items[j].arrival;
    for (int i = 0; i < j; i++)
        if (outcomes[i].start > first) first = outcomes[i].start;
    int free = gpus;
    for (int i = 0; i < jobs->count; i++) {
        bool runs = outcomes[i].start < first || (i < j && outcomes[i].start == first);
        if (runs && outcomes[i].end > first) free -= jobs->items[i].gpus;
    }
    for (SimTime at = first;;) {
        if (free >= jobs->items[j].gpus) return at;
        SimTime next = SIM_TIME_NEVER;
        for (int i = 0; i < jobs->count; i++) {
            bool runs = outcomes[i].start < first || (i < j && outcomes[i].start == first);
            if (runs && outcomes[i].end > at && outcomes[i].end < next) next = outcomes[i].end;
        }
        for (int i = 0; i < jobs->count; i++) {
            bool runs = outcomes[i].start < first || (i < j && outcomes[i].start == first);
            if (runs && outcomes[i].end == next) free += jobs->items[i].gpus;
        }
        at = next;
    }
}

TEST(easy_backfill_never_delays_the_first_in_the_queue) {
    int delayed = 0;
    FOR_SEEDS (seed, 1, 10) {
        Arena *arena = arena_open();
        const QueueJobs *jobs = drawn(arena, seed, 300, 12, 40);
        QueueSpec easy = spec_of("easy", 4, 4), greedy = spec_of("first-fit", 4, 4);
        easy.placement = greedy.placement = QUEUE_SCATTER;
        const QueueOutcome *kept = queue_run(arena, &easy, jobs).outcomes,
                           *bare = queue_run(arena, &greedy, jobs).outcomes;
        for (int j = 0; j < jobs->count; j++) {
            if (kept[j].start > promised(jobs, kept, 16, j))
                test_fail(__FILE__, __LINE__, "seed %d: job %d starts after its promise", (int)seed, j);
            delayed += bare[j].start > promised(jobs, bare, 16, j);
        }
        arena_close(arena);
    }
    EXPECT(delayed > 20); // first-fit keeps no such promise: the check can fail
}

TEST(under_conservative_backfill_later_jobs_delay_nobody) {
    FOR_SEEDS (seed, 1, 5) {
        Arena *arena = arena_open();
        const QueueJobs *jobs = drawn(arena, seed, 60, 12, 40);
        QueueSpec spec = spec_of("conservative", 4, 4);
        spec.placement = QUEUE_SCATTER;
        spec.depth = 100;
        const QueueOutcome *all = queue_run(arena, &spec, jobs).outcomes;
        for (int count = 1; count < jobs->count; count++) {
            QueueJobs first = *jobs;
            first.count = count;
            EXPECT_INT(all[count - 1].start, queue_run(arena, &spec, &first).outcomes[count - 1].start);
        }
        arena_close(arena);
    }
}

TEST(users_with_equal_work_get_equal_shares_where_fifo_favours_the_crowd) {
    // User 0 submits a thousand jobs at once, user 1 one job at a time.
    Arena *arena = arena_open();
    QueueJob list[1100];
    for (int i = 0; i < 1100; i++) {
        bool crowd = i < 1000;
        list[i] = (QueueJob){crowd ? 0 : (i - 1000) * 50 * SECOND, 100 * SECOND, 100 * SECOND, 1, !crowd, 0, i};
    }
    const QueueJobs *jobs = queue_jobs_sorted(arena, list, 1100, 2, NULL);
    QueueSpec fair = spec_of("fair-share", 8, 1), fifo = spec_of("fifo", 8, 1);
    QueueRun shared = queue_run(arena, &fair, jobs), queued = queue_run(arena, &fifo, jobs);
    double longest[2] = {0, 0};
    for (int i = 0; i < jobs->count; i++) {
        if (jobs->items[i].user == 0) continue;
        longest[0] = fmax(longest[0], 1e-9 * (double)(shared.outcomes[i].start - jobs->items[i].arrival));
        longest[1] = fmax(longest[1], 1e-9 * (double)(queued.outcomes[i].start - jobs->items[i].arrival));
    }
    EXPECT(longest[0] <= 100 && longest[1] > 5000);
    arena_close(arena);
}

TEST(jains_index_is_one_when_all_have_the_same_and_one_in_n_when_one_has_all) {
    const double same[] = {3, 3, 3, 3}, one[] = {0, 5, 0, 0}, two[] = {1, 2};
    EXPECT_NEAR(jain_index(same, 4), 1, 1e-15);
    EXPECT_NEAR(jain_index(one, 4), 0.25, 1e-15);
    EXPECT_NEAR(jain_index(two, 2), 0.9, 1e-15);
}

TEST(jobs_that_leave_whole_nodes_are_packed_and_scattering_strands_nothing) {
    // Two nodes of 4: jobs of 3, 3 and 2 GPUs. 2 GPUs are free, on two nodes.
    Arena *arena = arena_open();
    QueueJob list[] = {{0, 100 * SECOND, 100 * SECOND, 3, 0, 0, 0},
                       {0, 100 * SECOND, 100 * SECOND, 3, 0, 0, 1},
                       {1, 100 * SECOND, 100 * SECOND, 2, 0, 0, 2},
                       {50 * SECOND, SECOND, SECOND, 8, 0, 0, 3}};
    const QueueJobs *jobs = queue_jobs_sorted(arena, list, 4, 1, NULL);
    QueueSpec packed = spec_of("fifo", 2, 4), scattered = packed;
    scattered.placement = QUEUE_SCATTER;
    QueueRun a = queue_run(arena, &packed, jobs), b = queue_run(arena, &scattered, jobs);
    EXPECT_INT(a.outcomes[2].start, 100 * SECOND);
    EXPECT_INT(b.outcomes[2].start, 1);
    EXPECT_NEAR(a.stranded, 0.25, 1e-6); // of 8 GPUs 2, until the last arrival
    EXPECT_NEAR(a.fragmentation, 1, 1e-6);
    EXPECT_NEAR(b.utilisation, 1, 1e-6);
    EXPECT_SAME(b.stranded, 0);
    arena_close(arena);
}
