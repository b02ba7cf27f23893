// The incremental engine of fair sharing: transfers start and end, and only those that share links with a change are
// solved again, once per instant. Same arithmetic as share_links.
#pragma once

#include <math.h>
#include <stdint.h>

#include "sim/base/check.h"
#include "sim/program.h"

typedef struct Fluid Fluid;

Fluid *fluid_create(Arena *arena, const System *system);
// A transfer starts on a channel's plan at `now`. true: fluid_share must be called before time moves on.
bool fluid_start(Fluid *fluid, int32_t channel, const Plan *plan, SimTime now);
// It has ended (its end time has come). true: fluid_share must be called before time moves on.
bool fluid_finish(Fluid *fluid, int32_t channel, SimTime now);
void fluid_share(Fluid *fluid, SimTime now);
// When the first of the transfers under way ends at the present rates, and which that is: of several the one of the
// lowest number. SIM_TIME_NEVER: none does.
SimTime fluid_next_end(Fluid *fluid, int32_t *channel);
// A link may be as much too full or too empty, as a share of its rate, before it is shared out anew. 0, as at first:
// shares are exact.
void fluid_set_tolerance(Fluid *fluid, double tolerance);
// How often a sharing may look at a link before it starts over from nothing, as a multiple of the links; rates do not
// depend on it. For tests.
void fluid_set_patience(Fluid *fluid, int64_t patience);
// How long a plan's bytes flow when nothing else is on its links, to the tick; and that they have done so, so often.
SimTime fluid_time_alone(const Fluid *fluid, const Plan *plan);
void fluid_count_bytes(Fluid *fluid, int32_t channel, int32_t plan, int64_t times);
int64_t *fluid_carried(Fluid *fluid, int32_t channel); // [plan] so often

// A transfer's state at `now`: the bytes left when its rate last changed, relative to now, and its end at this rate.
// False: none is under way.
typedef struct FluidState {
    double bytes_left, rate;
    SimTime settled, end;
} FluidState;
bool fluid_state(const Fluid *fluid, int32_t channel, SimTime now, FluidState *state);
// Shifts all transfers under way by a time.
void fluid_shift(Fluid *fluid, SimTime by);

double fluid_rate(const Fluid *fluid, int32_t channel); // payload bytes per second; 0 when idle
const double *fluid_link_bytes(Fluid *fluid);           // [link] carried so far by transfers that have ended

// ---- The arithmetic of fair shares: whole numbers only, so that sums come out the same in any order. This is what
// lets a folded and an unfolded run, and a re-share of a few transfers and of all of them, agree to the last bit.
__extension__ typedef __int128 Load; // bytes per second on a link, in units of 2^-46

#define LEVEL_UNITS 16384.0      // a level is bytes per second per unit of fairness, in units of 2^-14
#define SHARE_UNITS 4294967296.0 // a share is weight x fairness, in units of 2^-32
#define LEVEL_MOST (INT64_C(1) << 62)
#define LEVEL_RATE_MOST 0x1p48 // bytes per second: no flow of fairness 1 is faster, however wide its links
#define LOAD_RATE_MOST 0x1p70  // the widest that a link can be: more makes no difference to those levels
#define SHARE_MOST 1e9         // flows

static inline int64_t share_from(double weight_times_fairness) {
    CHECK(weight_times_fairness >= 0);
    double units = (weight_times_fairness < SHARE_MOST ? weight_times_fairness : SHARE_MOST) * SHARE_UNITS;
    int64_t whole = (int64_t)units;
    return whole + (units - (double)whole >= 0.5);
}

static inline Load load_from_rate(double bytes_per_second) {
    CHECK(bytes_per_second >= 0);
    return (Load)(fmin(bytes_per_second, LOAD_RATE_MOST) * LEVEL_UNITS) << 32;
}

static inline int64_t level_from_rate(double bytes_per_second) {
    double units = floor(bytes_per_second * LEVEL_UNITS);
    return units < (double)LEVEL_MOST ? (int64_t)units : LEVEL_MOST;
}

static inline double rate_from_level(int64_t level) { return (double)level / LEVEL_UNITS; }

// The highest level at which `share` still fits into the remaining capacity of a link: rounded down, never too high.
static inline int64_t level_that_fits(Load left, int64_t share) {
    if (left <= 0) return 0;
    double guess = ((double)(int64_t)(left >> 64) * 0x1p64 + (double)(uint64_t)left) / (double)share;
    if (guess >= (double)LEVEL_MOST) return LEVEL_MOST;
    int64_t level = (int64_t)guess;
    Load rest = left - (Load)level * share;
    for (; rest < 0; rest += share) level--;
    for (; rest >= share; rest -= share) level++;
    return level;
}
