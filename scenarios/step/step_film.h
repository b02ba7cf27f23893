// Films (results/film/film.h) of simulations: a collective message by message, a rank program, a job's step.
#pragma once

#include "models/network/messages/flows.h"
#include "results/film/film.h"
#include "scenarios/trace/trace.h"

// NULL after problems: too many ranks, work that was stopped.
const Film *film_of_collective(Arena *arena, const FlowPlan *plan, const CollectiveRequest *request,
                               const Network *network, const char *title, Problems *problems);
// A deadlocked program has a film, too. If each rank calls one collective, message by message, it is the
// collective's.
const Film *film_of_program(Arena *arena, const ProgramSpec *program, uint64_t seed, Problems *problems);
// Of a job; *why_not if it does not run.
const Film *film_of_spans(Arena *arena, const SpanSet *set, Problems *problems);

bool film_has_room(int rows, const char *remedy, Where where, Problems *problems);
