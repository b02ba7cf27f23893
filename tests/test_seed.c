// Seeds: 64 bits at every door, and two that differ are never one.
#include <string.h>

#include "sim/base/quantity.h"
#include "sim/data/json.h"
#include "sim/system/file.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

#define SCENARIO "scenarios/lessons/ddp_by_hand.lua"
#define LARGEST "18446744073709551615"
#define BEYOND_DOUBLES "9007199254740993" // 2^53 + 1
#define DRAWN                                                                                                          \
    "--model mixtral-8x7b --node dgx-h100 --gpus 64 --fabric ib-ndr400 --tp 1 --ep 8 --zero 3 --seq 1024 "             \
    "--micro-batch 1 "                                                                                                 \
    "--global-batch 64 --expert-dirichlet 1 "
#define JOB "--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024 "

// ---- Reading and writing.

TEST(a_seed_is_a_whole_number_of_64_bits_however_it_is_written) {
    static const struct {
        const char *text;
        uint64_t seed;
    } seeds[] = {{"0", 0},
                 {"7", 7},
                 {"007", 7},
                 {"7.0", 7},
                 {"1e3", 1000},
                 {"2k", 2000},
                 {"9e15", 9000000000000000},
                 {BEYOND_DOUBLES, UINT64_C(9007199254740993)},
                 {"18446744073709551614", UINT64_MAX - 1},
                 {LARGEST, UINT64_MAX},
                 {"00000000000000000000018446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        uint64_t seed = 5;
        bool read = seed_read(seeds[i].text, &seed);
        if (!read || seed != seeds[i].seed) test_fail(__FILE__, __LINE__, "%s is read as %ju", seeds[i].text, seed);
    }
}

TEST(what_is_no_seed_is_none) {
    static const char *const others[] = {"",     " ",     "-1",   "0.5", "0.7",  "1e308",
                                         "1e16", "0x10",  "nan",  "inf", "7s",   "18446744073709551616",
                                         "7 8",  "1e400", "seed", "-0",  "1,000"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        uint64_t seed = 5;
        if (seed_read(others[i], &seed) || seed != 5) test_fail(__FILE__, __LINE__, "\"%s\" is a seed", others[i]);
    }
}

// ---- Doors.

// Every command that has a seed, from its help: what is none is refused there, and the largest is taken.
TEST(every_command_that_has_a_seed_refuses_what_is_none) {
    static const char *const commands[] = {
        "run " SCENARIO, "explain " SCENARIO, "trace " SCENARIO, "diff x y",        "sweep",
        "queue",         "goodput",           "explain queue",   "explain goodput", "calibrate recovery",
        "calibrate fit", "validate kernels"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[256];
        snprintf(line, sizeof line, "$LOCKSTEP %s --help | grep -q -e '--seed N'", commands[i]);
        EXPECT_INT(shell(line), 0);
        snprintf(line, sizeof line, "$LOCKSTEP %s --seed 0.5", commands[i]);
        EXPECT_INT(shell(line), 2);
        EXPECT_CONTAINS(output, "\"0.5\" is no seed");
        snprintf(line, sizeof line, "$LOCKSTEP %s --seed " LARGEST " --nonsense", commands[i]);
        EXPECT_INT(shell(line), 2);
        if (strstr(output, "seed")) test_fail(__FILE__, __LINE__, "%s: %s", line, output);
    }
}

TEST(a_64_bit_seed_comes_out_as_it_went_in) {
    clear();
    EXPECT_INT(shell("$LOCKSTEP run " JOB "--seed " LARGEST " --json | grep '\"seed\"'"), 0);
    EXPECT_TEXT(output, "  \"seed\": \"" LARGEST "\",\n");
    EXPECT_INT(shell("$LOCKSTEP explain " JOB "--seed " BEYOND_DOUBLES " --json | grep '\"seed\"'"), 0);
    EXPECT_TEXT(output, "  \"seed\": \"" BEYOND_DOUBLES "\",\n");
    EXPECT_INT(shell("$LOCKSTEP run " JOB "--seed " LARGEST " -v | grep -o 'seed.*'"), 0);
    EXPECT_TEXT(output, "seed " LARGEST "\n");
}

TEST(seeds_of_a_sweep_are_refused_where_they_stand) {
    clear();
    static const char *const refused[] = {
        "1e308", "0.5",   "0.5,0.7", "-1",     "1,,2",    "18446744073709551616", "1:2:0",
        "2:1",   "1:2.5", "0:9:x2",  "1:9:x1", "1:2:3:4", "1e16:1e17:1e16",       "7,x"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char line[512];
        snprintf(line, sizeof line, "$LOCKSTEP sweep " JOB "--vary seed=%s -o {DIR}/s.db", refused[i]);
        EXPECT_INT(shell(line), 4);
        EXPECT_CONTAINS(output, "this names no seeds");
        EXPECT_CONTAINS(output, "from 0 to " LARGEST);
    }
    put_text("list.csv", "micro_batch,seed\n1,1\n2,18446744073709551616\n1,0.5\n");
    EXPECT_INT(shell("$LOCKSTEP sweep --model gpt2-124m --node dgx-a100 --gpus 8 --list {DIR}/list.csv -o {DIR}/s.db"),
               4);
    EXPECT_CONTAINS(output, "list.csv:3: error: \"18446744073709551616\" is no seed");
    EXPECT_CONTAINS(output, "list.csv:4: error: \"0.5\" is no seed");
}

static int64_t seeds_in(const char *values) {
    char line[512];
    clear();
    snprintf(line, sizeof line, "$LOCKSTEP sweep " JOB "--vary seed=%s -q -j 1 -o {DIR}/s.db", values);
    EXPECT_INT(shell(line), 0);
    EXPECT_INT(ask(in_folder("s.db"), "SELECT count(DISTINCT seed) - count(*) FROM point"), 0);
    return ask(in_folder("s.db"), "SELECT count(*) FROM point");
}

TEST(points_with_other_seeds_are_other_points_and_one_seed_is_one) {
    EXPECT_INT(seeds_in("9007199254740992,9007199254740993,18446744073709551615"), 3);
    EXPECT_INT(ask(in_folder("s.db"), "SELECT count(*) FROM point WHERE seed = -1 AND json_extract(parameters, "
                                      "'$.seed') = '18446744073709551615'"),
               1);
    EXPECT_INT(seeds_in("7,007,7.0,7e0,8"), 2);
    put_text("list.csv", "seed,micro_batch\n1,1\n01,2\n1,1.0\n2,1\n1.0,2\n");
    EXPECT_INT(shell("$LOCKSTEP sweep --model gpt2-124m --node dgx-a100 --gpus 8 --seq 1024 --list {DIR}/list.csv -o "
                     "{DIR}/l.db"),
               0);
    EXPECT_CONTAINS(output, "3 of 3 points, 3 simulated now");
    EXPECT_INT(seeds_in("18446744073709551609:18446744073709551615:2"), 4);
    EXPECT_INT(seeds_in("1:10"), 10);
    EXPECT_INT(seeds_in("1:1e3:x10"), 4);
    put_text("list.csv", "seed,micro_batch\n18446744073709551615,1\n18446744073709551614,1\n");
    EXPECT_INT(
        shell("$LOCKSTEP sweep --model gpt2-124m --node dgx-a100 --gpus 8 --seq 1024 --list {DIR}/list.csv -q -o "
              "{DIR}/m.db && $LOCKSTEP sweep --show {DIR}/m.db --csv | cut -d, -f1-2"),
        0);
    EXPECT_CONTAINS(output, "18446744073709551614");
    EXPECT_CONTAINS(output, LARGEST);
}

// ---- What a seed draws.

TEST(a_seed_of_experts_keeps_all_its_bits_at_every_door) {
    clear();
    const char *script = "local sim = require 'lockstep'\n"
                         "return sim.study { on = sim.cluster { node = 'dgx-h100', gpus = 64, fabric =\n"
                         "  sim.fat_tree { link = 'ib-ndr400' } }, run = sim.training {\n"
                         "  model = 'mixtral-8x7b', seq_len = 1024, batch = { micro = 1, global = 64 },\n"
                         "  parallel = { tp = 1, ep = 8, zero = 3 }, routing = { dirichlet = 1, seed = %s } } }\n";
    static const struct {
        const char *script, *option;
    } seeds[] = {{"9007199254740993", BEYOND_DOUBLES}, {"'18446744073709551615'", LARGEST}, {"7.0", "7"}};
    char text[1024], line[1024];
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        snprintf(text, sizeof text, script, seeds[i].script);
        put_text("s.lua", text);
        snprintf(
            line, sizeof line,
            "$LOCKSTEP run {DIR}/s.lua --csv >{DIR}/a && $LOCKSTEP run " DRAWN "--expert-seed %s --csv >{DIR}/b && "
            "$LOCKSTEP run {DIR}/s.lua --set training.routing.seed=%s --csv >{DIR}/c && cmp {DIR}/a {DIR}/b && cmp "
            "{DIR}/a {DIR}/c",
            seeds[i].option, seeds[i].option);
        EXPECT_INT(shell(line), 0);
    }
    EXPECT_INT(
        shell("$LOCKSTEP sweep " DRAWN "--vary expert-seed=9007199254740992:9007199254740994:1 -q -o {DIR}/s.db"), 0);
    EXPECT_INT(ask(in_folder("s.db"), "SELECT count(DISTINCT step_p50_s) FROM point"), 3);
    snprintf(text, sizeof text, script, "2^60");
    put_text("s.lua", text);
    EXPECT_INT(shell("$LOCKSTEP run {DIR}/s.lua"), 4);
    EXPECT_CONTAINS(output, "s.lua:5: error: seed of ");
    EXPECT_CONTAINS(output, "above 2^53 write it as a text");
}

TEST(a_point_of_a_seed_is_what_run_says_with_that_seed) {
    clear();
    put_text("s.lua",
             "local sim = require 'lockstep'\n"
             "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8 },\n"
             "  run = sim.training { model = 'gpt2-124m', seq_len = 128 * math.random(8), batch = { micro = 1 } } "
             "}\n");
    EXPECT_INT(
        shell("$LOCKSTEP sweep {DIR}/s.lua --vary seed=1:4 -q -o {DIR}/s.db && $LOCKSTEP sweep --show {DIR}/s.db "
              "--csv | awk -F, 'NR > 1 { print $NF }' >{DIR}/a; for s in 1 2 3 4; do $LOCKSTEP run {DIR}/s.lua "
              "--seed $s --csv | awk -F, 'NR > 1 { print $NF }'; done >{DIR}/b; cmp {DIR}/a {DIR}/b"),
        0);
    EXPECT(ask(in_folder("s.db"), "SELECT count(DISTINCT step_p50_s) FROM point") > 1);
}
