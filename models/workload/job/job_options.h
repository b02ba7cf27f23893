// A training job said in options: the rows that run-like commands share, and the TrainingSpec they make.
#ifndef LOCKSTEP_WORKLOAD_JOB_OPTIONS_H
#define LOCKSTEP_WORKLOAD_JOB_OPTIONS_H

#include "models/workload/job/training.h"
#include "sim/options.h"

// Which model: --model with --seq, --image-size, --classes.
extern const OptionSpec model_options[];
extern const int model_option_count;
// How it is trained: layout, batches, precision, recomputation, software.
extern const OptionSpec job_options[];
extern const int job_option_count;

bool names_a_config(const char *name); // a path that ends in .json
// NULL after problems (also when --model is missing).
const Model *model_from_options(Arena *arena, const Options *options, Problems *problems);

// What people do with this model on this GPU unless they say otherwise: Adam and Megatron for transformers, SGD and
// eager PyTorch for the others; mixed precision in the best 16-bit format; flash attention since Ampere. gpu may be
// NULL.
TrainingSpec training_defaults(const Model *model, const Gpu *gpu);

// The defaults with what the options say. Options must hold both tables above.
TrainingSpec training_from_options(Arena *arena, const Options *options, const Model *model, const Gpu *gpu,
                                   Problems *problems);

// Sizes that cannot go together: heads that do not divide by tp, a precision the GPU lacks, too few layers for pp, …
// Adds a problem with its remedy for each. gpus 0: any number that the layout asks for.
void training_check(const TrainingSpec *training, int gpus, const Gpu *gpu, Problems *problems);

#endif
