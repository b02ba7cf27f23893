// The critical path of a run: it has no gaps, ends with the run, and costs the run nothing.
#include "sim/fold.h"
#include "sim/run.h"
#include "tests/systems.h"
#include "tests/test.h"

static const char *const causes[] = {"work", "transfer", "other"};
static const Label labels[] = {{"", NULL, 0}};

static Op work(SimTime time) { return (Op){.kind = OP_WORK, .time = time}; }
static Op transfer(int slot, int plan) {
    return (Op){.kind = OP_TRANSFER, .cause = 1, .slot = (uint16_t)slot, .id = plan};
}

// Actor 0 comes to the meeting after 1000, actor 1 after `late`, by way of a stream beside.
static RunResult meeting(Arena *arena, SimTime beside, SimTime after) {
    LinkUse use = {0, 1.5};
    Plan plan = {.latency = 1000000, .bytes = 1e6, .fairness = 1, .uses = &use, .use_count = 1};
    Channel channel = {.plans = &plan, .plan_count = 1, .member_count = 2};
    Link link = {"wire", 1e9};
    Op early[] = {work(1000), transfer(0, 0)};
    Op late[] = {work(300), {.kind = OP_WAIT, .cause = 2, .id = 0}, transfer(0, 0), work(after)};
    Op marked[] = {work(beside), {.kind = OP_RECORD, .id = 0}};
    Stream streams[] = {{"main", early, 2}, {"main", late, 4}, {"beside", marked, 2}};
    Program programs[] = {{.streams = &streams[0], .stream_count = 1, .slot_count = 1},
                          {.streams = &streams[1], .stream_count = 2, .slot_count = 1, .mark_count = 1}};
    int32_t slots[] = {0};
    Actor actors[] = {{0, slots, 1, 0, 1}, {1, slots, 1, 0, 1}};
    System system = {.programs = programs,
                     .program_count = 2,
                     .actors = actors,
                     .actor_count = 2,
                     .channels = &channel,
                     .channel_count = 1,
                     .links = &link,
                     .link_count = 1,
                     .causes = causes,
                     .cause_count = 3,
                     .labels = labels,
                     .label_count = 1};
    return run_system(arena, &system, &(RunOptions){.chain = true});
}

TEST(the_chain_goes_through_whoever_came_last_and_says_by_how_much) {
    Arena *arena = arena_open();
    RunResult result = meeting(arena, 5000, 7);
    EXPECT_INT(result.chain_count, 3);
    const ChainPiece *chain = result.chain;
    EXPECT_INT(chain[0].actor, 1); // the stream beside came after its main stream's 300 and actor 0's 1000
    EXPECT_INT(chain[0].stream, 1);
    EXPECT_INT(chain[0].end, 5000);
    EXPECT_INT(chain[0].slack, 4000); // then actor 0 is last
    EXPECT_INT(chain[1].kind, OP_TRANSFER);
    EXPECT_INT(chain[1].latency, 1000000);
    EXPECT_INT(chain[1].flow, 1500000000);
    EXPECT_INT(chain[1].end, 5000 + 1000000 + 1500000000);
    EXPECT_INT(chain[1].slack, 1000000 + 1500000000); // nothing else could be last
    EXPECT_INT(chain[2].end, result.end);
    arena_close(arena);
}

TEST(a_piece_shorter_by_its_slack_ends_the_run_so_much_earlier_and_no_further) {
    Arena *arena = arena_open();
    SimTime slack = meeting(arena, 5000, 7).chain[0].slack, whole = meeting(arena, 5000, 7).end;
    EXPECT_INT(whole - meeting(arena, 5000 - slack, 7).end, slack);
    EXPECT_INT(whole - meeting(arena, 5000 - slack - 500, 7).end, slack);
    arena_close(arena);
}

static void expect_whole(const RunResult *result, const RunResult *plain, const System *system) {
    EXPECT_INT(result->end, plain->end);
    EXPECT_SAME(result->digest, plain->digest);
    SimTime at = 0;
    for (int64_t i = 0; i < result->chain_count; i++) {
        const ChainPiece *piece = &result->chain[i];
        EXPECT_INT(piece->start, at);
        EXPECT(piece->end >= piece->start);
        EXPECT(piece->latency >= 0 && piece->flow >= 0);
        EXPECT(piece->latency + piece->flow <= piece->end - piece->start);
        EXPECT(piece->slack >= 0 && piece->slack <= piece->end - piece->start);
        EXPECT((piece->kind == OP_TRANSFER) == (piece->channel >= 0));
        EXPECT(piece->cause < system->cause_count);
        at = piece->end;
    }
    EXPECT_INT(at, plain->end);
}

static void check_system(Arena *arena, const System *system, bool uncontended) {
    RunOptions options = {.seed = 1, .uncontended = uncontended}, chained = options;
    chained.chain = true;
    RunResult plain = run_system(arena, system, &options);
    if (plain.deadlocked_count || plain.beyond_clock) return;
    RunResult result = run_system(arena, system, &chained);
    expect_whole(&result, &plain, system);
}

TEST(the_chain_has_no_gaps_and_moves_nothing_on_random_systems) {
    FOR_SEEDS (seed, 1, 150) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        check_system(arena, system, false);
        check_system(arena, system, true);
        check_system(arena, with_routines(arena, system, seed), false);
        check_system(arena, beside_system(arena, seed, seed % 2), false);
        Folded folded = fold_system(arena, system);
        check_system(arena, &folded.system, false);
        arena_close(arena);
    }
}

TEST(the_chain_through_routines_is_that_through_their_operations) {
    FOR_SEEDS (seed, 1, 300) {
        Arena *arena = arena_open();
        System flat = fold_system(arena, random_system(arena, seed)).system;
        const RunOptions options = {.chain = true};
        RunResult one = run_system(arena, &flat, &options),
                  other = run_system(arena, with_routines(arena, &flat, seed), &options);
        EXPECT_INT(other.chain_count, one.chain_count);
        for (int64_t i = 0; i < one.chain_count && one.chain_count == other.chain_count; i++) {
            EXPECT_INT(other.chain[i].end, one.chain[i].end);
            EXPECT_INT(other.chain[i].slack, one.chain[i].slack);
            EXPECT_INT(other.chain[i].label, one.chain[i].label);
            EXPECT_INT(other.chain[i].actor, one.chain[i].actor);
            EXPECT_INT(other.chain[i].plan, one.chain[i].plan);
        }
        arena_close(arena);
    }
}

TEST(a_chain_alone_on_its_links_has_no_time_of_sharing) {
    FOR_SEEDS (seed, 1, 60) {
        Arena *arena = arena_open();
        const System *system = random_system(arena, seed);
        RunResult result = run_system(arena, system, &(RunOptions){.seed = 1, .chain = true, .uncontended = true});
        for (int64_t i = 0; i < result.chain_count; i++) {
            const ChainPiece *piece = &result.chain[i];
            if (piece->kind == OP_TRANSFER) EXPECT_INT(piece->latency + piece->flow, piece->end - piece->start);
        }
        arena_close(arena);
    }
}
