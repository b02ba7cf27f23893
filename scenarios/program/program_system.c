// Converts the recorded ranks to a System: operations refer to channels, equal ranks share a program, and steps are
// repeated.
#include <string.h>

#include "models/network/messages/packet_carrier.h"
#include "scenarios/program/program.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "sim/base/list.h"

#define OPERATIONS_MOST 50000000 // 24 bytes each
#define SLOTS_MOST 65536

typedef LIST_OF(Program) ProgramList;

typedef LIST_OF(int32_t) SlotList; // channel of each slot

typedef struct Builder {
    Arena *arena;
    const ProgramSpec *spec;
    const Matched *matched;
    Problems *problems;
    int32_t *slot_of, *slot_owner; // [channel]: its slot, valid for the rank that owns the entry
    ProgramList programs;          // of one step
    int32_t *table;                // program by hash; 0 free
    int table_room;
    Actor *actors;
} Builder;

// ---- One rank's operations.

static int slot_of_channel(Builder *b, int rank, int32_t channel, SlotList *slots) {
    if (b->slot_owner[channel] != rank + 1) {
        b->slot_owner[channel] = rank + 1;
        b->slot_of[channel] = slots->count;
        LIST_PUSH(b->arena, slots, channel);
    }
    return b->slot_of[channel];
}

static Op op_of(Builder *b, int rank, const RecordedOp *recorded, Meeting meeting, SlotList *slots) {
    Op op = {.cause = recorded->cause, .label = recorded->label};
    switch ((RecordedKind)recorded->kind) {
    case RECORDED_WORK:
        op.kind = OP_WORK;
        op.time = recorded->time;
        break;
    case RECORDED_MARK:
    case RECORDED_WAIT:
        op.kind = recorded->kind == RECORDED_MARK ? OP_RECORD : OP_WAIT;
        op.id = recorded->peer;
        break;
    case RECORDED_SEND:
    case RECORDED_RECV:
    case RECORDED_COLLECTIVE:
    case RECORDED_COPY_TO_HOST:
    case RECORDED_COPY_FROM_HOST:
    case RECORDED_READ:
        CHECK(meeting.channel >= 0);
        op.kind = OP_TRANSFER;
        op.slot = (uint16_t)slot_of_channel(b, rank, meeting.channel, slots);
        op.id = meeting.plan;
    }
    return op;
}

static Program program_of_rank(Builder *b, int rank, SlotList *slots) {
    const RecordedRank *recorded = &b->spec->ranks[rank];
    Stream *streams = ARENA_ARRAY(b->arena, Stream, recorded->count);
    for (int s = 0; s < recorded->count; s++) {
        const RecordedStream *from = &recorded->items[s];
        Op *ops = ARENA_ARRAY(b->arena, Op, from->count);
        for (int i = 0; i < from->count; i++)
            ops[i] = op_of(b, rank, &from->items[i], b->matched->of[rank][s][i], slots);
        streams[s] = (Stream){from->name, ops, from->count};
    }
    return (Program){.streams = streams,
                     .stream_count = recorded->count,
                     .mark_count = recorded->mark_count,
                     .slot_count = slots->count};
}

// ---- Programs, each once, as folding requires.

static uint64_t program_hash(const Program *program) {
    uint64_t hash = digest_u64(DIGEST_START, (uint64_t)program->slot_count);
    for (int s = 0; s < program->stream_count; s++) {
        const Stream *stream = &program->streams[s];
        hash = digest_bytes(hash, stream->name, strlen(stream->name));
        for (int64_t i = 0; i < stream->count; i++) {
            const Op *op = &stream->ops[i];
            hash = digest_u64(hash, (uint64_t)op->kind << 56 ^ (uint64_t)op->cause << 48 ^ (uint64_t)op->slot << 32 ^
                                        (uint32_t)op->id);
            hash = digest_u64(hash, (uint64_t)op->time ^ (uint64_t)op->label << 40);
        }
    }
    return hash;
}

static bool same_op(const Op *a, const Op *b) {
    return a->kind == b->kind && a->cause == b->cause && a->slot == b->slot && a->id == b->id && a->label == b->label &&
           a->time == b->time;
}

static bool same_program(const Program *a, const Program *b) {
    if (a->stream_count != b->stream_count || a->mark_count != b->mark_count || a->slot_count != b->slot_count)
        return false;
    for (int s = 0; s < a->stream_count; s++) {
        const Stream *x = &a->streams[s], *y = &b->streams[s];
        if (x->count != y->count || strcmp(x->name, y->name) != 0) return false;
        for (int64_t i = 0; i < x->count; i++)
            if (!same_op(&x->ops[i], &y->ops[i])) return false;
    }
    return true;
}

static int32_t program_number(Builder *b, const Program *program) {
    uint64_t mask = (uint64_t)b->table_room - 1;
    for (uint64_t at = program_hash(program) & mask;; at = (at + 1) & mask) {
        if (!b->table[at]) {
            LIST_PUSH(b->arena, &b->programs, *program);
            b->table[at] = b->programs.count;
            return b->programs.count - 1;
        }
        if (same_program(&b->programs.items[b->table[at] - 1], program)) return b->table[at] - 1;
    }
}

static bool build_rank(Builder *b, int rank) {
    SlotList slots = {0};
    Program program = program_of_rank(b, rank, &slots);
    if (slots.count > SLOTS_MOST) {
        problem_add(b->problems, b->spec->where,
                    "rank %d meets others in %d ways, of partners, tags and streams; 65536 are the most", rank,
                    slots.count);
        return problem_hint(b->problems, "use fewer tags: sends and receives of one tag meet in order");
    }
    b->actors[rank] = (Actor){program_number(b, &program), slots.items, 1, 0, 1};
    return true;
}

// ---- All steps: the operations again and again, with marks of their own each time.

static bool few_enough(Builder *b) {
    double operations = 0;
    for (int p = 0; p < b->programs.count; p++)
        for (int s = 0; s < b->programs.items[p].stream_count; s++)
            operations += (double)b->programs.items[p].streams[s].count * b->spec->steps;
    if (operations <= OPERATIONS_MOST) return true;
    problem_add(b->problems, b->spec->where, "%d steps of this program are %.3g operations; 5e7 are the most",
                b->spec->steps, operations);
    return problem_hint(b->problems, "simulate fewer steps");
}

static void repeat_steps(Builder *b) {
    for (int p = 0; p < b->programs.count; p++) {
        Program *program = &b->programs.items[p];
        Stream *streams = ARENA_ARRAY(b->arena, Stream, program->stream_count);
        for (int s = 0; s < program->stream_count; s++) {
            const Stream *once = &program->streams[s];
            Op *ops = ARENA_ARRAY(b->arena, Op, once->count * b->spec->steps);
            for (int64_t i = 0; i < once->count * b->spec->steps; i++) {
                ops[i] = once->ops[i % once->count];
                bool is_mark = ops[i].kind == OP_RECORD || ops[i].kind == OP_WAIT;
                if (is_mark) ops[i].id += (int32_t)(i / once->count) * program->mark_count;
            }
            streams[s] = (Stream){once->name, ops, once->count * b->spec->steps};
        }
        program->streams = streams;
        program->mark_count *= b->spec->steps;
    }
}

const Carrier *program_carrier(Arena *arena, const ProgramSpec *program, const System *system, Problems *problems) {
    PacketAsked asked = packets_unasked;
    asked.transport = program->transport - 1;
    asked.loss = program->packet_loss;
    return packet_carrier_ready(arena, program->cluster->network, system, &asked, "the packets of this program",
                                "fidelity = \"flow\", smaller messages, or fewer ranks", program->where, problems);
}

const System *program_system(Arena *arena, const ProgramSpec *spec, Problems *problems) {
    int ranks = spec->cluster->gpu_count;
    if (spec->by_messages && !spec->flows) spec = program_by_messages(arena, spec, problems);
    if (!spec) return NULL;
    Builder b = {.arena = arena, .spec = spec, .problems = problems, .matched = match_program(arena, spec, problems)};
    if (!b.matched) return NULL;
    b.slot_of = ARENA_ARRAY(arena, int32_t, b.matched->channels.count);
    b.slot_owner = ARENA_ARRAY(arena, int32_t, b.matched->channels.count);
    b.actors = ARENA_ARRAY(arena, Actor, ranks);
    for (b.table_room = 64; b.table_room < 2 * ranks; b.table_room *= 2) {}
    b.table = ARENA_ARRAY(arena, int32_t, b.table_room);
    for (int rank = 0; rank < ranks; rank++)
        if (!build_rank(&b, rank)) return NULL;
    if (!few_enough(&b)) return NULL;
    if (spec->steps > 1) repeat_steps(&b);

    System *system = ARENA_NEW(arena, System);
    *system = (System){
        .programs = b.programs.items,
        .program_count = b.programs.count,
        .actors = b.actors,
        .actor_count = ranks,
        .channels = b.matched->channels.items,
        .channel_count = b.matched->channels.count,
        .links = b.matched->links,
        .link_count = b.matched->link_count,
        .causes = cause_names,
        .cause_count = CAUSE_COUNT,
        .labels = spec->labels,
        .label_count = spec->label_count,
    };
    return system;
}

// ---- What its backend can do.

bool program_supports(const ProgramSpec *program, CollectiveOp op, Where where, Problems *problems) {
    const char *why = NULL;
    if (backend_supports(program->backend, op, program->tensors_on_gpu, program->cuda_aware_mpi, &why)) return true;
    problem_add(problems, where, "%s cannot do %s: %s", backend_name(program->backend), collective_op_name(op), why);
    return problem_hint(problems, "see backend, tensors and cuda_aware_mpi of sim.program");
}

// ---- A deadlock: for each call that never completes, the ranks that wait, and the present calls of those they wait
// for.

#define CALLS_SHOWN 6
#define ABSENT_MOST 4096

typedef LIST_OF(int) RankList; // actors of the System are ranks

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
