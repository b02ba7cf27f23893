// What if: how what was tried is judged and ranked, whatever it was tried of.
#include <math.h>

#include "scenarios/whatif/whatif.h"
#include "scenarios/whatif/whatif_step.h"
#include "tests/test.h"

TEST(a_gain_is_judged_by_its_range_by_what_matters_and_by_what_the_move_asks) {
    static const Move plain = {.title = "it"}, given = {.given = "jobs may shrink"}, but = {.but = "others wait"};
    static const struct {
        const Move *move;
        Gain gain;
        Verdict verdict;
    } rows[] = {
        {&plain, {.mean = 2, .half = 1}, VERDICT_HELPS},
        {&plain, {.mean = 2, .half = NAN}, VERDICT_HELPS}, // nobody knows its range
        {&given, {.mean = 2, .half = 1}, VERDICT_IF},
        {&but, {.mean = 2, .half = 1}, VERDICT_BUT},
        {&plain, {.mean = 0.4, .half = 0.1}, VERDICT_LITTLE},
        {&but, {.mean = 0.4, .half = 0.1}, VERDICT_LITTLE},
        {&plain, {.mean = 2, .half = 3, .chance = 0.9}, VERDICT_MAYBE},
        {&plain, {.mean = 2, .half = 3, .chance = 0.7}, VERDICT_CHANCE},
        {&plain, {.mean = 2, .half = 3, .chance = NAN}, VERDICT_CHANCE},
        {&plain, {.mean = 0.4, .half = 3, .chance = 0.9}, VERDICT_CHANCE}, // likely, and too little
        {&plain, {.mean = 0, .half = 0}, VERDICT_SAME},
        {&plain, {.mean = 0, .half = 1}, VERDICT_CHANCE},
        {&plain, {.mean = -0.5, .half = 1}, VERDICT_CHANCE},
        {&plain, {.mean = -2, .half = 1}, VERDICT_WORSE},
        {&plain, {.mean = -2, .half = NAN}, VERDICT_WORSE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_INT(whatif_verdict(rows[i].move, &rows[i].gain, 1), rows[i].verdict);
}

TEST(what_was_tried_is_ranked_by_gain_then_by_kind_then_as_it_was_tried) {
    static const Move machine = {.kind = MOVE_RESOURCE}, setting = {.kind = MOVE_SETTING}, fault = {.kind = MOVE_FAULT};
    WhatIf items[] = {
        {.title = "not possible", .move = &machine},
        {.title = "fault", .move = &fault, .ran = true, .gain = {.mean = 1}},
        {.title = "first", .move = &setting, .ran = true, .gain = {.mean = 1}, .verdict = VERDICT_CHANCE},
        {.title = "second", .move = &setting, .ran = true, .gain = {.mean = 1}, .verdict = VERDICT_HELPS},
        {.title = "slower", .move = &setting, .ran = true, .gain = {.mean = -1}},
        {.title = "machine", .move = &machine, .ran = true, .gain = {.mean = 1}, .verdict = VERDICT_HELPS},
        {.title = "most", .move = &setting, .ran = true, .gain = {.mean = 2}, .verdict = VERDICT_LITTLE},
    };
    static const char *const order[] = {"most", "machine", "first", "second", "fault", "slower", "not possible"};
    WhatIfs list = {.items = items, .count = 7};
    whatif_rank(&list);
    for (int i = 0; i < 7; i++) EXPECT_TEXT(list.items[i].title, order[i]);
    EXPECT_INT(list.ran, 6);
    EXPECT_TEXT(whatif_first(&list, true)->title, "machine");
    EXPECT_TEXT(whatif_first(&list, false)->title, "second");
}

TEST(of_large_steps_fewer_pairs_are_tried) {
    EXPECT_INT(together_affordable(80, 0), 80);
    EXPECT_INT(together_affordable(80, 500000), 80);
    EXPECT_INT(together_affordable(80, 4000000), 10);
    EXPECT_INT(together_affordable(80, 50000000), 0);
}
