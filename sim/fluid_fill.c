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
    int32_t link_count, channel_count;
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
    f->channel_count = system->channel_count;
    f->heap = ARENA_ARRAY(arena, HeapEntry, system->link_count);
    f->risers = ARENA_ARRAY(arena, Riser, system->channel_count);
    f->changed = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->changed_at = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->filling = 1;
    f->patience = USUAL_PATIENCE;
    for (int32_t l = 0; l < system->link_count; l++) {
        links[l].slack = links[l].capacity;
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

// ---- Where the equations fail: a link is overloaded, or it holds users back that it has room for.
static bool has_room(const LinkState *link) { return link->level < LEVEL_MOST && link->slack >= link->held_share; }

static void look_at(Filling *f, int32_t id) {
    const LinkState *link = &f->links[id];
    if (link->queued) return;
    if (link->slack < 0)
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

static void move(Filling *f, int32_t channel, int64_t level) {
    const Route *route = &f->routes->items[channel];
    const int32_t *ids = &f->routes->links[route->first];
    int64_t old = f->levels[channel], change = level - old;
    note_change(f, channel);
    f->levels[channel] = level;
    for (int32_t u = 0; u < route->use_count; u++) {
        LinkState *link = &f->links[ids[u]];
        int64_t share = share_of(f->routes, route, u);
        link->slack -= (Load)change * share;
        if (old == link->level) link->held_share -= share;
        if (level == link->level) link->held_share += share;
        look_at(f, ids[u]);
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
        int64_t fits = level_that_fits(f->links[f->routes->links[route->first + u]].capacity, share);
        if (fits < level) level = fits;
    }
    return level;
}

// ---- Mending a link.

// The split of what is left among those of the risers that nothing else holds back below it; the others come to stand
// behind them. Returns it, and how many share it.
static int64_t split(Riser *risers, int32_t *count, Load left, int64_t share) {
    int64_t level = level_that_fits(left, share);
    for (int32_t before = -1; before != *count;) {
        before = *count;
        for (int32_t i = 0; i < *count;) {
            Riser riser = risers[i];
            if (riser.level > level) {
                i++;
                continue;
            }
            left -= (Load)riser.level * riser.share;
            share -= riser.share;
            risers[i] = risers[--*count];
            risers[*count] = riser;
        }
        if (*count != before && share > 0) level = level_that_fits(left, share);
    }
    return level;
}

static void set_link_level(Filling *f, LinkState *link, int64_t level) {
    link->level = level;
    link->held_share = 0;
    for (int32_t k = 0; k < link->user_count; k++)
        if (f->levels[link->users[k].channel] == level) link->held_share += link->users[k].share;
}

// The link has room: those it holds back rise until it is full again, or until all are held elsewhere.
static void raise_users(Filling *f, LinkState *link) {
    Riser *risers = f->risers;
    int32_t count = 0;
    Load wanted = 0;
    for (int32_t k = 0; k < link->user_count; k++) {
        const User *user = &link->users[k];
        if (f->levels[user->channel] != link->level) continue;
        int64_t elsewhere = level_elsewhere(f, user->channel, link);
        risers[count++] = (Riser){elsewhere, user->share, user->channel};
        if (wanted <= link->slack) wanted += (Load)(elsewhere - link->level) * user->share;
    }
    int32_t above = count;
    int64_t level = LEVEL_MOST;
    if (wanted > link->slack)
        level = split(risers, &above, link->slack + (Load)link->level * link->held_share, link->held_share);
    else
        above = 0;
    link->level = level;
    link->held_share = 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t to = i < above ? level : risers[i].level;
        if (to != f->levels[risers[i].channel]) move(f, risers[i].channel, to);
    }
}

// The link is overloaded: its highest users come down to what it can carry. `floor` is known to be no more than that.
static int64_t find_cut(Filling *f, const LinkState *link, int64_t floor, int32_t *count) {
    Riser *risers = f->risers;
    Load left = link->slack;
    int64_t share = 0;
    *count = 0;
    for (int32_t k = 0; k < link->user_count; k++) {
        const User *user = &link->users[k];
        int64_t level = f->levels[user->channel];
        if (level <= floor) continue;
        risers[(*count)++] = (Riser){level, user->share, user->channel};
        left += (Load)level * user->share;
        share += user->share;
    }
    CHECK(share > 0);
    return split(risers, count, left, share);
}

static void lower_users(Filling *f, LinkState *link, int64_t level, int32_t count) {
    set_link_level(f, link, level);
    for (int32_t i = 0; i < count; i++) move(f, f->risers[i].channel, level);
}

// A link whose turn has not come goes back into the queue.
static void mend(Filling *f, int32_t id) {
    LinkState *link = &f->links[id];
    int64_t level = link->level;
    int32_t count = 0;
    if (link->slack >= 0) {
        if (!has_room(link)) return;
        if (!is_next(f, level)) {
            enqueue(f, id, level);
            return;
        }
        link->queued = true; // not while it changes
        f->now = level;
        raise_users(f, link);
    } else {
        int64_t floor = 0;
        if (level < LEVEL_MOST && link->held_share > 0)
            floor = level_that_fits(link->slack + (Load)level * link->held_share, link->held_share);
        if (is_next(f, floor)) floor = find_cut(f, link, floor, &count);
        if (!count || !is_next(f, floor)) {
            enqueue(f, id, floor);
            return;
        }
        link->queued = true;
        f->now = floor;
        lower_users(f, link, floor, count);
    }
    link->queued = false;
    look_at(f, id);
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
        link->slack = link->capacity;
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
        if (level == f->links[id].level) f->links[id].held_share += share;
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
        if (level == link->level) link->held_share -= share;
        if (link->user_count == 0) link->level = LEVEL_MOST;
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
        LinkState *link = &f->links[f->routes->links[route->first + u]];
        int64_t share = share_of(f->routes, route, u);
        link->slack = link->capacity - (Load)level * share;
        bool full = !limited && share > 0 && link->slack < share;
        link->level = full ? level : LEVEL_MOST;
        link->held_share = full ? share : 0;
    }
}
