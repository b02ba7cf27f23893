// The life of a job: first against formulas, then laws that hold whatever fails.
#include <string.h>

#include "models/workload/life/life.h"
#include "models/workload/life/life_internal.h"
#include "sim/base/arena.h"
#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "tests/golden.h"
#include "tests/test.h"

#define HOUR 3600.0
#define DAY 86400.0

// One node that fails and starts again on the spot; nothing else costs time.
static LifeSpec plain(double mtbf_s, double every_s, double stall_s) {
    LifeSpec spec = {.nodes = 1, .shape = 1, .bad_factor = 1};
    if (mtbf_s > 0) spec.faults[FAULT_SOFTWARE].node_rate = 1 / mtbf_s;
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_SYNC, .every_s = every_s, .stall_s = stall_s};
    return spec;
}

// Everything at once, with sizes that a seed chooses.
static LifeSpec wild(uint64_t seed) {
    RandomStream random = random_stream(seed, "wild life", 0);
    LifeSpec spec = {.nodes = 8 + (int)random_below(&random, 25), .spares = (int)random_below(&random, 4)};
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        spec.faults[i] = (LifeFault){1 / ((20 + 400 * random_uniform(&random)) * DAY), 0.3,
                                     fault_components[i].needs_repair, i == FAULT_SILENT};
    spec.shape = random_below(&random, 2) ? 1 : 0.7;
    spec.age_s = 10 * DAY;
    spec.fleet_spread = 0.3;
    spec.bad_share = 0.1, spec.bad_factor = 10, spec.strikes = (int)random_below(&random, 3);
    spec.crash_detection_s = 60, spec.hang_detection_s = 600, spec.silent_detection_s = HOUR, spec.hang_share = 0.2;
    spec.restart_s = 300, spec.restart_sigma = 0.3, spec.repair_s = 6 * HOUR, spec.repair_sigma = 0.3;
    spec.planned_rate = 1 / (3 * DAY);
    spec.rack_nodes = 4, spec.rack_rate = 1 / (30 * DAY), spec.rack_repair_s = 2 * HOUR;
    spec.slow_rate = 1 / (40 * DAY), spec.slow_factor = 1.4, spec.slow_detection_s = 6 * HOUR;
    spec.flap_rate = 1 / (5 * HOUR), spec.flap_stall_s = 120;
    spec.spot_rate = 1 / (20 * DAY), spec.spot_notice_s = 120, spec.spot_wait_s = HOUR, spec.spot_batch = 2;
    if (random_below(&random, 2)) {
        spec.nodes_per_replica = 2, spec.nodes = spec.nodes / 2 * 2;
        spec.least_replicas = spec.nodes / 4;
    }
    spec.checkpoint = (CheckpointPlan){.mode = (CheckpointMode)random_below(&random, CHECKPOINT_MODE_COUNT),
                                       .every_s = 60 + 7200 * random_uniform(&random),
                                       .storage_every_s = 2 * HOUR,
                                       .stall_s = 20 * random_uniform(&random),
                                       .copy_s = 30,
                                       .write_s = 600 * random_uniform(&random),
                                       .reload_s = 100,
                                       .memory_reload_s = 10};
    if (random_below(&random, 2))
        spec.horizon_s = 20 * DAY;
    else
        spec.work_s = 10 * DAY;
    return spec;
}

TEST(the_causes_of_a_life_sum_to_its_wall_time_to_the_nanosecond) {
    FOR_SEEDS (seed, 1, 60) {
        LifeSpec spec = wild(seed);
        LifeRun run = life_run(&spec, seed);
        SimTime sum = 0;
        for (int i = 0; i < LIFE_TIME_COUNT; i++) {
            sum += run.spent[i];
            if (run.spent[i] < 0) test_fail(__FILE__, __LINE__, "seed %d: cause %d is negative", (int)seed, i);
        }
        if (sum != run.wall)
            test_fail(__FILE__, __LINE__, "seed %d: %lld of %lld", (int)seed, (long long)sum, (long long)run.wall);
        SimTime down =
            run.spent[LIFE_DETECTION] + run.spent[LIFE_WAITING] + run.spent[LIFE_RESTART] + run.spent[LIFE_REWORK];
        SimTime lost = 0;
        for (int i = 0; i < LIFE_CAUSE_COUNT; i++) lost += run.lost[i];
        EXPECT_INT(lost, down);
        if (spec.horizon_s > 0) EXPECT_INT(run.wall, llround(spec.horizon_s * 1e9));
        if (spec.work_s > 0 && run.finished) EXPECT_NEAR((double)run.spent[LIFE_TRAINING], spec.work_s * 1e9, 1e-14);
    }
}

TEST(a_calendar_holds_its_life_to_the_tick) {
    Arena *arena = arena_open();
    for (uint64_t seed = 1; seed <= 40; seed++) {
        LifeSpec spec = wild(seed);
        LifeStudy study = life_study(arena, &spec, 5, seed);
        LifeCalendar calendar = life_calendar(arena, &spec, &study, seed);
        SimTime spent[LIFE_TIME_COUNT] = {0};
        int stops = 0, wanted = 0;
        EXPECT(calendar.count <= LIFE_MOST_STRETCHES);
        for (int i = 0; i < calendar.count; i++) {
            SimTime sum = 0;
            for (int k = 0; k < LIFE_TIME_COUNT; k++) {
                EXPECT(calendar.stretches[i].spent[k] >= 0);
                sum += calendar.stretches[i].spent[k];
                spent[k] += calendar.stretches[i].spent[k];
            }
            EXPECT_INT(sum, i + 1 < calendar.count ? calendar.width : calendar.run.wall - i * calendar.width);
            stops += calendar.stretches[i].stops;
        }
        for (int k = 0; k < LIFE_TIME_COUNT; k++) EXPECT_INT(spent[k], calendar.run.spent[k]);
        for (int c = 0; c < LIFE_UNPLANNED_COUNT; c++) wanted += calendar.run.stops[c];
        EXPECT_INT(stops, wanted);
        int below = 0;
        for (int i = 0; i < study.runs; i++) below += study.run_goodput[i] < study.run_goodput[calendar.life];
        EXPECT_INT(below, 2); // the median of five
    }
    arena_close(arena);
}

static void expect_same_life(const LifeRun *a, const LifeRun *b, int seed) {
    bool same = a->wall == b->wall && a->events == b->events && a->digest == b->digest && a->finished == b->finished &&
                memcmp(a->spent, b->spent, sizeof a->spent) == 0 && memcmp(a->stops, b->stops, sizeof a->stops) == 0 &&
                memcmp(a->lost, b->lost, sizeof a->lost) == 0;
    if (!same) test_fail(__FILE__, __LINE__, "seed %d", seed);
}

// What is passed at once is what it would have been event by event, to the nanosecond: where something happens every
// hour, where nothing does for weeks, and where the work ends in the midst of a stretch.
TEST(stretches_passed_at_once_are_those_of_all_their_checkpoints) {
    int64_t events = 0;
    FOR_SEEDS (seed, 1, 300) {
        LifeSpec spec = wild(seed);
        if (seed % 3) spec.flap_rate = 0, spec.checkpoint.every_s /= 4;
        if (seed % 3 == 2) spec.planned_rate /= 10, spec.spot_rate = 0, spec.slow_rate /= 10;
        LifeRun quick = life_run(&spec, seed), slow = life_run_one_by_one(&spec, seed);
        expect_same_life(&quick, &slow, (int)seed);
        events += slow.events;
    }
    EXPECT(events > 300000);
    const LifeSpec calm[] = {plain(0, HOUR, 60), plain(0, 3600 + 1e-9, 0), plain(30 * DAY, 1, 1e-9), plain(DAY, 7, 3)};
    for (int i = 0; i < 4; i++)
        for (int work = 0; work < 40; work++) {
            LifeSpec spec = calm[i];
            spec.checkpoint.mode = work % 2 ? CHECKPOINT_SYNC : CHECKPOINT_ASYNC;
            spec.checkpoint.write_s = work % 3 * 1800;
            spec.work_s = work < 20 ? 10000 + 900 * work : 0, spec.horizon_s = work < 20 ? 0 : 1800 * (work - 19);
            LifeRun quick = life_run(&spec, 7), slow = life_run_one_by_one(&spec, 7);
            expect_same_life(&quick, &slow, 1000 * i + work);
        }
}

TEST(the_same_seed_lives_the_same_life_and_another_seed_another) {
    Arena *arena = arena_open();
    LifeSpec spec = wild(3);
    LifeStudy a = life_study(arena, &spec, 5, 1), b = life_study(arena, &spec, 5, 1),
              c = life_study(arena, &spec, 5, 2);
    EXPECT_SAME(a.digest, b.digest);
    EXPECT_SAME(a.goodput.mean, b.goodput.mean);
    EXPECT(a.digest != c.digest);
    arena_close(arena);
}

TEST(without_failures_only_checkpoints_cost_time) {
    LifeSpec spec = plain(0, 1000, 50);
    spec.horizon_s = 10500;
    LifeRun run = life_run(&spec, 1);
    EXPECT_INT(run.spent[LIFE_CHECKPOINT], 500000000000);
    EXPECT_INT(run.spent[LIFE_TRAINING], 10000000000000);
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_ASYNC, .every_s = 1000, .stall_s = 1, .write_s = 400};
    spec.horizon_s = 0, spec.work_s = 9500;
    run = life_run(&spec, 1);
    EXPECT(run.finished);
    EXPECT_INT(run.spent[LIFE_CHECKPOINT], 9000000000);
    EXPECT_INT(run.wall, 9509000000000);
}

TEST(a_copy_that_is_still_being_written_holds_the_next_up) {
    LifeSpec spec = plain(0, 100, 0);
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_ASYNC, .every_s = 100, .stall_s = 1, .write_s = 150};
    spec.work_s = 10000;
    LifeRun run = life_run(&spec, 1);
    // The first is free of it; each of the others waits for 50 s of the one before.
    EXPECT_INT(run.spent[LIFE_CHECKPOINT], (99 + 98 * 50) * 1000000000LL);
}

TEST(wall_time_under_exponential_failures_is_dalys) {
    const struct {
        double mtbf_s, every_s, write_s, restart_s;
    } cases[] = {{4 * HOUR, 1200, 60, 300}, {HOUR, 600, 30, 600}, {12 * HOUR, 5400, 300, 900}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        LifeSpec spec = plain(cases[i].mtbf_s, cases[i].every_s, cases[i].write_s);
        spec.restart_s = cases[i].restart_s;
        spec.work_s = 30 * DAY;
        LifeStudy study = life_study(arena, &spec, 200, 1);
        double daly =
            daly_wall_time(spec.work_s, cases[i].every_s, cases[i].write_s, cases[i].restart_s, cases[i].mtbf_s);
        EXPECT_NEAR(study.days.mean * DAY, daly, 0.005);
        EXPECT_INT(study.unfinished, 0);
        arena_close(arena);
    }
}

TEST(stops_come_at_the_rate_of_their_parts) {
    Arena *arena = arena_open();
    LifeSpec spec = plain(0, 600, 1);
    spec.nodes = 64, spec.repair_s = 1;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        spec.faults[i] = (LifeFault){(i + 1) / (2000 * DAY), 0, fault_components[i].needs_repair, false};
    spec.bad_share = 0.1, spec.bad_factor = 20;
    spec.horizon_s = 100 * DAY;
    LifeStudy study = life_study(arena, &spec, 400, 1);
    EXPECT_NEAR(study.stops.mean, 100 * DAY * life_unplanned_rate(&spec), 0.03);
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) EXPECT_NEAR(study.stops_mean[i], 3.2 * (i + 1), 0.05);
    arena_close(arena);
}

TEST(the_first_failure_of_many_ageing_nodes_is_weibull) {
    // The least of n Weibull lives of shape k is Weibull with the scale divided by n^(1/k).
    LifeSpec spec = plain(0, 0, 0);
    spec.nodes = 50, spec.shape = 0.6;
    double mean_s = 400 * DAY, scale_s = mean_s / tgamma(1 + 1 / spec.shape);
    spec.faults[FAULT_SOFTWARE].node_rate = 1 / mean_s;
    double first = scale_s / pow(spec.nodes, 1 / spec.shape);
    spec.horizon_s = first; // by then 1 - 1/e of all have failed
    int failed = 0, runs = 4000;
    for (int r = 0; r < runs; r++) failed += life_run(&spec, (uint64_t)r).stops[FAULT_SOFTWARE] > 0;
    EXPECT_NEAR((double)failed / runs, 1 - exp(-1), 0.03);
}

TEST(more_spares_are_never_worse_under_the_same_failures) {
    Arena *arena = arena_open();
    LifeSpec spec = plain(0, 1800, 10);
    spec.nodes = 64, spec.restart_s = 300, spec.repair_s = 12 * HOUR, spec.crash_detection_s = 60;
    spec.faults[FAULT_GPU] = (LifeFault){1 / (60 * DAY), 0, true, false};
    spec.horizon_s = 30 * DAY;
    double last = 0, first = 0;
    for (int spares = 0; spares <= 8; spares++) {
        spec.spares = spares;
        double goodput = life_study(arena, &spec, 60, 7).goodput.mean;
        if (goodput < last - 1e-4) test_fail(__FILE__, __LINE__, "%d spares: %g after %g", spares, goodput, last);
        if (spares == 0) first = goodput;
        last = goodput;
    }
    EXPECT(last > first + 0.1); // and waiting was the trouble
    arena_close(arena);
}

LONG_TEST(2, the_simulated_best_interval_is_dalys_where_its_assumptions_hold) {
    const struct { double mtbf_s, write_s; } cases[] = {{3 * HOUR, 30}, {HOUR, 60}, {10 * HOUR, 300}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LifeSpec spec = plain(cases[i].mtbf_s, 600, cases[i].write_s);
        spec.horizon_s = 54 * DAY;
        double best = life_best_interval(&spec, 150, 1);
        EXPECT_NEAR(best, daly_interval(cases[i].write_s, cases[i].mtbf_s), 0.05);
    }
}

TEST(dalys_interval_is_the_least_of_dalys_wall_time) {
    double write_s = 120, mtbf_s = 2 * HOUR, best = 0, least = INFINITY;
    for (double every = 300; every < 5000; every += 1) {
        double wall = daly_wall_time(DAY, every, write_s, 600, mtbf_s);
        if (wall < least) least = wall, best = every;
    }
    EXPECT_NEAR(daly_interval(write_s, mtbf_s), best, 0.005);
    EXPECT_NEAR(young_interval(30, 3.09 * HOUR) / 60, 13.6, 0.01);
}

TEST(an_elastic_job_shrinks_where_a_rigid_one_waits) {
    Arena *arena = arena_open();
    LifeSpec spec = plain(0, 1800, 10);
    spec.nodes = 32, spec.restart_s = 300, spec.repair_s = DAY;
    spec.faults[FAULT_GPU] = (LifeFault){1 / (30 * DAY), 0, true, false};
    spec.horizon_s = 30 * DAY;
    LifeStudy rigid = life_study(arena, &spec, 40, 1);
    spec.nodes_per_replica = 2, spec.least_replicas = 4;
    LifeStudy elastic = life_study(arena, &spec, 40, 1);
    EXPECT(rigid.share[LIFE_WAITING] > 0.3);
    EXPECT(elastic.share[LIFE_WAITING] < 0.01);
    EXPECT(elastic.share[LIFE_SHRUNK] > 0.01);
    EXPECT(elastic.goodput.mean > rigid.goodput.mean + 0.2);
    arena_close(arena);
}

TEST(a_slow_node_takes_its_factor_from_all) {
    LifeSpec spec = plain(0, 3600, 0);
    spec.nodes = 16, spec.spares = 1, spec.repair_s = HOUR;
    spec.slow_rate = 1 / DAY, spec.slow_factor = 1.25, spec.slow_detection_s = 1000 * DAY;
    spec.horizon_s = 40 * DAY; // slow from the first day on, and never seen
    LifeRun run = life_run(&spec, 1);
    EXPECT_NEAR((double)run.spent[LIFE_SLOW] / (double)run.wall, 0.2, 0.02);
    spec.slow_detection_s = HOUR, spec.slow_rate = 1 / (160 * DAY);
    run = life_run(&spec, 1);
    EXPECT(run.stops[LIFE_SWAP] > 0);
    EXPECT((double)run.spent[LIFE_SLOW] / (double)run.wall < 0.02);
}

TEST(copies_in_memory_survive_one_node_but_not_a_rack) {
    LifeSpec spec = plain(0, 60, 1);
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_MEMORY,
                                       .every_s = 60,
                                       .storage_every_s = 6 * HOUR,
                                       .stall_s = 0.1,
                                       .copy_s = 1,
                                       .write_s = 10,
                                       .reload_s = 100,
                                       .memory_reload_s = 1};
    spec.nodes = 16, spec.spares = 8, spec.repair_s = HOUR;
    spec.horizon_s = 30 * DAY;
    spec.faults[FAULT_GPU] = (LifeFault){1 / (16 * DAY), 0, true, false};
    LifeRun one = life_run(&spec, 1);
    EXPECT((double)one.spent[LIFE_REWORK] / one.stops[FAULT_GPU] < 70e9);
    spec.faults[FAULT_GPU].node_rate = 0;
    spec.rack_nodes = 4, spec.rack_rate = 1 / (4 * DAY), spec.rack_repair_s = HOUR;
    LifeRun rack = life_run(&spec, 1);
    EXPECT((double)rack.spent[LIFE_REWORK] / rack.stops[LIFE_RACK] > HOUR * 1e9);
}

TEST(spot_notice_saves_what_would_be_lost) {
    Arena *arena = arena_open();
    LifeSpec spec = plain(0, 3600, 20);
    spec.nodes = 8, spec.spot_rate = 1 / (4 * DAY), spec.spot_wait_s = 600;
    spec.horizon_s = 20 * DAY;
    LifeStudy without = life_study(arena, &spec, 30, 1);
    spec.spot_notice_s = 120;
    LifeStudy with = life_study(arena, &spec, 30, 1);
    EXPECT(with.share[LIFE_REWORK] < 0.15 * without.share[LIFE_REWORK]);
    EXPECT(with.stops_mean[LIFE_SPOT] > 30);
    arena_close(arena);
}

TEST(exchanging_bad_nodes_leaves_fewer_failures) {
    Arena *arena = arena_open();
    LifeSpec spec = plain(0, 1800, 5);
    spec.nodes = 64, spec.spares = 8, spec.repair_s = 6 * HOUR, spec.restart_s = 60;
    spec.faults[FAULT_GPU] = (LifeFault){1 / (100 * DAY), 0, true, false};
    spec.bad_share = 0.086, spec.bad_factor = 30;
    spec.horizon_s = 200 * DAY;
    LifeStudy kept = life_study(arena, &spec, 30, 1);
    spec.strikes = 3;
    LifeStudy exchanged = life_study(arena, &spec, 30, 1);
    EXPECT(exchanged.stops.mean < 0.6 * kept.stops.mean);
    arena_close(arena);
}

// ---- What is certain before it is lived.

#define CERTAIN 1e-6 // expected exceptions, over all lives

// Of the best fleet, six standard deviations from the mean: failures a second that stop the job.
static double least_rate(const LifeSpec *spec) {
    double nodes = spec->least_replicas ? spec->least_replicas * spec->nodes_per_replica : spec->nodes, rate = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        if (i != FAULT_SILENT)
            rate += nodes * spec->faults[i].node_rate * exp(-6 * hypot(spec->fleet_spread, spec->faults[i].sigma));
    return rate / (1 + spec->bad_share * (spec->bad_factor - 1));
}

// After a failure the job starts again and trains to its next checkpoint: exponential gaps between failures say how
// often one is long enough.
TEST(lives_are_given_up_beforehand_where_no_gap_between_failures_lets_them_keep_anything) {
    enum { RUNS = 1 << 30 };
    Arena *arena = arena_open();
    int nowhere = 0, somewhere = 0;
    FOR_SEEDS (seed, 1, 400) {
        RandomStream random = random_stream(seed, "frail life", 0);
        LifeSpec spec = wild(seed);
        double more = pow(10, 3 + 4 * random_uniform(&random));
        for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) spec.faults[i].node_rate *= more;
        spec.shape = 1;
        if (seed % 3 == 0) spec.fleet_spread = spec.bad_share = 0;
        if (seed % 4 == 0) spec.patience = 3;
        if (seed % 5 == 0) spec.checkpoint.every_s = 0; // none: all the work at once
        const CheckpointPlan *plan = &spec.checkpoint;
        double length = spec.work_s > 0 ? spec.work_s : spec.horizon_s, rate = least_rate(&spec);
        double reload = plan->mode == CHECKPOINT_MEMORY ? plan->memory_reload_s : plan->reload_s;
        double try_s = spec.restart_s * exp(-6 * spec.restart_sigma) + reload +
                       (plan->every_s > 0 ? fmin(plan->every_s + plan->stall_s, length) : length);
        double tries = rate * length * (spec.patience > 0 ? spec.patience : LIFE_GIVES_UP);
        bool expected = RUNS * tries * exp(-rate * try_s) <= CERTAIN && RUNS * exp(-rate * 1e-3 * length) <= CERTAIN;
        const char *why = life_goes_nowhere(arena, &spec, RUNS);
        EXPECT((why != NULL) == expected);
        *(expected ? &nowhere : &somewhere) += 1;
        spec.shape = 0.7; // machines that age may fail less later
        EXPECT(!life_goes_nowhere(arena, &spec, RUNS));
    }
    EXPECT(nowhere > 100 && somewhere > 100);
    LifeSpec spec = plain(1, 100, 0);
    spec.work_s = DAY;
    spec.restart_s = 30, spec.checkpoint.reload_s = 10;
    EXPECT_TEXT(life_goes_nowhere(arena, &spec, 100),
                "the job fails every 1 s and takes 40 s to start again: it never gets anything done");
    EXPECT(!life_goes_nowhere(arena, &spec, 1)); // it is short enough to be lived
    arena_close(arena);
}

static uint64_t digest_figure(uint64_t digest, double value) {
    char text[32];
    snprintf(text, sizeof text, isnan(value) ? "unknown" : "%.10g", value);
    return digest_bytes(digest, text, strlen(text));
}

static uint64_t digest_summary(uint64_t digest, const Summary *summary) {
    const double figures[] = {summary->mean, summary->p5, summary->p50, summary->p95};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) digest = digest_figure(digest, figures[i]);
    return digest;
}

// All that is told of a life, of a few like it, and of it beforehand.
static uint64_t digest_life(const LifeSpec *spec, const LifeRun *run, uint64_t seed) {
    Arena *arena = arena_open();
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < LIFE_TIME_COUNT; i++) digest = digest_figure(digest, (double)run->spent[i]);
    for (int i = 0; i < LIFE_CAUSE_COUNT; i++) {
        digest = digest_figure(digest, run->stops[i]);
        digest = digest_figure(digest, (double)run->lost[i]);
    }
    digest = digest_figure(digest, run->finished);
    digest = digest_figure(digest, life_unplanned_rate(spec));
    digest = digest_figure(digest, life_patience(spec));
    digest = digest_figure(digest, checkpoint_least_loss(&spec->checkpoint, 1 / fmax(life_unplanned_rate(spec), 1e-9)));
    const char *nowhere = life_goes_nowhere(arena, spec, 1 << 30);
    digest = digest_bytes(digest, nowhere ? nowhere : "", nowhere ? strlen(nowhere) : 0);
    LifeStudy study = life_study(arena, spec, 3, seed);
    const Summary *const summaries[] = {&study.goodput, &study.ettr, &study.days, &study.stops};
    for (int i = 0; i < 4; i++) digest = digest_summary(digest, summaries[i]);
    digest = digest_figure(digest, study.mttf_s);
    for (int i = 0; i < LIFE_TIME_COUNT; i++) digest = digest_figure(digest, study.share[i]);
    for (int i = 0; i < LIFE_CAUSE_COUNT; i++)
        digest = digest_figure(digest, study.lost_share[i] + study.stops_mean[i]);
    LifeCalendar calendar = life_calendar(arena, spec, &study, seed);
    digest = digest_figure(digest, calendar.life + (double)calendar.width);
    for (int i = 0; i < calendar.count * LIFE_TIME_COUNT; i++)
        digest = digest_figure(digest, (double)calendar.stretches[i / LIFE_TIME_COUNT].spent[i % LIFE_TIME_COUNT]);
    for (int i = 0; i < calendar.count; i++) digest = digest_figure(digest, calendar.stretches[i].stops);
    arena_close(arena);
    return digest;
}

// What no formula says: everything that can fail at once.
TEST(wild_lives_are_lived_as_they_were) {
    GoldenText *text = golden_open();
    FOR_SEEDS (seed, 1, 120) {
        LifeSpec spec = wild(seed);
        if (seed % 3 == 0) spec.faults[FAULT_SILENT].node_rate *= 1000; // also before anything is kept
        LifeRun run = life_run(&spec, seed);
        fprintf(text->out, "life %d: %.3f s, trained %.3f s, %lld events, about %.6g, %016llx\n", (int)seed,
                1e-9 * (double)run.wall, 1e-9 * (double)run.spent[LIFE_TRAINING], (long long)run.events,
                life_events(&spec), (unsigned long long)digest_life(&spec, &run, seed));
    }
    golden_compare("lives.txt", text);
}
