// Comparison of measured steps with the simulation of the same job: within its range or not, the best explanation of
// the difference, and the run's losses.
#pragma once

#include "scenarios/study/measured.h"

typedef struct CheckExplanation {
    const char *what;    // "attention without FlashAttention"
    double step_s;       // that it would take; of a cause that is scaled, what was measured
    double memory_bytes; // as the log counts; NAN: unknown
    double misfit;       // how far it is from what was measured and from what was said, in sigmas; less is better
    double times;        // as long as simulated, of a cause; NAN: it is a setting
} CheckExplanation;

typedef struct Check { // of one measured run
    const MeasuredStep *measured;
    RecordPoint point;                      // as simulated
    double measured_memory;                 // NAN: not said
    double memory, memory_low, memory_high; // as that counts
    bool step_within, memory_within;
    const char *const *cautions; // where the log says another job than was asked of
    int caution_count;
    const CheckExplanation *explanations; // best first; none where runs differ by as much
    int explanation_count;
} Check;

// False after problems.
bool check_step(Arena *arena, const StudySpec *study, MeasuredStep *step, Check *check, Problems *problems);
