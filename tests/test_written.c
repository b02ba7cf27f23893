// Models that a script writes of operators: held against the library's, then what is refused, then the ends of ranges.
#include <math.h>
#include <stdio.h>

#include "models/workload/model/operators.h"
#include "tests/script.h"
#include "tests/test.h"

// ---- Twins of the library's models.

typedef struct Twin {
    const char *arguments[6]; // of the lesson
    const char *sets[2];      // as --set says it
    double memory, seconds;   // may differ by so much
} Twin;

static Loaded load_twin(const Twin *twin) {
    Loaded loaded = {.arena = arena_open()};
    char *argv[8] = {arena_copy_text(loaded.arena, "lockstep")};
    int argc = 1;
    for (int i = 0; i < 6 && twin->arguments[i]; i++) argv[argc++] = arena_copy_text(loaded.arena, twin->arguments[i]);
    loaded.problems = problems_create(loaded.arena);
    loaded.usage = problems_create(loaded.arena);
    ScenarioRequest request = {.file = "scenarios/lessons/operators_twin.lua",
                               .argc = argc,
                               .argv = argv,
                               .sets = twin->sets,
                               .set_count = twin->sets[1]   ? 2
                                            : twin->sets[0] ? 1
                                                            : 0};
    loaded.scenario = scenario_load(loaded.arena, test_catalogue(), &request, loaded.problems, loaded.usage);
    problems_print(loaded.problems, stdout);
    problems_print(loaded.usage, stdout);
    EXPECT(loaded.scenario && loaded.scenario->item_count == 2);
    return loaded;
}

static const Gpu *gpu_of_study(const StudySpec *study) {
    const NodeGroup *group = &study->cluster->groups[0];
    return group->gpu ? group->gpu : node_gpu(test_catalogue(), group->type, 0);
}

static void expect_twins(const Twin *twin) {
    Loaded loaded = load_twin(twin);
    const StudySpec *studies[2] = {loaded.scenario->items[0].study, loaded.scenario->items[1].study};
    const Model *written = studies[0]->training.model, *library = studies[1]->training.model;
    EXPECT(written->written && !library->written);
    EXPECT_NEAR(model_parameters(written), model_parameters(library), 0);
    EXPECT_NEAR(model_active_parameters(written), model_active_parameters(library), 0);
    EXPECT_NEAR(model_flops_per_sample(written, 4096), model_flops_per_sample(library, 4096), 0);
    RecordPoint points[2];
    for (int i = 0; i < 2; i++) {
        const Record *record = study_run(loaded.arena, studies[i], loaded.problems);
        EXPECT(record && record->points[0].ran);
        points[i] = record->points[0];
    }
    EXPECT_NEAR(points[0].flops_per_step, points[1].flops_per_step, 0);
    EXPECT_NEAR(points[0].memory_peak_bytes, points[1].memory_peak_bytes, twin->memory);
    EXPECT_NEAR(points[0].step_p50_s, points[1].step_p50_s, twin->seconds);
    double late[2];
    for (int i = 0; i < 2; i++) {
        const Model *model = studies[i]->training.model;
        late[i] =
            memory_estimate(model, &studies[i]->training, 0, model->block_count - 1, 1, 1, 1, gpu_of_study(studies[i]))
                .late;
    }
    EXPECT_NEAR(late[0], late[1], 1e-12); // of schedules that split backward
    unload(&loaded);
}

// What differs: the last norm moves what one of a layer does, the embedding's first gradient and the head's are summed
// beside another product, and eager software keeps casts that a written model does not count. Where the CPU is what is
// waited for (8 GPUs a layer), kernels count where each says that they stand, before or after a
// collective; code of one's own waits half as long again there.
TEST(a_written_model_is_as_large_and_as_fast_as_the_librarys) {
    static const Twin twins[] = {
        {{"--tp", "1"}, {NULL}, 0.01, 0.005},
        {{"--tp", "2"}, {NULL}, 0.01, 0.005},
        {{"--tp", "8"}, {NULL}, 0.01, 0.05},
        {{"--tp", "1", "--zero", "3"}, {NULL}, 0.01, 0.005},
        {{"--tp", "2", "--pp", "4"}, {NULL}, 0.01, 0.005},
        {{"--tp", "1", "--fused-norms"}, {"training.framework=eager"}, 0.05, 0.01},
        {{"--tp", "1"}, {"training.attention=plain"}, 0.02, 0.005},
        {{"--tp", "1"}, {"training.precision=fp8"}, 0.01, 0.005},
        {{"--pp", "4"}, {"training.schedule=zb-h1"}, 0.02, 0.005},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) expect_twins(&twins[i]);
}

TEST(a_written_mixture_of_experts_is_as_large_and_as_fast_as_the_librarys) {
    static const Twin twins[] = {
        {{"--experts", "--tp", "1", "--ep", "8"}, {NULL}, 0.01, 0.007},
        {{"--experts", "--tp", "2", "--ep", "4"}, {NULL}, 0.01, 0.012},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) expect_twins(&twins[i]);
}

// ---- What it is made of, by hand.

#define MODEL(fields) "sim.model.operators { " fields " }"
#define BLOCK(operators) MODEL("blocks = { { operators = { " operators " } } }")
#define JOB(model, more)                                                                                               \
    "sim.study { on = cluster, run = sim.training { batch = { micro = 2 }, " more " model = " model " } }"

static Loaded load_job(const char *model, const char *more) {
    static char text[4096];
    snprintf(text, sizeof text, JOB("%s", "%s"), more, model);
    return load_returning(text, NULL);
}

TEST(samples_without_tokens_are_counted_by_themselves) {
    Loaded loaded =
        load_job(MODEL("samples = \"samples\", blocks = { { times = 3, operators = { { op = \"gemm\", n = 10, "
                       "k = 20, bias = true }, { op = \"elementwise\", width = 10 } } } }"),
                 "");
    EXPECT_TEXT(first_problem(&loaded), "");
    const Model *model = loaded.scenario->items[0].study->training.model;
    EXPECT_INT(model->block_count, 3);
    EXPECT_NEAR(model_parameters(model), 3 * 210, 0);
    EXPECT_NEAR(model_forward_flops_per_sample(model, 1), 3 * 2 * 200, 0);
    EXPECT_INT(layers_to_spread(model), 3);
    EXPECT(!counts_tokens(model) && !splits_products(model));
    EXPECT_TEXT(sample_name(model), "samples");
    EXPECT_TEXT(block_name(loaded.arena, model, 2), "block 1 3");
    EXPECT_NEAR(sample_bytes(model, 1), 80, 0);
    unload(&loaded);
}

// By hand: what comes out and its gradient, beside gradients of what the widest operator reads and gives. Plain
// attention holds for each score its probability's gradient and the score's own, of an element each, and a byte of
// dropout's mask.
TEST(a_written_block_works_in_its_output_and_its_widest_operators_gradients) {
    double tokens = 512, e = 2, heads = 4, width = 4 * 64;
    static const struct {
        const char *operators;
        double widest, output; // elements
    } cases[] = {
        {"{ op = \"gemm\", n = 100, k = 300 }", 400, 100},
        {"{ op = \"gemm\", n = 300, k = 100 }", 400, 300},
        {"{ op = \"elementwise\", width = 80 }", 160, 80},
        {"{ op = \"gemm\", n = 100, k = 300 }, { op = \"elementwise\", width = 80 }", 400, 80},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[512];
        snprintf(model, sizeof model, MODEL("blocks = { { operators = { %s } } }"), cases[i].operators);
        Loaded loaded = load_job(model, "seq_len = 512,");
        EXPECT_TEXT(first_problem(&loaded), "");
        const StudySpec *study = loaded.scenario->items[0].study;
        BlockCost cost = block_cost(study->training.model, 0, &study->training, 1, gpu_of_study(study));
        EXPECT_NEAR(cost.output_bytes, e * tokens * cases[i].output, 1e-12);
        EXPECT_NEAR(cost.working_bytes, e * tokens * (cases[i].widest + 2 * cases[i].output), 1e-12);
        unload(&loaded);
    }
    Loaded loaded =
        load_job(BLOCK("{ op = \"attention\", heads = 4, head_dim = 64 }"), "seq_len = 512, attention = \"plain\",");
    EXPECT_TEXT(first_problem(&loaded), "");
    const StudySpec *study = loaded.scenario->items[0].study;
    BlockCost cost = block_cost(study->training.model, 0, &study->training, 1, gpu_of_study(study));
    // Queries, keys and values are read, and as much as queries is given.
    EXPECT_NEAR(cost.working_bytes, e * tokens * (4 + 2) * width + (2 * e + 1) * heads * tokens * tokens, 1e-12);
    unload(&loaded);
}

// ---- What is refused.

typedef struct Wrong {
    const char *model, *more, *said;
} Wrong;

#define COLUMNS "{ op = \"gemm\", n = 8, k = 8, tp = \"columns\" }, "
#define ROWS "{ op = \"gemm\", n = 8, k = 8, tp = \"rows\" }, "
#define PLAIN "{ op = \"gemm\", n = 8, k = 8 }, "
#define DISPATCH "{ op = \"dispatch\", width = 8 }, "
#define COMBINE "{ op = \"combine\", width = 8 }, "
#define EXPERTS(operators) MODEL("experts = 4, per_token = 2, blocks = { { operators = { " operators " } } }")

TEST(a_model_that_cannot_be_is_refused_with_a_sentence) {
    static const Wrong wrong[] = {
        {BLOCK("{ op = \"gemm\", n = 8 }"), "", "has no k"},
        {BLOCK("{ op = \"norm\", width = 8, k = 8 }"), "", "says k, which operators of kind norm do not have"},
        {BLOCK("{ op = \"norm\", width = 0 }"), "", "must be a whole count from 1"},
        {BLOCK("{ op = \"attention\", heads = 6, kv_heads = 4, head_dim = 8 }"), "", "do not share 4 key-value heads"},
        {BLOCK("{ op = \"lookup\", rows = 8, width = 8, tp = \"columns\" }"), "", "tables are split by rows"},
        {BLOCK("{ op = \"elementwise\", width = 8, passes = { 1, 2, 3 } }"), "", "passes are forward and backward"},
        {BLOCK(ROWS), "", "nothing before it gives parts"},
        {BLOCK(COLUMNS), "", "the block ends before what gemm began is closed"},
        {BLOCK(COLUMNS PLAIN ROWS), "", "is whole on every GPU, and reads parts"},
        {BLOCK(DISPATCH COMBINE), "", "is for experts, and the model has none"},
        {EXPERTS(DISPATCH PLAIN), "", "the block ends before what dispatch began is closed"},
        {EXPERTS(COMBINE), "", "combine has no dispatch before it"},
        {EXPERTS(DISPATCH DISPATCH COMBINE), "", "dispatch has no combine before it"},
        {EXPERTS(COLUMNS DISPATCH COMBINE ROWS), "", "moves whole tokens"},
        {EXPERTS(COLUMNS ROWS DISPATCH PLAIN COMBINE), "", "experts are split with the other products"},
        {EXPERTS(DISPATCH "{ op = \"loss\", width = 8 }, " COMBINE), "", "cannot stand between dispatch and combine"},
        {MODEL("experts = 2, per_token = 4, blocks = { { operators = { " PLAIN "} } }"), "", "cannot go to 4 of 2"},
        {MODEL("experts = 2, blocks = { { operators = { " PLAIN "} } }"), "", "cannot go to 0 of 2"},
        {MODEL(
             "samples = \"samples\", blocks = { { operators = { { op = \"attention\", heads = 1, head_dim = 8 } } } }"),
         "", "looks at other tokens, and samples have none"},
        {MODEL("blocks = { { times = 1e5, operators = { " PLAIN "} }, { operators = { " PLAIN "} } }"), "",
         "has 100001 blocks"},
        {BLOCK(COLUMNS ROWS COLUMNS ROWS COLUMNS ROWS COLUMNS ROWS COLUMNS ROWS COLUMNS ROWS), "",
         "exchange something 12 times in a block"},
        {BLOCK("{ op = \"gem\", n = 8, k = 8 }"), "", "cannot be \"gem\""},
        {BLOCK("{ op = \"gemm\", nn = 8, k = 8 }"), "", "nn"},
        // Of the job.
        {BLOCK(PLAIN), "parallel = { tp = 2 },", "tensor parallelism splits products by columns or rows"},
        {BLOCK("{ op = \"gemm\", n = 9, k = 8, tp = \"columns\" }, { op = \"gemm\", n = 8, k = 9, tp = \"rows\" }"),
         "parallel = { tp = 2 },", "gemm of operators does not divide by tp 2"},
        {BLOCK(COLUMNS ROWS), "parallel = { tp = 2, sequence_parallel = true },", "sequence parallelism slices"},
        {BLOCK(PLAIN), "parallel = { cp = 2 },", "context parallelism splits the sequence of a transformer"},
        {BLOCK(PLAIN), "parallel = { ep = 2 },", "the model has none"},
        {BLOCK(PLAIN), "parallel = { pp = 2 },", "too few for 2 pipeline chunks"},
        {BLOCK(PLAIN), "recompute = \"full\",", "recomputation is for transformers"},
        {BLOCK(PLAIN), "lora_rank = 8,", "LoRA's adapters are for transformers"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Loaded loaded = load_job(wrong[i].model, wrong[i].more);
        if (loaded.scenario) study_run(loaded.arena, loaded.scenario->items[0].study, loaded.problems);
        if (!any_problem_contains(&loaded, wrong[i].said))
            test_fail(__FILE__, __LINE__, "%s %s gives \"%s\"", wrong[i].model, wrong[i].more, first_problem(&loaded));
        unload(&loaded);
    }
}

// ---- The ends of ranges.

TEST(the_smallest_and_largest_of_each_operator_end_in_an_answer_or_a_sentence) {
    static const char *const operators[] = {
        "{ op = \"gemm\", n = %s, k = %s, bias = true }",
        "{ op = \"gemm\", n = %s, k = %s, tp = \"columns\" }, { op = \"gemm\", n = %s, k = %s, tp = \"rows\" }",
        "{ op = \"norm\", width = %s, bias = true }",
        "{ op = \"elementwise\", width = %s, gated = true }",
        "{ op = \"lookup\", rows = %s, width = %s, tp = \"rows\" }",
        "{ op = \"dispatch\", width = %s }, { op = \"gemm\", n = %s, k = %s }, { op = \"combine\", width = %s }",
        "{ op = \"loss\", width = %s }",
        "{ op = \"attention\", heads = 1, head_dim = 1 }",
        "{ op = \"attention\", heads = 100000, kv_heads = 1, head_dim = 1000000, causal = true }",
    };
    static const char *const sizes[] = {"1", "7", "1000000000"};
    static const char *const jobs[] = {
        "",
        "parallel = { pp = 2 },",
        "zero = 3,",
        "parallel = { tp = 2, pp = 2 }, attention = \"plain\",",
        "parallel = { pp = 2 }, schedule = \"zb-h1\",",
    };
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
                char list[512], model[1024];
                snprintf(list, sizeof list, operators[o], sizes[s], sizes[s], sizes[s], sizes[s]);
                snprintf(model, sizeof model,
                         MODEL("experts = 4096, per_token = 4096, blocks = { { times = 5, operators = { %s } } }"),
                         list);
                Loaded loaded = load_job(model, jobs[j]);
                const Record *record =
                    loaded.scenario ? study_run(loaded.arena, loaded.scenario->items[0].study, loaded.problems) : NULL;
                bool answered = record && (!record->points[0].ran || isfinite(record->points[0].step_p50_s));
                if (!answered && problem_count(loaded.problems) == 0)
                    test_fail(__FILE__, __LINE__, "%s %s gives nothing", model, jobs[j]);
                if (any_problem_contains(&loaded, "above physics"))
                    test_fail(__FILE__, __LINE__, "%s %s gives \"%s\"", model, jobs[j], first_problem(&loaded));
                unload(&loaded);
            }
}
