// lockstep itself holds no CUDA: what measures is lockstep-bench, a program of its own, which takes this one's place.
#include "calibrate/gpu/bench/bench.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sim/system/shipped.h"

#define BENCH "lockstep-bench"
#define EXIT_WORLD 1

int bench_elsewhere(char **argv) {
    Arena *arena = arena_open();
    const char *path = shipped_program(arena, BENCH);
    fflush(NULL);
    if (path) {
        execv(path, argv);
        fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
    } else {
        fprintf(stderr, "error: " BENCH ", which measures, is neither beside this program nor on the PATH\n"
                        "  hint: make cuda builds it where nvcc is found; --dry-run prints the plan here\n");
    }
    arena_close(arena);
    return EXIT_WORLD;
}
