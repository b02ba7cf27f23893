// What repeats is added as a multiple: nothing may tell the run from one that goes through all of it.
#include "sim/fold.h"
#include "sim/run.h"
#include "tests/child.h"
#include "tests/jobs.h"
#include "tests/laws.h"
#include "tests/systems.h"
#include "tests/test.h"

typedef struct Tally {
    int64_t events, added;
    int runs, shorter;
} Tally;

static void run_both(Arena *arena, const System *system, bool uncontended, Tally *tally, const char *what) {
    RunResult quick = run_system(arena, system, &(RunOptions){.uncontended = uncontended}),
              slow = run_system(arena, system, &(RunOptions){.uncontended = uncontended, .all_periods = true});
    if (quick.digest != slow.digest || quick.end != slow.end) test_fail(__FILE__, __LINE__, "%s: times differ", what);
    EXPECT_INT(quick.deadlocked_count, slow.deadlocked_count);
    EXPECT_SAME(quick.beyond_clock, slow.beyond_clock);
    EXPECT_INT(quick.op_count, slow.op_count);
    EXPECT_INT(slow.added_count, 0);
    for (int a = 0; a < system->actor_count; a++) EXPECT_INT(quick.actor_end[a], slow.actor_end[a]);
    for (int l = 0; l < system->link_count; l++) EXPECT_SAME(quick.link_bytes[l], slow.link_bytes[l]);
    tally->events += slow.event_count;
    tally->added += quick.added_count;
    tally->runs++;
    tally->shorter += quick.added_count > 0;
}

TEST(random_systems_over_and_over_take_the_time_of_going_through_all_of_it) {
    Tally tally = {0};
    FOR_SEEDS (seed, 1, MANY(400)) {
        Arena *arena = arena_open();
        char what[64];
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        const System *once = seed % 3 == 0   ? beside_system(arena, seed, seed % 2)
                             : seed % 3 == 1 ? with_routines(arena, random_system(arena, seed), seed)
                                             : random_system(arena, seed);
        const System *system = repeated_system(arena, once, 8 + (int)(seed % 50));
        System folded = fold_system(arena, system).system;
        run_both(arena, seed % 4 ? &folded : system, seed % 5 == 0, &tally, what);
        arena_close(arena);
    }
    EXPECT(tally.shorter > MANY(100));
    EXPECT(tally.added > tally.events / 4);
}

static void open_pipeline(Case *c, int i) {
    static const Schedule schedules[] = {SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_INTERLEAVED,
                                         SCHEDULE_ZB_H1, SCHEDULE_ZB_V, SCHEDULE_DUALPIPE};
    case_open(c, i % 4 == 3 ? 32 : 16, "gpt2-355m");
    Schedule schedule = schedules[i % 6];
    Layout layout = {.tp = 1 << i % 3, .pp = i / 6 % 2 ? 4 : 2, .vpp = 1};
    if (schedule == SCHEDULE_INTERLEAVED) layout.vpp = 2;
    layout.sequence_parallel = layout.tp > 1;
    layout.zero = i / 12 % 2;
    layout.cp = i % 7 == 6 ? 2 : 1;
    c->training.layout = layout;
    c->training.schedule = schedule;
    c->training.micro_batch = 1;
    c->training.tp_overlap = i % 5 == 4;
    c->training.straggler = i % 11 == 10 ? 1.3 : 1;
    if (i % 9 == 8) c->model.experts = (ExpertShape){.count = 8, .per_token = 2, .ffn = 1024, .every = 2};
    c->training.global_batch =
        (double)(i % 16 == 5 ? 8 : 64) * c->cluster->gpu_count / layout.tp / layout.pp / layout.cp;
}

LONG_TEST(4, every_schedule_takes_the_time_of_going_through_all_micro_batches) {
    Tally by_schedule[6] = {{0}};
    for (int i = 0; i < 72; i++) {
        Case c;
        open_pipeline(&c, i);
        char what[64];
        snprintf(what, sizeof what, "case %d", i);
        Folded folded;
        const Lowered *lowered = lower_folded(c.arena, c.cluster, &c.training, NULL, &folded, c.problems);
        if (lowered) run_both(c.arena, &folded.system, i % 13 == 12, &by_schedule[i % 6], what);
        lowered = i % 2 ? lower_training(c.arena, c.cluster, &c.training, c.problems) : NULL;
        if (lowered) {
            System merged = merge_equal_links(c.arena, lowered->system);
            run_both(c.arena, &merged, false, &by_schedule[i % 6], what);
        }
        arena_close(c.arena);
    }
    for (int s = 0; s < 6; s++) {
        if (getenv("PERIODS"))
            printf("schedule %d: %d runs, %d shorter, %lld of %lld events added\n", s, by_schedule[s].runs,
                   by_schedule[s].shorter, (long long)by_schedule[s].added, (long long)by_schedule[s].events);
        EXPECT(by_schedule[s].runs > 0);
    }
    EXPECT(by_schedule[1].added > by_schedule[1].events / 2); // 1F1B
}

static void simulate_both(Case *c, int *shorter, const char *what) {
    bool is_shorter;
    Folded folded;
    if (!lower_shortened(c->arena, c->cluster, &c->training, NULL, &folded, &is_shorter, c->problems)) return;
    *shorter += is_shorter;
    SimulationOptions options = {.assume_fits = true};
    SimulatedStep quick = simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
    options.all_micro_batches = true;
    SimulatedStep slow = simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
    if (quick.digest != slow.digest) test_fail(__FILE__, __LINE__, "%s: times differ", what);
    EXPECT_SAME(quick.ran, slow.ran);
    EXPECT_SAME(quick.step_p50_s, slow.step_p50_s);
    EXPECT_INT(quick.event_count, slow.event_count);
    for (int cause = 0; cause < CAUSE_COUNT; cause++) EXPECT_SAME(quick.spent[cause], slow.spent[cause]);
}

LONG_TEST(4, programs_that_leave_micro_batches_out_take_the_time_of_those_that_have_all) {
    int shorter = 0;
    for (int i = 0; i < MANY(120); i++) {
        Case c;
        open_pipeline(&c, i);
        int replicas = (int)c.training.global_batch % 3 + 1;
        c.training.global_batch *= 1 + replicas + i % 2;
        c.training.overlap_param_gather = i % 10 == 3;
        char what[64];
        snprintf(what, sizeof what, "case %d", i);
        simulate_both(&c, &shorter, what);
        arena_close(c.arena);
    }
    // A long way in: a quarter of the program does forwards alone.
    for (int i = 0; i < MANY(24); i++) {
        Case c;
        case_open(&c, 16, "gpt2-355m");
        c.training.micro_batch = 1;
        c.training.layout = (Layout){.tp = 1, .pp = i % 2 ? 8 : 4, .vpp = i % 3 ? 1 + i % 3 : 1};
        c.training.schedule = i % 3 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
        c.training.global_batch = (double)(i % 2 ? 2 : 4) * (i % 2 ? 16 : 8) * (9 + i / 2);
        char what[64];
        snprintf(what, sizeof what, "long case %d", i);
        simulate_both(&c, &shorter, what);
        arena_close(c.arena);
    }
    EXPECT(shorter > MANY(40));
}

LONG_TEST(2, drawn_jobs_take_the_time_of_going_through_all_of_it) {
    Tally tally = {0};
    FOR_SEEDS (seed, 1, MANY(150)) {
        DrawnStudy study = law_study(seed);
        Answer answer = law_answer_of(&study, "", (AnswerOptions){.unfolded = seed % 2});
        char what[64];
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        if (answer.ran) run_both(answer.arena, &answer.system, false, &tally, what);
        law_answer_close(&answer);
    }
    EXPECT(tally.runs > MANY(30));
}

// Of long pipelines; where times are random nothing repeats.
TEST(the_share_that_a_run_goes_through_is_told_within_a_factor_of_two) {
    for (int i = 0; i < 12; i++) {
        Case c;
        case_open(&c, 32, "gpt2-355m");
        c.training.layout = (Layout){.tp = 1 << i % 2, .pp = i % 3 ? 8 : 4, .vpp = 1};
        c.training.micro_batch = 1;
        c.training.global_batch = 32.0 / c.training.layout.tp / c.training.layout.pp * (100 + 60 * (i / 3));
        const Lowered *lowered = lower_training(c.arena, c.cluster, &c.training, c.problems);
        System system = merge_equal_links(c.arena, lowered->system);
        RunResult run = run_system(c.arena, &system, &(RunOptions){0});
        double share = 1 - (double)run.added_count / (double)run.event_count, told = run_share_gone_through(&system);
        EXPECT(share < 0.7);
        EXPECT(told > share / 2 && told < share * 2);
        Actor *actors = ARENA_ARRAY(c.arena, Actor, system.actor_count);
        for (int a = 0; a < system.actor_count; a++) actors[a] = system.actors[a], actors[a].jitter = 0.01;
        system.actors = actors;
        EXPECT_SAME(run_share_gone_through(&system), 1.0);
        arena_close(c.arena);
    }
}
