// Simulation of one point of a study, called by study_run in turn and by a sweep in many processes.
#pragma once

#include "scenarios/study/study.h"

enum { MOST_VARIED = 64 }; // more than there are names, and each varies once

typedef struct Baseline { // one GPU's speed, kept for the next point that differs in nothing but GPUs
    bool known;
    int values[MOST_VARIED];
    double samples_per_s, replica_batch;
} Baseline;

// The names that a study can vary.
const char *const *study_vary_names(int *count);
// Whether all that is varied has a known name and values that can be set. What does not go together is not looked for.
bool study_check(const StudySpec *study, Problems *problems);
// The point where vary[v] has its value number values[v], of a study that was checked. Its numbers do not depend on
// what `baseline` remembers.
RecordPoint study_point(Arena *arena, const StudySpec *study, const int *values, Baseline *baseline,
                        Problems *problems);

// What is simulated there: the cluster and the job with these values in place. NULL cluster after problems.
typedef struct StudyPlace {
    const Cluster *cluster;
    const TrainingSpec *training;
} StudyPlace;
StudyPlace study_place(Arena *arena, const StudySpec *study, const int *values, Problems *problems);

// Sets the point's effects without a simulation; none where the job is not possible there.
void study_effects(Arena *arena, const StudySpec *study, const int *values, RecordPoint *point);

// What a point of a study that varies nothing is measured against: the same job on one GPU, or on as few as hold it.
void study_set_baseline(Arena *arena, const StudySpec *study, RecordPoint *point, Problems *problems);
