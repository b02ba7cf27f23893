// Measurements that no constant of the simulator uses: their number, best figures, and the reason.
#pragma once

#include "calibrate/gpu/bench/bench.h"

enum { MOST_UNTAKEN = 12 };

typedef struct Untaken {
    const char *what, *why;
    int count;
    double least_seconds, most_rate; // bytes per second; 0 where nothing moves
    bool is_link;                    // its rate is one of the GPU's links
} Untaken;

typedef struct UntakenList {
    Untaken items[MOST_UNTAKEN];
    int count;
} UntakenList;

void untaken_note(UntakenList *list, const BenchCase *of, double seconds);
