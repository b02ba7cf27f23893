// How a plan is asked for on the command line, and shown.
#ifndef LOCKSTEP_SCENARIOS_PLAN_ANSWER_H
#define LOCKSTEP_SCENARIOS_PLAN_ANSWER_H

#include "results/results.h"
#include "scenarios/plan/plan_learn.h"
#include "scenarios/plan/plan_reach.h"
#include "scenarios/plan/plan_settings.h"
#include "sim/options.h"

extern const OptionSpec plan_options[];
const OptionSpec *plan_option_rows(Arena *arena, int *count); // these, of a price, and of a job
extern const int plan_option_count;
// Options must hold plan_option_rows.
// The deadline: a time, or a day to whose end there is so much time from --date (today, when that is not said).
void plan_read_deadline(const Options *options, PlanRequest *request, Problems *problems);
void plan_read_request(Arena *arena, const Options *options, PlanRequest *request, Problems *problems);

typedef struct PlanAnswer {
    const PlanRequest *request;
    const PlanResult *result;
    const PlanWhatIfs *what_if;
    const PlanUnknowns *unknowns; // or NULL, as the next five
    const PlanReaches *reaches;
    const PlanSettings *settings;
    const PlanShifts *shifts;
    const Record *chosen; // the plan chosen, else the nearest miss, with its assumptions; NULL: nothing ran
    const char *profile;  // file of measured constants, or NULL
    OptionWords words;    // of the command line, without the command
    bool all_rows;
} PlanAnswer;

// "run", "--model", …: what gives this row's step again (plan_line.c).
const char *const *plan_run_words(Arena *arena, const PlanAnswer *answer, const PlanRow *row, int *count);

void plan_print(Arena *arena, const PlanAnswer *answer, const Style *style);
void plan_write_json(Arena *arena, const PlanAnswer *answer);
void plan_write_csv(Arena *arena, const PlanAnswer *answer);

#endif
