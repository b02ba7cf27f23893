// Seeds of random draws: 64-bit integers, parsed and printed the same way everywhere, never through a double.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SEED_RANGE "a whole number from 0 to 18446744073709551615"

// Digits and nothing else, up to 2^64 - 1: "7", "007". False for all else.
bool digits_read(const char *text, uint64_t *number);
// Such digits, or a count as it is written elsewhere ("7.0", "1e3", "2k"; up to 9e15, where each is exact). False: it
// is no seed, and *seed stays.
bool seed_read(const char *text, uint64_t *seed);
