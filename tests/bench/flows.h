// Systems of plain flows between hosts, for measuring the flow engine: all links full duplex, 50 GB/s and 1 us each.
#pragma once

#include "sim/program.h"

// A fat tree of three levels after Öhring et al. (1995): XGFT(3; down; up), non-blocking where the products agree,
// routed destination-mod-k (Zahavi, 2010).
typedef struct FatTree {
    int down[3], up[3];
} FatTree;

// Ring all_reduce of `bytes` over hosts on one switch: 2(N-1) barrier-separated steps of N simultaneous flows to the
// next host.
System ring_on_star(Arena *arena, int hosts, double bytes);
// Every host sends bytes(i, j) to every other at once. `fairness_by_latency`: a flow's weight is the inverse of its
// latency, as for TCP (and as in SimGrid).
System all_to_all_on_fat_tree(Arena *arena, const FatTree *tree, double (*bytes)(int i, int j),
                              bool fairness_by_latency);
// Shift s of `shifts`: every host sends bytes(h, s) to the host s further on, and all wait for all. Host 0's cable has
// `slow` of the others' rate.
System shifts_on_fat_tree(Arena *arena, const FatTree *tree, int shifts, double (*bytes)(int i, int j), double slow);
