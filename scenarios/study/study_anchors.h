// The user's measured steps that correct a study's simulation: rows of `--anchor FILE.csv`, which describe a job
// each, and runs of the study's own job, `--measured 8=0.412s`, with only the differing settings given.
#pragma once

#include "models/workload/step/simulate.h"
#include "scenarios/study/study.h"
#include "sim/base/options.h"

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
