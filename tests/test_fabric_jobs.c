// Jobs on every fabric: folded or whole, to the tick.
#include "models/workload/lower/lower.h"
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

static TrainingSpec training_on(Arena *arena, int gpus, Problems *problems) {
    return (TrainingSpec){.model = find_model(arena, "gpt2-124m", (Where){0}, problems),
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
}

TEST(jobs_fold_exactly_on_every_fabric) {
    for (int i = 0; i < fabric_case_count; i++)
        for (int pp = 1; pp <= 4; pp *= 2) {
            Arena *arena = arena_open();
            Problems *problems = problems_create(arena);
            const Catalogue *catalogue = test_catalogue();
            int gpus = 8 * fabric_cases[i].nodes;
            const Cluster *cluster = cluster_on(arena, catalogue, &fabric_cases[i], gpus);
            TrainingSpec training = training_on(arena, gpus, problems);
            training.layout = (Layout){.tp = 4, .pp = pp, .vpp = 1};
            const Lowered *lowered = lower_training(arena, cluster, &training, problems);
            if (!lowered) problems_print(problems, stdout);
            Folded folded = fold_system(arena, lowered->system);
            RunResult whole = run_system(arena, lowered->system, &(RunOptions){0});
            RunResult part = run_system(arena, &folded.system, &(RunOptions){0});
            int wrong = 0;
            for (int a = 0; a < gpus; a++) wrong += whole.actor_end[a] != part.actor_end[folded.class_of[a]];
            Folded drafted;
            lower_folded(arena, cluster, &training, NULL, &drafted, problems);
            part = run_system(arena, &drafted.system, &(RunOptions){0});
            for (int a = 0; a < gpus; a++) wrong += whole.actor_end[a] != part.actor_end[drafted.class_of[a]];
            EXPECT(drafted.system.actor_count <= folded.system.actor_count);
            if (wrong)
                test_fail(__FILE__, __LINE__, "%s, pp %d: %d ranks end at other times", fabric_cases[i].text, pp,
                          wrong);
            EXPECT(folded.system.actor_count <= gpus);
            if (i < 8 && pp == 1) EXPECT(folded.system.actor_count < gpus / 4); // trees are symmetric
            arena_close(arena);
        }
}

// Links above the NICs that carry all that these bring are left out, so stages that begin within a leaf are alike.
TEST(ranks_that_only_ample_links_tell_apart_are_one) {
    static const char *const fabrics[] = {"rail_fat_tree:nodes_per_leaf=4",
                                          "rail_fat_tree:nodes_per_leaf=2:nodes_per_pod=4",
                                          "rail_fat_tree:nodes_per_leaf=4:oversubscription=1.25"};
    static const Layout layouts[] = {{.tp = 4, .pp = 2, .vpp = 1},
                                     {.tp = 4, .pp = 4, .vpp = 1, .zero = 1},
                                     {.tp = 4, .pp = 6, .vpp = 1},
                                     {.tp = 12, .pp = 1, .vpp = 1, .zero = 1}};
    int fewer[3] = {0};
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < 4; i++) {
            Arena *arena = arena_open();
            Problems *problems = problems_create(arena);
            FabricCase fabric = {.text = fabrics[f], .nodes = 12};
            const Cluster *cluster = cluster_on(arena, test_catalogue(), &fabric, 96);
            TrainingSpec training = training_on(arena, 96, problems);
            training.layout = layouts[i];
            const Lowered *lowered = lower_training(arena, cluster, &training, problems);
            if (!lowered) problems_print(problems, stdout);
            Folded folded = fold_system(arena, lowered->system), drafted;
            lower_folded(arena, cluster, &training, NULL, &drafted, problems);
            RunResult whole = run_system(arena, lowered->system, &(RunOptions){0});
            RunResult part = run_system(arena, &drafted.system, &(RunOptions){0});
            int wrong = 0;
            for (int a = 0; a < 96; a++) wrong += whole.actor_end[a] != part.actor_end[drafted.class_of[a]];
            if (wrong) test_fail(__FILE__, __LINE__, "%s, case %d: %d ranks end at other times", fabrics[f], i, wrong);
            EXPECT(drafted.system.actor_count <= folded.system.actor_count);
            fewer[f] += drafted.system.actor_count < folded.system.actor_count;
            arena_close(arena);
        }
    EXPECT(fewer[0] > 0 && fewer[1] > 0);
    EXPECT_INT(fewer[2], 0); // these are not ample
}
