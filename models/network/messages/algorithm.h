// Algorithms of collectives, as lists of sends and receives of every rank, piece by piece. They know positions in a
// group and which of them share a node; no links, no times. One list of steps drives the simulated collective
// (flows.c), the real one over sockets (calibrate/tcp/netbench.c), and the check of every rank's final data.
#pragma once

#include "models/network/network.h"
#include "sim/base/list.h"

// Sends and receives at once. What is sent waits for all earlier receives of the same lane that touched its pieces.
typedef struct FlowStep {
    int to, from; // places in the group, or -1
    int tag;      // the i-th send of a tag meets the i-th receive of that tag from this one to that
    int way;      // which of its own NICs the sender takes, where it has several
    bool add;     // added to the data there; else replaces it
    int times;    // of an outline: number of steps it represents, which differ in their pieces only; else 1
    int send_count, receive_count;
    const int32_t *send, *receive; // pieces
} FlowStep;

typedef LIST_OF(FlowStep) Lane; // steps in order; lanes do not wait for each other

// The rank that a schedule is made for. Pieces are numbered equally on all ranks: parts of the array if it is reduced
// or broadcast; the owner's rank for all_gather, gather and scatter; from * rank_count + to for all_to_all.
typedef struct Party {
    Arena *arena;
    CollectiveOp op;
    int rank, rank_count, root;      // places in the group
    const int *starts;               // [block_count + 1]: first place of each block of ranks that need no NIC; the end
    int block_count, smallest_block; // the ranks of the latter
    const int32_t *numbers;          // [pieces] 0, 1, 2, …: lists of pieces that follow each other point into it
    int order_count;                 // rings that are laid otherwise than in order of number, in one block; 0: none
    const int8_t *orders;            // [ring * rank_count + position] places
    int ways;                        // NICs of each rank's own, if equal for all
    int chunks;                      // that a pipelined array is cut into, per ring or tree
    bool outline;                    // of repeated equal steps only the first is needed
    LIST_OF(Lane) lanes;
} Party;

typedef struct Algorithm {
    const char *name;
    CollectiveOp op;
    bool piped;   // several messages of a lane may be under way; else each waits for the one before
    bool at_once; // all messages, each on a lane of its own
    bool alike;   // places with equal outlines, up to their partners, do the same with pieces of other numbers
    int (*pieces)(const Party *party);
    void (*build)(Party *party); // adds lanes
} Algorithm;

// The first of an operation is the usual one. NULL: no algorithm of that name (NULL: any) does it.
const Algorithm *algorithm_find(CollectiveOp op, const char *name);
int algorithm_names(CollectiveOp op, const char **names, int room); // returns the count

int one_piece(const Party *party);
int ring_pieces(const Party *party);
int tree_pieces(const Party *party);

// ---- An algorithm written by the user: for every rank a list of steps, each with concurrent sends and receives. A
// rank's next step begins when all messages of the previous one are complete. It specifies how many bytes go where, not
// their content.
typedef struct StepMessage {
    int peer; // index in the request's ranks
    double bytes;
} StepMessage;

typedef struct RankStep {
    const StepMessage *sends, *receives;
    int send_count, receive_count;
} RankStep;

typedef struct RankSteps {
    const RankStep *items;
    int count;
} RankSteps;

typedef struct WrittenSteps {
    const char *name;
    const RankSteps *ranks; // [rank]
} WrittenSteps;

// A sentence that names rank and step when a send meets no receive, or another size, or when ranks wait for each other
// for ever; NULL when all is well. The i-th send from one rank to another meets the i-th receive there. Steps count
// from 1.
const char *steps_check(Arena *arena, const WrittenSteps *steps, int ranks);
