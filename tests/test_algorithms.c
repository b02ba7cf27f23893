// Algorithms of collectives, by symbols: a slow machine passes sets of contributions around, and at the end every rank
// must hold exactly what its operation promises.
#include "models/network/messages/algorithm.h"
#include "sim/base/list.h"
#include "tests/test.h"

#define MOST_RANKS 17

typedef struct Message {
    int from, to, tag, count;
    const int32_t *pieces; // as the sender numbers them
    uint32_t *sets;
    bool taken;
} Message;

typedef struct Machine {
    Arena *arena;
    const Algorithm *algorithm;
    int rank_count, root, piece_count;
    Party parties[MOST_RANKS];
    uint32_t *held[MOST_RANKS]; // [piece] whose contributions are in it
    struct {
        Message *items;
        int count, room;
    } messages;
    bool counted_twice, misplaced;
} Machine;

static uint32_t everyone(int n) { return (uint32_t)((UINT64_C(1) << n) - 1); }

static uint32_t at_first(const Machine *m, int rank, int piece) {
    uint32_t own = UINT32_C(1) << rank;
    switch (m->algorithm->op) {
    case COLLECTIVE_ALL_GATHER: // a piece of a ring is its owner's: ring * rank_count + owner
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SEND_RECV:
        return piece % m->rank_count == rank ? own : 0;
    case COLLECTIVE_SCATTER:
    case COLLECTIVE_BROADCAST:
        return rank == m->root ? own : 0;
    case COLLECTIVE_ALL_TO_ALL:
        return piece / m->rank_count == rank ? own : 0;
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_OP_COUNT:
        break;
    }
    return own;
}

// What a rank must hold of a piece at the end; false: whatever it likes.
static bool promised(const Machine *m, int rank, int piece, uint32_t *set) {
    int n = m->rank_count;
    switch (m->algorithm->op) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_BARRIER:
        return *set = everyone(n), true;
    case COLLECTIVE_REDUCE:
        return *set = everyone(n), rank == m->root;
    case COLLECTIVE_REDUCE_SCATTER:
        return *set = everyone(n), piece % n == rank;
    case COLLECTIVE_BROADCAST:
        return *set = UINT32_C(1) << m->root, true;
    case COLLECTIVE_SCATTER:
        return *set = UINT32_C(1) << m->root, piece == rank;
    case COLLECTIVE_ALL_GATHER:
        return *set = UINT32_C(1) << piece % n, true;
    case COLLECTIVE_GATHER:
        return *set = UINT32_C(1) << piece, rank == m->root;
    case COLLECTIVE_ALL_TO_ALL:
        return *set = UINT32_C(1) << piece / n, piece % n == rank;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_OP_COUNT: // a shift
        break;
    }
    return *set = UINT32_C(1) << piece, piece == (rank + n - 1) % n;
}

static void send(Machine *m, int rank, const FlowStep *step) {
    Message message = {rank, step->to, step->tag, step->send_count, step->send, NULL, false};
    message.sets = ARENA_ARRAY(m->arena, uint32_t, step->send_count);
    for (int i = 0; i < step->send_count; i++) message.sets[i] = m->held[rank][step->send[i]];
    LIST_PUSH(m->arena, &m->messages, message);
}

static bool receive(Machine *m, int rank, const FlowStep *step) {
    Message *message = NULL;
    for (int i = 0; i < m->messages.count && !message; i++) {
        Message *any = &m->messages.items[i];
        if (!any->taken && any->from == step->from && any->to == rank && any->tag == step->tag) message = any;
    }
    if (!message) return false;
    message->taken = true;
    if (message->count != step->receive_count) m->misplaced = true;
    for (int i = 0; i < message->count && !m->misplaced; i++) {
        uint32_t *held = &m->held[rank][step->receive[i]];
        m->misplaced = m->misplaced || message->pieces[i] != step->receive[i];
        bool twice = step->add && (*held & message->sets[i]) != 0 && m->algorithm->op != COLLECTIVE_BARRIER;
        m->counted_twice = m->counted_twice || twice;
        *held = (step->add ? *held : 0) | message->sets[i];
    }
    return true;
}

static bool run_lane(Machine *m, int rank, const Lane *lane, int *at, bool *has_sent) {
    bool moved = false;
    for (; *at < lane->count; (*at)++, *has_sent = false, moved = true) {
        const FlowStep *step = &lane->items[*at];
        if (step->to >= 0 && !*has_sent) send(m, rank, step), moved = true;
        *has_sent = true;
        if (step->from >= 0 && !receive(m, rank, step)) break;
    }
    return moved;
}

// Whether all came to an end and nothing was left over.
static bool run(Machine *m) {
    int *at[MOST_RANKS];
    bool *has_sent[MOST_RANKS], moved = true, done = true;
    for (int rank = 0; rank < m->rank_count; rank++) {
        at[rank] = ARENA_ARRAY(m->arena, int, m->parties[rank].lanes.count);
        has_sent[rank] = ARENA_ARRAY(m->arena, bool, m->parties[rank].lanes.count);
    }
    while (moved) {
        moved = false;
        for (int rank = 0; rank < m->rank_count; rank++)
            for (int l = 0; l < m->parties[rank].lanes.count; l++)
                moved |= run_lane(m, rank, &m->parties[rank].lanes.items[l], &at[rank][l], &has_sent[rank][l]);
    }
    for (int rank = 0; rank < m->rank_count; rank++)
        for (int l = 0; l < m->parties[rank].lanes.count; l++)
            done = done && at[rank][l] == m->parties[rank].lanes.items[l].count;
    for (int i = 0; i < m->messages.count; i++) done = done && m->messages.items[i].taken;
    return done;
}

static const char *fault(Machine *m) {
    if (!run(m)) return "does not end";
    if (m->misplaced) return "a piece arrives as another one";
    if (m->counted_twice) return "a contribution is added twice";
    for (int rank = 0; rank < m->rank_count; rank++)
        for (int piece = 0; piece < m->piece_count; piece++) {
            uint32_t set;
            if (promised(m, rank, piece, &set) && m->held[rank][piece] != set) return "not what was promised";
        }
    return NULL;
}

static int cut_places(int n, int block, int *starts) {
    int count = 0;
    for (int first = 0; first < n; first += block) starts[count++] = first;
    starts[count] = n;
    return count;
}

static void check(const Algorithm *algorithm, int n, int root, int block, int chunks, int ways) {
    Arena *arena = arena_open();
    Machine m = {.arena = arena, .algorithm = algorithm, .rank_count = n, .root = root};
    int starts[MOST_RANKS + 1], blocks = cut_places(n, block, starts);
    Party party = {.arena = arena,
                   .op = algorithm->op,
                   .rank_count = n,
                   .root = root,
                   .starts = starts,
                   .block_count = blocks,
                   .smallest_block = n - starts[blocks - 1],
                   .ways = ways,
                   .chunks = chunks};
    m.piece_count = algorithm->pieces(&party);
    int32_t *numbers = ARENA_ARRAY(arena, int32_t, m.piece_count);
    for (int i = 0; i < m.piece_count; i++) numbers[i] = i;
    party.numbers = numbers;
    for (int rank = 0; rank < n; rank++) {
        m.parties[rank] = party;
        m.parties[rank].rank = rank;
        algorithm->build(&m.parties[rank]);
        m.held[rank] = ARENA_ARRAY(arena, uint32_t, m.piece_count);
        for (int piece = 0; piece < m.piece_count; piece++) m.held[rank][piece] = at_first(&m, rank, piece);
    }
    const char *wrong = fault(&m);
    if (wrong)
        test_fail(__FILE__, __LINE__, "%s by %s among %d in blocks of %d, root %d, %d chunks, %d ways: %s",
                  collective_op_name(algorithm->op), algorithm->name, n, block, root, chunks, ways, wrong);
    arena_close(arena);
}

static const Algorithm *algorithm_number(CollectiveOp op, int number) {
    const char *names[16];
    return number < algorithm_names(op, names, 16) ? algorithm_find(op, names[number]) : NULL;
}

TEST(after_every_algorithm_each_rank_holds_exactly_what_the_operation_promises) {
    int algorithms = 0;
    for (int op = 0; op < COLLECTIVE_OP_COUNT; op++) {
        const Algorithm *algorithm;
        EXPECT(algorithm_find((CollectiveOp)op, NULL) != NULL);
        for (int number = 0; (algorithm = algorithm_number((CollectiveOp)op, number)); number++) {
            algorithms++;
            for (int n = 1; n <= MOST_RANKS; n++)
                for (int block = 1; block <= 8; block = block == 1 ? 3 : block == 3 ? 4 : 2 * block)
                    check(algorithm, n, (n * 5 / 7 + block) % n, block, 1 + block % 3, 1 + block / 8);
        }
    }
    EXPECT_INT(algorithms, 23);
}

// The check can fail: a step too few, a sum made twice.
TEST(the_check_of_algorithms_sees_what_is_missing_or_doubled) {
    for (int fault_kind = 0; fault_kind < 2; fault_kind++) {
        Arena *arena = arena_open();
        const Algorithm *algorithm = algorithm_find(COLLECTIVE_ALL_REDUCE, "recursive_doubling");
        Machine m = {.arena = arena, .algorithm = algorithm, .rank_count = 4, .piece_count = 1};
        static const int starts[] = {0, 4};
        static const int32_t numbers[] = {0};
        for (int rank = 0; rank < 4; rank++) {
            m.parties[rank] = (Party){.arena = arena,
                                      .op = algorithm->op,
                                      .rank = rank,
                                      .rank_count = 4,
                                      .starts = starts,
                                      .block_count = 1,
                                      .smallest_block = 4,
                                      .numbers = numbers,
                                      .ways = 1,
                                      .chunks = 1};
            algorithm->build(&m.parties[rank]);
            Lane *lane = &m.parties[rank].lanes.items[0];
            EXPECT_INT(lane->count, 2);
            if (fault_kind == 0) lane->count = 1;
            if (fault_kind == 1) LIST_PUSH(arena, lane, lane->items[1]);
            m.held[rank] = ARENA_ARRAY(arena, uint32_t, 1);
            m.held[rank][0] = UINT32_C(1) << rank;
        }
        const char *wrong = fault(&m);
        EXPECT_TEXT(wrong, fault_kind == 0 ? "not what was promised" : "a contribution is added twice");
        arena_close(arena);
    }
}
