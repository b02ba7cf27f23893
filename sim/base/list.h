// Growing arrays, and names found in them. LIST_PUSH doubles the capacity in an arena, where the old array stays.
#pragma once

#include <string.h>

#include "sim/base/arena.h"

// Usage: typedef LIST_OF(Op) OpList;   LIST_PUSH(arena, &list, op);
#define LIST_OF(Type)                                                                                                  \
    struct {                                                                                                           \
        Type *items;                                                                                                   \
        int count, room;                                                                                               \
    }

#define LIST_PUSH(arena, list, value)                                                                                  \
    do {                                                                                                               \
        if ((list)->count == (list)->room) {                                                                           \
            int list_room_ = (list)->room ? 2 * (list)->room : 8;                                                      \
            void *list_items_ = arena_room((arena), (size_t)list_room_, sizeof *(list)->items);                        \
            if ((list)->items) memcpy(list_items_, (list)->items, (size_t)(list)->count * sizeof *(list)->items);      \
            (list)->items = list_items_;                                                                               \
            (list)->room = list_room_;                                                                                 \
        }                                                                                                              \
        (list)->items[(list)->count++] = (value);                                                                      \
    } while (0)

// For a list whose length is known before it grows: no array of half the length stays behind.
#define LIST_ROOM(arena, list, most)                                                                                   \
    do {                                                                                                               \
        if ((most) > (list)->room) {                                                                                   \
            void *list_items_ = arena_room((arena), (size_t)(most), sizeof *(list)->items);                            \
            if ((list)->items) memcpy(list_items_, (list)->items, (size_t)(list)->count * sizeof *(list)->items);      \
            (list)->items = list_items_;                                                                               \
            (list)->room = (most);                                                                                     \
        }                                                                                                              \
    } while (0)

// ---- Index from names to numbers, in logarithmic time whatever the names: they come from untrusted files, which could
// choose names that collide in a hash table.
typedef struct NameIndex NameIndex;
// Below, at or above 0, as strcmp; names that compare as 0 are equal.
typedef int NameOrder(const char *a, const char *b);

NameIndex *name_index_create(Arena *arena, NameOrder *order);  // strcmp, for letter by letter
int name_index_find(const NameIndex *index, const char *name); // -1: there is no such name
// The number that the name had before stays and is returned; -1: it is new, and has `number` (0 or more) from now on.
// Names are not copied.
int name_index_add(NameIndex *index, const char *name, int number);
void name_index_set(NameIndex *index, const char *name, int number); // whatever it had before

// A few names in the order in which they were first met.
typedef LIST_OF(const char *) Names;

void names_add(Arena *arena, Names *names, const char *name); // nothing where it is among them; it is not copied
