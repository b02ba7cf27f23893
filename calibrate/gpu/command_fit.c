// lockstep calibrate fit: from measurements to the constants of the GPUs, as a table and as a profile.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/collectives/fit_logs.h"
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/fit_attention.h"
#include "calibrate/gpu/fit/fit_experts.h"
#include "calibrate/gpu/fit/fit_generations.h"
#include "calibrate/gpu/import.h"
#include "calibrate/gpu/profile.h"
#include "models/network/constants.h"
#include "sim/base/options.h"
#include "sim/data/envelope.h"
#include "sim/data/json.h"
#include "sim/data/kineto.h"

#define EXIT_USAGE 2
#define EXIT_INPUT 4
#define FEWEST_MEASUREMENTS 20
#define FEWEST_IMPORTED 6 // a layer of a transformer, forward and back, has a dozen shapes

static const OptionSpec specs[] = {
    {.name = "gemm",
     .kind = OPTION_TEXT,
     .metavar = "FILE.csv",
     .help = "the same as FILE.csv without a word in front"},
    {.name = "output",
     .kind = OPTION_TEXT,
     .metavar = "FILE.json",
     .letter = 'o',
     .help = "write the constants as a profile (for --profile)"},
    {.name = "gpu",
     .kind = OPTION_TEXT,
     .metavar = "NAME",
     .help = "which GPU was measured (default: as the file says)"},
    {.name = "node",
     .kind = OPTION_TEXT,
     .metavar = "NAME",
     .help = "type of node that logs of nccl-tests were measured on, where they do not say"},
    {.name = "nodes", .kind = OPTION_COUNT, .metavar = "N", .help = "how many of them, where the logs do not say"},
    {.name = "fabric",
     .kind = OPTION_TEXT,
     .metavar = "NAME",
     .help = "the link between them (lockstep hw list fabric)"},
    {.name = "seed", .kind = OPTION_SEED, .metavar = "N", .help = "which shapes are held out (default 1)"},
    {.name = "json", .kind = OPTION_FLAG, .help = "print JSON instead of a table"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

static const char usage[] = "lockstep calibrate fit MEASUREMENTS.json|GEMM.csv|TRACE.json|LOG… [-o PROFILE.json] "
                            "[--node NAME --nodes N --fabric NAME] "
                            "[--seed N] [--json]";
static const char about[] =
    "Fits the constants of a GPU (shares of its peaks and of its memory bandwidth, launch time, and the shape of the\n"
    "roofline) to what lockstep-bench measured on it, or those of many GPUs to a CSV of GEMMs with the columns gpu, "
    "dtype,\n"
    "op, batch, M, N, K, latency_ms. A trace of torch.profiler with record_shapes=True gives its products and the\n"
    "exchanges within its node. Logs of nccl-tests (several of one machine together) give factors on the network\n"
    "model's constants, inside a node and between nodes. Errors held out are on shapes that the fit had not seen; "
    "values are from all of "
    "them.";

// ---- Many GPUs, from a CSV of GEMMs.

static const char *or_dash(Arena *arena, Estimate estimate) {
    return estimate.value > 0 ? arena_printf(arena, "%.2f", estimate.value) : "-";
}

static void print_table(Arena *arena, const GemmData *data, const GemmFit *fit) {
    printf("%-18s %-5s %5s  %-14s %-14s %-5s %-5s %-5s %-16s %7s %7s %7s\n", "GPU", "type", "rows", "e_c", "e_b",
           "long", "as is", "odd", "launch us", "median", "p90", "bias");
    bool harness = false;
    for (int i = 0; i < fit->group_count; i++) {
        const GroupFit *group = &fit->groups[i];
        bool is_harness = group->launch_seconds.value >= HARNESS_LAUNCH_SECONDS;
        harness |= is_harness;
        printf("%-18s %-5s %5d  %.3f ± %-6.3f %.3f ± %-6.3f %-5s %-5s %-5s %5.1f ± %-4.1f%s  %5.1f %% %5.1f %% %+5.1f "
               "%%\n",
               group->gpu->name, precision_name(group->precision), group->count, group->compute_efficiency.value,
               group->compute_efficiency.value * group->compute_efficiency.sigma, group->memory_efficiency.value,
               group->memory_efficiency.value * group->memory_efficiency.sigma, or_dash(arena, group->long_rate),
               or_dash(arena, group->untransposed_gain), or_dash(arena, group->odd_rate),
               1e6 * group->launch_seconds.value, 1e6 * group->launch_seconds.value * group->launch_seconds.sigma,
               is_harness ? " *" : "  ", 100 * group->median_error, 100 * group->p90_error, 100 * group->bias);
    }
    printf("long: share of the rate left to a K far longer than the L2 has room for (AMD: to weights beyond 4 GiB);\n"
           "as is: gain where nothing is transposed; odd: share left to rows of odd length; all but AMD's on vector "
           "units\n");
    printf("shared: K0 %.0f ± %.0f elements, wave weight %.2f ± %.2f, sharpness q %.2f ± %.2f\n", fit->ramp.value,
           fit->ramp.value * fit->ramp.sigma, fit->wave_weight.value, fit->wave_weight.value * fit->wave_weight.sigma,
           fit->sharpness.value, fit->sharpness.value * fit->sharpness.sigma);
    printf("errors: |predicted / measured - 1|, each half of the shapes predicted from the other; ± is one sigma\n");
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
    envelope_write(&json, "calibrate-fit-gemm");
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
        write_estimate(&json, "gemm_efficiency", group->compute_efficiency);
        write_estimate(&json, "memory_efficiency", group->memory_efficiency);
        write_estimate(&json, "launch_s", group->launch_seconds);
        if (group->long_rate.value > 0) write_estimate(&json, "long_gemm_rate", group->long_rate);
        if (group->untransposed_gain.value > 0)
            write_estimate(&json, "untransposed_gemm_gain", group->untransposed_gain);
        if (group->odd_rate.value > 0) write_estimate(&json, "odd_gemm_rate", group->odd_rate);
        write_number(&json, "median_error_pct", 100 * group->median_error);
        write_number(&json, "p90_error_pct", 100 * group->p90_error);
        write_number(&json, "bias_pct", 100 * group->bias);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

// ---- Many types of GPU together, from tables of kernels.

static void print_estimate(Estimate estimate, double scale) {
    printf(" %8.3g ± %-7.2g", estimate.value / scale, estimate.value * estimate.sigma / scale);
}

static void print_kins(const GenerationFit *fit) {
    printf("%-20s %5s %6s %18s %18s %18s %18s\n", "generation", "types", "rows", "wave weight", "heating", "gain of L2",
           "launch in graph us");
    for (int i = 0; i < fit->kin_count; i++) {
        const Kin *kin = &fit->kins[i];
        printf("%-20s %5d %6d", kin->name, kin->gpu_count, kin->count);
        for (int k = 0; k < KIN_CONSTANTS; k++) print_estimate(kin->constants[k], k == KIN_GRAPH_LAUNCH ? 1e-6 : 1);
        printf("\n");
    }
    printf("all: operands per clock and SM");
    print_estimate(fit->feed_bytes, 1);
    printf("B, adding up split parts");
    print_estimate(fit->split_seconds, 1e-6);
    printf("us, spared by quiet operands");
    print_estimate(fit->quiet, 1);
    printf("\n     scaling of 8-bit products");
    print_estimate(fit->scaling_seconds[FP8], 1e-6);
    printf("us, of 4-bit ones");
    print_estimate(fit->scaling_seconds[FP4], 1e-6);
    printf("us\n\n");
}

static void print_generations(const GenerationFit *fit) {
    print_kins(fit);
    printf("%-20s %-5s %s\n", "GPU", "type", "gemm efficiency");
    for (int i = 0; i < fit->type_count; i++) {
        printf("%-20s %-5s", fit->types[i].gpu->name, precision_name(fit->types[i].precision));
        print_estimate(fit->types[i].efficiency, 1);
        printf("\n");
    }
    printf("\n%-20s %-10s %-9s %-8s %5s %8s %8s %8s  %8s %8s %8s\n", "", "", "", "", "", "shapes", "held out", "",
           "its type", "held out", "");
    printf("%-20s %-10s %-9s %-8s %5s %8s %8s %8s  %8s %8s %8s\n", "GPU", "type", "from", "weights", "rows", "median",
           "p90", "bias", "median", "p90", "bias");
    for (int i = 0; i < fit->campaign_count; i++) {
        const Campaign *campaign = &fit->campaigns[i];
        printf("%-20s %-10s %-9s %-8s %5d %6.1f %% %6.1f %% %+6.1f %%  %6.1f %% %6.1f %% %+6.1f %%\n",
               campaign->gpu->name, campaign->dtype, campaign->framework, campaign->weights, campaign->count,
               100 * campaign->median_error, 100 * campaign->p90_error, 100 * campaign->bias,
               100 * campaign->out_median_error, 100 * campaign->out_p90_error, 100 * campaign->out_bias);
    }
    printf("errors: |predicted / measured - 1|; shapes: each half of the pairs of n and k predicted from the other;\n"
           "its type: from no row of this type of GPU; ± is one sigma\n"
           "left out: %d rows of GPUs not in the catalogue, %d of kernels or of casts that tell little of a product\n",
           fit->unknown_gpus, fit->left_out);
}

// ---- Kernels of attention and of experts.

static void print_attention(const AttentionFit *fit) {
    printf("%-8s %-5s %-18s %-22s %5s %14s %8s %9s %8s %6s %6s %8s %8s %8s\n", "family", "type", "kernel", "generation",
           "rows", "share of GEMM", "softmax", "clocks", "start us", "passes", "q", "median", "p90", "bias");
    for (int i = 0; i < fit->count; i++) {
        const AttentionGroup *group = &fit->items[i];
        const FlashKernel *kernel = &group->kernel;
        printf("%-8s %-5s %-18s %-22s %5d  %.3f ± %-6.3f %8.3f %9.0f %8.2f %6.2f %6.2f %6.1f %% %6.1f %% %+6.1f %%\n",
               kernel->family, kernel->dtype, kernel->kernel, kernel->of_servers ? group->architecture : "graphics",
               group->count, kernel->share, kernel->share * group->share_sigma, kernel->softmax, kernel->tile_clocks,
               1e6 * kernel->start_seconds, kernel->passes, kernel->sharpness, 100 * group->median_error,
               100 * group->p90_error, 100 * group->bias);
    }
    printf("errors: |predicted / measured - 1|, each half of the shapes predicted from the other; left out: %d rows\n",
           fit->left_out);
}

static void print_experts(const ExpertsFit *fit) {
    printf("%-10s %-22s %-22s %5s %14s %8s %6s %9s %8s %8s %8s %8s\n", "type", "kernel", "generation", "rows",
           "share of GEMM", "start us", "passes", "expert us", "token ns", "median", "p90", "bias");
    for (int i = 0; i < fit->count; i++) {
        const ExpertsGroup *group = &fit->items[i];
        const GroupedKernel *kernel = &group->kernel;
        printf("%-10s %-22s %-22s %5d  %.3f ± %-6.3f %8.2f %6.2f %9.4f %8.2f %6.1f %% %6.1f %% %+6.1f %%\n",
               kernel->dtype, kernel->kernel, kernel->of_servers ? group->architecture : "graphics", group->count,
               kernel->share, kernel->share * group->share_sigma, 1e6 * kernel->start_seconds, kernel->passes,
               1e6 * kernel->expert_seconds, 1e9 * kernel->token_seconds, 100 * group->median_error,
               100 * group->p90_error, 100 * group->bias);
    }
    printf("errors: |predicted / measured - 1|, each half of the shapes predicted from the other; left out: %d rows\n",
           fit->left_out);
}

// ---- One GPU, from its own measurements.

void print_advice(Arena *arena, const DeviceFit *fit) {
    if (fit->advice[0].stray <= 0) return;
    printf(
        "\nby the uncertainty of these constants alone, predictions of what lockstep-bench measures stray by %.1f %%;\n"
        "one more measurement shrinks that most at:\n",
        100 * fit->stray);
    for (int i = 0; i < ADVICES && fit->advice[i].stray > 0; i++)
        printf("  %s%-44s to %.1f %%\n", i ? "then " : "     ", measured_name(arena, &fit->advice[i].what),
               100 * fit->advice[i].stray);
}

static void print_clocks(const MeasuredFile *file) {
    if (file->large_mhz <= 0) return;
    printf("\nlarge GEMMs ran at %.0f MHz", file->large_mhz);
    if (file->max_mhz > 0) printf(" of %.0f", file->max_mhz);
    printf("; the power cap held %d of %d of them down\n", file->capped_count, file->large_count);
}

static void print_value(const DeviceParameter *parameter) {
    double scale = parameter->scale;
    printf("  %-22s %10.4g %-9s", parameter->key, parameter->value / scale, parameter->unit);
    if (parameter->identified)
        printf("   %.4g to %.4g\n", parameter->low / scale, parameter->high / scale);
    else
        printf("   not identified by these measurements: %s\n",
               parameter->in_catalogue ? "the catalogue's" : "an order of magnitude");
}

static void print_values(const char *title, const DeviceFit *fit, bool in_catalogue) {
    bool any = false;
    for (int p = 0; p < fit->count; p++) {
        if (fit->parameters[p].in_catalogue != in_catalogue) continue;
        if (!any) printf("\n  %-22s %10s %-9s   95 %% interval\n", title, "value", "");
        any = true;
        print_value(&fit->parameters[p]);
    }
}

// What runs among virtual ranks on one GPU has no link in its way. The simulator takes nothing from it, but the share
// of LL's bandwidth must be like the one that it has.
static void print_channel(const MeasuredFile *file, const DeviceFit *fit) {
    const BlockChannel *channel = &fit->constants.channel;
    bool told = false;
    for (int p = 0; p < fit->count; p++)
        told |= strcmp(fit->parameters[p].key, "reduce_rate_ll") == 0 && fit->parameters[p].identified;
    print_values("told, no model takes it", fit, false);
    if (!told) return;
    int age = architecture_year(file->gpu->generation) >= 2022;
    const ConstantRow *share = &constant_rows[LL_SHARE + age];
    printf("  LL moves %.2f of what Simple does through a channel; \"%s\" of the simulator is %.2f ± %.0f %%\n",
           channel->reduce_rate[CHANNEL_LL] / channel->reduce_rate[CHANNEL_SIMPLE], share->name, share->value,
           100 * share->uncertainty);
    printf("  no link was measured: the hops, rates and fills of the simulator's NCCL stay as they are\n");
}

static void print_errors(const char *title, const OperationError *errors, int count) {
    if (count == 0) return;
    printf("\n%-24s %5s %8s %8s %8s\n", title, "rows", "median", "p90", "bias");
    for (int i = 0; i < count; i++)
        printf("  %-22s %5d %6.1f %% %6.1f %% %+6.1f %%%s\n", errors[i].operation, errors[i].count,
               100 * errors[i].median, 100 * errors[i].p90, 100 * errors[i].bias,
               errors[i].watched ? "  not fitted" : "");
}

static void print_strong_correlations(const DeviceFit *fit) {
    for (int a = 0; a < fit->count; a++)
        for (int b = 0; b < a; b++) {
            double correlation = fit->correlation[a * fit->count + b];
            if (fabs(correlation) > 0.7)
                printf("  %s and %s are told apart badly (correlation %+.2f)\n", fit->parameters[b].key,
                       fit->parameters[a].key, correlation);
        }
}

// What was measured of each type, since all else is the model's word.
static void print_ranges(const MeasuredFile *file) {
    bool unmeasured = false;
    printf("\nmeasured (beyond it the model extrapolates):\n");
    for (int p = 0; p < PRECISION_COUNT; p++) {
        double least = INFINITY, most = 0;
        for (int i = 0; i < file->count; i++) {
            if (file->rows[i].kind != MEASURED_GEMM || (int)file->rows[i].gemm.precision != p) continue;
            least = fmin(least, gemm_flops(&file->rows[i].gemm));
            most = fmax(most, gemm_flops(&file->rows[i].gemm));
        }
        if (most > 0)
            printf("  %s GEMMs of %.3g to %.3g GFLOP\n", precision_name((Precision)p), least / 1e9, most / 1e9);
        unmeasured |= most == 0 && gpu_supports(file->gpu, (Precision)p);
    }
    if (!unmeasured) return;
    printf("  no GEMM of");
    for (int p = 0; p < PRECISION_COUNT; p++) {
        bool has = false;
        for (int i = 0; i < file->count && !has; i++)
            has = file->rows[i].kind == MEASURED_GEMM && (int)file->rows[i].gemm.precision == p;
        if (!has && gpu_supports(file->gpu, (Precision)p)) printf(" %s", precision_name((Precision)p));
    }
    printf(": the catalogue's efficiencies stand\n");
}

// Beside the rate of a link stands the catalogue's: a link that is missing or of another kind shows there.
static void print_untaken(const MeasuredFile *file) {
    if (file->untaken.count > 0) printf("\nmeasured, and taken by no constant:\n");
    for (int i = 0; i < file->untaken.count; i++) {
        const Untaken *untaken = &file->untaken.items[i];
        double link = file->gpu->nvlink_bytes_per_second;
        printf("  %-22s %5d cases, from %.3g us", untaken->what, untaken->count, 1e6 * untaken->least_seconds);
        if (untaken->most_rate > 0) printf(", up to %.3g GB/s", untaken->most_rate / 1e9);
        if (untaken->is_link && link > 0) printf(" (NVLink: %.3g one way)", link / 1e9);
        printf(": %s\n", untaken->why);
    }
}

static void print_device(Arena *arena, const MeasuredFile *file, const DeviceFit *fit) {
    printf("%s (%s%s%s%s%s): %d measurements\n", file->gpu->name, file->gpu_name, file->driver[0] ? ", driver " : "",
           file->driver, file->date[0] ? ", " : "", file->date, file->count);
    if (file->failed + file->skipped + file->other > 0)
        printf("left out: %d that no constant takes (told below), %d skipped and %d failed when measured\n",
               file->other, file->skipped, file->failed);
    print_values("constant", fit, true);
    print_strong_correlations(fit);
    print_channel(file, fit);
    print_untaken(file);
    print_clocks(file);
    print_errors("errors, all rows", fit->errors, fit->error_count);
    print_errors("errors, held out", fit->held_out, fit->held_out_count);
    if (fit->outlier_count > 0) printf("\noutliers (%d):\n", fit->outlier_count);
    for (int i = 0; i < fit->outlier_count && i < 10; i++)
        printf("  line %-5d %-44s predicted %+.0f %%\n", fit->outliers[i].row->line,
               measured_name(arena, fit->outliers[i].row), 100 * fit->outliers[i].error);
    print_ranges(file);
    print_advice(arena, fit);
}

static void write_errors(JsonWriter *json, const char *key, const OperationError *errors, int count) {
    json_key(json, key);
    json_begin_list(json);
    for (int i = 0; i < count; i++) {
        json_begin_object(json);
        json_key(json, "operation");
        json_write_text(json, errors[i].operation);
        write_number(json, "rows", errors[i].count);
        write_number(json, "median_error_pct", 100 * errors[i].median);
        write_number(json, "p90_error_pct", 100 * errors[i].p90);
        write_number(json, "bias_pct", 100 * errors[i].bias);
        json_end_object(json);
    }
    json_end_list(json);
}

static void write_untaken(JsonWriter *json, const UntakenList *list) {
    json_key(json, "taken_by_no_constant");
    json_begin_list(json);
    for (int i = 0; i < list->count; i++) {
        json_begin_object(json);
        json_key(json, "what");
        json_write_text(json, list->items[i].what);
        json_key(json, "why");
        json_write_text(json, list->items[i].why);
        write_number(json, "cases", list->items[i].count);
        write_number(json, "least_s", list->items[i].least_seconds);
        write_number(json, "most_bytes_per_s", list->items[i].most_rate);
        json_end_object(json);
    }
    json_end_list(json);
}

static void print_device_json(const MeasuredFile *file, const DeviceFit *fit) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "calibrate-fit-device");
    json_key(&json, "gpu");
    json_write_text(&json, file->gpu->name);
    write_number(&json, "rows_used", file->count);
    write_number(&json, "noise", fit->noise);
    json_key(&json, "parameters");
    json_begin_list(&json);
    for (int p = 0; p < fit->count; p++) {
        json_begin_object(&json);
        json_key(&json, "name");
        json_write_text(&json, fit->parameters[p].key);
        write_number(&json, "value", fit->parameters[p].value);
        write_number(&json, "low_95", fit->parameters[p].low);
        write_number(&json, "high_95", fit->parameters[p].high);
        json_key(&json, "identified");
        json_write_bool(&json, fit->parameters[p].identified);
        json_key(&json, "in_catalogue");
        json_write_bool(&json, fit->parameters[p].in_catalogue);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_key(&json, "correlation");
    json_begin_list(&json);
    for (int i = 0; i < fit->count * fit->count; i++) json_write_number(&json, fit->correlation[i]);
    json_end_list(&json);
    write_untaken(&json, &file->untaken);
    write_errors(&json, "errors", fit->errors, fit->error_count);
    write_errors(&json, "errors_held_out", fit->held_out, fit->held_out_count);
    json_end_object(&json);
    printf("\n");
}

static const MeasuredFile *read_trace(Arena *arena, const Catalogue *catalogue, const char *path, const char *gpu,
                                      Problems *problems) {
    char *text = NULL;
    size_t bytes;
    Import import = {
        .arena = arena, .path = path, .gpu = gpu, .out = open_memstream(&text, &bytes), .problems = problems};
    if (!import.out) out_of_memory(sizeof import);
    bool read = import_kineto(&import);
    fclose(import.out);
    char *lines = arena_copy_text(arena, text);
    free(text);
    return read ? measured_read_text(arena, catalogue, path, lines, gpu, problems) : NULL;
}

static int fit_one(Arena *arena, const Options *options, const char *path, Problems *problems) {
    const char *output = option_text(options, "output", NULL);
    const Catalogue *catalogue = catalogue_builtin(arena);
    const char *gpu = option_text(options, "gpu", NULL);
    bool traced = kineto_is_trace(path);
    const MeasuredFile *file = traced ? read_trace(arena, catalogue, path, gpu, problems)
                                      : measured_read(arena, catalogue, path, gpu, problems);
    if (!file) return EXIT_INPUT;
    int fewest = file->is_import ? FEWEST_IMPORTED : FEWEST_MEASUREMENTS;
    if (file->count < fewest) {
        problem_add(problems, (Where){path, 0}, "%d measurements that a fit can use are too few: it takes %d",
                    file->count, fewest);
        problem_hint(problems, traced ? "profile with record_shapes=True, so that products have shapes"
                                      : "a full run of lockstep-bench has hundreds");
        return EXIT_INPUT;
    }
    DeviceFit fit =
        device_fit(arena, catalogue, file->gpu, file->rows, file->count, option_seed(options, "seed", 1), false);
    if (option_flag(options, "json"))
        print_device_json(file, &fit);
    else
        print_device(arena, file, &fit);
    return !output || profile_write_device(arena, file, &fit, output, problems) ? 0 : 1;
}

// ---- The command.

static int fit_many(Arena *arena, const Options *options, const char *path, Problems *problems) {
    const char *output = option_text(options, "output", NULL);
    const GemmData *data = gemm_data_read(arena, catalogue_builtin(arena), path, problems);
    if (!data) return EXIT_INPUT;
    GemmFit fit = gemm_fit(arena, data, option_seed(options, "seed", 1));
    if (option_flag(options, "json"))
        print_json(data, &fit);
    else
        print_table(arena, data, &fit);
    return !output || profile_write_gemm(arena, &fit, path, output, problems) ? 0 : 1;
}

static int fit_nccl(Arena *arena, const Options *options, Problems *problems) {
    int count = option_positional_count(options);
    const char **paths = ARENA_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) paths[i] = option_positional(options, i);
    LogMachine machine = {.node = option_text(options, "node", NULL),
                          .gpu = option_text(options, "gpu", NULL),
                          .fabric = option_text(options, "fabric", NULL),
                          .nodes = (int)option_count(options, "nodes", 0)};
    if (option_flag(options, "json")) {
        problem_add(problems, (Where){0}, "a fit to logs of nccl-tests is printed as a table alone");
        problem_hint(problems, "-o PROFILE.json writes it as JSON");
        return EXIT_USAGE;
    }
    return fit_logs(arena, catalogue_builtin(arena), paths, count, &machine, option_text(options, "output", NULL),
                    problems);
}

static int fit_generations(Arena *arena, const Options *options, const char *path, Problems *problems) {
    const char *output = option_text(options, "output", NULL);
    const GenerationFit *fit = generation_fit(arena, catalogue_builtin(arena), path, true, problems);
    if (!fit) return EXIT_INPUT;
    print_generations(fit);
    return !output || profile_write_generations(arena, fit, path, output, problems) ? 0 : 1;
}

// Of kernels there is no profile: they are no constants of a GPU.
static int fit_attention(Arena *arena, const char *path, Problems *problems) {
    const AttentionFit *fit = attention_fit(arena, catalogue_builtin(arena), path, problems);
    if (fit) print_attention(fit);
    return fit ? 0 : EXIT_INPUT;
}

static int fit_experts(Arena *arena, const char *path, Problems *problems) {
    const ExpertsFit *fit = experts_fit(arena, catalogue_builtin(arena), path, problems);
    if (fit) print_experts(fit);
    return fit ? 0 : EXIT_INPUT;
}

int calibrate_fit(Arena *arena, int argc, char **argv, Problems *problems) {
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        return 0;
    }
    const char *first = option_positional_count(options) > 0 ? option_positional(options, 0) : NULL;
    if (first && problem_count(problems) == 0 && is_nccl_log(first)) return fit_nccl(arena, options, problems);
    options_refuse_positional(options, 1, problems);
    const char *path = option_positional_count(options) > 0 ? option_positional(options, 0) : NULL;
    if (path && option_given(options, "gemm")) problem_add(problems, (Where){0}, "one file at a time");
    if (!path) path = option_text(options, "gemm", NULL);
    if (problem_count(problems) == 0 && !path) {
        problem_add(problems, (Where){0}, "no measurements to fit");
        problem_hint(problems, "usage: %s", usage);
    }
    if (problem_count(problems) > 0) return EXIT_USAGE;
    bool is_one = measured_is_json(path) || kineto_is_trace(path); // which may be packed
    if (is_one) return fit_one(arena, options, path, problems);
    if (kernel_table_is_of_experts(path)) return fit_experts(arena, path, problems);
    if (kernel_table_is_of_attention(path)) return fit_attention(arena, path, problems);
    return kernel_table_is_of_gemms(path) ? fit_generations(arena, options, path, problems)
                                          : fit_many(arena, options, path, problems);
}
