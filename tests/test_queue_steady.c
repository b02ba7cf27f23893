// How long a queue is watched: where its beginning ends, what its intervals cover, and what is said of a run that is
// too short.
#include "models/workload/queue/queue.h"

#include <math.h>

#include "scenarios/queue/command_queue.h"
#include "sim/base/random.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/test.h"

// ---- The beginning.

TEST(a_slope_at_the_beginning_is_cut_and_nothing_else) {
    FOR_SEEDS (seed, 1, 20) {
        double series[2000];
        RandomStream random = random_stream(seed, "steady", 0);
        for (int i = 0; i < 2000; i++) series[i] = (i < 300 ? i / 3.0 : 100) + random_uniform(&random);
        WarmUp warm_up = queue_warm_up(series, 2000);
        EXPECT(warm_up.settled && warm_up.cut >= 285 && warm_up.cut <= 330);
    }
}

TEST(what_grows_to_its_end_has_not_settled) {
    double series[1000];
    for (int i = 0; i < 1000; i++) series[i] = i;
    EXPECT(!queue_warm_up(series, 1000).settled);
    EXPECT(!queue_warm_up(series, 49).settled); // nine batches of five: nothing can be said
    for (int i = 0; i < 1000; i++) series[i] = 3;
    EXPECT(queue_warm_up(series, 1000).settled && queue_warm_up(series, 1000).cut == 0);
}

// All cuts, worked out plainly.
TEST(mser_is_the_cut_after_which_the_mean_is_known_best) {
    FOR_SEEDS (seed, 1, 30) {
        double series[160], best = INFINITY;
        RandomStream random = random_stream(seed, "steady", 1);
        for (int i = 0; i < 160; i++) series[i] = random_uniform(&random) * (i < 40 ? 5 : 1);
        int cut = 0;
        for (int d = 16; d >= 0; d--) {
            double means[32], mean = 0, squares = 0;
            int left = 32 - d;
            for (int b = d; b < 32; b++) {
                means[b] = 0;
                for (int i = 0; i < 5; i++) means[b] += series[5 * b + i] / 5;
                mean += means[b] / left;
            }
            for (int b = d; b < 32; b++) squares += (means[b] - mean) * (means[b] - mean);
            if (squares / left / left <= best) best = squares / left / left, cut = 5 * d;
        }
        EXPECT_INT(queue_warm_up(series, 160).cut, cut);
    }
}

// ---- Intervals.

static QueueSpec one_server(double warm_up) {
    return (QueueSpec){
        .nodes = 1, .gpus_per_node = 1, .policy = &queue_policies[0], .warm_up = warm_up, .keep_history = true};
}

static const QueueJobs *mm1(Arena *arena, uint64_t seed, double load, int count) {
    QueueDemand demand = {.jobs = count, .per_second = load, .burstiness = 1, .users = 1, .seed = seed};
    demand.sizes = (Sizes){.items = {{1, 1}}, .count = 1};
    demand.durations = (Durations){.kind = DURATION_EXPONENTIAL, .mean_s = 1};
    return queue_draw(arena, &demand);
}

// M/M/1 at a load of 0.5: jobs wait 1 s in the mean and the server is busy for half of the time.
TEST(intervals_by_batches_cover_what_formulas_say_nine_times_in_ten) {
    int covered = 0, covered_use = 0, runs = 200;
    FOR_SEEDS (seed, 1, 200) {
        Arena *arena = arena_open();
        QueueSpec spec = one_server(0.05);
        const QueueJobs *jobs = mm1(arena, seed, 0.5, 8000);
        QueueRun run = queue_run(arena, &spec, jobs);
        QueueSample samples[QUEUE_BATCHES];
        EXPECT_INT(queue_batches(&spec, jobs, &run, samples), QUEUE_BATCHES);
        QueueInterval wait = queue_interval(samples, QUEUE_BATCHES, QUEUE_WAIT_MEAN, true);
        QueueInterval use = queue_interval(samples, QUEUE_BATCHES, QUEUE_IN_USE, true);
        covered += fabs(wait.mean - 1) <= wait.half;
        covered_use += fabs(use.mean - 0.5) <= use.half;
        arena_close(arena);
    }
    EXPECT(covered > 0.83 * runs && covered < 0.97 * runs);
    EXPECT(covered_use > 0.83 * runs && covered_use < 0.97 * runs);
}

TEST(batches_together_are_the_run) {
    Arena *arena = arena_open();
    QueueSpec spec = one_server(0);
    const QueueJobs *jobs = mm1(arena, 3, 0.7, 4000);
    QueueRun run = queue_run(arena, &spec, jobs);
    QueueMeasures measures = queue_measure(arena, &spec, jobs, &run);
    QueueSample samples[QUEUE_BATCHES], whole = queue_sample(&run, &measures);
    queue_batches(&spec, jobs, &run, samples);
    double wait = 0, busy = 0, span = 0;
    for (int b = 0; b < QUEUE_BATCHES; b++) {
        int first = b * 200, next = b < QUEUE_BATCHES - 1 ? first + 200 : 3999;
        double length = (double)(jobs->items[next].arrival - jobs->items[first].arrival);
        wait += samples[b].figures[QUEUE_WAIT_MEAN] / QUEUE_BATCHES;
        busy += samples[b].figures[QUEUE_IN_USE] * length;
        span += length;
    }
    EXPECT_NEAR(wait, whole.figures[QUEUE_WAIT_MEAN], 1e-9);
    EXPECT_NEAR(busy / span, whole.figures[QUEUE_IN_USE], 1e-9);
    EXPECT_INT(queue_batches(&spec, mm1(arena, 3, 0.7, 199), &run, samples), 0);
    arena_close(arena);
}

TEST(students_interval_is_what_its_table_says_and_likeness_widens_it) {
    const QueueSample apart[] = {{{1}}, {{5}}, {{2}}, {{4}}, {{3}}}, rising[] = {{{1}}, {{2}}, {{3}}, {{4}}, {{5}}};
    double half = 2.132 * sqrt(2.5 / 5); // of five numbers with a variance of 2.5
    EXPECT_NEAR(queue_interval(apart, 5, QUEUE_WAIT_MEAN, false).half, half, 1e-12);
    EXPECT_NEAR(queue_interval(apart, 5, QUEUE_WAIT_MEAN, true).half, half, 1e-12); // one after the other unlike
    EXPECT_NEAR(queue_interval(rising, 5, QUEUE_WAIT_MEAN, true).half, half * sqrt(1.4 / 0.6), 1e-12); // r = 4/10
    EXPECT(isnan(queue_interval(apart, 1, QUEUE_WAIT_MEAN, false).half));
    QueueInterval pairs = queue_difference(rising, rising, 5, QUEUE_WAIT_MEAN, false);
    EXPECT(pairs.mean == 0 && pairs.half == 0);
}

TEST(on_the_same_jobs_a_small_difference_shows_that_two_intervals_hide) {
    Arena *arena = arena_open();
    QueueSample slow[5], fast[5];
    for (int s = 0; s < 5; s++) {
        const QueueJobs *jobs = mm1(arena, (uint64_t)s + 1, 0.9, 20000);
        QueueJob *faster = ARENA_ARRAY(arena, QueueJob, jobs->count);
        for (int i = 0; i < jobs->count; i++) faster[i] = jobs->items[i], faster[i].work -= faster[i].work / 50;
        QueueJobs other = *jobs;
        other.items = faster;
        QueueSpec spec = one_server(0.1);
        QueueRun a = queue_run(arena, &spec, jobs), b = queue_run(arena, &spec, &other);
        QueueMeasures of_a = queue_measure(arena, &spec, jobs, &a), of_b = queue_measure(arena, &spec, &other, &b);
        slow[s] = queue_sample(&a, &of_a), fast[s] = queue_sample(&b, &of_b);
    }
    QueueInterval one = queue_interval(slow, 5, QUEUE_WAIT_MEAN, false),
                  two = queue_interval(fast, 5, QUEUE_WAIT_MEAN, false);
    QueueInterval pair = queue_difference(fast, slow, 5, QUEUE_WAIT_MEAN, false);
    EXPECT(one.mean - two.mean < one.half + two.half); // apart they overlap
    EXPECT(pair.mean < 0 && -pair.mean > pair.half);   // in pairs they differ
    arena_close(arena);
}

// ---- Load.

// Two servers; jobs of 3, 4 and 5 s on 2, 1 and 2 GPUs come at 0, 5 and 10 s: 20 GPU seconds of 2 x 10.
TEST(the_load_that_is_offered_is_work_over_what_the_gpus_can_do_meanwhile) {
    QueueSpec spec = {.nodes = 1, .gpus_per_node = 2};
    QueueJob jobs[] = {{.arrival = 0, .work = 3 * TICKS_PER_SECOND_LIFE, .gpus = 2},
                       {.arrival = 5 * TICKS_PER_SECOND_LIFE, .work = 4 * TICKS_PER_SECOND_LIFE, .gpus = 1},
                       {.arrival = 10 * TICKS_PER_SECOND_LIFE, .work = 5 * TICKS_PER_SECOND_LIFE, .gpus = 2}};
    QueueJobs list = {.items = jobs, .count = 3};
    EXPECT_NEAR(queue_offered_load(&spec, &list), 1, 1e-12);
    spec.nodes = 4;
    EXPECT_NEAR(queue_offered_load(&spec, &list), 0.25, 1e-12);
    list.count = 1; // no time passes
    EXPECT_NEAR(queue_offered_load(&spec, &list), 0, 0);
    list.count = 0;
    EXPECT_NEAR(queue_offered_load(&spec, &list), 0, 0);
}

// What each job finds, itself counted in, by looking at all others: who has come and not gone.
TEST(demand_at_each_arrival_is_of_the_jobs_that_are_there) {
    FOR_SEEDS (seed, 1, 20) {
        Arena *arena = arena_open();
        QueueSpec spec = one_server(0);
        const QueueJobs *jobs = mm1(arena, seed, 0.8, 200);
        QueueRun run = queue_run(arena, &spec, jobs);
        double series[200] = {0};
        queue_add_demand(jobs, &run, series);
        for (int i = 0; i < 200; i++) {
            double there = 0;
            for (int j = 0; j < 200; j++) {
                bool came = j <= i, gone = run.outcomes[j].end <= jobs->items[i].arrival;
                there += came && !gone ? queue_job_width(&jobs->items[j]) : 0;
            }
            EXPECT_NEAR(series[i], there, 0);
        }
        arena_close(arena);
    }
}

// ---- What is said.

TEST(a_run_of_1500_jobs_at_90_percent_does_not_show_61_percent_without_a_word) {
    const Ended *ended = run_command(command_queue, "queue --gpus 512 --load 0.9 --jobs 1500 --plain");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "too short to say: 61.4 % is in use where 90.0 % is offered");
    EXPECT_CONTAINS(ended->out, "no job waits: this run cannot tell one policy from another");
    EXPECT_CONTAINS(ended->out, "the same wait");
}

// First come, first served cannot fill these GPUs with whole nodes, however long it runs; of several sizes the overload
// is that of the smallest.
TEST(a_cluster_that_never_keeps_up_is_not_called_a_run_too_short) {
    const Ended *ended = run_command(command_queue, "queue --gpus 64 --load 0.9 --policy fifo --jobs 10000 --plain");
    EXPECT_CONTAINS(ended->out, "72.6 % of 64 GPUs are in use at most where 90.0 % is offered: fifo cannot keep up");
    EXPECT(strstr(ended->out, "too short to say") == NULL);
    ended = run_command(command_queue, "queue --gpus 512,0.5x --load 0.9 --jobs 1000 --policy easy --plain");
    EXPECT_CONTAINS(ended->out, "180 % of what 256 GPUs can do comes");
    EXPECT(strstr(ended->out, "too short to say") == NULL);
}

TEST(without_jobs_a_run_lengthens_until_what_is_offered_is_in_use) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Ended *ended = run_command(command_queue, "queue --gpus 4096 --load 0.8 --policy easy,first-fit --json");
    const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
    const Json *row = &json_get(json, "policies")->items[0];
    EXPECT(json_get(row, "jobs")->number > 10000);
    EXPECT_NEAR(json_get(row, "utilisation")->number, 0.8, 0.03);
    EXPECT(json_get(row, "utilisation_half")->number > 0 && json_get(row, "utilisation_half")->number < 0.05);
    EXPECT(json_get(json, "differences")->count == 1);
    arena_close(arena);
}

TEST(a_wait_that_can_be_known_is_known_as_well_as_asked) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    static const char line[] =
        "queue --gpus 8 --load 0.8 --sizes 1:1 --durations exponential:1h --policy fifo --within %s --json";
    const char *const within[] = {"30%", "6%"};
    double jobs[2];
    for (int i = 0; i < 2; i++) {
        const Ended *ended = run_command(command_queue, arena_printf(arena, line, within[i]));
        const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
        const Json *row = &json_get(json, "policies")->items[0];
        double mean = json_get(row, "wait_mean_s")->number, half = json_get(row, "wait_mean_half_s")->number;
        EXPECT(half <= (i == 0 ? 0.3 : 0.06) * fmax(mean, 36)); // or of a hundredth of the mean job
        jobs[i] = json_get(row, "jobs")->number;
    }
    EXPECT(jobs[1] > jobs[0]);
    arena_close(arena);
}

TEST(more_work_than_the_gpus_can_do_is_said_with_what_it_leads_to) {
    const Ended *ended = run_command(command_queue, "queue --gpus 512 --load 1.2 --policy easy --jobs 3000 --plain");
    // 20 % of 512 GPUs for 24 h; after a week the work of 1.4 days waits.
    EXPECT_CONTAINS(ended->out, "120 % of what 512 GPUs can do comes: every day the queue grows by 2,500 GPU-hours");
    EXPECT_CONTAINS(ended->out, "after a week jobs wait about 33.6 h");
}

static const Json *first_row(Arena *arena, const char *line, const char *table) {
    const Ended *ended = run_command(command_queue, line);
    return &json_get(json_read_text(arena, "out", ended->out, strlen(ended->out), problems_create(arena)), table)
                ->items[0];
}

// As help says, also of so many jobs: the same as with the cut that MSER-5 finds, and easy is not said to fall behind.
TEST(the_beginning_is_cut_from_a_run_of_given_length_and_from_the_sizes_that_are_sought) {
    Arena *arena = arena_open();
    const char *line = "queue --gpus 696 --mix gavel --jobs-per-hour 20 --policy easy --jobs 10000 --seeds 4";
    double wait = json_get(first_row(arena, arena_printf(arena, "%s --json", line), "policies"), "wait_p95_s")->number;
    const char *uncut = arena_printf(arena, "%s --warm-up 0.1 --json", line);
    EXPECT(wait > 1.1 * json_get(first_row(arena, uncut, "policies"), "wait_p95_s")->number);
    const Ended *ended = run_command(command_queue, arena_printf(arena, "%s -v --plain", line));
    EXPECT(strstr(ended->out, "find an emptier cluster") == NULL);
    EXPECT(strstr(ended->out, "cannot keep up") == NULL);
    const char *sought =
        "queue --find-gpus --wait-p95 1h --mix gavel --jobs-per-hour 20 --seeds 4 --most-gpus 704 --json";
    const Ended *found = run_command(command_queue, sought);
    const Json *sizes =
        json_get(json_read_text(arena, "out", found->out, strlen(found->out), problems_create(arena)), "sizes");
    for (int i = 0; i < sizes->count; i++) {
        const Json *row = &sizes->items[i];
        EXPECT(fabs(json_get(row, "load")->number * json_get(row, "gpus")->number - 620) < 20);
        if (json_get(row, "gpus")->number == 696) EXPECT(json_get(row, "utilisation")->number > 0.88);
    }
    arena_close(arena);
}

TEST(a_quota_below_what_its_user_sends_is_named_and_no_longer_run_is_asked_for) {
    const Ended *ended =
        run_command(command_queue, "queue --gpus 512 --load 0.9 --policy easy --jobs 4000 --quota 1:64 --plain");
    EXPECT_CONTAINS(ended->out, "the quota of user 1 holds back more than it lets run");
    EXPECT_CONTAINS(ended->out, "may hold 64");
    EXPECT(strstr(ended->out, "too short to say") == NULL);
    ended = run_command(command_queue, "queue --gpus 512 --load 0.5 --policy easy --quota 1:256 --jobs 2000 --plain");
    EXPECT(strstr(ended->out, "the quota of") == NULL);
}

TEST(what_a_row_says_is_in_one_unit_and_counts_have_separators) {
    const Ended *ended = run_wide(command_queue, "queue --gpus 1026 --load 0.95 --policy easy --jobs 3000 -v");
    EXPECT_CONTAINS(ended->out, "3,000 jobs of the mix gavel on 1,032 GPUs (129 x dgx-h100)");
    EXPECT_CONTAINS(ended->out, "1,026 GPUs are 1,032 in whole nodes of 8");
    EXPECT_CONTAINS(ended->out, "Means of 5 runs, of each one's p50 and p95 too");
    EXPECT(strstr(ended->out, "20.00") == NULL && strstr(ended->out, "e+0") == NULL);
    EXPECT_CONTAINS(ended->out, "16.8 h");
}

TEST(a_length_that_is_given_and_sought_at_once_is_refused) {
    const Ended *ended = run_command(command_queue, "queue --gpus 64 --load 0.5 --jobs 500 --within 5%");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "--jobs fixes the length that --within would find");
}

// ---- How many GPUs, with what chance.

TEST(the_chance_of_a_size_is_counted_over_runs_and_grows_with_it) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    static const char line[] =
        "queue --find-gpus --wait-p95 30min --chance 80% --sizes 1:0.8,8:0.2 --durations exponential:1h "
        "--jobs-per-hour 30 --jobs 1500 --seeds 10 --json";
    const Ended *ended = run_command(command_queue, line);
    const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
    const Json *sizes = json_get(json, "sizes"), *answer = &json_get(json, "answers")->items[0];
    double last = 0, likely = json_get(answer, "gpus")->number, before = 0;
    for (int i = 0; i < sizes->count; i++) {
        double chance = json_get(&sizes->items[i], "chance")->number, gpus = json_get(&sizes->items[i], "gpus")->number;
        double runs = chance * 11 - 0.5; // (runs that meet it + 1/2) / (10 + 1)
        EXPECT_NEAR(runs, round(runs), 1e-9);
        EXPECT(chance >= last - 0.1);
        if (gpus == likely) EXPECT(chance >= 0.8 && json_get(answer, "chance")->number == chance);
        EXPECT((chance >= 0.8) == (strcmp(json_get(&sizes->items[i], "meets")->text, "yes") == 0));
        if (gpus == likely - 8) before = chance;
        last = chance;
    }
    EXPECT(before > 0 && before < 0.8);
    EXPECT_CONTAINS(ended->out, "\"weakest_assumption\": \"an open stream");
    EXPECT_CONTAINS(ended->out, "\"measure_first\": \"a month");
    arena_close(arena);
}

TEST(a_trace_drawn_again_is_made_of_its_days_and_keeps_weekdays) {
    Arena *arena = arena_open();
    QueueJob list[210];
    for (int i = 0; i < 210; i++) { // ten jobs a day for three weeks; the GPUs tell the day
        int day = i / 10;
        list[i] = (QueueJob){.arrival = (day * 86400 + i % 10 * 3600) * TICKS_PER_SECOND_LIFE,
                             .work = 5,
                             .estimate = 5,
                             .gpus = day + 1,
                             .row = i};
    }
    const QueueJobs *jobs = queue_jobs_sorted(arena, list, 210, 1, NULL);
    bool differs = false;
    EXPECT_INT(queue_trace_days(jobs), 21);
    FOR_SEEDS (seed, 1, 20) {
        const QueueJobs *again = queue_bootstrap(arena, jobs, seed);
        EXPECT_INT(again->count, 210);
        for (int i = 0; i < again->count; i++) {
            int day = (int)(again->items[i].arrival / (86400 * TICKS_PER_SECOND_LIFE)),
                source = again->items[i].gpus - 1;
            EXPECT_INT(day % 7, source % 7);
            EXPECT(i == 0 || again->items[i].arrival >= again->items[i - 1].arrival);
            differs = differs || day != source;
        }
    }
    EXPECT(differs);
    QueueJobs few = *jobs;
    few.count = 10; // one day
    EXPECT(queue_bootstrap(arena, &few, 1) == &few);
    arena_close(arena);
}

TEST(several_sizes_meet_the_same_jobs_and_the_smaller_waits_longer) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Ended *ended =
        run_command(command_queue, "queue --gpus 64,0.75x,128 --jobs-per-hour 40 --sizes 1:1 --durations "
                                   "exponential:1h --jobs 3000 --policy easy --json");
    const Json *json = json_read_text(arena, "out", ended->out, strlen(ended->out), problems);
    const Json *rows = json_get(json, "policies"), *pairs = json_get(json, "differences");
    EXPECT(rows->count == 3 && pairs->count == 2);
    EXPECT_TEXT(json_get(&rows->items[1], "policy")->text, "easy, 48 GPUs");
    EXPECT(json_get(&rows->items[1], "wait_mean_s")->number >= json_get(&rows->items[0], "wait_mean_s")->number);
    EXPECT_NEAR(json_get(&rows->items[2], "utilisation")->number * 2, json_get(&rows->items[0], "utilisation")->number,
                1e-3);
    static const struct {
        const char *line, *says;
    } wrong[] = {{"queue --gpus 64,63 --load 0.5", "the same number of nodes twice"},
                 {"queue --gpus 0.5x --load 0.5", "--gpus cannot be \"0.5x\""},
                 {"queue --gpus 0 --load 0.5", "--gpus cannot be \"0\""},
                 {"queue --gpus 64,8 --load 0.5 --sizes 16:1", "a job wants 16 GPUs, and one of the sizes is 8"},
                 {"queue --gpus 64 --load 0.5 --chance 0.9", "--chance is of a goal"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ended = run_command(command_queue, wrong[i].line);
        EXPECT_INT(ended->code, 4);
        EXPECT_CONTAINS(ended->err, wrong[i].says);
    }
    arena_close(arena);
}
