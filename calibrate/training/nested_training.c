// The nested hold-out: rows are left out with everything that was learned from them alone.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "sim/base/digest.h"
#include "sim/base/embed.h"
#include "sim/system/workers.h"

// ---- The catalogue without numbers that were derived from training runs, by their source text.

#define TRAINING_SOURCE "training runs"
#define EFFICIENCY "gemm_efficiency_"
#define TRAINED "training_efficiency_"

static bool is_from_training(const Fact *fact) { return fact->source && strstr(fact->source, TRAINING_SOURCE); }

// The GPU's member of a fact; NULL: not one derived from training runs.
static double *place_of(Gpu *gpu, const char *name) {
    Precision precision;
    if (strcmp(name, "training_clock") == 0) return &gpu->training_clock;
    if (strncmp(name, EFFICIENCY, strlen(EFFICIENCY)) == 0 &&
        precision_from_name(name + strlen(EFFICIENCY), &precision))
        return &gpu->gemm_efficiency[precision];
    if (strncmp(name, TRAINED, strlen(TRAINED)) == 0 && precision_from_name(name + strlen(TRAINED), &precision))
        return &gpu->training_efficiency[precision];
    return NULL;
}

static bool is_one_of(const Gpu *gpu, const Gpu *const *gpus, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(gpu->name, gpus[i]->name) == 0) return true;
    return false;
}

// Mean over GPUs at most `furthest` generations away, of measured or fitted numbers; 0: none.
static double mean_of_others(const Catalogue *catalogue, const Gpu *gpu, const char *name, const Gpu *const *without,
                             int count, int furthest) {
    double sum = 0;
    int others = 0;
    for (int i = 0; i < catalogue->gpu_count; i++) {
        Gpu other = catalogue->gpus[i];
        const Fact *fact = fact_find(other.facts, other.fact_count, name);
        bool near = abs((int)other.generation - (int)gpu->generation) <= furthest;
        if (!fact || !near || is_one_of(&other, without, count)) continue;
        if (fact->kind != FACT_MEASURED && fact->kind != FACT_FITTED) continue;
        sum += *place_of(&other, name);
        others++;
    }
    return others ? sum / others : 0;
}

static void forget(const Catalogue *catalogue, Gpu *gpu, const Gpu *const *without, int count) {
    static const int furthest[] = {0, 1, 100};
    const Fact *facts = facts_of(gpu->facts, gpu->fact_count);
    for (int f = 0; f < gpu->fact_count; f++) {
        const char *name = facts[f].name;
        double *place = is_from_training(&facts[f]) ? place_of(gpu, name) : NULL, mean = 0;
        for (size_t i = 0; place && mean == 0 && i < sizeof furthest / sizeof *furthest; i++)
            mean = mean_of_others(catalogue, gpu, name, without, count, furthest[i]);
        if (mean > 0) *place = mean;
    }
}

const Catalogue *catalogue_untrained(Arena *arena, const Catalogue *catalogue, const Gpu *const *gpus, int count) {
    Catalogue *untrained = ARENA_NEW(arena, Catalogue);
    Gpu *all = ARENA_ARRAY(arena, Gpu, catalogue->gpu_count);
    *untrained = *catalogue;
    memcpy(all, catalogue->gpus, (size_t)catalogue->gpu_count * sizeof *all);
    for (int i = 0; i < catalogue->gpu_count; i++)
        if (is_one_of(&all[i], gpus, count)) forget(catalogue, &all[i], gpus, count);
    untrained->gpus = all;
    return untrained;
}

// ---- Classes of families: software tuned by its makers, or ordinary code. A class depends on who published the
// figures, not on how fast they are: a computing centre's, a lab's or a user's runs are ordinary, whatever library they
// use.

EMBED(family_classes, "calibrate/measurements/families.csv");

// The family's class and what follows it on its line; NULL: it has none.
static const char *class_of(const char *family) {
    size_t length = strlen(family);
    for (const char *line = family_classes; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, family, length) == 0 && line[length] == ',') return line + length + 1;
    }
    return NULL;
}

bool family_is_known(const char *family) { return class_of(family) != NULL; }

bool family_is_tuned(const char *family) {
    const char *class = class_of(family);
    return class && strncmp(class, "tuned,", strlen("tuned,")) == 0;
}

// ---- Shared constants are not refitted themselves: a factor on each cause of a step replaces that.

#define WORTH_TELLING 0.003

const char *const nested_questions[NESTED_COUNT] = {
    [NESTED_FAMILY] = "a family left out",
    [NESTED_GPU] = "a type of GPU left out",
    [NESTED_FRAMEWORK] = "framework names withheld",
    [NESTED_SCALE] = "each family's largest scale left out",
    [NESTED_YEAR] = "the newest year left out",
    [NESTED_ORDINARY] = "all ordinary code left out",
    [NESTED_UNSAID] = "the same, nothing said",
    [NESTED_TUNED] = "all tuned code left out",
    [NESTED_THIRDS] = "thirds of ordinary families left out",
    [NESTED_THIRDS_AGAIN] = "the same, drawn again",
    [NESTED_THIRDS_LAST] = "the same, drawn once more",
};

typedef struct Nested {
    Arena *arena;
    const Catalogue *catalogue;
    const PredictedRun *runs;
    int count;
    PredictedRun *answers;
    double *factors;
    LIST_OF(bool *) folds; // [count][rows] left out
    bool withholds_names;
    int rules_withheld;
} Nested;

static const Gpu *gpu_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpu; }
static int gpus_of(const PredictedRun *run) { return run->run->cluster->groups[0].gpus; }

// ---- Knowing less.

static bool same_gpu(const PredictedRun *a, const PredictedRun *b) {
    return strcmp(gpu_of(a)->name, gpu_of(b)->name) == 0;
}

// Of rules that rows left out need and no other does.
static SoftwareRules rules_only_in(const Nested *n, const bool *left_out) {
    SoftwareRules inside = 0, outside = 0;
    for (int i = 0; i < n->count; i++)
        if (!n->runs[i].skipped) *(left_out[i] ? &inside : &outside) |= n->runs[i].run->software->rules;
    return inside & ~outside;
}

static int rules_in(SoftwareRules rules) {
    int count = 0;
    for (; rules; rules &= rules - 1) count++;
    return count;
}

// What was measured stays, also where it follows from settings that are now another's.
static PredictedRun predict_again(Arena *arena, const Catalogue *catalogue, const PredictedRun *before,
                                  const Withheld *withheld) {
    MeasuredRun *run = ARENA_NEW(arena, MeasuredRun);
    *run = measured_run_again(arena, catalogue, before->run, withheld);
    if (!run->skipped) run->measured_step_s = before->run->measured_step_s;
    return predict_run(arena, catalogue, run);
}

// Types of GPU of which no run stays.
static const Gpu **gpus_left_out(Arena *arena, const Nested *n, const bool *left_out, int *count) {
    const Gpu **gone = ARENA_ARRAY(arena, const Gpu *, n->catalogue->gpu_count);
    *count = 0;
    for (int i = 0; i < n->count; i++) {
        bool stays = n->runs[i].skipped || !left_out[i];
        for (int j = 0; j < n->count && !stays; j++)
            stays = !n->runs[j].skipped && !left_out[j] && same_gpu(&n->runs[i], &n->runs[j]);
        for (int k = 0; k < *count && !stays; k++) stays = strcmp(gone[k]->name, gpu_of(&n->runs[i])->name) == 0;
        if (!stays) gone[(*count)++] = gpu_of(&n->runs[i]);
    }
    return gone;
}

static bool is_gone(const PredictedRun *run, const Gpu *const *gone, int count) {
    for (int k = 0; k < count; k++)
        if (strcmp(gone[k]->name, gpu_of(run)->name) == 0) return true;
    return false;
}

// Rows left out, answered by what the others know.
typedef struct Fold {
    const PredictedRun *answers; // [those left out]
    const double *factors;       // likewise; 0: unknown
    int rules_withheld;
} Fold;

static void *answer_fold(const void *context, Arena *arena, int64_t item) {
    const Nested *n = context;
    const bool *left_out = n->folds.items[item];
    Withheld withheld = {.framework_name = n->withholds_names, .rules = rules_only_in(n, left_out)};
    int gone_count = 0;
    const Gpu **gone = gpus_left_out(arena, n, left_out, &gone_count);
    const Catalogue *catalogue = gone_count ? catalogue_untrained(arena, n->catalogue, gone, gone_count) : n->catalogue;
    Arena *scratch = arena_open();
    PredictedRun *merged = ARENA_ARRAY(scratch, PredictedRun, n->count);
    double *factors = ARENA_ARRAY(scratch, double, n->count);
    int count = 0;
    for (int i = 0; i < n->count; i++) {
        merged[i] = n->runs[i];
        bool changed = left_out[i] && !merged[i].skipped &&
                       (n->withholds_names || (merged[i].run->software->rules & withheld.rules) ||
                        is_gone(&merged[i], gone, gone_count));
        if (changed) merged[i] = predict_again(arena, catalogue, &n->runs[i], &withheld);
        count += left_out[i];
    }
    cross_factors(scratch, merged, n->count, left_out, factors);
    PredictedRun *answers = ARENA_ARRAY(arena, PredictedRun, count);
    double *of_answers = ARENA_ARRAY(arena, double, count);
    for (int i = 0, k = 0; i < n->count; i++) {
        if (!left_out[i]) continue;
        answers[k] = merged[i];
        of_answers[k++] = factors[i];
    }
    arena_close(scratch);
    Fold *fold = ARENA_NEW(arena, Fold);
    *fold = (Fold){answers, of_answers, rules_in(withheld.rules)};
    return fold;
}

static int answer_folds(Nested *n) {
    Pieces pieces = {.what = "what is left out", .count = n->folds.count, .work = answer_fold, .context = n};
    void **folds = pieces_do(n->arena, &pieces);
    for (int f = 0; f < n->folds.count; f++) {
        const Fold *fold = folds[f];
        if (!fold) continue; // interrupted
        n->rules_withheld += fold->rules_withheld;
        for (int i = 0, k = 0; i < n->count; i++) {
            if (!n->folds.items[f][i]) continue;
            n->answers[i] = fold->answers[k];
            if (fold->factors[k] > 0) n->factors[i] = fold->factors[k];
            k++;
        }
    }
    return n->folds.count;
}

// ---- What is left out.

static bool same_family(const PredictedRun *a, const PredictedRun *b) {
    return strcmp(a->run->family, b->run->family) == 0;
}

typedef bool Alike(const PredictedRun *a, const PredictedRun *b);

static bool *add_fold(Nested *n) {
    bool *left_out = ARENA_ARRAY(n->arena, bool, n->count);
    LIST_PUSH(n->arena, &n->folds, left_out);
    return left_out;
}

static int answer_each(Nested *n, Alike *alike) {
    for (int i = 0; i < n->count; i++) {
        if (n->runs[i].skipped) continue;
        bool first = true;
        for (int j = 0; j < i && first; j++) first = n->runs[j].skipped || !alike(&n->runs[j], &n->runs[i]);
        if (!first) continue;
        bool *left_out = add_fold(n);
        for (int j = 0; j < n->count; j++) left_out[j] = !n->runs[j].skipped && alike(&n->runs[j], &n->runs[i]);
    }
    return answer_folds(n);
}

// A family of one scale has none that is larger.
static bool is_largest(const Nested *n, int row) {
    bool smaller = false;
    for (int i = 0; i < n->count; i++) {
        if (n->runs[i].skipped || !same_family(&n->runs[i], &n->runs[row])) continue;
        if (gpus_of(&n->runs[i]) > gpus_of(&n->runs[row])) return false;
        smaller |= gpus_of(&n->runs[i]) < gpus_of(&n->runs[row]);
    }
    return smaller;
}

static double newest_year(const Nested *n) {
    double newest = 0;
    for (int i = 0; i < n->count; i++)
        if (!n->runs[i].skipped) newest = fmax(newest, floor(n->runs[i].run->software->year));
    return newest;
}

static bool is_left_out(const Nested *n, NestedQuestion question, int row, double newest) {
    const MeasuredRun *run = n->runs[row].run;
    if (n->runs[row].skipped) return false;
    if (question == NESTED_SCALE) return is_largest(n, row);
    if (question == NESTED_YEAR) return run->software->year >= newest;
    return family_is_tuned(run->family) == (question == NESTED_TUNED);
}

static int answer_one(Nested *n, NestedQuestion question) {
    bool *left_out = add_fold(n);
    double newest = newest_year(n);
    for (int i = 0; i < n->count; i++) left_out[i] = is_left_out(n, question, i, newest);
    return answer_folds(n);
}

static int third_of(const char *family, int64_t draw) {
    return (int)((digest_bytes(DIGEST_START + (uint64_t)draw, family, strlen(family)) >> 32) % 3);
}

static int answer_thirds(Nested *n, int64_t draw) {
    for (int third = 0; third < 3; third++) {
        bool *left_out = add_fold(n);
        for (int i = 0; i < n->count; i++) {
            const char *family = n->runs[i].run->family;
            left_out[i] = !n->runs[i].skipped && !family_is_tuned(family) && third_of(family, draw) == third;
        }
    }
    return answer_folds(n);
}

static void *predict_nameless(const void *context, Arena *arena, int64_t row) {
    const Nested *n = context;
    Withheld withheld = {.framework_name = true};
    PredictedRun *answer = ARENA_NEW(arena, PredictedRun);
    *answer = n->answers[row];
    if (!n->runs[row].skipped) *answer = predict_again(arena, n->catalogue, &n->runs[row], &withheld);
    return answer;
}

static int withhold_names(Nested *n) {
    Pieces pieces = {.what = "the rows", .count = n->count, .work = predict_nameless, .context = n};
    void **rows = pieces_do(n->arena, &pieces);
    for (int i = 0; i < n->count; i++)
        if (rows[i]) n->answers[i] = *(const PredictedRun *)rows[i];
    return 1;
}

NestedAnswer nested_answer(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count,
                           NestedQuestion question) {
    Nested n = {.arena = arena,
                .catalogue = catalogue,
                .runs = runs,
                .count = count,
                .withholds_names = question == NESTED_UNSAID,
                .answers = ARENA_ARRAY(arena, PredictedRun, count),
                .factors = ARENA_ARRAY(arena, double, count)};
    for (int i = 0; i < count; i++) {
        n.factors[i] = 1;
        n.answers[i] = runs[i];
        if (!runs[i].skipped) n.answers[i].skipped = "not left out";
    }
    int folds = question == NESTED_FAMILY      ? answer_each(&n, same_family)
                : question == NESTED_GPU       ? answer_each(&n, same_gpu)
                : question == NESTED_FRAMEWORK ? withhold_names(&n)
                : question >= NESTED_THIRDS    ? answer_thirds(&n, question)
                                               : answer_one(&n, question);
    NestedAnswer answer = {.runs = n.answers, .factors = n.factors, .folds = folds, .rules_withheld = n.rules_withheld};
    answer.scores = score_runs(arena, n.answers, count, n.factors);
    return answer;
}

// ---- Rules.

RuleWorth rule_worth(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count, int rule) {
    Withheld withheld = {.rules = (SoftwareRules)1 << rule};
    RuleWorth worth = {.rows = 0};
    PredictedRun *without = ARENA_ARRAY(arena, PredictedRun, count);
    for (int i = 0; i < count; i++) {
        without[i] = runs[i];
        if (runs[i].skipped || !(runs[i].run->software->rules & withheld.rules)) continue;
        without[i] = predict_again(arena, catalogue, &runs[i], &withheld);
        worth.rows++;
    }
    Scores with = score_runs(arena, runs, count, NULL), less = score_runs(arena, without, count, NULL);
    double most = 0;
    int families = 0;
    for (int i = 0; i < with.family_count; i++) {
        if (with.families[i].covered == 0) continue;
        families++;
        bool needs = false;
        for (int r = 0; r < count && !needs; r++)
            needs = !runs[r].skipped && (runs[r].run->software->rules & withheld.rules) &&
                    strcmp(runs[r].run->family, with.families[i].name) == 0;
        worth.families += needs;
        double gain = less.families[i].mean - with.families[i].mean;
        worth.mean += gain;
        most = fmax(most, gain);
        worth.better += gain > WORTH_TELLING;
        worth.worse += gain < -WORTH_TELLING;
    }
    worth.elsewhere = families ? (worth.mean - most) / families : 0;
    worth.mean /= families ? families : 1;
    return worth;
}
