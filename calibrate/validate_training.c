// lockstep validate training: published runs, simulated and compared, by family.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "calibrate/command_validate.h"
#include "calibrate/cross_training.h"
#include "calibrate/predict_training.h"
#include "calibrate/print_training.h"
#include "calibrate/score_training.h"
#include "sim/options.h"

#define EXIT_USAGE 2
#define EXIT_INPUT 4
#define FOLDER "calibrate/measurements/training/"
#define WORST_ROWS 20
#define SHARED_ERROR 0.6 // of a run's log error, its kind shares about this part; the rest is its own

static const char *const shipped[] = {
    FOLDER "training_cnn_dle.csv",    FOLDER "training_dlperf.csv",       FOLDER "training_fsdp_mosaic.csv",
    FOLDER "training_lambda.csv",     FOLDER "training_llm_dgxc.csv",     FOLDER "training_llm_fsdp.csv",
    FOLDER "training_llm_libai.csv",  FOLDER "training_llm_megatron.csv", FOLDER "training_llm_misc.csv",
    FOLDER "training_llm_nvidia.csv", FOLDER "training_llm_vtrain.csv",   FOLDER "training_mlperf.csv",
    FOLDER "training_neusight.csv",   FOLDER "training_scaling_misc.csv", FOLDER "training_single_gpu.csv",
};
#define SHIPPED_COUNT ((int)(sizeof shipped / sizeof *shipped))

static const OptionSpec specs[] = {
    {.name = "family", .kind = OPTION_TEXT, .metavar = "NAME", .help = "only families whose name contains it"},
    {.name = "anchored",
     .kind = OPTION_FLAG,
     .help =
         "correct the runs of a family, GPU, precision and software by the one on the fewest GPUs; score the others"},
    {.name = "cross",
     .kind = OPTION_FLAG,
     .help = "fit factors on the times by cause to all families but one, and score that one; for each"},
    {.name = "verbose", .kind = OPTION_FLAG, .letter = 'v', .help = "every row, by cause, and what was assumed"},
    {"rows", OPTION_TEXT, "OUT.csv", .help = "every row, skipped ones with the reason: " ROW_COLUMNS},
    {.name = "csv", .kind = OPTION_FLAG, .help = "print every row as CSV instead of tables"},
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of tables"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

static const char usage[] = "lockstep validate training [FILE.csv…] [--family NAME] [--anchored | --cross] [--rows "
                            "OUT.csv] [--verbose] [--csv | --json]";
static const char about[] =
    "Simulates published training runs (" FOLDER "*.csv, run from the project's folder) and compares step times.\n"
    "No constant belongs to a row or a model; those shared by a type of GPU or of software were set with these rows "
    "in\n"
    "sight. --cross says how far they carry over to families that a fit has not seen.";

// ---- Reading and predicting.

static bool wanted(const MeasuredRun *run, const char *family) {
    return !family || strcasestr(run->family, family) != NULL;
}

static int keep_family(MeasuredRuns *runs, const char *family) {
    int kept = 0;
    for (int i = 0; i < runs->count; i++)
        if (wanted(&runs->items[i], family)) runs->items[kept++] = runs->items[i];
    runs->count = kept;
    return kept;
}

static double cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static PredictedRun *predict_all(Arena *arena, const Catalogue *catalogue, const MeasuredRuns *runs) {
    PredictedRun *predicted = ARENA_ARRAY(arena, PredictedRun, runs->count);
    for (int i = 0; i < runs->count; i++) {
        double start = cpu_seconds();
        predicted[i] = predict_run(arena, catalogue, &runs->items[i]);
        predicted[i].seconds_to_predict = cpu_seconds() - start;
        if (!predicted[i].skipped) predicted[i].skipped = runs->items[i].unmeasured;
    }
    return predicted;
}

// ---- Anchoring: one measured run of a family on a type of GPU says how far off all of its kind are.

static const Gpu *gpu_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpu; }
static int gpus_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpus; }

static bool of_one_kind(const PredictedRun *a, const PredictedRun *b) {
    return strcmp(a->run->family, b->run->family) == 0 && strcmp(gpu_of(a)->name, gpu_of(b)->name) == 0 &&
           a->training.precision == b->training.precision && a->run->software == b->run->software;
}

static int smallest_of_kind(const PredictedRun *runs, int count, int row) { // the first of several
    int smallest = -1;
    for (int i = 0; i < count; i++)
        if (!runs[i].skipped && of_one_kind(&runs[i], &runs[row]) &&
            (smallest < 0 || gpus_of(&runs[i]) < gpus_of(&runs[smallest])))
            smallest = i;
    return smallest;
}

static double *anchor(Arena *arena, PredictedRun *runs, int count) {
    double *factors = ARENA_ARRAY(arena, double, count);
    int *anchors = ARENA_ARRAY(arena, int, count);
    for (int i = 0; i < count; i++) {
        factors[i] = 1;
        anchors[i] = runs[i].skipped ? -1 : smallest_of_kind(runs, count, i);
        if (anchors[i] >= 0)
            factors[i] = pow(runs[anchors[i]].run->measured_step_s / runs[anchors[i]].step_s, SHARED_ERROR);
    }
    for (int i = 0; i < count; i++)
        if (anchors[i] == i) runs[i].skipped = "the run that others of its kind are anchored on";
    return factors;
}

// ---- The command.

static void print_text(Arena *arena, const Options *options, const Scores *scores, const PredictedRun *runs, int count,
                       const double *factors) {
    print_scoreboard(scores);
    print_memory_scores(scores);
    print_worst(scores, runs, factors, WORST_ROWS);
    print_skipped(arena, runs, count);
    if (!option_flag(options, "verbose")) return;
    print_assumptions(runs, count);
    print_rows(runs, count, factors);
}

static int validate(Arena *arena, const Options *options, Problems *problems) {
    const Catalogue *catalogue = catalogue_builtin(arena);
    MeasuredRuns runs = {.count = 0};
    int files = option_positional_count(options);
    bool readable = true; // a bad cell costs its row only, and is told at the end
    for (int i = 0; i < (files ? files : SHIPPED_COUNT); i++)
        readable &=
            measured_runs_read(arena, catalogue, files ? option_positional(options, i) : shipped[i], &runs, problems);
    if (!readable) return EXIT_INPUT;
    const char *family = option_text(options, "family", NULL);
    if (option_flag(options, "cross") && option_flag(options, "anchored")) {
        problem_add(problems, (Where){0}, "--cross and --anchored are two different questions");
        return EXIT_USAGE;
    }
    if (keep_family(&runs, family) == 0) {
        problem_add(problems, (Where){0}, "no family's name contains \"%s\"", family ? family : "");
        problem_hint(problems, "without --family the table names them all");
        return EXIT_INPUT;
    }

    PredictedRun *predicted = predict_all(arena, catalogue, &runs);
    bool cross = option_flag(options, "cross");
    CrossFit fit = cross ? cross_fit(arena, predicted, runs.count) : (CrossFit){.fitted_count = 0};
    const double *factors = cross                              ? fit.factors
                            : option_flag(options, "anchored") ? anchor(arena, predicted, runs.count)
                                                               : NULL;
    const char *rows = option_text(options, "rows", NULL);
    if (rows && !write_training_rows(arena, rows, predicted, runs.count, factors, problems)) return 1;
    Scores scores = score_runs(arena, predicted, runs.count, factors);
    if (option_flag(options, "csv"))
        print_rows_csv(predicted, runs.count, factors);
    else if (option_flag(options, "json"))
        print_scores_json(arena, &scores, predicted, runs.count);
    else
        print_text(arena, options, &scores, predicted, runs.count, factors);
    if (cross && !option_flag(options, "csv") && !option_flag(options, "json")) print_factors(&fit);
    return 0;
}

int validate_training(int argc, char **argv) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    int code = EXIT_USAGE;
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        code = 0;
    } else if (problem_count(problems) == 0) {
        code = validate(arena, options, problems);
    }
    problems_print(problems, stderr);
    arena_close(arena);
    return code;
}
