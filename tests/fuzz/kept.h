// The catalogue, read once for all inputs: that takes longer than what is done with it.
#pragma once

#include "models/hardware/hardware.h"

const Catalogue *kept_catalogue(void);
