// Comparison of measured steps with the simulation of the same job: within its range or not, the best explanation of
// the difference, and the run's losses.
#pragma once

#include "scenarios/study/measured.h"

typedef struct CheckExplanation {
    const char *what;    // "attention without FlashAttention"
    double step_s;       // its step time; of a scaled cause, the measured one
    double memory_bytes; // as counted by the log; NAN: unknown
    double misfit;       // distance from the measured and the stated values, in sigmas; less is better
    double times;        // as long as simulated, of a cause; NAN: it is a setting
} CheckExplanation;

typedef struct Check { // of one measured run
    const MeasuredStep *measured;
    RecordPoint point;                      // as simulated
    double measured_memory;                 // NAN: unspecified
    double memory, memory_low, memory_high; // in the same unit
    bool step_within, memory_within;
    const char *const *cautions; // differences between the log's job and the study's
    int caution_count;
    const CheckExplanation *explanations; // best first; none where runs differ by as much
    int explanation_count;
} Check;

// False after problems.
bool check_step(Arena *arena, const StudySpec *study, MeasuredStep *step, Check *check, Problems *problems);
