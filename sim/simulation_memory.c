// A limit on all arenas that ends the program with a sentence.
#include "sim/simulation_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/arena.h"
#include "sim/quantity.h"

enum { FAILED = 1, BAD_INPUT = 4 };

typedef struct Most {
    size_t bytes;
    int status; // to end with
} Most;

static Most of_machine = {.status = FAILED}, asked_for = {.status = BAD_INPUT};

static void end_for_memory(void *context) {
    const Most *most = context;
    char text[32];
    quantity_format((double)most->bytes, QUANTITY_BYTES, text, sizeof text);
    fprintf(stderr,
            "error: this simulation takes more than %s of memory\n"
            "  hint: simulate fewer GPUs, steps or points at once; lockstep run takes --simulation-memory BYTES\n",
            text);
    exit(most->status);
}

ArenaLimit simulation_memory_limit(size_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    Most *most = bytes ? &asked_for : &of_machine;
    if (bytes == 0 && pages > 0 && page > 0) bytes = (size_t)pages / 4 * 3 * (size_t)page;
    if (bytes == 0) bytes = SIZE_MAX;
    most->bytes = bytes;
    size_t used = arenas_bytes_used();
    return arenas_limit((ArenaLimit){bytes < SIZE_MAX - used ? used + bytes : SIZE_MAX, end_for_memory, most});
}
