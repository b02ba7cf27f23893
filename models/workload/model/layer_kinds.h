// The kinds of layers that networks of images, sounds and sentences are made of: a row for each.
#ifndef LOCKSTEP_WORKLOAD_LAYER_KINDS_H
#define LOCKSTEP_WORKLOAD_LAYER_KINDS_H

#include "models/workload/model/operators.h"

// What a layer does before anything follows it, on so many samples.
Operator layer_operator(const NetLayer *layer, double samples);

#endif
