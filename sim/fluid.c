#include "sim/fluid.h"

#include <string.h>

#include "sim/fluid_internal.h"

typedef struct Activity {
    const Plan *plan; // NULL: idle
    double bytes_left, rate, fairness;
    SimTime settled; // bytes_left is true for this time
    bool told;       // its owner knows an end
} Activity;

struct Fluid {
    const System *system;
    FluidEndAt *end_at;
    void *owner;
    Activity *activities; // [channel]
    Routes routes;
    int64_t *levels;   // [channel] while it is active
    int64_t *limits;   // [channel] the level its rate limit allows; NULL when no plan has one
    SimTime *ends;     // [channel] at the present rate
    LinkUsers *users;  // [link]
    const bool *spare; // [link] never looked at
    int64_t **carried; // [channel][plan] so often
    double *link_bytes;
    int32_t *channel_mark;
    int32_t visit;
    int32_t *dirty; // links whose users changed since the last solve
    int32_t dirty_count;
    bool *is_dirty;
    Filling *filling;
    int32_t *walk_links; // scratch of walks
    // The part solved last is remembered, so that its next solve needs no walk. It may have fallen apart since.
    Soonest *part;       // its transfers
    int32_t part_number; // 0: none is remembered
    int32_t parts_seen;
    int32_t removals_left; // walk anew after so many ends
    int32_t *told;         // those of the part that had their ends told
    int32_t told_count;
};

static int most_uses(const Fluid *fluid, const Channel *channel) {
    int most = 0;
    for (int p = 0; p < channel->plan_count; p++) {
        int uses = 0;
        for (int u = 0; u < channel->plans[p].use_count; u++) uses += !fluid->spare[channel->plans[p].uses[u].link];
        if (uses > most) most = uses;
    }
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
                if (seen[link] != c + 1 && !fluid->spare[link]) room[link]++;
                seen[link] = c + 1;
            }
    for (int l = 0; l < system->link_count; l++) fluid->users[l].list = ARENA_ARRAY(arena, User, room[l]);
}

static void make_routes(Arena *arena, Fluid *fluid) {
    const System *system = fluid->system;
    Routes *routes = &fluid->routes;
    routes->items = ARENA_ARRAY(arena, Route, system->channel_count);
    int32_t total = 0;
    for (int c = 0; c < system->channel_count; c++) {
        int most = most_uses(fluid, &system->channels[c]);
        CHECK(total <= INT32_MAX - most);
        routes->items[c].first = total;
        total += most;
    }
    routes->links = ARENA_ARRAY(arena, int32_t, total);
    routes->positions = ARENA_ARRAY(arena, int32_t, total);
    routes->shares = ARENA_ARRAY(arena, int64_t, total);
}

static bool any_limit(const System *system) {
    for (int c = 0; c < system->channel_count; c++)
        for (int p = 0; p < system->channels[c].plan_count; p++)
            if (system->channels[c].plans[p].rate_limit > 0) return true;
    return false;
}

Fluid *fluid_create(Arena *arena, const System *system, FluidEndAt *end_at, void *owner) {
    Fluid *fluid = ARENA_NEW(arena, Fluid);
    fluid->system = system;
    fluid->end_at = end_at;
    fluid->owner = owner;
    fluid->activities = ARENA_ARRAY(arena, Activity, system->channel_count);
    fluid->levels = ARENA_ARRAY(arena, int64_t, system->channel_count);
    if (any_limit(system)) fluid->limits = ARENA_ARRAY(arena, int64_t, system->channel_count);
    fluid->ends = ARENA_ARRAY(arena, SimTime, system->channel_count);
    fluid->users = ARENA_ARRAY(arena, LinkUsers, system->link_count);
    fluid->spare = find_spare_links(arena, system);
    fluid->link_bytes = ARENA_ARRAY(arena, double, system->link_count);
    fluid->carried = ARENA_ARRAY(arena, int64_t *, system->channel_count);
    for (int c = 0; c < system->channel_count; c++)
        fluid->carried[c] = ARENA_ARRAY(arena, int64_t, system->channels[c].plan_count);
    fluid->channel_mark = ARENA_ARRAY(arena, int32_t, system->channel_count);
    fluid->dirty = ARENA_ARRAY(arena, int32_t, system->link_count);
    fluid->is_dirty = ARENA_ARRAY(arena, bool, system->link_count);
    fluid->walk_links = ARENA_ARRAY(arena, int32_t, system->link_count);
    fluid->part = soonest_create(arena, system->channel_count, fluid->ends);
    fluid->told = ARENA_ARRAY(arena, int32_t, system->channel_count);
    make_routes(arena, fluid);
    make_room(arena, fluid);
    fluid->filling = filling_create(arena, system, &fluid->routes, fluid->users, fluid->limits, fluid->levels);
    return fluid;
}

// ---- Rates and ends.

static void settle(Activity *activity, SimTime now) {
    if (now > activity->settled) {
        double moved = activity->rate * step_seconds(now - activity->settled);
        activity->bytes_left = moved < activity->bytes_left ? activity->bytes_left - moved : 0;
    }
    activity->settled = now;
}

// A thousandth of a tick is not waited for: shares are rounded down by less than that over a millisecond.
static SimTime ticks_of(double bytes, double rate) {
    double ticks = bytes / rate * (double)TICKS_PER_SECOND_STEP - 1e-3; // a rate of 0: without end
    return ticks < 0 ? 0 : ticks_up(ticks);
}

// A new rate: what is left is counted up to now and the end moves. An equal rate changes nothing, not even by rounding.
static void set_rate(Fluid *fluid, int32_t channel, SimTime now) {
    Activity *activity = &fluid->activities[channel];
    double rate = rate_from_level(fluid->levels[channel]) * activity->fairness;
    if (rate == activity->rate) return;
    settle(activity, now);
    activity->rate = rate;
    SimTime ticks = ticks_of(activity->bytes_left, rate);
    fluid->ends[channel] = time_later(now, ticks);
    soonest_move(fluid->part, channel);
}

static void tell(Fluid *fluid, int32_t channel, SimTime end) {
    fluid->activities[channel].told = end < SIM_TIME_NEVER;
    fluid->end_at(fluid->owner, channel, end);
}

// Of transfers that share links only the first to end matters: that end changes the others'.
static void tell_soonest(Fluid *fluid) {
    for (int32_t i = 0; i < fluid->told_count; i++)
        if (soonest_has(fluid->part, fluid->told[i])) tell(fluid, fluid->told[i], SIM_TIME_NEVER);
    fluid->told_count = soonest_find(fluid->part, fluid->told);
    if (fluid->told_count && fluid->ends[fluid->told[0]] == SIM_TIME_NEVER) fluid->told_count = 0;
    for (int32_t i = 0; i < fluid->told_count; i++) tell(fluid, fluid->told[i], fluid->ends[fluid->told[i]]);
}

static int32_t link_of(const Fluid *fluid, const Route *route, int32_t use) {
    return fluid->routes.links[route->first + use];
}

// ---- The remembered part.

// Outside the remembered part every transfer's end is known to the owner.
static void forget_part(Fluid *fluid) {
    for (int32_t i = 0; i < soonest_count(fluid->part); i++) {
        int32_t channel = soonest_at(fluid->part, i);
        if (!fluid->activities[channel].told && fluid->ends[channel] < SIM_TIME_NEVER)
            tell(fluid, channel, fluid->ends[channel]);
    }
    soonest_clear(fluid->part);
    fluid->told_count = 0;
    fluid->part_number = 0;
}

static void add_to_part(Fluid *fluid, int32_t channel) {
    if (fluid->activities[channel].told) fluid->told[fluid->told_count++] = channel;
    soonest_add(fluid->part, channel);
}

static void take_from_part(Fluid *fluid, int32_t channel) {
    soonest_remove(fluid->part, channel);
    if (--fluid->removals_left < 0) forget_part(fluid);
}

// A newcomer all of whose links are the part's, or nobody's, belongs to it; one that ties it to others ends the memory.
static void welcome_to_part(Fluid *fluid, int32_t channel) {
    const Route *route = &fluid->routes.items[channel];
    bool in_part = false, elsewhere = false;
    for (int32_t u = 0; u < route->use_count; u++) {
        const LinkUsers *link = &fluid->users[link_of(fluid, route, u)];
        if (link->part == fluid->part_number)
            in_part = true;
        else if (link->count > 1) // itself is one
            elsewhere = true;
    }
    if (!in_part || fluid->part_number == 0) return;
    if (elsewhere) {
        forget_part(fluid);
        return;
    }
    for (int32_t u = 0; u < route->use_count; u++) fluid->users[link_of(fluid, route, u)].part = fluid->part_number;
    add_to_part(fluid, channel);
}

// All that hangs together with a link, through active transfers, becomes the remembered part.
static void walk_part(Fluid *fluid, int32_t from) {
    forget_part(fluid);
    fluid->part_number = ++fluid->parts_seen;
    int32_t links = 0;
    fluid->walk_links[links++] = from;
    fluid->users[from].visit = fluid->visit;
    for (int32_t i = 0; i < links; i++) {
        LinkUsers *link = &fluid->users[fluid->walk_links[i]];
        link->part = fluid->part_number;
        for (int32_t k = 0; k < link->count; k++) {
            int32_t channel = link->list[k].channel;
            if (fluid->channel_mark[channel] == fluid->visit) continue;
            fluid->channel_mark[channel] = fluid->visit;
            add_to_part(fluid, channel);
            const Route *route = &fluid->routes.items[channel];
            for (int32_t u = 0; u < route->use_count; u++) {
                int32_t other = link_of(fluid, route, u);
                if (fluid->users[other].visit == fluid->visit) continue;
                fluid->users[other].visit = fluid->visit;
                fluid->walk_links[links++] = other;
            }
        }
    }
    fluid->removals_left = soonest_count(fluid->part) / 2;
}

// ---- Starts and ends.

static void mark_dirty(Fluid *fluid, int32_t link) {
    if (fluid->is_dirty[link]) return;
    fluid->is_dirty[link] = true;
    fluid->dirty[fluid->dirty_count++] = link;
}

static void take_links(Fluid *fluid, int32_t channel, const Plan *plan) {
    Routes *routes = &fluid->routes;
    Route *route = &routes->items[channel];
    route->use_count = 0;
    for (int u = 0; u < plan->use_count; u++) {
        if (fluid->spare[plan->uses[u].link]) continue;
        LinkUsers *link = &fluid->users[plan->uses[u].link];
        int32_t at = route->first + route->use_count;
        routes->links[at] = plan->uses[u].link;
        routes->positions[at] = link->count;
        routes->shares[at] = share_from(plan->uses[u].weight * plan->fairness);
        link->list[link->count++] = (User){channel, route->use_count++, routes->shares[at]};
    }
    for (int u = 0; u < route->use_count && u < SHORT_ROUTE; u++) route->links[u] = routes->links[route->first + u];
    route->share = route->use_count ? routes->shares[route->first] : 0;
    for (int u = 1; u < route->use_count; u++)
        if (routes->shares[route->first + u] != route->share) route->share = -1;
}

// The last user of the link's list takes its place there.
static void leave_link(Fluid *fluid, const Route *route, int32_t use) {
    LinkUsers *link = &fluid->users[link_of(fluid, route, use)];
    int32_t position = fluid->routes.positions[route->first + use];
    User last = link->list[--link->count];
    link->list[position] = last;
    fluid->routes.positions[fluid->routes.items[last.channel].first + last.use] = position;
}

static bool is_alone(const Fluid *fluid, const Route *route) {
    for (int32_t u = 0; u < route->use_count; u++)
        if (fluid->users[link_of(fluid, route, u)].count > 1) return false;
    return true;
}

bool fluid_start(Fluid *fluid, int32_t channel, const Plan *plan, SimTime now) {
    Activity *activity = &fluid->activities[channel];
    CHECK(!activity->plan);
    activity->plan = plan;
    activity->bytes_left = plan->bytes;
    activity->rate = 0;
    activity->fairness = plan->fairness;
    activity->settled = now;
    int64_t limit = plan->rate_limit > 0 ? level_from_rate(plan->rate_limit / plan->fairness) : LEVEL_MOST;
    if (fluid->limits) fluid->limits[channel] = limit;
    fluid->ends[channel] = SIM_TIME_NEVER;
    take_links(fluid, channel, plan);
    const Route *route = &fluid->routes.items[channel];
    if (is_alone(fluid, route)) {
        for (int32_t u = 0; u < route->use_count; u++) fluid->users[link_of(fluid, route, u)].part = 0;
        filling_add_alone(fluid->filling, channel);
        set_rate(fluid, channel, now);
        tell(fluid, channel, fluid->ends[channel]);
        return false;
    }
    filling_add(fluid->filling, channel);
    for (int32_t u = 0; u < route->use_count; u++) mark_dirty(fluid, link_of(fluid, route, u));
    welcome_to_part(fluid, channel);
    return true;
}

SimTime fluid_time_alone(const Fluid *fluid, const Plan *plan) {
    int64_t level = plan->rate_limit > 0 ? level_from_rate(plan->rate_limit / plan->fairness) : LEVEL_MOST;
    for (int u = 0; u < plan->use_count; u++) {
        int64_t share = share_from(plan->uses[u].weight * plan->fairness);
        if (share == 0) continue;
        int64_t fits =
            level_that_fits(load_from_rate(fluid->system->links[plan->uses[u].link].bytes_per_second), share);
        if (fits < level) level = fits;
    }
    return ticks_of(plan->bytes, rate_from_level(level) * plan->fairness);
}

void fluid_count_bytes(Fluid *fluid, int32_t channel, int32_t plan, int64_t times) {
    fluid->carried[channel][plan] += times;
}

bool fluid_finish(Fluid *fluid, int32_t channel, SimTime now) {
    (void)now;
    Activity *activity = &fluid->activities[channel];
    const Plan *plan = activity->plan;
    const Route *route = &fluid->routes.items[channel];
    CHECK(plan);
    bool shared = false;
    fluid_count_bytes(fluid, channel, (int32_t)(plan - fluid->system->channels[channel].plans), 1);
    for (int u = 0; u < route->use_count; u++) leave_link(fluid, route, u);
    filling_remove(fluid->filling, channel);
    for (int32_t u = 0; u < route->use_count; u++) {
        int32_t id = link_of(fluid, route, u);
        if (fluid->users[id].count) {
            mark_dirty(fluid, id);
            shared = true;
        } else {
            fluid->users[id].part = 0;
        }
    }
    activity->plan = NULL;
    activity->rate = 0;
    activity->told = false;
    if (soonest_has(fluid->part, channel)) {
        take_from_part(fluid, channel);
        shared = shared || soonest_count(fluid->part) > 0;
    }
    return shared;
}

static void set_rates(Fluid *fluid, SimTime now) {
    const int32_t *changed;
    int32_t count = filling_fill(fluid->filling, &changed);
    for (int32_t i = 0; i < count; i++) {
        int32_t channel = changed[i];
        if (fluid->activities[channel].plan) set_rate(fluid, channel, now);
    }
}

void fluid_share(Fluid *fluid, SimTime now) {
    fluid->visit++;
    set_rates(fluid, now);
    bool remembered = fluid->part_number != 0;
    for (int32_t d = 0; d < fluid->dirty_count && remembered; d++) {
        const LinkUsers *link = &fluid->users[fluid->dirty[d]];
        remembered = link->count == 0 || link->part == fluid->part_number;
    }
    if (remembered) tell_soonest(fluid);
    for (int32_t d = 0; d < fluid->dirty_count; d++) {
        int32_t from = fluid->dirty[d];
        fluid->is_dirty[from] = false;
        if (remembered || fluid->users[from].visit == fluid->visit || fluid->users[from].count == 0) continue;
        walk_part(fluid, from);
        tell_soonest(fluid);
    }
    fluid->dirty_count = 0;
}

void fluid_set_patience(Fluid *fluid, int64_t patience) { filling_set_patience(fluid->filling, patience); }

int64_t *fluid_carried(Fluid *fluid, int32_t channel) { return fluid->carried[channel]; }

bool fluid_state(const Fluid *fluid, int32_t channel, SimTime now, FluidState *state) {
    const Activity *activity = &fluid->activities[channel];
    if (!activity->plan) return false;
    SimTime end = fluid->ends[channel];
    *state = (FluidState){activity->bytes_left, activity->rate, activity->settled - now,
                          end < SIM_TIME_NEVER ? end - now : end};
    return true;
}

void fluid_shift(Fluid *fluid, SimTime by) {
    for (int c = 0; c < fluid->system->channel_count; c++) {
        if (!fluid->activities[c].plan) continue;
        fluid->activities[c].settled += by;
        fluid->ends[c] = time_later(fluid->ends[c], by);
    }
    soonest_shift(fluid->part, by);
}

double fluid_rate(const Fluid *fluid, int32_t channel) { return fluid->activities[channel].rate; }

const double *fluid_link_bytes(Fluid *fluid) {
    const System *system = fluid->system;
    memset(fluid->link_bytes, 0, (size_t)system->link_count * sizeof *fluid->link_bytes);
    for (int c = 0; c < system->channel_count; c++)
        for (int p = 0; p < system->channels[c].plan_count; p++) {
            const Plan *plan = &system->channels[c].plans[p];
            double bytes = plan->bytes * (double)fluid->carried[c][p];
            for (int u = 0; u < plan->use_count && bytes > 0; u++)
                fluid->link_bytes[plan->uses[u].link] += plan->uses[u].weight * bytes;
        }
    return fluid->link_bytes;
}

// ---- Links that can never hold anyone back, because all who cross them also cross a link that is never less full: the
// cables in line behind a host's own, say. Fair sharing need not look at them.

// A plan over more links is a whole collective; its links are not looked at.
#define ROUTE_LENGTH 16

typedef struct Suspect {
    int32_t *tighter; // links that are never less full, as far as has been seen
    int32_t count;
    int32_t seen; // number of the last plan that uses it
} Suspect;

// The product is exact where it fits.
static bool is_no_more(double share, double rate, double other_share, double other_rate) {
    if (rate >= LEVEL_RATE_MOST || other_rate >= LEVEL_RATE_MOST) return share * rate <= other_share * other_rate;
    return (Load)share_from(share) * (int64_t)(rate * LEVEL_UNITS) <=
           (Load)share_from(other_share) * (int64_t)(other_rate * LEVEL_UNITS);
}

static const LinkUse *find_use(const Plan *plan, int32_t link) {
    for (int u = 0; u < plan->use_count; u++)
        if (plan->uses[u].link == link) return &plan->uses[u];
    return NULL;
}

// Does this plan fill the one link at least as much as the other?
static bool is_tighter(const System *system, const Plan *plan, const LinkUse *one, const LinkUse *other) {
    const Link *links = system->links;
    return is_no_more(other->weight * plan->fairness, links[one->link].bytes_per_second, one->weight * plan->fairness,
                      links[other->link].bytes_per_second);
}

static void see_first(Arena *arena, const System *system, Suspect *suspect, const Plan *plan, const LinkUse *use) {
    if (plan->use_count > ROUTE_LENGTH) return;
    suspect->tighter = ARENA_ARRAY(arena, int32_t, plan->use_count);
    for (int u = 0; u < plan->use_count; u++)
        if (plan->uses[u].link != use->link && is_tighter(system, plan, &plan->uses[u], use))
            suspect->tighter[suspect->count++] = plan->uses[u].link;
}

static void see_again(const System *system, Suspect *suspect, const Plan *plan, const LinkUse *use) {
    int32_t kept = 0;
    for (int32_t i = 0; i < suspect->count; i++) {
        const LinkUse *other = find_use(plan, suspect->tighter[i]);
        if (other && is_tighter(system, plan, other, use)) suspect->tighter[kept++] = suspect->tighter[i];
    }
    suspect->count = kept;
}

bool *find_spare_links(Arena *arena, const System *system) {
    Suspect *suspects = ARENA_ARRAY(arena, Suspect, system->link_count);
    bool *spare = ARENA_ARRAY(arena, bool, system->link_count);
    int32_t number = 1;
    for (int c = 0; c < system->channel_count; c++)
        for (int p = 0; p < system->channels[c].plan_count; p++) {
            const Plan *plan = &system->channels[c].plans[p];
            for (int u = 0; u < plan->use_count; u++) {
                Suspect *suspect = &suspects[plan->uses[u].link];
                if (!suspect->seen)
                    see_first(arena, system, suspect, plan, &plan->uses[u]);
                else if (suspect->seen == number || plan->use_count > ROUTE_LENGTH) // twice in one plan, or too many
                    suspect->count = 0;
                else if (suspect->count)
                    see_again(system, suspect, plan, &plan->uses[u]);
                suspect->seen = number;
            }
            number++;
        }
    // Of links that fill each other's part the last stays.
    for (int l = 0; l < system->link_count; l++)
        for (int32_t i = 0; i < suspects[l].count && !spare[l]; i++) spare[l] = !spare[suspects[l].tighter[i]];
    return spare;
}

// ---- Who of many ends first, when ends move all the time: a heap by bounds. An end that moves later leaves its bound
// where it is, which is put right when it comes to the top; only one that moves sooner has a way to go.

typedef struct Entry {
    SimTime bound; // it ends then or later
    int32_t channel;
} Entry;

struct Soonest {
    Entry *heap;
    int32_t *position; // [channel] in the heap; -1 not in it
    int32_t *stack;
    int32_t count;
    const SimTime *ends;
};

Soonest *soonest_create(Arena *arena, int32_t channels, const SimTime *ends) {
    Soonest *soonest = ARENA_NEW(arena, Soonest);
    soonest->heap = ARENA_ARRAY(arena, Entry, channels);
    soonest->position = ARENA_ARRAY(arena, int32_t, channels);
    soonest->stack = ARENA_ARRAY(arena, int32_t, channels + 1);
    soonest->ends = ends;
    for (int32_t c = 0; c < channels; c++) soonest->position[c] = -1;
    return soonest;
}

static void put(Soonest *soonest, int32_t at, Entry entry) {
    soonest->heap[at] = entry;
    soonest->position[entry.channel] = at;
}

static void rise(Soonest *soonest, int32_t at, Entry entry) {
    for (; at > 0 && entry.bound < soonest->heap[(at - 1) / 2].bound; at = (at - 1) / 2)
        put(soonest, at, soonest->heap[(at - 1) / 2]);
    put(soonest, at, entry);
}

static void sink(Soonest *soonest, int32_t at, Entry entry) {
    const Entry *heap = soonest->heap;
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= soonest->count) break;
        if (child + 1 < soonest->count && heap[child + 1].bound < heap[child].bound) child++;
        if (heap[child].bound >= entry.bound) break;
        put(soonest, at, heap[child]);
        at = child;
    }
    put(soonest, at, entry);
}

void soonest_add(Soonest *soonest, int32_t channel) {
    rise(soonest, soonest->count++, (Entry){soonest->ends[channel], channel});
}

void soonest_remove(Soonest *soonest, int32_t channel) {
    int32_t at = soonest->position[channel];
    Entry last = soonest->heap[--soonest->count];
    soonest->position[channel] = -1;
    if (at == soonest->count) return;
    if (last.bound < soonest->heap[at].bound)
        rise(soonest, at, last);
    else
        sink(soonest, at, last);
}

void soonest_move(Soonest *soonest, int32_t channel) {
    int32_t at = soonest->position[channel];
    if (at < 0 || soonest->ends[channel] >= soonest->heap[at].bound) return;
    rise(soonest, at, (Entry){soonest->ends[channel], channel});
}

void soonest_shift(Soonest *soonest, SimTime by) {
    for (int32_t i = 0; i < soonest->count; i++) soonest->heap[i].bound = time_later(soonest->heap[i].bound, by);
}

bool soonest_has(const Soonest *soonest, int32_t channel) { return soonest->position[channel] >= 0; }
int32_t soonest_count(const Soonest *soonest) { return soonest->count; }
int32_t soonest_at(const Soonest *soonest, int32_t at) { return soonest->heap[at].channel; }

void soonest_clear(Soonest *soonest) {
    for (int32_t i = 0; i < soonest->count; i++) soonest->position[soonest->heap[i].channel] = -1;
    soonest->count = 0;
}

// Puts the bound right of whoever stands there until it is right.
static SimTime settle_bound(Soonest *soonest, int32_t at) {
    for (;;) {
        Entry entry = soonest->heap[at];
        SimTime end = soonest->ends[entry.channel];
        if (entry.bound == end) return end;
        entry.bound = end;
        sink(soonest, at, entry);
    }
}

int32_t soonest_find(Soonest *soonest, int32_t *channels) {
    int32_t found = 0, waiting = 0;
    if (soonest->count == 0) return 0;
    SimTime first = settle_bound(soonest, 0);
    soonest->stack[waiting++] = 0;
    while (waiting) {
        int32_t at = soonest->stack[--waiting];
        if (soonest->heap[at].bound > first || settle_bound(soonest, at) > first) continue;
        channels[found++] = soonest->heap[at].channel;
        for (int32_t child = 2 * at + 2; child > 2 * at; child--)
            if (child < soonest->count) soonest->stack[waiting++] = child;
    }
    return found;
}
