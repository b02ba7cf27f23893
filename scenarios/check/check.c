// The best explanation of a difference fits the measured time and memory with the least unexpected change: a cause
// that takes longer than its constants, or a setting other than stated.
#include "scenarios/check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_constants.h"
#include "models/workload/step/step_constants.h"
#include "scenarios/study/study_point.h"

#define UNSAID 1.0 // sigmas for an unspecified setting, and a stated one: both judged, not measured
#define STATED 2.5
#define NOTHING 1.645 // sigmas from run to run: 90 % of runs differ by less

static const struct {
    const char *name, *value, *what;
    JobObject object;
} settings[] = {
    {"attention", "plain", "attention without FlashAttention", JOB_TRAINING},
    {"attention", "flash", "FlashAttention", JOB_TRAINING},
    {"recompute", "full", "all activations computed again", JOB_TRAINING},
    {"recompute", "selective", "some activations computed again", JOB_TRAINING},
    {"recompute", "none", "nothing computed again", JOB_TRAINING},
    {"precision", "fp32", "products in 32 bits", JOB_TRAINING},
    {"precision", "bf16", "products in 16 bits", JOB_TRAINING},
    {"framework", "eager", "kernels as eager PyTorch issues them", JOB_TRAINING},
    {"framework", "tuned", "kernels as tuned software has them", JOB_TRAINING},
    {"software", "own", "a training loop of its own around the kernels", JOB_TRAINING},
    {"zero", "1", "an optimizer that is spread over the replicas", JOB_TRAINING},
    {"zero", "3", "weights that are spread over the replicas", JOB_TRAINING},
    {"fabric", "eth-100g", "a network without RDMA (100 Gb/s TCP)", JOB_OBJECT_COUNT},
    {"fabric", "eth-10g", "a network of 10 Gb/s TCP", JOB_OBJECT_COUNT},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct Checking {
    Arena *arena;
    StudySpec study; // with the settings of the measured run
    Check *check;
    double measured_s;
    LIST_OF(CheckExplanation) list;
} Checking;

static double square(double x) { return x * x; }

static bool fits_within(double value, double low, double high) { return value >= low && value <= high; }

// As the log counts it, and its range.
static double memory_counted(const StudyPlace *place, LogMemory is, double *low, double *high) {
    const Gpu *gpu = place->cluster->gpu_of[0];
    Memory memory = memory_of_job(place->training, place->cluster->gpu_count, gpu, NULL);
    double bytes = is == LOG_MEMORY_ALLOCATED ? memory.peak - memory.outside : reserved_bytes(&memory) - memory.outside;
    peak_range(&memory, low, high);
    *low *= bytes / memory.peak;
    *high *= fmin(bytes, memory.capacity) / memory.peak;
    return fmin(bytes, memory.capacity);
}

static LogMemory memory_said(const Checking *checking) {
    const TrainerLog *log = checking->check->measured->log;
    return log ? log->memory_is : LOG_MEMORY_NONE;
}

static double memory_misfit(const Checking *checking, double bytes) {
    if (!memory_said(checking)) return 0;
    return square(log(checking->check->measured_memory / bytes) / cost_constant(MEMORY_SPREAD));
}

// ---- What explains it.

static void add(Checking *checking, CheckExplanation explanation) {
    explanation.misfit = sqrt(explanation.misfit);
    LIST_PUSH(checking->arena, &checking->list, explanation);
}

static void try_causes(Checking *checking) {
    const RecordPoint *point = &checking->check->point;
    double more = checking->measured_s - point->step_p50_s, misfit = memory_misfit(checking, checking->check->memory);
    for (int c = 0; c < CAUSE_COUNT && c < point->exposed_count; c++) {
        double seconds = point->exposed[c].value, times = 1 + more / seconds;
        if (!(seconds > 0) || !(times > 0)) continue;
        double sigma = step_constant(CAUSE_SIGMA + (StepConstantId)c);
        add(checking, (CheckExplanation){.what = point->exposed[c].title,
                                         .step_s = checking->measured_s,
                                         .memory_bytes = checking->check->memory,
                                         .misfit = square(log(times) / sigma) + misfit,
                                         .times = times});
    }
}

static bool is_varied(const Checking *checking, const char *name) {
    for (int v = 0; v < checking->study.vary_count; v++)
        if (strcmp(checking->study.vary[v].name, name) == 0) return true;
    return false;
}

// Tries another value of a setting, if the job can have it and it makes a difference.
static void try_setting(Checking *checking, int s) {
    static const int first[MOST_VARIED];
    Arena *arena = checking->arena;
    Problems *aside = problems_create(arena);
    Check *check = checking->check;
    if (is_varied(checking, settings[s].name)) return;
    if (settings[s].object == JOB_OBJECT_COUNT && check->point.node_count < 2) return;
    struct {
        Variation *items;
        int count, room;
    } vary = {0};
    for (int v = 0; v < checking->study.vary_count; v++) LIST_PUSH(arena, &vary, checking->study.vary[v]);
    double *number = ARENA_NEW(arena, double);
    char *end;
    *number = strtod(settings[s].value, &end);
    if (*end) *number = NAN;
    Variation other = {settings[s].name, check->measured->where, &settings[s].value, number, 1};
    LIST_PUSH(arena, &vary, other);
    StudySpec study = checking->study;
    study.vary = vary.items;
    study.vary_count = vary.count;
    if (!study_check(&study, aside)) return;
    StudyPlace place = study_place(arena, &study, first, aside);
    if (!place.cluster || problem_count(aside)) return;
    RecordPoint point = simulate_training(arena, place.cluster, place.training, &study, aside);
    if (!point.ran || point.digest == check->point.digest) return;
    double low, high, memory = memory_counted(&place, memory_said(checking), &low, &high);
    bool stated = settings[s].object == JOB_OBJECT_COUNT
                      ? !study.fabric_assumed
                      : study.said && job_says(study.said, settings[s].object, settings[s].name);
    add(checking, (CheckExplanation){
                      .what = settings[s].what,
                      .step_s = point.step_p50_s,
                      .memory_bytes = memory,
                      .times = NAN,
                      .misfit = square(stated ? STATED : UNSAID) + memory_misfit(checking, memory) +
                                square(log(checking->measured_s / point.step_p50_s) / step_constant(PECULIAR_SIGMA))});
}

static int by_misfit(const void *a, const void *b) {
    const CheckExplanation *first = a, *second = b;
    int order = (first->misfit > second->misfit) - (first->misfit < second->misfit);
    return order ? order : strcmp(first->what, second->what);
}

static void explain(Checking *checking) {
    double off = fabs(log(checking->measured_s / checking->check->point.step_p50_s));
    bool memory_agrees = !memory_said(checking) || checking->check->memory_within;
    if (off <= NOTHING * step_constant(RUN_TO_RUN_SIGMA) && memory_agrees) return;
    try_causes(checking);
    for (int s = 0; s < SETTINGS; s++) try_setting(checking, s);
    if (checking->list.count)
        qsort(checking->list.items, (size_t)checking->list.count, sizeof *checking->list.items, by_misfit);
    checking->check->explanations = checking->list.items;
    checking->check->explanation_count = checking->list.count;
}

// ---- The run.

static double said_of_job(const Resolved *job, int gpus, const TrainingSpec *training, const char *name) {
    const struct {
        const char *name;
        double value;
    } said[] = {{"gpus", gpus},
                {"tp", job->tp},
                {"pp", job->pp},
                {"cp", job->cp},
                {"ep", job->ep},
                {"micro_batch", job->micro_batch},
                {"global_batch", job->global_batch},
                {"seq_len", training->seq_len}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strcmp(said[i].name, name) == 0) return said[i].value;
    return NAN;
}

// Settings in the log override the study's.
static void compare_settings(Arena *arena, const StudySpec *study, const TrainerLog *log, Check *check) {
    static const int first[MOST_VARIED];
    Problems *aside = problems_create(arena);
    StudySpec plain = *study;
    Resolved job;
    struct {
        const char **items;
        int count, room;
    } list = {0};
    plain.vary_count = 0;
    StudyPlace place = log ? study_place(arena, &plain, first, aside) : (StudyPlace){0};
    if (!place.cluster || !resolve_layout(arena, place.training, place.cluster->gpu_count, &job, aside)) return;
    for (int i = 0; i < log->settings.count; i++) {
        const LogSetting *setting = &log->settings.items[i];
        double said = said_of_job(&job, place.cluster->gpu_count, place.training, setting->name);
        if (said == strtod(setting->value, NULL)) continue;
        const char *text = arena_printf(arena, "the job says %s %g, the log %s: the log's is simulated", setting->name,
                                        said, setting->value);
        LIST_PUSH(arena, &list, text);
    }
    check->cautions = list.items;
    check->caution_count = list.count;
}

bool check_step(Arena *arena, const StudySpec *study, MeasuredStep *step, Check *check, Problems *problems) {
    int before = problems_added(problems);
    Checking checking = {.arena = arena, .check = check};
    StudyPlace place;
    *check = (Check){.measured = step, .measured_memory = NAN, .memory = NAN, .memory_within = true};
    if (!measured_place(arena, study, step, NULL, &checking.study, &place, problems)) return false;
    checking.study.assume_fits = true; // it ran
    check->point = simulate_training(arena, place.cluster, place.training, &checking.study, problems);
    const RecordPoint *point = &check->point;
    if (!point->ran) {
        if (problems_added(problems) == before)
            problem_add(problems, step->where, "the job does not run: %s", point->why_not);
        return false;
    }
    measured_settle(step, place.training, point->global_batch, point->global_batch / (point->micro_batch * point->dp),
                    point->gpu_count);
    checking.measured_s = step->seconds;
    check->step_within = fits_within(step->seconds, point->step_p5_s, point->step_p95_s);
    if (step->log && step->log->memory_is) {
        check->measured_memory = step->log->memory_bytes;
        check->memory = memory_counted(&place, step->log->memory_is, &check->memory_low, &check->memory_high);
        check->memory_within = fits_within(check->measured_memory, check->memory_low, check->memory_high);
    }
    compare_settings(arena, study, step->log, check);
    explain(&checking);
    return problems_added(problems) == before;
}
