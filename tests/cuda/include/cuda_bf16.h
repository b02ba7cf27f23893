// BFloat16 on the emulated GPU.
#pragma once

#include "small_float.h"

struct __nv_bfloat16 {
    unsigned short bits;
};
inline __nv_bfloat16 __float2bfloat16(float value) {
    return {(unsigned short)small_from_float(bfloat16_format, value)};
}
inline float __bfloat162float(__nv_bfloat16 value) { return float_from_small(bfloat16_format, value.bits); }
