// Shared by the parts of lockstep-bench's CUDA layer. A family measures one kind of case; the layer around it
// (cuda_layer.cu) keeps the clock, the buffers and the sensors.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include "calibrate/gpu/bench/bench.h"

#define MOST_BUFFERS 64
#define MOST_GPUS 16
#define MOST_SETS 64

// Returns from the calling function when a call fails, with the place, the call and what the error means.
#define CUDA_TRY(fault, call)                                                                                          \
    do {                                                                                                               \
        cudaError_t cuda_error_ = (call);                                                                              \
        if (cuda_error_ != cudaSuccess)                                                                                \
            return bench_fail(fault, __FILE__, __LINE__, "%s: %s (%s)", #call, cudaGetErrorString(cuda_error_),        \
                              cudaGetErrorName(cuda_error_));                                                          \
    } while (0)
#define CUBLAS_TRY(fault, call)                                                                                        \
    do {                                                                                                               \
        cublasStatus_t cublas_status_ = (call);                                                                        \
        if (cublas_status_ != CUBLAS_STATUS_SUCCESS)                                                                   \
            return bench_fail(fault, __FILE__, __LINE__, "%s: %s", #call, cublasLtGetStatusName(cublas_status_));      \
    } while (0)
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        BenchStatus status_ = (call);                                                                                  \
        if (status_ != BENCH_DONE) return status_;                                                                     \
    } while (0)
// After a <<<launch>>>.
#define LAUNCH_TRY(fault) CUDA_TRY(fault, cudaGetLastError())

typedef struct Device Device;

typedef struct Family {
    BenchStatus (*prepare)(Device *device, const BenchCase *of, int *sets, BenchFault *fault);
    BenchStatus (*begin)(Device *device, int count, BenchFault *fault); // NULL: a head start for the host
    BenchStatus (*launch)(Device *device, int count, BenchFault *fault);
    BenchStatus (*check)(Device *device, BenchCheck *check, BenchFault *fault);
    void (*finish)(Device *device); // NULL: buffers only, which the layer frees
} Family;

extern const Family gemm_family, stream_family, kernel_family, launch_family, transfer_family, attention_family,
    nccl_family, virtual_family, interference_family, sustained_family;

struct Device {
    BenchMachine machine;
    cudaStream_t stream, second; // second: background and the other way of a transfer
    cudaEvent_t events[2], fork, join;
    cublasLtHandle_t cublas;
    void *workspace;
    size_t workspace_bytes;
    void *buffers[MOST_BUFFERS];
    int buffer_count;
    void *pinned[4];
    int pinned_count;
    const Family *family;
    BenchCase of;
    int sets;
    unsigned *failed; // on the device: a kernel gave up waiting; NULL when none can
};

extern const BenchLayer cuda_layer; // its device is a Device of zeros

// ---- Buffers of the case at hand, freed when it ends.
BenchStatus device_allocate(Device *device, size_t bytes, void **pointer, BenchFault *fault);
// So many of them in one piece, since an allocation takes the host longer than most kernels run.
BenchStatus device_allocate_sets(Device *device, size_t bytes, int sets, void **pointers, BenchFault *fault);
BenchStatus device_allocate_pinned(Device *device, size_t bytes, void **pointer, BenchFault *fault);
// Delays the device for as long as the host may take to launch `count` iterations, so that the timing after it is of
// the device alone.
BenchStatus device_head_start(Device *device, int count, BenchFault *fault);
// Number of buffer sets of `bytes` each after which none is left in the L2 when reused.
int device_sets_for(const Device *device, double bytes);

// ---- Types as the cases spell them.
typedef enum ElementType { FLOAT32, BFLOAT16, FLOAT16, FLOAT8, INT8_T, INT32_T } ElementType;
int element_bytes(ElementType type);

// ---- Random data, equal on host and device: element i of a seed, uniform in [-1, 1) and rounded to the type;
// integers from -16 to 15 for INT8.
__host__ __device__ inline float random_element(unsigned seed, unsigned long long i) {
    unsigned long long x = (i + 1) * 0x9E3779B97F4A7C15ull + (unsigned long long)seed * 0xD1B54A32D192ED03ull;
    x ^= x >> 30, x *= 0xBF58476D1CE4E5B9ull, x ^= x >> 27, x *= 0x94D049BB133111EBull, x ^= x >> 31;
    return (float)(x >> 40) * (1.0f / 8388608.0f) - 1.0f;
}
#define GRID_THREADS 256
unsigned grid_over(size_t count); // blocks of GRID_THREADS for a loop over `count`, in grid strides
BenchStatus device_fill(Device *device, void *pointer, ElementType type, size_t count, unsigned seed,
                        BenchFault *fault);
// Poisons an output buffer, lest results of an earlier case pass the check: with NaN, or a large odd number.
BenchStatus device_spoil(Device *device, void *pointer, size_t bytes, BenchFault *fault);
double host_element(ElementType type, unsigned seed, unsigned long long i); // what device_fill wrote there
// `count` elements from `first` on, as numbers on the host.
BenchStatus device_fetch(const void *pointer, ElementType type, size_t first, size_t count, double *out,
                         BenchFault *fault);
// Rows of a matrix to look at: the first, the last and some between.
int sample_row(int which, int of, long long rows);

// ---- Sums of squares for "relative, as the root of the sum of squares".
typedef struct ErrorSum {
    double difference, reference;
} ErrorSum;
void error_add(ErrorSum *sum, double got, double expected);
double error_relative(const ErrorSum *sum);

// ---- Matrix products, for GEMM, attention and interference: D (m x n) = X (m x k) times W, all row-major; W is n x k
// when transposed (as the weights of a linear layer), else k x n.
typedef struct Product {
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t w, x, d;
    cublasLtMatmulAlgo_t algorithm;
    ElementType in, out;
    bool whole_numbers;
} Product;
BenchStatus product_create(Device *device, const char *type, bool transposed, int64_t batch, int64_t m, int64_t n,
                           int64_t k, Product *product, BenchFault *fault);
BenchStatus product_launch(Device *device, const Product *product, const void *x, const void *w, void *d,
                           BenchFault *fault);
void product_free(Product *product);
BenchStatus softmax_launch(Device *device, const char *type, const void *in, void *out, int64_t rows, int64_t width,
                           float scale, BenchFault *fault);

// ---- The ring among virtual ranks, also used as a background.
BenchStatus virtual_prepare(Device *device, const BenchCase *of, BenchFault *fault);
BenchStatus virtual_launch(Device *device, cudaStream_t stream, BenchFault *fault);
BenchStatus device_failed(Device *device, BenchFault *fault); // BENCH_FAILED when a kernel gave up waiting

// ---- NCCL (cuda_nccl.cu).
bool nccl_describe(char *text, size_t text_bytes); // "NCCL 2.27.3"; false when there is none
// Many processes, one GPU each, that meet through a file: the collectives of the plan, rows from rank 0.
int nccl_meet_command(int argc, char **argv);
