// lockstep trace: a step as a timeline, for viewers and as text.
#pragma once

int command_trace(int argc, char **argv);
