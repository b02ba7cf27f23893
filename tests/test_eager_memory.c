// What a step of eager PyTorch holds: what its autograd saves of each layer, gradients that come as activations go, and
// its own count of every byte allocated.
#include "calibrate/training/training.h"
#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_internal.h"
#include "tests/jobs.h"
#include "tests/test.h"

#define GIB 1073741824.0
#define WORKSPACES_BYTES (2 * GIB / 32) // cuBLAS's, of forward's and of backward's thread

static TrainingSpec eager(const Model *model) {
    return (TrainingSpec){
        .model = model,
        .strategy = STRATEGY_SINGLE,
        .layout = {.tp = 1, .pp = 1, .vpp = 1, .dp = 1},
        .schedule = SCHEDULE_1F1B,
        .seq_len = 1024,
        .micro_batch = 2,
        .precision = BF16,
        .mixed_precision = true,
        .attention = ATTENTION_FLASH_2,
        .framework = FRAMEWORK_EAGER,
        .optimizer = OPTIMIZER_ADAM,
        .fused_optimizer = true, // as train_steps.py has it
    };
}

static double kept_by_layer(const TrainingSpec *training, const Gpu *gpu) {
    return block_cost(training->model, 1, training, training->micro_batch, gpu).activation_bytes;
}

// Of GPT in bytes per token and h: both norms' inputs 4 + 4 in 32 bits, what they give cast 2 + 2, queries, keys,
// values 6 and their weighted sum 2, GELU's input and output 8 + 8, masks 1 + 1. Llama has no masks; autocast casts
// what a norm gives for each of five products; gate, SiLU of it, up and their product are FFN-wide.
TEST(an_eager_layer_keeps_what_autograd_was_seen_to_save) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    TrainingSpec training = eager(bench_model(&bench, "gpt2-355m"));
    double tokens = training.seq_len * training.micro_batch, h = training.model->hidden;
    EXPECT_NEAR(kept_by_layer(&training, gpu), tokens * 38 * h, 1e-12);
    training.recompute = RECOMPUTE_FULL;
    EXPECT_NEAR(kept_by_layer(&training, gpu), tokens * 4 * h, 1e-12);
    training.recompute = RECOMPUTE_NONE;
    training.mixed_precision = false; // BF16 throughout
    EXPECT_NEAR(kept_by_layer(&training, gpu), tokens * 34 * h, 1e-12);

    training = eager(bench_model(&bench, "tinyllama-1.1b"));
    double ffn = training.model->ffn, keys = h = training.model->hidden;
    keys = h / training.model->heads * training.model->kv_heads;
    EXPECT_NEAR(kept_by_layer(&training, gpu), tokens * ((8 + 10 + 4) * h + 4 * keys + 8 * ffn), 1e-12);
    training.mixed_precision = false;
    EXPECT_NEAR(kept_by_layer(&training, gpu), tokens * ((4 + 4 + 4) * h + 4 * keys + 8 * ffn), 1e-12);
    training.framework = FRAMEWORK_MEGATRON; // SwiGLU is one kernel
    EXPECT_NEAR(kept_by_layer(&training, gpu), tokens * ((4 + 4 + 4) * h + 4 * keys + 6 * ffn), 1e-12);
    arena_close(bench.arena);
}

static MemoryCurve curve_of(Arena *arena, const TrainingSpec *training, const Gpu *gpu) {
    return memory_over_time(arena, training, 1, gpu, 0, NULL);
}

// All of them, where they are held all the time.
static double whole_gradients(Arena *arena, const TrainingSpec *training, const Gpu *gpu) {
    Stages stages = stages_of(arena, training, 1, gpu);
    return stage_memory_whole(arena, &stages, 0).bytes[MEMORY_GRADIENTS];
}

// Forward has none; in the end all are there, and activations and casts are gone.
TEST(gradients_come_as_activations_go) {
    static const char *const models[] = {"gpt2-124m", "tinyllama-1.1b", "bert-base", "resnet-50", "vit-base-patch16"};
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    for (int i = 0; i < 5; i++) {
        TrainingSpec training = eager(bench_model(&bench, models[i]));
        if (training.model->patch) training.seq_len = training.model->max_positions;
        MemoryCurve curve = curve_of(bench.arena, &training, gpu);
        double whole = whole_gradients(bench.arena, &training, gpu);
        EXPECT_INT(curve.count, 3); // forward, backward, the optimizer
        EXPECT_NEAR(curve.items[0].bytes[MEMORY_GRADIENTS], 0, 0);
        EXPECT(curve.items[1].bytes[MEMORY_GRADIENTS] < whole);
        EXPECT_NEAR(curve.items[2].bytes[MEMORY_GRADIENTS], whole, 1e-12);
        EXPECT_NEAR(curve.items[2].bytes[MEMORY_ACTIVATIONS] + curve.items[2].bytes[MEMORY_WEIGHTS], 0, 0);
        Memory memory = memory_of_job(&training, 1, gpu, NULL);
        EXPECT_NEAR(memory.peak, curve.items[curve.peak].total, 1e-12);
        for (int k = 0; k < MEMORY_CLASS_COUNT; k++)
            EXPECT_NEAR(memory.bytes[k], curve.items[curve.peak].bytes[k], 1e-12);
        Stages stages = stages_of(bench.arena, &training, 1, gpu);
        EXPECT(memory.peak < stage_memory_whole(bench.arena, &stages, 0).peak);

        training.grad_accumulation = 2; // the second forward meets those of the first
        memory = memory_of_job(&training, 1, gpu, NULL);
        EXPECT_NEAR(memory.bytes[MEMORY_GRADIENTS], whole, 1e-12);
        training.grad_accumulation = 1;
        training.framework = FRAMEWORK_MEGATRON; // keeps them in a buffer
        EXPECT_NEAR(memory_of_job(&training, 1, gpu, NULL).bytes[MEMORY_GRADIENTS],
                    whole_gradients(bench.arena, &training, gpu), 1e-12);
    }
    arena_close(bench.arena);
}

TEST(the_memory_command_shows_gradients_that_come_and_go) {
    static char text[20000];
    const char *command = "$LOCKSTEP memory --model gpt2-1.5b --gpu H100 --framework eager --recompute full --seq 1024 "
                          "--attention flash2 --fused-optimizer --over-time";
    EXPECT_INT(test_shell(command, text, sizeof text), 0);
    EXPECT_CONTAINS(text, "  weights  gradients  ");
    EXPECT_CONTAINS(text, "   backward of micro-batch 1 at the embedding\n"); // of the peak
}

// A step so small that only parameters count: 12 bytes of each and its gradient, but for the table, of which there are
// three gradients when both ends of a tied model have theirs and the sum is made.
TEST(a_tied_table_has_three_gradients_for_a_moment) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "H100");
    TrainingSpec training = eager(bench_model(&bench, "gpt2-1.5b"));
    training.seq_len = 16;
    training.micro_batch = 1;
    const Model *model = training.model;
    double table = (double)model->vocab * model->hidden, parameters = model_parameters(model);
    Memory memory = memory_of_job(&training, 1, gpu, NULL);
    double places = (double)model->max_positions * model->hidden; // whose gradients come with the table's
    EXPECT_NEAR(memory.peak - memory.outside - WORKSPACES_BYTES, 16 * parameters + 8 * table - 4 * places, 2e-3);
    arena_close(bench.arena);
}

// Convolutions have a workspace on a GPU (cuDNN's), too, and on the CPU that the steps were counted on none.
#define CONV_WORKSPACE_BYTES (0.25 * GIB)

// Models of the training script (calibrate/gpu/bench/train_models.py), most of them of 4 layers: each allocation and
// release of a step counted by PyTorch's profiler. Functions that save what they save stood in for flash attention, the
// fused RMSNorm and dropout of CUDA, and for its lists of what autocast casts.
TEST(pytorchs_own_count_of_a_step_is_met) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Catalogue *catalogue = catalogue_builtin(arena);
    MeasuredRuns runs = {0};
    EXPECT(measured_runs_read(arena, catalogue, "tests/data/eager_memory.csv", &runs, problems));
    EXPECT(runs.count >= 13);
    double sum = 0;
    for (int i = 0; i < runs.count; i++) {
        PredictedRun predicted = predict_run(arena, catalogue, &runs.items[i]);
        EXPECT(predicted.skipped == NULL && runs.items[i].memory_count == MEMORY_ALLOCATED);
        bool cnn = convolves(runs.items[i].training.model);
        double bytes = predicted.memory_bytes - WORKSPACES_BYTES - (cnn ? CONV_WORKSPACE_BYTES : 0);
        EXPECT_NEAR(bytes, runs.items[i].measured_memory_bytes, 0.035);
        sum += fabs(bytes / runs.items[i].measured_memory_bytes - 1);
    }
    EXPECT(sum / runs.count < 0.01);
    arena_close(arena);
}
