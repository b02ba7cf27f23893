// The scoreboard of validate training as text, JSON or CSV.
#ifndef LOCKSTEP_CALIBRATE_PRINT_TRAINING_H
#define LOCKSTEP_CALIBRATE_PRINT_TRAINING_H

#include "calibrate/training/cross_training.h"
#include "calibrate/training/score_training.h"

void print_scoreboard(const Scores *scores);
void print_factors(const CrossFit *cross);
void print_memory_scores(const Scores *scores); // nothing when no row publishes its memory
void print_worst(const Scores *scores, const PredictedRun *runs, const double *factors, int most);
void print_skipped(Arena *arena, const PredictedRun *runs, int count);
void print_unread(Arena *arena, const PredictedRun *runs, int count, bool all); // all: what is not, else how many rows
void print_assumptions(const PredictedRun *runs, int count);
void print_rows(const PredictedRun *runs, int count, const double *factors); // each row, by cause
void print_scores_json(Arena *arena, const Scores *scores, const PredictedRun *runs, int count);
// Every row to a file, whole or not at all; skipped ones too. Times in seconds, memory in bytes; seconds_to_predict is
// this machine's CPU time.
#define ROW_COLUMNS                                                                                                    \
    "row_id,family,status,reason,measured_step_s,predicted_step_s,error_pct,measured_mem_bytes,predicted_mem_bytes,"   \
    "seconds_to_predict"
bool write_training_rows(Arena *arena, const char *path, const PredictedRun *runs, int count, const double *factors,
                         Problems *problems);
void print_rows_csv(const PredictedRun *runs, int count, const double *factors);

// The nested hold-out, question by question.
void print_nested(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count);
// The choice among measured layouts, in a line; nothing without a group of them.
void print_regret(Arena *arena, const char *when, const PredictedRun *runs, int count, const double *factors);
// What each rule of software is worth.
void print_rules(Arena *arena, const Catalogue *catalogue, const PredictedRun *runs, int count);

#endif
