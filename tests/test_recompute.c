// What backward computes again: parts and layers that are named, what they cost, what they free, what cannot be.
#include "models/workload/job/training.h"

#include "models/workload/job/job.h"
#include "tests/jobs.h"
#include "tests/script.h"
#include "tests/test.h"

static double recompute_seconds(const CostList *backward) {
    double seconds = 0;
    for (int i = 0; i < backward->count; i++)
        if (backward->items[i].cause == CAUSE_RECOMPUTE) seconds += backward->items[i].seconds;
    return seconds;
}

static BlockCost layer(const Case *c, int block, unsigned modules) {
    TrainingSpec training = c->training;
    training.recompute = modules ? RECOMPUTE_SELECTIVE : RECOMPUTE_NONE;
    training.recompute_modules = modules;
    return block_cost(training.model, block, &training, training.micro_batch, c->cluster->gpu_of[0]);
}

// Of a layer of 16-bit elements, by token: the MLP's two (gated: three) widths, both norms' results, latent attention's
// queries, keys and values.
TEST(a_part_that_is_recomputed_frees_what_it_made) {
    Case c;
    case_open(&c, 8, "gpt3-2.7b");
    double tokens = c.training.seq_len * c.training.micro_batch;
    double all = layer(&c, 1, 0).activation_bytes;
    EXPECT_NEAR(all - layer(&c, 1, 1u << MODULE_MLP).activation_bytes, tokens * 2 * 2 * 4 * 2560, 1e-12);
    EXPECT_NEAR(all - layer(&c, 1, 1u << MODULE_LAYERNORM).activation_bytes, tokens * 2 * 2 * 2560, 1e-12);
    arena_close(c.arena);

    case_open(&c, 8, "deepseek-v3");
    all = layer(&c, 61, 0).activation_bytes;
    double heads = 128 * (192 + 192 + 128), routed = 8 * 2048, shared = 3 * 2048;
    EXPECT_NEAR(all - layer(&c, 61, 1u << MODULE_MLA_UP_PROJ).activation_bytes, tokens * 2 * heads, 1e-12);
    EXPECT_NEAR(all - layer(&c, 61, 1u << MODULE_MOE_ACT).activation_bytes, tokens * 2 * routed, 1e-12);
    EXPECT_NEAR(all - layer(&c, 61, 1u << MODULE_SHARED_EXPERTS).activation_bytes, tokens * 2 * shared, 1e-12);
    double copies = 8 * 2 * 7168; // tokens in the order of their experts, before and after
    EXPECT_NEAR(all - layer(&c, 61, 1u << MODULE_MOE).activation_bytes, tokens * 2 * (3 * routed + shared + copies),
                1e-12);
    EXPECT_NEAR(all, layer(&c, 61, 1u << MODULE_MLP).activation_bytes, 0); // a layer of experts has no dense part
    arena_close(c.arena);
}

// The parts of a layer, together, take no longer than the layer, and each takes some time.
TEST(parts_take_less_than_the_whole) {
    static const struct {
        const char *model;
        int block;
        unsigned modules;
    } rows[] = {
        {"gpt3-2.7b", 1, 1u << MODULE_CORE_ATTN | 1u << MODULE_LAYERNORM | 1u << MODULE_MLP},
        {"deepseek-v3", 61,
         1u << MODULE_CORE_ATTN | 1u << MODULE_LAYERNORM | 1u << MODULE_MLA_UP_PROJ | 1u << MODULE_MOE},
        {"deepseek-v3", 1, 1u << MODULE_CORE_ATTN | 1u << MODULE_MLA_UP_PROJ | 1u << MODULE_MLP},
        {"deepseek-v3", 61, 1u << MODULE_MOE_ACT | 1u << MODULE_SHARED_EXPERTS},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        Case c;
        case_open(&c, 8, rows[i].model);
        c.training.layout.ep = rows[i].model[0] == 'd' ? 8 : 1;
        c.training.layout.zero = 1;
        double sum = 0;
        for (unsigned m = 0; m < RECOMPUTE_MODULE_COUNT; m++) {
            if (!(rows[i].modules >> m & 1)) continue;
            BlockCost part = layer(&c, rows[i].block, 1u << m);
            EXPECT(recompute_seconds(&part.backward) > 0);
            sum += recompute_seconds(&part.backward);
        }
        BlockCost parts = layer(&c, rows[i].block, rows[i].modules);
        EXPECT_NEAR(recompute_seconds(&parts.backward), sum, 0.05); // fewer, longer stretches launch as many kernels
        TrainingSpec full = c.training;
        full.recompute = RECOMPUTE_FULL;
        BlockCost whole = block_cost(full.model, rows[i].block, &full, full.micro_batch, c.cluster->gpu_of[0]);
        EXPECT(sum < recompute_seconds(&whole.backward));
        EXPECT(parts.activation_bytes > whole.activation_bytes);
        arena_close(c.arena);
    }
}

TEST(the_attention_core_is_what_selective_means) {
    Case c;
    case_open(&c, 8, "gpt2-355m");
    c.training.attention = ATTENTION_PLAIN;
    c.training.global_batch = 32;
    c.training.recompute = RECOMPUTE_SELECTIVE;
    uint64_t plain = simulate(&c, false).digest;
    c.training.recompute_modules = 1u << MODULE_CORE_ATTN;
    EXPECT(simulate(&c, false).digest == plain);
    c.training.recompute_modules = 1u << MODULE_LAYERNORM;
    SimulatedStep norms = simulate(&c, false);
    EXPECT(norms.digest != plain);
    arena_close(c.arena);
}

// From none to all of the six layers that each of four chunks has: longer steps and less memory, layer by layer.
TEST(layers_are_recomputed_one_after_the_other) {
    double last_step = 0, last_peak = INFINITY;
    for (int layers = 0; layers <= 7; layers++) {
        Case c;
        case_open(&c, 16, "gpt2-355m");
        c.training.layout = (Layout){.tp = 1, .pp = 4, .vpp = 1};
        c.training.global_batch = 64;
        c.training.recompute = layers ? RECOMPUTE_FULL : RECOMPUTE_NONE;
        c.training.recompute_layers = layers;
        SimulatedStep step = case_folds(&c);
        double peak = memory_of_job(&c.training, 16, c.cluster->gpu_of[0], NULL).peak;
        if (layers == 7) { // no more than there are
            EXPECT_NEAR(step.step_p50_s, last_step, 0);
            EXPECT_NEAR(peak, last_peak, 0);
            c.training.recompute_layers = 0;
            EXPECT(simulate(&c, false).digest == step.digest);
        } else {
            EXPECT(step.step_p50_s > last_step && peak < last_peak);
        }
        last_step = step.step_p50_s;
        last_peak = peak;
        arena_close(c.arena);
    }
}

// Every second layer: half of what all of them take and free.
TEST(every_second_layer_is_half_of_all) {
    double step[3], peak[3];
    for (int every = 0; every < 3; every++) {
        Case c;
        case_open(&c, 8, "gpt2-355m");
        c.training.global_batch = 64;
        c.training.recompute = every == 1 ? RECOMPUTE_NONE : RECOMPUTE_FULL;
        c.training.recompute_every = every == 2 ? 2 : 0;
        step[every] = case_folds(&c).step_p50_s;
        peak[every] = memory_of_job(&c.training, 8, c.cluster->gpu_of[0], NULL).bytes[MEMORY_ACTIVATIONS];
        arena_close(c.arena);
    }
    EXPECT_NEAR(step[2], (step[0] + step[1]) / 2, 0.01);
    EXPECT_NEAR(peak[2], (peak[0] + peak[1]) / 2, 0.03);
}

static BlockCost keeping(const Case *c, unsigned keeps) {
    TrainingSpec training = c->training;
    training.recompute = RECOMPUTE_OPERATIONS;
    training.recompute_keeps = keeps;
    return block_cost(training.model, 1, &training, training.micro_batch, c->cluster->gpu_of[0]);
}

// By token and layer, in 16-bit elements: queries, keys and values 3 h, the core and its product h each, the product
// into a plain MLP 4 h. What comes out of the MLP is the next layer's input: keeping it frees and saves nothing.
TEST(what_is_kept_by_name_is_not_computed_again) {
    static const struct {
        unsigned keeps;
        double widths;
    } rows[] = {{1u << KEEPS_CORE_ATTN, 1}, {1u << KEEPS_QKV, 3},      {1u << KEEPS_PROJ, 1},
                {1u << KEEPS_MLP_UP, 4},    {1u << KEEPS_MLP_DOWN, 0}, {1u << KEEPS_QKV | 1u << KEEPS_MLP_UP, 7}};
    Case c;
    case_open(&c, 8, "gpt3-2.7b");
    double width = c.training.seq_len * c.training.micro_batch * 2 * 2560;
    TrainingSpec full = c.training;
    full.recompute = RECOMPUTE_FULL;
    full.recompute_stops_early = true;
    BlockCost whole = block_cost(full.model, 1, &full, full.micro_batch, c.cluster->gpu_of[0]);
    double again = recompute_seconds(&whole.backward);
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        BlockCost cost = keeping(&c, rows[i].keeps);
        EXPECT_NEAR(cost.activation_bytes, width * (1 + rows[i].widths), 1e-12);
        double seconds = recompute_seconds(&cost.backward);
        if (rows[i].widths > 0)
            EXPECT(seconds < again);
        else
            EXPECT_NEAR(seconds, again, 0.1); // it stops before the last product too
    }
    BlockCost all = keeping(&c, (1u << KEPT_OUTPUT_COUNT) - 1);
    EXPECT(recompute_seconds(&all.backward) > 0 && recompute_seconds(&all.backward) < 0.4 * again);
    arena_close(c.arena);
}

TEST(layouts_fold_exactly_whatever_is_recomputed) {
    for (int schedule = SCHEDULE_1F1B; schedule < SCHEDULE_COUNT; schedule++)
        for (int tp = 1; tp <= 2; tp++)
            for (unsigned modules = 1; modules < 1u << RECOMPUTE_MODULE_COUNT; modules <<= 1) {
                Case c;
                if (modules == 1u << MODULE_MLA_UP_PROJ) continue;
                case_open(&c, 8, "gpt2-124m");
                bool experts = modules >= 1u << MODULE_MOE;
                if (experts)
                    c.model.experts =
                        (ExpertShape){.count = 4, .per_token = 2, .ffn = 512, .every = 1, .shared_ffn = 512};
                int vpp = schedule == SCHEDULE_INTERLEAVED ? 2 : 1;
                c.training.layout = (Layout){.tp = tp, .pp = 2, .vpp = vpp, .ep = experts ? 2 : 1};
                c.training.layout.sequence_parallel = tp == 2;
                c.training.schedule = (Schedule)schedule;
                c.training.global_batch = 32;
                c.training.recompute = RECOMPUTE_SELECTIVE;
                c.training.recompute_modules = modules;
                c.training.recompute_layers = 2;
                case_folds(&c);
                arena_close(c.arena);
            }
}

static double all_seconds(const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].seconds;
    return seconds;
}

// Each block of a network goes forward twice, and keeps between no more than what comes in.
TEST(blocks_of_networks_are_recomputed_whole) {
    static const char *const models[] = {"resnet-50", "stable-diffusion-1.5", "unet-3d", "jasper-10x5"};
    for (int i = 0; i < 4; i++) {
        Case c;
        case_open(&c, 8, models[i]);
        TrainingSpec training = c.training;
        training.recompute = RECOMPUTE_FULL;
        for (int block = 0; block < training.model->block_count; block++) {
            const Gpu *gpu = c.cluster->gpu_of[0];
            BlockCost once = block_cost(training.model, block, &c.training, training.micro_batch, gpu),
                      twice = block_cost(training.model, block, &training, training.micro_batch, gpu);
            double again = recompute_seconds(&twice.backward);
            EXPECT(again > 0 && again <= all_seconds(&once.forward) * (1 + 1e-9));
            EXPECT_NEAR(all_seconds(&twice.backward) - again, all_seconds(&once.backward), 0.1);
            EXPECT(twice.activation_bytes <= once.activation_bytes);
            EXPECT(twice.working_bytes + twice.activation_bytes <=
                   (once.working_bytes + once.activation_bytes) * (1 + 1e-9));
        }
        arena_close(c.arena);
    }
}

TEST(what_cannot_be_recomputed_is_refused) {
    static const struct {
        const char *model;
        unsigned modules;
        Recompute recompute;
        int layers;
        const char *says;
    } rows[] = {
        {"gpt2-124m", 1u << MODULE_MLA_UP_PROJ, RECOMPUTE_SELECTIVE, 0, "no latent attention"},
        {"gpt2-124m", 1u << MODULE_MOE | 1u << MODULE_LAYERNORM, RECOMPUTE_SELECTIVE, 0, "no experts"},
        {"mixtral-8x7b", 1u << MODULE_MLP, RECOMPUTE_SELECTIVE, 0, "no dense layers"},
        {"mixtral-8x7b", 1u << MODULE_SHARED_EXPERTS, RECOMPUTE_SELECTIVE, 0, "no shared experts"},
        {"mixtral-8x7b", 1u << MODULE_MOE | 1u << MODULE_MOE_ACT, RECOMPUTE_SELECTIVE, 0, "and a part"},
        {"gpt2-124m", 1u << MODULE_LAYERNORM, RECOMPUTE_FULL, 0, "not \"full\""},
        {"gpt2-124m", 0, RECOMPUTE_NONE, 3, "recompute none"},
        {"t5-base", 1u << MODULE_LAYERNORM, RECOMPUTE_SELECTIVE, 0, "t5-base is both"},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        Case c;
        case_open(&c, 8, rows[i].model);
        c.training.recompute = rows[i].recompute;
        c.training.recompute_modules = rows[i].modules;
        c.training.recompute_layers = rows[i].layers;
        recompute_check(&c.training, c.problems);
        EXPECT_SAME(problem_count(c.problems), 1);
        if (problem_count(c.problems)) EXPECT_CONTAINS(problem_at(c.problems, 0)->text, rows[i].says);
        arena_close(c.arena);
    }
}

TEST(what_is_recomputed_is_told) {
    Case c;
    case_open(&c, 8, "deepseek-v3");
    c.training.recompute = RECOMPUTE_SELECTIVE;
    c.training.recompute_modules = 1u << MODULE_MOE_ACT | 1u << MODULE_MLA_UP_PROJ;
    EXPECT_TEXT(recompute_text(c.arena, &c.training), "selective (mla_up_proj moe_act)");
    c.training.recompute = RECOMPUTE_FULL;
    c.training.recompute_layers = 4;
    EXPECT_TEXT(recompute_text(c.arena, &c.training), "full (first 4 layers of each chunk)");
    c.training.recompute_layers = 0;
    c.training.recompute_every = 2;
    EXPECT_TEXT(recompute_text(c.arena, &c.training), "full (1 layer of 2)");
    c.training.recompute = RECOMPUTE_OPERATIONS;
    c.training.recompute_every = 0;
    c.training.recompute_keeps = 1u << KEEPS_QKV | 1u << KEEPS_PROJ;
    EXPECT_TEXT(recompute_text(c.arena, &c.training), "operations (all but qkv proj)");
    arena_close(c.arena);
}

TEST(scenarios_are_held_to_the_same_parts) {
    static const char *const rows[][2] = {
        {"recompute = 'selective', recompute_modules = { 'moe' }", "has no experts"},
        {"recompute = 'full', recompute_modules = { 'mlp' }", "not \"full\""},
        {"recompute = 'none', recompute_layers = 2", "recompute none"},
        {"recompute_layers = 2", NULL},
        {"recompute_layers = 2, recompute_every = 2", "both say which layers"},
        {"recompute = 'none', recompute_every = 2", "recompute none"},
        {"recompute_every = 2", NULL},
        {"recompute = 'full', recompute_keeps = { 'qkv' }", "not \"full\""},
        {"recompute_keeps = { 'qkv', 'proj' }", NULL},
        {"recompute_modules = { 'mlp' }", NULL},
        {"recompute = 'selective', recompute_modules = { 'mlp', 'layernorm' }", NULL},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "sim.study { on = sim.cluster { node = 'dgx-a100' }, run = sim.training { model = 'gpt2-124m', %s } }",
                 rows[i][0]);
        Loaded loaded = load_returning(text, NULL);
        if (rows[i][1])
            EXPECT_CONTAINS(first_problem(&loaded), rows[i][1]);
        else
            EXPECT_TEXT(first_problem(&loaded), "");
        unload(&loaded);
    }
}

TEST(studies_vary_recomputation_beside_its_parts_in_any_order) {
    static const char *const rows[][3] = {
        {"recompute_modules = { 'mlp' }", "'none', 'selective'", NULL},
        {"recompute_modules = { 'mlp' }", "'selective', 'full'", NULL},
        {"recompute_modules = { 'mlp' }", "'full', 'none'", "the job says recompute_modules"},
        {"recompute_layers = 2", "'none', 'full'", NULL},
        {"recompute_layers = 2", "'none'", "the job says recompute_layers"},
        {"recompute_keeps = { 'qkv' }", "'full', 'operations'", NULL},
        {"recompute_keeps = { 'qkv' }", "'full', 'none'", "the job says recompute_keeps"},
    };
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "sim.study { on = sim.cluster { node = 'dgx-a100' }, vary = { recompute = { %s } }, "
                 "run = sim.training { model = 'gpt2-124m', %s } }",
                 rows[i][1], rows[i][0]);
        Loaded loaded = load_returning(text, NULL);
        if (rows[i][2])
            EXPECT_CONTAINS(first_problem(&loaded), rows[i][2]);
        else
            EXPECT_TEXT(first_problem(&loaded), "");
        unload(&loaded);
    }
}
