#include "models/hardware/quicker.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"

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
