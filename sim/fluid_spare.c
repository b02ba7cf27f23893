// Links that can never hold anyone back, because all who cross them also cross a link that is never less full: the
// cables in line behind a host's own, say. Fair sharing need not look at them.
#include "sim/fluid_internal.h"

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
