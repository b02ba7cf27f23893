// The engine: formulas first, then laws over random systems, then folded against unfolded.
#include <string.h>

#include "sim/base/random.h"
#include "sim/fold.h"
#include "sim/program.h"
#include "sim/run.h"
#include "tests/child.h"
#include "tests/systems.h"
#include "tests/test.h"

static const char *const causes[] = {"work", "transfer", "other"};
static const Label labels[] = {{"", NULL, 0}};

static Op work(SimTime time) { return (Op){.kind = OP_WORK, .time = time}; }
static Op transfer(int slot, int plan) {
    return (Op){.kind = OP_TRANSFER, .cause = 1, .slot = (uint16_t)slot, .id = plan};
}

TEST(a_transfer_takes_latency_plus_bytes_over_bandwidth_after_the_last_member_joins) {
    Arena *arena = arena_open();
    LinkUse use = {0, 1.5};
    Plan plan = {.latency = 1000000, .bytes = 1e6, .fairness = 1, .uses = &use, .use_count = 1};
    Channel channel = {.plans = &plan, .plan_count = 1, .member_count = 2};
    Link link = {"wire", 1e9};
    Op early[] = {work(1000), transfer(0, 0)}, late[] = {work(5000000), transfer(0, 0), work(7)};
    Stream streams[] = {{"main", early, 2}, {"main", late, 3}};
    Program programs[] = {{.streams = &streams[0], .stream_count = 1, .slot_count = 1},
                          {.streams = &streams[1], .stream_count = 1, .slot_count = 1}};
    int32_t slots[] = {0};
    Actor actors[] = {{0, slots, 1, 0, 1}, {1, slots, 1, 0, 1}};
    System system = {.programs = programs,
                     .program_count = 2,
                     .actors = actors,
                     .actor_count = 2,
                     .channels = &channel,
                     .channel_count = 1,
                     .links = &link,
                     .link_count = 1,
                     .causes = causes,
                     .cause_count = 3,
                     .labels = labels,
                     .label_count = 1};
    RunResult result = run_system(arena, &system, &(RunOptions){0});
    SimTime done = 5000000 + 1000000 + 1500000000; // 1.5e6 bytes on a wire of 1e9 B/s: 1.5 ms
    EXPECT_INT(result.actor_end[0], done);
    EXPECT_INT(result.actor_end[1], done + 7);
    EXPECT_INT(result.spent[0], 1000);
    EXPECT_INT(result.spent[1], done - 1000);
    EXPECT_NEAR(result.link_bytes[0], 1.5e6, 0);
    arena_close(arena);
}

TEST(two_equal_transfers_on_one_link_take_twice_as_long) {
    Arena *arena = arena_open();
    LinkUse use = {0, 1};
    Plan plan = {.bytes = 1e6, .fairness = 1, .uses = &use, .use_count = 1};
    Channel channels[] = {{.plans = &plan, .plan_count = 1, .member_count = 1},
                          {.plans = &plan, .plan_count = 1, .member_count = 1}};
    Link link = {"wire", 1e9};
    Op ops[] = {transfer(0, 0)};
    Stream stream = {"main", ops, 1};
    Program program = {.streams = &stream, .stream_count = 1, .slot_count = 1};
    int32_t first[] = {0}, second[] = {1};
    Actor actors[] = {{0, first, 1, 0, 1}, {0, second, 1, 0, 1}};
    System system = {.programs = &program,
                     .program_count = 1,
                     .actors = actors,
                     .actor_count = 2,
                     .channels = channels,
                     .channel_count = 2,
                     .links = &link,
                     .link_count = 1,
                     .causes = causes,
                     .cause_count = 3,
                     .labels = labels,
                     .label_count = 1};
    EXPECT_INT(run_system(arena, &system, &(RunOptions){0}).end, 2000000000);
    system.actor_count = 1;
    EXPECT_INT(run_system(arena, &system, &(RunOptions){0}).end, 1000000000);
    arena_close(arena);
}

TEST(a_transfer_that_a_member_never_joins_is_stuck_and_names_who_is_missing) {
    Arena *arena = arena_open();
    Plan plan = {.latency = 5, .fairness = 1};
    Channel channel = {.plans = &plan, .plan_count = 1, .member_count = 2};
    Op joins[] = {transfer(0, 0)};
    Stream streams[] = {{"main", joins, 1}, {"main", joins, 0}};
    Program programs[] = {{.streams = &streams[0], .stream_count = 1, .slot_count = 1},
                          {.streams = &streams[1], .stream_count = 1, .slot_count = 1}};
    int32_t slots[] = {0}, missing[2];
    Actor actors[] = {{0, slots, 1, 0, 1}, {1, slots, 1, 0, 1}};
    System system = {.programs = programs,
                     .program_count = 2,
                     .actors = actors,
                     .actor_count = 2,
                     .channels = &channel,
                     .channel_count = 1,
                     .causes = causes,
                     .cause_count = 3,
                     .labels = labels,
                     .label_count = 1};
    RunResult result = run_system(arena, &system, &(RunOptions){0});
    EXPECT_INT(result.deadlocked_count, 1);
    EXPECT_INT(result.deadlocked[0].actor, 0);
    EXPECT_INT(run_missing_members(&system, &result, 0, missing, 2), 1);
    EXPECT_INT(missing[0], 1);
    arena_close(arena);
}

TEST(time_by_cause_sums_to_each_actors_end_of_main_stream) {
    FOR_SEEDS (seed, 1, MANY(200)) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        RunResult result = run_system(arena, system, &(RunOptions){.timeline = true});
        EXPECT_INT(result.deadlocked_count, 0);
        for (int a = 0; a < system->actor_count; a++) {
            SimTime sum = 0, main_end = 0;
            for (int c = 0; c < system->cause_count; c++) sum += result.spent[a * system->cause_count + c];
            for (int64_t i = 0; i < result.interval_count; i++)
                if (result.intervals[i].actor == a && result.intervals[i].stream == 0 &&
                    result.intervals[i].end > main_end)
                    main_end = result.intervals[i].end;
            EXPECT(sum <= result.actor_end[a] && sum >= main_end);
        }
        arena_close(arena);
    }
}

TEST(bytes_carried_are_the_plans_weights_times_bytes_and_links_are_never_overfull) {
    FOR_SEEDS (seed, 1, MANY(200)) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        double *expected = ARENA_ARRAY(arena, double, system->link_count);
        bool *done = ARENA_ARRAY(arena, bool, system->channel_count);
        for (int a = 0; a < system->actor_count; a++)
            for (int s = 0; s < 2; s++) {
                const Stream *stream = &system->programs[system->actors[a].program].streams[s];
                for (int64_t i = 0; i < stream->count; i++) {
                    if (stream->ops[i].kind != OP_TRANSFER) continue;
                    int32_t channel = system->actors[a].channels[stream->ops[i].slot];
                    const Plan *plan = &system->channels[channel].plans[stream->ops[i].id];
                    double share = 1.0 / system->channels[channel].member_count;
                    for (int u = 0; u < plan->use_count; u++)
                        expected[plan->uses[u].link] += plan->uses[u].weight * plan->bytes * share;
                }
            }
        (void)done;
        RunResult result = run_system(arena, system, &(RunOptions){0});
        for (int l = 0; l < system->link_count; l++) {
            EXPECT_NEAR(result.link_bytes[l], expected[l], 1e-9);
            EXPECT(result.link_bytes[l] <= system->links[l].bytes_per_second * step_seconds(result.end) * (1 + 1e-9));
        }
        arena_close(arena);
    }
}

TEST(folded_and_unfolded_runs_agree_to_the_tick) {
    int smaller = 0;
    FOR_SEEDS (seed, 1, MANY(1000)) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        Folded folded = fold_system(arena, system);
        EXPECT(!system_check(arena, &folded.system));
        RunResult whole = run_system(arena, system, &(RunOptions){0}),
                  part = run_system(arena, &folded.system, &(RunOptions){0});
        int differing = 0;
        for (int a = 0; a < system->actor_count; a++) {
            int k = folded.class_of[a];
            differing += whole.actor_end[a] != part.actor_end[k];
            for (int c = 0; c < system->cause_count; c++)
                differing += whole.spent[a * system->cause_count + c] != part.spent[k * system->cause_count + c];
        }
        if (differing) test_fail(__FILE__, __LINE__, "seed %llu: %d times differ", (unsigned long long)seed, differing);
        smaller += folded.system.actor_count < system->actor_count;
        arena_close(arena);
    }
    EXPECT(smaller > MANY(300)); // the random systems do fold
}

TEST(transfers_that_pass_without_events_take_the_same_time) {
    int64_t fewer = 0;
    FOR_SEEDS (seed, 1, MANY(600)) {
        Arena *arena = arena_open();
        System folded = fold_system(arena, random_system(arena, seed)).system;
        RunResult quick = run_system(arena, &folded, &(RunOptions){0}),
                  slow = run_system(arena, &folded, &(RunOptions){.all_meet = true});
        EXPECT_INT(quick.end, slow.end);
        if (quick.digest != slow.digest)
            test_fail(__FILE__, __LINE__, "seed %llu: times differ", (unsigned long long)seed);
        for (int l = 0; l < folded.link_count; l++) EXPECT_NEAR(quick.link_bytes[l], slow.link_bytes[l], 1e-12);
        fewer += slow.event_count - quick.event_count;
        arena_close(arena);
    }
    EXPECT(fewer > MANY(500));
}

LONG_TEST(2, routines_are_nothing_but_their_operations) {
    FOR_SEEDS (seed, 1, MANY(600)) {
        Arena *arena = arena_open();
        System flat = fold_system(arena, random_system(arena, seed)).system;
        const System *system = with_routines(arena, &flat, seed);
        EXPECT(!system_check(arena, system));
        for (int timeline = 0; timeline <= 1; timeline++) {
            RunOptions options = {.seed = seed, .timeline = timeline == 1};
            RunResult one = run_system(arena, &flat, &options), other = run_system(arena, system, &options);
            if (one.digest != other.digest)
                test_fail(__FILE__, __LINE__, "seed %llu: times differ", (unsigned long long)seed);
            EXPECT_INT(other.event_count, one.event_count);
            EXPECT_INT(other.op_count, one.op_count);
            EXPECT_INT(other.deadlocked_count, one.deadlocked_count);
            for (int l = 0; l < flat.link_count; l++) EXPECT_NEAR(other.link_bytes[l], one.link_bytes[l], 1e-12);
            EXPECT_INT(other.interval_count, one.interval_count);
            for (int64_t i = 0; i < one.interval_count; i++) {
                EXPECT_INT(other.intervals[i].end, one.intervals[i].end);
                EXPECT_INT(other.intervals[i].label, one.intervals[i].label);
            }
        }
        arena_close(arena);
    }
}

TEST(marks_that_are_taken_do_for_marks_of_each_round) {
    int64_t events = 0, most = 0;
    FOR_SEEDS (seed, 1, MANY(400)) {
        Arena *arena = arena_open();
        const System *each = beside_system(arena, seed, false), *taken = beside_system(arena, seed, true);
        EXPECT(!system_check(arena, each) && !system_check(arena, taken));
        RunResult one = run_system(arena, each, &(RunOptions){0}), other = run_system(arena, taken, &(RunOptions){0}),
                  slow = run_system(arena, taken, &(RunOptions){.all_meet = true});
        EXPECT_INT(one.deadlocked_count, 0);
        EXPECT_INT(other.deadlocked_count, 0);
        if (one.digest != other.digest || one.digest != slow.digest)
            test_fail(__FILE__, __LINE__, "seed %llu: times differ", (unsigned long long)seed);
        EXPECT_INT(other.event_count, one.event_count);
        EXPECT_INT(other.op_count, one.op_count);
        events += other.event_count;
        most += slow.event_count;
        arena_close(arena);
    }
    EXPECT(events < most * 9 / 10); // some meet, some do not
    EXPECT(events > most / 20);
}

TEST(no_system_takes_less_than_its_busiest_stream_or_link_or_than_without_contention) {
    double close = 0;
    int contended = 0;
    FOR_SEEDS (seed, 1, MANY(600)) {
        Arena *arena = arena_open();
        const System *system = seed % 2 ? random_system(arena, seed) : beside_system(arena, seed, seed % 4 == 0);
        System folded = fold_system(arena, system).system;
        double least = least_seconds(&folded), whole = least_seconds(system);
        RunResult result = run_system(arena, &folded, &(RunOptions){0}),
                  alone = run_system(arena, &folded, &(RunOptions){.uncontended = true});
        EXPECT_INT(alone.deadlocked_count, 0);
        EXPECT(alone.end <= result.end && alone.end > 0);
        contended += alone.end < result.end - 1000;
        EXPECT(least <= step_seconds(result.end) && whole <= step_seconds(result.end));
        EXPECT(least > 0 && whole > 0);
        close += least / step_seconds(result.end) / MANY(600);
        arena_close(arena);
    }
    EXPECT(close > 0.5); // and it says something
    EXPECT(contended > MANY(100));
}

TEST(merging_equal_links_changes_no_time) {
    FOR_SEEDS (seed, 1, MANY(300)) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        System merged = merge_equal_links(arena, system);
        EXPECT(merged.link_count <= system->link_count);
        EXPECT_INT(run_system(arena, &merged, &(RunOptions){0}).digest,
                   run_system(arena, system, &(RunOptions){0}).digest);
        arena_close(arena);
    }
}

TEST(the_order_of_actors_and_channels_does_not_change_any_time) {
    FOR_SEEDS (seed, 1, MANY(100)) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        int count = system->actor_count;
        Actor *reversed = ARENA_ARRAY(arena, Actor, count);
        for (int a = 0; a < count; a++) reversed[a] = system->actors[count - 1 - a];
        System other = *system;
        other.actors = reversed;
        RunResult one = run_system(arena, system, &(RunOptions){0}), two = run_system(arena, &other, &(RunOptions){0});
        for (int a = 0; a < count; a++) EXPECT_INT(two.actor_end[a], one.actor_end[count - 1 - a]);
        arena_close(arena);
    }
}

TEST(jitter_repeats_with_its_seed_and_changes_with_another) {
    Arena *arena = arena_open();
    const System system = *with_jitter(arena, random_system(arena, 7), 0.05);
    uint64_t one = run_system(arena, &system, &(RunOptions){.seed = 1}).digest;
    EXPECT(one == run_system(arena, &system, &(RunOptions){.seed = 1}).digest);
    EXPECT(one != run_system(arena, &system, &(RunOptions){.seed = 2}).digest);
    EXPECT_INT(fold_system(arena, &system).system.actor_count, system.actor_count);
    arena_close(arena);
}

TEST(whoever_passes_routines_together_takes_the_time_of_meeting_in_every_transfer) {
    FOR_SEEDS (seed, 1, MANY(600)) {
        Arena *arena = arena_open();
        const System *flat = seed % 2 ? beside_system(arena, seed, true) : random_system(arena, seed);
        const System *system = with_jitter(arena, seed % 2 ? flat : with_routines(arena, flat, seed), 0.1);
        RunResult quick = run_system(arena, system, &(RunOptions){.seed = seed}),
                  slow = run_system(arena, system, &(RunOptions){.seed = seed, .all_meet = true});
        if (quick.digest != slow.digest)
            test_fail(__FILE__, __LINE__, "seed %llu: times differ", (unsigned long long)seed);
        EXPECT_INT(quick.op_count, slow.op_count);
        EXPECT_INT(quick.deadlocked_count, slow.deadlocked_count);
        for (int l = 0; l < system->link_count; l++) EXPECT_NEAR(quick.link_bytes[l], slow.link_bytes[l], 1e-12);
        arena_close(arena);
    }
}

TEST(an_arena_does_not_grow_while_a_system_runs_longer) {
    // The same system with ten times the work allocates the same once its queues stand.
    Arena *arena = arena_open();
    const System *system = random_system(arena, 11);
    size_t before = arena_bytes_used(arena);
    run_system(arena, system, &(RunOptions){0});
    size_t once = arena_bytes_used(arena) - before;
    System longer = *system;
    Program *programs = ARENA_ARRAY(arena, Program, system->program_count);
    for (int p = 0; p < system->program_count; p++) {
        programs[p] = system->programs[p];
        Stream *streams = ARENA_ARRAY(arena, Stream, 2);
        streams[1] = (Stream){"side", NULL, 0};
        Op *ops = ARENA_ARRAY(arena, Op, 1000);
        for (int i = 0; i < 1000; i++) ops[i] = i % 2 ? transfer(0, 0) : work(1000);
        streams[0] = (Stream){"main", ops, 1000};
        programs[p].streams = streams;
    }
    longer.programs = programs;
    before = arena_bytes_used(arena);
    run_system(arena, &longer, &(RunOptions){0});
    EXPECT(arena_bytes_used(arena) - before <= once + 1024);
    arena_close(arena);
}
