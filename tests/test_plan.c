// Planning: the bound is a bound, pruning loses nothing, and the command answers.
#include "models/workload/job_options.h"
#include "models/workload/lower.h"
#include "scenarios/plan.h"
#include "sim/random.h"
#include "tests/test.h"

typedef struct Question {
    Arena *arena;
    const Catalogue *catalogue;
    const NodeType *node;
    const FabricLink *link;
    int gpus;
    PlanRequest request;
} Question;

static void question_open(Question *q, uint64_t seed) {
    static const char *const models[] = {"gpt2-124m", "gpt2-355m", "bert-large",
                                         "resnet-50", "gpt3-2.7b", "llama-2-7b"};
    static const char *const nodes[] = {"dgx-a100", "dgx-h100", "dgx-1-v100", "pcie-4gpu-a40"};
    static const char *const links[] = {"eth-10g", "eth-100g", "ib-hdr200", "roce-100"};
    *q = (Question){.arena = arena_open()};
    RandomStream random = random_stream(seed, "plan question", 0);
    Problems *problems = problems_create(q->arena);
    q->catalogue = catalogue_builtin(q->arena);
    q->node = catalogue_node(q->catalogue, nodes[random_below(&random, 4)]);
    if (!q->node) q->node = catalogue_node(q->catalogue, "dgx-a100");
    q->link = catalogue_link(q->catalogue, links[random_below(&random, 4)]);
    q->gpus = 1 << random_below(&random, 6);
    const Model *model = find_model(q->arena, models[random_below(&random, 6)], (Where){0}, problems);
    TrainingSpec training = training_defaults(model, node_gpu(q->catalogue, q->node, 0));
    training.layout = (Layout){0};
    training.seq_len = model->kind == MODEL_TRANSFORMER ? 512 : 1;
    training.global_batch = 64;
    training.samples = 1e6;
    q->request = (PlanRequest){.catalogue = q->catalogue,
                               .training = training,
                               .nodes = &q->node,
                               .node_count = 1,
                               .links = &q->link,
                               .link_count = 1,
                               .gpus = &q->gpus,
                               .gpus_count = 1,
                               .price_per_gpu_hour = 2};
}

TEST(pruning_finds_the_plan_that_trying_everything_finds) {
    int simulated = 0, all = 0, found = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Question q;
        question_open(&q, seed);
        PlanResult pruned = plan_search(q.arena, &q.request);
        q.request.exhaustive = true;
        PlanResult full = plan_search(q.arena, &q.request);
        EXPECT_INT(pruned.rows[0].point.ran, full.rows[0].point.ran);
        if (full.rows[0].point.ran) {
            found++;
            if (pruned.rows[0].point.step_p50_s != full.rows[0].point.step_p50_s)
                test_fail(__FILE__, __LINE__, "seed %llu: %.9g s, but %.9g s is possible", (unsigned long long)seed,
                          pruned.rows[0].point.step_p50_s, full.rows[0].point.step_p50_s);
        }
        simulated += pruned.simulated;
        all += full.simulated;
        arena_close(q.arena);
    }
    EXPECT(found > 20);
    EXPECT(simulated < all / 2); // and it does prune
}

TEST(the_bound_is_never_above_the_simulated_step) {
    int checked = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        Question q;
        question_open(&q, seed);
        RandomStream random = random_stream(seed, "plan layout", 0);
        Problems *problems = problems_create(q.arena);
        NodeGroup group = {.type = q.node, .gpus = q.gpus};
        ClusterSpec spec = {
            .groups = &group, .group_count = 1, .link = q.link, .oversubscription = 1, .price_per_gpu_hour = -1};
        const Cluster *cluster = cluster_create(q.arena, q.catalogue, &spec, problems);
        TrainingSpec training = q.request.training;
        int pp = 1 << random_below(&random, 4);
        if (q.gpus % pp) pp = 1;
        training.layout = (Layout){.tp = 1, .pp = pp, .vpp = 1, .dp = q.gpus / pp};
        training.micro_batch = 1;
        StudySpec study = {.catalogue = q.catalogue, .cluster = &spec};
        RecordPoint point = simulate_training(q.arena, cluster, &training, &study, problems);
        if (point.ran) {
            double bound = plan_lower_bound(&training, q.gpus, cluster->gpu_of[0]);
            if (bound > point.step_p50_s * (1 + 1e-9))
                test_fail(__FILE__, __LINE__, "seed %llu: bound %.9g s above the step of %.9g s",
                          (unsigned long long)seed, bound, point.step_p50_s);
            EXPECT(bound > 0.05 * point.step_p50_s);
            checked++;
        }
        arena_close(q.arena);
    }
    EXPECT(checked > 30);
}

TEST(plan_answers_ranks_and_says_no) {
    static char output[1 << 16];
    EXPECT_INT(test_shell("$LOCKSTEP plan --model gpt3-6.7b --tokens 100B --seq 2048 --global-batch 256 --node "
                          "dgx-a100 --fabric ib-hdr200 "
                          "--gpus 32:128 --by 90d --price 2 --plain",
                          output, sizeof output),
               0);
    EXPECT_CONTAINS(output, "Chosen");
    EXPECT_CONTAINS(output, "128");
    EXPECT_INT(test_shell("$LOCKSTEP plan --model gpt3-6.7b --tokens 100B --seq 2048 --global-batch 256 --node "
                          "dgx-a100 --fabric ib-hdr200 "
                          "--gpus 32 --by 1h --json",
                          output, sizeof output),
               3);
    EXPECT_CONTAINS(output, "\"format_version\": 1");
    EXPECT_CONTAINS(output, "\"misses\"");
    EXPECT_CONTAINS(output, "\"chosen\": null");
    EXPECT_INT(test_shell("$LOCKSTEP plan --model gpt3-175b --tokens 100B --global-batch 256 --node dgx-a100 --gpus 8",
                          output, sizeof output),
               3);
    EXPECT_CONTAINS(output, "no layout fits");
}

TEST(plan_refuses_what_it_cannot_read) {
    static const struct {
        const char *arguments, *text;
        int status;
    } cases[] = {
        {"--model gpt2-124m --node dgx-a100 --gpus 8", "--global-batch is missing", 2},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --gups 3", "did you mean", 2},
        {"--model gpt2-124m --node dgx-a10O --gpus 8 --global-batch 8 --tokens 1B", "did you mean \"dgx-a100\"?", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 0 --global-batch 8 --tokens 1B", "no number of GPUs", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 64:8 --global-batch 8 --tokens 1B", "goes down", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8", "how long is the run?", 4},
        {"--model resnet-50 --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B", "reads no tokens", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --price 0", "above 0", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --by yesterday", "--by", 2},
    };
    static char output[1 << 16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[512];
        snprintf(command, sizeof command, "$LOCKSTEP plan %s", cases[i].arguments);
        EXPECT_INT(test_shell(command, output, sizeof output), cases[i].status);
        EXPECT_CONTAINS(output, cases[i].text);
    }
}
