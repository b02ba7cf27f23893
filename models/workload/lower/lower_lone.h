// Which collectives of a step meet nobody, and what their messages take.
#pragma once

#include "models/network/messages/flows.h"
#include "models/workload/lower/lower_internal.h"

typedef struct LoneTime { // what the messages of a collective take on some GPUs, with nothing else under way
    const ChannelGroup *group;
    const Shape *shape;
    SimTime time;
    bool together; // all ranks are through then
} LoneTime;

// Of the collectives of a lowered step, found as they are asked for.
typedef struct StepFlows {
    Arena *arena;
    const Lowering *l;
    Problems *problems;
    const FlowPlan ***plans; // [channel][plan]
    struct {
        LoneTime *items;
        int count, room;
    } lone;
} StepFlows;

StepFlows *step_flows_create(Arena *arena, const Lowering *l, const System *system, Problems *problems);
const char *fidelity_name(const Lowering *l);
bool is_collective(const Lowering *l, int32_t channel, int32_t plan); // and not a lone send
// NULL after a problem.
const FlowPlan *step_flow(StepFlows *flows, int32_t channel, int32_t plan);
const LoneTime *step_lone_time(StepFlows *flows, int32_t channel, int32_t plan);
// Of those channels, which carry collectives that nobody meets and all leave at once. False after a problem.
bool find_lone(StepFlows *flows, const System *system, bool *lone);
// Members of one class (fold.h) do the same at the same time, and none is slower or has random times.
bool all_come_at_once(const Lowering *l, int32_t channel, const int32_t *class_of);
