// Columns are fixed, so that two runs can be compared with diff.
#include "calibrate/training/print_training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/training/family_classes.h"
#include "calibrate/training/nested_training.h"
#include "calibrate/training/range_training.h"
#include "calibrate/training/regret_training.h"
#include "sim/data/csv.h"
#include "sim/data/envelope.h"
#include "sim/data/json.h"

static double factor_of(const double *factors, int row) { return factors ? factors[row] : 1; }
static double error_of(const PredictedRun *run, double factor) {
    return factor * run->step_s / run->run->measured_step_s - 1;
}

// ---- The scoreboard.

static void print_percent(double share, int width) {
    if (isnan(share))
        printf(" %*s", width, "-");
    else
        printf(" %*.1f", width, 100 * share);
}

static void print_family(const FamilyScore *family) {
    printf("%-30s %5d %7d", family->name, family->rows, family->covered);
    if (family->covered == 0) {
        printf("\n");
        return;
    }
    print_percent(family->mean, 7);
    print_percent(family->median, 7);
    print_percent(family->p90, 7);
    printf(" %+7.1f", 100 * family->bias);
    print_percent(family->naive, 7);
    if (isnan(family->rank_order))
        printf(" %7s", "-");
    else
        printf(" %7.3f", family->rank_order);
    print_percent(family->inside, 7);
    printf(" %6.2f %6.2f\n", family->width, family->interval_score);
}

void print_scoreboard(const Scores *scores) {
    printf("%-30s %5s %7s %7s %7s %7s %7s %7s %7s %7s %6s %6s\n", "family", "rows", "covered", "mean %", "median",
           "p90", "bias", "naive", "order", "in 90 %", "width", "score");
    for (int i = 0; i < scores->family_count; i++) print_family(&scores->families[i]);
    print_family(&scores->all);
    print_family(&scores->mean_of_means);
    printf(
        "errors: |predicted / measured - 1| of step time. naive: one utilisation number per GPU and precision, fitted "
        "on these rows.\norder: Spearman's rank correlation. in 90 %%: measured steps inside the printed "
        "interval; width: its high over its low, median; score: of that interval on the log of time\n(Gneiting and "
        "Raftery, 2007), the less the better.\n");
}

void print_factors(const CrossFit *cross) {
    printf("\n%d factors on seconds by cause; each family was predicted with those fitted on all others. Fitted on all "
           "families they are:\n",
           cross->fitted_count);
    for (int i = 0; i < cross->fitted_count; i++) {
        const FittedFactor *factor = &cross->fitted[i];
        printf("  %-36s %5.2f ± %.2f  (%d rows)\n", factor->name, factor->value, factor->value * factor->sigma,
               factor->rows);
    }
}

static void print_memory(const FamilyScore *family) {
    const MemoryScore *memory = &family->memory;
    printf("%-30s %5d", family->name, memory->rows);
    print_percent(memory->mean, 7);
    print_percent(memory->median, 7);
    printf(" %+7.1f", 100 * memory->bias);
    print_percent(memory->inside, 7);
    printf("\n");
}

void print_memory_scores(const Scores *scores) {
    if (scores->mean_of_means.memory.rows == 0) return;
    printf("\n%-30s %5s %7s %7s %7s %7s\n", "peak memory", "rows", "mean %", "median", "bias", "in 90 %");
    for (int i = 0; i < scores->family_count; i++)
        if (scores->families[i].memory.rows) print_memory(&scores->families[i]);
    print_memory(&scores->all);
    print_memory(&scores->mean_of_means);
    printf("errors: |predicted / measured - 1| of what the source counts: allocated, reserved, or all that the GPU "
           "held. Median of families' means: %.1f %%.\n",
           100 * scores->median_memory_error);
}

// ---- Rows.

static void print_layout(const TrainingSpec *training) {
    const Layout *layout = &training->layout;
    printf("tp %d pp %d vp %d", layout->tp, layout->pp, layout->vpp > 0 ? layout->vpp : 1);
    printf(" zero %d micro-batch %g of %g, %s, recompute %s", layout->zero, training->micro_batch,
           training->global_batch, precision_name(training->precision), recompute_name(training->recompute));
}

void print_worst(const Scores *scores, const PredictedRun *runs, const double *factors, int most) {
    int count = scores->worst_count < most ? scores->worst_count : most;
    if (count == 0) return;
    printf("\nThe %d worst rows\n%-18s %-28s %9s %9s %8s  %s\n", count, "row", "family", "measured", "predicted",
           "error %", "what");
    for (int i = 0; i < count; i++) {
        const PredictedRun *run = &runs[scores->worst[i]];
        double factor = factor_of(factors, scores->worst[i]);
        printf("%-18s %-28.28s %9.4g %9.4g %+8.1f  %s on %d x %s, ", run->run->row_id, run->run->family,
               run->run->measured_step_s, factor * run->step_s, 100 * error_of(run, factor), run->training.model->name,
               run->run->cluster->groups[0].gpus, run->run->cluster->groups[0].gpu->name);
        print_layout(&run->training);
        printf("\n");
    }
}

void print_rows(const PredictedRun *runs, int count, const double *factors) {
    printf("\n%-18s %9s %9s %8s  %s\n", "row", "measured", "predicted", "error %",
           "share of the step by cause, settings");
    for (int i = 0; i < count; i++) {
        const PredictedRun *run = &runs[i];
        if (run->skipped) continue;
        double factor = factor_of(factors, i);
        printf("%-18s %9.4g %9.4g %+8.1f ", run->run->row_id, run->run->measured_step_s, factor * run->step_s,
               100 * error_of(run, factor));
        for (int c = 0; c < CAUSE_COUNT; c++)
            if (run->spent[c] > 0.005 * run->step_s)
                printf(" %s %.0f", cause_names[c], 100 * run->spent[c] / run->step_s);
        printf("  %s, %d x %s, ", run->training.model->name, run->run->cluster->groups[0].gpus,
               run->run->cluster->groups[0].gpu->name);
        print_layout(&run->training);
        printf("\n");
    }
}

// ---- What was left out, and what was taken for granted.

typedef struct Reason {
    const char *text;
    int rows;
} Reason;

static int more_rows_first(const void *a, const void *b) {
    const Reason *x = a, *y = b;
    return x->rows != y->rows ? y->rows - x->rows : strcmp(x->text, y->text);
}

// Rows by what `text` says of them, most first; NULL: not counted.
typedef const char *TextOfRun(const PredictedRun *run);

static Reason *count_reasons(Arena *arena, const PredictedRun *runs, int count, TextOfRun *text_of, int *reason_count) {
    Reason *reasons = ARENA_ARRAY(arena, Reason, count);
    *reason_count = 0;
    for (int i = 0; i < count; i++) {
        const char *text = text_of(&runs[i]);
        int at = 0;
        if (!text) continue;
        while (at < *reason_count && strcmp(reasons[at].text, text) != 0) at++;
        if (at == *reason_count) reasons[(*reason_count)++].text = text;
        reasons[at].rows++;
    }
    qsort(reasons, (size_t)*reason_count, sizeof *reasons, more_rows_first);
    return reasons;
}

static int all_rows(const Reason *reasons, int reason_count) {
    int rows = 0;
    for (int i = 0; i < reason_count; i++) rows += reasons[i].rows;
    return rows;
}

static void print_reasons(const Reason *reasons, int reason_count) {
    for (int i = 0; i < reason_count; i++) printf("%6d  %s\n", reasons[i].rows, reasons[i].text);
}

static const char *why_skipped(const PredictedRun *run) { return run->skipped; }
static const char *what_is_unread(const PredictedRun *run) { return run->skipped ? NULL : run->run->unread; }

void print_skipped(Arena *arena, const PredictedRun *runs, int count) {
    int reason_count;
    Reason *reasons = count_reasons(arena, runs, count, why_skipped, &reason_count);
    if (reason_count == 0) return;
    printf("\n%d rows skipped\n", all_rows(reasons, reason_count));
    print_reasons(reasons, reason_count);
}

void print_unread(Arena *arena, const PredictedRun *runs, int count, bool all) {
    int reason_count;
    Reason *reasons = count_reasons(arena, runs, count, what_is_unread, &reason_count);
    if (reason_count == 0) return;
    printf("\n%d rows say something of their configuration that is not read%s\n", all_rows(reasons, reason_count),
           all ? "" : " (--verbose: what)");
    if (all) print_reasons(reasons, reason_count);
}

void print_assumptions(const PredictedRun *runs, int count) {
    printf("\nAssumed where a row does not say (rows, relative 1-sigma that it adds)\n");
    for (int a = 0; a < ASSUMED_COUNT; a++) {
        int rows = 0;
        for (int i = 0; i < count; i++) rows += !runs[i].skipped && (runs[i].assumed & (1u << a));
        if (rows)
            printf("%6d  %4.0f %%  %s: %s\n", rows, 100 * assumed_facts[a].sigma, assumed_facts[a].name,
                   assumed_facts[a].text);
    }
}

// ---- Choices.

void print_regret(Arena *arena, const char *when, const PredictedRun *runs, int count, const double *factors) {
    Regret regret = regret_of(arena, runs, count, factors);
    if (regret.groups == 0) return;
    printf("regret%s: of %d layouts in %d groups of %d or more, those predicted fastest take %.1f %% longer than those "
           "measured fastest;\n  middling ones %.1f %%; at worst %s %.1f %% longer than %s\n",
           when, regret.rows, regret.groups, REGRET_LEAST_LAYOUTS, 100 * regret.mean, 100 * regret.middling,
           runs[regret.chosen].run->row_id, 100 * regret.worst, runs[regret.fastest].run->row_id);
}

// ---- The nested hold-out.

static void print_question(const char *name, int folds, const Scores *scores) {
    const FamilyScore *mean = &scores->mean_of_means, *all = &scores->all;
    printf("%-38s %5d %5d %8d", name, folds, all->covered, mean->covered);
    print_percent(mean->mean, 7);
    print_percent(all->median, 7);
    print_percent(all->p90, 7);
    printf(" %+7.1f", 100 * mean->bias);
    print_percent(mean->inside, 7);
    print_percent(all->inside, 7);
    printf(" %6.2f %6.2f\n", mean->width, mean->interval_score);
}

static void print_by_family(const Scores *seen, const NestedAnswer *answers) {
    static const NestedQuestion shown[] = {NESTED_FAMILY, NESTED_GPU, NESTED_FRAMEWORK};
    printf("\n%-30s %5s %8s %8s %7s %8s %8s %8s\n", "mean % of a family's rows", "rows", "in sight", "left out", "bias",
           "in 90 %", "GPU out", "no name");
    for (int i = 0; i < seen->family_count; i++) {
        if (seen->families[i].covered == 0) continue;
        printf("%-30s %5d", seen->families[i].name, seen->families[i].covered);
        print_percent(seen->families[i].mean, 8);
        for (size_t q = 0; q < sizeof shown / sizeof *shown; q++) {
            const FamilyScore *family = &answers[shown[q]].scores.families[i];
            print_percent(family->mean, 8);
            if (shown[q] != NESTED_FAMILY) continue;
            printf(" %+7.1f", 100 * family->bias);
            print_percent(family->inside, 8);
        }
        printf("\n");
    }
}

// ---- Ranges left out.

// What a user may have said, and whose code it then was.
typedef enum Whose { ANYBODYS, TUNED, ORDINARY } Whose;
typedef struct Judged {
    const char *name;
    NestedQuestion question;
    bool own_code;
    Whose whose;
    bool fits; // what untuned code loses is fitted to these
} Judged;
static const Judged judged[] = {
    {"tuned software stated", NESTED_FAMILY, false, ANYBODYS, false},
    {"  tuned code", NESTED_FAMILY, false, TUNED, false},
    {"  ordinary code", NESTED_FAMILY, false, ORDINARY, false},
    {"a library stated, tuned code", NESTED_FAMILY, true, TUNED, false},
    {"a library stated, ordinary code", NESTED_ORDINARY, true, ORDINARY, true},
    {"nothing said, ordinary code", NESTED_UNSAID, true, ORDINARY, true},
};
enum { JUDGED_COUNT = sizeof judged / sizeof *judged };

static bool is_judged(const Judged *which, const PredictedRun *run, int half) {
    if (run->skipped || run->training.own_code != which->own_code) return false;
    if (half >= 0 && in_first_half(run->run->family) != (half == 0)) return false;
    return which->whose == ANYBODYS || family_is_tuned(run->run->family) == (which->whose == TUNED);
}

static const bool *rows_judged(Arena *arena, const NestedAnswer *answer, int count, const Judged *which, int half) {
    bool *wanted = ARENA_ARRAY(arena, bool, count);
    for (int i = 0; i < count; i++) wanted[i] = is_judged(which, &answer->runs[i], half);
    return wanted;
}

static void print_range(const char *name, const RangeScore *score) {
    printf("%-38s %5d %8d %+7.2f %7.1f %7.1f %6.2f %6.2f   %7.1f %6.2f %6.2f\n", name, score->rows, score->families,
           score->bias, 100 * score->inside, 100 * score->above, score->width, score->score,
           100 * score->constant_inside, score->constant_width, score->constant_score);
}

static void print_fit(const char *name, const OwnCode *own) {
    printf("%-38s %5s %8d   takes %.2f times tuned code, and to the slow side a sigma of %.2f\n", name, "",
           own->families, own->loss, own->sigma);
}

static void print_halves(Arena *arena, const NestedAnswer *answer, int count, const Judged *which) {
    for (int half = 0; half < 2; half++) {
        OwnCode own = own_code_fit(arena, answer, count, rows_judged(arena, answer, count, which, half));
        const bool *others = rows_judged(arena, answer, count, which, 1 - half);
        RangeScore score = own_code_score(arena, answer, count, others, &own);
        print_fit(half ? "  fitted on the second half of families" : "  fitted on the first half of families", &own);
        print_range("    judged on the other", &score);
    }
}

static void print_ranges(Arena *arena, const NestedAnswer *answers, int count) {
    printf("\n%-38s %5s %8s %7s %7s %7s %6s %6s   %7s %6s %6s\n", "ranges left out, one vote a family", "rows",
           "families", "bias", "in 90 %", "above", "width", "score", "in one", "width", "score");
    for (int i = 0; i < JUDGED_COUNT; i++) {
        const NestedAnswer *answer = &answers[judged[i].question];
        const bool *wanted = rows_judged(arena, answer, count, &judged[i], -1);
        RangeScore score = range_score(arena, answer, count, wanted);
        if (score.rows) print_range(judged[i].name, &score);
        if (!judged[i].fits || !score.rows) continue;
        OwnCode own = own_code_fit(arena, answer, count, wanted);
        print_fit("  fitted on all of them", &own);
        print_halves(arena, answer, count, &judged[i]);
    }
    printf(
        "bias: median log of measured over predicted; above: slower than the range; in one, width, score: of the one "
        "range that fits\nthese very rows. Halves of families are by hash of their names.\n");
}

void print_nested(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count) {
    printf("%-38s %5s %5s %8s %7s %7s %7s %7s %7s %7s %6s %6s\n", "question", "folds", "rows", "families", "mean %",
           "median", "p90", "bias", "in 90 %", "rows in", "width", "score");
    Scores seen = score_runs(arena, runs, count, NULL);
    print_question("in sight", 0, &seen);
    NestedAnswer answers[NESTED_COUNT];
    for (int q = 0; q < NESTED_COUNT; q++) {
        answers[q] = nested_answer(arena, catalogue, runs, count, (NestedQuestion)q);
        print_question(nested_questions[q], answers[q].folds, &answers[q].scores);
    }
    printf(
        "mean, bias, in 90 %%, width, score: means over families; median, p90, rows in: over rows. Left out with what "
        "only they "
        "told:\nfactors by cause are fitted on the others (with priors of 20 %%), and of %d rules of software %d are "
        "withheld over the families' folds;\na type of GPU of which no row stays has the clock and efficiencies of its "
        "generation.\n",
        software_rule_count(), answers[NESTED_FAMILY].rules_withheld);
    print_ranges(arena, answers, count);
    print_by_family(&seen, answers);
    printf("\n");
    print_regret(arena, " in sight", runs, count, NULL);
    for (int q = 0; q <= NESTED_FRAMEWORK; q++)
        print_regret(arena, arena_printf(arena, ", %s", nested_questions[q]), answers[q].runs, count,
                     answers[q].factors);
}

void print_rules(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count) {
    printf("Each rule of software switched off: points of the mean of families that it saves\n");
    printf("%6s %8s %6s %5s %6s %10s  %s\n", "rows", "families", "better", "worse", "saves", "elsewhere", "rule");
    for (int i = 0; software_rule(i); i++) {
        const SoftwareRule *rule = software_rule(i);
        Arena *scratch = arena_open();
        RuleWorth worth = rule_worth(scratch, catalogue, runs, count, i);
        arena_close(scratch);
        printf("%6d %8d %6d %5d %+6.2f %+10.2f  %s: %s\n", worth.rows, worth.families, worth.better, worth.worse,
               100 * worth.mean, 100 * worth.elsewhere, rule->word[0] ? rule->word : "all", rule->because);
    }
    (void)arena;
    printf("better, worse: families whose error the rule makes smaller or larger by more than 0.3 points; elsewhere: "
           "what it saves without the\nfamily that it helps most, which may have told it.\n");
}

// ---- For programs.

static void number(JsonWriter *json, const char *key, double value) {
    json_key(json, key);
    json_write_number(json, value);
}

static void family_json(JsonWriter *json, const FamilyScore *family) {
    json_begin_object(json);
    json_key(json, "family");
    json_write_text(json, family->name);
    number(json, "rows", family->rows);
    number(json, "covered", family->covered);
    if (family->covered) {
        number(json, "mean_error_pct", 100 * family->mean);
        number(json, "median_error_pct", 100 * family->median);
        number(json, "p90_error_pct", 100 * family->p90);
        number(json, "bias_pct", 100 * family->bias);
        number(json, "naive_error_pct", 100 * family->naive);
        number(json, "spearman", family->rank_order);
        number(json, "inside_90_pct", 100 * family->inside);
        number(json, "range_width", family->width);
        number(json, "interval_score", family->interval_score);
    }
    if (family->memory.rows) {
        number(json, "memory_rows", family->memory.rows);
        number(json, "memory_error_pct", 100 * family->memory.mean);
        number(json, "memory_bias_pct", 100 * family->memory.bias);
        number(json, "memory_inside_90_pct", 100 * family->memory.inside);
    }
    json_end_object(json);
}

void print_scores_json(Arena *arena, const Scores *scores, const PredictedRun *runs, int count) {
    (void)arena;
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "validate-training");
    json_key(&json, "families");
    json_begin_list(&json);
    for (int i = 0; i < scores->family_count; i++) family_json(&json, &scores->families[i]);
    json_end_list(&json);
    json_key(&json, "all");
    family_json(&json, &scores->all);
    json_key(&json, "mean_of_families");
    family_json(&json, &scores->mean_of_means);
    json_key(&json, "rows");
    json_begin_list(&json);
    for (int i = 0; i < count; i++) {
        json_begin_object(&json);
        json_key(&json, "row_id");
        json_write_text(&json, runs[i].run->row_id);
        json_key(&json, "skipped");
        json_write_text(&json, runs[i].skipped);
        if (!runs[i].skipped) {
            number(&json, "measured_s", runs[i].run->measured_step_s);
            number(&json, "predicted_s", runs[i].step_s);
            number(&json, "low_s", runs[i].low_s);
            number(&json, "high_s", runs[i].high_s);
        }
        json_end_object(&json);
    }
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

void print_rows_csv(const PredictedRun *runs, int count, const double *factors) {
    CsvWriter csv = csv_writer(stdout);
    csv_figures(&csv, "row_id,family,measured_s,predicted_s,low_s,high_s,error_pct,predicted_memory_bytes");
    for (int c = 0; c < CAUSE_COUNT; c++) csv_figures(&csv, "%s_s", cause_names[c]);
    csv_end_row(&csv);
    for (int i = 0; i < count; i++) {
        const PredictedRun *run = &runs[i];
        if (run->skipped) continue;
        double factor = factor_of(factors, i);
        csv_text(&csv, run->run->row_id);
        csv_text(&csv, run->run->family);
        csv_figures(&csv, "%.9g,%.9g,%.9g,%.9g,%.4g,%.9g", run->run->measured_step_s, factor * run->step_s,
                    factor * run->low_s, factor * run->high_s, 100 * error_of(run, factor), run->memory_bytes);
        for (int c = 0; c < CAUSE_COUNT; c++) csv_figures(&csv, "%.6g", run->spent[c]);
        csv_end_row(&csv);
    }
}
