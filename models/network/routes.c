// Paths through a node, computed once per shape, and the routes between any two ranks built from them.
#include "models/network/topology.h"

#include "models/network/network_constants.h"
#include "sim/base/check.h"

#define PART_LIMIT 256

// Latency of the hardware alone; a NIC's own share is in the fabric's.
static double link_seconds(LayoutLinkKind kind) {
    return kind == LINK_NIC ? 0 : network_constant(LINK_LATENCY + (NetworkConstantId)kind);
}

// ---- Within a node.
static bool passes(const Layout *layout, int part) {
    PartKind kind = layout->parts[part].kind;
    return kind == PART_NVSWITCH || kind == PART_PCIE_SWITCH || kind == PART_SOCKET;
}

// Of a part that paths begin at: by which edge each part is reached, -1 not; over NVLink alone, or over all else.
typedef struct Ways {
    int16_t came_by[PART_LIMIT];
} Ways;

typedef struct Paths {
    Arena *arena;
    const Layout *layout;
    Ways *from[PART_LIMIT][2]; // [part][over NVLink]; NULL: not computed yet
} Paths;

// Breadth-first search: paths have the fewest links. Edges are in order, so that equal paths are chosen consistently.
static Ways *find_ways(const Paths *paths, int from, bool nvlink) {
    const Layout *layout = paths->layout;
    Ways *ways = ARENA_NEW(paths->arena, Ways);
    int16_t queue[PART_LIMIT], *came_by = ways->came_by;
    int head = 0, tail = 0;
    for (int i = 0; i < layout->part_count; i++) came_by[i] = -1;
    queue[tail++] = (int16_t)from;
    while (head < tail) {
        int part = queue[head++];
        if (part != from && !passes(layout, part)) continue;
        for (int i = 0; i < layout->edge_count; i++) {
            const Edge *edge = &layout->edges[i];
            if (edge->from != part || edge->to == from || came_by[edge->to] >= 0) continue;
            if ((layout->links[edge->link].kind == LINK_NVLINK) != nvlink) continue;
            came_by[edge->to] = (int16_t)i;
            queue[tail++] = edge->to;
        }
    }
    return ways;
}

static bool find_path(Paths *paths, int from, int to, bool nvlink, Path *path) {
    const Layout *layout = paths->layout;
    Ways **ways = &paths->from[from][nvlink];
    *path = (Path){.nvlink = nvlink};
    if (from == to) return true;
    if (!*ways) *ways = find_ways(paths, from, nvlink);
    const int16_t *came_by = (*ways)->came_by;
    if (came_by[to] < 0) return false;
    for (int part = to; part != from; part = layout->edges[came_by[part]].from) path->count++;
    CHECK(path->count <= PATH_LIMIT);
    int place = path->count;
    for (int part = to; part != from; part = layout->edges[came_by[part]].from)
        path->links[--place] = layout->edges[came_by[part]].link;
    for (int i = 0; i < path->count; i++) path->seconds += link_seconds(layout->links[path->links[i]].kind);
    return true;
}

static void append_path(Path *path, const Path *more) {
    CHECK(path->count + more->count <= PATH_LIMIT);
    for (int i = 0; i < more->count; i++) path->links[path->count++] = more->links[i];
    path->nvlink = path->nvlink && more->nvlink;
    path->staged = path->staged || more->staged;
    path->seconds += more->seconds;
}

// Over PCIe, straight or with a stop in the memory of the given socket.
static Path pcie_path(Paths *paths, int from, int to, int stop) {
    int memory = paths->layout->first_memory + stop;
    Path path, rest;
    if (stop < 0) {
        bool found = find_path(paths, from, to, false, &path);
        CHECK(found);
        return path;
    }
    bool found = find_path(paths, from, memory, false, &path) && find_path(paths, memory, to, false, &rest);
    CHECK(found);
    path.staged = true;
    append_path(&path, &rest);
    return path;
}

// Up through switches upon switches.
int layout_socket_above(const Layout *layout, int part) {
    while (layout->parts[part].kind != PART_SOCKET) {
        int above = -1;
        for (int i = 0; i < layout->edge_count && above < 0; i++) {
            const Edge *edge = &layout->edges[i];
            PartKind kind = layout->parts[edge->to].kind;
            bool up = kind == PART_SOCKET || (kind == PART_PCIE_SWITCH && edge->to > part);
            if (edge->from == part && up) above = edge->to;
        }
        CHECK(above >= 0);
        part = above;
    }
    return part;
}

static int socket_of(const Layout *layout, int gpu) {
    return layout->parts[layout_socket_above(layout, layout->gpu_parent[gpu])].number;
}

// A GPU's own NICs: the nearest ones, shared out among the GPUs that are equally near to the same ones.
static void choose_nics(const Layout *layout, int gpu, NicSet *set) {
    int gpus = layout->shape->gpu_count, nics = layout->shape->nic_count;
    int near[NODE_NIC_LIMIT], near_count = 0, sharers = 0, place = 0, least = PATH_LIMIT + 1;
    const Path *paths = layout->gpu_to_nic;
    for (int nic = 0; nic < nics; nic++)
        if (paths[gpu * nics + nic].count < least) least = paths[gpu * nics + nic].count;
    for (int nic = 0; nic < nics; nic++)
        if (paths[gpu * nics + nic].count == least) near[near_count++] = nic;
    for (int other = 0; other < gpus; other++) {
        bool same = true;
        for (int nic = 0; nic < nics; nic++) {
            int count = paths[other * nics + nic].count;
            same = same && (count <= least) == (paths[gpu * nics + nic].count == least);
        }
        if (!same) continue;
        if (other < gpu) place++;
        sharers++;
    }
    int each = near_count / sharers;
    set->count = (int16_t)(each > 0 ? each : 1);
    for (int i = 0; i < set->count; i++)
        set->nics[i] = (int16_t)near[each > 0 ? place * each + i : place * near_count / sharers];
}

void layout_find_paths(Arena *arena, Layout *layout) {
    const NodeShape *shape = layout->shape;
    int gpus = shape->gpu_count, nics = shape->nic_count;
    Arena *scratch = arena_open();
    Paths *paths = ARENA_NEW(scratch, Paths);
    paths->arena = scratch;
    paths->layout = layout;
    CHECK(layout->part_count <= PART_LIMIT);
    layout->gpu_to_gpu = ARENA_ARRAY(arena, Path, gpus * gpus);
    layout->gpu_to_host = ARENA_ARRAY(arena, Path, gpus);
    layout->host_to_gpu = ARENA_ARRAY(arena, Path, gpus);
    layout->nic_to_host = ARENA_ARRAY(arena, Path, gpus);
    layout->gpu_to_nic = ARENA_ARRAY(arena, Path, gpus * nics);
    layout->nic_to_gpu = ARENA_ARRAY(arena, Path, gpus * nics);
    layout->gpu_nics = ARENA_ARRAY(arena, NicSet, gpus);
    for (int a = 0; a < gpus; a++) {
        int socket = socket_of(layout, a);
        layout->gpu_to_host[a] = pcie_path(paths, a, layout->first_memory + socket, -1);
        layout->host_to_gpu[a] = pcie_path(paths, layout->first_memory + socket, a, -1);
        for (int b = 0; b < gpus; b++) {
            Path *path = &layout->gpu_to_gpu[a * gpus + b];
            if (a == b || find_path(paths, a, b, true, path)) continue;
            *path = pcie_path(paths, a, b,
                              shape->peer_to_peer ? -1 : socket_of(layout, b)); // NCCL's buffers are the receiver's
        }
        for (int nic = 0; nic < nics; nic++) {
            int stop = shape->gpudirect_rdma ? -1 : socket;
            layout->gpu_to_nic[a * nics + nic] = pcie_path(paths, a, layout->first_nic + nic, stop);
            layout->nic_to_gpu[a * nics + nic] = pcie_path(paths, layout->first_nic + nic, a, stop);
        }
    }
    for (int gpu = 0; gpu < gpus && nics; gpu++) {
        choose_nics(layout, gpu, &layout->gpu_nics[gpu]);
        layout->nic_to_host[gpu] = pcie_path(paths, layout->first_nic + layout->gpu_nics[gpu].nics[0],
                                             layout->first_memory + socket_of(layout, gpu), -1);
    }
    arena_close(scratch);
}

// ---- Between ranks.
static int append(const Node *node, const Path *path, int32_t *links, int count, double *latency) {
    CHECK(count + path->count <= NETWORK_ROUTE_LIMIT);
    for (int i = 0; i < path->count; i++) links[count++] = node->first_link + path->links[i];
    *latency += path->seconds;
    return count;
}

typedef struct RouteEnd {
    int32_t *links;
    int count;
} RouteEnd;

static void add_to_route(void *context, int32_t link, double share) {
    RouteEnd *route = context;
    (void)share;
    CHECK(route->count < NETWORK_ROUTE_LIMIT);
    route->links[route->count++] = link;
}

// With rails alone a message goes to the GPU on the receiver's rail first, where NVLink leads to it.
int layout_relay_gpu(const Layout *layout, int gpu, int nic) {
    const NicSet *own = &layout->gpu_nics[gpu];
    for (int i = 0; i < own->count; i++)
        if (own->nics[i] == nic) return gpu;
    for (int other = 0; other < layout->shape->gpu_count; other++)
        if (layout->gpu_nics[other].nics[0] == nic && layout->gpu_to_gpu[gpu * layout->shape->gpu_count + other].nvlink)
            return other;
    return gpu;
}

static int route_between_nodes(const Network *network, int from_rank, int to_rank, int32_t *links, double *latency) {
    const Node *from = node_of_rank(network, from_rank), *to = node_of_rank(network, to_rank);
    const Layout *sender = layout_of(network, from), *receiver = layout_of(network, to);
    int from_gpu = gpu_of_rank(network, from_rank), to_gpu = gpu_of_rank(network, to_rank);
    CHECK(sender->shape->nic_count > 0 && receiver->shape->nic_count > 0);
    NicPair nics = fabric_nics(network, from_rank, to_rank, 0, false);
    int leaf_out = fabric_leaf(network, (int)(from - network->nodes), nics.out);
    int leaf_in = fabric_leaf(network, (int)(to - network->nodes), nics.in);
    int relay = network->fabric.kind == FABRIC_RAIL_ONLY ? layout_relay_gpu(sender, from_gpu, nics.out) : from_gpu;

    int count = append(from, &sender->gpu_to_gpu[from_gpu * sender->shape->gpu_count + relay], links, 0, latency);
    count = append(from, &sender->gpu_to_nic[relay * sender->shape->nic_count + nics.out], links, count, latency);
    RouteEnd route = {links, count};
    fabric_cross(network, leaf_out, leaf_in, 1, &(Crossing){add_to_route, &route, false});
    *latency += network->fabric.latency_seconds + fabric_switch_seconds(network, leaf_out, leaf_in) +
                fabric_line_seconds(network, leaf_out, leaf_in);
    return append(to, &receiver->nic_to_gpu[to_gpu * receiver->shape->nic_count + nics.in], links, route.count,
                  latency);
}

int network_route(const Network *network, int from_rank, int to_rank, int32_t *links, double *latency) {
    const Node *from = node_of_rank(network, from_rank), *to = node_of_rank(network, to_rank);
    const Layout *sender = layout_of(network, from), *receiver = layout_of(network, to);
    int from_gpu = gpu_of_rank(network, from_rank), to_gpu = gpu_of_rank(network, to_rank);
    *latency = 0;
    if (from_rank == to_rank) return 0;
    if (from == to)
        return append(from, &sender->gpu_to_gpu[from_gpu * sender->shape->gpu_count + to_gpu], links, 0, latency);
    if (from->domain == to->domain) {
        links[0] = from->first_link + sender->nvlink_out[from_gpu];
        links[1] = to->first_link + receiver->nvlink_in[to_gpu];
        *latency = 2 * link_seconds(LINK_NVLINK);
        return 2;
    }
    return route_between_nodes(network, from_rank, to_rank, links, latency);
}

int network_route_to_host(const Network *network, int rank, int32_t *links, double *latency) {
    const Node *node = node_of_rank(network, rank);
    *latency = 0;
    return append(node, &layout_of(network, node)->gpu_to_host[gpu_of_rank(network, rank)], links, 0, latency);
}

int network_route_from_host(const Network *network, int rank, int32_t *links, double *latency) {
    const Node *node = node_of_rank(network, rank);
    *latency = 0;
    return append(node, &layout_of(network, node)->host_to_gpu[gpu_of_rank(network, rank)], links, 0, latency);
}

int network_route_from_outside(const Network *network, int rank, int32_t *links, double *latency) {
    const Node *node = node_of_rank(network, rank);
    const Layout *layout = layout_of(network, node);
    int gpu = gpu_of_rank(network, rank);
    *latency = 0;
    if (layout->shape->nic_count == 0) return 0;
    int leaf = fabric_leaf(network, (int)(node - network->nodes), layout->gpu_nics[gpu].nics[0]);
    *latency = network->fabric.latency_seconds + fabric_enter_seconds(network, leaf);
    RouteEnd route = {links, 0};
    fabric_enter(network, leaf, &(Crossing){add_to_route, &route, false});
    return append(node, &layout->nic_to_host[gpu], links, route.count, latency);
}
