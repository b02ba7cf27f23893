// Formatting of a plan's numbers, shares, money and machines.
#pragma once

#include "scenarios/plan/plan_answer.h"
#include "sim/base/quantity.h"

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
