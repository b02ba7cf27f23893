#include "tests/bench/flows.h"

#include "sim/base/check.h"

#define LINK_BYTES_PER_SECOND 50e9
#define LINK_LATENCY 1000000 // 1 us

static const char *const causes[] = {"flows"};
static const Label labels[] = {{"none", NULL, 0}};

static System system_with(Arena *arena, int links) {
    Link *list = ARENA_ARRAY(arena, Link, links);
    for (int l = 0; l < links; l++) list[l] = (Link){"link", LINK_BYTES_PER_SECOND};
    return (System){
        .links = list, .link_count = links, .causes = causes, .cause_count = 1, .labels = labels, .label_count = 1};
}

static Channel flow(Arena *arena, const int32_t *route, int links, double bytes, double fairness) {
    LinkUse *uses = ARENA_ARRAY(arena, LinkUse, links);
    for (int u = 0; u < links; u++) uses[u] = (LinkUse){route[u], 1};
    Plan *plan = ARENA_NEW(arena, Plan);
    *plan = (Plan){.latency = (SimTime)links * LINK_LATENCY,
                   .bytes = bytes,
                   .fairness = fairness,
                   .uses = uses,
                   .use_count = links};
    return (Channel){.plans = plan, .plan_count = 1, .member_count = 1};
}

System ring_on_star(Arena *arena, int hosts, double bytes) {
    System system = system_with(arena, 2 * hosts);
    Channel *channels = ARENA_ARRAY(arena, Channel, hosts + 1);
    Actor *actors = ARENA_ARRAY(arena, Actor, hosts);
    int steps = 2 * (hosts - 1);
    Op *ops = ARENA_ARRAY(arena, Op, 2 * steps);
    for (int s = 0; s < steps; s++) {
        ops[2 * s] = (Op){.kind = OP_TRANSFER, .slot = 0};
        ops[2 * s + 1] = (Op){.kind = OP_TRANSFER, .slot = 1};
    }
    Stream *stream = ARENA_NEW(arena, Stream);
    *stream = (Stream){"ring", ops, 2 * (int64_t)steps};
    Program *program = ARENA_NEW(arena, Program);
    *program = (Program){.streams = stream, .stream_count = 1, .slot_count = 2};
    Plan *barrier = ARENA_NEW(arena, Plan);
    barrier->fairness = 1;
    for (int h = 0; h < hosts; h++) {
        int32_t route[] = {2 * h, 2 * ((h + 1) % hosts) + 1};
        channels[h] = flow(arena, route, 2, (double)(int64_t)(bytes / hosts), 1);
        int32_t *slots = ARENA_ARRAY(arena, int32_t, 2);
        slots[0] = h, slots[1] = hosts;
        actors[h] = (Actor){.channels = slots, .slowness = 1, .multiplicity = 1};
    }
    channels[hosts] = (Channel){.plans = barrier, .plan_count = 1, .member_count = hosts};
    system.programs = program, system.program_count = 1;
    system.actors = actors, system.actor_count = hosts;
    system.channels = channels, system.channel_count = hosts + 1;
    return system;
}

// Links of level l go from a node at level l to one of its up[l] parents: two for each pair of a host's place below
// and the upward choices so far. Up is even, down is odd.
static int32_t link_at(const FatTree *tree, int level, int host, int destination) {
    int first = 0, below = 1, choices = 1, hosts = tree->down[0] * tree->down[1] * tree->down[2];
    for (int l = 0; l < level; l++) {
        below *= tree->down[l];
        choices *= tree->up[l];
        first += hosts / (below / tree->down[l]) * choices;
    }
    int choice = destination % (choices * tree->up[level]);
    return 2 * (first + host / below * choices * tree->up[level] + choice);
}

static int route_in_tree(const FatTree *tree, int from, int to, int32_t *route) {
    int up = 0, below = 1, count = 0;
    for (; up < 3 && from / below != to / below; up++) {
        route[count++] = link_at(tree, up, from, to);
        below *= tree->down[up];
    }
    for (int level = up; level-- > 0;) route[count++] = link_at(tree, level, to, to) + 1;
    return count;
}

System all_to_all_on_fat_tree(Arena *arena, const FatTree *tree, double (*bytes)(int i, int j),
                              bool fairness_by_latency) {
    int hosts = tree->down[0] * tree->down[1] * tree->down[2], peers = hosts - 1;
    CHECK((hosts & peers) == 0); // partners are found by exclusive or
    int links = 2 * link_at(tree, 2, hosts - 1, hosts - 1) + 4;
    System system = system_with(arena, links);
    Channel *channels = ARENA_ARRAY(arena, Channel, hosts * peers);
    Actor *actors = ARENA_ARRAY(arena, Actor, hosts);
    Stream *streams = ARENA_ARRAY(arena, Stream, peers);
    Op *ops = ARENA_ARRAY(arena, Op, peers);
    for (int k = 0; k < peers; k++) {
        ops[k] = (Op){.kind = OP_TRANSFER, .slot = (uint16_t)k};
        streams[k] = (Stream){"send", &ops[k], 1};
    }
    Program *program = ARENA_NEW(arena, Program);
    *program = (Program){.streams = streams, .stream_count = peers, .slot_count = peers};
    for (int h = 0; h < hosts; h++) {
        int32_t *slots = ARENA_ARRAY(arena, int32_t, peers);
        for (int k = 0; k < peers; k++) {
            int to = h ^ (k + 1);
            int32_t route[6];
            int count = route_in_tree(tree, h, to, route);
            slots[k] = h * peers + k;
            channels[slots[k]] = flow(arena, route, count, bytes(h, to), fairness_by_latency ? 6.0 / count : 1);
        }
        actors[h] = (Actor){.channels = slots, .slowness = 1, .multiplicity = 1};
    }
    system.programs = program, system.program_count = 1;
    system.actors = actors, system.actor_count = hosts;
    system.channels = channels, system.channel_count = hosts * peers;
    return system;
}

System shifts_on_fat_tree(Arena *arena, const FatTree *tree, int shifts, double (*bytes)(int i, int j), double slow) {
    int hosts = tree->down[0] * tree->down[1] * tree->down[2];
    System system = system_with(arena, 2 * link_at(tree, 2, hosts - 1, hosts - 1) + 4);
    Link *links = ARENA_ARRAY(arena, Link, system.link_count);
    for (int l = 0; l < system.link_count; l++) links[l] = system.links[l];
    links[0].bytes_per_second *= slow, links[1].bytes_per_second *= slow;
    system.links = links;
    Channel *channels = ARENA_ARRAY(arena, Channel, hosts + 1);
    Actor *actors = ARENA_ARRAY(arena, Actor, hosts);
    Op *ops = ARENA_ARRAY(arena, Op, 2 * shifts);
    for (int s = 0; s < shifts; s++) {
        ops[2 * s] = (Op){.kind = OP_TRANSFER, .slot = 0, .id = s};
        ops[2 * s + 1] = (Op){.kind = OP_TRANSFER, .slot = 1};
    }
    Stream *stream = ARENA_NEW(arena, Stream);
    *stream = (Stream){"shifts", ops, 2 * (int64_t)shifts};
    Program *program = ARENA_NEW(arena, Program);
    *program = (Program){.streams = stream, .stream_count = 1, .slot_count = 2};
    for (int h = 0; h < hosts; h++) {
        Plan *plans = ARENA_ARRAY(arena, Plan, shifts);
        for (int s = 0; s < shifts; s++) {
            int32_t route[6];
            int to = (h + 1 + s % (hosts - 1)) % hosts, count = route_in_tree(tree, h, to, route);
            plans[s] = *flow(arena, route, count, bytes(h, s), 6.0 / count).plans; // by latency, as in SimGrid
        }
        channels[h] = (Channel){.plans = plans, .plan_count = shifts, .member_count = 1};
        int32_t *slots = ARENA_ARRAY(arena, int32_t, 2);
        slots[0] = h, slots[1] = hosts;
        actors[h] = (Actor){.channels = slots, .slowness = 1, .multiplicity = 1};
    }
    Plan *barrier = ARENA_NEW(arena, Plan);
    barrier->fairness = 1;
    channels[hosts] = (Channel){.plans = barrier, .plan_count = 1, .member_count = hosts};
    system.programs = program, system.program_count = 1;
    system.actors = actors, system.actor_count = hosts;
    system.channels = channels, system.channel_count = hosts + 1;
    return system;
}
