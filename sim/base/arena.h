// An arena: memory that is allocated piece by piece and released all at once.
#pragma once

#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

Arena *arena_open(void);        // never NULL: out of memory ends the program with a sentence, exit 1
void arena_close(Arena *arena); // releases everything; NULL is allowed

// Zeroed memory, aligned for any type. A size of 0 gives a valid pointer. Sizes that overflow end the program.
void *arena_alloc(Arena *arena, size_t bytes);
void *arena_array(Arena *arena, size_t count, size_t item_bytes);
// The same without zeroing, for callers that overwrite all of it.
void *arena_room(Arena *arena, size_t count, size_t item_bytes);
char *arena_copy_text(Arena *arena, const char *text); // NULL gives NULL
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list arguments);

// Memory shared at the same address by this process and its later children: pointers into it are valid in all of
// them. It is freed with the arena; pages cost memory once they are written. NULL: not available.
typedef struct SharedRoom SharedRoom;
SharedRoom *arena_shared_room(Arena *arena, size_t bytes);
// An arena inside it, for one process. Its data stay after arena_close; if the memory is full the process ends.
Arena *arena_open_shared(SharedRoom *room);

// Ends the program with the sentence: for libraries that ask for memory of their own.
_Noreturn void out_of_memory(size_t bytes);
void *memory_or_end(size_t bytes); // malloc that does so

// Total bytes handed out so far: a law for tests ("no growth after the first step").
size_t arena_bytes_used(const Arena *arena);

// Limit on the total of all the process's arenas. An allocation beyond it calls `full`, which does not return: it
// reports the limit and ends the program, as out of memory does, since code in the middle of its work could not
// handle an error without leaving inconsistent state. No limit: bytes SIZE_MAX, `full` NULL.
typedef struct ArenaLimit {
    size_t bytes;
    void (*full)(void *context);
    void *context;
} ArenaLimit;
ArenaLimit arenas_limit(ArenaLimit limit); // gives back the one before
size_t arenas_bytes_used(void);

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, count) ((Type *)arena_array((arena), (size_t)(count), sizeof(Type)))
