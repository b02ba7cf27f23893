// Candidate ways to run a collective on a back end, each with its latency and traffic. Private to this folder.
#pragma once

#include "models/network/loads.h"

#define CANDIDATE_LIMIT 12

typedef struct Candidate {
    const char *algorithm;
    Protocol protocol;
    int channels;
    double latency;                     // seconds
    double hidden;                      // seconds of steps that pass while bytes move: the root of both squares counts
    double believed;                    // seconds by which the candidate is chosen; 0: its own time
    double inside, between;             // bytes on the wire per byte of payload, for a load of 1
    double believed_between;            // value of `between` for the choice; 0: the same
    double posting;                     // seconds that proxies post messages, which likewise hide
    double launch;                      // seconds of launching that hide behind the rest; the longer of both counts
    double inside_limit, between_limit; // bytes per second of the pattern that software moves at most; 0 no limit
    bool limits_add;                    // what counts for both is the GPU's one way to the root complex
} Candidate;

int nccl_candidates(const Group *group, const CollectiveRequest *request, Candidate *candidates);
int host_candidates(const Group *group, Backend backend, CollectiveOp op, double bytes, Candidate *candidates);
// Adds what long lines on the way of these loads cost.
void count_lines(const Group *group, const Loads *loads, const CollectiveRequest *request, Candidate *candidate);

// Steps that double until they reach the number: 0 for 1, 3 for 5 to 8.
int log2_up(int number);
