// torch.nn.DataParallel, whose one process drives all GPUs; and more replicas than there are GPUs.
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

// Layer by layer, the GPUs of a replica are what its share leaves: less than one, here.
TEST(more_replicas_than_gpus_are_refused_for_a_model_laid_out_by_layers) {
    Case c;
    case_open(&c, 1, "resnet-18");
    c.training.strategy = STRATEGY_LAYERS;
    c.training.layout = (Layout){.dp = 2};
    SimulatedStep step = simulate(&c, false);
    EXPECT(!step.ran && problem_count(c.problems) == 1);
    EXPECT_CONTAINS(problem_at(c.problems, 0)->text, "dp 2 is 2, but the cluster has 1 GPUs");
    arena_close(c.arena);
}
