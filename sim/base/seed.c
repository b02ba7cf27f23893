// Integers above 2^53 are not all representable as doubles.
#include "sim/base/seed.h"

#include "sim/base/quantity.h"

bool digits_read(const char *text, uint64_t *number) {
    uint64_t read = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (read > (UINT64_MAX - digit) / 10) return false;
        read = 10 * read + digit;
    }
    if (at == text || *at) return false;
    *number = read;
    return true;
}

bool seed_read(const char *text, uint64_t *seed) {
    const char *why;
    double count;
    if (digits_read(text, seed)) return true;
    if (!quantity_parse(text, QUANTITY_COUNT, &count, &why)) return false;
    *seed = (uint64_t)count;
    return true;
}
