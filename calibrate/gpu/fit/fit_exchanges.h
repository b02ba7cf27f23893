// Fitting exchanges of tokens among experts, a row of models/hardware/exchange.h for each mode, phase and generation of
// GPUs, to a table of them (columns gpu, library, mode, phase, nodes, ranks, tokens_per_rank, hidden, experts, topk,
// payload, sms, latency_us).
#pragma once

#include "models/hardware/exchange.h"
#include "sim/data/csv.h"

typedef struct ExchangePoint {
    const Gpu *gpu;
    const char *mode, *phase;
    ExchangeShape shape;
    double seconds;
} ExchangePoint;

typedef struct ExchangeGroup {
    ExchangeKernel kernel; // as fitted
    const char *architecture;
    ExchangePoint *items;
    int count, room;
    double median_error, p90_error, bias; // |predicted / measured - 1|, each half of the shapes from the other
} ExchangeGroup;

typedef struct ExchangesFit {
    ExchangeGroup *items;
    int count, room, left_out;
} ExchangesFit;

extern const char *const exchange_columns[];
extern const int exchange_column_count;
bool kernel_table_is_of_exchanges(const char *path);
// A row of a table that has these columns, its network that of the catalogue's node with such GPUs; NULL, or why it
// cannot be predicted. Problems where a cell cannot be read.
const char *exchange_point_read(const Catalogue *catalogue, const Csv *csv, int row, ExchangePoint *point,
                                Problems *problems);
// NULL after adding problems.
const ExchangesFit *exchanges_fit(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems);
