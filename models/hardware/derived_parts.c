// Parts that are derived from the catalogue's: units of storage, failure rates of nodes, slices of GPUs, nodes given as
// counts of GPUs, and parts with a rate changed.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/quicker.h"
#include "sim/base/check.h"

int storage_usual_units(const StorageType *storage, int gpus) {
    if (!storage->shared || storage->unit_gpus <= 0 || gpus <= storage->unit_gpus) return 1;
    int units = (gpus - 1) / storage->unit_gpus + 1;
    return units < STORAGE_MOST_UNITS ? units : STORAGE_MOST_UNITS;
}

double storage_paid_units(const StorageType *storage, int units, int gpus) {
    if (!storage->shared || storage->unit_gpus <= 0) return units;
    return (double)units * gpus / (storage_usual_units(storage, gpus) * storage->unit_gpus);
}

const StorageType *storage_of_units(Arena *arena, const StorageType *storage, int units, int gpus) {
    if (units <= 0) units = storage_usual_units(storage, gpus);
    if (units == 1 || !storage->shared) return storage;
    StorageType *all = ARENA_NEW(arena, StorageType);
    *all = *storage;
    all->read_bytes_per_second *= units;
    all->write_bytes_per_second *= units;
    all->unit_usd_per_hour *= units;
    all->unit_gpus *= units;
    return all;
}

bool storage_takes_units(const StorageType *storage, int64_t units, Where where, Problems *problems) {
    if (units < 1 || units > STORAGE_MOST_UNITS) {
        problem_add(problems, where, "%lld units of storage cannot be meant", (long long)units);
        return problem_hint(problems, "from 1 to %d", STORAGE_MOST_UNITS);
    }
    if (storage->shared) return true;
    problem_add(problems, where, "%s lies in each node, and is not bought in units", storage->name);
    return problem_hint(problems, "leave the units out, or take shared storage (lockstep hw list storage)");
}

const char *storage_unit_name(const StorageType *storage) { return storage->unit ? storage->unit : "server"; }

// ---- Failure kinds, and a node's failure rate as the sum of its parts' rates.

const FaultComponentInfo fault_components[FAULT_COMPONENT_COUNT] = {
    [FAULT_GPU] = {"gpu", "faulty GPU", FAULT_PER_GPU, true},
    [FAULT_HBM] = {"hbm", "GPU memory (HBM)", FAULT_PER_GPU, true},
    [FAULT_SRAM] = {"sram", "GPU SRAM", FAULT_PER_GPU, true},
    [FAULT_GPU_PROCESSOR] = {"gpu_processor", "GPU system processor", FAULT_PER_GPU, true},
    [FAULT_THERMAL] = {"thermal", "GPU thermal interface, sensor", FAULT_PER_GPU, true},
    [FAULT_NVLINK] = {"nvlink", "NVLink or NVSwitch", FAULT_PER_GPU, true},
    [FAULT_NIC] = {"nic", "NIC", FAULT_PER_NIC, true},
    [FAULT_CABLE] = {"cable", "network cable, optic, switch", FAULT_PER_NIC, true},
    [FAULT_HOST] = {"host", "host", FAULT_PER_NODE, true},
    [FAULT_STORAGE] = {"storage", "storage", FAULT_PER_NODE, true},
    [FAULT_SOFTWARE] = {"software", "software", FAULT_PER_NODE, false},
    [FAULT_SILENT] = {"silent_corruption", "silent data corruption", FAULT_PER_GPU, true},
};

static double parts_in_node(FaultComponent component, double gpus, double nics) {
    switch (fault_components[component].unit) {
    case FAULT_PER_GPU:
        return gpus;
    case FAULT_PER_NIC:
        return nics;
    case FAULT_PER_NODE:
        break;
    }
    return 1;
}

static double stated_rate(const FaultRates *rates, FaultComponent component, double gpus, double nics) {
    double mtbf = rates->mtbf_seconds[component];
    return mtbf > 0 ? parts_in_node(component, gpus, nics) / mtbf : 0;
}

static double stated_sum(const FaultRates *rates, double gpus, double nics) {
    double sum = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) sum += stated_rate(rates, (FaultComponent)i, gpus, nics);
    return sum;
}

// node_mtbf was counted on nodes of the fleet, one NIC a GPU; other nodes scale by their parts.
double fault_component_rate(const FaultRates *rates, FaultComponent component, double gpus, double nics) {
    double rate = stated_rate(rates, component, gpus, nics);
    if (rates->node_mtbf_seconds <= 0) return rate;
    double sum = stated_sum(rates, rates->gpus_per_node, rates->gpus_per_node);
    return rate / (sum * rates->node_mtbf_seconds);
}

double fault_node_rate(const FaultRates *rates, double gpus, double nics) {
    double sum = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) sum += fault_component_rate(rates, (FaultComponent)i, gpus, nics);
    return sum;
}

void faults_finish(const FaultRates *rates, Where where, Problems *problems) {
    if (stated_sum(rates, rates->gpus_per_node, rates->gpus_per_node) <= 0) {
        problem_add(problems, where, "fault rates \"%s\" name no component that fails", rates->name);
        problem_hint(problems, "state at least one, such as gpu_mtbf, or start with \"like\": \"llama3-h100\"");
    }
    if (rates->slow_mtbf_seconds > 0 && (rates->slow_factor <= 1 || rates->slow_detection_seconds <= 0)) {
        problem_add(problems, where, "fault rates \"%s\" have slow_mtbf but lack slow_factor or slow_detection",
                    rates->name);
        problem_hint(problems, "such as \"slow_factor\": 1.2, \"slow_detection\": \"12 h\"");
    }
    if (rates->rack_mtbf_seconds > 0 && (rates->rack_nodes <= 0 || rates->rack_repair_seconds <= 0)) {
        problem_add(problems, where, "fault rates \"%s\" have rack_mtbf but lack rack_nodes or rack_repair",
                    rates->name);
        problem_hint(problems, "such as \"rack_nodes\": 4, \"rack_repair\": \"2 h\"");
    }
    if (rates->flap_mtbf_seconds > 0 && rates->flap_stall_seconds <= 0) {
        problem_add(problems, where, "fault rates \"%s\" have flap_mtbf but no flap_stall", rates->name);
        problem_hint(problems, "such as \"flap_stall\": \"10 s\"");
    }
}

// ---- MIG: a GPU cut into slices that look like GPUs of their own (NVIDIA MIG User Guide, supported profiles).

#define GIB 0x1p30

// "3g.40gb": compute slices, and memory in parts of the whole. 7-slice GPUs have eight memory slices, 4-slice GPUs
// four.
typedef struct Profile {
    int slices_max; // of the whole GPU
    int slices;
    int memory_slices, memory_slices_max;
} Profile;

static const Profile profiles[] = {
    {7, 1, 1, 8}, {7, 1, 2, 8}, {7, 2, 2, 8}, {7, 3, 4, 8}, {7, 4, 4, 8},
    {7, 7, 8, 8}, {4, 1, 1, 4}, {4, 2, 2, 4}, {4, 4, 4, 4},
};
#define PROFILE_COUNT ((int)(sizeof profiles / sizeof *profiles))

// SMs by slice count where the guide lists them; a slice is a GPC, and those are not all whole.
static const struct {
    int sm_count, of_slices[8];
} listed_sms[] = {
    {108, {0, 14, 28, 42, 56, 0, 0, 98}},
    {132, {0, 16, 32, 60, 64, 0, 0, 132}},
    {56, {0, 14, 28, 0, 56, 0, 0, 0}},
};

static int profile_sms(const Gpu *whole, const Profile *profile) {
    for (size_t i = 0; i < sizeof listed_sms / sizeof *listed_sms; i++)
        if (listed_sms[i].sm_count == whole->sm_count && listed_sms[i].of_slices[profile->slices])
            return listed_sms[i].of_slices[profile->slices];
    int pairs_per_slice = whole->sm_count / (2 * whole->mig_slices_max); // SMs come in pairs (TPC)
    return pairs_per_slice > 0 ? 2 * pairs_per_slice * profile->slices : 1;
}

// Names count the nominal memory, which is a little more than the usable.
static const char *profile_name(Arena *arena, const Gpu *whole, const Profile *profile) {
    double nominal = ceil(whole->memory_bytes / GIB - 1e-6);
    double gigabytes = floor(nominal * profile->memory_slices / profile->memory_slices_max + 0.5);
    return arena_printf(arena, "%dg.%.0fgb", profile->slices, gigabytes);
}

static const Profile *find_profile(Arena *arena, const Gpu *whole, const char *name) {
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (profiles[i].slices_max == whole->mig_slices_max &&
            strcasecmp(profile_name(arena, whole, &profiles[i]), name) == 0)
            return &profiles[i];
    return NULL;
}

static void hint_profiles(Arena *arena, const Gpu *whole, const char *given, Problems *problems) {
    const char *names[PROFILE_COUNT];
    int count = 0;
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (profiles[i].slices_max == whole->mig_slices_max) names[count++] = profile_name(arena, whole, &profiles[i]);
    const char *known = "";
    for (int i = 0; i < count; i++) known = arena_printf(arena, "%s%s%s", known, i ? ", " : "", names[i]);
    const char *near = nearest_name(given, names, count);
    if (near)
        problem_hint(problems, "did you mean \"%s\"? known: %s", near, known);
    else
        problem_hint(problems, "known: %s", known);
}

// Facts that shrink with SMs or with memory slices; the rest stays as the whole GPU has it.
static bool by_sms(const char *fact) {
    return strcmp(fact, "sms") == 0 || strncmp(fact, "peak_", 5) == 0 || strncmp(fact, "vector_", 7) == 0 ||
           strcmp(fact, "power") == 0 || strcmp(fact, "idle_power") == 0;
}
static bool by_memory(const char *fact) {
    return strcmp(fact, "memory") == 0 || strcmp(fact, "memory_bandwidth") == 0 || strcmp(fact, "l2_cache") == 0;
}
static bool lost(const char *fact) {
    return strncmp(fact, "nvlink", 6) == 0 || strcmp(fact, "mig_slices") == 0 || strcmp(fact, "launch_price_usd") == 0;
}

static QuantityKind quantity_of(const char *fact) {
    const PartTable *table = &part_tables[PART_GPU];
    for (int i = 0; i < table->field_count; i++)
        if (strcmp(table->fields[i].key, fact) == 0) return table->fields[i].quantity;
    return QUANTITY_NUMBER;
}

static void cut_facts(Arena *arena, Gpu *slice, const Gpu *whole, double sm_share, double memory_share) {
    const Fact *all = facts_of(whole->facts, whole->fact_count);
    Fact *facts = ARENA_ARRAY(arena, Fact, whole->fact_count);
    int count = 0;
    for (int i = 0; i < whole->fact_count; i++) {
        Fact fact = all[i];
        if (lost(fact.name)) continue;
        double share = by_sms(fact.name) ? sm_share : by_memory(fact.name) ? memory_share : 1;
        if (share != 1) {
            char text[40];
            fact.value *= share;
            fact.text = arena_copy_text(arena, quantity_format(fact.value, quantity_of(fact.name), text, sizeof text));
            fact.source = arena_printf(arena, "%.4g of %s; %s", share, whole->name, fact.source);
        }
        facts[count++] = fact;
    }
    slice->facts = facts;
    slice->fact_count = count;
}

static const Gpu *cut(Arena *arena, const Gpu *whole, const Profile *profile) {
    Gpu *slice = ARENA_NEW(arena, Gpu);
    *slice = *whole;
    slice->name = arena_printf(arena, "%s:%s", whole->name, profile_name(arena, whole, profile));
    slice->aliases = NULL;
    slice->alias_count = 0;
    slice->sm_count = profile_sms(whole, profile);
    double sm_share = (double)slice->sm_count / whole->sm_count;
    double memory_share = (double)profile->memory_slices / profile->memory_slices_max;
    for (int i = 0; i < PRECISION_COUNT; i++) {
        slice->peak_flops[i] *= sm_share;
        slice->vector_flops[i] *= sm_share;
    }
    slice->memory_bytes *= memory_share;
    slice->memory_bytes_per_second *= memory_share;
    slice->l2_bytes *= memory_share;
    slice->power_watts *= sm_share;
    slice->idle_watts *= sm_share;
    slice->nvlink = ""; // slices cannot reach other GPUs directly
    slice->nvlink_bytes_per_second = slice->nvlink_link_bytes_per_second = 0;
    slice->mig_slices_max = 0;
    slice->launch_price_usd = 0;
    cut_facts(arena, slice, whole, sm_share, memory_share);
    return slice;
}

const Gpu *gpu_mig_slice(Arena *arena, const Gpu *whole, const char *profile_text, Where where, Problems *problems) {
    if (whole->mig_slices_max == 0) {
        problem_add(problems, where, "%s cannot be cut into MIG slices", whole->name);
        problem_hint(problems, "A30, A100, H100 and later data-centre GPUs can");
        return NULL;
    }
    const Profile *profile = find_profile(arena, whole, profile_text);
    if (profile) return cut(arena, whole, profile);
    problem_add(problems, where, "%s has no MIG profile \"%s\"", whole->name, profile_text);
    hint_profiles(arena, whole, profile_text, problems);
    return NULL;
}

// ---- Nodes given as counts of GPUs: "2x rtx-3060 + 1x rtx-4090". Cards are in a workstation's PCIe slots, modules on
// their board of the catalogue.

enum { MOST_GPUS = 16 };
#define HOST "rtx3060-workstation"   // whose socket, memory channels, disk and NIC the cards share
#define HOST_WATTS 330.0             // its power supply beyond its card
#define SOCKET_BYTES_PER_SECOND 32e9 // two UPI links, one direction

typedef struct Said {
    const Gpu *gpus[MOST_GPUS];
    int count;
    const char *name; // "2x RTX3060-12GB + 1x RTX4090"
} Said;

// Behind "2x", "2 x", "2 ×", "2*"; NULL: no number of anything.
static const char *behind_count(const char *text, int *count) {
    static const char *const signs[] = {"x", "X", "*", "×"};
    char *end;
    long said = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    if (said < 1) return NULL;
    while (*end == ' ') end++;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i]);
        if (strncmp(end, signs[i], length) != 0) continue;
        *count = said > MOST_GPUS ? MOST_GPUS + 1 : (int)said;
        for (end += length; *end == ' ';) end++;
        return *end ? end : NULL;
    }
    return NULL;
}

bool node_is_in_words(const char *text) {
    int count;
    return behind_count(text, &count) != NULL;
}

static bool read_words(Arena *arena, const Catalogue *catalogue, const char *text, Said *said, Where where,
                       Problems *problems) {
    const char *name = NULL;
    for (const char *at = text; at;) {
        int count = 1;
        while (*at == ' ') at++;
        const char *called = behind_count(at, &count);
        if (!called) called = at;
        size_t length = strcspn(called, "+");
        const char *next = called[length] ? called + length + 1 : NULL;
        while (length > 0 && called[length - 1] == ' ') length--;
        const char *word = arena_printf(arena, "%.*s", (int)length, called);
        if (catalogue_node(catalogue, word) && !catalogue_gpu(catalogue, word)) {
            problem_add(problems, where, "\"%s\" is a node, and a node is made of GPUs", word);
            return problem_hint(problems, "--node %s --gpus N takes as many of it as hold N GPUs", word);
        }
        const Gpu *gpu = find_part(arena, catalogue, PART_GPU, word, where, problems);
        if (!gpu) return false;
        if (said->count + count > MOST_GPUS) {
            problem_add(problems, where, "\"%s\" is more than %d GPUs in one machine", text, MOST_GPUS);
            return problem_hint(problems, "say one machine, and --gpus for all of them");
        }
        name = arena_printf(arena, "%s%s%dx %s", name ? name : "", name ? " + " : "", count, gpu->name);
        for (int i = 0; i < count; i++) said->gpus[said->count++] = gpu;
        at = next;
    }
    said->name = name;
    return true;
}

static bool is_module(const Gpu *gpu) {
    return strstr(gpu->form, "SXM") || strstr(gpu->form, "OAM") || strstr(gpu->form, "superchip");
}

static NodeType *start(Arena *arena, const NodeType *base, const Said *said, bool mixed) {
    NodeType *node = ARENA_NEW(arena, NodeType);
    const char **names = ARENA_ARRAY(arena, const char *, said->count);
    for (int i = 0; i < said->count; i++) names[i] = said->gpus[i]->name;
    *node = *base;
    node->name = said->name;
    node->title = arena_printf(arena, "%s, host as of %s", said->name, base->name);
    node->aliases = NULL, node->alias_count = 0;
    node->gpu_names = names;
    node->gpu_name_count = mixed ? said->count : 1;
    node->gpu_count = said->count;
    node->provider = NULL, node->fabrics = NULL, node->fabric_count = 0;
    node->price_usd = 0, node->price_date = NULL, node->price_basis = NULL;
    return node;
}

static const NodeType *with_modules(Arena *arena, const Catalogue *catalogue, const Said *said, Where where,
                                    Problems *problems) {
    const NodeType *board = node_with_gpus(catalogue, said->gpus[0], said->count);
    if (!board) {
        problem_add(problems, where, "no board with %d %s is known", said->count, said->gpus[0]->name);
        hint_parts(arena, catalogue, PART_NODE, said->gpus[0]->name, problems);
        return NULL;
    }
    NodeType *node = start(arena, board, said, false);
    node->nic_count = (int)ceil(1.0 * board->nic_count * said->count / board->gpu_count);
    node->nvlink_domain_nodes = 1;
    return node;
}

static const NodeType *with_cards(Arena *arena, const Catalogue *catalogue, const Said *said, bool mixed) {
    NodeType *node = start(arena, catalogue_node(catalogue, HOST), said, mixed);
    double memory = 0, watts = HOST_WATTS;
    node->peer_to_peer = true;
    for (int i = 0; i < said->count; i++) {
        const Gpu *gpu = said->gpus[i];
        memory += gpu->memory_bytes, watts += gpu->power_watts;
        if (gpu->no_peer_access) node->peer_to_peer = false;
        if (gpu->pcie_generation > node->pcie_generation) node->pcie_generation = gpu->pcie_generation;
    }
    int channels = said->count <= 2 ? 1 : said->count <= 4 ? 2 : 4; // times the workstation's
    node->host_memory_bytes = fmax(node->host_memory_bytes, 32e9 * ceil(2 * memory / 32e9));
    node->host_memory_bytes_per_second *= channels;
    node->cpu_cores *= channels;
    node->sockets = said->count > 4 ? 2 : 1;
    node->socket_bytes_per_second = node->sockets > 1 ? SOCKET_BYTES_PER_SECOND : 0;
    node->max_power_watts = watts;
    return node;
}

const NodeType *node_in_words(Arena *arena, const Catalogue *catalogue, const char *text, Where where,
                              Problems *problems) {
    Said said = {0};
    if (!read_words(arena, catalogue, text, &said, where, problems)) return NULL;
    bool mixed = false;
    for (int i = 0; i < said.count; i++) mixed = mixed || said.gpus[i] != said.gpus[0];
    for (int i = 0; i < said.count && mixed; i++) {
        if (!is_module(said.gpus[i])) continue;
        problem_add(problems, where, "%s is a module on a board of its own kind, and stands beside no other GPU",
                    said.gpus[i]->name);
        return NULL;
    }
    const NodeType *known = mixed ? NULL : node_with_gpus(catalogue, said.gpus[0], said.count);
    // A node of the catalogue, if it is not one provider's; bridges between cards are not assumed.
    if (known && known->gpu_count == said.count && !known->provider && known->gpu_links != GPU_LINK_BRIDGE)
        return known;
    return is_module(said.gpus[0]) ? with_modules(arena, catalogue, &said, where, problems)
                                   : with_cards(arena, catalogue, &said, mixed);
}

// clang-format off
const Resource resources[] = {
    {"matrix", "matrix rate", false,
     {{PART_GPU, "peak_fp64"}, {PART_GPU, "peak_fp32"}, {PART_GPU, "peak_tf32"}, {PART_GPU, "peak_fp16"}, {PART_GPU, "peak_bf16"},
      {PART_GPU, "peak_fp8"}, {PART_GPU, "peak_fp4"}, {PART_GPU, "peak_int8"}}},
    {"memory", "memory bandwidth", false, {{PART_GPU, "memory_bandwidth"}}},
    {"nvlink", "NVLink", false, {{PART_GPU, "nvlink_bandwidth"}, {PART_GPU, "nvlink_link_bandwidth"}}},
    {"pcie", "PCIe lanes of a GPU", false, {{PART_GPU, "pcie_lanes"}}},
    {"network", "network (NICs and fabric)", false, {{PART_FABRIC, "line_rate"}, {PART_NODE, "nic_bandwidth"}}},
    {"network-latency", "latency of the network", true, {{PART_FABRIC, "latency"}, {PART_FABRIC, "switch_latency"}}},
    {"collective-latency", "latency of collectives in a node", true,
     {{PART_GPU, "collective_floor"}, {PART_GPU, "collective_hop"}}},
    {"host", "host's issuing of kernels", true, {{PART_GPU, "issue_time"}}},
    {"launch", "start of a kernel on the GPU", true, {{PART_GPU, "launch_time"}}},
    {"host-memory", "host memory", false, {{PART_NODE, "host_memory_bandwidth"}}},
    {"storage", "storage", false,
     {{PART_STORAGE, "read_bandwidth"}, {PART_STORAGE, "write_bandwidth"}, {PART_NODE, "local_read_bandwidth"},
      {PART_NODE, "storage_nic_bandwidth"}}},
};
// clang-format on
const int resource_count = sizeof resources / sizeof *resources;

static const PartField *field_called(PartKind kind, const char *key) {
    const PartTable *table = &part_tables[kind];
    for (int i = 0; i < table->field_count; i++)
        if (strcmp(table->fields[i].key, key) == 0) return &table->fields[i];
    CHECK(false);
}

static void change_field(char *part, const PartField *field, double factor) {
    if (field->type == PART_FIELD_INT) {
        int *count = (int *)(void *)(part + field->offset);
        *count = (int)lround(*count * factor);
    } else {
        double *number = (double *)(void *)(part + field->offset);
        *number *= factor;
    }
}

// A copy of a part, changed. Unknown numbers (0) stay so. What is counted in whole numbers (lanes) is rounded.
static const void *part_quicker(Arena *arena, PartKind kind, const void *part, const Resource *resource,
                                double factor) {
    char *copy = arena_alloc(arena, part_tables[kind].bytes);
    memcpy(copy, part, part_tables[kind].bytes);
    for (const ResourceField *field = resource->fields; field->key; field++)
        if (field->part == kind)
            change_field(copy, field_called(kind, field->key), resource->is_time ? 1 / factor : factor);
    if (kind == PART_GPU) gpu_derive_l2((Gpu *)(void *)copy); // it stays as it is
    return copy;
}

bool part_can_be_quicker(PartKind kind, const void *part, const Resource *resource, double factor) {
    for (const ResourceField *field = resource->fields; field->key; field++) {
        if (field->part != kind) continue;
        const PartField *row = field_called(kind, field->key);
        if (row->type != PART_FIELD_INT) continue;
        double count = *(const int *)(const void *)((const char *)part + row->offset) * factor;
        if (count != floor(count) || count > row->most) return false;
    }
    return true;
}

static bool touches(const Resource *resource, PartKind kind) {
    for (const ResourceField *field = resource->fields; field->key; field++)
        if (field->part == kind) return true;
    return false;
}

static const void *parts_quicker(Arena *arena, PartKind kind, const Catalogue *catalogue, const Resource *resource,
                                 double factor) {
    int count;
    const void *parts = catalogue_parts(catalogue, kind, &count);
    if (!touches(resource, kind)) return parts;
    size_t bytes = part_tables[kind].bytes;
    char *changed = arena_alloc(arena, bytes * (size_t)count);
    for (int i = 0; i < count; i++)
        memcpy(changed + (size_t)i * bytes, part_quicker(arena, kind, part_at(kind, parts, i), resource, factor),
               bytes);
    return changed;
}

const Catalogue *catalogue_quicker(Arena *arena, const Catalogue *catalogue, const Resource *resource, double factor) {
    Catalogue *changed = ARENA_NEW(arena, Catalogue);
    *changed = *catalogue;
    changed->gpus = parts_quicker(arena, PART_GPU, catalogue, resource, factor);
    changed->nodes = parts_quicker(arena, PART_NODE, catalogue, resource, factor);
    changed->links = parts_quicker(arena, PART_FABRIC, catalogue, resource, factor);
    changed->storages = parts_quicker(arena, PART_STORAGE, catalogue, resource, factor);
    return changed;
}

const void *part_in_place(Arena *arena, PartKind kind, const Catalogue *base, const Catalogue *changed,
                          const void *part, const Resource *resource, double factor) {
    int count, changed_count;
    if (!part) return NULL;
    const void *before = catalogue_parts(base, kind, &count), *after = catalogue_parts(changed, kind, &changed_count);
    for (int i = 0; i < count; i++)
        if (part_at(kind, before, i) == part) return part_at(kind, after, i);
    return part_quicker(arena, kind, part, resource, factor);
}
