// A digest of a run: 64-bit FNV-1a over everything that happened, so that "the same run" can be checked by eye.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t digest_bytes(uint64_t digest, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++) digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
    return digest;
}

// Bytes from low to high, whatever the machine's order; those above the highest that is not zero at once.
static inline uint64_t digest_u64(uint64_t digest, uint64_t value) {
    static const uint64_t powers[] = {UINT64_C(0x1),
                                      UINT64_C(0x100000001b3),
                                      UINT64_C(0x366000002e329),
                                      UINT64_C(0x8a97b0004e7feab),
                                      UINT64_C(0x9ffaac085635bc91),
                                      UINT64_C(0xcaee32a7d4f6a63),
                                      UINT64_C(0xdc966432edf1c639),
                                      UINT64_C(0xc5527b8a51d3d2db),
                                      UINT64_C(0x1efac7090aef4a21)}; // of the prime, 0 to 8
    int left = 8;
    for (; value; value >>= 8, left--) digest = (digest ^ (value & 0xff)) * UINT64_C(0x100000001b3);
    return digest * powers[left];
}

// The same words again and again, from many digests. A byte changes the lowest eight bits alone before the product, and
// those of the product depend on nothing above them: so with d's lowest byte l, words make of d a multiple of it that
// is always the same, and something that depends on l alone.
typedef struct DigestWords {
    uint64_t factor; // 0: not known yet
    uint64_t added[256];
    bool known[256];
} DigestWords;

static inline uint64_t digest_words_again(uint64_t digest, const uint64_t *words, int count, DigestWords *seen) {
    uint64_t low = digest & 0xff;
    if (!seen->factor) {
        seen->factor = 1;
        for (int i = 0; i < count; i++) seen->factor *= UINT64_C(0x1efac7090aef4a21); // the prime to the 8th
    }
    if (!seen->known[low]) {
        uint64_t alone = low;
        for (int i = 0; i < count; i++) alone = digest_u64(alone, words[i]);
        seen->added[low] = alone - seen->factor * low;
        seen->known[low] = true;
    }
    return seen->factor * digest + seen->added[low];
}

// ---- SHA-256 (FIPS 180-4), for the content security policies of pages.
#define SHA256_BYTES 32
#define SHA256_BASE64_ROOM 45 // with the ending zero

void sha256(const void *data, size_t bytes, unsigned char digest[SHA256_BYTES]);
// The digest in base64 (RFC 4648), as "sha256-…" of a content security policy wants it.
void sha256_base64(const void *data, size_t bytes, char text[SHA256_BASE64_ROOM]);
