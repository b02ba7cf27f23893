// Hierarchical all_reduce: reduce_scatter in each block, all_reduce between the ranks at the same place of all blocks
// (a ring per rail), all_gather in each block. Needs blocks of one size; else the whole is one block.
#include "models/network/messages/algorithm.h"

static bool even(const Party *party) {
    for (int b = 0; b < party->block_count; b++)
        if (block_size(party, b) != block_size(party, 0)) return false;
    return true;
}

static int inside(const Party *party) { return even(party) ? block_size(party, 0) : party->rank_count; }

// Parts by place in the block, each cut by block.
int hierarchical_pieces(const Party *party) { return party->rank_count; }

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

void build_hierarchical(Party *party) {
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
