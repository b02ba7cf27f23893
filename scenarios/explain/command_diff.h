// lockstep diff: compares two answers.
#pragma once

int command_diff(int argc, char **argv);
