// What FSDP, ZeRO and context parallelism must obey: folding is exact, traffic and memory follow their formulas, what
// does not divide is refused.
#include "models/workload/step/simulate.h"
#include "models/workload/step/stage.h"
#include "tests/test.h"

typedef struct Case {
    Arena *arena;
    Problems *problems;
    const Catalogue *catalogue;
    NodeGroup group;
    ClusterSpec spec;
    const Cluster *cluster;
    TrainingSpec training;
} Case;

static void case_open(Case *c, int gpus, const char *model) {
    *c = (Case){.arena = arena_open()};
    c->problems = problems_create(c->arena);
    c->catalogue = catalogue_builtin(c->arena);
    c->group = (NodeGroup){.type = catalogue_node(c->catalogue, "dgx-a100"), .gpus = gpus};
    c->spec = (ClusterSpec){.groups = &c->group,
                            .group_count = 1,
                            .link = catalogue_link(c->catalogue, "ib-hdr200"),
                            .fabric = FABRIC_FAT_TREE,
                            .rail_optimised = true,
                            .oversubscription = 1,
                            .price_per_gpu_hour = -1};
    c->cluster = cluster_create(c->arena, c->catalogue, &c->spec, c->problems);
    c->training = (TrainingSpec){.model = find_model(c->arena, model, (Where){0}, c->problems),
                                 .layout = {.tp = 1, .pp = 1, .vpp = 1},
                                 .schedule = SCHEDULE_1F1B,
                                 .seq_len = 512,
                                 .micro_batch = 2,
                                 .precision = BF16,
                                 .mixed_precision = true,
                                 .framework = FRAMEWORK_MEGATRON,
                                 .attention = ATTENTION_FLASH,
                                 .optimizer = OPTIMIZER_ADAM,
                                 .bucket_bytes = 25 << 20,
                                 .overlap_grad_reduce = true};
}

static SimulatedStep simulate(Case *c, bool unfolded) {
    SimulationOptions options = {.unfolded = unfolded, .though_full = true};
    return simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
}

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
                            SimulatedStep folded = simulate(&c, false), whole = simulate(&c, true);
                            if (!folded.ran) problems_print(c.problems, stdout);
                            EXPECT(folded.ran && whole.ran);
                            if (folded.digest != whole.digest)
                                test_fail(__FILE__, __LINE__, "gpus %d tp %d pp %d cp %d zero %d shard %d differ", gpus,
                                          tp, pp, cp, zero, shard);
                            ran++;
                            arena_close(c.arena);
                        }
    EXPECT(ran > 150);
}

static int transfers(const Lowered *lowered, int slot) {
    const Program *program = &lowered->system->programs[lowered->system->actors[0].program];
    int count = 0;
    for (int s = 0; s < program->stream_count; s++)
        for (int64_t i = 0; i < program->streams[s].count; i++)
            count += program->streams[s].ops[i].kind == OP_TRANSFER && program->streams[s].ops[i].slot == slot;
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
    for (int cp = 2; cp <= 8; cp *= 2) {
        c.training.layout.cp = cp;
        BlockCost part = block_cost(c.training.model, 1, &c.training, 2, gpu);
        EXPECT_NEAR(part.matmul_flops * cp, whole.matmul_flops, 1e-12);
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
