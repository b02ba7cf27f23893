// What every link of the whole system carried, from how often each transfer of the system that ran was made. There a
// link stands for all that carry the same.
#include "models/workload/step/step_trace_internal.h"

// Of the whole system's channels those that they are where it ran.
int32_t *channels_that_ran(Arena *arena, const StepTrace *trace) {
    const System *whole = trace->whole;
    int32_t *ran = ARENA_ARRAY(arena, int32_t, whole->channel_count);
    for (int c = 0; c < whole->channel_count; c++) ran[c] = -1;
    for (int a = 0; a < whole->actor_count; a++) {
        const Actor *actor = &whole->actors[a];
        const Actor *class = &trace->system->actors[trace->class_of ? trace->class_of[a] : a];
        for (int s = 0; s < whole->programs[actor->program].slot_count; s++)
            if (actor->channels[s] >= 0) ran[actor->channels[s]] = class->channels[s];
    }
    return ran;
}

static void add_channel(const StepTrace *trace, const Channel *channel, int32_t ran, double *bytes) {
    for (int p = 0; p < channel->plan_count && p < trace->system->channels[ran].plan_count; p++) {
        const Plan *plan = &channel->plans[p];
        double moved = plan->bytes * (double)trace->uses[trace->first_plan[ran] + p];
        for (int u = 0; u < plan->use_count && moved > 0; u++)
            bytes[plan->uses[u].link] += moved * plan->uses[u].weight;
    }
}

const SpanLink *links_of(StepTrace *trace, int *count) {
    const System *whole = trace->whole;
    *count = 0;
    if (!trace->uses || !whole) return NULL;
    Arena *scratch = arena_open();
    double *bytes = ARENA_ARRAY(scratch, double, whole->link_count);
    const int32_t *ran = channels_that_ran(scratch, trace);
    for (int c = 0; c < whole->channel_count; c++)
        if (ran[c] >= 0) add_channel(trace, &whole->channels[c], ran[c], bytes);
    SpanLink *links = ARENA_ARRAY(trace->arena, SpanLink, whole->link_count);
    for (int l = 0; l < whole->link_count; l++)
        if (bytes[l] > 0) links[(*count)++] = (SpanLink){arena_copy_text(trace->arena, whole->links[l].name), bytes[l]};
    arena_close(scratch);
    return links;
}
