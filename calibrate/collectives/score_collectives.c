// Scores of logs: errors within one, medians over many, groups by a property, and likely reasons of the worst.
#include <math.h>
#include <string.h>

#include "calibrate/collectives/validation.h"

// ---- Scores of logs: errors within one, medians over many, groups by a property, and likely reasons of the worst.

static double spread_of_row(const MeasuredCollective *measured, const NcclRow *row) {
    if (row->bytes < LARGE_BYTES) return measured->small_spread;
    return row->bytes < LENGTHY_BYTES ? measured->large_spread : measured->long_spread;
}

Score score_of(Arena *arena, const MeasuredCollective *measured, bool large) {
    double *errors = ARENA_ARRAY(arena, double, measured->log->row_count);
    Score score = {0};
    for (int r = 0; r < measured->log->row_count; r++) {
        const NcclRow *row = &measured->log->rows[r];
        if ((row->bytes >= LARGE_BYTES) != large) continue;
        double ratio = measured->predicted[r] / row->seconds;
        score.inside += fabs(log(ratio)) <= RANGE_90 * spread_of_row(measured, row);
        errors[score.sizes++] = fabs(ratio - 1);
    }
    if (!score.sizes) return score;
    score.median = quantile(arena, errors, score.sizes, 0.5);
    score.p90 = quantile(arena, errors, score.sizes, 0.9);
    score.share_inside = (double)score.inside / score.sizes;
    return score;
}

Summed sum_up(const Board *board, const bool *chosen, bool large) {
    Arena *arena = board->arena;
    const LogScore *scores = board->scores;
    int count = board->count;
    double *medians = ARENA_ARRAY(arena, double, count), *p90s = ARENA_ARRAY(arena, double, count);
    Summed summed = {0};
    for (int i = 0; i < count; i++) {
        const Score *score = large ? &scores[i].large : &scores[i].small;
        if (!chosen[i] || !score->sizes) continue;
        medians[summed.logs] = score->median;
        summed.inside += (double)score->inside / score->sizes;
        p90s[summed.logs++] = score->p90;
    }
    if (!summed.logs) return summed;
    summed.inside /= summed.logs;
    summed.median = quantile(arena, medians, summed.logs, 0.5);
    summed.p90_of_medians = quantile(arena, medians, summed.logs, 0.9);
    summed.median_of_p90s = quantile(arena, p90s, summed.logs, 0.5);
    return summed;
}

// ---- Groups of logs by a word.
const char *family_word(const MeasuredCollective *measured) { return measured->cluster->family; }
const char *machine_word(const MeasuredCollective *measured) { return measured->machine; }
const char *gpu_word(const MeasuredCollective *measured) { return measured->gpu; }
const char *op_word(const MeasuredCollective *measured) { return nccl_op_name(measured->op); }
const char *all_word(const MeasuredCollective *measured) { return measured ? "all logs" : ""; }

int choose_word(const Board *board, WordOf word_of, const char *word, bool *chosen) {
    int count = 0;
    for (int i = 0; i < board->count; i++) {
        const MeasuredCollective *measured = board->scores[i].measured;
        chosen[i] = strcmp(word_of(measured), word) == 0 && !(board->only_informed && !measured->informed);
        count += chosen[i];
    }
    return count;
}

bool seen_before(const Board *board, WordOf word_of, int index) {
    for (int i = 0; i < index; i++)
        if (strcmp(word_of(board->scores[i].measured), word_of(board->scores[index].measured)) == 0) return true;
    return false;
}

// ---- Reasons.
// A size that takes much longer than one at least twice as large: protocol switches, or the network's own trouble.
static const NcclRow *bend_of(const NcclLog *log) {
    for (int i = 0; i < log->row_count; i++)
        for (int j = i + 1; j < log->row_count; j++)
            if (log->rows[j].bytes >= 2 * log->rows[i].bytes && log->rows[i].seconds > 1.3 * log->rows[j].seconds)
                return &log->rows[i];
    return NULL;
}

static double median_ratio(Arena *arena, const MeasuredCollective *measured, double from, double to, double *spread) {
    double *ratios = ARENA_ARRAY(arena, double, measured->log->row_count);
    int count = 0;
    for (int r = 0; r < measured->log->row_count; r++) {
        const NcclRow *row = &measured->log->rows[r];
        if (row->bytes >= from && row->bytes < to) ratios[count++] = measured->predicted[r] / row->seconds;
    }
    *spread = count ? quantile(arena, ratios, count, 0.8) - quantile(arena, ratios, count, 0.2) : 0;
    return count ? quantile(arena, ratios, count, 0.5) : 1;
}

const char *likely_reason(Arena *arena, const MeasuredCollective *measured) {
    double spread, middle_spread;
    double largest = measured->log->rows[measured->log->row_count - 1].bytes;
    double top = median_ratio(arena, measured, largest / 9, INFINITY, &spread);
    double middle = median_ratio(arena, measured, LARGE_BYTES, largest / 9, &middle_spread);
    const NcclRow *bend = bend_of(measured->log);
    if (*measured->cluster->do_not_fit) return measured->cluster->do_not_fit;
    if (fabs(top - 1) > 0.2)
        return arena_printf(arena, "rate: at its largest sizes it moves %.0f %% of what such links carry%s", 100 * top,
                            spread > 0.25 ? ", unsteadily" : "");
    if (bend) return arena_printf(arena, "bends: %.0f B take longer than twice as much", bend->bytes);
    return arena_printf(arena, "middle sizes: predicted %.0f %% of measured, %.0f %% at the largest", 100 * middle,
                        100 * top);
}

// ---- By machine: one vote each, the median over its logs.

static bool is_word_of(const MeasuredCollective *measured, WordOf word_of, const char *word) {
    return strcmp(word_of(measured), word) == 0;
}

static bool is_first_of_word(const Measurements *logs, WordOf word_of, int index) {
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

typedef struct MachineSummed {
    int machines;
    double median, p90, inside; // over machines, each the median over its logs
} MachineSummed;

static MachineSummed sum_machines(Arena *arena, const Measurements *logs, bool large) {
    double *medians = ARENA_ARRAY(arena, double, logs->count);
    MachineSummed summed = {0};
    for (int i = 0; i < logs->count; i++) {
        if (!is_first_of_word(logs, machine_word, i)) continue;
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

// ---- Tables of machines: of each or of several together, from 64 KiB and below.

static const AnswerColumn machine_columns[] = {{"name", NULL, AS_TEXT, 0},
                                               {NULL, NULL, AS_WHOLE, 0},
                                               {"from_64_kib.median_error_pct", "median %", AS_NUMBER, 0},
                                               {"from_64_kib.p90_error_pct", "p90", AS_NUMBER, 0},
                                               {"from_64_kib.inside_range_pct", "range", AS_NUMBER, 0},
                                               {"below_64_kib.median_error_pct", "below: %", AS_NUMBER, 0},
                                               {"below_64_kib.p90_error_pct", "p90", AS_NUMBER, 0},
                                               {"below_64_kib.inside_range_pct", "range", AS_NUMBER, 0}};

// `counted`: the second column's key and title.
static void open_columns(const Validation *validation, const char *key, const char *title, const char *counted_key,
                         const char *counted) {
    enum { COUNT = sizeof machine_columns / sizeof *machine_columns };
    AnswerColumn *columns = ARENA_ARRAY(validation->arena, AnswerColumn, COUNT);
    memcpy(columns, machine_columns, sizeof machine_columns);
    columns[0].title = title;
    columns[1].key = counted_key;
    columns[1].title = counted;
    answer_table(validation->answer, key, NULL, columns, COUNT);
}

void collectives_open_machines(const Validation *validation, const char *key, const char *title) {
    open_columns(validation, key, title, "from_64_kib.machines", "machines");
}

void collectives_answer_machines(const Validation *validation, const char *title, const Measurements *logs) {
    MachineSummed large = sum_machines(validation->arena, logs, true),
                  small = sum_machines(validation->arena, logs, false);
    bool has_large = large.machines > 0, has_small = small.machines > 0;
    ANSWER_ROW(validation->answer, title, answer_of_whole(large.machines),
               answer_of_percent(has_large ? large.median : NAN), answer_of_percent(has_large ? large.p90 : NAN),
               answer_of_percent(has_large ? large.inside : NAN), answer_of_percent(has_small ? small.median : NAN),
               answer_of_percent(has_small ? small.p90 : NAN), answer_of_percent(has_small ? small.inside : NAN));
}

// ---- Nested hold-out: each machine, then each type of GPU, is predicted without anything learned from its logs. One
// vote per machine: the median over its logs.

#define TOUCHED 0.02      // of a logarithm, at any size
#define WORTH_NAMING 0.01 // of an error

static int count_logs(const Measurements *logs, WordOf word_of, const char *word) {
    int count = 0;
    for (int i = 0; i < logs->count; i++) count += is_word_of(&logs->items[i], word_of, word);
    return count;
}

static void add_machines(const Validation *validation) {
    const Measurements *logs = &validation->logs;
    open_columns(validation, "machines", "machine left out", "logs", "logs");
    for (int i = 0; i < logs->count; i++) {
        const char *machine = logs->items[i].machine;
        if (!is_first_of_word(logs, machine_word, i)) continue;
        ANSWER_CELLS(validation->answer, machine, answer_of(AS_WHOLE, count_logs(logs, machine_word, machine)));
        for (int large = 1; large >= 0; large--) {
            Score score = machine_score(validation->arena, logs, machine, large);
            ANSWER_CELLS(validation->answer, answer_of_percent(score.sizes ? score.median : NAN),
                         answer_of_percent(score.sizes ? score.p90 : NAN),
                         answer_of_percent(score.sizes ? score.share_inside : NAN));
        }
    }
    answer_first_rows(validation->answer, 3);
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

static void add_worth_cells(Answer *answer, const Worth *worth) {
    bool known = worth->machines > 0;
    ANSWER_CELLS(answer, answer_of(AS_WHOLE, worth->machines),
                 answer_of_percent(known ? worth->with / worth->machines : NAN),
                 answer_of_percent(known ? worth->without / worth->machines : NAN), answer_of(AS_WHOLE, worth->better),
                 answer_of(AS_WHOLE, worth->worse));
}

void weigh_rules(Validation *validation) {
    static const AnswerColumn columns[] = {{"rule", "rule", AS_TEXT, 0},
                                           {"from_64_kib.machines", "machines", AS_WHOLE, 0},
                                           {"from_64_kib.with_pct", "with", AS_NUMBER, 0},
                                           {"from_64_kib.off_pct", "off", AS_NUMBER, 0},
                                           {"from_64_kib.nearer", "nearer", AS_WHOLE, 1},
                                           {"from_64_kib.further", "far", AS_WHOLE, 1},
                                           {"below_64_kib.machines", "below", AS_WHOLE, 2},
                                           {"below_64_kib.with_pct", "with", AS_NUMBER, 2},
                                           {"below_64_kib.off_pct", "off", AS_NUMBER, 2},
                                           {"below_64_kib.nearer", "nearer", AS_WHOLE, 3},
                                           {"below_64_kib.further", "far", AS_WHOLE, 3}};
    Arena *arena = validation->arena;
    Measurements *logs = &validation->logs;
    bool *touched = ARENA_ARRAY(arena, bool, logs->count);
    Score *with[2] = {ARENA_ARRAY(arena, Score, logs->count), ARENA_ARRAY(arena, Score, logs->count)};
    leave_out(validation, machine_word, NULL, RULE_COUNT, false);
    for (int i = 0; i < logs->count; i++)
        for (int large = 0; large < 2; large++)
            with[large][i] = machine_score(arena, logs, logs->items[i].machine, large);
    answer_rename(validation->answer, "validate-collectives-rules");
    answer_table(validation->answer, "rules", "What a rule is worth on the machines that it touches, each left out",
                 COLUMNS(columns));
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        Worth worth[2] = {0};
        if (find_touched(logs, (RuleId)rule, touched))
            leave_out(validation, machine_word, touched, (RuleId)rule, false);
        for (int i = 0; i < logs->count; i++)
            for (int large = 0; large < 2 && touched[i] && is_first_of_word(logs, machine_word, i); large++) {
                Score without = machine_score(arena, logs, logs->items[i].machine, large);
                add_worth(&worth[large], &with[large][i], &without);
            }
        answer_cell(validation->answer, answer_of_text(rule_rows[rule].name));
        add_worth_cells(validation->answer, &worth[1]);
        add_worth_cells(validation->answer, &worth[0]);
    }
    answer_note(validation->answer,
                "Mean of the machines' median errors in %%, with the rule and off; how many it brings "
                "nearer or takes further by a point; from 64 KiB, and below.");
}

// Leaves each out, with all constants and rules learned from its logs.
void nested(Validation *validation) {
    collectives_open_machines(validation, "left_out", "left out");
    leave_out(validation, gpu_word, NULL, RULE_COUNT, true);
    collectives_answer_machines(validation, "its type of GPU", &validation->logs);
    leave_out(validation, machine_word, NULL, RULE_COUNT, true);
    collectives_answer_machines(validation, "the machine", &validation->logs);
    answer_note(
        validation->answer,
        "One vote per machine, the median over its logs. A machine is what `machine` in clusters.csv names, else "
        "the same GPU, links, slots, CPU vendor and NICs, whatever its NCCL.");
    add_machines(validation);
}
