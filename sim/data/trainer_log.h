// Parser of training logs: step times after the warm-up, and memory. The software is recognised by its words (a row
// each, trainer_log.c).
#pragma once

#include "sim/base/list.h"
#include "sim/base/problem.h"

typedef enum LogUnit { PER_STEP, PER_MICRO_BATCH, PER_SAMPLE, PER_TOKEN_OF_A_GPU } LogUnit;
typedef enum LogMemory { LOG_MEMORY_NONE, LOG_MEMORY_ALLOCATED, LOG_MEMORY_RESERVED } LogMemory;

typedef struct LogSetting {   // of the job, from the log's own list of arguments
    const char *name, *value; // as in variations: "tp"
} LogSetting;

typedef struct TrainerLog {
    const char *path, *software;
    LogUnit unit;
    double seconds;      // of a unit: the median of the lines that count
    double fast, slow;   // nine lines in ten lie between
    int lines, left_out; // with a time, and the first of them, which warmed up
    int stalls;          // of those that count, more than 1.5 times the median
    double warm_share;   // of all its time: excess of the warm-up steps over as many others
    double stall_share;  // of all its time: excess of stalls over the median
    bool whole_run;      // the one number is a mean of the whole run, its start with it
    double tflops;       // of a GPU by its own count, the median; 0: unspecified
    double memory_bytes; // the maximum; 0: unspecified
    LogMemory memory_is;
    LIST_OF(LogSetting) settings;
} TrainerLog;

// NULL: no line has a step time; or after a problem.
const TrainerLog *trainer_log_read(Arena *arena, const char *path, Problems *problems);
const TrainerLog *trainer_log_of_text(Arena *arena, const char *path, const char *text, size_t bytes);
const char *trainer_log_words(Arena *arena); // of which software, for hints

// Whether a file that was named as a job is a log, or no scenario at all; then a problem says what to do with it.
bool file_says_no_job(Arena *arena, const char *path, const char *text, size_t bytes, Problems *problems);

typedef struct StepOfLog { // how much one step is
    double samples, tokens, micro_batches, gpus;
} StepOfLog;
double trainer_log_per_step(const TrainerLog *log, StepOfLog step); // units: times `seconds` is the time of a step
