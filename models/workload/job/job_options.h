// A training job from command-line options. The rows are made from the table of fields: a field's `flag`.
#pragma once

#include "models/workload/job/job.h"
#include "sim/base/options.h"

// clang-format off
#define PROFILE_OPTION {"profile", OPTION_TEXT, "FILE.json", .of = OF_QUESTION, .help = "parts measured or written by yourself, in place of the catalogue's"}
// clang-format on

// A command's own rows followed by those of the model (--model with --as, --image-size, --classes) and of the job.
const OptionSpec *options_with_job(Arena *arena, const OptionSpec *own, int own_count, int *count);
const OptionSpec *options_with_model(Arena *arena, const OptionSpec *own, int own_count, int *count);

// A field as an option, by its `flag`; the value of one that is given, or its fallback. False after a problem.
OptionSpec field_option(Arena *arena, const Field *field);
bool field_from_option(const FieldReader *reader, const Options *options, const Field *field, const char *called,
                       Value *value);

// A model of the library, or of a Hugging Face config.json by its path, read as that model_type; `as` NULL: its own.
const Model *model_named(Arena *arena, const char *name, const char *as, Problems *problems);

bool names_a_config(const char *name); // a path that ends in .json
// NULL after problems (also when --model is missing).
const Model *model_from_options(Arena *arena, const Options *options, Problems *problems);

// The job's values from the options, which must contain the rows of options_with_job.
JobSaid job_from_options(Arena *arena, const Options *options, const Catalogue *catalogue, const Model *model,
                         Problems *problems);
