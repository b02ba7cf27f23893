// Rings within a node whose GPUs are linked without a switch.
#include <math.h>

#include "models/network/loads.h"

static bool linked(const Layout *layout, int a, int b) {
    return layout->nvlink_pair[a * layout->shape->gpu_count + b] >= 0;
}

double linked_rate(const Layout *layout, const int *gpus, int count, int from) {
    double rate = 0;
    for (int i = 0; i < count; i++)
        if (linked(layout, from, gpus[i]))
            rate += layout->links[layout->nvlink_pair[from * layout->shape->gpu_count + gpus[i]]].bytes_per_second;
    return rate;
}

// A way over NVLinks through all GPUs and back to the first, tried in order; cube meshes have at most 8.
static bool find_cycle(const Layout *layout, const int *gpus, int count, int *cycle, int length, unsigned used) {
    if (length == count) return linked(layout, cycle[count - 1], cycle[0]);
    for (int i = 1; i < count; i++) {
        if (used & 1u << i || !linked(layout, cycle[length - 1], gpus[i])) continue;
        cycle[length] = gpus[i];
        if (find_cycle(layout, gpus, count, cycle, length + 1, used | 1u << i)) return true;
    }
    return false;
}

static bool all_linked(const Layout *layout, const int *gpus, int count) {
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (!linked(layout, gpus[i], gpus[j])) return false;
    return true;
}

static bool all_equal(const Layout *layout, const int *gpus, int count) {
    double first = linked_rate(layout, gpus, count, gpus[0]);
    for (int i = 1; i < count; i++)
        if (fabs(linked_rate(layout, gpus, count, gpus[i]) - first) > 1e-9 * first) return false;
    return first > 0;
}

static Medium medium_in_order(const Layout *layout, const int *gpus, int count) {
    Medium worst = MEDIUM_NVLINK;
    for (int i = 0; i < count; i++) {
        const Path *path = &layout->gpu_to_gpu[gpus[i] * layout->shape->gpu_count + gpus[(i + 1) % count]];
        Medium medium = path->nvlink ? MEDIUM_NVLINK : path->staged ? MEDIUM_HOST : MEDIUM_PCIE;
        if (medium > worst) worst = medium;
    }
    return worst;
}

NodeRing node_ring(const Layout *layout, const int *gpus, int count) {
    NodeRing ring = {.form = RING_IN_ORDER, .medium = MEDIUM_NVLINK};
    const NodeShape *shape = layout->shape;
    bool cube_mesh = shape->gpu_fabric == GPU_FABRIC_CUBE_MESH, complete = all_linked(layout, gpus, count);
    ring.cycle[0] = gpus[0];
    if (all_equal(layout, gpus, count) && (complete || (cube_mesh && count == shape->gpu_count)))
        ring.form = RING_ALL_LINKS;
    else if (complete)
        ring.form = RING_EVEN;
    else if (cube_mesh && find_cycle(layout, gpus, count, ring.cycle, 1, 1))
        ring.form = RING_CYCLE;
    else
        ring.medium = medium_in_order(layout, gpus, count);
    return ring;
}
