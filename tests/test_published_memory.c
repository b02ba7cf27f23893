// Peaks of memory that were published: what each counts, how far predictions are from them, and what software holds
// that no formula of a layer knows.
#include <math.h>

#include "calibrate/training/score_training.h"
#include "tests/test.h"

#define COLUMNS                                                                                                        \
    "row_id,family,model,model_type,layers,hidden,heads,mlp_act,vocab,seq_len,gpu,n_gpus,n_nodes,gpus_per_node,"       \
    "framework,tp,pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,iter_time_s,peak_mem_bytes,optimizer," \
    "metric_kind,notes,inferred,source\n"
// A small LLaMA on one GPU, `what` from zero_stage to the end.
#define SMALL(id, family, framework, what)                                                                             \
    id "," family ",LLaMA,decoder,16,2048,16,swiglu,32000,2048,A100-SXM4-80GB,1,1,8," framework ",1,1,1," what "\n"

typedef struct Reading {
    Arena *arena;
    const Catalogue *catalogue;
    MeasuredRuns runs;
    PredictedRun *predicted;
} Reading;

static Reading read_text(const char *text) {
    Reading r = {.arena = arena_open()};
    r.catalogue = catalogue_builtin(r.arena);
    Problems *problems = problems_create(r.arena);
    EXPECT(measured_runs_read_text(r.arena, r.catalogue, "runs.csv", text, &r.runs, problems));
    EXPECT_INT(problem_count(problems), 0);
    r.predicted = ARENA_ARRAY(r.arena, PredictedRun, r.runs.count);
    for (int i = 0; i < r.runs.count; i++) {
        r.predicted[i] = predict_run(r.arena, r.catalogue, &r.runs.items[i]);
        EXPECT(r.predicted[i].skipped == NULL);
    }
    return r;
}

// nvidia-smi shows the context and unused room of the allocator, which a count of tensors does not have.
TEST(a_published_peak_is_compared_with_what_its_words_say_it_counts) {
#define ROW(framework, metric, notes, inferred, source)                                                                \
    SMALL("a", "f", framework, "0,1,1,bf16,none,1,3e10,adamw," metric "," notes "," inferred "," source)
    Reading r = read_text(COLUMNS ROW("PyTorch", "step time; peak allocated bytes of torch", "X MiB by nvidia-smi", "",
                                      "") ROW("PyTorch", "step time", "peak is reserved memory", "", "")
                              ROW("PyTorch", "step time", "", "memory is nvidia-smi MiB", "")
                                  ROW("PyTorch", "step time", "", "", "") ROW("torchtitan", "step time", "", "", "")
                                      ROW("PyTorch", "step time", "", "", "github:someone/nanogpt-speedrun"));
    static const MemoryCount counts[] = {MEMORY_ALLOCATED, MEMORY_RESERVED, MEMORY_OF_DEVICE,
                                         MEMORY_NOT_SAID,  MEMORY_RESERVED, MEMORY_ALLOCATED};
    for (int i = 0; i < 6; i++) EXPECT_INT(r.runs.items[i].memory_count, counts[i]);
    EXPECT(r.predicted[0].memory_bytes < r.predicted[1].memory_bytes);
    EXPECT(r.predicted[1].memory_bytes < r.predicted[2].memory_bytes);
    arena_close(r.arena);
#undef ROW
}

// One vote a family, however many rows it has.
TEST(errors_of_memory_are_means_over_families) {
#define ROW(family, bytes) SMALL("a", family, "PyTorch", "0,1,1,bf16,none,1," bytes ",adamw,,,,")
    Reading r = read_text(COLUMNS ROW("f", "1e10") ROW("f", "1e10") ROW("f", "1e10") ROW("g", "1e12") ROW("h", ""));
    Scores scores = score_runs(r.arena, r.predicted, r.runs.count, NULL);
    double predicted = r.predicted[0].memory_bytes, f = predicted / 1e10 - 1, g = 1 - predicted / 1e12;
    const MemoryScore *mean = &scores.mean_of_means.memory;
    EXPECT_INT(mean->rows, 2);
    EXPECT_NEAR(mean->mean, (fabs(f) + g) / 2, 1e-9);
    EXPECT_NEAR(mean->bias, (f - g) / 2, 1e-9);
    EXPECT_NEAR(scores.median_memory_error, (fabs(f) + g) / 2, 1e-9);
    EXPECT_NEAR(scores.families[1].memory.inside, 0, 0); // a hundred times as much
    arena_close(r.arena);
#undef ROW
}
