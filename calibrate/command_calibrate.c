// lockstep calibrate fit: from measured GEMMs to the constants of the GPUs, as a table and as a profile.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/command_calibrate.h"
#include "calibrate/fit_gemm.h"
#include "sim/file.h"
#include "sim/json.h"
#include "sim/options.h"

#define EXIT_USAGE 2
#define EXIT_INPUT 4

static const OptionSpec specs[] = {
    {.name = "gemm",
     .kind = OPTION_TEXT,
     .metavar = "FILE.csv",
     .help = "measured GEMMs: columns gpu, dtype, op, batch, M, N, K, latency_ms"},
    {.name = "output",
     .kind = OPTION_TEXT,
     .metavar = "FILE.json",
     .letter = 'o',
     .help = "write the constants as a profile (for --profile)"},
    {.name = "seed", .kind = OPTION_COUNT, .metavar = "N", .help = "which shapes are held out (default 1)"},
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of a table"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

static const char usage[] = "lockstep calibrate fit --gemm FILE.csv [-o PROFILE.json] [--seed N] [--json]";
static const char about[] = "Fits e_c (share of the peak in large GEMMs), e_b (share of the memory bandwidth) and the "
                            "launch time of each GPU, and the\n"
                            "constants that all share, to measured GEMMs. Errors are on shapes that the fit had not "
                            "seen; values are from all of them.";

static void print_table(const GemmData *data, const GemmFit *fit) {
    printf("%-18s %-5s %5s  %-14s %-14s %-16s %7s %7s %7s\n", "GPU", "type", "rows", "e_c", "e_b", "launch us",
           "median", "p90", "bias");
    bool harness = false;
    for (int i = 0; i < fit->group_count; i++) {
        const GroupFit *group = &fit->groups[i];
        bool is_harness = group->launch_seconds.value >= HARNESS_LAUNCH_SECONDS;
        harness |= is_harness;
        printf("%-18s %-5s %5d  %.3f ± %-6.3f %.3f ± %-6.3f %5.1f ± %-4.1f%s  %5.1f %% %5.1f %% %+5.1f %%\n",
               group->gpu->name, precision_name(group->precision), group->count, group->compute_efficiency.value,
               group->compute_efficiency.value * group->compute_efficiency.sigma, group->memory_efficiency.value,
               group->memory_efficiency.value * group->memory_efficiency.sigma, 1e6 * group->launch_seconds.value,
               1e6 * group->launch_seconds.value * group->launch_seconds.sigma, is_harness ? " *" : "  ",
               100 * group->median_error, 100 * group->p90_error, 100 * group->bias);
    }
    printf("shared: K0 %.0f ± %.0f elements, wave weight %.2f ± %.2f, sharpness q %.2f ± %.2f\n", fit->ramp.value,
           fit->ramp.value * fit->ramp.sigma, fit->wave_weight.value, fit->wave_weight.value * fit->wave_weight.sigma,
           fit->sharpness.value, fit->sharpness.value * fit->sharpness.sigma);
    printf("errors: |predicted / measured - 1| on the half of the shapes that was held out; ± is one sigma\n");
    if (harness) printf("* a launch of the measuring program: fitted, but not the GPU's\n");
    printf("%d rows used; left out: %d best shapes of a search, %d of GPUs not in the catalogue%s%s%s, %d in groups "
           "below 8\n",
           data->used, data->best_shapes, data->unknown_gpus, data->unknown_names ? " (" : "",
           data->unknown_names ? data->unknown_names : "", data->unknown_names ? ")" : "", data->too_few);
}

static void write_estimate(JsonWriter *json, const char *key, Estimate estimate) {
    json_key(json, key);
    json_begin_object(json);
    json_key(json, "value");
    json_write_number(json, estimate.value);
    json_key(json, "sigma");
    json_write_number(json, estimate.value * estimate.sigma);
    json_end_object(json);
}

static void write_number(JsonWriter *json, const char *key, double number) {
    json_key(json, key);
    json_write_number(json, number);
}

static void print_json(const GemmData *data, const GemmFit *fit) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    write_number(&json, "format_version", 1);
    write_number(&json, "rows_used", data->used);
    write_estimate(&json, "gemm_ramp", fit->ramp);
    write_estimate(&json, "wave_weight", fit->wave_weight);
    write_estimate(&json, "roofline_sharpness", fit->sharpness);
    json_key(&json, "groups");
    json_begin_list(&json);
    for (int i = 0; i < fit->group_count; i++) {
        const GroupFit *group = &fit->groups[i];
        json_begin_object(&json);
        json_key(&json, "gpu");
        json_write_text(&json, group->gpu->name);
        json_key(&json, "precision");
        json_write_text(&json, precision_name(group->precision));
        write_number(&json, "rows", group->count);
        write_number(&json, "rows_held_out", group->held_out);
        write_estimate(&json, "gemm_efficiency", group->compute_efficiency);
        write_estimate(&json, "memory_efficiency", group->memory_efficiency);
        write_estimate(&json, "launch_s", group->launch_seconds);
        write_number(&json, "median_error_pct", 100 * group->median_error);
        write_number(&json, "p90_error_pct", 100 * group->p90_error);
        write_number(&json, "bias_pct", 100 * group->bias);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

// ---- The profile: a file of parts like the catalogue's own, changed where the fit says so.

static double rounded(double value) { return round(value * 1e4) / 1e4; }

static void write_fact(JsonWriter *json, const char *key, Estimate estimate, const char *text, const char *source) {
    json_key(json, key);
    json_begin_list(json);
    if (text)
        json_write_text(json, text);
    else
        json_write_number(json, rounded(estimate.value));
    json_write_text(json, "fitted");
    json_write_text(json, source);
    json_write_number(json, rounded(estimate.sigma));
    json_end_list(json);
}

// Of a GPU's groups, the one whose timing is closest to the device: the shortest launch.
static bool is_best_timed(const GemmFit *fit, int index) {
    for (int i = 0; i < fit->group_count; i++)
        if (fit->groups[i].gpu == fit->groups[index].gpu &&
            fit->groups[i].launch_seconds.value < fit->groups[index].launch_seconds.value)
            return false;
    return true;
}

static void write_gpu(Arena *arena, JsonWriter *json, const GemmFit *fit, const Gpu *gpu, const char *file) {
    json_begin_object(json);
    json_key(json, "name");
    json_write_text(json, gpu->name);
    json_key(json, "like");
    json_write_text(json, gpu->name);
    for (int i = 0; i < fit->group_count; i++) {
        const GroupFit *group = &fit->groups[i];
        if (group->gpu != gpu) continue;
        const char *source =
            arena_printf(arena, "lockstep calibrate fit on %s, %d GEMMs, held-out error %.1f %% median", file,
                         group->count, 100 * group->median_error);
        write_fact(json, arena_printf(arena, "gemm_efficiency_%s", precision_name(group->precision)),
                   group->compute_efficiency, NULL, source);
        // Memory-bound GEMMs are the short ones, so a long launch in the timing hides the memory too.
        if (!is_best_timed(fit, i) || group->launch_seconds.value >= HARNESS_LAUNCH_SECONDS) continue;
        write_fact(json, "memory_efficiency", group->memory_efficiency, NULL, source);
        write_fact(json, "launch_time", group->launch_seconds,
                   arena_printf(arena, "%.2f us", 1e6 * group->launch_seconds.value), source);
    }
    const char *source = arena_printf(arena, "lockstep calibrate fit on %s, shared by all its GPUs", file);
    write_fact(json, "gemm_ramp", fit->ramp, NULL, source);
    write_fact(json, "wave_weight", fit->wave_weight, NULL, source);
    write_fact(json, "roofline_sharpness", fit->sharpness, NULL, source);
    json_end_object(json);
}

static bool write_profile(Arena *arena, const GemmFit *fit, const char *gemm_path, const char *path,
                          Problems *problems) {
    OutputFile file;
    if (!file_create(arena, path, &file, problems)) return false;
    const char *slash = strrchr(gemm_path, '/'), *name = slash ? slash + 1 : gemm_path;
    JsonWriter json = json_writer(file.stream, 2);
    json_begin_object(&json);
    json_key(&json, "format");
    json_write_text(&json, "lockstep-hardware");
    write_number(&json, "format_version", 1);
    json_key(&json, "gpus");
    json_begin_list(&json);
    for (int i = 0; i < fit->group_count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++) seen |= fit->groups[j].gpu == fit->groups[i].gpu;
        if (!seen) write_gpu(arena, &json, fit, fit->groups[i].gpu, name);
    }
    json_end_list(&json);
    json_end_object(&json);
    fprintf(file.stream, "\n");
    return file_commit(&file, problems);
}

// ---- The command.

static int fit_command(Arena *arena, const Options *options, Problems *problems) {
    const char *gemm = option_text(options, "gemm", NULL), *output = option_text(options, "output", NULL);
    const GemmData *data = gemm_data_read(arena, catalogue_builtin(arena), gemm, problems);
    if (!data) return EXIT_INPUT;
    GemmFit fit = gemm_fit(arena, data, (uint64_t)option_count(options, "seed", 1));
    if (option_flag(options, "json"))
        print_json(data, &fit);
    else
        print_table(data, &fit);
    return !output || write_profile(arena, &fit, gemm, output, problems) ? 0 : 1;
}

static int run(Arena *arena, int argc, char **argv, Problems *problems) {
    bool wants_help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (!wants_help && (argc < 2 || strcmp(argv[1], "fit") != 0)) {
        problem_add(problems, (Where){0}, argc < 2 ? "calibrate what?" : "calibrate has no command \"%s\"",
                    argc < 2 ? "" : argv[1]);
        problem_hint(problems, "usage: %s", usage);
        return EXIT_USAGE;
    }
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc - 1, argv + 1, problems);
    if (wants_help || option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        return 0;
    }
    options_refuse_positional(options, 0, problems);
    if (problem_count(problems) == 0 && !option_given(options, "gemm")) {
        problem_add(problems, (Where){0}, "no measurements to fit");
        problem_hint(problems, "usage: %s", usage);
    }
    return problem_count(problems) > 0 ? EXIT_USAGE : fit_command(arena, options, problems);
}

int command_calibrate(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "network") == 0) return command_calibrate_network(argc - 1, argv + 1);
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int code = run(arena, argc, argv, problems);
    problems_print(problems, stderr);
    arena_close(arena);
    return code;
}
