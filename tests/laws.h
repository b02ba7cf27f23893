// Laws that any job on any cluster obeys, checked on drawn studies: more of a resource does not slow a step down, no
// step is shorter than its arithmetic, its bytes and its wires allow, sharing takes less memory, ranks that are alike
// may change places. A study that breaks a law is shrunk to a small scenario.
#pragma once

#include <stdbool.h>

#include "models/workload/lower/lower.h"
#include "scenarios/study/study.h"
#include "sim/run.h"
#include "tests/draw_study.h"

typedef enum Verdict { LAW_SILENT, LAW_HOLDS, LAW_BROKEN } Verdict; // silent: it says nothing of such a study

// What was found, and how to see it again: settings and a profile in which a second run differs.
typedef struct Finding {
    char why[512];
    double excess;      // by which share it is broken
    char sets[512];     // "training.zero=2", one after the other, as --set has them
    char profile[1024]; // a file for --profile, or ""
} Finding;

typedef struct Law {
    const char *name;
    // `seed` chooses what the study leaves open: by how much, of what. The same seed gives the same verdict.
    Verdict (*judge)(const DrawnStudy *study, uint64_t seed, Finding *finding);
} Law;

extern const Law laws[];
extern const int law_count;

// A drawn study without what laws do not speak of: repetitions, random times, variations, bounds.
DrawnStudy law_study(uint64_t seed);

// One study simulated, whatever its memory. A profile is a file's text, or "".
typedef struct Answer {
    bool ran;
    double step_s;
    double alone_s; // the step if every transfer had its links to itself
    double busy_s;  // that links carry bytes at their full rate, all of them together
    const Lowered *lowered;
    Memory memory; // of the fullest GPU
    System system;
    RunResult run;
    const Cluster *cluster;
    const StudySpec *spec; // NULL: the study is refused
    Arena *arena;
} Answer;

typedef struct AnswerOptions {
    bool unfolded;    // every rank: what its links carry is then its own
    bool memory_only; // not run
    bool second;      // of a pair: what law_forgery falsifies
} AnswerOptions;

Answer law_answer_of(const DrawnStudy *study, const char *profile, AnswerOptions options);
void law_answer_close(Answer *answer);
// For laws about laws: added to the step time of any second run, as a share.
extern double law_forgery;

// The smallest study found that still breaks the law: settings left out one by one, numbers halved.
DrawnStudy law_shrink(const Law *law, const DrawnStudy *study, uint64_t seed);
// A scenario that runs, with the commands that show what is wrong.
void law_print(const Law *law, const DrawnStudy *study, uint64_t seed, FILE *out);
