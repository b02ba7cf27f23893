// lockstep calibrate: its subcommands, of which show and recovery stand here.
#include "calibrate/gpu/command_calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/gpu/fit/fit.h"
#include "results/answer/frame.h"
#include "sim/system/file.h"
#include "sim/system/process.h"

// ---- lockstep calibrate recovery: measurements are generated from known constants with known noise and fitted, many
// times. A valid 95 % interval contains the true value in 95 % of the trials.

static const OptionSpec specs[] = {
    {"trials", OPTION_COUNT, "N", .help = "how many (default 200)"},
    {"noise", OPTION_QUANTITY, "SHARE", .help = "standard deviation of a time's logarithm (default 0.03)",
     .quantity = QUANTITY_NUMBER},
    {"gpu", OPTION_TEXT, "NAME", .help = "the GPU to start from (default H100)"},
    {"seed", OPTION_SEED, "N", .help = "(default 1)"},
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

static const Question calibrate_recovery_question = {
    .name = "calibrate-recovery", .usage = usage, .about = about, .own = specs, .own_count = SPEC_COUNT, .ask = ask};

// ---- lockstep calibrate show: measured and predicted times, as a table and as a plot through gnuplot.

static const OptionSpec show_specs[] = {
    {"profile", OPTION_TEXT, "FILE.json", .help = "predict with this profile (default: the catalogue)"},
    {"gpu", OPTION_TEXT, "NAME", .help = "which GPU was measured (default: as the file says)"},
    {"output", OPTION_TEXT, "FILE.svg|png", .help = "draw measured against predicted into a file (needs gnuplot)",
     .letter = 'o'},
    {"rows", OPTION_COUNT, "N", .help = "how many of the worst rows to list (default 10)"},
};
static const char show_usage[] = "lockstep calibrate show MEASUREMENTS.json [--profile PROFILE.json] [-o PLOT.svg]";
static const char show_about[] = "Compares what was measured with what the constants in use predict for it.";

static double distance(const Gpu *gpu, const Measured *row) {
    return fabs(log(measured_prediction(gpu, row) / row->seconds));
}

// ---- The answer.

static const AnswerColumn row_columns[] = {{"name", "furthest off", AS_TEXT, 0},
                                           {"measured_us", "measured us", AS_NUMBER, 0},
                                           {"predicted_us", "predicted us", AS_NUMBER, 0},
                                           {"error_pct", "error %", AS_NUMBER, 0}};

static void add_row(Answer *answer, Arena *arena, const Gpu *gpu, const Measured *row) {
    double predicted = measured_prediction(gpu, row);
    ANSWER_ROW(answer, measured_name(arena, row), answer_of(AS_NUMBER, 1e6 * row->seconds),
               answer_of(AS_NUMBER, 1e6 * predicted), answer_of(AS_NUMBER, 100 * (predicted / row->seconds - 1)));
}

// The worst rows, by repeated selection: the list is short.
static void add_worst(Answer *answer, Arena *arena, const MeasuredFile *file, int most) {
    bool *shown = ARENA_ARRAY(arena, bool, file->count + 1);
    answer_table(answer, NULL, NULL, COLUMNS(row_columns));
    for (int n = 0; n < most && n < file->count; n++) {
        int worst = -1;
        for (int i = 0; i < file->count; i++)
            if (!shown[i] &&
                (worst < 0 || distance(file->gpu, &file->rows[i]) > distance(file->gpu, &file->rows[worst])))
                worst = i;
        shown[worst] = true;
        add_row(answer, arena, file->gpu, &file->rows[worst]);
    }
    answer_first_rows(answer, 4);
}

static void show_fill(Answer *answer, Arena *arena, const char *profile, const MeasuredFile *file,
                      const OperationError *errors, int count, int most) {
    answer_say(answer, NULL, "%s, %s: %d measurements; %d of what no constant here describes, %d skipped, %d failed.",
               file->gpu->name, profile ? profile : "the catalogue's constants", file->count, file->other,
               file->skipped, file->failed);
    answer_text(answer, "gpu", NULL, file->gpu->name);
    answer_text(answer, "profile", NULL, profile);
    answer_number(answer, "rows_used", NULL, AS_WHOLE, file->count);
    answer_number(answer, "rows_of_no_constant", NULL, AS_WHOLE, file->other);
    answer_number(answer, "rows_skipped", NULL, AS_WHOLE, file->skipped);
    answer_number(answer, "rows_failed", NULL, AS_WHOLE, file->failed);
    calibrate_add_errors(answer, "operations", NULL, errors, count);
    answer_first_rows(answer, 6);
    add_worst(answer, arena, file, most);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_PROGRAMS);
    answer_table(answer, "rows", NULL, COLUMNS(row_columns));
    for (int i = 0; i < file->count; i++) add_row(answer, arena, file->gpu, &file->rows[i]);
    answer_close(answer);
}

// ---- The plot. Names of operations are our own words of letters and digits, or they are left out of the key.

static bool is_plain(const char *name) {
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ")] == '\0';
}

static void write_script(FILE *script, const Gpu *gpu, const MeasuredFile *file, const OperationError *operations,
                         int count, bool is_png) {
    fprintf(script, "set terminal %s\n", is_png ? "pngcairo size 900,700" : "svg size 900,700 background 'white'");
    fputs("set logscale xy\nset key left top\nset grid\nset xlabel 'measured, us'\nset ylabel 'predicted, us'\n",
          script);
    for (int o = 0; o < count; o++) {
        fprintf(script, "$points%d << LOCKSTEP_END\n", o);
        for (int i = 0; i < file->count; i++)
            if (strcmp(file->rows[i].operation, operations[o].operation) == 0)
                fprintf(script, "%.9g %.9g\n", 1e6 * file->rows[i].seconds,
                        1e6 * measured_prediction(gpu, &file->rows[i]));
        fputs("LOCKSTEP_END\n", script);
    }
    fputs("plot x with lines lc rgb '#888888' title 'equal'", script);
    for (int o = 0; o < count; o++)
        fprintf(script, ", $points%d with points pt 7 ps 0.5 title '%s'", o,
                is_plain(operations[o].operation) ? operations[o].operation : "other");
    fputs("\n", script);
}

static bool draw(Arena *arena, FILE *script, const char *path, Problems *problems) {
    char name[] = "gnuplot", plain[] = "-d", *arguments[] = {name, plain, NULL};
    OutputFile image;
    if (!file_create_bytes(arena, path, &image, problems)) return false;
    OtherEnd end = OTHER_NOT_STARTED;
    if (fflush(script) == 0) {
        rewind(script);
        end = other_program_run(arguments, fileno(script), fileno(image.stream), STDERR_FILENO);
    }
    if (end == OTHER_ENDED_WELL) return file_commit(&image, problems);
    int why = errno;
    file_abandon(&image);
    if (end == OTHER_NOT_STARTED)
        problem_add(problems, (Where){path, 0}, "gnuplot could not be started: %s", strerror(why));
    else
        problem_add(problems, (Where){path, 0}, "%s",
                    end == OTHER_MISSING ? "the program gnuplot is not installed"
                    : end == OTHER_STUCK ? "gnuplot did nothing, or worked, for too long and was ended"
                                         : "gnuplot could not draw the plot");
    if (end == OTHER_MISSING) problem_hint(problems, "install it with: apt-get install gnuplot-nox");
    return false;
}

static bool plot(Arena *arena, const Gpu *gpu, const MeasuredFile *file, const OperationError *operations, int count,
                 const char *path, Problems *problems) {
    const char *dot = strrchr(path, '.');
    bool is_png = dot && strcmp(dot, ".png") == 0;
    if (!is_png && !(dot && strcmp(dot, ".svg") == 0))
        return problem_add(problems, (Where){0}, "-o %s: a plot ends in .svg or .png", path);
    FILE *script = tmpfile();
    if (!script) return problem_add(problems, (Where){0}, "no temporary file: %s", strerror(errno));
    write_script(script, gpu, file, operations, count, is_png);
    bool ok = draw(arena, script, path, problems);
    fclose(script);
    return ok;
}

// ---- The question.

// Channels among virtual ranks are left out: profiles have no constants for them, `calibrate fit` reports them.
static const MeasuredFile *without_channels(Arena *arena, const MeasuredFile *all) {
    MeasuredFile *file = ARENA_NEW(arena, MeasuredFile);
    *file = *all;
    file->rows = ARENA_ARRAY(arena, Measured, all->count + 1);
    file->count = 0;
    for (int i = 0; i < all->count; i++)
        if (all->rows[i].kind != MEASURED_CHANNEL) file->rows[file->count++] = all->rows[i];
    file->other += all->count - file->count;
    return file;
}

static int show_ask(Asking *asking) {
    Arena *arena = asking->arena;
    const Options *options = asking->options;
    const char *profile = option_text(options, "profile", NULL), *output = option_text(options, "output", NULL);
    if (option_positional_count(options) == 0) {
        problem_add(asking->problems, (Where){0}, "which measurements?");
        problem_hint(asking->problems, "usage: %s", show_usage);
        return EXIT_USAGE;
    }
    const Catalogue *catalogue = catalogue_with_profile(arena, profile, asking->problems);
    const MeasuredFile *all = catalogue ? measured_read(arena, catalogue, option_positional(options, 0),
                                                        option_text(options, "gpu", NULL), asking->problems)
                                        : NULL;
    if (!all) return EXIT_BAD_INPUT;
    const MeasuredFile *file = without_channels(arena, all);
    if (file->count == 0) {
        problem_add(asking->problems, (Where){file->path, 0},
                    "no measurement here is of what a profile's constants describe");
        return EXIT_BAD_INPUT;
    }
    int count;
    Constants constants = {*file->gpu, block_channel_usual()};
    OperationError *errors = device_errors(arena, &constants, file->rows, file->count, &count);
    show_fill(asking->answer, arena, profile, file, errors, count, (int)option_count(options, "rows", 10));
    DeviceFit fit = device_fit(arena, catalogue, file->gpu, file->rows, file->count, 1, false);
    calibrate_add_advice(asking->answer, arena, &fit);
    if (output && !plot(arena, file->gpu, file, errors, count, output, asking->problems)) return EXIT_FAILED;
    return EXIT_DONE;
}

static const Question calibrate_show_question = {.name = "calibrate-show",
                                                 .usage = show_usage,
                                                 .about = show_about,
                                                 .own = show_specs,
                                                 .own_count = SPEC_COUNT,
                                                 .positional = 1,
                                                 .ask = show_ask};

// ---- lockstep calibrate: the table of its subcommands.

static int calibrate_run(int argc, char **argv) { return bench_command(NULL, NULL, argc, argv); }

static const FrameCommand commands[] = {
    {"run", "measures this machine's GPUs by lockstep-bench; --dry-run: what, and for how long", .run = calibrate_run},
    {"import", "measurements of other programs as JSON lines", .question = &calibrate_import_question},
    {"fit", "from measurements to a profile with uncertainties", .question = &calibrate_fit_question},
    {"show", "measured against predicted, as text and as a plot", .question = &calibrate_show_question},
    {"recovery", "fits made-up measurements: do the intervals hold the truth?",
     .question = &calibrate_recovery_question},
    {"network", "collectives of real TCP against their simulation (make netbox)",
     .question = &calibrate_network_question},
};

int command_calibrate(int argc, char **argv) {
    return frame_choose(commands, sizeof commands / sizeof *commands,
                        "On a machine with GPUs: make cuda, then lockstep calibrate run -o measured.json, then\n"
                        "lockstep calibrate fit measured.json -o profile.json. docs/calibrate.md tells the whole way.",
                        argc, argv);
}
