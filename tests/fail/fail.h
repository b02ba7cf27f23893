// What the library that makes calls fail shares with the test that drives it.
#pragma once

#include <stdint.h>

// In a file in memory whose descriptor LOCKSTEP_FAIL_PLAN names: calls of the program and of the processes it forks.
typedef struct FailPlan {
    int64_t memory_fails_at; // 1: the first allocation; 0: none
    int forever;             // and all after it
    int watch_calls;         // the system's calls go by the listener that comes through LOCKSTEP_FAIL_SOCKET
    int64_t allocations;     // counted
} FailPlan;
