// Many simulated lives, and the checkpoint interval of least cost.
#include <math.h>

#include "models/workload/life/life.h"
#include "models/workload/life/life_internal.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/random.h"
#include "sim/system/pieces.h"
#include "sim/system/watch.h"

static double seconds(SimTime ticks) { return seconds_from_ticks(ticks, TICKS_PER_SECOND_LIFE); }

uint64_t life_seed(uint64_t seed, int run) {
    RandomStream stream = random_stream(seed, "life", (uint64_t)run);
    return random_bits(&stream);
}

double life_unplanned_rate(const LifeSpec *spec) {
    double rate = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) rate += spec->faults[i].node_rate * spec->nodes;
    int racks = spec->rack_nodes > 0 ? (spec->nodes + spec->rack_nodes - 1) / spec->rack_nodes : 0;
    if (racks > 0) rate += spec->rack_rate * racks;
    return rate + spec->spot_rate * spec->nodes / (spec->spot_batch > 0 ? spec->spot_batch : 1);
}

// ---- Lives in parts, which several processes may live.

#define PART_EVENTS 1e5  // some ten milliseconds: the work lost at an interrupt
#define SMALL_EVENTS 1e6 // faster than distributing it
#define MOST_PARTS 100000

typedef struct Lives {
    const LifeSpec *spec;
    int runs, parts;
    uint64_t seed;
} Lives;

typedef struct LivesPart {
    int count; // that were lived to their end
    LifeRun runs[];
} LivesPart;

static int first_of_part(const Lives *lives, int64_t part) { return (int)(lives->runs * part / lives->parts); }

static void *live_part(const void *context, Arena *arena, int64_t part) {
    const Lives *lives = context;
    int first = first_of_part(lives, part), end = first_of_part(lives, part + 1);
    LivesPart *lived = arena_alloc(arena, sizeof *lived + (size_t)(end - first) * sizeof *lived->runs);
    for (int r = first; r < end; r++) {
        LifeRun run = life_run(lives->spec, life_seed(lives->seed, r));
        if (watch_stopped()) break; // in the midst of it
        lived->runs[lived->count++] = run;
    }
    return lived;
}

// Those that were lived, the first *count of them: as if no more had been asked for.
static const LifeRun *live(Arena *arena, const LifeSpec *spec, int runs, uint64_t seed, int *count) {
    double events = life_events(spec) * runs;
    Lives lives = {spec, runs, (int)fmax(1, fmin(fmin(runs, MOST_PARTS), events / PART_EVENTS)), seed};
    Pieces pieces = {.what = "the runs of the job",
                     .count = lives.parts,
                     .expected = fmax(events, 1),
                     .small = events < SMALL_EVENTS,
                     .work = live_part,
                     .context = &lives};
    void **parts = pieces_do(arena, &pieces);
    LifeRun *all = ARENA_ARRAY(arena, LifeRun, runs);
    *count = 0;
    for (int p = 0; p < lives.parts && parts[p] && *count == first_of_part(&lives, p); p++) {
        const LivesPart *part = parts[p];
        for (int i = 0; i < part->count; i++) all[(*count)++] = part->runs[i];
    }
    return all;
}

LifeStudy life_study(Arena *arena, const LifeSpec *spec, int runs, uint64_t seed) {
    CHECK(runs > 0);
    LifeStudy study = {.digest = DIGEST_START};
    double *goodput = ARENA_ARRAY(arena, double, runs), *days = ARENA_ARRAY(arena, double, runs);
    double *stops = ARENA_ARRAY(arena, double, runs), *ettr = ARENA_ARRAY(arena, double, runs), wall = 0, unplanned = 0;
    int done;
    const LifeRun *lived = live(arena, spec, runs, seed, &done);
    for (int r = 0; r < done; r++) {
        const LifeRun *run = &lived[r];
        goodput[r] = seconds(run->spent[LIFE_TRAINING]) / seconds(run->wall);
        SimTime up = run->spent[LIFE_TRAINING] + run->spent[LIFE_SLOW] + run->spent[LIFE_SHRUNK];
        ettr[r] = seconds(up) / seconds(run->wall);
        days[r] = seconds(run->wall) / 86400;
        for (int i = 0; i < LIFE_CAUSE_COUNT; i++) {
            study.stops_mean[i] += (double)run->stops[i] / runs;
            study.lost_share[i] += seconds(run->lost[i]);
            if (i < LIFE_UNPLANNED_COUNT) stops[r] += run->stops[i];
        }
        for (int i = 0; i < LIFE_TIME_COUNT; i++) study.share[i] += seconds(run->spent[i]);
        wall += seconds(run->wall);
        unplanned += stops[r];
        study.unfinished += !run->finished;
        study.events += run->events;
        study.digest = digest_u64(study.digest, run->digest);
    }
    study.stopped = watch_stopped() != WATCH_GOES_ON;
    study.runs = done;
    if (done == 0) return study;
    for (int i = 0; i < LIFE_CAUSE_COUNT && done < runs; i++) study.stops_mean[i] *= (double)runs / done;
    for (int i = 0; i < LIFE_CAUSE_COUNT; i++) study.lost_share[i] /= wall;
    for (int i = 0; i < LIFE_TIME_COUNT; i++) study.share[i] /= wall;
    study.mttf_s = unplanned > 0 ? wall / unplanned : 0;
    study.goodput = summarise(arena, goodput, done);
    study.ettr = summarise(arena, ettr, done);
    study.days = summarise(arena, days, done);
    study.run_days = days;
    study.run_goodput = goodput;
    study.stops = summarise(arena, stops, done);
    return study;
}

// ---- The best interval.

// Mean share of time that is not training.
static double waste(const LifeSpec *spec, double every_s, int runs, uint64_t seed) {
    LifeSpec changed = *spec;
    changed.checkpoint.every_s = every_s;
    double training = 0, wall = 0;
    Arena *arena = arena_open();
    int done;
    const LifeRun *lived = live(arena, &changed, runs, seed, &done);
    for (int r = 0; r < done; r++) {
        training += seconds(lived[r].spent[LIFE_TRAINING]);
        wall += seconds(lived[r].wall);
    }
    arena_close(arena);
    return 1 - training / wall;
}

// The least value of the parabola through points (x, y) by least squares, x centred; NAN when it opens downwards.
static double vertex(const double *x, const double *y, int count) {
    double s[5] = {0}, t[3] = {0}, centre = x[count / 2];
    for (int i = 0; i < count; i++) {
        double power = 1, at = x[i] - centre;
        for (int p = 0; p < 5; p++, power *= at) {
            s[p] += power;
            if (p < 3) t[p] += power * y[i];
        }
    }
    double d01 = s[0] * s[3] - s[1] * s[2], d02 = s[0] * s[4] - s[2] * s[2], d11 = s[0] * s[2] - s[1] * s[1];
    double u1 = s[0] * t[1] - s[1] * t[0], u2 = s[0] * t[2] - s[2] * t[0], det = d11 * d02 - d01 * d01;
    double slope = (u1 * d02 - u2 * d01) / det, bend = (d11 * u2 - d01 * u1) / det;
    return bend > 0 ? centre - slope / (2 * bend) : NAN;
}

double life_length(const LifeSpec *spec) { return spec->work_s > 0 ? spec->work_s : spec->horizon_s; }

enum { STEPS_MOST = 24, AROUND = 4, POINTS = 2 * AROUND + 1 };

// Doubles or halves until the waste grows again on both sides, then fits a parabola in the log of the interval to nine
// points around the least, twice.
double life_best_interval(const LifeSpec *spec, int runs, uint64_t seed) {
    double rate = life_unplanned_rate(spec), stall = spec->checkpoint.stall_s > 0 ? spec->checkpoint.stall_s : 1e-3;
    double longest = life_length(spec), best = fmin(longest, rate > 0 ? young_interval(stall, 1 / rate) : 86400);
    int scouts = runs > 8 ? runs / 8 : 1;
    WatchPiece piece; // the first on either side is no better, most often
    watch_begin(&piece, "the intervals to try", life_events(spec) * ((5 + POINTS) * scouts + POINTS * runs),
                WATCH_EVENT);
    double least = waste(spec, best, scouts, seed);
    for (int side = 0; side < 2; side++) {
        double factor = side ? 0.5 : 2;
        for (int i = 0; i < STEPS_MOST; i++) {
            double there = waste(spec, best * factor, scouts, seed);
            if (!(there < least)) break;
            best *= factor, least = there;
        }
    }
    for (int round = 0; round < 2; round++) {
        double x[POINTS], y[POINTS], width = round ? 0.8 : 1.2;
        for (int i = 0; i < POINTS; i++) {
            x[i] = log(best) + width * (i - AROUND) / AROUND;
            y[i] = waste(spec, exp(x[i]), round ? runs : scouts, seed);
        }
        double at = vertex(x, y, POINTS);
        if (isfinite(at)) best = exp(fmax(x[0], fmin(x[POINTS - 1], at)));
    }
    watch_end(&piece);
    return fmin(best, longest);
}
