#include "sim/least.h"

#include <math.h>

#define ROUNDING (1 - 1e-9)                         // of sums
#define SHORT (2.0 / (double)TICKS_PER_SECOND_STEP) // by which a transfer may end before its time, for whole ticks

typedef struct Least {
    const System *system;
    double *link_seconds;
} Least;

// Alone, and what its links bear; `times` over.
static double transfer_seconds(Least *least, const Channel *channel, const Plan *plan, double times) {
    double flow = plan->rate_limit > 0 ? plan->bytes / plan->rate_limit : 0;
    for (int u = 0; u < plan->use_count; u++) {
        const LinkUse *use = &plan->uses[u];
        double seconds = plan->bytes * use->weight / least->system->links[use->link].bytes_per_second;
        least->link_seconds[use->link] += times * seconds / channel->member_count; // each member counts its part
        flow = fmax(flow, seconds);
    }
    return times * fmax(0, step_seconds(plan->latency) + flow - SHORT);
}

static double work_seconds(const Op *op, const Actor *actor) {
    double seconds = step_seconds(op->time) * actor->slowness;
    return actor->slowness == 1 ? seconds : fmax(0, seconds - SHORT);
}

static double ops_seconds(Least *least, const Actor *actor, const Op *ops, int64_t count, double times) {
    double seconds = 0;
    for (int64_t i = 0; i < count; i++) {
        const Op *op = &ops[i];
        if (op->kind == OP_WORK) seconds += times * work_seconds(op, actor);
        if (op->kind != OP_TRANSFER) continue;
        const Channel *channel = &least->system->channels[actor->channels[op->slot]];
        seconds += transfer_seconds(least, channel, &channel->plans[op->id], times);
    }
    return seconds;
}

static double stream_seconds(Least *least, Arena *scratch, const Actor *actor, const Stream *stream) {
    const Program *program = &least->system->programs[actor->program];
    double *times = ARENA_ARRAY(scratch, double, program->routine_count);
    for (int64_t i = 0; i < stream->count; i++)
        if (stream->ops[i].kind == OP_ROUTINE) times[stream->ops[i].id]++;
    double seconds = ops_seconds(least, actor, stream->ops, stream->count, 1);
    for (int r = 0; r < program->routine_count; r++)
        if (times[r] > 0)
            seconds += ops_seconds(least, actor, program->routines[r].ops, program->routines[r].count, times[r]);
    return seconds;
}

double least_seconds(const System *system) {
    Arena *scratch = arena_open();
    Least least = {system, ARENA_ARRAY(scratch, double, system->link_count)};
    double longest = 0;
    bool random = false;
    for (int a = 0; a < system->actor_count; a++) {
        const Actor *actor = &system->actors[a];
        const Program *program = &system->programs[actor->program];
        random = random || actor->jitter > 0;
        for (int s = 0; s < program->stream_count; s++)
            longest = fmax(longest, stream_seconds(&least, scratch, actor, &program->streams[s]));
    }
    for (int l = 0; l < system->link_count; l++) longest = fmax(longest, least.link_seconds[l]);
    arena_close(scratch);
    return random ? 0 : longest * ROUNDING;
}
