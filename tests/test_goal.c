// Rank programs read from GOAL: the same as one written by hand, its order kept, its mistakes at their line.
#include <stdlib.h>
#include <unistd.h>

#include "scenarios/program/program.h"
#include "tests/child.h"
#include "tests/test.h"

#define HEAD                                                                                                           \
    "local sim = require \"lockstep\"\nreturn sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = %d, "       \
    "fabric = "                                                                                                        \
    "\"ib-hdr200\" }, %s }\n"

static char folder[] = "/tmp/lockstep-goal-XXXXXX";

static void write_text(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    fputs(text, file);
    fclose(file);
}

// What a program of so many GPUs answers; in a folder of its own.
static const char *answer(int gpus, const char *what, const char *goal, const char *more) {
    static char text[1 << 15], script[4096], line[512];
    snprintf(folder, sizeof folder, "/tmp/lockstep-goal-XXXXXX");
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(script, sizeof script, HEAD, gpus, what);
    write_text("p.lua", script);
    write_text("p.goal", goal);
    snprintf(line, sizeof line, "$LOCKSTEP run %s/p.lua %s 2>&1", folder, more);
    test_shell(line, text, sizeof text);
    snprintf(line, sizeof line, "rm -r %s", folder);
    EXPECT_INT(test_shell(line, script, sizeof script), 0);
    return text;
}

static double step_of(const char *text) {
    const char *at = strstr(text, "\"step_time_s\": {");
    at = at ? strstr(at, "\"p50\":") : NULL;
    if (!at) printf("%s\n", text);
    return at ? strtod(at + 6, NULL) : -1;
}

static double goal_step(int gpus, const char *goal) {
    return step_of(answer(gpus, "file = \"p.goal\"", goal, "--json"));
}
static double lua_step(int gpus, const char *rank) {
    char what[2048];
    snprintf(what, sizeof what, "rank = function(r) %s end", rank);
    return step_of(answer(gpus, what, "", "--json"));
}

// A token goes round four ranks: calculations and transfers one after another.
TEST(a_ring_in_goal_takes_what_the_same_by_hand_takes) {
    static const char goal[] = "// a token\nnum_ranks 4\n\nrank 0 {\nl1: calc 2000\nl2: send 1048576b to 1 tag 7\n"
                               "l2 requires l1\nl3: recv 1048576b from 3 tag 7\nl3 requires l2\n}\n"
                               "/* the others\n hand on */\nrank 1 {\nl1: recv 1048576b from 0 tag 7 cpu 0 nic 0\n"
                               "l2: calc 2000 cpu 1\nl2 requires l1\nl3: send 1048576b to 2 tag 7\nl3 requires l2\n}\n"
                               "rank 2 {\nl1: recv 1048576b from 1 tag 7\nl2: calc 2000\nl2 requires l1\n"
                               "l3: send 1048576b to 3 tag 7\nl3 requires l2\n}\n"
                               "rank 3 {\nl1: recv 1048576b from 2 tag 7\nl2: calc 2000\nl2 requires l1\n"
                               "l3: send 1048576b to 0 tag 7\nl3 requires l2\n}\n";
    double by_hand = lua_step(4, "local n = { to = (r.id + 1) % 4, bytes = 1048576 } "
                                 "local p = { from = (r.id + 3) % 4, bytes = 1048576 } "
                                 "if r.id > 0 then r:recv(p) end r:compute { seconds = 2e-6 } r:send(n) "
                                 "if r.id == 0 then r:recv(p) end");
    EXPECT(by_hand > 8e-6);
    EXPECT_NEAR(goal_step(4, goal), by_hand, 1e-15);
}

// Two branches of 3 and 5 us between one of 1 us before and one of 2 us after: 1 + 5 + 2.
TEST(what_nothing_orders_runs_side_by_side) {
    static const char diamond[] = "num_ranks 1\nrank 0 {\na: calc 1000\nb: calc 3000\nc: calc 5000\nd: calc 2000\n"
                                  "b requires a\nc requires a\nd requires b\nd requires c\n}\n";
    static const char from_start[] = "num_ranks 1\nrank 0 {\na: calc 1000\nb: calc 3000\nc: calc 5000\n"
                                     "b requires a\nc irequires b\n}\n"; // 1, then 3 and 5 at once
    EXPECT_NEAR(goal_step(1, diamond), 8e-6, 1e-15);
    EXPECT_NEAR(goal_step(1, from_start), 6e-6, 1e-15);
    EXPECT_NEAR(goal_step(1, "num_ranks 1\nrank 0 {\na: calc 1000\nb: calc 3000\n}\n"), 3e-6, 1e-15);
}

// Streams against the longest path: graphs of calculations drawn at random.
TEST(a_drawn_graph_takes_as_long_as_its_longest_path) {
    uint32_t seed = 7;
    for (int round = 0; round < 6; round++) {
        static char goal[16384];
        double end[24], longest = 0;
        size_t at = (size_t)snprintf(goal, sizeof goal, "num_ranks 1\nrank 0 {\n");
        int times[24];
        for (int op = 0; op < 24; op++) {
            seed = seed * 1664525 + 1013904223;
            times[op] = 100 + (int)(seed >> 20);
            at += (size_t)snprintf(goal + at, sizeof goal - at, "x%d: calc %d\n", op, times[op]);
        }
        for (int op = 0; op < 24; op++) {
            double begin = 0;
            for (int before = 0; before < op; before++) {
                seed = seed * 1664525 + 1013904223;
                if (seed >> 29) continue;
                bool start = (seed >> 20) % 2;
                at += (size_t)snprintf(goal + at, sizeof goal - at, "x%d %s x%d\n", op,
                                       start ? "irequires" : "requires", before);
                double from = end[before] - (start ? times[before] : 0);
                begin = from > begin ? from : begin;
            }
            end[op] = begin + times[op];
            longest = end[op] > longest ? end[op] : longest;
        }
        snprintf(goal + at, sizeof goal - at, "}\n");
        EXPECT_NEAR(goal_step(1, goal), longest * 1e-9, 1e-15);
    }
}

TEST(a_deadlock_in_goal_is_told_with_its_lines) {
    const char *text = answer(2, "file = \"p.goal\"",
                              "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires a\n}\n"
                              "rank 1 {\na: recv 8b from 0\nb: send 8b to 0\nb requires a\n}\n",
                              "");
    EXPECT_CONTAINS(text, "p.goal:3");
    EXPECT_CONTAINS(text, "rank 0");
}

TEST(mistakes_in_goal_are_told_at_their_line) {
    static const struct {
        const char *goal, *message;
    } rows[] = {
        {"rank 0 {\n}\n", "p.goal:1: error: num_ranks does not stand before the ranks"},
        {"num_ranks 3\n", "p.goal:1: error: the file has 3 ranks, and the cluster 2 GPUs"},
        {"num_ranks 2\nrank 1 {\n}\n", "p.goal:2: error: expected rank 0 of 2, and not \"1\""},
        {"num_ranks 2\nrank 0 {\n}\n", "the file says nothing of rank 1"},
        {"num_ranks 2\nrank 0 {\n", "the file ends within rank 0"},
        {"num_ranks 2\nrank 0 {\nsend 8 to 1\n", "p.goal:3: error: this send does not say its bytes"},
        {"num_ranks 2\nrank 0 {\nsend 8b to 2\n", "p.goal:3: error: there is no rank 2: num_ranks is 2"},
        {"num_ranks 2\nrank 0 {\nsend 8b to 0\n", "rank 0 would send to itself"},
        {"num_ranks 2\nrank 0 {\nrecv 8b from -1\n", "a receive from any rank is not known"},
        {"num_ranks 2\nrank 0 {\nrecv 8b from 1 tag -1\n", "a receive of any tag is not known"},
        {"num_ranks 2\nrank 0 {\nrecv 8b from 1 nic 0 tag 5\n", "\"tag\" is not understood here"},
        {"num_ranks 2\nrank 0 {\ncalc 5us\n", "does not say how many nanoseconds"},
        {"num_ranks 2\nrank 0 {\ncalc 99999999999999999999\n", "does not say how many nanoseconds"},
        {"num_ranks 2\nrank 0 {\na: calc 5\na: calc 6\n", "p.goal:4: error: rank 0 has a label \"a\" already"},
        {"num_ranks 2\nrank 0 {\na: calc 5\nb requires a\n", "p.goal:4: error: rank 0 has no label \"b\" so far"},
        {"num_ranks 2\nrank 0 {\na: calc 5\nb: calc 6\na requires b\nb requires a\n}\n",
         "p.goal:3: error: what rank 0 does here comes before itself"},
        {"num_ranks 2\nrank 0 {\na: calc 5\na requires a\n}\n", "comes before itself"},
        {"num_ranks 2\nhello\n", "\"hello\" is not understood between ranks"},
        {"num_ranks 2\nrank 0 {\n\x1b[2J 1 2 3\n", "\"?[2J\" is not understood within a rank"},
        {"num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\n}\n", "p.goal:3"}, // which nobody receives
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_CONTAINS(answer(2, "file = \"p.goal\"", rows[i].goal, ""), rows[i].message);
    char *long_line = malloc(10000020);
    EXPECT(long_line != NULL);
    memset(long_line, 'x', 10000000);
    strcpy(long_line + 10000000, " 1\n");
    EXPECT_CONTAINS(answer(2, "file = \"p.goal\"", long_line, ""),
                    "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\" is not");
    free(long_line);
    EXPECT_CONTAINS(answer(2, "file = \"p.goal\", rank = function(r) end", "", ""), "by rank or by file, one of them");
    EXPECT_CONTAINS(answer(2, "title = \"none\"", "", ""), "by rank or by file, one of them");
    EXPECT_CONTAINS(answer(2, "file = \"/etc/passwd\"", "", ""), "error");
}
