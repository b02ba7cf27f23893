// Asks the whole program within a child process.
#pragma once

#include <stddef.h>

typedef struct ProgramSaid {
    char *screen, *complaints; // of `bytes` each, cut at their ends; complaints NULL: on the screen too
    size_t bytes;
} ProgramSaid;

// `line` is as in a shell, "hw show \"Tesla T4\"", with $DIR for the folder. The exit status, or 128 + the signal.
int program_answers(const char *line, const char *folder, ProgramSaid *said);
