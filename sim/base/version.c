// The version. The build passes the checksum of the sources that decide results: sim, models, scenarios.
#include "sim/base/version.h"

#ifndef LOCKSTEP_VERSION
#define LOCKSTEP_VERSION "0.1.0"
#endif
#ifndef LOCKSTEP_ENGINE
#define LOCKSTEP_ENGINE "unknown"
#endif

const char *program_version(void) { return LOCKSTEP_VERSION; }

const char *engine_version(void) { return LOCKSTEP_VERSION "+" LOCKSTEP_ENGINE; }
