// Interface for carrying the transfers of some channels by another network than shared links: one with its own clock,
// which advances in windows. A transfer handed over has no effect before the end of the last finished window.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/clock.h"

typedef struct CarriedEnd { // a transfer is there
    SimTime time;
    int32_t channel;
} CarriedEnd;

typedef struct Carrier {
    void *owner;
    const int32_t *sender; // [channel] the actor that sends; -1: the channel is not carried
    // A transfer begins, in order of time: when its last member has come, of a piped channel when its sender has.
    void (*send)(void *owner, int32_t channel, int32_t plan, SimTime now);
    SimTime (*next)(void *owner); // when the next window begins in which anything happens; NEVER: there is none
    // Simulates the window: all transfers handed over, per channel in sending order. False: the watch stopped it.
    bool (*advance)(void *owner, const CarriedEnd **ends, int *count);
    double events; // that it takes, about
} Carrier;
