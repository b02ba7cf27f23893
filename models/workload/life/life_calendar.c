// One life as a calendar: the use of each time span. A failure loses the most recent training, so lost time is found
// backwards from it; the parts of all spans sum to those of the life, to the tick.
#include <math.h>

#include "models/workload/life/life_internal.h"
#include "sim/base/check.h"
#include "sim/base/statistics.h"

#define HOUR_S 3600.0

// The last span includes times beyond it, which occur by rounding only.
static int stretch_at(const LifeCalendar *calendar, SimTime time) {
    SimTime at = time / calendar->width;
    return at < calendar->count ? (int)at : calendar->count - 1;
}

static SimTime end_of(const LifeCalendar *calendar, int stretch) {
    return stretch + 1 < calendar->count ? (stretch + 1) * calendar->width : SIM_TIME_NEVER;
}

void calendar_spend(LifeCalendar *calendar, SimTime from, SimTime to, LifeTime on) {
    for (int i = stretch_at(calendar, from); from < to; i++) {
        SimTime end = end_of(calendar, i) < to ? end_of(calendar, i) : to;
        calendar->stretches[i].spent[on] += end - from;
        from = end;
    }
}

// So much of `amount` until `passed` of `all`: differences of it lose nothing to rounding.
static SimTime part_of(SimTime amount, SimTime passed, SimTime all) {
    return passed >= all ? amount : (SimTime)floor((double)amount * ((double)passed / (double)all));
}

void calendar_train(LifeCalendar *calendar, SimTime from, SimTime to, LifeParts parts) {
    SimTime start = from, all = to - from;
    for (int i = stretch_at(calendar, from); from < to; i++) {
        SimTime end = end_of(calendar, i) < to ? end_of(calendar, i) : to, *spent = calendar->stretches[i].spent;
        SimTime slow = part_of(parts.slow, end - start, all) - part_of(parts.slow, from - start, all);
        SimTime shrunk = part_of(parts.shrunk, end - start, all) - part_of(parts.shrunk, from - start, all);
        spent[LIFE_SLOW] += slow;
        spent[LIFE_SHRUNK] += shrunk;
        spent[LIFE_TRAINING] += end - from - slow - shrunk;
        from = end;
    }
}

void calendar_lose(LifeCalendar *calendar, SimTime time, SimTime lost) {
    for (int i = stretch_at(calendar, time); i >= 0 && lost > 0; i--) {
        SimTime *spent = calendar->stretches[i].spent,
                taken = spent[LIFE_TRAINING] < lost ? spent[LIFE_TRAINING] : lost;
        spent[LIFE_TRAINING] -= taken;
        spent[LIFE_REWORK] += taken;
        lost -= taken;
    }
    CHECK(lost == 0);
}

void calendar_stop(LifeCalendar *calendar, SimTime time) { calendar->stretches[stretch_at(calendar, time)].stops++; }

// ---- Which life, in which stretches.

static int median_life(const LifeStudy *study) {
    Arena *scratch = arena_open();
    double median = quantile(scratch, study->run_goodput, study->runs, 0.5);
    arena_close(scratch);
    int nearest = 0;
    for (int i = 1; i < study->runs; i++)
        if (fabs(study->run_goodput[i] - median) < fabs(study->run_goodput[nearest] - median)) nearest = i;
    return nearest;
}

static SimTime width_for(SimTime wall) {
    static const double hours[] = {1, 6, 24, 7 * 24, 28 * 24, 365 * 24};
    int count = (int)(sizeof hours / sizeof *hours), i = 0;
    while (i + 1 < count && wall / life_ticks(hours[i] * HOUR_S) >= LIFE_MOST_STRETCHES) i++;
    SimTime width = life_ticks(hours[i] * HOUR_S);
    while (wall / width >= LIFE_MOST_STRETCHES) width *= 2;
    return width;
}

LifeCalendar life_calendar(Arena *arena, const LifeSpec *spec, const LifeStudy *study, uint64_t seed) {
    CHECK(study->runs > 0);
    LifeCalendar calendar = {.life = median_life(study)};
    uint64_t of_life = life_seed(seed, calendar.life);
    SimTime wall = life_run(spec, of_life).wall;
    calendar.width = width_for(wall);
    calendar.count = wall > 0 ? (int)((wall - 1) / calendar.width) + 1 : 1;
    calendar.stretches = ARENA_ARRAY(arena, LifeStretch, calendar.count);
    calendar.run = life_run_kept(spec, of_life, &calendar);
    return calendar;
}
