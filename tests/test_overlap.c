// Context parallelism by ring, all-gather and heads, and tensor-parallel traffic in pieces: folding is exact, traffic
// follows its formulas, what overlaps is never slower than what waits.
#include "tests/jobs.h"
#include "tests/test.h"

TEST(every_context_layout_up_to_16_gpus_folds_exactly_by_every_exchange) {
    int ran = 0;
    for (int context = 0; context < CONTEXT_COUNT; context++)
        for (int gpus = 2; gpus <= 16; gpus *= 2)
            for (int tp = 1; tp <= 2; tp++)
                for (int pp = 1; pp <= 2; pp++)
                    for (int cp = 2; cp <= 4; cp += 2)
                        for (int zero = 0; zero <= 3; zero += 3) {
                            Case c;
                            if (gpus % (tp * pp * cp) || 12 / tp % cp) continue;
                            case_open(&c, gpus, "gpt2-124m");
                            c.training.layout = (Layout){.tp = tp, .pp = pp, .vpp = 1, .cp = cp, .zero = zero};
                            c.training.layout.context = (ContextExchange)context;
                            c.training.attention = tp == 2 ? ATTENTION_PLAIN : ATTENTION_FLASH;
                            c.training.global_batch = 4.0 * pp * gpus / (tp * pp * cp);
                            case_folds(&c);
                            arena_close(c.arena);
                            ran++;
                        }
    EXPECT(ran > 60);
}

TEST(every_layout_of_tensor_traffic_in_pieces_up_to_16_gpus_folds_exactly) {
    for (int gpus = 2; gpus <= 16; gpus *= 2)
        for (int tp = 2; tp <= 16 && tp <= gpus; tp *= 2)
            for (int pp = 1; pp * tp <= gpus && pp <= 2; pp++)
                for (int recompute = 0; recompute < RECOMPUTE_COUNT; recompute++) {
                    Case c;
                    case_open(&c, gpus, "gpt2-355m"); // 16 heads
                    c.training.layout = (Layout){.tp = tp, .pp = pp, .vpp = 1, .sequence_parallel = true};
                    c.training.tp_overlap = true;
                    c.training.recompute = (Recompute)recompute;
                    c.training.global_batch = 4.0 * gpus / tp;
                    case_folds(&c);
                    arena_close(c.arena);
                }
}

static double bytes_of(const CostList *list, CollectiveOp op) {
    double bytes = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].cause == CAUSE_CP && list->items[i].collective == op) bytes += list->items[i].bytes;
    return bytes;
}

// Per layer and rank, of b samples of s tokens, h wide, cp ranks, 16 bits: gathered are keys and values of all tokens,
// 4 s b h, in backward too, and their gradients scattered; exchanged are queries, keys and values of the rank's own
// tokens there, 6 s b h / cp, and results back, 2 s b h / cp (Jacobs et al. 2023, section 3.1: 4 s h / P elements).
TEST(exchanges_of_a_layer_follow_their_formulas) {
    Case c;
    case_open(&c, 8, "gpt2-124m");
    double sbh = 512.0 * 2 * c.training.model->hidden;
    for (int cp = 2; cp <= 4; cp += 2) {
        c.training.layout.cp = cp;
        c.training.layout.context = CONTEXT_ALL_GATHER;
        BlockCost gathered = block_cost(c.training.model, 1, &c.training, 2, c.cluster->gpu_of[0]);
        EXPECT_NEAR(bytes_of(&gathered.forward, COLLECTIVE_ALL_GATHER), 4 * sbh, 1e-12);
        EXPECT_NEAR(bytes_of(&gathered.backward, COLLECTIVE_ALL_GATHER), 4 * sbh, 1e-12);
        EXPECT_NEAR(bytes_of(&gathered.backward, COLLECTIVE_REDUCE_SCATTER), 4 * sbh, 1e-12);
        c.training.layout.context = CONTEXT_ULYSSES;
        BlockCost exchanged = block_cost(c.training.model, 1, &c.training, 2, c.cluster->gpu_of[0]);
        EXPECT_NEAR(bytes_of(&exchanged.forward, COLLECTIVE_ALL_TO_ALL), 8 * sbh / cp, 1e-12);
        EXPECT_NEAR(bytes_of(&exchanged.backward, COLLECTIVE_ALL_TO_ALL), 8 * sbh / cp, 1e-12);
    }
    arena_close(c.arena);
}

static double seconds_of(const CostList *list) {
    double seconds = 0;
    for (int i = 0; i < list->count; i++) seconds += list->items[i].seconds;
    return seconds;
}

// The same work whichever way, and the ring alone runs beside it.
TEST(all_exchanges_leave_the_work_alike) {
    double work[CONTEXT_COUNT];
    for (int context = 0; context < CONTEXT_COUNT; context++) {
        Case c;
        case_open(&c, 8, "gpt2-124m");
        c.training.layout.cp = 4;
        c.training.layout.context = (ContextExchange)context;
        BlockCost cost = block_cost(c.training.model, 1, &c.training, 2, c.cluster->gpu_of[0]);
        work[context] = seconds_of(&cost.forward) + seconds_of(&cost.backward);
        arena_close(c.arena);
    }
    EXPECT_NEAR(work[CONTEXT_ALL_GATHER], work[CONTEXT_RING], 1e-12);
    EXPECT_NEAR(work[CONTEXT_ULYSSES], work[CONTEXT_RING], 1e-12);
}

// What overlaps keeps its work, and exposes less.
TEST(tensor_traffic_in_pieces_hides_behind_products) {
    Case c;
    case_open(&c, 8, "gpt3-2.7b");
    c.training.seq_len = 2048;
    c.training.layout = (Layout){.tp = 8, .pp = 1, .vpp = 1, .sequence_parallel = true};
    BlockCost waiting = block_cost(c.training.model, 1, &c.training, 2, c.cluster->gpu_of[0]);
    SimulatedStep waits = simulate(&c, false);
    c.training.tp_overlap = true;
    BlockCost hiding = block_cost(c.training.model, 1, &c.training, 2, c.cluster->gpu_of[0]);
    SimulatedStep hides = simulate(&c, false);
    EXPECT_NEAR(seconds_of(&hiding.forward), seconds_of(&waiting.forward), 1e-9);
    EXPECT(waits.ran && hides.ran);
    EXPECT(hides.spent[CAUSE_TP] < 0.8 * waits.spent[CAUSE_TP]);
    EXPECT(hides.step_p50_s < waits.step_p50_s);
    arena_close(c.arena);
}

// A stage passes on 2 s b h bytes, or with slices a tp-th of them; without tensor parallelism, or where sequence
// parallelism keeps slices anyway, the two are one. Between nodes whose NICs all ranks of a stage share that pays.
TEST(slices_between_stages_are_a_share_of_the_activations_and_pay_between_nodes) {
    static const struct {
        int tp;
        bool sequence, slices;
    } rows[] = {{1, false, false}, {2, false, true}, {8, false, true}, {8, true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case c;
        case_open(&c, 16, "gpt3-1.3b");
        c.training.layout.pp = 2;
        c.training.layout.tp = rows[i].tp;
        c.training.layout.sequence_parallel = rows[i].sequence;
        c.training.global_batch = 8 * 2 * 8 / rows[i].tp;
        SimulatedStep whole = simulate(&c, false);
        double bytes = block_cost(c.training.model, 1, &c.training, 2, c.cluster->gpu_of[0]).output_bytes;
        c.training.scatter_gather = true;
        SimulatedStep slices = simulate(&c, false);
        double sliced = block_cost(c.training.model, 1, &c.training, 2, c.cluster->gpu_of[0]).output_bytes;
        EXPECT_NEAR(bytes, 2.0 * 512 * 2 * 2048 / (rows[i].sequence ? rows[i].tp : 1), 0);
        EXPECT_NEAR(sliced, rows[i].slices ? bytes / rows[i].tp : bytes, 0);
        EXPECT(whole.ran && slices.ran);
        if (rows[i].slices && rows[i].tp == 8) EXPECT(slices.step_p50_s < whole.step_p50_s);
        if (!rows[i].slices) EXPECT_SAME(slices.digest, whole.digest);
        if (rows[i].slices) case_folds(&c);
        arena_close(c.arena);
    }
}

TEST(what_cannot_overlap_or_divide_is_refused) {
    static const struct {
        Layout layout;
        const char *text, *hint;
    } rows[] = {
        {{.tp = 1, .pp = 1, .vpp = 1, .cp = 8, .context = CONTEXT_ULYSSES}, "does not divide the 12 heads", "ring"},
        {{.tp = 4, .pp = 1, .vpp = 1, .cp = 2, .context = CONTEXT_ULYSSES}, "does not divide the 3 heads", "ring"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Case c;
        case_open(&c, 8, "gpt2-124m");
        c.training.layout = rows[i].layout;
        EXPECT(!simulate(&c, false).ran);
        EXPECT_INT(problem_count(c.problems), 1);
        EXPECT_CONTAINS(problem_at(c.problems, 0)->text, rows[i].text);
        EXPECT_CONTAINS(problem_at(c.problems, 0)->hint, rows[i].hint);
        arena_close(c.arena);
    }
}
