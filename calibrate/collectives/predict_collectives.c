// Predicts logs with the shipped constants, with those of a fit to other logs of the same machine, or with shared
// ones fitted without a family.
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "sim/system/workers.h"

void predict(MeasuredCollective *measured, const NcclConstants *constants) {
    for (int r = 0; r < measured->log->row_count; r++)
        measured->predicted[r] = collective_price_seconds(measured->price, measured->log->rows[r].bytes, constants);
}

// Within one node the network has no effect, so any network matches.
static bool of_one_setup(const MeasuredCollective *a, const MeasuredCollective *b) {
    return strcmp(a->setup, b->setup) == 0 &&
           (!*a->network_kind || !*b->network_kind || strcmp(a->network_kind, b->network_kind) == 0);
}

static void say_fit(const Validation *validation, const MeasuredCollective *measured, const NcclConstants *constants,
                    const double *sigma, int logs) {
    ConstantId ids[CONSTANT_COUNT];
    int count = constants_of_scope(SCOPE_PLATFORM, ids);
    const char *fitted = "";
    for (int p = 0; p < count; p++)
        fitted = arena_printf(validation->arena, "%s%s %s %.2f ± %.2f", fitted, p ? "," : "",
                              constant_rows[ids[p]].name + strlen("platform: "), constants->values[ids[p]],
                              constants->values[ids[p]] * sigma[p]);
    if (isfinite(constants->values[PLATFORM_LONG_BYTES]))
        fitted =
            arena_printf(validation->arena, "%s from %.0f MB on", fitted, constants->values[PLATFORM_LONG_BYTES] / 1e6);
    answer_say(validation->answer, NULL, "Fitted on %d logs of the machine of %s:%s.", logs, measured->log->name,
               fitted);
}

// ---- What is fitted on.
static bool is_least_scale(const Measurements *logs, const MeasuredCollective *measured) {
    for (int i = 0; i < logs->count; i++) {
        const MeasuredCollective *other = &logs->items[i];
        if (spans_nodes(other->cluster) && of_one_setup(measured, other) &&
            other->cluster->rank_count < measured->cluster->rank_count)
            return false;
    }
    return true;
}

// "ops": all_reduce, for all others; "scale": one node and the fewest GPUs of several, for more; else by name.
static bool is_fitted_on(const Measurements *logs, const MeasuredCollective *measured, const char *what) {
    if (strcmp(what, "ops") == 0) return measured->op == COLLECTIVE_ALL_REDUCE;
    if (strcmp(what, "scale") == 0) return !spans_nodes(measured->cluster) || is_least_scale(logs, measured);
    return fnmatch(what, measured->log->name, 0) == 0;
}

static bool choose_fitted(Validation *validation, const char *what) {
    Measurements *logs = &validation->logs;
    int matching = 0;
    for (int i = 0; i < logs->count; i++) {
        logs->items[i].fitted = is_fitted_on(logs, &logs->items[i], what);
        matching += logs->items[i].fitted;
    }
    if (matching) return true;
    problem_add(validation->problems, (Where){0}, "no log's name matches \"%s\"", what);
    return problem_hint(validation->problems,
                        "a name is the file's without folder and ending; put the pattern in quotes");
}

// Each log is predicted with constants fitted on the chosen logs of its machine; where there is none, with the shipped
// constants. Machines of which nothing is left to predict are not fitted.
void fit_and_predict(Validation *validation, const char *what) {
    Arena *arena = validation->arena;
    Measurements *logs = &validation->logs;
    double **sets = ARENA_ARRAY(arena, double *, logs->count + 1);
    NcclConstants *found = ARENA_ARRAY(arena, NcclConstants, logs->count + 1);
    double *sigma = ARENA_ARRAY(arena, double, CONSTANT_COUNT);
    int set_count = 0;
    if (!choose_fitted(validation, what)) return;
    for (int i = 0; i < logs->count; i++) find_what_matters(arena, &logs->items[i], NULL);
    for (int i = 0; i < logs->count; i++) {
        MeasuredCollective *measured = &logs->items[i];
        double *set = ARENA_ARRAY(arena, double, logs->count);
        int members = 0, same = 0;
        if (measured->fitted) continue;
        for (int j = 0; j < logs->count; j++)
            members += (set[j] = logs->items[j].fitted && of_one_setup(measured, &logs->items[j])) > 0;
        if (!members) continue;
        measured->informed = true;
        while (same < set_count && memcmp(sets[same], set, (size_t)logs->count * sizeof *set) != 0) same++;
        if (same == set_count) {
            sets[same] = set;
            found[same] = nccl_constants_shipped();
            fit_collectives(arena, logs, set, SCOPE_PLATFORM, &found[same], NULL, sigma);
            say_fit(validation, measured, &found[same], sigma, members);
            set_count++;
        }
        predict(measured, &found[same]);
    }
}

// ---- Fitting the shared constants.
// One vote per machine, shared by its logs.
static void weigh(const Measurements *logs, WordOf word_of, const char *without, double *weights) {
    for (int i = 0; i < logs->count; i++) {
        const MeasuredCollective *measured = &logs->items[i];
        int alike = 0;
        for (int j = 0; j < logs->count; j++) alike += strcmp(measured->machine, logs->items[j].machine) == 0;
        bool left_out = *measured->cluster->do_not_fit || (without && strcmp(word_of(measured), without) == 0);
        weights[i] = left_out ? 0 : 1.0 / alike;
    }
}

static double sum_of(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum;
}

// ---- Rules.
#define TOUCHED 0.02    // of a logarithm, at any size
#define RULE_MACHINES 2 // evidence for a rule, at least

static bool is_touched(const MeasuredCollective *measured, const NcclConstants *without) {
    for (int r = 0; r < measured->log->row_count; r++) {
        double bytes = measured->log->rows[r].bytes;
        double ratio = collective_price_seconds(measured->price, bytes, without) /
                       collective_price_seconds(measured->price, bytes, NULL);
        if (fabs(log(ratio)) >= TOUCHED) return true;
    }
    return false;
}

int find_touched(const Measurements *logs, RuleId rule, bool *touched) {
    NcclConstants without = nccl_constants_shipped();
    int machines = 0;
    without.without[rule] = true;
    for (int i = 0; i < logs->count; i++) touched[i] = false;
    for (int i = 0; i < logs->count; i++) {
        if (touched[i] || !is_touched(&logs->items[i], &without)) continue;
        for (int j = i; j < logs->count; j++)
            touched[j] = touched[j] || strcmp(logs->items[j].machine, logs->items[i].machine) == 0;
        for (int j = 0; j < i; j++)
            touched[j] = touched[j] || strcmp(logs->items[j].machine, logs->items[i].machine) == 0;
        machines++;
    }
    return machines;
}

// A rule learned from logs alone is kept if two of the machines it affects are left.
static void forget_rules(const Measurements *logs, const double *weights, bool *const *touched,
                         NcclConstants *constants) {
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        int machines = 0;
        for (int i = 0; i < logs->count && rule_rows[rule].learned; i++) {
            bool counts = weights[i] > 0 && touched[rule][i];
            for (int j = 0; j < i && counts; j++)
                counts = weights[j] <= 0 || strcmp(logs->items[i].machine, logs->items[j].machine) != 0;
            machines += counts;
        }
        if (rule_rows[rule].learned && machines < RULE_MACHINES) constants->without[rule] = true;
    }
}

// ---- Groups left out.

typedef struct LeftOut {
    const Measurements *logs;
    WordOf word_of;
    NcclConstants prior, all;
    bool *touched[RULE_COUNT];
    bool forgetting;
    const char **words; // [groups]
    int group_count;
} LeftOut;

static void *constants_without(const void *context, Arena *arena, int64_t group) {
    const LeftOut *out = context;
    Arena *scratch = arena_open();
    NcclConstants *constants = ARENA_NEW(arena, NcclConstants);
    double *weights = ARENA_ARRAY(scratch, double, out->logs->count);
    *constants = out->prior;
    weigh(out->logs, out->word_of, out->words[group], weights);
    if (out->forgetting) forget_rules(out->logs, weights, out->touched, constants);
    if (sum_of(weights, out->logs->count) > 0)
        fit_collectives(scratch, out->logs, weights, SCOPE_SHARED, constants, &out->all, NULL);
    arena_close(scratch);
    return constants;
}

static void find_groups(Arena *arena, LeftOut *out, const bool *chosen) {
    const Measurements *logs = out->logs;
    out->words = ARENA_ARRAY(arena, const char *, logs->count);
    for (int i = 0; i < logs->count; i++) {
        const char *word = out->word_of(&logs->items[i]);
        bool seen = false;
        for (int j = 0; j < i; j++) seen = seen || strcmp(out->word_of(&logs->items[j]), word) == 0;
        if (!seen && (!chosen || chosen[i])) out->words[out->group_count++] = word;
    }
}

// All fits begin their search where one to all logs ends.
int leave_out(Validation *validation, WordOf word_of, const bool *chosen, RuleId without, bool forgetting) {
    Arena *arena = validation->arena;
    Measurements *logs = &validation->logs;
    double *weights = ARENA_ARRAY(arena, double, logs->count);
    LeftOut out = {.logs = logs, .word_of = word_of, .prior = nccl_constants_prior(), .forgetting = forgetting};
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        out.touched[rule] = ARENA_ARRAY(arena, bool, logs->count);
        find_touched(logs, (RuleId)rule, out.touched[rule]);
    }
    if (without < RULE_COUNT) out.prior.without[without] = true;
    out.all = out.prior;
    for (int i = 0; i < logs->count; i++) find_what_matters(arena, &logs->items[i], out.prior.without);
    weigh(logs, word_of, NULL, weights);
    if (sum_of(weights, logs->count) > 0) fit_collectives(arena, logs, weights, SCOPE_SHARED, &out.all, NULL, NULL);
    find_groups(arena, &out, chosen);
    Pieces pieces = {.what = "what is left out", .count = out.group_count, .work = constants_without, .context = &out};
    void **constants = pieces_do(arena, &pieces);
    for (int g = 0; g < out.group_count; g++)
        for (int j = 0; j < logs->count && constants[g]; j++)
            if (strcmp(word_of(&logs->items[j]), out.words[g]) == 0) predict(&logs->items[j], constants[g]);
    return out.group_count;
}

void cross(Validation *validation, WordOf word_of, const char *what) {
    int left_out = leave_out(validation, word_of, NULL, RULE_COUNT, true);
    ConstantId ids[CONSTANT_COUNT];
    answer_say(validation->answer, NULL,
               "Each %s predicted without its logs: %d left out in turn, %d constants fitted anew from their priors.",
               what, left_out, constants_of_scope(SCOPE_SHARED, ids));
}

// The table of constants as one fit to all given logs has it.
void refit(Validation *validation) {
    static const AnswerColumn columns[] = {{"constant", "constant", AS_TEXT, 0},
                                           {"unit", "unit", AS_TEXT, 0},
                                           {"shipped", "shipped", AS_NUMBER, 0},
                                           {"fitted", "fitted", AS_NUMBER, 0},
                                           {"sigma", "±", AS_NUMBER, 1},
                                           {"prior", "prior", AS_NUMBER, 2},
                                           {"prior_spread", "spread", AS_NUMBER, 2},
                                           {"machines", "machines", AS_WHOLE, 2}};
    Arena *arena = validation->arena;
    Measurements *logs = &validation->logs;
    double *weights = ARENA_ARRAY(arena, double, logs->count), *sigma = ARENA_ARRAY(arena, double, CONSTANT_COUNT);
    NcclConstants constants = nccl_constants_prior();
    ConstantId ids[CONSTANT_COUNT];
    int count = constants_of_scope(SCOPE_SHARED, ids);
    for (int i = 0; i < logs->count; i++) find_what_matters(arena, &logs->items[i], NULL);
    weigh(logs, machine_word, NULL, weights);
    double rms = fit_collectives(arena, logs, weights, SCOPE_SHARED, &constants, NULL, sigma);
    answer_table(validation->answer, "constants", NULL, COLUMNS(columns));
    for (int p = 0; p < count; p++) {
        const ConstantRow *row = &constant_rows[ids[p]];
        ANSWER_ROW(validation->answer, row->name, row->unit, row->value, constants.values[ids[p]] / row->scale,
                   sigma[p], row->prior, row->prior_spread, machines_that_tell(logs, weights, ids[p]));
    }
    answer_number(validation->answer, "rms_residual", "Root mean square residual", AS_NUMBER, rms);
    for (int j = 0; j < logs->count; j++) predict(&logs->items[j], &constants);
}
