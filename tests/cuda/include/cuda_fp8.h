// FP8 (E4M3) on the emulated GPU.
#pragma once

#include "small_float.h"

struct __nv_fp8_e4m3 {
    unsigned char bits;
    __nv_fp8_e4m3() = default;
    explicit __nv_fp8_e4m3(float value) : bits((unsigned char)small_from_float(e4m3_format, value)) {}
    explicit operator float() const { return float_from_small(e4m3_format, bits); }
};
