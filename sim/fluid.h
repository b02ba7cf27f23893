// The incremental engine of fair sharing: transfers start and end, and only those that share links with a change are
// solved again, once per instant. Same arithmetic as share_links.
#pragma once

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
