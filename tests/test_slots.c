// Slots against a slow twin, and the mistakes they catch.
#include "sim/base/random.h"
#include "sim/slots.h"
#include "tests/child.h"
#include "tests/test.h"

TEST(fresh_places_come_lowest_first_and_then_none) {
    Arena *arena = arena_open();
    Slots slots = slots_create(arena, 3);
    for (int i = 0; i < 3; i++) EXPECT_INT(slot_take(&slots), i);
    EXPECT_INT(slot_take(&slots), -1);
    EXPECT_INT(slots.taken, 3);
    arena_close(arena);
}

TEST(the_place_given_back_last_is_taken_first) {
    Arena *arena = arena_open();
    Slots slots = slots_create(arena, 4);
    for (int i = 0; i < 3; i++) slot_take(&slots);
    slot_give_back(&slots, 0);
    slot_give_back(&slots, 2);
    EXPECT_INT(slot_take(&slots), 2);
    EXPECT_INT(slot_take(&slots), 0);
    EXPECT_INT(slot_take(&slots), 3);
    EXPECT_INT(slot_take(&slots), -1);
    arena_close(arena);
}

TEST(no_places_at_all_are_all_taken) {
    Arena *arena = arena_open();
    Slots slots = slots_create(arena, 0);
    EXPECT_INT(slot_take(&slots), -1);
    EXPECT_INT(slots.taken, 0);
    arena_close(arena);
}

// The twin: a plain stack of free places.
TEST(random_taking_and_giving_back_matches_a_stack) {
    enum { PLACES = 37 };
    Arena *arena = arena_open();
    Slots slots = slots_create(arena, PLACES);
    int stack[PLACES], free_count = PLACES, taken[PLACES], taken_count = 0, differences = 0;
    for (int i = 0; i < PLACES; i++) stack[i] = PLACES - 1 - i;

    RandomStream random = random_stream(1, "slots test", 0);
    for (int step = 0; step < 10000; step++) {
        if (random_below(&random, 2)) {
            int expected = free_count ? stack[--free_count] : -1;
            int place = slot_take(&slots);
            differences += place != expected;
            if (expected >= 0) taken[taken_count++] = expected;
        } else if (taken_count) {
            int which = (int)random_below(&random, (uint64_t)taken_count);
            int place = taken[which];
            taken[which] = taken[--taken_count];
            slot_give_back(&slots, place);
            stack[free_count++] = place;
        }
        differences += slots.taken != taken_count;
    }
    EXPECT_INT(differences, 0);
    arena_close(arena);
}

static void give_back(int32_t place) {
    Slots slots = slots_create(arena_open(), 4);
    slot_take(&slots);
    slot_give_back(&slots, place);
}
static void give_back_taken(void) { give_back(0); }
static void give_back_free(void) { give_back(1); }
static void give_back_below(void) { give_back(-1); }
static void give_back_beyond(void) { give_back(4); }
static void create_fewer_than_none(void) { slots_create(arena_open(), -1); }

TEST(giving_back_what_was_not_taken_is_our_mistake) {
    EXPECT(!is_our_mistake(give_back_taken));
    EXPECT(is_our_mistake(give_back_free));
    EXPECT(is_our_mistake(give_back_below));
    EXPECT(is_our_mistake(give_back_beyond));
    EXPECT(is_our_mistake(create_fewer_than_none));
}
