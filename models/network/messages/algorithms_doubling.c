// Algorithms whose partner is twice as far away at each step: they take log2(n) steps.
#include "models/network/messages/algorithm.h"

static int largest_power(int number) {
    int power = 1;
    while (2 * power <= number) power *= 2;
    return power;
}

// ---- Ranks beyond the largest power of two lend their pieces to a rank below it, and get the sums back.
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

void build_recursive_doubling(Party *party) {
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

int halving_pieces(const Party *party) { return largest_power(party->rank_count); }

// Reduce-scatter by halving, the farthest partner first, then all-gather by doubling back (Rabenseifner, 2004).
void build_halving_doubling(Party *party) {
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

// ---- Bruck: a rank sends its data to the rank `far` places below, which then has twice as much (1997).
static const int32_t *wrapped(Party *party, int first, int count) {
    int32_t *pieces = ARENA_ARRAY(party->arena, int32_t, count);
    for (int i = 0; i < count; i++) pieces[i] = (first + i) % party->rank_count;
    return pieces;
}

void build_bruck_gather(Party *party) {
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
void build_dissemination(Party *party) {
    int n = party->rank_count;
    Lane *lane = new_lane(party);
    for (int far = 1; far < n; far *= 2) {
        FlowStep *step = new_step(party, lane, (party->rank + far) % n, (party->rank + n - far) % n);
        send_pieces(party, step, 0, 1);
        receive_pieces(party, step, 0, 1, true);
    }
}
