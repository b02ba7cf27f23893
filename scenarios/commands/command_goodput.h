// The command `lockstep goodput`, with the calendar of a life as a chart.
#ifndef LOCKSTEP_SCENARIOS_COMMAND_GOODPUT_H
#define LOCKSTEP_SCENARIOS_COMMAND_GOODPUT_H

#include "models/workload/life/life.h"
#include "results/chart.h"

int command_goodput(int argc, char **argv); // argv[0] is "goodput"

// A row for each stretch: what it was spent on, in hours or days, its goodput and its unplanned stops behind it.
void calendar_chart(Arena *arena, const LifeCalendar *calendar, BarChart *chart);
const char *calendar_title(Arena *arena, const LifeCalendar *calendar);

#endif
