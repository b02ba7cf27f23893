// State of a running shared cluster: free GPUs by node, running jobs, waiting jobs.
#pragma once

#include "models/workload/life/life_internal.h"
#include "models/workload/queue/queue.h"
#include "sim/base/list.h"

// No event is later than QUEUE_LATEST, which a run reports (too_long).
static inline SimTime later(SimTime time, SimTime length) {
    return length < QUEUE_LATEST - time ? time + length : QUEUE_LATEST;
}

// ---- Free GPUs (queue_room.c).

typedef struct Piece { // part of a job
    int32_t node, gpus;
} Piece;

typedef struct RoomShape {
    int nodes, gpus_per_node, nodes_per_leaf, leaves;
    int words; // of a set of nodes
    size_t bytes;
} RoomShape;

// Free GPUs of every node at one time, with what makes questions about them cheap.
typedef struct Room {
    const RoomShape *shape;
    unsigned char *block; // all of the following, so that a copy is one memcpy
    uint64_t *sets;       // [free * words]: nodes with exactly that many free
    int32_t *at_least;    // [free]: number of nodes with that many or more
    int32_t *whole;       // [leaf]: nodes of which nothing is taken
    int32_t *free_gpus;   // one number
    uint8_t *free;        // [node]
} Room;

RoomShape room_shape(const QueueSpec *spec);
Room *room_create(Arena *arena, const RoomShape *shape); // nothing is free
void room_copy(Room *to, const Room *from);
size_t free_bytes(int nodes); // of a list of free GPUs per node
void room_set(Room *room, int node, int free);
static inline void room_add(Room *room, int node, int gpus) { room_set(room, node, room->free[node] + gpus); }

static inline bool room_fits(const Room *room, QueuePlacement placement, int gpus) {
    if (placement == QUEUE_SCATTER) return *room->free_gpus >= gpus;
    int per_node = room->shape->gpus_per_node, whole = gpus / per_node, rest = gpus % per_node;
    return room->at_least[per_node] >= whole && (rest == 0 || room->at_least[rest] > whole);
}
// Places a job that fits; returns the number of pieces. Leaves the room unchanged.
int room_place(Room *room, QueuePlacement placement, int gpus, Piece *pieces);
int most_pieces(const RoomShape *shape, QueuePlacement placement, int gpus);

// ---- The run.

typedef enum JobState { JOB_TO_COME, JOB_WAITS, JOB_RUNS, JOB_STOPPED, JOB_DONE } JobState; // STOPPED: undetected

typedef struct Active { // a job from its arrival on
    JobState state;
    Piece *pieces;
    int32_t piece_count, piece_room;
    SimTime done, saved;     // of its work; progress in the last checkpoint
    SimTime overhead;        // to pass before it works
    SimTime since, started;  // `since`: when done and overhead were right
    SimTime expected_end;    // by its estimate
    double speed;            // work per time
    double slowdown, demand; // by where it runs
    int32_t gpus;            // that it has, or asks for
    int32_t shared;          // number of the shared GPU it is on, from 1; 0 none
    int32_t leaves;
    bool crosses;
    EventId end;
} Active;

// For reservations, one of a shared GPU's jobs holds it: the one that is expected to end last.
typedef struct SharedGpu {
    int32_t node, used, used_memory, holder; // parts of QUEUE_WHOLE_SHARE; holder -1: none
    int32_t *members, member_count, member_room;
} SharedGpu;

typedef struct Group { // jobs that wait, in order
    int32_t *items;
    int count, room;
} Group;

typedef struct Expected { // a running job, by the time it is expected to end
    SimTime end;
    int32_t job;
} Expected;

typedef struct Reservation {
    SimTime start, end;
    int32_t job;
    Piece *pieces;
    int piece_count, piece_room;
    Room *room; // free at `start`, this one and all earlier ones counted in
} Reservation;

typedef struct Change { // a reservation starts (-1) or ends (1)
    SimTime time;
    int32_t item, sign;
} Change;

#define FIRST_FITS 32 // by the highest bit of a job's GPUs

// The first time at which a job with that many GPUs fitted at the last reservation for one, and what was free then
// but for reservations. Reservations since then have only taken more.
typedef struct FirstFit {
    int gpus, next_running;
    int64_t since; // Reservations.upheavals then
    SimTime now, time;
    Room *room;
} FirstFit;

// Starts reserved to jobs that wait, and the least room from now until the i-th of them.
typedef struct Reservations {
    Reservation *items;
    int32_t *by_start; // numbers of items
    Change *changes;   // by time, ends first
    int count, most;
    Room **least; // [count + 1]
    int least_known;
    bool disturbed;   // a job has started since: recomputed reservations may name other nodes
    int32_t *to_make; // jobs with reservations to be made once a job could pass them
    int to_make_count;
    Room *scratch, *window;
    uint8_t *window_free;
    FirstFit first_fits[FIRST_FITS];
    int64_t upheavals; // counts starts, and times all reservations were dropped
} Reservations;

typedef enum QueueEvent {
    QUEUE_ARRIVAL,
    QUEUE_END,
    QUEUE_DETECTED,
    QUEUE_FAULT,
    QUEUE_REPAIRED,
    QUEUE_PASS
} QueueEvent;

typedef struct Queue {
    Arena *arena;
    const QueueSpec *spec;
    const QueueJobs *jobs;
    EventQueue *events;
    RoomShape shape;
    Room *room;    // free now
    int32_t *used; // [node]
    SimTime *back; // [node]: when it is repaired; 0 it is up
    int32_t *down_nodes;
    int down_count;
    Active *active; // [jobs]
    QueueOutcome *outcomes;
    Expected *running; // by rising end
    int running_count;
    Group *groups;
    int group_count, waiting;
    int32_t *group_order;
    Reservations reservations;
    Piece *pieces; // scratch
    // For a short next pass: nothing has been freed, and new jobs are only at the end.
    bool pass_scheduled, freed, unordered, exhausted, first_waits;
    int seen; // jobs of group 0 that the last pass has looked at and left
    int32_t *requeued;
    int requeued_count;
    // Fair share
    bool tracks_usage;
    double *usage, decay_per_s;
    double *user_gpus;
    SimTime usage_time;
    int64_t *factors;         // [jobs]: priority in this pass
    int32_t highest_priority; // of all jobs
    // Quotas
    double *group_gpus;
    int64_t *held_up, held_up_stamp; // [groups]: in this look at the queue, behind one of theirs that is beyond it
    // GPUs that jobs share
    LIST_OF(SharedGpu) shared;
    // Neighbours
    int32_t *crossing; // running jobs that cross leaf switches
    int crossing_count;
    double *leaf_demand;
    int32_t *leaf_seen, leaf_stamp;
    bool demand_changed;
    // Failures
    Arrivals good, bad;
    int32_t *bad_nodes;
    int bad_count;
    double repair_share;
    RandomStream chance;
    // Why jobs wait, where that is kept
    SimTime *waits, waits_since; // [jobs * causes]; the last look at the queue
    uint8_t *wait_cause;         // [jobs]: cause + 1 since then; 0: it was not there
    // Accounts
    SimTime from, to, last;
    int busy_gpus, finished;
    bool is_stranded;
    double busy, useful, stranded, down, fragmented, free, waited, worked, worth;
    int64_t starts, crossing_starts;
    int32_t lowest_priority; // of all jobs
    int next_arrival;
    LIST_OF(QueueMoment) history;
    QueueRun result;
} Queue;

static inline int leaf_of(const RoomShape *shape, int node) { return node / shape->nodes_per_leaf; }
static inline const QueueJob *job_of(const Queue *queue, int job) { return &queue->jobs->items[job]; }

static inline int gpus_of(const Queue *queue, int job) { return queue->active[job].gpus; }

// ---- Why jobs wait (queue.c): before and after each look at the queue, and at the end.
void waits_settle(Queue *queue);
void waits_judge(Queue *queue);

// ---- Shared GPUs (queue_job.c).
int shared_for(const Queue *queue, int job, SimTime until); // the fullest that has room for the job until then; -1

// ---- Reservations (queue_room.c). `until`: when a job that starts now would end.
void reservations_forget(Queue *queue);
bool reservations_hold(const Queue *queue); // recomputed they would be the same
void reserve_start(Queue *queue, int job);
Room *room_until(Queue *queue, int gpus, SimTime until);
void reservations_take(Queue *queue, const Piece *pieces, int count, SimTime until);

// ---- Jobs (queue_job.c).
SimTime run_length(const Queue *queue, int job);                    // from a start now to its expected end
void start_job(Queue *queue, int job, Room *where, SimTime saving); // where: it fits there
void start_on_shared(Queue *queue, int job, int at, SimTime until);
void settle_job(Queue *queue, int job);
void stop_job(Queue *queue, int job, SimTime kept); // frees its GPUs; it waits again with that progress
void finish_job(Queue *queue, int job);
void hold_job(Queue *queue, int job, SimTime until); // it stops and keeps its GPUs until then
void update_node(Queue *queue, int node);            // its free GPUs, after a change
void share_uplinks(Queue *queue);                    // speeds of all jobs that cross leaf switches, once per instant

// ---- The queue (queue_pass.c).
void enqueue(Queue *queue, int job);
void queue_pass(Queue *queue);
void schedule_pass(Queue *queue);
void update_usage(Queue *queue); // up to now, before anything changes

// ---- Failures (queue.c).
void on_repaired(Queue *queue, int node);
