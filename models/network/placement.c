// Placement of parts in a node: even for catalogue nodes; after the matrix for imported nodes.
#include "models/network/placement.h"

// Things spread over places in order: the first of 8 over 4 go 0 0 1 1 2 2 3 3, and 2 over 4 go 0 2.
static int spread(int thing, int things, int places) { return (int)((long)thing * places / things); }

static Placement even_placement(const NodeShape *shape) {
    Placement placement = {.socket_count = shape->sockets};
    int per_switch = shape->gpus_per_pcie_switch, gpus = shape->gpu_count;
    int switches = placement.switch_count = per_switch ? (gpus + per_switch - 1) / per_switch : 0;
    for (int gpu = 0; gpu < gpus; gpu++)
        placement.gpus[gpu] = switches ? gpu / per_switch : on_socket(spread(gpu, gpus, shape->sockets));
    for (int i = 0; i < switches; i++) placement.switches[i] = on_socket(spread(i, switches, shape->sockets));
    // NICs are attached to the switches if there are any, else to the sockets.
    for (int nic = 0; nic < shape->nic_count; nic++)
        placement.nics[nic] = switches ? spread(nic, shape->nic_count, switches)
                                       : on_socket(spread(nic, shape->nic_count, shape->sockets));
    return placement;
}

// ---- An interior. Groups of parts are named by their first part.
typedef struct Groups {
    int first[SWITCHES_MOST];
} Groups;

static void join(Groups *groups, int parts, int a, int b) {
    int keep = groups->first[a] < groups->first[b] ? groups->first[a] : groups->first[b];
    int drop = groups->first[a] + groups->first[b] - keep;
    for (int i = 0; i < parts; i++)
        if (groups->first[i] == drop) groups->first[i] = keep;
}

static void join_up_to(Groups *groups, const NodeInterior *interior, Cell farthest) {
    int parts = interior_parts(interior);
    for (int a = 0; a < parts; a++)
        for (int b = 0; b < a; b++) {
            int cell = interior->cells[a * parts + b];
            if (cell >= CELL_PIX && cell <= (int)farthest) join(groups, parts, a, b);
        }
}

static int size_of(const Groups *groups, int parts, int first) {
    int size = 0;
    for (int i = 0; i < parts; i++) size += groups->first[i] == first;
    return size;
}

static bool apart(const NodeInterior *interior, const Groups *groups, int a, int b) {
    int parts = interior_parts(interior);
    for (int i = 0; i < parts; i++)
        for (int j = 0; j < parts; j++)
            if (groups->first[i] == groups->first[a] && groups->first[j] == groups->first[b] &&
                interior->cells[i * parts + j] == CELL_SYS)
                return true;
    return false;
}

// GPUs of one NUMA node share a socket whatever the matrix; so do parts without evidence that they do not.
static void join_sockets(Groups *groups, const NodeInterior *interior) {
    int parts = interior_parts(interior), gpus = interior->gpu_count;
    join_up_to(groups, interior, CELL_NODE);
    for (int a = 0; a < gpus; a++)
        for (int b = 0; b < a; b++)
            if (interior->numa[a] >= 0 && interior->numa[a] == interior->numa[b]) join(groups, parts, a, b);
    for (int a = 0; a < parts; a++)
        for (int b = 0; b < a; b++) {
            bool other_numa = a < gpus && b < gpus && interior->numa[a] >= 0 && interior->numa[b] >= 0;
            if (!other_numa && groups->first[a] != groups->first[b] && !apart(interior, groups, a, b))
                join(groups, parts, a, b);
        }
}

static void add_switches(Placement *placement, const Groups *groups, int parts, const int *socket, int *at) {
    for (int first = 0; first < parts; first++) {
        bool one_child = true;
        if (groups->first[first] != first || size_of(groups, parts, first) < 2) continue;
        for (int i = first; i < parts; i++)
            if (groups->first[i] == first) one_child = one_child && at[i] == at[first] && at[i] >= 0;
        if (one_child) continue;
        int number = placement->switch_count++;
        placement->switches[number] = on_socket(socket[first]);
        for (int i = first; i < parts; i++) {
            if (groups->first[i] != first) continue;
            if (at[i] >= 0) placement->switches[at[i]] = number;
        }
        for (int i = first; i < parts; i++)
            if (groups->first[i] == first && at[i] < 0) at[i] = number;
    }
}

#define SOCKETS_MOST 8

static Placement drawn_placement(const NodeInterior *interior) {
    Placement placement = {0};
    Groups near, far, sockets;
    int parts = interior_parts(interior), count = 0;
    int socket[SWITCHES_MOST] = {0}, at[SWITCHES_MOST] = {0};
    for (int i = 0; i < parts; i++) near.first[i] = i;
    join_up_to(&near, interior, CELL_PIX);
    far = near;
    join_up_to(&far, interior, CELL_PXB);
    sockets = far;
    join_sockets(&sockets, interior);
    for (int i = 0; i < parts; i++)
        socket[i] = sockets.first[i] == i ? count++ % SOCKETS_MOST : socket[sockets.first[i]];
    for (int i = 0; i < parts; i++) at[i] = on_socket(socket[i]);
    add_switches(&placement, &near, parts, socket, at);
    add_switches(&placement, &far, parts, socket, at);
    for (int i = 0; i < parts; i++) {
        if (i < interior->gpu_count)
            placement.gpus[i] = at[i];
        else
            placement.nics[i - interior->gpu_count] = at[i];
    }
    placement.socket_count = count < SOCKETS_MOST ? count : SOCKETS_MOST;
    return placement;
}

Placement placement_of(const NodeShape *shape) {
    return shape->interior ? drawn_placement(shape->interior) : even_placement(shape);
}

int interior_socket_count(const NodeInterior *interior) { return drawn_placement(interior).socket_count; }

bool interior_has_switches(const NodeInterior *interior) { return drawn_placement(interior).switch_count > 0; }
