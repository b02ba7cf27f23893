// GPUs shared by several jobs: by user-defined parts (time slices, MPS) or by MIG slices. A shared GPU is taken from
// its node when its first job starts and returned when its last one leaves; a job goes to the fullest one with enough
// space.
#include "models/workload/queue/queue_internal.h"
#include "sim/base/list.h"

// ---- MIG (NVIDIA MIG User Guide, A100 and H100): compute in sevenths, memory in eighths.

typedef struct MigProfile {
    int compute, memory;
} MigProfile;

static const MigProfile mig_profiles[] = {{1, 1}, {2, 2}, {3, 4}, {4, 4}, {7, 8}};

void queue_share_by_mig(QueueJob *job) {
    if (job->share == 0) return;
    for (size_t i = 0; i < sizeof mig_profiles / sizeof *mig_profiles; i++) {
        if (mig_profiles[i].compute * (QUEUE_WHOLE_SHARE / 7) < job->share) continue;
        job->share = mig_profiles[i].compute * (QUEUE_WHOLE_SHARE / 7);
        job->share_memory = mig_profiles[i].memory * (QUEUE_WHOLE_SHARE / 8);
        return;
    }
}

// ---- Who is on which.

static int memory_of(const QueueJob *job) { return job->share_memory > 0 ? job->share_memory : job->share; }

static bool has_room(const Queue *queue, const SharedGpu *gpu, const QueueJob *job) {
    return gpu->member_count > 0 && queue->back[gpu->node] == 0 && gpu->used + job->share <= QUEUE_WHOLE_SHARE &&
           gpu->used_memory + memory_of(job) <= QUEUE_WHOLE_SHARE;
}

// Where starts are reserved, a GPU that is shared must not be held for longer than it was expected to be.
static bool may_stay_until(const Queue *queue, const SharedGpu *gpu, SimTime until) {
    const Reservations *reservations = &queue->reservations;
    return until <= queue->active[gpu->holder].expected_end || reservations->count + reservations->to_make_count == 0;
}

int shared_for(const Queue *queue, int job, SimTime until) {
    int best = -1;
    for (int i = 0; i < queue->shared.count; i++) {
        const SharedGpu *gpu = &queue->shared.items[i];
        if (!has_room(queue, gpu, job_of(queue, job)) || !may_stay_until(queue, gpu, until)) continue;
        if (best < 0 || gpu->used > queue->shared.items[best].used) best = i;
    }
    return best;
}

// The GPU is free again when this one is expected to end.
static void set_holder(Queue *queue, SharedGpu *gpu, int job) {
    Active *active = &queue->active[job];
    if (gpu->holder >= 0) queue->active[gpu->holder].piece_count = 0;
    if (active->piece_room == 0) {
        active->piece_room = 1;
        active->pieces = ARENA_ARRAY(queue->arena, Piece, 1);
    }
    active->pieces[0] = (Piece){gpu->node, 1};
    active->piece_count = 1;
    gpu->holder = job;
}

static void add_member(Queue *queue, SharedGpu *gpu, int job) {
    if (gpu->member_count == gpu->member_room) {
        int32_t *before = gpu->members;
        gpu->member_room = gpu->member_room > 0 ? 2 * gpu->member_room : 4;
        gpu->members = ARENA_ARRAY(queue->arena, int32_t, gpu->member_room);
        for (int i = 0; i < gpu->member_count; i++) gpu->members[i] = before[i];
    }
    gpu->members[gpu->member_count++] = job;
    gpu->used += job_of(queue, job)->share;
    gpu->used_memory += memory_of(job_of(queue, job));
}

void shared_open(Queue *queue, int job) {
    int node = queue->active[job].pieces[0].node, at = 0;
    while (at < queue->shared.count && queue->shared.items[at].member_count > 0) at++;
    if (at == queue->shared.count) LIST_PUSH(queue->arena, &queue->shared, (SharedGpu){0});
    SharedGpu *gpu = &queue->shared.items[at];
    gpu->node = node;
    gpu->holder = job;
    add_member(queue, gpu, job);
    queue->active[job].shared = at + 1;
    queue->used[node]++;
    queue->busy_gpus++;
    update_node(queue, node);
}

void shared_join(Queue *queue, int job, int at, SimTime until) {
    SharedGpu *gpu = &queue->shared.items[at];
    queue->active[job].piece_count = 0;
    queue->active[job].shared = at + 1;
    add_member(queue, gpu, job);
    queue->reservations.upheavals++; // running jobs change their order of ends
    if (until > queue->active[gpu->holder].expected_end) set_holder(queue, gpu, job);
}

void shared_leave(Queue *queue, int job) {
    SharedGpu *gpu = &queue->shared.items[queue->active[job].shared - 1];
    int place = 0, last = -1;
    while (gpu->members[place] != job) place++;
    for (gpu->member_count--; place < gpu->member_count; place++) gpu->members[place] = gpu->members[place + 1];
    gpu->used -= job_of(queue, job)->share;
    gpu->used_memory -= memory_of(job_of(queue, job));
    queue->active[job].shared = 0;
    if (gpu->member_count == 0) {
        gpu->holder = -1;
        queue->used[gpu->node]--;
        queue->busy_gpus--;
        update_node(queue, gpu->node);
        return;
    }
    if (gpu->holder != job) return;
    for (int i = 0; i < gpu->member_count; i++) {
        int other = gpu->members[i];
        if (last < 0 || queue->active[other].expected_end > queue->active[last].expected_end) last = other;
    }
    set_holder(queue, gpu, last);
}
