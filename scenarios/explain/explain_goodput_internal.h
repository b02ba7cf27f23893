// Results of explain_goodput.c that explain_goodput_answer.c prints.
#pragma once

#include "scenarios/explain/command_explain.h"
#include "scenarios/questions/goodput.h"
#include "scenarios/whatif/whatif.h"

#define GOODPUT_MATTERS 0.0005 // of all time: smaller gains are reported as no help

typedef struct GoodputFound {
    Arena *arena;
    const GoodputAsked *asked;
    const LifeStudy *now;
    WhatIfs trials;
    double price;             // of a GPU for an hour, in USD; NAN: unknown
    double least, most;       // of providers' prices; the price where stated
    const char *paid;         // "$5.22 a GPU-hour"; NULL: unknown
    const char *price_source; // or NULL: stated by the user
} GoodputFound;

void goodput_explained(Answer *answer, const GoodputFound *found);
