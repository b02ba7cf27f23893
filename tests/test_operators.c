// A layer as a list of operators: its sums are the model's, its shapes multiply what it says, shards are the whole.
#include <math.h>

#include "models/workload/model/model_internal.h"
#include "tests/test.h"

static const Model *named(Arena *arena, const char *name) {
    return find_model(arena, name, (Where){NULL, 0}, problems_create(arena));
}

static OperatorList operators_in(const Model *model, int block, const Portion *portion) {
    OperatorList operators;
    block_operators(model, block, portion, &operators);
    return operators;
}

static const Operator *find_operator(const OperatorList *operators, const char *name) {
    for (int i = 0; i < operators->count; i++)
        if (strcmp(operators->items[i].name, name) == 0) return &operators->items[i];
    return NULL;
}

TEST(operators_of_every_model_hold_its_parameters_and_multiply_what_their_shapes_say) {
    int count = 0;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++) {
        Arena *arena = arena_open();
        const Model *model = named(arena, names[i]);
        double parameters = 0, flops = 0;
        for (int block = 0; block < model->block_count; block++) {
            Portion portion = portion_of_sample(model, block, 256);
            OperatorList operators = operators_in(model, block, &portion);
            parameters += all_weights(&operators);
            flops += operator_flops(&operators);
            for (int o = 0; o < operators.count; o++) {
                const Operator *one = &operators.items[o];
                EXPECT(one->name && one->read > 0 && one->written > 0);
                if (one->k > 0) EXPECT_NEAR(one->flops, 2 * one->batch * one->m * one->n * one->k, 1e-12);
            }
        }
        EXPECT_NEAR(parameters, model_parameters(model), 1e-12);
        EXPECT_NEAR(flops, model_forward_flops_per_sample(model, 256), 1e-12);
        arena_close(arena);
    }
}

// With sequence parallelism nothing of a layer is worked out twice.
TEST(shards_of_a_layer_multiply_and_keep_what_the_whole_does) {
    Arena *arena = arena_open();
    static const char *const names[] = {"gpt3-175b", "llama-2-70b", "mixtral-8x7b", "t5-11b"};
    for (int i = 0; i < 4; i++) {
        const Model *model = named(arena, names[i]);
        int block = model->layers;
        Portion portion = portion_of_sample(model, block, 2048);
        OperatorList whole = operators_in(model, block, &portion);
        portion.tp = portion.etp = 8;
        portion.share = 1.0 / 8;
        OperatorList shard = operators_in(model, block, &portion);
        EXPECT_NEAR(8 * operator_flops(&shard), operator_flops(&whole), 1e-12);
        EXPECT_NEAR(all_weights(&shard), all_weights(&whole), 0);
        for (int o = 0; o < whole.count; o++) {
            if (whole.items[o].part == PART_EXPERTS) continue; // routed tokens are on every GPU of the group
            for (int k = 0; k < 3; k++)
                EXPECT_NEAR(8 * shard.items[o].kept[k].elements, whole.items[o].kept[k].elements, 1e-12);
        }
    }
    arena_close(arena);
}

TEST(experts_on_many_gpus_multiply_what_they_do_on_one) {
    Arena *arena = arena_open();
    const Model *model = named(arena, "mixtral-8x7b");
    Portion portion = portion_of_sample(model, 1, 4096);
    OperatorList one = operators_in(model, 1, &portion);
    portion.ep = 8; // each rank takes in from all eight what its expert is to do, and all are equally busy
    OperatorList spread = operators_in(model, 1, &portion);
    const Operator *all = find_operator(&one, "experts_up"), *own = find_operator(&spread, "experts_up");
    EXPECT_NEAR(all->batch, 8, 0);
    EXPECT_NEAR(own->batch, 1, 0);
    EXPECT_NEAR(own->m, 2 * 4096, 0);
    EXPECT_NEAR(own->flops, all->flops, 0);
    arena_close(arena);
}

// A convolution keeps its output for the norm, the norm its own for the next layer; a pool keeps which pixel won. What
// has no backward keeps nothing.
TEST(a_network_keeps_what_its_layers_and_norms_give) {
    Arena *arena = arena_open();
    Portion portion = {.samples = 3};
    double pixels = 224 * 224, out = 64 * pixels / 4;
    OperatorList stem = operators_in(named(arena, "resnet-50"), 0, &portion);
    EXPECT_INT(stem.count, 4);
    const Operator *conv = &stem.items[0], *norm = find_operator(&stem, "batch_norm");
    const Operator *pool = find_operator(&stem, "max_pool");
    EXPECT_NEAR(conv->fed, 3 * 3 * pixels, 0);
    EXPECT_NEAR(conv->kept[0].elements, 3 * out, 0);
    EXPECT_INT(conv->kept[2].as, KEPT_PIXELS);
    EXPECT_NEAR(conv->kept[2].elements, conv->fed, 0);
    EXPECT_NEAR(norm->kept[0].elements, 3 * out, 0);
    EXPECT_NEAR(pool->written, 3 * out / 4, 0);
    EXPECT_INT(find_operator(&stem, "activation")->kept[0].as, KEPT_NOT);

    OperatorList frozen = operators_in(named(arena, "retinanet-resnet-50"), 0, &portion);
    for (int i = 0; i < frozen.count; i++)
        for (int k = 0; k < 3; k++) EXPECT_NEAR(frozen.items[i].kept[k].elements, 0, 0);
    arena_close(arena);
}

static bool enters(const Operator *one) { return one->region >= REGION_ENTERS && one->region <= REGION_ENTERS_SOURCE; }

// Tokens that go to experts come back, what is split by columns is summed by rows, and what is counted for half a layer
// is counted for each half: attention, that to a source, the MLP.
TEST(what_a_layer_enters_it_leaves) {
    int count = 0;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++) {
        Arena *arena = arena_open();
        const Model *model = named(arena, names[i]);
        for (int block = 1; model->kind == MODEL_TRANSFORMER && block <= model->layers; block++) {
            Portion portion = portion_of_sample(model, block, 256);
            OperatorList layer = operators_in(model, block, &portion);
            int halves[3] = {0}, away = 0, cores = 0;
            bool inside = false;
            for (int o = 0; o < layer.count; o++) {
                const Operator *one = &layer.items[o];
                for (int bit = 0; bit < 3; bit++) halves[bit] += one->half >> bit & 1;
                cores += one->kind == OPERATOR_ATTENTION;
                away += (one->region == REGION_DISPATCHES) - (one->region == REGION_COMBINES);
                EXPECT(away == 0 || away == 1);
                if (one->kind == OPERATOR_ATTENTION) EXPECT(inside);
                if (enters(one)) inside = true;
                if (one->region == REGION_LEAVES) inside = false;
                if (one->half & HALF_PASSES) EXPECT(!inside);
            }
            EXPECT(!inside && away == 0);
            for (int bit = 0; bit < 3; bit++) EXPECT_INT(halves[bit], 1 + cores);
        }
        arena_close(arena);
    }
}
