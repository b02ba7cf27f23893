#include "sim/fluid.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/fluid_internal.h"
#include "sim/program.h"

struct Fluid {
    const System *system;
    Activity *activities; // [channel]
    Routes routes;
    int64_t *levels;   // [channel] while it is active
    int64_t *limits;   // [channel] the level its rate limit allows; NULL when no plan has one
    LinkUsers *users;  // [link]
    const bool *spare; // [link] never looked at
    int64_t **carried; // [channel][plan] so often
    double *link_bytes;
    Filling *filling;
    Soonest *soonest; // of active transfers
};

// ---- Links that never limit a rate, because all transfers that cross them also cross a link that is never less
// utilised: cables in series behind a host's own link, for example. Fair sharing can ignore them.

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

static bool *find_spare_links(Arena *arena, const System *system) {
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

// ---- What is there from the start.

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

Fluid *fluid_create(Arena *arena, const System *system) {
    Fluid *fluid = ARENA_NEW(arena, Fluid);
    fluid->system = system;
    fluid->activities = ARENA_ARRAY(arena, Activity, system->channel_count);
    fluid->levels = ARENA_ARRAY(arena, int64_t, system->channel_count);
    if (any_limit(system)) fluid->limits = ARENA_ARRAY(arena, int64_t, system->channel_count);
    fluid->users = ARENA_ARRAY(arena, LinkUsers, system->link_count);
    fluid->spare = find_spare_links(arena, system);
    fluid->link_bytes = ARENA_ARRAY(arena, double, system->link_count);
    fluid->carried = ARENA_ARRAY(arena, int64_t *, system->channel_count);
    for (int c = 0; c < system->channel_count; c++)
        fluid->carried[c] = ARENA_ARRAY(arena, int64_t, system->channels[c].plan_count);
    fluid->soonest = soonest_create(arena, system->channel_count, fluid->activities);
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

// Sets a new rate: the bytes left are settled and the end moves. An equal rate changes nothing, no rounding.
static void set_rate(Fluid *fluid, int32_t channel, SimTime now) {
    Activity *activity = &fluid->activities[channel];
    double rate = rate_from_level(fluid->levels[channel]) * activity->fairness;
    if (rate == activity->rate) return;
    settle(activity, now);
    activity->rate = rate;
    SimTime ticks = ticks_of(activity->bytes_left, rate);
    activity->end = time_later(now, ticks);
    if (activity->end < activity->bound) soonest_move(fluid->soonest, channel);
}

static int32_t link_of(const Fluid *fluid, const Route *route, int32_t use) {
    return fluid->routes.links[route->first + use];
}

// ---- Starts and ends.

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
    activity->end = SIM_TIME_NEVER;
    take_links(fluid, channel, plan);
    const Route *route = &fluid->routes.items[channel];
    activity->bound = 0; // it has no place among the others yet
    if (is_alone(fluid, route)) {
        filling_add_alone(fluid->filling, channel);
        set_rate(fluid, channel, now);
        soonest_add(fluid->soonest, channel);
        return false;
    }
    soonest_add(fluid->soonest, channel);
    filling_add(fluid->filling, channel);
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
    fluid_count_bytes(fluid, channel, (int32_t)(plan - fluid->system->channels[channel].plans), 1);
    bool shared = false;
    for (int u = 0; u < route->use_count; u++) {
        leave_link(fluid, route, u);
        shared = shared || fluid->users[link_of(fluid, route, u)].count > 0;
    }
    filling_remove(fluid->filling, channel);
    soonest_remove(fluid->soonest, channel);
    activity->plan = NULL;
    activity->rate = 0;
    return shared;
}

#define AHEAD 8 // distance of prefetching

void fluid_share(Fluid *fluid, SimTime now) {
    const int32_t *changed;
    int32_t count = filling_fill(fluid->filling, &changed);
    for (int32_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(&fluid->activities[changed[i + AHEAD]], 1);
        if (fluid->activities[changed[i]].plan) set_rate(fluid, changed[i], now);
    }
}

SimTime fluid_next_end(Fluid *fluid, int32_t *channel) {
    *channel = soonest_first(fluid->soonest);
    return *channel < 0 ? SIM_TIME_NEVER : fluid->activities[*channel].end;
}

void fluid_set_tolerance(Fluid *fluid, double tolerance) { filling_set_tolerance(fluid->filling, tolerance); }

void fluid_set_patience(Fluid *fluid, int64_t patience) { filling_set_patience(fluid->filling, patience); }

int64_t *fluid_carried(Fluid *fluid, int32_t channel) { return fluid->carried[channel]; }

bool fluid_state(const Fluid *fluid, int32_t channel, SimTime now, FluidState *state) {
    const Activity *activity = &fluid->activities[channel];
    if (!activity->plan) return false;
    SimTime end = activity->end;
    *state = (FluidState){activity->bytes_left, activity->rate, activity->settled - now,
                          end < SIM_TIME_NEVER ? end - now : end};
    return true;
}

void fluid_shift(Fluid *fluid, SimTime by) {
    for (int c = 0; c < fluid->system->channel_count; c++) {
        if (!fluid->activities[c].plan) continue;
        fluid->activities[c].settled += by;
        fluid->activities[c].end = time_later(fluid->activities[c].end, by);
    }
    soonest_shift(fluid->soonest, by);
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

// ---- Who of many ends first, when ends move all the time: a heap by bounds. An end that moves later leaves its bound
// where it is, which is put right when it comes to the top; only one that moves sooner has a way to go.

typedef struct Entry {
    SimTime bound; // it ends then or later
    int32_t channel;
} Entry;

struct Soonest {
    Entry *heap; // heap[0 … count-1], children of i at 4i+1 … 4i+4
    int32_t count;
    Activity *activities;
};

Soonest *soonest_create(Arena *arena, int32_t channels, Activity *activities) {
    Soonest *soonest = ARENA_NEW(arena, Soonest);
    soonest->heap = ARENA_ARRAY(arena, Entry, channels);
    soonest->activities = activities;
    return soonest;
}

static inline bool before(Entry one, Entry other) {
    return one.bound < other.bound || (one.bound == other.bound && one.channel < other.channel);
}

static inline void put(Soonest *soonest, int32_t at, Entry entry) {
    soonest->heap[at] = entry;
    soonest->activities[entry.channel].position = at;
}

static void rise(Soonest *soonest, int32_t at, Entry entry) {
    for (; at > 0 && before(entry, soonest->heap[(at - 1) / 4]); at = (at - 1) / 4)
        put(soonest, at, soonest->heap[(at - 1) / 4]);
    put(soonest, at, entry);
}

static void sink(Soonest *soonest, int32_t at, Entry entry) {
    const Entry *heap = soonest->heap;
    for (;;) {
        int32_t first = 4 * at + 1, least = first;
        if (first >= soonest->count) break;
        int32_t end = first + 4 < soonest->count ? first + 4 : soonest->count;
        for (int32_t child = first + 1; child < end; child++)
            if (before(heap[child], heap[least])) least = child;
        if (!before(heap[least], entry)) break;
        put(soonest, at, heap[least]);
        at = least;
    }
    put(soonest, at, entry);
}

// Puts the entry in its place in the heap, and updates its activity's bound.
static void settle_in(Soonest *soonest, int32_t at, Entry entry, bool rises) {
    soonest->activities[entry.channel].bound = entry.bound;
    if (rises)
        rise(soonest, at, entry);
    else
        sink(soonest, at, entry);
}

void soonest_add(Soonest *soonest, int32_t channel) {
    settle_in(soonest, soonest->count++, (Entry){soonest->activities[channel].end, channel}, true);
}

void soonest_remove(Soonest *soonest, int32_t channel) {
    int32_t at = soonest->activities[channel].position;
    Entry last = soonest->heap[--soonest->count];
    if (at == soonest->count) return;
    settle_in(soonest, at, last, at > 0 && before(last, soonest->heap[(at - 1) / 4]));
}

void soonest_move(Soonest *soonest, int32_t channel) {
    const Activity *activity = &soonest->activities[channel];
    if (activity->end < activity->bound) settle_in(soonest, activity->position, (Entry){activity->end, channel}, true);
}

void soonest_shift(Soonest *soonest, SimTime by) {
    for (int32_t i = 0; i < soonest->count; i++) {
        Entry *entry = &soonest->heap[i];
        entry->bound = soonest->activities[entry->channel].bound = time_later(entry->bound, by);
    }
}

int32_t soonest_first(Soonest *soonest) {
    if (soonest->count == 0) return -1;
    for (;;) {
        Entry top = soonest->heap[0];
        SimTime end = soonest->activities[top.channel].end;
        if (top.bound == end) return top.channel;
        settle_in(soonest, 0, (Entry){end, top.channel}, false);
    }
}

// ---- Weighted max-min by plain progressive filling: every round raises all rates until the next link or limit is
// reached. This is the slow reference of the incremental engine in fluid.c, with the same arithmetic.

void share_links(Arena *arena, const Link *links, int link_count, const Plan *const *plans, int plan_count,
                 double *rates) {
    double *left = ARENA_ARRAY(arena, double, link_count);   // capacity not yet given to frozen plans
    double *active = ARENA_ARRAY(arena, double, link_count); // sum of weight x fairness of plans still rising
    double *frozen = ARENA_ARRAY(arena, double, link_count); // the same sum of plans frozen in this round
    bool *rising = ARENA_ARRAY(arena, bool, plan_count);
    bool *full = ARENA_ARRAY(arena, bool, link_count);
    for (int l = 0; l < link_count; l++) left[l] = links[l].bytes_per_second;
    int rising_count = 0;
    for (int i = 0; i < plan_count; i++) {
        rates[i] = INFINITY;
        if (plans[i]->use_count == 0 && plans[i]->rate_limit <= 0) continue;
        rising[i] = true;
        rising_count++;
        for (int u = 0; u < plans[i]->use_count; u++)
            active[plans[i]->uses[u].link] += plans[i]->uses[u].weight * plans[i]->fairness;
    }
    while (rising_count) {
        double level = INFINITY;
        for (int l = 0; l < link_count; l++)
            if (active[l] > 0 && left[l] / active[l] < level) level = left[l] / active[l];
        for (int i = 0; i < plan_count; i++)
            if (rising[i] && plans[i]->rate_limit > 0 && plans[i]->rate_limit / plans[i]->fairness < level)
                level = plans[i]->rate_limit / plans[i]->fairness;
        CHECK(isfinite(level));
        if (level < 0) level = 0;
        for (int l = 0; l < link_count; l++) {
            full[l] = active[l] > 0 && left[l] / active[l] <= level;
            frozen[l] = 0;
        }
        for (int i = 0; i < plan_count; i++) {
            if (!rising[i]) continue;
            bool stop = plans[i]->rate_limit > 0 && plans[i]->rate_limit / plans[i]->fairness <= level;
            for (int u = 0; u < plans[i]->use_count && !stop; u++) stop = full[plans[i]->uses[u].link];
            if (!stop) continue;
            rates[i] = level * plans[i]->fairness;
            rising[i] = false;
            rising_count--;
            for (int u = 0; u < plans[i]->use_count; u++)
                frozen[plans[i]->uses[u].link] += plans[i]->uses[u].weight * plans[i]->fairness;
        }
        for (int l = 0; l < link_count; l++) {
            active[l] -= frozen[l];
            left[l] -= frozen[l] * level;
        }
    }
}

const char *share_fullest_link(const Link *links, int link_count, const Plan *plan) {
    const char *name = NULL;
    double most = 0;
    for (int u = 0; u < plan->use_count; u++) {
        int32_t link = plan->uses[u].link;
        if (link >= link_count || plan->uses[u].weight / links[link].bytes_per_second <= most) continue;
        most = plan->uses[u].weight / links[link].bytes_per_second;
        name = links[link].name;
    }
    return name;
}
