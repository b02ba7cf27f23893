// Time of a GPU kernel: a GEMM by tiles and waves over a roofline, or a kernel that moves bytes.
#pragma once

#include "models/hardware/hardware.h"

typedef struct Gemm {
    Precision precision;
    int64_t batch, m, n, k; // batch independent products of (m x k) by (k x n)
    bool is_untransposed;   // the second operand is stored k x n; that of a linear layer, its weights, is n x k
    double loop_bytes; // that pass between two uses of the same operands, in a loop that measures; 0: they are cold
    int loads;         // elements that matrix units are fed at a time, where rows do not begin at 16 bytes; 0: they do
    double rate;       // of the attained rate of its precision; 0: all of it
    double output_bytes; // of a written element; 0: as below
    bool whole_k;        // its library does not split K
    double quiet;        // share of the usual switching that operands of few values spare (0: they are as random)
} Gemm;

// FLOP = 2 batch m n k; bytes = batch (element size (m k + k n) + output size m n); the output of FP8 and FP4 is BF16,
// that of INT8 INT32.
double gemm_flops(const Gemm *gemm);
double gemm_bytes(const Gemm *gemm);

// Seconds of one GEMM kernel without its launch floor (gpu->launch_seconds): smooth maximum of the compute time of
// the best tile and split-K, and of reading the operands; then the output is written (on vector units: during the
// arithmetic). Precisions without tensor cores run on vector units; a precision that the GPU lacks (BF16 on V100) is
// refused earlier, here it is a CHECK.
double gemm_seconds(const Gpu *gpu, const Gemm *gemm);
// The simple roofline form, same constants: the twin for tests and for convolutions.
double roofline_seconds(const Gpu *gpu, Precision precision, double flops, double bytes);
// A kernel that only moves bytes: bytes / (memory_efficiency x bandwidth), L2 when the working set fits it.
double memory_seconds(const Gpu *gpu, double bytes);
// Seconds for `bytes` moved by consecutive kernels, `kernel_bytes` each: a kernel's output is in the L2 for the next
// one as far as it fits.
double kernels_memory_seconds(const Gpu *gpu, double bytes, double kernel_bytes);
double cold_memory_seconds(const Gpu *gpu, double bytes); // none of them in the L2
double exponentials_per_second(const Gpu *gpu);           // of one SM at its whole clock
// Peak FLOP/s that MFU is counted against: dense datasheet peak.
double gpu_peak(const Gpu *gpu, Precision precision);
bool gpu_supports(const Gpu *gpu, Precision precision);
bool gpu_is_of_servers(const Gpu *gpu); // its SMs are those of data centres' parts, not of graphics'
// Distance in half generations between the GPU and the GPUs that kernels were timed on: the nearest is used.
int gpu_generations_from(const Gpu *gpu, Architecture generation, bool of_servers);
// In a loop over so many bytes, of which the L2 retains a part.
double looped_seconds_per_byte(const Gpu *gpu, double loop_bytes);
