// Weighted max-min maintained while transfers start and end. Exact to the unit of a level, in any order.
//
// Each link has a level: the highest rate of its users there, the fair split of the capacity that users limited
// elsewhere leave; a transfer's level is the least of its links'. These equations have one solution, that of
// progressive filling: so it suffices to repair the links at which they fail, and those that this disturbs, lowest
// level first (as in the precedence of bottlenecks of Ros-Giralt et al., 2021). Most links are unaffected.
//
// Link X carries 10 B/s, link Y 4 B/s. Transfer a crosses X, transfer b crosses X and Y, all shares are 1:
//     Y has one user: its level is 4. b takes 4 on X, too, which leaves 6 to a: X's level is 6.     a 6, b 4
// Transfer c begins on Y. Y's users may take 4 together, so its equation fails, and its level becomes 2:  c 2, b 2
//     b leaves 2 more on X than before, so X's equation fails: level 8. Y, the lower, was settled first.  a 8
// b ends: Y's level is 4 and X's 10.                                                                 a 10, c 4
#include "sim/fluid_internal.h"

#define USUAL_PATIENCE 20

// One cache line: a change of a transfer reaches every link that it crosses.
typedef struct LinkState {
    Load slack;         // capacity less what its users take at their levels
    int64_t level;      // what the link allows its users; LEVEL_MOST: it is no limit to any
    int64_t watch;      // users that come to this level, or leave one above it, change more than the slack
    int64_t held_share; // of the users at the link's level
    int64_t share_sum;  // of all users
    int64_t slop;       // tolerated error of slack, in units of 2^32 of a load; 0: none
    bool queued;
    bool reached;  // by the change under way
    bool doubtful; // a user's level came so near to the link's that rounding decides which holds
} LinkState;

typedef struct HeapEntry {
    int64_t level; // nothing below it will change at this link
    int32_t link;
} HeapEntry;

typedef struct Riser { // a transfer whose level is in question at a link
    int64_t level, share;
    int32_t channel;
} Riser;

struct Filling {
    const Routes *routes;
    const LinkUsers *users; // [link]
    LinkState *links;
    const int64_t *limits;
    int64_t *levels;
    Load *capacity; // [link]
    int32_t link_count;
    HeapEntry *heap; // links where the equations may fail, from a level on
    int32_t heap_count;
    int32_t *fresh; // users with an unknown limiting link: a stack, processed first
    int32_t fresh_count;
    Riser *risers;
    int64_t now; // the level up to which all is settled
    int32_t *changed;
    int32_t changed_count;
    int32_t *changed_at; // [channel] number of the filling in which it changed
    int32_t filling;
    int32_t *reached; // links whose slack changes because the level of another does
    int64_t patience;
};

Filling *filling_create(Arena *arena, const System *system, const Routes *routes, const LinkUsers *users,
                        const int64_t *limits, int64_t *levels) {
    Filling *f = ARENA_NEW(arena, Filling);
    f->routes = routes;
    f->users = users;
    f->links = ARENA_ARRAY(arena, LinkState, system->link_count);
    f->limits = limits;
    f->levels = levels;
    f->link_count = system->link_count;
    f->capacity = ARENA_ARRAY(arena, Load, system->link_count);
    f->heap = ARENA_ARRAY(arena, HeapEntry, system->link_count);
    f->fresh = ARENA_ARRAY(arena, int32_t, system->link_count);
    f->risers = ARENA_ARRAY(arena, Riser, system->channel_count);
    f->changed = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->changed_at = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->reached = ARENA_ARRAY(arena, int32_t, system->link_count);
    f->filling = 1;
    f->patience = USUAL_PATIENCE;
    for (int32_t l = 0; l < system->link_count; l++) {
        f->capacity[l] = load_from_rate(system->links[l].bytes_per_second);
        f->links[l] = (LinkState){.slack = f->capacity[l], .level = LEVEL_MOST, .watch = LEVEL_MOST};
    }
    return f;
}

void filling_set_tolerance(Filling *f, double tolerance) {
    for (int32_t l = 0; l < f->link_count; l++)
        f->links[l].slop = (int64_t)(tolerance * (double)(f->capacity[l] >> 32));
}

void filling_set_patience(Filling *f, int64_t patience) { f->patience = patience; }

// ---- The queue: a heap of links by the level from which on they may change.
static void sink(Filling *f, int32_t at) {
    HeapEntry entry = f->heap[at];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= f->heap_count) break;
        if (child + 1 < f->heap_count && f->heap[child + 1].level < f->heap[child].level) child++;
        if (f->heap[child].level >= entry.level) break;
        f->heap[at] = f->heap[child];
        at = child;
    }
    f->heap[at] = entry;
}

static void enqueue(Filling *f, int32_t id, int64_t level) {
    int32_t at = f->heap_count++;
    f->links[id].queued = true;
    for (; at > 0 && level < f->heap[(at - 1) / 2].level; at = (at - 1) / 2) f->heap[at] = f->heap[(at - 1) / 2];
    f->heap[at] = (HeapEntry){level, id};
}

static int32_t dequeue(Filling *f) {
    int32_t id;
    if (f->fresh_count) {
        id = f->fresh[--f->fresh_count];
    } else {
        id = f->heap[0].link;
        f->heap[0] = f->heap[--f->heap_count];
        if (f->heap_count) sink(f, 0);
    }
    f->links[id].queued = false;
    return id;
}

static bool is_next(const Filling *f, int64_t level) {
    return (!f->fresh_count || level <= f->now) && (!f->heap_count || level <= f->heap[0].level);
}

// ---- Where the equations fail: a link is overloaded, or it limits users although it has capacity left. Levels are
// rounded down, and ties are for the link: so it may also limit users within a unit or so of their limit elsewhere.
static bool may_be_overloaded(const LinkState *link) {
    if (link->slop) return (int64_t)(link->slack >> 32) < -link->slop;
    return link->slack < 0 || link->doubtful || (link->level == LEVEL_MOST && link->slack < link->share_sum);
}

static int64_t near_units(const LinkState *link) {
    return link->held_share > 0 ? link->share_sum / link->held_share + 1 : 0;
}

static bool is_near(const LinkState *link, int64_t level) {
    return level < link->level && (Load)(link->level - level - 1) * link->held_share < link->share_sum;
}

// Nothing is near below this level, by powers of two.
static void set_watch(LinkState *link) {
    if (link->level == LEVEL_MOST)
        link->watch = LEVEL_MOST;
    else if (link->held_share <= 0)
        link->watch = 0;
    else
        link->watch = link->level - 2 - (link->share_sum >> (63 - __builtin_clzll((uint64_t)link->held_share)));
}

static bool has_room(const LinkState *link) {
    if (link->slop && (int64_t)(link->slack >> 32) < link->slop) return false;
    return link->level < LEVEL_MOST && link->slack >= link->held_share;
}

static inline void look_at(Filling *f, int32_t id) {
    const LinkState *link = &f->links[id];
    if (link->queued) return;
    if (may_be_overloaded(link))
        f->links[id].queued = true, f->fresh[f->fresh_count++] = id;
    else if (has_room(link))
        enqueue(f, id, link->level);
}

// ---- Levels of transfers.
static void note_change(Filling *f, int32_t channel) {
    if (f->changed_at[channel] == f->filling) return;
    f->changed_at[channel] = f->filling;
    f->changed[f->changed_count++] = channel;
}

// A user's level has come to the link's own or left it, or has come near.
static void note_near(LinkState *link, int64_t old, int64_t level, int64_t share) {
    if (link->level == LEVEL_MOST) return;
    link->held_share += (level == link->level ? share : 0) - (old == link->level ? share : 0);
    if (is_near(link, level)) link->doubtful = true;
    set_watch(link);
}

// The links that the change of one's level reaches: each is looked at when all of that link's users have moved.
typedef struct Reach {
    int32_t *links;
    int32_t count;
    int32_t own; // keeps its own account
} Reach;

static inline void reach(Reach *reached, LinkState *link, int32_t id) {
    if (link->reached) return;
    link->reached = true;
    reached->links[reached->count++] = id;
}

static inline void move(const Filling *f, int32_t channel, int64_t old, int64_t level, Reach *reached) {
    const Route *route = &f->routes->items[channel];
    const int32_t *id = links_of(f->routes, route), *end = id + route->use_count;
    LinkState *links = f->links;
    int64_t share = route->share, most = level > old ? level : old;
    Load more = (Load)(level - old) * share;
    for (; id < end; id++) {
        LinkState *link = &links[*id];
        if (*id == reached->own) continue;
        link->slack -= more;
        if (most >= link->watch) note_near(link, old, level, share);
        reach(reached, link, *id);
    }
}

// The same where it does not have the same share on all links.
static void move_uneven(const Filling *f, int32_t channel, int64_t old, int64_t level, Reach *reached) {
    const Route *route = &f->routes->items[channel];
    for (int32_t u = 0; u < route->use_count; u++) {
        int32_t id = f->routes->links[route->first + u];
        int64_t share = f->routes->shares[route->first + u];
        LinkState *link = &f->links[id];
        if (id == reached->own) continue;
        link->slack -= (Load)(level - old) * share;
        if (level >= link->watch || old >= link->watch) note_near(link, old, level, share);
        reach(reached, link, id);
    }
}

// What its links allow it, and its rate limit.
static inline int64_t level_allowed(const Filling *f, int32_t channel) {
    const Route *route = &f->routes->items[channel];
    const int32_t *ids = links_of(f->routes, route), *end = ids + route->use_count;
    int64_t level = f->limits ? f->limits[channel] : LEVEL_MOST;
    for (; ids < end; ids++)
        if (f->links[*ids].level < level) level = f->links[*ids].level;
    return level;
}

// Its level when it has its links to itself.
static int64_t level_alone(const Filling *f, int32_t channel) {
    const Route *route = &f->routes->items[channel];
    int64_t level = LEVEL_MOST - 1;
    for (int32_t u = 0; u < route->use_count; u++) {
        int64_t share = share_of(f->routes, route, u);
        if (share == 0) continue;
        int64_t fits = level_that_fits(f->capacity[f->routes->links[route->first + u]], share);
        if (fits < level) level = fits;
    }
    return level;
}

// ---- Mending a link.

// What is left is split among the risers that want it; those that want less than the others get are content.
// LEVEL_MOST: all are.
static int64_t split(const Riser *risers, int32_t count, Load left, int64_t share) {
    int64_t level = 0;
    for (int64_t before = -1; share > 0 && before < level;) {
        before = before < 0 ? 0 : level;
        level = level_that_fits(left, share);
        for (int32_t i = 0; i < count; i++) {
            if (risers[i].level < before || risers[i].level >= level) continue;
            left -= (Load)risers[i].level * risers[i].share;
            share -= risers[i].share;
        }
    }
    return share > 0 ? level : LEVEL_MOST;
}

// The risers come to the link's new level or to what holds them back below it.
static void move_risers(Filling *f, int32_t id, int64_t level, int32_t count) {
    LinkState *link = &f->links[id];
    Load more = 0;
    int64_t held_share = 0, nearest = -1;
    Reach reached = {f->reached, 0, id};
    for (int32_t i = 0; i < count; i++) {
        Riser riser = f->risers[i];
        int64_t old = f->levels[riser.channel], to = level;
        if (riser.level >= level)
            held_share += riser.share;
        else
            to = riser.level;
        if (to == old) continue;
        if (to < level && to > nearest) nearest = to;
        more += (Load)(to - old) * riser.share;
        note_change(f, riser.channel);
        f->levels[riser.channel] = to;
        if (f->routes->items[riser.channel].share < 0)
            move_uneven(f, riser.channel, old, to, &reached);
        else
            move(f, riser.channel, old, to, &reached);
    }
    link->slack -= more;
    link->level = level;
    link->held_share = held_share;
    link->doubtful = nearest >= 0 && is_near(link, nearest);
    set_watch(link);
    for (int32_t i = 0; i < reached.count; i++) {
        f->links[reached.links[i]].reached = false;
        look_at(f, reached.links[i]);
    }
    look_at(f, id);
}

// The link has room: those it holds back rise until it is full again, or until all are held elsewhere.
static void raise_users(Filling *f, int32_t id) {
    LinkState *link = &f->links[id];
    const LinkUsers *users = &f->users[id];
    int64_t held_at = link->level;
    int32_t count = 0;
    link->level = LEVEL_MOST; // it does not hold them itself
    for (int32_t k = 0; k < users->count; k++) {
        const User *user = &users->list[k];
        if (f->levels[user->channel] != held_at) continue;
        f->risers[count++] = (Riser){level_allowed(f, user->channel), user->share, user->channel};
    }
    f->now = held_at;
    Load left = link->slack + (Load)held_at * link->held_share;
    move_risers(f, id, split(f->risers, count, left, link->held_share), count);
}

// The level at which an overloaded link is full, if all its users take what they have elsewhere; at least `floor`.
// LEVEL_MOST: it is not overloaded. Leaves those users as risers.
static int64_t find_cut(Filling *f, int32_t id, int64_t floor, int32_t *count) {
    const LinkUsers *users = &f->users[id];
    Load left = f->links[id].slack;
    int64_t share = 0;
    int32_t found = 0;
    for (int32_t k = 0; k < users->count; k++) {
        const User *user = &users->list[k];
        int64_t level = f->levels[user->channel];
        if (level < floor) continue;
        int64_t part = user->share;
        f->risers[found++] = (Riser){level, part, user->channel};
        left += (Load)level * part;
        share += part;
    }
    *count = found;
    return split(f->risers, found, left, share);
}

// No user's level below this one is too high.
static int64_t least_cut(const LinkState *link) {
    if (link->level == LEVEL_MOST || link->held_share <= 0) return 0;
    int64_t level = level_that_fits(link->slack + (Load)link->level * link->held_share, link->held_share);
    if (level > link->level) level = link->level;
    return level > near_units(link) ? level - near_units(link) : 0;
}

static void lower_users(Filling *f, int32_t id) {
    LinkState *link = &f->links[id];
    int64_t cut = least_cut(link);
    int32_t count = 0;
    if (is_next(f, cut)) {
        cut = find_cut(f, id, cut, &count);
        if (cut == LEVEL_MOST || cut == link->level) { // all is well
            link->doubtful = false;
            if (has_room(link)) enqueue(f, id, link->level);
            return;
        }
    }
    if (!is_next(f, cut)) {
        enqueue(f, id, cut);
        return;
    }
    f->now = cut;
    move_risers(f, id, cut, count);
}

// A link whose turn has not come goes back into the queue.
static void mend(Filling *f, int32_t id) {
    LinkState *link = &f->links[id];
    if (may_be_overloaded(link)) {
        lower_users(f, id);
    } else if (has_room(link) && !is_next(f, link->level)) {
        enqueue(f, id, link->level);
    } else if (has_room(link)) {
        raise_users(f, id);
    }
}

// false: it takes too long.
static bool mend_all(Filling *f, int64_t looks) {
    f->now = 0;
    while (f->fresh_count || f->heap_count) {
        if (looks-- == 0) return false;
        mend(f, dequeue(f));
    }
    return true;
}

// Progressive filling from nothing: no link is a limit yet, all want more than they can have, and the links' turns come
// by rising level, each once.
static void start_over(Filling *f) {
    while (f->fresh_count || f->heap_count) dequeue(f);
    for (int32_t l = 0; l < f->link_count; l++) {
        for (int32_t k = 0; k < f->users[l].count; k++) {
            int32_t channel = f->users[l].list[k].channel;
            int64_t limit = f->limits ? f->limits[channel] : LEVEL_MOST, alone = level_alone(f, channel) + 1;
            note_change(f, channel);
            f->levels[channel] = limit < alone ? limit : alone;
        }
    }
    f->now = 0;
    for (int32_t l = 0; l < f->link_count; l++) {
        LinkState *link = &f->links[l];
        link->level = link->watch = LEVEL_MOST;
        link->doubtful = false;
        link->slack = f->capacity[l];
        for (int32_t k = 0; k < f->users[l].count; k++) {
            const User *user = &f->users[l].list[k];
            link->slack -= (Load)f->levels[user->channel] * user->share;
        }
        look_at(f, l);
    }
}

int32_t filling_fill(Filling *f, const int32_t **changed) {
    if (!mend_all(f, f->patience * f->link_count)) {
        start_over(f);
        mend_all(f, INT64_MAX);
    }
    int32_t count = f->changed_count;
    *changed = f->changed;
    f->changed_count = 0;
    f->filling++;
    return count;
}

// ---- Coming and going.

// It starts at what its links allow now: more than its tightest can carry for it alone when no link is a limit yet.
void filling_add(Filling *f, int32_t channel) {
    const Route *route = &f->routes->items[channel];
    int64_t level = level_allowed(f, channel);
    if (level == LEVEL_MOST) level = level_alone(f, channel) + 1;
    f->levels[channel] = level;
    f->now = 0;
    note_change(f, channel);
    for (int32_t u = 0; u < route->use_count; u++) {
        int32_t id = f->routes->links[route->first + u];
        int64_t share = share_of(f->routes, route, u);
        LinkState *link = &f->links[id];
        link->slack -= (Load)level * share;
        link->share_sum += share;
        if (level == link->level) link->held_share += share;
        if (link->level < LEVEL_MOST && is_near(link, level)) link->doubtful = true;
        set_watch(link);
        look_at(f, id);
    }
}

void filling_remove(Filling *f, int32_t channel) {
    const Route *route = &f->routes->items[channel];
    int64_t level = f->levels[channel];
    f->now = 0;
    for (int32_t u = 0; u < route->use_count; u++) {
        int32_t id = f->routes->links[route->first + u];
        LinkState *link = &f->links[id];
        int64_t share = share_of(f->routes, route, u);
        link->slack += (Load)level * share;
        link->share_sum -= share;
        if (level == link->level) link->held_share -= share;
        if (f->users[id].count == 0) link->level = LEVEL_MOST, link->doubtful = false;
        set_watch(link);
        look_at(f, id);
    }
}

void filling_add_alone(Filling *f, int32_t channel) {
    const Route *route = &f->routes->items[channel];
    int64_t limit = f->limits ? f->limits[channel] : LEVEL_MOST, level = level_alone(f, channel);
    bool limited = limit <= level;
    if (limited || level == LEVEL_MOST - 1) level = limit;
    f->levels[channel] = level;
    for (int32_t u = 0; u < route->use_count; u++) {
        int32_t id = f->routes->links[route->first + u];
        LinkState *link = &f->links[id];
        int64_t share = share_of(f->routes, route, u);
        link->slack = f->capacity[id] - (Load)level * share;
        bool full = !limited && share > 0 && link->slack < share;
        link->level = full ? level : LEVEL_MOST;
        link->doubtful = false;
        link->held_share = full ? share : 0;
        link->share_sum = share;
        set_watch(link);
    }
}
