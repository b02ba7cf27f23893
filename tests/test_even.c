// A part of each stage that tells what all of it does: the same times as those of all ranks.
#include "models/workload/step/lower_internal.h"
#include "sim/digest.h"
#include "sim/random.h"
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
    layout->cp = PICK(random, 1, 1, 2, 4);
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

LONG_TEST(1, parts_that_repeat_tell_the_times_of_all_ranks) {
    int ran = 0, by_part = 0, not_by_part = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        RandomStream random = random_stream(seed, "even parts", 0);
        static const char *const nodes[] = {"dgx-a100", "dgx-h100", "gb200-nvl72", "dgx-b200"};
        const char *node = nodes[random_below(&random, 4)];
        int gpus = random_below(&random, 4) == 0 ? PICK(&random, 96, 144, 288, 40) : PICK(&random, 32, 64, 128, 256);
        Case c;
        case_open_on(&c, node, "ib-hdr200", gpus, "gpt2-124m");
        TransformerShape shape = {
            .layers = 16, .hidden = 512, .heads = 16, .ffn = 2048, .vocab = 8192, .causal = true, .rms_norm = true};
        c.model = *model_transformer(c.arena, &shape, (Where){0}, c.problems);
        draw_fabric(&c, &random);
        draw_layout(&c, &random, gpus);
        SimulationOptions options = {.assume_fits = true};
        SimulatedStep quick = simulate_step(c.arena, c.cluster, &c.training, &options, c.problems);
        if (quick.ran) {
            Lowering l = {.arena = c.arena, .cluster = c.cluster, .training = &c.training};
            EvenPart part;
            bool has_part = start_lowering(&l, c.problems) && find_even_part(&l, &part);
            options.keeps_system = true;
            SimulatedStep whole = simulate_step(c.arena, c.cluster, &c.training, &options, c.problems);
            EXPECT(whole.ran);
            const Layout *said = &c.training.layout;
            if (quick.digest != whole.digest)
                test_fail(
                    __FILE__, __LINE__,
                    "seed %d, %s, gpus %d tp %d pp %d cp %d ep %d etp %d zero %d shard %d: %.17g, all ranks %.17g",
                    (int)seed, node, gpus, said->tp, said->pp, said->cp, said->ep, said->etp, said->zero, said->shard,
                    quick.step_p50_s, whole.step_p50_s);
            ran++;
            by_part += has_part;
            not_by_part += !has_part;
        }
        arena_close(c.arena);
    }
    EXPECT(ran > 150);
    EXPECT(by_part > 30 && not_by_part > 20);
}
