// Numbered places that are taken and given back: what comes and goes during a run lives here, without growth.
#ifndef LOCKSTEP_SIM_SLOTS_H
#define LOCKSTEP_SIM_SLOTS_H

#include <stdint.h>

#include "sim/base/arena.h"

typedef struct Slots {
    int32_t *next; // free list through the places; -2 marks a taken one
    int32_t free;  // first free place or -1
    int32_t count; // all places
    int32_t taken;
} Slots;

Slots slots_create(Arena *arena, int32_t count);
int32_t slot_take(Slots *slots);                  // the place given back last, else the lowest; -1 when all are taken
void slot_give_back(Slots *slots, int32_t place); // giving back a free place is our mistake (CHECK)

#endif
