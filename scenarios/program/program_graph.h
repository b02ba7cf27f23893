// A rank's operations as a dependency graph from a file, converted to streams. An operation follows one of its
// dependencies on that one's stream if possible, else it is on a stream of its own; unordered operations are
// concurrent. Collectives of one group have their own stream, with the same order on all ranks: edges enforce the
// order in which they meet.
#pragma once

#include "scenarios/program/program.h"

#define GRAPH_STREAMS_MOST 4096

typedef struct GraphEdge {
    int32_t before, after; // operations of the rank
    bool from_start;       // `after` waits for the beginning of `before`, not for its end
} GraphEdge;

typedef struct OpGraph {
    LIST_OF(RecordedOp) ops;
    LIST_OF(GraphEdge) edges;
} OpGraph;

// Fills *rank. False where that cannot be: *stuck is an operation that waits for itself, through others or at once; -1:
// the rank would do more than GRAPH_STREAMS_MOST things side by side.
bool program_graph_record(Arena *arena, const OpGraph *graph, RecordedRank *rank, int *stuck);

// Files in which others wrote what ranks do: GOAL (LogGOPSim) and layers (ASTRA-sim 1, SimAI). They set ranks and
// labels, layers also groups; `text` is changed. False after problems.
bool program_read_goal(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems);
bool is_layer_text(const char *text);
bool program_read_layers(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems);
