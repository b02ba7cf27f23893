// Nested hold-out: each machine, then each type of GPU, is predicted without anything learned from its logs. One vote
// per machine: the median over its logs.
#include <math.h>
#include <string.h>

#include "calibrate/collectives/validation.h"
#include "sim/base/statistics.h"

#define TOUCHED 0.02      // of a logarithm, at any size
#define WORTH_NAMING 0.01 // of an error

static int count_logs(const Measurements *logs, WordOf word_of, const char *word) {
    int count = 0;
    for (int i = 0; i < logs->count; i++) count += is_word_of(&logs->items[i], word_of, word);
    return count;
}

static void add_machines(const Validation *validation) {
    static const AnswerColumn columns[] = {{"name", "machine left out", AS_TEXT, 0},
                                           {"logs", "logs", AS_WHOLE, 0},
                                           {"from_64_kib.median_error_pct", "median %", AS_NUMBER, 0},
                                           {"from_64_kib.p90_error_pct", "p90", AS_NUMBER, 0},
                                           {"from_64_kib.inside_range_pct", "range", AS_NUMBER, 0},
                                           {"below_64_kib.median_error_pct", "below: %", AS_NUMBER, 0},
                                           {"below_64_kib.p90_error_pct", "p90", AS_NUMBER, 0},
                                           {"below_64_kib.inside_range_pct", "range", AS_NUMBER, 0}};
    const Measurements *logs = &validation->logs;
    answer_table(validation->answer, "machines", NULL, COLUMNS(columns));
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
