// lockstep calibrate recovery: measurements are made up from known constants with known noise and fitted, many times.
// A 95 % interval that is worth its name holds the truth in 95 % of the trials.
#include <math.h>
#include <stdio.h>

#include "calibrate/gpu/bench/bench.h"
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/recovery.h"
#include "sim/data/envelope.h"

static const OptionSpec specs[] = {
    {.name = "trials", .kind = OPTION_COUNT, .metavar = "N", .help = "how many (default 200)"},
    {.name = "noise",
     .kind = OPTION_QUANTITY,
     .quantity = QUANTITY_NUMBER,
     .metavar = "SHARE",
     .help = "standard deviation of a time's logarithm (default 0.03)"},
    {.name = "gpu", .kind = OPTION_TEXT, .metavar = "NAME", .help = "the GPU to start from (default H100)"},
    {.name = "seed", .kind = OPTION_SEED, .metavar = "N", .help = "(default 1)"},
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of a table"},
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

static void print_json(const Gpu *gpu, const Recovery *recovery, int trials, double noise) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "calibrate-recovery");
    json_text_member(&json, "gpu", gpu->name);
    json_integer_member(&json, "rows", recovery->rows);
    json_number_member(&json, "noise", noise);
    json_integer_member(&json, "trials", trials);
    json_key(&json, "constants");
    json_begin_list(&json);
    for (int p = 0; p < recovery->count; p++) {
        const RecoveryRow *row = &recovery->parameters[p];
        json_begin_object(&json);
        json_text_member(&json, "name", row->key);
        json_integer_member(&json, "trials_identified", row->identified);
        json_integer_member(&json, "trials_inside_95", row->held);
        json_number_member(&json, "coverage_pct", per_identified(row, 100.0 * row->held));
        json_number_member(&json, "mean_error_pct", per_identified(row, 100 * row->error));
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

static void print_table(const Gpu *gpu, const Recovery *recovery, int trials, double noise) {
    printf("%s, %d made-up measurements with %.1f %% noise, %d trials\n\n", gpu->name, recovery->rows, 100 * noise,
           trials);
    printf("  %-22s %10s %12s %10s %12s\n", "constant", "identified", "in 95 % int.", "coverage", "mean error");
    for (int p = 0; p < recovery->count; p++) {
        const RecoveryRow *row = &recovery->parameters[p];
        printf("  %-22s %10d %12d %8.1f %% %+10.2f %%\n", row->key, row->identified, row->held,
               row->identified ? 100.0 * row->held / row->identified : 0.0,
               row->identified ? 100 * row->error / row->identified : 0.0);
    }
}

int calibrate_recovery(Arena *arena, int argc, char **argv, Problems *problems) {
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        return 0;
    }
    options_refuse_positional(options, 0, problems);
    const Catalogue *catalogue = catalogue_builtin(arena);
    const Gpu *gpu = find_gpu(arena, catalogue, option_text(options, "gpu", "H100"), (Where){0}, problems);
    int64_t trials = option_count(options, "trials", 200);
    double noise = option_quantity(options, "noise", 0.03);
    if (trials < 1 || trials > 100000) problem_add(problems, (Where){0}, "--trials lies between 1 and 100,000");
    if (!(noise > 0 && noise <= 0.5)) problem_add(problems, (Where){0}, "--noise lies between 0 and 0.5");
    if (problem_count(problems) > 0) return 2;
    Recovery recovery = recovery_run(catalogue, gpu, (int)trials, noise, option_seed(options, "seed", 1));
    if (option_flag(options, "json"))
        print_json(gpu, &recovery, (int)trials, noise);
    else
        print_table(gpu, &recovery, (int)trials, noise);
    return 0;
}
