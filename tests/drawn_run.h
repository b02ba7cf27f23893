// A drawn study as a user would run it: written, loaded, simulated, printed in every form, and held to what must be so
// of any answer. A broken law is a CHECK, which says which.
#pragma once

#include <stdbool.h>

#include "tests/draw_study.h"

typedef enum DrawnEnd {
    DRAWN_RAN,     // one point at least
    DRAWN_REFUSED, // with a sentence
    DRAWN_ENDS
} DrawnEnd;

#define DRAWN_MOST_EVENTS 2e6 // seconds under sanitizers

// twins: small jobs are simulated again, and once more rank by rank. most_events: of one simulation; beyond that it
// ends with a sentence.
DrawnEnd drawn_run(const DrawnStudy *study, bool twins, double most_events);
