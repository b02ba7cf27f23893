// Shared by the files of the fluid engine: fluid.c keeps transfers, rates, the earliest end and the links that never
// limit a rate; fluid_fill.c computes max-min fair rates.
#pragma once

#include "sim/fluid.h"

#define SHORT_ROUTE 4

// Which links each active transfer crosses, but for spare ones. Kept small: it is read for every transfer that changes.
typedef struct Route {
    int64_t share; // weight x fairness on every link it crosses; -1: see Routes.shares
    int32_t first; // of its uses in the columns of Routes
    int32_t use_count;
    int32_t links[SHORT_ROUTE]; // of a short one
} Route;

typedef struct Routes {
    Route *items; // [channel]
    int32_t *links;
    int32_t *positions; // index of the use in the link's list of users
    int64_t *shares;
} Routes;

static inline const int32_t *links_of(const Routes *routes, const Route *route) {
    return route->use_count <= SHORT_ROUTE ? route->links : &routes->links[route->first];
}

static inline int64_t share_of(const Routes *routes, const Route *route, int32_t use) {
    return route->share >= 0 ? route->share : routes->shares[route->first + use];
}

// Who uses a link now.
typedef struct User {
    int32_t channel;
    int32_t use; // which of the channel's uses names this link
    int64_t share;
} User;

typedef struct LinkUsers {
    User *list;
    int32_t count;
} LinkUsers;

// A transfer under way. One cache line: all of it is wanted when its rate changes.
typedef struct Activity {
    const Plan *plan; // NULL: idle
    double bytes_left, rate, fairness;
    SimTime settled; // bytes_left is true for this time
    SimTime end;     // at the present rate
    SimTime bound;   // in its Soonest: it ends then or later
    int32_t position;
} Activity;

typedef struct Soonest Soonest;

// A set of channels, by when activities[channel] will end.
Soonest *soonest_create(Arena *arena, int32_t channels, Activity *activities);
void soonest_add(Soonest *soonest, int32_t channel);
void soonest_remove(Soonest *soonest, int32_t channel);
void soonest_move(Soonest *soonest, int32_t channel); // after its end has
void soonest_shift(Soonest *soonest, SimTime by);     // after all ends have been shifted
// The channel that ends first, the lowest number of several; -1: none is active.
int32_t soonest_first(Soonest *soonest);

typedef struct Filling Filling;

// `limits` [channel]: the level its rate limit allows, LEVEL_MOST for none; NULL when no plan has a limit.
// `levels` [channel]: of active transfers, true after filling_fill.
Filling *filling_create(Arena *arena, const System *system, const Routes *routes, const LinkUsers *users,
                        const int64_t *limits, int64_t *levels);
// A transfer that the links' lists of users name has come; or one that they no longer name has gone.
void filling_add(Filling *filling, int32_t channel);
void filling_remove(Filling *filling, int32_t channel);
// The same for one that has all its links to itself, whose level is true at once.
void filling_add_alone(Filling *filling, int32_t channel);
// Makes all levels fair again. Returns how many may have changed since the last time; `changed` lists the transfers,
// among which some may be gone.
int32_t filling_fill(Filling *filling, const int32_t **changed);
// Links whose load is off by no more than this share of their capacity are let be: rates are fair, and links full, to
// about as much. The account of loads stays exact, so that errors do not add up. 0: none are.
void filling_set_tolerance(Filling *filling, double tolerance);
// How often a fill may look at a link before it starts over from nothing, as a multiple of the number of links. Results
// do not depend on it; for tests.
void filling_set_patience(Filling *filling, int64_t patience);
