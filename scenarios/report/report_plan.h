// A plan's answer as a page.
#ifndef LOCKSTEP_SCENARIOS_REPORT_PLAN_H
#define LOCKSTEP_SCENARIOS_REPORT_PLAN_H

#include "results/report.h"
#include "scenarios/plan/plan_answer.h"
#include "sim/recommendation.h"

const char *plan_report_title(Arena *arena, const PlanAnswer *answer);
void report_add_plan(Report *report, Arena *arena, const PlanAnswer *answer);
void report_add_recommendation(Report *report, Arena *arena, const Recommendation *recommendation); // of any answer

#endif
