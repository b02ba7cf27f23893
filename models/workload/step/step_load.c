#include "models/workload/step/simulate.h"

#include <math.h>
#include <stdlib.h>

#include "models/hardware/power.h"
#include "sim/base/list.h"
#include "sim/clock.h"

const double load_floors[LOAD_FLOORS] = {0, 0.5, 0.7, 0.9};

typedef struct LoadChange {
    SimTime at;
    double watts[LOAD_FLOORS];
} LoadChange;

typedef struct LoadActor {
    double ranks;
    const Gpu *gpu;
    Activity activity;
    SimTime until; // end of the last span counted
} LoadActor;

struct StepLoadMaker {
    Arena *arena;
    LoadActor *actors;
    int actor_count;
    LIST_OF(LoadChange) changes;
};

// ---- While it runs.

static double floored_watts(const Gpu *gpu, Activity activity, int level) {
    double most = gpu->cap_watts > 0 ? gpu->cap_watts : gpu->power_watts;
    return fmax(gpu_activity_watts(gpu, activity), load_floors[level] * most);
}

static void change(StepLoadMaker *maker, LoadActor *actor, SimTime at, Activity activity) {
    if (activity == actor->activity) return;
    LoadChange change = {.at = at};
    for (int f = 0; f < LOAD_FLOORS; f++)
        change.watts[f] =
            actor->ranks * (floored_watts(actor->gpu, activity, f) - floored_watts(actor->gpu, actor->activity, f));
    LIST_PUSH(maker->arena, &maker->changes, change);
    actor->activity = activity;
}

static void on_span(void *owner, const RunSpan *span) {
    StepLoadMaker *maker = owner;
    if (span->stream != 0 || span->end <= span->start) return;
    LoadActor *actor = &maker->actors[span->actor];
    change(maker, actor, span->start, activity_of_cause((Cause)span->cause));
    actor->until = span->end;
}

StepLoadMaker *step_load_begin(Arena *arena, const Cluster *cluster, const System *system, const int32_t *class_of,
                               RunOptions *options) {
    StepLoadMaker *maker = ARENA_NEW(arena, StepLoadMaker);
    *maker = (StepLoadMaker){.arena = arena, .actor_count = system->actor_count};
    maker->actors = ARENA_ARRAY(arena, LoadActor, system->actor_count);
    LoadChange first = {.at = 0};
    for (int rank = 0; rank < cluster->gpu_count; rank++) {
        const Gpu *gpu = cluster->gpu_of[rank];
        LoadActor *actor = &maker->actors[class_of ? class_of[rank] : rank];
        *actor = (LoadActor){actor->ranks + 1, gpu, ACTIVITY_WAITING, 0};
        for (int f = 0; f < LOAD_FLOORS; f++) first.watts[f] += floored_watts(gpu, ACTIVITY_WAITING, f);
    }
    LIST_PUSH(arena, &maker->changes, first);
    options->tell = on_span;
    options->owner = maker;
    return maker;
}

// ---- After it.

static int by_time(const void *a, const void *b) {
    const LoadChange *one = a, *other = b;
    return (one->at > other->at) - (one->at < other->at);
}

static void add_areas(Arena *arena, StepLoad *load) {
    for (int f = 0; f < LOAD_FLOORS; f++) {
        double *area = ARENA_ARRAY(arena, double, load->count);
        for (int i = 1; i < load->count; i++)
            area[i] = area[i - 1] + load->watts[f][i - 1] * (load->from_s[i] - load->from_s[i - 1]);
        load->area[f] = area;
    }
}

const StepLoad *step_load_end(StepLoadMaker *maker, const RunResult *result, Cause rest) {
    Arena *arena = maker->arena;
    for (int a = 0; a < maker->actor_count; a++)
        if (maker->actors[a].until < result->end)
            change(maker, &maker->actors[a], maker->actors[a].until, activity_of_cause(rest));
    int changes = maker->changes.count;
    qsort(maker->changes.items, (size_t)changes, sizeof *maker->changes.items, by_time);
    StepLoad *load = ARENA_NEW(arena, StepLoad);
    double *from = ARENA_ARRAY(arena, double, changes), *watts[LOAD_FLOORS], sum[LOAD_FLOORS] = {0};
    for (int f = 0; f < LOAD_FLOORS; f++) load->watts[f] = watts[f] = ARENA_ARRAY(arena, double, changes);
    for (int i = 0; i < changes; i++) {
        const LoadChange *now = &maker->changes.items[i];
        bool last = i + 1 == changes || maker->changes.items[i + 1].at > now->at;
        for (int f = 0; f < LOAD_FLOORS; f++) watts[f][load->count] = sum[f] += now->watts[f];
        from[load->count] = step_seconds(now->at);
        load->count += last && now->at < result->end;
    }
    load->from_s = from;
    load->seconds = step_seconds(result->end);
    add_areas(arena, load);
    return load;
}

const StepLoad *step_load_stretched(Arena *arena, const StepLoad *load, double factor) {
    StepLoad *longer = ARENA_NEW(arena, StepLoad);
    double *from = ARENA_ARRAY(arena, double, load->count);
    for (int i = 0; i < load->count; i++) from[i] = load->from_s[i] * factor;
    *longer = *load;
    longer->from_s = from;
    longer->seconds *= factor;
    add_areas(arena, longer);
    return longer;
}

// ---- What it is as a load.

// The last moment that is not after t, of a step; from one nearby, where there is one.
static int piece_at(const StepLoad *load, double t, int near) {
    int low = 0, high = load->count - 1;
    for (int tries = 0; tries < 8 && load->from_s[near] <= t; tries++, near++)
        if (near == high || load->from_s[near + 1] > t) return near;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (load->from_s[middle] <= t)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Joules until t, which may lie in any step, before the first too. *near: where the last such moment was.
static double area_until(const StepLoad *load, int level, double t, int *near) {
    int last = load->count - 1;
    double whole = load->area[level][last] + load->watts[level][last] * (load->seconds - load->from_s[last]);
    double steps = floor(t / load->seconds), within = t - steps * load->seconds;
    int piece = *near = piece_at(load, within, *near);
    return steps * whole + load->area[level][piece] + load->watts[level][piece] * (within - load->from_s[piece]);
}

typedef struct Window {
    double seconds;
    int begin, end; // near which its ends were
} Window;

static double mean_around(const StepLoad *load, int level, double t, Window *window) {
    double until = area_until(load, level, t + window->seconds / 2, &window->end);
    return (until - area_until(load, level, t - window->seconds / 2, &window->begin)) / window->seconds;
}

// Means of a window are straight between the moments at which one of its ends meets a change, so their extremes lie
// there; so do those of the difference of two.
LoadSwing load_swing(const StepLoad *load, int level, double window, double apart) {
    int near = 0;
    LoadSwing swing = {
        .mean = area_until(load, level, load->seconds, &near) / load->seconds, .least = INFINITY, .most = -INFINITY};
    for (int side = -1; side <= 1; side += 2) {
        Window at = {.seconds = window}, after = at, ahead = at;
        for (int i = 0; i < load->count; i++) {
            double t = load->from_s[i] + side * window / 2, mean = mean_around(load, level, t, &at);
            double later = mean_around(load, level, t + apart, &after);
            double before = mean_around(load, level, t - apart, &ahead);
            swing.least = fmin(swing.least, mean);
            swing.most = fmax(swing.most, mean);
            swing.ramp = fmax(swing.ramp, fmax(fabs(later - mean), fabs(mean - before)) / apart);
        }
    }
    return swing;
}

void load_means(const StepLoad *load, int level, int parts, double *watts) {
    double before = 0;
    int near = 0;
    for (int p = 0; p < parts; p++) {
        double until = area_until(load, level, load->seconds * (p + 1) / parts, &near);
        watts[p] = (until - before) * parts / load->seconds;
        before = until;
    }
}

double load_tone(const double *means, int parts, int times) {
    double real = 0, imaginary = 0;
    for (int p = 0; p < parts; p++) {
        double angle = 2 * M_PI * times * (p + 0.5) / parts;
        real += means[p] * cos(angle);
        imaginary += means[p] * sin(angle);
    }
    return 2 * hypot(real, imaginary) / parts;
}

LoadStore load_store(const double *means, int parts, double seconds) {
    double mean = 0, held = 0, least = 0, most = 0;
    LoadStore store = {0};
    for (int p = 0; p < parts; p++) mean += means[p] / parts;
    for (int p = 0; p < parts; p++) {
        held += (mean - means[p]) * seconds / parts;
        least = fmin(least, held);
        most = fmax(most, held);
        store.watts = fmax(store.watts, fabs(means[p] - mean));
    }
    store.joules = most - least;
    return store;
}
