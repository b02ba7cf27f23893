// Ranks joined by one TCP connection per pair: send and receive at once, barrier, agreement. After a failed
// connection later calls do nothing; `failed` gives the reason.
#pragma once

#include <stddef.h>

#include "sim/base/arena.h"

typedef struct Wire {
    int rank, rank_count;
    int *sockets;       // [rank_count], of this rank itself -1
    const char *failed; // a sentence, or NULL
    Arena *arena;
} Wire;

// Every rank is given the same list of addresses; rank i listens on its own at `port + i`. Waits up to `patience`
// seconds for the others.
Wire wire_open(Arena *arena, int rank, const char *const *hosts, int rank_count, int port, double patience);
void wire_close(Wire *wire);

// Sends to one rank and receives from one, both at once; -1 for neither. Returns when all is received and what
// was sent is in the kernel's hands, or, if long, with the peer.
void wire_exchange(Wire *wire, int to, const void *out, size_t out_bytes, int from, void *in, size_t in_bytes);
void wire_barrier(Wire *wire);                                            // returns when all ranks have come
void wire_tell(Wire *wire, void *data, size_t bytes);                     // rank 0's bytes to all
void wire_collect(Wire *wire, const void *mine, size_t bytes, void *all); // to rank 0; `all` only used there

double wire_clock(void); // seconds, monotonic
