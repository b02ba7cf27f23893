#include "sim/longest.h"

#include "sim/base/quantity.h"

static Longest longest_transfer(const System *system, const Plan *plan) {
    Longest found = {.seconds = plan->rate_limit > 0 ? plan->bytes / plan->rate_limit : 0};
    for (int u = 0; u < plan->use_count; u++) {
        const Link *link = &system->links[plan->uses[u].link];
        double seconds = plan->bytes * plan->uses[u].weight / link->bytes_per_second;
        if (seconds <= found.seconds) continue;
        found = (Longest){.seconds = seconds, .link = link->name, .bytes_per_second = link->bytes_per_second};
    }
    found.seconds += step_seconds(plan->latency);
    return found;
}

static void look_at(const System *system, const Actor *actor, const Op *ops, int64_t count, Longest *longest) {
    for (int64_t i = 0; i < count; i++) {
        Longest found = {.seconds = step_seconds(ops[i].time) * actor->slowness};
        if (ops[i].kind != OP_WORK && ops[i].kind != OP_TRANSFER) continue;
        if (ops[i].kind == OP_TRANSFER)
            found = longest_transfer(system, &system->channels[actor->channels[ops[i].slot]].plans[ops[i].id]);
        found.cause = ops[i].cause;
        if (found.seconds > longest->seconds) *longest = found;
    }
}

Longest longest_operation(const System *system) {
    Longest longest = {0};
    for (int a = 0; a < system->actor_count; a++) {
        const Actor *actor = &system->actors[a];
        const Program *program = &system->programs[actor->program];
        for (int s = 0; s < program->stream_count; s++)
            look_at(system, actor, program->streams[s].ops, program->streams[s].count, &longest);
        for (int r = 0; r < program->routine_count; r++)
            look_at(system, actor, program->routines[r].ops, program->routines[r].count, &longest);
    }
    return longest;
}

void problem_beyond_clock(Problems *problems, Where where, const char *what, const System *system) {
    Longest longest = longest_operation(system);
    char seconds[64], rate[64];
    quantity_format(longest.seconds, QUANTITY_TIME, seconds, sizeof seconds);
    quantity_format(longest.bytes_per_second, QUANTITY_BANDWIDTH, rate, sizeof rate);
    problem_add(problems, where, "%s takes longer than 106 days of simulated time, the most its clock holds", what);
    if (longest.link)
        problem_hint(problems, "what takes longest is \"%s\": %s by itself, over %s at %s",
                     system->causes[longest.cause], seconds, longest.link, rate);
    else
        problem_hint(problems, "what takes longest is \"%s\": %s by itself", system->causes[longest.cause], seconds);
}
