// What the writers of traces share: bytes that grow up to a limit, and which spans a file has.
#ifndef LOCKSTEP_RESULTS_TRACE_BUFFER_H
#define LOCKSTEP_RESULTS_TRACE_BUFFER_H

#include "results/trace_file.h"

typedef struct TraceBuffer {
    unsigned char *bytes;
    size_t count, room, most;
    bool full; // what came then is lost
} TraceBuffer;

void buffer_add(TraceBuffer *buffer, const void *bytes, size_t count);
void buffer_text(TraceBuffer *buffer, const char *text);
void buffer_integer(TraceBuffer *buffer, int64_t number);
void buffer_close(TraceBuffer *buffer);

typedef struct TraceCut {
    int32_t stride;
    bool without_curves; // of ranks: power and memory
    int64_t left_out;    // all spans that the file has not; counted before it is written
    const char *sentence;
} TraceCut;

static inline bool span_is_in(const Span *span, const TraceCut *cut) {
    return span->micro_batch < 0 || span->micro_batch % cut->stride == 0;
}

static inline bool counter_is_in(const SpanCounter *counter, const TraceCut *cut) {
    return counter->process < 0 || !cut->without_curves;
}
// Where it goes on as before there is nothing to say.
static inline bool point_is_in(const SpanCounter *counter, int i) {
    return i == 0 || i == counter->count - 1 || counter->values[i] != counter->values[i - 1];
}

// Ends of a transfer that files have both, in order of meetings: where the arrow starts and where it ends.
typedef struct TraceArrow {
    const Span *from, *to;
} TraceArrow;
const TraceArrow *trace_arrows(Arena *arena, const SpanSet *set, const TraceCut *cut, int64_t *count);

static inline int64_t trace_ns(SimTime time) { return time / 1000; }
// What the network's counters stand under, after all ranks.
static inline int64_t trace_network_pid(const SpanSet *set) {
    return set->process_count ? (int64_t)set->processes[set->process_count - 1].id + 2 : 1;
}

void chrome_write(Arena *arena, TraceBuffer *out, const SpanSet *set, const TraceCut *cut);
void perfetto_write(Arena *arena, TraceBuffer *out, const SpanSet *set, const TraceCut *cut);

#endif
