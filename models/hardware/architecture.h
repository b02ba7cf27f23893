// Generations of GPUs, by their makers' names.
#pragma once

typedef enum Architecture {
    ARCHITECTURE_OTHER, // of a user's own GPU, or another maker's
    KEPLER,
    MAXWELL,
    PASCAL,
    VOLTA,
    TURING,
    AMPERE,
    ADA,
    HOPPER,
    BLACKWELL,
    ARCHITECTURE_COUNT
} Architecture;

Architecture architecture_called(const char *name); // "Hopper"; ARCHITECTURE_OTHER: not one of these
// Of its first data-centre part; 0: not known.
int architecture_year(Architecture architecture);
