// Two designs in money: rows that add up, no order preferred, the same cost as `lockstep run` says.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/commands/command_run.h"
#include "scenarios/questions/cost.h"
#include "sim/base/random.h"
#include "tests/command.h"
#include "tests/test.h"

static double drawn(RandomStream *random) { return 0.1 + 10 * random_uniform(random); }

static DesignRows draw_rows(RandomStream *random, int first) {
    DesignRows rows = {0};
    for (int i = first; i < first + 3; i++) {
        DesignRow *row = &rows.items[rows.count++];
        snprintf(row->name, sizeof row->name, "part %d", i);
        snprintf(row->title, sizeof row->title, "Part %d", i);
        row->value = drawn(random);
    }
    return rows;
}

static double sum_of(const DesignRows *rows) {
    double sum = 0;
    for (int i = 0; i < rows->count; i++) sum += rows->items[i].value;
    return sum;
}

static Design draw_design(RandomStream *random, int first) {
    Design design = {.samples = 1e4 * drawn(random), .longer = 1 + drawn(random) / 20, .rest = drawn(random)};
    design.seconds = draw_rows(random, first);
    design.prices = draw_rows(random, first);
    design.cost =
        design.samples * design.longer * sum_of(&design.seconds) / 3600 * sum_of(&design.prices) + design.rest;
    return design;
}

static double total_of(const Comparison *comparison) {
    double sum = 0;
    for (int i = 0; i < comparison->row_count; i++) sum += comparison->rows[i].cost;
    return sum;
}

TEST(rows_of_two_designs_add_up_to_the_difference_of_their_costs) {
    for (uint64_t seed = 1; seed <= 200; seed++) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "two designs", 0);
        Design a = draw_design(&random, 0),
               b = draw_design(&random, (int)random_below(&random, 3)); // parts that one lacks
        Comparison there = designs_compare(arena, &a, &b), back = designs_compare(arena, &b, &a);
        EXPECT_NEAR(total_of(&there), b.cost - a.cost, 1e-9 * (fabs(a.cost) + fabs(b.cost)));
        EXPECT_NEAR(total_of(&back), -total_of(&there), 1e-9 * (fabs(a.cost) + fabs(b.cost)));
        Comparison same = designs_compare(arena, &a, &a);
        for (int i = 0; i < same.row_count; i++) EXPECT_NEAR(same.rows[i].cost, 0, 0);
        arena_close(arena);
    }
}

// The twin: every order of changing length, speed, failures and price, one after the other.
TEST(a_row_is_the_mean_over_all_orders_of_changing) {
    Arena *arena = arena_open();
    RandomStream random = random_stream(7, "two designs", 1);
    Design a = draw_design(&random, 0), b = draw_design(&random, 0);
    const double of_a[] = {a.samples, sum_of(&a.seconds) / 3600, a.longer, sum_of(&a.prices)};
    const double of_b[] = {b.samples, sum_of(&b.seconds) / 3600, b.longer, sum_of(&b.prices)};
    double mean[4] = {0};
    for (int code = 0; code < 256; code++) {
        int order[] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3}, seen = 0;
        double now[4];
        memcpy(now, of_a, sizeof now);
        for (int i = 0; i < 4; i++) seen |= 1 << order[i];
        for (int i = 0; i < 4 && seen == 15; i++) {
            double before = now[0] * now[1] * now[2] * now[3];
            now[order[i]] = of_b[order[i]];
            mean[order[i]] += (now[0] * now[1] * now[2] * now[3] - before) / 24;
        }
    }
    Comparison comparison = designs_compare(arena, &a, &b);
    double groups[4] = {0};
    for (int i = 0; i < comparison.row_count; i++) {
        const CompareRow *row = &comparison.rows[i];
        bool seconds = row->group && strstr(row->group, "seconds"), price = row->group && strstr(row->group, "price");
        int group = !strcmp(row->name, "samples") ? 0 : seconds ? 1 : !strcmp(row->name, "longer") ? 2 : price ? 3 : -1;
        if (group >= 0) groups[group] += row->cost;
    }
    for (int f = 0; f < 4; f++) EXPECT_NEAR(groups[f], mean[f], 1e-9 * (fabs(a.cost) + fabs(b.cost)));
    arena_close(arena);
}

#define SMALL "--model gpt2-124m --tokens 1B --global-batch 64 --seq 1024 "

static double number_after(const char *text, const char *key) {
    const char *at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

TEST(a_design_costs_what_run_says_and_both_have_the_same_providers) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Design design;
    int status;
    const char *words = SMALL "--node dgx-a100 --gpus 8 --price 2";
    EXPECT(design_simulate(arena, words, &design, &status, problems));
    char line[512];
    snprintf(line, sizeof line, "run %s --json", words);
    EXPECT_NEAR(design.cost, number_after(run_command(command_run, line)->out, "\"per_run\": "), 1e-9 * design.cost);
    double cost =
        design.samples * design.longer * sum_of(&design.seconds) / 3600 * sum_of(&design.prices) + design.rest;
    EXPECT_NEAR(design.cost, cost, 1e-9 * cost);
    EXPECT_NEAR(sum_of(&design.prices), 2, 1e-12);
    arena_close(arena);
}

TEST(designs_that_cannot_be_compared_say_why) {
    Arena *arena = arena_open();
    static const struct {
        const char *words, *why;
    } cases[] = {
        {"--model gpt2-124m --node dgx-a100 --gpus 8 --price 2 --global-batch 64", "how long its run is"},
        {SMALL "--node hgx-h20-8 --gpus 8", "nobody says what its machines cost"},
        {"--model llama-3.1-70b --tokens 1B --node dgx-a100 --gpus 8 --price 2 --global-batch 8", "it does not run: "},
        {"nosuch.lua", "was not simulated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Problems *problems = problems_create(arena);
        Design design;
        int status = 0;
        EXPECT(!design_simulate(arena, cases[i].words, &design, &status, problems));
        EXPECT(status != 0 && problem_count(problems) == 1);
        if (problem_count(problems)) EXPECT_CONTAINS(problem_at(problems, 0)->text, cases[i].why);
    }
    arena_close(arena);
    EXPECT_INT(run_command(command_cost, "cost --a x.lua")->code, 2);
}

// Scripts, each within its own wall; a discount of one is a row of its own.
TEST(two_scripts_are_compared_and_the_rows_on_the_screen_add_up) {
    static const char *const words[] = {"gpus = 16, fabric = \"ib-ndr400\", price = { gpu_hour = 3, discount = 0.1 }",
                                        "gpus = 8, price = { gpu_hour = 3 }"};
    char path[2][64], line[256];
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "/tmp/lockstep-design-%d-%d.lua", (int)getpid(), i);
        FILE *file = fopen(path[i], "w");
        fprintf(
            file,
            "local sim = require \"lockstep\"\nreturn sim.study { on = sim.cluster { node = \"dgx-h100\", %s },\n"
            "  run = sim.training { model = \"gpt2-124m\", tokens = \"1B\", batch = { global = 64, micro = 4 } } }\n",
            words[i]);
        fclose(file);
    }
    snprintf(line, sizeof line, "cost --a %s --b %s --json", path[0], path[1]);
    const char *out = run_command(command_cost, line)->out;
    double sum = 0, difference = number_after(out, "\"difference\": ");
    int rows = 0;
    for (const char *at = strstr(out, "\"rows\""); at && (at = strstr(at, "\"cost\": ")); at++, rows++)
        sum += number_after(at, "\"cost\": ");
    EXPECT(rows >= 5 && fabs(difference) > 0);
    EXPECT_NEAR(sum, difference, 1e-9);
    EXPECT_CONTAINS(out, "\"name\": \"discount\"");
    for (int i = 0; i < 2; i++) remove(path[i]);
}
