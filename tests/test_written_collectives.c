// Collectives that the user describes: algorithms step by step, and who sends how much to whom.
#include <stdio.h>
#include <unistd.h>

#include "models/network/messages/algorithm.h"
#include "models/network/messages/flows.h"
#include "scenarios/questions/collective_asked.h"
#include "tests/command.h"
#include "tests/networks.h"
#include "tests/test.h"

#define RANKS 16

// ---- Steps.
typedef struct Written {
    Arena *arena;
    RankSteps ranks[RANKS];
    WrittenSteps steps;
} Written;

static void add_step(Written *w, int rank, int to, double sent, int from, double received) {
    RankStep *steps = ARENA_ARRAY(w->arena, RankStep, w->ranks[rank].count + 1);
    StepMessage *messages = ARENA_ARRAY(w->arena, StepMessage, 2);
    for (int i = 0; i < w->ranks[rank].count; i++) steps[i] = w->ranks[rank].items[i];
    messages[0] = (StepMessage){to, sent};
    messages[1] = (StepMessage){from, received};
    steps[w->ranks[rank].count] = (RankStep){messages, messages + 1, to >= 0, from >= 0};
    w->ranks[rank] = (RankSteps){steps, w->ranks[rank].count + 1};
    w->steps = (WrittenSteps){"written", w->ranks};
}

static double seconds_of(Arena *arena, const Network *network, double bytes, const char *algorithm,
                         const WrittenSteps *steps) {
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                 .ranks = first_ranks(arena, network, RANKS / 8, 8),
                                 .rank_count = RANKS,
                                 .bytes = bytes,
                                 .algorithm = algorithm,
                                 .steps = steps};
    const char *why = NULL, *remedy;
    const FlowPlan *plan = flow_plan(arena, network, &request, &why, &remedy);
    EXPECT(plan != NULL);
    if (!plan) return -1;
    FlowSystem flows = flow_system(arena, plan);
    FlowResult whole = flow_run(arena, plan, &flows, false);
    EXPECT_NEAR(flow_run(arena, plan, &flows, true).seconds, whole.seconds, 0);
    return whole.seconds;
}

TEST(halving_and_doubling_written_step_by_step_take_the_librarys_time_to_the_picosecond) {
    static const double sizes[] = {1024, 1 << 20, 1 << 28};
    for (int i = 0; i < 3; i++) {
        Arena *arena = arena_open();
        const Network *network = network_of(arena, dgx_a100(), RANKS / 8, infiniband(200));
        Written halving = {.arena = arena}, doubling = {.arena = arena};
        for (int rank = 0; rank < RANKS; rank++) {
            for (int bit = RANKS / 2; bit > 0; bit /= 2)
                add_step(&halving, rank, rank ^ bit, sizes[i] / RANKS * bit, rank ^ bit, sizes[i] / RANKS * bit);
            for (int bit = 1; bit < RANKS; bit *= 2) {
                add_step(&halving, rank, rank ^ bit, sizes[i] / RANKS * bit, rank ^ bit, sizes[i] / RANKS * bit);
                add_step(&doubling, rank, rank ^ bit, sizes[i], rank ^ bit, sizes[i]);
            }
        }
        EXPECT(steps_check(arena, &halving.steps, RANKS) == NULL);
        EXPECT_NEAR(seconds_of(arena, network, sizes[i], NULL, &halving.steps),
                    seconds_of(arena, network, sizes[i], "halving_doubling", NULL), 0);
        EXPECT_NEAR(seconds_of(arena, network, sizes[i], NULL, &doubling.steps),
                    seconds_of(arena, network, sizes[i], "recursive_doubling", NULL), 0);
        arena_close(arena);
    }
}

TEST(steps_that_do_not_meet_are_said_with_rank_and_step) {
    Arena *arena = arena_open();
    Written unmet = {.arena = arena}, size = {.arena = arena}, circle = {.arena = arena};
    add_step(&unmet, 0, 1, 8, -1, 0);
    add_step(&unmet, 0, 1, 8, -1, 0);
    add_step(&unmet, 1, -1, 0, 0, 8);
    EXPECT_TEXT(steps_check(arena, &unmet.steps, 2), "rank 0, step 2: it sends to rank 1, which has no receive for it");
    add_step(&unmet, 1, -1, 0, 0, 8);
    EXPECT(steps_check(arena, &unmet.steps, 2) == NULL);
    add_step(&unmet, 1, -1, 0, 0, 8);
    EXPECT_TEXT(steps_check(arena, &unmet.steps, 2),
                "rank 1, step 3: it receives from rank 0, which has no send for it");
    add_step(&size, 3, 2, 1024, -1, 0);
    add_step(&size, 2, -1, 0, 3, 4096);
    EXPECT_TEXT(steps_check(arena, &size.steps, 4),
                "rank 3, step 1: it sends 1 KiB to rank 2, whose step 1 receives 4 KiB");
    for (int rank = 0; rank < 3; rank++) { // each receives before it sends
        add_step(&circle, rank, -1, 0, (rank + 2) % 3, 8);
        add_step(&circle, rank, (rank + 1) % 3, 8, -1, 0);
    }
    EXPECT_TEXT(steps_check(arena, &circle.steps, 3),
                "rank 0, step 1: it waits for ever for rank 2, which waits in its step 1");
    arena_close(arena);
}

// ---- On the command line.
static const Ended *with_file(const char *text, const char *line) {
    char path[] = "/tmp/lockstep-written-XXXXXX", whole[512];
    int file = mkstemp(path);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    EXPECT(stream != NULL);
    if (!stream) return NULL;
    fputs(text, stream);
    fclose(stream);
    snprintf(whole, sizeof whole, "%s %s", line, path);
    const Ended *ended = run_command(command_collective, whole);
    unlink(path);
    return ended;
}

#define STEPS "collective all_reduce --node dgx-a100 --sizes 1M --steps"
static void expect_wrong(const char *text, const char *line, const char *part) {
    const Ended *ended = with_file(text, line);
    if (!ended) return;
    EXPECT_INT(ended->code, 4);
    EXPECT_TEXT(ended->out, "");
    EXPECT_CONTAINS(ended->err, part);
}

TEST(an_algorithm_in_lua_is_simulated_and_its_mistakes_are_said_with_rank_and_step) {
    const Ended *ended = run_command(command_collective,
                                     "collective all_reduce --node dgx-a100 --nodes 4 --fabric ib-hdr200 --sizes 64M "
                                     "--steps scenarios/examples/algorithms/two_level_all_reduce.lua");
    EXPECT_INT(ended->code, 0);
    EXPECT_TEXT(ended->err, "");
    EXPECT_CONTAINS(ended->out, "written");
    expect_wrong("return 1", STEPS, "returns no function");
    expect_wrong("return function(r, n) return { { send = { to = n, bytes = 1 } } } end", STEPS,
                 "rank 0, step 1: to is not another rank");
    expect_wrong("return function(r, n) return { {}, { recv = { from = (r + 1) % n, byte = 1 } } } end", STEPS,
                 "rank 0, step 2: a message has from and bytes, not \"byte\"");
    expect_wrong("return function(r, n) return { { send = { to = (r + 1) % n, bytes = -1 } } } end", STEPS,
                 "rank 0, step 1: bytes is not a number");
    expect_wrong("return function(r, n) return { { sned = { to = (r + 1) % n, bytes = 1 } } } end", STEPS,
                 "rank 0, step 1: a step has send and recv, not \"sned\"");
    expect_wrong("return function(r, n) return r == 5 and {} or 7 end", STEPS,
                 "rank 0, step 1: the function gives no list");
    expect_wrong("return function(r, n, b) return { { send = { to = (r + 1) % n, bytes = b } } } end", STEPS,
                 "rank 0, step 1: it sends to rank 1, which has no receive for it");
    expect_wrong("return function(r) error('lost') end", STEPS, "lost");
}

#define MATRIX "collective all_to_all_v --node dgx-a100 --gpus 4 --matrix"
TEST(a_matrix_says_who_sends_how_much_to_whom) {
    const Ended *ended = with_file("# one row for all\n8e6 8e6, 8e6 8e6\n", MATRIX);
    char even[256];
    EXPECT_INT(ended->code, 0);
    snprintf(even, sizeof even, "%s", strstr(ended->out, "32000000") ? strstr(ended->out, "32000000") : "");
    ended = run_command(command_collective, "collective all_to_all --node dgx-a100 --gpus 4 --sizes 32000000");
    EXPECT(*even);
    EXPECT_CONTAINS(ended->out, even);
    expect_wrong("1 2 3 4\n1 2 3\n", MATRIX, ":2: error: this row has 3 numbers, and there are 4 ranks");
    expect_wrong("1 2 3 4\n1 2 3 4\n", MATRIX, "the matrix has 2 rows, and there are 4 ranks");
    expect_wrong("1 2 3 4x\n", MATRIX, ":1: error: \"4x\" is no number of bytes");
    expect_wrong("0 0 0 0\n", MATRIX, "nobody sends anything");
    ended = run_command(command_collective, "collective all_to_all_v --node dgx-a100");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "all_to_all_v needs to know who sends how much to whom");
}

// Only rank 0 sends, all to rank 1: the message alone, at the rate of its NVLink.
TEST(one_message_of_a_matrix_takes_as_long_as_it_would_alone) {
    static const char only[] = "0 3e9 0 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n";
    const Ended *ended = with_file(only, "collective all_to_all_v --node dgx-a100 --gpus 4 --csv --matrix");
    double fluid = strtod(strchr(strchr(ended->out, '\n'), ',') + 1, NULL);
    ended = with_file(only, "collective all_to_all_v --node dgx-a100 --gpus 4 --csv --fidelity flow --matrix");
    double flow = strtod(strchr(strchr(ended->out, '\n'), ',') + 1, NULL);
    ended = run_command(command_collective, "collective all_to_all --node dgx-a100 --gpus 4 --csv --sizes 4000000000");
    double even = strtod(strchr(strchr(ended->out, '\n'), ',') + 1, NULL); // each rank sends 3e9 to others
    EXPECT_NEAR(fluid, even, 0.01);
    EXPECT_NEAR(flow, even, 0.05);
}
