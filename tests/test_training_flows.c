// Training jobs at fidelity flow: where links are enough they take the time of whole transfers, folded or not; and
// what cannot be run so is said.
#include "scenarios/study/study.h"
#include "tests/script.h"
#include "tests/test.h"

#define JOB(gpus, settings, fidelity)                                                                                  \
    "sim.study { on = sim.cluster { node = 'dgx-a100', gpus = " gpus ", fabric = 'ib-hdr200' }, "                      \
    "run = sim.training { model = 'gpt2-124m', batch = { global = 32, micro = 1 }, seq_len = 512, precision = 'bf16'," \
    " framework = 'eager', fidelity = '" fidelity "', " settings " } }"

static double step_of(const char *expression, bool unfolded) {
    Loaded loaded = load_returning(expression, NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    double seconds = -1;
    if (loaded.scenario) {
        StudySpec study = *loaded.scenario->items[0].study;
        study.unfolded = unfolded;
        const Record *record = study_run(loaded.arena, &study, loaded.problems);
        EXPECT_TEXT(first_problem(&loaded), "");
        if (record && record->points[0].ran) seconds = record->points[0].step_p50_s;
    }
    unload(&loaded);
    return seconds;
}

static void compare(const char *fluid, const char *flow, double tolerance) {
    double whole = step_of(fluid, false), messages = step_of(flow, false);
    EXPECT(whole > 0);
    EXPECT_NEAR(messages / whole, 1, tolerance);
    EXPECT_NEAR(step_of(flow, true), messages, 1e-12);
}

#define COMPARE(gpus, settings, tolerance) compare(JOB(gpus, settings, "fluid"), JOB(gpus, settings, "flow"), tolerance)

TEST(steps_message_by_message_take_the_time_of_whole_transfers_where_these_are_alone) {
    COMPARE("2", "parallel = { pp = 2 }", 1e-9);
    COMPARE("8", "", 0.005);
    COMPARE("16", "", 0.01);
    COMPARE("16", "zero = 3", 0.015);
    COMPARE("8", "parallel = { tp = 4 }", 0.01);
    COMPARE("16", "parallel = { tp = 2, pp = 2 }", 0.01);
}

// A straggler's neighbours wait for it in both.
TEST(a_straggler_slows_a_step_of_messages_as_one_of_whole_transfers) { COMPARE("8", "straggler = 1.5", 0.005); }

static void expect_refused(const char *expression, const char *text, const char *remedy) {
    static char output[65536];
    char script[4096];
    bool wrote;
    snprintf(script, sizeof script, "local sim = require 'lockstep'\nreturn %s\n", expression);
    EXPECT_INT(run_script_text(script, "", output, sizeof output, &wrote), 4);
    EXPECT_CONTAINS(output, text);
    EXPECT_CONTAINS(output, ".lua:2: error: fidelity \"flow\": ");
    EXPECT_CONTAINS(output, remedy);
}

TEST(a_job_that_cannot_be_run_message_by_message_is_refused_with_its_place) {
    expect_refused(JOB("16", "backend = 'gloo'", "flow"), "only for arrays in CPU memory", "use fidelity fluid");
    expect_refused(
        "sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8192, fabric = 'ib-hdr200' }, run = "
        "sim.training { model = 'gpt2-124m', batch = { global = 8192 }, parallel = { tp = 2 }, fidelity = 'flow' } }",
        "million messages, and at most 20 million are followed", "use fidelity = \"fluid\"");
}
