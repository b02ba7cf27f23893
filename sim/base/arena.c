// Arena allocator: a chain of blocks, each twice the size of the last; a large allocation gets a block of its own.
#include "sim/base/arena.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/check.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define FIRST_BLOCK_BYTES ((size_t)4 << 10)
#define LARGEST_BLOCK_BYTES ((size_t)64 << 20)
#define ALIGNMENT _Alignof(max_align_t)
#define PAGE_BYTES 4096
#define LARGE_PAGES_BYTES ((size_t)64 << 20) // beyond it, memory is that of one large run, touched once

typedef struct Block {
    struct Block *older;
    size_t room, used;
    size_t mapped; // bytes of the system's; 0: malloc's
    max_align_t memory[];
} Block;

struct SharedRoom {
    atomic_size_t used;
    size_t bytes;
    max_align_t memory[];
};

struct Arena {
    Block *newest;
    size_t next_block_bytes, bytes_used;
    SharedRoom *shared; // where its blocks lie; NULL: they are malloc's
};

void out_of_memory(size_t bytes) {
    fprintf(stderr,
            "lockstep: out of memory: no room for %zu bytes more\n"
            "  hint: ask for less at once, or allow more (ulimit -v, the job's or container's limit)\n",
            bytes);
    exit(1);
}

static size_t used_by_all; // what all arenas that are open have handed out
static ArenaLimit limit = {.bytes = SIZE_MAX};

void *memory_or_end(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) out_of_memory(bytes);
    return memory;
}

static void end_for_size(void) {
    fprintf(stderr, "lockstep: out of memory: something larger than the address space was asked for\n");
    exit(1);
}

// Of what processes share; it is never given back.
static void *take_of_shared(SharedRoom *room, size_t bytes) {
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t at = atomic_fetch_add(&room->used, bytes);
    if (at > room->bytes || bytes > room->bytes - at) out_of_memory(bytes);
    return (char *)room->memory + at;
}

// 2 MiB pages (where the system supports them) for memory that is reused: the first touch of a 4 KiB page costs more
// than clearing it. madvise covers malloc's heap from the first block on, and again each time the heap has grown.
static void prefer_large_pages(const Block *block) {
    static uintptr_t first, advised;
    if (!first) first = advised = (uintptr_t)block / PAGE_BYTES * PAGE_BYTES;
    uintptr_t end = (uintptr_t)sbrk(0);
    if (end > first + LARGE_PAGES_BYTES) end = first + LARGE_PAGES_BYTES;
    if (end <= advised) return;
    madvise((void *)advised, end - advised, MADV_HUGEPAGE); // only a hint: failure is harmless
    advised = end;
}

static Block *new_block(Arena *arena, size_t room) {
    size_t bytes = sizeof(Block) + room;
    Block *block = arena->shared ? take_of_shared(arena->shared, bytes) : memory_or_end(bytes);
    *block = (Block){.room = room};
    if (!arena->shared) prefer_large_pages(block);
    return block;
}

// A search or study opens and closes hundreds of arenas: freed memory is soon reused, so it stays in the process
// instead of being returned to the system and faulted in again. It grows by the size of a few large pages.
static void keep_memory(void) {
    static bool done;
    if (done) return;
    done = true;
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 32 << 20);
#endif
}

Arena *arena_open(void) {
    keep_memory();
    Arena *arena = memory_or_end(sizeof(Arena));
    *arena = (Arena){.next_block_bytes = FIRST_BLOCK_BYTES};
    return arena;
}

void arena_close(Arena *arena) {
    if (!arena) return;
    used_by_all -= arena->bytes_used;
    for (Block *block = arena->newest, *older; block; block = older) {
        older = block->older;
        if (block->mapped)
            munmap(block, block->mapped);
        else if (!arena->shared)
            free(block);
    }
    free(arena);
}

static void put_behind_newest(Arena *arena, Block *block) {
    if (arena->newest) {
        block->older = arena->newest->older;
        arena->newest->older = block;
    } else {
        arena->newest = block;
    }
}

// A large piece goes behind the newest block, whose room stays in use.
static void *take_alone(Arena *arena, size_t bytes) {
    Block *block = new_block(arena, bytes);
    block->used = bytes;
    put_behind_newest(arena, block);
    return block->memory;
}

static void add_block(Arena *arena) {
    Block *block = new_block(arena, arena->next_block_bytes);
    block->older = arena->newest;
    arena->newest = block;
    if (arena->next_block_bytes < LARGEST_BLOCK_BYTES) arena->next_block_bytes *= 2;
}

static void *take(Arena *arena, size_t bytes) {
    if (bytes > PTRDIFF_MAX - sizeof(Block) - ALIGNMENT) end_for_size();
    if (bytes == 0) bytes = 1;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > limit.bytes || used_by_all > limit.bytes - bytes) limit.full(limit.context);
    arena->bytes_used += bytes;
    used_by_all += bytes;

    Block *block = arena->newest;
    if (!block || block->room - block->used < bytes) {
        if (bytes > arena->next_block_bytes / 4) return take_alone(arena, bytes);
        add_block(arena);
        block = arena->newest;
    }
    void *piece = (char *)block->memory + block->used;
    block->used += bytes;
    return piece;
}

// Zeroed just before use: the unused rest of a block is never touched.
void *arena_alloc(Arena *arena, size_t bytes) { return memset(take(arena, bytes), 0, bytes); }

void *arena_room(Arena *arena, size_t count, size_t item_bytes) {
    if (item_bytes != 0 && count > SIZE_MAX / item_bytes) end_for_size();
    return take(arena, count * item_bytes);
}

void *arena_array(Arena *arena, size_t count, size_t item_bytes) {
    return memset(arena_room(arena, count, item_bytes), 0, count * item_bytes);
}

char *arena_copy_text(Arena *arena, const char *text) {
    if (!text) return NULL;
    size_t bytes = strlen(text) + 1;
    return memcpy(arena_alloc(arena, bytes), text, bytes);
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

char *arena_vprintf(Arena *arena, const char *format, va_list arguments) {
    char most[256]; // are shorter
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(most, sizeof most, format, again);
    va_end(again);
    if (length < 0) out_of_memory(strlen(format)); // what else it can lack
    char *text = arena_alloc(arena, (size_t)length + 1);
    if ((size_t)length < sizeof most) return memcpy(text, most, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

// ---- Memory that processes share.

SharedRoom *arena_shared_room(Arena *arena, size_t bytes) {
    size_t all = sizeof(Block) + sizeof(SharedRoom) + bytes;
    Block *block = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) return NULL;
    *block = (Block){.mapped = all}; // `room` stays 0: arena_alloc never takes memory from this block
    put_behind_newest(arena, block);
    SharedRoom *room = (SharedRoom *)block->memory;
    room->bytes = bytes;
    return room;
}

Arena *arena_open_shared(SharedRoom *room) {
    Arena *arena = arena_open();
    arena->shared = room;
    return arena;
}

size_t arena_bytes_used(const Arena *arena) { return arena->bytes_used; }

size_t arenas_bytes_used(void) { return used_by_all; }

ArenaLimit arenas_limit(ArenaLimit new) {
    ArenaLimit old = limit;
    CHECK(new.full || new.bytes == SIZE_MAX);
    limit = new;
    return old;
}
