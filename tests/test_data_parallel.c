// torch.nn.DataParallel: one process drives all GPUs.
#include "tests/jobs.h"
#include "tests/test.h"

static double step_of_batches(int count) {
    Case c;
    case_open(&c, 4, "gpt2-124m");
    c.training.strategy = STRATEGY_DATA_PARALLEL;
    c.training.grad_accumulation = count;
    SimulatedStep step = case_folds(&c);
    arena_close(c.arena);
    return step.step_p50_s;
}

// Of each it broadcasts the weights and reduces gradients; the optimizer alone comes once.
TEST(data_parallel_passes_every_micro_batch_of_a_step) {
    double one = step_of_batches(1), four = step_of_batches(4);
    EXPECT(four > 3.5 * one && four < 4 * one);
}
