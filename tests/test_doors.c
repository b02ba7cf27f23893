// One job has one answer at every door: options, scripts, --vary, plan, and rows of measurements. Jobs are drawn from
// the table of fields, so that a new field is drawn by itself.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "models/workload/job/job.h"
#include "models/workload/step/simulate.h"
#include "scenarios/explain/explain.h"
#include "scenarios/plan/plan_answer.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/study/study.h"
#include "scenarios/study/study_options.h"
#include "scenarios/sweep/sweep.h"
#include "sim/base/random.h"
#include "tests/script.h"
#include "tests/test.h"

#define JOBS 1000
#define WISHES 200
#define MOST_SAID 8
#define MOST_WORDS 64

typedef struct SaidField {
    JobObject object;
    const Field *field;
    char text[128]; // as an option has it
} SaidField;

typedef struct DrawnJob {
    const char *model, *node, *fabric;
    int gpus;
    SaidField said[MOST_SAID];
    int count;
} DrawnJob;

typedef struct DoorAnswer {
    uint64_t digest;   // 0: refused
    char refusal[512]; // without its place
} DoorAnswer;

// ---- Drawing.

static int draw(RandomStream *stream, int below) { return (int)(random_uniform(stream) * below); }

static const char *const models[] = {"gpt2-124m", "gpt2-355m", "bert-base", "resnet-50", "mlp-mnist", "vit-b16"};
static const char *const softwares[] = {"nemo 24.07",       "PyTorch 2.1",         "torchtitan, compiled",
                                        "DeepSpeed ZeRO-3", "tensorflow 1.15 xla", "no such thing"};

// The example's literal without quotes and braces: "{ 3, 3 }" becomes "3,3".
static void plain_text(const char *literal, char *out, size_t room) {
    size_t length = 0;
    bool quoted = false;
    for (; *literal && length + 1 < room; literal++) {
        if (*literal == '"') quoted = !quoted;
        bool bracket = *literal == '{' || *literal == '}' || *literal == '"';
        if (!bracket && (quoted || *literal != ' ')) out[length++] = *literal;
    }
    out[length] = '\0';
}

static void draw_text(RandomStream *stream, const Field *field, char *out, size_t room) {
    static const int counts[] = {1, 1, 2, 2, 4, 8};
    if (field->kind == FIELD_CHOICE && !field->list)
        snprintf(out, room, "%s", field->names[draw(stream, field->name_count)]);
    else if (field->kind == FIELD_FLAG)
        snprintf(out, room, "%s", draw(stream, 2) ? "true" : "false");
    else if (field->kind == FIELD_TEXT)
        snprintf(out, room, "%s", softwares[draw(stream, COUNT_OF(softwares))]);
    else if (field->quantity == QUANTITY_COUNT && field->kind == FIELD_QUANTITY && !field->list && field->least <= 1 &&
             draw(stream, 3))
        snprintf(out, room, "%d", counts[draw(stream, COUNT_OF(counts))]);
    else if (draw(stream, 12) == 0 && field->kind == FIELD_QUANTITY)
        snprintf(out, room, "%s", draw(stream, 2) ? "-1" : "wrong");
    else
        plain_text(field->example, out, room);
}

// Of two, doors need not find the same one first.
static bool has_nonsense(const DrawnJob *job) {
    for (int i = 0; i < job->count; i++)
        if (strcmp(job->said[i].text, "-1") == 0 || strcmp(job->said[i].text, "wrong") == 0) return true;
    return false;
}

static bool has_said(const DrawnJob *job, const Field *field) {
    for (int i = 0; i < job->count; i++)
        if (job->said[i].field == field) return true;
    return false;
}

static void say_drawn(DrawnJob *job, JobObject object, const char *name, const char *text) {
    const Field *field = &job_objects[object].fields[job_field_index(object, name)];
    SaidField *said = &job->said[job->count++];
    said->object = object;
    said->field = field;
    snprintf(said->text, sizeof said->text, "%s", text);
}

static DrawnJob draw_job(uint64_t seed) {
    RandomStream stream = random_stream(seed, "jobs at all doors", 0);
    DrawnJob job = {.model = models[draw(&stream, COUNT_OF(models))],
                    .node = draw(&stream, 4) ? "dgx-a100" : "dgx-1",
                    .fabric = "ib-hdr200",
                    .gpus = draw(&stream, 2) ? 8 : 16};
    say_drawn(&job, JOB_BATCH, "micro", "2");
    int most = 1 + draw(&stream, MOST_SAID - 1);
    for (int tries = 0; tries < 40 && job.count < most; tries++) {
        JobObject object = (JobObject)(JOB_TRAINING + draw(&stream, JOB_OBJECT_COUNT - 1));
        if (draw(&stream, 2)) object = JOB_TRAINING;
        const Field *field = &job_objects[object].fields[draw(&stream, job_objects[object].field_count)];
        if (!field->flag || has_said(&job, field) || (strcmp(field->name, "fidelity") == 0 && draw(&stream, 8)))
            continue;
        SaidField *said = &job.said[job.count];
        bool nonsense_before = has_nonsense(&job);
        *said = (SaidField){.object = object, .field = field};
        draw_text(&stream, field, said->text, sizeof said->text);
        job.count++;
        if (nonsense_before && (strcmp(said->text, "-1") == 0 || strcmp(said->text, "wrong") == 0))
            plain_text(field->example, said->text, sizeof said->text);
    }
    return job;
}

// ---- The doors.

// "--tp 5: error: …" and "s.lua:3: error: …" say the same.
static void take_refusal(DoorAnswer *answer, const Problems *problems) {
    if (problem_count(problems) == 0) return;
    const Problem *problem = problem_at(problems, 0);
    snprintf(answer->refusal, sizeof answer->refusal, "%s | %s", problem->text, problem->hint ? problem->hint : "");
}

static void take_point(DoorAnswer *answer, const RecordPoint *point) {
    answer->digest = point->ran ? point->digest : 0;
    if (!point->ran && !answer->refusal[0])
        snprintf(answer->refusal, sizeof answer->refusal, "%s", point->why_not ? point->why_not : "");
}

static DoorAnswer simulate_study(Arena *arena, const StudySpec *study, Problems *problems) {
    DoorAnswer answer = {0};
    const Record *record = study && problem_count(problems) == 0 ? study_run(arena, study, problems) : NULL;
    take_refusal(&answer, problems);
    if (record) take_point(&answer, &record->points[0]);
    return answer;
}

static int words_of(Arena *arena, const DrawnJob *job, const SaidField *without, char *words[MOST_WORDS]) {
    int count = 0;
    words[count++] = arena_copy_text(arena, "run");
    words[count++] = arena_printf(arena, "--model=%s", job->model);
    words[count++] = arena_printf(arena, "--node=%s", job->node);
    words[count++] = arena_printf(arena, "--fabric=%s", job->fabric);
    words[count++] = arena_printf(arena, "--gpus=%d", job->gpus);
    for (int i = 0; i < job->count; i++)
        if (&job->said[i] != without)
            words[count++] = arena_printf(arena, "--%s=%s", job->said[i].field->flag, job->said[i].text);
    return count;
}

static StudySpec *study_of_options(Arena *arena, const DrawnJob *job, const SaidField *without, Problems *problems) {
    char *words[MOST_WORDS];
    int count = words_of(arena, job, without, words), rows;
    const OptionSpec *specs = options_with_study(arena, NULL, 0, &rows);
    OptionSpec *all = ARENA_ARRAY(arena, OptionSpec, rows + 2);
    memcpy(all, specs, sizeof *all * (size_t)rows);
    all[rows] = (OptionSpec){.name = "seed", .kind = OPTION_SEED, .metavar = "N", .help = "of draws"};
    all[rows + 1] = (OptionSpec){.name = "unfolded", .kind = OPTION_FLAG, .help = "every rank"};
    const Options *options = options_parse(arena, all, rows + 2, count, words, problems);
    return study_from_options(arena, options, test_catalogue(), "lockstep run", problems);
}

static DoorAnswer by_options(const DrawnJob *job) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const StudySpec *study = study_of_options(arena, job, NULL, problems);
    DoorAnswer answer = simulate_study(arena, study, problems);
    arena_close(arena);
    return answer;
}

// The last field of the job that can vary, said by vary: alone, or as one of two values, where what is not possible is
// a point that says why. False: none can.
static bool by_vary(const DrawnJob *job, int values, DoorAnswer *answer) {
    const SaidField *varied = NULL;
    for (int i = 1; i < job->count; i++)
        if (job->said[i].field->varied && !job->said[i].field->word) varied = &job->said[i];
    if (!varied) return false;
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    StudySpec *study = study_of_options(arena, job, varied, problems);
    if (study) {
        const char *texts[] = {varied->text, varied->text};
        double numbers[] = {NAN, NAN};
        Variation vary = {varied->field->varied, {0}, texts, numbers, values};
        study->vary = &vary;
        study->vary_count = 1;
        *answer = simulate_study(arena, study, problems);
    }
    arena_close(arena);
    return study != NULL;
}

static void write_literal(FILE *out, const SaidField *said) {
    const Field *field = said->field;
    if (field->kind == FIELD_FLAG) {
        fprintf(out, "%s = %s, ", field->name, said->text);
        return;
    }
    fprintf(out, "%s = ", field->name);
    if (field->list) fprintf(out, "{ ");
    for (const char *at = said->text; *at;) {
        size_t length = field->list ? strcspn(at, ",") : strlen(at);
        fprintf(out, "\"%.*s\"%s", (int)length, at, field->list ? ", " : "");
        at += length + (at[length] == ',');
    }
    fprintf(out, field->list ? "}, " : ", ");
}

static char *script_of_job(Arena *arena, const DrawnJob *job) {
    char *text = NULL, *kept;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fprintf(out,
            "sim.study { on = sim.cluster { node = \"%s\", gpus = %d, fabric = sim.%s { link = \"%s\" } },\n"
            "  run = sim.training { model = \"%s\", ",
            job->node, job->gpus, "rail_fat_tree", job->fabric, job->model);
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++) {
        bool any = false;
        for (int i = 0; i < job->count; i++) {
            if ((int)job->said[i].object != o) continue;
            if (!any && o != JOB_TRAINING) fprintf(out, "%s = { ", job_objects[o].word);
            any = true;
            write_literal(out, &job->said[i]);
        }
        if (any && o != JOB_TRAINING) fprintf(out, "}, ");
    }
    fprintf(out, "} }");
    fclose(out);
    kept = arena_copy_text(arena, text);
    free(text);
    return kept;
}

static DoorAnswer by_script(const DrawnJob *job) {
    Arena *arena = arena_open();
    Loaded loaded = load_returning(script_of_job(arena, job), NULL);
    const StudySpec *study = loaded.scenario ? loaded.scenario->items[0].study : NULL;
    DoorAnswer answer = simulate_study(loaded.arena, study, loaded.problems);
    unload(&loaded);
    arena_close(arena);
    return answer;
}

// ---- They agree.

static void tell_job(const DrawnJob *job, const char *door, const DoorAnswer *options, const DoorAnswer *other) {
    Arena *arena = arena_open();
    char *words[MOST_WORDS], line[2048] = "";
    int count = words_of(arena, job, NULL, words);
    for (int i = 0; i < count; i++) snprintf(line + strlen(line), sizeof line - strlen(line), "%s ", words[i]);
    test_fail(__FILE__, __LINE__, "%s\n  options: %016llx %s\n  %s: %016llx %s", line,
              (unsigned long long)options->digest, options->refusal, door, (unsigned long long)other->digest,
              other->refusal);
    arena_close(arena);
}

// The remedy is said in the words of each door.
static bool same_refusal(const char *a, const char *b) {
    const char *hint_a = strstr(a, " | "), *hint_b = strstr(b, " | ");
    return hint_a && hint_b && hint_a - a == hint_b - b && strncmp(a, b, (size_t)(hint_a - a)) == 0 &&
           (hint_a[3] != '\0') == (hint_b[3] != '\0');
}

static bool same_answer(const DoorAnswer *a, const DoorAnswer *b) {
    return a->digest == b->digest && (a->digest || same_refusal(a->refusal, b->refusal));
}

TEST(a_job_has_one_answer_by_options_by_script_and_varied) {
    int ran = 0, refused = 0, varied = 0;
    for (uint64_t seed = 1; seed <= JOBS; seed++) {
        DrawnJob job = draw_job(seed);
        DoorAnswer options = by_options(&job), script = by_script(&job), vary = {0};
        ran += options.digest != 0;
        refused += options.digest == 0;
        if (!same_answer(&options, &script)) tell_job(&job, "script", &options, &script);
        for (int values = 1; values <= 2; values++) {
            if (!by_vary(&job, values, &vary)) continue;
            varied++;
            if (vary.digest != options.digest) tell_job(&job, "vary", &options, &vary);
        }
    }
    printf("%d ran, %d refused, %d with a field varied\n", ran, refused, varied);
    EXPECT(ran > JOBS / 3 && refused > 300 && varied > JOBS / 3);
}

// ---- Plan, sweep and rows of measurements take what their own words reach.

typedef struct PlainJob {
    int tp, pp, zero, micro, global;
    const char *recompute, *precision, *software, *optimizer;
    bool sequence_parallel;
} PlainJob;

static PlainJob draw_plain(uint64_t seed) {
    static const char *const recompute[] = {"none", "selective", "full"}, *const precisions[] = {"bf16", "fp16",
                                                                                                 "tf32"};
    static const char *const stacks[] = {"nemo 24.07", "PyTorch 2.1", "DeepSpeed ZeRO-3 2024-03", "Megatron-LM 2021"};
    RandomStream stream = random_stream(seed, "jobs that all words reach", 0);
    PlainJob job = {.tp = 1 << draw(&stream, 3), .pp = 1 << draw(&stream, 2), .zero = draw(&stream, 2)};
    job.micro = 1 << draw(&stream, 3);
    job.global = job.micro * 64;
    job.recompute = recompute[draw(&stream, 3)];
    job.precision = precisions[draw(&stream, 3)];
    job.software = stacks[draw(&stream, COUNT_OF(stacks))];
    job.optimizer = draw(&stream, 4) ? "adam" : "sgd";
    job.sequence_parallel = job.tp > 1 && draw(&stream, 2);
    return job;
}

static int plain_words(Arena *arena, const PlainJob *job, char *words[MOST_WORDS]) {
    static const char *const fixed[] = {"run",       "--model=gpt2-355m", "--node=dgx-a100", "--fabric=ib-hdr200",
                                        "--gpus=16", "--strategy=ddp",    "--seq=1024",      "--tokens=1B"};
    int count = 0;
    for (int i = 0; i < COUNT_OF(fixed); i++) words[count++] = arena_copy_text(arena, fixed[i]);
    words[count++] = arena_printf(arena, "--tp=%d", job->tp);
    words[count++] = arena_printf(arena, "--pp=%d", job->pp);
    words[count++] = arena_copy_text(arena, "--vpp=1");
    words[count++] = arena_copy_text(arena, "--cp=1");
    words[count++] = arena_copy_text(arena, "--ep=1");
    words[count++] = arena_copy_text(arena, "--schedule=1f1b");
    words[count++] = arena_printf(arena, "--zero=%d", job->zero);
    words[count++] = arena_printf(arena, "--micro-batch=%d", job->micro);
    words[count++] = arena_printf(arena, "--global-batch=%d", job->global);
    words[count++] = arena_printf(arena, "--recompute=%s", job->recompute);
    words[count++] = arena_printf(arena, "--precision=%s", job->precision);
    words[count++] = arena_printf(arena, "--software=%s", job->software);
    words[count++] = arena_printf(arena, "--optimizer=%s", job->optimizer);
    words[count++] = arena_printf(arena, "--sequence-parallel=%s", job->sequence_parallel ? "true" : "false");
    return count;
}

static const OptionSpec extra_rows[] = {
    {.name = "seed", .kind = OPTION_SEED, .metavar = "N", .help = "of draws"},
    {.name = "unfolded", .kind = OPTION_FLAG, .help = "every rank"},
};

static const StudySpec *plain_study(Arena *arena, const PlainJob *job, Problems *problems) {
    char *words[MOST_WORDS];
    int rows, count = plain_words(arena, job, words);
    const OptionSpec *specs = options_with_study(arena, extra_rows, COUNT_OF(extra_rows), &rows);
    const Options *options = options_parse(arena, specs, rows, count, words, problems);
    return study_from_options(arena, options, test_catalogue(), "lockstep run", problems);
}

static uint64_t plain_digest(const PlainJob *job) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    DoorAnswer answer = simulate_study(arena, plain_study(arena, job, problems), problems);
    arena_close(arena);
    return answer.digest;
}

TEST(a_plan_simulates_the_job_that_run_does) {
    int ran = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        PlainJob job = draw_plain(seed);
        char *words[MOST_WORDS];
        int rows, count = plain_words(arena, &job, words);
        const OptionSpec *specs = plan_rows(arena, &rows);
        PlanRequest request = {.catalogue = test_catalogue()};
        plan_read_request(arena, options_parse(arena, specs, rows, count, words, problems), &request, problems);
        uint64_t run = plain_digest(&job);
        PlanResult plan = problem_count(problems) ? (PlanResult){0} : plan_search(arena, &request, problems);
        if (problem_count(problems))
            test_fail(__FILE__, __LINE__, "plan %d: %s", (int)seed, problem_at(problems, 0)->text);
        uint64_t planned = plan.row_count && plan.rows[0].point.ran ? plan.rows[0].point.digest : 0;
        if (planned) {
            RecordPoint *point = &plan.rows[0].point;
            ran++;
            EXPECT(point->tp == job.tp && point->pp == job.pp && point->zero == job.zero);
        }
        if (planned != run)
            test_fail(__FILE__, __LINE__, "seed %d: plan %016llx, run %016llx", (int)seed, (unsigned long long)planned,
                      (unsigned long long)run);
        arena_close(arena);
    }
    EXPECT(ran > 20);
}

// A wish that leaves the layout open.
static int wish_words(Arena *arena, uint64_t seed, char *words[MOST_WORDS]) {
    static const char *const small[] = {"gpt2-124m", "gpt2-355m", "bert-large"};
    static const char *const nodes[] = {"dgx-a100", "dgx-h100", "dgx-a100-80gb"};
    static const char *const more[] = {"--price=2.5", "--software=megatron", "--software=deepspeed",
                                       "--recompute=full"};
    RandomStream stream = random_stream(seed, "wishes", 0);
    int count = 0;
    words[count++] = arena_copy_text(arena, "plan");
    words[count++] = arena_printf(arena, "--model=%s", small[draw(&stream, COUNT_OF(small))]);
    words[count++] = arena_printf(arena, "--node=%s", nodes[draw(&stream, COUNT_OF(nodes))]);
    words[count++] = arena_printf(arena, "--gpus=%d", 8 << draw(&stream, 2));
    words[count++] = arena_printf(arena, "--global-batch=%d", 64 << draw(&stream, 3));
    static const char *const fabrics[] = {"ib-hdr200",
                                          "ib-hdr200:dragonfly:groups=2:switches_per_group=1:nodes_per_switch=1",
                                          "ib-hdr200:tests/data/fabrics/slurm_even.conf:oversubscription=2"};
    words[count++] = arena_printf(arena, "--fabric=%s", fabrics[seed % COUNT_OF(fabrics)]);
    words[count++] = arena_copy_text(arena, "--seq=512");
    words[count++] = arena_copy_text(arena, "--tokens=1B");
    for (int i = 0; i < COUNT_OF(more); i++)
        if (draw(&stream, 4) == 0 && (i == 0 || count < 9)) words[count++] = arena_copy_text(arena, more[i]);
    return count;
}

static void expect_one_number(uint64_t seed, const char *what, const RecordPoint *plan, const RecordPoint *other) {
    bool same = plan->digest == other->digest && plan->step_p50_s == other->step_p50_s &&
                plan->memory_peak_bytes == other->memory_peak_bytes &&
                (plan->cost_per_step == other->cost_per_step || isnan(plan->cost_per_step));
    if (!same)
        test_fail(__FILE__, __LINE__, "wish %d: plan %.17g s, %.0f bytes, %.17g; %s %.17g s, %.0f bytes, %.17g",
                  (int)seed, plan->step_p50_s, plan->memory_peak_bytes, plan->cost_per_step, what, other->step_p50_s,
                  other->memory_peak_bytes, other->cost_per_step);
}

// Its `run` line as it is printed; run and report simulate the study of it, and explain begins with it.
TEST(a_plans_row_its_run_line_and_the_base_of_explain_are_one_number) {
    int ran = 0;
    for (uint64_t seed = 1; seed <= WISHES; seed++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        char *words[MOST_WORDS];
        int rows, count = wish_words(arena, seed, words);
        const OptionSpec *specs = plan_rows(arena, &rows);
        PlanRequest request = {.catalogue = test_catalogue()};
        plan_read_request(arena, options_parse(arena, specs, rows, count, words, problems), &request, problems);
        PlanResult result = problem_count(problems) ? (PlanResult){0} : plan_search(arena, &request, problems);
        PlanStudy plan = {.arena = arena, .request = &request, .result = &result};
        for (int i = 1; i < count; i++) option_words_add(arena, &plan.words, words[i]);
        if (problem_count(problems) == 0 && result.row_count && result.rows[0].point.ran) {
            const char *const *line = plan_run_words(&plan, &result.rows[0], &count);
            char **said = ARENA_ARRAY(arena, char *, count);
            for (int i = 0; i < count; i++) said[i] = arena_copy_text(arena, line[i]);
            specs = options_with_study(arena, extra_rows, COUNT_OF(extra_rows), &rows);
            const Options *options = options_parse(arena, specs, rows, count, said, problems);
            const StudySpec *study = study_from_options(arena, options, test_catalogue(), "lockstep run", problems);
            const Record *record = study ? study_run(arena, study, problems) : NULL;
            const Explanation *now = record ? explain_study(arena, &(ExplainRequest){study, true, 0}, problems) : NULL;
            const RecordPoint *point = &result.rows[0].point;
            ran += now != NULL;
            if (record) expect_one_number(seed, "run", point, &record->points[0]);
            if (now) expect_one_number(seed, "explain", point, &now->job.point);
        }
        if (problem_count(problems))
            test_fail(__FILE__, __LINE__, "wish %d: %s", (int)seed, problem_at(problems, 0)->text);
        arena_close(arena);
    }
    EXPECT(ran > WISHES / 2);
}

TEST(a_measured_row_is_the_job_that_options_say) {
    int ran = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        PlainJob job = draw_plain(seed);
        const StudySpec *study = plain_study(arena, &job, problems);
        const char *text = arena_printf(
            arena,
            "row_id,family,model,gpu,n_gpus,gpus_per_node,layers,hidden,heads,vocab,seq_len,framework,tp,pp,vp,"
            "zero_stage,seq_parallel,micro_batch,global_batch,precision,recompute,optimizer,iter_time_s\n"
            "r,f,GPT-2 355M,A100-SXM4-80GB,16,8,24,1024,16,50257,1024,\"%s\",%d,%d,1,%d,%d,%d,%d,%s,%s,%s,1\n",
            job.software, job.tp, job.pp, job.zero, job.sequence_parallel, job.micro, job.global, job.precision,
            job.recompute, job.optimizer);
        MeasuredRuns runs = {0};
        measured_runs_read_text(arena, test_catalogue(), "rows", text, &runs, problems);
        if (problem_count(problems)) test_fail(__FILE__, __LINE__, "%s", problem_at(problems, 0)->text);
        if (!study || runs.count != 1 || runs.items[0].skipped) {
            test_fail(__FILE__, __LINE__, "seed %d: %s", (int)seed, runs.count ? runs.items[0].skipped : "no row");
        } else {
            StudySpec row = *study;
            row.said = NULL; // the row's job as the row made it, on the same model and cluster
            row.training = runs.items[0].training;
            row.training.model = study->training.model;
            DoorAnswer measured = simulate_study(arena, &row, problems);
            uint64_t run = plain_digest(&job);
            ran += run != 0;
            if (measured.digest != run)
                test_fail(__FILE__, __LINE__, "seed %d, %s: row %016llx, run %016llx, %s", (int)seed, job.software,
                          (unsigned long long)measured.digest, (unsigned long long)run, measured.refusal);
        }
        arena_close(arena);
    }
    EXPECT(ran > 60);
}

TEST(a_sweep_simulates_the_job_that_run_does) {
    for (uint64_t seed = 1; seed <= 30; seed++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        PlainJob job = draw_plain(seed);
        char *words[MOST_WORDS];
        int rows, count = plain_words(arena, &job, words);
        words[0] = arena_copy_text(arena, "sweep");
        const OptionSpec *specs = options_with_study(arena, extra_rows, COUNT_OF(extra_rows), &rows);
        const char *varied[] = {arena_printf(arena, "tp=%d", job.tp), arena_printf(arena, "zero=%d", job.zero)};
        int kept = 0; // what is varied is not said as well
        for (int i = 0; i < count; i++)
            if (strncmp(words[i], "--tp=", 5) != 0 && strncmp(words[i], "--zero=", 7) != 0) words[kept++] = words[i];
        SweepRequest request = {.catalogue = test_catalogue(),
                                .scenario = {.argc = kept, .argv = words, .seed = 1},
                                .specs = specs,
                                .spec_count = rows,
                                .varied = varied,
                                .varied_count = 2,
                                .profile_text = ""};
        Problems *usage = problems_create(arena);
        Sweep *sweep = sweep_create(arena, &request, problems, usage);
        EXPECT_INT(problem_count(problems) + problem_count(usage), 0);
        if (sweep) {
            StoreRow row = sweep_point(sweep, arena, 0);
            char said[17];
            snprintf(said, sizeof said, "%016llx", (unsigned long long)plain_digest(&job));
            bool ran = row.texts[ROW_DIGEST] != NULL;
            if (ran ? strcmp(row.texts[ROW_DIGEST], said) != 0 : plain_digest(&job) != 0)
                test_fail(__FILE__, __LINE__, "seed %d: sweep %s, run %s", (int)seed, ran ? row.texts[ROW_DIGEST] : "-",
                          said);
        }
        arena_close(arena);
    }
}

// ---- What a row says of its field when left out is so.

TEST(what_a_field_is_when_left_out_is_what_its_row_says) {
    static const char *const usual_models[] = {"gpt2-124m", "resnet-50"};
    int said = 0;
    for (int m = 0; m < COUNT_OF(usual_models); m++) {
        DrawnJob job = {.model = usual_models[m], .node = "dgx-a100", .fabric = "ib-hdr200", .gpus = 16};
        say_drawn(&job, JOB_BATCH, "micro", "2");
        DoorAnswer silent = by_options(&job);
        EXPECT(silent.digest != 0);
        for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
            for (int i = 0; i < job_objects[o].field_count; i++) {
                const Field *field = &job_objects[o].fields[i];
                if (!field->fallback || !field->flag) continue;
                DrawnJob spoken = job;
                SaidField *one = &spoken.said[spoken.count++];
                *one = (SaidField){.object = (JobObject)o, .field = field};
                plain_text(field->fallback, one->text, sizeof one->text);
                DoorAnswer answer = by_options(&spoken);
                said++;
                if (!same_answer(&answer, &silent)) tell_job(&spoken, "nothing said", &answer, &silent);
            }
    }
    EXPECT(said > 60);
}

TEST(software_that_is_named_stands_among_the_assumptions) {
    Loaded loaded = load_returning("sim.study { on = sim.cluster { node = \"dgx-a100\" }, run = sim.training { model = "
                                   "\"gpt2-124m\", batch = { micro = 1 }, software = \"NeMo-24.07\" } }",
                                   NULL);
    const Record *record = study_run(loaded.arena, loaded.scenario->items[0].study, loaded.problems);
    bool found = false;
    for (int i = 0; record && i < record->assumption_count; i++)
        if (strcmp(record->assumptions[i].name, "software") == 0)
            found = strstr(record->assumptions[i].source, "NeMo since 2023") != NULL;
    EXPECT(found);
    unload(&loaded);
}

TEST(whole_numbers_of_jobs_have_ranges_that_they_can_hold) {
    int whole = 0;
    for (int o = JOB_TRAINING; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            if (field->stored != STORED_INT || field->kind != FIELD_QUANTITY) continue;
            whole++;
            EXPECT(field->quantity == QUANTITY_COUNT && field->least >= 0 && field->most <= INT_MAX);
        }
    EXPECT(whole > 8);
}
