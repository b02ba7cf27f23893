// The user's measured steps: each one of a study's job with some settings changed, "16,tp=8=9.1s", or rows of a file,
// or a trainer's log; and those that correct its simulation.
#pragma once

#include "models/workload/step/simulate.h"
#include "scenarios/study/study.h"
#include "sim/base/options.h"
#include "sim/data/trainer_log.h"

typedef struct MeasuredStep {
    Where where;
    LIST_OF(Variation) settings; // one value each
    double seconds;              // of a log: 0 until the job gives the size of a step
    const TrainerLog *log;       // or NULL
} MeasuredStep;

typedef LIST_OF(MeasuredStep) MeasuredSteps;

// A trainer's log, or rows that name no model. False: the rows describe whole jobs.
bool measured_read_file(Arena *arena, const char *path, MeasuredSteps *steps, Problems *problems);
// The job with those settings, and its cluster; variations must be given unless they have one value, and so must the
// names in `asked` (NULL-ended, or NULL). False after problems.
bool measured_place(Arena *arena, const StudySpec *of, MeasuredStep *step, const char *const *asked, StudySpec *study,
                    StudyPlace *place, Problems *problems);
// Computes a log's seconds, once the size of a step is known.
void measured_settle(MeasuredStep *step, const TrainingSpec *training, double global_batch, double micro_batches,
                     int gpus);

// ---- Those that correct a study's simulation.

// Rows of `--anchor FILE.csv`, which describe a job
// each, and runs of the study's own job, `--measured 8=0.412s`, with only the differing settings given.

// How a program reads rows that describe their job is set where it begins (main.c), since it takes the folder of
// measurements.
typedef Anchors *AnchorsReader(Arena *arena, const Catalogue *catalogue, const char *const *paths, int count,
                               Problems *problems);
extern AnchorsReader *anchors_reader;

#define ANCHOR_OPTIONS                                                                                                 \
    {.name = "measured",                                                                                               \
     .kind = OPTION_TEXTS,                                                                                             \
     .of = OF_QUESTION,                                                                                                \
     .metavar = "GPUS=TIME",                                                                                           \
     .help = "correct steps by one of this job that you measured: 8=0.412s, 16,tp=8,global_batch=64=9.1s"},            \
    {                                                                                                                  \
        .name = "anchor", .kind = OPTION_TEXTS, .of = OF_QUESTION, .metavar = "FILE",                                  \
        .help = "the same from a trainer's log, or a file: gpus,step_time, or whole jobs "                             \
                "(calibrate/measurements/training/README.md)"                                                          \
    }

bool study_has_anchors(const Options *options);
// NULL without such options, and after problems. `study` is the one job of runs of `--measured` and of files without
// a model: its variations must be given there unless they have one value, and so must the settings in `asked` (names
// of variable parameters, NULL-ended; or NULL). study NULL: such runs are refused with the words `why_none`. Prints
// on stderr which steps the runs correct.
const Anchors *study_anchors(Arena *arena, const Options *options, const Catalogue *catalogue, const StudySpec *study,
                             const char *const *asked, const char *why_none, Problems *problems);
// Prints on stderr, after all simulations, anchors without a related step.
void anchors_tell_unheard(const Anchors *anchors);
// The same before: steps of a job on these GPUs will be asked for.
void anchors_will_hear(const Anchors *anchors, const Gpu *gpu, const TrainingSpec *training);
