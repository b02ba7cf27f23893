// A run as spans: what each stream of each rank did, with start and end. Names are indices into a table, so that
// files contain each once. It has no notion of models: causes, names and counters are strings with numbers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/clock.h"

typedef struct SpanProcess { // a rank
    int32_t id;              // its number; files number processes from 1
    int32_t stage;           // of a pipeline; -1: none
    const char *name;        // "rank 0 (stage 0, and 127 alike)"
    const SimTime *spent;    // [category] of its main stream
} SpanProcess;

typedef struct SpanTrack { // a stream of it, in the order in which they are shown
    int32_t process;
    const char *name;
} SpanTrack;

// What all transfers of one way of using a channel have in common.
typedef struct SpanTransfer {
    double bytes; // payload
    SimTime latency;
    int32_t members;  // actors that join: of a folded run one for all that do the same
    const char *link; // the one that it fills most; "" none
} SpanTransfer;

typedef enum SpanFlow { SPAN_FLOW_NONE, SPAN_FLOW_OUT, SPAN_FLOW_IN } SpanFlow;

typedef enum SpanClass { SPAN_OPERATION, SPAN_WAIT, SPAN_FORWARD, SPAN_BACKWARD, SPAN_BACKWARD_OF_WEIGHTS } SpanClass;

typedef struct Span {
    int32_t track;
    int32_t name;         // of names
    int16_t category;     // of categories, for sums of time
    int16_t chunk;        // the rank's part of the model, -1: none
    int32_t micro_batch;  // -1: none
    uint8_t flow;         // SpanFlow: from a sender, to a receiver
    uint8_t kind;         // SpanClass: passes are of the last three
    bool critical;        // on the path that decided the end, where the run kept it (RunOptions.chain)
    int32_t transfer;     // of transfers; -1: none
    int64_t meeting;      // the same for all ends of one transfer; else 0
    SimTime start, begun; // it came, and waited until the last of a transfer's members came
    SimTime end;
} Span;

typedef enum SpanQuantity {
    SPAN_TRAFFIC,
    SPAN_POWER,
    SPAN_MEMORY,
    SPAN_USAGE,
    SPAN_SIDE_TRAFFIC,
    SPAN_LOADER
} SpanQuantity;

// What carries bytes to or from a GPU: links of its own, and the NICs of its node together.
typedef enum SpanSide {
    SPAN_NVLINK_OUT,
    SPAN_NVLINK_IN,
    SPAN_PCIE_OUT,
    SPAN_PCIE_IN,
    SPAN_NICS_OUT,
    SPAN_NICS_IN,
    SPAN_SIDES // none of these
} SpanSide;

// A quantity over time: it holds from its point on.
typedef struct SpanCounter {
    SpanQuantity quantity;
    int32_t process; // -1: the network's
    const char *name, *unit;
    const SimTime *times;
    const double *values;
    int count;
} SpanCounter;

// What all of a name took on one rank, those left out among them.
typedef struct SpanSum {
    int32_t process;
    int32_t name;
    int16_t category;
    bool main; // of the main stream: its time is exposed
    int64_t count;
    SimTime total, longest;
} SpanSum;

// What a main stream is at, as one letter of a line of text.
typedef struct SpanKind {
    char letter;
    const char *name;
} SpanKind;

typedef struct SpanLane { // of a process' main stream, in bins of one width from the start
    SimTime width;
    int bin_count;
    const SimTime *spent; // [bin x kind]
} SpanLane;

// What a process' GPU had resident, all its streams together, in the terms of Holistic Trace Analysis. Compute, exposed
// communication, exposed memory and both kinds of idleness sum to the step.
typedef struct SpanBreakdown {
    SimTime compute, communication;
    SimTime overlap;               // communication hidden by compute
    SimTime exposed_communication; // not hidden by compute
    SimTime exposed_memory;        // copies hidden by neither compute nor communication
    SimTime idle_host, idle_other; // no kernel is running: the host is busy, or all wait
} SpanBreakdown;

typedef struct SpanSet {
    const char *title;
    const SpanProcess *processes;
    int process_count;
    const SpanTrack *tracks; // those of one process follow each other, the main stream first
    int track_count;
    const char *const *names;
    int name_count;
    const char *const *categories;
    int category_count;
    const Span *passes; // whole passes of micro-batches: spans of the main streams lie within them, none crosses one
    int64_t pass_count;
    const Span *spans; // in order on each track
    int64_t span_count;
    const SpanTransfer *transfers;
    int32_t transfer_count;
    const SpanCounter *counters;
    int counter_count;
    // USAGE (shares of time in slices of the step) and SIDE_TRAFFIC (bytes/s) of processes, or NULL. Not in files.
    const SpanCounter *curves;
    int curve_count;
    const SpanSum *sums;
    int sum_count;
    const SpanKind *kinds;
    int kind_count;
    const SpanLane *lanes;           // [process], or NULL
    const SpanBreakdown *breakdowns; // [process], or NULL
    int64_t seen;                    // spans that there were
    int32_t micro_batches;           // 0: there are no passes
    int32_t stride;                  // operations within passes are kept of every stride-th micro-batch; 1: of all
    int64_t left_out;                // spans that are not here
    SimTime end;
    const char *beside_end; // displayed after the end; NULL, "": nothing
} SpanSet;
