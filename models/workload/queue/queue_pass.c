// The scheduling pass over all waiting jobs, in the policy's order: which start now, which have a start reserved,
// which wait. One pass follows all events of an instant. If nothing was freed and new jobs are only at the end, it
// covers the new jobs only.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/workload/queue/queue_internal.h"
#include "sim/base/list.h"

const QueuePolicy queue_policies[] = {
    {"fifo", "in order of arrival; nobody passes", QUEUE_BY_ARRIVAL, QUEUE_NOBODY_PASSES, false},
    {"first-fit", "whoever fits starts; large jobs may starve", QUEUE_BY_ARRIVAL, 0, false},
    {"easy", "who delays not the first one's start may pass (EASY backfill)", QUEUE_BY_ARRIVAL, 1, false},
    {"conservative", "who delays nobody's start may pass", QUEUE_BY_ARRIVAL, QUEUE_ALL_RESERVE, false},
    {"fair-share", "users by what they used lately, least first; EASY backfill", QUEUE_BY_USAGE, 1, false},
    {"priority", "higher priority first, stopping lower ones; EASY backfill", QUEUE_BY_PRIORITY, 1, true},
    {"shortest", "shortest estimate first, whoever fits starts: a reference", QUEUE_BY_ESTIMATE, 0, false},
    {"multifactor", "age, fair share, size and priority weighed (Slurm); conservative backfill", QUEUE_BY_FACTORS,
     QUEUE_ALL_RESERVE, false},
};
const char *const queue_policy_names[] = {"fifo",       "first-fit", "easy",     "conservative",
                                          "fair-share", "priority",  "shortest", "multifactor"};
const int queue_policy_count = (int)(sizeof queue_policies / sizeof *queue_policies);

void schedule_pass(Queue *queue) {
    if (queue->pass_scheduled) return;
    queue->pass_scheduled = true;
    event_schedule(queue->events, event_now(queue->events), QUEUE_PASS, 0);
}

// ---- Waiting.

static bool comes_first(const Queue *queue, int a, int b) {
    const QueueJob *x = job_of(queue, a), *y = job_of(queue, b);
    QueueOrder order = queue->spec->policy->order;
    if (order == QUEUE_BY_PRIORITY && x->priority != y->priority) return x->priority > y->priority;
    if (order == QUEUE_BY_FACTORS && queue->factors[a] != queue->factors[b])
        return queue->factors[a] > queue->factors[b];
    if (order == QUEUE_BY_ESTIMATE && x->estimate != y->estimate) return x->estimate < y->estimate;
    return a < b; // jobs are numbered by arrival
}

void enqueue(Queue *queue, int job) {
    Group *group = &queue->groups[queue->group_count > 1 ? job_of(queue, job)->user : 0];
    int low = 0, high = group->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (comes_first(queue, group->items[middle], job))
            low = middle + 1;
        else
            high = middle;
    }
    LIST_PUSH(queue->arena, group, job);
    memmove(&group->items[low + 1], &group->items[low], (size_t)(group->count - 1 - low) * sizeof(int32_t));
    group->items[low] = job;
    if (low < group->count - 1 || queue->tracks_usage) queue->unordered = true;
    queue->active[job].state = JOB_WAITS;
    queue->waiting++;
}

// ---- Usage of users, halved in every half-life.

void update_usage(Queue *queue) {
    if (!queue->tracks_usage || queue->usage_time == event_now(queue->events)) return;
    double passed = (double)(event_now(queue->events) - queue->usage_time) / (double)TICKS_PER_SECOND_LIFE;
    double rest = exp(-queue->decay_per_s * passed);
    for (int i = 0; i < queue->jobs->user_count; i++)
        queue->usage[i] = queue->usage[i] * rest + queue->user_gpus[i] * (1 - rest) / queue->decay_per_s;
    queue->usage_time = event_now(queue->events);
}

// Groups with waiting jobs, by usage. There are few users, and the order changes little from pass to pass.
static int order_groups(Queue *queue) {
    int count = 0;
    for (int i = 0; i < queue->group_count; i++) {
        if (queue->groups[i].count == 0) continue;
        int place = count++;
        for (; place > 0 && queue->usage[queue->group_order[place - 1]] > queue->usage[i]; place--)
            queue->group_order[place] = queue->group_order[place - 1];
        queue->group_order[place] = i;
    }
    return count;
}

// ---- Slurm's factors.

#define MOST_AGE_S (7 * 86400.0)
#define FACTOR_UNITS 1e6 // priorities are whole numbers

const QueueWeights queue_usual_weights = {.age = 1, .fair_share = 1, .size = 0, .priority = 1};

static int64_t factors_of(const Queue *queue, int job, double all_usage) {
    const QueueJob *asked = job_of(queue, job);
    const QueueSpec *spec = queue->spec;
    const QueueWeights *given = &spec->weights;
    bool none = given->age + given->fair_share + given->size + given->priority == 0;
    QueueWeights weights = none ? queue_usual_weights : *given;
    double waited_s = (double)(event_now(queue->events) - asked->arrival) / (double)TICKS_PER_SECOND_LIFE;
    double part = all_usage > 0 ? queue->usage[asked->user] / all_usage : 0;
    double sum = weights.age * fmin(waited_s / MOST_AGE_S, 1) +
                 weights.fair_share * exp2(-part * queue->jobs->user_count) +
                 weights.size * asked->gpus / ((double)spec->nodes * spec->gpus_per_node);
    if (queue->highest_priority > 0) sum += weights.priority * fmax(0, asked->priority) / queue->highest_priority;
    return llround(sum * FACTOR_UNITS);
}

// Insertion: the order changes little from pass to pass.
static void order_by_factors(Queue *queue) {
    Group *group = &queue->groups[0];
    double all_usage = 0;
    for (int i = 0; i < queue->jobs->user_count; i++) all_usage += queue->usage[i];
    for (int i = 0; i < group->count; i++) {
        int job = group->items[i], place = i;
        queue->factors[job] = factors_of(queue, job, all_usage);
        for (; place > 0 && comes_first(queue, job, group->items[place - 1]); place--)
            group->items[place] = group->items[place - 1];
        group->items[place] = job;
    }
}

// ---- Quotas. A job beyond its group's quota is held back without a reservation; without backfill the later jobs of
// its group are, too.

static bool within_quota(Queue *queue, int job) {
    const QueueJob *asked = job_of(queue, job);
    if (!queue->spec->quotas) return true;
    if (queue->held_up[asked->group] == queue->held_up_stamp) return false;
    double width = asked->share > 0 ? queue_job_width(asked) : gpus_of(queue, job);
    if (queue->group_gpus[asked->group] + width <= queue->spec->quotas[asked->group] + 1e-9) return true;
    if (queue->spec->policy->reservations == QUEUE_NOBODY_PASSES) queue->held_up[asked->group] = queue->held_up_stamp;
    return false;
}

// ---- Preemption. Those that share a GPU are not stopped for others.

typedef struct Victim {
    int32_t priority, job;
    SimTime started;
} Victim;

// The least important first, and of those the one that has run for the shortest time.
static int order_victims(const void *a, const void *b) {
    const Victim *x = a, *y = b;
    if (x->priority != y->priority) return x->priority < y->priority ? -1 : 1;
    if (x->started != y->started) return x->started > y->started ? -1 : 1;
    return x->job - y->job;
}

static void add_job(const Queue *queue, Room *room, int job, int sign) {
    const Active *active = &queue->active[job];
    for (int i = 0; i < active->piece_count; i++)
        if (queue->back[active->pieces[i].node] == 0)
            room_add(room, active->pieces[i].node, sign * active->pieces[i].gpus);
}

// Stops as few as make room, and starts the job once they have saved their state.
static bool preempt_for(Queue *queue, int job) {
    const QueueJob *wants = job_of(queue, job);
    QueuePlacement placement = queue->spec->placement;
    if (wants->priority <= queue->lowest_priority) return false;
    Arena *arena = arena_open();
    Victim *victims = ARENA_ARRAY(arena, Victim, queue->running_count);
    int count = 0, needed = 0;
    for (int i = 0; i < queue->running_count; i++) {
        int other = queue->running[i].job;
        if (job_of(queue, other)->priority >= wants->priority || queue->active[other].state != JOB_RUNS) continue;
        if (queue->active[other].shared > 0) continue;
        victims[count++] = (Victim){job_of(queue, other)->priority, other, queue->active[other].started};
    }
    qsort(victims, (size_t)count, sizeof *victims, order_victims);
    Room *room = queue->reservations.scratch;
    room_copy(room, queue->room);
    while (needed < count && !room_fits(room, placement, wants->gpus)) add_job(queue, room, victims[needed++].job, 1);
    bool fits = room_fits(room, placement, wants->gpus);
    for (int i = 0; fits && i < needed; i++) { // victims no longer needed keep running
        add_job(queue, room, victims[i].job, -1);
        if (room_fits(room, placement, wants->gpus)) continue;
        add_job(queue, room, victims[i].job, 1);
        settle_job(queue, victims[i].job);
        stop_job(queue, victims[i].job, queue->spec->checkpoint_every_s > 0 ? queue->active[victims[i].job].done : 0);
        queue->result.preemptions++;
    }
    arena_close(arena);
    if (fits) start_job(queue, job, queue->room, life_ticks(queue->spec->checkpoint_s));
    return fits;
}

// ---- The pass.

typedef enum Verdict { STARTS, WAITS, IS_HELD_BACK, HOLDS_UP_ALL } Verdict; // back: by its quota

static bool joins_others(Queue *queue, int job) {
    if (job_of(queue, job)->share == 0) return false;
    SimTime until = later(event_now(queue->events), run_length(queue, job));
    int at = shared_for(queue, job, until);
    if (at >= 0) start_on_shared(queue, job, at, until);
    return at >= 0;
}

static bool starts_in_room(Queue *queue, int job) {
    Reservations *reservations = &queue->reservations;
    for (int i = 0; i < reservations->to_make_count; i++) reserve_start(queue, reservations->to_make[i]);
    reservations->to_make_count = 0;
    Room *room = room_until(queue, gpus_of(queue, job), later(event_now(queue->events), run_length(queue, job)));
    if (room) start_job(queue, job, room, 0);
    return room != NULL;
}

// Tries half, a quarter, … of the requested GPUs down to the job's least number.
static bool starts_on_fewer(Queue *queue, int job) {
    int asked = gpus_of(queue, job), least = job_of(queue, job)->least_gpus;
    for (int gpus = asked / 2; least > 0 && gpus >= least; gpus /= 2) {
        queue->active[job].gpus = gpus;
        if (room_fits(queue->room, queue->spec->placement, gpus) && starts_in_room(queue, job)) return true;
    }
    queue->active[job].gpus = asked;
    return false;
}

static Verdict consider(Queue *queue, int job, bool is_first) {
    Reservations *reservations = &queue->reservations;
    if (!within_quota(queue, job)) return IS_HELD_BACK;
    if (joins_others(queue, job)) return STARTS;
    if (room_fits(queue->room, queue->spec->placement, gpus_of(queue, job))) {
        if (starts_in_room(queue, job)) return STARTS;
    } else if (is_first && queue->spec->policy->preempts && preempt_for(queue, job)) {
        return STARTS;
    }
    if (starts_on_fewer(queue, job)) return STARTS;
    if (queue->spec->policy->reservations == QUEUE_NOBODY_PASSES) return HOLDS_UP_ALL;
    if (reservations->count + reservations->to_make_count < reservations->most)
        reservations->to_make[reservations->to_make_count++] = job;
    return WAITS;
}

// Removes started jobs from the list. False when no later job can start.
static bool pass_over(Queue *queue, Group *group, int from, bool *is_first) {
    int kept = from, at = from;
    bool goes_on = true;
    while (at < group->count && goes_on) {
        int job = group->items[at++];
        Verdict verdict = consider(queue, job, *is_first);
        if (verdict != STARTS) group->items[kept++] = job;
        if (verdict == WAITS || verdict == HOLDS_UP_ALL) *is_first = false;
        bool may_preempt = *is_first && queue->spec->policy->preempts;
        goes_on = verdict != HOLDS_UP_ALL && (*queue->room->free_gpus > 0 || may_preempt || queue->shared.count > 0);
    }
    queue->seen = kept;
    memmove(&group->items[kept], &group->items[at], (size_t)(group->count - at) * sizeof(int32_t));
    group->count -= at - kept;
    return goes_on;
}

static void look_at_first(Queue *queue, int groups) {
    queue->is_stranded = false;
    for (int i = 0; i < groups; i++) {
        const Group *group = &queue->groups[queue->group_order[i]];
        if (group->count == 0) continue;
        queue->is_stranded = job_of(queue, group->items[0])->gpus <= *queue->room->free_gpus;
        return;
    }
}

void queue_pass(Queue *queue) {
    waits_settle(queue);
    bool weighs = queue->spec->policy->order == QUEUE_BY_FACTORS;
    bool anew = queue->freed || queue->unordered || !reservations_hold(queue) || weighs;
    if (weighs) order_by_factors(queue);
    int groups = order_groups(queue);
    if (anew) {
        reservations_forget(queue);
        queue->seen = 0;
        queue->held_up_stamp++;
        queue->exhausted = false;
    }
    if (anew) queue->first_waits = false;
    bool is_first = !queue->first_waits;
    for (int i = 0; i < groups && !queue->exhausted; i++) {
        int from = queue->group_count == 1 ? queue->seen : 0;
        queue->exhausted = !pass_over(queue, &queue->groups[queue->group_order[i]], from, &is_first);
    }
    queue->first_waits = !is_first;
    queue->freed = queue->unordered = queue->pass_scheduled = false;
    look_at_first(queue, groups);
    waits_judge(queue);
    for (int i = 0; i < queue->requeued_count; i++) enqueue(queue, queue->requeued[i]);
    if (queue->requeued_count > 0) {
        queue->freed = true;
        schedule_pass(queue);
    }
    queue->requeued_count = 0;
    share_uplinks(queue);
}
