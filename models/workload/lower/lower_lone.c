// Collectives of a step that meet nobody, so that what their messages take on an empty network is what they take: they
// need not be written message by message. Two things are to be shown. That nobody is on their links meanwhile: each
// other channel with a link in common has a member that joins both from one stream, so that they follow each other.
// And that all members come at once, and leave at once: that is for who folds (lower_messages.c).
//
// A tensor-parallel group of 8 GPUs on one NVSwitch: of its links, the GPUs' own NVLinks, nobody else has any. Its
// all-gather of 50 MB is 56 messages, which take 243 us on an empty network and all end then. A job with 16,512 of
// them a GPU has 119 million such messages on 1,024 GPUs, and simulates 56.
#include "models/workload/lower/lower_internal.h"

#include "sim/base/list.h"
#include "sim/fold.h"
#include "sim/run.h"

// ---- Flows of collectives.

StepFlows *step_flows_create(Arena *arena, const Lowering *l, const System *system, Problems *problems) {
    StepFlows *flows = ARENA_NEW(arena, StepFlows);
    *flows = (StepFlows){.arena = arena, .l = l, .problems = problems};
    flows->plans = ARENA_ARRAY(arena, const FlowPlan **, system->channel_count);
    for (int c = 0; c < system->channel_count; c++)
        flows->plans[c] = ARENA_ARRAY(arena, const FlowPlan *, system->channels[c].plan_count);
    return flows;
}

bool is_collective(const Lowering *l, int32_t channel, int32_t plan) {
    if (channel < 0 || channel >= l->groups.count || !l->groups.items[channel].shapes) return false;
    return l->groups.items[channel].shapes->items[plan].op != COLLECTIVE_SEND_RECV;
}

const char *fidelity_name(const Lowering *l) { return l->training->as_packets ? "packet" : "flow"; }

const FlowPlan *step_flow(StepFlows *flows, int32_t channel, int32_t plan) {
    const Lowering *l = flows->l;
    const ChannelGroup *group = &l->groups.items[channel];
    const FlowPlan *flow = flows->plans[channel][plan];
    const char *why, *remedy;
    if (flow) return flow;
    CollectiveRequest request = {.op = group->shapes->items[plan].op,
                                 .backend = l->training->backend,
                                 .ranks = group->ranks,
                                 .rank_count = group->count,
                                 .bytes = group->shapes->items[plan].bytes};
    flow = flow_plan(flows->arena, l->cluster->network, &request, &why, &remedy);
    if (flow && l->training->as_packets) flow = flow_plan_as_packets(flows->arena, flow, &packet_sizes_usual);
    flows->plans[channel][plan] = flow;
    if (!flow) {
        problem_add(flows->problems, l->training->where, "fidelity \"%s\": %s", fidelity_name(l), why);
        problem_hint(flows->problems, "%s", remedy);
    }
    return flow;
}

// ---- What they take.

// Of groups of one node or NVLink domain: in others, where they sit matters.
static bool is_alike(const Lowering *l, const LoneTime *known, const ChannelGroup *group, const Shape *shape) {
    const Network *network = l->cluster->network;
    return known->shape->op == shape->op && known->shape->bytes == shape->bytes &&
           known->group->count == group->count &&
           (known->group->ranks == group->ranks ||
            (network_is_one_domain(network, group->ranks, group->count) &&
             network_are_alike(network, group->ranks, known->group->ranks, group->count)));
}

static LoneTime lone_time(const FlowPlan *flow, const ChannelGroup *group, const Shape *shape) {
    Arena *scratch = arena_open();
    FlowSystem system = flow_system(scratch, flow);
    LoneTime lone = {.group = group, .shape = shape};
    if (!system.stopped) {
        flow_fold(scratch, &system);
        RunResult run = run_system(scratch, &system.folded, &(RunOptions){0});
        lone.time = run.end;
        lone.together = !run.stopped && !run.beyond_clock;
        for (int a = 0; a < system.folded.actor_count && lone.together; a++)
            lone.together = run.actor_end[a] == run.end;
    }
    arena_close(scratch);
    return lone;
}

const LoneTime *step_lone_time(StepFlows *flows, int32_t channel, int32_t plan) {
    const ChannelGroup *group = &flows->l->groups.items[channel];
    const Shape *shape = &group->shapes->items[plan];
    for (int i = 0; i < flows->lone.count; i++)
        if (is_alike(flows->l, &flows->lone.items[i], group, shape)) return &flows->lone.items[i];
    const FlowPlan *flow = step_flow(flows, channel, plan);
    if (!flow) return NULL;
    LIST_PUSH(flows->arena, &flows->lone, lone_time(flow, group, shape));
    return &flows->lone.items[flows->lone.count - 1];
}

// ---- Who shares links with whom.

typedef struct Numbers {
    int32_t *items;
    int count, room;
} Numbers;

typedef struct Finder {
    Arena *scratch;
    StepFlows *flows;
    const System *system;
    LinkBook *book;           // of the system, and behind them those of software
    const int8_t **stream_of; // [program][slot] the one stream that joins there; below 0: none, or several
    Numbers *links;           // [channel]
    Numbers *channels;        // [link]
    int32_t *seen;            // [link] the last channel that uses it, + 1
    bool *lone;               // [channel]
} Finder;

enum { NO_STREAM_JOINS = -1, SEVERAL_JOIN = -2 };

static void note_join(int8_t *stream_of, const Op *op, int stream) {
    if (op->kind != OP_TRANSFER) return;
    int8_t *of = &stream_of[op->slot];
    if (*of == NO_STREAM_JOINS) *of = (int8_t)stream;
    if (*of != stream) *of = SEVERAL_JOIN;
}

static const int8_t *streams_of_slots(Arena *arena, const Program *program) {
    int8_t *stream_of = ARENA_ARRAY(arena, int8_t, program->slot_count);
    for (int s = 0; s < program->slot_count; s++) stream_of[s] = NO_STREAM_JOINS;
    for (int s = 0; s < program->stream_count; s++) {
        Op op;
        for (OpWalk walk = {.program = program, .stream = &program->streams[s]}; walk_ops(&walk, &op);)
            note_join(stream_of, &op, s);
    }
    return stream_of;
}

static void add_link(Finder *f, int32_t channel, int32_t link) {
    if (f->seen[link] == channel + 1) return;
    f->seen[link] = channel + 1;
    LIST_PUSH(f->scratch, &f->links[channel], link);
    LIST_PUSH(f->scratch, &f->channels[link], channel);
}

// False: software holds messages back, whose links are not told apart here.
static bool add_links_of_place(Finder *f, int32_t channel, const FlowPlan *flow, int place) {
    Arena *scratch = arena_open();
    bool all = true;
    Party party = flow_outline(scratch, flow, place);
    for (int l = 0; l < party.lanes.count; l++)
        for (int s = 0; s < party.lanes.items[l].count; s++) {
            const FlowStep *step = &party.lanes.items[l].items[s];
            if (step->to < 0) continue;
            Plan message = flow_message(scratch, flow, f->book, place, step->to, step->way, 1);
            for (int u = 0; u < message.use_count; u++)
                if (message.uses[u].link < f->system->link_count)
                    add_link(f, channel, message.uses[u].link);
                else
                    all = false;
        }
    arena_close(scratch);
    return all;
}

// False after a problem.
static bool find_links(Finder *f) {
    for (int c = 0; c < f->system->channel_count; c++) {
        const Channel *channel = &f->system->channels[c];
        for (int p = 0; p < channel->plan_count; p++) {
            if (!is_collective(f->flows->l, c, p)) {
                for (int u = 0; u < channel->plans[p].use_count; u++) add_link(f, c, channel->plans[p].uses[u].link);
                continue;
            }
            const FlowPlan *flow = step_flow(f->flows, c, p);
            if (!flow) return false;
            for (int place = 0; place < f->flows->l->groups.items[c].count; place++)
                if (!add_links_of_place(f, c, flow, place)) f->lone[c] = false;
        }
    }
    return true;
}

static int slot_of_channel(const Finder *f, int actor, int32_t channel) {
    int slots = f->system->programs[f->system->actors[actor].program].slot_count;
    for (int s = 0; s < slots; s++)
        if (f->system->actors[actor].channels[s] == channel) return s;
    return -1;
}

static bool follow_each_other(const Finder *f, int32_t lone, int32_t other) {
    const ChannelGroup *group = &f->flows->l->groups.items[lone];
    for (int i = 0; i < group->count; i++) {
        int own = slot_of_channel(f, group->ranks[i], lone), its = slot_of_channel(f, group->ranks[i], other);
        const int8_t *stream_of = f->stream_of[f->system->actors[group->ranks[i]].program];
        if (its >= 0 && stream_of[own] >= 0 && stream_of[own] == stream_of[its]) return true;
    }
    return false;
}

// Others' messages may be under way while not all of their members have come.
static bool meets_nobody(const Finder *f, int32_t channel) {
    for (int i = 0; i < f->links[channel].count; i++) {
        const Numbers *users = &f->channels[f->links[channel].items[i]];
        for (int u = 0; u < users->count; u++) {
            int32_t other = users->items[u];
            if (other == channel) continue;
            if (is_collective(f->flows->l, other, 0) && !f->lone[other]) return false;
            if (!follow_each_other(f, channel, other)) return false;
        }
    }
    return true;
}

// What is no longer alone may be in others' way.
static void leave_out_those_that_meet(Finder *f) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int c = 0; c < f->system->channel_count; c++) {
            if (!f->lone[c] || meets_nobody(f, c)) continue;
            f->lone[c] = false;
            changed = true;
        }
    }
}

static bool leave_together(StepFlows *flows, int32_t channel, int plan_count) {
    for (int p = 0; p < plan_count; p++) {
        const LoneTime *lone = step_lone_time(flows, channel, p);
        if (!lone || !lone->together) return false;
    }
    return true;
}

bool find_lone(StepFlows *flows, const System *system, bool *lone) {
    Arena *scratch = arena_open();
    Finder f = {.scratch = scratch, .flows = flows, .system = system, .lone = lone};
    f.book = link_book_create(scratch, flows->l->cluster->network, system->links, system->link_count);
    f.stream_of = ARENA_ARRAY(scratch, const int8_t *, system->program_count);
    for (int p = 0; p < system->program_count; p++) f.stream_of[p] = streams_of_slots(scratch, &system->programs[p]);
    f.links = ARENA_ARRAY(scratch, Numbers, system->channel_count);
    f.channels = ARENA_ARRAY(scratch, Numbers, system->link_count);
    f.seen = ARENA_ARRAY(scratch, int32_t, system->link_count);
    for (int c = 0; c < system->channel_count; c++) lone[c] = lone[c] && is_collective(flows->l, c, 0);
    bool found = find_links(&f);
    if (found) {
        leave_out_those_that_meet(&f);
        for (int c = 0; c < system->channel_count; c++)
            lone[c] = lone[c] && leave_together(flows, c, system->channels[c].plan_count);
        leave_out_those_that_meet(&f);
    }
    arena_close(scratch);
    return found;
}

bool all_come_at_once(const Lowering *l, int32_t channel, const int32_t *class_of) {
    const ChannelGroup *group = &l->groups.items[channel];
    for (int i = 1; i < group->count; i++)
        if (class_of[group->ranks[i]] != class_of[group->ranks[0]]) return false;
    return true;
}
