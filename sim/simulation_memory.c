// A limit on all arenas that ends the program with a sentence and exit status 1.
#include "sim/simulation_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/arena.h"
#include "sim/quantity.h"

static size_t most;

static void end_for_memory(void *context) {
    char text[32];
    (void)context;
    quantity_format((double)most, QUANTITY_BYTES, text, sizeof text);
    fprintf(stderr,
            "error: this simulation takes more than %s of memory\n"
            "  hint: simulate fewer GPUs, steps or points at once; lockstep run takes --simulation-memory BYTES\n",
            text);
    exit(1);
}

ArenaLimit simulation_memory_limit(size_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    if (bytes == 0 && pages > 0 && page > 0) bytes = (size_t)pages / 4 * 3 * (size_t)page;
    if (bytes == 0) bytes = SIZE_MAX;
    most = bytes;
    size_t used = arenas_bytes_used();
    return arenas_limit((ArenaLimit){bytes < SIZE_MAX - used ? used + bytes : SIZE_MAX, end_for_memory, NULL});
}
