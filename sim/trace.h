// Event trace of the engine as lines of a file, for debugging a run. Off unless a command opened it; results do not
// depend on it. The file appears when it is closed: a refused run leaves an older file unchanged.
#pragma once

#include "sim/base/arena.h"
#include "sim/base/problem.h"
#include "sim/clock.h"

#define TRACE_LINES_MOST 200000 // then they are counted only

typedef struct TraceEvent {
    SimTime time;
    const char *what;       // "flow": a transfer's latency is over; "done": it has ended; "share": links shared anew
    int32_t channel, actor; // of the first that joined; -1: none
    int32_t members;
    const char *cause, *label;
} TraceEvent;

// False after a problem. `arena` is to live until it is closed.
bool trace_open(Arena *arena, const char *path, Problems *problems);
int trace_begin_run(void); // its number, from 1 on; 0: nothing is traced
void trace_event(int run, const TraceEvent *event);
bool trace_close(Problems *problems); // false after a problem; true where none is open
void trace_abandon(void);             // as if it had not been opened
