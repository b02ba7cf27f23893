// Weighted max-min for one part of the network by progressive filling: levels rise together until a link is full or a
// limit is reached, and what crosses it stops there. Exact to the unit of exact.h, whatever the order.
//
// Two things make it fast. Transfers below the level at which something changed keep theirs: while the levels rise to
// that point, nothing differs. And only links that were full lately are watched from the start; the others are checked
// afterwards, and watched too if they turn out overloaded, which few do (constraint generation).
#include "sim/fluid_internal.h"

#define LEVEL_RISING LEVEL_NEW
#define REVIEW_EVERY 64 // fillings; links not full for so long are no longer watched

typedef struct HeapEntry {
    int64_t level; // at most the true one: a link's fair level only grows while others stop below it
    int32_t item;  // link, or link_count + channel for a rate limit
} HeapEntry;

// A watched link during a filling: what is left for the transfers that still rise, and their shares.
typedef struct Rise {
    Load left;
    int64_t share;
    int32_t visit;
} Rise;

struct Filling {
    Routes *routes;
    LinkState *links;
    const int64_t *limits;
    int64_t *levels;
    int32_t link_count;
    Rise *rises; // [link]
    HeapEntry *heap;
    int32_t heap_count;
    int32_t *touched; // watched links of the transfers being filled
    int32_t touched_count;
    int32_t *full; // links and limits that are full at the present level
    int32_t *released;
    int32_t released_count;
    int32_t *changed;
    int32_t changed_count;
    int32_t *changed_at; // [channel] filling in which it changed
    int64_t *loaded;     // [channel] the level that links' loads count
    int32_t *suspects;   // links to watch from the next round on
    int32_t suspect_count;
    int32_t visit;   // number of the round
    int32_t filling; // number of the filling
};

Filling *filling_create(Arena *arena, const System *system, Routes *routes, LinkState *links, const int64_t *limits,
                        int64_t *levels) {
    Filling *f = ARENA_NEW(arena, Filling);
    int items = system->link_count + (limits ? system->channel_count : 0);
    f->routes = routes;
    f->links = links;
    f->limits = limits;
    f->levels = levels;
    f->link_count = system->link_count;
    f->rises = ARENA_ARRAY(arena, Rise, system->link_count);
    f->heap = ARENA_ARRAY(arena, HeapEntry, items);
    f->full = ARENA_ARRAY(arena, int32_t, items);
    f->touched = ARENA_ARRAY(arena, int32_t, system->link_count);
    f->suspects = ARENA_ARRAY(arena, int32_t, system->link_count);
    f->released = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->changed = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->changed_at = ARENA_ARRAY(arena, int32_t, system->channel_count);
    f->loaded = ARENA_ARRAY(arena, int64_t, system->channel_count);
    return f;
}

// ---- A heap of entries whose level may be out of date on the low side.

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

static void drop_top(Filling *f) {
    f->heap[0] = f->heap[--f->heap_count];
    if (f->heap_count) sink(f, 0);
}

// The level at which this entry stops transfers, now; LEVEL_NONE when nothing of it rises any more.
static int64_t true_level(const Filling *f, int32_t item) {
    if (item >= f->link_count) {
        int32_t channel = item - f->link_count;
        return f->levels[channel] == LEVEL_RISING ? f->limits[channel] : LEVEL_NONE;
    }
    const Rise *rise = &f->rises[item];
    return rise->share > 0 ? level_that_fits(rise->left, rise->share) : LEVEL_NONE;
}

// ---- Watching.

static void swap_uses(Filling *f, int32_t channel, int32_t a, int32_t b) {
    Routes *routes = f->routes;
    int32_t first = routes->items[channel].first, at = first + a, to = first + b;
    int32_t link = routes->links[at], position = routes->positions[at];
    int64_t share = routes->shares[at];
    routes->links[at] = routes->links[to], routes->links[to] = link;
    routes->positions[at] = routes->positions[to], routes->positions[to] = position;
    routes->shares[at] = routes->shares[to], routes->shares[to] = share;
    f->links[routes->links[at]].users[routes->positions[at]].use = a;
    f->links[routes->links[to]].users[routes->positions[to]].use = b;
}

static void watch(Filling *f, LinkState *link) {
    link->full_at = f->filling;
    if (link->watched) return;
    link->watched = true;
    for (int32_t k = 0; k < link->user_count; k++) {
        int32_t channel = link->users[k].channel;
        swap_uses(f, channel, link->users[k].use, f->routes->items[channel].watched_count++);
    }
}

static void unwatch(Filling *f, LinkState *link) {
    link->watched = false;
    for (int32_t k = 0; k < link->user_count; k++) {
        int32_t channel = link->users[k].channel;
        swap_uses(f, channel, link->users[k].use, --f->routes->items[channel].watched_count);
    }
}

static void suspect(Filling *f, int32_t link) {
    if (f->links[link].suspect) return;
    f->links[link].suspect = true;
    f->suspects[f->suspect_count++] = link;
}

static bool watch_suspects(Filling *f) {
    bool any = f->suspect_count > 0;
    for (int32_t s = 0; s < f->suspect_count; s++) {
        f->links[f->suspects[s]].suspect = false;
        watch(f, &f->links[f->suspects[s]]);
    }
    f->suspect_count = 0;
    return any;
}

static void review_watched(Filling *f) {
    for (int32_t t = 0; t < f->touched_count; t++) {
        LinkState *link = &f->links[f->touched[t]];
        if (link->watched && link->full_at < f->filling - REVIEW_EVERY) unwatch(f, link);
    }
}

// ---- Filling.

static Rise *rise_on(Filling *f, int32_t id) {
    Rise *rise = &f->rises[id];
    if (rise->visit == f->visit) return rise;
    *rise = (Rise){.left = f->links[id].capacity - f->links[id].load, .visit = f->visit};
    f->touched[f->touched_count++] = id;
    return rise;
}

// Takes the transfers off their watched links' loads: they rise again.
static void release(Filling *f) {
    f->visit++;
    f->touched_count = 0;
    for (int32_t i = 0; i < f->released_count; i++) {
        int32_t channel = f->released[i];
        const Route *route = &f->routes->items[channel];
        const int32_t *links = &f->routes->links[route->first];
        int64_t level = f->loaded[channel], share = route->share;
        f->levels[channel] = LEVEL_RISING;
        Load load = (Load)level * share;
        for (int32_t u = 0; u < route->watched_count; u++) {
            Rise *rise = rise_on(f, links[u]);
            if (route->share < 0) { // not the same on all links
                share = f->routes->shares[route->first + u];
                load = (Load)level * share;
            }
            rise->left += load;
            rise->share += share;
        }
    }
}

static void heap_build(Filling *f) {
    f->heap_count = 0;
    for (int32_t t = 0; t < f->touched_count; t++)
        f->heap[f->heap_count++] = (HeapEntry){true_level(f, f->touched[t]), f->touched[t]};
    for (int32_t i = 0; f->limits && i < f->released_count; i++)
        if (f->limits[f->released[i]] < LEVEL_MOST)
            f->heap[f->heap_count++] = (HeapEntry){f->limits[f->released[i]], f->link_count + f->released[i]};
    for (int32_t at = f->heap_count / 2; at-- > 0;) sink(f, at);
}

static void stop(Filling *f, int32_t channel, int64_t level) {
    f->levels[channel] = level;
    const Route *route = &f->routes->items[channel];
    const int32_t *links = &f->routes->links[route->first];
    int64_t share = route->share;
    Load load = (Load)level * share;
    for (int32_t u = 0; u < route->watched_count; u++) {
        Rise *rise = &f->rises[links[u]];
        if (route->share < 0) {
            share = f->routes->shares[route->first + u];
            load = (Load)level * share;
        }
        rise->left -= load;
        rise->share -= share;
    }
}

// All that is full at the lowest level is found before anything stops: ties are treated alike.
static int32_t find_full(Filling *f, int64_t *level) {
    int32_t count = 0;
    *level = LEVEL_MOST;
    while (f->heap_count && f->heap[0].level <= *level) {
        int64_t now = true_level(f, f->heap[0].item);
        if (now < 0) {
            drop_top(f);
        } else if (now > f->heap[0].level) {
            f->heap[0].level = now;
            sink(f, 0);
        } else {
            *level = now;
            f->full[count++] = f->heap[0].item;
            drop_top(f);
        }
    }
    return count;
}

static int32_t stop_on_link(Filling *f, LinkState *link, int64_t level) {
    int32_t stopped = 0;
    link->full_at = f->filling;
    for (int32_t k = 0; k < link->user_count; k++) {
        if (f->levels[link->users[k].channel] != LEVEL_RISING) continue;
        stop(f, link->users[k].channel, level);
        stopped++;
    }
    return stopped;
}

// Returns how many of the released transfers have stopped; fewer than all means that some cross no watched link.
static int32_t raise_levels(Filling *f) {
    int32_t stopped = 0;
    for (;;) {
        int64_t level;
        int32_t full = find_full(f, &level);
        if (!full) return stopped;
        for (int32_t i = 0; i < full; i++) {
            int32_t limited = f->full[i] - f->link_count;
            if (limited < 0) {
                stopped += stop_on_link(f, &f->links[f->full[i]], level);
            } else if (f->levels[limited] == LEVEL_RISING) {
                stop(f, limited, level);
                stopped++;
            }
        }
    }
}

// Transfers that nothing watched stops take an even split of their tightest link, which is watched from now on.
static void stop_the_rest(Filling *f) {
    for (int32_t i = 0; i < f->released_count; i++) {
        int32_t channel = f->released[i];
        if (f->levels[channel] != LEVEL_RISING) continue;
        const Route *route = &f->routes->items[channel];
        int32_t tightest = -1;
        int64_t level = LEVEL_MOST;
        for (int32_t u = 0; u < route->use_count; u++) {
            int32_t id = f->routes->links[route->first + u];
            if (f->links[id].share_sum == 0) continue;
            int64_t fair = level_that_fits(f->links[id].capacity, f->links[id].share_sum);
            if (tightest >= 0 && fair >= level) continue;
            tightest = id;
            level = fair;
        }
        CHECK(tightest >= 0);
        stop(f, channel, level);
        suspect(f, tightest);
    }
}

// Loads follow the new levels on all links; a link that nobody watched and that is overloaded now becomes a suspect.
static void move_loads(Filling *f) {
    for (int32_t i = 0; i < f->released_count; i++) {
        int32_t channel = f->released[i];
        int64_t change = f->levels[channel] - f->loaded[channel];
        if (!change) continue;
        f->loaded[channel] = f->levels[channel];
        if (f->changed_at[channel] != f->filling) {
            f->changed_at[channel] = f->filling;
            f->changed[f->changed_count++] = channel;
        }
        const Route *route = &f->routes->items[channel];
        for (int32_t u = 0; u < route->use_count; u++) {
            int32_t id = f->routes->links[route->first + u];
            f->links[id].load += (Load)change * share_of(f->routes, route, u);
            if (u >= route->watched_count && f->links[id].load > f->links[id].capacity) suspect(f, id);
        }
    }
}

int32_t filling_fill(Filling *f, const int32_t *channels, int32_t count, int64_t from, const int32_t **changed) {
    f->filling++;
    f->changed_count = 0;
    f->released_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (channels[i] < 0) continue;
        int64_t level = f->levels[channels[i]];
        if (level < from) continue;
        f->released[f->released_count++] = channels[i];
        f->loaded[channels[i]] = level == LEVEL_NEW ? 0 : level;
    }
    do {
        release(f);
        heap_build(f);
        if (raise_levels(f) < f->released_count) stop_the_rest(f);
        move_loads(f);
    } while (watch_suspects(f));
    if (f->filling % REVIEW_EVERY == 0) review_watched(f);
    *changed = f->changed;
    return f->changed_count;
}
