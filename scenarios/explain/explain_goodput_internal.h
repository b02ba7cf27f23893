// What explain_goodput.c finds out and explain_goodput_answer.c tells.
#pragma once

#include "scenarios/explain/command_explain.h"
#include "scenarios/questions/goodput.h"
#include "scenarios/whatif/whatif_life.h"

#define GOODPUT_MATTERS 0.0005 // of all time: what gives back less is said not to help

typedef struct GoodputFound {
    Arena *arena;
    const GoodputAsked *asked;
    const LifeStudy *now;
    WhatIfs trials;
    double price;             // of a GPU for an hour, in USD; NAN: nobody says
    double least, most;       // that providers ask; as the price where one was said
    const char *paid;         // "$5.22 a GPU-hour"; NULL: nobody says
    const char *price_source; // or NULL: as the user said
} GoodputFound;

void goodput_explained(Answer *answer, const GoodputFound *found);
