#include "sim/fluid.h"

#include <math.h>

#include "sim/check.h"

typedef struct Activity {
    const Plan *plan; // NULL: idle
    double bytes_left;
    double rate;
    SimTime settled;   // bytes_left is true for this time
    int32_t *position; // [use] where it stands in the link's list of users
} Activity;

typedef struct LinkState {
    int32_t *users;    // channels active on it
    int32_t *user_use; // which of the channel's uses names this link
    int32_t user_count;
    int32_t mark; // visit number of the last solve that saw it
    // during a solve:
    double left, active, frozen;
    bool full;
} LinkState;

struct Fluid {
    const System *system;
    FluidEndAt *end_at;
    void *owner;
    Activity *activities; // [channel]
    LinkState *links;
    double *link_bytes;
    int32_t *channel_mark;
    int32_t visit;
    int32_t *dirty; // links whose users changed since the last solve
    int32_t dirty_count;
    bool *is_dirty;
    int32_t *part_links, *part_channels; // the connected part being solved
    double *new_rate;                    // [channel]
};

static int most_uses(const Channel *channel) {
    int most = 0;
    for (int p = 0; p < channel->plan_count; p++)
        if (channel->plans[p].use_count > most) most = channel->plans[p].use_count;
    return most;
}

// Room in each link's list: every channel with a plan that uses it could be there once.
static void make_room(Arena *arena, Fluid *fluid) {
    const System *system = fluid->system;
    int32_t *room = ARENA_ARRAY(arena, int32_t, system->link_count);
    int32_t *seen = ARENA_ARRAY(arena, int32_t, system->link_count);
    for (int c = 0; c < system->channel_count; c++)
        for (int p = 0; p < system->channels[c].plan_count; p++)
            for (int u = 0; u < system->channels[c].plans[p].use_count; u++) {
                int32_t link = system->channels[c].plans[p].uses[u].link;
                if (seen[link] != c + 1) room[link]++;
                seen[link] = c + 1;
            }
    for (int l = 0; l < system->link_count; l++) {
        fluid->links[l].users = ARENA_ARRAY(arena, int32_t, room[l]);
        fluid->links[l].user_use = ARENA_ARRAY(arena, int32_t, room[l]);
    }
}

Fluid *fluid_create(Arena *arena, const System *system, FluidEndAt *end_at, void *owner) {
    Fluid *fluid = ARENA_NEW(arena, Fluid);
    fluid->system = system;
    fluid->end_at = end_at;
    fluid->owner = owner;
    fluid->activities = ARENA_ARRAY(arena, Activity, system->channel_count);
    fluid->links = ARENA_ARRAY(arena, LinkState, system->link_count);
    fluid->link_bytes = ARENA_ARRAY(arena, double, system->link_count);
    fluid->channel_mark = ARENA_ARRAY(arena, int32_t, system->channel_count);
    fluid->dirty = ARENA_ARRAY(arena, int32_t, system->link_count);
    fluid->is_dirty = ARENA_ARRAY(arena, bool, system->link_count);
    fluid->part_links = ARENA_ARRAY(arena, int32_t, system->link_count);
    fluid->part_channels = ARENA_ARRAY(arena, int32_t, system->channel_count);
    fluid->new_rate = ARENA_ARRAY(arena, double, system->channel_count);
    for (int c = 0; c < system->channel_count; c++)
        fluid->activities[c].position = ARENA_ARRAY(arena, int32_t, most_uses(&system->channels[c]));
    make_room(arena, fluid);
    return fluid;
}

static void settle(Activity *activity, SimTime now) {
    if (now > activity->settled) {
        double moved = activity->rate * step_seconds(now - activity->settled);
        activity->bytes_left = moved < activity->bytes_left ? activity->bytes_left - moved : 0;
    }
    activity->settled = now;
}

// A new rate: what is left is counted up to now and the end moves. An equal rate changes nothing, not even by rounding.
static void set_rate(Fluid *fluid, int32_t channel, double rate, SimTime now) {
    Activity *activity = &fluid->activities[channel];
    if (rate == activity->rate) return;
    settle(activity, now);
    activity->rate = rate;
    double ticks = isinf(rate) ? 0 : ceil(activity->bytes_left / rate * (double)TICKS_PER_SECOND_STEP);
    bool fits = ticks < 4e18 && now < SIM_TIME_NEVER / 2;
    fluid->end_at(fluid->owner, channel, fits ? now + (SimTime)ticks : SIM_TIME_NEVER);
}

static void mark_dirty(Fluid *fluid, int32_t link) {
    if (fluid->is_dirty[link]) return;
    fluid->is_dirty[link] = true;
    fluid->dirty[fluid->dirty_count++] = link;
}

// Its rate when it has its links to itself: one round of share_links.
static double rate_alone(const Fluid *fluid, const Plan *plan) {
    double level = INFINITY;
    for (int u = 0; u < plan->use_count; u++) {
        double share =
            fluid->system->links[plan->uses[u].link].bytes_per_second / (plan->uses[u].weight * plan->fairness);
        if (plan->uses[u].weight > 0 && share < level) level = share;
    }
    if (plan->rate_limit > 0 && plan->rate_limit / plan->fairness < level) level = plan->rate_limit / plan->fairness;
    return level * plan->fairness;
}

bool fluid_start(Fluid *fluid, int32_t channel, const Plan *plan, SimTime now) {
    Activity *activity = &fluid->activities[channel];
    CHECK(!activity->plan);
    activity->plan = plan;
    activity->bytes_left = plan->bytes;
    activity->rate = 0;
    activity->settled = now;
    bool alone = true;
    for (int u = 0; u < plan->use_count; u++) {
        LinkState *link = &fluid->links[plan->uses[u].link];
        alone = alone && link->user_count == 0;
        activity->position[u] = link->user_count;
        link->users[link->user_count] = channel;
        link->user_use[link->user_count++] = u;
    }
    if (alone) {
        set_rate(fluid, channel, rate_alone(fluid, plan), now);
        return false;
    }
    for (int u = 0; u < plan->use_count; u++) mark_dirty(fluid, plan->uses[u].link);
    return true;
}

bool fluid_finish(Fluid *fluid, int32_t channel, SimTime now) {
    (void)now;
    Activity *activity = &fluid->activities[channel];
    const Plan *plan = activity->plan;
    CHECK(plan);
    bool shared = false;
    for (int u = 0; u < plan->use_count; u++) {
        int32_t id = plan->uses[u].link;
        LinkState *link = &fluid->links[id];
        int32_t at = activity->position[u], last = --link->user_count;
        if (at != last) {
            int32_t other = link->users[last], other_use = link->user_use[last];
            link->users[at] = other;
            link->user_use[at] = other_use;
            fluid->activities[other].position[other_use] = at;
        }
        fluid->link_bytes[id] += plan->uses[u].weight * plan->bytes;
        if (link->user_count) {
            mark_dirty(fluid, id);
            shared = true;
        }
    }
    activity->plan = NULL;
    activity->rate = 0;
    return shared;
}

// All links and channels that hang together with a link, through active transfers.
static void gather_part(Fluid *fluid, int32_t from, int *link_count, int *channel_count) {
    int links = 0, channels = 0;
    fluid->part_links[links++] = from;
    fluid->links[from].mark = fluid->visit;
    for (int i = 0; i < links; i++) {
        const LinkState *link = &fluid->links[fluid->part_links[i]];
        for (int k = 0; k < link->user_count; k++) {
            int32_t channel = link->users[k];
            if (fluid->channel_mark[channel] == fluid->visit) continue;
            fluid->channel_mark[channel] = fluid->visit;
            fluid->part_channels[channels++] = channel;
            const Plan *plan = fluid->activities[channel].plan;
            for (int u = 0; u < plan->use_count; u++) {
                int32_t other = plan->uses[u].link;
                if (fluid->links[other].mark == fluid->visit) continue;
                fluid->links[other].mark = fluid->visit;
                fluid->part_links[links++] = other;
            }
        }
    }
    *link_count = links;
    *channel_count = channels;
}

static bool stops_at(const Fluid *fluid, const Plan *plan, double level) {
    if (plan->rate_limit > 0 && plan->rate_limit / plan->fairness <= level) return true;
    for (int u = 0; u < plan->use_count; u++)
        if (fluid->links[plan->uses[u].link].full) return true;
    return false;
}

// Progressive filling of one part; the same rounds as share_links.
static void solve_part(Fluid *fluid, int link_count, int channel_count) {
    int32_t *rising = fluid->part_channels;
    for (int i = 0; i < link_count; i++) {
        LinkState *link = &fluid->links[fluid->part_links[i]];
        link->left = fluid->system->links[fluid->part_links[i]].bytes_per_second;
        link->active = 0;
    }
    for (int i = 0; i < channel_count; i++) {
        const Plan *plan = fluid->activities[rising[i]].plan;
        for (int u = 0; u < plan->use_count; u++)
            fluid->links[plan->uses[u].link].active += plan->uses[u].weight * plan->fairness;
    }
    int rising_count = channel_count;
    while (rising_count) {
        double level = INFINITY;
        for (int i = 0; i < link_count; i++) {
            const LinkState *link = &fluid->links[fluid->part_links[i]];
            if (link->active > 0 && link->left / link->active < level) level = link->left / link->active;
        }
        for (int i = 0; i < rising_count; i++) {
            const Plan *plan = fluid->activities[rising[i]].plan;
            if (plan->rate_limit > 0 && plan->rate_limit / plan->fairness < level)
                level = plan->rate_limit / plan->fairness;
        }
        CHECK(isfinite(level));
        if (level < 0) level = 0;
        for (int i = 0; i < link_count; i++) {
            LinkState *link = &fluid->links[fluid->part_links[i]];
            link->full = link->active > 0 && link->left / link->active <= level;
            link->frozen = 0;
        }
        int still_rising = 0;
        for (int i = 0; i < rising_count; i++) {
            int32_t channel = rising[i];
            const Plan *plan = fluid->activities[channel].plan;
            if (!stops_at(fluid, plan, level)) {
                rising[i] = rising[still_rising];
                rising[still_rising++] = channel;
                continue;
            }
            fluid->new_rate[channel] = level * plan->fairness;
            for (int u = 0; u < plan->use_count; u++)
                fluid->links[plan->uses[u].link].frozen += plan->uses[u].weight * plan->fairness;
        }
        rising_count = still_rising;
        for (int i = 0; i < link_count; i++) {
            LinkState *link = &fluid->links[fluid->part_links[i]];
            link->active -= link->frozen;
            link->left -= link->frozen * level;
        }
    }
}

void fluid_share(Fluid *fluid, SimTime now) {
    fluid->visit++;
    for (int d = 0; d < fluid->dirty_count; d++) {
        int32_t from = fluid->dirty[d];
        fluid->is_dirty[from] = false;
        if (fluid->links[from].mark == fluid->visit || fluid->links[from].user_count == 0) continue;
        int link_count, channel_count;
        gather_part(fluid, from, &link_count, &channel_count);
        solve_part(fluid, link_count, channel_count);
        for (int i = 0; i < channel_count; i++)
            set_rate(fluid, fluid->part_channels[i], fluid->new_rate[fluid->part_channels[i]], now);
    }
    fluid->dirty_count = 0;
}

double fluid_rate(const Fluid *fluid, int32_t channel) { return fluid->activities[channel].rate; }

const double *fluid_link_bytes(const Fluid *fluid) { return fluid->link_bytes; }
