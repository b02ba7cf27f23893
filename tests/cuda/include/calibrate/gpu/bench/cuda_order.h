// The emulated GPU's own form of calibrate/gpu/bench/cuda_order.h. A line of LL is written and read as two halves of 8
// bytes, between which other threads may run; volatile accesses are points where they may run in any case.
#pragma once

#include <cstring>

void fence();

typedef struct LlLine {
    float a, b;
    unsigned flag_a, flag_b;
} LlLine;

struct LlHalf {
    float value;
    unsigned flag;
};

inline void ll_store_half(float *at, float value, unsigned flag) {
    LlHalf half = {value, flag};
    unsigned long long whole;
    memcpy(&whole, &half, sizeof whole);
    *(volatile unsigned long long *)at = whole;
}

inline LlHalf ll_load_half(const float *at) {
    unsigned long long whole = *(const volatile unsigned long long *)at;
    LlHalf half;
    memcpy(&half, &whole, sizeof half);
    return half;
}

inline void ll_store(float *line, float a, float b, unsigned flag) {
    ll_store_half(line, a, flag);
    ll_store_half(line + 2, b, flag);
}

inline LlLine ll_load(const float *line) {
    LlHalf a = ll_load_half(line), b = ll_load_half(line + 2);
    return {a.value, b.value, a.flag, b.flag};
}

inline unsigned __float_as_uint(float value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
