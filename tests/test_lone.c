// Collectives of a step that stay one transfer at fidelity flow, because their messages meet nobody: the times of a
// step that writes out all of its messages.
#include "models/workload/lower/lower_internal.h"
#include "sim/base/random.h"
#include "tests/child.h"
#include "tests/jobs.h"
#include "tests/test.h"

static int pick(RandomStream *random, const int *list, int count) {
    return list[random_below(random, (uint64_t)count)];
}
#define PICK(random, ...) pick(random, (const int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

static void draw_fabric(Case *c, RandomStream *random) {
    static const double speeds[] = {1, 1, 0.5, 1, 1, 1, 1, 1};
    c->spec.fabric = PICK(random, 0, 1, 1) ? FABRIC_FAT_TREE : FABRIC_SINGLE_SWITCH;
    c->spec.nodes_per_leaf = PICK(random, 1, 2, 3, 4);
    c->spec.rail_optimised = PICK(random, 0, 1) == 1;
    c->spec.oversubscription = PICK(random, 1, 1, 2);
    if (PICK(random, 0, 0, 0, 1)) c->spec.link_speed = speeds, c->spec.link_speed_count = 8;
    case_build(c);
}

static void draw_job(Case *c, RandomStream *random, int gpus) {
    Layout *layout = &c->training.layout;
    *layout = (Layout){.tp = PICK(random, 1, 1, 2, 4, 8, 8), .pp = PICK(random, 1, 1, 2, 4), .vpp = 1, .cp = 1};
    if (PICK(random, 0, 0, 1)) layout->cp = 2;
    if (layout->pp > 1 && PICK(random, 0, 0, 1)) layout->vpp = 2;
    layout->zero = layout->pp > 1 ? PICK(random, 0, 1) : PICK(random, 0, 1, 2, 3);
    if (layout->zero) layout->shard = PICK(random, 0, 0, 4, 8);
    layout->sequence_parallel = layout->tp > 1 && PICK(random, 0, 1);
    if (PICK(random, 0, 0, 1)) {
        c->model.experts = (ExpertShape){.count = 8, .per_token = 2, .ffn = 1024, .every = 2};
        layout->ep = PICK(random, 2, 4, 8);
    }
    c->training.by_messages = true;
    c->training.schedule = layout->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
    c->training.overlap_grad_reduce = PICK(random, 0, 1);
    c->training.overlap_param_gather = PICK(random, 0, 1) && layout->zero;
    c->training.straggler = PICK(random, 0, 0, 0, 0, 0, 1) ? 1.25 : 1;
    c->training.micro_batch = 1;
    int replicas = gpus / (layout->tp * layout->pp * layout->cp);
    c->training.global_batch = 2.0 * layout->pp * (replicas > 0 ? replicas : 1);
}

typedef struct Count {
    int ran, fewer, some;
} Count;

static void compare_with_all_messages(Case *c, uint64_t seed, Count *count) {
    SimulationOptions options = {.assume_fits = true};
    SimulatedStep quick = simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
    if (!quick.ran) return;
    options.all_micro_batches = true;
    SimulatedStep slow = simulate_step(c->arena, c->cluster, &c->training, &options, c->problems);
    EXPECT(slow.ran);
    count->ran++;
    count->fewer += quick.event_count < slow.event_count;
    count->some += quick.event_count < slow.event_count && quick.event_count > 0;
    const Layout *said = &c->training.layout;
    if (quick.digest != slow.digest)
        test_fail(__FILE__, __LINE__, "seed %d, %s, gpus %d tp %d pp %d cp %d ep %d zero %d: %.17g, all messages %.17g",
                  (int)seed, c->group.type->name, c->group.gpus, said->tp, said->pp, said->cp, said->ep, said->zero,
                  quick.step_p50_s, slow.step_p50_s);
    for (int cause = 0; cause < CAUSE_COUNT; cause++) EXPECT_SAME(quick.spent[cause], slow.spent[cause]);
}

LONG_TEST(2, collectives_that_meet_nobody_take_the_times_of_their_messages) {
    Count count = {0};
    for (uint64_t seed = 1; seed <= (uint64_t)MANY(300); seed++) {
        RandomStream random = random_stream(seed, "lone collectives", 0);
        static const char *const nodes[] = {"dgx-a100", "dgx-h100", "gb200-nvl72", "dgx-1-v100", "lambda-scalar-a100"};
        Case c;
        int gpus = PICK(&random, 8, 16, 32);
        case_open_on(&c, nodes[random_below(&random, 5)], "ib-hdr200", gpus, "gpt2-124m");
        TransformerShape shape = {.layers = 8, .hidden = 512, .heads = 16, .ffn = 2048, .vocab = 8192, .causal = true};
        c.model = *model_transformer(c.arena, &shape, (Where){0}, c.problems);
        draw_fabric(&c, &random);
        draw_job(&c, &random, gpus);
        compare_with_all_messages(&c, seed, &count);
        arena_close(c.arena);
    }
    EXPECT(count.ran > MANY(100));
    EXPECT(count.fewer > MANY(12) && count.some > MANY(4)); // all of them stay whole, or some
}
