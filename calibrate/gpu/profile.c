// Writing profiles.
#include "calibrate/gpu/command_calibrate.h"

#include <math.h>
#include <string.h>

#include "sim/data/json.h"
#include "sim/system/file.h"

static double rounded(double value) { return round(value * 1e4) / 1e4; }

// A value (as a number or, with a unit, as text), how it is known, where from, and its relative uncertainty.
static void write_fact(JsonWriter *json, const char *key, Estimate estimate, const char *text, const char *kind,
                       const char *source) {
    json_key(json, key);
    json_begin_list(json);
    if (text)
        json_write_text(json, text);
    else
        json_write_number(json, rounded(estimate.value));
    json_write_text(json, kind);
    json_write_text(json, source);
    json_write_number(json, rounded(estimate.sigma));
    json_end_list(json);
}

static void begin_gpu(JsonWriter *json, const Gpu *gpu) {
    json_begin_object(json);
    json_key(json, "name");
    json_write_text(json, gpu->name);
    json_key(json, "like");
    json_write_text(json, gpu->name);
}

static void begin_profile(JsonWriter *json) {
    json_begin_object(json);
    json_key(json, "format");
    json_write_text(json, "lockstep-hardware");
    json_key(json, "format_version");
    json_write_number(json, 1);
    json_key(json, "gpus");
    json_begin_list(json);
}

static bool end_profile(JsonWriter *json, OutputFile *file, Problems *problems) {
    json_end_list(json);
    json_end_object(json);
    fprintf(file->stream, "\n");
    return file_commit(file, problems);
}

static const char *without_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// ---- Many GPUs, from GEMMs.

// Of a GPU's groups, the one whose timing is closest to the device: the shortest launch.
static bool is_best_timed(const GemmFit *fit, int index) {
    for (int i = 0; i < fit->group_count; i++)
        if (fit->groups[i].gpu == fit->groups[index].gpu &&
            fit->groups[i].launch_seconds.value < fit->groups[index].launch_seconds.value)
            return false;
    return true;
}

static void write_gpu(Arena *arena, JsonWriter *json, const GemmFit *fit, const Gpu *gpu, const char *file) {
    begin_gpu(json, gpu);
    for (int i = 0; i < fit->group_count; i++) {
        const GroupFit *group = &fit->groups[i];
        if (group->gpu != gpu) continue;
        const char *source =
            arena_printf(arena, "lockstep calibrate fit on %s, %d GEMMs, held-out error %.1f %% median", file,
                         group->count, 100 * group->median_error);
        write_fact(json, arena_printf(arena, "gemm_efficiency_%s", precision_name(group->precision)),
                   group->compute_efficiency, NULL, "fitted", source);
        if (group->long_rate.value > 0) write_fact(json, "long_gemm_rate", group->long_rate, NULL, "fitted", source);
        if (group->untransposed_gain.value > 0)
            write_fact(json, "untransposed_gemm_gain", group->untransposed_gain, NULL, "fitted", source);
        if (group->odd_rate.value > 0) write_fact(json, "odd_gemm_rate", group->odd_rate, NULL, "fitted", source);
        // Memory-bound GEMMs are the short ones, so a long launch in the timing hides the memory too.
        if (!is_best_timed(fit, i) || group->launch_seconds.value >= HARNESS_LAUNCH_SECONDS) continue;
        write_fact(json, "memory_efficiency", group->memory_efficiency, NULL, "fitted", source);
        write_fact(json, "launch_time", group->launch_seconds,
                   arena_printf(arena, "%.2f us", 1e6 * group->launch_seconds.value), "fitted", source);
    }
    const char *source = arena_printf(arena, "lockstep calibrate fit on %s, shared by all its GPUs", file);
    write_fact(json, "gemm_ramp", fit->ramp, NULL, "fitted", source);
    write_fact(json, "wave_weight", fit->wave_weight, NULL, "fitted", source);
    write_fact(json, "roofline_sharpness", fit->sharpness, NULL, "fitted", source);
    write_fact(json, "gemm_heating", (Estimate){0, 0}, NULL, "assumed", "what this fit supposes");
    write_fact(json, "gemm_feed", (Estimate){GEMM_FIT_FEED_BYTES, 0}, NULL, "assumed", "what this fit supposes");
    write_fact(json, "split_k_time", (Estimate){0}, arena_printf(arena, "%g us", 1e6 * GEMM_FIT_SPLIT_SECONDS),
               "assumed", "what this fit supposes");
    json_end_object(json);
}

bool profile_write_gemm(Arena *arena, const GemmFit *fit, const char *measurements, const char *path,
                        Problems *problems) {
    OutputFile file;
    if (!file_create(arena, path, &file, problems)) return false;
    JsonWriter json = json_writer(file.stream, 2);
    begin_profile(&json);
    for (int i = 0; i < fit->group_count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++) seen |= fit->groups[j].gpu == fit->groups[i].gpu;
        if (!seen) write_gpu(arena, &json, fit, fit->groups[i].gpu, without_folder(measurements));
    }
    return end_profile(&json, &file, problems);
}

// ---- Many types of GPU together.

static void write_type(Arena *arena, JsonWriter *json, const GenerationFit *fit, const Gpu *gpu, const char *file) {
    const char *source = arena_printf(arena, "lockstep calibrate fit on %s", file);
    begin_gpu(json, gpu);
    for (int i = 0; i < fit->types.count; i++) {
        const TypeOfGpu *type = &fit->types.items[i];
        if (type->gpu != gpu) continue;
        write_fact(json, arena_printf(arena, "gemm_efficiency_%s", precision_name(type->precision)), type->efficiency,
                   NULL, "fitted", source);
    }
    const Estimate *kin = fit->kins.items[generation_fit_kin(fit, gpu)].constants;
    double share = kin[KIN_GRAPH_LAUNCH].value / gpu->launch_seconds;
    write_fact(json, "wave_weight", kin[KIN_WAVE], NULL, "fitted", source);
    write_fact(json, "gemm_heating", kin[KIN_HEATING], NULL, "fitted", source);
    write_fact(json, "gemm_l2_gain", kin[KIN_L2_GAIN], NULL, "fitted", source);
    write_fact(json, "graph_launch_share", (Estimate){fmin(1, share), kin[KIN_GRAPH_LAUNCH].sigma}, NULL, "fitted",
               source);
    write_fact(json, "gemm_feed", fit->feed_bytes, NULL, "fitted", source);
    write_fact(json, "split_k_time", fit->split_seconds, arena_printf(arena, "%.3g us", 1e6 * fit->split_seconds.value),
               "fitted", source);
    json_end_object(json);
}

bool profile_write_generations(Arena *arena, const GenerationFit *fit, const char *measurements, const char *path,
                               Problems *problems) {
    OutputFile file;
    if (!file_create(arena, path, &file, problems)) return false;
    JsonWriter json = json_writer(file.stream, 2);
    begin_profile(&json);
    for (int i = 0; i < fit->types.count; i++) {
        bool seen = false;
        for (int before = 0; before < i; before++) seen |= fit->types.items[before].gpu == fit->types.items[i].gpu;
        if (!seen) write_type(arena, &json, fit, fit->types.items[i].gpu, without_folder(measurements));
    }
    return end_profile(&json, &file, problems);
}

// ---- One GPU, from its own measurements. What they do not identify is left to the catalogue.

bool profile_write_device(Arena *arena, const MeasuredFile *measured, const DeviceFit *fit, const char *path,
                          Problems *problems) {
    OutputFile file;
    if (!file_create(arena, path, &file, problems)) return false;
    JsonWriter json = json_writer(file.stream, 2);
    const char *source =
        arena_printf(arena, "lockstep calibrate fit on %s (%s%s%s), %d measurements", without_folder(measured->path),
                     measured->gpu_name, measured->date[0] ? ", " : "", measured->date, measured->count);
    begin_profile(&json);
    begin_gpu(&json, measured->gpu);
    for (int p = 0; p < fit->count; p++) {
        const DeviceParameter *parameter = &fit->parameters[p];
        bool has_unit = parameter->scale != 1;
        if (!parameter->identified || !parameter->in_catalogue) continue;
        write_fact(&json, parameter->key, (Estimate){parameter->value, parameter->sigma},
                   has_unit ? arena_printf(arena, "%.4g %s", parameter->value / parameter->scale, parameter->unit)
                            : NULL,
                   "measured", source);
    }
    json_end_object(&json);
    return end_profile(&json, &file, problems);
}
