// Answers about a job's weeks and about a shared cluster as pages.
#ifndef LOCKSTEP_SCENARIOS_REPORT_LIFE_H
#define LOCKSTEP_SCENARIOS_REPORT_LIFE_H

#include "results/report.h"
#include "scenarios/explain/explain_goodput.h"
#include "scenarios/queue/command_queue.h"

const char *goodput_report_title(Arena *arena, const GoodputExplained *answer);
void report_add_goodput(Report *report, const GoodputExplained *answer);
void report_add_queue(Report *report, Arena *arena, const QueueAnswer *answer, Date today);

#endif
