// A shared cluster: against its slow twin job by job, against formulas of queueing theory, and laws.
#include "models/workload/queue.h"

#include "models/workload/queue_jobs.h"
#include "sim/random.h"
#include "tests/queue_twin.h"
#include "tests/test.h"

#define SECOND TICKS_PER_SECOND_LIFE

static const QueuePolicy *policy_called(const char *name) {
    for (int i = 0; i < queue_policy_count; i++)
        if (strcmp(queue_policies[i].name, name) == 0) return &queue_policies[i];
    return NULL;
}

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
    for (uint64_t seed = 1; seed <= 3000; seed++) {
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
