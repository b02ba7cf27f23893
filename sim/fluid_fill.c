// Weighted max-min kept true while transfers come and go. Exact to the unit of exact.h, whatever the order.
//
// Each link has a level: the most that its users get there. It is the fair split of what users limited elsewhere leave;
// and a transfer's level is the least of its links'. These equations have one solution, the one that progressive
// filling finds: so it is enough to mend the links at which they fail, and those that this disturbs, lowest level first
// (as in the precedence of bottlenecks of Ros-Giralt et al., 2021). Most links never hear of a change.
#include "sim/fluid_internal.h"

#define USUAL_PATIENCE 20

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
    LinkState *links;
    const int64_t *limits;
    int64_t *levels;
    Load *capacity; // [link]
    int32_t link_count;
    HeapEntry *heap; // links where the equations may fail
    int32_t heap_count;
    Riser *risers;
    int64_t now; // the level up to which all is settled
    int32_t *changed;
    int32_t changed_count;
    int32_t *changed_at; // [channel] number of the filling in which it changed
    int32_t filling;
    int64_t patience;
};

Filling *filling_create(Arena *arena, const System *system, const Routes *routes, LinkState *links,
                        const int64_t *limits, int64_t *levels) {
    Filling *f = ARENA_NEW(arena, Filling);
    f->routes = routes;
    f->links = links;
    f->limits = limits;
    f->levels = levels;
    f->link_count = system->link_count;
    f->capacity = ARENA_ARRAY(arena, Load, system->link_count);
    f->heap = ARENA_ARRAY(arena, HeapEntry, system->link_count);
    f->risers = ARENA_ARRAY(arena, Riser, system->channel_count);
    f->changed = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->changed_at = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->filling = 1;
    f->patience = USUAL_PATIENCE;
    for (int32_t l = 0; l < system->link_count; l++) {
        f->capacity[l] = links[l].slack = load_from_rate(system->links[l].bytes_per_second);
        links[l].level = LEVEL_MOST;
    }
    return f;
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
    int32_t id = f->heap[0].link;
    f->heap[0] = f->heap[--f->heap_count];
    if (f->heap_count) sink(f, 0);
    f->links[id].queued = false;
    return id;
}

static bool is_next(const Filling *f, int64_t level) { return !f->heap_count || level <= f->heap[0].level; }

// ---- Where the equations fail: a link is overloaded, or it holds users back that it has room for. Levels are rounded
// down, and ties are for the link: so it may also hold users that are within a unit or so of what holds them elsewhere.
static bool may_be_overloaded(const LinkState *link) {
    return link->slack < 0 || link->doubtful || (link->level == LEVEL_MOST && link->slack < link->share_sum);
}

static int64_t near_units(const LinkState *link) {
    return link->held_share > 0 ? link->share_sum / link->held_share + 1 : 0;
}

static bool is_near(const LinkState *link, int64_t level) {
    return level < link->level && (Load)(link->level - level - 1) * link->held_share < link->share_sum;
}

static bool has_room(const LinkState *link) { return link->level < LEVEL_MOST && link->slack >= link->held_share; }

static inline void look_at(Filling *f, int32_t id) {
    const LinkState *link = &f->links[id];
    if (link->queued) return;
    if (may_be_overloaded(link))
        enqueue(f, id, f->now);
    else if (has_room(link))
        enqueue(f, id, link->level);
}

// ---- Levels of transfers.
static void note_change(Filling *f, int32_t channel) {
    if (f->changed_at[channel] == f->filling) return;
    f->changed_at[channel] = f->filling;
    f->changed[f->changed_count++] = channel;
}

static void load_more(Filling *f, int32_t id, Load more) {
    LinkState *link = &f->links[id];
    link->slack -= more;
    if (link->slack < link->share_sum && !link->queued) enqueue(f, id, f->now);
}

static void load_more_limit(Filling *f, int32_t id, int64_t old, int64_t level, int64_t share, Load more) {
    LinkState *link = &f->links[id];
    link->slack -= more;
    link->held_share += (level == link->level ? share : 0) - (old == link->level ? share : 0);
    if (is_near(link, level)) link->doubtful = true;
    look_at(f, id);
}

static void move(Filling *f, int32_t channel, int64_t level) {
    const Route *route = &f->routes->items[channel];
    const int32_t *ids = &f->routes->links[route->first];
    int64_t old = f->levels[channel], share = route->share;
    Load more = (Load)(level - old) * share;
    note_change(f, channel);
    f->levels[channel] = level;
    for (int32_t u = 0; u < route->use_count; u++) {
        if (route->share < 0) { // not the same on all links
            share = f->routes->shares[route->first + u];
            more = (Load)(level - old) * share;
        }
        if (f->links[ids[u]].level == LEVEL_MOST)
            load_more(f, ids[u], more);
        else
            load_more_limit(f, ids[u], old, level, share, more);
    }
}

// What all its links but one allow it, and its rate limit.
static int64_t level_elsewhere(const Filling *f, int32_t channel, const LinkState *except) {
    const Route *route = &f->routes->items[channel];
    const int32_t *ids = &f->routes->links[route->first];
    int64_t level = f->limits ? f->limits[channel] : LEVEL_MOST;
    for (int32_t u = 0; u < route->use_count; u++) {
        const LinkState *link = &f->links[ids[u]];
        if (link != except && link->level < level) level = link->level;
    }
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

// The split of what is left among those of the risers that are not held back below it, whose number it leaves in
// `count`: 0 when all of them are.
static int64_t split(Riser *risers, int32_t *count, Load left, int64_t share) {
    int64_t level = LEVEL_MOST;
    for (int32_t before = -1; before != *count && share > 0;) {
        before = *count;
        level = level_that_fits(left, share);
        for (int32_t i = 0; i < *count;) {
            Riser riser = risers[i];
            if (riser.level >= level) {
                i++;
                continue;
            }
            left -= (Load)riser.level * riser.share;
            share -= riser.share;
            risers[i] = risers[--*count];
            risers[*count] = riser;
        }
    }
    if (share == 0) *count = 0;
    return *count ? level : LEVEL_MOST;
}

// The first `above` of the risers come to the link's new level, the others to what holds them back.
static void move_risers(Filling *f, LinkState *link, int64_t level, int32_t above, int32_t count) {
    link->level = level;
    link->held_share = 0;
    for (int32_t i = 0; i < count; i++) {
        const Riser *riser = &f->risers[i];
        int64_t to = i < above ? level : riser->level;
        if (to != f->levels[riser->channel])
            move(f, riser->channel, to);
        else if (to == level)
            link->held_share += riser->share;
    }
}

// The link has room: those it holds back rise until it is full again, or until all are held elsewhere.
static void raise_users(Filling *f, LinkState *link) {
    int32_t count = 0;
    for (int32_t k = 0; k < link->user_count; k++) {
        const User *user = &link->users[k];
        if (f->levels[user->channel] != link->level) continue;
        f->risers[count++] = (Riser){level_elsewhere(f, user->channel, link), user->share, user->channel};
    }
    int32_t above = count;
    Load left = link->slack + (Load)link->level * link->held_share;
    int64_t level = split(f->risers, &above, left, link->held_share);
    move_risers(f, link, level, above, count);
}

// The level at which an overloaded link is full, for users who all want what they have; it is known to be `floor` or
// more. `count` says how many want that much.
static int64_t find_cut(Filling *f, const LinkState *link, int64_t floor, int32_t *count) {
    Load left = link->slack;
    int64_t share = 0;
    *count = 0;
    for (int32_t k = 0; k < link->user_count; k++) {
        const User *user = &link->users[k];
        int64_t level = f->levels[user->channel];
        if (level < floor) continue;
        f->risers[(*count)++] = (Riser){level, user->share, user->channel};
        left += (Load)level * user->share;
        share += user->share;
    }
    return split(f->risers, count, left, share);
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
        cut = find_cut(f, link, cut, &count);
        if (!count || cut == link->level) { // all is well
            link->doubtful = false;
            if (has_room(link)) enqueue(f, id, link->level);
            return;
        }
    }
    if (!is_next(f, cut)) {
        enqueue(f, id, cut);
        return;
    }
    link->doubtful = false;
    link->queued = true; // not while it changes
    f->now = cut;
    move_risers(f, link, cut, count, count);
    link->queued = false;
    look_at(f, id);
}

// A link whose turn has not come goes back into the queue.
static void mend(Filling *f, int32_t id) {
    LinkState *link = &f->links[id];
    if (may_be_overloaded(link)) {
        lower_users(f, id);
    } else if (has_room(link) && !is_next(f, link->level)) {
        enqueue(f, id, link->level);
    } else if (has_room(link)) {
        link->queued = true;
        f->now = link->level;
        raise_users(f, link);
        link->queued = false;
        look_at(f, id);
    }
}

// false: it takes too long.
static bool mend_all(Filling *f, int64_t looks) {
    f->now = 0;
    while (f->heap_count) {
        if (looks-- == 0) return false;
        mend(f, dequeue(f));
    }
    return true;
}

// Progressive filling from nothing: no link is a limit yet, all want more than they can have, and the links' turns come
// by rising level, each once.
static void start_over(Filling *f) {
    while (f->heap_count) dequeue(f);
    for (int32_t l = 0; l < f->link_count; l++) {
        LinkState *link = &f->links[l];
        for (int32_t k = 0; k < link->user_count; k++) {
            int32_t channel = link->users[k].channel;
            int64_t limit = f->limits ? f->limits[channel] : LEVEL_MOST, alone = level_alone(f, channel) + 1;
            note_change(f, channel);
            f->levels[channel] = limit < alone ? limit : alone;
        }
    }
    f->now = 0;
    for (int32_t l = 0; l < f->link_count; l++) {
        LinkState *link = &f->links[l];
        link->level = LEVEL_MOST;
        link->doubtful = false;
        link->slack = f->capacity[l];
        for (int32_t k = 0; k < link->user_count; k++)
            link->slack -= (Load)f->levels[link->users[k].channel] * link->users[k].share;
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
    int64_t level = level_elsewhere(f, channel, NULL), alone = level_alone(f, channel) + 1;
    if (alone < level) level = alone;
    f->levels[channel] = level;
    f->now = 0;
    note_change(f, channel);
    for (int32_t u = 0; u < route->use_count; u++) {
        int32_t id = f->routes->links[route->first + u];
        int64_t share = share_of(f->routes, route, u);
        f->links[id].slack -= (Load)level * share;
        f->links[id].share_sum += share;
        if (level == f->links[id].level) f->links[id].held_share += share;
        if (f->links[id].level < LEVEL_MOST && is_near(&f->links[id], level)) f->links[id].doubtful = true;
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
        if (link->user_count == 0) link->level = LEVEL_MOST, link->doubtful = false;
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
    }
}
