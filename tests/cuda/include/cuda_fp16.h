// Half precision on the emulated GPU.
#ifndef LOCKSTEP_EMULATED_CUDA_FP16_H
#define LOCKSTEP_EMULATED_CUDA_FP16_H

#include "small_float.h"

struct __half {
    unsigned short bits;
};
inline __half __float2half(float value) { return {(unsigned short)small_from_float(half_format, value)}; }
inline float __half2float(__half value) { return float_from_small(half_format, value.bits); }

#endif
