#include "tests/systems.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/random.h"

enum { GROUP_CHANNEL, ALL_CHANNEL, OWN_CHANNEL, SLOTS };

// `replicas` groups of `width` actors. Slot 0: the group meets; slot 1: actors of equal rank in all groups meet;
// slot 2: each alone (storage). Links: one per actor, one per group, one for all.
typedef struct Shape {
    int replicas, width, plans, steps;
    RandomStream random;
} Shape;

static Op op(OpKind kind, int cause, int slot, int id, SimTime time) {
    return (Op){.kind = (uint8_t)kind, .cause = (uint8_t)cause, .slot = (uint16_t)slot, .id = id, .time = time};
}

static Plan plan(Arena *arena, Shape *shape, SimTime latency, double bytes, const int *links, int count,
                 double weight) {
    LinkUse *uses = ARENA_ARRAY(arena, LinkUse, count);
    for (int i = 0; i < count; i++) uses[i] = (LinkUse){links[i], weight_round(weight * (1 + i % 3))};
    double limit = random_below(&shape->random, 4) == 0 ? 3e9 : 0;
    return (Plan){
        .latency = latency, .bytes = bytes, .rate_limit = limit, .fairness = 1, .uses = uses, .use_count = count};
}

static Program program(Arena *arena, Shape *shape, int rank) {
    RandomStream random = random_stream(random_bits(&shape->random), "program", (uint64_t)rank);
    int count = shape->steps;
    Op *main_ops = ARENA_ARRAY(arena, Op, 4 * count), *side_ops = ARENA_ARRAY(arena, Op, 3 * count);
    int mains = 0, sides = 0;
    for (int i = 0; i < count; i++) {
        main_ops[mains++] = op(OP_WORK, 0, 0, 0, (SimTime)random_below(&random, 1000000000));
        main_ops[mains++] = op(OP_TRANSFER, 1, GROUP_CHANNEL, i % shape->plans, 0);
        main_ops[mains++] = op(OP_RECORD, 0, 0, i, 0);
        if (i % 2) main_ops[mains++] = op(OP_WAIT, 2, 0, count + i - 1, 0);
        side_ops[sides++] = op(OP_WAIT, 0, 0, i, 0);
        side_ops[sides++] = op(OP_TRANSFER, 2, i % 3 ? ALL_CHANNEL : OWN_CHANNEL, i % shape->plans, 0);
        side_ops[sides++] = op(OP_RECORD, 0, 0, count + i, 0);
    }
    Stream *streams = ARENA_ARRAY(arena, Stream, 2);
    streams[0] = (Stream){"main", main_ops, mains};
    streams[1] = (Stream){"side", side_ops, sides};
    return (Program){.streams = streams, .stream_count = 2, .mark_count = 2 * count, .slot_count = SLOTS};
}

const System *random_system(Arena *arena, uint64_t seed) {
    static const char *const causes[] = {"work", "near", "far"};
    static const Label labels[] = {{"", NULL, 0}};
    Shape shape = {.random = random_stream(seed, "shape", 0)};
    shape.replicas = 1 + (int)random_below(&shape.random, 6);
    shape.width = 1 + (int)random_below(&shape.random, 5);
    shape.plans = 1 + (int)random_below(&shape.random, 3);
    shape.steps = 2 + (int)random_below(&shape.random, 12);
    int actor_count = shape.replicas * shape.width, link_count = actor_count + shape.replicas + 1;
    int alike = (int)random_below(&shape.random, 2); // whether all ranks of a group run the same program

    System *system = ARENA_NEW(arena, System);
    Link *links = ARENA_ARRAY(arena, Link, link_count);
    for (int l = 0; l < link_count; l++)
        links[l] = (Link){"link", l < actor_count      ? 4e9
                                  : l < link_count - 1 ? 11e9
                                                       : 5e9 + 1e9 * (double)random_below(&shape.random, 30)};

    Program *programs = ARENA_ARRAY(arena, Program, shape.width);
    for (int r = 0; r < shape.width; r++) programs[r] = program(arena, &shape, r);

    int channel_count = shape.replicas + shape.width + actor_count;
    Channel *channels = ARENA_ARRAY(arena, Channel, channel_count);
    double bytes[3], weights[3];
    SimTime latencies[3];
    for (int p = 0; p < 3; p++) {
        bytes[p] = (double)random_below(&shape.random, 20000000);
        weights[p] = random_uniform(&shape.random) + 0.1;
        latencies[p] = (SimTime)random_below(&shape.random, 10000000);
    }
    int *ids = ARENA_ARRAY(arena, int, link_count);
    for (int c = 0; c < channel_count; c++) {
        Plan *plans = ARENA_ARRAY(arena, Plan, shape.plans);
        RandomStream limits = shape.random; // equal rate limits for equal channels
        int uses = 0, members = 1;
        if (c < shape.replicas) { // a group: its actors' links and its own
            for (int r = 0; r < shape.width; r++) ids[uses++] = c * shape.width + r;
            ids[uses++] = actor_count + c;
            members = shape.width;
        } else if (c < shape.replicas +
                           shape.width) { // a rank across groups: its actors' links, the groups', and the one for all
            for (int g = 0; g < shape.replicas; g++) ids[uses++] = g * shape.width + c - shape.replicas;
            for (int g = 0; g < shape.replicas; g++) ids[uses++] = actor_count + g;
            ids[uses++] = link_count - 1;
            members = shape.replicas;
        } else {
            ids[uses++] = link_count - 1;
        }
        Shape limited = shape;
        limited.random = limits;
        for (int p = 0; p < shape.plans; p++)
            plans[p] = plan(arena, &limited, latencies[p], bytes[p], ids, uses, weights[p]);
        channels[c] = (Channel){.plans = plans, .plan_count = shape.plans, .member_count = members};
    }
    Actor *actors = ARENA_ARRAY(arena, Actor, actor_count);
    for (int a = 0; a < actor_count; a++) {
        int32_t *slots = ARENA_ARRAY(arena, int32_t, SLOTS);
        slots[GROUP_CHANNEL] = a / shape.width;
        slots[ALL_CHANNEL] = shape.replicas + a % shape.width;
        slots[OWN_CHANNEL] = shape.replicas + shape.width + a;
        actors[a] =
            (Actor){.program = alike ? 0 : a % shape.width, .channels = slots, .slowness = 1, .multiplicity = 1};
    }
    if (random_below(&shape.random, 4) == 0) actors[random_below(&shape.random, (uint64_t)actor_count)].slowness = 1.25;
    *system = (System){.programs = programs,
                       .program_count = shape.width,
                       .actors = actors,
                       .actor_count = actor_count,
                       .channels = channels,
                       .channel_count = channel_count,
                       .links = links,
                       .link_count = link_count,
                       .causes = causes,
                       .cause_count = 3,
                       .labels = labels,
                       .label_count = 1};
    const char *wrong = system_check(arena, system);
    if (wrong) fprintf(stderr, "random system %llu: %s\n", (unsigned long long)seed, wrong);
    CHECK(!wrong);
    return system;
}

// Work and transfers from `at` on that have one label: at most `most` of them.
static int32_t alike_from(const Stream *stream, int64_t at, int32_t most) {
    int32_t count = 0;
    while (count < most && at + count < stream->count) {
        const Op *op = &stream->ops[at + count];
        if ((op->kind != OP_WORK && op->kind != OP_TRANSFER) || op->label != stream->ops[at].label) break;
        count++;
    }
    return count;
}

// Some runs of operations become routines; one that does the same as another is the same.
static int32_t routine_number(Routine *routines, int *count, const Op *ops, int32_t length) {
    for (int32_t r = 0; r < *count; r++)
        if (routines[r].count == length && memcmp(routines[r].ops, ops, (size_t)length * sizeof *ops) == 0) return r;
    routines[*count] = (Routine){ops, length};
    return (*count)++;
}

static Program program_with_routines(Arena *arena, const Program *flat, RandomStream *random) {
    Program made = *flat;
    int64_t total = 0;
    for (int s = 0; s < flat->stream_count; s++) total += flat->streams[s].count;
    Routine *routines = ARENA_ARRAY(arena, Routine, total);
    Stream *streams = ARENA_ARRAY(arena, Stream, flat->stream_count);
    for (int s = 0; s < flat->stream_count; s++) {
        const Stream *stream = &flat->streams[s];
        Op *ops = ARENA_ARRAY(arena, Op, stream->count);
        int64_t count = 0;
        for (int64_t i = 0; i < stream->count;) {
            int32_t length = alike_from(stream, i, (int32_t)random_below(random, 4));
            if (length == 0) {
                ops[count++] = stream->ops[i++];
                continue;
            }
            int32_t number = routine_number(routines, &made.routine_count, &stream->ops[i], length);
            ops[count++] = (Op){.kind = OP_ROUTINE, .id = number, .label = stream->ops[i].label};
            i += length;
        }
        streams[s] = (Stream){stream->name, ops, count};
    }
    made.streams = streams;
    made.routines = routines;
    return made;
}

const System *with_routines(Arena *arena, const System *flat, uint64_t seed) {
    System *system = ARENA_NEW(arena, System);
    *system = *flat;
    RandomStream random = random_stream(seed, "routines", 0);
    Program *programs = ARENA_ARRAY(arena, Program, flat->program_count);
    for (int p = 0; p < flat->program_count; p++)
        programs[p] = program_with_routines(arena, &flat->programs[p], &random);
    system->programs = programs;
    return system;
}

const System *with_jitter(Arena *arena, const System *plain, double sigma) {
    System *system = ARENA_NEW(arena, System);
    Actor *actors = ARENA_ARRAY(arena, Actor, plain->actor_count);
    *system = *plain;
    for (int a = 0; a < plain->actor_count; a++) {
        actors[a] = plain->actors[a];
        actors[a].jitter = sigma;
    }
    system->actors = actors;
    return system;
}

// ---- A stream that starts transfers beside itself and waits for them.

typedef struct Besides {
    Op ops[2][64]; // of one round: the main stream's, and those beside it
    int count[2];
} Besides;

enum { NEAR_CHANNEL, BESIDE_CHANNEL, MEETING_CHANNEL, BESIDE_SLOTS };

static void push(Besides *round, int stream, Op made) { round->ops[stream][round->count[stream]++] = made; }

// Marks from `first` on, or always the same two when they are taken.
static Besides besides(RandomStream random, int first, bool taken) {
    Besides round = {.count = {0}};
    int forks = 1 + (int)random_below(&random, 4);
    bool meanwhile = random_below(&random, 2); // the main stream transfers, too
    for (int f = 0; f < forks; f++) {
        int started = taken ? 0 : first + 2 * f, done = started + 1;
        OpKind wait = taken ? OP_TAKE : OP_WAIT;
        push(&round, 0, op(OP_WORK, 0, 0, 0, 1 + (SimTime)random_below(&random, 300000000)));
        push(&round, 0, op(OP_RECORD, 0, 0, started, 0));
        if (meanwhile) push(&round, 0, op(OP_TRANSFER, 1, NEAR_CHANNEL, 0, 0));
        push(&round, 0, op(OP_WORK, 0, 0, 0, 1 + (SimTime)random_below(&random, 300000000)));
        push(&round, 0, op(wait, 2, 0, done, 0));
        if (!meanwhile) push(&round, 0, op(OP_TRANSFER, 1, NEAR_CHANNEL, 0, 0));
        push(&round, 1, op(wait, 2, 0, started, 0));
        push(&round, 1, op(OP_TRANSFER, 2, random_below(&random, 8) ? BESIDE_CHANNEL : MEETING_CHANNEL, 0, 0));
        push(&round, 1, op(OP_RECORD, 0, 0, done, 0));
    }
    return round;
}

static Program beside_program(Arena *arena, uint64_t seed, int rounds, bool taken) {
    Stream *streams = ARENA_ARRAY(arena, Stream, 2);
    Routine *routines = ARENA_ARRAY(arena, Routine, 2);
    for (int s = 0; s < 2; s++) {
        Op *ops = ARENA_ARRAY(arena, Op, 64 * rounds);
        int count = 0;
        for (int r = 0; r < rounds; r++) {
            Besides round = besides(random_stream(seed, "besides", 0), 8 * r, taken);
            if (taken && r % 3) { // a routine, but for every third round
                Op *kept = ARENA_ARRAY(arena, Op, round.count[s]);
                memcpy(kept, round.ops[s], (size_t)round.count[s] * sizeof *kept);
                routines[s] = (Routine){kept, round.count[s]};
                ops[count++] = op(OP_ROUTINE, 0, 0, s, 0);
                continue;
            }
            memcpy(&ops[count], round.ops[s], (size_t)round.count[s] * sizeof *ops);
            count += round.count[s];
        }
        streams[s] = (Stream){s ? "beside" : "main", ops, count};
    }
    return (Program){.streams = streams,
                     .stream_count = 2,
                     .mark_count = 8 * rounds,
                     .slot_count = BESIDE_SLOTS,
                     .routines = routines,
                     .routine_count = taken && rounds > 1 ? 2 : 0};
}

const System *beside_system(Arena *arena, uint64_t seed, bool taken) {
    static const char *const causes[] = {"work", "near", "beside"};
    static const Label labels[] = {{"", NULL, 0}};
    RandomStream random = random_stream(seed, "beside system", 0);
    int actors = 1 + (int)random_below(&random, 4), rounds = 1 + (int)random_below(&random, 6);
    System *system = ARENA_NEW(arena, System);
    Link *links = ARENA_ARRAY(arena, Link, 2 * actors);
    Channel *channels = ARENA_ARRAY(arena, Channel, 2 * actors + 1);
    Actor *made = ARENA_ARRAY(arena, Actor, actors);
    LinkUse *all = ARENA_ARRAY(arena, LinkUse, actors);
    Program *programs = ARENA_ARRAY(arena, Program, actors);
    uint64_t same = random_below(&random, 2);
    bool ring = random_below(&random, 2);  // transfers beside use the next actor's link too
    bool apart = random_below(&random, 2); // from those of the main stream
    for (int a = 0; a < actors; a++) {
        links[a] = (Link){"link", 4e9};
        links[actors + a] = (Link){"link", 4e9};
        all[a] = (LinkUse){a, 1};
        for (int c = 0; c < 2; c++) {
            LinkUse *uses = ARENA_ARRAY(arena, LinkUse, 2);
            int first = c && apart ? actors : 0;
            uses[0] = (LinkUse){first + a, 1};
            uses[1] = (LinkUse){first + (a + 1) % actors, 0.5};
            Plan *one = ARENA_NEW(arena, Plan);
            *one = (Plan){.latency = 2000000, .bytes = 1e5 + 3e5 * (double)random_below(&random, 4), .fairness = 1};
            one->uses = uses;
            one->use_count = c && ring && actors > 1 ? 2 : 1;
            channels[2 * a + c] = (Channel){.plans = one, .plan_count = 1, .member_count = 1};
        }
        int32_t *slots = ARENA_ARRAY(arena, int32_t, BESIDE_SLOTS);
        slots[NEAR_CHANNEL] = 2 * a;
        slots[BESIDE_CHANNEL] = 2 * a + 1;
        slots[MEETING_CHANNEL] = 2 * actors;
        // Meetings come as often in all programs: they draw the same kinds, and differ by their link alone.
        programs[a] = beside_program(arena, seed, rounds, taken);
        made[a] = (Actor){.program = a, .channels = slots, .slowness = same ? 1 : 1 + 0.25 * a, .multiplicity = 1};
    }
    Plan *meeting = ARENA_NEW(arena, Plan);
    *meeting = (Plan){.latency = 1000000, .bytes = 2e5, .fairness = 1, .uses = all, .use_count = actors};
    channels[2 * actors] = (Channel){.plans = meeting, .plan_count = 1, .member_count = actors};
    *system = (System){.programs = programs,
                       .program_count = actors,
                       .actors = made,
                       .actor_count = actors,
                       .channels = channels,
                       .channel_count = 2 * actors + 1,
                       .links = links,
                       .link_count = 2 * actors,
                       .causes = causes,
                       .cause_count = 3,
                       .labels = labels,
                       .label_count = 1};
    return system;
}

// ---- Over and over.

static bool is_taken(const Program *program, int32_t mark) {
    for (int s = 0; s < program->stream_count; s++)
        for (int64_t i = 0; i < program->streams[s].count; i++)
            if (program->streams[s].ops[i].kind == OP_TAKE && program->streams[s].ops[i].id == mark) return true;
    return false;
}

static Program repeated_program(Arena *arena, const Program *once, int times) {
    Program made = *once;
    Stream *streams = ARENA_ARRAY(arena, Stream, once->stream_count);
    bool *taken = ARENA_ARRAY(arena, bool, once->mark_count);
    for (int m = 0; m < once->mark_count; m++) taken[m] = is_taken(once, m);
    for (int s = 0; s < once->stream_count; s++) {
        const Stream *stream = &once->streams[s];
        Op *ops = ARENA_ARRAY(arena, Op, stream->count * times);
        for (int64_t i = 0; i < stream->count * times; i++) {
            ops[i] = stream->ops[i % stream->count];
            bool marks = ops[i].kind == OP_RECORD || ops[i].kind == OP_WAIT || ops[i].kind == OP_TAKE;
            if (marks && !taken[ops[i].id]) ops[i].id += (int32_t)(i / stream->count) * once->mark_count;
        }
        streams[s] = (Stream){stream->name, ops, stream->count * times};
    }
    made.streams = streams;
    made.mark_count = once->mark_count * times;
    return made;
}

const System *repeated_system(Arena *arena, const System *once, int times) {
    System *system = ARENA_NEW(arena, System);
    *system = *once;
    Program *programs = ARENA_ARRAY(arena, Program, once->program_count);
    for (int p = 0; p < once->program_count; p++) programs[p] = repeated_program(arena, &once->programs[p], times);
    system->programs = programs;
    CHECK(!system_check(arena, system));
    return system;
}
