// Memory ordering between blocks on different SMs that CUDA C++ cannot express: a fence, counters, and LL lines with
// their own flags. (The tests' emulated GPU replaces this file by one of the same name.)
#pragma once

// As NCCL does it: __threadfence() would also put all loads and stores of the GPU in one order, which takes longer.
__device__ inline void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// 16 bytes hold two floats, each followed by the number of the slot's filling. Only 8 aligned bytes are sure to be seen
// whole.
typedef struct LlLine {
    float a, b;
    unsigned flag_a, flag_b;
} LlLine;

__device__ inline void ll_store(float *line, float a, float b, unsigned flag) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(line), "r"(__float_as_uint(a)), "r"(flag),
                 "r"(__float_as_uint(b)), "r"(flag)
                 : "memory");
}

__device__ inline LlLine ll_load(const float *line) {
    unsigned a, flag_a, b, flag_b;
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(flag_a), "=r"(b), "=r"(flag_b)
                 : "l"(line)
                 : "memory");
    LlLine read = {__uint_as_float(a), __uint_as_float(b), flag_a, flag_b};
    return read;
}
