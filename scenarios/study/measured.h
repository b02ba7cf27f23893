// Measured steps of a study's job with some settings changed: "16,tp=8=9.1s", rows of a file, a trainer's log.
#pragma once

#include "scenarios/study/study_point.h"
#include "sim/data/trainer_log.h"

typedef struct MeasuredStep {
    Where where;
    LIST_OF(Variation) settings; // one value each
    double seconds;              // of a log: 0 until the job gives the size of a step
    const TrainerLog *log;       // or NULL
} MeasuredStep;

typedef LIST_OF(MeasuredStep) MeasuredSteps;

MeasuredStep measured_of_words(Arena *arena, const char *words, Problems *problems);
// A trainer's log, or rows that name no model. False: the rows describe whole jobs.
bool measured_read_file(Arena *arena, const char *path, MeasuredSteps *steps, Problems *problems);
// The job with those settings, and its cluster; variations must be given unless they have one value, and so must the
// names in `asked` (NULL-ended, or NULL). False after problems.
bool measured_place(Arena *arena, const StudySpec *of, MeasuredStep *step, const char *const *asked, StudySpec *study,
                    StudyPlace *place, Problems *problems);
// Computes a log's seconds, once the size of a step is known.
void measured_settle(MeasuredStep *step, const TrainingSpec *training, double global_batch, double micro_batches,
                     int gpus);
