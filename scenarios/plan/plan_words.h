// Numbers, shares, money and machines of a plan as words (plan_words.c).
#ifndef LOCKSTEP_SCENARIOS_PLAN_WORDS_H
#define LOCKSTEP_SCENARIOS_PLAN_WORDS_H

#include "scenarios/plan/plan_answer.h"
#include "sim/quantity.h"

typedef struct Screen {
    Arena *arena;
    const PlanAnswer *answer;
    const PlanRequest *request;
    const PlanResult *result;
    const Style *style;
    int rows;
    bool on_page; // money as pages have it: "$1.88 M"
} Screen;

const char *plan_human(Arena *arena, double value, QuantityKind kind);                 // "1.34 M"
const char *plan_amount(Arena *arena, double amount);                                  // of money: "12.4 k"
const char *plan_money(const Screen *screen, const RecordPoint *point, double amount); // "" when unknown
const char *plan_cluster_text(const Screen *screen, const PlanRow *row);               // "1024 GPUs of dgx-h100 …"
const char *plan_number(Arena *arena, double value);     // three digits, and never 1e+03: days, megawatt hours
const char *plan_length_text(Arena *arena, double days); // "40.7 days", "3.86 hours"
const char *plan_about(Arena *arena, double value);      // two digits likewise
const char *plan_percent(Arena *arena, double share);    // "83 %", "> 99 %", "< 1 %": few draws tell more
// Beside what was asked for (0: nothing): "79.7 ± 0.4 %", 1 sigma, where the draws cannot tell the two apart.
const char *plan_percent_beside(Arena *arena, double share, double asked);
const char *plan_verdict(Arena *arena, const PlanRequest *request, const PlanRow *row); // "misses 30 days", or ""

#endif
