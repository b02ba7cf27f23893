// Spans as a file for the timeline viewers Perfetto and Chrome: JSON of Chrome's trace events. Times are whole
// nanoseconds; a file above the size limit has the operations of fewer micro-batches.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/problem.h"
#include "sim/spans.h"

// Whether a file of this name is a timeline: by its end, with ".gz" or without.
bool trace_is_named(const char *path, bool *zipped);
// Number of spans that certainly fill `bytes` twice: more are not worth recording for such a file.
int64_t trace_span_room(double bytes);

typedef struct TraceBytes {
    unsigned char *bytes; // free them
    size_t count;
    int32_t stride;      // operations within passes are those of every stride-th micro-batch
    int64_t left_out;    // spans of the run that the file has not
    bool without_curves; // of ranks
} TraceBytes;

// False after a problem: even without the operations of passes it is larger than `most` bytes.
bool trace_write(Arena *arena, const SpanSet *set, double most, TraceBytes *file, Problems *problems);
// The same bytes as gzip has them (RFC 1952), without a time, so that the same run is the same file.
void trace_zip(TraceBytes *file);

// What the file leaves out, as a sentence; NULL: nothing.
const char *trace_left_out(Arena *arena, const SpanSet *set, const TraceBytes *file);
