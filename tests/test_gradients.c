// How data-parallel software groups gradients: Horovod's cycles, TensorFlow's one pack, DDP with and without no_sync,
// FSDP's prefetch limit. Folding is exact, counts follow from the rules, what cannot be is refused.
#include "tests/jobs.h"
#include "tests/test.h"

// DGX-1s on one switch, as these libraries' users had them.
static void open_data_parallel(Case *c, int gpus, const char *model, Strategy strategy) {
    case_open_on(c, "dgx-1-v100", "ib-edr100", gpus, model);
    c->spec.fabric = FABRIC_SINGLE_SWITCH;
    c->spec.rail_optimised = false;
    case_build(c);
    c->training.strategy = strategy;
    c->training.micro_batch = 32;
    c->training.precision = FP16;
    c->training.framework = FRAMEWORK_TUNED;
    c->training.attention = ATTENTION_PLAIN;
    c->training.optimizer = OPTIMIZER_SGD;
}

static Moved reductions(Case *c, int slot) {
    const Lowered *lowered = lower_training(c->arena, c->cluster, &c->training, c->problems);
    EXPECT(lowered != NULL);
    return lowered ? moved(lowered, slot) : (Moved){0};
}

TEST(every_way_of_reducing_folds_exactly_up_to_16_gpus) {
    static const Strategy strategies[] = {STRATEGY_DDP, STRATEGY_HOROVOD, STRATEGY_MIRRORED, STRATEGY_MULTI_WORKER};
    for (int s = 0; s < 4; s++)
        for (int gpus = 1; gpus <= 16; gpus += gpus < 4 ? 1 : 4)
            for (int always = 0; always <= 1; always++) {
                if (strategies[s] == STRATEGY_MIRRORED && gpus > 8) continue;
                Case c;
                open_data_parallel(&c, gpus, "resnet-50", strategies[s]);
                c.training.global_batch = 64.0 * gpus;
                c.training.syncs_always = always;
                SimulatedStep folded = simulate(&c, false), whole = simulate(&c, true);
                if (!folded.ran) problems_print(c.problems, stdout);
                EXPECT(folded.ran && folded.digest == whole.digest);
                arena_close(c.arena);
            }
}

// A cycle longer than backward leaves one fused reduction, after its end; a short one has a reduction for every cycle
// in which blocks were done, and as many bytes in all.
TEST(horovod_fuses_what_a_cycle_brings) {
    Case c;
    open_data_parallel(&c, 8, "resnet-50", STRATEGY_HOROVOD);
    c.training.horovod_cycle_seconds = 10;
    Moved one = reductions(&c, SLOT_DP);
    double long_step = simulate(&c, false).step_p50_s;
    EXPECT_INT(one.count, 1);
    EXPECT(long_step > 10 && long_step < 10.5);
    double backward = 0;
    for (int b = 0; b < c.training.model->block_count; b++) {
        BlockCost cost = block_cost(c.training.model, b, &c.training, 32, c.cluster->gpu_of[0]);
        for (int i = 0; i < cost.backward.count; i++) backward += cost.backward.items[i].seconds;
    }
    for (double cycle = 1e-3; cycle <= 8e-3; cycle *= 2) {
        c.training.horovod_cycle_seconds = cycle;
        Moved many = reductions(&c, SLOT_DP);
        EXPECT(many.count > 1 && many.count <= ceil(backward / cycle) + 1);
        EXPECT_NEAR(many.bytes, one.bytes, 1e-6);
    }
    c.training.horovod_fusion_bytes = 8 << 20;
    EXPECT(reductions(&c, SLOT_DP).count > one.bytes / (16 << 20)); // the threshold cuts what a cycle brings
    arena_close(c.arena);
}

TEST(tensorflow_reduces_all_gradients_at_once_after_backward) {
    double steps[2];
    static const Strategy strategies[] = {STRATEGY_MIRRORED, STRATEGY_MULTI_WORKER};
    for (int i = 0; i < 2; i++) {
        Case c;
        open_data_parallel(&c, 8, "resnet-50", strategies[i]);
        Moved all = reductions(&c, SLOT_DP);
        EXPECT_INT(all.count, 1);
        steps[i] = simulate(&c, false).step_p50_s;
        c.training.strategy = STRATEGY_DDP;
        EXPECT(reductions(&c, SLOT_DP).count > 1);
        EXPECT(simulate(&c, false).step_p50_s < steps[i]);
        arena_close(c.arena);
    }
    EXPECT_NEAR(steps[0], steps[1], 0);
}

// A longer backward hides no more of the exchange.
TEST(cards_without_peer_access_hide_no_gradients) {
    double longer[2];
    for (int i = 0; i < 2; i++) {
        double steps[2];
        for (int gpus = 1; gpus <= 2; gpus++) {
            Case c;
            case_open_on(&c, "rtx4090-8gpu", "eth-100g", gpus, "resnet-50");
            case_build(&c);
            c.training.strategy = STRATEGY_DDP;
            c.training.micro_batch = i ? 256 : 64;
            c.training.precision = FP16;
            c.training.framework = FRAMEWORK_TUNED;
            if (gpus > 1) EXPECT_INT(reductions(&c, SLOT_DP).count, 1);
            steps[gpus - 1] = simulate(&c, false).step_p50_s;
            arena_close(c.arena);
        }
        longer[i] = steps[1] - steps[0];
    }
    EXPECT(longer[0] > 0.005); // 51 MB at less than 10 GB/s
    EXPECT(longer[1] >= longer[0]);
}

TEST(without_no_sync_every_micro_batch_reduces) {
    for (int overlap = 0; overlap <= 1; overlap++) {
        Case c;
        open_data_parallel(&c, 8, "resnet-50", STRATEGY_DDP);
        c.training.global_batch = 32.0 * 8 * 3;
        c.training.overlap_grad_reduce = overlap;
        Moved once = reductions(&c, SLOT_DP);
        double quick = simulate(&c, false).step_p50_s;
        c.training.syncs_always = true;
        Moved always = reductions(&c, SLOT_DP);
        EXPECT_INT(always.count, 3 * once.count);
        EXPECT_NEAR(always.bytes, 3 * once.bytes, 1e-6);
        EXPECT(simulate(&c, false).step_p50_s > quick);
        arena_close(c.arena);
    }
}

// The more is gathered ahead the less is waited for, and the more weights are there at once.
TEST(prefetching_trades_memory_for_time) {
    double last_step = INFINITY, last_buffers = 0;
    static const int prefetches[] = {-1, 1, 2, 4};
    for (int i = 0; i < 4; i++) {
        Case c;
        open_data_parallel(&c, 16, "gpt2-355m", STRATEGY_DDP);
        c.training.framework = FRAMEWORK_MEGATRON;
        c.training.micro_batch = 1;
        c.training.layout.zero = 3;
        c.training.prefetch = prefetches[i];
        SimulatedStep folded = simulate(&c, false), whole = simulate(&c, true);
        EXPECT(folded.ran && folded.digest == whole.digest);
        EXPECT(folded.step_p50_s <= last_step);
        double buffers = folded.lowered->memory.bytes[MEMORY_BUFFERS];
        EXPECT(buffers > last_buffers);
        if (prefetches[i] == 1) { // is what nobody asked for
            c.training.prefetch = 0;
            EXPECT(simulate(&c, false).step_p50_s == folded.step_p50_s);
        }
        last_step = folded.step_p50_s;
        last_buffers = buffers;
        arena_close(c.arena);
    }
}

TEST(ways_of_reducing_that_cannot_be_are_refused) {
    static const struct {
        Strategy strategy;
        int gpus;
        Layout layout;
        const char *text, *hint;
    } rows[] = {
        {STRATEGY_MIRRORED, 16, {.tp = 1, .pp = 1, .vpp = 1}, "on one node, and the cluster has 2", "multi-worker"},
        {STRATEGY_HOROVOD, 8, {.tp = 1, .pp = 2, .vpp = 1}, "data parallelism only", "ddp"},
        {STRATEGY_MULTI_WORKER, 8, {.tp = 1, .pp = 1, .vpp = 1, .zero = 1}, "data parallelism only", "zero"},
    };
    for (int i = 0; i < 3; i++) {
        Case c;
        open_data_parallel(&c, rows[i].gpus, "resnet-50", rows[i].strategy);
        c.training.layout = rows[i].layout;
        EXPECT(!simulate(&c, false).ran);
        EXPECT_INT(problem_count(c.problems), 1);
        if (problem_count(c.problems)) {
            EXPECT_CONTAINS(problem_at(c.problems, 0)->text, rows[i].text);
            EXPECT_CONTAINS(problem_at(c.problems, 0)->hint, rows[i].hint);
        }
        arena_close(c.arena);
    }
}
