#include <stdbool.h>
#include <stdlib.h>

#include "models/network/messages/message.h"
#include "sim/base/list.h"
#include "sim/base/quantity.h"

typedef struct End { // of a message
    int from, to, step;
    bool sends;
    double bytes;
    int order, other; // its own place among all ends, and that of the end it meets
} End;

typedef LIST_OF(End) Ends;

static void add_end(Arena *arena, Ends *ends, End end) {
    end.order = ends->count;
    end.other = -1;
    LIST_PUSH(arena, ends, end);
}

static Ends collect(Arena *arena, const WrittenSteps *steps, int ranks) {
    Ends ends = {0};
    for (int r = 0; r < ranks; r++)
        for (int s = 0; s < steps->ranks[r].count; s++) {
            const RankStep *step = &steps->ranks[r].items[s];
            for (int i = 0; i < step->send_count; i++)
                add_end(
                    arena, &ends,
                    (End){
                        .from = r, .to = step->sends[i].peer, .step = s, .sends = true, .bytes = step->sends[i].bytes});
            for (int i = 0; i < step->receive_count; i++)
                add_end(arena, &ends,
                        (End){.from = step->receives[i].peer, .to = r, .step = s, .bytes = step->receives[i].bytes});
        }
    return ends;
}

static int by_pair(const void *a, const void *b) {
    const End *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->sends != y->sends) return x->sends ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static const char *unmet(Arena *arena, const End *end) {
    if (end->sends)
        return arena_printf(arena, "rank %d, step %d: it sends to rank %d, which has no receive for it", end->from,
                            end->step + 1, end->to);
    return arena_printf(arena, "rank %d, step %d: it receives from rank %d, which has no send for it", end->to,
                        end->step + 1, end->from);
}

static const char *another_size(Arena *arena, const End *send, const End *receive) {
    char sent[32], received[32];
    return arena_printf(arena, "rank %d, step %d: it sends %s to rank %d, whose step %d receives %s", send->from,
                        send->step + 1, quantity_format(send->bytes, QUANTITY_BYTES, sent, sizeof sent), send->to,
                        receive->step + 1, quantity_format(receive->bytes, QUANTITY_BYTES, received, sizeof received));
}

// Sorted by pair of ranks, sends before receives: the i-th of the ones meets the i-th of the others.
static const char *pair_off(Arena *arena, Ends *ends, End *sorted) {
    for (int first = 0, next; first < ends->count; first = next) {
        int middle = first;
        while (middle < ends->count && sorted[middle].sends && sorted[middle].from == sorted[first].from &&
               sorted[middle].to == sorted[first].to)
            middle++;
        next = middle;
        while (next < ends->count && sorted[next].from == sorted[first].from && sorted[next].to == sorted[first].to)
            next++;
        int sends = middle - first, receives = next - middle;
        for (int i = 0; i < sends && i < receives; i++) {
            const End *send = &sorted[first + i], *receive = &sorted[middle + i];
            if (send->bytes != receive->bytes) return another_size(arena, send, receive);
            ends->items[send->order].other = receive->order;
            ends->items[receive->order].other = send->order;
        }
        if (sends > receives) return unmet(arena, &sorted[first + receives]);
        if (receives > sends) return unmet(arena, &sorted[middle + sends]);
    }
    return NULL;
}

// ---- Do all come to their end? Each rank goes on while the other ends of its step's messages have begun.
typedef struct Progress {
    const WrittenSteps *steps;
    const Ends *ends;
    int *step;      // [rank] under way
    int *first_end; // [rank] of that step
    int *pending;   // [rank] messages of that step that the other end has not begun
    bool *begun;    // [end]
    int *ready;     // ranks whose step is through
    int ready_count;
} Progress;

static int owner(const End *end) { return end->sends ? end->from : end->to; }

static int width(const Progress *p, int rank) {
    const RankStep *step = &p->steps->ranks[rank].items[p->step[rank]];
    return step->send_count + step->receive_count;
}

static void begin_step(Progress *p, int rank) {
    if (p->step[rank] >= p->steps->ranks[rank].count) return;
    int count = width(p, rank);
    p->pending[rank] = count;
    for (int e = p->first_end[rank]; e < p->first_end[rank] + count; e++) {
        int other = p->ends->items[e].other, peer = owner(&p->ends->items[other]);
        p->begun[e] = true;
        if (!p->begun[other]) continue;
        p->pending[rank]--;
        if (--p->pending[peer] == 0) p->ready[p->ready_count++] = peer;
    }
    if (p->pending[rank] == 0) p->ready[p->ready_count++] = rank;
}

static const char *who_waits(Arena *arena, const Progress *p, int rank) {
    for (int e = p->first_end[rank]; e < p->first_end[rank] + width(p, rank); e++) {
        const End *end = &p->ends->items[e];
        int peer = owner(&p->ends->items[end->other]);
        if (p->begun[end->other]) continue;
        return arena_printf(arena, "rank %d, step %d: it waits for ever for rank %d, which waits in its step %d", rank,
                            end->step + 1, peer, p->step[peer] + 1);
    }
    return NULL;
}

static const char *run_through(Arena *arena, const WrittenSteps *steps, const Ends *ends, int ranks) {
    Progress p = {.steps = steps, .ends = ends};
    p.step = ARENA_ARRAY(arena, int, ranks);
    p.first_end = ARENA_ARRAY(arena, int, ranks);
    p.pending = ARENA_ARRAY(arena, int, ranks);
    p.begun = ARENA_ARRAY(arena, bool, ends->count + 1);
    p.ready = ARENA_ARRAY(arena, int, 2 * ranks);
    for (int r = 0, end = 0; r < ranks; r++) {
        p.first_end[r] = end;
        for (int s = 0; s < steps->ranks[r].count; s++)
            end += steps->ranks[r].items[s].send_count + steps->ranks[r].items[s].receive_count;
    }
    for (int r = 0; r < ranks; r++) begin_step(&p, r);
    while (p.ready_count) {
        int rank = p.ready[--p.ready_count];
        p.first_end[rank] += width(&p, rank);
        p.step[rank]++;
        begin_step(&p, rank);
    }
    for (int r = 0; r < ranks; r++)
        if (p.step[r] < steps->ranks[r].count) return who_waits(arena, &p, r);
    return NULL;
}

const char *steps_check(Arena *arena, const WrittenSteps *steps, int ranks) {
    Arena *scratch = arena_open();
    Ends ends = collect(scratch, steps, ranks);
    End *sorted = ARENA_ARRAY(scratch, End, ends.count + 1);
    if (ends.count) memcpy(sorted, ends.items, (size_t)ends.count * sizeof *sorted);
    qsort(sorted, (size_t)ends.count, sizeof *sorted, by_pair);
    const char *wrong = pair_off(arena, &ends, sorted);
    if (!wrong) wrong = run_through(arena, steps, &ends, ranks);
    arena_close(scratch);
    return wrong;
}

// ---- The script of a rank in an algorithm that the user wrote: concurrent messages of a step have a stream each. The
// next step waits for all of them.

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
