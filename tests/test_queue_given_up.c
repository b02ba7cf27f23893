// Jobs that failures never let end: each is given up once, whatever else is simulated beside it.
#include "scenarios/queue/command_queue.h"
#include "tests/command.h"
#include "tests/test.h"

// Two days of work on nodes that fail so often that nothing of it is ever done, or now and then.
static const char *given_up(const char *mtbf, const char *more) {
    char line[512];
    snprintf(line, sizeof line,
             "queue --gpus 8 --node dgx-a100 --sizes 8:1 --durations fixed:2d --load 0.9 --jobs 4 --node-mtbf %s "
             "--repair 10s --plain %s",
             mtbf, more);
    const Ended *ended = run_command(command_queue, line);
    EXPECT_INT(ended->code, 0);
    return ended->out;
}

TEST(jobs_given_up_are_summed_over_seeds_and_policies) {
    EXPECT_CONTAINS(given_up("60s", "--policy fifo --seeds 1"), "4 jobs were stopped 1,000 times and given up");
    EXPECT_CONTAINS(given_up("60s", "--policy fifo --seeds 2"), "8 jobs were stopped 1,000 times and given up");
    EXPECT_CONTAINS(given_up("60s", "--policy fifo,easy --seeds 3"), "24 jobs were stopped 1,000 times and given up");
    EXPECT(!strstr(given_up("5d", "--policy fifo --seeds 2"), "given up"));
}
