// The table of network constants.
#include "models/network/network_constants.h"

#include "models/network/topology.h"

_Static_assert(LINK_LATENCY_LAST == LINK_LATENCY + LINK_MEMORY, "one latency for each kind of link but NICs");

// clang-format off
const Constant network_constants[NETWORK_CONSTANT_COUNT] = {
    // name, unit, value, sigma, kind, source, basis
    [NVLINK_SHARE] = {"payload of NVLink, of raw", "", 0.786, 0.04, CONSTANT_MEASURED, "busbw at 16 GiB: 235 of 300 GB/s, 367 of 450, 682 of 900", "A100, H100, B200: 3 machines"},
    [CUBE_MESH_SHARE] = {"payload of V100's cube mesh, of raw", "", 0.895, 0.05, CONSTANT_MEASURED, "busbw: 134.6 of 150 GB/s", "1 machine"},
    [PCIE_SHARE] = {"payload of PCIe, of raw", "", 0.80, 0.05, CONSTANT_MEASURED, "pinned copies: 12.3 of 15.75 GB/s, 25 of 31.5", "2 generations"},
    [LINK_LATENCY + LINK_NVLINK] = {"latency of an NVLink hop", "s", 0.3e-6, 0.5, CONSTANT_ASSUMED, "through a switch about 0.6 us under software; order of magnitude", "nothing measured"},
    [LINK_LATENCY + LINK_PCIE] = {"latency of a PCIe hop", "s", 0.25e-6, 0.5, CONSTANT_ASSUMED, "0.15 to 0.3 us, vendors' figures", "nothing measured"},
    [LINK_LATENCY + LINK_SOCKET] = {"latency between sockets", "s", 0.2e-6, 0.5, CONSTANT_ASSUMED, "vendors' figures, order of magnitude", "nothing measured"},
    [LINK_LATENCY + LINK_MEMORY] = {"latency of host memory", "s", 0.1e-6, 0.5, CONSTANT_ASSUMED, "vendors' figures, order of magnitude", "nothing measured"},
    [LARGE_BYTES] = {"size from which a collective counts as large in its uncertainty", "B", 65536, 0.5, CONSTANT_ASSUMED, "where rates begin to matter beside latency", "nothing measured"},
    [LONG_BYTES] = {"size from which rates decide alone", "B", 67108864, 0.5, CONSTANT_ASSUMED, "from here on chunks and hops are a few per cent", "nothing measured"},
    [MODEL_LONG] = {"sigma of the model's own error from 64 MiB", "", 0.15, 0.2, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "43 machines"},
    [MODEL_LARGE] = {"sigma of the model's own error from 64 KiB to 64 MiB", "", 0.26, 0.2, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "37 machines"},
    [MODEL_SMALL] = {"sigma of the model's own error below 64 KiB", "", 0.25, 0.2, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "30 machines"},
    [HOST_MEMORY] = {"sigma of large collectives staged in host memory, besides", "", 0.5, 0.3, CONSTANT_MEASURED, "hosts with the same slots differ by a factor of four in how fast GPUs pass bytes by host memory", "5 machines"},
    [BOUNCED_SPREAD] = {"sigma of large messages that bounce in host memory, besides", "", 0.3, 0.3, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "5 machines"},
    [PEER_SPREAD] = {"sigma of large collectives over PCIe, besides", "", 0.25, 0.3, CONSTANT_MEASURED, "15 to 21 of 31.5 GB/s within one machine", "2 machines"},
    [SOCKET_SPREAD] = {"sigma over TCP, besides", "", 0.45, 0.3, CONSTANT_MEASURED, "one connection moves 0.6 to 5 GB/s", "5 machines"},
    [SLINGSHOT_SPREAD] = {"sigma over Slingshot, besides", "", 0.35, 0.3, CONSTANT_MEASURED, "sites set the provider differently, and share global links", "3 machines"},
    [ETHERNET_SPREAD] = {"sigma of large collectives over RoCE, EFA and TCPX, besides", "", 0.15, 0.3, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "12 machines"},
    [ETHERNET_SPREAD_SMALL] = {"sigma of small collectives over RoCE, EFA and TCPX, besides", "", 0.3, 0.3, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "7 machines"},
    [GLOO_MESSAGE_TIME] = {"Gloo, each message", "s", 20e-6, 0.5, CONSTANT_ASSUMED, "usual of one TCP connection", "nothing measured"},
    [GLOO_LOCAL_TIME] = {"Gloo, each message within a node", "s", 15e-6, 0.5, CONSTANT_ASSUMED, "usual of one TCP connection", "nothing measured"},
    [GLOO_PROCESS_RATE] = {"Gloo, what one process moves", "B/s", 3e9, 0.4, CONSTANT_ASSUMED, "usual of one TCP connection", "nothing measured"},
    [GLOO_COPIES] = {"Gloo, bytes through host memory per byte within a node", "", 4, 0.3, CONSTANT_ASSUMED, "copy in and copy out, each read and written", "nothing measured"},
    [MPI_MESSAGE_TIME] = {"Open MPI, each message", "s", 1e-6, 0.5, CONSTANT_ASSUMED, "usual over verbs", "nothing measured"},
    [MPI_LOCAL_TIME] = {"Open MPI, each message within a node", "s", 0.7e-6, 0.5, CONSTANT_ASSUMED, "usual over shared memory", "nothing measured"},
    [MPI_PROCESS_RATE] = {"Open MPI, what one process moves", "B/s", 10e9, 0.4, CONSTANT_ASSUMED, "what one core copies", "nothing measured"},
    [MPI_COPIES] = {"Open MPI, bytes through host memory per byte within a node", "", 4, 0.3, CONSTANT_ASSUMED, "copy in and copy out, each read and written", "nothing measured"},
    [UNSAID_LAUNCH] = {"sigma where nobody says: launch, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one process for 8 GPUs takes 20 us, 8 processes 10", "nothing measured"},
    [UNSAID_LAUNCH_SMALL] = {"sigma where nobody says: launch, small collectives", "", 0.35, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one process for 8 GPUs takes 20 us, 8 processes 10", "nothing measured"},
    [UNSAID_NCCL_VERSION] = {"sigma where nobody says: NCCL's version, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: other tuning", "nothing measured"},
    [UNSAID_NCCL_VERSION_SMALL] = {"sigma where nobody says: NCCL's version, small collectives", "", 0.1, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: other tuning", "nothing measured"},
    [UNSAID_GDR] = {"sigma where nobody says: GPUDirect, large collectives", "", 0.35, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: host memory instead", "nothing measured"},
    [UNSAID_GDR_SMALL] = {"sigma where nobody says: GPUDirect, small collectives", "", 0.2, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: host memory instead", "nothing measured"},
    [UNSAID_NIC_RATE] = {"sigma where nobody says: a NIC's rate, large collectives", "", 0.7, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 100 to 400 Gb/s", "nothing measured"},
    [UNSAID_NIC_RATE_SMALL] = {"sigma where nobody says: a NIC's rate, small collectives", "", 0.1, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 100 to 400 Gb/s", "nothing measured"},
    [UNSAID_NICS] = {"sigma where nobody says: NICs per node, large collectives", "", 0.5, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one, or one for each GPU", "nothing measured"},
    [UNSAID_NICS_SMALL] = {"sigma where nobody says: NICs per node, small collectives", "", 0.1, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one, or one for each GPU", "nothing measured"},
    [UNSAID_TRANSPORT] = {"sigma where nobody says: transport, large collectives", "", 0.5, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: InfiniBand or TCP", "nothing measured"},
    [UNSAID_TRANSPORT_SMALL] = {"sigma where nobody says: transport, small collectives", "", 0.5, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: InfiniBand or TCP", "nothing measured"},
    [UNSAID_SWITCH_GPUS] = {"sigma where nobody says: GPUs per PCIe switch, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1, 2 or 4", "nothing measured"},
    [UNSAID_SWITCH_GPUS_SMALL] = {"sigma where nobody says: GPUs per PCIe switch, small collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1, 2 or 4", "nothing measured"},
    [UNSAID_SOCKETS] = {"sigma where nobody says: CPU sockets, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1 or 2", "nothing measured"},
    [UNSAID_SOCKETS_SMALL] = {"sigma where nobody says: CPU sockets, small collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1 or 2", "nothing measured"},
    [UNSAID_GPU] = {"sigma where nobody says: GPU, large collectives", "", 0.3, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: the next generation", "nothing measured"},
    [UNSAID_GPU_SMALL] = {"sigma where nobody says: GPU, small collectives", "", 0.2, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: the next generation", "nothing measured"},
};
