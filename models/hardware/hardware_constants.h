// Fitted and assumed numbers of kernels, clocks and power that hold for GPUs of all types. Those of one type are in
// the catalogue.
#pragma once

#include "sim/base/quantity.h"

typedef enum HardwareConstantId {
    L2_BYTES,
    VECTOR_FEED_BYTES,
    LONG_L2_BYTES,
    LONG_L2_MOST,
    LOADED_FLOPS,
    LOOP_CLOCKS,
    SPLIT_K_LEAST,
    SPLIT_SMS,
    HEATING_SECONDS,
    QUIET_SHARE,
    SCALING_8_SECONDS,
    SCALING_4_SECONDS,
    VECTOR_SPLIT_SECONDS,
    EXCHANGE_NIC_SHARE,
    RANGE_IN_NODE,
    REPLICA_SPREAD,
    THROTTLED_SHARE,
    MATRIX_SHARE,
    MEMORY_SHARE,
    COMMUNICATION_SHARE,
    WAITING_IDLES,
    IDLE_SHARE,
    LEAST_VOLTAGE,
    GPU_LEAST_CAP,
    HOST_BUSY_SHARE,
    HOST_IDLE_SHARE,
    HOST_UNRATED_SHARE,
    HOST_UNRATED_WATTS,
    HARDWARE_CONSTANT_COUNT
} HardwareConstantId;

extern const Constant hardware_constants[HARDWARE_CONSTANT_COUNT];

static inline double hardware_constant(HardwareConstantId id) { return hardware_constants[id].value; }
