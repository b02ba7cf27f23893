// The core: a clock and the events still to come. It knows nothing of GPUs or networks.
// Equal times fire in the order they were scheduled. An event can be cancelled or moved by its id.
#pragma once

#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/clock.h"

typedef struct EventQueue EventQueue;

typedef struct EventId { // zero names nothing
    uint32_t place, generation;
} EventId;

typedef struct Event {
    SimTime time;
    int32_t kind; // whatever the caller means by it
    int32_t item;
} Event;

EventQueue *event_queue_create(Arena *arena, int32_t room); // grows (in the arena) when more are pending
EventId event_schedule(EventQueue *queue, SimTime time, int32_t kind, int32_t item);
bool event_cancel(EventQueue *queue, EventId id); // false when it has fired or been cancelled already
bool event_next(EventQueue *queue, Event *event); // takes out the earliest; false when empty
SimTime event_now(const EventQueue *queue);       // time of the event last taken
SimTime event_next_time(EventQueue *queue);       // of the earliest; SIM_TIME_NEVER when empty
// Moves the clock to a time no later than the earliest event: the time until then was computed without events.
void event_advance(EventQueue *queue, SimTime time);
// Delays all pending events and advances the clock by the same amount.
void event_shift(EventQueue *queue, SimTime by);
int32_t event_pending(const EventQueue *queue);
