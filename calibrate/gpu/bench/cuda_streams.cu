// Streams through L2 and memory, and the memory-bound kernels of training: element-wise, row-wise, the optimizer.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdlib.h>
#include <string.h>

#define THREADS 256
#define ROW_THREADS 256
#define SEED_A 11
#define SEED_B 12
#define STRIDE 8 // floats: one from each sector of 32 bytes

static int grid_for(const Device *device, size_t items) {
    size_t most = (size_t)device->machine.multiprocessors * 16, blocks = (items + THREADS - 1) / THREADS;
    return (int)(blocks < most ? (blocks > 0 ? blocks : 1) : most);
}

#define FOR_EACH(i, count)                                                                                             \
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += (size_t)gridDim.x * blockDim.x)

// ---- Streams over float4.

__global__ void copy_stream(const float4 *a, float4 *out, size_t count) { FOR_EACH(i, count) out[i] = a[i]; }

__global__ void write_stream(float4 *out, size_t count) {
    FOR_EACH(i, count) {
        float value = (float)(i & 1023);
        out[i] = make_float4(value, value, value, value);
    }
}

__global__ void triad_stream(const float4 *a, const float4 *b, float4 *out, size_t count) {
    FOR_EACH(i, count) {
        float4 x = a[i], y = b[i];
        out[i] = make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
    }
}

__device__ float block_sum(float value) {
    __shared__ float parts[32];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    __syncthreads(); // parts may still be read from the call before
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads(); // all parts are there
    float sum = 0;
    for (int i = 0; i < (int)(blockDim.x / 32); i++) sum += parts[i];
    return sum;
}

__device__ float block_maximum(float value) {
    __shared__ float parts[32];
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, distance));
    __syncthreads(); // parts may still be read from the call before
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads(); // all parts are there
    float most = parts[0];
    for (int i = 1; i < (int)(blockDim.x / 32); i++) most = fmaxf(most, parts[i]);
    return most;
}

// Each block writes the sum of the absolute values it read, so that omissions show in the sum.
__global__ void read_stream(const float4 *a, float *sums, size_t count) {
    float sum = 0;
    FOR_EACH(i, count) {
        float4 x = a[i];
        sum += fabsf(x.x) + fabsf(x.y) + fabsf(x.z) + fabsf(x.w);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// The same sum made anew from the seed, in double and past the memory that is measured.
__global__ void sum_of_sizes(double *sum, size_t count) {
    double own = 0;
    FOR_EACH(i, count) own += fabs((double)random_element(SEED_A, i));
    atomicAdd(sum, own);
}

__global__ void strided_stream(const float *a, float *out, size_t count) {
    size_t rows = count / STRIDE;
    FOR_EACH(i, count) out[i] = a[i % rows * STRIDE + i / rows];
}

static struct {
    float *a, *b, *out;
    int grid;
    size_t floats;
} stream;

static bool is_operation(const BenchCase *of, const char *name) { return strcmp(of->operation, name) == 0; }

static BenchStatus stream_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    size_t bytes = (size_t)of->bytes;
    memset(&stream, 0, sizeof stream);
    *sets = 1; // small arrays shall stay in the L2
    stream.floats = bytes / sizeof(float);
    stream.grid = grid_for(device, is_operation(of, "strided") ? stream.floats : stream.floats / 4);
    TRY(device_allocate(device, bytes, (void **)&stream.a, fault));
    TRY(device_allocate(device, is_operation(of, "triad") ? bytes : 16, (void **)&stream.b, fault));
    TRY(device_allocate(device, bytes, (void **)&stream.out, fault));
    TRY(device_spoil(device, stream.out, bytes, fault));
    TRY(device_fill(device, stream.a, FLOAT32, stream.floats, SEED_A, fault));
    if (is_operation(of, "triad")) TRY(device_fill(device, stream.b, FLOAT32, stream.floats, SEED_B, fault));
    return BENCH_DONE;
}

static BenchStatus stream_launch(Device *device, int count, BenchFault *fault) {
    const BenchCase *of = &device->of;
    const float4 *a = (const float4 *)stream.a, *b = (const float4 *)stream.b;
    float4 *out = (float4 *)stream.out;
    size_t vectors = stream.floats / 4;
    for (int i = 0; i < count; i++) {
        if (is_operation(of, "copy"))
            copy_stream<<<stream.grid, THREADS, 0, device->stream>>>(a, out, vectors);
        else if (is_operation(of, "read"))
            read_stream<<<stream.grid, THREADS, 0, device->stream>>>(a, stream.out, vectors);
        else if (is_operation(of, "write"))
            write_stream<<<stream.grid, THREADS, 0, device->stream>>>(out, vectors);
        else if (is_operation(of, "triad"))
            triad_stream<<<stream.grid, THREADS, 0, device->stream>>>(a, b, out, vectors);
        else
            strided_stream<<<stream.grid, THREADS, 0, device->stream>>>(stream.a, stream.out, stream.floats);
    }
    LAUNCH_TRY(fault);
    return BENCH_DONE;
}

// Windows from all over the array: the first and the last thousand and some between.
#define WINDOWS 16
#define WINDOW 1024

static double stream_expected(const BenchCase *of, size_t i) {
    size_t rows = stream.floats / STRIDE;
    if (is_operation(of, "copy")) return random_element(SEED_A, i);
    if (is_operation(of, "write")) return (double)(i / 4 & 1023);
    if (is_operation(of, "triad")) return (double)random_element(SEED_A, i) + 3.0 * random_element(SEED_B, i);
    return random_element(SEED_A, i % rows * STRIDE + i / rows);
}

static BenchStatus read_check(Device *device, BenchCheck *check, BenchFault *fault) {
    double *sums = (double *)malloc((size_t)stream.grid * sizeof *sums), *on_device = NULL, got = 0, expected = 0;
    if (!sums) return bench_fail(fault, __FILE__, __LINE__, "out of host memory");
    BenchStatus status = device_fetch(stream.out, FLOAT32, 0, (size_t)stream.grid, sums, fault);
    for (int i = 0; i < stream.grid && !status; i++) got += sums[i];
    free(sums);
    if (status) return status;
    TRY(device_allocate(device, sizeof *on_device, (void **)&on_device, fault));
    CUDA_TRY(fault, cudaMemsetAsync(on_device, 0, sizeof *on_device, device->stream));
    sum_of_sizes<<<grid_over(stream.floats), GRID_THREADS, 0, device->stream>>>(on_device, stream.floats);
    LAUNCH_TRY(fault);
    CUDA_TRY(fault, cudaStreamSynchronize(device->stream));
    CUDA_TRY(fault, cudaMemcpy(&expected, on_device, sizeof expected, cudaMemcpyDeviceToHost));
    check->error = got == got ? fabs(got / expected - 1) : INFINITY;
    check->tolerance = 1e-4; // thousands of terms for each thread, in float
    return BENCH_DONE;
}

static BenchStatus stream_check(Device *device, BenchCheck *check, BenchFault *fault) {
    const BenchCase *of = &device->of;
    double got[WINDOW];
    ErrorSum sum = {0, 0};
    if (is_operation(of, "read")) return read_check(device, check, fault);
    for (int w = 0; w < WINDOWS; w++) {
        size_t first = (size_t)w * (stream.floats - WINDOW) / (WINDOWS - 1);
        TRY(device_fetch(stream.out, FLOAT32, first, WINDOW, got, fault));
        for (size_t i = 0; i < WINDOW; i++) error_add(&sum, got[i], stream_expected(of, first + i));
    }
    check->error = error_relative(&sum);
    check->tolerance = is_operation(of, "triad") ? 1e-6 : 0;
    return BENCH_DONE;
}

const Family stream_family = {stream_prepare, NULL, stream_launch, stream_check, NULL};

// ---- Kernels over rows of elements of a type, eight elements to a step so that loads are 16 bytes wide (BF16, FP16)
// or two of them (FP32).

template <typename T> struct alignas(8 * sizeof(T)) Eight { T at[8]; };
__device__ float number(float x) { return x; }
__device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float number(__half x) { return __half2float(x); }
__device__ void store(float *at, float x) { *at = x; }
__device__ void store(__nv_bfloat16 *at, float x) { *at = __float2bfloat16(x); }
__device__ void store(__half *at, float x) { *at = __float2half(x); }

__host__ __device__ inline float gelu(float x) {
    return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

template <typename T> __global__ void add_kernel(const Eight<T> *a, const Eight<T> *b, Eight<T> *out, size_t eights) {
    FOR_EACH(i, eights) {
        Eight<T> x = a[i], y = b[i], z;
#pragma unroll
        for (int j = 0; j < 8; j++) store(&z.at[j], number(x.at[j]) + number(y.at[j]));
        out[i] = z;
    }
}

template <typename T> __global__ void gelu_kernel(const Eight<T> *a, Eight<T> *out, size_t eights) {
    FOR_EACH(i, eights) {
        Eight<T> x = a[i], z;
#pragma unroll
        for (int j = 0; j < 8; j++) store(&z.at[j], gelu(number(x.at[j])));
        out[i] = z;
    }
}

__global__ void cast_kernel(const Eight<float> *a, Eight<__nv_bfloat16> *out, size_t eights) {
    FOR_EACH(i, eights) {
        Eight<float> x = a[i];
        Eight<__nv_bfloat16> z;
#pragma unroll
        for (int j = 0; j < 8; j++) store(&z.at[j], x.at[j]);
        out[i] = z;
    }
}

// A block per row, which its threads hold in registers between the passes: rows are read once, eight elements at a
// time.
#define HELD_EIGHTS 4 // of a thread: rows of up to 8192 elements
#define FOR_EACH_HELD(h, i, eights)                                                                                    \
    _Pragma("unroll") for (int h = 0, i = threadIdx.x; h < HELD_EIGHTS; h++, i += ROW_THREADS) if (i < (eights))

template <typename T> __global__ void layernorm_kernel(const Eight<T> *a, Eight<T> *out, int width) {
    const Eight<T> *row = a + (size_t)blockIdx.x * (width / 8);
    Eight<T> held[HELD_EIGHTS];
    float sum = 0, squares = 0;
    FOR_EACH_HELD(h, i, width / 8) {
        held[h] = row[i];
        for (int j = 0; j < 8; j++) sum += number(held[h].at[j]);
    }
    float mean = block_sum(sum) / width;
    FOR_EACH_HELD(h, i, width / 8) {
        for (int j = 0; j < 8; j++) {
            float away = number(held[h].at[j]) - mean;
            squares += away * away;
        }
    }
    float scale = rsqrtf(block_sum(squares) / width + 1e-5f);
    FOR_EACH_HELD(h, i, width / 8) {
        for (int j = 0; j < 8; j++) store(&held[h].at[j], (number(held[h].at[j]) - mean) * scale);
        out[(size_t)blockIdx.x * (width / 8) + i] = held[h];
    }
}

template <typename T> __global__ void softmax_kernel(const Eight<T> *a, Eight<T> *out, int width, float scale) {
    const Eight<T> *row = a + (size_t)blockIdx.x * (width / 8);
    Eight<T> held[HELD_EIGHTS];
    float most = -INFINITY, sum = 0;
    FOR_EACH_HELD(h, i, width / 8) {
        held[h] = row[i];
        for (int j = 0; j < 8; j++) most = fmaxf(most, scale * number(held[h].at[j]));
    }
    most = block_maximum(most);
    FOR_EACH_HELD(h, i, width / 8) {
        for (int j = 0; j < 8; j++) sum += __expf(scale * number(held[h].at[j]) - most);
    }
    float part = 1 / block_sum(sum);
    FOR_EACH_HELD(h, i, width / 8) {
        for (int j = 0; j < 8; j++) store(&held[h].at[j], __expf(scale * number(held[h].at[j]) - most) * part);
        out[(size_t)blockIdx.x * (width / 8) + i] = held[h];
    }
}

__global__ void row_sum_kernel(const Eight<float> *a, float *out, int width) {
    float sum = 0;
    for (int i = threadIdx.x; i < width / 8; i += blockDim.x) {
        Eight<float> x = a[(size_t)blockIdx.x * (width / 8) + i];
        for (int j = 0; j < 8; j++) sum += x.at[j];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

#define ADAM_RATE 1e-3f
#define ADAM_BETA1 0.9f
#define ADAM_BETA2 0.999f
#define ADAM_EPSILON 1e-8f

__global__ void adam_kernel(float4 *weight, const float4 *gradient, float4 *first, float4 *second, size_t fours) {
    FOR_EACH(i, fours) {
        float4 w = weight[i], g = gradient[i], m = first[i], v = second[i];
        float *pw = &w.x, *pg = &g.x, *pm = &m.x, *pv = &v.x;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            pm[j] = ADAM_BETA1 * pm[j] + (1 - ADAM_BETA1) * pg[j];
            pv[j] = ADAM_BETA2 * pv[j] + (1 - ADAM_BETA2) * pg[j] * pg[j];
            pw[j] -= ADAM_RATE * pm[j] / (sqrtf(pv[j]) + ADAM_EPSILON);
        }
        weight[i] = w, first[i] = m, second[i] = v;
    }
}

BenchStatus softmax_launch(Device *device, const char *type, const void *in, void *out, int64_t rows, int64_t width,
                           float scale, BenchFault *fault) {
    unsigned grid = (unsigned)rows;
    if (width % 8 != 0 || width > 8 * ROW_THREADS * HELD_EIGHTS)
        return bench_skip(fault, "rows of %lld elements are not of this softmax", (long long)width);
    if (strcmp(type, "bf16") == 0)
        softmax_kernel<__nv_bfloat16><<<grid, ROW_THREADS, 0, device->stream>>>(
            (const Eight<__nv_bfloat16> *)in, (Eight<__nv_bfloat16> *)out, (int)width, scale);
    else if (strcmp(type, "fp16") == 0)
        softmax_kernel<__half><<<grid, ROW_THREADS, 0, device->stream>>>((const Eight<__half> *)in,
                                                                         (Eight<__half> *)out, (int)width, scale);
    else
        softmax_kernel<float><<<grid, ROW_THREADS, 0, device->stream>>>((const Eight<float> *)in, (Eight<float> *)out,
                                                                        (int)width, scale);
    LAUNCH_TRY(fault);
    return BENCH_DONE;
}

// ---- The family. a: input; b: second input, or Adam's gradient; c, d: Adam's moments; out: result.

static struct {
    ElementType type;
    size_t count;
    void *a[MOST_SETS], *b[MOST_SETS], *c[MOST_SETS], *d[MOST_SETS], *out[MOST_SETS];
} kernels;

static BenchStatus kernel_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    bool is_adam = is_operation(of, "adam"), is_add = is_operation(of, "add");
    if (of->n % 8 != 0 || of->n > 8 * ROW_THREADS * HELD_EIGHTS)
        return bench_skip(fault, "rows of %lld elements are not of these kernels", (long long)of->n);
    memset(&kernels, 0, sizeof kernels);
    kernels.type = strcmp(of->type, "bf16") == 0 ? BFLOAT16 : FLOAT32;
    kernels.count = (size_t)(of->m * of->n);
    *sets = device_sets_for(device, of->moved_bytes);
    size_t bytes = kernels.count * (size_t)element_bytes(kernels.type);
    TRY(device_allocate_sets(device, bytes, *sets, kernels.a, fault));
    if (is_adam || is_add) TRY(device_allocate_sets(device, bytes, *sets, kernels.b, fault));
    if (!is_adam) TRY(device_allocate_sets(device, bytes, *sets, kernels.out, fault));
    if (is_adam) TRY(device_allocate_sets(device, bytes, *sets, kernels.c, fault));
    if (is_adam) TRY(device_allocate_sets(device, bytes, *sets, kernels.d, fault));
    for (int s = 0; s < *sets; s++) {
        TRY(device_fill(device, kernels.a[s], kernels.type, kernels.count, SEED_A, fault));
        if (is_adam || is_add) TRY(device_fill(device, kernels.b[s], kernels.type, kernels.count, SEED_B, fault));
        if (!is_adam) {
            TRY(device_spoil(device, kernels.out[s], bytes, fault));
            continue;
        }
        CUDA_TRY(fault, cudaMemsetAsync(kernels.c[s], 0, bytes, device->stream));
        CUDA_TRY(fault, cudaMemsetAsync(kernels.d[s], 0, bytes, device->stream));
    }
    return BENCH_DONE;
}

template <typename T> static void launch_typed(Device *device, int s) {
    const BenchCase *of = &device->of;
    size_t eights = kernels.count / 8;
    int grid = grid_for(device, eights);
    const Eight<T> *a = (const Eight<T> *)kernels.a[s], *b = (const Eight<T> *)kernels.b[s];
    Eight<T> *out = (Eight<T> *)kernels.out[s];
    if (is_operation(of, "add"))
        add_kernel<T><<<grid, THREADS, 0, device->stream>>>(a, b, out, eights);
    else if (is_operation(of, "gelu"))
        gelu_kernel<T><<<grid, THREADS, 0, device->stream>>>(a, out, eights);
    else if (is_operation(of, "layernorm"))
        layernorm_kernel<T><<<(unsigned)of->m, ROW_THREADS, 0, device->stream>>>(a, out, (int)of->n);
    else
        softmax_kernel<T><<<(unsigned)of->m, ROW_THREADS, 0, device->stream>>>(a, out, (int)of->n, 1.0f);
}

static BenchStatus kernel_launch(Device *device, int count, BenchFault *fault) {
    const BenchCase *of = &device->of;
    for (int i = 0; i < count; i++) {
        int s = i % (device->sets > 0 ? device->sets : 1);
        if (is_operation(of, "row_sum"))
            row_sum_kernel<<<(unsigned)of->m, ROW_THREADS, 0, device->stream>>>((const Eight<float> *)kernels.a[s],
                                                                                (float *)kernels.out[s], (int)of->n);
        else if (is_operation(of, "adam"))
            adam_kernel<<<grid_for(device, kernels.count / 4), THREADS, 0, device->stream>>>(
                (float4 *)kernels.a[s], (const float4 *)kernels.b[s], (float4 *)kernels.c[s], (float4 *)kernels.d[s],
                kernels.count / 4);
        else if (is_operation(of, "cast"))
            cast_kernel<<<grid_for(device, kernels.count / 8), THREADS, 0, device->stream>>>(
                (const Eight<float> *)kernels.a[s], (Eight<__nv_bfloat16> *)kernels.out[s], kernels.count / 8);
        else if (kernels.type == BFLOAT16)
            launch_typed<__nv_bfloat16>(device, s);
        else
            launch_typed<float>(device, s);
    }
    LAUNCH_TRY(fault);
    return BENCH_DONE;
}

static void expected_row(const BenchCase *of, const double *a, const double *b, double *out) {
    double sum = 0, squares = 0, most = -INFINITY, weights = 0;
    for (int64_t i = 0; i < of->n; i++) sum += a[i], most = fmax(most, a[i]);
    for (int64_t i = 0; i < of->n; i++) {
        double away = a[i] - sum / (double)of->n;
        squares += away * away, weights += exp(a[i] - most);
    }
    for (int64_t i = 0; i < of->n; i++) {
        if (is_operation(of, "add")) out[i] = a[i] + b[i];
        if (is_operation(of, "gelu")) out[i] = gelu((float)a[i]);
        if (is_operation(of, "cast")) out[i] = a[i];
        if (is_operation(of, "layernorm")) out[i] = (a[i] - sum / (double)of->n) / sqrt(squares / (double)of->n + 1e-5);
        if (is_operation(of, "softmax")) out[i] = exp(a[i] - most) / weights;
        if (is_operation(of, "adam")) // the first step, from moments of zero
            out[i] = a[i] - ADAM_RATE * (1 - ADAM_BETA1) * b[i] /
                                (sqrt((1 - (double)ADAM_BETA2) * b[i] * b[i]) + ADAM_EPSILON);
    }
    if (is_operation(of, "row_sum")) out[0] = sum;
}

// Adam's moments after one step from zero, each against its own size: they are far smaller than weights.
static BenchStatus check_moments(size_t first, size_t count, const double *gradient, double *got, ErrorSum *sum,
                                 BenchFault *fault) {
    TRY(device_fetch(kernels.c[0], FLOAT32, first, count, got, fault));
    for (size_t i = 0; i < count; i++) error_add(sum, got[i] / (1 - ADAM_BETA1), gradient[i]);
    TRY(device_fetch(kernels.d[0], FLOAT32, first, count, got, fault));
    for (size_t i = 0; i < count; i++) error_add(sum, got[i] / (1 - ADAM_BETA2), gradient[i] * gradient[i]);
    return BENCH_DONE;
}

static BenchStatus check_row(const BenchCase *of, int64_t row, double *room, ErrorSum *sum, BenchFault *fault) {
    double *a = room, *b = a + of->n, *expected = b + of->n, *got = expected + of->n;
    bool is_sum = is_operation(of, "row_sum");
    ElementType out_type = is_operation(of, "cast") ? BFLOAT16 : kernels.type;
    size_t first = (size_t)(row * of->n);
    for (int64_t i = 0; i < of->n; i++) {
        a[i] = host_element(kernels.type, SEED_A, first + (size_t)i);
        b[i] = host_element(kernels.type, SEED_B, first + (size_t)i);
    }
    expected_row(of, a, b, expected);
    size_t count = is_sum ? 1 : (size_t)of->n;
    const void *from = is_operation(of, "adam") ? kernels.a[0] : kernels.out[0];
    TRY(device_fetch(from, out_type, is_sum ? (size_t)row : first, count, got, fault));
    for (size_t i = 0; i < count; i++) error_add(sum, got[i], expected[i]);
    return is_operation(of, "adam") ? check_moments(first, count, b, got, sum, fault) : BENCH_DONE;
}

static BenchStatus kernel_check(Device *device, BenchCheck *check, BenchFault *fault) {
    const BenchCase *of = &device->of;
    ErrorSum sum = {0, 0};
    double *room = (double *)malloc((size_t)of->n * 4 * sizeof *room);
    BenchStatus status = BENCH_DONE;
    if (!room) return bench_fail(fault, __FILE__, __LINE__, "out of host memory");
    for (int i = 0; i < 8 && !status; i++) status = check_row(of, sample_row(i, 8, of->m), room, &sum, fault);
    free(room);
    check->error = error_relative(&sum);
    check->tolerance = kernels.type == BFLOAT16 || is_operation(of, "cast") ? 1e-2 : 1e-4;
    return status;
}

const Family kernel_family = {kernel_prepare, NULL, kernel_launch, kernel_check, NULL};
