// Whether a timeline file is one that Perfetto's importer takes without a complaint: its rules, written down anew
// (perfetto/src/trace_processor/importers/json, importers/common/slice_tracker and flow_tracker).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

typedef struct TraceSeen {
    const char *wrong; // the first rule that it breaks, as a sentence; NULL: none
    int slices, arrows, counters, tracks;
    int64_t longest_ns; // when the last slice ends
} TraceSeen;

TraceSeen check_chrome_trace(Arena *arena, const char *text, size_t bytes);

// A slice on a track, in the order of the file where times are equal.
typedef struct CheckedSlice {
    int64_t pid, tid, start, end; // ns
    int order;
} CheckedSlice;
// Whether slices nest on their tracks as a stack; sorts them. NULL: they do.
const char *check_nesting(CheckedSlice *slices, int count);
