// Resources of which more once made a step slower, or sharing them take more memory: each by its cause.
#include "models/hardware/kernel.h"
#include "models/workload/step/simulate.h"
#include "tests/jobs.h"
#include "tests/test.h"

static double step_over(Case *c, const char *link) {
    c->spec.link = catalogue_link(c->catalogue, link);
    case_build(c);
    return simulate(c, false).step_p50_s;
}

// What a hop hides was counted at the NICs' rate where host memory or software moves the bytes.
TEST(more_line_rate_beyond_what_the_host_moves_is_not_slower) {
    static const char *const links[] = {"eth-10g", "eth-25g", "eth-40g", "eth-50g", "eth-100g", "eth-200g", "eth-400g"};
    Case c;
    case_open_on(&c, "dgx-a100", links[0], 32, "resnet-50");
    c.training.framework = FRAMEWORK_EAGER;
    c.training.optimizer = OPTIMIZER_SGD;
    c.training.micro_batch = 64;
    c.spec.rail_optimised = false;
    double last = INFINITY;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        double step = step_over(&c, links[i]);
        if (step > last * (1 + 1e-9)) test_fail(__FILE__, __LINE__, "%s: %.9g s after %.9g s", links[i], step, last);
        last = step;
    }
    arena_close(c.arena);
}

// Bytes stretched by the share of memory's rate that kernels of images reach looked too many for the L2.
TEST(faster_memory_is_not_slower_for_small_images) {
    Bench bench = bench_open();
    TrainingSpec training = {.model = bench_model(&bench, "resnet-152"),
                             .layout = {.tp = 1, .pp = 1, .vpp = 1},
                             .precision = BF16,
                             .mixed_precision = true,
                             .framework = FRAMEWORK_EAGER,
                             .optimizer = OPTIMIZER_SGD};
    Gpu gpu = *bench_gpu(&bench, "B200");
    double last = INFINITY;
    for (int doubling = 0; doubling < 4; doubling++, gpu.memory_bytes_per_second *= 2) {
        double seconds = 0;
        for (int block = 0; block < training.model->block_count; block++) {
            BlockCost cost = block_cost(training.model, block, &training, 8, &gpu);
            seconds += list_seconds(&cost.forward) + list_seconds(&cost.backward);
        }
        EXPECT(seconds <= last);
        last = seconds;
    }
    arena_close(bench.arena);
}

// One process issues for all GPUs, but its kernels' waiting was multiplied, too.
TEST(a_higher_power_limit_does_not_slow_data_parallel_down) {
    Case c;
    case_open_on(&c, "lambda-scalar-a100", "eth-100g", 8, "vit-tiny-patch16");
    c.training.seq_len = c.model.max_positions;
    c.training.strategy = STRATEGY_DATA_PARALLEL;
    c.training.framework = FRAMEWORK_EAGER;
    c.training.micro_batch = 1;
    double last = INFINITY;
    for (double watts = 130; watts <= 250; watts += 20) {
        c.spec.power_cap_watts = watts;
        case_build(&c);
        double step = simulate(&c, false).step_p50_s;
        EXPECT(step > 0 && step <= last);
        last = step;
    }
    arena_close(c.arena);
}

// Each rank divided its gradients by its own pace, so ranks of two types joined different reductions, which ended the
// program.
TEST(horovod_on_gpus_of_two_types_reduces_the_same_on_all) {
    Case c;
    case_open_on(&c, "lambda-scalar-a100", "eth-100g", 1, "bert-base");
    NodeGroup groups[] = {c.group, {.type = catalogue_node(c.catalogue, "dgx-b200"), .gpus = 1}};
    c.spec.groups = groups;
    c.spec.group_count = 2;
    c.spec.rail_optimised = false;
    c.training.strategy = STRATEGY_HOROVOD;
    c.training.precision = FP16;
    c.training.micro_batch = 16;
    case_build(&c);
    EXPECT(case_folds(&c).step_p50_s > 0);
    arena_close(c.arena);
}

// What reductions take from the kernels beside them went by the slope between 256 and 512 MiB, where NDR200 had trees
// and NDR400 still rings, which take less time there and more for each further byte.
TEST(a_faster_fabric_that_leaves_rings_for_longer_is_not_slower) {
    Case c;
    case_open_on(&c, "dgx-a100", "ib-ndr200", 16, "opt-6.7b");
    c.spec.rail_optimised = false;
    c.training.seq_len = 256;
    c.training.micro_batch = 4;
    c.training.global_batch = 64;
    double slower = step_over(&c, "ib-ndr200");
    EXPECT(slower > 0 && step_over(&c, "ib-ndr400") < slower);
    arena_close(c.arena);
}

static double all_reduce_over(Case *c, const char *node, int nodes) {
    c->group.type = catalogue_node(c->catalogue, node);
    c->group.gpus = nodes * c->group.type->gpu_count;
    case_build(c);
    int *ranks = ARENA_ARRAY(c->arena, int, c->group.gpus);
    for (int r = 0; r < c->group.gpus; r++) ranks[r] = r;
    CollectiveRequest request = {.op = COLLECTIVE_ALL_REDUCE,
                                 .backend = BACKEND_NCCL,
                                 .ranks = ranks,
                                 .rank_count = c->group.gpus,
                                 .bytes = 2147483648.0};
    return collective_plan(c->arena, c->cluster->network, &request).alone_seconds;
}

// A GPU was counted as passing on to its node's others the share that it would where each has a NIC, although all rings
// leave by the one next to the NIC: two nodes took 187 ms where one takes 202.
TEST(a_second_node_whose_gpus_share_a_nic_does_not_make_a_ring_shorter) {
    static const char *const nodes[] = {"pcie-4gpu-a100", "pcie-4gpu-l40s", "pcie-8gpu-a100", "dgx-1-p100"};
    Case c;
    case_open_on(&c, nodes[0], "ib-xdr800", 4, "resnet-50");
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        double one = all_reduce_over(&c, nodes[i], 1), two = all_reduce_over(&c, nodes[i], 2);
        if (two < one) test_fail(__FILE__, __LINE__, "%s: %.6g s, two %.6g s", nodes[i], one, two);
    }
    arena_close(c.arena);
}

// ---- Memory.

static double peak_of(const TrainingSpec *training, int gpus, const Gpu *gpu) {
    return memory_of_job(training, gpus, gpu, NULL).peak;
}

// ZeRO 1 was counted with gradients and casts that come and go, as where nothing is sharded.
TEST(each_stage_of_zero_holds_less_with_one_micro_batch) {
    static const char *const models[] = {"deepseek-v2-lite", "gpt2-124m", "llama-2-7b", "bert-large"};
    static const Framework frameworks[] = {FRAMEWORK_GRAPH, FRAMEWORK_EAGER, FRAMEWORK_MEGATRON, FRAMEWORK_FUSED};
    Bench bench = bench_open();
    for (int m = 0; m < 4; m++)
        for (int f = 0; f < 4; f++) {
            TrainingSpec training = {.model = bench_model(&bench, models[m]),
                                     .layout = {.tp = 2, .pp = 1, .vpp = 1},
                                     .seq_len = 512,
                                     .micro_batch = 1,
                                     .global_batch = 4,
                                     .precision = BF16,
                                     .mixed_precision = true,
                                     .framework = frameworks[f],
                                     .optimizer = OPTIMIZER_ADAM};
            double last = INFINITY;
            for (int zero = 0; zero <= 3; zero++) {
                training.layout.zero = zero;
                double peak = peak_of(&training, 8, bench_gpu(&bench, "MI300X"));
                if (peak > last) test_fail(__FILE__, __LINE__, "%s, zero %d: %g after %g", models[m], zero, peak, last);
                last = peak;
            }
        }
    arena_close(bench.arena);
}

// Of experts that are spread, the 4-bit weights were counted in 16.
TEST(spread_experts_in_four_bits_hold_less) {
    Bench bench = bench_open();
    TrainingSpec training = {.model = bench_model(&bench, "qwen1.5-moe-a2.7b"),
                             .layout = {.tp = 1, .pp = 1, .vpp = 1},
                             .seq_len = 512,
                             .micro_batch = 1,
                             .precision = BF16,
                             .mixed_precision = true,
                             .framework = FRAMEWORK_EAGER,
                             .optimizer = OPTIMIZER_ADAM,
                             .lora_rank = 8,
                             .nf4_weights = true};
    const Gpu *gpu = bench_gpu(&bench, "A100");
    double whole = memory_of_job(&training, 8, gpu, NULL).bytes[MEMORY_WEIGHTS];
    training.layout.ep = 4;
    EXPECT(memory_of_job(&training, 8, gpu, NULL).bytes[MEMORY_WEIGHTS] < whole / 2);
    arena_close(bench.arena);
}

// What comes into a layer was counted twice: as kept, and again in the layer that backward rebuilds from it.
TEST(recomputing_the_only_layer_holds_no_more) {
    Bench bench = bench_open();
    TransformerShape shape = {.layers = 1, .hidden = 120, .heads = 1, .vocab = 1, .causal = true};
    TrainingSpec training = {.model = model_transformer(bench.arena, &shape, (Where){0}, bench.problems),
                             .layout = {.tp = 1, .pp = 1, .vpp = 1},
                             .seq_len = 2048,
                             .micro_batch = 1,
                             .global_batch = 8,
                             .precision = BF16,
                             .mixed_precision = true,
                             .optimizer = OPTIMIZER_ADAM};
    double none = peak_of(&training, 8, bench_gpu(&bench, "B200"));
    training.recompute = RECOMPUTE_FULL;
    EXPECT(none > 0 && peak_of(&training, 8, bench_gpu(&bench, "B200")) <= none);
    arena_close(bench.arena);
}
