// The table of algorithms, and functions shared by their files.
#include "models/network/messages/algorithm.h"

#include <string.h>

#include "sim/base/check.h"
#include "sim/base/list.h"

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

int one_piece(const Party *party) {
    (void)party;
    return 1;
}
int piece_per_rank(const Party *party) { return party->rank_count; }

Lane *new_lane(Party *party) {
    LIST_PUSH(party->arena, &party->lanes, (Lane){0});
    return &party->lanes.items[party->lanes.count - 1];
}

FlowStep *new_step(Party *party, Lane *lane, int to, int from) {
    CHECK(to != party->rank && from != party->rank);
    LIST_PUSH(party->arena, lane, ((FlowStep){.to = to, .from = from, .times = 1}));
    return &lane->items[lane->count - 1];
}

void send_pieces(const Party *party, FlowStep *step, int first, int count) {
    step->send = party->numbers + first;
    step->send_count = count;
}

void receive_pieces(const Party *party, FlowStep *step, int first, int count, bool add) {
    step->receive = party->numbers + first;
    step->receive_count = count;
    step->add = add;
}

int block_of(const Party *party, int rank) {
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

int smallest_block(const Party *party) {
    int least = block_size(party, 0);
    for (int b = 1; b < party->block_count; b++)
        if (block_size(party, b) < least) least = block_size(party, b);
    return least;
}
