// Ways to run a long job, one thing changed: what each costs at both ends of its lives, and that there is such a way.
#include "models/workload/life/life.h"

#include <math.h>

#include "tests/script.h"
#include "tests/test.h"

#define DAY 86400.0

static LifeWish wish_of(const StorageType *const *storage, double bytes) {
    const NodeType *node = catalogue_node(test_catalogue(), "dgx-h100");
    LifeWish wish = {.spec = {.nodes = 32, .shape = 1, .bad_factor = 1, .restart_s = 600, .repair_s = 12 * 3600.0},
                     .mode = CHECKPOINT_SYNC,
                     .bytes = bytes,
                     .node = node,
                     .gpu = node_gpu(test_catalogue(), node, 0),
                     .storages = storage,
                     .storage_count = 1,
                     .spares = -1,
                     .node_price = 20,
                     .storage_price = 1,
                     .confidence = 0.8,
                     .runs = 40,
                     .seed = 1};
    wish.spec.work_s = 10 * DAY;
    wish.spec.faults[FAULT_GPU] = (LifeFault){.node_rate = 1 / (60 * DAY), .needs_repair = true};
    wish.spec.faults[FAULT_SOFTWARE] = (LifeFault){.node_rate = 1 / (90 * DAY)};
    return wish;
}

// Work to do costs most where it takes longest; a calendar costs most, per day of training, where least is trained.
TEST(what_a_way_costs_at_its_ends_follows_its_days_or_its_goodput) {
    Arena *arena = arena_open();
    const StorageType *storage = catalogue_storage(test_catalogue(), "superpod-storage");
    LifeWish wish = wish_of(&storage, 1e12);
    LifeWay way = life_way(arena, &wish, 1, storage, 1, 1800);
    double day = 24 * way.price_per_hour;
    EXPECT_NEAR(way.cost_p5, day * way.days.p5, 1e-12);
    EXPECT_NEAR(way.cost_p95, day * way.days.p95, 1e-12);
    EXPECT(way.cost_p5 < way.cost && way.cost < way.cost_p95);
    wish.spec.work_s = 0, wish.spec.horizon_s = 10 * DAY;
    way = life_way(arena, &wish, 1, storage, 1, 1800);
    EXPECT_NEAR(way.cost_p5, day / way.goodput.p95, 1e-12);
    EXPECT_NEAR(way.cost_p95, day / way.goodput.p5, 1e-12);
    EXPECT(way.cost_p5 < way.cost && way.cost < way.cost_p95);
    arena_close(arena);
}

// Half of one unit is none, and no way.
TEST(each_way_beside_the_best_differs_in_one_thing_and_has_storage) {
    Arena *arena = arena_open();
    const StorageType *storage = catalogue_storage(test_catalogue(), "superpod-storage");
    static const double bytes[] = {1e9, 2e13};
    bool is_one = false, is_more = false;
    for (int i = 0; i < 2; i++) {
        LifeWish wish = wish_of(&storage, bytes[i]);
        wish.spares = i ? 0 : -1;
        wish.node_price = i ? 2000 : 20; // time is dear beside storage
        LifeChoice choice = life_choose(arena, &wish);
        const LifeWay *best = &choice.best;
        int less = 0;
        for (int k = 0; k < choice.other_count; k++) {
            const LifeWay *way = &choice.others[k].way;
            bool spares = way->spares != best->spares, units = way->units != best->units,
                 every = way->checkpoint.every_s != best->checkpoint.every_s;
            EXPECT(way->units >= 1);
            EXPECT_INT(spares + units + (every && !units), 1); // other storage has its own interval
            if (units) EXPECT(way->units == 2 * best->units || way->units == best->units / 2);
            less += way->units < best->units;
        }
        EXPECT_INT(less, best->units > 1);
        is_one = is_one || best->units == 1;
        is_more = is_more || best->units > 1;
    }
    EXPECT(is_one && is_more);
    arena_close(arena);
}

// A date that none keeps surely: what is chosen keeps it no less often than what would be cheapest without it.
TEST(a_date_is_never_kept_less_often_for_having_been_asked_for) {
    Arena *arena = arena_open();
    const StorageType *storage = catalogue_storage(test_catalogue(), "superpod-storage");
    LifeWish wish = wish_of(&storage, 4e12);
    LifeWay open = life_choose(arena, &wish).best;
    static const double days[] = {1.0, 0.99, 0.97};
    int missed = 0;
    for (int i = 0; i < 3; i++) {
        wish.by_s = days[i] * open.days.p50 * DAY;
        wish.confidence = 0.999;
        LifeWay same = life_way(arena, &wish, open.spares, open.storage, open.units, open.checkpoint.every_s);
        LifeChoice dated = life_choose(arena, &wish);
        EXPECT(dated.best.by_chance >= same.by_chance);
        EXPECT(dated.best.cost >= open.cost * (1 - 1e-9) || dated.best.by_chance > same.by_chance);
        missed += !dated.keeps_date;
    }
    EXPECT(missed > 0);
    arena_close(arena);
}

// Where a checkpoint stops nobody there is no interval too short: the search begins at one above 0 and gives one.
TEST(the_best_interval_of_checkpoints_that_cost_nothing_is_short_and_above_0) {
    LifeSpec spec = {.nodes = 1, .shape = 1, .bad_factor = 1, .horizon_s = 40 * DAY};
    spec.faults[FAULT_SOFTWARE].node_rate = 1 / DAY;
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_SYNC};
    double best = life_best_interval(&spec, 8, 1);
    EXPECT(isfinite(best) && best > 0 && best < 600);
}

// A second between checkpoints that cost minutes, of machines that hardly fail: none but that at the end pays.
TEST(the_best_interval_is_no_longer_than_the_run) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    LifeSpec spec =
        life_spec(arena, catalogue_faults(catalogue, FAULTS_USUAL), catalogue_node(catalogue, "dgx-h100"), 2);
    spec.horizon_s = 5 * 86400;
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_SYNC, .stall_s = 300, .write_s = 300, .every_s = 1800};
    double best = life_best_interval(&spec, 40, 1);
    EXPECT(best > 0.5 * 86400 && best <= spec.horizon_s);
    arena_close(arena);
}
