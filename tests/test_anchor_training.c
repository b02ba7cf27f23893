// Anchors: a measured run corrects the kernels of runs like it, and of no others.
#include <math.h>

#include "calibrate/command_validate.h"
#include "calibrate/training/anchor_training.h"
#include "tests/command.h"
#include "tests/test.h"

#define COLUMNS "row_id,family,model,model_type,layers,hidden,heads,vocab,seq_len,gpu,n_gpus,n_nodes,gpus_per_node,"
#define MORE_COLUMNS "framework,tp,pp,dp,zero_stage,micro_batch,global_batch,precision,recompute,iter_time_s\n"
#define RUN "decoder,12,1024,16,51200,1024,A100-SXM4-80GB,8,1,8,Megatron-LM,1,1,8,0,"

enum { SAME, OTHER_BATCH, OTHER_MODEL, OTHER_PRECISION, RUN_COUNT };
static const char text[] = COLUMNS MORE_COLUMNS "same,f,A," RUN "4,32,fp16,none,1\n"
                                                "batch,f,A," RUN "2,16,fp16,none,1\n"
                                                "model,f,B," RUN "4,32,fp16,none,1\n"
                                                "precision,f,A," RUN "4,32,bf16,none,1\n";

typedef struct Case {
    Arena *arena;
    MeasuredRuns measured;
    PredictedRun runs[RUN_COUNT], anchor;
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
    c->anchor = c->runs[SAME];
}

// The anchor as if its step had taken so many times the prediction.
static double *factors_when(Case *c, double slower) {
    MeasuredRun *run = ARENA_NEW(c->arena, MeasuredRun);
    *run = c->measured.items[SAME];
    run->measured_step_s = slower * c->anchor.step_s;
    c->anchor.run = run;
    return anchor_on(c->arena, c->runs, RUN_COUNT, &c->anchor, 1);
}

TEST(an_anchor_as_predicted_changes_nothing) {
    Case c;
    case_open(&c);
    const double *factors = factors_when(&c, 1);
    for (int i = 0; i < RUN_COUNT; i++) EXPECT_NEAR(factors[i], 1, 1e-12);
    arena_close(c.arena);
}

TEST(an_anchor_moves_runs_of_its_model_most_with_its_micro_batch_and_others_not) {
    Case c;
    case_open(&c);
    for (double slower = 0.7; slower < 1.5; slower += 0.2) {
        const double *factors = factors_when(&c, slower);
        double same = log(factors[SAME]) / log(slower), other = log(factors[OTHER_BATCH]) / log(slower);
        EXPECT(same > 0.7 && same < 1);
        EXPECT(other > 0.4 && other < same);
        EXPECT_NEAR(factors[OTHER_MODEL], 1, 0);
        EXPECT_NEAR(factors[OTHER_PRECISION], 1, 0);
    }
    arena_close(c.arena);
}

TEST(only_the_time_of_kernels_is_corrected) {
    Case c;
    case_open(&c);
    PredictedRun *run = &c.runs[OTHER_BATCH];
    double whole = factors_when(&c, 1.3)[OTHER_BATCH], step = run->step_s;
    run->step_s = 2 * step; // the other half waits for the network
    double half = factors_when(&c, 1.3)[OTHER_BATCH];
    EXPECT(whole > 1);
    EXPECT_NEAR((half - 1) * run->step_s, (whole - 1) * step, 1e-9);
    arena_close(c.arena);
}

TEST(anchors_are_refused_when_they_cannot_be_read_or_are_asked_with_other_questions) {
    EXPECT_INT(run_command(validate_training, "training --anchor no-such.csv")->code, 4);
    const Ended *ended = run_command(validate_training, "training --cross --anchor no-such.csv");
    EXPECT_INT(ended->code, 2);
    EXPECT_CONTAINS(ended->err, "different questions");
}
