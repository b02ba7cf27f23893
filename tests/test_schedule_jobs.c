// Jobs under every schedule: folding is exact, split backwards add up, stages hold what the user says, and what cannot
// be is refused.
#include "tests/jobs.h"
#include "tests/test.h"

static void open_narrow(Case *c, int gpus, const char *model) {
    case_open(c, gpus, model);
    c->training.micro_batch = 1;
}

static double fold(Schedule schedule, int gpus, Layout layout, int micro_batches, bool experts) {
    Case c;
    open_narrow(&c, gpus, "gpt2-124m");
    if (experts) c.model.experts = (ExpertShape){.count = 8, .per_token = 2, .ffn = 1024, .every = 2};
    c.training.layout = layout;
    c.training.schedule = schedule;
    c.training.overlap_param_gather = layout.zero == 1 && layout.tp == 2;
    int cp = layout.cp > 1 ? layout.cp : 1;
    c.training.global_batch = (double)micro_batches * (gpus / (layout.tp * layout.pp * cp));
    SimulatedStep folded = case_folds(&c);
    double sum = 0;
    for (int cause = 0; cause < CAUSE_COUNT; cause++) sum += folded.spent[cause];
    EXPECT_NEAR(sum, folded.step_p50_s, 1e-9);
    arena_close(c.arena);
    return folded.step_p50_s;
}

TEST(every_layout_up_to_16_gpus_folds_exactly_under_every_schedule) {
    static const Schedule schedules[] = {SCHEDULE_ZB_H1, SCHEDULE_ZB_V, SCHEDULE_DUALPIPE};
    int ran = 0;
    for (int s = 0; s < 3; s++)
        for (int gpus = 2; gpus <= 16; gpus += gpus < 8 ? 1 : 4)
            for (int pp = 2; pp <= 6; pp++)
                for (int tp = 1; tp <= 4; tp *= 2)
                    for (int cp = 1; cp <= 2; cp++)
                        for (int zero = 0; zero <= 1; zero++) {
                            if (gpus % (tp * pp * cp) || (schedules[s] == SCHEDULE_DUALPIPE && pp % 2)) continue;
                            Layout layout = {
                                .tp = tp, .pp = pp, .vpp = 1, .cp = cp, .zero = zero, .sequence_parallel = tp > 1};
                            fold(schedules[s], gpus, layout, 2 * pp, false);
                            ran++;
                        }
    EXPECT(ran > 60);
}

TEST(experts_fold_exactly_under_every_schedule) {
    for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++)
        for (int ep = 1; ep <= 4; ep *= 2)
            for (int zero = 0; zero <= 1; zero++) {
                Layout layout = {.tp = 1, .pp = 2, .vpp = 1, .ep = ep, .zero = zero};
                layout.vpp = schedule == SCHEDULE_INTERLEAVED ? 2 : 1;
                fold((Schedule)schedule, 8, layout, 4, true);
            }
}

// Four equal stages: what zero bubble saves of 1F1B's step is about what its formula says.
static double idle(Schedule schedule) {
    Case c;
    open_narrow(&c, 4, "mlp-mnist");
    int widths[17];
    for (int i = 0; i < 17; i++) widths[i] = 16384;
    c.training.model = model_mlp(c.arena, "even", widths, 17, (Where){0}, c.problems);
    c.training.layout.pp = 4;
    c.training.schedule = schedule;
    c.training.micro_batch = 1024;
    c.training.global_batch = 1024 * 8;
    SimulatedStep step = simulate(&c, false);
    EXPECT(step.ran);
    double work = step.step_p50_s - step.spent[CAUSE_PP] - step.spent[CAUSE_OPTIMIZER];
    arena_close(c.arena);
    return step.spent[CAUSE_PP] / work;
}

TEST(zero_bubble_leaves_a_third_of_the_bubble_and_a_v_less_than_that) {
    double early = idle(SCHEDULE_1F1B), h1 = idle(SCHEDULE_ZB_H1), v = idle(SCHEDULE_ZB_V), d = idle(SCHEDULE_DUALPIPE);
    EXPECT_NEAR(early, 3.0 / 8, 0.15);
    EXPECT_NEAR(h1, 1.0 / 8, 0.3);
    EXPECT(v < h1 && d < early);
}

// DualPipe's purpose: tokens travel while the other micro-batch computes.
TEST(dualpipe_hides_the_exchange_of_tokens) {
    double exposed[2];
    for (int i = 0; i < 2; i++) {
        Case c;
        open_narrow(&c, 16, "gpt2-124m");
        c.model.experts = (ExpertShape){.count = 8, .per_token = 2, .ffn = 3072, .every = 1};
        c.training.layout = (Layout){.tp = 1, .pp = 4, .vpp = 1, .ep = 4};
        c.training.schedule = i == 0 ? SCHEDULE_1F1B : SCHEDULE_DUALPIPE;
        c.training.micro_batch = 4;
        c.training.global_batch = 4 * 4 * 16;
        SimulatedStep step = simulate(&c, false);
        EXPECT(step.ran);
        exposed[i] = step.spent[CAUSE_EP];
        arena_close(c.arena);
    }
    EXPECT(exposed[1] < 0.6 * exposed[0]);
}

static double seconds_of(const CostList *list, Cause cause) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].cause == cause) seconds += list->items[i].seconds;
    return seconds;
}

TEST(a_backward_in_two_is_as_long_as_in_one) {
    static const char *const models[] = {"gpt2-355m", "resnet-50", "mlp-mnist", "bert-large", "mixtral-8x7b"};
    for (int i = 0; i < 5; i++) {
        Case c;
        open_narrow(&c, 1, models[i]);
        c.training.schedule = SCHEDULE_ZB_H1;
        for (int block = 0; block < c.model.block_count; block++) {
            BlockCost cost = block_cost(&c.model, block, &c.training, 2, c.cluster->gpu_of[0]);
            static const Cause causes[] = {CAUSE_GEMM, CAUSE_ATTENTION, CAUSE_MEMORY, CAUSE_RECOMPUTE};
            for (int k = 0; k < 4; k++)
                EXPECT_NEAR(seconds_of(&cost.backward_input, causes[k]) + seconds_of(&cost.backward_weight, causes[k]),
                            seconds_of(&cost.backward, causes[k]), 1e-9);
            EXPECT(cost.backward_weight.count > 0 || cost.parameters == 0);
            for (int k = 0; k < cost.backward_weight.count; k++) EXPECT_SAME(cost.backward_weight.items[k].bytes, 0);
        }
        arena_close(c.arena);
    }
}

// Qi et al. 2023, table 1: gradients of weights need 32 s b h of a GPT layer.
TEST(what_late_gradients_keep_of_a_layer_is_the_papers) {
    Case c;
    open_narrow(&c, 1, "gpt3-2.7b");
    c.training.schedule = SCHEDULE_ZB_H1;
    c.training.framework = FRAMEWORK_MEGATRON;
    BlockCost cost = block_cost(&c.model, 1, &c.training, 2, c.cluster->gpu_of[0]);
    EXPECT_NEAR(cost.late_bytes, 32.0 * 512 * 2 * c.model.hidden, 1e-12);
    EXPECT_NEAR(cost.activation_bytes, 34.0 * 512 * 2 * c.model.hidden, 1e-12);
    arena_close(c.arena);
}

// What goes into each product and the gradient of what comes out, counted by hand; the router's input is that of no
// other product, for experts read copies.
TEST(what_late_gradients_keep_of_experts_is_what_their_products_read_and_give) {
    Case c;
    open_narrow(&c, 1, "mixtral-8x7b");
    c.training.schedule = SCHEDULE_ZB_H1;
    double h = c.model.hidden, q = h, kv = h / 4, f = c.model.experts.ffn, n = 8;
    double attention = (h + q + 2 * kv) + (q + h), routed = 2 * ((h + 2 * f) + (f + h));
    BlockCost cost = block_cost(&c.model, 1, &c.training, 2, c.cluster->gpu_of[0]);
    EXPECT_NEAR(cost.late_bytes, 2 * c.training.seq_len * 2 * (attention + (h + n) + routed), 1e-12);
    arena_close(c.arena);
}

// ZB-H1 and ZB-V keep about what 1F1B's first stage does; DualPipe holds every weight twice.
TEST(memory_of_the_schedules_is_ordered_as_in_the_papers) {
    Memory memory[SCHEDULE_COUNT];
    for (int schedule = 0; schedule < SCHEDULE_COUNT; schedule++) {
        Case c;
        open_narrow(&c, 4, "gpt3-2.7b");
        c.training.layout.pp = 4;
        c.training.schedule = (Schedule)schedule;
        c.training.micro_batch = 2;
        c.training.grad_accumulation = 16;
        memory[schedule] = memory_of_job(&c.training, 4, c.cluster->gpu_of[0], NULL);
        arena_close(c.arena);
    }
    double early = memory[SCHEDULE_1F1B].bytes[MEMORY_ACTIVATIONS];
    EXPECT(memory[SCHEDULE_GPIPE].bytes[MEMORY_ACTIVATIONS] > 3 * early);
    EXPECT_NEAR(memory[SCHEDULE_ZB_H1].bytes[MEMORY_ACTIVATIONS], early, 0.25);
    EXPECT_NEAR(memory[SCHEDULE_ZB_V].bytes[MEMORY_ACTIVATIONS], early, 0.25);
    EXPECT(memory[SCHEDULE_DUALPIPE].bytes[MEMORY_WEIGHTS] > 1.6 * memory[SCHEDULE_1F1B].bytes[MEMORY_WEIGHTS]);
}

// ---- Layers of stages.

static const int *blocks_of(Case *c, int pp, int vpp) {
    Resolved resolved;
    c->training.layout.pp = pp;
    c->training.layout.vpp = vpp;
    c->training.global_batch = 4 * pp;
    bool sound = resolve_layout(c->arena, &c->training, pp, &resolved, c->problems);
    EXPECT(sound);
    return sound ? resolved.first_block : NULL;
}

TEST(stages_hold_the_layers_that_the_user_gives_them) {
    Case c;
    open_narrow(&c, 4, "gpt2-124m");
    static const int counts[] = {0, 5, 6, 1};
    c.training.layout.stage_layers = counts;
    c.training.layout.stage_layers_count = 4;
    const int *first = blocks_of(&c, 4, 1);
    static const int wanted[] = {0, 1, 6, 12, 14};
    for (int i = 0; i <= 4 && first; i++) EXPECT_INT(first[i], wanted[i]);
    EXPECT(simulate(&c, false).ran);
    arena_close(c.arena);
}

TEST(embedding_and_head_can_count_as_layers) {
    static const struct {
        bool embedding, head;
        int first[5];
    } rows[] = {{false, false, {0, 4, 7, 10, 14}}, // 12 layers: 3 each, and the ends' own
                {true, true, {0, 4, 8, 11, 14}},
                {true, false, {0, 4, 7, 10, 14}},
                {false, true, {0, 5, 8, 11, 14}}};
    for (int i = 0; i < 4; i++) {
        Case c;
        open_narrow(&c, 4, "gpt2-124m");
        c.training.layout.embedding_counts = rows[i].embedding;
        c.training.layout.head_counts = rows[i].head;
        const int *first = blocks_of(&c, 4, 1);
        for (int b = 0; b <= 4 && first; b++) EXPECT_INT(first[b], rows[i].first[b]);
        arena_close(c.arena);
    }
}

// A head as heavy as some layers: giving its stage fewer of them shortens the step.
TEST(a_lighter_last_stage_is_faster_where_the_head_is_heavy) {
    double step[2];
    static const int counts[] = {4, 3, 3, 2};
    for (int i = 0; i < 2; i++) {
        Case c;
        open_narrow(&c, 4, "gpt2-124m");
        c.training.layout.pp = 4;
        c.training.micro_batch = 8;
        c.training.global_batch = 8 * 16;
        c.training.layout.stage_layers = i ? counts : NULL;
        c.training.layout.stage_layers_count = i ? 4 : 0;
        step[i] = simulate(&c, false).step_p50_s;
        arena_close(c.arena);
    }
    EXPECT(step[1] < step[0]);
}

// ---- Refusals.

TEST(schedules_that_cannot_be_are_refused_with_a_remedy) {
    static const int short_list[] = {6, 6}, wrong_sum[] = {3, 3, 3, 4}, hole[] = {6, 0, 3, 3};
    static const struct {
        Schedule schedule;
        Layout layout;
        double global;
        const char *text, *hint;
    } rows[] = {
        {SCHEDULE_ZB_H1, {.pp = 4, .vpp = 2}, 16, "1 chunk of the model per stage, not vpp 2", "interleaved"},
        {SCHEDULE_ZB_V, {.pp = 4, .vpp = 3}, 16, "2 chunks of the model per stage, not vpp 3", "leave vpp out"},
        {SCHEDULE_ZB_V, {.pp = 12}, 24, "too few for 24 pipeline chunks", "at most 12"},
        {SCHEDULE_ZB_H1, {.pp = 4, .zero = 3}, 16, "zero 3 frees them early", "--zero 1"},
        {SCHEDULE_DUALPIPE, {.pp = 3}, 24, "pp 3 is odd", "even pp"},
        {SCHEDULE_DUALPIPE, {.pp = 4}, 11, "there are 11", "even number"},
        {SCHEDULE_DUALPIPE, {.pp = 4}, 6, "at least 8 micro-batches, and there are 6", "smaller micro-batch"},
        {SCHEDULE_DUALPIPE, {.pp = 4, .zero = 1, .shard = 1, .dp = 1}, 16, NULL, NULL},
        {SCHEDULE_1F1B, {.pp = 4, .stage_layers = short_list, .stage_layers_count = 2}, 8, "2 counts", "one count"},
        {SCHEDULE_1F1B, {.pp = 4, .stage_layers = wrong_sum, .stage_layers_count = 4}, 8, "13 layers", "up to 12"},
        {SCHEDULE_1F1B, {.pp = 4, .stage_layers = hole, .stage_layers_count = 4}, 8, "chunk 2 of the pipeline", "0"},
        {SCHEDULE_1F1B,
         {.pp = 2, .stage_layers = short_list, .stage_layers_count = 2, .head_counts = true},
         8,
         "cannot count too",
         "leave one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case c;
        Resolved resolved;
        open_narrow(&c, rows[i].layout.pp, "gpt2-124m");
        c.training.schedule = rows[i].schedule;
        c.training.layout = rows[i].layout;
        c.training.global_batch = rows[i].global;
        bool sound = resolve_layout(c.arena, &c.training, rows[i].layout.pp, &resolved, c.problems);
        EXPECT(sound == (rows[i].text == NULL));
        if (!sound && rows[i].text) {
            EXPECT_CONTAINS(problem_at(c.problems, 0)->text, rows[i].text);
            EXPECT_CONTAINS(problem_at(c.problems, 0)->hint, rows[i].hint);
        }
        arena_close(c.arena);
    }
}
