// cuBLASLt's matrix products on the emulated GPU: D = alpha op(A) B + beta C, all matrices in column-major order with
// the distance between columns that their layout gives, sums in double. Refuses what the real one refuses: FP8 and INT8
// unless A is transposed and the sides are multiples of what its matrix units take.
#include <algorithm>
#include <vector>

#include <cublasLt.h>

#include "emulator.h"
#include "small_float.h"

#include <string.h>

struct EmulatedCublas {
    int device;
};
struct EmulatedProduct {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    cublasOperation_t a_operation;
    bool is_fast;
};
struct EmulatedLayout {
    cudaDataType_t type;
    int64_t rows, columns, leading, stride;
    int32_t batch;
};
struct EmulatedPreference {
    size_t workspace_bytes;
};

#define ALGORITHM 0x10c45eull // what the heuristic gives and nobody else

// ---- Elements.

static size_t element_bytes(cudaDataType_t type) {
    switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
        return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return 2;
    default:
        return 4;
    }
}

static double load(cudaDataType_t type, const void *from, int64_t i) {
    switch (type) {
    case CUDA_R_32F:
        return ((const float *)from)[i];
    case CUDA_R_32I:
        return ((const int32_t *)from)[i];
    case CUDA_R_8I:
        return ((const int8_t *)from)[i];
    case CUDA_R_16F:
        return float_from_small(half_format, ((const uint16_t *)from)[i]);
    case CUDA_R_16BF:
        return float_from_small(bfloat16_format, ((const uint16_t *)from)[i]);
    default:
        return float_from_small(e4m3_format, ((const uint8_t *)from)[i]);
    }
}

static void store(cudaDataType_t type, void *to, int64_t i, double value) {
    switch (type) {
    case CUDA_R_32F:
        ((float *)to)[i] = (float)value;
        break;
    case CUDA_R_32I:
        ((int32_t *)to)[i] = (int32_t)value;
        break;
    case CUDA_R_16F:
        ((uint16_t *)to)[i] = (uint16_t)small_from_float(half_format, (float)value);
        break;
    case CUDA_R_16BF:
        ((uint16_t *)to)[i] = (uint16_t)small_from_float(bfloat16_format, (float)value);
        break;
    default:
        break;
    }
}

// ---- What is asked for.

static cublasStatus_t begin_call(const char *name) {
    return emulator_begin_call(name) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
#define BEGIN()                                                                                                        \
    do {                                                                                                               \
        if (begin_call(__func__)) return CUBLAS_STATUS_EXECUTION_FAILED;                                               \
    } while (0)
#define MUST(holds)                                                                                                    \
    do {                                                                                                               \
        if (!(holds)) return CUBLAS_STATUS_INVALID_VALUE;                                                              \
    } while (0)

size_t cublasLtGetVersion() { return 120400; }

const char *cublasLtGetStatusName(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    }
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    BEGIN();
    *handle = new EmulatedCublas{0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
    BEGIN();
    *product = new EmulatedProduct{compute, scale, CUBLAS_OP_N, false};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
    delete product;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t which,
                                              const void *value, size_t bytes) {
    BEGIN();
    if (which == CUBLASLT_MATMUL_DESC_TRANSA) {
        MUST(bytes == sizeof(int32_t));
        memcpy(&product->a_operation, value, bytes);
    } else {
        MUST(bytes == sizeof(int8_t));
        product->is_fast = *(const int8_t *)value != 0;
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
    BEGIN();
    MUST(rows > 0 && columns > 0 && leading >= (int64_t)rows);
    *layout = new EmulatedLayout{type, (int64_t)rows, (int64_t)columns, leading, 0, 1};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which,
                                                const void *value, size_t bytes) {
    BEGIN();
    if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
        MUST(bytes == sizeof layout->batch);
        memcpy(&layout->batch, value, bytes);
    } else {
        MUST(bytes == sizeof layout->stride);
        memcpy(&layout->stride, value, bytes);
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    BEGIN();
    *preference = new EmulatedPreference{0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t, const void *value,
                                                    size_t bytes) {
    BEGIN();
    MUST(bytes == sizeof preference->workspace_bytes);
    memcpy(&preference->workspace_bytes, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

// ---- What there is.

// The manual's table of types: of inputs, of the result, of sums and of alpha; the first GPUs that have it.
static const struct {
    cudaDataType_t in, out, scale;
    cublasComputeType_t compute;
    int least_capability, multiple; // of the side that is added up and of D's rows
    bool must_transpose;
} kinds[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 50, 1, false},
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 80, 1, false},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 53, 1, false},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 80, 1, false},
    {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 89, 16, true},
    {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 72, 4, true},
};

static cublasStatus_t shapes_check(const EmulatedProduct *product, const EmulatedLayout *a, const EmulatedLayout *b,
                                   const EmulatedLayout *d) {
    bool is_transposed = product->a_operation == CUBLAS_OP_T;
    int64_t a_rows = is_transposed ? a->columns : a->rows, depth = is_transposed ? a->rows : a->columns;
    if (depth != b->rows || a_rows != d->rows || b->columns != d->columns || a->type != b->type ||
        a->batch != b->batch || a->batch != d->batch)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (auto &kind : kinds) {
        if (kind.in != a->type || kind.out != d->type || kind.compute != product->compute ||
            kind.scale != product->scale)
            continue;
        if (emulator.capability < kind.least_capability || (kind.must_transpose && !is_transposed) ||
            depth % kind.multiple || d->rows % kind.multiple)
            return CUBLAS_STATUS_NOT_SUPPORTED;
        return CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t *found, int *count) {
    BEGIN();
    MUST(handle && product && a && b && c && d && preference && most > 0);
    *count = 0;
    cublasStatus_t status = shapes_check(product, a, b, d);
    if (status) return status;
    found[0] = cublasLtMatmulHeuristicResult_t();
    found[0].algo.data[0] = ALGORITHM;
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

// ---- A product.

struct Order {
    EmulatedProduct product;
    EmulatedLayout a, b, d;
    const void *a_at, *b_at;
    void *d_at;
    double alpha;
    int device;
};

static bool is_there(const EmulatedLayout &layout, const void *at, int device) {
    const Allocation *of = memory_find(at);
    int64_t elements = (layout.batch - 1) * layout.stride + (layout.columns - 1) * layout.leading + layout.rows;
    return of && of->is_live && of->device == device &&
           (const char *)at + (size_t)elements * element_bytes(layout.type) <= of->begin + of->bytes;
}

// TF32 keeps ten bits of the fraction of each factor.
static double factor(const Order &order, const EmulatedLayout &layout, const void *at, int64_t i) {
    double value = load(layout.type, at, i);
    if (order.product.compute != CUBLAS_COMPUTE_32F_FAST_TF32) return value;
    return float_from_small({8, 10, false}, small_from_float({8, 10, false}, (float)value));
}

static void multiply(const Order &order, int64_t batch) {
    const EmulatedLayout &a = order.a, &b = order.b, &d = order.d;
    bool is_transposed = order.product.a_operation == CUBLAS_OP_T;
    int64_t depth = b.rows;
    std::vector<double> left((size_t)depth), right((size_t)(depth * d.columns));
    for (int64_t j = 0; j < d.columns; j++)
        for (int64_t k = 0; k < depth; k++)
            right[(size_t)(j * depth + k)] = factor(order, b, order.b_at, batch * b.stride + j * b.leading + k);
    for (int64_t i = 0; i < d.rows; i++) {
        for (int64_t k = 0; k < depth; k++) {
            int64_t at = batch * a.stride + (is_transposed ? i * a.leading + k : k * a.leading + i);
            left[(size_t)k] = factor(order, a, order.a_at, at);
        }
        for (int64_t j = 0; j < d.columns; j++) {
            double sum = 0;
            for (int64_t k = 0; k < depth; k++) sum += left[(size_t)k] * right[(size_t)(j * depth + k)];
            store(d.type, order.d_at, batch * d.stride + j * d.leading + i, order.alpha * sum);
        }
    }
}

static bool run_product(const Order &order) {
    const EmulatedLayout &d = order.d;
    if (!is_there(order.a, order.a_at, order.device) || !is_there(order.b, order.b_at, order.device) ||
        !is_there(d, order.d_at, order.device)) {
        emulator_fault(cudaErrorIllegalAddress, "a matrix product reaches past its matrices");
        return true;
    }
    if (emulator.idle == "gemm") return true;
    for (int64_t batch = 0; batch < d.batch; batch++) multiply(order, batch);
    size_t bytes = element_bytes(d.type), elements = (size_t)(d.batch * d.columns * d.leading);
    if (emulator.loses_last == "gemm") memset((char *)order.d_at + (elements - 1) * bytes, 0xff, bytes);
    return true;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
                              const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    BEGIN();
    MUST(handle && product && a_layout && b_layout && c_layout && d_layout && c == d && algorithm);
    MUST(algorithm->data[0] == ALGORITHM && (workspace || workspace_bytes == 0));
    cublasStatus_t status = shapes_check(product, a_layout, b_layout, d_layout);
    if (status) return status;
    bool is_whole = product->scale == CUDA_R_32I;
    double by = is_whole ? *(const int32_t *)alpha : *(const float *)alpha,
           add = is_whole ? *(const int32_t *)beta : *(const float *)beta;
    if (add != 0) return CUBLAS_STATUS_NOT_SUPPORTED; // nobody here adds to what is there
    Order order = {*product, *a_layout, *b_layout, *d_layout, a, b, d, by, emulated_device_of(stream)};
    emulated_enqueue(stream, [order] { return run_product(order); });
    return CUBLAS_STATUS_SUCCESS;
}

// ---- Rounding (small_float.h).

unsigned small_from_float(SmallFormat format, float value) {
    int bias = (1 << (format.exponent_bits - 1)) - 1, most_exponent = (1 << format.exponent_bits) - 1;
    unsigned sign = std::signbit(value) ? 1u << (format.exponent_bits + format.mantissa_bits) : 0;
    unsigned infinity = (unsigned)most_exponent << format.mantissa_bits, ones = (1u << format.mantissa_bits) - 1;
    if (value != value) return sign | infinity | (format.is_finite ? ones : 1u << (format.mantissa_bits - 1));
    if (value == 0) return sign;
    int exponent;
    std::frexp(std::fabs(value), &exponent); // in [1/2, 1)
    exponent = std::max(exponent - 1, 1 - bias);
    // So many steps of the last place; nearbyint takes the even one of two that are equally near.
    double steps = std::nearbyint(std::ldexp((double)std::fabs(value), format.mantissa_bits - exponent));
    // Counted from the smallest: a carry into the next exponent comes out right by itself.
    double code = steps + std::ldexp((double)(exponent + bias - 1), format.mantissa_bits);
    double most = format.is_finite ? (double)(infinity + ones - 1) : (double)infinity;
    return sign | (unsigned)std::min(code, most);
}

float float_from_small(SmallFormat format, unsigned bits) {
    int bias = (1 << (format.exponent_bits - 1)) - 1, most_exponent = (1 << format.exponent_bits) - 1;
    unsigned fraction = bits & ((1u << format.mantissa_bits) - 1);
    int exponent = (int)(bits >> format.mantissa_bits) & most_exponent;
    float sign = bits >> (format.exponent_bits + format.mantissa_bits) & 1 ? -1.0f : 1.0f;
    bool is_top = exponent == most_exponent,
         is_nan = format.is_finite ? is_top && fraction + 1 == 1u << format.mantissa_bits : is_top && fraction;
    if (is_nan) return NAN;
    if (is_top && !format.is_finite) return sign * INFINITY;
    double value = exponent ? fraction + (double)(1u << format.mantissa_bits) : fraction;
    return sign * (float)std::ldexp(value, (exponent ? exponent : 1) - bias - format.mantissa_bits);
}
