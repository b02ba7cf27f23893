// The bars of a life: each stretch of its calendar is a row, and what the row shows is all of that time.
#include <string.h>

#include "scenarios/questions/goodput.h"
#include "sim/base/random.h"
#include "tests/test.h"

#define HOUR 3600.0
#define DAY 86400.0

static LifeSpec life_of(uint64_t seed) {
    RandomStream random = random_stream(seed, "bars of a life", 0);
    LifeSpec spec = {.nodes = 16, .spares = (int)random_below(&random, 3), .shape = 1, .bad_factor = 1};
    spec.faults[FAULT_GPU] = (LifeFault){.node_rate = 1 / (40 * DAY), .needs_repair = true};
    spec.faults[FAULT_SOFTWARE] = (LifeFault){.node_rate = 1 / (60 * DAY)};
    spec.crash_detection_s = 60, spec.restart_s = 300, spec.repair_s = 20 * HOUR;
    spec.slow_rate = 1 / (40 * DAY), spec.slow_factor = 1.4, spec.slow_detection_s = 6 * HOUR;
    spec.checkpoint = (CheckpointPlan){.mode = CHECKPOINT_SYNC, .every_s = HOUR, .stall_s = 30, .reload_s = 60};
    spec.horizon_s = (double[]){10 * HOUR, 9 * DAY, 200 * DAY}[seed % 3] * (1 + random_uniform(&random));
    return spec;
}

// A row's bars stand side by side from 0; all but the last row are as long as a stretch.
static void expect_rows(const LifeCalendar *calendar, const BarChart *chart, double unit_s) {
    double at = 0, of_cause[LIFE_TIME_COUNT] = {0};
    int row = 0;
    for (int i = 0; i < chart->bar_count; i++) {
        const ChartBar *bar = &chart->bars[i];
        if (bar->row != row) at = 0;
        EXPECT(bar->row == row || bar->row == row + 1);
        row = bar->row;
        EXPECT_NEAR(bar->from, at, 1e-12);
        EXPECT(bar->to > bar->from);
        at = bar->to;
        bool is_last = i + 1 == chart->bar_count || chart->bars[i + 1].row != row;
        double left = seconds_from_ticks(calendar->run.wall - row * calendar->width, TICKS_PER_SECOND_LIFE),
               whole = seconds_from_ticks(calendar->width, TICKS_PER_SECOND_LIFE);
        if (is_last) EXPECT_NEAR(at * unit_s, fmin(left, whole), 1e-9);
        for (int k = 0; k < LIFE_TIME_COUNT; k++)
            if (strcmp(chart->legend[bar->legend].name, life_time_titles[k]) == 0) of_cause[k] += bar->to - bar->from;
    }
    EXPECT_INT(row, calendar->count - 1);
    for (int k = 0; k < LIFE_TIME_COUNT; k++)
        EXPECT_NEAR(of_cause[k] * unit_s, seconds_from_ticks(calendar->run.spent[k], TICKS_PER_SECOND_LIFE), 1e-9);
}

TEST(the_bars_of_a_life_are_all_of_its_time_and_its_shares_sum_to_one) {
    int days = 0;
    FOR_SEEDS (seed, 1, 12) {
        Arena *arena = arena_open();
        LifeSpec spec = life_of(seed);
        LifeStudy study = life_study(arena, &spec, 5, seed);
        LifeCalendar calendar = life_calendar(arena, &spec, &study, seed);
        Chart chart;
        calendar_chart(arena, &calendar, &chart);
        bool is_days = strcmp(chart.bars.x_title, "days") == 0;
        EXPECT(is_days || strcmp(chart.bars.x_title, "hours") == 0);
        EXPECT_INT(chart.bars.row_count, calendar.count);
        expect_rows(&calendar, &chart.bars, is_days ? DAY : HOUR);
        double sum = 0, lost = 0;
        for (int k = 0; k < LIFE_TIME_COUNT; k++) sum += study.share[k];
        for (int c = 0; c < LIFE_CAUSE_COUNT; c++) lost += study.lost_share[c];
        EXPECT_NEAR(sum, 1, 1e-12);
        EXPECT(lost >= 0 && lost <= 1 - study.share[LIFE_TRAINING] + 1e-12);
        days += is_days;
        arena_close(arena);
    }
    EXPECT(days > 0 && days < 12);
}
