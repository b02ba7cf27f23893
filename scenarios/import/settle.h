// What the files share that make options of ours of what is heard: settle.c (machines, batches, layouts),
// settle_rules.c (as single softwares have them) and settle_model.c.
#pragma once

#include "models/workload/model/model.h"
#include "scenarios/import/reading.h"

const char *number_text(Reading *r, double number);
void hear_number(Reading *r, const char *key, double number, Where where); // what is not above 0 is not said
void ask_for(Reading *r, const char *what, const char *why);               // for the list of what is left open

double layout_of(const Reading *r); // GPUs of a replica: tp x pp x cp
double world_of(const Reading *r);
void settle_offload(Reading *r); // of optimizer and, with ZeRO 3, parameters, where one word says both

// What a software does to what is heard, by the name that software.options has for it; NULL: there is none.
ImportRule *settle_rule(const char *name);

// What comes to nothing beside the rest is listed as of no effect, not as taken.
void set_aside(Reading *r, const char *key, const char *why);
void set_open(Reading *r, const char *key, const char *why); // what cannot be simulated, as not understood

const Model *model_called(Reading *r, const char *name); // of the library; or NULL
void settle_shape(Reading *r);                           // sizes that follow from others, as the software has it
void settle_model(Reading *r);
