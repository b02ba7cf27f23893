// Parser of NCCL's topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): a tree of CPUs, PCI bridges, GPUs and NICs.
// The lowest common ancestor of two parts gives their connection. hwloc's XML (lstopo --of xml) is a similar tree.
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "models/network/interior.h"
#include "models/network/topology.h"
#include "sim/base/text.h"

#define DEPTH_MOST 16
#define PARTS_MOST (NODE_GPU_LIMIT + NODE_NIC_LIMIT)

typedef enum TagKind { TAG_OTHER, TAG_SYSTEM, TAG_CPU, TAG_PCI, TAG_GPU, TAG_NIC } TagKind;

typedef struct Tag {
    TagKind kind;
    int number; // identifies the element
    int part;   // of a PCI device that is a GPU or NIC: its number among the parts; else -1
    int numa;   // of hwloc: os_index of a NUMANode in it; -1: none
} Tag;

typedef struct Device {
    bool is_gpu, rdma;
    int above[DEPTH_MOST]; // the numbers of the bridges and, first, the CPU above it
    int depth, numa;
    char bus[24], name[64];
    int switch_links;
    struct {
        char bus[24];
        int count;
    } links[NODE_GPU_LIMIT];
    int link_count;
} Device;

typedef struct Reading {
    XML_Parser parser;
    Arena *arena;
    Problems *problems;
    const char *file;
    Tag tags[DEPTH_MOST];
    int depth, numbers, numa;
    Device *devices;
    int device_count;
    NodeInterior *interior;
    bool hwloc, stopped;
} Reading;

static Where here(const Reading *reading) {
    return (Where){reading->file, (int)XML_GetCurrentLineNumber(reading->parser)};
}

static void stop(Reading *reading) {
    reading->stopped = true;
    XML_StopParser(reading->parser, XML_FALSE);
}

static const char *attribute(const XML_Char **attributes, const char *name) {
    for (int i = 0; attributes[i]; i += 2)
        if (strcmp(attributes[i], name) == 0) return attributes[i + 1];
    return NULL;
}

// A whole number of an attribute; a problem when it is something else.
static int whole(Reading *reading, const char *tag, const XML_Char **attributes, const char *name, int otherwise) {
    const char *text = attribute(attributes, name);
    if (!text) return otherwise;
    char *end;
    long value = strtol(text, &end, 10);
    if (*text && *end == '\0' && value >= -1 && value <= 100000000) return (int)value;
    problem_add(reading->problems, here(reading), "%s of <%s> is \"%.40s\"; expected a whole number", name, tag, text);
    return otherwise;
}

// ---- Devices.
static Device *add_device(Reading *reading, bool is_gpu, const char *bus) {
    int gpus = 0;
    for (int i = 0; i < reading->device_count; i++) gpus += reading->devices[i].is_gpu;
    int alike = is_gpu ? gpus : reading->device_count - gpus;
    if (alike >= (is_gpu ? NODE_GPU_LIMIT : NODE_NIC_LIMIT)) {
        problem_add(reading->problems, here(reading), "the file has more than %d %s", alike, is_gpu ? "GPUs" : "NICs");
        stop(reading);
        return NULL;
    }
    Device *device = &reading->devices[reading->device_count++];
    *device = (Device){.is_gpu = is_gpu, .numa = reading->numa};
    snprintf(device->bus, sizeof device->bus, "%s", bus ? bus : "");
    for (int i = 0; i < reading->depth; i++)
        if (reading->tags[i].kind == TAG_CPU || reading->tags[i].kind == TAG_PCI)
            device->above[device->depth++] = reading->tags[i].number;
    return device;
}

// PCI classes: 0x0302 3D controllers and 0x0300 displays are GPUs, 0x0200 and 0x0207 Ethernet and InfiniBand.
static int part_of_class(Reading *reading, const XML_Char **attributes) {
    const char *kind = attribute(attributes, "class");
    if (!kind) return -1;
    bool gpu = strncmp(kind, "0x0302", 6) == 0 || strncmp(kind, "0x0300", 6) == 0;
    bool nic = strncmp(kind, "0x0200", 6) == 0 || strncmp(kind, "0x0207", 6) == 0;
    if (!gpu && !nic) return -1;
    return add_device(reading, gpu, attribute(attributes, "busid")) ? reading->device_count - 1 : -1;
}

// "16 GT/s", "32.0 GT/s PCIe": payload per lane and direction is 8/10 of the rate up to 5 GT/s, else 128/130.
static void take_pcie(Reading *reading, const XML_Char **attributes) {
    const char *speed = attribute(attributes, "link_speed");
    int width = whole(reading, "pci", attributes, "link_width", 0);
    double transfers = speed ? strtod(speed, NULL) : 0;
    if (!(transfers > 0 && transfers < 1000) || width < 1 || width > 32) return;
    double rate = transfers * 1e9 / 8 * (transfers <= 5 ? 0.8 : 128.0 / 130) * width;
    double *slowest = &reading->interior->pcie_bytes_per_second;
    if (*slowest <= 0 || rate < *slowest) *slowest = rate;
}

static Device *device_around(const Reading *reading) {
    for (int i = reading->depth - 1; i >= 0; i--)
        if (reading->tags[i].part >= 0) return &reading->devices[reading->tags[i].part];
    return NULL;
}

static void take_nvlink(Reading *reading, const XML_Char **attributes) {
    Device *gpu = device_around(reading);
    const char *target = attribute(attributes, "target"), *kind = attribute(attributes, "tclass");
    int count = whole(reading, "nvlink", attributes, "count", 1);
    if (!gpu || !gpu->is_gpu || !target || count < 1 || count > INTERIOR_NVLINK_LIMIT) {
        problem_add(reading->problems, here(reading),
                    "this <nvlink> has no GPU around it, no target, or no count from 1 to %d", INTERIOR_NVLINK_LIMIT);
        problem_hint(reading->problems,
                     "expected <nvlink target=\"0000:8f:00.0\" count=\"4\" tclass=\"0x030200\"/> in <gpu>");
        return;
    }
    if (kind && strncmp(kind, "0x0680", 6) == 0) {
        gpu->switch_links += count;
    } else if (gpu->link_count < NODE_GPU_LIMIT) {
        snprintf(gpu->links[gpu->link_count].bus, sizeof gpu->links->bus, "%s", target);
        gpu->links[gpu->link_count++].count = count;
    }
}

static void take_net(Reading *reading, const XML_Char **attributes) {
    Device *nic = device_around(reading);
    const char *name = attribute(attributes, "name");
    if (!nic || nic->is_gpu) nic = add_device(reading, false, NULL);
    if (!nic) return;
    if (name) snprintf(nic->name, sizeof nic->name, "%s", name);
    letters_make_harmless(nic->name, "");
    double rate = whole(reading, "net", attributes, "speed", 0) * 1e6 / 8,
           *slowest = &reading->interior->nic_bytes_per_second;
    if (rate > 0 && (*slowest <= 0 || rate < *slowest)) *slowest = rate;
    if (whole(reading, "net", attributes, "gdr", 1) == 0) reading->interior->no_gpudirect = true;
}

// ---- Elements.
static TagKind kind_of(const char *name) {
    static const struct {
        const char *name;
        TagKind kind;
    } kinds[] = {{"system", TAG_SYSTEM}, {"cpu", TAG_CPU}, {"pci", TAG_PCI}, {"gpu", TAG_GPU}, {"nic", TAG_NIC}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0) return kinds[i].kind;
    return TAG_OTHER;
}

// ---- hwloc: <object type="…"> of everything, as topology-xml.c of hwloc 1.11 to 2 writes it.

// hwloc writes memory before devices: a NUMANode belongs to its parent object.
static void take_numa(Reading *reading, const XML_Char **attributes, Tag *tag) {
    tag->numa = whole(reading, "object", attributes, "os_index", -1);
    if (reading->depth > 0) reading->tags[reading->depth - 1].numa = tag->numa;
}

static int numa_around(const Reading *reading) {
    for (int i = reading->depth - 1; i >= 0; i--)
        if (reading->tags[i].numa >= 0) return reading->tags[i].numa;
    return -1;
}

// pci_type="0302 [10de:2330] [10de:16c1] a1": class, vendor and device. A display of another vendor than NVIDIA and AMD
// is the board's own.
static void take_pci_device(Reading *reading, const XML_Char **attributes, Tag *tag) {
    const char *type = attribute(attributes, "pci_type"), *vendor = type ? strchr(type, '[') : NULL;
    const char *speed = attribute(attributes, "pci_link_speed");
    if (!vendor) return;
    bool maker = strncmp(vendor, "[10de:", 6) == 0 || strncmp(vendor, "[1002:", 6) == 0;
    bool gpu =
        maker && (strncmp(type, "0302", 4) == 0 || strncmp(type, "0300", 4) == 0 || strncmp(type, "0380", 4) == 0);
    bool nic = strncmp(type, "0200", 4) == 0 || strncmp(type, "0207", 4) == 0;
    if (!gpu && !nic) return;
    reading->numa = numa_around(reading);
    Device *device = add_device(reading, gpu, attribute(attributes, "pci_busid"));
    if (!device) return;
    if (device->depth > 1) device->depth--; // the port of a device is its own
    tag->part = reading->device_count - 1;
    // GB/s of payload; a GPU that idles has a slower link than one at work.
    double rate = speed ? strtod(speed, NULL) * 1e9 : 0;
    if (gpu && rate > reading->interior->pcie_bytes_per_second && rate < 1e12)
        reading->interior->pcie_bytes_per_second = rate;
}

static void take_os_device(const Reading *reading, const XML_Char **attributes) {
    Device *device = device_around(reading);
    const char *name = attribute(attributes, "name"), *type = attribute(attributes, "osdev_type");
    bool rdma = type && (strcmp(type, "3") == 0 || strstr(type, "OpenFabrics"));
    if (!device || device->is_gpu || !name || (device->rdma && !rdma)) return;
    device->rdma = device->rdma || rdma;
    snprintf(device->name, sizeof device->name, "%s", name);
    letters_make_harmless(device->name, "");
}

// GPUModel is the driver's name; PCIDevice, "GH100 [H100 SXM5 80GB]", the PCI id database's.
static void take_info(const Reading *reading, const XML_Char **attributes) {
    const Device *device = device_around(reading);
    const char *name = attribute(attributes, "name"), *value = attribute(attributes, "value");
    if (!device || !device->is_gpu || !name || !value) return;
    bool driver = strcmp(name, "GPUModel") == 0, listed = strcmp(name, "PCIDevice") == 0 && strchr(value, '[');
    if (!driver && (!listed || reading->interior->gpu_model)) return;
    const char *from = driver ? value : strchr(value, '[') + 1;
    int length = (int)strcspn(from, driver ? "" : "]");
    reading->interior->gpu_model =
        letters_make_harmless(arena_printf(reading->arena, "%.*s", length < 60 ? length : 60, from), "");
}

static void take_of_hwloc(Reading *reading, const char *name, const XML_Char **attributes, Tag *tag) {
    const char *type = strcmp(name, "object") == 0 ? attribute(attributes, "type") : NULL;
    const char *bridge = attribute(attributes, "bridge_type");
    tag->kind = TAG_OTHER;
    if (strcmp(name, "info") == 0) take_info(reading, attributes);
    if (!type) return;
    if (strcmp(type, "NUMANode") == 0) take_numa(reading, attributes, tag);
    if (strcmp(type, "PCIDev") == 0) take_pci_device(reading, attributes, tag);
    if (strcmp(type, "OSDev") == 0) take_os_device(reading, attributes);
    if (strcmp(type, "Bridge") != 0) return;
    bool host = bridge && bridge[0] == '0'; // the CPU's own, and its place in the tree
    tag->kind = host ? TAG_CPU : TAG_PCI;
    if (host && reading->depth > 0) tag->number = reading->tags[reading->depth - 1].number;
}

// On-board Ethernet stays out where there are NICs with RDMA.
static void leave_out_plain_nics(Reading *reading) {
    bool any = false;
    int kept = 0;
    for (int i = 0; i < reading->device_count; i++) any = any || reading->devices[i].rdma;
    for (int i = 0; i < reading->device_count; i++)
        if (reading->devices[i].is_gpu || reading->devices[i].rdma || !any)
            reading->devices[kept++] = reading->devices[i];
    reading->device_count = kept;
}

static void on_start(void *context, const XML_Char *name, const XML_Char **attributes) {
    Reading *reading = context;
    Tag tag = {.kind = kind_of(name), .number = ++reading->numbers, .part = -1, .numa = -1};
    if (reading->stopped) return;
    if (reading->depth == 0) reading->hwloc = strcmp(name, "topology") == 0;
    if (reading->depth == 0 && tag.kind != TAG_SYSTEM && !reading->hwloc) {
        problem_add(reading->problems, here(reading), "the file begins with <%.40s>; expected <system> or <topology>",
                    name);
        problem_hint(reading->problems,
                     "NCCL writes such a file where NCCL_TOPO_DUMP_FILE says, hwloc by lstopo --of xml > node.xml");
        stop(reading);
        return;
    }
    if (reading->depth == DEPTH_MOST) {
        problem_add(reading->problems, here(reading), "elements lie more than %d deep", DEPTH_MOST);
        stop(reading);
        return;
    }
    if (reading->hwloc) {
        take_of_hwloc(reading, name, attributes, &tag);
        if (!reading->stopped) reading->tags[reading->depth++] = tag;
        return;
    }
    if (tag.kind == TAG_CPU) reading->numa = whole(reading, "cpu", attributes, "numaid", -1);
    if (tag.kind == TAG_PCI) {
        take_pcie(reading, attributes);
        tag.part = part_of_class(reading, attributes);
    }
    if (tag.kind == TAG_GPU) reading->interior->sm = whole(reading, "gpu", attributes, "sm", 0);
    if (strcmp(name, "nvlink") == 0) take_nvlink(reading, attributes);
    if (strcmp(name, "net") == 0) take_net(reading, attributes);
    if (!reading->stopped) reading->tags[reading->depth++] = tag;
}

static void on_end(void *context, const XML_Char *name) {
    Reading *reading = context;
    (void)name;
    if (!reading->stopped && reading->depth > 0) reading->depth--;
}

// ---- The matrix.
// Under one bridge: PIX; under bridges that meet below the CPU: PXB; one CPU: NODE; else SYS. Dual-port NICs, whose
// functions share one port, are PIX too.
static Cell meeting(const Device *a, const Device *b) {
    int common = 0;
    while (common < a->depth && common < b->depth && a->above[common] == b->above[common]) common++;
    if (common == 0) return a->depth && b->depth ? CELL_SYS : CELL_NODE;
    if (common == 1) return CELL_NODE;
    return a->depth == common && b->depth == common ? CELL_PIX : CELL_PXB;
}

static int direct_links(const Device *a, const Device *b) {
    int links = 0;
    for (int i = 0; i < a->link_count; i++)
        if (*b->bus && strcmp(a->links[i].bus, b->bus) == 0) links += a->links[i].count;
    return links;
}

static unsigned char cell_between(const Device *a, const Device *b) {
    if (a == b) return CELL_SELF;
    int links = 0;
    if (a->is_gpu && b->is_gpu) {
        int forth = direct_links(a, b), back = direct_links(b, a);
        links = forth > back ? forth : back;
        if (a->switch_links && b->switch_links)
            links += a->switch_links < b->switch_links ? a->switch_links : b->switch_links;
    }
    if (links > INTERIOR_NVLINK_LIMIT) links = INTERIOR_NVLINK_LIMIT;
    return (unsigned char)(links ? CELL_NVLINK + links : (int)meeting(a, b));
}

static void fill(Reading *reading) {
    NodeInterior *interior = reading->interior;
    const Device *order[PARTS_MOST] = {NULL};
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < reading->device_count; i++)
            if (reading->devices[i].is_gpu == (pass == 0)) order[count++] = &reading->devices[i];
    for (int i = 0; i < reading->device_count; i++) interior->gpu_count += reading->devices[i].is_gpu;
    interior->nic_count = count - interior->gpu_count;
    unsigned char *cells = arena_alloc(reading->arena, (size_t)count * (size_t)count);
    int *numa = ARENA_ARRAY(reading->arena, int, interior->gpu_count);
    const char **names = ARENA_ARRAY(reading->arena, const char *, interior->nic_count);
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) cells[a * count + b] = cell_between(order[a], order[b]);
    for (int g = 0; g < interior->gpu_count; g++) {
        numa[g] = order[g]->numa;
        interior->nvswitch = interior->nvswitch || order[g]->switch_links > 0;
    }
    for (int n = 0; n < interior->nic_count; n++) {
        const char *name = order[interior->gpu_count + n]->name;
        names[n] = *name ? arena_copy_text(reading->arena, name) : arena_printf(reading->arena, "NIC%d", n);
    }
    interior->links_unsaid = true;
    for (int g = 0; g < interior->gpu_count; g++)
        if (order[g]->switch_links || order[g]->link_count) interior->links_unsaid = false;
    interior->cells = cells;
    interior->numa = numa;
    interior->nic_names = names;
}

const NodeInterior *interior_from_xml(Arena *arena, const char *name, const char *text, size_t bytes,
                                      Problems *problems) {
    Arena *scratch = arena_open();
    int before = problems_added(problems);
    Reading reading = {.arena = arena, .problems = problems, .file = name, .numa = -1};
    reading.devices = ARENA_ARRAY(scratch, Device, PARTS_MOST);
    reading.interior = ARENA_NEW(arena, NodeInterior);
    reading.parser = XML_ParserCreate(NULL);
    if (!reading.parser) out_of_memory(sizeof reading);
    XML_SetUserData(reading.parser, &reading);
    XML_SetElementHandler(reading.parser, on_start, on_end);
    bool parsed = bytes < ((size_t)1 << 24) && XML_Parse(reading.parser, text, (int)bytes, 1) == XML_STATUS_OK;
    if (!parsed && !reading.stopped) {
        problem_add(problems, here(&reading), "this is no XML: %s", XML_ErrorString(XML_GetErrorCode(reading.parser)));
        problem_hint(problems, "expected NCCL's <system> with <cpu>, <pci>, <gpu> and <nic> in it");
    }
    XML_ParserFree(reading.parser);
    bool sound = problems_added(problems) == before;
    if (sound && reading.hwloc) leave_out_plain_nics(&reading);
    if (sound) fill(&reading);
    if (sound && reading.interior->gpu_count == 0) {
        problem_add(problems, (Where){name, 0}, "there is no GPU in it");
        problem_hint(problems, reading.hwloc ? "lstopo lists devices where hwloc was built with PCI: lstopo --of xml"
                                             : "expected <pci class=\"0x030200\" …> with <gpu …> in it");
        sound = false;
    }
    arena_close(scratch);
    return sound ? reading.interior : NULL;
}
