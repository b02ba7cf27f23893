// Anchors: a measured run corrects the kernels of runs like it, and of no others.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "calibrate/command_validate.h"
#include "calibrate/training/training.h"
#include "scenarios/commands/command_run.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/study/study_anchors.h"
#include "tests/command.h"
#include "tests/test.h"

static const TrainingSpec any_job;

#define HEADER_ROW "row_id,family,model,model_type,layers,hidden,heads,vocab,seq_len,gpu,n_gpus,n_nodes,gpus_per_node,"
#define MORE_COLUMNS "framework,tp,pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,iter_time_s\n"
#define RUN "decoder,12,1024,16,51200,1024,A100-SXM4-80GB,8,1,8,Megatron-LM,1,1,8,0,"

enum { SAME, OTHER_BATCH, OTHER_MODEL, OTHER_PRECISION, RUN_COUNT };
static const char text[] = HEADER_ROW MORE_COLUMNS "same,f,A," RUN "4,32,fp16,none,1\n"
                                                   "batch,f,A," RUN "2,16,fp16,none,1\n"
                                                   "model,f,B," RUN "4,32,fp16,none,1\n"
                                                   "precision,f,A," RUN "4,32,bf16,none,1\n";

typedef struct Case {
    Arena *arena;
    MeasuredRuns measured;
    PredictedRun runs[RUN_COUNT];
} Case;

static void case_open(Case *c) {
    *c = (Case){.arena = arena_open()};
    const Catalogue *catalogue = catalogue_builtin(c->arena);
    Problems *problems = problems_create(c->arena);
    EXPECT(measured_runs_read_text(c->arena, catalogue, "runs.csv", text, &c->measured, problems));
    EXPECT_INT(c->measured.count, RUN_COUNT);
    for (int i = 0; i < RUN_COUNT; i++) {
        c->runs[i] = predict_run(c->arena, catalogue, &c->measured.items[i]);
        EXPECT(c->runs[i].skipped == NULL);
    }
}

// The anchor as if its step had taken so many times the prediction; corrections of all runs.
static AnchorCorrection *corrections_when(Case *c, double slower, int anchor_count) {
    Anchor *items = ARENA_ARRAY(c->arena, Anchor, anchor_count);
    for (int i = 0; i < anchor_count; i++) {
        items[i] = step_of(&c->runs[SAME]);
        items[i].measured_s = slower * items[i].step_s;
    }
    Anchors anchors = {.items = items, .count = anchor_count};
    anchors_solve(c->arena, &anchors);
    AnchorCorrection *corrections = ARENA_ARRAY(c->arena, AnchorCorrection, RUN_COUNT);
    for (int i = 0; i < RUN_COUNT; i++) {
        Anchor step = step_of(&c->runs[i]);
        corrections[i] = anchors_correct(&anchors, &step);
    }
    return corrections;
}

static double shared_part(const AnchorCorrection *correction, double slower) {
    return log(correction->factor) / log(slower);
}

TEST(an_anchor_as_predicted_changes_nothing_but_what_is_sure) {
    Case c;
    case_open(&c);
    const AnchorCorrection *corrections = corrections_when(&c, 1, 1);
    for (int i = 0; i < RUN_COUNT; i++) EXPECT_NEAR(corrections[i].factor, 1, 1e-12);
    EXPECT(corrections[SAME].variance_gone > 0);
    EXPECT_NEAR(corrections[OTHER_PRECISION].variance_gone, 0, 0);
    EXPECT(anchored_sigma(0.2, &any_job, &corrections[SAME]) < 0.2);
    EXPECT_NEAR(anchored_sigma(0.2, &any_job, &corrections[OTHER_PRECISION]), 0.2, 1e-15);
    EXPECT_NEAR(anchored_sigma(0.01, &any_job, &corrections[SAME]), 0.01, 1e-15); // never wider
    arena_close(c.arena);
}

TEST(an_anchor_moves_its_like_most_other_models_little_and_other_precisions_not) {
    Case c;
    case_open(&c);
    for (double slower = 0.7; slower < 1.5; slower += 0.2) {
        const AnchorCorrection *corrections = corrections_when(&c, slower, 1);
        double same = shared_part(&corrections[SAME], slower), other = shared_part(&corrections[OTHER_BATCH], slower);
        double model = shared_part(&corrections[OTHER_MODEL], slower);
        EXPECT(same > 0.5 && same < 1);
        EXPECT(other > model && other < same);
        EXPECT(model > 0);
        EXPECT_NEAR(corrections[OTHER_PRECISION].factor, 1, 0);
    }
    arena_close(c.arena);
}

// One anchor: the expectation of a normal variable given another is covariance over variance. What the constants do not
// allow makes them wider, so that a lone pilot is believed however far it is.
TEST(errors_follow_the_normal_formula_and_a_lone_pilot_is_believed) {
    Case c;
    case_open(&c);
    double small = shared_part(&corrections_when(&c, 1.001, 1)[SAME], 1.001);
    double smaller = shared_part(&corrections_when(&c, 0.9995, 1)[SAME], 0.9995);
    EXPECT_NEAR(small, smaller, 1e-9);
    double variance = corrections_when(&c, 1.001, 1)[SAME].variance_gone / small; // but what differs from run to run
    EXPECT_NEAR(small, variance / (variance + 0.02 * 0.02), 1e-9);
    for (double slower = 1.2; slower < 4; slower += 0.5) {
        const AnchorCorrection *corrections = corrections_when(&c, slower, 1);
        EXPECT(corrections[SAME].measured && !corrections[OTHER_BATCH].measured);
        EXPECT(shared_part(&corrections[SAME], slower) > small - 1e-9);
        EXPECT(shared_part(&corrections[SAME], slower) <= 1);
        double before = anchored_sigma(1, &any_job, &corrections_when(&c, 1.01, 1)[OTHER_BATCH]);
        EXPECT(anchored_sigma(1, &any_job, &corrections[OTHER_BATCH]) >= before); // what surprises leaves more open
    }
    arena_close(c.arena);
}

// What untuned code takes is one-sided, and the same of another model.
TEST(a_slow_pilot_of_untuned_code_slows_other_models_as_much_and_a_quick_one_as_any_does) {
    Case c;
    case_open(&c);
    double slow = shared_part(&corrections_when(&c, 1.5, 1)[OTHER_MODEL], 1.5);
    double quick = shared_part(&corrections_when(&c, 0.7, 1)[OTHER_MODEL], 0.7);
    for (int i = 0; i < RUN_COUNT; i++) c.runs[i].training.own_code = true;
    const AnchorCorrection *corrections = corrections_when(&c, 1.5, 1);
    EXPECT(slow < 0.6);
    EXPECT(shared_part(&corrections[OTHER_MODEL], 1.5) > 0.9);
    EXPECT(corrections[OTHER_MODEL].loss > 0);
    EXPECT_NEAR(corrections[OTHER_PRECISION].factor, 1, 0);
    EXPECT_NEAR(shared_part(&corrections_when(&c, 0.7, 1)[OTHER_MODEL], 0.7), quick, 1e-12);
    double open = anchored_sigma(0.2, &c.runs[OTHER_MODEL].training, &corrections[OTHER_MODEL]);
    EXPECT(open > 0.1 && open <= 0.2); // the loss is gone, what models differ by is not
    arena_close(c.arena);
}

TEST(of_several_pilots_the_one_that_others_contradict_counts_less) {
    Case c;
    case_open(&c);
    Anchor items[5];
    for (int i = 0; i < 5; i++) {
        items[i] = step_of(&c.runs[SAME]);
        items[i].gpus += i; // other layouts of one job
        items[i].measured_s = (i == 2 ? 2 : 1.05) * items[i].step_s;
    }
    Anchors anchors = {.items = items, .count = 5};
    anchors_solve(c.arena, &anchors);
    Anchor step = step_of(&c.runs[SAME]);
    step.gpus = 99;
    double factor = anchors_correct(&anchors, &step).factor;
    EXPECT(factor > 1 && factor < exp((4 * log(1.05) + log(2)) / 5)); // less than their mean
    arena_close(c.arena);
}

TEST(anchors_that_agree_are_believed_more_than_one) {
    Case c;
    case_open(&c);
    const AnchorCorrection *one = corrections_when(&c, 1.05, 1), *three = corrections_when(&c, 1.05, 3);
    EXPECT(three[SAME].factor > one[SAME].factor && three[SAME].factor < 1.05);
    EXPECT(three[SAME].variance_gone > one[SAME].variance_gone);
    EXPECT(anchored_sigma(0.2, &any_job, &one[SAME]) < 0.07 && anchored_sigma(0.2, &any_job, &one[OTHER_BATCH]) >= 0.1);
    arena_close(c.arena);
}

static double days_planned(const char *more) {
    const Ended *ended = run_command(command_plan, more);
    EXPECT_INT(ended->code, 0);
    const char *days = strstr(ended->out, "\"days\":");
    EXPECT(days != NULL);
    return days ? atof(days + strlen("\"days\":")) : 0;
}

#define PLAN                                                                                                           \
    "plan --model gpt2-124m --tokens 1B --node dgx-a100 --gpus 8 --global-batch 32 --micro-batch 4 --fp16 --tp 1 "     \
    "--pp 1 --zero 0 --recompute none --software megatron-2023 --json "
#define STEPS 30518

// A measured run of what PLAN plans that took so many times as long.
static void write_pilot(const char *path, double alone_days, double times) {
    mkdir("build", 0755); // where another folder was built in
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    if (!file) return;
    fprintf(file,
            "%s%s"
            "mine,m,gpt2-124m,decoder,12,768,12,50257,1024,A100-SXM4-80GB,8,1,8,Megatron-LM,1,1,8,0,4,32,fp16,none,"
            "%.9g\n",
            HEADER_ROW, MORE_COLUMNS, times * alone_days * 86400 / STEPS);
    fclose(file);
}

TEST(plans_and_runs_are_corrected_by_anchors) {
    anchors_reader = anchors_read;
    double alone = days_planned(PLAN);
    write_pilot("build/pilot.csv", alone, 1.25);
    double anchored = days_planned(PLAN "--anchor build/pilot.csv");
    EXPECT(anchored > 1.23 * alone && anchored < 1.26 * alone);
    write_pilot("build/pilot.csv", alone, 1.7);
    anchored = days_planned(PLAN "--anchor build/pilot.csv");
    EXPECT(anchored > 1.67 * alone && anchored < 1.72 * alone);
    const Ended *far = run_command(command_plan, PLAN "--anchor build/pilot.csv");
    EXPECT_CONTAINS(far->err, "1.70 times what is simulated, more than constants allow");
    write_pilot("build/pilot.csv", alone, 6);
    far = run_command(command_plan, PLAN "--anchor build/pilot.csv");
    EXPECT_INT(far->code, 4);
    EXPECT_CONTAINS(far->err, "further apart than 5 times");
    write_pilot("build/pilot.csv", alone, 1.25);
    far = run_command(command_plan, "plan --model gpt2-124m --tokens 1B --node dgx-h100 --gpus 8 --global-batch 32 "
                                    "--micro-batch 4 --fp16 --json --anchor build/pilot.csv");
    EXPECT_CONTAINS(far->err, "what was measured there corrects nothing");
    EXPECT_INT(run_command(command_plan, PLAN "--anchor no-such.csv")->code, 4);

    const Ended *run = run_command(command_run, "run scenarios/examples/megatron_22b_175b.lua --plain");
    EXPECT_INT(run->code, 0);
    char *before = strdup(run->out);
    run = run_command(command_run, "run scenarios/examples/megatron_22b_175b.lua --plain --anchor build/pilot.csv");
    EXPECT_INT(run->code, 0);
    EXPECT_CONTAINS(run->err, "steps of A100-SXM4-80GB in fp16 (megatron) take ");
    EXPECT(strcmp(before, run->out) != 0);
    free(before);
    EXPECT_INT(run_command(command_run, "run scenarios/examples/megatron_22b_175b.lua --anchor no-such.csv")->code, 4);

    FILE *empty = fopen("build/pilot.csv", "w");
    EXPECT(empty != NULL);
    fprintf(empty, "%s%s", HEADER_ROW, MORE_COLUMNS);
    fclose(empty);
    const Ended *ended = run_command(command_plan, PLAN "--anchor build/pilot.csv");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "holds no run to anchor on");
    remove("build/pilot.csv");
}

TEST(anchors_are_refused_when_they_cannot_be_read_or_are_asked_with_other_questions) {
    EXPECT_INT(run_asked(&validate_training_question, "training --anchor no-such.csv")->code, 4);
    const Ended *ended = run_asked(&validate_training_question, "training --cross --anchor no-such.csv");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "different questions");
}
