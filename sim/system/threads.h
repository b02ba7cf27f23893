// Threads that work on one thing again and again, for a short while each time: so often that starting them would take
// longer. They stay with the process, and wait. Nothing else of the program is shared by threads.
#pragma once

#include "sim/base/options.h"

#define THREADS_MOST 64

// work(context, n) for each n below the count: 0 here, the others on threads of their own, where the system gives some;
// here otherwise. Back when all are done.
void threads_work(int count, void (*work)(void *context, int number), void *context);

// ---- From options: how many of them simulations may take, where they know how to use some.
#define THREADS_OPTION                                                                                                 \
    {                                                                                                                  \
        .name = "threads", .kind = OPTION_COUNT, .metavar = "N", .of = OF_FORM,                                        \
        .help = "of a simulation as packets; the answer is the same (default 1)"                                       \
    }
void threads_want(const Options *options, Problems *problems);
int threads_wanted(void);
