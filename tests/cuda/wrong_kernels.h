// Kernels with one mistake each (wrong_kernels.cu).
#pragma once

#include <cuda_runtime.h>

typedef struct WrongKernel {
    const char *name;
    void (*kernel)(float *memory);
    void (*launch)(void (*kernel)(float *), float *memory);
    cudaError_t error; // that must come of it
    const char *text;  // that must be in its explanation
} WrongKernel;

extern const WrongKernel wrong_kernels[];
extern const int wrong_kernel_count;
extern const size_t wrong_kernel_bytes;
