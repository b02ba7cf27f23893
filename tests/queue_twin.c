// All is worked out anew at every instant: what is free when, who comes first, who has used how much.
#include "tests/queue_twin.h"

#include <math.h>
#include <string.h>

#include "models/workload/life/life_internal.h"

#define MOST_TWIN_NODES 16
#define MOST_TWIN_JOBS 64

typedef struct Held { // GPUs of a job from then to then
    SimTime from, to;
    int gpus[MOST_TWIN_NODES];
} Held;

typedef struct Used { // for usage
    int user, gpus;
    SimTime from, to; // to -1: still
} Used;

typedef struct Twin {
    const QueueSpec *spec;
    const QueueJobs *jobs;
    int nodes, per_node, leaf_nodes;
    int gpus[MOST_TWIN_JOBS]; // that it asks for, or has
    SimTime now;
    enum { TO_COME, WAITING, RUNNING, DONE } state[MOST_TWIN_JOBS];
    Held held[MOST_TWIN_JOBS]; // of those that run; to: expected
    SimTime done[MOST_TWIN_JOBS], overhead[MOST_TWIN_JOBS], started[MOST_TWIN_JOBS], ends[MOST_TWIN_JOBS];
    QueueOutcome *outcomes;
    Held promised[MOST_TWIN_JOBS];
    int promise_count;
    Used used[4096];
    int used_count;
} Twin;

static double stretch(const Twin *twin) {
    const QueueSpec *spec = twin->spec;
    return spec->checkpoint_every_s > 0 ? 1 + spec->checkpoint_s / spec->checkpoint_every_s : 1;
}

static SimTime restart(const Twin *twin, int job) {
    return twin->outcomes[job].stops > 0 ? llround(twin->spec->restart_s * 1e9) : 0;
}

static double thin(const Twin *twin, int job) {
    int asked = twin->jobs->items[job].gpus;
    return twin->gpus[job] < asked ? pow((double)asked / twin->gpus[job], twin->spec->scaling) : 1;
}

static double speed(const Twin *twin, int job) { return 1 / (1 * stretch(twin) * thin(twin, job)); }

static SimTime length(const Twin *twin, int job) {
    SimTime left = twin->jobs->items[job].estimate - twin->done[job];
    if (left < 1) left = 1;
    if (thin(twin, job) > 1) left = (SimTime)ceil((double)left * thin(twin, job));
    if (stretch(twin) > 1) left = (SimTime)ceil((double)left * stretch(twin));
    return restart(twin, job) + left;
}

// ---- What is free of each node.

static void free_at(const Twin *twin, SimTime time, int *free) {
    for (int n = 0; n < twin->nodes; n++) free[n] = twin->per_node;
    for (int j = 0; j < twin->jobs->count; j++) {
        SimTime to = twin->held[j].to > twin->now ? twin->held[j].to : twin->now + 1;
        if (twin->state[j] == RUNNING && to > time)
            for (int n = 0; n < twin->nodes; n++) free[n] -= twin->held[j].gpus[n];
    }
    for (int p = 0; p < twin->promise_count; p++)
        if (twin->promised[p].from <= time && time < twin->promised[p].to)
            for (int n = 0; n < twin->nodes; n++) free[n] -= twin->promised[p].gpus[n];
}

// The least that is free from then on for so long.
static void free_during(const Twin *twin, SimTime from, SimTime span, int *free) {
    int then[MOST_TWIN_NODES];
    free_at(twin, from, free);
    for (int p = 0; p < twin->promise_count; p++) {
        SimTime start = twin->promised[p].from;
        if (start <= from || start >= from + span) continue;
        free_at(twin, start, then);
        for (int n = 0; n < twin->nodes; n++)
            if (then[n] < free[n]) free[n] = then[n];
    }
}

// ---- Placing. False when it does not fit.

static int whole_in_leaf(const Twin *twin, const int *free, int leaf) {
    int count = 0;
    for (int n = 0; n < twin->nodes; n++) count += n / twin->leaf_nodes == leaf && free[n] == twin->per_node;
    return count;
}

static int choose_leaf(const Twin *twin, const int *free, int wanted) {
    int best = -1, most = 0, leaves = (twin->nodes + twin->leaf_nodes - 1) / twin->leaf_nodes;
    for (int leaf = 0; leaf < leaves; leaf++) {
        int here = whole_in_leaf(twin, free, leaf);
        if (here > whole_in_leaf(twin, free, most)) most = leaf;
        if (here >= wanted && (best < 0 || here < whole_in_leaf(twin, free, best))) best = leaf;
    }
    return twin->spec->placement == QUEUE_PACK_LEAVES && best >= 0 ? best : most;
}

static bool place(const Twin *twin, const int *available, int gpus, int *taken) {
    int free[MOST_TWIN_NODES];
    QueuePlacement rule = twin->spec->placement;
    memcpy(free, available, sizeof free);
    memset(taken, 0, MOST_TWIN_NODES * sizeof *taken);
    if (rule == QUEUE_SCATTER) {
        for (int n = 0; n < twin->nodes; n++) {
            taken[n] = free[n] < gpus ? free[n] : gpus;
            gpus -= taken[n];
        }
        return gpus == 0;
    }
    for (int left = gpus / twin->per_node; left > 0;) {
        int leaf = rule == QUEUE_PACK_NODES ? -1 : choose_leaf(twin, free, left), before = left;
        for (int n = 0; n < twin->nodes && left > 0; n++) {
            if (free[n] < twin->per_node || (leaf >= 0 && n / twin->leaf_nodes != leaf)) continue;
            taken[n] = twin->per_node, free[n] = 0, left--;
            if (rule == QUEUE_SPREAD) break;
        }
        if (left == before) return false;
    }
    int rest = gpus % twin->per_node, best = -1;
    if (rest == 0) return true;
    if (rule == QUEUE_SPREAD) {
        int leaf = choose_leaf(twin, free, 1);
        for (int n = 0; n < twin->nodes; n++) {
            bool preferred = free[n] == twin->per_node && n / twin->leaf_nodes == leaf;
            if (best < 0 || free[n] > free[best] ||
                (preferred && free[best] == twin->per_node && best / twin->leaf_nodes != leaf))
                best = n;
        }
        if (free[best] < rest) return false;
    } else {
        for (int n = 0; n < twin->nodes; n++)
            if (free[n] >= rest && (best < 0 || free[n] < free[best])) best = n;
        if (best < 0) return false;
    }
    taken[best] = rest;
    return true;
}

// ---- Starting and stopping.

static void start(Twin *twin, int job, const int *taken, SimTime saving) {
    Held *held = &twin->held[job];
    SimTime left = twin->jobs->items[job].work - twin->done[job];
    if (speed(twin, job) != 1) left = (SimTime)ceil((double)left / speed(twin, job));
    memcpy(held->gpus, taken, sizeof held->gpus);
    held->from = twin->now;
    held->to = twin->now + saving + length(twin, job);
    twin->state[job] = RUNNING;
    twin->started[job] = twin->now;
    twin->overhead[job] = saving + restart(twin, job);
    twin->ends[job] = twin->now + twin->overhead[job] + left;
    if (twin->outcomes[job].start < 0) twin->outcomes[job].start = twin->now + saving;
    twin->used[twin->used_count++] = (Used){twin->jobs->items[job].user, twin->gpus[job], twin->now, -1 - job};
}

static void close_usage(Twin *twin, int job) {
    for (int i = 0; i < twin->used_count; i++)
        if (twin->used[i].to == -1 - job) twin->used[i].to = twin->now;
}

static void preempt(Twin *twin, int job) {
    SimTime passed = twin->now - twin->started[job] - twin->overhead[job];
    if (passed > 0 && speed(twin, job) != 1) passed = (SimTime)((double)passed * speed(twin, job));
    twin->gpus[job] = twin->jobs->items[job].gpus;
    if (passed > 0) twin->done[job] += passed;
    if (!(twin->spec->checkpoint_every_s > 0)) twin->done[job] = 0;
    twin->outcomes[job].stops++;
    twin->state[job] = TO_COME; // back after this pass
    close_usage(twin, job);
}

// ---- Order.

static double usage_of(const Twin *twin, int user) {
    double half = twin->spec->half_life_s * 1e9, sum = 0;
    for (int i = 0; i < twin->used_count; i++) {
        const Used *used = &twin->used[i];
        SimTime to = used->to < 0 ? twin->now : used->to;
        if (used->user == user)
            sum +=
                used->gpus * (exp2(-(double)(twin->now - to) / half) - exp2(-(double)(twin->now - used->from) / half));
    }
    return sum;
}

// Slurm's factors, in millionths.
static int64_t factors(const Twin *twin, const double *usage, int job) {
    const QueueWeights *weights = &twin->spec->weights;
    const QueueJob *asked = &twin->jobs->items[job];
    double all = 0, sum = weights->age * (double)(twin->now - asked->arrival) / (7 * 86400e9);
    int highest = 0;
    for (int u = 0; u < twin->jobs->user_count; u++) all += usage[u];
    for (int j = 0; j < twin->jobs->count; j++)
        if (twin->jobs->items[j].priority > highest) highest = twin->jobs->items[j].priority;
    if (twin->now - asked->arrival > 7 * 86400e9) sum = weights->age;
    sum += weights->fair_share * exp2(-(all > 0 ? usage[asked->user] / all : 0) * twin->jobs->user_count);
    sum += weights->size * asked->gpus / (double)(twin->nodes * twin->per_node);
    if (highest > 0) sum += weights->priority * asked->priority / highest;
    return llround(sum * 1e6);
}

static bool before(const Twin *twin, const double *usage, int a, int b) {
    const QueueJob *x = &twin->jobs->items[a], *y = &twin->jobs->items[b];
    switch (twin->spec->policy->order) {
    case QUEUE_BY_PRIORITY:
        if (x->priority != y->priority) return x->priority > y->priority;
        break;
    case QUEUE_BY_ESTIMATE:
        if (x->estimate != y->estimate) return x->estimate < y->estimate;
        break;
    case QUEUE_BY_USAGE:
        if (usage[x->user] != usage[y->user]) return usage[x->user] < usage[y->user];
        if (x->user != y->user) return x->user < y->user;
        break;
    case QUEUE_BY_FACTORS:
        if (factors(twin, usage, a) != factors(twin, usage, b))
            return factors(twin, usage, a) > factors(twin, usage, b);
        break;
    case QUEUE_BY_ARRIVAL:
        break;
    }
    return a < b;
}

static int order(const Twin *twin, int *list) {
    double usage[MOST_TWIN_JOBS];
    int count = 0;
    for (int u = 0; u < twin->jobs->user_count; u++) usage[u] = usage_of(twin, u);
    for (int j = 0; j < twin->jobs->count; j++) {
        if (twin->state[j] != WAITING) continue;
        int at = count++;
        for (; at > 0 && before(twin, usage, j, list[at - 1]); at--) list[at] = list[at - 1];
        list[at] = j;
    }
    return count;
}

// ---- A pass.

static bool start_now(Twin *twin, int job) {
    int free[MOST_TWIN_NODES] = {0}, taken[MOST_TWIN_NODES];
    free_during(twin, twin->now, length(twin, job), free);
    bool fits = place(twin, free, twin->gpus[job], taken);
    if (fits) start(twin, job, taken, 0);
    return fits;
}

static void promise(Twin *twin, int job) {
    int free[MOST_TWIN_NODES] = {0};
    SimTime time = twin->now, span = length(twin, job);
    Held made;
    for (;;) {
        free_during(twin, time, span, free);
        if (place(twin, free, twin->jobs->items[job].gpus, made.gpus)) break;
        SimTime next = SIM_TIME_NEVER; // the next time at which anything changes
        for (int j = 0; j < twin->jobs->count; j++) {
            SimTime to = twin->held[j].to > twin->now ? twin->held[j].to : twin->now + 1;
            if (twin->state[j] == RUNNING && to > time && to < next) next = to;
        }
        for (int p = 0; p < twin->promise_count; p++) {
            if (twin->promised[p].from > time && twin->promised[p].from < next) next = twin->promised[p].from;
            if (twin->promised[p].to > time && twin->promised[p].to < next) next = twin->promised[p].to;
        }
        time = next;
    }
    made.from = time, made.to = time + span;
    twin->promised[twin->promise_count++] = made;
}

static bool worse_victim(const Twin *twin, int a, int b) { // a goes before b
    const QueueJob *x = &twin->jobs->items[a], *y = &twin->jobs->items[b];
    if (x->priority != y->priority) return x->priority < y->priority;
    if (twin->started[a] != twin->started[b]) return twin->started[a] > twin->started[b];
    return a < b;
}

static bool preempt_for(Twin *twin, int job) {
    int victims[MOST_TWIN_JOBS], count = 0, needed = 0, free[MOST_TWIN_NODES] = {0}, taken[MOST_TWIN_NODES];
    int gpus = twin->jobs->items[job].gpus;
    for (int j = 0; j < twin->jobs->count; j++) {
        if (twin->state[j] != RUNNING || twin->jobs->items[j].priority >= twin->jobs->items[job].priority) continue;
        int at = count++;
        for (; at > 0 && worse_victim(twin, j, victims[at - 1]); at--) victims[at] = victims[at - 1];
        victims[at] = j;
    }
    free_at(twin, twin->now, free);
    while (needed < count && !place(twin, free, gpus, taken)) {
        for (int n = 0; n < twin->nodes; n++) free[n] += twin->held[victims[needed]].gpus[n];
        needed++;
    }
    if (!place(twin, free, gpus, taken)) return false;
    for (int i = 0; i < needed; i++) {
        for (int n = 0; n < twin->nodes; n++) free[n] -= twin->held[victims[i]].gpus[n];
        if (place(twin, free, gpus, taken)) continue;
        for (int n = 0; n < twin->nodes; n++) free[n] += twin->held[victims[i]].gpus[n];
        preempt(twin, victims[i]);
    }
    place(twin, free, gpus, taken);
    start(twin, job, taken, llround(twin->spec->checkpoint_s * 1e9));
    return true;
}

static bool start_thin(Twin *twin, int job) {
    const QueueJob *asked = &twin->jobs->items[job];
    for (int part = 2; asked->least_gpus > 0 && asked->gpus / part >= asked->least_gpus; part *= 2) {
        twin->gpus[job] = asked->gpus / part;
        if (start_now(twin, job)) return true;
    }
    twin->gpus[job] = asked->gpus;
    return false;
}

static bool beyond_quota(const Twin *twin, int job) {
    int group = twin->jobs->items[job].group, held = twin->jobs->items[job].gpus;
    for (int j = 0; j < twin->jobs->count; j++)
        if (twin->state[j] == RUNNING && twin->jobs->items[j].group == group) held += twin->gpus[j];
    return twin->spec->quotas && held > twin->spec->quotas[group];
}

static bool pass(Twin *twin) { // true: somebody was stopped, look again
    const QueuePolicy *policy = twin->spec->policy;
    int list[MOST_TWIN_JOBS], count = order(twin, list), most = policy->reservations;
    bool first = true, stopped = false, held_up[4] = {false};
    if (most == QUEUE_ALL_RESERVE) most = twin->spec->depth > 0 ? twin->spec->depth : QUEUE_USUAL_DEPTH;
    twin->promise_count = 0;
    for (int i = 0; i < count; i++) {
        int free[MOST_TWIN_NODES] = {0}, taken[MOST_TWIN_NODES], group = twin->jobs->items[list[i]].group;
        if (held_up[group]) continue;
        if (beyond_quota(twin, list[i])) {
            held_up[group] = most == QUEUE_NOBODY_PASSES;
            continue;
        }
        free_at(twin, twin->now, free);
        bool room = place(twin, free, twin->jobs->items[list[i]].gpus, taken);
        if (start_now(twin, list[i])) continue;
        if (first && !room && policy->preempts && preempt_for(twin, list[i])) continue;
        if (start_thin(twin, list[i])) continue;
        first = false;
        if (most == QUEUE_NOBODY_PASSES) break;
        if (twin->promise_count < most) promise(twin, list[i]);
    }
    for (int j = 0; j < twin->jobs->count; j++) {
        if (twin->state[j] != TO_COME || twin->outcomes[j].stops == 0) continue;
        twin->state[j] = WAITING;
        stopped = true;
    }
    return stopped;
}

const QueueOutcome *queue_twin(Arena *arena, const QueueSpec *spec, const QueueJobs *jobs) {
    Twin *twin = ARENA_NEW(arena, Twin);
    *twin = (Twin){.spec = spec, .jobs = jobs, .nodes = spec->nodes, .per_node = spec->gpus_per_node};
    twin->leaf_nodes = spec->nodes_per_leaf > 0 ? spec->nodes_per_leaf : spec->nodes;
    twin->outcomes = ARENA_ARRAY(arena, QueueOutcome, jobs->count);
    for (int j = 0; j < jobs->count; j++) twin->outcomes[j].start = -1, twin->gpus[j] = jobs->items[j].gpus;
    for (;;) {
        SimTime next = SIM_TIME_NEVER;
        for (int j = 0; j < jobs->count; j++) {
            SimTime at = twin->state[j] == RUNNING ? twin->ends[j] : jobs->items[j].arrival;
            bool comes = twin->state[j] == RUNNING || (twin->state[j] == TO_COME && twin->outcomes[j].stops == 0);
            if (comes && at < next) next = at;
        }
        if (next == SIM_TIME_NEVER) return twin->outcomes;
        twin->now = next;
        for (int j = 0; j < jobs->count; j++) {
            if (twin->state[j] == RUNNING && twin->ends[j] == next) {
                twin->state[j] = DONE;
                twin->outcomes[j].end = next;
                close_usage(twin, j);
            } else if (twin->state[j] == TO_COME && jobs->items[j].arrival == next) {
                twin->state[j] = WAITING;
            }
        }
        while (pass(twin)) {}
    }
}
