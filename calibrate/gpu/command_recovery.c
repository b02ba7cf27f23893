// lockstep calibrate recovery: measurements are generated from known constants with known noise and fitted, many
// times. A valid 95 % interval contains the true value in 95 % of the trials.
#include <math.h>

#include "calibrate/gpu/bench/bench.h"
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/recovery.h"
#include "results/answer/frame.h"

static const OptionSpec specs[] = {
    {.name = "trials", .kind = OPTION_COUNT, .metavar = "N", .help = "how many (default 200)"},
    {.name = "noise",
     .kind = OPTION_QUANTITY,
     .quantity = QUANTITY_NUMBER,
     .metavar = "SHARE",
     .help = "standard deviation of a time's logarithm (default 0.03)"},
    {.name = "gpu", .kind = OPTION_TEXT, .metavar = "NAME", .help = "the GPU to start from (default H100)"},
    {.name = "seed", .kind = OPTION_SEED, .metavar = "N", .help = "(default 1)"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))
static const char usage[] = "lockstep calibrate recovery [--trials N] [--noise SHARE] [--gpu NAME] [--seed N]";
static const char about[] =
    "Makes measurements up from constants that are drawn anew in each trial, on the shapes that "
    "lockstep-bench measures,\nfits them, and counts how often each 95 % interval holds the "
    "truth.";

static double per_identified(const RecoveryRow *row, double sum) {
    return row->identified ? sum / row->identified : NAN;
}

static void fill(Answer *answer, Arena *arena, const Gpu *gpu, const Recovery *recovery, int trials, double noise) {
    static const AnswerColumn columns[] = {{"name", "constant", AS_TEXT, 0},
                                           {"trials_identified", "identified", AS_WHOLE, 1},
                                           {"trials_inside_95", "in 95 % int.", AS_WHOLE, 0},
                                           {"coverage_pct", "coverage", AS_NUMBER, 0},
                                           {"mean_error_pct", "mean error", AS_NUMBER, 0}};
    answer_say(answer, NULL, "%s, %d made-up measurements with %.1f %% noise, %d trial%s.", gpu->name, recovery->rows,
               100 * noise, trials, trials == 1 ? "" : "s");
    answer_text(answer, "gpu", NULL, gpu->name);
    answer_number(answer, "rows", NULL, AS_WHOLE, recovery->rows);
    answer_number(answer, "noise", NULL, AS_NUMBER, noise);
    answer_number(answer, "trials", NULL, AS_WHOLE, trials);
    answer_table(answer, "constants", NULL, COLUMNS(columns));
    for (int p = 0; p < recovery->count; p++) {
        const RecoveryRow *row = &recovery->parameters[p];
        ANSWER_ROW(answer, arena_copy_text(arena, row->key), row->identified, row->held,
                   per_identified(row, 100.0 * row->held), per_identified(row, 100 * row->error));
    }
    answer_note(answer, "Coverage and mean error in percent, of the trials that identify the constant.");
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    Problems *problems = asking->problems;
    const Catalogue *catalogue = catalogue_builtin(asking->arena);
    const Gpu *gpu = find_gpu(asking->arena, catalogue, option_text(options, "gpu", "H100"), (Where){0}, problems);
    int trials = option_count_within(options, "trials", 200, 1, 100000, problems);
    double noise = option_within(options, "noise", 0.03, 1e-6, 0.5, problems);
    if (problem_count(problems) > 0) return EXIT_USAGE;
    Recovery recovery = recovery_run(catalogue, gpu, trials, noise, option_seed(options, "seed", 1));
    fill(asking->answer, asking->arena, gpu, &recovery, trials, noise);
    return EXIT_DONE;
}

int calibrate_recovery(int argc, char **argv) {
    static const Question question = {.name = "calibrate-recovery",
                                      .usage = usage,
                                      .about = about,
                                      .own = specs,
                                      .own_count = SPEC_COUNT,
                                      .ask = ask};
    return frame_run(&question, argc, argv);
}
