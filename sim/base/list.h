// Growing arrays. LIST_PUSH doubles the capacity in an arena; the old array stays in the arena.
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
