// lockstep diff: two answers beside each other.
#pragma once

int command_diff(int argc, char **argv);
