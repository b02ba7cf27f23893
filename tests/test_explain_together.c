// Changes made together: what explain finds best against all pairs that its switches make, and against a run of them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/job/software.h"
#include "scenarios/explain/explain.h"
#include "sim/base/check.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/explain_jobs.h"
#include "tests/test.h"

static const Explanation *explain_with(Job *job, int64_t pairs) {
    ExplainRequest request = {.study = &job->study, .pairs = pairs};
    const Explanation *now = explain_study(job->arena, &request, job->problems);
    return now && now->job.step.chain ? now : NULL;
}

// What two moves gain, 0 where they cannot be advised.
static double gain_of(const Explanation *now, const Move *one, const Move *other) {
    Arena *scratch = arena_open();
    WhatIf change = {.ran = false};
    RecordPoint point =
        simulate_moves(scratch, &now->job, (const Move *const[]){one, other}, 2, problems_create(scratch));
    weigh_step(scratch, &now->job, &point, &change);
    double gain = change.ran && fits_no_worse(&now->job, &change) ? change.gain.mean : 0;
    arena_close(scratch);
    return gain;
}

// Of a job with stages, replicas and shards: whether it is among the changes that are tried, and whether all of these
// are what the software can start.
static bool offers(const char *software, const char *title) {
    Arena *arena = arena_open();
    Job job;
    job_on(&job, arena, catalogue_builtin(arena), "dgx-h100", "ib-ndr400", 16, "llama-3.2-1b");
    SoftwareQuery query = {.text = software, .gpu_year = 2026};
    job.said.software = software ? software_of(arena, &query) : NULL;
    job_say_number(arena, &job.said, JOB_PARALLEL, "pp", 4);
    job_say_number(arena, &job.said, JOB_BATCH, "micro", 1);
    job_say_number(arena, &job.said, JOB_BATCH, "global", 64);
    job_made(&job);
    const Explanation *now = explain_with(&job, 0);
    EXPECT(now != NULL);
    bool is_there = false;
    for (int i = 0; now && i < now->job.moves.count; i++) {
        const Move *move = &now->job.moves.items[i];
        is_there = is_there || strcmp(move->title, title) == 0;
        if (!move->field || move->kind != MOVE_SETTING) continue;
        double value = isnan(move->set.number) ? move->set.choice : move->set.number;
        if (!software_starts(job.said.software, move->field->name, (int)value))
            test_fail(__FILE__, __LINE__, "%s of %s", move->title, software);
    }
    arena_close(arena);
    return is_there;
}

TEST(no_change_is_offered_that_the_stated_software_cannot_start) {
    EXPECT(offers(NULL, "--schedule zb-v") && offers(NULL, "--zero 1") && offers(NULL, "--cp 2"));
    EXPECT(!offers("megatron-lm", "--schedule zb-v") && !offers("megatron-lm", "--schedule gpipe"));
    EXPECT(offers("megatron-lm", "--vpp 2") && offers("megatron-lm", "--zero 1"));
    EXPECT(!offers("megatron-deepspeed", "--vpp 2") && !offers("megatron-deepspeed", "--cp 2"));
    EXPECT(offers("torchtitan", "--schedule zb-v") && !offers("torchtitan", "--zero 1"));
    EXPECT(!offers("deepspeed", "tp = 2"));
}

TEST(a_change_is_weighed_by_the_samples_of_the_step_that_it_changes) {
    Arena *arena = arena_open();
    Job job;
    const Explanation *now = NULL;
    for (uint64_t seed = 1; !now; seed++) {
        draw_job(&job, arena, catalogue_builtin(arena), seed);
        now = explain_with(&job, 0);
    }
    RecordPoint twice = now->job.point; // twice the samples in a step that takes three times as long
    twice.global_batch *= 2;
    twice.step_p50_s *= 3;
    twice.cost_per_step = 10;
    WhatIf change = {.ran = false};
    weigh_step(arena, &now->job, &twice, &change);
    EXPECT_NEAR(change.then, 1.5 * now->job.point.step_p50_s, 1e-12);
    EXPECT_NEAR(change.gain.mean, -0.5 * now->job.point.step_p50_s, 1e-12);
    EXPECT_NEAR(change.cost, 5, 1e-12);
    EXPECT_NEAR(change.step->spent[CAUSE_GEMM], now->job.point.exposed[CAUSE_GEMM].value / 2, 1e-12);
    EXPECT(change.gain.low < change.gain.mean && change.gain.mean < change.gain.high);
    arena_close(arena);
}

// Of a step of a second: more than one change is said where they gain half a hundredth more than the one that fits.
TEST(several_changes_are_said_to_fit_where_they_gain_more_than_one_that_does) {
    StepThen fits = {.chance_to_run_out = 0.01};
    WhatIf alone = {.ran = true, .gain = {.mean = 0.3}, .step = &fits};
    Combination pair = {.count = 2, .whole = {.ran = true, .gain = {.mean = 0.3}}};
    JobNow now = {.must_fit = true, .fitting = &alone, .together = {.items = &pair, .count = 1}};
    now.point.step_p50_s = 1;
    EXPECT(!fitting_together(&now)); // no more than the one
    pair.whole.gain.mean = 0.304;
    EXPECT(!fitting_together(&now));
    pair.whole.gain.mean = 0.306;
    EXPECT(fitting_together(&now) == &pair);
    pair.whole.gain.mean = -0.2; // slower, but the one alone does not fit, or none does
    fits.chance_to_run_out = 0.5;
    EXPECT(fitting_together(&now) == &pair);
    now.fitting = NULL;
    EXPECT(fitting_together(&now) == &pair);
    now.must_fit = false;
    EXPECT(!fitting_together(&now));
}

// Of a step of a second, whose best single change saves a tenth: three that save 0.3 % more than two are named.
TEST(the_headline_never_loses_to_its_own_table) {
    WhatIf alone = {.ran = true, .gain = {.mean = 0.1}};
    Combination some[] = {{.count = 3, .whole = {.ran = true, .gain = {.mean = 0.303}}},
                          {.count = 2, .whole = {.ran = true, .gain = {.mean = 0.3}}}};
    JobNow now = {.first = &alone, .together = {.items = some, .count = 2}};
    now.point.step_p50_s = 1;
    EXPECT(step_leading(&now) == &some[0]);
    StepThen tight = {.chance_to_run_out = 0.044}, roomy = {.chance_to_run_out = 0.006};
    Arena *arena = arena_open();
    some[0].whole.step = &tight;
    some[1].whole.step = &roomy;
    some[1].whole.title = "two of them";
    EXPECT_CONTAINS(step_surer(arena, &now, &some[0]), "nearly as much, and surer to fit: two of them");
    roomy.chance_to_run_out = 0.04; // surer by less than a point
    EXPECT(!step_surer(arena, &now, &some[0]));
    arena_close(arena);
    now.together = (CombinationList){.items = some + 1, .count = 1};
    EXPECT(step_leading(&now) == &some[1]);
    alone.gain.mean = 0.21; // then the one is the first, and all together stand below it
    EXPECT(!step_leading(&now));
}

static double best_of_all_pairs(const Explanation *now) {
    double best = 0;
    for (int i = 0; i < now->job.moves.count; i++)
        for (int j = i + 1; j < now->job.moves.count; j++) {
            const Move *one = &now->job.moves.items[i], *other = &now->job.moves.items[j];
            if (one->note || other->note || !moves_go_together(one, other)) continue;
            best = fmax(best, gain_of(now, one, other));
        }
    return best;
}

// Of two changes, or of one where a second adds nothing.
static double best_found(const Explanation *now) {
    double best = 0;
    for (int i = 0; i < now->job.together.count; i++)
        if (now->job.together.items[i].count == 2) best = fmax(best, now->job.together.items[i].whole.gain.mean);
    for (int i = 0; i < now->job.tried.ran; i++) {
        const WhatIf *change = &now->job.tried.items[i];
        if (change->move && !change->move->note && fits_no_worse(&now->job, change))
            best = fmax(best, change->gain.mean);
    }
    return best;
}

// LOCKSTEP_EXPLAIN_JOBS: how many are drawn, in place of 16.
LONG_TEST(6, the_best_pair_is_that_of_an_exhaustive_search_in_19_of_20_jobs) {
    const char *asked = getenv("LOCKSTEP_EXPLAIN_JOBS");
    int right = 0, jobs = 0, wanted = asked ? atoi(asked) : MANY(16);
    for (uint64_t seed = 1; jobs < wanted && seed < 8 * (uint64_t)wanted; seed++) {
        Arena *arena = arena_open();
        Job job;
        draw_job(&job, arena, catalogue_builtin(arena), seed);
        const Explanation *now = explain_with(&job, WHATIF_PAIRS);
        if (now) {
            double best = best_of_all_pairs(now), found = best_found(now);
            bool is_right = found >= best - 1e-12 * now->job.point.step_p50_s;
            jobs++;
            right += is_right;
            if (!is_right)
                printf("seed %llu: the best pair saves %g s, that found %g s\n", (unsigned long long)seed, best, found);
        }
        arena_close(arena);
    }
    EXPECT_INT(jobs, wanted);
    EXPECT(right >= (19 * jobs + 19) / 20);
}

// ---- A combination is a run.

static void job_to_change(Job *job, Arena *arena) {
    job_on(job, arena, catalogue_builtin(arena), "dgx-a100-80gb", "ib-hdr200", 16, "gpt2-355m");
    job_say_number(arena, &job->said, JOB_PARALLEL, "tp", 2);
    job_say_number(arena, &job->said, JOB_PARALLEL, "pp", 2);
    job_say_number(arena, &job->said, JOB_BATCH, "micro", 2);
    job_say_number(arena, &job->said, JOB_BATCH, "global", 64);
    job_made(job);
}

static void expect_run_of(const Combination *one) {
    Arena *arena = arena_open();
    Job job;
    job_to_change(&job, arena);
    for (int i = 0; i < one->count; i++) {
        const Move *move = one->parts[i];
        CHECK(move->field);
        if (move->field->kind == FIELD_FLAG)
            job_say_flag(arena, &job.said, move->object, move->field->name, strcmp(move->value, "true") == 0);
        else if (move->field->kind == FIELD_CHOICE)
            job_say_name(arena, &job.said, move->object, move->field->name, move->value);
        else
            job_say_number(arena, &job.said, move->object, move->field->name, move->set.number);
    }
    job_made(&job);
    const Cluster *cluster = cluster_create(arena, job.study.catalogue, &job.cluster, job.problems);
    RecordPoint point = simulate_training(arena, cluster, &job.study.training, &job.study, job.problems);
    EXPECT(point.ran);
    EXPECT_SAME(point.step_p50_s, one->whole.then);
    EXPECT_SAME(point.digest, one->whole.step->digest);
    EXPECT_SAME(point.memory_peak_bytes, one->whole.step->memory_bytes);
    arena_close(arena);
}

TEST(changes_together_are_a_run_with_all_of_them_to_the_tick) {
    Arena *arena = arena_open();
    Job job;
    job_to_change(&job, arena);
    const Explanation *now = explain_with(&job, WHATIF_PAIRS);
    EXPECT(now && now->job.together.count > 10);
    for (int i = 0; now && i < now->job.together.count; i++) expect_run_of(&now->job.together.items[i]);
    arena_close(arena);
}

// What is added sums to what the whole saves; of each run there is one name.
TEST(what_changes_add_to_each_other_is_what_they_save_together) {
    Arena *arena = arena_open();
    Job job;
    job_to_change(&job, arena);
    const Explanation *now = explain_with(&job, WHATIF_PAIRS);
    EXPECT(now != NULL);
    int threes = 0;
    for (int i = 0; now && i < now->job.together.count; i++) {
        const Combination *one = &now->job.together.items[i];
        double sum = 0;
        for (int part = 0; part < one->count; part++) sum += one->adds_s[part];
        EXPECT_NEAR(sum, one->whole.gain.mean, 1e-9 * now->job.point.step_p50_s);
        EXPECT(one->adds_s[one->count - 1] > 0);
        if (i > 0) EXPECT(one->whole.gain.mean <= now->job.together.items[i - 1].whole.gain.mean);
        for (int j = 0; j < i; j++)
            EXPECT(one->whole.step->digest != now->job.together.items[j].whole.step->digest ||
                   one->whole.step->memory_bytes != now->job.together.items[j].whole.step->memory_bytes);
        threes += one->count == 3;
    }
    EXPECT_INT(threes, 1);
    arena_close(arena);
}

// Without recomputation it is not sure to fit, and ZeRO alone saves next to nothing.
TEST(a_change_that_lacks_memory_is_advised_with_one_that_makes_room) {
    Arena *arena = arena_open();
    Job job;
    job_on(&job, arena, catalogue_builtin(arena), "dgx-a100", "ib-hdr200", 16, "llama-2-7b");
    job_say_number(arena, &job.said, JOB_PARALLEL, "tp", 2);
    job_say_flag(arena, &job.said, JOB_PARALLEL, "sequence_parallel", false);
    job_say_number(arena, &job.said, JOB_BATCH, "micro", 1);
    job_say_number(arena, &job.said, JOB_BATCH, "global", 128);
    job_say_number(arena, &job.said, JOB_TRAINING, "zero", 0);
    job_say_name(arena, &job.said, JOB_TRAINING, "recompute", "full");
    job_made(&job);
    const Explanation *now = explain_with(&job, WHATIF_PAIRS);
    EXPECT(now && now->job.together.count > 1);
    const Combination *pair = NULL;
    for (int i = 0; now && i < now->job.together.count && !pair; i++)
        if (now->job.together.items[i].count == 2) pair = &now->job.together.items[i];
    EXPECT(pair != NULL);
    if (pair) EXPECT_TEXT(pair->whole.title, "--zero 1 and --recompute none");
    if (pair && now->job.first) EXPECT(pair->whole.gain.mean > 10 * now->job.first->gain.mean);
    for (int i = 0; now && i < now->job.tried.count; i++)
        if (strcmp(now->job.tried.items[i].title, "--recompute none") == 0)
            EXPECT(!fits_surely(now->job.tried.items[i].step->chance_to_run_out));
    arena_close(arena);
}

// Nothing alone does; the pair does, and takes the step that is promised.
TEST(a_job_that_no_change_alone_makes_fit_is_told_which_two_do) {
    static const char job[] = "--model llama-2-13b --node dgx-a100 --gpus 8 --fabric ib-hdr200 --global-batch 128";
    static const char row[] = "\n'--micro-batch 1 and --zero 3,";
    char line[256];
    double promised = 0, step = 0;
    snprintf(line, sizeof line, "explain %s --micro-batch 4", job);
    EXPECT_CONTAINS(run_wide(command_explain, line)->out, " make it fit, ");
    snprintf(line, sizeof line, "explain %s --micro-batch 4 --csv --table together", job);
    const Ended *ended = run_command(command_explain, line);
    EXPECT_INT(ended->code, 3);
    const char *at = strstr(ended->out, row);
    EXPECT(at && sscanf(at + strlen(row), "%lf", &promised) == 1);
    snprintf(line, sizeof line, "explain %s --micro-batch 1 --zero 3 --why-only --json", job);
    ended = run_command(command_explain, line);
    EXPECT_INT(ended->code, 0);
    at = strstr(ended->out, "\"step_s\":");
    EXPECT(at && sscanf(at, "\"step_s\": %lf", &step) == 1);
    EXPECT_NEAR(promised, step, 1e-9 * step);
}

TEST(without_pairs_single_changes_are_said_alone) {
    static const char job[] = "explain --model gpt2-355m --node dgx-a100-80gb --gpus 16 --fabric ib-hdr200 --tp 2 "
                              "--pp 2 --micro-batch 2 --global-batch 64 -v";
    char line[256];
    EXPECT_CONTAINS(run_wide(command_explain, job)->out, "Change first  all three together, ");
    EXPECT_CONTAINS(run_command(command_explain, job)->out, "What would help together");
    snprintf(line, sizeof line, "%s --pairs 0", job);
    EXPECT(!strstr(run_wide(command_explain, line)->out, "ogether"));
    EXPECT_INT(run_command(command_explain, "explain --model gpt2-124m --node dgx-a100 --gpus 8 --pairs -1")->code, 2);
}

static bool has_what_it_needs(const Combination *one, const Move *move) {
    for (int i = 0; i < one->count; i++)
        if (one->parts[i]->field && strcmp(one->parts[i]->field->name, move->needs) == 0) return true;
    return false;
}

// Ways of a pipeline are no choice of a job without one, and never without it.
TEST(what_is_a_choice_only_beside_another_is_tried_together_with_it) {
    static const char *const models[] = {"gpt2-1.5b", "gpt3-2.7b"};
    int found = 0;
    for (int m = 0; m < 2; m++)
        for (int zero = 0; zero <= 3; zero += 3) {
            Arena *arena = arena_open();
            Job job;
            job_on(&job, arena, catalogue_builtin(arena), "dgx-a100", "ib-hdr200", 16, models[m]);
            job_say_number(arena, &job.said, JOB_BATCH, "micro", 1);
            job_say_number(arena, &job.said, JOB_BATCH, "global", 64);
            job_say_number(arena, &job.said, JOB_TRAINING, "zero", zero);
            job_made(&job);
            const Explanation *now = explain_with(&job, WHATIF_PAIRS);
            EXPECT(now != NULL);
            for (int i = 0; now && i < now->job.together.count; i++)
                for (int part = 0; part < now->job.together.items[i].count; part++) {
                    const Move *move = now->job.together.items[i].parts[part];
                    if (!move->needs) continue;
                    found++;
                    EXPECT(has_what_it_needs(&now->job.together.items[i], move));
                }
            arena_close(arena);
        }
    EXPECT(found > 0);
}
