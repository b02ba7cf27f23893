// A shared cluster against formulas: Erlang C, Pollaczek and Khinchine, GI/M/1, Cobham's priorities, availability,
// Daly.
#include "models/workload/queue/queue.h"
#include "tests/test.h"

static QueueSpec spec_of(int policy, int gpus) {
    return (QueueSpec){.nodes = gpus, .gpus_per_node = 1, .policy = &queue_policies[policy], .warm_up = 0.02};
}

static QueueDemand one_gpu(DurationKind kind, double per_second, int jobs) {
    QueueDemand demand = {.jobs = jobs, .per_second = per_second, .burstiness = 1, .users = 1};
    demand.sizes = (Sizes){.items = {{1, 1}}, .count = 1};
    demand.durations = (Durations){.kind = kind, .mean_s = 1};
    return demand;
}

// Mean wait over seeds against the formula: within 2 %, and within three standard errors, which must be small enough
// for the test to mean something. The load that a seed happened to draw explains most of its wait and has a known mean:
// it serves as control variate.
#define MOST_SEEDS 64
static void expect_wait(const QueueSpec *spec, QueueDemand demand, int seeds, double formula) {
    double waits[MOST_SEEDS], loads[MOST_SEEDS], wait = 0, load = 0, both = 0, squares = 0, rest = 0;
    for (int s = 0; s < seeds; s++) {
        Arena *arena = arena_open();
        demand.seed = (uint64_t)s + 1;
        const QueueJobs *jobs = queue_draw(arena, &demand);
        QueueRun run = queue_run(arena, spec, jobs);
        double work = 0, sum = 0;
        for (int i = 0; i < jobs->count; i++) work += (double)jobs->items[i].work;
        for (int i = run.first; i < jobs->count; i++)
            sum += 1e-9 * (double)(run.outcomes[i].start - jobs->items[i].arrival);
        waits[s] = sum / (jobs->count - run.first);
        loads[s] = work / (double)jobs->items[jobs->count - 1].arrival;
        wait += waits[s] / seeds, load += loads[s] / seeds;
        arena_close(arena);
    }
    for (int s = 0; s < seeds; s++) {
        both += (waits[s] - wait) * (loads[s] - load);
        squares += (loads[s] - load) * (loads[s] - load);
    }
    double slope = both / squares;
    for (int s = 0; s < seeds; s++) rest += pow(waits[s] - wait - slope * (loads[s] - load), 2);
    double mean = wait - slope * (load - demand_gpus(&demand)), error = sqrt(rest / (seeds - 2) / seeds);
    EXPECT_NEAR(mean, formula, 0.02);
    if (error > 0.012 * formula || fabs(mean - formula) > 3 * error)
        test_fail(__FILE__, __LINE__, "wait %g, standard error %g, formula %g", mean, error, formula);
}

// Erlang (1917): the chance to wait, over the rate at which the queue empties.
static double erlang_c_wait(int servers, double load) {
    double term = 1, sum = 1;
    for (int k = 1; k < servers; k++) sum += term *= load / k;
    term *= load / servers * servers / (servers - load);
    return term / (sum + term) / (servers - load);
}

TEST(erlang_c_is_what_tables_say) {
    EXPECT_NEAR(erlang_c_wait(1, 0.5), 1, 1e-12);         // rho / (1 - rho)
    EXPECT_NEAR(erlang_c_wait(2, 1), 1.0 / 3, 1e-12);     // C = 1/3
    EXPECT_NEAR(erlang_c_wait(10, 8) * 2, 0.40918, 1e-4); // C(10, 8)
}

TEST(waiting_on_identical_gpus_is_erlang_c) {
    const struct {
        int gpus;
        double load;
    } cases[] = {{1, 0.5}, {4, 2.6}, {8, 5.6}};
    for (int i = 0; i < 3; i++) {
        QueueSpec spec = spec_of(0, cases[i].gpus);
        expect_wait(&spec, one_gpu(DURATION_EXPONENTIAL, cases[i].load, 16000), 64,
                    erlang_c_wait(cases[i].gpus, cases[i].load));
    }
}

TEST(waiting_for_fixed_durations_is_half_of_that_for_exponential_ones) {
    QueueSpec spec = spec_of(0, 1); // Pollaczek and Khinchine: rho (1 + c^2) / 2 / (1 - rho)
    expect_wait(&spec, one_gpu(DURATION_FIXED, 0.6, 20000), 30, 0.6 / 2 / 0.4);
    QueueDemand demand = one_gpu(DURATION_LOGNORMAL, 0.5, 40000); // c^2 = exp(sigma^2) - 1
    demand.durations = (Durations){.kind = DURATION_LOGNORMAL, .sigma = 0.8, .median_s = exp(-0.32)};
    expect_wait(&spec, demand, 10, 0.5 * exp(0.64) / 2 / 0.5);
}

// The waiting time of GI/M/1 is s / (1 - s) with s = A*(1 - s), A* the transform of the time between arrivals.
static double bursty_wait(double load, double burstiness) {
    double share = (1 + sqrt((burstiness - 1) / (burstiness + 1))) / 2, s = 0.5;
    for (int i = 0; i < 500; i++) {
        double fast = 2 * share * load, slow = 2 * (1 - share) * load, at = 1 - s;
        s = share * fast / (fast + at) + (1 - share) * slow / (slow + at);
    }
    return s / (1 - s);
}

TEST(waiting_for_bursts_is_that_of_a_hyperexponential) {
    EXPECT_NEAR(bursty_wait(0.6, 1), 1.5, 1e-9);
    QueueSpec spec = spec_of(0, 1);
    QueueDemand demand = one_gpu(DURATION_EXPONENTIAL, 0.6, 50000);
    demand.burstiness = 4;
    expect_wait(&spec, demand, 10, bursty_wait(0.6, 4));
}

TEST(whoever_may_preempt_waits_as_if_nobody_else_were_there) {
    // Urgent jobs are 30 % of a load of 0.8. An interrupted job goes on where it was: all jobs together wait as long as
    // without preemption (work in the system is the same), the urgent ones as long as alone.
    double sums[2] = {0, 0}, counts[2] = {0, 0};
    for (int s = 1; s <= 6; s++) {
        Arena *arena = arena_open();
        QueueDemand demand = one_gpu(DURATION_EXPONENTIAL, 0.8, 40000);
        demand.urgent_share = 0.3, demand.seed = (uint64_t)s;
        const QueueJobs *jobs = queue_draw(arena, &demand);
        QueueSpec spec = spec_of(5, 1);
        spec.checkpoint_every_s = 1e6; // saving costs nothing
        QueueRun run = queue_run(arena, &spec, jobs);
        for (int i = run.first; i < jobs->count; i++) {
            int urgent = jobs->items[i].priority;
            sums[urgent] += 1e-9 * (double)(run.outcomes[i].end - jobs->items[i].arrival);
            counts[urgent]++;
        }
        EXPECT(run.preemptions > 1000);
        arena_close(arena);
    }
    double first = 0.24, all = 0.8;
    EXPECT_NEAR(sums[1] / counts[1], 1 / (1 - first), 0.02);
    EXPECT_NEAR(sums[0] / counts[0], 1 / (1 - first) / (1 - all), 0.05);
}

TEST(arrivals_sizes_and_durations_have_the_means_that_were_asked_for) {
    for (int m = 0; m < queue_mix_count; m++) {
        Arena *arena = arena_open();
        const QueueMix *mix = &queue_mixes[m];
        QueueDemand demand = {.jobs = 100000, .per_second = 0.01, .burstiness = 1, .users = 10, .estimate_error = 2};
        demand.sizes = mix_sizes(mix), demand.durations = mix_durations(mix), demand.seed = 3;
        const QueueJobs *jobs = queue_draw(arena, &demand);
        double gpus = 0, seconds = 0, ratio = 0, first_user = 0;
        for (int i = 0; i < jobs->count; i++) {
            gpus += jobs->items[i].gpus;
            seconds += 1e-9 * (double)jobs->items[i].work;
            ratio += (double)jobs->items[i].estimate / (double)jobs->items[i].work;
            first_user += jobs->items[i].user == 0;
        }
        EXPECT_NEAR(gpus / jobs->count, sizes_mean(&demand.sizes), 0.05);
        EXPECT_NEAR(seconds / jobs->count, durations_mean(&demand.durations), 0.06);
        EXPECT_NEAR(ratio / jobs->count, 2, 0.01);
        EXPECT_NEAR(first_user / jobs->count, 1 / 2.928968, 0.02);
        EXPECT_NEAR(1e9 * jobs->count / (double)jobs->items[jobs->count - 1].arrival, 0.01, 0.01);
        if (mix->published_mean_gpus > 0) EXPECT_NEAR(sizes_mean(&demand.sizes), mix->published_mean_gpus, 1e-6);
        if (mix->published_mean_s > 0) EXPECT_NEAR(durations_mean(&demand.durations), mix->published_mean_s, 1e-6);
        arena_close(arena);
    }
}

TEST(durations_without_a_spread_last_their_median) {
    Durations one = {.kind = DURATION_LOGNORMAL, .median_s = 600};
    EXPECT_NEAR(durations_mean(&one), 600, 0);
    one.least_s = 600, one.most_s = 600; // also where they are at an end
    EXPECT_NEAR(durations_mean(&one), 600, 0);
    // Far ends cut nothing off: mean = median exp(sigma^2 / 2).
    one.sigma = 0.5, one.least_s = 1e-9, one.most_s = 1e12;
    EXPECT_NEAR(durations_mean(&one), 600 * exp(0.125), 1e-9);
    // Half of what is drawn counts as the median where that is the least, half where it is the most.
    Durations least = one, most = one;
    least.least_s = 600, most.most_s = 600;
    EXPECT_NEAR(durations_mean(&least) + durations_mean(&most), 600 + durations_mean(&one), 1e-9);
}

TEST(nodes_are_down_for_repair_over_cycle) {
    Arena *arena = arena_open();
    QueueDemand demand = one_gpu(DURATION_FIXED, 0.5, 20000);
    demand.durations.mean_s = 3600, demand.per_second = 30.0 / 3600;
    LifeSpec faults = {.shape = 1, .repair_s = 6 * 3600, .bad_share = 0.2, .bad_factor = 3};
    faults.faults[FAULT_GPU] = (LifeFault){1 / (60 * 3600.0), 0, true, false};
    QueueSpec spec = spec_of(0, 60);
    spec.faults = &faults;
    const QueueJobs *jobs = queue_draw(arena, &demand);
    QueueRun run = queue_run(arena, &spec, jobs);
    // A fifth of the nodes (those drawn bad) at three times the rate of the others.
    double rate = 1 / 60.0 / 1.4, good = 6 / (6 + 1 / rate), bad = 6 / (6 + 1 / (3 * rate));
    EXPECT_NEAR(run.down, 0.8 * good + 0.2 * bad, 0.08);
    EXPECT(run.failure_stops > 100);
    EXPECT(run.goodput < run.utilisation - 0.001);
    arena_close(arena);
}

TEST(a_job_on_a_node_that_fails_takes_as_long_as_daly_says) {
    Arena *arena = arena_open();
    enum { JOBS = 400 };
    QueueJob list[JOBS];
    SimTime work = 40 * 3600LL * TICKS_PER_SECOND_LIFE;
    for (int i = 0; i < JOBS; i++) list[i] = (QueueJob){.work = work, .estimate = work, .gpus = 1, .row = i};
    LifeSpec faults = {.shape = 1, .repair_s = 1};
    faults.faults[FAULT_SOFTWARE] = (LifeFault){1 / (4 * 3600.0), 0, false, false};
    QueueSpec spec = spec_of(0, 1);
    spec.faults = &faults;
    spec.checkpoint_every_s = 1200, spec.checkpoint_s = 60, spec.restart_s = 300;
    QueueRun run = queue_run(arena, &spec, queue_jobs_sorted(arena, list, JOBS, 1, NULL));
    double wall = 1e-9 * (double)run.outcomes[JOBS - 1].end / JOBS;
    EXPECT_NEAR(wall, daly_wall_time(40 * 3600, 1200, 60, 300, 4 * 3600), 0.01);
    arena_close(arena);
}

TEST(the_size_that_is_found_is_the_least_that_meets_the_goal) {
    Arena *arena = arena_open();
    enum { SEEDS = 4 };
    const QueueJobs *jobs[SEEDS];
    for (int s = 0; s < SEEDS; s++) {
        QueueDemand demand = one_gpu(DURATION_EXPONENTIAL, 20, 20000);
        demand.seed = (uint64_t)s + 1;
        jobs[s] = queue_draw(arena, &demand);
    }
    QueueSpec spec = spec_of(0, 1);
    QueueGoal goal = {.quantile = -1, .wait_s = 0.05, .most_nodes = 1000};
    QueueSizing sizing = queue_find_size(arena, &spec, jobs, SEEDS, &goal);
    int least = 21;
    while (erlang_c_wait(least, 20) > goal.wait_s) least++;
    EXPECT_INT(sizing.nodes, least);
    EXPECT(sizing.sure_nodes >= sizing.nodes && sizing.sure_nodes <= sizing.nodes + 1);
    for (int i = 0; i < sizing.try_count; i++) {
        const QueueTry *one = &sizing.tries[i];
        EXPECT((one->wait_s <= goal.wait_s) == (one->nodes >= sizing.nodes));
        EXPECT(one->low_s <= one->wait_s && one->wait_s <= one->high_s);
        EXPECT(i == 0 || (one->nodes > one[-1].nodes && one->wait_s <= one[-1].wait_s));
    }
    goal.most_nodes = 15;
    EXPECT_INT(queue_find_size(arena, &spec, jobs, SEEDS, &goal).nodes, 0);
    arena_close(arena);
}
