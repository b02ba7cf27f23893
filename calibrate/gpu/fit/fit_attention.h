// Fitting kernels of flash attention, a row of models/hardware/flash.h for each kernel and generation of GPUs, to a
// table of them (columns gpu, family, dtype, kernel, batch, seq, heads, kv_heads, qk_dim, v_dim, causal, window,
// latency_us).
#pragma once

#include "models/hardware/flash.h"
#include "sim/data/csv.h"

typedef struct AttentionPoint {
    const Gpu *gpu;
    FlashShape shape;
    double seconds;
} AttentionPoint;

typedef struct AttentionGroup {
    FlashKernel kernel; // as fitted
    const char *architecture;
    AttentionPoint *items;
    int count, room;
    double share_sigma;                   // relative
    double median_error, p90_error, bias; // |predicted / measured - 1|, each half of the shapes from the other
} AttentionGroup;

typedef struct AttentionFit {
    AttentionGroup *items;
    int count, room, left_out;
} AttentionFit;

bool kernel_table_is_of_attention(const char *path);
// NULL after adding problems.
const AttentionFit *attention_fit(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems);
