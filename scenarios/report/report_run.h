// What `lockstep run` answers, as a page.
#ifndef LOCKSTEP_SCENARIOS_REPORT_RUN_H
#define LOCKSTEP_SCENARIOS_REPORT_RUN_H

#include "results/page/report.h"
#include "scenarios/commands/command_run.h"

// The answer; of a study of one point what to change first and what decides it, in words and tables; then the rest.
// `study` NULL: the record is of something else.
void report_add_run(Report *report, Arena *arena, const StudySpec *study, const Record *record, Date today);

#endif
