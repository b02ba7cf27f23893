// What the engine does, event by event, as lines of a file: for looking at a run that surprises. Off unless a command
// opened it; what is simulated does not depend on it.
#ifndef LOCKSTEP_SIM_TRACE_H
#define LOCKSTEP_SIM_TRACE_H

#include "sim/clock.h"
#include "sim/problem.h"

#define TRACE_LINES_MOST 200000 // then they are counted only

typedef struct TraceEvent {
    SimTime time;
    const char *what;       // "flow": a transfer's latency is over; "done": it has ended; "share": links shared anew
    int32_t channel, actor; // of the first that joined; -1: none
    int32_t members;
    const char *cause, *label;
} TraceEvent;

bool trace_open(const char *path, Problems *problems); // false after a problem
int trace_begin_run(void);                             // its number, from 1 on; 0: nothing is traced
void trace_event(int run, const TraceEvent *event);
bool trace_close(Problems *problems); // false after a problem; true where none is open

#endif
