// Offloading: traffic and memory follow their formulas, folding is exact, what cannot be is refused.
#include "tests/jobs.h"
#include "tests/test.h"

static void open_offloaded(Case *c, int gpus, const char *model, int zero, OffloadPlace optimizer,
                           OffloadPlace parameters) {
    case_open(c, gpus, model);
    c->training.layout.zero = zero;
    c->training.offload_optimizer = optimizer;
    c->training.offload_parameters = parameters;
}

TEST(every_offloading_layout_up_to_16_gpus_folds_exactly) {
    static const OffloadPlace places[][2] = {{OFFLOAD_HOST, OFFLOAD_GPU},
                                             {OFFLOAD_NVME, OFFLOAD_GPU},
                                             {OFFLOAD_HOST, OFFLOAD_HOST},
                                             {OFFLOAD_NVME, OFFLOAD_NVME}};
    int ran = 0;
    for (int gpus = 1; gpus <= 16; gpus *= 2)
        for (int tp = 1; tp <= 2; tp++)
            for (int pp = 1; pp <= 2; pp++)
                for (int zero = 0; zero <= 3; zero++)
                    for (int p = 0; p < 4; p++) {
                        if (gpus % (tp * pp) || (places[p][1] != OFFLOAD_GPU && zero < 3)) continue;
                        Case c;
                        open_offloaded(&c, gpus, "gpt2-124m", zero, places[p][0], places[p][1]);
                        c.training.layout.tp = tp;
                        c.training.layout.pp = pp;
                        c.training.global_batch = 4.0 * gpus / (tp * pp);
                        case_folds(&c);
                        arena_close(c.arena);
                        ran++;
                    }
    EXPECT(ran > 80);
}

// ZeRO-Offload moves 4 bytes of each parameter over PCIe in a step, 2 of gradient there and 2 of weight back (Ren et
// al. 2021, section 3); ZeRO-Infinity reads and writes Adam's 12 on disks (Rajbhandari et al. 2021).
TEST(what_a_step_moves_is_the_papers) {
    for (int gpus = 1; gpus <= 8; gpus *= 8)
        for (int place = OFFLOAD_HOST; place <= OFFLOAD_NVME; place++) {
            Case c;
            open_offloaded(&c, gpus, "gpt2-355m", 2, (OffloadPlace)place, OFFLOAD_GPU);
            const Lowered *lowered = lower_training(c.arena, c.cluster, &c.training, c.problems);
            double share = model_parameters(c.training.model) / gpus;
            EXPECT(lowered != NULL);
            if (!lowered) return;
            EXPECT_NEAR(moved(lowered, SLOT_TO_HOST).bytes, 2 * share, 1e-5);
            EXPECT_NEAR(moved(lowered, SLOT_FROM_HOST).bytes, 2 * share, 1e-5);
            double disk = place == OFFLOAD_NVME ? 12 * share : 0;
            EXPECT_NEAR(moved(lowered, SLOT_DISK_READ).bytes, disk, 1e-5);
            EXPECT_NEAR(moved(lowered, SLOT_DISK_WRITE).bytes, disk, 1e-5);
            arena_close(c.arena);
        }
}

// With zero 3 weights come from the host in forward and again in backward, for every micro-batch.
TEST(offloaded_weights_are_fetched_twice_a_micro_batch) {
    for (int micro_batches = 1; micro_batches <= 2; micro_batches++) {
        Case c;
        open_offloaded(&c, 8, "gpt2-355m", 3, OFFLOAD_NVME, OFFLOAD_NVME);
        c.training.global_batch = 2.0 * 8 * micro_batches;
        const Lowered *lowered = lower_training(c.arena, c.cluster, &c.training, c.problems);
        double share = model_parameters(c.training.model) / 8;
        EXPECT(lowered != NULL);
        if (!lowered) return;
        EXPECT_NEAR(moved(lowered, SLOT_FROM_HOST).bytes, micro_batches * 4 * share, 1e-5);
        EXPECT_NEAR(moved(lowered, SLOT_DISK_READ).bytes, (micro_batches * 4 + 12) * share, 1e-5);
        EXPECT_NEAR(moved(lowered, SLOT_DISK_WRITE).bytes, (2 + 12) * share, 1e-5);
        arena_close(c.arena);
    }
}

// 28 bytes of each parameter at 0.29 of the host memory's rate (Ren et al. 2021, table 4: 1e10 parameters in 2.57 s
// with 256 GB/s, 0.43; hosts of H200 half of that).
TEST(the_cpus_update_takes_as_long_as_measured) {
    Case c;
    open_offloaded(&c, 1, "gpt2-355m", 1, OFFLOAD_HOST, OFFLOAD_GPU);
    SimulatedStep step = simulate(&c, false);
    EXPECT(step.ran);
    double bytes = 28 * model_parameters(c.training.model), speed = c.group.type->host_memory_bytes_per_second;
    EXPECT_NEAR(step.spent[CAUSE_OPTIMIZER], bytes / (0.29 * speed), 0.02);
    arena_close(c.arena);
}

TEST(offloading_is_slower_the_further_away_and_frees_memory) {
    static const OffloadPlace places[][2] = {{OFFLOAD_GPU, OFFLOAD_GPU},
                                             {OFFLOAD_HOST, OFFLOAD_GPU},
                                             {OFFLOAD_NVME, OFFLOAD_GPU},
                                             {OFFLOAD_NVME, OFFLOAD_NVME}};
    double last_step = 0, last_peak = INFINITY, outside = 0;
    for (int i = 0; i < 4; i++) {
        Case c;
        open_offloaded(&c, 8, "gpt3-2.7b", 3, places[i][0], places[i][1]);
        SimulatedStep step = simulate(&c, false);
        EXPECT(step.ran && step.step_p50_s > last_step && step.lowered->memory.peak < last_peak + (i == 2 ? 1 : 0));
        const Memory *memory = &step.lowered->memory;
        double held = memory->host + memory->disk;
        for (int k = MEMORY_WEIGHTS; k <= MEMORY_OPTIMIZER; k++) held += memory->bytes[k];
        if (i > 0) EXPECT(memory->host + memory->disk > 0);
        if (outside > 0) EXPECT_NEAR(held, outside, 1e-9); // nothing is lost on the way
        outside = held;
        last_step = step.step_p50_s;
        last_peak = memory->peak;
        arena_close(c.arena);
    }
}

TEST(offloading_that_cannot_be_is_refused) {
    static const struct {
        OffloadPlace optimizer, parameters;
        int zero;
        Strategy strategy;
        bool gather;
        const char *model, *text, *hint;
    } rows[] = {
        {OFFLOAD_HOST, OFFLOAD_HOST, 1, STRATEGY_AUTO, false, "gpt2-124m", "zero 3, and this job has zero 1",
         "--zero 3"},
        {OFFLOAD_GPU, OFFLOAD_HOST, 3, STRATEGY_AUTO, false, "gpt2-124m", "the optimizer is on the GPU",
         "--offload-optimizer host"},
        {OFFLOAD_HOST, OFFLOAD_GPU, 0, STRATEGY_DATA_PARALLEL, false, "gpt2-124m", "knows no offloading", "ddp"},
        {OFFLOAD_HOST, OFFLOAD_GPU, 1, STRATEGY_AUTO, true, "gpt2-124m", "next forward", "param_gather"},
        {OFFLOAD_HOST, OFFLOAD_HOST, 3, STRATEGY_AUTO, false, "gpt3-175b", "of host memory", "nvme"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case c;
        open_offloaded(&c, 8, rows[i].model, rows[i].zero, rows[i].optimizer, rows[i].parameters);
        c.training.strategy = rows[i].strategy;
        c.training.overlap_param_gather = rows[i].gather;
        EXPECT(!simulate(&c, false).ran);
        EXPECT_INT(problem_count(c.problems), 1);
        if (problem_count(c.problems)) {
            EXPECT_CONTAINS(problem_at(c.problems, 0)->text, rows[i].text);
            EXPECT_CONTAINS(problem_at(c.problems, 0)->hint, rows[i].hint);
        }
        arena_close(c.arena);
    }
}
