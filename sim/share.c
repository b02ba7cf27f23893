// Weighted max-min by plain progressive filling: every round raises all rates until the next link or limit is
// reached. This is the slow reference of the incremental engine in fluid.c, with the same arithmetic.
#include "sim/share.h"

#include <math.h>

#include "sim/base/check.h"

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
