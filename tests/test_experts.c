// Mixtures of experts: folding is exact, traffic and memory follow their formulas, routing obeys its laws.
#include <math.h>
#include <string.h>

#include "tests/jobs.h"
#include "tests/script.h"
#include "tests/test.h"

// Four layers of eight narrow experts, two a token, every second layer dense.
static void open_experts(Case *c, int gpus) {
    case_open(c, gpus, "gpt2-124m");
    TransformerShape shape = {.layers = 4,
                              .hidden = 512,
                              .heads = 8,
                              .ffn = 2048,
                              .vocab = 8192,
                              .gated_mlp = true,
                              .untied_embedding = true,
                              .causal = true,
                              .rms_norm = true};
    c->model = *model_transformer(c->arena, &shape, (Where){0}, c->problems);
    c->model.experts = (ExpertShape){.count = 8, .per_token = 2, .ffn = 1024, .every = 2};
    c->training.bucket_bytes = 1 << 20;
}

static void fold_layout(int gpus, int tp, int pp, int cp, int ep, int etp, int zero) {
    Case c;
    open_experts(&c, gpus);
    c.model.experts.shared_ffn = cp > 1 ? 512 : 0;
    c.training.layout = (Layout){.tp = tp,
                                 .pp = pp,
                                 .vpp = 1,
                                 .cp = cp,
                                 .ep = ep,
                                 .etp = etp,
                                 .zero = zero,
                                 .sequence_parallel = tp == 4 || etp == 1};
    c.training.overlap_param_gather = zero && tp == 2;
    c.training.expert_skew = pp == 2 ? 0.5 : 0;
    c.training.global_batch = 4.0 * pp * gpus / (tp * pp * cp);
    case_folds(&c);
    arena_close(c.arena);
}

TEST(every_layout_of_experts_up_to_16_gpus_folds_exactly) {
    int ran = 0;
    for (int gpus = 2; gpus <= 16; gpus *= 2)
        for (int tp = 1; tp <= 4; tp *= 2)
            for (int pp = 1; pp <= 2; pp++)
                for (int cp = 1; cp <= 2; cp++)
                    for (int ep = 1; ep <= 8; ep *= 2)
                        for (int zero = 0; zero <= 3; zero++)
                            for (int etp = 0; etp <= (tp > 1); etp++) {
                                int spread_over = gpus / (etp ? pp : tp * pp);
                                if (gpus % (tp * pp * cp) || spread_over % ep || (zero > 1 && pp > 1)) continue;
                                fold_layout(gpus, tp, pp, cp, ep, etp, zero);
                                ran++;
                            }
    EXPECT(ran > 200);
}

static double exchanged(const CostList *list, int *count) {
    double bytes = 0;
    *count = 0;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].cause != CAUSE_EP) continue;
        EXPECT_INT(list->items[i].collective, COLLECTIVE_ALL_TO_ALL);
        bytes += list->items[i].bytes;
        *count += 1;
    }
    return bytes;
}

// Each token leaves for top-k experts and comes back, in 16 bits; backward does the same. A dense layer sends nothing.
TEST(a_layer_of_experts_exchanges_its_tokens_there_and_back) {
    Case c;
    open_experts(&c, 8);
    c.training.layout.ep = 4;
    const Gpu *gpu = c.cluster->gpu_of[0];
    for (int block = 1; block <= 4; block++) {
        BlockCost cost = block_cost(&c.model, block, &c.training, 2, gpu);
        int forward, backward;
        double expected = block % 2 ? 0 : 2 * (2 * 512 * 2) * 512 * 2.0; // there and back; tokens, width, bytes
        EXPECT_NEAR(exchanged(&cost.forward, &forward), expected, 0);
        EXPECT_NEAR(exchanged(&cost.backward, &backward), expected, 0);
        EXPECT_INT(forward, block % 2 ? 0 : 2);
        EXPECT_INT(backward, block % 2 ? 0 : 2);
    }
    arena_close(c.arena);
}

// Whole experts on tensor-parallel ranks: each sends its slice of the tokens, and nothing is gathered or split. So the
// ranks of tp 4 exchange a quarter each, and hold together what those that split experts hold.
TEST(experts_that_are_not_split_take_slices_of_the_tokens) {
    Case c;
    open_experts(&c, 8);
    c.training.layout = (Layout){.tp = 4, .pp = 1, .vpp = 1, .ep = 8, .etp = 1, .sequence_parallel = true};
    const Gpu *gpu = c.cluster->gpu_of[0];
    BlockCost whole = block_cost(&c.model, 2, &c.training, 2, gpu);
    int count, gathers[2] = {0};
    EXPECT_NEAR(exchanged(&whole.forward, &count), 2 * (2 * 512 * 2) / 4.0 * 512 * 2, 0);
    c.training.layout.ep = 2;
    c.training.layout.etp = 4;
    BlockCost split = block_cost(&c.model, 2, &c.training, 2, gpu);
    EXPECT_NEAR(exchanged(&split.forward, &count), 2 * (2 * 512 * 2) / 4.0 * 512 * 2, 0);
    EXPECT_NEAR(whole.expert_parameters, split.expert_parameters, 0);
    for (int i = 0; i < whole.forward.count; i++) gathers[0] += whole.forward.items[i].cause == CAUSE_TP;
    for (int i = 0; i < split.forward.count; i++) gathers[1] += split.forward.items[i].cause == CAUSE_TP;
    EXPECT_INT(gathers[1], gathers[0] + 2);
    arena_close(c.arena);
}

// ZeRO 1, 2 and 3 shard experts over the ranks that hold the same ones: 16 / (ep 4) of them.
TEST(zero_shards_experts_over_those_that_hold_them) {
    Case c;
    open_experts(&c, 16);
    c.training.layout = (Layout){.tp = 1, .pp = 1, .vpp = 1, .ep = 4};
    const Gpu *gpu = c.cluster->gpu_of[0];
    static const MemoryClass sharded[] = {MEMORY_OPTIMIZER, MEMORY_GRADIENTS, MEMORY_WEIGHTS};
    double experts = 2 * 3.0 * 512 * 1024 * 8 / 4, all = 0;
    for (int b = 0; b < c.model.block_count; b++) all += block_parameters(&c.model, b);
    double others = all - 4 * experts;
    for (int zero = 1; zero <= 3; zero++) {
        c.training.layout.zero = zero;
        Memory memory = memory_estimate(&c.model, &c.training, 0, c.model.block_count - 1, 2, 1, 16, gpu);
        double each = zero == 1 ? 12 : zero == 2 ? 4 : 2;
        EXPECT_NEAR(memory.bytes[sharded[zero - 1]], each * (experts / 4 + others / 16), 1e-9);
    }
    arena_close(c.arena);
}

TEST(experts_of_all_ranks_together_are_the_models) {
    Case c;
    open_experts(&c, 8);
    double whole = block_parameters(&c.model, 2);
    for (int tp = 1; tp <= 4; tp *= 2)
        for (int ep = 1; ep <= 8; ep *= 2) {
            c.training.layout.tp = tp;
            c.training.layout.ep = ep;
            BlockCost cost = block_cost(&c.model, 2, &c.training, 1, c.cluster->gpu_of[0]);
            double own = cost.parameters, spread = cost.expert_parameters;
            double repeated = (tp - 1) * (2.0 * 512 + 512 * 8); // norms and the router are on every GPU
            EXPECT_NEAR(own * tp + spread * tp * ep, whole + repeated, 1e-6);
            EXPECT((spread > 0) == (ep > 1));
        }
    arena_close(c.arena);
}

static double tokens_of_fullest(Case *c, int ep, double skew, double capacity) {
    c->training.layout.ep = ep;
    c->training.expert_skew = skew;
    c->training.capacity_factor = capacity;
    Work work = work_of(&c->model, &c->training, 2, c->cluster->gpu_of[0]);
    return routed_tokens(&work);
}

TEST(routing_is_even_unless_skewed_and_capped_by_its_capacity) {
    Case c;
    open_experts(&c, 8);
    double even = 2 * 512 * 2, last = even, harmonic = 0;
    for (int e = 1; e <= 8; e++) harmonic += 1.0 / e;
    for (int ep = 1; ep <= 8; ep *= 2) EXPECT_NEAR(tokens_of_fullest(&c, ep, 0, 0), even, 1e-9);
    for (double skew = 0.25; skew <= 2; skew += 0.25) {
        double fullest = tokens_of_fullest(&c, 8, skew, 0);
        EXPECT(fullest > last);
        last = fullest;
        EXPECT_NEAR(tokens_of_fullest(&c, 1, skew, 0), even, 1e-9); // one rank has them all whatever the skew
    }
    EXPECT_NEAR(tokens_of_fullest(&c, 8, 1, 0), even * 8 / harmonic, 1e-9); // Zipf's law
    EXPECT_NEAR(tokens_of_fullest(&c, 8, 1, 1.25), even * 1.25, 1e-9);
    EXPECT_NEAR(tokens_of_fullest(&c, 8, 0, 1), even, 1e-9);
    arena_close(c.arena);
}

TEST(skewed_routing_takes_longer_and_dropping_tokens_shorter) {
    Case c;
    open_experts(&c, 8);
    c.training.layout.ep = 8;
    c.training.micro_batch = 8;
    double even = simulate(&c, false).step_p50_s;
    c.training.expert_skew = 1;
    double skewed = simulate(&c, false).step_p50_s;
    c.training.capacity_factor = 0.5;
    double dropped = simulate(&c, false).step_p50_s;
    EXPECT(even < skewed);
    EXPECT(dropped < even);
    arena_close(c.arena);
}

static double seconds_in(const CostList *list, Cause cause) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++)
        if (cause == CAUSE_COUNT || list->items[i].cause == cause) seconds += list->items[i].seconds;
    return seconds;
}

// Tokens that choose some experts more than others are as many: the mean rank multiplies what it did, and waits for the
// fullest, which draws less power.
TEST(the_mean_rank_does_the_work_of_its_own_tokens_and_waits_for_the_fullest) {
    Case c;
    open_experts(&c, 8);
    c.training.layout.ep = 8;
    c.training.micro_batch = 64;
    const Gpu *gpu = c.cluster->gpu_of[0];
    BlockCost even = block_cost(&c.model, 2, &c.training, 64, gpu);
    SimulatedStep before = simulate(&c, false);
    c.training.expert_skew = 1;
    BlockCost skewed = block_cost(&c.model, 2, &c.training, 64, gpu);
    SimulatedStep after = simulate(&c, false);
    const CostList *lists[][2] = {{&even.forward, &skewed.forward}, {&even.backward, &skewed.backward}};
    for (int pass = 0; pass < 2; pass++) {
        double gemm = seconds_in(lists[pass][0], CAUSE_GEMM);
        EXPECT_NEAR(seconds_in(lists[pass][1], CAUSE_GEMM), gemm, 0.03);
        EXPECT(seconds_in(lists[pass][0], CAUSE_EP) == 0 && seconds_in(lists[pass][1], CAUSE_EP) > 0.2 * gemm);
        EXPECT(seconds_in(lists[pass][1], CAUSE_COUNT) > seconds_in(lists[pass][0], CAUSE_COUNT));
    }
    EXPECT_NEAR(after.spent[CAUSE_GEMM], before.spent[CAUSE_GEMM], 0.03);
    EXPECT(after.spent[CAUSE_EP] > 1.2 * before.spent[CAUSE_EP]);
    arena_close(c.arena);
}

// One expert that every token meets is an MLP of that width, but for its router and the sorting.
TEST(one_expert_for_all_multiplies_as_a_dense_layer_does) {
    Case c;
    open_experts(&c, 8);
    double dense = block_matmul_flops(&c.model, 1, &c.training, 2);
    c.model.experts = (ExpertShape){.count = 1, .per_token = 1, .ffn = c.model.ffn, .every = 1};
    double mixture = block_matmul_flops(&c.model, 1, &c.training, 2);
    EXPECT_NEAR(mixture - dense, 2.0 * 2 * 512 * 512, 1e-3); // the router's one column
    arena_close(c.arena);
}

static void expect_refused(Case *c, const char *text) {
    EXPECT(lower_training(c->arena, c->cluster, &c->training, c->problems) == NULL);
    EXPECT(problem_count(c->problems) > 0);
    if (problem_count(c->problems)) EXPECT_CONTAINS(problem_at(c->problems, 0)->text, text);
}

TEST(layouts_of_experts_that_cannot_be_are_refused) {
    static const struct {
        Layout layout;
        const char *text;
    } cases[] = {
        {{.tp = 1, .pp = 1, .vpp = 1, .ep = 16}, "8 experts do not divide by ep 16"},
        {{.tp = 2, .pp = 2, .vpp = 1, .ep = 4}, "ep 4 does not divide the 2 data-parallel ranks"},
        {{.tp = 1, .pp = 1, .vpp = 1, .ep = 2, .zero = 3, .shard = 4}, "over all ranks only"},
        {{.tp = 4, .pp = 1, .vpp = 1, .ep = 2, .etp = 2}, "etp 2 is neither tp 4 nor 1"},
        {{.tp = 4, .pp = 1, .vpp = 1, .ep = 2, .etp = 1}, "its own slice of the tokens"},
        {{.tp = 4, .pp = 2, .vpp = 1, .ep = 8, .etp = 1, .sequence_parallel = true},
         "the 4 data- and tensor-parallel ranks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Case c;
        open_experts(&c, 8);
        c.training.layout = cases[i].layout;
        expect_refused(&c, cases[i].text);
        arena_close(c.arena);
    }
    Case c;
    open_experts(&c, 8);
    c.model.experts.count = 0;
    c.training.layout.ep = 2;
    expect_refused(&c, "the model has none");
    arena_close(c.arena);
}

// ---- Routing that is drawn or recorded.

static RoutedShares loads(Case *c, Routing routing, int ep, double capacity) {
    c->training.routing = routing;
    c->training.layout.ep = ep;
    c->training.capacity_factor = capacity;
    return routed_shares(&c->training);
}

TEST(a_recorded_histogram_decides_which_rank_is_fullest) {
    Case c;
    open_experts(&c, 8);
    static const double tokens[8] = {10, 30, 5, 5, 20, 10, 15, 5};
    Routing recorded = {.kind = ROUTING_HISTOGRAM, .tokens = tokens, .token_count = 8};
    EXPECT_NEAR(loads(&c, recorded, 1, 0).fullest, 1, 1e-12);
    EXPECT_NEAR(loads(&c, recorded, 2, 0).fullest, 0.5, 1e-12); // experts 1 to 4 and 5 to 8
    EXPECT_NEAR(loads(&c, recorded, 4, 0).fullest, 0.4, 1e-12);
    EXPECT_NEAR(loads(&c, recorded, 8, 0).fullest, 0.3, 1e-12);
    EXPECT_NEAR(loads(&c, recorded, 8, 1).fullest, 0.125, 1e-12); // no expert takes more than an even share
    EXPECT_NEAR(loads(&c, recorded, 8, 1).kept, 0.10 + 0.125 + 0.05 + 0.05 + 0.125 + 0.10 + 0.125 + 0.05, 1e-12);
    EXPECT_NEAR(loads(&c, recorded, 8, 2.4).kept, 1, 1e-12);
    arena_close(c.arena);
}

// The largest of n shares drawn with concentration 1 is (1 + 1/2 + … + 1/n) / n on average (a broken stick).
TEST(drawn_shares_are_those_of_a_broken_stick) {
    Case c;
    open_experts(&c, 8);
    double sum = 0, harmonic = 0;
    for (int e = 1; e <= 8; e++) harmonic += 1.0 / e;
    FOR_SEEDS (seed, 1, 2000)
        sum += loads(&c, (Routing){.kind = ROUTING_DIRICHLET, .concentration = 1, .seed = seed}, 8, 0).fullest;
    EXPECT_NEAR(sum / 2000, harmonic / 8, 0.01); // four standard errors
    arena_close(c.arena);
}

TEST(drawn_shares_are_the_same_for_the_same_seed_and_even_when_concentrated) {
    Case c;
    open_experts(&c, 8);
    Routing one = {.kind = ROUTING_DIRICHLET, .concentration = 0.5, .seed = 1}, other = one, even = one;
    other.seed = 2;
    even.concentration = 1e6;
    double first = loads(&c, one, 8, 0).fullest;
    EXPECT(loads(&c, one, 8, 0).fullest == first);
    EXPECT(loads(&c, other, 8, 0).fullest != first);
    EXPECT_NEAR(loads(&c, even, 8, 0).fullest, 0.125, 0.01);
    double steps[2];
    for (int i = 0; i < 2; i++) {
        c.training.micro_batch = 8;
        loads(&c, i ? one : even, 8, 0);
        SimulatedStep folded = simulate(&c, false), whole = simulate(&c, true);
        EXPECT(folded.ran && folded.digest == whole.digest);
        steps[i] = folded.step_p50_s;
    }
    EXPECT(steps[1] > steps[0]);
    arena_close(c.arena);
}

TEST(routing_that_cannot_be_is_refused) {
    static const double few[2] = {1, 2}, none[8] = {0};
    static const struct {
        Routing routing;
        double skew;
        int experts;
        const char *text;
    } rows[] = {
        {{.kind = ROUTING_HISTOGRAM, .tokens = few, .token_count = 2}, 0, 8, "has 2 entries, and the model has 8"},
        {{.kind = ROUTING_HISTOGRAM, .tokens = none, .token_count = 8}, 0, 8, "no tokens"},
        {{.kind = ROUTING_DIRICHLET, .concentration = 1}, 1, 8, "both say"},
        {{.kind = ROUTING_DIRICHLET, .concentration = 1}, 0, 0, "the model has none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case c;
        open_experts(&c, 8);
        c.training.routing = rows[i].routing;
        c.training.expert_skew = rows[i].skew;
        c.model.experts.count = rows[i].experts;
        expect_refused(&c, rows[i].text);
        arena_close(c.arena);
    }
}

// ---- A mixture that a script writes is the library's.

static const char *answer_with(const char *model, char *output, size_t room) {
    char script[2048];
    bool wrote;
    snprintf(
        script, sizeof script,
        "local sim = require 'lockstep'\nreturn sim.study { on = sim.cluster { node = 'dgx-h100', gpus = 64, fabric = "
        "'ib-ndr400' },\nrun = sim.training { model = %s, seq_len = 4096, parallel = { ep = 8 }, zero = 1,\n"
        "batch = { micro = 1, global = 64 } } }\n",
        model);
    EXPECT_INT(run_script_text(script, "--json", output, room, &wrote), 0);
    const char *digest = strstr(output, "\"digest\": ");
    EXPECT(digest != NULL);
    return digest ? digest : "";
}

TEST(a_mixture_written_in_lua_is_the_library_s_to_the_tick) {
    static char own[1 << 16], library[1 << 16];
    const char *mine =
        answer_with("sim.model.transformer { name = 'mixtral-8x7b', layers = 32, hidden = 4096, heads = 32,"
                    " kv_heads = 8, ffn = 14336, vocab = 32000, max_positions = 32768, gated_mlp = true,"
                    " untied_embedding = true, rms_norm = true, experts = 8, experts_per_token = 2 }",
                    own, sizeof own);
    const char *theirs = answer_with("'mixtral-8x7b'", library, sizeof library);
    EXPECT_CONTAINS(mine, "\"ran\": true");
    EXPECT(strncmp(mine, theirs, strlen("\"digest\": \"0123456789abcdef\"")) == 0);
}

TEST(a_mixture_that_cannot_be_is_refused_at_its_line) {
    static const struct {
        const char *fields, *problem;
    } rows[] = {
        {"experts = 8", "a token takes 0 experts, but a layer has 8 | say experts_per_token, from 1 to 8"},
        {"experts = 8, experts_per_token = 9", "a token takes 9 experts, but a layer has 8"},
        {"experts_per_token = 2", "a model without experts says what its experts are like | say how many"},
        {"experts = 8, experts_per_token = 2, dense_layers = 4", "the first 4 layers are dense, and there are 4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "sim.study { on = sim.cluster { node = 'dgx-a100' }, run = sim.training { batch = { micro = 1 }, model = "
            "sim.model.transformer { layers = 4, hidden = 512, heads = 8, %s } } }",
            rows[i].fields);
        Loaded loaded = load_returning(text, NULL);
        EXPECT_CONTAINS(first_problem(&loaded), rows[i].problem);
        unload(&loaded);
    }
}
