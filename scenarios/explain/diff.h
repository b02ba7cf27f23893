// Two answers set beside each other: where the time, the memory, the money and the energy differ, part by part so that
// the parts sum to the whole; and which changed setting made how much of it.
#ifndef LOCKSTEP_SCENARIOS_DIFF_H
#define LOCKSTEP_SCENARIOS_DIFF_H

#include "scenarios/study/study.h"
#include "sim/csv.h"
#include "sim/json.h"

typedef struct DiffText {
    const char *name, *text;
} DiffText;

typedef struct DiffSide {
    const char *name;       // as the user called it
    const StudySpec *study; // where it can be simulated again, or NULL
    double step_s, samples; // of one step; NAN unknown
    double memory_bytes, cost_per_step, power_watts;
    const char *currency;
    NamedValue *causes; // seconds; they and `rest` sum to step_s
    int cause_count;
    NamedValue *memory;
    int memory_count;
    DiffText *settings; // what the answer says it was asked
    int setting_count;
} DiffSide;

// Each gives false after problems.
// One point of a study, simulated.
bool diff_side_of_study(Arena *arena, const StudySpec *study, const char *name, DiffSide *side, Problems *problems);
// What `run --json` wrote of one point.
bool diff_side_of_json(Arena *arena, const char *path, DiffSide *side, Problems *problems);
// A row of CSV, numbered from 1: the columns that `run --csv` writes, of which a measurement may have only
// step_p50_s.
bool diff_side_of_csv(Arena *arena, const char *path, int row, DiffSide *side, Problems *problems);

typedef struct DiffPart {
    const char *name, *title;
    double a, b; // NAN: that side does not say
} DiffPart;

typedef struct DiffSetting {
    const char *name, *a, *b;
    double seconds; // of the step that it made, its share by Shapley; NAN: not attributed
} DiffSetting;

typedef enum DiffOrder {
    DIFF_NOT_ATTRIBUTED,
    DIFF_ALL_ORDERS,      // the mean over all orders in which the settings can change (Shapley 1953)
    DIFF_POSSIBLE_ORDERS, // over those of them whose every step on the way can run
    DIFF_LISTED_ORDER     // one after the other, as listed: too many for all orders
} DiffOrder;

typedef struct Diff {
    const DiffSide *a, *b;
    const DiffPart *time, *memory;
    int time_count, memory_count;
    const DiffSetting *settings;
    int setting_count;
    DiffOrder order;
    int simulated; // steps, for the attribution
} Diff;

Diff diff_sides(Arena *arena, const DiffSide *a, const DiffSide *b, Problems *problems);

// ---- diff_settings.c
#define DIFF_GROUPS_MOST 64
#define DIFF_ALL_ORDERS_MOST 8 // settings: 2^8 steps are simulated
// What two studies that can be simulated say otherwise, each with what it makes of the difference of their steps.
void attribute_settings(Arena *arena, Diff *diff, Problems *problems);

#endif
