// Node failures in a shared cluster, as in life.h: good nodes by one process, bad ones by an additional one. The jobs
// on a failed node stop, which is detected after a delay; then they wait again with the progress of their last
// checkpoint.
#include "models/workload/queue/queue_internal.h"

static void schedule_fault(Queue *queue, bool is_bad) {
    SimTime at;
    if (!arrivals_next(is_bad ? &queue->bad : &queue->good, &at) || at >= QUEUE_LATEST) return;
    event_schedule(queue->events, at, QUEUE_FAULT, is_bad);
}

void faults_begin(Queue *queue) {
    const LifeSpec *faults = queue->spec->faults;
    if (!faults) return;
    uint64_t seed = queue->spec->seed;
    double hardware = 0, software = 0, nodes = queue->shape.nodes;
    for (int i = 0; i < FAULT_COMPONENT_COUNT; i++)
        *(faults->faults[i].needs_repair ? &hardware : &software) += faults->faults[i].node_rate;
    // The rates are those of the whole fleet: good nodes fail less often than its mean.
    double good = hardware / (1 + faults->bad_share * (faults->bad_factor - 1));
    RandomStream stream = random_stream(seed, "queue bad nodes", 0);
    queue->bad_nodes = ARENA_ARRAY(queue->arena, int32_t, queue->shape.nodes);
    for (int i = 0; i < queue->shape.nodes; i++)
        if (random_uniform(&stream) < faults->bad_share) queue->bad_nodes[queue->bad_count++] = i;
    queue->repair_share = good + software > 0 ? good / (good + software) : 0;
    queue->good = (Arrivals){random_stream(seed, "queue faults", 0), nodes * (good + software), 1, 0, 0, 0};
    queue->bad = (Arrivals){random_stream(seed, "queue faults", 1), 0, 1, 0, 0, 0};
    queue->bad.rate = queue->bad_count * good * (faults->bad_factor - 1);
    queue->chance = random_stream(seed, "queue fault", 0);
    schedule_fault(queue, false);
    schedule_fault(queue, true);
}

static bool runs_on(const Queue *queue, int job, int node) {
    const Active *active = &queue->active[job];
    if (active->shared > 0) return queue->shared.items[active->shared - 1].node == node;
    for (int i = 0; i < active->piece_count; i++)
        if (active->pieces[i].node == node) return true;
    return false;
}

static void stop_jobs_on(Queue *queue, int node, SimTime seen_at) {
    Arena *arena = arena_open(); // the list of those that run changes meanwhile
    int32_t *hit = ARENA_ARRAY(arena, int32_t, queue->running_count);
    int count = 0;
    for (int i = 0; i < queue->running_count; i++) {
        int job = queue->running[i].job;
        if (queue->active[job].state == JOB_RUNS && runs_on(queue, job, node)) hit[count++] = job;
    }
    for (int i = 0; i < count; i++) {
        hold_job(queue, hit[i], seen_at);
        event_schedule(queue->events, seen_at, QUEUE_DETECTED, hit[i]);
        queue->result.failure_stops++;
    }
    arena_close(arena);
}

static void take_down(Queue *queue, int node, SimTime back) {
    queue->back[node] = back;
    queue->down_nodes[queue->down_count++] = node;
    update_node(queue, node);
    queue->unordered = true; // reserved GPUs may be gone
    event_schedule(queue->events, back, QUEUE_REPAIRED, node);
    schedule_pass(queue);
}

// Draws the same numbers whatever runs, so that two ways of running a cluster meet the same failures.
void on_fault(Queue *queue, bool is_bad) {
    const LifeSpec *faults = queue->spec->faults;
    RandomStream *chance = &queue->chance;
    uint64_t nodes = (uint64_t)(is_bad ? queue->bad_count : queue->shape.nodes);
    int node = (int)random_below(chance, nodes);
    bool repair = random_uniform(chance) < queue->repair_share || is_bad;
    bool hangs = random_uniform(chance) < faults->hang_share;
    SimTime now = event_now(queue->events),
            mended = later(now + 1, life_ticks(random_exponential(chance, faults->repair_s)));
    schedule_fault(queue, is_bad);
    if (is_bad) node = queue->bad_nodes[node];
    if (queue->back[node] > 0) return;
    queue->result.node_failures++;
    stop_jobs_on(queue, node, later(now, life_ticks(hangs ? faults->hang_detection_s : faults->crash_detection_s)));
    if (repair) take_down(queue, node, mended);
}

void on_detected(Queue *queue, int job) {
    const Active *active = &queue->active[job];
    SimTime every = life_ticks(queue->spec->checkpoint_every_s), kept = active->saved;
    if (every > 0 && active->done / every * every > kept) kept = active->done / every * every;
    stop_job(queue, job, kept);
    schedule_pass(queue);
}

void on_repaired(Queue *queue, int node) {
    queue->back[node] = 0;
    for (int i = 0; i < queue->down_count; i++)
        if (queue->down_nodes[i] == node) queue->down_nodes[i--] = queue->down_nodes[--queue->down_count];
    update_node(queue, node);
    queue->freed = true;
    schedule_pass(queue);
}
