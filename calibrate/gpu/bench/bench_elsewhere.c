// Finds and executes lockstep-bench, a separate program, since lockstep itself contains no CUDA. Both link this file,
// which depends on nothing of sim.
#include "calibrate/gpu/bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define BENCH "lockstep-bench"
#define EXIT_WORLD 1

static const char *const places[] = {BENCH, "cuda/" BENCH}; // relative to this program: as installed, as built

// The folder of the running program, with its last slash; empty if unknown.
static void own_folder(char *folder, size_t bytes) {
    ssize_t length = readlink("/proc/self/exe", folder, bytes - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) slash[1] = '\0';
}

int bench_elsewhere(char **argv) {
    char folder[PATH_MAX], path[PATH_MAX + sizeof "cuda/" BENCH];
    own_folder(folder, sizeof folder);
    fflush(NULL);
    for (size_t i = 0; i < sizeof places / sizeof *places && folder[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (access(path, X_OK) != 0) continue;
        execv(path, argv);
        fprintf(stderr, "error: %s: %s\n", path, strerror(errno));
        return EXIT_WORLD;
    }
    execvp(BENCH, argv);
    if (errno != ENOENT)
        fprintf(stderr, "error: " BENCH ": %s\n", strerror(errno));
    else
        fprintf(stderr, "error: " BENCH ", which measures, is neither beside this program nor on the PATH\n"
                        "  hint: make cuda builds it where nvcc is found; --dry-run prints the plan here\n");
    return EXIT_WORLD;
}
