// Coordinate descent over spares, storage and interval; common failures make few lives per candidate enough.
#include "models/workload/life/life.h"

#include <math.h>

#include "models/hardware/hardware.h"
#include "sim/base/check.h"
#include "sim/system/watch.h"

enum {
    SCOUTS = 60,        // lives of a way that is only looked at
    SCOUTS_BY = 200,    // with a date: a chance is coarser than a mean
    INTERVAL_RUNS = 40, // for each interval tried
    ROUNDS_MOST = 4,
    LEAST_RUNS = 12,
    SHORTLIST = 4,
    PROBES = 4, // lives after which a way that is far too dear is left
};

#define SCOUT_EVENTS 1e6 // of all lives of a candidate in the search
#define MISS_COST 2.0
#define FAR_TOO_DEAR 1.3 // times the cost of the best so far

// What is chosen of a way.
typedef struct Pick {
    int spares, storage, units;
    double every_times; // of the formula's interval
} Pick;

typedef struct Tried {
    Pick pick;
    LifeWay way;
} Tried;

typedef struct Search {
    Arena *arena;
    const LifeWish *wish;
    Tried *items;
    int count, room;
} Search;

// ---- One way.

static double formula_interval(const CheckpointPlan *plan, double rate) {
    if (!(rate > 0)) return 86400;
    double stall = fmax(plan->stall_s, 1e-3), least = plan->mode == CHECKPOINT_ASYNC ? plan->write_s : 0;
    return fmax(fmax(1, least), daly_interval(stall, 1 / rate));
}

static CheckpointPlan plan_of(Arena *arena, const LifeWish *wish, const StorageType *storage, int units) {
    const StorageType *all = storage_of_units(arena, storage, units, 0);
    CheckpointPlan plan = checkpoint_plan(wish->mode, wish->bytes, wish->spec.nodes, wish->node, wish->gpu, all);
    plan.storage_every_s = wish->storage_every_s;
    return plan;
}

static void set_cost(LifeWay *way, const LifeSpec *spec) {
    double hour = way->price_per_hour, day = 24 * hour;
    bool has_work = spec->work_s > 0;
    way->cost = has_work ? day * way->days.mean : day / way->goodput.mean;
    way->cost_p50 = has_work ? day * way->days.p50 : day / way->goodput.p50;
    way->cost_p5 = has_work ? day * way->days.p5 : day / way->goodput.p95;
    way->cost_p95 = has_work ? day * way->days.p95 : day / way->goodput.p5;
}

static double paid_units(const LifeWish *wish, const LifeWay *way) {
    int gpus = wish->spec.nodes * wish->node->gpu_count;
    return wish->storage_units > 0 ? way->units : storage_paid_units(way->storage, way->units, gpus);
}

// A way that gets nowhere costs without end.
static LifeWay live(Arena *arena, const LifeWish *wish, LifeWay way, int runs) {
    LifeSpec spec = wish->spec;
    spec.spares = way.spares;
    spec.checkpoint = way.checkpoint;
    way.price_per_hour = wish->node_price * (spec.nodes + way.spares) +
                         wish->storage_price * paid_units(wish, &way) * way.storage->unit_usd_per_hour;
    way.cost = way.cost_p5 = way.cost_p50 = way.cost_p95 = INFINITY;
    way.by_chance = wish->by_s > 0 && spec.work_s > 0 ? 0 : NAN;
    if (life_goes_nowhere(arena, &spec, runs)) return way;
    LifeStudy study = life_study(arena, &spec, runs, wish->seed);
    way.goodput = study.goodput;
    way.days = study.days;
    if (!isnan(way.by_chance)) way.by_chance = life_chance_by(&study, wish->by_s);
    if (study.unfinished < study.runs) set_cost(&way, &spec);
    return way;
}

// A candidate far more expensive than the best so far is simulated a few times only: goodput.count gives the number.
// Its least checkpoint loss is known beforehand.
static LifeWay live_unless_dear(Arena *arena, const LifeWish *wish, LifeWay way, int runs, const LifeWay *best) {
    double rate = life_unplanned_rate(&wish->spec);
    double loss = rate > 0 ? checkpoint_least_loss(&way.checkpoint, 1 / rate) : 0;
    bool has_best = best && best->cost < INFINITY;
    int probes = runs < PROBES ? runs : PROBES;
    if (has_best && loss > 0.5 && best->goodput.mean > FAR_TOO_DEAR * (1 - loss)) probes = 1;
    LifeWay probe = has_best ? live(arena, wish, way, probes) : way;
    bool goes_on = !has_best || (probes == PROBES && probe.cost < FAR_TOO_DEAR * best->cost);
    return goes_on ? live(arena, wish, way, runs) : probe;
}

LifeWay life_way(Arena *arena, const LifeWish *wish, int spares, const StorageType *storage, int units,
                 double every_s) {
    LifeWay way = {.spares = spares, .storage = storage, .units = units};
    way.checkpoint = plan_of(arena, wish, storage, units);
    way.checkpoint.every_s = every_s;
    return live(arena, wish, way, wish->runs);
}

// ---- Which is better.

static bool keeps(const LifeWish *wish, const LifeWay *way) {
    return isnan(way->by_chance) || way->by_chance >= wish->confidence;
}

// Of a candidate that misses the date: a point of missing probability counts like MISS_COST points of cost.
// Minimising the probability alone would buy much storage on the evidence of few lives.
static double cost_with_miss(const LifeWish *wish, const LifeWay *way) {
    double lacks = wish->confidence - way->by_chance;
    return way->cost * (1 + (lacks > 0 ? MISS_COST * lacks : 0));
}

static bool better(const LifeWish *wish, const LifeWay *a, const LifeWay *b) {
    bool a_keeps = keeps(wish, a), b_keeps = keeps(wish, b);
    if (a_keeps != b_keeps) return a_keeps;
    return cost_with_miss(wish, a) < cost_with_miss(wish, b);
}

// ---- Looking at ways.

static bool same_pick(const Pick *a, const Pick *b) {
    return a->spares == b->spares && a->storage == b->storage && a->units == b->units &&
           a->every_times == b->every_times;
}

static LifeWay way_of(const Search *search, const Pick *pick) {
    const LifeWish *wish = search->wish;
    LifeWay way = {.spares = pick->spares, .storage = wish->storages[pick->storage], .units = pick->units};
    way.checkpoint = plan_of(search->arena, wish, way.storage, way.units);
    double formula = formula_interval(&way.checkpoint, life_unplanned_rate(&wish->spec));
    way.checkpoint.every_s = wish->every_s > 0 ? wish->every_s : fmax(1, formula * pick->every_times);
    return way;
}

// Events of a life that is saved as often as the formula has it.
static double usual_events(const LifeWish *wish) {
    LifeSpec spec = wish->spec;
    double rate = life_unplanned_rate(&spec);
    int gpus = spec.nodes * wish->node->gpu_count;
    StorageType all = *wish->storages[0];
    all.write_bytes_per_second *= storage_usual_units(&all, gpus);
    spec.checkpoint = checkpoint_plan(wish->mode, wish->bytes, spec.nodes, wish->node, wish->gpu, &all);
    spec.checkpoint.every_s = wish->every_s > 0 ? wish->every_s : formula_interval(&spec.checkpoint, rate);
    return fmax(1, life_events(&spec));
}

// Fewer lives where each of them is long: the longer, the less they differ.
static int lives_of(const LifeWish *wish, int most) {
    return (int)fmin(fmin(most, wish->runs), fmax(LEAST_RUNS, SCOUT_EVENTS / usual_events(wish)));
}

static int scouts(const LifeWish *wish) { return lives_of(wish, wish->by_s > 0 ? SCOUTS_BY : SCOUTS); }

// Index of the candidate in `items`; a new one is simulated, compared with the one at `at` (-1: none).
static int look(Search *search, Pick pick, int at) {
    for (int i = 0; i < search->count; i++)
        if (same_pick(&search->items[i].pick, &pick)) return i;
    const LifeWay *best = at >= 0 ? &search->items[at].way : NULL;
    LifeWay way = live_unless_dear(search->arena, search->wish, way_of(search, &pick), scouts(search->wish), best);
    LIST_PUSH(search->arena, search, ((Tried){pick, way}));
    watch_goes_on(scouts(search->wish));
    return search->count - 1;
}

// Looks at `pick` and moves to it when it is better. True: moved.
static bool move_to(Search *search, int *at, Pick pick) {
    int there = look(search, pick, *at);
    bool moves = better(search->wish, &search->items[there].way, &search->items[*at].way);
    if (moves) *at = there;
    return moves;
}

// ---- The three directions.

static bool choose_storage(Search *search, int *at) {
    const LifeWish *wish = search->wish;
    bool moved = false;
    for (int s = 0; s < wish->storage_count; s++) {
        Pick pick = search->items[*at].pick;
        pick.storage = s;
        int given = wish->storage_units, least = -1, worse = 0;
        // Up to where the nodes' links carry no more, or storage costs more than it brings.
        for (int units = given > 0 ? given : 1; units <= STORAGE_MOST_UNITS && worse < 2; units *= 2) {
            pick.units = units;
            moved = move_to(search, at, pick) || moved;
            int here = look(search, pick, *at);
            bool falls = least < 0 || better(wish, &search->items[here].way, &search->items[least].way);
            worse = falls ? 0 : worse + 1;
            if (falls) least = here;
            if (given > 0 || !wish->storages[s]->shared) break;
        }
    }
    return moved;
}

// Between powers of two.
static bool refine_units(Search *search, int *at) {
    const LifeWish *wish = search->wish;
    bool moved = false;
    if (wish->storage_units > 0) return false;
    for (int step = search->items[*at].pick.units / 4; step >= 1; step /= 2) {
        for (int side = -1; side <= 1; side += 2) {
            Pick pick = search->items[*at].pick;
            pick.units += side * step;
            if (pick.units >= 1 && pick.units <= STORAGE_MOST_UNITS) moved = move_to(search, at, pick) || moved;
        }
    }
    return moved;
}

// In the mean (Little, 1961): with fewer spares than that the job waits more often than not.
static double nodes_in_repair(const LifeSpec *spec) {
    double rate = 0;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        if (spec->faults[i].needs_repair) rate += spec->faults[i].node_rate * spec->nodes;
    return rate * spec->repair_s;
}

static bool choose_spares(Search *search, int *at) {
    const LifeWish *wish = search->wish;
    double mean = nodes_in_repair(&wish->spec), least = mean - 2 * sqrt(mean);
    int most = (int)fmin(wish->spec.nodes, 4 * mean + 8 + wish->spec.rack_nodes), spares = least > 0 ? (int)least : 0;
    bool moved = false;
    if (wish->spares >= 0) return false;
    for (; spares <= most; spares += spares < 4 ? 1 : spares / 3) {
        Pick pick = search->items[*at].pick;
        pick.spares = spares;
        moved = move_to(search, at, pick) || moved;
    }
    for (int step = search->items[*at].pick.spares / 4; step >= 1; step /= 2) {
        for (int side = -1; side <= 1; side += 2) {
            Pick pick = search->items[*at].pick;
            pick.spares += side * step;
            moved = move_to(search, at, pick) || moved;
        }
    }
    return moved;
}

static bool choose_interval(Search *search, int *at) {
    const LifeWish *wish = search->wish;
    Pick pick = search->items[*at].pick;
    LifeWay way = search->items[*at].way;
    if (wish->every_s > 0 || !(way.cost < INFINITY)) return false;
    LifeSpec spec = wish->spec;
    spec.spares = way.spares;
    spec.checkpoint = way.checkpoint;
    int runs = lives_of(wish, INTERVAL_RUNS);
    pick.every_times *= life_best_interval(&spec, runs, wish->seed) / way.checkpoint.every_s;
    return move_to(search, at, pick);
}

// ---- All of it.

static Pick usual_pick(const LifeWish *wish) {
    Pick pick = {.every_times = 1, .units = wish->storage_units};
    pick.spares = wish->spares >= 0 ? wish->spares : life_usual_spares(wish->spec.nodes);
    if (pick.units <= 0) pick.units = storage_usual_units(wish->storages[0], wish->spec.nodes * wish->node->gpu_count);
    return pick;
}

static void descend(Search *search) {
    int at = look(search, usual_pick(search->wish), -1);
    for (int round = 0; round < ROUNDS_MOST && !watch_stopped(); round++) {
        bool moved = choose_storage(search, &at);
        moved = refine_units(search, &at) || moved;
        moved = choose_spares(search, &at) || moved;
        moved = choose_interval(search, &at) || moved;
        if (!moved) break;
    }
}

// The best few candidates of the search, simulated in full.
static LifeWay best_in_full(Search *search) {
    const LifeWish *wish = search->wish;
    LifeWay best = {0};
    for (int n = 0; n < SHORTLIST && n < search->count; n++) {
        int next = n;
        for (int i = n + 1; i < search->count; i++)
            if (better(wish, &search->items[i].way, &search->items[next].way)) next = i;
        Tried tried = search->items[next];
        search->items[next] = search->items[n];
        search->items[n] = tried;
        LifeWay way =
            live_unless_dear(search->arena, wish, way_of(search, &tried.pick), wish->runs, n == 0 ? NULL : &best);
        if (n == 0 || better(wish, &way, &best)) best = way;
        watch_goes_on(wish->runs);
    }
    return best;
}

static LifeWay best_way(Arena *arena, const LifeWish *wish, int *tried) {
    Search search = {.arena = arena, .wish = wish};
    descend(&search);
    if (tried) *tried = search.count;
    return best_in_full(&search);
}

typedef LIST_OF(LifeOther) Others;

static void add_other(Arena *arena, const LifeWish *wish, Others *others, const char *what, LifeWay way,
                      const LifeWay *best) {
    double every_s = way.checkpoint.every_s;
    way.checkpoint = plan_of(arena, wish, way.storage, way.units);
    way.checkpoint.every_s = every_s;
    LIST_PUSH(arena, others, ((LifeOther){what, live_unless_dear(arena, wish, way, wish->runs, best)}));
}

// The best way with one thing changed. Storage of other speed is saved to at the interval that suits it.
static Others one_thing_changed(Arena *arena, const LifeWish *wish, const LifeWay *best) {
    Others others = {0};
    LifeWay way = *best;
    int usual = life_usual_spares(wish->spec.nodes), spares[] = {0, best->spares / 2, 2 * best->spares, usual};
    static const char *const spare_titles[] = {"no spares", "half the spares", "twice the spares", "5 % spares"};
    for (int i = 0; i < 4 && wish->spares < 0; i++) {
        bool listed = spares[i] == best->spares;
        for (int k = 0; k < i; k++) listed = listed || spares[k] == spares[i];
        way.spares = spares[i];
        if (!listed) add_other(arena, wish, &others, spare_titles[i], way, best);
    }
    for (int twice = 0; twice < 2 && wish->every_s <= 0; twice++) {
        way = *best;
        way.checkpoint.every_s = fmax(1, best->checkpoint.every_s * (twice ? 2 : 0.5));
        add_other(arena, wish, &others, twice ? "twice the interval" : "half the interval", way, best);
    }
    double rate = life_unplanned_rate(&wish->spec);
    double times = best->checkpoint.every_s / formula_interval(&best->checkpoint, rate);
    for (int twice = 0; twice < 2 && wish->storage_units <= 0 && best->storage->shared; twice++) {
        way = *best;
        way.units = twice ? 2 * best->units : best->units / 2;
        if (way.units < 1 || way.units > STORAGE_MOST_UNITS) continue;
        CheckpointPlan plan = plan_of(arena, wish, way.storage, way.units);
        if (wish->every_s <= 0) way.checkpoint.every_s = fmax(1, times * formula_interval(&plan, rate));
        add_other(arena, wish, &others, twice ? "twice the storage" : "half the storage", way, best);
    }
    return others;
}

// Those that were left as far too dear: what is printed of them is of as many lives as all else.
static void live_all_in_full(Arena *arena, const LifeWish *wish, Others *others) {
    for (int i = 0; i < others->count && !watch_stopped(); i++)
        if (others->items[i].way.goodput.count < wish->runs)
            others->items[i].way = live(arena, wish, others->items[i].way, wish->runs);
}

// Corrects errors of few lives: moves to a better candidate simulated in full, until no change is better.
static Others climb(Arena *arena, const LifeWish *wish, LifeWay *best) {
    for (int round = 1;; round++) {
        Others others = one_thing_changed(arena, wish, best);
        const LifeWay *next = best;
        for (int i = 0; i < others.count; i++)
            if (better(wish, &others.items[i].way, next)) next = &others.items[i].way;
        if (next == best || round == ROUNDS_MOST || watch_stopped()) {
            live_all_in_full(arena, wish, &others);
            return others;
        }
        *best = *next;
    }
}

void life_scale_failures(LifeSpec *spec, double factor) {
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++) spec->faults[i].node_rate *= factor;
    spec->rack_rate *= factor;
    spec->slow_rate *= factor;
    spec->flap_rate *= factor;
}

LifeChoice life_choose(Arena *arena, const LifeWish *wish) {
    CHECK(wish->storage_count > 0 && wish->node_price > 0 && wish->runs > 0 && wish->bytes > 0);
    LifeChoice choice = {0};
    WatchPiece piece; // candidates in the search, and those simulated in full: estimated lives
    watch_begin(&piece, "the ways to run the job", 2 * (80.0 * scouts(wish) + 10.0 * wish->runs), WATCH_NO_LIMIT);
    choice.best = best_way(arena, wish, &choice.tried);
    Others others = climb(arena, wish, &choice.best);
    choice.keeps_date = keeps(wish, &choice.best);
    choice.others = others.items;
    choice.other_count = others.count;
    LifeWish twice = *wish;
    life_scale_failures(&twice.spec, 2);
    const LifeWay *best = &choice.best;
    choice.twice = life_way(arena, &twice, best->spares, best->storage, best->units, best->checkpoint.every_s);
    choice.best_twice = best_way(arena, &twice, NULL);
    watch_end(&piece);
    choice.stopped = watch_stopped() != WATCH_GOES_ON;
    return choice;
}
