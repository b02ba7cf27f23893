// Free GPUs of a cluster by node, and placement of jobs. Bit sets of nodes by free GPUs find the fullest node with
// enough space, or whole nodes, in a few words.
#include <string.h>

#include "models/workload/queue/queue_internal.h"
#include "sim/base/check.h"

const char *const queue_placement_names[QUEUE_PLACEMENT_COUNT] = {"pack-leaves", "pack-nodes", "spread", "scatter"};
const char *const queue_placement_help[QUEUE_PLACEMENT_COUNT] = {
    "whole nodes on as few leaf switches as possible, small jobs on the fullest node with room",
    "the same without looking at leaf switches",
    "whole nodes over as many leaf switches as possible, small jobs on the emptiest node",
    "any free GPUs",
};

#define BLOCK 16 // nodes that are compared at once

size_t free_bytes(int nodes) { return ((size_t)nodes + BLOCK - 1) / BLOCK * BLOCK; }

RoomShape room_shape(const QueueSpec *spec) {
    RoomShape shape = {.nodes = spec->nodes, .gpus_per_node = spec->gpus_per_node};
    bool one_leaf = spec->nodes_per_leaf <= 0 || spec->nodes_per_leaf > spec->nodes;
    shape.nodes_per_leaf = one_leaf ? spec->nodes : spec->nodes_per_leaf;
    shape.leaves = (shape.nodes + shape.nodes_per_leaf - 1) / shape.nodes_per_leaf;
    shape.words = (shape.nodes + 63) / 64;
    shape.bytes = (size_t)(shape.gpus_per_node + 1) * ((size_t)shape.words * sizeof(uint64_t) + sizeof(int32_t)) +
                  ((size_t)shape.leaves + 1) * sizeof(int32_t) + free_bytes(shape.nodes);
    return shape;
}

static uint64_t *set_of(const Room *room, int free) { return room->sets + (size_t)free * (size_t)room->shape->words; }

Room *room_create(Arena *arena, const RoomShape *shape) {
    Room *room = ARENA_NEW(arena, Room);
    int levels = shape->gpus_per_node + 1;
    room->shape = shape;
    room->block = arena_alloc(arena, shape->bytes);
    room->sets = (uint64_t *)(void *)room->block;
    room->at_least = (int32_t *)(void *)(room->sets + (size_t)levels * (size_t)shape->words);
    room->whole = room->at_least + levels;
    room->free_gpus = room->whole + shape->leaves;
    room->free = (uint8_t *)(room->free_gpus + 1);
    for (int i = 0; i < shape->nodes; i++) room->sets[i / 64] |= UINT64_C(1) << (i % 64);
    room->at_least[0] = shape->nodes;
    return room;
}

void room_copy(Room *to, const Room *from) { memcpy(to->block, from->block, from->shape->bytes); }

void room_set(Room *room, int node, int free) {
    const RoomShape *shape = room->shape;
    int before = room->free[node], most = shape->gpus_per_node;
    if (before == free) return;
    CHECK(free >= 0 && free <= most);
    uint64_t bit = UINT64_C(1) << (node % 64);
    set_of(room, before)[node / 64] &= ~bit;
    set_of(room, free)[node / 64] |= bit;
    for (int i = before + 1; i <= free; i++) room->at_least[i]++;
    for (int i = free + 1; i <= before; i++) room->at_least[i]--;
    if (before == most) room->whole[leaf_of(shape, node)]--;
    if (free == most) room->whole[leaf_of(shape, node)]++;
    *room->free_gpus += free - before;
    room->free[node] = (uint8_t)free;
}

void free_least(uint8_t *restrict to, const uint8_t *restrict other, int nodes) {
    for (int i = 0; i < nodes; i += BLOCK) // the room behind the last node is there, and zero
        for (int k = i; k < i + BLOCK; k++) to[k] = other[k] < to[k] ? other[k] : to[k];
}

void room_limit(Room *to, const Room *from, const uint8_t *least) {
    int nodes = from->shape->nodes;
    room_copy(to, from);
    for (int i = 0; i < nodes; i += 8) { // most nodes are equal
        if (memcmp(&to->free[i], &least[i], 8) == 0) continue;
        for (int k = i; k < nodes && k < i + 8; k++)
            if (least[k] < to->free[k]) room_set(to, k, least[k]);
    }
}

// ---- Placing.

static int first_in(const Room *room, int free, int from) { // the first node with exactly that many free; -1 none
    const uint64_t *set = set_of(room, free);
    for (int word = from / 64; word < room->shape->words; word++) {
        uint64_t bits = set[word];
        if (word == from / 64) bits &= ~UINT64_C(0) << (from % 64);
        if (bits) return word * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

static int fullest_with(const Room *room, int gpus) {
    for (int free = gpus; free <= room->shape->gpus_per_node; free++) {
        int node = first_in(room, free, 0);
        if (node >= 0) return node;
    }
    return -1;
}

static int emptiest_leaf(const Room *room) {
    int best = 0;
    for (int i = 1; i < room->shape->leaves; i++)
        if (room->whole[i] > room->whole[best]) best = i;
    return best;
}

static int emptiest_with(const Room *room, int gpus) {
    for (int free = room->shape->gpus_per_node; free >= gpus; free--) {
        bool whole = free == room->shape->gpus_per_node && room->at_least[free] > 0;
        int node = first_in(room, free, whole ? emptiest_leaf(room) * room->shape->nodes_per_leaf : 0);
        if (node >= 0) return node;
    }
    return -1;
}

// The leaf with the least whole nodes that has `wanted` of them, else the one with the most.
static int leaf_for(const Room *room, int wanted) {
    int best = -1;
    for (int i = 0; i < room->shape->leaves; i++) {
        if (room->whole[i] < wanted) continue;
        if (best < 0 || room->whole[i] < room->whole[best]) best = i;
    }
    return best >= 0 ? best : emptiest_leaf(room);
}

static int whole_node(const Room *room, QueuePlacement placement, int wanted) {
    int per_node = room->shape->gpus_per_node;
    if (placement == QUEUE_PACK_NODES) return first_in(room, per_node, 0);
    int leaf = placement == QUEUE_SPREAD ? emptiest_leaf(room) : leaf_for(room, wanted);
    return first_in(room, per_node, leaf * room->shape->nodes_per_leaf);
}

static int take(Room *room, int node, int gpus, Piece *pieces, int count) {
    CHECK(node >= 0);
    room_add(room, node, -gpus);
    pieces[count] = (Piece){node, gpus};
    return count + 1;
}

static int scatter(Room *room, int gpus, Piece *pieces) {
    int count = 0;
    for (int node = 0; gpus > 0; node++) {
        int here = room->free[node] < gpus ? room->free[node] : gpus;
        if (here == 0) continue;
        count = take(room, node, here, pieces, count);
        gpus -= here;
    }
    return count;
}

static int place_nodes(Room *room, QueuePlacement placement, int gpus, Piece *pieces) {
    int per_node = room->shape->gpus_per_node, count = 0;
    for (int left = gpus / per_node; left > 0;) {
        int node = whole_node(room, placement, left), leaf = leaf_of(room->shape, node);
        bool whole_leaf = placement == QUEUE_PACK_LEAVES; // the rest of this leaf follows
        do {
            count = take(room, node, per_node, pieces, count);
            left--;
            node = first_in(room, per_node, node);
        } while (whole_leaf && left > 0 && node >= 0 && leaf_of(room->shape, node) == leaf);
    }
    int rest = gpus % per_node;
    if (rest > 0) {
        int node = placement == QUEUE_SPREAD ? emptiest_with(room, rest) : fullest_with(room, rest);
        count = take(room, node, rest, pieces, count);
    }
    return count;
}

int room_place(Room *room, QueuePlacement placement, int gpus, Piece *pieces) {
    CHECK(room_fits(room, placement, gpus));
    int count = placement == QUEUE_SCATTER ? scatter(room, gpus, pieces) : place_nodes(room, placement, gpus, pieces);
    for (int i = 0; i < count; i++) room_add(room, pieces[i].node, pieces[i].gpus);
    return count;
}

int most_pieces(const RoomShape *shape, QueuePlacement placement, int gpus) {
    if (placement == QUEUE_SCATTER) return gpus < shape->nodes ? gpus : shape->nodes;
    return (gpus + shape->gpus_per_node - 1) / shape->gpus_per_node;
}

bool queue_job_fits(const QueueSpec *spec, int gpus) {
    if (gpus < 1) return false;
    if (spec->placement == QUEUE_SCATTER) return (int64_t)spec->nodes * spec->gpus_per_node >= gpus;
    return (gpus + spec->gpus_per_node - 1) / spec->gpus_per_node <= spec->nodes;
}
