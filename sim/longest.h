// Diagnosis of a run that exceeds the clock's range: the message, and the operations that take longest.
#pragma once

#include "sim/base/problem.h"
#include "sim/program.h"

typedef struct Longest {
    double seconds; // of the operation that takes longest by itself
    int cause;
    const char *link; // that it goes over, the slowest for its bytes; NULL: it is work, or takes so long by itself
    double bytes_per_second;
} Longest;

Longest longest_operation(const System *system);

// "… takes longer than 106 days", with what takes longest as a hint; `what` is "this step".
void problem_beyond_clock(Problems *problems, Where where, const char *what, const System *system);
