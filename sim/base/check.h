// CHECK: assertions of program errors, active in every build. Users' errors go to problem.h.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: lockstep broke its own rule: %s\n", __FILE__, __LINE__, #condition);               \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)
