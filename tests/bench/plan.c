// Calculon (Isaev et al. 2023) takes 46 s for 8,112 layouts of Megatron's 530B on 5,120 A100, in closed form. Ours
// differ from its set where our engine is stricter or searches more: see plan.h.
#include "tests/bench/plan.h"

#include <stdio.h>
#include <time.h>

#include "models/workload/job/job.h"
#include "models/workload/step/simulate.h"
#include "scenarios/plan/plan.h"
#include "sim/base/digest.h"

#define SIMULATED 100

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static PlanRequest request_of(Arena *arena, Problems *problems) {
    const Catalogue *catalogue = catalogue_builtin(arena);
    PlanRequest request = {.catalogue = catalogue, .price_per_gpu_hour = -1, .objective = PLAN_TIME};
    const Gpu *gpu = catalogue_gpu(catalogue, "A100-SXM4-80GB");
    request.training =
        job_usual(find_model(arena, "megatron-530b", (Where){0}, problems), (GpuTypes){&(const Gpu *){gpu}, 1});
    request.training.layout = (Layout){0};
    request.training.tokens = 270e9;
    return request;
}

void bench_plan(void) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const double batch = 2560;
    PlanRequest request = request_of(arena, problems);
    double start = now_s();
    PlanFabric fabric = {.link = catalogue_link(request.catalogue, "ib-hdr200"), .name = "ib-hdr200"};
    PlanRow row = {.node = catalogue_node(request.catalogue, "dgx-a100-80gb"), .fabric = &fabric, .gpus = 5120};
    const Cluster *cluster = plan_cluster(arena, &request, &row, NULL, problems);
    PlanSpace space = plan_space(arena, &request, batch, 5120);
    PlanCount count = {0};
    plan_judge_candidates(&request, cluster, batch, &space, &count);
    double judged = now_s(), best = 0;
    SimulationOptions options = {.runs = 1, .book = step_book_create(arena, cluster)};
    int simulated = 0;
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < space.count && simulated < SIMULATED; i++) {
        if (!space.items[i].plain) continue;
        Arena *scratch = arena_open();
        TrainingSpec training = plan_training(&request, &space.items[i], batch);
        SimulatedStep step = simulate_step(scratch, cluster, &training, &options, problems);
        if (step.ran && (best == 0 || step.step_p50_s < best)) best = step.step_p50_s;
        simulated += step.ran;
        count.events += step.event_count;
        digest = digest_u64(digest, step.digest);
        arena_close(scratch);
    }
    double end = now_s();
    problems_print(problems, stderr);
    printf("{\"bench\":\"plan_530b_5120_a100\",\"cpu_s\":%.3f,\"target_s\":2,\"layouts\":%d,\"too_large\":%d,"
           "\"bounds_and_memory_s\":%.3f,\"simulated\":%d,\"simulate_s\":%.3f,\"events\":%lld,\"best_step_s\":%.3f,"
           "\"digest\":\"%016llx\"}\n",
           end - start, count.candidates, count.too_large, judged - start, simulated, end - judged,
           (long long)count.events, best, (unsigned long long)digest);
    arena_close(arena);
}
