// lockstep trace: a step as a timeline, for viewers and as text.
#ifndef LOCKSTEP_SCENARIOS_COMMAND_TRACE_H
#define LOCKSTEP_SCENARIOS_COMMAND_TRACE_H

int command_trace(int argc, char **argv);

#endif
