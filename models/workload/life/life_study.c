// Many lives: from published rates to what a life spends its time on and the best checkpoint interval.
#include <math.h>

#include "models/workload/life/life_internal.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"

// ---- Derives a job's LifeSpec on given nodes from a fleet's published rates.

static double sigma_of(const FaultRates *rates, const char *name) {
    const Fact *fact = fact_find(rates->facts, rates->fact_count, name);
    return fact ? fact->sigma : 0;
}

static double per_second(double mtbf_s) { return mtbf_s > 0 ? 1 / mtbf_s : 0; }

static void set_faults(Arena *arena, LifeSpec *spec, const FaultRates *rates, const NodeType *node) {
    double gpus = node->gpu_count, nics = node->nic_count > 0 ? node->nic_count : gpus;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        const FaultComponentInfo *info = &fault_components[i];
        spec->faults[i] = (LifeFault){.node_rate = fault_component_rate(rates, (FaultComponent)i, gpus, nics),
                                      .sigma = sigma_of(rates, arena_printf(arena, "%s_mtbf", info->name)),
                                      .needs_repair = info->needs_repair,
                                      .is_silent = i == FAULT_SILENT};
    }
}

LifeSpec life_spec(Arena *arena, const FaultRates *rates, const NodeType *node, int nodes) {
    double nics = node->nic_count > 0 ? node->nic_count : node->gpu_count;
    LifeSpec spec = {.nodes = nodes,
                     .shape = rates->shape,
                     .fleet_spread = rates->fleet_spread,
                     .bad_share = rates->bad_share,
                     .bad_factor = rates->bad_factor,
                     .crash_detection_s = rates->crash_detection_seconds,
                     .hang_detection_s = rates->hang_detection_seconds,
                     .silent_detection_s = rates->silent_detection_seconds,
                     .hang_share = rates->hang_share,
                     .restart_s = rates->restart_seconds,
                     .restart_sigma = sigma_of(rates, "restart"),
                     .repair_s = rates->repair_seconds,
                     .repair_sigma = sigma_of(rates, "repair"),
                     .planned_rate = per_second(rates->planned_node_seconds) * nodes,
                     .rack_nodes = rates->rack_nodes,
                     .rack_rate = per_second(rates->rack_mtbf_seconds),
                     .rack_repair_s = rates->rack_repair_seconds,
                     .slow_rate = per_second(rates->slow_mtbf_seconds),
                     .slow_factor = rates->slow_factor,
                     .slow_detection_s = rates->slow_detection_seconds,
                     .flap_rate = per_second(rates->flap_mtbf_seconds) * nics * nodes,
                     .flap_stall_s = rates->flap_stall_seconds};
    set_faults(arena, &spec, rates, node);
    return spec;
}

void life_set_node_mtbf(LifeSpec *spec, double node_mtbf_s) {
    double sum = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) sum += spec->faults[i].node_rate;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        spec->faults[i].node_rate /= sum * node_mtbf_s;
        spec->faults[i].sigma = 0;
    }
    spec->fleet_spread = 0;
}

double life_patience(const LifeSpec *spec) { return spec->patience > 0 ? spec->patience : LIFE_GIVES_UP; }

int life_usual_spares(int nodes) { return (nodes + 19) / 20; }

// ---- One life as a calendar: the use of each time span. A failure loses the most recent training, so lost time is
// found backwards from it; the parts of all spans sum to those of the life, to the tick.

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

// Of the n-th life of a study, from 0.
static uint64_t life_seed(uint64_t seed, int run) {
    RandomStream stream = random_stream(seed, "life", (uint64_t)run);
    return random_bits(&stream);
}

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

// ---- Estimated cost of simulating a life: its number of events from the rates, and detection of jobs that fail so
// often that they make no progress.

// ---- Events.

// Expected failures of one component over `seconds` of calendar time (Crow, 1974, where they grow with age).
static double faults_in(const LifeSpec *spec, double node_rate, double seconds) {
    double k = spec->shape;
    if (k == 1 || !(node_rate > 0)) return spec->nodes * node_rate * seconds;
    double scale = 1 / (node_rate * tgamma(1 + 1 / k));
    return spec->nodes * (pow((spec->age_s + seconds) / scale, k) - pow(spec->age_s / scale, k));
}

static double down_time(const LifeSpec *spec) {
    return spec->crash_detection_s + spec->restart_s + spec->checkpoint.reload_s;
}

// Until the work is done, or given up (Daly, 2006).
static double calendar(const LifeSpec *spec, double rate) {
    const CheckpointPlan *plan = &spec->checkpoint;
    double most = life_patience(spec) * spec->work_s, every = plan->every_s > 0 ? plan->every_s : spec->work_s;
    if (spec->horizon_s > 0) return spec->horizon_s;
    if (!(rate > 0)) return spec->work_s * (1 + plan->stall_s / every);
    double wall = daly_wall_time(spec->work_s, every, plan->stall_s, down_time(spec), 1 / rate);
    return wall < most ? wall : most; // also where it is not a number
}

// Events of a failure: itself, its detection, the restart, and the return from repair.
double life_events(const LifeSpec *spec) {
    double rate = life_unplanned_rate(spec), seconds = calendar(spec, rate), events = 0, faults = 0, repaired = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        double count = faults_in(spec, spec->faults[i].node_rate, seconds);
        faults += count;
        if (spec->faults[i].needs_repair) repaired += count;
    }
    int racks = spec->rack_nodes > 0 ? (spec->nodes + spec->rack_nodes - 1) / spec->rack_nodes : 0;
    int batch = spec->spot_batch > 0 ? spec->spot_batch : 1;
    double rack = spec->rack_rate * racks * seconds, spot = spec->spot_rate * spec->nodes / batch * seconds;
    double stops = fmin(faults + rack + spot, seconds / (spec->crash_detection_s + 1 / rate));
    double survived = exp(-rate * (spec->restart_s + spec->checkpoint.reload_s));
    double up = seconds / (1 + rate * down_time(spec)), every = spec->checkpoint.every_s;
    events += faults + fmin(repaired, stops) + stops * (1 + survived);
    events += rack * (1 + fmin(spec->rack_nodes, spec->nodes)) + spot * (2 + batch);
    events += (3 * spec->slow_rate * spec->nodes + 2 * spec->flap_rate + 2 * spec->planned_rate) * seconds;
    if (every > 0) events += 2 * up / (every + spec->checkpoint.stall_s);
    return events;
}

// ---- Jobs that get nowhere.

#define CERTAIN 1e-6      // expected exceptions, over all lives
#define WORTH_KNOWING 5e7 // events, some seconds: shorter lives are simulated, and show where their time goes
#define NOTHING 1e-3      // of the calendar or the work: progress possible in the first span

// Failures per second that stop the job even when its fleet is far better than most and only good nodes are left.
static double least_rate(const LifeSpec *spec) {
    double rate = 0, nodes = spec->least_replicas > 0 ? spec->least_replicas * spec->nodes_per_replica : spec->nodes;
    double good = 1 / (1 + spec->bad_share * (spec->bad_factor - 1));
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) {
        double sigma = sqrt(spec->fleet_spread * spec->fleet_spread + spec->faults[i].sigma * spec->faults[i].sigma);
        if (!spec->faults[i].is_silent) rate += spec->faults[i].node_rate * nodes * good * exp(-6 * sigma);
    }
    return rate;
}

const char *life_goes_nowhere(Arena *arena, const LifeSpec *spec, int runs) {
    double rate = least_rate(spec), length = spec->horizon_s + spec->work_s, most = life_patience(spec) * length;
    const CheckpointPlan *plan = &spec->checkpoint;
    bool to_memory = plan->mode == CHECKPOINT_MEMORY;
    double again =
        spec->restart_s * exp(-6 * spec->restart_sigma) + (to_memory ? plan->memory_reload_s : plan->reload_s);
    double kept = plan->every_s > 0 ? fmin(plan->every_s + plan->stall_s, length) : length;
    if (spec->shape != 1 || !(rate > 0) || life_events(spec) * runs < WORTH_KNOWING) return NULL;
    // After each failure one more try to start again and to train until the next checkpoint.
    double kept_later = runs * rate * most * exp(-rate * (again + kept));
    double kept_at_first = runs * exp(-rate * NOTHING * length);
    if (kept_later > CERTAIN || kept_at_first > CERTAIN) return NULL;
    char mtbf[32], start[32];
    quantity_format(1 / life_unplanned_rate(spec), QUANTITY_TIME, mtbf, sizeof mtbf);
    quantity_format(spec->restart_s + (to_memory ? plan->memory_reload_s : plan->reload_s), QUANTITY_TIME, start,
                    sizeof start);
    return arena_printf(arena, "the job fails every %s and takes %s to start again: it never gets anything done", mtbf,
                        start);
}

// ---- Many simulated lives, and the checkpoint interval of least cost.

static double seconds(SimTime ticks) { return seconds_from_ticks(ticks, TICKS_PER_SECOND_LIFE); }

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

#define USUAL_RUNS 1000
#define USUAL_EVENTS 2e7 // of all of them, some seconds

int life_usual_runs(const LifeSpec *spec) {
    return (int)fmin(USUAL_RUNS, fmax(USUAL_RUNS / 5.0, USUAL_EVENTS / fmax(1, life_events(spec))));
}

bool life_mostly_unfinished(const LifeStudy *study) { return 2 * study->unfinished >= study->runs; }

double life_chance_by(const LifeStudy *study, double by_s) {
    int kept = 0;
    for (int i = 0; i < study->runs; i++) kept += study->run_days[i] * 86400 <= by_s;
    return (double)kept / study->runs;
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
            study.stops_mean[i] += (double)run->stops[i] / done;
            study.lost_share[i] += seconds(run->lost[i]) / seconds(run->wall) / done;
            if (i < LIFE_UNPLANNED_COUNT) stops[r] += run->stops[i];
        }
        for (int i = 0; i < LIFE_TIME_COUNT; i++) study.share[i] += seconds(run->spent[i]) / seconds(run->wall) / done;
        wall += seconds(run->wall);
        unplanned += stops[r];
        study.unfinished += !run->finished;
        study.events += run->events;
        study.digest = digest_u64(study.digest, run->digest);
    }
    study.stopped = watch_stopped() != WATCH_GOES_ON;
    study.runs = done;
    if (done == 0) return study;
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
