// Bytes and seconds of single operators: logits while forward runs, and whose what is computed again is.
#include <string.h>

#include "models/workload/job/training.h"
#include "sim/base/random.h"
#include "tests/jobs.h"
#include "tests/test.h"

// The product's logits, 4 bytes for each in the copy that the loss works in, and the product's own where they are not
// of 4 bytes anyway; nothing in other blocks, or where the loss is fused.
TEST(logits_lie_in_memory_as_their_product_gives_them_and_once_in_32_bits) {
    Case c;
    case_open(&c, 8, "gpt2-355m");
    double micro = 3, logits = micro * c.training.seq_len * c.training.model->vocab;
    int head = c.training.model->block_count - 1;
    c.training.framework = FRAMEWORK_EAGER;
    static const struct {
        Precision precision;
        double bytes;
    } cases[] = {{BF16, 6}, {FP16, 6}, {FP32, 4}};
    for (int i = 0; i < 3; i++) {
        c.training.precision = cases[i].precision;
        EXPECT_NEAR(forward_bytes(&c.training, head, micro), cases[i].bytes * logits, 1e-12);
        EXPECT_NEAR(forward_bytes(&c.training, head - 1, micro), 0, 0);
    }
    c.training.precision = BF16;
    c.training.loss_chunks = 4;
    EXPECT_NEAR(forward_bytes(&c.training, head, micro), 6 * logits / 4, 1e-12);
    c.training.loss_chunks = 0, c.training.layout.tp = 2;
    EXPECT_NEAR(forward_bytes(&c.training, head, micro), 6 * logits / 2, 1e-12);
    c.training.fused_loss = true;
    EXPECT_NEAR(forward_bytes(&c.training, head, micro), 0, 0);
    arena_close(c.arena);
}

static double again_seconds(const OperatorTimes *times, const char *name) {
    for (int i = 0; i < times->count; i++)
        if (strcmp(times->items[i].name, name) == 0) return times->items[i].seconds[WAY_BACKWARD][CAUSE_RECOMPUTE];
    return 0;
}

// Where the attention core's output is kept its heads are split again all the same, which is its own affair: all others
// take as long as before.
TEST(keeping_an_output_shortens_the_operator_that_makes_it_and_no_other) {
    Case c;
    case_open(&c, 8, "gpt3-2.7b");
    c.training.recompute = RECOMPUTE_OPERATIONS;
    c.training.recompute_keeps = 1u << KEEPS_QKV;
    OperatorTimes all = {0}, kept = {0};
    block_operator_times(c.arena, 1, &c.training, 8, c.cluster->gpu_of[0], &all);
    c.training.recompute_keeps = 1u << KEEPS_QKV | 1u << KEEPS_CORE_ATTN;
    block_operator_times(c.arena, 1, &c.training, 8, c.cluster->gpu_of[0], &kept);
    int others = 0;
    for (int i = 0; i < all.count; i++) {
        const char *name = all.items[i].name;
        bool is_core = strcmp(name, "core_attn") == 0;
        double before = again_seconds(&all, name), after = again_seconds(&kept, name);
        if (is_core) EXPECT(after > 0 && after < 0.9 * before);
        bool is_launches = strcmp(name, "a layer's kernels") == 0; // fewer
        if (!is_core && !is_launches) EXPECT_NEAR(after, before, 1e-3);
        others += !is_core && before > 0;
    }
    EXPECT(others > 3);
    arena_close(c.arena);
}

static double products_seconds(const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].cause == CAUSE_GEMM ? list->items[i].seconds : 0;
    return seconds;
}

// Forward of a layer as wide as what it is given: the input's product for all steps at once, then the state's step by
// step. Backward has the same products turned, and two for the gradients of weights, each for all steps at once.
TEST(a_recurrent_layer_has_one_product_for_all_steps_and_one_for_each) {
    Case c;
    case_open(&c, 8, "gpt2-124m");
    c.training.model =
        model_lstm(c.arena, "wide", (LstmShape){.layers = 3, .hidden = 1024, .vocab = 1000, .words = 50});
    c.training.seq_len = 1;
    double samples = 512;
    const Gpu *gpu = c.cluster->gpu_of[0];
    BlockCost block = block_cost(c.training.model, 2, &c.training, samples, gpu);
    double forward = products_seconds(&block.forward), backward = products_seconds(&block.backward);
    double all_steps = 2 * samples * 50 * 4096 * 1024 / gpu_peak(gpu, c.training.precision);
    EXPECT(forward > 2 * all_steps && forward < 6 * all_steps);
    EXPECT(backward > 1.6 * forward && backward < 2.4 * forward);
    arena_close(c.arena);
}

TEST(each_operator_of_a_layer_is_counted_once_for_each_layer_that_has_it) {
    Case c;
    case_open(&c, 8, "gpt3-2.7b");
    OperatorTimes times = {0};
    for (int block = 1; block <= 3; block++) {
        block_operator_times(c.arena, block, &c.training, 2, c.cluster->gpu_of[0], &times);
        BlockWalk *walk = ARENA_NEW(c.arena, BlockWalk);
        block_walk(walk, c.training.model, block, &c.training, 2, c.cluster->gpu_of[0]);
        for (int k = 0; k < walk->operators.count; k++) {
            int blocks = 0;
            for (int i = 0; i < times.count; i++)
                if (strcmp(times.items[i].name, walk->operators.items[k].name) == 0) blocks = times.items[i].blocks;
            EXPECT_INT(blocks, block);
        }
    }
    arena_close(c.arena);
}

// Of every cause, of every kernel and of what the CPU holds up: whatever the software, and whatever is computed again.
TEST(operators_of_a_block_take_what_the_block_takes) {
    static const Framework frameworks[] = {FRAMEWORK_MEGATRON, FRAMEWORK_EAGER, FRAMEWORK_GRAPH};
    static const char *const models[] = {"gpt3-2.7b", "llama-3-8b", "mixtral-8x7b"};
    FOR_SEEDS (seed, 1, 60) {
        RandomStream random = random_stream(seed, "operators", 0);
        Case c;
        case_open(&c, 8, models[random_below(&random, 3)]);
        TrainingSpec *job = &c.training;
        job->framework = frameworks[random_below(&random, 3)];
        job->recompute = (Recompute)random_below(&random, RECOMPUTE_COUNT);
        job->layout.tp = 1 << random_below(&random, 3);
        job->layout.sequence_parallel = job->layout.tp > 1 && random_below(&random, 2);
        if (job->model->experts.count > 0) job->layout.ep = 1 << random_below(&random, 3);
        if (random_below(&random, 2)) job->cpu_seconds_per_kernel = 9e-6;
        double micro = 1 + (double)random_below(&random, 3);
        OperatorTimes times = {0};
        const Gpu *gpu = c.cluster->gpu_of[0];
        int block = (int)random_below(&random, 3) ? 1 : job->model->block_count - 1;
        BlockCost cost = block_cost(job->model, block, job, micro, gpu);
        block_operator_times(c.arena, block, job, micro, gpu, &times);
        for (int cause = 0; cause < CAUSE_COUNT; cause++) {
            double sums[2] = {0}, whole[2] = {0};
            for (int i = 0; i < times.count; i++)
                for (int way = 0; way < 2; way++) sums[way] += times.items[i].seconds[way][cause];
            for (int i = 0; i < cost.forward.count; i++)
                if ((int)cost.forward.items[i].cause == cause) whole[0] += cost.forward.items[i].seconds;
            for (int i = 0; i < cost.backward.count; i++)
                if ((int)cost.backward.items[i].cause == cause) whole[1] += cost.backward.items[i].seconds;
            for (int way = 0; way < 2; way++)
                if (fabs(sums[way] - whole[way]) > 1e-9 * whole[way] + 1e-15)
                    test_fail(__FILE__, __LINE__, "cause %d of way %d: operators take %g s, the block %g s", cause, way,
                              sums[way], whole[way]);
        }
        arena_close(c.arena);
    }
}

static double seconds_of(const OperatorTimes *times, const char *name) {
    double seconds = 0;
    for (int i = 0; i < times->count; i++)
        for (int c = CAUSE_GEMM; c <= CAUSE_MEMORY && strcmp(times->items[i].name, name) == 0; c++)
            seconds += times->items[i].seconds[WAY_FORWARD][c];
    return seconds;
}

static double flops_of(const OperatorWork *work, int count, const char *name) {
    double flops = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(work[i].name, name) == 0) flops += work[i].times * work[i].flops;
    return flops;
}

// The roofline's seconds are those that the step has, operator by operator, in 8 bits and with drawn or skewed experts
// too; no operator runs faster than its GPU's rates.
TEST(the_roofline_of_a_block_takes_what_its_forward_takes) {
    static const char *const models[] = {"gpt3-2.7b", "llama-3-8b", "mixtral-8x7b", "deepseek-v3", "llama-2-7b"};
    int experts_seen = 0;
    FOR_SEEDS (seed, 1, 60) {
        RandomStream random = random_stream(seed, "roofline", 0);
        Case c;
        case_open(&c, 8, models[random_below(&random, 5)]);
        TrainingSpec *job = &c.training;
        const Gpu *gpu = catalogue_gpu(c.catalogue, "H100-SXM5-80GB");
        if (random_below(&random, 2)) job->precision = FP8;
        job->cuda_graphs = true; // else kernels that have waited for the CPU are counted as shorter
        job->layout.tp = 1 << random_below(&random, 2);
        bool routes = job->model->experts.count > 0;
        if (routes) job->layout.ep = 1 << random_below(&random, 4), experts_seen++;
        if (routes && random_below(&random, 2)) job->expert_skew = 0.5;
        int block = random_below(&random, 4) ? job->model->block_count - 2 : job->model->block_count - 1, count;
        OperatorTimes times = {0};
        block_operator_times(c.arena, block, job, 1, gpu, &times);
        const OperatorWork *work = block_operator_work(c.arena, block, job, 1, gpu, &count);
        for (int i = 0; i < count; i++) {
            double seconds = 0;
            for (int k = 0; k < count; k++) seconds += strcmp(work[k].name, work[i].name) == 0 ? work[k].seconds : 0;
            EXPECT_NEAR(seconds, seconds_of(&times, work[i].name), 1e-9);
            EXPECT(work[i].times * work[i].flops <= 1.001 * work[i].seconds * gpu_peak(gpu, work[i].precision));
        }
        arena_close(c.arena);
    }
    EXPECT(experts_seen > 10);
}

// Fewer experts, and the tokens of as many more ranks.
TEST(expert_parallelism_leaves_a_gpu_as_many_products_of_experts) {
    Case c;
    case_open(&c, 8, "mixtral-8x7b");
    const Gpu *gpu = c.cluster->gpu_of[0];
    int count;
    const OperatorWork *alone = block_operator_work(c.arena, 1, &c.training, 1, gpu, &count);
    c.training.layout.ep = 8;
    const OperatorWork *apart = block_operator_work(c.arena, 1, &c.training, 1, gpu, &count);
    EXPECT(flops_of(alone, count, "experts_up") > 0);
    EXPECT_NEAR(flops_of(apart, count, "experts_up"), flops_of(alone, count, "experts_up"), 1e-9);
    arena_close(c.arena);
}
