// The table of GPU generations.
#include "models/hardware/architecture.h"

#include <string.h>

static const struct {
    const char *name;
    int year;
} rows[ARCHITECTURE_COUNT] = {
    [ARCHITECTURE_OTHER] = {"", 0},    [KEPLER] = {"Kepler", 2012}, [MAXWELL] = {"Maxwell", 2014},
    [PASCAL] = {"Pascal", 2016},       [VOLTA] = {"Volta", 2017},   [TURING] = {"Turing", 2018},
    [AMPERE] = {"Ampere", 2020},       [ADA] = {"Ada", 2022},       [HOPPER] = {"Hopper", 2022},
    [BLACKWELL] = {"Blackwell", 2024},
};

Architecture architecture_called(const char *name) {
    for (int i = 1; name && i < ARCHITECTURE_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0) return (Architecture)i;
    return ARCHITECTURE_OTHER;
}

int architecture_year(Architecture architecture) { return rows[architecture].year; }
