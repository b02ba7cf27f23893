// Fitted and assumed numbers of links, of back ends on host memory, and of the uncertainty of a collective's time.
// NCCL's are in constants.h.
#pragma once

#include "sim/base/constant.h"

typedef enum NetworkConstantId {
    NVLINK_SHARE,
    CUBE_MESH_SHARE,
    PCIE_SHARE,
    LINK_LATENCY, // + LayoutLinkKind, to LINK_MEMORY
    LINK_LATENCY_LAST = LINK_LATENCY + 3,
    LARGE_BYTES,
    LONG_BYTES,
    MODEL_LONG,
    MODEL_LARGE,
    MODEL_SMALL,
    HOST_MEMORY,
    BOUNCED_SPREAD,
    PEER_SPREAD,
    SOCKET_SPREAD,
    SLINGSHOT_SPREAD,
    ETHERNET_SPREAD,
    ETHERNET_SPREAD_SMALL,
    GLOO_MESSAGE_TIME,
    GLOO_LOCAL_TIME,
    GLOO_PROCESS_RATE,
    GLOO_COPIES,
    MPI_MESSAGE_TIME,
    MPI_LOCAL_TIME,
    MPI_PROCESS_RATE,
    MPI_COPIES,
    UNSAID_LAUNCH,
    UNSAID_LAUNCH_SMALL,
    UNSAID_NCCL_VERSION,
    UNSAID_NCCL_VERSION_SMALL,
    UNSAID_GDR,
    UNSAID_GDR_SMALL,
    UNSAID_NIC_RATE,
    UNSAID_NIC_RATE_SMALL,
    UNSAID_NICS,
    UNSAID_NICS_SMALL,
    UNSAID_TRANSPORT,
    UNSAID_TRANSPORT_SMALL,
    UNSAID_SWITCH_GPUS,
    UNSAID_SWITCH_GPUS_SMALL,
    UNSAID_SOCKETS,
    UNSAID_SOCKETS_SMALL,
    UNSAID_GPU,
    UNSAID_GPU_SMALL,
    NETWORK_CONSTANT_COUNT
} NetworkConstantId;

extern const Constant network_constants[NETWORK_CONSTANT_COUNT];

static inline double network_constant(NetworkConstantId id) { return network_constants[id].value; }
