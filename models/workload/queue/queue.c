#include "models/workload/queue/queue.h"

#include "models/workload/queue/queue_internal.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/system/watch.h"

// ---- Statistics of a run: waiting and slowdown by size of job, fairness between users.

#define SHORT_WORK_S 10 // below it the slowdown of a job is meaningless (Feitelson and Rudolph, 1998)

static double seconds(SimTime time) { return seconds_from_ticks(time, TICKS_PER_SECOND_LIFE); }

void queue_classes(Arena *arena, int gpus_per_node, QueueClass classes[QUEUE_CLASS_COUNT]) {
    int node = gpus_per_node;
    classes[0] = (QueueClass){"a part", 1, 1, true};
    classes[1] = (QueueClass){"1 GPU", 1, 1, false};
    classes[2] = (QueueClass){arena_printf(arena, "2 to %d", node - 1), 2, node - 1, false};
    classes[3] = (QueueClass){arena_printf(arena, "%d, a node", node), node < 2 ? 2 : node, node, false};
    classes[4] = (QueueClass){arena_printf(arena, "%d to %d", node + 1, 8 * node), node + 1, 8 * node, false};
    classes[5] = (QueueClass){arena_printf(arena, "above %d", 8 * node), 8 * node + 1, INT32_MAX, false};
}

// Jobs of the class that count, in two lists. NULL: all of them.
static QueueWaits waits_of(const QueueJobs *jobs, const QueueRun *run, const QueueClass *class) {
    Arena *arena = arena_open();
    double *waits = ARENA_ARRAY(arena, double, jobs->count), *slowdowns = ARENA_ARRAY(arena, double, jobs->count);
    int count = 0;
    for (int i = run->first; i < jobs->count; i++) {
        const QueueJob *job = &jobs->items[i];
        if (class && (job->gpus < class->least || job->gpus > class->most || (job->share > 0) != class->parts))
            continue;
        double stay = seconds(run->outcomes[i].end - job->arrival), work = seconds(job->work);
        waits[count] = seconds(run->outcomes[i].start - job->arrival);
        slowdowns[count++] = fmax(1, stay / fmax(work, SHORT_WORK_S));
    }
    QueueWaits all = {count, summarise(arena, waits, count), summarise(arena, slowdowns, count)};
    arena_close(arena);
    return all;
}

// Jain, Chiu and Hawe (1984).
double jain_index(const double *values, int count) {
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    return squares > 0 ? sum * sum / (count * squares) : 1;
}

// Of every user: GPU time worked per GPU time between arrival and end.
static double fairness(const QueueJobs *jobs, const QueueRun *run) {
    Arena *arena = arena_open();
    double *had = ARENA_ARRAY(arena, double, jobs->user_count), *stayed = ARENA_ARRAY(arena, double, jobs->user_count);
    int users = 0;
    for (int i = run->first; i < jobs->count; i++) {
        const QueueJob *job = &jobs->items[i];
        had[job->user] += seconds(job->work) * queue_job_width(job);
        stayed[job->user] += seconds(run->outcomes[i].end - job->arrival) * queue_job_width(job);
    }
    for (int i = 0; i < jobs->user_count; i++)
        if (stayed[i] > 0) had[users++] = had[i] / stayed[i];
    double index = jain_index(had, users);
    arena_close(arena);
    return index;
}

QueueMeasures queue_measure(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs, const QueueRun *run) {
    QueueMeasures measures = {.all = waits_of(jobs, run, NULL), .fairness = fairness(jobs, run)};
    QueueClass classes[QUEUE_CLASS_COUNT];
    queue_classes(arena, spec->gpus_per_node, classes);
    for (int i = 0; i < QUEUE_CLASS_COUNT; i++) measures.by_class[i] = waits_of(jobs, run, &classes[i]);
    int waited = 0;
    SimTime last = 0;
    for (int i = run->first; i < jobs->count; i++) {
        waited += run->outcomes[i].start > jobs->items[i].arrival;
        if (run->outcomes[i].end > last) last = run->outcomes[i].end;
    }
    measures.waited_share = measures.all.jobs > 0 ? (double)waited / measures.all.jobs : 0;
    measures.makespan_s = jobs->count > 0 ? seconds(last - jobs->items[0].arrival) : 0;
    return measures;
}

// ---- Causes of waits: between two scheduling passes each job that waits for its first start has one cause.

const char *const queue_wait_cause_names[QUEUE_WAIT_CAUSE_COUNT] = {"quota",     "line", "reserved", "scattered",
                                                                    "in_repair", "full", "saving"};
const char *const queue_wait_cause_titles[QUEUE_WAIT_CAUSE_COUNT] = {
    "their group's quota is used up",
    "they would fit, and nobody may pass the first in line",
    "they would fit, and would delay a start reserved to others",
    "enough GPUs are free, scattered over nodes",
    "enough GPUs would be free but for nodes in repair",
    "too few GPUs are free",
    "jobs stopped for them save their state",
};

static void waits_begin(Queue *queue) {
    if (!queue->spec->keep_waits) return;
    queue->waits = ARENA_ARRAY(queue->arena, SimTime, (size_t)queue->jobs->count * QUEUE_WAIT_CAUSE_COUNT);
    queue->wait_cause = ARENA_ARRAY(queue->arena, uint8_t, queue->jobs->count);
}

static SimTime *causes_of(Queue *queue, int job) { return &queue->waits[(size_t)job * QUEUE_WAIT_CAUSE_COUNT]; }

// What has passed since the last look had the cause that was seen then. Those that came since have waited for nothing:
// a look follows every arrival at once.
void waits_settle(Queue *queue) {
    if (!queue->waits) return;
    SimTime now = event_now(queue->events), passed = now - queue->waits_since;
    queue->waits_since = now;
    for (int g = 0; g < queue->group_count && passed > 0; g++)
        for (int i = 0; i < queue->groups[g].count; i++) {
            int job = queue->groups[g].items[i], cause = queue->wait_cause[job];
            if (cause > 0 && queue->outcomes[job].start < 0) causes_of(queue, job)[cause - 1] += passed;
        }
}

static bool beyond_quota(const Queue *queue, int job) {
    const QueueJob *asked = job_of(queue, job);
    if (!queue->spec->quotas) return false;
    double width = asked->share > 0 ? queue_job_width(asked) : gpus_of(queue, job);
    return queue->group_gpus[asked->group] + width > queue->spec->quotas[asked->group] + 1e-9;
}

static QueueWaitCause cause_of(const Queue *queue, int job, int in_repair) {
    int asked = gpus_of(queue, job), free = *queue->room->free_gpus;
    if (beyond_quota(queue, job)) return QUEUE_WAIT_QUOTA;
    bool nobody_passes = queue->spec->policy->reservations == QUEUE_NOBODY_PASSES;
    if (room_fits(queue->room, queue->spec->placement, asked))
        return nobody_passes ? QUEUE_WAIT_LINE : QUEUE_WAIT_RESERVED;
    if (free >= asked) return QUEUE_WAIT_SCATTERED;
    return free + in_repair >= asked ? QUEUE_WAIT_REPAIR : QUEUE_WAIT_FULL;
}

// What fits is free to start but for the policy: a look that did not come to it was ended by the policy too.
void waits_judge(Queue *queue) {
    if (!queue->waits) return;
    int in_repair = queue->down_count * queue->shape.gpus_per_node;
    for (int g = 0; g < queue->group_count; g++)
        for (int i = 0; i < queue->groups[g].count; i++) {
            int job = queue->groups[g].items[i];
            queue->wait_cause[job] = (uint8_t)(cause_of(queue, job, in_repair) + 1);
        }
}

// A job that others were stopped for starts once they have saved.
static void waits_finish(Queue *queue) {
    queue->result.waits = queue->waits;
    for (int job = 0; queue->waits && job < queue->jobs->count; job++) {
        SimTime *waits = causes_of(queue, job), attributed = 0;
        if (queue->outcomes[job].start < 0) continue;
        for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) attributed += waits[c];
        waits[QUEUE_WAIT_SAVING] += queue->outcomes[job].start - job_of(queue, job)->arrival - attributed;
    }
}

// ---- Node failures in a shared cluster, as in life.h: good nodes by one process, bad ones by an additional one. The
// jobs on a failed node stop, which is detected after a delay; then they wait again with the progress of their last
// checkpoint.

static void schedule_fault(Queue *queue, bool is_bad) {
    SimTime at;
    if (!arrivals_next(is_bad ? &queue->bad : &queue->good, &at) || at >= QUEUE_LATEST) return;
    event_schedule(queue->events, at, QUEUE_FAULT, is_bad);
}

static void faults_begin(Queue *queue) {
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
static void on_fault(Queue *queue, bool is_bad) {
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

static void on_detected(Queue *queue, int job) {
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

// ---- Event simulation of a shared cluster, from its first arrival to its last job's end, with accounting between
// events.

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
