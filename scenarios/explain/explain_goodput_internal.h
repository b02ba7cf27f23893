// What explain_goodput.c finds out and explain_goodput_answer.c tells.
#ifndef LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_INTERNAL_H
#define LOCKSTEP_SCENARIOS_EXPLAIN_GOODPUT_INTERNAL_H

#include "scenarios/explain/explain_goodput.h"
#include "scenarios/questions/goodput.h"

#define GOODPUT_MATTERS 0.0005 // of all time: what gives back less is said not to help

typedef enum GoodputVerdict {
    GOODPUT_HELPS,
    GOODPUT_FREES,  // nodes that stand by for nothing: less is paid, and goodput hardly moves
    GOODPUT_CHANCE, // the difference is within its 90 % range
    GOODPUT_LITTLE, // surely, but below GOODPUT_MATTERS
    GOODPUT_DEARER, // the spare nodes that it takes are paid for longer than they train
    GOODPUT_WORSE,  // surely
    GOODPUT_VERDICT_COUNT
} GoodputVerdict;

typedef struct Paired { // mean over runs of a difference under the same failures
    double mean, half;  // half of a 90 % interval of that mean; NAN of one run
    double low, high;   // 5 and 95 % of single runs, each of which draws failure rates of its own
} Paired;

typedef struct GoodputTrial {
    const char *name, *title;
    const char *option; // as lockstep goodput takes it, besides what was asked; NULL: a change of the machines
    const char *pinned; // what goes with it where the best interval was asked for: that interval; ""
    int spares;
    LifeStudy study;
    Paired gain, hours, gpu_hours; // goodput; training or end sooner; the same of all GPUs, less what more is paid for
    GoodputVerdict verdict;
} GoodputTrial;

typedef struct GoodputFound {
    Arena *arena;
    const GoodputAsked *asked;
    const LifeStudy *now;
    const GoodputTrial *trials; // by gain, most first
    int trial_count;
    double price;             // of a GPU for an hour, in USD; NAN: nobody says
    double least, most;       // that providers ask; as the price where one was said
    const char *paid;         // "$5.22 a GPU-hour"; NULL: nobody says
    const char *price_source; // or NULL: as the user said
} GoodputFound;

void goodput_explained(Answer *answer, const GoodputFound *found);

#endif
