// Transfers carried by another network (Carrier). If all members meet first they differ from others only in the
// source of their time. On a piped channel the sender posts and goes on, the receiver takes them in order.
#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/run_internal.h"

typedef struct Posted {
    int32_t plan;
    ChainPost from;
} Posted;

typedef struct Posts { // of a piped channel
    Posted *items;     // in the order in which they were posted
    int count, room, handed, there, taken;
    SimTime last; // when the newest of them came
    Arena *arena;
} Posts;

void open_carried(Arena *arena, Run *run) {
    for (int c = 0; c < run->system->channel_count; c++) {
        if (!is_carried(run, c) || !run->system->channels[c].piped) continue;
        CHECK(run->system->channels[c].member_count == 2);
        Posts *posts = run->channels[c].posts = ARENA_NEW(arena, Posts);
        *posts = (Posts){.arena = arena};
    }
}

static void post(Run *run, StreamState *state, int32_t channel, int32_t plan) {
    Posts *posts = run->channels[channel].posts;
    Posted posted = {.plan = plan};
    if (run->chain) posted.from = chain_post(run, state);
    LIST_PUSH(posts->arena, posts, posted);
    event_schedule(run->events, state->clock, EVENT_FLOW, channel);
}

static void take(Run *run, StreamState *state, int32_t channel, SimTime there) {
    Posts *posts = run->channels[channel].posts;
    const Posted *posted = &posts->items[posts->taken++];
    if (run->chain) chain_take(run, state, &posted->from, there);
}

bool post_or_take(Run *run, StreamState *state, int32_t channel, int32_t plan) {
    ChannelState *to = &run->channels[channel];
    if (state->actor == run->options->carrier->sender[channel]) {
        post(run, state, channel, plan);
        return true;
    }
    if (to->posts->there > to->posts->taken) {
        take(run, state, channel, to->posts->last);
        return true;
    }
    CHECK(to->joined == 0);
    to->members[to->joined++] = (int32_t)(state - run->streams);
    to->plan = plan;
    to->start = state->clock;
    return false;
}

int32_t plan_to_hand_over(Run *run, int32_t channel) {
    Posts *posts = run->channels[channel].posts;
    return posts ? posts->items[posts->handed++].plan : run->channels[channel].plan;
}

bool is_awaited(Run *run, int32_t channel, SimTime now) {
    ChannelState *to = &run->channels[channel];
    if (!to->posts) return true;
    to->posts->there++;
    to->posts->last = now;
    if (!to->joined) return false;
    take(run, &run->streams[to->members[0]], channel, now);
    return true;
}
