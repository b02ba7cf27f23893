// Explaining a step: causes add up to the tick, what-ifs are what a run of that machine is, the advice is the best.
#include "scenarios/explain/explain.h"
#include "scenarios/whatif/whatif.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "models/workload/job/job.h"
#include "models/workload/job/layout.h"
#include "models/workload/life/life.h"
#include "scenarios/study/study.h"
#include "sim/system/watch.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/draw_study.h"
#include "tests/explain_jobs.h"
#include "tests/script.h"
#include "tests/test.h"

// ---- The path.

// Operators of a block sum to what it costs, by cause, in each of its passes.
static void expect_block(const Explanation *now, int block, uint64_t seed) {
    Arena *arena = arena_open();
    const Lowered *lowered = now->job.step.lowered;
    const TrainingSpec *training = lowered->training;
    double micro_batch = lowered->resolved.micro_batch;
    OperatorTimes times = {0};
    BlockCost *cost = ARENA_NEW(arena, BlockCost);
    *cost = block_cost(training->model, block, training, micro_batch, now->job.cluster->gpu_of[0]);
    block_operator_times(arena, block, training, micro_batch, now->job.cluster->gpu_of[0], &times);
    bool splits = schedule_splits_backward(training->schedule);
    const CostList *lists[PASS_WAYS] = {&cost->forward, splits ? &cost->backward_input : &cost->backward,
                                        &cost->backward_weight};
    for (int way = 0; way < PASS_WAYS; way++)
        for (int cause = 0; cause < CAUSE_COUNT; cause++) {
            double whole = 0, parts = 0;
            for (int i = 0; i < lists[way]->count; i++)
                if (lists[way]->items[i].cause == (Cause)cause) whole += lists[way]->items[i].seconds;
            for (int i = 0; i < times.count; i++) {
                parts += times.items[i].seconds[way][cause];
                EXPECT(times.items[i].seconds[way][cause] >= -1e-15);
                if (strcmp(times.items[i].name, "other") == 0) EXPECT(times.items[i].seconds[way][cause] <= 1e-15);
            }
            if (fabs(parts - whole) > 1e-9 * whole + 1e-15)
                test_fail(__FILE__, __LINE__, "study %llu, block %d: %s of operators is %g s, of the block %g s",
                          (unsigned long long)seed, block, cause_names[cause], parts, whole);
        }
    arena_close(arena);
}

// To the tick, what the path has within passes of a cause is what operators have of it.
static void expect_operators(const Explanation *now, uint64_t seed) {
    SimTime left[PASS_WAYS][CAUSE_COUNT] = {{0}};
    const StepChain *chain = now->job.step.chain;
    for (int64_t i = 0; i < chain->count; i++) {
        int way = step_piece_way(&chain->pieces[i]);
        if (way >= 0) left[way][chain->pieces[i].cause] += chain->pieces[i].end - chain->pieces[i].start;
    }
    for (int i = 0; i < now->operator_count; i++) {
        EXPECT(now->operators[i].time >= 0);
        left[now->operators[i].way][now->operators[i].cause] -= now->operators[i].time;
    }
    for (int way = 0; way < PASS_WAYS; way++)
        for (int cause = 0; cause < CAUSE_COUNT; cause++)
            if (left[way][cause] != 0)
                test_fail(__FILE__, __LINE__, "study %llu: operators miss %lld ticks of %s", (unsigned long long)seed,
                          (long long)left[way][cause], cause_names[cause]);
    int blocks = now->job.step.lowered->training->model->block_count;
    for (int block = 0; block < blocks && block < 3; block++) expect_block(now, block, seed);
    expect_block(now, blocks - 1, seed);
}

static void expect_whole(const Explanation *now, uint64_t seed) {
    const StepChain *chain = now->job.step.chain;
    SimTime causes = 0, at = 0, ranks = 0;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        causes += chain->by_cause[c];
        EXPECT(chain->latency[c] + chain->flow[c] + chain->sharing[c] <= chain->by_cause[c]);
    }
    for (int64_t i = 0; i < chain->count; i++) {
        EXPECT_INT(chain->pieces[i].start, at);
        at = chain->pieces[i].end;
    }
    for (int i = 0; i < chain->rank_count; i++) {
        SimTime spent = chain->ranks[i].waiting;
        for (int c = 0; c < CAUSE_COUNT; c++) spent += chain->ranks[i].spent[c];
        EXPECT_INT(spent, chain->end);
        ranks += chain->ranks[i].on_chain;
    }
    if (causes != chain->end)
        test_fail(__FILE__, __LINE__, "the causes of study %llu miss its end", (unsigned long long)seed);
    EXPECT_INT(at, chain->end);
    EXPECT_INT(ranks, chain->end);
    const TrainingSpec *training = &now->job.study->training;
    bool one_run = now->job.study->seeds == 1 && training->jitter_by == JITTER_BY_GPU, // as the path's
        alike = one_run || training->jitter == 0;
    if (alike) EXPECT_SAME(now->job.step.digest, now->job.point.digest); // keeping the path moves nothing
    if (now->job.step.lowered) expect_operators(now, seed);
}

static char *text_of(const DrawnStudy *study, size_t *bytes) {
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    drawn_write(study, out);
    fclose(out);
    return text;
}

// 1: explained; 0: the study is refused, or does not run.
static int explain_drawn(uint64_t seed) {
    DrawnStudy drawn = draw_study(seed);
    size_t bytes;
    char *text = text_of(&drawn, &bytes);
    Loaded loaded = load_script(text, NULL);
    int explained = 0;
    for (int i = 0; loaded.scenario && i < loaded.scenario->item_count; i++) {
        if (!loaded.scenario->items[i].study) continue;
        ExplainRequest request = {.study = loaded.scenario->items[i].study, .only_why = true};
        const Explanation *now = explain_study(loaded.arena, &request, loaded.problems);
        if (!now || !now->job.step.chain) continue;
        expect_whole(now, seed);
        explained = 1;
        break;
    }
    unload(&loaded);
    free(text);
    return explained;
}

LONG_TEST(3, the_causes_of_500_drawn_jobs_sum_to_their_steps_to_the_tick) {
    int explained = 0;
    watch_open(&(WatchLimits){.events = 2e6});
    for (uint64_t seed = 1; explained < 500 && seed < 2000; seed++) explained += explain_drawn(seed);
    watch_close();
    EXPECT_INT(explained, 500);
}

// ---- What-ifs of the machine.

// A number as the catalogue's files have it: times the factor, or divided.
static void write_part(FILE *out, PartKind kind, const void *part, const Resource *resource, double factor,
                       bool *is_first) {
    bool any = false;
    const PartTable *table = &part_tables[kind];
    for (const ResourceField *field = resource->fields; field->key; field++) {
        if (field->part != kind) continue;
        for (int i = 0; i < table->field_count; i++) {
            const PartField *row = &table->fields[i];
            if (strcmp(row->key, field->key) != 0) continue;
            const char *place = (const char *)part + row->offset;
            double value =
                row->type == PART_FIELD_INT ? *(const int *)(const void *)place : *(const double *)(const void *)place;
            if (value == 0) continue;
            if (!any)
                fprintf(out, "%s{\"name\": \"%s\", \"like\": \"%s\", \"from\": [\"assumed\", \"test\"]",
                        *is_first ? "" : ", ", part_name(part), part_name(part));
            any = true;
            bool has_unit = row->quantity == QUANTITY_BANDWIDTH || row->quantity == QUANTITY_FLOPS_RATE ||
                            row->quantity == QUANTITY_TIME;
            value = resource->is_time ? value / factor : value * factor;
            fprintf(out, has_unit ? ", \"%s\": \"%.17g %s\"" : ", \"%s\": %.17g", field->key, value, row->unit);
        }
    }
    if (any) fprintf(out, "}");
    if (any) *is_first = false;
}

static const Catalogue *profile_with(Arena *arena, const Job *job, const Resource *resource, double factor,
                                     Problems *problems) {
    char path[] = "/tmp/lockstep-explain-XXXXXX";
    int file = mkstemp(path);
    FILE *out = fdopen(file, "w");
    bool first = true;
    fprintf(out, "{\"format\": \"lockstep-hardware\", \"format_version\": 1, \"sources\": {\"test\": \"a test\"}, "
                 "\"gpus\": [");
    write_part(out, PART_GPU, node_gpu(job->study.catalogue, job->group.type, 0), resource, factor, &first);
    fprintf(out, "], \"nodes\": [");
    first = true;
    write_part(out, PART_NODE, job->group.type, resource, factor, &first);
    fprintf(out, "], \"fabrics\": [");
    first = true;
    write_part(out, PART_FABRIC, job->cluster.link, resource, factor, &first);
    fprintf(out, "]}\n");
    fclose(out);
    const Catalogue *changed = catalogue_with_file(arena, job->study.catalogue, path, problems);
    unlink(path);
    return changed;
}

static void expect_as_profile(const char *node, const char *link, const char *model, int tp, int pp) {
    Arena *arena = arena_open();
    const Catalogue *base = catalogue_builtin(arena);
    for (int r = 0; r < resource_count; r++) {
        Job now, changed;
        job_on(&now, arena, base, node, link, 16, model);
        job_say_number(arena, &now.said, JOB_PARALLEL, "tp", tp);
        job_say_number(arena, &now.said, JOB_PARALLEL, "pp", pp);
        job_say_number(arena, &now.said, JOB_BATCH, "micro", 1);
        job_say_number(arena, &now.said, JOB_BATCH, "global", 32);
        job_made(&now);
        Problems *problems = problems_create(arena);
        const Catalogue *profile = profile_with(arena, &now, &resources[r], 2, problems);
        EXPECT_INT(problem_count(problems), 0);
        if (!profile) continue;
        job_on(&changed, arena, profile, node, link, 16, model);
        changed.said = now.said;
        job_made(&changed);
        const Cluster *cluster = cluster_create(arena, profile, &changed.cluster, problems);
        RecordPoint by_profile = simulate_training(arena, cluster, &changed.study.training, &changed.study, problems);
        RecordPoint by_factor = simulate_quicker(arena, &now.study, &resources[r], 2, problems);
        EXPECT(by_profile.ran && by_factor.ran);
        EXPECT_SAME(by_factor.step_p50_s, by_profile.step_p50_s);
        EXPECT_SAME(by_factor.digest, by_profile.digest);
    }
    arena_close(arena);
}

TEST(twice_a_resource_is_a_run_on_a_profile_with_that_resource_doubled_to_the_tick) {
    expect_as_profile("dgx-a100-80gb", "ib-hdr200", "gpt2-355m", 2, 2);
    expect_as_profile("dgx-h100", "ib-ndr400", "gpt2-355m", 8, 1);
    expect_as_profile("p3.16xlarge", "eth-25g", "gpt2-124m", 1, 2);
}

TEST(folded_and_whole_the_path_takes_the_same_time_and_ranks_do_the_same) {
    Arena *arena = arena_open();
    Job job;
    job_on(&job, arena, catalogue_builtin(arena), "dgx-a100-80gb", "ib-hdr200", 32, "gpt2-355m");
    job_say_number(arena, &job.said, JOB_PARALLEL, "tp", 2);
    job_say_number(arena, &job.said, JOB_PARALLEL, "pp", 4);
    job_say_number(arena, &job.said, JOB_BATCH, "micro", 1);
    job_say_number(arena, &job.said, JOB_BATCH, "global", 32);
    job_made(&job);
    ExplainRequest request = {.study = &job.study, .only_why = true};
    const Explanation *folded = explain_study(arena, &request, job.problems);
    StudySpec unfolded = job.study;
    unfolded.unfolded = true;
    request.study = &unfolded;
    const Explanation *whole = explain_study(arena, &request, job.problems);
    EXPECT(folded && whole && folded->job.step.chain && whole->job.step.chain);
    if (folded && whole) {
        EXPECT_INT(folded->job.step.chain->end, whole->job.step.chain->end);
        EXPECT(folded->job.step.chain->rank_count < whole->job.step.chain->rank_count);
        for (int c = 0; c < CAUSE_COUNT; c++)
            EXPECT_INT(folded->job.step.chain->ranks[0].spent[c], whole->job.step.chain->ranks[0].spent[c]);
    }
    arena_close(arena);
}

TEST(each_resource_changes_the_step_of_a_job_that_lives_on_it) {
    Arena *arena = arena_open();
    Job job;
    job_on(&job, arena, catalogue_builtin(arena), "dgx-a100-80gb", "ib-hdr200", 16, "gpt2-355m");
    job_say_number(arena, &job.said, JOB_PARALLEL, "tp", 2);
    job_say_number(arena, &job.said, JOB_BATCH, "micro", 1);
    job_say_number(arena, &job.said, JOB_BATCH, "global", 8);
    job_say_flag(arena, &job.said, JOB_OVERLAP, "grad_reduce", false); // nothing hides the network
    job_made(&job);
    const Explanation *now = explain_study(arena, &(ExplainRequest){.study = &job.study}, job.problems);
    EXPECT(now && now->job.step.chain);
    static const char *const felt[] = {"matrix", "memory", "nvlink", "network", "network-latency", "collective-latency",
                                       "launch"};
    for (size_t i = 0; now && i < sizeof felt / sizeof *felt; i++) {
        bool found = false;
        for (int c = 0; c < now->job.tried.ran; c++)
            found = found ||
                    (strcmp(now->job.tried.items[c].move->name, felt[i]) == 0 && now->job.tried.items[c].gain.mean > 0);
        if (!found) test_fail(__FILE__, __LINE__, "twice the %s gains nothing", felt[i]);
    }
    arena_close(arena);
}

// ---- Advice.

typedef struct Best {
    double step_s;
    char what[64];
} Best;

static void try_value(const Job *job, const Explanation *now, const char *name, const char *text, Best *best) {
    Arena *scratch = arena_open();
    double number = strtod(text, NULL);
    JobSaid said = job->said;
    const Value nothing = {.number = NAN};
    JobObject object;
    const Field *accumulation = job_field_varied("accumulation", &object);
    said = job_said_with(scratch, &said, object, accumulation, &nothing);
    job_say_number(scratch, &said, JOB_BATCH, "global", now->job.point.global_batch);
    Variation vary = {.name = name, .texts = &text, .numbers = &number, .count = 1};
    StudySpec study = job->study;
    study.said = &said;
    study.vary = &vary;
    study.vary_count = 1;
    Baseline baseline = {0};
    RecordPoint point = study_point(scratch, &study, (int[]){0}, &baseline, problems_create(scratch));
    if (point.ran && point.step_p50_s < best->step_s &&
        (point.chance_to_run_out <= 0.05 || (!now->job.must_fit && now->job.point.chance_to_run_out > 0.05 &&
                                             point.chance_to_run_out <= now->job.point.chance_to_run_out))) {
        best->step_s = point.step_p50_s;
        snprintf(best->what, sizeof best->what, "%s = %s", name, text);
    }
    arena_close(scratch);
}

static Best search(const Job *job, const Explanation *now) {
    static const char *const counts[] = {"tp", "pp", "vpp", "cp", "micro_batch"};
    Best best = {now->job.point.step_p50_s, "nothing"};
    double value[] = {now->job.point.tp, now->job.point.pp, now->job.point.vpp, now->job.point.cp,
                      now->job.point.micro_batch};
    char text[32];
    for (int i = 0; i < 5; i++)
        for (int half = 0; half < 2; half++) {
            double tried = half ? value[i] / 2 : value[i] * 2;
            if (tried < 1 || tried != floor(tried)) continue;
            snprintf(text, sizeof text, "%.0f", tried);
            try_value(job, now, counts[i], text, &best);
        }
    for (int zero = 0; zero <= 3; zero++) {
        if (!layout_zero_is_usual(zero, now->job.point.pp, now->job.point.ep)) continue;
        snprintf(text, sizeof text, "%d", zero);
        try_value(job, now, "zero", text, &best);
    }
    static const char *const words[] = {"schedule", "recompute", "attention"};
    for (int w = 0; w < 3; w++) {
        JobObject object;
        const Field *field = job_field_varied(words[w], &object);
        for (int i = 0; i < field->name_count; i++) try_value(job, now, words[w], field->names[i], &best);
    }
    return best;
}

LONG_TEST(8, the_first_advice_is_the_best_single_change_that_an_exhaustive_search_finds) {
    int right = 0, jobs = 0;
    for (uint64_t seed = 1; jobs < MANY(100) && seed < 400; seed++) {
        Arena *arena = arena_open();
        Job job;
        draw_job(&job, arena, catalogue_builtin(arena), seed);
        const Explanation *now = explain_study(arena, &(ExplainRequest){.study = &job.study}, job.problems);
        if (now && now->job.step.chain) {
            Best best = search(&job, now);
            double advised = now->job.first ? now->job.first->then : now->job.point.step_p50_s;
            // Gains below half a percent are no advice.
            bool is_right = advised <= best.step_s * (1 + 1e-12) || best.step_s > 0.995 * now->job.point.step_p50_s;
            jobs++;
            right += is_right;
            if (!is_right)
                printf("seed %llu: advised %s, best %s\n", (unsigned long long)seed,
                       now->job.first ? now->job.first->title : "nothing", best.what);
        }
        arena_close(arena);
    }
    EXPECT_INT(jobs, MANY(100));
    EXPECT(right >= MANY(95));
}

// ---- A job's weeks.

TEST(a_job_that_fails_says_what_keeps_its_goodput_down) {
    Arena *arena = arena_open();
    Job job;
    FaultsSpec faults = {.node_mtbf_s = 20 * 86400.0};
    job_on(&job, arena, catalogue_builtin(arena), "dgx-a100-80gb", "ib-hdr200", 64, "gpt2-355m");
    job.cluster.faults = &faults;
    job_say_number(arena, &job.said, JOB_BATCH, "micro", 4);
    job_say_number(arena, &job.said, JOB_BATCH, "global", 512);
    job_say_number(arena, &job.said, JOB_TRAINING, "tokens", 1e12);
    job_made(&job);
    const Explanation *now = explain_study(arena, &(ExplainRequest){.study = &job.study}, job.problems);
    EXPECT(now && now->goodput > 0.5 && now->goodput < 1);
    bool fewer = false, restart = false;
    for (int i = 0; now && i < now->life.count; i++) {
        const WhatIf *change = &now->life.items[i];
        fewer = fewer || (strcmp(change->move->name, "failures") == 0 && change->then > now->goodput);
        restart = restart || (strcmp(change->move->name, "restart") == 0 && change->then > now->goodput);
        if (change->then > now->goodput) EXPECT(change->life->days < now->days);
        if (i > 0) EXPECT(change->then <= now->life.items[i - 1].then);
    }
    EXPECT(fewer && restart);
    // As it stands it is what a study of it says.
    Baseline baseline = {0};
    RecordPoint point = study_point(arena, &job.study, NULL, &baseline, job.problems);
    if (now) EXPECT_SAME(point.goodput, now->goodput);
    arena_close(arena);
}

// ---- The command.

TEST(a_straggler_is_named_first_where_it_holds_all_back) {
    const Ended *ended = run_wide(command_explain, "explain --model gpt2-124m --node dgx-a100-80gb --gpus 8 "
                                                   "--micro-batch 4 --straggler 1.5");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "Change first  no straggler.");
}

TEST(a_rank_program_is_explained_by_its_calls_and_on_quicker_machines) {
    const Ended *ended = run_wide(command_explain, "explain scenarios/lessons/ring_all_reduce.lua -v --wall off");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "twice the NVLink saves");
    EXPECT_CONTAINS(ended->out, "send");
    EXPECT_CONTAINS(ended->out, "ranks of the call");
    EXPECT_CONTAINS(ended->out, "of the critical path 100.0 % sends and receives"); // no pipeline is in it
    EXPECT(!strstr(ended->out, "Pipeline") && !strstr(ended->out, "pipeline"));
    ended = run_command(command_explain, "explain scenarios/lessons/ring_all_reduce.lua --study 9 --wall off");
    EXPECT_INT(ended->code, 4);
    EXPECT(strstr(ended->err, "number 9"));
}

TEST(explain_says_what_does_not_go_together) {
    EXPECT_INT(run_command(command_explain, "explain")->code, 2);
    EXPECT_INT(run_command(command_explain, "explain --model gpt2-124m")->code, 2);
    const Ended *ended =
        run_wide(command_explain, "explain --model gpt3-175b --node dgx-a100 --gpus 8 --micro-batch 1");
    EXPECT_INT(ended->code, 3);
    EXPECT_CONTAINS(ended->out, "It fits with --gpus ");
    EXPECT_INT(run_command(command_explain, "explain --model gpt2-124m --node dgx-a100 --gpus 8 --table links")->code,
               2);
}

// What would make it fit does, and takes the step that is promised.
TEST(a_job_that_lacks_memory_is_told_what_makes_it_fit) {
    static const char job[] = "--model llama-3.1-8b --node dgx-h100 --gpus 8 --micro-batch 1 --global-batch 64";
    char line[256];
    snprintf(line, sizeof line, "explain %s --csv --table settings", job);
    const Ended *ended = run_command(command_explain, line);
    EXPECT_INT(ended->code, 3);
    double promised = 0, step = 0;
    EXPECT_CONTAINS(ended->out, "\nsetting,'--tp 4,");
    const char *at = strstr(ended->out, "\nsetting,'--tp 4,");
    EXPECT(at && sscanf(at, "\nsetting,'--tp 4,%lf", &promised) == 1);
    snprintf(line, sizeof line, "explain %s", job);
    ended = run_wide(command_explain, line);
    EXPECT_CONTAINS(ended->out, "It does not run: needs 177.8 GiB of 79.6 GiB");
    EXPECT_CONTAINS(ended->out, "It fits with --tp 4 (51.7 GiB), which costs ");
    snprintf(line, sizeof line, "explain %s --tp 4 --json", job);
    ended = run_command(command_explain, line);
    EXPECT_INT(ended->code, 0);
    at = strstr(ended->out, "\"step_s\":");
    EXPECT(at && sscanf(at, "\"step_s\": %lf", &step) == 1);
    EXPECT_NEAR(promised, step, 1e-9 * step);
}

TEST(the_path_as_csv_begins_at_0_and_has_no_gaps) {
    const Ended *ended = run_command(command_explain, "explain --model gpt2-124m --node dgx-a100-80gb --gpus 8 "
                                                      "--micro-batch 4 --csv --table chain");
    EXPECT_INT(ended->code, 0);
    long long at = 0, start, end, rows = 0;
    for (const char *line = strchr(ended->out, '\n'); line && sscanf(line + 1, "%lld,%lld", &start, &end) == 2;
         line = strchr(line + 1, '\n')) {
        EXPECT_INT(start, at);
        at = end;
        rows++;
    }
    EXPECT(rows > 100);
}

TEST(explain_draws_operators_under_their_roof_and_links_by_node) {
    static char said[1 << 15];
    const char *job = "$LOCKSTEP explain --model gpt3-1.3b --node dgx-a100 --gpus 32 --fabric ib-hdr --tp 4 "
                      "--micro-batch 4 --global-batch 64 --why-only ";
    char line[512];
    snprintf(line, sizeof line, "%s --plot | tail -20", job);
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    EXPECT_CONTAINS(said, "how much of its roof");
    EXPECT_CONTAINS(said, "under the flat roof");
    EXPECT_CONTAINS(said, "gpu nvlink out");
    EXPECT_CONTAINS(said, "nic out");
    for (int roofline = 0; roofline < 2; roofline++) { // a plot stands behind an empty line
        snprintf(line, sizeof line, "%s --plot=%s | grep -B 1 '^%s' | head -n 1", job, roofline ? "roofline" : "links",
                 roofline ? "Roofline" : "How busy");
        EXPECT_INT(test_shell(line, said, sizeof said), 0);
        EXPECT_TEXT(said, "\n");
    }
    snprintf(line, sizeof line, "%s --plot=rooflines", job);
    EXPECT_INT(test_shell(line, said, sizeof said), 2);
    EXPECT_CONTAINS(said, "did you mean \"roofline\"");
    EXPECT_INT(test_shell("$LOCKSTEP run --model gpt2-124m --node dgx-a100 --gpus 8 --plot=links", said, sizeof said),
               2);
    EXPECT_CONTAINS(said, "lockstep explain --plot=links");
}
