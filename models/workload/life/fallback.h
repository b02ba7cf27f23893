// A job with a date that runs on spot machines while it can afford to, and falls back on machines that stay. The rule
// is the safety net of "Can't Be Late" (Wu et al., NSDI 2024): run on spot until the time left to the date is what the
// work left would take on demand, the move counted; then move, and stay. It is not begun on spot where an hour's
// progress there costs more than on demand;
// and a date that would be missed on demand as well is not paid for.
//
// Nodes are taken back at random (exponential). The job then stands still until another is there, starts again and does
// once more what no checkpoint kept; the nodes that it still has are paid for meanwhile.
#ifndef LOCKSTEP_WORKLOAD_FALLBACK_H
#define LOCKSTEP_WORKLOAD_FALLBACK_H

#include <stdbool.h>

#include "sim/random.h"

typedef struct FallbackSpec {
    double work_s;       // of wall time on machines that stay
    double foresight;    // time counted on for what is left of it, over what it will take: 1 is foreseen exactly
    double taken_rate;   // per second, of any node of the job; 0: none ever is
    double wait_s;       // mean until another is there (exponential)
    double restart_s;    // of the job, after a wait or on the other machines
    double every_s;      // of work between checkpoints; INFINITY: none are made
    double stall_s;      // that one takes beyond what work_s has of them
    bool saves_in_time;  // one is made between the notice and the end
    double spot_price;   // of the whole cluster for a second
    double demand_price; // the same of machines that stay; 0: they are not had
    double by_s;         // the date, from the start; INFINITY: none
} FallbackSpec;

typedef struct FallbackRun {
    double wall_s, spot_s; // spot_s: of them on spot, waiting counted in
    double work_on_spot_s; // of work_s
    int taken;             // times that a node was taken back
    bool fell_back;        // after it began on spot
    bool gave_up;          // on spot to the end: it is not done in FALLBACK_PATIENCE times its work
} FallbackRun;

#define FALLBACK_PATIENCE 4.0 // nobody stays longer on spot than so many times the work

// Work per second of wall time on spot, in the long run: a geometric number of checkpoints between two ends (Daly,
// 2006).
double fallback_spot_speed(const FallbackSpec *spec);
bool fallback_spot_pays(const FallbackSpec *spec);

// With the rule above; on spot to the end where demand_price is 0.
FallbackRun fallback_run(const FallbackSpec *spec, RandomStream *stream);
double fallback_cost(const FallbackSpec *spec, const FallbackRun *run);

#endif
