// A digest of a run: 64-bit FNV-1a over everything that happened, so that "the same run" can be checked by eye.
#ifndef LOCKSTEP_SIM_DIGEST_H
#define LOCKSTEP_SIM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
    return digest;
}

// Bytes from low to high, whatever the machine's order.
static inline uint64_t digest_u64(uint64_t digest, uint64_t value) {
    for (int i = 0; i < 8; i++) digest = (digest ^ (value >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
    return digest;
}

#endif
