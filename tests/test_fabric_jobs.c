// Jobs on every fabric: folded or whole, to the tick.
#include "models/workload/step/lower.h"
#include "sim/fold.h"
#include "sim/run.h"
#include "tests/fabric_cases.h"
#include "tests/script.h"
#include "tests/test.h"

static const Cluster *cluster_on(Arena *arena, const Catalogue *catalogue, const FabricCase *c, int gpus) {
    Problems *problems = problems_create(arena);
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.type = catalogue_node(catalogue, "dgx-a100"), .gpus = gpus};
    *spec = (ClusterSpec){.groups = group, .group_count = 1, .price_per_gpu_hour = -1};
    spec->link = catalogue_link(catalogue, "ib-hdr200");
    spec->layout = fabric_case_shape(arena, c->text, problems);
    return cluster_create(arena, catalogue, spec, problems);
}

TEST(jobs_fold_exactly_on_every_fabric) {
    for (int i = 0; i < fabric_case_count; i++)
        for (int pp = 1; pp <= 4; pp *= 2) {
            Arena *arena = arena_open();
            Problems *problems = problems_create(arena);
            const Catalogue *catalogue = test_catalogue();
            int gpus = 8 * fabric_cases[i].nodes;
            const Cluster *cluster = cluster_on(arena, catalogue, &fabric_cases[i], gpus);
            TrainingSpec training = {.model = find_model(arena, "gpt2-124m", (Where){0}, problems),
                                     .layout = {.tp = 4, .pp = pp, .vpp = 1},
                                     .schedule = SCHEDULE_1F1B,
                                     .seq_len = 512,
                                     .micro_batch = 1,
                                     .global_batch = 2.0 * gpus,
                                     .precision = FP16,
                                     .mixed_precision = true,
                                     .framework = FRAMEWORK_MEGATRON,
                                     .optimizer = OPTIMIZER_ADAM,
                                     .bucket_bytes = 25 << 20,
                                     .overlap_grad_reduce = true};
            const Lowered *lowered = lower_training(arena, cluster, &training, problems);
            if (!lowered) problems_print(problems, stdout);
            Folded folded = fold_system(arena, lowered->system);
            RunResult whole = run_system(arena, lowered->system, &(RunOptions){0});
            RunResult part = run_system(arena, &folded.system, &(RunOptions){0});
            int wrong = 0;
            for (int a = 0; a < gpus; a++) wrong += whole.actor_end[a] != part.actor_end[folded.class_of[a]];
            if (wrong)
                test_fail(__FILE__, __LINE__, "%s, pp %d: %d ranks end at other times", fabric_cases[i].text, pp,
                          wrong);
            EXPECT(folded.system.actor_count <= gpus);
            if (i < 8 && pp == 1) EXPECT(folded.system.actor_count < gpus / 4); // trees are symmetric
            arena_close(arena);
        }
}
