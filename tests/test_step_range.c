// How far a step's range reaches, by what has been said of its software.
#include "calibrate/training/training.h"
#include "models/workload/job/software.h"
#include "models/workload/step/step_constants.h"
#include "sim/data/csv.h"
#include "tests/jobs.h"
#include "tests/test.h"

static StepRange range_of(const TrainingSpec *training) {
    return step_range(sqrt(step_software_variance(training)), step_loss(training), step_loss_sigma(training));
}

// Nothing, a library of some kind, and tuned software of that kind.
TEST(saying_more_of_software_never_widens_a_range) {
    for (int kind = 0; kind < FRAMEWORK_COUNT; kind++)
        for (int other = 0; other < FRAMEWORK_COUNT; other++) {
            TrainingSpec unsaid = {.framework = (Framework)other, .software_assumed = true, .own_code = true};
            TrainingSpec library = {.framework = (Framework)kind, .own_code = true};
            TrainingSpec tuned = {.framework = (Framework)kind};
            StepRange wide = range_of(&unsaid), middle = range_of(&library), narrow = range_of(&tuned);
            EXPECT(wide.low <= middle.low && middle.low <= narrow.low);
            EXPECT(wide.high >= middle.high && middle.high > narrow.high);
            EXPECT_NEAR(step_loss(&tuned), 1, 0);
            EXPECT(step_loss(&unsaid) >= step_loss(&library) && step_loss(&library) >= 1);
        }
}

TEST(untuned_code_is_slower_and_may_be_as_fast_as_tuned) {
    Case c;
    case_open(&c, 8, "gpt2-355m");
    SimulatedStep tuned = simulate(&c, false);
    c.training.own_code = true;
    SimulatedStep own = simulate(&c, false);
    double loss = step_constant(OWN_CODE_LOSS), sum = 0;
    double waits = tuned.spent[CAUSE_LAUNCH] + tuned.spent[CAUSE_HOST];
    EXPECT(waits > 0);
    EXPECT_NEAR(own.step_p50_s, loss * tuned.step_p50_s + step_constant(OWN_CODE_HOST_LOSS) * waits, 1e-9);
    EXPECT_NEAR(own.step_p5_s, tuned.step_p50_s * exp(-1.645 * own.sigma * step_constant(FASTER_SPREAD)), 1e-9);
    EXPECT_NEAR(own.step_p95_s / own.step_p50_s,
                exp(1.645 * hypot(own.sigma * step_constant(SLOWER_SPREAD), step_constant(OWN_CODE_SIGMA))), 1e-9);
    for (int cause = 0; cause < CAUSE_COUNT; cause++) sum += own.spent[cause];
    EXPECT_NEAR(sum, own.step_p50_s, 1e-9);
    EXPECT(own.digest == tuned.digest);
    arena_close(c.arena);
}

TEST(whose_loop_it_is_follows_from_the_words) {
    static const struct {
        const char *text;
        bool tuned;
    } rows[] = {
        {"nemo 24.07", true},
        {"torchtitan 2025-06", true},
        {"NGC PyTorch, mlperf", true},
        {"PyTorch 2.4", false},
        {"HF Trainer", false},
        {"JAX/MaxText", true},
        {"jax", false},
        {"Megatron-LM, own loop", false},
        {"TensorFlow", false},
        {"PyTorch (timm)", false}, // models of a library
        {"timm / PyTorch | timm benchmark", true},
        {"own", false},
        {"a nemoo of my own", false},
    };
    Bench bench = bench_open();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SoftwareQuery query = {.text = rows[i].text, .gpu_year = 2022};
        const Software *software = find_software(bench.arena, &query, (Where){0}, bench.problems);
        EXPECT(software && software->tuned == rows[i].tuned);
    }
    EXPECT_INT(problem_count(bench.problems), 0);
    arena_close(bench.arena);
}

TEST(families_are_classed_once_each) {
    Bench bench = bench_open();
    const Csv *csv = csv_read_file(bench.arena, "calibrate/measurements/families.csv", bench.problems);
    for (int i = 0; csv && i < csv->row_count; i++) {
        const char *family = csv_cell(csv, i, 0), *class = csv_cell(csv, i, 1);
        EXPECT_INT(family_is_tuned(family), strcmp(class, "tuned") == 0);
        EXPECT(family_is_tuned(family) || strcmp(class, "ordinary") == 0);
        EXPECT(csv_cell(csv, i, 2)[0]);
        for (int j = 0; j < i; j++) EXPECT(strcmp(family, csv_cell(csv, j, 0)) != 0);
    }
    EXPECT(csv && csv->row_count > 90);
    arena_close(bench.arena);
    EXPECT(family_is_tuned("mlperf-training-v5.0") && !family_is_tuned("prime-rl-trainer"));
    EXPECT(!family_is_tuned("nobody has heard of it"));
}

// ---- What untuned code loses, on made-up rows.

typedef struct MadeRows {
    PredictedRun runs[100];
    MeasuredRun measured[100];
    double factors[100];
    bool wanted[100];
    NestedAnswer answer;
} MadeRows;

// One row a family, predicted to take a second; the logs of what was measured are evenly spread over 0 to 1.
static MadeRows *made_rows(Arena *arena) {
    MadeRows *made = ARENA_NEW(arena, MadeRows);
    for (int i = 0; i < 100; i++) {
        made->measured[i] =
            (MeasuredRun){.family = arena_printf(arena, "%d", i), .measured_step_s = exp((i + 0.5) / 100)};
        made->runs[i] = (PredictedRun){.run = &made->measured[i],
                                       .step_s = 1,
                                       .low_s = exp(0.1),
                                       .high_s = exp(0.8),
                                       .sigma = 0.1,
                                       .training = {.own_code = true}};
        made->factors[i] = 1;
        made->wanted[i] = true;
    }
    made->answer = (NestedAnswer){.runs = made->runs, .factors = made->factors};
    return made;
}

TEST(a_range_is_scored_by_votes_of_families) {
    Arena *arena = arena_open();
    MadeRows *made = made_rows(arena);
    RangeScore score = range_score(arena, &made->answer, 100, made->wanted);
    EXPECT_INT(score.families, 100);
    EXPECT_NEAR(score.bias, 0.495, 1e-9);
    EXPECT_NEAR(score.inside, 0.7, 1e-9);
    EXPECT_NEAR(score.above, 0.2, 1e-9);
    EXPECT_NEAR(log(score.width), 0.7, 1e-9);
    // Below: ten rows 0.005 to 0.095 off, above: twenty 0.005 to 0.195 off.
    EXPECT_NEAR(score.score, 0.7 + 20 * (10 * 0.05 + 20 * 0.1) / 100, 1e-9);
    EXPECT(score.constant_score < score.score && score.constant_inside >= 0.9);
    for (int i = 0; i < 50; i++) made->measured[i].family = "one"; // now half of the rows have one vote in 51
    score = range_score(arena, &made->answer, 100, made->wanted);
    EXPECT_INT(score.families, 51);
    EXPECT_NEAR(score.above, 20.0 / 51, 1e-9);
    arena_close(arena);
}

TEST(what_untuned_code_loses_is_fitted_to_the_median_and_the_tail) {
    Arena *arena = arena_open();
    MadeRows *made = made_rows(arena);
    OwnCode own = own_code_fit(arena, &made->answer, 100, made->wanted);
    EXPECT_INT(own.families, 100);
    EXPECT_NEAR(own.loss, step_constant(OWN_CODE_LOSS) * exp(0.495), 1e-9);
    RangeScore score = own_code_score(arena, &made->answer, 100, made->wanted, &own);
    EXPECT_NEAR(score.bias, 0, 1e-9);
    EXPECT_NEAR(score.above, 0.05, 0.011);
    for (int i = 0; i < 100; i++) made->runs[i].training.own_code = false;
    EXPECT_INT(own_code_fit(arena, &made->answer, 100, made->wanted).families, 0); // tuned code tells nothing of it
    arena_close(arena);
}

static double number_in(const char *json, const char *object, const char *key) {
    const char *at = strstr(json, object);
    at = at ? strstr(at, key) : NULL;
    at = at ? strchr(at + strlen(key), ':') : NULL;
    return at ? strtod(at + 1, NULL) : NAN;
}

// Days of a run with failures are no fewer than its quickest steps take without any, and no fewer than its slowest.
TEST(a_range_of_days_is_as_wide_as_the_range_of_the_step) {
    static char out[1 << 20];
    EXPECT_INT(
        test_shell("$LOCKSTEP run scenarios/examples/weeks_with_failures.lua --json 2>/dev/null", out, sizeof out), 0);
    double steps = number_in(out, "\"steps\"", "\"steps\""), day = 86400;
    EXPECT(steps > 0);
    EXPECT(number_in(out, "\"days_range\"", "\"p5\"") >
           0.97 * steps * number_in(out, "\"step_time_s\"", "\"p5\"") / day);
    EXPECT(number_in(out, "\"days_range\"", "\"p95\"") >
           0.97 * steps * number_in(out, "\"step_time_s\"", "\"p95\"") / day);
}
