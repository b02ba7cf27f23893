// lockstep calibrate show: measured against predicted, as a table and as a plot through gnuplot.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/fit_device.h"
#include "sim/data/envelope.h"
#include "sim/system/file.h"
#include "sim/system/other_program.h"

static const OptionSpec specs[] = {
    {.name = "profile",
     .kind = OPTION_TEXT,
     .metavar = "FILE.json",
     .help = "predict with this profile (default: the catalogue)"},
    {.name = "gpu",
     .kind = OPTION_TEXT,
     .metavar = "NAME",
     .help = "which GPU was measured (default: as the file says)"},
    {.name = "output",
     .kind = OPTION_TEXT,
     .metavar = "FILE.svg|png",
     .letter = 'o',
     .help = "draw measured against predicted into a file (needs gnuplot)"},
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of tables"},
    {.name = "rows", .kind = OPTION_COUNT, .metavar = "N", .help = "how many of the worst rows to list (default 10)"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))
static const char usage[] = "lockstep calibrate show MEASUREMENTS.json [--profile PROFILE.json] [-o PLOT.svg]";
static const char about[] = "Compares what was measured with what the constants in use predict for it.";

// ---- Text.

static void print_errors(const OperationError *errors, int count) {
    printf("%-24s %5s %8s %8s %8s\n", "operation", "rows", "median", "p90", "bias");
    for (int i = 0; i < count; i++)
        printf("%-24s %5d %6.1f %% %6.1f %% %+6.1f %%\n", errors[i].operation, errors[i].count, 100 * errors[i].median,
               100 * errors[i].p90, 100 * errors[i].bias);
}

static double distance(const Gpu *gpu, const Measured *row) {
    return fabs(log(measured_prediction(gpu, row) / row->seconds));
}

// The worst rows, by repeated selection: the list is short.
static void print_worst(Arena *arena, const Gpu *gpu, const MeasuredFile *file, int most) {
    bool *shown = ARENA_ARRAY(arena, bool, file->count + 1);
    printf("\n%-50s %12s %12s %9s\n", "furthest off", "measured us", "predicted us", "error");
    for (int n = 0; n < most && n < file->count; n++) {
        int worst = -1;
        for (int i = 0; i < file->count; i++)
            if (!shown[i] && (worst < 0 || distance(gpu, &file->rows[i]) > distance(gpu, &file->rows[worst])))
                worst = i;
        const Measured *row = &file->rows[worst];
        double predicted = measured_prediction(gpu, row);
        shown[worst] = true;
        printf("%-50s %12.2f %12.2f %+7.1f %%\n", measured_name(arena, row), 1e6 * row->seconds, 1e6 * predicted,
               100 * (predicted / row->seconds - 1));
    }
}

// ---- JSON.

static void print_json(Arena *arena, const char *profile, const MeasuredFile *file, const OperationError *errors,
                       int count) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "calibrate-show");
    json_text_member(&json, "gpu", file->gpu->name);
    json_text_member(&json, "profile", profile);
    json_integer_member(&json, "rows_used", file->count);
    json_integer_member(&json, "rows_of_no_constant", file->other);
    json_integer_member(&json, "rows_skipped", file->skipped);
    json_integer_member(&json, "rows_failed", file->failed);
    json_key(&json, "operations");
    json_begin_list(&json);
    for (int i = 0; i < count; i++) {
        json_begin_object(&json);
        json_text_member(&json, "operation", errors[i].operation);
        json_integer_member(&json, "rows", errors[i].count);
        json_number_member(&json, "median_error_pct", 100 * errors[i].median);
        json_number_member(&json, "p90_error_pct", 100 * errors[i].p90);
        json_number_member(&json, "bias_pct", 100 * errors[i].bias);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_key(&json, "rows");
    json_begin_list(&json);
    for (int i = 0; i < file->count; i++) {
        const Measured *row = &file->rows[i];
        double predicted = measured_prediction(file->gpu, row);
        json_begin_object(&json);
        json_text_member(&json, "name", measured_name(arena, row));
        json_number_member(&json, "measured_us", 1e6 * row->seconds);
        json_number_member(&json, "predicted_us", 1e6 * predicted);
        json_number_member(&json, "error_pct", 100 * (predicted / row->seconds - 1));
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
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
    if (!is_png && !(dot && strcmp(dot, ".svg") == 0)) {
        problem_add(problems, (Where){0}, "-o %s: a plot ends in .svg or .png", path);
        return false;
    }
    FILE *script = tmpfile();
    if (!script) {
        problem_add(problems, (Where){0}, "no temporary file: %s", strerror(errno));
        return false;
    }
    write_script(script, gpu, file, operations, count, is_png);
    bool ok = draw(arena, script, path, problems);
    fclose(script);
    return ok;
}

// ---- The command.

// No profile has constants of channels among virtual ranks: `calibrate fit` tells them.
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

static void print_text(Arena *arena, const Catalogue *catalogue, const Options *options, const MeasuredFile *file,
                       const OperationError *errors, int count) {
    const char *profile = option_text(options, "profile", NULL);
    printf("%s, %s: %d measurements; %d of what no constant here describes, %d skipped, %d failed\n\n", file->gpu->name,
           profile ? profile : "the catalogue's constants", file->count, file->other, file->skipped, file->failed);
    print_errors(errors, count);
    print_worst(arena, file->gpu, file, (int)option_count(options, "rows", 10));
    DeviceFit fit = device_fit(arena, catalogue, file->gpu, file->rows, file->count, 1, false);
    print_advice(arena, &fit);
}

static int show(Arena *arena, const Options *options, Problems *problems) {
    const char *profile = option_text(options, "profile", NULL), *output = option_text(options, "output", NULL);
    const Catalogue *catalogue = catalogue_with_profile(arena, profile, problems);
    if (!catalogue) return 4;
    const MeasuredFile *all =
        measured_read(arena, catalogue, option_positional(options, 0), option_text(options, "gpu", NULL), problems);
    if (!all) return 4;
    const MeasuredFile *file = without_channels(arena, all);
    if (file->count == 0) {
        problem_add(problems, (Where){file->path, 0}, "no measurement here is of what a profile's constants describe");
        return 4;
    }
    int count;
    Constants constants = {*file->gpu, block_channel_usual()};
    OperationError *errors = device_errors(arena, &constants, file->rows, file->count, &count);
    if (option_flag(options, "json"))
        print_json(arena, profile, file, errors, count);
    else
        print_text(arena, catalogue, options, file, errors, count);
    return !output || plot(arena, file->gpu, file, errors, count, output, problems) ? 0 : 1;
}

int calibrate_show(Arena *arena, int argc, char **argv, Problems *problems) {
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        return 0;
    }
    options_refuse_positional(options, 1, problems);
    if (problem_count(problems) == 0 && option_positional_count(options) == 0) {
        problem_add(problems, (Where){0}, "which measurements?");
        problem_hint(problems, "usage: %s", usage);
    }
    return problem_count(problems) > 0 ? 2 : show(arena, options, problems);
}
