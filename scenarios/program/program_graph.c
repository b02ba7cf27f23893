#include "scenarios/program/program.h"

#include "sim/base/list.h"

typedef struct Streams {
    const OpGraph *graph;
    Arena *arena, *scratch;
    int *first, *edge_of;         // edges by `after`: edge_of[first[op]] to edge_of[first[op + 1]]
    int *order, *stream, *before; // [op] in an order that obeys all edges; its stream; the one before it there or -1
    int *end_mark, *start_mark;   // [op] 1 + the number of the mark; 0: none
    int *tail, *group_of;         // [stream] its last operation; 1 + the group whose collectives it has, or 0
    int stream_count, mark_count;
} Streams;

// Operations in the order of the file, each once all that come before it are out.
static bool sort_ops(Streams *s, int *stuck) {
    const OpGraph *graph = s->graph;
    int ops = graph->ops.count, done = 0, *waits = ARENA_ARRAY(s->scratch, int, ops);
    int *out_first = ARENA_ARRAY(s->scratch, int, ops + 1), *out = ARENA_ARRAY(s->scratch, int, graph->edges.count);
    for (int e = 0; e < graph->edges.count; e++)
        out_first[graph->edges.items[e].before]++, s->first[graph->edges.items[e].after]++;
    for (int op = 0; op < ops; op++) waits[op] = s->first[op];
    for (int op = 0; op < ops; op++) {
        out_first[op + 1] += out_first[op];
        s->first[op + 1] += s->first[op];
    }
    for (int e = graph->edges.count - 1; e >= 0; e--) {
        out[--out_first[graph->edges.items[e].before]] = graph->edges.items[e].after;
        s->edge_of[--s->first[graph->edges.items[e].after]] = e;
    }
    for (int op = 0; op < ops; op++)
        if (waits[op] == 0) s->order[done++] = op;
    for (int at = 0; at < done; at++)
        for (int o = out_first[s->order[at]]; o < out_first[s->order[at] + 1]; o++)
            if (--waits[out[o]] == 0) s->order[done++] = out[o];
    for (*stuck = 0; *stuck < ops && waits[*stuck] == 0;) ++*stuck;
    return done == ops;
}

static int stream_of_group(const Streams *s, int group) {
    for (int i = 0; i < s->stream_count; i++)
        if (s->group_of[i] == group) return i;
    return -1;
}

static bool choose_streams(Streams *s) {
    for (int at = 0; at < s->graph->ops.count; at++) {
        int op = s->order[at], stream = -1;
        const RecordedOp *recorded = &s->graph->ops.items[op];
        int group = recorded->kind == RECORDED_COLLECTIVE ? 1 + recorded->group : 0;
        if (group) stream = stream_of_group(s, group);
        for (int e = s->first[op]; e < s->first[op + 1] && stream < 0 && !group; e++) {
            const GraphEdge *edge = &s->graph->edges.items[s->edge_of[e]];
            int of = s->stream[edge->before];
            if (!edge->from_start && s->tail[of] == edge->before && !s->group_of[of]) stream = of;
        }
        if (stream < 0 && s->stream_count == GRAPH_STREAMS_MOST) return false;
        s->before[op] = stream < 0 ? -1 : s->tail[stream];
        if (stream < 0) s->group_of[stream = s->stream_count++] = group;
        s->stream[op] = stream;
        s->tail[stream] = op;
    }
    return true;
}

// An operation that waits for another than the one just before it waits for a mark.
static void place_marks(Streams *s) {
    for (int e = 0; e < s->graph->edges.count; e++) {
        const GraphEdge *edge = &s->graph->edges.items[e];
        int *mark = edge->from_start ? s->start_mark : s->end_mark;
        if (s->before[edge->after] != edge->before && mark[edge->before] == 0) mark[edge->before] = ++s->mark_count;
    }
}

static void add_mark(Streams *s, RecordedRank *rank, int op, RecordedKind kind, int mark) {
    RecordedOp recorded = {.kind = (uint8_t)kind,
                           .cause = s->graph->ops.items[op].cause,
                           .peer = mark - 1,
                           .label = s->graph->ops.items[op].label};
    LIST_PUSH(s->arena, &rank->items[s->stream[op]], recorded);
}

static void record(Streams *s, RecordedRank *rank) {
    int streams = s->stream_count > 0 ? s->stream_count : 1;
    for (int i = 0; i < streams; i++) {
        int group = s->group_of[i];
        RecordedStream stream = {.name = group ? arena_printf(s->arena, "group %d", group - 1)
                                         : i   ? arena_printf(s->arena, "%d", i)
                                               : "main"};
        LIST_PUSH(s->arena, rank, stream);
    }
    for (int at = 0; at < s->graph->ops.count; at++) {
        int op = s->order[at];
        RecordedOp recorded = s->graph->ops.items[op];
        for (int e = s->first[op]; e < s->first[op + 1]; e++) {
            const GraphEdge *edge = &s->graph->edges.items[s->edge_of[e]];
            int mark = edge->from_start ? s->start_mark[edge->before] : s->end_mark[edge->before];
            if (s->before[op] != edge->before) add_mark(s, rank, op, RECORDED_WAIT, mark);
        }
        if (s->start_mark[op]) add_mark(s, rank, op, RECORDED_MARK, s->start_mark[op]);
        recorded.order = rank->op_count++;
        LIST_PUSH(s->arena, &rank->items[s->stream[op]], recorded);
        if (s->end_mark[op]) add_mark(s, rank, op, RECORDED_MARK, s->end_mark[op]);
    }
    rank->mark_count = s->mark_count;
}

bool program_graph_record(Arena *arena, const OpGraph *graph, RecordedRank *rank, int *stuck) {
    Arena *scratch = arena_open();
    int ops = graph->ops.count;
    Streams s = {.graph = graph, .arena = arena, .scratch = scratch};
    int **of_ops[] = {&s.order, &s.stream, &s.before, &s.end_mark, &s.start_mark};
    for (size_t i = 0; i < sizeof of_ops / sizeof *of_ops; i++) *of_ops[i] = ARENA_ARRAY(scratch, int, ops);
    s.first = ARENA_ARRAY(scratch, int, ops + 1);
    s.edge_of = ARENA_ARRAY(scratch, int, graph->edges.count);
    s.tail = ARENA_ARRAY(scratch, int, GRAPH_STREAMS_MOST);
    s.group_of = ARENA_ARRAY(scratch, int, GRAPH_STREAMS_MOST);
    bool sorted = sort_ops(&s, stuck), placed = sorted && choose_streams(&s);
    if (placed) {
        place_marks(&s);
        record(&s, rank);
    } else if (sorted) {
        *stuck = -1;
    }
    arena_close(scratch);
    return placed;
}
