// Published shared clusters beside their traces replayed.
#include <unistd.h>

#include "calibrate/command_validate.h"
#include "calibrate/queue/replay_queue.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/test.h"

static const QueueCheck *check_of(const QueueChecks *checks, const char *trace, const char *what) {
    for (int i = 0; i < checks->count; i++)
        if (strcmp(checks->items[i].trace, trace) == 0 && strstr(checks->items[i].what, what)) return &checks->items[i];
    test_fail(__FILE__, __LINE__, "no check of %s, %s", trace, what);
    return &checks->items[0];
}

TEST(published_clusters_are_replayed_and_each_figure_says_whether_it_holds) {
    Arena *arena = arena_open();
    QueueChecks checks = {.arena = arena, .folder = "calibrate/measurements/queue", .repetitions = 8};
    checks.problems = problems_create(arena);
    queue_replay_all(&checks);
    EXPECT_INT(problem_count(checks.problems), 0);
    EXPECT_INT(checks.count, 22);
    // The trace's own table of waits, by size (mean of 2,573, 3,556, 30 and 44 pods).
    EXPECT_NEAR(check_of(&checks, "Alibaba 2023", "a part")->published, 64.9, 2e-3);
    EXPECT_NEAR(check_of(&checks, "Alibaba 2023", "1 GPU")->published, 74.4, 2e-3);
    EXPECT_NEAR(check_of(&checks, "Alibaba 2023", "2 to 4")->published, 56.5, 2e-3);
    EXPECT_NEAR(check_of(&checks, "Alibaba 2023", "8 GPUs")->published, 15.8, 4e-3);
    // A cluster with 66 of 6,212 GPUs in use holds nobody up.
    EXPECT(check_of(&checks, "Alibaba 2023", "1 GPU")->simulated == 0);
    // An emptier group has the smaller backlog.
    EXPECT(check_of(&checks, "Helios Earth", "vccaA")->simulated <
           check_of(&checks, "Helios Earth", "vcpDC")->simulated);
    EXPECT(queue_check_holds(check_of(&checks, "Helios Venus", "GPUs in use")));
    for (int i = 0; i < checks.count; i++) {
        const QueueCheck *check = &checks.items[i];
        EXPECT(check->low <= check->high);
        EXPECT(check->published > 0 && check->why && check->assumed);
    }
    arena_close(arena);
}

TEST(what_holds_lies_in_the_range_or_within_a_quarter) {
    QueueCheck check = {.published = 100, .simulated = 200, .low = 90, .high = 300};
    EXPECT(queue_check_holds(&check));
    check.low = 110;
    EXPECT(!queue_check_holds(&check));
    check.simulated = check.low = check.high = 124;
    EXPECT(queue_check_holds(&check));
    check.simulated = check.low = check.high = 126;
    EXPECT(!queue_check_holds(&check));
}

TEST(a_folder_without_traces_is_an_error_with_its_path) {
    const Ended *ended = run_asked(&validate_queue_question, "queue tests/data/nowhere");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "tests/data/nowhere/alibaba2023.csv");
    ended = run_asked(&validate_queue_question, "queue --repetitions 1");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "--repetitions cannot be 1\n  hint: from 2 to 10000");
}
