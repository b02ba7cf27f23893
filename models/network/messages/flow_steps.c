// The script of a rank in an algorithm that the user wrote: concurrent messages of a step have a stream each. The
// next step waits for all of them.
#include "models/network/messages/flow_plan.h"
#include "sim/base/list.h"

typedef struct StepWriter {
    Arena *arena;
    const FlowPlan *plan;
    FlowScript script;
} StepWriter;

static void push(StepWriter *w, int stream, FlowOp op) { LIST_PUSH(w->arena, &w->script.streams[stream], op); }

// The first of a rank's streams carries the first send, and so on: messages of one rank to another stay in order, since
// a step's all end before the next begins, and within a step they have tags of their own.
static void write_message(StepWriter *w, int stream, FlowOpKind kind, const StepMessage *message, int tag,
                          int first_mark, int marks) {
    const FlowPlan *plan = w->plan;
    for (int m = 0; m < marks; m++) push(w, stream, (FlowOp){.kind = FLOW_WAIT, .mark = first_mark + m});
    push(w, stream,
         (FlowOp){.kind = kind,
                  .peer = flow_place(plan, plan->request.ranks[message->peer]),
                  .tag = tag,
                  .bytes = message->bytes});
    push(w, stream, (FlowOp){.kind = FLOW_RECORD, .mark = w->script.mark_count++});
}

// The i-th message from one rank to another has tag i.
static int next_tag(int *tags, int peer) { return tags[peer]++; }

FlowScript flow_script_of_steps(Arena *arena, const FlowPlan *plan, int place) {
    StepWriter w = {.arena = arena, .plan = plan};
    int rank = 0, ranks = plan->request.rank_count, widest = 1, first_mark = 0, marks = 0;
    while (plan->request.ranks[rank] != plan->group.ranks[place]) rank++;
    const RankSteps *steps = &plan->request.steps->ranks[rank];
    for (int s = 0; s < steps->count; s++) {
        int width = steps->items[s].send_count + steps->items[s].receive_count;
        if (width > widest) widest = width;
    }
    w.script.count = widest;
    w.script.streams = ARENA_ARRAY(arena, FlowStream, widest);
    int *sent = ARENA_ARRAY(arena, int, ranks), *received = ARENA_ARRAY(arena, int, ranks);
    for (int s = 0; s < widest && plan->start_seconds > 0; s++)
        push(&w, s, (FlowOp){.kind = FLOW_WORK, .time = step_ticks(plan->start_seconds)});
    for (int s = 0; s < steps->count; s++) {
        const RankStep *step = &steps->items[s];
        int stream = 0, begun = w.script.mark_count;
        for (int i = 0; i < step->send_count; i++)
            write_message(&w, stream++, FLOW_SEND, &step->sends[i], next_tag(sent, step->sends[i].peer), first_mark,
                          marks);
        for (int i = 0; i < step->receive_count; i++)
            write_message(&w, stream++, FLOW_RECEIVE, &step->receives[i], next_tag(received, step->receives[i].peer),
                          first_mark, marks);
        first_mark = begun;
        marks = w.script.mark_count - begun;
    }
    return w.script;
}
