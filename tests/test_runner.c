// What the tests' own runner says when one fails.
#include "tests/child.h"
#include "tests/test.h"

static void fail_in_three_ways(void) {
    fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    FOR_SEEDS (seed, 3, 3) EXPECT_INT(1 + 1, 3);
    EXPECT_SAME(0.5, 0.25);
    EXPECT_SAME(UINT64_C(0xfedcba9876543210), 1);
    fflush(stdout);
}

TEST(what_fails_prints_its_numbers_and_the_seed_that_it_was_drawn_from) {
    char said[1024];
    EXPECT_INT(run_in_child(fail_in_three_ways, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "1 + 1 is 2, expected 3 (seed 3)\n");
    EXPECT_CONTAINS(said, "0.5 is 0.5, expected 0.25\n");
    EXPECT_CONTAINS(said, "(fedcba9876543210), expected 1 (1)\n");
}
