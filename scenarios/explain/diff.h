// Difference of two answers: where time, memory, money and energy differ, in parts that sum to the whole; and the
// share of each changed setting.
#pragma once

#include "scenarios/study/study.h"
#include "sim/data/csv.h"
#include "sim/data/json.h"

typedef struct DiffText {
    const char *name, *text;
} DiffText;

// A part of a step. Causes that a measurement does not separate are one part.
typedef struct DiffCause {
    const char *name, *title;
    double seconds;
    uint32_t covers; // a bit for each Cause; 0: of a name that this program does not know
} DiffCause;

typedef struct DiffSide {
    const char *name;       // as the user called it
    const StudySpec *study; // where it can be simulated again, or NULL
    double step_s, samples; // of one step; NAN unknown, as all that follow
    double memory_bytes, cost_per_step, power_watts, joules_per_step;
    double days, cost_per_run, energy_kwh, carbon_kg; // of the whole run
    const char *currency;
    DiffCause *causes; // they sum to step_s
    int cause_count;
    NamedValue *memory;
    int memory_count;
    DiffText *settings; // of the answer's question
    int setting_count;
    bool is_answer;               // written by this program: settings that it lacks were not there
    const char *version;          // of the program that simulated it, or NULL
    const char *command;          // that asked for it, or NULL
    double published_step_s;      // measured step time of this job, from the scenario
    const char *published_source; // or NULL
} DiffSide;

// Each gives false after problems.
// One point of a study, simulated.
bool diff_side_of_study(Arena *arena, const StudySpec *study, const char *name, DiffSide *side, Problems *problems);
// The point that a rank program came to.
bool diff_side_of_point(Arena *arena, const RecordPoint *point, const char *name, Where where, DiffSide *side,
                        Problems *problems);
// What `run --json` or `plan -o FILE.json` wrote. row: which of its points or plans, counted from 1; 0: its only point,
// the plan that was chosen.
bool diff_side_of_json(Arena *arena, const char *path, int row, DiffSide *side, Problems *problems);
// A row of CSV: by number from 1, or by its first column. Columns as of `run --csv`, or of
// published training runs (calibrate/measurements/training/README.md); a step time is enough.
bool diff_side_of_csv(Arena *arena, const char *path, const char *row, DiffSide *side, Problems *problems);
// A point of a sweep's store, counted from 1 as `sweep --show` lists them; 0: its only point.
bool diff_side_of_store(Arena *arena, const char *path, int row, DiffSide *side, Problems *problems);
// A step of a Kineto trace (torch.profiler), mean over those it marks.
bool diff_side_of_trace(Arena *arena, const char *path, DiffSide *side, Problems *problems);

// Adds the rest of a step that its known parts do not fill, as one part of all unspecified causes.
void diff_close_side(Arena *arena, DiffSide *side);
// Checks a file's numbers: false after a problem if a figure is so large or a step so short that its difference from,
// or its ratio to, another is not finite. Invalid samples become unknown.
bool diff_check_side(DiffSide *side, Where where, Problems *problems);
DiffSide diff_side_named(const char *name); // unknown in all parts

typedef struct DiffPart {
    const char *name, *title;
    double a, b;     // 0: missing on that side
    uint32_t covers; // as DiffCause
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

// What a step takes at a rate a second (money, joules), as a product of seconds and rate: the difference of two such is
// (rate_a + rate_b) / 2 for each second of difference, and (step_a + step_b) / 2 for the rate's. That is the mean of
// both orders of changing, so the parts sum to the difference.
typedef struct DiffRates {
    double per_second; // of time that differs
    double of_rate;    // what the rate's own change makes
} DiffRates;
DiffRates diff_rates(double step_a, double per_step_a, double step_b, double per_step_b); // NAN where one is unknown

// ---- diff_settings.c
#define DIFF_GROUPS_MOST 64
#define DIFF_ALL_ORDERS_MOST 8 // settings: 2^8 steps are simulated
// Differing settings of two simulated studies, each with its share of the difference of their steps.
void attribute_settings(Arena *arena, Diff *diff, Problems *problems);

// ---- diff_tables.c
// Sentences as notes, and tables: time, money, settings, other.
Record diff_record(Arena *arena, const Diff *diff);

int command_diff(int argc, char **argv);
