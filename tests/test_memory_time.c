// Memory pass by pass: it adds up, it never exceeds the estimate, and its peak is where the schedule says.
#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/job.h"
#include "tests/script.h"
#include "tests/test.h"

static TrainingSpec job(Arena *arena, const char *model, Schedule schedule, int pp, int micro_batches) {
    return (TrainingSpec){
        .model = find_model(arena, model, (Where){0}, problems_create(arena)),
        .layout = {.tp = 1, .pp = pp, .vpp = schedule == SCHEDULE_INTERLEAVED ? 2 : 1},
        .schedule = schedule,
        .seq_len = 1024,
        .micro_batch = 1,
        .grad_accumulation = micro_batches,
        .precision = BF16,
        .mixed_precision = true,
        .attention = ATTENTION_FLASH,
        .framework = FRAMEWORK_MEGATRON,
        .optimizer = OPTIMIZER_ADAM,
    };
}

TEST(memory_over_time_adds_up_and_stays_below_the_estimate) {
    static const char *const models[] = {"gpt2-355m", "resnet-50", "mixtral-8x7b"};
    for (int m = 0; m < 3; m++)
        for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++)
            for (int pp = 1; pp <= 4; pp *= 2) {
                Arena *arena = arena_open();
                const Gpu *gpu = catalogue_gpu(test_catalogue(), "H100-SXM5-80GB");
                TrainingSpec training = job(arena, models[m], (Schedule)schedule, pp, 4 * pp);
                EXPECT(gpu != NULL);
                for (int stage = 0; stage < pp && gpu; stage++) {
                    if (pp == 1) training.layout.vpp = 1;
                    Stages stages = stages_of(arena, &training, pp, gpu);
                    Memory estimate = stage_memory(arena, &stages, stage);
                    MemoryCurve curve = memory_over_time(arena, &training, pp, gpu, stage, NULL);
                    EXPECT(curve.count > 1);
                    for (int i = 0; i < curve.count; i++) {
                        double sum = 0;
                        for (int k = 0; k < MEMORY_CLASS_COUNT; k++) {
                            EXPECT(curve.items[i].bytes[k] >= -1e-3);
                            sum += curve.items[i].bytes[k];
                        }
                        EXPECT_NEAR(curve.items[i].total, sum, 1e-12);
                        EXPECT(curve.items[i].total <= curve.items[curve.peak].total);
                    }
                    // Within a split backward a block may keep more than before; whole passes count for the estimate.
                    double more = schedule_splits_backward((Schedule)schedule) ? 0.002 : 1e-12;
                    EXPECT(curve.items[curve.peak].total <= estimate.peak * (1 + more));
                    EXPECT(curve.items[curve.peak].total > 0.8 * estimate.peak);
                    EXPECT(curve.items[curve.count - 1].optimizer);
                }
                arena_close(arena);
            }
}

// GPipe is fullest in its first backward, 1F1B's first stage once the pipeline is full; both with everything kept.
TEST(the_peak_is_where_the_schedule_puts_it) {
    Arena *arena = arena_open();
    const Gpu *gpu = catalogue_gpu(test_catalogue(), "H100-SXM5-80GB");
    static const struct {
        Schedule schedule;
        int kept, peak; // micro-batches at the peak, and its pass
    } rows[] = {{SCHEDULE_GPIPE, 8, 8}, {SCHEDULE_1F1B, 4, 4}};
    for (int i = 0; i < 2; i++) {
        TrainingSpec training = job(arena, "gpt2-355m", rows[i].schedule, 4, 8);
        MemoryCurve curve = memory_over_time(arena, &training, 4, gpu, 0, NULL);
        const MemoryMoment *peak = &curve.items[curve.peak];
        EXPECT_INT(curve.peak, rows[i].peak);
        EXPECT_INT(peak->pass.kind, PASS_BACKWARD);
        EXPECT_INT(peak->pass.micro_batch, 0);
        double one = curve.items[0].bytes[MEMORY_ACTIVATIONS];
        EXPECT_NEAR(peak->bytes[MEMORY_ACTIVATIONS], rows[i].kept * one, 1e-9);
    }
    arena_close(arena);
}

TEST(long_steps_are_cut_where_they_repeat_themselves) {
    Arena *arena = arena_open();
    const Gpu *gpu = catalogue_gpu(test_catalogue(), "H100-SXM5-80GB");
    for (int schedule = SCHEDULE_1F1B; schedule < SCHEDULE_COUNT; schedule++) {
        TrainingSpec few = job(arena, "gpt2-355m", (Schedule)schedule, 4, 24), many = few;
        int left_out;
        many.grad_accumulation = 200;
        MemoryCurve one = memory_over_time(arena, &few, 4, gpu, 1, NULL),
                    other = memory_over_time(arena, &many, 4, gpu, 1, &left_out);
        EXPECT_INT(left_out, 176);
        EXPECT_NEAR(one.items[one.peak].total, other.items[other.peak].total, 1e-12);
    }
    arena_close(arena);
}

TEST(the_memory_command_names_the_moment) {
    static char text[20000];
    EXPECT_INT(test_shell("$LOCKSTEP memory --model gpt3-6.7b --gpu A100 --pp 4 --micro-batch 1 --over-time", text,
                          sizeof text),
               0);
    EXPECT_CONTAINS(text, "✔ ");
    EXPECT_CONTAINS(text, "backward of micro-batch 1 at");
    EXPECT_CONTAINS(text, "the optimizer's step");
    EXPECT_INT(test_shell("$LOCKSTEP memory --model gpt2-124m --gpu A100 --micro-batch 1 --seq 512 --json --over-time",
                          text, sizeof text),
               0);
    EXPECT_CONTAINS(text, "\"peak_at\": \"backward of micro-batch 1 at the head\"");
    EXPECT_CONTAINS(text, "\"over_time\": [");
    EXPECT_INT(test_shell("$LOCKSTEP memory --model gpt3-2.7b --gpu A100 --zero 3 --gpus 8 --micro-batch 1 "
                          "--offload-optimizer host --offload-parameters nvme",
                          text, sizeof text),
               0);
    EXPECT_CONTAINS(text, "in host memory");
}
