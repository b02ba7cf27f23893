#include "sim/program.h"

#include <math.h>

#include "sim/base/digest.h"
#include "sim/base/list.h"
#include "sim/base/quantity.h"

double weight_round(double weight) { return nearbyint(weight * 16777216.0) / 16777216.0; }

bool walk_ops(OpWalk *walk, Op *op) {
    if (walk->next == walk->stream->count) return false;
    *op = walk->stream->ops[walk->next];
    if (op->kind != OP_ROUTINE) {
        walk->next++;
        return true;
    }
    const Routine *routine = &walk->program->routines[op->id];
    int32_t label = op->label;
    *op = routine->ops[walk->inner];
    op->label = label;
    if (++walk->inner == routine->count) {
        walk->inner = 0;
        walk->next++;
    }
    return true;
}

static double program_op_count(const Program *program) {
    double count = 0;
    for (int s = 0; s < program->stream_count; s++) {
        const Stream *stream = &program->streams[s];
        count += (double)stream->count;
        for (int64_t i = 0; i < stream->count && program->routine_count > 0; i++)
            if (stream->ops[i].kind == OP_ROUTINE) count += program->routines[stream->ops[i].id].count - 1;
    }
    return count;
}

double system_op_count(const System *system) {
    Arena *scratch = arena_open();
    double *each = ARENA_ARRAY(scratch, double, system->program_count), count = 0;
    for (int p = 0; p < system->program_count; p++) each[p] = program_op_count(&system->programs[p]);
    for (int a = 0; a < system->actor_count; a++) count += each[system->actors[a].program];
    arena_close(scratch);
    return count;
}

static const char *check_plan(Arena *arena, const System *system, int channel, int number) {
    const Plan *plan = &system->channels[channel].plans[number];
    if (plan->latency < 0 || !(plan->bytes >= 0) || !isfinite(plan->bytes))
        return arena_printf(arena, "channel %d plan %d: latency or bytes are out of range", channel, number);
    if (!(plan->fairness > 0))
        return arena_printf(arena, "channel %d plan %d: fairness is not above 0", channel, number);
    for (int u = 0; u < plan->use_count; u++) {
        if (plan->uses[u].link < 0 || plan->uses[u].link >= system->link_count)
            return arena_printf(arena, "channel %d plan %d uses link %d, which is not there", channel, number,
                                plan->uses[u].link);
        if (!(plan->uses[u].weight > 0) || plan->uses[u].weight != weight_round(plan->uses[u].weight))
            return arena_printf(arena, "channel %d plan %d: weight %d is not a rounded weight above 0", channel, number,
                                u);
    }
    return NULL;
}

static const char *check_op(Arena *arena, const System *system, int actor, const Op *op) {
    const Program *program = &system->programs[system->actors[actor].program];
    if (op->cause >= system->cause_count)
        return arena_printf(arena, "actor %d: cause %d is not there", actor, op->cause);
    if (op->label < 0 || op->label >= system->label_count)
        return arena_printf(arena, "actor %d: label %d is not there", actor, op->label);
    switch (op->kind) {
    case OP_WORK:
        return op->time >= 0 ? NULL : arena_printf(arena, "actor %d: work of negative time", actor);
    case OP_TRANSFER: {
        if (op->slot >= program->slot_count)
            return arena_printf(arena, "actor %d: slot %d is not there", actor, op->slot);
        int32_t channel = system->actors[actor].channels[op->slot];
        if (channel < 0 || channel >= system->channel_count)
            return arena_printf(arena, "actor %d: slot %d has no channel", actor, op->slot);
        if (op->id < 0 || op->id >= system->channels[channel].plan_count)
            return arena_printf(arena, "actor %d: channel %d has no plan %d", actor, channel, op->id);
        return NULL;
    }
    case OP_RECORD:
    case OP_WAIT:
    case OP_TAKE:
        return op->id >= 0 && op->id < program->mark_count
                   ? NULL
                   : arena_printf(arena, "actor %d: mark %d is not there", actor, op->id);
    case OP_ROUTINE:
        return op->id >= 0 && op->id < program->routine_count
                   ? NULL
                   : arena_printf(arena, "actor %d: routine %d is not there", actor, op->id);
    default:
        return arena_printf(arena, "actor %d: operation kind %d is not there", actor, op->kind);
    }
}

static const char *check_routines(Arena *arena, const System *system, int actor) {
    const Program *program = &system->programs[system->actors[actor].program];
    const char *wrong = NULL;
    for (int r = 0; r < program->routine_count; r++) {
        const Routine *routine = &program->routines[r];
        if (routine->count < 1) return arena_printf(arena, "actor %d: routine %d is empty", actor, r);
        for (int32_t i = 0; i < routine->count; i++) {
            const Op *op = &routine->ops[i];
            if (op->kind == OP_ROUTINE) return arena_printf(arena, "actor %d: routine %d has a routine", actor, r);
            if ((wrong = check_op(arena, system, actor, op))) return wrong;
        }
    }
    return NULL;
}

const char *system_check(Arena *arena, const System *system) {
    const char *wrong = NULL;
    if (system->cause_count < 1 || system->cause_count > CAUSE_LIMIT) return "the number of causes is out of range";
    for (int l = 0; l < system->link_count; l++)
        if (!(system->links[l].bytes_per_second > 0) || !isfinite(system->links[l].bytes_per_second))
            return arena_printf(arena, "link %d (%s) has no capacity", l, system->links[l].name);
    for (int c = 0; c < system->channel_count; c++)
        for (int p = 0; p < system->channels[c].plan_count; p++)
            if ((wrong = check_plan(arena, system, c, p))) return wrong;
    for (int a = 0; a < system->actor_count; a++) {
        if (system->actors[a].program < 0 || system->actors[a].program >= system->program_count)
            return arena_printf(arena, "actor %d: program %d is not there", a, system->actors[a].program);
        const Program *program = &system->programs[system->actors[a].program];
        if (!(system->actors[a].slowness > 0)) return arena_printf(arena, "actor %d: slowness is not above 0", a);
        if ((wrong = check_routines(arena, system, a))) return wrong;
        for (int s = 0; s < program->stream_count; s++)
            for (int64_t i = 0; i < program->streams[s].count; i++)
                if ((wrong = check_op(arena, system, a, &program->streams[s].ops[i]))) return wrong;
    }
    return NULL;
}

// ---- Program book.

struct ProgramBook {
    Arena *arena;
    LIST_OF(Program) programs;
    LIST_OF(uint64_t) hashes;
};

ProgramBook *program_book_create(Arena *arena) {
    ProgramBook *book = ARENA_NEW(arena, ProgramBook);
    book->arena = arena;
    return book;
}

const Program *program_book_programs(const ProgramBook *book, int *count) {
    *count = book->programs.count;
    return book->programs.items;
}

// Hashes a word at a time: a program has many operations, and equal hashes are compared in full.
static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_program(const Program *program) {
    uint64_t hash = mix(DIGEST_START, (uint64_t)program->stream_count << 32 | (uint32_t)program->slot_count);
    for (int s = 0; s < program->stream_count; s++) {
        hash = mix(hash, (uint64_t)program->streams[s].count);
        for (int64_t i = 0; i < program->streams[s].count; i++) {
            const Op *op = &program->streams[s].ops[i];
            hash = mix(hash, (uint64_t)op->kind << 48 ^ (uint64_t)op->slot << 32 ^ (uint32_t)op->id);
            hash = mix(hash, (uint64_t)op->time);
        }
    }
    return hash;
}

static bool same_op(const Op *a, const Op *b) {
    return a->kind == b->kind && a->cause == b->cause && a->slot == b->slot && a->id == b->id && a->label == b->label &&
           a->time == b->time;
}

static bool same_program(const Program *a, const Program *b) {
    if (a->stream_count != b->stream_count || a->slot_count != b->slot_count || a->mark_count != b->mark_count ||
        a->routines != b->routines)
        return false;
    for (int s = 0; s < a->stream_count; s++) {
        if (a->streams[s].count != b->streams[s].count) return false;
        for (int64_t i = 0; i < a->streams[s].count; i++)
            if (!same_op(&a->streams[s].ops[i], &b->streams[s].ops[i])) return false;
    }
    return true;
}

int32_t program_book_keep(ProgramBook *book, const Program *program) {
    uint64_t hash = hash_program(program);
    for (int32_t p = 0; p < book->programs.count; p++)
        if (book->hashes.items[p] == hash && same_program(program, &book->programs.items[p])) return p;
    Program kept = *program;
    Stream *streams = ARENA_ARRAY(book->arena, Stream, program->stream_count);
    for (int s = 0; s < program->stream_count; s++) {
        Op *ops = ARENA_ARRAY(book->arena, Op, program->streams[s].count);
        if (program->streams[s].count)
            memcpy(ops, program->streams[s].ops, (size_t)program->streams[s].count * sizeof *ops);
        streams[s] = (Stream){program->streams[s].name, ops, program->streams[s].count};
    }
    kept.streams = streams;
    LIST_PUSH(book->arena, &book->programs, kept);
    LIST_PUSH(book->arena, &book->hashes, hash);
    return book->programs.count - 1;
}

// ---- The least time.
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

// ---- What takes longest.
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
