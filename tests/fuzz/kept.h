// The catalogue, read once for all inputs: that takes longer than what is done with it.
#ifndef LOCKSTEP_TESTS_FUZZ_KEPT_H
#define LOCKSTEP_TESTS_FUZZ_KEPT_H

#include "models/hardware/hardware.h"

const Catalogue *kept_catalogue(void);

#endif
