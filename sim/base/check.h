// CHECK: our own mistakes stop the program, in every build. The user's mistakes go to problem.h.
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
