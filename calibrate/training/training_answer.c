#include "calibrate/training/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/data/csv.h"
#include "sim/system/file.h"

#define FAMILIES_SHOWN 5
#define WORST_ROWS 20

static double factor_of(const TrainingBoard *board, int row) { return board->factors ? board->factors[row] : 1; }
static double error_of(const TrainingBoard *board, int row) {
    const PredictedRun *run = &board->runs[row];
    return factor_of(board, row) * run->step_s / run->run->measured_step_s - 1;
}

// ---- The scoreboard.

static const AnswerColumn family_columns[] = {
    {"family", "family", AS_TEXT, 0},
    {"rows", "rows", AS_WHOLE, 3},
    {"covered", "covered", AS_WHOLE, 0},
    {"mean_error_pct", "mean %", AS_NUMBER, 0},
    {"median_error_pct", "median", AS_NUMBER, 0},
    {"p90_error_pct", "p90", AS_NUMBER, 0},
    {"bias_pct", "bias", AS_NUMBER, 0},
    {"naive_error_pct", "naive", AS_NUMBER, 4},
    {"spearman", "order", AS_NUMBER, 5},
    {"inside_90_pct", "in 90 %", AS_NUMBER, 0},
    {"range_width", "width", AS_NUMBER, 1},
    {"interval_score", "score", AS_NUMBER, 2},
    {"memory_rows", "memory rows", AS_WHOLE, 9},
    {"memory_error_pct", "mean %", AS_NUMBER, 8},
    {"memory_bias_pct", "bias", AS_NUMBER, 7},
    {"memory_inside_90_pct", "in 90 %", AS_NUMBER, 6},
};
enum { FAMILY_COLUMNS = sizeof family_columns / sizeof *family_columns, STEP_COLUMNS = 9, MEMORY_COLUMNS = 4 };

static void family_cells(const FamilyScore *family, AnswerValue *cells) {
    const MemoryScore *memory = &family->memory;
    const AnswerValue all[FAMILY_COLUMNS] = {
        answer_of_text(family->name),      answer_of_whole(family->rows),     answer_of_whole(family->covered),
        answer_of_percent(family->mean),   answer_of_percent(family->median), answer_of_percent(family->p90),
        answer_of_percent(family->bias),   answer_of_percent(family->naive),  answer_of_number(family->rank_order),
        answer_of_percent(family->inside), answer_of_number(family->width),   answer_of_number(family->interval_score),
        answer_of_whole(memory->rows),     answer_of_percent(memory->mean),   answer_of_percent(memory->bias),
        answer_of_percent(memory->inside),
    };
    memcpy(cells, all, sizeof all);
    for (int c = 0; c < STEP_COLUMNS && !family->covered; c++) cells[3 + c] = answer_of_nothing();
    for (int c = 0; c < MEMORY_COLUMNS && !memory->rows; c++) cells[3 + STEP_COLUMNS + c] = answer_of_nothing();
}

static void add_family(Answer *answer, const FamilyScore *family) {
    AnswerValue cells[FAMILY_COLUMNS];
    family_cells(family, cells);
    answer_row(answer, cells, FAMILY_COLUMNS);
}

static void add_summary(Answer *answer, const char *key, const FamilyScore *family) {
    AnswerValue cells[FAMILY_COLUMNS];
    family_cells(family, cells);
    answer_open(answer, key, NULL);
    for (int c = 0; c < FAMILY_COLUMNS; c++)
        if (cells[c].unit != AS_NOTHING) answer_fact(answer, family_columns[c].key, NULL, cells[c]);
    answer_close(answer);
}

static void add_scores(Answer *answer, const Scores *scores) {
    answer_table(answer, NULL, NULL, COLUMNS(family_columns));
    add_family(answer, &scores->mean_of_means);
    add_family(answer, &scores->all);
    answer_table(answer, "families", "By family", COLUMNS(family_columns));
    for (int i = 0; i < scores->family_count; i++) add_family(answer, &scores->families[i]);
    answer_first_rows(answer, FAMILIES_SHOWN);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(
        answer, NULL,
        "Errors: |predicted / measured - 1| of step time. In 90 %%: measured steps inside the range that is "
        "printed. Naive: one utilisation number per GPU and precision, fitted on these rows. Order: Spearman's rank "
        "correlation. Width: a range's high over its low, median. Score: of that range on the log of time "
        "(Gneiting and Raftery, 2007), the less the better. Memory: peaks of what the source counts, allocated, "
        "reserved or all that the GPU held.");
    answer_number(answer, "median_memory_error_pct", "Memory: median of families' means, %", AS_NUMBER,
                  100 * scores->median_memory_error);
    answer_close(answer);
    add_summary(answer, "all", &scores->all);
    add_summary(answer, "mean_of_families", &scores->mean_of_means);
}

void training_answer_factors(Answer *answer, const CrossFit *cross) {
    static const AnswerColumn columns[] = {{"name", "factor on seconds of", AS_TEXT, 0},
                                           {"value", "value", AS_NUMBER, 0},
                                           {"sigma", "±", AS_NUMBER, 0},
                                           {"rows", "rows", AS_WHOLE, 0}};
    answer_table(answer, "factors", "Factors fitted on all families; each family was predicted without its own",
                 COLUMNS(columns));
    for (int i = 0; i < cross->fitted_count; i++) {
        const FittedFactor *factor = &cross->fitted[i];
        ANSWER_ROW(answer, factor->name, factor->value, factor->value * factor->sigma, factor->rows);
    }
    answer_first_rows(answer, 1);
}

// ---- Rows.

static const char *what_ran(Arena *arena, const PredictedRun *run) {
    const TrainingSpec *training = &run->training;
    const Layout *layout = &training->layout;
    return arena_printf(arena, "%s on %d x %s, tp %d pp %d vp %d zero %d micro-batch %g of %g, %s, recompute %s",
                        training->model->name, run->run->cluster->groups[0].gpus,
                        run->run->cluster->groups[0].gpu->name, layout->tp, layout->pp,
                        layout->vpp > 0 ? layout->vpp : 1, layout->zero, training->micro_batch, training->global_batch,
                        precision_name(training->precision), recompute_name(training->recompute));
}

static const char *shares_by_cause(Arena *arena, const PredictedRun *run) {
    const char *words = "";
    for (int c = 0; c < CAUSE_COUNT; c++)
        if (run->spent[c] > 0.005 * run->step_s)
            words = arena_printf(arena, "%s%s%s %.0f", words, *words ? ", " : "", cause_names[c],
                                 100 * run->spent[c] / run->step_s);
    return words;
}

static const AnswerColumn row_columns[] = {
    {"row_id", "row", AS_TEXT, 0},
    {"family", "family", AS_TEXT, 4},
    {"measured_s", "measured", AS_NUMBER, 0},
    {"predicted_s", "predicted", AS_NUMBER, 0},
    {"low_s", "from", AS_NUMBER, 3},
    {"high_s", "to", AS_NUMBER, 3},
    {"error_pct", "error %", AS_NUMBER, 0},
    {"predicted_memory_bytes", "memory", AS_BYTES, 5},
    {"skipped", NULL, AS_TEXT, 0},
    {NULL, "share of the step by cause, %", AS_TEXT, 7},
    {NULL, "what", AS_TEXT, BELOW_ROW},
};
enum { ROW_FIGURES = sizeof row_columns / sizeof *row_columns };

static AnswerColumn *row_and_cause_columns(Arena *arena) {
    AnswerColumn *columns = ARENA_ARRAY(arena, AnswerColumn, ROW_FIGURES + CAUSE_COUNT);
    memcpy(columns, row_columns, sizeof row_columns);
    for (int c = 0; c < CAUSE_COUNT; c++)
        columns[ROW_FIGURES + c] = (AnswerColumn){arena_printf(arena, "%s_s", cause_names[c]), NULL, AS_NUMBER, 0};
    return columns;
}

static void add_skipped_row(Answer *answer, const PredictedRun *run) {
    for (int c = 0; c < ROW_FIGURES + CAUSE_COUNT; c++)
        answer_cell(answer, c == 0   ? answer_of_text(run->run->row_id)
                            : c == 1 ? answer_of_text(run->run->family)
                            : c == 8 ? answer_of_text(run->skipped)
                                     : answer_of_nothing());
    answer_row_detail(answer, FOR_PROGRAMS);
}

static void add_row(Answer *answer, const TrainingBoard *board, int row) {
    const PredictedRun *run = &board->runs[row];
    double factor = factor_of(board, row);
    const AnswerValue cells[ROW_FIGURES] = {answer_of_text(run->run->row_id),
                                            answer_of_text(run->run->family),
                                            answer_of_number(run->run->measured_step_s),
                                            answer_of_number(factor * run->step_s),
                                            answer_of_number(factor * run->low_s),
                                            answer_of_number(factor * run->high_s),
                                            answer_of_percent(error_of(board, row)),
                                            answer_of(AS_BYTES, run->memory_bytes),
                                            answer_of_text(NULL),
                                            answer_of_text(shares_by_cause(board->arena, run)),
                                            answer_of_text(what_ran(board->arena, run))};
    for (int c = 0; c < ROW_FIGURES; c++) answer_cell(answer, cells[c]);
    for (int c = 0; c < CAUSE_COUNT; c++) answer_cell(answer, answer_of_number(run->spent[c]));
}

static void add_rows(Answer *answer, const TrainingBoard *board, const Scores *scores) {
    const AnswerColumn *columns = row_and_cause_columns(board->arena);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_table(answer, NULL, "The worst rows", columns, ROW_FIGURES + CAUSE_COUNT);
    for (int i = 0; i < scores->worst_count && i < WORST_ROWS; i++) add_row(answer, board, scores->worst[i]);
    answer_table(answer, "rows", "Every row", columns, ROW_FIGURES + CAUSE_COUNT);
    for (int i = 0; i < board->count; i++)
        if (board->runs[i].skipped)
            add_skipped_row(answer, &board->runs[i]);
        else
            add_row(answer, board, i);
    answer_main_called(answer, "rows");
    answer_close(answer);
    if (scores->worst_count == 0) return;
    int worst = scores->worst[0];
    answer_say(answer, "Farthest", "%s, %+.1f %%: %s", board->runs[worst].run->row_id, 100 * error_of(board, worst),
               what_ran(board->arena, &board->runs[worst]));
}

// ---- Skipped rows, and assumptions.

typedef struct Reason {
    const char *text;
    int rows;
} Reason;

static int more_rows_first(const void *a, const void *b) {
    const Reason *x = a, *y = b;
    return x->rows != y->rows ? y->rows - x->rows : strcmp(x->text, y->text);
}

// Counts rows by `text_of`, most first; NULL: not counted.
static int add_reasons(Answer *answer, const char *key, const char *heading, const TrainingBoard *board,
                       const char *(*text_of)(const PredictedRun *run)) {
    static const AnswerColumn columns[] = {{"rows", "rows", AS_WHOLE, 0}, {"reason", "reason", AS_TEXT, 0}};
    Reason *reasons = ARENA_ARRAY(board->arena, Reason, board->count);
    int count = 0, rows = 0;
    for (int i = 0; i < board->count; i++) {
        const char *words = text_of(&board->runs[i]);
        int at = 0;
        if (!words) continue;
        while (at < count && strcmp(reasons[at].text, words) != 0) at++;
        if (at == count) reasons[count++].text = words;
        reasons[at].rows++;
        rows++;
    }
    qsort(reasons, (size_t)count, sizeof *reasons, more_rows_first);
    answer_table(answer, key, heading, COLUMNS(columns));
    for (int i = 0; i < count; i++) ANSWER_ROW(answer, reasons[i].rows, reasons[i].text);
    return rows;
}

static const char *why_skipped(const PredictedRun *run) { return run->skipped; }
static const char *what_is_unread(const PredictedRun *run) { return run->skipped ? NULL : run->run->unread; }

static void add_assumptions(Answer *answer, const TrainingBoard *board) {
    static const AnswerColumn columns[] = {{"rows", "rows", AS_WHOLE, 0},
                                           {"sigma_pct", "sigma %", AS_NUMBER, 0},
                                           {"name", "of what", AS_TEXT, 0},
                                           {"text", "taken", AS_TEXT, 0}};
    answer_table(answer, "assumed", "Assumed where a row does not say", COLUMNS(columns));
    for (int a = 0; a < ASSUMED_COUNT; a++) {
        int rows = 0;
        for (int i = 0; i < board->count; i++) rows += !board->runs[i].skipped && (board->runs[i].assumed & (1u << a));
        if (rows)
            ANSWER_ROW(answer, rows, answer_of_percent(assumed_facts[a].sigma), assumed_facts[a].name,
                       assumed_facts[a].text);
    }
}

static void add_what_is_open(Answer *answer, const TrainingBoard *board) {
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    int skipped = add_reasons(answer, "skipped_for", "Rows skipped", board, why_skipped);
    int unread = add_reasons(answer, "unread", "Said of configurations, and not read", board, what_is_unread);
    add_assumptions(answer, board);
    answer_close(answer);
    if (skipped) answer_say(answer, "Skipped", "%d rows; --rows OUT.csv gives each its reason", skipped);
    if (unread) answer_say(answer, "Unread", "%d rows say something of their configuration that is not read", unread);
}

// ---- Choices.

static const AnswerColumn regret_columns[] = {
    {"predicted", "choice by what is predicted", AS_TEXT, 0},
    {"layouts", "layouts", AS_WHOLE, 2},
    {"groups", "groups", AS_WHOLE, 0},
    {"chosen_longer_pct", "longer by %", AS_NUMBER, 0},
    {"middling_longer_pct", "middling", AS_NUMBER, 0},
    {"worst_longer_pct", "worst", AS_NUMBER, 0},
    {"worst_chosen", "chosen", AS_TEXT, 1},
    {"worst_fastest", "fastest", AS_TEXT, 1},
};

static void begin_regret(Answer *answer) {
    answer_table(answer, "regret", "Measured, what is predicted fastest takes longer than the fastest",
                 COLUMNS(regret_columns));
}

static void add_regret(Answer *answer, const char *when, const TrainingBoard *board, const PredictedRun *runs,
                       const double *factors) {
    Regret regret = regret_of(board->arena, runs, board->count, factors);
    if (regret.groups == 0) return;
    ANSWER_ROW(answer, when, answer_of_whole(regret.rows), answer_of_whole(regret.groups),
               answer_of_percent(regret.mean), answer_of_percent(regret.middling), answer_of_percent(regret.worst),
               runs[regret.chosen].run->row_id, runs[regret.fastest].run->row_id);
}

void training_answer(Answer *answer, const TrainingBoard *board) {
    Scores scores = score_runs(board->arena, board->runs, board->count, board->factors);
    answer_say(answer, NULL,
               "%d of %d rows are predicted: %.1f %% off in the mean of families; %.0f %% of steps lie in their range.",
               scores.all.covered, scores.all.rows, 100 * scores.mean_of_means.mean, 100 * scores.all.inside);
    add_scores(answer, &scores);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    begin_regret(answer);
    add_regret(answer, "these predictions", board, board->runs, board->factors);
    answer_close(answer);
    add_rows(answer, board, &scores);
    add_what_is_open(answer, board);
    if (!board->factors) return;
    Scores plain = score_runs(board->arena, board->runs, board->count, NULL);
    answer_number(answer, "mean_without_factors_pct", "As is", AS_NUMBER, 100 * plain.mean_of_means.mean);
    answer_note(answer, "%% in the mean of families: the same rows without these factors");
}

// ---- The nested hold-out.

static void add_question(Answer *answer, const char *name, int folds, const Scores *scores) {
    const FamilyScore *mean = &scores->mean_of_means, *all = &scores->all;
    ANSWER_ROW(answer, name, answer_of_whole(folds), answer_of_whole(all->covered), answer_of_whole(mean->covered),
               answer_of_percent(mean->mean), answer_of_percent(all->median), answer_of_percent(all->p90),
               answer_of_percent(mean->bias), answer_of_percent(mean->inside), answer_of_percent(all->inside),
               answer_of_number(mean->width), answer_of_number(mean->interval_score),
               answer_of_percent(mean->memory.rows ? mean->memory.mean : NAN),
               answer_of_percent(mean->memory.rows ? mean->memory.inside : NAN));
}

static void add_by_family(Answer *answer, const Scores *seen, const NestedAnswer *answers) {
    static const AnswerColumn columns[] = {{"family", "mean % of a family's rows", AS_TEXT, 0},
                                           {"rows", "rows", AS_WHOLE, 0},
                                           {"seen_pct", "in sight", AS_NUMBER, 0},
                                           {"left_out_pct", "left out", AS_NUMBER, 0},
                                           {"bias_pct", "bias", AS_NUMBER, 0},
                                           {"inside_90_pct", "in 90 %", AS_NUMBER, 0},
                                           {"gpu_left_out_pct", "GPU out", AS_NUMBER, 0},
                                           {"no_name_pct", "no name", AS_NUMBER, 0}};
    answer_table(answer, "families", "By family", COLUMNS(columns));
    for (int i = 0; i < seen->family_count; i++) {
        const FamilyScore *out = &answers[NESTED_FAMILY].scores.families[i];
        if (seen->families[i].covered == 0) continue;
        ANSWER_ROW(answer, seen->families[i].name, seen->families[i].covered, answer_of_percent(seen->families[i].mean),
                   answer_of_percent(out->mean), answer_of_percent(out->bias), answer_of_percent(out->inside),
                   answer_of_percent(answers[NESTED_GPU].scores.families[i].mean),
                   answer_of_percent(answers[NESTED_FRAMEWORK].scores.families[i].mean));
    }
}

// ---- Ranges left out.

// The software that a user may state, and the class of code.
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
    {"tuned software stated, tuned code", NESTED_FAMILY, false, TUNED, false},
    {"tuned software stated, ordinary code", NESTED_FAMILY, false, ORDINARY, false},
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

static const bool *rows_judged(const TrainingBoard *board, const NestedAnswer *nested, const Judged *which, int half) {
    bool *wanted = ARENA_ARRAY(board->arena, bool, board->count);
    for (int i = 0; i < board->count; i++) wanted[i] = is_judged(which, &nested->runs[i], half);
    return wanted;
}

static void add_range(Answer *answer, const char *name, const RangeScore *score, const OwnCode *own) {
    ANSWER_ROW(answer, name, answer_of_whole(score->rows), answer_of_whole(score->families),
               answer_of_number(score->bias), answer_of_percent(score->inside), answer_of_percent(score->above),
               answer_of_number(score->width), answer_of_number(score->score),
               answer_of_percent(score->constant_inside), answer_of_number(score->constant_width),
               answer_of_number(score->constant_score), answer_of_number(own ? own->loss : NAN),
               answer_of_number(own ? own->sigma : NAN));
}

// What untuned code loses, fitted to one half of families and judged on the other.
static void add_halves(Answer *answer, const TrainingBoard *board, const NestedAnswer *nested, const Judged *which) {
    for (int half = 0; half < 2; half++) {
        OwnCode own = own_code_fit(board->arena, nested, board->count, rows_judged(board, nested, which, half));
        const bool *others = rows_judged(board, nested, which, 1 - half);
        RangeScore score = own_code_score(board->arena, nested, board->count, others, &own);
        add_range(answer, half ? "  the first half, fitted on the second" : "  the second half, fitted on the first",
                  &score, &own);
    }
}

static void add_ranges(Answer *answer, const TrainingBoard *board, const NestedAnswer *answers) {
    static const AnswerColumn columns[] = {
        {"said", "ranges left out", AS_TEXT, 0},    {"rows", "rows", AS_WHOLE, 0},
        {"families", "families", AS_WHOLE, 2},      {"bias_log", "bias", AS_NUMBER, 0},
        {"inside_90_pct", "in 90 %", AS_NUMBER, 0}, {"above_pct", "above", AS_NUMBER, 3},
        {"width", "width", AS_NUMBER, 0},           {"score", "score", AS_NUMBER, 1},
        {"one_inside_pct", "in one", AS_NUMBER, 6}, {"one_width", "width", AS_NUMBER, 5},
        {"one_score", "score", AS_NUMBER, 4},       {"loss", "takes times", AS_NUMBER, 7},
        {"loss_sigma", "sigma", AS_NUMBER, 7}};
    answer_table(answer, "ranges", "Ranges left out, one vote a family", COLUMNS(columns));
    for (int i = 0; i < JUDGED_COUNT; i++) {
        const NestedAnswer *nested = &answers[judged[i].question];
        const bool *wanted = rows_judged(board, nested, &judged[i], -1);
        RangeScore score = range_score(board->arena, nested, board->count, wanted);
        if (!score.rows) continue;
        OwnCode own = {0};
        if (judged[i].fits) own = own_code_fit(board->arena, nested, board->count, wanted);
        add_range(answer, judged[i].name, &score, judged[i].fits ? &own : NULL);
        if (judged[i].fits) add_halves(answer, board, nested, &judged[i]);
    }
    answer_note(answer, "Bias: median log of measured over predicted; above: slower than the range; in one, width, "
                        "score: of the one range that fits these very rows; takes times, sigma: of tuned code's time, "
                        "and to the slow side, as fitted. Halves of families are by hash of their names.");
}

void training_answer_nested(Answer *answer, const TrainingBoard *board) {
    static const AnswerColumn columns[] = {{"question", "question", AS_TEXT, 0},
                                           {"folds", "folds", AS_WHOLE, 4},
                                           {"rows", "rows", AS_WHOLE, 0},
                                           {"families", "families", AS_WHOLE, 3},
                                           {"mean_error_pct", "mean %", AS_NUMBER, 0},
                                           {"median_error_pct", "median", AS_NUMBER, 1},
                                           {"p90_error_pct", "p90", AS_NUMBER, 1},
                                           {"bias_pct", "bias", AS_NUMBER, 0},
                                           {"inside_90_pct", "in 90 %", AS_NUMBER, 0},
                                           {"rows_inside_90_pct", "rows in", AS_NUMBER, 5},
                                           {"range_width", "width", AS_NUMBER, 2},
                                           {"interval_score", "score", AS_NUMBER, 3},
                                           {"memory_mean_error_pct", "memory %", AS_NUMBER, 4},
                                           {"memory_inside_90_pct", "in 90 %", AS_NUMBER, 6}};
    Scores seen = score_runs(board->arena, board->runs, board->count, NULL);
    NestedAnswer answers[NESTED_COUNT];
    answer_rename(answer, "validate-training-nested");
    answer_table(answer, "questions", "What is left out, with all that only it told", COLUMNS(columns));
    add_question(answer, "in sight", 0, &seen);
    for (int q = 0; q < NESTED_COUNT; q++) {
        answers[q] = nested_answer(board->arena, board->catalogue, board->runs, board->count, (NestedQuestion)q);
        add_question(answer, nested_questions[q], answers[q].folds, &answers[q].scores);
    }
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    answer_say(
        answer, NULL,
        "Mean, bias, in 90 %%, width, score: means over families; median, p90, rows in: over rows; memory: peaks "
        "of families that published them, their means, and inside. Factors by "
        "cause are fitted on the others (with priors of 20 %%), and of %d rules of software %d are withheld over "
        "the families' folds; a type of GPU of which no row stays has the clock and efficiencies of its "
        "generation.",
        software_rule_count(), answers[NESTED_FAMILY].rules_withheld);
    add_ranges(answer, board, answers);
    add_by_family(answer, &seen, answers);
    begin_regret(answer);
    add_regret(answer, "in sight", board, board->runs, NULL);
    for (int q = 0; q <= NESTED_FRAMEWORK; q++)
        add_regret(answer, nested_questions[q], board, answers[q].runs, answers[q].factors);
    answer_close(answer);
}

void training_answer_rules(Answer *answer, const TrainingBoard *board) {
    static const AnswerColumn columns[] = {
        {"rows", "rows", AS_WHOLE, 0},           {"families", "families", AS_WHOLE, 0},
        {"better", "better", AS_WHOLE, 0},       {"worse", "worse", AS_WHOLE, 0},
        {"saves_points", "saves", AS_NUMBER, 0}, {"saves_elsewhere_points", "elsewhere", AS_NUMBER, 0},
        {"rule", "rule", AS_TEXT, BELOW_ROW}};
    answer_rename(answer, "validate-training-rules");
    answer_table(answer, "rules", "Each rule of software switched off: points of the mean of families that it saves",
                 COLUMNS(columns));
    for (int i = 0; software_rule(i); i++) {
        const SoftwareRule *rule = software_rule(i);
        Arena *scratch = arena_open();
        RuleWorth worth = rule_worth(scratch, board->catalogue, board->runs, board->count, i);
        arena_close(scratch);
        const char *name = arena_printf(board->arena, "%s: %s", rule->word[0] ? rule->word : "all", rule->because);
        ANSWER_ROW(answer, worth.rows, worth.families, worth.better, worth.worse, answer_of_percent(worth.mean),
                   answer_of_percent(worth.elsewhere), name);
    }
    answer_note(answer, "Better, worse: families whose error the rule makes smaller or larger by more than 0.3 points; "
                        "elsewhere: what it saves without the family that it helps most, which may have told it.");
}

// ---- The rows as a file.

static void write_positive(CsvWriter *csv, double value) { csv_number(csv, "%.9g", value > 0 ? value : NAN); }

static void write_row(CsvWriter *csv, const PredictedRun *run, double factor) {
    const MeasuredRun *measured = run->run;
    bool predicted = !run->skipped || (measured->unmeasured && run->step_s > 0);
    double step_s = predicted ? factor * run->step_s : 0;
    csv_text(csv, measured->row_id);
    csv_text(csv, measured->family);
    csv_text(csv, predicted ? "ok" : "skipped");
    csv_text(csv, predicted ? (measured->unmeasured ? measured->unmeasured : measured->rule) : run->skipped);
    write_positive(csv, measured->measured_step_s);
    write_positive(csv, step_s);
    bool compares = predicted && measured->measured_step_s > 0;
    csv_number(csv, "%.4f", compares ? 100 * (step_s / measured->measured_step_s - 1) : NAN);
    write_positive(csv, measured->measured_memory_bytes);
    write_positive(csv, predicted ? run->memory_bytes : 0);
    csv_figures(csv, "%.6f", run->seconds_to_predict);
    csv_end_row(csv);
}

bool training_rows_write(const char *path, const TrainingBoard *board, Problems *problems) {
    OutputFile file;
    if (!file_create(board->arena, path, &file, problems)) return false;
    csv_titles(file.stream, ROW_COLUMNS);
    CsvWriter csv = csv_writer(file.stream);
    for (int i = 0; i < board->count; i++) write_row(&csv, &board->runs[i], factor_of(board, i));
    return file_commit(&file, problems);
}
