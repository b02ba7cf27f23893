// Operations of routines that are passed at once or in part: nothing may tell the run from one that does them one by
// one, not even its events.
#include "sim/fold.h"
#include "sim/run.h"
#include "tests/child.h"
#include "tests/jobs.h"
#include "tests/systems.h"
#include "tests/test.h"

static RunResult run_in_parts(Arena *arena, const System *system, bool uncontended, const char *what) {
    RunResult quick = run_system(arena, system, &(RunOptions){.uncontended = uncontended}),
              slow = run_system(arena, system, &(RunOptions){.uncontended = uncontended, .one_by_one = true});
    if (quick.digest != slow.digest) test_fail(__FILE__, __LINE__, "%s: times differ", what);
    if (quick.event_count != slow.event_count) test_fail(__FILE__, __LINE__, "%s: events differ", what);
    EXPECT_INT(quick.op_count, slow.op_count);
    EXPECT_INT(quick.deadlocked_count, slow.deadlocked_count);
    for (int l = 0; l < system->link_count; l++) EXPECT_SAME(quick.link_bytes[l], slow.link_bytes[l]);
    return quick;
}

LONG_TEST(2, random_routines_have_the_times_and_events_of_one_operation_after_the_other) {
    FOR_SEEDS (seed, 1, MANY(600)) {
        Arena *arena = arena_open();
        char what[64];
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
        System flat = fold_system(arena, random_system(arena, seed)).system;
        run_in_parts(arena, with_routines(arena, &flat, seed), seed % 5 == 0, what);
        const System *beside = repeated_system(arena, beside_system(arena, seed, true), 1 + (int)(seed % 9));
        System folded = fold_system(arena, beside).system;
        run_in_parts(arena, &folded, seed % 5 == 1, what);
        arena_close(arena);
    }
}

// Tensor-parallel groups lie on two nodes and share NICs with the pipeline, so that of most passes only parts are
// alone.
static void open_wide(Case *c, int i) {
    case_open(c, i % 3 ? 64 : 128, "gpt2-355m");
    c->training.layout =
        (Layout){.tp = 16, .pp = i % 2 ? 4 : 2, .vpp = i % 4 < 2 ? 1 : 2 + i % 2, .sequence_parallel = i % 5 < 3};
    c->training.schedule = c->training.layout.vpp > 1 ? SCHEDULE_INTERLEAVED
                           : i % 8 < 6                ? SCHEDULE_1F1B
                                                      : SCHEDULE_ZB_H1;
    c->training.tp_overlap = i % 3 == 1;
    c->training.micro_batch = 1 + i % 2;
    c->training.recompute = i % 7 < 3 ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    c->training.straggler = i % 11 == 10 ? 1.3 : 1;
    c->training.layout.zero = i / 3 % 2;
    c->training.global_batch = 8.0 * c->cluster->gpu_count;
}

LONG_TEST(3, pipelines_beside_wide_tensor_groups_have_the_times_and_events_of_one_operation_after_the_other) {
    int64_t ops = 0, events = 0;
    for (int i = 0; i < MANY(48); i++) {
        Case c;
        open_wide(&c, i);
        char what[64];
        snprintf(what, sizeof what, "case %d", i);
        Folded folded;
        if (lower_folded(c.arena, c.cluster, &c.training, NULL, &folded, c.problems)) {
            RunResult result = run_in_parts(c.arena, &folded.system, i % 13 == 12, what);
            ops += result.op_count;
            events += result.event_count;
        }
        arena_close(c.arena);
    }
    EXPECT(events > MANY(10000)); // some of what is in routines meets others
    EXPECT(events < ops / 5);     // and most does not
}
