#include <math.h>

#include "sim/base/random.h"
#include "sim/fluid_internal.h"
#include "sim/program.h"
#include "tests/test.h"

TEST(parking_lot_shares_are_the_textbook_ones) {
    // One long flow over three links, one short flow on each: links 10, 10, 6 give 3 to all on the last, 7 to the
    // others.
    Arena *arena = arena_open();
    Link links[] = {{"a", 10}, {"b", 10}, {"c", 6}};
    LinkUse long_uses[] = {{0, 1}, {1, 1}, {2, 1}}, a[] = {{0, 1}}, b[] = {{1, 1}}, c[] = {{2, 1}};
    Plan plans[] = {{.fairness = 1, .uses = long_uses, .use_count = 3},
                    {.fairness = 1, .uses = a, .use_count = 1},
                    {.fairness = 1, .uses = b, .use_count = 1},
                    {.fairness = 1, .uses = c, .use_count = 1}};
    const Plan *list[] = {&plans[0], &plans[1], &plans[2], &plans[3]};
    double rates[4];
    share_links(arena, links, 3, list, 4, rates);
    EXPECT_NEAR(rates[0], 3, 1e-12);
    EXPECT_NEAR(rates[1], 7, 1e-12);
    EXPECT_NEAR(rates[2], 7, 1e-12);
    EXPECT_NEAR(rates[3], 3, 1e-12);
    arena_close(arena);
}

TEST(fairness_and_limits_divide_a_link) {
    Arena *arena = arena_open();
    Link links[] = {{"a", 12}};
    LinkUse one[] = {{0, 1}}, two[] = {{0, 2}};
    Plan plans[] = {{.fairness = 2, .uses = one, .use_count = 1},
                    {.fairness = 1, .uses = two, .use_count = 1},
                    {.fairness = 1, .rate_limit = 0.5, .uses = one, .use_count = 1}};
    const Plan *list[] = {&plans[0], &plans[1], &plans[2]};
    double rates[3];
    share_links(arena, links, 1, list, 3, rates);
    // 0.5 to the limited one; of 11.5 the level x satisfies 2x + 2x = 11.5.
    EXPECT_NEAR(rates[2], 0.5, 1e-12);
    EXPECT_NEAR(rates[0], 2 * 11.5 / 4, 1e-12);
    EXPECT_NEAR(rates[1], 11.5 / 4, 1e-12);
    arena_close(arena);
}

TEST(shares_fill_some_link_of_every_plan_and_overfill_none) {
    FOR_SEEDS (seed, 1, 300) {
        Arena *arena = arena_open();
        RandomStream random = random_stream(seed, "share law", 0);
        int link_count = 1 + (int)random_below(&random, 12), plan_count = 1 + (int)random_below(&random, 20);
        Link *links = ARENA_ARRAY(arena, Link, link_count);
        for (int l = 0; l < link_count; l++) links[l] = (Link){"l", 1e9 * (1 + random_uniform(&random) * 9)};
        const Plan **plans = ARENA_ARRAY(arena, const Plan *, plan_count);
        for (int i = 0; i < plan_count; i++) {
            Plan *plan = ARENA_NEW(arena, Plan);
            LinkUse *uses = ARENA_ARRAY(arena, LinkUse, link_count);
            for (int l = 0; l < link_count; l++)
                if (random_below(&random, 3) == 0 || (l == link_count - 1 && plan->use_count == 0))
                    uses[plan->use_count++] = (LinkUse){l, weight_round(0.25 + random_uniform(&random))};
            plan->uses = uses;
            plan->fairness = 1 + (double)random_below(&random, 3);
            plans[i] = plan;
        }
        double *rates = ARENA_ARRAY(arena, double, plan_count), *load = ARENA_ARRAY(arena, double, link_count);
        share_links(arena, links, link_count, plans, plan_count, rates);
        for (int i = 0; i < plan_count; i++)
            for (int u = 0; u < plans[i]->use_count; u++)
                load[plans[i]->uses[u].link] += rates[i] * plans[i]->uses[u].weight;
        for (int l = 0; l < link_count; l++) EXPECT(load[l] <= links[l].bytes_per_second * (1 + 1e-9));
        for (int i = 0; i < plan_count; i++) {
            // Max-min: on some full link of the plan nobody has a higher rate in proportion to fairness.
            bool held = false;
            for (int u = 0; u < plans[i]->use_count && !held; u++) {
                int l = plans[i]->uses[u].link;
                if (load[l] < links[l].bytes_per_second * (1 - 1e-9)) continue;
                held = true;
                for (int k = 0; k < plan_count && held; k++)
                    for (int w = 0; w < plans[k]->use_count && held; w++)
                        if (plans[k]->uses[w].link == l &&
                            rates[k] / plans[k]->fairness > rates[i] / plans[i]->fairness * (1 + 1e-9))
                            held = false;
            }
            EXPECT(held);
        }
        arena_close(arena);
    }
}

typedef struct Twin {
    int links, channels, uses_in; // a channel crosses one link in uses_in
    int steps, moves;             // starts and ends between two re-shares: 1 to moves
    int behind;                   // 1: each link has another behind it
} Twin;

// After any sequence of starts and ends the incremental engine has the rates of the pure function, to the rounding of
// doubles and of fluid.h, and to the last bit those of itself when it starts from nothing every time.
static void compare_with_twin(uint64_t seed, Twin size) {
    Arena *arena = arena_open();
    RandomStream random = random_stream(seed, "fluid twin", 0);
    int link_count = 2 + (int)random_below(&random, (uint64_t)size.links);
    int channel_count = 1 + (int)random_below(&random, (uint64_t)size.channels);
    int all_links = (1 + size.behind) * link_count;
    Link *links = ARENA_ARRAY(arena, Link, all_links);
    for (int l = 0; l < link_count; l++) links[l] = (Link){"l", 1e9 + 1e7 * (double)random_below(&random, 1000)};
    // Behind each link stands another as fast, or nearly, that some or all of its users cross too.
    for (int l = 0; l < size.behind * link_count; l++)
        links[link_count + l] = (Link){"behind", links[l].bytes_per_second * (random_below(&random, 2) ? 1 : 1.25)};
    Channel *channels = ARENA_ARRAY(arena, Channel, channel_count);
    for (int c = 0; c < channel_count; c++) {
        Plan *plan = ARENA_NEW(arena, Plan);
        LinkUse *uses = ARENA_ARRAY(arena, LinkUse, 2 * link_count);
        for (int l = 0; l < link_count; l++) {
            if (random_below(&random, (uint64_t)size.uses_in) && (l < link_count - 1 || plan->use_count)) continue;
            double weight = weight_round(0.25 + random_uniform(&random));
            uses[plan->use_count++] = (LinkUse){l, weight};
            if (size.behind && (l % 2 || random_below(&random, 3)))
                uses[plan->use_count++] = (LinkUse){link_count + l, weight};
        }
        *plan = (Plan){.bytes = 1e9,
                       .fairness = (double)(1 + random_below(&random, 512)) / 256,
                       .uses = uses,
                       .use_count = plan->use_count,
                       .rate_limit = random_below(&random, 3) ? 0 : 4e8};
        channels[c] = (Channel){.plans = plan, .plan_count = 1, .member_count = 1};
    }
    System system = {.channels = channels, .channel_count = channel_count, .links = links, .link_count = all_links};
    Fluid *fluid = fluid_create(arena, &system), *anew = fluid_create(arena, &system);
    fluid_set_patience(anew, 0); // it solves everything every time
    bool *running = ARENA_ARRAY(arena, bool, channel_count);
    const Plan **plans = ARENA_ARRAY(arena, const Plan *, channel_count);
    double *rates = ARENA_ARRAY(arena, double, channel_count);
    int *which = ARENA_ARRAY(arena, int, channel_count);
    for (SimTime now = 0; now < size.steps; now++) {
        bool due = false;
        for (int k = 0; k <= (int)random_below(&random, (uint64_t)size.moves); k++) {
            int c = (int)random_below(&random, (uint64_t)channel_count);
            due |= running[c] ? fluid_finish(fluid, c, now) : fluid_start(fluid, c, channels[c].plans, now);
            (void)(running[c] ? fluid_finish(anew, c, now) : fluid_start(anew, c, channels[c].plans, now));
            running[c] = !running[c];
        }
        if (due) fluid_share(fluid, now), fluid_share(anew, now);
        int count = 0;
        for (int c = 0; c < channel_count; c++)
            if (running[c]) {
                which[count] = c;
                plans[count++] = channels[c].plans;
            }
        share_links(arena, links, all_links, plans, count, rates);
        for (int c = 0; c < channel_count; c++)
            if (running[c] && fluid_rate(fluid, c) != fluid_rate(anew, c))
                test_fail(__FILE__, __LINE__, "seed %llu: rate %.17g, anew %.17g", (unsigned long long)seed,
                          fluid_rate(fluid, c), fluid_rate(anew, c));
        for (int i = 0; i < count; i++)
            if (fabs(fluid_rate(fluid, which[i]) / rates[i] - 1) > 1e-11)
                test_fail(__FILE__, __LINE__, "seed %llu: rate %.17g, expected %.17g", (unsigned long long)seed,
                          fluid_rate(fluid, which[i]), rates[i]);
    }
    arena_close(arena);
}

TEST(the_incremental_engine_equals_the_pure_function_on_small_tangled_networks) {
    FOR_SEEDS (seed, 1, 100) compare_with_twin(seed, (Twin){20, 30, 6, 100, 3, 0});
}

TEST(the_incremental_engine_equals_the_pure_function_when_parts_join_and_fall_apart) {
    FOR_SEEDS (seed, 1, 60) compare_with_twin(seed, (Twin){60, 90, 40, 200, 4, 0});
}

TEST(the_incremental_engine_equals_the_pure_function_on_one_large_part) {
    FOR_SEEDS (seed, 1, 6) compare_with_twin(seed, (Twin){50, 600, 16, 300, 2, 0});
}

TEST(links_in_line_behind_others_change_no_share) {
    FOR_SEEDS (seed, 1, 60) compare_with_twin(seed, (Twin){20, 60, 8, 100, 3, 1});
}

TEST(who_ends_first_is_whom_a_look_at_all_would_find) {
    enum { CHANNELS = 60, STEPS = 20000 };
    Arena *arena = arena_open();
    RandomStream random = random_stream(1, "who ends first", 0);
    Activity *activities = ARENA_ARRAY(arena, Activity, CHANNELS);
    bool is_in[CHANNELS] = {0};
    Soonest *soonest = soonest_create(arena, CHANNELS, activities);
    for (int step = 0; step < STEPS; step++) {
        int32_t channel = (int32_t)random_below(&random, CHANNELS), expected = -1;
        if (is_in[channel] && random_below(&random, 4) == 0) {
            soonest_remove(soonest, channel);
            is_in[channel] = false;
        } else {
            activities[channel].end = (SimTime)random_below(&random, 40);
            if (is_in[channel])
                soonest_move(soonest, channel);
            else
                soonest_add(soonest, channel);
            is_in[channel] = true;
        }
        for (int32_t c = 0; c < CHANNELS; c++)
            if (is_in[c] && (expected < 0 || activities[c].end < activities[expected].end)) expected = c;
        EXPECT_INT(soonest_first(soonest), expected);
    }
    arena_close(arena);
}
