#include "calibrate/tcp/netbench.h"

#include <string.h>

#include "models/network/messages/algorithm.h"
#include "sim/base/check.h"
#include "sim/base/list.h"

static const struct {
    const char *name;
    CollectiveOp op;
    const char *algorithm; // NULL: ping-pong
} ops[BENCH_OP_COUNT] = {
    [BENCH_PING_PONG] = {"ping_pong", COLLECTIVE_SEND_RECV, NULL},
    [BENCH_RING] = {"ring_all_reduce", COLLECTIVE_ALL_REDUCE, "ring"},
    [BENCH_TREE] = {"tree_all_reduce", COLLECTIVE_ALL_REDUCE, "binomial"},
    [BENCH_RECURSIVE_DOUBLING] = {"doubling_all_reduce", COLLECTIVE_ALL_REDUCE, "recursive_doubling"},
    [BENCH_ALL_TO_ALL] = {"all_to_all", COLLECTIVE_ALL_TO_ALL, "pairwise"},
    [BENCH_BROADCAST] = {"broadcast", COLLECTIVE_BROADCAST, "binomial"},
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

int64_t piece_start(int64_t bytes, int index, int count) { return bytes / 4 * index / count * 4; }

static int64_t pieces_bytes(int64_t bytes, const int32_t *pieces, int used, int count) {
    return used ? piece_start(bytes, pieces[0] + used, count) - piece_start(bytes, pieces[0], count) : 0;
}

// Pieces of one message follow each other.
static Step step_of(const FlowStep *flow, int64_t bytes, int pieces) {
    Step step = {.to = flow->to, .from = flow->from, .add = flow->add};
    step.send_bytes = pieces_bytes(bytes, flow->send, flow->send_count, pieces);
    step.receive_bytes = pieces_bytes(bytes, flow->receive, flow->receive_count, pieces);
    if (flow->send_count) step.send_at = piece_start(bytes, flow->send[0], pieces);
    if (flow->receive_count) step.receive_at = piece_start(bytes, flow->receive[0], pieces);
    return step;
}

// Pieces are from * n + to: data for a rank are at its place, data from one after all data to send.
static Step exchange_step(const FlowStep *flow, int64_t bytes, int n, int rank) {
    const int32_t mine[] = {rank}, theirs[] = {flow->to};
    Step step = {.to = flow->to, .from = flow->from, .send_at = piece_start(bytes, flow->to, n)};
    step.send_bytes = pieces_bytes(bytes, theirs, 1, n);
    step.receive_bytes = pieces_bytes(bytes, mine, 1, n);
    step.receive_at = bytes + step.receive_bytes * flow->from;
    return step;
}

static Schedule ping_pong(Arena *arena, int rank, int64_t bytes) {
    Schedule steps = {0};
    Step send = {.to = 1 - rank, .from = -1, .send_bytes = bytes},
         receive = {.to = -1, .from = 1 - rank, .receive_bytes = bytes};
    if (rank > 1) return steps;
    LIST_PUSH(arena, &steps, rank == 0 ? send : receive);
    LIST_PUSH(arena, &steps, rank == 0 ? receive : send);
    return steps;
}

Schedule schedule_create(Arena *arena, BenchOp op, int rank, int rank_count, int64_t bytes) {
    CHECK(rank_count >= 2 && rank >= 0 && rank < rank_count && bytes % 4 == 0);
    if (!ops[op].algorithm) return ping_pong(arena, rank, bytes);
    const Algorithm *algorithm = algorithm_find(ops[op].op, ops[op].algorithm);
    Schedule steps = {0};
    int *starts = ARENA_ARRAY(arena, int, rank_count + 1); // every host is on its own
    for (int i = 0; i <= rank_count; i++) starts[i] = i;
    Party party = {.arena = arena,
                   .op = ops[op].op,
                   .rank = rank,
                   .rank_count = rank_count,
                   .starts = starts,
                   .block_count = rank_count,
                   .smallest_block = 1,
                   .ways = 1,
                   .chunks = 1};
    int pieces = algorithm->pieces(&party);
    int32_t *numbers = ARENA_ARRAY(arena, int32_t, pieces);
    for (int i = 0; i < pieces; i++) numbers[i] = i;
    party.numbers = numbers;
    algorithm->build(&party);
    CHECK(party.lanes.count == 1);
    const Lane *lane = &party.lanes.items[0];
    for (int s = 0; s < lane->count; s++) {
        bool exchange = op == BENCH_ALL_TO_ALL;
        LIST_PUSH(arena, &steps,
                  exchange ? exchange_step(&lane->items[s], bytes, rank_count, rank)
                           : step_of(&lane->items[s], bytes, pieces));
    }
    return steps;
}
