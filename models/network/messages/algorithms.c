// The algorithms: how each is built, and the table of them at the end. A new one is a function and a row.
#include "models/network/messages/algorithm.h"

#include <string.h>

#include "sim/base/check.h"

int one_piece(const Party *party) {
    (void)party;
    return 1;
}
static int piece_per_rank(const Party *party) { return party->rank_count; }

static Lane *new_lane(Party *party) {
    LIST_PUSH(party->arena, &party->lanes, (Lane){0});
    return &party->lanes.items[party->lanes.count - 1];
}

static FlowStep *new_step(Party *party, Lane *lane, int to, int from) {
    CHECK(to != party->rank && from != party->rank);
    LIST_PUSH(party->arena, lane, ((FlowStep){.to = to, .from = from, .times = 1}));
    return &lane->items[lane->count - 1];
}

static void send_pieces(const Party *party, FlowStep *step, int first, int count) {
    step->send = party->numbers + first;
    step->send_count = count;
}

static void receive_pieces(const Party *party, FlowStep *step, int first, int count, bool add) {
    step->receive = party->numbers + first;
    step->receive_count = count;
    step->add = add;
}

static int block_size(const Party *party, int block) { return party->starts[block + 1] - party->starts[block]; }

static int block_of(const Party *party, int rank) {
    int low = 0, high = party->block_count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (party->starts[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// ---- Rings and chains, as NCCL lays them: one for each rank of the smallest block, each entering and leaving blocks
// by another rank, so that all NICs work. A ring that leaves a block by one rank enters the next by the rank at the
// same place (alternating rings), so that it stays on its rail. One ring is enough where no NIC is used; else one for
// each rank of a block and each of its NICs.

static int ring_count(const Party *party) {
    if (party->order_count) return party->order_count;
    return party->block_count > 1 ? party->smallest_block * party->ways : 1;
}

int ring_pieces(const Party *party) { return party->rank_count * ring_count(party); }
static int chain_pieces(const Party *party) { return party->chunks * ring_count(party); }

// Even blocks are passed upwards from place `ring`, odd ones downwards from where the even ones end.
static int rank_at(const Party *party, int ring, int position) {
    if (party->order_count) return party->orders[ring * party->rank_count + position];
    int block = block_of(party, position), size = block_size(party, block), step = position - party->starts[block];
    int place = block % 2 ? ring + 2 * size - 1 - step : ring + step;
    return party->starts[block] + place % size;
}

static int position_of(const Party *party, int ring, int rank) {
    int block = block_of(party, rank), start = party->starts[block], size = block_size(party, block), position = start;
    if (!party->order_count) {
        int place = rank - start;
        return start + (block % 2 ? ring + 2 * size - 1 - place : place + size - ring % size) % size;
    }
    while (rank_at(party, ring, position) != rank) position++;
    return position;
}

// A rank's rings in the order of its position within them, so that equivalent ranks have equal programs.
static const int *rings_in_turn(Party *party) {
    int rings = ring_count(party);
    int *order = ARENA_ARRAY(party->arena, int, rings), *at = ARENA_ARRAY(party->arena, int, rings);
    for (int ring = 0; ring < rings; ring++) {
        int turn = ring;
        at[ring] = position_of(party, ring, party->rank);
        for (; turn > 0 && at[order[turn - 1]] > at[ring]; turn--) order[turn] = order[turn - 1];
        order[turn] = ring;
    }
    return order;
}

// The pieces of a ring are numbered by the rank that ends with the sum of them (or starts with them).
static int piece_at(const Party *party, int ring, int position) {
    int n = party->rank_count;
    return ring * n + rank_at(party, ring, (position % n + n) % n);
}

// n-1 steps gather sums of one piece each, n-1 more hand them round (Patarasuk and Yuan, 2009). At first each rank
// sends the piece of the one before it, so that its own is complete after n-1 steps.
static void add_ring(Party *party, int ring) {
    int n = party->rank_count, at = position_of(party, ring, party->rank);
    int next = rank_at(party, ring, (at + 1) % n), before = rank_at(party, ring, (at + n - 1) % n);
    int first = party->op == COLLECTIVE_ALL_GATHER ? n - 1 : 0,
        last = party->op == COLLECTIVE_REDUCE_SCATTER ? n - 1 : 2 * (n - 1);
    int way = ring / party->smallest_block;
    Lane *lane = new_lane(party);
    LIST_ROOM(party->arena, lane, party->outline ? 1 : last - first);
    for (int k = first; k < (party->outline ? first + 1 : last); k++) {
        FlowStep *step = new_step(party, lane, next, before);
        step->tag = ring;
        step->way = way;
        if (party->outline) step->times = last - first;
        send_pieces(party, step, piece_at(party, ring, at - 1 - k + 2 * n), 1);
        receive_pieces(party, step, piece_at(party, ring, at - 2 - k + 2 * n), 1, k < n - 1);
    }
}

static void add_in_turn(Party *party, void (*add)(Party *party, int ring)) {
    if (party->rank_count < 2) return;
    const int *order = rings_in_turn(party);
    for (int turn = 0; turn < ring_count(party); turn++) add(party, order[turn]);
}

static void build_ring(Party *party) { add_in_turn(party, add_ring); } // all_reduce, all_gather, reduce_scatter

// Chunk after chunk from the root round to the last, or from there back to the root.
static void add_chain(Party *party, int ring) {
    int n = party->rank_count, root = position_of(party, ring, party->root);
    int at = (position_of(party, ring, party->rank) - root + n) % n;
    bool reduce = party->op == COLLECTIVE_REDUCE;
    int up = at == 0 ? -1 : rank_at(party, ring, (at - 1 + root) % n);
    int down = at == n - 1 ? -1 : rank_at(party, ring, (at + 1 + root) % n);
    int from = reduce ? down : up, to = reduce ? up : down;
    int way = ring / party->smallest_block;
    Lane *lane = new_lane(party);
    for (int k = 0; k <= party->chunks; k++) {
        bool receives = k < party->chunks && from >= 0, sends = k > 0 && to >= 0;
        if (!receives && !sends) continue;
        FlowStep *step = new_step(party, lane, sends ? to : -1, receives ? from : -1);
        step->tag = ring;
        step->way = way;
        if (sends) send_pieces(party, step, ring * party->chunks + k - 1, 1);
        if (receives) receive_pieces(party, step, ring * party->chunks + k, 1, reduce);
    }
}

static void build_chain(Party *party) { add_in_turn(party, add_chain); }

// Everyone to the next, the last to the first, all at once.
static void build_shift(Party *party) {
    int n = party->rank_count;
    if (n < 2) return;
    FlowStep *step = new_step(party, new_lane(party), (party->rank + 1) % n, (party->rank + n - 1) % n);
    send_pieces(party, step, party->rank, 1);
    receive_pieces(party, step, (party->rank + n - 1) % n, 1, false);
}

// ---- Trees: NCCL's double binary tree between blocks with a chain of ranks in each, and the binomial tree of MPI.
// ---- NCCL's: two trees, in which every block is a leaf of one and an inner node of the other (Sanders, Speck and
// Träff, 2009), for each rank of the smallest block that can be the chain's head.

typedef struct Branch {
    int parent, children[3], child_count; // ranks; -1
} Branch;

static int head_count(const Party *party) { return party->block_count > 1 ? party->smallest_block * party->ways : 1; }

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
    int number = 2 * head + tree, way = head / party->smallest_block;
    int up = party->lanes.count, down = branch.parent < 0 ? up : up + 1;
    for (int l = up; l <= down; l++) new_lane(party);
    for (int k = 0; k < party->chunks; k++) {
        int piece = number * party->chunks + k;
        pass_up(party, &party->lanes.items[up], &branch, 2 * number, piece);
        pass_down(party, &party->lanes.items[down], &branch, 2 * number + 1, piece);
    }
    for (int l = up; l <= down; l++) set_way(&party->lanes.items[l], way);
}

static void build_tree(Party *party) {
    if (party->rank_count < 2) return;
    for (int head = 0; head < head_count(party); head++)
        for (int tree = 0; tree < 2; tree++) add_tree(party, tree, head);
}

// Binomial, counted from the root: a rank's parent is the one without its lowest set bit.
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

static void build_binomial(Party *party) {
    int place = (party->rank - party->root + party->rank_count) % party->rank_count;
    Lane *lane = new_lane(party);
    if (party->op != COLLECTIVE_BROADCAST) binomial_reduce(party, lane, place);
    if (party->op != COLLECTIVE_REDUCE) binomial_broadcast(party, lane, place);
}

// ---- Hierarchical all_reduce: reduce_scatter in each block, all_reduce between the ranks at the same place of all
// blocks (a ring per rail), all_gather in each block. Needs blocks of one size; else the whole is one block.

static bool even(const Party *party) {
    for (int b = 0; b < party->block_count; b++)
        if (block_size(party, b) != block_size(party, 0)) return false;
    return true;
}

static int inside(const Party *party) { return even(party) ? block_size(party, 0) : party->rank_count; }

// Parts by place in the block, each cut by block.
static int hierarchical_pieces(const Party *party) { return party->rank_count; }

typedef struct Circle { // ranks at first, first + stride, …; each owns `width` pieces, from `piece` on every `skip`
    int first, stride, count, at;
    int piece, skip, width;
    int tag;
} Circle;

static int rank_on(const Circle *circle, int at) {
    return circle->first + circle->stride * ((at % circle->count + circle->count) % circle->count);
}

static int piece_on(const Circle *circle, int at) {
    return circle->piece + circle->skip * ((at % circle->count + circle->count) % circle->count);
}

static void turn(Party *party, Lane *lane, const Circle *circle, bool gather) {
    for (int k = 0; k < circle->count - 1; k++) {
        FlowStep *step = new_step(party, lane, rank_on(circle, circle->at + 1), rank_on(circle, circle->at - 1));
        int back = gather ? 0 : 1; // the piece that ends here is complete after the last step
        step->tag = circle->tag;
        send_pieces(party, step, piece_on(circle, circle->at - back - k), circle->width);
        receive_pieces(party, step, piece_on(circle, circle->at - 1 - back - k), circle->width, !gather);
    }
}

static void build_hierarchical(Party *party) {
    int size = inside(party), blocks = party->rank_count / size;
    int block = party->rank / size, place = party->rank % size;
    Circle node = {block * size, 1, size, place, 0, blocks, blocks, 0};
    Circle rail = {place, size, blocks, block, place * blocks, 1, 1, 1};
    Lane *lane = new_lane(party);
    turn(party, lane, &node, false);
    turn(party, lane, &rail, false);
    turn(party, lane, &rail, true);
    turn(party, lane, &node, true);
}

// ---- Algorithms whose partner is twice as far away at each step: they take log2(n) steps.

static int largest_power(int number) {
    int power = 1;
    while (2 * power <= number) power *= 2;
    return power;
}

// Ranks beyond the largest power of two lend their pieces to a rank below it, and get the sums back.
static bool lend(Party *party, Lane *lane, int power, int pieces) {
    if (party->rank >= power) {
        send_pieces(party, new_step(party, lane, party->rank - power, -1), 0, pieces);
        receive_pieces(party, new_step(party, lane, -1, party->rank - power), 0, pieces, false);
        return false;
    }
    if (party->rank + power < party->rank_count)
        receive_pieces(party, new_step(party, lane, -1, party->rank + power), 0, pieces, true);
    return true;
}

static void give_back(Party *party, Lane *lane, int power, int pieces) {
    if (party->rank + power < party->rank_count)
        send_pieces(party, new_step(party, lane, party->rank + power, -1), 0, pieces);
}

static void build_recursive_doubling(Party *party) {
    int power = largest_power(party->rank_count);
    Lane *lane = new_lane(party);
    if (!lend(party, lane, power, 1)) return;
    for (int bit = 1; bit < power; bit *= 2) {
        FlowStep *step = new_step(party, lane, party->rank ^ bit, party->rank ^ bit);
        send_pieces(party, step, 0, 1);
        receive_pieces(party, step, 0, 1, true);
    }
    give_back(party, lane, power, 1);
}

static int halving_pieces(const Party *party) { return largest_power(party->rank_count); }

// Reduce-scatter by halving, the farthest partner first, then all-gather by doubling back (Rabenseifner, 2004).
static void build_halving_doubling(Party *party) {
    int power = largest_power(party->rank_count), mine = party->rank;
    Lane *lane = new_lane(party);
    if (!lend(party, lane, power, power)) return;
    for (int bit = power / 2; bit > 0; bit /= 2) {
        FlowStep *step = new_step(party, lane, mine ^ bit, mine ^ bit);
        send_pieces(party, step, (mine ^ bit) / bit * bit, bit);
        receive_pieces(party, step, mine / bit * bit, bit, true);
    }
    for (int bit = 1; bit < power; bit *= 2) {
        FlowStep *step = new_step(party, lane, mine ^ bit, mine ^ bit);
        send_pieces(party, step, mine / bit * bit, bit);
        receive_pieces(party, step, (mine ^ bit) / bit * bit, bit, false);
    }
    give_back(party, lane, power, power);
}

// Bruck: a rank sends its data to the rank `far` places below, which then has twice as much (1997).
static const int32_t *wrapped(const Party *party, int first, int count) {
    int32_t *pieces = ARENA_ARRAY(party->arena, int32_t, count);
    for (int i = 0; i < count; i++) pieces[i] = (first + i) % party->rank_count;
    return pieces;
}

static void build_bruck_gather(Party *party) {
    int n = party->rank_count;
    Lane *lane = new_lane(party);
    for (int have = 1; have < n; have *= 2) {
        int count = have < n - have ? have : n - have, above = (party->rank + have) % n;
        FlowStep *step = new_step(party, lane, (party->rank + n - have) % n, above);
        step->send = wrapped(party, party->rank, count);
        step->receive = wrapped(party, above, count);
        step->send_count = step->receive_count = count;
    }
}

// Each round signals the rank `far` places above: after log2(n) rounds all have heard of all (Hensgen et al., 1988).
static void build_dissemination(Party *party) {
    int n = party->rank_count;
    Lane *lane = new_lane(party);
    for (int far = 1; far < n; far *= 2) {
        FlowStep *step = new_step(party, lane, (party->rank + far) % n, (party->rank + n - far) % n);
        send_pieces(party, step, 0, 1);
        receive_pieces(party, step, 0, 1, true);
    }
}

// ---- Direct exchanges: all-to-all, and all to or from one rank.

static int pair_pieces(const Party *party) { return party->rank_count * party->rank_count; }

// Each message at another distance: all send to the rank so far above while they receive from the one so far below.
static void exchange_at(Party *party, Lane *lane, int distance) {
    int n = party->rank_count, to = (party->rank + distance) % n, from = (party->rank + n - distance) % n;
    FlowStep *step = new_step(party, lane, to, from);
    send_pieces(party, step, party->rank * n + to, 1);
    receive_pieces(party, step, from * n + party->rank, 1, false);
}

static void build_pairwise(Party *party) {
    Lane *lane = new_lane(party);
    for (int k = 1; k < party->rank_count; k++) exchange_at(party, lane, k);
}

// All messages at once.
static void build_linear_exchange(Party *party) {
    for (int k = 1; k < party->rank_count; k++) exchange_at(party, new_lane(party), k);
}

// What has to go k places up goes on by the powers of two in k, together with all else that takes that leap.
static const int32_t *leaping(Party *party, int at, int leap, int *count) {
    int n = party->rank_count;
    LIST_OF(int32_t) pieces = {0};
    for (int k = leap; k < n; k++) { // from those that started k - (remaining distance) places below
        if (!(k & leap)) continue;
        int from = (at - (k & (leap - 1)) + n) % n;
        LIST_PUSH(party->arena, &pieces, from * n + (from + k) % n);
    }
    *count = pieces.count;
    return pieces.items;
}

static void build_bruck_exchange(Party *party) {
    int n = party->rank_count;
    Lane *lane = new_lane(party);
    for (int leap = 1; leap < n; leap *= 2) {
        int below = (party->rank + n - leap) % n;
        FlowStep *step = new_step(party, lane, (party->rank + leap) % n, below);
        step->send = leaping(party, party->rank, leap, &step->send_count);
        step->receive = leaping(party, below, leap, &step->receive_count);
    }
}

// To and from the root.
static void pass(Party *party, Lane *lane, int peer, bool sends, int first, int count) {
    FlowStep *step = new_step(party, lane, sends ? peer : -1, sends ? -1 : peer);
    const int32_t *pieces = wrapped(party, first, count);
    if (sends)
        step->send = pieces, step->send_count = count;
    else
        step->receive = pieces, step->receive_count = count;
}

static void build_linear_rooted(Party *party) {
    int n = party->rank_count;
    bool outward = party->op == COLLECTIVE_SCATTER;
    if (party->rank != party->root) {
        pass(party, new_lane(party), party->root, !outward, party->rank, 1);
        return;
    }
    for (int k = 1; k < n; k++) {
        int peer = (party->root + k) % n;
        pass(party, new_lane(party), peer, outward, peer, 1);
    }
}

// Places count from the root. The subtree below a rank has as many ranks as its lowest set bit.
static int below(int place, int bit, int count) { return place + bit < count ? bit : count - place; }

static void build_binomial_rooted(Party *party) {
    int n = party->rank_count, place = (party->rank - party->root + n) % n, bit = 1;
    bool outward = party->op == COLLECTIVE_SCATTER;
    Lane *lane = new_lane(party);
    for (bit = 1; bit < n && !(place & bit); bit *= 2)
        if (!outward && place + bit < n)
            pass(party, lane, (party->rank + bit) % n, false, party->rank + bit, below(place + bit, bit, n));
    if (place > 0) pass(party, lane, (party->rank + n - bit) % n, !outward, party->rank, below(place, bit, n));
    for (bit /= 2; bit > 0 && outward; bit /= 2)
        if (place + bit < n)
            pass(party, lane, (party->rank + bit) % n, true, party->rank + bit, below(place + bit, bit, n));
}

// ---- The table.

#define REDUCE_SCATTER COLLECTIVE_REDUCE_SCATTER
static const Algorithm algorithms[] = {
    {"ring", COLLECTIVE_ALL_REDUCE, true, false, true, ring_pieces, build_ring},
    {"tree", COLLECTIVE_ALL_REDUCE, true, false, false, tree_pieces, build_tree},
    {"hierarchical", COLLECTIVE_ALL_REDUCE, true, false, false, hierarchical_pieces, build_hierarchical},
    {"halving_doubling", COLLECTIVE_ALL_REDUCE, false, false, true, halving_pieces, build_halving_doubling},
    {"rabenseifner", COLLECTIVE_ALL_REDUCE, false, false, true, halving_pieces, build_halving_doubling},
    {"recursive_doubling", COLLECTIVE_ALL_REDUCE, false, false, true, one_piece, build_recursive_doubling},
    {"binomial", COLLECTIVE_ALL_REDUCE, false, false, false, one_piece, build_binomial},
    {"ring", COLLECTIVE_ALL_GATHER, true, false, true, ring_pieces, build_ring},
    {"bruck", COLLECTIVE_ALL_GATHER, false, false, true, piece_per_rank, build_bruck_gather},
    {"ring", REDUCE_SCATTER, true, false, true, ring_pieces, build_ring},
    {"ring", COLLECTIVE_BROADCAST, true, false, false, chain_pieces, build_chain},
    {"binomial", COLLECTIVE_BROADCAST, false, false, false, one_piece, build_binomial},
    {"ring", COLLECTIVE_REDUCE, true, false, false, chain_pieces, build_chain},
    {"binomial", COLLECTIVE_REDUCE, false, false, false, one_piece, build_binomial},
    {"linear", COLLECTIVE_ALL_TO_ALL, false, true, false, pair_pieces, build_linear_exchange},
    {"pairwise", COLLECTIVE_ALL_TO_ALL, false, false, false, pair_pieces, build_pairwise},
    {"bruck", COLLECTIVE_ALL_TO_ALL, false, false, false, pair_pieces, build_bruck_exchange},
    {"linear", COLLECTIVE_GATHER, false, true, false, piece_per_rank, build_linear_rooted},
    {"binomial", COLLECTIVE_GATHER, false, false, false, piece_per_rank, build_binomial_rooted},
    {"linear", COLLECTIVE_SCATTER, false, true, false, piece_per_rank, build_linear_rooted},
    {"binomial", COLLECTIVE_SCATTER, false, false, false, piece_per_rank, build_binomial_rooted},
    {"dissemination", COLLECTIVE_BARRIER, false, false, true, one_piece, build_dissemination},
    {"direct", COLLECTIVE_SEND_RECV, false, false, false, piece_per_rank, build_shift},
};
#define ALGORITHM_COUNT (int)(sizeof algorithms / sizeof *algorithms)

const Algorithm *algorithm_find(CollectiveOp op, const char *name) {
    for (int i = 0; i < ALGORITHM_COUNT; i++)
        if (algorithms[i].op == op && (!name || strcmp(algorithms[i].name, name) == 0)) return &algorithms[i];
    return NULL;
}

int algorithm_names(CollectiveOp op, const char **names, int room) {
    int count = 0;
    for (int i = 0; i < ALGORITHM_COUNT && count < room; i++)
        if (algorithms[i].op == op) names[count++] = algorithms[i].name;
    return count;
}
