// Hardware of the catalogue: GPUs, nodes, links of a fabric, storage. Every number carries its unit, source and kind;
// an unknown number is absent, never zero.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/problem.h"

typedef enum Architecture {
    ARCHITECTURE_OTHER, // of a user's own GPU, or another maker's
    KEPLER,
    MAXWELL,
    PASCAL,
    VOLTA,
    TURING,
    AMPERE,
    ADA,
    HOPPER,
    BLACKWELL,
    ARCHITECTURE_COUNT
} Architecture;

Architecture architecture_called(const char *name); // "Hopper"; ARCHITECTURE_OTHER: not one of these
// Of its first data-centre part; 0: not known.
int architecture_year(Architecture architecture);

// ---- Parts.

typedef enum Precision { FP64, FP32, TF32, FP16, BF16, FP8, FP4, INT8, PRECISION_COUNT } Precision;

const char *precision_name(Precision precision);
bool precision_from_name(const char *name, Precision *precision); // case ignored; "amp", "mixed" are fp16
int precision_bytes(Precision precision);                         // of one element, whole bytes: tf32 is 4, fp4 is 1
// Of one element as products read and frameworks keep it. Two of fp4 lie in a byte; sixteen share a scale of 8 bits
// (NVFP4, e4m3; that of 32 bits for the whole tensor is not counted), where `micro_scaled` 32 (MXFP4, e8m0; OCP
// Microscaling Formats 1.0).
double operand_bytes(Precision precision, bool micro_scaled);

// Collective constants inside a node relative to the fit over all machines: factors, 1 by default (their meaning:
// models/network/network_constants.h).
typedef struct CollectiveFactors {
    double floor, hop, fill, rate;
} CollectiveFactors;

// How a number is known. The order is from best to worst.
typedef enum FactKind { FACT_MEASURED, FACT_FITTED, FACT_DATASHEET, FACT_ASSUMED, FACT_KIND_COUNT } FactKind;
const char *fact_kind_name(FactKind kind);

typedef struct Fact {
    const char *name;   // the key in the catalogue's files, "memory_bandwidth", "peak_fp16": parts.c lists them
    const char *text;   // as the catalogue writes it: "2039 GB/s"
    double value;       // in SI units
    const char *unit;   // "B/s"
    const char *source; // "NVIDIA A100 datasheet"
    FactKind kind;
    double sigma; // relative standard uncertainty; 0 when not stated
    Where where;
} Fact;

typedef enum GpuLinkKind {
    GPU_LINK_NONE,
    GPU_LINK_BRIDGE,
    GPU_LINK_MESH,
    GPU_LINK_CUBE_MESH,
    GPU_LINK_SWITCH
} GpuLinkKind;

typedef struct Gpu {
    const char *name; // "A100-SXM4-80GB"
    const char *vendor, *architecture, *form;
    Architecture generation;    // by the architecture's name
    const char *const *aliases; // "A100", "a100-80gb"
    int alias_count;
    int year;
    int sm_count;
    double boost_hz, tensor_hz;     // tensor_hz: the clock at which the tensor peak is quoted
    double exponentials;            // of special function units, per clock and SM; 0: as before Blackwell Ultra
    double memory_bytes;            // capacity
    double memory_bytes_per_second; // datasheet
    double l2_bytes;
    double peak_flops[PRECISION_COUNT];   // dense FLOP/s with FP32 accumulation, of the fastest units; 0: no such units
    double vector_flops[PRECISION_COUNT]; // without tensor cores (fp32, fp64, fp16); 0 unknown
    const char *nvlink;                   // "NVLink3", "" when none
    double nvlink_bytes_per_second;       // per GPU, one direction, all links; 0 none
    double nvlink_link_bytes_per_second;  // of one link, one direction; 0 none
    int pcie_generation, pcie_lanes;
    bool no_peer_access; // its driver lets no GPU read another's memory over PCIe (GeForce cards since Ampere)
    double power_watts;  // TDP
    double idle_watts;
    double matrix_power, memory_power, communication_power; // draw while it does so, of the TDP (power.h); 0: usual
    double cap_watts;                                       // a power limit set below the TDP (power.h); 0: none
    int mig_slices_max;                                     // 0: no MIG
    double launch_price_usd;                                // 0 unknown
    // Fitted by calibration (see kernel.h); for GPUs without measurements taken from their architecture.
    double gemm_efficiency[PRECISION_COUNT]; // e_c, of peak_flops
    double memory_efficiency;                // e_b, of memory_bytes_per_second, in streaming kernels
    double sustained;                        // share of the peak that the power cap leaves in long runs (1 uncapped);
                                             // gemm_seconds and roofline_seconds count it in
    double training_efficiency[PRECISION_COUNT]; // of gemm_efficiency, attained by products in training at the same
                                                 // clock: cold operands, other layouts, sums in 32 bits; 0 as 1
    double training_clock;                       // of the rate of kernels timed alone, left after minutes of training
    double launch_seconds;                       // kernel floor t0 in a stream
    double graph_launch_share;                   // of launch_seconds, for each kernel of a CUDA graph
    double roofline_sharpness;                   // q of the smooth maximum
    double gemm_ramp;                            // K0: elements of K (of two bytes) that a tile's start and end cost
    double gemm_feed_bytes;                      // of operands per clock and SM
    double split_k_seconds;                      // of adding up the parts of a GEMM whose K is split
    double gemm_heating;           // how much more a long GEMM's arithmetic takes than a short one's, whose
                                   // clock is not yet what the power limit leaves
    double gemm_l2_gain;           // of a GEMM's rate of memory, where the L2 still holds its operands
    double wave_weight;            // how far a last, partly filled wave costs a whole one (0 to 1)
    double long_gemm_rate;         // of a GEMM on vector units whose K is far longer than L2 and TLB like;
                                   // of AMD's matrix units, with weights beyond 4 GiB
    double untransposed_gemm_gain; // on vector units, of GEMMs that need not transpose (kernel.h)
    double odd_gemm_rate;          // on vector units, of GEMMs with rows of odd length
    double l2_speed_up, l2_share;  // of the memory's bandwidth; of the L2 that keeps the last kernel's data
    double issue_seconds;          // the host takes for an empty kernel
    double copy_seconds;           // of a copy between host and GPU, however small
    double host_link_efficiency;   // of the raw rate of its PCIe slot, in pinned copies
    double interference;           // share of a collective's time by which it delays concurrent kernels
    CollectiveFactors collectives;
    const Fact *facts;
    int fact_count;
} Gpu;

typedef struct NodeType {
    const char *name;  // "dgx-a100-80gb"
    const char *title; // "NVIDIA DGX A100 640GB"
    const char *const *aliases;
    int alias_count;
    const char *provider;       // the only provider that rents it out: "aws"; NULL: for sale to all
    const char *const *fabrics; // that a provider puts it on, its usual one first; none: any
    int fabric_count;
    const char *const *gpu_names; // one name when all are equal, else gpu_count of them
    int gpu_name_count;
    int gpu_count;
    GpuLinkKind gpu_links;
    int mesh_links_per_pair;  // NVLinks between each pair (MESH), or inside a bridged pair (BRIDGE)
    int bridge_group;         // GPUs per bridge (2), BRIDGE only
    int nvlink_domain_nodes;  // nodes that share one NVLink domain (NVL72: 18 trays); 1 elsewhere
    bool in_switch_reduction; // NVLS
    bool peer_to_peer;        // GPUs may read each other over PCIe; false: copies stage in host memory
    int sockets;
    int gpus_per_pcie_switch;       // 0: GPUs are attached to the CPU directly
    int pcie_generation;            // of the host side; the slower of this and the GPU's counts
    double socket_bytes_per_second; // between two sockets, one direction
    double host_memory_bytes;
    double host_memory_bytes_per_second;
    int cpu_cores;               // physical, all sockets; 0 unknown
    int nic_count;               // for compute traffic
    double nic_bytes_per_second; // of one NIC, one direction
    bool gpudirect_rdma;
    bool nics_across_sockets;            // each GPU's NIC is attached to another socket than the GPU
    double storage_nic_bytes_per_second; // separate storage network; 0: shares the compute NICs
    double local_read_bytes_per_second;  // local disks, all together; 0 none
    double max_power_watts;
    double idle_power_watts;
    int rack_units;   // 0: not mounted in a rack, or unknown
    double price_usd; // to buy; 0 unknown. Rental prices are offers (market.h)
    const char *price_date, *price_basis;
    const struct NodeInterior *interior; // of an imported node: the connections of its parts; else NULL
    const Fact *facts;
    int fact_count;
} NodeType;

typedef enum LinkTransport {
    TRANSPORT_INFINIBAND,
    TRANSPORT_ROCE,
    TRANSPORT_EFA,
    TRANSPORT_SLINGSHOT,
    TRANSPORT_TCP,
    TRANSPORT_TCPX // TCP into GPU memory
} LinkTransport;

// One port of a scale-out network with its protocol, as named by `fabric = "ib-ndr400"`.
typedef struct FabricLink {
    const char *name; // "ib-ndr400", "eth-1g", "roce-400", "efa-100"
    const char *title;
    const char *const *aliases;
    int alias_count;
    LinkTransport transport;
    double line_bytes_per_second;  // one direction
    double efficiency;             // payload share of the line rate attainable
    double latency_seconds;        // one way between two NICs, software included, excluding switches
    double switch_latency_seconds; // each switch crossed
    double switch_price_usd, nic_price_usd, cable_price_usd; // 0 unknown; a cable with its transceivers
    const char *price_date;
    double switch_power_watts, port_power_watts; // of a switch without optics; of each cable end
    int switch_ports;
    // What NCCL's messages over it take against the usual of its kind, as measured; 0 as 1.
    struct {
        double hop, rate, pair;
    } collectives;
    const Fact *facts;
    int fact_count;
} FabricLink;

typedef struct StorageType {
    const char *name; // "nfs-1gbe", "local-nvme", "lustre"
    const char *title;
    const char *const *aliases;
    int alias_count;
    bool shared;                  // one server for all nodes, else in each node
    double read_bytes_per_second; // all clients together
    double write_bytes_per_second;
    double latency_seconds; // per open/request
    // Shared storage is bought in units, whose rates add up (hardware.h). The rates above are of one.
    const char *unit;         // "scalable unit"; NULL: a server
    int unit_gpus;            // that one unit is sized for; 0: unspecified, one unit per cluster
    double unit_usd_per_hour; // to rent one; 0: unknown
    const Fact *facts;
    int fact_count;
} StorageType;

// What stops a job, by the part that fails. Rows of fault_components, in this order.
typedef enum FaultComponent {
    FAULT_GPU,
    FAULT_HBM,
    FAULT_SRAM,
    FAULT_GPU_PROCESSOR,
    FAULT_THERMAL,
    FAULT_NVLINK,
    FAULT_NIC,
    FAULT_CABLE,
    FAULT_HOST,
    FAULT_STORAGE,
    FAULT_SOFTWARE,
    FAULT_SILENT,
    FAULT_COMPONENT_COUNT
} FaultComponent;

typedef enum FaultUnit { FAULT_PER_GPU, FAULT_PER_NIC, FAULT_PER_NODE } FaultUnit;

typedef struct FaultComponentInfo {
    const char *name, *title;
    FaultUnit unit;    // what there is one of
    bool needs_repair; // its node leaves the job; else the job starts again where it was
} FaultComponentInfo;
extern const FaultComponentInfo fault_components[FAULT_COMPONENT_COUNT];

// How often things fail in a fleet, and what follows. Times between failures are of one part (a GPU, a NIC, a node);
// 0 is never. Rates are of the whole fleet, its bad nodes among it.
typedef struct FaultRates {
    const char *name; // "llama3-h100"
    const char *title;
    const char *const *aliases;
    int alias_count;
    double mtbf_seconds[FAULT_COMPONENT_COUNT];
    double node_mtbf_seconds;     // of a node, all causes: scales the components, then a mix; 0: as they are
    int gpus_per_node;            // of the fleet that was counted
    double shape;                 // Weibull; 1 exponential
    double fleet_spread;          // sd of the log of the rate between one fleet and another
    double bad_share, bad_factor; // nodes that fail that many times as often as the others
    double crash_detection_seconds, hang_detection_seconds, silent_detection_seconds;
    double hang_share;           // of failures that stop the job without a message
    double restart_seconds;      // scheduling, processes, communicators; without reading the checkpoint
    double repair_seconds;       // mean time until a node is back
    double planned_node_seconds; // node time between planned stops; 0 none
    double rack_mtbf_seconds, rack_repair_seconds;
    int rack_nodes;
    double slow_mtbf_seconds, slow_factor, slow_detection_seconds; // a node that is slow without failing
    double flap_mtbf_seconds, flap_stall_seconds;                  // of one NIC's link
    const Fact *facts;
    int fact_count;
} FaultRates;

// Unplanned stops of a node per second, and of one of its components; node_mtbf counted in.
double fault_node_rate(const FaultRates *rates, double gpus, double nics);
double fault_component_rate(const FaultRates *rates, FaultComponent component, double gpus, double nics);

// The kinds of parts, as `lockstep hw list KIND` spells them: "gpu", "node", "fabric", "storage", "faults", and those
// of market.h: "price", "currency", "grid", "site".
typedef struct Catalogue {
    const Gpu *gpus;
    int gpu_count;
    const NodeType *nodes;
    int node_count;
    const FabricLink *links;
    int link_count;
    const StorageType *storages;
    int storage_count;
    const FaultRates *faults;
    int faults_count;
    const struct Offer *offers;
    int offer_count;
    const struct Currency *currencies;
    int currency_count;
    const struct Grid *grids;
    int grid_count;
    const struct Site *sites;
    int site_count;
    struct PartIndexes *indexes; // search indexes by name
} Catalogue;

// The built-in catalogue. Our own files are valid (tests check them): an error there is a CHECK.
const Catalogue *catalogue_builtin(Arena *arena);
// The built-in catalogue with the parts of a user's JSON file (same format) added or put in place of the built-in ones.
// A part may have "like": "NAME" and change only what differs; a fitted profile is such a file. NULL after adding
// problems.
const Catalogue *catalogue_with_file(Arena *arena, const Catalogue *base, const char *path, Problems *problems);
// The catalogue of --profile FILE: the built-in one, with that file's parts unless path is NULL.
const Catalogue *catalogue_with_profile(Arena *arena, const char *path, Problems *problems);

// By name or alias; case, '-', '_', spaces and a vendor's word in front ("NVIDIA", "Tesla") are ignored, and names win
// over aliases. NULL without a problem when absent.
const Gpu *catalogue_gpu(const Catalogue *catalogue, const char *name);
const NodeType *catalogue_node(const Catalogue *catalogue, const char *name);
const FabricLink *catalogue_link(const Catalogue *catalogue, const char *name);
const StorageType *catalogue_storage(const Catalogue *catalogue, const char *name);
const FaultRates *catalogue_faults(const Catalogue *catalogue, const char *name);
// The same, adding "no GPU is called "H10O"" with did-you-mean when absent (then NULL).
const Gpu *find_gpu(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems);
// Also a machine in words: "2x rtx-3060 + 1x rtx-4090".
const NodeType *find_node(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems);
// The first node type with `count` GPUs of that type, else the first with more; NULL: none.
const NodeType *node_with_gpus(const Catalogue *catalogue, const Gpu *gpu, int count);
const FabricLink *find_link(Arena *arena, const Catalogue *catalogue, const char *name, Where where,
                            Problems *problems);
const StorageType *find_storage(Arena *arena, const Catalogue *catalogue, const char *name, Where where,
                                Problems *problems);
const FaultRates *find_faults(Arena *arena, const Catalogue *catalogue, const char *name, Where where,
                              Problems *problems);

// A MIG slice as a GPU of its own: "A100-SXM4-80GB:1g.10gb". Its share of SMs, memory, bandwidth, L2 and power comes
// from the profile name; NULL after a problem when the GPU has no MIG or no such profile. find_gpu understands the
// form.
const Gpu *gpu_mig_slice(Arena *arena, const Gpu *whole, const char *profile, Where where, Problems *problems);

typedef struct GpuTypes { // each once
    const Gpu *const *items;
    int count;
} GpuTypes;

const Gpu *node_gpu(const Catalogue *catalogue, const NodeType *node, int index); // index < node->gpu_count
// Access to a part's facts: those of the built-in catalogue are unpacked on first use.
const Fact *facts_of(const Fact *facts, int fact_count);
const Fact *fact_find(const Fact *facts, int fact_count, const char *name); // NULL when absent

// ---- Shared storage that scales with the cluster, as a number of equal units.

#define STORAGE_USUAL "superpod-storage" // default storage for checkpoints
#define STORAGE_MOST_UNITS 10000

// Default number of units for a cluster of so many GPUs: one for every unit_gpus of them, or a single one where the
// storage is not sized for a number of GPUs or lies in each node.
int storage_usual_units(const StorageType *storage, int gpus);
// Of `units` units the number billed to a cluster that did not ask for them: its GPUs' share of the GPUs they are sized
// for.
double storage_paid_units(const StorageType *storage, int units, int gpus);
// Several units as one storage: clients are spread over them, so that rates add up and latency stays. units 0: the
// default for `gpus`. Returns the storage itself if one unit is enough.
const StorageType *storage_of_units(Arena *arena, const StorageType *storage, int units, int gpus);
// Whether it can have `units` units; false after a problem: too many, or the storage lies in each node.
bool storage_takes_units(const StorageType *storage, int64_t units, Where where, Problems *problems);
const char *storage_unit_name(const StorageType *storage); // "scalable unit", "server"
