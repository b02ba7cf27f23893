// Planning: the bound is a bound, pruning loses nothing, and the command answers.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "models/workload/step/simulate.h"
#include "scenarios/plan/plan.h"
#include "scenarios/plan/plan_bound.h"
#include "sim/base/random.h"
#include "sim/system/watch.h"
#include "tests/command.h"
#include "tests/test.h"

typedef struct Question {
    Arena *arena;
    const Catalogue *catalogue;
    const NodeType *node;
    PlanFabric fabric;
    int gpus;
    double batch;
    PlanRequest request;
} Question;

// Any node and fabric of the catalogue, at most 32 GPUs.
static void question_open(Question *q, uint64_t seed) {
    static const char *const models[] = {"gpt2-124m", "gpt2-355m",  "bert-large",  "resnet-50",
                                         "gpt3-2.7b", "llama-2-7b", "mixtral-8x7b"};
    *q = (Question){.arena = arena_open()};
    RandomStream random = random_stream(seed, "plan question", 0);
    Problems *problems = problems_create(q->arena);
    q->catalogue = catalogue_builtin(q->arena);
    q->node = &q->catalogue->nodes[random_below(&random, (uint64_t)q->catalogue->node_count)];
    q->fabric.link = &q->catalogue->links[random_below(&random, (uint64_t)q->catalogue->link_count)];
    if (!node_takes_link(q->catalogue, q->node, q->fabric.link))
        q->fabric.link = catalogue_link(q->catalogue, q->node->fabrics[0]);
    q->fabric.name = q->fabric.link->name;
    q->gpus = 1 << random_below(&random, 6);
    if (random_below(&random, 4) == 0) q->gpus = 6 + 6 * (int)random_below(&random, 4);
    const Model *model = find_model(q->arena, models[random_below(&random, 7)], (Where){0}, problems);
    EXPECT(model != NULL);
    TrainingSpec training = job_usual(model, (GpuTypes){&(const Gpu *){node_gpu(q->catalogue, q->node, 0)}, 1});
    training.layout = (Layout){0};
    training.seq_len = !counts_tokens(model) ? 1 : random_below(&random, 3) == 0 ? 2048 : 512;
    if (strcmp(model->name, "mixtral-8x7b") == 0) training.seq_len = 256;
    q->batch = random_below(&random, 2) ? 32 : 48;
    training.samples = 1e6;
    training.overlap_grad_reduce = random_below(&random, 4) != 0;
    training.overlap_param_gather = random_below(&random, 2) != 0;
    q->request = (PlanRequest){.catalogue = q->catalogue,
                               .training = training,
                               .nodes = &q->node,
                               .node_count = 1,
                               .fabrics = &q->fabric,
                               .fabric_count = 1,
                               .gpus = &q->gpus,
                               .gpus_count = 1,
                               .batches = &q->batch,
                               .batch_count = 1,
                               .objective = (PlanObjective)random_below(&random, PLAN_OBJECTIVE_COUNT),
                               .price_per_gpu_hour = 2};
}

static double best_value(const Question *q, const PlanResult *result) {
    return q->request.objective == PLAN_ENERGY ? result->rows[0].point.energy_kwh : result->rows[0].point.step_p50_s;
}

// LOCKSTEP_PLAN_CASES=200 for all of them (make plan-torture).
TEST(pruning_finds_the_plan_that_trying_everything_finds) {
    const char *asked = getenv("LOCKSTEP_PLAN_CASES");
    int cases = asked ? atoi(asked) : 7, simulated = 0, all = 0, found = 0;
    for (int seed = 1; seed <= cases; seed++) {
        Question q;
        question_open(&q, (uint64_t)seed);
        if (!asked && q.gpus > 8) q.gpus = 8;
        Problems *problems = problems_create(q.arena);
        PlanResult pruned = plan_search(q.arena, &q.request, problems);
        q.request.exhaustive = true;
        PlanResult full = plan_search(q.arena, &q.request, problems);
        EXPECT_INT(problem_count(problems), 0);
        EXPECT_INT(pruned.rows[0].point.ran, full.rows[0].point.ran);
        if (full.rows[0].point.ran) {
            found++;
            if (best_value(&q, &pruned) > best_value(&q, &full) * (1 + 1e-9))
                test_fail(__FILE__, __LINE__, "seed %d: %.9g, but %.9g is possible", seed, best_value(&q, &pruned),
                          best_value(&q, &full));
        }
        simulated += pruned.count.simulated;
        all += full.count.simulated;
        EXPECT_INT(pruned.count.candidates, full.count.candidates);
        arena_close(q.arena);
    }
    if (asked) printf("plan: %d of %d cases have a plan; %d of %d layouts simulated\n", found, cases, simulated, all);
    EXPECT(found > cases / 2);
    EXPECT(simulated < all / 2); // and it does prune
}

TEST(split_backwards_and_oversubscribed_fabrics_are_pruned_exactly) {
    static const double oversubscriptions[] = {1, 8};
    static const char *const names[] = {"gpt2-124m", "gpt2-355m", "mixtral-8x7b"};
    int simulated = 0, all = 0, split = 0;
    for (int i = 0; i < 6; i++) {
        Question q;
        question_open(&q, 1);
        Problems *problems = problems_create(q.arena);
        q.node = catalogue_node(q.catalogue, i % 2 ? "aws-p3.16xlarge" : "dgx-a100-80gb");
        q.fabric.link = catalogue_link(q.catalogue, i % 2 ? "eth-25g" : "ib-hdr200");
        q.gpus = 32;
        q.request.objective = (PlanObjective)(i % PLAN_OBJECTIVE_COUNT);
        const Model *model = find_model(q.arena, names[i / 2], (Where){0}, problems);
        q.request.training = job_usual(model, (GpuTypes){&(const Gpu *){node_gpu(q.catalogue, q.node, 0)}, 1});
        q.request.training.layout = (Layout){.tp = 2, .pp = 4, .cp = 1, .zero = 1};
        q.request.training.seq_len = 512;
        q.request.training.samples = 1e6;
        q.request.zero_fixed = true;
        q.request.recompute_fixed = true;
        q.request.splits_backward = true;
        q.request.offloads = i % 2 == 0;
        q.request.oversubscriptions = oversubscriptions;
        q.request.oversubscription_count = 2;
        PlanResult pruned = plan_search(q.arena, &q.request, problems);
        q.request.exhaustive = true;
        PlanResult full = plan_search(q.arena, &q.request, problems);
        EXPECT_INT(problem_count(problems), 0);
        EXPECT_INT(full.row_count, 2);
        for (int r = 0; r < 2; r++) {
            EXPECT_INT(pruned.rows[r].point.ran, full.rows[r].point.ran);
            EXPECT_NEAR(pruned.rows[r].oversubscription, full.rows[r].oversubscription, 0);
            if (!full.rows[r].point.ran) continue;
            EXPECT_NEAR(pruned.rows[r].point.step_p50_s, full.rows[r].point.step_p50_s, 1e-9);
            split += schedule_splits_backward(full.rows[r].training.schedule);
        }
        simulated += pruned.count.simulated;
        all += full.count.simulated;
        arena_close(q.arena);
    }
    EXPECT(split > 0);
    EXPECT(simulated < all);
}

TEST(the_bound_is_never_above_the_simulated_step) {
    int checked = 0;
    double tightest = 0;
    FOR_SEEDS (seed, 1, 40) {
        Question q;
        question_open(&q, seed);
        RandomStream random = random_stream(seed, "plan layout", 0);
        Problems *problems = problems_create(q.arena);
        PlanRow row = {.node = q.node, .fabric = &q.fabric, .gpus = q.gpus};
        const Cluster *cluster = plan_cluster(q.arena, &q.request, &row, NULL, problems);
        PlanSpace space = plan_space(q.arena, &q.request, q.batch, q.gpus);
        for (int i = 0; cluster && space.count > 0 && i < 8; i++) {
            const PlanCandidate *candidate = &space.items[random_below(&random, (uint64_t)space.count)];
            TrainingSpec training = plan_training(&q.request, candidate, q.batch);
            SimulationOptions options = {.assume_fits = true};
            SimulatedStep step = simulate_step(q.arena, cluster, &training, &options, problems);
            if (!step.ran) continue;
            PlanBound bound = plan_bound(plan_costs_create(q.arena, cluster, training.model), &training);
            const Layout *layout = &training.layout;
            if (bound.step_s > step.step_p50_s)
                test_fail(
                    __FILE__, __LINE__,
                    "seed %llu: bound %.9g s above the step of %.9g s: %s on %d x %s %s, tp %d cp %d pp %d vpp %d "
                    "ep %d dp %d zero %d micro %g %s",
                    (unsigned long long)seed, bound.step_s, step.step_p50_s, training.model->name, q.gpus, q.node->name,
                    q.fabric.link->name, layout->tp, layout->cp, layout->pp, layout->vpp, layout->ep, layout->dp,
                    layout->zero, training.micro_batch, recompute_name(training.recompute));
            double busy = 0;
            for (int c = CAUSE_GEMM; c < CAUSE_OPTIMIZER; c++) busy += step.spent[c];
            bool paced = !counts_tokens(training.model) || !training.model->causal;
            if (!paced) EXPECT_NEAR(bound.busy_s, busy, 1e-4);
            if (paced) EXPECT(bound.busy_s <= busy && bound.busy_s > 0.8 * busy); // replicas wait for the slowest
            tightest = fmax(tightest, bound.step_s / step.step_p50_s);
            EXPECT(bound.step_s > 0.02 * step.step_p50_s);
            checked++;
        }
        arena_close(q.arena);
    }
    EXPECT(checked > 150);
    EXPECT(tightest > 0.99);
}

TEST(plan_answers_ranks_and_says_no) {
    static char output[1 << 16];
    EXPECT_INT(
        test_shell("COLUMNS=1000 $LOCKSTEP plan --model gpt3-6.7b --tokens 100B --seq 2048 --global-batch 256 --node "
                   "dgx-a100 --fabric ib-hdr200 "
                   "--gpus 32:128 --by 90d --price 2",
                   output, sizeof output),
        0);
    EXPECT_CONTAINS(output, "the cheapest that keeps the date");
    EXPECT_CONTAINS(output, "✔    32  ");
    EXPECT_CONTAINS(output, "128");
    EXPECT_INT(test_shell("$LOCKSTEP plan --model gpt3-6.7b --tokens 100B --seq 2048 --global-batch 256 --node "
                          "dgx-a100 --fabric ib-hdr200 "
                          "--gpus 32 --by 1h --json",
                          output, sizeof output),
               3);
    EXPECT_CONTAINS(output, "\"format_version\": 2");
    EXPECT_CONTAINS(output, "\"misses\"");
    EXPECT_CONTAINS(output, "\"chosen\": null");
    EXPECT_INT(test_shell("$LOCKSTEP plan --model gpt3-175b --tokens 100B --global-batch 256 --node dgx-a100 --gpus 8",
                          output, sizeof output),
               3);
    EXPECT_CONTAINS(output, "no layout fits");
}

// ---- Stopped early.

static void interrupt_after_a_fifth(const char *what, double share) {
    if (strstr(what, "clusters") && share > 0.2) raise(SIGTERM);
}

TEST(an_interrupted_plan_answers_with_what_it_has_searched) {
    Question q;
    question_open(&q, 1);
    static const double batches[] = {32, 64, 96, 128};
    const int gpus = 8;
    q.node = catalogue_node(q.catalogue, "dgx-a100-80gb");
    const Model *model = find_model(q.arena, "gpt2-124m", (Where){0}, problems_create(q.arena));
    q.request.training = job_usual(model, (GpuTypes){&(const Gpu *){node_gpu(q.catalogue, q.node, 0)}, 1});
    q.request.training.layout = (Layout){0};
    q.request.training.samples = 1e6;
    q.request.gpus = &gpus;
    q.request.batches = batches;
    q.request.batch_count = 4;
    WatchShow *before = watch_screen;
    void (*usual)(int) = signal(SIGTERM, SIG_DFL); // whoever ignores it is not interrupted
    watch_screen = interrupt_after_a_fifth;
    watch_open(&(WatchLimits){0});
    PlanResult result = plan_search(q.arena, &q.request, problems_create(q.arena));
    watch_screen = before;
    signal(SIGTERM, usual);
    EXPECT_INT(watch_status(0), 130);
    watch_close();
    EXPECT_INT(result.cluster_count, 4);
    EXPECT(result.searched >= 1 && result.searched < 4);
    EXPECT_INT(result.row_count, result.searched);
    for (int i = 0; i < result.row_count; i++) EXPECT(result.rows[i].point.ran && result.rows[i].point.days > 0);
    arena_close(q.arena);
}

// ---- Ranking, by hand: cost, days, MWh of made-up plans.

typedef struct MadeUp {
    double cost, days, energy;
} MadeUp;

static PlanResult ranked(Arena *arena, const PlanRequest *request, const MadeUp *plans, int count) {
    PlanResult result = {.rows = ARENA_ARRAY(arena, PlanRow, count), .row_count = count};
    for (int i = 0; i < count; i++) {
        RecordPoint *point = &result.rows[i].point;
        *point = (RecordPoint){.ran = plans[i].days > 0, .why_not = "no layout fits in memory"};
        point->cost_per_run = plans[i].cost;
        point->days = plans[i].days;
        point->energy_kwh = plans[i].energy;
        result.rows[i].gpus = i;
        plan_judge(request, &result.rows[i]);
    }
    plan_rank(request, &result);
    return result;
}

TEST(what_keeps_date_and_budget_comes_first_then_the_nearest_miss) {
    Arena *arena = arena_open();
    const MadeUp plans[] = {{50, 40, 1}, {100, 20, 1}, {0, 0, 0}, {90, 10, 1}, {70, 31, 1}, {300, 5, 1}};
    PlanRequest request = {.deadline_s = 30 * 86400.0, .budget = 200};
    PlanResult result = ranked(arena, &request, plans, 6);
    const int order[] = {3, 1, 4, 0, 5, 2}; // keep both; late by 1/30, by a third; half over budget; nothing fits
    for (int i = 0; i < 6; i++) EXPECT_INT(result.rows[i].gpus, order[i]);
    EXPECT_INT(result.chosen, 0);
    request.deadline_s = 86400;
    EXPECT_INT(ranked(arena, &request, plans, 6).chosen, -1);
    arena_close(arena);
}

TEST(the_front_has_what_nothing_beats_and_the_knee_is_nearest_to_the_best) {
    Arena *arena = arena_open();
    const MadeUp plans[] = {{1, 100, 1}, {2, 30, 2}, {3, 29, 3}, {10, 10, 10}, {4, 31, 2}, {11, 10, 10}};
    PlanRequest request = {.objective = PLAN_COST};
    PlanResult result = ranked(arena, &request, plans, 6);
    for (int i = 0; i < result.row_count; i++) EXPECT_INT(result.rows[i].on_front, result.rows[i].gpus < 4);
    EXPECT(result.knee >= 0);
    if (result.knee >= 0) EXPECT_INT(result.rows[result.knee].gpus, 1);
    int fast = plan_twice_as_fast(&result);
    EXPECT(fast >= 0);
    if (fast >= 0) EXPECT_INT(result.rows[fast].gpus, 1);
    arena_close(arena);
}

// ---- The command.

static int plan_command(const char *arguments, char *output, size_t room) {
    char command[1024];
    snprintf(command, sizeof command, "COLUMNS=1000 $LOCKSTEP plan %s", arguments);
    return test_shell(command, output, room);
}

#define SMALL "--model gpt3-2.7b --tokens 10B --seq 2048 --node dgx-a100-80gb --fabric ib-hdr200,eth-100g "

TEST(many_processes_give_the_answer_of_one) {
    static char one[1 << 17], many[1 << 17];
    const char *const searches[] = {"--gpus 8:16 --global-batches 32,64",
                                    "--gpus 8 --global-batch 32 --tp 2 --pp 2 --exhaustive"};
    for (int i = 0; i < 2; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments, SMALL "%s --json --date 2026-11-21 -j 1", searches[i]);
        EXPECT_INT(plan_command(arguments, one, sizeof one), 0);
        arguments[strlen(arguments) - 1] = '3';
        EXPECT_INT(plan_command(arguments, many, sizeof many), 0);
        drop_envelopes(one);
        drop_envelopes(many);
        EXPECT_TEXT(many, one);
    }
}

TEST(json_has_the_chosen_plans_keys_on_top_and_csv_a_row_for_each) {
    static char output[1 << 17];
    EXPECT_INT(plan_command(SMALL "--gpus 8,16 --global-batch 64 --price 2 --json -j 1", output, sizeof output), 0);
    static const char *const keys[] = {
        "step_time_s", "tokens_per_s", "mfu",      "hfu",         "scaling_efficiency", "peak",   "by_class",
        "exposed_s",   "amount",       "currency", "days",        "energy_kwh",         "layout", "assumptions",
        "digest",      "what_if",      "pareto",   "price_margin"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\":", keys[i]);
        EXPECT_CONTAINS(output, key);
    }
    EXPECT_INT(plan_command(SMALL "--gpus 8,16 --global-batch 64 --csv -j 1", output, sizeof output), 0);
    int lines = 0, commas = 0, first = 0;
    for (const char *c = output; *c; c++) {
        commas += *c == ',';
        if (*c != '\n') continue;
        if (lines++ == 0) first = commas;
        EXPECT_INT(commas, first);
        commas = 0;
    }
    EXPECT_INT(lines, 1 + 3); // 8 GPUs are one node, which needs no fabric; 16 go with either
}

TEST(batches_are_compared_by_the_steps_that_they_need) {
    static char output[1 << 17];
    const char *run = "--model resnet-50 --samples 1M --epochs 10 --node dgx-a100-80gb --gpus 8 --price 2 -j 1 "
                      "--global-batches 64,4096 ";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s -v", run);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "4096 samples take "); // as many images either way: large ones fill the GPUs
    snprintf(arguments, sizeof arguments, "%s -v --critical-batch 1000 --reference-batch 64 --learning-rate 0.1", run);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "64 samples take 156250 steps");
    EXPECT_CONTAINS(output, "at 64 by the linear rule");
}

TEST(a_larger_batch_is_recommended_only_for_a_gain_worth_saying) {
    static char output[1 << 17];
    const char *run =
        "--model gpt2-1.5b --tokens 10B --node dgx-a100 --gpus 16 -j 1 --date 2026-11-21 --global-batches ";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s 1024,2048", run);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "batch 1024: 10.6 hours, $330.83; as good as");
    EXPECT_CONTAINS(output, "(a batch of 2048 gains 0.3 %)");
    snprintf(arguments, sizeof arguments, "%s 32,1024", run);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "batch 1024: ");
    EXPECT(!strstr(output, "as good as"));
}

TEST(old_prices_missing_prices_and_the_next_best_are_pointed_out) {
    static char output[1 << 17];
    const char *two = "--model gpt2-355m --tokens 1B --global-batch 64 --gpus 8 -j 1 --node "
                      "aws-p3.16xlarge@eth-25g,aws-p4d.24xlarge@efa-100 -v --date ";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s2036-11-21", two);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "! Prices that may be more than a year older than");
    EXPECT_CONTAINS(output, "its GPU-hour dearer by");
    snprintf(arguments, sizeof arguments, "%s2020-01-01", two);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT(!strstr(output, "a year older"));
    EXPECT_INT(plan_command(SMALL "--gpus 8 --global-batch 64 -j 1 -v", output, sizeof output), 0);
    EXPECT_CONTAINS(output, " (1.50 to 4.65 at 5 providers) USD a GPU-hour"); // nobody rents a dgx-a100 by its name
    EXPECT_CONTAINS(output, "lockstep calibrate run -o mine.json");
    const char *profile = "models/hardware/catalogue/prices.json"; // any file of parts will do
    snprintf(arguments, sizeof arguments, SMALL "--gpus 8 --global-batch 64 -j 1 -v --profile %s", profile);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "! Constants are those of models/hardware/catalogue/prices.json");
    EXPECT(!strstr(output, "lockstep calibrate run"));
}

// By hand: 2e12 tokens of 70.6 B parameters in 30 days at 989 TFLOP/s need 376 GPUs at the peak.
TEST(what_the_user_leaves_open_is_worked_out_and_said) {
    static char output[1 << 17];
    const char *line =
        "--model llama-3.1-70b --tokens 2T --by 30d --node dgx-h100 --fabric ib-ndr400 -j 1 --tp 4 --pp 4 "
        "--cp 1 --vpp 10 --recompute none --fit 60% --framework megatron";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s -v", line);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "3 clusters"); // 376 / 0.65 = 578, 376 / 0.25 = 1,504, and one more doubling
    EXPECT_CONTAINS(output, " 1024  dgx-h100");
    EXPECT_CONTAINS(output, " 4096  dgx-h100");
    EXPECT(!strstr(output, "  512  dgx-h100"));
    EXPECT_CONTAINS(output, "! The global batch is assumed");
    EXPECT_CONTAINS(output, "! dgx-h100: ");
    EXPECT(!strstr(output, "No price is known"));
    snprintf(arguments, sizeof arguments, "%s --gpus 1024 --own-or-rent -v", line);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "! dgx-h100: ");
    snprintf(arguments, sizeof arguments, "%s --gpus 1024 --own -v", line);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT(!strstr(output, "! dgx-h100: "));
    snprintf(arguments, sizeof arguments, "%s --global-batch 512 --price 2.5 --gpus 1024 --json", line);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT(!strstr(output, "Brown et al."));
    EXPECT(!strstr(output, "price of a GPU-hour"));
    snprintf(arguments, sizeof arguments, "%s --gpus 1024 --json", line);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "\"name\": \"global batch\",\n      \"value\": 512,");
    EXPECT_CONTAINS(output, "nobody in the price book rents dgx-h100 by its name");
}

// The batch never falls with the size of the model, and a sequence longer than the batch is one of its own.
TEST(usual_batches_are_those_of_gpt3) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    static const struct {
        const char *model;
        double samples;
    } rows[] = {{"gpt3-125m", 256}, {"gpt3-1.3b", 512}, {"gpt3-13b", 1024}, {"gpt3-175b", 2048}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Model *model = find_model(arena, rows[i].model, (Where){0}, problems);
        EXPECT_NEAR(plan_usual_batch(model, 2048), rows[i].samples, 0);
        EXPECT_NEAR(plan_usual_batch(model, 1e8), 1, 0);
    }
    arena_close(arena);
}

// The cell of a line of CSV under this title of its first; no cell before it is quoted.
static const char *cell_of(const char *csv, const char *line, const char *title) {
    size_t length = strlen(title), end = strcspn(csv, "\n");
    for (const char *at = csv; at < csv + end; at += strcspn(at, ",\n") + 1, line += strcspn(line, ",\n") + 1)
        if (strncmp(at, title, length) == 0 && strchr(",\n", at[length])) return line;
    return "";
}

static double cost_of_line(const char *csv, const char *line, bool *owned) {
    *owned = strncmp(cell_of(csv, line, "owned"), "true,", 5) == 0;
    return strtod(cell_of(csv, line, "cost.amount"), NULL);
}

TEST(clusters_stand_in_one_plan_bought_and_rented_at_what_each_costs_alone) {
    static char both[1 << 16], one[1 << 16];
    const char *base = SMALL "--gpus 8 --global-batch 64 --utilisation 0.7 --currency USD -j 1 --csv";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s --own-or-rent --price 2", base);
    EXPECT_INT(plan_command(arguments, both, sizeof both), 0);
    double costs[2] = {NAN, NAN};
    int lines = 0;
    for (const char *line = strchr(both, '\n') + 1; *line; line += strcspn(line, "\n") + 1, lines++) {
        bool owned;
        double cost = cost_of_line(both, line, &owned);
        costs[owned] = cost;
    }
    EXPECT_INT(lines, 2);
    bool owned;
    snprintf(arguments, sizeof arguments, "%s --own", base);
    EXPECT_INT(plan_command(arguments, one, sizeof one), 0);
    EXPECT_NEAR(cost_of_line(one, strchr(one, '\n') + 1, &owned), costs[1], 1e-9);
    EXPECT(owned);
    EXPECT_INT(plan_command(SMALL "--gpus 8 --global-batch 64 --price 2 --currency USD -j 1 --csv", one, sizeof one),
               0);
    EXPECT_NEAR(cost_of_line(one, strchr(one, '\n') + 1, &owned), costs[0], 1e-9);
    EXPECT(!owned);
    snprintf(arguments, sizeof arguments, SMALL "--gpus 8 --global-batch 64 --own-or-rent --price 2 -j 1 -v");
    EXPECT_INT(plan_command(arguments, both, sizeof both), 0);
    EXPECT_CONTAINS(both, "8 GPUs of dgx-a100-80gb beats renting at $2.00 per GPU-hour from ");
}

TEST(what_does_not_fit_may_fit_with_its_optimizer_in_host_memory) {
    static char output[1 << 16];
    const char *job = "--model gpt3-13b --tokens 1B --seq 2048 --global-batch 8 --node dgx-a100-80gb --gpus 2 --tp 2 "
                      "--zero 0 -j 1 ";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s", job);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 3);
    EXPECT_CONTAINS(output, "no layout fits in memory");
    snprintf(arguments, sizeof arguments, "%s--offload -v", job);
    EXPECT_INT(plan_command(arguments, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "  state  ");
}

TEST(a_batch_of_one_sample_is_the_least_that_is_planned) {
    static char output[1 << 16];
    EXPECT_INT(plan_command(SMALL "--gpus 1 --global-batch 1 --json -j 1", output, sizeof output), 0);
    EXPECT_CONTAINS(output, "\"global_batch\": 1,");
    EXPECT_INT(plan_command(SMALL "--gpus 1 --global-batch 0 -j 1", output, sizeof output), 4);
    EXPECT_CONTAINS(output, "a global batch of 0 samples is none");
}

TEST(plan_refuses_what_it_cannot_read) {
    static const struct {
        const char *arguments, *text;
        int status;
    } cases[] = {
        {"--model resnet-50 --node dgx-a100 --gpus 8 --samples 1M", "only models of text have a usual one", 4},
        {"--model gpt2-124m --node dgx-a100 --global-batch 8 --tokens 1B", "--gpus is missing", 2},
        {"--model gpt2-124m --node dgx-a100 --global-batch 8 --by 30d", "--gpus is missing", 2},
        {"--model gpt3-175b --node dgx-a100 --fabric ib-hdr200 --tokens 1000T --by 1h", "more than a million GPUs", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --gups 3", "did you mean", 2},
        {"--model gpt2-124m --node dgx-a10O --gpus 8 --global-batch 8 --tokens 1B", "did you mean \"dgx-a100\"?", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 0 --global-batch 8 --tokens 1B", "no number of GPUs", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 64:8 --global-batch 8 --tokens 1B", "goes down", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8", "how long is the run?", 4},
        {"--model resnet-50 --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B", "reads no tokens", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --price 0", "above 0", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --by yesterday", "--by", 2},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --json --csv",
         "an answer has one form", 2},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --global-batches 8 --tokens 1B", "both given", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 0 --tokens 1B", "is none", 4},
        {"--model gpt2-124m --node dgx-a100@ib-hdr20 --gpus 8 --global-batch 8 --tokens 1B", "did you mean", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --critical-batch 9", "is known", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --least-steps 9", "more than once",
         4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --steps-curve /none.csv", "/none.csv", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --learning-rate 1", "of a batch", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --date 26-11", "date", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --years 3", "add --own", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --own --price 3", "keep one", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --own --years 99", "cannot be 99", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --grid mars", "mars", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B --recompute-num-layers 2",
         "not at the first 2", 4},
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --global-batch 8 --tokens 1B -j 0", "cannot be started", 4},
    };
    static char output[1 << 16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[512];
        snprintf(command, sizeof command, "$LOCKSTEP plan %s", cases[i].arguments);
        EXPECT_INT(test_shell(command, output, sizeof output), cases[i].status);
        EXPECT_CONTAINS(output, cases[i].text);
    }
}

// Layouts are compared as without packets, the best one is simulated so; what that would be too much for says so.
TEST(a_plan_as_packets_compares_layouts_without_and_simulates_the_best) {
    static char output[1 << 16], plain[1 << 16];
    const char *job = "--model gpt2-124m --node dgx-a100 --fabric roce-200 --gpus 16 --global-batch 64 --tokens 1B";
    char command[512];
    snprintf(command, sizeof command, "$LOCKSTEP plan %s | head -1", job);
    EXPECT_INT(test_shell(command, plain, sizeof plain), 0);
    snprintf(command, sizeof command, "$LOCKSTEP plan %s --fidelity packet", job);
    EXPECT_INT(test_shell(command, output, sizeof output), 0);
    EXPECT_CONTAINS(output, plain);
    EXPECT_CONTAINS(output, "Packets   a step takes ");
    snprintf(command, sizeof command, "$LOCKSTEP plan %s --fidelity packet --event-limit 200000", job);
    EXPECT_INT(test_shell(command, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "Packets   not simulated: ");
}

// ---- What a batch and spare nodes are where nobody says.

static double plan_number(const char *arguments, const char *query) {
    static char output[1 << 18];
    char command[600], key[64];
    snprintf(command, sizeof command, "$LOCKSTEP plan %s --json", arguments);
    EXPECT_INT(test_shell(command, output, sizeof output), 0);
    snprintf(key, sizeof key, "\"%s\":", query);
    const char *at = strstr(output, key);
    if (!at) test_fail(__FILE__, __LINE__, "%s: no %s", arguments, query);
    return at ? atof(at + strlen(key)) : NAN;
}

TEST(micro_batches_accumulated_are_the_global_batch_that_they_add_up_to) {
    static const char job[] = "--model gpt2-124m --node dgx-a100 --gpus 8 --tokens 1B --zero 1 --micro-batch 4";
    char accumulated[300], global[300];
    snprintf(accumulated, sizeof accumulated, "%s --grad-accumulation 8", job);
    snprintf(global, sizeof global, "%s --global-batch 256", job);
    EXPECT_NEAR(plan_number(accumulated, "global_batch"), 256, 1e-12);
    EXPECT_NEAR(plan_number(accumulated, "days"), plan_number(global, "days"), 1e-12);
}

// Of two nodes a third that stands by is half of the bill, and repairs are few.
TEST(a_plan_without_a_word_of_spares_costs_no_more_than_without_them) {
    static const char job[] =
        "--model llama-2-7b --tokens 20B --node dgx-h100 --fabric ib-ndr400 --gpus 16 --faults llama3-h100";
    char none[300], one[300];
    snprintf(none, sizeof none, "%s --spares 0", job);
    snprintf(one, sizeof one, "%s --spares 1", job);
    double unsaid = plan_number(job, "amount");
    EXPECT_NEAR(unsaid, plan_number(none, "amount"), 1e-9);
    EXPECT(unsaid < 0.8 * plan_number(one, "amount"));
}
