// The answer of validate training, as a tree.
#pragma once

#include "calibrate/training/cross_training.h"
#include "calibrate/training/score_training.h"
#include "sim/data/answer.h"

typedef struct TrainingBoard {
    Arena *arena;
    const Catalogue *catalogue;
    const PredictedRun *runs;
    int count;
    const double *factors; // NULL: none
} TrainingBoard;

// The scoreboard by family, rows, skipped rows and assumptions.
void training_answer(Answer *answer, const TrainingBoard *board);
void training_answer_factors(Answer *answer, const CrossFit *cross);
void training_answer_nested(Answer *answer, const TrainingBoard *board);
void training_answer_rules(Answer *answer, const TrainingBoard *board);

// Every row to a file, whole or not at all; skipped ones too. Times in seconds, memory in bytes; seconds_to_predict is
// this machine's CPU time.
#define ROW_COLUMNS                                                                                                    \
    "row_id,family,status,reason,measured_step_s,predicted_step_s,error_pct,measured_mem_bytes,predicted_mem_bytes,"   \
    "seconds_to_predict"
bool training_rows_write(const char *path, const TrainingBoard *board, Problems *problems);
