// Marks and slots of a program, found in one pass over its operations: who records a mark and where, and which
// streams use which slot.
#include "sim/run_internal.h"

static inline void note_op(ProgramUses *uses, const Op *op, int32_t stream, int64_t at, bool in_routine) {
    if (op->kind == OP_WORK) return;
    uint64_t bit = stream < STREAM_BITS ? UINT64_C(1) << stream : 0;
    if (op->kind == OP_TRANSFER) uses->slots[op->slot] |= bit;
    if (!names_mark(op)) return;
    MarkUse *mark = &uses->marks[op->id];
    mark->in_routine |= in_routine;
    if (op->kind == OP_TAKE) mark->taken = true;
    if (op->kind != OP_RECORD) return;
    if (mark->recorder == NO_STREAM) mark->at = at;
    mark->recorder = mark->recorder == NO_STREAM && !in_routine ? stream : SEVERAL;
    mark->recorded_in_routine |= in_routine;
    mark->streams |= bit;
}

static ProgramUses uses_of(Arena *arena, const Program *program) {
    ProgramUses uses = {.marks = ARENA_ARRAY(arena, MarkUse, program->mark_count),
                        .slots = ARENA_ARRAY(arena, uint64_t, program->slot_count)};
    int32_t *seen = ARENA_ARRAY(arena, int32_t, program->routine_count); // 1 + the last stream
    for (int m = 0; m < program->mark_count; m++) uses.marks[m].recorder = NO_STREAM;
    for (int32_t s = 0; s < program->stream_count; s++)
        for (int64_t i = 0; i < program->streams[s].count; i++) {
            const Op *op = &program->streams[s].ops[i];
            if (op->kind != OP_ROUTINE) {
                note_op(&uses, op, s, i, false);
            } else if (seen[op->id] != s + 1) {
                const Routine *routine = &program->routines[op->id];
                seen[op->id] = s + 1;
                for (int32_t k = 0; k < routine->count; k++) note_op(&uses, &routine->ops[k], s, i, true);
            }
        }
    return uses;
}

const ProgramUses *program_uses(Arena *arena, Run *run) {
    int count = run->system->program_count;
    if (run->uses) return run->uses;
    run->uses = ARENA_ARRAY(arena, ProgramUses, count);
    for (int p = 0; p < count; p++) run->uses[p] = uses_of(arena, &run->system->programs[p]);
    return run->uses;
}
