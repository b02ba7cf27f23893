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

// ---- One by one: cycles that together use every NVLink equally, each run both ways.
typedef struct Search {
    int count, cycles, looks;
    int left[MESH_GPUS_MOST][MESH_GPUS_MOST]; // NVLinks between two that no cycle has taken
    int8_t order[MESH_RINGS_MOST][MESH_GPUS_MOST];
} Search;

#define LOOKS_MOST 200000

static void take(Search *s, const int8_t *order, int links) {
    for (int i = 0; i < s->count; i++) {
        int a = order[i], b = order[(i + 1) % s->count];
        s->left[a][b] -= links;
        s->left[b][a] -= links;
    }
}

static bool extend(Search *s, int length, unsigned used);

static bool next_cycle(Search *s) {
    bool rest = false;
    for (int i = 1; i < s->count; i++) rest = rest || s->left[0][i] > 0;
    if (!rest) return true;
    if (s->cycles == MESH_RINGS_MOST / 2) return false;
    s->order[s->cycles][0] = 0;
    return extend(s, 1, 1);
}

// Goes on with the cycle under way, and when it is closed with the next.
static bool extend(Search *s, int length, unsigned used) {
    int8_t *order = s->order[s->cycles];
    if (++s->looks > LOOKS_MOST) return false;
    if (length == s->count) {
        if (s->left[order[length - 1]][0] <= 0) return false;
        take(s, order, 1);
        s->cycles++;
        if (next_cycle(s)) return true;
        s->cycles--;
        take(s, order, -1);
        return false;
    }
    for (int next = 1; next < s->count; next++) {
        if (used & 1u << next || s->left[order[length - 1]][next] <= 0) continue;
        order[length] = (int8_t)next;
        if (extend(s, length + 1, used | 1u << next)) return true;
    }
    return false;
}

// How many NVLinks there are between two, the fewest being one, where all pairs count; twice that where a GPU's number
// is odd, since a cycle takes two of each.
static void count_links(Search *s, const Layout *layout, const int *gpus, bool alike) {
    double least = INFINITY;
    int sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->count; i++)
            for (int j = 0; j < s->count; j++) {
                int link = layout->nvlink_pair[gpus[i] * layout->shape->gpu_count + gpus[j]];
                if (i == j || link < 0) continue;
                double rate = layout->links[link].bytes_per_second;
                least = fmin(least, rate);
                s->left[i][j] = alike ? 1 : (int)lround(rate / least);
            }
    for (int j = 0; j < s->count; j++) sum += s->left[0][j];
    for (int i = 0; i < s->count && sum % 2; i++)
        for (int j = 0; j < s->count; j++) s->left[i][j] *= 2;
}

static MeshRings both_ways(const Search *s) {
    MeshRings rings = {.count = 2 * s->cycles};
    for (int c = 0; c < s->cycles; c++)
        for (int i = 0; i < s->count; i++) {
            rings.order[2 * c][i] = s->order[c][i];
            rings.order[2 * c + 1][i] = s->order[c][(s->count - i) % s->count];
        }
    return rings;
}

MeshRings mesh_rings(const Layout *layout, const int *gpus, int count) {
    Search search = {.count = count};
    NodeRing ring = {.form = RING_IN_ORDER};
    if (count >= 3 && count <= MESH_GPUS_MOST) ring = node_ring(layout, gpus, count);
    if (ring.form == RING_IN_ORDER) return (MeshRings){0};
    if (ring.form == RING_CYCLE) {
        search.cycles = 1;
        for (int i = 0; i < count; i++)
            for (int at = 0; at < count; at++)
                if (ring.cycle[at] == gpus[i]) search.order[0][at] = (int8_t)i;
        return both_ways(&search);
    }
    count_links(&search, layout, gpus, ring.form == RING_EVEN);
    return next_cycle(&search) ? both_ways(&search) : (MeshRings){0};
}
