// Validation of the network model by parts: reading logs and clusters, fits, scores, and output.
#pragma once

#include "calibrate/collectives/measured_collective.h"
#include "sim/base/options.h"
#include "sim/data/answer.h"

#define SHIPPED_FOLDER "calibrate/measurements/nccl"

typedef struct Skipped {
    const char *log, *reason;
} Skipped;

typedef struct Validation {
    Arena *arena;
    Problems *problems;
    Answer *answer;
    Measurements logs;
    struct {
        Skipped *items;
        int count, room;
    } skipped;
} Validation;

// A word that groups logs.
typedef const char *(*WordOf)(const MeasuredCollective *measured);
const char *family_word(const MeasuredCollective *measured);
const char *machine_word(const MeasuredCollective *measured);
const char *gpu_word(const MeasuredCollective *measured);
const char *op_word(const MeasuredCollective *measured);
const char *all_word(const MeasuredCollective *measured);

// ---- Reading (read_collectives.c).
void read_logs(Validation *validation, const Options *options);
bool spans_nodes(const DescribedCluster *cluster);

// ---- Predicting and fitting (predict_collectives.c).
void predict(MeasuredCollective *measured, const NcclConstants *constants); // NULL: shipped
// Each log that is not fitted on is predicted with constants fitted on its own machine, or with the shipped ones.
void fit_and_predict(Validation *validation, const char *what);
// Each group predicted with shared constants fitted without it, from their priors.
void cross(Validation *validation, WordOf word_of, const char *what);
// Marks the logs of machines that go otherwise without the rule, by the shipped constants; returns how many machines.
int find_touched(const Measurements *logs, RuleId rule, bool *touched);
// Likewise, only the groups with a chosen log (NULL: all), and without that rule (RULE_COUNT: with all).
// With `forgetting`, rules learned only from the logs left out are off, too. Returns the number of groups.
int leave_out(Validation *validation, WordOf word_of, const bool *chosen, RuleId without, bool forgetting);
// Fits the table of constants to all given logs, and predicts with it.
void refit(Validation *validation);

// ---- Scores (score_collectives.c).
typedef struct Score {
    int sizes, inside; // of them within the 90 % range
    double median, p90, share_inside;
} Score;

typedef struct LogScore {
    const MeasuredCollective *measured;
    Score large, small;
} LogScore;

// Over logs: how many have such sizes, the median and p90 of their medians, the median of their p90s.
typedef struct Summed {
    int logs;
    double median, p90_of_medians, median_of_p90s;
    double inside; // share of their sizes within the 90 % range, with equal weight per log
} Summed;

typedef struct Board {
    Arena *arena;
    const LogScore *scores;
    int count;
    bool only_informed; // by a fit on other logs of the same machine
} Board;

Score score_of(Arena *arena, const MeasuredCollective *measured, bool large);
Summed sum_up(const Board *board, const bool *chosen, bool large);
// Marks the logs of that word that count; returns how many.
int choose_word(const Board *board, WordOf word_of, const char *word, bool *chosen);
bool seen_before(const Board *board, WordOf word_of, int index);
bool is_word_of(const MeasuredCollective *measured, WordOf word_of, const char *word);
bool is_first_of_word(const Measurements *logs, WordOf word_of, int index);
// The machine's own of its logs' scores: the median over them.
Score machine_score(Arena *arena, const Measurements *logs, const char *machine, bool large);
typedef struct MachineSummed {
    int machines;
    double median, p90, inside; // over machines, each the median over its logs
} MachineSummed;

MachineSummed sum_machines(Arena *arena, const Measurements *logs, bool large);
// Why a log is likely to be as far off as it is.
const char *likely_reason(Arena *arena, const MeasuredCollective *measured);

// ---- Leaving out machines and types of GPU (nested_collectives.c).
// How machines are predicted without their type of GPU, and without them; the latter predictions stay.
void nested(Validation *validation);
// What each rule is worth on machines left out.
void weigh_rules(Validation *validation);

// ---- The answer (collectives_answer.c).
void collectives_answer(const Validation *validation, const Board *board);
// A table of errors by machine, and a row of it.
void collectives_open_machines(const Validation *validation, const char *key, const char *title);
void collectives_answer_machines(const Validation *validation, const char *title, const Measurements *logs);
bool collectives_rows_write(const Validation *validation, const char *path);
