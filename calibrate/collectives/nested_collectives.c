// The hardest question: each machine, then each type of GPU, predicted without anything that its logs told. One vote
// per machine: the median over its logs.
#include <stdio.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "sim/base/statistics.h"

#define TOUCHED 0.02      // of a logarithm, at any size
#define WORTH_NAMING 0.01 // of an error

static bool is_word_of(const MeasuredCollective *measured, WordOf word_of, const char *word) {
    return strcmp(word_of(measured), word) == 0;
}

static bool is_first(const Measurements *logs, WordOf word_of, int index) {
    for (int i = 0; i < index; i++)
        if (is_word_of(&logs->items[i], word_of, word_of(&logs->items[index]))) return false;
    return true;
}

// The machine's own of its logs' scores; a machine may have logs of large sizes only.
static Score machine_score(Arena *arena, const Measurements *logs, const char *machine, bool large) {
    double *medians = ARENA_ARRAY(arena, double, logs->count), *p90s = ARENA_ARRAY(arena, double, logs->count);
    double inside = 0;
    int count = 0;
    Score score = {0};
    for (int i = 0; i < logs->count; i++) {
        if (!is_word_of(&logs->items[i], machine_word, machine)) continue;
        Score log = score_of(arena, &logs->items[i], large);
        if (!log.sizes) continue;
        medians[count] = log.median;
        p90s[count++] = log.p90;
        inside += (double)log.inside / log.sizes;
    }
    if (!count) return score;
    score.sizes = count;
    score.median = quantile(arena, medians, count, 0.5);
    score.p90 = quantile(arena, p90s, count, 0.5);
    score.share_inside = inside / count;
    return score;
}

MachineSummed sum_machines(Arena *arena, const Measurements *logs, bool large) {
    double *medians = ARENA_ARRAY(arena, double, logs->count);
    MachineSummed summed = {0};
    for (int i = 0; i < logs->count; i++) {
        if (!is_first(logs, machine_word, i)) continue;
        Score score = machine_score(arena, logs, logs->items[i].machine, large);
        if (!score.sizes) continue;
        medians[summed.machines++] = score.median;
        summed.inside += score.share_inside;
    }
    if (!summed.machines) return summed;
    summed.inside /= summed.machines;
    summed.median = quantile(arena, medians, summed.machines, 0.5);
    summed.p90 = quantile(arena, medians, summed.machines, 0.9);
    return summed;
}

static int count_logs(const Measurements *logs, WordOf word_of, const char *word) {
    int count = 0;
    for (int i = 0; i < logs->count; i++) count += is_word_of(&logs->items[i], word_of, word);
    return count;
}

static void print_scores(const Score *score) {
    if (score->sizes)
        printf("  %6.1f %6.1f %6.0f", 100 * score->median, 100 * score->p90, 100 * score->share_inside);
    else
        printf("  %6s %6s %6s", "-", "-", "-");
}

static void print_sums(const char *title, Arena *arena, const Measurements *logs) {
    MachineSummed large = sum_machines(arena, logs, true), small = sum_machines(arena, logs, false);
    printf("%-24s %4d  %6.1f %6.1f %6.0f  %6.1f %6.1f %6.0f\n", title, large.machines, 100 * large.median,
           100 * large.p90, 100 * large.inside, 100 * small.median, 100 * small.p90, 100 * small.inside);
}

static void print_machines(Arena *arena, const Measurements *logs) {
    printf("%-24s logs  %20s  %20s\n", "machine left out", "from 64 KiB, %", "below 64 KiB, %");
    printf("%-24s       %6s %6s %6s  %6s %6s %6s\n", "", "median", "p90", "range", "median", "p90", "range");
    for (int i = 0; i < logs->count; i++) {
        const char *machine = logs->items[i].machine;
        if (!is_first(logs, machine_word, i)) continue;
        Score large = machine_score(arena, logs, machine, true), small = machine_score(arena, logs, machine, false);
        printf("%-24.24s %4d", machine, count_logs(logs, machine_word, machine));
        print_scores(&large);
        print_scores(&small);
        printf("\n");
    }
    printf("\n");
}

// ---- What each rule is worth.
typedef struct Worth {
    int machines, better, worse; // left out: how many of them the rule brings nearer, or takes further, by a point
    double with, without;        // mean over them of the median errors of their logs
} Worth;

static void add_worth(Worth *worth, const Score *with, const Score *without) {
    if (!with->sizes) return;
    worth->machines++;
    worth->with += with->median;
    worth->without += without->median;
    worth->better += without->median - with->median > WORTH_NAMING;
    worth->worse += with->median - without->median > WORTH_NAMING;
}

static void print_worth(const Worth *worth) {
    if (!worth->machines) {
        printf("  %5s %6s %6s %6s %5s", "-", "-", "-", "-", "-");
        return;
    }
    printf("  %5d %6.1f %6.1f %6d %5d", worth->machines, 100 * worth->with / worth->machines,
           100 * worth->without / worth->machines, worth->better, worth->worse);
}

void weigh_rules(Validation *validation) {
    Arena *arena = validation->arena;
    Measurements *logs = &validation->logs;
    bool *touched = ARENA_ARRAY(arena, bool, logs->count);
    Score *with[2] = {ARENA_ARRAY(arena, Score, logs->count), ARENA_ARRAY(arena, Score, logs->count)};
    leave_out(validation, machine_word, NULL, RULE_COUNT, false);
    for (int i = 0; i < logs->count; i++)
        for (int large = 0; large < 2; large++)
            with[large][i] = machine_score(arena, logs, logs->items[i].machine, large);
    printf(
        "What a rule is worth on the machines that it touches, each left out: mean of their median errors in %%, and "
        "how many\nthe rule brings nearer or takes further by a point.\n\n%-58s %35s  %35s\n%-58s  %5s %6s %6s %6s "
        "%5s  %5s %6s %6s %6s %5s\n",
        "rule", "from 64 KiB", "below 64 KiB", "", "mach.", "with", "off", "nearer", "far", "mach.", "with", "off",
        "nearer", "far");
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        Worth worth[2] = {0};
        if (find_touched(logs, (RuleId)rule, touched))
            leave_out(validation, machine_word, touched, (RuleId)rule, false);
        for (int i = 0; i < logs->count; i++)
            for (int large = 0; large < 2 && touched[i] && is_first(logs, machine_word, i); large++) {
                Score without = machine_score(arena, logs, logs->items[i].machine, large);
                add_worth(&worth[large], &with[large][i], &without);
            }
        printf("%-58s", rule_rows[rule].name);
        print_worth(&worth[1]);
        print_worth(&worth[0]);
        printf("\n");
    }
    printf("\n");
}

void nested(Validation *validation, bool quiet) {
    Arena *arena = validation->arena;
    Measurements *logs = &validation->logs;
    if (!quiet) {
        printf(
            "Left out with all that its logs told; one vote per machine, the median over its logs. A machine is what\n"
            "`machine` in clusters.csv names, else the same GPU, links, slots, CPU vendor and NICs, whatever its "
            "NCCL.\n\n%-24s mach. %20s  %20s\n%-24s       %6s %6s %6s  %6s %6s %6s\n",
            "left out", "from 64 KiB, %", "below 64 KiB, %", "", "median", "p90", "range", "median", "p90", "range");
    }
    leave_out(validation, gpu_word, NULL, RULE_COUNT, true);
    if (!quiet) print_sums("its type of GPU", arena, logs);
    leave_out(validation, machine_word, NULL, RULE_COUNT, true);
    if (quiet) return;
    print_sums("the machine", arena, logs);
    printf("\n");
    print_machines(arena, logs);
}
