// The layouts of a plan: every one is possible, and none that the rules allow is missing.
#include <math.h>

#include "models/workload/job/job.h"
#include "models/workload/job/software.h"
#include "models/workload/lower/lower.h"
#include "scenarios/plan/plan.h"
#include "tests/test.h"

static PlanRequest request_for(Arena *arena, const char *model, const char *node) {
    const Catalogue *catalogue = catalogue_builtin(arena);
    PlanRequest request = {.catalogue = catalogue};
    const Gpu *gpu = node_gpu(catalogue, catalogue_node(catalogue, node), 0);
    request.training =
        job_usual(find_model(arena, model, (Where){0}, problems_create(arena)), (GpuTypes){&(const Gpu *){gpu}, 1});
    request.training.layout = (Layout){0};
    request.training.samples = 1e6;
    return request;
}

// A candidate as one number, so that sets can be compared.
static double code_of(const Layout *l, double micro, int recompute) {
    const int digits[] = {l->tp, l->cp, l->ep, l->pp, l->vpp, l->dp, l->zero, (int)micro, recompute};
    double code = 0;
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) code = code * 37 + digits[i];
    return code;
}

static bool holds(const PlanSpace *space, double code) {
    for (int i = 0; i < space->count; i++)
        if (code_of(&space->items[i].layout, space->items[i].micro_batch, (int)space->items[i].recompute) == code)
            return true;
    return false;
}

static bool resolves(Arena *arena, const TrainingSpec *training, int gpus) {
    Resolved resolved;
    return resolve_layout(arena, training, gpus, &resolved, problems_create(arena));
}

// Everything the engine takes, less what the rules of plan.h leave out.
static int count_by_trying(Arena *arena, const PlanRequest *request, const PlanSpace *space, int gpus, double batch) {
    int count = 0, layers = request->training.model->layers;
    for (int tp = 1; tp <= gpus; tp++)
        for (int cp = 1; cp * tp <= gpus; cp++)
            for (int pp = 1; pp * cp * tp <= gpus && pp <= layers; pp++) {
                if (gpus % (tp * cp * pp) || (cp & (cp - 1)) || (cp > 1 && request->training.seq_len / cp < 1024))
                    continue;
                int dp = gpus / (tp * cp * pp);
                for (int vpp = 1; vpp * pp <= layers; vpp++)
                    for (int zero = 0; zero <= 3; zero++)
                        for (int micro = 1; micro <= 16; micro++) {
                            if ((layers + pp - 1) / pp % vpp || (zero > 1 && pp > 1) || (zero > 0 && dp * cp == 1))
                                continue;
                            PlanCandidate candidate = {
                                .layout = {.tp = tp, .cp = cp, .ep = 1, .pp = pp, .vpp = vpp, .dp = dp, .zero = zero},
                                .schedule = vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B,
                                .micro_batch = micro};
                            TrainingSpec training = plan_training(request, &candidate, batch);
                            Arena *scratch = arena_open();
                            bool possible = resolves(scratch, &training, gpus);
                            arena_close(scratch);
                            if (!possible) continue;
                            count += 3;
                            for (int recompute = 0; recompute < 3; recompute++)
                                if (!holds(space, code_of(&candidate.layout, micro, recompute)))
                                    test_fail(__FILE__, __LINE__, "tp %d cp %d pp %d vpp %d dp %d zero %d micro %d", tp,
                                              cp, pp, vpp, dp, zero, micro);
                        }
            }
    (void)arena;
    return count;
}

TEST(every_layout_on_few_gpus_is_enumerated_once) {
    for (int gpus = 1; gpus <= 8; gpus++) {
        Arena *arena = arena_open();
        PlanRequest request = request_for(arena, "gpt2-124m", "dgx-a100-80gb");
        request.training.seq_len = gpus == 8 ? 2048 : 512;
        PlanSpace space = plan_space(arena, &request, 24, gpus);
        EXPECT_INT(space.count, count_by_trying(arena, &request, &space, gpus, 24));
        for (int i = 0; i < space.count; i++) EXPECT_INT(space.items[i].number, i);
        arena_close(arena);
    }
}

TEST(every_layout_of_experts_and_of_other_models_is_possible) {
    static const char *const models[] = {"mixtral-8x7b", "resnet-50", "llama-3-8b"};
    for (int m = 0; m < 3; m++)
        for (int gpus = 8; gpus <= 48; gpus += 20) {
            Arena *arena = arena_open();
            PlanRequest request = request_for(arena, models[m], "dgx-h100");
            PlanSpace space = plan_space(arena, &request, 96, gpus);
            bool spread = false;
            EXPECT(space.count > 0);
            for (int i = 0; i < space.count; i++) {
                TrainingSpec training = plan_training(&request, &space.items[i], 96);
                if (!resolves(arena, &training, gpus)) test_fail(__FILE__, __LINE__, "%s: number %d", models[m], i);
                spread = spread || training.layout.ep > 1;
            }
            EXPECT_INT(spread, m == 0);
            arena_close(arena);
        }
}

TEST(what_is_fixed_has_one_value) {
    Arena *arena = arena_open();
    PlanRequest request = request_for(arena, "gpt3-6.7b", "dgx-a100-80gb");
    request.training.layout = (Layout){.tp = 4, .cp = 1, .pp = 2, .vpp = 1, .zero = 1};
    request.training.micro_batch = 2;
    request.training.recompute = RECOMPUTE_SELECTIVE;
    request.recompute_fixed = request.zero_fixed = true;
    PlanSpace space = plan_space(arena, &request, 64, 64);
    EXPECT_INT(space.count, 1);
    EXPECT_INT(space.items[0].layout.dp, 8);
    request.training.layout.tp = 5; // does not divide the heads
    EXPECT_INT(plan_space(arena, &request, 64, 64).count, 0);
    arena_close(arena);
}

TEST(the_530b_model_on_5120_gpus_has_at_least_the_layouts_that_calculon_looks_at) {
    Arena *arena = arena_open();
    PlanRequest request = request_for(arena, "megatron-530b", "dgx-a100-80gb");
    EXPECT_INT(plan_space(arena, &request, 2560, 5120).count, 8760);
    arena_close(arena);
}

// What the software's own documentation says that it starts.
TEST(a_stated_software_is_offered_only_layouts_that_it_can_start) {
    static const struct {
        const char *software;
        bool tensor, pipeline, interleaved, context;
        int least_zero, most_zero; // where there are replicas
    } rows[] = {
        {"deepspeed", false, true, false, false, 0, 3},      {"megatron-deepspeed", true, true, false, false, 0, 3},
        {"hf trainer", false, false, false, false, 0, 3},    {"hf trainer fsdp", false, false, false, false, 2, 3},
        {"fsdp", false, false, false, false, 2, 3},          {"nemo 24.07", true, true, true, true, 0, 1},
        {"torchtune", true, false, false, false, 2, 3},      {"lightning deepspeed", false, false, false, false, 0, 3},
        {"megatron-lm 2021", true, true, true, false, 0, 1}, {"torchtitan", true, true, true, true, 0, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        PlanRequest request = request_for(arena, "llama-2-7b", "dgx-h100");
        SoftwareQuery query = {.text = rows[i].software, .gpu_year = 2022, .model = request.training.model};
        request.training.software = find_software(arena, &query, (Where){0}, problems);
        EXPECT_INT(problem_count(problems), 0);
        PlanSpace space = plan_space(arena, &request, 64, 16);
        bool tensor = false, pipeline = false, interleaved = false, context = false;
        for (int n = 0; n < space.count; n++) {
            const Layout *layout = &space.items[n].layout;
            bool replicas = layout->dp * layout->cp > 1;
            tensor = tensor || layout->tp > 1;
            pipeline = pipeline || layout->pp > 1;
            interleaved = interleaved || layout->vpp > 1;
            context = context || layout->cp > 1;
            if (replicas && (layout->zero < rows[i].least_zero || layout->zero > rows[i].most_zero))
                test_fail(__FILE__, __LINE__, "%s with ZeRO %d", rows[i].software, layout->zero);
        }
        if (tensor != rows[i].tensor || pipeline != rows[i].pipeline || interleaved != rows[i].interleaved ||
            context != rows[i].context)
            test_fail(__FILE__, __LINE__, "%s: tensor %d, pipeline %d, interleaved %d, context %d", rows[i].software,
                      tensor, pipeline, interleaved, context);
        arena_close(arena);
    }
}

// 94 layers: by what Megatron's own options divide them (the embedding and the head as one layer each, too), not by
// what the simulator can.
TEST(stages_that_the_stated_software_leaves_unequal_are_not_offered) {
    for (int stated = 0; stated < 2; stated++) {
        Arena *arena = arena_open();
        PlanRequest request = request_for(arena, "qwen3-235b-a22b", "dgx-h200");
        SoftwareQuery query = {.text = "megatron", .gpu_year = 2024, .model = request.training.model};
        if (stated) request.training.software = find_software(arena, &query, (Where){0}, problems_create(arena));
        PlanSpace space = plan_space(arena, &request, 256, 64);
        int uneven = 0, staged = 0, by_ends = 0;
        for (int i = 0; i < space.count; i++) {
            const Layout *layout = &space.items[i].layout;
            staged += layout->pp > 1;
            int layers = 94 + (layout->embedding_counts ? 1 : 0) + (layout->head_counts ? 1 : 0);
            uneven += layout->pp > 1 && layers % (layout->pp * layout->vpp) != 0;
            by_ends += layers == 96;
        }
        EXPECT(staged > 0 && (uneven == 0) == stated && (by_ends > 0) == stated);
        arena_close(arena);
    }
}
