// A lower bound on a system's time, found without running it.
#pragma once

#include "sim/program.h"

// No stream ends before its work and its transfers, each with its links to itself, are done; no link before all the
// bytes are through that are to cross it. Random times are not known beforehand: 0 where there are any. In seconds, and
// never more than a run takes.
double least_seconds(const System *system);
