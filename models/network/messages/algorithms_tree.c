// Trees: NCCL's double binary tree between blocks with a chain of ranks in each, and the binomial tree of MPI.
#include "models/network/messages/algorithm.h"

// ---- NCCL's: two trees, in which every block is a leaf of one and an inner node of the other (Sanders, Speck and
// Träff, 2009), for each rank of the smallest block that can be the chain's head.
typedef struct Branch {
    int parent, children[3], child_count; // ranks; -1
} Branch;

static int head_count(const Party *party) { return party->block_count > 1 ? smallest_block(party) * party->ways : 1; }

int tree_pieces(const Party *party) { return 2 * head_count(party) * party->chunks; }

static int low_bit(int number) { return number & -number; }

// A binary tree over blocks: as in NCCL, block 0 is the root above the largest power of two, and odd ones are leaves.
static int tree_parent(int block, int count) {
    if (block == 0) return -1;
    int bit = low_bit(block), parent = (block ^ bit) | (bit << 1);
    return parent >= count ? block ^ bit : parent;
}

static int mirrored(int block, int count) { // the second tree: shifted by one, or mirrored where the number is even
    return count % 2 ? (block + 1) % count : count - 1 - block;
}

static int unmirrored(int block, int count) { return count % 2 ? (block + count - 1) % count : count - 1 - block; }

// In tree 1 the blocks are at other places than in tree 0.
static int parent_block(int tree, int block, int count) {
    int place = tree ? mirrored(block, count) : block, parent = tree_parent(place, count);
    return parent < 0 ? -1 : tree ? unmirrored(parent, count) : parent;
}

static int head_of(const Party *party, int block, int head) {
    return party->starts[block] + head % block_size(party, block);
}

static Branch branch_of(const Party *party, int tree, int head) {
    int block = block_of(party, party->rank), size = block_size(party, block), first = party->starts[block];
    int place = (party->rank - head_of(party, block, head) + size) % size; // in the chain below the head
    Branch branch = {.parent = -1};
    if (place > 0) branch.parent = first + (party->rank - first + size - 1) % size;
    if (place < size - 1) branch.children[branch.child_count++] = first + (party->rank - first + 1) % size;
    if (place > 0) return branch;
    int above = parent_block(tree, block, party->block_count);
    if (above >= 0) branch.parent = head_of(party, above, head);
    for (int b = 0; b < party->block_count; b++)
        if (parent_block(tree, b, party->block_count) == block)
            branch.children[branch.child_count++] = head_of(party, b, head);
    return branch;
}

static void pass_up(Party *party, Lane *lane, const Branch *branch, int tag, int piece) {
    for (int c = 0; c < branch->child_count; c++) {
        FlowStep *step = new_step(party, lane, -1, branch->children[c]);
        step->tag = tag;
        receive_pieces(party, step, piece, 1, true);
    }
    if (branch->parent < 0) return;
    FlowStep *step = new_step(party, lane, branch->parent, -1);
    step->tag = tag;
    send_pieces(party, step, piece, 1);
}

static void pass_down(Party *party, Lane *lane, const Branch *branch, int tag, int piece) {
    if (branch->parent >= 0) {
        FlowStep *step = new_step(party, lane, -1, branch->parent);
        step->tag = tag;
        receive_pieces(party, step, piece, 1, false);
    }
    for (int c = branch->child_count; c-- > 0;) { // the farthest first
        FlowStep *step = new_step(party, lane, branch->children[c], -1);
        step->tag = tag;
        send_pieces(party, step, piece, 1);
    }
}

static void set_way(Lane *lane, int way) {
    for (int i = 0; i < lane->count; i++) lane->items[i].way = way;
}

// What is complete at the root goes down at once; elsewhere sums go up and totals down without waiting for each other.
static void add_tree(Party *party, int tree, int head) {
    Branch branch = branch_of(party, tree, head);
    int number = 2 * head + tree, way = head / smallest_block(party);
    int up = party->lanes.count, down = branch.parent < 0 ? up : up + 1;
    for (int l = up; l <= down; l++) new_lane(party);
    for (int k = 0; k < party->chunks; k++) {
        int piece = number * party->chunks + k;
        pass_up(party, &party->lanes.items[up], &branch, 2 * number, piece);
        pass_down(party, &party->lanes.items[down], &branch, 2 * number + 1, piece);
    }
    for (int l = up; l <= down; l++) set_way(&party->lanes.items[l], way);
}

void build_tree(Party *party) {
    if (party->rank_count < 2) return;
    for (int head = 0; head < head_count(party); head++)
        for (int tree = 0; tree < 2; tree++) add_tree(party, tree, head);
}

// ---- Binomial, counted from the root: a rank's parent is the one without its lowest set bit.
static int rank_from_root(const Party *party, int place) { return (place + party->root) % party->rank_count; }

static void binomial_reduce(Party *party, Lane *lane, int place) {
    for (int bit = 1; bit < party->rank_count; bit *= 2) {
        if (place & bit) {
            send_pieces(party, new_step(party, lane, rank_from_root(party, place - bit), -1), 0, 1);
            return;
        }
        if (place + bit >= party->rank_count) continue;
        receive_pieces(party, new_step(party, lane, -1, rank_from_root(party, place + bit)), 0, 1, true);
    }
}

// The farthest child first: it has the most ranks below it.
static void binomial_broadcast(Party *party, Lane *lane, int place) {
    int bit = 1;
    while (bit < party->rank_count && !(place & bit)) bit *= 2;
    if (place > 0) receive_pieces(party, new_step(party, lane, -1, rank_from_root(party, place - bit)), 0, 1, false);
    for (bit /= 2; bit > 0; bit /= 2)
        if (place + bit < party->rank_count)
            send_pieces(party, new_step(party, lane, rank_from_root(party, place + bit), -1), 0, 1);
}

void build_binomial(Party *party) {
    int place = (party->rank - party->root + party->rank_count) % party->rank_count;
    Lane *lane = new_lane(party);
    if (party->op != COLLECTIVE_BROADCAST) binomial_reduce(party, lane, place);
    if (party->op != COLLECTIVE_REDUCE) binomial_broadcast(party, lane, place);
}
