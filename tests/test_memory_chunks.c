// Memory of interleaved stages: what several chunks of a model on one GPU add up to, the ends of the model among them;
// and what an allocator holds beyond that.
#include <math.h>

#include "models/workload/cost/cost_constants.h"
#include "models/workload/cost/cost_internal.h"
#include "tests/jobs.h"
#include "tests/test.h"

static TrainingSpec interleaved(const Model *model, int pp, int vpp, int zero) {
    return (TrainingSpec){.model = model,
                          .layout = {.tp = 2, .pp = pp, .vpp = vpp, .zero = zero},
                          .schedule = vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B,
                          .seq_len = 512,
                          .precision = BF16,
                          .mixed_precision = true,
                          .framework = FRAMEWORK_MEGATRON,
                          .optimizer = OPTIMIZER_ADAM,
                          .micro_batch = 1,
                          .grad_accumulation = 2 * pp};
}

typedef struct Chunks { // of one stage, each estimated alone
    double sum[MEMORY_CLASS_COUNT], largest[MEMORY_CLASS_COUNT];
    double outside, host, disk;
} Chunks;

static Chunks chunks_of(const Stages *s, int stage) {
    Chunks chunks = {0};
    for (int part = 0; part < s->pipeline.vpp; part++) {
        MemorySeen seen = {.count = 0};
        int chunk = stage + part * s->pipeline.pp;
        Memory held = memory_of_blocks(s->training, s->first[chunk], s->first[chunk + 1] - 1, s->micro_batch, s->dp,
                                       s->gpu, &seen);
        for (int i = 0; i < MEMORY_CLASS_COUNT; i++) {
            chunks.sum[i] += held.bytes[i];
            chunks.largest[i] = fmax(chunks.largest[i], held.bytes[i]);
        }
        chunks.outside = fmax(chunks.outside, held.outside);
        chunks.host += held.host;
        chunks.disk += held.disk;
    }
    return chunks;
}

// Parameters and what trains them are there once for each chunk. What kernels work in, buffers, and what the runtime
// and NCCL hold are the process's: one chunk after the other uses them.
static void expect_memory_of_chunks(const Stages *s, int stage) {
    Arena *arena = arena_open();
    Memory memory = stage_memory_whole(arena, s, stage);
    Chunks chunks = chunks_of(s, stage);
    double peak = 0;
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) {
        bool is_each = i == MEMORY_WEIGHTS || i == MEMORY_GRADIENTS || i == MEMORY_OPTIMIZER;
        if (i != MEMORY_ACTIVATIONS) EXPECT_NEAR(memory.bytes[i], is_each ? chunks.sum[i] : chunks.largest[i], 1e-12);
        peak += memory.bytes[i];
    }
    EXPECT(memory.bytes[MEMORY_ACTIVATIONS] >= chunks.sum[MEMORY_ACTIVATIONS] * (1 - 1e-12)); // of one micro-batch
    EXPECT_NEAR(memory.outside, chunks.outside, 1e-12);
    EXPECT_NEAR(memory.host, chunks.host, 1e-12);
    EXPECT_NEAR(memory.disk, chunks.disk, 1e-12);
    EXPECT_NEAR(memory.peak, peak, 1e-12);
    arena_close(arena);
}

TEST(chunks_of_a_stage_add_what_they_hold_and_share_what_the_process_has_once) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "A100");
    static const char *const names[] = {"gpt2-355m", "llama-2-7b", "mixtral-8x7b"};
    for (int n = 0; n < 3; n++)
        for (int pp = 2; pp <= 4; pp *= 2)
            for (int vpp = 1; vpp <= 4; vpp *= 2)
                for (int zero = 0; zero < 2; zero++)
                    for (int away = 0; away < 2; away++) {
                        TrainingSpec training = interleaved(bench_model(&bench, names[n]), pp, vpp, zero);
                        if (away) training.offload_optimizer = OFFLOAD_HOST;
                        Stages stages = stages_of(bench.arena, &training, 4 * pp, gpu);
                        EXPECT(stages.first != NULL);
                        for (int stage = 0; stage < pp && stages.first; stage++)
                            expect_memory_of_chunks(&stages, stage);
                    }
    arena_close(bench.arena);
}

// Every other layer of this model has experts, so that a chunk is not like the one that was looked at before it.
TEST(a_chunk_of_one_layer_holds_what_its_own_kind_of_layer_holds) {
    Bench bench = bench_open();
    const Model *model = bench_model(&bench, "llama-4-maverick");
    TrainingSpec training = interleaved(model, 8, model->layers / 8, 1);
    Stages stages = stages_of(bench.arena, &training, 32, bench_gpu(&bench, "A100"));
    EXPECT(stages.first != NULL);
    for (int stage = 0; stage < 8 && stages.first; stage++) expect_memory_of_chunks(&stages, stage);
    arena_close(bench.arena);
}

// The stages of a model hold all of it, whatever the chunks; what lies outside the allocator does not depend on them.
TEST(more_chunks_hold_the_same_parameters_and_nothing_more_outside_the_allocator) {
    Bench bench = bench_open();
    const Gpu *gpu = bench_gpu(&bench, "A100");
    for (int pp = 2; pp <= 4; pp *= 2) {
        double weights[2] = {0}, outside[2] = {0};
        for (int vpp = 1; vpp <= 2; vpp++) {
            TrainingSpec training = interleaved(bench_model(&bench, "llama-2-7b"), pp, vpp, 0);
            Stages stages = stages_of(bench.arena, &training, 4 * pp, gpu);
            for (int stage = 0; stage < pp; stage++) {
                Memory memory = stage_memory(bench.arena, &stages, stage);
                weights[vpp - 1] += memory.bytes[MEMORY_WEIGHTS];
                outside[vpp - 1] = fmax(outside[vpp - 1], memory.outside);
            }
        }
        EXPECT_NEAR(weights[1], weights[0], 1e-12);
        EXPECT_NEAR(outside[1], outside[0], 1e-12);
        EXPECT(outside[0] > 0);
    }
    arena_close(bench.arena);
}

// A share of what comes and goes stays unused between tensors, as far as the GPU has room for it.
TEST(an_allocator_reserves_a_share_of_what_comes_and_goes_beside_the_peak) {
    Memory memory = {.peak = 50e9, .capacity = 80e9};
    memory.bytes[MEMORY_WEIGHTS] = 20e9;
    memory.bytes[MEMORY_ACTIVATIONS] = 24e9;
    memory.bytes[MEMORY_WORKING] = 6e9;
    EXPECT_NEAR(reserved_bytes(&memory), 50e9 + cost_constant(ALLOCATOR_SLACK) * 30e9, 1e-12);
    memory.capacity = 50.5e9;
    EXPECT_NEAR(reserved_bytes(&memory), 50.5e9, 1e-12);
    memory.capacity = 40e9; // it does not fit
    EXPECT_NEAR(reserved_bytes(&memory), 50e9, 1e-12);
}
