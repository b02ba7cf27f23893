// The command-line options of a plan, and its answer.
#pragma once

#include "results/results.h"
#include "scenarios/plan/plan_learn.h"
#include "scenarios/plan/plan_what_if.h"
#include "sim/base/options.h"
#include "sim/data/answer.h"

extern const OptionSpec plan_options[];
extern const int plan_option_count;
const OptionSpec *plan_rows(Arena *arena, int *count); // these, of a price, and of a job
// Options must hold plan_rows.
// The deadline: a duration, or a day, whose end is counted from --date (default: today).
void plan_read_deadline(const Options *options, PlanRequest *request, Problems *problems);
void plan_read_request(Arena *arena, const Options *options, PlanRequest *request, Problems *problems);

typedef struct PlanStudy { // request and results
    Arena *arena;
    const PlanRequest *request;
    const PlanResult *result;
    PlanRanges ranges;
    PlanUnknowns unknowns;
    WhatIfs reaches, shifts;
    PlanSettings settings;
    const Record *chosen; // the plan chosen, else the nearest miss, with its assumptions; NULL: nothing ran
    RecordPoint packets;  // the same as packets, if requested
    const char *profile;  // file of measured constants, or NULL
    Date today;
    OptionWords words; // of the command line, without the command
    bool all_rows;
} PlanStudy;

// "run", "--model", …: the words that repeat this row's step (plan_line.c).
const char *const *plan_run_words(const PlanStudy *plan, const PlanRow *row, int *count);

// ---- What is advised in the end (plan_recommend.c).
typedef struct PlanAdvice {
    int row;     // of the result; -1: nothing yet
    int setting; // of the settings; -1: as planned
    double days, cost, both;
} PlanAdvice;
PlanAdvice plan_advice(const PlanStudy *plan);
// False where no plan runs.
bool plan_recommend(const PlanStudy *plan, Recommendation *recommendation);

void plan_answer(Answer *answer, const PlanStudy *plan);
// Its parts, in plan_answer_rows.c and plan_answer_else.c.
void plan_answer_table(Answer *answer, const PlanStudy *plan);   // every plan, as a displayed table
void plan_answer_list(Answer *answer, const PlanStudy *plan);    // likewise, for JSON
void plan_answer_more(Answer *answer, const PlanStudy *plan);    // further results of each
void plan_answer_chosen(Answer *answer, const PlanStudy *plan);  // the one in front, figure by figure
void plan_answer_unknown(Answer *answer, const PlanStudy *plan); // unknowns, and the value of knowing them
void plan_answer_else(Answer *answer, const PlanStudy *plan);    // sufficient limits, other settings or conditions
