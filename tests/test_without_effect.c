// A setting that changes nothing in a job is pointed out, however the job is asked for; and what is pointed out changes
// nothing.
#include <stdio.h>
#include <string.h>

#include "models/workload/job/job.h"
#include "scenarios/study/study.h"
#include "sim/base/arena.h"
#include "tests/script.h"
#include "tests/test.h"

static char printed[65536];

static int run(const char *arguments) {
    char command[2048];
    snprintf(command, sizeof command, "$LOCKSTEP %s", arguments);
    return test_shell(command, printed, sizeof printed);
}

#define DENSE "--model gpt2-124m --micro-batch 4 "

TEST(a_setting_without_effect_is_pointed_out_by_every_command) {
    static const char *const commands[] = {
        "run --node dgx-h100 --gpus 8 " DENSE "--expert-skew 0.5 --schedule gpipe",
        "explain --node dgx-h100 --gpus 8 " DENSE "--expert-skew 0.5 --schedule gpipe",
        "memory --gpu H100 " DENSE "--expert-skew 0.5 --schedule gpipe",
        "plan --node dgx-h100 --gpus 8 --tp 1 --pp 1 --tokens 1B --global-batch 64 " DENSE
        "--expert-skew 0.5 --schedule gpipe",
        "run --node dgx-h100 --gpus 8 " DENSE "--expert-skew 0.5 --schedule gpipe --vary micro_batch=1,2"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char command[512];
        snprintf(command, sizeof command, "%s --json", commands[i]);
        run(command);
        EXPECT_CONTAINS(printed, "\"--schedule has no effect here: pp is 1\"");
        EXPECT_CONTAINS(printed, "\"--expert-skew has no effect here: the model has no experts\"");
    }
    run("run --node dgx-h100 --gpus 8 " DENSE "--schedule gpipe");
    EXPECT_CONTAINS(printed, "! --schedule has no effect here: pp is 1.");
}

TEST(a_setting_with_effect_at_one_point_of_a_study_is_not_pointed_out) {
    run("run --node dgx-h100 --gpus 8 --model gpt2-124m --micro-batch 1 --schedule gpipe --vary pp=1,2");
    EXPECT(!strstr(printed, "has no effect"));
}

TEST(a_setting_said_as_it_is_anyway_is_not_pointed_out) {
    run("run --node dgx-h100 --gpus 8 " DENSE "--expert-skew 0 --zero 0 --cp-exchange ring --sequence-parallel=false "
        "--overlap-grad-reduce --image-layout usual --backend nccl --no-sync --prefetch 1");
    EXPECT(!strstr(printed, "has no effect"));
}

// Cards that copy through host memory hide no gradients, nor do strategies that reduce after backward: what is usual
// elsewhere is overruled, and whoever asks for it by name is told so.
TEST(gradients_that_cannot_hide_are_pointed_out_where_hiding_is_asked_for) {
    static const char staged[] = "--overlap-grad-reduce has no effect here: its GPUs copy through host memory, and "
                                 "backward waits meanwhile";
    run("run --node rtx4090-8gpu --gpus 8 " DENSE "--overlap-grad-reduce --json");
    EXPECT_CONTAINS(printed, staged);
    run("run --node rtx4090-8gpu --gpus 8 " DENSE "--overlap-grad-reduce=false --json");
    EXPECT_CONTAINS(printed, staged);
    run("run --node rtx4090-8gpu --gpus 8 " DENSE "--strategy mirrored --overlap-grad-reduce --json");
    EXPECT_CONTAINS(printed, "has no effect here");
    run("run --node dgx-h100 --gpus 8 " DENSE "--strategy mirrored --overlap-grad-reduce --json");
    EXPECT_CONTAINS(printed, "--overlap-grad-reduce has no effect here: the strategy reduces gradients after backward");
    run("run --node rtx4090-8gpu --gpus 8 " DENSE "--json");
    EXPECT(!strstr(printed, "has no effect"));
    run("run --node rtx4090-8gpu --gpus 8 " DENSE "--tp 4 --pp 2 --overlap-grad-reduce --json");
    EXPECT(!strstr(printed, "has no effect"));
    run("run --node tinybox --gpus 6 " DENSE "--overlap-grad-reduce --json");
    EXPECT(!strstr(printed, "has no effect"));
}

// ---- What is pointed out is so, and what has no effect is pointed out.

typedef struct Outcome {
    uint64_t digest;
    double memory;
    const char *lacks; // of the one setting; or NULL
    bool ran;
} Outcome;

static Outcome outcome_of(Arena *arena, const char *job, const char *with) {
    char text[1024];
    const char *node = strstr(job, "eager") ? "rtx4090-8gpu" : "dgx-h100"; // whose GPUs copy through host memory
    snprintf(text, sizeof text,
             "sim.study { on = sim.cluster { node = '%s', gpus = %d }, run = sim.training { %s %s } }", node,
             strstr(job, "single") ? 1 : 8, job, with);
    Loaded loaded = load_returning(text, NULL);
    Outcome outcome = {0};
    const StudySpec *study = loaded.scenario ? loaded.scenario->items[0].study : NULL;
    if (study) {
        Baseline baseline = {0};
        RecordPoint point = study_point(arena, study, NULL, &baseline, problems_create(arena));
        int last = point.effect_count - 1;
        outcome =
            (Outcome){point.digest, point.memory_peak_bytes, last >= 0 ? point.effects[last].lacks : NULL, point.ran};
        if (outcome.lacks) outcome.lacks = arena_copy_text(arena, outcome.lacks);
    }
    unload(&loaded);
    return outcome;
}

static const char *setting(Arena *arena, JobObject object, const Field *field) {
    const char *alone = arena_printf(arena, "%s = %s", field->name, field->example);
    return object == JOB_TRAINING ? alone : arena_printf(arena, "%s = { %s }", job_objects[object].word, alone);
}

static void holds_on(const char *job, int *idle) {
    Arena *arena = arena_open();
    Outcome plain = outcome_of(arena, job, "");
    EXPECT(plain.ran);
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (!field->needs || strstr(job, field->name)) continue;
            const char *with = setting(arena, (JobObject)o, field);
            Outcome then = outcome_of(arena, job, with);
            if (!then.ran || !then.lacks) continue;
            ++*idle;
            if (then.digest != plain.digest || then.memory != plain.memory)
                test_fail(__FILE__, __LINE__, "of { %s } %s is said to have no effect (%s), and has one", job, with,
                          then.lacks);
        }
    arena_close(arena);
}

TEST(what_is_said_to_have_no_effect_changes_neither_time_nor_memory) {
    static const char *const jobs[] = {
        "model = 'gpt2-124m', batch = { micro = 4 },",
        "model = 'gpt2-124m', batch = { micro = 4 }, strategy = 'single',",
        "model = 'gpt2-124m', batch = { micro = 2 }, framework = 'eager', optimizer = 'sgd',",
        "model = 'gpt2-124m', batch = { micro = 2 }, strategy = 'mirrored',",
        "model = 'bert-large', batch = { micro = 4, accumulation = 2 }, zero = 2,",
        "model = 'resnet-50', batch = { micro = 32 },",
        "model = 'vit-large-patch16', batch = { micro = 4 },",
        "model = 'unet', batch = { micro = 4 },",
    };
    int idle = 0;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) holds_on(jobs[i], &idle);
    EXPECT(idle > 120);
}
