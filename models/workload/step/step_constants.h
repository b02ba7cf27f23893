// Fitted and assumed numbers of a training step: host times, and uncertainty of the answer.
#pragma once

#include "models/workload/cost/cost.h"
#include "sim/base/quantity.h"

typedef enum StepConstantId {
    RUN_TO_RUN_SIGMA,
    CAUSE_SIGMA, // + Cause
    CAUSE_SIGMA_LAST = CAUSE_SIGMA + CAUSE_OTHER,
    SOFTWARE_SIGMA, // + Framework
    SOFTWARE_SIGMA_LAST = SOFTWARE_SIGMA + FRAMEWORK_TENSORFLOW,
    ASSUMED_SOFTWARE_SIGMA,
    UNREAD_OPTION_SIGMA,
    OWN_CODE_LOSS,
    OWN_CODE_HOST_LOSS,
    OWN_CODE_SIGMA,
    SLOWER_SPREAD,
    FASTER_SPREAD,
    KERNELS_OF_GPU,
    KERNELS_OF_MODEL,
    KERNELS_OF_BATCH,
    ATTENTION_SIGMA,
    MEMORY_SIGMA,
    TRAFFIC_SIGMA,
    PECULIAR_SIGMA,
    OTHER_LAYOUT_SIGMA,
    OPEN_OF_OWN_CODE,
    PECULIAR_FREEDOM,
    STEP_CONSTANT_COUNT
} StepConstantId;

extern const Constant step_constants[STEP_CONSTANT_COUNT];

static inline double step_constant(StepConstantId id) { return step_constants[id].value; }
