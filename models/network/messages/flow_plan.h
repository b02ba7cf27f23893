// The members of FlowPlan. Private to this folder.
#pragma once

#include "models/network/messages/flows.h"
#include "models/network/messages/message.h"
#include "models/network/messages/steps.h"

// Steps of NCCL's buffers: the most messages of one connection under way.
#define FLOW_WINDOW 8

struct FlowPlan {
    const Network *network;
    CollectiveRequest request;
    Group group; // its ranks in node order; places in schedules are indices of these
    const Algorithm *algorithm;
    MessageStyle style;
    Protocol protocol;
    Party party; // without a rank yet
    int piece_count, window;
    bool apart;         // latencies pass on streams of their own, not in the transfers
    double piece_bytes; // if they are all equal
    double start_seconds;
    const PacketSizes *packets; // of messages that leave a node; NULL: at flow fidelity
};

// Which link is busy longest, and longer than `least` seconds; NULL: none.
const char *flow_busiest(const Link *links, const double *busy, int count, double least);
// Of a message between two places, with nothing else under way.
SimTime flow_latency(const FlowPlan *plan, LinkBook *book, int from, int to, int way);
// The part of that latency that packets simulate at rest, and the rest before the first of them; else 0.
SimTime flow_on_the_wire(const FlowPlan *plan, int from, int to, int way);
// The script of a place, if the request has user-written steps.
FlowScript flow_script_of_steps(Arena *arena, const FlowPlan *plan, int place);
