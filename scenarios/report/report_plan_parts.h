// Inside of a plan's page: what its parts share.
#ifndef LOCKSTEP_SCENARIOS_REPORT_PLAN_PARTS_H
#define LOCKSTEP_SCENARIOS_REPORT_PLAN_PARTS_H

#include "results/report.h"
#include "scenarios/plan/plan_screen.h"

typedef struct Telling {
    Report *report;
    Screen screen;
} Telling;

bool plan_has_wishes(const PlanRequest *request);           // a date or a budget
const char *plan_currency(const Telling *telling, int row); // of the result
// Lengths of runs in one unit on the whole page: days, or hours where the plan in front takes less than one.
typedef struct PlanUnit {
    double per_day;
    const char *name; // "days"
} PlanUnit;
PlanUnit plan_unit(const Telling *telling);
const char *plan_length(const Telling *telling, double days); // "40.7 days"
void plan_days_cell(const Telling *telling, ReportTable *table, double days);
void plan_money_cell(Arena *arena, ReportTable *table, double money, const char *currency);
void plan_chance_cell(const Telling *telling, ReportTable *table, double chance); // beside the confidence asked
// "3 more …" under a table from which rows were left out; nothing for none.
void report_left_out(const Telling *telling, int count, const char *what_one, const char *what_many);

const char *plan_layout_text(Arena *arena, const PlanRow *row); // "TP 2 · PP 8 × 10 · DP 8"

// In the order of the page.
void report_add_plan_answer(const Telling *telling);   // report_plan_answer.c
void report_add_plan_unknowns(const Telling *telling); // report_plan_unknowns.c
void report_add_plan_what_if(const Telling *telling);  // likewise
void report_add_plan_more(const Telling *telling);     // report_plan_more.c

#endif
