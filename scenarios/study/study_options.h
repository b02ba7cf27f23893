// A study from options instead of a script: --model, --node, --gpus and the rest of a cluster and a job.
#pragma once

#include "models/workload/cluster/cluster_money.h"
#include "models/workload/job/job.h"
#include "scenarios/study/study.h"
#include "sim/base/options.h"

// clang-format off
#define SET_OPTION {"set", OPTION_TEXTS, "PATH=VALUE", .of = OF_QUESTION, .help = "put a value in place of the script's; may be repeated"}
#define SEED_OPTION {"seed", OPTION_SEED, "N", .of = OF_QUESTION, .help = "of all random draws (default 1)"}
#define UNFOLDED_OPTION {"unfolded", OPTION_FLAG, .of = OF_QUESTION, .help = "simulate every rank, also those that do the same"}
#define ALLOW_READ_OPTION {"allow-read", OPTION_TEXTS, "DIR", .help = "the script may name files in this folder, besides its own; may be repeated"}
// clang-format on

const OptionSpec *study_option_rows(Arena *arena, int *count);
// A command's own rows, and those of a study that it has not.
const OptionSpec *options_with_study(Arena *arena, const OptionSpec *own, int own_count, int *count);
// Whether a command line has a script: a positional argument names one, and the job is not given in options, or it
// ends in .lua. (The value of an unknown option is no script.)
bool options_name_a_script(const Options *options);
// `command` is used as the scenario's name: "lockstep sweep". NULL after problems.
StudySpec *study_from_options(Arena *arena, const Options *options, const Catalogue *catalogue, const char *command,
                              Problems *problems);
