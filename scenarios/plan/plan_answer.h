// The command-line options of a plan, and its answer.
#pragma once

#include "results/results.h"
#include "scenarios/plan/plan_chance.h"
#include "sim/base/options.h"
#include "sim/base/quantity.h"
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

// "run", "--model", …: the words that repeat this row's step (plan_words.c).
const char *const *plan_run_words(const PlanStudy *plan, const PlanRow *row, int *count);

// ---- What is advised in the end (plan_rank.c).
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

// ---- Formatting of a plan's numbers, shares, money and machines.

const char *plan_human(Arena *arena, double value, QuantityKind kind); // "1.34 M"
const char *plan_money(const PlanStudy *plan, double amount);          // "$1.88 M"; "" when unknown
AnswerValue plan_money_value(const PlanStudy *plan, double amount);
const char *plan_cluster_text(const PlanStudy *plan, const PlanRow *row); // "1,024 GPUs of dgx-h100 …"
const char *plan_number(Arena *arena, double value);                      // three digits, and never 1e+03
const char *plan_length_text(Arena *arena, double days);                  // "40.7 days", "3.86 hours"
const char *plan_about(Arena *arena, double value);                       // two digits, and never 1e+03
const char *plan_percent(Arena *arena, double share);                     // "83 %", "> 99 %", "< 1 %"
// Next to the share asked for (0: none): "79.7 ± 0.4 %", 1 sigma, if the draws cannot distinguish the two.
const char *plan_percent_beside(Arena *arena, double share, double asked);
AnswerValue plan_chance_value(const PlanStudy *plan, double share);                     // compared with the wish
const char *plan_verdict(Arena *arena, const PlanRequest *request, const PlanRow *row); // "misses 30 days", or ""

// Lengths of runs in one unit in the whole answer: days, or hours where the plan in front takes less than one.
typedef struct PlanUnit {
    double per_day;
    const char *name; // "days"
} PlanUnit;
PlanUnit plan_unit(const PlanStudy *plan);
AnswerValue plan_days_value(const PlanStudy *plan, double days); // days, shown in that unit without its name

bool plan_has_wishes(const PlanRequest *request);         // a date or a budget
const char *plan_wishes_name(const PlanRequest *request); // "date and budget", those requested
bool plan_is_priced(const PlanRow *row);

// How a row is paid. NULL: nothing to add.
const char *plan_payment_text(const PlanStudy *plan, const PlanRow *row); // a term paid for whole, nodes taken back
const char *plan_spares_text(const PlanStudy *plan, const PlanRow *row);  // NULL: none are paid
const char *plan_storage_text(const PlanStudy *plan, const PlanRow *row);

// What a setting gives against the plan as it is: "saves $18.0 k and takes 3 hours more; the chance …".
const char *plan_setting_gives(const PlanStudy *plan, const WhatIf *then);
bool plan_moves_little(double days, double cost, const WhatIf *then); // these stay, to half a percent
bool plan_setting_is_idle(const WhatIf *now, const WhatIf *then);     // the chance, too

const char *plan_reach_text(const PlanStudy *plan, const WhatIf *reach); // "with a budget of $3.02 M the chance …"
