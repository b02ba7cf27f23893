// Statistics of a run: waiting and slowdown by size of job, fairness between users.
#include "models/workload/queue/queue.h"

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
