// The tables of part fields: one row per field.
#include "models/hardware/parts.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define L2_SPEED_UP_MOST 20.0

static const char *const gpu_link_names[] = {"none", "bridge", "mesh", "cube_mesh", "switch"};
static const char *const transport_names[] = {"infiniband", "roce", "efa", "slingshot", "tcp", "gpudirect-tcp"};

// clang-format off
// Rows, so that a table reads like a data sheet. S is the struct that a table describes.
#define TEXT(key_, member_, required_) {.key = key_, .type = PART_FIELD_TEXT, .offset = offsetof(S, member_), .required = required_}
#define BOOL(key_, member_) {.key = key_, .type = PART_FIELD_BOOL, .offset = offsetof(S, member_), .required = true}
#define FLAG(key_, member_) {.key = key_, .type = PART_FIELD_BOOL, .offset = offsetof(S, member_)} // default false
#define CHOICE(key_, member_, names_) \
    {.key = key_, .type = PART_FIELD_CHOICE, .offset = offsetof(S, member_), .required = true, .choices = names_, .choice_count = COUNT_OF(names_)}
#define INT(key_, member_, required_, least_, most_) \
    {.key = key_, .type = PART_FIELD_INT, .offset = offsetof(S, member_), .required = required_, .quantity = QUANTITY_COUNT, \
     .unit = "", .least = least_, .most = most_}
#define NUMBER(key_, member_, required_, quantity_, unit_, least_, most_) \
    {.key = key_, .type = PART_FIELD_NUMBER, .offset = offsetof(S, member_), .required = required_, .quantity = quantity_, \
     .unit = unit_, .least = least_, .most = most_}
#define BYTES(key_, member_, required_) NUMBER(key_, member_, required_, QUANTITY_BYTES, "B", 1e3, 1e18)
#define BANDWIDTH(key_, member_, required_) NUMBER(key_, member_, required_, QUANTITY_BANDWIDTH, "B/s", 1e5, 1e15)
#define TIME(key_, member_, required_) NUMBER(key_, member_, required_, QUANTITY_TIME, "s", 1e-9, 10)
#define POWER(key_, member_, required_) NUMBER(key_, member_, required_, QUANTITY_POWER, "W", 0.1, 1e6)
#define MONEY(key_, member_, unit_) NUMBER(key_, member_, false, QUANTITY_NUMBER, unit_, 1e-3, 1e9)
#define SHARE(key_, member_, required_) NUMBER(key_, member_, required_, QUANTITY_NUMBER, "", 1e-3, 1)
#define FACTOR(key_, member_) NUMBER(key_, member_, false, QUANTITY_NUMBER, "of usual", 0.05, 20)
#define FLOPS(key_, member_, required_) NUMBER(key_, member_, required_, QUANTITY_FLOPS_RATE, "FLOP/s", 1e8, 1e18)

#define S Gpu
#define PEAK(name_, precision_) FLOPS("peak_" name_, peak_flops[precision_], false)
#define TRAINED(name_, precision_) SHARE("training_efficiency_" name_, training_efficiency[precision_], false)
#define EFFICIENCY(name_, precision_) SHARE("gemm_efficiency_" name_, gemm_efficiency[precision_], false)
static const PartField gpu_fields[] = {
    TEXT("vendor", vendor, true),
    TEXT("architecture", architecture, true),
    TEXT("form", form, false),
    {.key = "year", .type = PART_FIELD_YEAR, .offset = offsetof(S, year), .required = true, .least = 1990, .most = 2100},
    INT("sms", sm_count, true, 1, 1e5),
    NUMBER("boost_clock", boost_hz, false, QUANTITY_FREQUENCY, "Hz", 1e8, 1e10),
    NUMBER("tensor_clock", tensor_hz, false, QUANTITY_FREQUENCY, "Hz", 1e8, 1e10),
    NUMBER("exponentials", exponentials, false, QUANTITY_NUMBER, "per clock and SM", 1, 1e4),
    BYTES("memory", memory_bytes, true),
    BANDWIDTH("memory_bandwidth", memory_bytes_per_second, true),
    BYTES("l2_cache", l2_bytes, true),
    PEAK("fp64", FP64), PEAK("fp32", FP32), PEAK("tf32", TF32), PEAK("fp16", FP16),
    PEAK("bf16", BF16), PEAK("fp8", FP8), PEAK("fp4", FP4), PEAK("int8", INT8),
    FLOPS("vector_fp64", vector_flops[FP64], false),
    FLOPS("vector_fp32", vector_flops[FP32], true),
    FLOPS("vector_fp16", vector_flops[FP16], false),
    TEXT("nvlink", nvlink, false),
    BANDWIDTH("nvlink_bandwidth", nvlink_bytes_per_second, false),
    BANDWIDTH("nvlink_link_bandwidth", nvlink_link_bytes_per_second, false),
    INT("pcie_generation", pcie_generation, true, 1, 8),
    INT("pcie_lanes", pcie_lanes, true, 1, 32),
    FLAG("no_peer_access", no_peer_access),
    POWER("power", power_watts, true),
    POWER("idle_power", idle_watts, false),
    SHARE("matrix_power", matrix_power, false),
    SHARE("memory_power", memory_power, false),
    SHARE("communication_power", communication_power, false),
    INT("mig_slices", mig_slices_max, false, 0, 16),
    MONEY("launch_price_usd", launch_price_usd, "USD"),
    EFFICIENCY("fp64", FP64), EFFICIENCY("fp32", FP32), EFFICIENCY("tf32", TF32), EFFICIENCY("fp16", FP16),
    EFFICIENCY("bf16", BF16), EFFICIENCY("fp8", FP8), EFFICIENCY("fp4", FP4), EFFICIENCY("int8", INT8),
    TRAINED("fp16", FP16), TRAINED("bf16", BF16), TRAINED("fp8", FP8), TRAINED("fp4", FP4),
    SHARE("memory_efficiency", memory_efficiency, true),
    SHARE("sustained", sustained, true),
    SHARE("training_clock", training_clock, true),
    NUMBER("launch_time", launch_seconds, true, QUANTITY_TIME, "s", 1e-8, 1e-2),
    SHARE("graph_launch_share", graph_launch_share, false),
    NUMBER("roofline_sharpness", roofline_sharpness, true, QUANTITY_NUMBER, "", 1, 20),
    NUMBER("gemm_ramp", gemm_ramp, true, QUANTITY_NUMBER, "of K", 0, 1e4),
    NUMBER("wave_weight", wave_weight, true, QUANTITY_NUMBER, "", 0, 1),
    NUMBER("gemm_feed", gemm_feed_bytes, false, QUANTITY_NUMBER, "B per clock and SM", 1, 1e4),
    TIME("split_k_time", split_k_seconds, false),
    NUMBER("gemm_heating", gemm_heating, false, QUANTITY_NUMBER, "", 0, 1),
    NUMBER("gemm_l2_gain", gemm_l2_gain, false, QUANTITY_NUMBER, "of memory", 1, 20),
    SHARE("long_gemm_rate", long_gemm_rate, false),
    NUMBER("untransposed_gemm_gain", untransposed_gemm_gain, false, QUANTITY_NUMBER, "of the rate", 0.5, 2),
    SHARE("odd_gemm_rate", odd_gemm_rate, false),
    NUMBER("l2_speed_up", l2_speed_up, false, QUANTITY_NUMBER, "of memory", 1, L2_SPEED_UP_MOST),
    SHARE("l2_share", l2_share, false),
    TIME("issue_time", issue_seconds, false),
    TIME("host_copy_time", copy_seconds, false),
    SHARE("host_link_efficiency", host_link_efficiency, false),
    SHARE("interference", interference, false),
    FACTOR("collective_floor", collectives.floor),
    FACTOR("collective_hop", collectives.hop),
    FACTOR("collective_fill", collectives.fill),
    FACTOR("collective_rate", collectives.rate),
};
#undef S

#define S NodeType
static const PartField node_fields[] = {
    TEXT("title", title, true),
    TEXT("provider", provider, false),
    {.key = "fabrics", .type = PART_FIELD_NAMES, .offset = offsetof(S, fabrics), .count_offset = offsetof(S, fabric_count)},
    {.key = "gpu", .type = PART_FIELD_NAMES, .offset = offsetof(S, gpu_names), .count_offset = offsetof(S, gpu_name_count), .required = true},
    INT("gpus", gpu_count, true, 1, 1024),
    CHOICE("gpu_links", gpu_links, gpu_link_names),
    INT("mesh_links_per_pair", mesh_links_per_pair, false, 1, 64),
    INT("bridge_group", bridge_group, false, 2, 8),
    INT("nvlink_domain_nodes", nvlink_domain_nodes, false, 1, 1024),
    BOOL("in_switch_reduction", in_switch_reduction),
    BOOL("peer_to_peer", peer_to_peer),
    INT("sockets", sockets, true, 1, 64),
    INT("gpus_per_pcie_switch", gpus_per_pcie_switch, true, 0, 64),
    INT("pcie_generation", pcie_generation, true, 1, 8),
    BANDWIDTH("socket_bandwidth", socket_bytes_per_second, false),
    BYTES("host_memory", host_memory_bytes, true),
    BANDWIDTH("host_memory_bandwidth", host_memory_bytes_per_second, true),
    INT("cpu_cores", cpu_cores, false, 1, 1e5),
    INT("nics", nic_count, true, 0, 256),
    BANDWIDTH("nic_bandwidth", nic_bytes_per_second, false),
    BOOL("gpudirect_rdma", gpudirect_rdma),
    BANDWIDTH("storage_nic_bandwidth", storage_nic_bytes_per_second, false),
    BANDWIDTH("local_read_bandwidth", local_read_bytes_per_second, false),
    POWER("max_power", max_power_watts, false),
    POWER("idle_power", idle_power_watts, false),
    INT("rack_units", rack_units, false, 1, 60),
    MONEY("price_usd", price_usd, "USD"),
    TEXT("price_date", price_date, false),
    TEXT("price_basis", price_basis, false),
};
#undef S

#define S FabricLink
static const PartField fabric_fields[] = {
    TEXT("title", title, true),
    CHOICE("transport", transport, transport_names),
    BANDWIDTH("line_rate", line_bytes_per_second, true),
    SHARE("efficiency", efficiency, true),
    TIME("latency", latency_seconds, true),
    TIME("switch_latency", switch_latency_seconds, true),
    INT("switch_ports", switch_ports, false, 1, 1e5),
    MONEY("switch_price_usd", switch_price_usd, "USD"),
    MONEY("nic_price_usd", nic_price_usd, "USD"),
    MONEY("cable_price_usd", cable_price_usd, "USD"),
    TEXT("price_date", price_date, false),
    POWER("switch_power", switch_power_watts, false),
    POWER("port_power", port_power_watts, false),
    FACTOR("collective_hop", collectives.hop),
    FACTOR("collective_rate", collectives.rate),
    FACTOR("collective_pair", collectives.pair),
};
#undef S

#define S StorageType
static const PartField storage_fields[] = {
    TEXT("title", title, true),
    BOOL("shared", shared),
    BANDWIDTH("read_bandwidth", read_bytes_per_second, true),
    BANDWIDTH("write_bandwidth", write_bytes_per_second, true),
    TIME("latency", latency_seconds, true),
    TEXT("unit", unit, false),
    INT("unit_gpus", unit_gpus, false, 1, 1e6),
    MONEY("unit_price", unit_usd_per_hour, "USD per hour"),
};
#undef S

#define S FaultRates
#define SPAN(key_, member_, required_) NUMBER(key_, member_, required_, QUANTITY_TIME, "s", 1e-3, 1e14)
#define MTBF(name_, component_) SPAN(name_ "_mtbf", mtbf_seconds[component_], false)
static const PartField fault_fields[] = {
    TEXT("title", title, true),
    MTBF("gpu", FAULT_GPU), MTBF("hbm", FAULT_HBM), MTBF("sram", FAULT_SRAM), MTBF("gpu_processor", FAULT_GPU_PROCESSOR),
    MTBF("thermal", FAULT_THERMAL), MTBF("nvlink", FAULT_NVLINK), MTBF("nic", FAULT_NIC), MTBF("cable", FAULT_CABLE),
    MTBF("host", FAULT_HOST), MTBF("storage", FAULT_STORAGE), MTBF("software", FAULT_SOFTWARE),
    MTBF("silent_corruption", FAULT_SILENT),
    SPAN("node_mtbf", node_mtbf_seconds, false),
    INT("gpus_per_node", gpus_per_node, true, 1, 1024),
    NUMBER("shape", shape, true, QUANTITY_NUMBER, "", 0.2, 5),
    NUMBER("fleet_spread", fleet_spread, true, QUANTITY_NUMBER, "", 0, 2),
    NUMBER("bad_share", bad_share, true, QUANTITY_NUMBER, "", 0, 1),
    NUMBER("bad_factor", bad_factor, true, QUANTITY_NUMBER, "", 1, 1000),
    SPAN("crash_detection", crash_detection_seconds, true),
    SPAN("hang_detection", hang_detection_seconds, true),
    SPAN("silent_detection", silent_detection_seconds, true),
    NUMBER("hang_share", hang_share, true, QUANTITY_NUMBER, "", 0, 1),
    SPAN("restart", restart_seconds, true),
    SPAN("repair", repair_seconds, true),
    SPAN("planned_node_time", planned_node_seconds, false),
    SPAN("rack_mtbf", rack_mtbf_seconds, false),
    SPAN("rack_repair", rack_repair_seconds, false),
    INT("rack_nodes", rack_nodes, false, 1, 1000),
    SPAN("slow_mtbf", slow_mtbf_seconds, false),
    NUMBER("slow_factor", slow_factor, false, QUANTITY_NUMBER, "", 1, 100),
    SPAN("slow_detection", slow_detection_seconds, false),
    SPAN("flap_mtbf", flap_mtbf_seconds, false),
    SPAN("flap_stall", flap_stall_seconds, false),
};
#undef S

#define S Offer
#define BILLED(key_, member_) NUMBER(key_, member_, false, QUANTITY_TIME, "s", 1, 1e9)
static const PartField price_fields[] = {
    TEXT("title", title, true),
    TEXT("provider", provider, true),
    TEXT("region", region, false),
    {.key = "nodes", .type = PART_FIELD_NAMES, .offset = offsetof(S, nodes), .count_offset = offsetof(S, node_count)},
    TEXT("gpu", gpu, false),
    FLAG("survey", is_survey),
    CHOICE("terms", terms, terms_names),
    TEXT("currency", currency, true),
    TEXT("date", date, true),
    INT("gpus", gpus, true, 1, 1e5),
    MONEY("price_per_hour", price_per_hour, "per hour"),
    MONEY("price_per_month", price_per_month, "per month"),
    BILLED("minimum_billing", minimum_seconds),
    BILLED("billing_step", step_seconds),
    SHARE("interruptions_per_month", interruptions_per_month, false),
    MONEY("storage_per_gb_month", storage_per_gb_month, "per GB and month"),
    MONEY("egress_per_gb", egress_per_gigabyte, "per GB"),
};
#undef S

#define S Currency
static const PartField currency_fields[] = {
    TEXT("title", title, true),
    TEXT("date", date, true),
    NUMBER("per_usd", per_usd, true, QUANTITY_NUMBER, "for one USD", 1e-6, 1e9),
};
#undef S

#define S Grid
static const PartField grid_fields[] = {
    TEXT("title", title, true),
    TEXT("date", date, true),
    NUMBER("carbon_g_per_kwh", carbon_grams_per_kwh, true, QUANTITY_NUMBER, "g CO2e per kWh", 0, 3000),
};
#undef S

#define S Site
#define USD(key_, member_, unit_) NUMBER(key_, member_, false, QUANTITY_NUMBER, unit_, 0, 1e9)
static const PartField site_fields[] = {
    TEXT("title", title, true),
    TEXT("date", date, true),
    NUMBER("pue", power_usage_effectiveness, true, QUANTITY_NUMBER, "", 1, 5),
    USD("electricity_usd_per_kwh", electricity_usd_per_kwh, "USD per kWh"),
    USD("colocation_usd_per_kw_month", colocation_usd_per_kw_month, "USD per kW and month"),
    USD("building_usd_per_kw", building_usd_per_kw, "USD per kW"),
    NUMBER("building_years", building_years, false, QUANTITY_NUMBER, "years", 1, 100),
    POWER("rack_power", rack_watts, false),
    INT("rack_units", rack_units, false, 1, 100),
    USD("rack_usd", rack_usd, "USD"),
    NUMBER("breaker_volts", breaker_volts, true, QUANTITY_NUMBER, "V", 12, 1000),
    NUMBER("breaker_amperes", breaker_amperes, true, QUANTITY_NUMBER, "A", 1, 10000),
    INT("breaker_phases", breaker_phases, true, 1, 3),
    INT("feeds", feeds, true, 1, 2),
    USD("staff_usd_per_year", staff_usd_per_year, "USD per year"),
    NUMBER("nodes_per_person", nodes_per_person, false, QUANTITY_NUMBER, "", 1, 1e6),
    NUMBER("maintenance_share", maintenance_share, true, QUANTITY_NUMBER, "per year", 0, 1),
};
#undef S

// clang-format on

#define TABLE(word_, section_, said_, Type_, fields_)                                                                  \
    {                                                                                                                  \
        word_, section_, said_, sizeof(Type_), offsetof(Type_, aliases), offsetof(Type_, alias_count),                 \
            offsetof(Type_, facts), offsetof(Type_, fact_count), fields_, COUNT_OF(fields_)                            \
    }
const PartTable part_tables[PART_KIND_COUNT] = {
    [PART_GPU] = TABLE("gpu", "gpus", "GPU", Gpu, gpu_fields),
    [PART_NODE] = TABLE("node", "nodes", "node", NodeType, node_fields),
    [PART_FABRIC] = TABLE("fabric", "fabrics", "fabric", FabricLink, fabric_fields),
    [PART_STORAGE] = TABLE("storage", "storages", "storage", StorageType, storage_fields),
    [PART_FAULTS] = TABLE("faults", "faults", "set of fault rates", FaultRates, fault_fields),
    [PART_PRICE] = TABLE("price", "prices", "price", Offer, price_fields),
    [PART_CURRENCY] = TABLE("currency", "currencies", "currency", Currency, currency_fields),
    [PART_GRID] = TABLE("grid", "grids", "grid", Grid, grid_fields),
    [PART_SITE] = TABLE("site", "sites", "site", Site, site_fields),
};

const void *catalogue_parts(const Catalogue *catalogue, PartKind kind, int *count) {
    switch (kind) {
    case PART_GPU:
        *count = catalogue->gpu_count;
        return catalogue->gpus;
    case PART_NODE:
        *count = catalogue->node_count;
        return catalogue->nodes;
    case PART_FABRIC:
        *count = catalogue->link_count;
        return catalogue->links;
    case PART_STORAGE:
        *count = catalogue->storage_count;
        return catalogue->storages;
    case PART_PRICE:
        *count = catalogue->offer_count;
        return catalogue->offers;
    case PART_CURRENCY:
        *count = catalogue->currency_count;
        return catalogue->currencies;
    case PART_GRID:
        *count = catalogue->grid_count;
        return catalogue->grids;
    case PART_SITE:
        *count = catalogue->site_count;
        return catalogue->sites;
    case PART_FAULTS:
    case PART_KIND_COUNT:
        break;
    }
    *count = catalogue->faults_count;
    return catalogue->faults;
}

const char *part_name(const void *part) { return *(const char *const *)part; }

const char *const *part_aliases(PartKind kind, const void *part, int *count) {
    *count = *(const int *)((const char *)part + part_tables[kind].alias_count);
    return *(const char *const *const *)((const char *)part + part_tables[kind].aliases);
}

const Fact *part_facts(PartKind kind, const void *part, int *count) {
    *count = *(const int *)((const char *)part + part_tables[kind].fact_count);
    return facts_of(*(const Fact *const *)((const char *)part + part_tables[kind].facts), *count);
}

const void *part_at(PartKind kind, const void *parts, int index) {
    return (const char *)parts + (size_t)index * part_tables[kind].bytes;
}

// ---- What spans several fields.

// Values derived for the part named by "like" must be derived again; stated values stay.
static bool gpu_states(const Gpu *gpu, const char *start, const char *end) {
    char key[64];
    snprintf(key, sizeof key, "%s%s", start, end);
    return fact_find(gpu->facts, gpu->fact_count, key) != NULL;
}

// Optional values, from "gpu_defaults" of the catalogue with its sources.
static void fill_usual(Gpu *gpu) {
    const struct {
        double *place, usual;
    } values[] = {{&gpu->long_gemm_rate, 0.9},         {&gpu->l2_share, 0.5},       {&gpu->graph_launch_share, 0.53},
                  {&gpu->issue_seconds, 2.2e-6},       {&gpu->copy_seconds, 6e-6},  {&gpu->host_link_efficiency, 0.8},
                  {&gpu->interference, 0.3},           {&gpu->matrix_power, 0.9},   {&gpu->memory_power, 0.85},
                  {&gpu->untransposed_gemm_gain, 1.1}, {&gpu->odd_gemm_rate, 0.93}, {&gpu->collectives.floor, 1},
                  {&gpu->collectives.hop, 1},          {&gpu->collectives.fill, 1}, {&gpu->collectives.rate, 1}};
    for (int i = 0; i < COUNT_OF(values); i++)
        if (*values[i].place == 0) *values[i].place = values[i].usual;
}

void gpu_derive_l2(Gpu *gpu) {
    if (gpu_states(gpu, "l2_speed_up", "")) return;
    double l2 = hardware_constant(L2_BYTES) * gpu->sm_count * gpu->boost_hz;
    double memory = gpu->memory_efficiency * gpu->memory_bytes_per_second;
    gpu->l2_speed_up = memory > 0 ? fmin(L2_SPEED_UP_MOST, fmax(1, l2 / memory)) : 1;
}

void gpu_finish(Gpu *gpu, Where where, Problems *problems) {
    fill_usual(gpu);
    gpu->generation = architecture_called(gpu->architecture);
    if (!gpu->nvlink) gpu->nvlink = "";
    if (!gpu->form) gpu->form = "";
    if (!gpu_states(gpu, "tensor_clock", "")) gpu->tensor_hz = gpu->boost_hz;
    if (!gpu_states(gpu, "boost_clock", "")) gpu->boost_hz = gpu->tensor_hz;
    gpu_derive_l2(gpu);
    if (gpu->boost_hz == 0)
        problem_add(problems, where, "GPU \"%s\" has neither boost_clock nor tensor_clock", gpu->name);
    if (gpu->nvlink_bytes_per_second > 0 && gpu->nvlink_link_bytes_per_second == 0)
        problem_add(problems, where, "GPU \"%s\" has nvlink_bandwidth but no nvlink_link_bandwidth", gpu->name);
    for (int i = 0; i < PRECISION_COUNT; i++) {
        const char *precision = precision_name((Precision)i);
        if (!gpu_states(gpu, "peak_", precision)) gpu->peak_flops[i] = gpu->vector_flops[i];
        if (gpu->peak_flops[i] == 0 || gpu->gemm_efficiency[i] > 0) continue;
        problem_add(problems, where, "GPU \"%s\" has a %s rate but no gemm_efficiency_%s", gpu->name, precision,
                    precision);
        problem_hint(
            problems,
            "start from a GPU of its kind with \"like\": \"H100\", or state it: 0.75 is usual for tensor cores");
    }
}

static void check_gpu_links(const Catalogue *catalogue, const NodeType *node, Where where, Problems *problems) {
    bool in_pairs = node->gpu_links == GPU_LINK_MESH || node->gpu_links == GPU_LINK_BRIDGE;
    if (in_pairs && node->mesh_links_per_pair == 0)
        problem_add(problems, where, "node \"%s\" links its GPUs in pairs but lacks mesh_links_per_pair", node->name);
    if (node->gpu_links == GPU_LINK_BRIDGE && node->bridge_group == 0)
        problem_add(problems, where, "node \"%s\" has bridges but lacks bridge_group", node->name);
    if (node->gpu_links == GPU_LINK_CUBE_MESH && node->gpu_count != 8)
        problem_add(problems, where, "node \"%s\": a cube mesh joins 8 GPUs, not %d", node->name, node->gpu_count);
    for (int i = 0; i < node->gpu_name_count && node->gpu_links != GPU_LINK_NONE; i++) {
        const Gpu *gpu = catalogue_gpu(catalogue, node->gpu_names[i]);
        if (!gpu || gpu->nvlink_bytes_per_second > 0) continue;
        problem_add(problems, where, "node \"%s\" links its GPUs, but %s has no NVLink", node->name, gpu->name);
        problem_hint(problems, "write \"gpu_links\": \"none\"");
    }
}

void node_finish(Arena *arena, const Catalogue *catalogue, NodeType *node, Where where, Problems *problems) {
    if (node->nvlink_domain_nodes == 0) node->nvlink_domain_nodes = 1;
    for (int i = 0; i < node->gpu_name_count; i++) find_gpu(arena, catalogue, node->gpu_names[i], where, problems);
    if (node->gpu_name_count != 1 && node->gpu_name_count != node->gpu_count) {
        problem_add(problems, where, "node \"%s\" names %d GPUs but has %d", node->name, node->gpu_name_count,
                    node->gpu_count);
        problem_hint(problems, "give one name for all, or one for each");
    }
    check_gpu_links(catalogue, node, where, problems);
    if (node->nic_count > 0 && node->nic_bytes_per_second == 0)
        problem_add(problems, where, "node \"%s\" has NICs but no nic_bandwidth", node->name);
    if (node->sockets > 1 && node->socket_bytes_per_second == 0)
        problem_add(problems, where, "node \"%s\" has %d sockets but no socket_bandwidth", node->name, node->sockets);
    if (node->price_usd > 0 && (!node->price_date || !node->price_basis)) {
        problem_add(problems, where, "node \"%s\" has a price without price_date and price_basis", node->name);
        problem_hint(problems,
                     "prices halve and double within a year: say when and what kind, as in \"2026-04\", \"on demand\"");
    }
    if (node->fabric_count > 0 && !node->provider) {
        problem_add(problems, where, "node \"%s\" says which fabrics it goes on, but not whose they are", node->name);
        problem_hint(problems, "add \"provider\": \"NAME\", or leave out \"fabrics\"");
    }
    if (node->price_date) date_finish(node->price_date, PART_NODE, node->name, where, problems);
}
