// Records made by hand for the tests of results.
#pragma once

#include "sim/data/record.h"

Record *record_of_one(Arena *arena);      // one point of 8 GPUs with everything known
Record *record_of_scaling(Arena *arena);  // 1, 8, 64, 512 GPUs and one that does not run
Record *record_of_pipeline(Arena *arena); // one point with a timeline: 4 stages, 8 micro-batches
