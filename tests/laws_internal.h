// The laws by file, and what they share.
#pragma once

#include "tests/laws.h"

typedef Verdict Judge(const DrawnStudy *study, uint64_t seed, Finding *finding);

Judge law_faster_parts, law_more_of_a_setting, law_faster_fabric;  // laws_resources.c
Judge law_further_node;                                            // laws_collectives.c
Judge law_contention, law_bounds, law_bytes, law_alike, law_twice; // laws_steps.c
Judge law_zero, law_shards, law_recompute, law_micro_batch;        // laws_memory.c

Judge law_life; // laws_life.c

#define ROUNDING 1e-9 // of a comparison of sums in another order, and of ticks

// Broken where `larger` exceeds `bound` by more than rounding; neither below 0.
Verdict at_most(double larger, double bound, const char *what, Finding *finding);
// A whole number of the study, or what it is when left out.
int drawn_count(const DrawnStudy *study, const char *path, int usual);
void drawn_set_count(DrawnStudy *study, const char *path, int value);
void drawn_drop(DrawnStudy *study, const char *object);                     // with all its fields
bool drawn_is(const DrawnStudy *study, const char *path, const char *text); // without its quotes
