// SHA-256 as in FIPS 180-4, without optimisation: pages are small.
#include "sim/base/digest.h"

#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 64

// The first 32 bits of the fractions of the cube roots of the first 64 primes (section 4.2.2).
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static void fill_schedule(uint32_t schedule[64], const unsigned char *block) {
    for (int i = 0; i < 16; i++)
        schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t near = schedule[i - 2], far = schedule[i - 15];
        uint32_t sigma1 = rotate_right(near, 17) ^ rotate_right(near, 19) ^ near >> 10;
        uint32_t sigma0 = rotate_right(far, 7) ^ rotate_right(far, 18) ^ far >> 3;
        schedule[i] = sigma1 + schedule[i - 7] + sigma0 + schedule[i - 16];
    }
}

// Section 6.2.2, with the standard's letters.
static void take_block(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64], v[8];
    fill_schedule(w, block);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        uint32_t choice = (e & v[5]) ^ (~e & v[6]);
        uint32_t t1 = v[7] + sum1 + choice + round_constants[i] + w[i];
        uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + sum0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

// What is left behind whole blocks, the bit 1, and the length in bits at the very end.
static void take_end(uint32_t state[8], const unsigned char *rest, size_t rest_bytes, uint64_t all_bytes) {
    unsigned char end[2 * BLOCK_BYTES] = {0};
    size_t length = rest_bytes + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    if (rest_bytes > 0) memcpy(end, rest, rest_bytes);
    end[rest_bytes] = 0x80;
    for (size_t i = 0; i < 8; i++) end[length - 1 - i] = (unsigned char)(all_bytes * 8 >> 8 * i);
    for (size_t at = 0; at < length; at += BLOCK_BYTES) take_block(state, end + at);
}

void sha256(const void *data, size_t bytes, unsigned char digest[SHA256_BYTES]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *text = data;
    size_t whole = bytes / BLOCK_BYTES * BLOCK_BYTES;
    for (size_t at = 0; at < whole; at += BLOCK_BYTES) take_block(state, text + at);
    take_end(state, bytes > whole ? text + whole : NULL, bytes - whole, bytes);
    for (int i = 0; i < SHA256_BYTES; i++) digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_base64(const void *data, size_t bytes, char text[SHA256_BASE64_ROOM]) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char digest[SHA256_BYTES + 1] = {0}; // 11 groups of three bytes, the last of two
    sha256(data, bytes, digest);
    for (int i = 0; i < 11; i++) {
        uint32_t group = (uint32_t)digest[3 * i] << 16 | (uint32_t)digest[3 * i + 1] << 8 | digest[3 * i + 2];
        for (int k = 0; k < 4; k++) text[4 * i + k] = letters[group >> (18 - 6 * k) & 63];
    }
    text[SHA256_BASE64_ROOM - 2] = '=';
    text[SHA256_BASE64_ROOM - 1] = '\0';
}
