// State of a Kineto import, shared by the files that read a trace.
#pragma once

#include <stdint.h>

#include "calibrate/gpu/import.h"
#include "sim/base/name_index.h"
#include "sim/data/kineto.h"

typedef struct KernelSum {
    char *name;
    const char *category;
    double count, microseconds, least, most;
} KernelSum;

typedef struct KernelSums {
    KernelSum *items;
    int count, room;
} KernelSums;

#define MOST_INPUTS 3
#define MOST_DIMS 3

// The arguments of an event.
typedef struct EventArguments {
    int64_t id;
    int input, dim_count[MOST_INPUTS]; // inputs so far
    double dims[MOST_INPUTS][MOST_DIMS];
    char type[32]; // of the first input
    char collective[32], collective_type[16], ranks[KINETO_NAME];
    double in_count, out_count, group;
} EventArguments;

typedef struct Product {
    const char *type; // in our words
    double batch, m, n, k;
} Product;

typedef struct Launched { // a product of the model, once
    int64_t id;
    int product;
    float microseconds;
} Launched;

// Of one size: kernels wait for the ranks that come later, so that the shortest of them is the exchange itself.
typedef struct Exchange {
    const char *operation, *type;
    double bytes, count, least;
    int ranks;
} Exchange;

typedef struct Trace {
    Arena *arena;
    KernelSums sums;
    bool for_shapes;
    char gpu[64];
    const KinetoEvent *event; // the event at its end, and its arguments
    EventArguments said;
    struct {
        Product *items;
        int count, room;
    } products;
    struct {
        Launched *items;
        int count, room;
    } launched;
    struct {
        Exchange *items;
        int count, room;
    } exchanges;
    int *slots; // launched by id: one more than its place, 0 free
    int slot_count;
    NameIndex *sum_names, *product_names, *exchange_names; // to places in those lists
} Trace;

// ---- Products and collectives (import_kineto_shapes.c): an event is at its end.
void trace_keep_shape(Trace *trace);
void trace_add_to_product(Trace *trace);
void trace_add_exchange(Trace *trace);
void trace_write_products(Import *import, Trace *trace);
void trace_write_exchanges(Import *import, const Trace *trace);
