// The order of plans: a strict order on small rows, all of them; front, knee and the plan twice as fast by plain
// search.
#include <math.h>
#include <string.h>

#include "scenarios/plan/plan.h"
#include "scenarios/plan/plan_question.h"
#include "sim/base/random.h"
#include "tests/command.h"
#include "tests/test.h"

static PlanRow row_of(bool ran, double days, double cost, double energy, double chance) {
    PlanRow row = {.chance = {.known = chance >= 0, .both = chance}};
    row.point.ran = ran;
    row.point.days = days;
    row.point.cost_per_run = cost;
    row.point.energy_kwh = energy;
    row.point.carbon_kg = energy;
    return row;
}

#define ROWS 48
// Rows that did not run, and those of two lengths, three prices (nobody knows one of them) and three chances.
static int all_rows(const PlanRequest *request, PlanRow rows[ROWS]) {
    static const double days[] = {1, 3}, costs[] = {10, 30, NAN}, chances[] = {-1, 0.2, 0.9};
    int count = 0;
    for (int ran = 0; ran < 2; ran++)
        for (int d = 0; d < 2; d++)
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 3; k++) {
                    PlanRow row = row_of(ran, days[d], costs[c], 5 - days[d], chances[k]);
                    plan_judge(request, &row);
                    rows[count++] = row;
                }
    return count;
}

static void expect_strict_order(const PlanRequest *request) {
    PlanRow rows[ROWS];
    int count = all_rows(request, rows);
    for (int a = 0; a < count; a++) {
        EXPECT(!plan_comes_before(request, &rows[a], &rows[a]));
        for (int b = 0; b < count; b++) {
            bool before = plan_comes_before(request, &rows[a], &rows[b]);
            if (before) EXPECT(!plan_comes_before(request, &rows[b], &rows[a]));
            if (before) EXPECT(plan_misses(&rows[a]) <= plan_misses(&rows[b]) || request->confidence > 0);
            if (rows[a].point.ran && !rows[b].point.ran) EXPECT(before);
            if (!rows[a].point.ran && !rows[b].point.ran) EXPECT(!before); // as they were
            if (rows[a].point.ran && rows[a].kept && rows[b].point.ran && !rows[b].kept) EXPECT(before);
            for (int c = 0; before && c < count; c++)
                if (plan_comes_before(request, &rows[b], &rows[c]))
                    EXPECT(plan_comes_before(request, &rows[a], &rows[c]));
        }
    }
}

TEST(plans_are_in_a_strict_order_that_begins_with_those_that_keep_date_and_budget) {
    for (int objective = 0; objective < PLAN_OBJECTIVE_COUNT; objective++)
        for (int dated = 0; dated < 2; dated++)
            for (int budgeted = 0; budgeted < 2; budgeted++)
                for (int sure = 0; sure < 2; sure++) {
                    PlanRequest request = {.objective = (PlanObjective)objective,
                                           .deadline_s = dated ? 2 * 86400 : 0,
                                           .budget = budgeted ? 20 : 0,
                                           .confidence = sure ? 0.8 : 0};
                    expect_strict_order(&request);
                }
}

TEST(of_plans_that_keep_all_the_better_by_objective_comes_first_and_the_unpriced_by_time) {
    PlanRequest request = {.objective = PLAN_COST};
    PlanRow cheap = row_of(true, 9, 10, 5, -1), quick = row_of(true, 1, 30, 7, -1),
            unpriced = row_of(true, 2, NAN, 1, -1), slower = row_of(true, 4, NAN, 1, -1);
    PlanRow *rows[] = {&cheap, &quick, &unpriced, &slower};
    for (int i = 0; i < 4; i++) plan_judge(&request, rows[i]);
    for (int i = 0; i < 3; i++) EXPECT(plan_comes_before(&request, rows[i], rows[i + 1]));
    request.objective = PLAN_TIME;
    EXPECT(plan_comes_before(&request, &quick, &unpriced) && plan_comes_before(&request, &unpriced, &cheap));
    request.objective = PLAN_ENERGY;
    EXPECT(plan_comes_before(&request, &cheap, &quick) && plan_comes_before(&request, &unpriced, &cheap));
}

// Of two that miss: the better chance, then the fewer promises broken, then the nearer.
TEST(of_plans_that_miss_the_nearest_comes_first) {
    PlanRequest request = {.objective = PLAN_COST, .deadline_s = 2 * 86400, .budget = 20};
    PlanRow late = row_of(true, 3, 10, 1, -1), later = row_of(true, 4, 10, 1, -1), dear = row_of(true, 1, 34, 1, -1),
            both = row_of(true, 3, 21, 1, -1);
    PlanRow *rows[] = {&late, &dear, &later, &both}; // 1.5, 1.7 and 2 times what was asked; both promises
    for (int i = 0; i < 4; i++) plan_judge(&request, rows[i]);
    EXPECT(late.late && !late.over_budget && dear.over_budget && !dear.late && both.late && both.over_budget);
    EXPECT_INT(plan_misses(&late), 1);
    EXPECT_INT(plan_misses(&both), 2);
    for (int i = 0; i < 3; i++) EXPECT(plan_comes_before(&request, rows[i], rows[i + 1]));
    request.confidence = 0.8;
    late.chance = (PlanChance){.known = true, .both = 0.1}, both.chance = (PlanChance){.known = true, .both = 0.3};
    plan_judge(&request, &late), plan_judge(&request, &both);
    EXPECT(plan_comes_before(&request, &both, &late));
    both.chance.both = 0.8;
    plan_judge(&request, &both);
    EXPECT(both.kept && plan_misses(&both) == 0);
}

TEST(a_date_counts_from_the_start_with_what_is_not_known_of_it) {
    PlanRequest request = {.deadline_s = 2 * 86400, .start_s = 86400};
    PlanRow row = row_of(true, 1, 10, 1, -1), longer = row_of(true, 1.001, 10, 1, -1);
    plan_judge(&request, &row), plan_judge(&request, &longer);
    EXPECT(!row.late && longer.late);
    request.start_spread_s = 86400 * log(10), request.start_s = 0; // a day in the mean
    plan_judge(&request, &row), plan_judge(&request, &longer);
    EXPECT(!row.late && longer.late);
    request = (PlanRequest){.budget = 10};
    plan_judge(&request, &row);
    EXPECT(!row.over_budget && row.kept);
    row.point.cost_per_run = 10.01;
    plan_judge(&request, &row);
    EXPECT(row.over_budget && !row.kept);
}

// ---- Against plain search.

static double known(double value) { return isnan(value) ? 0 : value; }

static bool is_beaten(const PlanResult *result, int which) {
    const RecordPoint *p = &result->rows[which].point;
    for (int i = 0; i < result->row_count; i++) {
        const RecordPoint *q = &result->rows[i].point;
        double by[] = {p->cost_per_run - q->cost_per_run, p->days - q->days, p->energy_kwh - q->energy_kwh,
                       known(p->carbon_kg) - known(q->carbon_kg)};
        bool no_worse = true, better = false;
        for (int m = 0; m < 4; m++) {
            no_worse = no_worse && by[m] >= 0;
            better = better || by[m] > 0;
        }
        if (q->ran && no_worse && better) return true;
    }
    return false;
}

static int plain_knee(const PlanResult *result) {
    int knee = -1, on_front = 0;
    double nearest = INFINITY, ends[3][2] = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < result->row_count; i++) {
            const RecordPoint *p = &result->rows[i].point;
            double at[] = {p->cost_per_run, p->days, p->energy_kwh}, distance = 0;
            if (!result->rows[i].on_front) continue;
            on_front += pass == 0;
            for (int m = 0; m < 3; m++) {
                if (pass == 0) ends[m][0] = fmin(ends[m][0], at[m]), ends[m][1] = fmax(ends[m][1], at[m]);
                double span = ends[m][1] - ends[m][0];
                distance += span > 0 ? pow((at[m] - ends[m][0]) / span, 2) : 0;
            }
            if (pass == 1 && distance < nearest) nearest = distance, knee = i;
        }
    return on_front > 2 ? knee : -1;
}

TEST(front_knee_and_the_plan_twice_as_fast_are_those_of_a_plain_search) {
    int knees = 0, halves = 0;
    FOR_SEEDS (seed, 1, 200) {
        RandomStream random = random_stream(seed, "plan rows", 0);
        PlanRow rows[9];
        PlanResult result = {.rows = rows, .row_count = 1 + (int)random_below(&random, 9)};
        PlanRequest request = {.objective = (PlanObjective)random_below(&random, 3), .budget = 5};
        for (int i = 0; i < result.row_count; i++) {
            rows[i] = row_of(random_below(&random, 8) != 0, 1 + (double)random_below(&random, 6),
                             1 + (double)random_below(&random, 6), 1 + (double)random_below(&random, 6), -1);
            rows[i].point.carbon_kg = NAN;
            plan_judge(&request, &rows[i]);
        }
        plan_rank(&request, &result);
        EXPECT_INT(result.chosen, rows[0].point.ran && rows[0].kept ? 0 : -1);
        int twice = -1;
        for (int i = 0; i < result.row_count; i++) {
            if (i > 0) EXPECT(!plan_comes_before(&request, &rows[i], &rows[i - 1]));
            EXPECT_INT(rows[i].on_front, rows[i].point.ran && !is_beaten(&result, i));
            bool fast = result.chosen == 0 && rows[i].point.ran && 2 * rows[i].point.days <= rows[0].point.days;
            if (fast && (twice < 0 || rows[i].point.cost_per_run < rows[twice].point.cost_per_run)) twice = i;
        }
        EXPECT_INT(plan_twice_as_fast(&result), twice);
        EXPECT_INT(result.knee, plain_knee(&result));
        knees += result.knee >= 0;
        halves += twice >= 0;
    }
    EXPECT(knees > 20 && halves > 20);
}

// ---- What is shown.

TEST(a_long_table_of_plans_says_how_many_more_there_are) {
    static const char plans[] =
        "plan --model gpt2-124m --node dgx-h100,dgx-a100 --gpus 1,2,4,8,16,24,32 --global-batch 96 "
        "--tokens 1e9 --price 2 -j 1";
    char line[512];
    EXPECT_CONTAINS(run_command(command_plan, plans)->out, "and 9 more: -v");
    snprintf(line, sizeof line, "%s --all", plans);
    const Ended *ended = run_command(command_plan, line);
    EXPECT(ended->code == 0 && !strstr(ended->out, " more: -v"));
}

// ---- What is searched.

static int chosen_degree(const char *job, const char *degree) {
    char line[512], key[32];
    snprintf(line, sizeof line, "plan --node dgx-h100 --gpus 16 --fabric ib-ndr400 --tokens 1e9 -j 1 --json %s", job);
    snprintf(key, sizeof key, "\n    \"%s\": ", degree);
    const Ended *ended = run_command(command_plan, line);
    EXPECT_INT(ended->code, 0);
    const char *at = strstr(ended->out, key);
    return at ? atoi(at + strlen(key)) : -1;
}

// Jobs that need a degree above 1: sequences too long for one GPU, weights too many.
TEST(degrees_that_are_left_open_are_searched_and_those_that_are_said_are_kept) {
    static const char sequences[] = "--model llama-2-7b --seq 131072 --global-batch 4";
    EXPECT(chosen_degree(sequences, "cp") > 1);
    EXPECT_INT(chosen_degree("--model llama-2-7b --seq 131072 --global-batch 4 --cp 8", "cp"), 8);
    static const char weights[] = "--model llama-2-13b --global-batch 64 --zero 0";
    EXPECT(chosen_degree(weights, "tp") * chosen_degree(weights, "pp") > 1);
    EXPECT_INT(chosen_degree("--model llama-2-13b --global-batch 64 --zero 0 --tp 8", "tp"), 8);
    EXPECT_INT(chosen_degree("--model llama-2-13b --global-batch 64 --zero 0 --pp 8", "pp"), 8);
}

// The pilot that a plan advises has the plan's own layout, on GPUs in which it fits; read as options it runs.
LONG_TEST(3, the_pilot_that_a_plan_advises_runs) {
    static char said[1 << 13];
    static const char asked[] =
        "JOB='--model qwen3-235b-a22b --node dgx-h200 --fabric ib-ndr400 --seq 4096'; "
        "PILOT=$($LOCKSTEP plan $JOB --gpus 256 --tokens 4T --global-batch 1024 --software megatron --json | "
        "grep -o 'measured [0-9][^\"]*=TIME' | head -1 | sed 's/measured /--gpus /; s/=TIME//; s/,/ --/g; s/=/ /g; "
        "s/_/-/g'); "
        "echo pilot $PILOT; $LOCKSTEP run $JOB $PILOT --software megatron --json | grep -E 'chance_to_run_out|\"ran\"'";
    EXPECT_INT(test_shell(asked, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "pilot --gpus ");
    EXPECT_CONTAINS(said, "--ep ");
    EXPECT_CONTAINS(said, "\"ran\": true");
    EXPECT_CONTAINS(said, "\"chance_to_run_out\": 0");
    EXPECT(!strstr(said, "\"chance_to_run_out\": 0.1"));
}
