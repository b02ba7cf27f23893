// Messages about a deadlock: for each call that never completes, the waiting ranks, and the present calls of the
// ranks they wait for.
#include "scenarios/program/program.h"
#include "sim/base/list.h"

#define CALLS_SHOWN 6
#define ABSENT_MOST 4096

typedef struct RankList { // actors of the System are ranks
    int *items;
    int count, room;
} RankList;

typedef struct Report {
    Arena *arena;
    const System *system;
    const RunResult *result;
    Where where;
    Problems *problems;
} Report;

static bool same_call(const Deadlocked *a, const Deadlocked *b) {
    return a->op.label == b->op.label && a->op.kind == b->op.kind;
}

// Ranks in rising order, each once, as the run lists them actor by actor.
static RankList ranks_waiting_in(const Report *r, const Deadlocked *call) {
    RankList ranks = {0};
    for (int i = 0; i < r->result->deadlocked_count; i++) {
        const Deadlocked *waiter = &r->result->deadlocked[i];
        bool known = ranks.count && ranks.items[ranks.count - 1] == waiter->actor;
        if (same_call(waiter, call) && !known) LIST_PUSH(r->arena, &ranks, waiter->actor);
    }
    return ranks;
}

static bool reported_before(const Report *r, int index) {
    for (int i = 0; i < index; i++)
        if (same_call(&r->result->deadlocked[i], &r->result->deadlocked[index])) return true;
    return false;
}

static Where place_of(const Report *r, const Deadlocked *waiter) {
    const Label *label = &r->system->labels[waiter->op.label];
    return label->line > 0 ? (Where){label->file, label->line} : r->where;
}

// What the first of the absent does instead of making the call.
static const char *instead(const Report *r, const int *absent, int count) {
    for (int i = 0; i < r->result->deadlocked_count; i++) {
        const Deadlocked *waiter = &r->result->deadlocked[i];
        if (waiter->actor != absent[0]) continue;
        const Label *label = &r->system->labels[waiter->op.label];
        const char *whose = count == 1 ? "which" : arena_printf(r->arena, "of which rank %d", absent[0]);
        const char *line = label->line > 0 ? arena_printf(r->arena, " at line %d", label->line) : "";
        return arena_printf(r->arena, "%s waits in \"%.40s\"%s", whose, label->name, line);
    }
    return count == 1 ? "which is done" : "which are done";
}

static void report_call(const Report *r, const Deadlocked *waiter) {
    RankList waiting = ranks_waiting_in(r, waiter);
    const char *name = r->system->labels[waiter->op.label].name, *verb = waiting.count == 1 ? "waits" : "wait";
    const char *who = rank_list(r->arena, waiting.items, waiting.count);
    if (waiter->op.kind != OP_TRANSFER) {
        problem_add(r->problems, place_of(r, waiter), "deadlock: %s %s for the event \"%.40s\"", who, verb, name);
        return;
    }
    int32_t channel = r->system->actors[waiter->actor].channels[waiter->op.slot], absent[ABSENT_MOST];
    int missing = run_missing_members(r->system, r->result, channel, absent, ABSENT_MOST);
    if (missing > ABSENT_MOST) missing = ABSENT_MOST;
    const char *whose = waiting.count == 1 ? "" : arena_printf(r->arena, "; rank %d", waiter->actor);
    if (missing == 0)
        problem_add(r->problems, place_of(r, waiter), "deadlock: %s %s in \"%.40s\"", who, verb, name);
    else
        problem_add(r->problems, place_of(r, waiter), "deadlock: %s %s in \"%.40s\"%s for %s, %s", who, verb, name,
                    whose, rank_list(r->arena, absent, missing), instead(r, absent, missing));
}

void report_deadlock(Arena *arena, const System *system, const RunResult *result, Where where, Problems *problems) {
    Report r = {arena, system, result, where, problems};
    int shown = 0;
    for (int i = 0; i < result->deadlocked_count && shown < CALLS_SHOWN; i++) {
        if (reported_before(&r, i)) continue;
        report_call(&r, &result->deadlocked[i]);
        if (shown++ == 0)
            problem_hint(problems, "ranks that wait for each other never go on: change the order of the calls, or put "
                                   "some on another stream");
    }
}
