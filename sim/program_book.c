#include "sim/program_book.h"

#include "sim/digest.h"
#include "sim/list.h"

struct ProgramBook {
    Arena *arena;
    struct {
        Program *items;
        int count, room;
    } programs;
    struct {
        uint64_t *items;
        int count, room;
    } hashes;
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

// A word at a time: a program has many operations, and what hashes alike is compared anyway.
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
    if (a->stream_count != b->stream_count || a->slot_count != b->slot_count || a->mark_count != b->mark_count)
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
