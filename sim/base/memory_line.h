// Arrays that begin with a line of memory: what lies within one costs one fetch, where memory is in no cache.
#pragma once

#include <stdint.h>

#include "sim/base/arena.h"

#define MEMORY_LINE 64
// Zeros that begin with a line of memory.
#define LINES(arena, type, count)                                                                                      \
    (type *)(((uintptr_t)arena_array(arena, (size_t)(count) + 1 + MEMORY_LINE / sizeof(type), sizeof(type)) +          \
              MEMORY_LINE - 1) /                                                                                       \
             MEMORY_LINE * MEMORY_LINE)
