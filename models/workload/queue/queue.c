// Event simulation of a shared cluster, from its first arrival to its last job's end, with accounting between events.
#include "models/workload/queue/queue.h"

#include "models/workload/queue/queue_internal.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/system/watch.h"

#define WEEK_S (7 * 86400.0)
#define EVENTS_PER_LOOK 256 // at the watch: a pass over many jobs takes its time
#define EVENT_WEIGHT 3      // of the watch's events: with its pass, one of a queue takes about as long

// ---- Accounts, over the time that counts.

static void account(Queue *queue, SimTime now) {
    SimTime from = queue->last > queue->from ? queue->last : queue->from, to = now < queue->to ? now : queue->to;
    queue->last = now;
    if (to <= from) return;
    const Room *room = queue->room;
    double passed = (double)(to - from), free = *room->free_gpus, per_node = queue->shape.gpus_per_node;
    queue->busy += queue->busy_gpus * passed;
    queue->free += free * passed;
    queue->fragmented += (free - room->at_least[queue->shape.gpus_per_node] * per_node) * passed;
    queue->down += queue->down_count * per_node * passed;
    queue->waited += queue->waiting * passed;
    if (queue->is_stranded) queue->stranded += free * passed;
}

static void remember(Queue *queue) {
    if (!queue->spec->keep_history) return;
    QueueMoment moment = {event_now(queue->events), queue->busy_gpus, queue->waiting};
    int count = queue->history.count;
    if (count > 0 && queue->history.items[count - 1].time == moment.time)
        queue->history.items[count - 1] = moment;
    else
        LIST_PUSH(queue->arena, &queue->history, moment);
}

// ---- Events.

// All jobs of one instant arrive together.
static void on_arrival(Queue *queue) {
    SimTime now = event_now(queue->events);
    while (queue->next_arrival < queue->jobs->count && job_of(queue, queue->next_arrival)->arrival == now)
        enqueue(queue, queue->next_arrival++);
    schedule_pass(queue);
    if (queue->next_arrival < queue->jobs->count)
        event_schedule(queue->events, job_of(queue, queue->next_arrival)->arrival, QUEUE_ARRIVAL, 0);
}

static void on_event(Queue *queue, const Event *event) {
    switch ((QueueEvent)event->kind) {
    case QUEUE_ARRIVAL:
        on_arrival(queue);
        break;
    case QUEUE_END:
        finish_job(queue, event->item);
        schedule_pass(queue);
        break;
    case QUEUE_DETECTED:
        on_detected(queue, event->item);
        break;
    case QUEUE_FAULT:
        on_fault(queue, event->item);
        break;
    case QUEUE_REPAIRED:
        on_repaired(queue, event->item);
        break;
    case QUEUE_PASS:
        queue_pass(queue);
        remember(queue);
    }
}

// ---- Beginning and end.

static void check_spec(const QueueSpec *spec, const QueueJobs *jobs) {
    CHECK(spec->nodes > 0 && spec->policy && spec->gpus_per_node > 0);
    CHECK(spec->gpus_per_node <= QUEUE_MOST_GPUS_PER_NODE && spec->warm_up >= 0 && spec->warm_up < 1);
    for (int i = 0; i < jobs->count; i++) {
        const QueueJob *job = &jobs->items[i];
        CHECK(queue_job_fits(spec, job->gpus) && job->work > 0 && job->estimate > 0);
        CHECK(job->user >= 0 && job->user < jobs->user_count && job->arrival >= 0);
        CHECK(job->share == 0 || job->gpus == 1);
        CHECK(!spec->quotas || spec->quotas[job->group] >= queue_job_width(job));
        CHECK(i == 0 || jobs->items[i - 1].arrival <= job->arrival);
    }
}

static void begin_reservations(Queue *queue) {
    Reservations *reservations = &queue->reservations;
    int asked = queue->spec->policy->reservations, depth = queue->spec->depth;
    if (asked == QUEUE_ALL_RESERVE) asked = depth > 0 ? depth : QUEUE_USUAL_DEPTH;
    reservations->most = asked > 0 ? asked : 0;
    reservations->items = ARENA_ARRAY(queue->arena, Reservation, reservations->most);
    reservations->by_start = ARENA_ARRAY(queue->arena, int32_t, reservations->most);
    reservations->changes = ARENA_ARRAY(queue->arena, Change, 2 * reservations->most);
    reservations->to_make = ARENA_ARRAY(queue->arena, int32_t, reservations->most);
    reservations->least = ARENA_ARRAY(queue->arena, Room *, reservations->most + 1);
    for (int i = 0; i < reservations->most; i++) {
        reservations->items[i].room = room_create(queue->arena, &queue->shape);
        reservations->least[i + 1] = room_create(queue->arena, &queue->shape);
    }
    reservations->scratch = room_create(queue->arena, &queue->shape);
    reservations->window = room_create(queue->arena, &queue->shape);
    reservations->window_free = ARENA_ARRAY(queue->arena, uint8_t, free_bytes(queue->shape.nodes));
}

static void begin_machines(Queue *queue) {
    Arena *arena = queue->arena;
    int nodes = queue->shape.nodes, leaves = queue->shape.leaves;
    queue->room = room_create(arena, &queue->shape);
    queue->used = ARENA_ARRAY(arena, int32_t, nodes);
    queue->back = ARENA_ARRAY(arena, SimTime, nodes);
    queue->down_nodes = ARENA_ARRAY(arena, int32_t, nodes);
    queue->leaf_demand = ARENA_ARRAY(arena, double, leaves);
    queue->leaf_seen = ARENA_ARRAY(arena, int32_t, leaves);
    queue->pieces = ARENA_ARRAY(arena, Piece, nodes);
    for (int i = 0; i < nodes; i++) room_set(queue->room, i, queue->shape.gpus_per_node);
}

static bool any_share(const QueueJobs *jobs) {
    for (int i = 0; i < jobs->count; i++)
        if (jobs->items[i].share > 0) return true;
    return false;
}

static void begin_jobs(Queue *queue) {
    Arena *arena = queue->arena;
    const QueueJobs *jobs = queue->jobs;
    int64_t gpus = (int64_t)queue->shape.nodes * queue->shape.gpus_per_node;
    int at_once = gpus < jobs->count && !any_share(jobs) ? (int)gpus : jobs->count;
    queue->active = ARENA_ARRAY(arena, Active, jobs->count);
    queue->outcomes = ARENA_ARRAY(arena, QueueOutcome, jobs->count);
    queue->running = ARENA_ARRAY(arena, Expected, at_once + 1);
    queue->crossing = ARENA_ARRAY(arena, int32_t, at_once);
    queue->requeued = ARENA_ARRAY(arena, int32_t, jobs->count);
    queue->group_count = queue->spec->policy->order == QUEUE_BY_USAGE ? jobs->user_count : 1;
    queue->groups = ARENA_ARRAY(arena, Group, queue->group_count);
    queue->group_order = ARENA_ARRAY(arena, int32_t, queue->group_count);
    queue->usage = ARENA_ARRAY(arena, double, jobs->user_count);
    queue->user_gpus = ARENA_ARRAY(arena, double, jobs->user_count);
    QueueOrder order = queue->spec->policy->order;
    queue->tracks_usage = order == QUEUE_BY_USAGE || order == QUEUE_BY_FACTORS;
    if (order == QUEUE_BY_FACTORS) queue->factors = ARENA_ARRAY(arena, int64_t, jobs->count);
    int groups = jobs->group_count > 0 ? jobs->group_count : 1;
    queue->group_gpus = ARENA_ARRAY(arena, double, groups);
    queue->held_up = ARENA_ARRAY(arena, int64_t, groups);
    queue->held_up_stamp = 1;
    double half_life_s = queue->spec->half_life_s;
    queue->decay_per_s = log(2) / (half_life_s > 0 ? half_life_s : WEEK_S);
    for (int i = 0; i < jobs->count; i++) {
        queue->outcomes[i].start = -1;
        queue->active[i].gpus = jobs->items[i].gpus;
        if (jobs->items[i].priority > queue->highest_priority) queue->highest_priority = jobs->items[i].priority;
        if (i == 0 || jobs->items[i].priority < queue->lowest_priority)
            queue->lowest_priority = jobs->items[i].priority;
    }
}

static void begin(Queue *queue) {
    const QueueJobs *jobs = queue->jobs;
    queue->shape = room_shape(queue->spec);
    queue->events = event_queue_create(queue->arena, 1024);
    begin_machines(queue);
    begin_jobs(queue);
    begin_reservations(queue);
    queue->result.first = (int)(queue->spec->warm_up * jobs->count);
    queue->from = jobs->count > 0 ? jobs->items[queue->result.first].arrival : 0;
    queue->to = jobs->count > 0 ? jobs->items[jobs->count - 1].arrival : 0;
    faults_begin(queue);
    waits_begin(queue);
    if (jobs->count > 0) event_schedule(queue->events, jobs->items[0].arrival, QUEUE_ARRIVAL, 0);
}

static double over(double part, double whole) { return whole > 0 ? part / whole : 0; }

static void finish(Queue *queue) {
    QueueRun *result = &queue->result;
    double span = queue->to > queue->from ? (double)(queue->to - queue->from) : 0;
    double all = span * queue->shape.nodes * queue->shape.gpus_per_node;
    result->outcomes = queue->outcomes;
    waits_finish(queue);
    result->utilisation = over(queue->busy, all);
    result->goodput = over(queue->useful, all);
    result->stranded = over(queue->stranded, all);
    result->down = over(queue->down, all);
    result->fragmentation = over(queue->fragmented, queue->free);
    result->waiting_mean = over(queue->waited, span);
    result->crossing_share = over((double)queue->crossing_starts, (double)queue->starts);
    result->mean_slowdown = queue->worth > 0 ? queue->worked / queue->worth : 1;
    result->history = queue->history.items;
    result->history_count = queue->history.count;
    result->digest = DIGEST_START;
    for (int i = 0; i < queue->jobs->count; i++) {
        result->digest = digest_u64(result->digest, (uint64_t)queue->outcomes[i].start);
        result->digest = digest_u64(result->digest, (uint64_t)queue->outcomes[i].end);
    }
}

// ---- How much it is.

// A job comes, ends, and is looked at in a pass after each. Nodes fail for as long as there are jobs: no less than
// until the last comes, and until the work is done by all GPUs together.
double queue_events(const QueueSpec *spec, const QueueJobs *jobs) {
    double work = 0, rate = 0, last = 0, gpus = (double)spec->nodes * spec->gpus_per_node;
    for (int i = 0; i < jobs->count; i++) {
        work += (double)jobs->items[i].work * queue_job_width(&jobs->items[i]);
        last = (double)jobs->items[i].arrival;
    }
    for (int i = 0; spec->faults && i < FAULT_COMPONENT_COUNT; i++) rate += spec->faults->faults[i].node_rate;
    double seconds = fmax(last, work / gpus) / (double)TICKS_PER_SECOND_LIFE;
    return EVENT_WEIGHT * (4.0 * jobs->count + 3 * rate * spec->nodes * seconds);
}

double queue_memory(const QueueSpec *spec, int jobs) {
    double rooms = spec->policy->reservations == 0 ? 2 : 2 + 2 * (spec->depth > 0 ? spec->depth : QUEUE_USUAL_DEPTH);
    double waits = spec->keep_waits ? jobs * (sizeof(SimTime) * QUEUE_WAIT_CAUSE_COUNT + 1.0) : 0;
    return waits + jobs * (double)(sizeof(QueueJob) + sizeof(Active) + sizeof(QueueOutcome) + 2 * sizeof(QueueMoment)) +
           (double)spec->nodes * (100 + 8 * rooms);
}

static bool looks_up(const Queue *queue) {
    return queue->result.events % EVENTS_PER_LOOK != 0 || watch_goes_on(EVENT_WEIGHT * EVENTS_PER_LOOK);
}

QueueRun queue_run(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs) {
    check_spec(spec, jobs);
    Queue *queue = ARENA_NEW(arena, Queue);
    queue->arena = arena;
    queue->spec = spec;
    queue->jobs = jobs;
    begin(queue);
    Event event;
    WatchPiece piece;
    watch_begin(&piece, "the events of the queue", watch_is_open() ? queue_events(spec, jobs) : 0, WATCH_EVENT);
    while (queue->finished < jobs->count && !queue->result.stopped && event_next(queue->events, &event)) {
        account(queue, event.time);
        update_usage(queue);
        on_event(queue, &event);
        queue->result.events++;
        queue->result.stopped = !looks_up(queue);
    }
    watch_end(&piece);
    queue->result.stopped |= watch_stopped() != WATCH_GOES_ON; // by a step that it had simulated, too
    CHECK(queue->result.stopped || queue->finished == jobs->count);
    finish(queue);
    return queue->result;
}
