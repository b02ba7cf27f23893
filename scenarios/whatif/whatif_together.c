// Combined changes: pairs of moves simulated as one, the most promising first, and a third on top.
//
// A pair's gain is not the sum of its parts' gains: one may free memory that the other takes, or both save the same
// seconds. Trying all pairs would take hundreds of simulations. A pair's estimate is the product of its parts'
// remaining shares of the step, and its memory the product of their remaining shares of memory; a part that does not
// fit alone is simulated as if it did, to know these shares. The pairs with the best estimates are simulated, up to a
// number that depends on the size of a simulation.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/whatif/whatif_step.h"
#include "sim/system/watch.h"

#define ROOM 2.0         // of the GPU's memory: pairs above it by the product, an overestimate, are not tried
#define NEARLY 1.05      // of the step: parts that leave more of it alone are no third
#define MOST_EVENTS 40e6 // of all pairs together: those of large systems are fewer

typedef struct Part {
    const Move *move;
    const WhatIf *alone; // NULL: no effect alone
    double left, memory; // of the step and of memory, as shares of now; 1 where unknown
} Part;

typedef LIST_OF(Part) PartList;

typedef struct Pair {
    int one, other; // of the parts
    double left;    // promised, of the step
} Pair;

typedef LIST_OF(Pair) PairList;

typedef struct Search {
    Arena *arena;
    const JobNow *now;
    PartList parts;
    CombinationList found;
    Combination tempting;   // the quickest pair that is not sure to fit; count 0: none is
    double tempting_before; // what its parts save as far as they may be advised; NAN: they may not
    int64_t left;           // simulations
} Search;

// ---- What each part does alone.

static bool is_known(const Search *search, const WhatIf *change) {
    if (change->step->digest == search->now->point.digest &&
        change->step->memory_bytes == search->now->point.memory_peak_bytes)
        return true;
    for (int i = 0; i < search->parts.count; i++) {
        const WhatIf *other = search->parts.items[i].alone;
        if (other && other->ran && other->step->digest == change->step->digest &&
            other->step->memory_bytes == change->step->memory_bytes)
            return true;
    }
    return false;
}

// As if memory had no end.
static double left_without_fitting(const Search *search, const Move *move) {
    Arena *scratch = arena_open();
    StudySpec study = *search->now->study;
    study.assume_fits = true;
    Variant variant = variant_of(search->now);
    make_move(scratch, search->now, move, &variant);
    RecordPoint point = simulate_variant(scratch, &study, &variant, problems_create(scratch));
    double left = point.ran ? point.step_p50_s * search->now->point.global_batch / point.global_batch : NAN;
    arena_close(scratch);
    return isfinite(left) ? left / search->now->point.step_p50_s : 1;
}

static void add_part(Search *search, const Move *move, const WhatIf *alone) {
    Part part = {move, alone, 1, 1};
    double memory = search->now->point.memory_peak_bytes;
    bool is_slower = move->gpus > 0 && !(alone && alone->ran && alone->gain.mean > 0); // fewer GPUs are tried for money
    if (is_slower || (alone && alone->ran && is_known(search, alone))) return;
    if (alone && alone->step->memory_bytes > 0 && memory > 0) part.memory = alone->step->memory_bytes / memory;
    if (alone && alone->ran)
        part.left = alone->then / search->now->point.step_p50_s;
    else if (alone && alone->step->memory_bytes > 0)
        part.left = left_without_fitting(search, move);
    LIST_PUSH(search->arena, &search->parts, part);
}

static void list_parts(Search *search) {
    const JobNow *now = search->now;
    for (int i = 0; i < now->tried.count; i++)
        if (step_is_free(now->tried.items[i].move)) add_part(search, now->tried.items[i].move, &now->tried.items[i]);
    for (int i = 0; i < now->moves.count; i++)
        if (now->moves.items[i].needs && !now->moves.items[i].note) add_part(search, &now->moves.items[i], NULL);
}

// ---- Which may be made together.

static bool has_field(const Move *move, const char *name) {
    return move->field && strcmp(move->field->name, name) == 0;
}

bool moves_go_together(const Move *one, const Move *other) {
    if (strcmp(one->name, other->name) == 0) return false;
    return (!one->needs || has_field(other, one->needs)) && (!other->needs || has_field(one, other->needs));
}

static int by_promise(const void *a, const void *b) {
    const Pair *one = a, *other = b;
    if (one->left != other->left) return one->left < other->left ? -1 : 1;
    if (one->one != other->one) return one->one < other->one ? -1 : 1;
    return (one->other > other->other) - (one->other < other->other);
}

static PairList list_pairs(Search *search) {
    PairList pairs = {0};
    const RecordPoint *point = &search->now->point;
    for (int i = 0; i < search->parts.count; i++)
        for (int j = i + 1; j < search->parts.count; j++) {
            const Part *one = &search->parts.items[i], *other = &search->parts.items[j];
            if (!moves_go_together(one->move, other->move)) continue;
            double memory = point->memory_peak_bytes * one->memory * other->memory;
            if (point->memory_capacity_bytes > 0 && memory > ROOM * point->memory_capacity_bytes) continue;
            LIST_PUSH(search->arena, &pairs, ((Pair){i, j, one->left * other->left}));
        }
    if (pairs.count) qsort(pairs.items, (size_t)pairs.count, sizeof *pairs.items, by_promise);
    return pairs;
}

// ---- Made together.

RecordPoint simulate_moves(Arena *arena, const JobNow *now, const Move *const *moves, int count, Problems *problems) {
    Variant variant = variant_of(now);
    for (int i = 0; i < count; i++) make_move(arena, now, moves[i], &variant);
    return simulate_variant(arena, now->study, &variant, problems);
}

static const char *title_of(Arena *arena, const Combination *one) {
    const char *title = one->parts[0]->title;
    for (int i = 1; i < one->count; i++)
        title = arena_printf(arena, i == one->count - 1 ? "%s and %s" : "%s, %s", title, one->parts[i]->title);
    return title;
}

static bool is_taken(const Combination *one, const Move *move) {
    for (int i = 0; i < one->count; i++)
        if (!moves_go_together(one->parts[i], move)) return true;
    return false;
}

static bool is_found(const Search *search, const Combination *one) {
    for (int i = 0; i < search->found.count; i++)
        if (search->found.items[i].whole.step->digest == one->whole.step->digest &&
            search->found.items[i].whole.step->memory_bytes == one->whole.step->memory_bytes)
            return true;
    return false;
}

static void simulate_together(Search *search, Combination *one) {
    Arena *scratch = arena_open();
    RecordPoint point = simulate_moves(scratch, search->now, one->parts, one->count, problems_create(scratch));
    if (point.ran) search->left--; // what does not fit costs next to nothing
    watch_goes_on(1);
    weigh_step(search->arena, search->now, &point, &one->whole);
    arena_close(scratch);
}

// What the next part is to save more than. A job that is not sure to fit takes whatever makes it fit.
static double bar_of(const Search *search, double gain_before) {
    if (search->now->must_fit) return isnan(gain_before) ? -INFINITY : gain_before;
    return isnan(gain_before) ? 0 : fmax(gain_before, 0);
}

// False: it does not fit, its last part adds nothing, or the same run has been found. `before`: the saving of its
// parts without the last, as far as advisable; NAN: not advisable.
static bool try_together(Search *search, Combination *one, double before) {
    simulate_together(search, one);
    return one->whole.ran && one->whole.gain.mean > bar_of(search, before) && fits_no_worse(search->now, &one->whole) &&
           !is_found(search, one);
}

static void keep(Search *search, Combination one) {
    one.whole.title = title_of(search->arena, &one);
    LIST_PUSH(search->arena, &search->found, one);
}

static double gain_alone(const Search *search, const Part *part) {
    bool may_be = part->alone && part->alone->ran && fits_no_worse(search->now, part->alone);
    return may_be ? part->alone->gain.mean : NAN;
}

// Gain of a part alone, whether or not it is advisable. NAN: unknown.
static double saved_alone(const Part *part) { return part->alone && part->alone->ran ? part->alone->gain.mean : NAN; }

static double larger(double a, double b) { return isnan(a) || b > a ? b : a; }

// The part that saves more alone is first.
static void try_pair(Search *search, const Pair *which) {
    const Part *one = &search->parts.items[which->one], *other = &search->parts.items[which->other];
    double first = gain_alone(search, one), second = gain_alone(search, other);
    if (isnan(first) || second > first) {
        const Part *swapped = one;
        one = other;
        other = swapped;
        first = larger(first, second);
    }
    Combination pair = {.parts = {one->move, other->move}, .count = 2, .adds_s = {saved_alone(one)}};
    bool may_be = try_together(search, &pair, first);
    pair.adds_s[1] = pair.whole.gain.mean - pair.adds_s[0];
    if (may_be) keep(search, pair);
    bool is_sure = !pair.whole.ran || fits_no_worse(search->now, &pair.whole);
    if (is_sure || (search->tempting.count && search->tempting.whole.gain.mean >= pair.whole.gain.mean)) return;
    search->tempting = pair;
    search->tempting_before = first;
}

static int best_of(const Search *search) {
    int best = -1;
    for (int i = 0; i < search->found.count; i++)
        if (best < 0 || search->found.items[i].whole.gain.mean > search->found.items[best].whole.gain.mean) best = i;
    return best;
}

// Adds to a pair each part that costs little alone or has not run, and if the pair lacks memory each that frees some.
// `before`: the saving without a third, as far as advisable.
static void try_third(Search *search, const Combination *pair, double before, Combination *best) {
    bool is_sure = fits_no_worse(search->now, &pair->whole);
    for (int i = 0; i < search->parts.count && !watch_is_over(); i++) {
        const Part *part = &search->parts.items[i];
        Combination three = *pair;
        bool helps = is_sure ? part->left < NEARLY || !part->alone || !part->alone->ran : part->memory < 1;
        if (is_taken(pair, part->move) || !helps) continue;
        three.parts[three.count++] = part->move;
        if (!try_together(search, &three, before) || three.whole.gain.mean <= best->whole.gain.mean) continue;
        three.adds_s[TOGETHER_MOST - 1] = three.whole.gain.mean - pair->whole.gain.mean;
        *best = three;
    }
}

// On the best pair, and on a faster one that lacks memory: the best of three is kept.
static void try_thirds(Search *search) {
    int at = best_of(search);
    Combination best = {.whole.gain.mean = -INFINITY}, *tempting = &search->tempting;
    if (at >= 0) {
        best = search->found.items[at];
        try_third(search, &search->found.items[at], best.whole.gain.mean, &best);
    }
    if (tempting->count && (at < 0 || tempting->whole.gain.mean > search->found.items[at].whole.gain.mean)) {
        try_third(search, tempting, search->tempting_before, &best);
    }
    if (best.count == TOGETHER_MOST) keep(search, best);
}

static int by_gain(const void *a, const void *b) {
    const Combination *one = a, *other = b;
    if (one->whole.gain.mean != other->whole.gain.mean) return one->whole.gain.mean > other->whole.gain.mean ? -1 : 1;
    return (one->count > other->count) - (one->count < other->count);
}

int64_t together_affordable(int64_t most, int64_t events) {
    return (int64_t)fmin((double)most, floor(MOST_EVENTS / fmax((double)events, 1)));
}

CombinationList try_together_with(Arena *arena, const JobNow *now, int64_t most) {
    Search search = {.arena = arena, .now = now, .left = together_affordable(most, now->point.event_count)};
    WatchPiece piece;
    watch_begin(&piece, "changes together", (double)search.left, WATCH_NO_LIMIT);
    list_parts(&search);
    PairList pairs = list_pairs(&search);
    for (int i = 0; i < pairs.count && search.left > 0 && !watch_is_over(); i++) try_pair(&search, &pairs.items[i]);
    if (most > 0) try_thirds(&search);
    watch_end(&piece);
    if (search.found.count) qsort(search.found.items, (size_t)search.found.count, sizeof *search.found.items, by_gain);
    return search.found;
}

const Combination *fitting_together(const JobNow *now) {
    const Combination *best = now->must_fit && now->together.count ? &now->together.items[0] : NULL;
    bool alone = now->fitting && fits_surely(now->fitting->step->chance_to_run_out);
    if (best && alone && best->whole.gain.mean - now->fitting->gain.mean < WHATIF_MATTERS * now->point.step_p50_s)
        return NULL;
    return best;
}
