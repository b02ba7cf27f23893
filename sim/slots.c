// A free list through an array of places.
#include "sim/slots.h"

#include "sim/base/check.h"

#define NONE (-1)
#define TAKEN (-2)

Slots slots_create(Arena *arena, int32_t count) {
    CHECK(count >= 0);
    Slots slots = {ARENA_ARRAY(arena, int32_t, count), count > 0 ? 0 : NONE, count, 0};
    for (int32_t i = 0; i < count; i++) slots.next[i] = i + 1 < count ? i + 1 : NONE;
    return slots;
}

int32_t slot_take(Slots *slots) {
    int32_t place = slots->free;
    if (place == NONE) return NONE;
    slots->free = slots->next[place];
    slots->next[place] = TAKEN;
    slots->taken++;
    return place;
}

void slot_give_back(Slots *slots, int32_t place) {
    CHECK(place >= 0 && place < slots->count);
    CHECK(slots->next[place] == TAKEN);
    slots->next[place] = slots->free;
    slots->free = place;
    slots->taken--;
}
