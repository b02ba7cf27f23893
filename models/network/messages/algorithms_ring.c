// Rings and chains, as NCCL lays them: one for each rank of the smallest block, each entering and leaving blocks by
// another rank, so that all NICs work. A ring that leaves a block by one rank enters the next by the rank at the same
// place (alternating rings), so that it stays on its rail.
#include "models/network/messages/algorithm.h"

// One ring is enough where no NIC is used; else one for each rank of a block and each of its NICs.
static int ring_count(const Party *party) {
    if (party->order_count) return party->order_count;
    return party->block_count > 1 ? smallest_block(party) * party->ways : 1;
}

int ring_pieces(const Party *party) { return party->rank_count * ring_count(party); }
int chain_pieces(const Party *party) { return party->chunks * ring_count(party); }

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
    int way = ring / smallest_block(party);
    Lane *lane = new_lane(party);
    for (int k = first; k < (party->outline ? first + 1 : last); k++) {
        FlowStep *step = new_step(party, lane, next, before);
        step->tag = ring;
        step->way = way;
        if (party->outline) step->times = last - first;
        send_pieces(party, step, piece_at(party, ring, at - 1 - k + 2 * n), 1);
        receive_pieces(party, step, piece_at(party, ring, at - 2 - k + 2 * n), 1, k < n - 1);
    }
}

void build_ring(Party *party) {
    if (party->rank_count < 2) return;
    const int *order = rings_in_turn(party);
    for (int turn = 0; turn < ring_count(party); turn++) add_ring(party, order[turn]);
}

// Chunk after chunk from the root round to the last, or from there back to the root.
static void add_chain(Party *party, int ring) {
    int n = party->rank_count, root = position_of(party, ring, party->root);
    int at = (position_of(party, ring, party->rank) - root + n) % n;
    bool reduce = party->op == COLLECTIVE_REDUCE;
    int up = at == 0 ? -1 : rank_at(party, ring, (at - 1 + root) % n);
    int down = at == n - 1 ? -1 : rank_at(party, ring, (at + 1 + root) % n);
    int from = reduce ? down : up, to = reduce ? up : down;
    int way = ring / smallest_block(party);
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

void build_chain(Party *party) {
    if (party->rank_count < 2) return;
    const int *order = rings_in_turn(party);
    for (int turn = 0; turn < ring_count(party); turn++) add_chain(party, order[turn]);
}

// Everyone to the next, the last to the first, all at once.
void build_shift(Party *party) {
    int n = party->rank_count;
    if (n < 2) return;
    FlowStep *step = new_step(party, new_lane(party), (party->rank + 1) % n, (party->rank + n - 1) % n);
    send_pieces(party, step, party->rank, 1);
    receive_pieces(party, step, (party->rank + n - 1) % n, 1, false);
}
