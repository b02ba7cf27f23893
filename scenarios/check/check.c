// lockstep check: compares measured steps with the simulation of the same job: within its range or not, the best
// explanation of the difference, and the run's losses. The best explanation fits the measured time and memory with the
// least unexpected change: a cause that takes longer than its constants, or a setting other than stated.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "models/workload/cost/cost_constants.h"
#include "models/workload/step/step_constants.h"
#include "results/answer/frame.h"
#include "scenarios/explain/explain.h"
#include "scenarios/study/study_anchors.h"
#include "scenarios/study/study_options.h"
#include "sim/base/list.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

typedef struct CheckExplanation {
    const char *what;    // "attention without FlashAttention"
    double step_s;       // its step time; of a scaled cause, the measured one
    double memory_bytes; // as counted by the log; NAN: unknown
    double misfit;       // distance from the measured and the stated values, in sigmas; less is better
    double times;        // as long as simulated, of a cause; NAN: it is a setting
} CheckExplanation;

typedef struct Check { // of one measured run
    const MeasuredStep *measured;
    RecordPoint point;                      // as simulated
    double measured_memory;                 // NAN: unspecified
    double memory, memory_low, memory_high; // in the same unit
    bool step_within, memory_within;
    const char *const *cautions; // differences between the log's job and the study's
    int caution_count;
    const CheckExplanation *explanations; // best first; none where runs differ by as much
    int explanation_count;
} Check;

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
    LIST_OF(Variation) vary = {0};
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
    LIST_OF(const char *) list = {0};
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

// False after problems.
static bool check_step(Arena *arena, const StudySpec *study, MeasuredStep *step, Check *check, Problems *problems) {
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

// ---- The command.

static const OptionSpec own_options[] = {
    {"log", OPTION_TEXTS, "FILE", .of = OF_QUESTION,
     .help = "the trainer's log, or rows of gpus,step_time in a .csv; may be repeated"},
    SET_OPTION,
    {"study", OPTION_COUNT, "N", .of = OF_QUESTION,
     .help = "which of the script's jobs and programs, counted from 1 (default 1)"},
    SEED_OPTION,
    UNFOLDED_OPTION,
    PRICE_BOOK_OPTION,
    PROFILE_OPTION,
    ALLOW_READ_OPTION,
    WATCH_OPTIONS,
    WALL_OPTION,
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options, MOST_TRIED = 8 };
#define FAR_OFF 4.0 // sigmas: judged

static const OptionSpec *rows(Arena *arena, int *count) {
    return options_with_study(arena, own_options, OWN_OPTIONS, count);
}

// ---- Options.

static const StudySpec *study_of_script(Asking *asking, const Catalogue *catalogue) {
    StepQuestion asked = step_question_of(asking, "check");
    const ScenarioRequest *request;
    if (!step_question_raises_wall(&asked)) return NULL;
    const ScenarioItem *item = step_question_item(&asked, catalogue, &request, asking->problems);
    if (!item || item->study) return item ? item->study : NULL;
    problem_add(asking->problems, (Where){request->file, 0}, "this is a rank program, and logs are of training jobs");
    return problem_hint(asking->problems, "--study N names another of the script's"), NULL;
}

static bool check_usage(const Asking *asking) {
    if (!option_given(asking->options, "log")) {
        problem_add(asking->problems, (Where){0}, "which log?");
        problem_hint(asking->problems, "--log trainer.log, or --log steps.csv with rows of gpus,step_time");
    }
    step_question_check("check", asking->is_script, asking->options, asking->problems);
    return problem_count(asking->problems) == 0;
}

// Before the wall is raised.
static MeasuredSteps read_logs(const Asking *asking) {
    int count = 0;
    MeasuredSteps steps = {0};
    const char *const *paths = option_texts(asking->options, "log", &count);
    for (int i = 0; i < count; i++) {
        if (measured_read_file(asking->arena, paths[i], &steps, asking->problems)) continue;
        problem_add(asking->problems, (Where){paths[i], 0}, "its rows describe whole jobs");
        problem_hint(asking->problems, "lockstep validate training compares those; here rows of gpus,step_time");
    }
    return steps;
}

// ---- What is answered.

static const char *times_text(Arena *arena, double times) {
    double percent = 100 * fabs(times - 1);
    return arena_printf(arena, percent < 10 ? "%.1f %% %s" : "%.0f %% %s", percent, times > 1 ? "more" : "less");
}

static void add_row(Arena *arena, Answer *answer, const Check *check, const char *key, const char *title,
                    AnswerUnit unit, AnswerRange said, double measured) {
    bool within = measured >= said.p5 && measured <= said.p95;
    ANSWER_ROW(answer, answer_of(AS_WHOLE, check->point.gpu_count), key, title, answer_of(unit, said.p50),
               answer_of(unit, said.p5), answer_of(unit, said.p95),
               answer_range_text(arena, answer, unit, said.p5, said.p95), answer_of(unit, measured),
               answer_shown(AS_SHARE, measured / said.p50 - 1, times_text(arena, measured / said.p50)),
               answer_shown(AS_BOOL, within, within ? "inside" : "outside"));
}

static AnswerRange rate_of(double amount, const RecordPoint *point) {
    return (AnswerRange){NAN, amount / point->step_p95_s, amount / point->step_p50_s, amount / point->step_p5_s};
}

static void add_rows(Arena *arena, Answer *answer, const Check *check) {
    const RecordPoint *point = &check->point;
    double seconds = check->measured->seconds, per_step = point->step_p50_s;
    bool tokens = point->tokens_per_s > 0;
    double amount = (tokens ? point->tokens_per_s : point->samples_per_s) * per_step;
    add_row(arena, answer, check, "step_time_s", "Step time", AS_SECONDS,
            (AnswerRange){NAN, point->step_p5_s, per_step, point->step_p95_s}, seconds);
    add_row(arena, answer, check, tokens ? "tokens_per_s" : "samples_per_s",
            tokens ? "Tokens a second" : "Samples a second", AS_COUNT, rate_of(amount, point), amount / seconds);
    if (check->measured->log && check->measured->log->tflops > 0)
        add_row(arena, answer, check, "flops_per_gpu", "FLOP/s of a GPU", AS_FLOPS_RATE,
                rate_of(point->flops_per_step / point->gpu_count, point), 1e12 * check->measured->log->tflops);
    if (isfinite(check->measured_memory))
        add_row(arena, answer, check, "memory_bytes",
                check->measured->log->memory_is == LOG_MEMORY_ALLOCATED ? "Memory allocated" : "Memory reserved",
                AS_BYTES, (AnswerRange){NAN, check->memory_low, check->memory, check->memory_high},
                check->measured_memory);
}

static void add_table(Arena *arena, Answer *answer, const Check *checks, int count) {
    static const AnswerColumn columns[] = {{"gpus", "GPUs", AS_WHOLE, 1},
                                           {"quantity", NULL, AS_TEXT, 0},
                                           {NULL, "", AS_TEXT, 0},
                                           {"predicted", "predicted", AS_NUMBER, 0},
                                           {"low", NULL, AS_NUMBER, 0},
                                           {"high", NULL, AS_NUMBER, 0},
                                           {NULL, "nine times in ten", AS_TEXT, 1},
                                           {"measured", "measured", AS_NUMBER, 0},
                                           {"off", "is", AS_SHARE, 0},
                                           {"within", "its range", AS_BOOL, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    AnswerColumn *shown = ARENA_ARRAY(arena, AnswerColumn, COLUMNS);
    memcpy(shown, columns, sizeof columns);
    if (count == 1) shown[0].title = NULL;
    answer_table(answer, "compared", NULL, shown, COLUMNS);
    for (int i = 0; i < count; i++) add_rows(arena, answer, &checks[i]);
}

static double distance(const Check *check) { return fabs(log(check->measured->seconds / check->point.step_p50_s)); }

static const Check *worst_of(const Check *checks, int count) {
    const Check *worst = checks;
    for (int i = 1; i < count; i++) {
        bool within = checks[i].step_within && checks[i].memory_within,
             before = worst->step_within && worst->memory_within;
        if (within != before ? before : distance(&checks[i]) > distance(worst)) worst = &checks[i];
    }
    return worst;
}

static void say_lead(Arena *arena, Answer *answer, const Check *worst, int count, int outside) {
    const RecordPoint *point = &worst->point;
    const char *range = answer_range_text(arena, answer, AS_SECONDS, point->step_p5_s, point->step_p95_s);
    const char *which = count > 1 ? arena_printf(arena, "On %d GPUs a", point->gpu_count) : "A";
    answer_say(answer, NULL, "%s step took %s; predicted are %s, nine times in ten %s: %s.", which,
               quantity_text(arena, worst->measured->seconds, QUANTITY_TIME),
               quantity_text(arena, point->step_p50_s, QUANTITY_TIME), range,
               worst->step_within && worst->memory_within ? "inside the range"
               : worst->step_within                       ? "inside, but memory is outside its range"
                                                          : "outside the range");
    if (count > 1) answer_say(answer, NULL, "%d of %d measured runs are outside their ranges.", outside, count);
}

static void say_why(Arena *arena, Answer *answer, const Check *check) {
    if (check->explanation_count == 0) {
        answer_say(answer, "Why", "nothing is to be explained: runs of one job differ by as much");
        return;
    }
    const CheckExplanation *best = &check->explanations[0];
    if (best->misfit > FAR_OFF)
        answer_say(answer, "Why",
                   "nothing that was tried explains it: %s comes nearest and is %.0f sigma off; is it "
                   "this model, batch, length, precision and GPU?",
                   best->what, best->misfit);
    else if (isfinite(best->times))
        answer_say(answer, "Why", "%s at %.3g times what is expected explains it best (%.1f sigma)", best->what,
                   best->times, best->misfit);
    else
        answer_say(answer, "Why", "%s explains it best: a step would take %s (%.1f sigma)", best->what,
                   quantity_text(arena, best->step_s, QUANTITY_TIME), best->misfit);
}

static void add_explanations(Answer *answer, const Check *check) {
    static const AnswerColumn columns[] = {{"what", "explanation", AS_TEXT, 0},
                                           {"step_s", "a step", AS_SECONDS, 0},
                                           {"memory_bytes", "memory", AS_BYTES, 1},
                                           {"times", "times", AS_NUMBER, 0},
                                           {"misfit", "sigma", AS_NUMBER, 0}};
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, "explanations",
                 "What would explain it (a cause that takes so many times as long, or a setting)", columns,
                 sizeof columns / sizeof *columns);
    for (int i = 0; i < check->explanation_count && i < MOST_TRIED; i++) {
        const CheckExplanation *e = &check->explanations[i];
        ANSWER_ROW(answer, e->what, answer_of(AS_SECONDS, e->step_s), answer_of(AS_BYTES, e->memory_bytes),
                   answer_of(AS_NUMBER, e->times), answer_of(AS_NUMBER, e->misfit));
    }
    answer_close(answer);
}

// Against a run of the same job whose every step is as predicted.
static void add_lost(Arena *arena, Answer *answer, const Check *check) {
    const TrainerLog *log = check->measured->log;
    double warm = log ? log->warm_share : 0, stalls = log ? log->stall_share : 0;
    double slower = fmax(0, 1 - check->point.step_p50_s / check->measured->seconds) * (1 - warm - stalls);
    double all = slower + warm + stalls;
    answer_open(answer, "lost", NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_number(answer, "share", NULL, AS_SHARE, all);
    answer_number(answer, "slower_steps", NULL, AS_SHARE, slower);
    answer_number(answer, "stalls", NULL, AS_SHARE, stalls);
    answer_number(answer, "warm_up", NULL, AS_SHARE, warm);
    answer_close(answer);
    if (all < 0.005) {
        answer_say(answer, "Lost", "nothing against what it could be");
        return;
    }
    const char *text =
        arena_printf(arena, "%.0f %% of its time: %.0f %% in steps slower than predicted", 100 * all, 100 * slower);
    if (log && log->stalls)
        text = arena_printf(arena, "%s, %.0f %% in %d stalls (lines above 1.5 times the median)", text, 100 * stalls,
                            log->stalls);
    if (warm > 0.005) text = arena_printf(arena, "%s, %.0f %% while it warmed up", text, 100 * warm);
    answer_say(answer, "Lost", "%s", text);
}

static void add_log(Arena *arena, Answer *answer, const Check *check) {
    const TrainerLog *log = check->measured->log;
    if (!log) return;
    answer_open(answer, "log", NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_text(answer, "software", NULL, log->software);
    answer_number(answer, "lines", NULL, AS_WHOLE, log->lines);
    answer_number(answer, "left_out", NULL, AS_WHOLE, log->left_out);
    answer_number(answer, "stalls", NULL, AS_WHOLE, log->stalls);
    answer_close(answer);
    const char *left = "";
    if (log->left_out)
        left = arena_printf(arena, "; the first %d left out: caches, compilation and the loader begin in %s",
                            log->left_out, log->left_out == 1 ? "it" : "them");
    else if (log->whole_run)
        left = "; a mean of the whole run, its start with it";
    else if (log->lines < 3)
        left = "; too few to leave out what warms up";
    double per = check->measured->seconds / log->seconds;
    answer_say(answer, "Log", "%s, %d line%s with a time%s; nine in ten of the others take %s to %s", log->software,
               log->lines, log->lines == 1 ? "" : "s", left, quantity_text(arena, per * log->fast, QUANTITY_TIME),
               quantity_text(arena, per * log->slow, QUANTITY_TIME));
}

static void answer_checks(Asking *asking, const Check *checks, int count, int outside) {
    Arena *arena = asking->arena;
    Answer *answer = asking->answer;
    const Check *worst = worst_of(checks, count);
    answer_bool(answer, "within", NULL, outside == 0);
    say_lead(arena, answer, worst, count, outside);
    add_table(arena, answer, checks, count);
    answer_main_called(answer, "compared");
    say_why(arena, answer, worst);
    add_explanations(answer, worst);
    add_lost(arena, answer, worst);
    add_log(arena, answer, worst);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < checks[i].caution_count; c++) answer_caution(answer, "%s", checks[i].cautions[c]);
    answer_say(answer, "Then", "--anchor %s beside run, plan or explain corrects them by it",
               option_texts(asking->options, "log", &(int){0})[0]);
}

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    if (!check_usage(asking)) return EXIT_USAGE;
    const Catalogue *catalogue = catalogue_with_options(arena, asking->options, asking->problems);
    if (!catalogue) return EXIT_BAD_INPUT;
    MeasuredSteps steps = read_logs(asking);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    const StudySpec *study =
        asking->is_script ? study_of_script(asking, catalogue)
                          : study_from_options(arena, asking->options, catalogue, "lockstep check", asking->problems);
    if (!study) return EXIT_BAD_INPUT;
    Check *checks = ARENA_ARRAY(arena, Check, steps.count);
    int outside = 0;
    for (int i = 0; i < steps.count; i++) {
        if (!check_step(arena, study, &steps.items[i], &checks[i], asking->problems))
            return watch_status(EXIT_BAD_INPUT);
        outside += !checks[i].step_within || !checks[i].memory_within;
    }
    answer_checks(asking, checks, steps.count, outside);
    return outside ? EXIT_NO : EXIT_DONE;
}

static const Question question_check = {
    .name = "check",
    .usage = "lockstep check SCRIPT|CONFIG --log trainer.log [OPTIONS] [options of a job]\n"
             "       lockstep check FILE.lua --log trainer.log [OPTIONS]\n"
             "       lockstep check --model NAME --node NAME --gpus N --log steps.csv [OPTIONS]",
    .about =
        "Sets what was measured beside what is simulated of the same job: step time, throughput and memory with\n"
        "their ranges, what explains the difference best, and what the run lost. Logs of Megatron-LM, NeMo,\n"
        "torchtitan, DeepSpeed, Hugging Face's Trainer, Lightning and others are read, and rows of gpus,step_time.\n\n"
        "Exit codes: 0 inside the ranges, 1 failed, 2 usage, 3 outside, 4 bad input or beyond a limit.",
    .rows = rows,
    .names_script = options_name_a_script,
    .own = own_options,
    .own_count = OWN_OPTIONS,
    .ask = ask};

const OptionSpec *check_option_rows(Arena *arena, int *count);
const OptionSpec *check_option_rows(Arena *arena, int *count) { return frame_rows(arena, &question_check, count); }

int command_check(int argc, char **argv);
int command_check(int argc, char **argv) { return frame_run(&question_check, argc, argv); }
