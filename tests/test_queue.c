// A shared cluster: against its slow twin job by job, then laws that hold whatever comes.
#include "models/workload/queue/queue.h"

#include "sim/base/random.h"
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
    spec.weights = (QueueWeights){5000 * random_uniform(random), random_uniform(random), random_uniform(random), 1};
    spec.scaling = 0.6 + 0.4 * random_uniform(random);
    return spec;
}

static const QueueJobs *small_jobs(Arena *arena, RandomStream *random, QueueSpec *spec) {
    int count = 1 + below(random, 40), most = spec->nodes * spec->gpus_per_node, crowd = 1 + below(random, 40);
    QueueJob *jobs = ARENA_ARRAY(arena, QueueJob, count);
    SimTime grain = below(random, 3) ? 10 * SECOND : 1;
    bool elastic = below(random, 4) == 0;
    int32_t *quotas = ARENA_ARRAY(arena, int32_t, 3);
    if (below(random, 3) == 0) spec->quotas = quotas;
    spec->half_life_s = 17.3 * (double)grain / SECOND;
    for (int i = 0; i < count; i++) {
        SimTime work = (1 + below(random, 20)) * grain;
        SimTime estimate = below(random, 2) ? work : (1 + below(random, 30)) * grain;
        int gpus = 1 + below(random, below(random, 2) ? most : (most + 3) / 4);
        jobs[i] = (QueueJob){.arrival = below(random, crowd) * grain, .work = work, .estimate = estimate, .gpus = gpus};
        jobs[i].user = below(random, 4), jobs[i].priority = below(random, 3), jobs[i].row = i;
        jobs[i].group = below(random, 3);
        if (elastic && below(random, 2)) jobs[i].least_gpus = 1 + below(random, gpus);
        if (quotas[jobs[i].group] < gpus) quotas[jobs[i].group] = gpus; // no less than its largest job
    }
    QueueJobs *sorted = ARENA_NEW(arena, QueueJobs);
    *sorted = *queue_jobs_sorted(arena, jobs, count, 4, NULL);
    sorted->group_count = 3;
    return sorted;
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

static QueueJob job(SimTime arrival, int seconds, int gpus) {
    return (QueueJob){.arrival = arrival, .work = seconds * SECOND, .estimate = seconds * SECOND, .gpus = gpus};
}

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
        int gpus = 1 + below(&random, most_gpus), user = below(&random, 5);
        list[i] = (QueueJob){
            .arrival = (SimTime)(clock * 1e9), .work = work, .estimate = work, .gpus = gpus, .user = user, .row = i};
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
        SimTime arrival = crowd ? 0 : (i - 1000) * 50 * SECOND;
        list[i] = (QueueJob){
            .arrival = arrival, .work = 100 * SECOND, .estimate = 100 * SECOND, .gpus = 1, .user = !crowd, .row = i};
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
    QueueJob list[] = {job(0, 100, 3), job(0, 100, 3), job(1, 100, 2), job(50 * SECOND, 1, 8)};
    for (int i = 0; i < 4; i++) list[i].row = i;
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

// ---- Quotas.

TEST(a_group_at_its_quota_waits_while_others_pass_and_never_holds_more) {
    // Group 0 may hold 2 of 4 GPUs: its third job waits although a GPU is free, and a job of group 1 passes it.
    Arena *arena = arena_open();
    const int32_t quotas[] = {2, 4};
    QueueJob list[] = {job(0, 100, 1), job(0, 100, 1), job(0, 50, 1), job(1, 10, 2)};
    for (int i = 0; i < 4; i++) list[i].row = i;
    list[3].group = 1;
    QueueJobs jobs = *queue_jobs_sorted(arena, list, 4, 1, NULL);
    jobs.group_count = 2;
    for (int p = 0; p < queue_policy_count; p++) {
        QueueSpec spec = {.nodes = 1, .gpus_per_node = 4, .policy = &queue_policies[p], .quotas = quotas};
        QueueRun run = queue_run(arena, &spec, &jobs);
        SimTime waited = queue_policies[p].order == QUEUE_BY_ESTIMATE ? 50 * SECOND : 100 * SECOND;
        SimTime last = 0;
        for (int i = 0; i < 3; i++) last = run.outcomes[i].start > last ? run.outcomes[i].start : last;
        EXPECT_INT(last, waited);
        EXPECT_INT(run.outcomes[3].start, 1);
    }
    arena_close(arena);
}

// ---- GPUs that several jobs share.

static QueueJob part(SimTime arrival, int seconds, int of, int row) {
    QueueJob one = job(arrival, seconds, 1);
    one.share = QUEUE_WHOLE_SHARE / of, one.row = row;
    return one;
}

TEST(two_halves_share_a_gpu_and_a_third_waits_for_one_to_end) {
    Arena *arena = arena_open();
    QueueJob list[] = {part(0, 100, 2, 0), part(0, 60, 2, 1), part(1, 10, 2, 2), job(2, 10, 1)};
    list[3].row = 3;
    const QueueJobs *jobs = queue_jobs_sorted(arena, list, 4, 1, NULL);
    QueueSpec spec = spec_of("fifo", 1, 1);
    QueueRun run = queue_run(arena, &spec, jobs);
    EXPECT_INT(run.outcomes[0].start, 0);
    EXPECT_INT(run.outcomes[1].start, 0);
    EXPECT_INT(run.outcomes[2].start, 60 * SECOND);
    EXPECT_INT(run.outcomes[3].start, 100 * SECOND); // the whole GPU is free when the last of them has left
    arena_close(arena);
}

// At any time: shares of a GPU no more than one, GPUs with shares and whole ones no more than there are. First fit of
// shares that divide each other leaves no hole: as many GPUs are in use as their sum, rounded up, at most.
TEST(shares_never_exceed_the_gpus_and_wait_for_nothing_that_is_free) {
    FOR_SEEDS (seed, 1, 40) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "shares", 0);
        QueueJob list[200];
        SimTime clock = 0;
        for (int i = 0; i < 200; i++) {
            clock += below(&random, 20) * SECOND;
            list[i] = below(&random, 4) ? part(clock, 1 + below(&random, 200), 1 << (1 + below(&random, 3)), i)
                                        : job(clock, 1 + below(&random, 200), 1 + below(&random, 3));
            list[i].row = i, list[i].user = below(&random, 3);
        }
        const QueueJobs *jobs = queue_jobs_sorted(arena, list, 200, 3, NULL);
        QueueSpec spec = {
            .nodes = 3, .gpus_per_node = 2, .policy = &queue_policies[below(&random, queue_policy_count)]};
        spec.placement = QUEUE_SCATTER;
        QueueRun run = queue_run(arena, &spec, jobs);
        for (int i = 0; i < 200; i++) {
            double width = 0;
            SimTime at = run.outcomes[i].start;
            for (int k = 0; k < 200; k++)
                if (run.outcomes[k].start <= at && at < run.outcomes[k].end) width += queue_job_width(&jobs->items[k]);
            EXPECT(width <= 6 + 1e-9);
            EXPECT(run.outcomes[i].end - at == jobs->items[i].work && at >= jobs->items[i].arrival);
        }
        EXPECT(run.utilisation <= 1 && run.goodput <= run.utilisation + 1e-9);
        arena_close(arena);
    }
}

TEST(easy_backfill_keeps_its_promise_beside_shared_gpus) {
    // Two GPUs. A half until 100; the job of two GPUs is promised 100. Another half may join until then, not for
    // longer.
    Arena *arena = arena_open();
    QueueJob list[] = {part(0, 100, 2, 0), job(1, 10, 2), part(2, 50, 2, 2), part(3, 300, 2, 3)};
    list[1].row = 1;
    const QueueJobs *jobs = queue_jobs_sorted(arena, list, 4, 1, NULL);
    QueueSpec spec = spec_of("easy", 1, 2);
    QueueRun run = queue_run(arena, &spec, jobs);
    EXPECT_INT(run.outcomes[1].start, 100 * SECOND);
    EXPECT_INT(run.outcomes[2].start, 2);
    EXPECT_INT(run.outcomes[3].start, 110 * SECOND);
    arena_close(arena);
}

TEST(mig_slices_are_the_smallest_that_hold_a_share) {
    const struct {
        double share;
        int compute, memory;
    } rows[] = {{0.01, 1, 1}, {1.0 / 7, 1, 1}, {0.2, 2, 2}, {0.3, 3, 4}, {0.5, 4, 4}, {0.6, 7, 8}, {0.99, 7, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        QueueJob one = {.gpus = 1, .share = (int32_t)(rows[i].share * QUEUE_WHOLE_SHARE)};
        queue_share_by_mig(&one);
        EXPECT_INT(one.share, rows[i].compute * 8000);
        EXPECT_INT(one.share_memory, rows[i].memory * 7000);
    }
    // Of three jobs with 3 of 7 slices of compute and 4 of 8 of memory two fit, and then nothing else does.
    Arena *arena = arena_open();
    QueueJob list[4];
    for (int i = 0; i < 4; i++) {
        list[i] = part(i, 100, 7, i);
        if (i < 3) list[i].share = 24000, list[i].share_memory = 28000;
    }
    QueueSpec spec = spec_of("first-fit", 1, 1);
    QueueRun run = queue_run(arena, &spec, queue_jobs_sorted(arena, list, 4, 1, NULL));
    EXPECT_INT(run.outcomes[1].start, 1);
    EXPECT(run.outcomes[2].start >= 100 * SECOND && run.outcomes[3].start >= 100 * SECOND);
    arena_close(arena);
}

TEST(a_node_that_fails_stops_all_that_share_its_gpus) {
    Arena *arena = arena_open();
    LifeSpec faults = {.nodes = 1, .repair_s = 10, .crash_detection_s = 1};
    faults.faults[0].node_rate = 1.0 / 5000, faults.faults[0].needs_repair = true;
    QueueJob list[60];
    for (int i = 0; i < 60; i++) list[i] = part(i * 20 * SECOND, 400, 3, i);
    QueueSpec spec = spec_of("easy", 2, 4);
    spec.faults = &faults, spec.seed = 3, spec.checkpoint_every_s = 60, spec.restart_s = 5;
    QueueRun run = queue_run(arena, &spec, queue_jobs_sorted(arena, list, 60, 1, NULL));
    int stops = 0;
    for (int i = 0; i < 60; i++) {
        stops += run.outcomes[i].stops;
        EXPECT(run.outcomes[i].end - run.outcomes[i].start >= 400 * SECOND);
    }
    EXPECT(stops > 0 && stops == run.failure_stops);
    arena_close(arena);
}

// ---- Jobs that run on fewer GPUs than they ask for.

TEST(an_elastic_job_starts_on_a_part_and_takes_as_long_as_its_scaling_says) {
    Arena *arena = arena_open();
    QueueJob list[] = {job(0, 1000, 4), job(1, 100, 8)};
    list[1].row = 1, list[1].least_gpus = 2;
    const QueueJobs *jobs = queue_jobs_sorted(arena, list, 2, 1, NULL);
    QueueSpec spec = spec_of("fifo", 1, 8);
    spec.scaling = 0.8;
    QueueRun run = queue_run(arena, &spec, jobs);
    EXPECT_INT(run.outcomes[1].start, 1);
    EXPECT_NEAR((double)(run.outcomes[1].end - 1), 100e9 * pow(2, 0.8), 1e-9);
    list[1].least_gpus = 5;
    EXPECT_INT(queue_run(arena, &spec, queue_jobs_sorted(arena, list, 2, 1, NULL)).outcomes[1].start, 1000 * SECOND);
    arena_close(arena);
}

// ---- Slurm's factors.

TEST(factors_put_first_who_used_less_and_age_overtakes_them) {
    // User 0 holds the GPU and submits at 1 s, user 1 at 2 s: the second has used nothing and goes first, unless age
    // outweighs it.
    Arena *arena = arena_open();
    QueueJob list[] = {job(0, 100, 1), job(1 * SECOND, 10, 1), job(50 * SECOND, 10, 1)};
    for (int i = 0; i < 3; i++) list[i].row = i, list[i].user = i == 2;
    const QueueJobs *jobs = queue_jobs_sorted(arena, list, 3, 2, NULL);
    QueueSpec spec = spec_of("multifactor", 1, 1);
    QueueRun usual = queue_run(arena, &spec, jobs);
    EXPECT_INT(usual.outcomes[2].start, 100 * SECOND);
    spec.weights = (QueueWeights){.age = 20000, .fair_share = 1};
    QueueRun aged = queue_run(arena, &spec, jobs);
    EXPECT_INT(aged.outcomes[1].start, 100 * SECOND);
    arena_close(arena);
}
