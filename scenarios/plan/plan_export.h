// The chosen plan as scripts that run: what its line of `run` says.
#ifndef LOCKSTEP_SCENARIOS_PLAN_EXPORT_H
#define LOCKSTEP_SCENARIOS_PLAN_EXPORT_H

#include "scenarios/plan/plan_answer.h"
#include "sim/data/question.h"

bool plan_export(Asking *asking, const PlanStudy *plan); // false after problems

#endif
