// Spares, interval and storage chosen together: against every way of a small job, and laws that hold for any.
#include "models/workload/life/life.h"

#include <math.h>
#include <string.h>

#include "scenarios/questions/goodput.h"
#include "sim/data/json.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

#define DAY 86400.0

static LifeWish wish_of(const StorageType *const *storage) {
    const NodeType *node = catalogue_node(test_catalogue(), "dgx-h100");
    LifeWish wish = {.spec = {.nodes = 64, .shape = 1, .bad_factor = 1, .restart_s = 600, .repair_s = 12 * 3600.0},
                     .mode = CHECKPOINT_SYNC,
                     .bytes = 1e12,
                     .node = node,
                     .gpu = node_gpu(test_catalogue(), node, 0),
                     .storages = storage,
                     .storage_count = 1,
                     .spares = -1,
                     .node_price = 20,
                     .storage_price = 1,
                     .confidence = 0.8,
                     .runs = 60,
                     .seed = 1};
    wish.spec.work_s = 10 * DAY;
    wish.spec.faults[FAULT_GPU] = (LifeFault){.node_rate = 1 / (60 * DAY), .needs_repair = true};
    wish.spec.faults[FAULT_SOFTWARE] = (LifeFault){.node_rate = 1 / (90 * DAY)};
    return wish;
}

// Small-exhaustive: every number of spares and of units, at the interval of the formula, under the same failures.
TEST(no_way_of_a_small_job_is_much_cheaper_than_the_one_chosen) {
    Arena *arena = arena_open();
    const StorageType *storage = catalogue_storage(test_catalogue(), "superpod-storage");
    LifeWish wish = wish_of(&storage);
    LifeChoice choice = life_choose(arena, &wish);
    double least = INFINITY;
    for (int spares = 0; spares <= 6; spares++) {
        for (int units = 1; units <= 4; units++) {
            double mtbf = 1 / life_unplanned_rate(&wish.spec), stall = 1e12 / (62e9 * units);
            LifeWay way = life_way(arena, &wish, spares, storage, units, daly_interval(stall, mtbf));
            least = fmin(least, way.cost);
        }
    }
    EXPECT(choice.best.cost <= 1.003 * least);
    EXPECT(choice.best.spares >= 1 && choice.best.spares <= 6);
    for (int i = 0; i < choice.other_count; i++) EXPECT(choice.others[i].way.cost > 0.998 * choice.best.cost);
    EXPECT(choice.best_twice.cost <= 1.002 * choice.twice.cost && choice.twice.cost > choice.best.cost);
    arena_close(arena);
}

// Formula: the bill of a way is its hours times what nodes, spares and storage cost in each.
TEST(the_cost_of_a_way_is_its_days_times_its_price) {
    Arena *arena = arena_open();
    const StorageType *storage = catalogue_storage(test_catalogue(), "superpod-storage");
    LifeWish wish = wish_of(&storage);
    LifeWay way = life_way(arena, &wish, 3, storage, 2, 1800);
    EXPECT_NEAR(way.price_per_hour, 20 * 67 + 2 * 52, 1e-12);
    EXPECT_NEAR(way.cost, way.price_per_hour * 24 * way.days.mean, 1e-12);
    EXPECT_INT(way.goodput.count, 60);
    wish.spec.work_s = 0, wish.spec.horizon_s = 10 * DAY;
    way = life_way(arena, &wish, 3, storage, 2, 1800);
    EXPECT_NEAR(way.cost, way.price_per_hour * 24 / way.goodput.mean, 1e-12);
    arena_close(arena);
}

TEST(a_date_that_is_near_buys_more_spares_and_storage_or_is_said_to_be_missed) {
    Arena *arena = arena_open();
    const StorageType *storage = catalogue_storage(test_catalogue(), "superpod-storage");
    LifeWish wish = wish_of(&storage);
    LifeChoice open = life_choose(arena, &wish);
    EXPECT(open.keeps_date && isnan(open.best.by_chance));
    wish.by_s = DAY * open.best.days.p50;
    wish.confidence = 0.9;
    LifeChoice soon = life_choose(arena, &wish);
    EXPECT(soon.best.cost >= open.best.cost);
    if (soon.keeps_date) EXPECT(soon.best.by_chance >= 0.9);
    wish.by_s = 10 * DAY; // not even without a failure
    LifeChoice never = life_choose(arena, &wish);
    EXPECT(!never.keeps_date && never.best.by_chance == 0);
    arena_close(arena);
}

TEST(what_is_given_is_not_chosen) {
    Arena *arena = arena_open();
    const StorageType *storage = catalogue_storage(test_catalogue(), "superpod-storage");
    LifeWish wish = wish_of(&storage);
    wish.spares = 4, wish.storage_units = 3, wish.every_s = 1234;
    LifeChoice choice = life_choose(arena, &wish);
    EXPECT_INT(choice.best.spares, 4);
    EXPECT_INT(choice.best.units, 3);
    EXPECT_NEAR(choice.best.checkpoint.every_s, 1234, 0);
    EXPECT_INT(choice.tried, 1);
    EXPECT_INT(choice.other_count, 0);
    arena_close(arena);
}

TEST(goodput_best_answers_twice_the_same_in_json_and_says_what_it_needs) {
#define ASKED "goodput --gpus 256 --work 5d --checkpoint-size 1TB --best --price 2.5 --runs 20"
    Arena *arena = arena_open();
    const char *first = arena_copy_text(arena, run_command(command_goodput, ASKED " --by 8d --json")->out);
    const Ended *ended = run_command(command_goodput, ASKED " --by 8d --json");
    EXPECT_TEXT(ended->out, first);
    Problems *problems = problems_create(arena);
    const Json *json = json_read_text(arena, "answer", first, strlen(first), problems);
    EXPECT(json && json_get(json, "best") && json_get(json_get(json, "best"), "chance_by"));
    ended = run_command(command_goodput, ASKED);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "What storage costs is assumed");
    ended = run_command(command_goodput, "goodput --gpus 256 --work 5d --best");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "--model or --checkpoint-size");
    ended = run_command(command_goodput, "goodput --gpus 256 --days 5d --by 6d");
    EXPECT_CONTAINS(ended->err, "there is none to do");
    ended = run_command(command_goodput, ASKED " --confidence 3 --by 8d");
    EXPECT_CONTAINS(ended->err, "between 0 and 1");
    arena_close(arena);
#undef ASKED
}
