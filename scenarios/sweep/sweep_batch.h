// A sweep split into shards for a Slurm array.
#pragma once

#include "sim/base/problem.h"

// "3/64": *shard 2 of *count 64; "auto": from SLURM_ARRAY_TASK_ID, _MIN and _COUNT. False after a problem.
bool shard_read(const char *text, int *shard, int *count, Problems *problems);
// The store of a shard: "sweep.3-of-64.db" for "sweep.db".
const char *shard_path(Arena *arena, const char *store, int shard, int count);
// A batch file that runs this command line as an array of so many jobs, and the command to run afterwards.
const char *batch_text(Arena *arena, int argc, char **argv, const char *store, int jobs_of_array);
