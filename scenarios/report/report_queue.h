// An answer about a shared cluster as a page.
#ifndef LOCKSTEP_SCENARIOS_REPORT_QUEUE_H
#define LOCKSTEP_SCENARIOS_REPORT_QUEUE_H

#include "results/page/report.h"
#include "scenarios/queue/command_queue.h"

void report_add_queue(Report *report, Arena *arena, const QueueAnswer *answer, Date today);

#endif
