// Half precision on the emulated GPU.
#pragma once

#include "small_float.h"

struct __half {
    unsigned short bits;
};
inline __half __float2half(float value) { return {(unsigned short)small_from_float(half_format, value)}; }
inline float __half2float(__half value) { return float_from_small(half_format, value.bits); }
