// What FSDP, ZeRO and context parallelism must obey: folding is exact, traffic and memory follow their formulas, what
// does not divide is refused.
#include "tests/jobs.h"
#include "tests/test.h"

TEST(every_sharding_and_context_layout_up_to_16_gpus_folds_exactly) {
    int ran = 0;
    for (int gpus = 2; gpus <= 16; gpus *= 2)
        for (int tp = 1; tp <= 4; tp *= 2)
            for (int pp = 1; pp <= 2; pp++)
                for (int cp = 1; cp <= 4; cp *= 2)
                    for (int zero = 0; zero <= 3; zero++)
                        for (int shard = 0; shard <= 2; shard += 2) {
                            int data_ranks = gpus / (tp * pp);
                            if (gpus % (tp * pp * cp) || (shard && (zero == 0 || data_ranks % shard))) continue;
                            Case c;
                            case_open(&c, gpus, "gpt2-124m");
                            c.training.layout =
                                (Layout){.tp = tp, .pp = pp, .vpp = 1, .cp = cp, .zero = zero, .shard = shard};
                            c.training.overlap_param_gather = tp == 2;
                            c.training.tp_overlap = tp == 4;
                            c.training.global_batch = 4.0 * pp * gpus / (tp * pp * cp);
                            case_folds(&c);
                            ran++;
                            arena_close(c.arena);
                        }
    EXPECT(ran > 150);
}

static int transfers(const Lowered *lowered, int slot) {
    const Program *program = &lowered->system->programs[lowered->system->actors[0].program];
    int count = 0;
    for (int s = 0; s < program->stream_count; s++) {
        OpWalk walk = {.program = program, .stream = &program->streams[s]};
        for (Op op; walk_ops(&walk, &op);) count += op.kind == OP_TRANSFER && op.slot == slot;
    }
    return count;
}

// Zhao et al. 2023: per micro-batch each block's weights are gathered in forward and, when they were freed, again in
// backward, and its gradients reduced and scattered. The tied head has only its norm.
TEST(fsdp_gathers_twice_and_scatters_once_per_block_and_micro_batch) {
    for (int micro_batches = 1; micro_batches <= 3; micro_batches++)
        for (int zero = 2; zero <= 3; zero++) {
            Case c;
            case_open(&c, 8, "gpt2-124m");
            c.training.layout.zero = zero;
            c.training.global_batch = 16.0 * micro_batches;
            const Lowered *lowered = lower_training(c.arena, c.cluster, &c.training, c.problems);
            int blocks = c.training.model->block_count;
            EXPECT_INT(transfers(lowered, SLOT_SHARD), micro_batches * blocks * zero);
            EXPECT_INT(transfers(lowered, SLOT_DP), 0);
            arena_close(c.arena);
        }
}

static double passes_of_blocks(Case *c) {
    double seconds = 0;
    for (int block = 0; block < c->model.block_count; block++) {
        BlockCost cost = block_cost(&c->model, block, &c->training, 2, c->cluster->gpu_of[0]);
        for (int i = 0; i < cost.forward.count; i++)
            seconds += cost.forward.items[i].cause == CAUSE_MEMORY ? cost.forward.items[i].seconds : 0;
        for (int i = 0; i < cost.backward.count; i++)
            seconds += cost.backward.items[i].cause == CAUSE_MEMORY ? cost.backward.items[i].seconds : 0;
    }
    return seconds;
}

// qwZ of ZeRO++ (Wang et al. 2023): a weight passes as one byte in place of two, each time that it is gathered, and is
// read and written where it arrives.
TEST(quantised_weights_pass_in_half_the_bytes_and_are_dequantised) {
    Case c;
    case_open(&c, 8, "gpt2-124m");
    c.training.layout.zero = 3;
    c.training.global_batch = 16.0 * 2;
    Moved plain = moved(lower_training(c.arena, c.cluster, &c.training, c.problems), SLOT_SHARD);
    double passes = passes_of_blocks(&c);
    c.training.zero_quantized_weights = true;
    Moved quantised = moved(lower_training(c.arena, c.cluster, &c.training, c.problems), SLOT_SHARD);
    double parameters = model_parameters(&c.model), more = passes_of_blocks(&c) - passes;
    EXPECT_INT(quantised.count, plain.count);
    EXPECT_NEAR(plain.bytes - quantised.bytes, 2 * 2 * parameters, 1e-6); // two micro-batches, forward and backward
    double layers = parameters - model_embedding_parameters(&c.model);    // tables are cast with their own passes
    double moved = 2 * 3 * layers / c.cluster->gpu_of[0]->memory_bytes_per_second;
    EXPECT(more > 0.7 * moved && more < 1.5 * moved); // the L2 helps
    case_folds(&c);

    c.training.layout.zero = 2;
    EXPECT(!lower_training(c.arena, c.cluster, &c.training, c.problems) && problem_count(c.problems) == 1);
    arena_close(c.arena);
}

TEST(hybrid_sharding_reduces_over_the_groups_once_per_step) {
    Case c;
    case_open(&c, 16, "gpt2-124m");
    c.training.layout.zero = 3;
    c.training.layout.shard = 8;
    c.training.global_batch = 16 * 2 * 3;
    const Lowered *lowered = lower_training(c.arena, c.cluster, &c.training, c.problems);
    EXPECT_INT(transfers(lowered, SLOT_SHARD), 3 * 3 * c.training.model->block_count);
    EXPECT_INT(transfers(lowered, SLOT_DP), c.training.model->block_count);
    arena_close(c.arena);
}

TEST(sharded_states_are_held_once_per_group) {
    Case c;
    case_open(&c, 16, "gpt3-1.3b");
    const Gpu *gpu = c.cluster->gpu_of[0];
    Memory whole = memory_of_job(&c.training, 16, gpu, NULL);
    c.training.layout.zero = 3;
    for (int shard = 0; shard <= 16; shard += 4) {
        c.training.layout.shard = shard;
        Memory memory = memory_of_job(&c.training, 16, gpu, NULL);
        double share = shard == 12 ? 12 : shard == 0 ? 16 : shard;
        for (int i = MEMORY_WEIGHTS; i <= MEMORY_OPTIMIZER; i++)
            EXPECT_NEAR(memory.bytes[i], whole.bytes[i] / share, 1e-12);
    }
    arena_close(c.arena);
}

// Two blocks' weights in 16 bits and one block's gradients beside the shards.
TEST(gathered_blocks_are_in_the_buffers) {
    Case c;
    case_open(&c, 16, "gpt3-1.3b");
    const Gpu *gpu = c.cluster->gpu_of[0];
    c.training.layout.zero = 1;
    double before = memory_of_job(&c.training, 16, gpu, NULL).bytes[MEMORY_BUFFERS], largest = 0;
    c.training.layout.zero = 3;
    double after = memory_of_job(&c.training, 16, gpu, NULL).bytes[MEMORY_BUFFERS];
    for (int b = 0; b < c.training.model->block_count; b++)
        largest = fmax(largest, block_parameters(c.training.model, b));
    EXPECT_NEAR(after - before, largest * (2 * 2 + gradient_bytes(&c.training)), 1e-12);
    arena_close(c.arena);
}

TEST(context_parallelism_divides_work_and_activations) {
    Case c;
    case_open(&c, 8, "gpt3-1.3b");
    const Gpu *gpu = c.cluster->gpu_of[0];
    BlockCost whole = block_cost(c.training.model, 1, &c.training, 2, gpu);
    double flops = block_matmul_flops(c.training.model, 1, &c.training, 2);
    for (int cp = 2; cp <= 8; cp *= 2) {
        c.training.layout.cp = cp;
        BlockCost part = block_cost(c.training.model, 1, &c.training, 2, gpu);
        EXPECT_NEAR(block_matmul_flops(c.training.model, 1, &c.training, 2) * cp, flops, 1e-12);
        EXPECT_NEAR(part.activation_bytes * cp, whole.activation_bytes, 1e-12);
        EXPECT_NEAR(part.parameters, whole.parameters, 0);
        double ring = 0;
        for (int i = 0; i < part.forward.count; i++)
            if (part.forward.items[i].cause == CAUSE_CP) ring += part.forward.items[i].bytes;
        EXPECT_NEAR(ring, 2 * 2 * 512 * 2.0 * c.training.model->hidden, 1e-12); // keys and values, 16 bits, 2 samples
    }
    arena_close(c.arena);
}

TEST(what_does_not_divide_is_refused) {
    static const struct {
        Layout layout;
        const char *text;
    } rows[] = {
        {{.tp = 1, .pp = 1, .vpp = 1, .cp = 3}, "12 GPUs"}, // runs: 512 does not divide by 6
        {{.tp = 1, .pp = 1, .vpp = 1, .cp = 5}, "do not divide by tp 1 x cp 5"},
        {{.tp = 1, .pp = 1, .vpp = 1, .zero = 3, .shard = 5}, "shard groups of 5 do not divide the 12"},
    };
    for (int i = 0; i < 3; i++) {
        Case c;
        case_open(&c, 12, "gpt2-124m");
        c.training.layout = rows[i].layout;
        EXPECT(!simulate(&c, false).ran);
        EXPECT_INT(problem_count(c.problems), 1);
        EXPECT_CONTAINS(problem_at(c.problems, 0)->text, i == 0 ? "2 x cp 3 pieces" : rows[i].text);
        arena_close(c.arena);
    }
}

static double step_with(void (*change)(TrainingSpec *)) {
    Case c;
    case_open(&c, 16, "gpt3-2.7b"); // replicas meet between nodes
    c.training.layout = (Layout){.tp = 8, .pp = 1, .vpp = 1, .zero = 1, .sequence_parallel = true};
    c.training.seq_len = 2048;
    c.training.global_batch = 8;
    change(&c.training);
    SimulatedStep step = simulate(&c, false);
    EXPECT(step.ran);
    arena_close(c.arena);
    return step.step_p50_s;
}

static void nothing(TrainingSpec *training) { (void)training; }
static void full(TrainingSpec *training) { training->recompute = RECOMPUTE_FULL; }
static void operations(TrainingSpec *training) { training->recompute = RECOMPUTE_OPERATIONS; }
static void early(TrainingSpec *training) {
    training->recompute = RECOMPUTE_FULL;
    training->recompute_stops_early = true;
}
static void hidden_tp(TrainingSpec *training) { training->tp_overlap = true; }
static void hidden_gather(TrainingSpec *training) { training->overlap_param_gather = true; }
static void old_attention(TrainingSpec *training) { training->attention = ATTENTION_FLASH_1; }

TEST(less_recomputation_and_more_overlap_are_faster) {
    double plain = step_with(nothing);
    EXPECT(plain < step_with(operations));
    EXPECT(step_with(operations) < step_with(early));
    EXPECT(step_with(early) < step_with(full));
    EXPECT(step_with(hidden_tp) < plain);
    EXPECT(step_with(hidden_gather) < plain);
    EXPECT(plain < step_with(old_attention));
}
