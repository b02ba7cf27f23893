// What a rank does where a file says for each operation which others come before it: a graph, from which streams are
// made. An operation stands behind one that it waits for, on the stream of that one where it can, else on a stream of
// its own; what nothing orders runs side by side. Collectives of one group have a stream to themselves, on all ranks
// the same: edges put them in the order in which they meet.
#pragma once

#include "scenarios/program/program.h"

#define GRAPH_STREAMS_MOST 4096

typedef struct GraphEdge {
    int32_t before, after; // operations of the rank
    bool from_start;       // `after` waits for the beginning of `before`, not for its end
} GraphEdge;

typedef struct OpGraph {
    struct {
        RecordedOp *items;
        int count, room;
    } ops;
    struct {
        GraphEdge *items;
        int count, room;
    } edges;
} OpGraph;

// Fills *rank. False where that cannot be: *stuck is an operation that waits for itself, through others or at once; -1:
// the rank would do more than GRAPH_STREAMS_MOST things side by side.
bool program_graph_record(Arena *arena, const OpGraph *graph, RecordedRank *rank, int *stuck);

// Files in which others wrote what ranks do: GOAL (LogGOPSim) and layers (ASTRA-sim 1, SimAI). They set ranks and
// labels, layers also groups; `text` is changed. False after problems.
bool program_read_goal(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems);
bool is_layer_text(const char *text);
bool program_read_layers(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems);
