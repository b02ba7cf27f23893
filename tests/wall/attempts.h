// What code that has got out of the Lua sandbox would try, call by call.
#pragma once

#include <stdbool.h>

typedef struct Attempt {
    const char *name;
    bool (*is_refused)(void); // by the wall, whatever the user's own rights
} Attempt;

extern const Attempt attempts[];
extern const int attempt_count;
