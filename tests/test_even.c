// A part of each stage that tells what all of it does: the same times as those of all ranks.
#include "models/workload/lower/lower_internal.h"
#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "tests/jobs.h"
#include "tests/test.h"

static int pick(RandomStream *random, const int *list, int count) {
    return list[random_below(random, (uint64_t)count)];
}
#define PICK(random, ...) pick(random, (const int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

static void draw_fabric(Case *c, RandomStream *random) {
    int kind = PICK(random, 0, 1, 1, 1, 2, 3);
    c->spec.fabric = kind == 0 ? FABRIC_SINGLE_SWITCH : kind == 2 ? FABRIC_RAIL_ONLY : FABRIC_FAT_TREE;
    c->spec.nodes_per_leaf = PICK(random, 1, 2, 4, 8, 16, 32, 3);
    c->spec.rail_optimised = PICK(random, 0, 1, 1) == 1;
    c->spec.oversubscription = PICK(random, 1, 1, 1, 2);
    case_build(c);
}

static void draw_layout(Case *c, RandomStream *random, int gpus) {
    Layout *layout = &c->training.layout;
    *layout = (Layout){.tp = PICK(random, 1, 2, 4, 8, 8, 16), .pp = PICK(random, 1, 2, 4, 8), .vpp = 1};
    if (layout->pp > 1 && PICK(random, 0, 0, 1)) layout->vpp = 2;
    layout->cp = PICK(random, 1, 1, 2, 4, 0);
    if (!layout->cp)
        layout->cp = gpus >= layout->tp * layout->pp ? gpus / (layout->tp * layout->pp) : 1; // all of a stage
    layout->context = PICK(random, 0, 1) ? CONTEXT_ULYSSES : CONTEXT_RING;
    layout->zero = layout->pp > 1 ? PICK(random, 0, 1) : PICK(random, 0, 1, 2, 3);
    if (layout->zero) layout->shard = PICK(random, 0, 0, 4, 8);
    layout->sequence_parallel = layout->tp > 1;
    if (PICK(random, 0, 1)) {
        c->model.experts = (ExpertShape){.count = 8, .per_token = 2, .ffn = 1024, .every = 2};
        layout->ep = PICK(random, 1, 2, 4, 8);
        layout->etp = PICK(random, 0, 1);
    }
    int schedules[] = {SCHEDULE_1F1B, SCHEDULE_GPIPE, SCHEDULE_ZB_H1};
    c->training.schedule = layout->vpp > 1 ? SCHEDULE_INTERLEAVED : (Schedule)schedules[random_below(random, 3)];
    c->training.overlap_param_gather = PICK(random, 0, 1) && layout->zero;
    c->training.micro_batch = 1;
    int replicas = gpus / (layout->tp * layout->pp * layout->cp);
    c->training.global_batch = 2.0 * layout->pp * (replicas > 0 ? replicas : 1);
}

TEST(words_that_come_again_are_digested_as_word_by_word) {
    RandomStream random = random_stream(1, "words", 0);
    DigestWords seen = {0};
    uint64_t words[25], slow = DIGEST_START, quick = DIGEST_START;
    for (int i = 0; i < 25; i++) words[i] = random_bits(&random) >> random_below(&random, 64);
    for (int k = 0; k < 2000; k++) {
        for (int i = 0; i < 25; i++) slow = digest_u64(slow, words[i]);
        quick = digest_words_again(quick, words, 25, &seen);
        EXPECT(slow == quick);
    }
}

typedef struct Count {
    int ran, by_part;
} Count;

// The step as it is usually lowered, and as of all ranks.
static void compare_with_all_ranks(Case *c, uint64_t seed, Count *count) {
    SimulationOptions options = {.assume_fits = true};
    SimulatedStep quick = simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
    if (!quick.ran) return;
    Lowering l = {.arena = c->arena, .cluster = c->cluster, .training = &c->training};
    EvenPart part;
    count->ran++;
    count->by_part += start_lowering(&l, c->problems) && find_even_part(&l, &part);
    options.keeps_system = true;
    SimulatedStep whole = simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
    EXPECT(whole.ran);
    const Layout *said = &c->training.layout;
    if (quick.digest != whole.digest)
        test_fail(__FILE__, __LINE__,
                  "seed %d, %s, gpus %d tp %d pp %d cp %d ep %d etp %d zero %d shard %d: %.17g, all ranks %.17g",
                  (int)seed, c->group.type->name, c->group.gpus, said->tp, said->pp, said->cp, said->ep, said->etp,
                  said->zero, said->shard, quick.step_p50_s, whole.step_p50_s);
}

static void open_with_shape(Case *c, const char *node, int gpus, TransformerShape shape) {
    case_open_on(c, node, "ib-hdr200", gpus, "gpt2-124m");
    shape.vocab = 8192, shape.causal = true, shape.rms_norm = true;
    c->model = *model_transformer(c->arena, &shape, (Where){0}, c->problems);
}

LONG_TEST(1, parts_that_repeat_tell_the_times_of_all_ranks) {
    Count count = {0};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        RandomStream random = random_stream(seed, "even parts", 0);
        static const char *const nodes[] = {"dgx-a100", "dgx-h100", "gb200-nvl72", "dgx-b200"};
        const char *node = nodes[random_below(&random, 4)];
        int gpus = random_below(&random, 4) == 0 ? PICK(&random, 96, 144, 288, 40) : PICK(&random, 32, 64, 128, 256);
        Case c;
        open_with_shape(&c, node, gpus, (TransformerShape){.layers = 16, .hidden = 512, .heads = 16, .ffn = 2048});
        draw_fabric(&c, &random);
        draw_layout(&c, &random, gpus);
        compare_with_all_ranks(&c, seed, &count);
        arena_close(c.arena);
    }
    EXPECT(count.ran > 150);
    EXPECT(count.by_part > 30 && count.ran - count.by_part > 20);
}

// Large messages, in shares of 12, 24 or 48 ranks that are no whole numbers of what weights are counted in.
LONG_TEST(1, experts_over_several_nodes_of_a_tree_take_the_times_of_all_ranks) {
    Count count = {0};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        RandomStream random = random_stream(seed, "experts over nodes", 0);
        int gpus = PICK(&random, 96, 192, 288), ep = PICK(&random, 12, 16, 24, 48);
        Case c;
        open_with_shape(&c, PICK(&random, 0, 1) ? "dgx-a100" : "dgx-h100", gpus,
                        (TransformerShape){.layers = 4, .hidden = 4096, .heads = 32, .ffn = 8192});
        c.spec.nodes_per_leaf = PICK(&random, 1, 2, 3, 4, 6);
        c.spec.rail_optimised = PICK(&random, 0, 1);
        c.spec.oversubscription = PICK(&random, 1, 1, 2, 4);
        case_build(&c);
        c.model.experts = (ExpertShape){.count = 48, .per_token = 2, .ffn = 2048, .every = 1};
        c.training.layout = (Layout){.tp = PICK(&random, 1, 1, 8), .pp = PICK(&random, 1, 1, 2), .vpp = 1, .ep = ep};
        c.training.layout.zero = PICK(&random, 0, 1);
        c.training.seq_len = 4096;
        c.training.global_batch = 2.0 * gpus;
        compare_with_all_ranks(&c, seed, &count);
        arena_close(c.arena);
    }
    EXPECT(count.ran > 30);
}
