// CLIP: published counts; embeddings held against those of all replicas are gathered, and cost more the more there are.
#include "models/workload/cost/cost_internal.h"
#include "models/workload/step/simulate.h"
#include "tests/test.h"

typedef struct Case {
    Arena *arena;
    Problems *problems;
    NodeGroup group;
    ClusterSpec spec;
    const Cluster *cluster;
    TrainingSpec training;
} Case;

static void case_open(Case *c, const char *model, int gpus) {
    *c = (Case){.arena = arena_open()};
    c->problems = problems_create(c->arena);
    const Catalogue *catalogue = catalogue_builtin(c->arena);
    c->group = (NodeGroup){.type = catalogue_node(catalogue, "dgx-a100"), .gpus = gpus};
    c->spec = (ClusterSpec){.groups = &c->group,
                            .group_count = 1,
                            .link = catalogue_link(catalogue, "ib-hdr200"),
                            .fabric = FABRIC_FAT_TREE,
                            .rail_optimised = true,
                            .oversubscription = 1,
                            .price_per_gpu_hour = -1};
    c->cluster = cluster_create(c->arena, catalogue, &c->spec, c->problems);
    c->training = (TrainingSpec){.model = find_model(c->arena, model, (Where){0}, c->problems),
                                 .layout = {.tp = 1, .pp = 1, .vpp = 1},
                                 .micro_batch = 256,
                                 .precision = FP16,
                                 .mixed_precision = true,
                                 .framework = FRAMEWORK_EAGER,
                                 .attention = ATTENTION_PLAIN,
                                 .optimizer = OPTIMIZER_ADAM,
                                 .bucket_bytes = 25 << 20,
                                 .overlap_grad_reduce = true};
}

static SimulatedStep step_of(Case *c, bool whole) {
    SimulationOptions options = {.assume_fits = true, .unfolded = whole};
    SimulatedStep step = simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
    EXPECT(step.ran);
    return step;
}

// Of the published checkpoints (Hugging Face); products of one forward pass as open_clip counts them, 2 %.
TEST(clip_has_its_published_parameters_and_products) {
    static const struct {
        const char *name;
        double parameters, gflop;
    } known[] = {{"clip-vit-base-patch32", 151277313, 14.78},
                 {"clip-vit-base-patch16", 149620737, 41.09},
                 {"clip-vit-large-patch14", 427616513, 175.33}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        Case c;
        case_open(&c, known[i].name, 1);
        EXPECT_NEAR(model_parameters(c.training.model), known[i].parameters, 0);
        EXPECT_NEAR(model_forward_flops_per_sample(c.training.model, 1), 1e9 * known[i].gflop, 0.02);
        arena_close(c.arena);
    }
}

TEST(each_sample_is_held_against_all_of_the_batch) {
    Case c;
    case_open(&c, "clip-vit-base-patch32", 8);
    c.training.global_batch = 4096;
    c.training.grad_accumulation = 2;
    Work work = work_of(c.training.model, &c.training, 256, c.cluster->gpu_of[0]);
    EXPECT_NEAR(contrast_pairs(&work), 2048, 0);
    c.training.global_batch = 0;
    c.training.grad_accumulation = 0;
    EXPECT_NEAR(contrast_pairs(&work), 256, 0);
    arena_close(c.arena);
}

// Forward gathers two embeddings of 512 numbers from every sample, backward scatters their gradients.
TEST(embeddings_travel_between_replicas_and_only_then) {
    for (int gpus = 1; gpus <= 8; gpus *= 8) {
        Case c;
        case_open(&c, "clip-vit-base-patch32", gpus);
        c.training.global_batch = 256.0 * gpus;
        int last = c.training.model->block_count - 1, transfers = 0;
        BlockCost cost = block_cost(c.training.model, last, &c.training, 256, c.cluster->gpu_of[0]);
        const CostList *lists[] = {&cost.forward, &cost.backward};
        static const CollectiveOp ops[] = {COLLECTIVE_ALL_GATHER, COLLECTIVE_REDUCE_SCATTER};
        for (int l = 0; l < 2; l++)
            for (int i = 0; i < lists[l]->count; i++) {
                const CostItem *item = &lists[l]->items[i];
                if (item->bytes == 0) continue;
                transfers++;
                EXPECT(item->cause == CAUSE_DP && item->collective == ops[l]);
                EXPECT_NEAR(item->bytes, 2 * 512 * 2 * 2048, 0);
            }
        EXPECT_INT(transfers, gpus == 1 ? 0 : 2);
        arena_close(c.arena);
    }
}

TEST(clip_folds_and_shards_and_slows_down_with_the_batch) {
    double before = 0;
    for (int gpus = 1; gpus <= 16; gpus *= 4) {
        Case c;
        case_open(&c, "clip-vit-base-patch32", gpus);
        double folded = step_of(&c, false).step_p50_s;
        EXPECT_NEAR(step_of(&c, true).step_p50_s, folded, 0);
        EXPECT(folded > before);
        before = folded;
        for (int zero = 1; zero <= 3; zero++) {
            c.training.layout.zero = zero;
            EXPECT(step_of(&c, false).step_p50_s > 0.5 * folded);
        }
        arena_close(c.arena);
    }
}
