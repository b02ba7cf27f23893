// Chances of a plan: against closed forms, laws that they keep, and what knowing is worth.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/life/life.h"
#include "models/workload/step/step_constants.h"
#include "scenarios/plan/plan_answer.h"
#include "scenarios/plan/plan_chance.h"
#include "sim/base/random.h"
#include "sim/base/statistics.h"
#include "sim/data/json.h"
#include "tests/test.h"

#define Z95 1.6448536269514722
#define SIGMA 0.2

static double normal_share(double z) { return erfc(-z / sqrt(2)) / 2; }

// A plan of so many days and so much money; its step has the predictor's range of SIGMA, all of it software's.
typedef struct MadeUp {
    Arena *arena;
    const Catalogue *catalogue;
    const NodeType *nodes[2];
    NamedValue spent[2][2];
    PlanRow rows[2];
    PlanRequest request;
} MadeUp;

static void made_up_open(MadeUp *made) {
    *made = (MadeUp){.arena = arena_open()};
    made->catalogue = catalogue_builtin(made->arena);
    made->nodes[0] = catalogue_node(made->catalogue, "dgx-h100");
    made->nodes[1] = catalogue_node(made->catalogue, "dgx-a100");
    made->request = (PlanRequest){.catalogue = made->catalogue, .nodes = made->nodes, .node_count = 2};
    made->request.confidence = 0.8;
    for (int i = 0; i < 2; i++) {
        PlanRow *row = &made->rows[i];
        double step = 10;
        made->spent[i][0] = (NamedValue){"gemm", "gemm", 0.8 * step};
        made->spent[i][1] = (NamedValue){"dp", "dp", 0.2 * step};
        *row = (PlanRow){.node = made->nodes[i], .gpus = 64, .number = i};
        row->training.framework = FRAMEWORK_MEGATRON;
        row->point = (RecordPoint){.ran = true,
                                   .step_p50_s = step,
                                   .step_p5_s = step * exp(-Z95 * SIGMA * step_constant(FASTER_SPREAD)),
                                   .step_p95_s = step * exp(Z95 * SIGMA * step_constant(SLOWER_SPREAD)),
                                   .exposed = made->spent[i],
                                   .exposed_count = 2,
                                   .node_count = 8,
                                   .currency = "USD",
                                   .days = 30 - 4 * i,
                                   .cost_per_hour = 100,
                                   .cost_per_run = 100e3 + 15e3 * i,
                                   .energy_kwh = 1};
    }
}

// Of a step whose log is normal, and wider above what is expected than below.
TEST(chances_are_those_of_the_normal_distribution) {
    MadeUp made;
    made_up_open(&made);
    for (double days = 20; days <= 50; days += 2.5) {
        made.request.deadline_s = days * 86400;
        made.request.budget = 115e3;
        plan_find_chances(&made.request, made.rows, 2);
        double z = log(days / 30) / SIGMA, budget = log(1.15) / SIGMA / step_constant(SLOWER_SPREAD);
        z /= step_constant(z > 0 ? SLOWER_SPREAD : FASTER_SPREAD);
        const PlanChance *chance = &made.rows[0].chance;
        EXPECT(fabs(chance->by_date - normal_share(z)) < 0.01);
        EXPECT(fabs(chance->in_budget - normal_share(budget)) < 0.01);
        EXPECT(fabs(chance->both - fmin(normal_share(z), normal_share(budget))) < 0.01); // one cause, the step
        EXPECT_NEAR(chance->days.p50, 30, 0.1);
        EXPECT_NEAR(chance->days.p5, 30 * exp(-Z95 * SIGMA * step_constant(FASTER_SPREAD)), 0.3);
        EXPECT_NEAR(chance->days.p95, 30 * exp(Z95 * SIGMA * step_constant(SLOWER_SPREAD)), 0.6);
        EXPECT_INT(made.rows[0].kept, chance->both >= 0.8);
    }
    arena_close(made.arena);
}

TEST(price_and_step_spread_the_cost_together) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].price_sigma = 0.3;
    made.rows[0].point.step_p5_s = made.rows[0].point.step_p95_s = made.rows[0].point.step_p50_s; // known to the second
    plan_find_chances(&made.request, made.rows, 2);
    EXPECT_NEAR(made.rows[0].chance.cost.p95, 100e3 * exp(Z95 * 0.3), 1500);
    EXPECT_NEAR(made.rows[0].chance.days.p95, 30, 1e-6);
    arena_close(made.arena);
    made_up_open(&made);
    made.rows[0].price_sigma = 0.3;
    plan_find_chances(&made.request, made.rows, 2);
    double above = hypot(0.3, SIGMA * step_constant(SLOWER_SPREAD)), below = hypot(0.3, SIGMA);
    EXPECT(made.rows[0].chance.cost.p95 > 100e3 * exp(Z95 * below));
    EXPECT(made.rows[0].chance.cost.p95 < 103e3 * exp(Z95 * above));
    arena_close(made.arena);
}

TEST(no_price_is_beyond_the_cheapest_and_the_dearest_that_are_known) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].price_sigma = 0.5;
    made.rows[0].price_least = 0.9, made.rows[0].price_most = 1.25;
    made.rows[0].point.step_p5_s = made.rows[0].point.step_p95_s = made.rows[0].point.step_p50_s;
    plan_find_chances(&made.request, made.rows, 2);
    EXPECT_NEAR(made.rows[0].chance.cost.p5, 90e3, 1e-3);
    EXPECT_NEAR(made.rows[0].chance.cost.p50, 100e3, 1500);
    EXPECT_NEAR(made.rows[0].chance.cost.p95, 125e3, 1e-3);
    arena_close(made.arena);
}

TEST(machines_that_come_late_take_days_and_no_money) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].point.step_p5_s = made.rows[0].point.step_p95_s = made.rows[0].point.step_p50_s;
    made.request.start_s = 5 * 86400.0;
    made.request.start_spread_s = 10 * 86400.0;
    made.request.deadline_s = 45 * 86400.0;
    plan_find_chances(&made.request, made.rows, 2);
    EXPECT_NEAR(made.rows[0].chance.by_date, 0.9, 0.005); // 30 days, 5 until the start, and late by 10 at most
    EXPECT_NEAR(made.rows[0].chance.cost.p95, 100e3, 1e-3);
    EXPECT_NEAR(made.rows[0].chance.days.p50, 35 + 10 * log(2) / log(10), 0.05);
    arena_close(made.arena);
}

// The law of failures against the lives that it was taken from: of 40 stops, each an exponential loss.
TEST(the_law_of_failures_has_the_spread_of_lives) {
    MadeUp made;
    made_up_open(&made);
    FaultsSpec faults = {.rates = catalogue_faults(made.catalogue, FAULTS_USUAL)};
    made.request.faults = &faults;
    double fleet = faults.rates->fleet_spread, work = 25, lost = 0.1;
    static double days[20000];
    for (int i = 0; i < 20000; i++) {
        RandomStream random = random_stream(7, "made-up life", (uint64_t)i);
        double mean = lost * work / 40, rate = exp(fleet * random_normal(&random) - fleet * fleet / 2),
               left = 40 * rate;
        days[i] = work;
        for (double gap = random_exponential(&random, 1); gap < left; gap += random_exponential(&random, 1))
            days[i] += random_exponential(&random, mean);
    }
    Summary lives = summarise(made.arena, days, 20000);
    RecordPoint *point = &made.rows[0].point;
    point->days = lives.mean;
    point->days_undisturbed = work;
    point->days_of_chance = lives.sd;
    point->step_p5_s = point->step_p95_s = point->step_p50_s;
    plan_find_chances(&made.request, made.rows, 1);
    EXPECT_NEAR(made.rows[0].chance.days.p50, lives.p50, 0.02 * work);
    EXPECT_NEAR(made.rows[0].chance.days.p95, lives.p95, 0.03 * work);
    EXPECT_NEAR(made.rows[0].chance.days.p5, lives.p5, 0.03 * work);
    arena_close(made.arena);
}

// ---- Laws.

TEST(a_later_date_and_a_larger_budget_are_kept_no_less_often) {
    MadeUp made;
    made_up_open(&made);
    made.rows[1].price_sigma = 0.2;
    for (int i = 0; i < 2; i++) {
        double before = 0;
        for (int k = 0; k < 12; k++) {
            made.request.deadline_s = (20 + 3 * (i == 0 ? k : 5)) * 86400.0;
            made.request.budget = 80e3 + 10e3 * (i == 1 ? k : 5);
            plan_find_chances(&made.request, made.rows, 2);
            const PlanChance *chance = &made.rows[1].chance;
            EXPECT(chance->both >= before);
            EXPECT(chance->both <= fmin(chance->by_date, chance->in_budget));
            EXPECT(chance->both >= chance->by_date + chance->in_budget - 1 - 1e-12);
            before = chance->both;
        }
    }
    arena_close(made.arena);
}

TEST(chances_do_not_depend_on_the_order_of_the_plans) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].price_sigma = made.rows[1].price_sigma = 0.2;
    made.request.deadline_s = 30 * 86400.0;
    made.request.budget = 110e3;
    PlanRow turned[2] = {made.rows[1], made.rows[0]};
    plan_find_chances(&made.request, made.rows, 2);
    plan_find_chances(&made.request, turned, 2);
    for (int i = 0; i < 2; i++) {
        const PlanChance *one = &made.rows[i].chance, *other = &turned[1 - i].chance;
        EXPECT(one->by_date == other->by_date && one->in_budget == other->in_budget && one->both == other->both);
        EXPECT(memcmp(&one->days, &other->days, sizeof one->days) == 0);
        EXPECT(memcmp(&one->cost, &other->cost, sizeof one->cost) == 0);
    }
    arena_close(made.arena);
}

TEST(parts_of_a_steps_spread_sum_to_the_predictors) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].training.software_assumed = true;
    PlanSpread spread = plan_spread_of(&made.request, &made.rows[0]);
    double sum = 0;
    for (int f = 0; f <= FACTOR_RUN; f++) sum += spread.step[f] * spread.step[f];
    EXPECT_NEAR(sqrt(sum), SIGMA, 1e-12);
    EXPECT_NEAR(spread.step[FACTOR_KERNELS] / spread.step[FACTOR_TRAFFIC],
                0.8 * step_constant(CAUSE_SIGMA + CAUSE_GEMM) / (0.2 * step_constant(CAUSE_SIGMA + CAUSE_DP)), 1e-9);
    arena_close(made.arena);
}

// Failures, late machines, a price that nobody has said: the plan's own figures are the outcome at what is planned.
TEST(the_outcome_as_planned_is_the_plan) {
    MadeUp made;
    made_up_open(&made);
    PlanRow *row = &made.rows[0];
    FaultsSpec faults = {.spares = 1, .spares_given = true};
    made.request.faults = &faults;
    made.request.start_s = 5 * 86400.0;
    made.request.start_spread_s = 10 * 86400.0;
    row->price_sigma = 0.4;
    row->point.days_undisturbed = 0.9 * row->point.days;
    row->point.checkpoint_share = 0.02;
    PlanSpread spread = plan_spread_of(&made.request, row);
    double factors[FACTOR_COUNT];
    plan_factors_as_planned(factors);
    EXPECT(spread.fleet > 0 && spread.lost > 0);
    PlanOutcome outcome = plan_outcome(&spread, &row->point, factors);
    EXPECT_NEAR(outcome.cost, row->point.cost_per_run, 1e-6);
    EXPECT_NEAR(outcome.days, row->point.days + 5 + 10 / log(10), 1e-9);
    arena_close(made.arena);
}

TEST(a_chance_says_when_its_draws_cannot_tell_it_from_what_was_asked) {
    EXPECT_NEAR(plan_chance_error(0.5), 0.5 / sqrt(PLAN_DRAWS), 1e-12);
    EXPECT(!plan_draws_can_tell(0.795, 0.8) && !plan_draws_can_tell(0.8, 0.8));
    EXPECT(plan_draws_can_tell(0.78, 0.8) && plan_draws_can_tell(0.82, 0.8) && plan_draws_can_tell(0.8, 0));
    Arena *arena = arena_open();
    EXPECT_TEXT(plan_percent_beside(arena, 0.796, 0.8), "79.6 ± 0.4 %");
    EXPECT_TEXT(plan_percent_beside(arena, 0.75, 0.8), "75 %");
    EXPECT_TEXT(plan_percent_beside(arena, 0.796, 0), "80 %");
    arena_close(arena);
}

// ---- What would be enough.

TEST(quantiles_of_what_is_allowed_are_of_all_worlds) {
    double values[] = {5, 1, 4, 2, 3};
    EXPECT_NEAR(plan_quantile_within(values, 5, 10, 0.5), 5, 0);
    EXPECT(isinf(plan_quantile_within(values, 5, 10, 0.51)));
    EXPECT_NEAR(plan_quantile_within(values, 5, 10, 0.21), 3, 0);
    EXPECT_NEAR(plan_quantile_within(values, 5, 5, 0.8), 4, 0);
    EXPECT_NEAR(plan_round_up(1234567), 1240000, 1e-6);
    EXPECT_NEAR(plan_round_down(1239999), 1230000, 1e-6);
    EXPECT_NEAR(plan_round_up(6.17), 6.17, 1e-12);
    EXPECT_NEAR(plan_round_down(6.17), 6.17, 1e-12);
    EXPECT_NEAR(plan_round_up(0.012345), 0.0124, 1e-12);
}

// The budget and the date that it names are kept with the confidence; three digits less are not.
TEST(what_would_be_enough_is_and_what_is_less_is_not) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].price_sigma = made.rows[1].price_sigma = 0.25;
    made.request.deadline_s = 36 * 86400.0;
    made.request.budget = 110e3;
    plan_find_chances(&made.request, made.rows, 2);
    PlanResult result = {.rows = made.rows, .row_count = 2, .chosen = -1};
    double today = fmax(made.rows[0].chance.both, made.rows[1].chance.both);
    EXPECT(today < 0.8);
    made.rows[0].owned = true; // no price to be looked for
    WhatIfs reaches = plan_reaches(made.arena, &made.request, &result);
    EXPECT_INT(reaches.count, 2);
    const WhatIf *budget = &reaches.items[0], *date = &reaches.items[1];
    EXPECT(budget->move == &plan_reach_moves[REACH_BUDGET] && budget->plan->best >= 0 && budget->then > 110e3 &&
           budget->plan->both >= 0.8);
    EXPECT(date->move == &plan_reach_moves[REACH_DATE] && date->plan->best == -1 &&
           isnan(date->then)); // the budget alone is too small
    EXPECT(date->plan->both < 0.8 && date->plan->both >= today);
    for (int less = 0; less < 2; less++) {
        made.request.budget = budget->then * (less ? 0.99 : 1);
        plan_find_chances(&made.request, made.rows, 2);
        EXPECT_INT(made.rows[0].kept || made.rows[1].kept, !less);
        if (!less) EXPECT_NEAR(made.rows[budget->plan->best].chance.both, budget->plan->both, 1e-12);
    }
    arena_close(made.arena);
}

// ---- What knowing is worth.

// Loss of plan 0 is 0, of plan 1 its mean plus sigma z: knowing z is worth sigma phi(m) - mean Phi(-m), m = mean/sigma.
TEST(the_worth_of_knowing_one_plan_is_the_unit_normal_loss) {
    enum { WORLDS = 8192 };
    static double losses[2 * WORLDS], signal[WORLDS], nothing[WORLDS];
    Arena *arena = arena_open();
    for (int i = 0; i < 4; i++) {
        double mean = 0.5 * i, sigma = 2;
        for (int d = 0; d < WORLDS; d++) {
            RandomStream random = random_stream(3, "worth", (uint64_t)d);
            signal[d] = random_normal(&random);
            nothing[d] = random_normal(&random);
            losses[WORLDS + d] = mean + sigma * signal[d];
        }
        PlanLosses all = {losses, 2, WORLDS};
        double m = mean / sigma, density = exp(-m * m / 2) / sqrt(2 * M_PI);
        double expected = sigma * density - mean * normal_share(-m), known = plan_worth_of(arena, &all, signal);
        EXPECT_NEAR(plan_worth_of_all(&all), expected, 0.06);
        EXPECT_NEAR(known, expected, 0.06);
        EXPECT(known <= plan_worth_of_all(&all) + 1e-12);
        EXPECT(plan_worth_of(arena, &all, nothing) < 0.06); // what has nothing to do with it is worth nothing
    }
    arena_close(arena);
}

TEST(no_measurement_is_worth_less_than_nothing_or_more_than_knowing_everything) {
    FOR_SEEDS (seed, 1, 20) {
        RandomStream random = random_stream(seed, "losses", 0);
        enum { WORLDS = 512, PLANS = 5 };
        static double losses[PLANS * WORLDS], signal[WORLDS];
        for (int i = 0; i < PLANS * WORLDS; i++) losses[i] = random_exponential(&random, 1 + (double)(i % 3));
        for (int d = 0; d < WORLDS; d++) signal[d] = losses[d] + random_normal(&random);
        Arena *arena = arena_open();
        PlanLosses all = {losses, PLANS, WORLDS};
        double worth = plan_worth_of(arena, &all, signal);
        EXPECT(worth >= 0 && worth <= plan_worth_of_all(&all) + 1e-12);
        arena_close(arena);
    }
}

// 100 at 50 %, 110 at 90 %: from a penalty of 10 / 0.4 on the second is the better. 200 at 95 % never matters at 80 %.
TEST(the_wished_confidence_implies_what_a_miss_costs) {
    const double cost[] = {100, 110, 200, 150}, both[] = {0.5, 0.9, 0.95, 0.6};
    EXPECT_NEAR(plan_implied_miss_cost(cost, both, 4, 0.8), 25, 1e-9);
    EXPECT_NEAR(plan_implied_miss_cost(cost, both, 4, 0.4), 0, 1e-9);
    EXPECT_NEAR(plan_implied_miss_cost(cost, both, 4, 0.93), 90 / 0.05, 1e-6);
    EXPECT(isinf(plan_implied_miss_cost(cost, both, 4, 0.99)));
}

TEST(what_is_unknown_is_listed_widest_first_and_shares_sum_to_one) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].price_sigma = made.rows[1].price_sigma = 0.25;
    made.rows[0].training.software_assumed = made.rows[1].training.software_assumed = true;
    made.request.deadline_s = 34 * 86400.0;
    made.request.budget = 120e3;
    plan_find_chances(&made.request, made.rows, 2);
    PlanResult result = {.rows = made.rows, .row_count = 2, .chosen = -1};
    PlanUnknowns unknowns = plan_unknowns(made.arena, &made.request, &result);
    double days = 0, cost = 0;
    EXPECT_INT((int)unknowns.swings[0].factor, FACTOR_PRICE);
    for (int i = 0; i < unknowns.swing_count; i++)
        days += unknowns.swings[i].days_share, cost += unknowns.swings[i].cost_share;
    EXPECT_NEAR(days, 1, 1e-9);
    EXPECT_NEAR(cost, 1, 1e-9);
    EXPECT(unknowns.measurement_count >= 4);
    for (int i = 0; i < unknowns.measurement_count; i++) {
        const PlanMeasurement *m = &unknowns.measurements[i];
        EXPECT(m->worth >= 0 && m->worth <= unknowns.all + 1e-9);
        EXPECT(m->cost_width <= unknowns.cost_width * 1.02); // knowing does not widen it, on average
        if (i > 0) EXPECT(m->worth <= unknowns.measurements[i - 1].worth);
    }
    arena_close(made.arena);
}

// Of two plans, one ten times as dear in every world: whatever is found out, the choice stays. As dear in the mean,
// each is the cheaper in half of the worlds, by the share that separates them.
TEST(knowing_is_worth_nothing_where_it_changes_no_choice_and_much_where_it_decides) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].price_sigma = made.rows[1].price_sigma = 0.25;
    made.rows[1].point.cost_per_run = made.rows[0].point.cost_per_run;
    plan_find_chances(&made.request, made.rows, 2);
    PlanResult result = {.rows = made.rows, .row_count = 2};
    PlanUnknowns unknowns = plan_unknowns(made.arena, &made.request, &result);
    double least = 0.25 / sqrt(4 * atan(1)) * 100e3; // of two normal draws, how far the less lies below the mean
    EXPECT(unknowns.all > 0.8 * least && unknowns.all < 3 * least);
    made.rows[1].point.cost_per_run = 10 * made.rows[0].point.cost_per_run;
    plan_find_chances(&made.request, made.rows, 2);
    unknowns = plan_unknowns(made.arena, &made.request, &result);
    EXPECT_NEAR(unknowns.all, 0, 0);
    for (int i = 0; i < unknowns.measurement_count; i++) EXPECT_NEAR(unknowns.measurements[i].worth, 0, 0);
    arena_close(made.arena);
}

// ---- What if date, budget, prices or failures were others.

TEST(dearer_earlier_and_failing_more_often_is_kept_no_more_often) {
    MadeUp made;
    made_up_open(&made);
    FaultsSpec faults = {.node_mtbf_s = 1e7};
    made.request.faults = &faults;
    made.request.deadline_s = 34 * 86400.0;
    made.request.budget = 115e3;
    for (int i = 0; i < 2; i++) {
        RecordPoint *point = &made.rows[i].point;
        point->days_undisturbed = 0.9 * point->days;
        point->checkpoint_share = 0.02;
    }
    plan_find_chances(&made.request, made.rows, 2);
    PlanResult result = {.rows = made.rows, .row_count = 2};
    double today = fmax(made.rows[0].chance.both, made.rows[1].chance.both);
    WhatIfs shifts = plan_shifts(made.arena, &made.request, &result);
    EXPECT_INT(shifts.count, 7);
    for (int i = 0; i < shifts.count; i++) {
        const WhatIf *shift = &shifts.items[i];
        bool harder = strstr(shift->title, "earlier") || strstr(shift->title, "smaller") ||
                      strstr(shift->title, "higher") || strstr(shift->title, "failures");
        if (shift->plan->chosen < 0 && harder) EXPECT(shift->plan->both <= today + 0.01);
        if (!harder) EXPECT(shift->plan->both >= fmin(today, made.request.confidence) - 0.01);
        if (strstr(shift->title, "failures")) EXPECT(shift->then >= made.rows[shift->plan->best].point.days);
    }
    arena_close(made.arena);
}

// A shift of nothing is in the worlds of the plan's own chance: a tenth more budget is what a plan with it says.
TEST(a_shifted_budget_has_the_chance_of_a_plan_that_asks_for_it) {
    MadeUp made;
    made_up_open(&made);
    made.rows[0].price_sigma = made.rows[1].price_sigma = 0.25;
    made.request.deadline_s = 36 * 86400.0;
    made.request.budget = 110e3;
    plan_find_chances(&made.request, made.rows, 2);
    PlanResult result = {.rows = made.rows, .row_count = 2, .chosen = -1};
    WhatIfs shifts = plan_shifts(made.arena, &made.request, &result);
    int compared = 0;
    for (int i = 0; i < shifts.count; i++) {
        PlanRow rows[2] = {made.rows[0], made.rows[1]};
        PlanRequest asked = made.request;
        if (strcmp(shifts.items[i].title, "a budget 10 % larger") == 0)
            asked.budget *= 1.1;
        else if (strcmp(shifts.items[i].title, "a date 10 % later") == 0)
            asked.deadline_s *= 1.1;
        else
            continue;
        plan_find_chances(&asked, rows, 2);
        EXPECT_NEAR(shifts.items[i].plan->both, rows[shifts.items[i].plan->best].chance.both, 1e-12);
        compared++;
    }
    EXPECT_INT(compared, 2);
    arena_close(made.arena);
}

// ---- The command.

static int plan_command(const char *arguments, char *output, size_t room) {
    char command[1024];
    snprintf(command, sizeof command, "COLUMNS=1000 $LOCKSTEP plan %s", arguments);
    return test_shell(command, output, room);
}

#define SMALL                                                                                                          \
    "--model gpt3-2.7b --tokens 10B --seq 2048 --node dgx-a100-80gb --fabric ib-hdr200 --gpus 8:16 --global-batch 64 " \
    "--price 2 --date 2026-11-21 "

TEST(the_chosen_plan_keeps_date_and_budget_with_the_confidence_wished) {
    static char output[1 << 17];
    EXPECT_INT(plan_command(SMALL "--framework megatron --by 2d --budget 700 -j 1 -v", output, sizeof output), 0);
    EXPECT_CONTAINS(output, "the cheapest that keeps date and budget, with ");
    EXPECT_CONTAINS(output, " (asked: 80 %).");
    EXPECT_CONTAINS(output, "Chance to keep the date");
    EXPECT_CONTAINS(output, "What could be measured before");
    EXPECT_INT(plan_command(SMALL "--by 2d --budget 520 --confidence 99% -j 1", output, sizeof output), 3);
    EXPECT_CONTAINS(output, "No plan keeps date and budget with 99 %. The nearest miss does with ");
    EXPECT_INT(plan_command(SMALL "--by 2d --start 2026-11-25", output, sizeof output), 4);
    EXPECT_CONTAINS(output, "only after the date");
    EXPECT_INT(plan_command(SMALL "--start 2026-11-01", output, sizeof output), 4);
    EXPECT_CONTAINS(output, "before the day of the plan");
    EXPECT_INT(plan_command(SMALL "--confidence 120%", output, sizeof output), 4);
    EXPECT_CONTAINS(output, "a chance above 0 and below 100 %");
}

// Money a date and budget and price would need, said by one plan and asked of the next.
TEST(a_plan_that_asks_for_what_would_be_enough_has_the_chance_that_was_said) {
    static char output[1 << 18];
    static const char *const options[] = {"--budget %.17g --by 30d", "--budget 60k --by %.17gd",
                                          "--budget 60k --by 30d --price %.17g"};
    static const char asked[] = "--model gpt3-2.7b --tokens 300B --seq 2048 --node dgx-a100-80gb --fabric ib-hdr200 "
                                "--gpus 32 --global-batch 64 --node-mtbf 20d --date 2026-11-21 --json -j 1 ";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s--budget 60k --by 30d", asked);
    plan_command(arguments, output, sizeof output);
    const char *at = strstr(output, "\"reach\": [");
    EXPECT(at != NULL);
    struct {
        double value, chance;
    } said[3] = {{0}};
    for (int i = 0; i < 3 && at; i++) {
        at = strstr(at + 1, "\"value\": ");
        if (!at) break;
        said[i].value = atof(at + 9);
        said[i].chance = atof(strstr(at, "\"chance\": ") + 10);
    }
    for (int i = 0; i < 3; i++) {
        if (!(said[i].value > 0)) continue; // null: this alone does not
        char option[128];
        snprintf(option, sizeof option, options[i], said[i].value); // NOLINT: one of the three above
        snprintf(arguments, sizeof arguments, "%s%s", asked, option);
        plan_command(arguments, output, sizeof output);
        const char *both = strstr(output, "\"both\": ");
        EXPECT(both && said[i].chance >= 0.8);
        if (both) EXPECT_NEAR(atof(both + 8), said[i].chance, 2e-4);
    }
    EXPECT(said[0].value > 0 && said[2].value > 0);
}

// "as planned" lives the lives that the plan lived, and pays for those who stand by.
TEST(what_else_may_be_set_is_priced_with_its_spares) {
    static char output[1 << 18];
    EXPECT_INT(plan_command("--model gpt3-2.7b --tokens 300B --seq 2048 --node dgx-a100-80gb --fabric ib-hdr200 --gpus "
                            "32 --global-batch 64 --price 2 --node-mtbf 20d --spares 2 --json -j 1",
                            output, sizeof output),
               0);
    const char *cost = strstr(output, "\"amount\": "), *settings = strstr(output, "\"settings\": [");
    EXPECT(cost && settings);
    if (!cost || !settings) return;
    const char *with = strstr(settings, "\"cost\": "), *days = strstr(output, "\"days\": ");
    EXPECT_CONTAINS(settings, "as planned: 2 spare nodes");
    EXPECT_CONTAINS(settings, "0 spare nodes instead of 2");
    EXPECT_CONTAINS(settings, "checkpoints are written while training goes on");
    double all = atof(cost + strlen("\"amount\": ")), storage = atof(strstr(output, "\"storage_cost\": ") + 16);
    EXPECT(storage > 0);
    EXPECT_NEAR(atof(strchr(with, ':') + 1), all, 1e-6);
    const char *spares = strstr(output, "\"spares_cost\": ");
    EXPECT(spares != NULL);
    if (spares) EXPECT_NEAR(atof(spares + 15), (all - storage) / 3, 1e-6); // 2 beside 4
    EXPECT_CONTAINS(settings, "checkpoints go to 2 x superpod-storage");
    EXPECT_NEAR(atof(strstr(settings, "\"days\": ") + 8), atof(days + 8), 1e-9);
}

// The plan as planned, and what no measurement changes, have its own chance to the last digit.
TEST(a_plans_chance_is_one_number_wherever_it_stands) {
    static char output[1 << 18];
    plan_command(
        "--model gpt3-2.7b --tokens 300B --seq 2048 --node dgx-a100-80gb,dgx-h100 --fabric ib-hdr200 --gpus 32 "
        "--global-batch 64 --node-mtbf 20d --by 20d --budget 50k --date 2026-11-21 --json -j 1",
        output, sizeof output);
    const char *both = strstr(output, "\"both\": "), *settings = strstr(output, "\"settings\": ["),
               *measurements = strstr(output, "\"measurements\": [");
    EXPECT(both && settings && measurements);
    if (!both || !settings || !measurements) return;
    double chance = atof(both + 8);
    EXPECT(chance > 0.05 && chance < 0.95);
    EXPECT_NEAR(atof(strstr(settings, "\"chance\": ") + 10), chance, 1.5 / PLAN_DRAWS);
    int idle = 0;
    for (const char *at = measurements; (at = strstr(at, "\"worth\": ")) && at < settings; at++) {
        if (atof(at + 9) != 0) continue;
        EXPECT_NEAR(atof(strstr(at, "\"chance_then\": ") + 15), chance, 1e-12);
        idle++;
    }
    EXPECT(idle >= 1);
}

TEST(probabilities_are_the_same_for_one_and_two_cores) {
    static char one[1 << 18], two[1 << 18];
    const char *asked = "--model gpt3-2.7b --tokens 10B --seq 2048 --global-batch 64 --gpus 8 --by 3d --budget 800 "
                        "--node dgx-a100,dgx-a100-80gb,dgx-h100,dgx-h200,dgx-b200,aws-p4d.24xlarge,aws-p3.16xlarge "
                        "--date 2026-11-21 --json -j ";
    char arguments[512];
    for (int jobs = 1; jobs <= 2; jobs++) {
        snprintf(arguments, sizeof arguments, "%s%d", asked, jobs);
        int status = plan_command(arguments, jobs == 1 ? one : two, sizeof one);
        EXPECT(status == 0 || status == 3);
    }
    const char *of_one = strstr(one, "\"model\""), *of_two = strstr(two, "\"model\""); // before it: the command
    EXPECT(of_one && of_two);
    if (of_one && of_two) EXPECT_TEXT(of_two, of_one);
    EXPECT_CONTAINS(one, "\"chance\": {");
}

TEST(a_gpu_that_lacks_the_precision_is_no_plan_and_says_why) {
    static char output[1 << 16];
    const char *asked =
        "--model gpt2-124m --tokens 1B --global-batch 64 --gpus 8 --node dgx-a100,aws-p3.16xlarge -j 1 ";
    char stated[256];
    snprintf(stated, sizeof stated, "%s --precision bf16", asked);
    EXPECT_INT(plan_command(stated, output, sizeof output), 0);
    EXPECT_CONTAINS(output, "has no bf16 units");
    EXPECT_INT(plan_command(asked, output, sizeof output), 0); // not said: each in what its GPUs have
    EXPECT(strstr(output, "has no bf16 units") == NULL);
}

TEST(how_little_would_still_be_enough_is_told_from_the_first) {
    static char said[1 << 17];
    EXPECT_INT(
        plan_command("--model llama-2-7b --node dgx-a100 --gpus 64 --tokens 100B --global-batch 512 --by 60d --budget "
                     "200k -v",
                     said, sizeof said),
        0);
    EXPECT_CONTAINS(said, "\nReach     with a budget of ");
}

TEST(no_plan_is_recommended_that_may_well_run_out_of_memory_unless_asked) {
    static char sure[1 << 17], asked[1 << 17];
    const char *tight = "--model llama-2-13b --tokens 10B --node dgx-a100 --gpus 8 --global-batch 64 --recompute none "
                        "--json -j 1 --date 2026-11-21";
    char arguments[512];
    plan_command(tight, sure, sizeof sure);
    snprintf(arguments, sizeof arguments, "%s --fit 30%%", tight);
    EXPECT_INT(plan_command(arguments, asked, sizeof asked), 0);
    const char *chance = strstr(asked, "\"chance_to_fit\": ");
    EXPECT(chance != NULL);
    if (chance) EXPECT(atof(chance + strlen("\"chance_to_fit\": ")) >= 0.3);
    for (const char *at = sure; (at = strstr(at, "\"chance_to_fit\": ")) != NULL; at++)
        EXPECT(atof(at + strlen("\"chance_to_fit\": ")) >= 0.95);
    EXPECT_INT(plan_command("--model llama-2-7b --tokens 1B --node dgx-a100 --gpus 1 --global-batch 4 --micro-batch 1",
                            sure, sizeof sure),
               3);
    EXPECT_CONTAINS(sure, "no layout fits in memory");
    EXPECT_INT(plan_command("--model llama-3.2-1b --tokens 1B --node rtx4090-8gpu --gpus 1 --global-batch 1 --seq 1024",
                            sure, sizeof sure),
               3);
    EXPECT_CONTAINS(sure, "no layout fits in memory with 95 %; one does with ");
}

static double member_in(const Json *object, const char *key) {
    const Json *value = object ? json_get(object, key) : NULL;
    return value && value->kind == JSON_NUMBER ? value->number : NAN;
}

static const Json *planned_json(Arena *arena, const char *arguments) {
    static char output[1 << 17];
    int status = plan_command(arguments, output, sizeof output);
    EXPECT(status == 0 || status == 3);
    return json_read_text(arena, "plan", output, strlen(output), problems_create(arena));
}

static const Json *named_in(const Json *list, const char *words) {
    for (int i = 0; list && i < list->count; i++)
        if (strstr(json_get(&list->items[i], "what")->text, words)) return &list->items[i];
    return NULL;
}

#define OFTEN                                                                                                          \
    "--model gpt2-1.5b --tokens 300B --global-batch 512 --node dgx-h100 --fabric ib-ndr400 --gpus 128 --price 2 -j 1 " \
    "--json "

// What the plan does not choose itself is no question to a run of two columns.
TEST(two_columns_are_an_anchor_of_a_job_that_is_said) {
    static char output[1 << 17];
    FILE *file = fopen("build/two_columns.csv", "w");
    EXPECT(file != NULL);
    if (!file) return;
    fputs("gpus,step_time\n8,4.1s\n", file);
    fclose(file);
    const char *asked =
        "--model llama-2-7b --node dgx-h100 --gpus 8 --global-batch 64 --micro-batch 8 --tokens 1B -j 1 "
        "--anchor build/two_columns.csv";
    char said[512];
    snprintf(said, sizeof said, "%s --tp 8", asked);
    EXPECT_INT(plan_command(said, output, sizeof output), 0);
    EXPECT_INT(plan_command(asked, output, sizeof output), 4);
    remove("build/two_columns.csv");
}

// Both tables that ask what twice as many failures do say what --node-mtbf halved says.
TEST(twice_as_many_failures_are_one_number_everywhere) {
    Arena *arena = arena_open();
    const Json *plan = planned_json(arena, OFTEN "--node-mtbf 20d"),
               *halved = planned_json(arena, OFTEN "--node-mtbf 10d");
    const Json *shift = named_in(json_get(plan, "shifts"), "twice as many failures");
    const Json *changed = named_in(json_get(plan, "what_if"), "failures 2.0 times as often");
    double days = member_in(halved, "days");
    EXPECT(days > 1.004 * member_in(plan, "days"));
    EXPECT_NEAR(member_in(shift, "days"), days, 1e-9 * days);
    EXPECT_NEAR(member_in(changed, "days"), days, 1e-9 * days);
    double cost = member_in(json_get(halved, "cost"), "amount");
    EXPECT_NEAR(member_in(shift, "cost"), cost, 1e-9 * cost);
    EXPECT_NEAR(member_in(changed, "cost"), cost, 1e-9 * cost);
    arena_close(arena);
}

TEST(no_setting_that_a_plan_tried_is_better_than_what_it_recommends) {
    static const char *const asked[] = {OFTEN "--node-mtbf 20d", OFTEN "--node-mtbf 5d --by 40d",
                                        OFTEN "--node-mtbf 20d --objective time"};
    for (int q = 0; q < COUNT_OF(asked); q++) {
        Arena *arena = arena_open();
        const Json *plan = planned_json(arena, asked[q]), *settings = json_get(plan, "settings");
        const Json *advice = json_get(plan, "recommended");
        const char *key = q == 2 ? "days" : "mean_cost"; // a mean life decides: docs/plan.md
        double sure = member_in(plan, "confidence"), best = INFINITY, cost = member_in(advice, "cost");
        EXPECT(settings->count > 3);
        for (int i = 0; i < settings->count; i++)
            if (fabs(member_in(&settings->items[i], "cost") / cost - 1) < 1e-9)
                best = member_in(&settings->items[i], key);
        EXPECT(isfinite(best)); // what is advised is one of them
        for (int i = 0; i < settings->count; i++) {
            double than = member_in(&settings->items[i], key);
            if (member_in(&settings->items[i], "chance") >= sure && than < 0.995 * best)
                test_fail(__FILE__, __LINE__, "question %d advises %g where setting %d has %g", q, best, i, than);
        }
        arena_close(arena);
    }
}
