// What the two halves of the fluid engine share: fluid.c keeps transfers, links and the parts of the network that hang
// together; fluid_fill.c finds the fair levels of one part.
#ifndef LOCKSTEP_SIM_FLUID_INTERNAL_H
#define LOCKSTEP_SIM_FLUID_INTERNAL_H

#include "sim/exact.h"
#include "sim/fluid.h"

// Which links each active transfer crosses, watched ones first. Kept small: it is read for every transfer at every
// change.
typedef struct Route {
    int32_t first; // of its uses in the columns of Routes
    int16_t use_count, watched_count;
    int64_t share; // weight x fairness on every link it crosses; -1: see Routes.shares
} Route;

typedef struct Routes {
    Route *items; // [channel]
    int32_t *links;
    int32_t *positions; // where the use stands in the link's list of users
    int64_t *shares;
} Routes;

static inline int64_t share_of(const Routes *routes, const Route *route, int32_t use) {
    return route->share >= 0 ? route->share : routes->shares[route->first + use];
}

typedef struct User {
    int32_t channel;
    int32_t use; // which of the channel's uses names this link
} User;

typedef struct LinkState {
    Load capacity, load;
    int64_t share_sum; // of all users
    User *users;
    int32_t user_count;
    int32_t part;    // the remembered part it belongs to; 0 none
    int32_t visit;   // of the last walk that saw it
    int32_t full_at; // number of the last filling that found it full
    bool watched;    // a filling minds it from the start; the others only when overloaded
    bool suspect;    // overloaded in this filling
} LinkState;

#define LEVEL_NEW (LEVEL_MOST + 1) // of a transfer that no filling has seen yet
#define LEVEL_NONE (-1)

typedef struct Filling Filling;

// `limits` [channel]: the level its rate limit allows, LEVEL_MOST for none; NULL when no plan has a limit.
// `levels` [channel]: of active transfers, LEVEL_NEW before their first filling.
Filling *filling_create(Arena *arena, const System *system, Routes *routes, LinkState *links, const int64_t *limits,
                        int64_t *levels);
// New levels for those of the given transfers, a part of the network or more, whose level is at least `from`; the
// others are known not to change; -1 stands for none. Link loads follow. Returns how many levels changed; `changed`
// lists the transfers.
int32_t filling_fill(Filling *filling, const int32_t *channels, int32_t count, int64_t from, const int32_t **changed);

#endif
