// The state of one simulated life.
#pragma once

#include "models/workload/life/life.h"
#include "sim/base/random.h"
#include "sim/event.h"

typedef enum LifeEvent {
    EVENT_PHASE, // what the job is at is over
    EVENT_FAULT, // item: component
    EVENT_BAD_NODE,
    EVENT_SILENT_SEEN,
    EVENT_REPAIRED, // item: node
    EVENT_RACK,
    EVENT_SLOW,
    EVENT_SLOW_SEEN, // item: node
    EVENT_FLAP,
    EVENT_PLANNED,
    EVENT_SPOT_NOTICE,
    EVENT_SPOT,
    EVENT_COUNT
} LifeEvent;

// Failures of a group of equal things that are made as good as they were: a process with hazard of a power of age
// (Weibull; Crow, 1974), or a constant one.
typedef struct Arrivals {
    RandomStream stream;
    double rate; // of all together, per second; 0 never
    double shape, scale_s, age_s;
    double last_s;
} Arrivals;

enum {
    ARRIVALS_RACK = FAULT_COMPONENT_COUNT,
    ARRIVALS_SLOW,
    ARRIVALS_FLAP,
    ARRIVALS_PLANNED,
    ARRIVALS_SPOT,
    ARRIVALS_COUNT
};

enum { IN_SPARES = -1, IN_REPAIR = -2 };

typedef struct Node {
    int32_t slot; // of the job, or IN_SPARES, IN_REPAIR
    int32_t strikes;
    bool is_bad, is_slow;
    SimTime back; // in repair: when it comes
} Node;

typedef struct Saved { // the newest state that can be read back, and the one on its way
    SimTime progress, coming, comes_at;
} Saved;

typedef struct Life {
    const LifeSpec *spec;
    EventQueue *queue;
    LifeRun result;
    LifeCalendar *calendar; // or NULL
    // The job
    LifeTime phase;
    SimTime phase_start, phase_length;
    EventId phase_end;
    int cause;              // of the stop that goes on
    SimTime due;            // the next checkpoint, in training
    SimTime progress, work; // work 0: until the horizon
    SimTime horizon;
    Saved storage, memory;
    SimTime last_storage;  // when the last copy to storage began
    SimTime clean;         // state before an undetected corruption; -1 none
    bool read_from_memory; // the restart does
    bool planned_due, swap_due, grow_due;
    bool one_by_one; // every checkpoint an event
    int replicas, most_replicas;
    // The machines
    Node *nodes;
    int node_count;
    int32_t *node_of_slot; // -1 empty
    int active, slow_count;
    int32_t *spares; // a stack
    int spare_count;
    int32_t *seen_slow; // to be taken out at the next stop
    int seen_slow_count;
    int silent_node;
    // Chance
    uint64_t seed;
    Arrivals arrivals[ARRIVALS_COUNT];
    Arrivals *bad; // [node_count], of those that are bad
    RandomStream place, detail, mend;
    double rate_factor[FAULT_COMPONENT_COUNT], restart_factor, repair_factor;
    double hardware_rate; // of a node, all that repair mends
} Life;

// Kept in a calendar too, whose width and stretches are there.
LifeRun life_run_kept(const LifeSpec *spec, uint64_t seed, LifeCalendar *calendar);

// life_study.c: that time was spent, all of it on one thing or, in training, less what slow nodes and missing
// replicas took of it …
typedef struct LifeParts {
    SimTime slow, shrunk;
} LifeParts;
void calendar_spend(LifeCalendar *calendar, SimTime from, SimTime to, LifeTime on);
void calendar_train(LifeCalendar *calendar, SimTime from, SimTime to, LifeParts parts);
void calendar_lose(LifeCalendar *calendar, SimTime time, SimTime lost); // … and that the newest training is lost
void calendar_stop(LifeCalendar *calendar, SimTime time);

// The same life with every checkpoint an event, for tests: equal cycles are not skipped at once.
LifeRun life_run_one_by_one(const LifeSpec *spec, uint64_t seed);

SimTime life_ticks(double seconds);
void life_draw_world(Life *life);                    // bad nodes, uncertain rates, first arrivals
bool arrivals_next(Arrivals *arrivals, SimTime *at); // false: beyond any calendar
void life_schedule_arrivals(Life *life, int which);  // the next of that kind
void life_schedule_bad(Life *life, int node);
int life_bad_component(Life *life); // of a failure of a bad node

// Machines. A node that leaves is repaired after `wait` and returns as a spare.
void life_place_nodes(Life *life);
int life_random_node(Life *life); // that a random slot holds, or -1
void life_remove_node(Life *life, int node, SimTime wait);
void life_remove_slow_nodes(Life *life);
void life_fill_slots(Life *life);
void life_node_back(Life *life, int node);
SimTime life_repair_time(Life *life, double mean_s);
