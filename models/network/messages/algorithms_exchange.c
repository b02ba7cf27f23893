// Direct exchanges: all-to-all, and all to or from one rank.
#include "models/network/messages/algorithm.h"

#include "sim/base/list.h"

int pair_pieces(const Party *party) { return party->rank_count * party->rank_count; }

// Each step another distance: all send to the rank so far above while they receive from the one so far below.
void build_pairwise(Party *party) {
    int n = party->rank_count;
    Lane *lane = new_lane(party);
    for (int k = 1; k < n; k++) {
        int to = (party->rank + k) % n, from = (party->rank + n - k) % n;
        FlowStep *step = new_step(party, lane, to, from);
        send_pieces(party, step, party->rank * n + to, 1);
        receive_pieces(party, step, from * n + party->rank, 1, false);
    }
}

// All messages at once.
void build_linear_exchange(Party *party) {
    int n = party->rank_count;
    for (int k = 1; k < n; k++) {
        int to = (party->rank + k) % n, from = (party->rank + n - k) % n;
        FlowStep *step = new_step(party, new_lane(party), to, from);
        send_pieces(party, step, party->rank * n + to, 1);
        receive_pieces(party, step, from * n + party->rank, 1, false);
    }
}

// What has to go k places up goes on by the powers of two in k, together with all else that takes that leap.
static const int32_t *leaping(Party *party, int at, int leap, int *count) {
    int n = party->rank_count;
    struct {
        int32_t *items;
        int count, room;
    } pieces = {0};
    for (int k = leap; k < n; k++) { // from those that started k - (remaining distance) places below
        if (!(k & leap)) continue;
        int from = (at - (k & (leap - 1)) + n) % n;
        LIST_PUSH(party->arena, &pieces, from * n + (from + k) % n);
    }
    *count = pieces.count;
    return pieces.items;
}

void build_bruck_exchange(Party *party) {
    int n = party->rank_count;
    Lane *lane = new_lane(party);
    for (int leap = 1; leap < n; leap *= 2) {
        int below = (party->rank + n - leap) % n;
        FlowStep *step = new_step(party, lane, (party->rank + leap) % n, below);
        step->send = leaping(party, party->rank, leap, &step->send_count);
        step->receive = leaping(party, below, leap, &step->receive_count);
    }
}

// ---- To and from the root.
static void pass(Party *party, Lane *lane, int peer, bool sends, int first, int count) {
    FlowStep *step = new_step(party, lane, sends ? peer : -1, sends ? -1 : peer);
    int n = party->rank_count;
    int32_t *pieces = ARENA_ARRAY(party->arena, int32_t, count);
    for (int i = 0; i < count; i++) pieces[i] = (first + i) % n;
    if (sends)
        step->send = pieces, step->send_count = count;
    else
        step->receive = pieces, step->receive_count = count;
}

void build_linear_rooted(Party *party) {
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

void build_binomial_rooted(Party *party) {
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
