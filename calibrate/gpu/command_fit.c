// lockstep calibrate fit: fits the constants of GPUs to measurements, and prints them as a table and as a profile.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/gpu/fit/fit.h"
#include "models/hardware/library_kernels.h"
#include "models/network/network_constants.h"
#include "results/answer/frame.h"
#include "sim/data/kineto.h"

#define FEWEST_MEASUREMENTS 20
#define FEWEST_IMPORTED 6 // a layer of a transformer, forward and back, has a dozen shapes

static const OptionSpec specs[] = {
    {"gemm", OPTION_TEXT, "FILE.csv", .help = "the same as FILE.csv without a word in front"},
    {"output", OPTION_TEXT, "FILE.json", .help = "write the constants as a profile (for --profile)", .letter = 'o'},
    {"gpu", OPTION_TEXT, "NAME", .help = "which GPU was measured (default: as the file says)"},
    {"node", OPTION_TEXT, "NAME",
     .help = "type of node that logs of nccl-tests were measured on, where they do not say"},
    {"nodes", OPTION_COUNT, "N", .help = "how many of them, where the logs do not say"},
    {"fabric", OPTION_TEXT, "NAME", .help = "the link between them (lockstep hw list fabric)"},
    {"seed", OPTION_SEED, "N", .help = "which shapes are held out (default 1)"},
};

static const char usage[] = "lockstep calibrate fit MEASUREMENTS.json|GEMM.csv|TRACE.json|LOG… [-o PROFILE.json] "
                            "[--node NAME --nodes N --fabric NAME] "
                            "[--seed N]";
static const char about[] =
    "Fits the constants of a GPU (shares of its peaks and of its memory bandwidth, launch time, and the shape of the\n"
    "roofline) to what lockstep-bench measured on it, or those of many GPUs to a CSV of GEMMs with the columns gpu, "
    "dtype,\n"
    "op, batch, M, N, K, latency_ms. A trace of torch.profiler with record_shapes=True gives its products and the\n"
    "exchanges within its node. Logs of nccl-tests (several of one machine together) give factors on the network\n"
    "model's constants, inside a node and between nodes. Errors held out are on shapes that the fit had not seen; "
    "values are from all of "
    "them.";

// A value with its sigma, formatted; two cells of a table.
static const char *estimate_text(Arena *arena, Estimate estimate, double scale, const char *unit) {
    return arena_printf(arena, "%.3g ± %.2g%s", estimate.value / scale, estimate.value * estimate.sigma / scale, unit);
}

static void add_estimate(Answer *answer, Arena *arena, Estimate estimate, double scale) {
    ANSWER_CELLS(answer, answer_shown(AS_NUMBER, estimate.value, estimate_text(arena, estimate, scale, "")),
                 answer_of_number(estimate.value * estimate.sigma));
}

// What was not fitted has no cells.
static void add_estimate_if_any(Answer *answer, Arena *arena, Estimate estimate) {
    if (estimate.value > 0) {
        add_estimate(answer, arena, estimate, 1);
        return;
    }
    ANSWER_CELLS(answer, answer_of_nothing(), answer_of_nothing());
}

static void add_shared(Answer *answer, Arena *arena, const char *key, const char *title, Estimate estimate,
                       double scale, const char *unit) {
    answer_open(answer, key, NULL);
    answer_fact(answer, "value", title,
                answer_shown(AS_NUMBER, estimate.value, estimate_text(arena, estimate, scale, unit)));
    answer_number(answer, "sigma", NULL, AS_NUMBER, estimate.value * estimate.sigma);
    answer_close(answer);
}

#define ERROR_COLUMNS                                                                                                  \
    {"median_error_pct", "median %", AS_NUMBER, 0}, {"p90_error_pct", "p90", AS_NUMBER, 1}, {                          \
        "bias_pct", "bias", AS_NUMBER, 0                                                                               \
    }
static const char errors_are[] =
    "Errors: |predicted / measured - 1|, each half of the shapes predicted from the other; ± is one sigma.";

// ---- Many GPUs, from a CSV of GEMMs.

static void add_gemm_groups(Answer *answer, Arena *arena, const GemmFit *fit) {
    static const AnswerColumn columns[] = {{"gpu", "GPU", AS_TEXT, 0},
                                           {"precision", "type", AS_TEXT, 0},
                                           {"rows", "rows", AS_WHOLE, 6},
                                           {"gemm_efficiency.value", "e_c", AS_NUMBER, 0},
                                           {"gemm_efficiency.sigma", NULL, AS_NUMBER, 0},
                                           {"memory_efficiency.value", "e_b", AS_NUMBER, 0},
                                           {"memory_efficiency.sigma", NULL, AS_NUMBER, 0},
                                           {"launch_s.value", "launch us", AS_NUMBER, 2},
                                           {"launch_s.sigma", NULL, AS_NUMBER, 0},
                                           {NULL, "of", AS_TEXT, 7},
                                           {"long_gemm_rate.value", "long", AS_NUMBER, 5},
                                           {"long_gemm_rate.sigma", NULL, AS_NUMBER, 0},
                                           {"untransposed_gemm_gain.value", "as is", AS_NUMBER, 4},
                                           {"untransposed_gemm_gain.sigma", NULL, AS_NUMBER, 0},
                                           {"odd_gemm_rate.value", "odd", AS_NUMBER, 3},
                                           {"odd_gemm_rate.sigma", NULL, AS_NUMBER, 0},
                                           ERROR_COLUMNS};
    answer_table(answer, "groups", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->group_count; i++) {
        const GroupFit *group = &fit->groups[i];
        ANSWER_CELLS(answer, group->gpu->name, precision_name(group->precision), answer_of_whole(group->count));
        add_estimate(answer, arena, group->compute_efficiency, 1);
        add_estimate(answer, arena, group->memory_efficiency, 1);
        add_estimate(answer, arena, group->launch_seconds, 1e-6);
        answer_cell(answer, answer_of_text(group->launch_seconds.value >= HARNESS_LAUNCH_SECONDS ? "the program" : ""));
        add_estimate_if_any(answer, arena, group->long_rate);
        add_estimate_if_any(answer, arena, group->untransposed_gain);
        add_estimate_if_any(answer, arena, group->odd_rate);
        ANSWER_CELLS(answer, answer_of_percent(group->median_error), answer_of_percent(group->p90_error),
                     answer_of_percent(group->bias));
    }
    answer_first_rows(answer, 14);
}

static void fill_gemms(Answer *answer, Arena *arena, const GemmData *data, const GemmFit *fit) {
    answer_rename(answer, "calibrate-fit-gemm");
    answer_number(answer, "rows_used", NULL, AS_WHOLE, data->used);
    add_gemm_groups(answer, arena, fit);
    answer_say(answer, NULL, "%s", errors_are);
    add_shared(answer, arena, "gemm_ramp", "K0, elements", fit->ramp, 1, "");
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_shared(answer, arena, "wave_weight", "Wave weight", fit->wave_weight, 1, "");
    add_shared(answer, arena, "roofline_sharpness", "Sharpness q", fit->sharpness, 1, "");
    answer_say(
        answer, NULL,
        "Long: share of the rate left to a K far longer than the L2 has room for (AMD: to weights beyond 4 GiB); "
        "as is: gain where nothing is transposed; odd: share left to rows of odd length; all but AMD's on vector "
        "units. A launch of the program that measured is fitted, but is not the GPU's.");
    answer_say(
        answer, NULL,
        "%d rows used; left out: %d best shapes of a search, %d of GPUs not in the catalogue%s%s%s, %d in groups "
        "below 8.",
        data->used, data->best_shapes, data->unknown_gpus, data->unknown_names ? " (" : "",
        data->unknown_names ? data->unknown_names : "", data->unknown_names ? ")" : "", data->too_few);
    answer_close(answer);
}

// ---- Many types of GPU together, from tables of kernels.

static void add_kins(Answer *answer, Arena *arena, const GenerationFit *fit) {
    static const AnswerColumn columns[] = {{"generation", "generation", AS_TEXT, 0},
                                           {"types", "types", AS_WHOLE, 1},
                                           {"rows", "rows", AS_WHOLE, 0},
                                           {"wave_weight.value", "wave weight", AS_NUMBER, 0},
                                           {"wave_weight.sigma", NULL, AS_NUMBER, 0},
                                           {"gemm_heating.value", "heating", AS_NUMBER, 0},
                                           {"gemm_heating.sigma", NULL, AS_NUMBER, 0},
                                           {"gemm_l2_gain.value", "gain of L2", AS_NUMBER, 0},
                                           {"gemm_l2_gain.sigma", NULL, AS_NUMBER, 0},
                                           {"graph_launch_s.value", "in graph us", AS_NUMBER, 1},
                                           {"graph_launch_s.sigma", NULL, AS_NUMBER, 0}};
    answer_table(answer, "generations", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->kins.count; i++) {
        const Kin *kin = &fit->kins.items[i];
        ANSWER_CELLS(answer, kin->name, answer_of_whole(kin->gpu_count), answer_of_whole(kin->count));
        for (int k = 0; k < KIN_CONSTANTS; k++)
            add_estimate(answer, arena, kin->constants[k], k == KIN_GRAPH_LAUNCH ? 1e-6 : 1);
    }
}

static void add_types(Answer *answer, Arena *arena, const GenerationFit *fit) {
    static const AnswerColumn columns[] = {{"gpu", "GPU", AS_TEXT, 0},
                                           {"precision", "type", AS_TEXT, 0},
                                           {"gemm_efficiency.value", "gemm efficiency", AS_NUMBER, 0},
                                           {"gemm_efficiency.sigma", NULL, AS_NUMBER, 0}};
    answer_table(answer, "types", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->types.count; i++) {
        ANSWER_CELLS(answer, fit->types.items[i].gpu->name, precision_name(fit->types.items[i].precision));
        add_estimate(answer, arena, fit->types.items[i].efficiency, 1);
    }
}

static void add_campaigns(Answer *answer, const GenerationFit *fit) {
    static const AnswerColumn columns[] = {{"gpu", "GPU", AS_TEXT, 0},
                                           {"type", "type", AS_TEXT, 0},
                                           {"from", "from", AS_TEXT, 1},
                                           {"weights", "weights", AS_TEXT, 1},
                                           {"rows", "rows", AS_WHOLE, 2},
                                           ERROR_COLUMNS,
                                           {"type_median_error_pct", "type out %", AS_NUMBER, 0},
                                           {"type_p90_error_pct", "p90", AS_NUMBER, 3},
                                           {"type_bias_pct", "bias", AS_NUMBER, 3}};
    answer_table(answer, "campaigns", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->campaigns.count; i++) {
        const Campaign *of = &fit->campaigns.items[i];
        ANSWER_ROW(answer, of->gpu->name, of->dtype, of->framework, of->weights, answer_of_whole(of->count),
                   answer_of_percent(of->median_error), answer_of_percent(of->p90_error), answer_of_percent(of->bias),
                   answer_of_percent(of->out_median_error), answer_of_percent(of->out_p90_error),
                   answer_of_percent(of->out_bias));
    }
    answer_first_rows(answer, 6);
}

static void fill_generations(Answer *answer, Arena *arena, const GenerationFit *fit) {
    answer_rename(answer, "calibrate-fit-generations");
    add_kins(answer, arena, fit);
    answer_first_rows(answer, 7);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_shared(answer, arena, "gemm_feed", "Operands per clock and SM", fit->feed_bytes, 1, " B");
    add_shared(answer, arena, "split_k_s", "Adding up split parts", fit->split_seconds, 1e-6, " us");
    add_shared(answer, arena, "quiet", "Spared by quiet operands", fit->quiet, 1, "");
    add_shared(answer, arena, "scaling_fp8_s", "Scaling of 8-bit products", fit->scaling_seconds[FP8], 1e-6, " us");
    add_shared(answer, arena, "scaling_fp4_s", "Scaling of 4-bit products", fit->scaling_seconds[FP4], 1e-6, " us");
    add_types(answer, arena, fit);
    answer_close(answer);
    add_campaigns(answer, fit);
    answer_say(answer, NULL, "%s Type out: from no row of this type of GPU.", errors_are);
    answer_say(answer, NULL,
               "Left out: %d rows of GPUs not in the catalogue, %d of kernels or of casts that tell little.",
               fit->unknown_gpus, fit->left_out);
}

// ---- Kernels of attention, of experts and of exchanges of tokens.

static const char *generation_of(bool of_servers, const char *architecture) {
    return of_servers ? architecture : "graphics";
}

static void end_kernels(Answer *answer, int left_out) {
    answer_first_rows(answer, 16);
    answer_say(answer, NULL, "%s Left out: %d rows.", errors_are, left_out);
}

static void fill_attention(Answer *answer, Arena *arena, const KernelFit *fit) {
    static const AnswerColumn columns[] = {
        {"family", "family", AS_TEXT, 0},      {"type", "type", AS_TEXT, 0},
        {"kernel", "kernel", AS_TEXT, 0},      {"generation", "generation", AS_TEXT, 0},
        {"rows", "rows", AS_WHOLE, 2},         {"share.value", "of GEMM", AS_NUMBER, 0},
        {"share.sigma", NULL, AS_NUMBER, 0},   {"wide_share", "wide", AS_NUMBER, 3},
        {"softmax", "softmax", AS_NUMBER, 3},  {"tile_clocks", "clocks", AS_NUMBER, 3},
        {"start_s", "start us", AS_NUMBER, 3}, {"passes", "passes", AS_NUMBER, 3},
        {"sharpness", "q", AS_NUMBER, 3},      ERROR_COLUMNS};
    answer_rename(answer, "calibrate-fit-attention");
    answer_table(answer, "kernels", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->count; i++) {
        const KernelGroup *group = &fit->items[i];
        const FlashKernel *kernel = group->kernel;
        Estimate share = {kernel->share, group->sigma};
        ANSWER_ROW(
            answer, kernel->family, kernel->dtype, kernel->kernel,
            generation_of(kernel->of_servers, group->architecture), answer_of_whole(group->count),
            answer_shown(AS_NUMBER, share.value, estimate_text(arena, share, 1, "")),
            answer_of_number(share.value * share.sigma), answer_of_number(kernel->wide_share),
            answer_of_number(kernel->softmax), answer_of_number(kernel->tile_clocks),
            answer_shown(AS_NUMBER, kernel->start_seconds, arena_printf(arena, "%.2f", 1e6 * kernel->start_seconds)),
            answer_of_number(kernel->passes), answer_of_number(kernel->sharpness),
            answer_of_percent(group->median_error), answer_of_percent(group->p90_error),
            answer_of_percent(group->bias));
    }
    end_kernels(answer, fit->left_out);
}

static void fill_experts(Answer *answer, Arena *arena, const KernelFit *fit) {
    static const AnswerColumn columns[] = {{"type", "type", AS_TEXT, 0},
                                           {"kernel", "kernel", AS_TEXT, 0},
                                           {"generation", "generation", AS_TEXT, 0},
                                           {"rows", "rows", AS_WHOLE, 2},
                                           {"share.value", "of GEMM", AS_NUMBER, 0},
                                           {"share.sigma", NULL, AS_NUMBER, 0},
                                           {"memory_share", "memory", AS_NUMBER, 3},
                                           {"tile_rows", "tile", AS_NUMBER, 3},
                                           {"start_s", "start us", AS_NUMBER, 3},
                                           {"passes", "passes", AS_NUMBER, 3},
                                           {"expert_s", "expert us", AS_NUMBER, 3},
                                           {"token_s", "token ns", AS_NUMBER, 3},
                                           ERROR_COLUMNS};
    answer_rename(answer, "calibrate-fit-experts");
    answer_table(answer, "kernels", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->count; i++) {
        const KernelGroup *group = &fit->items[i];
        const GroupedKernel *kernel = group->kernel;
        Estimate share = {kernel->share, group->sigma};
        ANSWER_ROW(
            answer, kernel->dtype, kernel->kernel, generation_of(kernel->of_servers, group->architecture),
            answer_of_whole(group->count), answer_shown(AS_NUMBER, share.value, estimate_text(arena, share, 1, "")),
            answer_of_number(share.value * share.sigma), answer_of_number(kernel->memory_share),
            answer_of_number(kernel->tile_rows),
            answer_shown(AS_NUMBER, kernel->start_seconds, arena_printf(arena, "%.2f", 1e6 * kernel->start_seconds)),
            answer_of_number(kernel->passes),
            answer_shown(AS_NUMBER, kernel->expert_seconds, arena_printf(arena, "%.4f", 1e6 * kernel->expert_seconds)),
            answer_shown(AS_NUMBER, kernel->token_seconds, arena_printf(arena, "%.2f", 1e9 * kernel->token_seconds)),
            answer_of_percent(group->median_error), answer_of_percent(group->p90_error),
            answer_of_percent(group->bias));
    }
    end_kernels(answer, fit->left_out);
}

static AnswerValue shown(Arena *arena, double value, double unit) {
    return answer_shown(AS_NUMBER, value, arena_printf(arena, "%.4g", value / unit));
}

static void fill_exchanges(Answer *answer, Arena *arena, const KernelFit *fit) {
    static const AnswerColumn columns[] = {{"mode", "mode", AS_TEXT, 0},
                                           {"phase", "phase", AS_TEXT, 0},
                                           {"generation", "generation", AS_TEXT, 0},
                                           {"over", "over", AS_TEXT, 0},
                                           {"rows", "rows", AS_WHOLE, 2},
                                           {"start_s", "start us", AS_NUMBER, 1},
                                           {"peer_s", "peer us", AS_NUMBER, 3},
                                           {"fill_tokens", "fill", AS_NUMBER, 3},
                                           {"token_s", "token ns", AS_NUMBER, 3},
                                           {"token_byte_s", "a byte ns", AS_NUMBER, 3},
                                           {"copy_s", "copy ns", AS_NUMBER, 3},
                                           {"copy_byte_s", "a byte ns", AS_NUMBER, 3},
                                           {"nvlink_share", "of NVLink", AS_NUMBER, 1},
                                           ERROR_COLUMNS};
    answer_rename(answer, "calibrate-fit-exchanges");
    answer_table(answer, "kernels", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->count; i++) {
        const KernelGroup *group = &fit->items[i];
        const ExchangeKernel *kernel = group->kernel;
        ANSWER_ROW(answer, kernel->mode, kernel->phase, generation_of(kernel->of_servers, group->architecture),
                   kernel->over_network ? "network" : "NVLink", answer_of_whole(group->count),
                   shown(arena, kernel->start_seconds, 1e-6), shown(arena, kernel->peer_seconds, 1e-6),
                   answer_of_number(kernel->fill), shown(arena, kernel->token_seconds, 1e-9),
                   shown(arena, kernel->token_byte_seconds, 1e-9), shown(arena, kernel->copy_seconds, 1e-9),
                   shown(arena, kernel->copy_byte_seconds, 1e-9), answer_of_number(kernel->nvlink_share),
                   answer_of_percent(group->median_error), answer_of_percent(group->p90_error),
                   answer_of_percent(group->bias));
    }
    end_kernels(answer, fit->left_out);
}

// ---- One GPU, from its own measurements.

void calibrate_add_errors(Answer *answer, const char *key, const char *heading, const OperationError *errors,
                          int count) {
    static const AnswerColumn columns[] = {
        {"operation", "operation", AS_TEXT, 0}, {"rows", "rows", AS_WHOLE, 0}, ERROR_COLUMNS, {NULL, "", AS_TEXT, 0}};
    answer_table(answer, key, heading, COLUMNS(columns));
    for (int i = 0; i < count; i++)
        ANSWER_ROW(answer, errors[i].operation, answer_of_whole(errors[i].count), answer_of_percent(errors[i].median),
                   answer_of_percent(errors[i].p90), answer_of_percent(errors[i].bias),
                   errors[i].watched ? "not fitted" : "");
}

void calibrate_add_advice(Answer *answer, Arena *arena, const DeviceFit *fit) {
    static const AnswerColumn columns[] = {{"measure", "one more measurement shrinks that most", AS_TEXT, 0},
                                           {"stray_pct", "to %", AS_NUMBER, 0}};
    if (fit->advice[0].stray <= 0) return;
    answer_number(answer, "stray_pct", "Stray", AS_NUMBER, 100 * fit->stray);
    answer_note(answer, "%% of predictions of what lockstep-bench measures, by these constants alone");
    answer_table(answer, "measure_next", NULL, COLUMNS(columns));
    for (int i = 0; i < ADVICES && fit->advice[i].stray > 0; i++)
        ANSWER_ROW(answer, measured_name(arena, &fit->advice[i].what), answer_of_percent(fit->advice[i].stray));
    answer_first_rows(answer, 1);
}

static AnswerValue scaled(Arena *arena, const DeviceParameter *parameter, double value) {
    return answer_shown(
        AS_NUMBER, value,
        arena_printf(arena, "%.4g%s%s", value / parameter->scale, *parameter->unit ? " " : "", parameter->unit));
}

static const char *how_known(const DeviceParameter *parameter) {
    if (!parameter->identified) return parameter->in_catalogue ? "the catalogue's" : "not identified";
    return parameter->in_catalogue ? "" : "told, no model takes it";
}

static void add_parameters(Answer *answer, Arena *arena, const DeviceFit *fit) {
    static const AnswerColumn columns[] = {{"name", "constant", AS_TEXT, 0},
                                           {"value", "value", AS_NUMBER, 0},
                                           {"low_95", "95 %: from", AS_NUMBER, 0},
                                           {"high_95", "to", AS_NUMBER, 0},
                                           {"identified", NULL, AS_BOOL, 0},
                                           {"in_catalogue", NULL, AS_BOOL, 0},
                                           {NULL, "", AS_TEXT, 0}};
    answer_table(answer, "parameters", NULL, COLUMNS(columns));
    for (int p = 0; p < fit->count; p++) {
        const DeviceParameter *of = &fit->parameters[p];
        ANSWER_ROW(answer, of->key, scaled(arena, of, of->value),
                   of->identified ? scaled(arena, of, of->low) : answer_shown(AS_NUMBER, of->low, "–"),
                   of->identified ? scaled(arena, of, of->high) : answer_shown(AS_NUMBER, of->high, "–"),
                   of->identified, of->in_catalogue, how_known(of));
    }
    answer_first_rows(answer, 6);
    answer_open_list(answer, "correlation", NULL);
    for (int i = 0; i < fit->count * fit->count; i++) answer_number(answer, NULL, NULL, AS_NUMBER, fit->correlation[i]);
    answer_close(answer);
}

static void add_correlations(Answer *answer, const DeviceFit *fit) {
    for (int a = 0; a < fit->count; a++)
        for (int b = 0; b < a; b++)
            if (fabs(fit->correlation[a * fit->count + b]) > 0.7)
                answer_say(answer, NULL, "%s and %s are told apart badly (correlation %+.2f).", fit->parameters[b].key,
                           fit->parameters[a].key, fit->correlation[a * fit->count + b]);
}

// What runs among virtual ranks on one GPU has no link in its way. The simulator takes nothing from it, but the share
// of LL's bandwidth must be like the one that it has.
static void add_channel(Answer *answer, const DeviceFit *fit) {
    const BlockChannel *channel = &fit->constants.channel;
    bool is_identified = false;
    for (int p = 0; p < fit->count; p++)
        is_identified |= strcmp(fit->parameters[p].key, "reduce_rate_ll") == 0 && fit->parameters[p].identified;
    if (!is_identified) return;
    const ConstantRow *share = &constant_rows[LL_SHARE];
    answer_say(
        answer, NULL,
        "LL moves %.2f of what Simple does through a channel; \"%s\" of the simulator is %.2f ± %.0f %%. No link "
        "was measured: the hops, rates and fills of the simulator's NCCL stay as they are.",
        channel->reduce_rate[CHANNEL_LL] / channel->reduce_rate[CHANNEL_SIMPLE], share->name, share->value,
        100 * share->uncertainty);
}

// What was measured of each type, since all else is the model's word.
static void add_ranges(Answer *answer, Arena *arena, const MeasuredFile *file) {
    static const AnswerColumn columns[] = {{"precision", "GEMMs measured", AS_TEXT, 0},
                                           {"least_flops", "from", AS_FLOPS, 0},
                                           {"most_flops", "to (beyond it the model extrapolates)", AS_FLOPS, 0}};
    const char *unmeasured = "";
    answer_table(answer, "gemms_measured", NULL, COLUMNS(columns));
    for (int p = 0; p < PRECISION_COUNT; p++) {
        double least = INFINITY, most = 0;
        for (int i = 0; i < file->count; i++) {
            if (file->rows[i].kind != MEASURED_GEMM || (int)file->rows[i].gemm.precision != p) continue;
            least = fmin(least, gemm_flops(&file->rows[i].gemm));
            most = fmax(most, gemm_flops(&file->rows[i].gemm));
        }
        const char *name = precision_name((Precision)p);
        if (most > 0)
            ANSWER_ROW(answer, name, least, most);
        else if (gpu_supports(file->gpu, (Precision)p))
            unmeasured = arena_printf(arena, "%s %s", unmeasured, name);
    }
    if (*unmeasured) answer_say(answer, NULL, "no GEMM of%s: the catalogue's efficiencies stand.", unmeasured);
}

// A link's rate is compared with the catalogue's: a missing or different link shows there.
static void add_untaken(Answer *answer, const MeasuredFile *file) {
    static const AnswerColumn columns[] = {{"what", "measured, and taken by no constant", AS_TEXT, 0},
                                           {"cases", "cases", AS_WHOLE, 0},
                                           {"least_s", "from", AS_SECONDS, 0},
                                           {"most_bytes_per_s", "up to", AS_BANDWIDTH, 0},
                                           {NULL, "NVLink, one way", AS_BANDWIDTH, 0},
                                           {"why", "why", AS_TEXT, BELOW_ROW}};
    double link = file->gpu->nvlink_bytes_per_second;
    answer_table(answer, "taken_by_no_constant", NULL, COLUMNS(columns));
    for (int i = 0; i < file->untaken.count; i++) {
        const Untaken *of = &file->untaken.items[i];
        ANSWER_ROW(answer, of->what, of->count, of->least_seconds,
                   of->most_rate > 0 ? answer_of(AS_BANDWIDTH, of->most_rate)
                                     : answer_shown(AS_BANDWIDTH, of->most_rate, ""),
                   of->is_link && link > 0 ? answer_of(AS_BANDWIDTH, link) : answer_of_nothing(), of->why);
    }
}

static void add_outliers(Answer *answer, Arena *arena, const DeviceFit *fit) {
    static const AnswerColumn columns[] = {{"line", "line", AS_WHOLE, 0},
                                           {"name", "outlier", AS_TEXT, 0},
                                           {"error_pct", "predicted, % more", AS_NUMBER, 0}};
    answer_table(answer, "outliers", NULL, COLUMNS(columns));
    for (int i = 0; i < fit->outlier_count; i++)
        ANSWER_ROW(answer, fit->outliers[i].row->line, measured_name(arena, fit->outliers[i].row),
                   answer_of_percent(fit->outliers[i].error));
}

static void fill_device(Answer *answer, Arena *arena, const MeasuredFile *file, const DeviceFit *fit) {
    answer_rename(answer, "calibrate-fit-device");
    answer_say(answer, NULL, "%s (%s%s%s%s%s): %d measurements.", file->gpu->name, file->gpu_name,
               file->driver[0] ? ", driver " : "", file->driver, file->date[0] ? ", " : "", file->date, file->count);
    answer_text(answer, "gpu", NULL, file->gpu->name);
    answer_number(answer, "rows_used", NULL, AS_WHOLE, file->count);
    answer_number(answer, "noise", NULL, AS_NUMBER, fit->noise);
    if (file->failed + file->skipped + file->other > 0)
        answer_say(answer, NULL, "left out: %d that no constant takes, %d skipped and %d failed when measured.",
                   file->other, file->skipped, file->failed);
    add_parameters(answer, arena, fit);
    calibrate_add_errors(answer, "errors_held_out", "Errors, held out", fit->held_out, fit->held_out_count);
    answer_first_rows(answer, 3);
    calibrate_add_advice(answer, arena, fit);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    calibrate_add_errors(answer, "errors", "Errors, all rows", fit->errors, fit->error_count);
    add_correlations(answer, fit);
    add_channel(answer, fit);
    add_untaken(answer, file);
    if (file->large_mhz > 0)
        answer_say(answer, NULL, "large GEMMs ran at %.0f MHz%s; the power cap held %d of %d of them down.",
                   file->large_mhz, file->max_mhz > 0 ? arena_printf(arena, " of %.0f", file->max_mhz) : "",
                   file->capped_count, file->large_count);
    add_outliers(answer, arena, fit);
    add_ranges(answer, arena, file);
    answer_close(answer);
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

static int fit_one(Asking *asking, const char *path) {
    const Catalogue *catalogue = catalogue_builtin(asking->arena);
    const char *output = option_text(asking->options, "output", NULL), *gpu = option_text(asking->options, "gpu", NULL);
    bool nsys = nsys_is_export(path), traced = nsys || kineto_is_trace(path);
    const MeasuredFile *file = traced ? read_trace(asking->arena, catalogue, path, gpu, asking->problems)
                                      : measured_read(asking->arena, catalogue, path, gpu, asking->problems);
    if (!file) return EXIT_BAD_INPUT;
    int fewest = file->is_import ? FEWEST_IMPORTED : FEWEST_MEASUREMENTS;
    if (file->count < fewest) {
        problem_add(asking->problems, (Where){path, 0}, "%d measurements that a fit can use are too few: it takes %d",
                    file->count, fewest);
        problem_hint(asking->problems, nsys     ? "nsys records no shapes: take a trace of torch.profiler"
                                       : traced ? "profile with record_shapes=True, so that products have shapes"
                                                : "a full run of lockstep-bench has hundreds");
        return EXIT_BAD_INPUT;
    }
    DeviceFit *fit = ARENA_NEW(asking->arena, DeviceFit);
    *fit = device_fit(asking->arena, catalogue, file->gpu, file->rows, file->count,
                      option_seed(asking->options, "seed", 1), false);
    fill_device(asking->answer, asking->arena, file, fit);
    return !output || profile_write_device(asking->arena, file, fit, output, asking->problems) ? EXIT_DONE
                                                                                               : EXIT_FAILED;
}

// ---- The question.

static int fit_many(Asking *asking, const char *path) {
    const char *output = option_text(asking->options, "output", NULL);
    const GemmData *data = gemm_data_read(asking->arena, catalogue_builtin(asking->arena), path, asking->problems);
    if (!data) return EXIT_BAD_INPUT;
    GemmFit fit = gemm_fit(asking->arena, data, option_seed(asking->options, "seed", 1));
    fill_gemms(asking->answer, asking->arena, data, &fit);
    return !output || profile_write_gemm(asking->arena, &fit, path, output, asking->problems) ? EXIT_DONE : EXIT_FAILED;
}

static int fit_nccl(Asking *asking) {
    const Options *options = asking->options;
    int count = option_positional_count(options);
    const char **paths = ARENA_ARRAY(asking->arena, const char *, count);
    for (int i = 0; i < count; i++) paths[i] = option_positional(options, i);
    LogMachine machine = {.node = option_text(options, "node", NULL),
                          .gpu = option_text(options, "gpu", NULL),
                          .fabric = option_text(options, "fabric", NULL),
                          .nodes = (int)option_count(options, "nodes", 0)};
    return fit_logs(asking, catalogue_builtin(asking->arena), paths, count, &machine);
}

static int fit_generations(Asking *asking, const char *path) {
    const char *output = option_text(asking->options, "output", NULL);
    const GenerationFit *fit =
        generation_fit(asking->arena, catalogue_builtin(asking->arena), path, true, asking->problems);
    if (!fit) return EXIT_BAD_INPUT;
    fill_generations(asking->answer, asking->arena, fit);
    return !output || profile_write_generations(asking->arena, fit, path, output, asking->problems) ? EXIT_DONE
                                                                                                    : EXIT_FAILED;
}

// Of kernels there is no profile: they are no constants of a GPU.
static const struct {
    const KernelForm *form;
    void (*fill)(Answer *answer, Arena *arena, const KernelFit *fit);
} kernel_forms[] = {{&attention_form, fill_attention}, {&experts_form, fill_experts}, {&exchange_form, fill_exchanges}};
enum { KERNEL_FORMS = sizeof kernel_forms / sizeof *kernel_forms };

static int fit_kernels(Asking *asking, const char *path, int form) {
    const KernelFit *fit =
        kernel_fit(asking->arena, kernel_forms[form].form, catalogue_builtin(asking->arena), path, asking->problems);
    if (fit) kernel_forms[form].fill(asking->answer, asking->arena, fit);
    return fit ? EXIT_DONE : EXIT_BAD_INPUT;
}

static int ask(Asking *asking) {
    const Options *options = asking->options;
    const char *path = option_positional_count(options) > 0 ? option_positional(options, 0) : NULL;
    if (path && is_nccl_log(path)) return fit_nccl(asking);
    options_refuse_positional(options, 1, asking->problems);
    if (path && option_given(options, "gemm")) problem_add(asking->problems, (Where){0}, "one file at a time");
    if (!path) path = option_text(options, "gemm", NULL);
    if (!path) {
        problem_add(asking->problems, (Where){0}, "no measurements to fit");
        problem_hint(asking->problems, "usage: %s", usage);
    }
    if (problem_count(asking->problems) > 0) return EXIT_USAGE;
    if (measured_is_json(path) || kineto_is_trace(path) || nsys_is_export(path))
        return fit_one(asking, path); // which may be packed
    for (int i = 0; i < KERNEL_FORMS; i++)
        if (kernel_table_is_of(kernel_forms[i].form, path)) return fit_kernels(asking, path, i);
    return kernel_table_is_of_gemms(path) ? fit_generations(asking, path) : fit_many(asking, path);
}

const Question calibrate_fit_question = {.name = "calibrate-fit",
                                         .usage = usage,
                                         .about = about,
                                         .own = specs,
                                         .own_count = sizeof specs / sizeof *specs,
                                         .positional = INT_MAX,
                                         .ask = ask};
