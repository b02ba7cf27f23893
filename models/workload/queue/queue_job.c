// One job of a shared cluster: starts on its GPUs, shares them, stops, resumes.
#include <math.h>
#include <string.h>

#include "models/workload/queue/queue_internal.h"
#include "sim/base/check.h"

// ---- GPUs shared by several jobs: by user-defined parts (time slices, MPS) or by MIG slices. A shared GPU is taken
// from its node when its first job starts and returned when its last one leaves; a job goes to the fullest one with
// enough space.

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

// of the GPU that it was given
static void shared_open(Queue *queue, int job) {
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

static void shared_join(Queue *queue, int job, int at, SimTime until) {
    SharedGpu *gpu = &queue->shared.items[at];
    queue->active[job].piece_count = 0;
    queue->active[job].shared = at + 1;
    add_member(queue, gpu, job);
    queue->reservations.upheavals++; // running jobs change their order of ends
    if (until > queue->active[gpu->holder].expected_end) set_holder(queue, gpu, job);
}

static void shared_leave(Queue *queue, int job) {
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

// ---- One job of a shared cluster: starts on its GPUs, runs at a speed that depends on its placement, stops, resumes.

static SimTime now(const Queue *queue) { return event_now(queue->events); }

// Checkpoints take their part of every stretch of work.
static double stretch(const QueueSpec *spec) {
    return spec->checkpoint_every_s > 0 ? 1 + spec->checkpoint_s / spec->checkpoint_every_s : 1;
}

static SimTime whole(double ticks) { return ticks < (double)QUEUE_LATEST ? (SimTime)ceil(ticks) : QUEUE_LATEST; }

static SimTime stretched(const Queue *queue, SimTime work) {
    double factor = stretch(queue->spec);
    return factor > 1 ? whole((double)work * factor) : work;
}

static SimTime restart_time(const Queue *queue, int job) {
    return queue->outcomes[job].stops > 0 ? life_ticks(queue->spec->restart_s) : 0;
}

// How much longer work takes on the GPUs that it has than on those it asked for.
static double thinned(const Queue *queue, int job) {
    int has = gpus_of(queue, job), asked = job_of(queue, job)->gpus;
    double scaling = queue->spec->scaling > 0 ? queue->spec->scaling : QUEUE_USUAL_SCALING;
    return has < asked ? pow((double)asked / has, scaling) : 1;
}

SimTime run_length(const Queue *queue, int job) {
    SimTime left = job_of(queue, job)->estimate - queue->active[job].done;
    double thin = thinned(queue, job);
    if (left < 1) left = 1;
    return later(restart_time(queue, job), stretched(queue, thin > 1 ? whole((double)left * thin) : left));
}

// ---- Who runs, by expected end.

static int place_of_end(const Queue *queue, SimTime end) { // the first that ends no earlier
    int low = 0, high = queue->running_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (queue->running[middle].end < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_running(Queue *queue, int job, SimTime end) {
    int place = place_of_end(queue, end);
    while (place < queue->running_count && queue->running[place].end == end) place++;
    memmove(&queue->running[place + 1], &queue->running[place],
            (size_t)(queue->running_count++ - place) * sizeof(Expected));
    queue->running[place] = (Expected){end, job};
    queue->active[job].expected_end = end;
}

static void remove_running(Queue *queue, int job) {
    int place = place_of_end(queue, queue->active[job].expected_end);
    while (queue->running[place].job != job) place++;
    memmove(&queue->running[place], &queue->running[place + 1],
            (size_t)(--queue->running_count - place) * sizeof(Expected));
}

// ---- Work.

static double overlap(const Queue *queue, SimTime from, SimTime to) { // with the time that is accounted for
    if (from < queue->from) from = queue->from;
    if (to > queue->to) to = queue->to;
    return to > from ? (double)(to - from) : 0;
}

void settle_job(Queue *queue, int job) {
    Active *active = &queue->active[job];
    SimTime passed = now(queue) - active->since, left = job_of(queue, job)->work - active->done;
    SimTime lost = passed < active->overhead ? passed : active->overhead, worked = passed - lost;
    SimTime progress = active->speed == 1 ? worked : (SimTime)((double)worked * active->speed);
    if (progress > left) progress = left;
    active->overhead -= lost;
    if (worked > 0) {
        const QueueJob *asked = job_of(queue, job);
        double time = overlap(queue, active->since + lost, now(queue));
        double gpu_time = time * (asked->share > 0 ? queue_job_width(asked) : gpus_of(queue, job));
        queue->useful += time * queue_job_width(asked) * (double)progress / (double)worked;
        queue->worked += gpu_time;
        queue->worth += gpu_time / active->slowdown;
    }
    active->done += progress;
    active->since = now(queue);
}

static void schedule_end(Queue *queue, int job) {
    Active *active = &queue->active[job];
    SimTime left = job_of(queue, job)->work - active->done;
    if (active->speed != 1) left = whole((double)left / active->speed);
    SimTime end = later(now(queue), later(active->overhead, left));
    queue->result.too_long |= end == QUEUE_LATEST;
    event_cancel(queue->events, active->end);
    active->end = event_schedule(queue->events, end, QUEUE_END, job);
}

static void set_slowdown(Queue *queue, int job, double slowdown) {
    Active *active = &queue->active[job];
    active->slowdown = slowdown;
    active->speed = 1 / (slowdown * stretch(queue->spec) * thinned(queue, job));
}

// ---- Neighbours.

static int count_leaves(Queue *queue, const Active *active, double demand) {
    int leaves = 0;
    queue->leaf_stamp++;
    for (int i = 0; i < active->piece_count; i++) {
        int leaf = leaf_of(&queue->shape, active->pieces[i].node);
        if (queue->leaf_seen[leaf] == queue->leaf_stamp) continue;
        queue->leaf_seen[leaf] = queue->leaf_stamp;
        queue->leaf_demand[leaf] += demand;
        leaves++;
    }
    return leaves;
}

static Spread spread_of(const Queue *queue, int job) {
    return (Spread){gpus_of(queue, job), queue->active[job].piece_count, queue->active[job].leaves};
}

static void join_neighbours(Queue *queue, int job) {
    Active *active = &queue->active[job];
    QueueNetwork *network = queue->spec->network;
    active->leaves = count_leaves(queue, active, 0);
    active->crosses = false;
    queue->starts++;
    queue->crossing_starts += active->leaves > 1;
    set_slowdown(queue, job, 1);
    if (!network || active->shared > 0) return;
    Spread spread = spread_of(queue, job);
    set_slowdown(queue, job, queue_network_slowdown(network, spread, INFINITY));
    active->demand = queue_network_demand(network, spread);
    if (!(active->demand > 0)) return;
    active->crosses = true;
    count_leaves(queue, active, active->demand);
    queue->crossing[queue->crossing_count++] = job;
    queue->demand_changed = true;
}

static void leave_neighbours(Queue *queue, int job) {
    Active *active = &queue->active[job];
    if (!active->crosses) return;
    count_leaves(queue, active, -active->demand);
    int place = 0;
    while (queue->crossing[place] != job) place++;
    memmove(&queue->crossing[place], &queue->crossing[place + 1],
            (size_t)(--queue->crossing_count - place) * sizeof(int32_t));
    active->crosses = false;
    queue->demand_changed = true;
}

// What others leave of a leaf's uplinks, but no less than the part that is due to the job when all want more.
static double uplink_for(const Queue *queue, const Active *active) {
    double all = queue_network_uplink(queue->spec->network), least = INFINITY;
    for (int i = 0; i < active->piece_count; i++) {
        double demand = queue->leaf_demand[leaf_of(&queue->shape, active->pieces[i].node)];
        double left = fmax(all - (demand - active->demand), all * active->demand / demand);
        least = fmin(least, left);
    }
    return least;
}

void share_uplinks(Queue *queue) {
    if (!queue->demand_changed) return;
    queue->demand_changed = false;
    for (int i = 0; i < queue->crossing_count; i++) {
        int job = queue->crossing[i];
        Active *active = &queue->active[job];
        if (active->state != JOB_RUNS) continue;
        double slowdown =
            queue_network_slowdown(queue->spec->network, spread_of(queue, job), uplink_for(queue, active));
        if (slowdown == active->slowdown) continue;
        settle_job(queue, job);
        set_slowdown(queue, job, slowdown);
        schedule_end(queue, job);
    }
}

// ---- From start to end.

void update_node(Queue *queue, int node) {
    bool up = queue->back[node] == 0;
    room_set(queue->room, node, up ? queue->shape.gpus_per_node - queue->used[node] : 0);
}

static void count_width(Queue *queue, int job, int sign) { // for its user and group
    const QueueJob *asked = job_of(queue, job);
    double width = asked->share > 0 ? queue_job_width(asked) : gpus_of(queue, job);
    queue->user_gpus[asked->user] += sign * width;
    queue->group_gpus[asked->group] += sign * width;
}

static void hold_gpus(Queue *queue, int job, int sign) {
    const Active *active = &queue->active[job];
    for (int i = 0; i < active->piece_count; i++) {
        queue->used[active->pieces[i].node] += sign * active->pieces[i].gpus;
        update_node(queue, active->pieces[i].node);
    }
    queue->busy_gpus += sign * gpus_of(queue, job);
}

static void take_pieces(Queue *queue, int job, Room *where) {
    Active *active = &queue->active[job];
    int gpus = gpus_of(queue, job), most = most_pieces(&queue->shape, queue->spec->placement, gpus);
    if (active->piece_room < most) {
        active->piece_room = most;
        active->pieces = ARENA_ARRAY(queue->arena, Piece, most);
    }
    active->piece_count = room_place(where, queue->spec->placement, gpus, active->pieces);
}

// It has its GPUs.
static void begin_work(Queue *queue, int job, SimTime saving, SimTime expected) {
    Active *active = &queue->active[job];
    count_width(queue, job, 1);
    active->state = JOB_RUNS;
    active->since = active->started = now(queue);
    active->overhead = saving + restart_time(queue, job);
    queue->waiting--;
    if (queue->outcomes[job].start < 0) queue->outcomes[job].start = later(now(queue), saving);
    join_neighbours(queue, job);
    add_running(queue, job, expected);
    schedule_end(queue, job);
}

void start_job(Queue *queue, int job, Room *where, SimTime saving) {
    Active *active = &queue->active[job];
    SimTime expected = later(now(queue), later(saving, run_length(queue, job)));
    CHECK(active->state == JOB_WAITS);
    take_pieces(queue, job, where);
    if (job_of(queue, job)->share > 0)
        shared_open(queue, job);
    else
        hold_gpus(queue, job, 1);
    reservations_take(queue, active->pieces, active->piece_count, expected);
    begin_work(queue, job, saving, expected);
}

void start_on_shared(Queue *queue, int job, int at, SimTime until) {
    CHECK(queue->active[job].state == JOB_WAITS);
    shared_join(queue, job, at, until);
    begin_work(queue, job, 0, until);
}

static void release_job(Queue *queue, int job) {
    leave_neighbours(queue, job);
    remove_running(queue, job);
    count_width(queue, job, -1);
    if (queue->active[job].shared > 0)
        shared_leave(queue, job);
    else
        hold_gpus(queue, job, -1);
    queue->active[job].gpus = job_of(queue, job)->gpus;
    event_cancel(queue->events, queue->active[job].end);
    queue->freed = true;
}

static void end_job(Queue *queue, int job) {
    queue->active[job].state = JOB_DONE;
    queue->outcomes[job].end = now(queue);
    queue->finished++;
}

void finish_job(Queue *queue, int job) {
    settle_job(queue, job);
    release_job(queue, job);
    end_job(queue, job);
}

void hold_job(Queue *queue, int job, SimTime until) {
    Active *active = &queue->active[job];
    settle_job(queue, job);
    active->state = JOB_STOPPED;
    event_cancel(queue->events, active->end);
    remove_running(queue, job);
    add_running(queue, job, until);
}

#define MOST_STOPS 1000

void stop_job(Queue *queue, int job, SimTime kept) {
    Active *active = &queue->active[job];
    if (active->state == JOB_RUNS) settle_job(queue, job);
    bool counts = now(queue) > queue->from && now(queue) <= queue->to;
    if (counts) queue->useful -= (double)(active->done - kept) * queue_job_width(job_of(queue, job));
    active->done = active->saved = kept;
    release_job(queue, job);
    if (++queue->outcomes[job].stops >= MOST_STOPS) {
        queue->outcomes[job].given_up = true;
        queue->result.given_up++;
        end_job(queue, job);
        return;
    }
    active->state = JOB_TO_COME;
    queue->requeued[queue->requeued_count++] = job;
}
