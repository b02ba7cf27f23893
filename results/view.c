// Presentation of a record: labels, units, colours, and the columns of its points.
#include "results/view.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/list.h"
#include "sim/base/text.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

// ---- Points and their parameters.

const RecordParameter *point_parameter(const RecordPoint *point, const char *name) {
    for (int i = 0; i < point->parameter_count; i++)
        if (strcmp(point->parameters[i].name, name) == 0) return &point->parameters[i];
    return NULL;
}

static const char *parameter_text(const RecordPoint *point, const char *name) {
    const RecordParameter *parameter = point_parameter(point, name);
    return parameter && parameter->text ? parameter->text : "";
}

static bool varies(const Record *record, const char *name) {
    const char *first = parameter_text(&record->points[0], name);
    for (int i = 1; i < record->point_count; i++)
        if (strcmp(first, parameter_text(&record->points[i], name)) != 0) return true;
    return false;
}

const char **varied_parameters(Arena *arena, const Record *record, int *count) {
    Names names = {0};
    for (int i = 0; i < record->point_count; i++)
        for (int k = 0; k < record->points[i].parameter_count; k++)
            names_add(arena, &names, record->points[i].parameters[k].name);
    *count = 0;
    for (int i = 0; i < names.count; i++)
        if (varies(record, names.items[i])) names.items[(*count)++] = names.items[i];
    return names.items;
}

bool is_gpu_axis(const char *parameter) { return parameter && strcmp(parameter, "gpus") == 0; }

static const char *join(Arena *arena, const char *before, const char *next) {
    return *before ? arena_printf(arena, "%s · %s", before, next) : next;
}

const char *point_label(Arena *arena, const Record *record, const RecordPoint *point, const char *without) {
    int count;
    const char **names = varied_parameters(arena, record, &count), *label = "";
    for (int i = 0; i < count; i++)
        if (!without || strcmp(names[i], without) != 0) label = join(arena, label, parameter_text(point, names[i]));
    return label;
}

const char *point_label_title(Arena *arena, const Record *record, const char *without) {
    int count;
    const char **names = varied_parameters(arena, record, &count), *title = "";
    for (int i = 0; i < count; i++)
        if (!without || strcmp(names[i], without) != 0)
            title = join(arena, title, is_gpu_axis(names[i]) ? "GPUs" : names[i]);
    return title;
}

const char *point_settings(Arena *arena, const Record *record, const RecordPoint *point) {
    int count;
    const char **names = varied_parameters(arena, record, &count), *text = "";
    for (int i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s = %s", text, i ? ", " : "", is_gpu_axis(names[i]) ? "GPUs" : names[i],
                            parameter_text(point, names[i]));
    return text;
}

double if_ran(const RecordPoint *point, double value) { return point->ran && isfinite(value) ? value : NAN; }

// ---- Speed.

static bool counts_tokens(const Record *record) {
    for (int i = 0; i < record->point_count; i++)
        if (if_ran(&record->points[i], record->points[i].tokens_per_s) > 0) return true;
    return false;
}

double point_rate(const Record *record, const RecordPoint *point) {
    double rate = if_ran(point, counts_tokens(record) ? point->tokens_per_s : point->samples_per_s);
    return rate > 0 ? rate : NAN;
}

const char *rate_unit(Arena *arena, const Record *record) {
    if (counts_tokens(record)) return "tokens/s";
    return arena_printf(arena, "%s/s", record->sample_name ? record->sample_name : "samples");
}

// ---- Settings without effect.

static const Effect *effect_of(const RecordPoint *point, const char *name) {
    for (int i = 0; i < point->effect_count; i++)
        if (strcmp(point->effects[i].name, name) == 0) return &point->effects[i];
    return NULL;
}

static bool has_effect_somewhere(const RecordPoint *points, int count, const char *name) {
    for (int i = 0; i < count; i++) {
        const Effect *effect = effect_of(&points[i], name);
        if (effect && !effect->lacks) return true;
    }
    return false;
}

const char *const *without_effect(Arena *arena, const RecordPoint *points, int point_count, int *count) {
    Names texts = {0};
    for (int i = 0; i < point_count; i++)
        for (int k = 0; k < points[i].effect_count; k++) {
            const Effect *effect = &points[i].effects[k];
            if (effect->lacks && !has_effect_somewhere(points, point_count, effect->name))
                names_add(arena, &texts, arena_printf(arena, "%s has no effect here: %s", effect->name, effect->lacks));
        }
    *count = texts.count;
    return texts.items;
}

// ---- Memory.

#define SURE 0.05 // at most, of the chance to run out of memory

bool point_fits(const RecordPoint *point) {
    return point->known_to_fit || !(point->memory_capacity_bytes > 0) || point->chance_to_run_out <= SURE + 1e-12;
}

// ---- More GPUs than pay.

#define HARDLY 0.25 // of the speed-up that the additional GPUs could give

static const NamedValue *largest_traffic(const RecordPoint *point) {
    static const char *const traffic[] = {"tp", "pp", "dp", "ep", "cp"};
    const NamedValue *largest = NULL;
    for (int i = 0; i < point->exposed_count; i++)
        for (int t = 0; t < COUNT_OF(traffic); t++)
            if (strcmp(point->exposed[i].name, traffic[t]) == 0 &&
                (!largest || point->exposed[i].value > largest->value))
                largest = &point->exposed[i];
    return largest;
}

static const char *why_they_wait(Arena *arena, const RecordPoint *point) {
    const NamedValue *traffic = largest_traffic(point);
    if (!traffic || !(traffic->value > 0)) return "";
    return arena_printf(arena, " %s communication takes %s of the step%s%s.",
                        traffic->title ? traffic->title : traffic->name,
                        text_percent(arena, traffic->value / point->step_p50_s), point->fabric ? ", over " : "",
                        point->fabric ? point->fabric : "");
}

const char *baseline_batch_say(const RecordPoint *point) {
    bool unsure = point->memory_capacity_bytes > 0 && point->chance_to_run_out > SURE;
    return unsure ? "same batch per replica (may not fit either)" : "same batch per replica";
}

const char *more_gpus_say(Arena *arena, const Record *record, const RecordPoint *point) {
    int fewer = point->baseline_gpus;
    if (!point->ran || fewer < 1 || fewer >= point->gpu_count) return NULL;
    double rate = point_rate(record, point), times = point->samples_per_s / point->baseline_samples_per_s;
    if (!isfinite(rate) || times > 1 + HARDLY * ((double)point->gpu_count / fewer - 1)) return NULL;
    const char *unit = rate_unit(arena, record), *count = text_count(arena, point->gpu_count, true);
    return arena_printf(arena,
                        "%s GPUs are %s than %s: together they reach %s %s, %s alone, at the same batch per replica, "
                        "%s (%s times).%s",
                        count, times <= 1 ? "slower" : "hardly faster", text_count(arena, fewer, true),
                        text_rate(arena, rate), unit, fewer == 1 ? "one" : text_count(arena, fewer, true),
                        text_rate(arena, rate / times), text_figures(arena, times, 2), why_they_wait(arena, point));
}

const char *machine_text(Arena *arena, const RecordPoint *point) {
    if (point->gpu_count <= 0) return "";
    const char *gpus = text_count(arena, point->gpu_count, true);
    if (!point->nodes) return gpus;
    return arena_printf(arena, "%s in %s%s%s", gpus, point->nodes, point->fabric ? " over " : "",
                        point->fabric ? point->fabric : "");
}

double sum_of_values(const NamedValue *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        if (isfinite(values[i].value)) sum += values[i].value;
    return sum;
}

// ---- Colours. Work is blue and purple, distribution overhead is warm, waiting for external causes green. The hues
// are distinguishable for the colour-blind (after Okabe and Ito, 2008); neighbours differ in lightness as well.

typedef struct NamedLook {
    const char *name;
    Look look;
} NamedLook;

static const NamedLook cause_looks[] = {
    {"gemm", {"GEMM", 0x2f5c9e, true}},
    {"compute", {"compute", 0x2f5c9e, true}},
    {"attention", {"attention", 0x5f96d6, true}},
    {"conv", {"conv", 0x3f78bd, true}},
    {"convolution", {"conv", 0x3f78bd, true}},
    {"memory-bound", {"memory", 0xa9cdee, true}},
    {"memory", {"memory", 0xa9cdee, true}},
    {"launch", {"launch", 0x6f7b8a, false}},
    {"recompute", {"recompute", 0x7357a8, true}},
    {"optimizer", {"optimizer", 0xb9a3da, true}},
    {"tp", {"TP", 0xe69f00, false}},
    {"pp", {"PP", 0xf3dc5a, false}},
    {"bubble", {"bubble", 0xf3dc5a, false}},
    {"dp", {"DP", 0xd5482a, false}},
    {"communication", {"comm", 0xd5482a, false}},
    {"ep", {"EP", 0xcc79a7, false}},
    {"cp", {"CP", 0x8c2d55, false}},
    {"copy", {"copy", 0x8c6d46, false}},
    {"data", {"data", 0x009e73, false}},
    {"host", {"host", 0x8ad1b2, false}},
    {"checkpoint", {"checkpoint", 0x2a6f63, false}},
    {"failure", {"failure", 0x3b1d1a, false}},
    {"other", {"other", 0xc3c8ce, false}},
    {"forward", {"F", 0x5f96d6, true}},
    {"backward", {"B", 0x2f5c9e, true}},
    {"weight-gradient", {"W", 0xa9cdee, true}},
    {"idle", {"idle", 0xeceff2, false}},
};

static const NamedLook memory_looks[] = {
    {"weights", {"weights", 0x2f5c9e, true}},     {"gradients", {"gradients", 0x5f96d6, true}},
    {"optimizer", {"optimizer", 0xa9cdee, true}}, {"activations", {"activations", 0xe69f00, true}},
    {"working", {"working", 0xf3dc5a, true}},     {"buffers", {"buffers", 0xcc79a7, false}},
    {"reserve", {"reserve", 0xc3c8ce, false}},
};

static const uint32_t other_colors[] = {0x2f5c9e, 0xe69f00, 0x009e73, 0xcc79a7, 0xd5482a, 0x5f96d6, 0x7357a8, 0x8c6d46};

static int folded_letter(const char **text) {
    while (**text == '-' || **text == '_' || **text == ' ') (*text)++;
    return **text ? tolower((unsigned char)*(*text)++) : 0;
}

bool same_name(const char *a, const char *b) {
    if (!a || !b) return a == b;
    for (;;) {
        int left = folded_letter(&a), right = folded_letter(&b);
        if (left != right) return false;
        if (left == 0) return true;
    }
}

static Look find_look(const NamedLook *looks, int count, const char *name, int index) {
    for (int i = 0; i < count; i++)
        if (same_name(looks[i].name, name)) return looks[i].look;
    return (Look){NULL, other_colors[index % COUNT_OF(other_colors)], false};
}

Look look_of_cause(const char *name, int index) { return find_look(cause_looks, COUNT_OF(cause_looks), name, index); }

Look look_of_memory(const char *name, int index) {
    return find_look(memory_looks, COUNT_OF(memory_looks), name, index);
}

const char *brief_cause(const char *name) {
    Look look = look_of_cause(name, 0);
    return look.brief ? look.brief : name;
}

// Relative luminance of sRGB, to first order.
bool color_is_dark(uint32_t color) {
    double red = color >> 16 & 0xff, green = color >> 8 & 0xff, blue = color & 0xff;
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140;
}

// ---- The table of point columns, in the order of files.

typedef enum ColumnKind {
    COLUMN_WHOLE,   // an int
    COLUMN_ALWAYS,  // known whether or not the point ran
    COLUMN_RAN,     // only when it ran
    COLUMN_POSITIVE // only when it ran, and 0 means that it does not apply
} ColumnKind;

typedef struct Column {
    ColumnKind kind;
    size_t offset;
} Column;

// clang-format off
const char *const point_columns[POINT_COLUMNS] = {
    "gpus", "nodes", "step_p5_s", "step_p50_s", "step_p95_s", "samples_per_s", "tokens_per_s", "scaling_efficiency",
    "efficiency_vs_ideal", "mfu", "hfu", "flops_per_step", "memory_peak_bytes", "memory_capacity_bytes",
    "chance_to_run_out",
    "cost_per_hour", "cost_per_month", "cost_per_run", "cost_per_step", "days", "steps", "energy_kwh", "power_watts",
    "peak_watts", "carbon_kg",
    "tp", "pp", "vpp", "dp", "cp", "ep", "zero", "micro_batch", "global_batch",
};

#define AT(field) offsetof(RecordPoint, field)
static const Column columns[POINT_COLUMNS] = {
    {COLUMN_WHOLE, AT(gpu_count)}, {COLUMN_WHOLE, AT(node_count)}, {COLUMN_RAN, AT(step_p5_s)},
    {COLUMN_RAN, AT(step_p50_s)}, {COLUMN_RAN, AT(step_p95_s)}, {COLUMN_POSITIVE, AT(samples_per_s)},
    {COLUMN_POSITIVE, AT(tokens_per_s)}, {COLUMN_RAN, AT(efficiency_vs_one_gpu)},
    {COLUMN_RAN, AT(efficiency_vs_ideal)}, {COLUMN_RAN, AT(mfu)}, {COLUMN_RAN, AT(hfu)},
    {COLUMN_RAN, AT(flops_per_step)}, {COLUMN_ALWAYS, AT(memory_peak_bytes)},
    {COLUMN_ALWAYS, AT(memory_capacity_bytes)}, {COLUMN_RAN, AT(chance_to_run_out)}, {COLUMN_ALWAYS, AT(cost_per_hour)},
    {COLUMN_ALWAYS, AT(cost_per_month)}, {COLUMN_RAN, AT(cost_per_run)}, {COLUMN_RAN, AT(cost_per_step)},
    {COLUMN_RAN, AT(days)}, {COLUMN_ALWAYS, AT(steps)}, {COLUMN_RAN, AT(energy_kwh)}, {COLUMN_RAN, AT(power_watts)},
    {COLUMN_RAN, AT(peak_watts)}, {COLUMN_RAN, AT(carbon_kg)},
    {COLUMN_WHOLE, AT(tp)}, {COLUMN_WHOLE, AT(pp)}, {COLUMN_WHOLE, AT(vpp)}, {COLUMN_WHOLE, AT(dp)},
    {COLUMN_WHOLE, AT(cp)}, {COLUMN_WHOLE, AT(ep)}, {COLUMN_WHOLE, AT(zero)}, {COLUMN_ALWAYS, AT(micro_batch)},
    {COLUMN_ALWAYS, AT(global_batch)},
};
// clang-format on

double point_number(const RecordPoint *point, int column) {
    const void *field = (const char *)point + columns[column].offset;
    switch (columns[column].kind) {
    case COLUMN_WHOLE:
        return *(const int *)field;
    case COLUMN_ALWAYS:
        return *(const double *)field;
    case COLUMN_RAN:
        return if_ran(point, *(const double *)field);
    case COLUMN_POSITIVE:
        return if_ran(point, *(const double *)field) > 0 ? *(const double *)field : NAN;
    }
    return NAN;
}

bool point_takes_number(int column, double number) {
    return columns[column].kind != COLUMN_WHOLE || isnan(number) || fabs(number) <= INT_MAX;
}

void point_set_number(RecordPoint *point, int column, double number) {
    void *field = (char *)point + columns[column].offset;
    bool is_zero = columns[column].kind == COLUMN_POSITIVE && isnan(number);
    if (columns[column].kind == COLUMN_WHOLE)
        *(int *)field = isnan(number) ? 0 : (int)number;
    else
        *(double *)field = is_zero ? 0 : number;
}
