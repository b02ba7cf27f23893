// Plain flows on a star and on fat trees, against formulas and against the folded system.
#include <math.h>
#include <stdlib.h>

#include "sim/fold.h"
#include "sim/run.h"
#include "tests/bench/flows.h"
#include "tests/test.h"

static SimTime end_of(Arena *arena, const System *system) {
    RunOptions options = {0};
    return run_system(arena, system, &options).end;
}

TEST(a_ring_of_flows_on_a_star_takes_its_steps_times_latency_and_bytes) {
    Arena *arena = arena_open();
    System ring = ring_on_star(arena, 64, 64e6);
    // 126 steps of 2 us and 1 MB at 50 GB/s.
    EXPECT_NEAR(step_seconds(end_of(arena, &ring)), 126 * (2e-6 + 1e6 / 50e9), 1e-12);
    Folded folded = fold_system(arena, &ring);
    EXPECT_SAME(folded.system.actor_count, 1);
    EXPECT(end_of(arena, &folded.system) == end_of(arena, &ring));
    arena_close(arena);
}

static double even(int i, int j) { return (void)i, (void)j, 1e6; }
static double uneven(int i, int j) { return 500000 + (7919 * i + 104729 * j) % 1000001; }

TEST(an_even_all_to_all_on_a_non_blocking_tree_is_as_fast_as_the_hosts_links) {
    const FatTree trees[] = {{{4, 4, 2}, {1, 4, 4}}, {{8, 4, 2}, {1, 8, 4}}};
    for (int t = 0; t < 2; t++)
        for (int by_latency = 0; by_latency < 2; by_latency++) {
            Arena *arena = arena_open();
            System system = all_to_all_on_fat_tree(arena, &trees[t], even, by_latency);
            int hosts = system.actor_count;
            // A host's link is busy from 2 us on, when the nearest peers' flows begin.
            EXPECT_NEAR(step_seconds(end_of(arena, &system)), 2e-6 + (hosts - 1) * 1e6 / 50e9, 1e-8);
            Folded folded = fold_system(arena, &system);
            EXPECT_SAME(folded.system.actor_count, 1);
            EXPECT(end_of(arena, &folded.system) == end_of(arena, &system));
            arena_close(arena);
        }
}

TEST(an_uneven_all_to_all_moves_all_its_bytes_no_faster_than_the_busiest_host) {
    Arena *arena = arena_open();
    const FatTree tree = {{4, 4, 2}, {1, 4, 4}};
    System system = all_to_all_on_fat_tree(arena, &tree, uneven, true);
    RunOptions options = {0};
    RunResult result = run_system(arena, &system, &options);
    double busiest = 0;
    for (int h = 0; h < system.actor_count; h++) {
        double out = 0, in = 0;
        for (int peer = 0; peer < system.actor_count; peer++) {
            if (peer == h) continue;
            out += uneven(h, peer);
            in += uneven(peer, h);
        }
        EXPECT_NEAR(result.link_bytes[2 * h], out, 1e-3);
        EXPECT_NEAR(result.link_bytes[2 * h + 1], in, 1e-3);
        if (out > busiest) busiest = out;
        if (in > busiest) busiest = in;
    }
    double seconds = step_seconds(result.end);
    EXPECT(seconds >= 2e-6 + busiest / 50e9);
    EXPECT(seconds < 2 * busiest / 50e9);
    arena_close(arena);
}

TEST(uneven_shifts_on_a_blocking_tree_with_a_slow_cable_end_when_simgrid_says) {
    Arena *arena = arena_open();
    const FatTree tree = {{8, 8, 4}, {1, 2, 8}};
    System system = shifts_on_fat_tree(arena, &tree, 16, uneven, 0.5);
    // SimGrid 3.32, by tests/bench/simgrid_shifts.cpp, to the digit that it prints.
    EXPECT_NEAR(step_seconds(end_of(arena, &system)), 1.598857e-3, 1e-6);
    arena_close(arena);
}

// ---- Links shared to within a tolerance.
typedef struct Ends {
    int peers;
    SimTime *ends; // [host * peers + stream]
} Ends;

static void keep_end(void *owner, const RunSpan *span) {
    Ends *ends = owner;
    ends->ends[span->actor * ends->peers + span->stream] = span->end;
}

static SimTime *ends_of(Arena *arena, const System *system, double tolerance) {
    Ends ends = {.peers = system->actor_count - 1, .ends = ARENA_ARRAY(arena, SimTime, system->channel_count)};
    run_system(arena, system, &(RunOptions){.tolerance = tolerance, .tell = keep_end, .owner = &ends});
    return ends.ends;
}

static int by_size(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

TEST(flows_that_share_links_to_within_a_thousandth_end_about_when_exact_ones_do) {
    Arena *arena = arena_open();
    const FatTree tree = {{4, 4, 4}, {1, 4, 4}};
    System system = all_to_all_on_fat_tree(arena, &tree, uneven, true);
    int count = system.channel_count, moved = 0;
    const SimTime *exact = ends_of(arena, &system, 0), *near = ends_of(arena, &system, 1e-3);
    double *errors = ARENA_ARRAY(arena, double, count), sum = 0;
    for (int i = 0; i < count; i++) {
        errors[i] = fabs((double)near[i] / (double)exact[i] - 1);
        sum += errors[i];
        moved += near[i] != exact[i];
    }
    qsort(errors, (size_t)count, sizeof *errors, by_size);
    EXPECT(moved > count / 2); // it does something
    EXPECT(sum / count < 3e-4);
    EXPECT(errors[count * 99 / 100] < 3e-3);
    arena_close(arena);
}
