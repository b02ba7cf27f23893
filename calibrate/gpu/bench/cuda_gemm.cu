// Matrix products through cuBLASLt, with the kernel that its own heuristic ranks first, as frameworks do: alone, in
// turn with copies for seconds, and beside copies and collectives.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_ROWS 8
#define SEED_X 1
#define SEED_W 2

typedef struct TypeRow {
    const char *name;
    ElementType in, out;
    cudaDataType_t in_type, out_type, scale;
    cublasComputeType_t compute;
    double tolerance;
} TypeRow;

// Tolerances are those of the rounding of the result; whole numbers must be right to the last. Hopper adds up FP8 in 14
// bits, a rounding for every 32 elements of K.
#define FP8_STEP_ERROR (1.0 / 16384)
#define FP8_STEP 32.0
static const TypeRow type_rows[] = {
    {"bf16", BFLOAT16, BFLOAT16, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-2},
    {"fp16", FLOAT16, FLOAT16, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2e-3},
    {"fp8", FLOAT8, BFLOAT16, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2e-2},
    {"tf32", FLOAT32, FLOAT32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 3e-3},
    {"fp32", FLOAT32, FLOAT32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-4},
    {"int8", INT8_T, INT32_T, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0},
};

static const TypeRow *type_row(const char *name) {
    for (size_t i = 0; i < sizeof type_rows / sizeof *type_rows; i++)
        if (strcmp(type_rows[i].name, name) == 0) return &type_rows[i];
    return NULL;
}

// A row-major matrix is a column-major one with its sides swapped: `fast` is the side that is contiguous.
static BenchStatus layout_create(cublasLtMatrixLayout_t *layout, cudaDataType_t type, int64_t fast, int64_t slow,
                                 int64_t batch, BenchFault *fault) {
    CUBLAS_TRY(fault, cublasLtMatrixLayoutCreate(layout, type, (uint64_t)fast, (uint64_t)slow, fast));
    int32_t count = (int32_t)batch;
    int64_t stride = fast * slow;
    CUBLAS_TRY(fault,
               cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    CUBLAS_TRY(fault, cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                       sizeof stride));
    return BENCH_DONE;
}

static BenchStatus choose_algorithm(Device *device, Product *product, bool sides_fit, BenchFault *fault) {
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    memset(&found, 0, sizeof found);
    CUBLAS_TRY(fault, cublasLtMatmulPreferenceCreate(&preference));
    cublasStatus_t status = cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &device->workspace_bytes, sizeof device->workspace_bytes);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulAlgoGetHeuristic(device->cublas, product->operation, product->w, product->x, product->d,
                                                product->d, preference, 1, &found, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    // What no kernel takes comes as "not supported" or, for sides of FP8 and INT8 that do not fit their matrix units,
    // as "invalid value", which is a mistake of this program anywhere else.
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_INVALID_VALUE && !sides_fit) ||
        (status == CUBLAS_STATUS_SUCCESS && count == 0))
        return bench_skip(fault, "cuBLASLt has no kernel for this type and shape");
    CUBLAS_TRY(fault, status);
    product->algorithm = found.algo;
    return BENCH_DONE;
}

BenchStatus product_create(Device *device, const char *type, bool transposed, int64_t batch, int64_t m, int64_t n,
                           int64_t k, Product *product, BenchFault *fault) {
    const TypeRow *row = type_row(type);
    memset(product, 0, sizeof *product);
    if (!row) return bench_fail(fault, __FILE__, __LINE__, "no type is called %s", type);
    product->in = row->in, product->out = row->out;
    product->whole_numbers = row->compute == CUBLAS_COMPUTE_32I;
    CUBLAS_TRY(fault, cublasLtMatmulDescCreate(&product->operation, row->compute, row->scale));
    cublasOperation_t w_operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    CUBLAS_TRY(fault, cublasLtMatmulDescSetAttribute(product->operation, CUBLASLT_MATMUL_DESC_TRANSA, &w_operation,
                                                     sizeof w_operation));
    if (row->in == FLOAT8) { // as in a forward pass
        int8_t fast = 1;
        CUBLAS_TRY(fault, cublasLtMatmulDescSetAttribute(product->operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                                         sizeof fast));
    }
    TRY(layout_create(&product->w, row->in_type, transposed ? k : n, transposed ? n : k, batch, fault));
    TRY(layout_create(&product->x, row->in_type, k, m, batch, fault));
    TRY(layout_create(&product->d, row->out_type, n, m, batch, fault));
    bool sides_fit = element_bytes(row->in) > 1 || (m % 16 == 0 && n % 16 == 0 && k % 16 == 0);
    return choose_algorithm(device, product, sides_fit, fault);
}

BenchStatus product_launch(Device *device, const Product *product, const void *x, const void *w, void *d,
                           BenchFault *fault) {
    const float one = 1, zero = 0;
    const int whole_one = 1, whole_zero = 0;
    const void *alpha = product->whole_numbers ? (const void *)&whole_one : &one;
    const void *beta = product->whole_numbers ? (const void *)&whole_zero : &zero;
    CUBLAS_TRY(fault, cublasLtMatmul(device->cublas, product->operation, alpha, w, product->w, x, product->x, beta, d,
                                     product->d, d, product->d, &product->algorithm, device->workspace,
                                     device->workspace_bytes, device->stream));
    return BENCH_DONE;
}

void product_free(Product *product) {
    if (product->w) cublasLtMatrixLayoutDestroy(product->w);
    if (product->x) cublasLtMatrixLayoutDestroy(product->x);
    if (product->d) cublasLtMatrixLayoutDestroy(product->d);
    if (product->operation) cublasLtMatmulDescDestroy(product->operation);
    memset(product, 0, sizeof *product);
}

// ---- The family.

static struct {
    Product product;
    bool is_transposed; // W is n x k
    void *x[MOST_SETS], *w[MOST_SETS], *d[MOST_SETS];
} gemm;

static BenchStatus gemm_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    memset(&gemm, 0, sizeof gemm);
    if (of->m > INT32_MAX || of->n > INT32_MAX || of->k > INT32_MAX) return bench_skip(fault, "a side is too long");
    gemm.is_transposed = strcmp(of->variant, "untransposed") != 0;
    TRY(product_create(device, of->type, gemm.is_transposed, of->batch, of->m, of->n, of->k, &gemm.product, fault));
    size_t x = (size_t)(of->batch * of->m * of->k), w = (size_t)(of->batch * of->n * of->k);
    size_t d = (size_t)(of->batch * of->m * of->n);
    *sets = device_sets_for(device, of->moved_bytes);
    TRY(device_allocate_sets(device, x * element_bytes(gemm.product.in), *sets, gemm.x, fault));
    TRY(device_allocate_sets(device, w * element_bytes(gemm.product.in), *sets, gemm.w, fault));
    TRY(device_allocate_sets(device, d * element_bytes(gemm.product.out), *sets, gemm.d, fault));
    for (int s = 0; s < *sets; s++) {
        TRY(device_fill(device, gemm.x[s], gemm.product.in, x, SEED_X, fault));
        TRY(device_fill(device, gemm.w[s], gemm.product.in, w, SEED_W, fault));
        TRY(device_spoil(device, gemm.d[s], d * element_bytes(gemm.product.out), fault));
    }
    return BENCH_DONE;
}

static BenchStatus gemm_launch(Device *device, int count, BenchFault *fault) {
    for (int i = 0; i < count; i++) {
        int s = i % (device->sets > 0 ? device->sets : 1);
        TRY(product_launch(device, &gemm.product, gemm.x[s], gemm.w[s], gemm.d[s], fault));
    }
    return BENCH_DONE;
}

// Rows of X and of W from the first matrix and the last are multiplied on the host, in double.
static BenchStatus gemm_check_batch(const BenchCase *of, int64_t b, ErrorSum *sum, double *row, double *x, double *w,
                                    BenchFault *fault) {
    for (int i = 0; i < SAMPLE_ROWS; i++) {
        int64_t at_m = sample_row(i, SAMPLE_ROWS, of->m);
        TRY(device_fetch(gemm.d[0], gemm.product.out, (size_t)((b * of->m + at_m) * of->n), (size_t)of->n, row, fault));
        for (int64_t k = 0; k < of->k; k++)
            x[k] = host_element(gemm.product.in, SEED_X, (unsigned long long)((b * of->m + at_m) * of->k + k));
        for (int j = 0; j < SAMPLE_ROWS; j++) {
            int64_t at_n = sample_row(j, SAMPLE_ROWS, of->n);
            double expected = 0;
            if (i == 0)
                for (int64_t k = 0; k < of->k; k++) {
                    int64_t at = gemm.is_transposed ? (b * of->n + at_n) * of->k + k : (b * of->k + k) * of->n + at_n;
                    w[j * of->k + k] = host_element(gemm.product.in, SEED_W, (unsigned long long)at);
                }
            for (int64_t k = 0; k < of->k; k++) expected += x[k] * w[j * of->k + k];
            error_add(sum, row[at_n], expected);
        }
    }
    return BENCH_DONE;
}

static BenchStatus gemm_check(Device *device, BenchCheck *check, BenchFault *fault) {
    const BenchCase *of = &device->of;
    ErrorSum sum = {0, 0};
    double *row = (double *)malloc((size_t)(of->n + (1 + SAMPLE_ROWS) * of->k) * sizeof *row);
    if (!row) return bench_fail(fault, __FILE__, __LINE__, "out of host memory");
    double *x = row + of->n, *w = x + of->k;
    BenchStatus status = gemm_check_batch(of, 0, &sum, row, x, w, fault);
    if (!status && of->batch > 1) status = gemm_check_batch(of, of->batch - 1, &sum, row, x, w, fault);
    free(row);
    check->error = error_relative(&sum);
    check->tolerance = type_row(of->type)->tolerance;
    if (gemm.product.in == FLOAT8) check->tolerance += FP8_STEP_ERROR * (double)of->k / FP8_STEP;
    return status;
}

static void gemm_finish(Device *device) {
    (void)device;
    product_free(&gemm.product);
}

const Family gemm_family = {gemm_prepare, NULL, gemm_launch, gemm_check, gemm_finish};

// ---- Attention from pieces: scores = Q K^T, softmax over each row, values = P V.

static struct {
    Product scores, values;
    void *q, *k, *v, *s, *p, *o;
} attention;

static BenchStatus attention_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    memset(&attention, 0, sizeof attention);
    *sets = 1; // the scores are far larger than the L2
    TRY(product_create(device, of->type, true, of->batch, of->m, of->n, of->k, &attention.scores, fault));
    TRY(product_create(device, of->type, false, of->batch, of->m, of->k, of->n, &attention.values, fault));
    ElementType type = attention.scores.in;
    size_t bytes = (size_t)element_bytes(type), queries = (size_t)(of->batch * of->m * of->k),
           keys = (size_t)(of->batch * of->n * of->k), scores = (size_t)(of->batch * of->m * of->n);
    TRY(device_allocate(device, queries * bytes, &attention.q, fault));
    TRY(device_allocate(device, keys * bytes, &attention.k, fault));
    TRY(device_allocate(device, keys * bytes, &attention.v, fault));
    TRY(device_allocate(device, scores * bytes, &attention.s, fault));
    TRY(device_allocate(device, scores * bytes, &attention.p, fault));
    TRY(device_allocate(device, queries * bytes, &attention.o, fault));
    TRY(device_spoil(device, attention.o, queries * bytes, fault));
    TRY(device_fill(device, attention.q, type, queries, 1, fault));
    TRY(device_fill(device, attention.k, type, keys, 2, fault));
    return device_fill(device, attention.v, type, keys, 3, fault);
}

static float attention_scale(const BenchCase *of) { return 1 / sqrtf((float)of->k); }

static BenchStatus attention_launch(Device *device, int count, BenchFault *fault) {
    const BenchCase *of = &device->of;
    for (int i = 0; i < count; i++) {
        TRY(product_launch(device, &attention.scores, attention.q, attention.k, attention.s, fault));
        TRY(softmax_launch(device, of->type, attention.s, attention.p, of->batch * of->m, of->n, attention_scale(of),
                           fault));
        TRY(product_launch(device, &attention.values, attention.p, attention.v, attention.o, fault));
    }
    return BENCH_DONE;
}

// One query's result, on the host. `weights` has room for a weight per key.
static void attention_reference(const BenchCase *of, ElementType type, int64_t head, int64_t query, double *weights,
                                double *out) {
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < of->n; j++) {
        double score = 0;
        for (int64_t c = 0; c < of->k; c++)
            score += host_element(type, 1, (unsigned long long)((head * of->m + query) * of->k + c)) *
                     host_element(type, 2, (unsigned long long)((head * of->n + j) * of->k + c));
        weights[j] = score * attention_scale(of);
        most = fmax(most, weights[j]);
    }
    for (int64_t j = 0; j < of->n; j++) sum += weights[j] = exp(weights[j] - most);
    for (int64_t c = 0; c < of->k; c++) out[c] = 0;
    for (int64_t j = 0; j < of->n; j++)
        for (int64_t c = 0; c < of->k; c++)
            out[c] += weights[j] / sum * host_element(type, 3, (unsigned long long)((head * of->n + j) * of->k + c));
}

static BenchStatus attention_check(Device *device, BenchCheck *check, BenchFault *fault) {
    const BenchCase *of = &device->of;
    ElementType type = attention.scores.in;
    ErrorSum sum = {0, 0};
    double *weights = (double *)malloc((size_t)(of->n + 2 * of->k) * sizeof *weights);
    if (!weights) return bench_fail(fault, __FILE__, __LINE__, "out of host memory");
    double *expected = weights + of->n, *got = expected + of->k;
    BenchStatus status = BENCH_DONE;
    for (int i = 0; i < 5 && !status; i++) { // the last: the last query of the last head
        int64_t head = sample_row(i < 4 ? i : 3, 4, of->batch), query = sample_row(i < 4 ? 3 - i : 3, 4, of->m);
        attention_reference(of, type, head, query, weights, expected);
        status = device_fetch(attention.o, type, (size_t)((head * of->m + query) * of->k), (size_t)of->k, got, fault);
        for (int64_t c = 0; c < of->k && !status; c++) error_add(&sum, got[c], expected[c]);
    }
    free(weights);
    check->error = error_relative(&sum);
    check->tolerance = type == BFLOAT16 ? 2e-2 : 5e-3; // three roundings
    return status;
}

static void attention_finish(Device *device) {
    (void)device;
    product_free(&attention.scores);
    product_free(&attention.values);
}

const Family attention_family = {attention_prepare, NULL, attention_launch, attention_check, attention_finish};

// ---- A GEMM and a copy in turn, which load matrix units and memory as a training step does: timed by the layer like
// other cases, and again after seconds of this load, at the clocks that power and heat then allow.

#ifndef COPY_BYTES                     // the tests take less
#define COPY_BYTES ((size_t)512 << 20) // about a fifth of the time on A100 and H100
#define RING_BYTES ((int64_t)32 << 20)
#endif
#define BESIDE_BYTES (COPY_BYTES / 2)

static void *copy_from, *copy_to;

static BenchStatus sustained_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    TRY(gemm_prepare(device, of, sets, fault));
    TRY(device_allocate(device, COPY_BYTES, &copy_from, fault));
    TRY(device_allocate(device, COPY_BYTES, &copy_to, fault));
    return device_fill(device, copy_from, FLOAT32, COPY_BYTES / 4, 1, fault);
}

static BenchStatus sustained_launch(Device *device, int count, BenchFault *fault) {
    for (int i = 0; i < count; i++) {
        TRY(gemm_launch(device, 1, fault));
        CUDA_TRY(fault, cudaMemcpyAsync(copy_to, copy_from, COPY_BYTES, cudaMemcpyDeviceToDevice, device->stream));
    }
    return BENCH_DONE;
}

const Family sustained_family = {sustained_prepare, NULL, sustained_launch, gemm_check, gemm_finish};

// ---- Slowdown of a GEMM by a concurrent copy or collective. The background work is as long as the foreground or
// longer, and starts before the clock.

#define RING_RANKS 4
#define MOST_UNITS 200
#define HEAD_START_SECONDS 1e-3 // a sample of a GEMM that takes a millisecond has few iterations

typedef enum Background { NOTHING, COPY, TO_DEVICE, RING_BESIDE } Background;

static struct {
    Background kind;
    void *from, *to, *host;
    double unit_seconds, each_seconds; // of a piece of the background; of a GEMM alone
} beside;

static BenchStatus start_unit(Device *device, BenchFault *fault) {
    switch (beside.kind) {
    case COPY:
        CUDA_TRY(fault,
                 cudaMemcpyAsync(beside.to, beside.from, BESIDE_BYTES, cudaMemcpyDeviceToDevice, device->second));
        return BENCH_DONE;
    case TO_DEVICE:
        CUDA_TRY(fault, cudaMemcpyAsync(beside.to, beside.host, BESIDE_BYTES, cudaMemcpyHostToDevice, device->second));
        return BENCH_DONE;
    case RING_BESIDE:
        return virtual_launch(device, device->second, fault);
    default:
        return BENCH_DONE;
    }
}

static BenchStatus prepare_background(Device *device, const BenchCase *of, BenchFault *fault) {
    BenchCase ring = {};
    if (strstr(of->variant, "copy") || strstr(of->variant, "h2d")) {
        bool is_copy = strstr(of->variant, "copy") != NULL;
        beside.kind = is_copy ? COPY : TO_DEVICE;
        TRY(device_allocate(device, BESIDE_BYTES, &beside.to, fault));
        if (!is_copy) return device_allocate_pinned(device, BESIDE_BYTES, &beside.host, fault);
        return device_allocate(device, BESIDE_BYTES, &beside.from, fault);
    }
    if (!strstr(of->variant, "ring")) return BENCH_DONE;
    beside.kind = RING_BESIDE;
    ring.variant = "ring simple";
    ring.bytes = RING_BYTES;
    ring.ranks = RING_RANKS;
    ring.blocks = strstr(of->variant, "16") ? 4 : 1;
    return virtual_prepare(device, &ring, fault);
}

static BenchStatus seconds_of(Device *device, bool foreground, double *seconds, BenchFault *fault) {
    float milliseconds = 0;
    cudaStream_t stream = foreground ? device->stream : device->second;
    for (int i = 0; i < 2; i++) { // the first is for warming up
        CUDA_TRY(fault, cudaEventRecord(device->events[0], stream));
        TRY(foreground ? gemm_launch(device, 1, fault) : start_unit(device, fault));
        CUDA_TRY(fault, cudaEventRecord(device->events[1], stream));
        CUDA_TRY(fault, cudaEventSynchronize(device->events[1]));
        CUDA_TRY(fault, cudaEventElapsedTime(&milliseconds, device->events[0], device->events[1]));
    }
    *seconds = fmax(1e-3 * milliseconds, 1e-6);
    return BENCH_DONE;
}

static BenchStatus interference_prepare(Device *device, const BenchCase *of, int *sets, BenchFault *fault) {
    memset(&beside, 0, sizeof beside);
    TRY(gemm_prepare(device, of, sets, fault));
    device->sets = *sets;
    TRY(prepare_background(device, of, fault));
    TRY(seconds_of(device, true, &beside.each_seconds, fault));
    return beside.kind == NOTHING ? BENCH_DONE : seconds_of(device, false, &beside.unit_seconds, fault);
}

// The foreground begins when the first piece of the background is through and the host has had its head start; the
// others last longer than that and than the foreground is expected to take when twice as slow.
static BenchStatus interference_begin(Device *device, int count, BenchFault *fault) {
    if (beside.kind == NOTHING) return device_head_start(device, count, fault);
    CUDA_TRY(fault, cudaStreamSynchronize(device->second)); // the rest of the last time
    double lead = HEAD_START_SECONDS + 2 * count * beside.each_seconds;
    int units = 2 + (int)ceil(lead / beside.unit_seconds);
    if (units > MOST_UNITS) units = MOST_UNITS;
    TRY(start_unit(device, fault));
    CUDA_TRY(fault, cudaEventRecord(device->fork, device->second));
    CUDA_TRY(fault, cudaStreamWaitEvent(device->stream, device->fork, 0));
    for (int i = 1; i < units; i++) TRY(start_unit(device, fault));
    return device_head_start(device, count, fault);
}

const Family interference_family = {interference_prepare, interference_begin, gemm_launch, gemm_check, gemm_finish};
