// Causes of waits: between two scheduling passes each job that waits for its first start has one cause.
#include "models/workload/queue/queue_internal.h"

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

void waits_begin(Queue *queue) {
    if (!queue->spec->keep_waits) return;
    queue->waits = ARENA_ARRAY(queue->arena, SimTime, (size_t)queue->jobs->count * QUEUE_WAIT_CAUSE_COUNT);
    queue->wait_cause = ARENA_ARRAY(queue->arena, uint8_t, queue->jobs->count);
}

static SimTime *waits_of(Queue *queue, int job) { return &queue->waits[(size_t)job * QUEUE_WAIT_CAUSE_COUNT]; }

// What has passed since the last look had the cause that was seen then. Those that came since have waited for nothing:
// a look follows every arrival at once.
void waits_settle(Queue *queue) {
    if (!queue->waits) return;
    SimTime now = event_now(queue->events), passed = now - queue->waits_since;
    queue->waits_since = now;
    for (int g = 0; g < queue->group_count && passed > 0; g++)
        for (int i = 0; i < queue->groups[g].count; i++) {
            int job = queue->groups[g].items[i], cause = queue->wait_cause[job];
            if (cause > 0 && queue->outcomes[job].start < 0) waits_of(queue, job)[cause - 1] += passed;
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
void waits_finish(Queue *queue) {
    queue->result.waits = queue->waits;
    for (int job = 0; queue->waits && job < queue->jobs->count; job++) {
        SimTime *waits = waits_of(queue, job), attributed = 0;
        if (queue->outcomes[job].start < 0) continue;
        for (int c = 0; c < QUEUE_WAIT_CAUSE_COUNT; c++) attributed += waits[c];
        waits[QUEUE_WAIT_SAVING] += queue->outcomes[job].start - job_of(queue, job)->arrival - attributed;
    }
}
