// The fitted and assumed numbers of what a block costs: how software runs kernels, attention, convolutions, memory that
// frameworks hold. What was counted from what kernels read and write stands beside the code that uses it.
#ifndef LOCKSTEP_WORKLOAD_COST_CONSTANTS_H
#define LOCKSTEP_WORKLOAD_COST_CONSTANTS_H

#include "sim/constant.h"

typedef enum CostConstantId {
    ISSUE_SHARPNESS,
    USUAL_ISSUE_SECONDS,
    FSDP_BYTES_32,
    FSDP_BYTES_16,
    PLAIN_CUBLAS_ON_HOPPER,
    FLASH_BEFORE_HOPPER,
    FLASH_ON_HOPPER,
    FLASH_ON_BLACKWELL,
    FLASH_1_BEFORE_HOPPER,
    FLASH_1_SINCE_HOPPER,
    FLASH_2_BEFORE_HOPPER,
    FLASH_2_SINCE_HOPPER,
    FLASH_3_ON_HOPPER,
    FLASH_4_ON_BLACKWELL,
    FLASH_BACKWARD_SHARE,
    FLASH_KEYS,
    FLASH_KEYS_ON_BLACKWELL,
    MIXED_VECTOR_SHARE,
    CONV_SHARE_BEFORE_AMPERE,
    CONV_SHARE_SINCE_AMPERE,
    CONV_SHARE_VECTOR,
    CONV_SHARE_DILATED,
    CONV_SHARE_GUESSED,
    CONV_PEAK_KEPLER,
    CONV_PEAK_PASCAL,
    CONV_PEAK_HOPPER,
    CONV_PEAK_BLACKWELL,
    K_RAMP,
    K_RAMP_CUDNN_5,
    LAYOUT_PASSES,
    CONV_SHARPNESS,
    BYTES_PER_CLOCK_AND_SM,
    MEMORY_SHARE_CUDNN_5,
    WIDE_GROUP_SHARE,
    DRAIN_SECONDS,
    APART_BYTES,
    APART_FLOPS,
    APART_ALONG_TIME_SLOTS,
    LOOP_HOST_SECONDS,
    EAGER_STEP_SECONDS,
    GPTQ_UNPACK_BYTES,
    HOOK_SECONDS,
    FSDP_UNIT_SECONDS,
    ANSWER_SECONDS,
    FP8_ROWWISE_SHARE,
    FP8_BLOCK_SHARE,
    RESERVE_BYTES,
    COMMUNICATOR_BYTES,
    ALLOCATOR_SLACK,
    ALLOCATOR_SLACK_VARIED,
    MEMORY_SPREAD,
    CONV_WORKSPACE_BYTES,
    COST_CONSTANT_COUNT
} CostConstantId;

extern const Constant cost_constants[COST_CONSTANT_COUNT];

static inline double cost_constant(CostConstantId id) { return cost_constants[id].value; }

#endif
