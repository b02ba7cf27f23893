#include "calibrate/schedule.h"

#include <string.h>

#include "sim/check.h"
#include "sim/list.h"

typedef struct Place { // what a schedule is made for
    Arena *arena;
    Schedule *steps;
    int rank, rank_count;
    int64_t bytes;
} Place;

static void push(const Place *place, Step step) { LIST_PUSH(place->arena, place->steps, step); }

static void send_whole(const Place *place, int to) {
    push(place, (Step){.to = to, .from = -1, .send_bytes = place->bytes});
}

static void receive_whole(const Place *place, int from, bool add) {
    push(place, (Step){.to = -1, .from = from, .receive_bytes = place->bytes, .add = add});
}

int64_t piece_start(int64_t bytes, int index, int count) { return bytes / 4 * index / count * 4; }

static int64_t piece_bytes(int64_t bytes, int index, int count) {
    return piece_start(bytes, index + 1, count) - piece_start(bytes, index, count);
}

static void ping_pong(const Place *place) {
    if (place->rank == 0) send_whole(place, 1), receive_whole(place, 1, false);
    if (place->rank == 1) receive_whole(place, 0, false), send_whole(place, 0);
}

// n-1 steps gather sums of one piece each, n-1 more hand them round (Patarasuk and Yuan, 2009).
static void ring(const Place *place) {
    int n = place->rank_count, next = (place->rank + 1) % n, before = (place->rank + n - 1) % n;
    for (int k = 0; k < 2 * (n - 1); k++) {
        int sent = (place->rank + 2 * n - k) % n, received = (sent + n - 1) % n;
        push(place, (Step){.to = next,
                           .from = before,
                           .send_at = piece_start(place->bytes, sent, n),
                           .send_bytes = piece_bytes(place->bytes, sent, n),
                           .receive_at = piece_start(place->bytes, received, n),
                           .receive_bytes = piece_bytes(place->bytes, received, n),
                           .add = k < n - 1});
    }
}

// A rank hangs below the one that lacks its lowest set bit.
static void tree_reduce(const Place *place) {
    for (int bit = 1; bit < place->rank_count; bit *= 2) {
        if (place->rank & bit) {
            send_whole(place, place->rank - bit);
            return;
        }
        if (place->rank + bit < place->rank_count) receive_whole(place, place->rank + bit, true);
    }
}

// The farthest child first: it has the most ranks below it.
static void broadcast(const Place *place) {
    int bit = 1;
    while (bit < place->rank_count && !(place->rank & bit)) bit *= 2;
    if (place->rank > 0) receive_whole(place, place->rank - bit, false);
    for (bit /= 2; bit > 0; bit /= 2)
        if (place->rank + bit < place->rank_count) send_whole(place, place->rank + bit);
}

static void exchange_whole(const Place *place, int with) {
    push(place,
         (Step){.to = with, .from = with, .send_bytes = place->bytes, .receive_bytes = place->bytes, .add = true});
}

// Ranks beyond the largest power of two lend theirs to a rank below it, and get the sum back.
static void recursive_doubling(const Place *place) {
    int power = 1;
    while (2 * power <= place->rank_count) power *= 2;
    if (place->rank >= power) {
        send_whole(place, place->rank - power);
        receive_whole(place, place->rank - power, false);
        return;
    }
    bool has_guest = place->rank + power < place->rank_count;
    if (has_guest) receive_whole(place, place->rank + power, true);
    for (int bit = 1; bit < power; bit *= 2) exchange_whole(place, place->rank ^ bit);
    if (has_guest) send_whole(place, place->rank + power);
}

static void all_to_all(const Place *place) {
    int n = place->rank_count;
    for (int k = 1; k < n; k++) {
        int to = (place->rank + k) % n, from = (place->rank + n - k) % n;
        int64_t mine = piece_bytes(place->bytes, place->rank, n);
        push(place, (Step){.to = to,
                           .from = from,
                           .send_at = piece_start(place->bytes, to, n),
                           .send_bytes = piece_bytes(place->bytes, to, n),
                           .receive_at = place->bytes + mine * from,
                           .receive_bytes = mine});
    }
}

static const struct {
    const char *name;
    void (*build)(const Place *place);
} ops[BENCH_OP_COUNT] = {
    [BENCH_PING_PONG] = {"ping_pong", ping_pong},
    [BENCH_RING] = {"ring_all_reduce", ring},
    [BENCH_TREE] = {"tree_all_reduce", NULL}, // two of them
    [BENCH_RECURSIVE_DOUBLING] = {"doubling_all_reduce", recursive_doubling},
    [BENCH_ALL_TO_ALL] = {"all_to_all", all_to_all},
    [BENCH_BROADCAST] = {"broadcast", broadcast},
};

const char *bench_op_name(BenchOp op) { return ops[op].name; }

bool bench_op_from_name(const char *name, BenchOp *op) {
    for (int i = 0; i < BENCH_OP_COUNT; i++) {
        if (strcmp(name, ops[i].name) != 0) continue;
        *op = (BenchOp)i;
        return true;
    }
    return false;
}

double bench_bus_factor(BenchOp op, int rank_count) {
    double n = rank_count;
    if (op == BENCH_ALL_TO_ALL) return (n - 1) / n;
    if (op == BENCH_PING_PONG || op == BENCH_BROADCAST) return 1;
    return 2 * (n - 1) / n;
}

Schedule schedule_create(Arena *arena, BenchOp op, int rank, int rank_count, int64_t bytes) {
    CHECK(rank_count >= 2 && rank >= 0 && rank < rank_count && bytes % 4 == 0);
    Schedule steps = {0};
    Place place = {arena, &steps, rank, rank_count, bytes};
    if (op == BENCH_TREE) {
        tree_reduce(&place);
        broadcast(&place);
    } else {
        ops[op].build(&place);
    }
    return steps;
}
